"""«Add this view»: what is on screen becomes a step of one's own lesson, with a caption and perhaps a question."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import number
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson
from bayes_engine.workbench.lessons.lesson_list import MOST
from pages.active import lesson_in_use, own_lessons
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import change, current, goes_to, link_token, use_session_language
from pages.shell import frame


def button(here: str) -> None:
    """The button that opens the dialog."""
    if st.button(_("Add this view"), key="add_view", icon=":material/playlist_add:", type="tertiary",
                 help=_("What is on screen becomes a step of your own lesson.")):  # fmt: skip
        _fill_in(here)
        st.dialog(_("Add this view to my lesson"), icon=":material/playlist_add:")(lambda: _inside(here))()


def _fill_in(here: str) -> None:
    """What the dialog begins with: that of the step that runs; else what the page asks."""
    running = lesson_in_use.running()
    own = running.lesson if running is not None and not running.name else None
    session = st.session_state
    session["add_caption"] = own.title if own else frame.place_of(here).asks(current()).replace("\\", "")
    session["add_asks"] = own is not None and own.answer is not None
    session["add_question"] = own.question if own else ""
    if own is not None and own.answer is not None:
        session["add_quantity"] = own.answer.quantity
        for name, value in own.answer.arguments.items():
            session[f"add_{own.answer.quantity}_{name}"] = value


def _inside(here: str) -> None:
    use_session_language()  # a fragment starts from the context's default
    state = current()
    n, running = len(own_lessons.in_hand(state).lessons), lesson_in_use.running()
    own = running is not None and not running.name
    link_token()
    if st.session_state.get("too_long"):
        st.warning(_("This state is too large for a link, so it cannot be a step of a lesson."))
        return
    if n >= MOST and not own:
        st.warning(_("A lesson has at most {n} steps.").format(n=MOST))
        return
    caption = st.text_input(_("Caption, one sentence"), key="add_caption", max_chars=own_lessons.LONGEST_CAPTION)
    question, answer = "", None
    if st.toggle(_("With a question whose answer is computed"), key="add_asks"):
        question = st.text_input(_("Question"), key="add_question", max_chars=own_lessons.LONGEST_CAPTION)
        answer = _asked()
    problem = not caption.strip() or (st.session_state["add_asks"] and (not question.strip() or answer is None))
    with st.container(horizontal=True, gap="small"):
        if st.button(
            _("Add as step {n}").format(n=n + 1), key="add_take", type="primary", disabled=problem or n >= MOST
        ):
            _take(own_lessons.lesson_of(here, caption, question, answer), n)
        if (
            own
            and running is not None
            and st.button(_("Replace step {n}").format(n=running.i + 1), key="add_replace", disabled=problem)
        ):
            _take(own_lessons.lesson_of(here, caption, question, answer), running.i)
    if n:
        to, label = (keys.CHAPTER_PART.to("own"),), Message("My lesson, {n} step(s)", {"n": n}).local(md)
        if st.button(label, key="add_list", type="tertiary", icon=":material/list:",
                     **goes_to("chapter", lambda s: lesson_in_use.left(s).showing(*to))):  # fmt: skip
            st.rerun()


def _asked() -> AskedQuantity | None:
    """The choice of a quantity and of its arguments, with its value in this state; None where it has none here."""
    from pages.active import quantity_choices  # the first page is imported without what derives them
    from pages.active.on_screen import answer_in_use

    names = quantity_choices.quantity_names()
    quantity = str(st.selectbox(_("The answer is"), list(names), format_func=names.__getitem__, key="add_quantity"))
    chosen: dict[str, Any] = {}
    with st.container(horizontal=True, gap="small"):
        for name in quantity_choices.arguments(quantity):
            options = quantity_choices.choices(quantity, name, chosen)
            if not options:
                st.caption(_("There is nothing of this kind here."))
                return None
            key = f"add_{quantity}_{name}"
            if st.session_state.get(key) not in options:
                st.session_state.pop(key, None)
            chosen[name] = st.selectbox(
                quantity_choices.argument_name(name),
                options,
                format_func=partial(quantity_choices.shown, quantity, name, chosen),
                key=key,
            )
    asked = AskedQuantity(quantity, chosen)
    try:
        value = answer_in_use(asked)
    except BayesEngineError as error:
        st.caption(":material/info: " + error.message.local(md))
        return None
    st.caption(_("It is {value} here; it is computed anew wherever the lesson is opened.").format(value=number(value)))
    return asked


def _take(lesson: Lesson, i: int) -> None:
    """The lesson becomes the step at this place."""

    def put(lessons: list[Lesson]) -> None:
        lessons[i : i + 1] = [lesson]

    try:
        change(lambda s: own_lessons.edited(s, put))
    except BayesEngineError as error:
        st.error(error.message.local(md))
        return
    st.toast(_("Step {n} of your lesson").format(n=i + 1), icon=":material/playlist_add_check:")
    st.rerun()
