"""A file whose cells are only looked at: text, a block of rows at a time, read again whenever it is wanted.

What is kept of a long text file is its bytes and where its pieces begin, a twentieth of its cells as strings. A piece
is read as `read_table` reads the whole: rows too long or too short, a header said again and a footer are no hindrance.
Where a piece cannot stand alone (a quote within a cell, comments between rows, perhaps a second table), or where the
format is another, the whole is read at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.progress import tick
from bayes_engine.table.assemble import (
    COMMENT,
    Place,
    assemble,
    beyond,
    locate,
    ragged,
    rows_of,
    said_again,
    unique_names,
)  # fmt: skip
from bayes_engine.table.containers import is_arff
from bayes_engine.table.decode import decode, load
from bayes_engine.table.dialect import ALIGNED, Dialect, Grid, check_size, cut, sniff, tokenize
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
    trim: bool = True,
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
    found = _in_pieces(data, encoding, delimiter, quote, header, trim, name) if len(data) > LEAST else None
    if found is not None:
        return found
    reading = read_table(data, name=name, encoding=encoding, delimiter=delimiter, quote=quote, header=header,
                         sheet=sheet, trim=trim, typed=False, max_bytes=max_bytes)  # fmt: skip
    return Cells.of(reading.frame, reading.report, reading.recipe, name)


def _slices(frame: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    return (frame.iloc[at : at + rows] for at in range(0, max(len(frame), 1), rows))


_NAMED_DELIMITER = re.compile(r'\A"?sep=."?[ \t]*(?=[\r\n])')


class _NotInPieces(Exception):
    """A piece cannot be read without the others."""


def _in_pieces(data: bytes, encoding: str | None, delimiter: str | None, quote: str | None,
               header: int | Literal[False] | None, trim: bool, name: str) -> Cells | None:  # fmt: skip
    """The cells of a long text; None where it is another format, or a piece cannot stand alone."""
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
        grid = _regular(grid, header)
        cells, line = assemble(grid, header, dialect.delimiter, notes)
        if dialect.quote != quoted or dialect.escape or dialect.delimiter == ALIGNED or grid.odd:
            raise _NotInPieces
        names, above = tuple(map(str, cells.columns)), len(grid.cells) - len(cells)
        head_row = grid.cells[grid.lines == line]
        if len(head_row) and grid.widths[grid.lines == line] != len(names):
            raise _NotInPieces
        said = tuple(head_row.iloc[0][: len(names)]) if len(head_row) else ()
        read = _Text(data, starts, dialect, names, said, above, trim)
        odd = _Odd()
        kept = read.piece(0, odd)
        if not np.array_equal(kept[odd.fits].to_numpy(dtype=object), cells.to_numpy(dtype=object)):
            raise _NotInPieces  # something else was left out below the header
        n = len(kept) + sum(len(read.piece(i, odd)) for i in range(1, len(starts) - 1))
        if odd.long:
            read = replace(read, extra=unique_names([*names, "extra"], [])[-1])
        check_size(n, len(read.columns))
    except _NotInPieces:
        return None
    notes += [*odd.notes, *([said_again(odd.again)] if odd.again else ()), *ragged(odd.short, odd.spare, odd.long)]
    recipe = Recipe("text", known, dialect.delimiter, dialect.quote, header=line, trim=trim)
    return Cells(read.columns, n, tuple(notes), recipe, name, read)


def _regular(grid: Grid, header: int | Literal[False] | None) -> Grid:
    """The first piece without the rows below its header that are too long or too short, or say the header again."""
    at = np.flatnonzero(grid.lines == (header or 0))
    place = locate(grid).header if header is None else int(at[0]) if len(at) else None
    width = int(grid.widths[place]) if place is not None else int(np.bincount(grid.widths).argmax())
    below = np.arange(len(grid.widths)) > (-1 if place is None else place)
    drop: NDArray[np.bool_] = below & (grid.widths != width)
    if place is not None:
        drop |= below & _says(grid.cells, tuple(map(str, grid.cells.iloc[place])))
    kept = np.flatnonzero(~drop)
    return Grid(grid.cells.iloc[kept, :width].reset_index(drop=True), grid.widths[kept], grid.lines[kept], grid.odd)


def _says(cells: pd.DataFrame, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which rows are these names."""
    found = cells[0].eq(names[0]).to_numpy(dtype=bool, copy=True)
    at = np.flatnonzero(found)
    found[at] = cells.iloc[at, : len(names)].eq(list(names)).all(axis=1).to_numpy(dtype=bool)
    return found


