"""The target as data: class labels, in scikit-learn's manners, as a variable and codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from bayes_engine.errors import TableError
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import positions
from bayes_engine.table.schema import Variable, observed, sort_levels


def encode_target(y: Any, known: Variable | None) -> tuple[Variable, NDArray[np.intp]]:
    """The target variable with its levels sorted (as scikit-learn's scorers assume), and y as codes 0…K−1.

    A pandas Categorical declares its classes. Raises TableError on a missing label or an unknown one where the classes
    are declared.
    """
    y = to_pandas(y)
    if not isinstance(y, pd.Series):
        y = pd.Series(y if isinstance(y, pd.api.extensions.ExtensionArray) else column_or_1d(y, warn=True, dtype=None))
    column = y
    if len(column) == 0:
        raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: there are no labels")
    if column.isna().any():
        raise TableError(
            "Input y contains NaN: {n} label(s) are missing, the first in row {row}; leave these rows out",
            n=int(column.isna().sum()),
            row=int(column.isna().to_numpy().argmax()) + 1,
        )
    declared = isinstance(column.dtype, pd.CategoricalDtype)
    if not declared:
        column = column.infer_objects()
        if column.dtype.kind == "f" and not np.isfinite(column.to_numpy()).all():
            raise TableError("Input y contains infinity: class labels must be finite")
        if column.dtype.kind not in "Oiub":  # whole numbers are classes, whatever they are
            check_classification_targets(np.asarray(column))
    met = sort_levels(column.cat.categories if declared else observed(column))
    if known is None:
        name = "class" if column.name is None else str(column.name)
        known = Variable(name, "categorical", met, declared=declared)
    new = [label for label in met if label not in known.levels]
    if new and known.declared and not declared:
        raise TableError(
            "y holds the class '{label}', which is not among the declared classes {classes}",
            label=str(new[0]),
            classes=", ".join(map(str, known.levels)),
        )
    target = replace(known, levels=sort_levels([*known.levels, *new])) if new else known
    codes, labels = pd.factorize(column)
    return target, positions(labels, target.levels)[codes]


def class_array(levels: tuple[Any, ...]) -> NDArray[Any]:
    """`classes_` in the dtype that NumPy gives such labels (object where they are mixed)."""
    mixed = len({isinstance(v, str) for v in levels}) > 1
    return np.array(levels, dtype=object) if mixed else np.array(levels)
