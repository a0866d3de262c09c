"""Losses and what they make of a posterior: R(c_i|x) = Σ_j λ_ij P(c_j|x), h*(x) = argmin_i R(c_i|x).

λ_ij is the loss of deciding i when the truth is j: rows are decisions, columns truths (Zhou, eq. 7.1–7.3, with the
sum over j). A decision never refits anything: it is one product of the posterior with λᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import LossError
from bayes_engine.ledger import Ledger, Status
from bayes_engine.logspace import Array
from bayes_engine.table.schema import sort_levels

if TYPE_CHECKING:
    from bayes_engine.decision.margins import FlipMargins, ImpliedLosses, Refusal

TIE = 1e-12
"""Two risks closer than this times the largest |λ| are tied."""


@dataclass(frozen=True)
class LossMatrix:
    """`table` (A, K): the loss of each of the A actions (rows) under each of the K true classes (columns).

    An action named like a class is «decide it»; any other is an action of its own (refuse, ask an expert). Negative
    losses are gains. Raises LossError, naming the cell, on a blank or infinite one; and on doubled labels.

    `by_amount` (A, K) marks the cells that hold a loss per unit of a row's amount (the loan's sum), to be multiplied by
    it; None marks none or all: `with_amount` says which, and without a word an amount multiplies the whole matrix.

    >>> loss = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])
    >>> loss.risk(np.array([[0.9, 0.1]])).tolist()
    [[0.5, 0.9]]
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
            isinstance(other, LossMatrix)
            and (self.actions, self.classes) == (other.actions, other.classes)
            and np.array_equal(self.table, other.table)
            and (self.by_amount is None) == (other.by_amount is None)
            and np.array_equal(self._multiplied, other._multiplied)
        )

    def __hash__(self) -> int:
        marked = None if self.by_amount is None else self.by_amount.tobytes()
        return hash((self.actions, self.classes, self.table.tobytes(), marked))

    @classmethod
    def zero_one(cls, classes: Sequence[Any]) -> LossMatrix:
        """0 for a right decision, 1 for a wrong one: the loss under which argmax P(c|x) is optimal."""
        return cls(classes, classes, 1.0 - np.eye(len(classes)))

    @classmethod
    def from_any(cls, loss: Any, classes: Sequence[Any], *, truth_in_rows: bool = False) -> LossMatrix:
        """A loss for these classes, in their order, matched by label, never by position: a LossMatrix, a frame (index:
        actions, columns: truths), a mapping {decision: {truth: λ}}, or None for 0-1. `truth_in_rows` says that a frame
        or mapping is written the other way round, as `to_frame` may show it.

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
        columns = [self.classes.index(c) for c in classes]
        marked = None if self.by_amount is None else self.by_amount[:, columns]
        return LossMatrix(self.actions, classes, self.table[:, columns], marked)

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

    def cell(self, action: Any, truth: Any) -> float:
        """λ of deciding `action` when the truth is `truth`. Raises LossError where there is no such cell.

        >>> LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]]).cell("good", "bad")
        5.0
        """
        return float(self.table[self._at(action, truth)])

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
        matrix has λ_ij · amount there and λ_ij elsewhere. `risk`, `decide` and `cost` take the amounts.

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

    def at_amount(self, amount: float) -> LossMatrix:
        """The matrix of a row with this amount. Raises LossError where the amount is negative or no number.

        >>> LossMatrix(("grant", "decline"), ("repays", "defaults"), [[0, 1], [3, 0]]).at_amount(20).table.tolist()
        [[0.0, 20.0], [60.0, 0.0]]
        """
        return LossMatrix(self.actions, self.classes, self.units(amount) * self.table)

    def to_frame(self, *, truth_in_rows: bool = False) -> pd.DataFrame:
        """The matrix with its labels; `truth_in_rows` only turns the view, not the meaning.

        >>> LossMatrix(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]]).to_frame().loc["take", "bad"]
        np.float64(5.0)
        """
        frame = pd.DataFrame(self.table, index=pd.Index(self.actions), columns=pd.Index(self.classes))
        return frame.T if truth_in_rows else frame

    def units(self, amount: float | None) -> Array:
        """(A, K) what one unit of each cell is worth in a row with this amount: the amount, or 1 where it does not
        multiply the cell. Raises LossError where the amount is negative or no number.

        >>> LossMatrix.zero_one("ab").with_amount([("a", "b")]).units(20).tolist()
        [[1.0, 20.0], [1.0, 1.0]]
        """
        size = 1.0 if amount is None else _amounts([amount], 1)[0]
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

    def risk(self, posterior: Array, amount: Any = None) -> Array:
        """(n, A) R(a|x) = Σ_j λ_aj P(c_j|x) for posteriors (n, K); for amounts (n,) with each row's own λ.

        Raises LossError where an amount is missing, infinite or negative.
        """
        posterior = np.asarray(posterior, dtype=float)
        if amount is None:
            return posterior @ self.table.T
        fixed, per_unit = (np.where(m, self.table, 0.0) for m in (~self._multiplied, self._multiplied))
        return posterior @ fixed.T + _amounts(amount, len(posterior))[:, None] * (posterior @ per_unit.T)

    def cost(self, action: NDArray[np.intp], truth: NDArray[np.intp], amount: Any = None) -> Array:
        """(n,) λ of each row's action under its truth, both by position; for amounts (n,) with each row's own λ.

        >>> loss = LossMatrix(("take", "leave"), ("good", "bad"), [[0, 5], [1, 0]])
        >>> loss.cost(np.array([0, 1]), np.array([1, 0]), amount=[2.0, 3.0]).tolist()
        [10.0, 3.0]
        """
        plain = self.table[action, truth]
        if amount is None:
            return plain
        return np.where(self._multiplied[action, truth], _amounts(amount, len(plain)), 1.0) * plain

    def tolerance(self, amount: Any = None) -> Any:
        """Two risks closer than this are tied: 1e-12 of the largest |λ|; for amounts (n,) of each row's own."""
        if amount is None:
            return TIE * np.abs(self.table).max(initial=0.0)
        fixed, per_unit = (np.abs(self.table).max(initial=0.0, where=m) for m in (~self._multiplied, self._multiplied))
        return TIE * np.maximum(fixed, np.asarray(amount, dtype=float) * per_unit)

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

    def flip_margins(
        self, posterior: Any, prior: Mapping[Any, float] | None = None, *, amount: float | None = None
    ) -> FlipMargins:
        """For one row's posterior (K,), at the prior it was computed with, and its amount where it has one: the
        decision, and the exact values of each λ_ij, as it stands in this matrix, and of each class's prior within which
        the decision stands. See `margins.flip_margins`.

        >>> loss = LossMatrix(("ill", "well"), ("ill", "well"), [[0, 1], [5, 0]])
        >>> margins = loss.flip_margins(np.array([0.4, 0.6]), {"ill": 0.5, "well": 0.5})
        >>> margins.action, round(margins.losses["well", "ill"].low, 4), round(margins.priors["ill"].low, 4)
        ('ill', 1.5, 0.2308)
        """
        from bayes_engine.decision.margins import flip_margins  # it stands on this module

        return flip_margins(posterior, self, prior, amount=amount)

    def implied_losses(
        self, posterior: Any, wished: Any, prior: Mapping[Any, float] | None = None, *, amount: float | None = None
    ) -> ImpliedLosses:
        """For one row's posterior (K,), and its amount where it has one: the λ, each alone or all together, and the
        priors that would make `wished` the decision. See `margins.implied_losses`.

        >>> loss = LossMatrix(("ill", "well"), ("ill", "well"), [[0, 1], [5, 0]])
        >>> loss.implied_losses([0.1, 0.9], "ill").losses["well", "ill"].low
        9.0
        """
        from bayes_engine.decision.margins import implied_losses

        return implied_losses(posterior, wished, self, prior, amount=amount)

    def refusal_for_error(
        self, posterior: Array, truth: NDArray[np.intp], target: float, *, weight: Array | None = None
    ) -> Refusal:
        """The threshold on the risk that decides most held-out rows with at most so many of the decided wrong; to be
        put to use by `with_refusal(refusal.cost)`. See `margins.refusal_for_error`.

        >>> loss = LossMatrix.zero_one("ab")
        >>> found = loss.refusal_for_error(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]), 0.2)
        >>> round(found.cost, 4), found.coverage, loss.with_refusal(found.cost).actions
        (0.1, 0.5, ('a', 'b', 'refuse'))
        """
        from bayes_engine.decision.margins import refusal_for_error

        return refusal_for_error(posterior, truth, self, target, weight=weight)

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


