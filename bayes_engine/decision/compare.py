"""Several models beside each other: how they do on the same held-out rows, and whether the procedures behind them
differ. Differences are paired: they are means over the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from bayes_engine.decision.evaluate import estimated_risk, weights_in_use
from bayes_engine.decision.held_out import HeldOut, refuse_without_posterior
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, exp, log_normalize
from bayes_engine.priors import checked_word
from bayes_engine.progress import steps, tick
from bayes_engine.stats.multiple_tests import holm

BINS, FEWER, FEW = 10, 5, 200
"""Bins of equal width for calibration, and how many below so many rows."""


def bins_for(n: int) -> int:
    """How many bins the confidence of n rows is looked at in.

    >>> bins_for(17), bins_for(500)
    (5, 10)
    """
    return BINS if n >= FEW else FEWER


class _Judged(NamedTuple):
    """The rows that every model has a posterior for, or all: `rows` (N,), their `weight` and `groups`, and for each
    model its log posterior, −∞ throughout where there is none."""

    rows: NDArray[np.bool_]
    weight: Array
    truth: NDArray[np.intp]
    log_posteriors: dict[str, Array]
    undecided: dict[str, int]
    groups: NDArray[np.intp] | None

    @property
    def independent(self) -> tuple[NDArray[np.intp], int]:
        """(N,) which row, or group of rows, each belongs to, from 0; and how many of them weigh anything."""
        n = len(self.weight)
        unit = np.arange(n) if self.groups is None else np.unique(self.groups, return_inverse=True)[1]
        return unit, len(np.unique(unit[self.weight > 0]))


def _judged(held: Mapping[str, HeldOut], prior_of_use: Mapping[Any, float] | None, *, every: bool = False) -> _Judged:
    shifted = {name: h.log_posterior_in_use(prior_of_use) for name, h in held.items()}
    tick()
    rows: NDArray[np.bool_] = np.logical_and.reduce([status == Status.OK for _joint, status in shifted.values()])
    refuse_without_posterior(rows)
    rows |= every
    one = next(iter(held.values()))
    return _Judged(
        rows,
        weights_in_use(one, rows, prior_of_use),
        one.truth[rows],
        {name: log_normalize(joint[rows]) for name, (joint, _status) in shifted.items()},
        {name: int((status != Status.OK).sum()) for name, (_joint, status) in shifted.items()},
        None if one.groups is None else one.groups[rows],
    )


def compare(held: Mapping[str, HeldOut], *, prior_of_use: Mapping[Any, float] | None = None) -> pd.DataFrame:
    """How models do on the same held-out rows, whatever an error costs; the first is the reference.

    Columns: `accuracy`, a row without a posterior being wrong; `balanced`, its mean over the classes; `confidence`, the
    mean of the largest posterior; `log_loss`, that of −log P(truth|x) in nats (∞ where a truth was impossible);
    `brier`, that of Σ_c (P(c|x) − [c true])²; `ece`, the expected calibration error Σ_b w_b |right_b − confidence_b| of
    ten bins of equal width, five below 200 rows (Guo et al. 2017); `undecided`, rows without a posterior; `more`:
    log-loss above the reference's on these rows, NaN where one is infinite (whether the procedures differ say
    `differences`). Rows that not all have a posterior for are left out of all but the accuracies; with a prior of use
    rows weigh as in `estimated_risk`.

    Raises TableError where no row is left.

    >>> rows = {"prior": np.ones((2, 2)) / 2, "truth": np.array([0, 1]), "weight": np.ones(2), "scheme": ""}
    >>> sure = HeldOut(("a", "b"), np.log([[0.9, 0.1], [0.2, 0.8]]), **rows)
    >>> unsure = HeldOut(("a", "b"), np.log([[0.6, 0.4]] * 2), **rows)
    >>> compare({"sure": sure, "unsure": unsure})[["accuracy", "log_loss", "brier", "ece", "more"]].round(4)
            accuracy  log_loss  brier   ece    more
    sure         1.0    0.1643   0.05  0.15  0.0000
    unsure       0.5    0.7136   0.52  0.10  0.5493
    """
    judged = _judged(held, prior_of_use)
    every = judged if judged.rows.all() else _judged(held, prior_of_use, every=True)
    w, truth = judged.weight, judged.truth
    classes = next(iter(held.values())).classes
    scores = [
        {
            **_score(log_p, truth, w, classes),
            **_accuracies(every.log_posteriors[name], every.truth, every.weight, classes),
            "undecided": judged.undecided[name],
        }
        for name, log_p in steps(judged.log_posteriors.items())
    ]
    frame = pd.DataFrame(scores, index=pd.Index(list(held)))
    losses = np.stack([_log_losses(log_p, truth) for log_p in judged.log_posteriors.values()], axis=1)
    return frame.assign(more=_above_first(losses, w))


SCORES = ("accuracy", "balanced", "confidence", "log_loss", "brier", "ece")


def score(held: HeldOut, prior_of_use: Mapping[Any, float] | None = None) -> dict[str, float]:
    """One model's `accuracy`, `balanced`, `confidence` (the mean of its largest posterior), `log_loss`, `brier` and
    `ece`, as in `compare`."""
    reading = compare({"": held}, prior_of_use=prior_of_use).iloc[0]
    return {k: float(v) for k, v in reading.items() if k in SCORES}


def rows_held_impossible(held: HeldOut, prior_of_use: Mapping[Any, float] | None = None) -> NDArray[np.intp]:
    """The rows, from 0, whose true class was held impossible: each makes the log-loss infinite."""
    joint, status = held.log_posterior_in_use(prior_of_use)
    class_position = np.maximum(held.truth, 0)
    impossible = np.isneginf(joint[np.arange(len(class_position)), class_position])
    return np.flatnonzero(impossible & (status == Status.OK) & (held.truth >= 0) & (held.weight > 0))


def _score(log_p: Array, truth: NDArray[np.intp], weight: Array, classes: tuple[Any, ...]) -> dict[str, float]:
    tick()
    p = exp(log_p)
    right = _likeliest(p, classes) == truth
    confidence = p.max(axis=1)
    bins = _bins(confidence, right, weight)
    tick()
    return {
        "confidence": _mean(confidence, weight),
        "log_loss": _mean(_log_losses(log_p, truth), weight),
        "brier": _mean(_brier(p, truth), weight),
        "ece": float((bins["share"] * (bins["right"] - bins["confidence"]).abs()).sum()),
    }


def _accuracies(log_p: Array, truth: NDArray[np.intp], weight: Array, classes: tuple[Any, ...]) -> dict[str, float]:
    right = _likeliest(exp(log_p), classes) == truth
    return {"accuracy": _mean(right, weight), "balanced": _balanced(right, truth, weight)}


def _balanced(right: NDArray[np.bool_], truth: NDArray[np.intp], weight: Array) -> float:
    """The mean over the classes that are there of the share that is right."""
    total = np.bincount(truth, weight)
    there = total > 0
    return float((np.bincount(truth, weight * right)[there] / total[there]).mean())


def _log_losses(log_p: Array, truth: NDArray[np.intp]) -> Array:
    """(n,) −log P(truth|x); ∞ where the truth is impossible, not where its probability is too small for a number."""
    return np.asarray(0.0 - log_p[np.arange(len(truth)), truth])  # no −0


def _brier(p: Array, truth: NDArray[np.intp]) -> Array:
    """(n,) Σ_c (P(c|x) − [c true])²."""
    return np.asarray((p**2).sum(axis=1) - 2.0 * p[np.arange(len(truth)), truth] + 1.0)


def compare_risk(
    held: Mapping[str, HeldOut],
    loss: LossMatrix,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: Any = None,
) -> pd.DataFrame:
    """The estimated risk of each model's decisions under these losses, with its 95 % interval (`risk`, `low`, `high`),
    and how much `more` it is than the first model's on these rows (whether the procedures differ say `differences`). A
    row without a posterior costs what it does there.

    Raises what `estimated_risk` raises.
    """
    reports = {n: estimated_risk(h, loss, prior_of_use=prior_of_use, amount=amount) for n, h in held.items()}
    one = next(iter(held.values()))
    w, priced = weights_in_use(one, np.ones(len(one.truth), dtype=bool), prior_of_use), loss.for_classes(one.classes)
    size = None if amount is None else np.asarray(amount, dtype=float)
    losses = [priced.cost(r.decision.position, one.truth, size) for r in reports.values()]
    own = [{"risk": r.risk, "low": r.interval[0], "high": r.interval[1]} for r in reports.values()]
    return pd.DataFrame(own, index=pd.Index(list(held))).assign(more=_above_first(np.array(losses).T, w))


MEASURES = ("risk", "error", "log_loss", "brier")
"""What `differences` can be of: the loss of the least-risk decision, [the likeliest class is wrong], −log P(truth|x),
Σ_c (P(c|x) − [c true])²."""
LEVEL = 0.05
"""Procedures are called different if those that are alike would look so in fewer than so many of all comparisons."""
TRAINING = {"risk": 1.8, "error": 1.8, "brier": 1.8, "log_loss": 1.2}
"""How often the variance between repeated cross-validations counts in that of a difference by each measure, for what
other rows would have taught; by simulation."""
FEWEST = 30
"""Of fewer rows, or groups of rows, `differences` gives an interval and no p-value."""


def differences(
    held: Mapping[str, HeldOut],
    measure: str = "risk",
    loss: LossMatrix | None = None,
    *,
    runs: Mapping[str, Sequence[HeldOut]] | None = None,
    reference: str | None = None,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: Any = None,
) -> pd.DataFrame:
    """Every two models, or each other one and the `reference`, compared as procedures that learn from samples of this
    size, by their risk or error on all rows (one without a posterior costs what it does in `estimated_risk`), else on
    those that all have a posterior for: a frame with a row a pair.

    `measure` is one of MEASURES; `loss` (0-1 by default), `amount` (N,) and the prior of use as in `estimated_risk`.
    `runs` are two or more repetitions of a cross-validation of each model, alike in their splits: `held_out` with
    `in_folds` and one seed each, of which `held` may be the first. Columns: `one`, `other`; `difference` D, of one
    above the other in `held`, with its 95 % interval `low`, `high`; `p`, how often procedures that are alike would be
    as far apart (two-sided), as Holm (Scand. J. Stat. 1979) corrects it for these pairs; `real`, p < 0.05. NaN, and not
    real, where one is infinite; the interval too without `runs`, and p below 30 rows or groups.

    To draw the rows again leaves out that other rows would have taught other models, and no estimate of that from one
    sample is unbiased (Bengio and Grandvalet 2004). Here D / √(e² + t · b² · e²/ē²) has Student's t with one
    degree of freedom less than there are rows or groups. e² is the variance of the mean of independent rows or groups,
    ē² the same in the runs on average, b² the variance of D between the runs, whose models learnt from other parts of
    the rows. t is TRAINING, by simulation: procedures that are alike are called different in 3 to 6 % of samples of 40
    and of 100 rows from three sources, by error, Brier score and log-loss (losses other than 0-1 were not tried); by
    the corrected resampled t of Nadeau and Bengio (Machine Learning 52, 2003) it was 2 % for one log-loss, and fewer of
    those that differ were found. Where few rows decide what a model becomes it is more: 7 to 10 % by error or Brier
    score for Gaussians where tails are those of a t with 3 degrees of freedom (100 rows), 15 to 18 % where the model is
    the best of eight columns (40 rows, each left out by itself).

    Raises ParameterError for another measure or runs that are no folds, what `compare` and `estimated_risk` raise.

    >>> from sklearn.datasets import load_iris
    >>> from bayes_engine.decision.held_out import held_out
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"four": (NaiveBayes(), X), "two": (NaiveBayes(), X[:, :2])}
    >>> runs = {
    ...     name: [held_out(model.fit(Z, y), Z, y, in_folds=True, seed=seed) for seed in range(3)]
    ...     for name, (model, Z) in models.items()
    ... }
    >>> print(*differences({name: of[0] for name, of in runs.items()}, "error", runs=runs).round(2).iloc[0])
    four two -0.17 -0.23 -0.1 0.0 True
    """
    checked_word("measure", measure, MEASURES)
    names = list(held)
    every = range(len(names))
    first = None if reference is None else names.index(reference)
    pairs = list(combinations(every, 2)) if first is None else [(i, first) for i in every if i != first]
    left, right = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    one = next(iter(held.values()))
    table = (LossMatrix.zero_one(one.classes) if loss is None else loss).for_classes(one.classes)

    def losses(of: Mapping[str, HeldOut]) -> tuple[_Judged, Array]:
        judged = _judged(of, prior_of_use, every=measure in ("risk", "error"))
        size = None if amount is None else np.asarray(amount, dtype=float)[np.flatnonzero(judged.rows)]
        each = [_row_losses(log_p, judged.truth, measure, table, size) for log_p in judged.log_posteriors.values()]
        return judged, np.where(judged.weight[:, None] > 0, np.stack(each, axis=1), 0.0)

    judged, by_row = losses(held)
    frame = pd.DataFrame({"one": [names[i] for i in left], "other": [names[j] for j in right]})
    with np.errstate(invalid="ignore"):
        means = judged.weight @ by_row / judged.weight.sum()
        frame["difference"] = np.where(np.isfinite(means[left] - means[right]), means[left] - means[right], np.nan)
    n = judged.independent[1]
    error = np.full(len(pairs), np.nan)
    if runs is not None and pairs:
        repeated = [dict(zip(names, run, strict=True)) for run in zip(*(runs[name] for name in names), strict=True)]
        error = _standard_errors(
            TRAINING[measure], (judged, by_row), [losses(_in_folds(run)) for run in steps(repeated)], left, right
        )
    freedom = max(n - 1, 1)
    reach = float(stdtrit(freedom, 0.975)) * error
    frame["low"], frame["high"] = frame["difference"] - reach, frame["difference"] + reach
    frame["p"] = np.nan
    known = frame["low"].notna().to_numpy()
    if n >= FEWEST and known.any():
        apart = frame.loc[known, "difference"].abs().to_numpy()
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = np.where(apart > 0, apart / error[known], 0.0)
        frame.loc[known, "p"] = holm(2.0 * stdtr(freedom, -scaled))
    return frame.assign(real=frame["p"] < LEVEL)


def _in_folds(run: Mapping[str, HeldOut]) -> Mapping[str, HeldOut]:
    """The run. Raises ParameterError where its rows were left out one at a time: such runs are all alike."""
    if any(held.fold is None for held in run.values()):
        raise ParameterError("runs are cross-validations: call held_out with in_folds=True, a seed each")
    return run


def _standard_errors(
    training: float,
    own: tuple[_Judged, Array],
    repeated: Sequence[tuple[_Judged, Array]],
    left: NDArray[np.intp],
    right: NDArray[np.intp],
) -> Array:
    """Of the difference of each pair of models its standard error, from the losses (n, M) of rows held out and those in
    repeated cross-validations, whose variance counts `training` times. NaN where a loss is infinite."""
    of_rows = _variances_of_means(*own, left, right)
    in_runs = np.stack([_variances_of_means(*run, left, right) for run in repeated]).mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.stack([judged.weight @ by_row / judged.weight.sum() for judged, by_row in repeated])
        between = (means[:, left] - means[:, right]).var(axis=0, ddof=1)
        scale = np.where(in_runs > 0, of_rows / in_runs, 1.0)
        return np.asarray(np.sqrt(of_rows + training * between * np.where(np.isnan(in_runs), np.nan, scale)))


def _variances_of_means(judged: _Judged, by_row: Array, left: NDArray[np.intp], right: NDArray[np.intp]) -> Array:
    """The variance of each pair's weighted mean difference over independent rows or groups: s²/n where they weigh
    alike."""
    weight, (unit, n) = judged.weight, judged.independent
    variances = np.empty(len(left))
    for k, (i, j) in enumerate(steps(list(zip(left, right, strict=True)))):
        with np.errstate(invalid="ignore"):
            apart = by_row[:, i] - by_row[:, j]
            beyond = np.bincount(unit, weight * (apart - weight @ apart / weight.sum()))
            variances[k] = beyond @ beyond / weight.sum() ** 2 * (n / max(n - 1, 1))
    return variances


def _row_losses(log_p: Array, truth: NDArray[np.intp], measure: str, loss: LossMatrix, amount: Array | None) -> Array:
    tick()
    p = exp(log_p)
    match measure:
        case "risk":
            decided = decide(p, loss, _status(p), amount=None if loss.by_amount is None else amount)
            return loss.cost(decided.position, truth, amount)
        case "error":
            return np.asarray(_likeliest(p, loss.classes) != truth, dtype=float)
        case "log_loss":
            return _log_losses(log_p, truth)
        case _:
            return _brier(p, truth)


def _likeliest(posterior: Array, classes: tuple[Any, ...]) -> NDArray[np.intp]:
    """(n,) the position of the likeliest class; −1 where there is no posterior."""
    return decide(posterior, LossMatrix.zero_one(classes), _status(posterior)).position


def _status(posterior: Array) -> NDArray[np.int8]:
    return np.where(posterior.any(axis=1), Status.OK, Status.IMPOSSIBLE).astype(np.int8)


def of_equal_width(p: Array, bins: int) -> NDArray[np.intp]:
    """(n,) the bin of each probability, of so many of equal width: one on an edge, whatever its last bit, belongs
    above it."""
    return np.minimum((p * bins + 1e-9).astype(np.intp), bins - 1)


def _bins(confidence: Array, right: NDArray[np.bool_], weight: Array) -> pd.DataFrame:
    bins = bins_for(len(weight))
    bin_of = of_equal_width(confidence, bins)
    share = np.bincount(bin_of, weight, minlength=bins)
    there = share > 0
    sums = {"confidence": confidence, "right": right.astype(float)}
    means = {name: np.bincount(bin_of, weight * v, minlength=bins)[there] / share[there] for name, v in sums.items()}
    return pd.DataFrame({**means, "share": share[there] / share.sum()})


def _above_first(losses: Array, weight: Array) -> Array:
    """(M,) how far each column of `losses` (n, M) lies above the first on average, NaN where that is infinite."""
    with np.errstate(invalid="ignore"):
        more = np.where(weight[:, None] > 0, losses - losses[:, :1], 0.0)
    more[:, 0] = 0.0
    real = np.isfinite(more).all(axis=0)
    return np.where(real, weight @ np.where(real, more, 0.0) / weight.sum(), np.nan)


def _mean(values: Array, weight: Array) -> float:
    """A row without weight takes no part, even where its value is infinite."""
    return float(weight @ np.where(weight > 0, values, 0.0) / weight.sum())
