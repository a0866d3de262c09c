"""Gaussian discriminant analysis: one Gaussian a class over all numeric columns, Σ shared (LDA) or its own (QDA).
scikit-learn's LDA and QDA refuse missing cells and take no rows away again.

log p(c, x) = log π_c − ½ (x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log det Σ_c − (d/2) log 2π. Everything is a closed form of the
scatter of each class (`bayes_engine.stats.scatter`), so rows come and go by addition. Hastie, Tibshirani & Friedman,
The Elements of Statistical Learning, 2nd ed., sec. 4.3.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController  # comes with scikit-learn

from bayes_engine.covariance import (
    checked_shrinkage,
    inverse_root,
    ledoit_wolf_amounts,
    oas_amounts,
    pooled,
    refuse_constant,
    shrunk,
)
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.discriminant import BLOCK, Discriminant, LinearFactor, QuadraticFactor
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.language import Word
from bayes_engine.ledger import Ledger, Status, class_position
from bayes_engine.logspace import Array, log, normalize
from bayes_engine.models import discriminant_left_out as left_out
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.discriminant_covariance import check_covariance, floored_covariance, rounding_variance
from bayes_engine.models.discriminant_directions import checked_components, discriminant_directions
from bayes_engine.models.fit_warnings import warn_of_constant
from bayes_engine.priors import ClassPriors, checked_word
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import Counts
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import LARGEST
from bayes_engine.stats.scatter import Scatter, scatter
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.matrix import Matrix, matrix, slices
from bayes_engine.table.schema import Schema, Variable

TIED = 1e-11
"""Scores nearer than this are left to `decide`, whose rule for ties is the one rule."""


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds, limiting them does not


def one_thread() -> Any:
    """A context in which BLAS uses one thread: two make products of this size slower."""
    return _pools().limit(limits=1, user_api="blas")


Shrinkage = Literal["auto", "oas"] | float | None


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianDiscriminant(GenerativeClassifier):
    """What LDA and QDA share: complete numeric rows counted as one scatter a class, shrinkage, priors.

    A model states `_form`, its factor, and `_covariance`, the factor's. Hooks beside those of `GenerativeClassifier`:
    `_check` of the parameters, and `pooling`, Friedman's λ.
    """

    structural: ClassVar[tuple[str, ...]] = ("ledoit_wolf_",)
    missing = "marginalize"
    unseen = "ignore"
    priors: ClassPriors | None = None
    shrinkage: Shrinkage = None
    covariance: Literal["full", "diagonal"] = "full"
    variance: Literal["mle", "unbiased"] = "mle"
    schema: Schema | None = None
    solver: str = "svd"
    factor_: Discriminant = field(init=False)
    pooling: float = field(init=False, default=1.0)
    numeric: ClassVar[bool] = True
    _form: ClassVar[type[LinearFactor | QuadraticFactor]]

    @abstractmethod
    def _covariance(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        """The covariance, or that of every class, from the scatter of the columns in use. Raises TableError where it
        has no inverse."""

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        for variable in X.schema:
            if not variable.numeric:
                raise TableError(
                    "column '{column}' is {kind}; discriminant analysis needs numbers. Encode it as numbers (one "
                    "column of 0 and 1 a level, without one of them), leave it out, or use NaiveBayes",
                    column=variable.name,
                    kind=Word(variable.kind),
                )
        pivot = np.array([v.pivot for v in X.schema], dtype=float)
        values = matrix(X)
        with one_thread():
            counted = scatter(X.schema.names, pivot, values, labels)
        if not float(np.abs(counted.m2).max(initial=0.0)) < LARGEST**2:  # NaN too
            _refuse_cell(X.schema, values, pivot)
        return SufficientStatistics(X.schema, target, counted.weight, Counts({}), counted.moments, scatter=counted)

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        if self.shrinkage == "auto":
            assert stats.scatter is not None
            amounts = ledoit_wolf_amounts(stats.scatter, matrix(X), labels)
            self.ledoit_wolf_ = dict(zip(stats.target.levels, amounts.tolist(), strict=True))
        return stats

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        self._check()
        if stats.scatter is None:
            raise ParameterError("these statistics hold no scatter matrices; fit from the rows")
        prior = self._prior(stats)
        total = np.diagonal(stats.scatter.within + stats.scatter.between)
        constant = total <= stats.class_weight.sum() * rounding_variance(stats.scatter)
        refuse_constant(stats.schema.names, constant)
        warn_of_constant(np.array(stats.schema.names, dtype=object)[constant])
        active = np.flatnonzero(~constant)
        used = stats.scatter.of_columns(active)
        with one_thread():
            covariance = self._covariance(used, stats.target.levels)
            apart = used.means - used.centre
            gaussian = self._form(used.names, active, stats.target.name, used.pivot + used.centre, apart, covariance)
        return Discriminant((prior, gaussian))

    def _amounts(self, counted: Scatter, levels: tuple[Any, ...]) -> tuple[Array, Literal["diagonal", "spherical"]]:
        """(C,) how far each class's scatter is shrunk, and to what."""
        shrinkage = checked_shrinkage(self.shrinkage)
        if shrinkage == "oas":
            return oas_amounts(counted.weight, counted.m2), "diagonal"
        if shrinkage == "auto":
            known = getattr(self, "ledoit_wolf_", None)
            if known is None:
                raise ParameterError(
                    "shrinkage='auto' (Ledoit-Wolf) takes its amount from the rows of a first fit, and there are only "
                    "statistics here; fit from the rows, or take shrinkage='oas'"
                )
            later = counted.weight @ [known.get(c, 0.0) for c in levels] / counted.weight.sum()
            return np.array([known.get(c, later) for c in levels]), "diagonal"
        return np.full(len(counted.weight), shrinkage or 0.0), "spherical"

    def _covariances(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        """(C, d, d) the covariances of a scatter, shrunk and pooled."""
        m2 = shrunk(counted.m2, *self._amounts(counted, levels))
        if self.covariance == "diagonal":
            m2 = shrunk(m2, np.ones(len(m2)), "diagonal")
        return pooled(counted.weight, m2, float(self.pooling), self._ddof)

    @property
    def _gaussian(self) -> Any:
        check_is_fitted(self, "stats_")
        return self.factor_.gaussian

    @property
    def _scatter(self) -> Scatter:
        check_is_fitted(self, "stats_")
        assert self.stats_.scatter is not None
        return self.stats_.scatter

    @property
    def priors_(self) -> Array:
        """(C,) `class_prior_`, by scikit-learn's name."""
        return self.class_prior_

    @property
    def shrinkage_(self) -> dict[Any, float]:
        """How far each class's covariance is shrunk, from 0 to 1."""
        levels, used = self.target_.levels, self._scatter.of_columns(self._gaussian.columns)
        return dict(zip(levels, self._amounts(used, levels)[0].tolist(), strict=True))

    @property
    def means_(self) -> Array:
        """(C, d) the class means."""
        return np.asarray(self._scatter.means + self._scatter.pivot)

    @property
    def xbar_(self) -> Array:
        """(d,) the mean of all rows."""
        return np.asarray(self._scatter.centre + self._scatter.pivot)

    def decision_function(self, X: Any) -> Array:
        """(n, C) log p(c, x) without what all classes share; for two classes (n,) their log-odds, as scikit-learn has
        it. A row that is infinite or too far out is -inf."""
        scores = self._joint(X)[1]
        if scores.shape[1] != 2:
            return np.ascontiguousarray(scores)
        with np.errstate(invalid="ignore"):
            odds = scores[:, 1] - scores[:, 0]
        return np.where(np.isnan(odds), -np.inf, odds)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class with the largest posterior. Raises UndefinedPosterior where there is none."""
        table = self._encode(X)
        index, clear = np.empty(table.n, dtype=code_dtype(len(self.classes_))), np.empty(table.n, dtype=bool)
        with one_thread():
            for rows in slices(table.n, 8 * BLOCK):  # so that scores are ranked while they are in the cache
                index[rows], clear[rows] = _leading(self.factor_.scores(table.take(rows)).T)
        if not clear.all():
            joint = self.factor_.scores(table)
            self._defined(table, joint)
            rest = np.flatnonzero(~clear)
            decision = decide(normalize(joint[rest]), LossMatrix.zero_one(tuple(self.classes_.tolist())))
            index[rest] = decision.position
        return np.asarray(self.classes_.take(index))

    @property
    def _plain(self) -> bool:
        """Whether the covariances are the scatter's own, of all columns: then leave-one-out has a closed form."""
        whole = len(self._gaussian.columns) == len(self.schema_)
        return whole and not self.shrinkage and self.covariance == "full"

    def _removals(self, gone: LeftOutRows) -> left_out.Removals:
        """What goes with each row that is left out."""
        left = self._class_weight_without(gone)
        log_prior = log(self._prior_of(left, self.target_.levels))
        return left_out.Removals.of(gone, self.stats_.class_weight, left, log_prior)

    # plumbing ---------------------------------------------------------------------------------------------------

    def _joint_of(self, X: Table) -> Array:
        with one_thread():
            return self.factor_.scores(X)

    def _rows(self, X: Table, given: Collection[str] | None) -> Iterable[tuple[Row, Array]]:
        return self.factor_.rows(X if given is None else X.hiding(given))

    def _status(self, X: Table, joint: Array, given: Collection[str] | None = None) -> NDArray[np.int8]:
        status = super()._status(X, joint, given)  # a Gaussian is nowhere zero, only too small for a number
        return np.where(status == Status.IMPOSSIBLE, np.int8(Status.OUT_OF_RANGE), status)

    def _frame(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64 and len(X):
            names = super()._frame(X[:1], reset=reset).columns
            return pd.DataFrame(X, columns=names, copy=False)  # the numbers as they lie
        return super()._frame(X, reset=reset)

    def _table(self, frame: pd.DataFrame, schema: Schema, *, unseen: str, missing: str = "marginalize") -> Table:
        """One matrix where every column is numeric; otherwise as any table, for `_count` to say why not."""
        if not all(v.numeric for v in schema):
            return super()._table(frame, schema, unseen=unseen)
        if all(isinstance(t, np.dtype) and t.kind in "fiu" for t in frame.dtypes):
            return Matrix.of(frame.to_numpy(dtype=float), schema=schema)
        return Matrix.of(matrix(super()._table(frame, schema, unseen=unseen)), schema=schema)

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        """Pivots from at most a thousand rows: they need only lie near the data."""
        step = max(len(frame) // 1000, 1)
        few = frame.iloc[::step]
        if self.schema is None:
            return Schema.from_dtypes(few)
        return super()._initial_schema(few, labels)

    def _check(self) -> None:
        checked_shrinkage(self.shrinkage)
        for name, allowed in (("covariance", ("full", "diagonal")), ("variance", ("mle", "unbiased"))):
            checked_word(name, getattr(self, name), allowed)
        if self.solver != "svd":
            raise ParameterError(
                "solver={value}: the posteriors here are those of 'svd', whatever computes them; scikit-learn's 'lsqr' "
                "and 'eigen' let the priors into the covariance and give others. Leave solver out",
                value=repr(self.solver),
            )


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

    def _check(self) -> None:
        super()._check()
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


def _leading(scores: Array) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """(n,) the class with the largest of the `scores` (C, n), and whether it is one alone."""
    kind = code_dtype(len(scores))
    least = scores.max(axis=0)
    least -= TIED
    near = (scores >= least).view(np.uint8)
    index = sum((near[c] * kind(c) for c in range(2, len(scores))), start=near[1].astype(kind))
    return index, near.sum(axis=0, dtype=kind) == 1


def _refuse_cell(schema: Schema, values: Array, pivot: Array) -> None:
    """Raises TableError naming the cell that is missing, infinite or too large."""
    missing = np.isnan(values)
    if missing.any():
        row, j = np.argwhere(missing)[0]
        raise TableError(
            "column '{column}' has a missing cell (NaN) in row {row}: Input X contains NaN; discriminant analysis is "
            "fitted to complete rows. Fill the cell, leave the row or the column out, or use NaiveBayes",
            column=schema.names[j],
            row=int(row) + 1,
        )
    with np.errstate(over="ignore"):
        row, j = np.unravel_index(int(np.abs(values - pivot).argmax()), values.shape)
    raise TableError(
        "column '{column}' holds infinity or a value too large to be squared in row {row}: Input X contains "
        "infinity; mend the cell, make it missing, or take a larger unit",
        column=schema.names[int(j)],
        row=int(row) + 1,
    )


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
