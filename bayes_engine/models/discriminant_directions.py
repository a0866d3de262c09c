"""Directions in which classes are far apart for their spread, from the scatter within and between them; and the
principal axes, which know nothing of classes. scikit-learn's have no trace-ratio objective, and learn from rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayes_engine.covariance import InverseRoot
from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array

MAX_ITER, TOL = 200, 1e-12


def criterion(w: Array, within: Array, between: Array) -> Array:
    """J(w) = wᵀS_b w / wᵀS_w w (Zhou, eq. 3.35, the generalized Rayleigh quotient), for directions w (..., d)."""
    above, below = (np.einsum("...i,ij,...j->...", w, S, w) for S in (between, within))
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.inf), where=below > 0))


class PrincipalAxes(NamedTuple):
    """`axes` (d, d), one a column, and the `variance` (d,) along each, largest first."""

    axes: Array
    variance: Array


def principal_axes(X: Any, weight: Any = None) -> PrincipalAxes:
    """The principal components of X (n, d), each row counting as `weight` (n,) rows, which know nothing of classes:
    eigenvectors of S_t/n, the largest entry of each positive."""
    rows = np.asarray(X, dtype=float)
    share = np.full(len(rows), 1.0 / len(rows)) if weight is None else np.asarray(weight, dtype=float) / np.sum(weight)
    centred = rows - share @ rows
    values, vectors = np.linalg.eigh((centred.T * share) @ centred)
    return PrincipalAxes(signed(vectors[:, ::-1]), np.maximum(values[::-1], 0.0))


def trace_ratio(within: Array, between: Array, k: int) -> tuple[Array, tuple[float, ...]]:
    """W (d, k) with WᵀW = I that maximizes tr(WᵀS_bW)/tr(WᵀS_wW), and that ratio at every step: W from the k largest
    eigenvalues of S_b − λS_w, λ the ratio of the last W (Wang et al., CVPR 2007). The ratio never falls."""
    trace: list[float] = []
    ratio = 0.0
    for _ in range(MAX_ITER):
        W = np.linalg.eigh(between - ratio * within)[1][:, ::-1][:, :k]
        ratio = float(np.trace(W.T @ between @ W) / np.trace(W.T @ within @ W))
        trace.append(ratio)
        if len(trace) > 1 and trace[-1] - trace[-2] <= TOL * trace[-1]:
            break
    return signed(W), tuple(trace)


def discriminant_directions(root: InverseRoot, between: Array) -> tuple[Array, Array]:
    """W (d, r) with S_b W = Σ W Λ and WᵀΣW = I, and the eigenvalues (r,), largest first; the largest entry of each
    direction is positive."""
    values, vectors = np.linalg.eigh(root.whiten.T @ between @ root.whiten)
    order = np.argsort(values)[::-1]
    return signed(root.whiten @ vectors[:, order]), np.maximum(values[order], 0.0)


def signed(W: Array) -> Array:
    """Each column with its largest entry positive.

    >>> signed(np.array([[1.0, 1.0], [-2.0, 3.0]])).tolist()
    [[-1.0, 1.0], [2.0, 3.0]]
    """
    if not W.size:
        return W
    largest = W[np.abs(W).argmax(axis=0), np.arange(W.shape[1])]
    return np.asarray(W * np.where(largest < 0, -1.0, 1.0))


def checked_components(n_components: Any, most: int) -> int:
    """A number of directions. Raises ParameterError where it is not a whole number from 1 to `most`."""
    if (
        isinstance(n_components, bool)
        or not isinstance(n_components, int | np.integer)
        or not 1 <= n_components <= most
    ):
        raise ParameterError(
            "n_components={value}; there are 1 to {most} directions (one less than classes, and no more than columns)",
            value=repr(n_components),
            most=most,
        )
    return int(n_components)
