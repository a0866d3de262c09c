"""What the sandbox computes, each answer cached by what it depends on; nothing cached holds words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bayes_engine.decision.decision_boundaries import rounded_boundary_segments
from bayes_engine.language import Message, _
from bayes_engine.models.compared_classifiers import of_levels, of_numbers
from bayes_engine.workbench.laboratory.excess_risk import LearningCurve, fitted_once, learning_curve, sampled_points
from bayes_engine.workbench.laboratory.truth import Risk, bayes_risk
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.views.laboratory.setup import WIDEST, Setup

REPLICATES = 12
"""Samples behind the bars; CURVE behind each point of the learning curve."""
CURVE = 8
GROWTH = tuple(n for n in keys.LAB_N.options if n != 1000)
TALL = 7.0
"""Boundaries are computed this far up and down: as high as the picture ever is."""


def model_name(name: str) -> str:
    """A classifier on screen."""
    return {
        "naive-bayes": _("naive Bayes"),
        "lda": _("LDA"),
        "qda": _("QDA"),
        "logistic": _("logistic regression"),
        "tan": "TAN",
        "aode": "AODE",
    }[name]


def models_of(setup: Setup) -> dict[str, Any]:
    """The classifiers, not fitted."""
    return of_levels() if setup.kind == "table" else of_numbers()


@dataclass(frozen=True, eq=False)
class Sample:
    """The sample that is shown and what was fitted to it: `points` are x, y, class; `lines` the boundaries of each
    model as pieces; `risks` their true risks, NaN where the rows did not determine the model."""

    bayes: Risk
    points: list[list[float]]
    lines: dict[str, list[list[float]]]
    risks: dict[str, float]
    decisions: dict[str, list[int]]


def sample_of(setup: Setup) -> Sample:
    """The Bayes risk, one sample, the models fitted to it."""
    return _sample(setup.key, setup)


def excess_of(setup: Setup) -> LearningCurve:
    """The two parts of the excess risk at n rows; the same for every sample that is shown."""
    return _excess(replace(setup, seed=0).key, setup)


def curve_of(setup: Setup) -> LearningCurve:
    """The same for all sizes."""
    return _curve(replace(setup, seed=0, n=0).key, setup)


@cached(max_entries=64, activity=Message("drawing samples and fitting the models"))
def _sample(key: str, _setup: Setup) -> Sample:
    truth, loss = _setup.truth(), _setup.loss
    fitted = fitted_once(truth, models_of(_setup), loss, _setup.n, _setup.seed)
    lines: dict[str, list[list[float]]] = {}
    if _setup.kind != "table":
        lines = {
            name: rounded_boundary_segments(rule, loss, (-WIDEST, WIDEST), (-TALL, TALL))
            for name, rule in fitted.rules.items()
        }
    return Sample(
        bayes_risk(truth, loss),
        [] if _setup.kind == "table" else sampled_points(fitted, truth),
        lines,
        fitted.risks,
        fitted.decisions,
    )


@cached(max_entries=64, activity=Message("drawing samples and fitting the models"))
def _excess(key: str, _setup: Setup) -> LearningCurve:
    return learning_curve(_setup.truth(), models_of(_setup), _setup.loss, [_setup.n], replicates=REPLICATES, seed=1)


@cached(max_entries=16, activity=Message("drawing samples and fitting the models"))
def _curve(key: str, _setup: Setup) -> LearningCurve:
    return learning_curve(_setup.truth(), models_of(_setup), _setup.loss, GROWTH, replicates=CURVE, seed=1)
