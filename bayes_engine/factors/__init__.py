"""Factors: what estimation makes of sufficient statistics, and what a prediction is the sum of.

A factor's `rows(X)` are named log terms, each (n, C); their sum is the joint log-likelihood. Arrays are computed
class-major (C, n) and handed out transposed: the long axis last is what NumPy is fast at.

A factor answers what is asked of it as data: what its numbers came from (`origins`), the posterior of its parameters,
how many are free, the log-likelihood of statistics. `leaves` walks down to the factors that have parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.sources import Source, Term
from bayes_engine.logspace import Array
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

if TYPE_CHECKING:
    from bayes_engine.factors.posterior import Posterior
    from bayes_engine.stats.collect import SufficientStatistics

RowKind = Literal["prior", "log-probability", "log-density", "score", "expected", "entropy", "constant"]
LOG_2PI = float(np.log(2.0 * np.pi))


class Row(NamedTuple):
    """The name of one log term. Names are data and never translated."""

    name: str
    child: str
    parents: tuple[str, ...]
    kind: RowKind


class Factor(ABC):
    """One or more named log terms. `together` says how many factors like it, of a column each, are summed at once: by
    joint look-ups of their codes, or as products with the squares of their numbers."""

    together: ClassVar[Literal["codes", "squares"] | None] = None

    @abstractmethod
    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        """The terms, each (n, C), in nats."""

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

    def in_fixed_point(self, X: Table) -> tuple[Array, float] | None:
        """(n, C) their sum, less what all classes share, and by how much the difference of two classes may be off: in
        half the time. None where that cannot be, or does not pay."""
        return None

    def leaves(self) -> Iterator[Factor]:
        """The factors with parameters that this one is made of, the class's own first."""
        yield self

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        """The factor that a column has to itself, and the weight that its terms are multiplied by; None where it has
        none."""
        return None

    def gathers(self, column: str) -> bool | None:
        """Whether the column's terms stand in one joint distribution with those of others (a Gaussian, a multinomial);
        None where that is not known."""
        return None

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        """For each row that the factor has for the first row of X, and each class, where the value came from."""
        for _row, term in self.rows(X):
            yield tuple(Term(float(v)) for v in term[0])

    def posterior(self, target: Variable) -> Posterior | None:
        """Of the parameters, under the very prior that smoothed them; where that is none, under Jeffreys'. None where
        it is not known, ParameterError where it is known that there is none."""
        return None

    @property
    def vacant(self) -> bool:
        """Whether it is of a column without a single value."""
        return False

    @property
    def unsmoothed(self) -> bool:
        """Whether nothing is added to counts that it has; what a pair without a row gets does not count."""
        return False

    @property
    def free(self) -> int | None:
        """How many of its parameters are free; None where they have no number."""
        return None

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        """log p of what was counted, every log parameter as often as it is used, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no log-likelihood of statistics")

    def largest_log_likelihood(self, stats: SufficientStatistics) -> float:
        """log p of the statistics that its parameters, maximum-likelihood estimates, came from, in nats."""
        return self.log_likelihood(stats)

    def log_prior_density(self, added: Any = 0.0) -> float:
        """log p of the parameters, up to a constant, under the prior whose mode they are. `added` is what was added to
        every count, of a factor that does not know it itself."""
        return 0.0

    def distance(self, other: Any) -> float:
        """The largest change of a parameter between two estimates of the same factor."""
        raise NotImplementedError(f"{type(self).__name__} has no distance")


@dataclass(frozen=True)
class Product(Factor):
    """A joint likelihood as the product of its factors: the sum of all their rows."""

    parts: tuple[Factor, ...]

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        for part in self.parts:
            yield from part.rows(X)

    def leaves(self) -> Iterator[Factor]:
        for part in self.parts:
            yield from part.leaves()

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        return next((own for part in self.parts if (own := part.part_of(column)) is not None), None)

    def gathers(self, column: str) -> bool | None:
        answers = {part.gathers(column) for part in self.parts}
        return True if True in answers else None if None in answers else False

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        for part in self.parts:
            yield from part.origins(X)


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


ROUNDING = 1e-24
"""Of a column's variance: what rounding may leave of a class whose values are all alike."""


def variance_estimate(
    moments: ColumnMoments, ddof: int, tied: bool, floor: float
) -> tuple[Array, NDArray[np.bool_], ColumnMoments]:
    """Variance (..., C), where the estimate was replaced (..., C), and the moments used, for one numeric column.

    Per class M2_c/(n_c − ddof), or tied Σ_c M2_c/(n − ddof·K). A class with one member (a weight of 1 or less, and no
    spread) takes the pooled within-class variance, or the column's where no class has a spread; one without members
    the mean and variance of the whole column; nothing falls below floor × the column's variance, so a change of units
    changes nothing.

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
        spread = pooled > max(floor, ROUNDING) * column
        variance = np.where(known, own, np.where(spread, pooled, column))
    variance = np.where(present, variance, column)
    replaced = (variance < least) | ~known
    offset = np.where(present, moments.offset, whole.offset)
    return np.maximum(variance, least), replaced, ColumnMoments(weight, offset, m2, moments.pivot)
