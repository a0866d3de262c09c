"""How sure the numbers of a model are: the posterior of every conditional probability, mean and variance.

A row of a table is Dir(n + a), so that each probability alone is a Beta; a Poisson rate is a Gamma; mean and variance
of a Gaussian are normal–inverse-χ² under p(μ, σ²) ∝ 1/σ² (Gelman et al., Bayesian Data Analysis, 3rd ed., §2.6,
§3.2–3.4), so that the mean is a Student t and the variance an inverse χ². Rows count by their weight; cut points,
vocabulary and structure are taken as given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, chdtri, digamma, gammaincinv, gammaln, polygamma, stdtrit

from bayes_engine.errors import ParameterError
from bayes_engine.factors import ClassPrior, Factor, GaussianFactor, Product, TableFactor, normal_log_density
from bayes_engine.factors.gaussian import LinearFactor, QuadraticFactor
from bayes_engine.factors.kernel import KernelFactor
from bayes_engine.factors.poisson import PoissonFactor
from bayes_engine.factors.text import TextFactor
from bayes_engine.inference.averaged import Averaged
from bayes_engine.inference.directed import HIDDEN, ClassFamily, Directed, Domain, GaussianFamily, TableFamily
from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.weighted import Weighted
from bayes_engine.priors import Dirichlet
from bayes_engine.progress import steps
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

JEFFREYS = Dirichlet.jeffreys().amount
CHUNK = 4_000_000
"""Variates that are held at a time."""
LEAST_SHAPE = 0.1
"""A gamma variate of a smaller shape may be too small for a float: its logarithm is drawn instead."""


class Interval(NamedTuple):
    """A central credible interval, cell by cell."""

    low: Array
    high: Array


@dataclass(frozen=True)
class DirichletBelief:
    """P(x_j | c, pa) of one table: Dir(n + a), independently for each class and each cell of the parents.

    `counts` and `added` (C, S_p, …, S_j); C is 1 where the class is no parent, as of the class's own table.

    >>> rain = Domain(Variable("rain", "categorical", ("no", "yes")))
    >>> belief = DirichletBelief(rain, (), np.array([[6.0, 2.0]]), np.ones((1, 2)))
    >>> belief.mean.tolist(), belief.variance.round(4).tolist(), belief.interval().high.round(4).tolist()
    ([[0.7, 0.3]], [[0.0191, 0.0191]], [[0.9251, 0.6001]])
    """

    domain: Domain
    parents: tuple[Domain, ...]
    counts: Array
    added: Array

    @property
    def variable(self) -> Variable:
        return self.domain.variable

    @cached_property
    def alpha(self) -> Array:
        """(C, S_p, …, S_j) the parameters n + a."""
        return self.counts + self.added

    @property
    def mean(self) -> Array:
        """(C, S_p, …, S_j) what the smoothed estimate is."""
        return np.asarray(self.alpha / self.alpha.sum(axis=-1, keepdims=True))

    @property
    def variance(self) -> Array:
        """(C, S_p, …, S_j) m(1 − m)/(A + 1), A the sum of a row's parameters."""
        mean = self.mean
        return np.asarray(mean * (1.0 - mean) / (self.alpha.sum(axis=-1, keepdims=True) + 1.0))

    def interval(self, level: float = 0.95) -> Interval:
        """The probability of each cell: quantiles of Beta(α_s, A − α_s), exact."""
        return _beta_interval(self.alpha, self.alpha.sum(axis=-1, keepdims=True) - self.alpha, level)

    def known(self, X: Table) -> bool:
        return bool(self.domain.places(X)[0] != HIDDEN)

    @cached_property
    def _betas(self) -> tuple[Array, Array]:
        """The two parameters of each cell's Beta, with one more place on each axis for a value outside the domain."""
        parents = [(0, 1) for _ in self.parents]
        counts = np.pad(self.counts, [(0, 0), *parents, (0, 1)])
        added = np.concatenate([self.added, self.added.mean(axis=-1, keepdims=True)], axis=-1)
        added = np.pad(added, [(0, 0), *parents, (0, 0)], mode="edge")
        alpha = counts + added
        rest = alpha[..., :-1].sum(axis=-1, keepdims=True) - alpha
        rest[..., -1] += alpha[..., -1]  # the reserved level is one more than the others
        return alpha, np.maximum(rest, 0.0)

    def _at(self, X: Table, hidden: tuple[str, ...]) -> tuple[Any, ...]:
        axes = (*self.parents, self.domain)
        here = (slice(0, d.size) if d.variable.name in hidden else int(d.places(X)[0]) for d in axes)
        return (slice(None), *here)

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) log P of the cells that the row X points at, in n draws. Where the
        column's own cell is not `hidden`, one cell of each distribution is asked alone, and that is a Beta."""
        at, (alpha, rest) = self._at(X, hidden), self._betas
        own = log_gamma(alpha[at], n, rng)
        if self.variable.name in hidden:
            return own - log_sum(own)[..., None]
        return own - log_sum(np.stack([own, log_gamma(rest[at], n, rng)]), axis=0)

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(x|c_i) − log P(x|c_j), exact: digammas and trigammas of Beta's parameters."""
        if len(self.counts) == 1:
            return 0.0, 0.0
        at, (alpha, rest) = self._at(X, ()), self._betas
        a, whole = alpha[at][[i, j]], (alpha + rest)[at][[i, j]]
        mean = digamma(a) - digamma(whole)
        return float(mean[0] - mean[1]), float((polygamma(1, a) - polygamma(1, whole)).sum())


