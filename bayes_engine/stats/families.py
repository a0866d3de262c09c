"""Sufficient statistics of a class with several columns: contingency tables of families, and moments within their
cells.

A family is named by its columns in the schema's order. Like all statistics it merges by + and is taken away by −, and
slot 0 of every axis counts the missing cells, so that each table keeps its own margin.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bayes_engine.errors import ParameterError, SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.counts import MOST_CELLS, ByName, as_one, joint_codes, known_codes
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import Moments, moments
from bayes_engine.table.encode import MISSING, Table
from bayes_engine.table.schema import Schema

MOST_BYTES = 2e9
"""The largest memory that tables of pairs, and what is estimated from them, may be expected to take."""

MOST_SECONDS = 1800.0
"""The longest that counting and estimating them may be expected to take on one core."""

PAIR_CELLS = 2**16
"""Two groups of columns are counted together in a table of at most this many cells."""

Name = tuple[str, ...]


class PairCost(NamedTuple):
    """What a model over all pairs of columns costs, measured on one core: memory a cell of their tables, its factors'
    included, and memory and time a pair; counting takes `row_seconds` a row and pair."""

    cell_bytes: float
    pair_bytes: float
    pair_seconds: float
    row_seconds: float = 2e-8

    def seconds(self, pairs: float, n_rows: int) -> float:
        """The time that so many pairs take on so many rows."""
        return (self.pair_seconds + self.row_seconds * n_rows) * pairs


@dataclass(frozen=True)
class Families(ByName):
    """`tables[names]` (C, 1 + S_a, 1 + S_b, …): weight of class c with these codes of the columns `names`.
    `moments[names]`: of every numeric column, within each cell (class, code of a, …), cells in C order."""

    tables: Mapping[Name, Array] = field(default_factory=dict)
    moments: Mapping[Name, Moments] = field(default_factory=dict)

    def _matching(self, other: Families) -> None:
        if self.tables.keys() != other.tables.keys() or self.moments.keys() != other.moments.keys():
            raise SchemaMismatch(
                "statistics of different families of columns do not merge; fit both with one structure"
            )

    def __bool__(self) -> bool:
        return bool(self.tables or self.moments)


def count_families(table: Table, labels: Labels, names: Collection[Name]) -> dict[Name, Array]:
    """The tables of these families, two columns or more each; all pairs of a table are counted in one pass.

    Raises ParameterError where they would hold more than MOST_CELLS cells.
    """
    sizes = {v.name: 1 + len(v.levels) for v in table.schema if v.discrete}
    _affordable(labels.n_classes * sum(math.prod(sizes[n] for n in name) for name in names))
    pairs = [name for name in names if len(name) == 2]
    tables = _count_pairs(table, labels, pairs) if pairs else {}
    for name in steps(names):
        if name not in tables:
            shape = [sizes[n] for n in name]
            cells = labels.tally(joint_codes(table, name), int(np.prod(shape)))
            tables[name] = cells.reshape(labels.n_classes, *shape)
    return tables


def refuse_beyond(schema: Schema, n_classes: int, n_rows: int, cost: PairCost) -> None:
    """Raises ParameterError, before anything is counted, where the tables of all pairs of columns are expected to take
    more than MOST_BYTES or MOST_SECONDS."""
    sizes = np.array([1.0 + len(v.levels) for v in schema if v.discrete])
    numeric = sum(not v.discrete for v in schema)
    cells = n_classes * (sizes.sum() ** 2 - (sizes**2).sum()) / 2.0
    moments = 3.0 * n_classes * sizes.sum() * numeric
    pairs = len(sizes) * (len(sizes) - 1) / 2.0 + len(sizes) * numeric
    memory = cost.cell_bytes * (cells + moments) + cost.pair_bytes * pairs
    seconds = cost.seconds(pairs, n_rows)
    if memory > MOST_BYTES or seconds > MOST_SECONDS:
        raise ParameterError(
            "the joint tables of these columns would hold {cells:.3g} cells; leave out or coarsen the columns with the "
            "most levels, or leave out columns: {pairs:.3g} pairs of columns are expected to take {memory:.2g} GB and "
            "{seconds:.0f} seconds, and the limits are {most:.2g} GB and {longest:.0f} seconds",
            cells=float(cells + moments),
            pairs=pairs,
            memory=memory / 1e9,
            seconds=seconds,
            most=MOST_BYTES / 1e9,
            longest=MOST_SECONDS,
        )


def count_cells(table: Table, labels: Labels, names: Collection[Name]) -> dict[Name, Moments]:
    """Moments of the numeric columns within the cells of class × these discrete columns."""
    cell_moments = {}
    for name in steps(names):
        size = int(np.prod([1 + len(table.schema[n].levels) for n in name]))
        _affordable(labels.n_classes * size)
        cell_moments[name] = moments(table, labels.split(joint_codes(table, name), size))
    return cell_moments


def all_pairs(schema: Schema) -> list[Name]:
    """Every two discrete columns, in the schema's order."""
    return list(combinations((v.name for v in schema if v.discrete), 2))


