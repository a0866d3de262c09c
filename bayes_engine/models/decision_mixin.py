"""What follows from a posterior, whatever made it: risks, decisions, and the rows that have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import UndefinedPosterior
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, log_normalize, normalize, normalize_odds
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.matrix import Matrix, slices

if TYPE_CHECKING:
    from bayes_engine.decision.loss import Decision, LossMatrix


class DecisionMixin:
    """A classifier that states `_joint` and `_status`: its posteriors, and risks and decisions under any losses, which
    are imported where the first is asked for."""

    classes_: NDArray[Any]

    def _joint(self, X: Any) -> tuple[Table, Array]:
        """The rows of X (n, d), encoded, and (n, C) log p(c, x), up to what all classes share."""
        raise NotImplementedError

    def _status(self, X: Table, joint: Array) -> NDArray[np.int8]:
        """(n,) whether each row has a posterior, and why it has none."""
        raise NotImplementedError

    def _posterior(self, X: Any) -> tuple[Array, NDArray[np.int8]]:
        """(n, C) P(c|x), zeros for a row without one, and (n,) the status of each row."""
        table, joint = self._joint(X)
        status = self._status(table, joint)
        return np.where((status == Status.OK)[:, None], normalize(joint), 0.0), status

    def _defined(self, X: Table, joint: Array) -> None:
        refuse_undefined(self._status(X, joint) != Status.OK)

    def predict_log_proba(self, X: Any) -> Array:
        """(n, C) log P(c|x). Raises UndefinedPosterior, naming the rows, where there is none."""
        table, joint = self._joint(X)
        self._defined(table, joint)
        return log_normalize(joint)

    def predict_proba(self, X: Any) -> Array:
        """(n, C) P(c|x), columns as `classes_`. Raises UndefinedPosterior, naming the rows, where there is none."""
        table, joint = self._joint(X)
        self._defined(table, joint)
        return normalize(joint)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class with the largest posterior. Raises UndefinedPosterior where there is none."""
        table, joint = self._joint(X)
        self._defined(table, joint)
        index, clear = leading(joint)
        if not clear.all():
            rest = np.flatnonzero(~clear)
            index[rest] = self._most_probable(joint[rest])
        return self._named(index)

    def _named(self, index: NDArray[Any]) -> NDArray[Any]:
        """(n,) the classes at these positions; where they are 0, 1, 2, … the positions themselves, in their dtype."""
        classes = self.classes_
        plain = classes.dtype.kind == "i" and np.array_equal(classes, np.arange(len(classes)))
        return index.astype(classes.dtype) if plain else np.asarray(classes[index])

    def _most_probable(self, joint: Array) -> NDArray[np.intp]:
        """(n,) the position of the class with the largest posterior, by the rule for ties that all decisions have."""
        from bayes_engine.decision.loss import LossMatrix, decide

        return decide(normalize(joint), LossMatrix.zero_one(tuple(self.classes_.tolist()))).position

    def risk(self, X: Any, loss: Any = None, *, amount: Any = None) -> Array:
        """(n, A) the conditional risk R(a|x) = Σ_j λ_aj P(c_j|x) (Zhou, eq. 7.1) of every action; a row without a
        posterior has inf throughout. `loss` is as `LossMatrix.from_any` takes it, 0-1 by default; `amount` (n,), where
        given, multiplies each row's losses, all of them or the cells that `LossMatrix.with_amount` names.

        Raises LossError where the loss speaks of other classes, or an amount is missing, infinite or negative.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> model.risk([["crisp"]], {"bad": {"bad": 0, "good": 8}, "good": {"bad": 1, "good": 0}}).round(4).tolist()
        [[2.0, 0.75]]
        """
        posterior, status = self._posterior(X)
        risk = self._loss(loss).risk(posterior, amount)
        return np.where((status == Status.OK)[:, None], risk, np.inf)

    def decide(self, X: Any, loss: Any = None, *, amount: Any = None) -> Decision:
        """The action of least risk (Zhou, eq. 7.3) for each of the n rows; `loss` and `amount` as in `risk`.

        Raises LossError as `risk`; never for a row without a posterior, which carries its status.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> dear = {"bad": {"bad": 0, "good": 8}, "good": {"bad": 1, "good": 0}}
        >>> model.decide([["crisp"]]).action.tolist(), model.decide([["crisp"]], dear).action.tolist()
        (['bad'], ['good'])
        """
        from bayes_engine.decision.loss import decide

        posterior, status = self._posterior(X)
        return decide(posterior, self._loss(loss), status, amount=amount)

    def _loss(self, loss: Any) -> LossMatrix:
        from bayes_engine.decision.loss import LossMatrix

        return LossMatrix.from_any(loss, self.classes_.tolist())


