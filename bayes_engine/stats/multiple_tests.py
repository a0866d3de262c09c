"""p-values of many tests at once. SciPy corrects for the rate of false discoveries only (`false_discovery_control`),
not for the chance of any."""

from __future__ import annotations

import numpy as np

from bayes_engine.logspace import Array


def holm(p: Array) -> Array:
    """Holm's adjusted p-values (Scand. J. Statist. 6, 1979): p₍ᵢ₎ times the tests not yet passed, never falling. The
    chance of any false finding stays below the level.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
