"""What is decided for the case, in one sentence above the drawings."""

from __future__ import annotations

import streamlit as st

from bayes_engine.decision.loss import Decision, decide_ledger
from bayes_engine.language import _
from bayes_engine.ledger import Ledger
from pages import active
from pages.active import words


def verdict(table: active.FittableTable, ledger: Ledger) -> Decision:
    """Say what is decided under the losses in use, or why there is no posterior to decide by."""
    decision = decide_ledger(ledger, active.case_losses(table))
    with st.container(key="settles_verdict"):
        if decision.position[0] < 0:
            st.warning(_("No posterior: {why}.").format(why=words.status(int(ledger.status[0]))))
        else:
            st.markdown(words.verdict(table, ledger, decision))
    return decision
