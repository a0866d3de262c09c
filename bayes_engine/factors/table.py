"""Discrete columns: a table of conditional probabilities, its Dirichlet posterior, the fractions it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma, rel_entr

from bayes_engine.factors import Row, RowKind
from bayes_engine.factors.leaf import (
    Domain,
    Form,
    Leaf,
    LeftOutRows,
    Numbers,
    cells_of,
    dot,
    information_of_table,
    less_weight,
    never_counted,
)
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.posterior import JEFFREYS, Interval, beta_interval, log_gamma
from bayes_engine.factors.sources import Given, Source, fraction_of
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import Smoothing, log_normalized, log_smoothed, normalized, tilt, where_smoothed
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.encode import MISSING, Table
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class TableRule:
    """What smoothing adds to the counts (…, S) of a table: on average `amount` a level, "all" over, in distributions
    with a zero only ("zero-only"), or nowhere ("none"); a distribution without a count gets 1 where it would get 0.

    With `marginal` the levels share it as the column's own values do. `summed`, as naive Bayes has it: the smoothed
    counts are divided by their own sum rather than by N + aS, which differs by rounding; and it is the shared
    pseudo-counts that get 1 where they would be 0.
    """

    amount: float
    marginal: bool = False
    smoothing: Smoothing = "all"
    summed: bool = False

    def on_average(self, counts: Array) -> Array:
        """(…, 1) what a level of each distribution gets on average."""
        return where_smoothed(counts, np.full((*counts.shape[:-1], 1), self.amount), self.smoothing)

    def added(self, counts: Array, shares: Array | float) -> Array:
        """(…, 1), or (…, S) where the levels differ: their `shares` have the mean 1."""
        each = self.on_average(counts)
        if not self.marginal:
            return each
        unsmoothed = self.summed and (self.amount == 0 or self.smoothing == "none")
        nothing = (counts.sum(axis=-1, keepdims=True) == 0) & unsmoothed
        return np.where(nothing, 1.0, each * shares)

    def log_smoothed(self, counts: Array, shares: Array | float) -> Array:
        """(…, S) the log probabilities of the levels."""
        if self.summed:
            return log_normalized(counts + self.added(counts, shares))
        total = counts.sum(axis=-1, keepdims=True)
        return log_smoothed(counts, total, self.on_average(counts), counts.shape[-1], shares)


@dataclass(frozen=True)
class TableLeaf(Leaf):
    """log P(x_j = t | c, pa = s) = log (n_cst + a) − log (n_cs + a S_j): Zhou, eq. 7.17 (a = 0) and 7.20 (a = 1), under
    parents within their cell.

    `counts` (C, S_p, …, S_j) by place, smoothed by `rule`. Of a column that the class is no parent of they are those of
    all classes together, (1, S_p, …, S_j).

    >>> wind = Domain(Variable("wind", "categorical", ("weak", "strong")))
    >>> rain = Domain(Variable("rain", "categorical", ("no", "yes")))
    >>> leaf = TableLeaf(rain, "play", np.array([[[3.0, 1.0], [0.0, 2.0]]]), TableRule(1.0), (wind,))
    >>> exp(leaf.log_cpt).round(4).tolist()
    [[[0.6667, 0.3333], [0.25, 0.75]]]
    """

    form: ClassVar[Form] = "table"
    numbers: ClassVar[Numbers] = "table"
    together = "codes"
    domain: Domain
    target: str
    counts: Array
    rule: TableRule
    parents: tuple[Domain, ...] = ()

    @property
    def variable(self) -> Variable:  # type: ignore[override]
        return self.domain.variable

    @property
    def axes(self) -> tuple[Domain, ...]:
        """The columns of the table in the order of its axes."""
        return (*self.parents, self.domain)

    @property
    def of_class(self) -> bool:
        """Whether the class is a parent (of two classes or more, as everywhere)."""
        return len(self.counts) > 1

    @property
    def kind(self) -> RowKind:
        return "log-probability" if self.of_class else "constant"

    @cached_property
    def totals(self) -> Array:
        """(C, S_p, …) n_cs."""
        return np.asarray(self.counts.sum(axis=-1))

    @cached_property
    def _has_zero(self) -> NDArray[np.bool_]:
        """(C, S_p, …) whether a level has no count."""
        return np.asarray((self.counts == 0).any(axis=-1))

    @cached_property
    def _of_level(self) -> Array:
        return np.asarray(self.counts.sum(axis=tuple(range(self.counts.ndim - 1))))

    @cached_property
    def shares(self) -> Array | float:
        """(S_j,) how much more than on average is added to each level; 1 where they share evenly."""
        return tilt(self._of_level) if self.rule.marginal else 1.0

    @cached_property
    def added(self) -> Array:
        """(C, S_p, …, 1), or (C, S_p, …, S_j) where the levels differ: the pseudo-counts."""
        return self.rule.added(self.counts, self.shares)

    @cached_property
    def log_cpt(self) -> Array:
        """(C, S_p, …, S_j) log conditional probabilities."""
        return self.rule.log_smoothed(self.counts, self.shares)

    @cached_property
    def unseen(self) -> Array:
        """(C, S_p, …) the log term of a value outside the domain, where it is smoothed: log a/(n_cs + a(S_j + 1))."""
        each = self.added.mean(axis=-1) if self.rule.summed else self.rule.on_average(self.counts)[..., 0]
        return log_smoothed(0.0, self.totals, each, self.domain.size + 1)

    @cached_property
    def lookup(self) -> Array:
        """`log_cpt` with one more place on each axis for a value outside the domain, smoothed: the column's own is
        `unseen`, a parent's has no counts, so that the base of the smoothing stands."""
        size = self.domain.size
        table = np.concatenate([self.log_cpt, self.unseen[..., None]], axis=-1)
        if not self.parents:
            return table
        alone = np.append(log(np.broadcast_to(self.shares, (size,)) / max(size, 1)), -np.log(size + 1))
        table = np.pad(table, [(0, 0), *((0, 1) for _ in self.parents), (0, 0)])
        for axis in range(1, 1 + len(self.parents)):
            np.moveaxis(table, axis, -2)[..., -1, :] = alone
        return table

    @cached_property
    def by_code(self) -> Array:
        """(C, 2 + S) the log terms without other parents by code: missing, the levels, unseen; 0 of what is not known.
        With a missing cell as a level it stands first, too."""
        return self._in_order_of_codes(self.log_cpt)

    def _in_order_of_codes(self, log_cpt: Array) -> Array:
        """(C, 2 + S) log terms (C, S_j) without other parents, as `by_code` has them."""
        nothing = np.zeros((len(self.counts), 1))
        levels = log_cpt[:, : len(self.variable.levels)]
        missing = log_cpt[:, -1:] if self.domain.missing_is_level else nothing
        unseen = self.unseen[:, None] if self.domain.smooth_unseen else nothing
        return np.concatenate([missing, levels, unseen], axis=1)

    # terms --------------------------------------------------------------------------------------------------------

    def _codes(self, X: Table) -> NDArray[Any]:
        """(n,) the places of the cells in `by_code`, whose last is that of a value unseen."""
        return np.asarray(np.minimum(X[self.variable.name], len(self.variable.levels) + 1))

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if self.parents:
            yield from super().rows(X)
            return
        codes = self._codes(X)
        if len(codes) and not self.domain.missing_is_level and (codes == MISSING).all():
            return  # a cell nobody knows has no term
        yield self.row, np.take(self.by_code, codes, axis=1).T

    def known(self, X: Table) -> NDArray[np.bool_]:
        return np.asarray(self.domain.places(X) != HIDDEN)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        if left is None or hidden:  # a row with a cell not known was not counted here
            return cells_of(self.lookup, self.axes, hidden, X)
        places = [d.places(X) for d in self.axes]
        inside = np.logical_and.reduce([p < d.size for p, d in zip(places, self.axes, strict=True)])
        rows = slice(None) if inside.all() else inside
        own, weight = left.own[rows] * self.of_class, left.weight[rows]
        cell = tuple(p[rows] for p in places)
        terms = cells_of(self.lookup, self.axes, hidden, X)
        if self.rule.marginal:
            terms[inside] = self._anew(own, weight, cell)
        else:
            here = (own, *cell[:-1])
            terms[inside, own] = self._without(self.counts[own, *cell], self.totals[here], self._has_zero[here], weight)
        return terms

    def known_terms(self, X: Table, left: LeftOutRows | None = None) -> Array:
        """As every leaf's; where no other parents part rows of one weight, those of a class share a table."""
        weight = None if left is None else left.one_weight
        if left is None or weight is None or self.parents or self.rule.marginal or not self.of_class:
            return super().known_terms(X, left)
        there = np.where(self.counts >= weight * (1 - 1e-9), self.counts, np.nan)
        whole = np.where(np.isnan(there), np.nan, self.totals[:, None])
        table = self._in_order_of_codes(self._without(there, whole, self._has_zero[:, None], weight))
        codes = self._codes(X)
        terms, own = np.take(self.by_code, codes, axis=1), table[left.own, codes]
        if np.isnan(own).any():
            raise never_counted(self.variable)
        terms[left.own, np.arange(X.n)] = own
        return terms.T

    def _without(self, count: Array, total: Array, has_zero: NDArray[np.bool_], weight: Array | float) -> Array:
        """The log terms of levels of these counts, in distributions of these totals, without a row of this weight."""
        count, total = (less_weight(a, weight, self.variable) for a in (count, total))
        each: Array | float = 0.0 if self.rule.smoothing == "none" else self.rule.amount
        if self.rule.smoothing == "zero-only":
            each = np.where(has_zero | (count == 0), each, 0.0)
        return log_smoothed(count, total, np.where((total == 0) & (each == 0), 1.0, each), self.domain.size)

    def _anew(self, own: NDArray[np.intp], weight: Array, cell: tuple[NDArray[np.intp], ...]) -> Array:
        """(n, C) the terms of rows of these classes and places, their distributions estimated without them, where the
        levels share the pseudo-counts as the column's values do; rows alike in class, places and weight are done once.
        """
        alike = len(weight) and (weight == weight[0]).all()
        weights, of = (weight[:1], 0) if alike else np.unique(weight, return_inverse=True)
        shape = (*self.counts.shape, max(len(weights), 1))
        first, back = _distinct(np.ravel_multi_index((own, *cell, of), shape), int(np.prod(shape)))
        own, cell, weight, every = own[first], tuple(a[first] for a in cell), weight[first], np.arange(len(first))
        counts = np.moveaxis(self.counts, 0, -2)[cell[:-1]] if self.parents else self.counts
        counts = np.broadcast_to(counts, (len(first), *self.counts.shape[:1], self.counts.shape[-1])).copy()
        here = (every, own, cell[-1])
        counts[here] = less_weight(counts[here], weight, self.variable)
        rest = np.repeat(self._of_level[None], len(first), axis=0)  # what the column's marginal loses, all classes lose
        rest[every, cell[-1]] = less_weight(rest[every, cell[-1]], weight, self.variable)
        return np.asarray(self.rule.log_smoothed(counts, tilt(rest)[:, None])[every, :, cell[-1]][back])

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        places = [int(d.places(X)[0]) for d in self.axes]
        if places[-1] == HIDDEN:
            return tuple(Given(1.0) for _ in self.counts)
        if any(place >= d.size for place, d in zip(places, self.axes, strict=True)):
            return tuple(Given(float(exp(v))) for v in np.moveaxis(self.lookup, 0, -1)[tuple(places)])
        here = tuple(places[:-1])
        counts, totals = np.moveaxis(self.counts, 0, -1)[tuple(places)], np.moveaxis(self.totals, 0, -1)[here]
        added = np.moveaxis(np.broadcast_to(self.added, self.counts.shape), 0, -2)[here]  # (C, S)
        return tuple(fraction_of(n, total, a, places[-1]) for n, total, a in zip(counts, totals, added, strict=True))

    @property
    def vacant(self) -> bool:
        return not self.domain.size

    @property
    def unsmoothed(self) -> bool:
        return bool((self.added.sum(axis=-1) == 0).any())

    def posterior(self, target: Variable) -> DirichletPosterior:
        added = np.full(self.counts.shape, JEFFREYS) if self.unsmoothed else self.added
        return DirichletPosterior(self.domain, self.parents, self.counts, np.broadcast_to(added, self.counts.shape))

    @property
    def free(self) -> int:
        return int(self.totals.size * (self.counts.shape[-1] - 1))

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        return dot(self.domain.counted(stats.counts.tables[self.variable.name], 1), self.log_cpt)

    def largest_log_likelihood(self, stats: SufficientStatistics) -> float:
        """Of a row whose parents are not all known, by its class alone."""
        size, value = self.counts.shape[-1], table_likelihood(self.counts)
        alone = self.domain.counted(stats.counts.tables[self.variable.name], 1)
        alone = alone if self.of_class else alone.sum(axis=0, keepdims=True)
        rest = alone - self.counts.reshape(len(self.counts), -1, size).sum(axis=1)  # its parents are not known
        return value + rest_likelihood(rest, alone) if self.parents else value

    def log_prior_density(self, added: Any = 0.0) -> float:
        """Dirichlet: Σ α log θ."""
        if self.rule.smoothing != "all" or self.rule.amount == 0:
            return 0.0
        return float((self.added * np.where(self.added > 0, self.log_cpt, 0.0)).sum())

    def distance(self, other: TableLeaf) -> float:
        """Of a probability."""
        return float(np.abs(exp(self.log_cpt) - exp(other.log_cpt)).max(initial=0.0))

    def information(self, log_prior: Array) -> float:
        return information_of_table(self.log_cpt, log_prior)


