"""Factors of many columns at once. Their rows are the columns'; their `log` is the same sum by matrix products or
joint tables, a block of rows in the cache at a time (tests/unit/test_counted.py: fast = sum of rows)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors import LOG_2PI, Factor, Product, Row, RowKind
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.fixed_point import (
    FixedPointTables,
    LinearInFixedPoint,
    tables_in_fixed_point,
)
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.factors.leaf import dot
from bayes_engine.factors.table import TableLeaf
from bayes_engine.logspace import Array, exp, log
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import UNNAMED, Matrix, offset_blocks, slices

JOINT_ENTRIES = 2**14
"""Tables are looked up together while their joint table has at most so many entries a class: it stays in the cache."""
WORTH_JOINING = 1024
"""Rows below which a joint table is not worth making."""
ROWS_IN_CACHE = 2**15
"""Rows that are looked up together."""
CANCELLATION = 1e6
"""A squared distance in standard deviations up to which x²/2v − xμ/v + μ²/2v keeps ten digits."""
ABSENT = "absent terms"
"""The row of all terms that stand in none of the cases."""


@dataclass(frozen=True)
class PriorAndColumns(Product):
    """Class prior, where there is one, and a factor of many columns that sums its rows itself."""

    def log(self, X: Table) -> Array:
        return self._with_prior(self.parts[-1].log(X))

    @cached_property
    def linear_in_fixed_point(self) -> LinearInFixedPoint | None:
        """The joint of terms, where it is linear in them."""
        terms = self.parts[-1]
        assert isinstance(terms, TermColumns)
        if terms.linear is None:
            return None
        weight, bias = terms.linear
        return LinearInFixedPoint(weight, self._with_prior(bias[None].copy())[0])

    def _with_prior(self, columns: Array) -> Array:
        total = columns.T  # (C, n), ours
        for part in self.parts[:-1]:
            assert isinstance(part, ClassPrior)
            total += log(part.p)[:, None]
        return total.T


@dataclass(frozen=True)
class GaussianColumns(Product):
    """log N(x; μ_c, v_c) summed over columns. With z = x − pivot it is linear in (z², z): −½/v · z² + μ/v · z + b_c, a
    product with two (C, d) matrices; a missing cell is a z of 0 without its share of b. Rows too far out for that, in
    standard deviations, are summed column by column: beyond a squared distance of `cancellation`."""

    parts: tuple[GaussianLeaf, ...]
    cancellation: float = CANCELLATION

    def log(self, X: Table) -> Array:
        if not self._near:
            return super().log(X)
        quadratic, linear, bias, pivot = self._natural
        whole = bias.sum(axis=1, keepdims=True)
        joint = np.empty((len(bias), X.n))
        for rows, z in offset_blocks(X, [part.variable.name for part in self.parts], pivot):
            constant = whole
            with np.errstate(over="ignore", invalid="ignore"):
                term = linear @ z.T
                if math.isnan(np.vdot(term[0], term[0])):  # as any of them is
                    known = ~np.isnan(z)
                    z[~known] = 0.0
                    term, constant = linear @ z.T, bias @ known.T
                z *= z
                far = quadratic @ z.T
            if far.min() >= -self.cancellation:  # false where it is NaN, too
                term += far
                np.add(term, constant, out=joint[:, rows])
            else:
                joint[:, rows] = super().log(X.take(rows)).T
        return joint.T

    @cached_property
    def _natural(self) -> tuple[Array, ...]:
        """−½/v, μ/v and b by column, (C, d) each, and pivot (d,)."""
        mean = np.array([part.moments.offset for part in self.parts]).T
        variance = np.array([part.variance for part in self.parts]).T
        pivot = np.array([part.moments.pivot for part in self.parts])
        bias = -0.5 * (LOG_2PI + np.log(variance) + mean**2 / variance)
        return -0.5 / variance, mean / variance, bias, pivot

    @cached_property
    def _near(self) -> bool:
        """Whether the means themselves lie near the pivots."""
        with np.errstate(over="ignore"):
            away = sum((part.moments.offset**2 / part.variance for part in self.parts), np.zeros(1))
            steep = max(float((1.0 / part.variance).max()) for part in self.parts)
        return bool(away.max() <= self.cancellation and steep < np.inf)


@dataclass(frozen=True)
class TableColumns(Product):
    """log P(x_j|c) summed over discrete columns. Neighbouring columns share one joint table of log terms, so that a
    row needs one look-up for several of them."""

    parts: tuple[TableLeaf, ...]

    def log(self, X: Table) -> Array:
        if X.n < WORTH_JOINING:
            return super().log(X)
        joint = np.empty((len(self.parts[0].by_code), X.n))
        self._look_up(X, [table for _group, table in self._groups], joint)
        return joint.T

    def in_fixed_point(self, X: Table) -> tuple[Array, float] | None:
        fixed = self._fixed if X.n >= WORTH_JOINING else None
        if fixed is None:
            return None
        total = np.empty((len(fixed.words[0]), X.n), dtype=np.int64)
        self._look_up(X, fixed.words, total)
        return fixed.sums(total), fixed.error

    @cached_property
    def _fixed(self) -> FixedPointTables | None:
        return tables_in_fixed_point([table for _group, table in self._groups])

    def _look_up(self, X: Table, tables: Sequence[Iterable[NDArray[Any]]], into: NDArray[Any]) -> None:
        """Write into each row of `into` (k, n) the sum of one entry of each group's k tables, row by row of X."""
        groups = [[self._codes(part, X) for part in group] for group, _table in self._groups]
        room = np.empty(min(ROWS_IN_CACHE, X.n), dtype=into.dtype)
        for rows in slices(X.n, ROWS_IN_CACHE):
            total, term = into[:, rows], room[: rows.stop - rows.start]
            for k, (columns, table) in enumerate(zip(groups, tables, strict=True)):
                where = self._joint_codes(columns, rows)
                for own, entries in zip(total, table, strict=True):
                    np.take(entries, where, out=term if k else own, mode="clip")
                    if k:
                        own += term

    @staticmethod
    def _codes(part: TableLeaf, X: Table) -> tuple[NDArray[Any], int]:
        """(n,) the codes of a column, and how many there are: the last is a value unseen."""
        codes, size = X[part.variable.name], part.by_code.shape[1]
        return codes if codes.max() < size else np.minimum(codes, size - 1), size

    @staticmethod
    def _joint_codes(columns: list[tuple[NDArray[Any], int]], rows: slice) -> NDArray[np.intp]:
        """(m,) where in their joint table these rows of the columns stand."""
        first, *others = columns
        entries = math.prod(size for _codes, size in columns)
        code = first[0][rows].astype(np.uint16 if entries <= JOINT_ENTRIES else np.intp)
        for codes, size in others:
            np.multiply(code, size, out=code)
            np.add(code, codes[rows], out=code, casting="unsafe")
        return code.astype(np.intp)

    @cached_property
    def _groups(self) -> list[tuple[list[TableLeaf], Array]]:
        """Runs of columns with (C, the product of their sizes) joint log terms; a wide column stands alone."""
        groups: list[tuple[list[TableLeaf], Array]] = []
        for part in self.parts:
            table = part.by_code
            if groups and groups[-1][1].shape[1] * table.shape[1] <= JOINT_ENTRIES:
                group, joint = groups[-1]
                groups[-1] = [*group, part], (joint[:, :, None] + table[:, None, :]).reshape(len(table), -1)
            else:
                groups.append(([part], table))
        return groups


