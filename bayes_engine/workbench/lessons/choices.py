"""The questions of a lesson that are answered by a choice: which decision, which pair, whether or not.

As a quantity, a choice is a function of what is in use and of named arguments, and its answer is never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.structure.separation import separation
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity
from bayes_engine.workbench.lessons.quantities.case import risk
from bayes_engine.workbench.lessons.quantities.dependence import information
from bayes_engine.workbench.lessons.quantities.registry import QUANTITIES, among, called, problem_of_arguments

Option = tuple[Any, ...]
"""An action, a pair of columns, or whether something holds."""
Of = Literal["action", "pair", "whether"]


@dataclass(frozen=True)
class AskedChoice:
    """What is chosen among, the options of it, and the right one. Both take what is in use, and the same arguments."""

    of: Of
    options: Callable[[InUse], list[Option]]
    right: Callable[..., Option]


CHOICES: dict[str, AskedChoice] = {}
"""All choices, by name; none is called as a quantity is."""


def _choice(
    of: Of, options: Callable[[InUse], list[Option]]
) -> Callable[[Callable[..., Option]], Callable[..., Option]]:
    def entered(function: Callable[..., Option]) -> Callable[..., Option]:
        CHOICES[function.__name__] = AskedChoice(of, options, function)
        return function

    return entered


def problem_of_question(asked: AskedQuantity) -> Message | None:
    """What is wrong with a quantity or a choice as a file states it.

    >>> print(problem_of_question(AskedQuantity("separated", {"a": "rain"})))
    the quantity 'separated' has the arguments a, b, not a
    >>> problem_of_question(AskedQuantity("decision"))
    """
    name = asked.quantity
    function = CHOICES[name].right if name in CHOICES else QUANTITIES.get(name)
    if function is None:
        names = ", ".join(sorted([*QUANTITIES, *CHOICES]))
        return Message("there is no quantity '{name}'; there are {names}", {"name": name, "names": names})
    return problem_of_arguments(asked, function)


def options_of(asked: AskedQuantity, used: InUse) -> list[Option]:
    """What is chosen among, in an order that says nothing of the answer."""
    return CHOICES[asked.quantity].options(used)


def right_option(asked: AskedQuantity, used: InUse) -> int:
    """The place of the right option. Raises BayesEngineError where there is none in this state."""
    choice = CHOICES[asked.quantity]
    options, right = choice.options(used), called(choice.right, asked, used)
    if right not in options:
        raise BayesEngineError("no option is right here")
    return options.index(right)


@_choice("action", lambda used: [(action,) for action in used.loss.actions])
def decision(used: InUse) -> Option:
    """The action of least risk."""
    return (min(used.loss.actions, key=lambda action: risk(used, action)),)


def _pairs(used: InUse) -> list[Option]:
    return list(combinations(used.pairs.schema_.names, 2))


@_choice("pair", _pairs)
def strongest_pair(used: InUse) -> Option:
    """The two columns with the most mutual information, given the class or overall as the page Dependence is set: the
    first edge of TAN's tree where it is given the class."""
    return max(_pairs(used), key=lambda pair: information(used, *pair))


@_choice("pair", lambda used: list(combinations(used.search.graph.nodes, 2)))
def first_arc(used: InUse) -> Option:
    """The two columns that the search for the learned network joins first; either direction may gain the same."""
    steps = used.search.trace.steps
    if not steps:
        raise BayesEngineError("the search has added no arc")
    names = used.search.graph.nodes
    return tuple(sorted(steps[0].move.arc, key=names.index))


@_choice("whether", lambda _used: [(True,), (False,)])
def separated(used: InUse, a: str, b: str) -> Option:
    """Whether a and b are d-separated given what is observed."""
    names = used.network.names
    answer = separation(used.network.graph, among(a, names), among(b, names), list(used.evidence))
    return (answer.separated,)
