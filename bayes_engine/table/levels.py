"""The values of a column as levels: of which sort a cell is, the distinct ones, and their order."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import CellTypeError, TableError
from bayes_engine.table.dataframes import native
from bayes_engine.table.kinds import Level


def sort_levels(values: Iterable[Any], column: str = "class") -> tuple[Level, ...]:
    """Distinct levels in an order that does not depend on the order of rows: by type (numbers first), then value.

    Raises CellTypeError, naming the column, where two of them have no order (a date and a number).
    """
    levels = set(values)
    try:
        return tuple(sorted(levels, key=lambda v: (isinstance(v, str), v if not isinstance(v, str) else 0, str(v))))
    except TypeError:
        one, *others = (v for v in levels if not isinstance(v, str))
        other = next((v for v in others if type(v) is not type(one)), others[0])
        raise CellTypeError(
            "column '{column}' holds {value} ({kind}) and {other} ({different}), which have no order; make all of "
            "them strings or all of them numbers",
            column=column,
            value=written(one),
            kind=type(one).__name__,
            other=written(other),
            different=type(other).__name__,
        ) from None


def has_missing(column: pd.Series) -> bool:
    """Whether a cell is missing, without a mark for every cell where the column holds floats or Arrow's strings.

    >>> has_missing(pd.Series([1.0, np.nan])), has_missing(pd.Series(["a", None])), has_missing(pd.Series([1, 2]))
    (True, True, False)
    """
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return dtype.kind == "f" and len(column) > 0 and bool(np.isnan(column.to_numpy().min()))
    if isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        return bool(column.array.__arrow_array__().null_count)
    return bool(column.hasnans)


def observed(column: pd.Series) -> list[Any]:
    """The distinct, non-missing values of a column, as plain Python scalars.

    Raises CellTypeError where a cell is no scalar.
    """
    if isinstance(column.dtype, pd.StringDtype):
        return list(distinct_codes(column)[1])
    column = native(column)
    try:
        values = (column.dropna() if has_missing(column) else column).unique()
    except TypeError:
        raise _strange(column, lambda cell: not pd.api.types.is_hashable(cell)) from None
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return list(values.tolist())  # ten times as fast, and the same
    return [v.item() if isinstance(v, np.generic) else v for v in values]


_CODED: dict[int, tuple[weakref.ref[Any], NDArray[Any], NDArray[Any]]] = {}
"""By the identity of the Arrow array of a column of strings, as long as it lives: what `distinct_codes` gave."""


NEAR = 2**16
"""Whole numbers that lie nearer to each other are found by their place, in a table of so many entries at most."""

FIRST = 2**12
"""Rows in which most often every one of few levels occurs."""


def distinct_codes(column: pd.Series) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n,) which of the distinct values each cell holds, -1 where it is missing, and those values, as they come; whole
    numbers near each other and strings that Arrow holds in their order.

    Of strings that Arrow holds, as `read_csv` gives them, it is remembered: Arrow's arrays never change, and a column
    that is written into has another.

    >>> codes, values = distinct_codes(pd.Series(["dark", None, "green", "dark"]))
    >>> codes.tolist(), values.tolist()
    ([0, -1, 1, 0], ['dark', 'green'])
    """
    if (by_place := _of_whole_numbers(column)) is not None:
        return by_place
    of_arrow = isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"
    if not of_arrow or column.empty:  # Arrow 18 puts no dictionary together of nothing
        codes, values = pd.factorize(native(column))
        plain = np.asarray(values)
        return codes, np.asarray(pd.Index(plain).astype(object)) if plain.dtype.kind in "mM" else plain
    held = column.array.__arrow_array__()
    known = _CODED.get(id(held))
    if known is not None and known[0]() is held:
        return known[1:]
    coded = held.dictionary_encode().combine_chunks()
    strings = coded.dictionary.to_numpy(zero_copy_only=False)
    order = np.argsort(strings)
    place = np.full(len(strings) + 1, -1, dtype=np.min_scalar_type(-max(len(strings), 1)))
    place[order] = np.arange(len(strings))
    codes, strings = place.take(coded.indices.fill_null(-1).to_numpy()), strings[order]  # -1 is the last place
    key = id(held)
    forget = _CODED.pop  # at the end of Python its module is emptied first
    _CODED[key] = weakref.ref(held, lambda _: forget(key, None)), codes, strings
    return codes, strings


