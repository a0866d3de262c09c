"""What a structure search may not do, or must: required and forbidden arcs, tiers, the number of parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.structure.graph import DAG, Arc


@dataclass(frozen=True)
class Constraints:
    """`required` arcs are in every graph, `forbidden` ones in none; no arc leads from a later tier to an earlier one
    (a node in no tier is free); `max_parents` bounds every node (None: no bound).

    >>> Constraints(required=(("a", "b"),), tiers=(("b",), ("a",))).checked(("a", "b"))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.ParameterError: the required arc a → b leads from tier 2 back to tier 1
    """

    required: tuple[Arc, ...] = ()
    forbidden: tuple[Arc, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    max_parents: int | None = None

    def allows(self, parent: str, child: str) -> bool:
        """Whether the arc may be in the graph, as far as arcs and tiers are concerned."""
        return bool(self.allowed((parent, child))[0, 1])

    def allowed(self, nodes: Sequence[str]) -> NDArray[np.bool_]:
        """(d, d) the same for every two nodes, a row for each parent."""
        position = {name: i for i, name in enumerate(nodes)}
        matrix = ~np.eye(len(nodes), dtype=bool)
        for a, b in self.forbidden:
            if a in position and b in position:
                matrix[position[a], position[b]] = False
        tier = np.array([self._tier.get(name, -1) for name in nodes])
        matrix &= (tier[:, None] <= tier) | (tier == -1)
        return matrix

    def checked(self, nodes: Sequence[str]) -> Constraints:
        """Itself. Raises ParameterError, naming it, on the first contradiction or unknown node."""
        known = set(nodes)
        placed = [name for tier in self.tiers for name in tier]
        for name in [*(n for arc in (*self.required, *self.forbidden) for n in arc), *placed]:
            if name not in known:
                raise ParameterError("the constraints name '{name}', which is no node", name=name)
        for name in placed:
            if placed.count(name) > 1:
                raise ParameterError("'{name}' stands in two tiers", name=name)
        tier_of = self._tier
        for a, b in self.required:
            if (a, b) in self.forbidden:
                raise ParameterError("the arc {a} → {b} is both required and forbidden", a=a, b=b)
            if not self.allows(a, b):
                raise ParameterError(
                    "the required arc {a} → {b} leads from tier {later} back to tier {earlier}",
                    a=a, b=b, later=tier_of[a] + 1, earlier=tier_of[b] + 1,
                )  # fmt: skip
        try:
            must = DAG(nodes, self.required)
        except ParameterError as error:
            cycle = str(error.message.params["cycle"])
            raise ParameterError("the required arcs close a cycle: {cycle}", cycle=cycle) from None
        if self.max_parents is not None:
            if self.max_parents < 0:
                raise ParameterError("max_parents={value} is below 0", value=self.max_parents)
            for name, above in must.parents.items():
                if len(above) > self.max_parents:
                    raise ParameterError(
                        "'{name}' has {n} required parents ({parents}), more than max_parents={most}",
                        name=name, n=len(above), parents=", ".join(above), most=self.max_parents,
                    )  # fmt: skip
        return self

    def admits(self, graph: DAG) -> None:
        """Raises ParameterError, saying why, where the graph breaks one of the constraints."""
        for a, b in self.required:
            if (a, b) not in graph.arcs:
                raise ParameterError("the graph lacks the required arc {a} → {b}", a=a, b=b)
        for a, b in graph.arcs:
            if not self.allows(a, b):
                raise ParameterError("the constraints forbid the arc {a} → {b} of the graph", a=a, b=b)
        for name, above in graph.parents.items():
            if self.max_parents is not None and len(above) > self.max_parents:
                raise ParameterError(
                    "'{name}' has {n} parents in the graph, more than max_parents={most}",
                    name=name, n=len(above), most=self.max_parents,
                )  # fmt: skip

    @property
    def _tier(self) -> dict[str, int]:
        return {name: i for i, tier in enumerate(self.tiers) for name in tier}
