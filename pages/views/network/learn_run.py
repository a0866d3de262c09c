"""A search under way, so that the page can say how far it is, and end it with the best so far.

It is a job of the session's own: a search that somebody ends early has a result, which is nobody else's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

import streamlit as st

from bayes_engine.language import Message
from bayes_engine.structure.search import SearchResult
from bayes_engine.structure.search_trace import SearchProgress
from pages.runtime import jobs

GRACE = 2.0
"""Seconds the page waits for a search before it offers to stop it."""

Work = Callable[[Callable[[], bool], Callable[[SearchProgress], None]], SearchResult]
"""(cancel, report) → the search's result: it asks `cancel` whether to stop, and reports how far it is."""


@dataclass
class Run:
    """A search under way, or done; `stop` ends it with the best so far."""

    begun: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    far: SearchProgress | None = None
    job: jobs.Job | None = None

    def work(self, work: Work) -> SearchResult:
        """Search; for the job."""
        return work(self.stop.is_set, self.report)

    def report(self, far: SearchProgress) -> None:
        self.far = far

    @property
    def is_done(self) -> bool:
        return self.job is not None and self.job.done.is_set()

    @property
    def is_lost(self) -> bool:
        """Whether its job was stopped, for the session was away: it has no result."""
        return self.job is not None and self.job.stop.is_set()


class UnderWay(Exception):
    """The search is not done yet."""

    def __init__(self, run: Run) -> None:
        super().__init__("the search is under way")
        self.run = run


def outcome(key: Hashable, work: Work) -> SearchResult:
    """What the session's run of a search came to; the run is begun where there is none. Raises what the search raised,
    and UnderWay where it takes longer than `GRACE`."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    run = runs.get(key)
    if run is None or run.is_lost:
        run = runs[key] = Run()
    job = run.job
    if job is None or not job.done.is_set():
        job = run.job = jobs.begin(("search", jobs.session_id(), key), lambda: run.work(work), Message("searching"))
        if not job.done.wait(max(run.begun + GRACE - time.monotonic(), 0)):
            raise UnderWay(run)
    jobs.forget(job)  # the session has its result, and may begin it anew
    if job.error is not None:
        raise job.error
    searched: SearchResult = job.result
    return searched


def forget_others(keys: Collection[Hashable]) -> None:
    """Searches that nobody asks for any more are forgotten; they stop with the run of the script."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    for key in set(runs) - set(keys):
        runs.pop(key).stop.set()


def forget(key: Hashable) -> None:
    """The next run of the script begins this search anew; for callbacks."""
    st.session_state.get("learn_runs", {}).pop(key, None)
