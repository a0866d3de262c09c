"""Counts that come at a constant rate: the Poisson likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from bayes_engine.factors import Factor, Row
from bayes_engine.logspace import Array
from bayes_engine.priors import Dirichlet, Smoothing
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class PoissonFactor(Factor):
    """log P(x|c) = x log λ_c − λ_c − log x!, with λ_c = (Σx + a_c x̄)/(n_c + a_c); a missing cell contributes 0.

    `n` (C,) rows with a known cell, `total` (C,) their sums, `added` (C,) imagined rows with the column's `mean` x̄:
    λ_c is the posterior mean under the Gamma prior with shape a_c x̄ and rate a_c. Counts have no other unit than one.

    >>> from bayes_engine.table.schema import Schema
    >>> calls = Variable("calls", "count", likelihood="poisson")
    >>> factor = PoissonFactor(calls, "busy", np.array([2.0]), np.array([6.0]), np.array([0.0]), 3.0)
    >>> factor.log(Table(Schema((calls,)), (np.array([0.0, 3.0]),), 2)).round(4).tolist()
    [[-3.0], [-1.4959]]
    """

    variable: Variable
    target: str
    n: Array
    total: Array
    added: Array
    mean: float

    @property
    def rate(self) -> Array:
        """(C,) λ_c."""
        return (self.total + self.added * self.mean) / (self.n + self.added)

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        name = self.variable.name
        x = X[name]
        if len(x) and np.isnan(x).all():
            return
        yield Row(name, name, (self.target,), "log-probability"), self.at(x)

    def at(self, x: Array) -> Array:
        """(n, C) the log probabilities of x (n,)."""
        rate = self.rate[:, None]
        with np.errstate(invalid="ignore", over="ignore"):
            term = xlogy(x, rate) - rate - gammaln(x + 1.0)
        term = np.where(np.isnan(term), -np.inf, term)
        term[:, np.isnan(x)] = 0.0
        return np.asarray(term.T)


def poisson_factor(
    variable: Variable, target: str, column: ColumnValues, prior: float | Dirichlet, smoothing: Smoothing
) -> PoissonFactor:
    """The rates of these counts: "all" smooths every class by α imagined rows with the column's mean, "zero-only" the
    classes without a count, "none" none; a class without rows has the column's mean in every case.

    >>> seen = ColumnValues(np.array([0.0, 3.0]), np.array([[2.0, 0.0], [0.0, 2.0]]))
    >>> poisson_factor(Variable("calls", "count"), "busy", seen, 1.0, "all").rate.tolist()
    [0.5, 2.5]
    """
    n, total = column.total, column.sum
    mean = float(total.sum() / n.sum()) if n.sum() > 0 else 0.0
    wanted = {"all": np.ones_like(n), "zero-only": (total == 0).astype(float), "none": np.zeros_like(n)}
    rows = prior.per_cell(len(n)) if isinstance(prior, Dirichlet) else prior
    added = rows * wanted[smoothing]
    return PoissonFactor(variable, target, n, total, np.where((n == 0) & (added == 0), 1.0, added), mean)
