"""Quantities of projections: separation along a line, and naive Bayes after PCA or LDA."""

from __future__ import annotations

import numpy as np

from bayes_engine.decision.two_gaussians import boundaries
from bayes_engine.models.transformed_naive_bayes import posterior_after_steps, transformed_naive_bayes
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.lessons.in_use import InUse, number_of_case
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


@quantity
def separation(used: InUse) -> float:
    """J, between-class over within-class scatter, along the line that is shown."""
    projection, angle = used.line
    return projection.along(angle).J


@quantity
def projected_distance(used: InUse, class_: Level) -> float:
    """How far the case is from the mean of a class, both projected onto the line that is shown, in standard deviations
    within the classes."""
    projection, angle = used.line
    rows = projection.numbers
    k = rows.classes.index(among(class_, rows.classes))
    return float(projection.distances(np.array([number_of_case(used, name) for name in rows.names]), angle)[k])


@quantity
def boundary_error(used: InUse, rule: str) -> float:
    """The error rate of "fisher", "lda" or "bayes" on the two known classes."""
    rules = boundaries(used.gaussians)
    return float(getattr(rules, among(rule, ("fisher", "lda", "bayes"))).error)


@quantity
def correlation_within(used: InUse, step: str) -> float:
    """The mean |r| of two columns within the classes: "raw", or after "pca" or "lda"."""
    steps, _scheme = transformed_naive_bayes(used.numbers)
    return steps[among(step, list(steps))].correlation


@quantity
def transformed_posterior(used: InUse, step: str, class_: Level) -> float:
    """P(c|x) of the case by Gaussian naive Bayes on the columns "raw", or after "pca" or "lda"."""
    rows = used.numbers
    posteriors = posterior_after_steps(rows, np.array([number_of_case(used, name) for name in rows.names]))
    return float(posteriors[among(step, list(posteriors))][rows.classes.index(among(class_, rows.classes))])
