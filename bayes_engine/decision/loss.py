"""Losses and what they make of a posterior: R(c_i|x) = Σ_j λ_ij P(c_j|x), h*(x) = argmin_i R(c_i|x).

λ_ij is the loss of deciding i when the truth is j: rows are decisions, columns truths (Zhou, eq. 7.1–7.3, with the
sum over j). A decision never refits anything: it is one product of the posterior with λᵀ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import LossError
from bayes_engine.ledger import Ledger, Status
from bayes_engine.logspace import Array
from bayes_engine.table.schema import sort_levels

TIE = 1e-12
"""Two risks closer than this times the largest |λ| are tied."""


@dataclass(frozen=True)
class LossMatrix:
    """`table` (A, K): the loss of each of the A actions (rows) under each of the K true classes (columns).

    An action named like a class is «decide it»; any other is an action of its own (refuse, ask an expert). Negative
    losses are gains. Raises LossError, naming the cell, on a blank or infinite one; and on doubled labels.

    >>> loss = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])
    >>> loss.risk(np.array([[0.9, 0.1]])).tolist()
    [[0.5, 0.9]]
    """

    actions: tuple[Any, ...]
    classes: tuple[Any, ...]
    table: Array

    def __init__(self, actions: Sequence[Any], classes: Sequence[Any], table: Any) -> None:
        object.__setattr__(self, "actions", tuple(actions))
        object.__setattr__(self, "classes", tuple(classes))
        object.__setattr__(self, "table", _checked(tuple(actions), tuple(classes), table))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LossMatrix)
            and (self.actions, self.classes) == (other.actions, other.classes)
            and np.array_equal(self.table, other.table)
        )

    def __hash__(self) -> int:
        return hash((self.actions, self.classes, self.table.tobytes()))

    @classmethod
    def zero_one(cls, classes: Sequence[Any]) -> LossMatrix:
        """0 for a right decision, 1 for a wrong one: the loss under which argmax P(c|x) is optimal."""
        return cls(classes, classes, 1.0 - np.eye(len(classes)))

    @classmethod
    def from_any(cls, loss: Any, classes: Sequence[Any]) -> LossMatrix:
        """A loss for these classes, in their order, matched by label, never by position: a LossMatrix, a frame (index:
        actions, columns: truths), a mapping {decision: {truth: λ}}, or None for 0-1.

        Raises LossError where a class is missing or unknown.

        >>> LossMatrix.from_any({"b": {"a": 1, "b": 0}, "a": {"a": 0, "b": 5}}, ["a", "b"]).table.tolist()
        [[1.0, 0.0], [0.0, 5.0]]
        """
        if loss is None:
            return cls.zero_one(classes)
        if isinstance(loss, Mapping):
            loss = pd.DataFrame.from_dict(dict(loss), orient="index")
        if isinstance(loss, pd.DataFrame):
            loss = cls(tuple(loss.index), tuple(loss.columns), loss.to_numpy())
        if not isinstance(loss, LossMatrix):
            raise LossError(
                "a loss is a LossMatrix, a frame or a mapping {{decision: {{truth: loss}}}}; bare numbers do not say "
                "which class they belong to"
            )
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
        return LossMatrix(self.actions, classes, self.table[:, [self.classes.index(c) for c in classes]])

    def with_refusal(self, cost: float, name: str = "refuse") -> LossMatrix:
        """With one more action that costs the same whatever the truth. Under 0-1 loss that is Chow's rule (Chow 1970,
        On optimum recognition error and reject tradeoff): refuse where the largest posterior is below 1 − cost.

        Raises LossError where there is an action of that name already.

        >>> refusing = LossMatrix.zero_one(("bad", "good")).with_refusal(0.2)
        >>> decide(np.array([[0.1, 0.9], [0.3, 0.7]]), refusing).action.tolist()
        ['good', 'refuse']
        """
        if name in self.actions:
            raise LossError("there is already an action '{name}'", name=name)
        row = np.full((1, len(self.classes)), float(cost))
        return LossMatrix((*self.actions, name), self.classes, np.concatenate([self.table, row]))

    def to_frame(self, *, truth_in_rows: bool = False) -> pd.DataFrame:
        """The matrix with its labels; `truth_in_rows` only turns the view, not the meaning.

        >>> LossMatrix(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]]).to_frame().loc["take", "bad"]
        np.float64(5.0)
        """
        frame = pd.DataFrame(self.table, index=pd.Index(self.actions), columns=pd.Index(self.classes))
        return frame.T if truth_in_rows else frame

    def risk(self, posterior: Array) -> Array:
        """(n, A) R(a|x) = Σ_j λ_aj P(c_j|x) for posteriors (n, K)."""
        return np.asarray(posterior, dtype=float) @ self.table.T

    @property
    def ignores_data(self) -> bool:
        """True where one action costs no more than any other under every truth: the data cannot change the decision."""
        return bool((self.table.min(axis=0) == self.table).all(axis=1).any())


class Decision(NamedTuple):
    """What to do with each of n rows.

    `action` (n,) labels, None where there is no posterior; `risk` (n,) the conditional risk of the action; `gap` (n,)
    by how much the runner-up costs more (both inf where there is no posterior); `tied` (n,) the gap is below the
    tolerance; `position` (n,) the action's position, −1 where there is none; `status` (n,) as in the ledger.
    """

    action: NDArray[Any]
    risk: Array
    gap: Array
    tied: NDArray[np.bool_]
    position: NDArray[np.intp]
    status: NDArray[np.int8]


def decide(posterior: Array, loss: LossMatrix, status: NDArray[np.int8] | None = None) -> Decision:
    """h*(x) = argmin_a R(a|x) (Zhou, eq. 7.3) for posteriors (n, K) whose columns are `loss.classes`.

    Ties (risks within 1e-12 of the largest |λ|) go by name, not by place in the matrix: first to the class that comes
    first among the classes, then to the other actions in the alphabet's order. They are flagged.

    >>> loss = LossMatrix(("bad", "good"), ("bad", "good"), [[0, 1], [5, 0]])
    >>> decide(np.array([[0.1, 0.9], [0.2, 0.8]]), loss).action.tolist()
    ['good', 'bad']
    """
    n = len(posterior)
    status = np.zeros(n, dtype=np.int8) if status is None else status
    defined = status == Status.OK
    risks = loss.risk(posterior)
    order = _by_name(loss)
    ranked = risks[:, order]
    least = ranked.min(axis=1, keepdims=True)
    near = ranked <= least + TIE * np.abs(loss.table).max(initial=0.0)
    index = order[near.argmax(axis=1)]
    others = np.where(np.arange(len(loss.actions)) == index[:, None], np.inf, risks)
    gap = np.maximum(others.min(axis=1) - least[:, 0], 0.0)
    actions = np.empty(len(loss.actions) + 1, dtype=object)
    actions[:-1] = loss.actions
    index = np.where(defined, index, -1)
    return Decision(
        action=actions[index],
        risk=np.where(defined, risks[np.arange(n), index], np.inf),
        gap=np.where(defined, gap, np.inf),
        tied=defined & (near.sum(axis=1) > 1),
        position=index,
        status=status,
    )


def judge(ledger: Ledger, loss: LossMatrix) -> Decision:
    """`decide` for the posteriors of a ledger, whatever the order of the losses' columns; rows without one undecided.

    Raises LossError where the losses speak of other classes.

    >>> from bayes_engine.ledger import JOINT
    >>> ledger = Ledger(((JOINT, np.log([[0.1, 0.3]])),), ("bad", "good"), np.zeros(1, dtype=np.int8))
    >>> judge(ledger, LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])).action.tolist()
    ['bad']
    """
    return decide(ledger.posterior(), loss.for_classes(ledger.classes), ledger.status)


def _by_name(loss: LossMatrix) -> NDArray[np.intp]:
    def rank(i: int) -> tuple[int, int, str]:
        action = loss.actions[i]
        known = action in loss.classes
        return (0, by_name.index(action), "") if known else (1, 0, str(action))

    by_name = sort_levels(loss.classes)
    return np.array(sorted(range(len(loss.actions)), key=rank), dtype=np.intp)


def _checked(actions: tuple[Any, ...], classes: tuple[Any, ...], table: Any) -> Array:
    if double := [a for a in actions if actions.count(a) > 1]:
        raise LossError("the action '{label}' stands twice in the loss matrix", label=str(double[0]))
    if double := [c for c in classes if classes.count(c) > 1]:
        raise LossError("the class '{label}' stands twice in the loss matrix", label=str(double[0]))
    try:
        values = np.array(table, dtype=float)
    except (TypeError, ValueError):
        cells = pd.DataFrame({i: pd.Series(row, dtype=object) for i, row in enumerate(table)}).T  # short rows: NaN
        values = cells.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if values.shape != (len(actions), len(classes)) or not actions or not classes:
        raise LossError(
            "a loss matrix of {a} actions and {k} classes needs a table of that shape, not {shape}",
            a=len(actions),
            k=len(classes),
            shape=str(values.shape),
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise LossError(
            "the loss of deciding '{action}' when the truth is '{truth}' is no finite number",
            action=str(actions[i]),
            truth=str(classes[j]),
        )
    values += 0.0  # -0.0 and 0.0 are one value, and one hash
    values.setflags(write=False)
    return values
