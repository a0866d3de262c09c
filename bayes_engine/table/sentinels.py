"""Numbers that stand for none: what people and programs write for "not known" among measurements."""

from __future__ import annotations

import re

import numpy as np

from bayes_engine.logspace import Array

FEW = 10
"""Fewer rows show nothing: ten different cells in ten rows are no sign of an identifier."""
SENTINELS = frozenset([0.0, 1.0, -1.0, -2.0, 9.0, -9.0])
"""Numbers that people write for "not known", and that may be honest as well."""
NINE, CODED = 9.0, 5.0
"""The code of no answer in questionnaires, where the answers are whole numbers from 0 to at most so much."""
NEVER_MEANT = frozenset([998.0, 2.0**31 - 1, -(2.0**31), 2.0**32 - 1, 2.0**16 - 1, 2.0**15 - 1, -(2.0**15)])
"""Numbers that mean nothing but "not known", or what a machine has at most; so do those of nines and the like."""
FILLS = (3.40282e38, 1.79769e308, 9.96921e36)
"""What rasters and NetCDF files hold where nothing was measured, but for the last digits."""
REASONS = 6
"""So many numbers at one end, each another reason for no answer."""
SOME = 1_000
"""Of more than ten times as many so many are looked at first."""
_BESIDE = re.compile(r"-?9+[5-8]|-[1-8]")
"""How such reasons are written beside one that is written for "not known": 97 and 98 beside 99, -8 beside -9."""


def sentinel(x: Array) -> float | None:
    """The least or greatest number of x where it is one that people write for "not known", comes twice and more, and
    stands apart: a standard deviation of the others from the nearest, three (robust ones, where they are many) from
    their median; None where there is none.

    >>> sentinel(np.array([170.0, 168.0, 999.0, 181.0, 999.0, 175.0, 162.0, 177.0, 171.0, 169.0, 180.0, 174.0]))
    999.0
    """
    values = sentinels(x)
    return values[0] if values else None


def sentinels(x: Array, *, surely: bool = False) -> tuple[float, ...]:
    """The same with the others beside it that give another reason (−98 beside −99), the outermost first; where
    `surely`, without the numbers that may be honest as well.

    >>> ages = np.array([31.0, 42.0, 27.0, 55.0, 38.0, 61.0, 45.0, 33.0, 29.0, 50.0, 47.0, 36.0])
    >>> sentinels(np.r_[ages, -99.0, -98.0, -99.0]), sentinels(np.r_[ages, 99.0])
    ((-99.0, -98.0), ())
    """
    known = x[~np.isnan(x)]
    if len(known) <= FEW:
        return ()
    for value in (float(known.min()), float(known.max())):
        rest = known[known != value]
        sure = surely_unknown(value)
        if not sure and (surely or not _perhaps(value, rest, len(known))):
            continue
        marked, reasons = [value], tuple[float, ...]()
        for _ in range(REASONS):
            if len(known) - len(rest) >= 2 and len(rest) >= FEW and _apart(rest, marked[-1]):
                reasons = tuple(marked)
            following = float((rest.max() if value > 0 else rest.min()) if sure and len(rest) > FEW else np.nan)
            if not (surely_unknown(following) or _BESIDE.fullmatch(f"{following:.12g}")):
                break
            marked.append(following)
            rest = rest[rest != following]
        if reasons:
            return reasons
    return ()


def among_others(x: Array, value: float) -> bool:
    """Whether a thousand numbers, evenly taken from many, show already that one at an end lies close to the others.

    >>> x = np.linspace(0, 99, 50_000)
    >>> among_others(x, 99.0), among_others(np.r_[x, 999], 999.0)
    (True, False)
    """
    some = x[:: max(len(x) // SOME, 1)].astype(float)
    some = some[~np.isnan(some) & (some != value)]
    others = np.abs(some[np.abs(some - value) > REASONS] - value)
    return len(x) > 10 * SOME and len(others) > FEW and float(2.0 * others.min()) < float(some.std())


def _perhaps(value: float, rest: Array, n: int) -> bool:
    """Whether a number that may be honest as well could stand for none among the `rest` of n."""
    if value == NINE and _coded(rest):
        return True
    return value in SENTINELS and len(np.unique(rest)) >= FEW and len(rest) >= n / 2


def _apart(rest: Array, value: float) -> bool:
    """Whether a number lies apart from the others."""
    if not float(np.abs(rest - value).min()) >= float(rest.std()):
        return False
    kinds, middle = len(np.unique(rest)), float(np.median(rest))
    if kinds < 2:
        return False
    spread = robust(rest, middle) if kinds >= FEW else float(rest.std())
    return abs(middle - value) > 3.0 * spread > 0


def robust(x: Array, middle: float | None = None) -> float:
    """1.4826 MAD: the standard deviation of a Gaussian.

    >>> robust(np.array([1.0, 2.0, 4.0]))
    1.4826
    """
    return 1.4826 * float(np.median(np.abs(x - (np.median(x) if middle is None else middle))))


def _coded(x: Array) -> bool:
    """Whether numbers are the codes of a few answers."""
    return bool(len(x) and x.min() >= 0.0 and x.max() <= CODED and (x == np.round(x)).all())


def surely_unknown(value: float) -> bool:
    """Whether a number is of the kind that is written for "not known": two digits 9 (8, 7) and more and no other, with
    a point among them or not, −9, or a one with three zeros below zero, nine above; or what a machine has at most.

    >>> [surely_unknown(v) for v in (-999.9, 88.0, -1000.0, 1e20, -3.4028235e38, -9.0, 9.0, 100.0, 989.0)]
    [True, True, True, True, True, True, False, False, False]
    """
    if value in NEVER_MEANT or any(abs(abs(value) - fill) <= 1e-5 * fill for fill in FILLS):
        return True
    digits = f"{abs(value):.12g}".replace(".", "")
    if "e" in digits or set(digits[1:]) == {"0"}:
        return (value <= -1e3 or value >= 1e9) and abs(value) == 10.0 ** round(np.log10(abs(value)))
    return value == -9.0 or (len(digits) >= 2 and digits[0] in "789" and len(set(digits)) == 1)
