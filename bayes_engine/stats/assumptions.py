"""Is what discriminant analysis assumes true of this table: equal covariances (Box), normal classes (Mardia)? Neither
SciPy nor scikit-learn has these tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from bayes_engine.errors import TableError
from bayes_engine.logspace import Array
from bayes_engine.stats.scatter import Scatter

DETERMINED = 1e-12
"""Least eigenvalue of the correlations at which a column is what the others say, but for rounding."""


class BoxM(NamedTuple):
    """`m` = (n − K) ln|S| − Σ_c (n_c − 1) ln|S_c|; `chi2` its corrected form with `df` degrees; `p_value` of it where
    all classes are normal with one covariance."""

    m: float
    chi2: float
    df: int
    p_value: float


class Mardia(NamedTuple):
    """Multivariate `skewness` b₁ with n b₁/6 = `chi2` on `df` degrees, and `kurtosis` b₂ with its `z`; the p-values
    hold for a normal sample, for large n."""

    skewness: float
    chi2: float
    df: int
    skewness_p: float
    kurtosis: float
    z: float
    kurtosis_p: float


def box_m(scatter: Scatter) -> BoxM:
    """Box's M test of equal covariance matrices (Box, Biometrika 36, 1949, the χ² approximation); it reacts to classes
    that are not normal as well. Weights count as rows; classes without rows are left out.

    Raises TableError where a class has no more rows than columns, or columns that determine one another.
    """
    some = scatter.weight > 0
    weight, m2, d = scatter.weight[some], scatter.m2[some], len(scatter.names)
    degrees, k = weight - 1.0, int(some.sum())
    if k < 2:
        raise TableError("Box's test compares covariances of two classes or more")
    pooled = _log_det(m2.sum(axis=0) / degrees.sum(), scatter.names) if (degrees > 0).all() else 0.0
    own = []
    for n, matrix in zip(weight, m2, strict=True):
        _enough_rows(float(n), d)
        own.append(_log_det(matrix / (n - 1.0), scatter.names))
    m = float(degrees.sum() * pooled - degrees @ own)
    correction = (float((1.0 / degrees).sum()) - 1.0 / float(degrees.sum())) * (2 * d * d + 3 * d - 1)
    chi2 = (1.0 - correction / (6.0 * (d + 1) * (k - 1))) * m
    df = d * (d + 1) * (k - 1) // 2
    return BoxM(m, chi2, df, float(stats.chi2.sf(chi2, df)))


def mardia(X: Array) -> Mardia:
    """Mardia's skewness and kurtosis of the rows X (n, d) of one class (Biometrika 57, 1970):
    b₁ = Σ_ij (z_iᵀz_j)³/n², b₂ = Σ_i ‖z_i‖⁴/n for the whitened rows z.

    Raises TableError where there are no more rows than columns, or columns that determine one another.
    """
    n, d = X.shape
    _enough_rows(float(n), d)
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / n
    _log_det(covariance, tuple(f"x{j}" for j in range(d)))
    Z = np.linalg.solve(np.linalg.cholesky(covariance), centred.T).T
    third = np.zeros((d, d * d))
    for start in range(0, n, 1024):
        z = Z[start : start + 1024]
        third += z.T @ (z[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    skewness = float((third**2).sum()) / n**2
    kurtosis = float(((Z**2).sum(axis=1) ** 2).mean())
    df = d * (d + 1) * (d + 2) // 6
    chi2, z_score = n * skewness / 6.0, (kurtosis - d * (d + 2)) / np.sqrt(8.0 * d * (d + 2) / n)
    return Mardia(
        skewness,
        chi2,
        df,
        float(stats.chi2.sf(chi2, df)),
        kurtosis,
        float(z_score),
        float(2.0 * stats.norm.sf(abs(z_score))),
    )


def _enough_rows(n: float, d: int) -> None:
    if n <= d:
        raise TableError(
            "a class has {n:g} row(s) for {d} columns: its covariance cannot be tested; take fewer columns", n=n, d=d
        )


def _log_det(covariance: Array, names: tuple[str, ...]) -> float:
    """log |Σ|, by the correlations. Raises TableError where it is singular."""
    variance = np.diagonal(covariance)
    if (variance > 0).all():
        sd = np.sqrt(variance)
        correlation = covariance / np.outer(sd, sd)
        if np.linalg.eigvalsh(correlation)[0] > DETERMINED:
            return float(np.linalg.slogdet(correlation)[1] + np.log(variance).sum())
    raise TableError(
        "the columns {names} determine one another in a class: there is no covariance to test; leave one of them out",
        names=", ".join(names),
    )
