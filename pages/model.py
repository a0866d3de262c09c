from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active import required
from pages.runtime import view_keys as keys
from pages.runtime.state import choose, current
from pages.views.model.compare.sections import compare
from pages.views.model.conditionals import conditionals
from pages.views.model.modes_of_use.sections import modes_of_use

VIEWS = {
    "conditionals": (_("Class-conditionals"), _("What does the model believe of each class?"), conditionals),
    "ways": (_("Ways of use"), _("When is the counting done?"), modes_of_use),
    "compare": (_("Compare"), _("Which model decides best, and is it really better?"), compare),
}
words, question, show = VIEWS[current().seen(keys.MODEL_VIEW)]
st.title(question)
table = required.fittable(active.table_in_use())
choose(_("View"), keys.MODEL_VIEW, {name: title for name, (title, *_rest) in VIEWS.items()}, titled=False)
show(table)
