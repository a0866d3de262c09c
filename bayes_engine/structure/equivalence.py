"""Which directions the data can tell: equivalence classes of graphs.

Two graphs say the same independences if they have the same skeleton and the same V-structures (Verma & Pearl 1990);
then every score of `scores` but K2 gives them the same number. An arc is compelled where the whole class agrees on its
direction, reversible otherwise (Chickering 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from bayes_engine.errors import ParameterError
from bayes_engine.structure.graph import DAG, Arc


@dataclass(frozen=True)
class PDAG:
    """A partially directed graph: `compelled` arcs (parent, child) and `reversible` edges, each in the order of the
    nodes. `cpdag` makes it of a class; one made by hand may have no graph at all (`extension` says so).

    Raises ParameterError on an unknown node, or a pair of nodes that is joined twice.
    """

    nodes: tuple[str, ...]
    compelled: tuple[Arc, ...]
    reversible: tuple[Arc, ...]

    def __init__(self, nodes: Iterable[str], compelled: Iterable[Arc] = (), reversible: Iterable[Arc] = ()) -> None:
        nodes = tuple(nodes)
        at = {name: i for i, name in enumerate(nodes)}
        arcs, edges = set(compelled), set(reversible)
        for a, b in sorted(arcs | edges):
            for name in (a, b):
                if name not in at:
                    raise ParameterError("the arc {a} → {b} names '{name}', which is no node", a=a, b=b, name=name)
        edges = {(min(e, key=at.__getitem__), max(e, key=at.__getitem__)) for e in edges}
        joined = [frozenset(pair) for pair in (*arcs, *edges)]
        for a, b in sorted(arcs | edges):
            if a == b or joined.count(frozenset((a, b))) > 1:
                raise ParameterError("'{a}' and '{b}' are joined twice, or a node to itself", a=a, b=b)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "compelled", tuple(sorted(arcs, key=lambda arc: (at[arc[1]], at[arc[0]]))))
        object.__setattr__(self, "reversible", tuple(sorted(edges, key=lambda e: (at[e[0]], at[e[1]]))))

    @cached_property
    def joined(self) -> Mapping[frozenset[str], Arc | None]:
        """Every pair that is joined, with its direction; None where it is reversible."""
        return {frozenset(arc): arc for arc in self.compelled} | {frozenset(e): None for e in self.reversible}


def cpdag(graph: DAG) -> PDAG:
    """The equivalence class of a graph (Chickering 1995, Order-Edges and Label-Edges).

    >>> cpdag(DAG("abcd", [("a", "b"), ("b", "d"), ("c", "d")])).compelled
    (('b', 'd'), ('c', 'd'))
    >>> cpdag(DAG("abcd", [("a", "b"), ("b", "d"), ("c", "d")])).reversible
    (('a', 'b'),)
    """
    rank = {name: i for i, name in enumerate(graph.order)}
    arcs = sorted(graph.arcs, key=lambda arc: (rank[arc[1]], -rank[arc[0]]))
    compelled: dict[Arc, bool] = {}
    for x, y in arcs:
        if (x, y) in compelled:
            continue
        into_y = graph.parents[y]
        for w in graph.parents[x]:
            if compelled[w, x]:
                if w not in into_y:  # w → x – y without a V-structure: x → y
                    compelled |= {(p, y): True for p in into_y}
                    break
                compelled[w, y] = True
        else:
            forced = any(z != x and z not in graph.parents[x] for z in into_y)
            compelled |= {(p, y): forced for p in into_y if (p, y) not in compelled}
    return PDAG(graph.nodes, [a for a in arcs if compelled[a]], [a for a in arcs if not compelled[a]])


def extension(graph: PDAG) -> DAG:
    """A DAG with these arcs and edges and no V-structure of its own (Dor & Tarsi 1992).

    Raises ParameterError where there is none.

    >>> extension(PDAG("abc", [], [("a", "b"), ("b", "c")])).v_structures
    ()
    >>> extension(PDAG("abcd", [], [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.ParameterError: no acyclic graph extends these arcs without a new V-structure; see to a, b, c, d
    """
    near = {name: {n for pair in graph.joined if name in pair for n in pair if n != name} for name in graph.nodes}
    above = {name: {a for a, b in graph.compelled if b == name} for name in graph.nodes}
    below = {name: {b for a, b in graph.compelled if a == name} for name in graph.nodes}
    left = list(graph.nodes)
    arcs: list[Arc] = []
    while left:
        for x in reversed(left):
            edges = near[x] - above[x] - below[x]
            if not below[x] and all(near[x] - {y} <= near[y] for y in edges):
                break
        else:
            raise ParameterError(
                "no acyclic graph extends these arcs without a new V-structure; see to {names}", names=", ".join(left)
            )
        arcs += [(y, x) for y in near[x]]
        left.remove(x)
        for name in left:
            near[name].discard(x)
            above[name].discard(x)
            below[name].discard(x)
    return DAG(graph.nodes, arcs)


def equivalent(a: DAG, b: DAG) -> bool:
    """Whether two graphs say the same independences: the same skeleton and the same V-structures.

    >>> equivalent(DAG("ab", [("a", "b")]), DAG("ab", [("b", "a")]))
    True
    """

    def signs(graph: DAG) -> tuple[set[frozenset[str]], set[tuple[frozenset[str], str]]]:
        return {frozenset(arc) for arc in graph.arcs}, {(frozenset((j.a, j.b)), j.middle) for j in graph.v_structures}

    return set(a.nodes) == set(b.nodes) and signs(a) == signs(b)


def hamming(a: DAG | PDAG, b: DAG | PDAG) -> int:
    """The structural Hamming distance: pairs of nodes that are joined in one and not in the other, or otherwise
    directed; of a DAG its class counts (Tsamardinos, Brown & Aliferis 2006). Raises ParameterError on other nodes.

    >>> chain, collider = DAG("abc", [("a", "b"), ("b", "c")]), DAG("abc", [("a", "b"), ("c", "b")])
    >>> hamming(chain, collider), hamming(chain, DAG("abc", [("c", "b"), ("b", "a")]))
    (2, 0)
    """
    if set(a.nodes) != set(b.nodes):
        odd = ", ".join(sorted(set(a.nodes) ^ set(b.nodes)))
        raise ParameterError("graphs over other nodes cannot be compared: {names}", names=odd)
    one, other = (cpdag(g).joined if isinstance(g, DAG) else g.joined for g in (a, b))
    none = ("", "")
    pairs = (frozenset(pair) for pair in combinations(a.nodes, 2))
    return sum(one.get(pair, none) != other.get(pair, none) for pair in pairs)
