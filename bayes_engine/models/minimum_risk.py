"""Decisions as a scikit-learn estimator, so that losses survive a Pipeline and a grid search. scikit-learn's
TunedThresholdClassifierCV moves one threshold of two classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.loss import Decision, LossMatrix, decide
from bayes_engine.errors import EstimationWarning, report
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.counted_naive_bayes import ComplementNB, refuse_scores
from bayes_engine.models.estimator_around import EstimatorAround, take_columns


@dataclass(eq=False, repr=False)
class MinimumRiskClassifier(EstimatorAround, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier with `predict_proba`, deciding by least conditional risk: predict(x) = argmin_a Σ_j λ_aj P(c_j|x)
    (Zhou, Machine Learning, eq. 7.1–7.3).

    Parameters
    ----------
    estimator : a classifier; NaiveBayes() if None.
    loss : LossMatrix, frame or {decision: {truth: loss}}; None is 0-1. An action that is no class (a refusal) may be
        predicted like any label.

    >>> from bayes_engine import NaiveBayes
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> loss = LossMatrix.zero_one([0, 1, 2]).with_refusal(0.2)
    >>> sorted(set(map(str, MinimumRiskClassifier(NaiveBayes(), loss).fit(X, y).predict(X))))
    ['0', '1', '2', 'refuse']
    """

    estimator: Any = None
    loss: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a clone of the estimator. A class of the loss that y has no row of, in a fold of a cross-validation say,
        is impossible, and said to be. Raises LossError where the loss does not name the classes of y, ParameterError
        where the estimator gives no probabilities (ComplementNB, not calibrated)."""
        from sklearn.pipeline import Pipeline

        base = clone(self._stated)
        last = base[-1] if isinstance(base, Pipeline) else base
        if isinstance(last, ComplementNB | ComplementNaiveBayes):
            refuse_scores(type(last).__name__)
        self.estimator_ = base.fit(X, y) if sample_weight is None else base.fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.estimator_.classes_
        known = self.classes_.tolist()
        self.loss_ = LossMatrix.from_any(self.loss, known, others=True)
        if unmet := [str(c) for c in _classes_of(self.loss) if c not in known]:
            report(
                EstimationWarning(
                    "the losses name class(es) {names}, of which there is no row: no row is taken to be of them",
                    names=Listing(unmet),
                ),
                stacklevel=2,
            )
        take_columns(self, self.estimator_)
        return self

    def predict_proba(self, X: Any) -> Array:
        """(n, C) the estimator's posterior."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def _log_proba(self, X: Any) -> Array:
        return log_proba(self.estimator_, X)

    def decide(self, X: Any, loss: Any = None, *, amount: Any = None) -> Decision:
        """The action, its risk and the gap to the runner-up for every row of X (n, d); under its own loss, unless told.
        `amount` (n,) multiplies each row's losses, all of them or the cells that `LossMatrix.with_amount` names.

        Raises LossError where `loss` speaks of other classes, or an amount is missing, infinite or negative.

        >>> X, y = [[1.0], [2.0], [4.0], [5.0]], ["small", "small", "big", "big"]
        >>> careful = MinimumRiskClassifier(loss={"small": {"small": 0, "big": 9}, "big": {"small": 1, "big": 0}})
        >>> careful.fit(X, y).decide([[2.9]]).action.tolist()
        ['big']
        """
        check_is_fitted(self)
        matrix = self.loss_ if loss is None else LossMatrix.from_any(loss, self.classes_.tolist(), others=True)
        if hasattr(self.estimator_, "decide"):  # which does not raise for a row without a posterior
            decision: Decision = self.estimator_.decide(X, matrix, amount=amount)
            return decision
        return decide(self.predict_proba(X), matrix, amount=amount)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the action of least risk: class labels, and the names of further actions where the loss has any."""
        decision = decide(self.predict_proba(X), self.loss_)
        own = [self.classes_.tolist().index(a) if a in self.loss_.classes else -1 for a in self.loss_.actions]
        if min(own) < 0:
            return decision.action
        return np.asarray(self.classes_[np.array(own)[decision.position]])


def _classes_of(loss: Any) -> tuple[Any, ...]:
    """The classes that a loss, of which `LossMatrix.from_any` has made a matrix, names itself."""
    if loss is None or isinstance(loss, LossMatrix):
        return () if loss is None else loss.classes
    return tuple(
        pd.DataFrame.from_dict(dict(loss), orient="index").columns if isinstance(loss, Mapping) else loss.columns
    )
