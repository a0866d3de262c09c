"""Complement naive Bayes on the shelf, always calibrated: a page shows what is true of it, or why it has nothing."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.calibrated import CalibratedClassifier, calibrate
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.numerals import certain, signed
from pages.runtime.state import Spec, State, decode, encode
from tests.apptest.opened import listed, opened, sent_to, shelf_in, showing, uploaded
from tests.conftest import slowly

LOSSES = ((0.0, 1.0), (10.0, 0.0))
PRIZE = pd.DataFrame({"message": ["Congratulations! You have won a free phone. Call now to claim your prize."]})
PAGES = ("start", "data", "model", "case", "decisions", "classify", "dependence", "network", "projection", "hidden",
         "laboratory")  # fmt: skip


def on_the_shelf(language: str = "en", **parameters: object) -> State:
    shelf = (Spec("laplace", tuple(sorted(parameters.items())), "complement"),)
    return State(table="sms-spam", language=language, shelf=shelf, losses=LOSSES)


def said(app: object) -> str:
    elements = [*app.markdown, *app.caption, *app.subheader, *app.info]  # type: ignore[attr-defined]
    return "\n".join(e.value for e in elements)


@pytest.fixture(scope="module")
def model() -> CalibratedClassifier:
    frame = load_dataset("sms-spam").frame
    return CalibratedClassifier(ComplementNaiveBayes(), method="platt").fit(frame[["message"]], frame["label"])


def test_one_case_adds_up_scores_and_maps_them_to_the_posterior(model: CalibratedClassifier) -> None:
    app = opened("case", showing(on_the_shelf(), factor=1, of=1))
    words, p = said(app), certain(model.predict_proba(PRIZE)[0, 1])
    scores = model.estimator_.predict_joint_log_proba(PRIZE)[0]
    ahead = signed(scores[1] - scores[0], 4)
    assert f"P(spam) = {p}" in words and "These are scores, not log-probabilities" in words
    assert f"**spam** is {ahead} ahead of the rest in score; by Platt's line" in words and f"of **{p}**." in words
    assert "claim (−log (0+1)/(6541+2353))" in words  # never in ham: counted in the other class
    assert "Another exercise" not in [b.label for b in app.button]
    assert "there is no band for complement naive Bayes" in words


def test_model_shows_the_weights_of_each_class_by_the_rows_of_the_others() -> None:
    app = opened("model", on_the_shelf())
    table = listed(app, "telling_words")
    assert list(table.columns) == ["term", "weight for ham", "weight for spam"]
    frame = load_dataset("sms-spam").frame
    calls = frame["message"].str.lower().str.findall(r"[^\W_]+").explode().eq("call").groupby(level=0).sum()
    in_spam = int(calls[frame["label"] == "spam"].sum())
    assert f"−log₂ ({in_spam}+1)/(" in table.set_index("term").loc["call", "weight for ham"]
    assert "rows of all other classes" in said(app) and "the posterior stands for ham 0.8000, spam 0.2000" in said(app)


@pytest.mark.slow
def test_decisions_prices_it_on_rows_that_calibrated_nothing(model: CalibratedClassifier) -> None:
    frame, losses = load_dataset("sms-spam").frame, LossMatrix(("ham", "spam"), ("ham", "spam"), LOSSES)
    X, y = frame[["message"]], frame["label"]
    held = calibrate(held_out(model.estimator_, X, y).in_order(("ham", "spam")), "platt")
    app = opened("decisions", on_the_shelf())
    sent = sent_to(app, "bayes_consequences")
    assert sent["report"]["risk"] == pytest.approx(estimated_risk(held, losses).risk, abs=1e-9)


def test_it_travels_and_a_forged_one_without_calibration_is_passed_over() -> None:
    state = on_the_shelf(calibration="isotonic", counting="once", alpha=0.5)
    assert decode(encode(state)).shelf == shelf_in(state) == state.shelf  # type: ignore[union-attr]
    forged = on_the_shelf(calibration="none", counting="bernoulli")
    assert shelf_in(forged) == on_the_shelf().shelf


@pytest.mark.slow
def test_the_shelf_offers_it_for_texts_alone() -> None:
    def offered(table: str) -> list[str]:
        app = opened("model", showing(State(table=table, language="en"), knobs=True))
        return next(list(group.options) for group in app.button_group if group.label == "Family")

    assert "complement, calibrated" in offered("sms-spam-zh")
    assert "complement, calibrated" not in offered("watermelon2")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["platt", "temperature", "isotonic"])
@pytest.mark.parametrize(
    ("page", "view", "words"),
    [
        *((page, {}, "") for page in PAGES),
        ("model", {"model_view": "compare"}, "which claim no confidence"),
        ("model", {"model_view": "ways"}, "The three ways are compared by the posterior before calibration"),
        ("model", {"knobs": True}, "Scores are no probabilities"),
        ("case", {"case_view": "ask"}, "There is nothing to weigh a question with"),
        ("case", {"fill": True, "exercise": 3}, "These are scores, not log-probabilities"),
        ("case", {"digits": "hand", "copy_open": True, "factor": 2, "of": 0}, "The map from the scores"),
        ("case", {"left_out": True}, "The model below has not counted it."),
    ],
)
def test_no_page_breaks(page: str, view: dict[str, object], words: str, method: str) -> None:
    state = showing(on_the_shelf(calibration=method), **view)
    app = opened(page, replace(state, case=(3,), row=3) if "left_out" in view else state)
    assert words in said(app) and not app.error


NOTES = "note,about\n" + "".join(
    f"{'' if i % 11 == 0 else text},{label}\n"
    for i in range(14)
    for text, label in (("the cat sat", "pets"), ("a court ruled", "law"), ("waves and salt", "sea"))
)


@pytest.mark.parametrize("page", ["case", slowly("model"), slowly("decisions"), slowly("classify")])
def test_of_three_classes_each_is_mapped_by_itself(page: str) -> None:
    roles = ((0, "feature", "text", ()), (1, "target", "", ()))
    state = State(language="en", columns=roles, shelf=(Spec(family="complement"),))
    app = uploaded(NOTES.encode(), page=page, state=state)
    assert not app.error
    if page == "case":
        assert "These are divided by their sum." in said(app)
        assert said(app).count("ahead of the rest in score; by Platt's line") == 3


@pytest.mark.parametrize("page", ["model", slowly("case"), slowly("decisions"), slowly("classify"), slowly("start")])
def test_a_link_to_it_on_a_table_without_texts_says_why_there_is_none(page: str) -> None:
    app = opened(page, State(table="watermelon2", language="en", shelf=(Spec(family="complement"),)))
    assert "is neither a text whose terms are counted nor a count" in app.error[0].value
