from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import shelf
from pages.active.ready import unfit
from pages.components import pixels
from pages.runtime.escape import md
from pages.runtime.state import bound, current, finish
from pages.views.model import (
    class_conditionals,
    class_pictures,
    estimation,
    knobs,
    parameter_count,
    saved_model,
    structures,
)
from pages.views.model.compare import compare
from pages.views.model.likelihood_choice import which
from pages.views.model.modes_of_use import ways

VIEWS = ("conditionals", "ways", "compare")

table = active.table_in_use()
view = current().seen("model_view", "conditionals")
view = view if view in VIEWS else "conditionals"
heading = {
    "conditionals": _("What does the model believe of each class?"),
    "ways": _("When is the counting done?"),
    "compare": _("Which model decides best, and is it really better?"),
}
st.title(heading[view])
if table.parts is None:
    unfit(table)
    finish()
names = {"conditionals": _("Class-conditionals"), "ways": _("Ways of use"), "compare": _("Compare")}
st.segmented_control(
    _("View"),
    list(VIEWS),
    format_func=names.__getitem__,
    required=True,
    label_visibility="collapsed",
    **bound("model_view", view, lambda s, v: s.showing(model_view=v)),
)
if view == "compare":
    compare(table)
    finish()
if view == "ways":
    ways(table)
    finish()
spec = shelf.choose_model(table)
try:
    fitted = active.fit(table, spec)
except BayesEngineError as error:  # a knob forbids the fit: it can be turned back here
    knobs.panel(table, spec, tuple(1.0 / len(table.classes) for _label in table.classes))
    st.error(error.message.local(md))
    finish()
knobs.panel(table, spec, tuple(fitted.prior[c] for c in table.classes))
structures.found(table, fitted)

pictures = st.container()
columns, figure = st.columns(class_conditionals.widths(fitted), gap="medium")
with columns:
    column = class_conditionals.choose_column(table, fitted)
if image := pixels.picture(table):
    with pictures:
        class_pictures.class_pictures(table, fitted, image, column.name)
try:
    with figure:
        found = class_conditionals.believed(table, fitted, column)
except BayesEngineError as error:  # one value in every row: no factor
    figure.info(error.message.local(md))
else:
    with figure:
        class_conditionals.draw(table, fitted, found)
    class_conditionals.behind(table, fitted, found)
    estimation.estimated(table, fitted, found)

prior, numbers = st.columns([5, 6], gap="medium")
with prior:
    parameter_count.prior(table, fitted)
with numbers:
    parameter_count.how_many(table, fitted)
if spec.family in active.NAIVE:
    which(table)
saved_model.to_keep(table, fitted)
for note in active.notes_of(table, fitted):
    st.caption(":material/info: " + note.local(md))
