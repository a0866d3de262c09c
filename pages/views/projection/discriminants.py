"""Below the projection: all columns on two directions, the way from LDA to QDA, and what helps naive Bayes."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, cast

import pandas as pd
import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.regions import Axis, Plane, axis_of, posterior_plane, scatter
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from bayes_engine.ledger import Status
from bayes_engine.models.projection import (
    Assumptions,
    NumericRows,
    Objective,
    PlaneProjection,
    PlaneProjections,
    PooledAnalysis,
    assumptions,
    plane_projections,
    pooled_analysis,
)
from bayes_engine.models.transformed_naive_bayes import posterior_after_steps, transformed_naive_bayes
from bayes_engine.numerals import certain, number
from bayes_engine.progress import steps
from bayes_engine.stats.assumptions import BoxM, Mardia
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.projection import MOST_ROWS, losses_along_pooling, on_two_directions
from bayes_engine.workbench.figures.theme import colour_of
from pages import active
from pages.active import predicting, units
from pages.active.projected import numeric_columns, rows_of
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.components.plane import Ink, PlaneView, Points, Side, plane
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import current, dark
from pages.runtime.widgets import choose, within_limits
from pages.views.projection.equivalence import equivalence
from pages.views.projection.projection import MOST_POINTS, or_explain, rows_left_out

PATH = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The shares of pooling at which losses are computed."""
SURE = 0.05
"""A p-value below this speaks against an assumption."""
Line = tuple[str, str, int, str, str, str]
"""A test: the assumption, the test, rows, statistic, p-value, and what to do."""
ILL = 1e3
"""A condition number from which on a covariance rests on few directions."""


def sections(table: active.FittableTable, pair: tuple[str, str]) -> None:
    """What more is asked of the projection, one question at a time, of those that this table allows; `pair` are the
    columns looked at."""
    if not predicting.shows("projection/sections"):
        held_back(table)
        return
    titles = {"demo": _("Fisher = LDA = Bayes?"), "dial": _("LDA ↔ QDA"), "naive": _("Before naive Bayes")}
    if len(table.classes) > 2:
        titles = {"planes": _("All columns on two directions"), **titles}
    section = choose(_("Look further"), keys.SECTION, titles)
    names = tuple(v.name for v in numeric_columns(table))
    drawn = {
        "demo": equivalence,
        "planes": lambda: discriminant_planes(table, names),
        "dial": lambda: pooling_and_shrinkage(table, pair, names),
        "naive": lambda: projections_before_naive_bayes(table, names),
    }
    or_explain(drawn[section])


# all columns on two directions ----------------------------------------------------------------------------------------


@cached(max_entries=16, activity=Message("looking for directions"))
def _screens(table: active.FittableTable, names: tuple[str, ...], objective: Objective) -> PlaneProjections:
    return plane_projections(rows_of(table, names), objective)


