"""The working of AODE: each super-parent's model as a derivation, and the mean of them that is the joint.

P(c, x) = 1/m Σ_i P(c, x_i) Π_{j≠i} P(x_j | c, x_i) over the m super-parents that take part (Zhou, eq. 7.23–7.25).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row
from bayes_engine.factors.sources import Fraction, Source
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.inference.averaged import AveragedFactor, Member
from bayes_engine.ledger import Ledger, prior_shift
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.models.aode import AODE
from bayes_engine.table.encode import Table
from bayes_engine.workbench.derivation.derive import Cell, Working, class_order, derive_from, in_order


@dataclass(frozen=True)
class SuperParent:
    """One column as the parent of all others: its `cell` in the case, how many rows have it, and whether it takes part
    in the mean or why not. `log_joint` (−inf where it does not) and `share` q_i(c) = P(i | x, c) by class."""

    cell: Cell
    frequency: float
    why: Literal["takes part", "missing", "rare"]
    log_joint: tuple[float, ...]
    share: tuple[float, ...]

    @property
    def name(self) -> str:
        return self.cell.variable.name

    @property
    def joint(self) -> tuple[float, ...]:
        """P(c, x_i) Π_{j≠i} P(x_j | c, x_i) for each class."""
        return tuple(exp(np.array(self.log_joint)).tolist())


@dataclass(frozen=True)
class Mean:
    """All super-parents of a case, in the order of the table, and the mean of those that take part.

    `threshold` is m′; without any that takes part the joint is that of naive Bayes.
    """

    classes: tuple[Any, ...]
    parents: tuple[SuperParent, ...]
    threshold: float
    log_joint: tuple[float, ...]

    @property
    def active(self) -> tuple[SuperParent, ...]:
        """Those that take part."""
        return tuple(p for p in self.parents if p.why == "takes part")

    @property
    def joint(self) -> tuple[float, ...]:
        """p(c, x) = 1/m Σ_i joint_i for each class."""
        return tuple(exp(np.array(self.log_joint)).tolist())

    @property
    def weightiest(self) -> SuperParent | None:
        """The one with the largest share in the likeliest class; None where none takes part."""
        k = max(range(len(self.classes)), key=lambda k: self.log_joint[k])
        return max(self.active, key=lambda p: p.share[k], default=None)


def average(
    model: AODE,
    case: pd.DataFrame,
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
) -> Mean:
    """The super-parents of a case (a frame of one row) and their mean.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> mean = average(AODE().fit(X, y), X.iloc[[0]], classes=["是", "否"])
    >>> [round(p, 8) for p in mean.joint], mean.weightiest.name
    ([0.01815394, 0.00069165], '根蒂')
    """
    table, factor, order, shift = _read(model, case, prior_of_use, classes)
    joints, active = factor.joints(table, _log_prior(factor))
    total = log_sum(joints[:, 0], axis=0) if active.any() else np.zeros(len(order))
    q = exp(joints[:, 0] - np.where(np.isfinite(total), total, 0.0))
    members = []
    for i, member in enumerate(factor.members):
        place, variable = int(member.domain.places(table)[0]), member.domain.variable
        value = variable.levels[place] if 0 <= place < len(variable.levels) else None
        why: Literal["takes part", "missing", "rare"] = "takes part"
        if not active[i, 0]:
            why = "missing" if place < 0 else "rare"
        raw = case[variable.name].iloc[0] if variable.cuts is not None and variable.name in case.columns else None
        members.append(SuperParent(
            Cell(variable, value, raw),
            float(member.frequency[place]) if place >= 0 else 0.0,
            why,
            in_order(joints[i, 0] + shift, order),
            in_order(q[i], order),
        ))  # fmt: skip
    joint = total - np.log(active.sum()) if active.any() else factor.log(table)[0]
    log_joint = in_order(joint + shift, order)
    labels = model.classes_.tolist()
    return Mean(tuple(labels[k] for k in order), tuple(members), factor.min_frequency, log_joint)


def derive_member(
    model: AODE,
    case: pd.DataFrame,
    super_parent: str | None,
    loss: LossMatrix | None = None,
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
) -> Working:
    """The working of one super-parent's model: P(c, x_i) first, then P(x_j | c, x_i) of every other known column; with
    None that of naive Bayes, which judges a case without a super-parent.

    Raises ParameterError where the column is no super-parent of this case: it is missing there, or numeric.
    """
    table, factor, _order, _shift = _read(model, case, prior_of_use, classes)
    if super_parent is None:
        rows, sources = list(factor.naive.rows(table)), list(factor.naive.origins(table))
    else:
        member = next((m for m in factor.members if m.name == super_parent), None)
        if member is None or int(member.domain.places(table)[0]) < 0:
            raise ParameterError("column '{column}' is no super-parent of this case", column=super_parent)
        rows, sources = _under(factor, member, table)
    ledger = Ledger(tuple(rows), tuple(model.classes_.tolist()), np.zeros(1, dtype=np.int8))
    ledger = replace(ledger, status=model._status(table, ledger.joint(), None))
    return derive_from(model, ledger, sources, case, loss, prior_of_use, classes)


def _under(
    factor: AveragedFactor, member: Member, table: Table
) -> tuple[list[tuple[Row, Array]], list[tuple[Source, ...]]]:
    """The terms of one super-parent's model, and where they come from."""
    first, target = member.first(table, _log_prior(factor), None)[0], factor.prior.target
    place = int(member.domain.places(table)[0])
    counts = member.counts[:, place] if place < member.domain.size else np.zeros(len(member.counts))
    size, a = member.domain.size, member.alpha
    rows: list[tuple[Row, Array]] = []
    sources: list[tuple[Source, ...]] = []
    if member.given:  # the class prior is not the rows' own: P(c) P(x_i | c)
        rows += list(factor.prior.rows(table))
        sources += list(factor.prior.origins(table))
        rows.append((Row(member.name, member.name, (target,), "log-probability"), first - _log_prior(factor)))
        totals = member.counts.sum(axis=1).tolist()
        sources.append(tuple(
            Fraction(float(n), t, 1.0 if t == 0 == a else a, size) for n, t in zip(counts, totals, strict=True)
        ))  # fmt: skip
    else:
        rows.append((Row(member.name, member.name, (), "log-probability"), first))
        n = float(member.counts.sum())
        sources.append(tuple(Fraction(float(c), n, a, len(counts) * size) for c in counts))
    for family in member.families:
        if bool(family.known(table)[0]):
            kind: Any = "log-density" if family.variable.numeric else "log-probability"
            name = family.variable.name
            rows.append((Row(name, name, (target, member.name), kind), family.term(table, (), None)))
            sources.append(family.sources(table))
    return rows, sources


