"""The tables of a compiled naive Bayes: what one column adds to log P(c, x), by look-up or from a few coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayes_engine.logspace import Array
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable


def times(weight: float, terms: Array) -> Array:
    """w t with 0·(−inf) = 0."""
    return weight * terms if weight else np.zeros_like(terms)


@dataclass(frozen=True)
class LevelTable:
    """log P(x_j|c) of a discrete column: `table` (C, 2 + S), of a missing cell, of the levels, of any other value; with
    a weight, w times that."""

    variable: Variable
    table: Array

    def terms(self, X: Table) -> Array:
        """(C, n) by look-up."""
        return np.asarray(self.table[:, np.minimum(X[self.variable.name], self.table.shape[1] - 1)])


@dataclass(frozen=True)
class NormalTable:
    """−½ w (((z − centre_c)/sd_c)² + spread_c) with z = x − pivot: w log N(x; μ_c, σ_c²), arrays (C,), spread log 2πσ²,
    w = 1 unless the column has a weight. The square is completed, for in η₁z + η₂z² + b the digits cancel where a class
    is narrow and far from the pivot."""

    variable: Variable
    pivot: float
    centre: Array
    sd: Array
    spread: Array
    weight: float = 1.0

    def terms(self, X: Table) -> Array:
        """(C, n); a missing cell says nothing."""
        x = X[self.variable.name]
        with np.errstate(over="ignore"):
            z = (x - self.pivot - self.centre[:, None]) / self.sd[:, None]
            terms = -0.5 * (z * z + self.spread[:, None])
        return np.where(np.isnan(x), 0.0, times(self.weight, terms))

    @property
    def natural(self) -> Array:
        """(3, C) b, η₁ = wμ/σ² and η₂ = −w/(2σ²), of w log N = b + η₁ z + η₂ z²."""
        variance = self.sd**2
        return self.weight * np.stack(
            [-0.5 * (self.spread + self.centre**2 / variance), self.centre / variance, -0.5 / variance]
        )


@dataclass(frozen=True)
class RateTable:
    """w (x log λ_c − λ_c − log x!): w log P(x|c) of a count, arrays (C,)."""

    variable: Variable
    rate: Array
    log_rate: Array
    weight: float = 1.0

    def terms(self, X: Table) -> Array:
        """(C, n); a missing cell says nothing, and an infinite one is nowhere."""
        x = X[self.variable.name]
        with np.errstate(invalid="ignore", over="ignore"):
            some = np.where(x == 0, 0.0, x * self.log_rate[:, None])
            terms = some - self.rate[:, None] - gammaln(x + 1.0)
        terms = np.where(np.isnan(terms), -np.inf, terms)
        return np.where(np.isnan(x), 0.0, times(self.weight, terms))

    @property
    def natural(self) -> Array:
        """(3, C) b = −wλ, η₁ = w log λ and η₂ = 0, of w log P = b + η₁ x − w log x!."""
        return np.stack([-self.weight * self.rate, times(self.weight, self.log_rate), np.zeros_like(self.rate)])


AnyTable = LevelTable | NormalTable | RateTable


class ReferenceCase(NamedTuple):
    """A test vector: cells by column, None where missing; the model's posterior (C,), None where it has none."""

    cells: dict[str, Any]
    posterior: tuple[float, ...] | None
