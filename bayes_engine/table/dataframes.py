"""Whatever holds a table, as a pandas frame: the one place that knows of other libraries.

narwhals, which scikit-learn reads frames by too, knows polars, pyarrow, modin, cuDF and what comes; column after column
is taken with its name and its kind, so that a table gives the same model whoever holds it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.errors import TableError

Cells = TypeVar("Cells", pd.Series, NDArray[Any])

ROWS_IN_CACHE = 2**13
"""Rows that are looked through, or turned into columns, together."""


def to_pandas(X: Any) -> Any:
    """A frame or a column of another library as one of pandas, names and kinds kept; anything else as it is.

    A domain that is declared (an enum, the dictionary of an Arrow column) stays declared; polars' Categorical is one of
    strings, since other tables share its levels. Raises TableError on a frame that holds no rows yet.

    >>> import pyarrow
    >>> table = pyarrow.table({"size": [1, None, 3], "colour": ["green", None, "dark"]})
    >>> to_pandas(table)["size"].tolist(), to_pandas(table["colour"]).isna().tolist()
    ([1.0, nan, 3.0], [False, True, False])
    """
    if isinstance(X, pd.DataFrame | pd.Series | np.ndarray | list | tuple) or sparse.issparse(X):
        return X
    import narwhals.stable.v2 as nw

    held: Any = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(held, nw.LazyFrame):
        raise TableError("X is a lazy frame ({kind}), which holds no rows; call its collect()", kind=type(X).__name__)
    if held is X and hasattr(X, "__arrow_c_stream__") and hasattr(X, "schema"):  # a record batch, a reader
        held = nw.DataFrame.from_arrow(X, backend="pyarrow")
    if isinstance(held, nw.Series):
        return held.to_pandas() if held.implementation.is_pandas_like() else _column(held).rename(held.name or None)
    if not isinstance(held, nw.DataFrame):
        return X
    if held.implementation.is_pandas_like():
        return held.to_pandas()
    columns = {j: _column(column) for j, column in enumerate(held.iter_columns())}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(held))).set_axis(held.columns, axis=1)


def _column(column: Any) -> pd.Series:
    """A narwhals Series as one of pandas. By lists: `to_numpy` gives an Arrow dictionary's missing cells a level."""
    import narwhals.stable.v2 as nw

    kind = column.dtype
    if isinstance(kind, nw.Enum) or (isinstance(kind, nw.Categorical) and column.implementation.is_pyarrow()):
        return pd.Series(pd.Categorical(column.to_list(), categories=column.cat.get_categories().to_list()))
    if (kind.is_numeric() and not isinstance(kind, nw.Decimal)) or isinstance(
        kind, nw.Date | nw.Datetime | nw.Duration
    ):
        return pd.Series(column.to_numpy())
    return pd.Series(column.to_list(), dtype=None if isinstance(kind, nw.String | nw.Categorical) else object)


def from_lists(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Rows in lists as an array, each cell as it is: NumPy by itself makes strings of the numbers beside a string.

    Raises TableError where the rows differ in length, or a cell holds a sequence.

    >>> from_lists([[1.5, "dull"], [2.5, "crisp"]]).tolist()
    [[1.5, 'dull'], [2.5, 'crisp']]
    """
    try:
        array = np.asarray(rows)
        return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        raise TableError(
            "the rows are lists of different lengths, or a cell holds a sequence; give every row one plain value for "
            "each column"
        ) from None


def as_strings(column: pd.Series) -> pd.Series:
    """A column with its cells as strings, missing ones missing: pandas 2 would make the word "nan" of them.

    >>> as_strings(pd.Series([1.5, None], dtype=object)).isna().tolist()
    [False, True]
    """
    texts = column if column.dtype == "str" else column.astype("str")
    return texts if isinstance(texts.dtype, pd.StringDtype) else texts.where(column.notna())


def as_frame(X: Any) -> pd.DataFrame:
    """A frame of any library as one of pandas, anything two-dimensional as one with the columns x0, x1, …

    Raises TableError on what is no table: sparse or complex data, one dimension, no row, no column.
    """
    if sparse.issparse(X):
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray()")
    X = to_pandas(X)
    frame = X if isinstance(X, pd.DataFrame) else _frame_of_array(X)
    if frame.shape[0] == 0:
        raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows")
    if frame.shape[1] == 0:
        raise TableError(
            "Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required: the table has no columns",
            shape=str(frame.shape),
        )
    if frame is X:
        refuse_double(list(map(str, frame.columns.tolist())))
    return frame


def refuse_double(names: list[str]) -> None:
    """Raises TableError on a column name that stands twice."""
    if len(names) > len(set(names)):
        double = next(name for name, times in Counter(names).items() if times > 1)
        raise TableError("the column name '{column}' stands twice; rename one of the columns", column=double)


def _frame_of_array(X: Any) -> pd.DataFrame:
    """Anything two-dimensional as a frame; whole numbers in the smallest type that holds them."""
    array = from_lists(X) if isinstance(X, list | tuple) else np.asarray(X)
    if array.dtype.kind == "c":
        raise TableError("Complex data not supported")
    if array.ndim != 2:
        raise TableError(
            "Expected 2D array, got {ndim}D array instead. Reshape your data: rows are samples, columns features",
            ndim=array.ndim,
        )
    array = native(array)
    if array.dtype.kind in "US":
        array = array.astype(object)
    elif array.dtype.kind in "iu" and array.size:
        array = _compact(array)
    return pd.DataFrame(array, columns=_numbered(array.shape[1]).view(), dtype=array.dtype, copy=False)


def native(cells: Cells) -> Cells:
    """An array or a column in the byte order of this machine: pandas tells no others apart.

    >>> native(np.array([1, 500], dtype=">i8")).dtype.isnative
    True
    """
    kind = cells.dtype
    return cells if not isinstance(kind, np.dtype) or kind.isnative else cells.astype(kind.newbyteorder("="))


@lru_cache(maxsize=64)
def _numbered(d: int) -> pd.Index:
    """The names of the columns of an array, which pandas is slow to make; a frame gets a view, whose own name it may
    change."""
    return pd.Index([f"x{j}" for j in range(d)])


def _compact(array: NDArray[Any]) -> NDArray[Any]:
    """Integers in the smallest type that holds them, column after column in memory: every later pass reads a column."""
    kind = np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max()))
    kind = kind if kind.kind in "iu" else array.dtype
    if array.flags.f_contiguous:
        return array.astype(kind, copy=False)
    compact = np.empty(array.shape, kind, order="F")
    for start in range(0, len(array), ROWS_IN_CACHE):
        rows = slice(start, start + ROWS_IN_CACHE)
        compact[rows] = array[rows].astype(kind)
    return compact
