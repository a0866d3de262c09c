"""Bytes → a table that can be trusted: what was inferred or changed on the way is in the report, and every inference
can be overridden by a keyword.

bytes → (gzip) → is it text at all? → encoding → dialect → grid → header and rows → typed columns. A spreadsheet joins
at the grid, so that titles above its header and units below are found by the same code; Parquet and ARFF bring types.
"""

from __future__ import annotations

import codecs
import gzip
import importlib
import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_engine.errors import ReadError
from bayes_engine.table import dialect as text_dialect
from bayes_engine.table.dialect import ALIGNED, Grid, locate, sniff, tokenize
from bayes_engine.table.numbers import Mark, Note, convert, convert_column, note
from bayes_engine.table.schema import Schema, Variable

__all__ = ["MAX_BYTES", "Note", "Reading", "Recipe", "read_table"]

MAX_BYTES = 50_000_000
"""Largest file that is read, and largest text a compressed one may unpack to."""
MAX_NAME = 200
"""Longest column name, in characters; longer ones are cut."""


@dataclass(frozen=True)
class Recipe:
    """How the file was read. Each field is a keyword of `read_table`, except `format`, `quote` and `sheets`.

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
    decimal: Mark | None = None,
    header: int | Literal[False] | None = None,
    sheet: str | None = None,
    missing: Sequence[str] | None = None,
    typed: bool = True,
    max_bytes: int = MAX_BYTES,
) -> Reading:
    """The table in `source` (bytes, or the path of a file): delimited or space-aligned text, a spreadsheet, Parquet,
    ARFF, or one of the text formats gzipped.

    None means: find out. `delimiter` may also be "" (one column) or "aligned"; `header` is a line counted from 1, or
    False for none; `missing` are the only tokens (besides the empty cell) that mean missing. `typed=False` leaves every
    cell as the text it is written as ('' where it is empty).
    Raises ReadError with what is wrong, where, and what to do.

    >>> reading = read_table(b"size;city\\n1,5;Oslo\\n2,5;Rome\\n")
    >>> reading.frame["size"].tolist(), [str(n.message) for n in reading.report]
    ([1.5, 2.5], ["column 'size': the decimal mark is a comma ('1,5' is read as 1.5)"])
    """
    data = source if isinstance(source, bytes) else _bytes_of(Path(source), max_bytes)
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    if len(data) > max_bytes:
        raise ReadError("the file is larger than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000)
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, max_bytes)
    notes: list[Note] = []
    if data.startswith(b"PAR1"):
        frame, recipe = _parquet(data, max_bytes, notes), Recipe("parquet")
    elif (book := _workbook(data, max_bytes)) is not None:
        grid, recipe = _sheet(book, sheet, notes)
        frame, recipe = _table(grid, recipe, header, decimal, missing, typed, notes)
    else:
        _refuse_binary(data)
        text, encoding = _decode(data, encoding, notes)
        _refuse_foreign_text(text)
        if re.search(r"^\s*@relation\b.*?^\s*@data\b", text[:1_000_000], re.IGNORECASE | re.MULTILINE | re.DOTALL):
            frame, recipe = _arff(text), Recipe("arff", encoding)
        else:
            grid, recipe = _grid(text, encoding, delimiter, notes)
            frame, recipe = _table(grid, recipe, header, decimal, missing, typed, notes)
    if not typed:
        frame = frame.apply(_written)
        return Reading(frame, Schema(tuple(Variable(str(c), "text") for c in frame)), tuple(notes), recipe, name)
    return Reading(frame, Schema.infer(frame), tuple(notes), recipe, name)


# ---- bytes -----------------------------------------------------------------------------------------------------------


def _bytes_of(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise ReadError(
            "'{path}' cannot be opened: {reason}", path=str(path), reason=error.strerror or str(error)
        ) from None


def _gunzip(data: bytes, max_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        raise ReadError("the gzip file is damaged; pack it again, or upload it unpacked") from None
    if len(unpacked) > max_bytes:
        raise ReadError(
            "the gzip file unpacks to more than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000
        )
    if unpacked.startswith(b"\x1f\x8b"):
        raise ReadError("the gzip file holds another gzip file; unpack it and upload what is inside")
    return unpacked


_SIGNATURES = (
    (b"\x89PNG", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"), (b"BM", "BMP image"),
    (b"RIFF", "media file"), (b"%PDF", "PDF document"), (b"{\\rtf", "RTF document"), (b"PK", "zip archive"),
    (b"7z\xbc\xaf", "7z archive"), (b"Rar!", "RAR archive"), (b"BZh", "bzip2 file"), (b"\xfd7zXZ", "xz file"),
    (b"\x28\xb5\x2f\xfd", "zstd file"), (b"SQLite format 3", "SQLite database"), (b"\x93NUMPY", "NumPy array"),
    (b"\x89HDF", "HDF5 file"), (b"ARROW1", "Arrow (Feather) file"), (b"\xd0\xcf\x11\xe0", "old Office document"),
    (b"RDX", "R data file"), (b"\x7fELF", "program"), (b"MZ\x90", "program"), (b"$FL2", "SPSS file"),
    (b"x\x9c", "compressed pickle (joblib)"), (b"x\x01", "compressed file"), (b"x\xda", "compressed file"),
)  # fmt: skip


def _refuse_binary(data: bytes) -> None:
    """Raises ReadError on what is no text, saying what it looks like."""
    kind = next((kind for magic, kind in _SIGNATURES if data.startswith(magic)), "")
    if kind in ("BMP image", "compressed file", "R data file") and not _unprintable(data):
        kind = ""  # two letters a header may begin with
    if not kind and data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        kind = "pickle"
    if not kind and data[257:262] == b"ustar":
        kind = "tar archive"
    if kind:
        raise ReadError(
            "the file is not a CSV or text table but looks like a {kind} (binary); open it in the program it comes from "
            "and save the table as CSV or xlsx",
            kind=kind,
        )


def _unprintable(data: bytes) -> bool:
    """True where over 5 % of the first bytes are control characters that no text holds."""
    head = np.frombuffer(data[:65536], dtype=np.uint8)
    control = (head < 32) & ~np.isin(head, [8, 9, 10, 11, 12, 13, 26, 27, 31])
    return bool(head.size and control.mean() > 0.05)


def _refuse_foreign_text(text: str) -> None:
    """Raises ReadError on text that is another kind of file: a web page, JSON, XML; and on no text at all."""
    start = text[:2000].lstrip("\ufeff \t\r\n").lower()
    if not text.strip("\ufeff \t\r\n\x1a"):
        raise ReadError("the file is empty: there is no data in it")
    if re.match(r"<!doctype html|<html|<head|<body|<script|<!--", start):
        raise ReadError("the file is a web page (HTML), perhaps a sign-in page; open the link in a browser, sign in, and "
                        "download the table itself")  # fmt: skip
    if start.startswith("<?xml"):
        raise ReadError("the file is XML, not a table; save it as CSV or xlsx")
    if re.match(r'\{\s*["}]|\[\s*[\[{"\d\]]', start) and "\n[" not in start[:200]:
        raise ReadError("the file looks like JSON, not a table; save it as CSV (a JSON file cannot be read here)")


# ---- encoding --------------------------------------------------------------------------------------------------------

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (b"\x84\x31\x95\x33", "gb18030"),
)  # fmt: skip


def _decode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[str, str]:
    """(text, encoding): told → BOM → strict UTF-8 → UTF-16 by its NULs → damaged UTF-8 → a guess, strictly decoded."""
    if encoding is not None:
        return _strictly(data, encoding), encoding
    for bom, found in _BOMS:
        if data.startswith(bom) and (found != "utf-16" or not len(data) % 2):
            return _strictly(data, found).removeprefix("\ufeff"), found
    nul = np.frombuffer(data[:65536], dtype=np.uint8) == 0
    if nul.any():
        even, odd = float(nul[0::2].mean()), float(nul[1::2].mean())
        guess = "utf-16-le" if odd > 0.3 > 10 * even else "utf-16-be" if even > 0.3 > 10 * odd else ""
        if not guess or len(data) % 2:
            line = data[: int(nul.argmax())].count(b"\n") + 1
            raise ReadError("the file is binary or damaged (a NUL byte in line {line}), not a CSV or text table; save the "
                            "table as CSV or xlsx", line=line)  # fmt: skip
        notes.append(note("encoding guessed: {encoding} (every other byte is zero); choose another if the text looks "
                          "wrong", "warning", encoding=guess))  # fmt: skip
        return _strictly(data, guess), guess
    if _unprintable(data):
        raise ReadError("the file is binary, not a CSV or text table; save the table as CSV or xlsx")
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        first = error
    mended = data.decode("utf-8", "replace")
    sound = sum(ord(c) > 127 for c in mended[:1_000_000]) - mended.count("\ufffd", 0, 1_000_000)
    if sound > 5 * mended.count("\ufffd"):
        line = data[: first.start].count(b"\n") + 1
        notes.append(note("the encoding is utf-8, but {n} characters are damaged, the first in line {line}; they are "
                          "shown as '\ufffd'", "warning", line, n=mended.count("\ufffd"), line=line))  # fmt: skip
        return mended, "utf-8"
    for guess in _guesses(data):
        try:
            text = data.decode(guess)
        except (UnicodeDecodeError, LookupError):
            continue
        notes.append(_encoding_note(text, guess))
        return text, guess
    raise ReadError("the encoding of the file cannot be found out; save it as UTF-8, or choose the encoding")


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError:
        raise ReadError("there is no encoding '{encoding}'; try utf-8, gb18030 or cp1252", encoding=encoding) from None
    except UnicodeDecodeError as error:
        raise ReadError(
            "the bytes in line {line} are no {encoding}; choose another encoding",
            line=data[: error.start].count(b"\n") + 1, encoding=encoding,
        ) from None  # fmt: skip


def _guesses(data: bytes) -> list[str]:
    """Encodings to try, the likeliest first. A few characters are too few for a detector: common Chinese comes first."""
    telling = b"\n".join(line for line in re.split(rb"[\r\n]+", data) if not line.isascii())[:200_000]
    high = bytes(b for b in telling if b > 127)
    pairs = re.sub(rb"[\xb0-\xd7][\xa1-\xfe]", b"", telling)
    chinese = ["gb18030"] if pairs.isascii() and not len(high) % 2 else []
    guessed: list[str] = []
    try:
        detected = importlib.import_module("chardet").detect(telling)["encoding"]
        guessed = [codecs.lookup(detected).name] if detected else []
    except (ImportError, LookupError):
        pass
    guessed = ["gb18030" if g in ("gb2312", "gbk", "hz") else g for g in guessed if g not in ("ascii", "utf-8")]
    few = len(high) < 40
    return [*(chinese if few else []), *guessed, *chinese, "gb18030", "cp1252", "latin-1"]


def _encoding_note(text: str, encoding: str) -> Note:
    cells = [(m.start(), m.group()) for m in re.finditer(r"[^,;\t|\r\n]*[^\x00-\x7f][^,;\t|\r\n]*", text)][:4]
    line = text.count("\n", 0, cells[0][0]) + 1 if cells else None
    if len(cells) > 3 or not cells:
        return note("encoding guessed: {encoding}, first used in line {line} ('{cell}'); choose another if that looks "
                    "wrong", "warning", line, encoding=encoding, line=line, cell=cells[0][1].strip()[:40] if cells else "")  # fmt: skip
    where = ", ".join(f"{text.count(chr(10), 0, start) + 1}: '{cell.strip()[:40]}'" for start, cell in cells)
    return note("encoding guessed: {encoding}, from very few characters (line {where}); choose another if they look "
                "wrong", "warning", line, encoding=encoding, where=where)  # fmt: skip


# ---- text and spreadsheets → grid ------------------------------------------------------------------------------------


def _grid(text: str, encoding: str, delimiter: str | None, notes: list[Note]) -> tuple[Grid, Recipe]:
    text = text.rstrip("\x1a\x00")
    told = re.match(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r)', text)
    if told:  # Excel's way of naming the delimiter; the line stays, blank, so that line numbers hold
        delimiter = told[1] if delimiter is None else delimiter
        text = text[told.end(1) :].lstrip('" \t')
    dialect = sniff(text, delimiter)
    grid = tokenize(text, dialect)
    if grid.odd:
        notes.append(note("a quote is never closed, or closes within a cell, on line {lines}: it is kept as a character",
                          "warning", grid.odd[0], lines=_lines(grid.odd)))  # fmt: skip
    if dialect.delimiter == ALIGNED:
        notes.append(note("no delimiter was found: the columns are cut where the spaces line up"))
    elif dialect.delimiter == "" and delimiter is None:
        notes.append(note("no delimiter was found: the file is read as one column", "warning"))
    elif dialect.delimiter not in (",", "\t", ";", "|") and delimiter is None:
        notes.append(note("the delimiter was guessed: '{delimiter}'", "warning", delimiter=dialect.delimiter))
    if dialect.escape:
        notes.append(note("a backslash before a quote is read as part of the notation, not of the cell"))
    if dialect.quote == "'":
        notes.append(note("cells are quoted with apostrophes; these are left out"))
    return grid, Recipe("text", encoding, dialect.delimiter, dialect.quote)


def _workbook(data: bytes, max_bytes: int) -> pd.ExcelFile | None:
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


def _sheet(book: pd.ExcelFile, sheet: str | None, notes: list[Note]) -> tuple[Grid, Recipe]:
    """One sheet as a grid of text: the first that holds anything, unless told."""
    sheets = tuple(map(str, book.sheet_names))
    if sheet is not None and sheet not in sheets:
        raise ReadError("there is no sheet '{sheet}'; the sheets are {known}", sheet=sheet,
                        known=", ".join(f"'{s}'" for s in sheets))  # fmt: skip
    for chosen in sheets if sheet is None else (sheet,):
        raw = pd.read_excel(book, sheet_name=chosen, header=None, na_filter=False, dtype=object)
        text_dialect.check_size(*raw.shape)
        cells = raw.map(_cell_text)
        filled = cells != ""
        rows = filled.any(axis=1).to_numpy()
        if rows.any():
            break
    else:
        raise ReadError("the file is empty: no sheet holds any data")
    if sheet is None and len(sheets) > 1:
        notes.append(note("the workbook has {n} sheets; '{sheet}' was read", n=len(sheets), sheet=chosen))
    used = np.flatnonzero(filled.any(axis=0).to_numpy())
    cells = cells.loc[rows, cells.columns[used[0] : used[-1] + 1]].reset_index(drop=True)
    cells.columns = pd.RangeIndex(cells.shape[1])
    widths = np.full(len(cells), cells.shape[1], dtype=np.intp)
    return Grid(cells, widths, np.flatnonzero(rows) + 1), Recipe("spreadsheet", sheet=chosen, sheets=sheets)


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


# ---- grid → table ----------------------------------------------------------------------------------------------------


def _table(
    grid: Grid, recipe: Recipe, header: int | Literal[False] | None, decimal: Mark | None,
    missing: Sequence[str] | None, typed: bool, notes: list[Note],
) -> tuple[pd.DataFrame, Recipe]:  # fmt: skip
    """Names, rows and types of the table in a grid."""
    if not len(grid.cells):
        raise ReadError("the file is empty: there is no data in it")
    found = locate(grid)
    if header is None:
        place = found
    elif header is False:
        place = text_dialect.Place(None, min(found.first, found.header or 0) if found.header is not None else found.first)
    else:
        at = np.flatnonzero(grid.lines == header)
        if not at.size:
            raise ReadError("line {line} is empty or not in the file, so it cannot hold the column names", line=header)
        place = text_dialect.Place(int(at[0]), int(at[0]) + 1)
    top = place.first if place.header is None else place.header
    if top:
        notes.append(note("lines above the table (comments, titles) that are left out: {n}, from line {line}: '{text}'", "info",
                          int(grid.lines[0]), n=top, line=int(grid.lines[0]), text=_shown(grid, 0)))  # fmt: skip
    for i in place.units:
        notes.append(note("line {line} is left out of the rows: it seems to hold units or a second header ('{text}'); if "
                          "it is data, choose header={header}", "warning", int(grid.lines[i]), line=int(grid.lines[i]),
                          text=_shown(grid, i), header=int(grid.lines[place.header or 0])))  # fmt: skip
    cells, widths, lines = _rows(grid, place, notes)
    if not len(cells):
        raise ReadError("the file has a header, but no rows: there is no data in it")
    names = [] if place.header is None else [str(c) for c in grid.cells.iloc[place.header, : grid.widths[place.header]]]
    if place.header is None and header is None:
        notes.append(note("no header was found: the first row is data, and the columns are called column_1, column_2, …",
                          "warning", int(lines[0])))  # fmt: skip
    usual = int(np.bincount(widths).argmax())
    if names and len(names) == usual - 1 and cells[0].is_unique and (widths == usual).all():
        notes.append(note("the header has one name fewer than the rows have cells: the first column holds row names, "
                          "called 'row'", "warning"))  # fmt: skip
        names = ["row", *names]
    width = max(len(names), usual)
    cells = _fit(cells, widths, lines, width, len(names), names, notes, recipe.delimiter)
    names += [""] * (width - len(names))
    blank = [j for j in range(width) if not names[j].strip() and place.header is not None and cells[j].eq("").all()]
    if blank:
        notes.append(note("columns without name and content that are left out: {n}", n=len(blank)))
    extra = ["extra"] if cells.shape[1] > width else []
    cells = cells.drop(columns=blank)
    kept = [names[j] for j in range(width) if j not in blank]
    cells.columns = pd.Index(unique_names(kept + extra, notes, header=place.header is not None))
    frame, mark = cells.reset_index(drop=True), decimal or "."
    if typed:
        frame, told, mark = convert(frame, decimal, missing)
        notes.extend(told)
    return frame, replace(
        recipe,
        decimal=mark,
        header=int(grid.lines[place.header]) if place.header is not None else False,
        missing=None if missing is None else tuple(missing),
    )


def _rows(grid: Grid, place: text_dialect.Place, notes: list[Note]) -> tuple[pd.DataFrame, Any, Any]:
    """The data records: without empty ones at the end, a footer, and repetitions of the header."""
    first, n = place.first, len(grid.cells)
    keep = np.ones(n, dtype=bool)
    keep[:first] = False
    usual = int(np.bincount(grid.widths[first:]).argmax()) if first < n else 1

    def filled(i: int) -> int:
        return int((grid.cells.iloc[i].str.strip() != "").sum())

    last = n
    while last > first and grid.cells.iat[last - 1, 0] == "" and filled(last - 1) == 0:
        last -= 1
    if last < n and last > first:
        keep[last:] = False
        notes.append(note("empty rows at the end that are left out: {n}", n=n - last))
    end = last
    while usual >= 3 and end > first + 1 and end > last - 20 and filled(end - 1) == 1 and grid.cells.iat[end - 1, 0]:
        end -= 1
    gap = end < last and (grid.lines[end] - grid.lines[end - 1] > 1 or str(grid.cells.iat[end, 0]).startswith("#"))
    if gap:
        keep[end:last] = False
        line = int(grid.lines[end])
        notes.append(note("lines below the table left out as a footer: {n}, from line {line}: '{text}'", "warning", line,
                          n=last - end, line=line, text=_shown(grid, end)))  # fmt: skip
    if place.header is not None:
        names = grid.cells.iloc[place.header]
        again = [i for i in np.flatnonzero(keep & (grid.cells[0] == names[0]).to_numpy())
                 if (grid.cells.iloc[int(i)] == names).all()]  # fmt: skip
        if again and (names != "").sum() > 1:
            keep[again] = False
            notes.append(note("the header is repeated on line {lines}: left out", "warning", int(grid.lines[again[0]]),
                              lines=_lines(grid.lines[again])))  # fmt: skip
    return grid.cells[keep], grid.widths[keep], grid.lines[keep]


def _fit(cells: pd.DataFrame, widths: Any, lines: Any, width: int, named: int, names: list[str], notes: list[Note],
         delimiter: str) -> pd.DataFrame:  # fmt: skip
    """`cells` with exactly `width` columns, plus one that keeps whatever longer rows have beyond."""
    beyond = cells.iloc[:, width:]
    cells = cells.iloc[:, :width].copy()
    for j in range(cells.shape[1], width):
        cells[j] = ""
    if named and named < width:
        notes.append(note("the header has {named} names for {width} columns; the others are called by their number",
                          "warning", named=named, width=width))  # fmt: skip
    short = widths < width
    if short.all():
        notes.append(note("the header has {named} names, but no row has more than {cells} cells: the last columns are "
                          "empty", "warning", named=named, cells=int(widths.max())))  # fmt: skip
    elif short.any():
        notes.append(note("rows with fewer fields than the header: {n} (line {lines}); the cells that are not there are "
                          "missing", "warning", int(lines[short][0]), n=int(short.sum()), lines=_lines(lines[short])))  # fmt: skip
    if not beyond.shape[1]:
        return cells
    joined = pd.Series("", index=cells.index, dtype=object)
    long = widths > width
    told = beyond[long].agg(lambda row: (delimiter or " ").join(map(str, row)).rstrip(delimiter or " "), axis=1)
    joined[long] = told
    if (joined == "").all():
        if long.any():
            notes.append(note("rows that end with a delimiter too many: {n} (line {lines}); nothing is lost", n=int(long.sum()),
                              lines=_lines(lines[long])))  # fmt: skip
        return cells
    cells[width] = joined
    notes.append(note("rows with more fields than the header: {n} (line {lines}); what is beyond is in the column 'extra': "
                      "check whether these rows are shifted", "warning", int(lines[long][0]), n=int(long.sum()),
                      lines=_lines(lines[long])))  # fmt: skip
    return cells


_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def unique_names(names: Sequence[str], notes: list[Note], header: bool = True) -> list[str]:
    """Column names without invisible characters, in one Unicode form, none empty, none twice.

    >>> unique_names(["a", "", "a", "e\\u0301"], []) == ["a", "column_2", "a_2", "\\u00e9"]
    True
    """
    taken: set[str] = set()
    result: list[str] = []
    for j, original in enumerate(names, start=1):
        plain = original.strip()
        seen = _INVISIBLE.sub("", plain)
        if seen.isascii() is False and re.sub("[\u200c\u200d]", "", seen).isascii():
            seen = re.sub("[\u200c\u200d]", "", seen)  # joiners mean something in Persian or Hindi, not in ASCII
        seen = unicodedata.normalize("NFC", seen.replace("\u00a0", " ")).strip()
        if seen != plain:
            notes.append(note("the name of column {number}, '{column}', held invisible characters or unusual forms of "
                              "letters; they are replaced, so that other files match", "warning", number=j, column=seen))  # fmt: skip
        if len(seen) > MAX_NAME:
            seen = seen[:MAX_NAME]
            notes.append(note("the name of column {number} is longer than {most} characters and was cut: '{column}'",
                              "warning", number=j, most=MAX_NAME, column=seen))  # fmt: skip
        unique = seen or f"column_{j}"
        k = 2
        while unique in taken or (k > 2 and unique in names):
            unique, k = f"{seen or 'column'}_{k}", k + 1
        if header and not seen:
            notes.append(note("column {number} has no name: it is called '{column}'", "warning", number=j, column=unique))
        elif unique != seen and seen:
            notes.append(note("two columns have the same name '{name}' (or one that looks the same); column {number} is "
                              "called '{column}'", "warning", name=seen, number=j, column=unique))  # fmt: skip
        taken.add(unique)
        result.append(unique)
    return result


def _lines(lines: Sequence[int] | Any) -> str:
    shown = ", ".join(str(int(line)) for line in lines[:5])
    return shown if len(lines) <= 5 else shown + ", …"


def _shown(grid: Grid, i: int) -> str:
    text = " ".join(str(c) for c in grid.cells.iloc[i, : grid.widths[i]] if c)
    return text if len(text) <= 60 else text[:59] + "…"


def _written(column: pd.Series) -> pd.Series:
    """A column as text: a format that brings its types writes its cells as a spreadsheet's are."""
    if pd.api.types.is_string_dtype(column.dtype) and not column.hasnans:
        return column
    return column.astype(object).where(column.notna(), "").map(_cell_text)


