"""How far a decision is from another one: flip margins, and the losses or priors a wished decision implies.

All of it rests on one fact. Where one loss λ_ij changes and all else is held, the risk of action i moves along a
straight line, R_i + p_j (v − λ_ij), and the others stay. Where the prior π_k of one class becomes t and the other
priors keep their proportions, Bayes shifts the posterior, P'(c|x) ∝ P(c|x) π'(c)/π(c), so that with D_bj = (λ_bj −
λ_aj) P(c_j|x)

    R_b(t) − R_a(t) ∝ α t + β (1 − t),   α = D_bk/π_k,   β = Σ_{j≠k} D_bj/(1 − π_k)

with a factor that is positive and common to all actions: linear-fractional in t, but of the sign of a straight line. An
action has the least risk where finitely many straight lines are ≥ 0: in one interval, whose ends are solved for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.risk import TIE, LossTable, decide, near_least
from bayes_engine.errors import LossError, ParameterError, UndefinedPosterior
from bayes_engine.logspace import Array
from bayes_engine.priors import given_prior

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class FlipMargin:
    """The values from `low` to `high` (±inf possible) of one loss or prior at which an action has the least risk, all
    else held; `below` and `above` name the action that takes over beyond each end, None where none does.

    At an end itself two actions cost the same, and the rule of ties (see `decide`) says which is taken.

    >>> stand = FlipMargin(0.25, 9.0, below="accept", above="reject")
    >>> stand.nearest_to(1.0), stand.nearest_to(20.0)
    (1.0, 9.0)
    """

    low: float
    high: float
    below: Any | None = None
    above: Any | None = None

    def nearest_to(self, value: float) -> float:
        """The value in the interval that is nearest to this one."""
        return min(max(value, self.low), self.high)

    def short_within(self, now: float) -> float:
        """A number of few digits just inside the end that is nearest to `now`: what a person would set.

        >>> FlipMargin(-np.inf, 0.4444).short_within(1.0), FlipMargin(9.0, np.inf).short_within(5.0)
        (0.44, 9.1)
        """
        end = self.nearest_to(now)
        sign = 1.0 if end == self.low else -1.0
        scale = abs(end - now) or max(abs(end), 1.0)
        for digits in range(1, 16):
            places = digits - math.floor(math.log10(scale))
            step = 10.0**-places
            value = round(sign * (math.floor(sign * end / step) + 1) * step, max(places, 0))
            if self.low < value < self.high:
                return value + 0.0  # no −0
        return end


class Flip(NamedTuple):
    """One loss λ(`action`, `truth`), or with `action` None the prior of `truth`, and where the decision changes: once
    it passes from `now` beyond `at`, `takes` takes over.

    `distance` is |at − now|: of a loss relative to the spread of the matrix (largest λ − smallest λ), both at the row's
    amount where it has one; of a prior as is;
    `rising` says on which side of `now` it lies, also where they are equal (a tie).
    """

    action: Any | None
    truth: Any
    now: float
    at: float
    takes: Any
    distance: float
    rising: bool


class _OneRow:
    """Values of each loss and of each prior, of one row, by how near the changes are that flip its decision."""

    losses: Mapping[tuple[Any, Any], FlipMargin | None]
    priors: Mapping[Any, FlipMargin | None]
    loss: LossTable
    prior: Mapping[Any, float]
    amount: float | None

    def nearest(self, most: int = 3, *, right: bool = True) -> list[Flip]:
        """The `most` changes of one loss that flip the decision soonest, by `Flip.distance`; of equally near ones first
        those of wrong decisions. Without `right` the losses of right decisions (truth = action) are passed over."""
        scale = _scales(self.loss, self.amount)
        flips = (
            self._flips(action, truth, self.loss.cell(action, truth), margin, scale[action, truth])
            for (action, truth), margin in self.losses.items()
            if margin is not None and (right or action != truth)
        )
        return _soonest(flips, most)

    def nearest_priors(self) -> list[Flip]:
        """The change of one class's prior that flips the decision soonest, if any does."""
        priors = ((truth, margin) for truth, margin in self.priors.items() if margin is not None)
        return _soonest((self._flips(None, c, float(self.prior[c]), margin, 1.0) for c, margin in priors), 1)

    def _flips(self, action: Any, truth: Any, now: float, margin: FlipMargin, scale: float) -> Iterator[Flip]:
        raise NotImplementedError


