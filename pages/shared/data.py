"""What the pages show: the table in use, the fitted models of the shelf, losses and case; fits are cached.

Caches are keyed by a digest of the content and by parameters, hold immutable results, and hold neither words nor
colours. A digest never opens data: an upload lives in its session, and only a session that has it asks for its fits.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine import __version__
from bayes_engine.datasets import Dataset, DatasetInfo, load_dataset
from bayes_engine.decision.evaluate import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError, EstimationWarning
from bayes_engine.language import Message, _, current_language
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.table.describe import ColumnSummary, describe
from bayes_engine.table.read import Reading, read_table
from bayes_engine.table.roles import Parts, take_apart
from bayes_engine.table.schema import Schema, Variable, recast
from pages.shared.state import Spec, State, current

REFUSE = "refuse"
"""The name of the refusal among the actions."""
UPLOADS = 3
"""How many uploaded tables a session keeps."""


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


@dataclass(frozen=True)
class Fitted:
    """A fitted model of the shelf, and what the fit had to say."""

    spec: Spec
    model: NaiveBayes
    notes: tuple[Message, ...]

    @property
    def prior(self) -> dict[Any, float]:
        return self.model.class_prior_


# tables ---------------------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=32, show_spinner=False)
def embedded(name: str) -> Dataset:
    """An embedded data set."""
    return load_dataset(name)


def digest(content: bytes) -> str:
    """A short name for the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass
class Upload:
    """A file this session was given, and the table in it as read last, under which overrides."""

    name: str
    content: bytes
    overrides: tuple[tuple[str, Any], ...]
    reading: Reading

    def read(self, wanted: tuple[tuple[str, Any], ...], *, typed: bool = True) -> None:
        """Read the file again under these overrides; where they do not fit it raises, and the reading stays."""
        self.reading = read_table(self.content, name=self.name, typed=typed, **dict(wanted))
        self.overrides = wanted

    def read_as(self, wanted: tuple[tuple[str, Any], ...], *, typed: bool = True) -> None:
        """Have it read under these overrides, unless it is; a link's that do not fit are passed over."""
        if self.overrides != wanted:
            with suppress(BayesEngineError):
                self.read(wanted, typed=typed)
            self.overrides = wanted


def keep_upload(name: str, content: bytes, reading: Reading) -> str:
    """Keep a file and the table that was read from it, under the digest of its content; the digest."""
    mark = digest(content)
    uploads = st.session_state.setdefault("uploads", {})
    uploads.pop(mark, None)
    uploads[mark] = Upload(name, content, (), reading)
    for old in list(uploads)[:-UPLOADS]:
        del uploads[old]
    return mark


def upload_in(state: State) -> Reading | None:
    """The uploaded table that the state names, if this session has its file, read under the state's overrides."""
    kept: Upload | None = st.session_state.get("uploads", {}).get(state.table.removeprefix("upload:"))
    if kept is None:
        return None
    kept.read_as(overrides(state))
    return kept.reading


ENCODINGS = ("utf-8", "gb18030", "big5", "cp1252", "cp1251", "shift_jis", "euc_kr", "utf-16", "utf-16-le", "utf-16-be",
             "latin-1", "mac_roman")  # fmt: skip
"""The encodings a person may choose."""


def overrides(state: State, key: str = "read") -> tuple[tuple[str, Any], ...]:
    """How the state wants a file read where that differs from the guess: pairs of a keyword of `read_table` and its
    value. What a forged link may hold besides counts as not said."""
    fits: Mapping[str, Callable[[Any], bool]] = {
        "encoding": lambda v: v in ENCODINGS,
        "delimiter": lambda v: isinstance(v, str) and (len(v) <= 1 or v == "aligned"),
        "decimal": lambda v: v in (".", ","),
        "header": lambda v: v is False or (isinstance(v, int) and v > 0),
        "sheet": lambda v: isinstance(v, str),
        "missing": lambda v: isinstance(v, tuple) and all(isinstance(t, str) for t in v),
    }
    wanted = [p for p in state.seen(key, ()) if isinstance(p, tuple) and len(p) == 2]
    return tuple((name, value) for name, value in wanted if name in fits and fits[name](value))


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
    """A level by its position; or a new one by its name, of the type the others have: 2 among whole numbers is 2."""
    if isinstance(code, int) and 0 <= code < len(variable.levels):
        return variable.levels[code]
    kind = type(variable.levels[0]) if variable.levels else str
    with suppress(ValueError):
        return kind(code) if kind in (int, float) else str(code)
    return str(code)


