"""Carrying out what the doctor proposes for cells and rows: pure functions from a table to a table; and the same again
for the cells of another file that its model classifies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.table.dates import compact_days, read_each
from bayes_engine.table.roles import put
from bayes_engine.table.schema import Schema, middle
from bayes_engine.table.spellings import look, spelling
from bayes_engine.workbench.doctor.cells import as_written, each_date, same_look, same_spelling
from bayes_engine.workbench.doctor.classes import rare_classes
from bayes_engine.workbench.doctor.duplicates import second_rows
from bayes_engine.workbench.doctor.examined_table import TOO_LARGE, as_numbers
from bayes_engine.workbench.doctor.finding import DAY_FIRST, MONTH_FIRST, Repair
from bayes_engine.workbench.doctor.outliers import all_outlying
from bayes_engine.workbench.incoming.second_table import Treatment


def repaired(frame: pd.DataFrame, schema: Schema, repairs: Iterable[Repair]) -> tuple[pd.DataFrame, Schema]:
    """The table with these repairs done, one after the other; neither argument is changed. A row that is dropped leaves
    its number in the index.

    Raises TableError on a column that is not there, and on dates that cannot be read.

    >>> table = pd.DataFrame({"ok": ["yes", "Yes", "no", "yes"], "x": [1.0, 2.0, -999.0, 4.0]})
    >>> repairs = [Repair("merge-spellings", "ok"), Repair("value-missing", "x", -999.0)]
    >>> mended, schema = repaired(table, Schema.from_dtypes(table), repairs)
    >>> mended["ok"].tolist(), int(mended["x"].isna().sum()), schema["ok"].levels
    (['yes', 'yes', 'no', 'yes'], 1, ('no', 'yes'))
    """
    for repair in repairs:
        frame, schema = _repaired(frame, schema, repair)
    return frame, schema


def _repaired(frame: pd.DataFrame, schema: Schema, repair: Repair) -> tuple[pd.DataFrame, Schema]:
    if repair.what == "drop-duplicates":
        return frame[~second_rows(frame, schema)], schema
    name = repair.column
    variable, column = schema[name], frame[name]
    if repair.what == "drop-rare":
        counts = column.value_counts()
        rows = np.array([counts.get(level, 0) for level in variable.levels], dtype=np.intp)
        rare = {level for level, few in zip(variable.levels, rare_classes(variable.levels, rows), strict=True) if few}
        kept = replace(variable, levels=tuple(v for v in variable.levels if v not in rare))
        return put(frame, {name: column.mask(column.isin(rare))}), schema.with_variable(kept)
    if repair.what in ("merge-spellings", "merge-look-alikes"):
        counts = column.value_counts()
        usual: dict[Any, Any] = {}
        grouped = same_spelling if repair.what == "merge-spellings" else same_look
        for group in grouped(variable.levels).values():
            best = max(group, key=lambda level: counts.get(level, 0))
            usual |= {level: best for level in group if level != best}
        cells = pd.Series([usual.get(v, v) if isinstance(v, str) else v for v in column], column.index, dtype=object)
        levels = tuple(v for v in variable.levels if v not in usual)
        merged = replace(variable, levels=levels, kind="binary" if len(levels) == 2 else variable.kind)
        return put(frame, {name: cells}), schema.with_variable(merged)
    if repair.what == "days":
        dated = parsed_dates(column, month_first(repair))
        if dated.notna().sum() < column.notna().sum() / 2:
            raise TableError("column '{column}' holds dates that cannot be read; set it aside", column=name)
        days = ((dated - dated.min()) / pd.Timedelta(days=1)).astype(float)
        counted = replace(variable, kind="continuous", role="feature", levels=(), declared=False,
                          pivot=middle(as_numbers(days)))  # fmt: skip
        return put(frame, {name: days}), schema.with_variable(counted)
    numbers = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if repair.what == "infinite-missing":
        numbers = np.where(np.abs(numbers) >= TOO_LARGE, np.nan, numbers)
    elif repair.what == "value-missing":
        numbers = np.where(numbers == repair.value, np.nan, numbers)
    elif repair.what == "outliers-missing":
        numbers = np.where(all_outlying(as_numbers(column)), np.nan, numbers)
    elif repair.what == "text-missing":
        numbers = as_numbers(column)
    numeric = replace(variable, pivot=middle(numbers))
    if repair.what == "text-missing":
        numeric = replace(numeric, kind="continuous", levels=(), declared=False, role="feature")
    return put(frame, {name: numbers}), schema.with_variable(numeric)


def month_first(repair: Repair) -> bool | None:
    """What a person says of the dates that could be read in two ways; None: nothing."""
    return {DAY_FIRST: False, MONTH_FIRST: True}.get(repair.value)


def parsed_dates(column: pd.Series, month_first: bool | None = None) -> pd.Series:
    """The dates of a column, each cell read by itself; NaT where it is none.

    Raises TableError where day and month could change places in some and neither `month_first` nor the other cells say
    which stands first.

    >>> parsed_dates(pd.Series(["2 Jan 2024", "3 Feb 2024", "soon"])).dt.strftime("%Y-%m-%d").tolist()
    ['2024-01-02', '2024-02-03', nan]
    """
    if column.dtype.kind in "fiu":
        days = compact_days(as_numbers(column))
        dated = pd.Series(pd.NaT, column.index) if days is None else days.set_axis(column.index)
    elif column.dtype.kind == "M":
        return pd.to_datetime(column, utc=True)
    else:
        cells, read = each_date(column, month_first)
        known = pd.Series(read.values, cells.index).dt.tz_localize("UTC")
        either = int(cells[(read.ways == "either") & known.isna().to_numpy()].sum())
        if either:
            raise TableError(
                "in {n} cell(s) of column '{column}' day and month could change places; say which stands first",
                column=str(column.name),
                n=either,
            )
        dated = as_written(column).map(known)
    return dated


# the same again ------------------------------------------------------------------------------------------------------


def treatments(
    before: pd.DataFrame, schema: Schema, repairs: Iterable[Repair], month_first: Collection[str] = ()
) -> tuple[dict[str, Treatment], tuple[Repair, ...]]:
    """What is to be done to the cells that come, by column, and the repairs that are not done to them. `before` is the
    table as it was, for the first of its dates; `schema` the one after the repairs, for the levels that are left;
    `month_first` names the columns whose dates were read so."""
    by_column: dict[str, Treatment] = {}
    left = []
    for repair in repairs:
        own = by_column.get(repair.column, Treatment())
        if repair.what == "merge-spellings":
            own = own._replace(texts=_merging(schema[repair.column].levels, spelling, own.texts))
        elif repair.what == "merge-look-alikes":
            own = own._replace(texts=_merging(schema[repair.column].levels, look, own.texts))
        elif repair.what == "days":
            texts, first = _counting(before[repair.column], repair, repair.column in month_first)
            own = own._replace(texts=texts, first=first)
        elif repair.what == "value-missing":
            own = own._replace(absent=(*own.absent, repair.value))
        elif repair.what == "infinite-missing":
            own = own._replace(beyond=TOO_LARGE)
        elif repair.what == "text-missing":
            own = own._replace(words=True, beyond=TOO_LARGE)
        else:  # it says what is learnt from: a row that comes is no copy, and its cell far from all others is its own
            left.append(repair)
            continue
        by_column[repair.column] = own
    return by_column, tuple(left)


def _merging(
    levels: tuple[object, ...], folded: Callable[[str], str], before: Callable[[pd.Series], pd.Series] | None
) -> Callable[[pd.Series], pd.Series]:
    """What was done `before`, and then texts that are the only level with what they are `folded` to as this level."""
    texts = {level: folded(level) for level in levels if isinstance(level, str)}
    times = Counter(texts.values())
    meant = {fold: level for level, fold in texts.items() if times[fold] == 1}

    def level(text: str) -> str:
        return text if text in texts else meant.get(folded(text), text)

    return lambda column: (column if before is None else before(column)).map(level)


def _counting(
    dates: pd.Series, repair: Repair, read_month_first: bool
) -> tuple[Callable[[pd.Series], pd.Series], Literal["day", "month"]]:
    """How dates that come are counted in days, and what stands first in them, the day where the table does not say.
    Dates that only the other order can read are left as they are, unless the table holds both."""
    start = parsed_dates(dates, month_first(repair)).min()
    numbers, both, order = dates.dtype.kind in "fiu", False, "month" if read_month_first else ""
    if dates.dtype.kind not in "fiuM":
        _cells, read = each_date(dates, None)
        both = {"day", "month"} <= set(read.ways.tolist())
        order = {DAY_FIRST: "day", MONTH_FIRST: "month"}.get(repair.value, read.order)
    first: Literal["day", "month"] = "month" if order == "month" else "day"
    strange = "" if both else "day" if first == "month" else "month"

    def texts(column: pd.Series) -> pd.Series:
        cells = column.str.strip()
        read = read_each((cells.str.replace(r"[.,]0+$", "", regex=True) if numbers else cells).tolist(),
                         first == "month")  # fmt: skip
        dated = pd.Series(read.values).mask(read.ways == strange).dt.tz_localize("UTC")
        days = ((dated - start) / pd.Timedelta(days=1)).to_numpy(dtype=float)
        in_days = [text if np.isnan(day) else repr(float(day)) for text, day in zip(column, days, strict=True)]
        return pd.Series(in_days, column.index, dtype=object)

    return texts, first
