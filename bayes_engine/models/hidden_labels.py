"""Hidden labels as EM sees them: rows whose classes are known, or have a posterior in place of a label; counted softly,
estimated, and compared between two steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bayes_engine.em import (
    Collapse,
    EMModel,
    EMTrace,
    ExpectedStatistics,
    Stopping,
    em,
    generator,
    random_responsibilities,
    responsibilities,
)
from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor
from bayes_engine.factors.leaf import Leaf
from bayes_engine.factors.likelihoods import OF_VALUES
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.counted_naive_bayes import alpha_of
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.priors import added_to_class, dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.schema import Schema


def fit_for_em(inner: GenerativeClassifier) -> None:
    """Raises ParameterError on estimates that maximize nothing that EM could climb."""
    if getattr(inner, "smoothing", None) == "zero-only":
        raise ParameterError(
            "smoothing='zero-only' does not go with hidden labels: expected counts are no longer zero or not; take "
            "smoothing='all' or 'none'"
        )
    if getattr(inner, "variance", None) == "unbiased":
        raise ParameterError(
            "variance='unbiased' does not go with hidden labels: it maximizes no likelihood; take variance='mle'"
        )
    chosen = getattr(inner, "likelihoods", None)
    if "mdlp" in (inner.discretize, *(chosen.values() if isinstance(chosen, Mapping) else (chosen,))):
        raise ParameterError(
            "discretize='mdlp' does not go with hidden labels: it cuts by the labels; take another way of cutting, "
            "or none"
        )


class EstimatedFactor(NamedTuple):
    """One Θ on EM's way: the `factor`, the statistics it was estimated from, and of a start its `root`: the
    responsibilities (n, C), or, where the rows are in files, what draws them again."""

    factor: Factor
    stats: SufficientStatistics
    root: Any = None


class HiddenLabels:
    """EM's two steps, predict and count, then estimate, for encoded rows with known `codes` (n,) (−1 hidden) and
    weights (n,)."""

    def __init__(self, inner: GenerativeClassifier, table: Table, codes: NDArray[np.intp], weight: Array) -> None:
        refuse_without_step(table.schema)
        self.inner, self.table, self.codes, self.weight = inner, table, codes, weight
        self.n, self.k = table.n, len(inner.target_.levels)
        hidden = (codes < 0)[:, None]
        self.own = np.eye(self.k)[np.maximum(codes, 0)] * ~hidden  # (n, C) one where the label is known
        self.closed = ~hidden & (self.own == 0)

    def fixed(self, r: Array) -> Array:
        """Responsibilities with the known labels in their places."""
        return np.where((self.codes >= 0)[:, None], self.own, r)

    @property
    def hides(self) -> bool:
        """Whether any label is hidden."""
        return bool((self.codes < 0).any())

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(C,) which classes have a row with its label."""
        return np.asarray(np.bincount(self.codes[self.codes >= 0], minlength=self.k) > 0)

    def generator(self, random_state: Any) -> np.random.Generator:
        """Where random starts come from."""
        return generator(random_state)

    def start_at_random(self, rng: np.random.Generator) -> EstimatedFactor:
        return self.start(self.fixed(random_responsibilities(rng, self.n, self.k)))

    def start_by_labels(self) -> EstimatedFactor:
        """From the labelled rows alone."""
        return self.start(self.fixed(np.zeros((self.n, self.k))))

    def start_given(self, init: Any) -> EstimatedFactor:
        """From responsibilities. Raises ParameterError where they are none of these rows and classes."""
        r = np.asarray(init, dtype=float)
        if r.shape != (self.n, self.k) or not (r >= 0).all() or not np.allclose(r.sum(axis=1), 1.0):
            raise ParameterError(
                "init has the shape {shape}; a start is {shares} responsibilities whose rows sum to 1",
                shape=str(r.shape),
                shares=str((self.n, self.k)),
            )
        return self.start(self.fixed(r))

    def start_again(self, root: Any, order: NDArray[np.intp]) -> EstimatedFactor:
        """From the same responsibilities, the classes in another order."""
        return self.start(root[:, order])

    def count(self, r: Array) -> SufficientStatistics:
        return self.inner._count(self.table, Labels(self.k, soft=r * self.weight[:, None]), self.inner.target_)

    def start(self, r: Array) -> EstimatedFactor:
        """What given responsibilities make; here the supervised fit's floors hold."""
        stats = self.count(r)
        return EstimatedFactor(self.inner._estimate(stats), stats, r)

    def expect(self, theta: EstimatedFactor, hard: bool) -> ExpectedStatistics[SufficientStatistics]:
        joint = theta.factor.log(self.table)
        members = responsibilities(np.where(self.closed, -np.inf, joint), hard=hard, weight=self.weight)
        r = self.fixed(members.responsibilities)
        return ExpectedStatistics(self.count(r), members.log_likelihood, members.q, members.entropy, r)

    def estimate(self, stats: SufficientStatistics) -> EstimatedFactor:
        if (stats.class_weight <= 0).any():
            raise Collapse("class '{label}' has no row left; take fewer classes, or another start",
                           label=str(stats.target.levels[int(stats.class_weight.argmin())]))  # fmt: skip
        factor = self.inner._estimate(stats)
        for v in stats.schema:
            leaf = factor.part_of(v.name)
            collapsed = None if leaf is None else cast(Leaf, leaf[0]).collapsed
            if collapsed is not None and collapsed.any():
                raise Collapse(
                    "class '{label}' has collapsed: it has no spread left in column '{column}'; take "
                    "tied_variance=True, fewer classes, or another start",
                    label=str(stats.target.levels[int(collapsed.argmax())]),
                    column=v.name,
                )
        return EstimatedFactor(factor, stats)

    def climb(self, start: EstimatedFactor, stopping: Stopping, *, hard: bool) -> EMTrace[EstimatedFactor]:
        model = EMModel(
            self.expect,
            self.estimate,
            complete=lambda stats, theta: expected_log_likelihood(stats, theta.factor),
            log_prior=self._log_prior if self._smoothed is not None or self._of_class else None,
            distance=_apart,
        )
        return em(start, model, stopping=stopping, hard=hard)

    @property
    def _of_class(self) -> float:
        """What the class prior adds to each class."""
        return added_to_class(self.inner.priors, self.k) if isinstance(self.inner, NaiveBayes) else 0.0

    @property
    def _smoothed(self) -> Any:
        """The columns whose counts are added to, of NaiveBayes; of the others what is added to every count. None where
        nothing is."""
        inner: Any = self.inner
        if isinstance(inner, NaiveBayes):
            counted = {v.name for v in inner.stats_.schema if v.discrete or v.textual or traits(v).whole}
            smoothed = counted if inner.smoothing == "all" else set()
            return {name for name in smoothed if dirichlet(inner.alpha, name).amount > 0} or None
        alpha = alpha_of(inner, inner.stats_)
        return alpha if np.any(alpha > 0) else None

    def _log_prior(self, theta: EstimatedFactor) -> float:
        """log p(Θ), the priors whose modes the smoothed estimates are: Dirichlet, Σ α log θ, and of a rate Gamma with
        a pseudo-counts at the column's mean x̄, a x̄ log λ − a λ."""
        alpha = 0.0 if isinstance(self.inner, NaiveBayes) else self._smoothed
        return float(sum(part.log_prior_density(0.0 if alpha is None else alpha) for part in theta.factor.leaves()))


def refuse_without_step(schema: Schema) -> None:
    """Raises ParameterError on a likelihood that is not estimated from responsibilities."""
    for v in schema:
        if traits(v).by_value and not OF_VALUES[str(v.likelihood)].soft:
            raise ParameterError(
                "column '{column}' has the likelihood '{likelihood}', for which EM with hidden labels "
                "has no step; choose 'gaussian', 'poisson', 'categorical', 'bernoulli' or intervals",
                column=v.name,
                likelihood=str(v.likelihood),
            )


def expected_log_likelihood(stats: SufficientStatistics, factor: Factor) -> float:
    """Q(Θ|·) = E[log p(X, Z|Θ)] from expected statistics: every log parameter as often as it is used."""
    return float(sum(part.log_likelihood(stats) for part in factor.leaves()))


def _apart(before: EstimatedFactor, after: EstimatedFactor) -> float:
    """The largest change of a probability, or of a mean, standard deviation or rate in standard deviations."""
    leaves = zip(before.factor.leaves(), after.factor.leaves(), strict=True)
    return max((a.distance(b) for a, b in leaves), default=0.0)
