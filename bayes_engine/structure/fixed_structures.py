"""Structures that are not searched for: naive Bayes, TAN, Chow and Liu's tree, a graph that is given."""

from __future__ import annotations

from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.chow_liu import conditional_information, directed, spanning_tree
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import ScoreName, Scorer, scorer_of
from bayes_engine.structure.search_trace import SearchResult, laid


def given(
    counts: FamilyCounts, graph: DAG, score: ScoreName | Scorer = "bic", *, sample_size: float = 1.0
) -> SearchResult:
    """A graph of the user's in the same score, its arcs laid one after the other.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"rain": list("nnyy"), "wet": list("nnyy")})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> found = given(counts, DAG(counts.names, [("wet", "rain")]))
    >>> [round(step.delta, 4) for step in found.trace.steps], round(found.score, 4)  # 4 log 2 − ½ log 4
    ([2.0794], -4.852)
    """
    return laid(scorer_of(counts, score, sample_size), graph, "given", "given")


def naive_graph(counts: FamilyCounts, target: str) -> DAG:
    """The class above every other column, and nothing else.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"a": list("xyxy"), "b": list("xxyy"), "c": list("xxyy")})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> naive_graph(counts, "c").arcs
    (('c', 'a'), ('c', 'b'))
    """
    counts.rank_of(target)
    return DAG(counts.names, [(target, name) for name in counts.names if name != target])


def tree_graph(counts: FamilyCounts, root: str | None = None) -> DAG:
    """The tree with the highest likelihood (Chow & Liu 1968): the spanning tree of most mutual information, its arcs
    leading away from `root` (None: the first column). Columns that say nothing of each other stay apart.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"a": list("xxyy"), "b": list("xxyy"), "c": list("xyxy")})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> tree_graph(counts, "b").arcs
    (('b', 'a'),)
    """
    return DAG(counts.names, _tree(counts, counts.names, None, root))


def tan_graph(counts: FamilyCounts, target: str, root: str | None = None) -> DAG:
    """The class above every other column, and these a tree by I(x_i; x_j | class) (Friedman, Geiger & Goldszmidt
    1997); `root` None: the column of which the class says most, equals by name.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> from bayes_engine.table.schema import Schema
    >>> frame = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xxyyxxyy"), "c": list("nnnnyyyy")})
    >>> counts = FamilyCounts(encode(frame, Schema.from_dtypes(frame)))
    >>> tan_graph(counts, "c").arcs
    (('c', 'a'), ('a', 'b'), ('c', 'b'))
    """
    others = tuple(name for name in counts.names if name != target)
    if root is None and others:
        nats = {name: conditional_information(counts.table((target, name))[None]).information for name in others}
        root = min(others, key=lambda name: (-round(nats[name], 9), name))
    return DAG(counts.names, [*naive_graph(counts, target).arcs, *_tree(counts, others, target, root)])


def _tree(
    counts: FamilyCounts, names: tuple[str, ...], target: str | None, root: str | None
) -> tuple[tuple[str, str], ...]:
    if root is not None and root not in names:
        raise ParameterError("the root '{root}' is none of the tree's nodes", root=root)
    if not names:
        return ()
    weights = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            table = counts.table((a, b))[None] if target is None else counts.table((target, a, b))
            weights[a, b] = conditional_information(table).information
    edges = [step.edge for step in spanning_tree(names, weights) if step.taken]
    return directed(names, edges, names[0] if root is None else root)
