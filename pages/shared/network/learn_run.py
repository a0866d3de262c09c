"""A search in a thread of its own, so that the page can say how far it is, and stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

import streamlit as st

from bayes_engine.structure.search import Search
from bayes_engine.structure.trace import Progress

GRACE = 2.0
"""Seconds the page waits for a search before it offers to stop it."""

Work = Callable[[Callable[[], bool], Callable[[Progress], None]], Search]
"""(cancel, report) → the search's result: it asks `cancel` whether to stop, and reports how far it is."""


@dataclass
class Run:
    """A search under way, or done: then `result` or `error` is set."""

    begun: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    far: Progress | None = None
    result: Search | None = None
    error: Exception | None = None

    def work(self, work: Work) -> None:
        """Search; for the thread."""
        try:
            self.result = work(self.stop.is_set, self.report)
        except Exception as error:  # noqa: BLE001  (raised again in the page's own thread)
            self.error = error
        finally:
            self.done.set()

    def report(self, far: Progress) -> None:
        self.far = far

    def outcome(self) -> Search:
        """What it came to. Raises what the search raised."""
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


class UnderWay(Exception):
    """The search is not done yet."""

    def __init__(self, run: Run) -> None:
        super().__init__("the search is under way")
        self.run = run


def outcome(key: Hashable, work: Work) -> Run:
    """The session's run of a search, begun where there is none; raises UnderWay where it takes longer than `GRACE`."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    run = runs.get(key)
    if run is None:
        run = runs[key] = Run()
        threading.Thread(target=run.work, args=(work,), daemon=True).start()
    if not run.done.wait(max(run.begun + GRACE - time.monotonic(), 0)):
        raise UnderWay(run)
    return run


def only(keys: Collection[Hashable]) -> None:
    """Searches that nobody asks for any more are stopped and forgotten."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    for key in set(runs) - set(keys):
        runs.pop(key).stop.set()


def forget(key: Hashable) -> None:
    """The next run of the script begins this search anew; for callbacks."""
    st.session_state.get("learn_runs", {}).pop(key, None)
