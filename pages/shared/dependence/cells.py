"""The map of all pairs, and the list of them with their tests."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.figures.dependence import dependence_map
from bayes_engine.language import _
from bayes_engine.working.dependence import (
    LEVEL,
    Pair,
    clustered,
    map_of,
    strongest,
)
from pages.shared import data
from pages.shared.dependence.study import (
    Study,
    choosing,
    is_overall,
    order,
    silent,
)
from pages.shared.escape import clean, plotly_text
from pages.shared.state import change, dark, selected
from pages.shared.tables import clicked, high, select

MOST = 32
"""The map has room for so many columns."""


def draw_map(table: data.InUse, found: Study, chosen: Pair) -> None:
    overall = is_overall()
    names = strongest(found.pairs, found.names, MOST)
    if order() == "clustered":
        names = clustered(found.pairs, names, overall=overall)
    drawn = map_of(found.pairs, names, overall=overall)
    figure = dependence_map(
        drawn,
        [plotly_text(table.column(name), 22) for name in names],
        chosen=drawn.place(chosen.edge),
        dark=dark(),
    )
    key = "dependence_map"

    def pick() -> None:
        points = selected(key, "points")
        i, j = points[0]["customdata"] if points else (-1, -1)
        if 0 <= j < i < len(names):
            change(choosing(table, (names[i], names[j])))

    st.plotly_chart(
        figure,
        key=key,
        on_select=pick,
        selection_mode="points",
        config={"displayModeBar": False},
        alt=_("how much every two columns say of each other"),
    )
    said = [
        _(
            "Filled: dependent at the {level} level, by Holm's correction for {n} tests. Hollow: not shown to be."
        ).format(level=f"{100 * LEVEL:g} %", n=sum(p.of(overall).found.degrees > 0 for p in found.pairs))
    ]
    if len(names) < len(found.names):
        said.append(
            _("The {n} of {all} columns that the strongest pairs have; the list has all pairs.").format(
                n=len(names), all=len(found.names)
            )
        )
    st.caption(" ".join(said))
    silent(table, found)


def draw_list(table: data.InUse, found: Study, ordered: list[Pair], chosen: Pair) -> None:
    """All pairs with their tests; a click chooses one."""
    overall, key = is_overall(), "dependence_list"
    taken = {s.edge for s in found.growth.steps if s.taken}
    shown = [p.of(overall) for p in ordered]
    frame = pd.DataFrame(
        {
            "pair": [" – ".join(clean(table.column(n), 24) for n in p.edge) for p in ordered],
            "nats": [t.found.information for t in shown],
            "tree": [p.edge in taken for p in ordered],
            "holm": [t.holm for t in shown],
            "g": [t.found.statistic for t in shown],
            "df": [t.found.degrees for t in shown],
            "p": [t.found.p_value for t in shown],
        }
    )
    row = ordered.index(chosen)
    width = min(max(7 * max(len(p) + round(1.4 * sum(c > "⺀" for c in p)) for p in frame["pair"]), 130), 180)

    def pick() -> None:
        change(choosing(table, ordered[clicked(key, row)].edge))

    select(key, {"rows": [row], "cells": []})
    st.dataframe(
        frame,
        key=key,
        on_select=pick,
        selection_mode=["single-row-required", "single-cell"],
        hide_index=True,
        height=high(len(frame), 420),
        alt=_("all pairs with their tests"),
        column_config={
            "pair": st.column_config.TextColumn(_("pair"), width=width),
            "nats": st.column_config.NumberColumn(_("nats"), format="%.4f", width=60),
            "tree": st.column_config.CheckboxColumn(
                _("tree"), width=44, help=_("Whether it is an edge of the maximum spanning tree.")
            ),
            "holm": st.column_config.NumberColumn(
                _("p, Holm"), format="%.3g", width=88, help=_("The p-value corrected for so many tests.")
            ),
            "g": st.column_config.NumberColumn(
                "G", format="%.2f", width=72, help=_("2·n·I, n being the rows where both are known.")
            ),
            "df": st.column_config.NumberColumn("df", width=44, help=_("Degrees of freedom.")),
            "p": st.column_config.NumberColumn("p", format="%.3g", width=88),
        },
    )
