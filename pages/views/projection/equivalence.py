"""Two known Gaussian classes with sliders: where Fisher's rule, LDA and Bayes's rule are one, and where they part."""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from types import MappingProxyType

import streamlit as st

from bayes_engine.decision.two_gaussians import Boundaries, TwoGaussians, boundaries
from bayes_engine.language import _
from bayes_engine.workbench.figures.projection import three_boundaries
from pages.active import predicting
from pages.active.projected import classes_in_use, unequal
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.state import dark
from pages.runtime.widgets import bound_to, sets, within_limits

SCENES: Mapping[str, Mapping[str, float]] = MappingProxyType({
    "one": {},
    "prior": {"prior": 0.86},
    "stretch": {"stretch_2": 2.6, "lean_2": -0.4},
})  # fmt: skip
"""What differs from the start; "stretch" is with unequal covariances."""


def equivalence() -> None:
    """The demo: sliders, the three lines, the three error rates."""
    if not predicting.shows("projection/sections"):
        held_back()
        return
    sliders, figure = st.columns([2, 3], gap="medium")
    with sliders:
        _scenes()
        _sliders()
        classes = classes_in_use()
        rules = boundaries(classes)
        with st.container(key="demo_sentence"):
            st.markdown(_sentence(classes, rules))
        st.caption(
            _(
                "The classes are known, no rows are drawn: $w = \\Sigma_w^{-1}(\\mu_2 - \\mu_1)$ with "
                "$\\Sigma_w = \\sum_c P(c)\\,\\Sigma_c$; error rates are exact to quadrature. Fisher and LDA are one "
                "where the priors are equal, whatever the covariances; equal covariances make them optimal. Lecture "
                "notes ask for equal covariances for both."
            )
        )
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
            numbers = (key.to(SCENES[name].get(setting, key.default)) for setting, key in keys.DEMO.items())
            st.button(label, key=f"scene_{name}", **sets(*numbers, keys.DEMO_UNEQUAL.to(name == "stretch")))


def _sliders() -> None:
    one, two = st.columns(2)
    one.slider(_("distance of the means"), step=0.1, **within_limits(keys.DEMO["distance"]))
    two.slider(_("prior of class 2"), step=0.02, **within_limits(keys.DEMO["prior"]))
    st.toggle(_("class 2 has a covariance of its own"), **bound_to(keys.DEMO_UNEQUAL))
    words = {"": (_("height of the classes"), _("correlation"))}
    if unequal():
        words = {
            "": (_("height of class 1"), _("correlation in class 1")),
            "_2": (_("height of class 2"), _("correlation in class 2")),
        }
    one, two = st.columns(2)
    for of, (height, correlation) in words.items():
        one.slider(height, step=0.1, **within_limits(keys.DEMO[f"stretch{of}"]))
        two.slider(correlation, step=0.1, **within_limits(keys.DEMO[f"lean{of}"]))


def _errors(rules: Boundaries) -> None:
    cells = st.columns([6, 7, 6])
    words = (_("error of Fisher's rule"), _("error of LDA"), _("Bayes risk"))
    for cell, name, rule in zip(cells, words, rules, strict=True):
        above = rule.error - rules.bayes.error
        cell.metric(name, f"{rule.error:.4%}", f"+{above:.4%}" if above > 5e-7 else None, delta_color="inverse")


def _sentence(classes: TwoGaussians, rules: Boundaries) -> str:
    prior = abs(classes.prior - 0.5) > 1e-9
    own = bool((classes.covariances[0] != classes.covariances[1]).any())
    if not prior and not own:
        return _("Equal priors and equal covariances: **the three rules are one line**, and it is optimal.")
    if not own:
        fisher, lda = rules.fisher.quadric, rules.lda.quadric
        return _(
            "Unequal priors, equal covariances: LDA's intercept changes by ln P(c₂)/P(c₁), so its line moves by "
            "|ln P(c₂)/P(c₁)|/‖w‖ = {distance} towards the rarer class and **stays optimal; Fisher's midpoint does "
            "not move**."
        ).format(distance=f"{abs(lda.c - fisher.c) / hypot(*lda.b):.3f}")
    if not prior:
        return _(
            "Equal priors, unequal covariances: **Fisher and LDA are still one line**, but Bayes's boundary is a "
            "curve, and neither is optimal."
        )
    return _("Unequal priors and unequal covariances: **three boundaries**, and only Bayes's is optimal.")
