"""Digits on screen: a case that is drawn, what its pixels say, a class as a picture; all numbers are the engine's."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.workbench.derivation.derive import Working, derive
from bayes_engine.workbench.derivation.log_odds import log_odds_terms
from bayes_engine.workbench.derivation.pixels import class_images
from pages.active import in_use
from pages.runtime.state import LONGEST, Spec, State, decode, encode
from pages.views.case.editor import with_cells
from pages.views.case.pixel_case import read_ink
from tests.apptest.opened import opened, sent_to, showing

DIGITS = load_dataset("digits")
X, y = DIGITS.frame.drop(columns="digit").astype(float), DIGITS.frame["digit"]
NAMES = list(X.columns)
FIRST = State(table="digits")


@cache
def model() -> NaiveBayes:
    return NaiveBayes(**PRESETS[DIGITS.info.preset], **DIGITS.info.parameters).fit(X, y)


def expected(case: Any) -> Working:
    return derive(model(), case, classes=tuple(range(10)))


def drawn(at: AppTest, ink: list[int | None]) -> AppTest:
    """After a stroke came back from the browser, as the page's callback takes it."""
    image = DIGITS.info.image
    assert image is not None
    edit = read_ink({"ink": ink}, image)
    assert edit is not None
    state = at.session_state["state"]
    cells = dict(zip(image.names, edit, strict=True))
    at.session_state["state"] = with_cells(state, in_use(state), cells)
    at.run()
    assert not at.exception
    return at


@pytest.mark.slow
def test_the_map_beside_the_digit_is_the_ledger_and_its_sum_the_log_odds() -> None:
    at = opened("case", showing(FIRST, unit="nats"))
    part, case = sent_to(at, "bayes_pixels"), X.iloc[[7]]
    worked = expected(case)
    assert part["draw"]["ink"] == case.iloc[0].tolist()
    sheet = part["sheets"][1]
    assert (sheet["for"]["label"], sheet["against"]["label"]) == ("7", "8")
    balance = log_odds_terms(worked.ledger, 7, 8)
    weights = {worked.ledger.rows[w.position][0].child: w.nats for w in balance.weights}
    for name, nats in zip(NAMES, sheet["values"], strict=True):
        assert nats == pytest.approx(weights[name], abs=1e-12)
    assert balance.total is not None
    said = next(c.value for c in at.caption if "All pixels together" in c.value)
    numbers = [float(v.replace("−", "-")) for v in re.findall(r"[+−]\d+\.\d+", said)]
    assert numbers == pytest.approx([sum(sheet["values"]), weights["digit"], balance.total], abs=5e-5)


@pytest.mark.slow
def test_the_two_classes_are_chosen_and_the_map_follows() -> None:
    at = opened("case", showing(FIRST, **{"for": 9, "against": 4}))
    worked, sheet = expected(X.iloc[[7]]), sent_to(at, "bayes_pixels")["sheets"][1]
    total = log_odds_terms(worked.ledger, 9, 4).total
    assert total is not None
    assert (sheet["for"]["label"], sheet["against"]["label"]) == ("9", "4")
    assert sum(sheet["values"]) == pytest.approx(total - math.log((180 + 1) / (181 + 1)), abs=1e-9)
    at.selectbox(key="case_against").select(0).run()
    assert sent_to(at, "bayes_pixels")["sheets"][1]["against"]["label"] == "0"


@pytest.mark.slow
def test_a_drawn_digit_is_judged_and_fits_into_a_link() -> None:
    three = [int(v) for v in X.iloc[13]]  # a three of the table, with one pixel changed and one not seen
    three[27], three[0] = 9, None
    at = drawn(opened("case", FIRST), three)
    case = X.iloc[[13]].assign(p33=9.0, p00=float("nan"))
    worked = expected(case)
    assert (worked.classes[worked.position], worked.posterior[3]) == (3, pytest.approx(0.9999997, abs=5e-8))
    assert any("Judged **3**, P(3) = 0.9999997" in m.value for m in at.markdown)
    state = at.session_state["state"]
    assert state.case[27] == 9 and state.case[0] is None and state.row == -1
    token = encode(state)
    assert decode(token) == state
    assert len(token) < LONGEST / 3
    part = sent_to(at, "bayes_pixels")
    assert part["draw"]["ink"] == [None if v is None else float(v) for v in three]
    assert part["sheets"][1]["values"][0] is None


