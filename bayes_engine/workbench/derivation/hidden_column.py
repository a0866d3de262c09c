"""A column taken out of a table and learned back as a hidden node of a network, by EM: how near its states come to the
column's levels (Zhou, exercise 7.10). Its states have no names, so they are compared up to their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors.network import Network
from bayes_engine.logspace import Array
from bayes_engine.models.em_runs import crossed
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.structure.graph import Arc


@dataclass(frozen=True)
class HiddenColumn:
    """A column of `levels` that was hidden, and the network with a hidden node in its place.

    `crossed` (K, S) counts the rows (those with a known cell) of each level with each state as their likeliest;
    `state_of` (S,) is the state matched with each level, −1 for none: one to one, so that the most rows agree.
    `p` (K,) are the probabilities of the states.
    """

    model: BayesianNetwork
    name: str
    levels: tuple[Any, ...]
    crossed: NDArray[np.intp]
    state_of: tuple[int, ...]
    p: Array

    @property
    def rows(self) -> int:
        """The rows in which the column was known."""
        return int(self.crossed.sum())

    @property
    def right(self) -> int:
        """The rows whose likeliest state is the one matched with their level."""
        return sum(int(self.crossed[k, s]) for s, k in enumerate(self.state_of) if k >= 0)

    @property
    def commonest(self) -> int:
        """The rows of the commonest level: what one state for all would get right."""
        return int(self.crossed.sum(axis=0).max())

    @property
    def objectives(self) -> tuple[float, ...]:
        """What EM maximized (nats), at the end of each random start, from the best down."""
        runs = self.model.runs_
        return () if runs is None else tuple(sorted((t.last.objective for t in runs.traces), reverse=True))


def nearest(network: Network, name: str, most: int) -> tuple[str, ...]:
    """At most so many nodes of a network, in its order: the one named and those that fewest arcs, whichever way they
    point, part from it; among equals those that stand first.

    >>> table = pd.DataFrame({"a": list("xxyy"), "b": list("xyxy"), "c": list("xyyx")})
    >>> model = BayesianNetwork([("a", "b"), ("b", "c")]).fit(table)
    >>> nearest(model.network_, "c", 2)
    ('b', 'c')
    """
    beside: dict[str, set[str]] = {node: set() for node in network.names}
    for a, b in network.graph.arcs:
        beside[a].add(b)
        beside[b].add(a)
    kept, ring = {name}, [name]
    while ring and len(kept) < most:
        ring = [node for node in network.names if node not in kept and not beside[node].isdisjoint(ring)]
        ring = ring[: most - len(kept)]
        kept.update(ring)
    return tuple(node for node in network.names if node in kept)


def learn_back(model: BayesianNetwork, rows: pd.DataFrame, name: str, weight: Any = None) -> HiddenColumn:
    """Fit a network with `hidden={name: levels or how many}` to rows (n, d) without their column `name`, and hold its
    states against that column. Raises ParameterError where the network does not hide it.

    >>> table = pd.DataFrame({"a": list("xxxyyy") * 9, "b": list("uuuvvv") * 9, "h": list("001110") * 9})
    >>> arcs = hiding_parent("h", ["a", "b"])
    >>> found = learn_back(BayesianNetwork(arcs, hidden={"h": 2}, random_state=0), table, "h")
    >>> found.rows, found.right, found.crossed.sum(axis=1).tolist()
    (54, 36, [27, 27])
    """
    from scipy.optimize import linear_sum_assignment  # most pages never match states

    hidden = model.hidden or {}
    if name not in hidden:
        raise ParameterError("the network hides no node '{name}'", name=name)
    fitted = model.fit(rows.drop(columns=name), sample_weight=weight)
    known = rows[name].notna().to_numpy()
    column = pd.Categorical(rows[name][known])
    levels = tuple(level for level in column.categories if (column == level).any())
    codes = pd.Categorical(column, categories=list(levels)).codes.astype(np.intp)
    shares = fitted.posterior(rows[known].drop(columns=name), name)
    table = crossed(shares, codes, len(levels))
    states, matched = linear_sum_assignment(table, maximize=True)
    state_of = dict(zip(matched.tolist(), states.tolist(), strict=True))
    p = np.asarray(fitted.marginals()[name], dtype=float)
    return HiddenColumn(fitted, name, levels, table, tuple(state_of.get(s, -1) for s in range(len(levels))), p)


def hiding_parent(name: str, others: Iterable[str]) -> tuple[Arc, ...]:
    """The arcs of a latent class model: the hidden node is the parent of all other columns.

    >>> hiding_parent("h", ["a", "b"])
    (('h', 'a'), ('h', 'b'))
    """
    return tuple((name, other) for other in others)
