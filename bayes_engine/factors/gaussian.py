"""Numbers: a Gaussian in each class, or in each cell of the class and the parents; and the moments it came from.
scikit-learn's GaussianNB knows no parents, no missing cells and no row left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors import LOG_2PI, Row, RowKind, normal_log_density, variance_estimate
from bayes_engine.factors.leaf import (
    Domain,
    Form,
    Leaf,
    LeftOutRows,
    MixtureDensity,
    Numbers,
    cells_of,
    cells_of_rows,
    information_of_density,
)
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.normal_posterior import NormalPosterior
from bayes_engine.factors.sources import Source
from bayes_engine.logspace import Array, exp
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.moments import SMALLEST, ColumnMoments, Members, Moments
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import DENSE_CELLS
from bayes_engine.table.schema import Variable

REACH = 8.0
"""A Gaussian is followed this many standard deviations to either side: 1e-15 of its mass lies beyond."""
NODES = 385
"""In so many steps: the integral is then good to 1e-4 nats."""


@dataclass(frozen=True)
class GaussianRule:
    """How means and variances are estimated: variances divide by n − `ddof` and are no smaller than the share `floor`
    of the column's, one for all classes if `tied`; a cell of the parents is smoothed by `rows` pseudo-observations that
    have its class's mean and variance."""

    ddof: int = 0
    tied: bool = False
    floor: float = 1e-9
    rows: float = 0.0

    def variance(self, moments: ColumnMoments) -> tuple[Array, NDArray[np.bool_], ColumnMoments]:
        """`variance_estimate` of a column's moments by class."""
        return variance_estimate(moments, self.ddof, self.tied, self.floor)


