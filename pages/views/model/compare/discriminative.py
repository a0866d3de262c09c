"""Generative against discriminative: the same two features, the regions of the active model beside those of logistic
regression."""

from __future__ import annotations

import warnings

import streamlit as st

from bayes_engine.decision.regions import Axis, Plane, axis_of, posterior_plane, scatter
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.models.discriminative import PosteriorOnly, discriminative_counterpart
from bayes_engine.table.encode import positions
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.figures.curves import PlaneLabels, Points, decision_planes
from pages import active
from pages.components.chart import chart
from pages.components.regions import MOST_POINTS, Axes, axes_in_use, most_frequent, region_controls
from pages.runtime.cache import cached
from pages.runtime.escape import md, plotly_text
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current, dark
from pages.views.model.compare.evaluated import COUNTERPART, Evaluated

SIDE = 80
"""Steps of the plane on a side of numbers."""


def beside_logistic_regression(evaluated: Evaluated) -> None:
    table = evaluated.table
    axes = axes_in_use(table)
    if axes is None or len(table.features) < 2 or evaluated.active == COUNTERPART:
        return
    st.subheader(
        _("Two ways to a posterior"),
        help=_(
            "A generative model learns P(x | c) and P(c) and gets P(c | x) by Bayes' theorem; a discriminative one "
            "learns P(c | x) directly."
        ),
    )
    region_controls(table, axes)
    fitted = active.fit(table, evaluated.specs[int(evaluated.active)])
    try:
        ours = _ours(fitted, axes, table)
    except BayesEngineError as error:
        st.info(error.message.local(md))
        return
    theirs = _theirs(table, axes)
    x, y, rows = scatter(table.parts.X, ours.x, ours.y, most=MOST_POINTS)
    places = positions(table.parts.y, table.classes).tolist()
    names = PlaneLabels(
        plotly_text(table.column(axes.x.name), 30),
        "" if axes.y is None else plotly_text(table.column(axes.y.name), 30),
        [plotly_text(table.class_(c), 30) for c in table.classes],
        [plotly_text(table.level(axes.x.name, v), 16) for v in ours.x.levels],
        [] if ours.y is None else [plotly_text(table.level(ours.y.name, v), 16) for v in ours.y.levels],
    )
    figure = decision_planes(
        [(evaluated.title(evaluated.active, plotly_text), ours), (_("logistic regression"), theirs)],
        active.case_losses(table),
        Points(x, y, [places[r] for r in rows]),
        names,
        dark=dark(),
    )
    chart(figure, key="sides_figure", alt=_("decision regions of the model and of logistic regression, side by side"))
    most_frequent(table, ours)
    sentences = [
        _("Left: what each class looks like was learnt, P(x | c) P(c); the other columns are integrated out, exactly."),
        _("Right: only what separates the classes was learnt, P(c | x); it cannot leave a column out, so it was "
          "refitted to these two."),
        _("Both decide under your losses.")
        if active.losses(table).by_amount is None
        else _("Both decide under your losses at the case's amount."),
    ]  # fmt: skip
    if current().prior:
        sentences.append(_("Here by the priors they were fitted with, not the prior of use."))
    st.caption(" ".join(sentences))


@cached(max_entries=16, activity=Message("computing the regions"))
def _ours(fitted: active.Fitted, axes: Axes, _table: active.FittableTable) -> Plane:
    return in_worker(posterior_plane, fitted.model, _table.features, *_axes(axes, _table), None, SIDE)


@cached(max_entries=16, activity=Message("fitting logistic regression"))
def _theirs(table: active.FittableTable, axes: Axes) -> Plane:
    parts = table.parts
    two = Schema(tuple(v for v in table.features.variables if v.name in axes.names))
    codes = positions(parts.y, table.classes)
    model = discriminative_counterpart(two)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weight = {} if parts.weight is None else {"logistic__sample_weight": parts.weight.to_numpy()}
        model.fit(parts.X[list(two.names)], codes, **weight)
        whole = PosteriorOnly(model, tuple(table.classes[int(c)] for c in model.classes_))
        return posterior_plane(whole, two, *_axes(axes, table), None, SIDE)


def _axes(axes: Axes, table: active.FittableTable) -> tuple[Axis, Axis | None]:
    X = table.parts.X
    return axis_of(axes.x, X[axes.x.name]), None if axes.y is None else axis_of(axes.y, X[axes.y.name])
