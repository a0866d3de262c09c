"""The case's widgets, and what the page One case works out: a table, a model fitted to it, a case."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.table.roles import put
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.derive import Working, derive, rows_like
from bayes_engine.workbench.derivation.exercise import Exercise, draw
from bayes_engine.workbench.derivation.modes_of_use import without_rows
from bayes_engine.workbench.derivation.render import posterior
from pages import active
from pages.active import predicting, words
from pages.active.case_and_losses import pick_row
from pages.components.losses import case_amount
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import bound_to, control

BESIDE = 10
"""So many columns have a field beside the decision, which is about as high then; more are folded."""


@dataclass(frozen=True)
class CaseInUse:
    """A case of a table and the model that judges it. `row` is the case's place among the table's rows, if it is one;
    `left_out` says that the model has not counted it; `seed` is 0 for the table itself, else the number of an exercise
    drawn from it."""

    table: active.FittableTable
    fitted: active.Fitted
    model: GenerativeClassifier
    values: Mapping[str, Any]
    row: int | None = None
    left_out: bool = False
    seed: int = 0

    @property
    def judging(self) -> GenerativeClassifier | CalibratedClassifier:
        """What gives the posterior: the model, calibrated where the shelf says so; an exercise is done by hand."""
        return self.calibrated(self.model)

    def calibrated(self, model: GenerativeClassifier) -> GenerativeClassifier | CalibratedClassifier:
        """A fit of this model, calibrated as the shelf's is."""
        made = None if self.seed else self.fitted.calibrated
        return model if made is None else made.around(model)

    @cached_property
    def case(self) -> pd.DataFrame:
        return active.case_frame(self.table, self.values)

    @property
    def key(self) -> tuple[Any, ...]:
        """What stands for it in a key: the rows that the model was counted from, the model, the case."""
        without = self.row if self.left_out else None
        return self.table.key, without, self.fitted.spec, active.case_codes(self.table, self.values)

    @property
    def counted(self) -> pd.DataFrame:
        """The rows that the model was counted from: features and class, numbered as in the table from 1."""
        parts = self.table.parts
        rows = put(parts.X, {parts.target.name: parts.y})
        rows.index = pd.RangeIndex(1, len(rows) + 1) if self.seed else parts.rows + 1
        return rows.drop(rows.index[self.row]) if self.left_out and self.row is not None else rows

    def without(self, row: int) -> CaseInUse:
        """The same case judged by the model as if this row had never been counted."""
        model = _model_without(self.fitted.uncalibrated, row, self.table)
        return replace(self, model=model, row=row, left_out=True)


def case_in_use(table: active.FittableTable) -> CaseInUse:
    """What the state asks for: the table's case, with or without its own row, or an exercise."""
    fitted, state = active.active_model(table), current()
    if (seed := state.seen(keys.EXERCISE)) and not fitted.scores:  # an exercise is done by hand, without a calibration
        drawn = _exercise(fitted, seed, table)
        one = replace(table, key=f"{table.key}|exercise {seed}", parts=drawn.parts, schema=drawn.parts.schema)
        return CaseInUse(one, fitted, drawn.model, drawn.case, seed=seed)
    values = active.case_values(table)
    in_use = CaseInUse(table, fitted, fitted.model, values, row=_own_row(table, values, state.row))
    if in_use.row is not None and state.seen(keys.LEFT_OUT):
        return in_use.without(in_use.row)
    return in_use


@cached(max_entries=64)
def _own_row(table: active.FittableTable, values: Mapping[str, Any], row: int) -> int | None:
    """The row the case was taken from, or the first one just like it."""
    X, case = table.parts.X, active.case_frame(table, values)
    if 0 <= row < len(X) and rows_like(X.iloc[[row]], case):
        return row
    return next(iter(rows_like(X, case)), None)


@cached(max_entries=16)
def _model_without(fitted: active.Fitted, row: int, _table: active.FittableTable) -> GenerativeClassifier:
    """The model as if this row had never been counted."""
    parts = _table.parts
    return without_rows(fitted.model, parts.X, parts.y, [row], parts.weight)


@cached(max_entries=64)
def work_out(one: CaseInUse, prior_of_use: Mapping[Any, float] | None) -> Working:
    """The working of a case at a prior of use, under 0-1 losses; others never work it out again. Raises
    BayesEngineError where it has none."""
    return derive(one.judging, one.case, prior_of_use=prior_of_use, classes=one.table.classes)


