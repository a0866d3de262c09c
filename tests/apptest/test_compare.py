"""The page Model, view Compare: the shelf and logistic regression on the same rows, to the engine's digits."""

from __future__ import annotations

import math
import re
from itertools import repeat

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import compare, differences, score
from bayes_engine.decision.curves import best_point, error_costs, one_against_rest, threshold_sweep
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.calibrated import calibrate
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.discriminative import discriminative_counterpart
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.numerals import number
from pages.runtime.state import Spec, State
from tests.apptest.opened import edited, listed, opened, showing
from tests.conftest import slowly

LOSSES = ((0.0, 1.0), (5.0, 0.0))
TUMOURS = showing(
    State(table="breast-cancer", language="en", losses=LOSSES, shelf=(Spec("laplace"), Spec(family="lda"))),
    model_view="compare",
)


def frame(app: AppTest, key: str, columns: str) -> dict[str, dict[str, str]]:
    """The table of this key, by model; its columns after that under these names."""
    found = listed(app, key).set_axis(["model", *columns.split()], axis=1)
    return {row["model"]: row for row in found.to_dict("records")}


def numbers(app: AppTest) -> dict[str, dict[str, str]]:
    return frame(app, "compare_numbers", "above verdict risk balanced mcb dsc")


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


class Engine(dict):  # type: ignore[type-arg]
    """Models by name, each held out; and the repeated cross-validations of which that was the first."""

    def __init__(self, held: dict[str, HeldOut], runs: dict[str, list[HeldOut]]) -> None:
        super().__init__(held)
        self.runs = runs


@pytest.fixture(scope="module")
def engine() -> Engine:
    """The same three models held out by the engine alone."""
    data = load_dataset("breast-cancer")
    X = data.frame[list(data.schema.features.names)]
    y = data.frame[data.info.target]
    schema = data.schema
    models = {
        "1 · naive Bayes": NaiveBayes(**PRESETS["laplace"], schema=schema).fit(X, y),
        "2 · LDA": LinearDiscriminantAnalysis(schema=schema).fit(X, y),
        "logistic regression": discriminative_counterpart(schema).fit(X, y),
    }
    classes = data.schema.target.levels  # type: ignore[union-attr]
    runs = {
        name: [held_out(m, X, y, in_folds=True, seed=seed).in_order(classes) for seed in range(3)]
        for name, m in models.items()
    }
    return Engine({name: of[0] for name, of in runs.items()}, runs)


@pytest.mark.slow
def test_risk_differences_and_words_are_the_engines(engine: Engine) -> None:
    app = opened("model", TUMOURS)
    shown = numbers(app)
    assert list(shown) == list(engine)
    loss = LossMatrix(engine["2 · LDA"].classes, engine["2 · LDA"].classes, LOSSES)
    for name, held in engine.items():
        report = estimated_risk(held, loss)
        low, high = (number(v, 3) for v in report.interval)
        assert shown[name]["risk"] == f"{number(report.risk, 3)} [{low}, {high}]"
    assert shown["logistic regression"]["verdict"] == "the best"
    found = differences(engine, "risk", loss, runs=engine.runs).set_index(["one", "other"])
    row = found.loc[("1 · naive Bayes", "logistic regression")]
    assert row["real"]
    assert shown["1 · naive Bayes"]["verdict"] == f"yes, p = {number(row['p'], 2)}"
    low, high = (f"{row[end]:+.3f}" for end in ("low", "high"))
    sentence = f"Worse on average over samples of 569 rows: **1 · naive Bayes** by +{row['difference']:.3f} "
    assert sentence + f"[{low}, {high}]" in said(app)
    assert "the variance between 3 cross-validations" in said(app)
    assert "Holm's correction for all pairs (3)" in said(app)
    assert len(listed(app, "compare_pairs")) == 3


