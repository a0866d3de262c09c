from pages.shared.router import boot

boot()

import streamlit as st

from pages.shared import data
from pages.shared.losses import loss_editor, prior_editor

table = data.table_in_use()
fitted = data.active_model(table)
left, right = st.columns([3, 2])
with right:
    loss_editor(table)
    prior_editor(table, fitted)
with left:
    st.text(str(fitted.model.explain(data.case_frame(table, data.case_values(table))).posterior()))
