"""Kernel densities: a small bump on every training value, and how wide it is. SciPy's `gaussian_kde` evaluates every
pair of a point and an x, and has neither the rounding nor a row left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
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
from bayes_engine.stats.counts import less
from bayes_engine.stats.moments import ColumnMoments, Members
from bayes_engine.stats.values import ColumnValues, LeftOutValues
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
            precision = weka_precision(column.points)
            rounded, _ = column_rounded(column, precision)
            single = tuple(bool(v) for v in ((rounded.weight > 0).sum(axis=1) < 2))
            width = weka_bandwidth(rounded, precision)
            return cls(variable, target, rounded.points, rounded.weight, width, precision, single, estimation)
        bandwidth, replaced = silverman_bandwidth(column.moments(variable.pivot), estimation.floor)
        single = tuple(bool(r) for r in replaced)
        return cls(variable, target, column.points, column.weight, bandwidth, None, single, estimation)

    def without(self, column: ColumnValues, gone: LeftOutValues) -> Array:
        if self.precision is None:
            width = silverman_bandwidth(self._moments_without(column, gone), self.estimation.floor)[0]
            return _densities_without(column, gone, width, None)
        terms = np.empty((len(gone.cls), len(column.weight)))
        end = len(column.points) - 1  # the precision hangs on which values there are
        kind = np.where(gone.last, 1 + (gone.place == 0) + 2 * (gone.place == end), 0)
        for rows in (np.flatnonzero(kind == k) for k in np.unique(kind)):
            precision = weka_precision(gone.rest(column, rows[0]).points)
            rounded, place = column_rounded(column, precision)
            some = gone.take(rows)
            terms[rows] = _densities_without(rounded, some._replace(place=place[some.place]), None, precision)
        return terms

    def _moments_without(self, column: ColumnValues, gone: LeftOutValues) -> ColumnMoments:
        """(n, C) the moments without each row, of a class without rows those of the whole column."""
        pivot, k = self.variable.pivot, len(column.weight)

        def rest(i: int) -> Members:
            left = column.weight.copy()
            left[gone.cls[i], gone.place[i]] -= gone.weight[i]
            return Members(np.repeat(np.arange(k), len(column.points)), np.tile(column.points, k), left.ravel())

        own = column.moments(pivot).without(Members(gone.cls, gone.value, gone.weight), self.variable.name, rest)
        whole, empty = own.pooled(), own.weight == 0
        weight, offset, m2 = (np.where(empty, *pair) for pair in (
            (whole.weight, own.weight), (whole.offset, own.offset), (whole.m2, own.m2)))  # fmt: skip
        return ColumnMoments(weight, offset, m2, pivot)

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


def silverman_bandwidth(moments: ColumnMoments, floor: float) -> tuple[Array, NDArray[np.bool_]]:
    """(..., C) σ_c (4/(3 n_c))^(1/5), and whether σ_c is the pooled one or the floor.

    >>> waits = ColumnValues(np.array([1.0, 2.0, 4.0]), np.array([[1.0, 1.0, 1.0]]))
    >>> silverman_bandwidth(waits.moments(0.0), 1e-9)[0].round(4).tolist()
    [1.2988]
    """
    variance, replaced, _ = variance_estimate(moments, 1, False, floor)
    return np.sqrt(variance) * (4.0 / (3.0 * moments.weight)) ** 0.2, replaced


def weka_precision(points: Array) -> float:
    """The mean gap of a column's distinct values, ascending."""
    return float((points[-1] - points[0]) / (len(points) - 1))


def column_rounded(column: ColumnValues, precision: float) -> tuple[ColumnValues, NDArray[np.intp]]:
    """The values rounded to multiples of the precision (ties to even), and for each old one which of the new it is.

    >>> rounded, place = column_rounded(ColumnValues(np.array([0.0, 1.0, 4.0]), np.ones((1, 3))), 2.0)
    >>> rounded.points.tolist(), rounded.weight.tolist(), place.tolist()
    ([0.0, 4.0], [[2.0, 1.0]], [0, 0, 1])
    """
    steps = np.rint(np.round(column.points / precision, 9))  # a tie stays a tie whatever the unit
    kept, place = np.unique(steps, return_inverse=True)
    weight = np.stack([np.bincount(place, w, minlength=len(kept)) for w in column.weight]).astype(float)
    return ColumnValues(kept * precision, weight), place


def weka_bandwidth(rounded: ColumnValues, precision: float) -> Array:
    """(C,) max((max_c − min_c)/√n_c, p/6): at most three of them on either side of x lie within x ± p/2."""
    ends = np.array([rounded.points[np.flatnonzero(w)[[0, -1]]] for w in rounded.weight])
    return _range_bandwidth(ends[:, 1] - ends[:, 0], rounded.total, precision)


def _range_bandwidth(span: Array, total: Array, precision: float) -> Array:
    return np.asarray(np.maximum(span / np.sqrt(total), precision / 6.0))


class GonePoints(NamedTuple):
    """Of each x (n,) what is `left` of the weight at its own `place` among the points."""

    place: NDArray[np.intp]
    left: Array


