"""The search played: the graph at a step, its score by families, the moves that were not taken, the climb."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.structure.graph import DAG, Arc
from bayes_engine.structure.scores import Move
from bayes_engine.structure.search import SearchResult
from bayes_engine.workbench.figures.graph_layout import Places, circle, layered
from bayes_engine.workbench.figures.network import score_curve
from pages.active import units
from pages.active.network_source import Source
from pages.components.chart import chart
from pages.components.film import film_bar, film_frame, step_shown
from pages.components.graph import Edge, EdgeTone, Node, graph
from pages.components.tables import column, grid, table_height
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import dark
from pages.views.network import learn_words
from pages.views.network.learn_search import LearningData, SearchTask, decomposed_score_of, scorer
from pages.views.network.learn_use import use_buttons

PACE = 1.0
"""Seconds between two steps."""
ROUND = 9
"""Up to so many columns stand in a ring while a graph is drawn by hand."""
BESIDE = 12
"""Up to so many columns the score by families stands beside the drawing."""
LISTED = 388
"""The table of the steps is at most so many pixels high."""


def film(
    here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, source: Source
) -> None:
    """The search at a step, with its player; where it plays, steps follow each other."""
    film_frame(lambda: _frame(here, asked, result, best, source), keys.LEARN_PLAYS)


def _frame(
    here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, source: Source
) -> None:
    last = len(result.trace.steps)
    step = step_shown(keys.LEARN_STEP, last)
    drawn, parts, climb = layout_columns(here)
    with drawn:
        film_bar(step, last, key="learn_bar", step_key=keys.LEARN_STEP, plays=keys.LEARN_PLAYS, pace=PACE)
        st.markdown(_step_in_words(here, asked, result, step))
        nodes, edges = _drawn(here, asked, result, step)
        graph(
            nodes, edges, key="learn_film", height=drawing_height(here), label=_("the graph at this step of the search")
        )
        use_buttons(here, asked, result.trace.graph_after(step), source, by_hand=False)
    with parts:
        _score_by_families(here, asked, result, step)
    with climb:
        _climb(here, asked, result, best, step)
    _steps(here, result)


def drawing_height(here: LearningData) -> int | None:
    """At most so many pixels for the drawing; one that takes the whole width is as high as it needs."""
    return 560 if len(here.names) <= BESIDE else None


def layout_columns(here: LearningData) -> tuple[Any, Any, Any]:
    """Where the drawing stands and what is beside it; of many columns it takes the whole width, the rest beneath."""
    if len(here.names) > BESIDE:
        return st.container(), *st.columns(2, gap="medium")
    drawn, beside = st.columns([6, 5], gap="medium")
    return drawn, beside, beside


def _step_in_words(here: LearningData, asked: SearchTask, result: SearchResult, step: int) -> str:
    trace = result.trace
    if not step:
        n = len(trace.start.arcs)
        if asked.start and n:
            return _("The start: your graph, {n} arcs, score {value}.").format(
                n=n, value=learn_words.score_value(trace.start_score)
            )
        return _("The start: {n} arcs, score {value}.").format(n=n, value=learn_words.score_value(trace.start_score))
    now = trace.steps[step - 1]
    sentence = _("Step {k} of {n}: **{move}**, {gain}; score {value}.").format(
        k=step,
        n=len(trace.steps),
        move=md(learn_words.move_text(here, now.move), 80),
        gain=learn_words.gain_with_unit(now.delta),
        value=learn_words.score_value(now.score),
    )
    if now.ties:
        sentence += " " + _("Other moves that gained the same: {n}.").format(n=now.ties)
    if now.delta < 0 and result.status != "given":
        sentence += " " + _(
            "No move improves the score here; the search takes a few more steps, in case it rises again."
        )
    return sentence


def _score_by_families(here: LearningData, asked: SearchTask, result: SearchResult, step: int) -> None:
    """The score of the step by families, and the moves that would have been next; at the start that of its graph."""
    if not step:
        st.markdown(f"**{_('The score of the start, by families')}**")
        learn_words.family_table(here, decomposed_score_of(here, asked, result.trace.start))
        return
    now = result.trace.steps[step - 1]
    st.markdown(f"**{_('What this step changes, by families')}**")
    learn_words.change_table(here, now.families)
    if now.runners_up:
        st.markdown(f"**{_('Moves that were not taken')}**")
        move_table(here, [(c.move, c.delta) for c in now.runners_up], key="learn_runners_up")


def move_table(here: LearningData, listed: Iterable[tuple[Move, float]], *, key: str) -> None:
    moves, gains = zip(
        *((clean(learn_words.move_text(here, m), 80), learn_words.gain(v)) for m, v in listed), strict=True
    )
    grid(
        {
            "move": column(_("move"), moves),
            "gain": column(_("gain, {unit}").format(unit=units.evidence_unit()), gains, width=110, right=True),
        },
        key=key,
        alt=_("moves and what they gain"),
    )


def _climb(here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, step: int) -> None:
    """The score after every step."""
    trace = result.trace
    if not trace.steps:
        return
    labels = [plotly_text(learn_words.move_text(here, s.move), 60) for s in trace.steps]
    top = best.score if best is not None and best.status == "optimum" else None
    chart(
        score_curve(trace, labels, step=step, best=top, bits=units.in_bits(), dark=dark()),
        key="learn_climb",
        alt=_("the score climbing"),
    )


def _steps(here: LearningData, result: SearchResult) -> None:
    """Every step in a table; the climbs, where there were several."""
    trace = result.trace
    if not trace.steps:
        return
    with st.expander(_("All steps")):
        frame = pd.DataFrame([
            {"step": k, "move": clean(learn_words.move_text(here, step.move), 80), "delta": units.evidence(step.delta),
             "score": units.evidence(step.score), "ties": step.ties}
            for k, step in enumerate(trace.steps, start=1)
        ])  # fmt: skip
        number = st.column_config.NumberColumn
        st.dataframe(
            frame,
            key="learn_steps",
            hide_index=True,
            height=table_height(len(frame), LISTED),
            alt=_("all steps of the search"),
            column_config={
                "step": number(_("step"), width=60),
                "move": st.column_config.TextColumn(_("move")),
                "delta": number(_("gain, {unit}").format(unit=units.evidence_unit()), format="%.4f"),
                "score": number(_("score, {unit}").format(unit=units.evidence_unit()), format="%.4f"),
                "ties": number(_("tied with"), width=80),
            },
        )
        if len(result.climbs) > 1:
            st.caption(
                _("Climbs ended at: {scores}. The best of them is shown.").format(
                    scores="; ".join(learn_words.score_value(v) for v in result.climbs)
                )
            )


# drawing ----------------------------------------------------------------------------------------------------------


def _drawn(here: LearningData, asked: SearchTask, result: SearchResult, step: int) -> tuple[list[Node], list[Edge]]:
    """Nodes and edges at a step, where the final graph has them; the arc just changed stands out."""
    trace = result.trace
    places = _layered(here.names, trace.graph_after(len(trace.steps)).arcs)
    now = trace.graph_after(step)
    move = trace.steps[step - 1].move if step else None
    edges = arcs(here, asked, now, _fresh(move))
    if move is not None and move.operation == "delete":
        position = here.position
        edges.append(Edge(str(position[move.parent]), str(position[move.child]), tone="rejected"))
    return nodes_of(here, places), edges


def _fresh(move: Move | None) -> Arc | None:
    """The arc that a move left new."""
    if move is None or move.operation == "delete":
        return None
    return (move.child, move.parent) if move.operation == "reverse" else move.arc


def nodes_of(here: LearningData, places: Places) -> list[Node]:
    """The columns at their places; the class stands out."""
    return [
        Node(str(i), here.table.column(name), *places[name], tone="class" if name == here.target else "")
        for i, name in enumerate(here.names)
    ]


def arcs(here: LearningData, asked: SearchTask, now: DAG, fresh: Arc | None = None) -> list[Edge]:
    """The arcs of a graph, the wider the more the score would lose without one."""
    judge, position = scorer(here, asked), here.position
    worth = {}
    for a, b in now.arcs:
        without = [p for p in now.parents[b] if p != a]
        worth[a, b] = max(judge.family(b, now.parents[b]).score - judge.family(b, without).score, 0.0)
    most = max(worth.values(), default=0.0) or 1.0

    def tone(arc: Arc) -> EdgeTone:
        return "new" if arc == fresh else ""

    def width(w: float) -> float:
        return float((w / most) ** 0.5 * 0.8)

    return [Edge(str(position[a]), str(position[b]), "", width(w), True, tone((a, b))) for (a, b), w in worth.items()]


def places_by_hand(here: LearningData, now: DAG) -> Places:
    """Few columns in a ring, where they stay whatever is drawn; many in the layers of their graph."""
    return circle(here.names) if len(here.names) <= ROUND else _layered(here.names, now.arcs)


@cached(max_entries=64)
def _layered(names: tuple[str, ...], arcs: tuple[Arc, ...]) -> Places:
    return layered(names, arcs)
