"""Let me fill in: the table of factors with blanks, each answer checked as it is entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.workbench.derivation import render
from bayes_engine.workbench.derivation.check import LONGEST, OF_JOINT, OF_POSTERIOR, hint, mark
from bayes_engine.workbench.derivation.derive import Working, rounded
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, control, current
from pages.views.case import derivation
from pages.views.case.derivation import (
    MOST_ROWS,
    TALLEST,
    cells_of_line,
    class_heads,
    is_one_of_several,
    left_out,
    shown_classes,
)
from pages.views.case.editor import CaseInUse


def fill_in_blanks(one: CaseInUse, exact: Working) -> None:
    """The same table with blanks: each answer is checked as it is entered, against the exact number and the one that
    comes of rounding to three digits on the way."""
    hand = rounded(exact)
    answers, columns = _answers(current()), shown_classes(exact)
    marks: dict[str, str] = {}
    with st.container(key="factors"):
        class_heads(one, exact, columns)
        for i, step in enumerate(exact.steps):
            wrong: list[Message] = []
            cells = cells_of_line(columns)
            derivation.title(cells[0], one, step)
            for cell, k in zip(cells[1:], columns, strict=True):
                if not step.counted:  # the sum over what is not known is no count: it is given
                    cell.markdown(render.factor(exact, step, k))
                    continue
                name = render.name_of(step, exact.classes[k], exact.target, one.table)
                key = f"f{i}_{k}"
                marks[key] = _blank(cell, key, name, answers, step.factors[k], hand.steps[i].factors[k])
                if marks[key] in ("wrong", "unreadable"):
                    wrong.append(hint(exact, i, k, answers[key], one.table))
            _hints(wrong)
        left_out(one, exact)
        lines: list[tuple[str, str, tuple[float, ...], tuple[float, ...], Message]]
        lines = [("j", _("joint"), exact.joint, hand.joint, OF_JOINT)]
        if exact.position >= 0 and not is_one_of_several(one):
            lines.append(("p", _("posterior"), exact.posterior, hand.posterior, OF_POSTERIOR))
        for kind, title, right, also, help_ in lines:
            cells, wrong = cells_of_line(columns), []
            cells[0].markdown(f"**{title}**")
            for cell, k in zip(cells[1:], columns, strict=True):
                key = f"{kind}_{k}"
                marks[key] = _blank(cell, key, f"{title} {k + 1}", answers, right[k], also[k])
                if marks[key] in ("wrong", "unreadable"):
                    wrong = [help_]
            _hints(wrong)
    _colour_marks(marks)
    done = list(marks.values()).count("right")
    st.progress(done / len(marks), text=_("{done} of {n} steps right").format(done=done, n=len(marks)))
    if done == len(marks):
        st.success(_("All right. Compare with the working, or take another exercise."), icon=":material/check_circle:")


MARKS = {"right": ":material/check_circle:", "wrong": ":material/cancel:", "unreadable": ":material/help:"}


def _answers(state: State) -> dict[str, str]:
    """What was filled in, by the key of the blank."""
    answers = state.seen(keys.ANSWERS)
    return dict(answers)


def _colour_marks(marks: dict[str, str]) -> None:
    ink = {"right": "#1a9850", "wrong": "#d7301f", "unreadable": "#d7301f"}
    rules = [
        f".st-key-fill_{key} [st=IconMaterial] {{ color: {ink[given_mark]}; }}"
        for key, given_mark in marks.items()
        if given_mark in ink
    ]
    st.html(private.style(" ".join(rules)))


def _blank(cell: Any, key: str, name: str, answers: dict[str, str], *right: float) -> str:
    """One blank: its mark."""
    text = answers.get(key, "")
    given_mark = mark(text, *right)

    def entered(state: State, value: str | None) -> State:
        kept = _answers(state) | {key: value or ""}
        return state.showing(keys.ANSWERS.to(tuple(sorted((k, v) for k, v in kept.items() if v))))

    cell.text_input(
        md(name, 80),
        label_visibility="collapsed",
        placeholder="?",
        icon=MARKS.get(given_mark),
        max_chars=LONGEST,
        **control(f"fill_{key}", text, entered),
    )
    return given_mark


def _hints(wrong: Sequence[Message]) -> None:
    for message in dict.fromkeys(m.local(md) for m in wrong):
        st.caption(f":material/lightbulb: {message}")


def rows_to_count(one: CaseInUse) -> None:
    """The table to count from."""
    rows = one.counted
    if len(rows) > MOST_ROWS:
        st.info(
            _("The table has {n} rows, too many to count by hand. Another exercise draws a few of them.").format(
                n=len(rows)
            ),
            icon=":material/exercise:",
        )
        return
    table, target = one.table, one.table.target.name
    shown = {}
    for name in (target, *(c for c in rows.columns if c != target)):
        numeric = name != target and table.schema[name].numeric
        cells = [None if pd.isna(v) else v if numeric else clean(table.level(name, v), 40) for v in rows[name]]
        shown[clean(table.column(name), 40)] = cells
    st.dataframe(
        pd.DataFrame(shown, index=rows.index),
        row_height=29,
        key="rows_to_count",
        height="content" if len(rows) <= TALLEST else 40 + 29 * TALLEST,
    )
