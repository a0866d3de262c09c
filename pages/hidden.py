from pages.shell.router import boot

boot()


from bayes_engine.errors import BayesEngineError
from pages import active
from pages.active import predicting, required
from pages.components.derivations import derivations
from pages.components.held_back import held_back
from pages.shell.frame import title
from pages.views.hidden import controls, labels, missing_cell, mixture, nameless
from pages.views.hidden.derived import of_hidden

title()
table = required.fittable(active.table_in_use())
part = controls.choose_part(table)
parts = {
    "all": mixture.show,
    "some": labels.some_labels_hidden,
    "none": labels.no_label_hidden,
    "cell": missing_cell.show,
    "classes": nameless.show,
}
try:
    if predicting.shows(f"hidden/{part}"):
        parts[part](table)
        derivations("hidden", of_hidden(table, part))
    else:
        held_back(table)
except BayesEngineError as error:  # no run, and nothing to show of it
    controls.engine_message(error.message)
