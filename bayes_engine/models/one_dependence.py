"""Semi-naive Bayes: every attribute may depend on the class and on one other (SPODE, TAN, AODE), or on k others (k-DB).

One pass over the rows counts all pairs of columns; naive Bayes, TAN with its tree, AODE and any given SPODE are read
from that. What needs the rows besides is the choice of a super-parent by leave-one-out, and the wider tables of k-DB.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, listen
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.gaussian import GaussianRule, gaussian_leaf
from bayes_engine.factors.leaf import Domain, Leaf, LeftOutRows, refuse_parents
from bayes_engine.factors.network import HIDDEN
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.inference.averaged import EQUAL, AveragedFactor, Member, scores_left_out
from bayes_engine.inference.directed import DirectedFactor, integrating
from bayes_engine.language import Listing
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, log_normalize
from bayes_engine.models.base import GenerativeClassifier, warn, warn_of_constant
from bayes_engine.models.naive_bayes import CHOICES
from bayes_engine.priors import (
    Alpha,
    ClassPriors,
    Dirichlet,
    checked_alphas,
    checked_number,
    checked_share,
    checked_whole,
    checked_word,
    dirichlet,
)
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
from bayes_engine.structure.chow_liu import (
    TIE,
    Edge,
    TreeStep,
    directed,
    ranked,
    spanning_tree,
)
from bayes_engine.structure.dependence import Dependences, Structure, dependences, k_parents, star
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.matrix import slices
from bayes_engine.table.schema import Schema, Variable

AVERAGING = ("factored", "joint")
"""How AODE smooths: each factor by itself, or one joint table whose margins agree."""
STARS = 32
"""So many candidates for the super-parent hold their tables at a time."""


@dataclass(eq=False, repr=False, kw_only=True)
class SemiNaive(GenerativeClassifier):
    """What the semi-naive models share: pair statistics, families along a graph, and leave-one-out given the graph.

    A model states its `_structure`. Hooks beside those of `GenerativeClassifier`: `_wider_of`, the families of more
    than two columns that are counted; `_directed`, the factor along a graph; `_check` of the parameters.

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
        return replace(collect(X, labels, target), families=self._families(X, labels, self._wider()))

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
        self._check(stats)
        return self._directed(stats, self._structure(stats))

    def _directed(self, stats: SufficientStatistics, structure: Structure) -> DirectedFactor:
        """The families along a graph; a column without a single value is nobody's parent."""
        there = {v.name for v in stats.schema if v.discrete and self._domain(stats, v).size}
        families = []
        for v in _varying(stats):
            parents = tuple(name for name in structure.get(v.name, ()) if name in there)
            families.append(self._family(stats, v, parents, dirichlet(self.alpha, v.name)))
        return DirectedFactor(self._prior(stats), tuple(families))

    def _family(
        self, stats: SufficientStatistics, variable: Variable, parents: tuple[str, ...], prior: Dirichlet
    ) -> Leaf:
        """P(column | class, parents) from the statistics."""
        above = tuple(self._domain(stats, stats.schema[name]) for name in parents)
        if variable.textual or traits(variable).by_value:
            refuse_parents(str(variable.likelihood), variable, parents)
        if not variable.discrete:
            classes = stats.moments.column(variable.name)
            cells = _by_place(stats, variable, parents, above) if parents else None
            rows = prior.per_cell((cells or classes).weight.size)
            gaussian = GaussianRule(self._ddof, False, float(self.var_floor), rows)
            return gaussian_leaf(variable, stats.target.name, classes, gaussian, above, cells)
        own = self._domain(stats, variable)
        turned = self._counted(stats, (*parents, variable.name))
        rule = TableRule(prior.per_level(turned.shape), prior.base == "marginal")
        return TableLeaf(own, stats.target.name, turned, rule, above)

    def _counted(self, stats: SufficientStatistics, columns: tuple[str, ...]) -> Array:
        """(C, one axis for each of these columns) how often the classes have each place."""
        name = in_order(stats.schema, columns)
        table = stats.families.tables[name] if len(name) > 1 else stats.counts.tables[name[0]]
        for axis, n in enumerate(name, start=1):
            table = self._domain(stats, stats.schema[n]).counted(table, axis)
        return table.transpose(0, *(1 + name.index(n) for n in columns))

    def _check(self, stats: SufficientStatistics) -> None:
        checked_alphas(self.alpha, stats.schema.names, float(stats.class_weight.sum()))
        for name in ("variance", "missing", "unseen"):
            checked_word(name, getattr(self, name), CHOICES[name])
        checked_share("var_floor", self.var_floor)
        discrete = [v.name for v in stats.schema if v.discrete]
        cells = {(name,) for name in discrete} if len(discrete) < len(stats.schema) else set()
        families = stats.families
        if not (set(all_pairs(stats.schema)) <= families.tables.keys() and cells <= families.moments.keys()):
            raise ParameterError(
                "these statistics hold no tables of pairs of columns; take those of a SPODE, TAN, AODE or k-DB model"
            )
        warn_of_constant(sorted({v.name for v in stats.schema} - {v.name for v in _varying(stats)}))
        uncut = [v.name for v in stats.schema if v.cuts == ()]
        if uncut:
            warn(
                "column(s) {names}: no cut point was found, so they carry no information about the class "
                "here; discretize them by quantiles, or not at all, if they should",
                names=Listing(uncut),
            )

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


