"""Contingency tables of the class and each discrete column, their sufficient statistics: a commutative monoid under +,
with a partial −."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_engine.errors import NotASubset
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table, unseen_code

JOINT_CELLS = 4096
"""Columns are counted together while their joint table has at most this many cells (it must stay in the cache)."""


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
    joint = np.zeros(table.n, dtype=np.intp)
    for name, size in zip(names, sizes, strict=True):
        codes = table[name]
        if len(codes) and codes.max() >= size:  # unseen values in statistics count as missing
            codes = np.where(codes == unseen_code(codes), 0, codes)
        joint *= size
        joint += codes
    cube = labels.tally(joint, int(np.prod(sizes))).reshape(labels.n_classes, *sizes)
    axes = range(1, cube.ndim)
    return {name: cube.sum(axis=tuple(a for a in axes if a != j)) for j, name in enumerate(names, start=1)}