def discriminant_planes(table: active.FittableTable, names: tuple[str, ...]) -> None:
    """Fisher's, PCA's and LDA's plane of all numeric columns, beside each other."""
    rows = rows_of(table, names)
    if len(names) < 2 or len(rows.classes) < 3:
        st.info(
            _(
                "Two classes have one Fisher direction only: K classes have at most K − 1. Choose a table with three "
                "or more classes (iris, penguins, wine) to see a plane of them."
            )
        )
        return
    objective = choose(
        _("Fisher's objective"),
        keys.OBJECTIVE,
        {"ratio-trace": _("ratio-trace"), "trace-ratio": _("trace-ratio")},
        about=_(
            "ratio-trace: $\\mathrm{tr}((W^{\\top} S_w W)^{-1} W^{\\top} S_b W)$, a generalized eigenproblem "
            "with at most K − 1 directions. trace-ratio: $\\mathrm{tr}(W^{\\top} S_b W) / "
            "\\mathrm{tr}(W^{\\top} S_w W)$ with $W^{\\top} W = I$, by iteration."
        ),
    )
    shown = _screens(table, names, cast(Objective, objective))
    titles = (_("Fisher projection"), _("PCA"), _("Gaussian LDA"))
    with st.container(key="planes_drawn"):
        columns = st.columns(3)
    for column, title, screen, step in zip(columns, titles, shown[:3], ("fisher", "pca", "lda"), strict=True):
        with column:
            words = (current_language(), current().labels)
            figure = _screen_figure(table, names, objective, step, dark(), words, screen)
            st.markdown(f"**{title}**  \n" + _("{accuracy} right").format(accuracy=f"{screen.accuracy:.1%}"))
            chart(figure, key=f"screen_{step}", alt=_("rows on two directions: {title}").format(title=title))
    if objective == "trace-ratio":
        steps = " → ".join(dict.fromkeys(number(v, 6) for v in shown.fisher.trace))
        st.markdown(_("The trace ratio, step by step: {steps}. It never falls.").format(steps=steps))
    else:
        st.markdown(
            _(
                "With ratio-trace **Fisher and LDA show the same plane**: both solve $S_b w = J S_w w$. PCA "
                "does not look at the classes."
            )
        )
    st.caption(
        _(
            "{d} columns in units of their spread; accuracy of the nearest projected mean on rows held out "
            "({scheme}). Lecture notes call trace-ratio a generalized eigenproblem: that solves ratio-trace, where "
            "$S_w W = S_b W (W^{{\\top}} S_b W)^{{-1}} (W^{{\\top}} S_w W)$ (their order of the factors does not "
            "conform), by the eigenvectors of $L^{{-1}} S_b L^{{-\\top}}$ with $S_w = LL^{{\\top}}$: at most K − 1 "
            "directions. Trace-ratio needs $W^{{\\top}} W = I$ and an iteration."
        ).format(d=len(names), scheme=shown.scheme.local(md))
    )
    if len(rows.y) > MOST_ROWS:
        st.caption(_("{k} of {n} rows are drawn, chosen at random.").format(k=MOST_ROWS, n=len(rows.y)))
    rows_left_out(rows)


@cached(max_entries=12)
def _screen_figure(
    table: active.FittableTable, names: tuple[str, ...], objective: str, step: str, on_dark: bool,
    language: tuple[str, str], _screen: PlaneProjection,
) -> Figure:  # fmt: skip
    """In a `language`, with its names or the file's."""
    rows = rows_of(table, names)
    places = [(plotly_text(table.class_(c), 30), table.classes.index(c)) for c in rows.classes]
    axis = _("PC {k} · {share} of the variance") if step == "pca" else _("direction {k} · {share} of J")
    axes = [axis.format(k=k + 1, share=f"{share:.1%}") for k, share in enumerate(_screen.explained)]
    return on_two_directions(_screen, rows.y.tolist(), places, axes=(axes[0], axes[1]), dark=on_dark)


# from LDA to QDA ------------------------------------------------------------------------------------------------------


@cached(max_entries=128)
def _pooled(table: active.FittableTable, names: tuple[str, ...], pooling: float, shrinkage: float) -> PooledAnalysis:
    return pooled_analysis(rows_of(table, names), pooling, shrinkage)


@cached(max_entries=32)
def _assumptions(table: active.FittableTable, names: tuple[str, ...]) -> Assumptions:
    return assumptions(rows_of(table, names))


@cached(max_entries=32, activity=Message("computing the regions"))
def _regions(
    table: active.FittableTable, names: tuple[str, ...], pair: tuple[str, str], shares: tuple[float, float]
) -> Plane:
    model = _pooled(table, names, *shares).model
    across, up = (axis_of(table.features[name], table.parts.X[name]) for name in pair)
    return posterior_plane(model, model.schema_, across, up, size=120)


