"""Tables seen along a line or on a plane: Fisher's directions beside the principal axes and LDA's, and what each leaves
of the classes, on rows held out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.fold_models import splits
from bayes_engine.decision.held_out import TINY, held_out
from bayes_engine.errors import BayesEngineError, TableError, listen
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.discriminant_directions import principal_axes
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.progress import steps
from bayes_engine.stats.assumptions import BoxM, Mardia, box_m, mardia
from bayes_engine.table.roles import Parts

T = TypeVar("T")
ROUNDING = 1e-13
"""A variance along a line below this share of that over the plane is none."""
FOLDS = 5
"""Rows are held out in so many folds, where a table is not small."""
WIDE = 3.0
"""Two columns whose spreads differ by more than this factor are drawn in units of their own spread."""


@dataclass(frozen=True, eq=False)
class NumericRows:
    """The rows without a missing cell of some numeric columns: `X` (n, d), `y` (n,) positions among `classes`, `weight`
    (n,), `groups` (n,) or None, `rows` (n,) positions in the table; `left_out` rows had a missing cell."""

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    X: Array
    y: NDArray[np.intp]
    weight: Array
    groups: Any
    rows: NDArray[np.intp]
    left_out: int

    @property
    def frame(self) -> pd.DataFrame:
        """X with its names."""
        return pd.DataFrame(self.X, columns=list(self.names))

    @property
    def labels(self) -> pd.Series:
        """y as class labels."""
        return pd.Series([self.classes[c] for c in self.y], dtype=object)


def numeric_rows(parts: Parts, names: Sequence[str]) -> NumericRows:
    """The rows of a table taken apart that have all cells of the columns `names`; classes without such a row are gone.

    Raises TableError where fewer than two classes are left.
    """
    X = parts.X[list(names)].to_numpy(dtype=float)
    whole = np.isfinite(X).all(axis=1)
    labels = parts.y[whole]
    present = tuple(c for c in parts.target.levels if (labels == c).any())
    if len(present) < 2:
        raise TableError(
            "only {n} class(es) have a row without a missing cell in {names}; choose other columns",
            n=len(present),
            names=", ".join(names),
        )
    codes = pd.Categorical(labels, categories=list(present)).codes.astype(np.intp)
    weight = np.ones(len(codes)) if parts.weight is None else parts.weight[whole].to_numpy(dtype=float)
    groups = None if parts.groups is None else parts.groups[whole].to_numpy()
    kept = np.flatnonzero(whole)
    return NumericRows(tuple(names), present, X[whole], codes, weight, groups, kept, int((~whole).sum()))


# one line in the plane of two columns ---------------------------------------------------------------------------------


class DirectionSeparation(NamedTuple):
    """Along a direction: J = `between`/`within`, both per row, and the `accuracy` of the nearest projected mean with
    the weight it gets `right`."""

    J: float
    within: float
    between: float
    right: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Projection:
    """Two columns and the lines to project them onto, in units of `scale` (2,) around `mean` (2,).

    `points` (n, 2), class `means` (C, 2), `within` S_w/n and `between` S_b/n (2, 2) are in these units. The directions
    are angles in degrees from 0 to 180: `fisher`, the first principal axis `pca`, and `lda` Σ⁻¹(μ_i − μ_j) for the
    `pair` of classes that are hardest to tell apart. `w` (2,) is Fisher's direction in the columns' own units.
    """

    numbers: NumericRows
    mean: Array
    scale: Array
    points: Array
    means: Array
    within: Array
    between: Array
    fisher: float
    pca: float
    lda: float
    pair: tuple[int, int]
    w: Array

    def along(self, degrees: float) -> DirectionSeparation:
        """What the direction at this angle leaves."""
        u = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        within, between = float(u @ self.within @ u), float(u @ self.between @ u)
        nearest = np.abs((self.points @ u)[:, None] - self.means @ u).argmin(axis=1)
        weight = self.numbers.weight
        right = float(weight[nearest == self.numbers.y].sum())
        rounding = ROUNDING * float(np.trace(self.within + self.between))
        J = between / within if within > rounding else float("inf") if between > rounding else 0.0
        return DirectionSeparation(J, within, between, right, right / float(weight.sum()))

    def distances(self, x: Sequence[float] | Array, degrees: float) -> Array:
        """(C,) how far the row `x` (2,), in the columns' own units, is from each projected class mean along the
        direction at this angle, in standard deviations within the classes: whichever units are drawn.

        Raises TableError where the rows of the classes have no spread along it.
        """
        u = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        within = float(u @ self.within @ u)
        if within <= ROUNDING * float(np.trace(self.within + self.between)):
            raise TableError("along this line the rows of a class do not differ: there is no standard deviation")
        place = (np.asarray(x, dtype=float) - self.mean) / self.scale @ u
        return np.asarray(np.abs(place - self.means @ u) / np.sqrt(within))


def project(data: NumericRows, *, standardized: bool | None = None) -> Projection:
    """The lines for two columns. J and Fisher's and LDA's lines do not depend on the units, the principal axis does:
    `standardized` divides each column by its spread; None does so where the spreads differ much.

    Raises TableError where a column has one value only.
    """
    for name, column in zip(data.names, data.X.T, strict=True):
        if (column == column[0]).all():
            raise TableError(
                "column '{column}' has the same value in all rows without a missing cell; choose another", column=name
            )
    model = _fitted(FisherDiscriminant(n_components=1), data)
    spread = np.sqrt(np.diagonal(model.total_) / data.weight.sum())
    wide = bool(spread.max() > WIDE * spread.min()) if standardized is None else standardized
    scale = spread if wide else np.ones(2)
    n, per = float(data.weight.sum()), np.outer(scale, scale)
    within, between = model.within_ / per / n, model.between_ / per / n
    means = (model.means_ - model.xbar_) / scale
    pair = _nearest_pair(means, within)
    separating = np.linalg.lstsq(within, means[pair[1]] - means[pair[0]], rcond=None)[0]
    # for two classes S_w⁻¹(μ₂ − μ₁) with its length, Zhou's eq. 3.39
    w = separating / scale / n if len(data.classes) == 2 else model.scalings_[:, 0]
    return Projection(
        numbers=data,
        mean=model.xbar_,
        scale=scale,
        points=(data.X - model.xbar_) / scale,
        means=means,
        within=within,
        between=between,
        fisher=_degrees(model.scalings_[:, 0] * scale),
        pca=_degrees(np.linalg.eigh(within + between)[1][:, -1]),
        lda=_degrees(separating),
        pair=pair,
        w=w,
    )


def _degrees(direction: Array) -> float:
    return float(np.degrees(np.arctan2(direction[1], direction[0])) % 180.0)


def _nearest_pair(means: Array, within: Array) -> tuple[int, int]:
    """The two classes with the least Mahalanobis distance between their means."""
    inverse = np.linalg.pinv(within)
    pairs = [(i, j) for j in range(len(means)) for i in range(j)]
    return min(pairs, key=lambda p: float((means[p[0]] - means[p[1]]) @ inverse @ (means[p[0]] - means[p[1]])))


# all columns, on two directions ---------------------------------------------------------------------------------------


Objective = Literal["ratio-trace", "trace-ratio"]


@dataclass(frozen=True, eq=False)
class PlaneProjection:
    """All rows on two directions: `points` (n, 2), class `means` (C, 2), the `explained` share of each direction (of
    the spread for the principal axes, of that between the classes for the others), and the `accuracy` of the nearest
    projected mean on rows held out. `trace` is that of the trace-ratio iteration."""

    points: Array
    means: Array
    explained: tuple[float, ...]
    accuracy: float
    trace: tuple[float, ...] = ()


class PlaneProjections(NamedTuple):
    """The same rows as Fisher, PCA and LDA show them, and how rows were held out."""

    fisher: PlaneProjection
    pca: PlaneProjection
    lda: PlaneProjection
    scheme: Message


def plane_projections(data: NumericRows, objective: Objective = "ratio-trace") -> PlaneProjections:
    """Fisher's first two directions, the first two principal axes, and LDA's two discriminant coordinates, each of the
    columns in units of their spread (PCA and trace-ratio depend on the units).

    Raises TableError where there are fewer than three classes or two columns, or where rows cannot be held out.
    """
    if len(data.classes) < 3 or len(data.names) < 2:
        raise TableError("a plane needs three classes and two columns; two classes have one direction only")
    folded, scheme = splits_of(data)

    def screen(make: Callable[[NumericRows], LinearMap]) -> PlaneProjection:
        seen = make(data)
        points = seen.of(data.X)
        guesses = np.empty(len(data.y), dtype=np.intp)
        for train, test in steps(folded):
            part = part_of(data, train)
            fold = make(part)
            there = _means(fold.of(part.X), part)
            guesses[test] = ((fold.of(data.X[test])[:, None, :] - there) ** 2).sum(axis=2).argmin(axis=1)
        accuracy = float(data.weight[guesses == data.y].sum() / data.weight.sum())
        return PlaneProjection(points, _means(points, data), seen.explained, accuracy, seen.trace)

    return PlaneProjections(screen(lambda part: _fisher_map(part, objective)), screen(pca_map), screen(lda_map), scheme)


class LinearMap(NamedTuple):
    """x ↦ ((x − mean)/scale) W."""

    mean: Array
    scale: Array
    W: Array
    explained: tuple[float, ...] = ()
    trace: tuple[float, ...] = ()

    def of(self, X: Array) -> Array:
        return np.asarray(((X - self.mean) / self.scale) @ self.W)


def standard_map(data: NumericRows) -> LinearMap:
    """Columns with mean 0 and variance 1."""
    mean = np.average(data.X, axis=0, weights=data.weight)
    spread = np.sqrt(np.average((data.X - mean) ** 2, axis=0, weights=data.weight))
    return LinearMap(mean, np.where(spread > 0, spread, 1.0), np.eye(len(mean)))


def pca_map(data: NumericRows, k: int = 2) -> LinearMap:
    """Onto the first k principal axes."""
    plain = standard_map(data)
    axes, variance = principal_axes(plain.of(data.X), data.weight)
    return plain._replace(W=axes[:, :k], explained=tuple((variance / variance.sum())[:k].tolist()))


def _fisher_map(data: NumericRows, objective: Objective) -> LinearMap:
    plain = standard_map(data)
    model = _fitted(FisherDiscriminant(n_components=2, objective=objective), data, plain.of(data.X))
    return plain._replace(W=model.scalings_, explained=tuple(model.explained_ratio_.tolist()), trace=model.trace_)


def lda_map(data: NumericRows, k: int | None = 2) -> LinearMap:
    """Onto the first k of LDA's directions, None for all."""
    plain = standard_map(data)
    model = _fitted(LinearDiscriminantAnalysis(n_components=k), data, plain.of(data.X))
    return plain._replace(W=model.scalings_, explained=tuple(model.explained_variance_ratio_.tolist()))


