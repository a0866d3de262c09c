"""Predict first: what the lesson that runs asks before its answer is seen, and what is held back until a person has
committed to an answer, or a class's teacher has revealed it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.workbench.lessons.class_answers import CLASS, ClassQuestion
from pages import active
from pages.active import lesson_in_use, own_lessons, words
from pages.active.files import File
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean
from pages.runtime.state import State, current, decode, encode

if TYPE_CHECKING:  # the quantities need the whole library: pages without a lesson do not wait for it
    from bayes_engine.workbench.lessons.choices import Option
    from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson
    from bayes_engine.workbench.lessons.predictions import Limits, Prediction


_ANSWERED = (
    keys.LESSON_ANSWER,
    keys.LESSON_SHOWN,
    keys.LESSON_PREDICTS,
    keys.LESSON_COMMITTED,
    keys.OWN_LIST,
    keys.OWN_GIVEN,
)


IN_PARTS = frozenset({"case", "dependence", "hidden", "laboratory", "model", "network", "projection"})
"""The pages whose parts ask whether they may be drawn."""


class ToPredict(NamedTuple):
    """What is asked: the lesson, its quantity, and how that is predicted."""

    lesson: Lesson
    asked: AskedQuantity
    prediction: Prediction


def question_in_use() -> ToPredict | None:
    """The question that is to be predicted on this screen; None where none is."""
    running = lesson_in_use.running()
    if running is None or not (current().seen(keys.LESSON_PREDICTS) or class_question() is not None):
        return None
    from bayes_engine.workbench.lessons.predictions import PREDICTIONS, asked_of

    asked = asked_of(running.lesson)
    return None if asked is None else ToPredict(running.lesson, asked, PREDICTIONS[asked.quantity])


def class_question() -> ClassQuestion | None:
    """The question that is open to the class, where it is the one on this screen."""
    if (open_ := CLASS.question) is None:
        return None
    state = current()
    made: tuple[State, str] | None = st.session_state.get("question_token")
    if made is None or made[0] is not state:  # it is asked for by every part of a page
        made = st.session_state["question_token"] = (state, token_of(state))
    return open_ if open_.token == made[1] else None


def token_of(state: State) -> str:
    """What a question is known by: the state that asks it, without what a person has answered, their language, and by
    which name they hold the list."""
    own = {key.name for key in _ANSWERED}
    view = tuple(setting for setting in state.view if setting[0] not in own)
    return encode(replace(state, language="", labels="", view=view))


def asked_by(open_: ClassQuestion, state: State) -> State:
    """The state of a class's question, in a person's own language, with the list that it is of, to be predicted."""
    asked = decode(open_.token) or state
    asked = replace(asked, language=state.language, labels=state.labels).showing(keys.LESSON_PREDICTS.to(True))
    if not open_.lessons:
        return own_lessons.with_list_of(state, asked)
    taken = own_lessons.taken(File.of(own_lessons.NAME, open_.lessons.encode()))
    return asked.showing(keys.OWN_LIST.to(taken.file.digest))


def asked_elsewhere() -> ToPredict | None:
    """The question that the class is asked, where its state is on this screen without it: whoever leaves the lesson,
    or comes to the same table, case and settings by another way, would see its answer. None where it is not so, or the
    answer is revealed."""
    open_ = CLASS.question
    if open_ is None or open_.revealed or class_question() is not None:
        return None
    state = current()
    made: tuple[State, int, ToPredict | None] | None = st.session_state.get("question_elsewhere")
    if made is None or made[0] is not state or made[1] != open_.serial:
        question = _as_in_question(open_) if _same_state(open_, state) else None
        made = st.session_state["question_elsewhere"] = (state, open_.serial, question)
    return made[2]


def _as_in_question(open_: ClassQuestion) -> ToPredict | None:
    from bayes_engine.workbench.lessons.predictions import PREDICTIONS, asked_of

    asked = asked_of(open_.lesson)
    return None if asked is None else ToPredict(open_.lesson, asked, PREDICTIONS[asked.quantity])


def _same_state(open_: ClassQuestion, state: State) -> bool:
    """Whether a state has all that the question's has but the lesson itself."""
    asked = decode(open_.token)
    if asked is None or replace(asked, language="", labels="", view=()) != replace(
        state, language="", labels="", view=()
    ):
        return False
    mine = {key.name for key in (*lesson_in_use.OWN, *own_lessons.HELD)}
    return set(asked.view) <= {*state.view, *(setting for setting in asked.view if setting[0] in mine)}


def question_held() -> ToPredict | None:
    """The question whose answer this screen may not show yet; None where there is none."""
    return question_in_use() if holds_back() else asked_elsewhere()


def holds_back() -> bool:
    """Whether the answer on screen is still to be predicted."""
    if question_in_use() is None:
        return False
    if (open_ := class_question()) is not None:
        return not open_.revealed
    return not current().seen(keys.LESSON_COMMITTED)


def shows(part: str) -> bool:
    """Whether a part of the page, `page/part`, may be drawn: not while it would give away what is to be predicted."""
    held = [asked_elsewhere(), question_in_use() if holds_back() else None]
    return all(question is None or part in question.prediction.stays for question in held)


def options(question: ToPredict) -> list[str]:
    """The options of a choice, in words; [] for a number. Raises BayesEngineError where there are none here."""
    from bayes_engine.workbench.lessons.choices import CHOICES, options_of
    from pages.active.on_screen import OnScreen

    if question.asked.quantity not in CHOICES:
        return []
    of = CHOICES[question.asked.quantity].of
    return [_in_words(of, option) for option in options_of(question.asked, OnScreen())]


def _in_words(of: str, option: Option) -> str:
    if of == "whether":
        return _("yes") if option[0] else _("no")
    table = active.fittable(active.table_in_use())
    if of == "action":
        return words.decision_name(table, option[0], clean)
    return " – ".join(clean(table.column(name), 30) for name in option)


def limits(question: ToPredict) -> Limits:
    """The ends of the slider; where there are none here, of a probability."""
    from pages.active.on_screen import OnScreen

    try:
        low, high = question.prediction.limits(OnScreen(), question.asked.arguments)
    except (BayesEngineError, KeyError, ValueError, TypeError):
        return 0.0, 1.0
    return (low, high) if low < high else (low, low + 1.0)


def answer(question: ToPredict) -> float:
    """The answer in the state on screen. Raises BayesEngineError where it has none."""
    from bayes_engine.workbench.lessons.predictions import right_answer
    from pages.active.on_screen import OnScreen

    return right_answer(question.asked, OnScreen())


def read(question: ToPredict, text: str, n_options: int) -> float | None:
    """What a person predicts; None where it is no number, or none of the options."""
    from bayes_engine.workbench.lessons.predictions import read_prediction

    return read_prediction(question.asked, text, n_options)
