"""One class against the rest: what every threshold on its posterior does, and what that costs. scikit-learn's
`roc_curve` ends at the curve: it has no hull, no cost curves and no iso-risk lines.

A `ThresholdSweep` counts, from the surest row down, the rows called positive. The ROC curve, its hull and its iso-risk
lines, precision and recall, and the cost curves are all read off it; each step is exact, none is binned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.compare import bins_for, of_equal_width
from bayes_engine.decision.evaluate import finite_amounts, weights_in_use
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import TIE, LossMatrix, decide
from bayes_engine.decision.risk import near_least
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.ledger import class_position
from bayes_engine.logspace import Array, log, log_sum, normalize
from bayes_engine.progress import steps, tick


class OneAgainstRest(NamedTuple):
    """The rows that have a posterior, n of them: `score` (n,) the log-odds of a class against all others, in nats, and
    `p` (n,) its posterior; `positive` (n,) whether the row is of it; `weight` (n,); `rows` (N,) which these are."""

    score: Array
    p: Array
    positive: NDArray[np.bool_]
    weight: Array
    rows: NDArray[np.bool_]


def one_against_rest(
    held: HeldOut, positive: Any, *, prior_of_use: Mapping[Any, float] | None = None, amount: Any = None
) -> OneAgainstRest:
    """Held-out rows as seen by one class. With a prior of use posteriors shift and rows are weighted, as in
    `estimated_risk`; with an `amount` (N,) a row weighs so much more: shares are then of the amount, not of the rows.

    Raises ParameterError where there is no such class, TableError where no row has a posterior or an amount has a gap.
    """
    c = class_position(positive, held.classes)
    shifted, rows = held.answered(prior_of_use)
    weight = weights_in_use(held, rows, prior_of_use)
    if amount is not None:
        weight = weight * finite_amounts(amount)[rows]
    joint = shifted[rows]
    with np.errstate(invalid="ignore"):
        score = joint[:, c] - log_sum(np.delete(joint, c, axis=1), axis=1)
    tick()
    return OneAgainstRest(score, normalize(joint)[:, c], held.truth[rows] == c, weight, rows)


# every threshold ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ThresholdSweep:
    """«Positive where the log-odds are at least so much», for every such limit, from nobody to everybody.

    `score` (m,) the limits in nats, descending, +inf first; `tp`, `fp` (m,) the weight rightly and wrongly called
    positive; the last are the totals.
    """

    score: Array
    tp: Array
    fp: Array

    @property
    def threshold(self) -> Array:
        """(m,) the limits as posteriors P(c|x); nobody reaches the first, 1 + a bit."""
        p = normalize(np.column_stack([self.score, np.zeros_like(self.score)]).clip(-745.0, 745.0))[:, 0]
        p[0] = np.nextafter(1.0, 2.0)
        return p

    @property
    def positives(self) -> float:
        return float(self.tp[-1])

    @property
    def negatives(self) -> float:
        return float(self.fp[-1])

    @property
    def share(self) -> float:
        """The share of the weight that is positive: the prior that the curves stand for."""
        return self.positives / (self.positives + self.negatives)

    @property
    def tpr(self) -> Array:
        """(m,) the share of the positives that are called positive: the recall."""
        return np.asarray(self.tp / self.positives)

    @property
    def fpr(self) -> Array:
        """(m,) the share of the negatives that are called positive."""
        return np.asarray(self.fp / self.negatives)

    @property
    def precision(self) -> Array:
        """(m,) the share of those called positive that are; 1 where nobody is."""
        called = self.tp + self.fp
        return np.divide(self.tp, called, out=np.ones_like(called), where=called > 0)

    @property
    def area(self) -> float:
        """Area under the ROC curve: how often a positive outranks a negative, ties by half."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @property
    def average_precision(self) -> float:
        """Σ_k (recall_k − recall_{k−1}) precision_k."""
        return float(np.sum(np.diff(self.tpr) * self.precision[1:]))

    @property
    def corners(self) -> NDArray[np.intp]:
        """Positions of the ends and of the points where the ROC curve turns: all that it takes to draw it exactly."""
        run, rise = np.diff(self.fp), np.diff(self.tp)
        turns = np.abs(run[:-1] * rise[1:] - run[1:] * rise[:-1]) > 1e-12 * self.positives * self.negatives
        return np.flatnonzero(np.concatenate([[True], turns, [True]]))

    @property
    def hull(self) -> NDArray[np.intp]:
        """Positions of the points on the upper convex hull of the ROC curve: no other is ever of least risk."""
        kept: list[int] = []
        x, y = self.fpr.tolist(), self.tpr.tolist()
        for i in steps(self.corners.tolist()):
            while len(kept) > 1:
                a, b = kept[-2], kept[-1]
                if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) < -1e-15:
                    break
                kept.pop()
            kept.append(i)
        return np.array(kept, dtype=np.intp)


