"""Columns that give the class away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_engine.language import Message
from bayes_engine.logspace import Array, log
from bayes_engine.progress import steps
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import Code, Finding, Nats, SetRole
from bayes_engine.workbench.doctor.pairs import BY_CHANCE

GIVEN_AWAY, ERRORS = 0.02, 10
"""A single column that leaves at most so much of the errors of always deciding for the largest class, one row left out
at a time; and the errors there must be to begin with. An attribute as good as the odour of mushrooms leaves 3 %."""


def errors_alone(codes: NDArray[np.intp], y: NDArray[np.intp], k: int) -> int:
    """How many rows a column of codes decides wrongly by itself, each left out of the counts it is judged by: the most
    frequent class among the other rows of its level, and among all others where there are none."""
    n, rows = len(y), np.bincount(y, minlength=k)
    if not n:
        return 0
    cells, met = np.unique((codes + 1) * k + y, return_counts=True)  # what occurs: all may be far more
    level, cls = cells // k, cells % k
    nothing = (level == 0) | (np.bincount(level, met)[level] == 1)  # missing, or alone in its level
    by_level = _still_first(level, met * n + rows[cls], n + 1)  # of as frequent ones the larger of all
    by_size = _still_first(np.zeros(k, dtype=np.intp), rows, 1)[cls]
    return int(met[~np.where(nothing, by_size, by_level)].sum())


def _still_first(group: NDArray[np.intp], score: NDArray[np.intp], less: int) -> NDArray[np.bool_]:
    """Whether each has the greatest score of its group, and before the others that have it, though its own is less."""
    order = np.lexsort((-score, group))
    starts = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    top, rival = order[starts], np.append(order, order[-1])[starts + 1]
    own, its = score[top] - less, score[rival]
    first = np.zeros(len(group), dtype=bool)
    first[top] = (group[rival] != group[top]) | (rival == top) | (own > its) | ((own == its) & (top < rival))
    return first


def levels_of_numbers(x: Array) -> NDArray[np.intp]:
    """(n,) numbers as groups of neighbours: equal ones together, a number that stands once with the nearest other.

    >>> levels_of_numbers(np.array([1.0, 1.1, 5.0, 5.0, 4.9])).tolist()
    [0, 0, 1, 1, 1]
    """
    known = ~np.isnan(x)
    values, value_index, counts = np.unique(x[known], return_inverse=True, return_counts=True)
    codes = np.full(len(x), -1, dtype=np.intp)
    if not len(values):
        return codes
    gap = np.diff(values)
    nearer_below = np.r_[np.inf, gap] <= np.r_[gap, np.inf]
    joined = np.zeros(len(values), dtype=bool)  # whether a value is joined to the one below
    alone = counts == 1
    joined[alone & nearer_below] = True
    up = np.flatnonzero(alone & ~nearer_below)
    joined[up[up + 1 < len(values)] + 1] = True
    joined[0] = False
    codes[known] = (np.cumsum(~joined) - 1)[value_index]
    return codes


class ClassIntervals(NamedTuple):
    """Numbers on which every class has an interval of its own: (n,) its place as `codes`, and the rows that are decided
    `wrong` where each is left out and goes with the nearer of its neighbours."""

    codes: NDArray[np.intp]
    wrong: int


def class_intervals(x: Array, y: NDArray[np.intp]) -> ClassIntervals | None:
    """The intervals of the classes on known numbers; None where two classes overlap."""
    order = np.argsort(x, kind="stable")
    values, classes = x[order], y[order]
    last = np.flatnonzero(np.diff(classes))
    if len(last) + 1 != len(np.unique(y)) or (values[last] == values[last + 1]).any():
        return None
    codes = np.empty(len(x), dtype=np.intp)
    codes[order] = np.r_[0, np.cumsum(np.diff(classes) != 0)] if len(x) else 0
    wrong = set()
    for position, own, other in (
        (i, step, i + beyond) for i in last for i, step, beyond in ((i, -1, 1), (i + 1, 1, -1))
    ):
        kin = position + own
        alike = 0 <= kin < len(x) and classes[kin] == classes[position]
        if not alike or abs(values[position] - values[other]) < abs(values[position] - values[kin]):
            wrong.add(position)  # once, though it has neighbours of two classes
    return ClassIntervals(codes, len(wrong))


def leaks(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that decide the class alone: in practice they hold what is only known afterwards, or the class itself."""
    if examined.target is None or (np.bincount(examined.y, minlength=examined.k) > 0).sum() < 2:
        return
    for name in steps((*examined.codes, *examined.numbers)):
        codes = examined.codes[name] if name in examined.codes else levels_of_numbers(examined.numbers[name])
        known = codes >= 0
        own, y = codes[known], examined.y[known]
        rows = np.bincount(y, minlength=examined.k)
        n, there = len(y), int((rows > 0).sum())
        if there < 2:
            known, own, y, n = np.ones(examined.n, dtype=bool), codes, examined.y, examined.n
            rows = np.bincount(y, minlength=examined.k)
        wrong, base = errors_alone(own, y, examined.k), n - int(rows.max())
        intervals = (
            class_intervals(examined.numbers[name][known], y) if name in examined.numbers and there > 1 else None
        )
        if intervals is not None:  # a threshold: its neighbours are few among the rows, but close
            own, wrong = intervals.codes, min(wrong, intervals.wrong)
        share = rows[rows > 0] / n
        entropy = -float(share @ log(share))
        cells = examined.codes[name][known] if name in examined.codes else examined.numbers[name][known]
        copied = wrong == 0 and len(np.unique(cells)) == there == int((examined.class_rows > 0).sum())
        chance = BY_CHANCE + float(log(float(max(len(examined.features), 1))))
        by_chance = entropy * n < chance
        given = wrong <= GIVEN_AWAY * base
        if intervals is not None:  # of all orders of the rows, how few keep the classes together
            orders = float(gammaln(n + 1) - gammaln(there + 1) - gammaln(rows + 1).sum())
            given |= 2 * wrong <= base and orders >= chance
        if not ((base >= ERRORS and given) or (copied and base and not by_chance)):
            continue
        evidence = (
            (Message("rows it decides wrongly alone, each left out"), wrong),
            (Message("rows that always the largest class decides wrongly"), base),
            (Message("I(column; class)"), Nats(_information(own, y, examined.k))),
            (Message("H(class)"), Nats(entropy)),
        )
        facts = {
            "column": name,
            "other": examined.target.name,
            "right": 1.0 - wrong / n,
            "base": 1.0 - base / n,
            "n": n,
        }
        message = _given_away(facts, copied=copied, everywhere=n == examined.n)
        code: Code = "copy-of-target" if copied else "leak"
        yield Finding(code, "serious", (name,), message, evidence, (SetRole(name, "ignore"),))


