"""The tab *ask*: one drawing, and beside it what is asked of the network."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bayes_engine.errors import TooLarge
from bayes_engine.language import _
from pages.active import predicting
from pages.active.network_source import Source
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.widgets import choose, sets
from pages.views.network.beliefs import beliefs
from pages.views.network.elimination import elimination
from pages.views.network.exchange import exchange
from pages.views.network.separation import separation
from pages.views.network.tables import tables


def ask(source: Source) -> None:
    """The network, and the part of the tab that is open."""
    parts: dict[str, tuple[str, str, Callable[[Source], None]]] = {
        "beliefs": (_("Findings"), ":material/touch_app:", beliefs),
        "tables": (_("Tables"), ":material/table_chart:", tables),
        "separation": (_("d-separation"), ":material/call_split:", separation),
        "elimination": (_("Elimination"), ":material/functions:", elimination),
        "exchange": (_("Exchange"), ":material/swap_vert:", exchange),
    }
    titles = {name: f"{icon} {title}" for name, (title, icon, _draw) in parts.items()}
    part = choose(_("What is asked"), keys.NET_PART, titles, titled=False)
    if not predicting.shows(f"network/{part}"):
        tables(source)
        return
    try:
        parts[part][2](source)
    except TooLarge as error:
        st.error(error.message.local(md))
        st.button(
            _("Sample it on the tab Gibbs"),
            icon=":material/casino:",
            key="net_to_gibbs",
            **sets(keys.NET_TAB.to("gibbs")),
        )