@dataclass(frozen=True)
class FlipMargins(_OneRow):
    """For one row the decision `action`, and for each loss (action, truth) and each class's prior the values within
    which it stands. `priors` is empty where no prior was given; `tied` says that another action costs the same now, so
    that some interval ends at the present value. `loss` and `prior` are the present ones; where the row has an `amount`
    the losses are cells of the matrix as it stands, per unit of the amount where that multiplies them.

    >>> from bayes_engine.decision.loss import LossMatrix
    >>> loss = LossMatrix(("accept", "reject"), ("healthy", "ill"), [[0, 5], [1, 0]])
    >>> margins = loss.flip_margins([0.9, 0.1], {"healthy": 0.5, "ill": 0.5})
    >>> soonest = margins.nearest(1)[0]
    >>> margins.action, soonest.takes, soonest.action, soonest.truth, round(soonest.at, 4)
    ('accept', 'reject', 'accept', 'healthy', 0.4444)
    """

    action: Any
    tied: bool
    losses: Mapping[tuple[Any, Any], FlipMargin]
    priors: Mapping[Any, FlipMargin]
    loss: LossTable
    prior: Mapping[Any, float]
    amount: float | None = None

    def _flips(self, action: Any, truth: Any, now: float, margin: FlipMargin, scale: float) -> Iterator[Flip]:
        if margin.below is not None:
            yield Flip(action, truth, now, margin.low, margin.below, (now - margin.low) / scale, False)
        if margin.above is not None:
            yield Flip(action, truth, now, margin.high, margin.above, (margin.high - now) / scale, True)


@dataclass(frozen=True)
class ImpliedLosses(_OneRow):
    """What would make one row's decision the `wished` one; `action` is the decision now.

    `losses` and `priors`: the values of that one loss or prior at which the wished action has the least risk, all else
    held; None where that one alone cannot do it. `least`: of all matrices under which it has the least risk the one
    with the least sum of squared changes; where the row has an `amount`, of what the cells cost at it, and None where
    the amount is 0. Losses are cells of the matrix as it stands, as in `FlipMargins`.

    `nearest` is empty where the decision is the wished one already. Its first is the least change of all in the sum of
    absolute values, several losses at once included: the gap between the two risks has to be closed, and no loss closes
    more of it than its change times the largest P(c|x).

    >>> from bayes_engine.decision.loss import LossMatrix
    >>> loss = LossMatrix(("accept", "reject"), ("healthy", "ill"), [[0, 5], [1, 0]])
    >>> implied = loss.implied_losses([0.9, 0.1], "reject")
    >>> implied.losses["accept", "ill"].low, implied.least.table.round(4).tolist()
    (9.0, [[0.2195, 5.0244], [0.7805, -0.0244]])
    """

    wished: Any
    action: Any
    losses: Mapping[tuple[Any, Any], FlipMargin | None]
    priors: Mapping[Any, FlipMargin | None]
    least: LossTable | None
    loss: LossTable
    prior: Mapping[Any, float]
    amount: float | None = None

    def _flips(self, action: Any, truth: Any, now: float, margin: FlipMargin, scale: float) -> Iterator[Flip]:
        if self.wished != self.action and (margin.below, margin.above) != (None, None):
            nearest = margin.nearest_to(now)
            yield Flip(action, truth, now, nearest, self.wished, abs(nearest - now) / scale, nearest == margin.low)


class DecisionIntervals(NamedTuple):
    """Intervals of n rows, NaN where there is none. Of the losses (n, A, K) `low` and `high`, and the position `taker`
    of the action beyond the one finite end; of the priors (n, K), or None where no prior was given, `prior_low` and
    `prior_high`, and who is `below` and `above`. −1 where nothing takes over."""

    low: Array
    high: Array
    taker: Positions
    prior_low: Array | None = None
    prior_high: Array | None = None
    below: Positions | None = None
    above: Positions | None = None


