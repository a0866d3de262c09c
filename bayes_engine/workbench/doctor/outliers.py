"""Numbers that are no measurements: single cells far from all the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array, log
from bayes_engine.table.sentinels import FEW, robust, sentinel

FAR = 10.0
"""Robust standard deviations (1.4826 MAD) from the median: a Gaussian has none there in 10²² rows."""
ISOLATED = 0.005
"""More than this share of the rows so far out is a tail, not a slip."""


def outlying(x: Array) -> NDArray[np.bool_]:
    """(n,) where x is more than `FAR` robust standard deviations from the median, if few cells are, they stand apart by
    one from all others, and not only because x grows like a product: where the logarithm of what is of one sign lies
    more evenly about its middle than x, it must be as far.

    >>> outlying(np.array([*range(20), 400.0]))[-3:].tolist()
    [False, False, True]
    """
    known = ~np.isnan(x)
    far = np.zeros(len(x), dtype=bool)
    values = x[known]
    if len(values) < 2 * FEW or len(np.unique(values)) < FEW:
        return far
    for scale in (values, *_as_products(values)):
        spread = robust(scale)
        out = np.abs(scale - np.median(scale)) > FAR * spread
        if not spread > 0:
            return np.zeros(len(x), dtype=bool)
        far[known] = out if scale is values else far[known] & out
    if 0 < far.sum() <= max(ISOLATED * len(values), 2):
        distant, rest = x[far], x[known & ~far]
        if float(np.abs(distant - np.clip(distant, rest.min(), rest.max())).min()) >= robust(values):
            return far
    return np.zeros(len(x), dtype=bool)


def all_outlying(x: Array) -> NDArray[np.bool_]:
    """(n,) the outlying cells, and those that are so once these are gone."""
    far = outlying(x)
    while (more := outlying(np.where(far, np.nan, x))).any():
        far |= more
    return far


def without_outliers(x: Array) -> Array:
    """x with what is no measurement, or lies far out, as missing: single cells must not make columns dependent.

    >>> without_outliers(np.array([*range(20), 400.0]))[-2:].tolist()
    [19.0, nan]
    """
    while (value := sentinel(x)) is not None:
        x = np.where(x == value, np.nan, x)
    return np.where(outlying(x), np.nan, x)


def _as_products(values: Array) -> tuple[Array, ...]:
    """The logarithm of numbers of one sign, where their inner four fifths lie more evenly about the median on it."""
    if not (values.min() > 0 or values.max() < 0):
        return ()
    logarithm = log(np.abs(values))
    return (logarithm,) if _unevenness(logarithm) < _unevenness(values) else ()


def _unevenness(x: Array) -> float:
    """Bowley's skewness at the deciles, without its sign: |q₉ + q₁ − 2 q₅| / (q₉ − q₁)."""
    low, middle, high = np.quantile(x, [0.1, 0.5, 0.9])
    return float(abs(high + low - 2.0 * middle) / (high - low)) if high > low else 0.0