def pooling_and_shrinkage(table: active.FittableTable, pair: tuple[str, str], everything: tuple[str, ...]) -> None:
    """The share of pooling and of shrinkage, the regions they give, and how they do on rows held out."""
    controls, drawing = st.columns([2, 3], gap="medium")
    with controls:
        names = _which(pair, everything)
        rows = rows_of(table, names)
        shares = _shares()
        fitted = or_explain(lambda: _pooled(table, names, *shares))
        if fitted is not None:
            one, two = st.columns(2)
            one.metric(_("Accuracy"), f"{fitted.accuracy:.1%}")
            two.metric(units.loss_measure(), units.loss_text(fitted.log_loss, 4))
            units.choose_loss_unit()
            _path(table, names, fitted, *shares)
            st.caption(_("On rows held out: {scheme}.").format(scheme=fitted.scheme.local(md)))
    with drawing:
        if fitted is not None:
            _region_plane(table, pair, names, shares)
            if len(names) > 2:
                st.caption(_("The columns that are not on the axes are integrated out."))
    rows_left_out(rows)
    _checks(table, names, rows)


def _which(pair: tuple[str, str], everything: tuple[str, ...]) -> tuple[str, ...]:
    if len(everything) == 2:
        return everything
    words = {"two": _("the two above"), "all": _("all {d} numeric ones").format(d=len(everything))}
    return everything if choose(_("Columns of the model"), keys.DIAL_COLUMNS, words) == "all" else pair


def _shares() -> tuple[float, float]:
    st.slider(
        _("QDA 0 … LDA 1: pooling ρ"),
        step=0.05,
        help=_(
            "$\\Sigma_c(\\rho) = ((1-\\rho) S_c + \\rho S_w) / ((1-\\rho) n_c + \\rho n)$ "
            "(Friedman 1989): at 1 all classes share one covariance, at 0 each has its own."
        ),
        **within_limits(keys.POOLING),
    )
    st.slider(
        _("shrinkage γ towards a circle"),
        step=0.05,
        help=_(
            "(1 − γ) Σ + γ (tr Σ/d) I: helps where there are few rows for so many columns. It depends on the "
            "columns' units."
        ),
        **within_limits(keys.GAMMA),
    )
    return current().seen(keys.POOLING), current().seen(keys.GAMMA)


@cached(max_entries=64, activity=Message("judging the model on rows held out"))
def _losses_on_path(
    table: active.FittableTable, names: tuple[str, ...], shrinkage: float
) -> tuple[list[float], list[float]]:
    """The shares of pooling on the path for which there is a model with a finite log-loss on rows held out, and that
    loss; where a class has no covariance of its own the path begins where it has one."""
    values, losses = [], []
    for share in steps(PATH):
        with suppress(BayesEngineError):
            there = pooled_analysis(rows_of(table, names), share, shrinkage)
            if math.isfinite(there.log_loss):
                values.append(share)
                losses.append(there.log_loss)
    return values, losses


def _path(
    table: active.FittableTable, names: tuple[str, ...], here: PooledAnalysis, pooling: float, shrinkage: float
) -> None:
    values, losses = _losses_on_path(table, names, shrinkage)
    if values and math.isfinite(here.log_loss):
        shown = [units.loss_shown(loss) for loss in losses]
        now = (pooling, units.loss_shown(here.log_loss))
        figure = losses_along_pooling(values, shown, now, title=units.loss_measure(), dark=dark())
        chart(figure, key="dial_path", alt=_("held-out log-loss from QDA to LDA"))


def _region_plane(
    table: active.FittableTable, pair: tuple[str, str], names: tuple[str, ...], shares: tuple[float, float]
) -> None:
    grid, sample = _regions(table, names, pair, shares), rows_of(table, names)
    order = [grid.classes.index(c) for c in sample.classes]
    places = [table.classes.index(c) for c in sample.classes]
    inks = tuple(
        Ink(table.class_(c), colour_of(k), colour_of(k, dark=True), i)
        for i, (c, k) in enumerate(zip(sample.classes, places, strict=True))
    )
    xs, ys, rows = scatter(sample.frame, grid.x, grid.y, most=MOST_POINTS)
    truth = sample.y.tolist()
    decided = _decided(table, names, shares)
    texts = [
        "\n".join([
            _("row {n}").format(n=int(sample.rows[i]) + 1) + f": {table.class_(sample.classes[truth[i]])}",
            *(f"{table.column(name)} = {value:g}" for name, value in zip(pair, (x, y), strict=True)),
        ])
        for i, x, y in zip(rows, xs, ys, strict=True)
    ]  # fmt: skip
    view = PlaneView(
        x=_side(table, pair[0], grid.x),
        y=None if grid.y is None else _side(table, pair[1], grid.y),
        classes=inks,
        actions=inks,
        posterior=grid.posterior[:, :, order],
        loss=LossMatrix.zero_one(sample.classes).table,
        possible=grid.status == Status.OK,
        points=Points(xs, ys, [truth[i] for i in rows], [decided[i] for i in rows], rows, texts),
        label=_("regions of Gaussian discriminant analysis"),
    )
    plane(view, key="dial_plane", height=430)


