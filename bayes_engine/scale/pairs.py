"""Tables of pairs and of wider families in passes of their own: what TAN learns of columns whose pair tables do not fit
into memory, block of pairs by block, and what k-DB learns once a pass over the pairs has chosen its parents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

from bayes_engine.errors import ReadError
from bayes_engine.models.tan import TAN
from bayes_engine.scale.memory import release
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name
from bayes_engine.structure.chow_liu import Edge, spanning_tree
from bayes_engine.structure.dependence import dependences
from bayes_engine.table.schema import Schema

PAIR_BYTES = 2.5e8
"""What the tables of pairs of one pass may take, with their copies under way, where TAN divides them into blocks."""

FAMILY_BYTES = 1.5e8
"""The same of wider families, whose tables are kept from pass to pass."""

WIDE = 32
"""Columns up to which TAN counts all pairs in one pass."""

Stats = SufficientStatistics
Counted = Callable[[str, Schema, tuple[Name, ...]], Stats]
"""A pass that counts families of columns under a schema; what it is called is the ending of its file."""


def needs_levels(model: Any, columns: int) -> bool:
    """Whether the columns' levels are to be known before their pairs are counted."""
    return type(model) is TAN and columns > WIDE


def blocks_of(
    names: Iterable[Name], schema: Schema, n_classes: int, threads: int, most: float
) -> list[tuple[Name, ...]]:
    """These families of columns in as many blocks as `most` bytes ask for, a pass each by so many threads.

    >>> from bayes_engine.table.schema import Variable
    >>> schema = Schema(tuple(Variable(name, "categorical", tuple(range(9))) for name in "abcd"))
    >>> blocks_of([("a", "b"), ("b", "c"), ("c", "d")], schema, 2, 1, 3e4)
    [(('a', 'b'), ('b', 'c')), (('c', 'd'),)]
    """
    most /= 8.0 * (3 * threads + 6)  # each thread's sum, part and new sum; the nodes of the tree
    sizes = {v.name: 1 + len(v.levels) for v in schema}
    blocks: list[tuple[Name, ...]] = []
    held = 0.0
    for name in names:
        cells = float(n_classes * prod(sizes[column] for column in name))
        if not blocks or held + cells > most:
            blocks.append(())
            held = 0.0
        blocks[-1] += (name,)
        held += cells
    return blocks


def blocks_of_pairs(schema: Schema, n_classes: int, threads: int) -> list[tuple[Name, ...]]:
    """All pairs of columns in as many blocks as PAIR_BYTES asks for."""
    return blocks_of(combinations(schema.names, 2), schema, n_classes, threads, PAIR_BYTES)


def blocks_of_wider(names: Sequence[Name], stats: Stats, threads: int) -> tuple[list[tuple[Name, ...]], int]:
    """These families in one block where their tables fit into memory with all threads, else in blocks for one thread,
    which takes the fewest passes; and how many threads."""
    n_classes = len(stats.target.levels)
    blocks = blocks_of(names, stats.schema, n_classes, threads, FAMILY_BYTES)
    if len(blocks) > 1 and threads > 1:
        return blocks_of(names, stats.schema, n_classes, 1, FAMILY_BYTES), 1
    return blocks, threads


def tree_in_blocks(model: TAN, schema: Schema, blocks: Sequence[tuple[Name, ...]], counted: Counted) -> Stats:
    """The statistics of TAN that hold the tables of a spanning tree alone: a pass for each block of pairs, of which the
    information of each pair stays, and one for the tables of the tree."""
    weights: dict[Edge, float] = {}
    for i, block in enumerate(blocks, start=1):
        stats = counted(f"pairs{i}", schema, block)
        weights.update(dependences(stats, model.missing == "category", float(model.var_floor)).weights)
    return counted("tree", schema, tuple(_spanning(schema.names, weights)))


def _spanning(names: Sequence[str], weights: dict[Edge, float]) -> list[Edge]:
    """The edges of a maximum spanning tree, those of no weight among them, so that no column is apart."""
    taken = [step.edge for step in spanning_tree(names, weights) if step.taken]
    least = dict.fromkeys(weights, 1.0) | dict.fromkeys(taken, 2.0)
    return [step.edge for step in spanning_tree(names, least) if step.taken]


def with_wider(stats: Stats, blocks: Sequence[tuple[Name, ...]], counted: Counted) -> Stats:
    """The statistics with the tables of the families that are chosen of the pairs: a pass for each block."""
    for i, block in enumerate(blocks, start=1):
        ending = "families" if len(blocks) == 1 else f"families{i}"
        stats = joined(stats, counted(ending, stats.schema, block))
        release()
    return stats


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
