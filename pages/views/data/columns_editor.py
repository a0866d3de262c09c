"""All columns in a table that can be edited, the role and the kind of each beside what it holds; and the order of a
column's levels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.table.describe import ColumnSummary
from pages import active
from pages.active import words
from pages.active.tables import column_summaries
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state_checks import KINDS
from pages.runtime.widgets import select, widget_message
from pages.views.data import columns
from pages.views.data.attempts import try_edit, why_refused


def columns_editor(table: active.TableInUse) -> None:
    """One row a column. The editor starts afresh whenever what it shows is not what the state says."""
    fresh = _frame(table)
    number, base = st.session_state.get("columns_editor", (0, None))
    edits = st.session_state.get(f"columns_{number}", {}).get("edited_rows", {})
    if base is None or not _with_edits(base, edits).equals(fresh):
        number, base = number + 1, fresh
        st.session_state["columns_editor"] = (number, base)
    key = f"columns_{number}"
    other_kinds = [k for k in dict.fromkeys(v.kind for v in table.schema) if k not in KINDS]

    def edited() -> None:
        for row, cells in (widget_message(key, "edited_rows") or {}).items():
            position, now = int(row), active.table_in_use().schema.variables[int(row)]
            for name, edit in (("kind", columns.with_kind), ("role", columns.with_role)):
                if cells.get(name) and cells[name] != getattr(now, name):
                    try_edit(partial(edit, position=position, **{name: cells[name]}))

    st.data_editor(
        base, key=key, num_rows="fixed", hide_index=True, on_change=edited, height=min(38 + 35 * len(base), 423),
        disabled=[c for c in base.columns if c not in ("role", "kind")],
        column_config={
            "column": st.column_config.TextColumn(_("column"), pinned=True),
            "role": st.column_config.SelectboxColumn(
                _("role"), options=list(columns.ROLES), format_func=lambda name: words.role(str(name)), required=True,
                width=90),
            "kind": st.column_config.SelectboxColumn(
                _("kind"), options=[*KINDS, *other_kinds], format_func=lambda name: words.kind(str(name)),
                required=True, width=112),
            "holds": st.column_config.TextColumn(_("holds"), width=300 if table.info else 440),
            "distinct": st.column_config.NumberColumn(_("distinct"), width=72),
            "missing": st.column_config.NumberColumn(_("missing"), format="percent", width=72),
            "meaning": st.column_config.TextColumn(_("meaning"), width=260),
        },
        alt=_("The columns: name, role, kind, and what they hold. Role and kind can be changed."),
    )  # fmt: skip
    why_refused()


def _frame(table: active.TableInUse) -> pd.DataFrame:
    language = current_language()
    summaries = column_summaries(table)
    shown = {
        "column": [clean(table.column(v.name)) for v in table.schema],
        "role": [v.role for v in table.schema],
        "kind": [v.kind for v in table.schema],
        "missing": [s.missing / s.n if s.n else 0.0 for s in summaries],
        "distinct": [s.distinct for s in summaries],
        "holds": [_holds(table, s) for s in summaries],
    }
    if table.info:
        shown["meaning"] = [table.info.column(v.name).text("meaning", language) for v in table.schema]
    return pd.DataFrame(shown)


def _holds(table: active.TableInUse, summary: ColumnSummary) -> str:
    if summary.low is not None:
        return _("{low} to {high}, mean {mean}").format(
            low=f"{summary.low:.6g}", high=f"{summary.high:.6g}", mean=f"{summary.mean:.6g}")  # fmt: skip
    named = [(clean(table.level(summary.name, value), 24), n) for value, n in summary.counts[:8]]
    shown = " · ".join(name if n == 1 else f"{name} {n:,}" for name, n in named)
    return shown + (" …" if summary.distinct > min(len(summary.counts), 8) else "")


def _with_edits(base: pd.DataFrame, edits: Mapping[Any, Mapping[str, Any]]) -> pd.DataFrame:
    shown = base.copy()
    for row, cells in edits.items():
        for name, value in cells.items():
            shown.loc[int(row), name] = value
    return shown


# levels ---------------------------------------------------------------------------------------------------------------


def levels_editor(table: active.TableInUse) -> None:
    discrete = {j: clean(table.column(v.name)) for j, v in enumerate(table.schema) if v.discrete}
    if not discrete:
        return
    with st.expander(_("Levels: their order, and levels that no row has yet"), icon=":material/reorder:"):
        column, level, new = st.columns([1, 2, 1], gap="medium", vertical_alignment="bottom")
        with column:
            first = (keys.LEVEL_AT.to(0),)
            position = select(_("Column"), keys.LEVELS_OF, discrete, otherwise=list(discrete)[-1], also=first)
        variable = table.schema.variables[position]
        levels = {k: f"{k + 1} · {clean(table.level(variable.name, v), 40)}" for k, v in enumerate(variable.levels)}
        with level:
            picked = select(_("Level"), keys.LEVEL_AT, levels, otherwise=len(levels) - 1)
        with new:
            st.text_input(_("New level"), key="new_level", placeholder=_("its name"),
                          on_change=_add, args=(position, variable.levels))  # fmt: skip
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            for step, label, icon in ((-1, _("Earlier"), "arrow_upward"), (1, _("Later"), "arrow_downward")):
                there = picked + step
                st.button(label, icon=f":material/{icon}:", key=f"level_{step}",
                          disabled=not 0 <= there < len(variable.levels),
                          on_click=_move, args=(position, variable.levels, picked, there))  # fmt: skip
            order = " → ".join(md(table.level(variable.name, v), 24) for v in variable.levels[:12])
            st.caption(order + (" → …" if len(variable.levels) > 12 else ""))


def _move(position: int, levels: tuple[Any, ...], here: int, there: int) -> None:
    moved = list(levels)
    moved.insert(there, moved.pop(here))
    try_edit(lambda state: columns.with_levels(state, position, tuple(moved)).showing(keys.LEVEL_AT.to(there)))


def _add(position: int, levels: tuple[Any, ...]) -> None:
    name = str(st.session_state.get("new_level", "")).strip()
    st.session_state["new_level"] = ""
    if name and name not in map(str, levels):
        try_edit(lambda state: columns.with_levels(state, position, (*levels, name)))
