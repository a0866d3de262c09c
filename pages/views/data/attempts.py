"""Edits that may not be possible: what cannot stand is said where it was tried, and what was on screen stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.runtime.escape import md
from pages.runtime.listed_buttons import table_of
from pages.runtime.state import State, change, current

Where = Literal["column", "mend", "target"]
"""Among the columns, with the doctor, or at the choice of the target."""


def try_edit(edit: Callable[[State], State]) -> None:
    """For callbacks: change the state by an edit of the table, unless it raises."""
    change(lambda state: edited_or_refused(state, edit))


def edited_or_refused(state: State, edit: Callable[[State], State], where: Where = "column") -> State:
    """The state after an edit of the table; where that raises, the state as it was, and why is said."""
    st.session_state[f"{where}_said"] = None
    try:
        return edit(state)
    except BayesEngineError as error:
        st.session_state[f"{where}_said"] = (table_of(state), error.message)
        return state


def why_refused(where: Where = "column") -> None:
    """Why the last edit there could not be, as long as nothing else was changed."""
    refusal = st.session_state.get(f"{where}_said")
    if refusal and refusal[0] == table_of(current()):
        st.error(_("That cannot be: {why}. Nothing was changed.").format(why=refusal[1].local(md)))
