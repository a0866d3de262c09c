"""How many classes where no label is seen: against the likelihood worked by hand, and on data that has three."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.feature_extraction.text import CountVectorizer

from bayes_engine import NaiveBayes
from bayes_engine.models.class_numbers import classes_table

pytestmark = pytest.mark.slow
TOPICS = ("goal team match ball win", "stock bank rate fund price", "cell gene drug dose trial")


def texts(n: int = 150, seed: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"note": [" ".join(rng.choice(TOPICS[i % 3].split(), 8)) for i in range(n)]})


def test_rows_held_out_and_bic_find_the_number_of_topics() -> None:
    found = classes_table(texts(), range(2, 6), NaiveBayes(likelihoods={"note": "multinomial"}), n_init=4)
    assert int(found["bic"].idxmin()) == int(found["icl"].idxmin()) == int(found["held_out"].idxmax()) == 3
    assert found["parameters"].tolist() == [k - 1 + k * 14 for k in range(2, 6)]


def test_the_criteria_are_those_of_the_likelihood_by_hand() -> None:
    """EM for a mixture of unigrams in NumPy, from where ours ended: the same likelihood, and no step onwards."""
    frame = texts(60)
    row = classes_table(frame, [3], NaiveBayes(likelihoods={"note": "multinomial"}), n_init=4, tol=1e-12).loc[3]
    counts = CountVectorizer().fit_transform(frame["note"]).toarray()
    best = -np.inf
    for seed in range(12):
        r = np.random.default_rng(seed).dirichlet(np.ones(3), len(counts))
        for _step in range(200):
            pi = r.mean(axis=0)  # the class prior is the frequency
            theta = r.T @ counts + 1.0
            theta /= theta.sum(axis=1, keepdims=True)
            joint = np.log(pi) + counts @ np.log(theta).T
            r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        best = max(best, float(logsumexp(joint, axis=1).sum()))
    assert row["log_likelihood"] == pytest.approx(best, abs=1e-3)
    assert row["bic"] == pytest.approx(row["parameters"] * np.log(60) - 2 * row["log_likelihood"])
    entropy = -float(np.where(r > 0, r * np.log(np.maximum(r, 1e-300)), 0.0).sum())
    assert row["icl"] - row["bic"] == pytest.approx(2 * entropy, abs=1e-3)
