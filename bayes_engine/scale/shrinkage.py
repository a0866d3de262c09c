"""Ledoit and Wolf's shrinkage of discriminant analysis, of files: once the scatter matrices are counted, a pass more
sums what it needs of the rows, the fourth powers of how far they are from their class's mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from bayes_engine.covariance import fourth_powers
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.gaussian_discriminant import GaussianDiscriminant
from bayes_engine.scale.arrow import CountPlan, encoded_under
from bayes_engine.scale.em_passes import Found, KeptPasses
from bayes_engine.scale.folds import Division, folds_of
from bayes_engine.scale.stream import Piece
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.matrix import matrix

Stats = SufficientStatistics


def shrinks(model: Any) -> bool:
    """Whether the amount of a model's shrinkage is found in the rows."""
    sort = isinstance(model, GaussianDiscriminant | FisherDiscriminant)
    return sort and isinstance(model.shrinkage, str) and model.shrinkage == "auto"


def shrunk_models(
    model: Any, parts: Sequence[Stats], passes: KeptPasses, division: Division | None = None
) -> list[Any]:
    """A model of each of these statistics, its shrinkage found by a pass over their rows: those of all folds but one,
    in their order, where there is a division."""
    work = partial(_powers, parts=parts, plan=passes.plan, division=division)
    return [clone(model).fit_powers(part, own) for part, own in zip(parts, passes.run(work, _added), strict=True)]


def _powers(piece: Piece, parts: Sequence[Stats], plan: CountPlan, division: Division | None) -> Found:
    """For each model (C,) what Ledoit and Wolf need of its rows of a batch."""
    fold = None if division is None else folds_of(division.hashes(piece), division.folds)
    sums = []
    for i, stats in enumerate(parts):
        assert stats.scatter is not None
        known = stats.schema, stats.target.levels
        table, labels = encoded_under(piece.batch, plan, piece.block.declared, piece.row, known)
        if fold is not None:
            rows = np.flatnonzero(fold != i)
            table, labels = table.take(rows), labels.take(rows)
        sums.append(fourth_powers(stats.scatter, matrix(table), labels))
    return tuple(sums)


def _added(a: Found, b: Found) -> Found:
    return tuple(x + y for x, y in zip(a, b, strict=True))
