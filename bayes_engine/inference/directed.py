"""P(c, x) = P(c | pa(c)) Π_j P(x_j | c, pa(x_j)) along a directed graph: SPODE, TAN, k-DB and a network that classifies
differ in the list of families. In the first three the class is everyone's parent and nobody's child.

A cell that is not known (missing, or an unseen value that is ignored) is summed out of the joint exactly, if anything
that is known hangs on it; otherwise it has no term. The terms of hidden cells are expectations and one entropy row:
log p(c, x) = Σ_f E_{h|x,c}[log φ_f] + H(h|x, c).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset
from bayes_engine.factors import ClassPrior, Factor, Row, RowKind, normal_log_density, variance_estimate
from bayes_engine.inference.elimination import Potential, log_partition, marginals
from bayes_engine.logspace import Array, exp, log
from bayes_engine.priors import tilt
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.table.encode import MISSING, Table, unseen_code
from bayes_engine.table.schema import Variable

HIDDEN = -1
"""The place of a cell that is not known."""
OUT = -1
"""The code of a cell that is integrated out, also where a missing cell is a level of its own."""
CHUNK = 2_000_000
"""Cells of hidden tables that are held at a time."""
MANY = 100
"""From so many rows on, rows alike are looked for."""

HIDDEN_CELLS = "cells not known"
"""The name of the entropy row."""


@dataclass(frozen=True)
class Domain:
    """The places of a discrete column in the tables of a model: its levels, then the missing cell if that is a level
    of its own (`missing_is_level`), then, outside the domain, one more for an unseen value if it is smoothed."""

    variable: Variable
    missing_is_level: bool = False
    smooth_unseen: bool = False

    @property
    def size(self) -> int:
        """How many values the column has, unseen ones apart."""
        return len(self.variable.levels) + self.missing_is_level

    def counted(self, table: Array, axis: int) -> Array:
        """A count table whose `axis` is by code (missing first) as one by place."""
        levels = np.arange(1, 1 + len(self.variable.levels))
        return np.take(table, [*levels, MISSING] if self.missing_is_level else levels, axis=axis)

    def places(self, X: Table) -> NDArray[np.intp]:
        """(n,) the place of each cell; HIDDEN where it is not known."""
        codes = X[self.variable.name]
        places: NDArray[np.intp] = codes.astype(np.intp) - 1
        places[codes == MISSING] = self.size - 1 if self.missing_is_level else HIDDEN
        places[codes == OUT] = HIDDEN
        places[codes == unseen_code(codes)] = self.size if self.smooth_unseen else HIDDEN
        return places


def integrating(X: Table, given: Collection[str]) -> Table:
    """The same rows with the columns that are not among `given` integrated out."""
    columns = (
        column
        if v.name in given
        else np.full(X.n, OUT if v.discrete else np.nan, dtype=np.int64 if v.discrete else float)
        for v, column in zip(X.schema, X.columns, strict=True)
    )
    return replace(X, columns=tuple(columns))


@dataclass(frozen=True)
class Left:
    """Leave-one-out: the class (n,) and weight (n,) of each row, taken out of the counts before they are used."""

    own: NDArray[np.intp]
    weight: Array

    def take(self, rows: NDArray[np.intp]) -> Left:
        """Of these rows."""
        return Left(self.own[rows], self.weight[rows])


class Family(Protocol):
    """One column given the class and its parents, which are discrete."""

    @property
    def variable(self) -> Variable:
        """The column."""

    @property
    def parents(self) -> tuple[Domain, ...]:
        """Its parents besides the class."""

    def known(self, X: Table) -> NDArray[np.bool_]:
        """(n,) where the column's own cell is known."""

    def term(self, X: Table, hidden: tuple[str, ...], left: Left | None) -> Array:
        """(n, C, one axis for each of `hidden`) log P(x_j | c, pa), where in all rows of X those columns of the family
        are not known, and all others are."""


