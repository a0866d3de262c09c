"""The Gaussian of LDA and of QDA as factors, over tables that are all numbers; a missing cell is integrated out.
scikit-learn's LDA and QDA refuse missing cells and give no terms by column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.covariance import InverseRoot, inverse_root
from bayes_engine.errors import ParameterError
from bayes_engine.factors import LOG_2PI, Factor, Row
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.columns import PriorAndColumns
from bayes_engine.factors.sources import Linear, Source, Term
from bayes_engine.logspace import Array, log
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import matrix, slices, squares, sum_of_squares
from bayes_engine.table.schema import Variable

BLOCK = 2048
"""Rows that are scored at a time: they stay in the cache between the check for missing cells and the product."""


@dataclass(frozen=True)
class JointGaussian(Factor):
    """A Gaussian of the columns `names` in each class. `columns` (d,) are their places in the schema; `centre` m (d,),
    `apart` (C, d) = μ_c − m. A missing cell is integrated out: the rows that miss the same cells have the Gaussian of
    the others."""

    names: tuple[str, ...]
    columns: NDArray[np.intp]
    target: str
    centre: Array
    apart: Array
    covariance: Array

    def gathers(self, column: str) -> bool:
        return column in self.names

    def posterior(self, target: Variable) -> None:
        raise ParameterError(
            "there is no band for LDA and QDA: their whole covariance matrices are not drawn here; naive Bayes of the "
            "same numbers has one, of means and variances"
        )

    def odds_against_first(self, log_prior: Array) -> LinearScores | None:
        """The log-odds of every other class against the first, with log prior (C,), where they are linear."""
        return None

    def values(self, X: Table) -> Array:
        """(n, d) the numbers of these columns, not copied where the table has no others."""
        values = matrix(X)
        return values[:, self.columns] if len(self.columns) < values.shape[1] else values

    def _alike(self, values: Array) -> Iterator[tuple[Any, NDArray[np.intp], Array]]:
        """The rows that miss the same cells, the columns they have, and x − m (r, k) in these."""
        for rows, known in _patterns(values):
            there = values[rows] if len(known) == values.shape[1] else values[rows][:, known]
            yield rows, known, there - self.centre[known]


@dataclass(frozen=True)
class LinearScores:
    """Scores of k classes that are linear in the numbers of a row without a missing or far cell, x·w − shift, by
    `weights` w (d, k) and `shift` (k, 1); or (x − origin)·w − shift. `reach` is the sum of squares below which a block
    has no other row."""

    weights: Array
    shift: Array
    origin: Array | None
    reach: float

    def against_first(self, log_prior: Array) -> LinearScores:
        """Those of every other class less that of the first, with log prior (C,)."""
        weights = np.ascontiguousarray(self.weights[:, 1:] - self.weights[:, :1])
        over = (log_prior[1:] - log_prior[0])[:, None]
        return replace(self, weights=weights, shift=self.shift[1:] - self.shift[:1] - over)

    def write(self, block: Array, out: Array) -> bool:
        """Write the scores of a block of rows (m, d) into `out` (k, m). False, and nothing is written, where a cell may
        be missing or far out."""
        if not squares(block) < self.reach:
            return False
        product = (block if self.origin is None else block - self.origin) @ self.weights
        np.subtract(product.T, self.shift, out=out)
        return True


@dataclass(frozen=True)
class LinearFactor(JointGaussian):
    """log N(x; μ_c, Σ) with one Σ (d, d) for all classes, split by column.

    With u = x − m, v_c = μ_c − m for the overall mean m, and w_c = Σ⁻¹v_c:
    log N = Σ_j w_cj (u_j − v_cj/2) − ½ uᵀΣ⁻¹u − ½ log det Σ − (d/2) log 2π, of which only the first depends on c.
    Where Σ is diagonal the terms of a column differ between classes by exactly what naive Bayes says of it.
    """

    root: InverseRoot = field(init=False, repr=False)
    weights: Array = field(init=False, repr=False)  # (C, d)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", inverse_root(self.covariance))
        object.__setattr__(self, "weights", _through(self.apart, self.root))

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        complete = all(not math.isnan(X[name][0]) for name in self.names)
        for row, term in self.rows(X):
            terms = [float(v) for v in term[0]]
            if row.name not in self.names or not complete:
                yield tuple(Term(v) for v in terms)
                continue
            j, x = self.names.index(row.name), float(X[row.name][0])
            middles = (self.centre[j] + self.apart[:, j] / 2).tolist()
            weights = self.weights[:, j].tolist()
            yield tuple(Linear(v, w, x, t) for v, w, t in zip(terms, weights, middles, strict=True))

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        values, n, (n_classes, d) = self.values(X), X.n, self.apart.shape
        terms, common, constant = np.zeros((d, n_classes, n)), np.zeros(n), np.zeros(n)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, known, u in self._alike(values):
                root, w, v = self._marginal(known)
                for j, column in enumerate(known):
                    terms[column][:, rows] = w[:, j, None] * (u[:, j] - 0.5 * v[:, j, None])
                common[rows], constant[rows] = _distance(u, root), _constant(root)
        far = np.isneginf(common)
        terms[:, :, far] = np.where(np.isfinite(terms[:, :, far]), terms[:, :, far], 0.0)
        for j, name in enumerate(self.names):
            if not np.isnan(values[:, j]).all():
                yield Row(name, name, (self.target,), "log-density"), terms[j].T
        shape = (n, n_classes)
        yield Row("−½ (x−x̄)ᵀΣ⁻¹(x−x̄)", "x", (), "constant"), np.broadcast_to(common[:, None], shape)
        yield Row("−½ log det Σ − (d/2) log 2π", "Σ", (), "constant"), np.broadcast_to(constant[:, None], shape)

    def log(self, X: Table) -> Array:
        values, out = self.values(X), np.empty((len(self.apart), X.n))
        for block in slices(X.n, BLOCK):
            linear, rest = self._evaluate(values[block])
            out[:, block] = linear + rest
        return out.T

    def scores(self, X: Table) -> Array:
        """(n, C) what of log N depends on the class; −inf throughout where a row is too far out for any density."""
        values, out = self.values(X), np.empty((len(self.apart), X.n))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in slices(X.n, BLOCK):
                if not self._of_near_rows.write(values[rows], out[:, rows]):
                    linear, rest = self._evaluate(values[rows])
                    out[:, rows] = np.where(np.isneginf(rest), -np.inf, linear)
        return out.T

    def odds_against_first(self, log_prior: Array) -> LinearScores:
        return self._of_near_rows.against_first(log_prior)

    @cached_property
    def _of_near_rows(self) -> LinearScores:
        near = (np.abs(self.weights) @ np.abs(self.centre)).max(initial=0.0) < 1e3  # few digits lost to the origin
        middles = 0.5 * self.apart + (self.centre if near else 0.0)
        shift = (self.weights * middles).sum(axis=1)[:, None]
        return LinearScores(self.weights.T.copy(), shift, None if near else self.centre, _reach(self.covariance))

    def _evaluate(self, values: Array) -> tuple[Array, Array]:
        """(C, n) the terms that depend on the class, summed, and (n,) the others."""
        linear, rest = np.zeros((len(self.apart), len(values))), np.zeros(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, known, u in self._alike(values):
                root, w, v = self._marginal(known)
                linear[:, rows] = w @ u.T - 0.5 * (w * v).sum(axis=1)[:, None]
                rest[rows] = _distance(u, root) + _constant(root)
        far = np.isneginf(rest)
        linear[:, far] = np.where(np.isfinite(linear[:, far]), linear[:, far], 0.0)
        return linear, rest

    def _marginal(self, known: NDArray[np.intp]) -> tuple[InverseRoot, Array, Array]:
        if len(known) == len(self.columns):
            return self.root, self.weights, self.apart
        root = inverse_root(self.covariance[np.ix_(known, known)])
        return root, _through(self.apart[:, known], root), self.apart[:, known]


@dataclass(frozen=True)
class QuadraticFactor(JointGaussian):
    """log N(x; μ_c, Σ_c) in three rows: −½ log det Σ_c, −½ (x − μ_c)ᵀΣ_c⁻¹(x − μ_c), −(d/2) log 2π; `covariance` is
    (C, d, d)."""

    roots: tuple[InverseRoot, ...] = field(init=False, repr=False)
    _marginals: dict[tuple[int, ...], tuple[InverseRoot, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roots", tuple(map(inverse_root, self.covariance)))
        object.__setattr__(self, "_marginals", {})

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        values, n_classes = self.values(X), len(self.apart)
        determinant, distance, dimension = np.empty((n_classes, X.n)), np.empty((n_classes, X.n)), np.empty(X.n)
        for block in slices(X.n, BLOCK):
            determinant[:, block], distance[:, block], dimension[block] = self._evaluate(values[block])
        yield Row("−½ log det Σ", "Σ", (self.target,), "log-density"), determinant.T
        yield Row("−½ (x−μ)ᵀΣ⁻¹(x−μ)", "x", (self.target,), "log-density"), distance.T
        constant = np.broadcast_to((-0.5 * LOG_2PI * dimension)[:, None], (X.n, n_classes))
        yield Row("−(d/2) log 2π", "d", (), "constant"), constant

    def log(self, X: Table) -> Array:
        return self._blockwise(X, LOG_2PI)

    def scores(self, X: Table) -> Array:
        """(n, C) log N without its constant; −inf where a row is too far out for any density."""
        return self._blockwise(X, 0.0)

    def chain(self, X: Table, order: Sequence[str]) -> Iterator[tuple[Row, Array]]:
        """One row a column: log p(x_j | the columns before it in `order`, c); their sum is log N."""
        place = [self.names.index(name) for name in order if name in self.names]
        U = (matrix(X)[:, self.columns] - self.centre)[:, place]
        terms = np.zeros((len(place), len(self.apart), X.n))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, known in _patterns(U):
                there = np.array(place, dtype=np.intp)[known]
                for c, v in enumerate(self.apart):
                    whiten = inverse_root(self.covariance[c][np.ix_(there, there)]).whiten
                    z = (U[rows][:, known] - v[there]) @ whiten
                    own = -0.5 * (z**2 + LOG_2PI) + np.log(np.diagonal(whiten))
                    terms[known, c, rows if isinstance(rows, slice) else rows[:, None]] = (
                        own.T if isinstance(rows, slice) else own
                    )
        terms[np.isnan(terms)] = -np.inf
        for k, j in enumerate(place):
            if not np.isnan(U[:, k]).all():
                before = tuple(self.names[i] for i in place[:k])
                yield Row(self.names[j], self.names[j], (self.target, *before), "log-density"), terms[k].T

    def _blockwise(self, X: Table, log_2pi: float) -> Array:
        values, out = self.values(X), np.empty((len(self.apart), X.n))
        for block in slices(X.n, BLOCK // 2):
            determinant, distance, dimension = self._evaluate(values[block])
            np.add(distance, determinant - 0.5 * log_2pi * dimension, out=out[:, block])
        return out.T

    @cached_property
    def _whitened(self) -> tuple[float, Array, Array]:
        """The sum of squares below which a block has no missing or far cell and products tell its distances, 0 where
        the classes lie too far apart for that; (d,) the origin of the products, 0 or m where too many digits would be
        lost to 0; (C, d, 1) W_cᵀ(μ_c − origin)."""
        near = all((np.abs(self.centre) @ np.abs(root.whiten)).max(initial=0.0) < 1e3 for root in self.roots)
        origin = np.zeros(len(self.centre)) if near else self.centre
        means = self.apart + (self.centre - origin)
        shifts = np.array([mean @ root.whiten for mean, root in zip(means, self.roots, strict=True)])
        reach = min(map(_reach, self.covariance)) if np.abs(shifts).max(initial=0.0) < 1e4 else 0.0
        return reach, origin, shifts[:, :, None]

    def _evaluate(self, values: Array) -> tuple[Array, Array, Array | float]:
        """−½ log det Σ and −½ Mahalanobis², (C, n), and the number of cells that are there, (n,); where that is all,
        (C, 1), (C, n) and d."""
        reach, origin, shifts = self._whitened
        distance = np.zeros((len(self.apart), len(values)))
        if sum_of_squares(values) < reach:
            u = values - origin if origin.any() else values
            for own, root, shift in zip(distance, self.roots, shifts, strict=True):
                z = root.whiten.T @ u.T
                np.multiply(_squared_lengths(np.subtract(z, shift, out=z)), -0.5, out=own)
            return np.array([[-0.5 * root.log_det] for root in self.roots]), distance, float(len(self.columns))
        determinant, dimension = np.zeros_like(distance), np.zeros(len(values))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, known, u in self._alike(values):
                dimension[rows] = len(known)
                away = np.empty_like(u)  # new memory is slow
                for c, (v, root) in enumerate(zip(self.apart, self._marginal(known), strict=True)):
                    determinant[c, rows] = -0.5 * root.log_det
                    distance[c, rows] = _distance(np.subtract(u, v[known], out=away), root)
        return determinant, distance, dimension

    def _marginal(self, known: NDArray[np.intp]) -> tuple[InverseRoot, ...]:
        """The roots of the covariances of these columns; those last asked for are remembered, for the next block."""
        columns = tuple(known.tolist())
        if len(columns) == len(self.columns):
            return self.roots
        roots = self._marginals.get(columns)
        if roots is None:
            roots = tuple(inverse_root(own[np.ix_(known, known)]) for own in self.covariance)
            object.__setattr__(self, "_marginals", {columns: roots})
        return roots


@dataclass(frozen=True)
class Discriminant(PriorAndColumns):
    """The class prior and a Gaussian factor."""

    parts: tuple[ClassPrior, LinearFactor | QuadraticFactor]

    @property
    def gaussian(self) -> LinearFactor | QuadraticFactor:
        return self.parts[1]

    def scores(self, X: Table) -> Array:
        """(n, C) the joint without what all classes share: the same posterior."""
        return self._with_prior(self.gaussian.scores(X))

    def log_odds(self, X: Table, out: Array) -> bool:
        """Write into `out` (n, C − 1) log P(c|x)/P(c_1|x) of every other class: one product less than `scores` takes.
        False where that is to be asked: of QDA, or where the first class has no prior, or a cell is missing or far
        out."""
        odds = self._odds
        if odds is None:
            return False
        values = self.gaussian.values(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return all(odds.write(values[rows], out[rows].T) for rows in slices(X.n, BLOCK))

    @cached_property
    def _odds(self) -> LinearScores | None:
        prior = log(self.parts[0].p)
        return self.gaussian.odds_against_first(prior) if prior[0] > -np.inf else None


def _patterns(values: Array) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    """The rows that miss the same cells, and the columns they have."""
    missing = np.isnan(values)
    if not missing.any():
        yield slice(None), np.arange(values.shape[1])
        return
    if (missing == missing[0]).all():  # as on a plane of two columns, over the others
        yield slice(None), np.flatnonzero(~missing[0])
        return
    kinds, which = np.unique(missing, axis=0, return_inverse=True)
    for k, kind in enumerate(kinds):
        yield np.flatnonzero(np.ravel(which) == k), np.flatnonzero(~kind)


def _through(apart: Array, root: InverseRoot) -> Array:
    """(C, d) Σ⁻¹v for every row v of `apart`; in the span of Σ where it has no full rank."""
    return np.asarray((apart @ root.whiten) @ root.whiten.T)


def _distance(u: Array, root: InverseRoot) -> Array:
    """(n,) −½ uᵀΣ⁻¹u of every row of u (n, d); −inf where a row is infinite or too far out to be squared."""
    distance = -0.5 * _squared_lengths(root.whiten.T @ u.T)
    distance[np.isnan(distance)] = -np.inf
    return np.asarray(distance)


def _squared_lengths(z: Array) -> Array:
    """(n,) ‖z‖² of every column of z (d, n), which is written into: long rows are added up faster than short ones."""
    return np.asarray(np.multiply(z, z, out=z).sum(axis=0))


def _constant(root: InverseRoot) -> float:
    return -0.5 * (root.rank * LOG_2PI + root.log_det)


def _reach(covariance: Array) -> float:
    """The sum of squares up to which no row of a block comes near overflow, or is missing or infinite."""
    least = float(np.diagonal(covariance).min(initial=1.0))
    return 1e280 * min(least, 1.0)
