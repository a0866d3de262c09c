"""Numbers that are no measurements: what is written for "not known", and single cells far from all the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array, log

FEW = 10
"""Fewer rows show nothing: ten different cells in ten rows are no sign of an identifier."""
FAR = 10.0
"""Robust standard deviations (1.4826 MAD) from the median: a Gaussian has none there in 10²² rows."""
ISOLATED = 0.005
"""More than this share of the rows so far out is a tail, not a slip."""
SENTINELS = frozenset([0.0, 1.0, -1.0, -2.0, 9.0, -9.0])
"""Numbers that people write for "not known", and that may be honest as well."""
NINE, CODED = 9.0, 5.0
"""The code of no answer in questionnaires, where the answers are whole numbers from 0 to at most so much."""
NEVER_MEANT = frozenset([998.0, 2.0**31 - 1, -(2.0**31), 2.0**32 - 1, 2.0**16 - 1, 2.0**15 - 1, -(2.0**15)])
"""Numbers that mean nothing but "not known", or what a machine has at most; so do those of nines and the like."""


def sentinel(x: Array) -> float | None:
    """The least or greatest number of x where it is one that people write for "not known", comes twice and more, and
    stands apart: a standard deviation of the others from the nearest, three (robust ones, where they are many) from
    their median; None where there is none.

    >>> sentinel(np.array([170.0, 168.0, 999.0, 181.0, 999.0, 175.0, 162.0, 177.0, 171.0, 169.0, 180.0, 174.0]))
    999.0
    """
    known = x[~np.isnan(x)]
    if len(known) <= FEW:
        return None
    for value in (float(known.min()), float(known.max())):
        same = known == value
        rest = known[~same]
        surely = value in NEVER_MEANT or _written_for_unknown(value) or (value == NINE and _coded(rest))
        if not surely and (value not in SENTINELS or len(np.unique(rest)) < FEW or len(rest) < len(known) / 2):
            continue
        if same.sum() < 2 or len(rest) < FEW or len(np.unique(rest)) < 2:
            continue
        middle = float(np.median(rest))
        spread = robust(rest, middle) if len(np.unique(rest)) >= FEW else float(rest.std())
        gap = float(np.abs(rest - value).min())
        if gap >= float(rest.std()) and abs(middle - value) > 3.0 * spread > 0:
            return value
    return None


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


def robust(x: Array, middle: float | None = None) -> float:
    """1.4826 MAD: the standard deviation of a Gaussian.

    >>> robust(np.array([1.0, 2.0, 4.0]))
    1.4826
    """
    return 1.4826 * float(np.median(np.abs(x - (np.median(x) if middle is None else middle))))


def _coded(x: Array) -> bool:
    """Whether numbers are the codes of a few answers."""
    return bool(len(x) and x.min() >= 0.0 and x.max() <= CODED and (x == np.round(x)).all())


def _written_for_unknown(value: float) -> bool:
    """Whether a number is of the kind that is written for "not known": two digits 9 (8, 7) and more and no other, with
    a point among them or not, −9, or a one with three zeros below zero, nine above.

    >>> [_written_for_unknown(v) for v in (-999.9, 88.0, -1000.0, 1e20, -9.0, 9.0, 100.0, 989.0)]
    [True, True, True, True, True, False, False, False]
    """
    digits = f"{abs(value):.12g}".replace(".", "")
    if "e" in digits or set(digits[1:]) == {"0"}:
        return (value <= -1e3 or value >= 1e9) and abs(value) == 10.0 ** round(np.log10(abs(value)))
    return value == -9.0 or (len(digits) >= 2 and digits[0] in "789" and len(set(digits)) == 1)


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
