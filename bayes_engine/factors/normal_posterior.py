"""The posterior of a Gaussian's mean and variance, from the moments of its rows: intervals, draws, and the spread of a
log-ratio.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, digamma, polygamma, stdtrit

from bayes_engine.factors import normal_log_density
from bayes_engine.factors.leaf import (
    Domain,
)
from bayes_engine.factors.posterior import Interval
from bayes_engine.logspace import Array, log
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class NormalPosterior:
    """μ and σ² of each class, or of each cell (c, pa): σ² = `square`/χ²_ν, μ = `centre` + z σ/√κ (Gelman et al.,
    §3.2), all (C, S_p + 1, …), the last place of a parent for an unseen value. `centre` is an offset from the pivot.

    Where `degrees` is 0 there is no posterior of σ²: it stays the estimated `fixed`; where `kappa` is 0, so does μ.
    With `tied` the classes have one σ².

    >>> income = Variable("income", "continuous", pivot=100.0)
    >>> of = NormalPosterior(income, (), *(np.array([v]) for v in (10.0, 7.0, 6.0, 17850.0, 2550.0)))
    >>> [float(v[0].round(1)) for v in (*of.mean_interval(), *of.variance_interval())]
    [59.6, 160.4, 1235.3, 14426.1]
    """

    variable: Variable
    parents: tuple[Domain, ...]
    centre: Array
    kappa: Array
    degrees: Array
    square: Array
    fixed: Array
    tied: bool = False

    @property
    def mean(self) -> Array:
        """The means, in the column's unit."""
        return self.centre + self.variable.pivot

    def mean_interval(self, level: float = 0.95) -> Interval:
        """μ: Student's t with ν degrees; a normal where σ² is fixed; without end where nothing was seen."""
        free = self.degrees > 0
        nu = np.where(free, self.degrees, 1.0)
        t = np.where(free, stdtrit(nu, (1 + level) / 2), stdtrit(np.inf, (1 + level) / 2))
        spread = np.where(free, self.square / nu, self.fixed)
        half = np.where(self.kappa > 0, t * np.sqrt(spread / np.where(self.kappa > 0, self.kappa, 1.0)), np.inf)
        return Interval(self.mean - half, self.mean + half)

    def variance_interval(self, level: float = 0.95) -> Interval:
        """σ²: `square` over the quantiles of χ²_ν; from 0 without end where it has no posterior."""
        free = self.degrees > 0
        nu = np.where(free, self.degrees, 1.0)
        low, high = (self.square / chdtri(nu, q) for q in ((1 - level) / 2, (1 + level) / 2))
        return Interval(np.where(free, low, 0.0), np.where(free, high, np.inf))

    def _here(self, X: Table, hidden: tuple[str, ...]) -> tuple[float, list[Array]]:
        """The value as an offset from the pivot, and the five arrays at the cells that the row points at."""
        parents = (slice(0, d.size) if d.variable.name in hidden else int(d.places(X)[0]) for d in self.parents)
        cell = (slice(None), *parents)
        arrays = (self.centre, self.kappa, self.degrees, self.square, self.fixed)
        return float(X[self.variable.name][0]) - self.variable.pivot, [a[cell] for a in arrays]

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) log N(x; μ, σ²) in n draws."""
        x, (centre, kappa, degrees, square, fixed) = self._here(X, hidden)
        free = degrees > 0
        nu = np.where(free, degrees, 1.0)
        nu = nu[:1] if self.tied else nu
        chi = np.maximum(2.0 * rng.standard_gamma(nu / 2, (n, *nu.shape)), np.finfo(float).tiny)
        variance = np.where(free, square / chi, fixed)
        z = rng.standard_normal((n, *centre.shape))
        mean = centre + np.where(kappa > 0, z * np.sqrt(variance / np.where(kappa > 0, kappa, 1.0)), 0.0)
        return normal_log_density(np.asarray(x), mean, variance)

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log p(x|c_i) − log p(x|c_j), exact: with W = χ²_ν and z normal, a log density is
        ½ log W − ½ (d √(W/square) − z/√κ)² and constants, d the distance of x from `centre`."""
        x, arrays = self._here(X, ())
        centre, kappa, degrees, square, fixed = (a[[i, j]] for a in arrays)
        free = degrees > 0
        nu, spread = np.where(free, degrees, 1.0), np.where(free, square, 1.0)
        precision = np.where(free, nu / spread, 1.0 / fixed)  # the mean of 1/σ²
        d2, loose = (x - centre) ** 2, np.divide(1.0, kappa, out=np.zeros(2), where=kappa > 0)
        both = np.where(free, digamma(nu / 2) + np.log(2.0) - log(spread), -log(fixed))
        mean = 0.5 * (both - d2 * precision - loose)
        shared = d2 * precision * loose + loose**2 / 2
        if self.tied:
            apart = free[0] * (d2[0] - d2[1]) ** 2 * precision[0] ** 2 / (2 * nu[0])
            return float(mean[0] - mean[1]), float(shared.sum() + apart)
        own = polygamma(1, nu / 2) / 4 + d2**2 * precision**2 / (2 * nu) - d2 * precision / nu
        return float(mean[0] - mean[1]), float((shared + free * own).sum())
