"""The drawing of the page: the network in layers, every node with its bars, and what a part of the page marks in it;
where it stands, and the choice of a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import streamlit as st

from bayes_engine.inference.beliefs import Beliefs
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.language import _, current_language
from bayes_engine.structure.graph import Arc
from bayes_engine.workbench.figures.graph_layout import Places, layered
from bayes_engine.workbench.figures.network import BELIEF, SEEN
from bayes_engine.workbench.figures.theme import CLASS_COLOURS
from pages.active.network_source import Source, title_of
from pages.components.graph import Bar, Click, Clicking, Edge, EdgeTone, Kind, Node, NodeTone, graph
from pages.runtime.cache import cached
from pages.runtime.escape import clean
from pages.runtime.view_keys import ViewKey
from pages.runtime.widgets import bound_to

WIDE = 12
"""A network of more nodes takes the whole width of the page."""
BARS, BARS_OF_MANY = 6, 4
"""So many levels of a node are drawn, the most probable; in a network of more than `WIDE` nodes fewer."""

MOST_CELLS = 200_000
"""Cells of all tables of a junction tree that a saved file works with; a click takes a browser some 0.1 s then."""


class Marks(NamedTuple):
    """What is marked: tones and second lines of nodes, tones of arcs; `extra` edges have no direction, `undirected`
    arcs lose theirs."""

    nodes: Mapping[str, NodeTone] = {}
    subs: Mapping[str, str] = {}
    arcs: Mapping[Arc, EdgeTone] = {}
    extra: Collection[Arc] = ()
    undirected: Collection[Arc] = ()
    hidden: Collection[Arc] = ()


def is_wide(source: Source) -> bool:
    """Whether the drawing needs the whole width."""
    return len(source.network.names) > WIDE


def draw(
    source: Source,
    *,
    answer: Beliefs | None = None,
    target: str = "",
    marks: Marks = Marks(),  # noqa: B008  (a tuple)
    selected: str | None = None,
    on_node: Callable[[str], object] | None = None,
    on_state: Callable[[str, int], object] | None = None,
    label: str,
) -> None:
    """Draw the network; with an `answer` every node shows its bars, those of the `target` in the colours of classes.
    The callbacks get a node's name, and the position of a level."""
    network = source.network
    places = layout_of(source)
    shown = {name: shown_levels(source, name, answer) for name in network.names} if answer is not None else {}

    def bars_of(name: str) -> tuple[Bar, ...]:
        return () if answer is None else tuple(_bar(source, name, k, answer, name == target) for k in shown[name])

    def node(name: str) -> Node:
        x, y = places[name]
        bars = bars_of(name)
        left_out = len(network[name].variable.levels) - len(bars)
        more = f"+{left_out}" if bars and left_out else ""
        tone = marks.nodes.get(name, "")
        return Node(name, source.name(name), x, y, marks.subs.get(name, more), bars, tone)

    def edge(ends: Arc, otherwise: EdgeTone, directed: bool) -> Edge:
        tone = marks.arcs.get(ends, otherwise)
        return Edge(*ends, "", 0.45 if tone == "lit" else 0.08, directed, tone)

    def clicked(event: Click) -> None:
        if event[0] == "state" and on_state is not None:
            on_state(event[1], shown[event[1]][event[2]])
        elif event[0] == "node" and on_node is not None:
            on_node(event[1])

    clicks: set[Kind] = set()
    if on_node is not None:
        clicks.add("node")
    if on_state is not None and answer is not None:
        clicks.add("state")
    graph(
        [node(name) for name in network.names],
        [
            *(edge(arc, "", arc not in marks.undirected) for arc in network.graph.arcs if arc not in marks.hidden),
            *(edge(pair, "married", False) for pair in marks.extra),
        ],
        key="net_graph",
        zoom=1.0 if is_wide(source) else 1.2,
        selected=selected,
        clicking=Clicking(clicked, clicks),
        label=label,
    )


