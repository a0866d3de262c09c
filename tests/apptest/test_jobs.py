"""Long work: the page says how far it is, can stop it and begin it anew, and it belongs to those who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.decision.evaluate import HeldOut, held_out
from bayes_engine.errors import TableError
from bayes_engine.language import Message, _, set_language
from bayes_engine.progress import Cancelled, steps
from pages.shared import jobs
from pages.shared.data import models
from pages.shared.state import Spec, State
from tests.apptest.opened import APP, opened
from tests.conftest import PATIENCE, slowness

SAID = "Judging the model on rows held out"
alphas = iter(range(1, 1000))


def state(language: str = "en") -> State:
    """A model that nobody else has asked for."""
    return State(language=language, shelf=(Spec("laplace", (("alpha", 3 + next(alphas) / 1000),)),))


class Slow:
    """Holding rows out, made as long as a test likes: `go` lets it end."""

    def __init__(self) -> None:
        self.go, self.begun, self.stopped = threading.Event(), 0, 0
        self.error: Exception | None = None

    def __call__(self, *args: object, **more: object) -> HeldOut:
        self.begun += 1
        try:
            for step in steps(range(3000)):
                if self.go.is_set() and step >= 1500:
                    break
                time.sleep(0.001 if step < 1500 else 0.01)
        except Cancelled:
            self.stopped += 1
            raise
        if self.error is not None:
            raise self.error
        return held_out(*args, **more)  # type: ignore[arg-type]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    work = Slow()
    monkeypatch.setattr(models, "held_out", work)
    monkeypatch.setattr(jobs, "GRACE", 0.3)
    yield work
    work.go.set()
    for one in list(jobs._jobs.values()):
        for who in list(one.waiting):
            jobs.leave(one, who)
    until(lambda: not jobs._jobs and not jobs._long)


def at_work(asked: State) -> AppTest:
    """A page that waits for rows to be held out; whatever it needs before is there."""
    app = opened("decisions", asked)
    until(lambda: SAID in said(app.run()))
    return app


def finished(app: AppTest) -> AppTest:
    """The page once it waits for nothing."""
    until(lambda: not app.run().get("progress"), pause=jobs.LOOK)
    assert not app.exception
    return app


def until(true: Callable[[], bool], pause: float = 0.02) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(pause)


def job() -> jobs.Job:
    (only,) = jobs._jobs.values()
    return only


def said(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in [*app.markdown, *app.warning])


def share(app: AppTest) -> str:
    (bar,) = app.get("progress")
    return str(bar.proto.text)


def test_a_page_says_how_far_it_is_and_is_drawn_once_it_is_done(slow: Slow) -> None:
    app = at_work(state())
    until(lambda: job().far is not None and job().far[0] > 900)
    app.run()
    assert 30 <= int(share(app).rstrip("%")) <= 100
    slow.go.set()
    until(job().done.is_set)
    assert SAID not in said(finished(app))
    assert slow.begun == 1  # looking after it began nothing anew


def test_it_is_cancelled_and_begun_again(slow: Slow) -> None:
    app = at_work(state())
    app.button(key="job_cancel").click().run()
    assert not app.exception and "Cancelled: judging the model on rows held out." in said(app)
    until(lambda: slow.stopped == 1)
    app.run()
    assert slow.begun == 1  # cancelled it stays, until somebody says otherwise
    slow.go.set()
    app.button(key="job_again").click().run()
    until(lambda: slow.begun == 2 and job().done.is_set())
    assert "Cancelled" not in said(finished(app)) and SAID not in said(app)


def test_an_error_is_raised_in_the_page(slow: Slow) -> None:
    slow.error = TableError("a class has one row only")
    slow.go.set()
    app = at_work(state())
    finished(app)  # the page shows what the model refuses
    assert "a class has one row only" in "\n".join(str(e.value) for e in [*app.error, *app.info, *app.warning])


@pytest.mark.usefixtures("slow")
def test_it_is_said_in_the_language_of_the_page() -> None:
    app = at_work(state())
    app.session_state["state"] = replace(app.session_state["state"], language="zh")
    app.session_state["edited"] = True
    app.run()
    set_language("zh")
    try:
        assert app.button(key="job_cancel").label == _("Cancel")
        app.button(key="job_cancel").click().run()
        assert _("Cancelled: {what}.").format(what=Message("judging the model on rows held out").local()) in said(app)
    finally:
        set_language("en")


def test_two_who_ask_for_the_same_share_it_and_one_who_cancels_leaves_it_to_the_other(slow: Slow) -> None:
    asked = state()
    one = at_work(asked)
    other = jobs._jobs[job().key].waiting
    other["another session"] = time.monotonic()
    one.button(key="job_cancel").click().run()
    assert "Cancelled" in said(one) and not job().stop.is_set() and slow.stopped == 0
    slow.go.set()
    until(job().done.is_set)
    assert slow.begun == 1
    jobs.leave(job(), "another session")


def test_who_turns_to_something_else_no_longer_waits(slow: Slow) -> None:
    app = at_work(state())
    assert SAID in said(app)
    app.switch_page("pages/start.py").run()
    until(lambda: slow.stopped == 1)
    assert not jobs._jobs


def test_it_stops_when_the_last_who_waits_has_left(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"": True}
    monkeypatch.setattr(jobs, "connected", lambda _who: here[""])
    at_work(state())
    left, times = time.monotonic(), slowness()
    here[""] = False
    until(lambda: slow.stopped == 1)
    assert time.monotonic() - left < 2.0 * times


def test_long_jobs_take_turns_and_short_ones_do_not_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "AT_ONCE", 1)
    first = at_work(state())
    until(lambda: len(jobs._long) == 1)
    second = AppTest.from_file(APP, default_timeout=PATIENCE)
    with jobs._lock:
        waiting = jobs.Job("a second", Message("waiting"))
        jobs._jobs["a second"] = waiting
        waiting.waiting["me"] = time.monotonic()
    waiting.begun -= 1.0
    done = threading.Event()
    thread = threading.Thread(target=lambda: (waiting.work(lambda: list(steps(range(3)))), done.set()))
    thread.start()
    until(lambda: waiting in jobs._long)
    assert waiting.ahead() == 1 and not done.is_set()
    second.run()  # the start page fits its model meanwhile
    assert not second.exception and not second.get("progress") and not done.is_set()
    slow.go.set()
    until(done.is_set)
    assert waiting.error is None
    jobs.forget(waiting)
    finished(first)


def test_nothing_is_seen_of_what_takes_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GRACE", 60.0)  # on a machine that is busy a moment is long
    app = opened("decisions", state())
    assert not app.get("progress") and not jobs._jobs


# pages come first -------------------------------------------------------------------------------------------------


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """When a job was at work that is no longer young; it ends with the test."""
    monkeypatch.setattr(jobs, "GIVE_WAY", 30.0)
    noted: list[float] = []

    def work() -> None:
        for _step in steps(range(10**9)):
            noted.append(time.monotonic())
            time.sleep(0.0005)

    job = jobs.Job("counting", Message("counting the rows"))
    thread = threading.Thread(target=job.work, args=(work,), daemon=True)
    thread.start()
    until(lambda: len(noted) > 0 and time.monotonic() - noted[0] > jobs.YOUNG + 0.1)
    yield noted
    job.stop.set()
    thread.join(10)
    assert not thread.is_alive()


def steps_between(noted: list[float], since: float, till: float) -> int:
    return sum(since < at < till for at in noted)


def test_a_job_waits_while_a_page_computes_and_goes_on_after_it(noted: list[float]) -> None:
    with jobs.attended():
        began = time.monotonic()
        time.sleep(0.4)
        ended = time.monotonic()
    until(lambda: noted[-1] > ended)
    assert steps_between(noted, began + 0.1, ended) == 0


def test_a_page_that_waits_for_a_job_does_not_keep_it_waiting(noted: list[float]) -> None:
    with jobs.attended(), jobs._computing(-1):
        began = time.monotonic()
        time.sleep(0.4)
        ended = time.monotonic()
    assert steps_between(noted, began + 0.1, ended) > 10


def test_pages_without_end_do_not_starve_a_job(noted: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GIVE_WAY", 0.1)
    with jobs.attended():
        began = time.monotonic()
        time.sleep(1.0)
        ended = time.monotonic()
    assert 4 <= steps_between(noted, began + 0.15, ended) < 0.4 * (ended - began) / 0.0005
