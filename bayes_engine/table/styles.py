"""How the columns of a second file write their numbers: found out over all of its rows, then read block by block.

A cell that is no number costs its own row only, so a column is read also where not all of its cells are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.logspace import Array
from bayes_engine.table.numbers import (
    INFINITE,
    INVISIBLE,
    MISSING_AMONG_NUMBERS,
    Column,
    Note,
    altered,
    convert_column,
    is_number,
)

Style = Literal["", ".", ",", "program"]
"""How a column's numbers are read: as they show themselves, with a decimal mark, or only as a program writes them."""


@dataclass
class Look:
    """How a column writes its numbers, over the blocks: whether every cell is one, the decimal marks that it shows
    beyond doubt, the signs (% $ or none) that its numbers bear, and whether a block contradicted itself."""

    numeric: bool = True
    marks: set[str] = field(default_factory=set)
    signs: set[str] = field(default_factory=set)
    contradictory: bool = False

    def over(self, column: pd.Series, tokens: Sequence[str] | None) -> None:
        """One more block."""
        found = convert_column(column, None, tokens)
        if not _is_numbers(found.values):
            self.numeric = False
            spelled = _spelled(column, tokens)[1]
            if not len(spelled):
                return
            found = convert_column(spelled, None, ())
            if not _is_numbers(found.values):
                self.contradictory = True
                return
        if found.mark:
            self.marks.add(found.mark)
        if not found.values.isna().all():
            self.signs.add(_sign(found))

    @property
    def torn(self) -> bool:
        """Whether no one way of writing numbers fits the column."""
        return self.contradictory or len(self.marks) > 1 or len(self.signs) > 1

    def style(self, mark: str) -> Style:
        """How to read the column in a file with this decimal mark."""
        own = next(iter(self.marks), "")
        if self.torn or (not self.numeric and mark == "," and own == "."):
            return "program"
        return "," if "," in (own or mark) else ""


def _sign(column: Column) -> str:
    """What the numbers bear: %, a currency sign, or nothing."""
    templates = {n.message.template: n for n in column.notes}
    if any("is in percent" in template for template in templates):
        return "%"
    return next((str(n.message.params["sign"]) for t, n in templates.items() if "currency sign" in t), "")


def _is_numbers(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def read_numbers(
    column: pd.Series, style: Style, tokens: Sequence[str] | None
) -> tuple[Array, NDArray[np.bool_], tuple[Note, ...]]:
    """(values, unreadable, what there is to say) of a column of numbers, read as a training table's would be.

    >>> values, unreadable, _said = read_numbers(pd.Series(["1,5", "big", ""]), ",", None)
    >>> values.tolist(), unreadable.tolist()
    ([1.5, nan, nan], [False, True, False])
    """
    if style != "program":
        found = convert_column(column, style or None, tokens)
        if _is_numbers(found.values):
            return found.values.to_numpy(dtype=float), np.zeros(len(column), dtype=bool), found.notes
    return read_mixed(column, style, tokens)


def _spelled(column: pd.Series, tokens: Sequence[str] | None) -> tuple[NDArray[np.intp], pd.Series, NDArray[np.bool_]]:
    """(n,) codes of the different spellings, those of them that are numbers, and which mean missing."""
    codes, levels = pd.factorize(column)
    bare = [INVISIBLE.sub("", str(text)).strip() for text in levels]
    absent = np.array([b in (MISSING_AMONG_NUMBERS if tokens is None else ("", *tokens)) for b in bare], dtype=bool)
    readable = np.array([is_number(b) or INFINITE.fullmatch(b) is not None for b in bare], dtype=bool)
    return codes, pd.Series(bare, name=column.name, dtype=object)[readable & ~absent], absent


def read_mixed(
    column: pd.Series, style: Style, tokens: Sequence[str] | None
) -> tuple[Array, NDArray[np.bool_], tuple[Note, ...]]:
    """Numbers from a column that is not numbers throughout, with the cells that are none flagged, and what there is to
    say of the others.

    >>> values, unreadable, _said = read_mixed(pd.Series(["5 %", "big"]), "", None)
    >>> values.tolist(), unreadable.tolist()
    ([5.0, nan], [False, True])
    """
    codes, spelled, absent = _spelled(column, tokens)
    values = np.full(len(absent), np.nan)
    told: tuple[Note, ...] = ()
    if len(spelled):
        found = None if style == "program" else convert_column(spelled, style or None, ())
        if found is not None and _is_numbers(found.values):
            values[spelled.index] = found.values
            told = tuple(n for n in found.notes if "row" not in n.message.params)
        else:  # the styles contradict each other: only what is written as a program writes it is taken
            values[spelled.index] = pd.to_numeric(spelled, errors="coerce")
    return values[codes], (np.isnan(values) & ~absent)[codes], (*told, *altered(column, values[codes]))
