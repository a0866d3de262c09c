"""Contingency tables of the class and each discrete column, their sufficient statistics: a commutative monoid under +,
with a partial −."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset, ParameterError
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import MISSING, Table, unseen_code

JOINT_CELLS = 4096
"""Columns are counted together while their joint table has at most this many cells (it must stay in the cache)."""
MOST_CELLS = 50_000_000
"""The largest number of cells that are counted: 400 MB of them."""
Axis = tuple[NDArray[np.intp], int]
"""Where the old entries of an axis stand in the new one, and how long that is."""


@dataclass(frozen=True)
class ByName:
    """Statistics whose every field maps names to parts: part by part a commutative monoid under +, with a partial −."""

    def __add__(self, other: Self) -> Self:
        return self._with(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        return self._with(other, lambda a, b: less(a, b) if isinstance(a, np.ndarray) else a - b)

    def scaled(self, weight: float) -> Self:
        """Every row counted `weight` times."""
        return self._with(self, lambda a, _: a * weight if isinstance(a, np.ndarray) else a.scaled(weight))

    def _matching(self, other: Self) -> None:
        """Raises SchemaMismatch where the other has other names."""

    def _with(self, other: Self, operation: Callable[[Any, Any], Any]) -> Self:
        self._matching(other)
        parts: dict[str, Any] = {}
        for field, own in vars(self).items():
            its = getattr(other, field)
            parts[field] = {name: operation(part, its[name]) for name, part in own.items()}
        return type(self)(**parts)


@dataclass(frozen=True)
class Counts(ByName):
    """`tables[name]` (C, 1 + S): weight of class c with level s of that column; slot 0 counts its missing cells."""

    tables: dict[str, Array]


def less(whole: Array, part: Array) -> Array:
    """`whole - part`, a remainder of rounding size being zero. Raises NotASubset where it is negative beyond that."""
    rest = whole - part
    rounding = 1e-9 * np.maximum(np.abs(whole), np.abs(part))
    if (rest < -rounding).any():
        raise NotASubset("cannot forget rows that were never counted: a count would fall below zero")
    return np.where(np.abs(rest) <= rounding, 0.0, rest)


def count(table: Table, labels: Labels) -> Counts:
    """The tables of every discrete column of `table`.

    Neighbouring columns share one pass: their codes are joined into one, counted once, and each column's table is a
    margin of the joint one (integers, so the margins are exact).

    Raises ParameterError where they would hold more than MOST_CELLS cells.
    """
    levels = sum(1 + len(v.levels) for v in table.schema if v.discrete)
    refuse_tables(labels.n_classes, levels)
    tables: dict[str, Array] = {}
    group: list[str] = []
    cells = 1
    for variable in steps(table.schema):
        if not variable.discrete:
            continue
        size = 1 + len(variable.levels)
        if group and cells * size > JOINT_CELLS:
            tables |= _count_jointly(table, labels, group)
            group, cells = [], 1
        group.append(variable.name)
        cells *= size
    return Counts(tables | (_count_jointly(table, labels, group) if group else {}))


def refuse_tables(n_classes: int, columns: int) -> None:
    """Raises ParameterError where tables with a row for each class and so many columns would hold more than MOST_CELLS
    cells."""
    if n_classes * columns > MOST_CELLS:
        raise ParameterError(
            "the tables of {k} classes and {s} levels or terms would hold {cells:.3g} cells, and the limit is "
            "{most:.3g}; leave out the columns with the most levels, or choose a target with fewer classes",
            k=n_classes,
            s=columns,
            cells=float(n_classes * columns),
            most=float(MOST_CELLS),
        )


def _count_jointly(table: Table, labels: Labels, names: Sequence[str]) -> dict[str, Array]:
    sizes = [1 + len(table.schema[name].levels) for name in names]
    cube = labels.tally(joint_codes(table, names), int(np.prod(sizes))).reshape(labels.n_classes, *sizes)
    axes = range(1, cube.ndim)
    return {name: cube.sum(axis=tuple(a for a in axes if a != j)) for j, name in enumerate(names, start=1)}


def known_codes(table: Table, name: str) -> NDArray[Any]:
    """(n,) codes of a discrete column for counting: a value outside the levels counts as missing."""
    codes = table[name]
    strange = unseen_code(codes)
    return np.where(codes == strange, MISSING, codes) if len(codes) and codes.max() == strange else codes


def joint_codes(table: Table, names: Sequence[str]) -> NDArray[Any]:
    """(n,) the codes of several columns as one number, the last of them running fastest."""
    return as_one((known_codes(table, n) for n in names), [1 + len(table.schema[n].levels) for n in names], table.n)


def as_one(columns: Iterable[NDArray[Any]], sizes: Sequence[int], n: int) -> NDArray[Any]:
    """(n,) the codes in these columns (n,), each below its size, as one number, the last of them running fastest; in
    few bytes."""
    cells = math.prod(sizes)
    joint = np.zeros(n, dtype=np.min_scalar_type(cells) if cells < 2**32 else np.intp)  # narrow numbers add up faster
    for codes, size in zip(columns, sizes, strict=True):
        joint *= size
        np.add(joint, codes, out=joint, casting="unsafe")
    return joint


def distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A place of each distinct row of an array (n, d), and for each row which of them it is. `np.unique` by an axis
    compares column by column, this all bytes at once."""
    rows = np.ascontiguousarray(rows)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return np.unique(whole, return_index=True, return_inverse=True)[1:]


def _stays(where: NDArray[np.intp], size: int) -> bool:
    """Whether an axis is as long as before, each entry in its place."""
    return len(where) == size and bool((where == np.arange(size)).all())


def widen(table: Array, *axes: Axis) -> Array:
    """The table with its first axes made longer, 0 where nothing stood; itself where none is."""
    if table.dtype == float and table.flags.c_contiguous and all(_stays(*axis) for axis in axes):
        return table
    wide = np.zeros([*(size for _, size in axes), *table.shape[len(axes) :]])
    wide[np.ix_(*(where for where, _ in axes))] = table
    return wide
