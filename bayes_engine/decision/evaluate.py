"""The risk of decisions on held-out rows, under losses, a prior of use and amounts; and a scorer of it for
scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.held_out import HeldOut, refuse_without_posterior
from bayes_engine.decision.loss import Decision, LossMatrix, decide
from bayes_engine.errors import EstimationWarning, LossError, ParameterError, TableError, report
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, normalize
from bayes_engine.priors import given_prior
from bayes_engine.progress import steps, tick
from bayes_engine.table.encode import positions
from bayes_engine.table.levels import sort_levels


@dataclass(frozen=True)
class RiskReport:
    """Estimated risk on held-out rows.

    `risk` per row with its 95 % bootstrap `interval` (whole groups are drawn, where there are any); `confusion` (A, K)
    weights by action and truth; `cost` (A, K) their shares of the risk; `accuracy` the weight decided rightly;
    `undecided` rows without a posterior, each wrong and as dear as the dearest action under its truth, and
    `undecided_cost`, their share of the risk; `decision` of each row, or of none where they were counted in cells.
    """

    risk: float
    interval: tuple[float, float]
    confusion: Array
    cost: Array
    accuracy: float
    undecided: int
    decision: Decision
    undecided_cost: float = 0.0


def estimated_risk(
    held: HeldOut,
    loss: LossMatrix,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: Any = None,
    decide_by: LossMatrix | None = None,
    decision: Decision | None = None,
    cells: RowsByKind | None = None,
    seed: int = 0,
) -> RiskReport:
    """Mean loss of the decisions on held-out rows: Σ w_i λ(a_i, c_i) / Σ w_i. A row without a posterior costs
    max_a λ(a, c_i), or else a model would do better by having none for the hard rows.

    With a prior of use the posteriors are shifted to it and row i weighs w_i π_use(c_i)/π_table(c_i); `amount` (n,)
    multiplies a row's losses, all of them or those cells that `loss.with_amount` names; `decide_by` (0-1, say) makes
    the decisions while `loss` prices them; `decision` are these decisions where they are known (`held_out_decision`),
    of which the positions alone will do. With the `cells` of the same rows and prior of use nothing is decided row by
    row, unless there is an amount or they are too few to be counted by kinds.

    Raises LossError where the losses speak of other classes, ParameterError where they do not price an action of
    `decide_by`, TableError where no row, or none of a class in use, has a posterior.

    >>> from bayes_engine.language import Message
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
    rule = loss if decide_by is None else decide_by.for_classes(held.classes)
    size = None if amount is None else finite_amounts(amount)
    shape, n = (len(rule.actions), len(rule.classes)), None
    kinds = None if cells is None or size is not None or rule.by_amount is not None else cells.kinds(rule)
    if kinds is None:
        if decision is None:
            decision = held_out_decision(held, rule, prior_of_use=prior_of_use, amount=amount)
        tick()
        position, truth = decision.position, held.truth
        w = weights_in_use(held, np.ones(len(truth), dtype=bool), prior_of_use)
        if size is None and held.groups is None:
            kinds = _kinds(position, truth, w, shape)
    if kinds is not None:
        position, truth, w, n = kinds
    if decision is None:
        decision = Decision(np.empty(0, object), *(np.empty(0, of) for of in (float, float, bool, int, np.int8)))
    ok = position >= 0
    refuse_without_posterior(w[ok] > 0)
    every = slice(None) if ok.all() else ok  # no copies where all rows have a posterior
    paid = _priced(loss, rule).cost(position if ok.all() else np.maximum(position, 0), truth, size)
    if not ok.all():
        paid = np.where(ok, paid, loss.cost(position, truth, size))
    tick()
    cell = position[every].astype(np.intp) * shape[1]
    cell += truth[every]
    each, lost = w if n is None else w * n, w * paid
    lost_by_all = lost if n is None else lost * n
    total = each.sum()
    cost = np.bincount(cell, lost_by_all[every], minlength=rule.table.size) / total
    low, high = np.quantile(resampled_means(w, lost[:, None], seed, held.groups, n=n), [0.025, 0.975]).tolist()
    right = np.array([[a == c for c in rule.classes] for a in rule.actions]).ravel()[cell]
    return RiskReport(
        risk=float(lost_by_all.sum() / total),
        interval=(low, high),
        confusion=np.bincount(cell, each[every], minlength=rule.table.size).reshape(shape).astype(float),
        cost=cost.reshape(shape),
        accuracy=float(each[every][right].sum() / total),
        undecided=int((~ok).sum() if n is None else n[~ok].sum()),
        decision=decision,
        undecided_cost=float(lost_by_all[~ok].sum() / total),
    )


