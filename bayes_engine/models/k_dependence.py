"""k-dependence Bayes: every attribute depends on the class and on up to k others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from bayes_engine.errors import ParameterError
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.priors import checked_whole
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name, in_order
from bayes_engine.stats.labels import Labels
from bayes_engine.structure.dependence import Structure, dependences, k_parents
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema


@dataclass(eq=False, repr=False)
class KDependence(SemiNaive):
    """k-dependence Bayes (Sahami 1996): columns in the order of I(x; y), each with the class and, of those before it,
    the k that it shares most information with given the class as parents. k = 0 is naive Bayes.

    k : how many parents besides the class. The other parameters are those of `SemiNaive`.

    Attributes: `parents_` (the parents of each column), chosen by the first fit, and those of `GenerativeClassifier`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
    >>> KDependence(k=2).fit(X, list("nynynyny")).parents_
    {'a': (), 'b': ('a',), 'c': ('a', 'b')}
    """

    structural: ClassVar[tuple[str, ...]] = ("parents_",)

    k: int = 1

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_whole("k", self.k, 0)

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        self.parents_ = self._chosen(stats)
        return self._with_wider(X, labels, stats)

    def _chosen(self, stats: SufficientStatistics) -> dict[str, tuple[str, ...]]:
        k = checked_whole("k", self.k, 0)
        nats = dependences(stats, self.missing == "category", float(self.var_floor))
        return k_parents(stats.schema, nats, k)

    def _wider_of(self, schema: Schema) -> list[Name]:
        return _wider(schema, self.parents_)

    def wider_families(self, stats: SufficientStatistics) -> list[Name]:
        """The families of more than two columns whose tables the structure of these pairs needs: what a second pass
        counts where rows are not in memory.

        >>> import pandas as pd
        >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
        >>> KDependence(k=2).wider_families(KDependence(k=1).fit(X, list("nynynyny")).stats_)
        [('a', 'b', 'c')]
        """
        return _wider(stats.schema, self._chosen(stats))

    def _structure(self, stats: SufficientStatistics) -> Structure:
        if not hasattr(self, "parents_"):
            chosen = self._chosen(stats)
            if not _held(stats, _wider(stats.schema, chosen)):
                raise ParameterError("k={k} needs the rows: tables of more than two columns are not counted", k=self.k)
            self.parents_ = chosen
        return self.parents_


def _wider(schema: Schema, parents: Structure) -> list[Name]:
    return [in_order(schema, (*up, child)) for child, up in parents.items() if len(up) > 1]


def _held(stats: SufficientStatistics, names: Collection[Name]) -> bool:
    """Whether the statistics have what these families are estimated from."""
    discrete = {v.name for v in stats.schema if v.discrete}
    return all(
        name in stats.families.tables
        if discrete.issuperset(name)
        else tuple(n for n in name if n in discrete) in stats.families.moments
        for name in names
    )