def flip_margins(
    posterior: Any, loss: LossTable, prior: Mapping[Any, float] | None = None, *, amount: float | None = None
) -> FlipMargins:
    """The decision for one posterior (K,) in the order of `loss.classes`, and within which value of each λ_ij, and of
    each class's prior, it stands while all else is held (the other priors keep their proportions).

    `prior` is the one the posterior was computed with: the prior of use where one is in force, to which posteriors are
    shifted from the model's own (evaluation instead reweights the rows), otherwise the model's own. A class whose prior
    is 0 cannot be brought back, nor does a prior of 1 say how the others compare: there the interval is that one value.

    A row with an `amount` is decided by `loss.at_amount(amount)`, and the margins are values of the cells as they stand
    in `loss`: where the amount multiplies a cell, of the loss per unit. With an amount of 0 no such cell can flip it.

    Raises UndefinedPosterior where there is no posterior, ParameterError where it is none or does not go with the
    prior, LossError where the amount is negative or no number.
    """
    p, pi = _checked(posterior, loss, prior)
    own, units = loss if amount is None else loss.at_amount(amount), loss.units(amount)
    decision = decide(p, own)
    cells, shares = _named(_per_unit(decision_intervals(p, own, decision.position, pi), units), loss, pi is not None)
    return FlipMargins(
        action=decision.action[0],
        tied=bool(decision.tied[0]),
        losses={cell: stand for cell, stand in cells.items() if stand is not None},
        priors={label: stand for label, stand in shares.items() if stand is not None},
        loss=loss,
        prior=dict(prior or {}),
        amount=amount,
    )


def implied_losses(
    posterior: Any,
    wished: Any,
    loss: LossTable,
    prior: Mapping[Any, float] | None = None,
    *,
    amount: float | None = None,
) -> ImpliedLosses:
    """The losses, or the priors, that would make `wished` the decision for one posterior (K,): each alone, and the
    least change of all losses together.

    Raises LossError where there is no action `wished`; otherwise as `flip_margins`, whose `prior` and `amount` it
    takes.
    """
    if wished not in loss.actions:
        raise LossError(
            "there is no action '{action}'; the actions are {actions}",
            action=str(wished),
            actions=", ".join(map(str, loss.actions)),
        )
    p, pi = _checked(posterior, loss, prior)
    w = loss.actions.index(wished)
    own, units = loss if amount is None else loss.at_amount(amount), loss.units(amount)
    cells, shares = _named(_per_unit(decision_intervals(p, own, np.array([w]), pi), units), loss, pi is not None)
    return ImpliedLosses(
        wished=wished,
        action=decide(p, own).action[0],
        losses=cells,
        priors=shares,
        least=_least_change(p[0], own, w, loss, units) if units.all() else None,
        loss=loss,
        prior=dict(prior or {}),
        amount=amount,
    )


def _per_unit(ranges: DecisionIntervals, units: Array) -> DecisionIntervals:
    """The ends (n, A, K) of losses at a row's amount as values of the cells, each worth so many `units` (A, K); a cell
    worth nothing stands at any value, or helps at none."""
    worth = np.broadcast_to(units > 0, ranges.low.shape)
    scale = np.where(units > 0, units, 1.0)
    here = ~np.isnan(ranges.low) & ((ranges.low <= 0) & (ranges.high >= 0))  # at what it is worth now, 0
    low = np.where(worth, ranges.low / scale, np.where(here, -np.inf, np.nan))
    high = np.where(worth, ranges.high / scale, np.where(here, np.inf, np.nan))
    return ranges._replace(low=low, high=high, taker=np.where(worth, ranges.taker, -1))


def decision_intervals(
    posterior: Array, loss: LossTable, action: Positions, prior: Array | None = None
) -> DecisionIntervals:
    """Where the actions at these positions (n,) have the least risk for posteriors (n, K): the values of each λ_ij, and
    for the prior (K,) they were computed with of each class's prior, all else held.

    A posterior of 0 leaves a loss without effect. Intervals are closed; one that is a single value is a tie.
    """
    low, high, taker = _of_losses(posterior, loss, action)
    return DecisionIntervals(
        low, high, taker, *(_of_priors(posterior, loss, action, prior) if prior is not None else ())
    )


