"""A row is taken away and put back: which counts change, and where the posterior of the case goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.numerals import count, plain
from bayes_engine.table.roles import put
from bayes_engine.workbench.derivation.modes_of_use import (
    Without,
    each_without,
    moved_numbers,
    posterior_of,
    without_rows,
)
from pages import active
from pages.components.tables import with_screen_names
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean
from pages.runtime.state import current, on_click
from pages.runtime.widgets import control
from pages.views.model.modes_of_use.comparison import posteriors

MOST = 20
"""So many rows are taken away at once, at most."""
HIGH = 420
"""Height of the list of counts in pixels."""


def rows_come_and_go(table: active.FittableTable, fitted: active.Fitted, *, three: bool) -> None:
    """Rows to take away and put back; `three` says whether the other two ways are there to compare. Raises what the
    model raises for the case."""
    parts, away = table.parts, removed_rows(table)
    st.subheader(_("Remove a row and put it back"))
    choice, effect = st.columns([1, 2], gap="medium")
    with choice:
        _choose(table, away)
    values = active.case_values(table)
    case = active.case_frame(table, values)
    less = without_rows(fitted.model, parts.X, parts.y, list(away), parts.weight) if away else fitted.model
    with effect:
        lines: list[tuple[str, Any]] = [(_("as fitted, with all rows"), posterior_of(fitted.model, case))]
        if away and three:
            each = _each(fitted, away, values, table)
            lines += [
                (_("incremental: the counts less theirs"), each.incremental),
                (_("lazy: the rows that are left"), each.lazy),
                (_("look-up table, compiled anew"), each.compiled),
                (_("look-up table, compiled before"), each.stale),
            ]
        elif away:
            lines.append((_("incremental: the counts less theirs"), posterior_of(less, case)))
        posteriors(table, fitted, lines, key="ways_moved", wide=214)
        if not away:
            st.caption(
                _("Take a row away: the counts of its own values fall by its weight, and no others are touched.")
            )
            return
        st.caption(
            _("A table compiled before knows nothing of it: it has no counts, and must be made anew.")
            if three
            else _("Listed is what is counted column by column; what is counted of several columns falls likewise.")
        )
        _numbers(table, moved_numbers(fitted.model.stats_, less.stats_))


@cached(max_entries=64)
def _each(
    fitted: active.Fitted, away: tuple[int, ...], case: Mapping[str, Any], _table: active.FittableTable
) -> Without:
    parts = _table.parts
    assert isinstance(fitted.model, NaiveBayes)
    return each_without(fitted.model, parts.X, parts.y, away, active.case_frame(_table, case), parts.weight)


def removed_rows(table: active.FittableTable) -> tuple[int, ...]:
    """The rows that are away, by their places among the table's rows; one row at least stays."""
    known = [index for index in current().seen(keys.AWAY) if index < len(table.parts.X)]
    return tuple(dict.fromkeys(known))[: min(MOST, len(table.parts.X) - 1)]


def _choose(table: active.FittableTable, away: tuple[int, ...]) -> None:
    parts = table.parts
    here = current().seen_among(keys.AWAY_ROW, range(len(parts.X)), current().row)
    place = {int(row) + 1: index for index, row in enumerate(parts.rows)}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            _("Row"),
            1,
            max(place),
            step=1,
            width=120,
            **control(
                keys.AWAY_ROW.widget,
                int(parts.rows[here]) + 1,
                lambda s, n: s.showing(keys.AWAY_ROW.to(_nearest(place, int(n or 1)))),
            ),
        )
        st.button(
            _("Take away"),
            icon=":material/remove:",
            key="away_take",
            disabled=here in away or len(away) >= min(MOST, len(parts.X) - 1),
            **on_click(lambda s: s.showing(keys.AWAY.to((*away, here)))),
        )
        st.button(
            _("Put back"),
            icon=":material/add:",
            key="away_back",
            disabled=here not in away,
            **on_click(lambda s: s.showing(keys.AWAY.to(tuple(index for index in away if index != here)))),
        )
    rows = list(dict.fromkeys([here, *away]))
    whole = put(parts.X.iloc[rows], {parts.target.name: parts.y.iloc[rows]})
    numbers = [int(parts.rows[index]) + 1 for index in rows]
    shown = with_screen_names(table, whole.set_axis(numbers, axis=0)).T
    state = [_("away") if index in away else _("counted") for index in rows]
    listed = pd.DataFrame([state, *shown.astype(object).to_numpy().tolist()], columns=[str(n) for n in numbers])
    listed.insert(0, "name", ["", *(clean(name, 40) for name in shown.index)])
    st.dataframe(
        listed.astype(object).map(lambda v: _("missing") if pd.isna(v) else clean(v, 40)),
        key="away_rows",
        hide_index=True,
        height=min(38 + 35 * len(listed), HIGH),
        alt=_("the row, and those that are away"),
        column_config={
            "name": st.column_config.TextColumn(_("column"), pinned=True),
            **{str(n): st.column_config.TextColumn(_("row {n}").format(n=n)) for n in numbers},
        },
    )


def _nearest(place: dict[int, int], number: int) -> int:
    """The place of a row by its number; a row without a class was never counted, and its nearest neighbour is meant."""
    return place[min(place, key=lambda n: abs(n - number))]


def _numbers(table: active.FittableTable, compared: pd.DataFrame) -> None:
    """The counts and moments that changed."""
    entries = {
        "missing": _("missing"),
        "n": _("rows with a number"),
        "mean": _("mean"),
        "squares": _("sum of squares about it"),
    }
    cut = {v.name for v in table.features if v.numeric}
    shown = pd.DataFrame(
        {
            _("column"): [clean(table.column(name or table.target.name), 40) for name in compared["column"]],
            _("what is counted"): [
                entries.get(entry)
                or (_("rows") if name is None else clean(str(level) if name in cut else table.level(name, level), 40))
                for name, entry, level in zip(compared["column"], compared["entry"], compared["level"], strict=True)
            ],
            _("class"): [clean(table.class_(c), 40) for c in compared["class"]],
            **{
                head: [
                    plain(v) if e in ("mean", "squares") else count(v)
                    for e, v in zip(compared["entry"], compared[when], strict=True)
                ]
                for when, head in {"before": _("before"), "after": _("after")}.items()
            },
        }
    )
    st.dataframe(
        shown,
        key="ways_counts",
        hide_index=True,
        height=min(38 + 35 * max(len(shown), 1), HIGH),
        alt=_("the counts that changed"),
    )