# ---- formats that bring their types ----------------------------------------------------------------------------------


def _parquet(data: bytes, max_bytes: int, notes: list[Note]) -> pd.DataFrame:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ReadError("reading Parquet needs pyarrow: pip install pyarrow, or save the table as CSV") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        text_dialect.check_size(file.metadata.num_rows, file.metadata.num_columns)
        size = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        if size > 8 * max_bytes:
            raise ReadError("the Parquet file unpacks to more than {most} MB", most=8 * max_bytes // 1_000_000)
        frame: pd.DataFrame = file.read().to_pandas()
    except ReadError:
        raise
    except Exception as error:  # noqa: BLE001 - pyarrow's errors share no public base with its I/O errors
        raise ReadError("the Parquet file is damaged: {reason}; write it again", reason=str(error)[:200]) from None
    if not len(frame) or not frame.shape[1]:
        raise ReadError("the file is empty: there is no data in it")
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    frame.columns = pd.Index(unique_names([str(c) for c in frame.columns], notes))
    for name in frame.columns:
        kind = frame[name].dtype
        if isinstance(kind, pd.CategoricalDtype) or kind.kind in "biufM" and isinstance(kind, np.dtype):
            continue
        if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
            frame[name] = frame[name].astype(float)
        elif not pd.api.types.is_datetime64_any_dtype(kind) and pd.api.types.infer_dtype(frame[name], skipna=True) != "string":
            frame[name] = frame[name].where(frame[name].notna(), None).map(str, na_action="ignore").astype("str")
            notes.append(note("column '{column}' ({kind}) is shown as text", "warning", column=name, kind=str(kind)))
    return frame


def _arff(text: str) -> pd.DataFrame:
    """Weka's format: nominal columns keep their declared levels and order; '?' is missing; sparse rows are filled."""
    head = re.split(r"^\s*@data\b[^\n]*$", text, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)
    start = len(text[: len(text) - len(head[1])].splitlines())
    word = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+)"""
    attribute = rf"^[ \t]*@attribute[ \t]+(?:{word})[ \t]*(\{{[^\n]*\}}|\w+)"
    found = re.findall(attribute, head[0], flags=re.IGNORECASE | re.MULTILINE)
    if not found:
        raise ReadError("the ARFF file declares no @attribute; write it again")
    names = unique_names([re.sub(r"\\(.)", r"\1", a or b or c) for a, b, c, _ in found], [])
    kinds = [kind for *_, kind in found]
    levels = [_arff_cells(k[1:-1]) if k.startswith("{") else None for k in kinds]
    rows = []
    for line, row in enumerate(head[1].splitlines(), start=start):
        if not row.strip() or row.lstrip().startswith("%"):
            continue
        if row.lstrip().startswith("{"):
            cells = [level[0] if level else "0" for level in levels]
            for index, _, value in (pair.strip().partition(" ") for pair in row.strip()[1:-1].split(",") if pair.strip()):
                if not index.isdigit() or int(index) >= len(names):
                    raise ReadError("line {line} of the ARFF data names column '{index}', which is not declared",
                                    line=line, index=index)  # fmt: skip
                cells[int(index)] = value.strip().strip("'\"")
        else:
            cells = _arff_cells(row)
        if len(cells) != len(names):
            raise ReadError("line {line} of the ARFF data has {n} cells for {width} attributes; mend the line", line=line,
                            n=len(cells), width=len(names))  # fmt: skip
        rows.append(cells)
    if not rows:
        raise ReadError("the file has a header, but no rows: there is no data in it")
    columns: dict[str, pd.Series] = {}
    for name, kind, level, values in zip(names, kinds, levels, zip(*rows, strict=True), strict=True):
        column = pd.Series(list(values), name=name, dtype=object)
        if level is not None:
            strange = column[~column.isin([*level, "?"])]
            if len(strange):
                raise ReadError("column '{column}' holds '{value}', which is not among its declared levels", column=name,
                                value=str(strange.iloc[0]))  # fmt: skip
            columns[name] = pd.Series(pd.Categorical(column.where(column != "?", None), categories=level))
        elif kind.lower() in ("numeric", "real", "integer"):
            numbers = convert_column(column, ".", ("?",)).values
            if not pd.api.types.is_numeric_dtype(numbers.dtype):
                raise ReadError("column '{column}' is declared {kind}, but holds text", column=name, kind=kind)
            columns[name] = numbers
        else:
            columns[name] = column.where(column != "?", None).astype("str")
    return pd.DataFrame(columns)


_ARFF_CELL = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(,|$)""")


def _arff_cells(row: str) -> list[str]:
    cells = []
    for match in _ARFF_CELL.finditer(row):
        cells.append(re.sub(r"\\(.)", r"\1", match[1] or match[2] or match[3] or ""))
        if not match[4]:
            break
    return cells
