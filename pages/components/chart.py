"""A figure on a page: without Plotly's own buttons, and said in words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.runtime.state import selected


def chart(figure: object, *, key: str, alt: str, on_pick: Callable[[Mapping[str, Any]], object] | None = None) -> None:
    """Draw a Plotly figure; `alt` says what it shows. `on_pick` is called with the point that a click selects, before
    the script runs again."""

    def picked() -> None:
        if (points := selected(key, "points")) and on_pick is not None:
            on_pick(points[0])

    st.plotly_chart(
        figure,
        key=key,
        on_select="ignore" if on_pick is None else picked,
        selection_mode="points",
        config={"displayModeBar": False},
        alt=alt,
    )
