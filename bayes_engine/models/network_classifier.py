"""A Bayesian network that classifies: the class is one node among others, wherever the structure puts it.

Naive Bayes, TAN and k-DB make the class everyone's parent. Here it has parents and children as data or user say, and
the posterior of a complete row hangs on its Markov blanket alone (Friedman, Geiger & Goldszmidt 1997, §3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, listen
from bayes_engine.factors import Factor
from bayes_engine.factors.class_prior import ConditionalPrior
from bayes_engine.factors.leaf import Leaf, LeftOutRows
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.logspace import Array, exp
from bayes_engine.models.fit_warnings import warn, warn_of_classes
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.models.tan import TAN
from bayes_engine.priors import checked_whole, checked_word, dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name, in_order
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.stats.labels import Labels
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.dependence import Structure
from bayes_engine.structure.graph import DAG, Arc, given_arcs
from bayes_engine.structure.scores import ScoreName
from bayes_engine.structure.search import SearchOptions, SearchResult, search
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.schema import Schema, Variable

SEARCHED = ("hill-climb", "exact")
FIXED = ("naive", "tan")
CRITERIA: tuple[str, ...] = get_args(ScoreName)
Arcs: TypeAlias = DAG | Iterable[Arc]
MANY = 200
"""So many rows with cells not known are worth a junction tree."""


@dataclass(eq=False, repr=False)
class BayesianNetworkClassifier(SemiNaive):
    """P(c, x) = P(c | pa(c)) Π_j P(x_j | pa(x_j)), the class being a node of the graph.

    structure : "hill-climb" (its budget: `bayes_engine.structure.hill_climbing.ClimbSettings`) | "exact" (up to about
        15 columns): the graph of class and discrete columns that is best by `criterion` | "naive" | "tan" | a DAG or
        arcs, (parent, child) pairs of column names and the target's name.
    criterion : what a search maximizes: "mdl" (Zhou, eq. 7.31, f = ½ log m) | "aic" | "k2" | "bdeu" | "log-likelihood".
    max_parents : how many parents a node may have, the class counted.
    priors : where the class has no parents as in `NaiveBayes`; otherwise P(c | pa(c)) is what is estimated, and only
        "empirical" is taken (a prior of use can still be set on the ledger).
    A column of numbers that is not cut (discretize=None) is a Gaussian leaf below the class, and below the discrete
    parents that the arcs give it. The other parameters are those of `SemiNaive`.

    Attributes: `graph_` (with the class), `blanket_` (the class's Markov blanket), `network_` (its discrete part as
    tables), `search_` (every step of the search, or None), and those of `GenerativeClassifier`. The structure is chosen
    by the first fit; rows added later keep it.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("xxyyxxyy") * 5, "b": list("xyxyxyxy") * 5})
    >>> model = BayesianNetworkClassifier().fit(X, pd.Series(list("nnyynnyy") * 5, name="agree"))
    >>> model.graph_.arcs, model.blanket_
    ((('a', 'agree'),), ('a',))
    """

    structural: ClassVar[tuple[str, ...]] = ("graph_", "search_")

    structure: Literal["hill-climb", "exact", "naive", "tan"] | Arcs = "hill-climb"
    criterion: ScoreName = "mdl"
    _: KW_ONLY
    max_parents: int = 3

    factor_: DirectedFactor = field(init=False)
    graph_: DAG = field(init=False)
    search_: SearchResult | None = field(init=False)

    # the graph ----------------------------------------------------------------------------------------------------

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        result = None
        if self.searches(stats):
            counts = FamilyCounts(self._with_class(X, labels, stats), labels.weight, missing="complete")
            result = search(counts, self.criterion, method=self.method, options=self.search_options(stats))
        self.graph_, self.search_ = self.graph_of(stats, result), result
        return self._with_wider(X, labels, stats)

    def searches(self, stats: SufficientStatistics) -> bool:
        """Whether the graph is searched for. Raises ParameterError where target and a column share a name, or the
        structure is none."""
        if stats.target.name in stats.schema.names:
            raise ParameterError(
                "the target and a column are both called '{name}'; give y another name (a pandas Series has one)",
                name=stats.target.name,
            )
        self.check_search()
        return isinstance(self.structure, str) and self.structure in SEARCHED

    def check_search(self) -> None:
        """Raises ParameterError where what is said of the search cannot be."""
        if isinstance(self.structure, str):
            checked_word("structure", self.structure, (*SEARCHED, *FIXED))
        if isinstance(self.criterion, str):
            checked_word("criterion", self.criterion, CRITERIA)
        if self.max_parents is not None:
            checked_whole("max_parents", self.max_parents, 0)

    @property
    def method(self) -> Literal["hill-climb", "exact"]:
        """How the graph is searched for, where it is."""
        return cast(Literal["hill-climb", "exact"], self.structure)

    def nodes_of(self, stats: SufficientStatistics) -> dict[str, bool]:
        """The discrete columns that a search is over, beside the class, and whether a missing cell is a level there."""
        return {name: domain.missing_is_level for name, domain in self._domains(stats).items() if domain.size}

    def search_options(self, stats: SufficientStatistics) -> SearchOptions:
        """What the search is told: a stated class prior leaves no room for parents of the class."""
        forbidden = tuple((n, stats.target.name) for n in self.nodes_of(stats)) if self._prior_given else ()
        return SearchOptions(constraints=Constraints(forbidden=forbidden), max_parents=self.max_parents)

    def graph_of(self, stats: SufficientStatistics, result: SearchResult | None) -> DAG:
        """The graph of these statistics: that of a search's `result` where it is searched for, with the columns of
        numbers below the class."""
        target, columns = stats.target.name, stats.schema.names
        structure = self.structure
        if not isinstance(structure, str):
            return self._given(stats, given_arcs(structure))
        below = [(target, name) for name in columns]
        if result is not None:
            discrete = self.nodes_of(stats)
            return DAG((target, *columns), [*result.graph.arcs, *(arc for arc in below if arc[1] not in discrete)])
        if structure == "naive":
            return DAG((target, *columns), below)
        with listen():  # said of the whole
            tan = TAN(**{f.name: getattr(self, f.name) for f in fields(SemiNaive) if f.init}).fit_stats(stats)
        return DAG((target, *columns), [*below, *tan.tree_])

    def wider_families(self, stats: SufficientStatistics, result: SearchResult | None) -> list[Name]:
        """The families of these statistics' graph that a pass over pairs has not counted."""
        return self._wider_along(stats.schema, self.graph_of(stats, result))

    def fit_graph_stats(self, stats: SufficientStatistics, result: SearchResult | None) -> Self:
        """Estimate from statistics that hold the tables of the graph that a search elsewhere has as its `result`
        (`bayes_engine.scale.fit_files`); None where it is not searched for. Raises as `fit_stats`."""
        self._takes(stats)
        self.graph_, self.search_ = self.graph_of(stats, result), result
        return self._of_stats(stats)

    def _given(self, stats: SufficientStatistics, arcs: Iterable[Arc]) -> DAG:
        target, columns = stats.target.name, stats.schema.names
        numeric = [v.name for v in stats.schema if not v.discrete]
        graph = DAG((target, *columns), [*arcs, *((target, name) for name in numeric)])
        for name in numeric:
            if graph.children[name]:
                raise ParameterError(
                    "'{name}' is a column of numbers and can have no children ({child}); cut it into intervals with "
                    "discretize",
                    name=name,
                    child=graph.children[name][0],
                )
        if graph.parents[target] and self._prior_given:
            raise ParameterError(
                "the class has parents here, so P(class | parents) is estimated and priors={value} has no place; take "
                "priors='empirical', and a prior of use where the model is applied",
                value=repr(self.priors),
            )
        return graph

    def _with_class(self, X: Table, labels: Labels, stats: SufficientStatistics) -> Table:
        """The discrete columns, a missing cell being a level where the model says so, and the class as one more."""
        assert labels.codes is not None
        variables = [Variable(stats.target.name, "categorical", stats.target.levels)]
        columns = [(labels.codes + 1).astype(code_dtype(labels.n_classes))]
        for name, level in self.nodes_of(stats).items():
            variable, codes = with_missing(X.schema[name], X[name]) if level else (X.schema[name], X[name])
            variables.append(variable)
            columns.append(codes)
        return Table(Schema(tuple(variables)), tuple(columns), X.n)

    def _wider_of(self, schema: Schema) -> list[Name]:
        """The families of three columns and more, the class apart; and of a column of numbers those with any parent."""
        return self._wider_along(schema, self.graph_)

    def _wider_along(self, schema: Schema, graph: DAG) -> list[Name]:
        target = graph.nodes[0]
        families = {
            in_order(schema, tuple(n for n in (*up, name) if n != target)) for name, up in graph.parents.items()
        }
        return [f for f in families if len(f) > 2 or (len(f) == 2 and not all(schema[n].discrete for n in f))]

    def _structure(self, stats: SufficientStatistics) -> Structure:
        if not hasattr(self, "graph_"):
            raise ParameterError("the structure needs the rows: call fit; statistics alone do not hold wider tables")
        target = stats.target.name
        return {v.name: tuple(n for n in self.graph_.parents[v.name] if n != target) for v in stats.schema}

    @property
    def blanket_(self) -> tuple[str, ...]:
        """The class's parents, its children and their other parents: all that a complete row's posterior hangs on."""
        target = self.graph_.nodes[0]
        near = {*self.graph_.parents[target], *self.graph_.children[target]}
        near |= {p for child in self.graph_.children[target] for p in self.graph_.parents[child]}
        return tuple(name for name in self.graph_.nodes if name in near - {target})

    # estimating ---------------------------------------------------------------------------------------------------

    def _check_tables(self, stats: SufficientStatistics) -> None:
        super()._check_tables(stats)
        if hasattr(self, "graph_") and not self.blanket_:
            warn("no column is in the Markov blanket of the class: the class prior alone decides")

    def _directed(self, stats: SufficientStatistics, structure: Structure) -> DirectedFactor:
        whole = super()._directed(stats, structure)
        of_class = set(self.graph_.children[stats.target.name])
        families = tuple(
            f if f.variable.name in of_class or not f.variable.discrete else self._without_class(cast(TableLeaf, f))
            for f in whole.families
        )
        return DirectedFactor(whole.prior, families, self._above(stats))

    def _without_class(self, leaf: TableLeaf) -> TableLeaf:
        """The leaf of a column that the class is no parent of."""
        counts = leaf.counts.sum(axis=0, keepdims=True)
        amount = dirichlet(self.alpha, leaf.variable.name).per_level(counts.shape)
        return replace(leaf, counts=counts, rule=replace(leaf.rule, amount=amount))

    def _above(self, stats: SufficientStatistics) -> ConditionalPrior | None:
        """P(c | pa(c)) from the statistics; None where the class has no parents."""
        domains = self._domains(stats)
        above = tuple(domains[n] for n in self.graph_.parents[stats.target.name] if domains[n].size)
        if not above:
            return None
        turned = self._counted(stats, above)
        alpha = dirichlet(self.alpha).per_level((*turned.shape[1:], len(turned)))
        return ConditionalPrior(stats.target, turned, alpha, above)

    def _warn_of_classes(self, factor: Factor, stats: SufficientStatistics) -> None:
        above = cast(DirectedFactor, factor).above
        if above is None:
            super()._warn_of_classes(factor, stats)
        else:  # the most likely it is, whatever its parents' values
            most = exp(above.log_cpt).reshape(len(stats.class_weight), -1).max(axis=1)
            warn_of_classes(most, stats.class_weight, stats.target.levels)

    def _prior_without(self, gone: LeftOutRows) -> Array:
        if self.factor_.above is None:
            return super()._prior_without(gone)
        return np.zeros((len(gone.own), len(self.classes_)))

    @property
    def class_prior_(self) -> Array:
        """(C,) the model's own P(c): where the class has parents, its marginal in the network."""
        if self.factor_.above is None:
            return super().class_prior_
        network = self.network_
        hidden = np.full((1, len(network.cpts)), HIDDEN)
        name = self.target_.name
        return np.asarray(junction_tree(network).marginals(hidden, targets=[name]).p[name][0])

    @property
    def network_(self) -> Network:
        """The class and the discrete columns as a network of tables; a missing cell that is a level is called ?."""
        target = replace(self.target_, role="feature")
        nodes = {target.name: target}
        for f in self.factor_.tables:
            more = ("?",) if f.domain.missing_is_level else ()
            nodes[f.variable.name] = replace(f.variable, levels=(*f.variable.levels, *more))
        above = self.factor_.above
        if above is None:
            cpts = [CPT(target, (), self.factor_.prior.p)]
        else:
            up = tuple(nodes[d.variable.name] for d in above.parents)
            cpts = [CPT(target, up, np.moveaxis(exp(above.log_cpt), 0, -1))]
        for f in self.factor_.tables:
            up = tuple(nodes[d.variable.name] for d in f.parents)
            table = exp(f.log_cpt)
            cpts.append(
                CPT(nodes[f.variable.name], (target, *up) if f.of_class else up, table if f.of_class else table[0])
            )
        return Network(cpts)

    # predicting ---------------------------------------------------------------------------------------------------

    def _joint_of(self, X: Table) -> Array:
        """For the posterior alone: the families that the class takes part in, where all their cells are known; the
        others' terms are the same in every class. Where an unsmoothed zero could be among them, all are asked. Of many
        rows with other cells the junction tree knows the joint sooner than the ledger."""
        zeros = any(dirichlet(self.alpha, name).may_be_zero for name in (*self.schema_.names, None))
        of_class = tuple(f for f in self.factor_.families if f.of_class)
        near = self.factor_ if zeros else replace(self.factor_, families=of_class)
        columns = {d.variable.name for f in near.all_families for d in f.parents} | set(near.names)
        known = np.ones(X.n, dtype=bool)
        for f in self.factor_.families:
            if f.variable.name in columns:
                known &= f.known(X)
        plain = ~known & self._in_network(X)
        if plain.sum() < MANY:
            plain[:] = False
        joint = np.empty((X.n, len(self.classes_)))
        for which, log_joint in ((known, near.log), (plain, self._inferred), (~known & ~plain, self.factor_.log)):
            if len(rows := np.flatnonzero(which)):
                joint[rows] = log_joint(X if len(rows) == X.n else X.take(rows))
        return joint

    def _in_network(self, X: Table) -> NDArray[np.bool_]:
        """(n,) the rows that `network_` can hold: without a smoothed unseen value, and where leaves of numbers have no
        parent but the class."""
        inside = np.ones(X.n, dtype=bool)
        for f in self.factor_.tables:
            inside &= f.domain.places(X) < f.domain.size
        return inside & all(not f.parents for f in self._numeric)

    @property
    def _numeric(self) -> tuple[Leaf, ...]:
        """The leaves of columns of numbers."""
        return tuple(f for f in self.factor_.families if not f.variable.discrete)

    def _inferred(self, X: Table) -> Array:
        """(n, C) log P(c, x) in nats: P(e) by the junction tree, each class being entered as one more finding."""
        network = self.network_
        places = np.full((X.n, len(network.cpts)), HIDDEN)
        leaves = np.zeros((X.n, len(self.classes_)))
        for f in self.factor_.tables:
            places[:, network.position[f.variable.name]] = f.domain.places(X)
        for leaf in self._numeric:
            rows = np.flatnonzero(leaf.known(X))
            leaves[rows] += leaf.term(X.take(rows), (), None)
        tree = junction_tree(network)
        joint = np.empty_like(leaves)
        for c in range(len(self.classes_)):
            places[:, network.position[self.target_.name]] = c
            joint[:, c] = tree.log_evidence(places)
        return joint + leaves


def with_missing(variable: Variable, codes: NDArray[Any]) -> tuple[Variable, NDArray[Any]]:
    """A discrete column whose missing cells are one more level, called ?."""
    wide = replace(variable, levels=(*variable.levels, "?"), cuts=None, kind="categorical")
    codes = codes.astype(code_dtype(len(wide.levels)))
    return wide, np.where(codes == 0, len(wide.levels), codes).astype(codes.dtype)
