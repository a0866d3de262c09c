"""Files that bring names and types of their columns: Parquet and ARFF; and how typed cells are written as text. SciPy's
ARFF reader knows neither columns of text nor sparse rows.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.assemble import no_rows
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.column_notes import infinite_note
from bayes_engine.table.convert import convert_column
from bayes_engine.table.dataframes import as_strings
from bayes_engine.table.grid import check_size
from bayes_engine.table.notes import Note, note
from bayes_engine.table.numbers import is_number


def cell_text(value: Any) -> str:
    """A spreadsheet's cell as a CSV file would hold it; numbers come back to the last digit."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 1e15
        return "" if np.isnan(value) else str(int(value)) if whole else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    return "" if value is None else str(value)


def written(column: pd.Series) -> pd.Series:
    """A column as text: a format that brings its types writes its cells as a spreadsheet's are."""
    if isinstance(column.dtype, pd.StringDtype) and not column.hasnans:
        return column
    parts = (column.iloc[start : start + CELLS] for start in range(0, max(len(column), 1), CELLS))
    return pd.concat([part.astype(object).where(part.notna(), "").map(cell_text).astype("str") for part in parts])


def is_parquet(data: bytes) -> bool:
    """Whether bytes begin as Parquet does, rather than as a text whose first column is called PAR1."""
    return re.match(rb"PAR1[\x00-\x08\x0e-\x1f]", data) is not None


def parquet(data: bytes, max_bytes: int, notes: list[Note]) -> pd.DataFrame:
    """Columns with the types the file gives them; a type no model knows is shown as text."""
    try:
        reader = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ReadError("reading Parquet needs pyarrow: pip install pyarrow, or save the table as CSV") from None
    try:
        file = reader.ParquetFile(io.BytesIO(data))
        check_size(file.metadata.num_rows, file.metadata.num_columns)
        size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        if size > 8 * max_bytes:
            raise ReadError("the Parquet file unpacks to more than {most} MB", most=8 * max_bytes // 1_000_000)
        table = file.read(use_threads=False)
        long = _long(table)
        frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True, use_threads=False)  # held once
        del table, file, data
    except ReadError:
        raise
    except Exception as error:  # noqa: BLE001 - pyarrow's errors share no public base with its I/O errors
        raise ReadError(
            "the Parquet file is damaged: {reason}; write it again", reason=str(error).strip().rstrip(".")[:200]
        ) from None
    if not len(frame) or not frame.shape[1]:
        raise ReadError("the file is empty: there is no data in it")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    given = [str(c) for c in frame.columns]
    frame.columns = pd.Index(unique_names(given, notes))
    types = pd.api.types
    for position, name in enumerate(frame.columns):
        if given[position] in long and given.count(given[position]) == 1:
            converted = convert_column(
                pd.Series(long[given[position]], frame.index, name=name, dtype="str"), ".", position=position
            )
            frame[name] = converted.values
            notes += converted.notes
            continue
        kind = frame[name].dtype
        if isinstance(kind, np.dtype) and kind.kind == "f" and np.isinf(frame[name]).any():
            notes.append(infinite_note(name, position))
        if isinstance(kind, pd.CategoricalDtype) or (isinstance(kind, np.dtype) and kind.kind in "biufM"):
            continue
        if isinstance(kind, pd.DatetimeTZDtype):
            frame[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
            notes.append(note("column '{column}': times of the zone {zone} are counted back to UTC", column=name,
                              zone=str(kind.tz)))  # fmt: skip
            continue
        content = types.infer_dtype(frame[name], skipna=True) if len(frame[name].dropna()) else "empty"
        if types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind):
            frame[name] = frame[name].astype(float)
        elif content == "empty":
            frame[name] = pd.Series(np.nan, index=frame.index, dtype=float)
            notes.append(note("column '{column}' is empty: every cell is missing", "warning", column=name))
        elif content == "decimal":
            frame[name] = frame[name].astype(float)
            notes.append(note("column '{column}' ({kind}) is read as numbers", column=name, kind="decimal"))
        elif content == "date" and (when := _days(frame[name])) is not None:
            frame[name] = when
        elif content == "boolean":
            frame[name] = frame[name].astype(object).where(frame[name].notna(), np.nan)
        elif not types.is_datetime64_any_dtype(kind) and content != "string":
            frame[name] = as_strings(frame[name].where(frame[name].notna(), None).map(str, na_action="ignore"))
            notes.append(note("column '{column}' ({kind}) is shown as text", "warning", column=name, kind=str(kind)))
    return frame


