"""The nomogram on One case: what the browser is sent adds up to the page's posterior."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from bayes_engine.logspace import normalize
from bayes_engine.workbench.derivation.nomogram import AttributeScale, AttributeValues
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, State
from pages.views.case.nomogram import MOST, read_cells
from tests.apptest.opened import opened, sent_to

LOSSES = ((0.0, 1.0), (10.0, 0.0))


def nomogram(**state: Any) -> tuple[Any, dict[str, Any]]:
    beside = state.pop("beside", "")
    asked = State(**state).showing(keys.CASE_VIEW.to("nomogram"), keys.NOMOGRAM_BESIDE.to(beside))
    app = opened("case", asked)
    return app, sent_to(app, "bayes_nomogram")


def all_sent(app: Any) -> list[dict[str, Any]]:
    found = [e.proto for e in app.get("bidi_component") if e.proto.component_name == "bayes_nomogram"]
    return [json.loads(proto.json or proto.mixed.json) for proto in found]


def posterior(sent: dict[str, Any]) -> list[float]:
    """From the terms that the browser gets, as decide.js makes it."""
    listed = [*sent["base"], *(sent["own"][j] for j in sent["scales"])]
    terms = np.array([[-math.inf if v is None else v for v in part["terms"]] for part in listed])
    shown: list[float] = normalize(terms.sum(axis=0)[None])[0].tolist()
    return shown


def test_the_terms_sent_are_the_golden_example_and_its_posterior() -> None:
    app, sent = nomogram(table="watermelon3", language="en")
    assert posterior(sent)[0] == pytest.approx(0.998692, abs=5e-7)
    assert any("P(good) = 0.9987" in e.value for e in app.markdown)
    texture = next(own for own in sent["own"] if own["text"] == "clear")
    assert texture["terms"] == pytest.approx([math.log(7 / 8), math.log(2 / 9)])
    assert sent["endless"] == [True, False] and sent["unit"]["word"] == "bits"


def test_losses_and_the_prior_of_use_travel_with_it() -> None:
    _app, sent = nomogram(table="watermelon3", language="en", losses=LOSSES, prior=(0.01, 0.99))
    assert sent["loss"] == [list(row) for row in LOSSES]
    assert [part["label"] for part in sent["base"]] == ["prior", "prior of use"]
    odds = 0.052379 / 6.8584e-05 * (9 / 8) * (0.01 / 0.99)
    assert posterior(sent)[0] == pytest.approx(odds / (1 + odds), rel=1e-4)


@pytest.mark.parametrize(
    ("table", "family", "why"),
    [("watermelon3", "tan", "depends on"), ("watermelon3", "aode", "super-parents"), ("iris", "qda", "all columns")],
)
def test_where_the_model_is_not_additive_the_page_says_why(table: str, family: str, why: str) -> None:
    state = State(table=table, language="en", shelf=(Spec(family=family),)).showing(keys.CASE_VIEW.to("nomogram"))
    app = opened("case", state)
    assert why in app.info[0].value and any("A nomogram needs a model that is additive" in c.value for c in app.caption)


def test_complement_naive_bayes_and_a_text_have_their_terms_as_points() -> None:
    app, sent = nomogram(table="sms-spam", language="en", shelf=(Spec("laplace", (), "complement"),))
    assert {"claim", "prize"} <= {mark["label"] for mark in sent["own"][0]["marks"]}
    marks, terms = sum(mark["nats"] for mark in sent["own"][0]["marks"]), sent["own"][0]["terms"]
    assert marks == pytest.approx(terms[0] - terms[1], rel=0.1)  # on the calibrated ruler, as the text is
    said = next(e.value for e in app.markdown if "P(spam) = " in e.value)
    assert f"{posterior(sent)[1]:.4f}" in said


@pytest.mark.parametrize("beside", ["smoothing", "logistic"])
def test_two_stand_side_by_side_on_one_ruler(beside: str) -> None:
    app, _sent = nomogram(table="loan", language="zh", beside=beside)
    drawn = all_sent(app)
    assert len(drawn) == 2 and drawn[0]["extent"] == drawn[1]["extent"] and drawn[0]["endless"] == drawn[1]["endless"]
    assert posterior(drawn[0]) != posterior(drawn[1])


def test_many_attributes_are_folded_and_still_add_up() -> None:
    app, sent = nomogram(table="digits", language="en")
    assert len(sent["scales"]) == MOST and sent["base"][-1]["label"].endswith("others")
    assert any("of largest range" in c.value for c in app.caption)
    said = next(e.value for e in app.markdown if "P(7) = " in e.value)
    assert f"P(7) = {posterior(sent)[7]:.8f}" in said


def test_what_a_browser_says_is_read_as_values_that_have_a_point_or_not_at_all() -> None:
    wind = AttributeScale("wind", AttributeValues(("weak", "strong")), np.zeros((2, 2)), np.zeros(2), 0)
    assert read_cells([[0, 1]], [wind]) == {"wind": "strong"}
    forged: tuple[Any, ...] = (None, "x", [[0, 2]], [[1, 0]], [[0, -1]], [[0, True]], [[0]], [0], [[0, 0.0]], {"0": 1})
    assert [read_cells(value, [wind]) for value in forged] == [None] * len(forged)
