"""All columns in a table that can be edited: the role and the kind of each, beside what it holds."""

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
from pages.runtime.escape import clean
from pages.runtime.state import widget_message
from pages.views.data import attempts, columns


def columns_editor(table: active.TableInUse) -> None:
    """One row a column. The editor starts afresh whenever what it shows is not what the state says."""
    fresh = _frame(table)
    number, base = st.session_state.get("columns_editor", (0, None))
    edits = st.session_state.get(f"columns_{number}", {}).get("edited_rows", {})
    if base is None or not _with_edits(base, edits).equals(fresh):
        number, base = number + 1, fresh
        st.session_state["columns_editor"] = (number, base)
    key = f"columns_{number}"
    other_kinds = [k for k in dict.fromkeys(v.kind for v in table.schema) if k not in columns.KINDS]

    def edited() -> None:
        for row, cells in (widget_message(key, "edited_rows") or {}).items():
            position, now = int(row), active.table_in_use().schema.variables[int(row)]
            for name, edit in (("kind", columns.with_kind), ("role", columns.with_role)):
                if cells.get(name) and cells[name] != getattr(now, name):
                    attempts.try_edit(partial(edit, position=position, **{name: cells[name]}))

    st.data_editor(
        base, key=key, num_rows="fixed", hide_index=True, on_change=edited, height=min(38 + 35 * len(base), 423),
        disabled=[c for c in base.columns if c not in ("role", "kind")],
        column_config={
            "column": st.column_config.TextColumn(_("column"), pinned=True),
            "role": st.column_config.SelectboxColumn(
                _("role"), options=list(columns.ROLES), format_func=lambda name: words.role(str(name)), required=True,
                width=90),
            "kind": st.column_config.SelectboxColumn(
                _("kind"), options=[*columns.KINDS, *other_kinds], format_func=lambda name: words.kind(str(name)),
                required=True, width=112),
            "holds": st.column_config.TextColumn(_("holds"), width=300 if table.info else 440),
            "distinct": st.column_config.NumberColumn(_("distinct"), width=72),
            "missing": st.column_config.NumberColumn(_("missing"), format="percent", width=72),
            "meaning": st.column_config.TextColumn(_("meaning"), width=260),
        },
        alt=_("The columns: name, role, kind, and what they hold. Role and kind can be changed."),
    )  # fmt: skip
    attempts.why_refused()


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
