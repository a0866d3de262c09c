"""Mixtures of Gaussians as EM sees them: rows in standard units, a prior, and what the steps have in common.

A missing cell is hidden too: with full covariances it enters by its conditional mean and covariance given the cells
seen (Ghahramani & Jordan 1994), with diagonal ones it has no term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayes_engine.em import Collapse, Expected, memberships
from bayes_engine.factors import normal_log_density
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.stats.moments import Moments
from bayes_engine.stats.scatter import Scatter

Form = Literal["full", "tied", "diagonal", "spherical"]
FORMS: tuple[Form, ...] = ("full", "tied", "diagonal", "spherical")


class Components(NamedTuple):
    """Θ in standard units: `weights` (K,), `means` (K, d), `spread`: covariances (K, d, d), or (1, d, d) if tied, or
    variances (K, d)."""

    weights: Array
    means: Array
    spread: Array


class MixtureParameters(NamedTuple):
    """Θ in the data's units: `weights` (K,), `means` (K, d), `covariances` as `form` has them: "full" (K, d, d), "tied"
    (d, d), "diagonal" (K, d), "spherical" (K,)."""

    weights: Array
    means: Array
    covariances: Array
    form: Form = "full"

    def full(self) -> Array:
        """(K, d, d) every component's covariance.

        >>> MixtureParameters(np.ones(1), np.zeros((1, 2)), np.array([4.0]), "spherical").full().tolist()
        [[[4.0, 0.0], [0.0, 4.0]]]
        """
        k, d = self.means.shape
        if self.form in ("full", "tied"):
            return np.broadcast_to(self.covariances, (k, d, d)).copy()
        each = self.covariances if self.form == "diagonal" else np.repeat(self.covariances[:, None], d, axis=1)
        return each[:, :, None] * np.eye(d)


@dataclass(frozen=True)
class Conditional:
    """The cells of one row that are missing, given those seen: a mixture again. `columns` (m,) say which they are,
    `weights` (K,) = P(k|seen), `means` (K, m), `covariances` (K, m, m)."""

    columns: tuple[str, ...]
    weights: Array
    means: Array
    covariances: Array

    @property
    def sds(self) -> Array:
        """(K, m) standard deviations within the components."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def mean(self) -> Array:
        """(m,) the expectation: what EM fills in."""
        return np.asarray(self.weights @ self.means)

    @property
    def sd(self) -> Array:
        """(m,) the standard deviation of the whole mixture."""
        return np.sqrt(self.weights @ (self.sds**2 + (self.means - self.mean) ** 2))

    def density(self, column: str, values: Any) -> Array:
        """(len,) p(value|seen) of one missing column."""
        j = self.columns.index(column)
        x = np.asarray(values, dtype=float)
        terms = normal_log_density(x[:, None], self.means[:, j], self.sds[:, j] ** 2)
        return exp(log_sum(terms + log(self.weights), axis=1))


M = TypeVar("M", Scatter, Moments)


class Gathered(NamedTuple, Generic[M]):
    """Expected statistics: rows of each component (K,), and their scatter (full, tied) or their moments, which know
    the weight of every column's cells."""

    weight: Array
    moments: M


@dataclass(frozen=True)
class Rows:
    """n rows in standard units: `z` (d, n) = (x − center)/scale, 0 where a cell is missing; `seen` (d, n), None if
    nothing is missing."""

    z: Array
    seen: NDArray[np.bool_] | None
    center: Array
    scale: Array

    @property
    def n(self) -> int:
        return int(self.z.shape[1])

    @cached_property
    def log_scale(self) -> float:
        """Σ log scale over the cells seen: what a density in standard units lacks to one in the data's."""
        each = np.full(len(self.z), float(self.n)) if self.seen is None else self.seen.sum(axis=1)
        return float(each @ np.log(self.scale))

    @cached_property
    def patterns(self) -> tuple[tuple[NDArray[np.bool_], NDArray[np.intp]], ...]:
        """(columns seen (d,), rows) for each pattern of missing cells; complete rows first."""
        if self.seen is None:
            return ((np.ones(len(self.z), dtype=bool), np.arange(self.n)),)
        kinds, of = np.unique(self.seen.T, axis=0, return_inverse=True)
        of = np.ravel(of)
        return tuple((kinds[i], np.flatnonzero(of == i)) for i in range(len(kinds) - 1, -1, -1))

    @cached_property
    def covariance(self) -> Array:
        """(d, d) the data's own, a missing cell standing at the mean with the column's variance."""
        absent = np.zeros(len(self.z)) if self.seen is None else 1.0 - self.seen.mean(axis=1)
        return np.asarray(self.z @ self.z.T / self.n + np.diag(absent))


