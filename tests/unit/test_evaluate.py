"""Held-out posteriors and estimated risk, against loops written by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from bayes_engine import LossMatrix, MinimumRiskClassifier, NaiveBayes, Status, load_dataset, risk_scorer
from bayes_engine.decision import evaluate, risk
from bayes_engine.decision.compare import compare, compare_risk, differences
from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.evaluate import _alike, estimated_risk
from bayes_engine.decision.held_out import Folds, HeldOut, held_out
from bayes_engine.decision.loss import decide
from bayes_engine.errors import LossError, ParameterError, TableError, listen
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.aode import AODE
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.models.tan import TAN
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.text import WORD, TextRule
from pages.runtime.cache import extra_bytes
from tests.conftest import slowly

STALL = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])


@pytest.fixture
def big() -> tuple[pd.DataFrame, pd.Series]:
    """200 rows, 40 % "good", two overlapping features."""
    rng = np.random.default_rng(5)
    y = pd.Series(np.where(rng.random(200) < 0.4, "good", "bad"))
    X = pd.DataFrame({"x": rng.normal(y == "good", 1.2), "c": np.where(rng.random(200) < 0.3, "u", y.str[:1])})
    return X, y


def rows(posterior: Any, truth: Any, weight: Any = None) -> HeldOut:
    """Held-out rows as if a model with a flat prior had given them."""
    p = np.asarray(posterior, dtype=float)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    codes = np.asarray(truth, dtype=np.intp)
    w = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
    return HeldOut(("bad", "good"), log_p, np.full(p.shape, 0.5), codes, w, Message("by hand"))


# holding out ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["laplace", "zero-only", "scikit-learn"])
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_tiny_table_is_left_out_one_by_one(preset: str) -> None:
    melons = load_dataset("watermelon3")
    schema = melons.schema.features
    X, y = melons.frame[list(schema.names)], melons.frame["好瓜"]
    held = held_out(NaiveBayes(**PRESETS[preset], schema=schema).fit(X, y), X, y)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        fresh = NaiveBayes(**PRESETS[preset], schema=schema).fit(X[rest], y[rest])
        np.testing.assert_allclose(held.log_posterior[i], fresh.predict_log_proba(X[i : i + 1])[0], rtol=1e-9)
        np.testing.assert_allclose(held.prior_by_row[i], fresh.class_prior_)
    assert str(held.scheme) == "leave-one-out, exact"


def test_folds_are_refits_on_the_other_rows(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    model = NaiveBayes().fit(X, y)
    held = held_out(model, X, y, folds=4, seed=3)
    assert str(held.scheme) == "4 folds, stratified"
    np.testing.assert_allclose(np.exp(held.log_posterior).sum(axis=1), 1.0)
    keys = [tuple(p) for p in held.prior_by_row]  # rows of one fold share the prior of the model that had not seen them
    assert len(set(keys)) <= 4
    in_sample = model.predict_log_proba(X)
    assert (np.abs(held.log_posterior - in_sample).max(axis=1) > 0).all()


def test_NF59_the_same_seed_gives_the_same_folds(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    model = NaiveBayes().fit(X, y)
    one, again, other = (held_out(model, X, y, seed=s).log_posterior for s in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_groups_stay_together(big: tuple[pd.DataFrame, pd.Series]) -> None:
    """Each patient's rows are one value of a column: seen elsewhere, it would give the class away."""
    _X, _y = big
    rng = np.random.default_rng(0)
    patient = "p" + pd.Series(rng.integers(0, 25, 200)).astype(str)
    label = patient.map({p: rng.choice(["good", "bad"]) for p in sorted(set(patient))})
    leaky = pd.DataFrame({"patient": patient})
    model = NaiveBayes().fit(leaky, label)
    together = held_out(model, leaky, label, groups=patient)
    apart = held_out(model, leaky, label)
    assert str(together.scheme) == "5 folds, groups kept together"
    p = np.exp(together.log_posterior)
    np.testing.assert_allclose(p - together.prior_by_row, 0.0, atol=0.15)  # an unseen patient says next to nothing
    accuracy = [estimated_risk(h, LossMatrix.zero_one(h.classes)).accuracy for h in (together, apart)]
    assert accuracy[1] == 1.0 and accuracy[0] < 0.7