def threshold_sweep(seen: OneAgainstRest) -> ThresholdSweep:
    """Every threshold at once: rows by descending log-odds, those with the same log-odds (to 1e-12) together.

    Raises TableError where one of the two sides has no weight.
    """
    tick()
    order = np.argsort(-seen.score, kind="stable")
    tick()
    s, w, positive = seen.score[order], seen.weight[order], seen.positive[order]
    with np.errstate(invalid="ignore"):
        apart = (s[1:] != s[:-1]) & ~(np.isfinite(s[1:]) & (s[:-1] - s[1:] <= TIE * (1.0 + np.abs(s[1:]))))
    last = np.flatnonzero(np.append(apart, True))
    tp, fp = np.cumsum(w * positive)[last], np.cumsum(w * ~positive)[last]
    if not (tp[-1] > 0 and fp[-1] > 0):
        raise TableError("a curve needs rows of the class and rows of the others, with a posterior and a weight")
    return ThresholdSweep(np.append(np.inf, s[last]), np.append(0.0, tp), np.append(0.0, fp))


# what it costs --------------------------------------------------------------------------------------------------------


class ErrorCosts(NamedTuple):
    """What two classes' losses come to for a sweep: `false_alarm` = λ(+,−) − λ(−,−) and `miss` = λ(−,+) − λ(+,+), what
    a wrong decision costs above the right one, and `right` = Σ_c π_c λ(c,c), what even right ones cost on average."""

    false_alarm: float
    miss: float
    right: float

    def slope(self, share: float) -> float:
        """dTPR/dFPR of the lines of equal risk in ROC space: π₋ (λ(+,−) − λ(−,−)) / π₊ (λ(−,+) − λ(+,+)); inf where a
        miss costs nothing.

        >>> ErrorCosts(1.0, 5.0, 0.0).slope(0.5)
        0.2
        """
        down = share * self.miss
        return float((1.0 - share) * self.false_alarm / down) if down > 0 else float("inf")

    def risk(self, swept: ThresholdSweep) -> Array:
        """(m,) the risk of each threshold: π₋ FPR (λ(+,−) − λ(−,−)) + π₊ (1 − TPR)(λ(−,+) − λ(+,+)) + right."""
        pi = swept.share
        return (1.0 - pi) * swept.fpr * self.false_alarm + pi * (1.0 - swept.tpr) * self.miss + self.right

    def threshold(self) -> float | None:
        """The posterior from which deciding positive is of less risk, (λ(+,−) − λ(−,−)) over the sum of both prices;
        None where one of the decisions is never dearer.

        >>> round(ErrorCosts(1.0, 5.0, 0.0).threshold(), 4)
        0.1667
        """
        if self.false_alarm <= 0 or self.miss <= 0:
            return None
        return self.false_alarm / (self.false_alarm + self.miss)


