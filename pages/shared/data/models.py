"""The models of the shelf, fitted to the table in use; a fit, a count, a held-out posterior is computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import streamlit as st

from bayes_engine.decision.evaluate import HeldOut, held_out
from bayes_engine.errors import EstimationWarning
from bayes_engine.language import Message, _
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.gaussian import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import CHOICES, PRESETS, NaiveBayes
from bayes_engine.models.one_dependence import AODE, AVERAGING, SPODE, TAN, KDependence
from bayes_engine.priors import PRIORS
from bayes_engine.table.discretize import METHODS
from bayes_engine.table.roles import Parts
from pages.shared.data.tables import InUse
from pages.shared.state import Spec, current

FAMILIES: Mapping[str, type[GenerativeClassifier]] = MappingProxyType({
    "naive-bayes": NaiveBayes,
    "spode": SPODE,
    "tan": TAN,
    "aode": AODE,
    "k-db": KDependence,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
})  # fmt: skip
"""The families of models, from the simplest on."""
COLUMN_KNOBS = {"super_parent": "loo", "root": None}
"""The knobs that are a column, with the word for «the model chooses»."""


@dataclass(frozen=True)
class Fitted:
    """A fitted model of the shelf, and what the fit had to say."""

    spec: Spec
    model: GenerativeClassifier
    notes: tuple[Message, ...]

    @property
    def prior(self) -> dict[Any, float]:
        return self.model.prior_by_class


def shelf(table: InUse) -> tuple[Spec, ...]:
    """The models on the shelf; at first one, with the preset that the table opens with."""
    opening = Spec(table.info.preset if table.info else "laplace")
    return tuple(_usable(spec, opening, table) for spec in current().shelf) or (opening,)


def setting(spec: Spec, knob: str) -> Any:
    """The value of a knob: the model's own, else the preset's, else the library's default."""
    return settings(spec)[knob]


def settings(spec: Spec) -> dict[str, Any]:
    """All knobs of a model with their values; of a column its position, −1 where the model chooses."""
    defaults = FAMILIES[spec.family]().get_params(deep=False)
    defaults["priors"] = defaults["priors"] or "empirical"  # scikit-learn's None
    preset = PRESETS[spec.preset] if spec.family == "naive-bayes" else {}
    columns = {name: -1 for name in COLUMN_KNOBS if name in defaults}
    return {k: v for k, v in {**defaults, **columns, **preset, **dict(spec.knobs)}.items() if k != "schema"}


def _usable(spec: Spec, opening: Spec, table: InUse) -> Spec:
    """The model as it stands, without what a forged link, or one made for another target, holds besides."""

    def number(v: Any, low: float, top: float) -> bool:
        return isinstance(v, int | float) and not isinstance(v, bool) and low <= v <= top

    def prior(v: tuple[Any, ...]) -> bool:
        return len(v) == len(table.classes) and all(number(p, 0.0, 1.0) for p in v) and abs(sum(v) - 1.0) < 1e-9

    def column(v: Any) -> bool:
        return type(v) is int and -1 <= v < len(table.features)

    fits: Mapping[str, Callable[[Any], bool]] = {
        "alpha": lambda v: number(v, 0.0, 1e9),
        "priors": lambda v: prior(v) if isinstance(v, tuple) else v in PRIORS,
        "tied_variance": lambda v: isinstance(v, bool),
        "var_floor": lambda v: number(v, 1e-300, 0.5),
        "discretize": lambda v: v is None or v in METHODS,
        "bins": lambda v: type(v) is int and 2 <= v <= 100,
        "k": lambda v: type(v) is int and 0 <= v <= 3,
        "min_frequency": lambda v: number(v, 0.0, 1e9),
        "shrinkage": lambda v: v in (None, "auto", "oas") or number(v, 0.0, 1.0),
        **dict.fromkeys(COLUMN_KNOBS, column),
        **{name: words.__contains__ for name, words in CHOICES.items()},
    }
    if spec.preset not in PRESETS or spec.family not in FAMILIES:
        return opening
    if spec.family == "aode":
        fits = {**fits, "smoothing": AVERAGING.__contains__}
    whole = ("bins", "k", *COLUMN_KNOBS)
    known = settings(Spec(spec.preset, (), spec.family))
    kept = {
        k: float(v) if type(v) is int and k not in whole else v
        for k, v in spec.knobs
        if k in fits and k in known and fits[k](v)
    }
    return replace(spec, knobs=tuple(sorted(kept.items(), key=lambda item: item[0])))


def _parameters(spec: Spec, parts: Parts) -> dict[str, Any]:
    """The keyword arguments of a shelf model; class priors and columns travel by position and are named here."""
    chosen = settings(spec)
    if isinstance(chosen.get("priors"), tuple):
        chosen["priors"] = dict(zip(parts.target.levels, chosen["priors"], strict=True))
    for knob, own_choice in COLUMN_KNOBS.items():
        if knob in chosen:
            at = chosen[knob]
            chosen[knob] = own_choice if at < 0 else parts.schema.features.names[at]
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
    chosen, family = _parameters(spec, _parts), FAMILIES[spec.family]
    # what is chosen from the rows (a super-parent by leave-one-out, Ledoit and Wolf's amount) is part of the fit
    by_rows = chosen.get("super_parent") == "loo" or chosen.get("shrinkage") == "auto"
    estimating = set() if by_rows else family.estimation_parameters
    counting = {k: v for k, v in chosen.items() if k not in estimating}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", EstimationWarning)
        model = _count(key, spec.family, repr(sorted(counting.items())), counting, _parts).with_params(
            **{k: v for k, v in chosen.items() if k in estimating}
        )
    return Fitted(spec, model, tuple(w.message.message for w in said if isinstance(w.message, EstimationWarning)))


@st.cache_resource(max_entries=16, show_spinner=False)
def _count(key: str, family: str, parameters: str, _counting: Mapping[str, Any], _parts: Parts) -> GenerativeClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        model = FAMILIES[family](schema=_parts.schema, **_counting)
        return model.fit(_parts.X, _parts.y, None if _parts.weight is None else _parts.weight.to_numpy())


def held_out_rows(table: InUse, fitted: Fitted) -> HeldOut:
    """Posteriors of every row by models that had not seen it; a loss or a prior of use never computes them again."""
    assert table.parts is not None
    return _held_out(table.key, fitted.spec, fitted.model, table.parts)


@st.cache_resource(max_entries=32, show_spinner=False)
def _held_out(key: str, spec: Spec, _model: GenerativeClassifier, _parts: Parts) -> HeldOut:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        held = held_out(_model, _parts.X, _parts.y, groups=_parts.groups, sample_weight=_parts.weight)
        return held.in_order(_parts.target.levels)


def notes_of(table: InUse, fitted: Fitted) -> tuple[Message, ...]:
    """What a person should know of this fit: rows left out, estimates replaced; columns and classes by their names on
    screen."""
    assert table.parts is not None
    shown = {str(c): table.class_(c) for c in table.classes} | {v.name: table.column(v.name) for v in table.schema}

    def named(note: Message) -> Message:
        names = note.params.get("names")
        if table.dataset is None or not isinstance(names, str):  # the columns of a file have no other names
            return note
        on_screen = _(", ").join(shown.get(name, name) for name in names.split(", "))
        return replace(note, params={**note.params, "names": on_screen})

    return tuple(map(named, (*table.parts.notes, *fitted.notes)))
