"""Rows for a model of one matrix of numbers: scikit-learn's checks, with errors that name column and row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import validate_data

from bayes_engine.errors import TableError
from bayes_engine.table.dataframes import as_frame, from_lists, to_pandas
from bayes_engine.table.encode import infinity
from bayes_engine.table.levels import sort_of_objects
from bayes_engine.table.schema import Variable, numbers


def numeric_input(
    model: Any,
    X: Any,
    *,
    reset: bool,
    dtype: Any = "numeric",
    accept_sparse: Any = False,
    ensure_all_finite: Any = True,
    ensure_min_samples: int = 1,
) -> Any:
    """X as scikit-learn's `validate_data` gives it: (n, d) numbers.

    Raises TableError, naming column and row, on a cell that is no number, or missing or infinite where it may not be.
    """
    X = _of_numbers(to_pandas(X))
    try:
        return validate_data(
            model,
            X,
            reset=reset,
            dtype=dtype,
            accept_sparse=accept_sparse,
            ensure_all_finite=ensure_all_finite,
            ensure_min_samples=ensure_min_samples,
        )
    except ValueError as error:
        if str(error).startswith("Input X contains") and not sparse.issparse(X):
            refuse_not_finite(model, as_frame(X), may_miss=ensure_all_finite == "allow-nan")
        raise


def _of_numbers(X: Any) -> Any:
    """X with its columns of objects, levels, dates … as floats, where they hold numbers."""
    if isinstance(X, list | tuple):
        X = from_lists(X)
    if isinstance(X, pd.DataFrame):
        if not X.columns.is_unique or all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes):
            return X
    elif not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2 or not X.size:
        return X
    frame = as_frame(X)
    columns = []
    for name, column in frame.items():
        if column.dtype == object:
            sort_of_objects(column)
        columns.append(numbers(column, Variable(str(name), "continuous")))
    values = np.stack(columns, axis=1)
    return pd.DataFrame(values, X.index, X.columns) if isinstance(X, pd.DataFrame) else values


def refuse_not_finite(model: Any, frame: pd.DataFrame, *, may_miss: bool = False) -> None:
    """Raises TableError, naming column and row, where a cell is infinite, or missing, unless it may be."""
    for name, column in frame.items():
        x = numbers(column, Variable(str(name), "continuous"))
        if np.isnan(x).any() and not may_miss:
            raise TableError(
                "column '{column}' has a missing cell in row {row}: Input X contains NaN; {model} takes none; "
                "fill the cell, leave the row out, or take NaiveBayes, which marginalizes it",
                column=str(name),
                row=int(np.isnan(x).argmax()) + 1,
                model=type(model).__name__,
            ) from None
        if np.isinf(x).any():
            raise infinity(str(name), np.isinf(x)) from None