@cached(max_entries=64)
def _decided(table: active.FittableTable, names: tuple[str, ...], shares: tuple[float, float]) -> list[int]:
    rows = rows_of(table, names)
    return [rows.classes.index(c) for c in _pooled(table, names, *shares).model.predict(rows.frame).tolist()]


def _side(table: active.FittableTable, name: str, axis: Axis) -> Side:
    return Side(table.column(name), axis.low, axis.high, table.unit(name))


# the assumptions, tested ----------------------------------------------------------------------------------------------


def _checks(table: active.FittableTable, names: tuple[str, ...], rows: NumericRows) -> None:
    st.markdown(f"##### {_('Is what LDA assumes true here?')}")
    tests = _assumptions(table, names)
    lines = [_box_line(tests.box, len(rows.y))]
    for label, one, n in zip(rows.classes, tests.mardia, tests.sizes, strict=True):
        lines += _mardia_lines(clean(table.class_(label), 30), one, n)
    collinear = _("fine") if tests.condition < ILL else _("nearly collinear: leave a column out, or shrink")
    alone, test = _("no column nearly repeats others"), _("condition number")
    lines.append((alone, test, len(rows.y), number(tests.condition), "–", collinear))
    st.dataframe(
        pd.DataFrame(lines, columns=["assumption", "test", "n", "statistic", "p", "reading"]),
        hide_index=True,
        column_config={
            "assumption": _("assumption"),
            "test": _("test"),
            "n": st.column_config.NumberColumn(_("rows"), width=60),
            "statistic": _("statistic"),
            "p": st.column_config.TextColumn(_("p-value"), width=80),
            "reading": st.column_config.TextColumn(_("what to do"), width=420),
        },
    )
    st.caption(
        _(
            "LDA's shared covariance is $\\Sigma = S_w/n$ (lecture notes write $\\Sigma_k = S_k$), and the density's "
            "constant has the dimension in it: $(2\\pi)^{d/2}|\\Sigma|^{1/2}$; their $\\partial\\ell/\\partial\\mu$ "
            "has the wrong sign, which does no harm where it is set to 0. Box's M also reacts "
            "to classes that are not normal, and with many rows both tests find what does no harm: the held-out "
            "log-loss above decides. The p-values hold for many rows."
        )
    )


def _box_line(tested: BoxM | BayesEngineError, n: int) -> Line:
    assumption, test = _("equal covariances"), _("Box's M")
    if isinstance(tested, BayesEngineError):
        return assumption, test, n, "–", "–", tested.message.local()
    equal = tested.p_value >= SURE
    reading = _("no sign against it: LDA is enough") if equal else _("covariances differ: move ρ towards QDA")
    return assumption, test, n, f"χ²({tested.df}) = {number(tested.chi2)}", _p(tested.p_value), reading


def _mardia_lines(label: str, tested: Mardia | BayesEngineError, n: int) -> list[Line]:
    assumption = _("{class_} is normal").format(class_=label)
    if isinstance(tested, BayesEngineError):
        return [(assumption, _("Mardia"), n, "–", "–", tested.message.local())]
    skewed = tailed = _("no sign against it")
    if tested.skewness_p < SURE:
        skewed = _("skewed: try a logarithm, or kernel densities")
    if tested.kurtosis_p < SURE:
        heavy = _("outliers or heavy tails: look at the rows")
        tailed = heavy if tested.z > 0 else _("flat or multimodal: split the class")
    chi2, z = f"χ²({tested.df}) = {number(tested.chi2)}", f"z = {number(tested.z)}".replace("-", "−")
    return [
        (assumption, _("Mardia, skewness"), n, chi2, _p(tested.skewness_p), skewed),
        (assumption, _("Mardia, kurtosis"), n, z, _p(tested.kurtosis_p), tailed),
    ]


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


