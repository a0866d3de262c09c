"""Another exercise of the same kind: rows drawn from a table with replacement, and a made-up case to work out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from bayes_engine.errors import TableError, listen
from bayes_engine.ledger import Status
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes_wrapper import NaiveBayesWrapper
from bayes_engine.table.roles import Parts
from bayes_engine.table.schema import Schema

ROWS = 20
"""An exercise has at most this many rows drawn at random …"""
COLUMNS = 8
"""… and this many features: as many as one counts by hand."""
MADE_UP = 64
"""As many cases are made up before one of the rows is taken."""
TRIES = 20


@dataclass(frozen=True)
class Exercise:
    """A table drawn from another, the model fitted to it, and a case (by feature; None is never in it)."""

    parts: Parts
    model: GenerativeClassifier
    case: dict[str, Any]


def draw(parts: Parts, model: GenerativeClassifier, seed: int) -> Exercise:
    """The exercise with this number, the same one on every machine: rows with replacement (of each class at least two),
    a case of values that occur there, with a posterior under a fresh fit of `model`'s parameters.

    Raises TableError where no such case is found.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> from bayes_engine.table.roles import take_apart
    >>> tennis = load_dataset("play-tennis")
    >>> drawn = draw(take_apart(tennis.frame, tennis.schema), NaiveBayes(), 1)
    >>> len(drawn.parts.X), sorted(drawn.case) == sorted(tennis.schema.features.names)
    (14, True)
    """
    rng = np.random.default_rng(seed)
    for _attempt in range(TRIES):
        drawn = _drawn(parts, rng)
        fresh = _reading(clone(model), drawn.schema)
        with listen():
            fresh.fit(drawn.X, drawn.y, None if drawn.weight is None else drawn.weight.to_numpy())
        cases = _cases(drawn.X, rng)
        if len(cases) and (fine := fresh.explain(cases).status == Status.OK).any():
            first = int(fine.argmax())
            return Exercise(drawn, fresh, {name: cases[name].iloc[first] for name in cases.columns})
    raise TableError(
        "no exercise could be drawn from this table; take one with more known cells, or smooth the model (alpha > 0)"
    )


def _cases(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Made-up cases, each cell from anywhere in its column; after them the complete rows themselves, some of which have
    a posterior even where no smoothing helps a made-up one. Empty where a column has no known cell."""
    columns = {name: X[name].dropna() for name in X.columns}
    if not all(map(len, columns.values())):
        return X.iloc[:0]
    made_up = {name: known.iloc[rng.integers(len(known), size=MADE_UP)].to_numpy() for name, known in columns.items()}
    return pd.concat([pd.DataFrame(made_up).astype(X.dtypes.to_dict()), X.dropna()], ignore_index=True)


def _drawn(parts: Parts, rng: np.random.Generator) -> Parts:
    """Rows with replacement, two of a class where it would have fewer, in the table's order; some of the features."""
    n, codes = len(parts.X), pd.factorize(parts.y)[0]
    rows = rng.integers(n, size=min(n, ROWS))
    for k in range(codes.max() + 1):
        if (codes[rows] == k).sum() < 2:
            rows = np.concatenate([rows, rng.choice(np.flatnonzero(codes == k), size=2)])
    rows.sort()
    names = list(parts.X.columns)
    kept = [names[j] for j in np.sort(rng.permutation(len(names))[:COLUMNS])]
    schema = parts.schema
    for variable in schema.features:
        if variable.name not in kept:
            schema = schema.with_variable(replace(variable, role="ignore"))
    return Parts(
        schema=schema,
        target=parts.target,
        X=parts.X.iloc[rows][kept].reset_index(drop=True),
        y=parts.y.iloc[rows].reset_index(drop=True),
        weight=None if parts.weight is None else parts.weight.iloc[rows].reset_index(drop=True),
        groups=None,
        amount=None,
        rows=parts.rows[rows],
        notes=(),
    )


def _reading(model: GenerativeClassifier, schema: Schema) -> GenerativeClassifier:
    """The model, not fitted, with these columns; of one on a naive Bayes that one reads them."""
    if isinstance(model, NaiveBayesWrapper):
        return model.set_params(estimator=model._inner.set_params(schema=schema))  # type: ignore[no-any-return]
    return model.set_params(schema=schema)  # type: ignore[no-any-return]
