"""EM on documents: a mixture of unigrams and semi-supervised text, against EM written out here for few words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.models.labelled_curve import accuracy_by_labels
from bayes_engine.models.semi_supervised import SemiSupervisedNB

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
TEXTS = ["win cash now", "cash cash win", "see you now", "you see me", "win you", "cash me now", "me me you", "now now"]
SEEN = ["spam", None, "ham", None, None, None, None, None]
ALPHA = 1.0


def by_hand(counts: np.ndarray, r: np.ndarray, weight: np.ndarray, known: np.ndarray, iterations: int) -> tuple:
    """EM of Nigam et al. by loops over documents and words: (π, θ, responsibilities, objectives)."""
    n, v = counts.shape
    k = r.shape[1]
    objectives = []
    for _iteration in range(iterations + 1):
        pi, theta = np.zeros(k), np.zeros((k, v))
        for c in range(k):
            of_class = sum(weight[i] * r[i, c] for i in range(n))
            pi[c] = of_class / weight.sum()
            for w in range(v):
                theta[c, w] = ALPHA + sum(weight[i] * r[i, c] * counts[i, w] for i in range(n))
            theta[c] /= theta[c].sum()
        objective = ALPHA * np.log(theta).sum()
        for i in range(n):
            p = np.array([pi[c] * np.prod(theta[c] ** counts[i]) for c in range(k)])
            if known[i] >= 0:
                objective += weight[i] * np.log(p[known[i]])
                r[i] = np.eye(k)[known[i]]
            else:
                objective += weight[i] * np.log(p.sum())
                r[i] = p / p.sum()
        objectives.append(objective)
    return pi, theta, r, objectives


def model(**parameters: object) -> SemiSupervisedNB:
    return SemiSupervisedNB(NaiveBayes(likelihoods={"t": "multinomial"}, alpha=ALPHA), tol=0.0, **parameters)


@pytest.mark.parametrize("unlabelled", [1.0, 0.3])
def test_semi_supervised_text_is_em_by_hand(unlabelled: float) -> None:
    X, counts = pd.DataFrame({"t": TEXTS}), CountVectorizer().fit_transform(TEXTS).toarray()
    known = np.array([{"ham": 0, "spam": 1}.get(c, -1) for c in SEEN])  # type: ignore[arg-type]
    start = np.random.default_rng(0).dirichlet([1.0, 1.0], len(TEXTS))
    start[known >= 0] = np.eye(2)[known[known >= 0]]
    ours = model(classes=["ham", "spam"], unlabeled_weight=unlabelled, init=start, max_iter=12).fit(X, SEEN)
    weight = np.where(known >= 0, 1.0, unlabelled)
    _pi, theta, r, objectives = by_hand(counts, start.copy(), weight, known, 12)
    leaf = ours.factor_.part_of("t")[0]  # type: ignore[index]
    np.testing.assert_allclose(np.exp(leaf.terms.present), theta, rtol=1e-10)  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.asarray(ours.responsibilities_), r, atol=1e-10)
    np.testing.assert_allclose([s.objective for s in ours.trace_.steps], objectives, rtol=1e-10)
    assert np.all(np.diff(objectives) >= -1e-10)


@pytest.mark.slow
def test_a_mixture_of_unigrams_is_em_by_hand() -> None:
    X, counts = pd.DataFrame({"t": TEXTS}), CountVectorizer().fit_transform(TEXTS).toarray()
    start = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], len(TEXTS))
    ours = model(classes=3, init=start, max_iter=25).fit(X)
    _pi, theta, r, objectives = by_hand(counts, start.copy(), np.ones(len(TEXTS)), np.full(len(TEXTS), -1), 25)
    leaf = ours.factor_.part_of("t")[0]  # type: ignore[index]
    np.testing.assert_allclose(np.exp(leaf.terms.present), theta, rtol=1e-9)  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.asarray(ours.responsibilities_), r, atol=1e-9)
    np.testing.assert_allclose([s.objective for s in ours.trace_.steps], objectives, rtol=1e-10)


@pytest.mark.slow
def test_all_labels_seen_or_the_unlabelled_rows_at_weight_0_is_multinomial_naive_bayes() -> None:
    data = load_dataset("sms-spam")
    X, y = data.frame[["message"]].rename(columns={"message": "t"}), data.frame["label"].astype(str)
    reader = CountVectorizer(token_pattern=r"[^\W]+").fit(X["t"])
    counts = reader.transform(X["t"])
    whole = MultinomialNB().fit(counts, y)
    seen = model().fit(X, y)
    np.testing.assert_allclose(seen.predict_proba(X), whole.predict_proba(counts), atol=1e-9)
    some = y.where(np.arange(len(y)) < 100)
    nothing = model(unlabeled_weight=0.0).fit(X, some)
    part = MultinomialNB().fit(counts[:100], y[:100])
    np.testing.assert_allclose(nothing.predict_proba(X), part.predict_proba(counts), atol=1e-9)


@pytest.mark.slow
def test_the_bound_of_present_words_rises_too() -> None:
    X = pd.DataFrame({"t": TEXTS})
    made = SemiSupervisedNB(NaiveBayes(likelihoods={"t": "bernoulli"}, text={"columns": ["t"]}), max_iter=30)
    made.fit(X, SEEN)
    assert np.all(np.diff([s.objective for s in made.trace_.steps]) >= -1e-10)


@pytest.mark.slow
def test_the_curve_is_supervised_accuracy_on_rows_never_seen() -> None:
    data = load_dataset("sms-spam")
    X, y = data.frame[["message"]].rename(columns={"message": "t"}), data.frame["label"].astype(str)
    estimator = NaiveBayes(likelihoods={"t": "multinomial"})
    curve = accuracy_by_labels(X, y, estimator, splits=2)
    assert curve.labels[0] == 2 and curve.labels[-1] == curve.rows == 420 and curve.held_out == 180
    np.testing.assert_array_equal(curve.em[:, -1], curve.supervised[:, -1])  # every label seen
    again = accuracy_by_labels(X, y, estimator, splits=2)
    np.testing.assert_array_equal(curve.em, again.em)
    assert curve.supervised[:, -1].min() > 0.95
