"""Evidence is shown in bits and a log-loss as a probability until a person chooses otherwise; one place converts."""

from __future__ import annotations

import math
import re
from itertools import product

import pytest

from pages.active import units
from pages.runtime.state import Spec, State, decode, encode
from tests.apptest.opened import listed, opened, seen, showing
from tests.apptest.test_compare import said
from tests.apptest.test_doctor_page import settled

MELON = State(table="watermelon2", language="en", shelf=(Spec("laplace"),))
SIGNED = re.compile(r"\(([+−]\d+\.\d+)\)")


def reasons(state: State) -> tuple[str, list[float]]:
    app = opened("case", state)
    sentence = next(m.value for m in app.markdown if m.value.startswith("#### Judged"))
    return sentence, [float(v.replace("−", "-")) for v in SIGNED.findall(sentence)]


@pytest.mark.slow
def test_reasons_and_bars_are_in_bits_and_in_nats_where_that_was_chosen() -> None:
    sentence, bits = reasons(MELON)
    assert sentence.endswith("(bits).") and "nats" not in sentence
    sentence, nats = reasons(showing(MELON, unit="nats"))
    assert sentence.endswith("(nats).") and len(nats) == len(bits) >= 3
    assert bits == pytest.approx([v / math.log(2) for v in nats], abs=0.02)
    app = opened("case", MELON)
    assert "bits on." in said(app) or "Dotted" not in said(app)
    app.segmented_control(key="case_unit").set_value("nats").run()
    assert seen(app.session_state["state"], "unit") == "nats"
    assert decode(encode(app.session_state["state"])) == app.session_state["state"]
    assert re.search(r"from [+−\d.]+ nats on", said(app))


@pytest.mark.slow
def test_the_doctor_and_the_file_of_results_are_in_that_unit() -> None:
    numbers = []
    for unit in ("bits", "nats"):
        app = settled(opened("data", showing(State(table="penguins", language="en"), unit=unit)))
        text = "\n".join(m.value for m in app.markdown).replace("\\", "").replace("\u2060", "")
        shared = re.search(r"depend on one another given the class .*: ([\d.]+) (\w+)\), and", text)
        assert shared and shared[2] == unit
        file = opened("classify", showing(State(table="watermelon3a", language="en"), unit=unit))
        file.file_uploader(key="second_file").set_value(("rows.csv", "密度,含糖率\n0.697,0.46\n".encode(), "text/csv"))
        assert f" {unit})" in file.run().dataframe[0].value["reason"].iloc[0]
        numbers.append(float(shared[1]))
    assert numbers[0] == pytest.approx(numbers[1] / math.log(2), abs=0.02)


def test_in_chinese_too() -> None:
    sentence, bits = reasons_in_chinese(showing(State(**{**vars(MELON), "language": "zh"})))
    assert "（比特）" in sentence and "奈特" not in sentence and bits


def reasons_in_chinese(state: State) -> tuple[str, list[str]]:
    app = opened("case", state)
    sentence = next(m.value for m in app.markdown if "（比特）" in m.value or "（奈特）" in m.value)
    return sentence, SIGNED.findall(sentence)


def test_an_impossible_truth_has_probability_zero_and_an_endless_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen, text in (("percent", "0.0%"), ("bits", "∞"), ("nats", "∞")):
        monkeypatch.setattr(units, "_chosen", lambda _key, chosen=chosen: chosen)
        assert units.loss_text(math.inf) == text


def test_every_unit_has_a_name_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    names = set()
    for loss, evidence in product(("percent", "bits", "nats"), ("bits", "nats")):
        monkeypatch.setattr(units, "_chosen", lambda key, a=loss, b=evidence: a if key.name == "loss_unit" else b)
        names |= {units.loss_measure(), units.signed_evidence(math.log(2))}
    assert names == {"P(truth)", "log-loss, bits", "log-loss, nats", "+1.00 bits", "+0.69 nats"}


@pytest.mark.slow
def test_what_a_column_says_of_the_class_is_in_the_unit_chosen() -> None:
    by_unit = {}
    for unit in ("bits", "nats"):
        app = opened("model", showing(State(table="watermelon3", language="en"), unit=unit, columns_by="table"))
        by_unit[unit] = [float(cell.split()[0]) for cell in listed(app, "column_list").iloc[:, 0].astype(str)]
    assert by_unit["nats"][0] > 0
    assert [v * math.log(2) for v in by_unit["bits"]] == pytest.approx(by_unit["nats"], abs=6e-4)
