from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import required
from pages.components.flip_margins import nearest_flips
from pages.components.losses import loss_editor
from pages.components.regions import axes_in_use, explain_case, no_axes, region_controls, region_plane, slice_control
from pages.components.verdict import verdict
from pages.runtime.escape import md
from pages.runtime.state import page_link
from pages.shell.frame import title
from pages.views.decisions.consequences import choose_three, consequences, reports
from pages.views.decisions.refusal import refuse_by_error
from pages.views.decisions.stories import stories

PLANE = "decisions_plane"

opened = active.table_in_use()
title()
stories(opened)
table = required.fittable(opened)
fitted, axes = required.model(table, asked=True), axes_in_use(table)
ledger = explain_case(table, fitted)
decision = verdict(table, ledger)

picture, controls = st.columns([4, 3], gap="medium")
with picture:
    if axes is None:
        no_axes()
    else:
        region_plane(table, fitted, axes, key=PLANE, height=400)
        region_controls(table, axes)
        slice_control(axes)
with controls:
    loss_editor(table, fitted, ledger, bus=PLANE, story_shown=True)

held = ours = naive = None
try:
    held = active.held_out_rows(table, fitted)
    ours, naive = reports(table, fitted, held)
except BayesEngineError as error:
    st.warning(error.message.local(md))
consequences(table, fitted, ledger, held, ours, naive, bus=PLANE)
choose_three(table, ledger)

if decision.position[0] >= 0:
    nearest_flips(table, fitted, ledger)
with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
    if held is not None and ours is not None:
        refuse_by_error(table, fitted, held)
    page_link("pages/case.py", _("See the working"), ":material/search:")
