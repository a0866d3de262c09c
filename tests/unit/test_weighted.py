"""Attribute weights: gradients, the maximum by another hand, naive Bayes at w = 1, what a copy of a column loses."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import NaiveBayes, Schema, Variable, load_dataset
from bayes_engine.errors import EstimationWarning, ParameterError
from bayes_engine.ledger import Status
from bayes_engine.logspace import log, log_normalize
from bayes_engine.models.naive_bayes_wrapper import left_out_terms
from bayes_engine.models.weighted import COSTS, WeightedNaiveBayes
from tests.conftest import examples, slowly

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


@parametrize_with_checks([WeightedNaiveBayes(), WeightedNaiveBayes(NaiveBayes(discretize="quantile"), objective="mse")])
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    """A column that tells, the same again with a little noise, one that tells nothing, a number; holes and weights."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    told = np.where(rng.random(n) < 0.8, y, rng.choice(["a", "b", "c"], n))
    again = np.where(rng.random(n) < 0.95, told, "a")
    X = pd.DataFrame({"told": told, "again": again, "noise": rng.choice(list("xyz"), n)})
    X["size"] = rng.normal(0.0, 1.0, n) + (y == "b")
    return X.mask(rng.random(X.shape) < 0.1), pd.Series(y, name="class"), rng.integers(1, 4, n).astype(float)


def problem(seed: int, n: int = 40, d: int = 3, k: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    terms = rng.normal(0.0, 1.0, (d, n, k))
    terms[:, np.arange(n), truth] += rng.uniform(0.0, 1.5, (d, 1))
    share = rng.uniform(0.2, 1.0, n)
    return log(rng.dirichlet(np.ones(k), n)), terms, truth, share / share.sum()


@examples(40)
@given(seed=st.integers(0, 10**6), objective=st.sampled_from(sorted(COSTS)), k=st.sampled_from([2, 4]))
def test_gradients_are_finite_differences(seed: int, objective: str, k: int) -> None:
    rest = problem(seed, k=k)
    w = np.random.default_rng(seed + 1).uniform(0.0, 2.0, 3)
    cost = COSTS[objective]
    gradient = cost(w, *rest).gradient
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-6
        slope = (cost(w + step, *rest).value - cost(w - step, *rest).value) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def by_hand(cost: Callable[[np.ndarray], float], d: int, largest: float, rounds: int = 60) -> np.ndarray:
    """The minimum of a convex function on [0, largest]^d, one coordinate after another, each by golden section."""
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    w = np.full(d, largest / 2)
    for _ in range(rounds):
        for j in range(d):
            low, high = 0.0, largest

            def along(v: float, j: int = j, w: np.ndarray = w) -> float:
                return cost(np.where(np.arange(d) == j, v, w))

            for _ in range(45):
                a, b = high - golden * (high - low), low + golden * (high - low)
                low, high = (low, b) if along(a) < along(b) else (a, high)
            ends = [0.0, (low + high) / 2, largest]
            w = np.where(np.arange(d) == j, min(ends, key=along), w)
    return w


@pytest.mark.slow
@pytest.mark.parametrize("largest", [3.0, slowly(1.0)])
def test_the_weights_are_the_maximum(largest: float) -> None:
    X, y, weight = mixed(80)
    model = WeightedNaiveBayes(largest=largest).fit(X, y, weight)
    inner = NaiveBayes().fit(X, y, weight)
    frame, labels, _ = inner._read(X, y, weight, inner.target_, reset=False)
    left = left_out_terms(inner, inner._table(frame, inner.schema_, unseen="error"), labels)
    rows = np.arange(len(y))

    def cost(w: np.ndarray) -> float:  # by the definition
        joint = left.log_prior + sum(v * t for v, t in zip(w, left.terms.values(), strict=True))
        return float(-(weight * log_normalize(joint)[rows, labels.codes]).sum() / weight.sum())

    found = np.array(list(model.weights_.values()))
    best = by_hand(cost, 4, largest)
    np.testing.assert_allclose(found, best, atol=2e-4)
    assert cost(found) <= cost(best) + 1e-9
    assert model.trace_[0] == pytest.approx(cost(np.ones(4)))
    assert model.trace_[-1] == pytest.approx(cost(found))
    assert all(b <= a + 1e-12 for a, b in pairwise(model.trace_))


@pytest.mark.slow
def test_terms_left_out_are_the_model_s() -> None:
    X, y, _ = mixed(60)
    for inner in (NaiveBayes(), NaiveBayes(priors={"a": 1.0, "b": 0.0, "c": 0.0}, missing="category")):
        model = inner.fit(X, y)
        frame, labels, _ = model._read(X, y, None, model.target_, reset=False)
        table = model._table(frame, model.schema_, unseen="error", missing=model.missing)
        left = left_out_terms(model, table, labels)
        expected = model.leave_one_out_log_proba(X, y)
        np.testing.assert_allclose(log_normalize(left.joint()), expected, rtol=1e-10, atol=1e-10)
        for i in range(0, 60, 7):  # each term, by a refit without the row
            rest = np.arange(60) != i
            refit = clone(model).set_params(schema=model.schema_).partial_fit(X[rest], y[rest], ["a", "b", "c"])
            rows = {row.name: term[0] for row, term in refit.explain(X[i : i + 1]).rows}
            for name, term in left.terms.items():
                np.testing.assert_allclose(term[i], rows.get(name, np.zeros(3)), rtol=1e-9, atol=1e-9)


def test_weights_of_one_are_naive_bayes() -> None:
    X, y, weight = mixed()
    plain = NaiveBayes().fit(X, y, weight)
    model = WeightedNaiveBayes(weights={"told": 1.0}).fit(X, y, weight)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-13)
    assert model.trace_ == ()
    learnt = WeightedNaiveBayes().fit(X, y, weight)
    again = learnt.with_params(weights={}).with_params(weights=None)
    assert again.weights_ == learnt.weights_ != model.weights_
    half = model.with_params(weights={"told": 0.5, "again": 0.0})
    ledger, own = half.explain(X), plain.explain(X)
    w = {"told": 0.5, "again": 0.0, "noise": 1.0, "size": 1.0}
    assert half.weights_ == w
    for (row, term), (_, whole) in zip(ledger.rows, own.rows, strict=True):
        assert row.kind == ("prior" if row.name == "class" else "score")
        np.testing.assert_allclose(term, whole * w.get(row.name, 1.0))
    np.testing.assert_allclose(half.predict_proba(X), ledger.posterior())
    assert half.decide(X, {"a": {"a": 0, "b": 1, "c": 1}, "b": {"a": 5, "b": 0, "c": 1}, "c": {"a": 1, "b": 1, "c": 0}})