class Kinds(NamedTuple):
    """Rows of one decision, truth and weight cost the same: (m,) of each kind that is there its position (−1: there is
    no posterior), its truth and its weight, and how many rows it has."""

    position: NDArray[np.intp]
    truth: NDArray[np.intp]
    weight: Array
    rows_of_each: NDArray[np.intp]


class RowsByKind(Protocol):
    """Held-out rows that are counted by kinds without each being decided (`PosteriorCells`)."""

    def kinds(self, rule: LossMatrix) -> Kinds | None:
        """Of the decisions by a rule; None where there may be as many kinds as rows."""
        ...


def kinds_in(counts: NDArray[np.intp], weights: Array) -> Kinds:
    """Those that are there, of the counts (A + 1, K, W) of each action, and of none, under each truth and weight."""
    taken, label, of = np.nonzero(counts)
    return Kinds(np.where(taken == len(counts) - 1, -1, taken), label, weights[of], counts[taken, label, of])


def _kinds(position: NDArray[np.intp], truth: NDArray[np.intp], weight: Array, shape: tuple[int, int]) -> Kinds | None:
    """The kinds of rows. None where there may be as many as rows. `shape`: actions and classes.

    >>> kinds = _kinds(np.array([0, -1, 0, 0]), np.array([1, 1, 1, 1]), np.ones(4), (1, 2))
    >>> [part.tolist() for part in kinds]
    [[0, -1], [1, 1], [1.0, 1.0], [3, 1]]
    """
    if (levels := levels_of(weight)) is None:
        return None
    values, code = levels
    actions, classes = shape
    counted = (actions + 1) * classes * len(values)
    if counted > len(weight):
        return None
    n = np.zeros(counted, dtype=np.intp)
    for start in range(0, len(weight), DECIDED):
        rows = slice(start, start + DECIDED)
        cell = position[rows].astype(np.intp)
        cell[cell < 0] = actions
        cell = (cell * classes + truth[rows]) * len(values)
        n += np.bincount(cell + code[rows] if len(code) > 1 else cell, minlength=counted)
    return kinds_in(n.reshape(actions + 1, classes, len(values)), values)


