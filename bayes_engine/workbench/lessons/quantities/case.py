"""Quantities of the case: its posterior, the risks and flip margins of its decision, what each column adds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.margins import FlipMargin, flip_margins
from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.ledger import Status, class_position
from bayes_engine.logspace import log
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.modes_of_use import posterior_of, without_rows
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


def _posterior(used: InUse) -> dict[Any, float]:
    ledger = used.ledger
    if ledger.status[0] != Status.OK:
        raise BayesEngineError("this case has no posterior")
    return dict(zip(ledger.classes, ledger.posterior()[0].tolist(), strict=True))


@quantity
def posterior(used: InUse, class_: Level) -> float:
    """P(c|x) of the case, at the prior of use."""
    p = _posterior(used)
    return p[among(class_, list(p))]


@quantity
def risk(used: InUse, decide: Level) -> float:
    """R(a|x) = Σ_j λ_aj P(c_j|x) of an action (Zhou, eq. 7.1)."""
    risks, loss = _risks(used)
    return float(risks[loss.actions.index(among(decide, loss.actions))])


@quantity
def least_risk(used: InUse) -> float:
    """The risk of the decision, the least of all."""
    return float(_risks(used)[0].min())


@quantity
def regret(used: InUse, decide: Level) -> float:
    """R(a|x) − min R(a'|x): how much more risk an action has than the decision of least risk."""
    return risk(used, decide) - least_risk(used)


def _risks(used: InUse) -> tuple[Any, LossMatrix]:
    p, loss = _posterior(used), used.loss
    return loss.risk(np.array([[p[c] for c in loss.classes]]))[0], loss


def _margins(used: InUse) -> Any:
    p, loss = _posterior(used), used.loss
    return flip_margins([p[c] for c in loss.classes], loss, used.prior)


def _end(margin: FlipMargin, now: float) -> float:
    """The end of the interval that is nearest to the present value."""
    return min(
        (end for end in (margin.low, margin.high) if math.isfinite(end)), key=lambda v: abs(v - now), default=math.inf
    )


@quantity
def flip_loss(used: InUse, decide: Level, truth: Level) -> float:
    """The value of λ(decide, truth) at which the decision becomes another."""
    loss, margins = used.loss, _margins(used)
    cell = among(decide, loss.actions), among(truth, loss.classes)
    return _end(margins.losses[cell], loss.cell(*cell))


@quantity
def flip_prior(used: InUse, class_: Level) -> float:
    """The prior of a class at which the decision becomes another."""
    margins = _margins(used)
    label = among(class_, list(margins.priors))
    return _end(margins.priors[label], margins.prior[label])


@quantity
def log_odds(used: InUse, for_: Level, against: Level) -> float:
    """log P(c|x)/P(c'|x), in nats."""
    p = _posterior(used)
    return float(log(np.array(p[among(for_, list(p))])) - log(np.array(p[among(against, list(p))])))


@quantity
def contribution(used: InUse, column: str, for_: Level, against: Level) -> float:
    """What a column adds to the log-odds, in nats."""
    ledger = used.ledger.by_variable()
    rows = [term for row, term in ledger.rows if row.child == column and row.kind != "prior"]
    if not rows:
        raise ParameterError("'{name}' adds nothing here", name=column)
    i, j = (class_position(among(label, ledger.classes), ledger.classes) for label in (for_, against))
    return float(sum(term[0, i] - term[0, j] for term in rows))


@quantity
def log_joint(used: InUse, class_: Level) -> float:
    """log P(c) + Σ_j log P(x_j|c) of the case, in nats, at the prior of use: what is compared in place of a product."""
    ledger = used.ledger
    return float(ledger.joint()[0, class_position(among(class_, ledger.classes), ledger.classes)])


@quantity
def factor(used: InUse, column: str, class_: Level) -> float:
    """The factor of a column in the working: P(x_j|c, parents), or the density p(x_j|c)."""
    return factor_of_case(used.model, used.case, column, class_)


def factor_of_case(model: GenerativeClassifier, case: pd.DataFrame, column: str, class_: Level) -> float:
    worked = derive(model, case)
    k = worked.classes.index(among(class_, worked.classes))
    for step in worked.steps:
        if step.row.child == column and step.row.kind != "prior":
            return step.factors[k]
    raise ParameterError("'{name}' adds nothing here", name=column)


@quantity
def posterior_without(used: InUse, class_: Level) -> float:
    """P(c|x) by the active model, once the rows that are taken away are gone from its statistics."""
    model, rows = used.model, list(used.removed)
    less = without_rows(model, used.X, used.y, rows) if rows else model
    p = posterior_of(less, used.case)
    if p is None:
        raise BayesEngineError("this case has no posterior")
    classes = model.classes_.tolist()
    return float(p[classes.index(among(class_, classes))])
