"""A sheet on Gibbs sampling: two single updates of a small network, each P(x_j | all other nodes) from the node's table
and those of its children (Zhou, §7.5.3; Pearl 1988, ch. 4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.factors.network import CPT, Network
from bayes_engine.language import Message
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.exercises.sheet import Blank, Drawn, ExerciseSheet, Part, Short, blanks

NODES = ("A", "B", "C", "D")
STRUCTURES = (
    {"B": "A", "C": "A", "D": "BC"},
    {"B": "A", "C": "AB", "D": "C"},
    {"C": "AB", "D": "C"},
    {"B": "A", "C": "B", "D": "BC"},
)
"""The parents of each node in the networks that are drawn from."""
NO_CHILDREN = Message("That is P(node | its parents) alone. The tables of its children say something of it, too.")
NO_OWN = Message("That is the product of the children's tables alone. Multiply by the node's own table as well.")
JOINT = Message("Divide by the sum of the two products.")
OTHER = Message("That is the probability of 0. Asked is that of 1.")
PRODUCT = Message(
    "Multiply the node's probability given its parents' values by that of each child's value given the child's "
    "parents, with the node set to this value. Other tables are the same for both values and cancel."
)
NORMALIZED = Message("Divide the product for 1 by the sum of both products.")


def gibbs_update(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number; it takes nothing from the table."""
    rng = drawn.rng()
    network = _network(rng)
    state = rng.integers(2, size=len(NODES))
    first, second = (int(j) for j in rng.permutation([0, 1, 2])[:2])  # each of these has a child in every structure
    value = int(rng.integers(2))
    before = ", ".join(f"{name} = {v}" for name, v in zip(NODES, state, strict=True))
    after = state.copy()
    after[first] = value
    parts = (
        Part(
            Message("The state is {state}. Update {name}.", {"state": before, "name": NODES[first]}),
            _asked(network, first, state, "a"),
        ),
        Part(
            Message(
                "The draw gives {before} = {value}. Update {name} next.",
                {"before": NODES[first], "value": value, "name": NODES[second]},
            ),
            _asked(network, second, after, "b"),
        ),
    )
    tables = tuple(
        (Message("P({name} | {parents})", {"name": c.name, "parents": ", ".join(p.name for p in c.parents)})
         if c.parents else Message("P({name})", {"name": c.name}), _shown(c))
        for c in network.cpts
    )  # fmt: skip
    return ExerciseSheet(
        Message("Two updates of Gibbs sampling by hand: the distribution from which each new value is drawn."),
        tables,
        parts,
    )


def _network(rng: np.random.Generator) -> Network:
    parents = STRUCTURES[rng.integers(len(STRUCTURES))]
    nodes = {name: Variable(name, "categorical", ("0", "1")) for name in NODES}
    cpts = []
    for name, node in nodes.items():
        above = parents.get(name, "")
        one = rng.integers(1, 10, size=(2,) * len(above)) / 10
        cpts.append(CPT(node, [nodes[p] for p in above], np.stack([1 - one, one], axis=-1)))
    return Network(cpts)


def _asked(network: Network, j: int, state: NDArray[np.int_], key: str) -> tuple[Blank, ...]:
    def solve(short: Short, slip: str) -> Mapping[str, float]:
        products = []
        for value in (0, 1):
            places = state.copy()
            places[j] = value
            product = 1.0
            for cpt in network.cpts:
                axes = network.axes(cpt.scope)
                if (
                    j not in axes
                    or (slip == "children" and cpt.name != NODES[j])
                    or (slip == "own" and cpt.name == NODES[j])
                ):
                    continue
                product = short(product * float(cpt.p[tuple(places[k] for k in axes)]))
            products.append(product)
        total = 1.0 if slip == "joint" else sum(products)
        numbers = {f"{key}0": products[0], f"{key}1": products[1]}
        return numbers | {f"{key}p": products[0 if slip == "other" else 1] / total}

    name = NODES[j]
    asked = {
        f"{key}0": (Message("The product for {name} = 0", {"name": name}), PRODUCT),
        f"{key}1": (Message("The product for {name} = 1", {"name": name}), PRODUCT),
        f"{key}p": (Message("P({name} = 1 | the others)", {"name": name}), NORMALIZED),
    }
    return blanks(solve, asked, [("children", NO_CHILDREN), ("own", NO_OWN), ("joint", JOINT), ("other", OTHER)])


def _shown(cpt: CPT) -> pd.DataFrame:
    """A line for each combination of the parents' values."""
    rows = list(np.ndindex(*cpt.p.shape[:-1]))
    cells: dict[str, list[object]] = {p.name: [row[k] for row in rows] for k, p in enumerate(cpt.parents)}
    for value in (0, 1):
        cells[f"{cpt.name} = {value}"] = [round(float(cpt.p[(*row, value)]), 3) for row in rows]
    return pd.DataFrame(cells)
