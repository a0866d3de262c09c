"""A Bayesian network as a model of a table: structure given or learned, tables estimated, everything else inferred.

P(x) = Π_j P(x_j | pa_j) (Zhou, eq. 7.26). Counting is the semi-naive models' counting with one class, so statistics
merge; the Dirichlet prior enters in the estimate; cells not known and hidden nodes are EM's affair.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayes_engine.em import EMModel, EMTrace, Expected, Runs, Stopping, em, runs
from bayes_engine.errors import ParameterError, TableError, TooLarge
from bayes_engine.exchange import (
    NetworkFrames,
    from_frames,
    network_frames,
    read_bif,
    read_xmlbif,
    write_bif,
    write_xmlbif,
)
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference.completion import Completion
from bayes_engine.inference.forward import Weighted, likelihood_weighting, sample
from bayes_engine.inference.gibbs import GibbsRun, GibbsSettings, gibbs
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.language import Listing
from bayes_engine.logspace import Array, exp, log
from bayes_engine.models.base import given_schema, say
from bayes_engine.priors import (
    Alpha,
    Dirichlet,
    checked_alphas,
    checked_number,
    checked_whole,
    checked_word,
    dirichlet,
    pseudo_counts,
)
from bayes_engine.stats.collect import Statistics, collect
from bayes_engine.stats.families import Families, Name, count_families, in_order
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.structure.graph import DAG, Arc, given_arcs
from bayes_engine.structure.scores import ScoreName
from bayes_engine.structure.search import Method, Search, SearchOptions, search
from bayes_engine.table.discretize import checked_method, cuts_for, interval_names
from bayes_engine.table.encode import Table, as_frame, encode, numbers, observe, unseen_code
from bayes_engine.table.schema import Schema, Variable

ONE = Variable("", "categorical", ("",))
"""The target of a table without one: a distribution is a classifier with a single class."""

Tables = tuple[Array, ...]
"""What EM climbs over: the probabilities of every node's table, in the order of the nodes."""


