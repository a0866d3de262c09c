"""SPODE's super-parent by leave-one-out, of files: once all pairs are counted, a row's posterior under the counts
without it is known, so one pass more scores every candidate on every row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from bayes_engine.models.spode import SPODE
from bayes_engine.scale.arrow import CountPlan, encoded_under
from bayes_engine.scale.em_passes import Found, KeptPasses
from bayes_engine.scale.folds import Division, folds_of
from bayes_engine.scale.stream import Piece
from bayes_engine.stats.collect import SufficientStatistics

Stats = SufficientStatistics


def spodes(model: SPODE, parts: Sequence[Stats], passes: KeptPasses, division: Division | None = None) -> list[SPODE]:
    """A model of each of these statistics, its super-parent chosen by a pass over their rows: those of all folds but
    one, in their order, where there is a division."""
    candidates = [model.candidates_of(part) for part in parts]
    work = partial(_left_out, plan=passes.plan, candidates=candidates, division=division)
    summed = passes.run(work, _added)
    return [one.fit_chosen(*own) for one, own in zip(candidates, summed, strict=True)]


def _left_out(piece: Piece, plan: CountPlan, candidates: Sequence[SPODE], division: Division | None) -> Found:
    """For each model (2, K) the weight of the rows that each candidate gets right, and their summed log posteriors."""
    fold = None if division is None else folds_of(division.hashes(piece), division.folds)
    sums = []
    for i, one in enumerate(candidates):
        known = one.stats_.schema, one.stats_.target.levels
        table, labels = encoded_under(piece.batch, plan, piece.block.declared, piece.row, known)
        if fold is not None:
            rows = np.flatnonzero(fold != i)
            table, labels = table.take(rows), labels.take(rows)
        sums.append(one.left_out_sums(table, labels) if table.n else np.zeros((2, len(one.candidate_scores_))))
    return tuple(sums)


def _added(a: Found, b: Found) -> Found:
    return tuple(x + y for x, y in zip(a, b, strict=True))
