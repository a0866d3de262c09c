"""All marginals of one set of findings, in a tree of conditionals (conditional_tree). The tables of all cliques stand
side by side in one array, and cliques equally far from the root send their messages together, up and then down: a call
of NumPy takes longer than the cells of a small clique.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array

Index = NDArray[np.intp]

LEAST = 1e-250
"""Evidence less probable than this is left to logarithms: conditionals given what has a probability of 1e-300 have lost
digits, and they may carry weight only where the evidence is about as improbable."""
MOST_INDICES = 2**18
"""So many places of cells and messages are remembered at most: 2 MB."""


class RootedClique(NamedTuple):
    """P(C | S), an axis for each node of the `separator` S to the clique `toward` and then for each of its `own`. The
    root comes first, its separator is empty; cliques are ordered by their distance from it."""

    conditional: Array
    separator: tuple[int, ...]
    own: tuple[int, ...]
    toward: int

    @property
    def scope(self) -> tuple[int, ...]:
        """The nodes of the axes."""
        return self.separator + self.own


class Level(NamedTuple):
    """The cliques equally far from the root; where their cells and their messages stand among all. A message sums the
    cells from its entry in `starts` to the next; `spread` (cells,) is its place in the level for each of these, `came`
    (most children, cells) the places of the messages from the next level. P(separators) sums the cells `outer` of the
    level above from each entry of `outer_starts` to the next."""

    cells: slice
    messages: slice
    starts: Index
    spread: Index
    came: Index
    outer: Index
    outer_starts: Index


class MessageLevels:
    """`cliques` over nodes of these `sizes`; `home` is for each node the clique in which its posterior is read off.

    >>> root = RootedClique(np.array([0.5, 0.5]), (), (1,), -1)
    >>> leaf = RootedClique(np.array([[0.2, 0.8], [0.6, 0.4]]), (1,), (0,), 0)
    >>> p_evidence, p = MessageLevels([root, leaf], (2, 2), (1, 0)).marginals({0: 1})
    >>> round(p_evidence, 4), p[1].round(4).tolist()
    (0.6, [0.6667, 0.3333])
    """

    def __init__(self, cliques: Sequence[RootedClique], sizes: Sequence[int], home: Sequence[int]) -> None:
        cells = _bounds([c.conditional.size for c in cliques])
        messages = _bounds([math.prod([sizes[v] for v in c.separator]) for c in cliques])
        self._table = np.concatenate([c.conditional.reshape(-1) for c in cliques])
        self._no_message = messages[-1]
        children = children_of(cliques)
        self._levels = [_level(cliques, sizes, level, children, cells, messages) for level in _levels(cliques)]
        of_node = [cells[k] + _sorted_by((v,), cliques[k].scope, sizes) for v, k in enumerate(home)]
        self._node_cells = np.concatenate(of_node)
        runs = [len(c) // size for c, size in zip(of_node, sizes, strict=True) for _ in range(size)]
        self._starts, self._node_starts = _bounds(runs), _starts(runs)
        self._entries = [slice(*ends) for ends in pairwise(_bounds(sizes))]

    def marginals(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """P(e) and P(x_j | e) (S_j,) of every node; None where the evidence is less probable than LEAST."""
        table, messages = self._table.copy(), np.ones(self._no_message + 1)
        for v, place in findings.items():
            entries = self._entries[v]
            agree = entries.start + place
            table[self._node_cells[self._starts[entries.start] : self._starts[agree]]] = 0.0
            table[self._node_cells[self._starts[agree + 1] : self._starts[entries.stop]]] = 0.0
        for level in reversed(self._levels):
            joint = table[level.cells]
            joint *= np.multiply.reduce(messages.take(level.came), axis=0)
            np.add.reduceat(joint, level.starts, out=messages[level.messages])
        total = float(messages[0])
        if not total >= LEAST:
            return None
        table[self._levels[0].cells] /= total
        for level in self._levels[1:]:
            message, belief = messages[level.messages], table[level.cells]
            outer = np.add.reduceat(table.take(level.outer), level.outer_starts)
            belief *= (outer / (message + (message == 0.0))).take(level.spread)
        p = np.add.reduceat(table.take(self._node_cells), self._node_starts)
        for v, place in findings.items():  # exactly, not up to rounding
            entries = self._entries[v]
            p[entries] = 0.0
            p[entries.start + place] = 1.0
        return total, [p[entries] for entries in self._entries]


def index_cells(cliques: Sequence[RootedClique]) -> int:
    """How many indices the levels of these cliques take: some for each cell, by its children and nodes of its own."""
    children, total = children_of(cliques), 0
    for level in _levels(cliques):
        most = max(len(children[i]) for i in level)
        each = [1 + most + len(children[i]) + len(cliques[i].own) for i in level]
        total += sum(n * cliques[i].conditional.size for n, i in zip(each, level, strict=True))
    return total


def _level(
    cliques: Sequence[RootedClique],
    sizes: Sequence[int],
    level: range,
    children: Sequence[Sequence[int]],
    cells: Sequence[int],
    messages: Sequence[int],
) -> Level:
    """The level of these cliques; the cells and messages of each begin at these places among all."""
    ours = slice(cells[level.start], cells[level.stop])
    sent = slice(messages[level.start], messages[level.stop])
    came = np.full((max(len(children[i]) for i in level), ours.stop - ours.start), messages[-1])
    spread, outer = [], [np.empty(0, dtype=np.intp)]
    runs: list[int] = []
    outer_runs: list[int] = []
    for i in level:
        c, values = cliques[i], messages[i + 1] - messages[i]
        spread.append(messages[i] - sent.start + over(c.separator, c.scope, sizes))
        runs += [c.conditional.size // values] * values
        own = slice(cells[i] - ours.start, cells[i + 1] - ours.start)
        for row, k in enumerate(children[i]):
            came[row, own] = messages[k] + over(cliques[k].separator, c.scope, sizes)
        if c.toward >= 0:
            above = cliques[c.toward]
            outer.append(cells[c.toward] + _sorted_by(c.separator, above.scope, sizes))
            outer_runs += [above.conditional.size // values] * values
    return Level(ours, sent, _starts(runs), np.concatenate(spread), came, np.concatenate(outer), _starts(outer_runs))


def _levels(cliques: Sequence[RootedClique]) -> list[range]:
    """The places of the cliques at each distance from the root."""
    depth: list[int] = []
    for i, c in enumerate(cliques):
        depth.append(depth[c.toward] + 1 if i else 0)
    return [range(*ends) for ends in pairwise(np.searchsorted(depth, np.arange(depth[-1] + 2)).tolist())]


def children_of(cliques: Sequence[RootedClique]) -> list[list[int]]:
    """The cliques that go directly toward each."""
    children: list[list[int]] = [[] for _ in cliques]
    for i, c in enumerate(cliques[1:], start=1):
        children[c.toward].append(i)
    return children


def over(nodes: tuple[int, ...], scope: tuple[int, ...], sizes: Sequence[int]) -> Index:
    """For every cell of a table over `scope` its place in one over some of these nodes, in their own order."""
    places = np.arange(math.prod([sizes[v] for v in nodes])).reshape([sizes[v] for v in nodes])
    turned = places.transpose([nodes.index(v) for v in scope if v in nodes])
    spread = turned.reshape([sizes[v] if v in nodes else 1 for v in scope])
    return np.broadcast_to(spread, [sizes[v] for v in scope]).reshape(-1)


def _sorted_by(nodes: tuple[int, ...], scope: tuple[int, ...], sizes: Sequence[int]) -> Index:
    """The cells of a table over `scope`, those alike in these nodes together."""
    return np.argsort(over(nodes, scope, sizes), kind="stable")


def _bounds(lengths: Sequence[int]) -> list[int]:
    """Where runs of these lengths begin, one behind another, and where the last ends."""
    return list(accumulate(lengths, initial=0))


def _starts(lengths: Sequence[int]) -> Index:
    return np.array(_bounds(lengths)[:-1], dtype=np.intp)
