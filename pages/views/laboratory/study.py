"""What the sandbox computes, each answer cached by what it depends on; nothing cached holds words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bayes_engine.decision.decision_boundaries import rounded_boundary_segments
from bayes_engine.language import Message, _
from bayes_engine.models.discriminative import of_levels, of_numbers
from bayes_engine.workbench.laboratory.excess_risk import LearningCurve, fitted_once, learning_curve, sampled_points
from bayes_engine.workbench.laboratory.truth import Risk, bayes_risk
from pages.active.sandbox import WIDEST, Setup
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.job_queue import in_worker

REPLICATES = 12
"""Samples behind the bars; CURVE behind each point of the learning curve."""
CURVE = 8
GROWTH = tuple(n for n in keys.LAB_N.options if n != 1000)
TALL = 7.0
"""Boundaries are computed this far up and down: as high as the picture ever is."""


def model_name(name: str) -> str:
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


@cached(max_entries=64, activity=Message("drawing samples and fitting the models"))
def sample_of(setup: Setup) -> Sample:
    """The Bayes risk, one sample, the models fitted to it."""
    truth, loss = setup.truth(), setup.loss
    fitted = fitted_once(truth, models_of(setup), loss, setup.n, setup.seed)
    points, lines = [], {}
    if setup.kind != "table":
        points = sampled_points(fitted, truth)
        lines = {
            name: rounded_boundary_segments(rule, loss, (-WIDEST, WIDEST), (-TALL, TALL))
            for name, rule in fitted.rules.items()
        }
    return Sample(bayes_risk(truth, loss), points, lines, fitted.risks, fitted.decisions)


def excess_of(setup: Setup) -> LearningCurve:
    """The two parts of the excess risk at n rows; the same for every sample that is shown."""
    return _learning_curve(replace(setup, seed=0), (setup.n,), REPLICATES)


def curve_of(setup: Setup) -> LearningCurve:
    """The same for all sizes."""
    return _learning_curve(replace(setup, seed=0, n=0), GROWTH, CURVE)


@cached(max_entries=80, activity=Message("drawing samples and fitting the models"))
def _learning_curve(setup: Setup, sizes: tuple[int, ...], replicates: int) -> LearningCurve:
    truth, models = setup.truth(), models_of(setup)
    return in_worker(learning_curve, truth, models, setup.loss, sizes, replicates=replicates, seed=1)
