"""Tables of pairs and of wider families in passes of their own: what TAN learns of columns whose pair tables do not fit
into memory, block of pairs by block, and what k-DB learns once a pass over the pairs has chosen its parents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from bayes_engine.errors import ReadError
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.tan import TAN
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name
from bayes_engine.structure.chow_liu import Edge, spanning_tree
from bayes_engine.structure.dependence import dependences
from bayes_engine.table.schema import Schema

PAIR_BYTES = 2.5e8
"""What the tables of pairs of one pass may take, with their copies under way, where TAN divides them into blocks."""

WIDE = 32
"""Columns up to which TAN counts all pairs in one pass."""

Stats = SufficientStatistics
Counted = Callable[[str, Schema, tuple[Name, ...]], Stats]
"""A pass that counts families of columns under a schema; what it is called is the ending of its file."""


def needs_levels(model: Any, columns: int) -> bool:
    """Whether the columns' levels are to be known before their pairs are counted."""
    return type(model) is TAN and columns > WIDE


def blocks_of_pairs(schema: Schema, n_classes: int, threads: int) -> list[list[Edge]]:
    """All pairs in as many blocks as PAIR_BYTES asks for, a pass each.

    >>> from bayes_engine.table.schema import Variable
    >>> schema = Schema(tuple(Variable(f"c{j}", "categorical", tuple(range(999))) for j in range(4)))
    >>> [len(block) for block in blocks_of_pairs(schema, 2, 1)]
    [1, 1, 1, 1, 1, 1]
    """
    most = PAIR_BYTES / 8.0 / (3 * threads + 6)  # each thread's sum, part and new sum; the nodes of the tree
    sizes = {v.name: 1 + len(v.levels) for v in schema}
    blocks: list[list[Edge]] = [[]]
    held = 0.0
    for a, b in combinations(sizes, 2):
        cells = float(n_classes * sizes[a] * sizes[b])
        if blocks[-1] and held + cells > most:
            blocks.append([])
            held = 0.0
        blocks[-1].append((a, b))
        held += cells
    return blocks


def tree_in_blocks(model: TAN, schema: Schema, blocks: Sequence[Sequence[Edge]], counted: Counted) -> Stats:
    """The statistics of TAN that hold the tables of a spanning tree alone: a pass for each block of pairs, of which the
    information of each pair stays, and one for the tables of the tree."""
    weights: dict[Edge, float] = {}
    for i, block in enumerate(blocks, start=1):
        stats = counted(f"pairs{i}", schema, tuple(block))
        weights.update(dependences(stats, model.missing == "category", float(model.var_floor)).weights)
    return counted("tree", schema, tuple(_spanning(schema.names, weights)))


def _spanning(names: Sequence[str], weights: dict[Edge, float]) -> list[Edge]:
    """The edges of a maximum spanning tree, those of no weight among them, so that no column is apart."""
    taken = [step.edge for step in spanning_tree(names, weights) if step.taken]
    least = dict.fromkeys(weights, 1.0) | dict.fromkeys(taken, 2.0)
    return [step.edge for step in spanning_tree(names, least) if step.taken]


def with_wider(model: KDependence, stats: Stats, counted: Counted) -> Stats:
    """The statistics with the tables of the families that k-DB chooses of the pairs: one pass more, none if there are
    none."""
    names = model.wider_families(stats)
    if not names:
        return stats
    return joined(stats, counted("families", stats.schema, tuple(names)))


def joined(pairs: Stats, wider: Stats) -> Stats:
    """Those of one pass with the families of another over the same rows. Raises ReadError where they are not."""
    if [(v.name, v.levels) for v in pairs.schema] != [(v.name, v.levels) for v in wider.schema] or (
        pairs.class_weight.tolist() != wider.class_weight.tolist()
    ):
        raise ReadError("the files have changed between two passes; begin again")
    more = wider.under(pairs.schema, pairs.target).families
    own = pairs.families
    return replace(
        pairs, families=replace(own, tables={**own.tables, **more.tables}, moments={**own.moments, **more.moments})
    )
