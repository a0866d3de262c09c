"""What every generative classifier says of a class with prior 0, or without rows, and of priors that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesianNetworkClassifier,
    EstimationWarning,
    KDependence,
    LazyNaiveBayes,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    SelectiveNaiveBayes,
    WeightedNaiveBayes,
)
from bayes_engine.errors import ParameterError, listen
from bayes_engine.models.counted_naive_bayes import CategoricalNB
from bayes_engine.models.gaussian_naive_bayes import GaussianNB

RNG = np.random.default_rng(0)
LEVELS = pd.DataFrame({"x": list("aabb") * 6, "y": list("abab") * 6, "z": RNG.choice(list("ab"), 24)})
NUMBERS = pd.DataFrame(RNG.normal(size=(24, 2)), columns=["x", "y"])
Y = pd.Series(list("nnyy") * 5 + list("nyny"), name="class")
WITH_ONE_MORE = pd.Series(pd.Categorical(Y, ["n", "y", "never"]), name="class")
MODELS = [
    (NaiveBayes(), LEVELS),
    (LazyNaiveBayes(), LEVELS),
    (WeightedNaiveBayes(), LEVELS),
    (SelectiveNaiveBayes(), LEVELS),
    (TAN(), LEVELS),
    (SPODE(), LEVELS),
    (SPODE(super_parent="x"), LEVELS),
    (AODE(), LEVELS),
    (KDependence(k=2), LEVELS),
    (BayesianNetworkClassifier(structure="naive"), LEVELS),
    (BayesianNetworkClassifier(structure="tan"), LEVELS),
    (LinearDiscriminantAnalysis(), NUMBERS),
    (QuadraticDiscriminantAnalysis(), NUMBERS),
    (GaussianNB(), NUMBERS),
    (CategoricalNB(), LEVELS.replace({"a": 0, "b": 1}).astype(int)),
]
NAMES = [f"{type(m).__name__}-{i}" for i, (m, _X) in enumerate(MODELS)]
EVERY = pytest.mark.parametrize(("model", "X"), MODELS, ids=NAMES)


def of_classes(notes: list[Any]) -> list[str]:
    return [str(note) for note in notes if str(note).startswith("class(es)")]


def with_priors(model: Any, priors: Any) -> Any:
    if hasattr(model, "estimator"):
        return clone(model).set_params(estimator=NaiveBayes(priors=priors))
    by_place = isinstance(model, GaussianNB | CategoricalNB)  # scikit-learn's parameters are in the classes' order
    named = "class_prior" if "class_prior" in model.get_params() else "priors"
    return clone(model).set_params(**{named: list(priors.values()) if by_place else priors})


@EVERY
def test_NF14_a_class_without_rows_is_said(model: Any, X: pd.DataFrame) -> None:
    with listen() as notes:
        fitted = clone(model).fit(X, WITH_ONE_MORE)
    if len(fitted.classes_) == 2:  # scikit-learn's names take the classes of the rows
        return
    if isinstance(model, AODE):  # P(c, x) is smoothed, and P(c) with it
        assert of_classes(notes) == ["class(es) never have no row: they rest on their prior alone"]
        return
    assert of_classes(notes) == ["class(es) never have the prior 0: they are never predicted"]
    assert (fitted.predict_proba(X)[:, fitted.classes_.tolist().index("never")] == 0).all()
    if not isinstance(model, GaussianNB | CategoricalNB):
        with listen() as notes:
            fitted = with_priors(model, "uniform").fit(X, WITH_ONE_MORE)
        assert of_classes(notes) == ["class(es) never have no row: they rest on their prior alone"]
        assert np.isfinite(fitted.predict_proba(X)).all()


@pytest.mark.slow
@EVERY
def test_NF20_a_prior_of_zero_is_said(model: Any, X: pd.DataFrame) -> None:
    with listen() as notes:
        fitted = with_priors(model, {"n": 1.0, "y": 0.0}).fit(X, Y)
    assert of_classes(notes) == ["class(es) y have the prior 0: they are never predicted"]
    assert set(fitted.predict(X)) == {"n"}


@EVERY
def test_NF21_priors_that_are_none_are_refused_by_the_fit(model: Any, X: pd.DataFrame) -> None:
    refused = with_priors(model, {"n": 0.5, "y": 0.6})
    with pytest.raises((ParameterError, ValueError), match=r"sum"):
        refused.fit(X, Y)
    assert not hasattr(refused, "factor_")


def test_a_class_with_parents_and_without_rows() -> None:
    """Its prior is what its parents leave it: with pseudo-counts never 0."""
    arcs = [("x", "class"), ("class", "y")]
    with listen() as notes:
        BayesianNetworkClassifier(structure=arcs, alpha=1.0).fit(LEVELS, WITH_ONE_MORE)
    assert of_classes(notes) == ["class(es) never have no row: they rest on their prior alone"]
    with listen() as notes:
        BayesianNetworkClassifier(structure=arcs, alpha=0.0).fit(LEVELS, WITH_ONE_MORE)
    assert of_classes(notes) == ["class(es) never have the prior 0: they are never predicted"]


def test_a_class_that_a_batch_has_not_met_is_said_by_a_warning() -> None:
    with pytest.warns(EstimationWarning, match=r"class\(es\) y have the prior 0"):
        TAN().partial_fit(LEVELS[Y == "n"], Y[Y == "n"], classes=["n", "y"])
