"""Two known Gaussian classes with sliders: where Fisher's rule, LDA and Bayes's rule are one, and where they part."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from bayes_engine.decision.two_gaussians import Boundaries, ErringBoundary, TwoGaussians, boundaries, two_gaussians
from bayes_engine.language import _
from bayes_engine.workbench.figures.projection import three_boundaries
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.state import State, bound_to, change, current, dark

SCENES: Mapping[str, Mapping[str, float]] = MappingProxyType({
    "one": {},
    "prior": {"prior": 0.86},
    "stretch": {"stretch_2": 2.6, "lean_2": -0.4},
})  # fmt: skip
"""What differs from the start; "stretch" is with unequal covariances."""


def knobs() -> dict[str, float]:
    """The sliders as the state has them, within their limits."""
    return {name: current().seen(key) for name, key in keys.DEMO.items()}


def unequal() -> bool:
    """Whether the second class has a covariance of its own."""
    return current().seen(keys.DEMO_UNEQUAL)


def classes_in_use() -> TwoGaussians:
    """The two classes that the sliders describe."""
    k = knobs()
    second = ("stretch_2", "lean_2") if unequal() else ("stretch", "lean")
    return two_gaussians(k["distance"], (k["stretch"], k["lean"]), (k[second[0]], k[second[1]]), k["prior"])


def equivalence() -> None:
    """The demo: sliders, the three lines, the three error rates."""
    sliders, figure = st.columns([2, 3], gap="medium")
    with sliders:
        _scenes()
        _sliders()
        classes = classes_in_use()
        st.markdown(_sentence(classes))
        st.caption(
            _(
                "The classes are known, no rows are drawn: $w = \\Sigma_w^{-1}(\\mu_2 - \\mu_1)$ with "
                "$\\Sigma_w = \\sum_c P(c)\\,\\Sigma_c$; error rates are exact to quadrature. Fisher and LDA are one "
                "where the priors are equal, whatever the covariances; equal covariances make them optimal. Lecture "
                "notes ask for equal covariances for both."
            )
        )
    rules = boundaries(classes)
    labels = {
        "first": _("class 1"),
        "second": _("class 2"),
        "fisher": _("Fisher projection"),
        "lda": _("Gaussian LDA"),
        "bayes": _("Bayes"),
    }
    with figure:
        chart(
            three_boundaries(classes, rules, labels, dark=dark()),
            key="three_boundaries",
            alt=_("boundaries of Fisher's rule, LDA and Bayes's rule for two known Gaussian classes"),
        )
        _errors(rules)


def _scenes() -> None:
    named = {"one": _("One line"), "prior": _("Prior"), "stretch": _("Stretch")}
    with st.container(horizontal=True, gap="small"):
        for name, label in named.items():
            st.button(label, key=f"scene_{name}", on_click=change, args=(lambda s, n=name: _set(s, n),))


def _set(state: State, scene: str) -> State:
    new = (key.to(SCENES[scene].get(name, key.default)) for name, key in keys.DEMO.items())
    return state.showing(*new, keys.DEMO_UNEQUAL.to(scene == "stretch"))


def _sliders() -> None:
    def slider(name: str, label: str) -> None:
        low, high = keys.DEMO[name].limits
        st.slider(label, low, high, step=0.02 if name == "prior" else 0.1, **bound_to(keys.DEMO[name]))

    one, two = st.columns(2)
    with one:
        slider("distance", _("distance of the means"))
    with two:
        slider("prior", _("prior of class 2"))
    st.toggle(
        _("class 2 has a covariance of its own"),
        **bound_to(keys.DEMO_UNEQUAL),
    )
    one, two = st.columns(2)
    with one:
        slider("stretch", _("height of class 1") if unequal() else _("height of the classes"))
    with two:
        slider("lean", _("correlation in class 1") if unequal() else _("correlation"))
    if unequal():
        with one:
            slider("stretch_2", _("height of class 2"))
        with two:
            slider("lean_2", _("correlation in class 2"))


def _errors(rules: Boundaries) -> None:
    cells = st.columns([6, 7, 6])
    words = (_("error of Fisher's rule"), _("error of LDA"), _("Bayes risk"))
    for cell, name, rule in zip(cells, words, rules, strict=True):
        cell.metric(
            name,
            f"{rule.error:.4%}",
            _excess(rule, rules.bayes),
            delta_color="inverse",
        )


def _excess(rule: ErringBoundary, best: ErringBoundary) -> str | None:
    above = rule.error - best.error
    return f"+{above:.4%}" if above > 5e-7 else None


def _sentence(classes: TwoGaussians) -> str:
    prior = abs(classes.prior - 0.5) > 1e-9
    own = bool((classes.covariances[0] != classes.covariances[1]).any())
    if not prior and not own:
        return _("Equal priors and equal covariances: **the three rules are one line**, and it is optimal.")
    if not own:
        return _(
            "Unequal priors, equal covariances: LDA moves by log P(c₂)/P(c₁) and **stays optimal; Fisher's midpoint "
            "does not move**."
        )
    if not prior:
        return _(
            "Equal priors, unequal covariances: **Fisher and LDA are still one line**, but Bayes's boundary is a "
            "curve, and neither is optimal."
        )
    return _("Unequal priors and unequal covariances: **three boundaries**, and only Bayes's is optimal.")
