"""Edits of the columns that may not be possible: what cannot stand is said, and what was on screen stays."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.runtime.escape import md
from pages.runtime.state import State, change, current
from pages.views.data.doctor import findings


def try_edit(edit: Callable[[State], State]) -> None:
    """For callbacks: change the state by an edit of the columns, unless it raises."""
    change(lambda state: edited_or_refused(state, edit))


def edited_or_refused(state: State, edit: Callable[[State], State]) -> State:
    """The state after an edit of the columns; where that raises, the state as it was, and why is said."""
    st.session_state["column_said"] = None
    try:
        return edit(state)
    except BayesEngineError as error:
        st.session_state["column_said"] = (findings.settings_judged(state), error.message)
        return state


def why_refused() -> None:
    """Why the last edit could not be, as long as nothing else was changed."""
    refusal = st.session_state.get("column_said")
    if refusal and refusal[0] == findings.settings_judged(current()):
        st.error(_("That cannot be: {why}. Nothing was changed.").format(why=refusal[1].local(md)))