@dataclass(frozen=True)
class GaussianLeaf(Leaf):
    """log p(x_j | c) = −½ log 2π − log σ_c − ½ ((x − μ_c)/σ_c)²: Zhou, eq. 7.18; with parents within their cell.

    `moments` (C,) are the column's by class, `variance` (C,) is what estimation made of them; `replaced` (C,) says
    where the floor or the pooled variance stood in. Under parents `cells` (C·S_p·…) are the moments by cell: a cell is
    smoothed by pseudo-observations (`rule.rows`); where there are none of these and the cell has fewer than two rows,
    or no spread, the class's own Gaussian stands in.
    """

    form: ClassVar[Form] = "gaussian"
    numbers: ClassVar[Numbers] = "gaussian"
    together = "squares"
    variable: Variable
    target: str
    moments: ColumnMoments
    variance: Array
    replaced: NDArray[np.bool_]
    rule: GaussianRule = GaussianRule()
    parents: tuple[Domain, ...] = ()
    cells: ColumnMoments | None = None

    @property
    def kind(self) -> RowKind:
        return "log-density"

    @cached_property
    def gaussians(self) -> tuple[Array, Array]:
        """Mean (as an offset from the pivot) and variance, each (C, S_p + 1, …): the last place is an unseen value's,
        where the class's own Gaussian stands."""
        if self.cells is None:
            return self.moments.offset, self.variance
        return self._smoothed(self.cells, self.moments, self.moments.offset, self.variance)

    def _smoothed(self, cells: ColumnMoments, classes: ColumnMoments, mean: Array, variance: Array
                  ) -> tuple[Array, Array]:  # fmt: skip
        """The Gaussians of the parents' cells, from those of the classes."""
        a, floor = self.rule.rows, self.rule.floor
        shape = (*classes.weight.shape, *(d.size for d in self.parents))
        inner = tuple(range(classes.weight.ndim, len(shape)))
        whole = classes.pooled()
        least = floor * np.expand_dims(whole.m2 / np.maximum(whole.weight, 1e-300), inner)
        pads = [(0, 0)] * classes.weight.ndim + [(0, 1)] * len(inner)
        n, offset, m2 = (np.pad(v.reshape(shape), pads) for v in (cells.weight, cells.offset, cells.m2))
        mean, variance = (np.expand_dims(v, inner) for v in (mean, variance))
        share = a / np.where(n + a > 0, n + a, 1.0)
        degrees = n - self.rule.ddof + a
        spread = m2 + a * variance + n * share * (offset - mean) ** 2
        own = np.maximum(spread / np.where(degrees > 0, degrees, 1.0), least)
        taken = (n > 0) & (degrees > 0) & ((a > 0) | ((n > 1) & (m2 > least * degrees)))
        return np.where(taken, offset + share * (mean - offset), mean), np.where(taken, own, variance)

    @property
    def alone(self) -> GaussianLeaf:
        """The Gaussians of the classes, whatever the parents."""
        return GaussianLeaf(self.variable, self.target, self.moments, self.variance, self.replaced, self.rule)

    # terms --------------------------------------------------------------------------------------------------------

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if self.cells is not None:
            yield from super().rows(X)
            return
        x = X[self.variable.name]
        missing = np.isnan(x)
        if len(x) and missing.all():
            return
        term = normal_log_density(x - self.moments.pivot, self.moments.offset[:, None], self.variance[:, None])
        if missing.any():
            term[:, missing] = 0.0
        yield self.row, term.T

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        x = X[self.variable.name]
        offset = (x - self.moments.pivot).reshape(-1, *[1] * (1 + len(hidden)))
        if left is None:
            mean, variance = (cells_of(table, self.parents, hidden, X) for table in self.gaussians)
            return normal_log_density(offset, mean, variance)
        return self.estimated_without(X, hidden, left) if self.cells is not None else self.known_terms(X, left)

    def known_terms(self, X: Table, left: LeftOutRows | None = None) -> Array:
        if left is None or self.cells is not None:
            return super().known_terms(X, left)
        return next(known_terms_without([self], X, left))

    def estimated_without(self, X: Table, hidden: tuple[str, ...], left: LeftOutRows) -> Array:
        """`term` of rows left out: every class is estimated anew for each of them."""
        x = X[self.variable.name]
        offset = (x - self.moments.pivot).reshape(-1, *[1] * (1 + len(hidden)))
        rest = self._without(self.moments, (), X, left)
        variance, _, used = self.rule.variance(rest)
        tables = used.offset, variance
        if self.cells is not None:
            tables = self._smoothed(self._without(self.cells, self.parents, X, left), rest, *tables)
        constant = rest.constant.reshape(-1, *[1] * (1 + len(hidden)))  # what is left has one value: no factor
        mean, variance = (cells_of_rows(table, self.parents, hidden, X) for table in tables)
        return np.where(constant, 0.0, normal_log_density(offset, mean, np.where(constant, 1.0, variance)))

    def _without(self, moments: ColumnMoments, parents: Sequence[Domain], X: Table, left: LeftOutRows) -> ColumnMoments:
        """(n, …) the moments, by class and cell of these parents, without each row."""

        def cells(X: Table, own: NDArray[np.intp], weight: Array) -> Members:
            for d in parents:
                places = d.places(X)
                own = own * d.size + np.clip(places, 0, d.size - 1)
                weight = np.where((places == HIDDEN) | (places >= d.size), 0.0, weight)
            return Members(own, X[self.variable.name], weight)

        def rest(i: int) -> Members:
            there, labels = left.rest(i)
            assert labels.codes is not None and labels.weight is not None
            return cells(there, labels.codes, labels.weight)

        return moments.without(cells(X, left.own, left.weight), self.variable.name, rest)

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        """The moments of the parents' cell, and what smoothing made of them; without rows in it, those of the class."""
        x, m = float(X[self.variable.name][0]), self.moments
        if self.cells is None:
            of_class = zip(m.weight, m.mean, m.m2, self.variance, self.replaced, strict=True)
            return tuple(
                Density(x, float(n), float(mean), float(m2), self.rule.ddof, float(v), bool(r))
                for n, mean, m2, v, r in of_class
            )
        return tuple(self._source(self.cells, x, [int(d.places(X)[0]) for d in self.parents], c)
                     for c in range(len(m.weight)))  # fmt: skip

    def _source(self, cells: ColumnMoments, x: float, places: Sequence[int], c: int) -> Density:
        pivot, ddof, a = self.moments.pivot, self.rule.ddof, self.rule.rows
        here: Any = (c, *places)
        outside: Any = (c, *(d.size for d in self.parents))
        (m, v), (class_mean, class_variance) = ([float(t[i]) for t in self.gaussians] for i in (here, outside))
        inside = all(place < d.size for place, d in zip(places, self.parents, strict=True))
        shape = (len(self.variance), *(d.size for d in self.parents))
        i = int(np.ravel_multi_index(here, shape)) if inside else 0
        n = float(cells.weight[i]) if inside else 0.0
        stands_in = not n or (not a and (m, v) == (class_mean, class_variance))
        cell, i = (self.moments, c) if stands_in else (cells, i)
        n, m2 = float(cell.weight[i]), float(cell.m2[i])
        own = n > ddof and math.isclose(v, m2 / (n - ddof), rel_tol=1e-9)
        pseudo = None
        if not stands_in and a:
            pseudo = PseudoCounts(a, float(cell.offset[i]) + pivot, class_mean + pivot, class_variance)
        return Density(x, n, m + pivot, m2, ddof, v, stands_in or not own, pseudo, stands_in)

    def posterior(self, target: Variable) -> NormalPosterior:
        """A cell's pseudo-observations count as rows; where the class's own Gaussian stands in, so does its
        posterior."""
        n, m2 = self.moments.weight, self.moments.m2
        if self.cells is None:
            degrees, square = np.maximum(n - 1.0, 0.0), m2
            if self.rule.tied:
                degrees, square = (np.full(len(n), v.sum()) for v in (degrees, m2))
            free = ~self.replaced & (degrees > 0) & (square > 0)
            return NormalPosterior(self.variable, (), self.moments.offset, n, np.where(free, degrees, 0.0), square,
                                   self.variance, self.rule.tied)  # fmt: skip
        (centre, variance), inner, a = self.gaussians, len(self.parents), self.rule.rows
        of_class, m2 = (v.reshape(-1, *[1] * inner) for v in (n, m2))
        n = np.pad(self.cells.weight.reshape(len(n), *(d.size for d in self.parents)),
                   [(0, 0), *((0, 1) for _ in self.parents)])  # fmt: skip
        here = (slice(None), *(slice(-1, None) for _ in self.parents))
        borrowed = (centre == centre[here]) & (variance == variance[here])
        borrowed |= n + a <= 1
        kappa, degrees = np.where(borrowed, of_class, n + a), np.where(borrowed, of_class, n + a) - 1.0
        square = np.where(borrowed, m2, variance * (n - self.rule.ddof + a))
        centre, fixed = np.where(borrowed, centre[here], centre), np.where(borrowed, variance[here], variance)
        degrees = np.where((degrees > 0) & (square > 0), degrees, 0.0)
        return NormalPosterior(self.variable, self.parents, centre, kappa, degrees, square, fixed)

    @property
    def free(self) -> int:
        """A mean and a variance in each cell; a variance that the classes share is one."""
        if self.rule.tied:
            return len(self.variance) + 1
        return 2 * (self.variance.size if self.cells is None else self.cells.weight.size)

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        seen = stats.moments.column(self.variable.name)
        square = seen.m2 + seen.weight * (seen.offset - self.moments.offset) ** 2
        return -0.5 * float((seen.weight * np.log(2.0 * np.pi * self.variance) + square / self.variance).sum())

    def largest_log_likelihood(self, stats: SufficientStatistics) -> float:
        """Of a row whose parents are not all known, by its class's own Gaussian."""
        if self.cells is None:
            return gaussian_likelihood(self.moments, self.moments.offset, self.variance)
        inner = (slice(None), *(slice(0, d.size) for d in self.parents))
        mean, variance = (table[inner].reshape(-1) for table in self.gaussians)
        value = gaussian_likelihood(self.cells, mean, variance)
        k, cells, classes = len(self.variance), self.cells, self.moments
        each = cells.weight.reshape(k, -1)
        inside = (cells.m2 + cells.weight * (cells.offset - np.repeat(classes.offset, each.shape[1])) ** 2).reshape(
            k, -1
        )
        n = np.maximum(classes.weight - each.sum(axis=1), 0.0)
        squares = np.maximum(classes.m2 - inside.sum(axis=1), 0.0)
        rest = ColumnMoments(n, classes.offset, squares, classes.pivot)
        return value + (gaussian_likelihood(rest, classes.offset, self.variance) if (n > 1e-9).any() else 0.0)

    def distance(self, other: GaussianLeaf) -> float:
        """Of a mean or a standard deviation, in standard deviations."""
        unit = np.sqrt(np.maximum(self.variance, other.variance))
        mean = np.abs(self.moments.offset - other.moments.offset)
        sd = np.abs(np.sqrt(self.variance) - np.sqrt(other.variance))
        return float(np.abs(np.maximum(mean, sd) / unit).max(initial=0.0))

    def information(self, log_prior: Array) -> float:
        """∫ Σ_c P(c) N(x; μ_c, σ_c²) log N(x; μ_c, σ_c²)/p(x) dx, on nodes that follow every class at its own scale."""
        present = np.isfinite(log_prior)
        mean, variance = (table[present, None] for table in self.alone.gaussians)
        x = np.sort((mean + np.sqrt(variance) * np.linspace(-REACH, REACH, NODES)).ravel())
        return information_of_density(normal_log_density(x, mean, variance), log_prior[present], x)

    def mixture(self, X: Table, cell: Sequence[int]) -> MixtureDensity:
        here: Any = (slice(None), *cell)
        mean, variance = (table[here] for table in self.gaussians)
        mean = (self.moments.pivot + mean)[None]
        return MixtureDensity(np.ones(mean.shape), mean, np.broadcast_to(np.sqrt(variance), mean.shape[1:])[None])

    @property
    def collapsed(self) -> NDArray[np.bool_]:
        return self.replaced