class BayesianNetwork(BaseEstimator):  # type: ignore[misc]
    """A joint distribution over the columns of a table, P(x) = Π_j P(x_j | pa_j), as a graph and its tables.

    `fit` estimates the tables of a given `structure`, `learn` finds the structure first; `of` takes a finished
    `Network`. Columns of numbers are cut into intervals.

    Parameters
    ----------
    structure : DAG | list of arcs, (parent, child) pairs of column names and hidden nodes.
    alpha : Dirichlet prior in pseudo-counts: of every level, or with smoothing="bdeu" the equivalent sample size,
        spread evenly over each table (Heckerman, Geiger & Chickering 1995); or another prior, by node if wished: as in
        `NaiveBayes`. Under EM the tables are posterior modes.
    smoothing : "lidstone" | "bdeu": what a bare number in `alpha` is.
    hidden : {name: levels or how many}: nodes that no column shows, found by EM from several random starts; of their
        levels the first has the most weight, and so on.
    missing : "em": a row counts by what it shows, its hidden cells in expectation | "known": every family is counted
        from the rows that show all of it | "error".
    discretize : "quantile" | "equal-width" | None (numbers are refused); bins : how many intervals.
    schema : kinds and levels of the columns; None takes them from the dtypes.
    tol : EM ends when its objective changes by less than this per row (nats); max_iter : M steps; n_init : random
        starts; random_state : their seed.

    Attributes: `network_` (the tables), `graph_`, `stats_`, `schema_`, `trace_` and `runs_` (of EM, else None),
    `search_` (of `learn`, else None).

    >>> table = pd.DataFrame({"rain": list("nnnyny"), "wet": list("nynyny")})
    >>> model = BayesianNetwork([("rain", "wet")], alpha=1.0).fit(table)
    >>> model.query("rain", {"wet": "y"}).round(4).to_dict()
    {'n': 0.4255, 'y': 0.5745}
    """

    def __init__(
        self,
        structure: DAG | Iterable[Arc] = (),
        *,
        alpha: Alpha = 1.0,
        smoothing: Literal["lidstone", "bdeu"] = "lidstone",
        hidden: Mapping[str, int | Sequence[Any]] | None = None,
        missing: Literal["em", "known", "error"] = "em",
        discretize: Literal["quantile", "equal-width"] | None = "quantile",
        bins: int = 4,
        schema: Schema | None = None,
        tol: float = 1e-9,
        max_iter: int = 1000,
        n_init: int = 5,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.alpha = alpha
        self.smoothing = smoothing
        self.hidden = hidden
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.schema = schema
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    network_: Network
    stats_: Statistics
    schema_: Schema
    runs_: Runs[Network] | None

    # fitting ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate the tables of `structure` from the rows X (n, d); y is ignored.

        Raises TableError, ParameterError where table, arcs or parameters do not allow it.
        """
        table, weight = self._read(X, sample_weight)
        self.search_: Search | None = None
        return self._fit(table, weight, self._given(table.schema))

    def learn(
        self,
        X: Any,
        score: ScoreName = "mdl",
        *,
        method: Method = "hill-climb",
        sample_weight: Any = None,
        **options: Any,
    ) -> Self:
        """Find the graph of the columns X (n, d) with the best score, and estimate its tables; `structure` is where
        hill climbing starts. A row with a cell not known is left out of the search, and counts in the estimate.

        score : "mdl" (Zhou, eq. 7.28–7.31, the same as "bic") | "aic" | "log-likelihood" | "k2" | "bdeu".
        method : "hill-climb" | "k2" (`order=` of the columns) | "exact" (up to about 15 columns) | "tree" (Chow & Liu)
            | "naive", "tan" (`target=` a column).
        options : the fields of `bayes_engine.structure.search.SearchOptions`: constraints, max_parents, time_budget …

        >>> table = pd.DataFrame({"a": list("xxyyxxyy") * 9, "b": list("xxyyxxyy") * 9, "c": list("xyxyxyxy") * 9})
        >>> BayesianNetwork().learn(table, method="exact").graph_.arcs
        (('a', 'b'),)
        """
        if self.hidden:
            raise ParameterError("a hidden node has no rows to score its arcs by; give the structure and call fit")
        table, weight = self._read(X, sample_weight)
        start = self._given(table.schema)
        if start.arcs and method == "hill-climb":
            options = {"start": start, **options}
        counts = FamilyCounts(table, weight, missing="complete")
        self.search_ = search(counts, score, method=method, options=SearchOptions(**options))
        return self._fit(table, weight, self.search_.graph)

    def fit_stats(self, stats: Statistics) -> Self:
        """Estimate from statistics that were counted elsewhere for the same structure, or a merged sum.

        Raises ParameterError where they do not hold the tables of the structure.
        """
        if hidden := [name for name in self._hidden if name not in stats.schema]:
            raise ParameterError(
                "statistics do not show the hidden node '{name}'; call fit with the rows", name=hidden[0]
            )
        self._settle(stats, self._given(stats.schema))
        self.search_ = None
        return self

    def merge(self, other: Self) -> Self:
        """A new model with the rows of both, under one structure.

        Raises ParameterError where EM completed the rows, or the tables do not come from rows; SchemaMismatch where the
        tables of the other are not those of this structure.
        """
        for model in (self, other):
            _counted(model)
            if model.trace_ is not None:
                raise ParameterError(
                    "expected counts depend on the other rows: they do not merge; fit all rows at once"
                )
        return self._like({})._settle(self.stats_ + other.stats_, self.graph_)

    def with_params(self, **parameters: Any) -> Self:
        """A new model from the same statistics under another `alpha` or `smoothing`; nothing is counted again.

        Raises ParameterError for another parameter, where EM's counts depend on these, or the tables do not come from
        rows.
        """
        _counted(self)
        if self.trace_ is not None:
            raise ParameterError("EM's expected counts depend on the prior; set the parameter and refit")
        for name in parameters:
            if name not in ("alpha", "smoothing"):
                raise ParameterError("with_params cannot change '{name}'; set it and refit", name=name)
        return self._like(parameters)._settle(self.stats_, self.graph_)

    @classmethod
    def of(cls, network: Network) -> Self:
        """A model of a finished network: one that was read from a file, or edited by hand. It has no `stats_`.

        >>> from bayes_engine.exchange import read_bif
        >>> rain = read_bif("variable rain { type discrete [2] {no, yes}; } probability (rain) { table 0.8 0.2; }")
        >>> BayesianNetwork.of(rain).query("rain").to_dict()
        {'no': 0.8, 'yes': 0.2}
        """
        model = cls(network.graph)
        model.schema_ = Schema(tuple(replace(cpt.variable, role="feature") for cpt in network.cpts))
        model.search_ = model.runs_ = None
        model._take(network, None)
        return model

    def with_cpt(self, name: str, p: Any) -> Self:
        """A copy in which one node's table is `p` (*S_parents, S), its parents in the order of `network_`.

        Its tables are no longer those of its rows, so it has no `stats_`. Raises ParameterError, naming the row, where
        one does not sum to 1 (up to 1e-6, and then it is divided by its sum).

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.with_cpt("rain", [0.9, 0.1]).query("rain").round(4).to_dict()
        {'n': 0.9, 'y': 0.1}
        """
        check_is_fitted(self, "network_")
        old = self.network_[name]
        new = copy.copy(self)
        new.__dict__.pop("stats_", None)
        new._take(self.network_.with_cpt(CPT(old.variable, old.parents, p)), self.trace_)
        return new

    @property
    def graph_(self) -> DAG:
        """The structure of `network_`."""
        check_is_fitted(self, "network_")
        return self.network_.graph

    # asking -------------------------------------------------------------------------------------------------------

    def query(self, targets: str | Sequence[str], evidence: Mapping[str, Any] | None = None) -> pd.Series:
        """P(targets | evidence), exact: indexed by level, or by the levels of several targets together.

        Raises ImpossibleEvidence, naming a smallest conflict, where P(evidence) = 0; ParameterError on an unknown name.
        """
        row = self._row(evidence)
        names = [str(name) for name in (targets if isinstance(targets, list | tuple) else [targets])]
        if not names:
            raise ParameterError("no target is asked for; name one node or more")
        levels = [self.network_[name].variable.levels for name in names]
        p = junction_tree(self.network_).joint(names, row)[0]
        index = (
            pd.Index(levels[0], name=names[0]) if len(names) == 1 else pd.MultiIndex.from_product(levels, names=names)
        )
        return pd.Series(p.ravel(), index=index, name="P")

    def marginals(self, evidence: Mapping[str, Any] | None = None) -> dict[str, pd.Series]:
        """P(x_j | evidence) of every node, exact, each indexed by level. Raises as `query`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.marginals({"wet": "y"})["rain"].round(4).to_dict()
        {'n': 0.3333, 'y': 0.6667}
        """
        found = junction_tree(self.network_).marginals(self._row(evidence)).p
        return {
            cpt.name: pd.Series(found[cpt.name][0], index=pd.Index(cpt.variable.levels, name=cpt.name), name="P")
            for cpt in self.network_.cpts
        }

    def probability(self, evidence: Mapping[str, Any]) -> float:
        """P(evidence); 0 where it is impossible, or below 1e-308: `score_samples` gives its logarithm.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> round(model.probability({"rain": "n", "wet": "n"}), 4)  # 1/2 · 2/3
        0.3333
        """
        return float(exp(junction_tree(self.network_).log_evidence(self._row(evidence))[0]))

    def most_probable(self, evidence: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], float]:
        """The most probable explanation, argmax_x P(x | evidence), and its log P(x) in nats. Raises as `query`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.most_probable({"wet": "y"})[0]
        {'rain': 'y', 'wet': 'y'}
        """
        places, log_p = junction_tree(self.network_).most_probable(self._row(evidence))
        named = zip(self.network_.cpts, places[0], strict=True)
        return {cpt.name: cpt.variable.levels[i] for cpt, i in named}, float(log_p[0])

    def posterior(self, X: Any, target: str) -> Array:
        """(n, S) P(target | the rest of each row), cells not known summed out; zeros where a row is impossible.

        A value that is no level counts as not known. Raises TableError where a cell of numbers is infinite.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.posterior(pd.DataFrame({"rain": ["n", "n"], "wet": ["y", None]}), "rain").round(4).tolist()
        [[0.3333, 0.6667], [0.5, 0.5]]
        """
        places = self._places(X)
        places[:, self.network_.position[self.network_[target].name]] = HIDDEN
        return junction_tree(self.network_).marginals(places, targets=[target], impossible="flag").p[target]

    def score_samples(self, X: Any) -> Array:
        """(n,) log P(x) in nats of each row, cells not known summed out; −inf where a row is impossible.

        Raises as `posterior`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.score_samples(pd.DataFrame({"rain": ["n", None], "wet": ["y", "y"]})).round(4).tolist()  # 1/6, 1/2
        [-1.7918, -0.6931]
        """
        return junction_tree(self.network_).log_evidence(self._places(X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows, in nats."""
        return float(self.score_samples(X).mean())

    def gibbs(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        random_state: Any = None,
        event: NDArray[np.intp] | None = None,
        **options: Any,
    ) -> GibbsRun:
        """Gibbs sampling given the evidence; `event` (d,) is Q = q as places, `options` are the fields of
        `bayes_engine.inference.gibbs.GibbsSettings`.

        Raises ImpossibleEvidence where P(evidence) = 0, naming a smallest conflict where exact inference can afford to.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> run = model.gibbs({"wet": "y"}, random_state=0)
        >>> run.status, run["rain"].round(1).tolist()  # 1/3, 2/3
        ('converged', [0.3, 0.7])
        """
        settings = GibbsSettings(**options)
        return gibbs(self.network_, self._possible(evidence), rng=_rng(random_state), settings=settings, event=event)

    def likelihood_weighting(
        self, evidence: Mapping[str, Any] | None = None, n: int = 10_000, random_state: Any = None
    ) -> Weighted:
        """n forward samples with the evidence set, weighted by its probability (Fung & Chang 1990).

        Raises as `gibbs`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.likelihood_weighting({"wet": "y"}, random_state=0)["rain"].round(1).tolist()
        [0.3, 0.7]
        """
        return likelihood_weighting(self.network_, self._possible(evidence), n, _rng(random_state))

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """n rows drawn from the distribution; a column of intervals comes as their names.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.sample(2, random_state=1).shape
        (2, 2)
        """
        check_is_fitted(self, "network_")
        places = sample(self.network_, n, _rng(random_state))
        columns = {}
        for cpt, column in zip(self.network_.cpts, places.T, strict=True):
            levels = pd.Index(list(cpt.variable.levels), dtype=object)
            columns[cpt.name] = pd.Categorical.from_codes(column, levels)
        return pd.DataFrame(columns)

    # exchange -----------------------------------------------------------------------------------------------------

    def save_bif(self, path: str | Path) -> None:
        """Write the network in the Bayesian Interchange Format, or in XMLBIF where the name ends in .xml. Levels are
        written as words: True and 1 are read back as 'True' and '1'.

        Raises ParameterError where a name cannot be written, or two levels of a node are the same word.
        """
        check_is_fitted(self, "network_")
        xml = str(path).lower().endswith((".xml", ".xmlbif"))
        Path(path).write_text(write_xmlbif(self.network_) if xml else write_bif(self.network_), encoding="utf-8")

    @classmethod
    def load_bif(cls, path: str | Path) -> Self:
        """Read a network from a BIF or (.xml) XMLBIF file. Raises ReadError, naming the line."""
        xml = str(path).lower().endswith((".xml", ".xmlbif"))
        return cls.of(read_xmlbif(Path(path)) if xml else read_bif(Path(path)))

    def to_frames(self) -> NetworkFrames:
        """The arcs and the tables as tidy frames; `from_frames` reads them back.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.to_frames().edges.to_dict("records")
        [{'parent': 'rain', 'child': 'wet'}]
        >>> BayesianNetwork.from_frames(model.to_frames()).query("rain").to_dict()
        {'n': 0.5, 'y': 0.5}
        """
        check_is_fitted(self, "network_")
        return network_frames(self.network_)

    @classmethod
    def from_frames(cls, frames: NetworkFrames) -> Self:
        """A model from what `to_frames` gave. Raises ParameterError where a row is missing or no distribution."""
        return cls.of(from_frames(frames))

    # plumbing -----------------------------------------------------------------------------------------------------

    def _read(self, X: Any, sample_weight: Any) -> tuple[Table, Array | None]:
        frame = as_frame(X)
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        checked_word("missing", self.missing, ("em", "known", "error"))
        if self.discretize is not None:
            checked_word("discretize", self.discretize, ("quantile", "equal-width"))
        schema = Schema.from_dtypes(frame) if self.schema is None else given_schema(self.schema).features
        for name in schema.names:
            if name not in frame.columns:
                raise TableError("the schema's column '{column}' is not in X", column=name)
        frame = frame[list(schema.names)]
        schema = observe(frame, Schema(tuple(self._cut(v, frame) for v in schema)))
        empty = [v.name for v in schema if not v.levels]
        if empty:
            raise TableError("column(s) {names} hold no value at all; leave them out", names=Listing(empty))
        table = encode(frame, schema, unseen="error")
        _finite(table)
        for name in schema.names if self.missing == "error" else ():
            if (absent := table[name] == 0).any():
                raise TableError(
                    "column '{column}' has a missing cell in row {row}; choose missing='em', which keeps every row",
                    column=name,
                    row=int(absent.argmax()) + 1,
                )
        return table, checked_weights(sample_weight, table.n)

    def _cut(self, variable: Variable, frame: pd.DataFrame) -> Variable:
        if not variable.numeric:
            return variable
        if self.discretize is None:
            raise TableError(
                "column '{column}' holds numbers, and every node of a network is discrete; set discretize='quantile'",
                column=variable.name,
            )
        checked_method(self.discretize, self.bins)
        x = numbers(frame[variable.name], variable)
        cuts = cuts_for(self.discretize, x, np.zeros(len(x), dtype=np.intp), 1, None, self.bins)
        return replace(variable, cuts=cuts, levels=interval_names(cuts), declared=True)

    def _given(self, schema: Schema) -> DAG:
        """The structure asked for, over the columns and the hidden nodes."""
        names = (*schema.names, *(name for name in self._hidden if name not in schema))
        return DAG(names, given_arcs(self.structure))

    @property
    def _hidden(self) -> dict[str, tuple[Any, ...]]:
        """The levels of every hidden node."""
        if not isinstance(self.hidden or {}, Mapping):
            raise ParameterError(
                "hidden={value}; give a dict from names to levels, or to how many", value=repr(self.hidden)
            )
        found = {}
        for name, given in (self.hidden or {}).items():
            levels = tuple(given if isinstance(given, Iterable) else range(checked_whole("hidden", given, 2)))
            if len(set(levels)) < max(len(levels), 2) or any(pd.isna(level) is True for level in levels):
                raise ParameterError(
                    "the hidden node '{name}' needs two levels or more, all different; it has {levels}",
                    name=str(name),
                    levels=", ".join(map(str, levels)) or "–",
                )
            found[str(name)] = levels
        return found

    def _fit(self, table: Table, weight: Array | None, graph: DAG) -> Self:
        schema = self._with_hidden(table.schema)
        extra = tuple(np.zeros(table.n, dtype=np.uint8) for _ in range(len(schema) - len(table.schema)))
        table = replace(table, schema=schema, columns=(*table.columns, *extra))
        labels = Labels(1, np.zeros(table.n, dtype=np.intp), weight)
        stats = replace(
            collect(table, labels, ONE), families=Families(count_families(table, labels, _wider(schema, graph)))
        )
        absent = np.stack([table[name] == 0 for name in schema.names], axis=1)
        if absent.any() and (extra or self.missing == "em"):
            return self._climb(table, weight, stats, graph)
        return self._settle(stats, graph)

    def _with_hidden(self, schema: Schema) -> Schema:
        more = []
        for name, levels in self._hidden.items():
            if name in schema:
                raise ParameterError("the hidden node '{name}' has the name of a column", name=name)
            more.append(Variable(name, "categorical", levels, declared=True))
        return Schema((*schema, *more))

    def _settle(self, stats: Statistics, graph: DAG) -> Self:
        self._check(stats)
        network = self._estimate(stats, graph)
        self.stats_, self.schema_, self.runs_ = stats, stats.schema, None
        self._take(network, None)
        return self

    def _take(self, network: Network, trace: EMTrace[Network] | None) -> None:
        self.network_ = network
        self.trace_ = trace
        self.n_features_in_ = len(network.cpts) - len(self._hidden)

    def _like(self, parameters: dict[str, Any]) -> Self:
        new = clone(self).set_params(**parameters)
        new.search_ = self.search_
        return new  # type: ignore[no-any-return]

    def _check(self, stats: Statistics) -> None:
        checked_alphas(self.alpha, stats.schema.names, float(stats.class_weight.sum()))
        checked_word("smoothing", self.smoothing, ("lidstone", "bdeu"))

    def _estimate(self, stats: Statistics, graph: DAG) -> Network:
        return Network(
            CPT(
                v,
                (stats.schema[n] for n in graph.parents[v.name]),
                self._p(v.name, _counts(stats, graph.parents[v.name], v)),
            )
            for v in stats.schema
        )

    def _p(self, name: str, counts: Array) -> Array:
        """P(x_j | pa_j) = (n + a)/(N + Σa) from counts (*S_parents, S); without counts and prior uniform."""
        smoothed = counts + pseudo_counts(counts, self._dirichlet(name), "all")
        return np.asarray(smoothed / smoothed.sum(axis=-1, keepdims=True))

    def _dirichlet(self, name: str) -> Dirichlet:
        """The prior of a node's table."""
        prior = dirichlet(self.alpha, name)
        bare = prior.per == "level" and self.smoothing == "bdeu"
        return Dirichlet.equivalent_sample_size(prior.amount) if bare else prior

    # EM -----------------------------------------------------------------------------------------------------------

    def _climb(self, table: Table, weight: Array | None, seen: Statistics, graph: DAG) -> Self:
        """EM over the cells not known: the tables of `network_` maximize the likelihood of what the rows show, times
        the Dirichlet prior whose mode they are."""
        self._check(seen)
        priors = [self._dirichlet(v.name) for v in seen.schema]
        if any(prior.base == "marginal" for prior in priors):
            raise ParameterError(
                "alpha with base='marginal' takes its shares from the rows, and EM's rows change at every step: there "
                "is no one objective to climb; take base='uniform'"
            )
        checked_number("tol", self.tol)
        starts = checked_whole("n_init", self.n_init, 1) if self.hidden else 1
        rng = _rng(self.random_state)
        places = np.stack([column.astype(np.intp) - 1 for column in table.columns], axis=1)
        total = float(table.n if weight is None else weight.sum())
        variables = list(seen.schema)
        scopes = [graph.parents[v.name] for v in variables]

        def network(tables: Tables) -> Network:
            given = zip(variables, scopes, tables, strict=True)
            return Network(CPT(v, (seen.schema[n] for n in up), p) for v, up, p in given)

        shape = network(tuple(self._start(seen, v, up, rng) for v, up in zip(variables, scopes, strict=True)))
        completion = Completion.of(shape, places, np.ones(table.n) if weight is None else weight)

        def expect(tables: Tables, hard: bool) -> Expected[Tables]:
            counts, likelihood = completion.expected(network(tables))
            q = complete(counts, tables)
            return Expected(counts, likelihood, q, likelihood - q)

        def complete(counts: Tables, tables: Tables) -> float:
            return sum(_weighted(n, log(p)) for n, p in zip(counts, tables, strict=True))

        def log_prior(tables: Tables) -> float:
            each = zip(priors, tables, strict=True)
            return sum(_weighted(np.full(p.shape, prior.per_level(p.shape)), log(p)) for prior, p in each)

        def start() -> Tables:
            return tuple(self._start(seen, v, up, rng) for v, up in zip(variables, scopes, strict=True))

        def in_order_of_weight(trace: EMTrace[Tables]) -> EMTrace[Tables]:
            counts = expect(trace.last.parameters, False).stats
            order = {v.name: _heaviest(n) for v, n in zip(variables, counts, strict=True) if v.name in self._hidden}
            axes = [[order.get(n) for n in (*up, v.name)] for v, up in zip(variables, scopes, strict=True)]
            return trace.mapped(lambda tables: tuple(_turned(p, to) for p, to in zip(tables, axes, strict=True)))

        model = EMModel(
            expect,
            lambda counts: tuple(self._p(v.name, n) for v, n in zip(variables, counts, strict=True)),
            complete=complete,
            log_prior=log_prior if any(prior.amount for prior in priors) else None,
        )
        stopping = Stopping(tol=self.tol * max(total, 1.0), max_iter=checked_whole("max_iter", self.max_iter, 1))
        found: Runs[Tables] = runs([start] * starts, lambda first: em(first, model, stopping=stopping))
        if self._hidden:
            found = Runs(tuple(in_order_of_weight(trace) for trace in found.traces), found.collapsed)
        best = found.best
        assert best is not None
        if not best.converged:
            say("EM stopped after {n} steps before its objective settled; raise max_iter", n=best.n_iter)
        counts = expect(best.last.parameters, False).stats
        self.stats_ = _expected(seen, graph, dict(zip(seen.schema.names, counts, strict=True)))
        self.schema_ = seen.schema
        self.runs_ = Runs(tuple(t.mapped(network) for t in found.traces), found.collapsed)
        self._take(network(best.last.parameters), best.mapped(network))
        return self

    def _start(self, seen: Statistics, variable: Variable, parents: tuple[str, ...], rng: np.random.Generator) -> Array:
        """A node's first table: from the rows that show its family, one imagined row a cell; where a hidden node takes
        part, drawn at random, for from equal levels EM cannot tell them apart."""
        counts = _counts(seen, parents, variable)
        if not self._hidden.keys().isdisjoint((variable.name, *parents)):
            return np.asarray(rng.dirichlet(np.full(counts.shape[-1], 3.0), size=counts.shape[:-1]))
        return np.asarray((counts + 1.0) / (counts + 1.0).sum(axis=-1, keepdims=True))

    # rows and evidence --------------------------------------------------------------------------------------------

    def _row(self, evidence: Mapping[str, Any] | None) -> NDArray[np.intp]:
        """(1, d) the places of one set of findings; a number stands for its interval, None for nothing."""
        check_is_fitted(self, "network_")
        named = {}
        for name, value in (evidence or {}).items():
            if pd.isna(value) is True:
                continue
            variable = self.network_[str(name)].variable
            if variable.cuts is not None and isinstance(value, Real) and math.isfinite(value):
                value = variable.levels[int(np.searchsorted(variable.cuts, float(value), side="left"))]
            named[variable.name] = value
        return self.network_.places(named)[None, :]

    def _possible(self, evidence: Mapping[str, Any] | None) -> NDArray[np.intp]:
        """(d,) the places of findings that can occur together, as far as exact inference can tell."""
        row = self._row(evidence)
        with suppress(TooLarge):
            junction_tree(self.network_).marginals(row, targets=[])
        return np.asarray(row[0])

    def _places(self, X: Any) -> NDArray[np.intp]:
        """(n, d) the places of rows; a value outside the levels is not known. A node without a column is hidden."""
        check_is_fitted(self, "network_")
        frame = as_frame(X)
        frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
        names = [n for n in self.network_.names if n in frame.columns]
        for name in self.network_.names:
            if name not in names and name not in self._hidden:
                raise TableError("the column '{column}' is not in X", column=name)
        table = encode(frame[names], Schema(tuple(self.schema_[n] for n in names)))
        _finite(table)
        places = np.full((table.n, len(self.network_.cpts)), HIDDEN, dtype=np.intp)
        for name in names:
            codes = table[name]
            places[:, self.network_.position[name]] = (
                np.where(codes == unseen_code(codes), 0, codes).astype(np.intp) - 1
            )
        return places

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")


def _rng(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def _counted(model: BayesianNetwork) -> None:
    """Raises ParameterError where the tables do not come from rows."""
    check_is_fitted(model, "network_")
    if not hasattr(model, "stats_"):
        raise ParameterError("these tables were read from a file or edited by hand: there are no counts to use")


def _finite(table: Table) -> None:
    if table.beyond is not None:
        raise TableError("a column of intervals holds infinity in row {row}", row=int(table.beyond.argmax()) + 1)


def _wider(schema: Schema, graph: DAG) -> list[Name]:
    """The families of two nodes and more, as they are counted."""
    return sorted({in_order(schema, (*up, name)) for name, up in graph.parents.items() if up})


def _counts(stats: Statistics, parents: tuple[str, ...], variable: Variable) -> Array:
    """(*S_parents, S) how often each cell of a family was met, cells not known left out."""
    name = in_order(stats.schema, (*parents, variable.name))
    alone = {(k,): v for k, v in stats.counts.tables.items()}
    tables: Mapping[Name, Array] = stats.families.tables if parents else alone  # type: ignore[assignment]
    if name not in tables:
        raise ParameterError("these statistics do not hold the table of {names}; count the rows", names=", ".join(name))
    known = tables[name][0][tuple(slice(1, None) for _ in name)]
    return np.asarray(known.transpose([name.index(n) for n in (*parents, variable.name)]))


def _expected(seen: Statistics, graph: DAG, counts: Mapping[str, Array]) -> Statistics:
    """The statistics with every family's table as EM expects it."""
    tables = {}
    for child, up in graph.parents.items():
        name = in_order(seen.schema, (*up, child))
        turned = counts[child].transpose([(*up, child).index(n) for n in name])
        tables[name] = np.pad(turned, [(1, 0)] * len(name))[None]
    alone = {name[0]: t for name, t in tables.items() if len(name) == 1}
    for child in seen.schema.names:  # the margin of its family
        if child not in alone:
            own = counts[child]
            alone[child] = np.pad(own.sum(axis=tuple(range(own.ndim - 1))), (1, 0))[None]
    families = Families({name: t for name, t in tables.items() if len(name) > 1})
    return replace(seen, counts=replace(seen.counts, tables=alone), families=families)


def _heaviest(counts: Array) -> NDArray[np.intp]:
    """The levels of a node, on the last axis, by falling weight: EM finds them in any order."""
    return np.asarray(np.argsort(-counts.sum(axis=tuple(range(counts.ndim - 1))), kind="stable"))


def _turned(table: Array, orders: Sequence[NDArray[np.intp] | None]) -> Array:
    """A table with the levels on each axis in another order; None leaves them."""
    for axis, order in enumerate(orders):
        table = table if order is None else np.take(table, order, axis=axis)
    return table


def _weighted(counts: Array, log_p: Array) -> float:
    """Σ n log p with 0·(−inf) = 0."""
    return float((counts * np.where(counts > 0, log_p, 0.0)).sum())
