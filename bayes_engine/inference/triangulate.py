"""In which order to sum variables out, and the cliques which that order makes: the shape of a junction tree. NetworkX
triangulates without regard to how many levels a variable has.

Greedy: next comes the variable whose elimination joins the fewest pairs of neighbours (min-fill), or makes the smallest
table (min-weight); the order with fewer cells in all is taken (Kjærulff 1990, Triangulation of Graphs; Koller &
Friedman, §9.4.3). Ties fall to the smaller table or fill, then to the first name: two runs agree.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Clique(NamedTuple):
    """Nodes that share a table. Axes stand in elimination order, so the `own` nodes, summed out here, come first and
    the rest, the separator to the clique `parent` (−1: none), last."""

    scope: tuple[int, ...]
    own: int
    parent: int

    @property
    def separator(self) -> tuple[int, ...]:
        """What it shares with its parent."""
        return self.scope[self.own :]


def cliques(groups: Iterable[Sequence[int]], sizes: Sequence[int], names: Sequence[str]) -> tuple[Clique, ...]:
    """The cliques of a junction tree in which the nodes of every group meet; each stands before its parent."""
    near = [0] * len(sizes)
    for group in groups:
        mask = sum(1 << v for v in set(group))
        for v in group:
            near[v] |= mask & ~(1 << v)
    trees = [_merged(_eliminated(near, sizes, names, by_fill)) for by_fill in (True, False)]
    return min(trees, key=lambda tree: sum(cells(c.scope, sizes) for c in tree))


def cells(scope: Iterable[int], sizes: Sequence[int]) -> float:
    """The cells of a table over these nodes."""
    return math.prod((float(sizes[v]) for v in scope), start=1.0)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _eliminated(
    start: Sequence[int], sizes: Sequence[int], names: Sequence[str], by_fill: bool
) -> list[tuple[int, int]]:
    """(node, mask of its neighbours when it goes) in elimination order. Sets of nodes are the bits of an integer."""
    near = list(start)
    rank = sorted(range(len(names)), key=lambda v: names[v])
    place = {v: i for i, v in enumerate(rank)}

    def key(v: int) -> tuple[float, float, int]:
        fill = sum((near[v] & ~near[w]).bit_count() - 1 for w in _bits(near[v])) / 2
        weight = cells(_bits(near[v] | 1 << v), sizes)
        return (fill, weight, place[v]) if by_fill else (weight, fill, place[v])

    current = {v: key(v) for v in range(len(near))}
    heap = list(current.values())
    heapq.heapify(heap)
    done = []
    while current:
        entry = heapq.heappop(heap)
        v = rank[entry[2]]
        if current.get(v) != entry:
            continue  # outdated: the node is gone or has another key by now
        del current[v]
        around = near[v]
        done.append((v, around))
        touched = around
        for w in _bits(around):
            new = around & ~near[w] & ~(1 << w)
            for u in _bits(new):  # a node that is near both ends of a new edge has one pair less to join
                if u < w:
                    touched |= near[u] & near[w]
            near[w] = (near[w] | new) & ~(1 << v)
        for w in _bits(touched & ~(1 << v)):
            if w in current and (fresh := key(w)) != current[w]:
                current[w] = fresh
                heapq.heappush(heap, fresh)
    return done


def _merged(order: list[tuple[int, int]]) -> tuple[Clique, ...]:
    """The elimination's clusters, each that lies within another merged into it."""
    when = {v: i for i, (v, _) in enumerate(order)}
    scopes = [[v, *sorted(_bits(around), key=when.__getitem__)] for v, around in order]
    own = [1] * len(order)
    into = list(range(len(order)))  # where the cluster of step i went
    begins = list(range(len(order)))  # the step of a cluster's first own node; it is kept at its last
    for i, scope in enumerate(scopes):
        if len(scope) > own[i]:
            parent = when[scope[own[i]]]
            if len(scopes[parent]) == len(scope) - own[i] and begins[parent] == parent:
                scopes[parent], own[parent], begins[parent] = scope, own[i] + 1, begins[i]
                into[i] = parent
    kept = [i for i in range(len(order)) if into[i] == i]
    position = {i: k for k, i in enumerate(kept)}

    def parent_of(i: int) -> int:
        rest = scopes[i][own[i] :]
        if not rest:
            return -1
        step = when[rest[0]]
        while into[step] != step:
            step = into[step]
        return position[step]

    return tuple(Clique(tuple(scopes[i]), own[i], parent_of(i)) for i in kept)
