"""The likelihoods of single columns against scikit-learn (words), scipy (Poisson, kernels) and Weka's formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.naive_bayes import ComplementNB as TheirComplementNB
from sklearn.pipeline import make_pipeline

from bayes_engine import ComplementNB, NaiveBayes, load_dataset
from bayes_engine.table.text import WORD
from tests.conftest import crossed

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


@pytest.fixture(scope="module", params=["sms-spam", "sms-spam-zh"])
def messages(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, pd.Series]:
    data = load_dataset(request.param)
    text = next(v.name for v in data.schema if v.kind == "text")
    return data.frame[[text]].rename(columns={text: "text"}), data.frame[data.schema.target.name].astype(str)


RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"token_pattern": WORD}),
    ({"ngrams": (1, 2), "min_df": 2, "lowercase": False},
     {"token_pattern": WORD, "ngram_range": (1, 2), "min_df": 2, "lowercase": False}),
    ({"analyzer": "char", "ngrams": (1, 3), "max_features": 500},
     {"analyzer": "char", "ngram_range": (1, 3), "max_features": 500}),
    ({"analyzer": "char_wb", "ngrams": (2, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 2)}),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "likelihood"), crossed(RULES, ["multinomial", "bernoulli"]))
def test_words(messages: Any, rules: tuple[dict[str, Any], dict[str, Any]], likelihood: str) -> None:
    X, y = messages
    ours, theirs = rules
    half, alpha = len(y) // 2, 0.3
    model = NaiveBayes(alpha=alpha, likelihoods=likelihood, text={"columns": ["text"], **ours}).fit(X[:half], y[:half])
    reader = CountVectorizer(**theirs)
    counts = reader.fit_transform(X["text"][:half])
    oracle = (MultinomialNB if likelihood == "multinomial" else BernoulliNB)(alpha=alpha).fit(counts, y[:half])
    assert model.schema_["text"].levels == tuple(reader.get_feature_names_out())
    expected = oracle.predict_joint_log_proba(reader.transform(X["text"]))  # the other half holds unseen words
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), oracle.predict_proba(reader.transform(X["text"])), atol=1e-9)


def test_complement_on_tf_idf_is_scikit_learns_pipeline(messages: Any) -> None:
    X, y = messages
    models = (make_pipeline(CountVectorizer(token_pattern=WORD), TfidfTransformer(), model)
              for model in (ComplementNB(), TheirComplementNB()))  # fmt: skip
    ours, theirs = (model.fit(X["text"], y) for model in models)
    np.testing.assert_array_equal(ours.predict(X["text"]), theirs.predict(X["text"]))
    a, b = (m[-1].predict_joint_log_proba(m[:-1].transform(X["text"])) for m in (ours, theirs))
    np.testing.assert_allclose(a, b, rtol=1e-9)


def test_zeros_and_ones() -> None:
    rng = np.random.default_rng(4)
    X, y = (rng.random((120, 5)) < 0.3).astype(float), rng.integers(0, 3, 120)
    ours, theirs = NaiveBayes(likelihoods="bernoulli", alpha=0.4).fit(X, y), BernoulliNB(alpha=0.4).fit(X, y)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


def test_poisson() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = pd.DataFrame({"calls": rng.poisson([0.5, 3.0, 40.0], (200, 3))[np.arange(200), y]})
    model = NaiveBayes(likelihoods="poisson", smoothing="none", priors="uniform").fit(X, y)
    for x in (0, 1, 7, 55, 400):
        rates = [X["calls"][y == c].mean() for c in range(3)]
        expected = stats.poisson.logpmf(x, rates) - np.log(3)
        np.testing.assert_allclose(model.predict_joint_log_proba(pd.DataFrame({"calls": [x]}))[0], expected, rtol=1e-12)
    smoothed = NaiveBayes(likelihoods="poisson", alpha=2.0).fit(X, y).factor_.parts[1]
    sums = np.array([X["calls"][y == c].sum() for c in range(3)])
    gamma = stats.gamma(2.0 * X["calls"].mean() + sums, scale=1.0 / (2.0 + np.bincount(y)))
    np.testing.assert_allclose(smoothed.rate, gamma.mean(), rtol=1e-12)  # the posterior mean of its Gamma prior


def test_kernels_are_scipys_with_silvermans_factor() -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(likelihoods="kernel", priors="uniform").fit(X, y)
    grid = np.random.default_rng(0).uniform(-5, 15, (300, 4))
    expected = np.full((300, 3), -np.log(3.0))
    for c in range(3):
        for j in range(4):
            expected[:, c] += stats.gaussian_kde(X[y == c, j], bw_method="silverman").logpdf(grid[:, j])
    ours = model.predict_joint_log_proba(grid)
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def weka_probability(x: float, values: np.ndarray, precision: float) -> float:
    """`weka.estimators.KernelEstimator`, written out: values rounded, σ = max(range/√n, precision/6), the mass of the
    bumps within x ± precision/2."""
    rounded = np.rint(values / precision) * precision
    sd = max((rounded.max() - rounded.min()) / math.sqrt(len(rounded)), precision / 6)
    up, down = (x + precision / 2 - rounded) / sd, (x - precision / 2 - rounded) / sd
    return float((stats.norm.cdf(up) - stats.norm.cdf(down)).sum() / len(rounded))


def test_kernels_by_wekas_rule() -> None:
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).uniform(0, 0.01, X.shape)  # no ties, which fall as the last digit has it
    model = NaiveBayes(likelihoods="kernel-range").fit(X, y)
    for j, part in enumerate(model.factor_.parts[1:]):
        distinct = np.unique(X[:, j])
        precision = np.diff(distinct).mean()
        assert part.precision == pytest.approx(precision, rel=1e-12)
        x = np.linspace(distinct[0] - 0.2, distinct[-1] + 0.2, 23)
        for c in range(3):
            expected = [weka_probability(v, X[y == c, j], precision) for v in x]
            got = np.exp(part.at(x)[:, c]) * precision
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("method", ["mdlp", "equal-width", "quantile"])
def test_intervals_of_one_column_are_those_of_all(method: Any) -> None:
    X, y = load_iris(return_X_y=True)
    one = NaiveBayes(likelihoods={"x2": method}).fit(X, y)
    every = NaiveBayes(discretize=method).fit(X, y)
    assert one.schema_["x2"].cuts == every.schema_["x2"].cuts
    assert [v.name for v in one.schema_ if v.cuts is not None] == ["x2"]
    by_name = NaiveBayes(likelihoods=method).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), every.predict_proba(X))