def decide(
    posterior: Array, loss: LossMatrix, status: NDArray[np.int8] | None = None, *, amount: Any = None
) -> Decision:
    """h*(x) = argmin_a R(a|x) (Zhou, eq. 7.3) for posteriors (n, K) whose columns are `loss.classes`; with the rows'
    amounts (n,), each under its own losses (see `LossMatrix.with_amount`).

    Ties (risks within 1e-12 of the largest |λ|) go by name, not by place in the matrix: first to the class that comes
    first among the classes, then to the other actions in the alphabet's order. They are flagged. With an amount of 0
    nothing may be at stake in a row: then all its actions are tied.

    >>> loss = LossMatrix(("bad", "good"), ("bad", "good"), [[0, 1], [5, 0]])
    >>> decide(np.array([[0.1, 0.9], [0.2, 0.8]]), loss).action.tolist()
    ['good', 'bad']
    """
    n = len(posterior)
    status = np.zeros(n, dtype=np.int8) if status is None else status
    defined = status == Status.OK
    risks = loss.risk(posterior, amount)
    order = loss.by_name
    ranked = risks[:, order]
    least = ranked.min(axis=1, keepdims=True)
    near = ranked <= least + np.reshape(loss.tolerance(amount), (-1, 1))
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


def judge(ledger: Ledger, loss: LossMatrix, *, amount: Any = None) -> Decision:
    """`decide` for the posteriors of a ledger, whatever the order of the losses' columns; rows without one undecided.

    Raises LossError where the losses speak of other classes.

    >>> from bayes_engine.ledger import JOINT
    >>> ledger = Ledger(((JOINT, np.log([[0.1, 0.3]])),), ("bad", "good"), np.zeros(1, dtype=np.int8))
    >>> judge(ledger, LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])).action.tolist()
    ['bad']
    """
    return decide(ledger.posterior(), loss.for_classes(ledger.classes), ledger.status, amount=amount)


def _amounts(amount: Any, n: int) -> Array:
    sizes = np.asarray(amount, dtype=float)
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
