"""Where the nodes of a graph stand: pure geometry, in node units (neighbours in a row are one unit apart, rows too).
Graphviz is a program of its own, which a user would have to install.

y grows downwards. The same graph has the same layout, however its nodes and arcs are listed: ties go by name.
Layers and crossings after Sugiyama, Tagawa and Toda (1981); the tree after Reingold and Tilford (1981).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import combinations, pairwise

import numpy as np

from bayes_engine.errors import ParameterError

Arc = tuple[str, str]
Places = dict[str, tuple[float, float]]

SWEEPS = 24
"""Passes over the layers, alternately down and up; the best order seen is kept."""
ROUNDS = 60
"""Passes that draw the nodes towards their neighbours."""
PULL = 0.9
"""Of the way to its neighbours a node goes so much, counted from the middle: the drawing stays narrow."""
FULL = 6
"""Nodes beside each other that a page holds easily."""
BEND = 0.3
"""Room, in node units, for an arc that passes through a layer."""


def layered(nodes: Iterable[str], edges: Iterable[Arc]) -> Places:
    """A directed acyclic graph in layers: every arc points downwards, with few crossings and straight lines.

    A node's layer is the longest path to it; a node without parents stands just above its highest child, and one
    without children may sink where its layer is full. Nodes without any arc come last, in rows of their own.

    >>> layered("abc", [("a", "b"), ("a", "c")])
    {'a': (0.5, 0.0), 'b': (0.0, 1.0), 'c': (1.0, 1.0)}
    """
    names, arcs = sorted(set(nodes)), sorted(set(edges))
    joined = {name for arc in arcs for name in arc}
    depth = _depths(sorted(joined), arcs)
    graph = _Layers(depth, arcs)
    graph.untangle()
    places = _from_zero({name: (x, float(depth[name])) for name, x in graph.across().items()})
    single = [name for name in names if name not in joined]
    width = max((x for x, _y in places.values()), default=0.0)
    first = max((y for _x, y in places.values()), default=-1.0) + 1
    a_row = max(round(width) + 1, math.ceil(math.sqrt(2 * len(single))), 1)
    for i, name in enumerate(single):
        here = min(a_row, len(single) - i // a_row * a_row)
        places[name] = (i % a_row + (width - here + 1) / 2, first + i // a_row)
    return _from_zero({name: places[name] for name in sorted(places)})


def tree(root: str, edges: Iterable[Arc]) -> Places:
    """A tidy tree, its root on top and every parent midway above its children; the edges may point either way.

    >>> tree("a", [("a", "b"), ("c", "a"), ("c", "d")])
    {'a': (0.5, 0.0), 'b': (0.0, 1.0), 'c': (1.0, 1.0), 'd': (1.0, 2.0)}
    """
    pairs = set(edges)
    beside: dict[str, list[str]] = {root: []}
    for u, v in sorted(pairs):
        beside.setdefault(u, []).append(v)
        beside.setdefault(v, []).append(u)
    order, children, depth = [root], dict[str, list[str]](), {root: 0}
    for name in order:  # it grows while we walk: parents before children
        children[name] = sorted(v for v in beside[name] if v not in depth)
        depth |= dict.fromkeys(children[name], depth[name] + 1)
        order += children[name]
    if len(order) != len(beside) or len(pairs) != len(order) - 1:
        raise ParameterError("the edges are no tree with the root '{root}'", root=root)
    shift = dict.fromkeys(order, 0.0)  # of a node against its parent
    rims: dict[str, list[tuple[float, float]]] = {}  # of a subtree: its leftmost and rightmost place at each depth
    for name in reversed(order):
        merged: list[tuple[float, float]] = []
        for child in children[name]:
            rim = rims.pop(child)
            shift[child] = max((a[1] + 1 - b[0] for a, b in zip(merged, rim, strict=False)), default=0.0)
            moved = [(left + shift[child], right + shift[child]) for left, right in rim]
            both = [(a[0], b[1]) for a, b in zip(merged, moved, strict=False)]
            merged = both + merged[len(both) :] + moved[len(both) :]
        middle = sum(merged[0]) / 2 if merged else 0.0
        for child in children[name]:
            shift[child] -= middle
        rims[name] = [(0.0, 0.0), *((left - middle, right - middle) for left, right in merged)]
    x = {root: 0.0}
    for name in order:
        x |= {child: x[name] + shift[child] for child in children[name]}
    return _from_zero({name: (x[name], float(depth[name])) for name in sorted(order)})


def circle(nodes: Iterable[str], centre: str | None = None) -> Places:
    """In the given order clockwise from the top, neighbours one unit apart; `centre` stands in the middle.

    >>> {name: (round(x, 3), round(y, 3)) for name, (x, y) in circle("abcd").items()}
    {'a': (0.707, 0.0), 'b': (1.414, 0.707), 'c': (0.707, 1.414), 'd': (0.0, 0.707)}
    """
    rim = [name for name in dict.fromkeys(nodes) if name != centre]
    radius = 0.5 / math.sin(math.pi / len(rim)) if len(rim) > 1 else 0.0
    if centre is not None:
        radius = max(radius, 1.0)
    angles = [2 * math.pi * k / max(len(rim), 1) for k in range(len(rim))]
    places = {} if centre is None else {centre: (0.0, 0.0)}
    places |= {n: (radius * math.sin(a), -radius * math.cos(a)) for n, a in zip(rim, angles, strict=True)}
    return _from_zero(places)


def _from_zero(places: Places) -> Places:
    """Moved so that the leftmost and the topmost node stand at 0."""
    left = min((x for x, _y in places.values()), default=0.0)
    top = min((y for _x, y in places.values()), default=0.0)
    return {name: (round(x - left, 9), round(y - top, 9)) for name, (x, y) in places.items()}


def _depths(names: Sequence[str], arcs: Sequence[Arc]) -> dict[str, int]:
    """The layer of every node that has an arc."""
    parents: dict[str, list[str]] = {name: [] for name in names}
    children: dict[str, list[str]] = {name: [] for name in names}
    for u, v in arcs:
        parents[v].append(u)
        children[u].append(v)
    depth: dict[str, int] = {}
    try:
        for name in TopologicalSorter(parents).static_order():
            depth[name] = max((depth[p] + 1 for p in parents[name]), default=0)
    except CycleError as error:
        raise ParameterError("the arcs run in a cycle through '{name}'", name=error.args[1][0]) from None
    layer_of = {n: depth[n] if parents[n] else min(depth[c] for c in children[n]) - 1 for n in names}
    _thin_out(layer_of, [name for name in names if not children[name]])
    return layer_of


def _thin_out(depth: dict[str, int], ends: Sequence[str]) -> None:
    """Where a layer is full, nodes without a child sink to the next one while it holds fewer by two or more: the
    drawing grows no wider than it must."""
    size: dict[int, int] = {}
    for layer in depth.values():
        size[layer] = size.get(layer, 0) + 1
    for layer in range(max(depth.values(), default=0)):
        for name in reversed(ends):
            if depth[name] == layer and size[layer] > FULL and size[layer + 1] + 2 <= size[layer]:
                depth[name] += 1
                size[layer] -= 1
                size[layer + 1] += 1


class _Layers:
    """The points of each layer in their order: first the nodes, numbered by name, then those where an arc passes
    through a layer. `at` is a point's place in its layer, `up` and `down` are its neighbours in the layers beside."""

    def __init__(self, depth: dict[str, int], arcs: Sequence[Arc]) -> None:
        self.names = list(depth)
        self.layers: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        self.real = len(depth)
        self.up: list[list[int]] = []
        self.down: list[list[int]] = []
        self.at: list[float] = []
        number = {name: self._new(depth[name]) for name in self.names}
        for u, v in arcs:
            points = [number[u], *(self._new(k) for k in range(depth[u] + 1, depth[v])), number[v]]
            for a, b in pairwise(points):
                self.down[a].append(b)
                self.up[b].append(a)

    def _new(self, layer: int) -> int:
        self.layers[layer].append(len(self.at))
        self.at.append(len(self.layers[layer]) - 1.0)
        self.up.append([])
        self.down.append([])
        return len(self.at) - 1

    def _order(self, layer: list[int]) -> None:
        for place, point in enumerate(layer):
            self.at[point] = place

    def untangle(self) -> None:
        """Every layer by the mean place of its neighbours in the layer before, then neighbours exchanged where that
        saves crossings; from the order of the names and from that of a walk along the arcs."""
        best, kept = self.crossings() + 1, self.layers
        for start in (lambda p: p, self._walk().__getitem__):
            for layer in self.layers:
                layer.sort(key=start)
                self._order(layer)
            for sweep in range(SWEEPS + 1):
                if (crossings := self.crossings()) < best:
                    best, kept = crossings, [list(layer) for layer in self.layers]
                beside, layers = (self.down, self.layers[-2::-1]) if sweep % 2 else (self.up, self.layers[1:])
                for layer in layers:
                    ranked = sorted((_mean([self.at[q] for q in beside[p]], self.at[p]), p) for p in layer)
                    layer[:] = [p for _place, p in ranked]
                    self._order(layer)
                self._exchange()
        self.layers = kept
        for layer in kept:
            self._order(layer)

    def _walk(self) -> list[int]:
        """When each point is met by a depth-first walk that minds no direction."""
        met: dict[int, int] = {}
        for first in range(len(self.at)):
            path = [first]
            while path:
                point = path.pop()
                if point not in met:
                    met[point] = len(met)
                    path += sorted(self.up[point] + self.down[point], reverse=True)
        return [met[point] for point in range(len(self.at))]

    def _exchange(self) -> None:
        for layer in self.layers:
            for i in range(len(layer) - 1):
                a, b = layer[i], layer[i + 1]
                now = sum(self._crossed(side[a], side[b]) for side in (self.up, self.down))
                turned = sum(self._crossed(side[b], side[a]) for side in (self.up, self.down))
                if turned < now:
                    layer[i : i + 2] = [b, a]
                    self.at[a], self.at[b] = self.at[b], self.at[a]

    def _crossed(self, left: list[int], right: list[int]) -> int:
        return sum(self.at[p] > self.at[q] for p in left for q in right)

    def crossings(self) -> int:
        """Pairs of arcs that cross between two layers."""
        pairs = (pair for layer in self.layers for pair in combinations(layer, 2))
        return sum(self._crossed(self.down[a], self.down[b]) for a, b in pairs)

    def across(self) -> dict[str, float]:
        """x of the nodes: in every layer as near as can be, in least squares, to the mean of their neighbours."""
        x = [0.0] * len(self.at)
        width = [1.0 if p < self.real else BEND for p in range(len(x))]
        for sweep in range(ROUNDS):
            for layer in self.layers[::-1] if sweep % 2 else self.layers:
                wished = [PULL * _mean([x[q] for q in self.up[p] + self.down[p]], x[p]) for p in layer]
                for p, place in zip(layer, _apart(wished, [width[p] for p in layer]), strict=True):
                    x[p] = place
        return {name: x[k] for k, name in enumerate(self.names)}


def _apart(wished: Sequence[float], width: Sequence[float]) -> list[float]:
    """The places nearest to the wished ones, in their order, that leave every point its width: less the widths, an
    isotonic regression."""
    from scipy.optimize import isotonic_regression

    starts = np.concatenate([[0.0], np.cumsum([(a + b) / 2 for a, b in pairwise(width)])])
    return list(map(float, isotonic_regression(np.array(wished) - starts).x + starts))


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
