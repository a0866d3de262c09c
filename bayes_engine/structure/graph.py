"""Directed acyclic graphs, and what they say by themselves: order, ancestors, blankets, separation, equivalence.
NetworkX's graphs can be changed, and its orders and sets are those of insertion.

Nodes are names in an order of their own; every choice that the graph leaves open is made in that order, so two runs
agree (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, ch. 3; Zhou, §7.5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeVar

from bayes_engine.errors import ParameterError

N = TypeVar("N", bound=Hashable)
Arc = tuple[str, str]
"""(parent, child)."""
JunctionKind = Literal["chain", "fork", "collider"]
"""How three nodes meet (Zhou, fig. 7.3): a → m → b in a row (顺序), a ← m → b under one parent (同父), a → m ← b as
a V-structure (V型)."""


class Junction(NamedTuple):
    """Two arcs that meet in `middle`; `shielded` where `a` and `b` are joined by an arc as well."""

    a: str
    middle: str
    b: str
    kind: JunctionKind
    shielded: bool


class Moral(NamedTuple):
    """The moral graph: its `edges`, and those of them that `married` two parents of one child; each edge in the order
    of the nodes."""

    edges: tuple[Arc, ...]
    married: tuple[Arc, ...]


@dataclass(frozen=True)
class DAG:
    """A directed acyclic graph: `nodes` in their order, `arcs` (parent, child).

    Raises ParameterError where a node stands twice, an arc leads to an unknown node, or the arcs close a cycle, which
    is named.

    >>> wet = DAG(("rain", "sprinkler", "grass"), (("rain", "grass"), ("sprinkler", "grass")))
    >>> wet.parents["grass"], wet.children["rain"], wet.order
    (('rain', 'sprinkler'), ('grass',), ('rain', 'sprinkler', 'grass'))
    """

    nodes: tuple[str, ...]
    arcs: tuple[Arc, ...] = ()

    def __init__(self, nodes: Iterable[str], arcs: Iterable[Arc] = ()) -> None:
        object.__setattr__(self, "nodes", tuple(nodes))
        position = self.position
        if len(position) < len(self.nodes):
            double = next(name for name in self.nodes if self.nodes.count(name) > 1)
            raise ParameterError("the node '{name}' stands twice in the graph", name=double)
        distinct = set(map(_arc, arcs))
        check_ends(distinct, position)
        object.__setattr__(self, "arcs", tuple(sorted(distinct, key=lambda arc: (position[arc[1]], position[arc[0]]))))
        if (cycle := self._cycle()) is not None:
            raise ParameterError("the arcs close a cycle: {cycle}", cycle=" → ".join(cycle))

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """The parents of every node, in the order of the nodes."""
        return by_node(self.nodes, ((b, a) for a, b in self.arcs))

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The children of every node, in the order of the nodes."""
        return by_node(self.nodes, self.arcs)  # these stand by child, so the children come in order

    @cached_property
    def order(self) -> tuple[str, ...]:
        """A topological order: every parent before its children, and otherwise as the nodes stand."""
        sorter = TopologicalSorter(self.parents)
        with suppress(CycleError):  # nodes on a cycle are never ready; the constructor names them
            sorter.prepare()
        done: list[str] = []
        while ready := sorted(sorter.get_ready(), key=self.position.__getitem__):
            done += ready
            sorter.done(*ready)
        return tuple(done)

    def _cycle(self) -> tuple[str, ...] | None:
        """A shortest closed path, first node repeated at the end; None where there is none."""
        done = set(self.order)
        left = [name for name in self.nodes if name not in done]
        back = (shortest_path(self.children[name], self.children.__getitem__, {name}.__contains__) for name in left)
        return min(((path[-1], *path) for path in back if path), key=len, default=None)

    def ancestors(self, names: Collection[str]) -> frozenset[str]:
        """These nodes and everything above them."""
        return frozenset(name for name, _before in breadth_first(names, self.parents.__getitem__))

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """Parents and children of every node, in the order of the nodes."""
        near_to: dict[str, set[str]] = {name: {*self.parents[name], *self.children[name]} for name in self.nodes}
        return {name: tuple(n for n in self.nodes if n in near) for name, near in near_to.items()}

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents: given these, the node depends on nothing else.

        >>> DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d")]).markov_blanket("a")
        ('b', 'c')
        """
        self.known([name])
        spouses = {p for child in self.children[name] for p in self.parents[child]}
        blanket = {*self.neighbours[name], *spouses} - {name}
        return tuple(n for n in self.nodes if n in blanket)

    @cached_property
    def moral(self) -> Moral:
        """The moral graph: arcs lose their direction, parents of one child are married (Lauritzen & Spiegelhalter
        1988; Zhou, §7.5.1).

        >>> DAG("abc", [("a", "c"), ("b", "c")]).moral
        Moral(edges=(('a', 'b'), ('a', 'c'), ('b', 'c')), married=(('a', 'b'),))
        """
        position = self.position
        arcs = {(min(arc, key=position.__getitem__), max(arc, key=position.__getitem__)) for arc in self.arcs}
        married = {pair for above in self.parents.values() for pair in combinations(above, 2)} - arcs

        def ordered(edges: Iterable[Arc]) -> tuple[Arc, ...]:
            return tuple(sorted(edges, key=lambda edge: (position[edge[0]], position[edge[1]])))

        return Moral(ordered(arcs | married), ordered(married))

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each node stands among the nodes."""
        return {name: i for i, name in enumerate(self.nodes)}

    def kind(self, a: str, middle: str, b: str) -> JunctionKind:
        """How the trail a – middle – b goes through its middle."""
        into = (a in self.parents[middle]) + (b in self.parents[middle])
        return "collider" if into == 2 else "chain" if into else "fork"

    @cached_property
    def junctions(self) -> tuple[Junction, ...]:
        """Every two arcs that share a node, classified; by the shared node, in the order of the nodes.

        >>> [(j.a, j.middle, j.b, j.kind) for j in DAG("abcd", [("a", "b"), ("b", "c"), ("d", "b")]).junctions]
        [('a', 'b', 'c', 'chain'), ('a', 'b', 'd', 'collider'), ('c', 'b', 'd', 'chain')]
        """
        return tuple(
            Junction(a, middle, b, self.kind(a, middle, b), b in self.neighbours[a])
            for middle in self.nodes
            for a, b in combinations(self.neighbours[middle], 2)
        )

    @cached_property
    def v_structures(self) -> tuple[Junction, ...]:
        """a → middle ← b where a and b are not joined: what the data can tell of directions."""
        return tuple(j for j in self.junctions if j.kind == "collider" and not j.shielded)

    def known(self, names: Collection[str]) -> None:
        """Raises ParameterError where one of the names is no node."""
        for name in names:
            if name not in self.position:
                raise ParameterError("the graph has no node '{name}'", name=name)


