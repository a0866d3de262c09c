"""Drawn exercises: a sheet by its kind and number, each step checked as it is filled in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.numerals import count
from bayes_engine.workbench.derivation.check import Checked
from bayes_engine.workbench.derivation.derive import by_hand
from bayes_engine.workbench.derivation.least_rows import rows_lacking, rows_needed
from bayes_engine.workbench.exercises.kinds import KINDS
from bayes_engine.workbench.exercises.sheet import Asked, Choice, Drawn, ExerciseSheet, Part
from pages import active
from pages.active import predicting
from pages.components import blanks
from pages.components.tables import markdown_table
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import bound_to, choose, control, sets, within_limits

IN_A_LINE = 3
"""So many blanks stand side by side on a wide page."""
_STYLE = private.style(
    """
.st-key-sheet_tables { gap: .25rem; }
.st-key-sheet_tables [st=MarkdownContainer] { overflow-x: auto; }
.st-key-sheet_tables table { font-size: .875rem; }
.st-key-sheet_tables :is(td, th) { padding: .2rem .5rem; white-space: nowrap; }
BODY { flex-wrap: wrap; gap: 1rem 2rem; }
BODY > [st=Column]:first-child { flex: 0 1 auto; width: auto; min-width: 0; max-width: 100%; }
BODY > [st=Column]:last-child { flex: 1 1 25rem; width: auto; min-width: min(25rem, 100%); }
.st-key-sheet_named { display: none; }
@media print {
  .st-key-sheet_controls, .st-key-sheet_progress { display: none !important; }
  .st-key-sheet_named { display: block; }
  .st-key-sheet_body [st=Selectbox] svg { display: none; }
}
""".replace("BODY", ".st-key-sheet_body > * > [st=HorizontalBlock]")
)
"""The rows stand beside the blanks where there is room for both, else above them."""


def section() -> None:
    """The sheet of the kind and number chosen, drawn from the table in use."""
    st.html(_STYLE)
    state, table = current(), active.table_in_use()
    number = state.seen(keys.SHEET_NUMBER)
    with st.container(horizontal=True, vertical_alignment="bottom", key="sheet_controls"):
        kind = choose(_("Exercise"), keys.SHEET, _titles(), also=(keys.SHEET_ANSWERS.to(()),))
        _number_and_key(number)
    if isinstance(table, active.UnfittableTable):
        _other_table(table.problem)
        return
    try:
        sheet = KINDS[kind](Drawn(table.parts, table, number))
    except BayesEngineError as error:
        _other_table(error)
        return
    with st.container(key="sheet_named"):
        st.markdown(_("{exercise} · sheet {n}").format(exercise=_titles()[kind], n=number))
    _sheet(sheet)
    if kind == "rows" and predicting.shows("chapter/calculator"):
        _calculator()


def _calculator() -> None:
    """Exercise 7.7 with numbers of one's own."""
    st.markdown(f"**{_('With your own numbers')}**")
    fields = (
        (_("m, rows for each"), keys.SAMPLES_EACH),
        (_("d, columns"), keys.SAMPLES_COLUMNS),
        (_("S, values of a column"), keys.SAMPLES_LEVELS),
        (_("K, classes"), keys.SAMPLES_CLASSES),
    )
    for column, (label, key) in zip(st.columns(4), fields, strict=True):
        column.number_input(label, step=1, **within_limits(key))
    state = current()
    needed = rows_needed(*(state.seen(key) for _label, key in fields))
    st.markdown(
        _("At best **{best}** rows, at worst **{worst}**; the class prior of naive Bayes alone needs {prior}.").format(
            best=count(needed.best), worst=count(needed.worst), prior=count(needed.prior)
        )
    )
    with suppress(BayesEngineError):  # the model in use counts no column, or the case has no value in one
        _of_case(state.seen(keys.SAMPLES_EACH))


def _of_case(each: int) -> None:
    """The same for the case in use and the rows that the table in use has."""
    table = active.fittable(active.table_in_use())
    lacking = rows_lacking(active.active_model(table).model, active.case_frame(table, active.case_values(table)), each)
    names = [v.name for v in table.features if v.discrete]
    if any(len(of_class) != len(names) for of_class in lacking.counts.values()):
        names = [str(j + 1) for j in range(len(next(iter(lacking.counts.values()))))]
    st.markdown(f"**{_('For the case in use')}**" + _(": ") + _("rows that each P(c, x_i) has"))
    lines = [("", *(md(table.column(name), 24) for name in names))]
    lines += [(md(table.class_(c), 24), *map(count, lacking.counts[c])) for c in table.classes]
    markdown_table(lines)
    st.markdown(
        _("Until each has {each} it lacks at best **{best}** rows, at worst **{worst}**.").format(
            each=count(each), best=count(lacking.best), worst=count(lacking.worst)
        )
    )