@dataclass
class _Odd:
    """What was found on the way: the lines of rows with too few cells, with empty ones too many, with more, and of the
    header said again; notes on the last piece; and which rows of the last piece looked at are as wide as the names."""

    short: list[int] = field(default_factory=list)
    spare: list[int] = field(default_factory=list)
    long: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    fits: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    above: int = 0

    def add(self, data: Grid, width: int, delimiter: str, again: NDArray[np.bool_]) -> None:
        """The rows of one more piece."""
        lines, long = data.lines, data.widths > width
        odd = (data.widths != width) & ~again
        gap = np.diff(data.lines, prepend=data.lines[:1]) > 1
        if odd.sum() > max(10, len(odd) // 100) or (odd & gap).any():
            raise _NotInPieces  # another table, perhaps
        spare = long & beyond(data, width, delimiter).eq("").to_numpy()
        self.short += lines[data.widths < width].tolist()
        self.spare += lines[spare].tolist()
        self.long += lines[long & ~spare].tolist()
        self.again += lines[again].tolist()
        self.fits = (data.widths == width)[~again]


@dataclass(frozen=True)
class _Text:
    """Text in UTF-8, and where its pieces begin and end; `above` records stand above the first row; `extra` is the
    column of what rows hold beyond the last name, where any does."""

    data: bytes
    starts: tuple[int, ...]
    dialect: Dialect
    names: tuple[str, ...]
    header: tuple[str, ...]
    above: int
    trim: bool = True
    extra: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names, and the column of what is beyond them."""
        return (*self.names, *([self.extra] if self.extra else ()))

    def __call__(self, rows: int) -> Iterator[pd.DataFrame]:
        for i in range(len(self.starts) - 1):
            piece = self.piece(i)
            yield from (piece.iloc[at : at + rows] for at in range(0, len(piece), rows))

    def piece(self, i: int, odd: _Odd | None = None) -> pd.DataFrame:
        """The rows of one piece; what is odd is added to `odd`. Raises _NotInPieces where it cannot stand alone."""
        width, final = len(self.names), i == len(self.starts) - 2
        tick(self.starts[i], self.starts[-1])
        text = self.data[self.starts[i] : self.starts[i + 1]].decode()
        grid = tokenize(_NAMED_DELIMITER.sub("", text) if i == 0 else text, self.dialect)
        first, notes = self.above * (i == 0), list[Note]()
        grid = grid._replace(lines=grid.lines + (odd.above if odd else 0))
        if grid.odd or len(grid.cells) <= first:
            raise _NotInPieces
        data = rows_of(grid, Place(None, first), notes) if final and self.trim else grid.part(first)
        data = data._replace(cells=data.cells.reindex(columns=range(max(width, data.cells.shape[1])), fill_value=""))
        again = np.zeros(len(data.cells), dtype=bool)
        if self.trim and len(self.header) > 1:
            again = _says(data.cells, self.header) & (data.widths == width)
            if (data.cells[0].eq(self.header[0]).to_numpy(dtype=bool) & ~again & (data.widths != width)).any():
                raise _NotInPieces  # another table that begins with the same name
        if width >= 3 and (data.widths == 1).any() and data.cells[0].str.startswith(COMMENT)[data.widths == 1].any():
            raise _NotInPieces  # comments between the rows
        if odd is not None:
            odd.add(data, width, self.dialect.delimiter, again)
            odd.notes += notes
            odd.above += len(re.findall(r"\r\n|\n|\r", text))
        cells = data.cells.iloc[:, :width].set_axis(list(self.names), axis=1)
        if self.extra:
            cells = cells.assign(**{self.extra: beyond(data, width, self.dialect.delimiter)})
        return cells[~again] if again.any() else cells


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
