"""A Bayesian network as a model of a table: structure given or learned, tables estimated, everything else inferred.

P(x) = Π_j P(x_j | pa_j) (Zhou, eq. 7.26). Counting is the semi-naive models' counting with one class, so statistics
merge; the Dirichlet prior enters in the estimate; cells not known and hidden nodes are EM's affair.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.em import EMTrace, Runs, generator
from bayes_engine.errors import ParameterError
from bayes_engine.exchange import NetworkFrames, from_frames, load_network, network_frames, save_network
from bayes_engine.factors.network import CPT, Network
from bayes_engine.inference.forward_sampling import LikelihoodWeightingRun, likelihood_weighting
from bayes_engine.inference.gibbs import GibbsRun, GibbsSettings, gibbs
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.logspace import Array, exp
from bayes_engine.models import network_fit, network_query
from bayes_engine.models.network_fit import EMSettings, TablePrior, read_rows
from bayes_engine.priors import Alpha
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG, Arc, given_arcs
from bayes_engine.structure.scores import ScoreName
from bayes_engine.structure.search import Method, SearchOptions, SearchResult, search
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema


@dataclass(eq=False, repr=False)
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

    structure: DAG | Iterable[Arc] = ()
    _: KW_ONLY
    alpha: Alpha = 1.0
    smoothing: Literal["lidstone", "bdeu"] = "lidstone"
    hidden: Mapping[str, int | Sequence[Any]] | None = None
    missing: Literal["em", "known", "error"] = "em"
    discretize: Literal["quantile", "equal-width"] | None = "quantile"
    bins: int = 4
    schema: Schema | None = None
    tol: float = 1e-9
    max_iter: int = 1000
    n_init: int = 5
    random_state: Any = None

    network_: Network = field(init=False)
    stats_: SufficientStatistics = field(init=False)
    schema_: Schema = field(init=False)
    runs_: Runs[Network] | None = field(init=False)

    # fitting ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate the tables of `structure` from the rows X (n, d); y is ignored.

        Raises TableError, ParameterError where table, arcs or parameters do not allow it.
        """
        table, weight = read_rows(X, sample_weight, self.schema, self.missing, self.discretize, self.bins)
        self.search_: SearchResult | None = None
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
            Hill climbing is 2 climbs and 30 from perturbed graphs, and more from 16 columns on (see `ClimbSettings`);
            `perturbations=0` leaves the first.

        >>> table = pd.DataFrame({"a": list("xxyyxxyy") * 9, "b": list("xxyyxxyy") * 9, "c": list("xyxyxyxy") * 9})
        >>> BayesianNetwork().learn(table, method="exact").graph_.arcs
        (('a', 'b'),)
        """
        if self.hidden:
            raise ParameterError("a hidden node has no rows to score its arcs by; give the structure and call fit")
        table, weight = read_rows(X, sample_weight, self.schema, self.missing, self.discretize, self.bins)
        start = self._given(table.schema)
        if start.arcs and method == "hill-climb":
            options = {"start": start, **options}
        counts = FamilyCounts(table, weight, missing="complete")
        self.search_ = search(counts, score, method=method, options=SearchOptions(**options))
        return self._fit(table, weight, self.search_.graph)

    def fit_stats(self, stats: SufficientStatistics) -> Self:
        """Estimate from statistics that were counted elsewhere for the same structure, or a merged sum.

        Raises ParameterError where they do not hold the tables of the structure.
        """
        if hidden := [name for name in self._hidden() if name not in stats.schema]:
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
        return network_query.joint_posterior(self._fitted, targets, evidence)

    def marginals(self, evidence: Mapping[str, Any] | None = None) -> dict[str, pd.Series]:
        """P(x_j | evidence) of every node, exact, each indexed by level. Raises as `query`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.marginals({"wet": "y"})["rain"].round(4).to_dict()
        {'n': 0.3333, 'y': 0.6667}
        """
        return network_query.marginals(self._fitted, evidence)

    def probability(self, evidence: Mapping[str, Any]) -> float:
        """P(evidence); 0 where it is impossible, or below 1e-308: `score_samples` gives its logarithm.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> round(model.probability({"rain": "n", "wet": "n"}), 4)  # 1/2 · 2/3
        0.3333
        """
        network = self._fitted
        return float(exp(junction_tree(network).log_evidence(network_query.row_of(network, evidence))[0]))

    def most_probable(self, evidence: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], float]:
        """The most probable explanation, argmax_x P(x | evidence), and its log P(x) in nats. Raises as `query`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.most_probable({"wet": "y"})[0]
        {'rain': 'y', 'wet': 'y'}
        """
        return network_query.most_probable(self._fitted, evidence)

    def posterior(self, X: Any, target: str) -> Array:
        """(n, S) P(target | the rest of each row), cells not known summed out; zeros where a row is impossible.

        A value that is no level counts as not known. Raises TableError where a cell of numbers is infinite.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.posterior(pd.DataFrame({"rain": ["n", "n"], "wet": ["y", None]}), "rain").round(4).tolist()
        [[0.3333, 0.6667], [0.5, 0.5]]
        """
        return network_query.posterior(self._fitted, self._places(X), target)

    def score_samples(self, X: Any) -> Array:
        """(n,) log P(x) in nats of each row, cells not known summed out; −inf where a row is impossible.

        Raises as `posterior`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.score_samples(pd.DataFrame({"rain": ["n", None], "wet": ["y", "y"]})).round(4).tolist()  # 1/6, 1/2
        [-1.7918, -0.6931]
        """
        return junction_tree(self._fitted).log_evidence(self._places(X))

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
        network, settings = self._fitted, GibbsSettings(**options)
        row = network_query.possible_row(network, evidence)
        return gibbs(network, row, rng=generator(random_state), settings=settings, event=event)

    def likelihood_weighting(
        self, evidence: Mapping[str, Any] | None = None, n: int = 10_000, random_state: Any = None
    ) -> LikelihoodWeightingRun:
        """n forward samples with the evidence set, weighted by its probability (Fung & Chang 1990).

        Raises as `gibbs`.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.likelihood_weighting({"wet": "y"}, random_state=0)["rain"].round(1).tolist()
        [0.3, 0.7]
        """
        row = network_query.possible_row(self._fitted, evidence)
        return likelihood_weighting(self.network_, row, n, generator(random_state))

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """n rows drawn from the distribution; a column of intervals comes as their names.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.sample(2, random_state=1).shape
        (2, 2)
        """
        return network_query.sampled(self._fitted, n, generator(random_state))

    # exchange -----------------------------------------------------------------------------------------------------

    def save_bif(self, path: str | Path) -> None:
        """Write the network in the Bayesian Interchange Format, or in XMLBIF where the name ends in .xml. Levels are
        written as words: True and 1 are read back as 'True' and '1'.

        Raises ParameterError where a name cannot be written, or two levels of a node are the same word.
        """
        save_network(self._fitted, path)

    @classmethod
    def load_bif(cls, path: str | Path) -> Self:
        """Read a network from a BIF or (.xml) XMLBIF file. Raises ReadError, naming the line."""
        return cls.of(load_network(path))

    def to_frames(self) -> NetworkFrames:
        """The arcs and the tables as tidy frames; `from_frames` reads them back.

        >>> model = BayesianNetwork([("rain", "wet")]).fit(pd.DataFrame({"rain": list("ny"), "wet": list("ny")}))
        >>> model.to_frames().edges.to_dict("records")
        [{'parent': 'rain', 'child': 'wet'}]
        >>> BayesianNetwork.from_frames(model.to_frames()).query("rain").to_dict()
        {'n': 0.5, 'y': 0.5}
        """
        return network_frames(self._fitted)

    @classmethod
    def from_frames(cls, frames: NetworkFrames) -> Self:
        """A model from what `to_frames` gave. Raises ParameterError where a row is missing or no distribution."""
        return cls.of(from_frames(frames))

    # plumbing -----------------------------------------------------------------------------------------------------

    @property
    def _prior(self) -> TablePrior:
        return TablePrior(self.alpha, self.smoothing)

    def _hidden(self) -> dict[str, tuple[Any, ...]]:
        return network_fit.hidden_levels(self.hidden)

    @property
    def _fitted(self) -> Network:
        if not hasattr(self, "network_"):  # the check takes as long as a small query
            check_is_fitted(self, "network_")
        return self.network_

    def _places(self, X: Any) -> NDArray[np.intp]:
        """(n, d) the places of rows; a value outside the levels is not known. A node without a column is hidden."""
        return network_query.places_of(self._fitted, self.schema_, self._hidden(), X)

    def _given(self, schema: Schema) -> DAG:
        """The structure asked for, over the columns and the hidden nodes."""
        names = (*schema.names, *(name for name in self._hidden() if name not in schema))
        return DAG(names, given_arcs(self.structure))

    def _fit(self, table: Table, weight: Array | None, graph: DAG) -> Self:
        shown = len(table.schema)
        table = network_fit.widened(table, self._hidden())
        stats = network_fit.counted(table, weight, graph)
        absent = np.stack([table[name] == 0 for name in table.schema.names], axis=1)
        if not absent.any() or (len(table.schema) == shown and self.missing != "em"):
            return self._settle(stats, graph)
        how = EMSettings(self._hidden(), self.tol, self.max_iter, self.n_init, self.random_state)
        fitted = network_fit.fit_by_em(table, weight, stats, graph, self._prior, how)
        self.stats_, self.schema_, self.runs_ = fitted.stats, fitted.stats.schema, fitted.runs
        self._take(fitted.network, fitted.trace)
        return self

    def _settle(self, stats: SufficientStatistics, graph: DAG) -> Self:
        network = network_fit.estimate(stats, graph, self._prior)
        self.stats_, self.schema_, self.runs_ = stats, stats.schema, None
        self._take(network, None)
        return self

    def _take(self, network: Network, trace: EMTrace[Network] | None) -> None:
        self.network_ = network
        self.trace_ = trace
        self.n_features_in_ = len(network.cpts) - len(self._hidden())

    def _like(self, parameters: dict[str, Any]) -> Self:
        new = clone(self).set_params(**parameters)
        new.search_ = self.search_
        return new  # type: ignore[no-any-return]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")


def _counted(model: BayesianNetwork) -> None:
    """Raises ParameterError where the tables do not come from rows."""
    check_is_fitted(model, "network_")
    if not hasattr(model, "stats_"):
        raise ParameterError("these tables were read from a file or edited by hand: there are no counts to use")
