"""The view from top to bottom: which models, how they do, which differences are real, the curves, the probabilities,
and the two ways to a posterior side by side."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import shelf
from pages.active.units import choose_loss_unit
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import on_click, page_link
from pages.runtime.widgets import choose
from pages.views.model.compare import calibration, discriminative, scores
from pages.views.model.compare.calibration import calibrator_name
from pages.views.model.compare.curves import curves
from pages.views.model.compare.evaluated import evaluate, families_not_on_shelf, with_rivals
from pages.views.model.compare.expected import judged_table


def compare(table: active.FittableTable) -> None:
    """The models of the shelf beside logistic regression, on rows that none of them has seen."""
    first = st.container()  # the scores, above the controls
    _controls(table)
    drawn = judged_table(table)
    if drawn is None:
        return
    evaluated = evaluate(drawn)
    for name, fault in evaluated.faults.items():
        first.warning(evaluated.title(name) + _(": ") + fault.message.local(md))
    if not evaluated.held:
        return
    try:
        with first, st.container(key="compare_scores"):
            scores.scores_table(evaluated)
        scores.differences_in_words(evaluated)
        curves(evaluated)
        calibration.before_and_after(evaluated)
        with evaluated.costs.stage("regions"):
            discriminative.beside_logistic_regression(evaluated)
    except BayesEngineError as error:
        st.warning(error.message.local(md))


def _controls(table: active.FittableTable) -> None:
    missing = families_not_on_shelf(table)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose(
            _("Probabilities"),
            keys.CALIBRATOR,
            {name: calibrator_name(name) for name in keys.CALIBRATOR.options},
            about=_(
                "Calibrated: each fold of the held-out rows by a calibrator learnt from the other folds. Temperature "
                "divides all log posteriors by one T; Platt fits a line in the log-odds of each class against the "
                "rest, isotonic an increasing step function; with more than two classes the results are divided by "
                "their sum. First calibrated, then shifted to the prior of use."
            ),
        )
        choose_loss_unit()
        if missing:
            st.button(
                _("Add the other families"),
                icon=":material/library_add:",
                key="compare_fill",
                help=_("Adds {models} to the candidates.").format(
                    models=_(", ").join(md(shelf.title(s, table)) for s in missing)
                ),
                **on_click(lambda s: with_rivals(table, s)),
            )
        page_link("pages/decisions.py", _("Losses and prior of use"), ":material/balance:")
