"""What is read out is words: no label of a control holds LaTeX, Markdown or a backslash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.runtime.state import START, Spec, State
from tests.apptest.opened import uploaded
from tests.apptest.test_surfaces import elements
from tests.conftest import slowly

COLUMNS = "credit_amount,cap-shape,length (cm),a/b,own_telephone"
TABLE = "\n".join(
    [
        COLUMNS,
        *(f"{100 + i * 7 % 13},{'xyz'[i % 3]},{i % 5 / 2},{'ab'[i // 3 % 2]},{('no_one', 'yes')[i % 4 == 0]}"
          for i in range(40)),
    ]
).encode()  # fmt: skip
SPOKEN = {"button_group", "checkbox", "date_input", "file_uploader", "multiselect", "number_input", "radio",
          "selectbox", "slider", "text_area", "text_input"}  # fmt: skip
"""Elements whose label Streamlit takes for their `aria-label` as it is written."""
HEARD = {"label", "spoken", "find"}
"""What our own components take for it."""
NO_WORDS = re.compile(r"[\\$`^]|\*\*|:[a-z-]+\[|:material/|[{}]\S*_")
VIEWS: dict[str, tuple[str, State, dict[str, object]]] = {
    "case": ("case", State(row=3), {}),
    "case ask": ("case", State(row=3), {"case_view": "ask"}),
    "case fill": ("case", State(row=3), {"fill": True}),
    "case tan fill": ("case", State(row=3, shelf=(Spec(family="tan", preset="laplace"),)), {"fill": True}),
    "classify": ("classify", START, {}),
    "data": ("data", START, {}),
    "model": ("model", START, {}),
    "model ways": ("model", START, {"model_view": "ways"}),
    "decisions": ("decisions", START, {}),
    "dependence": ("dependence", START, {}),
    "dependence doubled": ("dependence", START, {"dependence_tab": "doubled"}),
    "network ask": ("network", START, {"net_tab": "ask", "net": "table"}),
    "network learn": ("network", START, {"net_tab": "learn", "net": "table"}),
    "network gibbs": ("network", START, {"net_tab": "gibbs", "net": "table"}),
    "hidden": ("hidden", START, {"em_part": "cell"}),
    "projection": ("projection", START, {"section": "planes"}),
    "laboratory": ("laboratory", START, {}),
    "start": ("start", START, {}),
}
QUICK = {"case ask", "case fill", "classify", "model", "network ask"}


def heard(app: AppTest) -> Iterator[tuple[str, str]]:
    for kind, proto in elements(app):
        if kind in SPOKEN:
            yield kind, proto.label
        if kind == "bidi_component":
            yield from ((f"{proto.component_name}: {name}", text) for name, text in _of(proto.json or proto.mixed.json))


def _of(sent: str) -> Iterator[tuple[str, str]]:
    waiting: list[Any] = [json.loads(sent or "null")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from ((name, text) for name, text in value.items() if name in HEARD and isinstance(text, str))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


@pytest.mark.parametrize("name", [name if name in QUICK else slowly(name) for name in VIEWS])
def test_labels_are_words(name: str) -> None:
    page, state, view = VIEWS[name]
    app = uploaded(TABLE, page=page, state=state, **view)
    if name == "classify":
        short = "\n".join(line.split(",", 1)[1] for line in TABLE.decode().splitlines())
        app.file_uploader(key="second_file").set_value(("second.csv", short.encode(), "text/csv")).run()
        assert not app.exception
    labels = list(heard(app))
    assert labels and not [(where, label) for where, label in labels if NO_WORDS.search(label)]
