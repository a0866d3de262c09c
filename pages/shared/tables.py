"""What tables on screen share: their height, what of them is chosen, and the rows as they are called on screen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import data
from pages.shared.state import selected


def high(rows: int, most: int) -> int:
    """As high as its rows, header and borders included."""
    return min(38 + 35 * max(rows, 1), most)


def written(lines: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table of few lines as text, the first of them its heads, and its first columns flush left. Cells are Markdown.
    (`st.dataframe` can be sorted and scrolled, for 0.3 MB of scripts at a first visit.)"""
    heads, *rest = lines
    rule = [":--" if j < left else "--:" for j in range(len(heads))]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *rest)))


def clicked(key: str, before: int) -> int:
    """The row of a table that was clicked, at its mark or in any cell; without either the one from before."""
    cells, rows = selected(key, "cells"), selected(key, "rows")
    return int(cells[0][0] if cells else rows[0] if rows else before)


def select(key: str, selection: dict[str, Any]) -> None:
    """Make a table's selection a view of the state."""
    shown = st.session_state.get(key, {}).get("selection", {})
    if any(json.dumps(shown.get(part, ())) != json.dumps(value) for part, value in selection.items()):
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [], **selection}}


def on_screen(table: data.InUse, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the names and levels in the interface's language, where the table has any."""
    if table.dataset is None:  # levels may be of several types (a new one is named); cells are of one
        return frame.astype({n: object for n in frame if isinstance(frame[n].dtype, pd.CategoricalDtype)})
    known = {v.name for v in table.schema}
    shown = {}
    for name in frame.columns:
        if name not in known:
            shown[name] = frame[name]
            continue
        names = {level: table.level(name, level) for level in table.schema[name].levels}
        shown[table.column(name)] = frame[name].astype(object).map(names, na_action="ignore") if names else frame[name]
    return pd.DataFrame(shown)
