"""What a column looks like in a glance: how often each of its bins or levels stands in each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.logspace import Array
from bayes_engine.table.encode import positions
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor.examined_table import as_numbers, contingency

BINS, LEVELS = 12, 12
"""Bins of a column of numbers; and levels that are shown one by one, the rest together."""
SOME = 20_000
"""Rows that a glance is taken of."""
TAIL = 0.01
"""The share of the numbers at either end that falls into the outermost bins, so that one far cell hides nothing."""


@dataclass(frozen=True)
class Profile:
    """`counts` (bins, K) of the rows with a class, or (bins, 1) of all where there are none; `edges` of the bins of
    numbers, from the lowest to the highest, () of levels; `more` levels are together in the last bin; `missing` cells
    there are."""

    counts: tuple[tuple[int, ...], ...]
    edges: tuple[float, ...] = ()
    more: int = 0
    missing: int = 0


def profiles(frame: pd.DataFrame, schema: Schema) -> tuple[Profile, ...]:
    """A glance at every column, of the first `SOME` rows.

    >>> table = pd.DataFrame({"x": [0.0, 0.0, 12.0, None], "y": ["a", "a", "b", "b"]})
    >>> x, y = profiles(table, Schema.from_dtypes(table).with_role("y", "target"))
    >>> x.counts[0], x.counts[-1], x.missing, y.counts
    ((2, 0), (0, 1), 1, ((2, 0), (0, 2)))
    """
    some = frame.iloc[:SOME]
    target = schema.target if schema.target is not None and schema.target.discrete else None
    k = len(target.levels) if target else 1
    y = positions(some[target.name], target.levels) if target else np.zeros(len(some), dtype=np.intp)
    per_column = []
    for v in schema:
        cells = some[v.name]
        missing = int(frame[v.name].isna().sum())
        edges: Array = np.zeros(0)
        more = 0
        if v.numeric:
            codes, edges = _binned(as_numbers(cells))
        elif v.discrete and v.levels:
            codes = positions(cells, v.levels)
            more = max(len(v.levels) - LEVELS, 0)
            codes = np.minimum(codes, LEVELS - 1 if more else LEVELS)
        else:
            codes = np.full(len(some), -1)
        bins = max(len(edges) - 1, 0) if v.numeric else min(len(v.levels), LEVELS) if v.discrete else 0
        counts = contingency(codes, y, bins, k).astype(int).tolist()
        per_column.append(Profile(tuple(map(tuple, counts)), tuple(edges.tolist()), more and more + 1, missing))
    return tuple(per_column)


def _binned(x: Array) -> tuple[NDArray[np.intp], Array]:
    """(n,) the bin of each number, −1 where there is none, and the edges."""
    known = x[~np.isnan(x)]
    codes = np.full(len(x), -1, dtype=np.intp)
    if not len(known):
        return codes, np.zeros(0)
    values = np.unique(known)
    if len(values) <= BINS:  # few values: a bin each
        codes[~np.isnan(x)] = np.searchsorted(values, known)
        return codes, np.append(values, values[-1])
    low, high = np.quantile(known, [TAIL, 1.0 - TAIL])
    low, high = (low, high) if high > low else (values[0], values[-1])
    inner = np.linspace(low, high, BINS + 1)
    codes[~np.isnan(x)] = np.clip(np.searchsorted(inner, known, side="right") - 1, 0, BINS - 1)
    return codes, np.r_[values[0], inner[1:-1], values[-1]]
