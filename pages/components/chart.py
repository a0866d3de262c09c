"""A figure on a page: without Plotly's own buttons, and said in words for those who do not see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import streamlit as st

from bayes_engine.workbench.figures.theme import template
from pages.runtime.state import dark
from pages.runtime.widgets import selected


def chart(
    figure: Any,
    *,
    key: str,
    alt: str,
    on_pick: Callable[[Mapping[str, Any]], object] | None = None,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """Draw a Plotly figure, as wide as there is room or so many pixels at most; `alt` says what it shows. `on_pick` is
    called with the point that a click selects, before the script runs again."""

    def picked() -> None:
        if (points := selected(key, "points")) and on_pick is not None:
            on_pick(points[0])

    st.plotly_chart(
        figure.update_layout(template=template(dark())),
        theme=None,  # Streamlit's writes smaller and paler
        key=key,
        on_select="ignore" if on_pick is None else picked,
        selection_mode="points",
        config={"displayModeBar": False},
        alt=alt,
        width=width,
    )
