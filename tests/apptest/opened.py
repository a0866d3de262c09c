"""A page of the app as a link opens it."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.shared.state import START, State, encode

APP = str(Path(__file__).parents[2] / "app.py")


def opened(page: str, state: State = START) -> AppTest:
    """`pages/<page>.py` in this state, run once, without an exception."""
    app = AppTest.from_file(APP, default_timeout=30)
    if token := encode(state):
        app.query_params["s"] = token
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app
