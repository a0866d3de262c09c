"""A page of the app as a link opens it."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from bayes_engine.table.read import read_table
from pages.shared import data
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


def uploaded(content: bytes, **view: object) -> AppTest:
    """The page Dependence with a file, in this view, run once, without an exception."""
    mark = data.digest(content)
    app = AppTest.from_file(APP, default_timeout=30)
    reading = read_table(content, name="t.csv")
    app.session_state["uploads"] = {mark: data.Upload("t.csv", content, (), reading)}
    app.query_params["s"] = encode(State(table=f"upload:{mark}", language="en").showing(**view))
    app.switch_page("pages/dependence.py").run()
    assert not app.exception
    return app
