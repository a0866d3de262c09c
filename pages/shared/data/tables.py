"""The table in use: an embedded data set or an upload, with a person's changes of its columns."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from bayes_engine import __version__
from bayes_engine.datasets import Dataset, DatasetInfo, dataset_names, load_dataset
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.models.likelihoods import as_texts
from bayes_engine.numerals import plain
from bayes_engine.table.describe import ColumnSummary, describe
from bayes_engine.table.read import Reading
from bayes_engine.table.roles import Parts, take_apart
from bayes_engine.table.schema import Schema, Variable, recast
from pages.shared.data.uploads import upload_in
from pages.shared.kept import kept
from pages.shared.state import State, current

REFUSE = "refuse"
"""The name of the refusal among the actions."""


@dataclass(frozen=True)
class InUse:
    """The table in use: `parts` is what a fit takes, or None with the `problem` that forbids one."""

    key: str
    name: str
    frame: pd.DataFrame
    schema: Schema
    parts: Parts | None
    problem: BayesEngineError | None
    dataset: Dataset | None
    reading: Reading | None

    @property
    def info(self) -> DatasetInfo | None:
        return self.dataset.info if self.dataset else None

    @property
    def title(self) -> str:
        return self.info.text("title", current_language()) if self.info else self.name

    @property
    def target(self) -> Variable:
        assert self.parts is not None
        return self.parts.target

    @property
    def as_told(self) -> bool:
        """Whether it is a data set and its target is still the one that its question and its losses speak of."""
        target = self.schema.target
        return self.info is not None and target is not None and target.name == self.info.target

    @property
    def features(self) -> Schema:
        """The columns that a model reads."""
        assert self.parts is not None
        return self.parts.schema.features

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the table's own order (a model's `classes_` are sorted); colours follow this order."""
        return self.target.levels

    def column(self, name: str) -> str:
        """How a column is called on screen."""
        return self.dataset.label(name, self._language) if self.dataset else name

    def level(self, column: str, value: Any) -> str:
        """How a value is called on screen."""
        return self.dataset.level_label(column, value, self._language) if self.dataset else str(value)

    def class_(self, label: Any) -> str:
        """How a class is called on screen."""
        return self.level(self.target.name, label)

    @property
    def amount_column(self) -> str:
        """The name of the column that multiplies losses; "" where there is none."""
        return "" if self.parts is None or self.parts.amount is None else str(self.parts.amount.name)

    def amount_text(self, amount: float) -> str:
        """An amount with its unit, where the data set says one: «5951 DM»."""
        unit = self.info.column(self.amount_column).unit if self.info else ""
        return f"{plain(amount)} {unit}".strip()

    def action(self, action: Any) -> str:
        """How a decision is called on screen."""
        if action == REFUSE and action not in self.classes:
            return _("refuse")
        if action in self.classes or self.dataset is None:
            return self.class_(action)
        return self.dataset.action_label(action, self._language)

    @property
    def _language(self) -> str:
        return "" if current().labels == "file" else current_language()


def offered() -> list[str]:
    """The embedded data sets that can be opened."""
    return list(dataset_names())


@kept(max_entries=32)
def embedded(name: str) -> Dataset:
    """An embedded data set."""
    return load_dataset(name)


def table_in_use() -> InUse:
    """The table the state names. An upload this session does not hold gives way to the start table, with a problem
    that says so."""
    return in_use(current())


def in_use(state: State) -> InUse:
    """The table of any state: what would be in use if it were the current one."""
    reading = upload_in(state) if state.table.startswith("upload:") else None
    dataset = None if reading else _dataset_or_start(state.table)
    source: Any = reading or dataset
    schema, problem = _with_changes(source.frame, source.schema, state.columns)
    key = f"{state.table}|{hash((schema, reading and reading.recipe, __version__)):x}"
    parts = None
    if problem is None:
        try:
            parts = _parts(key, source.frame, schema)
        except BayesEngineError as error:
            problem = error
    return InUse(key, source.name, source.frame, schema, parts, problem, dataset, reading)


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
            variable = recast(variable, frame[variable.name], kind or variable.kind)
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


@kept(max_entries=32)
def _parts(key: str, _frame: pd.DataFrame, _schema: Schema) -> Parts:
    frame = _frame.copy(deep=False)
    for variable in _schema.features:
        if variable.numeric and not pd.api.types.is_numeric_dtype(frame[variable.name].dtype):
            frame[variable.name] = pd.to_numeric(frame[variable.name].astype(object))
    texts = {v.name: "multinomial" for v in _schema if v.kind == "text" and v.role == "feature"}
    parts = take_apart(frame, as_texts(_schema, texts, None))
    labels = pd.Categorical(parts.y, categories=list(parts.target.levels))  # a class without a row is a class
    return replace(parts, y=pd.Series(labels, index=parts.y.index, name=parts.y.name))


# looking at a table ---------------------------------------------------------------------------------------------


def summaries(table: InUse) -> tuple[ColumnSummary, ...]:
    """What each column holds."""
    return _summaries(table.key, table.frame, table.schema)


@kept(max_entries=16)
def _summaries(key: str, _frame: pd.DataFrame, _schema: Schema) -> tuple[ColumnSummary, ...]:
    return describe(_frame, _schema)


def shown_rows(table: InUse, most: int) -> pd.DataFrame:
    """The first rows, counted from 1, with their levels as they are called on screen."""
    head = table.frame.head(most)
    head = head.set_axis(range(1, len(head) + 1), axis=0)
    named = [v.name for v in table.schema if v.discrete and table.dataset]
    return head.assign(**{name: [None if pd.isna(x) else table.level(name, x) for x in head[name]] for name in named})
