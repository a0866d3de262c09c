"""What the three modes of use cost: a look-up table, lazy estimation, counts kept up to date. They give the same
posteriors; they differ in when the work is done, and in what is kept."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from sklearn.base import clone

from bayes_engine.errors import listen
from bayes_engine.models.lazy import LazyNaiveBayes, StoredRows
from bayes_engine.models.look_up import LookUp, tables_of
from bayes_engine.models.naive_bayes import NaiveBayes

ModeOfUse = Literal["look-up", "lazy", "incremental"]
Moment = Literal["fit", "update", "predict"]
MODES_OF_USE: tuple[ModeOfUse, ...] = ("look-up", "lazy", "incremental")
MOMENTS: tuple[Moment, ...] = ("fit", "update", "predict")


class Cost(NamedTuple):
    """One mode of use at one moment: cells of rows `read`, the class being one; table `entries` estimated, a logarithm
    each; `additions` of log terms; `bytes` kept when it is over; `seconds` where they were measured."""

    mode: ModeOfUse
    moment: Moment
    read: int
    entries: int
    additions: int
    bytes: int
    seconds: float | None = None


def costs(
    model: NaiveBayes, X: Any, y: Any, *, sample_weight: Any = None, measure: bool = False, repeats: int = 5
) -> tuple[Cost, ...]:
    """What the rows X (n, d), y (n,), with which `model` was fitted, cost in each mode: all of them at the fit, one
    more at an update, one at a prediction.

    With n rows, d columns, K classes and T entries of all tables (K(S_j + 2) a discrete column, 3K a Gaussian), counted
    and not measured:

    - look-up: the fit reads n(d + 1) cells and estimates T + K entries; a table has no counts, so an update is a fit of
      n + 1 rows; a prediction adds Kd terms and estimates nothing.
    - lazy: the fit reads nothing; an update stores one row; a prediction reads n(d + 1) cells, and estimates T + K.
    - incremental: the fit as above, the counts kept; an update reads d + 1 cells and estimates anew, T + K; a
      prediction as from the look-up table.

    With `measure` each is done `repeats` times, with cells that are encoded already, and the median is given. The model
    is left as it is. Raises ParameterError where a column's likelihood has no table.

    >>> X, y = [["dull", "a"], ["crisp", "a"], ["dull", "b"]], ["good", "bad", "bad"]
    >>> for cost in costs(NaiveBayes().fit(X, y), X, y):
    ...     print(cost.mode, cost.moment, cost.read, cost.entries, cost.additions, cost.bytes)
    look-up fit 9 18 0 144
    look-up update 12 18 0 144
    look-up predict 2 0 4 144
    lazy fit 0 0 0 30
    lazy update 3 0 0 40
    lazy predict 9 18 4 30
    incremental fit 9 18 0 256
    incremental update 3 18 0 256
    incremental predict 2 0 4 256
    """
    model = model.counted() if isinstance(model, LazyNaiveBayes) else model
    table = LookUp.of(model)
    K, d = len(table.classes), len(table.columns)
    n = len(X)
    entries = K + sum(c.table.size if hasattr(c, "table") else 3 * K for c in table.columns)
    with listen():  # what it has to tell the model has told
        lazy = LazyNaiveBayes(**model.get_params(deep=False)).fit(X, y, sample_weight)
    stored: Any = lazy.stats_
    assert isinstance(stored, StoredRows)
    kept = {"look-up": table.nbytes, "lazy": stored.nbytes, "incremental": table.nbytes + counts_bytes(model)}
    row = -(-stored.nbytes // n)
    everything, one = n * (d + 1), d + 1
    reckoned = {
        ("look-up", "fit"): (everything, entries, 0, 0),
        ("look-up", "update"): (everything + one, entries, 0, 0),
        ("look-up", "predict"): (d, 0, K * d, 0),
        ("lazy", "fit"): (0, 0, 0, 0),
        ("lazy", "update"): (one, 0, 0, row),
        ("lazy", "predict"): (everything, entries, K * d, 0),
        ("incremental", "fit"): (everything, entries, 0, 0),
        ("incremental", "update"): (one, entries, 0, 0),
        ("incremental", "predict"): (d, 0, K * d, 0),
    }
    seconds = _measured(model, X, y, sample_weight, repeats) if measure else {}
    return tuple(
        Cost(mode, moment, read, taken, added, kept[mode] + more, seconds.get((mode, moment)))
        for mode in MODES_OF_USE
        for moment in MOMENTS
        for read, taken, added, more in [reckoned[mode, moment]]
    )


def counts_bytes(model: NaiveBayes) -> int:
    """The memory of the counts and moments of a fitted model.

    >>> counts_bytes(NaiveBayes().fit([["dull"], ["crisp"]], ["good", "bad"]))
    64
    """
    stats = model.stats_
    tables, moments = stats.counts.tables.values(), stats.moments
    return int(
        stats.class_weight.nbytes
        + sum(table.nbytes for table in tables)
        + sum(a.nbytes for a in (moments.pivot, moments.weight, moments.mean, moments.m2))
    )


def _measured(model: NaiveBayes, X: Any, y: Any, sample_weight: Any, repeats: int) -> dict[tuple[str, str], float]:
    """Median seconds of every mode at every moment, on these rows and their first. Encoding cells is the same in every
    mode, and not timed."""
    frame, labels, target = model._read(X, y, sample_weight, model.target_, reset=False)
    rows = model._table(frame, model.schema_, unseen="error", missing=model.missing)
    one, of_one = rows.take(slice(0, 1)), labels.take(slice(0, 1))
    log_prior, columns = tables_of(model.factor_, model.schema_)
    table = LookUp(model.schema_, model.target_, log_prior, columns, model.missing, model.unseen)
    eager, lazy = clone(model), LazyNaiveBayes(**model.get_params(deep=False))
    actions: dict[tuple[str, str], Callable[[], Any]] = {
        ("look-up", "fit"): lambda: tables_of(model._estimate(model._count(rows, labels, target)), model.schema_),
        ("look-up", "update"): lambda: tables_of(model._estimate(model._count(rows, labels, target)), model.schema_),
        ("look-up", "predict"): lambda: table._joint(one),
        ("lazy", "fit"): lambda: lazy._settle(lazy._count(rows, labels, target)),
        ("lazy", "update"): lambda: lazy._settle(lazy.stats_ + lazy._count(one, of_one, target)),
        ("lazy", "predict"): lambda: lazy.factor_.log(one),
        ("incremental", "fit"): lambda: eager._settle(eager._count(rows, labels, target)),
        ("incremental", "update"): lambda: eager._settle(eager.stats_ + eager._count(one, of_one, target)),
        ("incremental", "predict"): lambda: eager.factor_.log(one),
    }
    with listen():
        seconds = {key: timeit.repeat(action, number=1, repeat=repeats) for key, action in actions.items()}
    return {key: statistics.median(each) for key, each in seconds.items()}