@dataclass(frozen=True)
class ClassBelief(DirichletBelief):
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
        """Where a parent has a value outside its domain, the class's own frequencies stand, as in `ClassFamily`."""
        inner = tuple(range(1, self.counts.ndim - 1))
        alone = np.expand_dims(self.counts.sum(axis=inner), inner) + self.added.flat[0]
        shape = (1, *(d.size + 1 for d in self.parents), self.domain.size)
        alpha = np.broadcast_to(alone, shape).copy()
        alpha[(slice(None), *(slice(0, d.size) for d in self.parents))] = self.alpha
        return alpha, alpha.sum(axis=-1, keepdims=True) - alpha

    def known(self, X: Table) -> bool:
        return True

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(c_i) − log P(c_j): that of two independent gamma variates, whose sum cancels."""
        a = self._betas[0][self._at(X, ())][0][[i, j]]
        return float(digamma(a[0]) - digamma(a[1])), float(polygamma(1, a).sum())


@dataclass(frozen=True)
class GaussianBelief:
    """μ and σ² of each class, or of each cell (c, pa): σ² = `square`/χ²_ν, μ = `centre` + z σ/√κ (Gelman et al., eq.
    3.3–3.5), all (C, S_p + 1, …), the last place of a parent for an unseen value. `centre` is an offset from the pivot.

    Where `degrees` is 0 there is no posterior of σ²: it stays the estimated `fixed`; where `kappa` is 0, so does μ.
    With `tied` the classes have one σ².

    >>> income = Variable("income", "continuous", pivot=100.0)
    >>> of = GaussianBelief(income, (), *(np.array([v]) for v in (10.0, 7.0, 6.0, 17850.0, 2550.0)))
    >>> [float(v[0].round(1)) for v in (*of.mean_interval(), *of.variance_interval())]
    [59.6, 160.4, 1235.3, 14426.1]
    """

    variable: Variable
    parents: tuple[Domain, ...]
    centre: Array
    kappa: Array
    degrees: Array
    square: Array
    fixed: Array
    tied: bool = False

    @property
    def mean(self) -> Array:
        """The means, in the column's unit."""
        return self.centre + self.variable.pivot

    def mean_interval(self, level: float = 0.95) -> Interval:
        """μ: Student's t with ν degrees; a normal where σ² is fixed; without end where nothing was seen."""
        free = self.degrees > 0
        nu = np.where(free, self.degrees, 1.0)
        t = np.where(free, stdtrit(nu, (1 + level) / 2), stdtrit(np.inf, (1 + level) / 2))
        spread = np.where(free, self.square / nu, self.fixed)
        half = np.where(self.kappa > 0, t * np.sqrt(spread / np.where(self.kappa > 0, self.kappa, 1.0)), np.inf)
        return Interval(self.mean - half, self.mean + half)

    def variance_interval(self, level: float = 0.95) -> Interval:
        """σ²: `square` over the quantiles of χ²_ν; from 0 without end where it has no posterior."""
        free = self.degrees > 0
        nu = np.where(free, self.degrees, 1.0)
        low, high = (self.square / chdtri(nu, q) for q in ((1 - level) / 2, (1 + level) / 2))
        return Interval(np.where(free, low, 0.0), np.where(free, high, np.inf))

    def known(self, X: Table) -> bool:
        return bool(~np.isnan(X[self.variable.name][0]))

    def _here(self, X: Table, hidden: tuple[str, ...]) -> tuple[float, list[Array]]:
        """The value as an offset from the pivot, and the five arrays at the cells that the row points at."""
        parents = (slice(0, d.size) if d.variable.name in hidden else int(d.places(X)[0]) for d in self.parents)
        at = (slice(None), *parents)
        arrays = (self.centre, self.kappa, self.degrees, self.square, self.fixed)
        return float(X[self.variable.name][0]) - self.variable.pivot, [a[at] for a in arrays]

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C, one axis for each of `hidden`) log N(x; μ, σ²) in n draws."""
        x, (centre, kappa, degrees, square, fixed) = self._here(X, hidden)
        free = degrees > 0
        nu = np.where(free, degrees, 1.0)
        nu = nu[:1] if self.tied else nu
        chi = np.maximum(2.0 * rng.standard_gamma(nu / 2, (n, *nu.shape)), np.finfo(float).tiny)
        variance = np.where(free, square / chi, fixed)
        z = rng.standard_normal((n, *centre.shape))
        mean = centre + np.where(kappa > 0, z * np.sqrt(variance / np.where(kappa > 0, kappa, 1.0)), 0.0)
        return normal_log_density(np.asarray(x), mean, variance)

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log p(x|c_i) − log p(x|c_j), exact: with W = χ²_ν and z normal, a log density is
        ½ log W − ½ (d √(W/square) − z/√κ)² and constants, d the distance of x from `centre`."""
        x, arrays = self._here(X, ())
        centre, kappa, degrees, square, fixed = (a[[i, j]] for a in arrays)
        free = degrees > 0
        nu, spread = np.where(free, degrees, 1.0), np.where(free, square, 1.0)
        precision = np.where(free, nu / spread, 1.0 / fixed)  # the mean of 1/σ²
        d2, loose = (x - centre) ** 2, np.divide(1.0, kappa, out=np.zeros(2), where=kappa > 0)
        both = np.where(free, digamma(nu / 2) + np.log(2.0) - log(spread), -log(fixed))
        mean = 0.5 * (both - d2 * precision - loose)
        shared = d2 * precision * loose + loose**2 / 2
        if self.tied:
            apart = free[0] * (d2[0] - d2[1]) ** 2 * precision[0] ** 2 / (2 * nu[0])
            return float(mean[0] - mean[1]), float(shared.sum() + apart)
        own = polygamma(1, nu / 2) / 4 + d2**2 * precision**2 / (2 * nu) - d2 * precision / nu
        return float(mean[0] - mean[1]), float((shared + free * own).sum())


