from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import predicting, required
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import current, end_page, on_click
from pages.runtime.widgets import choose
from pages.shell.frame import title
from pages.views.case import ask, derivation, fill_in
from pages.views.case.decision import decision, firmness
from pages.views.case.editor import case_in_use, exercise_banner, with_exercise
from pages.views.case.nomogram import nomogram_view
from pages.views.case.working import case_working, working

opened = active.table_in_use()
title(md(opened.question, 120))
table = required.fittable(opened)
required.model(table)
derivation.style()
try:
    one = case_in_use(table)
except BayesEngineError as error:  # an exercise that cannot be drawn, a model that cannot be fitted to this table
    st.warning(error.message.local(md))
    if current().seen(keys.EXERCISE):
        st.button(_("Back to the table"), **on_click(lambda s: with_exercise(s, 0)))
    end_page()
exercise_banner(one)
views = {"decision": _("The decision"), "nomogram": _("Nomogram"), "ask": _("What to ask next")}
view = choose(_("View"), keys.CASE_VIEW, views, titled=False)
if not predicting.shows(f"case/{view}"):
    decision(one, None)
    end_page()
if view in (others := {"ask": ask.interview, "nomogram": nomogram_view}):
    others[view](one)
    end_page()
try:
    worked = case_working(one)
except BayesEngineError as error:
    decision(one, error.message)
    end_page()
if worked.filling:
    fill_in.rows_to_count(one)
else:
    decision(one, worked.exact)
if not predicting.shows("case/working"):
    held_back(table)
    end_page()
working(one, worked)
if not worked.filling:
    firmness(one, worked.exact)
