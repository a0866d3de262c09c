"""Posteriors over a plane of two features, for drawing decision regions: the others integrated out, or held fixed."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row
from bayes_engine.ledger import CALIBRATION, Ledger, Status
from bayes_engine.logspace import Array, normalize
from bayes_engine.progress import steps
from bayes_engine.table.encode import positions
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.roles import put
from bayes_engine.table.schema import Level, Schema, Variable

MOST_LEVELS = 100
"""A side of the plane has no more levels than this, the most frequent ones: bands that nobody could tell apart."""

MOST_NUMBERS = 4_000_000
"""Posteriors kept of a plane, and log terms computed at once: 32 MB of each."""


SEPARATE = frozenset({"log-probability", "log-density", "score"})
"""Kinds of a log term that is of one column given the class alone, where that is its one parent."""


class Explains(Protocol):
    """A fitted classifier of this library."""

    def explain(self, X: Any, given: Collection[str] | None = None) -> Ledger: ...


@dataclass(frozen=True)
class Axis:
    """One side of the plane: a numeric feature from `low` to `high`, or the `levels` of a discrete one. Of a feature
    that `counts` only whole numbers have a probability: the plane has a step for each, from k − ½ to k + ½. `of` is how
    many levels there are, where not all of them are on the side."""

    name: str
    levels: tuple[Level, ...] = ()
    low: float = 0.0
    high: float = 1.0
    counts: bool = False
    of: int = 0

    def ticks(self, n: int) -> list[Any]:
        """The values at which the plane is computed: all levels, or `n` numbers at the middle of equal steps, of counts
        the whole numbers nearest to them.

        >>> Axis("calls", low=-0.5, high=2.5, counts=True).ticks(6)
        [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
        """
        if self.levels:
            return list(self.levels)
        step = (self.high - self.low) / n
        middles = [self.low + step * (i + 0.5) for i in range(n)]
        return [self.nearest(v) for v in middles]

    def nearest(self, place: float) -> float:
        """The number at a place on this side: of counts the whole number whose step it is on.

        >>> Axis("calls", low=-0.5, high=2.5, counts=True).nearest(1.6), Axis("mass").nearest(1.6)
        (2.0, 1.6)
        """
        return max(float(math.floor(place + 0.5)), 0.0) if self.counts else place

    def position(self, value: Any) -> float | None:
        """Where a value stands on this side: the number itself, or the number of its level from 0; None if missing."""
        if pd.isna(value) or (self.levels and value not in self.levels):
            return None
        return float(self.levels.index(value)) if self.levels else float(value)


@dataclass(frozen=True)
class Plane:
    """P(c|x) over a grid: `posterior` (rows of y, columns of x, C), y upwards; `status` (rows, columns)."""

    x: Axis
    y: Axis | None
    classes: tuple[Any, ...]
    posterior: Array
    status: NDArray[np.int8]


def axis_of(variable: Variable, column: pd.Series) -> Axis:
    """The range to draw: the data's, with a margin of 6 % on each side; of a column whose likelihood is of counts from
    half a count below the least to half a count above the greatest. Of more than MOST_LEVELS levels the most frequent,
    in their order. Raises ParameterError on a text, which is no axis.

    >>> calls = Variable("calls", "count", likelihood="poisson")
    >>> axis_of(calls, pd.Series([1, 4, None]))
    Axis(name='calls', levels=(), low=0.5, high=4.5, counts=True, of=0)
    """
    if variable.kind == "text":
        raise ParameterError("column '{column}' is a text, which is no axis of a plane", column=variable.name)
    if variable.discrete:
        levels = variable.levels
        if len(levels) <= MOST_LEVELS:
            return Axis(variable.name, levels)
        met = positions(column, levels)
        often = np.sort(np.argsort(-np.bincount(met[met >= 0], minlength=len(levels)), kind="stable")[:MOST_LEVELS])
        return Axis(variable.name, tuple(levels[i] for i in often), of=len(levels))
    values = column.dropna().astype(float)
    low, high = float(values.min()), float(values.max())
    if traits(variable).whole:
        return _of_counts(Axis(variable.name, low=low, high=high))
    margin = 0.06 * (high - low) or abs(low) * 0.1 or 1.0
    return Axis(variable.name, low=low - margin, high=high + margin)


def _of_counts(axis: Axis) -> Axis:
    low, high = max(math.floor(axis.low + 0.5), 0), max(math.floor(axis.high + 0.5), 0)
    return replace(axis, low=low - 0.5, high=high + 0.5, counts=True)


def _as_read(model: Any, axis: Axis) -> Axis:
    """The axis as the model reads it: a number that it counts has steps."""
    schema: Schema | None = getattr(getattr(model, "estimator_", model), "schema_", None)
    counted = schema is not None and axis.name in schema and traits(schema[axis.name]).whole
    return _of_counts(axis) if counted and not axis.counts else axis


def posterior_plane(
    model: Explains,
    schema: Schema,
    x: Axis,
    y: Axis | None,
    fixed: Mapping[str, Any] | None = None,
    size: int = 200,
) -> Plane:
    """The posterior over the plane of features `x` and `y` (`size` steps a numeric side).

    The other features are integrated out exactly (generative models can), or held at their values in `fixed`. An axis
    of numbers that the model counts becomes one of counts. Where there are so many classes that the plane
    would hold more than MOST_NUMBERS posteriors, its numeric sides have fewer steps; blocks of cells bound the rest.
    """
    x, y = _as_read(model, x), None if y is None else _as_read(model, y)
    names = [axis.name for axis in (x, y) if axis is not None]
    given = names if fixed is None else None
    levels = {v.name: pd.CategoricalDtype(list(v.levels)) for v in schema.features if v.discrete}

    first = np.zeros(1, dtype=np.intp)

    def explained(cells: Mapping[str, tuple[Sequence[Any], NDArray[np.intp]]], n: int) -> Ledger:
        """Of n cells: the values of a side, and which of them each cell has. Numbers come as the matrix they are."""
        numeric = [v.name for v in schema.features if v.numeric]
        numbers, others = np.empty((len(numeric), n)), {}
        place = dict(zip(numeric, numbers, strict=True))
        for variable in schema.features:
            name = variable.name
            values, which = cells.get(name, ([None if fixed is None else fixed.get(name)], first))
            if variable.numeric:
                place[name][:] = np.array(values, dtype=float)[which]
            elif variable.discrete:
                codes = positions(values, variable.levels)[np.broadcast_to(which, n)]
                others[name] = pd.Categorical.from_codes(codes, dtype=levels[name])
            else:
                others[name] = np.array(values, dtype=object)[np.broadcast_to(which, n)]
        frame = pd.DataFrame(numbers.T, columns=numeric, copy=False)
        if others:
            frame = put(frame, others)[list(schema.features.names)]
        return model.explain(frame, given)

    one = explained({axis.name: (axis.ticks(1), first) for axis in (x, y) if axis is not None}, 1)
    classes = one.classes
    size = min(size, max(math.isqrt(MOST_NUMBERS // len(classes)), 2))
    across, up = x.ticks(size), [None] if y is None else y.ticks(size)
    n, wide = len(across) * len(up), len(across)
    if y is not None and all(_stands_alone(row) or row.kind == "constant" for row, _term in one.rows):
        places = np.arange(max(wide, len(up)))
        along = explained({x.name: (across, places[:wide]), y.name: (up, 0 * places[:wide])}, wide)
        upwards = explained({x.name: (across, 0 * places[: len(up)]), y.name: (up, places[: len(up)])}, len(up))
        separate = _from_lines(along, upwards, x.name, y.name)
        if separate is not None:
            return Plane(x, y, classes, separate, np.zeros(separate.shape[:2], dtype=np.int8))
    posterior, status = np.empty((n, len(classes))), np.empty(n, dtype=np.int8)
    block = max(MOST_NUMBERS // (len(classes) * max(len(names if given else schema.features), 1)), 1)
    for start in steps(range(0, n, block)):
        cell = np.arange(start, min(start + block, n))
        cells = {x.name: (across, cell % wide)}
        if y is not None:
            cells[y.name] = up, cell // wide
        ledger, rows = explained(cells, len(cell)), slice(start, start + len(cell))
        posterior[rows], status[rows] = ledger.posterior(), ledger.status
    shape = (len(up), len(across))
    return Plane(x, y, classes, posterior.reshape(*shape, -1), status.reshape(shape))


def _from_lines(along: Ledger, upwards: Ledger, x: str, y: str) -> Array | None:
    """(rows of y, columns of x, C) the posteriors over a plane from those on two of its lines, `along` x and `upwards`:
    where every column has a log term of its own, as in naive Bayes, the joint is a sum of terms of x alone, of y alone
    and of neither; what all classes share, as LDA's distance from the mean, is left out. None where another term is of
    several columns, or a cell has no posterior."""
    if [row for row, _term in along.rows] != [row for row, _term in upwards.rows]:
        return None
    total: Array | None = None
    for (row, of_x), (_row, of_y) in zip(along.rows, upwards.rows, strict=True):
        if row.kind == "constant" and not row.parents and row != CALIBRATION and _shared(of_x) and _shared(of_y):
            continue
        if not _stands_alone(row):
            return None
        term = of_x[None] if row.child == x else of_y[:, None] if row.child == y else of_x[None, :1]
        with np.errstate(over="ignore"):
            total = term if total is None else total + term
    if total is None or (along.status != Status.OK).any() or (upwards.status != Status.OK).any():
        return None
    if np.isneginf(total).all(axis=2).any():
        return None
    posterior = normalize(total.reshape(-1, total.shape[2])).reshape(total.shape)
    return np.broadcast_to(posterior, (len(upwards.status), len(along.status), total.shape[2]))


def _stands_alone(row: Row) -> bool:
    """Whether a log term is of one column alone, given the class, or the class prior."""
    of_one = row.kind in SEPARATE and row.name == row.child and len(row.parents) == 1
    return of_one or (row.kind == "prior" and not row.parents)


def _shared(term: Array) -> bool:
    """Whether a log term (n, C) is the same in all classes."""
    return bool((term == term[:, :1]).all())


def scatter(frame: pd.DataFrame, x: Axis, y: Axis | None, *, most: int) -> tuple[list[float], list[float], list[int]]:
    """Positions of the rows on the plane, and which rows they are: a random sample of at most `most` of those with both
    cells on it. On a side with levels they are spread inside the level's band; without a `y` side, over its height."""
    rng = np.random.default_rng(0)
    sides = [axis for axis in (x, y) if axis is not None]
    there = frame[[axis.name for axis in sides]].notna().all(axis=1).to_numpy()
    for axis in sides:
        if axis.of:
            there = there & (positions(frame[axis.name], axis.levels) >= 0)
    known = np.flatnonzero(there)
    rows = np.sort(rng.choice(known, most, replace=False)) if len(known) > most else known
    places = []
    for axis in sides:
        column = frame[axis.name].iloc[rows]
        if axis.levels:
            places.append(positions(column, axis.levels) + rng.uniform(-0.36, 0.36, len(rows)))
        else:
            places.append(column.to_numpy(dtype=float))
    if y is None:
        places.append(rng.uniform(-0.36, 0.36, len(rows)))
    return places[0].tolist(), places[1].tolist(), rows.tolist()


def posteriors_in(ledger: Ledger, order: Sequence[int]) -> list[list[float]]:
    """The posteriors of the rows with the classes in this order, to six digits, so that they can be sent as text; an
    empty list where there is none.

    >>> from bayes_engine.ledger import JOINT
    >>> ledger = Ledger(((JOINT, np.log([[0.1, 0.3]])),), ("bad", "good"), np.zeros(1, dtype=np.int8))
    >>> posteriors_in(ledger, [1, 0])
    [[0.75, 0.25]]
    """
    fine, posterior = ledger.status == Status.OK, ledger.posterior()[:, list(order)].tolist()
    return [[float(f"{p:.6g}") for p in row] if known else [] for known, row in zip(fine, posterior, strict=True)]


def costlier(
    decided: Sequence[int], truth: Sequence[int], loss: Array, by_amount: Any = None, amount: Sequence[float] = ()
) -> list[int]:
    """The rows whose decision costs more than the best one for their class would: positions `decided` among the actions
    and `truth` among the classes of `loss` (A, K), −1 where there is none. Each at its `amount` where that multiplies
    some cells alone (`by_amount` (A, K)); one that multiplies all of them changes no order.

    >>> costlier([0, 1, 2, -1], [0, 0, 1, 1], np.array([[0, 1], [1, 0], [0.2, 0.2]]))
    [1, 2]
    """
    action, label = np.array(decided, dtype=int), np.array(truth, dtype=int)
    judged = np.flatnonzero((action >= 0) & (label >= 0))
    costs = loss[:, label[judged]]
    if by_amount is not None and len(amount):
        costs = np.where(np.asarray(by_amount)[:, label[judged]], costs * np.asarray(amount)[judged], costs)
    return [int(i) for i in judged[costs[action[judged], np.arange(len(judged))] > costs.min(axis=0)]]


def differing(frame: pd.DataFrame, names: Collection[str], case: Mapping[str, Any]) -> list[int]:
    """Which rows have another value than the case in a column that is not among `names`.

    >>> differing(pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}), ["a"], {"a": 1, "b": "v"})
    [0]
    """
    differs = np.zeros(len(frame), dtype=bool)
    for name in frame.columns.difference(list(names)):
        cells, value = frame[name], case[name]
        differs |= (cells.notna() if pd.isna(value) else (cells != value) | cells.isna()).to_numpy(dtype=bool)
    return [int(i) for i in np.flatnonzero(differs)]