@dataclass(frozen=True)
class RateBelief:
    """λ of each class of a Poisson column: Gamma with `shape` Σx + a x̄ and `rate` n + a, each (C,).

    >>> calls = RateBelief(Variable("calls", "count"), np.array([6.0]), np.array([2.0]))
    >>> calls.mean.tolist(), [float(v[0].round(3)) for v in calls.interval()]
    ([3.0], [1.101, 5.834])
    """

    variable: Variable
    shape: Array
    rate: Array

    @property
    def mean(self) -> Array:
        return self.shape / self.rate

    @property
    def variance(self) -> Array:
        return self.shape / self.rate**2

    def interval(self, level: float = 0.95) -> Interval:
        """λ: quantiles of the Gamma."""
        return Interval(*(gammaincinv(self.shape, q) / self.rate for q in ((1 - level) / 2, (1 + level) / 2)))

    def known(self, X: Table) -> bool:
        return bool(~np.isnan(X[self.variable.name][0]))

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C) log P(x; λ) in n draws."""
        x = float(X[self.variable.name][0])
        log_rate = log_gamma(self.shape, n, rng) - log(self.rate)
        return np.asarray((x * log_rate if x else 0.0) - exp(log_rate) - gammaln(x + 1.0))

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of log P(x|c_i) − log P(x|c_j), exact: of x log λ − λ, whose covariance is that of a Gamma
        variate and its logarithm."""
        x, s, r = float(X[self.variable.name][0]), self.shape[[i, j]], self.rate[[i, j]]
        mean = (x * (digamma(s) - log(r)) if x else np.zeros(2)) - s / r
        variance = s / r**2 + (x**2 * polygamma(1, s) - 2 * x / r if x else 0.0)
        return float(mean[0] - mean[1]), float(variance.sum())


