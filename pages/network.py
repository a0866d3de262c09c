from pages.shell.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.active import network_source as source
from pages.active import required
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import end_page
from pages.runtime.widgets import choose, control
from pages.shell.frame import title
from pages.views.network.ask import ask
from pages.views.network.gibbs import gibbs
from pages.views.network.hidden_node import hidden_node
from pages.views.network.learn import learn

TABS = {
    "learn": (_("Learn"), learn),
    "ask": (_("Ask"), ask),
    "hidden": (_("Hidden node"), hidden_node),
    "gibbs": (_("Gibbs"), gibbs),
}
title()
with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
    tabs = {tab: words for tab, (words, _show) in TABS.items()}
    tab = choose(_("Network: part of the page"), keys.NET_TAB, tabs, titled=False)
    if tab in ("ask", "gibbs"):  # the others learn from the table in use
        st.selectbox(
            _("Network"),
            source.source_choices(),
            format_func=lambda name: clean(source.title_of(name), 60),
            label_visibility="collapsed",
            width=360,
            **control(keys.NET.widget, source.chosen_source(), source.with_source),
        )
    if source.is_file_missing():
        st.warning(
            _(
                "This link refers to a network file that was opened elsewhere. Open the same file under "
                "Ask, Exchange, and everything is as it was; until then you see the first network."
            )
        )
try:
    network = source.source()
except BayesEngineError as error:
    required.columns_refused(error)
    end_page()
try:
    TABS[tab][1](network)
except BayesEngineError as error:
    st.error(error.message.local(md))