SURE = 1e4
"""A squared distance in standard deviations up to which a Gaussian's terms keep twelve digits so."""


@dataclass(frozen=True)
class MixedColumns(Product):
    """A class prior and a leaf a column, of any kind and without parents: of many rows the tables are looked up
    together, and the Gaussians are products of matrices."""

    def log(self, X: Table) -> Array:
        if X.n < WORTH_JOINING:
            return super().log(X)
        _others, *together = self._together
        if not together:
            return super().log(X)
        total = together[0].log(X).T  # (C, n), ours
        total += self._others(X).T
        for columns in together[1:]:
            total += columns.log(X).T
        return total.T

    def _others(self, X: Table) -> Array:
        """(n, C) the sum of what is neither table nor Gaussian; (1, C) where that is the class prior, of all rows
        alike."""
        return self._together[0].log(X) if self._prior_alone is None else self._prior_alone

    @cached_property
    def _prior_alone(self) -> Array | None:
        """(1, C) the log prior, where all else is tables and Gaussians."""
        others = self._together[0]
        return others.log(Table(UNNAMED, (), 1)) if len(others.parts) == 1 else None

    def in_fixed_point(self, X: Table) -> tuple[Array, float] | None:
        """Of tables alone."""
        _others, *together = self._together
        if len(together) != 1 or self._prior_alone is None or not np.isfinite(self._prior_alone).all():
            return None
        fixed = together[0].in_fixed_point(X)
        return None if fixed is None else (fixed[0] + self._prior_alone, fixed[1])

    @cached_property
    def _together(self) -> list[Product]:
        """The tables and the Gaussians, where there are any, behind all that is neither."""
        of: dict[str | None, list[Any]] = {None: [], "codes": [], "squares": []}
        for part in self.parts:
            of[part.together].append(part)
        tables, gaussians = tuple(of["codes"]), tuple(of["squares"])
        return [
            Product(tuple(of[None])),
            *([TableColumns(tables)] if tables else []),
            *([GaussianColumns(gaussians, SURE)] if gaussians else []),
        ]


