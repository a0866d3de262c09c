"""The d-separation explorer: two nodes and a set, the trails between them, and what opens or blocks each node inside;
beside it the Markov blanket, the moral graph and the equivalence class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.structure.equivalence import cpdag
from bayes_engine.structure.graph import Arc, JunctionKind
from bayes_engine.structure.separation import Passage, Separation, Trail
from bayes_engine.structure.separation import separation as separate
from pages.active.network_source import Source
from pages.components.graph import EdgeTone, NodeTone
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, current
from pages.runtime.widgets import bound_to, choose, control
from pages.views.network.beliefs import node_in_use, target_of
from pages.views.network.draw import Marks, beside_drawing, choose_node, draw

TRAILS = 6
"""So many blocked trails are offered."""


class SeparationQuery(NamedTuple):
    """The two nodes and the set; "" for a node that is still to be chosen."""

    a: str
    b: str
    given: tuple[str, ...]


def query_in_use(source: Source) -> SeparationQuery:
    """What the state asks; at first the two nodes with the longest way between the top and the target."""
    names, state = source.network.names, current()
    if not state.seen(keys.NET_SEP):
        return SeparationQuery(*first_pair(source), ())
    a, b = (names[j] if 0 <= (j := state.seen(key)) < len(names) else "" for key in (keys.NET_SEP_A, keys.NET_SEP_B))
    b = "" if b == a else b
    given = [j for j in state.seen(keys.NET_SEP_GIVEN) if j < len(names)]
    return SeparationQuery(a, b, tuple(names[j] for j in sorted(set(given)) if names[j] not in (a, b)))


def first_pair(source: Source) -> tuple[str, str]:
    """Two nodes worth asking about: the parents of a V-structure if there is one, else the ends of an arc's trail."""
    graph = source.network.graph
    target = target_of(source)
    if graph.v_structures:
        v = max(graph.v_structures, key=lambda j: (target in (j.a, j.b), target == j.middle))
        return v.a, v.b
    j = next(iter(graph.junctions), None)
    return (j.a, j.b) if j is not None else (graph.nodes[0], graph.nodes[-1] if len(graph.nodes) > 1 else "")


def query_settings(source: Source, now: SeparationQuery) -> tuple[keys.Setting, ...]:
    """The settings that hold a question."""
    place = {"": -1, **source.network.position}
    return (
        keys.NET_SEP.to(True),
        keys.NET_SEP_A.to(place[now.a]),
        keys.NET_SEP_B.to(place[now.b]),
        keys.NET_SEP_GIVEN.to(tuple(sorted(place[n] for n in now.given))),
        keys.NET_TRAIL.to(0),
    )


def after_click(now: SeparationQuery, name: str) -> SeparationQuery:
    """A click on a node: one of the two is let go, a free place among the two is filled, else the set gains or loses
    it."""
    if name == now.a:
        return now._replace(a="")
    if name == now.b:
        return now._replace(b="")
    rest = tuple(n for n in now.given if n != name)
    if not now.a:
        return now._replace(a=name, given=rest)
    if not now.b:
        return now._replace(b=name, given=rest)
    return now._replace(given=rest if len(rest) < len(now.given) else (*now.given, name))


def separation(source: Source) -> None:
    """The drawing, in one of its four forms, and beside it the question and its answer."""
    now = query_in_use(source)
    views = {
        "trails": _("d-separation"),
        "blanket": _("Markov blanket"),
        "moral": _("moral graph"),
        "class": _("equivalence class"),
    }
    view = choose(_("Shown"), keys.NET_GRAPH_VIEW, views, titled=False)
    figure, side = beside_drawing(source, [3, 2])
    with side:
        marks = {"trails": _trails, "blanket": _blanket, "moral": _moral, "class": _class}[view](source, now)
    with figure:

        def click(name: str) -> None:
            if view == "trails":
                change(lambda s: s.showing(*query_settings(source, after_click(query_in_use(source), name))))
            else:
                change(lambda s: s.showing(keys.NET_NODE.to(source.place(name))))

        draw(
            source,
            marks=marks,
            on_node=click if view in ("trails", "blanket") else None,
            label=_("The graph, with the trails between the two nodes"),
        )


# trails -----------------------------------------------------------------------------------------------------------


