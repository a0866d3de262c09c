"""Cut points: a number becomes the interval it falls in. scikit-learn has no cuts by the class (MDLP).

k cuts c₁ < … < c_k make the intervals (−∞, c₁], (c₁, c₂], …, (c_k, ∞); the interval of x is the number of cuts < x,
`np.searchsorted(cuts, x, side="left")`. Cuts stand half-way between neighbouring values of the column. NaN, ±inf and
rows of weight 0 are passed over; a weight counts as so many equal rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.progress import tick

METHODS = ("mdlp", "equal-width", "quantile")
"""The ways to cut: by the classes, in intervals of equal width, of equal weight."""

DIGITS = 6
"""Significant digits of a cut in the name of an interval, where no two cuts need more."""

TIE = 1e-12
"""Gains (bits) this near are equal, and the lowest cut wins: sums of floats must not choose."""


@dataclass(frozen=True)
class Split:
    """The best cut of one interval under the MDL criterion: `gain` and the `threshold` it must exceed, both in bits per
    row; `n`, the weight of the interval's rows; `accepted`, whether the cut was made."""

    cut: float
    gain: float
    threshold: float
    n: float
    accepted: bool


def cuts_for(
    method: str,
    x: ArrayLike,
    codes: ArrayLike,
    n_classes: int,
    weight: ArrayLike | None = None,
    bins: int = 10,
) -> tuple[float, ...]:
    """The cuts of x (n,) by one of `METHODS`; `codes` (n,) are the classes 0…K−1, which only "mdlp" reads, `bins` the
    most intervals, which "mdlp" finds itself.

    Raises ParameterError on another method, or `bins` that is no whole number of 2 and more.

    >>> cuts_for("mdlp", [1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1], 2)
    (3.5,)
    >>> cuts_for("equal-width", [0, 1, 2, 10], [0, 0, 1, 1], 2, bins=2)
    (5.0,)
    """
    checked_method(method, bins)
    if method == "mdlp":
        return accepted_cuts(mdlp_trace(x, codes, n_classes, weight))
    if method == "equal-width":
        return equal_width_cuts(_counted_values(x, weight), bins)
    return quantile_cuts(x, bins, weight)


def checked_method(method: str, bins: int) -> None:
    """Raises ParameterError on a method that is none of `METHODS`, or `bins` that is no whole number of 2 and more."""
    if method not in METHODS:
        raise ParameterError(
            "{method} is no way to discretize; choose one of {allowed}",
            method=repr(method),
            allowed=", ".join(map(repr, METHODS)),
        )
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 2:
        raise ParameterError(
            "bins={value}: the number of intervals must be a whole number of 2 or more", value=repr(bins)
        )


def equal_width_cuts(x: ArrayLike, bins: int) -> tuple[float, ...]:
    """min + (max − min)·k/bins, k = 1…bins−1: these are not half-way between values. None for a constant column.

    >>> equal_width_cuts([0.0, 1.0, np.nan, 4.0], 4)
    (1.0, 2.0, 3.0)
    """
    values = _counted_values(x, None)
    if len(values) == 0:
        return ()
    low, high = values.min(), values.max()
    inner = np.linspace(low / 4, high / 4, bins + 1)[1:-1] * 4  # of quarters: max − min may be too large for a float
    return _floats(inner[(inner >= low) & (inner < high)])


