from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages.runtime.state import bound, current
from pages.views.laboratory import base_rates, likelihood, sandbox, underflow

TABS = {
    "densities": (_("Known densities"), _("How far from the best possible?"), sandbox.show),
    "rates": (_("Base rates"), _("A test is positive. How likely is it true?"), base_rates.show),
    "likelihood": (_("Likelihood"), _("Which parameters make these rows most likely?"), likelihood.show),
    "underflow": (_("Underflow"), _("Why are logarithms added?"), underflow.show),
}
tab = current().seen("lab_tab", "densities")
tab = tab if tab in TABS else "densities"
words, question, show = TABS[tab]
st.title(question)
st.segmented_control(
    _("Experiment"),
    list(TABS),
    format_func=lambda name: TABS[name][0],
    required=True,
    label_visibility="collapsed",
    **bound("lab_tab", tab, lambda s, name: s.showing(lab_tab=name)),
)
show()