def test_NF58_a_class_rarer_than_the_folds_lowers_their_number(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    y = y.copy()
    y.iloc[:3] = "rare"
    held = held_out(NaiveBayes().fit(X, y), X, y)
    assert str(held.scheme) == "3 folds, stratified (the rarest class has 3 rows)"
    assert (held.prior > 0).all()


def test_NF58_too_little_to_hold_out(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    once = y.copy()
    once.iloc[0] = "once"
    with pytest.warns(UserWarning, match="a class has one row"):
        model = NaiveBayes().fit(X, once)
    with pytest.raises(TableError, match="a class has one row only, so it cannot be held out and learnt from at once"):
        held_out(model, X, once)
    with pytest.raises(
        TableError, match="the group column has one value only; risk cannot be estimated on groups left out"
    ):
        held_out(NaiveBayes().fit(X, y), X, y, groups=["g"] * 200)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("priors", ["empirical", "uniform", {"good": 0.3, "bad": 0.6, "rare": 0.1}])
def test_a_class_absent_from_a_fold_keeps_its_column(big: tuple[pd.DataFrame, pd.Series], priors: Any) -> None:
    X, y = big
    y, groups = y.copy(), np.arange(200) // 4
    y.iloc[:4] = "rare"  # one group holds them all
    held = held_out(NaiveBayes(priors=priors).fit(X, y), X, y, groups=groups)
    assert held.log_posterior.shape == (200, 3) and not np.isnan(held.log_posterior).any()
    p = np.exp(held.log_posterior[:4, held.classes.index("rare")])
    assert (p == 0).all() if priors == "empirical" else (p > 0).all()


# risk -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("weighed", [False, True])
def test_risk_is_the_loop_written_by_hand(big: tuple[pd.DataFrame, pd.Series], weighed: bool) -> None:
    X, y = big
    weight = np.random.default_rng(1).uniform(0.5, 2, 200) if weighed else None
    held = held_out(NaiveBayes().fit(X, y, weight), X, y, sample_weight=weight)
    amount = np.random.default_rng(2).uniform(1, 9, 200)
    report = estimated_risk(held, STALL, amount=amount)
    total = loss = right = 0.0
    for i in range(200):
        w = 1.0 if weight is None else weight[i]
        p = dict(zip(held.classes, np.exp(held.log_posterior[i]), strict=True))
        action = "good" if 5 * p["bad"] < 1 * p["good"] else "bad"
        loss += w * amount[i] * {("good", "bad"): 5, ("bad", "good"): 1}.get((action, y.iloc[i]), 0)
        right += w * (action == y.iloc[i])
        total += w
    assert report.risk == pytest.approx(loss / total) and report.accuracy == pytest.approx(right / total)
    assert report.confusion.sum() == pytest.approx(total) and report.cost.sum() == pytest.approx(report.risk)
    assert report.undecided == 0


def test_the_loss_is_matched_by_label_not_by_column(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    held = held_out(NaiveBayes().fit(X, y), X, y)
    turned = LossMatrix(("bad", "good"), ("bad", "good"), [[0, 1], [5, 0]])
    one, other = estimated_risk(held, STALL), estimated_risk(held, turned)
    assert one.risk == other.risk and one.decision.action.tolist() == other.decision.action.tolist()
    with pytest.raises(LossError, match="no column for the class 'bad'"):
        estimated_risk(held, LossMatrix.zero_one(["good", "evil"]))


def test_a_prior_of_use_is_a_table_with_those_frequencies() -> None:
    """Rows repeated until the classes stand 1 : 3, and posteriors shifted from 1 : 1 to 1 : 3 by hand."""
    rng = np.random.default_rng(4)
    p_good, truth = rng.uniform(0.05, 0.95, 20), np.repeat([0, 1], 10)
    posterior = np.stack([1 - p_good, p_good], axis=1)
    report = estimated_risk(rows(posterior, truth), STALL, prior_of_use={"bad": 0.25, "good": 0.75})
    shifted = posterior * [0.25, 0.75]
    again = np.repeat(np.arange(20), np.where(truth == 1, 3, 1))
    literal = estimated_risk(rows((shifted / shifted.sum(axis=1, keepdims=True))[again], truth[again]), STALL)
    assert report.risk == pytest.approx(literal.risk) and report.accuracy == pytest.approx(literal.accuracy)
    np.testing.assert_allclose(report.confusion / report.confusion.sum(), literal.confusion / literal.confusion.sum())


def test_a_prior_of_use_reweights_the_rows_that_are_evaluated() -> None:
    """Half of the good rows have no posterior; they are half of their class all the same, and the dearest."""
    posterior = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.0, 0.0]]
    report = estimated_risk(rows(posterior, [0, 0, 1, 1]), STALL, prior_of_use={"bad": 0.5, "good": 0.5})
    assert report.undecided == 1
    assert report.confusion.sum(axis=0) == pytest.approx([2.0, 1.0])
    assert report.undecided_cost == pytest.approx(STALL.table[:, 0].max() / 4)
    assert report.risk == pytest.approx(report.cost.sum() + report.undecided_cost)
    assert report.accuracy == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("posterior", "truth", "error", "text"),
    [
        (
            [[0.9, 0.1]],
            [0],
            TableError,
            "no held-out row of class 'good' has a posterior, so its share of the risk cannot",
        ),
        ([[0.0, 0.0]], [0], TableError, "no held-out row"),
    ],
)
def test_a_risk_that_cannot_be_estimated(posterior: Any, truth: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        estimated_risk(rows(posterior, truth), STALL, prior_of_use={"bad": 0.5, "good": 0.5})


def test_NF22_priors_of_use_refused() -> None:
    with pytest.raises(ParameterError, match=r"priors sum to 0\.9, not 1"):
        estimated_risk(rows([[0.5, 0.5]], [0]), STALL, prior_of_use={"bad": 0.5, "good": 0.4})


def test_NF01_undecided_rows_are_counted_apart() -> None:
    held = rows([[0.9, 0.1], [0.0, 0.0], [0.3, 0.7]], [0, 1, 0])
    report = estimated_risk(held, LossMatrix.zero_one(["bad", "good"]))
    assert report.undecided == 1 and report.risk == pytest.approx(2 / 3) and report.confusion.sum() == 2.0
    assert report.accuracy == pytest.approx(1 / 3) and report.undecided_cost == pytest.approx(1 / 3)
    assert report.decision.status.tolist() == [Status.OK, Status.IMPOSSIBLE, Status.OK]
    with pytest.raises(TableError, match=r"no held-out row has a posterior; smooth the model \(alpha > 0\)"):
        estimated_risk(rows([[0.0, 0.0]], [0]), STALL)


def test_deciding_by_one_loss_and_paying_by_another() -> None:
    held = rows([[0.3, 0.7], [0.6, 0.4]], [0, 1])
    plain = estimated_risk(held, STALL, decide_by=LossMatrix.zero_one(["bad", "good"]))
    assert plain.decision.action.tolist() == ["good", "bad"] and plain.risk == (5 + 1) / 2
    refusing = LossMatrix.zero_one(["bad", "good"]).with_refusal(0.1)
    with pytest.raises(ParameterError, match="the losses do not price the action 'refuse'"):
        estimated_risk(held, STALL, decide_by=refusing)
    paid = estimated_risk(held, STALL.with_refusal(2.0), decide_by=refusing)
    assert paid.risk == 2.0 and paid.accuracy == 0.0


def test_an_amount_with_a_hole() -> None:
    with pytest.raises(TableError, match="the amount column has a missing or infinite cell; mend it or choose another"):
        estimated_risk(rows([[0.5, 0.5]], [0]), STALL, amount=[np.nan])


def test_the_bootstrap_interval() -> None:
    rng = np.random.default_rng(0)
    wrong = rng.random(400) < 0.2
    posterior = np.where(wrong[:, None], [[0.1, 0.9]], [[0.9, 0.1]])
    report = estimated_risk(rows(posterior, np.zeros(400)), LossMatrix.zero_one(["bad", "good"]))
    low, high = report.interval
    assert low < report.risk < high
    se = np.sqrt(report.risk * (1 - report.risk) / 400)
    assert (high - low) / (2 * 1.96 * se) == pytest.approx(1.0, abs=0.1)
    again = estimated_risk(rows(posterior, np.zeros(400)), LossMatrix.zero_one(["bad", "good"]))
    assert again.interval == report.interval  # NF59: the seed is an argument
    certain = estimated_risk(rows([[0.9, 0.1]] * 5, [0] * 5), LossMatrix.zero_one(["bad", "good"]))
    assert certain.interval == (0.0, 0.0)


def test_NF33_a_row_of_a_class_unknown_to_the_model_is_decided_wrongly() -> None:
    X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b"])
    for model in (GaussianNB(), NaiveBayes()):
        model.fit(X, y)
        assert risk_scorer()(model, X[:3], np.array(["a", "b", "z"])) == pytest.approx(-2 / 3)
        assert risk_scorer()(model, X[:1], np.array(["z"])) == -1.0
        dear = {d: {t: 0.0 if d == t else 7.0 if t == "z" else 1.0 for t in "abz"} for d in "abz"}
        assert risk_scorer(dear)(model, X[:3], np.array(["a", "b", "z"])) == pytest.approx(-8 / 3)
        with pytest.raises(LossError, match="no column for the class 'z'"):
            risk_scorer(LossMatrix.zero_one("ab"))(model, X[:1], np.array(["z"]))


def test_a_class_missing_from_a_fold_stops_no_cross_validation() -> None:
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"] * 10 + ["c"])
    X = rng.normal(size=(21, 2)) + (y == "b")[:, None]
    loss = LossMatrix.zero_one("abc").with_cell("a", "c", 4.0).with_cell("b", "c", 4.0)
    folds = KFold(3)  # the last holds the only c
    with listen() as notes:
        plain = cross_val_score(NaiveBayes(), X, y, scoring=risk_scorer(loss), cv=folds, error_score="raise")
        careful = MinimumRiskClassifier(NaiveBayes(), loss)
        scores = cross_val_score(careful, X, y, scoring=risk_scorer(loss), cv=folds, error_score="raise")
    np.testing.assert_allclose(scores, plain)
    assert [str(note) for note in notes if str(note).startswith("the losses")] == [
        "the losses name class(es) c, of which there is no row: no row is taken to be of them"
    ]
    with listen(), pytest.raises(LossError, match="no column for the class 'c'"):
        MinimumRiskClassifier(NaiveBayes(), LossMatrix.zero_one("ab")).fit(X, y)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_row_without_a_posterior_costs_the_dearest_in_score_and_risk_alike(wrapped: bool) -> None:
    """An unsmoothed model that has no answer for the hard rows must not win by it."""
    X = pd.DataFrame({"x": list("uuvv"), "z": list("uvuv")})
    y = np.array(["a", "a", "b", "b"])
    hard = pd.DataFrame({"x": ["u", "v", "u"], "z": ["u", "v", "w"]})
    model = NaiveBayes(alpha=0.0).fit(pd.concat([X, pd.DataFrame({"x": ["q"], "z": ["w"]})]), [*y, "c"])
    loss = LossMatrix.zero_one("abc").with_cell("c", "a", 9.0)
    scored = make_pipeline(FunctionTransformer(), model) if wrapped else model
    with listen() as notes:
        score = risk_scorer(loss)(scored, hard, np.array(["a", "b", "a"]))
    assert score == pytest.approx(-9.0 / 3)
    assert [str(note) for note in notes] == [
        "1 of 3 rows have no posterior: each costs what the dearest action costs under its true class"
    ]
    held = HeldOut(
        ("a", "b", "c"), log_proba(model, hard), np.full((3, 3), 1 / 3), np.array([0, 1, 0]), np.ones(3), Message("")
    )
    report = estimated_risk(held, loss)
    assert (report.risk, report.undecided) == (pytest.approx(3.0), 1)
    sure = replace(held, log_posterior=np.log([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.4, 0.5, 0.1]]))
    models = {"gaps": held, "sure": sure}
    assert compare_risk(models, loss)["risk"].tolist() == pytest.approx([3.0, 1 / 3])
    assert compare_risk(models, loss)["more"]["sure"] == pytest.approx(1 / 3 - 3.0)
    assert compare(models)["accuracy"].tolist() == pytest.approx([2 / 3, 2 / 3])
    assert differences(models, "risk", loss)["difference"][0] == pytest.approx(3.0 - 1 / 3)
    assert differences(models, "error")["difference"][0] == pytest.approx(0.0)