def _trails(source: Source, now: SeparationQuery) -> Marks:
    _pickers(source, now)
    tones: dict[str, NodeTone] = dict.fromkeys(now.given, "evidence")
    tones |= {name: "end" for name in (now.a, now.b) if name}
    if not now.a or not now.b:
        st.markdown(_("Click the other node in the drawing."))
        return Marks(nodes=tones)
    answer = separate(source.network.graph, now.a, now.b, now.given)
    _verdict(source, answer)
    if not answer.trails:
        return Marks(nodes=tones)
    shown = _trail_of(source, answer)
    arcs: dict[Arc, EdgeTone] = {}
    for (x, y), forward in zip(zip(shown.nodes, shown.nodes[1:], strict=False), shown.forward, strict=True):
        arcs[(x, y) if forward else (y, x)] = "lit" if shown.open else "rejected"
    subs = {}
    for passage in shown.passages:
        tones.setdefault(passage.middle, "lit" if passage.open else "shut")
        subs[passage.middle] = f"{junction_name(passage.kind)} · " + (_("open") if passage.open else _("blocked"))
    for passage in shown.passages:
        st.markdown(
            ("- :material/lock_open: " if passage.open else "- :material/block: ")
            + why_open_or_blocked(source, passage)
        )
    if not shown.passages:
        st.markdown("- :material/lock_open: " + _("An arc joins the two: no set of other nodes can separate them."))
    return Marks(nodes=tones, subs=subs, arcs=arcs)


def _pickers(source: Source, now: SeparationQuery) -> None:
    names = source.network.names

    def put(state: State, *settings: keys.Setting) -> State:
        return state.showing(*query_settings(source, now), *settings)

    def end(key: keys.ViewKey[int]) -> Callable[[State, Any], State]:
        return lambda s, j: put(s, key.to(j), keys.NET_SEP_GIVEN.to(tuple(k for k in given if k != j)))

    given = [names.index(n) for n in now.given]
    left, right = st.columns(2)
    for place, key, mine, other, words in (
        (left, keys.NET_SEP_A, now.a, now.b, _("First node")),
        (right, keys.NET_SEP_B, now.b, now.a, _("Second node")),
    ):
        place.selectbox(
            words,
            [-1, *(j for j, n in enumerate(names) if n != other)],
            format_func=lambda j: "–" if j < 0 else clean(source.name(names[j]), 30),
            **control(key.widget, names.index(mine) if mine else -1, end(key)),
        )
    st.multiselect(
        _("Given the set"),
        [j for j, n in enumerate(names) if n not in (now.a, now.b)],
        format_func=lambda j: clean(source.name(names[j]), 30),
        placeholder=_("nothing: click nodes, or choose"),
        **control(keys.NET_SEP_GIVEN.widget, given, lambda s, v: put(s, keys.NET_SEP_GIVEN.to(tuple(sorted(v))))),
    )


def _verdict(source: Source, answer: Separation) -> None:
    a, b = (f"**{md(source.name(n), 30)}**" for n in (answer.a, answer.b))
    given = _(", ").join(md(source.name(n), 24) for n in answer.given)
    if not answer.separated:
        words = (
            _("{a} and {b} **can depend** on each other given {given}: this trail is open.")
            if given
            else _("{a} and {b} **can depend** on each other: this trail is open.")
        )
        st.markdown(":material/link: " + words.format(a=a, b=b, given=given))
        return
    if not answer.trails:
        st.markdown(
            ":material/link_off: " + _("{a} and {b} are **independent**: no trail joins them.").format(a=a, b=b)
        )
        return
    words = (
        _("{a} and {b} are **d-separated** by {given}: every trail is blocked, so they are independent given it.")
        if given
        else _("{a} and {b} are **d-separated** by the empty set: every trail is blocked, so they are independent.")
    )
    st.markdown(":material/link_off: " + words.format(a=a, b=b, given=given))


def _trail_of(source: Source, answer: Separation) -> Trail:
    """The trail that is lit; where several are blocked, the chosen one."""
    offered = answer.trails[:TRAILS]
    chosen = current().seen_among(keys.NET_TRAIL, range(len(offered)))
    if len(offered) > 1:
        st.selectbox(
            _("Trail"),
            range(len(offered)),
            format_func=lambda k: trail_text(source, offered[k]),
            **bound_to(keys.NET_TRAIL, chosen),
        )
    else:
        st.caption(md(trail_text(source, offered[0]), 200))
    return offered[chosen]


def trail_text(source: Source, trail: Trail) -> str:
    """A trail as a line, `a → m ← b`; literal, for labels that render nothing."""
    arrows = [" → " if forward else " ← " for forward in trail.forward]
    names = [clean(source.name(n), 20) for n in trail.nodes]
    return "".join(part for pair in zip(names, [*arrows, ""], strict=True) for part in pair)


def junction_name(kind: JunctionKind) -> str:
    """A way three nodes meet, on screen (Zhou, fig. 7.3)."""
    return {"chain": _("chain"), "fork": _("common parent"), "collider": _("V-structure")}[kind]


