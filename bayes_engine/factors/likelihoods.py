"""Likelihoods of columns of numbers whose statistics are their values (kernel densities, counts): the leaf that they
share, and those there are, by name. To add one, write a module with a `ValuesLeaf` and register it; naive Bayes then
collects its statistics, estimates it and leaves rows out of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayes_engine.factors import Row
from bayes_engine.factors.leaf import Estimation, Leaf, LeftOutRows, dot, information_of_table
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.values import ColumnValues, LeftOutValues
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import TRAITS, Traits
from bayes_engine.table.schema import Variable


class ValuesLeaf(Leaf):
    """log P(x_j | c) at any x from how much of every value each class holds. It knows no parents but the class.

    A subclass says `estimated` and `at`; `estimation` is what it was estimated with.
    """

    estimation: Estimation

    @classmethod
    @abstractmethod
    def estimated(cls, variable: Variable, target: str, column: ColumnValues, estimation: Estimation) -> Self:
        """The leaf of these values."""

    @abstractmethod
    def at(self, x: Array) -> Array:
        """(n, C) the log terms at x (n,), 0 where x is NaN."""

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        x = X[self.variable.name]
        if len(x) and np.isnan(x).all():
            return
        yield self.row, self.at(x)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        """Rows to be left out that are alike in class, value and weight are done once; where their rest has a single
        value, it says nothing."""
        x = X[self.variable.name]
        if left is None:
            return self.at(x)
        assert left.stats is not None
        column = left.stats.values.columns[self.variable.name]
        keys = [left.own, x] if left.one_weight is not None else [left.weight, left.own, x]
        order = np.lexsort(keys)
        ordered = [key[order] for key in keys]
        first = np.append(True, np.logical_or.reduce([key[1:] != key[:-1] for key in ordered]))
        one = order[first]
        gone = column.left_out(left.own[one], x[one], left.weight[one])
        terms, some = np.zeros((len(one), len(column.weight))), ~gone.constant
        terms[some] = self.without(column, gone.take(some))
        each = np.empty((X.n, terms.shape[1]))
        each[order] = terms[np.cumsum(first) - 1]
        return each

    def without(self, column: ColumnValues, gone: LeftOutValues) -> Array:
        """(n, C) the log terms of rows with ascending values, each by the leaf of the `column` without it. This general
        form estimates n times."""
        terms = np.zeros((len(gone.value), len(column.weight)))
        for i in steps(range(len(terms))):
            anew = self.estimated(self.variable, self.target, gone.rest(column, i), self.estimation)
            terms[i] = anew.at(gone.value[i : i + 1])[0]
        return terms

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        column = stats.values.columns[self.variable.name]
        return dot(column.weight, self.at(column.points).T)

    def information(self, log_prior: Array) -> float | None:
        counts = self.support(45.0)
        return None if counts is None else information_of_table(self.at(counts).T, log_prior)


@dataclass(frozen=True)
class Likelihood:
    """`estimate` makes the leaf of a column's values. `whole`: it takes whole numbers from 0 on and nothing else;
    `soft`: it can be estimated from rows that belong to a class in part, so that labels may be hidden;
    `now` is the name that took its place: models saved under this one open, and it is not offered."""

    name: str
    estimate: Callable[[Variable, str, ColumnValues, Estimation], Leaf]
    whole: bool = False
    soft: bool = False
    now: str | None = None


OF_VALUES: dict[str, Likelihood] = {}
"""Those registered, in the order in which they are offered."""


def register(likelihood: Likelihood) -> None:
    """Make a likelihood known under its name."""
    OF_VALUES[likelihood.name] = likelihood
    TRAITS[likelihood.name] = Traits(by_value=True, whole=likelihood.whole)


def offered() -> tuple[str, ...]:
    """The names to choose from, sorted."""
    return tuple(sorted(name for name, likelihood in OF_VALUES.items() if likelihood.now is None))


def current(name: Any) -> Any:
    """The name that a likelihood has now; any other as it is.

    >>> from bayes_engine.factors import kernel
    >>> current("kernel-weka"), current("gaussian")
    ('kernel-range', 'gaussian')
    """
    known = OF_VALUES.get(name) if isinstance(name, str) else None
    return name if known is None or known.now is None else known.now
