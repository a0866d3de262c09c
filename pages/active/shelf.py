"""The shelf of models: up to six, each a preset and the parameters that differ from it: its edits and its widget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, count
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.naive_bayes import PRESETS
from pages import active
from pages.active import prior_choice, words
from pages.active.model_settings import FAMILIES
from pages.runtime.escape import clean, md
from pages.runtime.state import NAMED, Spec, State, current, on_click
from pages.runtime.widgets import control

MOST = 6
"""How many models the shelf holds."""
OF_COLUMNS = ("likelihoods", "terms", "counting")
"""The parameters that say what a column's likelihood is: no matter of estimation, so a preset leaves them."""


def with_parameter(spec: Spec, parameter: str, value: Any) -> Spec:
    """The model with one parameter set; one that stands where the preset has it is not kept."""
    kept = {**dict(spec.parameters), parameter: value}
    if value == active.setting(Spec(spec.preset, (), spec.family), parameter):
        del kept[parameter]
    return replace(spec, parameters=tuple(sorted(kept.items(), key=lambda item: item[0])))


def with_likelihood(table: active.FittableTable, spec: Spec, position: int, name: str) -> Spec:
    """The model with this likelihood of the feature at this place; the one it has anyhow is not kept."""
    own = {place: chosen for place, chosen in active.setting(spec, "likelihoods") if place != position}
    if name != active.likelihood_of(table, spec, position, own=False):
        own[position] = name
    return with_parameter(spec, "likelihoods", tuple(sorted(own.items())))


def with_preset(spec: Spec, preset: str) -> Spec:
    """The model estimated by another preset: what it is stays, each parameter of estimation goes."""
    stays = (*OF_COLUMNS, *active.NAIVE.get(spec.family, ()))
    return replace(
        spec, preset=preset, parameters=tuple(parameter for parameter in spec.parameters if parameter[0] in stays)
    )


def with_prior(spec: Spec, kind: str) -> Spec:
    """The model with a kind of Dirichlet prior; «zeros only» keeps its α."""
    if "smoothing" in active.settings(spec) and spec.family != "aode":
        rule = kind if kind in ("none", "zero-only") else "all"
        spec = with_parameter(spec, "smoothing", rule)
        if rule == "zero-only" and not isinstance(active.setting(spec, "alpha"), tuple):
            return spec
        if rule != "all":
            return with_parameter(spec, "alpha", 1.0)
    value = prior_choice.default_of(kind)
    if kind == "m-estimate" and spec.family == "aode":
        value = (*value[:2], "uniform")
    return with_parameter(spec, "alpha", value)


def with_prior_strength(spec: Spec, value: Any) -> Spec:
    """The model with this pseudo-count; where there was none, there are some now."""
    if active.settings(spec).get("smoothing") == "none" and value != 0:
        spec = with_parameter(spec, "smoothing", "all")
    return with_parameter(spec, "alpha", value)


def prior_kind(spec: Spec) -> str:
    rule = active.settings(spec).get("smoothing")
    return str(rule) if rule in ("none", "zero-only") else prior_choice.kind_of(active.setting(spec, "alpha"))


def pseudo_count(spec: Spec) -> Any:
    """The prior of all columns that have none of their own, as the parameter has it."""
    return 0.0 if active.settings(spec).get("smoothing") == "none" else active.setting(spec, "alpha")


def of_family(spec: Spec, family: str) -> Spec:
    """The model as one of another family: with the parameters that this one has too."""
    moved = replace(spec, parameters=(), family=family)
    for name, value in spec.parameters:
        alike = name != "smoothing" or "aode" not in (family, spec.family)  # one word for two things
        alike &= name != "criterion"
        if name in active.settings(moved) and alike:
            moved = with_parameter(moved, name, value)
    return moved


def unavailable_families(table: active.FittableTable) -> dict[str, str]:
    """The families that cannot take the table, and why."""
    texts = [v.name for v in table.features if v.textual]
    terms = _why_no_complement(table)
    if texts:
        closed = [name for name in FAMILIES if name not in active.NAIVE and name != "complement"]
        reason = _("Only models on naive Bayes take texts; {column} is one.")
        return dict.fromkeys(closed, reason.format(column=md(table.column(texts[0]), 30))) | terms
    discrete = [v.name for v in table.features if v.discrete]
    gaps = [] if discrete else [v.name for v in table.features if table.parts.X[v.name].isna().any()]
    if not discrete and not gaps:
        return terms
    named = md(table.column((discrete or gaps)[0]), 30)
    reason = (
        _("LDA and QDA take numbers only; {column} is none.")
        if discrete
        else _("LDA and QDA are not fitted to missing cells; {column} has some.")
    )
    return dict.fromkeys(("lda", "qda"), reason.format(column=named)) | terms


def _why_no_complement(table: active.FittableTable) -> dict[str, str]:
    """Why the table cannot be complement naive Bayes's, by the family's name; nothing where it can."""
    others = [v.name for v in table.features if not v.textual and not (v.kind == "count" and v.numeric)]
    counts = [v.name for v in table.features if v.kind == "count" and v.numeric]
    gaps = [name for name in counts if table.parts.X[name].isna().any()]
    if others:
        reason = _("Complement naive Bayes takes texts and counts only; {column} is neither.")
    elif len(counts) == 1 and len(table.features) == 1:
        reason = _("Complement naive Bayes needs two columns of counts; {column} is the only one.")
    elif gaps:
        reason = _("Complement naive Bayes is not fitted to missing counts; {column} has some.")
    else:
        return {}
    return {"complement": reason.format(column=md(table.column([*others, *gaps, *counts][0]), 30))}