def held_out_decision(
    held: HeldOut, loss: LossMatrix, *, prior_of_use: Mapping[Any, float] | None = None, amount: Any = None,
    positions_alone: bool = False,
) -> Decision:  # fmt: skip
    """The decisions of least risk on held-out rows, or their `positions_alone`; the other arguments as in
    `estimated_risk`.

    Raises LossError where the losses speak of other classes.

    >>> held = HeldOut(("ill", "well"), np.log([[0.3, 0.7]]), np.full((1, 2), 0.5), np.zeros(1, int), np.ones(1), None)
    >>> held_out_decision(held, LossMatrix.zero_one(("ill", "well"))).action.tolist()
    ['well']
    """
    rule = loss.for_classes(held.classes)
    # where an amount multiplies every cell it changes no decision, and one of 0 must not tie all
    size = None if amount is None or rule.by_amount is None else np.asarray(amount)
    n, step, parts = len(held.truth), max(DECIDED // len(held.classes), 1), []
    for start in range(0, max(n, 1), step):
        rows = slice(start, start + step)
        posterior, status = held.rows(rows).posterior(prior_of_use)
        decided = decide(posterior, rule, status, amount=None if size is None else size[rows])
        parts.append(decided.positions_alone() if positions_alone else decided)
    return parts[0] if len(parts) == 1 else Decision(*map(np.concatenate, zip(*parts, strict=True)))


def finite_amounts(amount: Any) -> Array:
    """Amounts (n,) as floats. Raises TableError where one is missing or infinite."""
    size = np.asarray(amount, dtype=float)
    if not np.isfinite(size).all():
        raise TableError("the amount column has a missing or infinite cell; mend it or choose another column")
    return size


def _priced(loss: LossMatrix, rule: LossMatrix) -> LossMatrix:
    """The losses, in the rows of the rule's actions."""
    if rule is loss:
        return loss
    missing = [a for a in rule.actions if a not in loss.actions]
    if missing:
        raise ParameterError("the losses do not price the action '{action}'", action=str(missing[0]))
    return loss.of(rule.actions)


def weights_in_use(held: HeldOut, rows: NDArray[np.bool_], prior_of_use: Mapping[Any, float] | None = None) -> Array:
    """The weights of these `rows` (n,), with a prior of use times π_use(c_i)/π_table(c_i): π_table are their own class
    frequencies.

    Raises TableError where no row of a class in use is among them.
    """
    truth, weight = (held.truth, held.weight) if rows.all() else (held.truth[rows], held.weight[rows])
    if prior_of_use is None:
        return weight
    use = given_prior(prior_of_use, held.classes)
    table = np.bincount(truth, weight, minlength=len(use)) / max(weight.sum(), np.finfo(float).tiny)
    if ((table == 0) & (use > 0)).any():
        raise TableError(
            "no held-out row of class '{label}' has a posterior, so its share of the risk cannot be estimated; add "
            "rows, smooth the model (alpha > 0), or set its prior of use to 0",
            label=str(held.classes[int(((table == 0) & (use > 0)).argmax())]),
        )
    return np.asarray(weight * (use / np.where(table > 0, table, 1.0))[truth])


DECIDED = 1 << 14
"""Posteriors that are decided together, in memory that is used again."""
DRAWS = 999
"""Bootstrap replicates of an interval."""
MOST_DRAWN, ALONE, GATHERED = 2048, 64, 128
"""How many different rows are drawn one by one; and of more, how many of the least and of the greatest still are, and
into how many strata the others are gathered."""


def resampled_means(
    weight: Array, totals: Array, seed: int = 0, groups: NDArray[np.intp] | None = None, draws: int = DRAWS,
    n: NDArray[np.intp] | None = None,
) -> Array:  # fmt: skip
    """(draws, M) Σ_i t_im / Σ_i w_i when the rows are drawn again, the same draws for all M columns of `totals` (n, M);
    rows of one of the `groups` (n,) are drawn together. Alike rows are counted as one, as are those of which it is said
    that there are `n` (n,), and no more than two million draws are held at once; a draw of no weight is left out.

    Where more than `MOST_DRAWN` rows differ, neighbours are gathered into strata. How many rows of each are drawn is
    multinomial as before; how the rows of one differ adds a normal deviate of the covariance that they have, so that
    mean and covariance of the sums are those of the bootstrap.

    >>> resampled_means(np.ones(4), np.array([[2.0], [2.0], [0.0], [0.0]]), groups=np.array([0, 1, 0, 1]), draws=2)
    array([[1.],
           [1.]])
    """
    each = [weight, *totals.T]
    if groups is not None:
        group_of = np.unique(groups, return_inverse=True)[1]
        each = [np.bincount(group_of, column) for column in each]
    alike, n = _alike(each) if n is None else _added_up(each, n)
    root = None
    if len(n) > MOST_DRAWN:
        alike, n, root = _strata(alike, n)
    rng, share = np.random.default_rng(seed), n / n.sum()
    at_once = max(1, 2_000_000 // len(n))
    sums = []
    for size in steps([min(at_once, draws - done) for done in range(0, draws, at_once)]):
        sums.append(rng.multinomial(n.sum(), share, size=size) @ alike)
        if root is not None:
            sums[-1] += rng.standard_normal((size, len(root))) @ root
    summed = np.concatenate(sums)
    counted = summed[summed[:, 0] > 0]
    return np.asarray(counted[:, 1:] / counted[:, :1])


def _strata(rows: Array, n: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp], Array]:
    """The means (S, M) and sizes (S,) of strata of `rows` (m, M), of which there are `n` each, weight first, and R
    (M, M): R'R is the covariance of the sum of all rows drawn, given how many are of each stratum. Neighbours are rows
    that pull the mean alike; those that pull it most are alone."""
    tick()
    weight, total = n @ rows[:, :2]
    order = np.argsort(rows[:, 1] - (total / weight if weight else 0.0) * rows[:, 0], kind="stable")
    rows, n, m = rows[order], n[order], len(order)
    between = np.linspace(ALONE, m - ALONE, GATHERED, endpoint=False).astype(np.intp)
    begin = np.concatenate([np.arange(ALONE), between, np.arange(m - ALONE, m)])
    sizes = np.add.reduceat(n, begin)
    means = np.add.reduceat(rows * n[:, None], begin) / sizes[:, None]
    apart = (rows - np.repeat(means, np.diff(np.append(begin, m)), axis=0)) * np.sqrt(n)[:, None]
    variances, axes = np.linalg.eigh(apart.T @ apart)
    return means, sizes, np.sqrt(np.maximum(variances, 0.0))[:, None] * axes.T


def _alike(columns: Sequence[Array]) -> tuple[Array, NDArray[np.intp]]:
    """The different rows (m, M) of M columns (n,), in order, and how often each is there: `np.unique` along axis 0,
    several times as fast, more so where few values differ, and with a tick for each column."""
    if all(len(np.unique(column[:SEEN])) <= FEW for column in columns):
        values, codes = zip(*map(_levels, columns), strict=True)
        sizes = [len(of) for of in values]
        if np.prod(sizes, dtype=float) <= FEW * FEW:
            code = codes[0]
            for size, further in zip(sizes[1:], codes[1:], strict=True):
                code = further if sizes[0] == len(code) == 1 else code * size + further
            n = np.bincount(np.broadcast_to(code, len(columns[0])))
            there = np.flatnonzero(n)
            places = np.unravel_index(there, sizes)
            return np.column_stack([of[position] for of, position in zip(values, places, strict=True)]), n[there]
    order = np.arange(len(columns[0]))
    for column in reversed(columns):  # the first counts most, so it comes last
        tick()
        if (column != column[0]).any():
            order = order[np.argsort(column[order], kind="stable")]
    rows = np.stack([column[order] for column in columns])
    first = np.flatnonzero(np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0)))
    return np.ascontiguousarray(rows[:, first].T), np.diff(np.append(first, len(order)))


