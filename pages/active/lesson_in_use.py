"""The lesson that runs, one of the chapter or of one's own list, and the states that lessons and examples open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.lessons.built_in import lessons, of_section
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.active import own_lessons
from pages.runtime import view_keys as keys
from pages.runtime.state import State, current, state_from_values

OWN = (
    keys.LESSON,
    keys.LESSON_ANSWER,
    keys.LESSON_SHOWN,
    keys.LESSON_PREDICTS,
    keys.LESSON_COMMITTED,
    keys.OWN_STEP,
)
"""The settings of the bar."""


class Running(NamedTuple):
    """The lesson that runs: the step `i`, from 0, of `n`; its `name` in the chapter, "" in one's own list."""

    lesson: Lesson
    i: int
    n: int
    name: str = ""

    def begun(self, state: State) -> State:
        """The state in which it begins."""
        return begun(self.name, state) if self.name else begun_own(self.i, state)

    def with_values(self, values: Mapping[str, Any], state: State) -> State:
        """The state in which it begins, but for these values of it."""
        return _with(self.lesson.state, values, state, _mark(self.name, self.i))

    def beside(self, by: int) -> tuple[str, Callable[[State], State]]:
        """The page and the state so many steps on; beyond the first and the last those of the list itself."""
        i = self.i + by
        if not 0 <= i < self.n:
            return "chapter", lambda s: left(s).showing(*self._place_in_chapter())
        if self.name:
            name = of_section(self.lesson.section)[i]
            return lessons()[name].page, lambda s: begun(name, s)
        return own_lessons.in_hand(current()).lessons[i].page, lambda s: begun_own(i, s)

    def _place_in_chapter(self) -> tuple[keys.Setting, ...]:
        if self.name:
            return keys.CHAPTER_PART.to("lessons"), keys.CHAPTER_SECTION.to(self.lesson.section)
        return (keys.CHAPTER_PART.to("own"),)


def running() -> Running | None:
    """The lesson that runs; None where there is none."""
    state = current()
    name, i = state.seen(keys.LESSON), state.seen(keys.OWN_STEP)
    if (lesson := lessons().get(name) if name else None) is not None:
        section = of_section(lesson.section)
        return Running(lesson, section.index(name), len(section), name)
    own = own_lessons.in_hand(state).lessons if i >= 0 else ()
    return Running(own[i], i, len(own)) if 0 <= i < len(own) else None


def opened_by(values: Mapping[str, Any], state: State) -> State:
    """The state that a lesson or an example opens, in a person's own language and with their own list. Raises
    BayesEngineError where its values are no state."""
    made = state_from_values(values)
    if made is None:
        raise BayesEngineError("the state of this lesson is none that the app knows")
    return own_lessons.with_list_of(state, replace(left(made), language=state.language, labels=state.labels))


def begun(name: str, state: State) -> State:
    """The state in which a lesson of the chapter begins."""
    return _beginning(lessons()[name].state, state, _mark(name))


def begun_own(i: int, state: State) -> State:
    """The state in which a step of one's own list begins; the state as it is where the list has none such."""
    own = own_lessons.in_hand(state).lessons
    return _beginning(own[i].state, state, _mark("", i)) if i < len(own) else state


def with_values(name: str, values: Mapping[str, Any], state: State) -> State:
    """The state in which a lesson of the chapter begins, but for these values of it."""
    return _with(lessons()[name].state, values, state, _mark(name))


def _with(own: Mapping[str, Any], values: Mapping[str, Any], state: State, mark: keys.Setting) -> State:
    view = {**own.get("view", {}), **values.get("view", {})}
    return _beginning({**own, **values, "view": view}, state, mark)


def _beginning(values: Mapping[str, Any], state: State, mark: keys.Setting) -> State:
    """A state of a lesson; whoever predicts goes on doing so."""
    opened = opened_by(values, state).showing(mark)
    return opened.showing(keys.LESSON_PREDICTS.to(True)) if state.seen(keys.LESSON_PREDICTS) else opened


def _mark(name: str, i: int = -1) -> keys.Setting:
    return keys.LESSON.to(name) if name else keys.OWN_STEP.to(i)


def left(state: State) -> State:
    """The state without the lesson: all else stays."""
    mine = {key.name for key in OWN}
    return replace(state, view=tuple(setting for setting in state.view if setting[0] not in mine))
