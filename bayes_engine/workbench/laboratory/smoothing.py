"""One case under four smoothings side by side, as the table grows at fixed proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.risk import LossTable, decide
from bayes_engine.errors import BayesEngineError, listen
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.table import TableLeaf
from bayes_engine.ledger import Status, prior_shift
from bayes_engine.logspace import Array, exp, log, log_normalize, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.priors import Base, Dirichlet, class_prior

RULES = ("none", "zero-only", "laplace", "m-estimate")
"""No smoothing (Zhou, eq. 7.16-7.17), only in a pair of attribute and class that holds a zero, Laplace's correction of
prior and conditionals (eq. 7.19-7.20), m rows for each distribution (Cestnik 1990)."""


def smoothed_models(model: NaiveBayes, m: float, base: Base = "marginal") -> dict[str, NaiveBayes]:
    """A fitted naive Bayes under each of `RULES`, from the same counts. Only Laplace's correction smooths the class
    prior as well. Raises ParameterError where m outweighs the rows a million times.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"knock": ["dull", "dull", "crisp", "crisp"]})
    >>> four = smoothed_models(NaiveBayes().fit(X, ["good", "good", "good", "bad"]), 3.0, "uniform")
    >>> {rule: round(float(one.predict_proba(X[:1])[0, 0]), 4) for rule, one in four.items()}
    {'none': 0.0, 'zero-only': 0.1429, 'laplace': 0.2174, 'm-estimate': 0.1765}
    """
    empirical: dict[str, Any] = {"alpha": 1.0, "priors": "empirical"}
    parameters: dict[str, dict[str, Any]] = {
        "none": {**empirical, "smoothing": "none"},
        "zero-only": {**empirical, "smoothing": "zero-only"},
        "laplace": {"alpha": 1.0, "priors": "laplace", "smoothing": "all"},
        "m-estimate": {**empirical, "alpha": Dirichlet.m_estimate(m, base), "smoothing": "all"},
    }
    with listen():
        return {rule: model.with_params(**parameters[rule]) for rule in RULES}


def at_size(model: NaiveBayes, n: float) -> NaiveBayes:
    """The model from n rows with the proportions of its table: every count times n/N, fractions of a row included.
    Means and variances of the numbers stay those of the table.

    >>> model = NaiveBayes(alpha=1).fit([["dull"], ["dull"], ["crisp"], ["dull"]], ["good", "good", "bad", "bad"])
    >>> at_size(model, 8).predict_proba([["dull"]]).round(4).tolist()
    [[0.375, 0.625]]
    """
    stats = model.stats_
    scaled = stats.scaled(n / float(stats.class_weight.sum()))
    with listen():
        return model.with_params().fit_stats(replace(scaled, moments=stats.moments))


class SmoothedCell(NamedTuple):
    """The estimate of P(level | class) as n grows: `rows` (N,) with the level of `total` (N,) rows of the class;
    of each rule what it `adds` (R, N) to the level and `added` (R, N) to all levels of the class; the `value` (R, N)
    that the model has."""

    rows: Array
    total: Array
    adds: Array
    added: Array
    value: Array

    @property
    def frequency(self) -> float:
        """What the estimate comes to as n grows; NaN where the class has no row of the column."""
        return float(self.rows[0] / self.total[0]) if self.total[0] > 0 else float("nan")

    @property
    def prior_weight(self) -> Array:
        """(R, N) A/(N + A), the weight of what was believed before: the estimate is (1 − w)·frequency + w·belief."""
        whole = self.total + self.added
        return np.asarray(np.divide(self.added, whole, out=np.ones_like(whole), where=whole > 0))


class SmoothingCurves(NamedTuple):
    """A case under each of `RULES` at `sizes` (N,): log P(c, x) as `joint` (R, N, K), in nats, at the prior of use, and
    the estimate of one cell, where one was asked for."""

    sizes: Array
    classes: tuple[Any, ...]
    joint: Array
    cell: SmoothedCell | None

    @property
    def posterior(self) -> Array:
        """(R, N, K) P(c|x); NaN where a rule gives every class the probability 0."""
        flat = self.joint.reshape(-1, len(self.classes))
        impossible = (flat == -np.inf).all(axis=1)
        p = exp(log_normalize(np.where(impossible[:, None], 0.0, flat)))
        return np.asarray(np.where(impossible[:, None], np.nan, p)).reshape(self.joint.shape)

    def log_odds(self, k: int) -> Array:
        """(R, N) log P(c_k|x)/(1 − P(c_k|x)), in nats, −∞ and ∞ included; NaN where there is no posterior."""
        own, others = self.joint[..., k], log_sum(np.delete(self.joint, k, axis=-1))
        possible = np.isfinite(own) | np.isfinite(others)
        with np.errstate(invalid="ignore"):
            return np.where(possible, own - others, np.nan)

    def decisions(self, loss: LossTable) -> NDArray[np.intp]:
        """(R, N) the position of the action of least risk under losses of these classes; −1 where there is no
        posterior."""
        p = self.posterior.reshape(-1, len(self.classes))
        status = np.where(np.isnan(p).any(axis=1), Status.IMPOSSIBLE, Status.OK).astype(np.int8)
        return decide(p, loss, status).position.reshape(self.joint.shape[:2])


def curves(
    model: NaiveBayes,
    case: pd.DataFrame,
    sizes: Sequence[float],
    m: float = 2.0,
    base: Base = "marginal",
    *,
    use: Mapping[Any, float] | None = None,
    cell: tuple[str, int, int] | None = None,
) -> SmoothingCurves:
    """The case (one row) at all sizes under the four smoothings of a fitted model, at the prior of `use` or each
    model's own; `cell` is a discrete column, the place of a level and that of a class.

    Raises ParameterError as `smoothed_models` and `Ledger.at_prior` do.

    >>> model = NaiveBayes().fit([["dull"], ["dull"], ["crisp"], ["dull"]], ["good", "good", "bad", "bad"])
    >>> found = curves(model, [["crisp"]], [4, 400], cell=("x0", 0, 1))
    >>> found.posterior[:, :, 1].round(3).tolist()  # crisp was never good
    [[0.0, 0.0], [0.333, 0.01], [0.333, 0.01], [0.25, 0.005]]
    >>> found.cell.value[2].round(3).tolist(), found.cell.prior_weight[2].round(3).tolist()
    ([0.25, 0.005], [0.5, 0.01])
    """
    sizes_ = np.asarray(sizes, dtype=float)
    joints = [_at_sizes(one, case, sizes_, use) for one in smoothed_models(model, m, base).values()]
    own = None if cell is None else _cell(model, sizes_, m, base, cell)
    return SmoothingCurves(sizes_, tuple(model.classes_.tolist()), np.array(joints), own)


def _at_sizes(model: NaiveBayes, case: pd.DataFrame, sizes: Array, use: Mapping[Any, float] | None) -> Array:
    """(N, K) the joint of a case, in nats, as `at_size` has it at each size: tables are smoothed at all sizes at once,
    Gaussians are the same at all, and what else there is, is estimated anew."""
    X, classes = model._encode(case), model.classes_.tolist()
    share = sizes / float(model.stats_.class_weight.sum())
    prior = class_prior(model.priors, model.stats_.class_weight * share[:, None], classes)
    joint = log(prior)
    if use is not None:
        joint = joint + prior_shift(prior, [use[c] for c in classes])
    others = []
    for variable in model.schema_:
        part = model.factor_.part_of(variable.name)
        if part is None:
            continue
        if not variable.discrete:
            if variable.textual or variable.name in model.stats_.values.columns:
                others.append(variable.name)
            else:
                joint = joint + part[0].log(X)
            continue
        leaf = table_of(model, variable.name)
        place = int(leaf.domain.places(X)[0])
        if place == leaf.domain.size:  # a value that training never had, smoothed
            others.append(variable.name)
        elif place != HIDDEN:
            joint = joint + _smoothed_at(leaf, share)[..., place]
    if others:
        for i, n in enumerate(sizes.tolist()):
            grown = at_size(model, n)
            joint[i] += sum(part[0].log(X)[0] for name in others if (part := grown.factor_.part_of(name)) is not None)
    return np.asarray(joint)


def _smoothed_at(leaf: TableLeaf, share: Array) -> Array:
    """(N, C, S) the log probabilities of a table whose counts are so many times as large."""
    return leaf.rule.log_smoothed(leaf.counts * share[:, None, None], leaf.shares)


def _cell(model: NaiveBayes, sizes: Array, m: float, base: Base, cell: tuple[str, int, int]) -> SmoothedCell:
    column, level, k = cell
    share = sizes / float(model.stats_.class_weight.sum())
    adds, added, value = [], [], []
    for one in smoothed_models(model, m, base).values():
        leaf = table_of(one, column)
        counts = leaf.counts * share[:, None, None]
        each = np.broadcast_to(leaf.rule.added(counts, leaf.shares), counts.shape)[:, k]
        adds.append(each[:, level])
        added.append(each.sum(axis=-1))
        value.append(exp(_smoothed_at(leaf, share)[:, k, level]))
    leaf = table_of(model, column)
    rows, total = leaf.counts[k, level] * share, leaf.totals[k] * share
    return SmoothedCell(rows, total, np.array(adds), np.array(added), np.array(value))


def table_of(model: NaiveBayes, column: str) -> TableLeaf:
    """The table of a discrete column."""
    part = model.factor_.part_of(column)
    assert part is not None
    return cast(TableLeaf, part[0])


def has_table(model: NaiveBayes, column: str) -> bool:
    """Whether a column has a table of conditional probabilities in this model: by its levels, or its intervals."""
    return column in model.schema_ and model.schema_[column].discrete


class SmoothedFactor(NamedTuple):
    """One factor of the product for a class: the `column`, "" for the class prior; `rows` of `total` rows that the
    frequency is of, None where the column has no table; the log of the factor under each of `RULES`, in nats; and
    whether zero-only smooths this pair of attribute and class."""

    column: str
    rows: float | None
    total: float | None
    logs: tuple[float, ...]
    repaired: bool


def factors_at(
    model: NaiveBayes, case: pd.DataFrame, n: float, k: int, m: float = 2.0, base: Base = "marginal"
) -> list[SmoothedFactor]:
    """The factors of a case for the k-th class, from n rows at the table's proportions: those of the models' own
    `explain`, so that their product is the joint.

    >>> model = NaiveBayes().fit([["dull"], ["dull"], ["crisp"], ["dull"]], ["good", "good", "bad", "bad"])
    >>> for row in factors_at(model, [["crisp"]], 4, 1):
    ...     print(row.column, row.rows, row.total, exp(np.array(row.logs)).round(3).tolist(), row.repaired)
     2.0 4.0 [0.5, 0.5, 0.5, 0.5] False
    x0 0.0 2.0 [0.0, 0.25, 0.25, 0.125] True
    """
    grown = [at_size(one, n) for one in smoothed_models(model, m, base).values()]
    ledgers = [one.explain(case) for one in grown]
    factors = []
    for r, (row, _terms) in enumerate(ledgers[0].rows):
        logs = tuple(float(ledger.rows[r][1][0, k]) for ledger in ledgers)
        rows = total = None
        repaired = False
        if row.kind == "prior":
            weight = grown[0].stats_.class_weight
            rows, total = float(weight[k]), float(weight.sum())
        elif has_table(model, row.child) and (place := place_of(model, case, row.child)) is not None:
            leaf = table_of(grown[0], row.child)
            rows, total = float(leaf.counts[k, place]), float(leaf.totals[k])
            repaired = bool((leaf.counts[k] == 0).any())
        factors.append(SmoothedFactor("" if row.kind == "prior" else row.child, rows, total, logs, repaired))
    return factors


def place_of(model: NaiveBayes, case: pd.DataFrame, column: str) -> int | None:
    """The place of the case's value among the levels of a column; None where it is missing or none of them."""
    leaf = table_of(model, column)
    place = int(leaf.domain.places(model._encode(case))[0])
    return place if 0 <= place < len(leaf.variable.levels) else None


