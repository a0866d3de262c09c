"""A question that a teacher asks the class: the teacher's controls with the histogram of the answers, and the line by
which a visitor comes to the question."""

from __future__ import annotations

from html import escape

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language, ngettext
from bayes_engine.numerals import number
from bayes_engine.workbench.lessons.class_answers import CLASS, ClassQuestion, bin_of, shares
from bayes_engine.workbench.lessons.lesson_format import Lesson
from bayes_engine.workbench.lessons.lesson_list import write_list
from pages.active import own_lessons, predicting
from pages.active.lesson_in_use import Running
from pages.active.predicting import ToPredict
from pages.runtime import private, wake
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, goes_to, on_click, use_session_language
from pages.shell.classroom import in_classroom

_STYLE = private.style("""
.class_answers { display: grid; grid-template-columns: max-content 1fr max-content; gap: 2px .6rem; max-width: 44rem; }
.class_answers span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 18rem; }
.class_answers b { display: block; height: 1.1rem; background: #4477aa; border-radius: 2px; min-width: 1px; }
.class_answers .right { font-weight: 700; }
.class_answers b.right { background: #228833; }
.class_answers .many { text-align: right; font-variant-numeric: tabular-nums; }
.st-key-class_line { padding: .35rem .75rem; }
""")
_TEACHER = "has_given_the_key"
"""Under which a session keeps that it has given the key; no widget is called so."""


def is_teacher() -> bool:
    """Whether the teacher's key was given in this session."""
    return bool(st.session_state.get(_TEACHER))


def menu() -> None:
    """In a classroom: the button behind which the teacher gives the key that the terminal printed."""
    if not in_classroom():
        return
    pressed = st.button(
        _("Teacher"),
        key="teacher",
        icon=":material/co_present:",
        type="tertiary",
        help=_("Opens the teacher's controls, with the key that the terminal shows."),
    )
    if pressed:
        st.dialog(_("Teacher"), icon=":material/co_present:")(_inside)()


def _inside() -> None:
    use_session_language()  # a fragment starts from the context's default
    if is_teacher():
        if st.session_state.pop("teacher_opened", False):
            st.rerun()  # of the whole page: its bar has the controls now
        st.markdown(
            _(
                "This screen is the teacher's. Open a lesson and press «Ask the class»: every visitor is led to the "
                "question, and the answers come together here."
            )
        )
        return
    st.text_input(_("Key of the teacher"), type="password", key="teacher_key", max_chars=40, on_change=_given)
    st.caption(_("The terminal in which the classroom was started shows it."))
    if st.session_state.get("teacher_refused"):
        st.markdown(":material/error: " + _("That is not the key that the terminal shows."))


def _given() -> None:
    """The callback of the key: it is compared, and not kept."""
    right = CLASS.is_key(str(st.session_state.get("teacher_key") or ""))
    st.session_state[_TEACHER] = st.session_state["teacher_opened"] = right
    st.session_state["teacher_refused"] = not right
    st.session_state["teacher_key"] = ""


# visitors -------------------------------------------------------------------------------------------------------------


def line() -> None:
    """What leads a visitor to the question that is open to the class, from wherever they are; its teacher too, where
    the answer is held back on their screen."""
    if not in_classroom():
        return
    open_ = CLASS.question
    if open_ is None or open_.revealed or predicting.class_question() is not None:
        return
    if is_teacher() and predicting.asked_elsewhere() is None:
        return
    st.html(_STYLE)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="class_line"):
        words = md(_wording(open_.lesson), 300)
        st.markdown(_("**Your class is asked:** {question}").format(question=words), width="stretch")
        st.button(
            _("Answer"),
            key="class_answer",
            type="primary",
            icon=":material/arrow_forward:",
            **goes_to(open_.lesson.page, lambda s: predicting.asked_by(open_, s)),
        )


def _wording(lesson: Lesson) -> str:
    asks = lesson if lesson.predict is None else lesson.predict
    return asks.text("question", current_language())


# the teacher ----------------------------------------------------------------------------------------------------------


def of_teacher(running: Running) -> None:
    """In the bar of the teacher's screen: ask the class, see who has answered, reveal."""
    if not is_teacher():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="class_question"):
        if (open_ := predicting.class_question()) is None:
            if running.lesson.answer is not None:
                _offer(running)
            return
        _controls(open_)
    st.html(_STYLE)
    drawn = _Answers(open_)
    with wake.watching(drawn.update):
        drawn.draw()


