"""P(c, x) = P(c | pa(c)) Π_j P(x_j | c, pa(x_j)) along a directed graph: SPODE, TAN, k-DB and a network that classifies
differ in the list of families. In the first three the class is everyone's parent and nobody's child.

A cell that is not known (missing, or an unseen value that is ignored) is summed out of the joint exactly, if anything
that is known hangs on it; otherwise it has no term. The terms of hidden cells are expectations and one entropy row:
log p(c, x) = Σ_f E_{h|x,c}[log φ_f] + H(h|x, c).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors import Factor, Row
from bayes_engine.factors.class_prior import ClassPrior, ConditionalPrior
from bayes_engine.factors.leaf import OUT, Leaf, LeftOutRows
from bayes_engine.factors.sources import Source, Term
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.elimination import Potential, log_partition, marginals
from bayes_engine.logspace import Array, exp, log
from bayes_engine.stats.counts import distinct_rows
from bayes_engine.table.encode import Table

CHUNK = 2_000_000
"""Cells of hidden tables that are held at a time."""
MANY = 100
"""From so many rows on, rows alike are looked for."""

HIDDEN_CELLS = "cells not known"
"""The name of the entropy row."""


def integrating(X: Table, given: Collection[str]) -> Table:
    """The same rows with the columns that are not among `given` integrated out."""
    columns = (
        column
        if v.name in given
        else np.full(X.n, OUT if v.discrete else np.nan, dtype=np.int64 if v.discrete else float)
        for v, column in zip(X.schema, X.columns, strict=True)
    )
    return replace(X, columns=tuple(columns))


class _Evaluated(NamedTuple):
    """The terms (n, C) by column, whether any of them is an expectation, and the entropy (n, C) of what is hidden."""

    terms: dict[str, Array]
    expected: set[str]
    entropy: Array | None


@dataclass(frozen=True)
class DirectedFactor(Factor):
    """The class prior and one family for each column, in the schema's order; where the class has parents, `above` is
    P(c | pa(c)) and takes the place of the prior."""

    prior: ClassPrior
    families: tuple[Leaf, ...]
    above: ConditionalPrior | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(f.variable.name for f in self.families)

    @cached_property
    def all_families(self) -> tuple[Leaf, ...]:
        """The families, that of the class first where it is one."""
        return self.families if self.above is None else (self.above, *self.families)

    @property
    def log_prior(self) -> Array:
        """(C,) log P(c), or zeros where a family says P(c | pa(c))."""
        return log(self.prior.p) if self.above is None else np.zeros(len(self.prior.p))

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many values each discrete column has."""
        return {f.variable.name: f.domain.size for f in self.tables}

    @cached_property
    def tables(self) -> tuple[TableLeaf, ...]:
        """The leaves of discrete columns."""
        return tuple(cast(TableLeaf, f) for f in self.families if f.variable.discrete)

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if self.above is None:
            yield from self.prior.rows(X)
        alike, back = self._alike(X)
        evaluated = self._terms(alike)
        for family in self.all_families:
            name = family.variable.name
            if name in evaluated.terms:
                row = family.row._replace(kind="expected") if name in evaluated.expected else family.row
                yield row, evaluated.terms[name][back]
        if evaluated.entropy is not None:
            yield Row(HIDDEN_CELLS, HIDDEN_CELLS, (self.prior.target,), "entropy"), evaluated.entropy[back]

    def leaves(self) -> Iterator[Factor]:
        yield self.prior if self.above is None else self.above
        yield from self.families

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        return next(((f, 1.0) for f in self.families if f.variable.name == column), None)

    def gathers(self, column: str) -> bool | None:
        return False

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        families = {family.variable.name: family for family in self.all_families}
        for row, term in self.rows(X):
            if row.kind in ("expected", "entropy"):
                yield tuple(Term(float(v)) for v in term[0])
            elif row.kind == "prior" and self.above is None:
                yield self.prior.sources(X)
            else:
                sources = families[row.name].sources(X)
                yield sources * (len(term[0]) // len(sources))  # a column that the class is no parent of: one for all

    def log(self, X: Table) -> Array:
        alike, back = self._alike(X)
        joint = self.over(alike, np.broadcast_to(self.log_prior, (alike.n, len(self.prior.p))), None)
        return np.asarray(joint[back])

    def _alike(self, X: Table) -> tuple[Table, NDArray[np.intp] | slice]:
        """Where cells are hidden, rows alike as one (a grid of intervals has few), and which of them each row is."""
        if X.n < MANY or all(f.known(X).all() for f in self.all_families):
            return X, slice(None)
        first, back = distinct_rows(np.stack(X.columns, axis=1, dtype=float))
        return X.take(first), back

    def over(self, X: Table, log_prior: Array, left: LeftOutRows | None) -> Array:
        """(n, C) the joint over a log prior (n, C); with `left`, of each row under the counts without it."""
        joint = np.array(log_prior)
        for rows, _part, terms in self._pieces(X, left):
            if terms:
                joint[rows] += log_partition([p for _, p in terms], self.sizes)
        return joint

    def _terms(self, X: Table) -> _Evaluated:
        """All terms by column: as they stand where all is known, expected where something is hidden."""
        evaluated = _Evaluated({}, set(), None)
        shape = (X.n, len(self.prior.p))
        entropy, any_hidden = np.zeros(shape), False
        for rows, part, terms in self._pieces(X, None):
            hidden = any(p.scope for _, p in terms)
            log_z, beliefs = marginals([p for _, p in terms], self.sizes) if hidden else (None, [])
            inside = np.zeros((part.n, shape[1]))
            for i, (name, p) in enumerate(terms):
                term = p.log
                if p.scope:
                    axes = tuple(range(2, p.log.ndim))
                    weight = exp(beliefs[i])
                    term = np.multiply(weight, p.log, out=np.zeros_like(weight), where=weight > 0).sum(axis=axes)
                    evaluated.expected.add(name)
                evaluated.terms.setdefault(name, np.zeros(shape))[rows] = term
                inside += term
            if log_z is not None:
                any_hidden = True
                nowhere = np.isneginf(log_z)  # one row says so, the others are silent
                entropy[rows] = np.where(nowhere, -np.inf, log_z - np.where(nowhere, 0.0, inside))
                for name, _potential in terms:
                    evaluated.terms[name][rows] = np.where(nowhere, 0.0, evaluated.terms[name][rows])
        return evaluated._replace(entropy=entropy if any_hidden else None)

    def _pieces(
        self, X: Table, left: LeftOutRows | None
    ) -> Iterator[tuple[NDArray[np.intp], Table, list[tuple[str, Potential]]]]:
        """The rows in groups with the same cells hidden: their numbers, they themselves, and their potentials."""
        if not self.all_families:  # the prior alone
            return
        absent = np.stack([~f.known(X) for f in self.all_families], axis=1)
        patterns, group = np.unique(absent, axis=0, return_inverse=True) if absent.any() else (absent[:1], None)
        for k, pattern in enumerate(patterns):
            every = np.arange(X.n) if group is None else np.flatnonzero(np.ravel(group) == k)
            unknown = {f.variable.name for f, hidden in zip(self.all_families, pattern, strict=True) if hidden}
            needed = self._needed(unknown)
            scopes = [
                (f, tuple(n for n in (*(d.variable.name for d in f.parents), f.variable.name) if n in needed))
                for f in self.all_families
                if f.variable.name not in unknown or f.variable.name in needed
            ]
            widest = max((np.prod([self.sizes[n] for n in scope], dtype=float) for _, scope in scopes), default=1.0)
            step = max(1, int(CHUNK / (widest * len(self.prior.p))))
            for begin in range(0, len(every), step):
                rows = every[begin : begin + step]
                part = X if len(rows) == X.n else X.take(rows)
                own = None if left is None else left.take(rows)
                yield rows, part, [(f.variable.name, Potential(scope, f.term(part, scope, own))) for f, scope in scopes]

    def _needed(self, unknown: set[str]) -> set[str]:
        """Of the columns not known those that something known hangs on; the others are barren: they sum to 1."""
        needed: set[str] = set()
        for family in reversed(self.upward):
            if family.variable.name not in unknown or family.variable.name in needed:
                needed |= {d.variable.name for d in family.parents} & unknown
        return needed

    @cached_property
    def upward(self) -> tuple[Leaf, ...]:
        """The families with every parent before its children; the class, which is always judged, stands with them."""
        left, order = {f.variable.name: f for f in self.all_families}, []
        while left:
            ready = {name for name, f in left.items() if not any(d.variable.name in left for d in f.parents)}
            order += [left[name] for name in left if name in ready]
            left = {name: f for name, f in left.items() if name not in ready}
        return tuple(order)
