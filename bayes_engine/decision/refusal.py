"""The threshold on the risk above which a case is refused, so that those decided have a target error rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.risk import TIE, LossTable, decide
from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array


@dataclass(frozen=True)
class Refusal:
    """Refuse where the conditional risk is above `cost`: `loss.with_refusal(cost)` does so.

    `coverage` is the share decided and `error` the share of wrong ones among them, by weight; `reached` says whether
    the target can be met by deciding at all: if not, `cost` is −inf, every row is refused and there is no error.
    `risks` (m,), increasing, `coverages` and `errors` (m,) are all that could be chosen: deciding up to that risk.

    >>> from bayes_engine.decision.loss import LossMatrix
    >>> loss = LossMatrix.zero_one(("a", "b"))
    >>> refusal = loss.refusal_for_error(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]), 0.2)
    >>> refusal.reached, refusal.coverage, refusal.errors.tolist()
    (True, 0.5, [0.0, 0.5])
    """

    target: float
    cost: float
    coverage: float
    error: float
    reached: bool
    risks: Array
    coverages: Array
    errors: Array

    @property
    def least_error(self) -> float:
        """The least error that any threshold gives."""
        return float(self.errors.min())


def refusal_for_error(
    posterior: Array,
    truth: NDArray[np.intp],
    loss: LossTable,
    target: float,
    *,
    weight: Array | None = None,
    status: NDArray[np.int8] | None = None,
    amount: Any = None,
) -> Refusal:
    """The threshold on the risk that decides most rows with an error among the decided of at most `target`.

    posterior (n, K) of held-out rows, `truth` (n,) their class positions, `weight` (n,) theirs; with a prior of use the
    posteriors are those shifted to it and the weights those of `evaluate.weights_in_use`. Rows of one risk (tied with
    that of refusing) are decided or refused together. A row whose action is no class (a refusal in the matrix
    already), or that has no posterior, is refused at any threshold. With the rows' amounts (n,) it is the risk at each
    row's own, and the cost of refusing is none that they multiply (`with_amount`). The error is that of the very rows
    the threshold was chosen on, so a little too good: on new rows expect more.

    Raises ParameterError where the target is no share from 0 to 1 or no row has a posterior.
    """
    if not 0.0 <= target <= 1.0:
        raise ParameterError("a target error rate is a share from 0 to 1, not {value}", value=repr(target))
    decision = decide(posterior, loss, status, amount=amount)
    w = np.ones(len(truth)) if weight is None else np.asarray(weight, dtype=float)
    of = np.array([loss.classes.index(a) if a in loss.classes else -1 for a in loss.actions])
    meant = np.where(decision.position >= 0, of[decision.position], -1)
    total = w[decision.position >= 0].sum()
    if not total > 0:
        raise ParameterError("no row has a posterior, so no threshold can be chosen")
    ranked = np.argsort(np.where(meant >= 0, decision.risk, np.inf), kind="stable")[: int((meant >= 0).sum())]
    risk, weighed = decision.risk[ranked], w[ranked]
    wrong = np.cumsum(weighed * (meant != truth)[ranked])
    decided = np.cumsum(weighed)
    reach = TIE * loss.magnitude(posterior, amount)[ranked, decision.position[ranked]]
    beyond = np.minimum.accumulate((risk - reach)[::-1])[::-1][1:]  # no dearer row is tied with refusing at this risk
    last = np.append(beyond > risk[:-1] + reach[:-1], True)[: len(risk)] & (decided > 0)
    risks, coverages, errors = risk[last], decided[last] / total, wrong[last] / decided[last]
    good = np.flatnonzero(errors <= target + 1e-12)
    chosen = int(good[-1]) if len(good) else -1
    return Refusal(
        target=float(target),
        cost=float(risks[chosen]) if len(good) else -np.inf,
        coverage=float(coverages[chosen]) if len(good) else 0.0,
        error=float(errors[chosen]) if len(good) else float("nan"),
        reached=bool(len(good)),
        risks=risks,
        coverages=coverages,
        errors=errors,
    )
