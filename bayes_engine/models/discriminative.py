"""The other way to a posterior: P(c|x) modelled at once, without P(x|c), by scikit-learn's logistic regression; and the
generative classifiers that are set against it where the truth is known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.ledger import JOINT, Ledger, Status
from bayes_engine.logspace import Array
from bayes_engine.models.aode import AODE
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.tan import TAN
from bayes_engine.progress import steps, tick, ticking
from bayes_engine.table.encode import positions
from bayes_engine.table.schema import Schema, numbers

PARTS = 16
"""Into so many parts the columns of a kind are taken at most."""


def discriminative_counterpart(schema: Schema) -> Pipeline:
    """scikit-learn's LogisticRegression for a table of this schema: numbers with the median where missing (and a column
    that says so), then scaled; levels one-hot, missing as a level of its own, one not met as none; texts as counts of
    their terms, a missing one as empty; penalty ½‖w‖²."""
    features = schema.features.variables
    numeric = [j for j, v in enumerate(features) if v.numeric]
    levels = [j for j, v in enumerate(features) if not v.numeric and v.kind != "text"]
    # a column may be empty in a fold: it stays, as zeros that have no say
    filled = (SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True), StandardScaler())
    columns = ColumnTransformer([
        *((f"numbers {part[0]}", _seen(*filled), part) for part in _parts(numeric)),
        *((f"levels {part[0]}", _seen(OneHotEncoder(handle_unknown="ignore")), part) for part in _parts(levels)),
    ])  # fmt: skip
    cells = [("read", FunctionTransformer(as_numbers, kw_args={"schema": schema})), ("columns", columns)]
    logistic = ("logistic", ticking(LogisticRegression(max_iter=5000)))
    texts = [
        (f"text {j}", make_pipeline(FunctionTransformer(_texts, kw_args={"place": j}), v.text.vectorizer()))
        for j, v in enumerate(features)
        if v.text is not None
    ]
    if not texts:
        return ticking(Pipeline([*cells, logistic]))
    parts = [("cells", Pipeline(cells)), *texts] if numeric or levels else texts
    return ticking(Pipeline([("columns", FeatureUnion(parts)), logistic]))


@dataclass(frozen=True)
class PosteriorOnly:
    """A fitted classifier that has posteriors and nothing behind them: its ledger has one row. `classes` name the
    columns of its `predict_proba`, in the order of its own."""

    model: Any
    classes: tuple[Any, ...]

    def explain(self, X: Any, given: Collection[str] | None = None) -> Ledger:
        """The posterior of the rows of X (n, d), as one row. It can leave no column out."""
        log_p = log_proba(self.model, X)
        status = np.where(np.isneginf(log_p).all(axis=1), Status.IMPOSSIBLE, Status.OK).astype(np.int8)
        return Ledger(((JOINT, log_p),), self.classes, status)


def _parts(columns: list[int]) -> list[list[int]]:
    """A few columns at a time, so that a long fit can be called off between them; in few parts, for each takes time."""
    width = -(-len(columns) // PARTS) or 1
    return [columns[first : first + width] for first in range(0, len(columns), width)]


def _seen(*stages: Any) -> Pipeline:
    """These stages with a tick before each."""
    looks = [FunctionTransformer(_looked) for _stage in stages]
    return make_pipeline(*(part for pair in zip(looks, stages, strict=True) for part in pair))


def _looked(X: Any) -> Any:
    tick()
    return X


def _texts(X: Any, place: int) -> list[str]:
    column = pd.DataFrame(X).iloc[:, place]
    return ["" if gone else str(cell) for cell, gone in zip(column, column.isna(), strict=True)]


def as_numbers(X: Any, schema: Schema) -> Array:
    """(n, d) the features of a frame as numbers: NaN where missing; a level by its position, −1 where missing or none
    of the schema's."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=list(schema.features.names))
    cells = [
        numbers(frame[v.name], v) if v.numeric else positions(frame[v.name], v.levels).astype(float)
        for v in steps(schema.features)
    ]
    return np.column_stack(cells)


def of_numbers() -> dict[str, Any]:
    """By name, for columns of numbers: three generative classifiers and the discriminative one."""
    return {
        "naive-bayes": NaiveBayes(),
        "lda": LinearDiscriminantAnalysis(),
        "qda": QuadraticDiscriminantAnalysis(),
        "logistic": ticking(LogisticRegression()),
    }


def of_levels() -> dict[str, Any]:
    """By name, for discrete columns."""
    one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore"), ticking(LogisticRegression()))
    return {"naive-bayes": NaiveBayes(), "tan": TAN(), "aode": AODE(), "logistic": one_hot}
