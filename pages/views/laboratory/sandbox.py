"""Known densities: move them, and see the best possible boundary beside what classifiers learn from n rows."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import number, signed
from bayes_engine.workbench.figures import laboratory as figures
from bayes_engine.workbench.laboratory.excess_risk import LearningCurve
from bayes_engine.workbench.laboratory.truth import TableTruth, best_in_cells
from pages.active import predicting
from pages.active import sandbox as known
from pages.active.sandbox import Setup
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, dark
from pages.runtime.widgets import bound_to, choose, control, sets, within_limits
from pages.views.laboratory import setup as lab
from pages.views.laboratory import study
from pages.views.laboratory.canvas import draw, pen
from pages.views.laboratory.study import Sample, model_name


def show() -> None:
    setup = known.in_use()
    left, right = st.columns([3, 2], gap="medium")
    lab.choose(setup)
    sample, shown = study.sample_of(setup), predicting.shows("laboratory/risks")
    with left:
        if setup.kind == "table" and shown:
            _cells(setup, sample)
        elif setup.kind != "table":
            if setup.kind == "drawn":
                _pen(setup)
            models = [name for name in study.models_of(setup) if name in current().seen(keys.LAB_MODELS)]
            draw(setup, sample, models, with_risk=shown)
            if setup.kind == "gauss":
                st.caption(
                    _("Drag a letter to move its class, a ring to stretch and turn it; the arrow keys do so too.")
                )
            st.pills(
                _("Boundaries drawn"),
                list(study.models_of(setup)),
                selection_mode="multi",
                format_func=model_name,
                **bound_to(keys.LAB_MODELS, tuple(models)),
            )
    if not shown:
        with right:
            held_back()
        return
    with right:
        _floor(setup, sample)
        curve = study.excess_of(setup)
        _excess(setup, sample, curve)
    st.markdown(lab.scene_lesson(setup.scene))
    _beneath(setup, sample, curve)


def _floor(setup: Setup, sample: Sample) -> None:
    """R*, how it was found, and what it bounds."""
    risk = sample.bayes
    how = {
        "closed form": _("in closed form"),
        "exact sum": _("summed exactly over the cells"),
        "quadrature": _("by quadrature, error below {error}").format(error=f"{max(risk.error, 1e-7):.0e}"),
    }[risk.how]
    st.container(key="lab_sentence").markdown(
        _("**Bayes risk R\\* = {risk}**").format(risk=number(risk.value)) + f" · {how} · {_('the least overall risk')}",
        help=_(
            "The overall risk $R(h)=E_x[R(h(x)\\mid x)]$ of the Bayes optimal classifier, the decision rule $h^*$ that "
            "takes at each $x$ the decision of least conditional risk, or expected loss."
        ),
    )
    st.caption(
        _("No classifier is right more often than 1 − R\\* = {share}.").format(share=f"{1 - risk.value:.2%}")
        if setup.zero_one
        else _(
            "Under these losses R\\* is a mean cost, and 1 − R\\* is no accuracy: that bound holds for 0-1 loss only."
        )
    )


def _excess(setup: Setup, sample: Sample, curve: LearningCurve) -> None:
    names = [model_name(name) for name in curve.names]
    words = (_("model misfit, n → ∞"), _("finite sample"), _("the sample shown"))
    shown = [sample.risks[name] - sample.bayes.value for name in curve.names]
    st.markdown(_("**Excess risk over R\\*** with n = {n} rows").format(n=setup.n))
    chart(
        figures.excess_bars(curve, names, words, shown, dark=dark()),
        key="lab_excess",
        alt=_("Excess risk of each classifier: model misfit and finite sample"),
    )
    st.caption(
        _(
            "Solid: misfit, what stays when n → ∞. Pale: what {n} rows cost on top, the mean of {r} samples ± its "
            "standard error. ◇: the sample shown."
        ).format(n=setup.n, r=study.REPLICATES)
    )
    failed = {name: int(f) for name, f in zip(curve.names, curve.failed[:, 0].tolist(), strict=True) if f}
    if failed:
        failing = _(", ").join(f"{model_name(name)} {n}" for name, n in failed.items())
        st.caption(
            _("Samples too small to fit, left out of the mean: {told} of {r}.").format(told=failing, r=study.REPLICATES)
        )
    if (curve.finite[:, 0] < -2 * curve.error[:, 0]).any():
        st.caption(
            _(
                "A negative finite-sample part: in the limit this model is so misspecified that with few rows it does "
                "better, by chance, than with infinitely many."
            )
        )


# other truths ---------------------------------------------------------------------------------------------------------


def _pen(setup: Setup) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            _("Next point belongs to"),
            range(len(setup.priors)),
            format_func=lambda k: setup.classes[k],
            required=True,
            width="content",
            **bound_to(keys.LAB_PEN, pen(setup)),
        )
        st.slider(_("Kernel width"), step=0.05, width=150, **within_limits(keys.LAB_WIDTH))
        fewer = setup.points[:-1]
        st.button(
            _("Undo"),
            icon=":material/undo:",
            key="lab_undo",
            disabled=known.read_points(fewer, len(setup.priors)) is None,
            **sets(keys.LAB_POINTS.to(fewer)),
        )
        least = tuple(next(p for p in setup.points if p[0] == k) for k in range(len(setup.priors)))
        st.button(_("Clear"), key="lab_clear", **sets(keys.LAB_POINTS.to(least)))


def _cells(setup: Setup, sample: Sample) -> None:
    truth = setup.truth()
    assert isinstance(truth, TableTruth)
    actions = [*setup.classes, _("refuse")]
    decided = [(_("best possible"), best_in_cells(truth, setup.loss))]
    decided += [(model_name(name), chosen) for name, chosen in sample.decisions.items()]
    chart(
        figures.cells(truth, decided, actions, dark=dark()),
        key="lab_cells_figure",
        alt=_("P(c)P(x|c) of each cell, and what each classifier decides there"),
    )
    with st.expander(_("Edit the tables"), icon=":material/edit:"):
        st.caption(_("A weight for each cell; each class's are divided by their sum, which gives P(x|c)."))
        names = ["".join(row) for row in truth.cells.astype(str).itertuples(index=False)]
        for k, label in enumerate(setup.classes):
            for cell, column in enumerate(st.columns(known.CELLS)):
                column.number_input(
                    f"{label} · {names[cell]}",
                    0.0,
                    1e6,
                    step=1.0,
                    format="%g",
                    **_bound_to_cell(setup, k * known.CELLS + cell, f"lab_cell_{k}_{cell}"),
                )


def _bound_to_cell(setup: Setup, cell: int, key: str) -> dict[str, Any]:
    def edit(state: State, value: float | None) -> State:
        weights = (*setup.cells[:cell], float(value or 0.0), *setup.cells[cell + 1 :])
        return state.showing(keys.LAB_CELLS.to(weights))

    return control(key, float(setup.cells[cell]), edit)


# beneath --------------------------------------------------------------------------------------------------------------


def _beneath(setup: Setup, sample: Sample, curve: LearningCurve) -> None:
    words = {"numbers": _("The numbers"), "curve": _("As n grows")}
    if choose(_("Beneath"), keys.LAB_BENEATH, words, titled=False) == "curve":
        _growth(setup)
    else:
        _numbers(sample, curve)


def _numbers(sample: Sample, curve: LearningCurve) -> None:
    heads = [_("classifier"), _("misfit R(h∞) − R*"), _("finite sample"), _("± standard error"), _("mean risk"),
             _("risk of the sample shown")]  # fmt: skip
    lines = [[md(head) for head in heads]]
    for m, name in enumerate(curve.names):
        mean, error = float(curve.mean[m, 0]), float(curve.error[m, 0])
        lines.append(
            [
                model_name(name),
                _plain(float(curve.misfit[m])),
                signed(float(curve.finite[m, 0]), 4) if math.isfinite(mean) else "–",
                f"{error:.4f}" if math.isfinite(error) else "–",
                number(mean),
                number(sample.risks[name]),
            ]
        )
    markdown_table(lines)
    st.caption(
        _(
            "R(h) = R\\* + misfit + finite sample. Every risk is that of the classifier's decisions under the true "
            "density, not an estimate from test rows; only the mean over {r} samples is uncertain."
        ).format(r=study.REPLICATES)
    )


def _plain(value: float) -> str:
    return f"{max(value, 0.0):.4f}" if value > -5e-5 else f"{value:.4f}"


def _growth(setup: Setup) -> None:
    curve = study.curve_of(setup)
    chart(
        figures.growth(curve, [model_name(name) for name in curve.names], setup.n, dark=dark()),
        key="lab_growth",
        alt=_("Mean true risk of each classifier as n grows, and the Bayes risk"),
    )
    st.caption(
        _(
            "The mean true risk of {r} samples of each size, ± its standard error; at the right the "
            "limit of infinitely many rows. Few rows favour the model with fewer parameters, many "
            "rows the one that contains the true distribution."
        ).format(r=study.CURVE)
    )