@pytest.mark.slow
def test_another_measure_asks_again() -> None:
    app = opened("model", TUMOURS)
    app.segmented_control(key="compare_by").set_value("log_loss").run()
    assert "Least log-loss: **logistic regression**" in said(app)
    assert dict(app.session_state["state"].view)["compare_by"] == "log_loss"


@pytest.mark.parametrize("unit", ["percent", slowly("bits"), slowly("nats")])
def test_a_log_loss_is_a_probability_or_bits_or_nats(unit: str, engine: Engine) -> None:
    app = opened("model", showing(TUMOURS, compare_by="log_loss", loss_unit=unit))
    losses = compare(engine)["log_loss"]
    best, worst = losses.idxmin(), losses.idxmax()
    found = differences(engine, "log_loss", runs=engine.runs).set_index(["one", "other"])
    row = found.loc[(worst, best)] if (worst, best) in found.index else -found.loc[(best, worst)].astype(float)
    shown = numbers(app)[worst]["above"]
    size = {"bits": math.log(2), "nats": 1.0}.get(unit, 0.0)
    if unit == "percent":
        assert f"Least log-loss: **{best}**, P = {math.exp(-losses[best]):.1%}" in said(app)
        change = 100 * math.expm1(-row["difference"])
        assert shown.startswith(f"−{abs(change):.3g}") and "%" in shown
        low, high = (float(v.replace("−", "-").rstrip(" %")) for v in re.findall(r"\[(.*), (.*)\]", shown)[0])
        assert low < change < high < 0 and "the geometric mean of the probability" in said(app)
    else:
        assert f"Least log-loss: **{best}**, {losses[best] / size:.3f}" in said(app)
        assert float(shown.split(" ")[0]) == pytest.approx(row["difference"] / size, rel=5e-3)
    assert len(listed(app, "compare_pairs")) == 3


@pytest.mark.slow
def test_naive_bayes_is_right_but_too_sure_until_it_is_calibrated(engine: Engine) -> None:
    app = opened("model", TUMOURS)
    before = score(engine["1 · naive Bayes"])
    after = score(calibrate(engine["1 · naive Bayes"], "temperature"))
    text = said(app)
    assert f"is right on **{before['accuracy']:.1%}**" in text
    assert f"its mean confidence is **{before['confidence']:.1%}**" in text
    assert (
        f"After calibration it is right on {after['accuracy']:.1%}, with a mean confidence of {after['confidence']:.1%}"
        in text
    )
    probability = f"{math.exp(-after['log_loss']):.1%}"
    assert [m.value for m in app.metric] == [probability, *(number(after[k], 3) for k in ("brier", "ece"))]
    app.segmented_control(key="trust_calibrator").set_value("isotonic").run()
    isotonic = score(calibrate(engine["1 · naive Bayes"], "isotonic"))
    assert app.metric[1].value == number(isotonic["brier"], 3)


def test_a_calibrator_for_all_changes_every_number(engine: Engine) -> None:
    app = opened("model", TUMOURS)
    app.segmented_control(key="calibrator").set_value("platt").run()
    loss = LossMatrix(engine["2 · LDA"].classes, engine["2 · LDA"].classes, LOSSES)
    for name, held in engine.items():
        risk = estimated_risk(calibrate(held, "platt"), loss).risk
        assert numbers(app)[name]["risk"].startswith(number(risk, 3))


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("calibration", "off worst outside"),
        ("threshold", "asked least best"),
        ("roc", "area best at"),
        ("recall", "ap"),
        ("cost", "own best"),
    ],
)
def test_every_curve_has_its_figure_and_numbers(engine: Engine, kind: str, columns: str) -> None:
    app = opened("model", showing(TUMOURS, compare_curve=kind, compare_class=0))
    shown = frame(app, f"compare_{kind}_numbers", columns)
    assert list(shown) == list(engine)
    loss = LossMatrix(engine["2 · LDA"].classes, engine["2 · LDA"].classes, LOSSES)
    first = loss.classes[0]
    for name, held in engine.items():
        swept = threshold_sweep(one_against_rest(held, first))
        priced = error_costs(loss, first, swept.share)
        assert priced is not None
        if kind == "roc":
            assert shown[name]["area"] == number(swept.area)
            assert shown[name]["best"] == number(priced.risk(swept)[best_point(swept, priced)], 3)
        if kind == "recall":
            assert shown[name]["ap"] == number(swept.average_precision)
        if kind == "threshold":
            assert shown[name]["asked"] == number(estimated_risk(held, loss).risk, 3)
            assert "P ≥ **0.167**" in said(app)  # (1 − 0) / (1 + 5)


