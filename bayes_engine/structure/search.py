"""Every method of structure search, under one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar, get_args

from bayes_engine.errors import ParameterError
from bayes_engine.priors import checked_word
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.chow_liu import Edge, conditional_information, directed, information, spanning_tree
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.exact_search import exact
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import ClimbSettings, hill_climb, k2
from bayes_engine.structure.scores import ScoreName, Scorer, scorer_of
from bayes_engine.structure.search_trace import Method, SearchControl, SearchResult, laid

__all__ = ["METHODS", "Method", "SearchOptions", "SearchResult", "search"]

T = TypeVar("T")
METHODS: tuple[Method, ...] = get_args(Method)


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
    """The structure that `method` finds: "hill-climb" (from `start`; restarts, perturbations, tabu, rng, max_steps),
    "k2" (`order`), "exact", "tree" (`root`), "naive" and "tan" (`target`), "given" (`start`). Structures that are not
    searched for must keep to the constraints.

    Raises ParameterError where the method lacks what it needs.

    >>> counts = FamilyCounts.of({"a": list("xxyy") * 5, "b": list("xxyy") * 5, "c": list("xyxy") * 5})
    >>> search(counts, method="tree").graph.arcs
    (('a', 'b'),)
    >>> search(counts, "mdl", method="k2", options=SearchOptions(order="cba")).graph.arcs
    (('b', 'a'),)
    """
    scorer = scorer_of(counts, score, options.sample_size)
    constraints = options.bounded()
    checked_word("method", method, METHODS)
    if method == "hill-climb":
        return hill_climb(
            counts, scorer, start=options.start, constraints=constraints, settings=options, control=options
        )
    if method == "k2":
        return k2(counts, _needed(options.order, "k2", "order"), scorer, constraints=constraints, control=options)
    if method == "exact":
        return exact(counts, scorer, constraints=constraints, control=options)
    if method == "tree":
        graph = DAG(counts.names, _tree(counts, counts.names, None, options.root))
    elif method == "naive":
        graph = _naive(counts, _needed(options.target, "naive", "target"))
    elif method == "tan":
        graph = _tan(counts, _needed(options.target, "tan", "target"), options.root)
    else:
        graph = _needed(options.start, "given", "start")
    constraints.checked(counts.names).admits(graph)
    return laid(scorer, graph, "given", method)


def _needed(value: T | None, method: str, name: str) -> T:
    if value is None:
        raise ParameterError("method='{method}' needs {name}=", method=method, name=name)
    return value


def _naive(counts: FamilyCounts, target: str) -> DAG:
    """The class above every other column, and nothing else."""
    counts.rank_of(target)
    return DAG(counts.names, [(target, name) for name in counts.names if name != target])


def _tan(counts: FamilyCounts, target: str, root: str | None) -> DAG:
    """The class above every other column, and these a tree by I(x_i; x_j | class) (Friedman, Geiger & Goldszmidt
    1997); `root` None: the column of which the class says most, equals by name."""
    others = tuple(name for name in counts.names if name != target)
    if root is None and others:
        nats = {name: information(counts.table((target, name))).information for name in others}
        root = min(others, key=lambda name: (-round(nats[name], 9), name))
    return DAG(counts.names, [*_naive(counts, target).arcs, *_tree(counts, others, target, root)])


def _tree(counts: FamilyCounts, names: tuple[str, ...], target: str | None, root: str | None) -> tuple[Edge, ...]:
    """The arcs of the tree with the highest likelihood (Chow & Liu 1968), given the `target` where there is one: the
    spanning tree of most mutual information, leading away from `root` (None: the first column). Columns that say
    nothing of each other stay apart."""
    if root is not None and root not in names:
        raise ParameterError("the root '{root}' is none of the tree's nodes", root=root)
    if not names:
        return ()
    weights = {}
    for a, b in combinations(names, 2):
        table = counts.table((a, b))[None] if target is None else counts.table((target, a, b))
        weights[a, b] = conditional_information(table).information
    edges = [step.edge for step in spanning_tree(names, weights) if step.taken]
    return directed(names, edges, names[0] if root is None else root)