def _means(points: Array, data: NumericRows) -> Array:
    """(C, k) the weighted class means; of a class without a row, infinitely far."""
    out = np.full((len(data.classes), points.shape[1]), np.inf)
    for c in range(len(data.classes)):
        own = data.y == c
        if own.any():
            out[c] = np.average(points[own], axis=0, weights=data.weight[own])
    return out


# from LDA to QDA ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PooledAnalysis:
    """Gaussian discriminant analysis with the covariances pooled by λ and shrunk by γ, and how it does on rows held
    out: `accuracy` and `log_loss` (nats, ∞ where a row left out leaves its class without a density)."""

    model: QuadraticDiscriminantAnalysis
    accuracy: float
    log_loss: float
    scheme: Message


def pooled_analysis(data: NumericRows, pooling: float, shrinkage: float = 0.0) -> PooledAnalysis:
    """Friedman's regularized discriminant analysis on the rows: λ = 1 is LDA, λ = 0 is QDA.

    Raises TableError where a class has no covariance to invert.
    """
    frame, labels = data.frame, data.labels
    model = QuadraticDiscriminantAnalysis(priors="empirical", pooling=pooling, shrinkage=shrinkage or None)
    with listen():
        model.fit(frame, labels, data.weight)
        held = held_out(model, frame, labels, groups=data.groups, sample_weight=data.weight)
    accuracy, log_loss = accuracy_and_log_loss(held.log_posterior, held.truth, held.weight)
    return PooledAnalysis(model, accuracy, log_loss, held.scheme)