@dataclass(frozen=True)
class TermColumns(Factor):
    """Σ_v x_v · present_cv + (1 − x_v) · absent_cv over the V terms `names`; `absent` is None where an absent term says
    nothing (counts). Both (C, V), in nats, and 0 · (−∞) = 0. `kind` is that of the rows.

    Each term that stands in one of the cases has a row; with `absent`, one more row holds all those that do not.
    """

    target: str
    names: tuple[str, ...]
    present: Array
    absent: Array | None = None
    kind: RowKind = "log-probability"
    among: NDArray[np.intp] | None = field(default=None, repr=False)

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        assert isinstance(X, Matrix)
        present = X.occurring()
        if self.among is not None:
            present = np.intersect1d(present, self.among)
        for v in present:
            name, x = self.names[v], X.column(int(v))
            term = _times(self.present[:, v], x)
            if self.absent is not None:
                term += _times(self.absent[:, v], 1.0 - x)
            yield Row(name, name, (self.target,), self.kind), term.T
        if self.absent is not None:
            rest = np.setdiff1d(np.arange(len(self.names)) if self.among is None else self.among, present)
            if len(rest):
                everywhere = self.absent[:, rest].sum(axis=1)
                yield (
                    Row(ABSENT, ABSENT, (self.target,), self.kind),
                    np.broadcast_to(everywhere, (X.n, len(everywhere))),
                )

    def log(self, X: Table) -> Array:
        assert isinstance(X, Matrix)
        if self.among is not None:
            return super().log(X)
        joint = _linear(X, *self._finite)
        if self._never is not None:
            joint[_linear(X, *self._never) > 1e-12] = -np.inf
        return joint.T

    @property
    def linear(self) -> tuple[Array, Array] | None:
        """(C, V) weights and (C,) bias, where the sum is W x + b; None where a term is impossible in a class, or some
        are integrated out."""
        if self.among is not None or self._never is not None:
            return None
        return self.present if self.absent is None else self.present - self.absent, self._finite[1]

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        assert stats.terms is not None
        total = dot(stats.terms.sums, self.present)
        if self.absent is None:
            return total
        return total + dot(np.maximum(stats.class_weight[:, None] - stats.terms.sums, 0.0), self.absent)

    def log_prior_density(self, added: Any = 0.0) -> float:
        both = self.present if self.absent is None else self.present + self.absent
        return float((added * both).sum())

    def distance(self, other: TermColumns) -> float:
        """Of a probability."""
        return float(np.abs(exp(self.present) - exp(other.present)).max(initial=0.0))

    def of(self, given: Collection[str]) -> TermColumns:
        """The factor with all other terms integrated out."""
        return replace(self, among=np.array([v for v, name in enumerate(self.names) if name in given], dtype=np.intp))

    @cached_property
    def _finite(self) -> tuple[Array, Array]:
        """(V, C) weights and (C,) bias of the finite terms."""
        absent = None if self.absent is None else np.where(np.isneginf(self.absent), 0.0, self.absent)
        return _weights(np.where(np.isneginf(self.present), 0.0, self.present), absent)

    @cached_property
    def _never(self) -> tuple[Array, Array] | None:
        """The same that count the impossible terms; None where there is none."""
        present, absent = (None if t is None else np.isneginf(t).astype(float) for t in (self.present, self.absent))
        assert present is not None
        return _weights(present, absent) if present.any() or (absent is not None and absent.any()) else None


def _weights(present: Array, absent: Array | None) -> tuple[Array, Array]:
    if absent is None:
        return np.ascontiguousarray(present.T), np.zeros(len(present))
    return np.ascontiguousarray((present - absent).T), absent.sum(axis=1)


def _times(log_term: Array, x: Array) -> Array:
    """(C, n) x · log term, with 0 · (−∞) = 0."""
    with np.errstate(invalid="ignore"):
        product = log_term[:, None] * x
    return np.where(x == 0.0, 0.0, product)


def _linear(X: Matrix, weight: Array, bias: Array) -> Array:
    """(C, n) X W + b, a block of rows at a time."""
    joint = np.empty((len(bias), X.n))
    for rows, block in X.blocks():
        joint[:, rows] = np.asarray(block @ weight).T
    joint += bias[:, None]
    return joint