def _distinct(key: NDArray[np.intp], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A place of each distinct key, in their order, and for each key which of them it is; keys are below `size`. Where
    few keys are possible it needs no sorting, as `np.unique` does."""
    if size > len(key):
        return np.unique(key, return_index=True, return_inverse=True)[1:]
    place = np.full(size, -1)
    place[key] = np.arange(len(key))
    there = np.flatnonzero(place >= 0)
    rank = np.empty(size, dtype=np.intp)
    rank[there] = np.arange(len(there))
    return place[there], rank[key]


def table_likelihood(counts: Array) -> float:
    """Σ n log n/N over the last axis's distributions; a count of 0 adds nothing."""
    return float(rel_entr(counts, counts.sum(axis=-1, keepdims=True)).sum())


def rest_likelihood(rest: Array, alone: Array) -> float:
    """Σ r log n/N for the part `rest` (…, S) of counts `alone` (…, S)."""
    log_p = log(alone) - log(np.maximum(alone.sum(axis=-1, keepdims=True), 1e-300))
    return dot(np.where(rest > 1e-9, rest, 0.0), log_p)


@dataclass(frozen=True)
class DirichletPosterior:
    """P(x_j | c, pa) of one table: Dir(n + a), independently for each class and each cell of the parents.

    `counts` and `added` (C, S_p, …, S_j); C is 1 where the class is no parent, as of the class's own table.

    >>> rain = Domain(Variable("rain", "categorical", ("no", "yes")))
    >>> posterior = DirichletPosterior(rain, (), np.array([[6.0, 2.0]]), np.ones((1, 2)))
    >>> posterior.mean.tolist(), posterior.variance.round(4).tolist(), posterior.interval().high.round(4).tolist()
    ([[0.7, 0.3]], [[0.0191, 0.0191]], [[0.9251, 0.6001]])
    """

    domain: Domain
    parents: tuple[Domain, ...]
    counts: Array
    added: Array

    @property
    def variable(self) -> Variable:
        return self.domain.variable

    @cached_property
    def alpha(self) -> Array:
        """(C, S_p, …, S_j) the parameters n + a."""
        return self.counts + self.added

    @property
    def mean(self) -> Array:
        """(C, S_p, …, S_j) what the smoothed estimate is."""
        return normalized(self.alpha)

    @property
    def variance(self) -> Array:
        """(C, S_p, …, S_j) m(1 − m)/(A + 1), A the sum of a row's parameters."""
        mean = self.mean
        return np.asarray(mean * (1.0 - mean) / (self.alpha.sum(axis=-1, keepdims=True) + 1.0))

    def interval(self, level: float = 0.95) -> Interval:
        """The probability of each cell: quantiles of Beta(α_s, A − α_s), exact."""
        return beta_interval(self.alpha, self.alpha.sum(axis=-1, keepdims=True) - self.alpha, level)

    @cached_property
    def _betas(self) -> tuple[Array, Array]:
        """The two parameters of each cell's Beta, with one more place on each axis for a value outside the domain."""
        parents = [(0, 1) for _ in self.parents]
        counts = np.pad(self.counts, [(0, 0), *parents, (0, 1)])
        added = np.concatenate([self.added, self.added.mean(axis=-1, keepdims=True)], axis=-1)
        added = np.pad(added, [(0, 0), *parents, (0, 0)], mode="edge")
        alpha = counts + added
        rest = alpha[..., :-1].sum(axis=-1, keepdims=True) - alpha
        rest[..., -1] += alpha[..., -1]  # the reserved level is one more than the others
        return alpha, np.maximum(rest, 0.0)

    def _at(self, X: Table, hidden: tuple[str, ...]) -> tuple[Any, ...]:
        axes = (*self.parents, self.domain)
        here = (slice(0, d.size) if d.variable.name in hidden else int(d.places(X)[0]) for d in axes)
        return (slice(None), *here)

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) log P of the cells that the row X points at, in n draws. Where the
        column's own cell is not `hidden`, one cell of each distribution is asked alone, and that is a Beta."""
        cell, (alpha, rest) = self._at(X, hidden), self._betas
        own = log_gamma(alpha[cell], n, rng)
        if self.variable.name in hidden:
            return own - log_sum(own)[..., None]
        return own - log_sum(np.stack([own, log_gamma(rest[cell], n, rng)]), axis=0)

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(x|c_i) − log P(x|c_j), exact: digammas and trigammas of Beta's parameters."""
        if len(self.counts) == 1:
            return 0.0, 0.0
        cell, (alpha, rest) = self._at(X, ()), self._betas
        a, whole = alpha[cell][[i, j]], (alpha + rest)[cell][[i, j]]
        mean = digamma(a) - digamma(whole)
        return float(mean[0] - mean[1]), float((polygamma(1, a) - polygamma(1, whole)).sum())
