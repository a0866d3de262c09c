"""A case of which some cells are known: its joint with all others integrated out, and what may be answered to each of
the others, as its factor has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np
import pandas as pd

from bayes_engine.covariance import inverse_root
from bayes_engine.decision.answers import Answers, Averages, Counts, Curve, Gaussians, Levels, shares
from bayes_engine.errors import ParameterError
from bayes_engine.factors import ClassPrior, Factor, GaussianFactor, Product, TableFactor
from bayes_engine.factors.columns import Terms
from bayes_engine.factors.gaussian import LinearFactor, QuadraticFactor
from bayes_engine.factors.kernel import KernelFactor
from bayes_engine.factors.poisson import PoissonFactor
from bayes_engine.factors.text import TextFactor
from bayes_engine.inference.averaged import Averaged
from bayes_engine.inference.directed import HIDDEN, Directed, GaussianFamily, integrating
from bayes_engine.ledger import JOINT, Ledger
from bayes_engine.logspace import Array, log, log_sum
from bayes_engine.table.encode import Table, as_frame, encode
from bayes_engine.table.schema import Schema, Variable

TAIL = 45.0
"""Of a count e⁻⁴⁵ = 3·10⁻²⁰ is left out on either side of the counts that are summed, less than a float can tell."""
MOST_COUNTS = 2**20
"""Of more counts than this every second, third, … is taken: their standard deviations are then some 10⁴ counts."""


class Model(Protocol):
    """A fitted generative classifier of this library."""

    schema_: Any
    classes_: Any
    factor_: Any

    @property
    def prior_by_class(self) -> dict[Any, float]: ...

    def explain(self, X: Any, given: Any = None) -> Ledger: ...


Cells = Mapping[str, int | float]
"""Cells that are tried: of a discrete column the place among its levels (beyond them: missing), else a number."""


@dataclass(frozen=True)
class Case:
    """A row (1, d) of which the columns `known` are known; `use` is the prior of use, None for the model's own."""

    model: Model
    row: pd.DataFrame
    known: frozenset[str]
    use: Mapping[Any, float] | None

    @property
    def schema(self) -> Schema:
        schema: Schema = self.model.schema_
        return schema

    @property
    def open(self) -> tuple[str, ...]:
        """The features that may be asked, in the table's order: no text."""
        return tuple(v.name for v in self.schema if v.name not in self.known and not v.textual)

    def ledger(self, tried: Sequence[Cells]) -> Ledger:
        """The joint (n, C) of the known cells with those of `tried`, all others integrated out, at the prior of use."""
        return ledger_of(self.model, self._frame(tried), [self.known.union(cells) for cells in tried], self.use)

    def _frame(self, tried: Sequence[Cells]) -> pd.DataFrame:
        places = [0] * len(tried)
        columns = {
            v.name: self.row[v.name].iloc[places].reset_index(drop=True)
            if v.name in self.known
            else _column(v, [cells.get(v.name) for cells in tried])
            for v in self.schema
        }
        return pd.DataFrame(columns)

    @cached_property
    def table(self) -> Table:
        """The known cells, encoded, all others integrated out."""
        unseen = getattr(self.model, "unseen", "ignore")
        return integrating(encode(self._frame([{}]), self.schema, unseen=unseen), self.known)

    @cached_property
    def log_joint(self) -> Array:
        """(1, C) of the known cells alone."""
        return self.ledger([{}]).joint()

    def answers(self, names: Sequence[str]) -> Iterator[tuple[str, Answers]]:
        """What may be answered to each of these questions; the levels of all discrete ones in one go."""
        sizes = {name: len(self.schema[name].levels) for name in names if self.schema[name].discrete}
        joint = self.ledger([{name: s} for name, size in sizes.items() for s in range(size)]).joint() if sizes else None
        at = 0
        for name in names:
            if name in sizes:
                assert joint is not None
                yield name, Levels(shares(joint[at : at + sizes[name]]), self.schema[name].levels)
                at += sizes[name]
            else:
                yield name, self._numbers(name)

    def _numbers(self, name: str) -> Answers:
        part, power = self._part(name)
        chosen = self.schema[name].likelihood is not None and isinstance(self.model.factor_, Product)
        if (part is None and chosen) or not power:  # set aside
            return Levels(shares(self.log_joint), (None,))
        if isinstance(part, PoissonFactor):
            counts = _counts(part.rate, power)
            return Counts(shares(self.log_joint + power * part.at(counts)), counts)
        if isinstance(part, KernelFactor) and power == 1.0:
            return self._bumps(part)
        try:
            found = _gaussians(self, name)
        except NotImplementedError:
            return self._curve(name)
        if found is None:  # a column that the model has set aside
            return Levels(shares(self.log_joint), (None,))
        log_weight, mean, variance = (np.broadcast_to(a, found[1].shape).ravel() for a in found)
        weight = shares(log_weight)
        owner = np.tile(np.arange(len(self.model.classes_)), len(found[1]))
        there = weight > 0
        sd = np.sqrt(variance)
        return Gaussians(weight[there], mean[there], sd[there], owner[there], len(self.model.classes_))

    def _part(self, name: str) -> tuple[Any, float]:
        """The factor that a column has to itself and, where it is weighted, its weight; None if it has none."""
        for part in _leaves(self.model.factor_):
            own = getattr(part, "part", part)
            variable = getattr(own, "variable", None)
            if variable is not None and variable.name == name:
                return own, 1.0 if own is part else float(part.weight)  # type: ignore[attr-defined]
        return None, 1.0

    def _bumps(self, part: KernelFactor) -> Gaussians:
        """The bumps of a kernel density, those of each class in its own share."""
        of_class = shares(self.log_joint)[0] / part.weight.sum(axis=1)
        owner, at = np.nonzero((part.weight > 0) & (of_class > 0)[:, None])
        weight, mean, sd = of_class[owner] * part.weight[owner, at], part.points[at], part.bandwidth[owner]
        if part.precision is None:
            return Gaussians(weight, mean, sd, owner, len(of_class))
        return Averages(weight, mean, sd, owner, len(of_class), part.precision)

    def _curve(self, name: str) -> Curve:
        """The density is found from the middle of the column outwards, by powers of two."""
        middle = float(self.schema[name].pivot)

        def at(x: Array) -> Array:
            return self.ledger([{name: float(v)} for v in x]).joint()

        steps = np.ldexp(max(abs(middle), 1.0), np.arange(-60, 61))
        heard = np.concatenate([log_sum(at(middle - steps)), log_sum(at(middle + steps))]) + np.tile(log(steps), 2)
        loud = np.tile(steps, 2)[heard > heard.max() - 40.0]
        reach = 2.0 * float(loud.max(initial=1.0))  # at the next power nothing is heard any more
        return Curve(at, middle - reach, middle + reach)


