from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active.ready import unfit
from pages.views.projection import projection
from pages.views.projection.sections import sections

table = active.table_in_use()
st.title(_("Onto which line do the classes come apart?"))

pair: tuple[str, str] | None = None
columns = [] if table.parts is None else projection.numeric_columns(table)
if table.parts is None:
    unfit(table)
elif len(columns) < 2:
    st.info(
        _(
            "A projection needs two columns of numbers, and this table has {n}. Choose another one on the left; the "
            "known classes below work without a table."
        ).format(n=len(columns))
    )
else:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pair = projection.choose_columns(table, columns)
        line = projection.tried(lambda: projection.line_in_use(table, pair))
        if line is not None:
            projection.choose_direction(line)
    if line is not None:
        projection.draw_line(table, pair, line)
        projection.tell(table, pair, line)
sections(table, pair)
