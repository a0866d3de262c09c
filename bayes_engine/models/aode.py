"""AODE: the average of the SPODEs of all super-parents that are frequent enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from bayes_engine.errors import ParameterError
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.leaf import Domain
from bayes_engine.inference.averaged import AveragedFactor, Member
from bayes_engine.logspace import Array
from bayes_engine.models.semi_naive import SemiNaive, varying
from bayes_engine.models.spode import SPODE
from bayes_engine.priors import Dirichlet, checked_number, checked_word, dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import PairCost
from bayes_engine.structure.dependence import Structure
from bayes_engine.table.schema import Schema, Variable

AVERAGING = ("factored", "joint")
"""How AODE smooths: each factor by itself, or one joint table whose margins agree."""


@dataclass(eq=False, repr=False, kw_only=True)
class AODE(SemiNaive):
    """Averaged one-dependence estimators: P(c, x) = (1/m) Σ_i P(c, x_i) Π_{j≠i} P(x_j | c, x_i), over the m
    super-parents whose value has at least `min_frequency` rows (Webb, Boughton & Wang 2005; Zhou, eq. 7.23–7.25). A
    number without cut points is none, unlike in Weka: its SPODE would be naive Bayes once more.

    min_frequency : the threshold m′; a row without any such value is judged by naive Bayes (its class
        prior smoothed as P(c, x_i) is, (n_c + α)/(n + α K)). A super-parent whose cell
        is not known takes no part (Weka's rule), so `explain(given=…)` averages over the others.
    smoothing : "factored": P(c, x_i) = (n + α)/(n_known(x_i) + α K S_i), P(x_j|c, x_i) = (n + α)/(n_ci + α S_j), the
        textbook's (corrected) and Weka's; "joint": α rows a class, spread evenly over each joint table, so that the
        margins of all tables agree: α/S_i and α/(S_i S_j) a cell.
    The other parameters are those of `SemiNaive`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
    >>> AODE().fit(X, list("nynynyny")).predict(X[:2]).tolist()
    ['n', 'y']
    """

    estimation_parameters: ClassVar[frozenset[str]] = SemiNaive.estimation_parameters | {"min_frequency", "smoothing"}
    cost: ClassVar[PairCost] = PairCost(cell_bytes=50, pair_bytes=2700, pair_seconds=8e-5)

    min_frequency: float = 1
    smoothing: Literal["factored", "joint"] = "factored"

    def spode(self, super_parent: str) -> SPODE:
        """The SPODE of one super-parent, read from the same statistics under the same parameters.

        Raises ParameterError where that is no discrete column.
        """
        shared = {k: v for k, v in self.get_params(deep=False).items() if k not in ("min_frequency", "smoothing")}
        return SPODE(super_parent, **shared).fit_stats(self.stats_)

    def _structure(self, stats: SufficientStatistics) -> Structure:
        return {}

    def _estimate(self, stats: SufficientStatistics) -> AveragedFactor:
        self._check(stats.schema, float(stats.class_weight.sum()))
        self._check_tables(stats)
        priors = self._priors_of(stats.schema)
        domains, children = self._domains(stats), varying(stats)
        members = tuple(self._member(stats, name, domains, children, priors) for name in self._super_parents(stats))
        naive = self._directed(stats, {})
        return AveragedFactor(self._prior(stats), members, naive, float(self.min_frequency))

    def _priors_of(self, schema: Schema) -> dict[str | None, Dirichlet]:
        return {name: dirichlet(self.alpha, name) for name in (*schema.names, None)}

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_word("smoothing", self.smoothing, AVERAGING)
        checked_number("min_frequency", self.min_frequency)
        priors = self._priors_of(schema)
        if any(p.base == "marginal" for p in priors.values()) or (
            self.smoothing == "joint" and {p.per for p in priors.values()} != {"level"}
        ):
            raise ParameterError(
                "AODE smooths joint tables P(class, value): alpha with base='marginal' does not apply there, and "
                "smoothing='joint' takes numbers; take Dirichlet.m_estimate(m, base='uniform'), or "
                "smoothing='factored'"
            )

    def _member(
        self,
        stats: SufficientStatistics,
        super_parent: str,
        domains: Mapping[str, Domain],
        children: Sequence[Variable],
        priors: Mapping[str | None, Dirichlet],
    ) -> Member:
        domain = domains[super_parent]
        counts = domain.counted(stats.counts.tables[super_parent], 1)
        joint = self.smoothing == "joint"
        share = max(domain.size, 1) if joint else 1
        families = []
        for v in children:
            if v.name != super_parent:
                prior, own = priors[v.name], domains.get(v.name)
                if joint:
                    prior = replace(prior, amount=prior.amount / (share * (max(own.size, 1) if own else 1)))
                families.append(self._family(stats, v, own, (domain,), prior))
        shape = counts.shape if self._prior_given else (counts.size,)
        alpha = priors[super_parent].per_level(shape) / share
        return Member(domain, counts, alpha, self._prior_given, tuple(families))

    def _prior(self, stats: SufficientStatistics) -> ClassPrior:
        prior = super()._prior(stats)
        return prior if self._prior_given else replace(prior, added=self._of_class(len(prior.p)))

    def _prior_of(self, weight: Array, classes: tuple[Any, ...]) -> Array:
        """Where it is the rows' own, smoothed as P(c, x_i) is: (n_c + α)/(n + α K)."""
        added = 0.0 if self._prior_given else self._of_class(len(classes))
        return super()._prior_of(weight + added, classes)

    def _of_class(self, k: int) -> float:
        """What is added to each of k classes."""
        return dirichlet(self.alpha).per_level((k,))
