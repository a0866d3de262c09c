"""Naive Bayes over one real table: strings, numbers, missing cells, unseen values, weights.

P(c|x) ∝ P(c) Π_j P(x_j|c) (Zhou Zhihua, Machine Learning, eq. 7.14–7.15): one factor a column, a table for a discrete
one, a Gaussian for a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset
from bayes_engine.factors import (
    Factor,
    GaussianFactor,
    Product,
    TableFactor,
    normal_log_density,
    table_estimate,
    variance_estimate,
)
from bayes_engine.logspace import Array, log
from bayes_engine.models.base import GenerativeClassifier, say, say_of_classes
from bayes_engine.priors import SMOOTHING, Smoothing, checked_alpha, checked_share, checked_word
from bayes_engine.stats.collect import Statistics, collect
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType({
    "textbook": {"smoothing": "none", "alpha": 1.0, "priors": "empirical", "variance": "unbiased"},
    "laplace": {"smoothing": "all", "alpha": 1.0, "priors": "laplace", "variance": "unbiased"},
    "zero-only": {"smoothing": "zero-only", "alpha": 1.0, "priors": "empirical", "variance": "unbiased"},
    "scikit-learn": {"smoothing": "all", "alpha": 1.0, "priors": "empirical", "variance": "mle"},
})  # fmt: skip
"""The estimation presets: as printed (eq. 7.16–7.18), Laplace correction (eq. 7.19–7.20), repair zeros only,
scikit-learn's defaults."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "smoothing": SMOOTHING,
        "variance": ("mle", "unbiased"),
        "missing": ("marginalize", "category", "error"),
        "unseen": ("ignore", "smooth", "error"),
    }
)
"""The values of the parameters that are words."""


