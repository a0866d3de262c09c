"""Discriminant analysis beside scikit-learn: equal numbers where the conventions agree, and all of its conventions.

Where they do not: scikit-learn lets `priors` into Σ (lsqr, eigen) and, in svd, scales by priors as well; here Σ = S_w/n
whatever the priors, so only empirical priors are compared. Its pseudo-inverse answers with more columns than rows and
says nothing; here that is refused without shrinkage.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn import discriminant_analysis as peer
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf_shrinkage, oas
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine.covariance import fourth_powers, ledoit_wolf_amounts, oas_amounts
from bayes_engine.errors import ParameterError
from bayes_engine.models import discriminant_analysis
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.scatter import scatter
from tests.conftest import at_least

SVD_DIVIDES: Any = "mle" if at_least("scikit-learn", 1, 9) else "unbiased"
"""By what scikit-learn's solver divides the squares: by n, until 1.9 by n less the classes."""
TABLES = pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])


def expected_failures(estimator: Any) -> dict[str, str]:
    """What scikit-learn asks of every classifier and a Gaussian with a covariance of its own cannot promise."""
    failures = {}
    if not isinstance(estimator, FisherDiscriminant):
        failures["check_estimators_nan_inf"] = "predict integrates a missing cell out; fit refuses it"
    if estimator.shrinkage is None and getattr(estimator, "covariance", "full") == "full":
        failures["check_sample_weight_equivalence_on_dense_data"] = "its table has more columns than rows: refused"
    if isinstance(estimator, QuadraticDiscriminantAnalysis) and estimator.shrinkage is None:
        for check in ("check_sample_weights_shape", "check_sample_weights_not_overwritten"):
            failures[check] = "a column of its table is constant within each class: there is no covariance"
        if not at_least("scikit-learn", 1, 7):
            for check in ("check_n_features_in_after_fitting", "check_dtype_object"):
                failures[check] = "a class of its table has no more rows than columns: refused"
    return failures


@parametrize_with_checks(
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(shrinkage="auto", priors="uniform", variance="unbiased"),
        LinearDiscriminantAnalysis(covariance="diagonal"),
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(shrinkage=0.2, pooling=0.5),
        FisherDiscriminant(),
        FisherDiscriminant(objective="trace-ratio", shrinkage="oas"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


# equal numbers ------------------------------------------------------------------------------------------------------


@TABLES
@pytest.mark.parametrize("solver", ["lsqr", "eigen", "svd"])
def test_lda(load: Any, solver: str) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)  # their pseudo-inverse (lsqr) loses digits to the units of these tables
    ours = LinearDiscriminantAnalysis(variance=SVD_DIVIDES if solver == "svd" else "mle").fit(X, y)
    theirs = peer.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.means_, theirs.means_, atol=1e-12)
    np.testing.assert_allclose(ours.priors_, theirs.priors_)
    if len(ours.classes_) == 2:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_lda_transform_up_to_sign(load: Any) -> None:
    X, y = load(return_X_y=True)
    ours, theirs = LinearDiscriminantAnalysis().fit(X, y), peer.LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_[: len(ours.classes_) - 1], rtol=1e-9
    )
    W = theirs.scalings_[:, : len(ours.classes_) - 1]
    np.testing.assert_allclose(np.abs(ours.scalings_), np.abs(W), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.get_feature_names_out()[:1], ["lineardiscriminantanalysis0"])
    assert ours.set_output(transform="pandas").transform(X).shape == (len(X), len(ours.classes_) - 1)


@TABLES
@pytest.mark.parametrize("shrinkage", ["auto", 0.1, 1.0])
def test_lda_shrunk(load: Any, shrinkage: Any) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    theirs = peer.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@TABLES
def test_amounts_of_shrinkage(load: Any) -> None:
    X, y = load(return_X_y=True)
    labels = Labels(int(y.max()) + 1, y)
    counted = scatter(tuple(map(str, range(X.shape[1]))), X.mean(axis=0), X, labels)
    for amounts, theirs in (
        (ledoit_wolf_amounts(counted, fourth_powers(counted, X, labels)), ledoit_wolf_shrinkage),
        (oas_amounts(counted.weight, counted.m2), lambda Z: oas(Z)[1]),
    ):
        expected = [theirs(StandardScaler().fit_transform(X[y == c])) for c in range(labels.n_classes)]
        np.testing.assert_allclose(amounts, expected, rtol=1e-9)


