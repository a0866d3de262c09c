"""The page Model's view Class-conditionals: the model and its parameters, what it believes of a column, its numbers."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from pages import active
from pages.active import predicting
from pages.active.models import notes_of
from pages.components import pixels
from pages.components.derivations import derivations
from pages.components.held_back import held_back
from pages.runtime.escape import md
from pages.views.model import (
    all_rows,
    class_conditionals,
    class_pictures,
    column_choice,
    derived,
    estimation,
    likelihoods,
    prior_and_parameter_count,
    saved_model,
    structures,
)
from pages.views.model.likelihood_choice import likelihood_choice
from pages.views.model.settings import choose_fitted_model


def conditionals(table: active.FittableTable) -> None:
    """The model, what it believes of a column, and its numbers."""
    fitted = choose_fitted_model(table)
    structures.structure_in_a_line(table, fitted)
    all_rows.fit_to_all_rows(table, fitted)

    pictures = st.container()
    figure, columns = st.columns(column_choice.column_widths(fitted), gap="medium")
    with columns:
        column = column_choice.choose_column(table, fitted)
    if image := pixels.picture(table):
        with pictures:
            class_pictures.class_pictures(table, fitted, image, column.name)
    try:
        with figure, st.container(key="conditional_drawn"):
            conditional = column_choice.choose_conditional(table, fitted, column)
            class_conditionals.draw_conditional(table, fitted, conditional)
    except BayesEngineError as error:  # one value in every row: no factor
        conditional = None
        figure.info(error.message.local(md))
    with figure:
        likelihoods.choose_likelihood(table, fitted, column)
    if conditional is not None:
        class_conditionals.rows_behind(table, fitted, conditional)
        estimation.parameter_estimates(table, fitted, conditional)
    derivations("estimates", derived.of_estimates(table, fitted, column.name, conditional))

    prior, numbers = st.columns([5, 6], gap="medium")
    with prior:
        prior_and_parameter_count.class_prior(table, fitted)
    with numbers, st.container(key="model_numbers"):
        if predicting.shows("model/numbers"):
            prior_and_parameter_count.parameter_count(table, fitted)
        else:
            held_back()
    derivations("prior", derived.of_prior(table, fitted))
    if fitted.spec.family in active.NAIVE:
        likelihood_choice(table)
    saved_model.download_model(table, fitted)
    for note in notes_of(table, fitted):
        st.caption(":material/info: " + note.local(md))
