"""The five classes with scikit-learn's names beside their namesakes: the same parameters, attributes and numbers."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import naive_bayes as peers
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayes_engine
from bayes_engine.errors import EstimationWarning
from tests.conftest import crossed

NAMES = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB")
OF_TERMS = NAMES[2:]
MORE = {"CategoricalNB": {"unseen"}}
"""Parameters that scikit-learn's class does not have."""
VERBS = ("predict_joint_log_proba", "predict_log_proba", "predict_proba", "predict")


@parametrize_with_checks([getattr(bayes_engine, name)() for name in NAMES])
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


class Pair(NamedTuple):
    ours: Any
    theirs: Any

    def fit(self, X: Any, y: Any, weight: Any = None) -> Pair:
        return Pair(self.ours.fit(X, y, weight), self.theirs.fit(X, y, weight))


def pair(name: str, **parameters: Any) -> Pair:
    return Pair(getattr(bayes_engine, name)(**parameters), getattr(peers, name)(**parameters))


def same(models: Pair, X: Any) -> None:
    for verb in VERBS:
        ours, theirs = getattr(models.ours, verb)(X), getattr(models.theirs, verb)(X)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=verb)
    for name, theirs in vars(models.theirs).items():
        if name.endswith("_") and not name.startswith("_"):
            ours = getattr(models.ours, name)
            for a, b in zip(ours, theirs, strict=True) if isinstance(theirs, list) else [(ours, theirs)]:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.fixture(scope="module")
def terms() -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Counts of 60 terms in 300 texts of four classes, with weights."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    rate = rng.gamma(0.3, 1.0, (4, 60))
    return sparse.csr_matrix(rng.poisson(rate[y])), y, rng.uniform(0.5, 3.0, 300)


def test_parameters_are_the_same() -> None:
    for name in NAMES:
        ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (bayes_engine, peers))
        assert {k: p.default for k, p in theirs.items()} == {
            k: p.default for k, p in ours.items() if k not in MORE.get(name, ())
        }
        assert set(ours) - set(theirs) == MORE.get(name, set())


# equal numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("parameters", [{}, {"var_smoothing": 0.0}, {"var_smoothing": 0.1}])
def test_gaussian(load: Any, parameters: Any) -> None:
    X, y = load(return_X_y=True)
    same(pair("GaussianNB", **parameters).fit(X, y), X)


def test_gaussian_with_weights_and_priors() -> None:
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(1).uniform(0.5, 3.0, len(y))
    models = pair("GaussianNB", var_smoothing=0.0, priors=[0.2, 0.3, 0.5]).fit(X, y, weight)
    same(models, X)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 7.5])
