"""A table of one's own that another took the place of: what was made of it is kept for the session, one click away."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bayes_engine.language import _
from pages.active.files import TABLE, held
from pages.active.tables import in_use
from pages.runtime.escape import md
from pages.runtime.state import State, current, on_click


def own(state: State) -> bool:
    """Whether the table in use is a person's own: a file, or a data set whose columns or cells were changed."""
    return bool(TABLE.named(state) or state.columns or state.repairs)


def instead(state: State, other: State) -> State:
    """The state with another table; a person's own can be come back to as it was left."""
    if own(state) and state.table != other.table:
        st.session_state["own_table"] = state
    return other


def come_back(key: str) -> None:
    """The way back to a person's own table, where another one is in use and the session still has it."""
    left: State | None = st.session_state.get("own_table")
    if left is None or left.table == current().table or (TABLE.named(left) and TABLE.named(left) not in held(TABLE)):
        return
    st.button(
        _("Back to {table}").format(table=md(in_use(left).title, 40)),
        icon=":material/undo:",
        key=key,
        help=_("Your own table, with its columns, models, case and losses as you left them."),
        **on_click(lambda state: instead(state, replace(left, language=state.language))),
    )
