"""Sums of the terms of many discrete columns under every super-parent, for many rows at once.

Columns are packed in groups: those of a group share one code, whose table under a super-parent is the sum of theirs, so
that a row costs one look-up a group. The classes of a cell stand side by side: one look-up brings them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.leaf import Domain
from bayes_engine.factors.network import HIDDEN
from bayes_engine.logspace import Array, log
from bayes_engine.progress import steps
from bayes_engine.stats.counts import as_one
from bayes_engine.table.encode import Table

PACKED_CELLS = 1024
"""Columns are packed while their table under a super-parent has at most this many cells (it must stay in the cache)."""
BLOCK = 4096
"""Rows summed at a time, for the same reason."""


@dataclass(frozen=True)
class PackedRows:
    """Rows as places: `places[j]` (n,) below `extents[j]`, the place `size + 1` being that of a cell not known; and
    `codes[g]` (n,), the joint code of the columns in `groups[g]`. Both are kept in few bytes. With `own` (n,), the
    classes of the rows, tables are by class and place (C × places of i, …) under every super-parent."""

    places: tuple[NDArray[Any], ...]
    extents: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    codes: tuple[NDArray[Any], ...]
    own: NDArray[np.intp] | None = None

    @cached_property
    def side_by_side(self) -> list[slice]:
        """Where the places of each column are, one column after another."""
        return side_by_side(self.extents)

    def tables(self, terms: Sequence[Array]) -> list[Array]:
        """The tables of the groups (places of i × their codes, W) under a super-parent i, from those of the columns
        (places of i, places of j, W)."""
        tables = []
        for group in self.groups:
            table = terms[group[0]]
            for j in group[1:]:
                parents, extent, width = terms[j].shape
                table = table.repeat(extent, axis=1).reshape(parents, -1, extent * width)  # long rows add up faster
                table += terms[j].reshape(parents, 1, -1)
                table = table.reshape(parents, -1, width)
            tables.append(table.reshape(-1, table.shape[2]))
        return tables

    def sums(
        self, tables: Sequence[Sequence[Array]], begin: int, end: int, parents: Sequence[int] | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """The rows from `begin` to `end` in blocks, and of each block (m, rows, W) the sums under every super-parent,
        or the `parents` (m,) that these tables are of. The array is used again for the next block."""
        cells = [math.prod(self.extents[j] for j in group) for group in self.groups]
        width = tables[0][0].shape[1]
        at_once = min(BLOCK, end - begin)
        whole, term = np.empty((len(tables), at_once, width)), np.empty((at_once, width))
        for first in steps(range(begin, end, BLOCK)):
            rows = slice(first, min(first + at_once, end))
            total, summand = whole[:, : rows.stop - first], term[: rows.stop - first]
            codes = [code[rows].astype(np.intp) for code in self.codes]
            for i, of_groups in enumerate(tables):
                parent = i if parents is None else parents[i]
                place = self.places[parent][rows].astype(np.intp)
                if self.own is not None:
                    place += self.own[rows] * self.extents[parent]
                first_cell = {size: place * size for size in set(cells)}
                for g, table in enumerate(of_groups):
                    index = first_cell[cells[g]] + codes[g]
                    table.take(index, axis=0, out=summand if g else total[i], mode="clip")
                    if g:
                        total[i] += summand
            yield rows, total


def pack(X: Table, domains: Sequence[Domain]) -> PackedRows:
    """The rows of these discrete columns, packed."""
    places = [_places(X, domain) for domain in domains]
    extents = [max(d.size, 1 + int(p.max(initial=0))) for d, p in zip(domains, places, strict=True)]
    groups: list[tuple[int, ...]] = []
    cells = 0
    for j, extent in enumerate(extents):
        if groups and cells * extent * max(extents) <= PACKED_CELLS:
            groups[-1] += (j,)
            cells *= extent
        else:
            groups.append((j,))
            cells = extent
    codes = [as_one((places[j] for j in group), [extents[j] for j in group], X.n) for group in groups]
    return PackedRows(tuple(places), tuple(extents), tuple(groups), tuple(codes))


def _places(X: Table, domain: Domain) -> NDArray[Any]:
    """(n,) the places of a column's cells, `size + 1` of one not known; as narrow as the codes where all are levels."""
    if domain.all_levels(X):
        return np.asarray(X[domain.variable.name] - 1)
    places = domain.places(X)
    places[places == HIDDEN] = domain.size + 1
    return places


def side_by_side(sizes: Sequence[int]) -> list[slice]:
    """Where parts of these sizes stand, one after another.

    >>> side_by_side([2, 3])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def row_width(k: int) -> int:
    """How many floats a cell of k takes: NumPy copies 8, 16 and 32 bytes three times as fast as others.

    >>> [row_width(k) for k in (1, 2, 3, 4, 5)]
    [1, 2, 4, 4, 5]
    """
    return 4 if k == 3 else k


def less(a: Array, gone: float) -> Array:
    """Weights that have lost `gone`, a remainder of rounding size being zero."""
    return np.where(a - gone > 1e-9 * a, a - gone, 0.0)


def less_table(count: Array, total: Array, amounts: Sequence[float], sizes: Sequence[int], gone: float) -> Array:
    """(C, places of i, Σ_j S_j) log P(x_j | c, x_i) of columns side by side, from their counts and their totals (C,
    places of i, d), every cell having lost the weight `gone`."""
    alpha = np.array(amounts)
    count, total = less(count, gone), less(total, gone)
    added = np.where((total == 0) & (alpha == 0), 1.0, alpha)
    whole = log(total + added * np.array(sizes))  # by column: as `log_smoothed`, which would repeat it for each level
    return log(count + np.repeat(added, sizes, axis=-1)) - np.repeat(whole, sizes, axis=-1)