@dataclass(frozen=True)
class TableFamily:
    """log P(x_j = t | c, pa = s) = log (n_cst + a) − log (n_cs + a S_j): Zhou, eq. 7.20 within the parents' cell.

    `counts` (C, S_p, …, S_j) by place; a is `alpha`, and 1 for a cell of the parents without a count where that is 0.
    With `marginal` the same a S_j are shared out among the levels as the column's values are. Of a column that the
    class is no parent of, `counts` (1, S_p, …, S_j) are those of all classes together.

    >>> wind = Domain(Variable("wind", "categorical", ("weak", "strong")))
    >>> rain = Domain(Variable("rain", "categorical", ("no", "yes")))
    >>> family = TableFamily(rain, (wind,), np.array([[[3.0, 1.0], [0.0, 2.0]]]), alpha=1.0)
    >>> exp(family.log_cpt).round(4).tolist()
    [[[0.6667, 0.3333], [0.25, 0.75]]]
    """

    domain: Domain
    parents: tuple[Domain, ...]
    counts: Array
    alpha: float
    marginal: bool = False

    @property
    def variable(self) -> Variable:
        return self.domain.variable

    @property
    def axes(self) -> tuple[Domain, ...]:
        """The columns of the table in the order of its axes."""
        return (*self.parents, self.domain)

    @cached_property
    def totals(self) -> Array:
        """(C, S_p, …) n_cs."""
        return np.asarray(self.counts.sum(axis=-1))

    @cached_property
    def log_cpt(self) -> Array:
        """(C, S_p, …, S_j) log conditional probabilities."""
        return _estimate(self.counts, self.totals[..., None], self.domain.size, self.alpha, self.tilt)

    @cached_property
    def tilt(self) -> Array | float:
        """(S_j,) how much more than α is added to each level; 1 where they share evenly."""
        return tilt(self._of_level) if self.marginal else 1.0

    @cached_property
    def _of_level(self) -> Array:
        return np.asarray(self.counts.sum(axis=tuple(range(self.counts.ndim - 1))))

    @cached_property
    def added(self) -> Array:
        """(C, S_p, …, S_j) what smoothing adds to each count."""
        return np.broadcast_to(_added(self.totals, self.alpha)[..., None] * self.tilt, self.counts.shape)

    @property
    def of_class(self) -> bool:
        """Whether the class is a parent (of two classes or more, as everywhere)."""
        return len(self.counts) > 1

    @cached_property
    def lookup(self) -> Array:
        """`log_cpt` with one more place on each axis for a value outside the domain, smoothed: the column's own is
        log a/(n_cs + a(S_j + 1)), a parent's has no counts, so that the base of the smoothing stands."""
        size = self.domain.size
        alone = np.append(log(np.broadcast_to(self.tilt, (size,)) / max(size, 1)), -np.log(size + 1))
        a = _added(self.totals, self.alpha)
        table = np.concatenate([self.log_cpt, (log(a) - log(self.totals + a * (size + 1)))[..., None]], axis=-1)
        pads = [(0, 0), *((0, 1) for _ in self.parents), (0, 0)]
        table = np.pad(table, pads)
        for axis in range(1, 1 + len(self.parents)):
            np.moveaxis(table, axis, -2)[..., -1, :] = alone
        return table

    def known(self, X: Table) -> NDArray[np.bool_]:
        return np.asarray(self.domain.places(X) != HIDDEN)

    def term(self, X: Table, hidden: tuple[str, ...], left: Left | None) -> Array:
        found = _cells(self.lookup, self.axes, hidden, X)
        if left is None or hidden:  # a row with a cell not known was not counted here
            return found
        places = [d.places(X) for d in self.axes]
        inside = np.logical_and.reduce([p < d.size for p, d in zip(places, self.axes, strict=True)])
        own, w = left.own[inside] * self.of_class, left.weight[inside]
        if self.marginal:
            return self._marginal_without(found, inside, own, w, tuple(p[inside] for p in places))
        at = (own, *(p[inside] for p in places))
        count, total = (less_weight(a, w, self.variable) for a in (self.counts[at], self.totals[at[:-1]]))
        found = found.copy()
        found[inside, own] = _estimate(count, total, self.domain.size, self.alpha)
        return found

    def _marginal_without(
        self, found: Array, inside: NDArray[np.bool_], own: NDArray[np.intp], weight: Array, at: tuple[Any, ...]
    ) -> Array:
        """`found` with the rows `inside` taken out of the counts: the column's marginal loses them in every class."""
        rows, level = np.arange(len(own)), at[-1]
        count, total = np.moveaxis(self.counts, 0, -1)[at], np.moveaxis(self.totals, 0, -1)[at[:-1]]
        count, total = (np.broadcast_to(a, (len(own), len(self.counts))).copy() for a in (count, total))
        for a in (count, total):
            a[rows, own] = less_weight(a[rows, own], weight, self.variable)
        rest = less_weight(self._of_level[level], weight, self.variable)
        everything = less_weight(np.full(len(own), self._of_level.sum()), weight, self.variable)
        share = np.divide(self.domain.size * rest, everything, out=np.ones(len(own)), where=everything > 0)
        found = found.copy()
        found[inside] = _estimate(count, total, self.domain.size, self.alpha, share[:, None])
        return found