def _of_whole_numbers(column: pd.Series) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """`distinct_codes` without hashing, of whole numbers within less than `NEAR` of each other; None of others."""
    dtype = column.dtype
    if not (isinstance(dtype, np.dtype) and dtype.kind in "iu" and np.can_cast(dtype, np.int64) and len(column)):
        return None
    whole = column.to_numpy()
    low, high = int(whole.min()), int(whole.max())
    if high - low >= min(NEAR, len(whole)):
        return None
    place = np.subtract(whole, low, dtype=np.int64) if low or whole.dtype != np.int64 else whole
    early = np.bincount(place[:FIRST], minlength=high - low + 1)
    there = np.flatnonzero(early if early.all() else np.bincount(place))
    if len(there) <= high - low:
        code = np.zeros(high - low + 1, dtype=np.intp)
        code[there] = np.arange(len(there))
        place = code[place]
    return place, (there + low).astype(dtype)


def distinct_as_written(column: pd.Series) -> list[Any]:
    """The distinct values of a column, whole numbers as such that are floats for the missing cells beside them alone.

    >>> distinct_as_written(pd.Series([2.0, None, 1.0])), distinct_as_written(pd.Series([0.5, None, 1.0]))
    ([2, 1], [0.5, 1.0])
    """
    values = observed(column)
    if column.dtype.kind != "f" or not column.hasnans or not all(v.is_integer() and abs(v) < 2.0**53 for v in values):
        return values
    return [int(v) for v in values]


Sort = Literal["string", "number", "truth value"]


def sort_of(cell: object) -> Sort | None:
    """What a cell is as a level; None for what is none of these (a date, bytes, a list, a complex number).

    >>> [sort_of(cell) for cell in ("a", 1, Decimal("2.5"), np.True_, b"a", 1j)]
    ['string', 'number', 'number', 'truth value', None, None]
    """
    if isinstance(cell, str):
        return "string"
    if isinstance(cell, bool | np.bool_):
        return "truth value"
    return "number" if isinstance(cell, Real | Decimal) else None


def sort_of_objects(column: pd.Series) -> Sort:
    """What the known cells of a column of objects are; "string" of none.

    Raises CellTypeError or TableError, naming column and cells, where one is of no sort or two are of different sorts.
    """
    holds = pd.api.types.infer_dtype(column, skipna=True)
    if holds in SORTS:
        return SORTS[holds]
    first: dict[Sort, int] = {}
    for row, cell in enumerate(column):
        if pd.api.types.is_scalar(cell) and pd.isna(cell):
            continue
        sort = sort_of(cell)
        if sort is None:
            raise _strange(column, lambda cell: sort_of(cell) is None)
        first.setdefault(sort, row)
        if len(first) > 1:
            one, other = first.values()
            raise TableError(
                "column '{column}' mixes strings, numbers or truth values: row {row} holds {value}, row {at} holds "
                "{other}; make them all one, or say by schema= what the column holds",
                column=str(column.name),
                value=written(column.iat[one], quoted=True),
                row=one + 1,
                other=written(column.iat[other], quoted=True),
                at=other + 1,
            )
    return next(iter(first), "string")


SORTS: dict[str, Sort] = {
    "string": "string",
    "empty": "string",
    "boolean": "truth value",
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
}


def written(cell: object, *, quoted: bool = False) -> str:
    """A cell as an error tells it: short, without the half characters that nothing can write; `quoted` if a string.

    >>> written(10**400), written("long " * 20), written("1", quoted=True)
    ('a whole number near 1e400', 'long long long long long long long long…', "'1'")
    """
    if isinstance(cell, int) and cell.bit_length() > 1024:
        return f"a whole number near {'-' if cell < 0 else ''}1e{round(cell.bit_length() * np.log10(2))}"
    text = str(cell).encode("utf-8", "backslashreplace").decode()
    text = text if len(text) <= 40 else text[:39].rstrip() + "…"
    return f"'{text}'" if quoted and isinstance(cell, str) else text


def _strange(column: pd.Series, is_strange: Callable[[Any], bool]) -> CellTypeError:
    """The error of the first cell that is neither a string nor a number."""
    row = next((r for r in np.flatnonzero(column.notna().to_numpy()).tolist() if is_strange(column.iat[r])), 0)
    cell = column.iat[row]
    return CellTypeError(
        "column '{column}' holds {value}, a {kind}, in row {row}: argument must be a string or a number; turn it into "
        "one of them",
        column=str(column.name),
        value=written(cell),
        kind=type(cell).__name__,
        row=row + 1,
    )