@pytest.mark.parametrize("least", [None, 9, [6, 7, 6, 6, 12]])
@pytest.mark.parametrize("weighed", [False, True])
def test_categorical(alpha: float, least: Any, weighed: bool) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 6, (1500, 5)), rng.choice(["a", "b", "c"], 1500)
    X[0] = 5
    weight = rng.uniform(0.5, 3.0, 1500) if weighed else None
    models = pair("CategoricalNB", alpha=alpha, min_categories=least).fit(X, y, weight)
    assert models.ours.n_categories_.tolist() == models.theirs.n_categories_.tolist()
    for verb in VERBS[:3]:
        np.testing.assert_allclose(getattr(models.ours, verb)(X), getattr(models.theirs, verb)(X), rtol=1e-9, atol=1e-9)
    for name in ("category_count_", "feature_log_prob_"):
        for a, b in zip(getattr(models.ours, name), getattr(models.theirs, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("name", OF_TERMS)
@pytest.mark.parametrize("form", [lambda X: X, lambda X: X.toarray(), lambda X: X.astype(float) * 0.37])
@pytest.mark.parametrize(
    ("parameters", "weighed"),
    crossed(
        [
            {},
            {"alpha": 0.01},
            {"fit_prior": False},
            {"class_prior": [0.1, 0.2, 0.3, 0.4]},
            {"alpha": 0, "force_alpha": False},
        ],
        [False, True],
    ),
)
@pytest.mark.filterwarnings("ignore:alpha")
def test_terms(name: str, form: Any, weighed: bool, parameters: Any, terms: Any) -> None:
    X, y, weight = terms
    if name == "BernoulliNB" and parameters.get("alpha") == 0:
        parameters = {"alpha": 1e-4}  # log(1 − exp(log p)) leaves scikit-learn six digits there
    same(pair(name, **parameters).fit(form(X), y, weight if weighed else None), form(X))


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_an_alpha_for_each_term(name: str, terms: Any) -> None:
    X, y, _ = terms
    same(pair(name, alpha=np.linspace(0.1, 2.0, X.shape[1])).fit(X, y), X)


def test_complement_with_norm(terms: Any) -> None:
    X, y, weight = terms
    same(pair("ComplementNB", norm=True).fit(X, y, weight), X)


@pytest.mark.parametrize("threshold", [0.0, 1.5, None])
def test_bernoulli_s_threshold(threshold: Any, terms: Any) -> None:
    X, y, _ = terms
    X = (X > 0).astype(float) if threshold is None else X
    same(pair("BernoulliNB", binarize=threshold).fit(X, y), X)


@pytest.mark.parametrize("name", NAMES[1:])
def test_partial_fit(name: str, terms: Any) -> None:
    X, y, weight = terms[0].toarray(), *terms[1:]
    models = pair(name)
    for rows in (slice(0, 100), slice(100, 110), slice(110, 300)):
        for model in models:
            parameters = {"classes": [0, 1, 2, 3]} if rows.start == 0 else {}
            model.partial_fit(X[rows], y[rows], sample_weight=weight[rows], **parameters)
    same(models, X) if name != "CategoricalNB" else np.testing.assert_allclose(
        models.ours.predict_joint_log_proba(X), models.theirs.predict_joint_log_proba(X), rtol=1e-9
    )


# where scikit-learn is not followed ---------------------------------------------------------------------------------


def test_gaussian_fit_is_partial_fit_where_scikit_learn_s_differ() -> None:
    X, y = load_wine(return_X_y=True)
    order = np.argsort(X[:, 12])  # the second half has another largest variance than the whole
    half, rest = order[:80], order[80:]
    models = pair("GaussianNB", var_smoothing=1e-3)
    with pytest.warns(EstimationWarning, match=r"class\(es\) 0 have the prior 0"):
        models.ours.partial_fit(X[half], y[half], classes=[0, 1, 2])
    models.theirs.partial_fit(X[half], y[half], classes=[0, 1, 2])
    for model in models:
        model.partial_fit(X[rest], y[rest])
    whole = pair("GaussianNB", var_smoothing=1e-3).fit(X, y)
    np.testing.assert_allclose(models.ours.var_, whole.ours.var_, rtol=1e-12)
    np.testing.assert_allclose(models.ours.predict_proba(X), whole.ours.predict_proba(X), atol=1e-12)
    assert np.abs(models.theirs.var_ / whole.theirs.var_ - 1.0).max() > 0.1


def test_counts_do_not_wrap() -> None:
    X, y = np.array([[2**62, 1], [2**62, 1], [1, 2**62]]), [0, 0, 1]
    with np.errstate(all="ignore"):
        models = pair("MultinomialNB").fit(X, y)
    assert (models.theirs.feature_count_ < 0).any()
    assert models.ours.feature_count_.tolist() == [[2.0**63, 2.0], [1.0, 2.0**62]]
    assert models.ours.predict(X).tolist() == y


@pytest.mark.parametrize("name", NAMES)
def test_negative_weights_are_refused(name: str) -> None:
    X, y = np.eye(4, dtype=int), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=r"sample_weight is -1.0 in row 2"):
        getattr(bayes_engine, name)().fit(X, y, [1, -1, 1, 1])


def test_far_points_have_no_nan() -> None:
    X, y = load_iris(return_X_y=True)
    models = pair("GaussianNB").fit(X, y)
    far = np.array([[1e155, 1.0, 1.0, 1.0], [1e200, 1.0, 1.0, 1.0], X[0]])
    with np.errstate(all="ignore"):
        assert np.isnan(models.theirs.predict_proba(far)).any()
    with pytest.raises(ValueError, match=r"no posterior for 2 rows: 0, 1"):
        models.ours.predict_proba(far)
    assert models.ours.decide(far).action.tolist()[2] == 0


def test_a_category_never_seen() -> None:
    X, y = [[0], [1], [1], [0]], ["a", "b", "b", "a"]
    with pytest.raises(IndexError):
        peers.CategoricalNB().fit(X, y).predict([[2]])
    with pytest.raises(ValueError, match="column 'x0' holds 2, not seen in training"):
        bayes_engine.CategoricalNB().fit(X, y).predict([[2]])
    assert bayes_engine.CategoricalNB(unseen="ignore").fit(X, y).predict_proba([[2]]).tolist() == [[0.5, 0.5]]


# conventions --------------------------------------------------------------------------------------------------------

TEXTS = ["goal and match", "match lost", "vote and law", "law passed by vote", "goal goal", "new law"]
TOPICS = ["sport", "sport", "law", "law", "sport", "law"]


@pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
@pytest.mark.parametrize("name", OF_TERMS)
def test_texts_in_a_pipeline(name: str, vectorizer: Any) -> None:
    ours, theirs = (make_pipeline(vectorizer, model) for model in pair(name))
    ours.fit(TEXTS, TOPICS)
    theirs.fit(TEXTS, TOPICS)
    np.testing.assert_allclose(ours.predict_proba(TEXTS), theirs.predict_proba(TEXTS), atol=1e-9)


def test_grid_search_and_feature_names(terms: Any) -> None:
    X = pd.DataFrame(terms[0].toarray()).add_prefix("word ")
    grid = GridSearchCV(bayes_engine.MultinomialNB(), {"alpha": [0.01, 1.0]}, error_score="raise").fit(X, terms[1])
    assert grid.best_estimator_.feature_names_in_[0] == "word 0"
    assert cross_val_score(bayes_engine.ComplementNB(), X, terms[1], error_score="raise").mean() > 0.8
