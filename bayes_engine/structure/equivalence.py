"""Which directions the data can tell: equivalence classes of graphs.

Two graphs say the same independences if they have the same skeleton and the same V-structures (Verma & Pearl 1990);
then every score of `scores` but K2 gives them the same number. An arc is compelled where the whole class agrees on its
direction, reversible otherwise (Chickering 1995).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayes_engine.errors import ParameterError
from bayes_engine.structure.graph import DAG, Arc, check_ends


@dataclass(frozen=True)
class PDAG:
    """A partially directed graph: `compelled` arcs (parent, child) and `reversible` edges, each in the order of the
    nodes. `cpdag` makes it of a class.

    Raises ParameterError on an unknown node, or a pair of nodes that is joined twice.
    """

    nodes: tuple[str, ...]
    compelled: tuple[Arc, ...]
    reversible: tuple[Arc, ...]

    def __init__(self, nodes: Iterable[str], compelled: Iterable[Arc] = (), reversible: Iterable[Arc] = ()) -> None:
        nodes = tuple(nodes)
        position = {name: i for i, name in enumerate(nodes)}
        arcs, edges = set(compelled), set(reversible)
        check_ends(arcs | edges, position)
        edges = {(min(e, key=position.__getitem__), max(e, key=position.__getitem__)) for e in edges}
        joined = [frozenset(pair) for pair in (*arcs, *edges)]
        for a, b in sorted(arcs | edges):
            if a == b or joined.count(frozenset((a, b))) > 1:
                raise ParameterError("'{a}' and '{b}' are joined twice, or a node to itself", a=a, b=b)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "compelled", tuple(sorted(arcs, key=lambda arc: (position[arc[1]], position[arc[0]]))))
        object.__setattr__(self, "reversible", tuple(sorted(edges, key=lambda e: (position[e[0]], position[e[1]]))))


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
