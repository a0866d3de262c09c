from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active.ready import unfit
from pages.runtime.state import finish
from pages.views.hidden import cell, labels, mixture, parts

table = active.table_in_use()
st.title(_("What if the labels are hidden?"))
if table.parts is None:
    unfit(table)
    finish()
part = parts.choose_part(table)
{"all": mixture.show, "some": labels.some, "none": labels.none, "cell": cell.show}[part](table)
