"""A second table, of rows to be classified: cells as text → the model's columns, by name, in its order and types.

The training table said what the columns are, so nothing is guessed here: a cell is a level, a number, a text, missing,
a value not seen in training, or unreadable. An unreadable cell costs its own row only, and every cell stays at hand as
text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.table.encode import MISSING
from bayes_engine.table.numbers import (
    ALWAYS_MISSING,
    MISSING_AMONG_NUMBERS,
    Note,
    convert,
    convert_column,
    is_number,
    listed,
    note,
)
from bayes_engine.table.schema import Schema, Variable

LISTED = 1000
"""How many bad cells are named one by one; all are counted."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a text cell must not begin with in a file that a spreadsheet opens: it would be run as a formula."""


Why = Literal["no number", "no count", "infinite", "not seen in training", "missing", "negative"]


class BadCell(NamedTuple):
    """A cell for which its row is not decided; `row` counts from 0."""

    row: int
    column: str
    value: str
    why: Why


@dataclass(frozen=True)
class Incoming:
    """Rows to classify. `cells` is the file as text, untouched; `frame` holds the model's columns.

    `unreadable` (n,) rows that cannot be given to the model because of a cell; `bad` the first of these cells, and of
    the infinite ones, by name; `truth`
    (n,) positions among the classes, −1 where the file names none, −2 where it names something else; `has_truth`
    whether the file has the target at all.
    """

    cells: pd.DataFrame
    frame: pd.DataFrame
    unreadable: NDArray[np.bool_]
    bad: tuple[BadCell, ...]
    truth: NDArray[np.intp]
    has_truth: bool
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.cells)


def receive(
    cells: pd.DataFrame,
    schema: Schema,
    target: Variable,
    *,
    unseen: str = "ignore",
    missing: str = "marginalize",
    units: Mapping[str, str] | None = None,
    tokens: Sequence[str] | None = None,
) -> Incoming:
    """The text `cells` of a file as the columns of `schema` (a model's features) and, if it is there, its `target`.

    `unseen` and `missing` are the model's policies; `units` a column's unit as printed ("K" in 125K); `tokens` the
    only ones that mean missing, as in `read_table`.
    Raises SchemaMismatch where not one column of the model is in the file.

    >>> schema = Schema((Variable("city", "categorical", ("Oslo", "Rome")), Variable("size", "continuous")))
    >>> file = pd.DataFrame({"size": ["1,5", "2,5", "big"], "city": ["Rome", "Tokyo", ""], "note": ["", "", "x"]})
    >>> rows = receive(file, schema, Variable("good", "binary", ("no", "yes")))
    >>> rows.frame["size"].tolist(), rows.unreadable.tolist(), rows.bad[0]
    ([1.5, 2.5, nan], [False, False, True], BadCell(row=2, column='size', value='big', why='no number'))
    """
    cells = cells.set_axis([_unguarded(str(name)) for name in cells.columns], axis=1)
    here = [v for v in schema if v.name in cells.columns]
    if not here:
        raise SchemaMismatch(
            "none of the model's columns is in this file; it needs {known}. Check that the first line holds the column "
            "names",
            known=", ".join(f"'{name}'" for name in schema.names),
        )
    notes = _notes_of_columns(cells, schema, target)
    bad = _BadCells(len(cells))
    stripped = {v.name: cells[v.name].str.removesuffix((units or {}).get(v.name, "")) for v in here}
    numeric = [v for v in here if v.numeric]
    numbers, mark = _read_numbers(pd.DataFrame({v.name: stripped[v.name] for v in numeric}), tokens, notes)
    columns: dict[str, Any] = {}
    for variable in schema:
        name = variable.name
        if name not in stripped:
            columns[name] = (
                np.full(len(cells), np.nan) if variable.numeric
                else pd.Series([None] * len(cells), cells.index, dtype=object) if variable.textual
                else pd.Categorical.from_codes(np.full(len(cells), -1), pd.Index(variable.levels, dtype=object))
            )  # fmt: skip
        elif variable.numeric:
            columns[name] = _take_numbers(variable, cells[name], *numbers[name], bad, notes)
        elif variable.textual:
            columns[name] = _take_texts(name, cells[name], tokens, notes)
        else:
            columns[name] = _take_levels(variable, cells[name], stripped[name], tokens, unseen, mark, bad, notes)
        if missing == "error":
            _refuse_missing(name, columns[name], bad, notes)
    truth, has_truth = _truth(cells, target, tokens, notes)
    frame = pd.DataFrame(columns, index=cells.index)
    return Incoming(cells, frame, bad.rows, tuple(sorted(bad.cells)), truth, has_truth, tuple(notes))


