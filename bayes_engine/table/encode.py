"""Rows → codes: a frame or an array, seen through a schema, as columns of small integers and floats.

Codes of a discrete column: 0 = missing, 1…S = the levels in their order, the dtype's largest value = unseen. Numeric
columns are float64 with NaN for missing; a text column is a `TermColumn`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import TableError, UnseenLevel
from bayes_engine.progress import steps
from bayes_engine.table.dataframes import ROWS_IN_CACHE
from bayes_engine.table.levels import distinct_codes, observed
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.schema import Schema, Variable, numbers
from bayes_engine.table.text import TermColumn, as_presence, learn_terms, read_terms

MISSING = 0


def unseen_code(codes: NDArray[Any]) -> int:
    """The code that stands for «a value outside the levels» in this array of codes."""
    return int(np.iinfo(codes.dtype).max)


def code_dtype(levels: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds missing, the levels and unseen."""
    return np.uint8 if levels <= 254 else np.uint16 if levels <= 65534 else np.uint32


@dataclass(frozen=True)
class Table:
    """n rows encoded under `schema`; `columns[j]` (n,) holds the codes or the numbers of variable j.

    `beyond` (n,) marks the rows with an infinite cell in a column of intervals (None where there is none): codes
    cannot show it.
    """

    schema: Schema
    columns: tuple[Any, ...]
    n: int
    beyond: NDArray[np.bool_] | None = None

    def __getitem__(self, name: str) -> Any:
        return self.columns[self.schema.position[name]]

    def missing(self, name: str) -> NDArray[np.bool_]:
        """(n,) which cells of a column are not known."""
        return _absent(self[name])

    def take(self, rows: Any) -> Table:
        """The rows selected by a mask, a slice or positions."""
        columns = tuple(column[rows] for column in self.columns)
        beyond = None if self.beyond is None else self.beyond[rows]
        n = len(range(self.n)[rows]) if isinstance(rows, slice) else len(np.arange(self.n)[rows])
        return Table(self.schema, columns, n, beyond)

    def hiding(self, given: Collection[str]) -> Table:
        """The same rows with every cell missing in the columns that are not among `given`."""
        hidden = (
            column
            if v.name in given
            else column.hidden()
            if isinstance(column, TermColumn)
            else np.full_like(column, MISSING if v.discrete else np.nan)
            for v, column in zip(self.schema, self.columns, strict=True)
        )
        return replace(self, columns=tuple(hidden))

    def infinite(self) -> NDArray[np.bool_]:
        """(n,) True where a numeric cell is ±inf: such a row has no posterior."""
        bad = np.zeros(self.n, dtype=bool) if self.beyond is None else self.beyond.copy()
        numeric = [column for variable, column in zip(self.schema, self.columns, strict=True) if variable.numeric]
        for start in range(0, self.n if numeric else 0, ROWS_IN_CACHE):  # the columns may be those of one array of rows
            rows = slice(start, start + ROWS_IN_CACHE)
            for column in numeric:
                bad[rows] |= np.isinf(column[rows])
        return bad


def observe(frame: pd.DataFrame, schema: Schema) -> Schema:
    """`schema` with open domains grown by what `frame` holds. Raises SchemaMismatch on a value outside a closed one."""
    grown = []
    for j, variable in enumerate(steps(schema)):
        column = frame.iloc[:, j]
        if variable.discrete and variable.cuts is None and not _whole_levels(column, variable):
            if not variable.declared or not isinstance(column.dtype, pd.CategoricalDtype):
                variable = variable.observing(observed(column))
            elif not set(column.cat.categories) <= set(variable.levels):
                variable.observing(observed(column.cat.remove_unused_categories()))  # unused categories do no harm
        grown.append(variable)
    return Schema(tuple(grown))


