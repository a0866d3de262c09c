"""What tables on screen share: their height, what of them is chosen, and the rows as they are called on screen."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import data


def high(rows: int, most: int) -> int:
    """As high as its rows, header and borders included."""
    return min(38 + 35 * max(rows, 1), most)


def clicked(key: str, before: int) -> int:
    """The row of a table that was clicked, at its mark or in any cell; without either the one from before."""
    selection = st.session_state[key]["selection"]
    cells, rows = selection.get("cells", ()), selection.get("rows", ())
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
