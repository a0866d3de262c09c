"""What a button of the doctor does: a mend as an edit of the state. Where one cannot stand it raises, and all stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from bayes_engine.models.likelihoods import possible
from bayes_engine.workbench.doctor import finding
from pages import active
from pages.active import shelf
from pages.runtime.state import Spec, State
from pages.views.data import columns

DIGITS = 4
"""Significant digits of balanced losses: what else they had is not worth reading."""


def with_mends_done(state: State, mends: Iterable[finding.Mend]) -> State:
    """The state with these mends done, one after the other.

    Raises TableError where one makes a table that no model can be fitted to.
    """
    for kind, alike in groupby(mends, type):
        several: list[Any] = list(alike)
        if kind is finding.Repair:
            state = columns.with_repairs(state, several)
        elif kind is finding.SetRole:
            positions = active.in_use(state).schema.position
            state = columns.with_roles(state, {positions[mend.column]: mend.role for mend in several})
        else:
            for mend in several:
                state = _one(state, mend)
    return state


def _one(state: State, mend: finding.Mend) -> State:
    if isinstance(mend, finding.SetKind):
        table = active.in_use(state)
        position = table.schema.position[mend.column]
        state = columns.with_kind(state, position, mend.kind)
        ignored = table.schema.variables[position].role == "ignore"
        return columns.with_role(state, position, "feature") if ignored else state
    if isinstance(mend, finding.ReadText):
        position = active.in_use(state).schema.position[mend.column]
        return columns.with_role(columns.with_kind(state, position, "text"), position, "feature")
    if isinstance(mend, finding.AddModel):
        return with_model(state, spec_of(mend))
    if isinstance(mend, finding.SetLikelihood):
        return _likelihood(state, active.fittable(active.in_use(state)), mend)
    if isinstance(mend, finding.SetParameter):
        return _parameter(state, mend)
    assert isinstance(mend, finding.BalanceLosses)
    cost = dict(mend.cost)
    price = [float(f"{cost.get(c, 1.0):.{DIGITS}g}") for c in active.fittable(active.in_use(state)).classes]
    rows = tuple(tuple(0.0 if i == j else price[j] for j in range(len(price))) for i in range(len(price)))
    return replace(state, losses=rows, extra="", fixed=())


def _models_on_shelf(state: State) -> tuple[Spec, ...]:
    return active.shelf_of(active.fittable(active.in_use(state)))


def _active(state: State) -> Spec:
    specs = _models_on_shelf(state)
    return specs[min(state.active, len(specs) - 1)]


def spec_of(model: finding.AddModel) -> Spec:
    """A model of the doctor's as the shelf keeps it."""
    preset = model.preset if model.family in active.NAIVE else Spec.preset
    return Spec(preset, tuple(sorted(model.parameters)), model.family)


def with_model(state: State, spec: Spec) -> State:
    """The state with this model on the shelf, and active; on a full shelf it takes the active one's place."""
    specs = _models_on_shelf(state)
    if spec in specs:
        return replace(state, shelf=specs, active=specs.index(spec))
    if len(specs) >= shelf.MOST:
        return _with_active(state, spec)
    return replace(state, shelf=(*specs, spec), active=len(specs))


def with_models(state: State, wanted: Iterable[Spec]) -> State:
    """The state with all of these on the shelf, the first active; of the others the last give way where it is full."""
    wanted = tuple(dict.fromkeys(wanted))
    others = tuple(spec for spec in _models_on_shelf(state) if spec not in wanted)[: shelf.MOST - len(wanted)]
    return replace(state, shelf=(*others, *wanted), active=len(others))


def _with_active(state: State, spec: Spec) -> State:
    specs = _models_on_shelf(state)
    here = min(state.active, len(specs) - 1)
    return replace(state, shelf=(*specs[:here], spec, *specs[here + 1 :]), active=here)


def _likelihood(state: State, table: active.FittableTable, mend: finding.SetLikelihood) -> State:
    spec = _active(state)
    has = "likelihoods" in active.settings(spec)
    spec = spec if has else Spec("laplace")
    for name in mend.columns:
        position = table.features.position.get(name, -1)
        if position >= 0 and mend.likelihood in possible(table.features.variables[position]):
            spec = shelf.with_likelihood(table, spec, position, mend.likelihood)
    return _with_active(state, spec) if has else with_model(state, spec)


def _parameter(state: State, mend: finding.SetParameter) -> State:
    spec = _active(state)
    # AODE's smoothing is not what the doctor means
    has = mend.name in active.settings(spec) and not (mend.name == "smoothing" and spec.family == "aode")
    spec = shelf.with_parameter(spec if has else Spec("laplace"), mend.name, mend.value)
    if mend.name == "smoothing" and not active.setting(spec, "alpha"):
        spec = shelf.with_parameter(spec, "alpha", 1.0)
    return _with_active(state, spec) if has else with_model(state, spec)
