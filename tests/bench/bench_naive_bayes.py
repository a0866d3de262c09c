"""NaiveBayes beside scikit-learn, as ratios of CPU time in one run: `python tests/bench/bench_naive_bayes.py`.

The bounds are the promise; seconds depend on the machine and are printed only to see what the ratio is made of.
"""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_engine import LossMatrix, NaiveBayes, Schema, Variable
from bayes_engine.decision.loss import decide
from tests.bench.goals import Ratio, cpu

ROWS, COLUMNS, LEVELS, CLASSES = 1_000_000, 20, 8, 5


def categorical_fit() -> list[Ratio]:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, LEVELS, (ROWS, COLUMNS)), rng.integers(0, CLASSES, ROWS)
    levels = tuple(range(LEVELS))
    schema = Schema(tuple(Variable(f"x{j}", "categorical", levels, declared=True) for j in range(COLUMNS)))
    frame = pd.DataFrame({f"x{j}": pd.Categorical.from_codes(X[:, j], list(levels)) for j in range(COLUMNS)})
    array, category, peer = cpu(
        lambda: NaiveBayes(schema=schema).fit(X, y),
        lambda: NaiveBayes().fit(frame, y),
        lambda: CategoricalNB().fit(X, y),
        repeats=3,
    )
    what = f"fit, {ROWS:,} x {COLUMNS}, {LEVELS} levels, {CLASSES} classes"
    return [
        Ratio(f"{what}: integer array / CategoricalNB", array, peer, 0.2),
        Ratio(f"{what}: categories / CategoricalNB", category, peer, 1 / 3),
    ]


def mixed() -> list[Ratio]:
    """The model of tables, on what its peers read as matrices: categoricals, strings as `read_csv` gives them, both
    from the second time on, when strings are codes already, and numbers."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, LEVELS, (ROWS // 3, COLUMNS)), rng.integers(0, CLASSES, ROWS // 3)
    numbers = rng.normal(size=X.shape) + 0.3 * y[:, None]
    words = np.array([f"level {i}" for i in range(LEVELS)])
    levels = pd.DataFrame({f"x{j}": pd.Categorical.from_codes(X[:, j], list(words)) for j in range(COLUMNS)})
    strings = pd.read_csv(io.StringIO(pd.DataFrame(words[X]).to_csv(index=False)))
    found = []
    for what, ours, theirs, make in (
        ("categoricals", levels, X, CategoricalNB),
        ("strings", strings, X, CategoricalNB),
        ("an array of numbers", numbers, numbers, GaussianNB),
        ("a frame of numbers", pd.DataFrame(numbers), numbers, GaussianNB),
    ):
        model, other = NaiveBayes().fit(ours, y), make().fit(theirs, y)
        jobs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
            ("fit", lambda ours=ours: NaiveBayes().fit(ours, y),
             lambda other=other, theirs=theirs: other.fit(theirs, y)),
            ("predict_proba", lambda model=model, ours=ours: model.predict_proba(ours),
             lambda other=other, theirs=theirs: other.predict_proba(theirs)),
            ("predict", lambda model=model, ours=ours: model.predict(ours),
             lambda other=other, theirs=theirs: other.predict(theirs)),
        ]  # fmt: skip
        for verb, mine, peer in jobs:
            found.append(Ratio(f"{verb}, {what} / {make.__name__}", *cpu(mine, peer, repeats=5), 0.15))
    return found


def grid_posteriors() -> list[Ratio]:
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    axes = (np.linspace(low, high, 200) for low, high in zip(X.min(axis=0), X.max(axis=0), strict=True))
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    ours, theirs = NaiveBayes().fit(X, y), GaussianNB().fit(X, y)
    loss, posterior = LossMatrix.zero_one([0, 1, 2]).with_refusal(0.3), ours.predict_proba(grid)
    mine, edit, peer = cpu(
        lambda: ours.predict_proba(grid),
        lambda: decide(posterior, loss),
        lambda: theirs.predict_proba(grid),
        repeats=40,
    )
    return [
        Ratio("predict_proba, 200 x 200 grid of iris / GaussianNB", mine, peer, 1.0),
        Ratio("a loss edit on the same grid / GaussianNB's predict_proba", edit, peer, 2.0),
    ]


@pytest.mark.bench
@pytest.mark.parametrize("measure", [categorical_fit, mixed, grid_posteriors])
def test_ratios(measure: Callable[[], list[Ratio]]) -> None:
    for ratio in measure():
        assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.2f}, wanted {ratio.bound:.2f} at most"


if __name__ == "__main__":
    with threadpool_limits(1):
        print(*(f"{pool['internal_api']}: {pool['num_threads']} thread" for pool in threadpool_info()), sep=", ")  # noqa: T201
        print(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")  # noqa: T201
        for ratio in categorical_fit() + mixed() + grid_posteriors():
            times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
            print(f"{ratio.value:6.2f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
