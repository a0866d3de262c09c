"""How a classifier does on rows it has not seen, under losses and a prior of use.

The posteriors of held-out rows are computed once; every loss, prior of use and amount is applied to them afterwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bayes_engine.decision.loss import Decision, LossMatrix, decide
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.language import Message
from bayes_engine.ledger import Status, prior_shift
from bayes_engine.logspace import Array, log_normalize, normalize
from bayes_engine.priors import given_prior
from bayes_engine.table.encode import positions

TINY = 60
"""Tables of at most this many rows are evaluated by exact leave-one-out."""


@dataclass(frozen=True)
class HeldOut:
    """Posteriors of rows by models that had not seen them.

    `log_posterior` (n, K) and the `prior` (n, K) of the model that gave it; `truth` (n,) class positions; `weight`
    (n,); `scheme` says how they were held out.
    """

    classes: tuple[Any, ...]
    log_posterior: Array
    prior: Array
    truth: NDArray[np.intp]
    weight: Array
    scheme: Message

    def posterior(self, prior_of_use: Mapping[Any, float] | None = None) -> tuple[Array, NDArray[np.int8]]:
        """(n, K) posteriors and (n,) statuses, shifted from each model's own prior to `prior_of_use` if given."""
        joint = self.log_posterior
        if prior_of_use is not None:
            joint = joint + _shift_by_row(self.prior, given_prior(prior_of_use, self.classes))
        nowhere = np.isneginf(joint).all(axis=1)
        return normalize(joint), np.where(nowhere, Status.IMPOSSIBLE, Status.OK).astype(np.int8)

    def in_order(self, classes: tuple[Any, ...]) -> HeldOut:
        """The same rows with the classes in another order (a table's own, say)."""
        columns = [self.classes.index(c) for c in classes]
        truth = np.argsort(columns)[self.truth].astype(np.intp)
        return HeldOut(classes, self.log_posterior[:, columns], self.prior[:, columns], truth, self.weight, self.scheme)


def _shift_by_row(prior: Array, use: Any) -> Array:
    """(n, K) log π_use − log π_model for a model prior of each row; a class a fold's model excludes stays excluded."""
    floor = np.where(prior > 0, prior, 1.0)
    return np.where(prior > 0, prior_shift(floor, np.broadcast_to(np.asarray(use, dtype=float), prior.shape)), 0.0)


def held_out(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    *,
    folds: int = 5,
    groups: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    refit: bool = False,
) -> HeldOut:
    """Held-out posteriors of a fitted generative classifier on its own rows: exact leave-one-out up to 60 rows (the
    statistics minus one row), stratified folds beyond; rows of one group stay together.

    X (n, d) and y (n,) are the rows the model was fitted on, `groups` and `sample_weight` (n,) go with them. Exact
    leave-one-out keeps the structure and the cut points of the fit; with `refit` each row's model is fitted anew to the
    others, as folds always are.
    Raises TableError where a class or the groups are too few for two folds.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X, y = pd.DataFrame({"size": [1.0, 2.0, 3.0, 9.0, 10.0, 11.0]}), ["small"] * 3 + ["big"] * 3
    >>> held = held_out(NaiveBayes().fit(X, y), X, y)
    >>> str(held.scheme), held.posterior()[0].argmax(axis=1).tolist()
    ('leave-one-out, exact', [1, 1, 1, 0, 0, 0])
    """
    classes = tuple(model.classes_.tolist())
    labels = np.asarray(y)
    truth = positions(labels, classes)
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if groups is None and len(labels) <= TINY and not refit:
        left = np.repeat(model.stats_.class_weight[None, :], len(labels), axis=0)
        left[np.arange(len(labels)), truth] -= weight
        prior = model._prior_of(np.maximum(left, 0.0), classes)
        log_posterior = model.leave_one_out_log_proba(X, y, sample_weight)
        return HeldOut(classes, log_posterior, prior, truth, weight, Message("leave-one-out, exact"))
    alone = groups is None and len(labels) <= TINY
    splits, scheme = _each_row(len(labels)) if alone else _splits(truth, groups, folds, seed)
    log_posterior = np.full((len(labels), len(classes)), -np.inf)
    prior = np.zeros_like(log_posterior)
    for train, test in splits:
        fold = clone(model).set_params(schema=model.schema_)
        fold.partial_fit(X.iloc[train], labels[train], classes, None if sample_weight is None else weight[train])
        log_posterior[test] = log_normalize(fold.predict_joint_log_proba(X.iloc[test]))
        prior[test] = list(fold.prior_by_class.values())
    return HeldOut(classes, log_posterior, prior, truth, weight, scheme)


