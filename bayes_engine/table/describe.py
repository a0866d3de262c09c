"""What a column holds, in a few numbers: for the eye of the person who decides what it is for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.table.schema import Schema, Variable

SHOWN = 6
"""How many of the most frequent values are kept."""


@dataclass(frozen=True)
class ColumnSummary:
    """`n` cells, of which `missing`; `distinct` values; for numbers `low`, `mean`, `high`; otherwise `counts` of the
    levels in their order, or of the most frequent values; of dates the first and the last."""

    name: str
    n: int
    missing: int
    distinct: int
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    counts: tuple[tuple[Any, int], ...] = ()


def describe(frame: pd.DataFrame, schema: Schema) -> tuple[ColumnSummary, ...]:
    """A summary of every column."""
    return tuple(_describe(frame[v.name], v) for v in schema)


def _describe(column: pd.Series, variable: Variable) -> ColumnSummary:
    values = column.dropna()
    basic = ColumnSummary(variable.name, len(column), len(column) - len(values), int(values.nunique()))
    if variable.numeric:
        numbers = pd.to_numeric(values.astype(object), errors="coerce").to_numpy(dtype=float)
        finite = numbers[np.isfinite(numbers)]
        if finite.size:
            return replace(basic, low=float(finite.min()), mean=float(finite.mean()), high=float(finite.max()))
        return basic
    if variable.kind == "date" and pd.api.types.is_datetime64_any_dtype(values.dtype):
        ends = (values.min(), values.max())
        counts: list[tuple[Any, int]] = [(str(v).removesuffix(" 00:00:00"), 1) for v in ends]
    elif variable.kind in ("identifier", "text", "date"):
        counts = values.iloc[:2].map(lambda v: (v, 1)).tolist()
    elif variable.discrete:
        met = values.value_counts()
        counts = [(level, int(met.get(level, 0))) for level in variable.levels]
    else:
        counts = [(value, int(n)) for value, n in values.value_counts().head(SHOWN).items()]
    return replace(basic, counts=tuple(counts))
