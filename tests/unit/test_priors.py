"""Pseudo-counts, class priors, alpha: where they fall and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine import (
    AODE,
    TAN,
    BayesianNetworkClassifier,
    GaussianNB,
    LinearDiscriminantAnalysis,
    load_dataset,
)
from bayes_engine.errors import ParameterError
from bayes_engine.factors.sources import Fraction
from bayes_engine.factors.table import rest_likelihood
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.priors import checked_alpha, class_prior, pseudo_counts


@pytest.mark.parametrize(
    ("smoothing", "added"), [("all", [2.0, 2.0, 2.0]), ("zero-only", [2.0, 0.0, 2.0]), ("none", [0.0, 0.0, 1.0])]
)
def test_where_smoothing_falls(smoothing: Any, added: list[float]) -> None:
    counts = np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 0.0]])  # a zero, none, no row at all
    assert pseudo_counts(counts, 2.0, smoothing)[:, 0].tolist() == added


def test_a_pair_without_a_row_is_uniform_even_with_alpha_zero() -> None:
    counts = np.zeros((1, 4))
    added = pseudo_counts(counts, 0.0, "all")
    assert ((counts + added) / (counts + added).sum()).tolist() == [[0.25] * 4]


# class priors ---------------------------------------------------------------------------------------------------------


def test_the_four_priors() -> None:
    weight = np.array([3.0, 1.0])
    assert class_prior("empirical", weight, "ab").tolist() == [0.75, 0.25]
    assert class_prior("laplace", weight, "ab") == pytest.approx([4 / 6, 2 / 6])
    assert class_prior("uniform", weight, "ab").tolist() == [0.5, 0.5]
    assert class_prior({"a": 0.1, "b": 0.9}, weight, "ab").tolist() == [0.1, 0.9]


def test_without_a_single_row_the_empirical_prior_is_uniform() -> None:
    assert class_prior("empirical", np.zeros((2, 2)), "ab").tolist() == [[0.5, 0.5]] * 2


def test_NF23_priors_are_matched_by_label() -> None:
    one = class_prior({"a": 0.2, "b": 0.8}, np.ones(2), "ab")
    other = class_prior({"b": 0.8, "a": 0.2}, np.ones(2), "ab")
    assert one.tolist() == other.tolist() == [0.2, 0.8]
    assert class_prior({1: 0.2, 0: 0.8}, np.ones(2), [0, 1]).tolist() == [0.8, 0.2]


@pytest.mark.parametrize(
    ("priors", "text"),
    [
        pytest.param({"a": 0.5, "b": 0.6}, "priors sum to 1.1, not 1", id="NF21-sum"),
        pytest.param({"a": 0.5, "b": 0.5 + 1e-8}, "priors sum to 1.00000001, not 1", id="NF21-nearly"),
        pytest.param(
            {"a": 1.5, "b": -0.5}, "the prior of class 'a' is 1.5; it must be a number from 0 to 1", id="NF22-above"
        ),
        pytest.param({"a": -0.5, "b": 1.5}, "the prior of class 'a' is -0.5; it must be", id="NF22-negative"),
        pytest.param({"a": float("nan"), "b": 1.0}, "the prior of class 'a' is nan; it must be", id="NF22-nan"),
        pytest.param({"a": "half", "b": 0.5}, "the prior of class 'a' is half; it must be", id="NF22-text"),
        pytest.param({"a": None, "b": 0.5}, "the prior of class 'a' is None; it must be", id="NF22-none"),
        pytest.param({"a": 1.0}, "priors give no probability for class 'b'", id="NF22-missing"),
        pytest.param(
            {"a": 0.5, "c": 0.5},
            "priors name a class 'c' that is not in the target; the classes are a, b",
            id="NF22-unknown",
        ),
        pytest.param("flat", "priors='flat' is none of 'empirical', 'laplace', 'uniform', a mapping", id="NF22-word"),
        pytest.param([1.0], "Number of priors must match number of classes: 1 priors, 2 classes", id="NF23-list"),
        pytest.param(np.array([0.5, 0.6]), "priors sum to 1.1, not 1", id="NF23-array"),
        pytest.param(None, "priors=None is none of", id="NF22-nothing"),
    ],
)
def test_priors_refused(priors: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        class_prior(priors, np.ones(2), "ab")


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), AODE(), GaussianNB(), LinearDiscriminantAnalysis()])
def test_a_class_prior_is_an_array_in_the_order_of_the_classes(model: Any) -> None:
    X, y = [[1.0], [2.0], [4.0], [3.0], [5.0]], [2, 2, 1, 1, 1]  # labels that could be places
    prior = clone(model).fit(X, y).class_prior_
    assert type(prior) is np.ndarray and model.fit(X, y).prior_by_class == dict(zip((1, 2), prior, strict=True))
    assert prior[1] == pytest.approx(0.4, abs=0.03)  # AODE's is smoothed
    for stated in (prior, prior.tolist(), tuple(prior), pd.Series(prior), pd.Series(prior[::-1], index=["v", "u"])):
        again = clone(model).set_params(priors=stated).fit(X, ["v", "v", "u", "u", "u"])
        np.testing.assert_array_equal(again.class_prior_, prior)


# alpha ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 0.0, 1e-300, 1, 1e6 * 17, np.float32(0.5), np.int64(3)])
def test_NF35_alphas_that_mean_something(alpha: Any) -> None:
    assert checked_alpha(alpha, 17) == float(alpha)


@pytest.mark.parametrize(
    ("alpha", "text"),
    [
        pytest.param(-1.0, "alpha=-1.0; smoothing needs a number of 0 and more", id="NF35-negative"),
        pytest.param(float("nan"), "alpha=nan; smoothing needs", id="NF35-nan"),
        pytest.param("1", "alpha='1'; smoothing needs", id="NF35-text"),
        pytest.param(None, "alpha=None; smoothing needs", id="NF35-none"),
        pytest.param(True, "alpha=True; smoothing needs", id="NF35-bool"),
        pytest.param(float("inf"), "alpha=inf; smoothing needs", id="NF34-inf"),
        pytest.param(
            1e308,
            r"alpha=1e\+308 outweighs the 17 rows: every conditional would be uniform; take a smaller one",
            id="NF34-huge",
        ),
    ],
)
def test_alphas_refused(alpha: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        checked_alpha(alpha, 17)


def test_without_smoothing_a_table_has_no_prior_density() -> None:
    melons = load_dataset("watermelon2")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    assert NaiveBayes(alpha=0.0).fit(X, y).factor_.part_of("色泽")[0].log_prior_density() == 0.0
    leaf = NaiveBayes(alpha=2.0).fit(X, y).factor_.part_of("色泽")[0]
    counts = pd.crosstab(y, X["色泽"]).to_numpy() + 2.0
    assert leaf.log_prior_density() == pytest.approx(2.0 * np.log(counts / counts.sum(axis=1, keepdims=True)).sum())


def test_rows_whose_parents_are_not_known_have_the_likelihood_of_the_column_alone() -> None:
    alone, rest = np.array([[3.0, 1.0], [2.0, 6.0]]), np.array([[1.0, 0.0], [1.0, 2.0]])
    by_hand = math.log(3 / 4) + math.log(2 / 8) + 2 * math.log(6 / 8)
    assert rest_likelihood(rest, alone) == pytest.approx(by_hand)


def test_where_a_prior_comes_from_is_a_fraction() -> None:
    melons = load_dataset("watermelon2")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    aode = AODE().fit(X, y)
    first = next(iter(aode.factor_.origins(aode._encode(X.iloc[:1]))))
    assert all(isinstance(part, Fraction) for part in first)
    above = BayesianNetworkClassifier(structure=[("色泽", "好瓜"), ("根蒂", "好瓜")], alpha=0)
    above.fit(X, y)
    never_met = X.iloc[:1].assign(色泽=["乌黑"], 根蒂=["硬挺"])
    parts = next(iter(above.factor_.origins(above._encode(never_met))))
    assert [(part.count, part.total, part.added, part.levels) for part in parts] == [(0.0, 0.0, 1.0, 2)] * 2
