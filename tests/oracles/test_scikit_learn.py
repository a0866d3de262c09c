"""scikit-learn as the oracle: equal numbers where it is sound, and all of its conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesEngineError,
    KDependence,
    LossMatrix,
    MinimumRiskClassifier,
    NaiveBayes,
    Schema,
    Variable,
    risk_scorer,
)


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes(smoothing="zero-only", priors="laplace", variance="unbiased"),
        NaiveBayes(tied_variance=True, priors="uniform", missing="category", unseen="smooth"),
        NaiveBayes(likelihoods="kernel"),
        NaiveBayes(likelihoods="kernel-range"),
        *(model(discretize=way) for model in (SPODE, TAN, AODE, KDependence) for way in ("mdlp", None)),
        MinimumRiskClassifier(),
        MinimumRiskClassifier(LogisticRegression()),
    ]
)
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


# equal numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("weighed", [False, True])
def test_gaussian(load: Any, weighed: bool) -> None:
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 3, len(y)) if weighed else None
    ours, theirs = NaiveBayes().fit(X, y, weight), GaussianNB(var_smoothing=0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("alpha", [1e-10, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("weighed", [False, True])
def test_categorical(alpha: float, weighed: bool) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 6, (200, 5)), rng.integers(0, 3, 200)
    X[:, 4] //= 3  # levels 2 … 5 of the last column have no row
    weight = rng.uniform(0.5, 3, 200) if weighed else None
    schema = Schema(tuple(Variable(f"x{j}", "categorical", tuple(range(6)), declared=True) for j in range(5)))
    ours = NaiveBayes(alpha=alpha, schema=schema).fit(X, y, weight)
    theirs = CategoricalNB(alpha=alpha, min_categories=6).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("priors", ["empirical", "uniform", {0: 0.2, 1: 0.3, 2: 0.5}])
def test_bernoulli(priors: Any) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.random((150, 6)) < 0.3, rng.integers(0, 3, 150)
    ours = NaiveBayes(alpha=0.7, priors=priors).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    known: dict[str, Any] = {"empirical": {}, "uniform": {"fit_prior": False}}.get(
        priors if isinstance(priors, str) else "", {"class_prior": [0.2, 0.3, 0.5]}
    )
    theirs = BernoulliNB(alpha=0.7, binarize=None, **known).fit(X.astype(float), y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(pd.DataFrame(X, columns=list("abcdef"))),
        theirs.predict_joint_log_proba(X.astype(float)),
        rtol=1e-9,
    )


def test_partial_fit_agrees_with_fit_where_scikit_learn_s_own_does_not() -> None:
    X, y = load_iris(return_X_y=True)
    ours = NaiveBayes().fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    np.testing.assert_allclose(ours.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), atol=1e-12)


# conventions --------------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    y = pd.Series(rng.choice(["no", "yes"], 90), name="bought")
    X = pd.DataFrame(
        {
            "colour": np.where((y == "yes") ^ (rng.random(90) < 0.2), "green", "dark"),
            "price": np.where(y == "yes", 3.0, 5.0) + rng.normal(0, 1.5, 90),
        }
    )
    return X.mask(rng.random(X.shape) < 0.1), y


def test_get_params_set_params_clone() -> None:
    model = NaiveBayes(alpha=0.3, priors={"a": 0.5, "b": 0.5}, smoothing="zero-only")
    assert clone(model).get_params() == model.get_params()
    assert set(model.get_params()) == {
        "alpha",
        "smoothing",
        "priors",
        "variance",
        "tied_variance",
        "var_floor",
        "likelihoods",
        "text",
        "missing",
        "unseen",
        "discretize",
        "bins",
        "schema",
    }
    assert model.set_params(alpha=2.0).alpha == 2.0
    wrapped = clone(MinimumRiskClassifier(model, LossMatrix.zero_one(["a", "b"]).with_refusal(0.1)))
    assert wrapped.loss == LossMatrix.zero_one(["a", "b"]).with_refusal(0.1)
    assert wrapped.get_params()["estimator__alpha"] == 2.0


def test_feature_names_and_their_errors(mixed: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = mixed
    model = NaiveBayes().fit(X, y)
    assert model.feature_names_in_.tolist() == ["colour", "price"] and model.n_features_in_ == 2
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.predict(X[["price", "colour"]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- size"):
        model.predict(X.assign(size=1.0))


def test_strings_numbers_and_missing_cells_in_cross_validation(mixed: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = mixed
    scores = cross_validate(NaiveBayes(), X, y, scoring=["accuracy", "neg_log_loss", "roc_auc"], error_score="raise")
    assert scores["test_accuracy"].mean() > 0.75
    assert cross_val_predict(NaiveBayes(), X, y, method="predict_proba").shape == (90, 2)


def test_grid_search_over_alpha(mixed: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = mixed
    grid = GridSearchCV(NaiveBayes(), {"alpha": [0.01, 1.0, 100.0]}, scoring="neg_log_loss", error_score="raise")
    assert grid.fit(X, y).best_params_["alpha"] in (0.01, 1.0)
    nested = GridSearchCV(
        MinimumRiskClassifier(NaiveBayes(), {"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}}),
        {"estimator__alpha": [0.1, 1.0]},
        scoring=risk_scorer(),
        error_score="raise",
    )
    assert nested.fit(X, y).best_score_ <= 0


def test_pipeline_and_set_output() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), NaiveBayes()).set_output(transform="pandas")
    pipeline.fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == X.columns.tolist()
    np.testing.assert_allclose(pipeline.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), atol=1e-9)  # units
    assert pipeline.score(X, y) > 0.94


def test_minimum_risk_in_a_pipeline_moves_with_the_loss(mixed: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = mixed
    counts = []
    for cost in (1, 3, 10):
        loss = {"no": {"no": 0, "yes": cost}, "yes": {"no": 1, "yes": 0}}
        counts.append((make_pipeline(MinimumRiskClassifier(NaiveBayes(), loss)).fit(X, y).predict(X) == "yes").sum())
    assert counts[0] < counts[1] < counts[2]


def test_minimum_risk_over_any_classifier() -> None:
    X, y = load_iris(return_X_y=True)
    base = LogisticRegression(max_iter=500)
    plain = MinimumRiskClassifier(base).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), base.fit(X, y).predict(X))
    refusing = MinimumRiskClassifier(base, LossMatrix.zero_one([0, 1, 2]).with_refusal(0.1)).fit(X, y)
    unsure = base.predict_proba(X).max(axis=1) < 0.9
    np.testing.assert_array_equal(refusing.predict(X) == "refuse", unsure)
    assert 0 < unsure.sum() < 150
    np.testing.assert_array_equal(refusing.decide(X).action, refusing.predict(X))


@pytest.mark.parametrize("estimator", [GaussianNB(), NaiveBayes(), make_pipeline(StandardScaler(), NaiveBayes())])
def test_risk_scorer(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    by_default = cross_val_score(estimator, X, y, scoring=risk_scorer(), error_score="raise")
    np.testing.assert_allclose(by_default, cross_val_score(estimator, X, y) - 1.0, atol=1e-12)  # 0-1: minus the error
    loss = {i: {j: 7.0 * (i != j) for j in range(3)} for i in range(3)}
    np.testing.assert_allclose(cross_val_score(estimator, X, y, scoring=risk_scorer(loss)), 7 * by_default, atol=1e-12)


def test_risk_scorer_names_a_wrong_label() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(BayesEngineError, match="no column for the class '0'"):
        risk_scorer(LossMatrix.zero_one(["a", "b", "c"]))(GaussianNB().fit(X, y), X, y)
