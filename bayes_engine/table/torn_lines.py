"""Lines of a text whose dialect is known that do not keep to it: with another delimiter, or torn apart by one within a
cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayes_engine.table.notes import Note, lines_of, note, offer
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, is_number
from bayes_engine.table.tokenize import ALIGNED, Dialect

_COMMON = (b",", b";", b"\t", b"|")


def with_one_delimiter(
    data: bytes, dialect: Dialect, widths: NDArray[np.intp], lines: NDArray[np.intp], notes: list[Note]
) -> bytes:
    r"""The text with the delimiter of its dialect in those lines that have another common one as often; the same object
    where there is none. `widths` and `lines` are those of its records. A mark before a blank is one of a sentence, and
    a table of two columns is told by no fewer than three such lines.

    >>> text = b"a;b;c\n1,2,x\n3,4,y\n"
    >>> with_one_delimiter(text, Dialect(","), np.array([1, 3, 3]), np.array([1, 2, 3]), [])
    b'a,b,c\n1,2,x\n3,4,y\n'
    """
    narrow = lines[widths == 1]
    if dialect.delimiter in ("", ALIGNED) or not len(narrow) or len(narrow) == len(lines):
        return data
    width = int(np.bincount(widths[widths > 1]).argmax())
    own, quote = dialect.delimiter.encode(), dialect.quote.encode()
    rows = data.splitlines(keepends=True)
    cut_at: dict[bytes, list[int]] = {}
    for line in narrow.tolist():
        row = rows[line - 1].rstrip(b"\r\n")
        others = (mark for mark in _COMMON if mark != own and row.count(mark) == width - 1)
        mark = next((m for m in others if not re.search(re.escape(m) + rb"[ \t]", row)), None)
        if mark is not None and not (quote and quote in row):
            cut_at.setdefault(mark, []).append(line)
    for mark, here in list(cut_at.items()):
        if width == 2 and len(here) < 3:
            del cut_at[mark]
            continue
        for line in here:
            rows[line - 1] = rows[line - 1].replace(mark, own)
        notes.append(note("lines with the delimiter '{other}' where the others have '{delimiter}': {n} (line {lines}); "
                          "they are cut there", "warning", here[0], other=mark.decode(), delimiter=dialect.delimiter,
                          n=len(here), lines=lines_of(here)))  # fmt: skip
    return b"".join(rows) if cut_at else data


def without_backslashes(
    data: bytes, dialect: Dialect, widths: NDArray[np.intp], lines: NDArray[np.intp], notes: list[Note]
) -> bytes:
    r"""The text with quotes around the cells that hold the delimiter behind a backslash, where that explains every line
    with too many cells; the same object where not.

    >>> text = b"a,b\n1,x\\, y\n2,z\n3,z\n"
    >>> without_backslashes(text, Dialect(","), np.array([2, 3, 2, 2]), np.arange(1, 5), [])
    b'a,b\n1,"x, y"\n2,z\n3,z\n'
    """
    own, quote = dialect.delimiter.encode(), dialect.quote.encode()
    if len(own) != 1 or own == b"\\" or not quote or b"\\" + own not in data:
        return data
    width = int(np.bincount(widths).argmax())
    here = lines[widths > width]
    rows = data.splitlines(keepends=True)
    if not len(here) or len(rows) < int(lines[-1]):
        return data
    between = re.compile(rb"(?<!\\)" + re.escape(own))
    for line in here.tolist():
        row = rows[line - 1].rstrip(b"\r\n")
        cells = between.split(row)
        if len(cells) != width or quote in row:
            return data
        quoted = [b"%b%b%b" % (quote, cell.replace(b"\\" + own, own), quote) if own in cell else cell for cell in cells]
        rows[line - 1] = own.join(quoted) + rows[line - 1][len(row) :]
    notes.append(note("a backslash before a delimiter means that it is part of the cell: {n} (line {lines}); the "
                      "backslash is left out", "info", int(here[0]), n=len(here), lines=lines_of(here)))  # fmt: skip
    return b"".join(rows)


def with_sentences(
    data: bytes, dialect: Dialect, widths: NDArray[np.intp], lines: NDArray[np.intp], notes: list[Note]
) -> bytes:
    r"""The text with quotes around the last cell of every line that has more cells than most, where all that are too
    many begin with a blank, as a sentence goes on, and none does otherwise; the same object where not.

    >>> text = b"a,b\n1,x, y\n2,z\n3,z\n"
    >>> with_sentences(text, Dialect(","), np.array([2, 3, 2, 2]), np.arange(1, 5), [])
    b'a,b\n1,"x, y"\n2,z\n3,z\n'
    """
    own, quote = dialect.delimiter.encode(), dialect.quote.encode()
    if own not in (b",", b";") or not len(widths) or dialect.skip_space or not quote:
        return data
    width = int(np.bincount(widths).argmax()) if widths[0] > widths.min() else int(widths[0])
    here = lines[widths > width]
    if width < 2 or not len(here) or len(rows := data.splitlines(keepends=True)) < int(lines[-1]):
        return data
    for line in here.tolist():
        row = rows[line - 1].rstrip(b"\r\n")
        cells = row.split(own)
        blank = [cell[:1] == b" " and cell.strip() != b"" for cell in cells]
        number = all(is_number(cell.decode(errors="replace")) for cell in cells[width - 1 :])
        if quote in row or any(blank[:width]) or not all(blank[width:]) or number:
            return data
        last = own.join(cells[width - 1 :])
        rows[line - 1] = own.join([*cells[: width - 1], quote + last + quote]) + rows[line - 1][len(row) :]
    notes.append(note("rows with more fields than the others: {n} (line {lines}); what is beyond begins with a blank, "
                      "and is taken for more of the last cell", "warning", int(here[0]), n=len(here),
                      lines=lines_of(here)))  # fmt: skip
    return b"".join(rows)


def with_cells_joined(
    data: bytes, dialect: Dialect, widths: NDArray[np.intp], lines: NDArray[np.intp], notes: list[Note]
) -> bytes:
    r"""The text with quotes around the cells that a delimiter within one has torn apart, where for every line with too
    many there is one place only at which joining them, with a blank behind each delimiter, gives all columns their
    numbers and levels; the same object where not.

    >>> text = b"a,b,c\n" + b"1,x,2\n" * 9 + b"3,y, z,4\n"
    >>> with_cells_joined(text, Dialect(","), np.array([3] * 10 + [4]), np.arange(1, 12), [])[-12:]
    b'\n3,"y, z",4\n'
    """
    own, quote = dialect.delimiter.encode(), dialect.quote.encode()
    if own not in (b",", b";") or not quote or not len(widths):
        return data
    width = int(np.bincount(widths).argmax())
    here, others = lines[widths > width], lines[1:][widths[1:] == width]
    if width < 3 or widths[0] != width or not 0 < len(here) <= len(others) // 8:
        return data
    rows = data.splitlines(keepends=True)
    if len(rows) < int(lines[-1]):
        return data

    def cells_of(line: int) -> list[str]:
        return [cell.decode(errors="replace").strip() for cell in rows[line - 1].rstrip(b"\r\n").split(own)]

    known = [row for row in map(cells_of, others[:_KNOWN].tolist()) if len(row) == width]
    kinds = [_kind(column) for column in zip(*known, strict=True)]
    shown = ""
    for line in here.tolist():
        row = rows[line - 1].rstrip(b"\r\n")
        cells, n = row.split(own), len(row.split(own)) - width + 1
        goes_on = [cell.startswith(b" ") for cell in cells]
        ways = [j for j in range(width) if all(goes_on[j + 1 : j + n]) and _fits(kinds, cells_of(line), j, n)]
        if quote in row or len(ways) != 1 or n < 2:
            return data
        joined = own.join(cells[ways[0] : ways[0] + n])
        shown = shown or joined.decode(errors="replace")
        rows[line - 1] = (
            own.join([*cells[: ways[0]], quote + joined + quote, *cells[ways[0] + n :]]) + rows[line - 1][len(row) :]
        )
    joined_note = note("rows with more fields than the header: {n} (line {lines}); of each, cells are joined in the "
                       "only way that gives all columns their types ('{text}')", "warning", int(here[0]), n=len(here),
                       lines=lines_of(here), text=shown[:40])  # fmt: skip
    leave = offer("Leave these rows as they are", "quote", "")
    notes.append(joined_note if quote in data else joined_note.offering(leave))
    return b"".join(rows)


_KNOWN = 2000
"""Rows by which it is told what a column holds."""


def _kind(column: Sequence[str]) -> frozenset[str] | None:
    """The levels of a column that has few; no level of one of numbers; None of any other."""
    cells = [cell for cell in column if cell not in MISSING_AMONG_NUMBERS]
    if len(cells) >= 5 and all(map(is_number, cells)):
        return frozenset()
    levels = frozenset(cells)
    return levels if 4 * len(levels) <= len(cells) else None


def _fits(kinds: Sequence[frozenset[str] | None], cells: Sequence[str], j: int, n: int) -> bool:
    """Whether all columns have what they hold where the j-th, which is none of numbers, has n cells joined; and some
    of the others something."""
    rest = list(zip((*kinds[:j], *kinds[j + 1 :]), (*cells[:j], *cells[j + n :]), strict=True))
    if kinds[j] == frozenset() or not any(kind is not None and cell for kind, cell in rest):
        return False
    return all(
        kind is None or cell in MISSING_AMONG_NUMBERS or (cell in kind if kind else is_number(cell))
        for kind, cell in rest
    )
