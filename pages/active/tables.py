"""The table in use: an embedded data set or an upload, with a person's changes of its columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import pandas as pd

from bayes_engine import __version__
from bayes_engine.dataset_format import DatasetInfo
from bayes_engine.datasets import Dataset, load_dataset
from bayes_engine.errors import BayesEngineError, TableError
from bayes_engine.language import _, current_language
from bayes_engine.models.likelihoods import as_texts
from bayes_engine.numerals import plain
from bayes_engine.table.describe import ColumnSummary, describe
from bayes_engine.table.read import Reading
from bayes_engine.table.roles import Parts, put, sample, take_apart
from bayes_engine.table.schema import Kind, Schema, Variable, recast
from bayes_engine.workbench.doctor.changes import Changes, changes
from bayes_engine.workbench.doctor.finding import Mended, Repair
from bayes_engine.workbench.doctor.repair import repaired, treatments
from bayes_engine.workbench.incoming.second_table import Treatment
from pages.active import files
from pages.runtime.cache import cached, content_key
from pages.runtime.escape import clean
from pages.runtime.state import State, current

Entry = tuple[str, int, float] | tuple[str, int, float, tuple[Any, ...]]
"""A repair as the state keeps it: what is done, the position of the column or −1, a value, and what comes back when it
is undone: where it makes another column of it, what a person had said of its role, kind and levels; where it changes
the classes, the losses and priors that were reset."""
REFUSE = "refuse"
"""The name of the refusal among the actions."""


@dataclass(frozen=True)
class OpenTable:
    """What every table in use has. Its cells are mended by `repairs`, each beside its entry in the state, which made
    the `changes`; of one that cannot be done there are none."""

    key: str
    name: str
    frame: pd.DataFrame
    schema: Schema
    dataset: Dataset | None
    reading: Reading | None
    repairs: tuple[tuple[Entry, Repair], ...]
    changes: tuple[Changes, ...]

    @property
    def info(self) -> DatasetInfo | None:
        return self.dataset.info if self.dataset else None

    @property
    def title(self) -> str:
        return self.info.text("title", current_language()) if self.info else self.name

    @property
    def info_of_target(self) -> DatasetInfo | None:
        """What is known of a data set, if its target is still the one that its question and its losses speak of."""
        target = self.schema.target
        return self.info if self.info and target is not None and target.name == self.info.target else None

    @property
    def question(self) -> str:
        """The question that the data set is about; "" where it speaks of another target, and for a file."""
        return self.info_of_target.text("question", current_language()) if self.info_of_target else ""

    def column(self, name: str) -> str:
        """How a column is called on screen."""
        return self.dataset.label(name, self._language) if self.dataset else name

    def unit(self, column: str) -> str:
        """The unit of its numbers, where the data set says one."""
        return self.info.column(column).unit if self.info else ""

    def level(self, column: str, value: Any) -> str:
        """How a value is called on screen."""
        return self.dataset.level_label(column, value, self._language) if self.dataset else str(value)

    def value(self, variable: Variable, value: Any) -> str:
        """A level or an interval on screen; None is missing."""
        if value is None:
            return _("missing")
        return str(value) if variable.cuts is not None else self.level(variable.name, value)

    def named(self, text: str) -> str:
        """A note of the data set, its formulas by the names on screen."""
        return self.info.named(text, self._language) if self.info else text

    @property
    def _language(self) -> str:
        return "" if current().labels == "file" else current_language()


@dataclass(frozen=True)
class UnfittableTable(OpenTable):
    """A table in use to which no model can be fitted, and the `problem` that forbids it."""

    problem: BayesEngineError


@dataclass(frozen=True)
class FittableTable(OpenTable):
    """A table in use to which models are fitted, and its `parts`, which a fit takes."""

    parts: Parts

    @property
    def target(self) -> Variable:
        return self.parts.target

    @property
    def features(self) -> Schema:
        return self.parts.schema.features

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the table's own order (a model's `classes_` are sorted); colours follow this order."""
        return self.target.levels

    def class_(self, label: Any) -> str:
        return self.level(self.target.name, label)

    def given_class(self, label: Any) -> str:
        """«label = spam», each part shortened."""
        return f"{clean(self.column(self.target.name), 24)} = {clean(self.class_(label), 40)}"

    @property
    def amount_column(self) -> str:
        """The name of the column that multiplies losses; "" where there is none."""
        return "" if self.parts.amount is None else str(self.parts.amount.name)

    def amount_text(self, amount: float) -> str:
        """An amount with its unit, where the data set says one: «5951 DM»."""
        return f"{plain(amount)} {self.unit(self.amount_column)}".strip()

    def action(self, action: Any) -> str:
        if action == REFUSE and action not in self.classes:
            return _("refuse")
        if action in self.classes or self.dataset is None:
            return self.class_(action)
        return self.dataset.action_label(action, self._language)


