from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active import required
from pages.views.hidden import cell, labels, mixture, parts

st.title(_("What if the labels are hidden?"))
table = required.fittable(active.table_in_use())
part = parts.choose_part(table)
{"all": mixture.show, "some": labels.some, "none": labels.none, "cell": cell.show}[part](table)
