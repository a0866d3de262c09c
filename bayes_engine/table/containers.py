"""Files that bring a structure of their own: spreadsheets (cells with types, no header), Parquet and ARFF (columns with
names and types)."""

from __future__ import annotations

import importlib
import io
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.errors import ReadError
from bayes_engine.table.assemble import unique_names
from bayes_engine.table.dialect import Grid, check_size
from bayes_engine.table.numbers import Note, convert_column, infinite_note, is_number, note, offer

# ---- spreadsheets ----------------------------------------------------------------------------------------------------

SPREAD = (2_000_000, 8, 20_000_000)
"""Cells, empty ones too, from the corner of a sheet to its farthest cell, up to which it is opened: always; for every
byte of the file; at most."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, ValueError, EOFError)
"""What reading a part of a damaged zip archive may raise."""
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,7})["']""")
_PROBE = """
import io, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
except (ImportError, ValueError, OSError):
    pass
from python_calamine import load_workbook
try:
    book = load_workbook(io.BytesIO(sys.stdin.buffer.read()))
    names = book.sheet_names
except Exception:
    sys.exit(0)  # what is wrong with it is said where it is opened
for name in names:
    try:
        sheet = book.get_sheet_by_name(name)
    except Exception:
        continue
    if sheet.total_height * sheet.total_width > int(sys.argv[1]):
        sys.exit(1)
"""
"""Opens a workbook with calamine, which makes room for every cell up to the farthest one and, where there is no memory
for that, ends the whole process: so it is another one."""