@pytest.mark.slow
@pytest.mark.parametrize("objective", sorted(COSTS))
@pytest.mark.parametrize("leave_one_out", [slowly(True), False])
def test_it_is_never_worse_than_naive_bayes_on_its_own_rows(objective: str, leave_one_out: bool) -> None:
    for X, y in (load_iris(return_X_y=True), load_breast_cancer(return_X_y=True), mixed()[:2]):
        model = WeightedNaiveBayes(objective=objective, leave_one_out=leave_one_out).fit(X, y)  # type: ignore[arg-type]
        assert model.trace_[-1] <= model.trace_[0]
        assert all(0.0 <= w <= 1.0 for w in model.weights_.values())
        if not leave_one_out:  # the cost is that of the model as it stands
            plain, codes = NaiveBayes().fit(X, y), np.searchsorted(model.classes_, y)
            for stage, at in ((plain, 0), (model, -1)):
                p = stage.predict_proba(X)
                of_truth = p[np.arange(len(codes)), codes]
                one_hot = np.eye(len(model.classes_))[codes]
                cost = -np.log(of_truth).mean() if objective == "cll" else 0.5 * ((one_hot - p) ** 2).sum(1).mean()
                assert cost == pytest.approx(model.trace_[at], rel=1e-6)


def test_a_column_that_stands_twice_counts_once() -> None:
    X, y, _ = mixed(400)
    X = X[["told", "noise"]].fillna("a")
    alone = WeightedNaiveBayes(largest=None).fit(X, y).weights_
    twice = WeightedNaiveBayes(largest=None).fit(X.assign(again=X["told"]), y).weights_
    assert twice["told"] + twice["again"] == pytest.approx(alone["told"], abs=1e-3)
    assert twice["told"] == pytest.approx(twice["again"], abs=1e-3)


def test_left_out_terms_see_through_a_column_that_knows_each_row() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 80)
    X = pd.DataFrame({"id": [f"r{i}" for i in range(80)], "x": rng.normal(0, 1, 80) + (y == "a")})
    fooled = WeightedNaiveBayes(leave_one_out=False, largest=None).fit(X, y)
    honest = WeightedNaiveBayes(largest=None).fit(X, y)
    assert fooled.weights_["id"] > 10.0
    assert fooled.trace_[-1] < 1e-6  # it believes that it is never wrong
    assert honest.weights_["id"] < 2.0
    assert honest.trace_[-1] > 0.5
    assert honest.weights_["x"] == pytest.approx(
        WeightedNaiveBayes(largest=None).fit(X[["x"]], y).weights_["x"], abs=0.1
    )


