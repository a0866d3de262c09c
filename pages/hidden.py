from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import required
from pages.views.hidden import controls, labels, missing_cell, mixture

st.title(_("What if the labels are hidden?"))
table = required.fittable(active.table_in_use())
part = controls.choose_part(table)
parts = {
    "all": mixture.show,
    "some": labels.some_labels_hidden,
    "none": labels.no_label_hidden,
    "cell": missing_cell.show,
}
try:
    parts[part](table)
except BayesEngineError as error:  # no run, and nothing to show of it
    controls.engine_message(error.message)
