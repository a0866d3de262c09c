"""What all pairs of columns say of each other, from one table's statistics, and the graphs that are read off it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import all_pairs
from bayes_engine.structure.chow_liu import (
    Dependence,
    Edge,
    conditional_informations,
    gaussian_information,
    information,
    ranked,
)
from bayes_engine.table.schema import Schema

Structure = Mapping[str, tuple[str, ...]]
"""The parents of each column besides the class."""


@dataclass(frozen=True)
class Dependences:
    """What the pairs of columns say of each other, given the class and overall, and each column of the class. A pair
    of two columns of numbers has no table and is not in it; `n` is the weight of all rows."""

    given_class: Mapping[Edge, Dependence]
    overall: Mapping[Edge, Dependence]
    with_class: Mapping[str, Dependence]
    n: float

    @property
    def weights(self) -> dict[Edge, float]:
        """I(x_i; x_j | y) times the share of the rows where both are known: what few rows say counts for little."""
        return {edge: d.information * d.n / (self.n or 1.0) for edge, d in self.given_class.items()}

    @property
    def class_weights(self) -> dict[str, float]:
        """I(x; y) times the share of the rows where x is known."""
        return {name: d.information * d.n / (self.n or 1.0) for name, d in self.with_class.items()}


def dependences(stats: SufficientStatistics, missing_is_level: bool, floor: float) -> Dependences:
    """Conditional and plain mutual information of all pairs that have a table, from these (known cells, unsmoothed)."""
    first = 0 if missing_is_level else 1
    given_class: dict[Edge, Dependence] = {}
    overall: dict[Edge, Dependence] = {}
    with_class: dict[str, Dependence] = {}
    for v in stats.schema:
        if v.discrete:
            with_class[v.name] = information(stats.counts.tables[v.name][:, first:])
        else:
            column = stats.moments.column(v.name)
            with_class[v.name] = gaussian_information(column, 1, floor)
    pairs = [(a, b) for a, b in all_pairs(stats.schema) if (a, b) in stats.families.tables]
    alike: dict[tuple[int, ...], list[Edge]] = {}
    for edge in pairs:
        alike.setdefault(stats.families.tables[edge].shape, []).append(edge)
    for edges in steps(alike.values()):
        tables = np.stack([stats.families.tables[edge][:, first:, first:] for edge in edges])
        given_class.update(zip(edges, conditional_informations(tables), strict=True))
        overall.update(zip(edges, conditional_informations(tables.sum(axis=1, keepdims=True)), strict=True))
    given_class, overall = ({edge: nats[edge] for edge in pairs} for nats in (given_class, overall))
    k = len(stats.class_weight)
    for (parent,), moments in ((n, m) for n, m in stats.families.moments.items() if len(n) == 1):
        for name in moments.names:
            cells = moments.column(name).reordered(lambda a: a.reshape(k, -1)[:, first:])
            by_level = cells.reordered(np.transpose).pooled()
            given_class[parent, name] = gaussian_information(cells.reordered(np.ravel), k, floor)
            overall[parent, name] = gaussian_information(by_level.reordered(np.ravel), 1, floor)
    return Dependences(given_class, overall, with_class, float(stats.class_weight.sum()))


def star(schema: Schema, center: str) -> Structure:
    """Every column under one."""
    return {v.name: (center,) for v in schema if v.name != center}


def k_parents(schema: Schema, nats: Dependences, k: int) -> dict[str, tuple[str, ...]]:
    """Sahami's k parents for each column: columns by I(x; y) descending (numbers last: they are nobody's parents), each
    taking the k before it with the largest I(x_i; x_j | y); equals by name."""
    discrete = {v.name for v in schema if v.discrete}
    weights = nats.weights
    order = [n for n in ranked(nats.class_weights) if n in discrete]
    parents: dict[str, tuple[str, ...]] = {}
    for name in [*order, *(v.name for v in schema if not v.discrete)]:
        shared = {
            other: weights[other, name] if (other, name) in weights else weights[name, other]
            for other in (order[: order.index(name)] if name in discrete else order)
        }
        parents[name] = tuple(ranked(shared)[:k])
    return {v.name: parents[v.name] for v in schema}
