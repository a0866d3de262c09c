"""Gaussian naive Bayes on columns as they are, on their principal axes and on LDA's directions: what each step does to
their correlation within the classes, and to what is decided on rows held out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bayes_engine.covariance import correlations
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.gaussian_naive_bayes import GaussianNB
from bayes_engine.models.projection import (
    LinearMap,
    NumericRows,
    accuracy_and_log_loss,
    lda_map,
    part_of,
    pca_map,
    splits_of,
    standard_map,
)
from bayes_engine.progress import steps

STEPS: Mapping[str, Callable[[NumericRows], LinearMap]] = {
    "raw": standard_map,
    "pca": lambda part: pca_map(part, len(part.names)),
    "lda": lambda part: lda_map(part, None),
}
"""What is done to the columns before naive Bayes reads them; learnt on the rows given."""


class TransformedNaiveBayes(NamedTuple):
    """Gaussian naive Bayes after a step: `columns` it reads, the mean absolute `correlation` of two of them within the
    classes (NaN of one column), and on rows held out its `accuracy` and `log_loss` (nats)."""

    columns: int
    correlation: float
    accuracy: float
    log_loss: float


def transformed_naive_bayes(data: NumericRows) -> tuple[Mapping[str, TransformedNaiveBayes], Message]:
    """Gaussian naive Bayes on the columns as they are ("raw"), turned onto their principal axes ("pca") and onto LDA's
    directions ("lda"); the step is learnt on the training rows alone. And how rows were held out.

    PCA makes columns uncorrelated over all rows, LDA within the classes (on average); naive Bayes asks for
    independence within each class.
    """
    folded, scheme = splits_of(data)
    results = {}
    for step, make in STEPS.items():
        log_p = np.empty((len(data.y), len(data.classes)))
        for train, test in steps(folded):
            part = part_of(data, train)
            fold = make(part)
            log_p[test] = _naive(fold.of(part.X), part).predict_log_proba(fold.of(data.X[test]))
        points = make(data).of(data.X)
        accuracy, log_loss = accuracy_and_log_loss(log_p, data.y, data.weight)
        results[step] = TransformedNaiveBayes(points.shape[1], _correlation(points, data), accuracy, log_loss)
    return results, scheme


def posterior_after_steps(data: NumericRows, x: Sequence[float] | Array) -> Mapping[str, Array]:
    """(C,) P(c|x) of one row `x` (d,) by Gaussian naive Bayes on all rows, after each of the steps of
    `transformed_naive_bayes`.

    >>> rows = np.array([[0.0, 0.1], [1.0, 1.2], [2.0, 1.9], [4.0, 3.0], [5.0, 4.4], [6.0, 5.0]])
    >>> y, one = np.repeat([0, 1], 3), np.ones(6)
    >>> data = NumericRows(("a", "b"), ("p", "q"), rows, y, one, None, np.arange(6), 0)
    >>> {step: p.round(4).tolist() for step, p in posterior_after_steps(data, np.array([3.0, 2.4])).items()}
    {'raw': [0.6554, 0.3446], 'pca': [0.2679, 0.7321], 'lda': [0.002, 0.998]}
    """
    posteriors = {}
    for step, make in STEPS.items():
        seen = make(data)
        posteriors[step] = np.asarray(_naive(seen.of(data.X), data).predict_proba(seen.of(np.asarray([x])))[0])
    return posteriors


def _naive(points: Array, data: NumericRows) -> GaussianNB:
    """Gaussian naive Bayes on the rows turned; every class keeps its column, also where it has no row."""
    return GaussianNB(priors=None).partial_fit(points, data.y, np.arange(len(data.classes)), data.weight)


def _correlation(points: Array, data: NumericRows) -> float:
    """The mean of |r| over the pairs of columns and the classes, each by its weight."""
    pairs = np.triu_indices(points.shape[1], 1)
    if not len(pairs[0]):
        return float("nan")
    sums = weights = 0.0
    for c in range(len(data.classes)):
        own = data.y == c
        if own.sum() > 2:
            w = data.weight[own]
            r = correlations(np.cov(points[own].T, aweights=w, ddof=0))
            sums += float(w.sum() * np.abs(r[pairs]).mean())
            weights += float(w.sum())
    return sums / weights if weights else float("nan")
