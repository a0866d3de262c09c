"""Columns of counts that are one multinomial together: a row as a bag of things drawn, a column for each thing.

P(x|c) ∝ Π_j θ_cj^x_j with Σ_j θ_cj = 1 in each class (McCallum & Nigam, A Comparison of Event Models for Naive Bayes
Text Classification, AAAI-98 workshop): the total of a row does not depend on the class, and the orderings of what was
drawn are alike in all classes, so both are left out. scikit-learn's MultinomialNB is the same of a matrix of terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma, xlogy

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Row
from bayes_engine.factors.leaf import BY_DEFAULT, Estimation, Form, LeftOutRows, Numbers, dot
from bayes_engine.factors.likelihoods import Likelihood, ValuesLeaf, register
from bayes_engine.factors.posterior import JEFFREYS, Interval, beta_interval, log_gamma
from bayes_engine.factors.sources import Complement, Estimated, Fraction, Source, fraction_of
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import Dirichlet, Smoothing, log_normalized, tilt, where_smoothed
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import less
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable

JOINT_MULTINOMIAL = "joint-multinomial"
"""The likelihood of the columns that are one multinomial."""
CHUNK = 2**21
"""So many numbers are counted at once where rows are left out one by one."""


@dataclass(frozen=True)
class CountShare(Estimated):
    """θ^x of a multinomial: the column was counted `x` times, and where its share θ was counted."""

    x: float
    share: Fraction


@dataclass(frozen=True)
class JointCounts:
    """What the `columns` of one multinomial were counted as: `sums` (C, d) of each column by class, and the Dirichlet
    prior of each column with where it is added; `added` (C, d) is what that comes to."""

    columns: tuple[str, ...]
    sums: Array
    priors: tuple[Dirichlet, ...]
    smoothing: Smoothing = "all"

    @cached_property
    def added(self) -> Array:
        return self.added_to(self.sums)

    @cached_property
    def log_share(self) -> Array:
        """(C, d) log θ_cj = log (N_cj + α_j)/(N_c + Σ α)."""
        return log_normalized(self.sums + self.added)

    def added_to(self, sums: Array) -> Array:
        """What is added to sums (…, C, d)."""
        shape = (sums.shape[-2], sums.shape[-1])
        added = np.broadcast_to(np.array([prior.per_level(shape) for prior in self.priors]), sums.shape)
        tilted = np.array([prior.base != "uniform" for prior in self.priors])
        if tilted.any():
            added = np.where(tilted, added * tilt(sums.sum(axis=-2, keepdims=True)), added)
        return where_smoothed(sums, added, self.smoothing)


@dataclass(frozen=True)
class JointMultinomialLeaf(ValuesLeaf):
    """One column's part of the multinomial of several: x_j log θ_cj, which with the parts of the others is the
    logarithm of the whole up to what all classes share.

    Of a row in which other columns of the multinomial are not known it is x_j log (θ_cj/Σ_k θ_ck), k being the known
    ones: what the known counts are given their own total, as a fit without the other columns would have it.

    >>> counts = JointCounts(("goals", "fouls"), np.array([[6.0, 2.0], [1.0, 5.0]]), (Dirichlet(1.0), Dirichlet(1.0)))
    >>> leaf = JointMultinomialLeaf(Variable("goals", "count", likelihood="joint-multinomial"), "team", counts)
    >>> leaf.at(np.array([2.0])).round(4).tolist()  # 2 log 7/10, 2 log 2/8
    [[-0.7133, -2.7726]]
    """

    form: ClassVar[Form] = "share"
    numbers: ClassVar[Numbers] = "parameters"
    variable: Variable
    target: str
    counts: JointCounts
    estimation: Estimation = BY_DEFAULT

    @property
    def place(self) -> int:
        """Where its column stands among those of the multinomial."""
        return self.counts.columns.index(self.variable.name)

    def at(self, x: Array) -> Array:
        """(n, C) the terms at x (n,) of rows in which all columns are known."""
        return _drawn(x, self.counts.log_share[:, self.place])

    @classmethod
    def estimated(
        cls, variable: Variable, target: str, column: ColumnValues, estimation: Estimation
    ) -> JointMultinomialLeaf:
        """The leaf of a column that is alone: it says nothing."""
        counts = JointCounts((variable.name,), column.sum[:, None], (estimation.prior,), estimation.smoothing)
        return cls(variable, target, counts, estimation)

    def gathers(self, column: str) -> bool | None:
        return column in self.counts.columns

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        x = X[self.variable.name]
        if len(x) and np.isnan(x).all():
            return
        yield self.row, self._of(X)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        return self._of(X) if left is None else self._left_out(X, left)

    def _of(self, X: Table) -> Array:
        x = X[self.variable.name]
        terms = self.at(x)
        known = self._known(X)
        some = ~known.all(axis=1) & ~np.isnan(x) & (x > 0)
        if some.any():
            share = log(np.minimum(known[some] @ exp(self.counts.log_share).T, 1.0))
            with np.errstate(invalid="ignore"):
                among = terms[some] - x[some, None] * share
            terms[some] = np.where(np.isnan(among), -np.inf, among)  # no class with a share of what is known
        return terms

    def _known(self, X: Table) -> NDArray[np.bool_]:
        """(n, d) which columns of the multinomial are known."""
        return np.stack([~np.isnan(X[name]) for name in self.counts.columns], axis=1)

    def _left_out(self, X: Table, left: LeftOutRows) -> Array:
        """(n, C) each row's term by the sums without it."""
        terms = np.empty((X.n, len(self.counts.sums)))
        own = np.nan_to_num(np.stack([X[name] for name in self.counts.columns], axis=1))
        step = max(CHUNK // self.counts.sums.size, 1)
        for start in range(0, X.n, step):
            rows = np.arange(start, min(start + step, X.n))
            sums = np.repeat(self.counts.sums[None], len(rows), axis=0)
            mine = np.arange(len(rows)), left.own[rows]
            sums[mine] = less(sums[mine], left.weight[rows, None] * own[rows])
            log_share = log_normalized(sums + self.counts.added_to(sums))[..., self.place]
            terms[rows] = _drawn(X[self.variable.name][rows], log_share)
        return terms

    # what is asked of it ------------------------------------------------------------------------------------------

    def sources(self, X: Table) -> tuple[Source, ...]:
        first = X.take(slice(0, 1))
        known = np.flatnonzero(self._known(first)[0])
        place = int(np.flatnonzero(known == self.place)[0])
        x, ((_row, terms),) = float(first[self.variable.name][0]), tuple(self.rows(first))
        shares = (
            fraction_of(float(sums[self.place]), float(sums[known].sum()), added[known], place)
            for sums, added in zip(self.counts.sums, self.counts.added, strict=True)
        )
        return tuple(CountShare(value, x, share) for value, share in zip(terms[0].tolist(), shares, strict=True))

    def size(self, stats: SufficientStatistics) -> float:
        """Its part of the K·(d − 1) free probabilities."""
        classes, d = self.counts.sums.shape
        return float(classes * (d - 1) / d)

    @property
    def unsmoothed(self) -> bool:
        return bool((self.counts.added.sum(axis=-1) == 0).any())

    def posterior(self, target: Variable) -> SharesPosterior:
        added = np.full(self.counts.sums.shape, JEFFREYS) if self.unsmoothed else self.counts.added
        return SharesPosterior(self.variable, self.counts.columns, self.counts.sums + added)

    def log_likelihood(self, stats: SufficientStatistics) -> float:
        return dot(stats.values.columns[self.variable.name].sum, self.counts.log_share[:, self.place])

    def log_prior_density(self, added: Any = 0.0) -> float:
        if self.counts.smoothing != "all":
            return 0.0
        return float(xlogy(self.counts.added, exp(self.counts.log_share))[:, self.place].sum())

    def distance(self, other: JointMultinomialLeaf) -> float:
        mine, theirs = (exp(leaf.counts.log_share[:, leaf.place]) for leaf in (self, other))
        return float(np.abs(mine - theirs).max(initial=0.0))


@dataclass(frozen=True)
class ComplementCountsLeaf(JointMultinomialLeaf):
    """Of complement naive Bayes: −x_j log θ_c̃j, a score; `counts` are those of all other classes. A cell that is not
    known says nothing, and changes no other."""

    @property
    def kind(self) -> Literal["score"]:
        return "score"

    def _of(self, X: Table) -> Array:
        return 0.0 - self.at(X[self.variable.name])

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        if left is not None:
            raise NotImplementedError("a row left out of one class is left out of the complement of every other")
        return self._of(X)

    def gathers(self, column: str) -> bool | None:
        return False

    def sources(self, X: Table) -> tuple[Source, ...]:
        x, ((_row, terms),) = float(X[self.variable.name][0]), tuple(self.rows(X.take(slice(0, 1))))
        return tuple(
            Complement(value, CountShare(0.0 - value, x, fraction_of(float(sums[self.place]), float(sums.sum()), added,
                                                                self.place)), -1.0)
            for value, sums, added in zip(terms[0].tolist(), self.counts.sums, self.counts.added, strict=True)
        )  # fmt: skip

    def posterior(self, target: Variable) -> NoReturn:
        refuse_bands_of_scores()


@dataclass(frozen=True)
class SharesPosterior:
    """The shares θ_c of one multinomial in each class: Dir(`weight`), (C, d), of its `columns`, N_cj + α_j each. It is
    one for all columns: `interval` is of each share, but a row's term is drawn once, by the posterior of the row's
    first known column, and is 0 in the others'. Among the known columns the shares are Dirichlet again.

    >>> shots = SharesPosterior(Variable("goals", "count"), ("goals", "fouls"), np.array([[7.0, 3.0]]))
    >>> shots.mean.tolist(), [v[0].round(3).tolist() for v in shots.interval()]
    ([[0.7, 0.3]], [[0.4, 0.075], [0.925, 0.6]])
    """

    variable: Variable
    columns: tuple[str, ...]
    weight: Array

    @property
    def mean(self) -> Array:
        """(C, d) what the smoothed estimate is."""
        return np.asarray(self.weight / self.weight.sum(axis=1, keepdims=True))

    @property
    def variance(self) -> Array:
        """(C, d) m(1 − m)/(A + 1)."""
        return np.asarray(self.mean * (1.0 - self.mean) / (self.weight.sum(axis=1, keepdims=True) + 1.0))

    def interval(self, level: float = 0.95) -> Interval:
        """Each share: quantiles of its Beta, exact."""
        rest = self.weight.sum(axis=1, keepdims=True) - self.weight
        return beta_interval(self.weight, np.maximum(rest, 0.0), level)

    def _counted(self, X: Table) -> tuple[Array, Array] | None:
        """The known counts (k,) of the row and the weights (C, k) of their columns, for the first of these columns."""
        x = np.array([float(X[name][0]) for name in self.columns])
        known = np.flatnonzero(~np.isnan(x))
        if not len(known) or self.columns[known[0]] != self.variable.name:
            return None
        return x[known], self.weight[:, known]

    def draw(self, X: Table, hidden: tuple[str, ...], n: int, rng: np.random.Generator) -> Array:
        """(n, C) Σ_j x_j log θ_cj of the whole row in n draws."""
        if (counted := self._counted(X)) is None:
            return np.zeros((n, len(self.weight)))
        x, weight = counted
        drawn = log_gamma(weight, n, rng)
        total = log_sum(drawn, axis=-1)
        with np.errstate(invalid="ignore"):
            own = np.where(x > 0, x * drawn, 0.0).sum(axis=-1)
        return np.asarray(own - (x.sum() * total if x.any() else 0.0))

    def log_ratio(self, X: Table, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of Σ_k x_k (log θ_ik − log θ_jk), exact: of a Dirichlet's logarithms."""
        if (counted := self._counted(X)) is None:
            return 0.0, 0.0
        x, weight = counted[0], counted[1][[i, j]]
        there, total = x > 0, weight.sum(axis=1)
        if not there.any():
            return 0.0, 0.0
        mean = digamma(weight[:, there]) @ x[there] - x.sum() * digamma(total)
        variance = polygamma(1, weight[:, there]) @ x[there] ** 2 - x.sum() ** 2 * polygamma(1, total)
        return float(mean[0] - mean[1]), float(variance.sum())


def refuse_bands_of_scores() -> NoReturn:
    """Raises ParameterError where a band is asked of a score."""
    raise ParameterError(
        "there is no band for complement naive Bayes: its scores are calibrated on rows held out, no posterior is "
        "drawn from a prior of their weights"
    )


def together(schema: Schema) -> tuple[str, ...]:
    """The columns of a schema that are one multinomial."""
    return tuple(v.name for v in schema if v.likelihood == JOINT_MULTINOMIAL)


def joint_counts(stats: SufficientStatistics, priors: Sequence[Dirichlet], smoothing: Smoothing) -> JointCounts:
    """The sums of the columns that are one multinomial, with the prior of each. Raises TableError where one of them is
    missing in some of the rows: the share of a column is of whole rows."""
    names = together(stats.schema)
    columns = [stats.values.columns[name] for name in names]
    for name, column in zip(names, columns, strict=True):
        missing = stats.class_weight - column.total
        if (missing > 1e-9 * np.maximum(stats.class_weight, 1.0)).any():
            raise TableError(
                "column '{column}' is one multinomial with others and has missing cells in {n} row(s): a share of "
                "the total needs every count; fill the cells, leave these rows out, or give the column a likelihood "
                "of its own",
                column=name,
                n=f"{float(missing.sum()):.12g}",
            )
    return JointCounts(names, np.stack([column.sum for column in columns], axis=1), tuple(priors), smoothing)


def _drawn(x: Array, log_share: Array) -> Array:
    """(n, C) x log θ of x (n,) and log θ (C,) or (n, C); 0 where nothing was drawn or x is not known."""
    with np.errstate(invalid="ignore"):
        terms = x[:, None] * log_share
    return np.where(np.isnan(x[:, None]) | (x[:, None] == 0), 0.0, terms)


register(Likelihood(JOINT_MULTINOMIAL, JointMultinomialLeaf.estimated, whole=True, soft=True))