def active_place(table: active.FittableTable) -> int:
    return min(current().active, len(active.shelf_of(table)) - 1)


def edit_active_model(table: active.FittableTable, edit: Callable[[Spec], Spec]) -> Callable[[State], State]:

    def edited(state: State) -> State:
        specs, here = active.shelf_of(table), active_place(table)
        return replace(state, shelf=(*specs[:here], edit(specs[here]), *specs[here + 1 :]), active=here)

    return edited


def add_model(table: active.FittableTable, state: State) -> State:
    """One more model, a copy of the active one, which becomes active."""
    specs = active.shelf_of(table)
    copy = replace(specs[active_place(table)], name="")
    return replace(state, shelf=(*specs, copy), active=len(specs)) if len(specs) < MOST else state


def remove_model(table: active.FittableTable, state: State) -> State:
    """The active model is taken off the shelf; the last one stays."""
    specs, here = active.shelf_of(table), active_place(table)
    rest = (*specs[:here], *specs[here + 1 :]) or specs
    return replace(state, shelf=rest, active=min(here, len(rest) - 1))


def shelve_button(table: active.FittableTable, spec: Spec, label: str, *, key: str, about: str | None = None) -> None:
    """A button that puts a model on the shelf, active; one that is there is made active."""
    there = active.shelf_of(table)
    full = len(there) >= MOST and spec not in there
    specs = there if spec in there else (*there, spec)
    st.button(
        label,
        icon=":material/check:" if spec in there else ":material/add:",
        key=key,
        disabled=full,
        help=_("No further candidate model fits.") if full else about,
        **on_click(lambda s: replace(s, shelf=specs, active=specs.index(spec))),
    )


def title(spec: Spec, table: active.FittableTable | None = None) -> str:
    """A model on the shelf: its family, of naive Bayes the preset, and what differs from it."""
    differing = [words.setting(name, value, table) for name, value in spec.parameters]
    return " · ".join([words.spec(replace(spec, parameters=())), *differing[:1]]) + (" …" if len(differing) > 1 else "")


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names of the models on the shelf, no two alike.

    >>> distinct_names(["TAN", "TAN", "mine", "TAN"])
    ['TAN', 'TAN (2)', 'mine', 'TAN (3)']
    """
    apart: list[str] = []
    for name in names:
        apart.append(next(n for n in chain([name], (f"{name} ({k})" for k in count(2))) if n not in apart))
    return apart


def names(table: active.FittableTable) -> list[str]:
    """What the models on the shelf are called: as a person says, or by what they are."""
    return distinct_names(spec.name or title(spec, table) for spec in active.shelf_of(table))


def named(table: active.FittableTable, state: State, name: str) -> State:
    """The state with the active model called so; "" is its own title again. What another is called gets a number."""
    wanted, here = clean(name, NAMED - 4).strip(), active_place(table)
    others = [other for place, other in enumerate(names(table)) if place != here]
    free = distinct_names([*others, wanted])[-1] if wanted else ""
    return edit_active_model(table, lambda spec: replace(spec, name=free))(state)


def choose_model(table: active.FittableTable) -> Spec:
    """The models of the shelf, of which one is active: that one."""
    specs, here, called = active.shelf_of(table), active_place(table), names(table)
    st.segmented_control(
        _("Candidate models"),
        range(len(specs)),
        required=True,
        wrap=True,
        format_func=lambda i: f"{i + 1} · {md(called[i])}",
        label_visibility="collapsed",
        **control("shelf", here, lambda s, i: replace(s, active=i)),
    )
    return specs[here]


def edit_shelf(table: active.FittableTable) -> None:
    """Add a model, remove or rename the active one; then its family and its preset."""
    specs, here, called = active.shelf_of(table), active_place(table), names(table)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            _("Add a copy"),
            icon=":material/add:",
            key="shelf_add",
            disabled=len(specs) >= MOST,
            help=_("A copy of the active model, to change and to compare; up to six."),
            **on_click(lambda s: add_model(table, s)),
        )
        st.button(
            _("Remove"),
            icon=":material/close:",
            key="shelf_remove",
            disabled=len(specs) == 1,
            **on_click(lambda s: remove_model(table, s)),
        )
        renaming = st.popover(_("Rename"), icon=":material/edit:", key="shelf_rename", on_change="rerun")
    if renaming.open:  # else a first visit would load a field for text too
        renaming.text_input(
            _("Name"),
            max_chars=NAMED - 4,
            placeholder=called[here],
            help=_("What the active model is called here, in comparisons and as a file; empty: by what it is."),
            **control("shelf_name", specs[here].name, lambda s, name: named(table, s, name)),
        )
    spec = specs[here]
    closed = unavailable_families(table)
    naive = spec.family in active.NAIVE
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control(
            _("Family"),
            [name for name in FAMILIES if name not in closed or name == spec.family],
            format_func=words.family,
            required=True,
            **control(
                "family", spec.family, lambda s, name: edit_active_model(table, lambda old: of_family(old, name))(s)
            ),
        )
        if naive:
            st.segmented_control(
                _("Estimation"),
                list(PRESETS),
                format_func=words.preset,
                required=True,
                **control(
                    "preset", spec.preset, lambda s, p: edit_active_model(table, lambda old: with_preset(old, p))(s)
                ),
            )
    about = [
        words.family_help(spec.family),
        *([words.preset_help(spec.preset)] if naive else []),
        *set(closed.values()),
    ]
    st.caption(" ".join(about))
