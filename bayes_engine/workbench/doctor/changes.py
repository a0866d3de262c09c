"""What a repair changed, cell by cell: how many, and the first of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor.duplicates import read_names
from bayes_engine.workbench.doctor.finding import Repair

LISTED = 200
"""So many cells are named one by one; all are counted."""


class CellChange(NamedTuple):
    """A cell's `row`, counted from 0, and what it held and holds, None where missing. Of a row that was left out
    `before` is None and `after` the number of the row it is equal to."""

    row: int
    before: Any
    after: Any


class Changes(NamedTuple):
    """The `n` cells of `column` (or rows left out, where that is "") that a repair changed, and the `first` of them:
    what became missing before what became another value."""

    column: str
    n: int
    first: tuple[CellChange, ...]


def changes(before: pd.DataFrame, after: pd.DataFrame, schema: Schema, repair: Repair) -> Changes:
    """What `repair` made of a table `before`, under its `schema`.

    >>> before, after = pd.DataFrame({"x": [1, -9, 3]}), pd.DataFrame({"x": [1.0, np.nan, 3.0]})
    >>> changes(before, after, Schema.from_dtypes(before), Repair("value-missing", "x", -9.0))
    Changes(column='x', n=1, first=(CellChange(row=1, before=-9, after=None),))
    """
    if not repair.column:
        return _left_out(before, after, read_names(schema))
    old, new = before[repair.column], after[repair.column]
    differ, gone = _differ(old, new), new.isna().to_numpy(dtype=bool)
    rows = np.r_[np.flatnonzero(differ & gone), np.flatnonzero(differ & ~gone)]
    shown = [(int(i), _cell(old.iloc[i]), _cell(new.iloc[i])) for i in rows[:LISTED].tolist()]
    return Changes(repair.column, len(rows), tuple(CellChange(*cell) for cell in shown))


def _differ(old: pd.Series, new: pd.Series) -> NDArray[np.bool_]:
    """(n,) where a cell holds something else: a number that was read from its text is the same."""
    was, known = old.notna().to_numpy(dtype=bool), new.notna().to_numpy(dtype=bool)
    one: Any = old.astype(object).to_numpy()
    other: Any = new.astype(object).to_numpy()
    if new.dtype.kind in "fiu":
        one, other = (pd.to_numeric(column, errors="coerce") for column in (one, other))
    different: NDArray[np.bool_] = (was != known) | (was & known & np.asarray(one != other, dtype=bool))
    return different


def _left_out(before: pd.DataFrame, after: pd.DataFrame, names: list[str]) -> Changes:
    gone = np.flatnonzero(~before.index.isin(after.index))
    keys = pd.util.hash_pandas_object(before[names], index=False).to_numpy()
    first = dict(zip(keys[::-1].tolist(), range(len(keys) - 1, -1, -1), strict=True))
    return Changes("", len(gone), tuple(CellChange(i, None, first[keys[i]]) for i in gone[:LISTED].tolist()))


def _cell(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
