"""How the columns of a second file write their numbers: found out over all of its rows, then read block by block.

A cell that is no number costs its own row only, so a column is read also where not all of its cells are numbers, and
where they are not written in one way: as most of them are. A number is multiplied by its suffix (5k), as where a person
says of a table's column that it holds numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.logspace import Array
from bayes_engine.table.annotations import bare_number
from bayes_engine.table.column_notes import altered, suffix_notes
from bayes_engine.table.convert import ConvertedColumn, convert_column
from bayes_engine.table.notes import Note
from bayes_engine.table.numbers import INFINITE, Mark, is_number, means_missing, pointed
from bayes_engine.table.spellings import INVISIBLE
from bayes_engine.table.units import multiplied


class Style(NamedTuple):
    """How a column's numbers are read: with this decimal mark ("" as they show themselves); where they are not written
    in one way (`inconsistent`), only those that bear this sign (% $ or none); and with suffixes, or as nothing but what
    they are (`suffixes`)."""

    mark: Literal["", ".", ","] = ""
    sign: str = ""
    inconsistent: bool = False
    suffixes: bool = True


@dataclass
class NumberStyles:
    """How a column writes its numbers, over the blocks: whether every cell is one, how many cells are written in which
    way (the sign they bear, the decimal mark they show beyond doubt), and whether a block contradicted itself."""

    numeric: bool = True
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradictory: bool = False

    def add(self, column: pd.Series, tokens: Sequence[str] | None) -> None:
        """One more block."""
        converted = convert_column(column, None, tokens)
        if not _is_numbers(converted.values):
            self.numeric = False
            codes, spelled, _suffixed, _absent = _spelled(column, tokens)
            if not len(spelled):
                return
            converted = convert_column(spelled, None, ())
            if not _is_numbers(converted.values):
                self.contradictory = True
                times = np.bincount(codes[codes >= 0], minlength=int(spelled.index[-1]) + 1)[spelled.index]
                for style, n in zip(_signs_and_marks(spelled), times.tolist(), strict=True):
                    if style is not None:
                        self.seen[style] += n
                return
        if n := int(converted.values.notna().sum()):
            self.seen[_sign(converted), converted.mark or ""] += n

    @property
    def inconsistent(self) -> bool:
        """Whether no one way of writing numbers fits the column."""
        return self.contradictory or len({sign for sign, _ in self.seen}) > 1 or len(self._marks()) > 1

    @property
    def mark(self) -> Mark | None:
        """The decimal mark that most of the cells show which bear the sign that most bear, where any does."""
        marks = self._marks(self.sign)
        if not marks:
            return None
        return "," if marks[","] > marks["."] else "."

    @property
    def sign(self) -> str:
        """The sign that most cells bear."""
        signs = Counter[str]()
        for (sign, _), n in self.seen.items():
            signs[sign] += n
        return max(sorted(signs), key=lambda s: signs[s], default="")

    def style(self, mark: Mark, *, chosen: bool = False) -> Style:
        """How to read the column in a file with this decimal mark; one that is `chosen` by a person holds for every
        column."""
        own = mark if chosen else self.mark or mark
        shown = own == "." and not chosen and not self.inconsistent
        return Style("" if shown else own, self.sign, self.inconsistent)

    def _marks(self, sign: str | None = None) -> Counter[str]:
        marks = Counter[str]()
        for (borne, mark), n in self.seen.items():
            if mark and sign in (None, borne):
                marks[mark] += n
        return marks


def _sign(column: ConvertedColumn) -> str:
    """What the numbers bear: %, a currency sign, or nothing."""
    templates = {n.message.template: n for n in column.notes}
    if any("is in percent" in template for template in templates):
        return "%"
    return next((str(n.message.params["sign"]) for t, n in templates.items() if "currency sign" in t), "")


_DIGITS = re.compile(r"\d(?:.*\d)?")
_BARE = str.maketrans("％￥", "%¥", "+-−﹣－–‐‑().,．，'’ \u00a0\u202f\u2009")


def _cell_sign(cell: str) -> str:
    """The same of one cell.

    >>> [_cell_sign(cell) for cell in ("-1,5 %", "US$ 5", "(3)", "1e5")]
    ['%', 'US$', '', '']
    """
    return _DIGITS.sub("", cell).translate(_BARE)


def _signs_and_marks(spelled: pd.Series) -> list[tuple[str, str] | None]:
    """Of each number the sign it bears and the decimal mark it shows beyond doubt; None of infinity."""
    point, comma = (convert_column(spelled, mark, (), "number").values.notna() for mark in (".", ","))
    return [
        None if not (p or c) else (_cell_sign(cell), "" if p and c else "." if p else ",")
        for cell, p, c in zip(spelled, point, comma, strict=True)
    ]


def _is_numbers(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def read_numbers(
    column: pd.Series, style: Style, tokens: Sequence[str] | None
) -> tuple[Array, NDArray[np.bool_], tuple[Note, ...]]:
    """(values, unreadable, what there is to say) of a column of numbers, read as a training table's would be.

    >>> values, unreadable, _notes = read_numbers(pd.Series(["1,5", "big", ""]), Style(","), None)
    >>> values.tolist(), unreadable.tolist()
    ([1.5, nan, nan], [False, True, False])
    """
    if not style.inconsistent:
        converted = convert_column(column, style.mark or None, tokens)
        if _is_numbers(converted.values):
            return converted.values.to_numpy(dtype=float), np.zeros(len(column), dtype=bool), converted.notes
    return read_mixed(column, style, tokens)


class _Spelled(NamedTuple):
    """(n,) codes of the different spellings of a column; those of them that are numbers, without their suffixes; by
    their positions those that have one, as they are written, and what it multiplies by; and which mean missing."""

    codes: NDArray[np.intp]
    numbers: pd.Series
    suffixed: dict[int, tuple[str, float]]
    absent: NDArray[np.bool_]


def _spelled(column: pd.Series, tokens: Sequence[str] | None, *, suffixes: bool = True) -> _Spelled:
    codes, levels = pd.factorize(column)
    bare = [INVISIBLE.sub("", str(text)).strip() for text in levels]
    gone = means_missing if tokens is None else ("", *tokens).__contains__
    absent = np.array([gone(b) for b in bare], dtype=bool)
    readable = np.array([is_number(b) or INFINITE.fullmatch(b) is not None for b in bare], dtype=bool) & ~absent
    suffixed = dict[int, tuple[str, float]]()
    for i in np.flatnonzero(~readable & ~absent).tolist() if suffixes else ():
        number, by = bare_number(bare[i])
        if number != bare[i]:
            suffixed[i] = bare[i], by
            bare[i], readable[i] = number, True
    return _Spelled(codes, pd.Series(bare, name=column.name, dtype=object)[readable], suffixed, absent)


def read_mixed(
    column: pd.Series, style: Style, tokens: Sequence[str] | None
) -> tuple[Array, NDArray[np.bool_], tuple[Note, ...]]:
    """Numbers from a column that is not numbers throughout, with the cells that are none flagged, and what there is to
    say of the others.

    >>> values, unreadable, _notes = read_mixed(pd.Series(["5k", "2000", "big"]), Style(), None)
    >>> values.tolist(), unreadable.tolist()
    ([5000.0, 2000.0, nan], [False, False, True])
    >>> cells = pd.Series(["1,5", "2,5 %", "2.5", "-inf"])
    >>> values, unreadable, _notes = read_mixed(cells, Style(",", inconsistent=True), None)
    >>> values.tolist(), unreadable.tolist()
    ([1.5, nan, nan, -inf], [False, True, True, False])
    """
    codes, spelled, suffixed, absent = _spelled(column, tokens, suffixes=style.suffixes)
    values = np.full(len(absent), np.nan)
    notes: tuple[Note, ...] = ()
    if len(spelled):
        converted = None if style.inconsistent else convert_column(spelled, style.mark or None, ())
        if converted is None or not _is_numbers(converted.values):
            spelled, converted = _one_by_one(spelled, style)
        values[spelled.index] = converted.values
        read = [i for i in suffixed if not np.isnan(values[i])]
        values[read] = [multiplied(float(values[i]), suffixed[i][1]) for i in read]
        numbers = [pointed(token) or 0.0 for token in tokens or () if is_number(token)]
        same = np.isin(values, numbers)
        values[same], absent = np.nan, absent | same  # -99 means missing, however it is written
        notes = (*(n for n in converted.notes if "row" not in n.message.params),
                 *suffix_notes(str(column.name), [suffixed[i][0] for i in read], values[read]))  # fmt: skip
    return values[codes], (np.isnan(values) & ~absent)[codes], (*notes, *altered(column, values[codes]))


def _one_by_one(spelled: pd.Series, style: Style) -> tuple[pd.Series, ConvertedColumn]:
    """Those of the numbers that are written in this style, and what they are."""
    mark: Mark = "," if style.mark == "," else "."
    read = convert_column(spelled, mark, (), "number").values.where(spelled.map(_cell_sign) == style.sign)
    endless = spelled.map(lambda cell: INFINITE.fullmatch(cell) is not None).astype(bool)
    read = read.mask(endless, [-np.inf if cell[0] in "-−" else np.inf for cell in spelled])
    fits = read.notna()
    converted = convert_column(spelled[fits], mark, ())  # for what there is to say of them
    notes = converted.notes if _is_numbers(converted.values) else ()
    return spelled[fits], converted._replace(values=read[fits], notes=notes)