def test_held_out_says_what_it_cannot_take() -> None:
    X, y = np.arange(8.0)[:, None], list("aabbaabb")
    with pytest.raises(ParameterError, match=r"this NaiveBayes is not fitted or has none; call fit"):
        held_out(NaiveBayes(), X, y)
    with pytest.raises(ParameterError, match=r"this RidgeClassifier is not fitted or has none"):
        held_out(RidgeClassifier().fit(X, y), X, y)
    with pytest.raises(TableError, match=r"without the class 'c' of row 8; fit it to these rows first"):
        held_out(NaiveBayes().fit(X, y), X, [*y[:7], "c"])


def test_posteriors_of_held_out_rows_decide_like_the_model(big: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = big
    held = held_out(NaiveBayes().fit(X, y), X, y)
    posterior, status = held.posterior()
    report = estimated_risk(held, STALL)
    expected = decide(posterior, STALL.for_classes(held.classes), status)
    assert report.decision.action.tolist() == expected.action.tolist()


def test_what_is_held_out_of_a_long_table_takes_little_more_than_its_posteriors() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=20_000)})
    y = np.where(X["x"] + rng.normal(size=20_000) > 0, "yes", "no")
    held = held_out(NaiveBayes().fit(X, y), X, y)
    assert held.prior.shape == (5, 2) and held.prior_by_row.shape == (20_000, 2)
    assert extra_bytes(held) < held.log_posterior.nbytes + held.truth.nbytes + 30_000
    by_row = replace(held, prior=held.prior_by_row, fold=None)
    for use in (None, {"yes": 0.9, "no": 0.1}):
        np.testing.assert_array_equal(held.posterior(use)[0], by_row.posterior(use)[0])


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_NF04_a_row_far_out_is_held_out_as_its_model_would_predict_it() -> None:
    """Of LDA's joint the term that all classes share drowns, from 1e16 deviations on, what tells them apart."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    X = rng.normal(size=(120, 3)) + (y == "b")[:, None]
    X[7] = 1e17, 0.0, -5e16
    held = held_out(LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert held.fold is not None
    with_it = held.fold == held.fold[7]
    fresh = LinearDiscriminantAnalysis().fit(X[~with_it], y[~with_it])
    np.testing.assert_allclose(held.posterior()[0][with_it], fresh.predict_proba(X[with_it]), rtol=1e-6, atol=1e-12)
    assert held.posterior()[0][7].max() == 1.0


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("others", [0, 5, 3000])
def test_alike_rows_are_counted_as_numpy_does(columns: int, others: int) -> None:
    rng = np.random.default_rng(columns)
    rows = rng.choice([-1.5, -0.0, 0.0, 2.0, np.inf], (3000 + others, columns))
    rows[3000:] = rng.normal(size=(others, columns))
    rows[:, :1] = rows[0, 0] if columns == 3 else rows[:, :1]
    for found, expected in zip(_alike(list(rows.T)), np.unique(rows, axis=0, return_counts=True), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [part.tolist() for part in _alike(list(rows[:1].T))] == [rows[:1].tolist(), [1]]


def test_rows_decided_in_blocks_are_decided_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    posterior, amount = rng.dirichlet(np.ones(3), 50), rng.gamma(1, 5, 50)
    posterior[7], status = 1 / 3, np.where(np.arange(50) % 9, Status.OK, Status.IMPOSSIBLE).astype(np.int8)
    loss = LossMatrix.zero_one(("a", "b", "c")).with_amount([("a", "b")])
    monkeypatch.setattr(risk, "BLOCK", 7)
    blocks = decide(posterior, loss, status, amount=amount)
    for i in range(50):
        one = decide(posterior[i : i + 1], loss, status[i : i + 1], amount=amount[i : i + 1])
        assert [field[0] for field in one[:1]] == [blocks.action[i]]
        assert (one.tied[0], one.position[0], one.status[0]) == (blocks.tied[i], blocks.position[i], blocks.status[i])
        assert (one.risk[0], one.gap[0]) == pytest.approx((blocks.risk[i], blocks.gap[i]))
    assert decide(posterior[:0], loss, amount=amount[:0]).risk.shape == (0,)


def test_held_out_rows_decided_in_blocks_are_decided_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, classes = np.random.default_rng(0), ("a", "b", "c")
    joint, amount = rng.normal(size=(50, 3)), rng.gamma(1, 5, 50)
    joint[5], joint[9, 1] = -np.inf, -np.inf
    loss, use = LossMatrix.zero_one(classes).with_amount([("a", "b")]), {"a": 0.2, "b": 0.5, "c": 0.3}
    for prior, fold in ((rng.dirichlet(np.ones(3), 5), np.arange(50) % 5), (rng.dirichlet(np.ones(3), 50), None)):
        held = HeldOut(classes, joint, prior, np.arange(50) % 3, np.ones(50), Message("x"), np.arange(50) // 2, fold)
        whole = evaluate.held_out_decision(held, loss, prior_of_use=use, amount=amount)
        with monkeypatch.context() as patch:
            patch.setattr(evaluate, "DECIDED", 21)
            blocks = evaluate.held_out_decision(held, loss, prior_of_use=use, amount=amount)
        for name in ("action", "position", "status", "tied"):
            assert getattr(blocks, name).tolist() == getattr(whole, name).tolist()
        np.testing.assert_allclose([blocks.risk, blocks.gap], [whole.risk, whole.gap])
        alone = evaluate.held_out_decision(held, loss, prior_of_use=use, amount=amount, positions_alone=True)
        assert alone.position.dtype == np.int8 and alone.position.tolist() == whole.position.tolist()


@pytest.mark.parametrize("use", [None, {"a": 0.2, "b": 0.5, "c": 0.3}])
def test_rows_of_one_kind_are_priced_together_as_one_by_one(
    use: dict[str, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, classes = np.random.default_rng(0), ("a", "b", "c")
    joint, truth = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    joint[::90] = -np.inf
    held = HeldOut(classes, joint, np.full((500, 3), 1 / 3), truth, rng.choice([0.0, 0.5, 2.0], 500), Message("x"))
    loss = LossMatrix(("a", "b", "c", "ask"), classes, rng.uniform(-1, 9, (4, 3)))
    together = estimated_risk(held, loss, prior_of_use=use)
    monkeypatch.setattr(evaluate, "_kinds", lambda *_: None)
    alone = estimated_risk(held, loss, prior_of_use=use)
    assert (together.undecided, together.interval) == (alone.undecided, pytest.approx(alone.interval, rel=1e-12))
    for name in ("risk", "accuracy", "undecided_cost", "cost", "confusion"):
        assert getattr(together, name) == pytest.approx(getattr(alone, name), rel=1e-12)


def test_positions_of_many_actions_are_kept_whole() -> None:
    loss = LossMatrix.zero_one(range(300))
    known = decide(np.eye(300), loss)
    assert known.positions_alone().position.tolist() == list(range(300))


@pytest.fixture
def irises() -> tuple[pd.DataFrame, np.ndarray]:
    """Every third row: without the rows 22, 25, 28, 38 or 43 MDLP cuts elsewhere."""
    frame = load_dataset("iris").frame.iloc[::3]
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("in_folds", [False, True])
def test_cut_points_are_those_of_the_rows_learnt_from(irises: tuple[pd.DataFrame, np.ndarray], in_folds: bool) -> None:
    """The rows held out had a say in them before: every fold had the same."""
    X, y = irises
    held = held_out(NaiveBayes(discretize="mdlp").fit(X, y), X, y, in_folds=in_folds)
    for i in (22, 25, 38, 43):
        rest = held.fold != held.fold[i] if in_folds else np.arange(len(y)) != i
        alone = NaiveBayes(discretize="mdlp").fit(X[rest], y[rest])
        np.testing.assert_allclose(held.posterior()[0][i], alone.predict_proba(X.iloc[[i]])[0], rtol=1e-12)


def test_cut_points_that_were_given_stay(irises: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = irises
    given = NaiveBayes(discretize="mdlp").fit(X, y).schema_
    held = held_out(NaiveBayes(discretize="mdlp", schema=given).fit(X, y), X, y, in_folds=True)
    rest = held.fold != held.fold[22]
    alone = NaiveBayes(schema=given).fit(X[rest], y[rest])
    np.testing.assert_allclose(held.posterior()[0][22], alone.predict_proba(X.iloc[[22]])[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "changed"),
    [
        (NaiveBayes(discretize="quantile", bins=4), {"alpha": 7.0, "priors": "uniform"}),
        (NaiveBayes(likelihoods={"x": "kernel"}), {"smoothing": "none"}),
        (TAN(missing="category"), {"alpha": 0.2, "var_floor": 1e-3}),
        slowly(AODE(), {"min_frequency": 30, "smoothing": "joint"}),
        slowly(LinearDiscriminantAnalysis(), {"shrinkage": 0.4}),
    ],
    ids=["cut points", "kernel", "TAN", "AODE", "LDA"],
)
def test_kept_folds_judge_under_other_parameters_as_folds_learnt_anew(
    big: tuple[pd.DataFrame, pd.Series], model: Any, changed: dict[str, Any]
) -> None:
    X, y = big
    numbers = isinstance(model, LinearDiscriminantAnalysis)
    X = X.assign(c=(X["c"] == "u") + X["x"] ** 2 if numbers else X["c"].mask(X["x"] > 1.5))
    asked: dict[str, Any] = {"groups": np.arange(len(y)) // 3, "sample_weight": 1.0 + (np.arange(len(y)) % 3)}
    fitted = model.fit(X, y, asked["sample_weight"])
    kept, anew = Folds(fitted, X, y, **asked), fitted.with_params(**changed)
    for held, wanted in [
        (kept.held_out(), held_out(fitted, X, y, **asked)),
        (kept.held_out(**changed), held_out(anew, X, y, **asked)),
    ]:
        assert held.log_posterior.tolist() == wanted.log_posterior.tolist()
        assert held.prior_by_row.tolist() == wanted.prior_by_row.tolist()
        assert held.scheme == wanted.scheme
    assert kept.held_out(**changed).log_posterior.tolist() != kept.held_out().log_posterior.tolist()
    with pytest.raises(ParameterError, match="missing"):
        kept.held_out(missing="error")


# texts ----------------------------------------------------------------------------------------------------------------

MAILS = pd.Series(["win a prize", "lunch at noon", "a prize for you", "noon again", "win win", "you at lunch"] * 2)
SPAM = np.array(["spam", "ham"] * 6)


def of_mails(**rule: Any) -> NaiveBayes:
    return NaiveBayes(text={"columns": ["mail"], **rule})


@pytest.mark.slow
@pytest.mark.parametrize("rule", [{}, {"min_df": 2}, {"max_features": 3}, {"ngrams": (1, 2)}])
def test_folds_learn_the_vocabulary_of_their_own_rows_as_a_pipeline_of_scikit_learn_does(rule: dict[str, Any]) -> None:
    texts = pd.concat([MAILS + f" {word}" for word in ("", "one", "two", "six", "ten", "now")], ignore_index=True)
    texts = texts + [f" only{i}" for i in range(len(texts))]  # each has a word that no other row has
    y = np.tile(SPAM, 6)
    X = pd.DataFrame({"mail": texts})
    held = held_out(of_mails(**rule).fit(X, y), X, y)
    reader = CountVectorizer(
        token_pattern=WORD, ngram_range=rule.get("ngrams", (1, 1)), min_df=rule.get("min_df", 1),
        max_features=rule.get("max_features"),
    )  # fmt: skip
    by_scikit_learn = cross_val_predict(
        make_pipeline(reader, MultinomialNB()), texts, y, method="predict_proba",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )  # fmt: skip
    np.testing.assert_allclose(held.posterior()[0], by_scikit_learn, atol=1e-12)
    assert held.kept == ()


@pytest.mark.slow
def test_a_text_left_out_has_no_say_in_the_vocabulary_unless_the_scheme_says_so() -> None:
    X, y = pd.DataFrame({"mail": MAILS}), SPAM
    model = of_mails().fit(X, y)
    anew = [of_mails().fit(X.drop(i), np.delete(y, i)).predict_proba(X[i : i + 1])[0] for i in range(len(X))]
    held, kept = held_out(model, X, y), held_out(model, X, y, refit=False)
    np.testing.assert_allclose(held.posterior()[0], anew, atol=1e-12)
    assert (str(held.scheme), held.kept) == ("leave-one-out, everything learnt anew", ())
    assert (str(kept.scheme), kept.kept) == ("leave-one-out, vocabulary kept", ("vocabulary",))
    alone = pd.DataFrame({"mail": MAILS + [f" only{i}" for i in range(len(MAILS))]})
    model = of_mails().fit(alone, y)
    assert not np.allclose(
        held_out(model, alone, y).posterior()[0], held_out(model, alone, y, refit=False).posterior()[0]
    )


def test_a_vocabulary_that_was_declared_stays_and_one_that_was_given_grows() -> None:
    X, y = pd.DataFrame({"mail": MAILS}), SPAM
    for declared, expected in ((True, ("prize", "noon")), (False, ("prize", "noon", "win"))):
        given = ("prize", "noon", "raffle")  # the last is in no mail
        column = Variable("mail", "text", given, declared, likelihood="multinomial", text=TextRule())
        model = NaiveBayes(schema=Schema((column,))).fit(X, y)
        held = held_out(model, X, y)
        assert str(held.scheme) == ("leave-one-out, exact" if declared else "leave-one-out, everything learnt anew")
        rest = NaiveBayes(schema=Schema((column,))).fit(X[1:], y[1:])
        np.testing.assert_allclose(held.posterior()[0][0], rest.predict_proba(X[:1])[0], atol=1e-12)
        assert set(expected) <= set(rest.schema_["mail"].levels)


def test_a_text_without_a_term_in_the_other_rows_says_nothing_of_the_row_left_out() -> None:
    X = pd.DataFrame({"mail": ["win a prize", *[None] * 7], "sent": list("abababab")})
    y = np.array(list("uvuvuvuv"))
    held = held_out(of_mails().fit(X, y), X, y)
    without = X[["sent"]]
    np.testing.assert_allclose(
        held.posterior()[0][0], NaiveBayes().fit(without[1:], y[1:]).predict_proba(without[:1])[0], atol=1e-12
    )


def test_gathered_rows_are_drawn_with_the_mean_and_the_covariance_of_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    rows, n = rng.lognormal(size=(5000, 3)), rng.integers(1, 4, 5000)
    means, sizes, root = evaluate._strata(rows, n)

    def covariance_of_drawn(values: Array, count: Array) -> Array:
        """That of Σ_i t_i where as many are drawn as there are, n Cov(t)."""
        return np.asarray(count.sum() * np.cov(values.T, ddof=0, fweights=count))

    assert len(means) < 300
    assert sizes.sum() == n.sum()
    np.testing.assert_allclose(sizes @ means, n @ rows)
    np.testing.assert_allclose(covariance_of_drawn(means, sizes) + root.T @ root, covariance_of_drawn(rows, n))


@pytest.mark.slow
def test_of_many_rows_that_differ_the_interval_is_that_of_rows_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    weight, total = rng.choice([0.5, 1.3], 3000), rng.gamma(0.5, 100, 3000)
    gathered = evaluate.resampled_means(weight, total[:, None], draws=9999)[:, 0]
    monkeypatch.setattr(evaluate, "MOST_DRAWN", 3000)
    alone = evaluate.resampled_means(weight, total[:, None], draws=9999)[:, 0]
    ends = [0.025, 0.5, 0.975]
    assert np.quantile(gathered, ends) == pytest.approx(np.quantile(alone, ends), abs=0.1 * float(alone.std()))
    assert not np.array_equal(gathered, alone)


def test_decisions_that_are_known_are_not_made_again() -> None:
    held = HeldOut(
        classes=("ill", "well"), log_posterior=np.log([[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]]), prior=np.full((3, 2), 0.5),
        truth=np.array([0, 0, 1]), weight=np.ones(3), scheme=Message("three patients"),
    )  # fmt: skip
    loss, plain = LossMatrix(held.classes, held.classes, [[0, 1], [5, 0]]), LossMatrix.zero_one(held.classes)
    use = {"ill": 0.2, "well": 0.8}
    known = evaluate.held_out_decision(held, plain, prior_of_use=use)
    anew = estimated_risk(held, loss, prior_of_use=use, decide_by=plain)
    kept = estimated_risk(held, loss, prior_of_use=use, decide_by=plain, decision=known)
    assert kept.decision is known
    alone = estimated_risk(held, loss, prior_of_use=use, decide_by=plain, decision=known.positions_alone())
    assert (alone.risk, alone.interval, alone.accuracy) == (kept.risk, kept.interval, kept.accuracy)
    assert alone.confusion.tolist() == kept.confusion.tolist() and alone.cost.tolist() == kept.cost.tolist()
    assert (kept.risk, kept.interval, kept.accuracy) == (anew.risk, anew.interval, anew.accuracy)
    assert kept.confusion.tolist() == anew.confusion.tolist()
