"""Classes of known densities that tests begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_engine.workbench.laboratory.truth import GaussianTruth, MultivariateMixture


def gaussians(means: Any, covariances: Any, priors: Any = None, classes: Sequence[Any] | None = None) -> GaussianTruth:
    """One Gaussian a class: `means` (K, d), `covariances` (K, d, d), `priors` (K,) equal by default."""
    centres, spreads = np.asarray(means, dtype=float), np.asarray(covariances, dtype=float)
    parts = [MultivariateMixture(np.ones(1), m[None], s[None]) for m, s in zip(centres, spreads, strict=True)]
    names = tuple(str(i + 1) for i in range(len(parts))) if classes is None else tuple(classes)
    shares = np.full(len(parts), 1.0 / len(parts)) if priors is None else np.asarray(priors, dtype=float)
    return GaussianTruth(names, shares, tuple(parts))
