"""The order of a column's levels, and levels without a row."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import bound_to, current
from pages.views.data import columns
from pages.views.data.attempts import try_edit


def levels_editor(table: active.TableInUse) -> None:
    """The order of a column's levels, and levels without a row."""
    discrete = [j for j, v in enumerate(table.schema) if v.discrete]
    if not discrete:
        return
    names = [v.name for v in table.schema]
    with st.expander(_("Levels: their order, and levels that no row has yet"), icon=":material/reorder:"):
        column, level, new = st.columns([1, 2, 1], gap="medium", vertical_alignment="bottom")
        position = column.selectbox(_("Column"), discrete, format_func=lambda j: clean(table.column(names[j])),
                              **bound_to(keys.LEVELS_OF, current().seen_among(keys.LEVELS_OF, discrete, discrete[-1]),
                                         also=(keys.LEVEL_AT.to(0),)))  # fmt: skip
        variable = table.schema.variables[position]
        place = min(current().seen(keys.LEVEL_AT), len(variable.levels) - 1)
        with level:
            picked = st.selectbox(
                _("Level"), range(len(variable.levels)),
                format_func=lambda k: f"{k + 1} · {clean(table.level(variable.name, variable.levels[k]), 40)}",
                **bound_to(keys.LEVEL_AT, place),
            )  # fmt: skip
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