def with_amounts(
    rows: Incoming, column: str, *, unit: str = "", tokens: Sequence[str] | None = None
) -> tuple[Incoming, Array]:
    """The amounts (n,) in a column of the file, and the rows with every cell there that is no number of 0 and more
    among the bad ones; its amount is NaN. `unit` and `tokens` as in `receive`.

    Raises SchemaMismatch where the file has no such column.

    >>> schema = Schema((Variable("city", "categorical", ("Oslo", "Rome")),))
    >>> file = pd.DataFrame({"city": ["Rome", "Oslo", "Oslo"], "sum": ["1200 DM", "-5", ""]})
    >>> rows = receive(file, schema, Variable("good", "binary", ("no", "yes")))
    >>> rows, amount = with_amounts(rows, "sum", unit=" DM")
    >>> amount.tolist(), [(cell.row, cell.why) for cell in rows.bad]
    ([1200.0, nan, nan], [(1, 'negative'), (2, 'missing')])
    """
    if column not in rows.cells.columns:
        raise SchemaMismatch(
            "it has no column '{column}', whose amounts multiply losses. Add the column, or make every loss a fixed "
            "sum",
            column=column,
        )
    cells = rows.cells[column]
    stripped = pd.DataFrame({column: cells.str.removesuffix(unit)})
    values, unreadable = _read_numbers(stripped, tokens, [])[0][column]
    flaws: list[tuple[NDArray[np.bool_], Why]] = [
        (unreadable, "no number"),
        (np.isnan(values) & ~unreadable, "missing"),
        (np.isinf(values), "infinite"),
        (values < 0, "negative"),
    ]
    bad = _BadCells(len(rows))
    for flaw, why in flaws:
        if flaw.any():
            bad.add(flaw, column, cells, why)
    found = replace(rows, unreadable=rows.unreadable | bad.rows, bad=tuple(sorted((*rows.bad, *bad.cells))))
    return found, np.where(bad.rows, np.nan, values)


def guarded(column: pd.Series) -> pd.Series:
    """Text cells that a spreadsheet would run as a formula get a leading apostrophe; numbers stay as they are.

    >>> guarded(pd.Series(["=1+1", "-5", "-5 kg", "@x", "plain"])).tolist()
    ["'=1+1", '-5', "'-5 kg", "'@x", 'plain']
    """
    codes, levels = pd.factorize(column)
    safe = np.array([f"'{text}" if str(text).startswith(FORMULA) and not is_number(str(text)) else str(text)
                     for text in levels], dtype=object)  # fmt: skip
    return pd.Series(safe[codes], index=column.index, name=column.name, dtype=object)


