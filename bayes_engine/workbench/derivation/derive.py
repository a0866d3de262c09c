"""The working: one prediction as a derivation, from the counts behind every factor to the decision.

The numbers are the ledger's own terms, so the slip and the prediction cannot disagree; what is added here is where
each came from: (3+1)/(8+3), or n, mean and squared deviations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_engine.decision.loss import Decision, LossMatrix, decide, decide_ledger
from bayes_engine.factors import Row
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.sources import Complement, Estimated, Linear, Power, Shift, Source, Term
from bayes_engine.factors.text import Words
from bayes_engine.inference.averaged import AVERAGE
from bayes_engine.ledger import JOINT, Ledger, Status
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.table.encode import Table, encode_intervals
from bayes_engine.table.schema import Variable

ADDED = ("prior of use", "calibration", AVERAGE)
"""Rows of a ledger that are no factor of the model."""


@dataclass(frozen=True)
class Cell:
    """One cell of the case that a factor speaks of: its column and the value there, of a column of intervals the
    interval (and the number `raw` that lies in it); None for missing."""

    variable: Variable
    value: Any
    raw: Any = None

    def held_by(self, column: pd.Series) -> pd.Series:
        """(n,) which rows have it."""
        if self.value is None:
            return pd.Series(column.isna())
        if self.variable.cuts is None:
            return pd.Series(column == self.value)
        codes, _ = encode_intervals(column, self.variable)
        return pd.Series(codes == 1 + self.variable.levels.index(self.value), index=column.index)


@dataclass(frozen=True)
class WorkingStep:
    """One factor of the product: the ledger row, the case's value, and for each class the factor and its source.

    `given` are the cells of its parents besides the class; `raw` is the number in a column of intervals.
    """

    row: Row
    value: Any
    factors: tuple[float, ...]
    sources: tuple[Source, ...]
    given: tuple[Cell, ...] = ()
    variable: Variable | None = None
    raw: Any = None

    @property
    def joint(self) -> bool:
        """Whether it is P(c, x_i): the first factor under a super-parent of AODE."""
        return not self.row.parents and self.row.kind == "log-probability"

    @property
    def alike(self) -> bool:
        """Whether it is P(x_j | pa) of a column that the class is no parent of: one number for every class."""
        return self.row.kind == "constant" and self.variable is not None

    @property
    def counted(self) -> bool:
        """Whether every number of it was counted from rows (or set): none is an expectation or a mere term."""
        return not any(isinstance(s, Term) and not isinstance(s, Estimated) for s in self.sources)

    @property
    def complement(self) -> bool:
        """Whether it is a score of complement naive Bayes, −log P(x_j | all other classes)."""
        return isinstance(self.sources[0], Complement)

    @property
    def log_factors(self) -> tuple[float, ...]:
        """log of the factors, in nats; of a density also where the factor itself is too small for a float."""
        return tuple(map(self.log_factor, range(len(self.sources))))

    def log_factor(self, k: int) -> float:
        """That of class k alone."""
        source = self.sources[k]
        return source.log_value if isinstance(source, Density | Term) else float(log(self.factors[k]))


@dataclass(frozen=True)
class Omitted:
    """A feature without a factor, and why: its cell is missing, training had one value only, or the model chose others
    (`not kept`)."""

    name: str
    reason: Literal["missing", "constant", "not kept"]


@dataclass(frozen=True)
class Working:
    """A derivation, classes in the order of `classes`: `steps` multiply to `joint`, its sum is the evidence, their
    ratio the posterior; the posterior under `loss` gives the `risk` of each action, the least the decision.

    `position` is the decided action's, −1 where `status` says that there is no posterior (which then is all zeros);
    `digits` is None, or the number of digits every factor was rounded to; `ledger` is what it was derived from;
    `complement` says that its steps are scores by the terms of all other classes, which are added up and calibrated.
    """

    target: str
    classes: tuple[Any, ...]
    steps: tuple[WorkingStep, ...]
    omitted: tuple[Omitted, ...]
    log_joint: tuple[float, ...]
    posterior: tuple[float, ...]
    status: Status
    loss: LossMatrix
    risk: tuple[float, ...]
    position: int
    tied: bool
    ledger: Ledger = field(repr=False, compare=False)
    digits: int | None = None
    complement: bool = False

    @cached_property
    def additive(self) -> bool:
        """Whether its steps are log terms to be added up, none of them (but the prior's) a factor that was counted, and
        not all of them expectations over cells not known."""
        own = [s for s in self.steps if s.row.parents]
        if self.complement:
            return True
        return not any(s.counted for s in own) and any(s.row.kind not in ("expected", "entropy") for s in own)

    @property
    def scores(self) -> bool:
        """Whether the steps multiply to a score rather than to p(c, x): then their sum is no P(x), though each one's
        share of it is the posterior."""
        return self.complement or any(step.row.kind == "score" for step in self.steps)

    @property
    def joint(self) -> tuple[float, ...]:
        """p(c, x) for each class; 0 where it is too small for a float (`log_joint` still has it)."""
        return tuple(exp(np.array(self.log_joint)).tolist())

    @property
    def log_evidence(self) -> float:
        return float(log_sum(np.array(self.log_joint)))

    @property
    def evidence(self) -> float:
        return float(exp(self.log_evidence))

    @cached_property
    def decision(self) -> Decision:
        """What is decided from its ledger under its losses: of a rounded working the decision before rounding."""
        return decide_ledger(self.ledger, self.loss)

    @property
    def action(self) -> Any:
        """The action decided for, None where there is none."""
        return self.loss.actions[self.position] if self.position >= 0 else None

    def under(self, loss: LossMatrix) -> Working:
        """The same working decided under other losses."""
        return _closed(replace(self, loss=loss))


def derive(
    model: GenerativeClassifier | CalibratedClassifier,
    case: pd.DataFrame,
    loss: LossMatrix | None = None,
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
) -> Working:
    """The working of one case (a frame of one row), under `loss` (0-1 by default) and a prior of use, with the classes
    in the order wanted. Never raises for a case without a posterior: the working carries the status.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes, PRESETS
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> working = derive(NaiveBayes(**PRESETS["textbook"]).fit(X, y), X.iloc[[0]], classes=["是", "否"])
    >>> [round(p, 6) for p in working.posterior], working.action
    ([0.998692, 0.001308], '是')
    >>> working.steps[5].sources[0]
    Fraction(count=5.0, total=8.0, added=0.0, levels=3)
    """
    inner = model.estimator_ if isinstance(model, CalibratedClassifier) else model
    ledger, sources = model.explain(case), list(inner.factor_.origins(inner._encode(case)))
    if inner is not model:
        sources.append(tuple(map(Term, ledger.rows[-1][1][0].tolist())))  # log q − log p
    return derive_from(inner, ledger, sources, case, loss, prior_of_use, classes, own=model.prior_by_class)


def derive_from(
    model: GenerativeClassifier,
    ledger: Ledger,
    sources: list[tuple[Source, ...]],
    case: pd.DataFrame,
    loss: LossMatrix | None = None,
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
    own: Mapping[Any, float] | None = None,
) -> Working:
    """The working of a ledger of one row: `sources` are those of its terms, in the model's order of classes; `own` is
    the prior in its posterior, the model's if None."""
    table = model._encode(case)
    if prior_of_use is not None:
        own = model.prior_by_class if own is None else own
        ledger = ledger.at_prior(own, prior_of_use)
        sources = [*sources, tuple(Shift(float(prior_of_use[c]), own[c]) for c in ledger.classes)]
    order = class_order(ledger.classes, classes)

    def step(row: Row, term: Array, source: tuple[Source, ...]) -> WorkingStep:
        factors = (source[k].value if isinstance(source[k], Term) else float(exp(term[0, k])) for k in order)
        given = tuple(_held(case, table, name) for name in row.parents if name in table.schema)
        plain = WorkingStep(row, None, tuple(factors), tuple(source[k] for k in order), given)
        if not _of_column(table, row):
            return plain
        cell = _held(case, table, row.child)
        value = _cell_of(case, table, row.child) if cell.variable.cuts is None else cell.value
        return replace(plain, value=value, variable=cell.variable, raw=cell.raw)

    steps = tuple(step(*own, source) for own, source in zip(ledger.rows, sources, strict=True))
    return _closed(Working(
        target=model.target_.name,
        classes=tuple(ledger.classes[k] for k in order),
        steps=steps,
        omitted=_omitted(model, table, steps),
        log_joint=in_order(ledger.joint()[0], order),
        posterior=in_order(ledger.posterior()[0], order),
        status=Status(int(ledger.status[0])),
        loss=LossMatrix.zero_one([ledger.classes[k] for k in order]) if loss is None else loss,
        risk=(), position=-1, tied=False, ledger=ledger, complement=isinstance(model, ComplementNaiveBayes),
    ))  # fmt: skip


def class_order(own: Sequence[Any], classes: Sequence[Any] | None) -> list[int]:
    """The positions in a model's `own` classes of the classes in the order wanted; None: as they are."""
    return [own.index(c) for c in (own if classes is None else classes)]


def in_order(values: Array, order: Sequence[int]) -> tuple[float, ...]:
    """The values at these positions, as plain numbers."""
    return tuple(float(values[k]) for k in order)


def _of_column(table: Table, row: Row) -> bool:
    """Whether a ledger row speaks of a column of the case: not the prior, nor what all columns share or was added."""
    own = row.kind not in ("prior", "entropy") and (row.kind != "constant" or row.name not in ADDED)
    return own and row.name == row.child in table.schema


def _cell_of(case: pd.DataFrame, table: Table, name: str) -> Any:
    return case[name].iloc[0] if name in case.columns else case.iloc[0, table.schema.names.index(name)]


def _held(case: pd.DataFrame, table: Table, name: str) -> Cell:
    """The level that the case has in a column, None where it has none, and of a column of intervals the number."""
    variable = table.schema[name]
    code = int(table[name][0]) if variable.discrete else 0
    value = variable.levels[code - 1] if 1 <= code <= len(variable.levels) else None
    return Cell(variable, value, None if variable.cuts is None else _cell_of(case, table, name))


def _omitted(model: GenerativeClassifier, table: Table, steps: tuple[WorkingStep, ...]) -> tuple[Omitted, ...]:
    """The columns that no step speaks of; a term over all columns at once speaks of those its factor names."""
    used = {step.row.child for step in steps if step.variable is not None}
    for part in getattr(model.factor_, "parts", ()):
        if any(step.row.parents and step.row.child not in table.schema for step in steps):
            used |= {n for n in getattr(part, "names", ()) if not table.missing(n)[0]}
    others = set(table.schema.names) - set(model.kept_) if isinstance(model, SelectiveNaiveBayes) else set()

    def why(name: str) -> Literal["missing", "constant", "not kept"]:
        return "not kept" if name in others else "missing" if table.missing(name)[0] else "constant"

    return tuple(Omitted(v.name, why(v.name)) for v in table.schema if v.name not in used)


def _closed(working: Working) -> Working:
    """With risk and decision, from the posterior."""
    loss = working.loss.for_classes(working.classes)
    posterior = np.array([working.posterior])
    decision = decide(posterior, loss, np.array([working.status], dtype=np.int8))
    return replace(
        working,
        loss=loss,
        risk=tuple(loss.risk(posterior)[0].tolist()),
        position=int(decision.position[0]),
        tied=bool(decision.tied[0]),
    )


def bare(step: WorkingStep) -> WorkingStep:
    """The step before its column's weight, where it has one: P(x_j|c) rather than P(x_j|c)^w."""
    if not any(isinstance(s, Power) for s in step.sources):
        return step
    plain = tuple(s.base if isinstance(s, Power) else s for s in step.sources)
    return replace(step, sources=plain, factors=tuple(s.value for s in plain))


# rows behind a number -------------------------------------------------------------------------------------------


def rows_behind(frame: pd.DataFrame, target: str, step: WorkingStep, label: Any) -> pd.DataFrame:
    """The rows of the training table that the factor of class `label` was counted from: for a probability the rows of
    the class with the case's value, for a density the rows of the class with a known one, for the prior the class (of
    a class with parents those where they are known); of a column that the class is no parent of from every class; all
    with the case's values in the factor's other parents."""
    mine: pd.DataFrame = frame if step.alike else frame.loc[frame[target] == label]
    if step.variable is None and (step.row.kind in ("prior", "constant") or not step.row.parents):
        for cell in step.given:
            mine = mine[cell.held_by(mine[cell.variable.name])]
        return mine
    column = mine[step.row.child]
    if step.row.kind == "log-density" or (step.variable is not None and not step.variable.discrete):
        counted = column.notna()
    else:
        child = step.variable or Variable(step.row.child, "categorical")
        counted = Cell(child, None if pd.isna(step.value) else step.value).held_by(column)
    for cell in step.given:
        counted &= cell.held_by(mine[cell.variable.name])
    return mine[counted]


def rows_like(X: pd.DataFrame, case: pd.DataFrame) -> list[int]:
    """Positions of the rows of X that hold the same cells as the case (missing like missing).

    >>> rows_like(pd.DataFrame({"x": [1.0, None, 1.0]}), pd.DataFrame({"x": [1.0]}))
    [0, 2]
    """
    same = pd.Series(True, index=X.index)
    for name in X.columns:
        value = case[name].iloc[0]
        same &= X[name].isna() if pd.isna(value) else X[name] == value
    return [int(i) for i in np.flatnonzero(same.to_numpy(dtype=bool))]


def variance_from(step: WorkingStep, k: int) -> Literal["own", "smoothed", "pooled", "replaced"]:
    """What the k-th class's variance is: its own m2/(n − ddof), that of a cell of the parents smoothed by
    pseudo-counts, the classes' together Σm2/(Σn − ddof·K), or neither (the floor, or the whole column's)."""
    density = step.sources[k]
    if isinstance(density, Density) and density.pseudo_counts is not None:
        return "smoothed"
    all_of = [s for s in step.sources if isinstance(s, Density) and s.n > 0 and s.pseudo_counts is None]
    assert isinstance(density, Density)
    left = density.n - density.ddof
    if left > 0 and math.isclose(density.variance, density.m2 / left, rel_tol=1e-9):
        return "own"
    degrees = sum(s.n - s.ddof for s in all_of)
    pooled = sum(s.m2 for s in all_of) / degrees if degrees > 0 else math.nan
    return "pooled" if math.isclose(density.variance, pooled, rel_tol=1e-9) else "replaced"


# by hand --------------------------------------------------------------------------------------------------------


def by_hand(value: float, digits: int = 3) -> float:
    """Rounded as a book rounds: to `digits` decimals, or below 0.01 to `digits` significant digits.

    >>> by_hand(0.57375), by_hand(0.06622), by_hand(1.21518e-09)
    (0.574, 0.066, 1.22e-09)
    """
    return round(value, digits) if abs(value) >= 0.01 or value == 0 else float(f"{value:.{digits - 1}e}")


def rounded(working: Working, digits: int = 3) -> Working:
    """The same derivation as done by hand: every factor, mean and standard deviation rounded before it is used."""

    def short(source: Source) -> Source:
        if isinstance(source, Density):
            return replace(source, mean=by_hand(source.mean, digits), variance=by_hand(source.sd, digits) ** 2)
        if isinstance(source, Linear):
            weight, middle = by_hand(source.weight, digits), by_hand(source.middle, digits)
            return Linear(weight * (source.x - middle), weight, source.x, middle)
        return source

    def known(source: Source, factor: float) -> Source:
        if isinstance(source, Estimated):  # a text's factor may be too small for a float
            return replace(source, log_value=float(log(factor))) if factor > 0 else source
        return Term(float(log(factor))) if isinstance(source, Term) else source

    steps = []
    for step in working.steps:
        shorter = tuple(short(s) for s in step.sources)
        if working.additive:  # the terms are what is rounded
            logs = zip(shorter, step.log_factors, strict=True)
            terms = [Term(round(s.log_value if isinstance(s, Linear) else v, digits)) for s, v in logs]
            shorter = tuple(
                replace(s, log_value=t.log_value) if isinstance(s, Term) else s
                for s, t in zip(shorter, terms, strict=True)
            )
            steps.append(replace(step, sources=shorter, factors=tuple(t.value for t in terms)))
            continue
        values = (s.value if isinstance(s, Density) else f for s, f in zip(shorter, step.factors, strict=True))
        factors = tuple(by_hand(v, digits) for v in values)
        shorter = tuple(known(s, f) for s, f in zip(shorter, factors, strict=True))
        steps.append(replace(step, sources=shorter, factors=factors))
    terms_of = [
        np.array(s.log_factors) if working.additive or isinstance(bare(s).sources[0], Words)
        else log(np.array(s.factors))
        for s in steps
    ]  # fmt: skip
    log_joint = np.sum(terms_of, axis=0)
    status = np.array([working.status], dtype=np.int8)
    if working.status == Status.OK and np.isneginf(log_joint).all():
        status[:] = Status.OUT_OF_RANGE
    again = Ledger(((JOINT, log_joint[None, :]),), working.classes, status)
    return _closed(replace(
        working,
        steps=tuple(steps),
        log_joint=tuple(log_joint.tolist()),
        posterior=tuple(again.posterior()[0].tolist()),
        status=Status(int(status[0])),
        digits=digits,
    ))  # fmt: skip
