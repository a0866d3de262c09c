"""Σ_j log P(x_j | c, x_i) for many rows under every super-parent i at once, where all columns are discrete.

Columns are packed in groups: those of a group share one code, whose table under a super-parent is the sum of theirs, so
that a row costs one look-up a group. The classes of a cell stand side by side: one look-up brings them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.leaf import HIDDEN, OUT, Domain, LeftOutRows
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.logspace import Array, exp, log
from bayes_engine.priors import log_smoothed
from bayes_engine.progress import steps
from bayes_engine.table.encode import MISSING, Table
from bayes_engine.table.schema import Schema

PACKED_CELLS = 1024
"""Columns are packed while their table under a super-parent has at most this many cells (it must stay in the cache)."""
BLOCK = 4096
"""Rows summed at a time, for the same reason."""
EQUAL = 1e-9
"""Two log posteriors that differ by less are one, so that rounding decides nothing."""


@dataclass(frozen=True)
class PackedRows:
    """Rows as places: `places[j]` (n,) below `extents[j]`, the place `size + 1` being that of a cell not known; and
    `codes[g]` (n,), the joint code of the columns in `groups[g]`."""

    places: tuple[NDArray[np.intp], ...]
    extents: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    codes: tuple[NDArray[np.intp], ...]

    def tables(self, terms: Sequence[Array]) -> list[Array]:
        """The tables of the groups (places of i × their codes, W) under a super-parent i, from those of the columns
        (places of i, places of j, W)."""
        tables = []
        for group in self.groups:
            table = terms[group[0]]
            for j in group[1:]:
                table = (table[:, :, None] + terms[j][:, None]).reshape(len(table), -1, table.shape[2])
            tables.append(table.reshape(-1, table.shape[2]))
        return tables

    def sums(self, tables: Sequence[Sequence[Array]], begin: int, end: int) -> Iterator[tuple[slice, Array]]:
        """The rows from `begin` to `end` in blocks, and of each block (d, rows, W) the sums under every super-parent.
        The array is used again for the next block."""
        cells = [math.prod(self.extents[j] for j in group) for group in self.groups]
        width = tables[0][0].shape[1]
        whole, term = np.empty((len(tables), BLOCK, width)), np.empty((BLOCK, width))
        for first in steps(range(begin, end, BLOCK)):
            rows = slice(first, min(first + BLOCK, end))
            total, summand = whole[:, : rows.stop - first], term[: rows.stop - first]
            codes = [code[rows] for code in self.codes]
            for i, of_groups in enumerate(tables):
                place = self.places[i][rows]
                for g, table in enumerate(of_groups):
                    index = place * cells[g]
                    index += codes[g]
                    np.take(table, index, axis=0, out=summand if g else total[i], mode="clip")
                    if g:
                        total[i] += summand
            yield rows, total


def pack(X: Table, domains: Sequence[Domain]) -> PackedRows:
    """The rows of these discrete columns, packed."""
    places = []
    for domain in domains:
        place = domain.places(X)
        place[place == HIDDEN] = domain.size + 1
        places.append(place)
    extents = [max(d.size, 1 + int(p.max(initial=0))) for d, p in zip(domains, places, strict=True)]
    groups: list[tuple[int, ...]] = []
    codes: list[NDArray[np.intp]] = []
    cells = 0
    for j, (extent, place) in enumerate(zip(extents, places, strict=True)):
        if groups and cells * extent * max(extents) <= PACKED_CELLS:
            groups[-1] += (j,)
            codes[-1] = codes[-1] * extent + place
            cells *= extent
        else:
            groups.append((j,))
            codes.append(place)
            cells = extent
    return PackedRows(tuple(places), tuple(extents), tuple(groups), tuple(codes))


def row_width(k: int) -> int:
    """How many floats a cell of k takes: NumPy copies 8, 16 and 32 bytes three times as fast as others.

    >>> [row_width(k) for k in (1, 2, 3, 4, 5)]
    [1, 2, 4, 4, 5]
    """
    return 4 if k == 3 else k


def every_place(domain: Domain, extent: int) -> Table:
    """A row for each of the first places of a column: its values, one unseen, one not known."""
    values = [*range(1, 1 + len(domain.variable.levels)), *([MISSING] if domain.missing_is_level else [])]
    codes = np.array([*values, np.iinfo(np.int64).max, OUT])[:extent]
    return Table(Schema((domain.variable,)), (codes,), len(codes))


def scores_left_out(
    X: Table, left: LeftOutRows, log_prior: Mapping[int, Array], stars: Sequence[DirectedFactor], weight: Array | None
) -> tuple[Array, Array]:
    """Σ weight of the rows that are right when left out, and Σ weight × log posterior of their own class, both (d,),
    for the star on each column of X. `weight` is (n,), None where all are 1.

    The rows come class by class, all cells known, each to lose a weight of 1: then a class shares tables, where its own
    counts are one less, and its `log_prior` (C,); no family's smoothing hangs on the marginal of all classes.
    """
    k = len(stars[0].prior.p)
    packed = pack(X, [f.domain for f in stars[0].tables])
    columns = np.cumsum(packed.extents[:-1])
    counted, without = (
        [packed.tables(np.split(_star_terms(star, gone), columns, axis=1)) for star in stars] for gone in (0.0, 1.0)
    )
    hits, gains = np.zeros(len(stars)), np.zeros(len(stars))
    for c, (begin, end) in enumerate(steps(pairwise(np.searchsorted(left.own, np.arange(k + 1)).tolist()), k)):
        if begin == end:
            continue
        tables = [[table.copy() for table in of_star] for of_star in counted]
        for of_star, rest in zip(tables, without, strict=True):
            for table, less in zip(of_star, rest, strict=True):
                table[:, c] = less[:, c]
            of_star[0][:, :k] += log_prior[c]
        for rows, sums in packed.sums(tables, begin, end):
            joint = np.ascontiguousarray(np.moveaxis(sums, 2, 0)[:k])
            top = joint.max(axis=0)
            top[np.isneginf(top)] = 0.0
            joint -= top  # in place: it fits the cache
            largest = joint[: c + 1] >= -EQUAL  # the first of equals is the one predicted
            right = largest[c] & ~largest[:c].any(axis=0)
            gain = joint[c] - log(np.maximum(exp(joint).sum(axis=0), np.finfo(float).tiny))  # −inf without a posterior
            hits += np.count_nonzero(right, axis=1) if weight is None else right @ weight[rows]
            gains += gain.sum(axis=1) if weight is None else gain @ weight[rows]
    return hits, gains


def _star_terms(star: DirectedFactor, gone: float) -> Array:
    """(places of i, places of all columns, W) log P(x_j | c, x_i), and log P(x_i | c) in all places of i itself, every
    cell having lost the weight `gone`."""
    families = star.tables
    wide = [f.counts if f.parents else np.repeat(f.counts[:, :, None], f.domain.size, axis=2) for f in families]
    above = [f.totals if f.parents else np.repeat(f.totals[:, None], f.domain.size, axis=1) for f in families]
    sizes, alpha = np.array([f.domain.size for f in families]), np.array([f.rule.amount for f in families])
    count = np.concatenate(wide, axis=2)
    total = np.stack(above, axis=2)
    count, total = (np.where(a - gone > 1e-9 * a, a - gone, 0.0) for a in (count, total))
    added = np.where((total == 0) & (alpha == 0), 1.0, alpha)
    total, added, size = (np.repeat(a, sizes, axis=-1) for a in (total, added, sizes))
    table = log_smoothed(count, total, added, size)
    terms = np.zeros((*table.shape[1:], row_width(len(table))))
    terms[..., : len(table)] = np.moveaxis(table, 0, -1)
    return terms
