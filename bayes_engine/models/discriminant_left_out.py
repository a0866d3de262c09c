"""Exact leave-one-out of Gaussian discriminants, all rows at once. scikit-learn would refit once a row.

Without a row of weight w the scatter of its class, n_c rows heavy, loses k z zᵀ, z its offset from its class mean and
k = w n_c/(n_c − w); its inverse follows by Sherman & Morrison (Ann. Math. Stat. 21, 1950). So every row costs one
product with the inverse root of a scatter that is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.covariance import InverseRoot
from bayes_engine.factors import LOG_2PI
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.logspace import Array, log
from bayes_engine.stats.moments import CONDITION

LOST = 1 / CONDITION
"""The share of a row's own direction that must be left in the scatter without it."""


class Removals(NamedTuple):
    """For every row left out: its class `own` (n,), its weight w (n,), the class weights `left` (n, C), with n the
    weight of its class `k` = w n/(n − w) and `ratio` = n/(n − w) (n,), and the log prior (n, C) without it."""

    own: NDArray[np.intp]
    weight: Array
    left: Array
    k: Array
    ratio: Array
    log_prior: Array

    @classmethod
    def of(cls, gone: LeftOutRows, class_weight: Array, left: Array, log_prior: Array) -> Removals:
        """What goes with each of these rows, `class_weight` (C,) being that of all."""
        own, w = gone.own, gone.weight
        rest = left[np.arange(len(own)), own]
        safe = np.where(rest > 0, rest, 1.0)
        return cls(own, w, left, w * class_weight[own] / safe, class_weight[own] / safe, log_prior)


def linear_left_out(
    values: Array, means: Array, within: InverseRoot, class_weight: Array, out: Removals, ddof: int
) -> tuple[Array, NDArray[np.bool_]]:
    """(n, C) log p(c, x_i) under the common covariance without row i, `within` being the root of S_w; and (n,) the
    rows for which this does not hold: with them goes a class, or a direction's spread."""
    d, rows = values.shape[1], np.arange(len(values))
    degrees_left = class_weight.sum() - out.weight - ddof * (out.left > 0).sum(axis=1)
    z = (values - means[out.own]) @ within.whiten  # (n, d) in units of S_w
    q = (z**2).sum(axis=1)
    rest = 1.0 - out.k * q
    to = np.empty((len(values), len(class_weight)))
    for c, mean in enumerate((means - means[0]) @ within.whiten):
        a = z + ((means[out.own] - means[0]) @ within.whiten) - mean
        to[:, c] = (a**2).sum(axis=1) + out.k * (a * z).sum(axis=1) ** 2 / np.where(rest > 0, rest, 1.0)
    to[rows, out.own] = out.ratio**2 * q / np.where(rest > 0, rest, 1.0)
    log_det = within.log_det + log(np.maximum(rest, 0.0))
    spread = (log_det - d * np.log(degrees_left) + d * LOG_2PI)[:, None]
    joint = out.log_prior - 0.5 * (degrees_left[:, None] * to + spread)
    return joint, (rest < LOST) | (out.left[rows, out.own] == 0)


def quadratic_left_out(
    values: Array, means: Array, roots: Sequence[InverseRoot], degrees: Array, out: Removals, ddof: int
) -> tuple[Array, NDArray[np.bool_]]:
    """(n, C) log p(c, x_i) under covariances of which row i's removal touches its own class's alone: `roots` are those
    of the scatter of each class, `degrees` (C,) what it is divided by; and (n,) the rows for which this does not hold,
    −inf: with them goes a direction's spread. A row without which its class has no covariance is −inf too."""
    d = values.shape[1]
    joint = np.empty((len(values), len(means)))
    lost, undone = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool)
    for c, (mean, root) in enumerate(zip(means, roots, strict=True)):
        n_left = out.left[:, c] - ddof
        q = (((values - mean) @ root.whiten) ** 2).sum(axis=1)
        mine = out.own == c
        rest = np.where(mine, 1.0 - out.k * q, 1.0)
        gone = mine & ((rest < LOST) | (n_left <= 0))
        lost |= gone
        undone |= gone & (n_left > 0)
        rest, divisor = np.where(gone, 1.0, rest), np.where(mine & ~gone, n_left, degrees[c])
        distance = divisor * np.where(mine, out.ratio**2, 1.0) * q / rest
        joint[:, c] = -0.5 * (distance + root.log_det + np.log(rest) - d * np.log(divisor) + d * LOG_2PI)
    joint += out.log_prior
    joint[lost] = -np.inf
    return joint, undone
