"""Roles → what a fit needs: features, target, weights, groups and amounts, from one frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.language import Message, Word
from bayes_engine.table.schema import Role, Schema, Variable


@dataclass(frozen=True)
class Parts:
    """A table taken apart by role. `rows` are the positions kept of the original; `notes` say what was left out."""

    schema: Schema
    target: Variable
    X: pd.DataFrame
    y: pd.Series
    weight: pd.Series | None
    groups: pd.Series | None
    amount: pd.Series | None
    rows: pd.Index
    notes: tuple[Message, ...]


def take_apart(frame: pd.DataFrame, schema: Schema) -> Parts:
    """Split `frame` by the roles of `schema`; rows without a class or without a weight are left out, and said.

    Raises TableError where there is no target, no class or fewer than two, or no feature; and where a weight or an
    amount is negative or no number.

    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", None]})
    >>> parts = take_apart(table, Schema.from_dtypes(table).with_role("y", "target"))
    >>> len(parts.X), str(parts.notes[0])
    (2, "1 row without a value in 'y' is left out")
    """
    target = schema.target
    if target is None:
        raise TableError("no column is the target; choose the column that holds the classes")
    if target.kind in ("text", "date", "identifier", "empty"):
        raise TableError(
            "the target '{column}' holds {kind} values, not a few classes; choose another column",
            column=target.name,
            kind=Word(target.kind),
        )
    if target.numeric:
        raise TableError(
            "the target '{column}' holds numbers; give it the kind categorical, and each number is a class",
            column=target.name,
        )
    features = schema.features
    if not len(features):
        raise TableError("no column is left to learn from; give at least one column the role feature")
    known = frame[target.name].notna()
    notes = []
    if not known.all():
        notes.append(
            Message(
                "{n} row(s) without a value in '{column}' are left out",
                {"n": int((~known).sum()), "column": target.name},
            )
        )
    weight = _measure(frame, schema, "weight")
    if weight is not None:
        known &= weight > 0
    whole = bool(known.all())  # then nothing of a long table is copied
    kept = frame if whole else frame.loc[known]
    n_classes = kept[target.name].nunique()
    if n_classes < 2:
        raise TableError(
            "the target '{column}' holds {n} class(es) in the rows with a value; a classifier needs two. Choose "
            "another target, or add rows",
            column=target.name,
            n=int(n_classes),
        )
    groups = _named(schema, "group")
    amount = _measure(frame, schema, "amount")
    return Parts(
        schema=schema,
        target=target,
        X=kept[list(features.names)],
        y=kept[target.name],
        weight=None if weight is None else weight.loc[known],
        groups=None if groups is None else kept[groups],
        amount=None if amount is None else amount.loc[known],
        rows=pd.RangeIndex(len(frame)) if whole else pd.RangeIndex(len(frame))[known.to_numpy()],
        notes=tuple(notes),
    )


FEWEST = 5
"""So many rows of a class are drawn at least, where there are so many: one a fold."""


def sample(parts: Parts, n: int, seed: int = 0) -> Parts:
    """About `n` of the rows, in their order: of each class its share, drawn at random, and five rows at least; where
    rows come in groups, whole groups drawn at random, as many as hold n rows.

    >>> table = pd.DataFrame({"x": range(100), "y": ["a"] * 90 + ["b"] * 10})
    >>> drawn = sample(take_apart(table, Schema.from_dtypes(table).with_role("y", "target")), 20)
    >>> drawn.y.value_counts().to_dict(), len(drawn.X)
    ({'a': 18, 'b': 5}, 23)
    """
    rng, share = np.random.default_rng(seed), n / len(parts.y)
    if parts.groups is None:
        order = rng.permutation(len(parts.y))
        labels, classes = pd.factorize(parts.y)
        each = [order[labels[order] == c] for c in range(len(classes))]
        kept = np.sort(np.concatenate([rows[: max(round(share * len(rows)), FEWEST)] for rows in each]))
    else:
        of, groups = pd.factorize(parts.groups, use_na_sentinel=False)
        order = rng.permutation(len(groups))
        before = np.cumsum(np.bincount(of)[order]) - np.bincount(of)[order]
        kept = np.flatnonzero(np.isin(of, order[before < n]))

    def taken(column: pd.Series | None) -> pd.Series | None:
        return None if column is None else column.iloc[kept]

    return replace(
        parts,
        X=parts.X.iloc[kept],
        y=parts.y.iloc[kept],
        weight=taken(parts.weight),
        groups=taken(parts.groups),
        amount=taken(parts.amount),
        rows=parts.rows[kept],
    )


def _named(schema: Schema, role: Role) -> str | None:
    return next((v.name for v in schema if v.role == role), None)


def _measure(frame: pd.DataFrame, schema: Schema, role: Role) -> pd.Series | None:
    name = _named(schema, role)
    if name is None:
        return None
    numbers: Any = pd.to_numeric(frame[name], errors="coerce").astype(float)
    bad = numbers.isna() | (numbers < 0)
    if bad.any():
        raise TableError(
            "column '{column}' cannot be the {role}: row {row} holds '{value}', not a number of 0 and more",
            column=name,
            role=Word(role),
            row=int(bad.to_numpy().argmax()) + 1,
            value=str(frame[name][bad].iloc[0]),
        )
    return pd.Series(numbers)


def put(frame: pd.DataFrame, columns: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with these columns added or replaced; `assign` cannot, where one is called 'self'.

    >>> put(pd.DataFrame({"size": [1]}), {"self": [2]}).columns.tolist()
    ['size', 'self']
    """
    changed = frame.copy(deep=False)
    for name, cells in columns.items():
        changed[name] = cells
    return changed
