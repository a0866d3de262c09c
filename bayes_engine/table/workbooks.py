"""Workbooks: xlsx, xlsb, xls and ods. calamine reads a sheet as a whole; one of xlsx that is long is handed to it in
slices (`xlsx_parts`), so that no more than one of these is held."""

from __future__ import annotations

import importlib
import io
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import compress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.grid import Grid, check_size
from bayes_engine.table.notes import Note, note, offer
from bayes_engine.table.parquet_arff import cell_text
from bayes_engine.table.xlsx_parts import (
    MergedCell,
    XlsxMarks,
    framed,
    is_sheet_part,
    marks_of,
    open_workbook,
    refuse_spread,
    sliced,
)

UNPACKED = (8, 16)
"""How many times the bytes that a file may have its parts may: those that are held whole; all with the sheets of xlsx,
which are not."""
ROWS = 20_000
"""So many rows are made text at a time."""


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


@dataclass(frozen=True)
class Workbook:
    """The names of the sheets of a workbook, those of them that a spreadsheet program does not show, and a way to each:
    `slices` of it, or None for a sheet that is read from the `whole`."""

    sheets: tuple[str, ...]
    hidden: frozenset[str]
    _marks: XlsxMarks
    _whole: Callable[[], Any]
    _slices: Callable[[str], tuple[Iterator[Any], Sequence[MergedCell]] | None]

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
        below, values_of = 0, dict[MergedCell, Any]()
        try:
            books, merged = self._slices(name) or ((self._whole(),), None)
            for book in books:
                sheet = book.get_sheet_by_name(name)
                if merged is None:
                    ranges = sheet.merged_cell_ranges or ()
                    merged = [MergedCell(a, b, c) for (a, b), (c, _) in ranges if c > a]
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
    values: list[list[Any]], top: int, before: int, merged: Sequence[MergedCell], values_of: dict[MergedCell, Any]
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
        held = sum(p.file_size for p in parts if not is_sheet_part(p.filename))
        for size, most in zip((held, sum(p.file_size for p in parts)), UNPACKED, strict=True):
            if size > most * max_bytes:
                raise ReadError("the spreadsheet unpacks to more than {most} MB; save the one sheet you need as CSV",
                                most=most * max_bytes // 1_000_000)  # fmt: skip
    elif not data.startswith(b"\xd0\xcf\x11\xe0"):
        return None
    marks = marks_of(data) if b"xl/workbook.xml" in data else XlsxMarks()
    refuse_spread(data, marks.spread)
    whole = cache(partial(open_workbook, data))
    try:
        frame, book, places = framed(data, marks.heads) if marks.heads else (b"", None, {})
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

    def slices(name: str) -> tuple[Iterator[Any], Sequence[MergedCell]] | None:
        part = places.get(name)
        return None if part is None else (sliced(data, frame, part, marks.heads[part]), marks.merged.get(part, ()))

    hidden = frozenset(name for name, seen in sheets if "visible" not in seen.lower().split(".")[-1])
    return Workbook(tuple(name for name, _ in sheets), hidden, marks, whole, slices)
