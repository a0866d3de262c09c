"""The three modes of use of naive Bayes (Zhou, Machine Learning, §7.3) held against each other: the same posteriors
from each, the work of each as rows and questions come, and what a row that goes takes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import PrecisionLost, listen
from bayes_engine.logspace import Array, normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.costs import MODES_OF_USE, Cost, ModeOfUse
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.stats.collect import SufficientStatistics


class Agreement(NamedTuple):
    """`of_case` P(c|case) (C,) by mode, None where there is none; over the `rows` of the table the largest `difference`
    of a posterior between any two modes, and how many rows are `without` one in all of them."""

    of_case: dict[ModeOfUse, tuple[float, ...] | None]
    rows: int
    without: int
    difference: float


def agreement(model: NaiveBayes, X: Any, y: Any, case: Any, sample_weight: Any = None) -> Agreement:
    """The posteriors of the rows X (n, d), with which `model` was fitted, and of one case, in each mode: from the table
    compiled of the model; from the rows, when asked; from the counts after every other row was taken away and put back.

    A row that has a posterior in one mode and none in another makes the difference infinite. Raises ParameterError
    where a column's likelihood has no table.

    >>> X, y = pd.DataFrame({"sound": ["dull", "crisp", "dull"]}), pd.Series(["good", "bad", "bad"])
    >>> agreed = agreement(NaiveBayes().fit(X, y), X, y, X[:1])
    >>> [round(p, 6) for p in agreed.of_case["lazy"]], agreed.difference < 1e-12, agreed.without
    ([0.6, 0.4], True, 0)
    """
    weight = None if sample_weight is None else np.asarray(sample_weight)
    every_other = slice(0, len(X), 2)
    with listen():
        moved = without_rows(model, X, y, every_other, weight)
        put_back, labels, weights = _some(X, y, weight, every_other)
        moved.partial_fit(put_back, labels, sample_weight=weights)
        used: dict[ModeOfUse, Any] = {
            "look-up": LookUp.of(model),
            "lazy": _lazy(model, X, y, weight),
            "incremental": moved,
        }
        of_case = {mode: posterior_of(used[mode], case) for mode in MODES_OF_USE}
        joints = [used[mode].predict_joint_log_proba(X) for mode in MODES_OF_USE]
    nowhere = [np.isneginf(joint).all(axis=1) for joint in joints]
    tables = [normalize(joint) for joint in joints]
    alike = all((none == nowhere[0]).all() for none in nowhere)
    difference = float((np.max(tables, axis=0) - np.min(tables, axis=0)).max()) if alike else float("inf")
    return Agreement(of_case, len(X), int(nowhere[0].sum()), difference)


def posterior_of(used: Any, case: Any) -> tuple[float, ...] | None:
    """P(c|case) of a fitted model or a look-up table, for a frame of one row; None where there is none.

    >>> model = NaiveBayes(smoothing="none").fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
    >>> posterior_of(model, [["crisp"]]), [round(p, 4) for p in posterior_of(model, [["dull"]])]
    ((1.0, 0.0), [0.5, 0.5])
    """
    joint: Array = used.predict_joint_log_proba(case)
    return None if np.isneginf(joint).all() else tuple(normalize(joint)[0].tolist())


def _lazy(model: NaiveBayes, X: Any, y: Any, weight: Any) -> LazyNaiveBayes:
    return LazyNaiveBayes(**model.get_params(deep=False)).fit(X, y, weight)


# a row goes -------------------------------------------------------------------------------------------------------


def without_rows(
    model: GenerativeClassifier, X: Any, y: Any, rows: Any, sample_weight: Any = None
) -> GenerativeClassifier:
    """Another model, from whose statistics the `rows` (positions, or a slice) of its table X, y are taken away. Nothing
    is counted again, but where a difference has too few digits: there the rows that stay are.

    Raises NotASubset where a row was never counted.
    """
    weight = None if sample_weight is None else np.asarray(sample_weight)
    stay = np.delete(np.arange(len(X)), rows)
    with listen():
        less = model.with_params()
        try:
            return less.forget(*_some(X, y, weight, rows))
        except PrecisionLost:
            return less._settle(less._counted_alone(*_some(X, y, weight, stay)))


def _some(X: Any, y: Any, weight: Array | None, rows: Any) -> tuple[Any, Any, Array | None]:
    """These rows (positions, or a slice) of a table."""
    return X.iloc[rows], y.iloc[rows], None if weight is None else weight[rows]


class Without(NamedTuple):
    """P(c|case) (C,) when rows are gone: by `incremental`, the counts less theirs; `lazy`, the rows that are left;
    `compiled` anew; and `stale`, the table compiled when they were there. None where there is none."""

    incremental: tuple[float, ...] | None
    lazy: tuple[float, ...] | None
    compiled: tuple[float, ...] | None
    stale: tuple[float, ...] | None


def each_without(
    model: NaiveBayes, X: Any, y: Any, rows: Sequence[int], case: Any, sample_weight: Any = None
) -> Without:
    """What each mode of use says of a case when `rows` of the table X, y are gone.

    >>> X, y = pd.DataFrame({"sound": ["dull", "crisp", "dull"]}), pd.Series(["good", "bad", "bad"])
    >>> without = each_without(NaiveBayes().fit(X, y), X, y, [2], X[:1])
    >>> [round(p[0], 6) for p in without]
    [0.333333, 0.333333, 0.333333, 0.6]
    """
    weight = None if sample_weight is None else np.asarray(sample_weight)
    gone = list(rows)
    less: Any = without_rows(model, X, y, gone, weight)
    with listen():
        lazy = _lazy(model, X, y, weight).forget(*_some(X, y, weight, gone))
        used = (less, lazy, LookUp.of(less), LookUp.of(model))
        return Without(*(posterior_of(one, case) for one in used))


def moved_numbers(before: SufficientStatistics, after: SufficientStatistics) -> pd.DataFrame:
    """The numbers kept that differ between two statistics of one table, one a row: column (None: the class), entry
    ("count", "missing", and of a column of numbers "n", "mean" and "squares", the sum of squared deviations), level,
    class, before, after."""
    classes = before.target.levels
    moved: list[tuple[Any, ...]] = []

    def put(column: str | None, entry: str, level: Any, old: Array, new: Array) -> None:
        moved.extend(
            (column, entry, level, c, float(a), float(b)) for c, a, b in zip(classes, old, new, strict=True) if a != b
        )

    put(None, "count", None, before.class_weight, after.class_weight)
    for variable in before.schema:
        if variable.name in before.counts.tables:
            old, new = before.counts.tables[variable.name], after.counts.tables[variable.name]
            for s, level in enumerate((None, *variable.levels)):
                put(variable.name, "count" if s else "missing", level, old[:, s], new[:, s])
        elif variable.name in before.moments.names:
            j = before.moments.names.index(variable.name)
            a, b = before.moments, after.moments.rebased(before.moments.pivot)
            put(variable.name, "n", None, a.weight[:, j], b.weight[:, j])
            put(variable.name, "mean", None, a.pivot[j] + a.mean[:, j], a.pivot[j] + b.mean[:, j])
            put(variable.name, "squares", None, a.m2[:, j], b.m2[:, j])
    names = ["column", "entry", "level", "class", "before", "after"]
    return pd.DataFrame(moved, columns=names, dtype=object).astype({"before": float, "after": float})


# the work ---------------------------------------------------------------------------------------------------------


def work(costs: Sequence[Cost], ratios: Sequence[float]) -> tuple[str, dict[ModeOfUse, list[float]]]:
    """By mode, the work of one update and r predictions for every r in `ratios`; and its unit: "s" where all was
    measured, otherwise "steps", cells read, entries estimated and terms added together."""
    measured = all(cost.seconds is not None for cost in costs)

    def of(cost: Cost) -> float:
        return float(cost.seconds or 0.0) if measured else float(cost.read + cost.entries + cost.additions)

    work_of = {(cost.mode, cost.moment): of(cost) for cost in costs}
    return (
        "s" if measured else "steps",
        {mode: [work_of[mode, "update"] + r * work_of[mode, "predict"] for r in ratios] for mode in MODES_OF_USE},
    )
