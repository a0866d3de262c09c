"""A Gaussian mixture of more rows than memory holds: the steps of `GaussianMixture`, one pass over the files for each E
step.

Two passes come first: one for the columns' means and deviations, with a sample of the rows for the starts; one for
their covariance. The sample is of 65,536 rows, drawn by a hash of where they stand; of files with no more rows it is
all of them, in their order, and every step is that of a fit in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from bayes_engine.covariance import refuse_matrices
from bayes_engine.em import ExpectedStatistics
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.logspace import Array
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import (
    Components,
    ComponentStatistics,
    EMSteps,
    MixtureParameters,
    StandardizedRows,
    distinct_rows,
    standardized,
    starting_parameters,
)
from bayes_engine.models.mixture_em_steps import em_steps
from bayes_engine.scale.arrow import CountPlan, encoded_columns, row_weights
from bayes_engine.scale.em_passes import Found, KeptPasses
from bayes_engine.scale.folds import place_hashes
from bayes_engine.scale.stream import Piece
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.stats.moments import moments

SAMPLE = 2**16
"""Rows that starts are drawn from."""
PASSES_BEFORE = 2
"""Passes before the first E step."""


@dataclass(frozen=True)
class RowsInFiles(StandardizedRows):
    """What the M step and the starts ask of all rows, without the rows: `z` is one row at the mean, of the weight of
    all. `cells` (d,) is the weight of the cells seen, `products` (d, d) Σ w z zᵀ with a missing cell at 0."""

    cells: Array | None = None
    products: Array | None = None

    @cached_property
    def _cells(self) -> Array:
        assert self.cells is not None
        return self.cells

    @cached_property
    def covariance(self) -> Array:
        assert self.products is not None
        return np.asarray(self.products / self.total + np.diag(1.0 - self._cells / self.total))


def refuse_other_columns(plan: CountPlan, file: str) -> None:
    """Raises TableError on a column that is no column of numbers."""
    for v in plan.schema:
        if not v.numeric:
            raise TableError(
                "column '{column}' in '{file}' holds levels, and a Gaussian mixture is of numbers; leave it out by "
                "columns=",
                column=v.name,
                file=file,
            )


def mixture_of_files(model: GaussianMixture, passes: KeptPasses) -> GaussianMixture:
    """The mixture fitted to all rows."""
    model._check()
    plan = passes.plan
    names = plan.schema.names
    d = len(names)
    if model.covariance in ("full", "tied"):
        refuse_matrices(model.n_components, d)
    start = model.init
    if not isinstance(start, str | MixtureParameters) and np.shape(start) != (model.n_components, d):
        raise ParameterError(
            "init has the shape {shape}; of files a start is {means} for means, MixtureParameters, 'kmeans' or "
            "'random': responsibilities of all rows are not kept",
            shape=str(np.shape(start)),
            means=str((model.n_components, d)),
        )
    columns, _hashes, X, weight, n = passes.run(partial(_first_look, plan=plan), _looked)
    cells, away, m2 = columns.weight[0], columns.mean[0], columns.m2[0]
    center = columns.pivot + away
    spread = np.sqrt(m2 / np.where(cells > 0, cells, 1.0))
    scale = np.where(spread > 1e-14 * np.abs(center), spread, 1.0)
    total, products = passes.run(partial(_second_look, plan=plan, center=center, scale=scale), _added)
    checked_weights(np.array([total]), 1)  # not all 0, nor 2^53 and more
    rows = RowsInFiles(np.zeros((d, 1)), None, center, scale, np.array([total]), cells, products)
    sample = standardized(X, center, scale, weight if plan.weight is not None else None)
    model.n_features_in_, model.feature_names_in_ = d, np.array(names, dtype=object)
    model._check_table(
        rows, n, distinct_rows(sample, model.n_components), cells == 0, np.asarray(np.diagonal(products) == 0)
    )

    def expect(work: EMSteps[Any], theta: Components, hard: bool) -> ExpectedStatistics[ComponentStatistics[Any]]:
        sums = passes.run(partial(_expected, plan=plan, work=work, theta=theta, hard=hard), _added)
        log_likelihood, q, entropy, size, second = sums
        return ExpectedStatistics(ComponentStatistics(size, second), log_likelihood, q, entropy)

    def begin(work: EMSteps[Any], start: Any, k: int, rng: np.random.Generator) -> Components:
        if not isinstance(start, str):
            return starting_parameters(work, start, k, rng)
        drawn = starting_parameters(em_steps(sample, work.form, work.ridge, work.prior), start, k, rng)
        if start == "kmeans":
            return drawn
        even = starting_parameters(work, drawn.means * scale + center, k, rng)  # the spread of all rows
        return drawn._replace(spread=even.spread)

    rng = passes.generator(model.random_state)
    return model._fit_rows(rows, start, rng, partial(model._climb, expect=expect, begin=begin))


# what is done with a batch -------------------------------------------------------------------------------------------


def _matrix(piece: Piece, plan: CountPlan) -> tuple[Any, Array, Array | None]:
    """The encoded columns, (n, d) their numbers, and (n,) weights, without the rows of weight 0."""
    table = encoded_columns(piece.batch, plan, piece.block.declared, {}, piece.row)
    weight = row_weights(piece.batch, plan, piece.row)
    if weight is not None and not weight.all():
        there = np.flatnonzero(weight)
        table, weight = table.take(there), weight[there]
    return table, np.column_stack([table[v.name] for v in table.schema]), weight


def _first_look(piece: Piece, plan: CountPlan) -> Found:
    """Moments of the columns, and the rows whose hashes are smallest: hashes, cells, weights; and their number."""
    hashes = place_hashes(piece, 0).view(np.int64)
    table, X, weight = _matrix(piece, plan)
    every = row_weights(piece.batch, plan, piece.row)
    if every is not None:
        hashes = hashes[every > 0]
    by_column = moments(table, Labels(1, np.zeros(table.n, dtype=np.intp), weight))
    return _fewest((by_column, hashes, X, np.ones(table.n) if weight is None else weight, table.n))


def _fewest(sums: Found) -> Found:
    columns, hashes, X, weight, n = sums
    if len(hashes) <= SAMPLE:
        return sums
    keep = np.sort(np.argpartition(hashes, SAMPLE)[:SAMPLE])
    return columns, hashes[keep], X[keep], weight[keep], n


def _looked(a: Found, b: Found) -> Found:
    sampled = [np.concatenate(pair) for pair in zip(a[1:4], b[1:4], strict=True)]
    columns = a[0] + b[0] if a[0].weight.any() else b[0] + a[0]
    return _fewest((columns, *sampled, a[4] + b[4]))


def _second_look(piece: Piece, plan: CountPlan, center: Array, scale: Array) -> Found:
    _table, X, weight = _matrix(piece, plan)
    rows = standardized(X, center, scale, weight)
    weighted = rows.z if weight is None else rows.z * weight
    return rows.total, np.asarray(weighted @ rows.z.T)


def _expected(piece: Piece, plan: CountPlan, work: EMSteps[Any], theta: Components, hard: bool) -> Found:
    """The E step of a batch."""
    _table, X, weight = _matrix(piece, plan)
    rows = standardized(X, work.rows.center, work.rows.scale, weight)
    part = replace(work, rows=rows).expect(theta, hard)
    return part.log_likelihood, part.q, part.entropy, part.stats.weight, part.stats.moments


def _added(a: Found, b: Found) -> Found:
    return tuple(x + y for x, y in zip(a, b, strict=True))