def error_costs(loss: LossMatrix, positive: Any, share: float) -> ErrorCosts | None:
    """The two prices of a loss for two classes, further actions aside; None where there are more classes, or a class
    that cannot be decided. `share` is the positive class's.

    >>> error_costs(LossMatrix(("ill", "well"), ("ill", "well"), [[1, 2], [9, 0]]), "ill", 0.1)
    ErrorCosts(false_alarm=2.0, miss=8.0, right=0.1)
    """
    if len(loss.classes) != 2 or any(c not in loss.actions for c in loss.classes):
        return None
    other = next(c for c in loss.classes if c != positive)

    def cost(action: Any, truth: Any) -> float:
        return float(loss.table[loss.actions.index(action), loss.classes.index(truth)])

    right = share * cost(positive, positive) + (1.0 - share) * cost(other, other)
    return ErrorCosts(
        cost(positive, other) - cost(other, other), cost(other, positive) - cost(positive, positive), right
    )


def cost_weights(loss: LossMatrix, held: HeldOut, amount: Any) -> Array | None:
    """(N,) by what each held-out row's amount multiplies the price of an error in it: what `one_against_rest` takes as
    its amount for `ErrorCosts` to be exact. That is the amount itself where it multiplies every cell; where it
    multiplies some (`LossMatrix.with_amount`), the amount or 1, as it multiplies the error that can be made of the row.

    None where there is no such number: some cells are multiplied, and there are more than two classes, or a right
    decision costs something. Raises TableError where an amount is missing or infinite.
    """
    size = finite_amounts(amount)
    if loss.by_amount is None:
        return size
    loss = loss.for_classes(held.classes)
    if error_costs(loss, held.classes[0], 0.5) is None or any(loss.cell(c, c) for c in loss.classes):
        return None
    place = np.array([loss.actions.index(c) for c in held.classes])
    marked = np.asarray(loss.by_amount)[place[1 - held.truth], held.truth]  # there are two classes
    return np.where(marked, size, 1.0)


def best_point(swept: ThresholdSweep, priced: ErrorCosts) -> int:
    """The position of the threshold of least risk on these rows; of equals the one that calls fewest positive."""
    sizes = ErrorCosts(abs(priced.false_alarm), abs(priced.miss), abs(priced.right))
    return int(near_least(priced.risk(swept), sizes.risk(swept)).argmax())


class RiskSteps(NamedTuple):
    """Risk against threshold: deciding the class from P ≥ `threshold`[k] on costs `risk`[k] a row, a sum of terms that
    make `magnitude`[k] in absolute value. Thresholds descend from above 1 (nobody is decided so) and the risk is
    constant between them."""

    threshold: Array
    risk: Array
    magnitude: Array

    def at(self, t: float) -> float:
        """The risk of deciding the class where P ≥ t."""
        return float(self.risk[max(int(np.searchsorted(-self.threshold, -t, side="right")) - 1, 0)])

    def best(self) -> tuple[float, float]:
        """The threshold of least risk on these rows, in hindsight, and that risk; of equals the highest."""
        k = int(near_least(self.risk, self.magnitude).argmax())
        return min(float(self.threshold[k]), 1.0), float(self.risk[k])

    def thinned(self, cells: int = 1000) -> RiskSteps:
        """Fewer steps that look alike: of each of so many equal cells of the threshold first, last, least and most."""
        if len(self.risk) <= 4 * cells:
            return self
        cell = (self.threshold * cells).astype(np.intp)
        first = np.flatnonzero(np.append(True, np.diff(cell) != 0))
        last = np.append(first[1:], len(cell)) - 1
        order = np.lexsort((self.risk, -cell))
        kept = np.unique(np.concatenate([first, last, order[first], order[last]]))
        return RiskSteps(self.threshold[kept], self.risk[kept], self.magnitude[kept])


