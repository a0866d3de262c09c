"""A graph one can click: nodes that hold states with their bars, edges with their weights, all within reach of keys.
Streamlit's `graphviz_chart` is a picture: nothing in it can be clicked.

The places come from `bayes_engine.workbench.figures.graph_layout`, in node units. The browser measures the words,
gives every node the room it needs and fits the whole to the width it finds. Tab stops once at the edges and once at
the nodes; arrow keys go from one to the next, up and down also through the states of a node; Enter or Space clicks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from bayes_engine.errors import ParameterError
from bayes_engine.language import _
from bayes_engine.numerals import certain
from pages.components.component import component, last_message, read_message
from pages.runtime.escape import clean

_PLACE = '<div class="graph" data-testid="graph"></div>'
_graph = component(__file__, "bayes_graph", _PLACE, uses=("stage",), draws="createGraph")

NodeTone = Literal["", "class", "evidence", "super", "end", "lit", "shut", "faint"]
EdgeTone = Literal["", "new", "faint", "rejected", "class", "lit", "married"]
Kind = Literal["node", "edge", "state"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Click = tuple[Literal["node"], str] | tuple[Literal["edge"], str, str] | tuple[Literal["state"], str, int]
"""("node", id), ("edge", source, target) as the edge was given, or ("state", id of the node, position of the bar)."""


class Bar(NamedTuple):
    """A state of a node: its label, its share of 1, its colour on (light, dark) ground, () being a neutral one,
    whether it is the one that was observed, and the share it had before, drawn as an outline."""

    label: str
    share: float
    colour: tuple[str, str] | tuple[()] = ()
    selected: bool = False
    before: float | None = None


@dataclass(frozen=True)
class Node:
    """A node at (x, y), y downwards, in units of a node; `sub` is a second, smaller line, and `subs` what a script may
    change it to, so that there is room for the widest."""

    id: str
    label: str
    x: float
    y: float
    sub: str = ""
    bars: tuple[Bar, ...] = ()
    tone: NodeTone = ""
    subs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """An edge between two nodes, by their ids; `weight` from 0 to 1 is the width of its line."""

    source: str
    target: str
    label: str = ""
    weight: float = 0.0
    directed: bool = True
    tone: EdgeTone = ""


class Clicking(NamedTuple):
    """What of a drawing can be clicked, and `on_click(event)`, which is called before the script runs again, so that
    the page can put the event into its state."""

    on_click: Callable[[Click], object]
    kinds: Collection[Kind] = KINDS


def graph(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    *,
    key: str,
    selected: str | tuple[str, str] | None = None,
    height: int | None = None,
    zoom: float = 1.0,
    clicking: Clicking | None = None,
    label: str = "",
) -> None:
    """Draw it, at most `height` pixels high (None: as high as it needs), `selected` (a node's id, or an edge's ends)
    marked; where there is room, `zoom` times as large. `label` names the drawing for screen readers.

    What is clicked is handed to `clicking` before the script runs again; without it nothing can be clicked.
    """
    live = () if clicking is None else clicking.kinds

    def clicked() -> None:
        event = read_message(key, "clicked", lambda edit: read_click(edit.get("at"), nodes, edges, live))
        if event is not None and clicking is not None:
            clicking.on_click(event)

    data = drawing(nodes, edges, selected=selected, height=height, zoom=zoom, clicks=live, label=label)
    _graph(key=key, data=data | {"seen": last_message(key)}, on_clicked_change=clicked)


def drawing(
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    *,
    selected: str | tuple[str, str] | None = None,
    height: int | None = None,
    zoom: float = 1.0,
    clicks: Collection[Kind] = (),
    label: str = "",
) -> dict[str, Any]:
    """What the browser gets, as JSON; texts are cleaned, colours and tones as they are."""
    _check(nodes, edges)
    names = {node.id: clean(node.label) for node in nodes}
    return {
        "nodes": [_node(node) for node in nodes],
        "edges": [_edge(edge, names) for edge in edges],
        "selected": list(selected) if isinstance(selected, tuple) else selected,
        "height": height,
        "zoom": zoom,
        "clicks": [kind for kind in KINDS if kind in clicks],
        "label": clean(label, 200),
    }


def read_click(
    value: object, nodes: Sequence[Node], edges: Sequence[Edge], clicks: Collection[Kind] = KINDS
) -> Click | None:
    """The event a browser sent, if it is one on something that was drawn and can be clicked; else None.

    >>> rain = Node("rain", "Rain", 0, 0, bars=(Bar("yes", 0.2), Bar("no", 0.8)))
    >>> read_click(["state", "rain", 1], [rain], []), read_click(["node", "snow"], [rain], [])
    (('state', 'rain', 1), None)
    """
    match value:
        case ["node", str(name)] if "node" in clicks and any(node.id == name for node in nodes):
            return "node", name
        case ["edge", str(u), str(v)] if "edge" in clicks and any((e.source, e.target) == (u, v) for e in edges):
            return "edge", u, v
        case ["state", str(name), int(k)] if "state" in clicks and not isinstance(k, bool):
            drawn = any(node.id == name and 0 <= k < len(node.bars) for node in nodes)
            return ("state", name, k) if drawn else None
    return None


def _check(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    ids, ends = [node.id for node in nodes], [(edge.source, edge.target) for edge in edges]
    if len(set(ids)) < len(ids) or len(set(ends)) < len(ends):
        raise ParameterError("a node or an edge of the graph is given twice")
    lost = sorted({name for pair in ends for name in pair} - set(ids))
    if lost:
        raise ParameterError("an edge of the graph ends at '{name}', which is no node of it", name=lost[0])
    if not all(math.isfinite(node.x) and math.isfinite(node.y) for node in nodes):
        raise ParameterError("a node of the graph has no finite place")


def _node(node: Node) -> dict[str, Any]:
    label = clean(node.label)
    return {
        "id": node.id,
        "label": label,
        "x": float(node.x),
        "y": float(node.y),
        "sub": clean(node.sub),
        "subs": [clean(sub) for sub in node.subs],
        "tone": node.tone,
        "bars": [_bar(Bar(*bar), label) for bar in node.bars],
    }


def _bar(bar: Bar, of: str) -> dict[str, Any]:
    name = clean(bar.label)
    text = certain(_steady(bar.share), 3) if math.isfinite(bar.share) else "–"
    before = {} if bar.before is None else {"before": _share(bar.before)}
    return {
        **before,
        "label": name,
        "share": _share(bar.share),
        "text": text,
        "colour": list(bar.colour),
        "selected": bool(bar.selected),
        "spoken": _("{node} = {state}: {p}").format(node=of, state=name, p=text),
    }


def _steady(p: float) -> float:
    """Without the last digits, which depend on the order of a sum: whoever computes it, a half is rounded alike.

    >>> _steady(0.05950000000000001), _steady(1 - 1e-15) < 1
    (0.0595, True)
    """
    steady = float(f"{p:.14g}")
    return p if steady == 1 else steady


def _edge(edge: Edge, names: dict[str, str]) -> dict[str, Any]:
    words = _("{source} → {target}") if edge.directed else _("{source} – {target}")
    spoken = words.format(source=names[edge.source], target=names[edge.target])
    return {
        **vars(edge),
        "label": clean(edge.label),
        "weight": _share(edge.weight),
        "spoken": f"{spoken}, {clean(edge.label)}" if edge.label else spoken,
    }


def _share(value: float) -> float:
    return min(max(float(value), 0.0), 1.0) if math.isfinite(value) else 0.0
