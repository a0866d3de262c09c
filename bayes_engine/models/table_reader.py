"""Rows coming in: a table checked, its columns given kinds and cut into intervals, its cells encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted, validate_data

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.fit_warnings import warn_of_guesses
from bayes_engine.models.target import encode_target, lone_class
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.table.dataframes import as_frame, to_pandas
from bayes_engine.table.discretize import checked_method, cuts_for, interval_names
from bayes_engine.table.encode import Table, encode, observe
from bayes_engine.table.matrix import as_they_lie
from bayes_engine.table.schema import Schema, Variable, middle, numbers


class TableReader:
    """How a generative classifier reads rows. What it may override, each said where it stands: `takes_text`, `numeric`,
    `reads_matrix`, `_frame`, `_declared`, `_kinds`, `_cutting_method`, `_initial_schema`, `_observed`, `_first_read`,
    `_table`."""

    schema: Schema | None
    schema_: Schema
    n_features_in_: int
    unseen: str
    missing: str
    discretize: str | None = None
    bins: int = 10
    likelihoods: Any = None
    takes_text: ClassVar[bool] = False
    """Whether a column may be a text."""
    numeric: ClassVar[bool] = False
    """Whether all columns are numbers, without a missing cell in the rows of a fit."""
    reads_matrix: ClassVar[bool] = False
    """Whether many rows of numbers alone are one matrix."""

    def _observed(self, frame: Any, labels: Labels, known: Schema | None) -> Schema:
        """The schema of these rows: the first's own, or the one `known` before them, grown."""
        if known is not None:
            return observe(frame, known)
        initial = self._initial_schema(frame, labels)
        return initial if self.schema is None else observe(frame, initial)  # by its dtypes it holds the rows' levels

    def _first_read(self, frame: Any, schema: Schema) -> Table:
        """Rows to learn from, as `_frame` gave them, encoded."""
        return self._table(frame, schema, unseen="error", missing=self.missing)

    def _table(self, frame: Any, schema: Schema, *, unseen: str, missing: str = "marginalize") -> Table:
        """Rows as `_frame` gave them, encoded."""
        whole = as_they_lie(frame, schema, missing) if self.reads_matrix else None
        return encode(frame, schema, unseen=unseen, missing=missing) if whole is None else whole

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        if self.discretize is not None:
            checked_method(self.discretize, self.bins)
        schema = self._kinds(frame)
        if self.schema is None and not isinstance(self.likelihoods, str):
            warn_of_guesses(schema, frame, self.likelihoods or ())
        return self._cut(schema, frame, labels)

    def _kinds(self, frame: pd.DataFrame) -> Schema:
        """What each column holds, by its dtype or the schema given; the pivots come from the rows in either case."""
        if self.schema is None:
            return Schema.from_dtypes(frame)
        schema = self._declared()
        for v in schema:
            if v.textual and not self.takes_text:
                refuse_text(v, self)
        pivots = {v.name: middle(numbers(frame[v.name], v)) for v in schema if v.numeric}
        return Schema(tuple(replace(v, pivot=pivots.get(v.name, v.pivot)) for v in schema))

    def _declared(self) -> Schema:
        """The features of the schema that was given."""
        return given_schema(self.schema).features

    def _cutting_method(self, variable: Variable) -> str | None:
        """How a column of numbers is cut into intervals; None where it stays one of numbers."""
        return self.discretize

    def _cut(self, schema: Schema, frame: pd.DataFrame, labels: Labels) -> Schema:
        """The columns of numbers to be cut as intervals, by cut points from these rows alone: folds find their own."""
        variables = []
        for variable in steps(schema):
            method = self._cutting_method(variable) if variable.numeric else None
            if method is not None:
                assert labels.codes is not None
                x = numbers(frame[variable.name], variable)
                cuts = cuts_for(method, x, labels.codes, labels.n_classes, labels.weight, self.bins)
                variable = replace(variable, cuts=cuts, levels=interval_names(cuts), declared=True)
            variables.append(variable)
        return Schema(tuple(variables))

    def _read(
        self, X: Any, y: Any, sample_weight: Any, known: Variable | None, *, reset: bool
    ) -> tuple[Any, Labels, Variable]:
        frame = self._frame(X, reset=reset)
        target, codes = encode_target(y, known, len(frame))
        weight = checked_weights(sample_weight, len(frame), some=reset)  # rows before these may have counted
        labels = Labels(len(target.levels), codes, weight)
        if reset:
            met = labels.by_class > 0
            if len(target.levels) < 2 or (known is None and not target.declared and met.sum() < 2):
                raise lone_class(target.levels[int(met.argmax())])
        return frame, labels, target

    def _frame(self, X: Any, *, reset: bool) -> Any:
        """X checked, its columns in the schema's order: n rows with a length, for `_observed` and `_table` alone."""
        X = to_pandas(X)
        frame = as_frame(X)
        self._check_columns(X, frame.shape[1], reset=reset)
        if self.schema is None:
            named = frame is not X or all(isinstance(c, str) for c in frame.columns)
            return frame if named else frame.set_axis([str(c) for c in frame.columns], axis=1)
        return by_schema(X, frame, self._declared().names)

    def _check_columns(self, X: Any, d: int, *, reset: bool) -> None:
        """Raises TableError where X has another number `d` of columns than the rows of the fit."""
        if reset or not self._names_agree(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        if not reset and d != self.n_features_in_:
            raise TableError(
                "X has {n} features, but {model} is expecting {d} features as input",
                n=d,
                model=type(self).__name__,
                d=self.n_features_in_,
            )

    def _names_agree(self, X: Any) -> bool:
        """Whether the columns of X have the names of the fit, or none where it had none: scikit-learn says so, too, but
        more slowly."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(X, np.ndarray):
            return names is None
        return names is not None and isinstance(X, pd.DataFrame) and X.columns.tolist() == names.tolist()

    def _encode(self, X: Any, missing: str | None = None) -> Table:
        if not hasattr(self, "stats_"):
            check_is_fitted(self, "stats_")  # it raises, but takes long to find out that it need not
        missing = missing or self.missing
        if self.reads_matrix and type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64:
            self._check_columns(X, X.shape[1], reset=False)
            if (whole := as_they_lie(X, self.schema_, missing)) is not None:  # without a frame around it
                return whole
        return self._table(self._frame(X, reset=False), self.schema_, unseen=self.unseen, missing=missing)


def refuse_text(variable: Variable, model: Any) -> NoReturn:
    """Raises TableError where a model is given a text that it does not read."""
    raise TableError(
        "column '{column}' is a text, which {model} cannot read; take NaiveBayes, or set it aside",
        column=variable.name,
        model=type(model).__name__,
    )


def by_schema(X: Any, frame: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """The columns of a schema, in its order; those of an array have its names. Raises TableError where they do not
    fit."""
    if not isinstance(X, pd.DataFrame):
        if len(names) != frame.shape[1]:
            raise TableError("the schema has {s} features and X has {d} columns", s=len(names), d=frame.shape[1])
        return frame.set_axis(list(names), axis=1)
    for name in names:
        if name not in frame.columns:
            raise TableError("the schema's column '{column}' is not in X", column=name)
    return frame if frame.columns.tolist() == list(names) else frame[list(names)]


def given_schema(schema: Any) -> Schema:
    """What an estimator was given as its `schema`. Raises ParameterError where that is none."""
    if not isinstance(schema, Schema):
        raise ParameterError(
            "schema is a {kind}, not a Schema; take the schema of a Reading, or Schema.infer",
            kind=type(schema).__name__,
        )
    return schema


def refuse_unknown_columns(parameter: str, named: Iterable[Any], known: Collection[str]) -> None:
    """Raises ParameterError where a parameter names a column that is not there."""
    for name in named:
        if name not in known:
            raise ParameterError(
                "{parameter}: there is no column '{column}'; the columns are {columns}",
                parameter=parameter,
                column=str(name),
                columns=", ".join(f"'{column}'" for column in known),
            )
