"""The conditional risk and the decision of least risk: R(c_i|x) = Σ_j λ_ij P(c_j|x), h*(x) = argmin_i R(c_i|x).

λ_ij is the loss of deciding i when the truth is j: rows are decisions, columns truths (Zhou, eq. 7.1–7.3, with the
sum over j). `loss.LossMatrix` is such a table with the ways to write one down and the questions to ask of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import LossError
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array
from bayes_engine.table.levels import sort_levels

TIE = 1e-12
"""Two risks R_i and R_k closer than this times Σ_j (|λ_ij| + |λ_kj|) P(c_j|x) are tied."""
BLOCK = 1 << 14
"""Risks that are compared together: few enough to stay near the processor, in memory that is used again."""


@dataclass(frozen=True)
class LossTable:
    """`table` (A, K): the loss of each of the A actions (rows) under each of the K true classes (columns); the fields
    are those of `LossMatrix`, which says what they mean.

    Raises LossError, naming the cell, on a blank or infinite one; and on doubled labels.
    """

    actions: tuple[Any, ...]
    classes: tuple[Any, ...]
    table: Array
    by_amount: NDArray[np.bool_] | None = None

    def __init__(
        self, actions: Sequence[Any], classes: Sequence[Any], table: Any, by_amount: NDArray[np.bool_] | None = None
    ) -> None:
        object.__setattr__(self, "actions", tuple(actions))
        object.__setattr__(self, "classes", tuple(classes))
        object.__setattr__(self, "table", _checked(tuple(actions), tuple(classes), table))
        if by_amount is not None:
            by_amount = np.array(by_amount, dtype=bool).reshape(self.table.shape)
            by_amount.setflags(write=False)
        object.__setattr__(self, "by_amount", by_amount)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LossTable)
            and (self.actions, self.classes) == (other.actions, other.classes)
            and np.array_equal(self.table, other.table)
            and (self.by_amount is None) == (other.by_amount is None)
            and np.array_equal(self._multiplied, other._multiplied)
        )

    def __hash__(self) -> int:
        marked = None if self.by_amount is None else self.by_amount.tobytes()
        return hash((self.actions, self.classes, self.table.tobytes(), marked))

    def cell(self, action: Any, truth: Any) -> float:
        """λ of deciding `action` when the truth is `truth`. Raises LossError where there is no such cell.

        >>> LossTable(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]]).cell("good", "bad")
        5.0
        """
        return float(self.table[self._at(action, truth)])

    def of(self, actions: Sequence[Any] | None = None, classes: Sequence[Any] | None = None) -> Self:
        """The losses of these actions and classes alone, in this order; None for all as they stand.

        >>> LossTable(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]]).of(classes=("bad",)).table.tolist()
        [[5.0], [0.0]]
        """
        actions, classes = self.actions if actions is None else actions, self.classes if classes is None else classes
        cells = np.ix_([self.actions.index(a) for a in actions], [self.classes.index(c) for c in classes])
        marked = None if self.by_amount is None else self.by_amount[cells]
        return type(self)(actions, classes, self.table[cells], marked)

    def at_amount(self, amount: float) -> Self:
        """The matrix of a row with this amount. Raises LossError where the amount is negative or no number.

        >>> LossTable(("grant", "decline"), ("repays", "defaults"), [[0, 1], [3, 0]]).at_amount(20).table.tolist()
        [[0.0, 20.0], [60.0, 0.0]]
        """
        return type(self)(self.actions, self.classes, self.units(amount) * self.table)

    def units(self, amount: float | None) -> Array:
        """(A, K) what one unit of each cell is worth in a row with this amount: the amount, or 1 where it does not
        multiply the cell. Raises LossError where the amount is negative or no number, or missing and needed.

        >>> LossTable("ab", "ab", 1 - np.eye(2), np.array([[False, True], [False, False]])).units(20).tolist()
        [[1.0, 20.0], [1.0, 1.0]]
        """
        size = 1.0 if self._without(amount) else _amounts([amount], 1)[0]
        return np.where(self._multiplied, size, 1.0)

    @property
    def spread(self) -> float:
        """The largest λ less the smallest: the scale on which its cells differ."""
        return float(np.ptp(self.table))

    def _at(self, action: Any, truth: Any) -> tuple[int, int]:
        if action not in self.actions or truth not in self.classes:
            raise LossError(
                "the loss matrix has no cell for deciding '{action}' when the truth is '{truth}'",
                action=str(action),
                truth=str(truth),
            )
        return self.actions.index(action), self.classes.index(truth)

    @property
    def _multiplied(self) -> NDArray[np.bool_]:
        """(A, K) the cells that an amount multiplies."""
        return np.ones(self.table.shape, dtype=bool) if self.by_amount is None else self.by_amount

    def _without(self, amount: Any) -> bool:
        """Whether there is no amount. Raises LossError where cells are marked as losses per unit of one."""
        if amount is None and self.by_amount is not None and self.by_amount.any():
            i, j = np.argwhere(self.by_amount)[0]
            raise LossError(
                "the loss of deciding '{action}' when the truth is '{truth}' is per unit of a row's amount, and there "
                "are no amounts; pass the column that holds them as amount=, or take the losses of one amount by "
                "at_amount",
                action=str(self.actions[i]),
                truth=str(self.classes[j]),
            )
        return amount is None

    def risk(self, posterior: Array, amount: Any = None) -> Array:
        """(n, A) R(a|x) = Σ_j λ_aj P(c_j|x) for posteriors (n, K); for amounts (n,) with each row's own λ.

        Raises LossError where an amount is missing, infinite or negative, or cells are marked and there are no amounts.
        """
        by_class = np.asarray(posterior, dtype=float).T
        if self._without(amount):
            return np.asarray((self.table @ by_class).T)
        fixed, per_unit = (np.where(m, self.table, 0.0) for m in (~self._multiplied, self._multiplied))
        return np.asarray((fixed @ by_class + _amounts(amount, by_class.shape[1]) * (per_unit @ by_class)).T)

    def cost(self, action: NDArray[np.intp], truth: NDArray[np.intp], amount: Any = None) -> Array:
        """(n,) λ of each row's action under its truth, both by position; for amounts (n,) with each row's own λ. A row
        without a posterior, at −1, costs max_a λ_(a, truth): no decision is better than none.

        >>> loss = LossTable(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]])
        >>> loss.cost(np.array([0, 1]), np.array([1, 0]), amount=[2.0, 3.0]).tolist()
        [10.0, 3.0]
        >>> loss.cost(np.array([-1, -1]), np.array([1, 0])).tolist()
        [5.0, 1.0]
        """
        if (action < 0).any():
            each = [self.cost(np.full(len(truth), a), truth, amount) for a in range(len(self.actions))]
            return np.where(action < 0, np.max(each, axis=0), np.stack(each, axis=1)[np.arange(len(truth)), action])
        plain = self.table[action, truth]
        if self._without(amount):
            return plain
        return np.where(self._multiplied[action, truth], _amounts(amount, len(plain)), 1.0) * plain

    def magnitude(self, posterior: Array, amount: Any = None) -> Array:
        """(n, A) Σ_j |λ_aj| P(c_j|x), by which it is told whether two risks are tied (`near_least`); as `risk`.

        >>> LossTable(("take", "leave"), ("good", "bad"), [[-4, 4], [0, 1]]).magnitude(np.array([[0.5, 0.5]])).tolist()
        [[4.0, 0.5]]
        """
        return LossTable(self.actions, self.classes, np.abs(self.table), self.by_amount).risk(posterior, amount)

    @property
    def by_name(self) -> NDArray[np.intp]:
        """(A,) positions of the actions in the order in which ties go: classes first, as `sort_levels` sorts them, then
        the other actions in the alphabet's order."""
        named = sort_levels(self.classes)

        def rank(i: int) -> tuple[int, int, str]:
            action = self.actions[i]
            known = action in self.classes
            return (0, named.index(action), "") if known else (1, 0, str(action))

        return np.array(sorted(range(len(self.actions)), key=rank), dtype=np.intp)


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

    def positions_alone(self) -> Decision:
        """The same with nothing but the positions, in as few bytes as they take: all that the price of decisions that
        are known hangs on (`evaluate.estimated_risk`), for one byte a row instead of 34.

        >>> loss = LossTable(("bad", "good"), ("bad", "good"), [[0, 1], [5, 0]])
        >>> alone = decide(np.array([[0.1, 0.9], [0.2, 0.8]]), loss).positions_alone()
        >>> alone.position, alone.action.shape
        (array([1, 0], dtype=int8), (0,))
        """
        kind = np.min_scalar_type(-1 - int(self.position.max(initial=0)))
        rest = {name: getattr(self, name)[:0].copy() for name in self._fields}
        return Decision(**rest | {"position": self.position.astype(kind)})


