"""Lazy naive Bayes: nothing is estimated before somebody asks (Zhou, Machine Learning, §7.3: where the table changes
often, keep it and count at the query).

The rows themselves take the place of statistics: + puts them together, − takes them away. So fitting, growing,
forgetting and merging are what they are for every generative classifier; only the factor counts when it is read.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset, ParameterError, listen
from bayes_engine.factors import Factor, Row
from bayes_engine.logspace import Array
from bayes_engine.models.likelihoods import check_counted
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.stats.collect import SufficientStatistics, collect, unite
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import MISSING, Table, code_dtype, infinity
from bayes_engine.table.schema import Schema, Variable


@dataclass(frozen=True)
class StoredRows:
    """Encoded rows with their classes and weights, in `blocks` under one schema and one target: + is concatenation, −
    takes equal rows away."""

    schema: Schema
    target: Variable
    blocks: tuple[tuple[Table, Labels], ...]

    def __add__(self, other: StoredRows) -> StoredRows:
        schema = Schema(tuple(unite(u, v) for u, v in zip(self.schema, other.schema, strict=True)))
        target = unite(self.target, replace(other.target, name=self.target.name), ordered=True)
        blocks = [*self.under(schema, target).blocks]
        for block in other.under(schema, target).blocks:
            blocks.append(block)
            while len(blocks) > 1 and blocks[-2][0].n <= blocks[-1][0].n:  # few blocks, and few copies of each row
                last = blocks.pop()
                blocks.append(_joined([blocks.pop(), last]))
        return StoredRows(schema, target, tuple(blocks))

    def __sub__(self, other: StoredRows) -> StoredRows:
        """Raises NotASubset where a row, with its class, has less weight here than there."""
        gone = other.under(self.schema, self.target)
        table, labels = _joined([*self.blocks, *gone.blocks])
        weight = labels.by_row
        alike, n = _alike(table, labels), self.n
        asked = np.bincount(alike, np.where(np.arange(table.n) >= n, weight, 0.0))
        own, group = weight[:n], alike[:n]
        before = pd.Series(own).groupby(group).cumsum().to_numpy() - own  # of the rows like it
        taken = np.clip(asked[group] - before, 0.0, own)
        if (np.bincount(group, taken, len(asked)) < asked * (1 - 1e-9)).any():
            raise NotASubset("cannot forget rows that were never counted: a count would fall below zero")
        rest = np.where(own - taken > 1e-9 * own, own - taken, 0.0)
        keep = np.flatnonzero((rest > 0) | (own == 0))
        kept = labels.take(keep)
        if kept.weight is not None:
            kept = replace(kept, weight=rest[keep])
        return replace(self, blocks=((table.take(keep), kept),))

    def scaled(self, weight: float) -> StoredRows:
        """Every row counted `weight` times."""
        return replace(self, blocks=tuple((t, replace(of, weight=of.by_row * weight)) for t, of in self.blocks))

    def under(self, schema: Schema, target: Variable) -> StoredRows:
        """The same rows under wider domains."""
        if schema == self.schema and target == self.target:
            return self
        classes = _places(self.target, target)
        codes = [_new_codes(u, v) if v.discrete else None for u, v in zip(self.schema, schema, strict=True)]
        blocks = []
        for table, labels in self.blocks:
            columns = tuple(
                column if new is None else new[column] for column, new in zip(table.columns, codes, strict=True)
            )
            assert labels.codes is not None
            moved = Labels(len(target.levels), classes[labels.codes], labels.weight)
            blocks.append((replace(table, schema=schema, columns=columns), moved))
        return StoredRows(schema, target, tuple(blocks))

    def counted(self, columns: Collection[str]) -> SufficientStatistics:
        """The statistics of some columns: one pass over these, and over the classes."""
        schema = Schema(tuple(v for v in self.schema if v.name in columns))
        parts = (replace(t, schema=schema, columns=tuple(t[v.name] for v in schema)) for t, _labels in self.blocks)
        each = (collect(t, labels, self.target) for t, (_t, labels) in zip(parts, self.blocks, strict=True))
        return reduce(add, each)

    @property
    def n(self) -> int:
        """How many rows are kept."""
        return sum(table.n for table, _labels in self.blocks)

    @property
    def class_weight(self) -> Array:
        """(C,) counted as it is read."""
        return np.asarray(np.sum([labels.by_class for _table, labels in self.blocks], axis=0))

    @property
    def nbytes(self) -> int:
        """The memory that cells, classes and weights take."""
        arrays = [a for t, of in self.blocks for a in (*t.columns, of.codes, of.weight) if a is not None]
        return sum(a.nbytes for a in arrays)


def _places(old: Variable, new: Variable) -> NDArray[np.intp]:
    return np.array([new.levels.index(level) for level in old.levels], dtype=np.intp)


def _new_codes(old: Variable, new: Variable) -> NDArray[Any]:
    """(1 + S,) the new code of every old one; missing stays missing."""
    return np.append(MISSING, 1 + _places(old, new)).astype(code_dtype(len(new.levels)))


def _joined(blocks: list[tuple[Table, Labels]]) -> tuple[Table, Labels]:
    """One block of several under one schema."""
    tables, labels = zip(*blocks, strict=True)
    columns = tuple(np.concatenate(parts) for parts in zip(*(t.columns for t in tables), strict=True))
    weights = None
    if any(of.weight is not None for of in labels):
        weights = np.concatenate([of.by_row for of in labels])
    codes = np.concatenate([of.codes for of in labels])
    return replace(tables[0], columns=columns, n=len(codes)), Labels(labels[0].n_classes, codes, weights)


def _alike(table: Table, labels: Labels) -> NDArray[np.intp]:
    """(n,) a number for each row, the same for rows that are equal cell by cell and in class."""
    cells = [labels.codes, *table.columns]
    keys = np.stack([np.where(np.isnan(c), np.inf, c) + 0.0 for c in np.asarray(cells, dtype=float)], axis=1)
    return np.asarray(np.unique(keys, axis=0, return_inverse=True)[1]).ravel()


class _AtQuery(NaiveBayes):
    """Estimates from some of the columns what has been checked for all of them."""

    def _check(self, schema: Schema, total: float) -> None:
        pass


@dataclass(frozen=True)
class LazyFactor(Factor):
    """The terms of a query from rows that are counted now, and only in columns of which the query has a cell."""

    stored: StoredRows
    model: NaiveBayes

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        with listen():  # no query is the place to tell of a column without spread
            factor = self.model._estimate(self.stored.counted(self.touched(X)))
        yield from factor.rows(X)

    def touched(self, X: Table) -> list[str]:
        """The columns that a query has a cell of; where a missing cell is a level, all."""
        if self.model.missing == "category":
            return list(X.schema.names)
        known = (
            (v.name, (column != MISSING) if v.discrete else ~np.isnan(column))
            for v, column in zip(X.schema, X.columns, strict=True)
        )
        return [name for name, cells in known if cells.any()]


class LazyNaiveBayes(NaiveBayes):
    """`NaiveBayes` that keeps its rows and estimates at every query, from the columns that the query has cells of.

    Its posteriors are NaiveBayes's. `fit`, `partial_fit`, `forget` and `merge` only put rows together or take them
    away; levels and cut points are those of the first fit and of the rows since. Each call of a method that predicts
    counts once, for all rows it is asked for. What a fit would warn of a column, that it has no spread say, is not
    known then and not told; classes are counted at once. Parameters are those of `NaiveBayes`, but texts are refused.

    Attributes: `stats_`, the `StoredRows`; the others are NaiveBayes's.

    >>> X, y = [["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "good"]
    >>> model = LazyNaiveBayes().fit(X, y)
    >>> bool((model.predict_proba(X) == NaiveBayes().fit(X, y).predict_proba(X)).all())
    True
    >>> model.forget(X[:1], y[:1]).stats_.n
    3
    """

    reads_matrix = False  # rows are kept column by column
    _at_once = sys.maxsize  # they are counted for once

    def _count(self, X: Table, labels: Labels, target: Variable) -> Any:
        for variable, column in zip(X.schema, X.columns, strict=True):
            if not isinstance(column, np.ndarray):
                raise ParameterError(
                    "column '{column}' is a text, of which LazyNaiveBayes keeps no rows; take NaiveBayes",
                    column=variable.name,
                )
            if variable.numeric and (infinite := np.isinf(column)).any():
                raise infinity(variable.name, infinite)
        return StoredRows(X.schema, target, (_joined([(X, labels)]),))  # copies: whose rows they are may change them

    def _estimate(self, stats: Any) -> Factor:
        if not isinstance(stats, StoredRows):
            raise ParameterError("LazyNaiveBayes keeps rows, not statistics: call fit; or take NaiveBayes")
        self._check(stats.schema, float(stats.class_weight.sum()))
        check_counted(self.likelihoods, stats.schema)
        return LazyFactor(stats, _AtQuery(**self.get_params(deep=False)))

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        return self.counted()._leave_one_out(X, labels)

    def counted(self) -> NaiveBayes:
        """The NaiveBayes of the rows there are now.

        >>> LazyNaiveBayes().fit([["dull"], ["crisp"]], ["good", "bad"]).counted().stats_.class_weight.tolist()
        [1.0, 1.0]
        """
        stored: Any = self.stats_
        return NaiveBayes(**self.get_params(deep=False)).fit_stats(stored.counted(self.schema_.names))