@st.cache_resource(max_entries=32, show_spinner=False)
def _parts(key: str, _frame: pd.DataFrame, _schema: Schema) -> Parts:
    frame = _frame
    for variable in _schema.features:
        if variable.numeric and not pd.api.types.is_numeric_dtype(frame[variable.name].dtype):
            frame = frame.assign(**{variable.name: pd.to_numeric(frame[variable.name].astype(object))})
    parts = take_apart(frame, _schema)
    labels = pd.Categorical(parts.y, categories=list(parts.target.levels))  # a class without a row is a class
    return replace(parts, y=pd.Series(labels, index=parts.y.index, name=parts.y.name))


# models ---------------------------------------------------------------------------------------------------------


def shelf(table: InUse) -> tuple[Spec, ...]:
    """The models on the shelf; at first one, with the preset that the table opens with."""
    opening = Spec(table.info.preset if table.info else "laplace")
    return tuple(_usable(spec, opening, len(table.classes)) for spec in current().shelf) or (opening,)


def _usable(spec: Spec, opening: Spec, classes: int) -> Spec:
    """The model as it stands, without what a forged link, or one made for another target, holds besides."""

    def number(v: Any, top: float) -> bool:
        return isinstance(v, int | float) and not isinstance(v, bool) and 0.0 <= v <= top

    fits: Mapping[str, Callable[[Any], bool]] = {
        "alpha": lambda v: number(v, 1e9),
        "smoothing": lambda v: v in ("all", "zero-only", "none"),
        "priors": lambda v: (
            v in ("empirical", "laplace", "uniform")
            or (
                isinstance(v, tuple)
                and len(v) == classes
                and all(number(p, 1.0) for p in v)
                and abs(sum(v) - 1.0) < 1e-9
            )
        ),
        "variance": lambda v: v in ("mle", "unbiased"),
        "tied_variance": lambda v: isinstance(v, bool),
        "var_floor": lambda v: number(v, 0.5),
        "missing": lambda v: v in ("marginalize", "category", "error"),
        "unseen": lambda v: v in ("ignore", "smooth", "error"),
    }
    if spec.preset not in PRESETS:
        return opening
    return replace(spec, knobs=tuple((k, v) for k, v in spec.knobs if k in fits and fits[k](v)))


def parameters(spec: Spec, classes: tuple[Any, ...]) -> dict[str, Any]:
    """The keyword arguments of a shelf model; class priors travel by position and are matched by label here."""
    chosen = {**PRESETS[spec.preset], **dict(spec.knobs)}
    if isinstance(chosen.get("priors"), tuple):
        chosen["priors"] = dict(zip(classes, chosen["priors"], strict=True))
    return chosen


def active_model(table: InUse) -> Fitted:
    """The active model of the shelf, fitted to the table in use."""
    models = shelf(table)
    return fit(table, models[min(current().active, len(models) - 1)])


def fit(table: InUse, spec: Spec) -> Fitted:
    """A shelf model fitted to the table; counting is done once for all models that only estimate differently."""
    assert table.parts is not None
    return _fit(table.key, spec, table.parts)


