"""A second table, of rows to be classified: cells as text → the model's columns, by name, in its order and types.

The training table said what the columns are, so nothing is guessed here: a cell is a level, a number, a text, missing,
a value not seen in training, or unreadable. An unreadable cell costs its own row only, and every cell stays at hand as
text. A file is received a block of rows at a time, each row as if the whole file had been received at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.table.encode import MISSING
from bayes_engine.table.guard import unguarded
from bayes_engine.table.level_matching import match
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.notes import Note, listed, note
from bayes_engine.table.numbers import ALWAYS_MISSING, Mark
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.styles import NumberStyles, Style, read_numbers
from bayes_engine.workbench.incoming.bad_cells import BadCell, BadCells, Why
from bayes_engine.workbench.incoming.columns import match_columns
from bayes_engine.workbench.incoming.file_blocks import BLOCK, CellBlocks
from bayes_engine.workbench.incoming.file_tally import ColumnTally, FileTally, most_frequent


@dataclass(frozen=True)
class Incoming:
    """Rows to classify. `cells` is the file as text, untouched; `frame` holds the model's columns.

    `unreadable` (n,) rows that cannot be given to the model because of a cell; `bad` the cells for which rows are not
    decided, of every row its first and LISTED others, by row; `truth` (n,) positions among the classes, −1 where the
    file names none, −2 where it names something else; `called` the names that the model's columns have in the
    file; `amount` (n,) what multiplies each row's losses, NaN where the cell is no such number, or None where it was
    not asked for or the file has no such column.
    """

    cells: pd.DataFrame
    frame: pd.DataFrame
    unreadable: NDArray[np.bool_]
    bad: tuple[BadCell, ...]
    truth: NDArray[np.int32]
    notes: tuple[Note, ...]
    called: Mapping[str, str]
    amount: Array | None = None

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        return tuple(self.cells.columns)

    def blocks(self, rows: int = 0) -> Iterator[Incoming]:
        """The same rows, at most `rows` at a time (0: as many as hold BLOCK cells); `bad` counts from each's first."""
        step = rows or max(1, BLOCK // max(self.cells.shape[1], 1))
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            bad = tuple(cell._replace(row=cell.row - start) for cell in self.bad if start <= cell.row < start + step)
            yield replace(self, cells=self.cells.iloc[part], frame=self.frame.iloc[part], bad=bad,
                          unreadable=self.unreadable[part], truth=self.truth[part],
                          amount=None if self.amount is None else self.amount[part])  # fmt: skip


class Treatment(NamedTuple):
    """What is done to a column's cells as they come, because it was done to the table's: `texts` writes them otherwise;
    the numbers `absent`, those of the size `beyond` and larger, and `words`, which are no number, mean missing. Of
    dates `first` is what stands first where day and month could change places."""

    texts: Callable[[pd.Series], pd.Series] | None = None
    absent: tuple[float, ...] = ()
    beyond: float = np.nan
    words: bool = False
    first: Literal["day", "month", ""] = ""

    def numbers(self, values: Array, unreadable: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
        """The numbers of a column, NaN where they mean missing, and which cells cannot be read."""
        gone = np.isin(values, self.absent) | (np.abs(values) >= self.beyond)
        return np.where(gone, np.nan, values), unreadable & (not self.words)


@dataclass(frozen=True)
class IncomingFile:
    """The rows of a file, read again a block at a time whenever they are wanted; `bad` (the first LISTED of the file),
    `truth` and `amount` as in `Incoming`; `doubts` are those of its `notes` that say a column is of another kind than
    the table's."""

    reception: Reception
    bad: tuple[BadCell, ...]
    truth: NDArray[np.int32]
    notes: tuple[Note, ...]
    doubts: tuple[Note, ...]
    amount: Array | None

    def __len__(self) -> int:
        return len(self.reception.cells)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        return self.reception.names

    def blocks(self, rows: int = 0) -> Iterator[Incoming]:
        """The rows, at most `rows` at a time; `bad` counts from each block's first."""
        return self.reception.blocks(rows)

    def head(self, n: int) -> Incoming:
        """The first rows."""
        return next(self.blocks(n))


@dataclass(frozen=True)
class CellRules:
    """How the cells of a file become values: `unseen` and `missing` are the model's policies; `units` a column's unit
    as printed ("K" in 125K); `tokens` the only ones that mean missing, as in `read_table`; `treated` says by column
    what was done to the cells of the table; `decimal` is the decimal mark, where a person says it."""

    unseen: str = "ignore"
    missing: str = "marginalize"
    units: Mapping[str, str] = field(default_factory=dict)
    tokens: Sequence[str] | None = None
    treated: Mapping[str, Treatment] = field(default_factory=dict)
    decimal: Mark | None = None


class Reception:
    """How the cells of a file become the columns of a model, found out once for all of its rows.

    A look over the whole file finds how it writes its numbers: a column that shows its decimal mark beyond doubt (12,5)
    decides for those that do not (1,234), and of a column that contradicts itself what is written as most of its cells
    are is taken. Then any block can be received alone.

    `schema` are the model's features, `target` its class, if it is there; `amount` is the column that multiplies
    losses; `alike` and `chosen` are as in `match_columns`.

    Raises SchemaMismatch where not one column of the model is in the file.

    >>> schema = Schema((Variable("size", "continuous"),))
    >>> cells = CellBlocks.of(pd.DataFrame({"size": ["1,234", "2,5", "3"]}))
    >>> reception = Reception(cells, schema, Variable("good", "binary", ("no", "yes")))
    >>> [rows.frame["size"].tolist() for rows in reception.blocks(1)]
    [[1.234], [2.5], [3.0]]
    >>> schema = Schema((Variable("city", "categorical", ("Oslo", "Rome")), Variable("size", "continuous")))
    >>> file = pd.DataFrame({"size": ["1,5", "2,5", "big"], "city": ["Rome", "Tokyo", ""], "note": ["", "", "x"]})
    >>> rows = Reception(CellBlocks.of(file), schema, Variable("good", "binary", ("no", "yes"))).take(file)
    >>> rows.frame["size"].tolist(), rows.unreadable.tolist(), rows.bad[0]
    ([1.5, 2.5, nan], [False, False, True], BadCell(row=2, column='size', value='big', why='no number'))
    """

    def __init__(
        self,
        cells: CellBlocks,
        schema: Schema,
        target: Variable,
        rules: CellRules = CellRules(),
        *,
        amount: str = "",
        alike: bool = False,
        chosen: Mapping[str, int] | None = None,
    ) -> None:
        self.cells, self.schema, self.target, self.rules = cells, schema, target, rules
        wanted = (*schema.names, target.name, *([amount] if amount else []))
        self.matched = match_columns(cells.names, wanted, alike=alike, chosen=chosen)
        self.names, self.called = self.matched.names, self.matched.called
        self.multiplier, self.amount = amount, amount if amount in self.called else ""
        self.here = [v for v in schema if v.name in self.called]
        if not self.here:
            raise SchemaMismatch(
                "none of the model's columns is in this file; it needs {known}. Check that the first line holds the "
                "column names",
                known=listed(schema.names, 12),
            )
        self.mark, self.styles = self._number_styles()

    def blocks(self, rows: int = 0, tally: FileTally | None = None) -> Iterator[Incoming]:
        """All rows, received a block at a time, as `CellBlocks.blocks` gives them."""
        return (self.take(block, tally) for block in self.cells.blocks(rows))

    def take(self, block: pd.DataFrame, tally: FileTally | None = None) -> Incoming:
        """One block of the file. What there is to say of it is added to `tally`."""
        tally = FileTally() if tally is None else tally
        cells = self._named(block)
        if self.matched.ours:
            cells = cells.apply(lambda column: column.map(unguarded))
        bad = BadCells(len(cells))
        columns = {v.name: self._column(v, cells, bad, tally) for v in self.schema}
        amount = None
        if self.amount:
            column, (values, unreadable, notes) = cells[self.called[self.amount]], self._numbers(self.amount, cells)
            amount = _take_amounts(column, values, unreadable, bad)
            tally.amount.add_notes(notes, tally.rows, hollow=False)
            if (none := np.isnan(amount)).any():
                tally.amount.unreadable.add(none, column, tally.rows)
        truth = self._truth(cells, tally)
        tally.rows += len(cells)
        frame = pd.DataFrame(columns, index=cells.index)
        return Incoming(cells, frame, bad.rows, bad.in_order(), truth, (), self.called, amount)

    def notes(self, tally: FileTally) -> tuple[Note, ...]:
        """Everything there is to say of the file, once all of its blocks were taken."""
        notes = [note("this is a file of results; the apostrophes that its texts got so that a spreadsheet runs none "
                      "of them are taken off")] if self.matched.ours else []  # fmt: skip
        extra = [name for name in self.names if name not in self.called.values()]
        notes += [note("column '{other}' of the file is taken as '{column}'", "warning", column=name, other=other)
                  for name, other in self.called.items() if other != name]  # fmt: skip
        notes += [*self.matched.absent(self.schema, self.multiplier), *self.unlike(tally)]
        if extra:
            notes.append(note("columns the model does not use, kept in the results: {names}", names=listed(extra, 12)))
        for variable in self.here:
            notes += tally.columns[variable.name].notes(variable, tally.rows, self.rules.unseen)
        return (*notes, *tally.amount.notes_of_amounts(self.amount), *self._truth_notes(tally))

    def unlike(self, tally: FileTally) -> Iterator[Note]:
        """What to say of the columns that hold something else than the table's of their names."""
        for v in self.here:
            yield from tally.columns[v.name].unlike(v.name, tally.rows, of_numbers=_of_numbers(v))
        if self.amount:
            yield from tally.amount.unlike(self.amount, tally.rows, of_numbers=True)

    def _number_styles(self) -> tuple[Mark, dict[str, Style]]:
        """The file's decimal mark, and how each of its columns of numbers is read."""
        names = [v.name for v in self.here if _of_numbers(v)] + ([self.amount] if self.amount else [])
        columns = {name: NumberStyles() for name in names}
        for block in self.cells.blocks() if names else ():
            cells = self._named(block)
            for name, seen in columns.items():
                seen.add(self._bare(name, cells), self.rules.tokens)
        mark = self.rules.decimal
        if mark is None:
            sure = {seen.mark for seen in columns.values() if seen.numeric and not seen.inconsistent} - {None}
            marks = sure or {seen.mark for seen in columns.values()} - {None}  # for a bad cell the others pay nothing
            mark = "," if marks == {","} else "."
        styles = {name: seen.style(mark, chosen=self.rules.decimal is not None) for name, seen in columns.items()}
        words = {
            name for name, treatment in self.rules.treated.items() if treatment.words
        }  # 5k was none of its numbers
        return mark, {name: style._replace(suffixes=name not in words) for name, style in styles.items()}

    def _named(self, block: pd.DataFrame) -> pd.DataFrame:
        """A block under the names of the columns, in texts that a file can hold."""
        named = block.set_axis(list(self.names), axis=1)
        return named.apply(_whole) if any(map(pd.api.types.is_object_dtype, named.dtypes)) else named

    def _bare(self, name: str, cells: pd.DataFrame) -> pd.Series:
        """The texts of a column, without its unit, and written as the table's are."""
        bare, unit = cells[self.called[name]], self.rules.units.get(name, "")
        if unit:
            bare = bare.str.removesuffix(unit)
        texts = self.rules.treated.get(name, Treatment()).texts
        return bare if texts is None else texts(bare)

    def _numbers(self, name: str, cells: pd.DataFrame) -> tuple[Array, NDArray[np.bool_], tuple[Note, ...]]:
        """A column of a block as numbers, which of its cells cannot be read, and what there is to say of them."""
        values, unreadable, notes = read_numbers(self._bare(name, cells), self.styles[name], self.rules.tokens)
        return *self.rules.treated.get(name, Treatment()).numbers(values, unreadable), notes

    def _column(self, variable: Variable, cells: pd.DataFrame, bad: BadCells, tally: FileTally) -> Any:
        """One of the model's columns of a block."""
        name, n = variable.name, len(cells)
        if name not in self.called:
            if self.rules.missing == "error":
                bad.add(~bad.rows, name, None, "missing")
            return (
                np.full(n, np.nan) if _of_numbers(variable)
                else pd.Series([None] * n, cells.index, dtype=object) if variable.textual
                else pd.Categorical.from_codes(np.full(n, -1), pd.Index(variable.levels, dtype=object))
            )  # fmt: skip
        given, own = cells[self.called[name]], tally.columns.setdefault(name, ColumnTally())
        column: Any
        if _of_numbers(variable):
            values, unreadable, notes = self._numbers(name, cells)
            column = _take_numbers(variable, given, values, unreadable, bad, own, tally.rows)
            own.add_notes(notes, tally.rows, hollow=bool(np.isnan(values).all()) and not unreadable.any())
        elif variable.textual:
            column = _take_texts(given, self.rules.tokens, own)
        else:
            codes, strange, padded, otherwise = match(self._bare(name, cells), variable, self.rules.tokens, self.mark)
            own.padded += padded
            own.otherwise.update(otherwise)
            own.missing += int((codes == MISSING).sum())
            new = codes > len(variable.levels)
            if new.any():
                own.count(codes[new] - len(variable.levels) - 1, strange)
                own.unseen += int(new.sum())
                if self.rules.unseen == "error":
                    bad.add(new, name, given, "not seen in training")
            levels = pd.Index([*variable.levels, *strange], dtype=object)
            column = pd.Categorical.from_codes(codes.astype(np.int64) - 1, levels)
        if self.rules.missing == "error" and (absent := np.asarray(pd.isna(column)) & ~bad.rows).any():
            bad.add(absent, name, None, "missing")
            own.refused += int(absent.sum())
        return column

    def _truth(self, cells: pd.DataFrame, tally: FileTally) -> NDArray[np.int32]:
        if self.target.name not in self.called:
            return np.full(len(cells), -1, dtype=np.int32)
        codes, strange, _padded, otherwise = match(
            self._bare(self.target.name, cells), self.target, self.rules.tokens, ""
        )
        tally.truth.otherwise.update(otherwise)
        new = codes > len(self.target.levels)
        if new.any():
            tally.truth.count(codes[new] - len(self.target.levels) - 1, strange)
        return np.where(new, -2, codes - 1).astype(np.int32)

    def _truth_notes(self, tally: FileTally) -> list[Note]:
        notes = list(tally.truth.written_otherwise(self.target.name))
        if not tally.truth.strange:
            return notes
        return [*notes, note("column '{column}' holds labels that are no class of the model: {values}; the classes are "
                     "{classes}. These rows are classified, but not counted as right or wrong", "warning",
                     column=self.target.name, values=most_frequent(tally.truth.strange),
                     classes=listed([str(v) for v in self.target.levels], 12))]  # fmt: skip


def no_amounts(column: str) -> SchemaMismatch:
    """What to say where the losses need amounts and the file has none."""
    return SchemaMismatch(
        "it has no column '{column}', whose amounts multiply losses. Choose the column that holds them, or make every "
        "loss a fixed sum",
        column=column,
    )


_HALF = re.compile("[\ud800-\udfff]")


def _whole(column: pd.Series) -> pd.Series:
    """The texts of a column; in those of a frame made by hand that hold half a character (a surrogate alone), which no
    file can, the sign for one that cannot be shown stands for it.

    >>> _whole(pd.Series(["a\\ud800", "b"], dtype=object)).tolist()
    ['a\ufffd', 'b']
    """
    return column.map(lambda cell: _HALF.sub("\ufffd", cell) if isinstance(cell, str) else cell).astype(column.dtype)


def _of_numbers(variable: Variable) -> bool:
    """Whether the column's cells are numbers: it may have been cut into intervals for the model."""
    return variable.numeric or variable.cuts is not None


def _take_numbers(variable: Variable, cells: pd.Series, values: Array, unreadable: NDArray[np.bool_], bad: BadCells,
                  tally: ColumnTally, above: int) -> Array:  # fmt: skip
    if unreadable.any():
        bad.add(unreadable, variable.name, cells, "no number")
        tally.unreadable.add(unreadable, cells, above)
    infinite = np.isinf(values)
    if infinite.any():
        bad.add(infinite, variable.name, cells, "infinite")
        tally.infinite += int(infinite.sum())
    fractions = np.isfinite(values) & ((values < 0) | (values != np.round(values)))
    if traits(variable).whole and fractions.any():
        bad.add(fractions, variable.name, cells, "no count")
        tally.fractions.add(fractions, cells, above)
    tally.missing += int((np.isnan(values) & ~unreadable).sum())
    return values


def _take_amounts(column: pd.Series, values: Array, unreadable: NDArray[np.bool_], bad: BadCells) -> Array:
    """(n,) NaN where a cell is no number of 0 and more."""
    flaws: list[tuple[NDArray[np.bool_], Why]] = [
        (unreadable, "no number"),
        (np.isnan(values) & ~unreadable, "missing"),
        (np.isinf(values), "infinite"),
        (values < 0, "negative"),
    ]
    for flaw, why in flaws:
        if flaw.any():
            bad.add(flaw, str(column.name), column, why)
    return np.where(np.isfinite(values) & (values >= 0), values, np.nan)


def _take_texts(cells: pd.Series, tokens: Sequence[str] | None, tally: ColumnTally) -> pd.Series:
    """Texts as they stand there, without the apostrophe that `guarded` put before one. A word not seen in training is
    no flaw of a text: it says nothing."""
    absent = cells.str.strip().isin(ALWAYS_MISSING if tokens is None else ("", *tokens))
    tally.missing += int(absent.sum())
    return cells.map(lambda cell: unguarded(str(cell))).astype(object).mask(absent, None)
