"""What is said above the page of work on all rows that was ended in the middle: how far it is, and the way on."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.incoming.unfinished import Unfinished
from pages.active import unfinished
from pages.runtime.escape import md

PAGES = ("start", "data", "model", "classify")
"""The pages that say it."""


def notice(page: str) -> None:
    """On one's own computer: what was left unfinished, with buttons to go on and to leave it."""
    if page not in PAGES:
        return
    for work, rows in unfinished.offered():
        _notice(work, rows)
    if (why := st.session_state.get("unfinished_said")) is not None:
        st.error(_("It cannot be gone on with: {why}.").format(why=why.local(md)))


def _notice(work: Unfinished, rows: int) -> None:
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"unfinished_{work.name[:8]}"
    ):
        st.markdown(f":material/hourglass_pause: {_sentence(work, rows)}", width="stretch")
        if work.is_as_it_was and not unfinished.needs_table(work):
            st.button(
                _("Go on"), key=f"unfinished_go_{work.name[:8]}", icon=":material/play_arrow:", type="primary",
                on_click=unfinished.go_on, args=(work,),
                help=_("The table, the models and the losses are taken as they were then. The result is, to the last "
                       "digit, that of a run without a break."),
            )  # fmt: skip
        st.button(
            _("Discard"), key=f"unfinished_not_{work.name[:8]}", icon=":material/delete:", type="tertiary",
            on_click=unfinished.discard, args=(work,),
        )  # fmt: skip


def _sentence(work: Unfinished, rows: int) -> str:
    what = {
        "fit": _("**Unfinished**: a model was being fitted to all rows of {file}."),
        "judge": _("**Unfinished**: a model was being judged on all rows of {file}."),
        "classify": _("**Unfinished**: all rows of {file} were being classified."),
    }[work.what].format(file=md(work.file, 60))
    if not work.is_as_it_was:
        return f"{what} {_('The file has changed since, so it has to be begun again.')}"
    if work.what == "classify":
        far = _("{n} of {all} rows are written.") if work.rows else _("{n} rows are written.")
    else:
        far = _("In the pass that was under way {n} of {all} rows are counted.")
    far = far.format(n=f"{rows:,}", all=f"{work.rows:,}")
    if unfinished.needs_table(work):
        return f"{what} {far} {_('Reopen the workspace with its table; then it can go on.')}"
    return f"{what} {far}"
