"""The values of a column behind its class-conditionals: the rows that were counted, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.factors import normal_log_density
from bayes_engine.factors.gaussian import Density
from bayes_engine.logspace import Array, exp
from bayes_engine.workbench.derivation.conditionals import Conditional, GaussianConditionals
from bayes_engine.workbench.derivation.derive import WorkingStep, rows_behind
from bayes_engine.workbench.derivation.likelihoods import Curves


def rows_of(table: Conditional, frame: pd.DataFrame, step: WorkingStep, label: Any) -> pd.DataFrame:
    """The rows of `frame` (features and target) that `step` of class `label` was counted from; for a Gaussian with the
    deviations from the mean it uses, which is the weighted one where rows have weights."""
    k = table.classes.index(label)
    if isinstance(table, GaussianConditionals) and table.borrowed(k):
        step = replace(step, given=())  # the whole class's
    rows = rows_behind(frame, table.target, step, label)
    if not isinstance(table, GaussianConditionals):
        return rows
    deviation = rows[step.row.child].astype(float) - table.means[k]
    mark = "′" if "x − x̄" in rows or "(x − x̄)²" in rows else ""  # a table may have columns of that name
    return rows.assign(**{f"x − x̄{mark}": deviation, f"(x − x̄)²{mark}": deviation**2})


def values_of(table: Conditional | Curves, X: pd.DataFrame, y: pd.Series) -> tuple[Array, ...]:
    """The known values behind each class's Gaussian, or behind the intervals of a column of numbers, sorted."""
    x = X[table.variable.name].to_numpy(dtype=float, na_value=np.nan)
    known, there = ~np.isnan(x), np.ones(len(x), dtype=bool)
    for cell in table.given:
        there &= cell.held_by(X[cell.variable.name]).to_numpy(dtype=bool)
    labels, k_classes = y.to_numpy(), range(len(table.classes))
    borrowed = [isinstance(table, GaussianConditionals) and table.borrowed(k) for k in k_classes]
    return tuple(np.sort(x[(labels == table.classes[k]) & known & (there | borrowed[k])]) for k in k_classes)


def curve(density: Density, low: float, high: float, points: int = 161) -> tuple[Array, Array]:
    """x and p(x|class) of one Gaussian from `low` to `high`, with most points near its mean so that a narrow one keeps
    its peak."""
    near = density.mean + density.sd * np.linspace(-4.5, 4.5, points)
    x = np.unique(np.concatenate([[low, high], near[(near > low) & (near < high)]]))
    return x, exp(normal_log_density(x, np.array(density.mean), np.array(density.variance)))


def histogram(values: Sequence[Array], low: float, high: float) -> tuple[Array, tuple[Array, ...]]:
    """Edges of common bins from `low` to `high`, and each class's relative frequency per unit (its area is 1), of
    values that are sorted, as `values_of` has them.

    As many bins as the square root of the number of values, at most 40.
    """
    bins = min(max(int(np.sqrt(sum(map(len, values)))), 1), 40)
    edges = np.linspace(low, high, bins + 1)
    begin = [np.append(np.searchsorted(v, edges[:-1]), np.searchsorted(v, high, side="right")) for v in values]
    counts = list(map(np.diff, begin))
    return edges, tuple(c / (max(c.sum(), 1) * np.diff(edges)) for c in counts)


def thinned(values: Array, most: int) -> Array:
    """At most `most` of sorted `values`, evenly by rank: the ends and the shape stay.

    >>> thinned(np.arange(9.0), 3).tolist()
    [0.0, 4.0, 8.0]
    """
    if len(values) <= most:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, most).round().astype(int)])
