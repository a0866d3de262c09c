"""Where the numbers of a working came from: counted, set, a density with its moments, a rate, the terms of a text.

`sources` has it for each class of a factor that is one row of the ledger, `origins` for every row of any factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.factors import ClassPrior, GaussianFactor, Product, TableFactor, normal_log_density
from bayes_engine.factors.gaussian import LinearFactor
from bayes_engine.factors.kernel import KernelFactor, log_kernel_density
from bayes_engine.factors.poisson import PoissonFactor
from bayes_engine.factors.text import TextFactor
from bayes_engine.inference.averaged import Averaged
from bayes_engine.inference.directed import ClassFamily, Directed, GaussianFamily, TableFamily
from bayes_engine.logspace import Array, exp
from bayes_engine.models.weighted import Weighted
from bayes_engine.table.encode import MISSING, Table


@dataclass(frozen=True)
class Fraction:
    """(count + added) / (total + added·levels): where a probability was counted. Where more is added to some levels
    than to others, `uneven` is what is added to the total."""

    count: float
    total: float
    added: float
    levels: int
    uneven: float | None = field(default=None, repr=False)

    @property
    def imagined(self) -> float:
        """What is added to the total."""
        return self.added * self.levels if self.uneven is None else self.uneven

    @property
    def value(self) -> float:
        return (self.count + self.added) / (self.total + self.imagined)


@dataclass(frozen=True)
class Given:
    """A probability that was set (a stated prior, an ignored value), not counted."""

    value: float


@dataclass(frozen=True)
class Summed(Given):
    """A probability summed out of the tables of a network."""


@dataclass(frozen=True)
class Lent:
    """`rows` imagined rows with the class's mean and variance, beside the n of a cell, whose own mean is `mean`:
    μ = (n·mean + rows·class_mean)/(n + rows), and
    σ² = (m2 + rows·class_variance + n·rows/(n + rows)·(mean − class_mean)²)/(n − ddof + rows)."""

    rows: float
    mean: float
    class_mean: float
    class_variance: float


@dataclass(frozen=True)
class Density:
    """N(x; mean, variance): the Gaussian fitted to the n values of one class, with their sum of squared deviations.

    `replaced` says that the variance is not this class's own m2/(n − ddof) but the pooled one or the floor. Of a cell
    of the parents `lent` are the imagined rows it was smoothed by; `stands_in` says that too few rows were in that
    cell, so that n, mean and m2 are those of the whole class.
    """

    x: float
    n: float
    mean: float
    m2: float
    ddof: int
    variance: float
    replaced: bool
    lent: Lent | None = None
    stands_in: bool = False

    @property
    def own_mean(self) -> float:
        """The mean of the rows themselves, before any smoothing."""
        return self.mean if self.lent is None else self.lent.mean

    @property
    def sd(self) -> float:
        return float(np.sqrt(self.variance))

    @property
    def log_value(self) -> float:
        return float(normal_log_density(np.array(self.x), np.array(self.mean), np.array(self.variance)))

    @property
    def value(self) -> float:
        return float(exp(self.log_value))


@dataclass(frozen=True)
class Shift:
    """π_use/π_model: what the prior of use multiplies the product of one class by."""

    use: float
    model: float

    @property
    def value(self) -> float:
        return self.use / self.model if self.model > 0 else 1.0


@dataclass(frozen=True)
class Term:
    """exp of a log term that is no single count: an expectation over what is hidden, an entropy, a part of a quadratic
    form. Beyond the range of a float `value` stays at its end; `log_value` is exact."""

    log_value: float

    @property
    def value(self) -> float:
        return float(exp(min(self.log_value, 709.0)))


@dataclass(frozen=True)
class Linear(Term):
    """w (x − t): a column's part of a linear discriminant function, t half-way between the class's mean and the mean
    of all."""

    weight: float
    x: float
    middle: float


Source = Fraction | Given | Density | Shift | Term
"""Where a number came from."""


@dataclass(frozen=True)
class Estimated(Term):
    """A density or a probability estimated from the rows of a class, though not by one count."""


class Bump(NamedTuple):
    """A training value under a kernel density, its weight, and its share of the density at x."""

    value: float
    weight: float
    share: float


@dataclass(frozen=True)
class Kernel(Estimated):
    """Σ w K((x − x_i)/h)/(n h) over the values x_i of a class: `bumps` are those that add most at x. A `precision` p is
    Weka's: values rounded to multiples of p, K averaged over x ± p/2. `stands_in`: the class has no spread of its own
    to take h from."""

    x: float
    n: float
    bandwidth: float
    precision: float | None
    bumps: tuple[Bump, ...]
    stands_in: bool


@dataclass(frozen=True)
class Rate(Estimated):
    """Poisson: λ^x e^−λ/x!, of the `rate` λ = (total + added · mean)/(n + added): n rows with a known count and `added`
    imagined ones with the mean of the column."""

    x: float
    rate: float
    n: float
    total: float
    added: float
    mean: float


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
class Power(Estimated):
    """P(x_j|c)^w: a column's factor, from `base`, to the power of its weight; a score."""

    base: Source
    weight: float


