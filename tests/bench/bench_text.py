"""Texts from their strings, beside CountVectorizer and scikit-learn's naive Bayes, ratios of CPU time, and kernel
densities beside scipy's: `python -m tests.bench.bench_text`.

One thread, same inputs, one run. Reading the texts is CountVectorizer's work on both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde
from sklearn import naive_bayes as peers
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from bayes_engine import NaiveBayes
from bayes_engine.logspace import exp
from tests.bench.goals import Ratio, cpu

TEXTS, VOCABULARY, WORDS = 10_000, 30_000, 40
VALUES = 5_000
MODELS = {"multinomial": peers.MultinomialNB, "bernoulli": peers.BernoulliNB}


def texts() -> tuple[pd.DataFrame, np.ndarray]:
    """Words by Zipf's law."""
    rng = np.random.default_rng(0)
    share = 1.0 / (np.arange(VOCABULARY) + 10.0)
    drawn = rng.choice(VOCABULARY, size=(TEXTS, WORDS), p=share / share.sum())
    return pd.DataFrame({"text": [" ".join(f"w{w}" for w in row) for row in drawn]}), rng.integers(0, 3, TEXTS)


def speed(likelihood: str, repeats: int = 3) -> list[Ratio]:
    X, y = texts()
    ours: Any = NaiveBayes(likelihoods=likelihood, text={"columns": ["text"]}).fit(X, y)
    theirs = make_pipeline(CountVectorizer(), MODELS[likelihood]()).fit(X["text"], y)
    fit = cpu(lambda: ours.fit(X, y), lambda: theirs.fit(X["text"], y), repeats=repeats)
    predict = cpu(lambda: ours.predict_proba(X), lambda: theirs.predict_proba(X["text"]), repeats=repeats)
    return [Ratio(f"{likelihood}.fit", *fit, 1.5), Ratio(f"{likelihood}.predict_proba", *predict, 1.5)]


def kernels(repeats: int = 3) -> Ratio:
    x = np.random.default_rng(0).normal(size=(VALUES, 1))
    y = np.arange(VALUES) % 2
    model = NaiveBayes(likelihoods="kernel").fit(x, y)
    peer = [gaussian_kde(x[y == c, 0], "silverman") for c in (0, 1)]
    times = cpu(lambda: exp(model.predict_joint_log_proba(x)), lambda: [p(x[:, 0]) for p in peer], repeats=repeats)
    return Ratio(f"kernel.predict, {VALUES:,} values on {VALUES:,} rows", *times, 1.0)


@pytest.mark.bench
@pytest.mark.parametrize("likelihood", MODELS)
def test_speed_of_texts(likelihood: str) -> None:
    with threadpool_limits(1):
        for ratio in speed(likelihood):
            assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.2f}, wanted {ratio.bound:.2f} at most"


@pytest.mark.bench
def test_speed_of_kernels() -> None:
    with threadpool_limits(1):
        assert kernels().value <= 1.0


if __name__ == "__main__":
    with threadpool_limits(1):
        for ratio in (*speed("multinomial"), *speed("bernoulli"), kernels()):
            times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
            print(f"{ratio.value:6.2f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
