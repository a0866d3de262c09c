"""d-separation: which nodes a graph makes independent given others, and the trail that is open where it does not.
NetworkX says whether nodes are separated, not along which trail they are not.

A trail is open given Z if every node inside it is: a chain or a fork unless the middle is in Z, a collider only if the
middle or something below it is in Z (Pearl 1988, §3.3; Zhou, §7.5.1: 有向分离).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from bayes_engine.errors import ParameterError
from bayes_engine.structure.graph import DAG, JunctionKind, breadth_first, shortest_path

State = tuple[str, bool]
"""A node, and whether the walk came along its arc."""
MOST_TRAILS, LONGER = 12, 3
"""Where all trails are blocked, so many are shown at most, and none by more than this longer than the shortest."""


class Passage(NamedTuple):
    """One node inside a trail. `because` is the given node that decides: the middle itself where it blocks a chain or a
    fork, the middle or a node below it where that opens a collider; None where no given node is concerned."""

    before: str
    middle: str
    after: str
    kind: JunctionKind
    open: bool
    because: str | None


class Trail(NamedTuple):
    """A path that does not look at directions: its nodes, for each step whether it follows its arc, and what happens
    at every node inside."""

    nodes: tuple[str, ...]
    forward: tuple[bool, ...]
    passages: tuple[Passage, ...]

    @property
    def open(self) -> bool:
        """Whether every node inside it is open."""
        return all(p.open for p in self.passages)

    @property
    def blocked(self) -> tuple[Passage, ...]:
        """The nodes that close it."""
        return tuple(p for p in self.passages if not p.open)

    def __str__(self) -> str:
        arrows = [" → " if forward else " ← " for forward in self.forward]
        return "".join(part for pair in zip(self.nodes, [*arrows, ""], strict=True) for part in pair)


@dataclass(frozen=True)
class Separation:
    """Whether `a` and `b` are independent in every distribution over the graph, given `given`. `trails` holds the
    shortest open trail where they are not; where they are, the shortest trails, each with what blocks it (none: no
    trail joins them)."""

    a: str
    b: str
    given: tuple[str, ...]
    separated: bool
    trails: tuple[Trail, ...]


def separation(graph: DAG, a: str, b: str, given: Collection[str] = ()) -> Separation:
    """Are `a` and `b` d-separated by `given`? And the trail that says so.

    >>> wet = DAG(("rain", "sprinkler", "grass", "shoes"),
    ...           [("rain", "grass"), ("sprinkler", "grass"), ("grass", "shoes")])
    >>> found = separation(wet, "rain", "sprinkler", ["shoes"])
    >>> found.separated, str(found.trails[0]), found.trails[0].passages[0].because
    (False, 'rain → grass ← sprinkler', 'shoes')
    >>> separation(wet, "rain", "shoes", ["grass"]).trails[0].blocked[0].kind
    'chain'
    """
    graph.known([a, b, *given])
    if a == b:
        raise ParameterError("choose two different nodes, not '{name}' twice", name=a)
    for name in (a, b):
        if name in given:
            raise ParameterError("'{name}' cannot be given and asked about at once", name=name)
    z = frozenset(given)
    ordered = tuple(name for name in graph.nodes if name in z)
    nodes = _open_path(graph, a, b, z)
    if nodes is not None:
        return Separation(a, b, ordered, False, (trail(graph, nodes, z),))
    blocked = (trail(graph, path, z) for path in paths(graph, a, b, LONGER))
    return Separation(a, b, ordered, True, tuple(islice(blocked, MOST_TRAILS)))


def trail(graph: DAG, nodes: tuple[str, ...], given: Collection[str]) -> Trail:
    """A path (its nodes, end to end) with what the given nodes do to it.

    >>> trail(DAG("abc", [("a", "b"), ("b", "c")]), ("a", "b", "c"), ["b"]).open
    False
    """
    z = frozenset(given)
    inside = zip(nodes, nodes[1:], nodes[2:], strict=False)
    return Trail(
        nodes,
        tuple(y in graph.children[x] for x, y in pairwise(nodes)),
        tuple(_passage(graph, before, middle, after, z) for before, middle, after in inside),
    )


def paths(graph: DAG, a: str, b: str, longer: int | None = None) -> Iterator[tuple[str, ...]]:
    """Every path between two nodes whatever the directions, no node twice, the shortest first, then in node order;
    `longer`: none by more than this longer than the shortest.

    >>> list(paths(DAG("abcd", [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")]), "a", "d"))
    [('a', 'b', 'd'), ('a', 'c', 'd')]
    """
    distance: dict[str, int] = {}
    for name, before in breadth_first([b], graph.neighbours.__getitem__):
        distance[name] = 0 if before is None else distance[before] + 1
    if a not in distance:
        return
    longest = len(graph.nodes) - 1 if longer is None else min(distance[a] + longer, len(graph.nodes) - 1)
    for length in range(distance[a], longest + 1):
        yield from _walks(graph, (a,), b, length, distance)


def _walks(
    graph: DAG, path: tuple[str, ...], b: str, left: int, distance: Mapping[str, int]
) -> Iterator[tuple[str, ...]]:
    """The paths that go on from here and reach `b` in exactly so many steps."""
    if path[-1] == b:
        if left == 0:
            yield path
        return
    for name in graph.neighbours[path[-1]]:
        if name not in path and distance[name] < left:
            yield from _walks(graph, (*path, name), b, left - 1, distance)


def _passage(graph: DAG, before: str, middle: str, after: str, z: frozenset[str]) -> Passage:
    kind = graph.kind(before, middle, after)
    if kind == "collider":
        below = breadth_first([middle], graph.children.__getitem__)  # itself first
        opener = next((name for name, _before in below if name in z), None)
        return Passage(before, middle, after, kind, opener is not None, opener)
    return Passage(before, middle, after, kind, middle not in z, middle if middle in z else None)


def _open_path(graph: DAG, a: str, b: str, z: frozenset[str]) -> tuple[str, ...] | None:
    """A shortest open trail by breadth-first search over (node, did we come along its arc); None where there is none.

    A shortest open walk meets no node twice: cut short at the node, it would be open still. For the node's two outer
    arcs either make it the same junction as one of its two visits did, or a collider below which the walk has passed
    an open collider (Koller & Friedman 2009, alg. 3.1).
    """
    above = graph.ancestors(z)

    def steps(state: State) -> list[State]:
        name, downward = state
        up = name in above if downward else name not in z
        down = name not in z
        return [(p, False) for p in graph.parents[name] if up] + [(c, True) for c in graph.children[name] if down]

    path = shortest_path(
        [(a, False)], steps, lambda state: state[0] == b
    )  # as if from below: up and down are both free
    return None if path is None else tuple(name for name, _downward in path)
