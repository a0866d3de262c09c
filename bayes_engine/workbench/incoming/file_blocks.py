"""A file whose cells are only looked at: text, a block of rows at a time, read again whenever it is wanted.

What is kept of a long text file is its bytes, cut into pieces that stand alone: each begins with a record. A piece is
what it was in the file where pandas' C reader knows its dialect and every quote is regular; else (a quote within a
cell, a backslash before one, columns lined up with spaces) its records are written again, as CSV of which that is true.
Where the table lies is found by what finds it in a text read whole: of the cells between it asks for the first of every
record, for how many there are and for those of single records, which are read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.progress import tick
from bayes_engine.table.assemble import Layout, lay_out, no_rows
from bayes_engine.table.decode import load, recode
from bayes_engine.table.dialect import cut_by, head
from bayes_engine.table.grid import Grid, check_size
from bayes_engine.table.notes import Note
from bayes_engine.table.parquet_arff import cell_text, declared, is_arff, is_parquet, parquet, written
from bayes_engine.table.read import MAX_BYTES, Recipe, read_table
from bayes_engine.table.tokenize import (
    ALIGNED,
    Cuts,
    Dialect,
    aligned,
    aligned_at,
    is_plain,
    line_end,
    lines_at,
    records,
    regular,
    stretches,
)
from bayes_engine.table.workbooks import Workbook, workbook

PIECE = 1 << 20
"""Bytes of text that are read at once."""
LEAST = 1 << 18
"""Bytes up to which a text is read whole."""
BLOCK = 200_000
"""Cells that are looked at at once."""


@dataclass(frozen=True)
class CellBlocks:
    """The cells of a file as text: `names` of the columns, `n` rows, what reading them had to say, and how it was done.

    >>> cells = CellBlocks.of(pd.DataFrame({"size": ["1", "2", "3"]}))
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
    ) -> CellBlocks:
        """The cells of a frame of text."""
        recipe = recipe or Recipe("text")
        return cls(tuple(map(str, frame.columns)), len(frame), tuple(report), recipe, name, partial(_slices, frame))

    def blocks(self, rows: int = 0) -> Iterator[pd.DataFrame]:
        """All rows in their order, at most `rows` at a time (0: as many as hold BLOCK cells); their index counts them
        from 0."""
        rows, start = rows or max(1, BLOCK // max(len(self.names), 1)), 0
        for block in self._read(rows):
            tick(start, self.n)
            block.index = pd.RangeIndex(start, start + len(block))
            yield block
            start += len(block)

    def head(self, rows: int) -> pd.DataFrame:
        """The first rows."""
        return next(iter(self.blocks(rows)))


@dataclass(frozen=True)
class FileForm:
    """What a person says of how a file is to be taken apart, as keywords of `read_table`; None: as it shows itself."""

    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    header: int | Literal[False] | None = None
    sheet: str | None = None
    trim: bool = True


def open_cells(
    source: bytes | str | Path,
    form: FileForm = FileForm(),
    *,
    name: str = "",
    max_bytes: int = MAX_BYTES,
) -> CellBlocks:
    r"""What `read_table(source, …, typed=False)` reads, a block of rows at a time.

    Raises ReadError as `read_table` does.

    >>> cells = open_cells(b"size;city\n1,5;Oslo\n2,5;Rome\n")
    >>> cells.names, len(cells), cells.head(1)["size"].tolist()
    (('size', 'city'), 2, ['1,5'])
    """
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    data = load(source, max_bytes)
    notes: list[Note] = []
    if is_parquet(data):
        frame = parquet(data, max_bytes, notes)
        rows = partial(_written, frame)
        return CellBlocks(tuple(map(str, frame.columns)), len(frame), tuple(notes), Recipe("parquet"), name, rows)
    if len(data) > LEAST and not data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        text, known = recode(data, form.encoding, notes)
        handed = [text]
        del data, text  # whoever reads it says when it is gone
        if is_arff(head(handed[0])):
            return _of_arff(handed, known, name, notes)
        return _in_pieces(handed, known, form, name, notes)
    if len(data) > LEAST and (book := workbook(data, max_bytes)) is not None:
        return _of_workbook(book, form, name, notes)
    reading = read_table(data, name=name, encoding=form.encoding, delimiter=form.delimiter, quote=form.quote,
                         header=form.header, sheet=form.sheet, trim=form.trim, typed=False,
                         max_bytes=max_bytes)  # fmt: skip
    return CellBlocks.of(reading.frame, reading.report, reading.recipe, name)


def _slices(frame: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    return (frame.iloc[start : start + rows] for start in range(0, max(len(frame), 1), rows))


def _written(frame: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    return (part.apply(written) for part in _slices(frame, rows))


def _in_pieces(handed: list[bytes], encoding: str, form: FileForm, name: str, notes: list[Note]) -> CellBlocks:
    """The cells of a long text in UTF-8, which is taken out of the list, and had this encoding."""
    every, dialect = cut_by(_skimmed, handed.pop(), form.delimiter, form.quote, notes)
    layout, kept, line = lay_out(every, form.header, dialect.delimiter, notes, trim=form.trim)
    recipe = Recipe("text", encoding, dialect.delimiter, dialect.quote, header=line, trim=form.trim)
    return CellBlocks(
        layout.names, len(kept.positions), tuple(notes), recipe, name, _Rows(every.text, kept.positions, layout)
    )


def _of_arff(handed: list[bytes], encoding: str, name: str, notes: list[Note]) -> CellBlocks:
    """The cells of a long ARFF file in UTF-8, which is taken out of the list: its rows are written again as pieces."""
    data = handed.pop()
    begins = declared(beginning := head(data), notes)
    position, line = len(beginning[: begins.begin].encode()), beginning.count("\n", 0, begins.begin) + 1
    pieces, starts, weighed = list[_Piece](), [0], False
    while position < len(data):
        tick(position, len(data))
        end = line_end(data, position + PIECE)
        parsed = list(begins.rows(data[position:end].decode(), 0, line))
        weighed = weighed or any(weight is not None for _, weight in parsed)
        if parsed:
            pieces.append(_regular([_arff_row(cells, weight) for cells, weight in parsed]))
            starts.append(starts[-1] + len(parsed))
        line += data.count(b"\n", position, end)
        position = end
    del data
    if not pieces:
        raise no_rows()
    check_size(starts[-1], len(begins.names))
    names = (*begins.names, begins.weight(notes)) if weighed else tuple(begins.names)
    rows = _Rows(_Text(pieces, np.array(starts)), np.arange(starts[-1]), Layout(names, len(names)))
    return CellBlocks(names, starts[-1], tuple(notes), Recipe("arff", encoding), name, rows)


def _arff_row(cells: Sequence[str], weight: float | None) -> list[bytes]:
    """A row as a piece has it: '?' is the empty cell, and the weight, 1 where it has none, stands behind all others."""
    return [*(b"" if cell == "?" else cell.encode() for cell in cells),
            b"1" if weight is None else cell_text(weight).encode()]  # fmt: skip


def _of_workbook(book: Workbook, form: FileForm, name: str, notes: list[Note]) -> CellBlocks:
    """The cells of a sheet: its rows are written as pieces."""
    chosen = book.pick(form.sheet, notes)
    pieces, firsts, lines, reach = list[_Piece](), list[tuple[int, pd.Series]](), [_NONE.lines], [_NONE.widths]
    for block in chosen:
        pieces.append(_regular([[cell.encode() for cell in row] for row in zip(*block.columns, strict=True)]))
        firsts.append((block.left, pd.Series(block.columns[block.left], dtype="str")))
        lines.append(block.lines)
        reach.append(block.reach)
    notes += [*chosen.notes(), *book.notes()]
    left, columns, sheets = chosen.left, chosen.right - chosen.left, book.sheets
    text = _Text(pieces, np.cumsum([len(some) for some in lines]), left)
    first = pd.concat([cells if begin == left else cells.str[:0] for begin, cells in firsts], ignore_index=True)
    every = _Records(
        text, np.arange(chosen.n), first, np.full(chosen.n, columns, dtype=np.intp), np.concatenate(lines),
        np.concatenate(reach) - left, columns,
    )  # fmt: skip
    layout, kept, line = lay_out(every, form.header, "", notes, trim=form.trim)
    recipe = Recipe("spreadsheet", sheet=chosen.name, sheets=sheets, header=line, trim=form.trim)
    return CellBlocks(
        layout.names, len(kept.positions), tuple(notes), recipe, name, _Rows(text, kept.positions, layout)
    )


# ---- pieces ----------------------------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """A part of some bytes, and its dialect, which pandas' C reader knows."""

    source: bytes
    begin: int
    end: int
    dialect: Dialect

    def grid(self) -> Grid:
        """Its records, of which every quote is regular."""
        grid = regular(self.source[self.begin : self.end], self.dialect)
        assert grid is not None
        return grid


class _Text:
    """A text in pieces; `starts` are the numbers of their first records, and how many there are; `left` cells before
    all records are none of theirs. The piece last read is kept."""

    def __init__(self, pieces: Sequence[_Piece], starts: NDArray[np.intp], left: int = 0) -> None:
        self.pieces, self.starts, self.left = pieces, starts, left
        self._last: tuple[int, Grid] | None = None

    def grid(self, i: int) -> Grid:
        """The records of one piece."""
        last = self._last
        if last is None or last[0] != i:
            grid = self.pieces[i].grid()
            if self.left:
                cells = grid.cells.iloc[:, self.left :]
                grid = Grid(cells.set_axis(range(cells.shape[1]), axis=1), grid.widths - self.left, grid.lines)
            self._last = last = i, grid
        return last[1]

    def parts(self, positions: NDArray[np.intp]) -> Iterator[tuple[Grid, slice]]:
        """These records, in their order, piece by piece, and which of them they are."""
        ends = np.searchsorted(positions, self.starts)
        for i in np.flatnonzero(np.diff(ends)):
            tick(int(i), len(self.pieces))
            here, grid = slice(int(ends[i]), int(ends[i + 1])), self.grid(int(i))
            own = positions[here] - self.starts[i]
            if len(own) < len(grid.widths):
                grid = Grid(grid.cells.iloc[own], grid.widths[own], grid.lines[own])
            yield grid, here


def _skimmed(data: bytes, dialect: Dialect) -> _Records:
    """The text cut into pieces, and its records."""
    pieces, grids, filled, columns = list[_Piece](), list[Grid](), list[NDArray[np.intp]](), 1
    for piece, grid in _cut_up(data, dialect):
        pieces.append(piece)
        filled.append(grid.reach())
        columns = max(columns, grid.columns)
        grids.append(grid._replace(cells=grid.cells[[0]]))  # one column of it, not all
    starts = np.cumsum([0, *(len(grid.widths) for grid in grids)])
    check_size(int(starts[-1]), columns)
    every = grids or [_NONE]
    return _Records(
        _Text(pieces, starts), np.arange(starts[-1]), pd.concat([grid.first for grid in every], ignore_index=True),
        np.concatenate([grid.widths for grid in every]), np.concatenate([grid.lines for grid in every]),
        np.concatenate(filled or [_NONE.widths]), columns, tuple(line for grid in grids for line in grid.odd),
    )  # fmt: skip


def _cut_up(data: bytes, dialect: Dialect) -> Iterator[tuple[_Piece, Grid]]:
    """The pieces of a text that hold records, and these records."""
    lined_up = dialect.delimiter == ALIGNED
    cuts = dialect.cuts
    if lined_up and not cuts:
        cuts = aligned_at(stretch.decode() for stretch in stretches(data, PIECE))
    position = line = 0
    while position < len(data):
        tick(position, len(data))
        end = _end(data, position, dialect.quote) if is_plain(dialect) else position
        piece = _Piece(data, position, end, dialect)
        grid = regular(data[position:end], dialect) if end > position else None
        if grid is None:
            piece, grid, end = _lined_up(data, position, cuts) if lined_up else _written_again(data, position, dialect)
        if len(grid.widths):
            yield piece, grid._replace(lines=grid.lines + line, odd=tuple(line + k for k in grid.odd))
        line += data.count(b"\n", position, end) + data.count(b"\r", position, end) - data.count(b"\r\n", position, end)
        position = end


def _end(data: bytes, position: int, quote: str) -> int:
    """Where a piece ends that begins at `position`: behind its last line end outside quotes, or with the line that is
    longer than a piece; `position` where all its line ends are within quotes."""
    if position + PIECE >= len(data):
        return len(data)
    piece = np.frombuffer(data, dtype=np.uint8, count=PIECE, offset=position)
    ends = np.flatnonzero(piece == ord("\n"))
    if not len(ends):
        ends = np.flatnonzero(piece[:-1] == ord("\r"))
    if not len(ends):
        return line_end(data, position + PIECE)
    if quote:
        ends = ends[np.searchsorted(np.flatnonzero(piece == ord(quote)), ends) % 2 == 0]
    return position + int(ends[-1]) + 1 if len(ends) else position


def _written_again(data: bytes, position: int, dialect: Dialect) -> tuple[_Piece, Grid, int]:
    """The records of the next piece as regular CSV, they themselves, and where the piece ends in the text."""
    parsed, end = list[tuple[int, list[bytes], bool]](), len(data)
    for record in records(data, dialect, position):
        if record[0] >= position + PIECE:
            end = record[0]
            break
        check_size(1, len(record[1]))
        parsed.append(record)
    piece, grid = _as_csv([row for _, row, _ in parsed])
    lines = lines_at(data[position:end], [start - position for start, _, _ in parsed])
    odd = tuple(int(line) for line, (_, _, fine) in zip(lines, parsed, strict=True) if not fine)
    return piece, grid._replace(lines=lines, odd=odd), end


def _lined_up(data: bytes, position: int, cuts: Cuts) -> tuple[_Piece, Grid, int]:
    """The same of columns lined up with spaces."""
    end = line_end(data, position + PIECE)
    text = data[position:end].decode()
    parsed = list(aligned(text, cuts))
    piece, grid = _as_csv([[cell.encode() for cell in row] for _, row, _ in parsed])
    return piece, grid._replace(lines=lines_at(text, [start for start, _, _ in parsed])), end


def _as_csv(rows: Sequence[Sequence[bytes]]) -> tuple[_Piece, Grid]:
    """Records as a piece of their own, and what is read in it."""
    piece = _regular(rows)
    return piece, piece.grid() if rows else _NONE


def _regular(rows: Sequence[Sequence[bytes]]) -> _Piece:
    """Records as regular text, in which the cells of a row are quoted where one has to be."""
    lines = [_MARK.join(row) for row in rows]
    for i, (line, row) in enumerate(zip(lines, rows, strict=True)):
        if len(row) == 1 or _NOT_BARE.search(line) or line.count(_MARK) >= len(row):
            lines[i] = _MARK.join(b'"%b"' % cell.replace(b'"', b'""') for cell in row)
    text = b"\n".join(lines) + b"\n"
    return _Piece(text, 0, len(text), Dialect(_MARK.decode()))


_MARK = b"\x1f"
"""ASCII's own delimiter, the unit separator."""
_NOT_BARE = re.compile(b'["\r\n]|\\A\xef\xbb\xbf')
_NONE = Grid(pd.DataFrame({0: pd.Series(dtype="str")}), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))


# ---- the table in them -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Records:
    """Records of a `text` by their `positions`, whose cells are read when they are asked for. Kept of each: its `first`
    cell, how many cells it has and its line, as in a grid, and its cells up to the last that is not empty (`filled`).
    """

    text: _Text
    positions: NDArray[np.intp]
    first: pd.Series
    widths: NDArray[np.intp]
    lines: NDArray[np.intp]
    filled: NDArray[np.intp]
    columns: int
    odd: tuple[int, ...] = ()

    def rows(self, first: int, last: int) -> list[list[str]]:
        rows = (
            row for grid, _ in self.text.parts(self.positions[first:last]) for row in grid.rows(0, len(grid.widths))
        )
        return [[*row, *[""] * (self.columns - len(row))][: self.columns] for row in rows]

    def reach(self) -> NDArray[np.intp]:
        return self.filled

    def like(self, row: Sequence[str], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        candidates = np.flatnonzero(among)
        same = np.zeros(len(self.positions), dtype=bool)
        for grid, here in self.text.parts(self.positions[candidates]):
            same[candidates[here]] = grid.like(row, np.ones(len(grid.widths), dtype=bool))
        return same

    def empty(self, columns: Sequence[int]) -> list[int]:
        left = list(columns)
        for grid, _ in self.text.parts(self.positions) if left else ():
            if not (left := grid.empty(left)):
                break
        return left

    def part(self, first: int, last: int | None = None, columns: int | None = None) -> Self:
        return replace(self._taken(slice(first, last)), columns=min(self.columns, columns or self.columns))

    def kept(self, which: NDArray[np.bool_]) -> Self:
        return self._taken(which)

    def _taken(self, which: slice | NDArray[np.bool_]) -> Self:
        return replace(self, positions=self.positions[which], first=self.first[which], widths=self.widths[which],
                       lines=self.lines[which], filled=self.filled[which])  # fmt: skip


@dataclass(frozen=True)
class _Rows:
    """The rows of the table: records of a text by their `positions`, laid out."""

    text: _Text
    positions: NDArray[np.intp]
    layout: Layout

    def __call__(self, rows: int) -> Iterator[pd.DataFrame]:
        for grid, _ in self.text.parts(self.positions):
            yield from _slices(self.layout.frame(grid), rows)
