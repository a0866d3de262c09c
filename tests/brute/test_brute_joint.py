"""Brute force: the whole joint distribution of a small discrete table, enumerated with plain loops."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes
from tests.conftest import crossed

DOMAINS = {
    "colour": ["green", "dark", "pale"],
    "sound": ["dull", "crisp"],
    "navel": ["flat", "hollow", "round", "none"],
}
CELLS = [dict(zip(DOMAINS, values, strict=True)) for values in itertools.product(*DOMAINS.values())]


@pytest.fixture
def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {name: pd.Categorical(rng.choice(levels[:-1] or levels, 12), levels) for name, levels in DOMAINS.items()}
    )
    return X, pd.Series(rng.permutation(["a"] * 5 + ["b"] * 4 + ["c"] * 3))


def by_hand(
    X: pd.DataFrame, y: pd.Series, cell: dict[str, str], label: str, alpha: Fraction, smoothing: str
) -> Fraction:
    """P(c) Π_j P(x_j|c) in exact fractions; the prior is the class frequency."""
    mine = X[(y == label).to_numpy()]
    p = Fraction(len(mine), len(X))
    for name, level in cell.items():
        counts = {s: int((mine[name] == s).sum()) for s in DOMAINS[name]}
        added = alpha if smoothing == "all" or (smoothing == "zero-only" and 0 in counts.values()) else Fraction(0)
        p *= (counts[level] + added) / (len(mine) + added * len(counts))
    return p


@pytest.mark.parametrize(
    ("smoothing", "alpha"), crossed(["all", "zero-only", "none"], [Fraction(1), Fraction(1, 2), Fraction(3)])
)
def test_joint_is_the_product_of_exact_fractions(
    table: tuple[pd.DataFrame, pd.Series], smoothing: str, alpha: Fraction
) -> None:
    X, y = table
    model = NaiveBayes(alpha=float(alpha), smoothing=smoothing).fit(X, y)
    joint = np.exp(model.predict_joint_log_proba(pd.DataFrame(CELLS)))
    expected = [[float(by_hand(X, y, cell, c, alpha, smoothing)) for c in "abc"] for cell in CELLS]
    np.testing.assert_allclose(joint, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("smoothing", ["all", "zero-only", "none"])
def test_joint_sums_to_one_over_all_cells_and_classes(table: tuple[pd.DataFrame, pd.Series], smoothing: str) -> None:
    model = NaiveBayes(smoothing=smoothing).fit(*table)
    total = math.fsum(np.exp(model.predict_joint_log_proba(pd.DataFrame(CELLS))).ravel())
    assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("hidden", [c for r in (1, 2, 3) for c in itertools.combinations(DOMAINS, r)])
def test_missing_cells_are_summed_out(table: tuple[pd.DataFrame, pd.Series], hidden: tuple[str, ...]) -> None:
    model = NaiveBayes().fit(*table)
    whole = np.exp(model.predict_joint_log_proba(pd.DataFrame(CELLS)))
    asked = pd.DataFrame([{**cell, **dict.fromkeys(hidden)} for cell in CELLS])
    marginal = np.exp(model.predict_joint_log_proba(asked))
    for i, cell in enumerate(CELLS):
        known = [all(other[n] == cell[n] for n in DOMAINS if n not in hidden) for other in CELLS]
        np.testing.assert_allclose(marginal[i], whole[known].sum(axis=0), rtol=1e-12)


def test_with_missing_as_a_level_the_joint_still_sums_to_one(table: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = table
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.3)
    assert X.isna().any().all()
    model = NaiveBayes(missing="category").fit(X, y)
    domains = {name: [*levels, None] for name, levels in DOMAINS.items()}
    cells = [dict(zip(domains, values, strict=True)) for values in itertools.product(*domains.values())]
    joint = np.exp(model.predict_joint_log_proba(pd.DataFrame(cells)))
    assert math.fsum(joint.ravel()) == pytest.approx(1.0, abs=1e-12)


def test_an_unseen_level_has_its_reserved_share(table: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = table
    model = NaiveBayes(alpha=2.0, unseen="smooth", priors="uniform").fit(X, y)
    for column in ("colour", "sound"):
        levels = len(DOMAINS[column])
        case = pd.DataFrame([{**dict.fromkeys(DOMAINS), column: "never heard of"}]).astype(object)
        expected = [2.0 / (n + 2.0 * (levels + 1)) / 3 for n in (5, 4, 3)]
        np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(case))[0], expected, rtol=1e-12)