def _offer(running: Running) -> None:
    def ask(state: State) -> State:
        asking = state.showing(keys.LESSON_PREDICTS.to(True), keys.LESSON_COMMITTED.to(""), keys.LESSON_ANSWER.to(""))
        st.session_state["state"] = asking
        question = predicting.question_in_use()
        if question is not None:
            try:
                options = predicting.options(question)
                limits, token = predicting.limits(question), predicting.token_of(asking)
                lessons = "" if running.name else write_list(own_lessons.in_hand(asking))
                CLASS.ask(running.lesson, token, lessons, len(options), limits)
            except BayesEngineError:
                return state  # the bar says why there is nothing to ask
            wake.wake_others()
        return asking

    uploaded = current().table.startswith("upload:")
    st.button(
        _("Ask the class"),
        key="class_ask",
        icon=":material/campaign:",
        disabled=uploaded,
        help=_("The class has no rows of an uploaded table: ask about an embedded one.")
        if uploaded
        else _(
            "Every visitor is led to this question, in this state. Until you reveal it, what gives the answer away is "
            "hidden wherever this state is on screen, also without the lesson; who changes table, case or settings "
            "sees another state. The answers to an earlier question are gone."
        ),
        **on_click(ask),
    )


def _controls(open_: ClassQuestion) -> None:
    def shown(state: State) -> State:
        CLASS.show(not open_.shown)
        return state

    def reveal(state: State) -> State:
        CLASS.reveal()
        CLASS.show(True)
        wake.wake_others()
        return state

    def again(state: State) -> State:
        CLASS.ask_anew()
        wake.wake_others()
        return state

    def end(state: State) -> State:
        CLASS.end()
        wake.wake_others()
        return state.showing(keys.LESSON_PREDICTS.to(False))

    if not open_.revealed:
        label = _("Hide the histogram") if open_.shown else _("Show the histogram")
        st.button(label, key="class_show", icon=":material/bar_chart:", **on_click(shown))
        st.button(
            _("Reveal to all"), key="class_reveal", icon=":material/visibility:", type="primary", **on_click(reveal)
        )
    about = _("The answers are taken away, and the class is asked anew.")
    st.button(_("Ask anew"), key="class_again", icon=":material/restart_alt:", help=about, **on_click(again))
    about = _("The question is over, and its answers are gone.")
    st.button(_("End the question"), key="class_end", icon=":material/close:", help=about, **on_click(end))


class _Answers:
    """How many have answered, and the histogram: drawn once, and sent anew at each answer."""

    def __init__(self, open_: ClassQuestion) -> None:
        self.open = open_
        question = predicting.question_in_use()
        self.options = [] if question is None else predicting.options(question)
        self.share = question is not None and question.prediction.kind == "probability"
        self.right = _right(question) if open_.revealed and question is not None else None

    def draw(self) -> None:
        st.html(self.text())

    def update(self, elements: private.Elements) -> None:
        elements["html"].html.body = self.text()

    def text(self) -> str:
        n = CLASS.count()
        counted = ngettext("{n} answer", "{n} answers", n).format(n=n)
        words = f'<div class="class_count" aria-live="polite">{escape(counted)}</div>'
        return words + (self._bars() if self.open.shown else "")

    def _bars(self) -> str:
        bins = CLASS.histogram()
        right = -1 if self.right is None else int(self.right) if self.options else bin_of(self.right, self.open.limits)
        lines = []
        for i, (one, share) in enumerate(zip(bins, shares(bins), strict=True)):
            mark = "right" if i == right else ""
            name = self.options[i] if self.options else self._range(one.low, one.high)
            lines.append(
                f'<span class="{mark}">{escape(name)}{" ✓" if mark else ""}</span>'
                f'<div><b class="{mark}" style="width: {100 * share:.1f}%"></b></div><span class="many">{one.n}</span>'
            )
        return f'<div class="class_answers">{"".join(lines)}</div>'

    def _range(self, low: float, high: float) -> str:
        if self.share:
            return f"{100 * low:g}–{100 * high:g} %"
        return f"{number(low)} … {number(high)}".replace("-", "−")


def _right(question: ToPredict) -> float | None:
    try:
        return predicting.answer(question)
    except BayesEngineError:
        return None