@pytest.mark.slow
def test_what_outweighs_all_others_is_marked_as_beyond_the_scale() -> None:
    gauss = replace(FIRST, shelf=(Spec("laplace", (("var_floor", 0.01),)),))
    stray = tuple(int(v) for v in X.iloc[7].where(X.columns != "p70", 16))
    sheet = sent_to(opened("case", replace(gauss, case=stray)), "bayes_pixels")["sheets"][1]
    assert sheet["beyond"]
    assert sheet["reach"] < 100 < 1e6 < sheet["values"][NAMES.index("p70")]
    assert sheet["values"][0] is None  # blank in every row: a Gaussian has no factor
    assert not sent_to(opened("case", FIRST), "bayes_pixels")["sheets"][1]["beyond"]


def test_the_longest_drawing_still_fits() -> None:
    noise = tuple((i * 7919 + i * i * 31) % 17 for i in range(64))
    assert len(encode(replace(FIRST, case=noise))) < LONGEST / 3


@pytest.mark.slow
def test_the_bars_are_few_and_say_how_many_they_leave_out() -> None:
    at = opened("case", FIRST)
    bars = next(c.proto for c in at.get("plotly_chart") if "waterfall" in c.proto.id)
    assert "54 others" in bars.spec
    assert not [n for n in at.number_input if n.key and re.fullmatch(r"case_\d+", n.key)]


@pytest.mark.slow
def test_an_exercise_has_some_of_the_pixels_only_and_lists_them() -> None:
    at = opened("case", showing(FIRST, exercise=3))
    assert not [e for e in at.get("bidi_component") if e.proto.component_name == "bayes_pixels"]
    assert any("feature" in frame.value.columns for frame in at.dataframe)


@pytest.mark.slow
def test_a_pixel_that_is_no_feature_makes_it_a_table_again() -> None:
    at = opened("case", replace(FIRST, columns=((5, "ignore", "", ()),)))
    assert not [e for e in at.get("bidi_component") if e.proto.component_name == "bayes_pixels"]
    assert at.number_input(key="case_0").value is not None


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"ink": None},
        {"ink": [0] * 63},
        {"ink": [0] * 63 + [17]},
        {"ink": [0] * 63 + [-1]},
        {"ink": [0] * 63 + [float("nan")]},
        {"ink": [0] * 63 + [True]},
        {"ink": ["<b>"] * 64},
    ],
)
def test_what_is_no_picture_is_not_taken(sent: Any) -> None:
    assert DIGITS.info.image is not None
    assert read_ink(sent, DIGITS.info.image) is None


@pytest.mark.slow
def test_each_class_as_a_picture_is_what_the_model_believes() -> None:
    at = opened("model", FIRST)
    part = sent_to(at, "bayes_pixels")
    found = class_images(model(), X, y, NAMES, range(10))
    assert found.inked is not None
    assert [sheet["title"] for sheet in part["sheets"]] == [*map(str, range(10)), "I(x; c)"]
    assert part["sheets"][3]["values"] == pytest.approx(found.inked[3].tolist(), abs=1e-6)
    at.segmented_control(key="pictured").select("mean").run()
    assert sent_to(at, "bayes_pixels")["sheets"][3]["values"] == pytest.approx(found.mean[3].tolist(), abs=1e-6)


@pytest.mark.slow
def test_gaussian_pixels_have_a_mean_and_a_deviation_and_the_chosen_one_is_framed() -> None:
    at = opened(
        "model", showing(replace(FIRST, shelf=(Spec("laplace", (("var_floor", 0.1),)),)), column=27, pictured="sd")
    )
    part = sent_to(at, "bayes_pixels")
    of_three = X.loc[(y == 3).to_numpy(), "p33"]
    assert part["picked"] == 27
    assert part["sheets"][3]["values"][27] == pytest.approx(of_three.std(), abs=1e-6)
    assert any("Framed: p33." in c.value for c in at.caption)
    assert [o.content for o in at.segmented_control(key="pictured").proto.options] == ["mean ink", "standard deviation"]


def test_the_opening_model_is_the_one_its_table_names() -> None:
    state = opened("case", FIRST).session_state["state"]
    assert state.shelf == ()
    at = opened("model", replace(FIRST, shelf=(Spec("no such preset"),)))  # a forged link
    assert any("equal width" in c.value for c in at.caption)


def test_what_to_ask_names_the_steps_of_ink() -> None:
    at = opened("case", showing(FIRST, case_view="ask"))
    steps = [m.value for m in at.markdown if re.match(r"\u2060?\\?(≤|>) \d|\d+ – \d+", m.value)]
    assert len(steps) == 4
    assert not any("any number" in m.value for m in at.markdown)


@pytest.mark.slow
def test_regions_open_on_two_pixels_that_differ() -> None:
    at = opened("decisions", FIRST)
    chosen = [at.selectbox(key=key).value for key in ("axis_x", "axis_y")]
    assert [NAMES[i] for i in chosen] == ["p42", "p45"]
