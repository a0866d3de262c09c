"""The weight of every value of a numeric column, by class: what kernels and Poisson rates are estimated from.

It is as large as the column has distinct values, unlike moments; in return every sum over it is exact, + and − take
rows in and out, and a bandwidth follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset, SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.counts import ByName, less, widen
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import SMALLEST, ColumnMoments
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import traits


class LeftOutValues(NamedTuple):
    """Rows of a column that are left out one by one: the class (n,), value (n,) and weight (n,) of each; its `place`
    (n,) among the points, whether it is the `last` (n,) there of any class, and whether the rest is `constant` (n,)."""

    cls: NDArray[np.intp]
    value: Array
    weight: Array
    place: NDArray[np.intp]
    last: NDArray[np.bool_]
    constant: NDArray[np.bool_]

    def take(self, rows: NDArray[Any]) -> LeftOutValues:
        """Of these rows."""
        return LeftOutValues(*(a[rows] for a in self))

    def rest(self, column: ColumnValues, i: int) -> ColumnValues:
        """The column without the i-th of these."""
        return column.without(int(self.cls[i]), float(self.value[i]), float(self.weight[i]))


@dataclass(frozen=True)
class ColumnValues:
    """`points` (m,) the distinct known values, ascending, and `weight` (C, m) of each in each class, none 0 in all.

    With a `bound` above 0 there are never more points than that: of every value so many of its last binary digits are
    `dropped` as that takes. A point then stands for the values from itself up to the next on that grid, in the order of
    numbers; and since a finer grid's cells lie whole in a coarser one's, it does not matter in which order statistics
    are added: the grid of the sum is that of all its rows."""

    points: Array
    weight: Array
    dropped: int = 0
    bound: int = 0

    def __add__(self, other: ColumnValues) -> ColumnValues:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: ColumnValues) -> ColumnValues:
        return self._with(other, less)

    def scaled(self, weight: float) -> ColumnValues:
        return replace(self, weight=self.weight * weight)

    def _with(self, other: ColumnValues, operation: Callable[[Array, Array], Array]) -> ColumnValues:
        if self.dropped != other.dropped or self.bound != other.bound:
            dropped, bound = max(self.dropped, other.dropped), min(self.bound, other.bound) or self.bound or other.bound
            return self._on_grid(dropped, bound)._with(other._on_grid(dropped, bound), operation)
        points = np.union1d(self.points, other.points)
        there = _present(points, operation(self._over(points), other._over(points)))
        return replace(there, dropped=self.dropped, bound=self.bound)._within_bound()

    def _on_grid(self, dropped: int, bound: int) -> ColumnValues:
        """The same with so many of the last binary digits of each value dropped."""
        if not dropped or not len(self.points):
            return replace(self, dropped=dropped, bound=bound)
        keys = _keys(self.points) >> dropped
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] > keys[:-1]]))
        weight = np.add.reduceat(self.weight, starts, axis=1)
        return ColumnValues(_numbers(keys[starts] << dropped), weight, dropped, bound)

    def _within_bound(self) -> ColumnValues:
        """On the finest grid that has no more points than `bound`."""
        if not self.bound or len(self.points) <= self.bound:
            return self
        keys, dropped = _keys(self.points), self.dropped
        while 1 + np.count_nonzero(np.diff(keys >> dropped)) > self.bound:
            dropped += 1
        return self._on_grid(dropped, self.bound)

    def _over(self, points: Array) -> Array:
        wide = np.zeros((len(self.weight), len(points)))
        wide[:, np.searchsorted(points, self.points)] = self.weight
        return wide

    def without(self, cls: int, value: float, weight: float) -> ColumnValues:
        """The same without one row, whose value may be missing. Raises NotASubset where it was never counted."""
        if np.isnan(value) or not weight:
            return self
        position = int(np.searchsorted(self.points, value))
        if position == len(self.points) or self.points[position] != value:
            raise NotASubset("a value to leave out was never counted")
        left = self.weight.copy()
        left[cls, position] = less(left[cls, position : position + 1], np.array([weight]))[0]
        return _present(self.points, left)

    def left_out(self, cls: NDArray[np.intp], value: Array, weight: Array) -> LeftOutValues:
        """Rows with known values, of a column that is not constant. Raises NotASubset where one was never counted."""
        points = self.points
        place = np.minimum(np.searchsorted(points, value), len(points) - 1)
        if ((points[place] != value) & (weight > 0)).any():
            raise NotASubset("a value to leave out was never counted")
        held = self.weight[cls, place]
        last = (less(held, weight) == 0) & (held > 0) & ((self.weight > 0).sum(axis=0)[place] == 1)
        low = points[(last & (place == 0)).astype(np.intp)]
        high = points[len(points) - 1 - (last & (place == len(points) - 1))]
        constant = (len(points) - last < 2) | (high - low < SMALLEST)
        return LeftOutValues(cls, value, weight, place, last, constant)

    @property
    def total(self) -> Array:
        """(C,) the weight of the known cells."""
        return np.asarray(self.weight.sum(axis=1))

    @property
    def sum(self) -> Array:
        """(C,) Σ of the values."""
        return np.asarray(self.weight @ self.points)

    @property
    def constant(self) -> bool:
        """Whether all values are one value, as far as their squares can tell, or there is none."""
        return len(self.points) < 2 or bool(self.points[-1] - self.points[0] < SMALLEST)

    def moments(self, pivot: float) -> ColumnMoments:
        """Weight, mean and squared deviations by class, in two passes."""
        offset = self.points - pivot
        total = self.total
        mean = self.weight @ offset / np.where(total > 0, total, 1.0)
        return ColumnMoments(total, mean, (self.weight * (offset - mean[:, None]) ** 2).sum(axis=1), pivot)


@dataclass(frozen=True)
class Values(ByName):
    """`columns[name]`: the values of each column that is kept so."""

    columns: dict[str, ColumnValues] = field(default_factory=dict)

    def _matching(self, other: Values) -> None:
        if self.columns.keys() != other.columns.keys():
            raise SchemaMismatch("statistics counted for other likelihoods do not merge; fit both with the same ones")

    def among(self, classes: NDArray[np.intp], n_classes: int) -> Values:
        """The same among more classes, the old ones standing at the places `classes`."""
        to = (classes, n_classes)
        return Values({n: replace(column, weight=widen(column.weight, to)) for n, column in self.columns.items()})


def values(table: Table, labels: Labels) -> Values:
    """The values of the columns whose likelihood needs them; an infinite one is refused where moments are counted."""
    columns = {}
    for variable in steps(table.schema):
        if traits(variable).by_value:
            x = table[variable.name]
            known = ~np.isnan(x)
            points, place = np.unique(x[known], return_inverse=True)
            weight = labels.take(known).tally(place, len(points)) if len(points) else np.zeros((labels.n_classes, 0))
            columns[variable.name] = _present(points + 0.0, weight)  # −0 is 0
    return Values(columns)


def bounded_values(table: Table, labels: Labels, bound: int) -> Values:
    """The values of all columns of numbers, each on at most so many points.

    >>> column = ColumnValues(np.array([1.0, 1.5, 1.75, 2.0]), np.ones((1, 4)), bound=3)
    >>> half = column._within_bound()  # of 1, 1.1₂, 1.11₂ and 10₂ the last digit that parts them is dropped
    >>> half.points.tolist(), half.weight.tolist()
    ([1.0, 1.5, 2.0], [[1.0, 2.0, 1.0]])
    """
    columns = {}
    for variable in steps([v for v in table.schema if v.numeric]):
        x = table[variable.name]
        known = ~np.isnan(x)
        points, place = np.unique(x[known] + 0.0, return_inverse=True)
        weight = labels.take(known).tally(place, len(points)) if len(points) else np.zeros((labels.n_classes, 0))
        columns[variable.name] = replace(_present(points, weight), bound=bound)._within_bound()
    return Values(columns)


def _keys(points: Array) -> NDArray[np.int64]:
    """Whole numbers in the order of these floats, by their binary digits: of a number below 0 those are turned over."""
    bits = np.ascontiguousarray(points).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _numbers(keys: NDArray[np.int64]) -> Array:
    """The floats of such keys."""
    return np.where(keys < 0, keys ^ np.int64(2**63 - 1), keys).view(np.float64)


def _present(points: Array, weight: Array) -> ColumnValues:
    there = (weight > 0).any(axis=0)
    return ColumnValues(points, weight) if there.all() else ColumnValues(points[there], weight[:, there])
