"""Let me fill in: the table of factors with blanks, each answer checked as it is entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.derivation import factor_names, render
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.misprints import WorkingPlace
from bayes_engine.workbench.derivation.mistakes import FilledIn
from pages.components import blanks
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, spoken
from pages.views.case.editor import CaseInUse
from pages.views.case.factor_sources import MOST_ROWS
from pages.views.case.factor_table import (
    cells_of_line,
    class_heads,
    factor_title,
    is_one_of_several,
    left_out,
    shown_classes,
)
from pages.views.case.misprints import errata

TALLEST = 24
"""As many rows of a table stand on the page without scrolling."""


def fill_in_blanks(one: CaseInUse, exact: Working) -> None:
    """The same table with blanks: each answer is checked as it is entered, and a known mistake named."""
    sheet = FilledIn(exact, one.model, one.case, errata(one))
    columns, classes = shown_classes(exact), exact.classes
    marks: dict[str, str] = {}
    with st.container(key="factors"):
        class_heads(one, exact, columns)
        for i, step in enumerate(exact.steps):
            cells = cells_of_line(columns)
            factor_title(cells[0], one, step)
            if step.counted:
                names = {k: factor_names.name_of(step, classes[k], exact.target, one.table) for k in columns}
                places = [Blank(f"f{i}_{k}", names[k], WorkingPlace(i, k, "factor")) for k in columns]
                marks |= _blanks(cells[1:], places, sheet, one)
                continue
            for cell, k in zip(cells[1:], columns, strict=True):  # the sum over what is not known is no count: given
                cell.markdown(render.factor(exact, step, k))
        left_out(one, exact)
        lines = [("joint", _("joint"))]
        if exact.position >= 0 and not is_one_of_several(one):
            lines.append(("posterior", _("posterior")))
        for part, title in lines:
            cells = cells_of_line(columns)
            cells[0].markdown(f"**{title}**")
            names = {k: f"{title}, {one.table.class_(classes[k])}" for k in columns}
            places = [Blank(f"{part[0]}_{k}", names[k], WorkingPlace(None, k, part)) for k in columns]
            marks |= _blanks(cells[1:], places, sheet, one)
    blanks.colour_marks(marks)
    blanks.progress(marks, _("All correct. Compare with the working, or take another exercise."))


class Blank(NamedTuple):
    """A number to be filled in: the key of its answer, its name, and its place in the working."""

    key: str
    name: str
    place: WorkingPlace


def _blanks(cells: Sequence[Any], places: Sequence[Blank], sheet: FilledIn, one: CaseInUse) -> dict[str, str]:
    """A line of blanks, what is to be said of their answers (of whose, where that differs), and their marks by key."""
    answers = blanks.answers(keys.ANSWERS)
    marks: dict[str, str] = {}
    notes: dict[str, list[str]] = {}  # what is said, and of which classes
    for cell, (key, name, place) in zip(cells, places, strict=True):
        text = answers.get(key, "")
        marks[key], note = sheet.checked(text, place, one.table)
        if note:
            label = one.table.class_(sheet.working.classes[place.k])
            notes.setdefault(note.local(lambda text: md(text, 400)), []).append(md(label, 30))
        blanks.blank(cell, keys.ANSWERS, key, spoken(name), text, marks[key])
    for sentence, labels in notes.items():
        whose = f"**{_(', ').join(labels)}**{_(': ')}" if len(notes) > 1 else ""
        st.caption(f":material/lightbulb: {whose}{sentence}")
    return marks


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
