"""Which column is to be decided, and how many rows each of its classes has."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.runtime.escape import clean, md
from pages.runtime.state import State, page_link
from pages.runtime.widgets import control
from pages.views.data import columns
from pages.views.data.attempts import edited_or_refused, why_refused


def choose_target(table: active.TableInUse) -> None:
    """The choice of the target, and what was left out of the rows because of it."""
    names = [v.name for v in table.schema]
    target = table.schema.target
    position = names.index(target.name) if target else None
    st.selectbox(
        _("Target: what is to be decided"), range(len(names)), format_func=lambda j: clean(table.column(names[j])),
        placeholder=_("choose the column that holds the classes"),
        **control("target", position, _with_target),
    )  # fmt: skip
    why_refused("target")
    if isinstance(table, active.FittableTable):
        st.caption("  \n".join(note.local(md) for note in table.parts.notes))
        page_link("pages/model.py", _("Look at the model"), ":material/tune:")


def _with_target(state: State, position: int | None) -> State:
    if position is None:
        return state
    return edited_or_refused(state, lambda state: columns.with_role(state, position, "target"), "target")


def class_counts(table: active.TableInUse) -> None:
    if isinstance(table, active.UnfittableTable):
        return
    counts = table.parts.y.value_counts()
    shown = pd.DataFrame({"class": [clean(table.class_(c)) for c in table.classes],
                          "rows": [int(counts[c]) for c in table.classes]})  # fmt: skip
    st.dataframe(
        shown, hide_index=True, height=min(38 + 35 * len(shown), 282), alt=_("rows of each class"),
        column_config={
            "class": st.column_config.TextColumn(_("class"), width=80),
            "rows": st.column_config.ProgressColumn(_("rows"), format="%d", max_value=len(table.parts.y)),
        },
    )  # fmt: skip
