"""Long work off the script's thread, with progress and a way to stop it; work that takes a moment is not seen to.
Streamlit runs a script to its end: it knows no work that goes on beside it.

A job is only what is under way (`cache.cached` keeps its result), and who asks for the same joins it. A run of the
script waits for `GRACE` seconds in all; then the page ends with how far it is. No page asks again: it is sent how far
the job is (`following`), and is drawn anew once the job is done. A job belongs to the sessions that wait for it, also
while they look at another page: then what is waited for on screen comes first. Where the last of them cancels, asks
for something else on that page, changes the table or the models, or is gone, it stops at its next `tick`. Which of
them goes on at a moment says `job_queue`.

Where a page computes much, one job after the other, each fills its part of one bar (`part_of_page`), and what is shown
of either never goes back.

A callback that needs long work (a file to be read) leaves a `CallbackJob`, which is done before the next page is drawn.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.logger import get_logger
from threadpoolctl import threadpool_limits  # comes with scikit-learn

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.progress import watched
from pages.runtime import job_queue, private
from pages.runtime.job_queue import Job
from pages.runtime.private import connected, running, session_id
from pages.runtime.state import PageEnded, current, made_from

LIGHT, WAITED = 4_000_000, 10.0
"""Bytes up to which reading a file takes a moment, and seconds that a run of the script waits for it at most: the page
would only flicker."""
PUSH = 1.0
"""Seconds between two times that pages are sent how far their jobs are."""
PATIENCE = 0.75
"""Seconds without a browser after which a session has left: a reload takes less."""
TURN = 0.001
"""Seconds after which a thread that computes lets another one in; Python's own 5 ms are felt in a page of many
calls."""

T = TypeVar("T")
_log = get_logger("bayes_workbench")


class Part(NamedTuple):
    """Of all that the page of this key computes, from a share of it to another."""

    page: Hashable
    begin: float
    end: float


@dataclass(eq=False)
class Following:
    """Elements on a page that follow a job, and what sets them anew."""

    job: Job
    drawn: private.Drawn
    update: Callable[[private.Elements], None]
    context: Context  # its language is the page's


@dataclass
class PageRun:
    """What a run of the script has asked for, the keys of what it shows, what it has drawn that follows a job, and the
    seconds that it has waited for jobs."""

    asked: dict[Hashable, Job] = field(default_factory=dict)
    shown: set[Hashable] = field(default_factory=set)
    following: list[Following] = field(default_factory=list)
    waited: float = 0.0


class UnderWay(Exception):
    """No error: what the page needs is not there yet, or was cancelled (`job` is None); the router shows it."""

    def __init__(self, key: Hashable, activity: Message, job: Job | None) -> None:
        super().__init__("a job is under way")
        self.key, self.activity, self.job = key, activity, job
        self.part, self.model = _part.get(), _model.get()


_jobs: dict[Hashable, Job] = {}
_pages: dict[str, list[Following]] = {}  # session → what its page shows
_sweeping = threading.Event()
_run: ContextVar[PageRun | None] = ContextVar("run", default=None)
_part: ContextVar[Part | None] = ContextVar("part", default=None)
_model: ContextVar[str] = ContextVar("model", default="")


# for whoever has long work to do ----------------------------------------------------------------------------------


def run(
    key: Hashable, work: Callable[[], T], activity: Message, grace: float | None = None, *, kept: bool = False
) -> T:
    """What `work` comes to, computed in a thread of its own; raises what it raises.

    `key` names the work and all that it depends on (content digests and parameters; the function's own name first);
    `activity` is what is being done, as "fitting the model". Ends the page where it takes longer than `grace`, GRACE
    where none is said. What it comes to waits for whoever asks again, unless `work` has it `kept` itself. Where nobody
    could be shown how far it is (in a callback, a fragment, another job) it is simply computed. `work` must not use
    Streamlit, nor call another function that is `cached` and slow: it might wait for one that waits for it.
    """
    if watched() or (page := _run.get()) is None:
        return work()
    while True:
        job = begin(key, work, activity, kept=kept)
        left = time.monotonic() + max(job_queue.GRACE - page.waited, job_queue.YOUNG)
        if not wait(job, min(job.begun + job_queue.GRACE, left) if grace is None else job.begun + grace):
            raise UnderWay(key, activity, job)
        forget(job)
        if job.error is None:
            result: T = job.result
            return result
        if not job.stop.is_set():
            raise job.error
        if not connected(session_id()):
            raise UnderWay(key, activity, job)  # to nobody
        # a reload came just as it was stopped: it is begun anew


def wait(job: Job, until: float) -> bool:
    """Whether the job is done at that moment; it does not give way to the page that waits for it."""
    began = time.monotonic()
    with job_queue.computing(-1):
        done = job.done.wait(max(until - began, 0.0))
    if (page := _run.get()) is not None:
        page.waited += time.monotonic() - began
    return done


@contextmanager
def part_of_page(page: Hashable, begin: float, end: float) -> Iterator[None]:
    """The jobs asked for inside fill this part of one bar for the whole `page`, which stands for all it computes."""
    token = _part.set(Part(page, begin, end))
    try:
        yield
    finally:
        _part.reset(token)


@contextmanager
def of_model(name: str) -> Iterator[None]:
    """The jobs asked for inside are for the model of this name, which the reader of the page is told."""
    token = _model.set(name)
    try:
        yield
    finally:
        _model.reset(token)


@dataclass
class CallbackJob:
    """What a callback has asked for: `work` is done before the next page is drawn, and then what follows from it. What
    it came to is in `results` until that has been done to its end: a click may break off any run of the script."""

    key: Hashable
    work: Callable[[], Any]
    activity: Message
    then: Callable[[Any], None]
    refused: Callable[[BayesEngineError], None]
    light: bool
    visit: int
    results: tuple[Any, ...] = ()


def run_after_callback(key: Hashable, work: Callable[[], T], activity: Message, then: Callable[[T], None],
           refused: Callable[[BayesEngineError], None], *, size: int) -> None:  # fmt: skip
    """For a callback, which nobody could see at work: have the job done, and then `then` called with its result, or
    `refused` with its BayesEngineError, where a callback's end would be. Until then the page is drawn as it was, below
    how far the job is. `key`, `work` and `activity` as in `run`; `size` are the bytes that are read. Another one takes
    the place of one under way."""
    declined().pop(key, None)
    visit = st.session_state.get("visit", 0)
    st.session_state["callback_job"] = CallbackJob(key, work, activity, then, refused, size <= LIGHT, visit)


def cancel_callback_job() -> None:
    st.session_state.pop("callback_job", None)


def begin(key: Hashable, work: Callable[[], Any], activity: Message, *, kept: bool = False) -> Job:
    """The job of this key, which this session now waits for; raises UnderWay where the session has cancelled it."""
    if key in declined():
        raise UnderWay(key, activity, None)
    me, here = session_id(), _here()
    with job_queue.lock:
        job = _jobs.get(key)
        if fresh := job is None or job.stop.is_set():
            job = _jobs[key] = Job(key, activity, kept, _ended)
        job.waiting[me], job.asked_on[me] = time.monotonic(), here
        job.away.discard(me)
    if (page := _run.get()) is not None:
        page.asked[key] = job
    if fresh:
        threading.Thread(target=job.work, args=(work,), name="job", daemon=True).start()
    _look_again()
    return job


def _ended(job: Job) -> None:
    with job_queue.lock:
        if job.kept and job.error is None and job.is_aside and _jobs.get(job.key) is job:
            del _jobs[job.key]
    _soon(_look_at_pages)


def forget(job: Job) -> None:
    """It is done and its result is taken: who asks again begins it anew."""
    with job_queue.lock:
        if _jobs.get(job.key) is job:
            del _jobs[job.key]


def stop_waiting(job: Job, who: str = "") -> bool:
    """The session `who` (this one) waits for the job no longer; whether nobody does now, and it stops."""
    with job_queue.lock:
        who = who or session_id()
        job.waiting.pop(who, None)
        job.asked_on.pop(who, None)
        job.away.discard(who)
        if job.waiting:
            return False
        if _jobs.get(job.key) is job:
            del _jobs[job.key]
        if job.done.is_set():
            return False
        job.stop.set()
        job_queue.moved.notify_all()
        return True


def _look_again() -> None:
    """Jobs and pages are looked after from now on until there are none."""
    with job_queue.lock:
        if _sweeping.is_set():
            return
        _sweeping.set()
    threading.Thread(target=_sweep, name="job-sweeper", daemon=True).start()


def _sweep() -> None:
    pushed = time.monotonic()
    while True:
        time.sleep(job_queue.SWEEP)
        with job_queue.lock:
            if not _jobs and not _pages:
                _sweeping.clear()
                return
            waited = [(job, who) for job in _jobs.values() for who in job.waiting]
        now = time.monotonic()
        for job, who in waited:
            if connected(who):
                with job_queue.lock:
                    if who in job.waiting:
                        job.waiting[who] = now
            elif now - job.waiting.get(who, now) > PATIENCE and stop_waiting(job, who):
                _log.info("job cancelled: its session has left")
        if due := now - pushed >= PUSH:
            pushed = now
        _soon(partial(_look_at_pages, push=due))


def declined() -> dict[Hashable, int]:
    """What this session has cancelled, by key, and the number that its job had."""
    numbers: dict[Hashable, int] = st.session_state.setdefault("jobs_declined", {})
    return numbers


def start_again(key: Hashable) -> None:
    """For a callback: what was cancelled is asked for anew."""
    declined().pop(key, None)


def decline(job: Job) -> None:
    """For a callback: the session cancels the job."""
    declined()[job.key] = job.number
    if stop_waiting(job):
        st.session_state.setdefault("jobs_ending", {})[job.key] = job


def ending(key: Hashable) -> Job | None:
    """The job that this session has cancelled and nobody waits for, until it has ended and kept what it keeps."""
    there: dict[Hashable, Job] = st.session_state.get("jobs_ending", {})
    if key in there and there[key].done.is_set():
        del there[key]
    return there.get(key)


# a page follows its jobs ------------------------------------------------------------------------------------------


@contextmanager
def following(job: Job, update: Callable[[private.Elements], None]) -> Iterator[None]:
    """What the page draws inside follows the job: every `PUSH` seconds `update` is given its elements, by their kinds,
    and those that it changes are sent. Once the job is done the page is drawn anew."""
    with private.recorded() as drawn:
        yield
    if (page := _run.get()) is not None:
        page.following.append(Following(job, drawn, update, copy_context()))


def _soon(call: Callable[[], None]) -> None:
    """Call on the server's event loop."""
    if (runtime := running()) is not None:
        with suppress(RuntimeError):  # the loop is closed: the server stops
            private.on_event_loop(runtime)(call)


def _look_at_pages(push: bool = False) -> None:
    """Have those pages drawn anew that follow a job which is done; and `push` to the others how far theirs are. One
    whose script runs at this moment is looked at again later. To be called on the event loop."""
    runtime = running()
    if runtime is None:
        return
    for who, shown in list(_pages.items()):
        if private.has_left(runtime, who):
            _pages.pop(who, None)
        elif (session := private.idle_session(runtime, who)) is None:
            continue
        elif any(each.job.done.is_set() for each in shown):
            _pages.pop(who, None)
            job_queue.at_the_door()
            private.run_again(runtime, session)
        elif push:
            for each in shown:
                each.context.run(each.drawn.send_anew, session, each.update)


# for the router ---------------------------------------------------------------------------------------------------


def share_the_machine() -> None:
    """Make a process of many users: one thread of BLAS for each computation, and short turns."""
    threadpool_limits(1)
    sys.setswitchinterval(TURN)
    if (runtime := running()) is not None:
        private.at_each_message(runtime, job_queue.at_the_door)


@contextmanager
def page_run() -> Iterator[None]:
    """A run of the script: jobs that this page no longer asks for go."""
    page = PageRun()
    _pages.pop(session_id(), None)
    token = _run.set(page)
    try:
        try:
            yield
        except PageEnded:
            _end(page)
            raise
        else:
            _end(page)
    finally:
        _run.reset(token)


def shown_first(key: Hashable) -> bool:
    """Whether this run of the page shows for the first time how far this is."""
    if (page := _run.get()) is None:
        return True
    first = key not in page.shown
    page.shown.add(key)
    return first


def _end(page: PageRun) -> None:
    """The page has come to its end: it waits for what it has asked for, and is sent how far that is."""
    _only(page.asked)
    if page.following and running() is not None:
        _pages[session_id()] = page.following
        _look_again()  # not while this script runs, and another may have taken the result
        _soon(_look_at_pages)


def run_callback_job() -> UnderWay | None:
    """Start of a run: what a callback has asked for is done, or this is how far it is. One that was cancelled is said
    until the person turns to another page."""
    session = st.session_state
    wanted: CallbackJob | None = session.get("callback_job")
    if wanted is None:
        return None
    if wanted.key in declined() and wanted.visit != session.get("visit", 0):
        cancel_callback_job()
        return None
    try:
        if not wanted.results:
            wanted.results = (run(wanted.key, wanted.work, wanted.activity, WAITED if wanted.light else None),)
        wanted.then(*wanted.results)
    except UnderWay as there:
        if (page := _run.get()) is not None:
            page.waited = 0.0  # what the page itself asks for is waited for all the same
        return there
    except BayesEngineError as error:
        wanted.refused(error)
    except Exception:
        cancel_callback_job()  # or no page could be drawn any more
        raise
    cancel_callback_job()
    return None


def _here() -> tuple[str, Hashable]:
    """The page that this session looks at, and what its results are made from."""
    return st.session_state.get("page", ""), made_from(current())


def _only(asked: dict[Hashable, Job]) -> None:
    """This session waits on this page for these and for nothing else; on others, for what is made from the same."""
    me, (page, source) = session_id(), _here()
    with job_queue.lock:
        others = [job for job in _jobs.values() if me in job.waiting and asked.get(job.key) is not job]
        elsewhere = [job for job in others if job.asked_on[me][0] != page and job.asked_on[me][1] == source]
        for job in elsewhere:
            job.away.add(me)
    for job in others:
        if job not in elsewhere:
            stop_waiting(job)