def risk_by_threshold(
    held: HeldOut,
    loss: LossMatrix,
    positive: Any,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: Any = None,
) -> RiskSteps:
    """The estimated risk of deciding `positive` where P(positive|x) ≥ t, and otherwise the cheapest of the other
    actions, for every t at once; amounts and a prior of use as in `estimated_risk`.

    Raises ParameterError where the losses do not price that decision or no other is left; what `one_against_rest` does.
    """
    loss = loss.for_classes(held.classes)
    if positive not in loss.actions or len(loss.actions) < 2:
        raise ParameterError("the losses do not price the action '{action}'", action=str(positive))
    seen = one_against_rest(held, positive, prior_of_use=prior_of_use)
    size = None if amount is None else finite_amounts(amount)[seen.rows]
    a = loss.actions.index(positive)
    others = loss.of([x for x in loss.actions if x != positive])
    posterior = held.posterior(prior_of_use)[0][seen.rows]
    truth, unit = held.truth[seen.rows], seen.weight / seen.weight.sum()
    tick()
    decided = decide(posterior, others, amount=None if others.by_amount is None else size).position
    below = unit * others.cost(decided, truth, size)
    above = unit * loss.cost(np.full(len(truth), a), truth, size)
    tick()
    order = np.argsort(-seen.p, kind="stable")
    tick()
    p = seen.p[order]
    last = np.flatnonzero(np.append(p[1:] != p[:-1], True))

    def summed(decided_so: Array, decided_otherwise: Array) -> Array:  # nothing is subtracted that was added before
        so = np.append(0.0, np.cumsum(decided_so[order]))
        otherwise = np.append(0.0, np.cumsum(decided_otherwise[order[::-1]]))[::-1]
        return np.asarray((so + otherwise)[np.append(0, last + 1)])

    threshold = np.append(np.nextafter(1.0, 2.0), p[last])
    return RiskSteps(threshold, summed(above, below), summed(np.abs(above), np.abs(below)))


class CostCurve(NamedTuple):
    """Normalized expected cost against PC₊ = π₊C₊ / (π₊C₊ + π₋C₋), π the prior and C the price of an error on each side
    (Drummond & Holte, Cost curves, Machine Learning 65, 2006).

    At each `pc` (g,): `best` (g,) the threshold that is best there in hindsight, the lower envelope; `own` (g,)
    deciding by the posteriors as they are, for the same costs. The room between them is what bad calibration costs.
    """

    pc: Array
    best: Array
    own: Array

    @property
    def mean_best(self) -> float:
        """Over all PC₊ alike."""
        return float(np.trapezoid(self.best, self.pc))

    @property
    def mean_own(self) -> float:
        """Over all PC₊ alike."""
        return float(np.trapezoid(self.own, self.pc))


def cost_curve(swept: ThresholdSweep, points: int = 201) -> CostCurve:
    """The cost curve of a sweep at so many equal steps of PC₊: FNR · PC₊ + FPR · (1 − PC₊)."""
    pc = np.linspace(0.0, 1.0, points)
    fnr, fpr = 1.0 - swept.tpr, swept.fpr
    hull = swept.hull
    best = (np.outer(pc, fnr[hull]) + np.outer(1.0 - pc, fpr[hull])).min(axis=1)
    # P ≥ C₋/(C₊ + C₋) with π of the rows is, in log-odds, s ≥ logit π − logit PC₊
    limit = log(swept.share) - log(1.0 - swept.share) - log(pc) + log(1.0 - pc)
    own = np.maximum(np.searchsorted(-swept.score, -limit, side="right") - 1, 0)
    own[pc == 0.0], own[pc == 1.0] = 0, len(fpr) - 1
    return CostCurve(pc, best, fnr[own] * pc + fpr[own] * (1.0 - pc))


# how true the probabilities are ---------------------------------------------------------------------------------------


