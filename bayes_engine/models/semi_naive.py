"""What the semi-naive models share (SPODE, TAN, AODE, k-DB): every attribute may depend on the class and on others.

One pass over the rows counts all pairs of columns; naive Bayes, TAN with its tree, AODE and any given SPODE are read
from that. What needs the rows besides is the choice of a super-parent by leave-one-out, and the wider tables of k-DB.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.gaussian import GaussianRule, gaussian_leaf
from bayes_engine.factors.leaf import Domain, Leaf, LeftOutRows, refuse_parents
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.inference.averaged import AveragedFactor
from bayes_engine.inference.directed import DirectedFactor, integrating
from bayes_engine.language import Listing
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.fit_warnings import warn, warn_of_constant
from bayes_engine.models.naive_bayes import CHOICES
from bayes_engine.priors import Alpha, ClassPriors, Dirichlet, checked_alphas, checked_share, checked_word, dirichlet
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.families import (
    Families,
    Name,
    PairCost,
    all_pairs,
    count_cells,
    count_families,
    in_order,
    refuse_beyond,
)
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.structure.dependence import Dependences, Structure, dependences
from bayes_engine.table.encode import Table
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.schema import Schema, Variable


@dataclass(eq=False, repr=False, kw_only=True)
class SemiNaive(GenerativeClassifier):
    """What the semi-naive models share: pair statistics, families along a graph, and leave-one-out given the graph.

    A model states its `_structure`. Hooks beside those of `GenerativeClassifier`: `_wider_of`, the families of more
    than two columns that are counted; `_pairs`, those of two whose tables are needed; `_directed`, the factor along a
    graph; `_check_tables` of statistics that come from elsewhere.

    Parameters that all of them take, log terms in nats; `fit`, `predict` and the rest raise as `GenerativeClassifier`,
    and `fit` ParameterError before it counts, where the tables of all pairs of columns are expected to take more than
    2 GB of memory or half an hour (`cost`):

    alpha : pseudo-count of every level of a conditional table (eq. 7.20), or another prior: as in `NaiveBayes`.
    priors : "empirical" | "laplace" | a Dirichlet | "uniform" | {label: p} | one number for each class in the order of
        `classes_`, see `bayes_engine.priors.class_prior`.
    discretize : "mdlp" (Fayyad & Irani 1993) | "equal-width" | "quantile": columns of numbers as intervals, cut by the
        rows of the fit | None: a Gaussian in each cell of a discrete parent, smoothed by α rows like its class's.
    bins : how many, for the second and third.
    variance : "mle" (ddof 0) | "unbiased" (ddof 1); var_floor : the least variance, as a share of the column's own.
    missing : "marginalize" | "category" | "error"; unseen : "ignore" | "smooth" | "error": as in `NaiveBayes`.
    schema : kinds and levels of the columns; None takes them from the dtypes.
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset({"alpha", "priors", "variance", "var_floor", "unseen"})
    cost: ClassVar[PairCost] = PairCost(cell_bytes=50, pair_bytes=1700, pair_seconds=4e-5)

    alpha: Alpha = 1.0
    priors: ClassPriors = "empirical"
    discretize: Literal["mdlp", "equal-width", "quantile"] | None = "mdlp"
    bins: int = 10
    variance: Literal["mle", "unbiased"] = "mle"
    var_floor: float = 1e-9
    missing: Literal["marginalize", "category", "error"] = "marginalize"
    unseen: Literal["ignore", "smooth", "error"] = "ignore"
    schema: Schema | None = None
    factor_: DirectedFactor | AveragedFactor = field(init=False)

    @abstractmethod
    def _structure(self, stats: SufficientStatistics) -> Structure:
        """The parents of every column, from the statistics and from what `_choose` chose."""

    # counting -----------------------------------------------------------------------------------------------------

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        refuse_beyond(X.schema, labels.n_classes, X.n, self.cost)
        return collect(X, labels, target, self._families(X, labels, self._wider()))

    def _families(self, X: Table, labels: Labels, wider: Collection[Name]) -> Families:
        """Tables of all pairs and of the families in `wider`; moments within the levels of each of their parents."""
        discrete = {v.name for v in X.schema if v.discrete}
        tables = {*all_pairs(X.schema), *(name for name in wider if discrete.issuperset(name))}
        cells: set[Name] = set()
        if len(discrete) < len(X.schema):
            cells = {(name,) for name in discrete}
            cells |= {tuple(n for n in name if n in discrete) for name in wider if not discrete.issuperset(name)}
        return Families(count_families(X, labels, tables), count_cells(X, labels, cells))

    def _wider(self) -> Collection[Name]:
        """The families beyond pairs that are counted, once a first fit has chosen them."""
        return self._wider_of(self.schema_) if hasattr(self, "stats_") else ()

    def _wider_of(self, schema: Schema) -> Collection[Name]:
        """Those of the structure chosen."""
        return ()

    def _with_wider(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        """The statistics of a first fit, and those of the structure that it chose."""
        wider = [name for name in self._wider_of(stats.schema) if name not in stats.families.tables]
        return replace(stats, families=self._families(X, labels, wider)) if wider else stats

    # estimating ---------------------------------------------------------------------------------------------------

    def _estimate(self, stats: SufficientStatistics) -> DirectedFactor | AveragedFactor:
        self._check(stats.schema, float(stats.class_weight.sum()))
        self._check_tables(stats)
        return self._directed(stats, self._structure(stats))

    def _directed(self, stats: SufficientStatistics, structure: Structure) -> DirectedFactor:
        """The families along a graph; a column without a single value is nobody's parent."""
        domains, families = self._domains(stats), []
        for v in varying(stats):
            above = tuple(domains[name] for name in structure.get(v.name, ()) if name in domains and domains[name].size)
            families.append(self._family(stats, v, domains.get(v.name), above, dirichlet(self.alpha, v.name)))
        return DirectedFactor(self._prior(stats), tuple(families))

    def _domains(self, stats: SufficientStatistics) -> dict[str, Domain]:
        """The places of every discrete column."""
        return {v.name: self._domain(stats, v) for v in stats.schema if v.discrete}

    def _family(
        self,
        stats: SufficientStatistics,
        variable: Variable,
        own: Domain | None,
        above: tuple[Domain, ...],
        prior: Dirichlet,
    ) -> Leaf:
        """P(column | class, parents) from the statistics; the column's `own` places where it is discrete, and those of
        its parents."""
        if own is None:
            parents = tuple(d.variable.name for d in above)
            if variable.textual or traits(variable).by_value:
                refuse_parents(str(variable.likelihood), variable, parents)
            classes = stats.moments.column(variable.name)
            cells = _by_place(stats, variable, parents, above) if parents else None
            rows = prior.per_cell((cells or classes).weight.size)
            gaussian = GaussianRule(self._ddof, False, float(self.var_floor), rows)
            return gaussian_leaf(variable, stats.target.name, classes, gaussian, above, cells)
        turned = self._counted(stats, (*above, own))
        rule = TableRule(prior.per_level(turned.shape), prior.base == "marginal")
        return TableLeaf(own, stats.target.name, turned, rule, above)

    def _counted(self, stats: SufficientStatistics, columns: tuple[Domain, ...]) -> Array:
        """(C, one axis for each of these columns) how often the classes have each place."""
        names = [d.variable.name for d in columns]
        name = in_order(stats.schema, names)
        table = stats.families.tables[name] if len(name) > 1 else stats.counts.tables[name[0]]
        table = table.transpose(0, *(1 + name.index(n) for n in names))
        for axis, domain in enumerate(columns, start=1):
            table = domain.counted(table, axis)
        return table

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_alphas(self.alpha, schema.names, total)
        for name in ("variance", "missing", "unseen"):
            checked_word(name, getattr(self, name), CHOICES[name])
        checked_share("var_floor", self.var_floor)

    def _check_tables(self, stats: SufficientStatistics) -> None:
        """Raises ParameterError where these are the statistics of another sort of model."""
        discrete = [v.name for v in stats.schema if v.discrete]
        cells = {(name,) for name in discrete} if len(discrete) < len(stats.schema) else set()
        families = stats.families
        if not (set(self._pairs(stats)) <= families.tables.keys() and cells <= families.moments.keys()):
            raise ParameterError(
                "these statistics hold no tables of pairs of columns; take those of a SPODE, TAN, AODE or k-DB model"
            )
        warn_of_constant(sorted({v.name for v in stats.schema} - {v.name for v in varying(stats)}))
        uncut = [v.name for v in stats.schema if v.cuts == ()]
        if uncut:
            warn(
                "column(s) {names}: no cut point was found, so they carry no information about the class "
                "here; discretize them by quantiles, or not at all, if they should",
                names=Listing(uncut),
            )

    def _pairs(self, stats: SufficientStatistics) -> list[Name]:
        """The pairs of discrete columns whose tables are needed."""
        return all_pairs(stats.schema)

    def _super_parents(self, stats: SufficientStatistics) -> list[str]:
        """The columns that others may depend on. Under a number without a cut point they would be as in naive Bayes."""
        return [v.name for v in stats.schema if v.discrete and not (v.cuts == () and self._domain(stats, v).size <= 1)]

    # what the pairs say -------------------------------------------------------------------------------------------

    def dependences(self) -> Dependences:
        """What each two columns say of each other, given the class and overall, and each column of the class.

        >>> from bayes_engine import TAN, load_dataset
        >>> melons = load_dataset("watermelon2")
        >>> model = TAN().fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])
        >>> round(model.dependences().given_class["根蒂", "脐部"].information, 4)
        0.5975
        """
        return dependences(self.stats_, self.missing == "category", float(self.var_floor))

    # predicting ---------------------------------------------------------------------------------------------------

    def _rows(self, X: Table, given: Collection[str] | None) -> Iterable[tuple[Row, Array]]:
        return self.factor_.rows(X if given is None else integrating(X, given))

    def _status(self, X: Table, joint: Array, given: Collection[str] | None = None) -> NDArray[np.int8]:
        """A hidden cell's terms are one row: whether the densities alone are to blame, the discrete columns say."""
        status = super()._status(X, joint, given)
        rows = np.flatnonzero(status == Status.IMPOSSIBLE)
        if len(rows):
            discrete = {v.name for v in X.schema if v.discrete and (given is None or v.name in given)}
            possible = ~np.isneginf(self.factor_.log(integrating(X.take(rows), discrete))).all(axis=1)
            status[rows[possible]] = Status.OUT_OF_RANGE
        return status

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        left = LeftOutRows.of(X, labels)
        return self._without_one(X, left, self._prior_without(left), self.factor_, self._along)

    def _without_one(
        self,
        X: Table,
        left: LeftOutRows,
        log_prior: Array,
        factor: DirectedFactor | AveragedFactor,
        anew: Callable[[SufficientStatistics], Factor],
    ) -> Array:
        """(n, C) the joint of each row under the counts without it, all rows at once: a row's removal touches its own
        class's cells, and the class prior. `anew` gives the factor of other statistics under the same structure."""
        joint = factor.over(X, log_prior, left)
        for i in steps(np.flatnonzero(self._any_last_missing(X, left.weight))):  # without it a missing cell is no level
            joint[i] = anew(self._stats_without(left, int(i))).log(X.take(slice(i, i + 1)))[0]
        return joint

    def _along(self, stats: SufficientStatistics) -> DirectedFactor | AveragedFactor:
        """The factor of other statistics under the structure that there is."""
        if isinstance(self.factor_, AveragedFactor):
            return self._estimate(stats)
        structure = {f.variable.name: tuple(d.variable.name for d in f.parents) for f in self.factor_.families}
        return self._directed(stats, structure)

    def _any_last_missing(self, X: Table, weight: Array) -> Any:
        """(n,) where a row holds the last missing cell of any column."""
        each = (self._last_missing(v, X, weight) for v in X.schema)
        return np.logical_or.reduce([np.zeros(X.n, dtype=bool), *(last for last in each if last is not None)])


def varying(stats: SufficientStatistics) -> list[Variable]:
    """The columns without those of one number."""
    return [v for v in stats.schema if v.discrete or v.name not in stats.moments.constant]


def _by_place(
    stats: SufficientStatistics, variable: Variable, parents: tuple[str, ...], above: tuple[Domain, ...]
) -> ColumnMoments:
    """One column's moments by cell, from code order in the schema's order to place order in the parents' order."""
    name = in_order(stats.schema, parents)
    column = stats.families.moments[name].column(variable.name)
    shape = (len(stats.class_weight), *(1 + len(stats.schema[n].levels) for n in name))

    def turned(a: Array) -> Array:
        table = a.reshape(shape)
        for axis, n in enumerate(name, start=1):
            table = above[parents.index(n)].counted(table, axis)
        return table.transpose(0, *(1 + name.index(n) for n in parents)).reshape(-1)

    return ColumnMoments(turned(column.weight), turned(column.offset), turned(column.m2), column.pivot)
