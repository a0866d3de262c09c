from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active.ready import unfit
from pages.runtime.state import bound, current
from pages.views.projection import discriminants, projection
from pages.views.projection.equivalence import equivalence

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

# one question at a time below it
everything = tuple(v.name for v in columns)
sections = {"demo": _("Fisher = LDA = Bayes?")}
if pair is not None:
    sections |= {"dial": _("LDA ↔ QDA"), "naive": _("Before naive Bayes")}
if pair is not None and len(table.classes) > 2:
    sections = {"planes": _("All columns on two directions"), **sections}
first = next(iter(sections))
section = current().seen("section", first)
section = section if section in sections else first
if len(sections) > 1:
    st.segmented_control(
        _("Look further"),
        list(sections),
        format_func=sections.get,
        required=True,
        **bound("section", section, lambda s, name: s.showing(section=name)),
    )
if section == "demo":
    equivalence()
elif section == "planes":
    projection.tried(lambda: discriminants.on_planes(table, everything))
elif section == "dial" and pair is not None:
    projection.tried(lambda: discriminants.dial(table, pair, everything))
elif section == "naive":
    projection.tried(lambda: discriminants.before_naive(table, everything))
