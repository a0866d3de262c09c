from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.shared.escape import md
from pages.shared.network import source
from pages.shared.network.ask import ask
from pages.shared.network.gibbs import gibbs
from pages.shared.network.learn import learn
from pages.shared.router import go
from pages.shared.state import bound, current, finish

TABS = {
    "learn": (_("learn"), _("Which arcs do the rows ask for?"), learn),
    "ask": (_("ask"), _("What does a finding change elsewhere?"), ask),
    "gibbs": (_("Gibbs"), _("How near does a random walk come to the exact answer?"), gibbs),
}
tab = current().seen("net_tab", "ask")
tab = tab if tab in TABS else "ask"
words, question, show = TABS[tab]
st.title(question)
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    st.segmented_control(
        _("Network: part of the page"),
        list(TABS),
        format_func=lambda name: TABS[name][0],
        required=True,
        label_visibility="collapsed",
        **bound("net_tab", tab, lambda s, name: s.showing(net_tab=name)),
    )
    st.selectbox(
        _("Network"),
        source.offered(),
        format_func=lambda name: md(source.title_of(name)),
        label_visibility="collapsed",
        width=360,
        **bound("net", source.chosen(), source.choose),
    )
try:
    network = source.source()
except BayesEngineError as error:
    st.error(error.message.local(md))
    go("pages/data.py", _("Change the columns on the page Data"), ":material/table:")
    finish()
show(network)
