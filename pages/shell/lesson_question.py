"""The question of the lesson that runs: answered and checked, or predicted before its answer can be seen."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.numerals import certain, number
from bayes_engine.workbench.lessons.class_answers import CLASS, ClassQuestion
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson
from bayes_engine.workbench.lessons.predictions import distance
from pages.active import predicting
from pages.active.predicting import ToPredict
from pages.runtime import private, wake
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import bound_to, control, sets
from pages.shell.class_question import is_teacher

_STYLE = private.style("""
.st-key-lesson_question [st=Button] p, .st-key-lesson_prediction [st=Button] p { white-space: nowrap; }
.st-key-lesson_question :is(.st-key-lesson_show, .st-key-lesson_predict), .st-key-lesson_prediction [st=Button] {
  flex-shrink: 0;
}
.st-key-lesson_no_prediction p {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
""")
LONGEST = 40
"""An answer has at most so many characters."""
FEW = 4
"""So many options stand side by side; more are a list that opens."""
STEPS = 200
"""Places of a slider."""


def question(lesson: Lesson) -> None:
    """The question, and what a person answers it with."""
    asked = predicting.question_in_use()
    st.html(_STYLE)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson_question"):
        _words(lesson, predicted=asked is not None)
        if lesson.answer is None:
            return
        if asked is None:
            _answered(lesson.answer)
        if predicting.class_question() is None:
            _way(predicts=asked is not None)
    if asked is not None and not (is_teacher() and predicting.class_question() is not None and predicting.holds_back()):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson_prediction"):
            _predicted(asked)


def _words(lesson: Lesson, *, predicted: bool) -> None:
    asks = lesson.predict if predicted and lesson.predict is not None else lesson
    title, words = lesson.text("title", current_language()), asks.text("question", current_language())
    st.markdown(f"**{md(title, 300)}**" + (f" · {md(words, 300)}" if words else ""), width="stretch")


def _way(*, predicts: bool) -> None:
    """To predict first, or to look and answer."""
    about = (
        _("Show the page, and answer by looking.")
        if predicts
        else _("Predict first: what gives the answer away is hidden until you have committed to one.")
    )
    st.button(
        _("Do not predict") if predicts else _("Predict first"),
        key="lesson_no_prediction" if predicts else "lesson_predict",
        icon=":material/visibility:" if predicts else ":material/visibility_off:",
        help=about,
        type="tertiary",
        **sets(
            keys.LESSON_PREDICTS.to(not predicts),
            keys.LESSON_COMMITTED.to(""),
            keys.LESSON_ANSWER.to(""),
            keys.LESSON_SHOWN.to(False),
        ),
    )


# answered by looking --------------------------------------------------------------------------------------------------


def _answered(answer: AskedQuantity) -> None:
    _typed()
    shown = current().seen(keys.LESSON_SHOWN)
    label = _("Hide") if shown else _("Show")
    st.button(label, key="lesson_show", type="tertiary", **sets(keys.LESSON_SHOWN.to(not shown)))
    given = current().seen(keys.LESSON_ANSWER)
    if given.strip() or shown:
        st.markdown(_judged(answer, given, shown=shown), width="content")


def _typed() -> None:
    st.text_input(
        _("Your answer"),
        label_visibility="collapsed",
        placeholder=_("Your answer (key q)"),
        width=170,
        max_chars=LONGEST,
        **bound_to(keys.LESSON_ANSWER),
    )


def _judged(answer: AskedQuantity, given: str, *, shown: bool) -> str:
    """Whether what was given is the answer in the state that is on screen; the answer itself, once it is `shown`."""
    from bayes_engine.workbench.derivation.check import mark
    from pages.active.on_screen import answer_in_use

    try:
        right = answer_in_use(answer)
    except BayesEngineError as error:
        return f":material/info: {error.message.local(md)}"
    value = _written(answer, right)
    sentence = {
        "blank": "",
        "right": ":green[:material/check_circle:] " + _("Right: {value}").format(value=value),
        "wrong": ":red[:material/cancel:] " + _("Not in this state. Three digits are enough."),
        "unreadable": _unreadable(),
    }[judged := mark(given, right)]
    if shown and judged != "right":
        sentence = f"{sentence} {_('It is {value}.').format(value=f'**{value}**')}"
    return sentence.strip()


def _unreadable() -> str:
    return ":material/help: " + _("Write a number: 0.375, a fraction such as 3/8 or (3+1)/(8+3), or 6.9e-5.")


def _written(asked: AskedQuantity, value: float) -> str:
    """A value to some digits: a probability that is nearly 1 not as 1, a count without decimals."""
    from bayes_engine.workbench.lessons.predictions import PREDICTIONS

    how = PREDICTIONS[asked.quantity]
    if how.kind == "probability":
        return certain(value)
    return f"{value:.0f}" if how.whole else number(value).replace("-", "−")


# predicted ------------------------------------------------------------------------------------------------------------


def _predicted(question: ToPredict) -> None:
    """The control, or what it came to."""
    try:
        options = predicting.options(question)
    except BayesEngineError as error:
        st.markdown(f":material/info: {error.message.local(md)}", width="content")
        return
    open_, state = predicting.class_question(), current()
    if predicting.holds_back():
        low, high = predicting.limits(question)
        if options:
            _choose(options)
        else:
            _slide(question, low, high)
            _typed()
        _commit(question, options, _at(question, low, high), open_)
        return
    given = CLASS.given(private.visitor()) if open_ is not None else None
    text = state.seen(keys.LESSON_COMMITTED)
    if open_ is None:
        given = predicting.read(question, text, len(options))
    st.markdown(_revealed(question, given, options), width="content")
    if open_ is None:
        again = (keys.LESSON_COMMITTED.to(""), keys.LESSON_ANSWER.to(""))
        st.button(_("Predict again"), key="lesson_guess_again", type="tertiary", **sets(*again))


def _choose(options: list[str]) -> None:
    text = current().seen(keys.LESSON_ANSWER)
    chosen = int(text) if text in map(str, range(len(options))) else None

    def edit(state: State, place: int | None) -> State:
        return state.showing(keys.LESSON_ANSWER.to("" if place is None else str(place)))

    shown = control("lesson_choice", chosen, edit)
    words = [md(option, 60) for option in options]
    if len(options) <= FEW:
        st.segmented_control(
            _("Your prediction"), range(len(options)), format_func=words.__getitem__, label_visibility="collapsed",
            width="content", **shown,
        )  # fmt: skip
    else:
        st.selectbox(
            _("Your prediction"), range(len(options)), format_func=options.__getitem__, index=None,
            placeholder=_("Your prediction"), label_visibility="collapsed", width=260, **shown,
        )  # fmt: skip


def _at(question: ToPredict, low: float, high: float) -> float:
    """Where the slider stands, of a probability in %: at what is typed, or in the middle."""
    times = 100.0 if question.prediction.kind == "probability" else 1.0
    typed = predicting.read(question, current().seen(keys.LESSON_ANSWER), 0)
    step = _step(question, low, high)
    place = (low + high) / 2 if typed is None else min(max(typed, low), high)
    return round(low * times + round((place - low) * times / step) * step, 9)


def _step(question: ToPredict, low: float, high: float) -> float:
    if question.prediction.kind == "probability":
        return 1.0
    if question.prediction.whole:
        return 1.0
    width = (high - low) / STEPS
    power = 10.0
    while power > width:
        power /= 10
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= width))


def _slide(question: ToPredict, low: float, high: float) -> None:
    share = question.prediction.kind == "probability"
    times, step = 100.0 if share else 1.0, _step(question, low, high)

    def edit(state: State, value: float) -> State:
        return state.showing(keys.LESSON_ANSWER.to(f"{value:g} %" if share else f"{value:.6g}"))

    st.slider(
        _("Your prediction"), low * times, high * times, step=step,
        format="%.0f %%" if share else "%.0f" if step >= 1 else None,
        label_visibility="collapsed", width=260, **control("lesson_slider", _at(question, low, high), edit),
    )  # fmt: skip


def _commit(question: ToPredict, options: list[str], position: float, open_: ClassQuestion | None) -> None:
    text = current().seen(keys.LESSON_ANSWER)
    if not text.strip() and not options:
        text = f"{position:g} %" if question.prediction.kind == "probability" else f"{position:.6g}"
    value = predicting.read(question, text, len(options))
    visitor = private.visitor()

    def commit(state: State) -> State:
        if value is None:
            return state
        if open_ is not None:
            if CLASS.answer(open_.serial, visitor, value):
                wake.update_watchers()
            return state.showing(keys.LESSON_ANSWER.to(text))
        return state.showing(keys.LESSON_ANSWER.to(text), keys.LESSON_COMMITTED.to(text))

    st.button(
        _("Commit") if open_ is None else _("Send"),
        key="lesson_commit",
        type="primary",
        disabled=value is None,
        **on_click(commit),
    )
    if text.strip() and value is None:
        st.markdown(_unreadable(), width="content")
    elif open_ is not None and (sent := CLASS.given(visitor)) is not None:
        sentence = _("Sent: {value}. You may change it until your teacher reveals the answer.")
        shown = sentence.format(value=_in_words(question, sent, options))
        st.markdown(f":green[:material/check_circle:] {shown}", width="content")


def _in_words(question: ToPredict, value: float, options: list[str]) -> str:
    """A prediction or an answer, in words."""
    if options:
        return md(options[int(value)], 60)
    return percent(value) if question.prediction.kind == "probability" else _written(question.asked, value)


def percent(value: float) -> str:
    """A probability in %, to four digits; one that is nearly 1 to as many as tell it from 1.

    >>> percent(0.998692), percent(0.5), percent(1e-5), percent(0.9999997), percent(1.0)
    ('99.87 %', '50 %', '0.001 %', '99.99997 %', '100 %')
    """
    digits = next((d for d in range(4, 16) if value == 1 or float(f"{100 * value:.{d}g}") != 100), 16)
    return f"{100 * value:.{digits}g} %"


def _revealed(question: ToPredict, given: float | None, options: list[str]) -> str:
    """The answer, and how far the prediction is from it."""
    try:
        right = predicting.answer(question)
    except BayesEngineError as error:
        return f":material/info: {error.message.local(md)}"
    answer = f"**{_in_words(question, right, options)}**"
    if given is None:
        return _("It is {value}.").format(value=answer)
    chosen = _in_words(question, given, options)
    away = distance(question.asked, given, right)
    if options:
        if away == 0:
            return ":green[:material/check_circle:] " + _("Right: {value}").format(value=answer)
        return ":red[:material/cancel:] " + _("You chose {given}; it is {value}.").format(given=chosen, value=answer)
    if question.prediction.kind == "probability":
        sentence = _("You said {given}; it is {value}: {away} percentage points apart.")
    else:
        sentence = _("You said {given}; it is {value}: {away} apart.")
    return sentence.format(given=chosen, value=answer, away=f"**{away:.3g}**")