def _of_losses(posterior: Array, loss: LossTable, action: Positions) -> tuple[Array, Array, Positions]:
    """(n, A, K) the ends, and who takes over. The action's own losses have an upper end, the others' a lower one."""
    n, a = len(posterior), len(loss.actions)
    rows, order, size = np.arange(n), loss.by_name, loss.magnitude(posterior)
    risk = _tied_alike(loss.risk(posterior), size, action)
    own = risk[rows, action][:, None]
    rivals = np.where(np.arange(a) == action[:, None], np.inf, risk)
    best = rivals.min(axis=1, keepdims=True)
    runner_up = order[near_least(rivals[:, order], size[:, order]).argmax(axis=1)]
    first = np.arange(a) == rivals.argmin(axis=1)[:, None]
    best_without = np.where(first, np.where(first, np.inf, rivals).min(axis=1, keepdims=True), best)  # (n, A) and not i
    mine = (np.arange(a) == action[:, None])[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lower = loss.table + (own - risk)[:, :, None] / posterior[:, None, :]
        upper = loss.table + (best - own)[:, :, None] / posterior[:, None, :]
    counts = posterior[:, None, :] > 0
    low = np.where(mine | ~counts, -np.inf, lower)
    high = np.where(mine & counts, upper, np.inf)
    holds = own <= best
    kept = np.broadcast_to(holds[:, :, None], low.shape)  # the action has the least risk now: what is now lies within
    low, high = np.where(kept, np.minimum(low, loss.table), low), np.where(kept, np.maximum(high, loss.table), high)
    can = np.where(mine, counts | kept, np.where(counts, (own <= best_without)[:, :, None], kept))
    low, high = np.where(can, low, np.nan), np.where(can, high, np.nan)
    ends = np.isfinite(low) | np.isfinite(high)
    takes = np.where(mine, runner_up[:, None, None], np.arange(a)[None, :, None])
    return low, high, np.where(ends, takes, -1)


def _of_priors(
    posterior: Array, loss: LossTable, action: Positions, prior: Array
) -> tuple[Array, Array, Positions, Positions]:
    """(n, K) the ends for each class's prior, and who takes over below and above."""
    k = posterior.shape[1]
    order, own = loss.by_name, loss.table[action][:, None, :]
    differ = loss.table - own
    alike = np.abs(differ) <= TIE * (np.abs(loss.table) + np.abs(own))
    terms = np.where(alike, 0.0, differ) * posterior[:, None, :]
    others = 1.0 - np.eye(k)
    rest = terms @ others
    rest = np.where(np.abs(rest) <= TIE * (np.abs(terms) @ others), 0.0, rest)
    movable = (prior > 0) & (prior < 1)
    alpha = terms / np.where(movable, prior, 1.0)
    beta = rest / np.where(movable, 1.0 - prior, 1.0)
    crossing = np.divide(beta, beta - alpha, out=np.zeros_like(beta), where=alpha != beta)
    upper = np.where(alpha < 0, crossing, 1.0)
    lower = np.where(beta < 0, np.where(alpha > 0, crossing, 1.0), 0.0)
    empty = ((alpha < 0) & (beta < 0)).any(axis=1)
    low, high = lower.max(axis=1), upper.min(axis=1)
    holds = decides(posterior, loss, action)[:, None]
    low, high = np.where(holds, np.minimum(low, prior), low), np.where(holds, np.maximum(high, prior), high)
    # at 0 and at 1 there is no posterior where the case is certain of, or excludes, the class
    nowhere = ((low >= 1) & (posterior <= 0)) | ((high <= 0) & (posterior >= 1))
    empty = ~holds & (empty | (low > high) | nowhere)
    fixed = ~movable & holds
    low, high = np.where(fixed, prior, low), np.where(fixed, prior, high)
    low, high = (np.where(empty | (~movable & ~holds), np.nan, end) for end in (low, high))
    slope = alpha - beta
    below = _taker(np.where((beta < 0) & (lower >= low[:, None] - TIE), -slope, np.inf), order)
    above = _taker(np.where((alpha < 0) & (upper <= high[:, None] + TIE), slope, np.inf), order)
    return (
        low,
        high,
        np.where(movable & (low > 0), below, -1),
        np.where(movable & (high < 1), above, -1),
    )


def decides(posterior: Array, loss: LossTable, action: Positions) -> NDArray[np.bool_]:
    """(n,) whether the action at that position has the least risk, alone or tied."""
    risk = _tied_alike(loss.risk(posterior), loss.magnitude(posterior), action)
    return np.asarray(risk[np.arange(len(risk)), action] <= risk.min(axis=1))


def _tied_alike(risk: Array, size: Array, action: Positions) -> Array:
    """The risks (n, A) of these magnitudes; one that is tied with that of the row's `action` (n,) is made equal to it,
    so that differences tell ties."""
    own, its = (np.take_along_axis(of, action[:, None], axis=1) for of in (risk, size))
    return np.where(np.abs(risk - own) <= TIE * (size + its), own, risk)


def _taker(slope: Array, order: Positions) -> Positions:
    """(n, K) of the actions (n, A, K) whose lines cross zero at the end, the one that falls fastest beyond it."""
    least = slope.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        near = slope <= least + TIE * np.abs(least)
    taker = order[near[:, order].argmax(axis=1)]
    return np.where(np.isfinite(least[:, 0]), taker, -1)


def _least_change(p: Array, own: LossTable, w: int, loss: LossTable, units: Array) -> LossTable:
    """min Σ δ_ij² over changes of a row's own losses such that action w has the least risk, as cells of `loss` that are
    worth so many `units` in it. A row of losses moves its risk by δ_i · p, most cheaply along p itself; so the risk of
    w comes down, and those of the rivals below come up, to one level m: their mean."""
    risk = own.risk(p[None])[0]
    rivals = np.sort(np.delete(risk, w))
    levels = (risk[w] + np.cumsum(rivals)) / np.arange(2, len(rivals) + 2)
    reached = np.append(rivals[1:], np.inf)
    if not len(rivals) or risk[w] <= rivals[0]:
        return loss
    level = levels[(levels <= reached).argmax()]
    change = np.where(np.arange(len(risk)) == w, level - risk, np.maximum(level - risk, 0.0))
    cells = loss.table + np.outer(change, p) / (p @ p) / units
    return type(loss)(loss.actions, loss.classes, cells, loss.by_amount)


def _named(
    spans: DecisionIntervals, loss: LossTable, with_prior: bool
) -> tuple[dict[tuple[Any, Any], FlipMargin | None], dict[Any, FlipMargin | None]]:
    """The first row's intervals by label."""

    def action(position: int) -> Any:
        return loss.actions[position] if position >= 0 else None

    cells: dict[tuple[Any, Any], FlipMargin | None] = {}
    for i, name in enumerate(loss.actions):
        for j, truth in enumerate(loss.classes):
            low, high, taker = float(spans.low[0, i, j]), float(spans.high[0, i, j]), action(int(spans.taker[0, i, j]))
            below, above = (taker if np.isfinite(end) else None for end in (low, high))
            cells[name, truth] = None if np.isnan(low) else FlipMargin(low, high, below, above)
    shares: dict[Any, FlipMargin | None] = {}
    if with_prior:
        assert spans.prior_low is not None and spans.prior_high is not None
        assert spans.below is not None and spans.above is not None
        for k, truth in enumerate(loss.classes):
            low, high = float(spans.prior_low[0, k]), float(spans.prior_high[0, k])
            stand = FlipMargin(low, high, action(int(spans.below[0, k])), action(int(spans.above[0, k])))
            shares[truth] = None if np.isnan(low) else stand
    return cells, shares


def _checked(posterior: Any, loss: LossTable, prior: Mapping[Any, float] | None) -> tuple[Array, Array | None]:
    """The posterior as (1, K) and the prior as (K,)."""
    p = np.asarray(posterior, dtype=float).reshape(1, -1)
    if p.shape[1] != len(loss.classes) or not (np.isfinite(p) & (p >= 0)).all() or abs(p.sum() - 1.0) > 1e-6:
        if p.shape[1] == len(loss.classes) and not p.any():
            raise UndefinedPosterior("there is no posterior, so nothing is decided and nothing can flip", (0,))
        raise ParameterError(
            "a posterior is {k} probabilities that sum to 1, one for each class of the losses, not {value}",
            k=len(loss.classes),
            value=str(p[0].tolist()),
        )
    pi = None if prior is None else given_prior(prior, loss.classes)
    if pi is not None and ((pi == 0) & (p[0] > 0)).any():
        raise ParameterError(
            "the class '{label}' has the prior 0 and a posterior above it; give the prior that the posterior was "
            "computed with",
            label=str(loss.classes[int(((pi == 0) & (p[0] > 0)).argmax())]),
        )
    return p, pi


# the nearest --------------------------------------------------------------------------------------------------------


def _soonest(flips: Iterable[Iterable[Flip]], most: int) -> list[Flip]:
    return sorted(chain.from_iterable(flips), key=lambda f: (float(f"{f.distance:.12g}"), f.action == f.truth))[:most]


def _scales(loss: LossTable, amount: float | None) -> dict[tuple[Any, Any], float]:
    """How far each cell would have to move to cost as much more as the dearest costs above the cheapest."""
    own, units = loss if amount is None else loss.at_amount(amount), loss.units(amount)
    spread = own.spread or 1.0
    return {
        (action, truth): spread / float(units[i, j] or 1.0)
        for i, action in enumerate(loss.actions)
        for j, truth in enumerate(loss.classes)
    }
