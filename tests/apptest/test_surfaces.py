"""Names, cells and labels that are markup come to every page as text: nothing in them is left to be interpreted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from google.protobuf.message import Message as Proto
from streamlit.testing.v1 import AppTest

from bayes_engine.table.read import read_table
from pages.active.files import TABLE
from pages.runtime.state import Spec, State, encode
from tests.apptest.hostile import CLASSES, COLUMNS, FILE, MARK, table
from tests.apptest.opened import APP, give, showing
from tests.conftest import PATIENCE, slowly

NB, AODE, TAN = Spec(), Spec(family="aode", preset="laplace"), Spec(family="tan", preset="laplace")
VIEWS: dict[str, tuple[str, State, bool]] = {  # a test's name: the page, its state, and whether the table has numbers
    "start": ("start", State(), True),
    "data": ("data", State(), True),
    "model": ("model", State(), True),
    "model number": ("model", showing(State(), column=4), True),
    "model ways": ("model", showing(State(), model_view="ways"), False),
    "model compare": ("model", showing(State(shelf=(NB, AODE)), model_view="compare"), True),
    "model roc": ("model", showing(State(shelf=(NB, AODE)), model_view="compare", compare_curve="roc"), False),
    "decisions": ("decisions", State(), True),
    "case": ("case", showing(State(row=3), factor=1), True),
    "case fill": ("case", showing(State(row=3), fill=True), False),
    "case ask": ("case", showing(State(row=3), case_view="ask"), False),
    "case aode": ("case", State(row=3, shelf=(AODE,)), False),
    "classify": ("classify", State(), True),
    "dependence": ("dependence", State(), True),
    "dependence super-parents": ("dependence", showing(State(), dependence_tab="super-parents"), False),
    "dependence twice": ("dependence", showing(State(), dependence_tab="twice"), False),
    "dependence doubled": ("dependence", showing(State(), dependence_tab="doubled"), False),
    "network learn": ("network", showing(State(), net_tab="learn", net="table"), False),
    "network ask": ("network", showing(State(), net_tab="ask", net="table"), False),
    "network tables": ("network", showing(State(), net_tab="ask", net="table", net_part="tables"), False),
    "network gibbs": ("network", showing(State(), net_tab="gibbs", net="table"), False),
    "hidden": ("hidden", State(), True),
    "hidden some": ("hidden", showing(State(), em_part="some"), True),
    "hidden cell": ("hidden", showing(State(), em_part="cell"), True),
    "projection": ("projection", State(), True),
    "projection planes": ("projection", showing(State(), section="planes"), True),
    "laboratory": ("laboratory", State(), True),
}

FIRST = {"data", "model", "case", "classify"}
"""Views that are opened by default: those that show most of what a file says."""
DRAWN = {"model", "case", "case ask", "dependence", "network learn", "projection planes", "model roc"}
"""Views whose Plotly figures hold names of the table."""


def app_in(page: str, state: State, *, numbers: bool) -> AppTest:
    """The page with the hostile table, run once without an exception."""
    content = table(numbers=numbers)
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, TABLE, FILE, content)
    app.query_params["s"] = encode(State(**{**state.__dict__, "table": f"upload:{mark}"}))
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception[0].message
    return app


# every text the server sends ---------------------------------------------------------------------------------------

LITERAL = {  # what is shown as it is: the kind of element and its field
    ("text", "body"), ("code", "code_text"), ("json", "body"), ("selectbox", "options"), ("selectbox", "raw_value"),
    ("multiselect", "options"), ("multiselect", "raw_values"), ("text_input", "default"), ("text_input", "value"),
    ("text_input", "placeholder"), ("text_area", "default"), ("text_area", "value"), ("text_area", "placeholder"),
    ("dataframe", "column_order"), ("plotly_chart", "spec"),
}  # fmt: skip
NAMES = {"id", "key", "url", "alt", "alt_text", "form_id", "element_id", "hash", "data", "file_name", "query_string"}
"""Fields that no kind of element renders."""


def texts(proto: Proto, kind: str = "") -> Iterator[tuple[str, str, str]]:
    """(kind of element, field, text) of everything in a message."""
    for field, value in proto.ListFields():
        for one in value if field.is_repeated and not isinstance(value, str | bytes) else [value]:
            if isinstance(one, Proto):
                yield from texts(one, field.name if kind in ("", "element", "add_block") else kind)
            elif isinstance(one, str):
                yield kind, field.name, one


def elements(app: AppTest) -> Iterator[tuple[str, Proto]]:
    """Every element and block of the app."""
    waiting: list[Any] = [app._tree]
    while waiting:
        node = waiting.pop()
        children = getattr(node, "children", {})
        waiting.extend(children.values())
        if isinstance(getattr(node, "proto", None), Proto):
            yield str(getattr(node, "type", "")), node.proto


INTERPRETED = re.compile(rf"(?:(?<!\\)(?:\\\\)*(?:[!-'*-/:-@\[-`{{-~]|(?<=\])\()){MARK}")
"""A mark of markup, or any other sign but a bracket that opens no address, right before MARK, without its backslash."""


def faults_of(kind: str, proto: Proto) -> list[str]:
    """The texts of an element in which something would be interpreted."""
    found = []
    for inner, name, text in texts(proto):
        if MARK not in text or name in NAMES:
            continue
        at = inner or kind
        if kind == "bidi_component" or (kind, name) in LITERAL or (at, name) in LITERAL:
            continue
        if (kind, name) == ("dataframe", "columns"):  # a column's label is drawn as it is, its help is not
            text = " ".join(str(c.get("help", "")) for c in json.loads(text).values() if c)
        shown = re.sub(r"\\text\{(?:[^{}\\]|\\[a-z]+\{\}|\\.)*\}", "", text)  # KaTeX's own escape
        if INTERPRETED.search(shown):
            found.append(f"{kind}.{name}: {text[:300]!r}")
    return found


HTML = re.compile(r"</?(?:b|i|br|sub|sup|extra|span(?: style=\"[^\"<>]*\")?) ?/?>")


def plotly_faults(spec: str) -> list[str]:
    """The texts of a figure that hold more of Plotly's HTML than our own tags, a template's field, or LaTeX."""
    found = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)
        elif isinstance(value, str) and MARK in value:
            rest = r"[<>$]|&(?!lt;|gt;|amp;|#36;|#123;)"
            if f"<b>{MARK}" in value or f"%{{{MARK}" in value or re.search(rest, HTML.sub("", value)):
                found.append(value[:300])

    walk(json.loads(spec))
    return found


@cache
def opened(name: str, language: str = "en") -> AppTest:
    page, state, numbers = VIEWS[name]
    return app_in(page, State(**{**state.__dict__, "language": language}), numbers=numbers)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name if name in FIRST else slowly(name) for name in VIEWS])
def test_nothing_of_a_file_is_interpreted(name: str) -> None:
    app = opened(name)
    if name == "classify":
        app.file_uploader(key="second_file").set_value((FILE, table(20), "text/csv")).run()
        assert not app.exception
    marked, drawn, faults = 0, 0, []
    for kind, proto in elements(app):
        marked += any(MARK in text for _kind, _name, text in texts(proto))
        faults += faults_of(kind, proto)
        if kind == "plotly_chart":
            spec = proto.spec or proto.figure.spec
            drawn += MARK in spec
            faults += plotly_faults(spec)
    assert not faults, "\n".join(faults)
    assert drawn or name not in DRAWN, "no name is drawn in a figure here"
    assert marked, "the table is not on this page"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start", "case", slowly("model compare")])
def test_nor_in_chinese(name: str) -> None:
    app = opened(name, "zh")
    assert not [fault for kind, proto in elements(app) for fault in faults_of(kind, proto)]


@pytest.mark.parametrize("text", ["**Zq**", "a <b>Zq</b>", "$Zq$", ":red[Zq]", "\\\\**Zq", "[x](Zq)", "\\\\[Zq"])
def test_the_rule_finds_what_is_bare(text: str) -> None:
    assert INTERPRETED.search(text)


@pytest.mark.parametrize("text", ["\\*\\*Zq", "x Zq", "\u2060\\<b\\>Zq", "\\$Zq\\$", "\\:red\\[Zq\\]"])
def test_the_rule_passes_what_is_escaped(text: str) -> None:
    assert not INTERPRETED.search(text)


def test_the_table_is_as_hostile_as_it_is_meant_to_be() -> None:
    reading = read_table(table(), name=FILE)
    assert len(reading.frame.columns) == len(COLUMNS) + 1
    assert set(reading.frame.iloc[:, -1]) == set(CLASSES)
