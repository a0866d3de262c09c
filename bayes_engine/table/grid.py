"""What a text or a sheet is cut into: records of cells, and what finding the table among them asks of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError

MAX_COLUMNS = 20_000
MAX_CELLS = 100_000_000


class Grid(NamedTuple):
    """Every non-empty record: `cells` (n, w) text, '' where a record is shorter; `widths` (n,) and `lines` (n,).
    `odd` are lines on which a quote never closes (or closes in mid-cell): it is kept as a character."""

    cells: pd.DataFrame
    widths: NDArray[np.intp]
    lines: NDArray[np.intp]
    odd: tuple[int, ...] = ()

    @property
    def columns(self) -> int:
        return self.cells.shape[1]

    @property
    def first(self) -> pd.Series:
        return self.cells[0]

    def rows(self, first: int, last: int) -> list[list[str]]:
        return [list(map(str, row)) for row in self.cells.iloc[first:last].to_numpy(dtype=object).tolist()]

    def reach(self) -> NDArray[np.intp]:
        if self.columns > len(self.cells):
            full = self.cells.to_numpy(dtype=object)[:, ::-1] != ""
            return np.where(full.any(axis=1), self.columns - full.argmax(axis=1), 0).astype(np.intp)
        lengths = np.zeros(len(self.cells), dtype=np.intp)
        left = np.arange(len(self.cells))
        for j in range(self.columns - 1, -1, -1):
            filled = self.cells.iloc[left, j].ne("").to_numpy(dtype=bool)
            lengths[left[filled]] = j + 1
            if not (left := left[~filled]).size:
                break
        return lengths

    def like(self, row: Sequence[str], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        candidates = np.flatnonzero(among)
        for j, cell in enumerate([*row, *[""] * (self.columns - len(row))][: self.columns]):
            if not (candidates := candidates[self.cells.iloc[candidates, j].eq(cell).to_numpy(dtype=bool)]).size:
                break
        same = np.zeros(len(self.cells), dtype=bool)
        same[candidates] = not any(row[self.columns :])
        return same

    def empty(self, columns: Sequence[int]) -> list[int]:
        return [j for j in columns if j >= self.columns or self.cells[j].eq("").all()]

    def part(self, first: int, last: int | None = None, columns: int | None = None) -> Grid:
        return Grid(self.cells.iloc[first:last, :columns], self.widths[first:last], self.lines[first:last], self.odd)

    def kept(self, which: NDArray[np.bool_]) -> Grid:
        return Grid(self.cells[which].reset_index(drop=True), self.widths[which], self.lines[which], self.odd)


class Records(Protocol):
    """What finding the table in a grid asks of it, whether its cells are all there or are read again when they are
    asked for: rows come with '' in the cells that a record has not."""

    @property
    def widths(self) -> NDArray[np.intp]: ...

    @property
    def lines(self) -> NDArray[np.intp]: ...

    @property
    def odd(self) -> tuple[int, ...]: ...

    @property
    def columns(self) -> int:
        """Cells of the widest record."""

    @property
    def first(self) -> pd.Series:
        """The first cell of every record."""

    def rows(self, first: int, last: int) -> list[list[str]]:
        """The records from one position up to another."""

    def reach(self) -> NDArray[np.intp]:
        """How many cells each record has up to its last that is not empty."""

    def like(self, row: Sequence[str], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of these records are that row."""

    def empty(self, columns: Sequence[int]) -> list[int]:
        """Those of the columns in which no record has anything."""

    def part(self, first: int, last: int | None = None, columns: int | None = None) -> Self:
        """The records from one position up to another, with no more cells than that."""

    def kept(self, which: NDArray[np.bool_]) -> Self:
        """These records alone."""


def check_size(rows: int, columns: int) -> None:
    """Raises ReadError on more columns or cells than a table here can have."""
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ReadError(
            "the file would be a table of {rows} rows and {columns} columns, more than can be read here ({most} "
            "columns, {cells} cells); choose another delimiter or cut the file",
            rows=rows, columns=columns, most=MAX_COLUMNS, cells=MAX_CELLS,
        )  # fmt: skip


R = TypeVar("R", bound=Records)
_SEEN = 200_000
"""How many cells are looked at to find the header, in 20 rows or more."""


def row_at(grid: Records, i: int) -> list[str]:
    """One record, with no more cells than it has."""
    return rows_between(grid, i, i + 1)[0]


def rows_between(grid: Records, first: int, last: int) -> list[list[str]]:
    """The records from one position up to another, each with no more cells than it has."""
    return [row[:width] for row, width in zip(grid.rows(first, last), grid.widths[first:last], strict=True)]


def rows_at(grid: R, positions: NDArray[np.intp]) -> Iterator[tuple[int, list[str]]]:
    """These records with their positions, which rise or fall, read many at once."""
    step = at_once(grid)
    for some in (positions[k : k + step] for k in range(0, len(positions), step)):
        which = np.zeros(len(grid.widths), dtype=bool)
        which[some] = True
        part = grid.kept(which)
        rows = rows_between(part, 0, len(some))
        yield from zip(map(int, some), rows if some[0] < some[-1] else reversed(rows), strict=True)


def at_once(grid: Records) -> int:
    """How many records are read at once."""
    return max(_SEEN // max(grid.columns, 1), 20)