@dataclass(frozen=True)
class ClassFamily:
    """log P(c | pa = s) = log (n_cs + a) − log (n_s + a K): the class as a child of columns.

    `counts` (C, S_p, …) by place; a as in `TableFamily`. Where a parent has an unseen value that is smoothed, the
    class's own frequencies stand, smoothed likewise.
    """

    variable: Variable
    parents: tuple[Domain, ...]
    counts: Array
    alpha: float

    @property
    def axes(self) -> tuple[Domain, ...]:
        """The columns of the table in the order of its axes."""
        return self.parents

    @cached_property
    def totals(self) -> Array:
        """(S_p, …) n_s."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def log_cpt(self) -> Array:
        """(C, S_p, …) log conditional probabilities."""
        return _estimate(self.counts, self.totals, len(self.counts), self.alpha)

    @cached_property
    def lookup(self) -> Array:
        """`log_cpt` with one more place on each axis for a value outside the domain."""
        inner = tuple(range(1, self.counts.ndim))
        alone = self.counts.sum(axis=inner)
        whole = np.expand_dims(_estimate(alone, alone.sum(), len(alone), self.alpha), inner)
        table = np.broadcast_to(whole, (len(alone), *(d.size + 1 for d in self.parents))).copy()
        table[(slice(None), *(slice(0, d.size) for d in self.parents))] = self.log_cpt
        return table

    def known(self, X: Table) -> NDArray[np.bool_]:
        """Every class is judged, so it is never hidden."""
        return np.ones(X.n, dtype=bool)

    def term(self, X: Table, hidden: tuple[str, ...], left: Left | None) -> Array:
        found = _cells(self.lookup, self.axes, hidden, X)
        if left is None or hidden:
            return found
        places = [d.places(X) for d in self.axes]
        inside = np.logical_and.reduce([p < d.size for p, d in zip(places, self.axes, strict=True)])
        at = tuple(p[inside] for p in places)
        own, w = left.own[inside], left.weight[inside]
        counts = np.moveaxis(self.counts, 0, -1)[at]
        row = np.arange(len(own))
        counts[row, own] = less_weight(counts[row, own], w, self.variable)
        found = found.copy()
        found[inside] = _estimate(counts, counts.sum(axis=1, keepdims=True), counts.shape[1], self.alpha)
        return found


@dataclass(frozen=True)
class GaussianFamily:
    """log N(x_j; μ_cs, σ²_cs) within each cell (c, pa = s) of a column of numbers, which is nobody's parent.

    `cells` (C·S_p·…) are the moments by cell, `classes` (C,) by class alone. A cell is smoothed by `alpha` imagined
    rows that have its class's mean and variance (the latter by `variance_estimate`); where α = 0 and the cell has fewer
    than two rows, or no spread, the class's own Gaussian stands in.
    """

    variable: Variable
    parents: tuple[Domain, ...]
    cells: ColumnMoments
    classes: ColumnMoments
    alpha: float
    ddof: int
    floor: float

    @cached_property
    def gaussians(self) -> tuple[Array, Array]:
        """Mean (as an offset from the pivot) and variance, each (C, S_p + 1, …): the last place is an unseen value's,
        where the class's own Gaussian stands."""
        return self._estimated(self.cells, self.classes)

    def _estimated(self, cells: ColumnMoments, classes: ColumnMoments) -> tuple[Array, Array]:
        class_variance, _, used = variance_estimate(classes, self.ddof, False, self.floor)
        shape = (*classes.weight.shape, *(d.size for d in self.parents))
        inner = tuple(range(classes.weight.ndim, len(shape)))
        whole = classes.pooled()
        least = self.floor * np.expand_dims(whole.m2 / np.maximum(whole.weight, 1e-300), inner)
        pads = [(0, 0)] * classes.weight.ndim + [(0, 1)] * len(inner)
        n, offset, m2 = (np.pad(a.reshape(shape), pads) for a in (cells.weight, cells.offset, cells.m2))
        if not inner:
            return used.offset, class_variance
        mean, variance = (np.expand_dims(a, inner) for a in (used.offset, class_variance))
        share = self.alpha / np.where(n + self.alpha > 0, n + self.alpha, 1.0)
        degrees = n - self.ddof + self.alpha
        spread = m2 + self.alpha * variance + n * share * (offset - mean) ** 2
        own = np.maximum(spread / np.where(degrees > 0, degrees, 1.0), least)
        taken = (n > 0) & (degrees > 0) & ((self.alpha > 0) | ((n > 1) & (m2 > least * degrees)))
        return np.where(taken, offset + share * (mean - offset), mean), np.where(taken, own, variance)

    def known(self, X: Table) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(X[self.variable.name]))

    def term(self, X: Table, hidden: tuple[str, ...], left: Left | None) -> Array:
        x = X[self.variable.name]
        offset = (x - self.variable.pivot).reshape(-1, *[1] * (1 + len(hidden)))
        if left is None:
            mean, variance = (_cells(table, self.parents, hidden, X) for table in self.gaussians)
            return normal_log_density(offset, mean, variance)
        cell, counted = left.own, left.weight
        for d in self.parents:
            places = d.places(X)
            cell = cell * d.size + np.clip(places, 0, d.size - 1)
            counted = np.where((places == HIDDEN) | (places >= d.size), 0.0, counted)
        rest = self.cells.without(cell, x, counted), self.classes.without(left.own, x, left.weight)
        constant = rest[1].constant.reshape(-1, *[1] * (1 + len(hidden)))  # what is left has one value: no factor
        mean, variance = (_cells_of_rows(table, self.parents, hidden, X) for table in self._estimated(*rest))
        return np.where(constant, 0.0, normal_log_density(offset, mean, np.where(constant, 1.0, variance)))