def margins(schema: Schema, tables: Mapping[Name, Array]) -> dict[str, Array]:
    """The tables (C, 1 + S) of every discrete column, from those of the first with each other; empty where one of these
    is not among `tables`, or there is no other column."""
    first, *others = [v.name for v in schema if v.discrete] or [""]
    if not others or any((first, name) not in tables for name in others):
        return {}
    return {first: tables[first, others[0]].sum(axis=2)} | {name: tables[first, name].sum(axis=1) for name in others}


def in_order(schema: Schema, names: Sequence[str]) -> Name:
    """A family's name: its columns in the schema's order."""
    return tuple(sorted(names, key=schema.position.__getitem__))


def _affordable(cells: float) -> None:
    if cells > MOST_CELLS:
        raise ParameterError(
            "the joint tables of these columns would hold {cells:.3g} cells; leave out or coarsen the columns with the "
            "most levels",
            cells=float(cells),
        )


def _count_pairs(table: Table, labels: Labels, pairs: Sequence[Name]) -> dict[Name, Array]:
    """All pairs by groups of columns: every two groups share one joint code, counted once, and the tables of the pairs
    in it are its margins (of whole numbers, so exact). A column without a missing cell has no slot for it there."""
    sizes = {v.name: 1 + len(v.levels) for v in table.schema if any(v.name in pair for pair in pairs)}
    columns = {name: known_codes(table, name) for name in sizes}
    least = {name: int(table.n > 0 and codes.min() > MISSING) for name, codes in columns.items()}
    extents = {name: size - least[name] for name, size in sizes.items()}
    groups = _groups(extents, math.isqrt(min(table.n, PAIR_CELLS) // labels.n_classes))
    cells = [math.prod(extents[n] for n in group) for group in groups]
    kind = np.min_scalar_type(labels.n_classes * math.prod(sorted(cells)[-2:]))  # narrow numbers are fast to add
    codes = [
        as_one((columns[n] - least[n] for n in group), [extents[n] for n in group], table.n).astype(kind, copy=False)
        for group in groups
    ]
    narrow = labels if labels.codes is None else replace(labels, codes=labels.codes.astype(kind))
    left = set(pairs)
    tables: dict[Name, Array] = {  # in one order in every process: of a set of names it is another in each
        pair: np.zeros((labels.n_classes, *(sizes[n] for n in pair))) for pair in combinations(sizes, 2) if pair in left
    }
    for a, b in steps(combinations(range(len(groups)), 2), math.comb(len(groups), 2)):
        both = groups[a] + groups[b]
        if left.isdisjoint(combinations(both, 2)):
            continue
        cube = narrow.tally(codes[a] * cells[b] + codes[b], cells[a] * cells[b])
        cube = cube.reshape(-1, *(extents[n] for n in both))
        for part in (groups[a], groups[b], *((n, *groups[b]) for n in groups[a])):  # smaller tables, whose margins …
            if shared := left.intersection(combinations(part, 2)):
                smaller = _margin(cube, both, part)
                for pair in shared:  # … are sooner summed
                    tables[pair][:, least[pair[0]] :, least[pair[1]] :] = _margin(smaller, part, pair)
                left -= shared
    return tables


def _margin(table: Array, names: Name, kept: Name) -> Array:
    """(C, one axis for each of the names kept) the sums of a table (C, one axis for each of the names)."""
    return np.asarray(table.sum(axis=tuple(axis for axis, n in enumerate(names, start=1) if n not in kept)))


def _groups(sizes: Mapping[str, int], most: int) -> list[Name]:
    """Neighbouring columns with at most so many joint cells, or one alone; two groups at least, one of them maybe
    empty."""
    groups: list[Name] = []
    for name, size in sizes.items():
        if groups and size * math.prod(sizes[n] for n in groups[-1]) <= most:
            groups[-1] += (name,)
        else:
            groups.append((name,))
    return groups if len(groups) > 1 else [*groups, ()]
