"""Whatever walks the attributes of an estimator (a notebook, an inspector, a copy) meets no error."""

import copy
import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import bayes_engine
from bayes_engine.errors import listen
from tests.conftest import every_other

ESTIMATORS = [
    kind
    for kind in (getattr(bayes_engine, name) for name in bayes_engine.__all__)
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator) and kind is not bayes_engine.GenerativeClassifier
]


def walked(estimator: BaseEstimator) -> None:
    """Everything that scikit-learn, IPython and `inspect` do with an estimator they show."""
    assert type(estimator).__name__ in repr(estimator)
    assert "<" in estimator._repr_html_()
    assert estimator._repr_mimebundle_()
    for name in {*dir(estimator), *object.__dir__(estimator)}:
        getattr(estimator, name, None)  # an AttributeError is nothing; any other is raised
    inspect.getmembers(estimator)
    assert vars(copy.deepcopy(estimator)).keys() == vars(estimator).keys()


@pytest.mark.parametrize("kind", every_other(ESTIMATORS))
@pytest.mark.parametrize("fitted", [False, True])
def test_an_estimator_is_shown_inspected_and_copied(kind: type[BaseEstimator], fitted: bool) -> None:
    estimator = kind()
    if fitted:
        X = np.random.default_rng(0).integers(0, 3, (24, 3))
        words = np.char.add("w", X.astype(str))  # for what takes texts alone
        with listen():
            estimator.fit(
                words if kind is bayes_engine.ComplementNaiveBayes else X, np.where(X.sum(axis=1) > 2, "yes", "no")
            )
    walked(estimator)
    walked(clone(estimator))


@pytest.mark.slow
@pytest.mark.parametrize("kind", every_other(ESTIMATORS))
def test_parameters_are_judged_by_fit_and_not_by_showing_them(kind: type[BaseEstimator]) -> None:
    for name in inspect.signature(kind).parameters:
        if name != "estimator":  # scikit-learn itself asks it for its tags
            walked(kind(**{name: "nonsense"}))


@pytest.mark.parametrize("kind", [bayes_engine.WeightedNaiveBayes, bayes_engine.SelectiveNaiveBayes])
def test_a_wrapper_of_no_estimator_is_shown_and_refused_by_fit(kind: type[BaseEstimator]) -> None:
    walked(kind("nonsense"))
    with pytest.raises(ValueError, match="takes a NaiveBayes, not str"):
        kind("nonsense").fit([["dull"], ["crisp"]], [0, 1])