TIED = 1e-11
"""Joints nearer than this times the number of classes are left to `decide`, whose rule for ties is the one rule."""
RANKED = 2**15
"""Rows that are ranked together, in the cache."""


def leading(joint: Array, error: float = 0.0) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """(n,) the class with the largest joint (n, C), and whether it is one alone, beyond what may count as a tie, or an
    `error` of a difference.

    >>> [found.tolist() for found in leading(np.array([[-1.0, -2.0], [-2.0, -2.0]]))]
    [[0, 1], [True, False]]
    """
    n, k = joint.shape
    index, clear = np.empty(n, dtype=code_dtype(k)), np.empty(n, dtype=bool)
    for start in range(0, n, RANKED):
        rows = slice(start, start + RANKED)
        of_class = joint[rows].T
        least = of_class.max(axis=0)
        least -= max(TIED * k, error)
        near = (of_class >= least).view(np.uint8)
        index[rows] = sum((near[c] * index.dtype.type(c) for c in range(2, k)), start=near[1].astype(index.dtype))
        clear[rows] = near.sum(axis=0, dtype=index.dtype) == 1
    return index, clear


def posterior_by_block(
    joint_or_odds: Callable[[Table, Array], Array | None],
    X: Table,
    classes: int,
    without: NDArray[np.bool_],
    at_once: int,
) -> Array:
    """(n, C) P(c|x), so many rows `at_once`, which stay in the cache until they are a posterior. `joint_or_odds` gives
    the joint (m, C) of rows, or None where it wrote log-odds against the first class into what it was given (m, C − 1).
    Raises UndefinedPosterior, naming the rows, where there is none, or they are known to be `without` (n,) one."""
    posterior = np.empty((classes, X.n))
    for rows in slices(X.n, at_once):
        into = posterior[:, rows].T
        joint = joint_or_odds(X.take(rows), into[:, 1:])
        if isinstance(X, Matrix):  # products, whose last digit hangs on the other rows; else it is the ledger's
            if joint is not None:
                with np.errstate(invalid="ignore"):
                    np.subtract(joint[:, 1:], joint[:, :1], out=into[:, 1:])
            if normalize_odds(into):
                continue
        if joint is None:
            into[:, 0], joint = 0.0, into
        top = joint.max(axis=1, keepdims=True)
        without[rows] |= top[:, 0] == -np.inf
        normalize(joint, top, out=into)
    refuse_undefined(without)
    return posterior.T


def refuse_undefined(without: NDArray[np.bool_]) -> None:
    """Raises UndefinedPosterior, naming the rows `without` (n,) a posterior, where there are any.

    >>> refuse_undefined(np.array([False, False]))
    """
    rows = tuple(np.flatnonzero(without).tolist())
    if rows:
        raise UndefinedPosterior(
            "no posterior for {n} row(s): {rows}. Their likelihood is 0 in every class, or a cell is infinite or "
            "far outside the data's range. Rows count from 0. Smooth (alpha > 0), or use decide and explain, which "
            "flag such rows",
            rows,
        )
