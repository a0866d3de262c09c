"""Which class is the largest, for rows of counts or of look-ups, and the posterior of counts: sums in fixed point.

SciPy's product of a CSR matrix of whole numbers with one vector of them takes a quarter of the time of its product with
several of floats. So each class's log terms, less those of the first class, are rounded to multiples of 2⁻ᑫ. For the
largest class two share a word w = high·2³² + low: Σ_v x_v w_v holds both sums, exactly. Whether rounding can have
changed the winner is known for each row; where it can, the row is left to the exact sum. For the posterior each class
has a word to itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.logspace import Array, normalize, normalize_odds
from bayes_engine.table.matrix import Matrix

MOST_CLASSES = 5
"""Beyond four differences the single products take as long as one with all classes."""
HALF = 2**30
"""What a sum may come to in half a word, with a bit to spare."""
BITS, LEAST_BITS = 24, 8
"""Bits behind the point; with fewer than the second number too many rows are close."""
WHOLE = 2**62
"""What a sum may come to in a word."""
WHOLE_BITS, LEAST_WHOLE_BITS = 52, 40
"""Bits behind the point of a whole word; with fewer than the second number a sum of floats may be closer."""


class FixedPointTables(NamedTuple):
    """Tables of log terms, less those of the first class, in fixed point: of each table the words of two classes each,
    and how many bits are behind the point."""

    words: list[list[NDArray[np.int64]]]
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
    if not reach < HALF * 2.0**-LEAST_BITS:
        return None
    bits = min(BITS, int(np.log2(HALF / max(reach, 1.0))))
    return FixedPointTables([_packed(_rounded(o, bits)) for o in over], bits, len(tables[0]))


class FixedPointArgmax(NamedTuple):
    """For n rows: the position of the largest class, and whether the second is so near that rounding may decide."""

    largest: NDArray[np.intp]
    close: NDArray[np.bool_]


def argmax_in_fixed_point(X: Matrix, weight: Array, bias: Array) -> FixedPointArgmax | None:
    """argmax_c of W x + b for rows of whole numbers, `weight` (C, V) and `bias` (C,). None where this way is none: for
    dense rows, fewer cells than weights, fractions, infinite weights, many classes, counts too large for half a word.
    """
    over, reach = _differences(X, weight)
    if over is None:
        return None
    largest, close = np.empty(X.n, dtype=np.intp), np.empty(X.n, dtype=bool)
    bits, words = BITS + 1, []
    for rows, block, total in _counted(X):
        fit = _bits(reach, total, HALF, BITS)
        if fit < LEAST_BITS:
            return None
        if fit < bits:
            bits, words = fit, _packed(_rounded(over, fit))
        scale = 2.0**bits
        sums = np.empty((len(weight), block.shape[0]))  # in units of the last bit
        sums[0] = 0.0
        for k, word in enumerate(words):
            _unpack(block @ word, sums[2 * k + 1 : 2 * k + 3])
        sums += bias[:, None] * scale
        largest[rows], gap = _first_two(sums)
        close[rows] = gap <= total + 1e-9 * scale
    return FixedPointArgmax(largest, close)


def posterior_in_fixed_point(X: Matrix, weight: Array, bias: Array) -> Array | None:
    """(n, C) exp(W x + b), normalized, as `argmax_in_fixed_point` has them; None also where the first class is
    impossible."""
    over, reach = _differences(X, weight)
    if over is None or not np.isfinite(bias[0]):
        return None
    posterior = np.empty((len(weight), X.n))
    bits, words = WHOLE_BITS + 1, np.empty((0, 0), dtype=np.int64)
    for rows, block, total in _counted(X):
        fit = _bits(reach, total, WHOLE, WHOLE_BITS)
        if fit < LEAST_WHOLE_BITS:
            return None
        if fit < bits:
            bits, words = fit, _rounded(over, fit)
        of_block = posterior[:, rows]
        for odds, word, prior in zip(of_block[1:], words, bias[1:] - bias[0], strict=True):
            np.multiply(block @ word, 2.0**-bits, out=odds)
            odds += prior
        if not normalize_odds(of_block.T):
            of_block[0] = 0.0
            normalize(of_block.T, out=of_block.T)
    return posterior.T


def _differences(X: Matrix, weight: Array) -> tuple[Array | None, float]:
    """(C − 1, V) the weights of every other class less those of the first, None where rows are not summed so; and the
    largest of them."""
    nothing = None, np.inf
    if not sparse.issparse(X.values) or not 2 <= len(weight) <= MOST_CLASSES or X.values.nnz < weight.size:
        return nothing
    if X.above is None and np.result_type(X.values.data, np.int64) != np.int64:
        return nothing
    over = weight[1:] - weight[0]
    reach = float(np.abs(over).max())
    return (over, reach) if np.isfinite(reach) else nothing


def _counted(X: Matrix) -> Iterator[tuple[slice, Any, Array]]:
    """Blocks of rows of whole numbers: which they are, (m, V) their values, and (m,) no less than the sum of each."""
    for rows, block in X.blocks(kind=np.int64):
        yield rows, block, np.diff(block.indptr) * _no_less(block.data)


def _bits(reach: float, total: Array, most: int, behind: int) -> int:
    """How many bits may stand behind the point, at most `behind`, where sums of so large `total`, of terms within
    `reach`, are to be below `most`."""
    return min(behind, int(np.log2(most / max(float(total.max()) * reach, 1.0))))


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


def _rounded(over: Array, bits: int) -> NDArray[np.int64]:
    return np.rint(over * 2.0**bits).astype(np.int64)


def _packed(fixed: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows (k, V) two by two in one word; an odd last one alone, as the high half."""
    words = list(fixed[::2] << 32)
    for word, low in zip(words, fixed[1::2], strict=False):
        word += low
    return words


def _unpack(total: NDArray[np.int64], into: Array) -> None:
    """The two sums in a word; of the last word there may be one."""
    low = total.astype(np.int32)  # wraps: the lower half with its sign
    into[0] = (total - low) >> 32
    if len(into) > 1:
        into[1] = low