@st.cache_resource(max_entries=64, show_spinner=False)
def _fit(key: str, spec: Spec, _parts: Parts) -> Fitted:
    chosen = parameters(spec, _parts.target.levels)
    counting = {k: v for k, v in chosen.items() if k not in NaiveBayes.estimation_parameters}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", EstimationWarning)
        model = _count(key, tuple(sorted(counting.items())), _parts).with_params(
            **{k: v for k, v in chosen.items() if k not in counting}
        )
    return Fitted(spec, model, tuple(w.message.message for w in said if isinstance(w.message, EstimationWarning)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _count(key: str, counting: tuple[tuple[str, Any], ...], _parts: Parts) -> NaiveBayes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        model = NaiveBayes(schema=_parts.schema, **dict(counting))
        return model.fit(_parts.X, _parts.y, None if _parts.weight is None else _parts.weight.to_numpy())


def held_out_rows(table: InUse, fitted: Fitted) -> HeldOut:
    """Posteriors of every row by models that had not seen it; a loss or a prior of use never computes them again."""
    assert table.parts is not None
    return _held_out(table.key, fitted.spec, fitted.model, table.parts)


@st.cache_resource(max_entries=32, show_spinner=False)
def _held_out(key: str, spec: Spec, _model: NaiveBayes, _parts: Parts) -> HeldOut:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        held = held_out(_model, _parts.X, _parts.y, groups=_parts.groups, sample_weight=_parts.weight)
        return held.in_order(_parts.target.levels)


# losses and prior of use ----------------------------------------------------------------------------------------


def losses(table: InUse) -> LossMatrix:
    """The losses in use: rows are the classes in the table's order, then the further action if there is one."""
    state, classes = current(), table.classes
    actions = (*classes, state.extra) if state.extra and state.extra not in classes else classes
    if len(state.losses) != len(actions) or any(len(row) != len(classes) for row in state.losses):
        return LossMatrix.zero_one(classes)
    return LossMatrix(actions, classes, state.losses)


def story_losses(table: InUse) -> tuple[tuple[tuple[float, ...], ...], str]:
    """The losses of the data set's story, as the state keeps them: rows in the table's class order, then the further
    action, and that action's name."""
    assert table.info is not None
    story = table.info.loss
    matrix = LossMatrix(story.actions, story.classes, story.table).for_classes(table.classes)
    extra = [a for a in matrix.actions if a not in table.classes]
    order = [matrix.actions.index(a) for a in (*(c for c in table.classes if c in matrix.actions), *extra[:1])]
    return tuple(tuple(float(v) for v in matrix.table[i]) for i in order), str(extra[0]) if extra else ""


def prior_of_use(table: InUse) -> Mapping[Any, float] | None:
    """The prior of use by class, or None where the model's own is meant."""
    prior = current().prior
    usable = len(prior) == len(table.classes) and abs(sum(prior) - 1.0) < 1e-6
    return {c: p / sum(prior) for c, p in zip(table.classes, prior, strict=True)} if usable else None


# the case -------------------------------------------------------------------------------------------------------


def case_values(table: InUse) -> dict[str, Any]:
    """The case by feature: a level, a number, or None for missing."""
    assert table.parts is not None
    state, features = current(), table.parts.schema.features
    if len(state.case) != len(features):
        return first_case(table)
    return {v.name: _cell(v, code) for v, code in zip(features, state.case, strict=True)}


def first_case(table: InUse) -> dict[str, Any]:
    """The case a table opens with: its first worked query, or its first row."""
    assert table.parts is not None
    given = table.info.cases[0].values if table.info and table.info.cases else None
    return row_values(table, 0) if given is None else {v.name: given.get(v.name) for v in table.parts.schema.features}


def row_values(table: InUse, row: int) -> dict[str, Any]:
    """The feature cells of one row of the table."""
    assert table.parts is not None
    cells = table.parts.X.iloc[row]
    return {name: None if pd.isna(cells[name]) else cells[name] for name in table.parts.X.columns}


def case_codes(table: InUse, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """A case as the state keeps it: level positions and numbers."""
    assert table.parts is not None
    return tuple(_code(v, values.get(v.name)) for v in table.parts.schema.features)


def case_frame(table: InUse, values: Mapping[str, Any]) -> pd.DataFrame:
    """A case as a frame of one row, in the dtypes of the table."""
    assert table.parts is not None
    columns: dict[str, Any] = {}
    for v in table.parts.schema.features:
        value = values.get(v.name)
        columns[v.name] = (
            pd.Categorical([value], categories=list(v.levels)) if v.discrete
            else pd.Series([float("nan") if value is None else float(value)])
        )  # fmt: skip
    return pd.DataFrame(columns)


def _cell(variable: Variable, code: Any) -> Any:
    if code is None or not variable.discrete:
        return None if code is None else float(code)
    return variable.levels[code] if isinstance(code, int) and 0 <= code < len(variable.levels) else None


def _code(variable: Variable, value: Any) -> Any:
    if value is None or (variable.discrete and value not in variable.levels):
        return None
    return variable.levels.index(value) if variable.discrete else float(value)


def notes_of(table: InUse, fitted: Fitted) -> tuple[Message, ...]:
    """What a person should know of this fit: rows left out, estimates replaced."""
    assert table.parts is not None
    return (*table.parts.notes, *fitted.notes)


# looking at a table ---------------------------------------------------------------------------------------------


def summaries(table: InUse) -> tuple[ColumnSummary, ...]:
    """What each column holds."""
    return _summaries(table.key, table.frame, table.schema)


@st.cache_resource(max_entries=16, show_spinner=False)
def _summaries(key: str, _frame: pd.DataFrame, _schema: Schema) -> tuple[ColumnSummary, ...]:
    return describe(_frame, _schema)


def shown_rows(table: InUse, most: int) -> pd.DataFrame:
    """The first rows, counted from 1, with their levels as they are called on screen."""
    head = table.frame.head(most)
    head = head.set_axis(range(1, len(head) + 1), axis=0)
    named = [v.name for v in table.schema if v.discrete and table.dataset]
    return head.assign(**{name: [None if pd.isna(x) else table.level(name, x) for x in head[name]] for name in named})
