"""What stands in place of the parts of a page that are hidden until a person has predicted their answer."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.table.roles import put
from pages import active
from pages.active import predicting
from pages.components.tables import Head, with_screen_names, word_table
from pages.runtime.cache import cached
from pages.runtime.state import current

MOST = 150
"""Rows of a table that are shown, from which its answer may be worked out by hand."""
FEW = 12
"""Columns of them."""


def held_back(table: active.FittableTable | None = None) -> None:
    """Say that parts of the page are hidden; of a small table show the rows."""
    with st.container(border=True, key="held_back"):
        st.markdown(
            ":material/visibility_off: "
            + (
                _("What gives the answer away is hidden. It appears once you have committed to a prediction.")
                if predicting.asked_elsewhere() is None
                else _(
                    "Your class is asked about just this state: what gives the answer away is hidden until it is "
                    "revealed."
                )
            )
        )
        if table is None or len(table.parts.X) > MOST or table.parts.X.shape[1] >= FEW:
            return
        heads, lines = _listed(table.key, current_language(), current().labels, table)
        word_table(heads, lines, key="rows_held_back", label=_("the rows counted"), height=420, narrow=True)


@cached(max_entries=32)
def _listed(key: str, language: str, labels: str, _table: active.FittableTable) -> tuple[list[Head], list[list[str]]]:
    """The heads and the cells of the rows, the class before the features: the same for a whole class of visitors."""
    parts = _table.parts
    frame = put(parts.X, {_table.target.name: parts.y})[[_table.target.name, *parts.X]]
    shown = with_screen_names(_table, frame)
    right = [bool(pd.api.types.is_numeric_dtype(shown[name].dtype)) for name in shown]
    heads = [Head(_("row"), right=True), *(Head(str(n), right=r) for n, r in zip(shown, right, strict=True))]
    cells = [[_cell(value) for value in shown[name]] for name in shown]
    return heads, [[str(int(n) + 1), *line] for n, line in zip(parts.rows, zip(*cells, strict=True), strict=True)]


def _cell(value: Any) -> str:
    if pd.isna(value):
        return "·"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
