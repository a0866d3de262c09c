from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.shared import beliefs, class_pictures, data, estimation, knobs, pixels, saved_model, shelf, size, structures
from pages.shared.compare import compare
from pages.shared.escape import md
from pages.shared.ready import unfit
from pages.shared.state import bound, current, finish
from pages.shared.ways import ways
from pages.shared.which import which

VIEWS = ("conditionals", "ways", "compare")

table = data.table_in_use()
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
    fitted = data.fit(table, spec)
except BayesEngineError as error:  # a knob forbids the fit: it can be turned back here
    knobs.panel(table, spec, tuple(1.0 / len(table.classes) for _label in table.classes))
    st.error(error.message.local(md))
    finish()
knobs.panel(table, spec, tuple(fitted.prior[c] for c in table.classes))
structures.found(table, fitted)

pictures = st.container()
columns, figure = st.columns(beliefs.widths(fitted), gap="medium")
with columns:
    column = beliefs.choose_column(table, fitted)
if image := pixels.picture(table):
    with pictures:
        class_pictures.class_pictures(table, fitted, image, column.name)
try:
    with figure:
        found = beliefs.believed(table, fitted, column)
except BayesEngineError as error:  # one value in every row: no factor
    figure.info(error.message.local(md))
else:
    with figure:
        beliefs.draw(table, fitted, found)
    beliefs.behind(table, fitted, found)
    estimation.estimated(table, fitted, found)

prior, numbers = st.columns([5, 6], gap="medium")
with prior:
    size.prior(table, fitted)
with numbers:
    size.how_many(table, fitted)
if spec.family in data.NAIVE:
    which(table)
saved_model.to_keep(table, fitted)
for note in data.notes_of(table, fitted):
    st.caption(":material/info: " + note.local(md))