@dataclass(frozen=True)
class TextBelief:
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
        return _beta_interval(self.present, self.other, level)

    def known(self, X: Table) -> bool:
        return not X[self.variable.name].missing[0]

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
        found = np.zeros((n, len(self.present)))
        asked, not_asked = (
            np.where(times > 0, a, b) for a, b in ((self.present, self.other), (self.other, self.present))
        )
        for part in steps(np.array_split(np.arange(len(times)), max(1, asked.size * n // CHUNK))):
            own = log_gamma(asked[:, part], n, rng)
            found += (own - log_sum(np.stack([own, log_gamma(not_asked[:, part], n, rng)]), axis=0)).sum(axis=-1)
        return found

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


Belief = DirichletBelief | GaussianBelief | RateBelief | TextBelief


@dataclass(frozen=True)
class Credible:
    """What is believed of a model's parameters: of the class (None where its prior is stated, not estimated) and of
    each column, classes in the model's own order; and what there is to say of it."""

    prior: ClassBelief | None
    columns: Mapping[str, Belief]
    notes: tuple[Message, ...]


def credible(model: GenerativeClassifier, column: str | None = None) -> Credible:
    """The posterior of a fitted model's parameters under the very prior that smoothed them; where that is none (α = 0),
    under Jeffreys', and the notes say so. Of one `column` alone it does not matter whether the others have one.

    Raises ParameterError, saying why, where there is none: zero-only smoothing, AODE, other likelihoods.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> sound = credible(NaiveBayes(priors="laplace").fit(X, y)).columns["敲声"]
    >>> [row.round(3).tolist() for row in sound.interval()]  # 否, 是 × 浊响, 沉闷, 清脆
    [[[0.167, 0.109, 0.06], [0.348, 0.067, 0.003]], [[0.692, 0.61, 0.518], [0.878, 0.556, 0.308]]]
    """
    if not isinstance(model, GenerativeClassifier) or not hasattr(model, "factor_"):
        raise ParameterError(
            "there is no band for {name}: only a fitted model that estimates class-conditional distributions has one",
            name=type(model).__name__,
        )
    if getattr(model, "smoothing", None) == "zero-only":
        raise ParameterError(
            "there is no band under zero-only smoothing: it mends single counts and is no prior; take smoothing='all'"
        )
    rule = model._prior_rule
    estimated = rule is None or isinstance(rule, Dirichlet) or (isinstance(rule, str) and rule != "uniform")
    prior: ClassBelief | None = None
    columns: dict[str, Belief] = {}
    notes: list[Message] = []
    bare = False
    for leaf in _leaves(model.factor_):
        if column is not None and getattr(getattr(leaf, "variable", None), "name", column) != column:
            continue
        belief = believed(leaf, model)
        if isinstance(belief, ClassBelief):
            prior = belief if estimated else None
            notes += _of_class(leaf, estimated)
        elif not isinstance(belief, DirichletBelief) or belief.domain.size:
            columns[belief.variable.name] = belief
            bare |= _unsmoothed(leaf)
    return Credible(prior, columns, (*notes, *_of_columns(columns, bare)))


@singledispatch
def believed(factor: Any, model: GenerativeClassifier) -> Belief:
    """What is believed of the parameters of one factor. Raises ParameterError where this is not known."""
    what = getattr(getattr(factor, "variable", None), "name", type(model).__name__)
    raise ParameterError(
        "there is no band for '{what}' ({kind}): tables, Gaussians, Poisson rates and texts have one, in naive Bayes, "
        "SPODE, TAN, k-DB and networks",
        what=what,
        kind=type(factor).__name__,
    )


@believed.register
def _(factor: Weighted, model: GenerativeClassifier) -> Belief:
    raise ParameterError(
        "there is no band for weights: they are fitted to the posterior of the rows, not estimated under a prior; the "
        "conditional probabilities have theirs"
    )


@believed.register
def _(factor: Averaged, model: GenerativeClassifier) -> Belief:
    raise ParameterError(
        "there is no band for AODE: its models count the same rows in many tables, so the tables do not vary one by one"
    )


@believed.register
def _(factor: KernelFactor, model: GenerativeClassifier) -> Belief:
    raise ParameterError(
        "there is no band for '{column}': a kernel density has no parameter whose posterior could be drawn, it is made "
        "of the training values themselves; take a Gaussian or intervals to see one",
        column=factor.variable.name,
    )


@believed.register(LinearFactor)
@believed.register(QuadraticFactor)
def _(factor: Any, model: GenerativeClassifier) -> Belief:
    raise ParameterError(
        "there is no band for LDA and QDA: their whole covariance matrices are not drawn here; naive Bayes of the same "
        "numbers has one, of means and variances"
    )


@believed.register
def _(factor: ClassPrior, model: GenerativeClassifier) -> Belief:
    added = factor.added if factor.added > 0 else JEFFREYS
    return ClassBelief(Domain(model.target_), (), factor.weight[None, :], np.full((1, len(factor.p)), added))


@believed.register
def _(factor: ClassFamily, model: GenerativeClassifier) -> Belief:
    counts = np.moveaxis(factor.counts, 0, -1)[None]
    added = np.full(counts.shape, factor.alpha if factor.alpha > 0 else JEFFREYS)
    return ClassBelief(Domain(factor.variable), factor.parents, counts, added)


@believed.register
def _(factor: TableFactor, model: GenerativeClassifier) -> Belief:
    added = np.full(factor.counts.shape, JEFFREYS) if _unsmoothed(factor) else factor.added
    domain = Domain(factor.variable, factor.missing_is_level, getattr(model, "unseen", None) == "smooth")
    return DirichletBelief(domain, (), factor.counts, np.broadcast_to(added, factor.counts.shape))


@believed.register
def _(factor: TableFamily, model: GenerativeClassifier) -> Belief:
    added = np.full(factor.counts.shape, JEFFREYS) if _unsmoothed(factor) else factor.added
    return DirichletBelief(factor.domain, factor.parents, factor.counts, added)


@believed.register
def _(factor: PoissonFactor, model: GenerativeClassifier) -> Belief:
    if _unsmoothed(factor):  # Jeffreys' prior of a rate: Gamma(½, 0); a class without a row keeps its imagined one
        return RateBelief(factor.variable, factor.total + JEFFREYS, np.where(factor.n > 0, factor.n, 1.0))
    return RateBelief(factor.variable, factor.total + factor.added * factor.mean, factor.n + factor.added)


@believed.register
def _(factor: TextFactor, model: GenerativeClassifier) -> Belief:
    sums = factor.counts.sums
    added = np.full((*sums.shape, 1), JEFFREYS) if _unsmoothed(factor) else factor.added
    if factor.presence:
        present, other = sums + added[..., -1], factor.counts.absent + added[..., 0]
    else:
        present = sums + (added[..., 0] if _unsmoothed(factor) else added)
        other = present.sum(axis=1, keepdims=True) - present
    return TextBelief(factor.variable, factor.counts.names, present, np.maximum(other, 0.0), factor.presence)


@believed.register
def _(factor: GaussianFactor, model: GenerativeClassifier) -> Belief:
    n, m2 = factor.moments.weight, factor.moments.m2
    degrees, square = np.maximum(n - 1.0, 0.0), m2
    if factor.tied:
        degrees, square = (np.full(len(n), a.sum()) for a in (degrees, m2))
    free = ~factor.replaced & (degrees > 0) & (square > 0)
    degrees = np.where(free, degrees, 0.0)
    return GaussianBelief(factor.variable, (), factor.moments.offset, n, degrees, square, factor.variance, factor.tied)


@believed.register
def _(factor: GaussianFamily, model: GenerativeClassifier) -> Belief:
    """A cell's imagined rows count as rows; where the class's own Gaussian stands in, so does the belief in it."""
    centre, variance = factor.gaussians
    inner, a = len(factor.parents), factor.alpha if factor.parents else 0.0
    outside = tuple(slice(-1, None) for _ in factor.parents)
    shape = (*factor.classes.weight.shape, *(d.size for d in factor.parents))
    pads = [(0, 0), *((0, 1) for _ in factor.parents)]
    n = np.pad(factor.cells.weight.reshape(shape), pads)
    of_class, m2 = (v.reshape(-1, *[1] * inner) for v in (factor.classes.weight, factor.classes.m2))
    here = (slice(None), *outside)
    borrowed = (centre == centre[here]) & (variance == variance[here])
    borrowed |= n + a <= 1
    kappa, degrees = np.where(borrowed, of_class, n + a), np.where(borrowed, of_class, n + a) - 1.0
    square = np.where(borrowed, m2, variance * (n - factor.ddof + a))
    centre = np.where(borrowed, centre[here], centre)
    fixed = np.where(borrowed, variance[here], variance)
    degrees = np.where((degrees > 0) & (square > 0), degrees, 0.0)
    return GaussianBelief(factor.variable, factor.parents, centre, kappa, degrees, square, fixed)


def _beta_interval(alpha: Array, rest: Array, level: float) -> Interval:
    """Quantiles of Beta(α, rest); where one of them is 0 the probability is sure."""
    sure = (alpha <= 0) | (rest <= 0)
    a, b = np.where(sure, 1.0, alpha), np.where(sure, 1.0, rest)
    return Interval(*(np.where(sure, alpha > 0, betaincinv(a, b, q)) for q in ((1 - level) / 2, (1 + level) / 2)))


def log_gamma(shape: Array, n: int, rng: np.random.Generator) -> Array:
    """(n, …) logarithms of gamma variates of these shapes; of a small one by Γ(a) ~ Γ(a + 1) U^{1/a}, so that none is
    lost below the least float; of 0 it is −inf."""
    small = shape < LEAST_SHAPE
    drawn = log(rng.standard_gamma(np.where(small, shape + 1.0, shape), (n, *shape.shape)))
    if small.any():
        there = small & (shape > 0)
        tail = rng.standard_exponential(drawn.shape) / np.where(there, shape, 1.0)
        drawn = np.where(small, np.where(there, drawn - tail, -np.inf), drawn)
    return drawn


# plumbing -------------------------------------------------------------------------------------------------------------


def _leaves(factor: Factor) -> Iterator[Any]:
    """The factors that have parameters of their own."""
    if isinstance(factor, Product):
        for part in factor.parts:
            yield from _leaves(part)
    elif isinstance(factor, Directed):
        yield factor.prior if factor.above is None else factor.above
        yield from factor.families
    else:
        yield factor


def _unsmoothed(factor: Any) -> bool:
    """Whether nothing is added to the counts of a table; what a pair without a row gets does not count."""
    if isinstance(factor, PoissonFactor):
        return bool((factor.added == 0).any())
    if isinstance(factor, TableFactor | TextFactor):
        return bool((factor.added.sum(axis=-1) == 0).any())
    return isinstance(factor, TableFamily) and factor.alpha == 0


def _of_class(factor: ClassPrior | ClassFamily, estimated: bool) -> list[Message]:
    """What there is to say of the class's own probabilities."""
    if not estimated:
        return [Message("The class prior is stated, not estimated: it is the same in every plausible model.")]
    if (factor.added if isinstance(factor, ClassPrior) else factor.alpha) > 0:
        return []
    return [Message("The class prior is the plain frequency: its band takes Jeffreys' prior, ½ a class.")]


def _of_columns(columns: Mapping[str, Belief], bare: bool) -> list[Message]:
    """What there is to say of the columns' parameters."""
    notes = []
    if bare:
        notes.append(
            Message(
                "Nothing is added to the counts (α = 0), so a count of 0 would be certain: the band takes Jeffreys' "
                "prior, ½ a level."
            )
        )
    numeric = {name: b for name, b in columns.items() if isinstance(b, GaussianBelief)}
    if numeric:
        notes.append(Message("Means and variances have the reference prior p(μ, σ²) ∝ 1/σ²."))
    few = [name for name, b in numeric.items() if (b.degrees == 0).any()]
    if few:
        notes.append(
            Message(
                "Column(s) {names}: where a class has too few rows, or no spread, its variance has no band; it stays "
                "as estimated.",
                {"names": ", ".join(few)},
            )
        )
    return notes
