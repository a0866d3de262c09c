"""Classes whose densities are known: the exact Bayes classifier, its risk, and that of any other rule.

With P(c) and p(x|c) known, h*(x) = argmin_a Σ_c λ_ac P(c) p(x|c) has the least risk of all rules, the Bayes risk R*.

Every continuous density here is a mixture of Gaussians: one component is a Gaussian, a component at each drawn point a
kernel density. Discrete ones are tables. Risks are exact sums over tables, closed forms where there is one, and else
quadrature with a stated error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_engine.decision.decision_boundaries import LogPosterior, decision_changes, least_risk_action
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError
from bayes_engine.factors import LOG_2PI
from bayes_engine.logspace import Array, exp, log, log_normalize, log_sum

SIZE = 240
"""Steps a side of a quadrature whose error is to be small; QUICK where replicates blur the answer anyway."""
QUICK = 72
REACH = 6.5
"""Standard deviations from each component's mean to the rim of the quadrature."""
ROWS = 1_000_000
"""How many rows the weights of a population amount to: a penalty or a smoothing counts for nothing against them."""
MANY = 50_000
"""Rows of the sample that stands for the population, for an estimator that takes no weights; and of a simulation."""
TILT = 0.55
"""Radians by which the rows of the quadrature lean: a boundary that runs along a row would end between two of them, and
boundaries like to run along the axes."""
COARSER = ((2, 0), (2, 1), (3, 0), (3, 1), (3, 2))
"""Parts of the grid (every, start) whose answers are compared with the whole one's."""


class Risk(NamedTuple):
    """E λ, how far off it may be, and how it was found: "closed form", "exact sum", "quadrature" or "simulation"."""

    value: float
    error: float
    how: str


# mixtures of Gaussians ------------------------------------------------------------------------------------------------


class MultivariateMixture(NamedTuple):
    """p(x|c) = Σ_m w_m N(x; μ_m, Σ_m): `weights` (M,), `means` (M, d), `covariances` (M, d, d)."""

    weights: Array
    means: Array
    covariances: Array


