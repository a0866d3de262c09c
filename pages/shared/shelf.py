"""The shelf of models: up to six, each a preset and the knobs that differ from it; edits of the state, and widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.naive_bayes import CHOICES, PRESETS
from bayes_engine.priors import PRIORS, with_share
from pages.shared import data, words
from pages.shared.escape import md
from pages.shared.state import Spec, State, bound, change, current

MOST = 6
"""How many models the shelf holds."""


def with_knob(spec: Spec, knob: str, value: Any) -> Spec:
    """The model with one knob set; one that stands where the preset has it is not kept."""
    kept = {**dict(spec.knobs), knob: value}
    if value == data.setting(Spec(spec.preset, (), spec.family), knob):
        del kept[knob]
    return replace(spec, knobs=tuple(sorted(kept.items(), key=lambda item: item[0])))


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


def knob_name(name: str) -> str:
    """What a knob is called on screen."""
    return {
        "smoothing": _("Smoothing"),
        "alpha": "α",
        "priors": _("Class prior"),
        "variance": _("Variance"),
        "tied_variance": _("Classes' variances"),
        "var_floor": _("Variance floor"),
        "missing": _("Missing cells"),
        "unseen": _("Unseen values"),
    }[name]


def option(name: str, value: Any) -> str:
    """A setting of a knob on screen."""
    if isinstance(value, tuple):
        return _("set by hand")
    if isinstance(value, float):
        return f"{value:g}"
    return {
        ("smoothing", "all"): _("everywhere"),
        ("smoothing", "zero-only"): _("zeros only"),
        ("smoothing", "none"): _("none"),
        ("priors", "empirical"): _("empirical"),
        ("priors", "laplace"): "Laplace",
        ("priors", "uniform"): _("uniform"),
        ("priors", "by hand"): _("set by hand"),
        ("variance", "mle"): "n",
        ("variance", "unbiased"): "n−1",
        ("tied_variance", True): _("one for all"),
        ("tied_variance", False): _("one each"),
        ("unseen", "ignore"): _("leave out"),
        ("unseen", "smooth"): _("smooth"),
        ("unseen", "error"): _("refuse"),
        ("missing", "marginalize"): _("marginalize"),
        ("missing", "category"): _("a level of its own"),
        ("missing", "error"): _("refuse"),
    }[name, value]


def title(spec: Spec) -> str:
    """A model on the shelf: its preset and what differs from it."""
    differing = [_knob(name, value) for name, value in spec.knobs]
    return " · ".join([words.preset(spec.preset), *differing[:1]]) + (" …" if len(differing) > 1 else "")


def summary(spec: Spec, *, discrete: bool, numeric: bool) -> str:
    """What the model does, in a line: of its knobs those that act on this table, and those that differ."""
    smooth = ["smoothing"] + (["alpha"] if data.setting(spec, "smoothing") != "none" else [])
    acting = [*(smooth if discrete else []), "priors", *(["variance"] if numeric else [])]
    others = [name for name, _value in spec.knobs if name not in acting]
    return " · ".join(_knob(name, data.setting(spec, name)) for name in [*acting, *others])


def _knob(name: str, value: Any) -> str:
    return f"{knob_name(name)} {'= ' if name == 'alpha' else ''}{option(name, value)}"


# widgets --------------------------------------------------------------------------------------------------------


def choose_model(table: data.InUse) -> Spec:
    """The shelf: choose, add, remove a model; then its preset. Returns the active model."""
    specs, here = data.shelf(table), active(table)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.segmented_control(
            _("Models on the shelf"),
            range(len(specs)),
            required=True,
            wrap=True,
            format_func=lambda i: f"{i + 1} · {md(title(specs[i]))}",
            **bound("shelf", here, lambda s, i: replace(s, active=i)),
        )
        st.button(
            _("Add a copy"),
            icon=":material/add:",
            key="shelf_add",
            disabled=len(specs) >= MOST,
            help=_("A copy of the active model, to change and to compare; up to six."),
            on_click=change,
            args=(lambda s: add(table, s),),
        )
        st.button(
            _("Remove"),
            icon=":material/close:",
            key="shelf_remove",
            disabled=len(specs) == 1,
            on_click=change,
            args=(lambda s: remove(table, s),),
        )
    spec = specs[here]
    st.segmented_control(
        f"{_('Estimation')} · {words.preset_help(spec.preset)}",
        list(PRESETS),
        format_func=words.preset,
        required=True,
        **bound("preset", spec.preset, lambda s, preset: on_active(table, lambda _old: Spec(preset))(s)),
    )
    return spec


def knobs(table: data.InUse, spec: Spec, prior: tuple[float, ...]) -> None:
    """All of estimation that can be turned, over the preset. `prior` is what setting it by hand starts from."""
    discrete, numeric = any(v.discrete for v in table.features), any(v.numeric for v in table.features)
    st.caption(summary(spec, discrete=discrete, numeric=numeric))
    opened = bound("knobs_open", current().seen("knobs", False), lambda s, on: s.showing(knobs=bool(on)))
    with st.expander(_("Knobs"), icon=":material/tune:", **opened):
        first, second, third, fourth = st.columns(4, gap="medium")
        with first:
            _choice(
                table,
                spec,
                "smoothing",
                off=not discrete,
                about=_(
                    "Zeros only: the whole attribute–class pair that has a zero, nothing else; the prior is left alone."
                ),
            )
        _alpha(table, spec, second, third, off=not discrete or data.setting(spec, "smoothing") == "none")
        with fourth:
            _prior_rule(table, spec, prior)
        first, second, third, fourth = st.columns(4, gap="medium")
        with first:
            _choice(
                table,
                spec,
                "variance",
                off=not numeric,
                about=_("n−1 is the sample variance of the worked examples; n is maximum likelihood."),
            )
            st.toggle(
                _("shared"),
                disabled=not numeric,
                help=_(
                    "One variance for all classes: Gaussian discriminant analysis with a diagonal Σ; the classes "
                    "differ in their means only."
                ),
                **_turned(table, "tied_variance", bool(data.setting(spec, "tied_variance"))),
            )
        with second:
            floor = float(data.setting(spec, "var_floor"))
            st.number_input(
                _("Variance floor, 10^"),
                -300,
                -1,
                step=1,
                disabled=not numeric,
                help=_("No variance falls below this share of the column's own."),
                **_turned(table, "var_floor", int(f"{floor:e}".split("e")[1]), lambda v: float(f"1e{v or -9}")),
            )
        with third:
            _choice(
                table,
                spec,
                "missing",
                about=_(
                    "Marginalize: a missing cell has no factor, and the row's other cells count. A level of its own is "
                    "for discrete columns."
                ),
            )
        with fourth:
            _choice(
                table,
                spec,
                "unseen",
                off=not discrete,
                about=_("What a value does at prediction that no row of the table had."),
            )
        by_hand = data.setting(spec, "priors")
        if isinstance(by_hand, tuple):
            _prior_by_hand(table, by_hand)


def _turned(table: data.InUse, name: str, value: Any, read: Callable[[Any], Any] = lambda v: v) -> dict[str, Any]:
    """Keyword arguments that make a widget a view of one knob of the active model."""

    def turn(state: State, entered: Any) -> State:
        return on_active(table, lambda old: with_knob(old, name, read(entered)))(state)

    return bound(f"knob_{name}", value, turn)


def _choice(table: data.InUse, spec: Spec, name: str, *, about: str, off: bool = False) -> None:
    st.selectbox(
        knob_name(name),
        CHOICES[name],
        format_func=lambda o: option(name, o),
        help=about,
        disabled=off,
        **_turned(table, name, data.setting(spec, name)),
    )


def _alpha(table: data.InUse, spec: Spec, slider: Any, exact: Any, *, off: bool) -> None:
    """α as a slider and, beside it, to the digit."""
    assert table.parts is not None
    alpha = float(data.setting(spec, "alpha"))

    def slide(state: State, value: float) -> State:
        return on_active(table, lambda old: with_knob(old, "alpha", round(value, 6)))(state)

    slider.slider(
        "α",
        0.0,
        max(10.0, alpha),
        step=0.1,
        disabled=off,
        help=_("Rows imagined for each level of a column, in every class."),
        **bound("knob_alpha_slider", alpha, slide),
    )
    exact.number_input(
        _("α, exactly"),
        0.0,
        1e6 * len(table.parts.X),
        step=0.1,
        format="%g",
        disabled=off,
        **_turned(table, "alpha", alpha, lambda v: float(v or 0.0)),
    )


def _prior_rule(table: data.InUse, spec: Spec, own: tuple[float, ...]) -> None:
    """The class prior by rule, or by hand, which starts from `own`."""
    stands = data.setting(spec, "priors")

    def choose(state: State, rule: str) -> State:
        return on_active(table, lambda old: with_knob(old, "priors", own if rule == "by hand" else rule))(state)

    st.selectbox(
        knob_name("priors"),
        [*PRIORS, "by hand"],
        format_func=lambda rule: option("priors", rule),
        help=_("What the model is built with. Where you will use it other frequencies may hold: see Losses."),
        **bound("knob_priors", "by hand" if isinstance(stands, tuple) else stands, choose),
    )


def _prior_by_hand(table: data.InUse, stands: tuple[float, ...]) -> None:
    """P(class) for each class by its label; the others keep their proportions."""
    for start in range(0, len(table.classes), 4):
        for k, cell in zip(range(start, len(table.classes)), st.columns(4, gap="medium"), strict=False):

            def put(state: State, p: float | None, k: int = k) -> State:
                moved = with_share(stands, k, min(max(float(p or 0.0), 0.0), 1.0))
                return on_active(table, lambda old: with_knob(old, "priors", moved))(state)

            name = f"P({md(table.class_(table.classes[k]), 24)})"
            shown = round(stands[k], 6)
            cell.number_input(name, 0.0, 1.0, step=0.01, format="%.4f", **bound(f"knob_prior_{k}", shown, put))
