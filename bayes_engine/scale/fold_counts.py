"""Statistics fold by fold, in one pass, and those that each fold's model is learnt from: the other folds' merged, its
cut points found in them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bayes_engine.errors import TableError
from bayes_engine.scale.arrow import CountPlan, encoded
from bayes_engine.scale.csv_blocks import Csv
from bayes_engine.scale.folds import Division, folds_of
from bayes_engine.scale.kept import KeptSum
from bayes_engine.scale.scan import counter_of
from bayes_engine.scale.sources import Parquet
from bayes_engine.scale.stream import Packing, Piece, Workers, added_up, folded
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.partial import PartialNode, PartialStatistics, in_order, merged
from bayes_engine.store.statistics import load_partial, packed_partial
from bayes_engine.table.discretize import interval_names
from bayes_engine.table.schema import Schema

Stats = SufficientStatistics


class FoldCounts(NamedTuple):
    stats: list[Stats | None]
    rows: list[int]


def counted_by_fold(
    source: Parquet | Csv,
    plan: CountPlan,
    division: Division,
    workers: Workers,
    step: tuple[int, int],
    kept: KeptSum | None = None,
) -> FoldCounts:
    """The statistics of each fold. Raises TableError where one has no row."""
    k = division.folds
    packing = Packing(partial(_packed, plan=plan), partial(_unpacked, k=k), kept)
    count = partial(_fold_counts, plan=plan, division=division)
    total = added_up(source, plan, count, _added, workers, step=step, packing=packing)
    if total is None:
        raise TableError("there are no rows to count: the files are empty")
    if 0 in total.rows:
        raise TableError(
            "of {k} folds {n} have no row: there are too few rows, or groups, to divide; take fewer folds",
            k=k,
            n=total.rows.count(0),
        )
    return total


def _fold_counts(piece: Piece, plan: CountPlan, division: Division) -> FoldCounts:
    """The statistics of a batch, fold by fold."""
    table, labels, target = encoded(piece.batch, plan, piece.block.declared, {}, piece.row)
    fold = folds_of(division.hashes(piece), division.folds)
    rows = [np.flatnonzero(fold == i) for i in range(division.folds)]
    count = counter_of(plan)
    stats = [count(table.take(own), labels.take(own), target) if len(own) else None for own in rows]
    return FoldCounts(stats, list(map(len, rows)))


def _added(a: FoldCounts, b: FoldCounts) -> FoldCounts:
    """Both are used up: a fold's parts are let go of before the next is added, so the sum is held once."""
    stats = [folded((a.stats.pop(0), b.stats.pop(0)), merged) for _ in range(len(a.stats))]
    return FoldCounts(stats, [n + m for n, m in zip(a.rows, b.rows, strict=True)])


def _packed(counts: FoldCounts, plan: CountPlan) -> bytes:
    """As the file of an unfinished count: fold i stands where file i would."""
    nodes = [PartialNode(i, 0, 0, 1, n, s) for i, (n, s) in enumerate(zip(counts.rows, counts.stats, strict=True))]
    asked = (plan.target, plan.schema.names, plan.weight, plan.want)
    return packed_partial(PartialStatistics(*asked, None, (), tuple(nodes)))


def _unpacked(data: bytes, k: int) -> FoldCounts:
    nodes = load_partial(data).nodes
    assert len(nodes) == k
    return FoldCounts([node.stats for node in nodes], [node.rows for node in nodes])


def of_other_folds(counts: FoldCounts, given: Schema) -> tuple[Stats, list[Stats]]:
    """The statistics of all rows, and of each fold those of the others, under the domains of all."""
    everything = folded(counts.stats, merged)
    assert everything is not None
    whole = in_order(everything, given)
    parts = []
    for i in range(len(counts.stats)):
        rest = folded([s for j, s in enumerate(counts.stats) if j != i], merged)
        assert rest is not None
        parts.append(rest.under(whole.schema, whole.target))
    return whole, parts


def finest(schema: Schema, own: Sequence[Schema]) -> Schema:
    """The schema with the cut points of all folds: what each counts is a sum of what is counted under it."""
    variables = []
    for v in schema:
        if own[0][v.name].cuts is not None and v.cuts is None:
            every = tuple(sorted({c for s in own for c in s[v.name].cuts or ()}))
            v = replace(own[0][v.name], cuts=every, levels=interval_names(every), declared=True)
        variables.append(v)
    return Schema(tuple(variables))
