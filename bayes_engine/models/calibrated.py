"""Calibration: probabilities made as true as held-out rows tell, as one more row of the ledger, log q_c − log p_c.
scikit-learn's CalibratedClassifierCV gives no map of log posteriors that a ledger could show as a row.

Naive Bayes counts what is dependent twice, so it is surer than it is right; what it ranks first it may still rank
rightly. A calibrator keeps the ranking (of two classes) and mends the probabilities. It is learnt from posteriors of
rows the model had not seen, and it comes before the shift to a prior of use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.fold_models import splits
from bayes_engine.decision.held_out import TINY, HeldOut, held_out, refuse_without_posterior
from bayes_engine.errors import ParameterError, TableError, listen
from bayes_engine.ledger import CALIBRATION, Ledger
from bayes_engine.logspace import Array, log, log_normalize, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.counted_naive_bayes import ComplementNB
from bayes_engine.models.decision_mixin import DecisionMixin
from bayes_engine.models.estimator_around import EstimatorAround, take_columns
from bayes_engine.priors import checked_whole, checked_word, smoothed
from bayes_engine.progress import steps, tick
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import Table

if TYPE_CHECKING:  # what learns a calibration is imported where it is learnt: most of a second with scipy.stats
    from sklearn.isotonic import IsotonicRegression

METHODS = ("temperature", "platt", "isotonic")
"""One number for all classes; a line in the log-odds of each class; an increasing step function of them."""
FOLDS = 5
"""Held-out posteriors are calibrated in so many folds."""
COLDEST, HOTTEST = 1e-3, 1e3
LOG_2 = float(np.log(2.0))


@dataclass(frozen=True)
class Temperature:
    """log q_c = log p_c / T − log Σ (Guo, Pleiss, Sun & Weinberger, ICML 2017); T > 1 is less sure. Keeps the order of
    all classes."""

    temperature: float

    def __call__(self, log_p: Array) -> Array:
        return log_normalize(log_p / self.temperature)


@dataclass(frozen=True)
class Platt:
    """Log-odds of each class against the rest, a_c s + b_c (Platt 1999); `slope`, `shift` (C,), of two classes (1,),
    for the second. With more classes each against the rest, then divided by their sum."""

    slope: Array
    shift: Array

    def __call__(self, log_p: Array) -> Array:
        return _together(log_p, self._odds(log_p))

    def _odds(self, log_p: Array) -> Array:
        return np.asarray(self.slope * _finite(against_rest(log_p)) + self.shift)

    def alone(self, log_p: Array) -> Array:
        """(n, C), of two classes (n, 1), log q of each class against the rest, before they are divided by their sum."""
        return _log_sigmoid(self._odds(log_p))


@dataclass(frozen=True)
class Isotonic:
    """The share of each class as an increasing step function of its log-odds against the rest, with straight lines
    between the steps (Zadrozny & Elkan, KDD 2002); of two classes for the second. With more classes each against the
    rest, then divided by their sum; where all are 0 the model's own posterior stays. It may say 0 and 1."""

    curves: tuple[IsotonicRegression, ...]

    def __call__(self, log_p: Array) -> Array:
        q = self._shares(log_p)
        return _together(log_p, log(q) - log(1.0 - q))

    def _shares(self, log_p: Array) -> Array:
        odds = _finite(against_rest(log_p))
        return np.stack([curve.predict(odds[:, c]) for c, curve in enumerate(self.curves)], axis=1)

    def alone(self, log_p: Array) -> Array:
        """As `Platt.alone`."""
        return log(self._shares(log_p))