@cached(max_entries=64)
def decided(one: CaseInUse, prior_of_use: Mapping[Any, float] | None, losses: LossMatrix) -> Working:
    """The same working under these losses."""
    return work_out(one, prior_of_use).under(losses)


@cached(max_entries=16)
def _exercise(fitted: active.Fitted, seed: int, _table: active.FittableTable) -> Exercise:
    return draw(_table.parts, fitted.model, seed)


def case_editor(table: active.FittableTable, values: Mapping[str, Any], drawn: Collection[str]) -> None:
    """Choose a worked case or a row, or type one: a field for each feature, «missing» among its answers; none for those
    that are `drawn`."""
    _worked_cases(table, values)
    n = len(table.parts.X)
    st.number_input(
        _("Row of the table (1 to {n})").format(n=n),
        1,
        n,
        value=None,
        step=1,
        placeholder=_("typed"),
        **control(
            "case_row",
            current().row + 1 if 0 <= current().row < n else None,
            lambda s, row: _fresh(pick_row(s, table, row)),
        ),
    )
    case_amount(table)
    features = [v for v in table.parts.schema.features.variables if v.name not in drawn]
    _fields(table, features[:BESIDE], values)
    if more := features[BESIDE:]:
        with st.expander(_("{n} more columns").format(n=len(more))):
            _fields(table, more, values)


def _fields(table: active.FittableTable, features: Sequence[Variable], values: Mapping[str, Any]) -> None:
    read = as_read(table)
    with st.container(key=f"case_fields_{len(features)}"):  # two beside each other, by their style
        for variable in features:
            _field(table, variable, read.get(variable.name, variable), values)


def _worked_cases(table: active.FittableTable, values: Mapping[str, Any]) -> None:
    cases = table.info.cases if table.info else ()
    if not cases:
        return
    asked = {i: active.case_codes(table, case.values) for i, case in enumerate(cases)}
    here = next((i for i, codes in asked.items() if codes == active.case_codes(table, values)), None)
    language = current_language()
    names = {i: md(case.text("name", language), 40) for i, case in enumerate(cases)}

    def take(state: State, i: int | None) -> State:
        return state if i is None else _fresh(replace(state, case=asked[i], row=-1, amount=cases[i].amount))

    st.pills(
        _("Worked cases"),
        list(asked),
        format_func=names.__getitem__,
        wrap=True,
        **control("case_worked", here, take),
    )
    if here is not None and cases[here].note and predicting.shows("case/notes"):
        st.caption(md(table.named(cases[here].text("note", language)), 400))


def _field(table: active.FittableTable, variable: Variable, read: Variable, values: Mapping[str, Any]) -> None:
    """One feature, as the model has `read` it: its levels and «missing», or a number and «missing» (an empty field)."""
    name, value = variable.name, values.get(variable.name)
    label = words.with_unit(table, name)
    key = f"case_{table.parts.schema.features.names.index(name)}"
    missing = f"({_('missing')})"
    if variable.discrete:
        options = [None, *range(len(variable.levels))]
        code = variable.levels.index(value) if value in variable.levels else None
        levels = [clean(table.level(name, level), 200) for level in variable.levels]
        st.selectbox(
            label,
            options,
            format_func=lambda i: missing if i is None else levels[i],
            **control(key, code, _typed(table, name)),
        )
        return
    if read.discrete and read.cuts is None:
        numbers = [float(level) for level in read.levels]
        stands = None if value is None else float(value)
        if stands is not None and stands not in numbers:
            numbers.append(stands)
        st.selectbox(label, [None, *numbers], format_func=lambda x: missing if x is None else f"{x:.10g}",
                     **control(key, stands, _typed(table, name)))  # fmt: skip
    else:
        counts = read.likelihood == "poisson" or variable.kind == "count"
        st.number_input(
            label,
            min_value=0.0 if counts else None,
            value=None,
            step=1.0 if counts else _step(table, name),
            format="%.10g",
            placeholder=_("missing"),
            **control(key, None if value is None else float(value), _typed(table, name)),
        )


def as_read(table: active.FittableTable) -> Mapping[str, Variable]:
    """The columns as the active model reads them: a number may be a level to it. Empty where it cannot be fitted."""
    try:
        return {variable.name: variable for variable in active.active_model(table).model.schema_}
    except BayesEngineError:
        return {}


