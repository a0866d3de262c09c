"""Workbooks: xlsx, xlsb, xls and ods. calamine reads a sheet as a whole; one of xlsx that is long is handed to it in
slices, each of them a workbook of some of its rows, so that no more than one of these is held."""

from __future__ import annotations

import importlib
import io
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import compress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, unescape

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.grid import Grid, check_size
from bayes_engine.table.notes import Note, note, offer
from bayes_engine.table.parquet_arff import cell_text

SPREAD = (2_000_000, 8, 20_000_000)
"""Cells, empty ones too, from the corner of a sheet to its farthest cell, up to which it is opened: always; for every
byte of the file; at most."""
UNPACKED = (8, 16)
"""How many times the bytes that a file may have its parts may: those that are held whole; all with the sheets of xlsx,
which are not."""
SLICE = 1 << 21
"""Bytes of a sheet of xlsx up to which it is read whole; else in slices of as many."""
SHARE = 8
"""A slice is no smaller than this part of what a workbook holds beside its sheets, which is read again with each."""
ROWS = 20_000
"""So many rows are made text at a time."""
_READ = 1 << 20
_CELL = 1 << 16
"""Bytes, at most, from the beginning of a cell to where its value ends, but for a text."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, ValueError, EOFError)
"""What reading a part of a damaged zip archive may raise."""
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,7})["']""")
_ROW = re.compile(rb"""<(?:[\w.-]+:)?row\b(?:[^<>]*?\sr\s*+=\s*+["'](\d++))?""")
_BEGIN = re.compile(rb"<([\w.-]+:)?sheetData\b[^<>]*+(?<!/)>")
_NO_TAG = re.compile(rb"<!|<\?(?!xml\b)")
"""Where XML may hold what looks like a tag: in a comment, a CDATA section, a processing instruction."""
_ERROR = re.compile(rb'<c\b[^<>]*?\bt="e"')
_MERGED = re.compile(rb'<mergeCell\b[^<>]*?\bref="([A-Z]++)(\d++):[A-Z]++(\d++)"')
_HIDDEN_ROW = re.compile(rb"""<row\b[^<>]{0,400}?\shidden=["'](?:1|true)["'][^<>]{0,400}+(?<!/)>""")
_COLUMNS = re.compile(rb"""<col\b([^<>]{0,400}?\shidden=["'](?:1|true)["'][^<>]{0,400}+)>""")
_RANGE = re.compile(rb"""\s(min|max)=["'](\d{1,7})["']""")
_NO_RESULT = re.compile(rb"(?:</f>|<f\b[^<>]*+(?<=/)>)\s*+(?:<v\s*+/>|<v></v>)?\s*+</c>")
_CALLED = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>%s</t></is></c></row></sheetData></worksheet>"""
_FRAME = (".", "_rels", "xl", "xl/_rels")
"""The folders of the parts that a workbook cannot be without, but for its sheets."""
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


_Slice = tuple[int, int, list[list[Any]], int]
"""Rows of a sheet: how many are above, how many columns before, their cells, and how many cells merged over several
rows begin in them."""


class SheetRows(NamedTuple):
    """Some rows of a sheet that hold anything: their cells as text, column by column; the lines they are in; and how
    many cells each has up to its last that is not empty."""

    columns: list[Sequence[str]]
    lines: NDArray[np.intp]
    reach: NDArray[np.intp]

    @property
    def left(self) -> int:
        """The first column that holds anything."""
        return next(j for j, column in enumerate(self.columns) if any(column))


class Sheet:
    """The rows of a sheet that hold anything, block by block, to be gone through once. How many there are, from which
    column up to which they hold anything, and what is to be said of them is told of those that were read."""

    def __init__(self, name: str, slices: Iterator[_Slice], padded: Mapping[int, int] = MappingProxyType({})) -> None:
        self.name, self.n, self.left, self.right = name, 0, sys.maxsize, 0
        self._padded, self._zeros = padded, dict[int, tuple[str, str]]()
        self._merged = 0
        self._long, self._first_long = 0, (0, 0, "")
        self._ahead: list[SheetRows] = []
        self._rest = self._blocks(slices)

    def __iter__(self) -> Iterator[SheetRows]:
        while self._ahead:
            yield self._ahead.pop(0)
        yield from self._rest

    def worth(self, hidden: bool) -> int:
        """2 for two rows and columns or more, 1 for two rows (or where it is hidden), 0 for anything, -1 for nothing;
        no more is read than tells it."""
        while self.n < 2 or (self.right - self.left < 2 and not hidden):
            block = next(self._rest, None)
            if block is None:
                break
            self._ahead.append(block)
        return -1 if not self.n else int(self.n > 1) * (1 + int(self.right - self.left > 1 and not hidden))

    def notes(self) -> list[Note]:
        """What is to be said of the rows."""
        notes = []
        if self._merged:
            notes.append(note("cells merged over several rows: {n}; each of these rows has the value of its cell",
                              "warning", n=self._merged))  # fmt: skip
        if self._zeros:
            number, shown = next(iter(self._zeros.values()))
            notes.append(note("columns whose numbers have leading zeros by their number format: {n}; they are read as "
                              "they are shown ('{number}' as '{shown}')", "warning", n=len(self._zeros), number=number,
                              shown=shown))  # fmt: skip
        if not self._long:
            return notes
        line, _column, value = self._first_long
        long = note("numbers of more digits than a spreadsheet keeps: {n}, the first in line {line} ('{value}'); their "
                    "last digits may be lost: enter them there as text", "warning", line, n=self._long, line=line,
                    value=value)  # fmt: skip
        return [*notes, long]

    def grid(self) -> Grid:
        """All the rows, from the first column that holds anything to the last."""
        parts, lines = list[list[pd.Series]](), list[NDArray[np.intp]]()
        for block in self:
            parts.append([pd.Series(column, dtype="str") for column in block.columns])
            lines.append(block.lines)
        columns = []
        for j in range(self.left, self.right):
            filled = (part[j] if j < len(part) else pd.Series([""] * len(part[0]), dtype="str") for part in parts)
            columns.append(pd.concat(filled, ignore_index=True))
        widths = np.full(self.n, len(columns), dtype=np.intp)
        return Grid(pd.DataFrame(dict(enumerate(columns))), widths, np.concatenate(lines))

    def _blocks(self, slices: Iterator[_Slice]) -> Iterator[SheetRows]:
        for top, before, values, merged in slices:
            self._merged += merged
            check_size(top + len(values), before + len(values[0]))
            for start in range(0, len(values), ROWS):
                if start:
                    tick(start, len(values))
                some = values[start : start + ROWS]
                lines = np.arange(top + start, top + start + len(some)) + 1
                columns: list[Sequence[str]] = [[""] * len(some)] * before
                reach = np.zeros(len(some), dtype=np.intp)
                for j, cells in enumerate(zip(*some, strict=True), start=before):
                    columns.append(texts := self._texts(cells, j, lines))
                    reach[np.fromiter(map(bool, texts), dtype=bool, count=len(texts))] = j + 1
                if not reach.any():
                    continue
                if not reach.all():
                    columns = [list(compress(column, reach)) for column in columns]
                    lines, reach = lines[reach > 0], reach[reach > 0]
                block = SheetRows(columns, lines, reach)
                self.n += len(lines)
                self.left, self.right = min(self.left, block.left), max(self.right, int(reach.max()))
                yield block

    def _texts(self, cells: Sequence[Any], j: int, lines: NDArray[np.intp]) -> Sequence[str]:
        """The cells of a column, the j-th, as text, with the zeros that their number format puts before them."""
        texts = self._as_stored(cells, j, lines)
        if not (digits := self._padded.get(j)):
            return texts
        shown = [text.zfill(digits) if text.isdecimal() else text for text in texts]
        if j not in self._zeros and (
            first := next((pair for pair in zip(texts, shown, strict=True) if pair[0] != pair[1]), None)
        ):
            self._zeros[j] = first
        return shown

    def _as_stored(self, cells: Sequence[Any], j: int, lines: NDArray[np.intp]) -> Sequence[str]:
        kinds = set(map(type, cells))
        if kinds == {str}:
            return cells
        numbers = np.array([v if type(v) in (float, int) else 0.0 for v in cells] if kinds != {float} else cells, float)
        long = np.flatnonzero(np.abs(numbers) >= 2.0**53)
        if long.size:
            first = int(lines[long[0]]), j, _text(cells[long[0]])
            self._first_long = min(self._first_long, first) if self._long else first
            self._long += long.size
        elif kinds == {float} and (numbers == np.rint(numbers)).all():
            return list(map(str, numbers.astype(np.int64).tolist()))
        return [v if type(v) is str else _text(v) for v in cells]


def _text(value: Any) -> str:
    """A cell as a CSV file would hold it. All numbers of a sheet are floating: 3 comes as 3.0."""
    if type(value) is not float or value != value:
        return cell_text(value)
    return str(int(value)) if value.is_integer() else repr(value)


class _Merged(NamedTuple):
    """A cell merged over rows, counted from 0: where it begins, and its last row."""

    row: int
    column: int
    last: int


class _Marks(NamedTuple):
    """What the parts of an xlsx file tell without being read as sheets: how many cells there are up to the farthest one
    that any of them names; how many hold an error, or a formula without a result; how many rows and columns are hidden;
    which cells of each long sheet are merged over several rows; how these sheets begin, up to their rows, that may be
    read in slices; and the digits that each column of a sheet (by its name) shows at least, with zeros before them."""

    spread: int = 0
    hidden_rows: int = 0
    hidden_columns: int = 0
    errors: int = 0
    formulas: int = 0
    heads: Mapping[str, bytes] = MappingProxyType({})
    merged: Mapping[str, Sequence[_Merged]] = MappingProxyType({})
    padded: Mapping[str, Mapping[int, int]] = MappingProxyType({})


@dataclass(frozen=True)
class Workbook:
    """The names of the sheets of a workbook, those of them that a spreadsheet program does not show, and a way to each:
    `slices` of it, or None for a sheet that is read from the `whole`."""

    sheets: tuple[str, ...]
    hidden: frozenset[str]
    _marks: _Marks
    _whole: Callable[[], Any]
    _slices: Callable[[str], tuple[Iterator[Any], Sequence[_Merged]] | None]

    def pick(self, sheet: str | None, notes: list[Note]) -> Sheet:
        """One sheet: the first of two rows and columns and more, unless told; else of two rows; else the first that
        holds anything."""
        if sheet is not None and sheet not in self.sheets:
            raise ReadError("there is no sheet '{sheet}'; the sheets are {known}", sheet=sheet,
                            known=", ".join(f"'{s}'" for s in self.sheets))  # fmt: skip
        best, most = None, -1
        in_turn = sorted(self.sheets, key=self.hidden.__contains__)
        for name in in_turn if sheet is None else (sheet,):
            rows = Sheet(name, self._values(name), self._marks.padded.get(name, {}))
            if (worth := rows.worth(name in self.hidden)) > most:
                best, most = rows, worth
            if most == 2:
                break
        if best is None:
            raise ReadError("the file is empty: no sheet holds any data")
        if sheet is None and len(self.sheets) > 1:
            others = [other for other in in_turn if other != best.name][:4]
            notes.append(note("the workbook has {n} sheets; '{sheet}' was read", n=len(self.sheets), sheet=best.name)
                         .offering(*(offer("Read '{sheet}'", "sheet", o, sheet=o) for o in others)))  # fmt: skip
        return best

    def notes(self) -> list[Note]:
        """What its cells hold instead of values: errors, and formulas of which no result was stored; and what a
        spreadsheet program does not show of them."""
        notes, marks = [], self._marks
        if marks.hidden_rows or marks.hidden_columns:
            notes.append(note("the workbook has hidden rows: {rows}, and hidden columns: {columns} (by hand or by a "
                              "filter); they are read as the others are", "warning", rows=marks.hidden_rows,
                              columns=marks.hidden_columns))  # fmt: skip
        if marks.errors:
            notes.append(note("the workbook holds cells with an error such as #DIV/0!, read as missing: {n}", "warning",
                              n=marks.errors))  # fmt: skip
        if marks.formulas:
            notes.append(note("the workbook holds formulas of which no result is stored, read as missing: {n}; open it "
                              "in a spreadsheet program and save it again", "warning", n=marks.formulas))  # fmt: skip
        return notes

    def _values(self, name: str) -> Iterator[_Slice]:
        """The rows of a sheet slice by slice; of cells merged over several rows each has the value."""
        below, values_of = 0, dict[_Merged, Any]()
        try:
            books, merged = self._slices(name) or ((self._whole(),), None)
            for book in books:
                sheet = book.get_sheet_by_name(name)
                if merged is None:
                    ranges = sheet.merged_cell_ranges or ()
                    merged = [_Merged(a, b, c) for (a, b), (c, _) in ranges if c > a]
                if sheet.start is None:
                    continue
                top, before = sheet.start
                if top < below:
                    raise ReadError("the rows of sheet '{sheet}' are not in their order; save the spreadsheet again, "
                                    "or the sheet as CSV", sheet=name)  # fmt: skip
                values = sheet.to_python(skip_empty_area=True)
                below = top + len(values)
                del sheet, book
                yield top, before, values, _fill(values, top, before, merged, values_of)
        except ReadError:
            raise
        except Exception as error:  # noqa: BLE001 - calamine's own errors share no public base
            raise ReadError("sheet '{sheet}' is damaged ({reason}); save the spreadsheet again, or the sheet as CSV",
                            sheet=name, reason=str(error)[:200]) from None  # fmt: skip


def _fill(
    values: list[list[Any]], top: int, before: int, merged: Sequence[_Merged], values_of: dict[_Merged, Any]
) -> int:
    """Gives every row of merged cells the value of the first, which may be in a slice before; how many begin here."""
    n = 0
    for cell in merged:
        j = cell.column - before
        first, last = max(cell.row, top) - top, min(cell.last + 1 - top, len(values))
        if first >= last or not 0 <= j < len(values[0]):
            continue
        if cell.row >= top and values[first][j] not in ("", None):
            values_of[cell] = values[first][j]
            n += 1
        if cell in values_of:
            for row in values[first:last]:
                row[j] = values_of[cell]
    return n


def workbook(data: bytes, max_bytes: int) -> Workbook | None:
    """The workbook in the bytes, None where they are none. Raises ReadError on a damaged or protected one."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OSError):
            raise ReadError("the file is a damaged zip archive or spreadsheet; save it again") from None
        if not any(p.filename in ("xl/workbook.xml", "xl/workbook.bin", "content.xml") for p in parts):
            return None
        held = sum(p.file_size for p in parts if not _is_sheet(p.filename))
        for size, most in zip((held, sum(p.file_size for p in parts)), UNPACKED, strict=True):
            if size > most * max_bytes:
                raise ReadError("the spreadsheet unpacks to more than {most} MB; save the one sheet you need as CSV",
                                most=most * max_bytes // 1_000_000)  # fmt: skip
    elif not data.startswith(b"\xd0\xcf\x11\xe0"):
        return None
    marks = _marked(data) if b"xl/workbook.xml" in data else _Marks()
    _refuse_spread(data, marks.spread)
    whole = cache(partial(_opened, data))
    try:
        frame, book, places = _framed(data, marks.heads) if marks.heads else (b"", None, {})
        book = book or whole()
        shown = importlib.import_module("python_calamine").SheetTypeEnum.WorkSheet
        sheets = [(str(sheet.name), str(sheet.visible)) for sheet in book.sheets_metadata if sheet.typ == shown]
    except ImportError:
        raise ReadError("reading a spreadsheet needs python-calamine: pip install python-calamine") from None
    except Exception as error:  # noqa: BLE001 - calamine's own errors share no public base
        raise ReadError(
            "the file looks like a spreadsheet but cannot be read ({reason}); if it is protected by a password, remove "
            "that, or save the sheet as CSV",
            reason=str(error)[:200],
        ) from None

    def slices(name: str) -> tuple[Iterator[Any], Sequence[_Merged]] | None:
        part = places.get(name)
        return None if part is None else (_sliced(data, frame, part, marks.heads[part]), marks.merged.get(part, ()))

    hidden = frozenset(name for name, seen in sheets if "visible" not in seen.lower().split(".")[-1])
    return Workbook(tuple(name for name, _ in sheets), hidden, marks, whole, slices)


def _opened(data: bytes) -> Any:
    return importlib.import_module("python_calamine").load_workbook(io.BytesIO(data))


def _is_sheet(part: str) -> bool:
    return part.startswith("xl/worksheets/") and part.endswith(".xml")


# ---- the parts of an xlsx file ---------------------------------------------------------------------------------------


def _refuse_spread(data: bytes, spread: int) -> None:
    """Raises ReadError where a cell far from the others would make a table of a size that no memory holds."""
    always, each, most = SPREAD
    limit = min(most, max(always, each * len(data)))
    if b"xl/workbook.xml" in data and spread <= limit:
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


def _marked(data: bytes) -> _Marks:
    """What the parts tell; none of them is held whole."""
    columns: set[bytes] = set()
    last = errors = formulas = hidden = 0
    hidden_columns, merged = set[tuple[str, int, int]](), dict[str, list[_Merged]]()
    heads: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        padded = _padded(archive)
        for part in archive.infolist():
            is_sheet, tags_alone = _is_sheet(part.filename), True
            try:
                for text, end in _stretches(archive, part):
                    references = _REFERENCE.findall(text)
                    columns.update(column for column, _row in references)
                    last = max(last, *(int(row) for _column, row in references), 0)
                    if is_sheet:
                        errors += len(_ERROR.findall(text, 0, end))
                        cells = merged.setdefault(part.filename, [])
                        cells += [_Merged(int(row) - 1, _number(column) - 1, int(to) - 1)
                                  for column, row, to in _MERGED.findall(text, 0, end) if to != row]  # fmt: skip
                        hidden += len(_HIDDEN_ROW.findall(text, 0, end))
                        for tag in _COLUMNS.findall(text, 0, end):
                            place = dict(_RANGE.findall(tag))
                            if len(place) == 2:
                                hidden_columns.add((part.filename, int(place[b"min"]), int(place[b"max"])))
                        formulas += len(_NO_RESULT.findall(text, 0, end))
                        tags_alone = tags_alone and not _NO_TAG.search(text)
                if is_sheet and tags_alone and part.file_size > SLICE and (head := _head(archive, part)):
                    heads[part.filename] = head
            except _DAMAGED:
                continue  # said where it is opened, if it is
    widest = max((_number(column) for column in columns), default=0)
    aside = sum(max(min(b, widest) - a + 1, 0) for _part, a, b in hidden_columns)
    return _Marks(max(widest, 1) * last, hidden, aside, errors, formulas, heads, merged, padded)


_ZEROS = re.compile(rb"""<numFmt\b(?=[^<>]*?\bnumFmtId="(\d++)")(?=[^<>]*?\bformatCode="(0{2,15}+)")""")
_STYLE_OF = re.compile(rb"""<xf\b[^<>]*?\bnumFmtId="(\d++)\"""")
_CELL_TAG = re.compile(rb"<c\b([^<>]*+)(?<!/)>")
_ATTRIBUTE = re.compile(rb"""\b(r|s|t)="([^"]{0,20}+)\"""")
_LINKED = re.compile(rb"""<Relationship\b(?=[^<>]*?\bId="([^"]*+)")(?=[^<>]*?\bTarget="/?(?:xl/)?([^"]*+)")""")
_NAMED = re.compile(rb"""<sheet\b(?=[^<>]*?\bname="([^"]*+)")(?=[^<>]*?\br:id="([^"]*+)")""")


def _padded(archive: zipfile.ZipFile) -> dict[str, dict[int, int]]:
    """By the name of a sheet, the columns all of whose numbers have one number format of zeros alone (00000), and how
    many digits that shows at least. calamine tells no formats."""
    try:
        styles, book, links = (_small(archive, f"xl/{part}") for part in
                               ("styles.xml", "workbook.xml", "_rels/workbook.xml.rels"))  # fmt: skip
        formats = {number: len(code) for number, code in _ZEROS.findall(styles)}
        begin = styles.find(b"<cellXfs")
        if not formats or begin < 0:
            return {}
        table = styles[begin : styles.find(b"</cellXfs>", begin)]
        digits = [formats.get(number, 0) for number in _STYLE_OF.findall(table)]
        parts = {key: f"xl/{target.decode()}" for key, target in _LINKED.findall(links)}
        found = {}
        for name, key in _NAMED.findall(book):
            if key in parts and any(digits) and (columns := _zeros_of(archive, parts[key], digits)):
                found[unescape(name.decode())] = columns
        return found
    except (KeyError, *_DAMAGED):
        return {}


def _small(archive: zipfile.ZipFile, part: str) -> bytes:
    """A part of a few megabytes at most; nothing of a longer one."""
    return archive.read(part) if archive.getinfo(part).file_size <= SLICE else b""


def _zeros_of(archive: zipfile.ZipFile, part: str, digits: Sequence[int]) -> dict[int, int]:
    """The columns of a sheet, counted from 0, all of whose numbers show so many digits at least (by their styles)."""
    columns = dict[int, set[int]]()
    for text, end in _stretches(archive, archive.getinfo(part)):
        for tag in _CELL_TAG.findall(text, 0, end):
            told = dict(_ATTRIBUTE.findall(tag))
            if told.get(b"t", b"n") == b"n" and b"r" in told:
                style = int(told.get(b"s", b"0"))
                column = _number(told[b"r"].rstrip(b"0123456789")) - 1
                columns.setdefault(column, set()).add(digits[style] if style < len(digits) else 0)
    return {column: shown.pop() for column, shown in columns.items() if len(shown) == 1 and 0 not in shown}


def _stretches(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[tuple[bytes, int]]:
    """A part stretch by stretch, and where each ends: what is behind that, a cell that may not be whole, or the first
    half of something, begins the next one."""
    with archive.open(part) as file:
        text = b""
        while piece := file.read(_READ):
            text += piece
            end = max(text.rfind(b"<c "), text.rfind(b"<c>"), text.rfind(b"<mergeCell "), len(text) - _CELL, 0)
            yield text, end
            text = text[end:]
        yield text, len(text)


def _number(column: bytes) -> int:
    """A column's number from its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in column.upper():
        number = 26 * number + letter - 64
    return number


# ---- a long sheet of xlsx --------------------------------------------------------------------------------------------


def _head(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """A sheet up to its rows; nothing where it has none near its beginning, in an encoding that keeps ASCII."""
    with archive.open(part) as file:
        text = file.read(_READ)
    match = _BEGIN.search(text)
    return text[: match.end()] if match else b""


def _framed(data: bytes, parts: Iterable[str]) -> tuple[bytes, Any, dict[str, str]]:
    """A workbook without its sheets, the same opened, and in which of the parts its sheets are: calamine itself tells,
    being given sheets that hold the name of their part. None and nothing where it cannot be opened so."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as kept:
        for part in dict.fromkeys(archive.namelist()):
            if str(PurePosixPath(part).parent) in _FRAME and part.endswith((".xml", ".rels")):
                with archive.open(part) as source, kept.open(part, "w") as target:
                    shutil.copyfileobj(source, target)
    frame = out.getvalue()
    called = {part: _CALLED % escape(part) for part in parts}
    try:
        book = _opened(_with(frame, called))
    except Exception:  # noqa: BLE001 - calamine's own errors share no public base
        return frame, None, {}
    places = {}
    for name in book.sheet_names:
        try:
            ((part,),) = book.get_sheet_by_name(name).to_python()
        except Exception:  # noqa: BLE001 - a short sheet, which is not there
            continue
        places[name] = part
    return frame, book, places


def _with(frame: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """The workbook of this frame with these sheets."""
    out = io.BytesIO(frame)
    with zipfile.ZipFile(out, "a") as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return out.getvalue()


def _sliced(data: bytes, frame: bytes, part: str, head: bytes) -> Iterator[Any]:
    """Workbooks of some rows of one sheet each, opened: it is cut behind ends of rows, which nothing else in it looks
    like. A first, empty row says to those without a number which ones they are."""
    prefix = _BEGIN.findall(head)[-1]
    ends, close = b"</%brow>" % prefix, b"</%bsheetData>" % prefix
    with zipfile.ZipFile(io.BytesIO(frame)) as archive:
        step = max(SLICE, sum(p.file_size for p in archive.infolist()) // SHARE, 1)
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(part) as file:
        size, position, last, rest, closed = archive.getinfo(part).file_size, len(head), 0, b"", False
        file.read(position)
        while not closed and (piece := file.read(step)):
            tick(position, size)
            position += len(piece)
            rest += piece
            closed = (end := rest.find(close)) >= 0
            if not closed and (end := rest.rfind(ends) + len(ends)) < len(ends):
                continue
            rows, rest = rest[:end], rest[end:]
            yield _opened(_with(frame, {part: b"%b%b%b</%bworksheet>" % (head, rows, close, prefix)}))
            last = _last(rows, last)
            rest = b'<%brow r="%d"/>%b' % (prefix, last, rest)
        if not closed:
            yield _opened(_with(frame, {part: head + rest}))  # how else it ends, or that it does not


def _last(rows: bytes, before: int) -> int:
    """The number of the last row, where those without one follow upon the one before."""
    numbers = _ROW.findall(rows)
    behind = next((k for k, number in enumerate(reversed(numbers)) if number), None)
    return before + len(numbers) if behind is None else int(numbers[-1 - behind]) + behind