def known_terms_without(leaves: Sequence[GaussianLeaf], X: Table, left: LeftOutRows) -> Iterator[Array]:
    """`known_terms` of rows left out, of each of these leaves without parents; as many columns are done together as
    stay in the cache."""
    at_once = max(1, DENSE_CELLS // max(1, X.n * left.among[1].n_classes))
    for start in range(0, len(leaves), at_once):
        yield from _together_without(leaves[start : start + at_once], X, left)


def _together_without(leaves: Sequence[GaussianLeaf], X: Table, left: LeftOutRows) -> Iterator[Array]:
    """From the moments of each row's own class alone: without a row of weight w, z² variances from the mean, it has
    lost the share w n z²/((n − w)(n − ddof)) of its squares. Rows for which that is not so, or costs digits, are
    estimated anew; so are all rows of a column where the variance of another class may hang on a row too: one that all
    share, or that stands for the class's own."""
    rules = [leaf.rule for leaf in leaves]
    ddof, floor = np.array([[rule.ddof, rule.floor] for rule in rules]).T[..., None]  # (d, 1) each
    n, offset, m2 = (np.array([getattr(leaf.moments, k) for leaf in leaves]) for k in ("weight", "offset", "m2"))
    variance = np.array([leaf.variance for leaf in leaves])  # (d, C), as these
    x = np.array([X[leaf.variable.name] - leaf.moments.pivot for leaf in leaves])
    unknown = np.isnan(x)
    terms = normal_log_density(x[:, None], offset[..., None], variance[..., None])  # (d, C, n)
    whole, few = ColumnMoments(n, offset, m2, 0.0).pooled(), np.maximum(ddof, 1)
    others = whole.weight - left.weight.max(initial=0.0)
    again = np.zeros(x.shape, dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = 2.0 * np.maximum(floor * whole.m2 / others, np.finfo(float).tiny)
        shared = np.array([[rule.tied] for rule in rules]) | (others <= 0) | (n <= few) | (variance <= least)
        shared |= [leaf.replaced for leaf in leaves]
        again[shared.any(axis=1)] = True
        even = left.one_weight is not None
        own_n, own_variance, own_m2 = (a if even else a.take(left.own, axis=1) for a in (n, variance, m2))
        gone: Array | float = left.weight if left.one_weight is None else left.one_weight
        rest = own_n - gone
        ratio = (rest - ddof) / (own_n - ddof)
        share, more = gone * own_n / (rest * (own_n - ddof)), (own_n / rest) ** 2 * ratio
        log_variance = LOG_2PI + np.log(own_variance)
        log_other = log_variance - np.log(ratio)
        # a column of one value is no factor, whatever its class; half of its squares move a mean so far:
        far = np.abs(offset).max(axis=1, keepdims=True) + np.sqrt(0.5 * own_m2 * gone / (own_n * rest))
        dust = 2.0 * whole.weight * np.maximum(1e-20 * far**2, SMALLEST**2) / own_m2
        low = np.maximum(np.maximum(dust, least * ratio / own_variance), 0.5)
        low[rest <= np.maximum(1e-9 * own_n, few)] = np.inf
        for c, own in left.by_class:
            here: Any = (slice(None), [c] if even else own)
            squared = terms[:, c].take(own, axis=1)
            squared *= -2.0
            squared -= log_variance[here]
            kept = squared * -share[here]
            kept += 1.0
            squared *= more[here]
            squared /= kept
            squared += np.log(kept)
            squared += log_other[here]
            squared *= -0.5
            terms[:, c, own] = squared
            again[:, own] |= kept < low[here]
    if unknown.any():
        terms.transpose(0, 2, 1)[unknown] = 0.0
        again &= ~unknown
    for leaf, term, anew in zip(leaves, terms, again, strict=True):
        rows = np.flatnonzero(anew)
        if len(rows):
            term[:, rows] = leaf.estimated_without(X.take(rows), (), left.take(rows)).T
        yield term.T


def gaussian_leaf(
    variable: Variable,
    target: str,
    moments: ColumnMoments,
    rule: GaussianRule,
    parents: tuple[Domain, ...] = (),
    cells: ColumnMoments | None = None,
) -> GaussianLeaf:
    """The Gaussians of a column with these moments by class and, where it has parents, by cell.

    >>> income = ColumnMoments(weight=np.array([7.0, 3.0]), offset=np.array([110.0, 90.0]),
    ...                        m2=np.array([17850.0, 50.0]), pivot=0.0)
    >>> gaussian_leaf(Variable("income", "continuous"), "class", income, GaussianRule(ddof=1)).variance.tolist()
    [2975.0, 25.0]
    """
    variance, replaced, used = rule.variance(moments)
    return GaussianLeaf(variable, target, used, variance, replaced, rule, parents, cells)


def gaussian_leaves(
    variables: Sequence[Variable], target: str, moments: Moments, rule: GaussianRule
) -> Iterator[GaussianLeaf]:
    """`gaussian_leaf` of each of these columns without parents, all estimated together."""
    if not variables:
        return
    place = [moments.names.index(variable.name) for variable in variables]
    weight, mean, m2 = (np.ascontiguousarray(a.T[place]) for a in (moments.weight, moments.mean, moments.m2))
    variance, replaced, used = rule.variance(ColumnMoments(weight, mean, m2, 0.0))
    pivots = moments.pivot[place].tolist()
    for j, (variable, pivot) in enumerate(zip(variables, pivots, strict=True)):
        own = ColumnMoments(weight[j], used.offset[j], m2[j], pivot)
        yield GaussianLeaf(variable, target, own, variance[j], replaced[j], rule)


def gaussian_likelihood(cells: ColumnMoments, mean: Array, variance: Array) -> float:
    """Σ_cells Σ_i log N(x_i; mean, variance) from weight, mean and M2 of each cell."""
    there = cells.weight > 0
    n, m2, var = cells.weight[there], cells.m2[there], variance[there]
    at_mean = normal_log_density(cells.offset[there], mean[there], var)
    return float((n * at_mean - 0.5 * m2 / var).sum())


@dataclass(frozen=True)
class PseudoCounts:
    """`rows` pseudo-observations with the class's mean and variance, beside the n of a cell, whose own mean is `mean`:
    μ = (n·mean + rows·class_mean)/(n + rows), and
    σ² = (m2 + rows·class_variance + n·rows/(n + rows)·(mean − class_mean)²)/(n − ddof + rows)."""

    rows: float
    mean: float
    class_mean: float
    class_variance: float


@dataclass(frozen=True)
class Density:
    """N(x; mean, variance): the Gaussian fitted to the n values of one class, with their sum of squared deviations.

    `replaced` says that the variance is not this class's own m2/(n − ddof) but the pooled one or the floor. Of a cell
    of the parents `pseudo_counts` are those it was smoothed by; `stands_in` says that too few rows were in that cell,
    so that n, mean and m2 are those of the whole class.
    """

    x: float
    n: float
    mean: float
    m2: float
    ddof: int
    variance: float
    replaced: bool
    pseudo_counts: PseudoCounts | None = None
    stands_in: bool = False

    @property
    def own_mean(self) -> float:
        """The mean of the rows themselves, before any smoothing."""
        return self.mean if self.pseudo_counts is None else self.pseudo_counts.mean

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.variance))

    @cached_property
    def log_value(self) -> float:
        return float(normal_log_density(np.array(self.x), np.array(self.mean), np.array(self.variance)))

    @cached_property
    def value(self) -> float:
        return float(exp(self.log_value))
