"""Links from page to page that carry the state."""

from __future__ import annotations

import streamlit as st

from pages.runtime.state import link_token


def page_link(file: str, label: str, icon: str | None = None) -> None:
    """A link to another page that carries the state."""
    st.page_link(file, label=label, icon=icon, query_params=query_params())


def query_params() -> dict[str, str]:
    """The query parameters of a link that keeps the state."""
    token = link_token()
    return {"s": token} if token else {}
