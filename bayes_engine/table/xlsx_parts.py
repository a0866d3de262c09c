"""The parts of an xlsx file, read as bytes: what calamine does not tell of its sheets, how far its cells reach, and a
long sheet cut into workbooks of some of its rows."""

from __future__ import annotations

import importlib
import io
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, unescape

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick

SPREAD = (2_000_000, 8, 20_000_000)
"""Cells, empty ones too, from the corner of a sheet to its farthest cell, up to which it is opened: always; for every
byte of the file; at most."""
SLICE = 1 << 21
"""Bytes of a sheet of xlsx up to which it is read whole; else in slices of as many."""
SHARE = 8
"""A slice is no smaller than this part of what a workbook holds beside its sheets, which is read again with each."""
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


class MergedCell(NamedTuple):
    """A cell merged over rows, counted from 0: where it begins, and its last row."""

    row: int
    column: int
    last: int


class XlsxMarks(NamedTuple):
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
    merged: Mapping[str, Sequence[MergedCell]] = MappingProxyType({})
    padded: Mapping[str, Mapping[int, int]] = MappingProxyType({})


def open_workbook(data: bytes) -> Any:
    """The workbook in the bytes, as calamine opens it."""
    return importlib.import_module("python_calamine").load_workbook(io.BytesIO(data))


def is_sheet_part(part: str) -> bool:
    """Whether a part of an xlsx file is one of its sheets."""
    return part.startswith("xl/worksheets/") and part.endswith(".xml")


def refuse_spread(data: bytes, spread: int) -> None:
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


def marks_of(data: bytes) -> XlsxMarks:
    """What the parts tell; none of them is held whole."""
    columns: set[bytes] = set()
    last = errors = formulas = hidden = 0
    hidden_columns, merged = set[tuple[str, int, int]](), dict[str, list[MergedCell]]()
    heads: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        padded = _padded(archive)
        for part in archive.infolist():
            is_sheet, tags_alone = is_sheet_part(part.filename), True
            try:
                for text, end in _stretches(archive, part):
                    references = _REFERENCE.findall(text)
                    columns.update(column for column, _row in references)
                    last = max(last, *(int(row) for _column, row in references), 0)
                    if is_sheet:
                        errors += len(_ERROR.findall(text, 0, end))
                        cells = merged.setdefault(part.filename, [])
                        cells += [MergedCell(int(row) - 1, _number(column) - 1, int(to) - 1)
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
    return XlsxMarks(max(widest, 1) * last, hidden, aside, errors, formulas, heads, merged, padded)


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
        by_sheet = {}
        for name, key in _NAMED.findall(book):
            if key in parts and any(digits) and (columns := _zeros_of(archive, parts[key], digits)):
                by_sheet[unescape(name.decode())] = columns
        return by_sheet
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
            attributes = dict(_ATTRIBUTE.findall(tag))
            if attributes.get(b"t", b"n") == b"n" and b"r" in attributes:
                style = int(attributes.get(b"s", b"0"))
                column = _number(attributes[b"r"].rstrip(b"0123456789")) - 1
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


def framed(data: bytes, parts: Iterable[str]) -> tuple[bytes, Any, dict[str, str]]:
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
        book = open_workbook(_with(frame, called))
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


def sliced(data: bytes, frame: bytes, part: str, head: bytes) -> Iterator[Any]:
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
            yield open_workbook(_with(frame, {part: b"%b%b%b</%bworksheet>" % (head, rows, close, prefix)}))
            last = _last(rows, last)
            rest = b'<%brow r="%d"/>%b' % (prefix, last, rest)
        if not closed:
            yield open_workbook(_with(frame, {part: head + rest}))  # how else it ends, or that it does not


def _last(rows: bytes, before: int) -> int:
    """The number of the last row, where those without one follow upon the one before."""
    numbers = _ROW.findall(rows)
    behind = next((k for k, number in enumerate(reversed(numbers)) if number), None)
    return before + len(numbers) if behind is None else int(numbers[-1 - behind]) + behind
