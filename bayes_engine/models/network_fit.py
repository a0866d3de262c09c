"""Fitting a Bayesian network: rows read as codes, families counted, tables estimated; EM where cells are not known.

The tables of given counts are (n + a)/(N + Σa) with the Dirichlet prior's pseudo-counts a. With cells not known the
counts are expected ones, and the tables posterior modes (`fit_by_em`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.em import EMModel, EMTrace, ExpectedStatistics, Runs, Stopping, em, generator, runs
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors.leaf import dot
from bayes_engine.factors.network import CPT, Network
from bayes_engine.inference.expected_counts import ExpectationStep
from bayes_engine.language import Listing
from bayes_engine.logspace import Array, log
from bayes_engine.models.fit_warnings import warn, warn_of_guesses
from bayes_engine.models.table_reader import by_schema, given_schema
from bayes_engine.priors import (
    Alpha,
    Dirichlet,
    checked_alphas,
    checked_number,
    checked_whole,
    checked_word,
    dirichlet,
    normalized,
    pseudo_counts,
)
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.families import Families, Name, count_families, in_order
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.structure.graph import DAG
from bayes_engine.table.dataframes import as_frame
from bayes_engine.table.discretize import checked_method, cuts_for, interval_names
from bayes_engine.table.encode import Table, encode, observe, refuse_infinite
from bayes_engine.table.schema import Schema, Variable, numbers

ONE = Variable("", "categorical", ("",))
"""The target of a table without one: a distribution is a classifier with a single class."""

Tables = tuple[Array, ...]
"""What EM climbs over: the probabilities of every node's table, in the order of the nodes."""


# rows -----------------------------------------------------------------------------------------------------------------


def read_rows(
    X: Any, sample_weight: Any, schema: Schema | None, missing: str, discretize: str | None, bins: int
) -> tuple[Table, Array | None]:
    """The rows X (n, d) as codes, and their weights, by parameters of `BayesianNetwork`. Raises TableError,
    ParameterError where they cannot be read so."""
    frame = as_frame(X)
    frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
    checked_word("missing", missing, ("em", "known", "error"))
    if discretize is not None:
        checked_word("discretize", discretize, ("quantile", "equal-width"))
    if schema is None:
        schema = Schema.from_dtypes(frame)
        warn_of_guesses(schema, frame)
    else:
        schema = given_schema(schema).features
    frame = by_schema(frame, frame, schema.names)
    schema = observe(frame, Schema(tuple(_cut(v, frame, discretize, bins) for v in schema)))
    refuse_empty(schema)
    table = encode(frame, schema, unseen="error")
    refuse_infinite(table, frame)
    for name in schema.names if missing == "error" else ():
        if (absent := table[name] == 0).any():
            raise TableError(
                "column '{column}' has a missing cell in row {row}; choose missing='em', which keeps every row",
                column=name,
                row=int(absent.argmax()) + 1,
            )
    return table, checked_weights(sample_weight, table.n)


def refuse_empty(schema: Schema) -> None:
    """Raises TableError on a column without a level."""
    empty = [v.name for v in schema if not v.levels]
    if empty:
        raise TableError("column(s) {names} hold no value at all; leave them out", names=Listing(empty))


def _cut(variable: Variable, frame: pd.DataFrame, discretize: str | None, bins: int) -> Variable:
    if not variable.numeric:
        return variable
    x = numbers(frame[variable.name], variable)
    cuts = cuts_for(cutting(variable, discretize, bins), x, np.zeros(len(x), dtype=np.intp), 1, None, bins)
    return replace(variable, cuts=cuts, levels=interval_names(cuts), declared=True)


def cutting(variable: Variable, discretize: str | None, bins: int) -> str:
    """How a column of numbers is cut. Raises TableError where it is not to be, ParameterError on another word."""
    if discretize is None:
        raise TableError(
            "column '{column}' holds numbers, and every node of a network is discrete; set discretize='quantile'",
            column=variable.name,
        )
    checked_method(discretize, bins)
    return discretize