def _typed(table: active.FittableTable, name: str) -> Callable[[State, Any], State]:
    """An edit of one feature: a level's position, a number, or None."""
    return lambda state, entered: with_cells(state, table, {name: entered})


def with_cells(state: State, table: active.FittableTable, cells: Mapping[str, Any]) -> State:
    """The state after an edit of some features: of each a level's position, a number, or None."""
    codes = dict(zip(table.features.names, active.case_codes(table, active.case_values(table)), strict=True))
    case = tuple({**codes, **cells}.values())
    return _fresh(replace(state, case=case, row=-1, amount=active.same_amount(table)))


def _fresh(state: State) -> State:
    """A new case: what was filled in for the old one is gone."""
    stale: tuple[keys.ViewKey[Any], ...] = (keys.ANSWERS, keys.LEFT_OUT)
    return state.showing(*(key.to(key.default) for key in stale if state.seen(key)))


@cached(max_entries=512)
def _step(table: active.FittableTable, name: str) -> float:
    """A round step of about a fiftieth of the column's range."""
    column = table.parts.X[name]
    reach = float(column.max() - column.min())
    return 10.0 ** math.floor(math.log10(reach / 20)) if 0 < reach < math.inf else 1.0


def own_row(one: CaseInUse) -> None:
    """Where the case is a row of the table: its own class, and what the model would say had it not counted it."""
    table = one.table
    if one.row is None:
        return
    n, own = int(table.parts.rows[one.row]) + 1, md(table.class_(table.parts.y.iloc[one.row]), 24)
    template = (
        _("The case is row {n} of the table, whose class is **{name}**. The model below has not counted it.")
        if one.left_out
        else _("The case is row {n} of the table, whose class is **{name}**; it is among the rows counted.")
    )
    st.markdown(template.format(n=n, name=own) + ("" if one.left_out else " " + _unseen(one, one.row, own)))
    st.toggle(
        _("Leave this row out of the counts"),
        help=_("The posterior of a row that was counted flatters the model: it has seen the answer."),
        **bound_to(keys.LEFT_OUT, one.left_out),
    )


def _unseen(one: CaseInUse, row: int, own: str) -> str:
    """What the model would say of the row's own class had it never counted the row."""
    label = one.table.parts.y.iloc[row]
    try:
        rest = work_out(one.without(row), active.prior_of_use(one.table))
    except BayesEngineError as error:  # the row was the last of its class, and the prior of use wants that class
        return error.message.local(md)
    if rest.position < 0:
        return _("Not counted, it would have no posterior.")
    return _("Not counted, P({name}) would be {p}.").format(name=own, p=posterior(rest, rest.classes.index(label)))


def case_listed(one: CaseInUse) -> None:
    """The case of an exercise, to be read."""
    st.markdown("**" + _("The case") + "**")
    st.dataframe(
        pd.DataFrame(
            {
                _("feature"): [clean(one.table.column(n), 40) for n in one.values],
                _("value"): [clean(one.table.level(n, v), 40) for n, v in one.values.items()],
            }
        ),
        hide_index=True,
        height="content",
        key="case_listed",
    )


def another_exercise(state: State) -> State:
    """The next exercise, to be filled in."""
    return with_exercise(state, state.seen(keys.EXERCISE) + 1)


def with_exercise(state: State, seed: int) -> State:
    """An exercise by its number, to be filled in; 0 is the table itself, filled in where the exercise was."""
    filling = seed > 0 or state.seen(keys.FILL)
    return state.showing(keys.EXERCISE.to(seed), keys.FILL.to(filling), keys.ANSWERS.to(()), keys.FACTOR.to(-1))


def exercise_banner(one: CaseInUse) -> None:
    """What is being worked on when it is an exercise."""
    if not one.seed:
        return
    text = _("Exercise {seed}: {n} rows drawn from the table with replacement, and a made-up case.").format(
        seed=one.seed, n=len(one.table.parts.X)
    )
    says, again, back = st.columns([6, 1.6, 1.6], vertical_alignment="center")
    says.info(text, icon=":material/exercise:")
    again.button(_("Another exercise"), key="exercise", **on_click(another_exercise), width="stretch")
    back.button(_("Back to the table"), key="exercise_back", **on_click(lambda s: with_exercise(s, 0)), width="stretch")
