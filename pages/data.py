from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.language import _
from pages import active
from pages.active import required
from pages.active.files import TABLE
from pages.runtime.state import current
from pages.shell.frame import title
from pages.views.data import source, target
from pages.views.data.columns_editor import columns_editor, levels_editor
from pages.views.data.doctor.findings import examine
from pages.views.data.style import style

style()
title()
drop, shelf = st.columns([1, 2 if TABLE.named(current()) else 3], gap="medium")
with drop:
    source.file_drop()
with shelf:
    source.worked_examples()
source.large_file_drop()

table = active.table_in_use()
source.origin(table)
if isinstance(table, active.UnfittableTable):
    required.why_unfittable(table)
what, classes = st.columns([1, 1], gap="medium")
with what:
    target.choose_target(table)
with classes, st.container(key="class_counts"):
    target.class_counts(table)

looked_at, by_hand = st.container(), st.container()
with by_hand:  # first: all of it works while the table is examined
    with st.expander(_("All columns: their roles and kinds"), icon=":material/view_column:"):
        columns_editor(table)
    levels_editor(table)
with looked_at:
    examine(table)
