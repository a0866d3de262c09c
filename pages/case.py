from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.workbench.derivation.derive import derive, rounded
from pages import active
from pages.active.ready import ready
from pages.components import pixels
from pages.runtime.escape import md
from pages.runtime.state import bound, change, current, finish
from pages.views.case import ask, derivation, drawn_case, fill_in, super_parents, text_message
from pages.views.case.editor import back_to_table, case_editor, case_listed, exercise_banner, own_row, study
from pages.views.case.margins import how_firm
from pages.views.case.plausible import how_sure
from pages.views.case.verdict import contributions, pronounce

table = active.table_in_use()
st.title(md(table.info.text("question", current_language()), 120) if table.as_told else _("Why this decision?"))
ready(table)
derivation.style()
try:
    one = study(table)
except BayesEngineError as error:  # an exercise that cannot be drawn, a model that cannot be fitted to this table
    st.warning(error.message.local(md))
    if current().seen("exercise", 0):
        st.button(_("Back to the table"), on_click=change, args=(back_to_table,))
    finish()
exercise_banner(one)
views, asking = {"decision": _("The decision"), "ask": _("What to ask next")}, current().seen("case_view", "") == "ask"
st.segmented_control(
    _("View"),
    list(views),
    format_func=views.__getitem__,
    required=True,
    label_visibility="collapsed",
    **bound("case_view", "ask" if asking else "decision", lambda s, v: s.showing(case_view=v)),
)
if asking:
    ask.interview(one)
    finish()

# the case, what is decided, and what spoke for it; while blanks are filled in, the rows to count instead
problem, filling = "", current().seen("fill", False)
try:
    asked = one.model if filling else one.judging  # what is filled in is counted
    exact = derive(asked, one.case, active.case_losses(one.table), active.prior_of_use(table), table.classes)
    under = super_parents.choose(one)
    worked = under.working if under else exact  # of a mean of models that of one of them
    filling = filling and not worked.additive
except BayesEngineError as error:
    problem = error.message.local(md)
if filling and not problem:
    fill_in.rows_to_count(one)
else:
    image = None if one.seed else pixels.picture(table)
    texts = active.text_columns(table)
    main, side = st.columns([3, 2], gap="large")
    with side:
        if (image or texts) and not problem:
            pronounce(one, exact, narrow=True)
        if one.seed:
            case_listed(one)
        else:
            case_editor(table, one.values, drawn=image.names if image else texts)
            own_row(one)
    with main:
        if image:
            drawn_case.drawn_case(one, image, None if problem else exact)
        elif texts:
            text_message.typed_case(one, None if problem else exact)
        if problem:
            st.warning(problem)
            finish()
        if image or texts:
            contributions(one, exact, drawn=True)
        else:
            pronounce(one, exact)
        how_firm(one, exact)
        if not (image or texts):
            contributions(one, exact)
    with side:
        how_sure(one, exact)  # last, for it takes longest

# the working
st.header(_("The working"))
digits = derivation.controls(one, worked, filling=filling)
derivation.choose_classes(one, worked)
if filling:
    if under:
        super_parents.choice(one, under)
    fill_in.blanks(one, worked)
    finish()
precision = 8 if digits == "full" else 4
if under:
    super_parents.overview(one, under, exact, precision)
if digits == "hand":
    derivation.by_hand(one, worked)
shown = rounded(worked) if digits == "hand" else worked
derivation.factor_table(one, shown, precision)
final = exact if under else shown
derivation.sums(one, final, precision)
derivation.copies(one, shown, final, precision, super_parents.lines(one, under, exact, precision) if under else None)
