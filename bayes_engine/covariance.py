"""Covariance matrices from scatter, from a class's own to one for all, and shrunk; inverse roots, with a condition.
scikit-learn's estimators shrink from the rows; these need only a scatter, which merges and forgets.

A scatter is what `bayes_engine.stats.scatter` keeps of a class: weight n_c and m2 (d, d) = Σ (x − mean)(x − mean)ᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import solve_triangular

from bayes_engine.errors import ParameterError
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.stats.counts import MOST_CELLS
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.scatter import Scatter

ILL_CONDITIONED = 1e10
"""A condition number from which on the answers have lost more than half of their digits."""


def pooled(weight: Array, m2: Array, share: float, ddof: int = 0) -> Array:
    """(C, d, d) on Friedman's path from QDA (`share` λ = 0) to LDA (λ = 1): Σ_c(λ) = ((1 − λ) S_c + λ S)/((1 − λ) n_c
    + λ n), with S = Σ_c S_c and n_c less `ddof` (Friedman, JASA 84, 1989)."""
    degrees = np.maximum(np.where(weight > 0, weight - ddof, 0.0), 0.0)
    matrix = (1.0 - share) * m2 + share * m2.sum(axis=0)
    divisor = (1.0 - share) * degrees + share * degrees.sum()
    return np.asarray(
        np.divide(matrix, divisor[:, None, None], out=np.zeros_like(m2), where=divisor[:, None, None] > 0)
    )


def shrunk(matrices: Array, amount: Array, target: Literal["diagonal", "spherical"]) -> Array:
    """(C, d, d) (1 − γ_c) Σ_c + γ_c T_c, for `amount` γ (C,) from 0 to 1; T is the diagonal of Σ, or (tr Σ/d) I."""
    if not amount.any():
        return matrices
    own = np.diagonal(matrices, axis1=-2, axis2=-1)
    goal = own if target == "diagonal" else np.broadcast_to(own.mean(axis=-1, keepdims=True), own.shape)
    gamma = amount[:, None, None]
    return np.asarray((1.0 - gamma) * matrices + gamma * (goal[..., None] * np.eye(own.shape[-1])))


def correlations(m2: Array) -> Array:
    """(C, d, d) each matrix with its columns in units of their own spread; a column without any is zero throughout."""
    sd = np.sqrt(np.maximum(np.diagonal(m2, axis1=-2, axis2=-1), 0.0))
    per = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    return np.asarray(m2 * per[..., :, None] * per[..., None, :])


def oas_amounts(weight: Array, m2: Array) -> Array:
    """(C,) the share γ by which each class's correlations shrink to zero: oracle approximating shrinkage (Chen, Wiesel,
    Eldar & Hero, IEEE TSP 58, 2010, eq. 23, as scikit-learn writes it), from the scatter alone."""
    r = correlations(m2)
    d = np.maximum((np.diagonal(r, axis1=-2, axis2=-1) > 0).sum(axis=-1), 1)
    mean_square = (r**2).sum(axis=(-2, -1)) / d**2
    mu_squared = (np.trace(r, axis1=-2, axis2=-1) / d) ** 2
    above, below = mean_square + mu_squared, (weight + 1.0) * (mean_square - mu_squared / d)
    return np.asarray(np.minimum(np.divide(above, below, out=np.ones_like(above), where=below > 1e-15 * above), 1.0))


def fourth_powers(scatter: Scatter, X: Array, labels: Labels) -> Array:
    """(C,) Σ_i w_i ‖z_i‖⁴ over the rows X (n, d) of each class, z being a row standardized by its class's mean and
    deviations, which are those of `scatter`, of these rows or of these and others: what Ledoit and Wolf need of rows.
    A column without spread in the class is left out."""
    powers = np.zeros(len(scatter.weight))
    for c, rows, w in labels.members():
        variance = np.diagonal(scatter.m2[c]) / scatter.weight[c]
        spread = variance > 0
        Z = (X[rows] - (scatter.pivot + scatter.mean[c]))[:, spread] / np.sqrt(variance[spread])
        powers[c] = float((np.ones(len(Z)) if w is None else w) @ (Z**2).sum(axis=1) ** 2)
    return powers


def ledoit_wolf_amounts(scatter: Scatter, powers: Array) -> Array:
    """(C,) the share γ by which each class's correlations shrink to zero (Ledoit & Wolf, JMVA 88, 2004, of
    the standardized class, as scikit-learn's discriminant analysis takes it), from the scatter of all rows and their
    `fourth_powers` (C,)."""
    amounts = np.zeros(len(scatter.weight))
    for c in np.flatnonzero(scatter.weight):
        n, d = scatter.weight[c], int((np.diagonal(scatter.m2[c]) > 0).sum())
        if d == 0:
            continue
        squares = float((correlations(scatter.m2[c]) ** 2).sum())
        apart = (squares - d) / d
        noise = min((float(powers[c]) / n - squares) / (d * n), apart)
        amounts[c] = noise / apart if noise > 0 else 0.0
    return amounts


@dataclass(frozen=True)
class InverseRoot:
    """`whiten` (d, r) with WᵀΣW = I, `log_det` of Σ (of its r nonzero eigenvalues), `condition` of its correlations.

    `flat` (d, d − r): the directions, in standardized columns, in which Σ has no spread.
    """

    whiten: Array
    log_det: float
    condition: float
    flat: Array

    @property
    def rank(self) -> int:
        return int(self.whiten.shape[1])


def inverse_root(covariance: Array) -> InverseRoot:
    """W with WᵀΣW = I: W = D⁻¹L⁻ᵀ of the correlations D⁻¹ΣD⁻¹ = LLᵀ (Cholesky), so that Wᵀ is lower triangular and no
    unit matters; by their eigenvectors where they have no full rank, for the span alone.

    Raises ParameterError on a matrix that is no covariance: not symmetric, or with an eigenvalue below zero.

    >>> inverse_root(np.array([[4.0, 0.0], [0.0, 1.0]])).whiten.tolist()
    [[0.5, 0.0], [0.0, 1.0]]
    """
    d = len(covariance)
    if d == 0:  # a row of which nothing is known
        return InverseRoot(np.zeros((0, 0)), 0.0, 1.0, np.zeros((0, 0)))
    variance = np.diagonal(covariance)
    size = np.sqrt(np.abs(np.outer(variance, variance)))
    lopsided = not np.allclose(covariance, covariance.T, rtol=0.0, atol=1e-8 * float(size.max(initial=0.0)))
    r = correlations(covariance[None])[0]
    values, vectors = np.linalg.eigh((r + r.T) / 2.0)
    if lopsided or (variance < 0).any() or values[0] < -1e-8 * max(values[-1], 1.0):
        raise ParameterError(
            "a covariance matrix must be symmetric with no eigenvalue below zero; the least one here is {value:.3g} "
            "(of the correlations)",
            value=float(min(values[0], variance.min())),
        )
    per = np.divide(1.0, np.sqrt(variance), out=np.zeros(d), where=variance > 0)
    kept = values > 10.0 * d * np.finfo(float).eps * values[-1]
    least = max(float(values[0]), float(np.finfo(float).eps * values[-1]))
    condition = float(values[-1] / least) if values[-1] > 0 else float("inf")
    log_sd = float(np.log(variance[variance > 0]).sum())
    if kept.all():
        root = np.linalg.cholesky(r)
        whiten = solve_triangular(root, np.diag(per), lower=True).T
        return InverseRoot(whiten, log_sd + 2.0 * float(np.log(np.diagonal(root)).sum()), condition, vectors[:, :0])
    whiten = per[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return InverseRoot(whiten, log_sd + float(np.log(values[kept]).sum()), condition, vectors[:, ~kept])


def pivots(covariance: Array) -> Array:
    """(d,) the variance of each column given those before it; 0 from the first on that is a function of them.

    >>> pivots(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist(), pivots(np.ones((2, 2))).tolist()
    ([4.0, 4.0], [1.0, 0.0])
    """
    d = len(covariance)
    for size in range(d, 0, -1):
        try:
            squared_pivots = np.diagonal(np.linalg.cholesky(covariance[:size, :size])) ** 2
        except np.linalg.LinAlgError:
            continue
        return np.concatenate([squared_pivots, np.zeros(d - size)])
    return np.zeros(d)


def collinear(flat: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that take part in the directions `flat` (d, k) without spread.

    >>> collinear(np.array([[0.7], [0.0], [-0.7]]), ("x", "y", "twice x"))
    ('x', 'twice x')
    """
    part = np.abs(flat).max(axis=1, initial=0.0)
    return tuple(name for name, p in zip(names, part, strict=True) if p > 1e-4)


def listed(names: tuple[str, ...], most: int = 8) -> Listing:
    """The names in a sentence, the first few of many.

    >>> listed(("x", "y", "z"), 2)
    'x, y, …'
    """
    return Listing(names if len(names) <= most else (*names[:most], "…"))


def checked_shrinkage(shrinkage: Any) -> Any:
    """None, "auto", "oas" or a float from 0 to 1. Raises ParameterError for anything else.

    >>> checked_shrinkage(0), checked_shrinkage("auto")
    (0.0, 'auto')
    """
    if shrinkage is None or (isinstance(shrinkage, str) and shrinkage in ("auto", "oas")):
        return shrinkage
    if isinstance(shrinkage, int | float | np.number) and not isinstance(shrinkage, bool) and 0.0 <= shrinkage <= 1.0:
        return float(shrinkage)
    raise ParameterError(
        "shrinkage={value}; it is None, 'auto' (Ledoit-Wolf), 'oas', or a share from 0 to 1", value=repr(shrinkage)
    )


def refuse_matrices(n: int, d: int) -> None:
    """Raises ParameterError where n covariance matrices of d columns would hold more than MOST_CELLS numbers."""
    if n * d * d > MOST_CELLS:
        raise ParameterError(
            "{n} covariance matrices of {d} columns would hold {cells:.3g} numbers, and the limit is {most:.3g}; take "
            "fewer columns, the first principal components, say, or naive Bayes",
            n=n,
            d=d,
            cells=float(n * d * d),
            most=float(MOST_CELLS),
        )
