"""Kernel densities: a small bump on every training value, and how wide it is. SciPy's `gaussian_kde` evaluates every
pair of a point and an x, and has neither the rounding nor a row left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import erfcx

from bayes_engine.errors import ParameterError
from bayes_engine.factors import LOG_2PI, RowKind, variance_estimate
from bayes_engine.factors.gaussian import NODES, REACH
from bayes_engine.factors.leaf import BY_DEFAULT, Estimation, Form, MixtureDensity, Numbers, information_of_density
from bayes_engine.factors.likelihoods import Likelihood, ValuesLeaf, register
from bayes_engine.factors.sources import Estimated, Source
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import DENSE_CELLS
from bayes_engine.table.schema import Variable

BUMPS = 12
"""So many bumps of a kernel density are told as its sources."""
MOST_NODES = 20_000
"""A kernel density is followed in at most so many steps."""
NEGLIGIBLE = 45.0
"""A bump so many nats below the nearest adds nothing to a float, however many there are of them."""


class Bump(NamedTuple):
    """A training value under a kernel density, its weight, and its share of the density at x."""

    value: float
    weight: float
    share: float


@dataclass(frozen=True)
class KernelEstimate(Estimated):
    """Σ w K((x − x_i)/h)/(n h) over the values x_i of a class: `bumps` are those that add most at x. With a
    `precision` p the values are rounded to multiples of p, K averaged over x ± p/2. `stands_in`: the class has no
    spread of its own to take h from."""

    x: float
    n: float
    bandwidth: float
    precision: float | None
    bumps: tuple[Bump, ...]
    stands_in: bool


@dataclass(frozen=True)
class KernelLeaf(ValuesLeaf):
    """p(x|c) = Σ_i w_i K((x − x_i)/h_c) / Σ_i w_i over the values x_i of class c; a missing cell contributes 0.

    K is the Gaussian; with a `precision` p the Gaussian averaged over x ± p/2. `points` (m,) ascending and `weight`
    (C, m) are what the classes' bumps stand on (a class without rows has the whole column's); `bandwidth` (C,) is in
    the column's units; `replaced` says that a class has no spread of its own to take it from.

    >>> from bayes_engine.table.schema import Schema
    >>> two = ColumnValues(np.array([0.0, 1.0]), np.array([[1.0, 1.0]]))
    >>> factor = KernelLeaf(Variable("x", "continuous"), "good", two.points, two.weight, np.array([0.5]))
    >>> rows = Table(Schema((factor.variable,)), (np.array([0.0, 0.5, np.nan]),), 3)
    >>> factor.log(rows).round(4).tolist()
    [[-0.792], [-0.7258], [0.0]]
    """

    form: ClassVar[Form] = "kernel"
    numbers: ClassVar[Numbers] = "values"
    variable: Variable
    target: str
    points: Array
    weight: Array
    bandwidth: Array
    precision: float | None = None
    replaced: tuple[bool, ...] = ()
    estimation: Estimation = BY_DEFAULT

    @property
    def kind(self) -> RowKind:
        return "log-density"

    def at(self, x: Array) -> Array:
        """(n, C) the log densities at x (n,)."""
        where, back = np.unique(x, return_inverse=True)
        finite = np.isfinite(where)
        terms = np.where(np.isnan(where), 0.0, -np.inf) * np.ones((len(self.weight), 1))
        for c, (weight, h) in enumerate(zip(self.weight, self.bandwidth.tolist(), strict=True)):
            mine = weight > 0
            terms[c, finite] = log_kernel_density(where[finite], self.points[mine], weight[mine], h, self.precision)
        return np.asarray(terms[:, np.ravel(back)].T)

    @classmethod
    def estimated(cls, variable: Variable, target: str, column: ColumnValues, estimation: Estimation) -> KernelLeaf:
        """By the rule that the variable's likelihood names.

        "kernel": h_c = σ_c (4/(3 n_c))^(1/5), σ² = M2/(n − 1) (Silverman 1986, sec. 3.4.2, as in scipy). A class with
        one member or without spread takes the pooled σ, and nothing falls below the share `floor` of the column's
        variance. "kernel-range": values are rounded to multiples of the precision p, the mean gap of the column's
        distinct values, and h_c = max((max − min)/√n_c, p/6). Weka's KernelEstimator has the same bandwidth, but stops
        its sum where the rest adds less than 1 % (MAX_ERROR); here every bump counts.
        """
        empty = column.total == 0  # such a class has the bumps of the whole column
        if empty.any():
            column = replace(column, weight=np.where(empty[:, None], column.weight.sum(axis=0), column.weight))
        if variable.likelihood != "kernel":
            precision, rounded = weka_precision(column)
            single = tuple(bool(v) for v in ((rounded.weight > 0).sum(axis=1) < 2))
            width = weka_bandwidth(rounded, precision)
            return cls(variable, target, rounded.points, rounded.weight, width, precision, single, estimation)
        bandwidth, replaced = silverman_bandwidth(column, variable.pivot, estimation.floor)
        return cls(variable, target, column.points, column.weight, bandwidth, None, replaced, estimation)

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        x, one = float(X[self.variable.name][0]), np.ones(1)
        sources: list[Source] = []
        for c, (weight, h) in enumerate(zip(self.weight, self.bandwidth.tolist(), strict=True)):
            mine = np.flatnonzero(weight)
            mine = mine[np.argsort(np.abs(self.points[mine] - x), kind="stable")[:BUMPS]]
            value = float(self.at(np.array([x]))[0, c])
            alone = [log_kernel_density(np.array([x]), self.points[[i]], one, h, self.precision)[0] for i in mine]
            shares = weight[mine] * 0
            if np.isfinite(value):
                shares = exp(np.array(alone) - value) * weight[mine] / weight.sum()
            bumps = map(Bump, self.points[mine].tolist(), weight[mine].tolist(), shares.tolist())
            sources.append(
                KernelEstimate(value, x, float(weight.sum()), h, self.precision, tuple(bumps), self.replaced[c])
            )
        return tuple(sources)

    def posterior(self, target: Variable) -> None:
        raise ParameterError(
            "there is no band for '{column}': a kernel density has no parameter whose posterior could be drawn, it is "
            "made of the training values themselves; take a Gaussian or intervals to see one",
            column=self.variable.name,
        )

    def size(self, stats: SufficientStatistics) -> float:
        """The training values that it stands on."""
        return float(stats.values.columns[self.variable.name].total.sum())

    def information(self, log_prior: Array) -> float:
        """An integral by the trapezoid rule, in steps of a quarter of the narrowest bandwidth as far as that goes."""
        present = np.isfinite(log_prior)
        low, high = (self.points[i] + sign * REACH * self.bandwidth.max() for i, sign in ((0, -1.0), (-1, 1.0)))
        nodes = int(min(max(4.0 * (high - low) / self.bandwidth.min(), NODES), MOST_NODES))
        x = np.linspace(low, high, nodes)
        return information_of_density(self.at(x).T[present], log_prior[present], x)

    def mixture(self, X: Table, cell: Sequence[int]) -> MixtureDensity:
        """The bumps, in each class those of its own values."""
        weight = self.weight.T
        mean = np.broadcast_to(self.points[:, None], weight.shape)
        return MixtureDensity(weight, mean, np.broadcast_to(self.bandwidth, weight.shape), self.precision)


def silverman_bandwidth(column: ColumnValues, pivot: float, floor: float) -> tuple[Array, tuple[bool, ...]]:
    """(C,) σ_c (4/(3 n_c))^(1/5), and whether σ_c is the pooled one or the floor.

    >>> waits = ColumnValues(np.array([1.0, 2.0, 4.0]), np.array([[1.0, 1.0, 1.0]]))
    >>> silverman_bandwidth(waits, 0.0, 1e-9)[0].round(4).tolist()
    [1.2988]
    """
    variance, replaced, _ = variance_estimate(column.moments(pivot), 1, False, floor)
    shrink = (4.0 / (3.0 * column.total)) ** 0.2
    return np.sqrt(variance) * shrink, tuple(bool(r) for r in replaced)


def weka_precision(column: ColumnValues) -> tuple[float, ColumnValues]:
    """The mean gap of the column's distinct values, and the values rounded to multiples of it (ties to even).

    >>> precision, rounded = weka_precision(ColumnValues(np.array([0.0, 1.0, 4.0]), np.ones((1, 3))))
    >>> precision, rounded.points.tolist(), rounded.weight.tolist()
    (2.0, [0.0, 4.0], [[2.0, 1.0]])
    """
    points = column.points
    precision = float((points[-1] - points[0]) / (len(points) - 1))
    steps = np.rint(np.round(points / precision, 9))  # a tie stays a tie whatever the unit
    kept, place = np.unique(steps, return_inverse=True)
    weight = np.stack([np.bincount(place, w, minlength=len(kept)) for w in column.weight]).astype(float)
    return precision, ColumnValues(kept * precision, weight)


def weka_bandwidth(rounded: ColumnValues, precision: float) -> Array:
    """(C,) max((max_c − min_c)/√n_c, p/6): at most three of them on either side of x lie within x ± p/2."""
    first = np.array([rounded.points[np.flatnonzero(w)[0]] for w in rounded.weight])
    last = np.array([rounded.points[np.flatnonzero(w)[-1]] for w in rounded.weight])
    return np.asarray(np.maximum((last - first) / np.sqrt(rounded.total), precision / 6.0))


def log_kernel_density(
    x: Array, points: Array, weight: Array, bandwidth: float, precision: float | None = None
) -> Array:
    """(n,) log Σ_i w_i K((x − x_i)/h)/(h Σ_i w_i) at ascending finite x, for ascending `points` (m,).

    Everything is relative to the nearest point's bump, so that no tail underflows; of each block of x only the points
    near enough to count are looked at.
    """
    half = 0.0 if precision is None else 0.5 * precision / bandwidth
    bump: Callable[[Array, Array], Array] = _gaussian if precision is None else _averaged(half)
    log_density = np.empty(len(x))
    step = max(1, DENSE_CELLS // max(len(points), 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in steps(range(0, len(x), step)):
            block = x[start : start + step]
            position = np.searchsorted(points, block)
            near = np.minimum(np.abs(block - points[np.maximum(position - 1, 0)]),
                              np.abs(block - points[np.minimum(position, len(points) - 1)])) / bandwidth  # fmt: skip
            shift = 0.5 * np.maximum(near - half, 0.0) ** 2
            reach = (np.sqrt(2.0 * (shift.max() + NEGLIGIBLE + np.log(len(points)))) + half) * bandwidth
            low, high = np.searchsorted(points, [block[0] - reach, block[-1] + reach])
            z = np.abs(block[:, None] - points[low:high]) / bandwidth
            sums = bump(z, shift[:, None]) @ weight[low:high]
            log_density[start : start + step] = np.where(np.isfinite(shift), log(sums) - shift, -np.inf)
    norm = np.log(weight.sum()) + (np.log(bandwidth) if precision is None else np.log(precision))
    return np.asarray(log_density - norm)


def _gaussian(z: Array, shift: Array) -> Array:
    """φ(z) e^shift."""
    return exp(shift - 0.5 * z * z - 0.5 * LOG_2PI)


def _averaged(half: float) -> Callable[[Array, Array], Array]:
    """(Φ(z + half) − Φ(z − half)) e^shift. With a = z − half, b = z + half it is
    ½ e^(shift − a²/2) (erfcx(a/√2) − e^(−2·half·z) erfcx(b/√2)): nothing there overflows, as half ≤ 3."""

    def bump(z: Array, shift: Array) -> Array:
        a, b = z - half, z + half
        inner = erfcx(a / np.sqrt(2.0)) - exp(-2.0 * half * z) * erfcx(b / np.sqrt(2.0))
        return np.asarray(0.5 * exp(shift - 0.5 * a * a) * inner)

    return bump


register(Likelihood("kernel", KernelLeaf.estimated))
register(Likelihood("kernel-range", KernelLeaf.estimated))
register(Likelihood("kernel-weka", KernelLeaf.estimated, now="kernel-range"))
