"""Counts that come at a constant rate: the Poisson likelihood, the Gamma posterior of its rate. scikit-learn has no
naive Bayes of rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln, polygamma, xlogy

from bayes_engine.factors.leaf import BY_DEFAULT, Estimation, Form, Numbers, information_of_table
from bayes_engine.factors.likelihoods import Likelihood, ValuesLeaf, register
from bayes_engine.factors.posterior import JEFFREYS, Interval, log_gamma
from bayes_engine.factors.sources import Estimated, Source
from bayes_engine.logspace import Array, exp, log
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import less
from bayes_engine.stats.values import ColumnValues, LeftOutValues
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

KEPT = 1e-3
"""A difference that keeps less than this share of a sum has too few digits: then the rest is summed."""
MOST_COUNTS = 2**20
"""Of more counts than this every second, third, … is taken as the support."""


@dataclass(frozen=True)
class Rate(Estimated):
    """Poisson: λ^x e^−λ/x!, of the `rate` λ = (total + added · mean)/(n + added): n rows with a known count and `added`
    pseudo-observations with the mean of the column."""

    x: float
    rate: float
    n: float
    total: float
    added: float
    mean: float


@dataclass(frozen=True)
class PoissonLeaf(ValuesLeaf):
    """log P(x|c) = x log λ_c − λ_c − log x!, with λ_c = (Σx + a_c x̄)/(n_c + a_c); a missing cell has 0.

    `n` (C,) rows with a known cell, `total` (C,) their sums, `added` (C,) pseudo-observations with the column's mean
    x̄: λ_c is the posterior mean under the Gamma prior with shape a_c x̄ and rate a_c. Counts have no unit but one.

    >>> from bayes_engine.table.schema import Schema
    >>> calls = Variable("calls", "count", likelihood="poisson")
    >>> factor = PoissonLeaf(calls, "busy", np.array([2.0]), np.array([6.0]), np.array([0.0]), 3.0)
    >>> factor.log(Table(Schema((calls,)), (np.array([0.0, 3.0]),), 2)).round(4).tolist()
    [[-3.0], [-1.4959]]
    """

    form: ClassVar[Form] = "rate"
    numbers: ClassVar[Numbers] = "rates"
    variable: Variable
    target: str
    n: Array
    total: Array
    added: Array
    mean: float
    estimation: Estimation = BY_DEFAULT

    @property
    def rate(self) -> Array:
        """(C,) λ_c."""
        return (self.total + self.added * self.mean) / (self.n + self.added)

    def at(self, x: Array) -> Array:
        """(n, C) the log probabilities of x (n,)."""
        return _log_poisson(x[:, None], self.rate)

    @classmethod
    def estimated(cls, variable: Variable, target: str, column: ColumnValues, estimation: Estimation) -> PoissonLeaf:
        """Smoothing "all" adds to every class α pseudo-observations with the column's mean, "zero-only" to the classes
        without a count, "none" to none; a class without rows has the column's mean in every case.

        >>> seen = ColumnValues(np.array([0.0, 3.0]), np.array([[2.0, 0.0], [0.0, 2.0]]))
        >>> calls = Variable("calls", "count", likelihood="poisson")
        >>> PoissonLeaf.estimated(calls, "busy", seen, BY_DEFAULT).rate.tolist()
        [0.5, 2.5]
        """
        n, total = column.total, column.sum
        added, mean = _pseudo_observations(n, total, estimation)
        return cls(variable, target, n, total, added, float(mean[0]), estimation)

    def without(self, column: ColumnValues, gone: LeftOutValues) -> Array:
        each = np.arange(len(gone.cls)), gone.cls
        n, total = (np.repeat(a[None], len(gone.cls), axis=0) for a in (column.total, column.sum))
        before = n[each], total[each]
        n[each] = less(n[each], gone.weight)
        total[each] -= gone.weight * gone.value
        short = (n[each] < KEPT * before[0]) | (total[each] < KEPT * before[1])
        for i in np.flatnonzero(short):
            rest = gone.rest(column, int(i))
            n[i], total[i] = rest.total, rest.sum
        added, mean = _pseudo_observations(n, total, self.estimation)
        return _log_poisson(gone.value[:, None], (total + added * mean) / (n + added))

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        x = float(X[self.variable.name][0])
        columns = (self.at(np.array([x]))[0], self.rate, self.n, self.total, self.added)
        behind = (map(float, of_class) for of_class in zip(*columns, strict=True))
        return tuple(Rate(value, x, rate, n, total, added, self.mean) for value, rate, n, total, added in behind)

    @property
    def unsmoothed(self) -> bool:
        return bool((self.added == 0).any())

    def posterior(self, target: Variable) -> GammaPosterior:
        if self.unsmoothed:  # Jeffreys' prior of a rate: Gamma(½, 0); a class without a row keeps its own
            return GammaPosterior(self.variable, self.total + JEFFREYS, np.where(self.n > 0, self.n, 1.0))
        return GammaPosterior(self.variable, self.total + self.added * self.mean, self.n + self.added)

    @property
    def free(self) -> int:
        return len(self.n)

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        column = stats.values.columns[self.variable.name]
        total = float((xlogy(column.sum, self.rate) - column.total * self.rate).sum())
        return total - float((column.weight @ gammaln(column.points + 1.0)).sum())

    def log_prior_density(self, added: Any = 0.0) -> float:
        """Gamma with a pseudo-observations of the column's mean x̄: a x̄ log λ − a λ."""
        if self.estimation.smoothing != "all" or self.estimation.prior.amount == 0:
            return 0.0
        return float((self.added * (xlogy(self.mean, self.rate) - self.rate)).sum())

    def distance(self, other: PoissonLeaf) -> float:
        """Of a rate, in standard deviations."""
        change = (self.rate - other.rate) / np.sqrt(np.maximum(np.maximum(self.rate, other.rate), 1e-300))
        return float(np.abs(change).max(initial=0.0))

    def information(self, log_prior: Array) -> float:
        last = float(self.rate.max())
        counts = np.arange(np.ceil(last + 12.0 * np.sqrt(last) + 30.0))
        return information_of_table(self.at(counts).T, log_prior)

    def support(self, nats: float) -> Array:
        """Bernstein's inequality, P(|k − λ| ≥ t) ≤ 2 exp(−t²/(2(λ + t/3))); of too many counts every second, third, …:
        their standard deviations are then some 10⁴ counts.

        >>> one = PoissonLeaf(Variable("calls", "count"), "busy", np.ones(1), np.zeros(1), np.zeros(1), 0.0)
        >>> one.support(45.0).tolist() == list(range(31))
        True
        """
        reach = nats / 3.0 + np.sqrt(nats**2 / 9.0 + 2.0 * nats * self.rate)
        low, high = np.maximum(np.floor(self.rate - reach), 0.0), np.ceil(self.rate + reach)
        step = np.ceil((high - low + 1.0).sum() / MOST_COUNTS)
        ends = zip(low, high, strict=True)
        return np.unique(np.concatenate([np.arange(a - a % step, b + 1.0, step) for a, b in ends]))


