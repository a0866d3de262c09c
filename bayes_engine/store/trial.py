"""A model that was read answers for one row of its own columns before anybody gets it.

Parameters that only a prediction uses, column names that no table can have, matrices that are positive by a rounding
only: each has its place in the code that predicts, and is met there, on one row, rather than listed here again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import BayesEngineError, ParameterError, StoreError
from bayes_engine.models.network import BayesianNetwork

_VERBS = ("predict_joint_log_proba", "predict_proba", "transform", "score_samples")
_INNER = ("estimator_", "gaussian_")


def check_answers(model: Any) -> None:
    """Ask a model for what it says of one row; one that was not fitted, and knows no columns, is not asked.

    That the row is refused in words is an answer, and the model's own. Raises StoreError where what it says is no
    number, ParameterError where a parameter is what none can be; whatever else goes wrong is the caller's to tell.

    >>> from bayes_engine import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [2.0], [4.0], [6.0]], ["u", "u", "v", "v"])
    >>> check_answers(model)
    >>> model.factor_.parts[0].p[:] = np.nan
    >>> check_answers(model)
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the model does not answer for a row of its own columns
    """
    if not any(name in vars(model) for name in ("n_features_in_", *_INNER)):
        return
    row = _row(model)
    for verb in _VERBS:
        if not hasattr(model, verb):
            continue
        try:
            said = getattr(model, verb)(row)
        except ParameterError:
            raise
        except BayesEngineError:
            continue
        if isinstance(said, np.ndarray) and said.dtype.kind == "f" and (np.isnan(said) | np.isposinf(said)).any():
            raise StoreError("the model does not answer for a row of its own columns")


def _row(model: Any) -> NDArray[Any] | pd.DataFrame:
    """The first level of every column that has levels; of the others the pivot, 0 or an empty text."""
    names, schema = getattr(model, "feature_names_in_", None), _schema(model)
    if names is None and isinstance(model, BayesianNetwork):
        names = model.schema_.names
    called = [f"x{j}" for j in range(model.n_features_in_)] if names is None else list(names)
    if not all(type(name) is str for name in called):
        raise StoreError("a column's name is no text")
    cells = np.zeros((1, len(called)))
    if schema is not None:
        cells = np.full((1, len(called)), None, dtype=object)
        known = {v.name: v for v in schema}
        for j, name in enumerate(called):
            if (v := known.get(name)) is not None:
                discrete = v.discrete and v.cuts is None
                cells[0, j] = next(iter(v.levels), None) if discrete else "" if v.textual else v.pivot
    return cells if names is None else pd.DataFrame(cells, columns=called)


def _schema(model: Any) -> Any:
    while not hasattr(model, "schema_"):
        inner = next((name for name in _INNER if hasattr(model, name)), None)
        if inner is None:
            return None
        model = getattr(model, inner)
    return model.schema_ or None  # counts of terms have columns without one