TableInUse = FittableTable | UnfittableTable


@cached(max_entries=32)
def embedded(name: str) -> Dataset:
    return load_dataset(name)


def table_in_use() -> TableInUse:
    """The table the state names. An upload this session does not hold gives way to the start table, with a problem
    that says so."""
    return in_use(current())


def in_use(state: State) -> TableInUse:
    """The table of any state: what would be in use if it were the current one."""
    reading = upload_in(state)
    source = reading or _dataset_or_start(state.table)
    dataset = source if isinstance(source, Dataset) else None
    mended = MendedTable(source.frame, source.schema)
    read = (source.name, reading.recipe) if reading else None
    entries = {entry[:3]: entry for entry in state.repairs}  # what comes back when one is undone changes no cell
    key = f"{state.table}|{content_key(read, state.columns, tuple(entries), __version__)}"
    if entries:
        mended = _mended(key, source.frame, source.schema, state.columns, tuple(entries))
    else:
        schema, problem = _with_changes(source.frame, source.schema, state.columns)
        mended = mended._replace(schema=schema, problem=problem)
    frame, schema, done, changed, problem = mended
    repairs = tuple((entries[entry], repair) for entry, repair in done)
    opened = (key, source.name, frame, schema, dataset, reading, repairs, changed)
    if problem is not None:
        return UnfittableTable(*opened, problem)
    try:
        return FittableTable(*opened, _parts(key, frame, schema))
    except BayesEngineError as error:
        return UnfittableTable(*opened, error)


def upload_in(state: State) -> Reading | None:
    """The uploaded table that the state names, if this session has its file, read under the state's overrides."""
    upload = files.in_use(files.TABLE, state)
    return None if upload is None else upload.reading


def fittable(table: TableInUse) -> FittableTable:
    """The table, where models can be fitted to it. Raises the problem that forbids it."""
    if isinstance(table, UnfittableTable):
        raise table.problem
    return table


def cells_as_read(state: State) -> pd.DataFrame:
    """The cells before any of them was mended."""
    source = upload_in(state) or _dataset_or_start(state.table)
    return source.frame


def treatments_in_use(table: FittableTable) -> tuple[dict[str, Treatment], tuple[Repair, ...]]:
    """What is done to the cells of a second file because it was done to the table's, by column; and the repairs that
    concern the table alone."""
    state = current()
    if not table.repairs:
        return {}, ()
    report = table.reading.report if table.reading else ()
    months = {n.column for n in report if n.column and "read as month, day, year" in n.message.template}
    read = ("feature", "target")
    wanted = [r for _entry, r in table.repairs if not r.column or table.schema[r.column].role in read]
    return treatments(cells_as_read(state), table.schema, wanted, months)


def _named(schema: Schema, entry: Entry) -> Repair | None:
    what, position, value = entry[:3]
    of_table = what == OF_ROWS
    if position >= len(schema) or (position < 0) != of_table:
        return None
    return Repair(cast(Mended, what), "" if of_table else schema.variables[position].name, float(value))


_OF_KIND: Mapping[str, Callable[[Variable], bool]] = {
    "drop-duplicates": lambda v: True,
    "drop-rare": lambda v: v.discrete,
    "merge-spellings": lambda v: v.discrete,
    "merge-look-alikes": lambda v: v.discrete,
    "infinite-missing": lambda v: v.numeric,
    "value-missing": lambda v: v.numeric,
    "outliers-missing": lambda v: v.numeric,
    "text-missing": lambda v: not v.numeric and v.kind != "date",
    "days": lambda v: not v.numeric or v.kind == "count",
}
"""The columns that a repair can be done to."""
OF_LEVELS = ("merge-spellings", "merge-look-alikes", "drop-rare")
"""Repairs that are done to the levels as a person has set them; the others come before all changes of columns."""
OF_ROWS = "drop-duplicates"
"""The repair that drops rows."""


class MendedTable(NamedTuple):
    """A table after repairs, as far as they could be done."""

    frame: pd.DataFrame
    schema: Schema
    repairs: tuple[tuple[Entry, Repair], ...] = ()
    changes: tuple[Changes, ...] = ()
    problem: BayesEngineError | None = None