def by_node(nodes: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """For each node the second names of the pairs in which it is the first, in their order.

    >>> by_node("ab", [("a", "b"), ("a", "c")])
    {'a': ('b', 'c'), 'b': ()}
    """
    partners: dict[str, list[str]] = {name: [] for name in nodes}
    for name, partner in pairs:
        partners[name].append(partner)
    return {name: tuple(others) for name, others in partners.items()}


def breadth_first(starts: Iterable[N], step: Callable[[N], Iterable[N]]) -> Iterator[tuple[N, N | None]]:
    """Everything that is reached from `starts`, the nearest first, each with what it was reached from.

    >>> list(breadth_first([1], lambda n: (n + 1, 2 * n) if n < 3 else ()))
    [(1, None), (2, 1), (3, 2), (4, 2)]
    """
    before: dict[N, N | None] = dict.fromkeys(starts)
    queue = list(before)
    for node in queue:
        yield node, before[node]
        for further in step(node):
            if further not in before:
                before[further] = node
                queue.append(further)


def shortest_path(starts: Iterable[N], step: Callable[[N], Iterable[N]], is_end: Callable[[N], bool]) -> list[N] | None:
    """From one of the `starts` to the first node that is an end; None where none is reached.

    >>> shortest_path([1], lambda n: (n + 1, 2 * n), lambda n: n > 6)
    [1, 2, 4, 8]
    """
    before: dict[N, N | None] = {}
    for node, previous in breadth_first(starts, step):
        before[node] = previous
        if is_end(node):
            path = [node]
            while (previous := before[path[-1]]) is not None:
                path.append(previous)
            return path[::-1]
    return None


def check_ends(arcs: Iterable[Arc], nodes: Container[str]) -> None:
    """Raises ParameterError where an arc leads from or to what is none of the nodes."""
    for a, b in sorted(arcs):
        for name in (a, b):
            if name not in nodes:
                raise ParameterError("the arc {a} → {b} names '{name}', which is no node", a=a, b=b, name=name)


def given_arcs(structure: object) -> tuple[Arc, ...]:
    """The arcs of a graph, or of the pairs that a user gives in its place.

    Raises ParameterError where these are no pairs, an arc stands twice, or they come from an iterator, which a second
    fit would find empty.

    >>> given_arcs([("rain", "wet")])
    (('rain', 'wet'),)
    """
    if isinstance(structure, DAG):
        return structure.arcs
    if isinstance(structure, str | bytes | Iterator) or not isinstance(structure, Iterable):
        raise ParameterError(
            "structure={value} is no list of arcs; give (parent, child) pairs or a DAG", value=repr(structure)
        )
    arcs = tuple(map(_arc, structure))
    for i, (a, b) in enumerate(arcs):
        if (a, b) in arcs[:i]:
            raise ParameterError("the arc {a} → {b} stands twice", a=a, b=b)
    return arcs


def _arc(pair: Any) -> Arc:
    if isinstance(pair, str) or not isinstance(pair, Collection) or len(pair) != 2:
        raise ParameterError("{pair} is no arc; give a pair (parent, child)", pair=repr(pair))
    a, b = pair
    return str(a), str(b)
