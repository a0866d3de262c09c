"""What stands on a naive Bayes model's factors: attribute weights, a choice of columns, wrap a `NaiveBayes`.

The wrapped estimator reads the table, counts it and estimates its factors; the wrapper weighs or chooses them, by the
terms of the model's own rows, each without itself (`left_out_terms`): exactly and without a refit, where scikit-learn
would refit once a row.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from bayes_engine.errors import ParameterError, listen
from bayes_engine.factors import Factor, Product
from bayes_engine.factors.joint_multinomial import together
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable


class NoParameter(ParameterError, AttributeError):
    """A parameter asked of an `estimator` that has none: an attribute that is not there, for whoever walks them."""


class WrappedParameter:
    """A parameter of the `estimator` that a classifier is made with, read as if it were its own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(_checked(instance), self.name)


def _checked(owner: Any) -> NaiveBayes:
    if owner.estimator is None:
        return NaiveBayes()
    if not isinstance(owner.estimator, NaiveBayes):
        raise NoParameter(
            "{model} takes a NaiveBayes, not {name}", model=type(owner).__name__, name=type(owner.estimator).__name__
        )
    return owner.estimator


class NaiveBayesWrapper(GenerativeClassifier):
    """A classifier of the factors that its `estimator`, a NaiveBayes, reads, counts and estimates."""

    takes_text: ClassVar[bool] = True
    estimator: NaiveBayes | None
    schema: Any = WrappedParameter()
    priors: Any = WrappedParameter()
    unseen: Any = WrappedParameter()
    missing: Any = WrappedParameter()
    discretize: Any = WrappedParameter()
    bins: Any = WrappedParameter()

    @property
    def _inner(self) -> NaiveBayes:
        return NaiveBayes(**clone(_checked(self)).get_params(deep=False))  # a lazy one estimates at once

    def _declared(self) -> Schema:
        return self._inner._declared()

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        return self._inner._initial_schema(frame, labels)

    def _first_read(self, frame: Any, schema: Schema) -> Table:
        return self._inner._first_read(frame, schema)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return self._inner._count(X, labels, target)

    def _settled(self, stats: SufficientStatistics) -> NaiveBayes:
        """The estimator, fitted to these statistics; what it has to tell is told where they are estimated from."""
        if names := together(stats.schema):
            raise ParameterError(
                "column '{column}' is one multinomial with others, whose shares sum to 1 together: they are neither "
                "weighted nor chosen one by one; take naive Bayes, or give it a likelihood of its own",
                column=names[0],
            )
        with listen():
            return self._inner._settle(stats)

    def _factors(self, stats: SufficientStatistics) -> tuple[Factor, dict[str, Factor]]:
        """The class prior, and the factors of the columns by name; a column set aside has none."""
        whole: Any = self._inner._estimate(stats)
        assert isinstance(whole, Product)
        prior, *columns = whole.parts
        return prior, {str(part.variable.name): part for part in columns}  # type: ignore[attr-defined]


class LeftOutTerms(NamedTuple):
    """`log_prior` (n, C) and, for each column by name, `terms` (n, C): log P(c) and log P(x_ij|c) without row i."""

    log_prior: Array
    terms: dict[str, Array]

    def joint(self, kept: Iterable[str] | None = None) -> Array:
        """(n, C) log p(c, x_i) without row i, of all columns or of those `kept`."""
        names = self.terms if kept is None else kept
        return np.asarray(np.sum([self.log_prior, *(self.terms[name] for name in names)], axis=0))

    def judged(self, labels: Labels) -> tuple[LeftOutTerms, NDArray[np.intp], Array]:
        """The rows that can be judged, with their classes (m,) and weights (m,): those that count, but for one alone of
        its class, which cannot be right when left out."""
        own, weight = labels.codes, labels.by_row
        assert own is not None
        use = (weight > 0) & ~np.isneginf(self.log_prior[np.arange(len(own)), own])
        terms = {name: term[use] for name, term in self.terms.items()}
        return LeftOutTerms(self.log_prior[use], terms), own[use], weight[use]


def left_out_terms(model: NaiveBayes, X: Table, labels: Labels) -> LeftOutTerms:
    """The terms of the rows of X (n, d), as `model` encodes them, each without itself: of a row that counts w > 1 times
    one is left out, as if it stood there w times.

    Raises NotASubset where a row was never counted.
    """
    gone = replace(LeftOutRows.of(X, labels, model.stats_), weight=np.minimum(labels.by_row, 1.0))
    alone = copy.copy(model)  # reads the same statistics, a column at a time
    alone.schema_ = Schema(())
    log_prior = alone._joint_without(X, gone)
    alone.priors = "uniform"  # finite: it comes off again
    even = alone._joint_without(X, gone)
    terms = {}
    for variable in steps(X.schema):
        alone.schema_ = Schema((variable,))
        terms[variable.name] = alone._joint_without(X, gone) - even
    return LeftOutTerms(log_prior, terms)
