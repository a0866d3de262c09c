"""What the bar and the chapter write of a lesson in the same way."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.runtime.escape import md


def formula(lesson: Lesson) -> None:
    """The lesson's formula, with its number in the book where it has one."""
    if lesson.formula:
        st.latex(lesson.formula)
    if lesson.equation:
        st.caption(_("Zhou, eq. {number}").format(number=md(lesson.equation, 20)))