def _unguarded(text: str) -> str:
    """What `guarded` made of a text, as it was."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULA) else text


class _BadCells:
    """Which rows cannot be decided, and because of which cells."""

    def __init__(self, n: int) -> None:
        self.rows = np.zeros(n, dtype=bool)
        self.cells: list[BadCell] = []

    def add(self, mask: NDArray[np.bool_], column: str, values: pd.Series | None, why: Any) -> None:
        if why != "infinite":  # the model itself refuses such a row
            self.rows |= mask
        for row in np.flatnonzero(mask)[: LISTED - len(self.cells)]:
            self.cells.append(BadCell(int(row), column, "" if values is None else str(values.iloc[row]), why))


def _notes_of_columns(cells: pd.DataFrame, schema: Schema, target: Variable) -> list[Note]:
    notes = []
    extra = [str(c) for c in cells.columns if c not in schema and c != target.name]
    for name in schema.names:
        if name in cells.columns:
            continue
        alike = next((c for c in extra if c.strip().casefold() == name.strip().casefold()), None)
        if alike is None:
            notes.append(note("column '{column}' is not in this file: it counts as missing in every row", "warning",
                              column=name))  # fmt: skip
        else:
            notes.append(note("column '{column}' is not in this file and counts as missing; if '{other}' is meant, "
                              "rename it there", "warning", column=name, other=alike))  # fmt: skip
    if extra:
        notes.append(note("columns the model does not use, kept in the results: {names}", names=listed(extra, 12)))
    return notes


# numbers --------------------------------------------------------------------------------------------------------


def _read_numbers(
    cells: pd.DataFrame, tokens: Sequence[str] | None, notes: list[Note]
) -> tuple[dict[str, tuple[Array, NDArray[np.bool_]]], Any]:
    """(values, unreadable) of every column, and the file's decimal mark, read as a training table's would be."""
    frame, told, mark = convert(cells, None, tokens)
    result = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
            result[name] = (column.to_numpy(dtype=float), np.zeros(len(column), dtype=bool))
            notes.extend(n for n in told if n.column == name)
        else:
            result[name] = _read_mixed(cells[name], mark, tokens)
    return result, mark


def _read_mixed(column: pd.Series, mark: Any, tokens: Sequence[str] | None) -> tuple[Array, NDArray[np.bool_]]:
    """Numbers from a column that is not numbers throughout, with the cells that are none flagged."""
    codes, levels = pd.factorize(column)
    bare = [str(text).strip() for text in levels]
    absent = np.array([b in (MISSING_AMONG_NUMBERS if tokens is None else ("", *tokens)) for b in bare], dtype=bool)
    readable = np.array([is_number(b) or b.lstrip("+-").lower() in ("inf", "infinity") for b in bare], dtype=bool)
    values = np.full(len(bare), np.nan)
    spelled = pd.Series(bare, name=column.name, dtype=object)[readable & ~absent]
    if len(spelled):
        read = convert_column(spelled, "," if mark == "," else None, ()).values
        plain = pd.api.types.is_numeric_dtype(read.dtype) and not pd.api.types.is_bool_dtype(read.dtype)
        # where the styles contradict each other, only what is written as a program writes it is taken
        values[spelled.index] = read if plain else pd.to_numeric(spelled, errors="coerce")
    return values[codes], (np.isnan(values) & ~absent)[codes]


def _take_numbers(variable: Variable, cells: pd.Series, values: Array, unreadable: NDArray[np.bool_], bad: _BadCells,
                  notes: list[Note]) -> Array:  # fmt: skip
    name = variable.name
    if unreadable.any():
        row = int(unreadable.argmax())
        bad.add(unreadable, name, cells, "no number")
        notes.append(note("column '{column}': cells that cannot be read as numbers: {n}, the first in row {row} "
                          "('{value}'); these rows are not decided", "warning", column=name, n=int(unreadable.sum()),
                          row=row + 1, value=str(cells.iloc[row])[:40]))  # fmt: skip
    infinite = np.isinf(values)
    if infinite.any():
        bad.add(infinite, name, cells, "infinite")
        notes[:] = [m for m in notes if m.column != name or "infinite" not in m.message.template]
        notes.append(note("column '{column}': rows with an infinite number, not decided: {n}", "warning", column=name,
                          n=int(infinite.sum())))  # fmt: skip
    fractions = np.isfinite(values) & ((values < 0) | (values != np.round(values)))
    if variable.likelihood == "poisson" and fractions.any():
        row = int(fractions.argmax())
        bad.add(fractions, name, cells, "no count")
        notes.append(note("column '{column}': cells that are none of the counts 0, 1, 2, …: {n}, the first in row "
                          "{row} ('{value}'); these rows are not decided", "warning", column=name,
                          n=int(fractions.sum()), row=row + 1, value=str(cells.iloc[row])[:40]))  # fmt: skip
    if (absent := np.isnan(values) & ~unreadable).any() and not absent.all():
        _note_missing(name, int(absent.sum()), notes)
    return values


def _take_texts(name: str, cells: pd.Series, tokens: Sequence[str] | None, notes: list[Note]) -> pd.Series:
    """Texts as they stand there, without the apostrophe that `guarded` put before one. A word not seen in training is
    no flaw of a text: it says nothing."""
    absent = cells.str.strip().isin(ALWAYS_MISSING if tokens is None else ("", *tokens))
    if absent.any():
        _note_missing(name, int(absent.sum()), notes)
    return cells.map(lambda cell: _unguarded(str(cell))).astype(object).mask(absent, None)


def _note_missing(name: str, n: int, notes: list[Note]) -> None:
    notes[:] = [m for m in notes if m.column != name or "missing" not in m.message.template]
    notes.append(note("column '{column}': missing cells: {n}; a missing cell has no factor in its row's product",
                      column=name, n=n))  # fmt: skip


def _refuse_missing(name: str, column: Any, bad: _BadCells, notes: list[Note]) -> None:
    absent = np.asarray(pd.isna(column)) & ~bad.rows
    if absent.any():
        bad.add(absent, name, None, "missing")
        notes.append(note("column '{column}': rows with a missing cell are not decided (missing='error'): {n}",
                          "warning", column=name, n=int(absent.sum())))  # fmt: skip


# levels ---------------------------------------------------------------------------------------------------------


def _take_levels(variable: Variable, cells: pd.Series, stripped: pd.Series, tokens: Sequence[str] | None, unseen: str,
                 mark: Any, bad: _BadCells, notes: list[Note]) -> pd.Categorical:  # fmt: skip
    name = variable.name
    codes, strange = _match(stripped, variable, tokens, mark)
    if (codes == MISSING).any():
        _note_missing(name, int((codes == MISSING).sum()), notes)
    new = codes > len(variable.levels)
    if new.any():
        values = _counted(codes[new] - len(variable.levels) - 1, strange)
        notes.append(_note_unseen(name, values, unseen))
        if unseen == "error":
            bad.add(new, name, cells, "not seen in training")
    levels = [*variable.levels, *strange]
    return pd.Categorical.from_codes(codes.astype(np.int64) - 1, pd.Index(levels, dtype=object))


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


def _match(
    column: pd.Series, variable: Variable, tokens: Sequence[str] | None, mark: Any
) -> tuple[NDArray[np.intp], list[str]]:
    """(n,) codes: 0 missing, 1…S the levels, beyond them the values that are none, which are listed."""
    spellings, levels = pd.factorize(column)
    texts = [str(text) for text in levels]
    known = {str(level): code for code, level in enumerate(variable.levels, start=1)}
    by_value = _by_value(texts, variable, mark)
    absent = ALWAYS_MISSING if tokens is None else ("", *tokens)
    strange: list[str] = []
    codes = np.zeros(len(texts), dtype=np.intp)
    for i, text in enumerate(texts):
        code = known.get(text) or known.get(_unguarded(text)) or by_value.get(text)
        if code is None and text.strip() in absent:
            code = MISSING
        if code is None:
            strange.append(text)
            code = len(variable.levels) + len(strange)
        codes[i] = code
    return codes[spellings], strange


def _by_value(texts: list[str], variable: Variable, mark: Any) -> dict[str, int]:
    """Codes of the texts that spell a level another way: TRUE for true, 1.0 for 1."""
    levels = {level: code for code, level in enumerate(variable.levels, start=1)}
    if all(isinstance(level, bool) for level in levels):
        truth = {"true": True, "false": False}
        return {t: levels[truth[t.strip().lower()]] for t in texts if truth.get(t.strip().lower()) in levels}
    if any(isinstance(level, str | bool) for level in levels) or not texts:
        return {}
    values, unreadable = _read_mixed(pd.Series(texts, dtype=object), mark, None)
    return {t: levels[v] for t, v, no in zip(texts, values.tolist(), unreadable, strict=True) if not no and v in levels}


def _truth(
    cells: pd.DataFrame, target: Variable, tokens: Sequence[str] | None, notes: list[Note]
) -> tuple[NDArray[np.intp], bool]:
    if target.name not in cells.columns:
        return np.full(len(cells), -1, dtype=np.intp), False
    codes, strange = _match(cells[target.name], target, tokens, None)
    new = codes > len(target.levels)
    if new.any():
        notes.append(note("column '{column}' holds labels that are no class of the model: {values}; the classes are "
                          "{classes}. These rows are classified, but not counted as right or wrong", "warning",
                          column=target.name, values=_counted(codes[new] - len(target.levels) - 1, strange),
                          classes=listed([str(v) for v in target.levels], 12)))  # fmt: skip
    return np.where(new, -2, codes - 1).astype(np.intp), True


def _counted(codes: NDArray[np.intp], values: list[str], most: int = 6) -> str:
    """The most frequent of `values` with their counts."""
    count = np.bincount(codes, minlength=len(values))
    shown = ", ".join(f"'{values[i][:40]}' ({count[i]})" for i in np.argsort(-count, kind="stable")[:most])
    return shown + (", …" if len(values) > most else "")
