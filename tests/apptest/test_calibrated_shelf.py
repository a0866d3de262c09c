"""A calibrated model on the shelf: Decisions, One case and Compare judge by it; its ledger ends in the calibration."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import score
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.calibrated import CalibratedClassifier, calibrate
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.numerals import certain, number
from pages.runtime.state import Spec, State, decode, encode
from tests.apptest.opened import opened, sent_to, showing, uploaded
from tests.conftest import slowly

LOSSES = ((0.0, 1.0), (5.0, 0.0))


def shelf(method: str, preset: str = "textbook", family: str = "naive-bayes") -> tuple[Spec, ...]:
    return (Spec(preset, (("calibration", method),), family),)


def said(app: object) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.subheader])  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def melons() -> tuple[object, object, tuple[str, ...]]:
    table = load_dataset("watermelon3a")
    X, y = table.frame[list(table.schema.features.names)], table.frame[table.info.target]
    return X, y, table.schema.target.levels  # type: ignore[union-attr]


def test_decisions_judges_by_the_calibrated_posterior_and_prices_it(melons: tuple) -> None:
    X, y, classes = melons
    model = CalibratedClassifier(NaiveBayes(**PRESETS["textbook"]), method="platt").fit(X, y)
    p = model.predict_proba(X.iloc[:1])[0]
    app = opened("decisions", State(language="en", shelf=shelf("platt"), losses=LOSSES))
    assert f"= {certain(p.max())}" in said(app)
    held = calibrate(held_out(model.estimator_, X, y).in_order(classes), "platt")
    risk = estimated_risk(held, LossMatrix(classes, classes, LOSSES)).risk
    assert sent_to(app, "bayes_consequences")["report"]["risk"] == pytest.approx(risk, abs=1e-9)


def test_the_working_ends_in_the_calibration_and_its_sum_is_the_posterior(melons: tuple) -> None:
    X, y, _classes = melons
    model = CalibratedClassifier(NaiveBayes(**PRESETS["textbook"]), method="platt").fit(X, y)
    ledger = model.explain(X.iloc[:1])
    app = opened("case", showing(State(language="en", shelf=shelf("platt")), factor=3, of=0))
    assert "**calibration**" in said(app)  # the last factor is opened
    assert "q/p" in said(app)
    assert f"P(good) = {certain(ledger.posterior()[0].max())}" in said(app)
    assert "calibration (−" in said(app)  # the verdict names what speaks against


def test_a_mean_of_models_shows_what_calibration_makes_of_it() -> None:
    app = opened("case", State(table="watermelon2", language="en", shelf=shelf("platt", family="aode")))
    lines = [m.value for m in app.markdown if "calibration" in m.value and "times" in m.value]
    assert len(lines) == 2
    mean = next(m.value for m in app.markdown if "tfrac{1}{6}" in m.value)
    assert lines[0].split("= ")[1].split(" ")[0] in mean  # it starts from the mean


def test_the_row_left_out_is_judged_by_the_same_calibrator(melons: tuple) -> None:
    X, y, _classes = melons
    model = CalibratedClassifier(NaiveBayes(**PRESETS["textbook"]), method="temperature").fit(X, y)
    short = NaiveBayes(**PRESETS["textbook"]).fit(X, y).forget(X.iloc[:1], y.iloc[:1])
    p = model.around(short).predict_proba(X.iloc[:1])[0].max()
    app = opened("case", showing(State(language="en", shelf=shelf("temperature"), row=0), left_out=True))
    assert f"= {certain(p)}" in said(app)


def test_questions_are_weighed_before_calibration() -> None:
    raw = opened("case", showing(State(language="en", table="watermelon2"), case_view="ask"))
    app = opened("case", showing(State(language="en", table="watermelon2", shelf=shelf("platt")), case_view="ask"))
    assert "a calibrator is learnt from whole rows" in said(app)
    assert [h.value for h in raw.subheader] == [h.value for h in app.subheader]


@pytest.mark.slow
def test_compare_judges_it_as_it_stands_and_the_choice_for_all_overrules() -> None:
    two = (Spec("laplace"), *shelf("isotonic", "laplace"))
    table = load_dataset("breast-cancer")
    X, y = table.frame[list(table.schema.features.names)], table.frame[table.info.target]
    own = held_out(NaiveBayes(**PRESETS["laplace"], schema=table.schema).fit(X, y), X, y).in_order(
        table.schema.target.levels  # type: ignore[union-attr]
    )
    state = State(table="breast-cancer", language="en", shelf=two, active=1)
    app = opened("model", showing(state, model_view="compare"))
    figure = "".join(e.proto.spec for e in app.get("plotly_chart"))
    for held in (own, calibrate(own, "isotonic")):
        assert number(score(held)["brier"], 3) in figure
    assert "before calibration" in said(app)
    for_all = opened("model", showing(state, model_view="compare", calibrator="platt"))
    figure = "".join(e.proto.spec for e in for_all.get("plotly_chart"))
    assert figure.count(number(score(calibrate(own, "platt"))["brier"], 3)) >= 2


@pytest.mark.slow
def test_the_parameter_travels_and_a_forged_one_is_passed_over() -> None:
    app = opened("model", showing(State(language="en"), knobs=True))
    (parameter,) = (s for s in app.selectbox if s.label == "Calibration")
    parameter.select("platt").run()
    assert app.session_state["state"].shelf == shelf("platt")
    assert decode(encode(app.session_state["state"])).shelf == shelf("platt")  # type: ignore[union-attr]
    forged = opened("decisions", State(language="en", shelf=shelf("beta")))
    plain = opened("decisions", State(language="en"))
    asked = [sent_to(app, "bayes_consequences")["posterior"] for app in (forged, plain)]
    assert asked[0] == asked[1]


RARE = ("a,b,y\n" + "".join(f"{'uv'[i % 2]},{i % 5},{'q' if i == 0 else 'pr'[i % 2]}\n" for i in range(15))).encode()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["temperature", slowly("platt"), slowly("isotonic")])
def test_a_class_of_one_row_breaks_no_page(method: str) -> None:
    state = State(columns=((2, "target", "", ()),), shelf=shelf(method, "laplace"))
    for page, view in (("model", {"model_view": "compare", "calibrator": method}), ("decisions", {}), ("case", {})):
        app = uploaded(RARE, page=page, state=state, **view)
        assert np.all([not w.value.startswith("Traceback") for w in app.warning])
