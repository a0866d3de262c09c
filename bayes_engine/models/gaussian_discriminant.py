"""What LDA and QDA share: one Gaussian a class over all numeric columns, read off one scatter a class.

log p(c, x) = log π_c − ½ (x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log det Σ_c − (d/2) log 2π. Everything is a closed form of the
scatter of each class (`bayes_engine.stats.scatter`), so rows come and go by addition. Hastie, Tibshirani & Friedman,
The Elements of Statistical Learning, 2nd ed., sec. 4.3.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController  # comes with scikit-learn

from bayes_engine.covariance import (
    checked_shrinkage,
    fourth_powers,
    ledoit_wolf_amounts,
    oas_amounts,
    pooled,
    refuse_matrices,
    shrunk,
)
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.discriminant import Discriminant, LinearFactor, QuadraticFactor
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.language import Word
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, log
from bayes_engine.models import discriminant_left_out as left_out
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.decision_mixin import RANKED, leading, posterior_by_block
from bayes_engine.models.discriminant_covariance import rounding_variance
from bayes_engine.models.fit_warnings import warn_of_constant
from bayes_engine.priors import ClassPriors, checked_word
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import Counts
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import LARGEST
from bayes_engine.stats.scatter import Scatter, scatter
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.matrix import Matrix, matrix, slices
from bayes_engine.table.schema import Schema, Variable


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds, limiting them does not


@dataclass
class _Limit:
    """How many threads of this process are `within` the limit that the first of them set."""

    lock: Lock = field(default_factory=Lock)
    within: int = 0
    limiter: Any = None


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread: two make products of this size slower. The limit is one for the whole
    process, so of several threads that want it at a time the last gives back what the first found."""
    with _LIMIT.lock:
        if not _LIMIT.within:
            _LIMIT.limiter = _pools().limit(limits=1, user_api="blas")
        _LIMIT.within += 1
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.within -= 1
            if not _LIMIT.within:
                _LIMIT.limiter.restore_original_limits()


