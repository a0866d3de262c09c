"""What posteriors of rows with known classes add up to: sums from which risk, log-loss, Brier score and calibration are
read off as `bayes_engine.decision` reads them off the rows, without a row being kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.compare import of_equal_width
from bayes_engine.decision.curves import wilson
from bayes_engine.decision.evaluate import held_out_decision, resampled_means
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.ledger import Status, class_position
from bayes_engine.logspace import Array, log_normalize, normalize
from bayes_engine.priors import given_prior
from bayes_engine.scale.folds import GroupSums, Hashes
from bayes_engine.scale.kept import digest_of
from bayes_engine.store.statistics import load_passes, packed_passes

FEW_WEIGHTS = 256
"""Of so many different weights rows are counted by decision, truth and weight, and the interval is the bootstrap's."""
MOST_GROUPS = 2**21
"""Groups of rows whose losses are kept."""


@dataclass(frozen=True)
class ScoreRule:
    """What is asked of rows: their classes (K), under which losses they are decided, for which prior of use, how much a
    row of each class then weighs more (K,), and the number of calibration bins."""

    classes: tuple[Any, ...]
    loss: LossMatrix
    prior_of_use: Mapping[Any, float] | None
    shift: Array
    bins: int

    def asked(self, models: Iterable[Any], rows: tuple[int, ...]) -> tuple[str, ...]:
        """What scores depend on besides the rows, as «name=value»: the models, each with its fold's number of rows."""
        loss = (self.loss.actions, self.loss.classes, self.loss.table.tolist())
        prior = None if self.prior_of_use is None else [*self.prior_of_use.items()]
        return (
            *(f"model={digest_of(*models)}", f"loss={loss!r}", f"prior of use={prior!r}", f"bins={self.bins}"),
            *(f"shift={self.shift.tolist()}", f"fold sizes={rows!r}"),
        )


@dataclass(frozen=True)
class ScoreSums:
    """Sums over rows, which add. The first axis of `cells` is the action, last that of no posterior; the second the
    truth; of `kinds` (by weight) it is how many rows there are, None where the weights are too many. Of the answered
    rows `by_truth` (3, K) has weight, log-loss and Brier score; `binned` (K + 1, bins, K, 4): weight, probability,
    squared weight and rows, by the class spoken of (last the likeliest), bin and truth; `right` (bins, K) the weight
    of rows whose likeliest class is true; `ends` (2, K + 1, bins) least and largest probability."""

    cells: Array
    squares: Array
    rows: NDArray[np.int64]
    kinds: Mapping[float, NDArray[np.int64]] | None
    by_truth: Array
    binned: Array
    right: Array
    ends: Array
    by_group: GroupSums | None

    def __add__(self, other: ScoreSums) -> ScoreSums:
        kinds: dict[float, NDArray[np.int64]] | None = None
        if self.kinds is not None and other.kinds is not None:
            none = np.zeros_like(self.rows)
            both = self.kinds.keys() | other.kinds.keys()
            kinds = {w: self.kinds.get(w, none) + other.kinds.get(w, none) for w in both}
        groups = None if self.by_group is None or other.by_group is None else self.by_group + other.by_group
        if groups is not None and len(groups.hashes) > MOST_GROUPS:
            raise TableError(
                "there are more than {most} groups, and the loss of each is kept; divide the rows by their places "
                "(groups=None), or by a coarser group",
                most=MOST_GROUPS,
            )
        return ScoreSums(
            self.cells + other.cells,
            self.squares + other.squares,
            self.rows + other.rows,
            kinds if kinds is None or len(kinds) <= FEW_WEIGHTS else None,
            self.by_truth + other.by_truth,
            self.binned + other.binned,
            self.right + other.right,
            np.stack([np.minimum(self.ends[0], other.ends[0]), np.maximum(self.ends[1], other.ends[1])]),
            groups,
        )


def packed_array(values: Array) -> bytes:
    """As the file of one pass."""
    return packed_passes((), 0, (), ((values,),))


def unpacked_array(data: bytes) -> Array:
    """The array of such a file."""
    return np.asarray(load_passes(data)[3][0][0])


def packed_scores(sums: ScoreSums) -> bytes:
    """As the file of one pass."""
    kinds, groups = sums.kinds, sums.by_group
    parts = (
        *(sums.cells, sums.squares, sums.rows),
        None if kinds is None else np.array(list(kinds), dtype=float),
        *(() if kinds is None else kinds.values()),
        *(sums.by_truth, sums.binned, sums.right, sums.ends),
        *((None,) * 3 if groups is None else (groups.hashes, groups.weight, groups.lost)),
    )
    return packed_passes((), 0, (), (parts,))


