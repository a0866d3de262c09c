"""What drawings of decisions need: the colours of the actions, and held-out rows and grids of posteriors packed for a
browser that decides itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.held_out import HeldOut
from bayes_engine.logspace import Array, log
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, colour_of

NATS = 30.0
"""log P(c|x) is sent from −30 to 0 nats in 65535 steps. Logs, because between two grid points they are nearly straight
where P is a step, and because a small P keeps its digits for a large λ."""

MOST_PACKED = 20_000
"""Held-out rows that are sent at most."""


def action_colours(actions: Sequence[object], classes: Sequence[object], *, dark: bool = False) -> list[str]:
    """A class's own colour for deciding it, a muted one for any other action; on light or on dark ground.

    >>> action_colours(["good", "ask"], ["bad", "good"])
    ['#926500', '#6B6F76']
    """
    extra = (pair[dark] for pair in cycle(EXTRA_COLOURS))
    return [colour_of(list(classes).index(a), dark) if a in classes else next(extra) for a in actions]


def packed_rows(held: HeldOut, amount: Array | None = None) -> tuple[dict[str, Any], bytes]:
    """What a browser needs to price any losses and prior of use on the held-out rows: a head, and little-endian arrays
    log posterior (n, K), weight (n,), amount (n,) as floats of `size` bytes, then uint16 truth (n,), and for each row
    which of the `priors` (M, K) its model had. Of more than MOST_PACKED rows every so-manieth is taken (`every` > 1).

    Small tables travel in double precision, so that browser and engine agree to the last digit on screen.

    >>> from bayes_engine.language import Message
    >>> held = HeldOut(("ill", "well"), np.log([[0.25, 0.75]]), np.full((1, 2), 0.5), np.array([1]), np.ones(1),
    ...                Message("one patient"))
    >>> head, body = packed_rows(held)
    >>> head, len(body)
    ({'n': 1, 'k': 2, 'size': 8, 'every': 1, 'priors': [[0.5, 0.5]]}, 36)
    """
    every = -(-len(held.truth) // MOST_PACKED)
    truth, k = held.truth[::every], len(held.classes)
    priors, which = np.unique(held.prior_by_row[::every], axis=0, return_inverse=True)
    size = 8 if len(truth) * k <= 60_000 else 4
    factor = np.ones(len(held.truth)) if amount is None else np.asarray(amount, dtype=float)
    floats = (held.log_posterior[::every], held.weight[::every], factor[::every])
    whole = (truth, which.reshape(-1))
    body = [a.astype(f"<f{size}").tobytes() for a in floats] + [a.astype("<u2").tobytes() for a in whole]
    head = {"n": len(truth), "k": k, "size": size, "every": every, "priors": priors.tolist()}
    return head, b"".join(body)


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


def grid_residuals(body: bytes, shape: tuple[int, int, int]) -> bytes:
    """What `log_steps` gives for a grid (H, W, K), of the same length and without loss, so that it compresses to a
    tenth: each number as its residual from west + south − south-west, which is small where log P is smooth; of all of
    them, class by class, the high bytes, then the low ones. The bytes behind the numbers stay.

    >>> list(grid_residuals(bytes([7, 1, 9, 1, 0, 0]), (1, 2, 1)))
    [2, 0, 14, 4, 0, 0]
    """
    h, w, k = shape
    steps = np.zeros((h + 1, w + 1, k), dtype=np.int64)
    steps[1:, 1:] = np.frombuffer(body, "<u2", h * w * k).reshape(shape)
    residual = (steps[1:, 1:] - steps[1:, :-1] - steps[:-1, 1:] + steps[:-1, :-1]) & 0xFFFF
    small = np.moveaxis(np.where(residual < 0x8000, 2 * residual, 2 * (0x10000 - residual) - 1), 2, 0)
    halves = [(small >> 8).astype(np.uint8).tobytes(), (small & 0xFF).astype(np.uint8).tobytes()]
    return b"".join([*halves, body[2 * h * w * k :]])
