"""Long work: the page says how far it is, can stop it and begin it anew, and it belongs to those who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from types import ModuleType

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import TableError
from bayes_engine.language import Message, _, set_language
from bayes_engine.progress import Cancelled, steps
from bayes_engine.table.read import Reading, read_table
from bayes_engine.workbench.incoming.file_blocks import CellBlocks, open_cells
from pages.active import files, models
from pages.active.files import Upload
from pages.runtime import job_queue, jobs, progress_box
from pages.runtime.job_queue import Job
from pages.runtime.state import Spec, State
from pages.views.classify import file_given
from pages.views.network import learn_search
from tests.apptest.opened import APP, opened, seen
from tests.cache_contents import forget
from tests.conftest import PATIENCE, every_other

EVERY_PAGE = ("start", "data", "model", "decisions", "case", "classify", "dependence", "network", "projection",
              "hidden", "laboratory")  # fmt: skip
WITHOUT_JOBS = ("network",)
"""Pages that need none as they open."""
SAID = "Judging the model on rows held out"
AT_LEAST = 400
"""Milliseconds that slow work takes, twice what a page waits for it."""
alphas = iter(range(1, 1000))


def state(language: str = "en") -> State:
    """A model that nobody else has asked for."""
    return State(language=language, shelf=(Spec("laplace", (("alpha", 3 + next(alphas) / 1000),)),))


class Slow:
    """Work made as long as a test likes: `go` lets it end."""

    def __init__(self, work: Callable[..., object]) -> None:
        self.work = work
        self.go, self.begun, self.stopped = threading.Event(), 0, 0
        self.error: Exception | None = None

    def __call__(self, *args: object, **more: object) -> object:
        self.begun += 1
        try:
            for step in steps(range(2 * AT_LEAST)):
                if step < AT_LEAST:
                    time.sleep(0.001)
                elif self.go.wait(0.05):
                    break
        except Cancelled:
            self.stopped += 1
            raise
        if self.error is not None:
            raise self.error
        return self.work(*args, **more)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Holding rows out."""
    yield from _slow(Slow(held_out), models, "held_out", monkeypatch)


@pytest.fixture
def slow_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Reading a table."""
    yield from _slow(Slow(read_table), files, "read_table", monkeypatch)


@pytest.fixture
def slow_second(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Opening a second file."""
    yield from _slow(Slow(open_cells), files, "open_cells", monkeypatch)


