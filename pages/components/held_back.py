"""What stands in place of the parts of a page that are hidden until a person has predicted their answer."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.table.roles import put
from pages import active
from pages.components import tables

MOST = 150
"""Rows of a table that are shown, from which its answer may be worked out by hand."""
FEW = 12
"""Columns of them."""


def held_back(table: active.FittableTable | None = None) -> None:
    """Say that parts of the page are hidden; of a small table show the rows."""
    with st.container(border=True, key="held_back"):
        st.markdown(
            ":material/visibility_off: "
            + _("What gives the answer away is hidden. It appears once you have committed to a prediction.")
        )
        if table is None:
            return
        parts = table.parts
        frame = put(parts.X, {table.target.name: parts.y})[[table.target.name, *parts.X]]
        if len(frame) <= MOST and frame.shape[1] <= FEW:
            frame.index = pd.Index([int(row) + 1 for row in parts.rows], name=_("row"))
            tables.rows(table, frame, of=("held back", table.key), height=420)