def _each_row(n: int) -> tuple[Any, Message]:
    every = np.arange(n)
    return [(np.delete(every, i), [i]) for i in every], Message("leave-one-out, everything learnt anew")


def _splits(truth: NDArray[np.intp], groups: Any, folds: int, seed: int) -> tuple[Any, Message]:
    sizes = np.bincount(truth)
    if groups is not None:
        together = pd.factorize(pd.Series(groups), use_na_sentinel=False)[0]
        k = min(folds, len(np.unique(together)), int(sizes.max()))
        if k < 2:
            raise TableError("the group column has one value only; risk cannot be estimated on groups left out")
        splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
        with warnings.catch_warnings():  # a class may be absent from a fold: it keeps its column
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(splitter.split(truth, truth, together))
        return splits, Message("{k} folds, groups kept together", {"k": k})
    k = min(folds, int(sizes[sizes > 0].min()))
    if k < 2:
        raise TableError(
            "a class has one row only, so it cannot be held out and learnt from at once; add rows or leave the class "
            "out"
        )
    scheme = Message(
        "{k} folds, stratified" if k == folds else "{k} folds, stratified (the rarest class has {k} rows)", {"k": k}
    )
    return StratifiedKFold(k, shuffle=True, random_state=seed).split(truth, truth), scheme


@dataclass(frozen=True)
class RiskReport:
    """Estimated risk on held-out rows.

    `risk` per row with its 95 % bootstrap `interval`; `confusion` (A, K) weights by action and truth; `cost` (A, K)
    their shares of the risk; `accuracy` the weight decided rightly; `undecided` rows without a posterior, left out;
    `decision` of each row.
    """

    risk: float
    interval: tuple[float, float]
    confusion: Array
    cost: Array
    accuracy: float
    undecided: int
    decision: Decision


def estimated_risk(
    held: HeldOut,
    loss: LossMatrix,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: Any = None,
    decide_by: LossMatrix | None = None,
    seed: int = 0,
) -> RiskReport:
    """Mean loss of the decisions on held-out rows: Σ w_i λ(a_i, c_i) / Σ w_i.

    With a prior of use the posteriors are shifted to it and row i weighs w_i π_use(c_i)/π_table(c_i); `amount` (n,)
    multiplies a row's loss; `decide_by` (0-1, say) makes the decisions while `loss` prices them.

    Raises LossError where the losses speak of other classes, ParameterError where they do not price an action of
    `decide_by`, TableError where no row, or none of a class in use, has a posterior.

    >>> held = HeldOut(
    ...     classes=("ill", "well"),
    ...     log_posterior=np.log([[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]]),
    ...     prior=np.full((3, 2), 0.5),
    ...     truth=np.array([0, 0, 1]),
    ...     weight=np.ones(3),
    ...     scheme=Message("three patients"),
    ... )
    >>> loss = LossMatrix(("ill", "well"), ("ill", "well"), [[0, 1], [5, 0]])
    >>> plain = LossMatrix.zero_one(("ill", "well"))
    >>> estimated_risk(held, loss).risk, round(estimated_risk(held, loss, decide_by=plain).risk, 4)
    (0.0, 1.6667)
    """
    loss = loss.for_classes(held.classes)
    posterior, status = held.posterior(prior_of_use)
    rule = loss if decide_by is None else decide_by.for_classes(held.classes)
    size = np.ones(len(held.truth)) if amount is None else np.asarray(amount, dtype=float)
    if not np.isfinite(size).all():
        raise TableError("the amount column has a missing or infinite cell; mend it or choose another column")
    decision = decide(posterior, rule, status)
    ok = decision.position >= 0
    action, truth, m = decision.position[ok], held.truth[ok], size[ok]
    w = weights_in_use(held, ok, prior_of_use)
    priced = _priced(loss, rule)
    shape = (len(rule.actions), len(rule.classes))
    cell = action * shape[1] + truth
    total = w.sum()
    if not total > 0:
        raise TableError("no held-out row has a posterior; smooth the model (alpha > 0)")
    cost = np.bincount(cell, w * m * priced.ravel()[cell], minlength=priced.size) / total
    right = np.array([[a == c for c in rule.classes] for a in rule.actions]).ravel()[cell]
    return RiskReport(
        risk=float(cost.sum()),
        interval=_bootstrap(w, w * m * priced.ravel()[cell], seed),
        confusion=np.bincount(cell, w, minlength=priced.size).reshape(shape).astype(float),
        cost=cost.reshape(shape),
        accuracy=float(w[right].sum() / total),
        undecided=int((~ok).sum()),
        decision=decision,
    )


