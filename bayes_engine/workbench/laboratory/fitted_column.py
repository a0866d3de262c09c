"""One column in one class under parameters that are chosen by hand: how likely they make its rows, and beside them the
likeliest, divided by n and by n − 1, or smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import xlogy

from bayes_engine.errors import ParameterError
from bayes_engine.factors import LOG_2PI, normal_log_density
from bayes_engine.logspace import Array, exp, log
from bayes_engine.priors import normalized


class ClassValues(NamedTuple):
    """The known values (n,) of a column of numbers in a class, ascending, and how many rows each stands for (n,)."""

    values: Array
    weight: Array

    @property
    def n(self) -> float:
        return float(self.weight.sum())

    @property
    def mean(self) -> float:
        return float(self.weight @ self.values / self.n)

    @property
    def squares(self) -> float:
        """Σ (x − x̄)²"""
        return float(self.weight @ (self.values - self.mean) ** 2)


def class_values(x: pd.Series, y: pd.Series, label: Any, weight: pd.Series | None = None) -> ClassValues:
    """The known values of `x` where `y` is `label`. Raises ParameterError where fewer than two differ, or the rows are
    no more than one: then the likelihood has no maximum, it grows without end as σ goes to 0.

    >>> class_values(pd.Series([0.3, 0.1, 0.5, None]), pd.Series(["a", "a", "b", "a"]), "a").values.tolist()
    [0.1, 0.3]
    """
    numbers = x.to_numpy(dtype=float, na_value=np.nan)
    here = (y.to_numpy() == label) & ~np.isnan(numbers)
    own = np.ones(len(numbers)) if weight is None else weight.to_numpy(dtype=float)
    order = np.argsort(numbers[here], kind="stable")
    in_class = ClassValues(numbers[here][order], own[here][order])
    if len(np.unique(in_class.values)) < 2 or in_class.n <= 1:
        raise ParameterError(
            "fewer than two different values here: the likelihood has no maximum, it grows without end as σ goes to 0"
        )
    return in_class


def drawn_values(rows: Sequence[float]) -> ClassValues:
    """A sample as it was drawn, each row once."""
    return ClassValues(np.sort(np.asarray(rows, dtype=float)), np.ones(len(rows)))


class GaussianPlace(NamedTuple):
    """A mean and a standard deviation, and Σ log N(xᵢ; μ, σ²) of the rows under them, in nats."""

    mean: float
    sd: float
    log_likelihood: float

    def density(self, x: float) -> float:
        """p(x)

        >>> round(GaussianPlace(0.57375, 0.129211, 0.0).density(0.697), 3)
        1.959
        """
        return float(exp(normal_log_density(np.array(x), np.array(self.mean), np.array(self.sd**2))))


def gaussian_place(rows: ClassValues, mean: float, sd: float) -> GaussianPlace:
    """Σ log N(xᵢ; μ, σ²) = −n/2 log 2π − n log σ − (Σ(xᵢ − x̄)² + n(x̄ − μ)²)/2σ², in nats.

    >>> rows = ClassValues(np.array([1.0, 3.0]), np.ones(2))
    >>> round(gaussian_place(rows, 2.0, 1.0).log_likelihood, 6)
    -2.837877
    """
    squares = rows.squares + rows.n * (rows.mean - mean) ** 2
    value = -0.5 * rows.n * LOG_2PI - rows.n * float(log(sd)) - 0.5 * squares / sd**2
    return GaussianPlace(mean, sd, float(value))


def likeliest(rows: ClassValues, ddof: int = 0) -> GaussianPlace:
    """The mean, and the standard deviation that divides by n − `ddof`: 0 makes the rows likeliest, 1 leaves the
    variance without bias.

    >>> rows = ClassValues(np.array([1.0, 3.0]), np.ones(2))
    >>> likeliest(rows).sd, round(likeliest(rows, 1).sd ** 2, 6)
    (1.0, 2.0)
    """
    return gaussian_place(rows, rows.mean, float(np.sqrt(rows.squares / (rows.n - ddof))))


def class_counts(
    x: pd.Series, y: pd.Series, label: Any, levels: Sequence[Any], weight: pd.Series | None = None
) -> Array:
    """(S,) how many rows of `label` have each level.

    >>> class_counts(pd.Series(["p", "q", "p"]), pd.Series(["a", "a", "b"]), "a", ["p", "q", "r"]).tolist()
    [1.0, 1.0, 0.0]
    """
    here = (y == label).to_numpy()
    own = np.ones(len(x)) if weight is None else weight.to_numpy(dtype=float)
    cells = x.to_numpy(dtype=object)
    return np.array([float(own[here & (cells == level)].sum()) for level in levels])


def merged(counts: Array, kept: tuple[int, int]) -> Array:
    """(3,) the counts of two levels, and of all others together: their likelihood is that of the whole column, but for
    how the others share what is theirs.

    >>> merged(np.array([4.0, 1.0, 2.0, 3.0]), (0, 3)).tolist()
    [4.0, 3.0, 3.0]
    """
    rest = float(counts.sum() - counts[list(kept)].sum())
    return np.array([*counts[list(kept)], rest])


class SharesPlace(NamedTuple):
    """A point of the simplex, and Σ n_s log θ_s there, in nats; −∞ where a level that was seen has θ = 0."""

    theta: tuple[float, ...]
    log_likelihood: float


def shares_place(counts: Array, theta: Sequence[float]) -> SharesPlace:
    """Σ n_s log θ_s, the log-likelihood of the rows in their order.

    >>> round(shares_place(np.array([6.0, 2.0, 0.0]), (0.75, 0.25, 0.0)).log_likelihood, 4)
    -4.4987
    """
    return SharesPlace(tuple(map(float, theta)), float(xlogy(counts, np.asarray(theta, dtype=float)).sum()))


def shares_places(counts: Array) -> dict[str, SharesPlace]:
    """The frequencies, which make the rows likeliest; Laplace's correction, which is never at the boundary; and all
    alike.

    >>> {name: place.theta for name, place in shares_places(np.array([2.0, 0.0])).items()}
    {'frequency': (1.0, 0.0), 'laplace': (0.75, 0.25), 'uniform': (0.5, 0.5)}
    """
    points = {"frequency": counts, "laplace": counts + 1.0, "uniform": np.ones(len(counts))}
    return {name: shares_place(counts, normalized(point).tolist()) for name, point in points.items()}