def unpacked_scores(data: bytes) -> ScoreSums:
    """The sums of such a file."""
    (parts,) = load_passes(data)[3]
    cells, squares, rows, weights, *of_kinds = parts[:-7]
    kinds = None if weights is None else dict(zip(weights.tolist(), of_kinds, strict=True))
    by_truth, binned, right, ends, hashes, weight, lost = parts[-7:]
    groups = None if hashes is None else GroupSums(hashes, weight, lost)
    return ScoreSums(cells, squares, rows, kinds, by_truth, binned, right, ends, groups)


def summed(held: HeldOut, rule: ScoreRule, groups: Hashes | None = None) -> ScoreSums:
    """The sums of some rows; `groups` (n,) as hashes."""
    k, bins = len(rule.classes), rule.bins
    position = held_out_decision(held, rule.loss, prior_of_use=rule.prior_of_use, positions_alone=True).position
    action = np.where(position < 0, len(rule.loss.actions), position).astype(np.intp)
    shape = (len(rule.loss.actions) + 1, k)
    cell = action * k + held.truth
    weight = held.weight

    def by_cell(values: Array | None, rows: Any = slice(None)) -> NDArray[Any]:
        return np.bincount(cell[rows], values, minlength=shape[0] * k).reshape(shape)

    values, of = np.unique(weight, return_inverse=True)
    few = len(values) <= FEW_WEIGHTS
    joint, status = held.log_posterior_in_use(rule.prior_of_use)
    ok = status == Status.OK
    log_p, truth, w = log_normalize(joint[ok]), held.truth[ok], weight[ok]
    p = np.asarray(normalize(joint[ok]))
    own = np.arange(len(truth)), truth
    brier = (p**2).sum(axis=1) - 2.0 * p[own] + 1.0
    with np.errstate(invalid="ignore"):
        losses = np.where(w > 0, w * (0.0 - log_p[own]), 0.0)
    sums: Array = np.array([np.bincount(truth, v, minlength=k) for v in (w, losses, w * brier)], dtype=float)
    counts = w > 0  # calibration looks at rows that count alone
    p, truth, w = p[counts], truth[counts], w[counts]
    likeliest = decide(p, LossMatrix.zero_one(rule.classes)).position
    binned, right = np.zeros((k + 1, bins, k, 4)), np.zeros((bins, k))
    ends = np.stack([np.full((k + 1, bins), np.inf), np.full((k + 1, bins), -np.inf)])
    for c in range(k + 1):
        stated = p[:, c] if c < k else p.max(axis=1, initial=0.0)
        bin_of = of_equal_width(stated, bins)
        place = bin_of * k + truth
        for j, v in enumerate((w, w * stated, w * w, None)):
            binned[c, :, :, j] = np.bincount(place, v, minlength=bins * k).reshape(bins, k)
        if c == k:
            right = np.bincount(place, w * (likeliest == truth), minlength=bins * k).reshape(bins, k).astype(float)
        np.minimum.at(ends[0, c], bin_of, stated)
        np.maximum.at(ends[1, c], bin_of, stated)
    by_group = None
    if groups is not None:
        in_use = weight * rule.shift[held.truth]
        by_group = GroupSums(groups, in_use, in_use * priced(rule.loss)[action, held.truth])
    return ScoreSums(
        by_cell(weight).astype(float),
        by_cell(weight * weight).astype(float),
        by_cell(None),
        {float(v): by_cell(None, of == i) for i, v in enumerate(values)} if few else None,
        sums,
        binned,
        right,
        ends,
        by_group,
    )


def priced(loss: LossMatrix) -> Array:
    """(A + 1, K) the losses, and, of a row without a posterior, those of the dearest action."""
    return np.vstack([loss.table, loss.table.max(axis=0)])


