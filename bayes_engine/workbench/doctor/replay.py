"""The same again: what was done to the cells of the table, done to those of another file that its model classifies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
import pandas as pd

from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor.columns import same_spelling
from bayes_engine.workbench.doctor.examined_table import TOO_LARGE
from bayes_engine.workbench.doctor.finding import Repair
from bayes_engine.workbench.doctor.repair import parsed_dates
from bayes_engine.workbench.incoming.second_table import Treatment


def treatments(
    before: pd.DataFrame, schema: Schema, repairs: Iterable[Repair], month_first: Collection[str] = ()
) -> tuple[dict[str, Treatment], tuple[Repair, ...]]:
    """What is to be done to the cells that come, by column, and the repairs that are not done to them. `before` is the
    table as it was, for the first of its dates; `schema` the one after the repairs, for the levels that are left;
    `month_first` names the columns whose dates were read so.

    >>> table = pd.DataFrame({"ok": ["yes", "Yes"], "x": [1.0, -999.0]})
    >>> schema = Schema.from_dtypes(table.assign(ok="yes"))
    >>> repairs = [Repair("merge-spellings", "ok"), Repair("value-missing", "x", -999.0)]
    >>> by_column, _rest = treatments(table, schema, repairs)
    >>> by_column["ok"].texts(pd.Series(["YES", "no"])).tolist(), by_column["x"].absent
    (['yes', 'no'], (-999.0,))
    """
    by_column: dict[str, Treatment] = {}
    left = []
    for repair in repairs:
        own = by_column.get(repair.column, Treatment())
        if repair.what == "merge-spellings":
            own = own._replace(texts=_merging(schema[repair.column].levels))
        elif repair.what == "days":
            own = own._replace(texts=_counting(before[repair.column], repair.column in month_first))
        elif repair.what == "value-missing":
            own = own._replace(absent=(*own.absent, repair.value))
        elif repair.what == "infinite-missing":
            own = own._replace(beyond=TOO_LARGE)
        elif repair.what == "text-missing":
            own = own._replace(words=True)
        else:  # it says what is learnt from: a row that comes is no copy, and its cell far from all others is its own
            left.append(repair)
            continue
        by_column[repair.column] = own
    return by_column, tuple(left)


def _merging(levels: tuple[object, ...]) -> Callable[[pd.Series], pd.Series]:
    meant = {folded: group[0] for folded, group in same_spelling(levels).items()}

    def level(text: str) -> str:
        return text if text in levels else next((str(meant[f]) for f in same_spelling((text,)) if f in meant), text)

    return lambda column: column.map(level)


def _counting(dates: pd.Series, month_first: bool) -> Callable[[pd.Series], pd.Series]:
    first = parsed_dates(dates).min()
    numbers = dates.dtype.kind in "fiu"

    def texts(column: pd.Series) -> pd.Series:
        cells = column.where(column.str.strip() != "")
        read = parsed_dates(cells.str.replace(r"[.,]0+$", "", regex=True) if numbers else cells, month_first)
        days = ((read - first) / pd.Timedelta(days=1)).to_numpy(dtype=float)
        in_days = [text if np.isnan(day) else repr(float(day)) for text, day in zip(column, days, strict=True)]
        return pd.Series(in_days, column.index, dtype=object)

    return texts
