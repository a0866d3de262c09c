"""Texts: how often each term stands in one, or whether it does; the posterior of the terms' probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from bayes_engine.factors import Row
from bayes_engine.factors.columns import TermColumns
from bayes_engine.factors.leaf import BY_DEFAULT, Estimation, Form, Leaf, LeftOutRows, Numbers, dot
from bayes_engine.factors.posterior import CHUNK, JEFFREYS, Interval, beta_interval, log_gamma
from bayes_engine.factors.sources import Estimated, Fraction, Source, fraction_of
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import log_normalized, pseudo_counts, tilt, where_smoothed
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.terms import TermCounts
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import Variable
from bayes_engine.table.text import TermColumn


class WordTerm(NamedTuple):
    """A term of a text: how many `times` it stands there (0 of a Bernoulli's absent ones), what it adds, in nats, and
    where its probability of standing there was counted."""

    term: str
    times: float
    log_value: float
    source: Fraction


@dataclass(frozen=True)
class Words(Estimated):
    """The product over the terms of a text: `terms` are those that stand in it, first those that differ most between
    the classes; `absent` is what all others add, in nats, where it counts that they do not."""

    terms: tuple[WordTerm, ...]
    absent: float = 0.0


@dataclass(frozen=True)
class TextLeaf(Leaf):
    """Of a text with n_w times the term w. Multinomial: Σ_w n_w log θ_cw, θ_cw = (N_cw + a)/(N_c + a V); the orderings
    of the words, alike in all classes, are left out. Bernoulli: Σ_w log p_cw over the terms that stand in it and
    log (1 − p_cw) over those that do not, p_cw = (n_cw + a)/(n_c + 2a) of the n_c texts of the class.

    `counts` are the N_cw or n_cw, `added` the a: (C, 1) or (C, V), of a Bernoulli (C, V, 1) or (C, V, 2), absent
    first. Terms outside the vocabulary say nothing, nor does a missing text; an empty one is no evidence for a
    multinomial, and for a Bernoulli that every term is absent. All of a text is one row of the ledger; `by_term` opens
    it.
    """

    form: ClassVar[Form] = "text"
    numbers: ClassVar[Numbers] = "terms"
    variable: Variable
    target: str
    counts: TermCounts
    added: Array
    estimation: Estimation = BY_DEFAULT

    @property
    def presence(self) -> bool:
        """Whether it asks of each term if it is there, not how often."""
        return self.variable.likelihood == "bernoulli"

    @cached_property
    def terms(self) -> TermColumns:
        """The factor of the terms, each on its own."""
        names = self.counts.names
        if not self.presence:
            return TermColumns(self.target, names, log_normalized(self.counts.sums + self.added))
        present, absent = self.counts.sums + self.added[..., -1], self.counts.absent + self.added[..., 0]
        total = log(present + absent)
        return TermColumns(self.target, names, log(present) - total, log(absent) - total)

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        column = X[self.variable.name]
        if len(column) and column.missing.all():
            return
        yield self.row, self._of(column)

    def _of(self, column: TermColumn) -> Array:
        return np.where(column.missing[:, None], 0.0, self.terms.log(Matrix.of(column.counts)))

    def known(self, X: Table) -> NDArray[np.bool_]:
        return np.asarray(~X[self.variable.name].missing)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        column = X[self.variable.name]
        if left is None:
            return self._of(column)
        assert left.stats is not None
        counts = left.stats.texts.columns[self.variable.name]
        terms = np.zeros((X.n, len(counts.weight)))
        for i in steps(range(X.n)):
            row = column.counts[[i]]
            one = np.zeros(counts.sums.shape)
            one[left.own[i]] = left.weight[i] * row.toarray()[0]
            mine = np.where(np.arange(len(one)) == left.own[i], left.weight[i], 0.0)
            rest = counts - TermCounts(counts.names, mine, one)
            anew = text_leaf(self.variable, self.target, rest, self.estimation)
            terms[i] = anew.terms.log(Matrix.of(row))[0]
        return terms

    def by_term(self, X: Table) -> Iterator[tuple[Row, Array]]:
        """The same as a row for each term that stands in one of the texts: "text: word"; and with a Bernoulli one for
        all that do not."""
        column = X[self.variable.name]
        if len(column) and column.missing.all():
            return
        for row, term in self.terms.rows(Matrix.of(column.counts)):
            named = row._replace(name=f"{self.variable.name}: {row.name}", child=self.variable.name)
            yield named, np.where(column.missing[:, None], 0.0, term)

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        first = X.take(slice(0, 1))
        ((_row, whole),) = self.rows(first)
        row = first[self.variable.name].counts
        log_p = self.terms.present[:, row.indices] * row.data
        with np.errstate(invalid="ignore"):  # −∞ in every class
            apart = np.nan_to_num(log_p.max(axis=0) - log_p.min(axis=0), nan=0.0, posinf=np.inf)
        loudest = np.argsort(-apart, kind="stable")
        sources: list[Source] = []
        for c, value in enumerate(whole[0].tolist()):
            terms = tuple(
                WordTerm(self.counts.names[v], float(times), float(times * self.terms.present[c, v]),
                         self.term_fraction(c, int(v)))
                for v, times in zip(row.indices[loudest], row.data[loudest], strict=True)
            )  # fmt: skip
            rest = np.setdiff1d(np.arange(len(self.counts.names)), row.indices)
            absent = 0.0 if self.terms.absent is None else float(self.terms.absent[c, rest].sum())
            sources.append(Words(value, terms, absent))
        return tuple(sources)

    def term_fraction(self, c: int, v: int) -> Fraction:
        """Where the probability of the v-th term in the c-th class was counted: among the class's terms, or its
        texts."""
        sums = self.counts.sums[c]
        if self.presence:
            added = np.broadcast_to(self.added, (*self.counts.sums.shape, 2))[c, v]
            return fraction_of(float(sums[v]), float(self.counts.weight[c]), added, 1)
        added = np.broadcast_to(self.added, self.counts.sums.shape)[c]
        return fraction_of(float(sums[v]), float(sums.sum()), added, v)

    def size(self, stats: SufficientStatistics) -> float:
        """The free probabilities: of V terms V − 1 in each class as a multinomial, V as a Bernoulli."""
        return len(self.counts.weight) * (len(self.counts.names) - (not self.presence))

    @property
    def unsmoothed(self) -> bool:
        return bool((self.added.sum(axis=-1) == 0).any())

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        """The words of each class, the orderings left out; of a Bernoulli each term that is there or is not."""
        counts = stats.texts.columns[self.variable.name]
        total = dot(counts.sums, self.terms.present)
        return total if self.terms.absent is None else total + dot(counts.absent, self.terms.absent)

    def log_prior_density(self, added: Any = 0.0) -> float:
        """Dirichlet: Σ a log θ, of a Bernoulli's two levels each."""
        if self.estimation.smoothing != "all":
            return 0.0
        if self.terms.absent is None:
            return dot(np.broadcast_to(self.added, self.counts.sums.shape), self.terms.present)
        added = np.broadcast_to(self.added, (*self.counts.sums.shape, 2))
        return dot(added[..., 1], self.terms.present) + dot(added[..., 0], self.terms.absent)

    def distance(self, other: TextLeaf) -> float:
        return float(np.abs(exp(self.terms.present) - exp(other.terms.present)).max(initial=0.0))

    def posterior(self, target: Variable) -> TextPosterior:
        sums = self.counts.sums
        added = np.full((*sums.shape, 1), JEFFREYS) if self.unsmoothed else self.added
        if self.presence:
            present, other = sums + added[..., -1], self.counts.absent + added[..., 0]
        else:
            present = sums + (added[..., 0] if self.unsmoothed else added)
            other = present.sum(axis=1, keepdims=True) - present
        return TextPosterior(self.variable, self.counts.names, present, np.maximum(other, 0.0), self.presence)


def text_leaf(variable: Variable, target: str, counts: TermCounts, estimation: Estimation) -> TextLeaf:
    """The leaf of these counts, smoothed: a multinomial is one distribution over the vocabulary for each class, a
    Bernoulli one over present and absent for each class and term.

    >>> spam = Variable("message", "text", ("free", "hi"), likelihood="multinomial")
    >>> sums = TermCounts(("free", "hi"), np.array([2.0]), np.array([[3.0, 0.0]]))
    >>> text_leaf(spam, "spam", sums, BY_DEFAULT).terms.present.round(4).tolist()
    [[-0.2231, -1.6094]]
    """
    if variable.likelihood != "bernoulli":
        added = pseudo_counts(counts.sums, estimation.prior, estimation.smoothing)
    else:
        added = _of_each_term(counts, estimation)
    return TextLeaf(variable, target, counts, added, estimation)


def _of_each_term(counts: TermCounts, estimation: Estimation) -> Array:
    """(C, V, 1) or (C, V, 2): `pseudo_counts` of the V tables (C, 2) of absent and present, all at once."""
    both, prior = np.stack([counts.absent, counts.sums], axis=-1), estimation.prior
    added = np.full((*both.shape[:-1], 1), prior.per_level((len(both), 2)))
    if prior.base == "marginal":
        added = added * tilt(both.sum(axis=0))
    return where_smoothed(both, added, estimation.smoothing)


@dataclass(frozen=True)
class TextPosterior:
    """The terms of a text: `present` and `other` (C, V) are the parameters of each term's Beta. With `presence` it is
    that the term stands in a text, each by itself; else that a word of a text is this one, all being one Dirichlet."""

    variable: Variable
    terms: tuple[str, ...]
    present: Array
    other: Array
    presence: bool

    @property
    def mean(self) -> Array:
        """(C, V) what the smoothed estimate is."""
        return self.present / (self.present + self.other)

    @property
    def variance(self) -> Array:
        """(C, V) m(1 − m)/(A + 1)."""
        return self.mean * (1.0 - self.mean) / (self.present + self.other + 1.0)

    def interval(self, level: float = 0.95) -> Interval:
        """The probability of each term: quantiles of its Beta, exact."""
        return beta_interval(self.present, self.other, level)

    def _text(self, X: Table) -> Array:
        """(V,) how often each term stands in the text; 1 for once and more where presence counts."""
        times = np.asarray(X[self.variable.name].counts.toarray()[0], dtype=float)
        return (times > 0).astype(float) if self.presence else times

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C) log P of the text in n draws; of a Dirichlet the terms that stand in it, and the rest as one."""
        times = self._text(X)
        there = np.flatnonzero(times)
        if not self.presence:
            own = log_gamma(self.present[:, there], n, rng)
            rest = self.present.sum(axis=1) - self.present[:, there].sum(axis=1)
            total = log_sum(np.concatenate([own, log_gamma(np.maximum(rest, 0.0), n, rng)[..., None]], axis=-1))
            return np.asarray(own @ times[there] - times.sum() * total)
        log_p = np.zeros((n, len(self.present)))
        asked, not_asked = (
            np.where(times > 0, a, b) for a, b in ((self.present, self.other), (self.other, self.present))
        )
        for part in steps(np.array_split(np.arange(len(times)), max(1, asked.size * n // CHUNK))):
            own = log_gamma(asked[:, part], n, rng)
            log_p += (own - log_sum(np.stack([own, log_gamma(not_asked[:, part], n, rng)]), axis=0)).sum(axis=-1)
        return log_p

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(text|c_i) − log P(text|c_j), exact: of a Dirichlet's or of Betas' logarithms."""
        times, present, whole = self._text(X), self.present[[i, j]], (self.present + self.other)[[i, j]]
        if self.presence:
            asked = np.where(times > 0, present, self.other[[i, j]])
            mean = (digamma(asked) - digamma(whole)).sum(axis=1)
            return float(mean[0] - mean[1]), float((polygamma(1, asked) - polygamma(1, whole)).sum())
        there, n, total = times > 0, times.sum(), whole[:, 0]
        mean = digamma(present[:, there]) @ times[there] - n * digamma(total)
        variance = polygamma(1, present[:, there]) @ times[there] ** 2 - n**2 * polygamma(1, total)
        return float(mean[0] - mean[1]), float(variance.sum())