def _slow(work: Slow, where: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    monkeypatch.setattr(where, name, work)
    monkeypatch.setattr(job_queue, "GRACE", 0.2)
    monkeypatch.setattr(job_queue, "SHORT", 0.2)
    monkeypatch.setattr(job_queue, "work_clock", time.monotonic)  # it sleeps
    monkeypatch.setattr(job_queue, "SWEEP", 0.02)
    monkeypatch.setattr(jobs, "PATIENCE", 0.05)
    monkeypatch.setattr(jobs, "LIGHT", 0)
    yield work
    work.go.set()
    for one in list(jobs._jobs.values()):
        for who in list(one.waiting):
            jobs.stop_waiting(one, who)
    until(lambda: not jobs._jobs and not job_queue.queue)


def at_work(asked: State) -> AppTest:
    """A page that waits for rows to be held out; whatever it needs before is there."""
    app = opened("decisions", asked)
    until(lambda: SAID in said(app.run()))
    return app


def finished(app: AppTest) -> AppTest:
    """The page once it waits for nothing."""
    until(lambda: not app.run().get("progress"), pause=0.1)
    assert not app.exception
    return app


def until(true: Callable[[], bool], pause: float = 0.02) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(pause)


def job() -> Job:
    (only,) = jobs._jobs.values()
    return only


def buttons(app: AppTest, name: str) -> list[Button]:
    return [button for button in app.button if (button.key or "").startswith(f"job_{name}_")]


def button(app: AppTest, name: str) -> Button:
    (only,) = buttons(app, name)
    return only


def said(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in [*app.markdown, *app.warning])


def share(app: AppTest) -> str:
    (bar,) = app.get("progress")
    return str(bar.proto.text)


@pytest.mark.slow
def test_a_page_says_how_far_it_is_and_is_drawn_once_it_is_done(slow: Slow) -> None:
    app = at_work(state())
    until(lambda: job().progress is not None and job().progress[0] > 0.6 * AT_LEAST)
    app.run()
    assert 30 <= int(share(app).rstrip("%")) <= 100
    slow.go.set()
    until(job().done.is_set)
    assert SAID not in said(finished(app))
    assert slow.begun == 1  # looking after it began nothing anew


@pytest.mark.slow
def test_it_is_cancelled_and_begun_again(slow: Slow) -> None:
    app = at_work(state())
    button(app, "cancel").click().run()
    assert not app.exception and "Cancelled: judging the model on rows held out." in said(app)
    until(lambda: slow.stopped == 1)
    app.run()
    assert slow.begun == 1  # cancelled it stays, until somebody says otherwise
    slow.go.set()
    button(app, "again").click().run()
    until(lambda: slow.begun == 2 and job().done.is_set())
    assert "Cancelled" not in said(finished(app)) and SAID not in said(app)


def test_an_error_is_raised_in_the_page(slow: Slow) -> None:
    slow.error = TableError("a class has one row only")
    app = at_work(state())
    slow.go.set()
    finished(app)  # the page shows what the model refuses
    assert "a class has one row only" in "\n".join(str(e.value) for e in [*app.error, *app.info, *app.warning])


@pytest.mark.slow
@pytest.mark.usefixtures("slow")
def test_it_is_said_in_the_language_of_the_page() -> None:
    app = at_work(state())
    app.session_state["state"] = replace(app.session_state["state"], language="zh")
    app.run()
    set_language("zh")
    try:
        assert button(app, "cancel").label == _("Cancel")
        button(app, "cancel").click().run()
        assert _("Cancelled: {what}.").format(what=Message("judging the model on rows held out").local()) in said(app)
    finally:
        set_language("en")


def test_two_who_ask_for_the_same_share_it_and_one_who_cancels_leaves_it_to_the_other(slow: Slow) -> None:
    asked = state()
    one = at_work(asked)
    other = jobs._jobs[job().key].waiting
    other["another session"] = time.monotonic()
    button(one, "cancel").click().run()
    assert "Cancelled" in said(one) and not job().stop.is_set() and slow.stopped == 0
    slow.go.set()
    until(job().done.is_set)
    assert slow.begun == 1
    jobs.stop_waiting(job(), "another session")


@pytest.mark.slow
def test_it_goes_on_while_another_page_is_looked_at(slow: Slow) -> None:
    app = at_work(state())
    held = job()
    app.switch_page("pages/start.py").run()
    assert SAID not in said(app) and held.is_aside and not held.stop.is_set()
    app.switch_page("pages/decisions.py").run()
    assert SAID in said(app) and job() is held and not held.is_aside
    app.switch_page("pages/start.py").run()
    slow.go.set()
    until(held.done.is_set)
    until(lambda: not jobs._jobs)  # its result is kept where all are
    app.switch_page("pages/decisions.py").run()
    assert SAID not in said(finished(app)) and (slow.begun, slow.stopped) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["decisions", "start"])
def test_who_asks_for_something_else_no_longer_waits(slow: Slow, page: str) -> None:
    app = at_work(state())
    app.switch_page(f"pages/{page}.py").run()
    assert slow.stopped == 0
    app.session_state["state"] = replace(app.session_state["state"], shelf=())
    app.run()
    until(lambda: slow.stopped == 1)


def test_it_stops_with_its_tab_also_from_another_page(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"": True}
    monkeypatch.setattr(jobs, "connected", lambda _who: here[""])
    at_work(state()).switch_page("pages/start.py").run()
    assert job().is_aside and slow.stopped == 0
    here[""] = False
    until(lambda: slow.stopped == 1)