def ledger_of(
    model: Model, frame: pd.DataFrame, known: Sequence[frozenset[str]], use: Mapping[Any, float] | None
) -> Ledger:
    """The joint (n, C) of the cells of each row that are known, all others integrated out, at the prior of use."""
    joint, status = np.empty((len(frame), len(model.classes_))), np.zeros(len(frame), dtype=np.int8)
    for given, rows in _together(model, known):
        found = model.explain(frame.iloc[rows], given)
        joint[rows], status[rows] = found.joint(), found.status
    ledger = Ledger(((JOINT, joint),), tuple(model.classes_.tolist()), status)
    return ledger.at_prior(model.prior_by_class, use)


def _together(model: Model, known: Sequence[frozenset[str]]) -> Iterator[tuple[frozenset[str], list[int]]]:
    """Rows that can be explained at once, with the columns that are given. Where a missing cell is a level of its own,
    that must be said of each row; elsewhere a missing cell is integrated out of itself."""
    if getattr(model, "missing", "") != "category":
        yield frozenset(model.schema_.names), list(range(len(known)))
        return
    groups: dict[frozenset[str], list[int]] = {}
    for i, given in enumerate(known):
        groups.setdefault(given, []).append(i)
    yield from groups.items()


def _counts(rate: Array, weight: float) -> Array:
    """The counts within which Poisson distributions of these rates (C,), to the power of a weight, lie but for e^−TAIL:
    Bernstein's inequality, P(|k − λ| ≥ t) ≤ 2 exp(−t²/(2(λ + t/3))).

    >>> _counts(np.array([0.0]), 1.0).tolist() == list(range(31))
    True
    """
    needed = TAIL / weight
    reach = needed / 3.0 + np.sqrt(needed**2 / 9.0 + 2.0 * needed * rate)
    low, high = np.maximum(np.floor(rate - reach), 0.0), np.ceil(rate + reach)
    step = np.ceil((high - low + 1.0).sum() / MOST_COUNTS)
    return np.unique(np.concatenate([np.arange(a - a % step, b + 1.0, step) for a, b in zip(low, high, strict=True)]))