def against_rest(log_p: Array) -> Array:
    """(n, C) log P(c|x) − log P(not c|x), of two classes (n, 1) for the second; ±inf where one is impossible."""
    with np.errstate(invalid="ignore"):
        if log_p.shape[1] == 2:
            odds = log_p[:, 1:] - log_p[:, :1]
        else:
            each = [log_sum(np.delete(log_p, c, axis=1), axis=1) for c in range(log_p.shape[1])]
            odds = log_p - np.stack(each, axis=1)
    return np.nan_to_num(odds, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _log_sigmoid(odds: Array) -> Array:
    """log σ(odds)."""
    return np.asarray(-log_sum(np.stack([np.zeros_like(odds), -odds], axis=2), axis=2))


def _finite(odds: Array) -> Array:
    """Log-odds with 0 where they are infinite: there this class or all others are impossible, whatever is said."""
    return np.where(np.isfinite(odds), odds, 0.0)


def _together(log_p: Array, odds: Array) -> Array:
    """(n, C) log q from the calibrated log-odds of each class. Where p_c = 0 so is q_c; where nothing would be left,
    q = p."""
    if log_p.shape[1] == 2:
        odds = np.concatenate([-odds, odds], axis=1)
    q = _log_sigmoid(odds)
    q = np.where(np.isneginf(log_p), -np.inf, q)
    gone = np.isneginf(q).all(axis=1, keepdims=True)
    return np.where(gone, log_normalize(log_p), log_normalize(q))


def calibrator(log_p: Array, truth: NDArray[np.intp], weight: Array | None = None, method: str = "temperature") -> Any:
    """A calibrator learnt from held-out log posteriors (n, C) of rows with these classes (n,) and weights (n,).

    Temperature minimizes Σ w_i (log-loss of row i) + ½ log² T; the last term, a doubt worth about one row, keeps T
    finite where no held-out row is wrong. Platt's lines are scikit-learn's LogisticRegression without penalty on his
    targets (n₊+1)/(n₊+2) and 1/(n₋+2), which keep a perfect separation finite; isotonic is its IsotonicRegression. A
    row whose log-odds are infinite cannot be moved and teaches nothing. Raises ParameterError for another method,
    TableError where nothing is left to learn from.
    """
    checked_word("method", method, METHODS)
    weight = np.ones(len(truth)) if weight is None else np.asarray(weight, dtype=float)
    has = (weight > 0) & ~np.isneginf(log_p).all(axis=1)
    log_p, truth, weight = log_normalize(log_p[has]), truth[has], weight[has]
    refuse_without_posterior(has)
    if method == "temperature":
        return Temperature(_temperature(log_p, truth, weight))
    odds = against_rest(log_p)
    classes = (1,) if log_p.shape[1] == 2 else tuple(range(log_p.shape[1]))
    each = [_usable(odds[:, k], truth == c, weight) for k, c in enumerate(classes)]
    if method == "isotonic":
        return Isotonic(tuple(_isotonic(*rows) for rows in each))
    lines = np.array([_line(*rows) for rows in each])
    return Platt(lines[:, 0], lines[:, 1])


def _usable(odds: Array, of_class: NDArray[np.bool_], weight: Array) -> tuple[Array, NDArray[np.bool_], Array]:
    finite = np.isfinite(odds)
    return odds[finite], of_class[finite], weight[finite]


def _temperature(log_p: Array, truth: NDArray[np.intp], weight: Array) -> float:
    """argmin_T Σ w log-loss + ½ log² T, within a thousandfold of 1."""
    of_truth = log_p[np.arange(len(truth)), truth]
    known = ~np.isneginf(of_truth)  # an impossible truth costs infinitely much at every T
    if not known.any():
        return 1.0
    log_p, of_truth, weight = log_p[known], of_truth[known], weight[known]

    def loss(log_beta: float) -> float:
        tick()
        beta = 2.0**log_beta
        doubt = 0.5 * (log_beta * LOG_2) ** 2
        return float(weight @ (log_sum(beta * log_p, axis=1) - beta * of_truth)) + doubt

    from scipy.optimize import minimize_scalar

    ends = float(np.log2(COLDEST)), float(np.log2(HOTTEST))
    least = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-9})
    return float(2.0**-least.x)


def _line(odds: Array, of_class: NDArray[np.bool_], weight: Array) -> tuple[float, float]:
    """Slope and shift of Platt's sigmoid; where nothing could be learnt the log-odds as they are."""
    if not len(odds):
        return 1.0, 0.0
    tick()
    plus, minus = float(weight[of_class].sum()), float(weight[~of_class].sum())
    target = np.where(of_class, smoothed(plus, plus, 1.0, 2), smoothed(0.0, minus, 1.0, 2))
    scale = max(float(np.abs(odds).max()), np.finfo(float).tiny)  # steps of the solver are of the size of the slope
    if np.ptp(odds) <= 1e-12 * scale:  # one log-odds for all: only the shift can be learnt, at slope 1
        share = float(weight @ target / weight.sum())
        return 1.0, float(log(share) - log(1.0 - share)) - float(odds.mean())
    from sklearn.linear_model import LogisticRegression

    solver = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000, solver="newton-cholesky")
    rows = np.concatenate([odds, odds])[:, None] / scale
    classes = np.repeat([1, 0], len(odds))
    solver.fit(rows, classes, np.concatenate([weight * target, weight * (1.0 - target)]))
    return float(solver.coef_[0, 0]) / scale, float(solver.intercept_[0])


