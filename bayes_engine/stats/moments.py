"""Weight, mean and sum of squared deviations per class and numeric column, under + and −. scikit-learn's StandardScaler
merges batches, but takes no row away again.

The mean is kept as an offset from the column's pivot and the squares around the mean, so that N(1e9, 1) keeps its
digits. Merging is Chan, Golub & LeVeque 1979: M2 = M2a + M2b + δ² wa wb / (wa + wb).

A difference has as few digits as what cancels in it is larger than what is left: without one value of 1e8 among
N(0, 1) no digit is. `checked_squares` bounds that: what is left agrees with a new count to nine digits, or
`PrecisionLost` is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset, PrecisionLost, TableError
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.counts import Axis, less, widen
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import number_blocks, offset_blocks

LARGEST = 1e145
"""A value farther than this from its pivot is refused: the squares of up to 2^53 of them must have a finite sum."""

SMALLEST = 1e-145
"""A spread below this vanishes when it is squared, or when a floor takes its share of the square: it counts as none."""

ROUNDING = 1e-13
"""What a subtraction leaves of a sum of squares below this share of it is rounding, and counts as nothing."""

CONDITION = 1e6
"""Terms that cancel in a sum of squares may be this many times what is left of it: nine of sixteen digits remain."""

NEGLIGIBLE = 1e-10
"""The share of a column's sum of squares below which a class's own is nothing: a tenth of the floor of variances."""

FAR = 100.0
"""Squares around zero above this many times those around the mean cost more than two of sixteen digits."""


def checked_squares(names: Sequence[str], squares: Array, cancelled: Array, column: Array) -> Array:
    """Sums of squares (..., d) as a subtraction left them, `cancelled` (..., d) being the size of the terms in it, and
    0 where they are nothing beside those of the whole `column` (d,) that is left.

    Raises PrecisionLost, naming the columns, where neither digits nor nothing is left.
    """
    rounding = ROUNDING * cancelled
    nothing = (squares <= rounding) & (rounding <= NEGLIGIBLE * column)
    lost = np.asarray((cancelled > CONDITION * squares) & ~nothing & (cancelled > 0))
    if lost.any():
        raise PrecisionLost(
            "cannot take these rows away: of the squares of column(s) {names} what is left is less than 1/{bound:.0f} "
            "of what is subtracted, and its digits would be lost. Fit anew from the rows that stay",
            names=Listing([names[int(j)] for j in np.flatnonzero(lost.reshape(-1, len(names)).any(axis=0))]),
            bound=CONDITION,
        )
    return np.where(nothing, 0.0, squares)


@dataclass(frozen=True)
class Deviations:
    """Weight, mean (as offset from `pivot` (d,)) and sum of squared deviations by class, of the d columns `names`."""

    names: tuple[str, ...]
    pivot: Array
    weight: Array
    mean: Array
    m2: Array

    def scaled(self, weight: float) -> Self:
        return replace(self, weight=self.weight * weight, m2=self.m2 * weight)

    def rebased(self, pivot: Array) -> Self:
        """The same with offsets from another pivot; a class without rows keeps its mean of 0."""
        if np.array_equal(pivot, self.pivot):
            return self
        seen = np.reshape(self.weight > 0, (len(self.weight), -1))
        return replace(self, pivot=pivot, mean=np.where(seen, self.mean + (self.pivot - pivot), 0.0))

    def among(self, *axes: Axis) -> Self:
        """The same among more classes, or more cells, these being the products of the axes in C order."""
        shape, cells = [len(where) for where, _ in axes], math.prod(size for _, size in axes)
        arrays = (self.weight, self.mean, self.m2)
        weight, mean, m2 = (widen(a.reshape(*shape, *a.shape[1:]), *axes).reshape(cells, *a.shape[1:]) for a in arrays)
        return replace(self, weight=weight, mean=mean, m2=m2)


class Moments(Deviations):
    """`weight`, `mean` and `m2`, each (C, d)."""

    def __add__(self, other: Moments) -> Moments:
        other = other.rebased(self.pivot)
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        m2 = self.m2 + other.m2 + delta**2 * self.weight * share
        return replace(self, weight=weight, mean=self.mean + delta * share, m2=m2)

    def __sub__(self, other: Moments) -> Moments:
        other = other.rebased(self.pivot)
        weight = less(self.weight, other.weight)
        empty = weight == 0
        kept = np.where(empty, 1.0, weight)
        delta = other.mean - self.mean
        mean = self.mean - delta * other.weight / kept
        between = (other.mean - mean) ** 2 * kept * other.weight / (kept + other.weight)
        m2 = self.m2 - other.m2 - between
        dust = 1e-28 * self.weight * np.maximum(self.mean**2, other.mean**2)  # equal values whose means were rounded
        cancelled = np.where(empty, 0.0, np.maximum(self.m2, other.m2 + between))
        if (~empty & (m2 < -1e-9 * cancelled - dust)).any():
            raise NotASubset("cannot forget rows that were never counted: a variance would fall below zero")
        m2 = np.where(empty | (m2 <= dust), 0.0, m2)
        rest = replace(self, weight=weight, mean=np.where(empty, 0.0, mean), m2=m2)
        return replace(
            rest, m2=checked_squares(self.names, m2, np.where(cancelled <= dust, 0.0, cancelled), rest.total)
        )

    @property
    def total(self) -> Array:
        """(d,) the squares of each column around its mean over all classes."""
        weight = self.weight.sum(axis=0)
        mean = (self.weight * self.mean).sum(axis=0) / np.where(weight > 0, weight, 1.0)
        return np.asarray(self.m2.sum(axis=0) + (self.weight * (self.mean - mean) ** 2).sum(axis=0))

    @cached_property
    def constant(self) -> frozenset[str]:
        """The columns whose values are one value each."""
        same = ColumnMoments(self.weight.T, self.mean.T, self.m2.T, 0.0).constant  # their pivots change nothing
        return frozenset(np.array(self.names, dtype=object)[same].tolist())

    def column(self, name: str) -> ColumnMoments:
        """One column's share, in its own units."""
        j = self.names.index(name)
        return ColumnMoments(self.weight[:, j], self.mean[:, j], self.m2[:, j], float(self.pivot[j]))


