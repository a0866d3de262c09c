"""Contingency tables of the class and each discrete column, their sufficient statistics: a commutative monoid under +,
with a partial −."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import MISSING, Table, unseen_code

JOINT_CELLS = 4096
"""Columns are counted together while their joint table has at most this many cells (it must stay in the cache)."""
Axis = tuple[NDArray[np.intp], int]
"""Where the old entries of an axis stand in the new one, and how long that is."""


@dataclass(frozen=True)
class Counts:
    """`tables[name]` (C, 1 + S): weight of class c with level s of that column; slot 0 counts its missing cells."""

    tables: dict[str, Array]

    def __add__(self, other: Counts) -> Counts:
        return Counts({name: table + other.tables[name] for name, table in self.tables.items()})

    def __sub__(self, other: Counts) -> Counts:
        return Counts({name: less(table, other.tables[name]) for name, table in self.tables.items()})

    def scaled(self, weight: float) -> Counts:
        return Counts({name: table * weight for name, table in self.tables.items()})


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
    """
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


def joint_codes(table: Table, names: Sequence[str]) -> NDArray[np.intp]:
    """(n,) the codes of several columns as one number, the last of them running fastest."""
    return as_one((known_codes(table, n) for n in names), [1 + len(table.schema[n].levels) for n in names], table.n)


def as_one(columns: Iterable[NDArray[Any]], sizes: Sequence[int], n: int) -> NDArray[np.intp]:
    """(n,) the codes in these columns (n,), each below its size, as one number, the last of them running fastest."""
    joint = np.zeros(n, dtype=np.intp)
    for codes, size in zip(columns, sizes, strict=True):
        joint *= size
        joint += codes
    return joint


def widen(table: Array, *axes: Axis) -> Array:
    """The table with its first axes made longer, 0 where nothing stood."""
    wide = np.zeros([*(size for _, size in axes), *table.shape[len(axes) :]])
    wide[np.ix_(*(where for where, _ in axes))] = table
    return wide
