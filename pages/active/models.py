"""The models of the shelf, fitted to the table in use; a fit, a count, a held-out posterior is computed once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bayes_engine.decision.fold_models import way_of_cutting
from bayes_engine.decision.held_out import TINY, Folds, HeldOut, ReadFolds, held_out, read_folds, repeated
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import listen
from bayes_engine.language import Listing, Message
from bayes_engine.ledger import Ledger
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier, calibrate
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.priors import OTHERS, Dirichlet
from bayes_engine.table.roles import Parts
from bayes_engine.table.schema import Schema
from bayes_engine.table.write import free_names
from pages.active.case_and_losses import case_frame, case_values
from pages.active.model_settings import (
    AS_IT_IS,
    COLUMN_PARAMETERS,
    DENSITIES,
    FAMILIES,
    NAIVE,
    TERMS,
    TOGETHER,
    setting,
    settings,
    shelf_of,
    uncalibrated,
)
from pages.active.tables import REFUSE, FittableTable
from pages.runtime.cache import cached
from pages.runtime.job_queue import in_worker
from pages.runtime.state import Spec, current

COUNTED, LONG = ("naive-bayes", "complement", "lda", "qda"), 10_000
"""The families whose fit is one look at the rows, a moment's work below so many of them."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model of the shelf, the key of the table it was fitted to, and what the fit had to say."""

    table_key: str
    spec: Spec
    model: GenerativeClassifier
    notes: tuple[Message, ...]
    calibrated: CalibratedClassifier | None = None

    @property
    def key(self) -> tuple[str, Spec]:
        """What stands for it in a key."""
        return self.table_key, self.spec

    @property
    def uncalibrated(self) -> Fitted:
        """The same fit before its calibration."""
        return replace(self, spec=uncalibrated(self.spec), calibrated=None)

    @property
    def scores(self) -> bool:
        """Whether the model itself gives scores: only calibrated, of a whole row, they are probabilities."""
        return isinstance(self.model, ComplementNaiveBayes)

    @property
    def judging(self) -> GenerativeClassifier | CalibratedClassifier:
        """What gives the posterior of a whole row: the model, calibrated where the shelf says so."""
        return self.model if self.calibrated is None else self.calibrated

    @cached_property
    def prior(self) -> dict[Any, float]:
        """The prior in that posterior."""
        return self.judging.prior_by_class


def _parameters(spec: Spec, parts: Parts) -> dict[str, Any]:
    """The keyword arguments of a shelf model; class priors and columns travel by position and are named here."""
    chosen = settings(spec)
    del chosen["calibration"]
    if "alpha" in chosen:
        chosen |= _smoothed(chosen, parts)
        del chosen["alphas"]
    if spec.family in NAIVE:
        chosen |= _chosen_likelihoods(chosen, parts)
        if isinstance(chosen.get("criterion"), tuple):
            chosen["loss"] = _losses(chosen["criterion"][1], parts)
            chosen["criterion"] = "risk"
    if isinstance(chosen.get("priors"), tuple):
        chosen["priors"] = dict(zip(parts.target.levels, chosen["priors"], strict=True))
    for parameter, own_choice in COLUMN_PARAMETERS.items():
        if parameter in chosen:
            position = chosen[parameter]
            chosen[parameter] = own_choice if position < 0 else parts.schema.features.names[position]
    if isinstance(chosen.get("structure"), tuple):
        names = (*parts.schema.features.names, parts.target.name)
        chosen["structure"] = tuple((names[a], names[b]) for a, b in chosen["structure"])
    return chosen


