"""How far a long computation is, and a way to stop it: its loops tell whoever watches, and nobody has to. tqdm draws a
bar and stops nothing; here a page asks how far it is, and calls it off.

A loop that may take long goes over `steps(items)`, or calls `tick(done, total)`. Loops inside loops fill their part of
the step they stand in, and loops one after the other, each in a `part`, theirs of the whole. Who wants to know, or to
stop it, computes under `watching`; who does not pays a look at a context variable for each step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")
Report = Callable[[float, int], None]
"""(done, total): of the outermost loop under way, with the part of the present step that is done; a total of 0 is not
known."""
PACE = 0.05
"""The watcher is asked at most once in so many seconds, unless it says otherwise."""


class Cancelled(BaseException):
    """Whoever watched has called it off. No Exception, like asyncio's: nothing that mends a fault may catch it."""


class _Watcher:
    """Who watches, when to ask next, and the [done, total] of every loop under way, the outermost first."""

    def __init__(self, cancel: Callable[[], bool], report: Report | None, pace: float) -> None:
        self.cancel, self.report, self.pace = cancel, report, pace
        self.due = 0.0
        self.loops: list[tuple[int, int]] = []
        self.most = 0.0  # told of the outermost: a step may hold several loops, each from its own beginning

    def look(self, done: int, total: int) -> None:
        """Ask whether to stop, and tell how far it is, unless that was done a moment ago."""
        if monotonic() < self.due:
            return
        if self.cancel():
            raise Cancelled
        if self.report is not None:
            (first, of), *inner = (*self.loops, (done, total)) if total or not self.loops else self.loops
            part, width = 0.0, 1.0
            for i, n in inner:
                if n:
                    width /= n
                    part += i * width
            self.most = max(self.most, first + part) if self.loops else float(first)
            self.report(min(self.most, float(of)), of)
        self.due = monotonic() + self.pace


_watcher: ContextVar[_Watcher | None] = ContextVar("bayes_engine_progress", default=None)


@contextmanager
def watching(cancel: Callable[[], bool], report: Report | None = None, pace: float | None = None) -> Iterator[None]:
    """Long loops inside ask `cancel` whether to stop, which then raises Cancelled, and `report` how far they are, at
    most once in `pace` seconds, PACE where none is said.

    Of this thread alone, or of this asyncio task. `cancel` may also wait: the computation waits with it.

    >>> far = []
    >>> with watching(lambda: False, lambda done, total: far.append(done / total)):
    ...     rows = [row * row for row in steps(range(4))]
    >>> far[0], rows
    (0.0, [0, 1, 4, 9])
    """
    token = _watcher.set(_Watcher(cancel, report, PACE if pace is None else pace))
    try:
        yield
    finally:
        _watcher.reset(token)


def watched() -> bool:
    """Whether somebody watches.

    >>> watched()
    False
    """
    return _watcher.get() is not None


def tick(done: int = 0, total: int = 0) -> None:
    """A step of a long loop: `done` of `total` (0: not known) are behind. Raises Cancelled where it is called off.

    >>> tick(3, 10)
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher.look(done, total)


def steps(items: Iterable[T], total: int | None = None) -> Iterator[T]:
    """The items, with a tick before each; `total` is their number where they cannot tell it themselves.

    >>> list(steps("abc"))
    ['a', 'b', 'c']
    """
    watcher = _watcher.get()
    if watcher is None:
        return iter(items)
    return _reported(watcher, items, total if total is not None else len(items) if isinstance(items, Sized) else 0)


@contextmanager
def part(i: int, n: int) -> Iterator[None]:
    """The loops inside fill step `i` of `n`, of a computation that is several loops one after the other.

    >>> far = []
    >>> with watching(lambda: False, lambda done, total: far.append(done / total), pace=0.0):
    ...     for i in range(2):
    ...         with part(i, 2):
    ...             rows = list(steps("ab"))
    >>> far
    [0.0, 0.25, 0.5, 0.75]
    """
    watcher = _watcher.get()
    if watcher is None:
        yield
        return
    depth = len(watcher.loops)
    if not depth:
        watcher.most = 0.0
    watcher.loops.append((i, n))
    try:
        yield
    finally:
        del watcher.loops[depth:]


def ticking(estimator: T) -> T:
    """The same scikit-learn estimator, its fit and its clones' with a tick at each of their iterations, which changes
    nothing of what they learn. scikit-learn tells them since 1.9, and not in every solver; others fit as they did.

    >>> from sklearn.linear_model import LogisticRegression
    >>> ticking(LogisticRegression())
    LogisticRegression()
    """
    if hasattr(estimator, "set_callbacks"):
        estimator.set_callbacks(_Ticks())
    return estimator


class _Ticks:
    """A tick at each task of a fit, in the form of scikit-learn's FitCallback."""

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        tick()

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        tick()


def _reported(watcher: _Watcher, items: Iterable[T], total: int) -> Generator[T]:
    depth = len(watcher.loops)
    if not depth:
        watcher.most = 0.0
    try:
        for i, item in enumerate(items):
            watcher.loops[depth:] = [(i, total)]
            watcher.look(0, 0)
            yield item
    finally:
        del watcher.loops[depth:]