@TABLES
def test_qda_is_a_gaussian_a_class(load: Any) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for variance, ddof in (("mle", 0), ("unbiased", 1)):
        model = QuadraticDiscriminantAnalysis(variance=variance).fit(X, y)
        expected = [
            np.log((y == c).mean())
            + multivariate_normal(X[y == c].mean(axis=0), np.cov(X[y == c].T, ddof=ddof)).logpdf(X)
            for c in model.classes_
        ]
        np.testing.assert_allclose(model.predict_joint_log_proba(X), np.transpose(expected), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_qda(load: Any) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = peer.QuadraticDiscriminantAnalysis().fit(X, y)
    divisor = np.trace(np.cov(X[y == 0].T)) / np.sum(theirs.scalings_[0])  # n or n − 1, by scikit-learn's version
    ours = QuadraticDiscriminantAnalysis(variance="unbiased" if abs(divisor - 1) < 1e-9 else "mle").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_priors_act_the_same_whatever_the_solver_would_be() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[40:], y[40:]  # classes of 10, 50 and 50
    model, other = (LinearDiscriminantAnalysis(priors=p).fit(X, y) for p in (None, {0: 0.6, 1: 0.3, 2: 0.1}))
    shift = np.log([0.6, 0.3, 0.1]) - np.log(model.priors_)
    np.testing.assert_allclose(model.covariance_, other.covariance_, rtol=1e-14)
    moved = model.predict_joint_log_proba(X) + shift
    np.testing.assert_allclose(other.predict_joint_log_proba(X), moved, rtol=1e-12)


def test_scikit_learn_s_own_example() -> None:
    X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    y = np.array([1, 1, 1, 2, 2, 2])
    for ours, theirs in (
        (LinearDiscriminantAnalysis(), peer.LinearDiscriminantAnalysis()),
        (FisherDiscriminant(), peer.LinearDiscriminantAnalysis()),
    ):
        np.testing.assert_array_equal(ours.fit(X, y).predict(X * 0.7), theirs.fit(X, y).predict(X * 0.7))


# conventions --------------------------------------------------------------------------------------------------------


def test_in_a_pipeline_and_a_grid() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"), LinearDiscriminantAnalysis(), NaiveBayes()
    )
    assert pipeline.fit(X, y).score(X, y) > 0.97
    grid = GridSearchCV(
        QuadraticDiscriminantAnalysis(), {"pooling": [0.0, 0.5, 1.0], "shrinkage": [None, "auto"]}, cv=3
    )
    assert grid.fit(X, y).best_score_ > 0.9


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"])
def test_a_list_of_priors_is_scikit_learn_s(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    model, theirs = getattr(discriminant_analysis, name), getattr(peer, name)
    for priors in ([0.05, 0.9, 0.05], np.array([0.2, 0.3, 0.5])):
        expected = theirs(priors=priors).fit(X, y).predict_proba(X)
        ours = model(priors=priors, variance=SVD_DIVIDES).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), expected, atol=1e-9)
        for again in (ours.prior_by_class, ours.class_prior_):
            np.testing.assert_array_equal(model(priors=again).fit(X, y).priors_, priors)
    with pytest.raises(ParameterError, match="Number of priors must match number of classes: 2 priors, 3 classes"):
        model(priors=[0.5, 0.5]).fit(X, y)


def test_what_would_give_other_posteriors_than_asked_for_is_refused_with_the_reason() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        np.testing.assert_array_equal(
            model(solver="svd").fit(X, y).predict_proba(X), model().fit(X, y).predict_proba(X)
        )
        for solver in ("lsqr", "eigen"):
            with pytest.raises(ParameterError, match=f"solver='{solver}': .* let the priors into the covariance"):
                model(solver=solver).fit(X, y)
    QuadraticDiscriminantAnalysis(reg_param=0.0).fit(X, y)
    with pytest.raises(ParameterError, match=r"reg_param=0.1: it adds one number .* take shrinkage=0.1"):
        QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)


def test_priors_keep_their_form_in_a_clone() -> None:
    assert clone(LinearDiscriminantAnalysis(priors={0: 1.0})).priors == {0: 1.0}


def test_frames_give_the_numbers_of_arrays() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), FisherDiscriminant()):
        a = clone(model).fit(X, y).decision_function(X)
        b = clone(model).fit(X.to_numpy(), y.to_numpy()).decision_function(X.to_numpy())
        c = clone(model).fit(X.astype(pd.Float64Dtype()), y).decision_function(X.astype(pd.Float64Dtype()))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a, c, rtol=1e-9, atol=1e-9)
