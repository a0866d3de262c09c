"""The five naive Bayes beside scikit-learn's, ratios of CPU time and of memory: `python -m tests.bench.bench_counted`.

One thread, same inputs, one run. Texts are counts as CountVectorizer gives them: int64 in CSR, terms by Zipf's law. Of
whole numbers class and posterior are found in fixed point (factors/fixed_point.py); of fractions, as tf-idf gives them,
nearly all of a prediction is SciPy's product of the CSR matrix with the table of log terms, on both sides alike.
Memory is the peak beyond input and output, as a share of the input.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import naive_bayes as peers
from threadpoolctl import threadpool_info, threadpool_limits

import bayes_engine
from tests.bench.bench_naive_bayes import CLASSES, COLUMNS, LEVELS, ROWS
from tests.bench.goals import Ratio, cpu

GAUSSIAN_COLUMNS = 30
TEXTS, VOCABULARY, WORDS = 100_000, 50_000, 100


def texts() -> tuple[sparse.csr_matrix, np.ndarray]:
    """About 100 different terms a text; a topic a class, so that the posteriors are not all alike."""
    rng = np.random.default_rng(0)
    share = 1.0 / (np.arange(VOCABULARY) + 10.0)
    drawn = rng.choice(VOCABULARY, size=TEXTS * WORDS * 108 // 100, p=share / share.sum())
    term = rng.permutation(VOCABULARY)[drawn]
    text = np.repeat(np.arange(TEXTS), WORDS * 108 // 100)
    counts = sparse.csr_matrix((np.ones(len(term), dtype=np.int64), (text, term)), shape=(TEXTS, VOCABULARY))
    return counts, rng.integers(0, CLASSES, TEXTS)


def categories() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, LEVELS, (ROWS, COLUMNS)), rng.integers(0, CLASSES, ROWS)


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, GAUSSIAN_COLUMNS)), rng.integers(0, CLASSES, ROWS)


CASES: dict[str, tuple[Callable[[], tuple[Any, np.ndarray]], dict[str, float]]] = {
    "CategoricalNB": (categories, {"fit": 0.10, "predict_proba": 0.12}),
    "GaussianNB": (numbers, {"fit": 0.25, "predict": 0.15}),
    "MultinomialNB": (texts, {"fit": 0.5, "predict": 0.5, "predict_proba": 0.5}),
    "ComplementNB": (texts, {"fit": 0.5, "predict": 0.5, "predict_proba": 0.5}),
    "BernoulliNB": (texts, {"fit": 0.3, "predict": 0.4}),
}
MEMORY = 0.5


def speed(name: str, repeats: int = 5) -> list[Ratio]:
    make, bounds = CASES[name]
    X, y = make()
    ours, peer = getattr(bayes_engine, name)().fit(X, y), getattr(peers, name)().fit(X, y)
    found = []
    for verb, bound in bounds.items():
        arguments = (X, y) if verb == "fit" else (X,)
        mine, theirs = cpu(
            lambda verb=verb, arguments=arguments: getattr(ours, verb)(*arguments),
            lambda verb=verb, arguments=arguments: getattr(peer, verb)(*arguments),
            repeats=repeats,
        )
        found.append(Ratio(f"{name}.{verb}, {' x '.join(f'{k:,}' for k in X.shape)}", mine, theirs, bound))
    return found


def memory(name: str) -> list[tuple[str, float]]:
    """Peak beyond input and output, as a share of the input."""
    make, bounds = CASES[name]
    X, y = make()
    given = sum(a.nbytes for a in ((X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)))
    model = getattr(bayes_engine, name)().fit(X, y)
    found = []
    for verb in bounds:
        tracemalloc.start()
        result = getattr(model, verb)(*((X, y) if verb == "fit" else (X,)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.append((f"{name}.{verb}", (peak - getattr(result, "nbytes", 0)) / given))
    return found


@pytest.mark.bench
@pytest.mark.parametrize("name", CASES)
def test_speed(name: str) -> None:
    with threadpool_limits(1):
        for ratio in speed(name):
            assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.2f}, wanted {ratio.bound:.2f} at most"


@pytest.mark.bench
@pytest.mark.parametrize("name", CASES)
def test_memory(name: str) -> None:
    for what, share in memory(name):
        assert share <= MEMORY, f"{what}: {share:.2f} of the input beyond input and output"


if __name__ == "__main__":
    with threadpool_limits(1):
        print(*(f"{pool['internal_api']}: {pool['num_threads']} thread" for pool in threadpool_info()), sep=", ")  # noqa: T201
        print(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")  # noqa: T201
        for name in CASES:
            for ratio in speed(name):
                times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
                print(f"{ratio.value:6.2f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
            for what, share in memory(name):
                print(f"{share:6.2f} {MEMORY:6.2f} {'':19}  memory, {what}")  # noqa: T201
