"""TAN's maximum spanning tree as it grows, edge by edge, beside trees grown on shuffled tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import listen
from bayes_engine.logspace import Array
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.models.tan import TAN
from bayes_engine.structure.chow_liu import TIE, Edge, TreeStep, directed
from bayes_engine.structure.permutation import (
    grown_trees,
    informations,
    is_whole,
    shuffled_tables,
)
from bayes_engine.workbench.derivation.contingency import contingency
from bayes_engine.workbench.derivation.dependence import varying

MOST_TREES, FEWEST_TREES, SHUFFLED = 1_999, 99, 30_000_000
"""Trees that are grown on shuffled tables: at most, at least, and between the two as many as so many counts allow."""


@dataclass(frozen=True)
class Growth:
    """The maximum spanning tree of the columns with two values or more, as it grows: `steps` up to the last edge taken;
    `left` pairs are not looked at any more. `arcs` are (parent, child) pairs of the whole tree, away from the root."""

    names: tuple[str, ...]
    steps: tuple[TreeStep, ...]
    left: int
    root: str | None
    arcs: tuple[Edge, ...]

    @property
    def roots(self) -> tuple[str, ...]:
        """The columns without a parent, the root first: more than one where nothing joins them."""
        below = {child for _parent, child in self.arcs}
        return tuple(sorted((n for n in self.names if n not in below), key=lambda n: n != self.root))

    @property
    def total(self) -> float:
        """The sum of the weights taken, in nats."""
        return self.total_after(len(self.steps))

    @property
    def most(self) -> float:
        """The largest weight."""
        return max((s.weight for s in self.steps), default=0.0)

    def taken(self, after: int) -> list[TreeStep]:
        """The edges taken in the first steps."""
        return [s for s in self.steps[:after] if s.taken]

    def total_after(self, after: int) -> float:
        return sum(s.weight for s in self.taken(after))

    def cycle(self, step: int) -> list[str]:
        """The way between the two ends of the edge of a step (from 0) along those taken before; [] where there is
        none."""
        return path([s.edge for s in self.taken(step)], *self.steps[step].edge)


def grow(model: TAN) -> Growth:
    """How the tree of a model came to be.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> grown = grow(TAN().fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]))
    >>> len(grown.steps), round(grown.total, 5), grown.root, grown.cycle(4)
    (6, 1.93324, '纹理', ['根蒂', '脐部', '纹理'])
    """
    names = varying(model)
    trace = [s for s in model.trace_ if set(s.edge) <= set(names)]
    last = max((k + 1 for k, s in enumerate(trace) if s.taken), default=0)
    taken = [s.edge for s in trace if s.taken]
    root = model.root_ if model.root_ in names else next(iter(names), None)
    arcs = directed(names, taken, root) if root is not None else ()
    return Growth(names, tuple(trace[:last]), len(trace) - last, root, arcs)


def edges_of_case(model: SemiNaive, edges: Sequence[Edge], case: pd.DataFrame) -> Array:
    """(C,) by `classes_`, what these edges add to log P(x|c) of a case over independence, from the counts themselves,
    in nats: of all edges of the tree it is what TAN without smoothing has more than naive Bayes, and the mean over
    the rows, each in its class, is the edges' weight.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> X = melons.frame[list(melons.schema.features.names)]
    >>> edges_of_case(TAN().fit(X, melons.frame["好瓜"]), [("根蒂", "脐部")], X[:1]).round(4).tolist()
    [-inf, 0.47]
    """
    total = np.zeros(len(model.classes_))
    for a, b in edges:
        total = total + contingency(model, a, b, model.classes_.tolist()).of_case(case)
    return total


class ChosenEdge(NamedTuple):
    """The k-th heaviest edge of a tree, in nats; what the k-th heaviest edges of trees grown on shuffled tables weigh
    on average (`chance`), and the share of them that weigh as much (`p`)."""

    edge: Edge
    weight: float
    chance: float
    p: float


@dataclass(frozen=True)
class TreeByChance:
    """The edges of a tree, and its `total`, beside those of `draws` trees grown on shuffled tables."""

    edges: tuple[ChosenEdge, ...]
    total: ChosenEdge
    draws: int


def tree_by_chance(model: TAN, grown: Growth) -> TreeByChance | None:
    """What the edges of a tree would weigh by chance, every column shuffled within the classes: edges are chosen for
    their weight, so that they are to be held against those of trees that chose, too. None where the tree has no edge,
    or weights of rows are no whole numbers.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> model = TAN().fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])
    >>> [round(e.chance, 1) for e in tree_by_chance(model, grow(model)).edges]
    [0.4, 0.3, 0.3, 0.3, 0.2]
    """
    names = [name for name in grown.names if model.schema_[name].discrete]
    margins = {name: model.stats_.counts.tables[name] for name in names}
    own = sorted((s for s in grown.steps if s.taken and set(s.edge) <= set(names)), key=lambda s: -s.weight)
    if not own or not all(map(is_whole, margins.values())):
        return None
    n, first = float(model.stats_.class_weight.sum()), 0 if model.missing == "category" else 1
    draws = draws_of_trees(len(names), n)
    drawn = []
    for block in shuffled_tables(margins, draws):
        weights = {e: informations(table[:, :, first:, first:], n) for e, table in block.items()}
        drawn.append(np.sort(grown_trees(names, weights).weights, axis=1)[:, ::-1])
    by_rank = np.concatenate(drawn)

    def held(edge: Edge, weight: float, chance: Array) -> ChosenEdge:
        return ChosenEdge(edge, weight, float(chance.mean()), float((1 + (chance >= weight - TIE).sum()) / (1 + draws)))

    edges = tuple(held(s.edge, s.weight, by_rank[:, k]) for k, s in enumerate(own))
    return TreeByChance(edges, held(("", ""), sum(s.weight for s in own), by_rank.sum(axis=1)), draws)


def draws_of_trees(columns: int, n: float) -> int:
    """So many tables of n rows are shuffled."""
    pairs = max(columns * (columns - 1) // 2, 1)
    return int(min(MOST_TREES, max(FEWEST_TREES, SHUFFLED // max(pairs * n, 1.0))))


def posteriors_by_root(model: TAN, case: pd.DataFrame, roots: Sequence[str]) -> Array:
    """(R, C) the posterior of a case (a frame of one row) with the tree hung from each of these columns: without
    smoothing, on complete data, all the same.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx")})
    >>> posteriors_by_root(TAN(alpha=0).fit(X, list("nynynynn")), X[:1], ["a", "b"]).round(4).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    with listen():
        return np.stack([model.with_params(root=name).predict_proba(case)[0] for name in roots])


def path(edges: Sequence[Edge], a: str, b: str) -> list[str]:
    """The names on the way from a to b in a forest; [] where they are not joined.

    >>> path([("a", "b"), ("c", "b")], "a", "c"), path([("a", "b")], "a", "c")
    (['a', 'b', 'c'], [])
    """
    names = dict.fromkeys([a, b, *(name for edge in edges for name in edge)])
    above = {child: parent for parent, child in directed(list(names), edges, a)}
    upwards = [b]
    while upwards[-1] in above:
        upwards.append(above[upwards[-1]])
    return upwards[::-1] if upwards[-1] == a else []