class Assumptions(NamedTuple):
    """What LDA assumes, tested: `box` equal covariances, `mardia` a normal class, for each; an error says why a test
    is impossible. `condition` is that of the correlations within the classes, `sizes` the rows of each class."""

    box: BoxM | BayesEngineError
    mardia: tuple[Mardia | BayesEngineError, ...]
    sizes: tuple[int, ...]
    condition: float


def assumptions(data: NumericRows) -> Assumptions:
    """Box's M over the classes, Mardia's tests in each, and the condition number."""
    model = _fitted(LinearDiscriminantAnalysis(), data)
    members = [data.X[data.y == c] for c in range(len(data.classes))]
    return Assumptions(
        _tried(box_m, model.stats_.scatter),
        tuple(_tried(mardia, rows) for rows in members),
        tuple(len(rows) for rows in members),
        model.condition_,
    )


def _tried(test: Callable[[Any], T], given: Any) -> T | BayesEngineError:
    try:
        return test(given)
    except BayesEngineError as error:
        return error


# rows in parts --------------------------------------------------------------------------------------------------------


def _fitted(model: Any, data: NumericRows, X: Array | None = None) -> Any:
    with listen():  # collinear columns are exact in their span
        rows = data.frame if X is None else pd.DataFrame(X, columns=list(data.names))
        return model.partial_fit(rows, data.y, np.arange(len(data.classes)), data.weight)


def accuracy_and_log_loss(log_p: Array, truth: NDArray[np.intp], weight: Array) -> tuple[float, float]:
    """The share of the weight that is decided rightly, and the mean log-loss (nats), of log posteriors (n, C)."""
    total = float(weight.sum())
    right = float(weight[log_p.argmax(axis=1) == truth].sum())
    return right / total, -float(weight @ log_p[np.arange(len(truth)), truth]) / total


def part_of(data: NumericRows, rows: NDArray[np.intp]) -> NumericRows:
    """Some of the rows."""
    groups = None if data.groups is None else data.groups[rows]
    return NumericRows(
        data.names, data.classes, data.X[rows], data.y[rows], data.weight[rows], groups, data.rows[rows], 0
    )


def splits_of(data: NumericRows) -> tuple[list[tuple[Any, Any]], Message]:
    """Each row alone in a small table, stratified folds beyond; rows of one group stay together."""
    if data.groups is None and len(data.y) <= TINY:
        from sklearn.model_selection import LeaveOneOut

        return list(LeaveOneOut().split(data.y)), Message("each row held out in turn")
    if data.groups is None:
        stratified, scheme = splits(data.y, None, FOLDS, 0)
        return list(stratified), Message("{k} folds, stratified", scheme.params)
    return splits(data.y, pd.factorize(pd.Series(data.groups), use_na_sentinel=False)[0], FOLDS, 0)
