"""The super-parents, and models for the shelf."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.spode import SPODE
from bayes_engine.workbench.figures.comparison import MeasurePanel
from bayes_engine.workbench.figures.dependence import super_parent_scores
from pages import active
from pages.active import shelf, units
from pages.active.dependence_models import spec_of
from pages.components.chart import chart
from pages.runtime.escape import md, plotly_text
from pages.runtime.state import Spec, dark
from pages.views.dependence.dependences import Dependences, column_name, why_no_pair

MOST = 32
"""So many candidates are drawn."""


def super_parents(table: active.FittableTable, dependences: Dependences) -> None:
    """Every column as the super-parent of all others, leaving out one row at a time; models for the shelf."""
    model = active.fit(table, spec_of(table, "spode")).model
    assert isinstance(model, SPODE)
    scores = model.candidate_scores_
    if not len(scores) or not dependences.pairs:
        why_no_pair(table, dependences)
        return
    names = list(scores.index)
    st.markdown(
        _(
            "Every column in turn is the one that all others depend on, a one-dependence estimator: {formula}. "
            "The best is **{column}**."
        ).format(
            formula="$P(c)\\,P(x_p\\mid c)\\prod_{j\\neq p}P(x_j\\mid c,x_p)$", column=column_name(table, names[0])
        )
    )
    losses = scores["log_loss"].head(MOST)
    figure = super_parent_scores(
        scores.head(MOST),
        [plotly_text(table.column(n), 28) for n in names[:MOST]],
        MeasurePanel(units.loss_measure(), list(map(units.loss_shown, losses)), list(map(units.loss_text, losses))),
        dark=dark(),
    )
    chart(figure, key="super_parent_scores", alt=_("each column as super-parent"))
    sentences = [_("Exact leave-one-out with α = 1: fewest rows wrong, then the smaller log-loss.")]
    if any(v.numeric for v in table.features):
        sentences = [_("Leave-one-out with α = 1, the cut points kept from all rows, which flatters: fewest rows "
                       "wrong, then the smaller log-loss.")]  # fmt: skip
    if len(names) > MOST:
        sentences.append(_("The best {n} of {all}.").format(n=MOST, all=len(names)))
    st.caption(" ".join(sentences))
    shelve(table, [spec_of(table, family) for family in ("spode", "tan", "aode", "k-db")])


def shelve(table: active.FittableTable, specs: Sequence[Spec]) -> None:
    """Buttons that put models on the shelf, active; one that is there is made active."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for spec in specs:
            label = _("{model} as a candidate").format(model=md(shelf.title(spec, table), 40))
            shelf.shelve_button(table, spec, label, key=f"shelve_{spec.family}")