def decide(
    posterior: Array, loss: LossTable, status: NDArray[np.int8] | None = None, *, amount: Any = None
) -> Decision:
    """h*(x) = argmin_a R(a|x) (Zhou, eq. 7.3) for posteriors (n, K) whose columns are `loss.classes`; with the rows'
    amounts (n,), each under its own losses (see `loss.LossMatrix.with_amount`).

    Ties (risks nearer than 1e-12 of what the two are sums of, Σ_j (|λ_ij| + |λ_kj|) P(c_j|x)) go by name, not by place
    in the matrix: first to the class that comes first among the classes, then to the other actions in the alphabet's
    order. They are flagged. With an amount of 0 nothing may be at stake in a row: then all its actions are tied.

    >>> loss = LossTable(("bad", "good"), ("bad", "good"), [[0, 1], [5, 0]])
    >>> decide(np.array([[0.1, 0.9], [0.2, 0.8]]), loss).action.tolist()
    ['good', 'bad']
    """
    n = len(posterior)
    status = np.zeros(n, dtype=np.int8) if status is None else status
    defined = status == Status.OK
    sizes = None if amount is None else _amounts(amount, n)
    order, index = loss.by_name, np.empty(n, dtype=np.intp)
    least, gap, tied = np.empty(n), np.empty(n), np.empty(n, dtype=bool)
    step = max(BLOCK // max(loss.table.shape), 1)
    for start in range(0, max(n, 1), step):
        rows = slice(start, start + step)
        few, own = posterior[rows], None if sizes is None else sizes[rows]
        risks = loss.risk(few, own)
        near = near_least(risks.T[order].T, loss.magnitude(few, own).T[order].T)
        chosen = order[near.argmax(axis=1)]
        each = np.arange(len(few))
        others = risks.copy(order="F")
        others[each, chosen] = np.inf
        index[rows], least[rows] = chosen, risks[each, chosen]
        gap[rows] = np.maximum(others.min(axis=1) - risks.min(axis=1), 0.0)
        tied[rows] = near.sum(axis=1) > 1
    for of, without in ((index, -1), (least, np.inf), (gap, np.inf), (tied, False)):
        of[~defined] = without
    actions = np.empty(len(loss.actions) + 1, dtype=object)
    actions[:-1] = loss.actions
    return Decision(actions[index], least, gap, tied, index, status)


def near_least(risk: Array, magnitude: Array, tie: float = TIE) -> NDArray[np.bool_]:
    """(..., A) which risks (..., A) are tied with the least of them, or are it: nearer to it than `tie` times the
    magnitudes of the two together. So the losses of a third action are of no matter, nor those of impossible classes.

    >>> near_least(np.array([0.1, 0.9, 1e12]), np.array([0.1, 0.9, 1e12])).tolist()
    [True, False, False]
    """
    least = risk.argmin(axis=-1)[..., None]
    own, size = (np.take_along_axis(of, least, axis=-1) for of in (risk, magnitude))
    return np.asarray(risk <= own + tie * (magnitude + size))


def _amounts(amount: Any, n: int) -> Array:
    try:
        sizes = np.asarray(amount, dtype=float)
    except (TypeError, ValueError):
        raise LossError("amounts are numbers, one for each of the {n} rows, such as X['sum']", n=n) from None
    if sizes.shape != (n,):
        raise LossError("there are {n} rows and amounts of the shape {shape}", n=n, shape=str(sizes.shape))
    if (bad := ~(np.isfinite(sizes) & (sizes >= 0))).any():
        raise LossError(
            "the amount of row {row} is {value}; an amount is a number of 0 and more. Mend it or leave the row out",
            row=int(bad.argmax()) + 1,
            value=str(sizes[bad][0]),
        )
    return sizes


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
