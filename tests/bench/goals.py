"""What a benchmark is to reach, told in lines that `python -m tests.bench` finds again."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from typing import NamedTuple

HOLDS, MISSED = "holds ", "MISSED"
_TOLD = re.compile(rf"({HOLDS}|{MISSED}) (\S.*)")
_RATIO = re.compile(r" *(\d+\.\d+) +(\d+\.\d+) (?: *\d+\.\d+ +\d+\.\d+)? {2,}(\S.*)")
"""A line of a table of ratios: the ratio, its bound, perhaps milliseconds of both sides, and of what it is."""


SHORT = 0.25
"""Seconds below which work is done once before it is measured."""


class Goal(NamedTuple):
    """What is to be reached, with what was measured, and whether it holds."""

    what: str
    holds: bool


class Ratio(NamedTuple):
    """CPU seconds of ours and of the peer's, and the bound on their ratio."""

    what: str
    ours: float
    peer: float
    bound: float

    @property
    def value(self) -> float:
        return self.ours / self.peer


def cpu(*work: Callable[[], object], repeats: int = 5) -> list[float]:
    """The least CPU time of each, taken in turns, so that a busy machine is busy for all.

    What takes little is done once more, unmeasured, before each turn but the first: a host that is short of memory
    takes away what its guest leaves alone for a tenth of a second, and gives it back page by page. That may take longer
    than the work, and is neither ours nor the peer's.
    """
    times: list[list[float]] = [[] for _ in work]
    for _ in range(repeats):
        for job, taken in zip(work, times, strict=True):
            if taken and min(taken) < SHORT:
                job()
            start = time.process_time()
            job()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in times]


def tell(goals: Iterable[Goal]) -> int:
    """Print each; how many are missed."""
    missed = 0
    for goal in goals:
        print(HOLDS if goal.holds else MISSED, goal.what, flush=True)  # noqa: T201
        missed += not goal.holds
    return missed


def tried(what: str, work: Callable[[], Iterable[Goal]]) -> list[Goal]:
    """The goals of one part; where it fails, that it did, and the others go on."""
    try:
        return list(work())
    except Exception as error:  # noqa: BLE001 - whatever a part fails of is told
        traceback.print_exc(file=sys.stderr)
        return [failed(what, error)]


def failed(what: str, error: Exception) -> Goal:
    """A part that failed has missed its goals."""
    return Goal(f"{what}: failed, {type(error).__name__} {error}"[:300].replace("\n", " "), False)


def goal_in(line: str) -> Goal | None:
    """The goal that a line of a benchmark tells.

    >>> goal_in("MISSED a page ≤ 60 ms: 71"), goal_in("  0.41   0.60     12.30     30.00  fit / scikit-learn")
    (Goal(what='a page ≤ 60 ms: 71', holds=False), Goal(what='fit / scikit-learn ≤ 0.60: 0.41', holds=True))
    """
    if told := _TOLD.fullmatch(line.rstrip()):
        return Goal(told[2], told[1] == HOLDS)
    if ratio := _RATIO.fullmatch(line.rstrip()):
        value, bound, what = ratio.groups()
        return Goal(f"{what} ≤ {bound}: {value}", float(value) <= float(bound))
    return None
