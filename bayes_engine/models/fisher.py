"""Fisher's projection: the directions in which classes are far apart for their spread, and the nearest projected mean.
scikit-learn's LDA has no trace-ratio objective, and learns from rows, not from statistics that merge.

Zhou Zhihua, Machine Learning, sec. 3.4 (his "LDA"); a transformer and a rule, not a density: Gaussian discriminant
analysis is in `bayes_engine.models.discriminant_analysis`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.ledger import class_position
from bayes_engine.logspace import Array
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.discriminant_directions import (
    checked_components,
    criterion,
    discriminant_directions,
    signed,
    trace_ratio,
)
from bayes_engine.models.estimator_around import take_columns
from bayes_engine.models.gaussian_discriminant import Shrinkage
from bayes_engine.priors import checked_word
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.scatter import Scatter
from bayes_engine.table.schema import Schema

OBJECTIVES = ("ratio-trace", "trace-ratio")


@dataclass(eq=False, repr=False, kw_only=True)
class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fisher's projection and its classifier, the nearest projected mean.

    "ratio-trace" maximizes tr((WᵀS_wW)⁻¹WᵀS_bW) by S_b w = λ S_w w, with WᵀS_wW/n = I: at most K − 1 directions.
    "trace-ratio" maximizes tr(WᵀS_bW)/tr(WᵀS_wW) with WᵀW = I, by iteration (`trace_`); it depends on the columns'
    units. For two classes the rule is that of LDA with equal priors, whatever the classes' own covariances.
    More columns than rows are refused without shrinkage (TableError); collinear columns are exact, with a warning.

    Parameters
    ----------
    n_components : how many directions; None for K − 1, or for as many as there are.
    objective : "ratio-trace" | "trace-ratio".
    shrinkage : as in `LinearDiscriminantAnalysis`: what is put in place of S_w/n; the amount is `shrinkage_`.
    schema : kinds of the columns; None takes them from the dtypes.

    Attributes: `scalings_` (d, n_components), each column's largest entry positive, `explained_ratio_` (n_components,)
    of the between-class scatter over the spread, `means_` (C, d), `within_`, `between_`, `total_` (d, d), `shrinkage_`,
    `xbar_` (d,), `trace_`, `gaussian_` (the discriminant analysis that holds the statistics), `classes_`.

    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> FisherDiscriminant().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]]).tolist()
    [1]
    """

    n_components: int | None = None
    objective: Literal["ratio-trace", "trace-ratio"] = "ratio-trace"
    shrinkage: Shrinkage = None
    schema: Schema | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions for rows X (n, d) with classes y (n,).

        Raises TableError, ParameterError (both ValueErrors) where table, labels or parameters do not allow it.
        """
        checked_word("objective", self.objective, OBJECTIVES)
        model = LinearDiscriminantAnalysis(shrinkage=self.shrinkage, schema=self.schema)
        return self._settle(model.fit(X, y, sample_weight))

    def _check(self, schema: Schema, total: float) -> None:
        """As `GenerativeClassifier._check`."""
        checked_word("objective", self.objective, OBJECTIVES)
        LinearDiscriminantAnalysis(shrinkage=self.shrinkage)._check(schema, total)

    def fit_stats(self, stats: SufficientStatistics) -> Self:
        """Find the directions from scatter matrices that were collected elsewhere; as
        `GenerativeClassifier.fit_stats`."""
        checked_word("objective", self.objective, OBJECTIVES)
        model = LinearDiscriminantAnalysis(shrinkage=self.shrinkage, schema=self.schema)
        return self._settle(model.fit_stats(stats))

    def fit_powers(self, stats: SufficientStatistics, powers: Array) -> Self:
        """As `GaussianDiscriminant.fit_powers`."""
        checked_word("objective", self.objective, OBJECTIVES)
        model = LinearDiscriminantAnalysis(shrinkage=self.shrinkage, schema=self.schema)
        return self._settle(model.fit_powers(stats, powers))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows X (n, d), y (n,); as `GenerativeClassifier.partial_fit`."""
        if not hasattr(self, "gaussian_"):
            model = LinearDiscriminantAnalysis(shrinkage=self.shrinkage, schema=self.schema)
            return self._settle(model.partial_fit(X, y, classes, sample_weight))
        return self._settle(self.gaussian_.partial_fit(X, y, classes, sample_weight))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows X (n, d), y (n,) away; as `GenerativeClassifier.forget`."""
        check_is_fitted(self, "gaussian_")
        return self._settle(self.gaussian_.forget(X, y, sample_weight))

    def merge(self, other: Self) -> Self:
        """A new model with the rows of both; parameters are this one's. Raises SchemaMismatch where columns differ.

        >>> one = FisherDiscriminant().fit([[0.0, 1.0], [2.0, 0.0], [4.0, 4.0], [6.0, 5.0]], ["a", "a", "b", "b"])
        >>> one.merge(one).gaussian_.stats_.class_weight.tolist()
        [4.0, 4.0]
        """
        check_is_fitted(self, "gaussian_")
        check_is_fitted(other, "gaussian_")
        merged: Self = clone(self)
        return merged._settle(self.gaussian_.merge(other.gaussian_))

    def _settle(self, model: LinearDiscriminantAnalysis) -> Self:
        factor, n = model._gaussian, model.stats_.class_weight.sum()
        columns, root = factor.columns, factor.root
        present = int((model.stats_.class_weight > 0).sum())
        spread = np.ix_(columns, columns)
        counted: Scatter = model.stats_.scatter  # type: ignore[assignment]
        between = counted.between[spread] / n
        if self.objective == "ratio-trace":
            most = min(present - 1, root.rank)
            k = most if self.n_components is None else checked_components(self.n_components, most)
            W, values = discriminant_directions(root, between)
            self.trace_: tuple[float, ...] = (float(values[:k].sum()),)
        else:
            most = root.rank
            k = min(present - 1, most) if self.n_components is None else checked_components(self.n_components, most)
            span = np.linalg.qr(root.whiten)[0]  # all directions, or those with spread where columns are collinear
            inner, self.trace_ = trace_ratio(span.T @ factor.covariance @ span, span.T @ between @ span, k)
            W = signed(span @ inner)
            values = np.asarray(criterion(W.T, factor.covariance, between))
        self.gaussian_ = model
        self.scalings_ = np.zeros((len(counted.names), k))
        self.scalings_[columns] = W[:, :k]
        self.explained_ratio_ = values[:k] / max(float(values.sum()), np.finfo(float).tiny)
        self.within_, self.between_ = counted.within, counted.between
        self.total_ = self.within_ + self.between_
        self.means_, self.xbar_, self.shrinkage_ = model.means_, model.xbar_, model.shrinkage_
        self.classes_ = model.classes_
        take_columns(self, model)
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.scalings_.shape[1])

    def transform(self, X: Any) -> Array:
        """(n, n_components) the rows projected, (x − x̄)ᵀW. Raises TableError on a missing or infinite cell."""
        check_is_fitted(self, "gaussian_")
        return np.asarray(self.gaussian_._complete(X) @ self.scalings_)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class whose projected mean is nearest."""
        closeness = self._closeness(X)
        return np.asarray(self.classes_[closeness.argmax(axis=1)])

    def decision_function(self, X: Any) -> Array:
        """(n, C) −½ ‖Wᵀ(x − μ_c)‖²; for two classes (n,) the second less the first. Not a log-probability."""
        closeness = self._closeness(X)
        return closeness if closeness.shape[1] != 2 else closeness[:, 1] - closeness[:, 0]

    def discriminant(self, for_: Any, against: Any) -> tuple[Array, float]:
        """w (d,) and b with wᵀx + b > 0 where the projected mean of `for_` is nearer than that of `against`.

        Raises ParameterError where a label is no class.
        """
        check_is_fitted(self, "gaussian_")
        i, j = (self.means_[class_position(label, self.classes_.tolist())] for label in (for_, against))
        w = self.scalings_ @ ((i - j) @ self.scalings_)
        return w, float(-w @ (i + j) / 2.0)

    def _closeness(self, X: Any) -> Array:
        Z = np.asarray(self.transform(X))  # a frame under set_output
        means = (self.means_ - self.xbar_) @ self.scalings_
        closeness = -0.5 * ((Z[:, None, :] - means) ** 2).sum(axis=2)
        closeness[:, self.gaussian_.stats_.class_weight == 0] = -np.inf
        return np.asarray(closeness)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "gaussian_")