Shrinkage = Literal["auto", "oas"] | float | None


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianDiscriminant(GenerativeClassifier):
    """What LDA and QDA share: complete numeric rows counted as one scatter a class, shrinkage, priors.

    A model states `_form`, its factor, and `_covariance`, the factor's. A hook beside those of `GenerativeClassifier`:
    `pooling`, Friedman's λ.
    """

    structural: ClassVar[tuple[str, ...]] = ("ledoit_wolf_",)
    missing = "marginalize"
    reads_matrix = True
    unseen = "ignore"
    priors: ClassPriors | None = None
    shrinkage: Shrinkage = None
    covariance: Literal["full", "diagonal"] = "full"
    variance: Literal["mle", "unbiased"] = "mle"
    schema: Schema | None = None
    solver: str = "svd"
    factor_: Discriminant = field(init=False)
    pooling: float = field(init=False, default=1.0)
    numeric: ClassVar[bool] = True
    _form: ClassVar[type[LinearFactor | QuadraticFactor]]

    @abstractmethod
    def _covariance(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        """The covariance, or that of every class, from the scatter of the columns in use. Raises TableError where it
        has no inverse."""

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        for variable in X.schema:
            if not variable.numeric:
                raise TableError(
                    "column '{column}' is {kind}; discriminant analysis needs numbers. Encode it as numbers (one "
                    "column of 0 and 1 a level, without one of them), leave it out, or use NaiveBayes",
                    column=variable.name,
                    kind=Word(variable.kind),
                )
        refuse_matrices(labels.n_classes, len(X.schema))
        pivot = np.array([v.pivot for v in X.schema], dtype=float)
        values = matrix(X)
        with one_thread():
            counted = scatter(X.schema.names, pivot, values, labels)
        if not float(np.abs(counted.m2).max(initial=0.0)) < LARGEST**2:  # NaN too
            _refuse_cell(X.schema, values, pivot)
        return SufficientStatistics(X.schema, target, counted.weight, Counts({}), counted.moments, scatter=counted)

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        if self.shrinkage == "auto":
            assert stats.scatter is not None
            self._shrink(stats, fourth_powers(stats.scatter, matrix(X), labels))
        return stats

    def fit_powers(self, stats: SufficientStatistics, powers: Array) -> Self:
        """Estimate from statistics that were collected elsewhere, and the `fourth_powers` (C,) of their rows, which
        shrinkage='auto' takes its amounts from (`bayes_engine.scale.fit_files`). Raises as `fit_stats`."""
        self._takes(stats)
        self._shrink(stats, powers)
        return self._of_stats(stats)

    def _shrink(self, stats: SufficientStatistics, powers: Array) -> None:
        assert stats.scatter is not None
        amounts = ledoit_wolf_amounts(stats.scatter, powers)
        self.ledoit_wolf_ = dict(zip(stats.target.levels, amounts.tolist(), strict=True))

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        self._check(stats.schema, float(stats.class_weight.sum()))
        if stats.scatter is None:
            raise ParameterError("these statistics hold no scatter matrices; fit from the rows")
        prior = self._prior(stats)
        total = np.diagonal(stats.scatter.within + stats.scatter.between)
        constant = total <= stats.class_weight.sum() * rounding_variance(stats.scatter)
        if constant.all():
            raise TableError(
                "every column ({names}) has the same value in all rows: there is no covariance and nothing to tell the "
                "classes apart by; add a column that varies",
                names=", ".join(stats.schema.names),
            )
        warn_of_constant(np.array(stats.schema.names, dtype=object)[constant])
        active = np.flatnonzero(~constant)
        used = stats.scatter.of_columns(active)
        with one_thread():
            covariance = self._covariance(used, stats.target.levels)
            apart = used.means - used.centre
            gaussian = self._form(used.names, active, stats.target.name, used.pivot + used.centre, apart, covariance)
        return Discriminant((prior, gaussian))

    def _amounts(self, counted: Scatter, levels: tuple[Any, ...]) -> tuple[Array, Literal["diagonal", "spherical"]]:
        """(C,) how far each class's scatter is shrunk, and to what."""
        shrinkage = checked_shrinkage(self.shrinkage)
        if shrinkage == "oas":
            return oas_amounts(counted.weight, counted.m2), "diagonal"
        if shrinkage == "auto":
            known = getattr(self, "ledoit_wolf_", None)
            if known is None:
                raise ParameterError(
                    "shrinkage='auto' (Ledoit-Wolf) takes its amount from the rows of a first fit, and there are only "
                    "statistics here; fit from the rows (of files by fit_files, in a pass more), or take "
                    "shrinkage='oas'"
                )
            later = counted.weight @ [known.get(c, 0.0) for c in levels] / counted.weight.sum()
            return np.array([known.get(c, later) for c in levels]), "diagonal"
        return np.full(len(counted.weight), shrinkage or 0.0), "spherical"

    def _covariances(self, counted: Scatter, levels: tuple[Any, ...]) -> Array:
        """(C, d, d) the covariances of a scatter, shrunk and pooled."""
        m2 = shrunk(counted.m2, *self._amounts(counted, levels))
        if self.covariance == "diagonal":
            m2 = shrunk(m2, np.ones(len(m2)), "diagonal")
        return pooled(counted.weight, m2, float(self.pooling), self._ddof)

    @property
    def _gaussian(self) -> Any:
        check_is_fitted(self, "stats_")
        return self.factor_.gaussian

    @property
    def _scatter(self) -> Scatter:
        check_is_fitted(self, "stats_")
        assert self.stats_.scatter is not None
        return self.stats_.scatter

    @property
    def priors_(self) -> Array:
        """(C,) `class_prior_`, by scikit-learn's name."""
        return self.class_prior_

    @property
    def shrinkage_(self) -> dict[Any, float]:
        """How far each class's covariance is shrunk, from 0 to 1."""
        levels, used = self.target_.levels, self._scatter.of_columns(self._gaussian.columns)
        return dict(zip(levels, self._amounts(used, levels)[0].tolist(), strict=True))

    @property
    def means_(self) -> Array:
        """(C, d) the class means."""
        return np.asarray(self._scatter.means + self._scatter.pivot)

    @property
    def xbar_(self) -> Array:
        """(d,) the mean of all rows."""
        return np.asarray(self._scatter.centre + self._scatter.pivot)

    def decision_function(self, X: Any) -> Array:
        """(n, C) log p(c, x) without what all classes share; for two classes (n,) their log-odds, as scikit-learn has
        it. A row that is infinite or too far out is -inf."""
        scores = self._joint(X)[1]
        if scores.shape[1] != 2:
            return np.ascontiguousarray(scores)
        with np.errstate(invalid="ignore"):
            odds = scores[:, 1] - scores[:, 0]
        return np.where(np.isnan(odds), -np.inf, odds)

    def predict_proba(self, X: Any) -> Array:
        table = self._encode(X)
        with one_thread():
            return posterior_by_block(
                self._joint_or_odds, table, len(self.classes_), self._unseen_infinity(table), RANKED
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class with the largest posterior. Raises UndefinedPosterior where there is none."""
        table = self._encode(X)
        index, clear = np.empty(table.n, dtype=code_dtype(len(self.classes_))), ~self._unseen_infinity(table)
        room = np.zeros((len(self.classes_), min(table.n, RANKED))).T  # of the first class it stays 0
        with one_thread():
            for rows in slices(table.n, RANKED):
                few = table.take(rows)
                joint = self._joint_or_odds(few, room[: few.n, 1:])
                index[rows], alone = leading(room[: few.n] if joint is None else joint)
                clear[rows] &= alone
        self._rank_rest(table, index, clear)
        return self._named(index)

    def _unseen_infinity(self, X: Table) -> NDArray[np.bool_]:
        """(n,) where a cell is infinite, if not all cells enter the scores, which are −inf there."""
        whole = len(self._gaussian.columns) == len(self.schema_)
        return np.zeros(X.n, dtype=bool) if whole else X.infinite()

    @property
    def _plain(self) -> bool:
        """Whether the covariances are the scatter's own, of all columns: then leave-one-out has a closed form."""
        whole = len(self._gaussian.columns) == len(self.schema_)
        return whole and not self.shrinkage and self.covariance == "full"

    def _removals(self, gone: LeftOutRows) -> left_out.Removals:
        """What goes with each row that is left out."""
        left = self._class_weight_without(gone)
        log_prior = log(self._prior_of(left, self.target_.levels))
        return left_out.Removals.of(gone, self.stats_.class_weight, left, log_prior)

    # plumbing ---------------------------------------------------------------------------------------------------

    def _joint_of(self, X: Table) -> Array:
        with one_thread():
            return self.factor_.scores(X)

    def _joint_or_odds(self, X: Table, out: Array) -> Array | None:
        """As `posterior_by_block` asks for it."""
        return None if self.factor_.log_odds(X, out) else self.factor_.scores(X)

    def _rows(self, X: Table, given: Collection[str] | None) -> Iterable[tuple[Row, Array]]:
        return self.factor_.rows(X if given is None else X.hiding(given))

    def _status(self, X: Table, joint: Array, given: Collection[str] | None = None) -> NDArray[np.int8]:
        status = super()._status(X, joint, given)  # a Gaussian is nowhere zero, only too small for a number
        return np.where(status == Status.IMPOSSIBLE, np.int8(Status.OUT_OF_RANGE), status)

    def _table(self, frame: pd.DataFrame, schema: Schema, *, unseen: str, missing: str = "marginalize") -> Table:
        """One matrix where every column is numeric; otherwise as any table, for `_count` to say why not."""
        if not all(v.numeric for v in schema):
            return super()._table(frame, schema, unseen=unseen)
        if all(isinstance(t, np.dtype) and t.kind in "fiu" for t in frame.dtypes):
            return Matrix.of(frame.to_numpy(dtype=float), schema=schema)
        return Matrix.of(matrix(super()._table(frame, schema, unseen=unseen)), schema=schema)

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        """Pivots from at most a thousand rows: they need only lie near the data."""
        step = max(len(frame) // 1000, 1)
        few = frame.iloc[::step]
        if self.schema is None:
            return Schema.from_dtypes(few)
        return super()._initial_schema(few, labels)

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_shrinkage(self.shrinkage)
        for name, allowed in (("covariance", ("full", "diagonal")), ("variance", ("mle", "unbiased"))):
            checked_word(name, getattr(self, name), allowed)
        if self.solver != "svd":
            raise ParameterError(
                "solver={value}: the posteriors here are those of 'svd', whatever computes them; scikit-learn's 'lsqr' "
                "and 'eigen' let the priors into the covariance and give others. Leave solver out",
                value=repr(self.solver),
            )


def _refuse_cell(schema: Schema, values: Array, pivot: Array) -> None:
    """Raises TableError naming the cell that is missing, infinite or too large."""
    missing = np.isnan(values)
    if missing.any():
        row, j = np.argwhere(missing)[0]
        raise TableError(
            "column '{column}' has a missing cell (NaN) in row {row}: Input X contains NaN; discriminant analysis is "
            "fitted to complete rows. Fill the cell, leave the row or the column out, or use NaiveBayes",
            column=schema.names[j],
            row=int(row) + 1,
        )
    with np.errstate(over="ignore"):
        row, j = np.unravel_index(int(np.abs(values - pivot).argmax()), values.shape)
    raise TableError(
        "column '{column}' holds infinity or a value too large to be squared in row {row}: Input X contains "
        "infinity; mend the cell, make it missing, or take a larger unit",
        column=schema.names[int(j)],
        row=int(row) + 1,
    )
