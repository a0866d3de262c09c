"""Bytes → a table that can be trusted: what was inferred or changed on the way is in the report, and every inference
can be overridden by a keyword.

bytes → (gzip) → is it text at all? → encoding → dialect → grid → header and rows → typed columns. A spreadsheet
joins at the grid, so that titles above its header and units below are found by the same code; Parquet and ARFF bring
their types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from bayes_engine.table.assemble import assemble
from bayes_engine.table.containers import arff, is_arff, parquet, pick, workbook, written
from bayes_engine.table.decode import decode, load
from bayes_engine.table.dialect import Grid, cut
from bayes_engine.table.numbers import Mark, Note, convert
from bayes_engine.table.schema import Schema, Variable

__all__ = ["MAX_BYTES", "Note", "Reading", "Recipe", "read_table"]

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
    typed: bool = True,
    max_bytes: int = MAX_BYTES,
) -> Reading:
    """The table in `source` (bytes, or the path of a file): delimited or space-aligned text, a spreadsheet, Parquet,
    ARFF, or one of the text formats gzipped.

    None means: find out. `delimiter` may also be "" (one column) or "aligned"; `quote` "" (no cell is quoted); `header`
    is a line counted from 1, or False for none; `missing` are the only tokens (besides the empty cell) that mean
    missing. `typed=False` leaves every cell as the text it is written as ('' where it is empty).
    Raises ReadError with what is wrong, where, and what to do.

    >>> reading = read_table(b"size;city\\n1,5;Oslo\\n2,5;Rome\\n")
    >>> reading.frame["size"].tolist(), [str(n.message) for n in reading.report]
    ([1.5, 2.5], ["column 'size': the decimal mark is a comma ('1,5' is read as 1.5)"])
    """
    notes: list[Note] = []
    found, recipe = _opened(source, encoding, delimiter, quote, sheet, max_bytes, notes)
    if isinstance(found, Grid):
        frame, line = assemble(found, header, recipe.delimiter, notes)
        mark: Mark = decimal or "."
        del found  # the columns are let go of one by one as they are converted
        if typed:
            frame, told, mark = convert(frame, decimal, missing, release=True)
            notes += told
        recipe = replace(recipe, header=line, decimal=mark, missing=None if missing is None else tuple(missing))
    else:
        frame = found
    if not typed:
        frame = frame.apply(written)
    schema = Schema.infer(frame) if typed else Schema(tuple(Variable(str(c), "text") for c in frame))
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    return Reading(frame, schema, tuple(notes), recipe, name)


def _opened(
    source: bytes | str | Path, encoding: str | None, delimiter: str | None, quote: str | None, sheet: str | None,
    max_bytes: int, notes: list[Note],
) -> tuple[Grid | pd.DataFrame, Recipe]:  # fmt: skip
    """A grid of text, or a frame where the format brings names and types. Bytes and text are gone with this call."""
    data = load(source, max_bytes)
    if data.startswith(b"PAR1"):
        return parquet(data, max_bytes, notes), Recipe("parquet")
    if (book := workbook(data, max_bytes)) is not None:
        cells, chosen = pick(book, sheet, notes)
        return cells, Recipe("spreadsheet", sheet=chosen, sheets=tuple(map(str, book.sheet_names)))
    text, encoding = decode(data, encoding, notes)
    if is_arff(text):
        return arff(text), Recipe("arff", encoding)
    grid, dialect = cut(text, delimiter, quote, notes)
    return grid, Recipe("text", encoding, dialect.delimiter, dialect.quote)