# before naive Bayes ---------------------------------------------------------------------------------------------------


@cached(max_entries=16, activity=Message("judging the model on rows held out"))
def _before(table: active.FittableTable, names: tuple[str, ...]) -> Any:
    return transformed_naive_bayes(rows_of(table, names))


def projections_before_naive_bayes(table: active.FittableTable, names: tuple[str, ...]) -> None:
    """The same columns raw, turned by PCA, and projected by LDA, for Gaussian naive Bayes."""
    steps, scheme = _before(table, names)
    named = {"raw": _("as they are"), "pca": _("turned onto PCA's axes"), "lda": _("projected onto LDA's directions")}
    with st.container(key="before_naive"):  # a table that nobody can choose from has no class of its own
        st.dataframe(
            pd.DataFrame(
                {
                    "step": [named[step] for step in steps],
                    "columns": [one.columns for one in steps.values()],
                    "correlation": [one.correlation for one in steps.values()],
                    "accuracy": [100.0 * one.accuracy for one in steps.values()],
                    "log_loss": [units.loss_shown(one.log_loss) for one in steps.values()],
                }
            ),
            hide_index=True,
            column_config={
                "step": _("the columns"),
                "columns": _("how many"),
                "correlation": st.column_config.NumberColumn(
                    _("mean |r| within a class"),
                    format="%.3f",
                    help=_("The mean absolute correlation of two columns within a class; naive Bayes assumes 0."),
                ),
                "accuracy": st.column_config.NumberColumn(_("accuracy"), format="%.1f%%"),
                "log_loss": st.column_config.NumberColumn(
                    units.loss_measure(), format="percent" if units.as_probability() else "%.4f"
                ),
            },
        )
    with st.container(key="before_sentence"):
        st.markdown(_before_sentence(steps, named))
    _case_after_steps(table, names, named)
    units.choose_loss_unit()
    st.caption(
        _(
            "PCA makes columns uncorrelated over all rows, LDA on average within the classes; neither does it within "
            "each class, and neither touches dependence that is not linear. With a diagonal Σ, LDA is Gaussian naive "
            "Bayes with variances that the classes share. Gaussian naive Bayes on {d} columns; each step is learnt "
            "without the rows held out ({scheme})."
        ).format(d=len(names), scheme=scheme.local(md))
    )
    rows_left_out(rows_of(table, names))


def _case_after_steps(table: active.FittableTable, names: tuple[str, ...], named: dict[str, str]) -> None:
    """P(c|x) of the case in use by naive Bayes after each step, fitted to all rows."""
    case, rows = active.case_values(table), rows_of(table, names)
    x = [case[name] for name in names]
    if None in x:
        return
    posteriors = posterior_after_steps(rows, [float(v) for v in x])
    lines = [("", *(md(table.class_(c), 24) for c in rows.classes))]
    lines += [(named[step], *map(certain, p.tolist())) for step, p in posteriors.items()]
    st.caption(_("P(c | x) of the case in use, by naive Bayes fitted to all rows:"))
    markdown_table(lines)


def _before_sentence(steps: Any, named: dict[str, str]) -> str:
    best = min(steps, key=lambda step: steps[step].log_loss)
    if best == "raw":
        return _("Here **no step before it helps** naive Bayes: its log-loss is least on the columns as they are.")
    return _("Here naive Bayes does best on the columns **{step}** ({measure}: {best} instead of {raw}).").format(
        step=named[best],
        measure=units.loss_measure(),
        best=units.loss_text(steps[best].log_loss, 4),
        raw=units.loss_text(steps["raw"].log_loss, 4),
    )
