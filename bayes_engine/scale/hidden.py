"""Naive Bayes with labels partly or all hidden, of more rows than memory holds: the steps of `SemiSupervisedNB`, one
pass over the files for each E step, and one before them for levels, classes, and what the labelled rows say.

A row's label is hidden where the cell of the target is missing, or holds the model's `hidden`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from bayes_engine.em import ExpectedStatistics, random_responsibilities
from bayes_engine.errors import ParameterError, TableError, listen
from bayes_engine.logspace import Array
from bayes_engine.models.hidden_labels import EstimatedFactor, HiddenLabels, fit_for_em, refuse_without_step
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.scale.arrow import (
    CountPlan,
    as_read,
    encoded_columns,
    encoded_target,
    frame_of,
    row_weights,
    rows_before,
)
from bayes_engine.scale.em_passes import Found, KeptPasses
from bayes_engine.scale.stream import Piece
from bayes_engine.scale.texts import opened_again
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.stats.partial import in_order, merged
from bayes_engine.table.encode import MISSING
from bayes_engine.table.schema import Schema, Variable

PASSES_BEFORE = 1
"""Passes before the first E step."""


def inner_of(model: SemiSupervisedNB) -> NaiveBayes:
    """The classifier inside. Raises ParameterError on one of a matrix of counts."""
    inner = model._stated
    if not isinstance(inner, NaiveBayes):
        raise ParameterError(
            "{model} is of a matrix of counts, which files do not hold; take NaiveBayes inside",
            model=type(inner).__name__,
        )
    made: NaiveBayes = clone(inner)
    return made


def semi_supervised_of_files(
    model: SemiSupervisedNB, inner: NaiveBayes, passes: KeptPasses, read: Schema
) -> SemiSupervisedNB:
    """The model fitted to all rows, which are `read` as such columns: vocabularies that a pass has found since stay
    open."""
    model._check()
    plan = passes.plan
    whole, labelled, n, by_label, without_label = passes.run(
        partial(_first_look, plan=plan, hidden=model.hidden), _looked
    )
    weights = np.array([by_label, without_label * model.unlabeled_weight])
    checked_weights(weights, 2)
    whole = opened_again(in_order(whole, plan.schema), read)
    levels = () if labelled is None else labelled.target.levels
    hides = labelled is None or bool(n[1])
    shown = pd.Series([*levels, *([None] if hides else [])], dtype=object, name=plan.target or "class")
    target = model._target(None, shown)[0]
    labelled = None if labelled is None else labelled.under(whole.schema, target)
    if hides:
        fit_for_em(inner)
        with listen():
            inner.fit_stats(_evenly(whole, target))
    else:
        assert labelled is not None
        inner.fit_stats(labelled)
    refuse_without_step(inner.schema_)
    count, total = int(n.sum()), float(weights.sum())
    return model._learn(_HiddenInFiles(model, inner, passes, labelled, count, hides, total))


def _evenly(whole: SufficientStatistics, target: Variable) -> SufficientStatistics:
    """All rows shared alike by the classes: what stands in until EM decides."""
    share = whole.scaled(1.0 / len(target.levels))
    alone = [replace(target, levels=(level,), declared=False) for level in target.levels]
    parts = [replace(share, target=one).under(whole.schema, target) for one in alone]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class _HiddenInFiles(HiddenLabels):
    """EM's two steps where each look at the rows is a pass."""

    def __init__(
        self,
        model: SemiSupervisedNB,
        inner: NaiveBayes,
        passes: KeptPasses,
        labels: SufficientStatistics | None,
        n: int,
        hides: bool,
        total: float,
    ) -> None:
        self.inner, self.passes, self.labels = inner, passes, labels
        self.read = as_read(inner.schema_)
        self.n, self.k = n, len(inner.target_.levels)
        self.label_hidden, self.less = model.hidden, model.unlabeled_weight
        self._hides, self._total = hides, total

    @property
    def hides(self) -> bool:
        return self._hides

    @property
    def total(self) -> float:
        return self._total

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return np.zeros(self.k, dtype=bool) if self.labels is None else np.asarray(self.labels.class_weight > 0)

    def generator(self, random_state: Any) -> np.random.Generator:
        return self.passes.generator(random_state)

    def start_by_labels(self) -> EstimatedFactor:
        assert self.labels is not None
        return EstimatedFactor(self.inner._estimate(self.labels), self.labels)

    def start_given(self, init: Any) -> EstimatedFactor:
        raise ParameterError("init holds responsibilities, and those of all rows are not kept of files; take 'labels' "
                             "or 'random'")  # fmt: skip

    def start_at_random(self, rng: np.random.Generator) -> EstimatedFactor:
        return self._drawn(rng.bit_generator.state, np.arange(self.k), rng)

    def start_again(self, root: Any, order: NDArray[np.intp]) -> EstimatedFactor:
        rng = np.random.default_rng(0)
        rng.bit_generator.state = root
        return self._drawn(root, order, rng)

    def _drawn(self, root: Any, order: NDArray[np.intp], rng: np.random.Generator) -> EstimatedFactor:
        """From responsibilities drawn row by row, in their order."""

        def draw(piece: Piece) -> Array:
            return random_responsibilities(rng, piece.batch.num_rows, self.k)[:, order]

        if self.passes.kept:  # the next start draws what it would have drawn
            for first in range(0, self.n, 2**17):
                random_responsibilities(rng, min(2**17, self.n - first), self.k)
        (stats,) = self.passes.run(self._count_drawn, _added, draw)
        return EstimatedFactor(self.inner._estimate(stats), stats, root)

    def _batch(self, piece: Piece) -> HiddenLabels:
        plan = self.passes.plan
        frame = frame_of(piece.batch, self.read, piece.row)
        with rows_before(piece.row):
            table = self.inner._encode(frame)
        codes = np.full(table.n, -1, dtype=np.intp)
        if plan.target:
            there, local = encoded_target(piece.batch, plan, piece.block.declared)
            place = {level: c for c, level in enumerate(self.inner.target_.levels)}
            of_code = [-1, *(-1 if _is(level, self.label_hidden) else place[level] for level in there.levels)]
            codes = np.array(of_code, dtype=np.intp)[local.astype(np.intp)]
        weight = row_weights(piece.batch, plan, piece.row)
        counted = np.where(codes >= 0, 1.0, self.less) * (1.0 if weight is None else weight)
        return HiddenLabels(self.inner, table, codes, counted)

    def _count_drawn(self, piece: Piece, drawn: Array) -> Found:
        rows = self._batch(piece)
        return (rows.count(rows.fixed(drawn)),)

    def _expected(self, piece: Piece, theta: EstimatedFactor, hard: bool) -> Found:
        part = self._batch(piece).expect(theta, hard)
        return part.log_likelihood, part.q, part.entropy, part.stats

    def expect(self, theta: EstimatedFactor, hard: bool) -> ExpectedStatistics[SufficientStatistics]:
        log_likelihood, q, entropy, stats = self.passes.run(partial(self._expected, theta=theta, hard=hard), _added)
        return ExpectedStatistics(stats, log_likelihood, q, entropy)