# as misprinted --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variants:
    """What the sources' printed formulas give instead of the joint, by class: the product over all j, j = i included,
    and the older printings' denominator |D| + S_i."""

    own_included: tuple[float, ...]
    older_denominator: tuple[float, ...]


def as_misprinted(
    model: AODE,
    case: pd.DataFrame,
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
) -> Variants | None:
    """The joints by the misprinted formulas, each over the same super-parents; None where none takes part.

    With j = i the product gains P(x_i|c, x_i) = (n_ci + α)/(n_ci + α S_i); |D| + α S_i stands for |D| + α K S_i.
    """
    table, factor, order, shift = _read(model, case, prior_of_use, classes)
    if not factor.members:
        return None
    joints, active = factor.joints(table, _log_prior(factor))
    there = np.flatnonzero(active[:, 0])
    if not len(there):
        return None
    own, older = joints[there, 0].copy(), joints[there, 0].copy()
    for row, i in enumerate(there):
        member = factor.members[i]
        place = int(member.domain.places(table)[0])
        size, a = member.domain.size, member.alpha
        within = np.zeros_like(member.counts)
        within[:, min(place, size - 1)] = member.counts[:, place] if place < size else 0.0
        itself = TableLeaf(member.domain, factor.prior.target, within, TableRule(a)).log_cpt[:, min(place, size - 1)]
        own[row] += itself
        n, k = float(member.counts.sum()), len(member.counts)
        older[row] += 0.0 if member.given else float(log(n + a * k * size) - log(n + a * size))
    mean = [in_order(exp(log_sum(v, axis=0) - np.log(len(there)) + shift), order) for v in (own, older)]
    return Variants(*mean)


# plumbing -------------------------------------------------------------------------------------------------------


def _read(
    model: AODE, case: pd.DataFrame, prior_of_use: Mapping[Any, float] | None, classes: Sequence[Any] | None
) -> tuple[Table, AveragedFactor, list[int], Array]:
    """The case encoded, the model's factor, the order of classes, and what a prior of use adds to a log joint (C,)."""
    assert isinstance(model.factor_, AveragedFactor)
    labels = model.classes_.tolist()
    order = class_order(labels, classes)
    shift = np.zeros(len(labels))
    if prior_of_use is not None:
        own = model.prior_by_class
        shift = prior_shift([own[c] for c in labels], [prior_of_use[c] for c in labels])
    return model._encode(case), model.factor_, order, shift


def _log_prior(factor: AveragedFactor) -> Array:
    return np.asarray(log(factor.prior.p))[None, :]
