"""The target as data: class labels, in scikit-learn's manners, as a variable and codes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bayes_engine.errors import CellTypeError, TableError
from bayes_engine.table.dataframes import native, to_pandas
from bayes_engine.table.encode import positions
from bayes_engine.table.levels import distinct_codes, has_missing, observed, sort_levels, written
from bayes_engine.table.schema import Variable


def encode_target(y: Any, known: Variable | None, n: int) -> tuple[Variable, NDArray[np.intp]]:
    """The target variable with its levels sorted (as scikit-learn's scorers assume), and y as codes 0…K−1 of n rows.

    A pandas Categorical declares its classes. Raises TableError on a missing label, an unknown one where the classes
    are declared, or another number of labels than n.
    """
    if y is None:
        raise TableError("requires y to be passed, but the target y is None")
    column = _series(to_pandas(y))
    if len(column) == 0:
        raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: there are no labels")
    if has_missing(column):
        raise TableError(
            "Input y contains NaN: {n} label(s) are missing, the first in row {row}; leave these rows out",
            n=int(column.isna().sum()),
            row=int(column.isna().to_numpy().argmax()) + 1,
        )
    declared = isinstance(column.dtype, pd.CategoricalDtype)
    if not declared:
        with suppress(UnicodeEncodeError):  # Arrow has no half characters
            column = column.infer_objects()
        if column.dtype.kind == "f" and not np.isfinite(column.to_numpy()).all():
            raise TableError("Input y contains infinity: class labels must be finite")
        if column.dtype.kind not in "Oiub":  # whole numbers are classes, whatever they are
            check_classification_targets(np.asarray(column))
    name = "class" if column.name is None else str(column.name)
    numbers = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb"
    coded = distinct_codes(column) if numbers else None
    there = list(column.cat.categories) if declared else coded[1].tolist() if coded else observed(column)
    _refuse_odd(there, name)
    met = sort_levels(there, name)
    if known is None:
        known = Variable(name, "categorical", met, declared=declared)
    new = [label for label in met if label not in known.levels]
    if new and known.declared and not declared:
        raise TableError(
            "y holds the class '{label}', which is not among the declared classes {classes}",
            label=str(new[0]),
            classes=", ".join(map(str, known.levels)),
        )
    if len(column) != n:
        raise TableError("X has {x} rows and y has {y}; each row needs one class", x=n, y=len(column))
    target = replace(known, levels=sort_levels([*known.levels, *new])) if new else known
    codes, labels = coded or distinct_codes(column)
    if labels.tolist() == list(target.levels[: len(labels)]):
        return target, codes.astype(np.intp, copy=False)
    return target, positions(labels, target.levels)[codes]


def _series(y: Any) -> pd.Series:
    """Labels as a column, strings as they are."""
    if isinstance(y, pd.Series):
        return native(y)
    if isinstance(y, pd.api.extensions.ExtensionArray):
        return pd.Series(y)
    if isinstance(y, list) and any(isinstance(label, tuple) for label in y):
        return pd.Series(pd.Index(y, tupleize_cols=False), dtype=object)
    labels = native(column_or_1d(y, warn=True, dtype=None))
    plain = labels.astype(object) if labels.dtype.kind == "U" else labels
    return pd.Series(plain, dtype=object) if plain.dtype == object else pd.Series(plain, copy=False)


def _refuse_odd(labels: Iterable[Any], name: str) -> None:
    """Raises CellTypeError on a label that is neither string nor number nor any other plain value."""
    for label in labels:
        if not pd.api.types.is_scalar(label) or isinstance(label, bytes | complex):
            raise CellTypeError(
                "column '{column}' holds the label {value} ({kind}): argument must be a string or a number; turn the "
                "labels into one of them",
                column=name,
                value=written(label),
                kind=type(label).__name__,
            )


def lone_class(label: Any) -> TableError:
    """The error of a target with one class."""
    return TableError(
        "the target holds 1 class ('{label}'); a classifier needs two classes. Choose another target or add rows of a "
        "second class",
        label=str(label),
    )


def class_array(levels: tuple[Any, ...]) -> NDArray[Any]:
    """`classes_` in the dtype that NumPy gives such labels (object where they are mixed)."""
    mixed = len({isinstance(v, str) for v in levels}) > 1
    return np.array(levels, dtype=object) if mixed else np.array(levels)