class _Found(NamedTuple):
    """The terms (n, C) by column, whether any of them is an expectation, and the entropy (n, C) of what is hidden."""

    terms: dict[str, Array]
    expected: set[str]
    entropy: Array | None


@dataclass(frozen=True)
class Directed(Factor):
    """The class prior and one family for each column, in the schema's order; where the class has parents, `above` is
    P(c | pa(c)) and takes the place of the prior."""

    prior: ClassPrior
    families: tuple[Family, ...]
    above: ClassFamily | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(f.variable.name for f in self.families)

    @cached_property
    def all_families(self) -> tuple[Family | ClassFamily, ...]:
        """The families, that of the class first where it is one."""
        return self.families if self.above is None else (self.above, *self.families)

    @property
    def log_prior(self) -> Array:
        """(C,) log P(c), or zeros where a family says P(c | pa(c))."""
        return log(self.prior.p) if self.above is None else np.zeros(len(self.prior.p))

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many values each discrete column has."""
        return {f.variable.name: f.domain.size for f in self.families if isinstance(f, TableFamily)}

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if self.above is None:
            yield from self.prior.rows(X)
        alike, back = self._alike(X)
        found = self._terms(alike)
        for family in self.all_families:
            name = family.variable.name
            if name in found.terms:
                kind = "expected" if name in found.expected else _kind(family)
                yield Row(name, name, self._parents(family), kind), found.terms[name][back]
        if found.entropy is not None:
            yield Row(HIDDEN_CELLS, HIDDEN_CELLS, (self.prior.target,), "entropy"), found.entropy[back]

    def log(self, X: Table) -> Array:
        alike, back = self._alike(X)
        joint = self.over(alike, np.broadcast_to(self.log_prior, (alike.n, len(self.prior.p))), None)
        return np.asarray(joint[back])

    def _alike(self, X: Table) -> tuple[Table, NDArray[np.intp] | slice]:
        """Where cells are hidden, rows alike as one (a grid of intervals has few), and which of them each row is."""
        if X.n < MANY or all(f.known(X).all() for f in self.all_families):
            return X, slice(None)
        cells = np.ascontiguousarray(np.stack(X.columns, axis=1, dtype=float))
        whole = cells.view(np.dtype((np.void, cells.shape[1] * cells.itemsize))).ravel()
        _, first, back = np.unique(whole, return_index=True, return_inverse=True)
        return X.take(first), back

    def over(self, X: Table, log_prior: Array, left: Left | None) -> Array:
        """(n, C) the joint over a log prior (n, C); with `left`, of each row under the counts without it."""
        joint = np.array(log_prior)
        for rows, _part, terms in self._pieces(X, left):
            if terms:
                joint[rows] += log_partition([p for _, p in terms], self.sizes)
        return joint

    def _terms(self, X: Table) -> _Found:
        """All terms by column: as they stand where all is known, expected where something is hidden."""
        found = _Found({}, set(), None)
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
                    found.expected.add(name)
                found.terms.setdefault(name, np.zeros(shape))[rows] = term
                inside += term
            if log_z is not None:
                any_hidden = True
                nowhere = np.isneginf(log_z)  # one row says so, the others are silent
                entropy[rows] = np.where(nowhere, -np.inf, log_z - np.where(nowhere, 0.0, inside))
                for name, _potential in terms:
                    found.terms[name][rows] = np.where(nowhere, 0.0, found.terms[name][rows])
        return found._replace(entropy=entropy if any_hidden else None)

    def _pieces(
        self, X: Table, left: Left | None
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

    def _parents(self, family: Family | ClassFamily) -> tuple[str, ...]:
        """The names of a family's parents, the class first where it is one."""
        of_class = isinstance(family, GaussianFamily) or (isinstance(family, TableFamily) and family.of_class)
        return (*((self.prior.target,) if of_class else ()), *(d.variable.name for d in family.parents))

    def _needed(self, unknown: set[str]) -> set[str]:
        """Of the columns not known those that something known hangs on; the others are barren: they sum to 1."""
        needed: set[str] = set()
        for family in reversed(self.upward):
            if family.variable.name not in unknown or family.variable.name in needed:
                needed |= {d.variable.name for d in family.parents} & unknown
        return needed

    @cached_property
    def upward(self) -> tuple[Family | ClassFamily, ...]:
        """The families with every parent before its children; the class, which is always judged, stands with them."""
        left, order = {f.variable.name: f for f in self.all_families}, []
        while left:
            ready = {name for name, f in left.items() if not any(d.variable.name in left for d in f.parents)}
            order += [left[name] for name in left if name in ready]
            left = {name: f for name, f in left.items() if name not in ready}
        return tuple(order)