def _added_up(columns: Sequence[Array], n: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
    """As `_alike`, where of each row there are `n` (n,)."""
    rows, place = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return rows, np.bincount(place.reshape(-1), n).astype(np.intp)


SEEN, FEW = 2048, 256
"""Where so many rows have so few different values, it is looked whether all have few."""


def levels_of(weight: Array) -> tuple[Array, NDArray[np.intp]] | None:
    """The different weights (W,) of rows and the place (n,) of each row's, or (1,) where all have one; None where they
    are many."""
    return _levels(weight) if len(weight) and len(np.unique(weight[:SEEN])) <= FEW else None


def _levels(column: Array) -> tuple[Array, NDArray[np.intp]]:
    """The different values of a column (n,) in order, and (n,) the place of each row's among them; (1,) where it has
    one."""
    tick()
    if not (column != column[0]).any():
        return column[:1], np.zeros(1, dtype=np.intp)
    codes, values = pd.factorize(column)
    order = np.argsort(values)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return values[order], place[codes]


def risk_scorer(loss: Any = None, *, amount: str | None = None) -> Callable[[Any, Any, Any], float]:
    """A scikit-learn scorer: minus the mean loss of the least-risk decisions (greater is better). `amount` names the
    column of the frame X that multiplies the losses, all of them or those cells that `LossMatrix.with_amount` names.

    A row without a posterior costs max_a λ(a, truth), as in `estimated_risk`, and a warning says how many there are. A
    class that the estimator has not met, for want of rows in its fold, is impossible to it.

    Raises LossError where the loss does not name the classes of the estimator and of y; where X has no such column, or
    an amount is missing, infinite or negative; and at once where the loss has cells per unit and no column is named.

    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(cross_val_score(GaussianNB(), X, y, scoring=risk_scorer()).mean()), 4)
    -0.0467
    """

    if amount is None and isinstance(loss, LossMatrix):
        loss.units(None)  # scikit-learn makes a warning of what `score` raises

    def score(estimator: Any, X: Any, y: Any) -> float:
        known, labels = estimator.classes_.tolist(), np.asarray(y)
        every = [*known, *sort_levels([c for c in pd.unique(labels).tolist() if c not in known])]
        matrix = LossMatrix.from_any(loss, every, others=True)
        size = None if amount is None else _column_of_amounts(X, amount)
        log_p = np.full((len(labels), len(every)), -np.inf)
        log_p[:, : len(known)] = log_proba(estimator, X)
        impossible = np.isneginf(log_p).all(axis=1)
        status = np.where(impossible, Status.IMPOSSIBLE, Status.OK).astype(np.int8)
        # where an amount multiplies all cells no decision changes
        decision = decide(normalize(log_p), matrix, status, amount=None if matrix.by_amount is None else size)
        if impossible.any():
            report(EstimationWarning(
                "{n} of {m} rows have no posterior: each costs what the dearest action costs under its true class",
                n=int(impossible.sum()), m=len(labels),
            ))  # fmt: skip
        return -float(matrix.cost(decision.position, positions(labels, every), size).mean())

    return score


def _column_of_amounts(X: Any, name: str) -> Any:
    try:
        return X[name]
    except (KeyError, IndexError, TypeError, ValueError):
        raise LossError(
            "X has no column '{column}', whose amounts multiply losses; add the column, or make every loss a fixed sum",
            column=name,
        ) from None