@dataclass(eq=False, repr=False)
class SPODE(SemiNaive):
    """Super-parent one-dependence: P(c, x) = P(c) P(x_p|c) Π_j P(x_j | c, x_p) (Zhou, eq. 7.21, one parent for all).

    super_parent : "loo" (the column under which fewest training rows are wrong when left out, the mean log-loss
        deciding between equals) | the name of a column. The other parameters are those of `SemiNaive`.

    Attributes: `super_parent_`, `candidate_scores_` (with "loo": accuracy and log-loss, in nats, of every candidate by
    exact leave-one-out), and those of `GenerativeClassifier`.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xxxxxxxx")})
    >>> model = SPODE().fit(X, list("nyny" * 2))  # the class is whether a and b agree
    >>> model.super_parent_, model.predict(X).tolist() == list("nyny" * 2)
    ('a', True)
    """

    estimation_parameters: ClassVar[frozenset[str]] = SemiNaive.estimation_parameters | {"super_parent"}
    cost: ClassVar[PairCost] = PairCost(cell_bytes=185, pair_bytes=1200, pair_seconds=1.3e-4, row_seconds=3e-8)
    structural: ClassVar[tuple[str, ...]] = ("candidate_scores_",)

    super_parent: str = "loo"

    @property
    def super_parent_(self) -> str | None:
        """The column that all others depend on; None where no column is discrete, or cut: naive Bayes."""
        return self._super_parent(self.stats_.schema)

    def _super_parent(self, schema: Schema) -> str | None:
        discrete = [v.name for v in schema if v.discrete]
        if self.super_parent != "loo":
            if self.super_parent not in discrete:
                raise ParameterError(
                    "super_parent='{name}' is no discrete column; take one of {known}",
                    name=str(self.super_parent),
                    known=", ".join(f"'{n}'" for n in (*discrete, "loo")),
                )
            return self.super_parent
        if not hasattr(self, "candidate_scores_"):
            raise ParameterError("super_parent='loo' needs the rows: name the column, or fit the rows")
        return str(self.candidate_scores_.index[0]) if len(self.candidate_scores_) else None

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        if self.super_parent == "loo":
            names = self._super_parents(stats)
            self.candidate_scores_ = pd.DataFrame(index=pd.Index(names, name="super_parent"))
            with listen():  # said of the star that is chosen
                self._settle(stats)
            self.candidate_scores_ = self._scores(X, labels, names)
        return stats

    def _scores(self, X: Table, labels: Labels, names: list[str]) -> pd.DataFrame:
        """Leave-one-out accuracy and log-loss (nats) of every candidate, the best one first; of a row that counts w > 1
        times, one is left out, as if it stood there w times."""
        whole = LeftOutRows.of(X, labels)
        codes, weight = whole.own, whole.weight
        left = replace(whole, weight=np.minimum(weight, 1.0))
        along = [partial(self._directed, structure=star(self.stats_.schema, name)) for name in names]
        place = {v.name: j for j, v in enumerate(X.schema)}
        fast = self._all_at_once(X, left)
        rows = np.flatnonzero(fast & (weight > 0))
        hits, gains = np.zeros(len(names)), np.zeros(len(names))
        if len(rows):
            rows = rows[np.argsort(codes[rows].astype(code_dtype(labels.n_classes)), kind="stable")]  # by radix
            first = rows[np.unique(codes[rows], return_index=True)[1]]  # all of a class leave the same prior
            prior = dict(zip(codes[first].tolist(), self._prior_without(left.take(first)), strict=True))
            own_weight = None if labels.weight is None else weight[rows]
            for some in slices(len(names), STARS):  # the tables of all at once would be d times those of the pairs
                stars = {place[names[i]]: along[i](self.stats_) for i in range(some.start, some.stop)}
                hits[some], gains[some] = scores_left_out(X.take(rows), left.take(rows), prior, stars, own_weight)
        for i, (name, anew) in enumerate(steps(zip(names, along, strict=True), len(names))):
            hidden = self._domain(self.stats_, self.stats_.schema[name]).places(X) == HIDDEN
            others = np.flatnonzero((~fast | hidden) & (weight > 0))
            if len(others):
                part, gone, own = X.take(others), left.take(others), (np.arange(len(others)), codes[others])
                log_prior = self._prior_without(gone)
                log_posterior = log_normalize(self._without_one(part, gone, log_prior, anew(self.stats_), anew))
                largest = log_posterior >= log_posterior.max(axis=1, keepdims=True) - EQUAL
                right = (largest.argmax(axis=1) == own[1]) & ~np.isneginf(log_posterior[own])  # no posterior: wrong
                hits[i] += right @ weight[others]
                gains[i] += log_posterior[own] @ weight[others]
        total = weight.sum()
        scores = {name: (float(hits[i] / total), -float(gains[i] / total)) for i, name in enumerate(names)}
        losses = {name: -loss for name, (_, loss) in scores.items()}
        by_loss = {name: -k for k, name in enumerate(ranked(losses))}
        order = sorted(scores, key=lambda n: (-round(scores[n][0], 12), -by_loss[n]))
        index = pd.Index(order, name="super_parent")
        return pd.DataFrame([scores[n] for n in order], index=index, columns=["accuracy", "log_loss"])

    def _all_at_once(self, X: Table, left: LeftOutRows) -> NDArray[np.bool_]:
        """(n,) the rows that `scores_left_out` takes: of discrete columns, and with a weight of 1."""
        shared = any(dirichlet(self.alpha, v.name).base == "marginal" for v in X.schema)
        if not X.n or shared or any(not v.discrete for v in X.schema):
            return np.zeros(X.n, dtype=bool)
        return np.asarray((left.weight == 1) & ~self._any_last_missing(X, left.weight))

    def _structure(self, stats: SufficientStatistics) -> Structure:
        parent = self._super_parent(stats.schema)
        return {} if parent is None else star(stats.schema, parent)


