from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.shared import data, dependence, dial, twice
from pages.shared.escape import md
from pages.shared.ready import unfit
from pages.shared.router import go
from pages.shared.state import finish

table = data.table_in_use()
st.title(_("Are the attributes independent, given the class, and does it matter?"))
if table.parts is None:
    unfit(table)
    finish()
try:
    found = dependence.study(table)
except BayesEngineError as error:
    st.error(error.message.local(md))
    go("pages/data.py", _("Change the columns on the page Data"), ":material/table:")
    finish()
dependence.answer(table, found)
matters = st.container()  # filled last: it takes the longest
dependence.sections(
    {
        "pairs": lambda: dependence.pairs(table, found),
        "super-parents": lambda: dependence.super_parents(table, found),
        "dial": lambda: dial.dial(table),
        "twice": lambda: twice.counted_twice(table),
        "doubled": lambda: twice.duplicates(table),
        "examples": twice.live_examples,
    }
)
if found.pairs:
    with matters:
        dependence.cost(table)
for note in table.parts.notes:
    st.caption(":material/info: " + note.local(md))
