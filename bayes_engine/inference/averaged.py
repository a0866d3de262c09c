"""AODE, the mean of one-dependence models: P(c, x) = 1/m Σ_i P(c, x_i) Π_{j≠i} P(x_j|c, x_i) (Zhou, eq. 7.23–7.25).

The super-parent is hidden: with q_i = P(i | x, c), the ledger's terms are E_q[log P(x_j | c, x_i)] for each column, the
entropy of q, and −log m.

Where all columns are discrete, Σ_j log P(x_j | c, x_i) is made for many rows under every super-parent at once. Columns
are packed in groups: those of a group share one code, whose table under a super-parent is the sum of theirs, so that a
row costs one look-up a group. The classes of a cell stand side by side: one look-up brings them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.leaf import OUT, Domain, Form, Leaf, LeftOutRows, less_weight
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.sources import Fraction, Source, Term
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import log_smoothed
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import MISSING, Table
from bayes_engine.table.matrix import slices
from bayes_engine.table.schema import Schema, Variable

SUPER_PARENT = "which super-parent"
"""The name of the entropy row."""
AVERAGE = "average"
"""The name of the row −log m."""
CHUNK = 4_000_000
"""Terms (super-parents × rows × classes) that are held at a time."""
PACKED_CELLS = 1024
"""Columns are packed while their table under a super-parent has at most this many cells (it must stay in the cache)."""
BLOCK = 4096
"""Rows summed at a time, for the same reason."""
EQUAL = 1e-9
"""Two log posteriors that differ by less are one, so that rounding decides nothing."""


@dataclass(frozen=True)
class Member:
    """One super-parent: P(c, x_i) from its counts (C, S_i), and the other columns as families under it.

    P(c, x_i) = (n_ci + a)/(n_i + a K S_i) with a = `alpha`, n_i the rows where the column is known; with `given`, a
    class prior that is not the rows' own, it is P(c) (n_ci + a)/(n_c + a S_i).
    """

    domain: Domain
    counts: Array
    alpha: float
    given: bool
    families: tuple[Leaf, ...]

    @property
    def name(self) -> str:
        return self.domain.variable.name

    @cached_property
    def frequency(self) -> Array:
        """(S_i + 1,) the weight of each value in all classes; an unseen one has none."""
        return np.append(self.counts.sum(axis=0), 0.0)

    def first(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> tuple[Array, Array]:
        """(n, C) log P(c, x_i), and (n,) how much weight the value has; 0 where the cell is not known."""
        places = self.domain.places(X)
        known = places != HIDDEN
        value = np.where(known, places, self.domain.size)
        padded = np.concatenate([self.counts, np.zeros((len(self.counts), 1))], axis=1)
        count, total = np.take(padded, value, axis=1).T.copy(), self.frequency[value]
        of_class = np.repeat(self.counts.sum(axis=1)[None, :], X.n, axis=0)
        everything = np.full(X.n, float(self.counts.sum()))
        if left is not None:
            rows = np.flatnonzero(known & (places < self.domain.size))
            own, w = left.own[rows], left.weight[rows]
            count[rows, own] = less_weight(count[rows, own], w, self.domain.variable)
            of_class[rows, own] = less_weight(of_class[rows, own], w, self.domain.variable)
            everything[rows] -= w
            total = total.copy()
            total[rows] = less_weight(total[rows], w, self.domain.variable)
        k, size = len(self.counts), self.domain.size
        if self.given:
            a = np.where((of_class == 0) & (self.alpha == 0), 1.0, self.alpha)
            return log_prior + log_smoothed(count, of_class, a, size), total
        if self.alpha == 0:
            everything = np.where(everything > 0, everything, 1.0)
        return log_smoothed(count, everything[:, None], self.alpha, k * size), total


@dataclass(frozen=True)
class JointLeaf(Leaf):
    """log P(c, x_i) of a super-parent, as `member` has it under a class prior."""

    form: ClassVar[Form] = "table"
    member: Member
    prior: ClassPrior

    @property
    def domain(self) -> Domain:
        """The places of the super-parent."""
        return self.member.domain

    @property
    def variable(self) -> Variable:  # type: ignore[override]
        return self.member.domain.variable

    @property
    def target(self) -> str:  # type: ignore[override]
        return self.prior.target

    def known(self, X: Table) -> NDArray[np.bool_]:
        return np.asarray(self.domain.places(X) != HIDDEN)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        log_prior = np.broadcast_to(log(self.prior.p), (X.n, len(self.prior.p)))
        return self.member.first(X, log_prior, left)[0]

    def sources(self, X: Table) -> tuple[Source, ...]:
        """(n_ci + a)/(n_i + a K S_i)."""
        counts = self.member.counts[:, int(self.domain.places(X)[0])]
        n, cells = float(self.member.counts.sum()), self.member.counts.size
        return tuple(Fraction(float(c), n, self.member.alpha, cells) for c in counts)


@dataclass(frozen=True)
class AveragedFactor(Factor):
    """The mean over the super-parents whose value, in the row, has a weight of at least `min_frequency`; a row without
    one is naive Bayes (`naive`). `prior` is P(c) where nothing but the class is known; it is a row of its own, and the
    rest of P(c, x_i) is in the row of x_i."""

    prior: ClassPrior
    members: tuple[Member, ...]
    naive: DirectedFactor
    min_frequency: float

    def log(self, X: Table) -> Array:
        if self.discrete and max(m.domain.size for m in self.members) ** 2 <= X.n:  # tables are soon made
            return self._packed(X)
        return self.over(X, self._own_prior(X.n), None)

    def _own_prior(self, n: int) -> Array:
        return np.broadcast_to(log(self.prior.p), (n, len(self.prior.p)))

    @cached_property
    def discrete(self) -> bool:
        """Whether every column is."""
        children = (f for m in self.members for f in m.families)
        return bool(self.members) and all(f.variable.discrete for f in children)

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        """The domains of all columns, which are discrete: of the super-parents, then of those that are none."""
        of_children = {f.variable.name: cast(TableLeaf, f).domain for f in self.members[0].families}
        return {member.name: member.domain for member in self.members} | of_children

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        return self.naive.part_of(column)

    def gathers(self, column: str) -> bool | None:
        return False

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        if not self.members:
            yield from self.naive.origins(X)
            return
        for row, term in self.rows(X):
            yield self.prior.sources(X) if row.kind == "prior" else tuple(Term(float(v)) for v in term[0])

    def posterior(self, target: Variable) -> None:
        raise ParameterError(
            "there is no band for AODE: its models count the same rows in many tables, so the tables do not vary one "
            "by one"
        )

    def _packed(self, X: Table) -> Array:
        """`log`, from tables. As one more class stands one with all terms 0 under a super-parent that takes part, so
        that its sum over the super-parents is log m."""
        packed = pack(X, [*self._domains.values()])
        tables = [packed.tables(self._terms(i, packed.extents)) for i in range(len(self.members))]
        k = len(self.prior.p)
        joint = np.empty((k, X.n)).T
        for rows, joints in packed.sums(tables, 0, X.n):
            joint[rows], alone = _mean_of(joints, k)
            if alone.any():
                last = rows.start + np.flatnonzero(alone)
                joint[last] = self.over(X.take(last), self._own_prior(len(last)), None)
        return joint

    def _terms(self, i: int, extents: Sequence[int]) -> list[Array]:
        """The terms (places of i, places of j, W) under one super-parent, 0 where j is not known; its own column has
        log P(c, x_i) whatever the second place."""
        member, k = self.members[i], len(self.prior.p)
        terms = [np.zeros((extents[i], extent, row_width(k + 1))) for extent in extents]
        every = every_place(member.domain, extents[i])
        first, total = member.first(every, self._own_prior(every.n), None)
        terms[i][:, :, :k] = first[:, None]
        idle = (member.domain.places(every) == HIDDEN) | (total < self.min_frequency)
        terms[i][idle, :, : k + 1] = -np.inf
        place = {name: j for j, name in enumerate(self._domains)}
        for family in member.families:
            term, family = terms[place[family.variable.name]], cast(TableLeaf, family)
            inside = term.shape[0] <= member.domain.size and term.shape[1] <= family.domain.size
            table = (family.log_cpt if inside else family.lookup).transpose(1, 2, 0)[: term.shape[0], : term.shape[1]]
            term[: table.shape[0], : table.shape[1], :k] = table
        return terms

    def _packed_without(self, X: Table, log_prior: Array, left: LeftOutRows) -> Array | None:
        """`over` of rows that are left out, each with a weight of 1, from tables: the rows of a class share them, where
        its own counts are one less. None where the rows are too few for that, or one was never counted."""
        k, most = len(self.prior.p), max(m.domain.size for m in self.members)
        if not self.discrete or k * most**2 > X.n or (left.weight != 1).any():
            return None
        order = np.argsort(left.own, kind="stable")
        packed = pack(X.take(order), [*self._domains.values()])
        counted, without = (
            [self._children_terms(i, packed.extents, gone) for i in range(len(self.members))] for gone in (0.0, 1.0)
        )
        joint = np.empty((X.n, k))
        bounds = np.searchsorted(left.own[order], np.arange(k + 1)).tolist()
        for c, (begin, end) in enumerate(steps(pairwise(bounds), k)):
            if begin == end:
                continue
            own_prior, tables = log_prior[order[begin]], []
            for i, (terms, rest) in enumerate(zip(counted, without, strict=True)):
                here = [term.copy() for term in terms]
                for term, less in zip(here, rest, strict=True):
                    term[:, :, c] = less[:, :, c]
                here[i] = self._own_terms(i, packed.extents, own_prior, c)
                tables.append(packed.tables(here))
            for rows, joints in packed.sums(tables, begin, end):
                if np.isnan(joints[:, :, c]).any():
                    return None
                mean, alone = _mean_of(joints, k)
                place = order[rows]
                joint[place] = mean
                if alone.any():
                    last = place[alone]
                    joint[last] = self._over(X.take(last), log_prior[last], left.take(last))
        return joint

    def _children_terms(self, i: int, extents: Sequence[int], gone: float) -> list[Array]:
        """As `_terms`, of the other columns only, every cell having lost the weight `gone`: NaN where it had none."""
        families = [cast(TableLeaf, family) for family in self.members[i].families]
        counts = np.concatenate([f.counts for f in families], axis=2)
        totals = np.stack([f.totals for f in families], axis=2)
        amounts, sizes = [f.rule.amount for f in families], [f.domain.size for f in families]
        table = _less_table(counts, totals, amounts, sizes, gone)
        table = np.where((counts > 0) | (gone == 0), table, np.nan)
        terms = [np.zeros((extents[i], extent, row_width(len(table) + 1))) for extent in extents]
        place, begin = {name: j for j, name in enumerate(self._domains)}, 0
        for family in families:
            of_column = table[:, : extents[i], begin : begin + family.domain.size]
            terms[place[family.variable.name]][: of_column.shape[1], : family.domain.size, : len(table)] = np.moveaxis(
                of_column, 0, -1
            )
            begin += family.domain.size
        return terms

    def _own_terms(self, i: int, extents: Sequence[int], log_prior: Array, c: int) -> Array:
        """(places of i, places of i, W) log P(c, x_i) whatever the second place, each cell of class c having lost a
        weight of 1; −∞ where the super-parent then takes no part."""
        member, k = self.members[i], len(self.prior.p)
        every = every_place(member.domain, extents[i])
        counts = np.append(member.counts[c], np.zeros(max(every.n - member.domain.size, 0)))[: every.n]
        left = LeftOutRows(np.full(every.n, c), np.minimum(counts, 1.0), None, (every, Labels(k, np.full(every.n, c))),
                           np.arange(every.n))  # fmt: skip
        first, total = member.first(every, np.broadcast_to(log_prior, (every.n, k)), left)
        terms = np.zeros((every.n, extents[i], row_width(k + 1)))
        terms[:, :, :k] = first[:, None]
        idle = (member.domain.places(every) == HIDDEN) | (total < self.min_frequency)
        terms[idle, :, : k + 1] = -np.inf
        return terms

    def over(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> Array:
        """(n, C) the joint over a log prior (n, C); with `left`, of each row under the counts without it."""
        if not self.members:
            return self.naive.over(X, log_prior, left)
        if left is not None and X.n and (packed := self._packed_without(X, log_prior, left)) is not None:
            return packed
        return self._over(X, log_prior, left)

    def _over(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> Array:
        joint = np.empty((X.n, len(self.prior.p)))
        step = max(1, CHUNK // (len(self.members) * len(self.prior.p)))
        for rows in slices(X.n, step):
            part = X if X.n <= step else X.take(rows)
            own = None if left is None else left.take(rows)
            joints, active = self.joints(part, log_prior[rows], own)
            m = active.sum(axis=0)
            alone = m == 0
            joint[rows] = log_sum(joints, axis=0) - np.log(np.where(alone, 1, m))[:, None]
            if alone.any():
                last = np.flatnonzero(alone)
                left_last = None if own is None else own.take(last)
                joint[rows.start + last] = self.naive.over(part.take(last), log_prior[rows][last], left_last)
        return joint

    def joints(self, X: Table, log_prior: Array, left: LeftOutRows | None = None) -> tuple[Array, NDArray[np.bool_]]:
        """(d, n, C) log P(c, x_i) Π_{j≠i} P(x_j | c, x_i) for each super-parent, −inf where it does not take part, and
        (d, n) where it does."""
        joints = np.empty((len(self.members), X.n, len(self.prior.p)))
        active = np.empty((len(self.members), X.n), dtype=bool)
        for i, member in enumerate(self.members):
            joints[i], total = member.first(X, log_prior, left)
            for _, term in self._children(member, X, left):
                joints[i] += term
            active[i] = (member.domain.places(X) != HIDDEN) & (total >= self.min_frequency)
            joints[i][~active[i]] = -np.inf
        return joints, active

    def _children(self, member: Member, X: Table, left: LeftOutRows | None) -> Iterator[tuple[str, Array]]:
        """(n, C) the terms of the other columns under one super-parent; 0 where a cell is not known."""
        there = member.domain.places(X) != HIDDEN
        for family in member.families:
            rows = np.flatnonzero(there & family.known(X))
            if len(rows) == X.n:
                yield family.variable.name, family.term(X, (), left)
            elif len(rows):
                term = np.zeros((X.n, len(self.prior.p)))
                term[rows] = family.term(X.take(rows), (), None if left is None else left.take(rows))
                yield family.variable.name, term

    def responsibilities(self, X: Table) -> tuple[Array, NDArray[np.bool_]]:
        """(d, n, C) q_i = P(i | x, c), zeros where there is no super-parent or p(c, x) is 0; (d, n) who takes part."""
        joints, active = self.joints(X, self._own_prior(X.n))
        total = log_sum(joints, axis=0)
        q = exp(joints - np.where(np.isfinite(total), total, 0.0))
        whole = q.sum(axis=0)  # 1, up to the rounding of joints far out
        return q / np.where(whole > 0, whole, 1.0), active

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if not self.members:
            yield from self.naive.rows(X)
            return
        prior, log_prior = next(self.prior.rows(X))
        q, active = self.responsibilities(X)
        shape, target = q.shape[1:], self.prior.target
        alone = ~np.any(active, axis=0)
        yield prior, log_prior
        terms = {v: np.zeros(shape) for v in self.naive.names}
        met = set()
        for i, member in enumerate(self.members):
            first, _ = member.first(X, log_prior, None)
            there = np.isfinite(first) & np.isfinite(log_prior)
            own = np.subtract(first, log_prior, out=np.full(first.shape, -np.inf), where=there)
            for name, term in ((member.name, own), *self._children(member, X, None)):
                terms[name] += np.multiply(q[i], term, out=np.zeros(shape), where=q[i] > 0)
                if active[i].any():
                    met.add(name)
        if alone.any():
            last = np.flatnonzero(alone)
            for row, term in self.naive.rows(X.take(last)):
                if row.parents:
                    terms[row.name][last] = term
                    met.add(row.name)
        for name, term in terms.items():
            if name in met:
                yield Row(name, name, (target, SUPER_PARENT), "expected"), term
        if alone.all():
            return
        nowhere = (q.sum(axis=0) == 0) & ~alone[:, None]
        surprise = np.where(nowhere, -np.inf, entr(q).sum(axis=0))
        yield Row(SUPER_PARENT, SUPER_PARENT, (target,), "entropy"), surprise
        m = active.sum(axis=0)
        share = -np.log(np.where(m > 0, m, 1))
        yield Row(AVERAGE, AVERAGE, (), "constant"), np.repeat(share[:, None], shape[1], axis=1)


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

    def sums(
        self, tables: Sequence[Sequence[Array]], begin: int, end: int, parents: Sequence[int] | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """The rows from `begin` to `end` in blocks, and of each block (m, rows, W) the sums under every super-parent,
        or the `parents` (m,) that these tables are of. The array is used again for the next block."""
        cells = [math.prod(self.extents[j] for j in group) for group in self.groups]
        width = tables[0][0].shape[1]
        whole, term = np.empty((len(tables), BLOCK, width)), np.empty((BLOCK, width))
        for first in steps(range(begin, end, BLOCK)):
            rows = slice(first, min(first + BLOCK, end))
            total, summand = whole[:, : rows.stop - first], term[: rows.stop - first]
            codes = [code[rows] for code in self.codes]
            for i, of_groups in enumerate(tables):
                place = self.places[i if parents is None else parents[i]][rows]
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


def _mean_of(joints: Array, k: int) -> tuple[Array, NDArray[np.bool_]]:
    """(n, k) the log of the mean of joints (m, n, W) over the super-parents that take part, whose number the class
    after the last tells, and (n,) where none does. The joints are used up."""
    top = joints.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    joints -= top  # in place: what `log_sum` would set aside does not fit the cache
    total = (top + log(exp(joints).sum(axis=0))).T
    alone = np.isneginf(total[k])
    return (total[:k] - np.where(alone, 0.0, total[k])).T, alone


def scores_left_out(
    X: Table,
    left: LeftOutRows,
    log_prior: Mapping[int, Array],
    stars: Mapping[int, DirectedFactor],
    weight: Array | None,
) -> tuple[Array, Array]:
    """Σ weight of the rows that are right when left out, and Σ weight × log posterior of their own class, both (m,),
    for the stars on columns of X, by their positions, each over the rows that know its parent. `weight` is (n,), None
    where all are 1.

    The rows come class by class, each to lose a weight of 1: then a class shares tables, where its own counts are one
    less, and its `log_prior` (C,); no family's smoothing hangs on the marginal of all classes.
    """
    one = next(iter(stars.values()))
    k = len(one.prior.p)
    packed = pack(X, [f.domain for f in one.tables])
    counted, without = (
        [packed.tables(_star_terms(star, gone, packed.extents)) for star in stars.values()] for gone in (0.0, 1.0)
    )
    sizes = [one.tables[i].domain.size for i in stars]
    hits, gains = np.zeros(len(stars)), np.zeros(len(stars))
    for c, (begin, end) in enumerate(steps(pairwise(np.searchsorted(left.own, np.arange(k + 1)).tolist()), k)):
        if begin == end:
            continue
        tables = [[table.copy() for table in of_star] for of_star in counted]
        for of_star, rest in zip(tables, without, strict=True):
            for table, less in zip(of_star, rest, strict=True):
                table[:, c] = less[:, c]
            of_star[0][:, :k] += log_prior[c]
        for rows, sums in packed.sums(tables, begin, end, list(stars)):
            joint = np.ascontiguousarray(np.moveaxis(sums, 2, 0)[:k])
            top = joint.max(axis=0)
            top[np.isneginf(top)] = 0.0
            joint -= top  # in place: it fits the cache
            largest = joint[: c + 1] >= -EQUAL  # the first of equals is the one predicted
            right = largest[c] & ~largest[:c].any(axis=0)
            gain = joint[c] - log(np.maximum(exp(joint).sum(axis=0), np.finfo(float).tiny))  # −inf without a posterior
            for m, (i, size) in enumerate(zip(stars, sizes, strict=True)):
                if packed.extents[i] > size:
                    hidden = packed.places[i][rows] >= size
                    right[m, hidden], gain[m, hidden] = False, 0.0
            hits += np.count_nonzero(right, axis=1) if weight is None else right @ weight[rows]
            gains += gain.sum(axis=1) if weight is None else gain @ weight[rows]
    return hits, gains


def _star_terms(star: DirectedFactor, gone: float, extents: Sequence[int]) -> list[Array]:
    """Of each column (places of i, places of j, W) log P(x_j | c, x_i), 0 where j is not known, and log P(x_i | c) in
    all places of i itself, every cell having lost the weight `gone`."""
    families = star.tables
    wide = [f.counts if f.parents else np.repeat(f.counts[:, :, None], f.domain.size, axis=2) for f in families]
    above = [f.totals if f.parents else np.repeat(f.totals[:, None], f.domain.size, axis=1) for f in families]
    sizes = [f.domain.size for f in families]
    amounts = [f.rule.amount for f in families]
    table = _less_table(np.concatenate(wide, axis=2), np.stack(above, axis=2), amounts, sizes, gone)
    places = np.concatenate([np.arange(s) + first for s, first in zip(sizes, _firsts(extents), strict=True)])
    terms = np.zeros((table.shape[1], sum(extents), row_width(len(table))))
    terms[:, places, : len(table)] = np.moveaxis(table, 0, -1)
    return np.split(terms, _firsts(extents)[1:], axis=1)


def _less_table(count: Array, total: Array, amounts: Sequence[float], sizes: Sequence[int], gone: float) -> Array:
    """(C, places of i, Σ_j S_j) log P(x_j | c, x_i) of columns side by side, from their counts and their totals (C,
    places of i, d), every cell having lost the weight `gone`."""
    alpha = np.array(amounts)
    count, total = (np.where(a - gone > 1e-9 * a, a - gone, 0.0) for a in (count, total))
    added = np.where((total == 0) & (alpha == 0), 1.0, alpha)
    total, added, size = (np.repeat(a, sizes, axis=-1) for a in (total, added, np.array(sizes)))
    return log_smoothed(count, total, added, size)


def _firsts(extents: Sequence[int]) -> list[int]:
    return [0, *accumulate(extents[:-1])]