@dataclass(eq=False, repr=False)
class TAN(SemiNaive):
    """Tree-augmented naive Bayes: a maximum spanning tree of I(x_i; x_j | y), directed away from a root, each column
    depending on the class and on its parent (Friedman, Geiger & Goldszmidt 1997; Zhou, eq. 7.22).

    root : the name of a column | None: the one with the largest I(x; y). Without smoothing, on complete data, any root
        gives the same joint. The other parameters are those of `SemiNaive`.

    With missing="marginalize" a table of a column under its parent counts the rows that know both. Where a class never
    knows the parent, the column then says nothing of that class, however often it is known: missing="category" keeps
    those rows. By cross-validation on twelve tables with missing cells, "category" is better where the missing cells
    belong to classes (soybean: .948 of the rows right for .922, as good as filling in modes, .952), and worse where
    they do not (colic: .779 for .808; there modes reach .796). Where many classes have few rows each, a smaller `alpha`
    does more than either (audiology: .70 with 0.1 for .65). In 10-fold cross-validation of nine tables with more than
    5 % of their cells missing, "category" has the smaller log-loss on five (supermarket .488 nats for .655, anneal .071
    for .195, soybean .160 for .228, labor, sick), the larger on three (vote .196 for .141, colic .583 for .524,
    hypothyroid), and on hepatitis the same: neither is a default for all tables, so compare the two.

    Attributes: `tree_` ((parent, child) pairs), `root_`, `trace_` (every edge considered, heaviest first), and those of
    `GenerativeClassifier`. The tree is learned anew from the statistics whenever rows are added or taken away.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
    >>> TAN(root="a").fit(X, list("nynynyny")).tree_[0]
    ('a', 'b')
    """

    estimation_parameters: ClassVar[frozenset[str]] = SemiNaive.estimation_parameters | {"root"}

    root: str | None = None

    factor_: DirectedFactor = field(init=False)

    @property
    def tree_(self) -> tuple[Edge, ...]:
        """(parent, child) pairs."""
        return tuple((d.variable.name, f.variable.name) for f in self.factor_.families for d in f.parents)

    @property
    def root_(self) -> str | None:
        """The discrete column without a parent that the tree was directed from."""
        return self._root(self.stats_, self.dependences())

    @property
    def trace_(self) -> tuple[TreeStep, ...]:
        """Every edge considered, heaviest first, and whether it was taken."""
        return self._tree(self.stats_.schema, self.dependences())

    def _root(self, stats: SufficientStatistics, nats: Dependences) -> str | None:
        discrete = [v.name for v in stats.schema if v.discrete]
        if self.root is not None and self.root not in discrete:
            raise ParameterError(
                "root='{name}' is no discrete column; take one of {known}",
                name=str(self.root),
                known=", ".join((*(f"'{n}'" for n in discrete), "None")),
            )
        by_class = {name: w for name, w in nats.class_weights.items() if name in discrete}
        return self.root if self.root is not None else ranked(by_class)[0] if discrete else None

    def _tree(self, schema: Schema, nats: Dependences) -> tuple[TreeStep, ...]:
        """Kruskal's steps over the discrete columns, then each column of numbers hung from its best parent."""
        weights = nats.weights
        discrete = [v.name for v in schema if v.discrete]
        steps = spanning_tree(discrete, {e: w for e, w in weights.items() if e[1] in discrete})
        for v in schema:
            if not v.discrete:
                own = {e: w for e, w in weights.items() if e[1] == v.name}
                steps += tuple(TreeStep(e, own[e], k == 0 and own[e] > TIE) for k, e in enumerate(ranked(own)))
        return steps

    @property
    def _has_chosen(self) -> bool:
        return True  # the tree

    def _structure(self, stats: SufficientStatistics) -> Structure:
        nats = dependences(stats, self.missing == "category", float(self.var_floor))
        root = self._root(stats, nats)
        taken = [s.edge for s in self._tree(stats.schema, nats) if s.taken]
        telling = ranked(nats.class_weights)
        names = sorted(telling, key=lambda n: (not stats.schema[n].discrete, telling.index(n)))  # a number is no parent
        return {child: (parent,) for parent, child in directed(names, taken, names[0] if root is None else root)}