def _pseudo_observations(n: Array, total: Array, estimation: Estimation) -> tuple[Array, Array]:
    """(..., C) how many are added to the classes, and (..., 1) the mean of the column that they have."""
    rows = n.sum(axis=-1, keepdims=True)
    mean = total.sum(axis=-1, keepdims=True) / np.where(rows > 0, rows, 1.0)
    wanted = {"all": np.ones_like(n), "zero-only": (total == 0).astype(float), "none": np.zeros_like(n)}
    added = estimation.prior.per_cell(n.shape[-1]) * wanted[estimation.smoothing]
    return np.where((n == 0) & (added == 0), 1.0, added), mean


def _log_poisson(x: Array, rate: Array) -> Array:
    """log P(x; λ), 0 where x is NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        term = xlogy(x, rate) - rate - gammaln(x + 1.0)
    return np.where(np.isnan(x), 0.0, np.where(np.isnan(term), -np.inf, term))


@dataclass(frozen=True)
class GammaPosterior:
    """λ of each class of a Poisson column: Gamma with `shape` Σx + a x̄ and `rate` n + a, each (C,).

    >>> calls = GammaPosterior(Variable("calls", "count"), np.array([6.0]), np.array([2.0]))
    >>> calls.mean.tolist(), [float(v[0].round(3)) for v in calls.interval()]
    ([3.0], [1.101, 5.834])
    """

    variable: Variable
    shape: Array
    rate: Array

    @property
    def mean(self) -> Array:
        return self.shape / self.rate

    @property
    def variance(self) -> Array:
        return self.shape / self.rate**2

    def interval(self, level: float = 0.95) -> Interval:
        """λ: quantiles of the Gamma."""
        return Interval(*(gammaincinv(self.shape, q) / self.rate for q in ((1 - level) / 2, (1 + level) / 2)))

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C) log P(x; λ) in n draws."""
        x = float(X[self.variable.name][0])
        log_rate = log_gamma(self.shape, n, rng) - log(self.rate)
        return np.asarray((x * log_rate if x else 0.0) - exp(log_rate) - gammaln(x + 1.0))

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(x|c_i) − log P(x|c_j), exact: of x log λ − λ, whose covariance is that of a Gamma
        variate and its logarithm."""
        x, s, r = float(X[self.variable.name][0]), self.shape[[i, j]], self.rate[[i, j]]
        mean = (x * (digamma(s) - log(r)) if x else np.zeros(2)) - s / r
        variance = s / r**2 + (x**2 * polygamma(1, s) - 2 * x / r if x else 0.0)
        return float(mean[0] - mean[1]), float(variance.sum())


register(Likelihood("poisson", PoissonLeaf.estimated, whole=True, soft=True))
