"""Factors: what estimation makes of statistics, and what a prediction is the sum of.

A factor's `rows(X)` are named log terms, each (n, C); their sum is the joint log-likelihood. Arrays are computed
class-major (C, n) and handed out transposed: the long axis last is what NumPy is fast at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array, log
from bayes_engine.priors import Dirichlet, Smoothing, pseudo_counts
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.table.encode import MISSING, Table
from bayes_engine.table.schema import Variable

RowKind = Literal["prior", "log-probability", "log-density", "score", "expected", "entropy", "constant"]
LOG_2PI = float(np.log(2.0 * np.pi))


class Row(NamedTuple):
    """The name of one log term. Names are data and never translated."""

    name: str
    child: str
    parents: tuple[str, ...]
    kind: RowKind


class Factor(Protocol):
    """One or more named log terms."""

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        """The terms, each (n, C), in nats."""
        ...

    def log(self, X: Table) -> Array:
        """(n, C) their sum; (n, 1) zeros where no term is known."""
        total: Array | None = None
        for _, term in self.rows(X):
            if total is None:
                total = np.array(term.T, order="C")  # class-major, ours to add to
            else:
                with np.errstate(over="ignore"):  # densities far out may sum to −inf
                    total += term.T
        return np.zeros((X.n, 1)) if total is None else total.T


@dataclass(frozen=True)
class ClassPrior(Factor):
    """log P(c); `p` (C,), `weight` (C,) the counts it came from, `added` what smoothing put on each."""

    target: str
    p: Array
    weight: Array
    added: float

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        yield Row(self.target, self.target, (), "prior"), np.broadcast_to(log(self.p), (X.n, len(self.p)))


@dataclass(frozen=True)
class TableFactor(Factor):
    """log P(x_j = s | c) = log (n_cs + a_cs) − log (n_c + Σ_s a_cs): Zhou, eq. 7.17 (a = 0) and 7.20 (a = 1).

    `counts` (C, S) per level, `added` (C, 1) pseudo-counts, (C, S) where the levels differ, `unseen` (C,) the log term
    of a value outside the levels.
    A missing cell contributes 0: it is marginalized. With `missing_is_level` the last of the `counts` is the missing
    cell itself, read as a level of its own.

    >>> sound = Variable("sound", "categorical", ("dull", "crisp"))
    >>> TableFactor(sound, "good", np.array([[6.0, 2.0]]), np.array([[1.0]]), np.zeros(1)).log_cpt.round(4).tolist()
    [[-0.3567, -1.204]]
    """

    variable: Variable
    target: str
    counts: Array
    added: Array
    unseen: Array
    missing_is_level: bool = False
    lookup: Array = field(init=False, repr=False)  # (C, 2 + S): missing, the levels, unseen

    def __post_init__(self) -> None:
        lp = self.log_cpt
        levels = lp[:, : len(self.variable.levels)]
        missing = lp[:, -1:] if self.missing_is_level else np.zeros((len(lp), 1))
        object.__setattr__(self, "lookup", np.concatenate([missing, levels, self.unseen[:, None]], axis=1))

    @property
    def log_cpt(self) -> Array:
        """(C, S) log conditional probabilities."""
        smoothed = self.counts + self.added
        return log(smoothed) - log(smoothed.sum(axis=1, keepdims=True))

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        name = self.variable.name
        codes = np.minimum(X[name], self.lookup.shape[1] - 1)  # the unseen code is the last column
        if len(codes) and not self.missing_is_level and (codes == MISSING).all():
            return  # a cell nobody knows has no term
        yield Row(name, name, (self.target,), "log-probability"), np.take(self.lookup, codes, axis=1).T


@dataclass(frozen=True)
class GaussianFactor(Factor):
    """log p(x_j | c) = −½ log 2π − log σ_c − ½ ((x − μ_c)/σ_c)²: Zhou, eq. 7.18. A NaN cell contributes 0.

    `moments` are the column's; `variance` (C,) is what estimation made of them, dividing by n − `ddof`, one for all
    classes if `tied`; `replaced` (C,) says where the floor or the pooled variance stood in.
    """

    variable: Variable
    target: str
    moments: ColumnMoments
    variance: Array
    replaced: NDArray[np.bool_]
    ddof: int = 0
    tied: bool = False

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        name = self.variable.name
        x = X[name]
        missing = np.isnan(x)
        if len(x) and missing.all():
            return
        term = normal_log_density(x - self.moments.pivot, self.moments.offset[:, None], self.variance[:, None])
        if missing.any():
            term[:, missing] = 0.0
        yield Row(name, name, (self.target,), "log-density"), term.T


@dataclass(frozen=True)
class Product(Factor):
    """A joint likelihood as the product of its factors: the sum of all their rows."""

    parts: tuple[Factor, ...]

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        for part in self.parts:
            yield from part.rows(X)


def normal_log_density(x: Array, mean: Array, variance: Array) -> Array:
    """log N(x; mean, variance), standardized before squaring; −inf where even that overflows.

    >>> round(float(normal_log_density(np.array(0.697), np.array(0.57375), np.array(0.0166954))), 4)
    0.6724
    """
    with np.errstate(over="ignore"):
        sd = np.sqrt(variance)
        z = (x - mean) / sd
        z *= z
        z += LOG_2PI + 2.0 * np.log(sd)
        z *= -0.5
    return z


def table_estimate(counts: Array, alpha: float | Dirichlet, smoothing: Smoothing, unseen: str) -> tuple[Array, Array]:
    """`added` (..., 1) or (..., S) pseudo-counts and the `unseen` log term (...,) for level counts (..., S).

    unseen="smooth" reserves one more level: log α/(n_c + α(S+1)), −inf without smoothing; otherwise the term is 0.

    >>> added, unseen = table_estimate(np.array([[3.0, 5.0]]), 1.0, "all", "smooth")
    >>> added.tolist(), unseen.round(4).tolist()
    ([[1.0]], [-2.3979])
    """
    added = pseudo_counts(counts, alpha, smoothing)
    if unseen != "smooth":
        return added, np.zeros(counts.shape[:-1])
    a = added.mean(axis=-1)
    return added, log(a) - log(counts.sum(axis=-1) + a * (counts.shape[-1] + 1))


def variance_estimate(
    moments: ColumnMoments, ddof: int, tied: bool, floor: float
) -> tuple[Array, NDArray[np.bool_], ColumnMoments]:
    """Variance (..., C), where the estimate was replaced (..., C), and the moments used, for one numeric column.

    Per class M2_c/(n_c − ddof), or tied Σ_c M2_c/(n − ddof·K). A class with one member (a weight of 1 or less, and no
    spread) takes the pooled within-class variance; one without members the mean and variance of the whole column;
    nothing falls below floor × the column's variance, so a change of units changes nothing.

    >>> income = ColumnMoments(weight=np.array([7.0, 3.0]), offset=np.array([110.0, 90.0]),
    ...                        m2=np.array([17850.0, 50.0]), pivot=0.0)
    >>> variance_estimate(income, ddof=1, tied=False, floor=1e-9)[0].tolist()
    [2975.0, 25.0]
    """
    weight, m2 = moments.weight, moments.m2
    whole = moments.pooled()
    column = whole.m2 / np.where(whole.weight > 0, whole.weight, 1.0)
    present = weight > 0
    degrees = np.where(present, weight - ddof, 0.0).sum(axis=-1, keepdims=True)
    pooled = np.where(degrees > 0, m2.sum(axis=-1, keepdims=True) / np.where(degrees > 0, degrees, 1.0), column)
    least = np.maximum(floor * column, np.finfo(float).tiny)  # the share of a small one may vanish
    if tied:
        known, variance = present & (degrees > 0), np.broadcast_to(pooled, weight.shape)
    else:
        own = m2 / np.where(weight > ddof, weight - ddof, 1.0)
        known = (weight > ddof) & ((weight > 1) | (own > least))
        variance = np.where(known, own, np.where(pooled > 0, pooled, column))
    variance = np.where(present, variance, column)
    replaced = (variance < least) | ~known
    offset = np.where(present, moments.offset, whole.offset)
    return np.maximum(variance, least), replaced, ColumnMoments(weight, offset, m2, moments.pivot)