def _densities_without(
    column: ColumnValues, gone: LeftOutValues, bandwidth: Array | None, precision: float | None
) -> Array:
    """(n, C) log densities at the values of rows, each without the row itself; `bandwidth` (n, C), None where it is
    that of the ranges. A class without rows has the bumps of the whole column."""
    terms = np.empty((len(gone.cls), len(column.weight)))
    whole = column.weight.sum(axis=0)
    for c, (weight, total) in enumerate(zip(column.weight, column.total, strict=True)):
        taken = np.where(gone.cls == c, gone.weight, 0.0)
        empty = less(np.full(len(taken), total), taken) == 0
        for some, base, off in ((~empty, weight, taken), (empty, whole, gone.weight)):
            if not some.any():
                continue
            mine = base > 0
            points, base = column.points[mine], base[mine]
            place = (np.cumsum(mine) - 1)[gone.place[some]]  # of no meaning where nothing is taken
            here = GonePoints(place, less(base[place], off[some]))
            if precision is not None:
                first, last = ((here.left == 0) & (place == end) for end in (0, len(points) - 1))
                span = points[len(points) - 1 - last] - points[first.astype(np.intp)]
                h = _range_bandwidth(span, base.sum() - off[some], precision)
            else:
                assert bandwidth is not None
                h = bandwidth[some, c]
            terms[some, c] = log_kernel_density(gone.value[some], points, base, h, precision, here)
    return terms


def log_kernel_density(
    x: Array,
    points: Array,
    weight: Array,
    bandwidth: Array | float,
    precision: float | None = None,
    gone: GonePoints | None = None,
) -> Array:
    """(n,) log Σ_i w_i K((x − x_i)/h)/(h Σ_i w_i) at ascending finite x, for ascending `points` (m,); `bandwidth` may
    be one or each x's own (n,), and where rows are `gone` each x has weights of its own.

    Everything is relative to the nearest point's bump, so that no tail underflows; of each block of x only the points
    near enough to count are looked at.
    """
    bandwidth = np.broadcast_to(bandwidth, x.shape)
    halves = np.zeros(x.shape) if precision is None else 0.5 * precision / bandwidth
    bump = _gaussian if precision is None else _averaged
    log_density = np.empty(len(x))
    step = max(1, DENSE_CELLS // max(len(points), 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in steps(range(0, len(x), step)):
            rows = slice(start, start + step)
            block, half, h = x[rows], halves[rows], bandwidth[rows]
            here = None if gone is None else GonePoints(gone.place[rows], gone.left[rows])
            near = _nearest(block, points, here) / h
            shift = 0.5 * np.maximum(near - half, 0.0) ** 2
            reach = (np.sqrt(2.0 * (shift.max() + NEGLIGIBLE + np.log(len(points)))) + half.max()) * h.max()
            low, high = np.searchsorted(points, [block[0] - reach, block[-1] + reach])
            z = np.abs(block[:, None] - points[low:high]) / h[:, None]
            bumps = bump(z, shift[:, None], half[:, None])
            if here is not None:
                inside = np.flatnonzero((low <= here.place) & (here.place < high))
                place, left = here.place[inside], here.left[inside]
                own = bumps[inside, place - low]  # may be beyond a float where nothing is left
                bumps[inside, place - low] = np.multiply(own, left / weight[place], out=left * 0.0, where=left > 0)
            log_density[rows] = np.where(np.isfinite(shift), log(bumps @ weight[low:high]) - shift, -np.inf)
    total = weight.sum() - (0.0 if gone is None else weight[gone.place] - gone.left)
    norm = np.log(total) + np.log(bandwidth if precision is None else precision)
    return np.asarray(log_density - norm)


def _nearest(x: Array, points: Array, gone: GonePoints | None) -> Array:
    """(n,) how far the nearest of the ascending points is from each x, of which there is at least one."""
    after = np.searchsorted(points, x)
    before = after - 1
    if gone is not None:
        nothing = gone.left == 0
        before = before - (nothing & (before == gone.place))
        after = after + (nothing & (after == gone.place))
    edges = np.concatenate([[-np.inf], points, [np.inf]])
    return np.asarray(np.minimum(x - edges[before + 1], edges[after + 1] - x))


def _gaussian(z: Array, shift: Array, half: Array) -> Array:
    """φ(z) e^shift."""
    return exp(shift - 0.5 * z * z - 0.5 * LOG_2PI)


def _averaged(z: Array, shift: Array, half: Array) -> Array:
    """(Φ(z + half) − Φ(z − half)) e^shift. With a = z − half, b = z + half it is
    ½ e^(shift − a²/2) (erfcx(a/√2) − e^(−2·half·z) erfcx(b/√2)): nothing there overflows, as half ≤ 3."""
    a, b = z - half, z + half
    inner = erfcx(a / np.sqrt(2.0)) - exp(-2.0 * half * z) * erfcx(b / np.sqrt(2.0))
    return np.asarray(0.5 * exp(shift - 0.5 * a * a) * inner)


register(Likelihood("kernel", KernelLeaf.estimated))
register(Likelihood("kernel-range", KernelLeaf.estimated))
register(Likelihood("kernel-weka", KernelLeaf.estimated, now="kernel-range"))