def _long(table: Any) -> dict[str, list[str]]:
    """The columns of an Arrow table that hold whole numbers of more than 15 digits, as text, to the last digit."""
    arrow, compute = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    long = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if arrow.types.is_integer(column.type) or arrow.types.is_decimal(column.type):
            ends = compute.min_max(column).as_py().values()
            if any(end is not None and abs(end) >= 10**15 for end in ends):
                long[name] = ["" if cell is None else str(cell) for cell in column.to_pylist()]
    return long


def _days(column: pd.Series) -> pd.Series | None:
    """Days of the calendar as dates, None where one lies beyond what a date can hold."""
    try:
        return column.astype("datetime64[s]")
    except (ValueError, TypeError, OverflowError):
        return None


def is_arff(text: str) -> bool:
    """True where a text declares a relation and its data, as Weka writes them."""
    head = text[:1_000_000]
    relation = _RELATION.search(head) if "@" in head else None
    return relation is not None and _DATA.search(head, relation.end()) is not None


_RELATION = re.compile(r"^[ \t]*+@relation\b", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile(r"^[ \t]*+@data\b[^\n]*+$", re.IGNORECASE | re.MULTILINE)


class Declared(NamedTuple):
    """What an ARFF file declares: the names of its columns, their kinds as they are written, the levels of those that
    are nominal, and the place in its text where the rows begin."""

    names: list[str]
    kinds: list[str]
    levels: list[list[str] | None]
    begin: int

    def rows(self, text: str, begin: int, line: int) -> Iterator[tuple[list[str], float | None]]:
        """The cells of every row from `begin` on, which is in this line, and its weight; a sparse row, {index value,
        …}, has zero or the first level where it says nothing."""
        usual = ["0" if level is None else level[0] for level in self.levels]
        for line_number, match in enumerate(_LINE.finditer(text, begin), start=line):
            row = match[1].strip()
            if not row or row.startswith("%"):
                continue
            weighed = _WEIGHT.search(row)
            if weighed:
                row = row[: weighed.start()]
            if " %" in row or "\t%" in row:
                row = _REMARKED.sub(r"\1", row).rstrip()
            if "," not in row and "\t" in row:
                row = row.replace("\t", ",")
            cells = _sparse(row, usual, line_number) if row.startswith("{") else _arff_cells(row)
            if len(cells) != len(usual):
                raise ReadError("line {line} of the ARFF data has {n} cells for {width} attributes; mend the line",
                                line=line_number, n=len(cells), width=len(usual))  # fmt: skip
            yield cells, float(weighed[1]) if weighed else None

    def weight(self, notes: list[Note]) -> str:
        """The name of a column that holds the weights of rows; that there is one is noted."""
        *_, name = unique_names([*self.names, "weight"], [])
        notes.append(note("rows bear weights in braces; they are in the column '{column}': give it the role weight, or "
                          "leave it out", "warning", column=name))  # fmt: skip
        return name


def declared(text: str, notes: list[Note]) -> Declared:
    """The declarations at the head of an ARFF file. Raises ReadError where nothing can be read by them."""
    begins = _DATA.search(text)
    assert begins is not None  # it would be no ARFF
    word = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+)"""
    attribute = rf"^[ \t]*@attribute[ \t]+(?:{word})[ \t]*(\{{[^\n]*\}}|\w+)"
    attributes = re.findall(attribute, text[: begins.start()], flags=re.IGNORECASE | re.MULTILINE)
    if not attributes:
        raise ReadError("the ARFF file declares no @attribute; write it again")
    names = unique_names([re.sub(r"\\(.)", r"\1", a or b or c) for a, b, c, _ in attributes], notes)
    kinds = [kind for *_, kind in attributes]
    if "relational" in (within := [kind.lower() for kind in kinds]):
        raise ReadError("column '{column}' of the ARFF file is relational, a table within each cell, which cannot be "
                        "read here; write it as one flat table", column=names[within.index("relational")])  # fmt: skip
    levels = [list(dict.fromkeys(_arff_cells(k[1:-1]))) if k.startswith("{") else None for k in kinds]
    return Declared(names, kinds, levels, begins.end())


def arff(text: str, notes: list[Note], typed: bool = True) -> pd.DataFrame:
    """Weka's format: nominal columns keep their declared levels and order; '?' is missing; sparse rows are filled; the
    weights of rows are a column. Not `typed`, every cell is the text it is written as, '' where it is missing."""
    head = declared(text, notes)
    parts: list[list[pd.Series]] = [[] for _ in head.names]
    weights: list[float] = []  # of rows, 1 where one has none; empty where no row has one
    rows, n = head.rows(text, head.begin, text.count("\n", 0, head.begin) + 1), 0
    while block := list(islice(rows, ROWS)):
        tick()
        for part, values in zip(parts, zip(*(cells for cells, _weight in block), strict=True), strict=True):
            part.append(pd.Series(values, dtype="str"))
        if weights or any(weight is not None for _cells, weight in block):
            weights += [1.0] * (n - len(weights)) + [1.0 if weight is None else weight for _cells, weight in block]
        n += len(block)
    del text, rows  # a long text makes room for its columns
    if not n:
        raise no_rows()
    columns: dict[str, pd.Series] = {}
    for position, (name, kind, level) in enumerate(zip(head.names, head.kinds, head.levels, strict=True)):
        column = pd.concat(parts[position], ignore_index=True).rename(name)
        parts[position] = []
        if not typed:
            columns[name] = column.where(column != "?", "")
        elif level is not None:
            strange = column[~column.isin([*level, "?"])]
            if len(strange):
                raise ReadError("column '{column}' holds '{value}', which is not among its declared levels",
                                column=name, value=str(strange.iloc[0]))  # fmt: skip
            columns[name] = pd.Series(pd.Categorical(column.where(column != "?", None), categories=level))
        elif kind.lower() in ("numeric", "real", "integer"):
            numbers = convert_column(column, ".", ("?",), position=position)
            if not (pd.api.types.is_numeric_dtype(numbers.values.dtype) or column[column != "?"].map(is_number).all()):
                raise ReadError("column '{column}' is declared {kind}, but holds text", column=name, kind=kind)
            columns[name] = numbers.values
            notes += numbers.notes
        elif kind.lower() == "date":
            dates = convert_column(column, None, ("?",), position=position)
            columns[name] = dates.values
            notes += [n for n in dates.notes if n.severity == "warning"]
        else:
            columns[name] = as_strings(column.where(column != "?", None))
    if weights:
        columns[head.weight(notes)] = pd.Series(weights, dtype=float)
    return pd.DataFrame(columns)


_WEIGHT = re.compile(r",[ \t]*\{[ \t]*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)[ \t]*\}[ \t]*$")


ROWS = 20_000
"""So many rows of an ARFF file are taken apart at a time."""
CELLS = 100_000
"""So many cells of a column are written as text at a time."""


def _sparse(row: str, usual: list[str], line: int) -> list[str]:
    """The cells of a row that names those which differ from the `usual` ones."""
    cells, inside = usual.copy(), row[1:].rstrip().removesuffix("}")
    for pair in _ARFF_PAIR.finditer(inside) if inside.strip() else ():
        index = pair[1]
        if not index.isdecimal() or int(index) >= len(usual):
            raise ReadError("line {line} of the ARFF data names column '{index}', which is not declared",
                            line=line, index=index)  # fmt: skip
        cells[int(index)] = re.sub(r"\\(.)", r"\1", pair[2] or pair[3] or (pair[4] or "").rstrip())
        if not pair[5]:
            break
    return cells


_LINE = re.compile(r"([^\r\n]*+)(?:\r\n|\r|\n|$)")
_REMARKED = re.compile(r"""^((?:[^'"%\\]|\\.|(?<!\s)%|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\s%.*""")
"""A row with a remark behind it."""
_VALUE = r"""(?:'((?:[^'\\]|\\.)*+)'\s*+(?=,|$)|"((?:[^"\\]|\\.)*+)"\s*+(?=,|$)|([^,]*+))"""
_ARFF_PAIR = re.compile(rf"\s*+([^\s,]*+)(?:\s++{_VALUE})?(,|$)")
_ARFF_CELL = re.compile(rf"\s*+{_VALUE}(,|$)")


def _arff_cells(row: str) -> list[str]:
    cells = []
    for match in _ARFF_CELL.finditer(row):
        cells.append(re.sub(r"\\(.)", r"\1", match[1] or match[2] or (match[3] or "").rstrip()))
        if not match[4]:
            break
    return cells
