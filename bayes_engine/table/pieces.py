"""A file whose cells are only looked at: text, a block of rows at a time, read again whenever it is wanted.

What is kept of a long text file is its bytes and where its pieces begin, a twentieth of its cells as strings. A piece
is read as `read_table` reads the whole; where a later piece shows that it cannot stand alone (a row too long or too
short, a quote within a cell, a header said again, a footer), or where the format is another, the whole is read at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from bayes_engine.progress import tick
from bayes_engine.table.assemble import assemble
from bayes_engine.table.containers import is_arff
from bayes_engine.table.decode import decode, load
from bayes_engine.table.dialect import ALIGNED, Dialect, check_size, cut, sniff, tokenize
from bayes_engine.table.numbers import Note
from bayes_engine.table.read import MAX_BYTES, Recipe, read_table

PIECE = 1 << 20
"""Bytes of text that are read at once."""
LEAST = 1 << 18
"""Bytes up to which a text is read whole: its first 64 kB tell its dialect."""
BLOCK = 500_000
"""Cells that are looked at at once."""


@dataclass(frozen=True)
class Cells:
    """The cells of a file as text: `names` of the columns, `n` rows, what reading them had to say, and how it was done.

    >>> cells = Cells.of(pd.DataFrame({"size": ["1", "2", "3"]}))
    >>> len(cells), [len(block) for block in cells.blocks(2)]
    (3, [2, 1])
    """

    names: tuple[str, ...]
    n: int
    report: tuple[Note, ...]
    recipe: Recipe
    name: str
    _read: Callable[[int], Iterable[pd.DataFrame]]

    def __len__(self) -> int:
        return self.n

    @classmethod
    def of(
        cls, frame: pd.DataFrame, report: Iterable[Note] = (), recipe: Recipe | None = None, name: str = ""
    ) -> Cells:
        """The cells of a frame of text."""
        recipe = recipe or Recipe("text")
        return cls(tuple(map(str, frame.columns)), len(frame), tuple(report), recipe, name, partial(_slices, frame))

    def blocks(self, rows: int = 0) -> Iterator[pd.DataFrame]:
        """All rows in their order, at most `rows` at a time (0: as many as hold BLOCK cells); their index counts them
        from 0."""
        rows, at = rows or max(1, BLOCK // max(len(self.names), 1)), 0
        for block in self._read(rows):
            tick(at, self.n)
            yield block.set_axis(pd.RangeIndex(at, at + len(block)))
            at += len(block)

    def head(self, rows: int) -> pd.DataFrame:
        """The first rows."""
        return next(iter(self.blocks(rows)))


def open_cells(
    source: bytes | str | Path,
    *,
    name: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    header: int | Literal[False] | None = None,
    sheet: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Cells:
    r"""What `read_table(source, …, typed=False)` reads, with the same keywords, a block of rows at a time.

    Raises ReadError as `read_table` does.

    >>> cells = open_cells(b"size;city\n1,5;Oslo\n2,5;Rome\n")
    >>> cells.names, len(cells), cells.head(1)["size"].tolist()
    (('size', 'city'), 2, ['1,5'])
    """
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    data = load(source, max_bytes)
    found = _in_pieces(data, encoding, delimiter, quote, header, name) if len(data) > LEAST else None
    if found is not None:
        return found
    reading = read_table(data, name=name, encoding=encoding, delimiter=delimiter, quote=quote, header=header,
                         sheet=sheet, typed=False, max_bytes=max_bytes)  # fmt: skip
    return Cells.of(reading.frame, reading.report, reading.recipe, name)


def _slices(frame: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    return (frame.iloc[at : at + rows] for at in range(0, max(len(frame), 1), rows))


_NAMED_DELIMITER = re.compile(r'\A"?sep=."?[ \t]*(?=[\r\n])')


class _NotInPieces(Exception):
    """A piece cannot be read without the others."""


def _in_pieces(data: bytes, encoding: str | None, delimiter: str | None, quote: str | None,
               header: int | Literal[False] | None, name: str) -> Cells | None:  # fmt: skip
    """The cells of a long and regular text; None where it is another format, or not regular."""
    if data.startswith((b"PAR1", b"PK", b"\xd0\xcf\x11\xe0")):
        return None
    notes: list[Note] = []
    text, known = decode(data, encoding, notes)
    if is_arff(text):
        return None
    head, marked = text[:PIECE], known == "utf-8-sig"
    if notes or not (marked or known == "utf-8"):
        data = text.encode()
    begin = 3 if marked and data.startswith(b"\xef\xbb\xbf") else 0
    del text
    try:
        quoted = sniff(head[: head.rfind("\n") + 1], delimiter, quote).quote
        starts = tuple(_boundaries(data, begin, quoted))
        first = data[begin : starts[1]].decode()
        grid, dialect = cut(first, delimiter, quote, notes)
        cells, line = assemble(grid, header, dialect.delimiter, notes)
        if dialect.quote != quoted or dialect.escape or dialect.delimiter == ALIGNED or grid.odd:
            raise _NotInPieces
        names, above = tuple(map(str, cells.columns)), len(grid.cells) - len(cells)
        head_row = grid.cells[grid.lines == line]
        if len(head_row) and grid.widths[grid.lines == line] != len(names):
            raise _NotInPieces
        read = _Text(data, starts, dialect, names, tuple(head_row.iloc[0]) if len(head_row) else (), above)
        if not np.array_equal(read.piece(0).to_numpy(dtype=object), cells.to_numpy(dtype=object)):
            raise _NotInPieces  # something was left out below the header
        n = len(cells) + sum(len(read.piece(i)) for i in range(1, len(starts) - 1))
        check_size(n, len(names))
    except _NotInPieces:
        return None
    recipe = Recipe("text", known, dialect.delimiter, dialect.quote, header=line)
    return Cells(names, n, tuple(notes), recipe, name, read)


@dataclass(frozen=True)
class _Text:
    """Regular text in UTF-8, and where its pieces begin and end; `above` records stand above the first row."""

    data: bytes
    starts: tuple[int, ...]
    dialect: Dialect
    names: tuple[str, ...]
    header: tuple[str, ...]
    above: int

    def __call__(self, rows: int) -> Iterator[pd.DataFrame]:
        for i in range(len(self.starts) - 1):
            piece = self.piece(i)
            yield from (piece.iloc[at : at + rows] for at in range(0, len(piece), rows))

    def piece(self, i: int) -> pd.DataFrame:
        """The rows of one piece. Raises _NotInPieces where it is not regular."""
        width, final = len(self.names), i == len(self.starts) - 2
        tick(self.starts[i], self.starts[-1])
        text = self.data[self.starts[i] : self.starts[i + 1]].decode()
        grid = tokenize(_NAMED_DELIMITER.sub("", text) if i == 0 else text, self.dialect)
        cells, widths = grid.cells.iloc[self.above * (i == 0) :], grid.widths[self.above * (i == 0) :]
        if grid.odd or not len(cells) or (widths != width).any():
            raise _NotInPieces
        if i and self.header and (cells.eq(list(self.header)).all(axis=1)).any():
            raise _NotInPieces
        if final and sum(map(bool, cells.iloc[-1])) < min(width, 2):
            raise _NotInPieces  # it may be a footer
        return cells.iloc[:, :width].set_axis(list(self.names), axis=1)


def _boundaries(data: bytes, begin: int, quote: str) -> Iterator[int]:
    """Where the pieces begin, and the end: after line ends outside quotes. Raises _NotInPieces where a piece has no
    such line end, or its quotes are no pairs."""
    end = len(data.rstrip(b"\x1a\x00"))
    yield (at := begin)
    while at + PIECE < end:
        piece = np.frombuffer(data, dtype=np.uint8, count=PIECE, offset=at)
        ends = np.flatnonzero(piece == ord("\n"))
        if quote:
            ends = ends[np.searchsorted(np.flatnonzero(piece == ord(quote)), ends) % 2 == 0]
        if not len(ends):
            raise _NotInPieces
        yield (at := at + int(ends[-1]) + 1)
    yield end
