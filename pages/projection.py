from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active import predicting, required
from pages.active.projected import line_in_use, numeric_columns
from pages.components.derivations import derivations
from pages.runtime.state import end_page
from pages.shell.frame import title
from pages.views.projection import projection
from pages.views.projection.derived import of_projection
from pages.views.projection.discriminants import sections
from pages.views.projection.equivalence import equivalence

opened = active.table_in_use()
title()
if isinstance(opened, active.UnfittableTable):
    required.unfittable(opened)
    derivations("projection", of_projection(opened, None))
    equivalence()
    end_page()
table: active.FittableTable = opened
columns = numeric_columns(table)
if len(columns) < 2:
    st.info(
        _(
            "A projection needs two columns of numbers, and this table has {n}. Choose another table; the known "
            "classes below work without one."
        ).format(n=len(columns))
    )
    derivations("projection", of_projection(table, None))
    equivalence()
    end_page()
picture = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    pair = projection.choose_columns(table, columns)
    line = projection.or_explain(lambda: line_in_use(table, pair))
    if line is not None:
        projection.choose_direction(line)
if line is not None and predicting.shows("projection/line"):
    with picture:
        projection.draw_line(table, pair, line)
    projection.line_in_words(table, pair, line)
derivations("projection", of_projection(table, pair))
sections(table, pair)