class SmoothedElsewhere(NamedTuple):
    """A case under one of `RULES` in a model that is no naive Bayes: log P(c, x) as `joint` (K,), at the prior of use,
    or why the model has no such smoothing."""

    joint: Array | None
    why: BayesEngineError | None = None

    @property
    def posterior(self) -> Array | None:
        """(K,) P(c|x); None where there is no joint, or it is 0 in every class."""
        if self.joint is None or (self.joint == -np.inf).all():
            return None
        return np.asarray(exp(log_normalize(self.joint[None]))[0])

    def decision(self, loss: LossTable) -> int:
        """The position of the action of least risk; −1 where there is no posterior."""
        return -1 if self.posterior is None else int(decide(self.posterior[None], loss).position[0])


def smoothed_elsewhere(
    model: GenerativeClassifier,
    case: pd.DataFrame,
    n: float,
    m: float = 2.0,
    base: Base = "marginal",
    *,
    use: Mapping[Any, float] | None = None,
) -> dict[str, SmoothedElsewhere]:
    """The case (one row) under the smoothings of `RULES` but zero-only, which is one of naive Bayes alone, in a fitted
    SPODE, TAN, AODE, k-DB or network: its conditional tables are smoothed in the same way, from n rows at the table's
    proportions, along the structure that was fitted.

    >>> from bayes_engine.models.tan import TAN
    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx")})
    >>> found = smoothed_elsewhere(TAN().fit(X, list("nynynyny")), X[:1], 8)
    >>> {rule: one.posterior.round(3).tolist() for rule, one in found.items()}
    {'none': [1.0, 0.0], 'laplace': [0.75, 0.25], 'm-estimate': [0.75, 0.25]}
    """
    structure = {"super_parent": model.super_parent_} if isinstance(model, SPODE) else {}
    parameters: dict[str, dict[str, Any]] = {
        "none": {"alpha": 0.0, "priors": "empirical"},
        "laplace": {"alpha": 1.0, "priors": "laplace"},
        "m-estimate": {"alpha": Dirichlet.m_estimate(m, base), "priors": "empirical"},
    }
    by_rule = {}
    for rule, own in parameters.items():
        try:
            with listen():
                smoothed = model.with_params(**own, **structure)
                stats = smoothed.stats_
                if n != float(stats.class_weight.sum()):
                    scaled = stats.scaled(n / float(stats.class_weight.sum()))
                    smoothed = smoothed.with_params().fit_stats(replace(scaled, moments=stats.moments))
                prior = class_prior(smoothed.priors, smoothed.stats_.class_weight, model.classes_.tolist())
                by_rule[rule] = SmoothedElsewhere(smoothed.explain(case).at_prior(prior, use).joint()[0])
        except BayesEngineError as error:
            by_rule[rule] = SmoothedElsewhere(None, error)
    return by_rule


