"""The browser's word that it shows the address which the session wrote last."""

from __future__ import annotations

import time

import streamlit as st

from pages.components.component import component
from pages.runtime.state import address_heard, unheard_address, widget_message

_component = component(__file__, "bayes_address")
KEY = "address"


@st.fragment
def listen() -> None:
    """Ask the browser to say so, in a run of this fragment alone."""
    number, token = unheard_address()
    asked = time.monotonic() if number else 0.0  # anew in each run, until it is said
    _component(key=KEY, data={"number": number, "address": token, "asked": asked}, on_heard_change=_heard)


def _heard() -> None:
    address_heard(widget_message(KEY, "heard"))
