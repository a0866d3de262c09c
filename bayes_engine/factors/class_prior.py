"""P(c), and P(c | pa(c)) of a network in which the class has parents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from bayes_engine.factors import Factor, Row, RowKind
from bayes_engine.factors.leaf import Domain, Leaf, LeftOutRows, cells_of, dot, less_weight
from bayes_engine.factors.posterior import JEFFREYS
from bayes_engine.factors.sources import Fraction, Given, Source
from bayes_engine.factors.table import DirichletPosterior, rest_likelihood, table_likelihood
from bayes_engine.logspace import Array, exp, log
from bayes_engine.priors import log_smoothed
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable


@dataclass(frozen=True)
class ClassPrior(Factor):
    """log P(c); `p` (C,), `weight` (C,) the counts it came from, `added` what smoothing put on each."""

    target: str
    p: Array
    weight: Array
    added: float

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        yield Row(self.target, self.target, (), "prior"), np.broadcast_to(log(self.p), (X.n, len(self.p)))

    def gathers(self, column: str) -> bool | None:
        return False

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        yield self.sources(X)

    def sources(self, X: Table) -> tuple[Source, ...]:
        """For each class, where its probability came from."""
        n, k = float(self.weight.sum()), len(self.p)
        counted = [Fraction(float(w), n, self.added, k) for w in self.weight]
        return tuple(
            f if n > 0 and abs(f.value - p) <= 1e-12 else Given(float(p)) for f, p in zip(counted, self.p, strict=True)
        )

    def posterior(self, target: Variable) -> ClassPosterior:
        added = self.added if self.added > 0 else JEFFREYS
        return ClassPosterior(Domain(target), (), self.weight[None, :], np.full((1, len(self.p)), added))

    @property
    def unsmoothed(self) -> bool:
        return self.added <= 0

    @property
    def free(self) -> int:
        return len(self.weight) - 1

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        return dot(stats.class_weight, log(self.p))

    def largest_log_likelihood(self, stats: SufficientStatistics) -> float:
        return table_likelihood(self.weight)

    def log_prior_density(self, added: Any = 0.0) -> float:
        return self.added * float(log(self.p).sum()) if self.added else 0.0

    def distance(self, other: ClassPrior) -> float:
        return float(np.abs(self.p - other.p).max(initial=0.0))


@dataclass(frozen=True)
class ConditionalPrior(Leaf):
    """log P(c | pa = s) = log (n_cs + a) − log (n_s + a K): the class as a child of columns.

    `counts` (C, S_p, …) by place; a as in `TableLeaf`. Where a parent has an unseen value that is smoothed, the
    class's own frequencies stand, smoothed likewise.
    """

    variable: Variable
    counts: Array
    alpha: float
    parents: tuple[Domain, ...] = ()

    @property
    def target(self) -> str:  # type: ignore[override]
        return self.variable.name

    @property
    def of_class(self) -> bool:
        return False

    @property
    def kind(self) -> RowKind:
        return "prior"

    def part_of(self, column: str) -> None:
        return None

    @cached_property
    def log_cpt(self) -> Array:
        """(C, S_p, …) log conditional probabilities."""
        return self._estimated(self.counts, self.counts.sum(axis=0))

    @cached_property
    def lookup(self) -> Array:
        """`log_cpt` with one more place on each axis for a value outside the domain."""
        inner = tuple(range(1, self.counts.ndim))
        alone = self.counts.sum(axis=inner)
        whole = np.expand_dims(self._estimated(alone, alone.sum()), inner)
        table = np.broadcast_to(whole, (len(alone), *(d.size + 1 for d in self.parents))).copy()
        table[(slice(None), *(slice(0, d.size) for d in self.parents))] = self.log_cpt
        return table

    def known(self, X: Table) -> NDArray[np.bool_]:
        """Every class is judged, so it is never hidden."""
        return np.ones(X.n, dtype=bool)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        terms = cells_of(self.lookup, self.parents, hidden, X)
        if left is None or hidden:
            return terms
        places = [d.places(X) for d in self.parents]
        inside = np.logical_and.reduce([p < d.size for p, d in zip(places, self.parents, strict=True)])
        cell = tuple(p[inside] for p in places)
        own, w = left.own[inside], left.weight[inside]
        counts = np.moveaxis(self.counts, 0, -1)[cell]
        row = np.arange(len(own))
        counts[row, own] = less_weight(counts[row, own], w, self.variable)
        terms = terms.copy()
        terms[inside] = self._estimated(counts, counts.sum(axis=1, keepdims=True))
        return terms

    def _estimated(self, counts: Array, totals: Any) -> Array:
        """log (n + a)/(N + a K), a being 1 where nothing was counted and α is 0."""
        each = np.where((totals == 0) & (self.alpha == 0), 1.0, self.alpha)
        return log_smoothed(counts, totals, each, len(self.counts))

    def sources(self, X: Table) -> tuple[Source, ...]:
        places = tuple(int(d.places(X)[0]) for d in self.parents)
        if any(place >= d.size for place, d in zip(places, self.parents, strict=True)):
            return tuple(Given(float(exp(v))) for v in np.moveaxis(self.lookup, 0, -1)[places])
        counts = np.moveaxis(self.counts, 0, -1)[places]
        total, k = float(counts.sum()), len(counts)
        added = 1.0 if total == 0 == self.alpha else self.alpha
        return tuple(Fraction(float(n), total, added, k) for n in counts)

    def posterior(self, target: Variable) -> ClassPosterior:
        counts = np.moveaxis(self.counts, 0, -1)[None]
        added = np.full(counts.shape, self.alpha if self.alpha > 0 else JEFFREYS)
        return ClassPosterior(Domain(self.variable), self.parents, counts, added)

    @property
    def unsmoothed(self) -> bool:
        return self.alpha <= 0

    @property
    def free(self) -> int:
        return int(self.counts[0].size * (len(self.counts) - 1))

    def largest_log_likelihood(self, stats: SufficientStatistics) -> float:
        """Of a row whose parents are not all known, by the class's own frequencies."""
        rest = stats.class_weight - self.counts.reshape(len(self.counts), -1).sum(axis=1)
        return table_likelihood(np.moveaxis(self.counts, 0, -1)) + rest_likelihood(rest, stats.class_weight)


