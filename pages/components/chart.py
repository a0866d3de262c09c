"""A figure on a page: without Plotly's own buttons, and said in words for those who do not see it."""

from __future__ import annotations

import streamlit as st


def chart(figure: object, *, key: str, alt: str) -> None:
    """Draw a Plotly figure; `alt` says what it shows."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False}, alt=alt)
