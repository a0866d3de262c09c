"""What stands on a naive Bayes model's factors: attribute weights, a choice of columns, wrap a `NaiveBayes`.

The wrapped estimator reads the table, counts it and estimates its factors; the wrapper weighs or chooses them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd
from sklearn.base import clone

from bayes_engine.errors import ParameterError, listen
from bayes_engine.factors import Factor, Product
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable


class WrappedParameter:
    """A parameter of the `estimator` that a classifier is made with, read as if it were its own.

    >>> class Careful:
    ...     estimator = NaiveBayes(unseen="error")
    ...     unseen = WrappedParameter()
    >>> Careful().unseen
    'error'
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(_checked(instance), self.name)


def _checked(owner: Any) -> NaiveBayes:
    if owner.estimator is None:
        return NaiveBayes()
    if not isinstance(owner.estimator, NaiveBayes):
        raise ParameterError(
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

    @property
    def _declared(self) -> Schema:
        return self._inner._declared

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        return self._inner._initial_schema(frame, labels)

    def _first_read(self, frame: Any, schema: Schema) -> Table:
        return self._inner._first_read(frame, schema)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return self._inner._count(X, labels, target)

    def _settled(self, stats: SufficientStatistics) -> NaiveBayes:
        """The estimator, fitted to these statistics; what it has to tell is told where they are estimated from."""
        with listen():
            return self._inner._settle(stats)

    def _factors(self, stats: SufficientStatistics) -> tuple[Factor, dict[str, Factor]]:
        """The class prior, and the factors of the columns by name; a column set aside has none."""
        whole: Any = self._inner._estimate(stats)
        assert isinstance(whole, Product)
        prior, *columns = whole.parts
        return prior, {str(part.variable.name): part for part in columns}  # type: ignore[attr-defined]
