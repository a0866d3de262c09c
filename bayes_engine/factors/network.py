"""A Bayesian network as numbers: one conditional probability table for every node of a graph (Zhou, eq. 7.26).

P(x) = Π_j P(x_j | pa_j). A row of evidence is places: for each node the position of its level, HIDDEN where it is not
known. `fit` and `learn` make networks from statistics, inference reads them, files hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array, log
from bayes_engine.structure.graph import DAG
from bayes_engine.table.schema import Variable

HIDDEN = -1
"""The place of a cell that is not known."""
SUMS = 1e-6
"""A row of a table may miss 1 by this much and is divided by its sum; published networks miss by more, and are read
with `normalized`."""


@dataclass(frozen=True, eq=False)
class CPT:
    """P(x_j | pa_j): `p` (*S_parents, S_j), each row a distribution over the levels of `variable`.

    Raises ParameterError, naming the row, where one is no distribution.

    >>> rain = Variable("rain", "categorical", ("no", "yes"))
    >>> CPT(rain, (), [0.8, 0.25])
    Traceback (most recent call last):
    ...
    bayes_engine.errors.ParameterError: P(rain) sums to 1.05, not 1
    """

    variable: Variable
    parents: tuple[Variable, ...]
    p: Array

    def __init__(self, variable: Variable, parents: Iterable[Variable], p: Any) -> None:
        object.__setattr__(self, "variable", variable)
        object.__setattr__(self, "parents", tuple(parents))
        object.__setattr__(self, "p", _checked(variable, self.parents, p))

    @property
    def name(self) -> str:
        """Of the node."""
        return self.variable.name

    @property
    def scope(self) -> tuple[str, ...]:
        """The names of the table's axes: the parents in the table's own order, then the node."""
        return (*(v.name for v in self.parents), self.variable.name)

    @cached_property
    def log(self) -> Array:
        """(*S_parents, S_j) log P(x_j | pa_j) in nats; −inf where a zero is meant."""
        return log(self.p)

    @cached_property
    def index(self) -> pd.Index:
        """The levels, by which answers are labelled."""
        return pd.Index(self.variable.levels, name=self.name)

    @cached_property
    def place_of(self) -> Mapping[Any, int]:
        """Where each level stands; of intervals those that are words, since a number means the one that holds it."""
        of_words = self.variable.cuts is not None
        named = {level: place for place, level in reversed(list(enumerate(self.variable.levels)))}
        return {level: place for level, place in named.items() if isinstance(level, str) or not of_words}

    @property
    def free(self) -> int:
        """How many numbers of the table are free."""
        return int(self.p[..., 0].size * (self.p.shape[-1] - 1))

    @classmethod
    def normalized(cls, variable: Variable, parents: Iterable[Variable], p: Any) -> CPT:
        """The table with every row divided by its sum: published numbers are rounded.

        Raises ParameterError where a row misses 1 by more than 1 %.
        """
        return cls(variable, parents, _divided(np.asarray(p, dtype=float), near=0.01))


@dataclass(frozen=True, eq=False)
class Network:
    """A distribution over discrete variables: one `CPT` for each node, in the order of the nodes.

    Raises ParameterError where a parent has no table of its own or other levels there, or the arcs close a cycle.

    >>> rain, wet = (Variable(name, "categorical", ("no", "yes")) for name in ("rain", "wet"))
    >>> network = Network([CPT(rain, (), [0.8, 0.2]), CPT(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]])])
    >>> network.graph.arcs, network.log_joint(np.array([[1, 1]])).round(4).tolist()
    ((('rain', 'wet'),), [-1.8326])
    """

    cpts: tuple[CPT, ...]

    def __init__(self, cpts: Iterable[CPT]) -> None:
        object.__setattr__(self, "cpts", tuple(cpts))
        for cpt in self.cpts:
            for parent in cpt.parents:
                if parent.name in self.position and parent.levels != self[parent.name].variable.levels:
                    raise ParameterError(
                        "the table of '{name}' gives its parent '{parent}' other levels than that node has",
                        name=cpt.name,
                        parent=parent.name,
                    )
        self.graph  # noqa: B018  (raises on a doubled node, an unknown parent, a cycle)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each node stands: its column in a row of evidence."""
        return {cpt.name: j for j, cpt in enumerate(self.cpts)}

    @cached_property
    def graph(self) -> DAG:
        """The structure, as the tables' parents say it."""
        arcs = [(v.name, cpt.name) for cpt in self.cpts for v in cpt.parents]
        return DAG((cpt.name for cpt in self.cpts), arcs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order of their columns in a row of evidence."""
        return tuple(cpt.name for cpt in self.cpts)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each node has."""
        return tuple(len(cpt.variable.levels) for cpt in self.cpts)

    def __getitem__(self, name: str) -> CPT:
        if name in self.position:
            return self.cpts[self.position[name]]
        known = ", ".join(f"'{node}'" for node in self.names)
        raise ParameterError("the network has no node '{name}'; its nodes are {known}", name=name, known=known)

    @property
    def free(self) -> int:
        """How many numbers are free in all tables together."""
        return sum(cpt.free for cpt in self.cpts)

    def with_cpt(self, cpt: CPT) -> Network:
        """The network with one node's table replaced; its parents may be others."""
        self[cpt.name]
        return Network(cpt if cpt.name == old.name else old for old in self.cpts)

    def places(self, evidence: Mapping[str, Any]) -> NDArray[np.intp]:
        """(d,) one row of evidence from {node: level}; HIDDEN where it says nothing.

        Raises ParameterError where a node or a level is unknown.

        >>> rain = Variable("rain", "categorical", ("no", "yes"))
        >>> Network([CPT(rain, (), [0.8, 0.2])]).places({"rain": "yes"}).tolist()
        [1]
        """
        row = np.full(len(self.cpts), HIDDEN, dtype=np.intp)
        for name, level in evidence.items():
            levels = self[name].variable.levels
            try:
                row[self.position[name]] = levels.index(level)
            except ValueError:
                raise ParameterError(
                    "'{level}' is no level of '{name}'; its levels are {known}",
                    level=str(level),
                    name=name,
                    known=", ".join(f"'{v}'" for v in levels),
                ) from None
        return row

    def axes(self, scope: Sequence[str]) -> tuple[int, ...]:
        """The columns of these nodes in a row of evidence."""
        return tuple(self.position[name] for name in scope)

    def log_joint(self, places: NDArray[np.intp]) -> Array:
        """(n,) log P(x) in nats of rows without a hidden cell, places (n, d)."""
        total = np.zeros(len(places))
        for cpt in self.cpts:
            total += cpt.log[tuple(places[:, j] for j in self.axes(cpt.scope))]
        return total


class Family(NamedTuple):
    """log P(x_j | pa_j) with the evidence sliced out: an axis for each column of `scope`."""

    scope: tuple[int, ...]
    log: Array


def sliced(network: Network, evidence: NDArray[np.intp]) -> list[Family]:
    """Every family's table at the places of the evidence (d,), over its hidden nodes."""
    families = []
    for cpt in network.cpts:
        axes = network.axes(cpt.scope)
        table = cpt.log[tuple(slice(None) if evidence[j] == HIDDEN else evidence[j] for j in axes)]
        families.append(Family(tuple(j for j in axes if evidence[j] == HIDDEN), np.asarray(table)))
    return families


def _checked(variable: Variable, parents: tuple[Variable, ...], p: Any) -> Array:
    try:
        table = np.array(p, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError("the table of '{name}' holds what is no number", name=variable.name) from None
    shape = (*(len(v.levels) for v in parents), len(variable.levels))
    if table.shape != shape or 0 in shape:
        raise ParameterError(
            "the table of '{name}' has shape {found}; its parents' levels and its own ask for {wanted}",
            name=variable.name,
            found=str(table.shape),
            wanted=str(shape),
        )
    bad = ~((table >= 0).all(axis=-1) & (np.abs(table.sum(axis=-1) - 1.0) <= SUMS))
    if bad.any():
        cell = tuple(int(i) for i in np.argwhere(bad)[0])
        given = ", ".join(f"{v.name} = {v.levels[i]}" for v, i in zip(parents, cell, strict=True))
        row = f"P({variable.name} | {given})" if parents else f"P({variable.name})"
        if not (table[cell] >= 0).all():
            raise ParameterError("{row} holds what is no probability of 0 and more", row=row)
        raise ParameterError("{row} sums to {total:.9g}, not 1", row=row, total=float(table[cell].sum()))
    table = _divided(table)
    table.setflags(write=False)
    return table


def _divided(table: Array, near: float = SUMS) -> Array:
    """Rows that miss 1 by more than rounding, and by at most `near`, divided by their sum; done twice is done once."""
    total = table.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1.0)
    rounding = 4 * np.finfo(float).eps * table.shape[-1]
    return np.asarray(np.divide(table, total, out=table.copy(), where=(off > rounding) & (off <= near)))
