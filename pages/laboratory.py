from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages.runtime import view_keys as keys
from pages.runtime.state import choose, current
from pages.views.laboratory import base_rates, likelihood, sandbox, underflow

TABS = {
    "densities": (_("Known densities"), _("How far from the best possible?"), sandbox.show),
    "rates": (_("Base rates"), _("A test is positive. How likely is it true?"), base_rates.show),
    "likelihood": (_("Likelihood"), _("Which parameters make these rows most likely?"), likelihood.show),
    "underflow": (_("Underflow"), _("Why are logarithms added?"), underflow.show),
}
words, question, show = TABS[current().seen(keys.LAB_TAB)]
st.title(question)
choose(_("Experiment"), keys.LAB_TAB, {name: title for name, (title, *_rest) in TABS.items()}, titled=False)
show()
