"""Gaussian discriminant analysis: one Gaussian a class over all numeric columns, Σ shared (LDA) or its own (QDA).
scikit-learn's LDA and QDA refuse missing cells and take no rows away again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayes_engine.covariance import inverse_root
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors.discriminant import LinearFactor, QuadraticFactor
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.ledger import Ledger, class_position
from bayes_engine.logspace import Array, log
from bayes_engine.models import discriminant_left_out as left_out
from bayes_engine.models.discriminant_covariance import check_covariance, floored_covariance
from bayes_engine.models.discriminant_directions import checked_components, discriminant_directions
from bayes_engine.models.gaussian_discriminant import GaussianDiscriminant
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.scatter import Scatter
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import matrix
from bayes_engine.table.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianDiscriminant):  # type: ignore[misc]
    """Gaussian classes with one covariance for all: log-odds linear in x,
    log p(c, x) = log π_c + μ_cᵀΣ⁻¹x − ½ μ_cᵀΣ⁻¹μ_c + what all classes share.

    Σ = S_w/n whatever the priors; every prior acts through log π_c alone. Missing cells are integrated out in predict
    and refused in fit. Collinear columns are exact in the span of Σ, with a warning; more columns than rows are refused
    without shrinkage (TableError). Log terms are in nats.

    Parameters
    ----------
    priors : None | "empirical" | "laplace" | "uniform" | {label: p} | one number for each class in the order of
        `classes_`, see `bayes_engine.priors.class_prior`. None is "empirical".
    shrinkage : None | "auto" | "oas" | γ from 0 to 1. A number gives (1 − γ)Σ + γ (tr Σ/d) I (Friedman's γ); "auto"
        (Ledoit-Wolf) and "oas" shrink each class towards its own diagonal by an amount from the data, `shrinkage_`.
        Ledoit-Wolf's needs the rows: it is found by the first fit and kept when rows come and go.
    covariance : "full" | "diagonal": with a diagonal Σ this is naive Bayes with a tied variance.
    variance : "mle" (S_w/n) | "unbiased" (S_w/(n − K)).
    n_components : how many directions `transform` keeps; None for all, at most K − 1.
    schema : kinds of the columns; None takes them from the dtypes.
    solver : "svd" alone, with whose posteriors these agree; scikit-learn's "lsqr" and "eigen" let the priors into Σ.

    scikit-learn's `store_covariance`, `tol` and `covariance_estimator` are not there: `covariance_` always is.

    Attributes: `coef_` and `intercept_` (decision_function = X coefᵀ + intercept; one row for two classes), `means_`,
    `covariance_` (d, d), `priors_`, `shrinkage_`, `scalings_` (d, n_components) with WᵀΣW = I and each column's largest
    entry positive, `explained_variance_ratio_`, `xbar_`, `condition_` (of the correlations within classes), `stats_`,
    `factor_`, `schema_`, `classes_`.

    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]]).tolist()
    [1]
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset(
        {"priors", "shrinkage", "covariance", "variance", "n_components"}
    )

    n_components: int | None = None

    _form = LinearFactor

    def _covariance(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        return floored_covariance(self._covariances(counted, levels)[0], counted)

    @property
    def condition_(self) -> float:
        """The condition number of the correlations within classes: a unit more or less changes nothing."""
        return float(self._gaussian.root.condition)

    @property
    def covariance_(self) -> Array:
        """(d, d) Σ, shrunk where it is."""
        return np.asarray(self._covariances(self._scatter, self.target_.levels)[0])

    @property
    def coef_(self) -> Array:
        """(C, d) w_c = Σ⁻¹(μ_c − x̄); for two classes (1, d) their difference. A column set aside has 0."""
        weights = np.zeros((len(self.classes_), self.n_features_in_))
        weights[:, self._gaussian.columns] = self._gaussian.weights
        return np.asarray(weights if len(weights) != 2 else weights[1:] - weights[:1])

    @property
    def intercept_(self) -> Array:
        """(C,), or (1,) for two classes: what `decision_function` is at the origin."""
        f = self._gaussian
        at_zero = log(self.priors_) - (f.weights * (0.5 * f.apart + f.centre)).sum(axis=1)
        return np.asarray(at_zero if len(at_zero) != 2 else at_zero[1:] - at_zero[:1])

    def discriminant(self, for_: Any, against: Any) -> tuple[Array, float]:
        """w (d,) and b with log P(for|x)/P(against|x) = wᵀx + b: w = Σ⁻¹(μ_for − μ_against).

        Raises ParameterError where a label is no class.

        >>> X = [[0.0], [2.0], [4.0], [6.0]]
        >>> w, b = LinearDiscriminantAnalysis().fit(X, ["a", "a", "b", "b"]).discriminant("b", "a")
        >>> w.tolist(), b
        ([4.0], -12.0)
        """
        f, p = self._gaussian, log(self.priors_)
        i, j = (class_position(label, self.classes_.tolist()) for label in (for_, against))
        w = np.zeros(self.n_features_in_)
        w[f.columns] = f.weights[i] - f.weights[j]
        between = f.centre + 0.5 * (f.apart[i] + f.apart[j])
        return w, float(p[i] - p[j] - w[f.columns] @ between)

    @property
    def scalings_(self) -> Array:
        """(d, n_components) discriminant directions W with WᵀΣW = I, most separating first."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Array:
        """(n_components,) the share of the between-class variance in each direction."""
        return self._directions()[1]

    def _directions(self) -> tuple[Array, Array]:
        f = self._gaussian
        between = self._scatter.of_columns(f.columns).between / self.stats_.class_weight.sum()
        directions, values = discriminant_directions(f.root, between)
        kept = self._n_features_out
        W = np.zeros((self.n_features_in_, kept))
        W[f.columns] = directions[:, :kept]
        return W, values[:kept] / max(values.sum(), np.finfo(float).tiny)

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, int(self._gaussian.root.rank))
        return most if self.n_components is None else checked_components(self.n_components, most)

    def transform(self, X: Any) -> Array:
        """(n, n_components) the rows in the discriminant coordinates, (x − x̄)ᵀ `scalings_`; the classes are spheres of
        variance 1 there. Raises TableError on a missing or infinite cell."""
        return np.asarray(self._complete(X) @ self.scalings_)

    def _complete(self, X: Any) -> Array:
        """(n, d) the rows as offsets from x̄."""
        check_is_fitted(self, "stats_")
        table = self._encode(X)
        values = matrix(table)
        _refuse_incomplete(table.schema, values)
        return np.asarray(values - self.xbar_)

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        within = inverse_root(self._scatter.within) if self._plain else None
        if within is None or within.rank < len(self.schema_):
            return super()._leave_one_out(X, labels)
        weight, gone = self.stats_.class_weight, LeftOutRows.of(X, labels)
        joint, undone = left_out.linear_left_out(
            matrix(X), self.means_, within, weight, self._removals(gone), self._ddof
        )
        for i in np.flatnonzero(undone):  # few: their class is gone, or a direction has lost its spread
            joint[i] = self._estimated(self._stats_without(gone, int(i))).log(X.take(slice(i, i + 1)))[0]
        return joint


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticDiscriminantAnalysis(GaussianDiscriminant):
    """Gaussian classes, each with a covariance of its own: log p(c, x) = log π_c − ½ log det Σ_c
    − ½ (x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − (d/2) log 2π.

    Missing cells are integrated out in predict and refused in fit. `fit` raises TableError, naming the class, where a
    covariance has no full rank (a class with too few rows, collinear columns). Log terms are in nats.

    Parameters
    ----------
    priors, shrinkage, covariance, variance, schema : as in `LinearDiscriminantAnalysis`; "unbiased" divides by n_c − 1.
    solver : as in `LinearDiscriminantAnalysis`.
    reg_param : 0 alone: scikit-learn's adds r to every variance, so that another unit gives another posterior; a number
        as `shrinkage` adds a share of the mean variance.
    pooling : Friedman's λ from 0 (QDA) to 1 (LDA): Σ_c(λ) = ((1 − λ) S_c + λ S_w)/((1 − λ) n_c + λ n). Together with
        a number as `shrinkage`, his γ, this is regularized discriminant analysis (JASA 84, 1989).

    Attributes: `means_`, `covariance_` (C, d, d), `priors_`, `shrinkage_`, `condition_` by class, `stats_`, `factor_`,
    `schema_`, `classes_`.

    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]]).tolist()
    [1]
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset(
        {"priors", "shrinkage", "pooling", "covariance", "variance"}
    )

    pooling: float = 0.0
    reg_param: float = 0.0
    _form = QuadraticFactor

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        if self.reg_param != 0:
            raise ParameterError(
                "reg_param={value}: it adds one number to the variance of every column, so that another unit gives "
                "another posterior; take shrinkage={value}, which adds that share of the mean variance, or 'auto'",
                value=repr(self.reg_param),
            )
        share = self.pooling
        if isinstance(share, bool) or not isinstance(share, int | float | np.number) or not 0.0 <= share <= 1.0:
            raise ParameterError("pooling={value} is no share from 0 (QDA) to 1 (LDA)", value=repr(share))

    def _covariance(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        covariance = self._covariances(counted, levels)
        whole = (counted.within + counted.between) / counted.weight.sum()
        covariance[counted.weight == 0] = whole
        for label, weight, own in zip(levels, counted.weight.tolist(), covariance, strict=True):
            check_covariance(str(label), weight, own, whole, counted)
        return covariance

    @property
    def covariance_(self) -> Array:
        """(C, d, d) the covariances, shrunk and pooled where they are."""
        return self._covariances(self._scatter, self.target_.levels)

    @property
    def condition_(self) -> dict[Any, float]:
        """By class, the condition number of its correlations."""
        roots = self._gaussian.roots
        return dict(zip(self.target_.levels, (root.condition for root in roots), strict=True))

    def explain(self, X: Any, given: Collection[str] | None = None, order: Sequence[str] | None = None) -> Ledger:
        """Every log term (n, C) of the prediction, as `GenerativeClassifier.explain`.

        With `order`, all columns in some order, the density is split by the chain rule: one row a column,
        log p(x_j | the columns before it, c). Another order gives other terms and the same sum.

        Raises ParameterError where `order` is not the columns, each once.

        >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [5.0, 5.0], [6.0, 8.0], [7.0, 5.0]]
        >>> model = QuadraticDiscriminantAnalysis().fit(X, ["a", "a", "a", "b", "b", "b"])
        >>> [row.name for row, _ in model.explain([[1.0, 1.0]], order=["x1", "x0"]).rows]
        ['class', 'x1', 'x0']
        """
        ledger = super().explain(X, given)
        if order is None:
            return ledger
        if sorted(order) != sorted(self.schema_.names):
            raise ParameterError(
                "order={order} must name every column once: {names}",
                order=", ".join(map(str, order)),
                names=", ".join(self.schema_.names),
            )
        table = self._encode(X)
        split = self._gaussian.chain(table if given is None else table.hiding(given), order)
        return replace(ledger, rows=(ledger.rows[0], *split))

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        if not self._plain or self.pooling:
            return super()._leave_one_out(X, labels)
        weight, m2 = self.stats_.class_weight, self._scatter.m2
        roots = [inverse_root(m2[c]) if weight[c] else root for c, root in enumerate(self._gaussian.roots)]
        degrees = np.where(weight == 0, 1.0, weight - self._ddof)
        gone = LeftOutRows.of(X, labels)
        joint, undone = left_out.quadratic_left_out(
            matrix(X), self.means_, roots, degrees, self._removals(gone), self._ddof
        )
        for i in np.flatnonzero(undone):  # few: a direction of their class has lost its spread, or all but its digits
            rest = self._stats_without(gone, int(i), anew=True)
            with suppress(TableError):  # its covariance has no inverse
                joint[i] = self._estimated(rest).log(X.take(slice(i, i + 1)))[0]
        return joint


def _refuse_incomplete(schema: Schema, values: Array) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        row, j = np.argwhere(bad)[0]
        raise TableError(
            "column '{column}' has a missing or infinite cell in row {row}: Input X contains NaN or infinity, and such "
            "a row has no place in the projection; fill the cell or leave the row out",
            column=schema.names[j],
            row=int(row) + 1,
        )