def shown_levels(source: Source, name: str, answer: Beliefs) -> tuple[int, ...]:
    """The levels of a node that are drawn, in their order: all, or the most probable before or after the findings."""
    prior = answer.prior[name]
    most = BARS_OF_MANY if is_wide(source) else BARS
    if len(prior) <= most:
        return tuple(range(len(prior)))
    now = answer.posterior.get(name, prior)
    levels = source.network[name].variable.levels
    seen = answer.evidence.get(name)
    ranked = sorted(range(len(prior)), key=lambda k: (levels[k] != seen, -max(prior[k], now[k]), k))
    return tuple(sorted(ranked[:most]))


def _bar(source: Source, name: str, k: int, answer: Beliefs, of_target: bool) -> Bar:
    prior = answer.prior[name][k]
    now = answer.posterior[name][k] if answer.possible else prior
    seen = name in answer.evidence and answer.evidence[name] == source.network[name].variable.levels[k]
    level = source.level(name, source.network[name].variable.levels[k])
    before = prior if answer.evidence and answer.possible else None
    observed = name in answer.evidence
    colour = SEEN if observed else CLASS_COLOURS[k % len(CLASS_COLOURS)] if of_target else BELIEF
    return Bar(level, now, colour, seen, before)


@cached(max_entries=64)
def layout_of(source: Source) -> Places:
    """Where the nodes stand: in layers."""
    return layered(source.network.names, source.network.graph.arcs)


def beside_drawing(source: Source, widths: Sequence[int], gap: Literal["small", "large"] = "large") -> tuple[Any, Any]:
    """The place of the drawing, and that of what is asked beside it; above one that takes the whole width."""
    if is_wide(source):
        side = st.container()
        return st.container(), side
    figure, side = st.columns(widths, gap=gap)
    return figure, side


def choose_node(
    label: str,
    source: Source,
    key: ViewKey[int],
    node: str,
    *,
    among: Sequence[str] = (),
    about: str | None = None,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """The choice of a node, of all or `among` some."""
    names = source.network.names
    st.selectbox(
        label,
        [source.place(name) for name in among or names],
        format_func=lambda j: clean(source.name(names[j]), 40),
        help=about,
        width=width,
        **bound_to(key, source.place(node)),
    )


def taken_along(source: Source, evidence: Mapping[str, Any], target: str) -> dict[str, Any]:
    """What a saved file needs to answer a click in the drawing: the tables, None where exact inference is too much for
    a browser; the findings and the query node; names, colours and words."""
    network = source.network
    possible = junction_tree(network).cost.cells <= MOST_CELLS
    tables = [
        {"scope": [network.position[name] for name in cpt.scope], "values": cpt.p.reshape(-1).tolist()}
        for cpt in network.cpts
    ]
    levels = [list(network[name].variable.levels) for name in network.names]
    stored = source.stored
    return {
        "of": clean(title_of(source.id), 80),
        "data": ""
        if stored is None
        else _("Data: {source}. Licence: {licence}.").format(
            source=stored.info.text("source", current_language()).rstrip(".。"),
            licence=stored.info.text("licence", current_language()).rstrip(".。"),
        ),
        "tables": tables if possible else None,
        "nodes": [{"id": name, "levels": [clean(level) for level in source.levels(name)]} for name in network.names],
        "evidence": [
            of.index(evidence[name]) if name in evidence else -1 for name, of in zip(network.names, levels, strict=True)
        ],
        "target": network.position.get(target, -1),
        "most": BARS_OF_MANY if is_wide(source) else BARS,
        "colours": {"seen": list(SEEN), "belief": list(BELIEF), "classes": [list(c) for c in CLASS_COLOURS]},
        "words": {
            "spoken": _("{node} = {state}: {p}"),
            "evidence": _("P(e) = {p}: how often cases with these findings occur, according to the network."),
            "nothing": _("Nothing is observed: the bars are the probabilities before any finding."),
            "impossible": _(
                "No case can have these findings together: the bars are the probabilities before any finding."
            ),
        },
    }