def why_open_or_blocked(source: Source, passage: Passage) -> str:
    """Why a node inside a trail is open or blocked."""
    x, m, y = (md(source.name(n), 24) for n in (passage.before, passage.middle, passage.after))
    because = md(source.name(passage.because), 24) if passage.because is not None else ""
    shape = {
        "chain": _("chain through **{m}**, between {x} and {y}"),
        "fork": _("common parent {x} ← **{m}** → {y}"),
        "collider": _("V-structure {x} → **{m}** ← {y}"),
    }
    named = shape[passage.kind].format(x=x, m=m, y=y)
    if passage.kind != "collider":
        words = (
            _("{junction}: open, for {m} is not known.")
            if passage.open
            else _("{junction}: **blocked**, for {m} is known and {x} adds no information.")
        )
    elif not passage.open:
        words = _("{junction}: **blocked**, for neither {m} nor any of its descendants is known.")
    elif passage.because == passage.middle:
        words = _("{junction}: open, for {m} is known and must be explained by one or the other.")
    else:
        words = _("{junction}: open, for {because}, a descendant of {m}, is known.")
    return words.format(junction=named, m=m, x=x, y=y, because=because)


# other forms of the graph -----------------------------------------------------------------------------------------


def _blanket(source: Source, now: SeparationQuery) -> Marks:
    graph, node = source.network.graph, node_in_use(source)
    choose_node(_("Blanket of"), source, keys.NET_NODE, node)
    blanket = graph.markov_blanket(node)
    parents, children = graph.parents[node], graph.children[node]
    spouses = [n for n in blanket if n not in parents and n not in children]
    for words, members in (
        (_("Parents: {names}"), parents),
        (_("Children: {names}"), children),
        (_("Other parents of its children: {names}"), spouses),
    ):
        st.markdown("- " + words.format(names=_(", ").join(md(source.name(n), 24) for n in members) or "–"))
    st.caption(
        Message(
            "Given these {n} node(s), {node} depends on no other node of the network.",
            {"n": len(blanket), "node": clean(source.name(node), 30)},
        ).local(md)
    )
    tones: dict[str, NodeTone] = {n: "faint" for n in graph.nodes if n not in blanket}
    tones |= dict.fromkeys(blanket, "evidence")
    tones[node] = "end"
    subs = {n: _("parent") for n in parents} | {n: _("child") for n in children}
    subs |= {n: _("child's other parent") for n in spouses}
    inside = {*blanket, node}
    arcs: dict[Arc, EdgeTone] = {arc: "" if {*arc} <= inside else "faint" for arc in graph.arcs}
    return Marks(nodes=tones, subs=subs, arcs=arcs)


def _moral(source: Source, now: SeparationQuery) -> Marks:
    moral = source.network.graph.moral
    st.markdown(
        Message(
            "Arcs lose their directions, and parents of one child are **married**: {n} new edge(s), dashed.",
            {"n": len(moral.married)},
        ).local(md)
    )
    st.markdown(
        "\n".join(f"- {md(source.name(a), 24)} – {md(source.name(b), 24)}" for a, b in moral.married[:12])
        + ("\n- …" if len(moral.married) > 12 else "")
    )
    st.caption(
        _(
            "Exact inference starts from this graph. In the moral graph of two nodes, a set and all nodes above them, "
            "the set cuts every path between the two exactly if it d-separates them."
        )
    )
    return Marks(extra=moral.married, undirected=source.network.graph.arcs)


def _class(source: Source, now: SeparationQuery) -> Marks:
    graph = source.network.graph
    pattern = cpdag(graph)
    free = {frozenset(edge) for edge in pattern.reversible}
    undirected = [arc for arc in graph.arcs if frozenset(arc) in free]
    st.markdown(
        Message(
            "**{compelled}** arc(s) have the same direction in every graph that encodes the same independences; "
            "**{reversible}** can be reversed, and data alone cannot decide which way.",
            {"compelled": len(pattern.compelled), "reversible": len(pattern.reversible)},
        ).local(md)
    )
    kinds: dict[JunctionKind, int] = {"chain": 0, "fork": 0, "collider": 0}
    for j in graph.junctions:
        kinds[j.kind] += 1
    open_ones = _(
        "{n} of the V-structures are without an arc between the parents: only these can be identified from the data."
    )
    st.markdown("\n".join(f"- {junction_name(kind)}{_(': ')}{n}" for kind, n in kinds.items()))
    st.caption(open_ones.format(n=len(graph.v_structures)))
    st.caption(
        _(
            "The class is the skeleton with the V-structures whose parents are not joined (Verma & Pearl 1990), and "
            "what these compel (Chickering 1995)."
        )
    )
    tones: dict[Arc, EdgeTone] = dict.fromkeys([a for a in graph.arcs if a not in undirected], "lit")
    return Marks(arcs=tones, undirected=undirected)
