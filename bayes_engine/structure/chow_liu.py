"""How much two attributes say of each other once the class is known, and the tree that keeps the most of it. SciPy's
`minimum_spanning_tree` takes a weight of 0 for no edge, breaks ties by position and keeps no steps.

I(x_i; x_j | y) = Σ P(x_i, x_j, c) log [P(x_i, x_j|c) / (P(x_i|c) P(x_j|c))] in nats (Zhou, eq. 7.22;
lecture notes leave the factor P(c) of the weight out). Chow & Liu 1968, Friedman, Geiger & Goldszmidt 1997.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import chdtrc

from bayes_engine.logspace import Array, log
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.structure.graph import breadth_first, by_node

TIE = 1e-9
"""Two weights that differ by less than this share of the larger are one weight; the names decide."""

Edge = tuple[str, str]
K = TypeVar("K", str, Edge)


class Dependence(NamedTuple):
    """How dependent two attributes are: information in nats, the G statistic 2·n·I, its degrees of freedom and p-value
    under independence; `n` is the weight of the rows where all is known."""

    information: float
    statistic: float
    degrees: int
    p_value: float
    n: float


def terms_of(table: Array) -> Array:
    """(…, C, S_a, S_b) each cell's share of the conditional information, P(a, b, c) log [P(a,b|c)/P(a|c)P(b|c)].

    >>> terms_of(np.array([[[2.0, 0.0], [0.0, 2.0]]])).round(4).tolist()
    [[[0.3466, 0.0], [0.0, 0.3466]]]
    """
    n = table.sum(axis=(-3, -2, -1), keepdims=True)
    of_class = table.sum(axis=(-2, -1), keepdims=True)
    expected = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    ratio = np.divide(table * of_class, expected, out=np.ones_like(table), where=table > 0)
    return np.asarray(table / np.where(n > 0, n, 1.0) * log(ratio))


def conditional_information(table: Array) -> Dependence:
    """I(a; b | c) of a contingency table (C, S_a, S_b) of known cells, with the G-test of independence in each class.

    >>> conditional_information(np.array([[[2.0, 0.0], [0.0, 2.0]]])).information.__round__(4)
    0.6931
    """
    return conditional_informations(table[None])[0]


def conditional_informations(tables: Array) -> list[Dependence]:
    """`conditional_information` of many tables (m, C, S_a, S_b) at once.

    >>> [d.degrees for d in conditional_informations(np.ones((2, 3, 2, 4)))]
    [9, 9]
    """
    n = tables.sum(axis=(1, 2, 3))
    information = np.maximum(terms_of(tables).sum(axis=(1, 2, 3)), 0.0)
    free = (np.maximum((tables.sum(axis=axis) > 0).sum(axis=-1) - 1, 0) for axis in (3, 2))
    degrees = math.prod(free).sum(axis=1)
    statistic = 2.0 * n * information
    p = np.where(degrees > 0, chdtrc(degrees, statistic), 1.0)
    fields = (information, statistic, degrees, p, n)
    return [Dependence(*row) for row in zip(*(a.tolist() for a in fields), strict=True)]


def information(table: Array) -> Dependence:
    """I(a; b) of a contingency table (S_a, S_b): dependence whatever the class.

    >>> information(np.array([[1.0, 1.0], [1.0, 1.0]])).information
    0.0
    """
    return conditional_information(table[None])


def gaussian_information(cells: ColumnMoments, n_classes: int, floor: float) -> Dependence:
    """I(x; s | c) of a column of numbers and a discrete one with a Gaussian in each cell (c, s), cells in C order:
    Σ_c P(c) [½ log σ²_c − Σ_s P(s|c) ½ log σ²_cs], with the likelihood-ratio test of one Gaussian a class.

    Each cell has a pseudo-count of 1 with its class's variance, without which a cell of one row would be certain of it.
    `floor` is the least variance, as a share of the column's: a class without spread tells of nothing.

    >>> halves = ColumnMoments(np.array([50.0, 50.0]), np.array([-1.0, 1.0]), np.array([50.0, 50.0]), 0.0)
    >>> round(gaussian_information(halves, n_classes=1, floor=1e-9).information, 4)  # nearly ½ log 2
    0.3369
    """
    by_class = cells.reordered(lambda a: a.reshape(n_classes, -1))
    weight, m2, of_class, column = by_class.weight, by_class.m2, by_class.pooled(), cells.pooled()
    least = max(floor * float(column.m2[0]) / max(float(column.weight[0]), 1e-300), 1e-300)
    variance = np.maximum(of_class.m2 / np.where(of_class.weight > 0, of_class.weight, 1.0), least)
    gain = 0.5 * (log(variance) - log(np.maximum((m2 + variance) / (weight + 1.0), least)))
    n = float(weight.sum())
    total = max(float((weight * gain).sum()), 0.0)
    degrees = int(2 * np.maximum((weight > 1).sum(axis=1) - 1, 0).sum())
    p = float(chdtrc(degrees, 2.0 * total)) if degrees else 1.0
    return Dependence(total / n if n > 0 else 0.0, 2.0 * total, degrees, p, n)


@dataclass(frozen=True)
class TreeStep:
    """One edge considered, heaviest first: taken, or left out because it would close a cycle or has no weight."""

    edge: Edge
    weight: float
    taken: bool


def spanning_tree(names: Sequence[str], weights: Mapping[Edge, float]) -> tuple[TreeStep, ...]:
    """Kruskal's maximum spanning tree over `weights` (pairs in the order of `names`), every step kept. Equal weights
    are taken in the order of the names; a pair without a weight is no candidate, and one of weight 0 says nothing:
    where only such are left, the tree stays in parts.

    >>> [(s.edge, s.taken) for s in spanning_tree("abc", {("a", "b"): 1.0, ("b", "c"): 3.0, ("a", "c"): 2.0})]
    [(('b', 'c'), True), (('a', 'c'), True), (('a', 'b'), False)]
    """
    part = {name: name for name in names}

    def root(name: str) -> str:
        while part[name] != name:
            name = part[name]
        return name

    steps = []
    for edge in ranked(weights):
        a, b = root(edge[0]), root(edge[1])
        taken = a != b and weights[edge] > TIE
        if taken:
            part[b] = a
        steps.append(TreeStep(edge, weights[edge], taken))
    return tuple(steps)


def ranked(weights: Mapping[K, float]) -> list[K]:
    """The keys from the largest weight down; among weights that agree to within TIE, in the order of the names,
    whichever way round an edge has its two."""
    down = sorted(weights, key=lambda key: -weights[key])
    order: list[K] = []
    taken: set[K] = set()
    equal: list[tuple[str | Edge, K]] = []  # a heap of those that agree with the largest weight not yet taken
    met = 0
    for top in down:
        while top not in taken:
            least = weights[top] - TIE * max(abs(weights[top]), TIE)
            while met < len(down) and weights[down[met]] >= least:
                key = down[met]
                heappush(equal, (key if isinstance(key, str) else (min(key), max(key)), key))
                met += 1
            order.append(heappop(equal)[1])
            taken.add(order[-1])
    return order


def directed(names: Sequence[str], edges: Sequence[Edge], root: str) -> tuple[Edge, ...]:
    """(parent, child) pairs of the tree away from the root; a part that does not hold it hangs from its first name.

    >>> directed("abc", [("b", "c"), ("a", "b")], "c")
    (('c', 'b'), ('b', 'a'))
    """
    near = by_node(names, [pair for a, b in edges for pair in ((a, b), (b, a))])
    reached: dict[str, str | None] = {}
    for start in (root, *names):
        if start not in reached:
            reached.update(breadth_first([start], near.__getitem__))
    return tuple((parent, child) for child, parent in reached.items() if parent is not None)
