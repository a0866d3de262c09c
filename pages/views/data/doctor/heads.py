"""The rows of the table under heads that say what each column is, how it is spread by class, and what was found in it.

A click on a head chooses the column; arrow keys go from head to head. Of very many columns a hundred are shown at a
time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench.doctor.finding import SEVERITIES, Finding, Severity
from bayes_engine.workbench.doctor.profile import LEVELS, Profile, profiles
from bayes_engine.workbench.figures.theme import CLASS_COLOURS
from pages import active
from pages.active import words
from pages.components.component import component, last_message, read_message, read_position
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean
from pages.runtime.state import State, change, current
from pages.runtime.widgets import select
from pages.views.data.doctor import wording

_heads = component(__file__, "bayes_heads", '<div class="heads" data-testid="heads"></div>', uses=("stage", "paper"))

ROWS = 1000
"""How many rows are in the table on screen."""
CELLS = 100_000
"""How many cells are, where the columns are many."""
WIDE = 100
"""How many columns are shown at a time."""
LONG = 160
"""So much of a cell is shown."""


def table_with_heads(table: active.TableInUse, findings: Sequence[Finding]) -> None:
    """The table in use, with these findings in the heads of their columns."""
    start = _window(table)
    shown = table.schema.variables[start : start + WIDE]
    names = tuple(v.name for v in shown)
    marks = counts_by_severity(findings)
    columns, glances = _columns(table, start)
    picked = picked_column(table, current())
    target = table.schema.target
    k = len(target.levels) if target is not None and target.discrete else 0
    numbers = [int(i) + 1 for i in table.frame.index[: _rows(len(shown))]]
    sent = {
        "key": f"{table.key}|{start}",
        "label": _("The rows of the table. Arrow keys go from one column's head to the next, Enter chooses it."),
        "corner": "#",
        "missing": "·",
        "numbers": numbers,
        "colours": [list(pair) for pair in CLASS_COLOURS[: max(k, 1)]] if k else [],
        "legend": [clean(table.class_(c), 24) for c in table.classes]
        if isinstance(table, active.FittableTable)
        else [],
        "picked": names.index(picked) if picked in names else None,
        "columns": [
            _column(table, v, cells, glance, marks.get(v.name, Counter()))
            for v, cells, glance in zip(shown, columns, glances, strict=True)
        ],
    }

    def clicked() -> None:
        place = read_message("heads", "picked", lambda edit: read_position(edit.get("column"), len(shown)))
        if place is not None:
            change(lambda state: with_column_picked(state, None if picked == names[place] else start + place))

    _heads(key="heads", data=sent | {"seen": last_message("heads")}, on_picked_change=clicked)
    if len(table.frame) > len(numbers):
        st.caption(_("The first {n} of {all} rows.").format(n=f"{len(numbers):,}", all=f"{len(table.frame):,}"))


def picked_column(table: active.TableInUse, state: State) -> str:
    """The name of the column whose head was clicked; "" where there is none."""
    position = state.seen(keys.DOCTOR_COLUMN)
    return table.schema.variables[position].name if 0 <= position < len(table.schema) else ""


def with_column_picked(state: State, position: int | None) -> State:
    """The state with this column chosen, and in sight."""
    if position is None:
        return state.showing(keys.DOCTOR_COLUMN.to(-1))
    return state.showing(keys.DOCTOR_COLUMN.to(position), keys.DOCTOR_FROM.to(position // WIDE * WIDE))


def counts_by_severity(findings: Iterable[Finding]) -> dict[str, Counter[Severity]]:
    """How many findings of each severity stand in each column's head."""
    counts: dict[str, Counter[Severity]] = {}
    for finding in findings:
        for name in finding.columns:
            counts.setdefault(name, Counter())[finding.severity] += 1
    return counts


def _window(table: active.TableInUse) -> int:
    """The first column that is shown; where they are many, which ones are to be chosen."""
    d = len(table.schema)
    if d <= WIDE:
        return 0
    windows = {
        first: _("{first}–{last} of {all}").format(first=first + 1, last=min(first + WIDE, d), all=f"{d:,}")
        for first in range(0, d, WIDE)
    }
    return select(_("Columns"), keys.DOCTOR_FROM, windows, width=240)


def _rows(columns: int) -> int:
    return min(ROWS, max(CELLS // max(columns, 1), 100))


def _column(
    table: active.TableInUse, variable: Variable, cells: Mapping[str, Any], glance: Profile, marks: Counter[Severity]
) -> dict[str, Any]:
    name = clean(table.column(variable.name))
    kind, role = words.kind(variable.kind), words.role(variable.role)
    sub = kind if variable.role == "feature" else _("{role} · {kind}").format(role=role, kind=kind)
    counts = [(severity, marks[severity]) for severity in SEVERITIES if marks[severity]]
    marks_in_words = _(", ").join(wording.severity(severity, n) for severity, n in counts)
    read = variable.role in ("feature", "target")
    column = {
        "name": name,
        "sub": sub,
        "tone": variable.role if variable.role == "target" else "" if read else "off",
        "bars": [list(bar) for bar in glance.counts],
        "marks": [list(pair) for pair in counts],
        "spoken": _(", ").join(part for part in (name, sub, _spread(table, variable, glance), marks_in_words) if part),
        "right": variable.numeric,
        "dots": variable.role == "target" and variable.discrete and "codes" in cells,
        **cells,
    }
    if "codes" in cells:
        column["levels"] = [clean(table.level(variable.name, level), LONG) for level in variable.levels]
    return column


def _spread(table: active.TableInUse, variable: Variable, glance: Profile) -> str:
    missing = _("{n} missing").format(n=f"{glance.missing:,}") if glance.missing else ""
    what = ""
    if glance.edges:
        what = _("{low} to {high}").format(low=f"{glance.edges[0]:.6g}", high=f"{glance.edges[-1]:.6g}")
    elif variable.discrete:
        first = variable.levels[: 3 if len(variable.levels) > LEVELS else 5]
        what = _(", ").join(clean(table.level(variable.name, level), 20) for level in first)
        what += " …" if len(variable.levels) > len(first) else ""
    return _(", ").join(part for part in (what, missing) if part)


# what is the same in every language -------------------------------------------------------------------------------


@cached(max_entries=8)
def _columns(table: active.TableInUse, start: int) -> tuple[tuple[dict[str, Any], ...], tuple[Profile, ...]]:
    """Of each column its first cells, codes of the levels or texts, None where missing; and its profile."""
    shown, target = table.schema.variables[start : start + WIDE], table.schema.target
    more = (target,) if target is not None and target not in shown else ()
    head = table.frame.iloc[: _rows(len(shown))]
    return tuple(_cells(v, head[v.name]) for v in shown), profiles(table.frame, Schema((*shown, *more)))[: len(shown)]


def _cells(variable: Variable, column: pd.Series) -> dict[str, Any]:
    if variable.discrete and variable.levels and len(variable.levels) <= len(column):
        codes = {level: code for code, level in enumerate(variable.levels)}
        return {"codes": [-1 if pd.isna(x) else codes.get(x, -1) for x in column]}
    return {"texts": [None if pd.isna(x) else _text(x) for x in column]}


def _text(cell: Any) -> str:
    if isinstance(cell, pd.Timestamp):
        return f"{cell:%Y-%m-%d}" if cell == cell.normalize() else f"{cell:%Y-%m-%d %H:%M}"
    return f"{cell:.12g}" if isinstance(cell, float) else clean(cell, LONG)
