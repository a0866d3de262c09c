"""Mixtures of Gaussians as EM sees them: rows in standard units, a prior, what the steps have in common, the starts,
and the order in which the components stand at the end.

A missing cell is hidden too: with full covariances it enters by its conditional mean and covariance given the cells
seen (Ghahramani & Jordan 1994), with diagonal ones it has no term.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayes_engine.covariance import pivots
from bayes_engine.em import Collapse, ExpectedStatistics, responsibilities
from bayes_engine.errors import ParameterError
from bayes_engine.factors import normal_log_density
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.stats.moments import Moments
from bayes_engine.stats.scatter import Scatter

Form = Literal["full", "tied", "diagonal", "spherical"]
FORMS: tuple[Form, ...] = ("full", "tied", "diagonal", "spherical")
SAME = 1e-6
"""Component means closer than this share of a column's standard deviation are equal in the ordering."""


class Components(NamedTuple):
    """Θ in standard units: `weights` (K,), `means` (K, d), `spread`: covariances (K, d, d), or (1, d, d) if tied, or
    variances (K, d). Of runs side by side each has the axis of the runs before its own."""

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
        """(K, d, d) every component's covariance."""
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


class ComponentStatistics(NamedTuple, Generic[M]):
    """Expected statistics: rows of each component (K,), and their scatter (full, tied) or their moments, which know
    the weight of every column's cells."""

    weight: Array
    moments: M


@dataclass(frozen=True)
class StandardizedRows:
    """n rows in standard units: `z` (d, n) = (x − center)/scale, 0 where a cell is missing; `seen` (d, n), None if
    nothing is missing; `weight` (n,), None if each row counts 1."""

    z: Array
    seen: NDArray[np.bool_] | None
    center: Array
    scale: Array
    weight: Array | None = None

    @property
    def n(self) -> int:
        return int(self.z.shape[1])

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.n) if self.weight is None else float(self.weight.sum())

    def weighted(self, r: Array) -> Array:
        """(n, K) responsibilities as the rows count."""
        return r if self.weight is None else r * self.weight[:, None]

    @cached_property
    def _cells(self) -> Array:
        """(d,) the weight of the cells seen."""
        if self.seen is None:
            return np.full(len(self.z), self.total)
        return self.seen.sum(axis=1) if self.weight is None else self.seen @ self.weight

    @cached_property
    def log_scale(self) -> float:
        """Σ log scale over the cells seen: what a density in standard units lacks to one in the data's."""
        return float(self._cells @ np.log(self.scale))

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
        weighted = self.z if self.weight is None else self.z * self.weight
        return np.asarray(weighted @ self.z.T / self.total + np.diag(1.0 - self._cells / self.total))


def standardized(
    X: Array, center: Array | None = None, scale: Array | None = None, weight: Array | None = None
) -> StandardizedRows:
    """The rows X (n, d) in standard units: their own, or given ones. A constant column keeps its unit."""
    x = np.array(X.T, dtype=float, order="C")
    known = ~np.isnan(x)
    seen = None if known.all() else known
    if center is None or scale is None:
        w = np.ones(x.shape[1]) if weight is None else weight
        count = known @ w
        count[count == 0] = 1.0
        center = np.where(known, x, 0.0) @ w / count
        x -= center[:, None]
        center = center + (rest := np.where(known, x, 0.0) @ w / count)
        x -= rest[:, None]
        spread = np.sqrt(np.where(known, x, 0.0) ** 2 @ w / count)
        scale = np.where(spread > 1e-14 * np.abs(center), spread, 1.0)
    else:
        x -= center[:, None]
    x /= scale[:, None]
    x[~known] = 0.0
    return StandardizedRows(x, seen, center, scale, weight)


class Wishart(NamedTuple):
    """An inverse-Wishart prior: `freedom` ν and `matrix` Λ (d, d), in standard units."""

    freedom: float
    matrix: Array


def default_prior(rows: StandardizedRows, k: int, form: Form) -> Wishart:
    """Fraley & Raftery 2007: ν = d + 2 and Λ = the data's covariance / K^(2/d); variances on their own have d = 1."""
    d = len(rows.z)
    size = d if form in ("full", "tied") else 1
    return Wishart(size + 2.0, rows.covariance / k ** (2.0 / d))


class RowBlock(NamedTuple):
    """A block of rows at work: which, `joint` (K, b) log p(x seen, k), `hidden` (K,) the entropy of a row's missing
    cells given the component, and `gather`, which takes in the responsibilities (K, b); each with the axis of the runs,
    where there are several."""

    where: Any
    joint: Array
    hidden: Array
    gather: Callable[[Array], None]


