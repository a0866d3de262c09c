"""The cells of a file for which rows are not decided."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

LISTED = 1000
"""How many bad cells of a file are named one by one; all are counted."""
Why = Literal["no number", "no count", "infinite", "not seen in training", "missing", "negative"]


class BadCell(NamedTuple):
    """A cell for which its row is not decided; `row` counts from 0."""

    row: int
    column: str
    value: str
    why: Why


class BadCells:
    """Which rows of a block cannot be decided, and because of which cells."""

    def __init__(self, n: int) -> None:
        self.rows = np.zeros(n, dtype=bool)
        self.named = np.zeros(n, dtype=bool)
        self.cells: list[BadCell] = []

    def add(self, mask: NDArray[np.bool_], column: str, values: pd.Series | None, why: Why) -> None:
        if why != "infinite":  # the model itself refuses such a row
            self.rows |= mask
        first = np.flatnonzero(mask & ~self.named)
        more = np.flatnonzero(mask & self.named)[: max(LISTED - len(self.cells), 0)]
        self.named |= mask
        for row in (*first.tolist(), *more.tolist()):
            self.cells.append(BadCell(row, column, "" if values is None else str(values.iloc[row]), why))

    def in_order(self) -> tuple[BadCell, ...]:
        """The cells by row; in a row as they were found."""
        return tuple(sorted(self.cells))
