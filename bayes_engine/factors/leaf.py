"""A leaf: the distribution of one column given the class and, of some, given discrete columns, its other parents.

Naive Bayes has leaves without parents; SPODE, TAN, k-DB and networks differ in the parents. To add a likelihood, write
one module with a leaf and register it (`bayes_engine.factors.likelihoods`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import NotASubset, ParameterError
from bayes_engine.factors import Factor, Row, RowKind
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.sources import Source
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import Dirichlet, Smoothing
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import as_one
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import MISSING, Table, unseen_code
from bayes_engine.table.schema import Variable

OUT = -1
"""The code of a cell that is integrated out, also where a missing cell is a level of its own."""


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
        if not self.missing_is_level:
            return table[(slice(None),) * axis + (slice(1, None),)]
        return np.take(table, [*range(1, 1 + len(self.variable.levels)), MISSING], axis=axis)

    def all_levels(self, X: Table) -> bool:
        """Whether every cell of the column, of one at least, is one of its levels."""
        codes = X[self.variable.name]
        return bool(X.n and codes.min() > MISSING and codes.max() <= len(self.variable.levels))

    def places(self, X: Table) -> NDArray[np.intp]:
        """(n,) the place of each cell; HIDDEN where it is not known."""
        codes = X[self.variable.name]
        places: NDArray[np.intp] = codes.astype(np.intp)
        places -= 1
        if self.all_levels(X):
            return places
        places[codes == MISSING] = self.size - 1 if self.missing_is_level else HIDDEN
        places[codes == OUT] = HIDDEN
        places[codes == unseen_code(codes)] = self.size if self.smooth_unseen else HIDDEN
        return places


@dataclass(frozen=True)
class LeftOutRows:
    """Leave-one-out: the class (n,) and weight (n,) of each row, taken out of the counts before they are used. `stats`
    are the statistics with all rows, for leaves that keep no counts of their own. They are the rows at `place` (n,)
    `among` those of a table with their labels, which are counted anew where a difference has too few digits."""

    own: NDArray[np.intp]
    weight: Array
    stats: SufficientStatistics | None
    among: tuple[Table, Labels]
    place: NDArray[np.intp]

    @classmethod
    def of(cls, X: Table, labels: Labels, stats: SufficientStatistics | None = None) -> LeftOutRows:
        """The rows of X, with their hard labels, one by one."""
        assert labels.codes is not None
        return cls(labels.codes, labels.by_row, stats, (X, labels), np.arange(X.n))

    @cached_property
    def one_weight(self) -> float | None:
        """The weight of all of them, where it is the same."""
        return float(self.weight[0]) if len(self.weight) and (self.weight == self.weight[0]).all() else None

    @cached_property
    def by_class(self) -> list[tuple[int, NDArray[np.intp]]]:
        """The classes that have rows here, and which."""
        order = np.argsort(self.own.astype(np.min_scalar_type(int(self.own.max(initial=0)))), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(self.own))[:-1])
        return [(c, rows) for c, rows in enumerate(parts) if len(rows)]

    def take(self, rows: Any) -> LeftOutRows:
        """Of these rows."""
        return replace(self, own=self.own[rows], weight=self.weight[rows], place=self.place[rows])

    def rest(self, i: int) -> tuple[Table, Labels]:
        """The rows without the i-th of these."""
        X, labels = self.among
        weight = labels.by_row.copy()
        weight[self.place[i]] -= self.weight[i]
        stay = weight > 0
        return X.take(stay), replace(labels, weight=weight).take(stay)


@dataclass(frozen=True)
class Estimation:
    """How a leaf is estimated from its statistics: `prior` and `smoothing` say what is added to counts, the others are
    of a variance: `ddof`, whether the classes share it, and the least share of the column's own (`floor`)."""

    prior: Dirichlet
    smoothing: Smoothing = "all"
    ddof: int = 0
    tied: bool = False
    floor: float = 1e-9


BY_DEFAULT = Estimation(Dirichlet.laplace())
"""How naive Bayes estimates where nothing else is said."""


class MixtureDensity(NamedTuple):
    """A density as a mixture of Gaussians in each class: `weight`, of any sum, `mean` and `sd`, each (m, C). With a
    `width` p each Gaussian is averaged over x ± p/2."""

    weight: Array
    mean: Array
    sd: Array
    width: float | None = None


Form = Literal["table", "gaussian", "kernel", "rate", "text", "share", "parametric"]
"""What there is to see of a leaf: a table, a Gaussian, a curve, a rate, terms, its share among several columns, or the
named parameters of its own."""
Numbers = Literal["table", "gaussian", "rates", "terms", "values", "parameters"]
"""What the numbers of a leaf are counted as."""