def _isotonic(odds: Array, of_class: NDArray[np.bool_], weight: Array) -> IsotonicRegression:
    from sklearn.isotonic import IsotonicRegression

    tick()
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    if not len(odds):
        return curve.fit([0.0], [0.5])
    return curve.fit(odds, of_class.astype(float), weight)


def calibrate(held: HeldOut, method: str = "temperature") -> HeldOut:
    """Held-out posteriors made true: each fold of the rows by a calibrator learnt from the others; groups stay
    together, and up to 60 rows are left out one by one where a class is too rare for folds. What a model's
    probabilities would be worth after calibration, without fitting a model anew.

    The prior of the calibrated rows is the model's own under temperature, which moves no class against another; Platt
    and isotonic learn that of the rows.
    """
    out = np.full_like(held.log_posterior, -np.inf)
    prior, fold = [], np.zeros(len(out), dtype=np.min_scalar_type(len(out)))
    for i, (train, test) in enumerate(steps(_folds(held), FOLDS)):
        made = calibrator(held.log_posterior[train], held.truth[train], held.weight[train], method)
        out[test], fold[test] = made(held.log_posterior[test]), i
        if method != "temperature":
            prior.append(_shares(held.truth[train], held.weight[train], len(held.classes)))
    if method == "temperature":
        return replace(held, log_posterior=out)
    return replace(held, log_posterior=out, prior=np.stack(prior), fold=fold)


