"""A rule, X to log P(c|x): what it decides, where its decision changes, and the lines along which it does so in the
plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.risk import near_least
from bayes_engine.logspace import Array, exp, log, log_normalize
from bayes_engine.table.encode import Table

TIED = 1e-8
"""Risks nearer than this, of what the two are sums of, tie: a model left undecided by endless rows is not settled by
noise."""

LogPosterior = Callable[[Any], Array]
"""X to log P(c|x), (n, K), the classes in the order of the truth's; a constant per row does not matter."""


def least_risk_action(logs: Array, table: Array) -> NDArray[np.intp]:
    """(...) the action of least risk at log P(c|x) (..., K); of those that tie, the first in the matrix."""
    top = logs.max(axis=-1, keepdims=True)
    p = exp(logs - np.where(np.isfinite(top), top, 0.0))
    return np.asarray(near_least(p @ table.T, p @ np.abs(table).T, TIED).argmax(axis=-1))


def decision_changes(
    start: Array, end: Array, table: Array, *, pieces: int = 8
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, NDArray[np.intp]]:
    """Where the decision changes along segments whose log P(c|x) go straight from `start` (n, K) to `end` (n, K):
    (m,) the action before, the action after, the place as a share of the segment, and the segment."""
    start, end = np.maximum(start, -1e3), np.maximum(end, -1e3)  # −∞ has no straight line
    share = np.linspace(0.0, 1.0, pieces + 1)
    logs = start[:, None] + share[:, None] * (end - start)[:, None]
    action = least_risk_action(logs, table)
    of, piece = np.nonzero(action[:, :-1] != action[:, 1:])
    before, after = action[of, piece], action[of, piece + 1]
    low, high = share[piece], share[piece + 1]
    gap, base, slope = table[before] - table[after], start[of], (end - start)[of]
    for _halving in range(20):
        middle = (low + high) / 2.0
        here = base + middle[:, None] * slope
        changed = (gap * exp(here - here.max(axis=1, keepdims=True))).sum(axis=1) > 0
        low, high = np.where(changed, low, middle), np.where(changed, middle, high)
    return before, after, (low + high) / 2.0, of


def log_posterior(model: Any, classes: Sequence[Any]) -> LogPosterior:
    """A fitted model as a rule over these classes; one that its rows never showed has probability 0."""
    known = [list(classes).index(c) for c in model.classes_]

    def rule(X: Any) -> Array:
        log_p = np.full((len(X), len(classes)), -np.inf)
        log_p[:, known] = log_proba(model, X)
        return log_p

    return rule


def log_proba(model: Any, X: Any) -> Array:
    """(n, C) log P(c|x) of a fitted classifier; −∞ throughout where there is none.

    It is the log of a probability, which is 0 where it underflows, only of a classifier that tells nothing else. One of
    ours tells it from the terms that tell the classes apart, as in `predict_proba`: far from the data log p(c, x) may
    hold nothing but what they share. scikit-learn's logistic regression has it in its `decision_function`.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression(C=1e3).fit([[0.0], [1.0]], ["a", "b"])
    >>> float(model.predict_proba([[20.0]])[0, 0]), bool(np.isfinite(log_proba(model, [[20.0]])).all())
    (0.0, True)
    """
    if hasattr(model, "steps"):  # a scikit-learn pipeline
        X, model = (model[:-1].transform(X) if len(model.steps) > 1 else X), model[-1]
    if hasattr(model, "_log_proba"):
        return np.asarray(model._log_proba(X))
    if hasattr(model, "_joint"):
        return _defined(*model._joint(X))
    if hasattr(model, "predict_joint_log_proba"):
        return log_normalize(model.predict_joint_log_proba(X))
    if hasattr(model, "decision_function"):
        odds = np.asarray(model.decision_function(X), dtype=float)
        log_proba = log_normalize(np.column_stack([np.zeros(len(odds)), odds]) if odds.ndim == 1 else odds)
        p = model.predict_proba(X)
        if log_proba.shape == p.shape and np.allclose(exp(log_proba), p, rtol=0.0, atol=1e-6):  # they are its log-odds
            return log_proba
    if not hasattr(model, "predict_log_proba"):
        return np.asarray(log(model.predict_proba(X)))
    with np.errstate(divide="ignore", invalid="ignore"):  # scikit-learn warns of log 0
        log_proba = np.asarray(model.predict_log_proba(X))
    return np.where(np.isnan(log_proba).any(axis=1, keepdims=True), -np.inf, log_proba)


def log_proba_of(model: Any, table: Table) -> Array:
    """`log_proba` of rows as a generative model encodes them."""
    return _defined(table, model._joint_of(table))


def _defined(table: Table, joint: Array) -> Array:
    return np.where(table.infinite()[:, None], -np.inf, log_normalize(joint))


def boundary_segments(
    rule: LogPosterior, loss: LossMatrix, x: tuple[float, float], y: tuple[float, float], *, size: int = 90
) -> Array:
    """(m, 4) pieces x₁, y₁, x₂, y₂ of the lines at which the decisions of a rule in the plane change, inside a box."""
    across, up = np.linspace(*x, size + 1), np.linspace(*y, size + 1)
    logs = rule(np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)).reshape(size + 1, size + 1, -1)
    table = loss.table
    action = least_risk_action(logs, table)
    where = np.full((2, size + 1, size + 1, 2), np.nan)  # the change on the edge right of, above
    for direction, (far, side) in enumerate((((0, 1), across), ((1, 0), up))):
        near = (slice(0, size + 1 - far[0]), slice(0, size + 1 - far[1]))
        j, i = np.nonzero(action[near] != action[far[0] :, far[1] :])
        if not len(j):
            continue
        _before, _after, t, of = decision_changes(logs[j, i], logs[j + far[0], i + far[1]], table)
        step = t * (side[1] - side[0])
        where[direction, j[of], i[of]] = np.stack([across[i[of]] + step * far[1], up[j[of]] + step * far[0]], axis=1)
    edges = np.stack(
        [where[0, :-1, :-1], where[1, :-1, 1:], where[0, 1:, :-1], where[1, :-1, :-1]], axis=2
    )  # (size, size, 4, 2): below, right, above, left
    crossed = np.isfinite(edges[..., 0])
    count = crossed.sum(axis=2)
    middle = np.nansum(edges, axis=2) / np.maximum(count, 1)[..., None]
    ends = edges[crossed & (count == 2)[..., None]].reshape(-1, 4)
    j, i, e = np.nonzero(crossed & (count > 2)[..., None])  # where three regions meet
    return np.concatenate([ends, np.concatenate([edges[j, i, e], middle[j, i]], axis=1)])


def rounded_boundary_segments(
    rule: LogPosterior, loss: LossMatrix, x: tuple[float, float], y: tuple[float, float]
) -> list[list[float]]:
    """`boundary_segments` to three decimals, as lists: what a browser is sent."""
    return np.round(boundary_segments(rule, loss, x, y), 3).tolist()  # type: ignore[no-any-return]