def _priced(loss: LossMatrix, rule: LossMatrix) -> Array:
    """The losses, in the rows of the rule's actions."""
    if rule is loss:
        return loss.table
    missing = [a for a in rule.actions if a not in loss.actions]
    if missing:
        raise ParameterError("the losses do not price the action '{action}'", action=str(missing[0]))
    return loss.table[[loss.actions.index(a) for a in rule.actions]]


def weights_in_use(held: HeldOut, rows: NDArray[np.bool_], prior_of_use: Mapping[Any, float] | None = None) -> Array:
    """The weights of these `rows` (n,), with a prior of use times π_use(c_i)/π_table(c_i).

    Raises TableError where no row of a class in use is among them.
    """
    return held.weight[rows] if prior_of_use is None else _reweighted(held, rows, prior_of_use)


def _reweighted(held: HeldOut, rows: NDArray[np.bool_], prior_of_use: Mapping[Any, float]) -> Array:
    """Weights w_i π_use(c_i)/π_table(c_i) of the rows evaluated, π_table being their own class frequencies."""
    truth, weight = held.truth[rows], held.weight[rows]
    use = given_prior(prior_of_use, held.classes)
    table = np.bincount(truth, weight, minlength=len(use)) / max(weight.sum(), np.finfo(float).tiny)
    if ((table == 0) & (use > 0)).any():
        raise TableError(
            "no held-out row of class '{label}' has a posterior, so its share of the risk cannot be estimated; add "
            "rows, smooth the model (alpha > 0), or set its prior of use to 0",
            label=str(held.classes[int(((table == 0) & (use > 0)).argmax())]),
        )
    return np.asarray(weight * (use / np.where(table > 0, table, 1.0))[truth])


DRAWS = 999
"""Bootstrap replicates of an interval."""


def _bootstrap(weight: Array, loss: Array, seed: int) -> tuple[float, float]:
    """95 % percentile interval of Σ loss / Σ weight when rows are drawn again."""
    low, high = mean_intervals(weight, loss[:, None], seed)[0].tolist()
    return low, high


def mean_intervals(weight: Array, totals: Array, seed: int = 0) -> Array:
    """(M, 2) 95 % percentile intervals of Σ_i t_im / Σ_i w_i when the rows are drawn again, the same draws for all M
    columns of `totals` (n, M); alike rows are drawn together, and no more than two million draws are held at once.

    >>> mean_intervals(np.ones(3), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 9.0]])).tolist()
    [[1.0, 1.0], [0.0, 9.0]]
    """
    alike, n = np.unique(np.column_stack([weight, totals]), axis=0, return_counts=True)
    rng, share = np.random.default_rng(seed), n / n.sum()
    at_once = max(1, 2_000_000 // len(n))
    sums = np.concatenate(
        [rng.multinomial(n.sum(), share, size=min(at_once, DRAWS - done)) @ alike for done in range(0, DRAWS, at_once)]
    )
    counted = sums[sums[:, 0] > 0]
    return np.asarray(np.quantile(counted[:, 1:] / counted[:, :1], [0.025, 0.975], axis=0).T)


def risk_scorer(loss: Any = None) -> Callable[[Any, Any, Any], float]:
    """A scikit-learn scorer: minus the mean loss of the least-risk decisions (greater is better).

    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(cross_val_score(GaussianNB(), X, y, scoring=risk_scorer()).mean()), 4)
    -0.0467
    """

    def score(estimator: Any, X: Any, y: Any) -> float:
        classes = estimator.classes_.tolist()
        matrix = LossMatrix.from_any(loss, classes)
        if hasattr(estimator, "decide"):  # one of ours: a row without a posterior is left out, not an error
            decision = estimator.decide(X, matrix)
        else:
            decision = decide(np.asarray(estimator.predict_proba(X)), matrix)
        truth = positions(np.asarray(y), classes)
        ok = (decision.position >= 0) & (truth >= 0)
        if not ok.any():
            raise TableError("no row to score has a posterior and a known class")
        return -float(matrix.table[decision.position[ok], truth[ok]].mean())

    return score