class NaiveBayes(GenerativeClassifier):
    """Naive Bayes for a table of discrete and numeric columns: h(x) = argmax_c P(c) Π_j P(x_j|c) (eq. 7.15).

    P(c), P(x_j|c) by eq. 7.16–7.18, smoothed by eq. 7.19–7.20. `fit`, `predict` and the rest raise as
    `GenerativeClassifier` says; log terms are in nats.

    Parameters
    ----------
    alpha : float, pseudo-count added to every level (eq. 7.20); 0 adds nothing.
    smoothing : "all" | "zero-only" | "none": everywhere; only for an (attribute, class) pair with a zero; nowhere.
    priors : "empirical" | "laplace" | "uniform" | {label: p}, see `bayes_engine.priors.class_prior`.
    variance : "mle" (ddof 0) | "unbiased" (ddof 1).
    tied_variance : one variance for all classes: Gaussian discriminant analysis with a diagonal Σ.
    var_floor : the least variance, as a share of the column's own.
    missing : "marginalize" (a missing cell has no factor) | "category" (in a discrete column, a level of its own if
        training had any) | "error".
    unseen : "ignore" (no factor) | "smooth" (α/(n_c + α(S+1))) | "error", for a value not among the levels.
    discretize : None (a number has a Gaussian) | "mdlp" | "equal-width" | "quantile": numbers as intervals, cut by the
        rows of the fit. bins : how many, for the latter two.
    schema : kinds and levels of the columns; None takes them from the dtypes.

    Attributes: `stats_`, `factor_`, `schema_`, `target_`, `classes_` (sorted), `n_features_in_`, `feature_names_in_`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["green", "dark", "dark", None], "sugar": [0.46, 0.37, 0.26, 0.09]})
    >>> model = NaiveBayes().fit(X, ["good", "good", "bad", "bad"])
    >>> model.predict(X).tolist()
    ['good', 'good', 'bad', 'bad']
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset(
        {"alpha", "smoothing", "priors", "variance", "tied_variance", "var_floor", "unseen"}
    )

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        smoothing: Smoothing = "all",
        priors: Literal["empirical", "laplace", "uniform"] | Mapping[Any, float] = "empirical",
        variance: Literal["mle", "unbiased"] = "mle",
        tied_variance: bool = False,
        var_floor: float = 1e-9,
        missing: Literal["marginalize", "category", "error"] = "marginalize",
        unseen: Literal["ignore", "smooth", "error"] = "ignore",
        discretize: Literal["mdlp", "equal-width", "quantile"] | None = None,
        bins: int = 10,
        schema: Schema | None = None,
    ) -> None:
        self.alpha = alpha
        self.smoothing = smoothing
        self.priors = priors
        self.variance = variance
        self.tied_variance = tied_variance
        self.var_floor = var_floor
        self.missing = missing
        self.unseen = unseen
        self.discretize = discretize
        self.bins = bins
        self.schema = schema

    def _count(self, X: Table, labels: Labels, target: Variable) -> Statistics:
        return collect(X, labels, target)

    def _estimate(self, stats: Statistics) -> Factor:
        self._check(stats)
        weight, target = stats.class_weight, stats.target.name
        prior = self._prior(stats)
        parts: list[Factor] = [prior]
        constant, floored = [], []
        for variable in stats.schema:
            if variable.discrete:
                parts.append(self._table_factor(variable, stats.counts.tables[variable.name], target))
                continue
            moments = stats.moments.column(variable.name)
            if moments.constant:
                constant.append(variable.name)
                continue
            variance, replaced, used = self._variance(moments)
            if (replaced & (weight > 0)).any():
                floored.append(variable.name)
            tied = bool(self.tied_variance)
            parts.append(GaussianFactor(variable, target, used, variance, replaced, self._ddof, tied))
        self._warn(constant, floored)
        say_of_classes(prior, stats.target.levels)
        return Product(tuple(parts))

    def _table_factor(self, variable: Variable, table: Array, target: str) -> TableFactor:
        """The factor of one table (C, 1 + S); with missing="category" and missing seen, missing is a level too."""
        as_level = self.missing == "category" and bool(table[:, 0].any())
        counts = np.concatenate([table[:, 1:], table[:, :1]], axis=1) if as_level else table[:, 1:]
        added, unseen = table_estimate(counts, float(self.alpha), self.smoothing, self.unseen)
        return TableFactor(variable, target, counts, added, unseen, as_level)

    def _variance(self, moments: ColumnMoments) -> tuple[Array, NDArray[np.bool_], ColumnMoments]:
        return variance_estimate(moments, self._ddof, bool(self.tied_variance), float(self.var_floor))

    @property
    def _ddof(self) -> int:
        return 1 if self.variance == "unbiased" else 0

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        """All rows at once: a row's removal touches its own class only, so a table needs one variant for each
        (class, level) and a Gaussian one downdate for each row."""
        assert labels.codes is not None
        n, own = X.n, labels.codes
        weight = np.ones(n) if labels.weight is None else labels.weight
        rows = np.arange(n)
        left = np.repeat(self.stats_.class_weight[None, :], n, axis=0)
        left[rows, own] -= weight
        if (left[rows, own] < -1e-9 * weight).any():
            raise NotASubset("a row to leave out was never counted: its class has less weight than the row")
        left[rows, own] *= left[rows, own] > 1e-9 * weight
        joint = log(self._prior_of(left, self.target_.levels))
        for variable in self.schema_:
            column = X[variable.name]
            if variable.discrete:
                joint = joint + self._table_without_one(variable, column, own, weight)
            else:
                joint = joint + self._gaussian_without_one(variable, column, own, weight)
        return joint

    def _table_without_one(self, variable: Variable, codes: Array, own: Any, weight: Array) -> Array:
        """(n, C) log P(x_i|c) from counts without row i; rows alike in class, value and weight are done once."""
        alike, back = np.unique(np.stack([own, codes.astype(float), weight]), axis=1, return_inverse=True)
        cls, code, w = alike[0].astype(int), alike[1].astype(int), alike[2]
        variants = np.repeat(self.stats_.counts.tables[variable.name][None], len(cls), axis=0)
        at = np.arange(len(cls))
        rest = variants[at, cls, code] - w
        if (rest < -1e-9 * w).any():
            raise NotASubset("column '{column}': a row to leave out was never counted", column=variable.name)
        variants[at, cls, code] = np.where(rest <= 1e-9 * w, 0.0, rest)
        terms = np.stack(
            [
                self._table_factor(variable, counts, self.target_.name).lookup[:, s]
                for counts, s in zip(variants, code, strict=True)
            ]
        )
        return terms[np.ravel(back)]

    def _gaussian_without_one(self, variable: Variable, x: Array, own: Any, weight: Array) -> Array:
        rest = self.stats_.moments.column(variable.name).without(own, x, weight)
        constant = rest.constant[:, None]
        variance, _, used = self._variance(rest)
        variance = np.where(constant, 1.0, variance)
        term = normal_log_density((x - rest.pivot)[:, None], used.offset, variance)
        return np.where(np.isnan(x)[:, None] | constant, 0.0, term)

    def _check(self, stats: Statistics) -> None:
        checked_alpha(self.alpha, float(stats.class_weight.sum()))
        for name, values in CHOICES.items():
            checked_word(name, getattr(self, name), values)
        checked_share("var_floor", self.var_floor)

    def _warn(self, constant: list[str], floored: list[str]) -> None:
        if constant:
            say(
                "column(s) {names} have the same value in every row: they say nothing of the class and are set aside",
                names=", ".join(constant),
            )
        if floored:
            say(
                "column(s) {names}: a class has one row, or no spread, there; its variance is the pooled one or the "
                "floor var_floor × the column's variance",
                names=", ".join(floored),
            )
