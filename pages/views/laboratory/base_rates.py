"""Bayes' theorem with a thousand people: prior, likelihood, evidence, posterior."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import certain, number
from bayes_engine.workbench.derivation.demonstrations import BaseRate, base_rate, posterior_curve
from bayes_engine.workbench.figures import laboratory as figures
from pages.active import predicting
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to, sets, within_limits

PRIORS = (0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
STORIES = {"screening": (0.01, 0.9, 0.91), "clinic": (0.3, 0.9, 0.91), "rare": (0.001, 0.99, 0.99)}


def show() -> None:
    left, right = st.columns([3, 2], gap="medium")
    rates = _choose()
    _stories()
    if not predicting.shows("laboratory/rates"):
        held_back()
        return
    with left:
        names = (_("ill, positive"), _("ill, negative"), _("well, positive"), _("well, negative"))
        chart(
            figures.people(rates, names, dark=dark()),
            key="lab_people",
            alt=_("A thousand people by illness and by test result"),
        )
    with right:
        _theorem(rates)
    _curve(rates)


def _stories() -> None:
    words = {"screening": _("Screening"), "clinic": _("The same test in a clinic"), "rare": _("A rare disease")}
    with st.container(horizontal=True, gap="small"):
        for name, (prior, sensitivity, specificity) in STORIES.items():
            st.button(
                words[name],
                key=f"lab_story_{name}",
                **sets(
                    keys.LAB_BASE.to(prior),
                    keys.LAB_SENS.to(sensitivity),
                    keys.LAB_SPEC.to(specificity),
                    keys.LAB_TIMES.to(1),
                ),
            )


def _choose() -> BaseRate:
    prior = current().seen(keys.LAB_BASE)
    one, two, three, four = st.columns([3, 3, 3, 2], vertical_alignment="bottom")
    one.select_slider(
        _("Prior: how many are ill, P(ill)"),
        sorted({*PRIORS, prior}),
        format_func=lambda p: f"{100 * p:g}%",
        **bound_to(keys.LAB_BASE),
    )
    two.slider(_("Sensitivity, P(+ | ill)"), step=0.001, format="%.3f", **within_limits(keys.LAB_SENS))
    three.slider(_("Specificity, P(− | well)"), step=0.001, format="%.3f", **within_limits(keys.LAB_SPEC))
    four.number_input(
        _("Positive tests"),
        step=1,
        help=_("Several tests, all positive, independent given the class: the naive assumption."),
        **within_limits(keys.LAB_TIMES),
    )
    return base_rate(prior, *_tests())


def _tests() -> tuple[float, float, int]:
    """Sensitivity, specificity, and how many tests are positive."""
    state = current()
    return state.seen(keys.LAB_SENS), state.seen(keys.LAB_SPEC), state.seen(keys.LAB_TIMES)


def _theorem(rates: BaseRate) -> None:
    plus = "+" * current().seen(keys.LAB_TIMES)
    st.container(key="lab_sentence").markdown(
        _("**P(ill | {plus}) = {posterior}**").format(plus=plus, posterior=certain(rates.posterior))
    )
    st.markdown(
        f"$$\\underbrace{{P(c\\mid x)}}_{{\\text{{{_('posterior')}}}}}="
        f"\\frac{{\\overbrace{{P(x\\mid c)}}^{{\\text{{{_('likelihood')}}}}}\\;"
        f"\\overbrace{{P(c)}}^{{\\text{{{_('prior')}}}}}}}{{\\underbrace{{P(x)}}_{{\\text{{{_('evidence')}}}}}}}$$\n\n"
        f"$$=\\frac{{{number(rates.likelihood)}\\times {number(rates.prior)}}}{{{number(rates.evidence)}}}"
        f"={certain(rates.posterior)}$$"
    )
    hit, _missed, alarm, _calm = rates.of_thousand
    st.markdown(
        _(
            "The evidence adds both ways to a positive result: {a} × {p} + {b} × {q} = **{e}**. Of a thousand people "
            "{positive} are positive, and **{hit}** of these are ill."
        ).format(
            a=number(rates.likelihood),
            p=number(rates.prior),
            b=number(rates.other),
            q=number(1 - rates.prior),
            e=number(rates.evidence),
            positive=hit + alarm,
            hit=hit,
        )
    )
    st.markdown(
        _(
            "In odds: {prior} × {ratio} = {posterior}. The test multiplies the odds by its likelihood ratio, whatever "
            "the prior; forgetting the prior is the base-rate fallacy."
        ).format(
            prior=number(rates.prior / (1 - rates.prior)),
            ratio=number(rates.likelihood / rates.other),
            posterior=number(rates.posterior / (1 - rates.posterior)) if rates.posterior < 1 else "∞",
        )
    )


def _curve(rates: BaseRate) -> None:
    priors, posterior = posterior_curve(*_tests())
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        chart(
            figures.posterior_by_prior(
                priors, posterior, (rates.prior, rates.posterior), (_("prior P(ill)"), _("posterior P(ill | +)")),
                dark=dark(),
            ),
            key="lab_by_prior",
            alt=_("The posterior as the prior goes from 0 to 1"),
        )  # fmt: skip
    right.caption(
        _(
            "The same test, every prior. What a positive result is worth is read off at the prior of the people "
            "tested, not at the prior of those the test was tried on: that is why the pages of this app keep a prior "
            "of use beside the losses."
        )
    )
