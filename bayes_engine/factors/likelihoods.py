"""The likelihoods of columns of numbers whose statistics are their values, by name. To add one, write a module with a
`ValuesLeaf` and register it; naive Bayes then collects its statistics, estimates it and leaves rows out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bayes_engine.factors.leaf import Estimation, Leaf
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.likelihood_traits import TRAITS, Traits
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class Likelihood:
    """`estimate` makes the leaf of a column's values. `whole`: it takes whole numbers from 0 on and nothing else;
    `soft`: it can be estimated from rows that belong to a class in part, so that labels may be hidden."""

    name: str
    estimate: Callable[[Variable, str, ColumnValues, Estimation], Leaf]
    whole: bool = False
    soft: bool = False


OF_VALUES: dict[str, Likelihood] = {}
"""Those registered, in the order in which they are offered."""


def register(likelihood: Likelihood) -> None:
    """Make a likelihood known under its name."""
    OF_VALUES[likelihood.name] = likelihood
    TRAITS[likelihood.name] = Traits(by_value=True, whole=likelihood.whole)