def calibration(
    held: HeldOut,
    positive: Any = None,
    *,
    bins: int | None = None,
    equal: Literal["weight", "width"] = "weight",
    prior_of_use: Mapping[Any, float] | None = None,
) -> pd.DataFrame:
    """The reliability diagram in bins of equal weight, or of equal width as the ECE of `compare` has them; ten of them,
    five below 200 rows: a frame with a row for each bin that holds a row.

    Columns: `said`, the mean P(positive|x); `true`, the share that is of the class, with its 95 % Wilson interval
    `low` and `high` (on the effective number of rows (Σw)²/Σw²); `rows`, how many; `share` of the weight; `least`,
    `most`, the ends of what was said. Without a class it is the largest posterior, and the share that is right. Rows
    with the same probability are in one bin of equal weight, so there may be fewer.
    """
    if positive is None:
        joint, rows = held.answered(prior_of_use)
        posterior, weight = normalize(joint[rows]), weights_in_use(held, rows, prior_of_use)
        p = posterior.max(axis=1)
        true = decide(posterior, LossMatrix.zero_one(held.classes)).position == held.truth[rows]
    else:
        seen = one_against_rest(held, positive, prior_of_use=prior_of_use)
        weight, p, true = seen.weight, seen.p, seen.positive
    weight, p, true = weight[weight > 0], p[weight > 0], true[weight > 0]
    bins = bins_for(len(p)) if bins is None else bins
    bin_of = _of_equal_weight(p, weight, bins) if equal == "weight" else of_equal_width(p, bins)
    bin_of = np.unique(bin_of, return_inverse=True)[1]  # without a gap
    n = int(bin_of.max()) + 1
    total = np.bincount(bin_of, weight, minlength=n)
    share = np.bincount(bin_of, weight * true, minlength=n) / total
    low, high = wilson(share, total**2 / np.bincount(bin_of, weight**2, minlength=n))
    order = np.argsort(bin_of, kind="stable")
    starts = np.searchsorted(bin_of[order], np.arange(n))
    return pd.DataFrame({
        "said": np.bincount(bin_of, weight * p, minlength=n) / total,
        "true": share,
        "low": low,
        "high": high,
        "rows": np.bincount(bin_of, minlength=n),
        "share": total / total.sum(),
        "least": np.minimum.reduceat(p[order], starts),
        "most": np.maximum.reduceat(p[order], starts),
    })  # fmt: skip


def _of_equal_weight(p: Array, weight: Array, bins: int) -> NDArray[np.intp]:
    """(n,) the bin of each row: where the middle of its value's weight falls."""
    values, value_of = np.unique(p, return_inverse=True)
    mass = np.bincount(value_of, weight, minlength=len(values))
    middle = (np.cumsum(mass) - mass / 2.0) / mass.sum()
    return np.asarray(np.minimum((middle * bins).astype(np.intp), bins - 1)[value_of], dtype=np.intp)


Z95 = 1.959963984540054


def wilson(share: Array, n: Array) -> tuple[Array, Array]:
    """Wilson's score interval (JASA 1927) at 95 %."""
    middle = (share + Z95**2 / (2.0 * n)) / (1.0 + Z95**2 / n)
    reach = Z95 / (1.0 + Z95**2 / n) * np.sqrt(share * (1.0 - share) / n + Z95**2 / (4.0 * n**2))
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


class BrierParts(NamedTuple):
    """`brier` = `miscalibration` − `discrimination` + `uncertainty`, exactly."""

    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def brier_parts(held: HeldOut, prior_of_use: Mapping[Any, float] | None = None) -> BrierParts:
    """The Brier score Σ_c (P(c|x) − [c true])² taken apart without bins (Dimitriadis, Gneiting & Jordan, PNAS 2021).

    For each class the probabilities are made as true as an increasing function can (isotonic regression); what the
    score falls by is miscalibration, what it then lies below that of the class shares is discrimination. Neither is
    negative. Sums over the classes, each against the rest.
    """
    from sklearn.isotonic import IsotonicRegression  # with scipy.stats, a third of a second

    parts = np.zeros(4)
    for label in held.classes:
        seen = one_against_rest(held, label, prior_of_use=prior_of_use)
        w, y = seen.weight / seen.weight.sum(), seen.positive.astype(float)
        mean = w @ y
        rank = np.unique(seen.p, return_inverse=True)[1].astype(float)  # p may differ by less than can be divided by
        tick()
        curve = IsotonicRegression(y_min=0.0, y_max=1.0).fit(rank, y, w)
        tick()
        calibrated = curve.predict(rank)
        score, made = w @ (seen.p - y) ** 2, w @ (calibrated - y) ** 2
        around = w @ (mean - y) ** 2
        parts += (score, max(score - made, 0.0), max(around - made, 0.0), around)
    return BrierParts(*parts.tolist())
