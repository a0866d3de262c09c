"""What was found in a file over its blocks, and what is said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.language import Listing, Message
from bayes_engine.table.notes import Note, listed, note
from bayes_engine.table.schema import Variable

COUNTED = 10_000
"""How many different values that training had not seen are counted one by one, a column."""


@dataclass
class _BadCount:
    """Cells of a column that are wrong in one way: how many, and the first."""

    n: int = 0
    row: int = 0
    value: str = ""

    def add(self, mask: NDArray[np.bool_], cells: pd.Series, above: int) -> None:
        """Those of a block below so many rows."""
        if not self.n:
            first = int(mask.argmax())
            self.row, self.value = above + first, str(cells.iloc[first])
        self.n += int(mask.sum())

    def facts(self, column: str) -> dict[str, Any]:
        """What a note says of them."""
        return {"column": column, "n": self.n, "row": self.row + 1, "value": self.value[:40]}


@dataclass
class ColumnTally:
    """What was found in a column, over the blocks."""

    remarks: dict[str, Note] = field(default_factory=dict)
    hollow: Note | None = None
    missing: int = 0
    unseen: int = 0
    padded: int = 0
    refused: int = 0
    infinite: int = 0
    unreadable: _BadCount = field(default_factory=_BadCount)
    fractions: _BadCount = field(default_factory=_BadCount)
    strange: Counter[str] = field(default_factory=Counter)
    otherwise: Counter[str] = field(default_factory=Counter)

    def add_notes(self, notes: Iterable[Note], above: int, *, hollow: bool) -> None:
        """What reading the numbers of a block, below so many rows, had to say; of what is said twice the first, with
        all cells counted."""
        for remark in notes:
            template, params = remark.message.template, dict[str, Any](remark.message.params)
            if hollow:
                self.hollow = self.hollow or remark
            elif "missing" not in template and "infinite" not in template:
                if "row" in params:
                    first = {**params, "row": params["row"] + above, "n": 0}
                    counted = self.remarks.get(template)
                    before = first if counted is None else dict[str, Any](counted.message.params)
                    params = {**before, "n": before["n"] + params["n"]}
                    self.remarks[template] = replace(remark, message=Message(template, params))
                self.remarks.setdefault(template, remark)

    def count(self, codes: NDArray[np.intp], values: Sequence[str]) -> None:
        """Values that are none of the levels, by their positions in `values`."""
        for value, n in zip(values, np.bincount(codes, minlength=len(values)).tolist(), strict=True):
            if value in self.strange or len(self.strange) < COUNTED:
                self.strange[value] += n

    def unlike(self, name: str, rows: int, *, of_numbers: bool) -> Iterator[Note]:
        """That most cells are none of the table's kind: no numbers, or values that it does not have."""
        filled = rows - self.missing
        if 0 < rows == self.missing:
            yield note("column '{column}' is empty in this file: it counts as missing in every row", "warning",
                       column=name)  # fmt: skip
        elif of_numbers and 2 * self.unreadable.n > filled:
            yield note("column '{column}' is of another kind here: {n} of its {of} cells are no such numbers, as "
                       "'{value}'", "warning", column=name, n=self.unreadable.n, of=filled,
                       value=self.unreadable.value[:40])  # fmt: skip
        elif 2 * self.unseen > filled:
            yield note("column '{column}' is of another kind here: {n} of its {of} cells hold values that the table "
                       "has not: {values}", "warning", column=name, n=self.unseen, of=filled,
                       values=most_frequent(self.strange, 3))  # fmt: skip

    def notes_of_amounts(self, name: str) -> Iterator[Note]:
        """What there is to say of what multiplies losses."""
        yield from self.remarks.values()
        if self.unreadable.n:
            yield note("column '{column}': cells that are no amount, a number of 0 and more: {n}, the first in row "
                       "{row} ('{value}'); these rows are not decided", "warning",
                       **self.unreadable.facts(name))  # fmt: skip

    def written_otherwise(self, name: str) -> Iterator[Note]:
        """What to say of the cells that mean a level which is written otherwise."""
        if self.otherwise:
            yield note("column '{column}': values of the table that are written otherwise here, taken as these: "
                       "{values}", column=name, values=most_frequent(self.otherwise))  # fmt: skip

    def notes(self, variable: Variable, rows: int, unseen: str) -> Iterator[Note]:
        name, empty = variable.name, self.hollow is not None and self.missing == rows
        yield from ([self.hollow] if empty and self.hollow else self.remarks.values())
        if self.unreadable.n:
            yield note("column '{column}': cells that cannot be read as numbers: {n}, the first in row {row} "
                       "('{value}'); these rows are not decided", "warning",
                       **self.unreadable.facts(name))  # fmt: skip
        if self.infinite:
            yield note("column '{column}': rows with an infinite number, not decided: {n}", "warning", column=name,
                       n=self.infinite)  # fmt: skip
        if self.fractions.n:
            yield note("column '{column}': cells that are none of the counts 0, 1, 2, …: {n}, the first in row {row} "
                       "('{value}'); these rows are not decided", "warning",
                       **self.fractions.facts(name))  # fmt: skip
        if self.missing and not empty:
            yield note("column '{column}': missing cells: {n}; a missing cell has no factor in its row's product",
                       column=name, n=self.missing)  # fmt: skip
        if self.padded:
            yield note("column '{column}': cells with spaces around a value of the table, taken as that value: {n}",
                       column=name, n=self.padded)  # fmt: skip
        yield from self.written_otherwise(name)
        if self.strange:
            yield _note_unseen(name, most_frequent(self.strange), unseen)
        if self.refused:
            yield note("column '{column}': rows with a missing cell are not decided (missing='error'): {n}", "warning",
                       column=name, n=self.refused)  # fmt: skip


def most_frequent(values: Counter[str], most: int = 6) -> Listing:
    """The most frequent of the values, with their counts."""
    shown = [Message("{name} ({n})", {"name": listed([value[:40]]), "n": n}) for value, n in values.most_common(most)]
    return Listing([*shown, *(["…"] if len(values) > most else [])])


@dataclass
class FileTally:
    """What was found in a file, over the blocks taken so far: how many `rows` they have, and of each column."""

    rows: int = 0
    columns: dict[str, ColumnTally] = field(default_factory=dict)
    truth: ColumnTally = field(default_factory=ColumnTally)
    amount: ColumnTally = field(default_factory=ColumnTally)


def _note_unseen(name: str, values: str, unseen: str) -> Note:
    """What becomes of values that training had not seen."""
    if unseen == "smooth":
        return note("column '{column}': values not seen in training: {values}; each gets the probability kept for a "
                    "new level", "warning", column=name, values=values)  # fmt: skip
    if unseen == "error":
        return note("column '{column}': values not seen in training: {values}; these rows are not decided "
                    "(unseen='error')", "warning", column=name, values=values)  # fmt: skip
    return note("column '{column}': values not seen in training: {values}; an unseen value has no factor in its row's "
                "product (unseen='ignore')", "warning", column=name, values=values)  # fmt: skip