@pytest.mark.slow
def test_the_shelf_fills_with_one_click_and_ties_to_three_classes() -> None:
    app = opened("model", showing(State(table="iris", language="en"), model_view="compare", compare_curve="roc"))
    app.button(key="compare_fill").click().run()
    assert not app.exception
    assert [spec.family for spec in app.session_state["state"].shelf] == [
        "naive-bayes", "naive-bayes", "tan", "aode", "lda", "qda",
    ]  # fmt: skip
    assert len(numbers(app)) == 7
    assert not [b for b in app.button if b.key == "compare_fill"]
    app.segmented_control(key="compare_class").set_value(2).run()
    assert "virginica ranks above a row of another class" in said(app)
    assert not app.exception


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        slowly("watermelon3", "threshold"),
        *map(slowly, ("loan", "penguins", "watermelon3a"), repeat("cost")),
        *map(slowly, ("loan", "penguins", "watermelon3a"), repeat("threshold")),
        slowly("watermelon3", "cost"),
    ],
)
def test_small_tables_gaps_and_mixed_columns_can_be_compared(table: str, kind: str) -> None:
    app = opened("model", showing(State(table=table, language="en"), model_view="compare", compare_curve=kind))
    assert not app.warning
    assert "logistic regression" in numbers(app)
    if table.startswith("watermelon"):
        assert "learnt anew from all others" in said(app)
        assert {row["verdict"] for row in numbers(app).values()} == {"the best", "–"}
        assert all("[" in row["above"] for row in numbers(app).values() if row["verdict"] == "–")
        assert "With fewer than 30 rows an interval is given, but no verdict." in said(app)
    assert "nan" not in str(numbers(app)).lower()


@pytest.mark.slow
def test_a_refusal_and_a_prior_of_use_are_followed() -> None:
    losses = ((0.0, 1.0), (1.0, 0.0), (0.1, 0.1))
    state = State(table="watermelon3", language="en", losses=losses, extra="refuse", prior=(0.2, 0.8))
    state = showing(state, model_view="compare", compare_curve="threshold")
    app = opened("model", state)
    assert not app.warning
    assert "Rows weighted to the prior of use." in said(app)


@pytest.mark.slow
def test_a_forged_view_shows_the_first() -> None:
    app = opened("model", showing(State(language="en"), model_view="nonsense", compare_curve="x", compare_class=99))
    assert app.title[0].value == "What does the model believe of each class?"
    app.segmented_control(key="model_view").set_value("compare").run()
    assert not app.exception
    assert app.title[0].value == "Which model decides best, and is it really better?"


@pytest.mark.slow
def test_of_other_measures_than_the_risk_no_loss_changes_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("model", showing(TUMOURS, compare_by="log_loss"))
    asked: list[str] = []

    def counted(held: object, measure: str, *rest: object, **more: object) -> object:
        asked.append(measure)
        return differences(held, measure, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("pages.views.model.compare.evaluated.scoring.differences", counted)
    edited(app, ((0.0, 1.25), (7.5, 0.0)))
    assert not app.exception
    assert asked == []  # neither those of the log-loss shown nor those of the error rate
    app.session_state["state"] = showing(app.session_state["state"], compare_by="risk")
    app.run()
    assert asked == ["risk"]