@dataclass(eq=False, repr=False)
class KDependence(SemiNaive):
    """k-dependence Bayes (Sahami 1996): columns in the order of I(x; y), each with the class and, of those before it,
    the k that it shares most information with given the class as parents. k = 0 is naive Bayes.

    k : how many parents besides the class. The other parameters are those of `SemiNaive`.

    Attributes: `parents_` (the parents of each column), chosen by the first fit, and those of `GenerativeClassifier`.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx"), "c": list("xyxyyxyx")})
    >>> KDependence(k=2).fit(X, list("nynynyny")).parents_
    {'a': (), 'b': ('a',), 'c': ('a', 'b')}
    """

    structural: ClassVar[tuple[str, ...]] = ("parents_",)

    k: int = 1

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        self.parents_ = self._chosen(stats)
        return self._with_wider(X, labels, stats)

    def _chosen(self, stats: SufficientStatistics) -> dict[str, tuple[str, ...]]:
        k = checked_whole("k", self.k, 0)
        nats = dependences(stats, self.missing == "category", float(self.var_floor))
        return k_parents(stats.schema, nats, k)

    def _wider_of(self, schema: Schema) -> list[Name]:
        return [in_order(schema, (*up, child)) for child, up in self.parents_.items() if len(up) > 1]

    def _structure(self, stats: SufficientStatistics) -> Structure:
        if not hasattr(self, "parents_"):
            chosen = self._chosen(stats)
            if self.k > 1:
                raise ParameterError("k={k} needs the rows: tables of more than two columns are not counted", k=self.k)
            self.parents_ = chosen
        return self.parents_


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
        self._check(stats)
        checked_word("smoothing", self.smoothing, AVERAGING)
        least = checked_number("min_frequency", self.min_frequency)
        priors = [dirichlet(self.alpha, name) for name in (*stats.schema.names, None)]
        if any(p.base == "marginal" for p in priors) or (
            self.smoothing == "joint" and {p.per for p in priors} != {"level"}
        ):
            raise ParameterError(
                "AODE smooths joint tables P(class, value): alpha with base='marginal' does not apply there, and "
                "smoothing='joint' takes numbers; take Dirichlet.m_estimate(m, base='uniform'), or "
                "smoothing='factored'"
            )
        members = tuple(self._member(stats, stats.schema[name]) for name in self._super_parents(stats))
        naive = self._directed(stats, {})
        return AveragedFactor(self._prior(stats), members, naive, least)

    def _member(self, stats: SufficientStatistics, variable: Variable) -> Member:
        domain = self._domain(stats, variable)
        counts = domain.counted(stats.counts.tables[variable.name], 1)
        joint = self.smoothing == "joint"
        share = max(domain.size, 1) if joint else 1
        families = []
        for v in _varying(stats):
            if v.name != variable.name:
                own = max(self._domain(stats, v).size, 1) if joint and v.discrete else 1
                prior = dirichlet(self.alpha, v.name)
                families.append(
                    self._family(stats, v, (variable.name,), replace(prior, amount=prior.amount / (share * own)))
                )
        shape = counts.shape if self._prior_given else (counts.size,)
        alpha = dirichlet(self.alpha, variable.name).per_level(shape) / share
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


# statistics by place --------------------------------------------------------------------------------------------------


def _varying(stats: SufficientStatistics) -> list[Variable]:
    """The columns without those of one number."""
    return [v for v in stats.schema if v.discrete or not stats.moments.column(v.name).constant]


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