@cached(max_entries=8)
def _mended(
    key: str,
    _frame: pd.DataFrame,
    _schema: Schema,
    _columns: tuple[tuple[Any, ...], ...],
    _repairs: tuple[Entry, ...],
) -> MendedTable:
    """The table with its repairs and a person's changes of columns, and which repairs were done, for a forged link
    may ask for any: first the cells, then the changes, then what needs levels, and last the rows, which are equal in
    what is read of them."""
    frame, schema = _frame, _schema
    done: list[tuple[Entry, Repair]] = []
    made: list[Changes] = []

    def do(of: Callable[[Repair], bool]) -> None:
        nonlocal frame, schema
        for entry in _repairs:
            repair = _named(_schema, entry)
            if repair is None or not of(repair) or (entry, repair) in done:
                continue
            if not repair.column or _OF_KIND[repair.what](schema[repair.column]):
                done.append((entry, repair))
                after, kinds = repaired(frame, schema, [repair])
                made.append(changes(frame, after, schema, repair))
                frame, schema = after, kinds

    try:
        do(lambda repair: repair.what not in (*OF_LEVELS, OF_ROWS))  # and below of those that a change made numbers
        schema, problem = _with_changes(frame, schema, _columns)
        if problem is not None:
            return MendedTable(frame, schema, tuple(done), tuple(made), problem)
        do(lambda repair: repair.what != OF_ROWS)
        do(lambda repair: repair.what == OF_ROWS)
    except BayesEngineError as error:
        return MendedTable(frame, schema, tuple(done), tuple(made), error)
    for v in schema:  # a byte a cell, as an upload holds them, and no level that is gone
        named = v.discrete and v.levels and all(isinstance(level, str) for level in v.levels)
        dtype = frame[v.name].dtype
        held = dtype.categories.tolist() if isinstance(dtype, pd.CategoricalDtype) else []
        recoded = isinstance(dtype, pd.CategoricalDtype) or dtype.kind == "O"
        if named and recoded and held != list(v.levels):
            codes = pd.Categorical(frame[v.name].astype(object), categories=list(v.levels))
            frame = put(frame, {v.name: codes})
    return MendedTable(frame, schema, tuple(done), tuple(made))


def _dataset_or_start(name: str) -> Dataset:
    try:
        return embedded(name)
    except BayesEngineError:
        return embedded(State().table)


def _with_changes(
    frame: pd.DataFrame, schema: Schema, changes: tuple[tuple[Any, ...], ...]
) -> tuple[Schema, BayesEngineError | None]:
    """The schema with a person's changes of role, kind and levels; a level is given by its position or, new, by its
    name."""
    for position, role, kind, levels in changes:
        if not 0 <= position < len(schema):
            continue
        variable = schema.variables[position]
        try:
            variable = read_as(variable, frame[variable.name], kind or variable.kind)
        except BayesEngineError as error:
            return schema, error
        if levels and variable.discrete:
            named = [_level(variable, c) for c in levels]
            kept = [v for v in variable.levels if v not in named]
            variable = replace(variable, levels=tuple(dict.fromkeys([*named, *kept])), declared=True)
        schema = schema.with_variable(variable)
        if role:
            schema = schema.with_role(variable.name, role)
    return schema, None


def read_as(variable: Variable, column: pd.Series, kind: Kind) -> Variable:
    """The variable as another kind. Raises TableError where the column does not hold what the kind asks for."""
    read = recast(variable, column, kind)
    if read.kind == "binary" and kind != variable.kind and len(read.levels) != 2:
        raise TableError(
            "column '{column}' cannot be binary: it holds {n} different values; make it categorical",
            column=variable.name,
            n=len(read.levels),
        )
    return read


def _level(variable: Variable, code: Any) -> Any:
    """A level by its position; or a new one by its name, of the type the others have: 2 among whole numbers is 2, but
    'nan' is a name wherever it stands."""
    if isinstance(code, int) and 0 <= code < len(variable.levels):
        return variable.levels[code]
    kind = type(variable.levels[0]) if variable.levels else str
    with suppress(ValueError):
        if kind in (int, float) and math.isfinite(value := kind(code)):
            return value
    return str(code)


@cached(max_entries=32)
def _parts(key: str, _frame: pd.DataFrame, _schema: Schema) -> Parts:
    frame = _frame.copy(deep=False)
    for variable in _schema.features:
        if variable.numeric and not pd.api.types.is_numeric_dtype(frame[variable.name].dtype):
            frame[variable.name] = pd.to_numeric(frame[variable.name].astype(object))
    texts = {v.name: "multinomial" for v in _schema if v.kind == "text" and v.role == "feature"}
    parts = take_apart(frame, as_texts(_schema, texts, None))
    labels = pd.Categorical(parts.y, categories=list(parts.target.levels))  # a class without a row is a class
    return replace(parts, y=pd.Series(labels, index=parts.y.index, name=parts.y.name))


@cached(max_entries=8)
def sample_of(table: FittableTable, n: int) -> FittableTable:
    """The table with about `n` of its rows drawn at random (`roles.sample`); its `frame` keeps all."""
    return replace(table, key=f"{table.key}|{n} rows", parts=sample(table.parts, n))


# looking at a table ---------------------------------------------------------------------------------------------


@cached(max_entries=16)
def column_summaries(table: TableInUse) -> tuple[ColumnSummary, ...]:
    return describe(table.frame, table.schema)
