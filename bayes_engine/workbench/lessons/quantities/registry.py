"""The list of the quantities that a lesson may ask for, each computed from the state that is on screen.

A quantity is a function of what is in use (`InUse`) and of named arguments. Its answer is never stored, so it is
another one when the losses, the smoothing, the prior, the case or a setting of the page is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from inspect import signature
from typing import Any

from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.language import Message
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity

QUANTITIES: dict[str, Callable[..., float]] = {}
"""All quantities, by name."""


def quantity(function: Callable[..., float]) -> Callable[..., float]:
    """Enter a function into the list."""
    QUANTITIES[function.__name__] = function
    return function


def problem_of(answer: AskedQuantity) -> Message | None:
    """What is wrong with an answer as a file states it: another name, other arguments or other types of them.

    >>> from bayes_engine.workbench.lessons.quantities.registry import problem_of
    >>> print(problem_of(AskedQuantity("posterior", {"klass": "good"})))
    the quantity 'posterior' has the arguments class, not klass
    >>> problem_of(AskedQuantity("posterior", {"class": "good"}))
    """
    if (asked := QUANTITIES.get(answer.quantity)) is None:
        names = ", ".join(sorted(QUANTITIES))
        return Message("there is no quantity '{name}'; there are {names}", {"name": answer.quantity, "names": names})
    return problem_of_arguments(answer, asked)


def problem_of_arguments(answer: AskedQuantity, asked: Callable[..., Any]) -> Message | None:
    """What is wrong with the arguments that a file states for this function."""
    wanted = _arguments(asked)
    if set(answer.arguments) != set(wanted):
        words = {
            "name": answer.quantity,
            "wanted": ", ".join(wanted) or "–",
            "found": ", ".join(answer.arguments) or "–",
        }
        return Message("the quantity '{name}' has the arguments {wanted}, not {found}", words)
    for name, kind in wanted.items():
        if kind == "str" and not isinstance(answer.arguments[name], str):
            return Message("the argument '{name}' is a text", {"name": name})
    return None


def value_of(answer: AskedQuantity, used: InUse) -> float:
    """The answer in the state that is in use. Raises BayesEngineError where it has none there."""
    if (problem := problem_of(answer)) is not None:
        raise BayesEngineError("{problem}", problem=problem)
    function = QUANTITIES[answer.quantity]
    value = float(called(function, answer, used))
    if not math.isfinite(value):
        raise BayesEngineError("the quantity '{name}' is not finite here", name=answer.quantity)
    return value


def called(function: Callable[..., Any], answer: AskedQuantity, used: InUse) -> Any:
    """What a function of a list comes to, with the arguments that a file states."""
    named = {p: answer.arguments[p.removesuffix("_")] for p in list(signature(function).parameters)[1:]}
    return function(used, **named)


def _arguments(function: Callable[..., Any]) -> dict[str, str]:
    parameters = list(signature(function).parameters.values())[1:]
    return {p.name.removesuffix("_"): str(p.annotation) for p in parameters}


def among(what: Level, known: Collection[Any]) -> Any:
    """The one of these that is meant: a class, an action, a level; digits may be written as a text."""
    for one in known:
        if one == what or str(one) == str(what):
            return one
    raise ParameterError("there is no '{name}' here, but {known}", name=str(what), known=", ".join(map(str, known)))
