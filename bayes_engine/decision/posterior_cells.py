"""Rows with like posteriors in cells: what losses decide on all rows, for the price of the few cells they divide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.evaluate import Kinds, kinds_in, levels_of, weights_in_use
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, normalize
from bayes_engine.progress import tick

ROWS, CELLS = 128, 2048
"""A cell is divided that has more rows, and more than its share would be of so many cells."""
MOST_KINDS = 1 << 12
"""Different pairs of a truth and a weight, at most, that are counted in cells."""
MOST_CLASSES = 3
"""Losses of more classes divide most cells."""
CLEAR = 1e-9
"""Of the size of the losses: by how much an action must be the better one everywhere in a cell. Far more than what
risks are rounded by and than the share of a tie."""


@dataclass(frozen=True)
class PosteriorCells:
    """Held-out rows in cells of a k-d tree over their posteriors (Bentley 1975, Communications of the ACM 18, 509-517).

    `low` and `high` (M, K) are the least and the greatest posterior of each class in each of M cells, `begin` (M + 1,)
    where its rows begin among `order` (n',), which leaves out the rows without a posterior. Each row is of a kind
    (`kind`, (n',), in the same order): its truth and its weight, of which there are `weights` (W,), as truth · W +
    weight; `counts` (M, K W) says how many a cell has of each, `without` (K W,) how many have no posterior. `posterior`
    (n, K) are log posteriors up to a constant a row.
    """

    posterior: Array
    order: NDArray[np.integer[Any]]
    kind: NDArray[np.integer[Any]]
    begin: NDArray[np.intp]
    low: Array
    high: Array
    counts: NDArray[np.intp]
    without: NDArray[np.intp]
    weights: Array

    @classmethod
    def of(cls, held: HeldOut, prior_of_use: Mapping[Any, float] | None = None) -> PosteriorCells | None:
        """The cells of held-out rows, their posteriors and weights shifted to the prior of use; None where rows come in
        groups, are of too many weights to be counted, or of so many classes that cells are of no use. Raises TableError
        as `weights_in_use` does.

        >>> from bayes_engine.language import Message
        >>> posterior = np.array([[0.3, 0.7]] * 3 + [[0.6, 0.4]] * 5)
        >>> held = HeldOut(("ill", "well"), np.log(posterior), np.full((1, 2), 0.5), np.array([0] * 2 + [1] * 6),
        ...                np.ones(8), Message("eight patients"), fold=np.zeros(8, int))
        >>> cells = PosteriorCells.of(held)
        >>> [part.tolist() for part in cells.kinds(LossMatrix.zero_one(("ill", "well")))]
        [[0, 1, 1], [1, 0, 1], [1.0, 1.0, 1.0], [5, 2, 1]]
        """
        weight = weights_in_use(held, np.ones(len(held.truth), dtype=bool), prior_of_use)
        if held.groups is not None or len(held.classes) > MOST_CLASSES or (levels := levels_of(weight)) is None:
            return None
        values, code = levels
        if (kinds := len(held.classes) * len(values)) > MOST_KINDS:
            return None
        joint, status = held.log_posterior_in_use(prior_of_use)
        posterior, defined = normalize(joint), status == Status.OK
        every = (held.truth * len(values) + code).astype(np.uint16)
        order, begin = _divided(posterior, np.flatnonzero(defined))
        ordered, cell = every[order], np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        counts = np.bincount(cell * kinds + ordered, minlength=(len(begin) - 1) * kinds).reshape(-1, kinds)
        low, high = np.empty((len(begin) - 1, posterior.shape[1])), np.empty((len(begin) - 1, posterior.shape[1]))
        for k, column in enumerate(posterior.T):
            tick()
            if len(order):
                low[:, k], high[:, k] = (of.reduceat(column[order], begin[:-1]) for of in (np.minimum, np.maximum))
        without = np.bincount(every[~defined], minlength=kinds)
        return cls(joint, order.astype(np.uint32), ordered, begin, low, high, counts, without, values)

    def kinds(self, rule: LossMatrix) -> Kinds | None:
        """How many rows are decided to which action, by truth and weight: as `evaluate` counts what `decide` makes of
        every row under losses that no amount changes; None where there may be as many kinds as rows. Only the rows of
        cells that the losses divide are decided one by one."""
        actions, (cells, kinds) = len(rule.actions), self.counts.shape
        if (actions + 1) * kinds > len(self.kind) + self.without.sum():
            return None
        counts = np.zeros((actions + 1, kinds), dtype=np.intp)
        counts[actions] = self.without
        if cells:
            action, clear = self._clear(rule)
            for a in range(actions):
                counts[a] = self.counts[clear & (action == a)].sum(axis=0)
            rows = _ranges(self.begin[:-1][~clear], self.begin[1:][~clear])
            step = max((1 << 14) // len(rule.classes), 1)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                posterior = normalize(np.asfortranarray(self.posterior[self.order[some]]))
                cell = decide(posterior, rule).position * kinds + self.kind[some]
                counts += np.bincount(cell, minlength=counts.size).reshape(counts.shape)
        return kinds_in(counts.reshape(actions + 1, len(rule.classes), len(self.weights)), self.weights)

    def _clear(self, rule: LossMatrix) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """(M,) the action that is best amid a cell, and whether it is so everywhere in it, and by more than a tie. As
        posteriors sum to 1, a constant may be taken from the differences of two actions' losses, which brings the bound
        of a sum of products nearer."""
        middle = (self.low + self.high) / 2
        action = rule.risk(middle).argmin(axis=1)
        clear, size = np.ones(len(action), dtype=bool), CLEAR * float(np.abs(rule.table).max(initial=0.0))
        for other in range(len(rule.actions)):
            apart = rule.table[action] - rule.table[other]
            shift = np.median(apart, axis=1, keepdims=True)
            moved = apart - shift
            most = shift[:, 0] + np.where(moved > 0, moved * self.high, moved * self.low).sum(axis=1)
            clear &= (most < -size) | (action == other)
        return action, clear


def _divided(posterior: Array, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The `rows` by cells, and where each cell begins: again and again halves by the class whose posterior differs most
    within them."""
    most = max(ROWS, len(rows) // CELLS)
    done, todo = list[NDArray[np.intp]](), [rows] if len(rows) else []
    while todo:
        tick()
        some = todo.pop()
        if len(some) > most:
            columns = [column[some] for column in posterior.T]
            span = [np.ptp(column) for column in columns]
            if max(span) > 0:
                half = np.argpartition(columns[int(np.argmax(span))], len(some) // 2)
                todo += [some[half[len(some) // 2 :]], some[half[: len(some) // 2]]]
                continue
        done.append(some)
    begin = np.cumsum([0, *map(len, done)], dtype=np.intp)
    return (np.concatenate(done) if done else rows), begin


def _ranges(begin: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[np.intp]:
    """All places of some ranges, one after the other.

    >>> _ranges(np.array([2, 7]), np.array([4, 8])).tolist()
    [2, 3, 7]
    """
    sizes = end - begin
    return np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
