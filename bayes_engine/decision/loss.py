"""The loss matrix: how it is written down and changed, and what can be asked of one decision.

λ_ij is the loss of deciding i when the truth is j: rows are decisions, columns truths (Zhou, eq. 7.1–7.3). A decision
never refits anything: it is one product of the posterior with λᵀ (`risk.decide`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision import margins, refusal
from bayes_engine.decision.margins import FlipMargins, ImpliedLosses
from bayes_engine.decision.refusal import Refusal
from bayes_engine.decision.risk import TIE, Decision, LossTable, decide
from bayes_engine.errors import LossError
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array

__all__ = ["TIE", "Decision", "LossMatrix", "decide", "decide_ledger"]


@dataclass(frozen=True, init=False, eq=False)
class LossMatrix(LossTable):
    """`table` (A, K): the loss of each of the A actions (rows) under each of the K true classes (columns).

    An action named like a class is «decide it»; any other is an action of its own (refuse, ask an expert). Negative
    losses are gains. Raises LossError, naming the cell, on a blank or infinite one; and on doubled labels.

    `by_amount` (A, K) marks the cells that hold a loss per unit of a row's amount (the loan's sum), to be multiplied by
    it; None marks none or all: `with_amount` says which, and without a word an amount multiplies the whole matrix.

    >>> loss = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])
    >>> loss.risk(np.array([[0.9, 0.1]])).tolist()
    [[0.5, 0.9]]
    """

    @classmethod
    def zero_one(cls, classes: Sequence[Any]) -> LossMatrix:
        """0 for a right decision, 1 for a wrong one: the loss under which argmax P(c|x) is optimal."""
        return cls(classes, classes, 1.0 - np.eye(len(classes)))

    @classmethod
    def from_any(
        cls, loss: Any, classes: Sequence[Any], *, truth_in_rows: bool = False, others: bool = False
    ) -> LossMatrix:
        """A loss for these classes, in their order, matched by label, never by position: a LossMatrix, a frame (index:
        actions, columns: truths), a mapping {decision: {truth: λ}}, or None for 0-1. `truth_in_rows` says that a frame
        or mapping is written the other way round, as `to_frame` may show it. With `others` it may name more classes,
        whose columns are left out.

        Raises LossError where a class is missing or unknown.

        >>> LossMatrix.from_any({"b": {"a": 1, "b": 0}, "a": {"a": 0, "b": 5}}, ["a", "b"]).table.tolist()
        [[1.0, 0.0], [0.0, 5.0]]
        """
        if loss is None:
            return cls.zero_one(classes)
        if isinstance(loss, Mapping):
            loss = pd.DataFrame.from_dict(dict(loss), orient="index")
        if isinstance(loss, pd.DataFrame):
            loss = loss.T if truth_in_rows else loss
            loss = cls(tuple(loss.index), tuple(loss.columns), loss.to_numpy())
        if not isinstance(loss, LossMatrix):
            raise LossError(
                "a loss is a LossMatrix, a frame or a mapping {{decision: {{truth: loss}}}}; bare numbers do not say "
                "which class they belong to"
            )
        if others and set(classes) <= set(loss.classes):
            return loss.of(classes=classes)
        return loss.for_classes(classes)

    def for_classes(self, classes: Sequence[Any]) -> LossMatrix:
        """The same losses with the columns in another order of the same labels. Raises LossError on other labels."""
        classes = tuple(classes)
        if classes == self.classes:
            return self
        for label in classes:
            if label not in self.classes:
                raise LossError("the loss matrix has no column for the class '{label}'", label=str(label))
        for label in self.classes:
            if label not in classes:
                raise LossError(
                    "the loss matrix has a column '{label}' that is no class of the model", label=str(label)
                )
        return self.of(classes=classes)

    def with_refusal(self, cost: float, name: str = "refuse") -> LossMatrix:
        """With one more action that costs the same whatever the truth. Under 0-1 loss that is Chow's rule (Chow 1970,
        On optimum recognition error and reject tradeoff): refuse where the largest posterior is below 1 − cost. Where
        `with_amount` has said which cells a row's amount multiplies, the refusal's are not among them.

        Raises LossError where there is an action of that name already.

        >>> refusing = LossMatrix.zero_one(("bad", "good")).with_refusal(0.2)
        >>> decide(np.array([[0.1, 0.9], [0.3, 0.7]]), refusing).action.tolist()
        ['good', 'refuse']
        """
        if name in self.actions:
            raise LossError("there is already an action '{name}'", name=name)
        row = np.full((1, len(self.classes)), float(cost))
        marked = None if self.by_amount is None else np.concatenate([self.by_amount, np.zeros(row.shape, dtype=bool)])
        return LossMatrix((*self.actions, name), self.classes, np.concatenate([self.table, row]), marked)

    def with_cell(self, action: Any, truth: Any, value: float) -> LossMatrix:
        """With this one λ changed. Raises LossError where there is no such cell or the value is no finite number.

        >>> LossMatrix.zero_one("ab").with_cell("a", "b", 7).table.tolist()
        [[0.0, 7.0], [1.0, 0.0]]
        """
        table = self.table.copy()
        table[self._at(action, truth)] = value
        return LossMatrix(self.actions, self.classes, table, self.by_amount)

    def with_amount(self, cells: Iterable[tuple[Any, Any]] | None = None) -> LossMatrix:
        """With these (action, truth) cells, or all there are now, as losses per unit of a row's amount: the row's own
        matrix has λ_ij · amount there and λ_ij elsewhere. `risk`, `decide` and `cost` need the amounts.

        Raises LossError on a cell that the matrix has not.

        >>> loan = LossMatrix(("grant", "decline"), ("repays", "defaults"), [[0, 1], [30, 0]])
        >>> loan = loan.with_amount([("grant", "defaults")])
        >>> decide(np.array([[0.9, 0.1], [0.9, 0.1]]), loan, amount=[100, 1000]).action.tolist()
        ['grant', 'decline']
        """
        marked = np.full(self.table.shape, cells is None)
        for action, truth in cells or ():
            marked[self._at(action, truth)] = True
        return LossMatrix(self.actions, self.classes, self.table, marked)

    def to_frame(self, *, truth_in_rows: bool = False) -> pd.DataFrame:
        """The matrix with its labels; `truth_in_rows` only turns the view, not the meaning.

        >>> LossMatrix(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]]).to_frame().loc["take", "bad"]
        np.float64(5.0)
        """
        frame = pd.DataFrame(self.table, index=pd.Index(self.actions), columns=pd.Index(self.classes))
        return frame.T if truth_in_rows else frame

    def flip_margins(
        self, posterior: Any, prior: Mapping[Any, float] | None = None, *, amount: float | None = None
    ) -> FlipMargins:
        """For one row's posterior (K,), at the prior it was computed with, and its amount where it has one: the
        decision, and the exact values of each λ_ij, as it stands in this matrix, and of each class's prior within which
        the decision stands. See `margins.flip_margins`."""
        return margins.flip_margins(posterior, self, prior, amount=amount)

    def implied_losses(
        self, posterior: Any, wished: Any, prior: Mapping[Any, float] | None = None, *, amount: float | None = None
    ) -> ImpliedLosses:
        """For one row's posterior (K,), and its amount where it has one: the λ, each alone or all together, and the
        priors that would make `wished` the decision. See `margins.implied_losses`."""
        return margins.implied_losses(posterior, wished, self, prior, amount=amount)

    def refusal_for_error(
        self, posterior: Array, truth: NDArray[np.intp], target: float, *, weight: Array | None = None
    ) -> Refusal:
        """The threshold on the risk that decides most held-out rows with at most so many of the decided wrong; to be
        put to use by `with_refusal(refusal.cost)`. See `refusal.refusal_for_error`."""
        return refusal.refusal_for_error(posterior, truth, self, target, weight=weight)

    def most_saved(self, action: Any) -> float:
        """The most that `action` saves over the best of the others, at any posterior: max_P min_i R(i|P) − R(action|P)
        over the others i, a linear program. At 0 or below it decides nothing, however the data fall. An action whose
        cost is the same whatever the truth pays below that cost and this number together: below 1 − 1/K where the
        others have 0-1 loss (Chow 1970).

        Raises LossError where there is no such action.

        >>> round(LossMatrix.zero_one(("bad", "good")).with_refusal(0.2).most_saved("refuse"), 6)
        0.3
        """
        own = self._at(action, self.classes[0])[0]
        saved = np.delete(self.table, own, axis=0) - self.table[own]
        scale = float(abs(saved).max(initial=0.0)) or 1.0
        rows, k = saved.shape
        if k == 2:  # the highest point of the lowest of several lines: at an end, or where two of them meet
            first, rise = saved[:, 0], saved[:, 1] - saved[:, 0]
            i, j = np.nonzero(rise[:, None] < rise)
            met = (first[i] - first[j]) / (rise[j] - rise[i])
            places = np.concatenate([[0.0, 1.0], met[(met > 0.0) & (met < 1.0)]])
            return float((first * (1.0 - places[:, None]) + saved[:, 1] * places[:, None]).min(axis=1).max())
        from scipy.optimize import linprog  # a fifth of a second, which no decision between two classes needs

        solved = linprog(  # over P and t: the largest t that no row of saved · P is below
            np.append(np.zeros(k), -1.0),
            A_ub=np.column_stack([-saved / scale, np.ones(rows)]),
            b_ub=np.zeros(rows),
            A_eq=np.append(np.ones(k), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0, None)] * k + [(None, None)],
        )
        return -float(solved.fun) * scale

    def refusal_that_pays(self) -> float | None:
        """A cost of refusing under which some posteriors are refused: two fifths of the way up to the cost at which
        none is any more, from that which the dearest right decision has. None where refusing has to earn to pay.

        >>> LossMatrix(("good", "bad"), ("good", "bad"), [[0, 20], [1, 0]]).refusal_that_pays()
        0.38
        """
        action = object()
        bound = LossMatrix((*self.actions, action), self.classes, [*self.table, np.zeros(len(self.classes))])
        most, low = bound.most_saved(action), float(self.table.min(axis=0).max())
        rounding = 1e-9 * float(np.abs(self.table).max(initial=0.0))
        if most - low <= rounding:  # one action is the best at every posterior
            low = 0.0
        if most - low <= rounding:
            return None
        cost = low + 0.4 * (most - low)
        return short if low < (short := float(f"{cost:.2g}")) < most else cost

    @property
    def ignores_data(self) -> bool:
        """True where one action costs no more than any other under every truth: the data cannot change the decision."""
        return bool((self.table.min(axis=0) == self.table).all(axis=1).any())


def decide_ledger(ledger: Ledger, loss: LossMatrix, *, amount: Any = None) -> Decision:
    """`decide` for the posteriors of a ledger, whatever the order of the losses' columns; rows without one undecided.

    Raises LossError where the losses speak of other classes.

    >>> from bayes_engine.ledger import JOINT
    >>> ledger = Ledger(((JOINT, np.log([[0.1, 0.3]])),), ("bad", "good"), np.zeros(1, dtype=np.int8))
    >>> decide_ledger(ledger, LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])).action.tolist()
    ['bad']
    """
    return decide(ledger.posterior(), loss.for_classes(ledger.classes), ledger.status, amount=amount)
