"""What a benchmark is to reach, told in lines that `python -m tests.bench` finds again."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import NamedTuple

HOLDS, MISSED = "holds ", "MISSED"
_TOLD = re.compile(rf"({HOLDS}|{MISSED}) (\S.*)")
_RATIO = re.compile(r" *(\d+\.\d+) +(\d+\.\d+) (?: *\d+\.\d+ +\d+\.\d+)? {2,}(\S.*)")
"""A line of a table of ratios: the ratio, its bound, perhaps milliseconds of both sides, and of what it is."""


class Goal(NamedTuple):
    """What is to be reached, with what was measured, and whether it holds."""

    what: str
    holds: bool


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