BUMPS = 12
"""So many bumps of a kernel density are shown."""


@singledispatch
def origins(factor: Any, X: Table) -> Iterator[tuple[Source, ...]]:
    """For each row that the factor has for the first row of X, and each class, where the value came from."""
    for _row, term in factor.rows(X):
        yield tuple(Term(float(v)) for v in term[0])


@origins.register
def _(factor: Product, X: Table) -> Iterator[tuple[Source, ...]]:
    for part in factor.parts:
        yield from origins(part, X)


@origins.register
def _(
    factor: ClassPrior | TableFactor | GaussianFactor | KernelFactor | PoissonFactor | TextFactor, X: Table
) -> Iterator[tuple[Source, ...]]:
    for _row in factor.rows(X):
        yield sources(factor, X)


@origins.register
def _(factor: Weighted, X: Table) -> Iterator[tuple[Source, ...]]:
    for _row, term in factor.rows(X):
        behind = zip(term[0].tolist(), sources(factor.part, X), strict=True)
        yield tuple(Power(value, base, factor.weight) for value, base in behind)


@origins.register
def _(factor: LinearFactor, X: Table) -> Iterator[tuple[Source, ...]]:
    complete = all(not math.isnan(X[name][0]) for name in factor.names)
    for row, term in factor.rows(X):
        terms = [float(v) for v in term[0]]
        if row.name not in factor.names or not complete:
            yield tuple(Term(v) for v in terms)
            continue
        j, x = factor.names.index(row.name), float(X[row.name][0])
        middles = (factor.centre[j] + factor.apart[:, j] / 2).tolist()
        weights = factor.weights[:, j].tolist()
        yield tuple(Linear(v, w, x, t) for v, w, t in zip(terms, weights, middles, strict=True))


