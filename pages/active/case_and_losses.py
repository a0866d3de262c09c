"""What is asked of a model: a case, under losses and a prior of use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from bayes_engine.dataset_format import DatasetInfo
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.table.schema import Variable
from bayes_engine.table.write import free_names
from pages.active.tables import REFUSE, FittableTable
from pages.runtime.cache import cached
from pages.runtime.state import State, current


def losses(table: FittableTable) -> LossMatrix:
    """The losses in use: rows are the classes in the table's order, then the further action if there is one."""
    state, classes = current(), table.classes
    actions = (*classes, state.extra) if state.extra and state.extra not in classes else classes
    if len(state.losses) != len(actions) or any(len(row) != len(classes) for row in state.losses):
        return _by_amount(table, LossMatrix.zero_one(classes))
    return _by_amount(table, LossMatrix(actions, classes, state.losses))


def _by_amount(table: FittableTable, loss: LossMatrix) -> LossMatrix:
    """Marks of the cells that the table's amounts multiply, where it has any and they do not multiply all."""
    fixed = {(i, j) for i, j in current().fixed if i < len(loss.actions) and j < len(loss.classes)}
    if table.parts.amount is None or not fixed:
        return loss
    cells = ((a, c) for i, a in enumerate(loss.actions) for j, c in enumerate(loss.classes) if (i, j) not in fixed)
    return loss.with_amount(cells)


def case_losses(table: FittableTable) -> LossMatrix:
    """The losses of the case: in use, at its amount."""
    loss, amount = losses(table), case_amount(table)
    return loss if amount is None else loss.at_amount(amount)


def case_amount(table: FittableTable) -> float | None:
    """The case's amount: what was entered, else its row's, else the median; None where no column multiplies losses."""
    column, state = table.parts.amount, current()
    if column is None:
        return None
    if state.amount >= 0:
        return state.amount
    first = table.info.cases[0] if table.info and table.info.cases else None
    if state.row < 0 and len(state.case) != len(table.features) and first and first.amount >= 0:
        return first.amount
    row = 0 if state.row < 0 and not state.case and first is None else state.row  # the case is the first row
    return float(column.iloc[row]) if 0 <= row < len(column) else float(column.median())


def same_amount(table: FittableTable) -> float:
    """The amount for a state whose case is edited: as it was, though it is a row's no longer."""
    amount = case_amount(table)
    return -1.0 if amount is None else amount


def refusal(table: FittableTable) -> str:
    """The name of the refusal as a further action: "refuse", unless a class is called so."""
    return free_names([REFUSE], {str(c) for c in table.classes})[0]


def story_losses(table: FittableTable) -> tuple[tuple[tuple[float, ...], ...], str] | None:
    """The losses of the data set's story, as the state keeps them: rows in the table's class order, then the further
    action, and that action's name; None where there is no story, or it speaks of another target or other classes."""
    info = table.info_of_target
    if info is None or set(info.loss.classes) != set(table.classes):
        return None
    return losses_of_story(info, table.classes)


def losses_of_story(info: DatasetInfo, classes: Sequence[Any]) -> tuple[tuple[tuple[float, ...], ...], str]:
    """The losses of a data set's story for these classes, as `story_losses` has them."""
    story = info.loss
    matrix = LossMatrix(story.actions, story.classes, story.table).for_classes(classes)
    extra = [a for a in matrix.actions if a not in classes]
    order = [matrix.actions.index(a) for a in (*(c for c in classes if c in matrix.actions), *extra[:1])]
    return tuple(tuple(float(v) for v in matrix.table[i]) for i in order), str(extra[0]) if extra else ""


def prior_of_use(table: FittableTable) -> Mapping[Any, float] | None:
    """The prior of use by class, or None where the model's own is meant."""
    prior = current().prior
    usable = len(prior) == len(table.classes) and abs(sum(prior) - 1.0) < 1e-6
    return {c: p / sum(prior) for c, p in zip(table.classes, prior, strict=True)} if usable else None


# the case -------------------------------------------------------------------------------------------------------


def case_values(table: FittableTable) -> Mapping[str, Any]:
    """The case by feature: a level, a number, a text, or None for missing."""
    state, features = current(), table.features
    if len(state.case) == len(features):
        return {v.name: _cell(table, v, code) for v, code in zip(features, state.case, strict=True)}
    if 0 <= state.row < len(table.parts.X):  # a link whose case was left out
        return row_values(table, state.row)
    given = table.info.cases[0].values if table.info and table.info.cases else None  # a table's first worked query
    if given is None:
        return row_values(table, 0)
    return {v.name: _cell(table, v, _code(table, v, given.get(v.name), ())) for v in features}


@cached(max_entries=64)
def row_values(table: FittableTable, row: int) -> Mapping[str, Any]:
    """A row of the table as a case, its numbers as Python's: a key tells their content soonest."""
    X = table.parts.X
    cells = (cell.item() if hasattr(cell, "item") else cell for cell in X.iloc[row].tolist())
    return {name: None if pd.isna(cell) else cell for name, cell in zip(X.columns, cells, strict=True)}


def case_codes(table: FittableTable, values: Mapping[str, Any], row: int = -1) -> tuple[Any, ...]:
    """A case as the state keeps it: level positions and numbers; a text by the position of its row where it is that of
    this `row`, or of the row that the case has it from, so that no cell of a file gets into a link."""
    rows = (row, *(code for code in current().case if type(code) is int), current().row, 0)
    return tuple(_code(table, v, values.get(v.name), rows) for v in table.features)


@cached(max_entries=64)
def case_frame(table: FittableTable, values: Mapping[str, Any]) -> pd.DataFrame:
    """A case as a frame of one row, in the dtypes of the table. It is kept: not to be changed."""
    columns: dict[str, Any] = {}
    for v in table.features:
        value = values.get(v.name)
        if v.kind == "text":
            columns[v.name] = pd.Series([value], dtype=object)
        elif v.discrete:
            columns[v.name] = pd.Categorical([value], categories=list(v.levels))
        else:
            columns[v.name] = pd.Series([float("nan") if value is None else float(value)])
    return pd.DataFrame(columns)


def _cell(table: FittableTable, variable: Variable, code: Any) -> Any:
    if variable.kind == "text":
        if type(code) is not int:
            return code if isinstance(code, str) else None
        return row_values(table, code)[variable.name] if 0 <= code < len(table.parts.X) else None
    if code is None or isinstance(code, str):
        return None
    if not variable.discrete:
        return float(code)
    return variable.levels[code] if isinstance(code, int) and 0 <= code < len(variable.levels) else None


def _code(table: FittableTable, variable: Variable, value: Any, rows: tuple[int, ...]) -> Any:
    if variable.kind == "text":
        column = table.parts.X[variable.name]
        own = (row for row in rows if 0 <= row < len(column) and isinstance(column.iloc[row], str))
        return None if value is None else next((row for row in own if column.iloc[row] == value), str(value))
    if value is None or (value not in variable.levels if variable.discrete else isinstance(value, str)):
        return None  # a worked query may speak of a column as it was read once
    return variable.levels.index(value) if variable.discrete else float(value)


def text_columns(table: FittableTable) -> tuple[str, ...]:
    return tuple(v.name for v in table.features if v.kind == "text")


def pick_row(state: State, table: FittableTable, n: int | None) -> State:
    """The state with the case taken from row n (from 1)."""
    if n is None:
        return state
    return replace(state, row=n - 1, case=case_codes(table, row_values(table, n - 1), n - 1), amount=-1.0)