def encode(
    frame: pd.DataFrame, schema: Schema, *, unseen: str = "ignore", missing: str = "marginalize", grow: bool = False
) -> Table:
    """`frame` (columns in the schema's order) as codes. With `grow` an open vocabulary takes up the terms it meets; the
    schema of the table returned has them.

    Raises UnseenLevel where `unseen="error"` and a value is outside the levels; TableError where `missing="error"` and
    a cell is missing, or a numeric column holds text.

    >>> schema = Schema((Variable("colour", "categorical", ("green", "dark")),))
    >>> encode(pd.DataFrame({"colour": ["dark", None, "pink", "green"]}), schema)["colour"].tolist()
    [2, 0, 255, 1]
    """
    columns: list[Any] = []
    variables = list(schema)
    beyond: NDArray[np.bool_] | None = None
    for j, (variable, (_, column)) in enumerate(zip(steps(schema), frame.items(), strict=False)):
        values: Any
        if variable.textual:
            variables[j], values = encode_texts(column, variable, grow=grow)
        elif variable.cuts is not None:
            values, infinite = encode_intervals(column, variable)
            if infinite.any():
                beyond = infinite if beyond is None else beyond | infinite
        elif variable.discrete:
            values = encode_levels(column, variable)
            if unseen == "error" and (strange := values == unseen_code(values)).any():
                raise UnseenLevel(
                    "column '{column}' holds '{value}', not seen in training; choose unseen='ignore'",
                    column=variable.name,
                    value=str(column.iloc[int(strange.argmax())]),
                )
            if variable.likelihood is not None and (infinite := _infinite(column)).any():
                beyond = infinite if beyond is None else beyond | infinite
        else:
            values = numbers(column, variable)
            if traits(variable).whole:
                _whole(values, variable)
        if missing == "error" and (absent := _absent(values)).any():
            raise TableError(
                "column '{column}' has a missing cell (NaN) in row {row}; choose missing='marginalize'",
                column=variable.name,
                row=int(absent.argmax()) + 1,
            )
        columns.append(values)
    return Table(Schema(tuple(variables)) if grow else schema, tuple(columns), len(frame), beyond)


def _absent(values: Any) -> NDArray[np.bool_]:
    """(n,) which cells of an encoded column are not known."""
    if isinstance(values, TermColumn):
        return values.missing
    return np.asarray(np.isnan(values) if values.dtype.kind == "f" else values == MISSING)


def refuse_infinite(table: Table, frame: pd.DataFrame) -> None:
    """Raises TableError, naming column and row, where the frame that was encoded as `table` holds infinity in a column
    of intervals or levels."""
    for j, variable in enumerate(table.schema if table.beyond is not None else ()):
        if variable.discrete and (infinite := _infinite(frame.iloc[:, j].infer_objects())).any():
            raise infinity(variable.name, infinite)


def infinity(column: str, infinite: NDArray[np.bool_]) -> TableError:
    """The error of the first of the cells of a column that are infinite."""
    return TableError(
        "column '{column}' holds infinity in row {row}: Input X contains infinity; mend the cell, or make it missing",
        column=column,
        row=int(infinite.argmax()) + 1,
    )


def encode_texts(column: pd.Series, variable: Variable, *, grow: bool) -> tuple[Variable, TermColumn]:
    """The texts under the variable's vocabulary, and the variable; with `grow` the vocabulary, if it is open, with the
    terms met. A Bernoulli column asks for each term whether it is there."""
    rule = variable.text
    assert rule is not None
    if grow and not variable.declared:
        terms, values = learn_terms(column, rule, variable.levels)
        variable = replace(variable, levels=terms, declared=rule.closed)
    else:
        values = read_terms(column, rule, variable.levels)
    return variable, as_presence(values) if variable.likelihood == "bernoulli" else values


def _infinite(column: pd.Series) -> NDArray[np.bool_]:
    """(n,) where a column of levels holds ±inf."""
    kind = getattr(column.dtype, "kind", "O")
    return np.isinf(column.to_numpy(dtype=float, na_value=np.nan)) if kind == "f" else np.zeros(len(column), dtype=bool)


