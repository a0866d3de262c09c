"""The bar of the lesson that runs, on every page: where one is, the question, and whether the answer is right."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.active import lesson_in_use, predicting
from pages.components import held_back as hidden_parts
from pages.components.component import component
from pages.components.lesson_words import formula
from pages.runtime import private
from pages.runtime.escape import md
from pages.runtime.state import current, goes_to, on_click
from pages.shell import class_question, frame

_keys_pressed = component(__file__, "bayes_lesson_keys")
_STYLE = private.style("""
.st-key-lesson_bar { padding: .35rem .75rem; gap: .1rem; }
.st-key-lesson_bar .st-key-lesson_answer input { padding: .3rem .5rem; }
.st-key-lesson_steps :is(.st-key-lesson_back, .st-key-lesson_next, .st-key-lesson_again, .st-key-lesson_leave) p {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
""")


def lesson_bar(here: str) -> None:
    """Draw the bar, where a lesson runs."""
    if (at := lesson_in_use.running()) is None:
        return
    from pages.shell.lesson_question import question  # which needs the whole library

    st.html(_STYLE)
    with st.container(border=True, key="lesson_bar"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson_steps"):
            _steps(at)
            _aside(at, here)
        question(at.lesson)
        class_question.of_teacher(at)
    _keys_pressed(key="lesson_keys")


def held_back(here: str) -> bool:
    """Whether a page is not drawn: while an answer is to be predicted any but the lesson's own, and that one where it
    is not known which of its parts may be seen."""
    at = lesson_in_use.running()
    if at is None or not predicting.holds_back():
        return False
    if here == at.lesson.page:
        if here not in predicting.IN_PARTS:
            frame.title()
            hidden_parts.held_back()
        return here not in predicting.IN_PARTS
    st.info(_("This page could give the answer away. Commit to a prediction first, or leave the lesson."))
    st.button(
        _("To the question"),
        key="lesson_to_question",
        icon=":material/arrow_back:",
        **goes_to(at.lesson.page, lambda s: s),
    )
    return True


def _steps(at: lesson_in_use.Running) -> None:
    """← step 3 of 9 →; beyond the first and the last is the list itself."""
    _step("back", at, -1, _("The step before (left arrow key)"), ":material/arrow_back:")
    st.markdown(_("step {i} of {n}").format(i=at.i + 1, n=at.n), width="content")
    _step("next", at, 1, _("The next step (right arrow key)"), ":material/arrow_forward:")


def _step(key: str, at: lesson_in_use.Running, by: int, about: str, icon: str) -> None:
    page, edit = at.beside(by)
    if not 0 <= at.i + by < at.n:
        about = _("The chapter") if at.name else _("My lesson")
    st.button(about, icon=icon, key=f"lesson_{key}", help=about, type="tertiary", **goes_to(page, edit))


def _aside(at: lesson_in_use.Running, here: str) -> None:
    """The lesson's words, what to try, where to go on; and the way out."""
    lesson = at.lesson
    if lesson.words or lesson.formula or lesson.task or lesson.deeper or lesson.derivations:
        with st.popover(_("Read and try"), icon=":material/menu_book:", type="tertiary"):
            _read_and_try(at, lesson, current_language())
    begin = _("Begin this step again")
    st.button(
        begin,
        help=begin,
        icon=":material/restart_alt:",
        key="lesson_again",
        type="tertiary",
        disabled=here == lesson.page and current() == at.begun(current()),
        **goes_to(lesson.page, at.begun),
    )
    st.button(
        _("Leave the lesson"),
        icon=":material/close:",
        key="lesson_leave",
        help=_("What is on screen stays."),
        type="tertiary",
        **on_click(lesson_in_use.left),
    )


def _read_and_try(at: lesson_in_use.Running, lesson: Lesson, language: str) -> None:
    if lesson.words:
        st.markdown(md(lesson.text("words", language), 1000))
    formula(lesson)
    if lesson.task:
        st.markdown(f"**{_('Try')}**{_(': ')}{md(lesson.text('task', language), 400)}")
    if lesson.change:
        st.button(
            _("Do it for me"),
            key="lesson_try",
            icon=":material/play_arrow:",
            **goes_to(lesson.page, lambda s: at.with_values(lesson.change, s)),
        )
    _deeper(at, lesson)


def _deeper(at: lesson_in_use.Running, lesson: Lesson) -> None:
    """Where one goes on from the lesson: a page, and derivations."""
    if (further := lesson.deeper) is not None:
        st.button(
            md(further.text("words", current_language()), 120),
            key="lesson_deeper",
            icon=":material/trending_flat:",
            help=_("Go deeper"),
            **goes_to(further.page, lambda s: at.with_values(further.state, s)),
        )
    if not lesson.derivations:
        return
    from bayes_engine.workbench.derivation.chains.chain import TITLES
    from pages.active import derived

    for one, values in lesson.derivations.items():
        st.button(
            _("Derivation: {title}").format(title=TITLES[one].local(md)),
            key=f"lesson_derivation_{one}",
            icon=":material/function:",
            help=_("Go deeper"),
            **goes_to(
                derived.STANDINGS[one].page,
                lambda s, one=one, values=values: derived.opened(one, at.with_values(values, s)),
            ),
        )
