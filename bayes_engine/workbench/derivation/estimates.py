"""Estimation as a subject of its own: a column's numbers by maximum likelihood, by Laplace and under the prior in use,
with what is known of each; and the Gaussians that so few rows leave plausible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.factors.normal_posterior import NormalPosterior
from bayes_engine.factors.posterior import Interval
from bayes_engine.factors.table import DirichletPosterior
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes_wrapper import NaiveBayesWrapper
from bayes_engine.numerals import number
from bayes_engine.uncertainty.credible import credible
from bayes_engine.workbench.derivation.conditionals import choices
from bayes_engine.workbench.derivation.derive import class_order


class Estimate(NamedTuple):
    """(C, S) probabilities and, where a prior makes them, their central credible interval."""

    value: Array
    interval: Interval | None

    def at(self, levels: Sequence[int], classes: int) -> Estimate:
        """Of the first classes these levels."""
        cut = (slice(0, classes), list(levels))
        ends = self.interval
        return Estimate(self.value[cut], ends and Interval(ends.low[cut], ends.high[cut]))

    def written(self, k: int, s: int) -> str:
        """The interval of a cell: «0.1088 – 0.6097»."""
        return " – ".join(number(float(end[k, s])) for end in self.interval) if self.interval else ""


@dataclass(frozen=True)
class Estimates:
    """One table P(level | class, parents' cells) estimated three ways, (C, S) each, classes in the order wanted:
    `counts`, the plain shares (NaN where a class has no row), Laplace's, and the posterior mean under the prior in use,
    which adds `added`. `bare` says that the model itself adds nothing: the prior is Jeffreys' then."""

    counts: Array
    added: Array
    likely: Estimate
    laplace: Estimate
    used: Estimate
    bare: bool

    def at(self, levels: Sequence[int], classes: int) -> Estimates:
        """Of the first `classes` these levels."""
        cut = (slice(0, classes), list(levels))
        likely, laplace, used = (e.at(levels, classes) for e in (self.likely, self.laplace, self.used))
        return replace(self, counts=self.counts[cut], added=self.added[cut], likely=likely, laplace=laplace, used=used)


@dataclass(frozen=True)
class MomentEstimates:
    """Mean, variance and standard deviation of a numeric column, (C,) each, with the intervals that its rows leave;
    `free` (C,) is whether the variance has a posterior at all. `degrees` of freedom ν and `kappa` rows."""

    mean: Array
    mean_interval: Interval
    variance_interval: Interval
    degrees: Array
    kappa: Array

    @property
    def free(self) -> Array:
        return np.asarray(self.degrees > 0)


def estimates(
    model: GenerativeClassifier,
    column: str,
    classes: Sequence[Any] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    level: float = 0.95,
) -> Estimates | MomentEstimates:
    """The numbers of one column with central credible intervals of this `level`, at the parents' levels in `given`.

    Raises ParameterError where the model has no such posterior (see `credible`), or the column is neither a table nor a
    Gaussian.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> sound = estimates(NaiveBayes(alpha="jeffreys").fit(X, y), "敲声", ["是"])
    >>> for one in (sound.likely, sound.laplace, sound.used):
    ...     print(one.value.round(4).tolist(), one.interval and one.interval.high.round(4).tolist())
    [[0.75, 0.25, 0.0]] None
    [[0.6364, 0.2727, 0.0909]] [[0.8784, 0.5561, 0.3085]]
    [[0.6842, 0.2632, 0.0526]] [[0.9203, 0.5668, 0.2493]]
    """
    belief, order = _belief(model, column, classes)
    cell: tuple[Any, ...] = (slice(None), *_cells(belief, given or {}))
    if isinstance(belief, NormalPosterior):
        centre, kappa, degrees, square, fixed = (
            a[cell][order] for a in (belief.centre, belief.kappa, belief.degrees, belief.square, belief.fixed)
        )
        here = replace(belief, centre=centre, kappa=kappa, degrees=degrees, square=square, fixed=fixed)
        intervals = here.mean_interval(level), here.variance_interval(level)
        return MomentEstimates(here.mean, *intervals, degrees, kappa)
    pick = order if len(belief.counts) > 1 else [0] * len(order)  # the class is no parent: the same for every class
    counts, added = (a[cell][pick] for a in (belief.counts, belief.added))
    used = DirichletPosterior(belief.domain, (), counts, added)
    laplace = replace(used, added=np.ones(counts.shape))
    total = counts.sum(axis=1, keepdims=True)
    plain = np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)
    return Estimates(
        counts,
        added,
        Estimate(plain, None),
        Estimate(laplace.mean, laplace.interval(level)),
        Estimate(used.mean, used.interval(level)),
        any(
            f.unsmoothed
            for f in plain_model(model).factor_.leaves()
            if getattr(getattr(f, "variable", None), "name", None) == column
        ),
    )


def plausible_gaussians(
    model: GenerativeClassifier,
    column: str,
    label: Any,
    *,
    n: int = 40,
    rng: int | np.random.Generator = 0,
    given: Mapping[str, Any] | None = None,
) -> tuple[Array, Array]:
    """(n,) means and (n,) standard deviations drawn from the posterior of one class's Gaussian: each of these curves
    is as well founded as the fitted one. Raises as `estimates` does."""
    belief, order = _belief(model, column, [label])
    if not isinstance(belief, NormalPosterior):
        raise ParameterError("column '{column}' is no Gaussian in this model", column=column)
    cell = (order[0], *_cells(belief, given or {}))
    kappa, nu, square = (float(a[cell]) for a in (belief.kappa, belief.degrees, belief.square))
    generator = np.random.default_rng(rng)
    variance = np.full(n, float(belief.fixed[cell]))
    if nu > 0:
        variance = square / np.maximum(generator.chisquare(nu, n), np.finfo(float).tiny)
    shaken = generator.standard_normal(n) * np.sqrt(variance / kappa) if kappa > 0 else np.zeros(n)
    return float(belief.mean[cell]) + shaken, np.sqrt(variance)


def _belief(
    model: GenerativeClassifier, column: str, classes: Sequence[Any] | None
) -> tuple[DirichletPosterior | NormalPosterior, list[int]]:
    belief = credible(plain_model(model), column).columns.get(column)
    if not isinstance(belief, DirichletPosterior | NormalPosterior):
        raise ParameterError("column '{column}' has neither a table nor a Gaussian in this model", column=column)
    return belief, class_order(model.target_.levels, classes)


def plain_model(model: GenerativeClassifier) -> GenerativeClassifier:
    """The naive Bayes that a model weighs, or selects the columns of; another model itself.

    >>> from bayes_engine import NaiveBayes, SelectiveNaiveBayes
    >>> plain_model(SelectiveNaiveBayes(NaiveBayes(alpha=2.0)).fit([["a"], ["b"]], ["n", "y"])).alpha
    2.0
    """
    return model._settled(model.stats_) if isinstance(model, NaiveBayesWrapper) else model


def _cells(belief: DirichletPosterior | NormalPosterior, given: Mapping[str, Any]) -> tuple[int, ...]:
    """The parents' places; of one that is not given the first."""
    return tuple(choices(d).index(given[d.variable.name]) if d.variable.name in given else 0 for d in belief.parents)