class ZeroCount(NamedTuple):
    """A value that no row of a class has: the column, the place of the level, that of the class."""

    column: str
    level: int
    k: int


def zeros(model: NaiveBayes) -> list[ZeroCount]:
    """All pairs of a value and a class without a row, of classes that have rows of that column; by column.

    >>> zeros(NaiveBayes().fit([["dull"], ["dull"], ["crisp"]], ["good", "bad", "bad"]))
    [ZeroCount(column='x0', level=0, k=1)]
    """
    empty = []
    for name in model.schema_.names:
        if has_table(model, name):
            leaf = table_of(model, name)
            there = leaf.totals > 0
            empty += [
                ZeroCount(name, int(s), int(k))
                for k, s in zip(*np.nonzero((leaf.counts == 0) & there[:, None]), strict=True)
            ]
    return empty


def sizes_about(n: float, chosen: float) -> list[float]:
    """Sizes from 1 to a hundred thousand rows, or a hundred times the table, sixteen a decade and whole from 10 on, the
    table's own and the chosen one among them.

    >>> sizes_about(17, 17)[:3], 17 in sizes_about(17, 17), sizes_about(1e6, 1e6)[-1]
    ([1.0, 1.15, 1.33], True, 100000000.0)
    """
    decades = max(5.0, float(np.ceil(np.log10(max(n, 1.0)))) + 2.0)
    steps = 10.0 ** np.linspace(0.0, decades, round(decades * 16) + 1)
    kept = {round(v, 2) if v < 10 else float(f"{v:.3g}") for v in steps.tolist()}
    return sorted({*kept, float(n), float(chosen)})
