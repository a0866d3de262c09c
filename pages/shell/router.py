"""Where every run of the script begins. Works whether Streamlit enters through app.py or straight through a page file.

Until a process has executed `st.navigation` once, a deep link such as /decisions runs that page without app.py;
`boot()`, the first line of every page, repairs it on the spot.

The engine takes a second or two to import. That is done in one thread (`loading`), which the launcher begins, or else
the first run; until it is done a run draws the frame alone and waits. What the first page does not need is imported
after it. In tests there is no server, and nothing to wait for.
"""

from __future__ import annotations

import contextvars

import streamlit as st

from bayes_engine.workbench import loading
from pages.runtime import private
from pages.shell import frame

_ROUTED = contextvars.ContextVar("routed", default=False)


def run_app() -> None:
    """One run: state from the URL, the frame around the page, the page, state to the URL."""
    begun = frame.begin()
    if private.running() is not None:
        engine = loading.imported(loading.PAGES)
        needed = engine if frame.is_first(begun) else loading.imported(*loading.OTHERS)
        if not engine.done():
            frame.draw(begun)
            needed.result()
            st.rerun()
        needed.result()
    from pages.shell.run import run

    token = _ROUTED.set(True)
    try:
        run(begun)
    finally:
        _ROUTED.reset(token)
        if private.running() is not None:
            loading.imported(*loading.OTHERS)


def boot() -> None:
    if not _ROUTED.get():
        run_app()
        st.stop()
