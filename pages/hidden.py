from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages.shared import data
from pages.shared.hidden import cell, labels, mixture, parts
from pages.shared.ready import unfit
from pages.shared.state import finish

table = data.table_in_use()
st.title(_("What if the labels are hidden?"))
if table.parts is None:
    unfit(table)
    finish()
part = parts.choose_part(table)
{"all": mixture.show, "some": labels.some, "none": labels.none, "cell": cell.show}[part](table)
