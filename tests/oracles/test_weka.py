"""Weka 3.6.14 on the tables that ship: AODE's posteriors, and how many rows AODE and TAN get right, on the same folds.

`weka.json` holds what Weka gave (AODE; BayesNet with local TAN search and SimpleEstimator; numbers cut by supervised
MDLP inside each training fold). Row i is in fold `folds(n)[i]`; classes are sorted by name.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_engine import AODE, TAN, load_dataset
from bayes_engine.stats.collect import SufficientStatistics
from tests.conftest import every_other, slowly

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
WEKA = json.loads((Path(__file__).parent / "weka.json").read_text())
LOSS = 0.005
"""By so much may our mean accuracy be below Weka's."""


def folds(n: int) -> np.ndarray:
    where = np.empty(n, dtype=int)
    where[np.random.default_rng(0).permutation(n)] = np.arange(n) % 5
    return where


@cache
def held_out(kind: type[AODE | TAN], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors (n, C), classes sorted by name, and which of them is true."""
    shipped = load_dataset(name)
    target = shipped.schema.target.name
    frame = shipped.frame[shipped.frame[target].notna()].reset_index(drop=True)
    X, y = frame[list(shipped.schema.features.names)], frame[target].astype(str)
    X = X.assign(
        **{v.name: pd.Categorical(X[v.name], list(v.levels)) for v in shipped.schema.features if v.discrete}
    )  # Weka is told the levels
    posterior = np.empty((len(y), y.nunique()))
    for k in range(5):
        test = folds(len(y)) == k
        posterior[test] = kind().fit(X[~test], y[~test]).explain(X[test]).posterior()
    return posterior, np.searchsorted(sorted(y.unique()), y)


class AsInWeka(AODE):
    """Weka averages over numbers without a cut point as well, which is naive Bayes once more for each."""

    def _super_parents(self, stats: SufficientStatistics) -> list[str]:
        return [v.name for v in stats.schema if v.discrete]


@pytest.mark.parametrize("name", every_other(sorted(WEKA)))
@pytest.mark.slow
def test_posteriors_of_aode(name: str) -> None:
    posterior, truth = held_out(AsInWeka, name)
    assert len(truth) == WEKA[name]["rows"]
    for row, theirs in WEKA[name]["aode"].items():
        np.testing.assert_allclose(posterior[int(row)], theirs, atol=1e-7)


@pytest.mark.parametrize("kind", [slowly(AODE), TAN])
def test_accuracy(kind: type[AODE | TAN]) -> None:
    lost = []
    for name, weka in WEKA.items():
        posterior, truth = held_out(kind, name)
        right = int((posterior.argmax(axis=1) == truth).sum())
        lost.append((weka[f"{kind.__name__.lower()}_right"] - right) / len(truth))
    assert np.mean(lost) <= LOSS, dict(zip(WEKA, lost, strict=True))
