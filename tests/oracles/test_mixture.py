"""scikit-learn's GaussianMixture as the oracle: the same start, the same reg_covar, the same numbers at every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import MixtureParameters
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from tests.conftest import crossed

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

FORMS = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}


def start(X: Any, form: Any) -> tuple[MixtureParameters, Any]:
    """Weights, means and covariances to begin with, and the precisions scikit-learn wants."""
    S = np.cov(X.T)
    covariances = {
        "full": np.stack([S, 2 * S, S / 2]),
        "tied": S,
        "diagonal": np.stack([np.diag(S)] * 3),
        "spherical": np.array([1.0, 2.0, 3.0]) * np.trace(S) / len(S),
    }[form]
    precisions = np.linalg.inv(covariances) if form in ("full", "tied") else 1 / covariances
    return MixtureParameters(np.array([0.2, 0.3, 0.5]), X[[0, 60, 120]], covariances, form), precisions


@pytest.mark.parametrize(("form", "load", "reg_covar"), crossed(FORMS, [load_iris, load_wine], [1e-6, 1e-2]))
def test_every_step(load: Any, form: Any, reg_covar: float) -> None:
    X = load().data
    theta, precisions = start(X, form)
    ours = GaussianMixture(3, covariance=form, reg_covar=reg_covar, tol=0.0, max_iter=15, init=theta).fit(X)
    for step in range(1, 16):
        theirs = Theirs(
            3, covariance_type=FORMS[form], reg_covar=reg_covar, tol=0.0, max_iter=step,
            weights_init=theta.weights, means_init=theta.means, precisions_init=precisions,
        ).fit(X)  # fmt: skip
        here = ours.trace_.steps[step].parameters
        for mine, its in zip(here[:3], (theirs.weights_, theirs.means_, theirs.covariances_), strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-8)
        before = ours.trace_.steps[step - 1].log_likelihood / len(X)
        assert before == pytest.approx(theirs.lower_bound_, rel=1e-10)
    np.testing.assert_allclose(ours.precisions_cholesky_, theirs.precisions_cholesky_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.precisions_, theirs.precisions_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("bic", "aic", "score"):
        assert getattr(ours, name)(X) == pytest.approx(getattr(theirs, name)(X), rel=1e-10)


def test_n_iter_and_converged() -> None:
    """Both look at the change per row; scikit-learn takes one M step more after it has seen a small one."""
    X = load_iris().data
    theta, precisions = start(X, "full")
    given = {"weights_init": theta.weights, "means_init": theta.means, "precisions_init": precisions}
    ours = GaussianMixture(3, reg_covar=1e-6, tol=1e-3, init=theta).fit(X)
    theirs = Theirs(3, reg_covar=1e-6, tol=1e-3, **given).fit(X)
    assert ours.converged_ and theirs.converged_ and theirs.n_iter_ == ours.n_iter_ + 1
    assert theirs.lower_bound_ == pytest.approx(ours.lower_bound_, rel=1e-10)


def test_the_same_optimum_from_k_means() -> None:
    X = load_wine().data
    ours = GaussianMixture(3, covariance="diagonal", tol=1e-10, random_state=0).fit(X)
    theirs = Theirs(3, covariance_type="diag", reg_covar=0.0, tol=1e-12, max_iter=2000, means_init=ours.means_).fit(X)
    assert ours.trace_.last.log_likelihood >= theirs.score(X) * len(X) - 1e-6


@parametrize_with_checks(
    [
        GaussianMixture(covariance="diagonal"),
        GaussianMixture(2, prior="inverse-wishart", reg_covar=1e-6, random_state=0),
        SemiSupervisedNB(),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_sample_weight_equivalence_on_dense_data": "k-means begins elsewhere with weights than with repeats"}
        if getattr(estimator, "n_components", 1) > 1
        else {}
    ),
)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_warning_that_is_ignored_here_exists() -> None:
    with pytest.warns(ConvergenceWarning):
        Theirs(3, tol=0.0, max_iter=1).fit(load_iris().data)
