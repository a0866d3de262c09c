from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.datasets import dataset_cover, dataset_names
from bayes_engine.language import _, current_language
from pages import active
from pages.active import required
from pages.active.own_table import instead
from pages.components.losses import loss_editor
from pages.components.regions import axes_in_use, explain_case, no_axes, region_plane
from pages.components.verdict import verdict
from pages.runtime.escape import md
from pages.runtime.state import on_click, page_link
from pages.shell.frame import title
from pages.views.start.chapter_strip import chapter_strip

opened = active.table_in_use()
title(md(opened.question, 120))
table = required.fittable(opened)
fitted, axes = required.model(table, asked=True), axes_in_use(table)
ledger = explain_case(table, fitted)
verdict(table, ledger)

picture, controls = st.columns([3, 2], gap="medium")
with picture:
    if axes is None:
        no_axes()
    else:
        region_plane(table, fitted, axes, key="start_plane")
        st.caption(
            _(
                "Drag the case, or move it with the arrow keys. Regions are what is decided there, stronger in colour "
                "where more certain."
            )
        )
with controls:
    loss_editor(table, fitted, ledger, bus="start_plane")
    page_link("pages/case.py", _("See the working behind this posterior"), ":material/search:")

st.subheader(_("Five worked examples"))
EXAMPLES = [n for n in dataset_names() if dataset_cover(n).group == "worked-example" and n != "watermelon2"][:5]
for cell, name in zip(st.columns(len(EXAMPLES)), EXAMPLES, strict=True):
    info = dataset_cover(name)
    with cell.container(border=True, height="stretch", vertical_alignment="distribute"):
        with st.container():  # the buttons stand in one line beneath titles and questions of any length
            st.markdown(f"**{md(info.text('title', current_language()), 60)}**")
            st.caption(md(info.text("question", current_language()), 90))
        st.button(_("Open"), key=f"open_{name}", **on_click(lambda s, name=name: instead(s, s.on_table(name))))
chapter_strip()
page_link("pages/data.py", _("Upload my table"), ":material/upload_file:")
