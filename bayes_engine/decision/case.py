"""A case of which some cells are known: its joint with all others integrated out, and what may be answered to each of
the others, as its factor has it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol, cast

import numpy as np
import pandas as pd

from bayes_engine.covariance import inverse_root
from bayes_engine.decision.answer_distributions import (
    Answers,
    AveragedAnswers,
    CountAnswers,
    DensityAnswers,
    GaussianAnswers,
    LevelAnswers,
    shares,
)
from bayes_engine.errors import ParameterError
from bayes_engine.factors.columns import TermColumns
from bayes_engine.factors.joint_multinomial import JOINT_MULTINOMIAL
from bayes_engine.factors.leaf import Leaf, MixtureDensity
from bayes_engine.factors.network import HIDDEN
from bayes_engine.inference.averaged import AveragedFactor
from bayes_engine.inference.directed import integrating
from bayes_engine.ledger import JOINT, Ledger
from bayes_engine.logspace import Array, log, log_sum
from bayes_engine.table.dataframes import as_frame, to_pandas
from bayes_engine.table.encode import Table, encode
from bayes_engine.table.schema import Schema, Variable

TAIL = 45.0
"""Of a count e⁻⁴⁵ = 3·10⁻²⁰ is left out on either side of the counts that are summed, less than a float can tell."""


class Model(Protocol):
    """A fitted generative classifier of this library."""

    schema_: Any
    classes_: Any
    factor_: Any

    @property
    def prior_by_class(self) -> dict[Any, float]: ...

    def explain(self, X: Any, given: Any = None) -> Ledger: ...


def never_asked(variable: Variable) -> bool:
    """Whether the answers to this column cannot be listed with their probabilities."""
    return variable.textual or variable.likelihood == JOINT_MULTINOMIAL


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
        """The features that may be asked, in the table's order: no text, nor a count whose distribution depends on what
        the row counts in all."""
        return tuple(v.name for v in self.schema if v.name not in self.known and not never_asked(v))

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
        offset = 0
        for name in names:
            if name in sizes:
                assert joint is not None
                yield name, LevelAnswers(shares(joint[offset : offset + sizes[name]]), self.schema[name].levels)
                offset += sizes[name]
            else:
                yield name, self._numbers(name)

    def _numbers(self, name: str) -> Answers:
        nothing = LevelAnswers(shares(self.log_joint), (None,))
        part = self.model.factor_.part_of(name)
        if part is None:
            gathered = self.model.factor_.gathers(name)
            if gathered is None:
                return self._curve(name)
            return self._mixed(self.log_joint, *_conditional(self, name)) if gathered else nothing  # nothing: set aside
        leaf, power = part
        if not power:
            return nothing
        counts = leaf.support(TAIL / power)
        if counts is not None:
            return CountAnswers(shares(self.log_joint + power * leaf.at(counts)), counts)
        if power != 1.0:
            return self._curve(name)
        if isinstance(self.model.factor_, AveragedFactor):
            parts = _averaged(self, self.model.factor_, name)
        else:
            parts = _under_parents(self, leaf)
        log_weight, mixtures = parts
        if all(len(m.weight) == 1 for m in mixtures):
            return self._mixed(log_weight, np.concatenate([m.mean for m in mixtures]),
                               np.concatenate([m.sd for m in mixtures]))  # fmt: skip
        return self._bumps(mixtures[0])

    def _mixed(self, log_weight: Array, mean: Array, sd: Array) -> GaussianAnswers:
        """log P(c, m, x), mean and standard deviation (R, C) of the Gaussians that a density is the sum of."""
        log_weight, mean, sd = (np.broadcast_to(a, mean.shape) for a in (log_weight, mean, sd))
        weight = shares(log_weight.ravel())
        owner = np.tile(np.arange(len(self.model.classes_)), len(mean))
        there = weight > 0
        mean, sd = mean.ravel(), sd.ravel()
        return GaussianAnswers(weight[there], mean[there], sd[there], owner[there], len(self.model.classes_))

    def _bumps(self, mix: MixtureDensity) -> GaussianAnswers:
        """A density of many Gaussians, those of each class in its own share."""
        of_class = shares(self.log_joint)[0] / mix.weight.T.sum(axis=1)
        owner, bump = np.nonzero((mix.weight.T > 0) & (of_class > 0)[:, None])
        weight, mean, sd = of_class[owner] * mix.weight[bump, owner], mix.mean[bump, owner], mix.sd[bump, owner]
        if mix.width is None:
            return GaussianAnswers(weight, mean, sd, owner, len(of_class))
        return AveragedAnswers(weight, mean, sd, owner, len(of_class), mix.width)

    def _curve(self, name: str) -> DensityAnswers:
        """The density is found from the middle of the column outwards, by powers of two."""
        middle = float(self.schema[name].pivot)

        def density(x: Array) -> Array:
            return self.ledger([{name: float(v)} for v in x]).joint()

        steps = np.ldexp(max(abs(middle), 1.0), np.arange(-60, 61))
        sides = [log_sum(density(middle + away)) for away in (-steps, steps)]
        log_mass = np.concatenate(sides) + np.tile(log(steps), 2)
        near = np.tile(steps, 2)[log_mass > log_mass.max() - 40.0]
        reach = 2.0 * float(near.max(initial=steps[0]))  # at the next power there is next to none
        return DensityAnswers(density, middle - reach, middle + reach)


def ledger_of(
    model: Model, frame: pd.DataFrame, known: Sequence[frozenset[str]], use: Mapping[Any, float] | None
) -> Ledger:
    """The joint (n, C) of the cells of each row that are known, all others integrated out, at the prior of use."""
    joint, status = np.empty((len(frame), len(model.classes_))), np.zeros(len(frame), dtype=np.int8)
    for given, rows in _together(model, known):
        part = model.explain(frame.iloc[rows], given)
        joint[rows], status[rows] = part.joint(), part.status
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


def case_of(model: Any, X: Any, prior_of_use: Mapping[Any, float] | None) -> Case:
    """X, one row, as a case of the model; what is missing in it is not known."""
    if hasattr(model, "counted"):  # a lazy model would count for every cell that is tried
        model = model.counted()
    row = _one_row(model, X)
    return Case(model, row, frozenset(name for name in row.columns if row[name].notna().iloc[0]), prior_of_use)


def _one_row(model: Model, X: Any) -> pd.DataFrame:
    """X as a frame of one row, its columns those of the model."""
    X = to_pandas(X)
    frame, names = as_frame(X), list(model.schema_.names)
    if any(isinstance(part, TermColumns) for part in model.factor_.leaves()):
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


def _conditional(case: Case, name: str) -> tuple[Array, Array]:
    """Mean and standard deviation (1, C) of x_j given the known x_o within each class, of a joint Gaussian:
    μ_j + Σ_jo Σ_oo⁻¹ (x_o − μ_o) and the root of Σ_jj − Σ_jo Σ_oo⁻¹ Σ_oj."""
    part = next(part for part in case.model.factor_.leaves() if part.gathers(name))
    j = part.names.index(name)
    u = np.array([case.table.columns[k][0] for k in part.columns]) - part.centre
    o = np.flatnonzero(~np.isnan(u))
    shared = part.covariance.ndim == 2
    mean, variance = np.empty((1, len(part.apart))), np.empty((1, len(part.apart)))
    for c, v in enumerate(part.apart):
        if c == 0 or not shared:
            covariance = part.covariance if shared else part.covariance[c]
            whiten = inverse_root(covariance[np.ix_(o, o)]).whiten
            slope = (covariance[j, o] @ whiten) @ whiten.T
            left = max(covariance[j, j] - slope @ covariance[o, j], 1e-12 * covariance[j, j])  # what the others leave
        mean[0, c], variance[0, c] = part.centre[j] + v[j] + slope @ (u[o] - v[o]), left
    return mean, np.sqrt(variance)


def _under_parents(case: Case, leaf: Leaf) -> tuple[Array, list[MixtureDensity]]:
    """log P(c, pa, x) (R, C) for each combination of the parents' cells that are not known, and the densities there."""
    places = [int(d.places(case.table)[0]) for d in leaf.parents]
    free = [range(d.size) if place == HIDDEN else [place] for d, place in zip(leaf.parents, places, strict=True)]
    hidden = [d.variable.name for d, place in zip(leaf.parents, places, strict=True) if place == HIDDEN]
    cells = list(product(*free))
    tried = [
        {d.variable.name: s for d, s in zip(leaf.parents, c, strict=True) if d.variable.name in hidden} for c in cells
    ]
    log_joint = case.ledger(tried).joint() if hidden else case.log_joint
    return log_joint, [cast(MixtureDensity, leaf.mixture(case.table, c)) for c in cells]


def _averaged(case: Case, factor: AveragedFactor, name: str) -> tuple[Array, list[MixtureDensity]]:
    """log P(c, i, x) (R, C) for each super-parent that takes part, and the densities under it."""
    prior = np.broadcast_to(log(factor.prior.p), (1, len(factor.prior.p)))
    joints, active = factor.joints(case.table, prior)
    taking = np.flatnonzero(active[:, 0])
    if not len(taking):
        return _under_parents(case, cast(Leaf, factor.naive.part_of(name)[0]))  # type: ignore[index]
    ledger = Ledger(((JOINT, joints[taking, 0]),), tuple(case.model.classes_.tolist()), np.zeros(len(taking), np.int8))
    if case.use is not None:
        ledger = ledger.at_prior(case.model.prior_by_class, case.use)
    densities = []
    for i in taking:
        leaf = next(f for f in factor.members[i].families if f.variable.name == name)
        densities.append(
            cast(MixtureDensity, leaf.mixture(case.table, [int(d.places(case.table)[0]) for d in leaf.parents]))
        )
    return ledger.joint(), densities
