"""What a column's likelihood asks of the table: whether its values are whole numbers from 0 on, and whether the values
themselves are its statistics. `bayes_engine.factors.likelihoods` registers a likelihood here, too."""

from __future__ import annotations

from typing import NamedTuple

from bayes_engine.table.schema import Variable


class Traits(NamedTuple):
    """`by_value`: the statistics are how much of every value each class holds; `whole`: 0, 1, 2, … and nothing else."""

    by_value: bool = False
    whole: bool = False


_NONE = Traits()
TRAITS: dict[str, Traits] = {}
"""By the name of the likelihood; one that is not here asks nothing."""


def traits(variable: Variable) -> Traits:
    """What the likelihood of a column asks; nothing of a column that is not a number.

    >>> traits(Variable("mass", "continuous"))
    Traits(by_value=False, whole=False)
    """
    return TRAITS.get(variable.likelihood or "", _NONE) if variable.numeric else _NONE
