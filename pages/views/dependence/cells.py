"""The map of all pairs, and the list of them with their tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import count, number, p_value
from bayes_engine.workbench.derivation.contingency import SPARSE
from bayes_engine.workbench.derivation.dependence import LEVEL, Pair, clustered, map_of, strongest
from bayes_engine.workbench.figures.dependence import ROOMY, dependence_map
from pages import active
from pages.active import units
from pages.components.chart import chart
from pages.components.tables import Choice, Head, word_table
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, plotly_text
from pages.runtime.state import change, current, dark
from pages.views.dependence.dependences import Dependences, columns_left_out, is_overall, with_pair

MOST = 32
"""The map has room for so many columns."""


def draw_map(table: active.FittableTable, dependences: Dependences, chosen: Pair) -> None:
    overall = is_overall()
    names = strongest(dependences.pairs, dependences.names, MOST)
    if current().seen(keys.DEPENDENCE_ORDER) == "clustered":
        names = clustered(dependences.pairs, names, overall=overall)
    drawn = map_of(dependences.pairs, names, overall=overall)
    figure = dependence_map(
        drawn,
        [plotly_text(table.column(name), 22) for name in names],
        chosen=drawn.place(chosen.edge),
        bits=units.in_bits(),
        dark=dark(),
    )

    def pick(point: Mapping[str, Any]) -> None:
        i, j = point["customdata"]
        if 0 <= j < i < len(names):
            change(with_pair(table, (names[i], names[j])))

    chart(figure, key="dependence_map", alt=_("how informative every two columns are about each other"), on_pick=pick)
    tests = sum(p.of(overall).dependence.degrees > 0 for p in dependences.pairs)
    filled = (
        _("Filled: dependent at the {level} level. Hollow: not shown to be.")
        if tests == 1
        else _("Filled: dependent at the {level} level, by Holm's correction for {n} tests. Hollow: not shown to be.")
    )
    meaning = (
        _("A cell is the mutual information of two columns over all rows.")
        if overall
        else _(
            "A cell is the conditional mutual information of two columns given the class: under naive Bayes' attribute "
            "conditional independence it would be 0."
        )
    )
    lines = [
        meaning,
        filled.format(level=f"{100 * LEVEL:g}%", n=tests),
        _by_chance(dependences, written=len(names) <= ROOMY, overall=overall),
    ]
    if len(names) < len(dependences.names):
        lines.append(
            _("The {n} of {all} columns that the strongest pairs have; the list has all pairs.").format(
                n=len(names), all=len(dependences.names)
            )
        )
    st.caption(" ".join(lines))
    columns_left_out(table, dependences)


def _by_chance(dependences: Dependences, *, written: bool, overall: bool) -> str:
    """What the pairs come to by chance, from the least to the most, and where that is `written`."""
    chance = [units.evidence(p.of(overall).chance) for p in dependences.pairs]
    place = _("In brackets") if written else _("On hover")
    sentence = (
        _("{place}: what a pair comes to by chance on average, its columns shuffled; here {values} {unit}.")
        if overall
        else _("{place}: what a pair comes to by chance on average, its columns shuffled within each class; here "
               "{values} {unit}.")
    )  # fmt: skip
    low, high = number(min(chance), 3), number(max(chance), 3)
    values = low if low == high else _("{low} to {high}").format(low=low, high=high)
    return sentence.format(place=place, values=values, unit=units.evidence_unit())


def draw_list(table: active.FittableTable, dependences: Dependences, ordered: list[Pair], chosen: Pair) -> None:
    """All pairs with their tests; a click chooses one."""
    overall = is_overall()
    taken = {s.edge for s in dependences.growth.steps if s.taken}
    shown = [p.of(overall) for p in ordered]

    def choose(row: int, _column: int) -> None:
        change(with_pair(table, ordered[row].edge))

    word_table(
        [
            Head(_("pair")),
            Head(units.evidence_unit(), width=60, right=True),
            Head(_("by chance"), _("On average, with the columns shuffled within each class."), width=80, right=True),
            Head(_("p, Holm"), _("The p-value corrected for so many tests."), width=78, right=True),
            Head(_("tree"), _("Whether it is an edge of the maximum spanning tree."), width=40, spare=True),
            Head("G", _("2·n·I, n being the rows where both are known."), width=72, right=True, spare=True),
            Head("df", _("Degrees of freedom."), width=42, right=True, spare=True),
            Head(
                "p",
                _(
                    "Over all tables with the same margins, or from tables drawn with them, where fewer than {n} rows "
                    "are expected in a cell; else by χ²."
                ).format(n=count(SPARSE)),
                width=74,
                right=True,
                spare=True,
            ),
        ],
        [
            [
                " – ".join(clean(table.column(n), 24) for n in p.edge),
                f"{units.evidence(t.dependence.information):.4f}",
                f"{units.evidence(t.chance):.4f}",
                p_value(t.holm, is_bound=t.is_bound),
                "✓" if p.edge in taken else "",
                f"{t.dependence.statistic:.2f}",
                str(t.dependence.degrees),
                p_value(t.p, is_bound=t.is_bound),
            ]
            for p, t in zip(ordered, shown, strict=True)
        ],
        key="dependence_list",
        label=_("all pairs with their tests"),
        height=420,
        choice=Choice(by="row", chosen=(ordered.index(chosen), 0), on_choice=choose),
    )