@dataclass(frozen=True)
class EMSteps(ABC, Generic[M]):
    """The steps of EM for some rows: `ridge` (d,) is added to the variances, `prior` makes them posterior modes. Both
    steps, the log prior and the slack are also those of several runs side by side, stacked along a first axis."""

    rows: StandardizedRows
    form: Form
    ridge: Array
    prior: Wishart | None = None

    @abstractmethod
    def estimate(self, stats: ComponentStatistics[M]) -> Components:
        """The M step. Raises Collapse."""

    @abstractmethod
    def complete(self, stats: ComponentStatistics[M], theta: Components) -> float:
        """Q(Θ|·) from the statistics, in nats of the data's own units."""

    @abstractmethod
    def log_prior(self, theta: Components) -> Any:
        """log p(Θ), up to a constant."""

    @abstractmethod
    def slack(self, stats: ComponentStatistics[M], before: Components, after: Components) -> Any:
        """How far a step may fall because of the ridge: what it adds to a variance is part of no likelihood, but
        estimate maximizes Q − ½ Σ_k n_k tr(ridge Σ_k⁻¹), so that F rises but for the change of that term."""

    @abstractmethod
    def gathered(self, r: Array) -> ComponentStatistics[M]:
        """Statistics of given responsibilities (n, K), weighted, in two passes: a start."""

    @abstractmethod
    def _work(self, theta: Components) -> tuple[Iterator[RowBlock], Callable[[], ComponentStatistics[M]]]:
        """The blocks of rows, and the statistics once they have gathered."""

    @property
    @abstractmethod
    def _filled(self) -> float:
        """Σ log scale over the missing cells that are filled in."""

    def expect(self, theta: Components, hard: bool = False) -> ExpectedStatistics[ComponentStatistics[M]]:
        """The E step, in nats of the data's own units."""
        pieces, gathered = self._work(theta)
        r = np.empty((*theta.weights.shape, self.rows.n))
        log_likelihood, q, entropy = -self.rows.log_scale, -self.rows.log_scale - self._filled, self._filled
        for piece in pieces:
            weight = None if self.rows.weight is None else self.rows.weight[piece.where]
            members = responsibilities(piece.joint.swapaxes(-1, -2), hard=hard, weight=weight)
            r[..., piece.where] = share = members.responsibilities.swapaxes(-1, -2)
            if weight is not None:
                share = share * weight
            piece.gather(share)
            cells = (piece.hidden * share.sum(axis=-1)).sum(axis=-1)
            log_likelihood += members.log_likelihood
            q += members.q - cells
            entropy += members.entropy + cells
        return ExpectedStatistics(gathered(), log_likelihood, q, entropy, r.swapaxes(-1, -2))

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
        return np.where((weight > 0)[..., None], mean, 0.0)

    def _collapsed(self, k: int, weight: Array) -> Collapse:
        return Collapse("component {k} has collapsed on {n:.3g} row(s): it has no spread left, and the likelihood no "
                        "bound", k=k + 1, n=float(weight.flat[k]))  # fmt: skip


# where EM begins, and the order at the end ---------------------------------------------------------------------------


def starting_parameters(work: EMSteps[Any], start: Any, k: int, rng: np.random.Generator) -> Components:
    """Θ to begin with: "kmeans", "random" (k distinct rows as means), means (k, d), responsibilities (n, k), or
    MixtureParameters. Where the start names no covariances, all components have that of the data, or of k-means within
    its clusters.

    Raises ParameterError on a start of another shape, Collapse where responsibilities leave a component no spread.
    """
    rows = work.rows
    if isinstance(start, MixtureParameters):
        return to_standard(_checked(start, work.form, k, len(rows.z)), rows.center, rows.scale)
    everywhere, even = rows.weighted(np.ones((rows.n, 1))), np.full(k, 1.0 / k)
    if isinstance(start, str):
        if start == "random":
            return Components(even, rows.z.T[_distinct(rows, rng, k)], _spread(work, everywhere, k))
        from sklearn.cluster import KMeans  # a seventh of a second, which no other start needs

        clusters = KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(rows.z.T, sample_weight=rows.weight)
        share = rows.weighted(np.eye(k)[clusters.labels_])
        return Components(share.sum(axis=0) / rows.total, _means(rows, share), _spread(work, share, k))
    given = np.asarray(start, dtype=float)
    if given.shape == (k, len(rows.z)) and np.isfinite(given).all():
        return Components(even, (given - rows.center) / rows.scale, _spread(work, everywhere, k))
    if given.shape == (rows.n, k) and (given >= 0).all() and np.allclose(given.sum(axis=1), 1.0):
        return work.estimate(work.gathered(rows.weighted(given)))
    raise ParameterError(
        "init has the shape {shape}; a start is {means} for means, or {shares} for responsibilities whose rows "
        "sum to 1",
        shape=str(given.shape),
        means=str((k, len(rows.z))),
        shares=str((rows.n, k)),
    )


