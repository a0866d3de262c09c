"""Labels that are known but hidden, to see what naive Bayes with EM makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.em import EMTrace, responsibilities
from bayes_engine.errors import listen
from bayes_engine.factors import Factor
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.factors.leaf import Leaf
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB


def hidden_rows(n: int, share: float, seed: int, flipped: Sequence[int] = ()) -> NDArray[np.bool_]:
    """(n,) which labels are hidden: a `share` of the rows by `seed`, a larger share hiding more of the same, with the
    rows in `flipped` turned over.

    >>> few, more = hidden_rows(10, 0.3, 0), hidden_rows(10, 0.6, 0)
    >>> int(few.sum()), int(more.sum()), bool((few <= more).all()), int(hidden_rows(10, 0.0, 0, [4, 99])[4])
    (3, 6, True, 1)
    """
    hidden = np.zeros(n, dtype=bool)
    hidden[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
    turned = [row for row in flipped if 0 <= row < n]
    hidden[turned] = ~hidden[turned]
    return hidden


@dataclass(frozen=True, eq=False)
class HiddenLabelRun:
    """A run of EM over labels that are known to us but `hidden` (n,) from it; `truth` (n,) are positions in `levels`.

    `named` says whether a class's own rows tell what it is: without a single label classes have no names.
    """

    model: SemiSupervisedNB
    levels: tuple[Any, ...]
    hidden: NDArray[np.bool_]
    truth: NDArray[np.intp]
    notes: tuple[Message, ...]
    _table: Any

    @property
    def trace(self) -> EMTrace[Factor]:
        trace: EMTrace[Factor] = self.model.trace_
        return trace

    @property
    def named(self) -> bool:
        return not self.hidden.all()

    @cached_property
    def _order(self) -> list[int]:
        sorted_levels = self.model.classes_.tolist()
        return [sorted_levels.index(c) for c in self.levels]

    @cached_property
    def shares(self) -> tuple[Array, ...]:
        """(n, C) responsibilities of every step, columns as `levels`."""
        shares = []
        for step in self.trace.steps:
            r = step.responsibilities
            if r is None:  # too large to be kept by the trace
                r = responsibilities(step.parameters.log(self._table), hard=self.trace.hard).responsibilities
            r = r[:, self._order].copy()
            r[~self.hidden] = np.eye(len(self.levels))[self.truth[~self.hidden]]
            shares.append(r)
        return tuple(shares)

    def right(self, step: int) -> int:
        """How many hidden rows have their true class as the likeliest."""
        guess = self.shares[step][self.hidden].argmax(axis=1)
        return int((guess == self.truth[self.hidden]).sum())

    def most_moved(self, most: int) -> NDArray[np.intp]:
        """At most so many hidden rows, those whose responsibilities moved farthest on the whole way; by class, then by
        their place in the table."""
        rows = np.flatnonzero(self.hidden)
        way = np.zeros(len(rows))
        for before, after in pairwise(self.shares):
            way += np.abs(after[rows] - before[rows]).sum(axis=1)
        chosen = rows[np.sort(np.argsort(-way, kind="stable")[:most])]
        return chosen[np.argsort(self.truth[chosen], kind="stable")]

    def normal(self, step: int, column: str) -> tuple[Array, Array] | None:
        """(C,) means and (C,) variances of a numeric column in each class after a step."""
        part = self.trace.steps[step].parameters.part_of(column)
        if part is None or cast(Leaf, part[0]).form != "gaussian":
            return None
        leaf = cast(GaussianLeaf, part[0])
        variance = np.broadcast_to(leaf.variance, leaf.moments.mean.shape)
        return (leaf.moments.pivot + leaf.moments.offset)[self._order], variance[self._order]

    @cached_property
    def weights(self) -> Array:
        """(T, C) the class prior in every step."""
        priors = [cast(ClassPrior, next(s.parameters.leaves())).p for s in self.trace.steps]
        return np.stack(priors)[:, self._order]

    def plane(self, across: str, up: str) -> tuple[Array, Array]:
        """(T, C, 2) means and (T, C, 2, 2) covariances of two numeric columns in every step: within a class they are
        independent."""
        means = np.zeros((len(self.shares), len(self.levels), 2))
        covariances = np.zeros((*means.shape, 2))
        for step in range(len(self.shares)):
            for axis, column in enumerate((across, up)):
                marginal = self.normal(step, column)
                assert marginal is not None
                means[step, :, axis], covariances[step, :, axis, axis] = marginal
        return means, covariances


def run_with_hidden_labels(
    X: pd.DataFrame,
    y: pd.Series,
    hidden: NDArray[np.bool_],
    estimator: NaiveBayes,
    *,
    weight: Array | None = None,
    **parameters: Any,
) -> HiddenLabelRun:
    """Naive Bayes by EM, the labels in `hidden` kept from it. `y` is categorical, its categories all classes;
    `parameters` are SemiSupervisedNB's. Where the labels left make a class collapse at once, raises Collapse.

    >>> X = pd.DataFrame({"mass": [1.0, 5.0, 1.2, 5.5, 0.9, 5.2]})
    >>> y = pd.Series(pd.Categorical(["a", "b", "a", "b", "a", "b"]))
    >>> hidden = np.array([False, False, True, True, True, True])
    >>> study = run_with_hidden_labels(X, y, hidden, NaiveBayes(tied_variance=True))
    >>> study.right(0), study.right(-1)
    (4, 4)
    """
    levels = tuple(y.cat.categories)
    labels = pd.Series(y.to_numpy(dtype=object), name=y.name, dtype=object)
    labels[hidden] = None
    with listen() as warned:
        model = SemiSupervisedNB(estimator, classes=list(levels), **parameters).fit(X, labels, weight)
    notes = tuple(warned)
    inner = model.estimator_
    return HiddenLabelRun(model, levels, hidden, np.asarray(y.cat.codes, dtype=np.intp), notes, inner._encode(X))


def ceiling(X: pd.DataFrame, y: pd.Series, hidden: NDArray[np.bool_], estimator: NaiveBayes) -> int:
    """How many of the hidden rows naive Bayes has right when every label is seen, those rows' own too.

    >>> X = pd.DataFrame({"mass": [1.0, 5.0, 1.2, 5.5]})
    >>> ceiling(X, pd.Series(pd.Categorical(["a", "b", "a", "b"])), np.array([False, False, True, True]), NaiveBayes())
    2
    """
    with listen():
        joint = estimator.fit(X, y).predict_joint_log_proba(X)
    guess = np.asarray(estimator.classes_, dtype=object)[joint.argmax(axis=1)]
    return int((guess[hidden] == y.to_numpy(dtype=object)[hidden]).sum())