def standardized(X: Array, center: Array | None = None, scale: Array | None = None) -> Rows:
    """The rows X (n, d) in standard units: their own, or given ones. A constant column keeps its unit.

    >>> rows = standardized(np.array([[1.0, 5.0], [3.0, np.nan]]))
    >>> rows.z.tolist(), rows.scale.tolist()
    ([[-1.0, 1.0], [0.0, 0.0]], [1.0, 1.0])
    """
    x = np.array(X.T, dtype=float, order="C")
    known = ~np.isnan(x)
    seen = None if known.all() else known
    if center is None or scale is None:
        count = np.maximum(known.sum(axis=1), 1)
        center = np.where(known, x, 0.0).sum(axis=1) / count
        x -= center[:, None]
        center = center + (rest := np.where(known, x, 0.0).sum(axis=1) / count)
        x -= rest[:, None]
        spread = np.sqrt((np.where(known, x, 0.0) ** 2).sum(axis=1) / count)
        scale = np.where(spread > 1e-14 * np.abs(center), spread, 1.0)
    else:
        x -= center[:, None]
    x /= scale[:, None]
    x[~known] = 0.0
    return Rows(x, seen, center, scale)


class Wishart(NamedTuple):
    """An inverse-Wishart prior: `freedom` ν and `matrix` Λ (d, d), in standard units."""

    freedom: float
    matrix: Array


def default_prior(rows: Rows, k: int, form: Form) -> Wishart:
    """Fraley & Raftery 2007: ν = d + 2 and Λ = the data's covariance / K^(2/d); variances on their own have d = 1."""
    d = len(rows.z)
    size = d if form in ("full", "tied") else 1
    return Wishart(size + 2.0, rows.covariance / k ** (2.0 / d))


class Piece(NamedTuple):
    """A block of rows at work: which, `joint` (K, b) log p(x seen, k), `hidden` (K,) the entropy of a row's missing
    cells given the component, and `gather`, which takes in the responsibilities (K, b)."""

    where: Any
    joint: Array
    hidden: Array
    gather: Callable[[Array], None]


@dataclass(frozen=True)
class Problem(ABC, Generic[M]):
    """The steps of EM for some rows: `ridge` (d,) is added to the variances, `prior` makes them posterior modes."""

    rows: Rows
    form: Form
    ridge: Array
    prior: Wishart | None = None

    @abstractmethod
    def estimate(self, stats: Gathered[M]) -> Components:
        """The M step. Raises Collapse."""

    @abstractmethod
    def complete(self, stats: Gathered[M], theta: Components) -> float:
        """Q(Θ|·) from the statistics, in nats of the data's own units."""

    @abstractmethod
    def log_prior(self, theta: Components) -> float:
        """log p(Θ), up to a constant."""

    @abstractmethod
    def slack(self, stats: Gathered[M], before: Components, after: Components) -> float:
        """How far a step may fall because of the ridge: what it adds to a variance is part of no likelihood, but
        estimate maximizes Q − ½ Σ_k n_k tr(ridge Σ_k⁻¹), so that F rises but for the change of that term."""

    @abstractmethod
    def gathered(self, r: Array) -> Gathered[M]:
        """Statistics of given responsibilities (n, K), in two passes: a start."""

    @abstractmethod
    def _work(self, theta: Components) -> tuple[Iterator[Piece], Callable[[], Gathered[M]]]:
        """The blocks of rows, and the statistics once they have gathered."""

    @property
    @abstractmethod
    def _filled(self) -> float:
        """Σ log scale over the missing cells that are filled in."""

    def expect(self, theta: Components, hard: bool = False) -> Expected[Gathered[M]]:
        """The E step, in nats of the data's own units."""
        pieces, gathered = self._work(theta)
        r = np.empty((len(theta.weights), self.rows.n))
        log_likelihood, q, entropy = -self.rows.log_scale, -self.rows.log_scale - self._filled, self._filled
        for piece in pieces:
            found = memberships(piece.joint.T, hard=hard)
            share = found.responsibilities.T
            piece.gather(share)
            r[:, piece.where] = share
            cells = float(piece.hidden @ share.sum(axis=1))
            log_likelihood += found.log_likelihood
            q += found.q - cells
            entropy += found.entropy + cells
        return Expected(gathered(), log_likelihood, q, entropy, r.T)

    def joint(self, theta: Components) -> Array:
        """(n, K) log p(x seen, k), in nats of the data's own units."""
        joint = np.empty((len(theta.weights), self.rows.n))
        for piece in self._work(theta)[0]:
            joint[:, piece.where] = piece.joint
        unit = np.log(self.rows.scale)
        joint -= unit.sum() if self.rows.seen is None else unit @ self.rows.seen
        return joint.T

    def _mean(self, weight: Array, mean: Array) -> Array:
        if self.prior is None and (weight <= 0).any():
            raise Collapse("component {k} has no row left", k=int(weight.argmin()) + 1)
        return np.where((weight > 0)[:, None], mean, 0.0)

    def _collapsed(self, k: int, weight: Array) -> Collapse:
        return Collapse("component {k} has collapsed on {n:.3g} row(s): it has no spread left, and the likelihood no "
                        "bound", k=k + 1, n=float(weight[k]))  # fmt: skip
