"""The order of a column's levels, and levels without a row."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import select
from pages.views.data import columns
from pages.views.data.attempts import try_edit


def levels_editor(table: active.TableInUse) -> None:
    """The order of a column's levels, and levels without a row."""
    discrete = {j: clean(table.column(v.name)) for j, v in enumerate(table.schema) if v.discrete}
    if not discrete:
        return
    with st.expander(_("Levels: their order, and levels that no row has yet"), icon=":material/reorder:"):
        column, level, new = st.columns([1, 2, 1], gap="medium", vertical_alignment="bottom")
        with column:
            first = (keys.LEVEL_AT.to(0),)
            position = select(_("Column"), keys.LEVELS_OF, discrete, otherwise=list(discrete)[-1], also=first)
        variable = table.schema.variables[position]
        levels = {k: f"{k + 1} · {clean(table.level(variable.name, v), 40)}" for k, v in enumerate(variable.levels)}
        with level:
            picked = select(_("Level"), keys.LEVEL_AT, levels, otherwise=len(levels) - 1)
        with new:
            st.text_input(_("New level"), key="new_level", placeholder=_("its name"),
                          on_change=_add, args=(position, variable.levels))  # fmt: skip
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            for step, label, icon in ((-1, _("Earlier"), "arrow_upward"), (1, _("Later"), "arrow_downward")):
                there = picked + step
                st.button(label, icon=f":material/{icon}:", key=f"level_{step}",
                          disabled=not 0 <= there < len(variable.levels),
                          on_click=_move, args=(position, variable.levels, picked, there))  # fmt: skip
            order = " → ".join(md(table.level(variable.name, v), 24) for v in variable.levels[:12])
            st.caption(order + (" → …" if len(variable.levels) > 12 else ""))


def _move(position: int, levels: tuple[Any, ...], here: int, there: int) -> None:
    moved = list(levels)
    moved.insert(there, moved.pop(here))
    try_edit(lambda state: columns.with_levels(state, position, tuple(moved)).showing(keys.LEVEL_AT.to(there)))


def _add(position: int, levels: tuple[Any, ...]) -> None:
    name = str(st.session_state.get("new_level", "")).strip()
    st.session_state["new_level"] = ""
    if name and name not in map(str, levels):
        try_edit(lambda state: columns.with_levels(state, position, (*levels, name)))
