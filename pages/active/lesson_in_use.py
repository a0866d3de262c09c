"""The lesson that runs, and the states that lessons and examples open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.runtime import view_keys as keys
from pages.runtime.state import State, current, state_from_values

OWN = (keys.LESSON, keys.LESSON_ANSWER, keys.LESSON_SHOWN)
"""The settings of the bar."""


def running() -> tuple[str, Lesson] | None:
    """The lesson that runs, with its name; None where there is none."""
    name = current().seen(keys.LESSON)
    found = lessons().get(name) if name else None
    return None if found is None else (name, found)


def opened_by(values: Mapping[str, Any], state: State) -> State:
    """The state that a lesson or an example opens, in a person's own language. Raises BayesEngineError where its values
    are no state."""
    made = state_from_values(values)
    if made is None:
        raise BayesEngineError("the state of this lesson is none that the app knows")
    return replace(made, language=state.language, labels=state.labels)


def begun(name: str, state: State) -> State:
    """The state in which a lesson begins."""
    return opened_by(lessons()[name].state, state).showing(keys.LESSON.to(name))


def with_values(name: str, values: Mapping[str, Any], state: State) -> State:
    """The state in which a lesson begins, but for these values of it."""
    own = lessons()[name].state
    view = {**own.get("view", {}), **values.get("view", {})}
    return opened_by({**own, **values, "view": view}, state).showing(keys.LESSON.to(name))


def left(state: State) -> State:
    """The state without the lesson: all else stays."""
    mine = {key.name for key in OWN}
    return replace(state, view=tuple(setting for setting in state.view if setting[0] not in mine))