def quantile_cuts(x: ArrayLike, bins: int, weight: ArrayLike | None = None) -> tuple[float, ...]:
    """For each k = 1…bins−1 the cut whose share of weight below is nearest to k/bins (of two as near, the upper); equal
    values are never parted, so that there may be fewer.

    >>> quantile_cuts([1, 2, 3, 4, 5, 6], 3), quantile_cuts([0, 0, 0, 0, 0, 7], 3)
    ((2.5, 4.5), (3.5,))
    """
    mass = np.ones(np.shape(x)) if weight is None else np.asarray(weight, dtype=float)
    values, back = np.unique(_counted_values(x, mass), return_inverse=True)
    if len(values) < 2:
        return ()
    below = np.cumsum(np.bincount(back, mass[_counts(x, mass)]))
    wanted = below[-1] * np.arange(1, bins)  # compared as bins·below against k·total: exact where weights are whole
    below = below[:-1] * bins
    upper = np.searchsorted(below, wanted).clip(max=len(below) - 1)
    lower = (upper - 1).clip(min=0)
    nearest = np.unique(np.where(below[upper] - wanted <= wanted - below[lower], upper, lower))
    return _floats(_middles(values[nearest], values[nearest + 1]))


def accepted_cuts(trace: tuple[Split, ...]) -> tuple[float, ...]:
    """The cuts of a trace that were made, in order.

    >>> accepted_cuts(mdlp_trace([1, 2, 3, 4], [0, 0, 1, 1], 2))
    (2.5,)
    """
    return tuple(sorted(split.cut for split in trace if split.accepted))


def mdlp_trace(x: ArrayLike, codes: ArrayLike, n_classes: int, weight: ArrayLike | None = None) -> tuple[Split, ...]:
    """Every interval that was looked at, the whole column first, then lower before upper; empty where one class or one
    value is all there is.

    The cut of most gain, Ent(S) − Σᵢ |Sᵢ|/N Ent(Sᵢ), is made, and both sides are looked at in turn, where
    gain > [log₂(N−1) + Δ]/N, Δ = log₂(3ᵏ − 2) − [k Ent(S) − k₁ Ent(S₁) − k₂ Ent(S₂)], k counting the classes present
    (Fayyad & Irani, IJCAI 1993). N is the total weight; log₂(N−1) counts as 0 where N < 2.

    >>> [split] = mdlp_trace([1, 2, 3, 4], [0, 1, 0, 1], 2)
    >>> split.cut, round(split.gain, 4), round(split.threshold, 4), split.accepted
    (1.5, 0.3113, 1.0572, False)
    """
    blocks = _blocks(x, codes, n_classes, weight)
    splits: list[Split] = []
    waiting = [(0, blocks.tally.shape[1])]
    while waiting:
        tick()
        first, end = waiting.pop()
        if end - first < 2:
            continue
        cut_block, gain, threshold, n = _best(blocks.tally[:, first:end])
        accepted = gain > threshold and gain > TIE
        splits.append(Split(float(blocks.cuts[first + cut_block]), gain, threshold, n, accepted))
        if accepted:
            waiting += [(first + cut_block + 1, end), (first, first + cut_block + 1)]
    return tuple(splits)


