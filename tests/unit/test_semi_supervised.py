"""SemiSupervisedNB: nothing hidden is the supervised fit, every step climbs, mixed tables and words, its errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from bayes_engine import EstimationWarning, LossMatrix, NaiveBayes, load_dataset
from bayes_engine.em import Collapse
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.counted_naive_bayes import BernoulliNB, MultinomialNB
from bayes_engine.models.hidden_labels import expected_log_likelihood
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import MixtureParameters
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from tests.conftest import crossed


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    y = pd.Series(rng.choice(["no", "yes"], 300), name="bought")
    X = pd.DataFrame(
        {
            "colour": np.where((y == "yes") ^ (rng.random(300) < 0.2), "green", "dark"),
            "shape": rng.choice(["round", "long", "flat"], 300),
            "price": np.where(y == "yes", 3.0, 5.0) + rng.normal(0, 0.7, 300),
        }
    )
    return X.mask(rng.random(X.shape) < 0.1), y


@pytest.fixture
def words() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(30, 0.3), 3)
    y = rng.integers(0, 3, 150)
    return sparse.csr_array(np.stack([rng.multinomial(40, topics[c]) for c in y]).astype(float)), y


def partly(y: Any, share: float, seed: int = 3) -> pd.Series:
    hidden = np.random.default_rng(seed).random(len(y)) < share
    return pd.Series(y).astype(object).mask(hidden)


# nothing hidden ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [{}, {"smoothing": "zero-only", "variance": "unbiased", "priors": "laplace"}, {"missing": "category"}],
)
def test_nothing_hidden_is_the_supervised_fit(mixed: Any, parameters: dict[str, Any]) -> None:
    X, y = mixed
    supervised = NaiveBayes(**parameters).fit(X, y)
    model = SemiSupervisedNB(NaiveBayes(**parameters)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), supervised.predict_proba(X))
    assert model.classes_.tolist() == ["no", "yes"] and model.converged_
    by_rows = supervised.predict_joint_log_proba(X)[range(300), (y == "yes").astype(int)].sum()
    assert model.trace_.last.log_likelihood == pytest.approx(by_rows, rel=1e-12)


def test_one_hot_responsibilities_are_labels(mixed: Any) -> None:
    X, y = mixed
    r = np.eye(2)[(y == "yes").to_numpy().astype(int)]
    start = SemiSupervisedNB(classes=["no", "yes"], init=r, max_iter=0, unlabeled_weight=2.0)
    with pytest.warns(EstimationWarning, match="EM has not converged"):
        soft = start.fit(X, pd.Series([None] * 300, name="bought"))
    supervised = NaiveBayes().fit(X, y, np.full(300, 2.0))
    np.testing.assert_allclose(soft.predict_joint_log_proba(X), supervised.predict_joint_log_proba(X), rtol=1e-12)


@pytest.mark.parametrize("estimator", [MultinomialNB(), BernoulliNB(alpha=0.5)])
def test_nothing_hidden_over_words(words: Any, estimator: Any) -> None:
    X, y = words
    model = SemiSupervisedNB(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), estimator.fit(X, y).predict_proba(X))


# hidden --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hard", "smoothing", "priors"),
    crossed([False, True], ["all", "none"], ["empirical", "laplace", {"no": 0.3, "yes": 0.7}]),
)
def test_NF44_every_step_climbs_over_a_mixed_table(mixed: Any, hard: bool, smoothing: Any, priors: Any) -> None:
    X, y = mixed
    inner = NaiveBayes(smoothing=smoothing, priors=priors, alpha=0.7)
    model = SemiSupervisedNB(inner, hard=hard, tol=1e-10).fit(X, partly(y, 0.9))
    climbs(model)
    name = "classification likelihood" if hard else "log-likelihood"
    prior = smoothing == "all" or priors == "laplace"
    assert model.trace_.objective == (f"{name} + log prior" if prior else name)
    assert (model.predict(X) == y).mean() > 0.85


@pytest.mark.parametrize("estimator", [MultinomialNB(alpha=0.3), BernoulliNB(alpha=0.5)])
@pytest.mark.parametrize("hard", [False, True])
def test_NF44_every_step_climbs_over_words(words: Any, estimator: Any, hard: bool) -> None:
    X, y = words
    climbs(SemiSupervisedNB(estimator, hard=hard).fit(X, partly(y, 0.8)))


def climbs(model: SemiSupervisedNB) -> None:
    table = model.trace_.table()
    size = 1e-9 * table["objective"].abs().max()
    assert len(table) > 2 and table["change"][1:].min() >= -size
    np.testing.assert_allclose(table["q"] + table["entropy"], table["objective"] - table["log_prior"], rtol=1e-12)
    if not model.hard:
        np.testing.assert_allclose(table["q"] + table["entropy"], table["log_likelihood"], rtol=1e-12)
        assert (table["lower_bound"][1:] <= table["log_likelihood"][1:] + size).all()
    reached = table["lower_bound"][1:].to_numpy() + table["log_prior"][1:].to_numpy()
    assert (reached >= table["objective"][:-1].to_numpy() - size).all()
    assert model.trace_.last.parameters is not model.factor_  # settled anew from the statistics behind it, and alike
    np.testing.assert_allclose(
        expected_log_likelihood(model.stats_, model.factor_),
        expected_log_likelihood(model.stats_, model.trace_.last.parameters),
        rtol=1e-15,
    )


def test_labels_that_are_known_stay_and_the_others_are_found(mixed: Any) -> None:
    X, y = mixed
    shown = partly(y, 0.95)
    model = SemiSupervisedNB().fit(X, shown)
    known = shown.notna().to_numpy()
    np.testing.assert_array_equal(model.responsibilities_[known], np.eye(2)[(y[known] == "yes").astype(int)])
    alone = NaiveBayes().fit(X[known], y[known])
    assert (model.predict(X) == y).mean() >= (alone.predict(X) == y).mean()
    assert model.stats_.class_weight.sum() == pytest.approx(300)


def test_hidden_rows_of_weight_zero_say_nothing(mixed: Any) -> None:
    X, y = mixed
    shown = partly(y, 0.5)
    known = shown.notna()
    model = SemiSupervisedNB(unlabeled_weight=0.0).fit(X, shown)
    schema = model.schema_
    alone = NaiveBayes(schema=schema).fit(X[known], y[known])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-9)


def test_weights_are_repeated_rows(mixed: Any) -> None:
    X, y = mixed
    shown, weight = partly(y, 0.8), np.random.default_rng(0).integers(1, 4, 300)
    often = np.repeat(np.arange(300), weight)
    a = SemiSupervisedNB(tol=1e-12).fit(X, shown, weight)
    b = SemiSupervisedNB(tol=1e-12).fit(X.iloc[often].reset_index(drop=True), shown.iloc[often].reset_index(drop=True))
    assert a.trace_.last.log_likelihood == pytest.approx(b.trace_.last.log_likelihood, rel=1e-10)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("mark", [-1, "?"])
def test_a_value_may_stand_for_hidden(mixed: Any, mark: Any) -> None:
    X, y = mixed
    shown = partly(y, 0.5)
    a, b = SemiSupervisedNB().fit(X, shown), SemiSupervisedNB(hidden=mark).fit(X, shown.fillna(mark))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.slow
def test_diagonal_gaussians_with_all_labels_hidden_are_the_mixture() -> None:
    X = load_iris().data
    theta = MixtureParameters(np.ones(3) / 3, X[[0, 60, 120]], np.stack([X.var(axis=0)] * 3), "diagonal")
    mixture = GaussianMixture(3, covariance="diagonal", init=theta, tol=1e-10).fit(X)
    r = mixture.trace_.steps[0].responsibilities
    hidden = SemiSupervisedNB(classes=3, init=r, tol=1e-10).fit(pd.DataFrame(X))
    ours, theirs = hidden.trace_.table()["log_likelihood"], mixture.trace_.table()["log_likelihood"]
    n = min(len(ours), len(theirs) - 1)
    assert n > 10
    np.testing.assert_allclose(ours.iloc[:n], theirs.iloc[1 : n + 1], rtol=1e-10)
    np.testing.assert_allclose(hidden.predict_proba(pd.DataFrame(X)), mixture.predict_proba(X), atol=1e-3)


def test_all_hidden_over_words_is_the_mixture_of_unigrams(words: Any) -> None:
    X, y = words
    model = SemiSupervisedNB(MultinomialNB(alpha=0.1), classes=3, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.predict(X)) > 0.95
    assert (np.diff(model.stats_.class_weight) <= 0).all() and model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(model.trace_.last.responsibilities, model.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(X.toarray()), atol=1e-12)


def test_NF43_seeds_differ_and_the_classes_do_not(words: Any) -> None:
    X, _ = words
    models = [
        SemiSupervisedNB(MultinomialNB(), classes=3, n_init=5, tol=1e-13, random_state=s).fit(X) for s in range(3)
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.stats_.class_weight, models[0].stats_.class_weight, rtol=1e-5)


def test_watermelons_with_half_their_labels() -> None:
    melons = load_dataset("watermelon3")
    frame, schema = melons.frame, melons.schema
    features = [v.name for v in schema.features]
    assert schema.target is not None
    y = frame[schema.target.name].astype(object)
    shown = y.where(np.arange(17) % 2 == 0, None)
    inner = NaiveBayes(schema=schema.features, tied_variance=True)
    model = SemiSupervisedNB(inner).fit(frame[features], shown)
    climbs(model)
    slip = model.explain(frame[features].iloc[[0]])
    np.testing.assert_allclose(slip.posterior(), model.predict_proba(frame[features].iloc[[0]]))
    np.testing.assert_allclose(slip.joint(), model.predict_joint_log_proba(frame[features].iloc[[0]]))
    dear = LossMatrix.zero_one(model.classes_.tolist()).with_refusal(0.0)
    assert model.decide(frame[features], dear).action.tolist().count(None) == 0
    assert model.risk(frame[features]).shape == (17, 2)


def test_NF41_a_class_without_spread_has_collapsed() -> None:
    X = pd.DataFrame({"x": [0.0, 0.0, 0.0, 5.0, 6.0, 7.0]})
    with pytest.raises(Collapse, match=r"class '.' has collapsed: it has no spread left in column 'x'; take tied"):
        SemiSupervisedNB(classes=2, init=np.eye(2)[[0, 0, 0, 1, 1, 1]]).fit(X)
    tied = SemiSupervisedNB(NaiveBayes(tied_variance=True), classes=2, init=np.eye(2)[[0, 0, 0, 1, 1, 1]]).fit(X)
    assert tied.predict(X).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.slow
def test_pickle_and_seed(mixed: Any) -> None:
    X, _ = mixed
    a, b = (
        SemiSupervisedNB(NaiveBayes(tied_variance=True), classes=2, n_init=3, random_state=5).fit(X) for _ in range(2)
    )
    again = pickle.loads(pickle.dumps(a))  # noqa: S301 - our own
    assert (again.predict_proba(X) == b.predict_proba(X)).all() and again.trace_.n_iter == b.n_iter_


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (
            NaiveBayes(smoothing="zero-only"),
            r"smoothing='zero-only' does not go with hidden labels: .* take smoothing='all'",
        ),
        (
            NaiveBayes(variance="unbiased"),
            r"variance='unbiased' does not go with hidden labels: .* take variance=",
        ),
    ],
)
def test_what_maximizes_nothing_is_refused(mixed: Any, inner: Any, words: str) -> None:
    X, y = mixed
    with pytest.raises(ParameterError, match=words):
        SemiSupervisedNB(inner).fit(X, partly(y, 0.5))


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({}, TableError, "every label is hidden; say how many classes there are: classes=2"),
        ({"classes": 1}, TableError, r"the target holds 1 class \('0'\)"),
        ({"classes": 2, "init": np.ones((3, 2))}, ParameterError, r"init has the shape \(3, 2\)"),
        ({"classes": 2, "init": "best"}, ParameterError, "init='best' is none of 'labels', 'random'"),
        ({"classes": 2, "unlabeled_weight": -1}, ParameterError, "unlabeled_weight=-1; it must be a number of 0"),
        ({"classes": 2, "estimator": GaussianMixture()}, ParameterError, "it must be a NaiveBayes, MultinomialNB"),
    ],
)
def test_what_cannot_be_meant(mixed: Any, parameters: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        SemiSupervisedNB(**parameters).fit(mixed[0], [None] * 300)


def test_a_number_of_classes_is_for_labels_that_are_all_hidden(mixed: Any) -> None:
    X, y = mixed
    with pytest.raises(ParameterError, match="classes=2 is for labels that are all hidden; list the classes instead"):
        SemiSupervisedNB(classes=2).fit(X, y)
    with pytest.raises(TableError, match="requires y to be passed, but the target y is None"):
        SemiSupervisedNB().fit(X)


def test_a_class_without_a_labelled_row_may_be_declared(mixed: Any) -> None:
    X, y = mixed
    shown = y.astype(object).where(y == "yes", None)
    shown[shown.notna() & (np.arange(300) > 40)] = None
    model = SemiSupervisedNB(NaiveBayes(tied_variance=True), classes=["no", "yes"], random_state=0).fit(X, shown)
    assert (model.predict(X) == y).mean() > 0.9