def _kind(family: Family | ClassFamily) -> RowKind:
    """What a family's term is where nothing of it is hidden; one that the class takes no part in is a constant."""
    if isinstance(family, ClassFamily):
        return "prior"
    if family.variable.numeric:
        return "log-density"
    return "log-probability" if isinstance(family, TableFamily) and family.of_class else "constant"


def _estimate(count: Array, total: Array, size: int, alpha: float, tilt: Array | float = 1.0) -> Array:
    """log (n + a t)/(N + a S), the tilts t of all levels having the mean 1."""
    a = _added(total, alpha)
    return log(count + a * tilt) - log(total + a * size)


def _added(total: Array, alpha: float) -> Array:
    """What is added to every level of a cell of the parents: α, and 1 where nothing was counted and α is 0."""
    return np.where((total == 0) & (alpha == 0), 1.0, alpha)


def less_weight(count: Array, weight: Array, variable: Variable) -> Array:
    """A count without its row's weight, a remainder of rounding size being zero."""
    rest = count - weight
    if (rest < -1e-9 * weight).any():
        raise NotASubset("column '{column}': a row to leave out was never counted", column=variable.name)
    return np.where(rest <= 1e-9 * np.maximum(count, weight), 0.0, rest)


def _cells(table: Array, domains: Sequence[Domain], hidden: tuple[str, ...], X: Table) -> Array:
    """(n, C, one axis for each of `hidden`): what the rows point at in `table` (C, one axis a domain, whose last place
    is for an unseen value)."""
    names = [d.variable.name for d in domains]
    free = [1 + names.index(name) for name in hidden]
    at = [a for a in range(1, table.ndim) if a not in free]
    for a in free:  # nothing hidden is unseen
        table = np.delete(table, -1, axis=a)
    flat = np.zeros(X.n, dtype=np.intp)
    for a in at:
        flat = flat * table.shape[a] + domains[a - 1].places(X)
    turned = table.transpose(0, *at, *free)
    cells = turned.reshape(len(table), -1, *turned.shape[1 + len(at) :])
    return np.moveaxis(np.take(cells, flat, axis=1), 0, 1)


def _cells_of_rows(table: Array, domains: Sequence[Domain], hidden: tuple[str, ...], X: Table) -> Array:
    """As `_cells`, for a `table` (n, C, …) of each row's own."""
    names = [d.variable.name for d in domains]
    index = [slice(0, d.size) if d.variable.name in hidden else d.places(X) for d in domains]
    found = table[(np.arange(X.n), slice(None), *index)]
    kept = [name for name in names if name in hidden]
    return np.moveaxis(found, [2 + kept.index(n) for n in hidden], range(2, 2 + len(hidden)))