def case_of(model: Any, X: Any, prior_of_use: Mapping[Any, float] | None) -> Case:
    """X, one row, as a case of the model; what is missing in it is not known."""
    if hasattr(model, "counted"):  # a lazy model would count for every cell that is tried
        model = model.counted()
    row = _one_row(model, X)
    return Case(model, row, frozenset(name for name in row.columns if row[name].notna().iloc[0]), prior_of_use)


def _one_row(model: Model, X: Any) -> pd.DataFrame:
    """X as a frame of one row, its columns those of the model."""
    frame, names = as_frame(X), list(model.schema_.names)
    if any(isinstance(part, Terms) for part in _leaves(model.factor_)):
        raise ParameterError("a model that counts terms has no questions to ask: its cells are words, not features")
    if len(frame) != 1:
        raise ParameterError("a question is asked of one row; X has {n}", n=len(frame))
    if not isinstance(X, pd.DataFrame) and frame.shape[1] == len(names):
        return frame.set_axis(names, axis=1)
    for name in names:
        if name not in frame.columns:
            raise ParameterError("X has no column '{column}'; leave its cell missing to have it asked", column=name)
    return frame[names]


def _column(variable: Variable, cells: Sequence[int | float | None]) -> pd.Series:
    """The cells of one column that are tried; None is missing."""
    if not variable.discrete:
        return pd.Series([math.nan if cell is None else cell for cell in cells], dtype=float)
    size = len(variable.levels)
    codes = [int(cell) if cell is not None and cell < size else -1 for cell in cells]
    if variable.cuts is None:
        return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(variable.levels, dtype=object)))
    beyond = math.nextafter(variable.cuts[-1], math.inf) if variable.cuts else variable.pivot
    inside = [*variable.cuts, beyond, math.nan]  # a cut point belongs to the interval that it ends
    return pd.Series([inside[code] for code in codes], dtype=float)


def _gaussians(case: Case, name: str) -> tuple[Array, Array, Array] | None:
    """log P(c, m, x) (R, C), mean and variance (R, C) of the Gaussians that a number's density is the sum of: one a
    class, and one more for each combination of the parents that are not known, or for each super-parent. None where
    the model has no term for the column; raises NotImplementedError where it is no such sum."""
    factor = case.model.factor_
    if isinstance(factor, Averaged):
        return _averaged(case, factor, name)
    if isinstance(factor, Directed):
        return _directed(case, factor, name)
    for part in _leaves(factor):
        if isinstance(part, GaussianFactor) and part.variable.name == name:
            return case.log_joint, (part.moments.pivot + part.moments.offset)[None], part.variance[None]
        if isinstance(part, LinearFactor | QuadraticFactor):
            return (case.log_joint, *_conditional(case, part, name)) if name in part.names else None
    if all(isinstance(part, _OF_ONE_COLUMN) for part in _leaves(factor)):
        return None
    raise NotImplementedError


