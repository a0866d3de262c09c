"""The view from top to bottom: the three modes beside one another, that they agree, the compiled table and its file,
and what a row that goes takes with it."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.naive_bayes import NaiveBayes
from pages import active
from pages.runtime.escape import md
from pages.views.model.modes_of_use import comparison, look_up_table, removed_rows
from pages.views.model.settings import choose_fitted_model


def modes_of_use(table: active.FittableTable) -> None:
    """The active model of the shelf in the three modes; of another family what there is of them."""
    fitted = choose_fitted_model(table)
    if fitted.scores:
        st.info(
            _(
                "The three ways are compared by the posterior before calibration, and complement naive Bayes has none: "
                "its scores are probabilities only when they are calibrated."
            )
        )
        return
    if fitted.calibrated is not None:
        st.caption(_("Shown is the model before it is calibrated: a calibrator is the same after all three ways."))
    three = isinstance(fitted.model, NaiveBayes)
    if three:
        try:
            comparison.side_by_side(table, fitted)
            look_up_table.table_and_file(table, fitted)
        except BayesEngineError as error:  # a likelihood that no table holds, a case that the model refuses
            st.warning(error.message.local(md))
            three = False
    else:
        st.info(
            _(
                "The look-up table and lazy learning are there for naive Bayes only. This model, like all the "
                "candidates, can learn rows, forget rows and merge with another: below, a row is removed and put back. "
                "Its structure stays that of the first fit."
            )
        )
    try:
        removed_rows.rows_come_and_go(table, fitted, three=three)
    except BayesEngineError as error:
        st.warning(error.message.local(md))