@dataclass(frozen=True, eq=False)
class GaussianTruth:
    """Classes in d dimensions, each a mixture of Gaussians.

    Raises ParameterError where the priors or weights are no probabilities or a covariance is not positive definite.
    """

    classes: tuple[Any, ...]
    priors: Array
    densities: tuple[MultivariateMixture, ...]

    def __post_init__(self) -> None:
        _checked_shares(self.priors, len(self.classes))
        if len(self.densities) != len(self.classes):
            raise ParameterError("{k} classes need {k} densities, not {n}", k=len(self.classes), n=len(self.densities))
        for density in self.densities:
            _checked_shares(density.weights, len(density.means))
            alike = np.allclose(density.covariances, np.swapaxes(density.covariances, 1, 2))
            if not alike or not (np.linalg.eigvalsh(density.covariances) > 0).all():
                raise ParameterError("a covariance must be symmetric with eigenvalues above zero")

    @property
    def dimension(self) -> int:
        """d, the number of columns."""
        return int(self.densities[0].means.shape[1])

    def log_joint(self, X: Any) -> Array:
        """(n, K) log P(c) p(x|c)."""
        rows = np.asarray(X, dtype=float).reshape(len(X), -1)
        joint = np.empty((len(rows), len(self.classes)))
        for k, (weights, means, covariances) in enumerate(self.densities):
            parts = np.empty((len(rows), len(weights)))
            for m, covariance in enumerate(covariances):
                root = np.linalg.cholesky(covariance)
                z = np.linalg.solve(root, (rows - means[m]).T)
                parts[:, m] = -0.5 * (z * z).sum(axis=0) - log(np.diag(root)).sum() + log(weights[m])
            joint[:, k] = log_sum(parts, axis=1) + log(self.priors[k])
        return joint - 0.5 * self.dimension * LOG_2PI

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> tuple[Array, NDArray[Any]]:
        """n rows (n, d) and their classes; the same seed, the same rows."""
        rng = np.random.default_rng(seed)
        of = rng.choice(len(self.classes), size=n, p=self.priors)
        X = np.empty((n, self.dimension))
        for k, (weights, means, covariances) in enumerate(self.densities):
            own = np.flatnonzero(of == k)
            part = rng.choice(len(weights), size=len(own), p=weights)
            roots = np.linalg.cholesky(covariances)[part]
            noise = rng.standard_normal((len(own), self.dimension))
            X[own] = means[part] + np.einsum("nij,nj->ni", roots, noise)
        return X, np.asarray(self.classes)[of]

    def population(self) -> tuple[Array, NDArray[Any], Array]:
        """Gauss–Hermite nodes of every component, weighted: means and covariances are the truth's exactly, and any
        smooth average nearly so."""
        parts = max(len(density.weights) for density in self.densities)
        nodes, weight = np.polynomial.hermite_e.hermegauss(16 if parts <= 6 else 5)
        d = self.dimension
        grid = np.stack(np.meshgrid(*[nodes] * d, indexing="ij"), axis=-1).reshape(-1, d)
        shares = np.stack(np.meshgrid(*[weight / weight.sum()] * d, indexing="ij"), axis=-1).reshape(-1, d).prod(axis=1)
        X, of, weights = [], [], []
        for k, (own, means, covariances) in enumerate(self.densities):
            for w, mean, root in zip(own, means, np.linalg.cholesky(covariances), strict=True):
                X.append(mean + grid @ root.T)
                weights.append(ROWS * self.priors[k] * w * shares)
                of.append(np.full(len(grid), k))
        return np.concatenate(X), np.asarray(self.classes)[np.concatenate(of)], np.concatenate(weights)

    def measure(self, size: int = SIZE) -> _Scan | _Simulation:
        """Quadrature in one or two dimensions, simulation in more."""
        return _Scan(self, size) if self.dimension <= 2 else _Simulation(self)

    def closed_form(self, loss: LossMatrix) -> float | None:
        """Two Gaussians that share Σ: the log-likelihood ratio is N(∓Δ²/2, Δ²), Δ² = (μ₂ − μ₁)ᵀΣ⁻¹(μ₂ − μ₁), and each
        decision an interval of it. With equal priors under 0-1 loss that is Φ(−Δ/2). None for any other truth."""
        if [len(density.weights) for density in self.densities] != [1, 1]:
            return None
        (_w, (first,), (shared,)), (_w, (second,), (other,)) = self.densities
        apart = second - first
        if not np.allclose(shared, other, rtol=1e-12, atol=0.0):
            return None
        table, priors = loss.for_classes(self.classes).table, self.priors
        distance = float(np.sqrt(apart @ np.linalg.solve(shared, apart)))
        if distance < 1e-12 or priors.min() == 0.0:
            return float((table @ priors).min())
        # along q = P(c₂|x) the risks are straight lines, so decisions change where two of them cross
        rise, start = table[:, 1] - table[:, 0], table[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (start[None, :] - start[:, None]) / (rise[:, None] - rise[None, :])
        q = np.unique(crossing[np.isfinite(crossing) & (crossing > 0.0) & (crossing < 1.0)])
        edges = np.concatenate([[0.0], q, [1.0]])
        middle = (edges[:-1] + edges[1:]) / 2.0
        best = (np.outer(middle, rise) + start).argmin(axis=1)
        ratio = log(edges) - log(1.0 - edges) - (log(priors[1]) - log(priors[0]))
        share = [ndtr((ratio + sign * distance**2 / 2.0) / distance) for sign in (1.0, -1.0)]
        return float(sum(priors[k] * (table[best, k] @ np.diff(share[k])) for k in (0, 1)))


def from_ellipses(
    parts: Sequence[tuple[int, float, float, float, float, float, float]], priors: Any, classes: Sequence[Any]
) -> GaussianTruth:
    """Mixtures in the plane from Gaussians as one draws them: class, weight within it, mean (2), the standard
    deviations along the ellipse's own axes (2), and the degrees by which the first of these is turned.

    >>> truth = from_ellipses([(0, 1, 0, 0, 2, 1, 90), (1, 1, 3, 0, 1, 1, 0)], [0.5, 0.5], ["A", "B"])
    >>> truth.densities[0].covariances[0].round(9).tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    rows = np.asarray(parts, dtype=float)
    turn = np.deg2rad(rows[:, 6])
    axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]).transpose(2, 0, 1)
    spreads = axes @ (rows[:, 4:6, None] ** 2 * np.swapaxes(axes, 1, 2))
    own = [rows[:, 0] == k for k in range(len(classes))]
    mixtures = [MultivariateMixture(rows[of, 1] / rows[of, 1].sum(), rows[of, 2:4], spreads[of]) for of in own]
    return GaussianTruth(tuple(classes), np.asarray(priors, dtype=float), tuple(mixtures))


def from_drawn(
    points: Sequence[tuple[float, ...]], bandwidth: float | None, priors: Any, classes: Sequence[Any]
) -> GaussianTruth:
    """Drawn points, each behind the position of its class, smoothed: a Gaussian at each, of standard deviation
    `bandwidth` on every axis, or, if None, by Scott's rule, Σ_c n_c^(−2/(d+4)) with the class's own covariance (Scott
    1992, Multivariate Density Estimation).

    >>> from_drawn([(0, 0.0, 0.0), (1, 2.0, 0.0), (1, 3.0, 0.0)], 0.5, [0.5, 0.5], ["A", "B"]).densities[1].weights
    array([0.5, 0.5])
    """
    parts = []
    for k in range(len(classes)):
        rows = np.array([point[1:] for point in points if point[0] == k], dtype=float)
        if not len(rows):
            raise ParameterError("a class without a point has no density; draw at least one in each")
        n, d = rows.shape
        if bandwidth is not None:
            kernel = np.eye(d) * float(bandwidth) ** 2
        elif n > d:
            kernel = np.atleast_2d(np.cov(rows.T)) * float(n) ** (-2.0 / (d + 4))
        else:
            raise ParameterError("Scott's rule needs more points than columns in each class; give a bandwidth")
        parts.append(MultivariateMixture(np.full(n, 1.0 / n), rows, np.broadcast_to(kernel, (n, d, d))))
    return GaussianTruth(tuple(classes), np.asarray(priors, dtype=float), tuple(parts))


def table_of(cells: Sequence[float], priors: Any, classes: Sequence[Any]) -> TableTruth:
    """Tables over binary columns from one weight for each cell, class after class; each class's are made to sum to 1.

    >>> table_of([1, 3, 2, 2], [0.5, 0.5], ["A", "B"]).tables.tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    weights = np.asarray(cells, dtype=float).reshape(len(classes), -1)
    shares = weights / weights.sum(axis=1, keepdims=True)
    columns = weights.shape[1].bit_length() - 1
    return TableTruth(tuple(classes), np.asarray(priors, dtype=float), shares.reshape(len(classes), *[2] * columns))


def _checked_shares(shares: Array, n: int) -> None:
    if len(shares) != n or not (np.asarray(shares) >= 0).all() or abs(float(np.sum(shares)) - 1.0) > 1e-9:
        raise ParameterError("priors and weights must be {n} numbers from 0 to 1 that sum to 1", n=n)


# tables ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TableTruth:
    """Discrete columns: `tables` (K, S₁, …, S_d) hold P(x|c), each class's summing to 1. A row is a level of each
    column, "0" to "S_j − 1"; X is a frame with the columns x1 … xd."""

    classes: tuple[Any, ...]
    priors: Array
    tables: Array

    def __post_init__(self) -> None:
        _checked_shares(self.priors, len(self.classes))
        if len(self.tables) != len(self.classes) or self.tables.ndim < 2:
            raise ParameterError("a table of P(x|c) needs its classes first, then an axis for each column")
        for table in self.tables:
            _checked_shares(table.ravel(), table.size)

    @property
    def joint(self) -> Array:
        """(ΠS_j, K) P(c) P(x|c) of every cell, the last column running fastest."""
        return np.asarray(self.priors[:, None] * self.tables.reshape(len(self.classes), -1)).T

    @property
    def cells(self) -> pd.DataFrame:
        """Every combination of levels, as rows."""
        return self._frame(np.arange(self.tables[0].size))

    def _frame(self, cells: NDArray[np.intp]) -> pd.DataFrame:
        levels = np.unravel_index(cells, self.tables.shape[1:])
        return pd.DataFrame(
            {
                f"x{j + 1}": pd.Categorical.from_codes(codes, categories=pd.Index([str(v) for v in range(size)]))
                for j, (codes, size) in enumerate(zip(levels, self.tables.shape[1:], strict=True))
            }
        )

    def log_joint(self, X: Any) -> Array:
        """(n, K) log P(c) P(x|c)."""
        codes = [pd.to_numeric(pd.Series(X[name]).astype(str)).to_numpy() for name in X.columns]
        return log(self.joint[np.ravel_multi_index(codes, self.tables.shape[1:])])

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> tuple[pd.DataFrame, NDArray[Any]]:
        """n rows and their classes; the same seed, the same rows."""
        rng = np.random.default_rng(seed)
        joint = self.joint
        drawn = rng.choice(joint.size, size=n, p=joint.ravel())
        cell, of = np.divmod(drawn, len(self.classes))
        return self._frame(cell), np.asarray(self.classes)[of]

    def population(self) -> tuple[pd.DataFrame, NDArray[Any], Array]:
        """Every cell once with every class, weighted by P(c) P(x|c)."""
        joint = self.joint
        cell, of = np.nonzero(joint)
        return self._frame(cell), np.asarray(self.classes)[of], ROWS * joint[cell, of]

    def measure(self, size: int = SIZE) -> TableTruth:
        """What has the risk of a rule: the table itself, whatever the `size`."""
        return self

    def risk(self, loss: LossMatrix, rule: LogPosterior, *, stated: bool = True) -> Risk:
        """The sum over all cells."""
        loss = loss.for_classes(self.classes)
        action = decide(exp(log_normalize(rule(self.cells))), loss).position
        return Risk(round(float((self.joint * loss.table[action]).sum()), 15), 0.0, "exact sum")


Truth = GaussianTruth | TableTruth


# the risk of a rule under a density -----------------------------------------------------------------------------------


class _Simulation:
    """More than two dimensions: the conditional risk averaged over seeded rows, with three standard errors."""

    def __init__(self, truth: GaussianTruth) -> None:
        self.X, _y = truth.sample(MANY, 0)
        self.posterior = exp(log_normalize(truth.log_joint(self.X)))
        self.classes = truth.classes

    def risk(self, loss: LossMatrix, rule: LogPosterior, *, stated: bool = True) -> Risk:
        table = loss.for_classes(self.classes).table
        action = least_risk_action(rule(self.X), table)
        each = (table[action] * self.posterior).sum(axis=1)
        return Risk(float(each.mean()), float(3.0 * each.std() / len(each) ** 0.5), "simulation")


class _Scan:
    """R = ∫ dy Σ_c P(c) ∫ λ(h(x, y), c) p(x, y|c) dx. Along a row (y fixed) every component is Gaussian in x, so once
    it is known where the decision changes, the inner integral is a difference of Φs, tails and all; the rows are summed
    by the trapezoid rule, which converges faster than any power on a smooth integrand that vanishes at both ends. One
    look at the rule, on a grid turned by TILT, finds the changes: log P(c|x) is taken as straight between two nodes."""

    def __init__(self, truth: GaussianTruth, size: int) -> None:
        self.classes = truth.classes
        means = np.concatenate([part.means for part in truth.densities])
        spreads = np.concatenate([part.covariances for part in truth.densities])
        weight = np.concatenate([p * part.weights for p, part in zip(truth.priors, truth.densities, strict=True)])
        turn = np.eye(1)
        if truth.dimension == 2:
            turn = np.array([[np.cos(TILT), np.sin(TILT)], [-np.sin(TILT), np.cos(TILT)]])
            means, spreads = means @ turn.T, turn @ spreads @ turn.T
        self.of = np.repeat(np.arange(len(truth.densities)), [len(part.weights) for part in truth.densities])
        reach = REACH * np.sqrt(np.diagonal(spreads, axis1=1, axis2=2))
        low, high = (means - reach).min(axis=0), (means + reach).max(axis=0)
        self.x = np.linspace(low[0], high[0], size + 1)
        if truth.dimension == 1:
            self.y, self.step = np.zeros(1), 1.0
            self.mass = weight[None, :]
            self.centre, self.sd = means[None, :, 0], np.sqrt(spreads[:, 0, 0])
            self.nodes = self.x[:, None]
        else:
            self.y = np.linspace(low[1], high[1], size + 1)
            self.step = float(self.y[1] - self.y[0])
            up = np.sqrt(spreads[:, 1, 1])
            z = (self.y[:, None] - means[:, 1]) / up
            self.mass = self.step * weight / up * exp(-0.5 * z * z - 0.5 * LOG_2PI)
            slope = spreads[:, 0, 1] / up
            self.centre, self.sd = means[:, 0] + slope * z, np.sqrt(spreads[:, 0, 0] - slope**2)
            self.nodes = np.stack(np.meshgrid(self.x, self.y), axis=-1).reshape(-1, 2) @ turn
        every = np.arange(len(self.y))
        self.below = np.stack([self._below(every, np.full(len(every), x)) for x in self.x], axis=1)  # (R, C, K)
        self.whole = self._below(every, np.full(len(every), np.inf))

    def _below(self, row: NDArray[np.intp], x: Array) -> Array:
        """(n, K) the mass of each class, prior included, to the left of x in a row."""
        parts = self.mass[row] * ndtr((x[:, None] - self.centre[row]) / self.sd)
        return np.stack([parts[:, self.of == k].sum(axis=1) for k in range(len(self.classes))], axis=1)

    def risk(self, loss: LossMatrix, rule: LogPosterior, *, stated: bool = True) -> Risk:
        """The risk of a rule; its error is NaN where it need not be `stated` and would take time."""
        table = loss.for_classes(self.classes).table
        logs = rule(self.nodes).reshape(len(self.y), len(self.x), -1)
        fine = self._risk_from(logs, table, 1, 0)
        if not stated:
            return Risk(fine, float("nan"), "quadrature")
        coarse = [self._risk_from(logs, table, every, start) for every, start in COARSER]
        error = max(abs(fine - value) for value in coarse) + 1e-9 * float(np.ptp(table))
        return Risk(fine, error, "quadrature")

    def _risk_from(self, logs: Array, table: Array, every: int, start: int) -> float:
        """The risk from every node, or from every second or third of a side, from the `start`-th on: how far off the
        coarser ones are is the stated error of the fine one."""
        rows = np.arange(start, len(self.y), every) if len(self.y) > 1 else np.zeros(1, dtype=np.intp)
        x, logs, below = self.x[start::every], logs[rows][:, start::every], self.below[rows][:, start::every]
        action = least_risk_action(logs, table)
        left = np.concatenate([below, self.whole[rows][:, None]], axis=1)
        # every stretch as its left node decides, then what lies right of a change within it as the change decides
        total = float((table[action] * np.diff(left, axis=1)).sum()) + float((table[action[:, 0]] * below[:, 0]).sum())
        r, i = np.nonzero(action[:, :-1] != action[:, 1:])
        if len(r):
            before, after, t, pair = decision_changes(logs[r, i], logs[r, i + 1], table)
            row = rows[r[pair]]
            place = x[i[pair]] + t * (x[1] - x[0])
            right = below[r[pair], i[pair] + 1] - self._below(row, place)
            total += float(((table[after] - table[before]) * right).sum())
        return total * (every if len(self.y) > 1 else 1)


Measure = TableTruth | _Scan | _Simulation
"""What is computed once of a truth, so that the risk of each rule takes one look at it."""


def bayes_risk(truth: Truth, loss: LossMatrix, *, size: int = SIZE) -> Risk:
    """R* = E min_a Σ_c λ_ac P(c|x): in closed form, as a sum, or by quadrature (`size` steps a side).

    Only under 0-1 loss is 1 − R* the ceiling of accuracy; under other losses the rule of least risk may well be right
    less often than another.
    """
    if isinstance(truth, GaussianTruth) and (known := truth.closed_form(loss)) is not None:
        return Risk(known, 0.0, "closed form")
    return truth.measure(size).risk(loss, truth.log_joint)


def best_in_cells(truth: TableTruth, loss: LossMatrix, rule: LogPosterior | None = None) -> list[int]:
    """The action in every cell, by a rule or, without one, by Bayes."""
    posterior = exp(log_normalize((rule or truth.log_joint)(truth.cells)))
    return [int(a) for a in decide(posterior, loss.for_classes(truth.classes)).position]
