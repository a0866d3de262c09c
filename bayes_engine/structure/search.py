"""Every method of structure search, under one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.exact_search import exact
from bayes_engine.structure.fixed_structures import given, naive_graph, tan_graph, tree_graph
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import ClimbSettings, hill_climb, k2
from bayes_engine.structure.scores import ScoreName, Scorer, scorer_of
from bayes_engine.structure.search_trace import (
    Candidate,
    Method,
    SearchControl,
    SearchProgress,
    SearchResult,
    SearchStep,
    SearchTrace,
    Status,
    laid,
)

__all__ = [
    "METHODS",
    "Candidate",
    "ClimbSettings",
    "Constraints",
    "Method",
    "SearchControl",
    "SearchOptions",
    "SearchProgress",
    "SearchResult",
    "SearchStep",
    "SearchTrace",
    "Status",
    "exact",
    "given",
    "hill_climb",
    "k2",
    "naive_graph",
    "search",
    "tan_graph",
    "tree_graph",
]  # fmt: skip

T = TypeVar("T")
METHODS: tuple[Method, ...] = ("hill-climb", "k2", "exact", "tree", "naive", "tan", "given")


@dataclass(frozen=True, kw_only=True)
class SearchOptions(ClimbSettings, SearchControl):
    """What a search may be told beside its method: where it starts, the `order`, `target` or `root` that some methods
    need, what the graph must keep to (`max_parents` is added to the constraints), and `sample_size` of the BDeu score;
    for climbing the settings, and for every search what controls it from outside."""

    start: DAG | None = None
    order: Sequence[str] | None = None
    target: str | None = None
    root: str | None = None
    constraints: Constraints = Constraints()  # noqa: RUF009  (frozen)
    max_parents: int | None = None
    sample_size: float = 1.0

    def bounded(self) -> Constraints:
        """The constraints with `max_parents` among them."""
        rules, most = self.constraints, self.max_parents
        if most is None:
            return rules
        return replace(rules, max_parents=most if rules.max_parents is None else min(most, rules.max_parents))


def search(
    counts: FamilyCounts,
    score: ScoreName | Scorer = "bic",
    *,
    method: Method = "hill-climb",
    options: SearchOptions = SearchOptions(),
) -> SearchResult:
    """The structure that `method` finds: "hill-climb" (from `start`; restarts, tabu, rng, max_steps), "k2" (`order`),
    "exact", "tree" (`root`), "naive" and "tan" (`target`), "given" (`start`). Structures that are not searched for
    must keep to the constraints.

    Raises ParameterError where the method lacks what it needs.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"a": list("xxyy") * 5, "b": list("xxyy") * 5, "c": list("xyxy") * 5})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> search(counts, method="tree").graph.arcs
    (('a', 'b'),)
    >>> search(counts, "mdl", method="k2", options=SearchOptions(order="cba")).graph.arcs
    (('b', 'a'),)
    """
    scorer = scorer_of(counts, score, options.sample_size)
    constraints = options.bounded()
    if method not in METHODS:
        known = ", ".join(f"'{name}'" for name in METHODS)
        raise ParameterError("method='{value}' is not one of {known}", value=str(method), known=known)
    if method == "hill-climb":
        return hill_climb(
            counts, scorer, start=options.start, constraints=constraints, settings=options, control=options
        )
    if method == "k2":
        return k2(counts, _needed(options.order, "k2", "order"), scorer, constraints=constraints, control=options)
    if method == "exact":
        return exact(counts, scorer, constraints=constraints, control=options)
    if method == "tree":
        graph = tree_graph(counts, options.root)
    elif method == "naive":
        graph = naive_graph(counts, _needed(options.target, "naive", "target"))
    elif method == "tan":
        graph = tan_graph(counts, _needed(options.target, "tan", "target"), options.root)
    else:
        graph = _needed(options.start, "given", "start")
    constraints.checked(counts.names).admits(graph)
    return laid(scorer, graph, "given", method)


def _needed(value: T | None, method: str, name: str) -> T:
    if value is None:
        raise ParameterError("method='{method}' needs {name}=", method=method, name=name)
    return value
