"""One door to every way of finding a structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.climb import hill_climb, k2
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.exact import exact
from bayes_engine.structure.fixed import given, naive_graph, tan_graph, tree_graph
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import ScoreName, Scorer, scorer_of
from bayes_engine.structure.trace import Candidate, Method, Progress, Search, SearchStep, SearchTrace, Status, laid

__all__ = [
    "METHODS", "Candidate", "Constraints", "Method", "Progress", "Search", "SearchStep", "SearchTrace", "Status",
    "exact", "given", "hill_climb", "k2", "naive_graph", "search", "tan_graph", "tree_graph",
]  # fmt: skip

T = TypeVar("T")
METHODS: tuple[Method, ...] = ("hill-climb", "k2", "exact", "tree", "naive", "tan", "given")


def search(
    counts: FamilyCounts,
    score: ScoreName | Scorer = "bic",
    *,
    method: Method = "hill-climb",
    start: DAG | None = None,
    order: Sequence[str] | None = None,
    target: str | None = None,
    root: str | None = None,
    constraints: Constraints = Constraints(),  # noqa: B008  (frozen)
    max_parents: int | None = None,
    sample_size: float = 1.0,
    restarts: int = 1,
    tabu: int = 10,
    rng: np.random.Generator | None = None,
    max_steps: int | None = None,
    time_budget: float | None = None,
    cancel: Callable[[], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Search:
    """The structure that `method` finds: "hill-climb" (from `start`; restarts, tabu, rng, max_steps), "k2" (`order`),
    "exact", "tree" (`root`), "naive" and "tan" (`target`), "given" (`start`). `max_parents` is added to the
    constraints; structures that are not searched for must keep to them.

    Raises ParameterError where the method lacks what it needs.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"a": list("xxyy") * 5, "b": list("xxyy") * 5, "c": list("xyxy") * 5})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> search(counts, method="tree").graph.arcs, search(counts, "mdl", method="k2", order="cba").graph.arcs
    ((('a', 'b'),), (('b', 'a'),))
    """
    scorer = scorer_of(counts, score, sample_size)
    if max_parents is not None:
        bound = max_parents if constraints.max_parents is None else min(max_parents, constraints.max_parents)
        constraints = replace(constraints, max_parents=bound)
    if method not in METHODS:
        known = ", ".join(f"'{name}'" for name in METHODS)
        raise ParameterError("method='{value}' is not one of {known}", value=str(method), known=known)
    if method == "hill-climb":
        return hill_climb(
            counts, scorer, start=start, constraints=constraints, restarts=restarts, tabu=tabu, rng=rng,
            max_steps=max_steps, time_budget=time_budget, cancel=cancel, progress=progress,
        )  # fmt: skip
    if method == "k2":
        return k2(
            counts, _needed(order, "k2", "order"), scorer, constraints=constraints, time_budget=time_budget,
            cancel=cancel, progress=progress,
        )  # fmt: skip
    if method == "exact":
        return exact(counts, scorer, constraints=constraints, time_budget=time_budget, cancel=cancel, progress=progress)
    if method == "tree":
        graph = tree_graph(counts, root)
    elif method == "naive":
        graph = naive_graph(counts, _needed(target, "naive", "target"))
    elif method == "tan":
        graph = tan_graph(counts, _needed(target, "tan", "target"), root)
    else:
        graph = _needed(start, "given", "start")
    constraints.checked(counts.names).admits(graph)
    return laid(scorer, graph, "given", method)


def _needed(value: T | None, method: str, name: str) -> T:
    if value is None:
        raise ParameterError("method='{method}' needs {name}=", method=method, name=name)
    return value