def _given_away(facts: Mapping[str, object], *, copied: bool, everywhere: bool) -> Message:
    """The sentence of a leak: a copy of the target or not, in every row or where the column is known."""
    if copied and everywhere:
        return Message("'{column}' is the target '{other}' under another name: each of its values goes with one class, "
                       "and each class with one value.", facts)  # fmt: skip
    if copied:
        return Message("'{column}' is the target '{other}' under another name in all {n:,} rows where it is known: "
                       "each of its values goes with one class, and each class with one value.", facts)  # fmt: skip
    if everywhere:
        return Message("'{column}' alone predicts the class: leaving out one row at a time, it is right on "
                       "{right:.2%} of the rows (always deciding for the largest class: {base:.1%}). Is it known "
                       "before the class is?",
                       facts)  # fmt: skip
    return Message("'{column}' alone predicts the class: leaving out one row at a time, it is right on {right:.2%} of "
                   "the {n:,} rows where it is known (always deciding for the largest class: {base:.1%}). Is it known "
                   "before the class is?", facts)  # fmt: skip


def _information(codes: NDArray[np.intp], y: NDArray[np.intp], k: int) -> float:
    """I(column; class) of the known cells, from those (level, class) pairs that occur."""
    known = codes >= 0
    n = int(known.sum())
    pairs, counts = np.unique(codes[known] * k + y[known], return_counts=True)
    level, cls = np.bincount(codes[known]), np.bincount(y[known], minlength=k)
    ratio = counts * n / (level[pairs // k] * cls[pairs % k])
    return float(counts @ log(ratio)) / max(n, 1)