@origins.register
def _(factor: Directed, X: Table) -> Iterator[tuple[Source, ...]]:
    families = {family.variable.name: family for family in factor.all_families}
    for row, term in factor.rows(X):
        if row.kind in ("expected", "entropy"):
            yield tuple(Term(float(v)) for v in term[0])
        elif row.kind == "prior" and factor.above is None:
            yield sources(factor.prior, X)
        else:
            found = sources(families[row.name], X)
            yield found * (len(term[0]) // len(found))  # a column that the class is no parent of: one for all


@origins.register
def _(factor: Averaged, X: Table) -> Iterator[tuple[Source, ...]]:
    if not factor.members:
        yield from origins(factor.naive, X)
        return
    for row, term in factor.rows(X):
        yield sources(factor.prior, X) if row.kind == "prior" else tuple(Term(float(v)) for v in term[0])


@singledispatch
def sources(factor: Any, X: Table) -> tuple[Source, ...]:
    """For each class, where the factor's value for the first row of X came from."""
    raise NotImplementedError(f"{type(factor).__name__} does not say where its numbers come from")


@sources.register
def _(factor: ClassPrior, X: Table) -> tuple[Source, ...]:
    n, k = float(factor.weight.sum()), len(factor.p)
    counted = [Fraction(float(w), n, factor.added, k) for w in factor.weight]
    return tuple(
        f if n > 0 and abs(f.value - p) <= 1e-12 else Given(float(p)) for f, p in zip(counted, factor.p, strict=True)
    )


@sources.register
def _(factor: TableFactor, X: Table) -> tuple[Source, ...]:
    code = int(X[factor.variable.name][0])
    levels = factor.counts.shape[1]
    missing_level = code == MISSING and factor.missing_is_level
    if code > len(factor.variable.levels) or (code == MISSING and not missing_level):
        return tuple(Given(float(exp(u))) for u in factor.lookup[:, min(code, factor.lookup.shape[1] - 1)])
    place = levels - 1 if missing_level else code - 1
    counts = factor.counts[:, place]
    added = np.broadcast_to(factor.added, factor.counts.shape)
    return tuple(
        fraction_of(n, total, a, place) for n, total, a in zip(counts, factor.counts.sum(axis=1), added, strict=True)
    )


@sources.register
def _(factor: GaussianFactor, X: Table) -> tuple[Source, ...]:
    x, m = float(X[factor.variable.name][0]), factor.moments
    return tuple(
        Density(x, float(n), float(mean), float(m2), factor.ddof, float(v), bool(r))
        for n, mean, m2, v, r in zip(m.weight, m.mean, m.m2, factor.variance, factor.replaced, strict=True)
    )


@sources.register
def _(factor: KernelFactor, X: Table) -> tuple[Source, ...]:
    x, one = float(X[factor.variable.name][0]), np.ones(1)
    found: list[Source] = []
    for c, (weight, h) in enumerate(zip(factor.weight, factor.bandwidth.tolist(), strict=True)):
        mine = np.flatnonzero(weight)
        mine = mine[np.argsort(np.abs(factor.points[mine] - x), kind="stable")[:BUMPS]]
        value = float(factor.at(np.array([x]))[0, c])
        alone = [log_kernel_density(np.array([x]), factor.points[[i]], one, h, factor.precision)[0] for i in mine]
        shares = exp(np.array(alone) - value) * weight[mine] / weight.sum() if np.isfinite(value) else weight[mine] * 0
        bumps = map(Bump, factor.points[mine].tolist(), weight[mine].tolist(), shares.tolist())
        found.append(Kernel(value, x, float(weight.sum()), h, factor.precision, tuple(bumps), factor.replaced[c]))
    return tuple(found)


@sources.register
def _(factor: PoissonFactor, X: Table) -> tuple[Source, ...]:
    x = float(X[factor.variable.name][0])
    columns = (factor.at(np.array([x]))[0], factor.rate, factor.n, factor.total, factor.added)
    behind = (map(float, of_class) for of_class in zip(*columns, strict=True))
    return tuple(Rate(value, x, rate, n, total, added, factor.mean) for value, rate, n, total, added in behind)


@sources.register
def _(factor: TextFactor, X: Table) -> tuple[Source, ...]:
    first = X.take(slice(0, 1))
    ((_row, whole),) = factor.rows(first)
    row = first[factor.variable.name].counts
    log_p = factor.terms.present[:, row.indices] * row.data
    with np.errstate(invalid="ignore"):  # −∞ in every class
        apart = np.nan_to_num(log_p.max(axis=0) - log_p.min(axis=0), nan=0.0, posinf=np.inf)
    loudest = np.argsort(-apart, kind="stable")
    found: list[Source] = []
    for c, value in enumerate(whole[0].tolist()):
        terms = tuple(
            WordTerm(factor.counts.names[v], float(times), float(times * factor.terms.present[c, v]),
                     term_fraction(factor, c, int(v)))
            for v, times in zip(row.indices[loudest], row.data[loudest], strict=True)
        )  # fmt: skip
        rest = np.setdiff1d(np.arange(len(factor.counts.names)), row.indices)
        absent = 0.0 if factor.terms.absent is None else float(factor.terms.absent[c, rest].sum())
        found.append(Words(value, terms, absent))
    return tuple(found)


def term_fraction(factor: TextFactor, c: int, v: int) -> Fraction:
    """Where the probability of the v-th term in the c-th class was counted: among the class's terms, or its texts."""
    sums = factor.counts.sums[c]
    if factor.presence:
        added = np.broadcast_to(factor.added, (*factor.counts.sums.shape, 2))[c, v]
        return fraction_of(float(sums[v]), float(factor.counts.weight[c]), added, 1)
    return fraction_of(float(sums[v]), float(sums.sum()), np.broadcast_to(factor.added, factor.counts.sums.shape)[c], v)


@sources.register
def _(factor: TableFamily, X: Table) -> tuple[Source, ...]:
    places = [int(d.places(X)[0]) for d in factor.axes]
    if any(place >= d.size for place, d in zip(places, factor.axes, strict=True)):
        return tuple(Given(float(exp(v))) for v in np.moveaxis(factor.lookup, 0, -1)[tuple(places)])
    here = tuple(places[:-1])
    counts, totals = np.moveaxis(factor.counts, 0, -1)[tuple(places)], np.moveaxis(factor.totals, 0, -1)[here]
    added = np.moveaxis(factor.added, 0, -2)[here]  # (C, S)
    return tuple(fraction_of(n, total, a, places[-1]) for n, total, a in zip(counts, totals, added, strict=True))


def fraction_of(count: float, total: float, added: Array, place: int) -> Fraction:
    """The place-th of the levels that these numbers (S,) are added to.

    >>> fraction_of(3.0, 8.0, np.ones(3), 0)
    Fraction(count=3.0, total=8.0, added=1.0, levels=3)
    """
    uneven = None if (added == added[0]).all() else float(added.sum())
    return Fraction(float(count), float(total), float(added[place]), len(added), uneven)


@sources.register
def _(factor: ClassFamily, X: Table) -> tuple[Source, ...]:
    places = tuple(int(d.places(X)[0]) for d in factor.parents)
    if any(place >= d.size for place, d in zip(places, factor.parents, strict=True)):
        return tuple(Given(float(exp(v))) for v in np.moveaxis(factor.lookup, 0, -1)[places])
    counts = np.moveaxis(factor.counts, 0, -1)[places]
    total, k = float(counts.sum()), len(counts)
    added = 1.0 if total == 0 == factor.alpha else factor.alpha
    return tuple(Fraction(float(n), total, added, k) for n in counts)


@sources.register
def _(factor: GaussianFamily, X: Table) -> tuple[Source, ...]:
    """The moments of the parents' cell, and what smoothing made of them; without rows in it, those of the class."""
    x, pivot = float(X[factor.variable.name][0]), factor.variable.pivot
    places = [int(d.places(X)[0]) for d in factor.parents]
    inside = bool(places) and all(place < d.size for place, d in zip(places, factor.parents, strict=True))
    mean, variance = (np.moveaxis(a, 0, -1)[tuple(places)] for a in factor.gaussians)
    of_class = [np.moveaxis(a, 0, -1)[tuple(d.size for d in factor.parents)] for a in factor.gaussians]
    found: list[Source] = []
    for c, (m, v) in enumerate(zip(mean.tolist(), variance.tolist(), strict=True)):
        class_mean, class_variance = float(of_class[0][c]), float(of_class[1][c])
        at = int(np.ravel_multi_index((c, *places), (len(mean), *(d.size for d in factor.parents)))) if inside else 0
        n = float(factor.cells.weight[at]) if inside else 0.0
        stands_in = not n or (not factor.alpha and (m, v) == (class_mean, class_variance))
        cell, at = (factor.classes, c) if stands_in else (factor.cells, at)
        n, m2 = float(cell.weight[at]), float(cell.m2[at])
        own = n > factor.ddof and math.isclose(v, m2 / (n - factor.ddof), rel_tol=1e-9)
        lent = None
        if not stands_in and factor.parents and factor.alpha:
            lent = Lent(factor.alpha, float(cell.offset[at]) + pivot, class_mean + pivot, class_variance)
        found.append(Density(x, n, m + pivot, m2, factor.ddof, v, (bool(places) and stands_in) or not own, lent,
                             bool(places) and stands_in))  # fmt: skip
    return tuple(found)
