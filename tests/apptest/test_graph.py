"""The Python half of the graph: what is sent, and what is believed of what comes back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.errors import ParameterError
from bayes_engine.language import set_language
from pages.components.graph import Bar, Edge, Node, drawing, read_click

RAIN = Node("rain", "Rain", 0, 0, bars=(Bar("yes", 0.2, ("#0072B2", "#56B4E9"), True), Bar("no", 0.8)), tone="evidence")
GRASS = Node("grass", "Wet grass", 0, 1, sub="3 parents")
ARC = Edge("rain", "grass", "0.1234", 0.5)


@pytest.fixture(autouse=True)
def _in_english() -> None:
    set_language("en")


def sent(*args: object, **settings: object) -> dict:
    return json.loads(json.dumps(drawing(*args, **settings), allow_nan=False))  # type: ignore[arg-type]


def test_the_browser_gets_the_words_and_the_shares() -> None:
    shown = sent([RAIN, GRASS], [ARC], selected=("rain", "grass"), clicks=["state", "node"], label="garden")
    assert shown["selected"] == ["rain", "grass"] and shown["clicks"] == ["node", "state"]
    yes, no = shown["nodes"][0]["bars"]
    assert yes == {"label": "yes", "share": 0.2, "text": "0.200", "colour": ["#0072B2", "#56B4E9"], "selected": True,
                   "spoken": "Rain = yes: 0.200"}  # fmt: skip
    assert (no["colour"], no["selected"]) == ([], False)
    assert shown["edges"][0]["spoken"] == "Rain → Wet grass, 0.1234"
    assert sent([RAIN, GRASS], [replace(ARC, directed=False, label="")])["edges"][0]["spoken"] == "Rain – Wet grass"


@pytest.mark.parametrize(("share", "text"), [
    (1.0, "1.000"), (0.0, "0"), (0.9999998029, "0.9999998"), (1.5e-6, "1.50e-06"), (0.0104, "0.010"),
    (float("nan"), "–"),
])  # fmt: skip
def test_a_share_is_written_with_the_digits_it_needs(share: float, text: str) -> None:
    (bar,) = sent([replace(RAIN, bars=(Bar("yes", share),))], [])["nodes"][0]["bars"]
    assert bar["text"] == text and 0 <= bar["share"] <= 1


def test_a_node_has_room_for_what_a_script_may_write_into_it() -> None:
    shown = sent([replace(GRASS, subs=("wet", "d\u202ery"))], [])["nodes"][0]
    assert (shown["sub"], shown["subs"]) == ("3 parents", ["wet", "d ry"])


def test_text_from_data_is_cleaned_and_ids_are_not() -> None:
    shown = sent([Node("a\u202eb", "a\u202eb\n<b>", 0, 0, sub="s\x00", bars=(Bar("l\u200b", 1.0),))], [])["nodes"][0]
    assert (shown["id"], shown["label"], shown["sub"], shown["bars"][0]["label"]) == ("a\u202eb", "a b <b>", "s ", "l ")


def test_a_weight_out_of_range_stays_a_width() -> None:
    assert [sent([RAIN, GRASS], [replace(ARC, weight=w)])["edges"][0]["weight"] for w in (-1.0, 7.0, float("nan"))] == [
        0.0,
        1.0,
        0.0,
    ]


@pytest.mark.parametrize(("nodes", "edges", "said"), [
    ([RAIN, RAIN], [], "given twice"), ([RAIN, GRASS], [ARC, ARC], "given twice"),
    ([RAIN], [ARC], "ends at 'grass', which is no node"), ([replace(RAIN, x=float("inf"))], [], "no finite place"),
])  # fmt: skip
def test_a_graph_that_cannot_be_drawn_is_refused(nodes: list[Node], edges: list[Edge], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        drawing(nodes, edges)


@pytest.mark.parametrize("event", [("node", "rain"), ("edge", "rain", "grass"), ("state", "rain", 1)])
def test_a_click_on_what_is_drawn_is_believed(event: tuple) -> None:
    assert read_click(list(event), [RAIN, GRASS], [ARC]) == event
    others = {"node", "edge", "state"} - {event[0]}
    assert read_click(list(event), [RAIN, GRASS], [ARC], others) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [
    None, 3, "node", {}, [], ["node"], ["node", "snow"], ["node", 0], ["node", "rain", "grass"], ["node", ["rain"]],
    ["edge", "grass", "rain"], ["edge", "rain"], ["state", "rain", 2], ["state", "rain", -1], ["state", "rain", True],
    ["state", "rain", 0.0], ["state", "rain", "0"], ["state", "grass", 0], ["delete", "rain"],
])  # fmt: skip
def test_a_click_on_nothing_that_is_drawn_is_ignored(value: object) -> None:
    assert read_click(value, [RAIN, GRASS], [ARC]) is None


def _page() -> None:
    import streamlit as st

    from pages.components.graph import Bar, Clicking, Edge, Node, graph

    nodes = [Node("a", "A", 0, 0, bars=(Bar("yes", 1.0),)), Node("b", "B", 0, 1)]
    st.text(str(graph(nodes, [Edge("a", "b")], key="net", clicking=Clicking(print), label="net")))


def test_it_stands_on_a_page() -> None:
    page = AppTest.from_function(_page).run()
    assert not page.exception
    assert page.text[0].value == "None"
