from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active.ready import unfit
from pages.runtime.state import bound, current, finish
from pages.views.model.compare import compare
from pages.views.model.conditionals import conditionals
from pages.views.model.modes_of_use import ways

VIEWS = {
    "conditionals": (_("Class-conditionals"), _("What does the model believe of each class?"), conditionals),
    "ways": (_("Ways of use"), _("When is the counting done?"), ways),
    "compare": (_("Compare"), _("Which model decides best, and is it really better?"), compare),
}
table = active.table_in_use()
view = current().seen("model_view", "conditionals")
view = view if view in VIEWS else "conditionals"
words, question, show = VIEWS[view]
st.title(question)
if table.parts is None:
    unfit(table)
    finish()
st.segmented_control(
    _("View"),
    list(VIEWS),
    format_func=lambda name: VIEWS[name][0],
    required=True,
    label_visibility="collapsed",
    **bound("model_view", view, lambda s, v: s.showing(model_view=v)),
)
show(table)