def _titles() -> dict[str, str]:
    return {
        "naive-bayes": _("Naive Bayes"),
        "spode": _("SPODE"),
        "aode": _("AODE"),
        "tree": _("TAN: information and tree"),
        "losses": _("Loss and flip margin"),
        "em": _("A step of EM"),
        "gibbs": _("Gibbs sampling"),
        "fisher": _("Fisher's direction"),
        "rows": _("Rows that AODE needs"),
    }


def _number_and_key(number: int) -> None:
    fresh = (keys.SHEET_NUMBER.to(number + 1), keys.SHEET_ANSWERS.to(()))
    st.number_input(
        _("Sheet no."),
        step=1,
        min_value=1,
        max_value=keys.SHEET_NUMBER.limits[1],
        width=130,
        help=_("The same number draws the same sheet on every computer: the link of this page is a sheet to hand out."),
        **bound_to(keys.SHEET_NUMBER, also=(keys.SHEET_ANSWERS.to(()),)),
    )
    st.button(_("Another sheet"), key="sheet_another", icon=":material/refresh:", **sets(*fresh))
    st.toggle(
        _("Show the key"),
        help=_("The right numbers beside the blanks. The page prints as it stands, with or without them."),
        **bound_to(keys.SHEET_KEY),
    )


def _other_table(error: BayesEngineError) -> None:
    st.info(error.message.local(md), icon=":material/table:")
    st.button(
        _("Take play tennis"),
        key="sheet_table",
        **on_click(lambda state: replace(State(language=state.language), table="play-tennis", view=state.view)),
    )


def _sheet(sheet: ExerciseSheet) -> None:
    st.markdown(f"**{sheet.task.local(lambda text: md(text, 400))}**")
    with st.container(key="sheet_body"):
        tables, steps = st.columns([2, 5], gap="large")
    with tables, st.container(key="sheet_tables"):
        for title, rows in sheet.tables:
            st.caption(title.local(md))
            markdown_table(_lines(rows), left=1 + rows.shape[1])
    with steps:
        _steps(sheet)


def _steps(sheet: ExerciseSheet) -> None:
    given, with_key = blanks.answers(keys.SHEET_ANSWERS), current().seen(keys.SHEET_KEY)
    marks: dict[str, str] = {}
    for part in sheet.parts:
        st.markdown(f"**{part.title.local(lambda text: md(text, 120))}**")
        marks |= _part(part, given, with_key=with_key)
    blanks.colour_marks(marks)
    with st.container(key="sheet_progress"):
        blanks.progress(marks, _("All correct. Take another sheet, or another exercise."))


def _lines(rows: pd.DataFrame) -> list[list[str]]:
    """The head and the rows of a table, with the names of its rows."""
    cells = [[f"{v:g}" if isinstance(v, float) else md(v, 40) for v in row] for row in rows.to_numpy(dtype=object)]
    head = ["", *(md(name, 40) for name in rows.columns)]
    return [head, *([md(name, 40), *line] for name, line in zip(rows.index, cells, strict=True))]


def _part(part: Part, given: dict[str, str], *, with_key: bool) -> dict[str, str]:
    """The steps of a part; returns their marks by key."""
    marks: dict[str, str] = {}
    for i in range(0, len(part.asked), IN_A_LINE):
        line = part.asked[i : i + IN_A_LINE]
        notes: dict[str, list[str]] = {}
        for column, step in zip(st.columns(IN_A_LINE, gap="small"), line, strict=False):
            mark, note = _step(column, step, given.get(step.key, ""), with_key=with_key)
            marks[step.key] = mark
            if note:
                notes.setdefault(note.local(lambda text: md(text, 400)), []).append(step.prompt.local(md))
        for sentence, of in notes.items():
            st.caption(f":material/lightbulb: **{_(', ').join(of)}**{_(': ')}{sentence}")
    return marks


def _step(column: Any, step: Asked, text: str, *, with_key: bool) -> Checked:
    judged = step.check(text)
    prompt = step.prompt.local(lambda text: md(text, 80))
    with column:
        if isinstance(step, Choice):
            shown = None if judged.mark == "blank" else int(text)
            st.selectbox(
                prompt,
                range(len(step.options)),
                format_func=lambda i: clean(step.options[i], 60),
                placeholder="?",
                **control(f"fill_{step.key}", shown, partial(_chosen, key=step.key)),
            )
            if judged.mark != "blank":
                st.caption(f"{blanks.ICONS[judged.mark]} {_('Right') if judged.mark == 'right' else _('Wrong')}")
            right = step.options[step.right]
        else:
            blanks.blank(st, keys.SHEET_ANSWERS, step.key, prompt, text, judged.mark, named=True)
            right = f"{by_hand(step.right):g}"
        if with_key:
            st.caption(_("Key: {right}").format(right=md(right, 60)))
    return judged


def _chosen(state: State, value: int | None, key: str) -> State:
    return blanks.entered(state, None if value is None else str(value), keys.SHEET_ANSWERS, key)
