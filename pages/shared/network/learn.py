"""The tab *learn*: a structure searched for in the table in use, played step by step, and drawn by hand against it."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.numerals import count
from bayes_engine.structure.search import Search
from pages.shared import data
from pages.shared.escape import md
from pages.shared.network import learn_words as said
from pages.shared.network.learn_film import film
from pages.shared.network.learn_hand import by_hand
from pages.shared.network.learn_knobs import knobs
from pages.shared.network.learn_search import (
    AFFORDABLE,
    AT_ONCE,
    SEARCHED,
    Ground,
    Task,
    found,
    greedy,
    ground,
    optimum,
    scorer,
    task,
)
from pages.shared.network.source import Source
from pages.shared.ready import unfit
from pages.shared.router import go
from pages.shared.state import bound, current

VIEWS = ("search", "hand")


def learn(source: Source) -> None:
    """The tab, whichever network is chosen: what is learned is the table in use."""
    table = data.table_in_use()
    if table.parts is None:
        unfit(table)
        return
    try:
        here = ground(table)
    except BayesEngineError as error:
        st.error(error.message.local(md))
        go("pages/data.py", _("Change the columns on the page Data"), ":material/table:")
        return
    asked = task(here)
    _rows(here)
    knobs(here, asked)
    try:
        with st.spinner(_("Searching …"), show_time=True):
            result = found(here, asked)
            best = result if result.status == "optimum" else optimum(here, asked)
    except BayesEngineError as error:  # a knob forbids it: it can be turned back above
        st.error(error.message.local(md))
        return
    _answer(here, asked, result, best)
    names = {"search": _("the search, step by step"), "hand": _("by hand: beat the search")}
    view = current().seen("learn_view", "search")
    view = view if view in VIEWS else "search"
    st.segmented_control(
        _("Graph"),
        list(VIEWS),
        format_func=names.__getitem__,
        required=True,
        label_visibility="collapsed",
        **bound("learn_view", view, lambda s, v: s.showing(learn_view=v, learn_plays=False)),
    )
    if view == "search":
        film(here, asked, result, best, source)
    else:
        by_hand(here, asked, result, best, source)
    st.caption(said.formula(here, asked))


def _rows(here: Ground) -> None:
    """What is learned from, in a line."""
    counts = here.counts
    told = _("From the table in use, **{table}**: {n} rows, {d} columns, {y} among them.").format(
        table=md(here.table.title), n=count(counts.n), d=len(here.names), y=md(here.table.column(here.target), 40)
    )
    if counts.left_out:
        told += " " + _(
            "{n} rows with a missing cell count for no score, as scores are comparable over the same rows only; the "
            "tables are then estimated from all rows, by EM."
        ).format(n=counts.left_out)
    st.caption(told)


def _answer(here: Ground, asked: Task, result: Search, best: Search | None) -> None:
    """What was found, and whether it is the best there is."""
    short = said.in_short(asked.score)
    n = len(result.graph.arcs)
    head = _("By **{method}**: {n} arcs, {score} **{value}**.").format(
        method=said.method(asked.method), n=n, score=short, value=said.nats(result.score)
    )
    told = [head, said.ended(result)]
    if not n and asked.method in SEARCHED:
        told.append(_("No arc is worth its price here: each would cost more than it explains."))
    told += _compared(here, asked, result, best)
    (st.warning if result.status == "time" else st.markdown)(" ".join(told))
    if best is None and AT_ONCE < len(here.names) <= AFFORDABLE:
        st.toggle(
            _("Compute the optimum too"),
            help=_("By dynamic programming over sets of columns; it may take the whole of the seconds allowed."),
            **bound(
                "learn_optimum", current().seen("learn_optimum", False), lambda s, on: s.showing(learn_optimum=bool(on))
            ),
        )


def _compared(here: Ground, asked: Task, result: Search, best: Search | None) -> list[str]:
    """Did the greedy search find the optimum? In words."""
    tolerance = scorer(here, asked).tolerance
    if asked.method == "exact" and result.status == "optimum":
        climb = found(here, greedy(asked))
        lost = result.score - climb.score
        if lost <= tolerance:
            return [_("Did the greedy search find it? Yes: hill climbing ends at the same score.")]
        return [
            _("Did the greedy search find it? No: hill climbing ends at {value}, {nats} nats.").format(
                value=said.nats(climb.score), nats=said.gain(-lost)
            )
        ]
    if best is None:
        if len(here.names) > AFFORDABLE and asked.method in SEARCHED:
            text = _("Whether it is the best of all graphs cannot be checked: with {d} columns there are too many.")
            return [text.format(d=len(here.names))]
        return []
    lost = best.score - result.score
    if asked.method in ("hill-climb", "k2"):
        if lost <= tolerance:
            return [_("Did the greedy search find the optimum? Yes: no graph scores higher.")]
        return [
            _("Did the greedy search find the optimum? No: the best graph scores {value}, {nats} nats more.").format(
                value=said.nats(best.score), nats=said.gain(lost)
            )
        ]
    if lost < -tolerance:  # the arcs of a fixed structure need not keep to the constraints
        return [_("The best graph that keeps to the bound on parents scores {value}.").format(
            value=said.nats(best.score))]  # fmt: skip
    return [_("The best of all graphs scores {value}, {nats} nats more.").format(
        value=said.nats(best.score), nats=said.gain(lost))]  # fmt: skip