@pytest.mark.slow
def test_it_mends_what_is_said_thirty_times() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for objective in ("cll", "mse"):
        weighted = cross_val_score(WeightedNaiveBayes(objective=objective), X, y, scoring="neg_log_loss", cv=3)
        plain = cross_val_score(NaiveBayes(), X, y, scoring="neg_log_loss", cv=3)
        assert weighted.mean() > plain.mean() / 3


def test_rows_come_and_go_and_the_weights_stay() -> None:
    X, y, _ = mixed()
    model = WeightedNaiveBayes().fit(X[:90], y[:90])
    w = dict(model.weights_)
    model.partial_fit(X[90:], y[90:])
    assert model.weights_ == w
    counted = NaiveBayes(schema=model.schema_).fit(X, y)
    given_them = WeightedNaiveBayes(counted, weights=w).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), given_them.predict_proba(X), atol=1e-10)
    model.forget(X[90:], y[90:])
    np.testing.assert_allclose(
        model.leave_one_out_log_proba(X[:5], y[:5])[0],
        WeightedNaiveBayes(NaiveBayes(schema=model.schema_), weights=w)
        .partial_fit(X[1:90], y[1:90], ["a", "b", "c"]).predict_log_proba(X[:1])[0],
        atol=1e-9,
    )  # fmt: skip
    assert clone(model).fit(X[:90], y[:90]).weights_ == pytest.approx(w)


@pytest.mark.slow
def test_it_is_an_estimator_like_others() -> None:
    X, y = load_iris(return_X_y=True)
    grid = GridSearchCV(make_pipeline(WeightedNaiveBayes(NaiveBayes())), {
        "weightednaivebayes__estimator__discretize": [None, "mdlp"],
        "weightednaivebayes__objective": ["cll", "mse"],
    }, cv=3).fit(X, y)  # fmt: skip
    assert grid.best_score_ > 0.9


def test_what_cannot_be_weighted_is_said() -> None:
    X, y, _ = mixed()
    with pytest.raises(ParameterError, match="objective='auc' is none of 'cll', 'mse'"):
        WeightedNaiveBayes(objective="auc").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="weights: there is no column 'told you'; the columns are 'told', "):
        WeightedNaiveBayes(weights={"told you": 1.0}).fit(X, y)
    with pytest.raises(ParameterError, match=r"weights\['told'\]=-1; it must be a number of 0 and more"):
        WeightedNaiveBayes(weights={"told": -1}).fit(X, y)
    with pytest.raises(ParameterError, match="the weights need the rows: call fit"):
        WeightedNaiveBayes().fit_stats(NaiveBayes().fit(X, y).stats_)
    with pytest.raises(ParameterError, match=r"column\(s\) .*told.*smooth the model"):
        WeightedNaiveBayes(NaiveBayes(smoothing="none")).fit(X, y)
    with pytest.warns(EstimationWarning, match="had not settled after 1 iterations"):
        WeightedNaiveBayes(max_iter=1).fit(X, y)


def test_a_weight_of_zero_takes_back_never() -> None:
    X = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    model = WeightedNaiveBayes(NaiveBayes(smoothing="none"), weights={"a": 1.0, "b": 1.0}).fit(X, list("mmnn"))
    other = WeightedNaiveBayes(NaiveBayes(smoothing="none"), weights={"a": 0.0}).fit(X, list("mmnn"))
    assert model.predict_proba(X[:1]).tolist() == [[1.0, 0.0]]
    assert other.predict_proba(X[:1]).tolist() == [[0.5, 0.5]]
    assert other.explain(X).status.tolist() == [Status.OK] * 4


def test_a_class_of_one_row_and_columns_that_say_nothing() -> None:
    X, y, _ = mixed(40)
    y.iloc[0] = "lone"
    X["flat"] = 1.0
    model = WeightedNaiveBayes().fit(X, y)
    assert all(np.isfinite(list(model.weights_.values())))
    assert model.weights_["flat"] == 1.0
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_declared_schema_and_chinese_names() -> None:
    data = load_dataset("watermelon3")
    X, y = data.frame[list(data.schema.features.names)], data.frame["好瓜"]
    model = WeightedNaiveBayes(NaiveBayes(schema=data.schema.features)).fit(X, y)
    assert list(model.weights_) == list(X.columns)
    assert model.schema_["色泽"].levels == data.schema["色泽"].levels
    one = Schema((Variable("a", "categorical", ("x", "y", "z"), declared=True),))
    few = WeightedNaiveBayes(NaiveBayes(schema=one)).fit(pd.DataFrame({"a": list("xxyy")}), list("mmnn"))
    assert few.explain(pd.DataFrame({"a": ["z"]})).posterior().round(12).tolist() == [[0.5, 0.5]]
