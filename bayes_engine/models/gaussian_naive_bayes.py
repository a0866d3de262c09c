"""scikit-learn's GaussianNB, by its name, parameters and fitted attributes, on statistics that merge.

Numbers are scikit-learn's to 1e-9, except where that yields NaN; its `epsilon_` passes over the weights of rows, which
count as repeated rows here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bayes_engine.factors import Factor
from bayes_engine.factors.columns import GaussianColumns, PriorAndColumns
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.models.fit_warnings import warn
from bayes_engine.models.matrix_classifier import MatrixClassifier
from bayes_engine.models.numeric_input import numeric_input, refuse_not_finite
from bayes_engine.priors import checked_number
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import Counts
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import SMALLEST, moments
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import PIVOT_ROWS, Schema, Variable, middle

LEAST_SHARE = 1e-9
"""The least variance, as a share of the column's, where var_smoothing is 0 and a class has no spread."""


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNB(MatrixClassifier):
    """p(x_j|c) = N(x_j; μ_cj, σ²_cj + ε), ε = `var_smoothing` times the largest variance of a column.

    Parameters
    ----------
    priors : None (the frequencies) | one number for each class, in sorted order | {label: p}.
    var_smoothing : the share of the largest column's variance that is added to every variance.

    Attributes: `theta_`, `var_` (C, d), `epsilon_`, `class_count_`, `class_prior_` (C,), and those of every classifier.

    >>> model = GaussianNB().fit([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]], [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.theta_.tolist()[1]
    ([1], [2.0, 1.3333333333333333])
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset({"priors", "var_smoothing"})

    priors: Any = None
    var_smoothing: float = 1e-9

    def _observed(self, frame: Matrix, labels: Labels, known: Schema | None) -> Schema:
        if known is not None:
            return known
        some = frame.values[:: max(1, frame.n // PIVOT_ROWS)].astype(float)
        columns = zip(self._names(), some.T, strict=True)
        return Schema(tuple(Variable(name, "continuous", pivot=middle(values)) for name, values in columns))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """A first fit learns of a cell that is not finite from its sums."""
        return numeric_input(self, X, reset=reset, ensure_all_finite=not reset)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        assert isinstance(X, Matrix)
        counted = moments(X, labels)
        whole = labels.weight is None and (counted.weight == labels.by_class[:, None]).all()
        if not whole and np.isnan(X.values.sum()):  # a missing cell may stand in a row without weight
            refuse_not_finite(self, pd.DataFrame(X.values, columns=X.schema.names, copy=False))
        return SufficientStatistics(X.schema, target, labels.by_class, Counts({}), counted)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        epsilon = _epsilon(stats, checked_number("var_smoothing", self.var_smoothing))
        parts, still = [], []
        for variable in stats.schema:
            moments = stats.moments.column(variable.name)
            whole = moments.pooled()
            column = whole.m2 / whole.weight
            there = moments.weight > 0
            variance = np.where(there, moments.m2 / np.where(there, moments.weight, 1.0), column) + epsilon
            if column + epsilon <= SMALLEST**2:
                variance = np.ones_like(variance)  # a constant column says the same of every class
            elif (variance == 0).any():
                still.append(variable.name)
                variance = np.where(variance > 0, variance, LEAST_SHARE * column)
            used = replace(moments, offset=np.where(there, moments.offset, whole.offset))
            parts.append(GaussianLeaf(variable, stats.target.name, used, variance, ~there))
        if still:
            warn(
                "column(s) {names}: a class has no spread there, and var_smoothing adds none; its variance is a "
                "billionth of the column's",
                names=Listing(still),
            )
        return PriorAndColumns((self._prior(stats), GaussianColumns(tuple(parts))))

    @property
    def theta_(self) -> Array:
        """(C, d) the means."""
        return self.stats_.moments.mean + self.stats_.moments.pivot

    @property
    def var_(self) -> Array:
        """(C, d) the variances, `epsilon_` included."""
        return np.array([part.variance for part in self.factor_.parts[1].parts]).T

    @property
    def epsilon_(self) -> float:
        """What is added to every variance."""
        return _epsilon(self.stats_, float(self.var_smoothing))


def _epsilon(stats: SufficientStatistics, share: float) -> float:
    return share * float((stats.moments.total / stats.moments.weight.sum(axis=0)).max())
