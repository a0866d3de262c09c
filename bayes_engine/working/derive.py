"""The working: one prediction as a derivation, from the counts behind every factor to the posterior.

The numbers are the ledger's own terms, so the slip and the prediction cannot disagree; what is added here is where
each came from: (3+1)/(8+3), or n, mean and squared deviations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.errors import UndefinedPosterior
from bayes_engine.factors import ClassPrior, GaussianFactor, Row, TableFactor, normal_log_density
from bayes_engine.ledger import Ledger, Status
from bayes_engine.logspace import exp, log
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.table.encode import MISSING, Table


@dataclass(frozen=True)
class Fraction:
    """(count + added) / (total + added·levels): where a probability was counted."""

    count: float
    total: float
    added: float
    levels: int

    @property
    def value(self) -> float:
        return (self.count + self.added) / (self.total + self.added * self.levels)


@dataclass(frozen=True)
class Given:
    """A probability that was set (a stated prior, an ignored value), not counted."""

    value: float


@dataclass(frozen=True)
class Density:
    """N(x; mean, variance): the Gaussian fitted to the n values of one class, with their sum of squared deviations.

    `replaced` says that the variance is not this class's own m2/(n − ddof) but the pooled one or the floor.
    """

    x: float
    n: float
    mean: float
    m2: float
    ddof: int
    variance: float
    replaced: bool

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.variance))

    @property
    def value(self) -> float:
        return float(exp(normal_log_density(np.array(self.x), np.array(self.mean), np.array(self.variance))))


Source = Fraction | Given | Density


@dataclass(frozen=True)
class Step:
    """One factor of the product: the ledger row, the case's value, and for each class the factor and its source."""

    row: Row
    value: Any
    factors: tuple[float, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Working:
    """A derivation: `steps` whose factors multiply to `joint` (one number a class); evidence and posterior follow."""

    target: str
    classes: tuple[Any, ...]
    steps: tuple[Step, ...]
    joint: tuple[float, ...]
    posterior: tuple[float, ...]
    log_joint: tuple[float, ...]

    @property
    def evidence(self) -> float:
        return float(sum(self.joint))


def derive(model: GenerativeClassifier, case: pd.DataFrame) -> Working:
    """The working of one case (a frame of one row).

    Raises UndefinedPosterior where the case has none (an infinite cell); an impossible one still has its factors.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes, PRESETS
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> working = derive(NaiveBayes(**PRESETS["textbook"]).fit(X, y), X.iloc[[0]])
    >>> [round(p, 6) for p in working.posterior]
    [0.001308, 0.998692]
    """
    table = model._encode(case)
    ledger = model.explain(case)
    if ledger.status[0] == Status.REFUSED:
        raise UndefinedPosterior("no working for an infinite cell: {rows}", (0,))
    steps = []
    for part in model.factor_.parts:  # type: ignore[attr-defined]
        for row, term in part.rows(table):
            value = None if row.kind == "prior" else _cell(case, table, row.child)
            factors = tuple(float(p) for p in exp(term[0]))
            steps.append(Step(row, value, factors, sources(part, table, getattr(model, "variance", "mle"))))
    return _closed(model.target_.name, ledger, tuple(steps))


def rows_behind(frame: pd.DataFrame, target: str, step: Step, label: Any) -> pd.DataFrame:
    """The rows of the training table that a factor of class `label` was counted from; for a Gaussian also each value's
    deviation from the mean and its square."""
    mine = frame.loc[frame[target] == label]
    if step.row.kind == "prior":
        return mine
    column = mine[step.row.child]
    if step.row.kind == "log-density":
        known = mine.loc[column.notna()]
        deviation = known[step.row.child].astype(float) - known[step.row.child].astype(float).mean()
        return known.assign(**{"x − x̄": deviation, "(x − x̄)²": deviation**2})
    return mine.loc[column.isna() if pd.isna(step.value) else column == step.value]


def rounded(working: Working, digits: int = 3) -> Working:
    """The same derivation as done by hand: every factor, mean and standard deviation rounded before it is used."""

    def short(source: Source) -> Source:
        if not isinstance(source, Density):
            return source
        sd = round(source.sd, digits)
        return replace(source, mean=round(source.mean, digits), variance=sd**2) if sd > 0 else source

    steps = []
    for step in working.steps:
        shorter = tuple(short(s) for s in step.sources)
        factors = tuple(round(s.value, digits) for s in shorter)
        steps.append(replace(step, sources=shorter, factors=factors))
    joint = np.prod([s.factors for s in steps], axis=0)
    total = joint.sum()
    return replace(
        working,
        steps=tuple(steps),
        joint=tuple(joint.tolist()),
        log_joint=tuple(log(joint).tolist()),
        posterior=tuple((joint / total).tolist()) if total > 0 else tuple(0.0 for _ in joint),
    )


@singledispatch
def sources(factor: Any, X: Table, variance: str) -> tuple[Source, ...]:
    """For each class, where the factor's value for the first row of X came from."""
    raise NotImplementedError(f"{type(factor).__name__} does not say where its numbers come from")


@sources.register
def _(factor: ClassPrior, X: Table, variance: str) -> tuple[Source, ...]:
    n, k = float(factor.weight.sum()), len(factor.p)
    counted = [Fraction(float(w), n, factor.added, k) for w in factor.weight]
    return tuple(
        f if abs(f.value - p) <= 1e-12 else Given(float(p)) for f, p in zip(counted, factor.p, strict=True)
    )


@sources.register
def _(factor: TableFactor, X: Table, variance: str) -> tuple[Source, ...]:
    code = int(X[factor.variable.name][0])
    levels = factor.counts.shape[1]
    missing_level = code == MISSING and factor.missing_is_level
    if code > len(factor.variable.levels) or (code == MISSING and not missing_level):
        return tuple(Given(float(exp(u))) for u in factor.lookup[:, min(code, factor.lookup.shape[1] - 1)])
    counts = factor.counts[:, levels - 1 if missing_level else code - 1]
    return tuple(
        Fraction(float(n), float(total), float(added), levels)
        for n, total, added in zip(counts, factor.counts.sum(axis=1), factor.added[:, 0], strict=True)
    )


@sources.register
def _(factor: GaussianFactor, X: Table, variance: str) -> tuple[Source, ...]:
    x, ddof, m = float(X[factor.variable.name][0]), 1 if variance == "unbiased" else 0, factor.moments
    return tuple(
        Density(x, float(n), float(mean), float(m2), ddof, float(v), bool(r))
        for n, mean, m2, v, r in zip(m.weight, m.mean, m.m2, factor.variance, factor.replaced, strict=True)
    )


def _cell(case: pd.DataFrame, table: Table, name: str) -> Any:
    return case[name].iloc[0] if name in case.columns else case.iloc[0, table.schema.names.index(name)]


def _closed(target: str, ledger: Ledger, steps: tuple[Step, ...]) -> Working:
    joint = ledger.joint()[0]
    return Working(
        target=target,
        classes=ledger.classes,
        steps=steps,
        joint=tuple(exp(joint).tolist()),
        posterior=tuple(ledger.posterior()[0].tolist()),
        log_joint=tuple(joint.tolist()),
    )