def _whole(values: NDArray[np.float64], variable: Variable) -> None:
    """Raises TableError, naming the row, where a number is no count."""
    bad = np.isfinite(values) & ((values < 0) | (values != np.round(values)))
    if bad.any():
        row = int(bad.argmax())
        raise TableError(
            "column '{column}' holds {value} in row {row}, which is no count: its likelihood is for the whole "
            "numbers 0, 1, 2, …; choose 'gaussian' or 'kernel' for it, or mend the cell",
            column=variable.name,
            value=f"{values[row]:g}",
            row=row + 1,
        )


def encode_intervals(column: pd.Series, variable: Variable) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """(n,) codes of a column of numbers by its cut points, a value on a cut belonging below; (n,) where it is ±inf."""
    assert variable.cuts is not None
    values = numbers(column, variable)
    codes = np.searchsorted(np.array(variable.cuts), values, side="left") + 1
    codes[np.isnan(values)] = MISSING
    return codes.astype(code_dtype(len(variable.levels))), np.isinf(values)


def encode_levels(column: pd.Series, variable: Variable) -> NDArray[Any]:
    """(n,) codes of one discrete column."""
    dtype = code_dtype(len(variable.levels))
    held: NDArray[Any]
    if isinstance(column.dtype, pd.CategoricalDtype):
        own = [v.item() if isinstance(v, np.generic) else v for v in column.cat.categories]
        held = column.array.codes
        if own == list(variable.levels):
            return np.asarray(np.add(held, 1, dtype=dtype, casting="unsafe"))  # pandas has -1 for missing
        known = {level: code for code, level in enumerate(variable.levels, start=1)}
        codes = [*(known.get(level, np.iinfo(dtype).max) for level in own), MISSING]
        return np.array(codes, dtype=dtype).take(held)  # -1, for missing, is the last entry
    if column.dtype == np.bool_ and variable.levels == (False, True):
        return np.asarray(np.add(column.to_numpy(), 1, dtype=dtype))
    if _whole_levels(column, variable):
        first = np.array((1 - int(variable.levels[0])) % 2**64, dtype=np.uint64).astype(dtype)  # wraps, and back below
        return np.asarray(column.to_numpy().astype(dtype) + first)
    held, values = distinct_codes(column)
    if values.tolist() == list(variable.levels[: len(values)]):
        return np.asarray(np.add(held, 1, dtype=dtype, casting="unsafe"))  # they stand in the levels' order
    where = positions(values, variable.levels)
    return np.append(np.where(where < 0, np.iinfo(dtype).max, where + 1), MISSING).astype(dtype).take(held)


def positions(values: Any, known: Sequence[Any]) -> NDArray[np.intp]:
    """(n,) where each of `values` stands among the labels `known`; −1 where it does not, or is missing.

    >>> positions(["dark", None, "pink"], ("green", "dark")).tolist()
    [1, -1, -1]
    """
    where = pd.Index(known, dtype=object).get_indexer(_objects(values))
    return np.asarray(where, dtype=np.intp)


def _objects(values: Any) -> pd.Index:
    """Values as they are: what is inferred to be strings goes through Arrow, which has no half characters."""
    plain = values if isinstance(values, np.ndarray | pd.Index) else pd.Series(values).array
    return pd.Index(plain.astype(object), dtype=object)


def _whole_levels(column: pd.Series, variable: Variable) -> bool:
    """Whether the column is one of whole numbers, all among the variable's levels, which are consecutive."""
    if not (isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and len(column)):
        return False
    whole = column.to_numpy()
    return _consecutive(variable) and variable.levels[0] <= whole.min() and whole.max() <= variable.levels[-1]


def _consecutive(variable: Variable) -> bool:
    levels = variable.levels
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in levels)
    return whole and bool(levels) and list(levels) == list(range(int(levels[0]), int(levels[0]) + len(levels)))