def _checked(theta: MixtureParameters, form: Form, k: int, d: int) -> MixtureParameters:
    expected = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}[form]
    shapes = tuple(np.shape(a) for a in theta[:3])
    if theta.form != form or shapes != ((k,), (k, d), expected):
        raise ParameterError(
            "init has {form} covariances and the shapes {shapes}; wanted are {wanted} ones and {expected}",
            form=theta.form,
            shapes=str(shapes),
            wanted=form,
            expected=str(((k,), (k, d), expected)),
        )
    return theta


def _means(rows: StandardizedRows, r: Array) -> Array:
    seen = np.ones_like(rows.z) if rows.seen is None else rows.seen
    cells = seen @ r
    return np.asarray(((rows.z @ r) / np.where(cells > 0, cells, 1.0)).T)


def _spread(work: EMSteps[Any], r: Array, k: int) -> Array:
    """One for all components: the covariance within the groups r (n, G), or the data's where that is too small."""
    own, means = work.rows.covariance, _means(work.rows, r)
    within = own - (means.T * (r.sum(axis=0) / work.rows.total)) @ means
    if not (pivots(within) > 1e-3 * pivots(own)).all():
        within = own
    within = within + np.diag(work.ridge)
    if work.form in ("full", "tied"):
        return np.repeat(within[None], 1 if work.form == "tied" else k, axis=0)
    variance = np.diagonal(within)
    if work.form == "spherical":
        unit = work.rows.scale**2
        variance = (variance * unit).mean() / unit
    return np.repeat(variance[None], k, axis=0)


def to_standard(theta: MixtureParameters, center: Array, scale: Array) -> Components:
    """Parameters in standard units, from the data's."""
    c, d = np.asarray(theta.covariances, dtype=float), len(scale)
    if theta.form in ("full", "tied"):
        spread = c.reshape(-1, d, d) / np.outer(scale, scale)
    else:
        spread = (c if theta.form == "diagonal" else np.repeat(c[:, None], d, axis=1)) / scale**2
    return Components(np.asarray(theta.weights, dtype=float), (np.asarray(theta.means) - center) / scale, spread)


def to_natural(
    theta: Components, order: NDArray[np.intp], form: Form, center: Array, scale: Array
) -> MixtureParameters:
    """Parameters in the data's units, from standard ones, the components in the given order."""
    if form == "tied":
        covariances = theta.spread[0] * np.outer(scale, scale)
    elif form == "full":
        covariances = theta.spread[order] * np.outer(scale, scale)
    else:
        covariances = theta.spread[order] * scale**2
        covariances = covariances[:, 0] if form == "spherical" else covariances
    return MixtureParameters(theta.weights[order], theta.means[order] * scale + center, covariances, form)


def in_order(means: Array) -> NDArray[np.intp]:
    """(K,) the components in ascending order of their means (K, d), in standard units: by the first column, where that
    is equal to `SAME` by the next; equal ones stay as they stand.

    >>> in_order(np.array([[1.0, 0.0], [0.0, 2.0], [1.0 + 1e-9, -3.0]])).tolist()
    [1, 2, 0]
    """

    def before(a: int, b: int) -> int:
        apart = np.flatnonzero(np.abs(means[a] - means[b]) > SAME)
        return 0 if not len(apart) else -1 if means[a, apart[0]] < means[b, apart[0]] else 1

    return np.array(sorted(range(len(means)), key=cmp_to_key(before)), dtype=np.intp)


def _keys(rows: StandardizedRows, of: Any) -> Array:
    """Rows as they are told apart, a missing cell being like any other missing cell."""
    z = rows.z[:, of]
    return np.concatenate([z, np.zeros((0, z.shape[1])) if rows.seen is None else rows.seen[:, of]]).T


def distinct_rows(rows: StandardizedRows, wanted: int) -> int:
    """How many distinct rows there are, counted no farther than is needed to find those wanted."""
    distinct = len(np.unique(_keys(rows, slice(0, 50 * wanted)), axis=0))
    return distinct if distinct >= wanted else len(np.unique(_keys(rows, slice(None)), axis=0))


def _distinct(rows: StandardizedRows, rng: np.random.Generator, k: int) -> NDArray[np.intp]:
    """(k,) rows drawn at random, no two alike."""
    order = rng.permutation(rows.n)
    for size in (min(50 * k, rows.n), rows.n):
        first = np.sort(np.unique(_keys(rows, order[:size]), axis=0, return_index=True)[1])
        if len(first) >= k:
            break
    return order[first[:k]]
