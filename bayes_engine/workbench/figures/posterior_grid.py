"""What a browser needs to draw decision regions itself: a grid of posteriors, small and fit for interpolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array, log

NATS = 30.0
"""log P(c|x) is sent from −30 to 0 nats in 65535 steps. Logs, because between two grid points they are nearly straight
where P is a step, and because a small P keeps its digits for a large λ."""


def log_steps(posterior: Array, possible: NDArray[np.bool_] | None = None) -> bytes:
    """The posteriors (H, W, K) as −log P in little-endian uint16 steps of 30/65535 nats, in the same order, then one
    byte for each of the H×W cells: 1 where there is no posterior (all zeros, or not `possible`).

    >>> list(log_steps(np.array([[[1.0, 0.0]]])))
    [0, 0, 255, 255, 0]
    """
    gone = ~(posterior.sum(axis=2) > 0)
    if possible is not None:
        gone |= ~possible
    nats = np.clip(np.nan_to_num(-log(posterior), nan=NATS), 0.0, NATS)
    return b"".join([np.rint(nats * (65535 / NATS)).astype("<u2").tobytes(), gone.astype(np.uint8).tobytes()])
