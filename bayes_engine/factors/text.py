"""Texts: how often each term stands in one, or whether it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_engine.factors import Factor, Row
from bayes_engine.factors.columns import Terms
from bayes_engine.logspace import Array, log
from bayes_engine.priors import Dirichlet, Smoothing, pseudo_counts, tilt
from bayes_engine.stats.terms import TermCounts
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class TextFactor(Factor):
    """Of a text with n_w times the term w. Multinomial: Σ_w n_w log θ_cw, θ_cw = (N_cw + a)/(N_c + a V); the orderings
    of the words, alike in all classes, are left out. Bernoulli: Σ_w log p_cw over the terms that stand in it and
    log (1 − p_cw) over those that do not, p_cw = (n_cw + a)/(n_c + 2a) of the n_c texts of the class.

    `counts` are the N_cw or n_cw, `added` the a: (C, 1) or (C, V), of a Bernoulli (C, V, 1) or (C, V, 2), absent
    first. Terms outside the vocabulary say nothing, nor does a
    missing text; an empty one is no evidence for a multinomial, and for a Bernoulli that every term is absent. All of a
    text is one row of the ledger; `by_term` opens it.
    """

    variable: Variable
    target: str
    counts: TermCounts
    added: Array

    @property
    def presence(self) -> bool:
        """Whether it asks of each term if it is there, not how often."""
        return self.variable.likelihood == "bernoulli"

    @cached_property
    def terms(self) -> Terms:
        """The factor of the terms, each on its own."""
        names = self.counts.names
        if not self.presence:
            smoothed = self.counts.sums + self.added
            return Terms(self.target, names, log(smoothed) - log(smoothed.sum(axis=1, keepdims=True)))
        there = self.counts.sums + self.added[..., -1]
        not_there = self.counts.absent + self.added[..., 0]
        total = log(there + not_there)
        return Terms(self.target, names, log(there) - total, log(not_there) - total)

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        column = X[self.variable.name]
        if len(column) and column.missing.all():
            return
        name = self.variable.name
        term = self.terms.log(Matrix.of(column.counts))
        yield Row(name, name, (self.target,), "log-probability"), np.where(column.missing[:, None], 0.0, term)

    def by_term(self, X: Table) -> Iterator[tuple[Row, Array]]:
        """The same as a row for each term that stands in one of the texts: "text: word"; and with a Bernoulli one for
        all that do not."""
        column = X[self.variable.name]
        if len(column) and column.missing.all():
            return
        for row, term in self.terms.rows(Matrix.of(column.counts)):
            named = row._replace(name=f"{self.variable.name}: {row.name}", child=self.variable.name)
            yield named, np.where(column.missing[:, None], 0.0, term)


def text_factor(
    variable: Variable, target: str, counts: TermCounts, prior: float | Dirichlet, smoothing: Smoothing
) -> TextFactor:
    """The factor of these counts, smoothed: a multinomial is one distribution over the vocabulary for each class, a
    Bernoulli one over present and absent for each class and term.

    >>> spam = Variable("message", "text", ("free", "hi"), likelihood="multinomial")
    >>> sums = TermCounts(("free", "hi"), np.array([2.0]), np.array([[3.0, 0.0]]))
    >>> text_factor(spam, "spam", sums, 1.0, "all").terms.present.round(4).tolist()
    [[-0.2231, -1.6094]]
    """
    if variable.likelihood != "bernoulli":
        return TextFactor(variable, target, counts, pseudo_counts(counts.sums, prior, smoothing))
    return TextFactor(variable, target, counts, _of_each_term(counts, prior, smoothing))


def _of_each_term(counts: TermCounts, prior: float | Dirichlet, smoothing: Smoothing) -> Array:
    """(C, V, 1) or (C, V, 2): `pseudo_counts` of the V tables (C, 2) of absent and present, all at once."""
    both = np.stack([counts.absent, counts.sums], axis=-1)
    dirichlet = prior if isinstance(prior, Dirichlet) else Dirichlet(prior)
    even = dirichlet.per_level((len(both), 2)) if smoothing != "none" else 0.0
    added = np.full((*both.shape[:-1], 1), even)
    if dirichlet.base == "marginal":
        added = added * tilt(both.sum(axis=0))
    if smoothing == "zero-only":
        added = np.where((both == 0).any(axis=-1, keepdims=True), added, 0.0)
    nothing = (both.sum(axis=-1, keepdims=True) == 0) & (added.sum(axis=-1, keepdims=True) == 0)
    return np.where(nothing, 1.0, added)