def hidden_levels(hidden: Any) -> dict[str, tuple[Any, ...]]:
    """The levels of every hidden node. Raises ParameterError where two or more cannot be told."""
    if not isinstance(hidden or {}, Mapping):
        raise ParameterError("hidden={value}; give a dict from names to levels, or to how many", value=repr(hidden))
    levels_of = {}
    for name, given in (hidden or {}).items():
        levels = tuple(given if isinstance(given, Iterable) else range(checked_whole("hidden", given, 2)))
        if len(set(levels)) < max(len(levels), 2) or any(pd.isna(level) is True for level in levels):
            raise ParameterError(
                "the hidden node '{name}' needs two levels or more, all different; it has {levels}",
                name=str(name),
                levels=", ".join(map(str, levels)) or "–",
            )
        levels_of[str(name)] = levels
    return levels_of


# tables from counts ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TablePrior:
    """The Dirichlet prior of every table: `alpha` by node, a bare number being what `smoothing` says."""

    alpha: Alpha
    smoothing: str

    def check(self, stats: SufficientStatistics) -> None:
        """Raises ParameterError where this is no prior of these tables."""
        checked_alphas(self.alpha, stats.schema.names, float(stats.class_weight.sum()))
        checked_word("smoothing", self.smoothing, ("lidstone", "bdeu"))

    def of(self, name: str) -> Dirichlet:
        """The prior of a node's table."""
        prior = dirichlet(self.alpha, name)
        bare = prior.per == "level" and self.smoothing == "bdeu"
        return Dirichlet.equivalent_sample_size(prior.amount) if bare else prior

    def p(self, name: str, counts: Array) -> Array:
        """P(x_j | pa_j) = (n + a)/(N + Σa) from counts (*S_parents, S); without counts and prior uniform."""
        return normalized(counts + pseudo_counts(counts, self.of(name), "all"))


def estimate(stats: SufficientStatistics, graph: DAG, prior: TablePrior) -> Network:
    """The network with the tables of these statistics."""
    prior.check(stats)
    return Network(
        CPT(
            v,
            (stats.schema[n] for n in graph.parents[v.name]),
            prior.p(v.name, _counts(stats, graph.parents[v.name], v)),
        )
        for v in stats.schema
    )


def widened(table: Table, hidden: Mapping[str, Sequence[Any]]) -> Table:
    """The rows with a column for every hidden node, of which no cell is known. Raises ParameterError where a node and a
    column share a name."""
    for name in hidden:
        if name in table.schema:
            raise ParameterError("the hidden node '{name}' has the name of a column", name=name)
    more = (Variable(name, "categorical", tuple(levels), declared=True) for name, levels in hidden.items())
    extra = (np.zeros(table.n, dtype=np.uint8) for _ in hidden)
    return replace(table, schema=Schema((*table.schema, *more)), columns=(*table.columns, *extra))


def counted(table: Table, weight: Array | None, graph: DAG) -> SufficientStatistics:
    """The statistics of the rows for the families of a graph, each of the rows that show all of it."""
    labels = Labels(1, np.zeros(table.n, dtype=np.intp), weight)
    families = Families(count_families(table, labels, wider(table.schema, graph)))
    return collect(table, labels, ONE, families)


# EM -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EMSettings:
    """The `hidden` nodes, and how EM climbs: its tolerance per row, M steps at most, random starts where nodes are
    hidden, and their seed. Fields as the parameters of `BayesianNetwork`."""

    hidden: Collection[str]
    tol: float
    max_iter: int
    n_init: int
    random_state: Any


class EMFit(NamedTuple):
    """What EM ends with: the network, the expected statistics, all runs and the best of them."""

    network: Network
    stats: SufficientStatistics
    runs: Runs[Network]
    trace: EMTrace[Network]