def interval_names(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """What the intervals are called, lowest first, in no language; the cuts with six significant digits, or as many as
    tell them apart.

    >>> interval_names((2.45, 4.75))
    ('≤ 2.45', '2.45 – 4.75', '> 4.75')
    >>> interval_names((0.1 + 0.2, 1234567.0)), interval_names(())
    (('≤ 0.3', '0.3 – 1234567', '> 1234567'), ('−∞ – ∞',))
    """
    if not cuts:
        return ("−∞ – ∞",)
    enough = next((d for d in range(DIGITS, 17) if len({_written(c, d) for c in cuts}) == len(cuts)), 17)
    written = [_written(c, enough) for c in cuts]
    inner = (f"{low} – {high}" for low, high in pairwise(written))
    return (f"≤ {written[0]}", *inner, f"> {written[-1]}")


# plumbing -----------------------------------------------------------------------------------------------------------


class _Blocks(NamedTuple):
    """Runs of values between boundary points: `tally` (K, B) their weight by class, `cuts` (B−1,) between them."""

    tally: Array
    cuts: Array


def _blocks(x: ArrayLike, codes: ArrayLike, n_classes: int, weight: ArrayLike | None) -> _Blocks:
    """The best cut is a boundary point: it never parts two neighbouring values that hold one and the same class alone
    (Fayyad & Irani, theorem 1). So such neighbours are one block."""
    used = _counts(x, weight)
    x = np.asarray(x, dtype=float)[used]
    order = np.argsort(x, kind="stable")
    x, codes = x[order], np.asarray(codes, dtype=np.intp)[used][order]
    if weight is not None:
        weight = np.asarray(weight, dtype=float)[used][order]
    starts = np.flatnonzero(np.concatenate([[len(x) > 0], x[1:] > x[:-1]]))  # of the distinct values
    if len(starts) < 2:
        return _Blocks(np.zeros((n_classes, 0)), np.zeros(0))
    least, most = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    boundary = np.flatnonzero(np.minimum(least[1:], least[:-1]) < np.maximum(most[1:], most[:-1]))
    block = np.zeros(len(x), dtype=np.intp)
    block[starts[boundary + 1]] = 1
    size = len(boundary) + 1
    tally = np.bincount(codes * size + np.cumsum(block), weight, minlength=n_classes * size)
    values = x[starts]
    return _Blocks(tally.reshape(n_classes, size).astype(float), _middles(values[boundary], values[boundary + 1]))


def _best(tally: Array) -> tuple[int, float, float, float]:
    """Of the blocks (K, B) of one interval: the block after which to cut, the gain, its threshold, and N."""
    total = tally.sum(axis=1)
    tally, total = tally[total > 0], total[total > 0]
    n = float(total.sum())
    left = np.cumsum(tally[:, :-1], axis=1)
    gains = (_bits(total) - _bits(left) - _bits(np.maximum(total[:, None] - left, 0.0))) / n
    cut_block = int((gains >= gains.max() - TIE).argmax())
    code_length = math.log2(3 ** len(total) - 2) - len(total) * float(_bits(total)) / n
    for side in (
        tally[:, : cut_block + 1].sum(axis=1),
        tally[:, cut_block + 1 :].sum(axis=1),
    ):  # anew: a difference is never quite 0
        code_length += int(np.count_nonzero(side)) * float(_bits(side) / side.sum())
    return cut_block, max(float(gains[cut_block]), 0.0), (math.log2(max(n - 1.0, 1.0)) + code_length) / n, n


def _bits(tally: Array) -> Array:
    """N·Ent = N log₂ N − Σ_c n_c log₂ n_c along the first axis."""
    total: Array = tally.sum(axis=0)
    return np.asarray(_x_log_x(total) - _x_log_x(tally).sum(axis=0))


def _x_log_x(x: Array) -> Array:
    return np.asarray(x * np.log2(np.maximum(x, np.finfo(float).tiny)))


def _middles(low: Array, high: Array) -> Array:
    """(low + high)/2, at least `low` and below `high` also where rounding or overflow would have it otherwise."""
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where((low <= middle) & (middle < high), middle, low)


def _counts(x: ArrayLike, weight: ArrayLike | None) -> NDArray[np.bool_]:
    """(n,) the rows that say something: a finite value, a weight above 0."""
    finite: NDArray[np.bool_] = np.isfinite(np.asarray(x, dtype=float))
    return finite if weight is None else finite & np.greater(weight, 0)


def _counted_values(x: ArrayLike, weight: ArrayLike | None) -> Array:
    return np.asarray(x, dtype=float)[_counts(x, weight)]


def _floats(cuts: NDArray[Any]) -> tuple[float, ...]:
    return tuple((np.unique(cuts) + 0.0).tolist())  # + 0.0: no −0


def _written(cut: float, digits: int) -> str:
    place = math.floor(math.log10(abs(cut))) if cut else 0
    if -5 <= place < 12:
        text = f"{abs(cut):.{max(digits - 1 - place, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{abs(cut):.{digits}g}"
    return f"−{text}" if cut < 0 else text
