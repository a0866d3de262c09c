"""Bytes → a table that can be trusted: what was inferred or changed on the way is in the report, and every inference
can be overridden by a keyword.

bytes → (gzip, zip) → is it text at all? → encoding → dialect → grid → header and rows → typed columns. A spreadsheet
joins at the grid, so that titles above its header and units below are found by the same code; Parquet and ARFF bring
their types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from bayes_engine.errors import ReadError
from bayes_engine.language import Word
from bayes_engine.table.assemble import assemble
from bayes_engine.table.clean_csv import read_clean
from bayes_engine.table.convert import ReadAs, convert, convert_column
from bayes_engine.table.decode import decode, load
from bayes_engine.table.dialect import cut
from bayes_engine.table.grid import Grid
from bayes_engine.table.notes import Note, Offer, listed, note
from bayes_engine.table.numbers import Mark
from bayes_engine.table.parquet_arff import arff, is_arff, is_parquet, parquet, written
from bayes_engine.table.roles import put
from bayes_engine.table.schema import MAX_CLASSES, Schema, Variable, infer_schema
from bayes_engine.table.workbooks import workbook

__all__ = ["MAX_BYTES", "Note", "Offer", "Reading", "Recipe", "read_table"]

_NAMED = 8
"""How many columns a note about the whole table names."""
MAX_BYTES = 50_000_000
"""Largest file that is read, and largest text a compressed one may unpack to."""


@dataclass(frozen=True)
class Recipe:
    """How the file was read. Each field is a keyword of `read_table`, except `format` and `sheets`.

    `header` is the line of the names, counted from 1, False where the file has none.
    """

    format: Literal["text", "spreadsheet", "parquet", "arff"]
    encoding: str = ""
    delimiter: str = ""
    quote: str = ""
    decimal: Mark = "."
    header: int | Literal[False] = False
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    missing: tuple[str, ...] | None = None
    types: tuple[tuple[int, ReadAs], ...] = ()
    trim: bool = True


@dataclass(frozen=True)
class Reading:
    """A frame, what its columns seem to be, everything that was inferred or changed, and how it was read."""

    frame: pd.DataFrame
    schema: Schema
    report: tuple[Note, ...]
    recipe: Recipe
    name: str


def read_table(
    source: bytes | str | Path,
    *,
    name: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: Mark | None = None,
    header: int | Literal[False] | None = None,
    sheet: str | None = None,
    missing: Sequence[str] | None = None,
    types: Mapping[int | str, ReadAs] | Sequence[tuple[int | str, ReadAs]] = (),
    trim: bool = True,
    typed: bool = True,
    max_bytes: int = MAX_BYTES,
) -> Reading:
    """The table in `source` (bytes, or the path of a file): delimited or space-aligned text, a spreadsheet, Parquet,
    ARFF, flat records or columns of JSON; or one of the text formats gzipped or alone in a zip archive.

    None means: find out. `delimiter` may also be "" (one column) or "aligned"; `quote` "" (no cell is quoted); `header`
    is a line counted from 1, or False for none; `missing` are the only tokens (besides the empty cell) that mean
    missing; `types` says of columns, by name or position, that they are "text", "number", "date" (in doubt the day
    stands first) or "date_month_first". `trim=False` keeps every line below the header as a row: a footer, a repeated
    header, a second table. `typed=False` leaves every cell as the text it is written as ('' where it is empty).
    Raises ReadError with what is wrong, where, and what to do.

    >>> reading = read_table(b"size;city\\n1,5;Oslo\\n2,5;Rome\\n")
    >>> reading.frame["size"].tolist(), [str(n.message) for n in reading.report]
    ([1.5, 2.5], ["column 'size': the decimal mark is a comma ('1,5' is read as 1.5)"])
    """
    notes: list[Note] = []
    data = load(source, max_bytes)
    by_rule = (encoding, delimiter, quote, decimal, header, missing) == (None,) * 6 and not types and trim and typed
    distinct: dict[str, list[str]] = {}
    columns: Mapping[str, pd.Series] | None = None
    contents: Grid | pd.DataFrame
    if by_rule and (clean := read_clean(data)) is not None:
        (contents, notes, _mark, distinct, columns), own = clean
        recipe = Recipe("text", "utf-8", own, '"', header=1)
    else:
        contents, recipe = _opened(data, encoding, delimiter, quote, sheet, typed, max_bytes, notes)
    del data
    if isinstance(contents, Grid):
        frame, line = assemble(contents, header, recipe.delimiter, notes, trim=trim)
        mark: Mark = decimal or "."
        del contents
        wanted = _positions(dict(types), list(frame.columns))
        if typed:
            texts = {str(name): text for name, text in frame.items()}
            del frame
            frame, type_notes, mark, distinct, columns = convert(
                texts, decimal, missing, wanted, points_in_doubt=recipe.delimiter == ";"
            )
            notes += type_notes
        recipe = replace(recipe, header=line, decimal=mark, missing=None if missing is None else tuple(missing),
                         types=tuple(wanted.items()), trim=trim)  # fmt: skip
    else:
        frame = contents
        if types and typed and (wanted := _positions(dict(types), list(frame.columns))):
            frame, notes = _otherwise(frame, wanted, decimal, missing, notes)
            recipe = replace(recipe, types=tuple(wanted.items()))
    if typed:
        schema = infer_schema(columns or frame, distinct)
        notes += _set_aside(schema, len(frame))
    else:
        frame = frame.apply(written)
        schema = Schema(tuple(Variable(str(c), "text") for c in frame))
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    return Reading(frame, schema, tuple(notes), recipe, name)


def _positions(types: Mapping[int | str, ReadAs], names: list[str]) -> dict[int, ReadAs]:
    """The types that are told, by the position of their column."""
    wanted: dict[int, ReadAs] = {}
    for column, kind in types.items():
        if kind not in get_args(ReadAs):
            raise ReadError("'{kind}' is no type of a column; the types are {known}", kind=str(kind),
                            known=", ".join(f"'{k}'" for k in get_args(ReadAs)))  # fmt: skip
        if column in names or (isinstance(column, int) and 0 <= column < len(names)):
            wanted[names.index(column) if isinstance(column, str) else column] = kind
        else:
            raise ReadError("there is no column '{column}'; the columns are {known}", column=str(column),
                            known=", ".join(f"'{n}'" for n in names[:20]))  # fmt: skip
    return {position: kind for position, kind in sorted(wanted.items()) if kind != "auto"}


def _otherwise(
    frame: pd.DataFrame, wanted: Mapping[int, ReadAs], decimal: Mark | None, missing: Sequence[str] | None,
    notes: list[Note],
) -> tuple[pd.DataFrame, list[Note]]:  # fmt: skip
    """The columns of a format that brings its types, some of which a person wants to be read otherwise."""
    columns = {position: convert_column(written(frame.iloc[:, position]), decimal, missing, kind, position)
               for position, kind in wanted.items()}  # fmt: skip
    names = {str(frame.columns[position]) for position in columns}
    notes = [n for n in notes if n.column not in names] + [n for column in columns.values() for n in column.notes]
    values = {str(frame.columns[position]): column.values for position, column in columns.items()}
    return put(frame, values), notes


def _set_aside(schema: Schema, n: int) -> list[Note]:
    """Columns that no model reads until a person gives them a role, and categories that are nearly as many as rows."""
    aside: dict[str, list[str]] = {}
    for v in schema:
        if v.role not in ("feature", "target"):
            aside.setdefault(v.kind, []).append(v.name)
    notes = [note("columns of kind {kind}, left out of the models until you give them a role: {columns}",
                  kind=Word(kind), columns=listed(names)) for kind, names in aside.items()]  # fmt: skip
    notes += [note("column '{column}', which would be the class, has one value in every row; choose another target",
                   "warning", column=v.name) for v in schema if (v.role, v.kind) == ("target", "constant")]  # fmt: skip
    many = [v for v in schema if v.kind == "categorical" and len(v.levels) > max(MAX_CLASSES, n / 4)]
    return notes + [note("column '{column}' has {levels} distinct values in {n} rows, many for a category", "warning",
                         column=v.name, levels=len(v.levels), n=n) for v in many[:_NAMED]]  # fmt: skip


def _opened(
    data: bytes, encoding: str | None, delimiter: str | None, quote: str | None, sheet: str | None,
    typed: bool, max_bytes: int, notes: list[Note],
) -> tuple[Grid | pd.DataFrame, Recipe]:  # fmt: skip
    """A grid of text, or a frame where the format brings names and types. Bytes and text are gone with this call."""
    if is_parquet(data):
        return parquet(data, max_bytes, notes), Recipe("parquet")
    if (book := workbook(data, max_bytes)) is not None:
        rows = book.pick(sheet, notes)
        cells = rows.grid()
        notes += [*rows.notes(), *book.notes()]
        return cells, Recipe("spreadsheet", sheet=rows.name, sheets=book.sheets)
    text, encoding = decode(data, encoding, notes)
    if is_arff(text):
        return arff(text, notes, typed), Recipe("arff", encoding)
    grid, dialect = cut(text, delimiter, quote, notes)
    return grid, Recipe("text", encoding, dialect.delimiter, dialect.quote)