_OF_ONE_COLUMN = (ClassPrior, GaussianFactor, TableFactor, KernelFactor, PoissonFactor, TextFactor)


def _conditional(case: Case, part: LinearFactor | QuadraticFactor, name: str) -> tuple[Array, Array]:
    """Mean and variance (1, C) of x_j given the known x_o within each class: μ_j + Σ_jo Σ_oo⁻¹ (x_o − μ_o) and
    Σ_jj − Σ_jo Σ_oo⁻¹ Σ_oj."""
    j = part.names.index(name)
    u = np.array([case.table.columns[k][0] for k in part.columns]) - part.centre
    o = np.flatnonzero(~np.isnan(u))
    shared = isinstance(part, LinearFactor)
    mean, variance = np.empty((1, len(part.apart))), np.empty((1, len(part.apart)))
    for c, v in enumerate(part.apart):
        if c == 0 or not shared:
            covariance = part.covariance if shared else part.covariance[c]
            whiten = inverse_root(covariance[np.ix_(o, o)]).whiten
            slope = (covariance[j, o] @ whiten) @ whiten.T
            left = max(covariance[j, j] - slope @ covariance[o, j], 1e-12 * covariance[j, j])  # what the others leave
        mean[0, c], variance[0, c] = part.centre[j] + v[j] + slope @ (u[o] - v[o]), left
    return mean, variance


def _directed(case: Case, factor: Directed, name: str) -> tuple[Array, Array, Array] | None:
    family = next((f for f in factor.families if f.variable.name == name), None)
    if family is None:
        return None
    assert isinstance(family, GaussianFamily)
    places = [int(d.places(case.table)[0]) for d in family.parents]
    free = [range(d.size) if place == HIDDEN else [place] for d, place in zip(family.parents, places, strict=True)]
    hidden = [d.variable.name for d, place in zip(family.parents, places, strict=True) if place == HIDDEN]
    cells = list(product(*free))
    tried = [
        {d.variable.name: s for d, s in zip(family.parents, at, strict=True) if d.variable.name in hidden}
        for at in cells
    ]
    log_joint = case.ledger(tried).joint() if hidden else case.log_joint
    mean, variance = (np.stack([_cell(table, at) for at in cells]) for table in family.gaussians)
    return log_joint, family.variable.pivot + mean, variance


def _averaged(case: Case, factor: Averaged, name: str) -> tuple[Array, Array, Array] | None:
    prior = np.broadcast_to(log(factor.prior.p), (1, len(factor.prior.p)))
    joints, active = factor.joints(case.table, prior)
    taking = np.flatnonzero(active[:, 0])
    if not len(taking):
        return _directed(case, factor.naive, name)
    ledger = Ledger(((JOINT, joints[taking, 0]),), tuple(case.model.classes_.tolist()), np.zeros(len(taking), np.int8))
    if case.use is not None:
        ledger = ledger.at_prior(case.model.prior_by_class, case.use)
    means, variances = [], []
    for i in taking:
        family = next((f for f in factor.members[i].families if f.variable.name == name), None)
        if family is None:
            return None
        assert isinstance(family, GaussianFamily)
        at = [int(d.places(case.table)[0]) for d in family.parents]
        mean, variance = (_cell(table, at) for table in family.gaussians)
        means.append(family.variable.pivot + mean)
        variances.append(variance)
    return ledger.joint(), np.stack(means), np.stack(variances)


def _cell(table: Array, at: Sequence[int]) -> Array:
    """(C,) what stands in a table (C, S_p, …) at these places of the parents."""
    for place in at:
        table = table[:, place]
    return table


def _leaves(factor: Factor) -> Iterator[Factor]:
    if isinstance(factor, Product):
        for part in factor.parts:
            yield from _leaves(part)
    else:
        yield factor