def test_what_is_waited_for_on_screen_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "AT_ONCE", 1)
    first, second = (Job(name, Message("computing"), waiting={"me": 0.0}) for name in "ab")
    monkeypatch.setattr(job_queue, "queue", [first, second])
    assert (first.ahead(), second.ahead()) == (0, 1)
    first.away.add("me")
    assert (first.ahead(), second.ahead()) == (1, 0)
    first.waiting["you"] = 0.0
    assert (first.ahead(), second.ahead()) == (0, 1)


def test_who_waits_does_not_grow_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "SHORT", 0.2)
    waits = Job("a file", Message("reading the file"))
    waits.work(lambda: [time.sleep(0.3), *steps(range(3))])  # of its own accord, or for the interpreter
    assert not waits.is_long and waits.error is None and waits not in job_queue.queue


def test_a_long_one_keeps_only_the_long_ones_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "AT_ONCE", 1)
    fit, search, reading = (Job(name, Message("computing"), waiting={"me": 0.0}) for name in "abc")
    fit.is_long = search.is_long = True
    monkeypatch.setattr(job_queue, "queue", [fit, search, reading])
    assert (fit.ahead(), search.ahead(), reading.ahead()) == (0, 1, 0)


def test_beside_pages_one_job_goes_on_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "AT_ONCE", 2)
    jobs_there = [Job(name, Message("computing"), waiting={"me": 0.0}) for name in "ab"]
    first, second = jobs_there
    second.waits_since = 1.0
    monkeypatch.setattr(job_queue, "queue", jobs_there)
    monkeypatch.setattr(job_queue, "_beside", [None])
    assert [second._has_turn(), first._has_turn(), second._has_turn()] == [False, True, False]
    first.waits_since, job_queue._beside[0] = 2.0, None  # it has had its turn
    assert [first._has_turn(), second._has_turn()] == [False, True]


def test_two_jobs_stand_on_a_page_and_each_once() -> None:
    def script() -> None:
        import streamlit as st

        from bayes_engine.language import Message
        from pages.runtime import jobs, progress_box
        from pages.runtime.job_queue import Job

        st.session_state["jobs_declined"] = {"c": 3, "d": 4}
        one, other = (Job(name, Message(f"computing {name}")) for name in "ab")
        with progress_box.showing_progress():
            for key, job in (("a", one), ("a", one), ("c", None), ("c", None), ("d", None)):
                progress_box.progress_box(
                    jobs.UnderWay(key, Message(f"computing {key}"), job), goes_on=lambda key=key: key == "d"
                )
            raise jobs.UnderWay("b", other.activity, other)

    app = AppTest.from_function(script, default_timeout=PATIENCE).run()
    assert not app.exception and len(buttons(app, "cancel")) == 2
    assert [again.label for again in buttons(app, "again")] == ["Start again", "Go on"]


def test_a_job_says_which_model_it_is_for() -> None:
    def script() -> None:
        from bayes_engine.language import Message
        from pages.runtime import jobs, progress_box
        from pages.runtime.job_queue import Job

        def under_way(key: str) -> None:
            job = Job(key, Message(f"computing {key}"))
            progress_box.progress_box(jobs.UnderWay(key, job.activity, None if key == "c" else job))

        with progress_box.showing_progress():
            under_way("a")
            with jobs.of_model("2 · *TAN*"):
                under_way("b")
                under_way("c")

    shown = said(AppTest.from_function(script, default_timeout=PATIENCE).run()).replace("\N{WORD JOINER}", "")
    assert "Computing a … 0 s" in shown
    assert "Computing b: 2 · \\*TAN\\* … 0 s" in shown and "Cancelled: computing c: 2 · \\*TAN\\*." in shown