@dataclass(frozen=True)
class RiskInFiles:
    """How a model does on rows that it has not seen, by sums over all of them.

    `risk`, its 95 % `interval`, `confusion` (A, K), `cost` (A, K), `accuracy`, `undecided` and `undecided_cost` are
    those of `estimated_risk`; `log_loss` and `brier` those of `compare`, over rows that have a posterior. `rows` is how
    many there are, `scheme` how they were held out, `fold_rows` how many are in each fold, and `passes` how often the
    files were read.
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    risk: float
    interval: tuple[float, float]
    confusion: Array
    cost: Array
    accuracy: float
    undecided: int
    undecided_cost: float
    log_loss: float
    brier: float
    rows: int
    scheme: Message
    fold_rows: tuple[int, ...]
    passes: int
    _sums: ScoreSums
    _shift: Array

    @classmethod
    def of(
        cls, sums: ScoreSums, rule: ScoreRule, scheme: Message, fold_rows: tuple[int, ...], passes: int
    ) -> RiskInFiles:
        """Read off the sums. Raises TableError where no row has a posterior."""
        loss, actions = priced(rule.loss), rule.loss.actions
        cells = sums.cells * rule.shift
        total = cells.sum()
        if not cells[:-1].sum() > 0:
            raise TableError("no held-out row has a posterior; smooth the model (alpha > 0)")
        cost = cells * loss / total
        right = np.array([[a == c for c in rule.classes] for a in actions])
        weight, log_loss, brier = sums.by_truth * _answered_shift(sums, rule)
        risk = float(cost.sum())
        return cls(
            rule.classes,
            actions,
            risk,
            _interval(sums, rule, loss, risk),
            cells[:-1],
            cost[:-1],
            float(cells[:-1][right].sum() / total),
            int(sums.rows[-1].sum()),
            float(cost[-1].sum()),
            float(log_loss.sum() / weight.sum()),
            float(brier.sum() / weight.sum()),
            int(sums.rows.sum()),
            scheme,
            fold_rows,
            passes,
            sums,
            _answered_shift(sums, rule),
        )

    @cached_property
    def ece(self) -> float:
        """The expected calibration error of `compare`: Σ_b w_b |right_b − confidence_b| (Guo et al. 2017)."""
        bins = self.calibration()
        return float((bins["share"] * (bins["true"] - bins["said"]).abs()).sum())

    def calibration(self, positive: Any = None) -> pd.DataFrame:
        """The reliability diagram in bins of equal width, as `bayes_engine.decision.curves.calibration` draws it with
        `equal="width"`: of a class, or of the likeliest one.

        Raises ParameterError where there is no such class.
        """
        c = len(self.classes) if positive is None else class_position(positive, self.classes)
        sums, shift = self._sums.binned[c], self._shift
        there = sums[:, :, 3].sum(axis=1) > 0
        weight = (sums[there, :, 0] * shift).sum(axis=1)
        true = self._sums.right[there] @ shift if positive is None else sums[there, c, 0] * shift[c]
        low, high = wilson(true / weight, weight**2 / (sums[there, :, 2] * shift**2).sum(axis=1))
        return pd.DataFrame({
            "said": (sums[there, :, 1] * shift).sum(axis=1) / weight,
            "true": true / weight,
            "low": low,
            "high": high,
            "rows": sums[there, :, 3].sum(axis=1).astype(np.int64),
            "share": weight / weight.sum(),
            "least": self._sums.ends[0, c, there],
            "most": self._sums.ends[1, c, there],
        })  # fmt: skip


def _answered_shift(sums: ScoreSums, rule: ScoreRule) -> Array:
    """(K,) how much rows of each class weigh more for the prior of use among those that have a posterior."""
    if rule.prior_of_use is None:
        return np.ones(len(rule.classes))
    weight = sums.by_truth[0]
    use = given_prior(rule.prior_of_use, rule.classes)
    if ((weight == 0) & (use > 0)).any():
        raise TableError(
            "no held-out row of class '{label}' has a posterior, so its share of the risk cannot be estimated; add "
            "rows, smooth the model (alpha > 0), or set its prior of use to 0",
            label=str(rule.classes[int(((weight == 0) & (use > 0)).argmax())]),
        )
    return np.asarray(use / np.where(weight > 0, weight / weight.sum(), 1.0))


def _interval(sums: ScoreSums, rule: ScoreRule, loss: Array, risk: float) -> tuple[float, float]:
    """The 95 % interval: of whole groups drawn again; of rows drawn again, where they are of few kinds; else by the
    variance of a ratio of means (Cochran 1977, §2.11)."""
    if sums.by_group is not None:
        drawn = resampled_means(sums.by_group.weight, sums.by_group.lost[:, None])
    elif sums.kinds is not None:
        weights = np.array(sorted(sums.kinds))
        n = np.stack([sums.kinds[w] for w in weights.tolist()], axis=2)
        there = n > 0
        weight: Array = np.asarray(np.broadcast_to(weights * rule.shift[:, None], n.shape)[there], dtype=float)
        lost = weight * np.broadcast_to(loss[:, :, None], n.shape)[there]
        drawn = resampled_means(weight, lost[:, None], n=n[there])
    else:
        squares = sums.squares * rule.shift**2
        half = 1.959963984540054 * np.sqrt((squares * (loss - risk) ** 2).sum()) / (sums.cells * rule.shift).sum()
        return float(risk - half), float(risk + half)
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return low, high