class Leaf(Factor):
    """log P(x_j | c, pa_j) of one column, a row of the ledger of its own; a cell that is not known has the term 0."""

    form: ClassVar[Form] = "parametric"
    numbers: ClassVar[Numbers] = "parameters"
    variable: Variable
    target: str
    parents: tuple[Domain, ...] = ()

    @property
    def of_class(self) -> bool:
        """Whether the class is a parent."""
        return True

    @property
    def kind(self) -> RowKind:
        """What its term is where nothing of it is hidden; one that the class takes no part in is a constant."""
        return "log-probability"

    @property
    def row(self) -> Row:
        """The name of its term."""
        parents = (*((self.target,) if self.of_class else ()), *(d.variable.name for d in self.parents))
        return Row(self.variable.name, self.variable.name, parents, self.kind)

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        return (self, 1.0) if column == self.variable.name else None

    def gathers(self, column: str) -> bool | None:
        return False

    def known(self, X: Table) -> NDArray[np.bool_]:
        """(n,) where the column's own cell is known: of numbers one that is not NaN."""
        return np.asarray(~np.isnan(X[self.variable.name]))

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        """(n, C, one axis for each of `hidden`) log P(x_j | c, pa), where in all rows of X those columns of the leaf
        are not known, and all others are. With `left` each row's term comes from the statistics without it."""
        raise NotImplementedError

    def known_terms(self, X: Table, left: LeftOutRows | None = None) -> Array:
        """(n, C) `term`, and 0 where the column's own cell is not known, (n, 1) where none is; parents are known in all
        rows."""
        rows = np.flatnonzero(self.known(X))
        if len(rows) == X.n:
            return self.term(X, (), left)
        if not len(rows):
            return np.zeros((X.n, 1))
        term = self.term(X.take(rows), (), None if left is None else left.take(rows))
        terms = np.zeros((X.n, *term.shape[1:]))
        terms[rows] = term
        return terms

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        if not X.n or self.known(X).any():  # a cell nobody knows has no term
            yield self.row, self.known_terms(X)

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        for _row in self.rows(X):
            yield self.sources(X)

    def sources(self, X: Table) -> tuple[Source, ...]:
        """For each class, where the value for the first row of X came from."""
        raise NotImplementedError

    def size(self, stats: SufficientStatistics) -> float:
        """How many numbers it holds of the kind that `numbers` names."""
        return self.free or 0

    def information(self, log_prior: Array) -> float | None:
        """I(x_j; c) in nats under log P(c) (C,), parents at their own frequencies; None of what has no such number."""
        return None

    # of a column of numbers ---------------------------------------------------------------------------------------

    def support(self, nats: float) -> Array | None:
        """The whole numbers that hold all of the probability in each class but for e^−nats; None of a density."""
        return None

    def mixture(self, X: Table, cell: Sequence[int]) -> MixtureDensity | None:
        """The density at these places of the parents as a mixture of Gaussians; None where it is none."""
        return None

    @property
    def estimated_parameters(self) -> tuple[tuple[str, Array], ...]:
        """(symbol, (C,)) the parameters of a leaf whose form is "parametric"."""
        return ()

    @property
    def collapsed(self) -> NDArray[np.bool_] | None:
        """(C,) the classes in which a variance could not be estimated from its own rows; None of what has none."""
        return None


def refuse_parents(name: str, variable: Variable, parents: Sequence[str]) -> None:
    """Raises ParameterError where a leaf that knows no parents is to have some."""
    if parents:
        raise ParameterError(
            "column '{column}' has the likelihood '{likelihood}', which has no form with other parents than the class "
            "({parents}); cut it into intervals, or take a Gaussian",
            column=variable.name,
            likelihood=name,
            parents=", ".join(parents),
        )


def never_counted(variable: Variable) -> NotASubset:
    """The error of a row to be left out whose cell in this column has less weight than it."""
    return NotASubset("column '{column}': a row to leave out was never counted", column=variable.name)


def less_weight(count: Array, weight: Array | float, variable: Variable) -> Array:
    """A count without its row's weight, a remainder of rounding size being zero. Raises NotASubset."""
    rest = count - weight
    if (rest < -1e-9 * weight).any():
        raise never_counted(variable)
    return np.where(rest <= 1e-9 * np.maximum(count, weight), 0.0, rest)


def cells_of(table: Array, domains: Sequence[Domain], hidden: tuple[str, ...], X: Table) -> Array:
    """(n, C, one axis for each of `hidden`): what the rows point at in `table` (C, one axis a domain, whose last place
    is for an unseen value)."""
    names = [d.variable.name for d in domains]
    free = [1 + names.index(name) for name in hidden]
    known = [a for a in range(1, table.ndim) if a not in free]
    for a in free:  # nothing hidden is unseen
        table = np.delete(table, -1, axis=a)
    flat = as_one((domains[a - 1].places(X) for a in known), [table.shape[a] for a in known], X.n).astype(np.intp)
    turned = table.transpose(0, *known, *free)
    cells = turned.reshape(len(table), -1, *turned.shape[1 + len(known) :])
    return np.moveaxis(np.take(cells, flat, axis=1), 0, 1)


def cells_of_rows(table: Array, domains: Sequence[Domain], hidden: tuple[str, ...], X: Table) -> Array:
    """As `cells_of`, for a `table` (n, C, …) of each row's own."""
    if not domains:
        return table
    names = [d.variable.name for d in domains]
    index = [slice(0, d.size) if d.variable.name in hidden else d.places(X) for d in domains]
    cells = table[(np.arange(X.n), slice(None), *index)]
    kept = [name for name in names if name in hidden]
    return np.moveaxis(cells, [2 + kept.index(n) for n in hidden], range(2, 2 + len(hidden)))


def information_of_table(log_cpt: Array, log_prior: Array) -> float:
    """Σ_c Σ_s P(c) P(s|c) log P(s|c)/P(s)."""
    joint = exp(log_prior[:, None] + log_cpt)
    ratio = np.subtract(log_cpt, log(joint.sum(axis=0)), out=np.zeros_like(joint), where=joint > 0)
    return max(float((joint * ratio).sum()), 0.0)


def information_of_density(terms: Array, log_prior: Array, x: Array) -> float:
    """∫ Σ_c P(c) p(x|c) log p(x|c)/p(x) dx of the log densities `terms` (C, nodes) at x, by the trapezoid rule."""
    joint = terms + log_prior[:, None]
    p = exp(joint)
    excess = np.subtract(terms, log_sum(joint, axis=0), out=np.zeros_like(terms), where=p > 0)
    return max(float(np.trapezoid((p * excess).sum(axis=0), x)), 0.0)


def dot(weight: Array, terms: Any) -> float:
    """Σ w t with 0·(−inf) = 0."""
    return float((weight * np.where(weight > 0, terms, 0.0)).sum())