def _is(level: Any, hidden: Any) -> bool:
    return hidden is not None and bool(level == hidden)


def _first_look(piece: Piece, plan: CountPlan, hidden: Any) -> Found:
    """The statistics of all rows as one class, those of the labelled ones by class (None without one), how many rows
    are labelled and how many not, and the weight of both."""
    table = encoded_columns(piece.batch, plan, piece.block.declared, {}, piece.row)
    weight = row_weights(piece.batch, plan, piece.row)
    every = Labels(1, np.zeros(table.n, dtype=np.intp), weight)
    whole = collect(table, every, Variable("all", "categorical", ("all",)))
    by_row = every.by_row
    labelled, known = None, np.zeros(table.n, dtype=bool)
    if plan.target:
        target, codes = encoded_target(piece.batch, plan, piece.block.declared)
        levels = [level for level in target.levels if not _is(level, hidden)]
        place = {level: c for c, level in enumerate(levels)}
        own = np.array([-1, *(place.get(level, -1) for level in target.levels)], dtype=np.intp)[codes.astype(np.intp)]
        known = (codes != MISSING) & (own >= 0)
        if known.any():
            rows = np.flatnonzero(known)
            labels = Labels(len(levels), own[rows], None if weight is None else weight[rows])
            labelled = collect(table.take(rows), labels, replace(target, levels=tuple(levels)))
    n = np.array([known.sum(), (~known).sum()], dtype=np.int64)
    return whole, labelled, n, float(by_row[known].sum()), float(by_row[~known].sum())


def _looked(a: Found, b: Found) -> Found:
    both = b[1] if a[1] is None else a[1] if b[1] is None else merged(a[1], b[1])
    return merged(a[0], b[0]), both, a[2] + b[2], a[3] + b[3], a[4] + b[4]


def _added(a: Found, b: Found) -> Found:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def refuse_lone(plan: CountPlan, model: SemiSupervisedNB) -> None:
    """Raises TableError where there is neither a target nor a number of classes."""
    if not plan.target and model.classes is None:
        raise TableError("requires y to be passed, but the target y is None; where all labels are hidden, say how "
                         "many classes there are: classes=2")  # fmt: skip
