"""Which class is the largest, for rows of counts or of look-ups, and the posterior of counts: sums in fixed point.

SciPy's product of a CSR matrix of whole numbers with one vector of them takes a quarter of the time of its product with
several of floats. So each class's log terms, less those of the first class, are rounded to multiples of 2⁻ᑫ. For the
largest class two share a word w = high·2³² + low: Σ_v x_v w_v holds both sums, exactly. Whether rounding can have
changed the winner is known for each row; where it can, the row is left to the exact sum. For the posterior each class
has a word to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.logspace import Array, normalize, normalize_odds
from bayes_engine.table.matrix import Matrix

MOST_CLASSES = 5
"""Beyond four differences the single products take as long as one with all classes."""

Words = Sequence[NDArray[np.int64]] | NDArray[np.int64]
"""Weights (V,) in fixed point: of two classes each, or of one."""


class Rounding(NamedTuple):
    """How weights (k, V) become words: by which `function`, `below` what a sum is to stay, how many bits may stand
    behind the point, at `most` and at `least`, and what `error` of a sum is too large."""

    function: Callable[[Array, int], Words]
    below: int
    most: int
    least: int
    error: float


def _rounded(over: Array, bits: int) -> NDArray[np.int64]:
    return np.rint(over * 2.0**bits).astype(np.int64)


def _packed(over: Array, bits: int) -> Words:
    """Rows (k, V) two by two in one word; an odd last one alone, as the high half."""
    fixed = _rounded(over, bits)
    words = list(fixed[::2] << 32)
    for word, low in zip(words, fixed[1::2], strict=False):
        word += low
    return words


HALVES = Rounding(_packed, 2**30, 24, 8, np.inf)
"""Two sums a word, with a bit to spare; with fewer than 8 bits too many rows are close. Their error is looked at row
by row."""
WHOLE = Rounding(_rounded, 2**62, 52, 0, 1e-10)
"""One sum a word; where it may be farther off, as where counts are very large, a sum of floats is closer."""


class RoundedWeights(NamedTuple):
    """Weights, less those of the first class, as words with so many `bits` behind the point."""

    bits: int
    words: Words


class FixedPointTables(NamedTuple):
    """Tables of log terms, less those of the first class, in fixed point: of each table the words of two classes each,
    and how many bits are behind the point."""

    words: list[Words]
    bits: int
    classes: int

    def sums(self, total: NDArray[np.int64]) -> Array:
        """(n, C) the sums in words (k, n), of one entry a table; the first class has 0."""
        sums = np.zeros((self.classes, total.shape[1]))
        for k, word in enumerate(total):
            _unpack(word, sums[2 * k + 1 : 2 * k + 3])
        sums *= 2.0**-self.bits
        return sums.T

    @property
    def error(self) -> float:
        """By how much rounding can change the difference of two classes."""
        return len(self.words) * 2.0**-self.bits + 1e-9


def tables_in_fixed_point(tables: Sequence[Array]) -> FixedPointTables | None:
    """Of tables (C, entries) of which one entry each is added up; None for many classes, or infinite terms."""
    if not 2 <= len(tables[0]) <= MOST_CLASSES:
        return None
    with np.errstate(invalid="ignore"):
        over = [table[1:] - table[:1] for table in tables]
    reach = sum(float(np.abs(o).max()) for o in over)
    if not reach < HALVES.below * 2.0**-HALVES.least:
        return None
    bits = min(HALVES.most, int(np.log2(HALVES.below / max(reach, 1.0))))
    return FixedPointTables([_packed(o, bits) for o in over], bits, len(tables[0]))


class FixedPointArgmax(NamedTuple):
    """For n rows: the position of the largest class, and whether the second is so near that rounding may decide."""

    largest: NDArray[np.intp]
    close: NDArray[np.bool_]


class LinearInFixedPoint:
    """W x + b for rows x of whole numbers, `weight` (C, V) and `bias` (C,). The rounded weights are kept for the bits
    last asked for.

    Label and posterior are None where this way is none: for dense rows, fewer cells than weights, fractions, infinite
    weights, many classes, counts too large for a word.
    """

    def __init__(self, weight: Array, bias: Array) -> None:
        self._weight, self._bias = weight, bias
        self._kept: dict[Rounding, RoundedWeights] = {}

    def argmax(self, X: Matrix) -> FixedPointArgmax | None:
        """The largest class of each row."""
        if not self._can_be_summed(X):
            return None
        largest, close = np.empty(X.n, dtype=np.intp), np.empty(X.n, dtype=bool)
        for rows, block, total, rounded in self._blocks(X, HALVES):
            if rounded is None:
                return None
            bits, words = rounded
            scale = 2.0**bits
            sums = np.empty((len(self._bias), block.shape[0]))  # in units of the last bit
            sums[0] = 0.0
            for k, word in enumerate(words):
                _unpack(block @ word, sums[2 * k + 1 : 2 * k + 3])
            sums += self._bias[:, None] * scale
            largest[rows], gap = _first_two(sums)
            close[rows] = gap <= total + 1e-9 * scale
        return FixedPointArgmax(largest, close)

    def posterior(self, X: Matrix) -> Array | None:
        """(n, C) exp(W x + b), normalized; None also where the first class is impossible."""
        if not self._can_be_summed(X) or not np.isfinite(self._bias[0]):
            return None
        posterior = np.empty((len(self._bias), X.n))
        for rows, block, _total, rounded in self._blocks(X, WHOLE):
            if rounded is None:
                return None
            bits, words = rounded
            of_block = posterior[:, rows]
            for odds, word, prior in zip(of_block[1:], words, self._bias[1:] - self._bias[0], strict=True):
                np.multiply(block @ word, 2.0**-bits, out=odds)
                odds += prior
            if not normalize_odds(of_block.T):
                of_block[0] = 0.0
                normalize(of_block.T, out=of_block.T)
        return posterior.T

    def _can_be_summed(self, X: Matrix) -> bool:
        classes = len(self._weight)
        if not sparse.issparse(X.values) or not 2 <= classes <= MOST_CLASSES or X.values.nnz < self._weight.size:
            return False
        if X.above is None and np.result_type(X.values.data, np.int64) != np.int64:
            return False
        return self._reach < np.inf

    @cached_property
    def _reach(self) -> float:
        """The largest difference from the first class; infinite where one is undefined."""
        with np.errstate(invalid="ignore"):
            reach = float(np.abs(self._weight[1:] - self._weight[0]).max())
        return reach if np.isfinite(reach) else np.inf

    def _blocks(self, X: Matrix, rounding: Rounding) -> Iterator[tuple[slice, Any, Array, RoundedWeights | None]]:
        """Blocks of rows of whole numbers: which they are, (m, V) their values, (m,) no less than the sum of each, and
        the weights for such sums."""
        bits = rounding.most
        for rows, block in X.blocks(kind=np.int64):
            total = np.diff(block.indptr) * _no_less(block.data)
            rounded = self._words(rounding, total, bits)
            bits = bits if rounded is None else rounded.bits
            yield rows, block, total, rounded

    def _words(self, rounding: Rounding, total: Array, bits: int) -> RoundedWeights | None:
        """The weights with at most so many bits, with fewer where `total` of a block is large; None where there are too
        few."""
        most = float(total.max())
        bits = min(bits, int(np.log2(rounding.below / max(most * self._reach, 1.0))))
        if bits < rounding.least or most * 2.0 ** -(bits + 1) > rounding.error:
            return None
        kept = self._kept.get(rounding)
        if kept is None or kept.bits != bits:
            kept = self._kept[rounding] = RoundedWeights(
                bits, rounding.function(self._weight[1:] - self._weight[0], bits)
            )
        return kept


def _no_less(whole: NDArray[Any]) -> float:
    """A bound of the absolute values of whole numbers: of counts, in one pass, less than twice the largest."""
    bits = int(np.bitwise_or.reduce(whole)) if whole.dtype.kind in "iu" else -1
    return float(bits) if bits >= 0 else max(float(whole.max(initial=0)), -float(whole.min(initial=0)))


def _first_two(sums: Array) -> tuple[NDArray[np.int8], Array]:
    """(n,) the position of the largest of (C, n), and by how much the next one is smaller."""
    top, second = sums[0].copy(), np.full(sums.shape[1], -np.inf)
    where = np.zeros(sums.shape[1], dtype=np.int8)
    for c, own in enumerate(sums[1:], start=1):
        np.maximum(second, np.minimum(top, own), out=second)
        np.maximum(where, (own > top) * np.int8(c), out=where)  # no branch: which is larger cannot be foreseen
        np.maximum(top, own, out=top)
    return where, top - second


def _unpack(total: NDArray[np.int64], into: Array) -> None:
    """The two sums in a word; of the last word there may be one."""
    low = total.astype(np.int32)  # wraps: the lower half with its sign
    into[0] = (total - low) >> 32
    if len(into) > 1:
        into[1] = low
