"""Long work off the script's thread, with progress and a way to stop it; work that takes a moment is not seen to.
Streamlit runs a script to its end: it knows no work that goes on beside it.

A job is only what is under way (`cache.cached` keeps its result), and who asks for the same joins it. A run of the
script waits for `GRACE` seconds; then the page ends with how far it is, a fragment looks after it, and the page is
drawn anew once it is done. Pages come first: at its ticks a job waits while any run of the script computes, for there
is but one interpreter and a page asks for it a thousand times. Work beyond its grace also runs at a lower priority, and
`AT_ONCE` at a time, the others waiting at their next `tick`. A job belongs to the sessions that wait for it, also while
they look at another page: then what is waited for on screen comes first. Where the last of them cancels, asks for
something else on that page, changes the table or the models, or is gone, it stops at its next `tick`.

Where a page computes much, one job after the other, each fills its part of one bar (`part_of_page`), and what is shown
of either never goes back.

A callback that needs long work (a file to be read) leaves a `CallbackJob`, which is done before the next page is drawn.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from streamlit.logger import get_logger
from threadpoolctl import threadpool_limits  # comes with scikit-learn

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, ngettext
from bayes_engine.progress import watched, watching
from pages.runtime import private
from pages.runtime.escape import md
from pages.runtime.private import connected, running, session_id
from pages.runtime.state import PageEnded, current, made_from, use_session_language

GRACE = 1.0
"""Seconds that a run of the script waits for a job, and that a job runs among the short ones."""
LIGHT, WAITED = 4_000_000, 10.0
"""Bytes up to which reading a file takes a moment, and seconds that a run of the script waits for it at most: the page
would only flicker."""
LOOK = 0.4
"""Seconds between two looks of a page at its job."""
SWEEP = 0.25
"""Seconds between two looks for sessions that have left."""
PATIENCE = 0.75
"""Seconds without a browser after which a session has left: a reload takes less."""
AT_ONCE = max(1, min(2, (os.cpu_count() or 1) // 2))
"""So many long jobs run at a time in this process."""
NICE = 10
"""By how much a long job gives way to whatever else the machine has to do."""
PACE = 0.003
"""Seconds between two looks of a job at whether to go on."""
YOUNG = 0.02
"""Seconds for which a job is part of the page that asked for it, and gives way to nobody."""
GIVE_WAY, OWN = 0.25, 0.02
"""Seconds for which a job waits for pages at most, and seconds that it then works for itself: none is starved."""
DOORS = 0.04
"""Seconds that a run of the script takes to begin once it is asked for, and its page to be sent once it has ended."""
TURN = 0.001
"""Seconds after which a thread that computes lets another one in; Python's own 5 ms are felt in a page of many
calls."""

T = TypeVar("T")
_log = get_logger("bayes_workbench")


@dataclass(eq=False)
class Job:
    """Work under way for the sessions in `waiting`, or done: then `result` or `error` is set."""

    key: Hashable
    activity: Message
    kept: bool = False  # the work itself keeps its result where who asks finds it
    waiting: dict[str, float] = field(default_factory=dict)  # and when each was last seen to be there
    asked_on: dict[str, tuple[str, Hashable]] = field(
        default_factory=dict
    )  # by each of them: the page, and what it is made from
    away: set[str] = field(default_factory=set)  # those of them who look at another page
    begun: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    progress: tuple[float, int] = (0.0, 0)  # (done, total)
    own: float = 0.0  # until when it need not give way
    result: Any = None
    error: BaseException | None = None

    def work(self, work: Callable[[], Any]) -> None:
        try:
            with watching(self.stopped, self.report, PACE):
                self.result = work()
        except BaseException as error:  # noqa: BLE001  (Cancelled too; raised again in the page's own thread)
            self.error = error
        finally:
            with _lock:
                if self in _long:
                    _long.remove(self)
                if self.kept and self.error is None and self.is_aside and _jobs.get(self.key) is self:
                    del _jobs[self.key]
            self.done.set()

    def stopped(self) -> bool:
        """Whether to stop; asked at every tick. A job waits here for its turn."""
        age = time.monotonic() - self.begun
        if age > YOUNG:
            self.give_way()
        if age > GRACE and self not in _long:
            with _lock:
                _long.append(self)
            with suppress(AttributeError, OSError):  # Linux gives every thread a priority of its own
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        while self.ahead() and not self.stop.wait(SWEEP):
            pass
        return self.stop.is_set()

    def give_way(self) -> None:
        """Wait while pages compute, and at their doors."""
        end = time.monotonic() + GIVE_WAY
        while (now := time.monotonic()) > self.own and (now < _doors[0] or not _idle.is_set()):
            if now > end:
                self.own = now + OWN
            elif _idle.wait(end - now):
                time.sleep(max(_doors[0] - time.monotonic(), 0.001))

    def report(self, done: float, total: int) -> None:
        """How far it is; of a second loop nothing is told before it is further than the first was."""
        if _share(done, total) >= _share(*self.progress):
            self.progress = (done, total)

    def ahead(self) -> int:
        """How many long jobs come before this one may go on; 0 while it runs."""
        with _lock:
            place = sorted(_long, key=lambda job: job.is_aside).index(self) if self in _long else 0
        return place if place >= AT_ONCE else 0

    @property
    def is_aside(self) -> bool:
        """Whether all who wait for it look at another page."""
        return self.waiting.keys() <= self.away


class Part(NamedTuple):
    """Of all that the page of this key computes, from a share of it to another."""

    page: Hashable
    begin: float
    end: float


class UnderWay(Exception):
    """No error: what the page needs is not there yet, or was cancelled (`job` is None); the router shows it."""

    def __init__(self, key: Hashable, activity: Message, job: Job | None) -> None:
        super().__init__("a job is under way")
        self.key, self.activity, self.job, self.part = key, activity, job, _part.get()


_lock = threading.Lock()
_jobs: dict[Hashable, Job] = {}
_long: list[Job] = []  # those beyond their grace, in the order in which they may run
_sweeping = threading.Event()
_runs = [0]  # of the script that compute at this moment
_doors = [0.0]  # until when one may be about to begin, or be sent
_idle = threading.Event()  # there are none
_idle.set()
_asked: ContextVar[dict[Hashable, Job] | None] = ContextVar("asked", default=None)
_part: ContextVar[Part | None] = ContextVar("part", default=None)


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
    if watched() or _asked.get() is None:
        return work()
    while True:
        job = begin(key, work, activity, kept=kept)
        with _computing(-1):
            done = job.done.wait(max(job.begun + (GRACE if grace is None else grace) - time.monotonic(), 0.0))
        if not done:
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


@contextmanager
def part_of_page(page: Hashable, begin: float, end: float) -> Iterator[None]:
    """The jobs asked for inside fill this part of one bar for the whole `page`, which stands for all it computes."""
    token = _part.set(Part(page, begin, end))
    try:
        yield
    finally:
        _part.reset(token)


@dataclass
class CallbackJob:
    """What a callback has asked for: `work` is done before the next page is drawn, and then what follows from it. What
    it came to is `found` until that has been done to its end: a click may break off any run of the script."""

    key: Hashable
    work: Callable[[], Any]
    activity: Message
    then: Callable[[Any], None]
    refused: Callable[[BayesEngineError], None]
    light: bool
    visit: int
    found: tuple[Any, ...] = ()


def run_after_callback(key: Hashable, work: Callable[[], T], activity: Message, then: Callable[[T], None],
           refused: Callable[[BayesEngineError], None], *, size: int) -> None:  # fmt: skip
    """For a callback, which nobody could see at work: have the job done, and then `then` called with its result, or
    `refused` with its BayesEngineError, where a callback's end would be. Until then the page is drawn as it was, below
    how far the job is. `key`, `work` and `activity` as in `run`; `size` are the bytes that are read. Another one takes
    the place of one under way."""
    _declined().discard(key)
    visit = st.session_state.get("visit", 0)
    st.session_state["callback_job"] = CallbackJob(key, work, activity, then, refused, size <= LIGHT, visit)


def cancel_callback_job() -> None:
    st.session_state.pop("callback_job", None)


def begin(key: Hashable, work: Callable[[], Any], activity: Message, *, kept: bool = False) -> Job:
    """The job of this key, which this session now waits for; raises UnderWay where the session has cancelled it."""
    if key in _declined():
        raise UnderWay(key, activity, None)
    me, here = session_id(), _here()
    with _lock:
        job = _jobs.get(key)
        if fresh := job is None or job.stop.is_set():
            job = _jobs[key] = Job(key, activity, kept)
        job.waiting[me], job.asked_on[me] = time.monotonic(), here
        job.away.discard(me)
        watch = not _sweeping.is_set()
        _sweeping.set()
    if (asked := _asked.get()) is not None:
        asked[key] = job
    if fresh:
        threading.Thread(target=job.work, args=(work,), name="job", daemon=True).start()
    if watch:
        threading.Thread(target=_sweep, name="job-sweeper", daemon=True).start()
    return job


@contextmanager
def _computing(runs: int) -> Iterator[None]:
    """So many more runs of the script compute; -1: this one waits."""
    _more(runs)
    try:
        yield
    finally:
        _more(-runs)


def _more(runs: int) -> None:
    with _lock:
        _runs[0] += runs
        if _runs[0]:
            _idle.clear()
        else:
            _at_the_door()
            _idle.set()


def _at_the_door() -> None:
    _doors[0] = time.monotonic() + DOORS


def forget(job: Job) -> None:
    """It is done and its result is taken: who asks again begins it anew."""
    with _lock:
        if _jobs.get(job.key) is job:
            del _jobs[job.key]


def stop_waiting(job: Job, who: str = "") -> bool:
    """The session `who` (this one) waits for the job no longer; whether nobody does now, and it stops."""
    with _lock:
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
        return True


def _sweep() -> None:
    while True:
        time.sleep(SWEEP)
        with _lock:
            if not _jobs:
                _sweeping.clear()
                return
            waited = [(job, who) for job in _jobs.values() for who in job.waiting]
        now = time.monotonic()
        for job, who in waited:
            if connected(who):
                with _lock:
                    if who in job.waiting:
                        job.waiting[who] = now
            elif now - job.waiting.get(who, now) > PATIENCE and stop_waiting(job, who):
                _log.info("job cancelled: its session has left")


def _declined() -> set[Hashable]:
    declined: set[Hashable] = st.session_state.setdefault("jobs_declined", set())
    return declined


# for the router ---------------------------------------------------------------------------------------------------


def share_the_machine() -> None:
    """Make a process of many users: one thread of BLAS for each computation, and short turns."""
    threadpool_limits(1)
    sys.setswitchinterval(TURN)
    if (runtime := running()) is not None:
        private.at_each_message(runtime, _at_the_door)


@contextmanager
def showing_progress() -> Iterator[None]:
    """A run of the script: where it cannot go on for a job, how far that is; jobs that this page no
    longer asks for go."""
    asked: dict[Hashable, Job] = {}
    token = _asked.set(asked)
    try:
        try:
            with _computing(1):
                yield
            st.session_state.pop("progress", None)
        except UnderWay as there:
            progress_box(there)
    except PageEnded:
        _only(asked)
        raise
    else:
        _only(asked)
    finally:
        _asked.reset(token)


def run_callback_job() -> UnderWay | None:
    """Start of a run: what a callback has asked for is done, or this is how far it is. One that was cancelled is said
    until the person turns to another page."""
    session = st.session_state
    wanted: CallbackJob | None = session.get("callback_job")
    if wanted is None:
        return None
    if wanted.key in _declined() and wanted.visit != session.get("visit", 0):
        cancel_callback_job()
        return None
    try:
        if not wanted.found:
            wanted.found = (run(wanted.key, wanted.work, wanted.activity, WAITED if wanted.light else None),)
        wanted.then(*wanted.found)
    except UnderWay as there:
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
    with _lock:
        others = [job for job in _jobs.values() if me in job.waiting and asked.get(job.key) is not job]
        elsewhere = [job for job in others if job.asked_on[me][0] != page and job.asked_on[me][1] == source]
        for job in elsewhere:
            job.away.add(me)
    for job in others:
        if job not in elsewhere:
            stop_waiting(job)


def progress_box(there: UnderWay, key: str = "job") -> None:
    """In place of the rest of the page: what is being done, how far it is, and a button that stops it. `key` begins the
    keys of its buttons: above a page that has work of its own what a callback asked for may be under way."""
    if there.job is None:
        st.warning(_("Cancelled: {what}.").format(what=there.activity.local(md)), icon=":material/stop_circle:")
        again = _declined().discard
        st.button(_("Start again"), icon=":material/play_arrow:", key=f"{key}_again", on_click=again, args=(there.key,))
        return
    job = there.job

    @st.fragment(run_every=LOOK)
    def looking() -> None:
        use_session_language()
        if job.done.is_set() or job.key in _declined():
            st.rerun()
        with st.container(border=True, width=640):
            _progress_bar(job, there.part, key)

    looking()


def _progress_bar(job: Job, part: Part | None, key: str) -> None:
    share, begun = _share(*job.progress), job.begun
    if part is not None:
        share, begun = _of_page(part, share, begun)
    seconds = f"{time.monotonic() - begun:.0f}"
    head = _("{what} …").format(what=job.activity.local(md))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"{head[:1].upper()}{head[1:]} {_('{n} s').format(n=seconds)}")
        st.button(_("Cancel"), icon=":material/stop_circle:", key=f"{key}_cancel", on_click=_decline, args=(job,))
    if n := job.ahead():
        words = ngettext("{n} computation is before this one.", "{n} computations are before this one.", n).format(n=n)
    elif part is not None:
        words = _("{share} of all that this page computes").format(share=f"{share:.0%}")
    else:
        words = f"{share:.0%}" if job.progress[1] else _("under way")
    st.progress(share, words)


def _share(done: float, total: int) -> float:
    return min(max(done / total, 0.0), 1.0) if total else 0.0


def _of_page(part: Part, share: float, begun: float) -> tuple[float, float]:
    """The share of all that the page computes which is done, no less than was shown before, and since when it does."""
    page, most, first = st.session_state.get("progress", (None, 0.0, 0.0))
    most, first = (most, first) if page == part.page else (0.0, begun)
    most = max(most, part.begin + (part.end - part.begin) * share)
    st.session_state["progress"] = (part.page, most, first)
    return most, first


def _decline(job: Job) -> None:
    _declined().add(job.key)
    stop_waiting(job)
