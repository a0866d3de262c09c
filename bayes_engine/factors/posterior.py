"""The posterior of a factor's parameters, and what all of its kinds share: central intervals, draws of log-gammas."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import betaincinv

from bayes_engine.logspace import Array, log
from bayes_engine.priors import Dirichlet
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

JEFFREYS = Dirichlet.jeffreys().amount
CHUNK = 4_000_000
"""Variates that are held at a time."""
LEAST_SHAPE = 0.1
"""A gamma variate of a smaller shape may be too small for a float: its logarithm is drawn instead."""


class Interval(NamedTuple):
    """A central credible interval, cell by cell."""

    low: Array
    high: Array


class Posterior(Protocol):
    """The posterior of the parameters of one column's distribution, classes in the model's own order."""

    @property
    def variable(self) -> Variable:
        """The column."""
        ...

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) the log term of the row X in n draws of the parameters."""
        ...

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(x|c_i) − log P(x|c_j) over the posterior, exact."""
        ...


def beta_interval(alpha: Array, rest: Array, level: float) -> Interval:
    """Quantiles of Beta(α, rest); where one of them is 0 the probability is sure."""
    sure = (alpha <= 0) | (rest <= 0)
    a, b = np.where(sure, 1.0, alpha), np.where(sure, 1.0, rest)
    return Interval(*(np.where(sure, alpha > 0, betaincinv(a, b, q)) for q in ((1 - level) / 2, (1 + level) / 2)))


def log_gamma(shape: Array, n: int, rng: np.random.Generator) -> Array:
    """(n, …) logarithms of gamma variates of these shapes; of a small one by Γ(a) ~ Γ(a + 1) U^{1/a}, so that none is
    lost below the least float; of 0 it is −inf."""
    small = shape < LEAST_SHAPE
    drawn = log(rng.standard_gamma(np.where(small, shape + 1.0, shape), (n, *shape.shape)))
    if small.any():
        there = small & (shape > 0)
        tail = rng.standard_exponential(drawn.shape) / np.where(there, shape, 1.0)
        drawn = np.where(small, np.where(there, drawn - tail, -np.inf), drawn)
    return drawn
