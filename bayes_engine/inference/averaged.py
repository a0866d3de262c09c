"""AODE, the mean of one-dependence models: P(c, x) = 1/m Σ_i P(c, x_i) Π_{j≠i} P(x_j|c, x_i) (Zhou, eq. 7.23–7.25).

The super-parent is hidden: with q_i = P(i | x, c), the ledger's terms are E_q[log P(x_j | c, x_i)] for each column, the
entropy of q, and −log m.

Where all columns are discrete, Σ_j log P(x_j | c, x_i) is looked up for many rows at once (`packed_tables`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.leaf import Domain, Form, Leaf, LeftOutRows, less_weight
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.sources import Fraction, Source, Term
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.inference.packed_tables import PackedRows, less, less_table, pack, row_width, side_by_side
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import log_smoothed
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import slices
from bayes_engine.table.schema import Variable

SUPER_PARENT = "which super-parent"
"""The name of the entropy row."""
AVERAGE = "average"
"""The name of the row −log m."""
CHUNK = 4_000_000
"""Terms (super-parents × rows × classes) that are held at a time."""


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

    @cached_property
    def without_one(self) -> list[Array]:
        """(C, S_i, S_j) of every family of levels its log terms where the cell has lost a weight of 1, NaN where it has
        none: those of a row in its own class without it."""
        families = cast(tuple[TableLeaf, ...], self.families)
        if not families:
            return []
        counts = np.concatenate([f.counts for f in families], axis=2)
        totals = np.stack([f.totals for f in families], axis=2)
        amounts, sizes = [f.rule.amount for f in families], [f.domain.size for f in families]
        terms = np.where(counts > 0, less_table(counts, totals, amounts, sizes, 1.0), np.nan)
        return [terms[:, :, places] for places in side_by_side(sizes)]

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
        term = self._log(count, of_class, everything[:, None])
        return log_prior + term if self.given else term, total

    def table(self, extent: int, least: float, left_out: bool) -> Array:
        """(C + 1, extent) log P(c, x_i) by place, without a class prior that is given, and a row of zeros; −∞ in all
        rows where the value is not known or has a weight below `least`. With a row `left_out` in every place, of
        another class; C rows more are those of its own, NaN where that has no weight of 1."""
        (k, size), weight = self.counts.shape, self.counts.sum(axis=1, keepdims=True)
        count, frequency = np.zeros((k, extent)), np.zeros(extent)
        count[:, :size], frequency[:size] = self.counts, self.frequency[:size]
        everything, rest = weight.sum(), count
        if left_out:
            rest = np.concatenate([count, less(count, 1.0)])
            weight = np.concatenate([weight, less(weight, 1.0)])
            everything, frequency = less(everything, 1.0), less(frequency, 1.0)
        terms = self._log(rest, weight, everything)
        table = np.concatenate([terms[:k], np.zeros((1, extent)), terms[k:]])
        table[k + 1 :][count[: len(rest) - k] < 1 - 1e-9] = np.nan
        table[:, frequency < least] = -np.inf
        table[:, size + 1 :] = -np.inf
        return table

    def _log(self, count: Array, of_class: Array, everything: Array) -> Array:
        """log P(c, x_i) of the weights n_ci, n_c and n_i, without a class prior that is given."""
        k, size = self.counts.shape
        if self.given:
            return log_smoothed(count, of_class, np.where((of_class == 0) & (self.alpha == 0), 1.0, self.alpha), size)
        if self.alpha == 0:
            everything = np.where(everything > 0, everything, 1.0)
        return log_smoothed(count, everything, self.alpha, k * size)


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
        if self._worth_tables(X.n):
            return self._packed(X, self._own_prior(X.n), None)
        return self.over(X, self._own_prior(X.n), None)

    def _own_prior(self, n: int) -> Array:
        return np.broadcast_to(log(self.prior.p), (n, len(self.prior.p)))

    @cached_property
    def discrete(self) -> bool:
        """Whether every column is."""
        children = (f for m in self.members for f in m.families)
        return bool(self.members) and all(f.variable.discrete for f in children)

    def _worth_tables(self, n: int) -> bool:
        """Whether tables are soon made beside what n rows cost one by one."""
        return self.discrete and max(m.domain.size for m in self.members) ** 2 <= n

    @cached_property
    def _domains(self) -> dict[str, Domain]:
        """The domains of all columns, which are discrete: of the super-parents, then of those that are none."""
        of_children = {f.variable.name: cast(TableLeaf, f).domain for f in self.members[0].families}
        return {member.name: member.domain for member in self.members} | of_children

    @cached_property
    def _place(self) -> dict[str, int]:
        """Where each column stands among them."""
        return {name: j for j, name in enumerate(self._domains)}

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

    def _packed(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> Array:
        """`over`, from tables. As one more class stands one with all terms 0 under a super-parent that takes part, so
        that its sum over the super-parents is log m. NaN in a left-out row that was never counted."""
        k = len(self.prior.p)
        joint = np.empty((k, X.n)).T
        for rows, joints in self._sums(pack(X, [*self._domains.values()]), left):
            mean, alone = _mean_of(joints, k)
            joint[rows] = log_prior[rows] + mean if self.members[0].given else mean
            if alone.any():
                last = rows.start + np.flatnonzero(alone)
                joint[last] = self._over(X.take(last), log_prior[last], None if left is None else left.take(last))
        return joint

    def _sums(self, packed: PackedRows, left: LeftOutRows | None) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows and, under every super-parent, (m, rows, W) the sums of their terms. Left out, each with a
        weight of 1, a row has the terms of its own class from tables of the class and the place."""
        n, k, extents = len(packed.codes[0]), len(self.prior.p), packed.extents
        first = [
            member.table(extent, self.min_frequency, left is not None)
            for member, extent in zip(self.members, extents, strict=False)  # the super-parents stand first
        ]
        tables = [packed.tables(self._terms(i, packed, joint[: k + 1])) for i, joint in enumerate(first)]
        sums = packed.sums(tables, 0, n)
        if left is None:
            yield from sums
            return
        tables = [packed.tables(self._own_terms(i, packed, joint[k + 1 :])) for i, joint in enumerate(first)]
        for (rows, joints), (_, own) in zip(sums, replace(packed, own=left.own).sums(tables, 0, n), strict=True):
            joints[:, np.arange(own.shape[1]), left.own[rows]] = own[:, :, 0]
            yield rows, joints

    def _terms(self, i: int, packed: PackedRows, first: Array) -> list[Array]:
        """The terms (places of i, places of j, W) of every column j under one super-parent, whose own (C + 1, places
        of i) are `first`."""
        member, extents, tables = self.members[i], packed.extents, []
        joint = np.zeros((row_width(len(first)), extents[i]))
        joint[: len(first)] = first
        for family in cast(tuple[TableLeaf, ...], member.families):
            extent = extents[self._place[family.variable.name]]
            inside = extents[i] <= member.domain.size and extent <= family.domain.size
            tables.append(family.log_cpt if inside else family.lookup)
        terms = np.ascontiguousarray(self._all_terms(i, packed, joint, tables).transpose(1, 2, 0))
        return [terms[:, places] for places in packed.side_by_side]

    def _own_terms(self, i: int, packed: PackedRows, first: Array) -> list[Array]:
        """The terms (classes × places of i, places of j, 1) of a row's own class without it, the super-parent's own
        (C, places of i) being `first`: NaN where it was never counted."""
        terms = self._all_terms(i, packed, first, self.members[i].without_one)
        terms = terms.reshape(len(first) * packed.extents[i], -1, 1)
        return [terms[:, places] for places in packed.side_by_side]

    def _all_terms(self, i: int, packed: PackedRows, joint: Array, tables: Sequence[Array]) -> Array:
        """(W, places of i, Σ places of j) the tables (C, places of i, places of j) of the other columns under one
        super-parent, 0 where j is not known, and for its own column `joint` (W, places of i) whatever the second
        place."""
        extents, columns = packed.extents, packed.side_by_side
        terms = np.zeros((len(joint), extents[i], sum(extents)))
        terms[:, :, columns[i]] = joint[:, :, None]
        for family, table in zip(self.members[i].families, tables, strict=True):
            j = self._place[family.variable.name]
            table = table[:, : extents[i], : extents[j]]
            terms[: len(table), : table.shape[1], columns[j]][:, :, : table.shape[2]] = table
        return terms

    def over(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> Array:
        """(n, C) the joint over a log prior (n, C); with `left`, of each row under the counts without it."""
        if not self.members:
            return self.naive.over(X, log_prior, left)
        if left is not None and self._worth_tables(X.n // len(self.prior.p)) and (left.weight == 1).all():
            joint = self._packed(X, log_prior, left)
            if not np.isnan(joint).any():
                return joint
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


def _mean_of(joints: Array, k: int) -> tuple[Array, NDArray[np.bool_]]:
    """(n, k) the log of the mean of joints (m, n, W) over the super-parents that take part, whose number the class
    after the last tells, and (n,) where none does. The joints are used up."""
    top = joints.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    joints -= top  # in place: what `log_sum` would set aside does not fit the cache
    total = (top + log(exp(joints, out=joints).sum(axis=0))).T
    alone = np.isneginf(total[k])
    return (total[:k] - np.where(alone, 0.0, total[k])).T, alone