def workbook(data: bytes, max_bytes: int) -> pd.ExcelFile | None:
    """The workbook in the bytes, None where they are none. Raises ReadError on a damaged or protected one."""
    if data.startswith(b"PK"):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OSError):
            raise ReadError("the file is a damaged zip archive or spreadsheet; save it again") from None
        if not any(p.filename in ("xl/workbook.xml", "xl/workbook.bin", "content.xml") for p in parts):
            return None
        if sum(p.file_size for p in parts) > 8 * max_bytes:
            raise ReadError("the spreadsheet unpacks to more than {most} MB; save the one sheet you need as CSV",
                            most=8 * max_bytes // 1_000_000)  # fmt: skip
    elif not data.startswith(b"\xd0\xcf\x11\xe0"):
        return None
    _refuse_spread(data)
    try:
        return pd.ExcelFile(io.BytesIO(data), engine="calamine")
    except ImportError:
        raise ReadError("reading a spreadsheet needs python-calamine: pip install python-calamine") from None
    except Exception as error:  # noqa: BLE001 - calamine's own errors share no public base
        raise ReadError(
            "the file looks like a spreadsheet but cannot be read ({reason}); if it is protected by a password, remove "
            "that, or save the sheet as CSV",
            reason=str(error)[:200],
        ) from None


def _refuse_spread(data: bytes) -> None:
    """Raises ReadError where a cell far from the others would make a table of a size that no memory holds."""
    always, each, most = SPREAD
    limit = min(most, max(always, each * len(data)))
    if b"xl/workbook.xml" in data and _spread(data) <= limit:
        return
    try:
        probe = subprocess.run([sys.executable, "-c", _PROBE, str(limit)], input=data, capture_output=True, timeout=60,
                               check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        fits = False
    else:
        fits = probe.returncode == 0
    if not fits:
        raise ReadError("a cell of the spreadsheet stands so far from the others that a sheet would have more than "
                        "{most} cells; delete what is beyond the table, or save the sheet as CSV",
                        most=f"{limit:,}")  # fmt: skip


def _spread(data: bytes) -> int:
    """Cells up to the farthest one that any part of an xlsx file names, filled or not; no part is held whole."""
    columns: set[bytes] = set()
    last = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part in archive.infolist():
            try:
                with archive.open(part) as file:
                    tail = b""
                    while piece := file.read(1 << 20):
                        found = _REFERENCE.findall(tail + piece)
                        columns.update(column for column, _row in found)
                        last = max(last, *(int(row) for _column, row in found), 0)
                        tail = piece[-64:]
            except _DAMAGED:
                continue  # said where it is opened
    widest = max((_number(column) for column in columns), default=0)
    return max(widest, 1) * last


def _number(column: bytes) -> int:
    """A column's number from its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in column.upper():
        number = 26 * number + letter - 64
    return number


def pick(book: pd.ExcelFile, sheet: str | None, notes: list[Note]) -> tuple[Grid, str]:
    """One sheet as a grid of text, and its name: the first of two rows and more, unless told; else the first that holds
    anything."""
    sheets = tuple(map(str, book.sheet_names))
    if sheet is not None and sheet not in sheets:
        raise ReadError("there is no sheet '{sheet}'; the sheets are {known}", sheet=sheet,
                        known=", ".join(f"'{s}'" for s in sheets))  # fmt: skip
    hidden = _hidden(book)
    best = None
    for chosen in sorted(sheets, key=hidden.__contains__) if sheet is None else (sheet,):
        try:
            raw = pd.read_excel(book, sheet_name=chosen, header=None, na_filter=False, dtype=object)
        except Exception as error:  # noqa: BLE001 - calamine's own errors share no public base
            raise ReadError("sheet '{sheet}' is damaged ({reason}); save the spreadsheet again, or the sheet as CSV",
                            sheet=chosen, reason=str(error)[:200]) from None  # fmt: skip
        check_size(*raw.shape)
        cells = raw.map(_cell_text)
        filled = cells != ""
        rows = filled.any(axis=1).to_numpy()
        if rows.any() and (best is None or rows.sum() > 1):
            best = raw, cells, filled, rows, chosen
        if rows.sum() > 1:
            break
    if best is None:
        raise ReadError("the file is empty: no sheet holds any data")
    raw, cells, filled, rows, chosen = best
    if sheet is None and len(sheets) > 1:
        others = [other for other in sorted(sheets, key=hidden.__contains__) if other != chosen][:4]
        notes.append(note("the workbook has {n} sheets; '{sheet}' was read", n=len(sheets), sheet=chosen)
                     .offering(*(offer("Read '{sheet}'", "sheet", o, sheet=o) for o in others)))  # fmt: skip
    long = raw.map(lambda value: isinstance(value, (int, float)) and abs(value) >= 2.0**53).to_numpy(dtype=bool)
    if long.any():
        row, column = np.argwhere(long)[0].tolist()
        notes.append(note("numbers of more digits than a spreadsheet keeps: {n}, the first in line {line} ('{value}'); "
                          "their last digits may be lost: enter them there as text", "warning", row + 1,
                          n=int(long.sum()), line=row + 1, value=str(cells.iat[row, column])))  # fmt: skip
    used = np.flatnonzero(filled.any(axis=0).to_numpy())
    cells = cells.loc[rows, cells.columns[used[0] : used[-1] + 1]].reset_index(drop=True)
    cells.columns = pd.RangeIndex(cells.shape[1])
    widths = np.full(len(cells), cells.shape[1], dtype=np.intp)
    return Grid(cells, widths, np.flatnonzero(rows) + 1), chosen


def _hidden(book: pd.ExcelFile) -> set[str]:
    """The sheets that a spreadsheet program does not show."""
    told: Any = getattr(book.book, "sheets_metadata", ())
    return {str(sheet.name) for sheet in told if "visible" not in str(sheet.visible).lower().split(".")[-1]}


def marred(data: bytes) -> list[Note]:
    """What a workbook's cells hold instead of values: errors, formulas of which no result was stored, and nothing where
    they were merged with the one above."""
    errors = formulas = merged = 0
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for part in archive.namelist():
                if part.startswith("xl/worksheets/") and part.endswith(".xml"):
                    try:
                        sheet = archive.read(part)
                    except _DAMAGED:
                        continue  # another sheet than the one that was read
                    errors += len(re.findall(rb'<c\b[^>]*\bt="e"', sheet))
                    ranges = re.findall(rb'<mergeCell\b[^>]*\bref="[A-Z]+(\d+):[A-Z]+(\d+)"', sheet)
                    merged += sum(int(last) > int(first) for first, last in ranges)
                    formulas += len(re.findall(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>", sheet))
    notes = []
    if merged:
        notes.append(note("the workbook holds cells merged over several rows: {n}; only the first row of each has the "
                          "value, in the others it is missing", "warning", n=merged))  # fmt: skip
    if errors:
        notes.append(note("the workbook holds cells with an error such as #DIV/0!, read as missing: {n}", "warning",
                          n=errors))  # fmt: skip
    if formulas:
        notes.append(note("the workbook holds formulas of which no result is stored, read as missing: {n}; open it in "
                          "a spreadsheet program and save it again", "warning", n=formulas))  # fmt: skip
    return notes


def _cell_text(value: Any) -> str:
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
    if pd.api.types.is_string_dtype(column.dtype) and not column.hasnans:
        return column
    parts = (column.iloc[at : at + CELLS] for at in range(0, max(len(column), 1), CELLS))
    return pd.concat([part.astype(object).where(part.notna(), "").map(_cell_text) for part in parts])


# ---- formats that bring their types ----------------------------------------------------------------------------------


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
        table = file.read()
        frame: pd.DataFrame = table.to_pandas()
        long = _long(table)
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
    for at, name in enumerate(frame.columns):
        if given[at] in long and given.count(given[at]) == 1:
            found = convert_column(pd.Series(long[given[at]], frame.index, name=name, dtype="str"), ".", at=at)
            frame[name] = found.values
            notes += found.notes
            continue
        kind = frame[name].dtype
        if isinstance(kind, np.dtype) and kind.kind == "f" and np.isinf(frame[name]).any():
            notes.append(infinite_note(name, at))
        if isinstance(kind, pd.CategoricalDtype) or (isinstance(kind, np.dtype) and kind.kind in "biufM"):
            continue
        if isinstance(kind, pd.DatetimeTZDtype):
            frame[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
            notes.append(note("column '{column}': times of the zone {zone} are counted back to UTC", column=name,
                              zone=str(kind.tz)))  # fmt: skip
            continue
        said = types.infer_dtype(frame[name], skipna=True) if len(frame[name].dropna()) else "empty"
        if types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind):
            frame[name] = frame[name].astype(float)
        elif said == "empty":
            frame[name] = pd.Series(np.nan, index=frame.index, dtype=float)
            notes.append(note("column '{column}' is empty: every cell is missing", "warning", column=name))
        elif said == "decimal":
            frame[name] = frame[name].astype(float)
            notes.append(note("column '{column}' ({kind}) is read as numbers", column=name, kind="decimal"))
        elif said == "date" and (when := _days(frame[name])) is not None:
            frame[name] = when
        elif said == "boolean":
            frame[name] = frame[name].astype(object).where(frame[name].notna(), np.nan)
        elif not types.is_datetime64_any_dtype(kind) and said != "string":
            frame[name] = frame[name].where(frame[name].notna(), None).map(str, na_action="ignore").astype("str")
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
    declared = r"^[ \t]*@relation\b.*?^[ \t]*@data\b"
    return re.search(declared, text[:1_000_000], re.IGNORECASE | re.MULTILINE | re.DOTALL) is not None


def arff(text: str, notes: list[Note], typed: bool = True) -> pd.DataFrame:
    """Weka's format: nominal columns keep their declared levels and order; '?' is missing; sparse rows are filled; the
    weights of rows are a column. Not `typed`, every cell is the text it is written as, '' where it is missing."""
    begins = re.search(r"^[ \t]*@data\b[^\n]*$", text, flags=re.IGNORECASE | re.MULTILINE)
    assert begins is not None  # it would be no ARFF
    word = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+)"""
    attribute = rf"^[ \t]*@attribute[ \t]+(?:{word})[ \t]*(\{{[^\n]*\}}|\w+)"
    found = re.findall(attribute, text[: begins.start()], flags=re.IGNORECASE | re.MULTILINE)
    if not found:
        raise ReadError("the ARFF file declares no @attribute; write it again")
    names = unique_names([re.sub(r"\\(.)", r"\1", a or b or c) for a, b, c, _ in found], notes)
    kinds = [kind for *_, kind in found]
    if "relational" in (within := [kind.lower() for kind in kinds]):
        raise ReadError("column '{column}' of the ARFF file is relational, a table within each cell, which cannot be "
                        "read here; write it as one flat table", column=names[within.index("relational")])  # fmt: skip
    levels = [list(dict.fromkeys(_arff_cells(k[1:-1]))) if k.startswith("{") else None for k in kinds]
    usual = ["0" if level is None else level[0] for level in levels]
    parts: list[list[pd.Series]] = [[] for _ in names]
    weights: list[float] = []  # of rows, 1 where one has none; empty where no row has one
    rows, n = _arff_rows(text, begins.end(), usual), 0
    while block := list(islice(rows, ROWS)):
        for part, values in zip(parts, zip(*(cells for cells, _weight in block), strict=True), strict=True):
            part.append(pd.Series(values, dtype="str"))
        if weights or any(weight is not None for _cells, weight in block):
            weights += [1.0] * (n - len(weights)) + [1.0 if weight is None else weight for _cells, weight in block]
        n += len(block)
    del text, begins, rows  # a long text makes room for its columns
    if not n:
        raise ReadError("the file has a header, but no rows: there is no data in it")
    columns: dict[str, pd.Series] = {}
    for at, (name, kind, level) in enumerate(zip(names, kinds, levels, strict=True)):
        column = pd.concat(parts[at], ignore_index=True).rename(name)
        parts[at] = []
        if not typed:
            columns[name] = column.where(column != "?", "")
        elif level is not None:
            strange = column[~column.isin([*level, "?"])]
            if len(strange):
                raise ReadError("column '{column}' holds '{value}', which is not among its declared levels",
                                column=name, value=str(strange.iloc[0]))  # fmt: skip
            columns[name] = pd.Series(pd.Categorical(column.where(column != "?", None), categories=level))
        elif kind.lower() in ("numeric", "real", "integer"):
            numbers = convert_column(column, ".", ("?",), at=at)
            if not (pd.api.types.is_numeric_dtype(numbers.values.dtype) or column[column != "?"].map(is_number).all()):
                raise ReadError("column '{column}' is declared {kind}, but holds text", column=name, kind=kind)
            columns[name] = numbers.values
            notes += numbers.notes
        elif kind.lower() == "date":
            dates = convert_column(column, None, ("?",), at=at)
            columns[name] = dates.values
            notes += [n for n in dates.notes if n.severity == "warning"]
        else:
            columns[name] = column.where(column != "?", None).astype("str")
    if weights:
        *_, name = unique_names([*names, "weight"], [])
        columns[name] = pd.Series(weights, dtype=float)
        notes.append(note("rows bear weights in braces; they are in the column '{column}': give it the role weight, or "
                          "leave it out", "warning", column=name))  # fmt: skip
    return pd.DataFrame(columns)


_WEIGHT = re.compile(r",[ \t]*\{[ \t]*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)[ \t]*\}[ \t]*$")


ROWS = 20_000
"""So many rows of an ARFF file are taken apart at a time."""
CELLS = 100_000
"""So many cells of a column are written as text at a time."""


def _arff_rows(text: str, begin: int, usual: list[str]) -> Iterator[tuple[list[str], float | None]]:
    """The cells of every row from `begin` on and its weight; a sparse row, {index value, …}, has the `usual` cell where
    it says nothing."""
    for line, found in enumerate(_LINE.finditer(text, begin), start=text.count("\n", 0, begin) + 1):
        row = found[1].strip()
        if not row or row.startswith("%"):
            continue
        weighed = _WEIGHT.search(row)
        if weighed:
            row = row[: weighed.start()]
        if " %" in row or "\t%" in row:
            row = _REMARKED.sub(r"\1", row).rstrip()
        if "," not in row and "\t" in row:
            row = row.replace("\t", ",")
        cells = usual.copy() if row.startswith("{") else _arff_cells(row)
        if row.startswith("{"):
            inside = row[1:].rstrip().removesuffix("}")
            for pair in _ARFF_PAIR.finditer(inside) if inside.strip() else ():
                index = pair[1]
                if not index.isdecimal() or int(index) >= len(usual):
                    raise ReadError("line {line} of the ARFF data names column '{index}', which is not declared",
                                    line=line, index=index)  # fmt: skip
                cells[int(index)] = re.sub(r"\\(.)", r"\1", pair[2] or pair[3] or pair[4] or "")
                if not pair[5]:
                    break
        if len(cells) != len(usual):
            raise ReadError("line {line} of the ARFF data has {n} cells for {width} attributes; mend the line",
                            line=line, n=len(cells), width=len(usual))  # fmt: skip
        yield cells, float(weighed[1]) if weighed else None


_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|$)")
_REMARKED = re.compile(r"""^((?:[^'"%\\]|\\.|(?<!\s)%|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*)\s%.*""")
"""A row with a remark behind it."""
_ARFF_PAIR = re.compile(r"""\s*([^\s,]*)(?:\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?)))?\s*(,|$)""")
_ARFF_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(,|$)""")


def _arff_cells(row: str) -> list[str]:
    cells = []
    for match in _ARFF_CELL.finditer(row):
        cells.append(re.sub(r"\\(.)", r"\1", match[1] or match[2] or match[3] or ""))
        if not match[4]:
            break
    return cells
