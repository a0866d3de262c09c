from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.loss import LossMatrix, judge
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import words
from pages.active.ready import ready
from pages.components.flip_margins import nearest_flips
from pages.components.losses import loss_editor
from pages.components.regions import axes_in_use, no_axes, region_controls, region_plane, slice_control
from pages.runtime.escape import md
from pages.runtime.links import go
from pages.views.decisions.consequences import choose_three, consequences
from pages.views.decisions.refusal import refuse_by_error
from pages.views.decisions.stories import stories

PLANE = "decisions_plane"

table = active.table_in_use()
st.title(_("What should be decided, given what errors cost?"))
stories(table)
fitted = ready(table, asked=True)
loss, use, amount = active.losses(table), active.prior_of_use(table), table.parts.amount
ledger = fitted.judging.explain(active.case_frame(table, active.case_values(table))).at_prior(fitted.prior, use)
verdict = judge(ledger, active.case_losses(table))

with st.container(key="settles_verdict"):
    if verdict.position[0] < 0:
        st.warning(_("No posterior: {why}.").format(why=words.status(int(ledger.status[0]))))
    else:
        st.markdown(words.verdict(table, ledger, verdict))

picture, knobs = st.columns([4, 3], gap="medium")
with picture:
    if axes_in_use(table) is None:
        no_axes()
    else:
        axes = region_controls(table)
        region_plane(table, fitted, axes, key=PLANE, height=400)
        slice_control(table, axes)
with knobs:
    loss_editor(table, fitted, ledger, bus=PLANE, told=True)

held = ours = naive = None
try:
    held = active.held_out_rows(table, fitted)
    ours = estimated_risk(held, loss, prior_of_use=use, amount=amount)
    naive = estimated_risk(held, loss, prior_of_use=use, amount=amount, decide_by=LossMatrix.zero_one(held.classes))
except BayesEngineError as error:
    st.warning(error.message.local(md))
consequences(table, fitted, ledger, held, ours, naive, bus=PLANE)
choose_three(table, ledger)

if verdict.position[0] >= 0:
    nearest_flips(table, fitted, ledger)
with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
    if held is not None and ours is not None:
        refuse_by_error(table, held)
    go("pages/case.py", _("See the working"), ":material/search:")