def _folds(held: HeldOut) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The rows a calibrator learns from, and those it is tried on."""
    try:
        yield from splits(held.truth, held.groups, FOLDS, 1)[0]
    except TableError:
        if held.groups is not None or len(held.truth) > TINY:
            raise
        from sklearn.model_selection import LeaveOneOut

        yield from LeaveOneOut().split(held.truth)


def _shares(truth: NDArray[np.intp], weight: Array, classes: int) -> Array:
    weights = np.bincount(truth, weight, minlength=classes)
    return np.asarray(weights / weights.sum())


@dataclass(eq=False, repr=False)
class CalibratedClassifier(DecisionMixin, EstimatorAround, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A generative classifier whose ledger ends in a row «calibration», log q_c − log p_c, so that P(c|x) = q_c.

    The calibrator learns from held-out posteriors of the rows of the fit: by leave-one-out up to 60 rows, in folds
    beyond. A ComplementNB has probabilities, and so risks and decisions, after it.

    Parameters
    ----------
    estimator : a generative classifier of this library; NaiveBayes() if None.
    method : "temperature" | "platt" | "isotonic", as in `calibrator`.
    folds : at most so many, where the rows are not left out one by one.
    random_state : the seed of the folds.

    Attributes: `estimator_`, fitted to all rows; `calibrator_`; `classes_`; `class_prior_` (C,), the prior that the
    calibrated posteriors stand for: the model's own under temperature, that of the rows under the others.

    >>> from bayes_engine import NaiveBayes
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(NaiveBayes()).fit(X, y)
    >>> round(model.calibrator_.temperature, 2) > 5  # thirty columns that say much the same
    True
    >>> ledger = model.explain(X[:3])
    >>> ledger.rows[-1][0].name, bool(np.allclose(ledger.posterior(), model.predict_proba(X[:3])))
    ('calibration', True)
    """

    estimator: GenerativeClassifier | None = None
    _: KW_ONLY
    method: str = "temperature"
    folds: int = 5
    random_state: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the estimator to X (n, d), y (n,), and the calibrator to what it says of rows held out; rows of one of
        the `groups` (n,) are held out together.

        Raises what the estimator's `fit` raises; ParameterError where the estimator is none of this library's;
        TableError where a class is too rare to be held out.
        """
        checked_word("method", self.method, METHODS)
        checked_whole("folds", self.folds, 2)
        inner = clone(self._stated)
        if not isinstance(inner, GenerativeClassifier):
            raise ParameterError(
                "CalibratedClassifier takes a generative classifier of this library, not {name}; for any other there "
                "is scikit-learn's CalibratedClassifierCV",
                name=type(inner).__name__,
            )
        inner.fit(X, y, sample_weight)
        labels = column_or_1d(to_pandas(y))
        asked: Any = {"folds": self.folds, "groups": groups, "sample_weight": sample_weight, "seed": self.random_state}
        with listen():  # what a fold's estimate does the whole table's has said
            held = held_out(inner, X, labels, **asked)
        return self.fit_held_out(inner, held)

    def fit_held_out(self, model: GenerativeClassifier, held: HeldOut) -> Self:
        """Take a model that is fitted already, and learn the calibrator from what models like it said of rows `held`
        out. Nothing is fitted anew.

        Raises TableError where no held-out row has a posterior.

        >>> from bayes_engine import NaiveBayes
        >>> X, y = [[1.0], [2.0], [2.2], [2.1], [4.0], [5.0]], list("aababb")
        >>> model = NaiveBayes().fit(X, y)
        >>> again = CalibratedClassifier(model).fit_held_out(model, held_out(model, X, y))
        >>> bool(np.allclose(again.predict_proba(X), CalibratedClassifier().fit(X, y).predict_proba(X)))
        True
        """
        held = held.in_order(tuple(model.classes_.tolist()))
        self.calibrator_ = calibrator(held.log_posterior, held.truth, held.weight, self.method)
        self.class_prior_ = (
            _own_prior(model) if self.method == "temperature" else _shares(held.truth, held.weight, len(held.classes))
        )
        return self._around(model)

    def around(self, model: GenerativeClassifier) -> CalibratedClassifier:
        """The same calibrator around another fit of the estimator, of one row fewer, say."""
        check_is_fitted(self)
        new: CalibratedClassifier = clone(self)
        new.calibrator_, new.class_prior_ = self.calibrator_, self.class_prior_
        if self.method == "temperature":
            new.class_prior_ = _own_prior(model)
        return new._around(model)

    def _around(self, model: GenerativeClassifier) -> Self:
        self.estimator_, self.classes_ = model, model.classes_
        take_columns(self, model)
        return self

    @property
    def prior_by_class(self) -> dict[Any, float]:
        """The prior that the calibrated posteriors stand for, by class label."""
        check_is_fitted(self)
        return dict(zip(self.classes_.tolist(), self.class_prior_.tolist(), strict=True))

    def explain(self, X: Any, given: Collection[str] | None = None) -> Ledger:
        """The estimator's ledger and its last row, «calibration»; never raises for a row.

        >>> model = CalibratedClassifier(method="platt").fit([[1.0], [2.0], [2.2], [2.1], [4.0], [5.0]], list("aababb"))
        >>> [row.name for row, _term in model.explain([[3.0]]).rows]
        ['class', 'x0', 'calibration']
        """
        check_is_fitted(self)
        ledger = self.estimator_.explain(X, given)
        return replace(ledger, rows=(*ledger.rows, (CALIBRATION, self._shift(ledger.apart()))))

    def _shift(self, joint: Array) -> Array:
        """(n, C) log q_c − log p_c; 0 where p_c is 0 and q_c with it."""
        log_p = log_normalize(joint)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(log_p), 0.0, self.calibrator_(log_p) - log_p)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, C) log q_c + log P(x), in nats."""
        check_is_fitted(self)
        joint = self.estimator_.predict_joint_log_proba(X)
        return np.asarray(joint + self._shift(joint))

    def _joint(self, X: Any) -> tuple[Table, Array]:
        check_is_fitted(self)
        table, joint = self.estimator_._joint(X)
        return table, joint + self._shift(joint)

    def _status(self, X: Table, joint: Array) -> NDArray[np.int8]:
        return self.estimator_._status(X, joint)  # what it holds impossible stays so


def _own_prior(model: GenerativeClassifier) -> Array:
    """(C,) the prior in a model's posteriors; scores have none, which is a flat one."""
    if isinstance(model, ComplementNB):
        return np.full(len(model.classes_), 1.0 / len(model.classes_))
    return model.class_prior_
