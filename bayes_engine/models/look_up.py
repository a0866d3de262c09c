"""Naive Bayes compiled into a look-up table: every logarithm taken beforehand, so that a prediction is look-ups and
additions (Zhou, Machine Learning, §7.3). What cannot be looked up, a number under a Gaussian or a count under a Poisson
likelihood, keeps its coefficients.

`LookUp` is the table; `LookUp.source` writes it as a Python file that needs nothing but Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError
from bayes_engine.factors import LOG_2PI
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, log, normalize
from bayes_engine.models.decision_mixin import refuse_undefined
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up_tables import (
    AnyTable,
    LevelTable,
    NormalTable,
    RateTable,
    ReferenceCase,
    times,
    written,
)
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.naive_bayes_wrapper import NaiveBayesWrapper
from bayes_engine.models.table_reader import by_schema
from bayes_engine.models.target import class_array
from bayes_engine.table.dataframes import as_frame, to_pandas
from bayes_engine.table.encode import Table, encode
from bayes_engine.table.schema import Schema, Variable

MOST_CASES = 60
"""Test vectors that a compiled table carries at most."""


@dataclass(frozen=True)
class LookUp:
    """A compiled naive Bayes: `log_prior` (C,) and a table for each column that says something, in the model's order.

    It counts nothing and cannot learn: when rows come or go it is compiled anew. `cases` are test vectors, made of the
    model's levels and means, never of anybody's rows, with the model's own posteriors.

    >>> X = pd.DataFrame({"sound": ["dull", "crisp", "dull"], "sugar": [0.4, 0.1, 0.3]})
    >>> model = NaiveBayes(tied_variance=True).fit(X, ["good", "bad", "bad"])
    >>> table = LookUp.of(model)
    >>> bool(np.allclose(table.predict_proba(X), model.predict_proba(X), atol=1e-12, rtol=0))
    True
    >>> table.frame().query("column == 'sound' and level == 'dull'")["log_p"].round(4).tolist()
    [-0.6931, -0.4055]
    """

    schema: Schema
    target: Variable
    log_prior: Array
    columns: tuple[AnyTable, ...]
    missing: str
    unseen: str
    cases: tuple[ReferenceCase, ...] = ()

    @classmethod
    def of(cls, model: NaiveBayes | NaiveBayesWrapper) -> LookUp:
        """The table of a fitted NaiveBayes, WeightedNaiveBayes or SelectiveNaiveBayes.

        Raises ParameterError for another model, and naming the column whose likelihood has no table.
        """
        if not isinstance(model, NaiveBayes | NaiveBayesWrapper):
            raise ParameterError("a look-up table is made of a NaiveBayes, not of {name}", name=type(model).__name__)
        check_is_fitted(model, "stats_")
        factor = model.counted().factor_ if isinstance(model, LazyNaiveBayes) else model.factor_
        log_prior, columns = tables_of(factor, model.schema_)
        made = cls(model.schema_, model.target_, log_prior, columns, model.missing, model.unseen)
        return replace(made, cases=_cases(made, model))

    # predicting ---------------------------------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, C) log p(c, x), in nats."""
        return self._joint(self._encode(X))

    def predict_proba(self, X: Any) -> Array:
        """(n, C) P(c|x), classes as in `classes`. Raises UndefinedPosterior, naming the rows, where there is none."""
        table = self._encode(X)
        joint = self._joint(table)
        refuse_undefined(np.isneginf(joint).all(axis=1) | table.infinite())
        return normalize(joint)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class with the largest posterior; of equals the first."""
        decision = decide(self.predict_proba(X), LossMatrix.zero_one(self.classes))
        return np.asarray(class_array(self.classes)[decision.position])

    @property
    def classes(self) -> tuple[Any, ...]:
        """The class labels, in the order of the columns of every array."""
        return self.target.levels

    def _encode(self, X: Any) -> Table:
        X = to_pandas(X)
        frame = by_schema(X, as_frame(X).rename(columns=str), self.schema.names)
        return encode(frame, self.schema, unseen=self.unseen, missing=self.missing)

    def _joint(self, X: Table) -> Array:
        joint = np.repeat(self.log_prior[:, None], X.n, axis=1)
        with np.errstate(over="ignore"):
            for column in self.columns:
                joint += column.terms(X)
        return joint.T

    # what it holds ------------------------------------------------------------------------------------------------

    def frame(self) -> pd.DataFrame:
        """Every log term looked up, one a row: column, entry ("prior", "missing", "level", "unseen"), level,
        class, log_p in nats. `coefficients` has the rest."""
        rows = [(self.target.name, "prior", c, c, p) for c, p in zip(self.classes, self.log_prior, strict=True)]
        for column in self.columns:
            if isinstance(column, LevelTable):
                levels = column.variable.levels
                entries = [("missing", None), *(("level", level) for level in levels), ("unseen", None)]
                rows += [
                    (column.variable.name, entry, level, c, p)
                    for (entry, level), of_class in zip(entries, column.table.T, strict=True)
                    for c, p in zip(self.classes, of_class, strict=True)
                ]
        return pd.DataFrame(rows, columns=["column", "entry", "level", "class", "log_p"])

    def coefficients(self) -> pd.DataFrame:
        """Of each Gaussian column and class: mean, sd, and the natural parameters of log N = b + eta1 z + eta2 z² with
        z = x − pivot; of each count λ, √λ, and those of log P = b + eta1 x − log x!."""
        rows = []
        for column in self.columns:
            if isinstance(column, NormalTable):
                pivot, means, sds = column.pivot, column.pivot + column.centre, column.sd
            elif isinstance(column, RateTable):
                pivot, means, sds = 0.0, column.rate, np.sqrt(column.rate)
            else:
                continue
            by_class = zip(self.classes, means, sds, column.natural.T, strict=True)
            rows += [(column.variable.name, c, pivot, mean, sd, *natural) for c, mean, sd, natural in by_class]
        return pd.DataFrame(rows, columns=["column", "class", "pivot", "mean", "sd", "b", "eta1", "eta2"])

    @property
    def nbytes(self) -> int:
        """The memory of the numbers."""
        numbers = (
            c.table.nbytes if isinstance(c, LevelTable)
            else 2 * c.rate.nbytes + 8 if isinstance(c, RateTable)
            else 3 * c.sd.nbytes + 16
            for c in self.columns
        )  # fmt: skip
        return self.log_prior.nbytes + sum(numbers)

    def source(self) -> str:
        """A Python file with `posterior(row)` and `predict(row)`, row being {column: value}: it imports `math`, checks
        itself against its test vectors when it is run, and holds no row of the table.

        Raises ParameterError where a label is no string, number or truth value.

        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> made = {}
        >>> exec(LookUp.of(model).source(), made)
        >>> made["posterior"]({"x0": "crisp"}), made["check"]() <= 1e-12
        ({'bad': 0.75, 'good': 0.25}, True)
        """
        return written(
            self.classes,
            self.log_prior,
            self.schema,
            self.columns,
            self.cases,
            missing=self.missing,
            unseen=self.unseen,
        )


def tables_of(factor: Any, schema: Schema) -> tuple[Array, tuple[AnyTable, ...]]:
    """(C,) log P(c), and the tables of the columns, of a naive Bayes factor; of a discrete column that was left out one
    of zeros, which still knows its levels.

    Raises ParameterError, naming the column, where a likelihood has no table.
    """
    prior, *_columns = factor.parts
    parts = {v.name: part for v in schema if (part := factor.part_of(v.name))}
    tables = {name: _table_of(leaf, weight) for name, (leaf, weight) in parts.items()}
    for variable in schema:
        if variable.textual:
            raise ParameterError(
                "column '{column}' is a text: each of its terms has a probability, but no table holds all texts; "
                "estimate it from the rows or from counts instead, or set the column aside",
                column=variable.name,
            )
        if variable.discrete and variable.name not in tables:
            tables[variable.name] = LevelTable(variable, np.zeros((len(prior.p), 2 + len(variable.levels))))
    return log(prior.p), tuple(tables[name] for name in schema.names if name in tables)


def _table_of(leaf: Any, weight: float) -> AnyTable:
    match leaf.form:
        case "table":
            return LevelTable(leaf.variable, times(weight, leaf.by_code))
        case "gaussian":
            sd, centre = np.sqrt(leaf.variance), np.asarray(leaf.moments.offset)
            return NormalTable(leaf.variable, leaf.moments.pivot, centre, sd, LOG_2PI + 2.0 * np.log(sd), weight)
        case "rate":
            return RateTable(leaf.variable, leaf.rate, log(leaf.rate), weight)
    raise ParameterError(
        "column '{column}' has a likelihood ({factor}) that no table holds; discretize it, or take a Gaussian",
        column=leaf.variable.name,
        factor=type(leaf).__name__.removesuffix("Leaf").lower(),
    )


# test vectors ---------------------------------------------------------------------------------------------------------


def _cases(made: LookUp, model: NaiveBayes | NaiveBayesWrapper) -> tuple[ReferenceCase, ...]:
    """A case without a known cell, and as many as show every entry of every column, up to `MOST_CASES`."""
    tables = {column.variable.name: column for column in made.columns}
    choices = {v.name: _values(v, tables.get(v.name), made) for v in made.schema}
    n = min(MOST_CASES - 1, max(map(len, choices.values())))
    turned = {name: list(islice(cycle(values[j % len(values) :] + values[: j % len(values)]), n))
              for j, (name, values) in enumerate(choices.items())}  # fmt: skip
    nothing = [] if made.missing == "error" else [dict.fromkeys(choices)]
    rows = [*nothing, *(dict(zip(turned, cells, strict=True)) for cells in zip(*turned.values(), strict=True))]
    frame = pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in choices})
    table = made._encode(frame)
    joint = model.factor_.log(table)
    answered = zip(rows, normalize(joint), model._status(table, joint), strict=True)
    return tuple(ReferenceCase(row, tuple(p.tolist()) if ok == Status.OK else None) for row, p, ok in answered)


def _values(variable: Variable, column: AnyTable | None, made: LookUp) -> list[Any]:
    """What a column's cell may hold: each level, one that is none, missing; of a number each class's mean, and ± σ; of
    a count 0 and the whole numbers near these."""
    none = [] if made.missing == "error" else [None]
    if variable.cuts is not None:
        ends = [*variable.cuts[:1], *variable.cuts]
        return [*ends[1:], *(c + 1.0 for c in variable.cuts), *(c - 1.0 for c in ends[:1]), *none] or [0.0]
    if variable.discrete:
        strange = "?"
        while strange in variable.levels:
            strange += "?"
        return [*variable.levels, *([] if made.unseen == "error" else [strange]), *none]
    if isinstance(column, NormalTable):
        means = [(column.pivot + m + k * s) for m, s in zip(column.centre, column.sd, strict=True) for k in (0, 1, -1)]
        return [*map(float, means), *none]
    if isinstance(column, RateTable):
        near = [np.round(rate + k * np.sqrt(rate)) for rate in column.rate for k in (0, 1, -1)]
        return [0.0, *(max(float(v), 0.0) for v in near), *none]
    return [variable.pivot, *none]
