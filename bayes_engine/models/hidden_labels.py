"""EM's two steps for a naive Bayes classifier whose labels are partly or all hidden: predict, count, estimate."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayes_engine.em import Collapse, EMModel, EMTrace, ExpectedStatistics, Stopping, em, responsibilities
from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor
from bayes_engine.factors.leaf import Leaf
from bayes_engine.factors.likelihoods import OF_VALUES
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.classic import alpha_of
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.priors import added_to_class, dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import traits


class HiddenLabels:
    """EM's steps for encoded rows with known `codes` (n,) (−1 hidden) and weights (n,)."""

    def __init__(self, inner: GenerativeClassifier, table: Table, codes: NDArray[np.intp], weight: Array) -> None:
        for v in table.schema:
            if v.textual:
                raise ParameterError(
                    "column '{column}' is a text, for which hidden labels have no steps; set it aside", column=v.name
                )
            if traits(v).by_value and not OF_VALUES[str(v.likelihood)].soft:
                raise ParameterError(
                    "column '{column}' has the likelihood '{likelihood}', for which hidden labels have no steps; "
                    "choose 'gaussian', 'poisson', 'categorical', 'bernoulli' or intervals",
                    column=v.name,
                    likelihood=str(v.likelihood),
                )
        self.inner, self.table, self.codes, self.weight = inner, table, codes, weight
        self.n, self.k = table.n, len(inner.target_.levels)
        hidden = (codes < 0)[:, None]
        self.own = np.eye(self.k)[np.maximum(codes, 0)] * ~hidden  # (n, C) one where the label is known
        self.closed = ~hidden & (self.own == 0)
        self.behind: dict[
            int, tuple[Factor, SufficientStatistics]
        ] = {}  # the statistics each factor was estimated from
        self.roots: dict[int, Array] = {}  # the responsibilities each start was made of

    def fixed(self, r: Array) -> Array:
        """Responsibilities with the known labels in their places."""
        return np.where((self.codes >= 0)[:, None], self.own, r)

    def count(self, r: Array) -> SufficientStatistics:
        return self.inner._count(self.table, Labels(self.k, soft=r * self.weight[:, None]), self.inner.target_)

    def start(self, r: Array) -> Factor:
        """The factor of given responsibilities; here the supervised fit's floors hold."""
        stats = self.count(r)
        factor = self.inner._estimate(stats)
        self.behind[id(factor)] = factor, stats
        self.roots[id(factor)] = r
        return factor

    def expect(self, factor: Factor, hard: bool) -> ExpectedStatistics[SufficientStatistics]:
        joint = factor.log(self.table)
        members = responsibilities(np.where(self.closed, -np.inf, joint), hard=hard, weight=self.weight)
        r = self.fixed(members.responsibilities)
        return ExpectedStatistics(self.count(r), members.log_likelihood, members.q, members.entropy, r)

    def estimate(self, stats: SufficientStatistics) -> Factor:
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
        self.behind[id(factor)] = factor, stats
        return factor

    def climb(self, start: Factor, stopping: Stopping, *, hard: bool) -> EMTrace[Factor]:
        model = EMModel(
            self.expect,
            self.estimate,
            complete=expected_log_likelihood,
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
            counted = {v.name for v in inner.stats_.schema if v.discrete or traits(v).whole}
            smoothed = counted if inner.smoothing == "all" else set()
            return {name for name in smoothed if dirichlet(inner.alpha, name).amount > 0} or None
        alpha = alpha_of(inner, inner.stats_)
        return alpha if np.any(alpha > 0) else None

    def _log_prior(self, factor: Factor) -> float:
        """log p(Θ), the priors whose modes the smoothed estimates are: Dirichlet, Σ α log θ, and of a rate Gamma with
        a pseudo-counts at the column's mean x̄, a x̄ log λ − a λ."""
        alpha = 0.0 if isinstance(self.inner, NaiveBayes) else self._smoothed
        return float(sum(part.log_prior_density(0.0 if alpha is None else alpha) for part in factor.leaves()))


def expected_log_likelihood(stats: SufficientStatistics, factor: Factor) -> float:
    """Q(Θ|·) = E[log p(X, Z|Θ)] from expected statistics: every log parameter as often as it is used.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"sound": ["dull", "crisp", "dull", None], "mass": [1.0, 5.0, np.nan, 5.5]})
    >>> model = NaiveBayes(tied_variance=True).fit(X, ["good", "bad", "good", "bad"])
    >>> by_rows = model.predict_joint_log_proba(X)[range(4), [1, 0, 1, 0]].sum()
    >>> bool(abs(expected_log_likelihood(model.stats_, model.factor_) - by_rows) < 1e-12)
    True
    """
    return float(sum(part.log_likelihood(stats) for part in factor.leaves()))


def _apart(before: Factor, after: Factor) -> float:
    """The largest change of a probability, or of a mean, standard deviation or rate in standard deviations."""
    return max((a.distance(b) for a, b in zip(before.leaves(), after.leaves(), strict=True)), default=0.0)
