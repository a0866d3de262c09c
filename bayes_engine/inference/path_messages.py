"""The posterior of nodes of one clique, in a tree of conditionals (conditional_tree) that is asked again and again.

A message starts at a clique with findings. On its path to the root it is multiplied by one matrix from there to the
next clique that has findings itself or where paths meet. The matrices hang on the findings at their end alone, so they
are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.inference.message_levels import RootedClique, children_of, over
from bayes_engine.logspace import Array

MATRIX_CELLS = 2**16
"""Cells of a matrix at most: with larger ones it pays to slice tables at the findings."""
REMEMBERED = 8192
"""So many arrays are remembered …"""
KEPT_CELLS = 2**18
"""… while they have at most so many cells together: 2 MB."""

Findings = tuple[tuple[int, int], ...]
"""Nodes and the places of their levels."""

Arrived = tuple[int, Array]
"""A message, and the neighbour that it came from."""


class Memory:
    """Arrays by key, of trees of one network with different roots; all are forgotten where they become too many."""

    def __init__(self) -> None:
        self.arrays: dict[Hashable, Array] = {}
        self.places: dict[Hashable, NDArray[np.intp]] = {}
        self._cells = 0

    def keep(self, key: Hashable, array: Array) -> Array:
        """An array of floats, remembered."""
        self._make_room(array.size)
        self.arrays[key] = array
        return array

    def keep_places(self, key: Hashable, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """An array of places, remembered."""
        self._make_room(places.size)
        self.places[key] = places
        return places

    def _make_room(self, cells: int) -> None:
        if len(self.arrays) + len(self.places) >= REMEMBERED or self._cells + cells > KEPT_CELLS:
            self.arrays.clear()
            self.places.clear()
            self._cells = 0
        self._cells += cells


class PathMessages:
    """`cliques` over nodes of these `sizes`, the root first, as MessageLevels takes them; `root` is its name in the
    `memory`.

    >>> root = RootedClique(np.array([0.5, 0.5]), (), (1,), -1)
    >>> leaf = RootedClique(np.array([[0.2, 0.8], [0.6, 0.4]]), (1,), (0,), 0)
    >>> PathMessages([root, leaf], (2, 2), Memory()).joint((1,), {0: 1}).tolist()
    [0.4, 0.2]
    """

    def __init__(self, cliques: Sequence[RootedClique], sizes: Sequence[int], memory: Memory, root: int = 0) -> None:
        self._cliques, self._sizes, self._memory, self._root = _in_preorder(cliques), sizes, memory, root
        self._home = {v: i for i, c in enumerate(self._cliques) for v in c.own}
        self._ways: list[int] = []  # the cliques from each to the root, as bits
        for i, c in enumerate(self._cliques):
            self._ways.append((1 << i) | (self._ways[c.toward] if i else 0))

    @staticmethod
    def pays(cliques: Sequence[RootedClique], sizes: Sequence[int]) -> bool:
        """Whether a matrix from any separator to any table is small enough."""
        widest = max(math.prod([sizes[v] for v in c.separator]) for c in cliques)
        return widest * max(c.conditional.size for c in cliques) <= MATRIX_CELLS

    def joint(self, targets: tuple[int, ...], findings: Mapping[int, int]) -> Array:
        """(cells of the targets,) P(targets, e) of nodes of the root; 0 where they are not as they are seen."""
        seen: dict[int, Findings] = {}
        senders = 1  # as bits, with the root
        for v, place in sorted(findings.items()):  # one key whatever their order
            i = self._home[v]
            seen[i] = (*seen.get(i, ()), (v, place))
            senders |= 1 << i
        came: dict[int, list[Arrived]] = {}
        while senders > 1:
            i = senders.bit_length() - 1
            senders ^= 1 << i
            # of all other senders the last in preorder has the longest way in common with it
            way, other = self._ways[i], self._ways[senders.bit_length() - 1]
            to = (way & other).bit_length() - 1
            senders |= 1 << to
            behind = way >> (to + 1)
            child = to + (behind & -behind).bit_length()
            if i in came:
                message = self._message(i, seen.get(i, ()), came[i])
                if child != i:
                    message = self._along(i, child).dot(message)
            else:
                message = self._first_message(i, seen[i], child)
            came.setdefault(to, []).append((child, message))
        return self._message(targets, seen.get(0, ()), came.get(0, []))

    def _message(self, to: int | tuple[int, ...], seen: Findings, came: list[Arrived]) -> Array:
        """What a clique, or the root to its targets, sends on with its findings, of the messages that came to it."""
        if len(came) == 1:
            child, message = came[0]
            return np.asarray(self._matrix(to, seen, child).dot(message))
        product = self._table(to, seen)
        for child, message in came:
            product = product * message[self._spread(to, child)]
        total: Array = np.add.reduce(product, axis=1)
        return total

    # what is remembered -----------------------------------------------------------------------------------------------

    def _clique(self, to: int | tuple[int, ...]) -> RootedClique:
        """The clique, or the root with the targets in the place of a separator."""
        if isinstance(to, int):
            return self._cliques[to]
        root = self._cliques[0]
        own = tuple([v for v in root.own if v not in to])
        axes = [root.own.index(v) for v in (*to, *own)]
        return RootedClique(root.conditional.transpose(axes), to, own, -1)

    def _table(self, to: int | tuple[int, ...], seen: Findings) -> Array:
        """(cells of the separator, cells of its own nodes) 0 beside the findings."""
        key = (self._root, to, seen)
        known = self._memory.arrays.get(key)
        if known is not None:
            return known
        clique = self._clique(to)
        index: list[Any] = [slice(None)] * len(clique.scope)
        for v, place in seen:
            index[clique.scope.index(v)] = slice(place, place + 1)
        table = np.zeros(clique.conditional.shape)
        table[tuple(index)] = clique.conditional[tuple(index)]
        return self._memory.keep(key, table.reshape(self._width(clique.separator), -1))

    def _spread(self, to: int | tuple[int, ...], child: int) -> NDArray[np.intp]:
        """For every cell of that table the place in a child's message."""
        key = (self._root, to, child)
        known = self._memory.places.get(key)
        if known is not None:
            return known
        clique = self._clique(to)
        places = over(self._cliques[child].separator, clique.scope, self._sizes)
        return self._memory.keep_places(key, places.reshape(self._width(clique.separator), -1))

    def _first_message(self, i: int, seen: Findings, last: int) -> Array:
        """The message that starts at a clique, at the end of its path through cliques without findings."""
        key = (self._root, i, last, seen)
        known = self._memory.arrays.get(key)
        if known is not None:
            return known
        message = np.add.reduce(self._table(i, seen), axis=1)
        return self._memory.keep(key, message if i == last else self._along(i, last).dot(message))

    def _matrix(self, to: int | tuple[int, ...], seen: Findings, child: int) -> Array:
        """What takes the one message that comes, a child's, to the message sent on."""
        key = (self._root, to, seen, child)
        known = self._memory.arrays.get(key)
        if known is not None:
            return known
        table, width = self._table(to, seen), self._width(self._cliques[child].separator)
        places = np.arange(len(table))[:, None] * width + self._spread(to, child)
        sums = np.bincount(places.reshape(-1), table.reshape(-1), len(table) * width)
        return self._memory.keep(key, np.asarray(sums, dtype=float).reshape(-1, width))

    def _along(self, i: int, last: int) -> Array:
        """What takes the message of a clique along a path without findings to that of the `last` on it."""
        key = (self._root, i, last)
        known = self._memory.arrays.get(key)
        if known is not None:
            return known
        toward = self._cliques[i].toward
        step = self._matrix(toward, (), i)
        return self._memory.keep(key, step if toward == last else self._along(toward, last) @ step)

    def _width(self, nodes: tuple[int, ...]) -> int:
        return math.prod([self._sizes[v] for v in nodes])


def _in_preorder(cliques: Sequence[RootedClique]) -> list[RootedClique]:
    """The cliques, those behind each directly after it."""
    children = children_of(cliques)
    order, ahead = [], [0]
    while ahead:
        i = ahead.pop()
        order.append(i)
        ahead += children[i]
    place = {i: k for k, i in enumerate(order)}
    return [cliques[i]._replace(toward=place.get(cliques[i].toward, -1)) for i in order]