def _chosen_likelihoods(chosen: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """The likelihoods by column name: of all numbers where a density was chosen for them, of all counts where they are
    one multinomial, and a column's own."""
    features, every = parts.schema.features, chosen["discretize"]
    own = {features.names[position]: name for position, name in chosen["likelihoods"]}
    whole = {v.name: every for v in features if v.numeric} if every in DENSITIES else {}
    whole |= {v.name: every for v in features if v.numeric and v.kind == "count"} if every == TOGETHER else {}
    return {"likelihoods": {**whole, **own} or None, "discretize": None if every in (*DENSITIES, TOGETHER) else every}


def _losses(rows: tuple[tuple[float, ...], ...], parts: Parts) -> LossMatrix:
    classes = parts.target.levels
    further = free_names([REFUSE], set(map(str, classes)))[: len(rows) - len(classes)]
    return LossMatrix((*classes, *further), classes, rows)


def read_as(schema: Schema, terms: str, counting: str) -> Schema:
    """The schema with every text read so."""
    rule = replace(TERMS[terms], presence=counting == "once")
    how = "bernoulli" if counting == "bernoulli" else "multinomial"
    return Schema(tuple(replace(v, text=rule, likelihood=how) if v.textual else v for v in schema))


def _smoothed(chosen: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """The Dirichlet prior of all columns, and of those that have one of their own; under the smoothing "none" these
    are the only ones that are smoothed."""

    def prior(value: Any) -> float | Dirichlet:
        if not isinstance(value, tuple):
            return float(value)
        return Dirichlet.m_estimate(*value[1:]) if value[0] == "m" else Dirichlet.equivalent_sample_size(value[1])

    if not chosen["alphas"]:
        return {"alpha": prior(chosen["alpha"])}
    alone = chosen.get("smoothing") == "none"
    names = parts.schema.features.names
    own = {names[position]: prior(value) for position, value in chosen["alphas"]}
    alpha = {"alpha": {OTHERS: 0.0 if alone else prior(chosen["alpha"]), **own}}
    return {**alpha, "smoothing": "all"} if alone else alpha


def active_model(table: FittableTable) -> Fitted:
    models = shelf_of(table)
    return fit(table, models[min(current().active, len(models) - 1)])


def fit(table: FittableTable, spec: Spec) -> Fitted:
    """A shelf model fitted to the table; counting is done once for all models that only estimate differently.

    Raises what the fit raises, and TableError where a calibrator has no rows held out to learn from.
    """
    own = _fit(table, uncalibrated(spec))
    if setting(spec, "calibration") == AS_IT_IS:
        return replace(own, spec=spec)  # what it is called now
    held = _held(table, own, True)
    return replace(own, spec=spec, calibrated=_calibrated(own, setting(spec, "calibration"), held))


@cached(max_entries=16, activity=Message("calibrating the model"))
def _calibrated(own: Fitted, method: str, _held: HeldOut) -> CalibratedClassifier:
    made = CalibratedClassifier(own.model, method=method)
    with listen():
        made.fit_held_out(own.model, _held)
    return made


@cached(max_entries=64)
def _fit(table: FittableTable, spec: Spec) -> Fitted:
    counting, estimating = _apart(spec, table.parts)
    with listen() as notes:
        model = _count(table, spec.family, counting).with_params(**estimating)
    return Fitted(table.key, spec, model, tuple(notes))


def _apart(spec: Spec, parts: Parts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters that act as rows are counted, and those that only estimate."""
    chosen, family = _parameters(spec, parts), FAMILIES[spec.family]
    # what is chosen from the rows (a super-parent by leave-one-out, Ledoit and Wolf's amount) is part of the fit
    by_rows = chosen.get("super_parent") == "loo" or chosen.get("shrinkage") == "auto"
    names = set() if by_rows else set(family.estimation_parameters)
    names -= {"priors"} if spec.family == "network" else set()  # a stated prior leaves the class no parents
    counting = {k: v for k, v in sorted(chosen.items()) if k not in names}
    return counting, {k: v for k, v in chosen.items() if k in names}


@cached(max_entries=16, activity=Message("fitting the model"))
def _count(table: FittableTable, family: str, counting: Mapping[str, Any]) -> GenerativeClassifier:
    parts, weight = table.parts, _weights(table.parts)
    with listen():
        model = _made(family, parts.schema, counting)
        if family in COUNTED and len(parts.y) < LONG:
            return model.fit(parts.X, parts.y, weight)
        return in_worker(model.fit, parts.X, parts.y, weight)


def _weights(parts: Parts) -> Any:
    return None if parts.weight is None else parts.weight.to_numpy()


def _made(family: str, schema: Schema, parameters: Mapping[str, Any]) -> GenerativeClassifier:
    """The model before its fit; on a naive Bayes where the family stands on one."""
    if family == "complement":
        rest = {k: v for k, v in parameters.items() if k not in ("terms", "counting")}
        read = read_as(schema, parameters["terms"], parameters["counting"])
        return ComplementNaiveBayes(schema=read, **rest)
    if family not in NAIVE:
        return FAMILIES[family](schema=schema, **parameters)
    own = {k: v for k, v in parameters.items() if k in NAIVE[family] or k == "loss"}
    rest = {k: v for k, v in parameters.items() if k not in (*own, "terms", "counting")}
    naive = NaiveBayes(schema=read_as(schema, parameters["terms"], parameters["counting"]), **rest)
    return naive if family == "naive-bayes" else FAMILIES[family](naive, **own)


def explained(table: FittableTable, fitted: Fitted) -> Ledger:
    """The case explained by what judges whole rows, at its own prior; a loss or a prior of use never explains it again.

    Raises what the model raises, which may refuse missing cells."""
    return _explained(fitted, case_values(table), table)


@cached(max_entries=64)
def _explained(fitted: Fitted, case: Mapping[str, Any], _table: FittableTable) -> Ledger:
    return fitted.judging.explain(case_frame(_table, case))


def held_out_rows(table: FittableTable, fitted: Fitted, *, refit: bool = True) -> HeldOut:
    """Posteriors of every row by models that had not seen it; a loss or a prior of use never computes them again.
    Without `refit` rows left out one at a time are judged under the structure and cut points that all rows chose."""
    own = _held(table, fitted.uncalibrated, refit)
    if fitted.calibrated is None:
        return own
    return _held_calibrated(fitted, own)


@cached(max_entries=16, activity=Message("calibrating the model"))
def _held_calibrated(fitted: Fitted, _held: HeldOut) -> HeldOut:
    return calibrate(_held, setting(fitted.spec, "calibration"))


def _held(table: FittableTable, own: Fitted, refit: bool) -> HeldOut:
    """As `held_out_rows`, before any calibration."""
    counting, estimating = _apart(own.spec, table.parts)
    folds = None
    if estimating and not is_tiny(table) and table.parts.X.size <= MOST_KEPT:
        counted = _count(table, own.spec.family, counting)
        folds = _folds(table, own.spec.family, counting, counted, _folds_read(table, own, (0,)))
    return _held_out(own, refit, table, folds, estimating)


MOST_KEPT = 1_000_000
"""Cells of a table whose folds are kept: a kernel's are as large as the table, and there are five."""


def _folds_read(table: FittableTable, own: Fitted, seeds: tuple[int, ...]) -> list[ReadFolds]:
    """The rows in folds, where each fold finds its own cut points, for all models that cut alike; [] of others."""
    way = way_of_cutting(own.model)
    return [] if way is None or table.parts.X.size > MOST_KEPT else _read_alike(table, way, seeds, own)


@cached(max_entries=16, activity=Message("judging the model on rows held out"))
def _read_alike(table: FittableTable, way: Hashable, seeds: tuple[int, ...], _own: Fitted) -> list[ReadFolds]:
    parts, weight = table.parts, _weights(table.parts)
    return in_worker(read_folds, _own.model, parts.X, parts.y, seeds, groups=parts.groups, sample_weight=weight)


@cached(max_entries=64, activity=Message("judging the model on rows held out"))
def _folds(
    table: FittableTable,
    family: str,
    counting: Mapping[str, Any],
    _counted: GenerativeClassifier,
    _read: list[ReadFolds],
) -> Folds:
    """What is counted of all folds but one, for all models that only estimate differently."""
    parts, weight = table.parts, _weights(table.parts)
    with listen():
        if _read:
            return in_worker(Folds, _counted, read=_read[0])
        return in_worker(Folds, _counted, parts.X, parts.y, groups=parts.groups, sample_weight=weight)


@cached(max_entries=64, activity=Message("judging the model on rows held out"))
def _held_out(
    own: Fitted, refit: bool, _table: FittableTable, _folds: Folds | None, _estimating: Mapping[str, Any]
) -> HeldOut:
    parts, weight = _table.parts, _weights(_table.parts)
    with listen():
        if _folds is not None:
            held = in_worker(_folds.held_out, **_estimating)
        else:
            held = in_worker(
                held_out, own.model, parts.X, parts.y, groups=parts.groups, sample_weight=weight, refit=refit
            )
        return held.in_order(_table.classes)


RUNS = ((300, 5), (3_000, 3))
"""Up to so many rows a difference is judged by so many cross-validations; beyond by two."""


def runs_for(n: int) -> int:
    """How often n rows are cross-validated."""
    return next((runs for rows, runs in RUNS if n <= rows), 2)


def seeds_to_repeat(table: FittableTable) -> tuple[int, ...]:
    """Of all cross-validations those that `held_out_rows` is not: it is the first, unless rows are left out one at a
    time."""
    return tuple(range(0 if is_tiny(table) else 1, runs_for(len(table.parts.y))))


def repeated_rows(table: FittableTable, fitted: Fitted) -> tuple[HeldOut, ...]:
    """As `held_out_rows`, in folds by each of the `seeds_to_repeat`, before any calibration."""
    own, seeds = fitted.uncalibrated, seeds_to_repeat(table)
    return _repeated(own, seeds, table, _folds_read(table, own, seeds))


@cached(max_entries=32, activity=Message("repeating the cross-validation"))
def _repeated(
    own: Fitted, seeds: tuple[int, ...], _table: FittableTable, _read: list[ReadFolds]
) -> tuple[HeldOut, ...]:
    parts, weight = _table.parts, _weights(_table.parts)
    X, y = (None, None) if _read else (parts.X, parts.y)
    with listen():
        held = in_worker(repeated, own.model, X, y, seeds, groups=parts.groups, sample_weight=weight, read=_read)
    return tuple(one.in_order(_table.classes) for one in held)


def notes_of(table: FittableTable, fitted: Fitted) -> tuple[Message, ...]:
    """What a person should know of this fit: rows left out, estimates replaced; columns and classes by their names on
    screen."""
    shown = {str(c): table.class_(c) for c in table.classes} | {v.name: table.column(v.name) for v in table.schema}

    def named(note: Message) -> Message:
        names = note.params.get("names")
        if table.dataset is None or not isinstance(names, Listing):  # the columns of a file have no other names
            return note
        on_screen = Listing(shown.get(str(name), str(name)) for name in names.parts)
        return replace(note, params={**note.params, "names": on_screen})

    return tuple(map(named, (*table.parts.notes, *fitted.notes)))


def is_tiny(table: FittableTable) -> bool:
    """Whether rows are left out one at a time."""
    return table.parts.groups is None and len(table.parts.y) <= TINY
