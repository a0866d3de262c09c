"""What the bar and the chapter write of a lesson in the same way."""

from __future__ import annotations

import re

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.lessons.lesson_format import Lesson
from pages.runtime.escape import md

_INDEXED = re.compile(r"(?<![A-Za-z_])([A-Za-zλθ])_([a-z]{1,2})(?:\\\^([a-z])_([a-z]))?(?![A-Za-z_])")


def lesson_markdown(text: object, limit: int) -> str:
    """A lesson's words as Markdown, with what has an index in them as a formula.

    >>> lesson_markdown("λ_ij is the loss, credit_amount is a column", 80)
    '$λ_{ij}$ is the loss, credit_amount is a column'
    """
    return _INDEXED.sub(_in_type, md(text, limit))


def _in_type(indexed: re.Match[str]) -> str:
    power = f"^{{{indexed[3]}_{indexed[4]}}}" if indexed[3] else ""
    return f"${indexed[1]}_{{{indexed[2]}}}{power}$"


def formula(lesson: Lesson) -> None:
    """The lesson's formula, with its number in the book where it has one."""
    if lesson.formula:
        st.latex(lesson.formula)
    if lesson.equation:
        st.caption(_("Zhou, eq. {number}").format(number=md(lesson.equation, 20)))
