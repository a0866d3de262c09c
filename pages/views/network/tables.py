"""Tables: the conditional probabilities of a node, to be read and to be changed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.factors.cpt_edits import BadRow, Numbers, bad_rows, conditions, normalized, numbers_of, typed_number
from bayes_engine.factors.network import CPT
from bayes_engine.language import _
from bayes_engine.numerals import number
from pages.active import network_source as sources
from pages.active import predicting
from pages.active.network_source import Source
from pages.runtime import view_keys as keys
from pages.runtime.cache import content_key
from pages.runtime.escape import clean, md
from pages.runtime.state import change, on_click
from pages.runtime.widgets import sets, widget_message, within_limits
from pages.views.network.beliefs import beliefs_or_none, node_in_use, toggle
from pages.views.network.draw import Marks, beside_drawing, choose_node, draw

NAMED = 5
"""So many bad rows are named with a button each."""
PARENT, NUMBER, SUM = 80, 68, 52
"""Widths of the columns in pixels: so that tables of two parents are seen whole on a projector."""


def tables(source: Source) -> None:
    """The drawing, a node chosen in it, and that node's table."""
    node = node_in_use(source)
    evidence = sources.evidence(source)
    figure, side = beside_drawing(source, [11, 10], gap="small")
    with figure:
        draw(
            source,
            answer=beliefs_or_none(source, evidence) if predicting.shows("network/beliefs") else None,
            marks=Marks(nodes=dict.fromkeys(evidence, "evidence")),
            selected=node,
            on_node=lambda name: change(lambda s: s.showing(keys.NET_NODE.to(source.place(name)))),
            on_state=lambda name, level: toggle(source, name, level),
            label=_("Bayesian network: a click on a node opens its table"),
        )
    with side:
        _table(source, node)


def _table(source: Source, node: str) -> None:
    choose_node(_("Table of"), source, keys.NET_NODE, node)
    place = source.place(node)
    cpt = source.original.cpts[place]
    edits = dict(sources.cpt_edits(source.original))
    numbers = edits.get(place, numbers_of(cpt))
    _editor(source, cpt, numbers)
    for bad in (faulty := bad_rows(cpt, numbers))[:NAMED]:
        _bad(source, cpt, numbers, bad)
    if len(faulty) > NAMED:
        st.caption(_("… and {n} more rows.").format(n=len(faulty) - NAMED))
    if faulty:
        st.caption(_("Until every row sums to 1, all answers use this table as it was."))
    _resets(place, edits)
    _learned(source, cpt)


def _editor(source: Source, cpt: CPT, numbers: Numbers) -> None:
    """The table as a grid; what is typed goes into the state, and the grid is drawn anew from it."""
    size, above = cpt.p.shape[-1], [v.name for v in cpt.parents]
    rows = [list(numbers[k : k + size]) for k in range(0, len(numbers), size)]
    levels = [[clean(source.level(n, v), 40) for n, v in zip(above, g, strict=True)] for g in conditions(cpt)]
    frame = pd.DataFrame(
        [[*given, *(f"{v:.6g}" for v in row), f"{sum(row):.6g}"] for given, row in zip(levels, rows, strict=True)],
        columns=[*(f"g{j}" for j in range(len(above))), *(f"p{k}" for k in range(size)), "sum"],
    )
    config: dict[str, Any] = {
        f"g{j}": st.column_config.TextColumn(clean(source.name(n), 40), disabled=True, width=PARENT)
        for j, n in enumerate(above)
    }
    for k, level in enumerate(source.levels(cpt.name)):
        config[f"p{k}"] = st.column_config.TextColumn(clean(level, 40), required=True, max_chars=20, width=NUMBER)
    config["sum"] = st.column_config.TextColumn("Σ", disabled=True, width=SUM)
    turn = st.session_state.setdefault("net_cpt_turn", 0)  # a grid in which something was typed is never shown again
    key = f"net_cpt_{source.place(cpt.name)}_{content_key(numbers)}_{turn}"

    def edited() -> None:
        changed = list(numbers)
        st.session_state["net_cpt_turn"] = turn + 1
        for row, cells in (widget_message(key, "edited_rows") or {}).items():
            for column, value in cells.items():
                value = typed_number(str(value)) if column.startswith("p") else None
                if value is not None:  # what is no number leaves the cell as it was
                    changed[int(row) * size + int(column[1:])] = value
        change(lambda s: sources.with_cpt(s, source.place(cpt.name), tuple(changed)))

    given = ", ".join(md(source.name(n), 24) for n in above)
    own = md(source.name(cpt.name), 24)
    words = _("P({node} | {parents}): each row is a distribution.") if above else _("P({node}): one distribution.")
    how = _("Click a number and type another: 0.25, 1/4 or 25%.")
    st.caption(f"{words.format(node=own, parents=given)} {how}")
    st.data_editor(frame, column_config=config, hide_index=True, key=key, on_change=edited, num_rows="fixed")


def _bad(source: Source, cpt: CPT, numbers: Numbers, bad: BadRow) -> None:
    given = ", ".join(source.finding(v.name, x) for v, x in zip(cpt.parents, bad.given, strict=True))
    own = md(source.name(cpt.name), 24)
    row = f"P({own} | {given})" if given else f"P({own})"
    words = (
        _("{row} holds what is no probability of 0 and more.")
        if bad.wrong
        else _("{row} sums to **{total}**, not to 1.")
    )
    with st.container(border=True):
        st.markdown(":material/error: " + words.format(row=row, total=f"{bad.total:.6g}"))
        st.button(
            _("Normalize this row"),
            key=f"net_normalize_{bad.row}",
            help=_("Divide its numbers by their sum."),
            **on_click(lambda s, k=bad.row: sources.with_cpt(s, source.place(cpt.name), normalized(cpt, numbers, k))),
        )


def _resets(place: int, edits: dict[int, Numbers]) -> None:
    with st.container(horizontal=True, gap="small"):
        if place in edits:
            st.button(
                _("Reset this table"),
                icon=":material/restart_alt:",
                key="net_reset",
                **on_click(lambda s: sources.with_cpt(s, place, None)),
            )
        if len(edits) > (place in edits):
            st.button(
                _("Reset all {n} tables").format(n=len(edits)),
                key="net_reset_all",
                **sets(keys.NET_CPTS.to(())),
            )
    if edits and st.session_state.get("too_long"):
        st.caption(_("Your numbers are too many for the address; save the network as a file in the part *Exchange*."))
    elif edits:
        st.caption(_("Your numbers are in the address: Back undoes the last of them."))


def _learned(source: Source, cpt: CPT) -> None:
    """Where the numbers of a learned network are from."""
    if source.learned is None:
        return
    st.number_input(
        _("Pseudo-count of each cell, α"),
        step=0.5,
        help=_("The Dirichlet prior: (n + α)/(N + αS), eq. 7.20 within each row of the table."),
        width=240,
        **within_limits(keys.NET_ALPHA, also=(keys.NET_CPTS.to(()),)),
    )
    if source.learned.model.trace_ is not None:
        st.caption(_("Cells not known are completed by EM."))
    st.caption(_("{n} free numbers in this table.").format(n=number(cpt.free).split(".")[0]))
