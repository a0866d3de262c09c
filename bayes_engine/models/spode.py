"""SPODE: every attribute depends on the class and on one super-parent, chosen by leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from bayes_engine.errors import ParameterError, listen
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.factors.network import HIDDEN
from bayes_engine.inference.spode_scores import EQUAL, scores_left_out
from bayes_engine.logspace import Array, log_normalize
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.priors import dirichlet
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import PairCost
from bayes_engine.stats.labels import Labels
from bayes_engine.structure.chow_liu import ranked
from bayes_engine.structure.dependence import Structure, star
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.matrix import slices
from bayes_engine.table.schema import Schema

STARS = 32
"""So many candidates for the super-parent hold their tables at a time."""


@dataclass(eq=False, repr=False)
class SPODE(SemiNaive):
    """Super-parent one-dependence: P(c, x) = P(c) P(x_p|c) Π_j P(x_j | c, x_p) (Zhou, eq. 7.21, one parent for all).

    super_parent : "loo" (the column under which fewest training rows are wrong when left out, the mean log-loss
        deciding between equals) | the name of a column. The other parameters are those of `SemiNaive`.

    Attributes: `super_parent_`, `candidate_scores_` (with "loo": accuracy and log-loss, in nats, of every candidate by
    leave-one-out: exact where no number is cut, else with the cut points of all rows), and those of
    `GenerativeClassifier`.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xxxxxxxx")})
    >>> model = SPODE().fit(X, list("nyny" * 2))  # the class is whether a and b agree
    >>> model.super_parent_, model.predict(X).tolist() == list("nyny" * 2)
    ('a', True)
    """

    estimation_parameters: ClassVar[frozenset[str]] = SemiNaive.estimation_parameters | {"super_parent"}
    cost: ClassVar[PairCost] = PairCost(cell_bytes=185, pair_bytes=1200, pair_seconds=1.3e-4, row_seconds=3e-8)
    structural: ClassVar[tuple[str, ...]] = ("candidate_scores_",)

    super_parent: str = "loo"

    @property
    def super_parent_(self) -> str | None:
        """The column that all others depend on; None where no column is discrete, or cut: naive Bayes."""
        return self._super_parent(self.stats_.schema)

    def _super_parent(self, schema: Schema) -> str | None:
        discrete = [v.name for v in schema if v.discrete]
        if self.super_parent != "loo":
            if self.super_parent not in discrete:
                raise ParameterError(
                    "super_parent='{name}' is no discrete column; take one of {known}",
                    name=str(self.super_parent),
                    known=", ".join(f"'{n}'" for n in (*discrete, "loo")),
                )
            return self.super_parent
        if not hasattr(self, "candidate_scores_"):
            raise ParameterError("super_parent='loo' needs the rows: name the column, or fit the rows")
        return str(self.candidate_scores_.index[0]) if len(self.candidate_scores_) else None

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        if self.super_parent == "loo":
            self._settle_candidates(stats)
            self.candidate_scores_ = self._scores(self.left_out_sums(X, labels))
        return stats

    def _settle_candidates(self, stats: SufficientStatistics) -> None:
        """Be the statistics alone, with the candidates for the super-parent, none of them chosen."""
        self.candidate_scores_ = pd.DataFrame(index=pd.Index(self._super_parents(stats), name="super_parent"))
        with listen():  # said of the star that is chosen
            self._settle(stats)

    def candidates_of(self, stats: SufficientStatistics) -> Self:
        """A new model of these statistics whose super-parent is still to be chosen: `left_out_sums` of all their rows,
        block by block, and `fit_chosen` with the sum choose it (`bayes_engine.scale.fit_files`)."""
        model = clone(self)
        model._takes(stats)
        model._settle_candidates(stats)
        return model  # type: ignore[no-any-return]

    def fit_chosen(self, hits: Array, gains: Array) -> Self:
        """Choose the super-parent by what `left_out_sums` (2, K) found of all rows, and estimate."""
        self.candidate_scores_ = self._scores(np.stack([hits, gains]))
        return self._of_stats(self.stats_)

    def left_out_sums(self, X: Table, labels: Labels) -> Array:
        """(2, K) of every candidate the weight of the rows that it gets right when left out, and the sum of the log
        posteriors of their classes, in nats; of a row that counts w > 1 times, one is left out, as if it stood there w
        times."""
        names = [str(name) for name in self.candidate_scores_.index]
        whole = LeftOutRows.of(X, labels)
        codes, weight = whole.own, whole.weight
        left = replace(whole, weight=np.minimum(weight, 1.0))
        along = [partial(self._directed, structure=star(self.stats_.schema, name)) for name in names]
        place = {v.name: j for j, v in enumerate(X.schema)}
        fast = self._all_at_once(X, left)
        rows = np.flatnonzero(fast & (weight > 0))
        hits, gains = np.zeros(len(names)), np.zeros(len(names))
        if len(rows):
            rows = rows[np.argsort(codes[rows].astype(code_dtype(labels.n_classes)), kind="stable")]  # by radix
            first = rows[np.unique(codes[rows], return_index=True)[1]]  # all of a class leave the same prior
            prior = dict(zip(codes[first].tolist(), self._prior_without(left.take(first)), strict=True))
            own_weight = None if labels.weight is None else weight[rows]
            for some in slices(len(names), STARS):  # the tables of all at once would be d times those of the pairs
                stars = {place[names[i]]: along[i](self.stats_) for i in range(some.start, some.stop)}
                hits[some], gains[some] = scores_left_out(X.take(rows), left.take(rows), prior, stars, own_weight)
        slow = np.flatnonzero(~fast & (weight > 0))
        for i, (name, anew) in enumerate(steps(zip(names, along, strict=True), len(names))):
            domain, others = self._domain(self.stats_, self.stats_.schema[name]), slow
            if not domain.all_levels(X):
                others = np.flatnonzero((~fast | (domain.places(X) == HIDDEN)) & (weight > 0))
            if len(others):
                part, gone, own = X.take(others), left.take(others), (np.arange(len(others)), codes[others])
                log_prior = self._prior_without(gone)
                log_posterior = log_normalize(self._without_one(part, gone, log_prior, anew(self.stats_), anew))
                largest = log_posterior >= log_posterior.max(axis=1, keepdims=True) - EQUAL
                right = (largest.argmax(axis=1) == own[1]) & ~np.isneginf(log_posterior[own])  # no posterior: wrong
                hits[i] += right @ weight[others]
                gains[i] += log_posterior[own] @ weight[others]
        return np.stack([hits, gains])

    def _scores(self, sums: Array) -> pd.DataFrame:
        """Leave-one-out accuracy and log-loss (nats) of every candidate, the best one first."""
        names, total = [str(name) for name in self.candidate_scores_.index], self.stats_.class_weight.sum()
        hits, gains = sums
        scores = {name: (float(hits[i] / total), -float(gains[i] / total)) for i, name in enumerate(names)}
        losses = {name: -loss for name, (_, loss) in scores.items()}
        by_loss = {name: -k for k, name in enumerate(ranked(losses))}
        order = sorted(scores, key=lambda n: (-round(scores[n][0], 12), -by_loss[n]))
        index = pd.Index(order, name="super_parent")
        return pd.DataFrame([scores[n] for n in order], index=index, columns=["accuracy", "log_loss"])

    def _all_at_once(self, X: Table, left: LeftOutRows) -> NDArray[np.bool_]:
        """(n,) the rows that `scores_left_out` takes: of discrete columns, and with a weight of 1."""
        shared = any(dirichlet(self.alpha, v.name).base == "marginal" for v in X.schema)
        if not X.n or shared or any(not v.discrete for v in X.schema):
            return np.zeros(X.n, dtype=bool)
        return np.asarray((left.weight == 1) & ~self._any_last_missing(X, left.weight))

    def _structure(self, stats: SufficientStatistics) -> Structure:
        parent = self._super_parent(stats.schema)
        return {} if parent is None else star(stats.schema, parent)
