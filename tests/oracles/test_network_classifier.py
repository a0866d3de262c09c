"""scikit-learn's conventions for the Bayesian network classifier."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import BayesianNetworkClassifier


def expected_failures(estimator: BayesianNetworkClassifier) -> dict[str, str]:
    """The exact optimum is for few columns, and one check has a table of thirty."""
    if estimator.structure == "exact":
        return {"check_sample_weight_equivalence_on_dense_data": "the exact optimum of 31 nodes is refused in words"}
    return {}


@parametrize_with_checks(
    [
        BayesianNetworkClassifier("tan"),  # the first, which needs no search, by default
        BayesianNetworkClassifier(),
        BayesianNetworkClassifier(discretize=None),
        BayesianNetworkClassifier("naive"),
        BayesianNetworkClassifier("exact", "aic", priors="uniform"),
        BayesianNetworkClassifier("hill-climb", "bdeu", missing="category", unseen="smooth"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
