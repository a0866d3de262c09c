"""Whether a session is on one's own computer: nobody else could have asked for it."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import streamlit as st

from bayes_engine.workbench.hosts import is_own
from bayes_engine.workbench.launch import CLASSROOM
from pages.runtime import private

WHETHER = "BAYES_WORKBENCH_AUTOSAVE"
"""The environment variable that turns off, where it is 0, that anything is saved by itself."""
PASSED_ON = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
"""What a proxy adds to a request that it passes on."""


def may_save() -> bool:
    """Whether it is not turned off that work is saved by itself."""
    return os.environ.get(WHETHER, "1") != "0"


def is_served_alone() -> bool:
    """Whether this session is on one's own computer: the server is bound to it, serves no other name and no classroom,
    the browser calls it by such a name, and nothing has passed the request on."""
    known: bool | None = st.session_state.get("served_alone")
    if known is None:
        known = st.session_state["served_alone"] = private.running() is not None and _alone()
    return known


def _alone() -> bool:
    served = [st.get_option("server.address") or "", *(st.get_option("server.allowedHosts") or ("*",))]
    headers = st.context.headers
    asked = [f"//{headers.get('Host', '')}", headers.get("Origin", "")]
    return (
        os.environ.get(CLASSROOM, "0") in ("", "0")
        and all(map(is_own, served))
        and all(is_own(_host(address)) for address in asked)
        and not any(name in headers for name in PASSED_ON)
    )


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