@dataclass(frozen=True)
class ClassPosterior(DirichletPosterior):
    """P(c | pa(c)): the classes are the levels of the only distribution, or of one for each cell of the parents."""

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) log P(c | pa)."""
        whole = super().draw(X, (*hidden, self.variable.name), n, rng)[:, 0]
        return np.moveaxis(whole, -1, 1)

    def _at(self, X: Table, hidden: tuple[str, ...]) -> tuple[Any, ...]:
        here = (slice(0, d.size) if d.variable.name in hidden else int(d.places(X)[0]) for d in self.parents)
        return (slice(None), *here, slice(0, self.domain.size))

    @cached_property
    def _betas(self) -> tuple[Array, Array]:
        """Where a parent has a value outside its domain, the class's own frequencies stand."""
        inner = tuple(range(1, self.counts.ndim - 1))
        alone = np.expand_dims(self.counts.sum(axis=inner), inner) + self.added.flat[0]
        shape = (1, *(d.size + 1 for d in self.parents), self.domain.size)
        alpha = np.broadcast_to(alone, shape).copy()
        alpha[(slice(None), *(slice(0, d.size) for d in self.parents))] = self.alpha
        return alpha, alpha.sum(axis=-1, keepdims=True) - alpha

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(c_i) − log P(c_j): that of two independent gamma variates, whose sum cancels."""
        a = self._betas[0][self._at(X, ())][0][[i, j]]
        return float(digamma(a[0]) - digamma(a[1])), float(polygamma(1, a).sum())
