"""The shelf of models as edits of the state: up to six, each a preset and the knobs that differ from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bayes_engine.language import _
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from pages.shared import data, words
from pages.shared.state import Spec, State, current

MOST = 6
"""How many models the shelf holds."""
_DEFAULTS = NaiveBayes().get_params()


def setting(spec: Spec, knob: str) -> Any:
    """The value of a knob: the model's own, else the preset's, else the library's default."""
    return {**_DEFAULTS, **PRESETS[spec.preset], **dict(spec.knobs)}[knob]


def with_knob(spec: Spec, knob: str, value: Any) -> Spec:
    """The model with one knob set; one that stands where the preset has it is not kept."""
    kept = {**dict(spec.knobs), knob: value}
    if value == setting(Spec(spec.preset), knob):
        del kept[knob]
    return replace(spec, knobs=tuple(sorted(kept.items())))


def active(table: data.InUse) -> int:
    """The place of the active model on the shelf."""
    return min(current().active, len(data.shelf(table)) - 1)


def on_active(table: data.InUse, edit: Callable[[Spec], Spec]) -> Callable[[State], State]:
    """An edit of the state that edits the active model."""

    def edited(state: State) -> State:
        specs, here = data.shelf(table), active(table)
        return replace(state, shelf=(*specs[:here], edit(specs[here]), *specs[here + 1 :]), active=here)

    return edited


def add(table: data.InUse, state: State) -> State:
    """One more model, a copy of the active one, which becomes active."""
    specs = data.shelf(table)
    return replace(state, shelf=(*specs, specs[active(table)]), active=len(specs)) if len(specs) < MOST else state


def remove(table: data.InUse, state: State) -> State:
    """The active model is taken off the shelf; the last one stays."""
    specs, here = data.shelf(table), active(table)
    rest = (*specs[:here], *specs[here + 1 :]) or specs
    return replace(state, shelf=rest, active=min(here, len(rest) - 1))


def share(prior: tuple[float, ...], k: int, p: float) -> tuple[float, ...]:
    """A class prior with the k-th class at `p`; the others keep their proportions, and all sum to 1."""
    rest = sum(prior) - prior[k]
    even = 1.0 / (len(prior) - 1)
    shares = [p if i == k else (1.0 - p) * (v / rest if rest > 0 else even) for i, v in enumerate(prior)]
    return tuple(shares)


def knob(name: str, value: Any) -> str:
    """A knob's setting on screen, in two or three words."""
    if name == "alpha":
        return f"α = {value:g}"
    if name == "var_floor":
        return _("variance floor {value}").format(value=f"{value:g}")
    if isinstance(value, tuple):
        return _("prior set by hand")
    return {
        ("smoothing", "all"): _("smoothing everywhere"),
        ("smoothing", "zero-only"): _("smoothing zeros only"),
        ("smoothing", "none"): _("no smoothing"),
        ("priors", "empirical"): _("empirical prior"),
        ("priors", "laplace"): _("Laplace prior"),
        ("priors", "uniform"): _("uniform prior"),
        ("variance", "mle"): _("variance by n"),
        ("variance", "unbiased"): _("variance by n−1"),
        ("tied_variance", True): _("one variance for all classes"),
        ("tied_variance", False): _("a variance for each class"),
        ("unseen", "ignore"): _("unseen values left out"),
        ("unseen", "smooth"): _("unseen values smoothed"),
        ("unseen", "error"): _("unseen values refused"),
        ("missing", "marginalize"): _("missing cells marginalized"),
        ("missing", "category"): _("missing is a level"),
        ("missing", "error"): _("missing cells refused"),
    }[name, value]


def title(spec: Spec) -> str:
    """A model on the shelf: its preset and what differs from it."""
    differing = [knob(name, value) for name, value in spec.knobs]
    return ", ".join([words.preset(spec.preset), *differing[:2]]) + (" …" if len(differing) > 2 else "")


def summary(spec: Spec, *, discrete: bool, numeric: bool) -> str:
    """What the model does, in a line: of its knobs those that act on this table, and those that differ."""
    smooth = ["smoothing"] + (["alpha"] if setting(spec, "smoothing") != "none" else [])
    acting = [*(smooth if discrete else []), "priors", *(["variance"] if numeric else [])]
    others = [name for name, _value in spec.knobs if name not in acting]
    return " · ".join(knob(name, setting(spec, name)) for name in [*acting, *others])