class Members(NamedTuple):
    """The cells of one column: the class (or the cell of class and parents) (n,), value (n,) and weight (n,) of each
    row."""

    codes: NDArray[np.intp]
    values: Array
    weight: Array


@dataclass(frozen=True)
class ColumnMoments:
    """One numeric column: `weight`, `offset` (mean minus pivot) and `m2`, each (..., C); leading axes are variants of
    the statistics (leave-one-out has one for each row left out)."""

    weight: Array
    offset: Array
    m2: Array
    pivot: float

    @property
    def mean(self) -> Array:
        return self.offset + self.pivot

    def reordered(self, order: Callable[[Array], Array]) -> ColumnMoments:
        """The same with its classes or cells in another order or shape, or some of them."""
        return replace(self, weight=order(self.weight), offset=order(self.offset), m2=order(self.m2))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """(...) whether all values are one value: no spread, or none beyond the rounding of the offsets."""
        whole = self.pooled()
        return np.asarray(whole.m2 <= whole.weight * np.maximum(1e-20 * whole.offset**2, SMALLEST**2))[..., 0]

    def pooled(self) -> ColumnMoments:
        """All classes as one, (..., 1): total weight, overall mean, total sum of squares (within + between)."""
        weight = self.weight.sum(axis=-1, keepdims=True)
        safe = np.where(weight > 0, weight, 1.0)
        offset = (self.weight * self.offset).sum(axis=-1, keepdims=True) / safe
        between = (self.weight * (self.offset - offset) ** 2).sum(axis=-1, keepdims=True)
        return ColumnMoments(weight, offset, self.m2.sum(axis=-1, keepdims=True) + between, self.pivot)

    def without(self, gone: Members, name: str, rest: Callable[[int], Members]) -> ColumnMoments:
        """(n, C): the moments of column `name` n times over, the i-th without its own row (a missing value takes
        nothing away). Exact to rounding: where a row carries most of its class's M2, what is left is summed anew from
        the rows `rest(i)`, if they are all that there are. Raises PrecisionLost where they are not, and a difference
        has too few digits.
        """
        codes, values, weight = gone
        n, rows = len(values), np.arange(len(values))
        w, offset, m2 = (np.repeat(a[None, :], n, axis=0) for a in (self.weight, self.offset, self.m2))
        known = ~np.isnan(values)
        x = np.where(known, values - self.pivot, 0.0)
        own = np.where(known, weight, 0.0)
        left = w[rows, codes] - own
        left = np.where(left <= 1e-9 * w[rows, codes], 0.0, left)
        safe = np.where(left > 0, left, 1.0)
        delta = x - offset[rows, codes]
        part = own * delta**2 * (w[rows, codes] / safe)
        before = m2[rows, codes]
        w[rows, codes] = left
        m2_left = np.where(left > 0, before - part, 0.0)
        offset[rows, codes] = np.where(left > 0, offset[rows, codes] - own * delta / safe, 0.0)
        cancelled = np.where((own > 0) & (left > 0) & (part > 0.5 * before), before, 0.0)
        for i in np.flatnonzero(cancelled):
            mates = rest(int(i))
            there = (mates.codes == codes[i]) & ~np.isnan(mates.values)
            if np.isclose(mates.weight[there].sum(), left[i], rtol=1e-9, atol=0.0):
                z = mates.values[there] - self.pivot
                m2_left[i] = (mates.weight[there] * (z - offset[i, codes[i]]) ** 2).sum()
                cancelled[i] = 0.0
        m2[rows, codes] = m2_left
        total = ColumnMoments(w, offset, m2, self.pivot).pooled().m2
        m2[rows, codes] = checked_squares([name], m2_left[:, None], cancelled[:, None], total)[:, 0]
        return ColumnMoments(w, offset, m2, self.pivot)


