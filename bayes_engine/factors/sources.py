"""Where a number came from, as data: counted, set, an exponential of a log term. A leaf has its own kind beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bayes_engine.logspace import Array, exp
from bayes_engine.priors import smoothed


class Source(Protocol):
    """Where a number came from."""

    @property
    def value(self) -> float:
        """The number."""
        ...


@dataclass(frozen=True)
class Fraction:
    """(count + added) / (total + added·levels): where a probability was counted. Where more is added to some levels
    than to others, `uneven` is what is added to the total."""

    count: float
    total: float
    added: float
    levels: int
    uneven: float | None = field(default=None, repr=False)

    @property
    def pseudo_total(self) -> float:
        """The pseudo-counts that are added to the total."""
        return self.added * self.levels if self.uneven is None else self.uneven

    @property
    def value(self) -> float:
        if self.uneven is None:
            return float(smoothed(self.count, self.total, self.added, self.levels))
        return (self.count + self.added) / (self.total + self.uneven)


@dataclass(frozen=True)
class Given:
    """A probability that was set (a stated prior, an ignored value), not counted."""

    value: float


@dataclass(frozen=True)
class Summed(Given):
    """A probability summed out of the tables of a network."""


@dataclass(frozen=True)
class Shift:
    """π_use/π_model: what the prior of use multiplies the product of one class by."""

    use: float
    model: float

    @property
    def value(self) -> float:
        return self.use / self.model if self.model > 0 else 1.0


@dataclass(frozen=True)
class Term:
    """exp of a log term that is no single count: an expectation over what is hidden, an entropy, a part of a quadratic
    form. Beyond the range of a float `value` stays at its end; `log_value` is exact."""

    log_value: float

    @property
    def value(self) -> float:
        return float(exp(min(self.log_value, 709.0)))


@dataclass(frozen=True)
class Linear(Term):
    """w (x − t): a column's part of a linear discriminant function, t half-way between the class's mean and the mean
    of all."""

    weight: float
    x: float
    middle: float


@dataclass(frozen=True)
class Estimated(Term):
    """A density or a probability estimated from the rows of a class, though not by one count."""


class Quotient(NamedTuple):
    """A parameter that is a quotient of sums: `symbol` = Σ above / Σ below."""

    symbol: str
    above: tuple[float, ...]
    below: tuple[float, ...]

    @property
    def value(self) -> float:
        return sum(self.above) / sum(self.below)


@dataclass(frozen=True)
class Parametric(Estimated):
    """The distribution called `name` at x, of `n` known cells: what was set of its parameters, (symbol, value), and
    what was estimated."""

    name: str
    x: float
    n: float
    stated: tuple[tuple[str, float], ...]
    estimated: tuple[Quotient, ...]

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        """All of them, (symbol, value)."""
        return (*self.stated, *((q.symbol, q.value) for q in self.estimated))


@dataclass(frozen=True)
class Power(Estimated):
    """P(x_j|c)^w: a column's factor, from `base`, to the power of its weight; a score."""

    base: Source
    weight: float


@dataclass(frozen=True)
class Complement(Power):
    """P(x_j|all other classes)^−1, the score of complement naive Bayes."""


def fraction_of(count: float, total: float, added: Array, place: int) -> Fraction:
    """The place-th of the levels that these numbers (S,) are added to.

    >>> import numpy as np
    >>> fraction_of(3.0, 8.0, np.ones(3), 0)
    Fraction(count=3.0, total=8.0, added=1.0, levels=3)
    """
    uneven = None if (added == added[0]).all() else float(added.sum())
    return Fraction(float(count), float(total), float(added[place]), len(added), uneven)
