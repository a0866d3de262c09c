"""What would take gigabytes is refused before it is counted, in words, by every model."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesianNetwork,
    CategoricalNB,
    GaussianMixture,
    KDependence,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from bayes_engine.errors import ParameterError

resource = pytest.importorskip("resource")
rng = np.random.default_rng(0)


def words(n: int, columns: int, levels: int) -> pd.DataFrame:
    return pd.DataFrame({f"c{j}": [f"v{v}" for v in rng.integers(0, levels, n)] for j in range(columns)})


def two(n: int) -> Any:
    return np.array(["a", "b"])[np.arange(n) % 2]


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (lambda: NaiveBayes().fit(words(20_000, 1, 9_000), words(20_000, 1, 9_000)["c0"]), "target with fewer classes"),
        (lambda: NaiveBayes(likelihoods={"c0": "multinomial"}).fit(words(20_000, 1, 9_000),
                                                                    words(20_000, 1, 9_000)["c0"]), "levels or terms"),
        (lambda: CategoricalNB().fit([[0], [10**6]] * 50, list(range(100))), "100 classes and 1000002 levels"),
        (lambda: LinearDiscriminantAnalysis(shrinkage="oas").fit(rng.normal(size=(9, 6_000)), two(9)), "naive Bayes"),
        (lambda: QuadraticDiscriminantAnalysis(shrinkage=0.5).fit(rng.normal(size=(9, 6_000)), two(9)), "columns"),
        (lambda: GaussianMixture(3, reg_covar=1e-3).fit(rng.normal(size=(9, 6_000))), "3 covariance matrices of 6000"),
        (lambda: SPODE().fit(words(9_000, 2, 3_000), two(9_000)), "1.6.e.07 cells"),
        (lambda: TAN().fit(words(20_000, 2, 17_000), two(20_000)), "the most levels"),
        (lambda: AODE().fit(words(100, 2_000, 2), two(100)), "pairs of columns are expected"),
        (lambda: KDependence(k=4).fit(words(2_000, 10, 100), two(2_000)), "the most levels"),
        (lambda: BayesianNetwork([("c0", "c1")]).fit(words(20_000, 2, 17_000)), "the most levels"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_it_is_refused_before_it_is_counted(fit: Any, said: str) -> None:
    before = peak()
    with pytest.raises(ParameterError, match=said):
        fit()
    assert peak() - before < 400_000_000


def peak() -> int:
    """The largest memory of this process so far, in bytes."""
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
def test_many_terms_are_taken_as_scikit_learn_takes_them() -> None:
    assert len(CategoricalNB().fit([[0], [10**6]] * 2, [0, 1, 0, 1]).category_count_[0][0]) == 10**6 + 1
