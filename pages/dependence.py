from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import predicting, required
from pages.runtime.escape import md
from pages.runtime.state import end_page
from pages.shell.frame import title
from pages.views.dependence import answer, double_counting, families, parents
from pages.views.dependence.dependences import dependences_of
from pages.views.dependence.sections import pairs, sections

title()
table = required.fittable(active.table_in_use())
if texts := active.text_columns(table):
    st.info(
        _("{column} is a text. Its words are taken as independent of each other and of all "
          "columns, given the class: a text has no table of values to test that with. Words that "
          "come together, as «call now», count twice, so the posterior is overconfident; a "
          "calibration (Model, Settings) corrects that. Set the text aside to look at the other "
          "columns.").format(column=md(table.column(texts[0]), 40))
    )  # fmt: skip
    required.change_columns()
    end_page()
try:
    dependences = dependences_of(table)
except BayesEngineError as error:
    required.columns_refused(error)
    end_page()
if predicting.shows("dependence/answer"):
    with st.container(key="dependence_sentence"):
        answer.which_pairs_depend(table, dependences)
matters = st.container()  # filled last: it takes the longest
sections(
    {
        "pairs": lambda: pairs(table, dependences),
        "super-parents": lambda: parents.super_parents(table, dependences),
        "dial": lambda: families.compare_families(table),
        "twice": lambda: double_counting.double_counting_of_case(table),
        "doubled": lambda: double_counting.duplicates(table),
        "examples": double_counting.live_examples,
    }
)
if dependences.pairs and predicting.shows("dependence/answer"):
    with matters:
        answer.cost(table)
for note in table.parts.notes:
    st.caption(":material/info: " + note.local(md))
