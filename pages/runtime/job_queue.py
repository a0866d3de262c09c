"""The queue of jobs: who of those that are under way goes on at this moment.

What a job has worked is the processor's time of its thread: what waits does not grow old. One that is `YOUNG` is part
of the page that asked for it. Beyond that `AT_ONCE` go on at a time, and as many of those that have worked longer than
`SHORT`, at a lower priority: who needs a moment never waits for who needs a minute. Pages come first: at its ticks a
job waits while any run of the script computes, for there is but one interpreter and a page asks for it a thousand
times; where pages compute all the time, one job after the other works for `OWN` seconds between two waits.

What a job has done `in_worker` goes on in another process, where there are any, and has a queue of its own there
(`bayes_engine.workbench.workers.pool`); the job only waits. There too what is long waits while pages compute.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, ParamSpec, TypeVar

from bayes_engine.language import Message
from bayes_engine.progress import watching
from bayes_engine.workbench.workers import pool
from bayes_engine.workbench.workers.child import GIVE_WAY, OWN

GRACE = 0.7
"""Seconds that a run of the script waits for all its jobs: the page is there within a second, with how far they are."""
SHORT = 1.0
"""Seconds that a job works among the short ones."""
SWEEP = 0.25
"""Seconds between two looks for sessions that have left, and for pages that are not drawn anew yet."""
AT_ONCE = max(1, min(2, (os.cpu_count() or 1) // 2))
"""So many jobs that are not young go on at a time in this process, and so many long ones."""
NICE = 10
"""By how much a long job gives way to whatever else the machine has to do."""
PACE = 0.003
"""Seconds between two looks of a job at whether to go on."""
YOUNG = 0.05
"""Seconds of work for which a job is part of the page that asked for it, and gives way to nobody."""
DOORS = 0.02
"""Seconds that a run of the script takes to begin once it is asked for, and its page to be sent once it has ended."""
work_clock = time.thread_time
"""Seconds that this thread has worked."""

P = ParamSpec("P")
R = TypeVar("R")

lock = threading.RLock()
moved = threading.Condition(lock)  # a job may go on, perhaps
queue: list[Job] = []  # those that are not young, in the order in which they may go on
_beside: list[Job | None] = [None]  # who goes on though pages compute
_runs = [0]  # of the script that compute at this moment
_doors = [0.0]  # until when one may be about to begin, or be sent
_idle = threading.Event()  # there are none
_idle.set()
_at_work: ContextVar[Job | None] = ContextVar("at_work", default=None)  # in this thread


@dataclass(eq=False)
class Job:
    """Work under way for the sessions in `waiting`, or done: then `result` or `error` is set."""

    key: Hashable
    activity: Message
    kept: bool = False  # the work itself keeps its result where who asks finds it
    ended: Callable[[Job], None] = lambda _job: None  # called once it is done
    waiting: dict[str, float] = field(default_factory=dict)  # and when each was last seen to be there
    asked_on: dict[str, tuple[str, Hashable]] = field(
        default_factory=dict
    )  # by each of them: the page, and what it is made from
    away: set[str] = field(default_factory=set)  # those of them who look at another page
    number: int = field(default_factory=count(1).__next__)
    begun: float = field(default_factory=time.monotonic)
    worked_before: float = 0.0  # by its thread
    is_long: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    progress: tuple[float, int] = (0.0, 0)  # (done, total)
    own: float = 0.0  # the work up to which it need not give way
    waits_since: float = 0.0  # for pages
    result: Any = None
    error: BaseException | None = None

    def work(self, work: Callable[[], Any]) -> None:
        self.worked_before = work_clock()
        token = _at_work.set(self)
        try:
            with watching(self.stopped, self.report, PACE):
                self.result = work()
        except BaseException as error:  # noqa: BLE001  (Cancelled too; raised again in the page's own thread)
            self.error = error
        finally:
            _at_work.reset(token)
            with moved:
                if self in queue:
                    queue.remove(self)
                if _beside[0] is self:
                    _beside[0] = None
                moved.notify_all()
            self.done.set()
            self.ended(self)

    def stopped(self) -> bool:
        """Whether to stop; asked at every tick. A job waits here for its turn."""
        worked = work_clock() - self.worked_before
        if worked > YOUNG:
            self._queue_up(worked)
            with moved:
                while self._place() >= AT_ONCE and not self.stop.is_set():
                    moved.wait(SWEEP)
            self.give_way(worked)
        return self.stop.is_set()

    def _queue_up(self, worked: float) -> None:
        with moved:
            if self not in queue:
                queue.append(self)
            if worked <= SHORT or self.is_long:
                return
            self.is_long = True
            queue.remove(self)  # it comes after those that are long already
            queue.append(self)
            moved.notify_all()
        with suppress(AttributeError, OSError):  # Linux gives every thread a priority of its own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)

    def give_way(self, worked: float) -> None:
        """Wait while pages compute, and at their doors."""
        if _beside[0] is self:
            if worked < self.own:
                return
            _beside[0] = None
        self.waits_since = time.monotonic()
        while not self.stop.is_set():
            now = time.monotonic()
            if _idle.is_set():
                if (doors := _doors[0] - now) <= 0:
                    return
                time.sleep(min(doors, PACE))
            elif not _idle.wait(max(self.waits_since + GIVE_WAY - now, PACE)) and self._has_turn():
                self.own = worked + OWN
                return

    def _has_turn(self) -> bool:
        """Whether it goes on beside the pages: one at a time, who has waited longest first."""
        with lock:
            going = [job for job in queue if job._place() < AT_ONCE]
            if _beside[0] is None and min(going, key=lambda job: job.waits_since, default=self) is self:
                _beside[0] = self
            return _beside[0] is self

    def report(self, done: float, total: int) -> None:
        """How far it is; of a second loop nothing is told before it is further than the first was."""
        if share(done, total) >= share(*self.progress):
            self.progress = (done, total)

    def ahead(self) -> int:
        """How many jobs come before this one may go on; 0 while it runs."""
        with lock:
            place = self._place()
        return place if place >= AT_ONCE else pool.ahead(self)

    def _place(self) -> int:
        """How many of its kind, long or not, come first. Under the lock."""
        alike = sorted((job for job in queue if job.is_long == self.is_long), key=lambda job: job.is_aside)
        return alike.index(self) if self in alike else 0

    @property
    def is_aside(self) -> bool:
        """Whether all who wait for it look at another page."""
        with lock:
            return self.waiting.keys() <= self.away


def in_worker(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What a function of the library comes to, computed in a worker process for the job of this thread. Here, where
    no such process is ready, and where no job asks.

    It is for what takes longer than to send its arguments there and its result back, of which copies are made: some
    thousandths of a second, and as many for each million of numbers.
    """
    job = _at_work.get()
    there = None if job is None else pool.pool()
    if there is None:
        return function(*args, **kwargs)
    result: R = there.compute(partial(function, *args, **kwargs), job)
    return result


# pages that compute ------------------------------------------------------------------------------------------------


@contextmanager
def computing(runs: int) -> Iterator[None]:
    """So many more runs of the script compute; -1: this one waits."""
    _more(runs)
    try:
        yield
    finally:
        _more(-runs)


def _more(runs: int) -> None:
    with lock:
        _runs[0] += runs
        changed = pool.pages[0] != (_runs[0] > 0)
        pool.pages[0] = _runs[0] > 0
        if _runs[0]:
            _idle.clear()
        else:
            at_the_door()
            _idle.set()
    if changed:
        pool.give_way()


def at_the_door() -> None:
    """A run of the script may be about to begin, or its page to be sent."""
    _doors[0] = time.monotonic() + DOORS


def share(done: float, total: int) -> float:
    """How far that is, from 0 to 1."""
    return min(max(done / total, 0.0), 1.0) if total else 0.0
