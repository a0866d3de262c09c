"""A likelihood from outside: the negative binomial, with all that the library and the pages ask of one. One module, one
registration, its words; `registered` takes them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, polygamma, xlog1py, xlogy
from scipy.stats import nbinom

from bayes_engine.factors.leaf import BY_DEFAULT, Estimation
from bayes_engine.factors.likelihoods import OF_VALUES, Likelihood, ValuesLeaf, register
from bayes_engine.factors.posterior import JEFFREYS, Interval, beta_interval, log_gamma
from bayes_engine.factors.sources import Parametric, Quotient, Source
from bayes_engine.logspace import Array, exp, log_sum
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import TRAITS
from bayes_engine.table.schema import Variable
from pages.active import words

NAME = "negative-binomial"
R = 2.0
"""The dispersion, which is stated."""


@dataclass(frozen=True)
class NegativeBinomialLeaf(ValuesLeaf):
    """log P(x|c) = log C(x + r − 1, x) + r log p_c + x log(1 − p_c), p_c = (r n + r a)/(r n + r a + Σx + a x̄): the mean
    of Beta(r(n + a), Σx + a x̄), a pseudo-observations having the column's mean x̄."""

    variable: Variable
    target: str
    n: Array
    total: Array
    added: Array
    mean: float
    estimation: Estimation = BY_DEFAULT

    @classmethod
    def estimated(
        cls, variable: Variable, target: str, column: ColumnValues, estimation: Estimation
    ) -> NegativeBinomialLeaf:
        n, total = column.total, column.sum
        mean = float(total.sum() / n.sum()) if n.sum() > 0 else 0.0
        wanted = {"all": np.ones_like(n), "zero-only": (total == 0).astype(float), "none": np.zeros_like(n)}
        added = estimation.prior.per_cell(len(n)) * wanted[estimation.smoothing]
        return cls(variable, target, n, total, np.where((n == 0) & (added == 0), 1.0, added), mean, estimation)

    @property
    def p(self) -> Array:
        """(C,) the probability of a success."""
        successes = R * (self.n + self.added)
        return successes / (successes + self.total + self.added * self.mean)

    def at(self, x: Array) -> Array:
        p = self.p[:, None]
        with np.errstate(invalid="ignore"):
            term = gammaln(x + R) - gammaln(R) - gammaln(x + 1.0) + xlogy(R, p) + xlog1py(x, -p)
        term = np.where(np.isnan(term), -np.inf, term)
        term[:, np.isnan(x)] = 0.0
        return np.asarray(term.T)

    def sources(self, X: Table) -> tuple[Source, ...]:
        x = float(X[self.variable.name][0])
        found = []
        for value, n, total, a in zip(self.at(np.array([x]))[0], self.n, self.total, self.added, strict=True):
            above = tuple(float(v) for v in (R * n, R * a) if v)
            p = Quotient("p", above, (*above, *(float(v) for v in (total, a * self.mean) if v)))
            found.append(Parametric(float(value), NAME, x, float(n), (("r", R),), (p,)))
        return tuple(found)

    @property
    def unsmoothed(self) -> bool:
        return bool((self.added == 0).any())

    @property
    def free(self) -> int:
        return len(self.n)

    @property
    def estimated_parameters(self) -> tuple[tuple[str, Array], ...]:
        return ("p", self.p), ("r", np.full(len(self.n), R))

    def posterior(self, target: Variable) -> BetaPosterior:
        if self.unsmoothed:
            return BetaPosterior(self.variable, R * self.n + JEFFREYS, self.total + JEFFREYS)
        return BetaPosterior(self.variable, R * (self.n + self.added), self.total + self.added * self.mean)

    def log_prior_density(self, added: Any = 0.0) -> float:
        if self.estimation.smoothing != "all" or self.estimation.prior.amount == 0:
            return 0.0
        return float((self.added * (xlogy(R, self.p) + xlog1py(self.mean, -self.p))).sum())

    def distance(self, other: NegativeBinomialLeaf) -> float:
        return float(np.abs(self.p - other.p).max(initial=0.0))

    def support(self, nats: float) -> Array:
        last = nbinom.isf(exp(np.array(-nats)), R, np.minimum(self.p, 1.0 - 1e-12)).max()
        return np.arange(last + 2.0)


@dataclass(frozen=True)
class BetaPosterior:
    """p_c ~ Beta(a_c, b_c)."""

    variable: Variable
    a: Array
    b: Array

    @property
    def mean(self) -> Array:
        return self.a / (self.a + self.b)

    def interval(self, level: float = 0.95) -> Interval:
        return beta_interval(self.a, self.b, level)

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        x = float(X[self.variable.name][0])
        both = np.stack([log_gamma(self.a, n, rng), log_gamma(self.b, n, rng)])
        log_p, log_q = both - log_sum(both, axis=0)
        return np.asarray(gammaln(x + R) - gammaln(R) - gammaln(x + 1.0) + R * log_p + (x * log_q if x else 0.0))

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        x, a, b = float(X[self.variable.name][0]), self.a[[i, j]], self.b[[i, j]]
        mean = R * digamma(a) + (x * digamma(b) if x else 0.0) - (R + x) * digamma(a + b)
        variance = R**2 * polygamma(1, a) + (x**2 * polygamma(1, b) if x else 0.0) - (R + x) ** 2 * polygamma(1, a + b)
        return float(mean[0] - mean[1]), float(variance.sum())


@contextmanager
def registered() -> Iterator[None]:
    """The likelihood and its words, for as long as this lasts."""
    register(Likelihood(NAME, NegativeBinomialLeaf.estimated, whole=True, soft=True))
    words.REGISTERED[NAME] = ("Negative binomial", "Counts that vary more than a Poisson's, with dispersion r = 2.")
    try:
        yield
    finally:
        del OF_VALUES[NAME], TRAITS[NAME], words.REGISTERED[NAME]
