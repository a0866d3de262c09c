from pages.shell.router import boot

boot()


from bayes_engine.language import _
from pages import active
from pages.active import predicting, required
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.widgets import choose
from pages.shell.frame import title
from pages.views.model.compare.sections import compare
from pages.views.model.conditionals import conditionals
from pages.views.model.modes_of_use.sections import modes_of_use

VIEWS = {
    "conditionals": (_("Class-conditionals"), conditionals),
    "ways": (_("Ways of use"), modes_of_use),
    "compare": (_("Compare"), compare),
}
title()
table = required.fittable(active.table_in_use())
view = choose(_("View"), keys.MODEL_VIEW, {view: words for view, (words, _show) in VIEWS.items()}, titled=False)
if predicting.shows(f"model/{view}"):
    VIEWS[view][1](table)
else:
    held_back(table)
