"""Quantities of the textbook written from their definitions, to hold what is computed otherwise against."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayes_engine.models.discriminant_directions import criterion


class ScatterMatrices(NamedTuple):
    """`within` S_w, `between` S_b and `total` S_t, each (d, d); S_t = S_w + S_b."""

    within: np.ndarray
    between: np.ndarray
    total: np.ndarray


def scatter_matrices(X: Any, y: Any) -> ScatterMatrices:
    """S_w = Σ_c Σ_{i∈c} (x_i − μ_c)(x_i − μ_c)ᵀ, S_b = Σ_c n_c (μ_c − μ)(μ_c − μ)ᵀ, S_t = Σ_i (x_i − μ)(x_i − μ)ᵀ
    (Zhou, eq. 3.33, 3.38, 3.39), for rows X (n, d) and labels y (n,)."""
    rows, labels = np.asarray(X, dtype=float), np.asarray(y)
    centred = rows - rows.mean(axis=0)
    within, between = (np.zeros((rows.shape[1], rows.shape[1])) for _ in range(2))
    for label in np.unique(labels):
        own = centred[labels == label]
        mean = own.mean(axis=0)
        within += (own - mean).T @ (own - mean)
        between += len(own) * np.outer(mean, mean)
    return ScatterMatrices(within, between, centred.T @ centred)


def criterion_by_angle(degrees: Any, within: np.ndarray, between: np.ndarray) -> np.ndarray:
    """(m,) J of the directions of a plane at these angles to its first axis."""
    angle = np.radians(np.asarray(degrees, dtype=float))
    return criterion(np.stack([np.cos(angle), np.sin(angle)], axis=-1), within, between)
