"""The excess of a fitted classifier h_n over the Bayes risk R* of a known truth, and its two parts (Devroye, Györfi &
Lugosi 1996, ch. 12):

    R(h_n) − R* = [R(h_∞) − R*]  model misfit: what stays when the rows never end
                + [R(h_n) − R(h_∞)]  finite sample: what the n rows cost
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bayes_engine.decision.decision_boundaries import LogPosterior, log_posterior
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError, listen
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.workbench.laboratory.truth import (
    MANY,
    QUICK,
    SIZE,
    Measure,
    Risk,
    TableTruth,
    Truth,
    bayes_risk,
    best_in_cells,
)

UNDETERMINED = (BayesEngineError, ValueError, np.linalg.LinAlgError)
"""What an estimator raises whose rows lack a class, or have too few of one for a covariance."""


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Of M models at S sizes, over replicates: the mean true risk (M, S) with its standard error, how many replicates
    could not be fitted (M, S), the risk with endless rows (M,), and the Bayes risk beneath all."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    bayes: Risk
    limit: Array
    mean: Array
    error: Array
    failed: NDArray[np.intp]

    @property
    def misfit(self) -> Array:
        """(M,) R(h_∞) − R*."""
        return np.asarray(self.limit - self.bayes.value)

    @property
    def finite(self) -> Array:
        """(M, S) mean of R(h_n) − R(h_∞); a model that is wrong in the limit may be less so by chance, below 0."""
        return np.asarray(self.mean - self.limit[:, None])


def learning_curve(
    truth: Truth,
    estimators: Mapping[str, Any],
    loss: LossMatrix,
    sizes: Sequence[int],
    *,
    replicates: int = 20,
    seed: int = 0,
    size: int = QUICK,
) -> LearningCurve:
    """Excess risk of unfitted `estimators` as n grows: `replicates` samples of each size, the same for every model.

    >>> from bayes_engine.models.gaussian_naive_bayes import GaussianNB
    >>> from bayes_engine.workbench.laboratory.truth import from_ellipses
    >>> truth = from_ellipses([(0, 1, -1, 0, 1, 1, 0), (1, 1, 1, 0, 1, 1, 0)], [0.5, 0.5], ["A", "B"])
    >>> curve = learning_curve(truth, {"NB": GaussianNB()}, LossMatrix.zero_one(truth.classes), [10, 100], replicates=5)
    >>> bool(abs(curve.misfit[0]) < 1e-6), bool(curve.finite[0, 0] > curve.finite[0, 1] > 0)
    (True, True)
    """
    measure = truth.measure(size)
    bayes = bayes_risk(truth, loss, size=max(size, SIZE // 2))
    limit = [
        _risk_of(fitted_to_population(truth, estimator), truth, measure, loss) for estimator in estimators.values()
    ]
    risks = np.full((len(estimators), len(sizes), replicates), np.nan)
    for s, n in enumerate(steps(sizes)):
        for r in steps(range(replicates)):
            X, y = truth.sample(n, np.random.default_rng([seed, n, r]))
            for m, estimator in enumerate(estimators.values()):
                with suppress(*UNDETERMINED):  # NaN then
                    risks[m, s, r] = _risk_of(_fitted(estimator, X, y), truth, measure, loss)
    alive = np.isfinite(risks)
    count = alive.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(alive, risks, 0.0).sum(axis=2) / count
        spread = np.where(alive, (risks - mean[..., None]) ** 2, 0.0).sum(axis=2) / (count - 1)
        error = np.sqrt(spread / count)
    return LearningCurve(
        tuple(estimators), tuple(sizes), bayes, np.array(limit), mean, error, np.asarray(replicates - count)
    )


def fitted_to_population(truth: Truth, estimator: Any) -> Any:
    """The estimator as endless rows would fit it; one that takes no weights gets a very large sample."""
    estimator = clone(estimator)
    steps = getattr(estimator, "steps", None)  # a pipeline hands weights to its last step by name
    last, name = (estimator, "sample_weight") if steps is None else (steps[-1][1], f"{steps[-1][0]}__sample_weight")
    if has_fit_parameter(last, "sample_weight"):
        X, y, weight = truth.population()
        return estimator.fit(X, y, **{name: weight})
    return estimator.fit(*truth.sample(MANY, 0))


def _fitted(estimator: Any, X: Any, y: NDArray[Any]) -> Any:
    """A clone, fitted; what few rows make it say of its estimates is no news where the true risk is known."""
    with listen():
        return clone(estimator).fit(X, y)


def _risk_of(model: Any, truth: Truth, measure: Measure, loss: LossMatrix) -> float:
    return measure.risk(loss, log_posterior(model, truth.classes), stated=False).value


class FittedOnce(NamedTuple):
    """One sample, and of every model that it determines: its rule, its true risk (NaN for the others), and, where the
    truth is a table, its decision in every cell."""

    X: Any
    y: NDArray[Any]
    rules: dict[str, LogPosterior]
    risks: dict[str, float]
    decisions: dict[str, list[int]]


def fitted_once(truth: Truth, estimators: Mapping[str, Any], loss: LossMatrix, n: int, seed: int) -> FittedOnce:
    """n rows drawn with a seed, and the estimators fitted to them."""
    X, y = truth.sample(n, np.random.default_rng([seed, n]))
    measure, rules, decisions = truth.measure(SIZE // 2), {}, {}
    risks = dict.fromkeys(estimators, float("nan"))
    for name, estimator in estimators.items():
        try:
            rule = log_posterior(_fitted(estimator, X, y), truth.classes)
            risks[name] = measure.risk(loss, rule, stated=False).value
        except UNDETERMINED:
            continue
        rules[name] = rule
        if isinstance(truth, TableTruth):
            decisions[name] = best_in_cells(truth, loss, rule)
    return FittedOnce(X, y, rules, risks, decisions)


def sampled_points(fitted: FittedOnce, truth: Truth) -> list[list[float]]:
    """The rows of a sample in the plane as x, y and the position of the class."""
    position = {label: float(k) for k, label in enumerate(truth.classes)}
    return [[round(x, 3), round(y, 3), position[c]] for (x, y), c in zip(fitted.X.tolist(), fitted.y, strict=True)]
