"""Maximum likelihood: the log-likelihood of a Gaussian and of a multinomial, row by row, and the climb to its top."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from bayes_engine.language import _
from bayes_engine.logspace import exp
from bayes_engine.numerals import number_of_log
from bayes_engine.workbench.derivation.demonstrations import climb, levels_drawn, multinomial, numbers_drawn
from bayes_engine.workbench.figures import laboratory as figures
from bayes_engine.workbench.laboratory.fitted_column import drawn_values
from pages.active import predicting
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.state import State, change, current, dark
from pages.runtime.widgets import choose, control, sets, within_limits
from pages.views.laboratory import fitted

LEVELS = ("a", "b", "c")


def show() -> None:
    sources = {"fitted": _("a column of the table"), "likelihood": _("a drawn sample")}
    source = current().seen_among(keys.LAB_TAB, sources, "fitted")
    st.segmented_control(
        _("Rows"),
        list(sources),
        format_func=sources.__getitem__,
        required=True,
        label_visibility="collapsed",
        **control("lab_rows_from", source, lambda state, chosen: state.showing(keys.LAB_TAB.to(chosen))),
    )
    if source == "fitted":
        fitted.show()
        return
    n, seed = current().seen(keys.LAB_ROWS), current().seen(keys.LAB_ROW_SEED)
    if not predicting.shows("laboratory/likelihood"):
        _sample(seed)
        _rows(n, seed)
        held_back()
        return
    if current().seen(keys.LAB_FAMILY) == "gaussian":
        _gaussian(n, seed)
    else:
        _multinomial(n, seed)


def _sample(seed: int) -> None:
    """Which family the rows are of, and how many there are."""
    words = {"gaussian": _("Gaussian: μ and σ"), "multinomial": _("multinomial: θ")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choose(_("Family"), keys.LAB_FAMILY, words)
        st.slider(
            _("Rows so far"),
            width=260,
            help=_("Steps through one sample: each new row adds its log-probability to the sum."),
            **within_limits(keys.LAB_ROWS),
        )
        st.button(
            _("Draw again"),
            icon=":material/casino:",
            key="lab_rows_again",
            **sets(keys.LAB_ROW_SEED.to(seed + 1)),
        )


def _rows(n: int, seed: int) -> None:
    """The rows alone, of which something is to be predicted."""
    if current().seen(keys.LAB_FAMILY) == "gaussian":
        rows = [f"{x:.2f}" for x in numbers_drawn(n, seed)]
    else:
        rows = [f"{level}: {k}" for level, k in zip(LEVELS, levels_drawn(n, seed), strict=True)]
    st.markdown(_("The rows: {rows}").format(rows=_(", ").join(rows).replace("-", "−")))


def _signed(value: float, decimals: int = 3) -> str:
    return f"{value:.{decimals}f}".replace("-", "−")


def _gaussian(n: int, seed: int) -> None:
    rows = numbers_drawn(n, seed)
    mean, sd = current().seen(keys.LAB_MEAN), current().seen(keys.LAB_SD)
    left, right = st.columns(2, gap="medium")
    one, two, three = st.columns([4, 4, 4], vertical_alignment="bottom")
    one.slider("μ", step=0.05, **within_limits(keys.LAB_MEAN))
    two.slider("σ", step=0.05, **within_limits(keys.LAB_SD))
    climbed = climb(rows, mean, sd)
    mean_hat, sd_hat = climbed.best
    with three.container(horizontal=True, gap="small"):
        _upwards((keys.LAB_MEAN, keys.LAB_SD), climbed.path[1].tolist(), climbed.best, 0.05)
    _sample(seed)
    with left:
        chart(
            figures.surface(climbed, (mean, sd), ("μ", "σ"), dark=dark()),
            key="lab_surface",
            alt=_("The log-likelihood over μ and σ, the present place and the climb to the maximum"),
        )
    with right:
        rows_of = fitted.Rows(f"drawn {n} {seed}", "x", "", 0)
        (low, high), (least, most) = keys.LAB_MEAN.limits, keys.LAB_SD.limits
        fitted.draw_gaussian(
            rows_of, drawn_values(rows), (mean, sd), moved=_moved, limits=(low, high, least, most, 0.05)
        )
        _height(climbed.value, climbed.top)
        st.markdown(
            _("Gradient here: ∂/∂μ = {mu}, ∂/∂σ = {sigma}. It points uphill and is 0 at the top.").format(
                mu=_signed(climbed.gradient[0]), sigma=_signed(climbed.gradient[1])
            )
        )
    st.markdown(
        f"$$\\hat\\mu=\\frac1n\\sum_i x_i={mean_hat:.4f}\\qquad\\hat\\sigma^2=\\frac1n\\sum_i(x_i-\\hat\\mu)^2="
        f"{sd_hat**2:.4f}\\qquad\\hat\\sigma={sd_hat:.4f}$$"
    )
    st.caption(
        _(
            "A contour joins parameters under which the rows are equally likely. With more rows the hill grows steep "
            "and narrow: the parameters are better known. ★ is the closed form, which divides by n; the sample "
            "variance of the worked examples divides by n − 1 and is {unbiased}. The rows come from μ = 5, σ = 2. "
            "(MLE: one of the lecture notes writes MLP.)"
        ).format(unbiased=f"{sd_hat**2 * n / (n - 1):.4f}")
    )


def _moved(mean: float, sd: float) -> None:
    """Both were dragged; their keys keep them within the limits of the sliders."""
    change(lambda state: state.showing(keys.LAB_MEAN.to(mean), keys.LAB_SD.to(sd)))


def _height(value: float, top: float) -> None:
    """How high the log-likelihood stands here, and how far below its top."""
    st.markdown(
        _("**log L = {value}**: L is {share} of its maximum, where log L = {top}. L itself is {product}.").format(
            value=_signed(value), share=_share(value - top), top=_signed(top), product=number_of_log(value)
        )
    )


def _share(log_ratio: float) -> str:
    """A likelihood as a share of a larger one."""
    share = float(exp(log_ratio))
    return f"{share:.1%}" if share >= 1e-3 else number_of_log(log_ratio)


def _upwards(sliders: Sequence[keys.ViewKey[float]], step: Sequence[float], top: Sequence[float], unit: float) -> None:
    """One step of the climb, and all of it, each to the nearest places of the sliders."""

    def nearest(key: keys.ViewKey[float], value: float) -> keys.Setting:
        low, high = key.limits
        return key.to(min(max(round(value / unit) * unit, low), high))

    st.button(
        _("One step up"),
        icon=":material/north_east:",
        key="lab_step",
        help=_("Half the way that the gradient, scaled by the curvature, points to."),
        **sets(*map(nearest, sliders, step)),
    )
    st.button(
        _("To the top"),
        icon=":material/landscape:",
        key="lab_top",
        help=_("The closed form, to the sliders' step."),
        **sets(*map(nearest, sliders, top)),
    )


def _multinomial(n: int, seed: int) -> None:
    counts = levels_drawn(n, seed)
    first, second = current().seen(keys.LAB_THETA_A), current().seen(keys.LAB_THETA_B)
    second = min(second, 0.98 - first)
    theta = (first, second, 1.0 - first - second)
    left, right = st.columns(2, gap="medium")
    one, two, three = st.columns([4, 4, 4], vertical_alignment="bottom")
    low, high = keys.LAB_THETA_A.limits
    one.slider("θ_a", low, high, step=0.01, **control(keys.LAB_THETA_A.widget, first, _first))
    two.slider("θ_b", low, high, step=0.01, **control(keys.LAB_THETA_B.widget, second, partial(_second, first)))
    climbed = multinomial(counts, theta)
    half = [(t + b) / 2.0 for t, b in zip(theta, climbed.best, strict=True)]
    with three.container(horizontal=True, gap="small"):
        _upwards((keys.LAB_THETA_A, keys.LAB_THETA_B), half, climbed.best, 0.01)
    _sample(seed)
    with left:
        rest = theta[1] / (theta[1] + theta[2])
        peak = counts[0] / n
        top = multinomial(counts, (peak, (1 - peak) * rest, (1 - peak) * (1 - rest))).value if 0 < peak < 1 else None
        chart(
            figures.curve_of_share(
                climbed.shares, climbed.curve, (first, climbed.value),
                (peak, float(max(climbed.curve)) if top is None else top), ("θ_a", "log L"), dark=dark(),
            ),
            key="lab_share",
            alt=_("The log-likelihood as the share of level a goes from 0 to 1"),
        )  # fmt: skip
        st.caption(
            _(
                "★ is the top along this line, where the other two keep their proportions. The rows come from "
                "θ = 0.5, 0.3, 0.2."
            )
        )
    with right:
        chart(
            figures.shares_bars(counts, theta, LEVELS, (_("θ here"), _("share of the rows")), dark=dark()),
            key="lab_theta",
            alt=_("The parameters beside the shares of the rows"),
        )
        _height(climbed.value, climbed.top)
    terms = "+".join(f"{c}\\log {t:.2f}" for c, t in zip(counts, theta, strict=True))
    best = ",\\;".join(f"\\tfrac{{{c}}}{{{n}}}" for c in counts)
    st.markdown(f"$$\\log L=\\sum_s n_s\\log\\theta_s={terms}\\qquad\\hat\\theta_s=\\frac{{n_s}}{{n}}:\\;{best}$$")
    st.caption(
        _(
            "With a Lagrange multiplier ν for Σθ = 1 the derivatives are n_s/θ_s − ν. At the maximum "
            "they are 0 wherever θ_s > 0: n_s = νθ_s, and summed over s, n = ν. Here n_s/θ_s − n is "
            "{gradient}."
        ).format(gradient=_(", ").join(_signed(g, 2) for g in climbed.gradient))
    )
    if min(counts) == 0:
        st.caption(
            _(
                "A level that was never observed gets θ = 0 at the maximum, where its derivative is −n, not 0 "
                "(Karush–Kuhn–Tucker: ≤ 0 at the boundary): every row that has it is then impossible. That is what the "
                "Laplace correction repairs."
            )
        )


def _first(state: State, value: float) -> State:
    """θ_a is set; θ_b gives way where it must."""
    second = min(state.seen(keys.LAB_THETA_B), 0.98 - value)
    return state.showing(keys.LAB_THETA_A.to(value), keys.LAB_THETA_B.to(max(second, 0.02)))


def _second(first: float, state: State, value: float) -> State:
    """θ_b is set, as far as θ_a leaves room."""
    return state.showing(keys.LAB_THETA_B.to(min(value, 0.98 - first)))
