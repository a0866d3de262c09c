"""The bar of the lesson that runs, on every page: where one is, the question, and whether the answer is right."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.active import lesson_in_use, predicting
from pages.active.files import NETWORK, SECOND_FILE, TABLE, Role, held, keep
from pages.active.files import digest as digest_of
from pages.components import held_back as hidden_parts
from pages.components.component import component
from pages.components.lesson_words import formula, lesson_markdown
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
    if (running := lesson_in_use.running()) is None:
        return
    from pages.shell.lesson_question import question  # which needs the whole library

    st.html(_STYLE)
    with st.container(border=True, key="lesson_bar"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson_steps"):
            _steps(running)
            _aside(running, here)
        question(running.lesson)
        if not running.name:
            _missing_files()
        class_question.of_teacher(running)
    _keys_pressed(key="lesson_keys")


def held_back(here: str) -> bool:
    """Whether a page is not drawn: while an answer is to be predicted any but the lesson's own, and that one where it
    is not known which of its parts may be seen."""
    if (question := predicting.question_held()) is None:
        return False
    page = question.lesson.page
    if here == page:
        if here not in predicting.IN_PARTS:
            frame.title()
            hidden_parts.held_back()
        return here not in predicting.IN_PARTS
    if predicting.holds_back():
        st.info(_("This page could give the answer away. Commit to a prediction first, or leave the lesson."))
        st.button(
            _("To the question"),
            key="lesson_to_question",
            icon=":material/arrow_back:",
            **goes_to(page, lambda s: s),
        )
    else:  # what leads to the question stands above the page
        st.info(
            _(
                "This page could give away the answer to the question that your class is asked. It comes back when "
                "your teacher reveals the answer, or with another table, case or setting."
            )
        )
    return True


def _steps(running: lesson_in_use.Running) -> None:
    """← step 3 of 9 →; beyond the first and the last is the list itself."""
    _step("back", running, -1, _("The step before (left arrow key)"), ":material/arrow_back:")
    st.markdown(_("step {i} of {n}").format(i=running.i + 1, n=running.n), width="content")
    _step("next", running, 1, _("The next step (right arrow key)"), ":material/arrow_forward:")


def _step(key: str, running: lesson_in_use.Running, by: int, about: str, icon: str) -> None:
    page, edit = running.beside(by)
    if not 0 <= running.i + by < running.n:
        about = _("The chapter") if running.name else _("My lesson")
    st.button(about, icon=icon, key=f"lesson_{key}", help=about, type="tertiary", **goes_to(page, edit))


def _aside(running: lesson_in_use.Running, here: str) -> None:
    """The lesson's words, what to try, where to go on; and the way out."""
    lesson = running.lesson
    if lesson.words or lesson.formula or lesson.task or lesson.deeper or lesson.derivations:
        with st.popover(_("Read and try"), icon=":material/menu_book:", type="tertiary"):
            _read_and_try(running, lesson, current_language())
    begin = _("Begin this step again")
    st.button(
        begin,
        help=begin,
        icon=":material/restart_alt:",
        key="lesson_again",
        type="tertiary",
        disabled=here == lesson.page and current() == running.begun(current()),
        **goes_to(lesson.page, running.begun),
    )
    st.button(
        _("Leave the lesson"),
        icon=":material/close:",
        key="lesson_leave",
        help=_("What is on screen stays."),
        type="tertiary",
        **on_click(lesson_in_use.left),
    )


def _missing_files() -> None:
    """Of a step of one's own lesson what it stands on and the session does not have, and the way to give it."""
    from pages.active import reading

    state, asked = current(), st.session_state.get("files_asked", {})
    sentences = {
        "table": _("The table of this step is a file that is not here; you see the start table. Choose the file."),
        "network": _("The network of this step is a file that is not here; you see another. Choose the file."),
        "second": _("The file that this step classifies is not here. Choose it."),
    }
    roles: tuple[Role[Any], ...] = (TABLE, NETWORK, SECOND_FILE)
    for role in roles:
        digest = role.named(state)
        if not digest or digest in held(role):
            continue
        key = f"lesson_file_{role.name}"
        name = asked.get(digest, "")
        st.markdown(f":material/warning: {sentences[role.name]}" + (f" **{md(name, 60)}**" if name else ""))
        st.file_uploader(
            _("The file of this step"),
            key=key,
            label_visibility="collapsed",
            on_change=_file_given,
            args=(key, role, digest),
        )
        if st.session_state.get(f"{key}_other"):
            st.markdown(
                ":material/error: "
                + _("That is another file: its content is not that of the step. Nothing was changed.")
            )
        elif why := reading.why_refused(key):
            st.markdown(f":material/error: {why}")


def _file_given(key: str, role: Role[Any], digest: str) -> None:
    """The callback of the uploader: the file is taken if it is the one that the step was made with."""
    from pages.active import reading

    given = st.session_state.get(key)
    other = given is not None and digest_of(given.getvalue()) != digest
    st.session_state[f"{key}_other"] = other
    if not other:
        reading.read_dropped(key, role, keep)


def _read_and_try(running: lesson_in_use.Running, lesson: Lesson, language: str) -> None:
    if lesson.words:
        st.markdown(lesson_markdown(lesson.text("words", language), 1000))
    formula(lesson)
    if lesson.task:
        st.markdown(f"**{_('Try')}**{_(': ')}{lesson_markdown(lesson.text('task', language), 400)}")
    if lesson.change:
        st.button(
            _("Do it for me"),
            key="lesson_try",
            icon=":material/play_arrow:",
            **goes_to(lesson.page, lambda s: running.with_values(lesson.change, s)),
        )
    _deeper(running, lesson)


def _deeper(running: lesson_in_use.Running, lesson: Lesson) -> None:
    """Where one goes on from the lesson: a page, and derivations."""
    if (further := lesson.deeper) is not None:
        st.button(
            md(further.text("words", current_language()), 120),
            key="lesson_deeper",
            icon=":material/trending_flat:",
            help=_("Go deeper"),
            **goes_to(further.page, lambda s: running.with_values(further.state, s)),
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
                lambda s, one=one, values=values: derived.opened(one, running.with_values(values, s)),
            ),
        )