MATRIX_CLASSES = 16
"""With more classes a product with one-hot labels takes longer than adding up row by row."""

BLOCK = 2**16
"""Numbers in a block of rows: half a megabyte, which stays in the cache between the passes over it."""

WIDE = 10
"""Rows of so many numbers and more, each row in one piece, are multiplied faster with labels that lie so too."""

FEW = 256
"""Rows that tell whether numbers are squared as they lie."""


def moments(table: Table, labels: Labels) -> Moments:
    """The moments of every numeric column, block by block; NaN cells do not count.

    The sums of a block's classes are products with the one-hot labels: M2 = Σ z² − (Σ z)²/w. The numbers of a block
    are squared as they lie, where that costs no digit that counts, or else as offsets from the pivot; where that costs
    too many, all are summed again as offsets from the means of their classes. Raises TableError on an infinite cell.
    """
    numeric = [v for v in table.schema if v.numeric]
    names, pivot = tuple(v.name for v in numeric), np.array([v.pivot for v in numeric], dtype=float)
    if labels.codes is None or labels.n_classes > MATRIX_CLASSES or not table.n or not numeric:
        return _by_column(table, labels, names, pivot)
    with np.errstate(over="ignore", invalid="ignore"):
        near = _near_zero(table, names)
        blocks = offset_blocks(table, names, None if near else pivot, BLOCK)
        weight, mean, square = _about_origin(blocks, labels, len(names))
        m2 = square - weight * mean**2
        mean -= pivot if near else 0.0
        if (~(square <= FAR * m2) & (weight > 0)).any():
            offsets = offset_blocks(table, names, pivot, BLOCK)
            around = ((rows, np.subtract(z, labels.take(rows).spread(mean), out=z)) for rows, z in offsets)
            weight, rest, square = _about_origin(around, labels, len(names))
            mean, m2 = mean + rest, square - weight * rest**2
        within = (m2 + weight * mean**2 < LARGEST**2).all()
    mean[weight == 0] = 0.0
    return Moments(names, pivot, weight, mean, m2) if within else _by_column(table, labels, names, pivot)


def _near_zero(table: Table, names: Sequence[str]) -> bool:
    """Whether the first rows of a large table have means within ten standard deviations of 0, and all cells."""
    if table.n <= FEW:
        return False
    _rows, few = next(number_blocks(table.take(slice(0, FEW)), names))
    return bool(((few**2).mean(axis=0) <= FAR * few.var(axis=0)).all())


def _about_origin(blocks: Iterable[tuple[slice, Array]], labels: Labels, d: int) -> tuple[Array, Array, Array]:
    """Weight, mean and Σz² of each class, (C, d) each, of the cells of z (m, d) that are known; z is written into."""
    assert labels.codes is not None
    weight, total, square = np.zeros((3, labels.n_classes, d))
    complete = np.ones(len(labels.codes), dtype=bool)  # the rows of blocks without a missing cell
    for rows, z in blocks:
        member = labels.matrix(rows, by_row=d >= WIDE and z.flags.c_contiguous)
        sums = member @ z
        if math.isnan(np.vdot(sums, sums)):  # where any cell is missing every class has NaN
            known = ~np.isnan(z)
            complete[rows] = False
            z[~known] = 0.0
            weight += member @ known.astype(float)
            sums = member @ z
        total += sums
        square += member @ np.multiply(z, z, out=z)
    weight += (labels if complete.all() else labels.take(complete)).by_class[:, None]
    return weight, total / np.where(weight > 0, weight, 1.0), square


def _by_column(table: Table, labels: Labels, names: tuple[str, ...], pivot: Array) -> Moments:
    """The moments column by column in two passes: mean, then squares around it."""
    weight, mean, m2 = (np.zeros((labels.n_classes, len(names))) for _ in range(3))
    for j, name in enumerate(steps(names)):
        column = table[name]
        known = ~np.isnan(column)
        there, of = (column, labels) if known.all() else (column[known], labels.take(known))
        with np.errstate(over="ignore"):
            z = there - pivot[j]
        if not (np.abs(z) < LARGEST).all():
            raise TableError(
                "column '{column}' holds infinity or a value too large to be squared in row {row}: Input X contains "
                "infinity; mend the cell, make it missing, or take a larger unit",
                column=name,
                row=int(np.flatnonzero(known)[np.abs(there).argmax()]) + 1,
            )
        weight[:, j], mean[:, j], m2[:, j] = _two_pass(z, of)
    return Moments(names, pivot, weight, mean, m2)


def _two_pass(z: Array, labels: Labels) -> Sequence[Array]:
    weight = labels.by_class
    safe = np.where(weight > 0, weight, 1.0)
    mean = labels.total(z) / safe
    if labels.soft is None:
        return weight, mean, labels.total((z - labels.spread(mean)) ** 2)
    return weight, mean, np.array([r @ (z - m) ** 2 for r, m in zip(labels.soft.T, mean, strict=True)])
