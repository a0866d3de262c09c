"""What more is asked of the projection, one question at a time."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.runtime.state import bound, current
from pages.views.projection import discriminants
from pages.views.projection.equivalence import equivalence
from pages.views.projection.projection import numeric_columns, tried


def sections(table: active.InUse, pair: tuple[str, str]) -> None:
    """The questions that this table allows; `pair` are the columns looked at."""
    titles = {"demo": _("Fisher = LDA = Bayes?"), "dial": _("LDA ↔ QDA"), "naive": _("Before naive Bayes")}
    if len(table.classes) > 2:
        titles = {"planes": _("All columns on two directions"), **titles}
    first = next(iter(titles))
    section = current().seen("section", first)
    section = section if section in titles else first
    st.segmented_control(
        _("Look further"),
        list(titles),
        format_func=titles.__getitem__,
        required=True,
        **bound("section", section, lambda s, name: s.showing(section=name)),
    )
    names = tuple(v.name for v in numeric_columns(table))
    if section == "demo":
        equivalence()
    elif section == "planes":
        tried(lambda: discriminants.on_planes(table, names))
    elif section == "dial":
        tried(lambda: discriminants.dial(table, pair, names))
    else:
        tried(lambda: discriminants.before_naive(table, names))
