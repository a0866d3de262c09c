"""The terms of a naive Bayes model's own rows, each without itself: what attribute weights and a choice of columns ask.
scikit-learn would refit once a row.

They come from the statistics without the row, exactly and without a refit, so that no score is too good for rows it has
seen.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from bayes_engine.logspace import Array
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema


class LeftOutTerms(NamedTuple):
    """`log_prior` (n, C) and, for each column by name, `terms` (n, C): log P(c) and log P(x_ij|c) without row i."""

    log_prior: Array
    terms: dict[str, Array]

    def joint(self) -> Array:
        """(n, C) log p(c, x_i) without row i.

        >>> left = LeftOutTerms(np.array([[-1.0, -2.0]]), {"size": np.array([[-0.5, 0.0]])})
        >>> left.joint().tolist()
        [[-1.5, -2.0]]
        """
        return np.asarray(np.sum([self.log_prior, *self.terms.values()], axis=0))


def left_out_terms(model: NaiveBayes, X: Table, labels: Labels) -> LeftOutTerms:
    """The terms of the rows of X (n, d), as `model` encodes them, each without itself: of a row that counts w > 1 times
    one is left out, as if it stood there w times.

    Raises NotASubset where a row was never counted.
    """
    assert labels.codes is not None
    weight = np.ones(X.n) if labels.weight is None else np.minimum(labels.weight, 1.0)
    gone = Labels(labels.n_classes, labels.codes, weight)
    alone = copy.copy(model)  # reads the same statistics, a column at a time
    alone.schema_ = Schema(())
    log_prior = alone._leave_one_out(X, gone)
    alone.priors = "uniform"  # finite: it comes off again
    even = alone._leave_one_out(X, gone)
    terms = {}
    for variable in steps(X.schema):
        alone.schema_ = Schema((variable,))
        terms[variable.name] = alone._leave_one_out(X, gone) - even
    return LeftOutTerms(log_prior, terms)
