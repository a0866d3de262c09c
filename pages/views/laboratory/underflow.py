"""Why logarithms are added: a product of many probabilities is 0 in floating point long before it is 0."""

from __future__ import annotations

import math

import streamlit as st

from bayes_engine.language import _
from bayes_engine.logspace import exp
from bayes_engine.numerals import number_of_log
from bayes_engine.workbench.derivation.demonstrations import Underflow, log_sum_steps, underflow
from bayes_engine.workbench.figures import laboratory as figures
from bayes_engine.workbench.figures.contributions import BIT
from pages.active import predicting
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to, within_limits


def show() -> None:
    if not predicting.shows("laboratory/underflow"):
        held_back()
        return
    d, typical, lean = current().seen(keys.LAB_D), current().seen(keys.LAB_P), current().seen(keys.LAB_LEAN)
    product = underflow(d, typical, lean)
    left, right = st.columns([3, 2], gap="medium")
    one, two, three = st.columns(3)
    one.select_slider(_("Columns, d"), keys.LAB_D.options, **bound_to(keys.LAB_D))
    two.slider(_("Typical P(xⱼ | c)"), step=0.01, **within_limits(keys.LAB_P))
    three.slider(
        _("Each column favours A by, nats"),
        step=0.0005,
        format="%.4f",
        help=_("{bits} bits: with each column the odds of A are {factor} times as high.").format(
            bits=f"{lean / BIT:.4f}", factor=f"{exp(lean):.4f}"
        ),
        **within_limits(keys.LAB_LEAN),
    )
    with left:
        names = (_("sum of logs"), _("product in float64"), _("product in float32"))
        chart(
            figures.underflow_lines(product, names, dark=dark()),
            key="lab_underflow",
            alt=_("The size of the product over the number of columns, and where floating point underflows"),
        )
    a, b = product.logs
    with right:
        st.markdown(
            f"**{_dies(product, d)}** " + _("The sum of logs is not affected: it is a number of ordinary size.")
        )
        if max(product.products) == 0.0:
            st.markdown(_("By products: P(A | x) = 0 / (0 + 0), **no answer**."))
        else:
            share = product.products[0] / sum(product.products)
            wrong = abs(share - product.posterior) > 1e-6
            words = (
                _("By products: P(A | x) = {p}, **which is wrong**.") if wrong else _("By products: P(A | x) = {p}.")
            )
            st.markdown(words.format(p=f"{share:.6f}"))
        st.container(key="lab_sentence").markdown(
            _("By logs: **P(A | x) = {p}**.").format(p=f"{product.posterior:.6f}")
        )
        st.caption(
            _(
                "A float64 has no positive number below 4.9 × 10⁻³²⁴, a float32 none below 1.4 × 10⁻⁴⁵. Ten thousand "
                "columns are no trouble in logs."
            )
        )
    st.dataframe(
        {
            _("class"): ["A", "B"],
            "log P(c) + Σ log P(xⱼ | c)": [_plain(a), _plain(b)],
            _("true product"): [number_of_log(a), number_of_log(b)],
            _("product in float64"): [f"{p:.4g}" for p in product.products],
        },
        hide_index=True,
    )
    steps = log_sum_steps(a, b)
    st.markdown(
        "$$\\log(e^a+e^b)=m+\\log(e^{a-m}+e^{b-m}),\\quad m=\\max(a,b)="
        f"{steps['m']:.4f}$$\n\n$$e^{{a-m}}={steps['first']:.6g}\\qquad e^{{b-m}}={steps['second']:.6g}$$\n\n"
        f"$$\\log P(x)={steps['sum']:.6f}\\qquad P(A\\mid x)=e^{{a-\\log P(x)}}={steps['posterior']:.6f}$$"
    )
    st.caption(
        _(
            "log-sum-exp: with the larger exponent taken out, one term is e⁰ = 1, so the sum can neither overflow "
            "nor vanish. Plainly computed, log(eᵃ + eᵇ) gives {plain} here."
        ).format(plain=_plain(steps["plain"]))
    )


def _dies(product: Underflow, d: int) -> str:
    """From which column on a product is 0, or falls no more."""
    if product.stuck and product.double_dies:
        return _(
            "From d = {single} float32 falls no more, from d = {double} float64: each product is rounded up again to "
            "the smallest number there is."
        ).format(single=product.single_dies, double=product.double_dies)
    if product.stuck:
        return _("From d = {single} float32 falls no more; float64 still holds the product of {d}.").format(
            single=product.single_dies, d=d
        )
    if product.double_dies:
        return _("float32 holds 0 from d = {single}, float64 from d = {double}.").format(
            single=product.single_dies, double=product.double_dies
        )
    if product.single_dies:
        return _("float32 holds 0 from d = {single}; float64 still holds the product of {d}.").format(
            single=product.single_dies, d=d
        )
    return _("With {d} columns both still hold the product.").format(d=d)


def _plain(value: float) -> str:
    return "−∞" if value == -math.inf else f"{value:.4f}".replace("-", "−")
