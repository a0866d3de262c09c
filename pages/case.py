from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.working.derive import derive, rounded
from pages.shared import data
from pages.shared.case_editor import back_to_table, case_editor, case_listed, exercise_banner, own_row, study
from pages.shared.escape import md
from pages.shared.regions import unfit
from pages.shared.state import change, current
from pages.shared.verdict import contributions, pronounce
from pages.shared.working import by_hand, choose_classes, controls, copies, factor_table, fill_in, rows_to_count, style, sums

table = data.table_in_use()
st.title(md(table.info.text("question", data.current_language()), 120) if table.info else _("Why this decision?"))
if table.parts is None:
    unfit(table)
    st.stop()
style()
try:
    one = study(table)
except BayesEngineError as error:  # an exercise that cannot be drawn
    st.warning(error.message.local(md))
    st.button(_("Back to the table"), on_click=change, args=(back_to_table,))
    st.stop()

# the case, and what is decided
exercise_banner(one)
main, side = st.columns([3, 2], gap="large")
with side:
    if one.seed:
        case_listed(one)
    else:
        case_editor(table, one.values)
        if not current().seen("fill", False):
            own_row(one)
try:
    exact = derive(one.model, one.case, data.losses(table), data.prior_of_use(table), table.classes)
except BayesEngineError as error:
    main.warning(error.message.local(md))
    st.stop()
filling = current().seen("fill", False)
with main:
    if filling:
        rows_to_count(one)
    else:
        pronounce(one, exact)
        contributions(one, exact)

# the working
st.header(_("The working"))
digits = controls(one, filling=filling)
choose_classes(one, exact)
if filling:
    fill_in(one, exact)
    st.stop()
working = rounded(exact) if digits == "hand" else exact
if digits == "hand":
    by_hand(one, exact)
precision = 8 if digits == "full" else 4
factor_table(one, working, precision)
sums(one, working, precision)
copies(one, working, precision)
