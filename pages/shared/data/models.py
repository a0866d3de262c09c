"""The models of the shelf, fitted to the table in use; a fit, a count, a held-out posterior is computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from bayes_engine.decision.evaluate import HeldOut, held_out
from bayes_engine.errors import EstimationWarning
from bayes_engine.language import Message
from bayes_engine.models.naive_bayes import CHOICES, PRESETS, NaiveBayes
from bayes_engine.priors import PRIORS
from bayes_engine.table.roles import Parts
from pages.shared.data.tables import InUse
from pages.shared.state import Spec, current


@dataclass(frozen=True)
class Fitted:
    """A fitted model of the shelf, and what the fit had to say."""

    spec: Spec
    model: NaiveBayes
    notes: tuple[Message, ...]

    @property
    def prior(self) -> dict[Any, float]:
        return self.model.class_prior_


def shelf(table: InUse) -> tuple[Spec, ...]:
    """The models on the shelf; at first one, with the preset that the table opens with."""
    opening = Spec(table.info.preset if table.info else "laplace")
    return tuple(_usable(spec, opening, len(table.classes)) for spec in current().shelf) or (opening,)


def _usable(spec: Spec, opening: Spec, classes: int) -> Spec:
    """The model as it stands, without what a forged link, or one made for another target, holds besides."""

    def number(v: Any, top: float) -> bool:
        return isinstance(v, int | float) and not isinstance(v, bool) and 0.0 <= v <= top

    def prior(v: tuple[Any, ...]) -> bool:
        return len(v) == classes and all(number(p, 1.0) for p in v) and abs(sum(v) - 1.0) < 1e-9

    fits: Mapping[str, Callable[[Any], bool]] = {
        "alpha": lambda v: number(v, 1e9),
        "priors": lambda v: prior(v) if isinstance(v, tuple) else v in PRIORS,
        "tied_variance": lambda v: isinstance(v, bool),
        "var_floor": lambda v: number(v, 0.5) and v >= 1e-300,
        **{name: words.__contains__ for name, words in CHOICES.items()},
    }
    if spec.preset not in PRESETS:
        return opening
    kept = {k: float(v) if type(v) is int else v for k, v in spec.knobs if k in fits and fits[k](v)}
    return replace(spec, knobs=tuple(sorted(kept.items())))


def _parameters(spec: Spec, classes: tuple[Any, ...]) -> dict[str, Any]:
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
    chosen = _parameters(spec, _parts.target.levels)
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


def notes_of(table: InUse, fitted: Fitted) -> tuple[Message, ...]:
    """What a person should know of this fit: rows left out, estimates replaced."""
    assert table.parts is not None
    return (*table.parts.notes, *fitted.notes)