def fit_by_em(
    table: Table, weight: Array | None, seen: SufficientStatistics, graph: DAG, prior: TablePrior, how: EMSettings
) -> EMFit:
    """EM over the cells not known, `seen` being what is counted of the others: the tables maximize the likelihood of
    what the rows show, times the Dirichlet prior whose mode they are."""
    prior.check(seen)
    priors = [prior.of(v.name) for v in seen.schema]
    if any(each.base == "marginal" for each in priors):
        raise ParameterError(
            "alpha with base='marginal' takes its shares from the rows, and EM's rows change at every step: there "
            "is no one objective to climb; take base='uniform'"
        )
    checked_number("tol", how.tol)
    starts = checked_whole("n_init", how.n_init, 1) if how.hidden else 1
    rng = generator(how.random_state)
    places = np.stack([column.astype(np.intp) - 1 for column in table.columns], axis=1)
    total = float(table.n if weight is None else weight.sum())
    variables = list(seen.schema)
    scopes = [graph.parents[v.name] for v in variables]

    def network(tables: Tables) -> Network:
        given = zip(variables, scopes, tables, strict=True)
        return Network(CPT(v, (seen.schema[n] for n in up), p) for v, up, p in given)

    def start() -> Tables:
        return tuple(_start(seen, v, up, how.hidden, rng) for v, up in zip(variables, scopes, strict=True))

    completion = ExpectationStep.of(network(start()), places, np.ones(table.n) if weight is None else weight)

    def expect(tables: Tables, hard: bool) -> ExpectedStatistics[Tables]:
        counts, likelihood = completion.expected(network(tables))
        q = complete(counts, tables)
        return ExpectedStatistics(counts, likelihood, q, likelihood - q)

    def complete(counts: Tables, tables: Tables) -> float:
        return sum(dot(n, log(p)) for n, p in zip(counts, tables, strict=True))

    def log_prior(tables: Tables) -> float:
        each = zip(priors, tables, strict=True)
        return sum(dot(np.full(p.shape, of_node.per_level(p.shape)), log(p)) for of_node, p in each)

    def in_order_of_weight(trace: EMTrace[Tables]) -> EMTrace[Tables]:
        counts = expect(trace.last.parameters, False).stats
        order = {v.name: _heaviest(n) for v, n in zip(variables, counts, strict=True) if v.name in how.hidden}
        axes = [[order.get(n) for n in (*up, v.name)] for v, up in zip(variables, scopes, strict=True)]
        return trace.mapped(lambda tables: tuple(_turned(p, to) for p, to in zip(tables, axes, strict=True)))

    model = EMModel(
        expect,
        lambda counts: tuple(prior.p(v.name, n) for v, n in zip(variables, counts, strict=True)),
        complete=complete,
        log_prior=log_prior if any(each.amount for each in priors) else None,
    )
    stopping = Stopping(tol=how.tol * max(total, 1.0), max_iter=checked_whole("max_iter", how.max_iter, 1))
    climbs: Runs[Tables] = runs([start] * starts, lambda first: em(first, model, stopping=stopping))
    if how.hidden:
        climbs = Runs(tuple(in_order_of_weight(trace) for trace in climbs.traces), climbs.collapsed)
    best = climbs.best
    assert best is not None
    if not best.converged:
        warn("EM stopped after {n} steps before its objective settled; raise max_iter", n=best.n_iter)
    counts = expect(best.last.parameters, False).stats
    stats = _expected(seen, graph, dict(zip(seen.schema.names, counts, strict=True)))
    networks = Runs(tuple(t.mapped(network) for t in climbs.traces), climbs.collapsed)
    return EMFit(network(best.last.parameters), stats, networks, best.mapped(network))


def _start(
    seen: SufficientStatistics,
    variable: Variable,
    parents: tuple[str, ...],
    hidden: Collection[str],
    rng: np.random.Generator,
) -> Array:
    """A node's first table: from the rows that show its family, a pseudo-count of 1 a cell; where a hidden node takes
    part, drawn at random, for from equal levels EM cannot tell them apart."""
    counts = _counts(seen, parents, variable)
    if not {variable.name, *parents}.isdisjoint(hidden):
        return np.asarray(rng.dirichlet(np.full(counts.shape[-1], 3.0), size=counts.shape[:-1]))
    return normalized(counts + 1.0)


def wider(schema: Schema, graph: DAG) -> list[Name]:
    """The families of two nodes and more, as they are counted."""
    return sorted({in_order(schema, (*up, name)) for name, up in graph.parents.items() if up})


def _counts(stats: SufficientStatistics, parents: tuple[str, ...], variable: Variable) -> Array:
    """(*S_parents, S) how often each cell of a family was met, cells not known left out."""
    name = in_order(stats.schema, (*parents, variable.name))
    alone = {(k,): v for k, v in stats.counts.tables.items()}
    tables: Mapping[Name, Array] = stats.families.tables if parents else alone  # type: ignore[assignment]
    if name not in tables:
        raise ParameterError("these statistics do not hold the table of {names}; count the rows", names=", ".join(name))
    known = tables[name][0][tuple(slice(1, None) for _ in name)]
    return np.asarray(known.transpose([name.index(n) for n in (*parents, variable.name)]))


def _expected(seen: SufficientStatistics, graph: DAG, counts: Mapping[str, Array]) -> SufficientStatistics:
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
