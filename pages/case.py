from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.working.derive import derive, rounded
from pages.shared import data, fill_in, working
from pages.shared.case_editor import back_to_table, case_editor, case_listed, exercise_banner, own_row, study
from pages.shared.escape import md
from pages.shared.ready import ready
from pages.shared.state import change, current, finish
from pages.shared.verdict import contributions, pronounce

table = data.table_in_use()
st.title(md(table.info.text("question", current_language()), 120) if table.as_told else _("Why this decision?"))
ready(table)
working.style()
try:
    one = study(table)
except BayesEngineError as error:  # an exercise that cannot be drawn
    st.warning(error.message.local(md))
    st.button(_("Back to the table"), on_click=change, args=(back_to_table,))
    finish()
exercise_banner(one)
filling = current().seen("fill", False)

# the case, what is decided, and what spoke for it; while blanks are filled in, the rows to count instead
if filling:
    fill_in.rows_to_count(one)
else:
    main, side = st.columns([3, 2], gap="large")
    with side:
        if one.seed:
            case_listed(one)
        else:
            case_editor(table, one.values)
            own_row(one)
try:
    exact = derive(one.model, one.case, data.losses(table), data.prior_of_use(table), table.classes)
except BayesEngineError as error:
    st.warning(error.message.local(md))
    finish()
if not filling:
    with main:
        pronounce(one, exact)
        contributions(one, exact)

# the working
st.header(_("The working"))
digits = working.controls(one, filling=filling)
working.choose_classes(one, exact)
if filling:
    fill_in.blanks(one, exact)
    finish()
if digits == "hand":
    working.by_hand(one, exact)
shown = rounded(exact) if digits == "hand" else exact
precision = 8 if digits == "full" else 4
working.factor_table(one, shown, precision)
working.sums(one, shown, precision)
working.copies(one, shown, precision)