@pytest.mark.parametrize("page", every_other(EVERY_PAGE))
def test_no_two_jobs_of_a_page_share_a_key(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forget()  # what another test has had computed would need no job
    go, work = threading.Event(), Job.work
    monkeypatch.setattr(Job, "work", lambda job, of: (go.wait(PATIENCE), work(job, of)))
    monkeypatch.setattr(job_queue, "GRACE", 0.0)
    monkeypatch.setattr(learn_search, "GRACE", 0.0)
    app = opened(page, replace(state(), table="iris"))
    own = len(buttons(app, "cancel"))
    visit = app.session_state["visit"]
    reading = jobs.CallbackJob("a file", int, Message("reading the file"), lambda _: None, lambda _: None, False, visit)
    app.session_state["callback_job"] = reading
    app.run()
    assert not app.exception and len(buttons(app, "cancel")) == own + 1
    assert own >= (page not in WITHOUT_JOBS)
    app.session_state["jobs_declined"] = {job.key: job.number for job in jobs._jobs.values()}
    app.run()
    assert not app.exception and len(buttons(app, "again")) == own + 1 and not buttons(app, "cancel")
    go.set()
    until(lambda: all(job.done.is_set() for job in jobs._jobs.values()))
    jobs._jobs.clear()


def test_it_stops_when_the_last_who_waits_has_left(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"": True}
    monkeypatch.setattr(jobs, "connected", lambda _who: here[""])
    at_work(state())
    here[""] = False
    until(lambda: slow.stopped == 1)


def test_a_page_is_drawn_anew_though_another_took_the_result_as_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is left that its page could be looked at for; at first its script still runs."""
    looks = 0

    def look(_call: Callable[[], None]) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            jobs._pages.clear()

    monkeypatch.setattr(jobs, "_jobs", {})
    monkeypatch.setattr(jobs, "_pages", {})
    monkeypatch.setattr(jobs, "running", object)
    monkeypatch.setattr(jobs, "_soon", look)
    until(lambda: not jobs._sweeping.is_set())
    jobs._end(jobs.PageRun(following=[object()]))  # type: ignore[list-item]
    until(lambda: looks == 3 and not jobs._sweeping.is_set())


@pytest.mark.slow
def test_long_jobs_take_turns_and_short_ones_do_not_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "AT_ONCE", 1)
    first = at_work(state())
    until(lambda: [job.is_long for job in job_queue.queue] == [True])
    other = AppTest.from_file(APP, default_timeout=PATIENCE)
    with job_queue.lock:
        waiting = Job("a second", Message("waiting"))
        jobs._jobs["a second"] = waiting
        waiting.waiting["me"] = time.monotonic()
    done = threading.Event()
    work = lambda: [time.sleep(2 * job_queue.GRACE), *steps(range(3))]  # noqa: E731
    thread = threading.Thread(target=lambda: (waiting.work(work), done.set()))
    thread.start()
    until(lambda: waiting in job_queue.queue)
    assert waiting.ahead() == 1 and not done.is_set()
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "session_id", lambda: "another")  # else the first would look at another page
        for limit in ("GRACE", "SHORT"):
            patch.setattr(job_queue, limit, PATIENCE)  # however busy the machine
        other.run()  # the start page fits its model meanwhile
    assert not other.exception and not other.get("progress") and not done.is_set()
    slow.go.set()
    until(done.is_set)
    assert waiting.error is None
    jobs.forget(waiting)
    finished(first)


def test_a_page_waits_a_moment_for_all_its_jobs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "GRACE", PATIENCE)
    go, ended = threading.Event(), []
    page = jobs.PageRun()
    token = jobs._run.set(page)
    try:
        assert jobs.run("a first", lambda: time.sleep(0.05) or 1, Message("computing")) == 1 and page.waited > 0
        page.waited = job_queue.GRACE
        with pytest.raises(jobs.UnderWay):
            jobs.run("a second", go.wait, Message("computing"))
        ended = [job for job in jobs._jobs.values() if job.key == "a second"]
    finally:
        jobs._run.reset(token)
        go.set()
    until(lambda: all(job.done.is_set() for job in ended))
    jobs.forget(*ended)


@pytest.mark.slow
def test_nothing_is_seen_of_what_takes_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "GRACE", 60.0)  # on a machine that is busy a moment is long
    app = opened("decisions", state())
    assert not app.get("progress") and not jobs._jobs


# pages come first -------------------------------------------------------------------------------------------------


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """When a job was at work that is no longer young; it ends with the test."""
    monkeypatch.setattr(job_queue, "GIVE_WAY", 30.0)
    monkeypatch.setattr(job_queue, "work_clock", time.monotonic)  # it sleeps
    monkeypatch.setattr(job_queue, "PACE", 0.0)  # it looks at every step whether to go on
    noted: list[float] = []

    def work() -> None:
        for _step in steps(range(10**9)):
            noted.append(time.monotonic())
            time.sleep(0.0005)

    job = Job("counting", Message("counting the rows"))
    thread = threading.Thread(target=job.work, args=(work,), daemon=True)
    thread.start()
    until(lambda: len(noted) > 0 and time.monotonic() - noted[0] > job_queue.YOUNG + 0.1)
    yield noted
    job.stop.set()
    thread.join(10)
    assert not thread.is_alive()


def steps_between(noted: list[float], since: float, till: float) -> int:
    return sum(since < at < till for at in noted)


def test_a_job_waits_while_a_page_computes_and_goes_on_after_it(noted: list[float]) -> None:
    with progress_box.showing_progress():
        began = time.monotonic()
        time.sleep(0.2)
        ended = time.monotonic()
    until(lambda: noted[-1] > ended)
    assert steps_between(noted, began, ended) <= 1  # the one it was in


def test_a_page_that_waits_for_a_job_does_not_keep_it_waiting(noted: list[float]) -> None:
    with progress_box.showing_progress(), job_queue.computing(-1):
        began = len(noted)
        until(lambda: len(noted) > began + 10)


@pytest.mark.slow
def test_pages_without_end_do_not_starve_a_job(noted: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_queue, "GIVE_WAY", 0.1)
    with progress_box.showing_progress():
        began = len(noted)
        until(lambda: len(noted) > began + 40)
        waits = [later - earlier for earlier, later in pairwise(noted[began:])]
    assert sum(wait > job_queue.GIVE_WAY for wait in waits) >= 1  # it gives way all the same


# files that take long to be read ------------------------------------------------------------------------------------

FILE = "size,city,price\n" + "1,Oslo,low\n2,Rome,high\n3,京都,high\n2,Oslo,low\n" * 3
SECOND = "含糖率,密度\n0.46,0.697\n0.09,0.24\n"


def reading() -> Job:
    """The job that reads the file; on a busy machine the page has one of its own."""
    (only,) = (job for job in jobs._jobs.values() if str(job.activity) == "reading the file")
    return only


def dropped(page: str, key: str, content: str) -> AppTest:
    app = opened(page)
    app.file_uploader(key=key).set_value((f"{key}.csv", content.encode(), "text/csv")).run()
    assert not app.exception and "Reading the file" in said(app)
    return app


def table(app: AppTest) -> str:
    return app.session_state["state"].table


def second(app: AppTest) -> Upload[CellBlocks]:
    [upload] = app.session_state["files"]["second"].values()
    return upload


@pytest.mark.slow
def test_the_page_stays_as_it_was_while_a_file_is_read(slow_table: Slow) -> None:
    before = opened("data")
    app = dropped("data", "upload_file", FILE)
    assert table(app) == table(before) and app.subheader[0].value == before.subheader[0].value
    until(lambda: reading().progress is not None and reading().progress[0] > 0.6 * AT_LEAST)
    assert 30 <= int(share(app.run()).rstrip("%")) <= 100
    slow_table.go.set()
    read = reading()
    until(read.done.is_set)
    assert isinstance(read.result, Reading)  # whoever waits for the same file makes an upload of their own of it
    assert table(finished(app)).startswith("upload:") and app.subheader[0].value == "upload_file.csv"
    assert "Reading the file" not in said(app) and slow_table.begun == 1
    assert "callback_job" not in app.session_state


@pytest.mark.slow
def test_a_file_is_read_while_the_page_has_work_of_its_own(slow: Slow) -> None:
    app = at_work(state())
    reading = Message("reading the file")
    visit = app.session_state["visit"]
    asked = jobs.CallbackJob("a file", slow.go.wait, reading, lambda _read: None, lambda _error: None, False, visit)
    app.session_state["callback_job"] = asked
    app.run()
    assert not app.exception and len(buttons(app, "cancel")) == 2
    slow.go.set()
    until(lambda: all(each.done.is_set() for each in jobs._jobs.values()))
    assert not buttons(finished(app), "cancel")


@pytest.mark.slow
def test_what_is_read_otherwise_is_read_apart_too(slow_table: Slow) -> None:
    app = dropped("data", "upload_file", FILE)
    slow_table.go.set()
    until(reading().done.is_set)
    finished(app)
    slow_table.go.clear()
    app.selectbox(key="read_header").select(0).run()
    assert "Reading the file" in said(app) and app.selectbox(key="read_header").value == 1
    slow_table.go.set()
    until(reading().done.is_set)
    finished(app)
    assert app.selectbox(key="read_header").value == 0
    mark = table(app).removeprefix("upload:")
    assert len(app.session_state["files"]["table"][mark].reading.frame) == 13  # the names are a row now


@pytest.mark.slow
def test_a_file_whose_reading_is_cancelled_changes_nothing(slow_second: Slow) -> None:
    app = dropped("classify", "second_file", SECOND)
    button(app, "cancel").click().run()
    assert not app.exception and "Cancelled: reading the file." in said(app)
    until(lambda: slow_second.stopped == 1)
    app.run()
    assert slow_second.begun == 1 and "files" not in app.session_state and "Cancelled" in said(app)
    app.switch_page("pages/model.py").run()
    assert "Cancelled" not in said(app) and "callback_job" not in app.session_state
    slow_second.go.set()
    app.switch_page("pages/classify.py").run()
    app.file_uploader(key="second_file").set_value(("again.csv", SECOND.encode(), "text/csv")).run()
    until(lambda: slow_second.begun == 2)
    finished(app)
    assert second(app).name == "again.csv" and app.dataframe[0].value.shape[0] == 2


@pytest.mark.slow
def test_a_small_file_is_waited_for(slow_second: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LIGHT", len(SECOND.encode()))
    slow_second.go.set()
    app = opened("classify")
    app.file_uploader(key="second_file").set_value(("rows.csv", SECOND.encode(), "text/csv")).run()
    assert "Reading the file" not in said(app) and second(app).name == "rows.csv"


def test_a_file_that_is_taken_back_is_read_no_longer(slow_second: Slow) -> None:
    app = dropped("classify", "second_file", SECOND)
    app.file_uploader(key="second_file").set_value(None).run()
    until(lambda: slow_second.stopped == 1)
    assert "Reading the file" not in said(app.run()) and "files" not in app.session_state


@pytest.mark.slow
def test_what_was_read_outlives_a_click_that_breaks_off_the_run(
    slow_second: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_second.go.set()
    monkeypatch.setattr(jobs, "LIGHT", 10**6)
    keep, clicks = file_given.change, iter([True])

    def change(edit: Callable[[State], State]) -> None:
        if next(clicks, False):
            st.rerun()  # what a click does to the run before it
        keep(edit)

    monkeypatch.setattr(file_given, "change", change)
    app = opened("classify")
    app.file_uploader(key="second_file").set_value(("rows.csv", SECOND.encode(), "text/csv")).run()
    assert not next(clicks, False)
    finished(app)
    assert slow_second.begun == 1 and "callback_job" not in app.session_state
    assert seen(app.session_state["state"], "second") and app.dataframe[0].value.shape[0] == 2


def test_what_nobody_foresaw_is_raised_once(slow_second: Slow) -> None:
    slow_second.error = RuntimeError("a fault of the program")
    slow_second.go.set()
    app = opened("classify")
    app.file_uploader(key="second_file").set_value(("rows.csv", SECOND.encode(), "text/csv")).run()
    until(lambda: "callback_job" not in app.run().session_state, pause=0.1)
    assert not app.run().exception and app.title[0].value == "What does the model say of other rows?"
