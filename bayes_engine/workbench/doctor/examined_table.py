"""A table as the doctor looks at it: rows with a class, a sample where they are many, columns as codes and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.logspace import Array
from bayes_engine.stats.moments import LARGEST
from bayes_engine.table.encode import positions
from bayes_engine.table.roles import Parts, put
from bayes_engine.table.schema import Schema, Variable

T = TypeVar("T")
SAMPLE = 20_000
"""Rows whose cells are looked at: so many tell any share above 0.1 % from none, and cost two seconds at most."""
SHOWN = 20
"""Rows that a finding names at most."""
TOO_LARGE = LARGEST / 2.0
"""From here on a number is taken for infinite, as models take it: its square, or that of two that far apart, is."""


@dataclass(frozen=True)
class ExaminedTable:
    """`frame` holds the n rows looked at, `rows` (n,) their positions in `whole`; `y` (n,) their classes, −1 where
    there is none. `schema` are the columns looked at, of `every` column that `whole` has."""

    whole: pd.DataFrame
    frame: pd.DataFrame
    rows: NDArray[np.intp]
    schema: Schema
    every: Schema
    target: Variable | None
    y: NDArray[np.intp]
    class_rows: NDArray[np.intp]
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, what: str, make: Callable[[], T]) -> T:
        """What more than one check asks for, made by the first of them."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made

    @property
    def n(self) -> int:
        return len(self.frame)

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.class_rows)

    @cached_property
    def rows_of(self) -> list[NDArray[np.intp]]:
        """The rows of each class; all together where there is none."""
        return [np.flatnonzero(self.y == c) for c in range(self.k)] or [np.arange(self.n)]

    @cached_property
    def codes(self) -> dict[str, NDArray[np.intp]]:
        """The discrete features as places of their levels, −1 where missing."""
        plain = (v for v in self.features if v.discrete and v.cuts is None and v.levels)
        return {v.name: positions(self.frame[v.name], v.levels) for v in plain}

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """The numeric features, NaN where missing, infinite or too large."""
        return {v.name: as_numbers(self.frame[v.name]) for v in self.features if v.numeric}

    @cached_property
    def features(self) -> Schema:
        return self.schema.features

    def table(self, name: str) -> Array:
        """(S, K) how often each level of a discrete feature stands in each class; rows without either left out."""
        return contingency(self.codes[name], self.y, len(self.schema[name].levels), self.k)

    def shown(self, mask: NDArray[np.bool_]) -> tuple[int, ...]:
        """The first rows of a mask, as positions in the whole table."""
        return tuple(int(i) for i in self.rows[np.flatnonzero(mask)[:SHOWN]])


def examined_table(
    table: Parts | pd.DataFrame, schema: Schema | None = None, seed: int = 0, most: int | None = None
) -> ExaminedTable:
    """The table with the rows that are looked at (rows without a class among them only where no column is the target)
    and its first `most` columns, the target among them.

    >>> seen = examined_table(pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", None]}).convert_dtypes())
    >>> seen.n, seen.k
    (3, 0)
    """
    if isinstance(table, Parts):
        schema = table.schema
        frame = put(table.X, {table.target.name: table.y}).reset_index(drop=True)
        schema = Schema(tuple(v for v in schema if v.name in frame.columns))
    else:
        frame = table
        schema = Schema.from_dtypes(frame) if schema is None else schema
    every, schema = schema, schema if most is None else _first(schema, most)
    target = schema.target if schema.target is not None and schema.target.discrete else None
    codes = positions(frame[target.name], target.levels) if target else np.full(len(frame), -1)
    rows = np.flatnonzero(codes >= 0) if target else np.arange(len(frame))
    classes = np.bincount(codes[rows], minlength=len(target.levels)) if target else np.zeros(0, dtype=np.intp)
    if len(rows) > SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(rows, SAMPLE, replace=False))
    seen = frame if len(schema) == len(every) else frame[list(schema.names)]
    seen = (seen if len(rows) == len(frame) else seen.iloc[rows]).reset_index(drop=True)
    texts = [v.name for v in schema.features if v.numeric and seen[v.name].dtype.kind not in "fiu"]
    seen = put(seen, {name: pd.to_numeric(seen[name].astype(object), errors="coerce") for name in texts})
    return ExaminedTable(frame, seen, rows, schema, every, target, codes[rows], classes.astype(np.intp))


def _first(schema: Schema, most: int) -> Schema:
    """The first columns, the target among them."""
    others = [v.name for v in schema if v.role != "target"]
    wanted = set(others[: most - (schema.target is not None)])
    return Schema(tuple(v for v in schema if v.name in wanted or v.role == "target"))


def first_rows(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    """The first rows of a mask over the whole table."""
    return tuple(np.flatnonzero(mask)[:SHOWN].tolist())


def as_numbers(column: pd.Series) -> Array:
    """(n,) a column as floats, NaN where missing, infinite or too large to be squared, or no number.

    >>> as_numbers(pd.Series(["1.5", "-", None, "inf", "1e300"])).tolist()
    [1.5, nan, nan, nan, nan]
    """
    numbers: Any = pd.to_numeric(column if column.dtype.kind in "fiu" else column.astype(object), errors="coerce")
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.abs(values) < TOO_LARGE, values, np.nan)


def contingency(a: NDArray[np.intp], b: NDArray[np.intp], rows: int, columns: int) -> Array:
    """(rows, columns) how often the codes a and b meet; −1 meets nothing.

    >>> contingency(np.array([0, 1, -1]), np.array([0, 0, 1]), 2, 2).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    both = (a >= 0) & (b >= 0)
    return np.bincount(a[both] * columns + b[both], minlength=rows * columns).reshape(rows, columns).astype(float)
