"""Which network the page speaks of: an embedded one, one from a file, or one learned from the table in use; with the
tables a person edited. In the URL nodes and levels are positions, tables are numbers.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from bayes_engine import BayesianNetwork, __version__
from bayes_engine.datasets import StoredNetwork, load_network, network_names
from bayes_engine.errors import BayesEngineError
from bayes_engine.factors.cpt_edits import Numbers, with_tables
from bayes_engine.factors.network import Network
from bayes_engine.language import Message, _, current_language
from bayes_engine.structure.graph import DAG, Arc
from bayes_engine.structure.scores import ScoreName
from bayes_engine.structure.search import Method
from bayes_engine.table.roles import put
from bayes_engine.table.schema import Schema
from pages import active
from pages.active import files
from pages.active.files import NETWORK, NETWORK_FILE
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached, content_key
from pages.runtime.escape import md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import State, current

TABLE = "table"
"""The source that is learned from the table in use."""
PATIENCE = 20.0
"""Seconds after which a search gives the best it found."""
TOLERANCE, MOST_STEPS = 1e-7, 500
"""When EM, which completes cells not known, has settled: nats per row, and steps at most."""
FOUND: tuple[Method, ...] = ("hill-climb", "exact", "tree")
"""The methods a link may ask for; other structures travel as arcs."""


@dataclass(frozen=True)
class Rows:
    """The rows a network is learned from: `frame` holds the columns of `schema`, target included, numbers as they are;
    `cut` are the columns of numbers, `weight` (n,) or None. `key` stands for all of it in caches."""

    key: str
    frame: pd.DataFrame
    schema: Schema
    weight: Any
    cut: tuple[str, ...]


@dataclass(frozen=True)
class Learned:
    """What a network was learned from, and how: `model.search_` is the search, None where the arcs were drawn by
    hand."""

    table: active.FittableTable
    rows: Rows
    model: BayesianNetwork


@dataclass(frozen=True)
class Source:
    """A network and where it is from. `network` has a person's tables in it, `original` not; `key` stands for the
    content of `network` in caches. `stored` is set for an embedded one, `learned` for one that was learned from the
    table in use."""

    id: str
    key: str
    network: Network
    original: Network
    stored: StoredNetwork | None = None
    learned: Learned | None = None

    @property
    def drawn(self) -> bool:
        """Whether its arcs were drawn by hand."""
        return self.learned is not None and self.learned.model.search_ is None

    def name(self, node: str) -> str:
        """How a node is called on screen; data, to be escaped."""
        if self.stored is not None:
            return self.stored.label(node, _labels())
        return node if self.learned is None else self.learned.table.column(node)

    def level(self, node: str, level: Any) -> str:
        """How a level is called on screen; data, to be escaped."""
        if self.stored is not None:
            return self.stored.level_label(node, level, _labels())
        if self.learned is not None and node not in self.learned.rows.cut:
            return self.learned.table.level(node, level)
        return str(level)

    def levels(self, node: str) -> tuple[str, ...]:
        """How its levels are called on screen, in their order."""
        return tuple(self.level(node, v) for v in self.network[node].variable.levels)

    def finding(self, node: str, level: Any) -> str:
        """«node = level» in Markdown, each part shortened."""
        return f"{md(self.name(node), 24)} = {md(self.level(node, level), 20)}"

    def place(self, node: str) -> int:
        """What the URL calls a node."""
        return self.network.position[node]


def _labels() -> str:
    return "" if current().labels == "file" else current_language()


# choosing -------------------------------------------------------------------------------------------------------


def source_choices() -> list[str]:
    uploaded = [NETWORK_FILE + digest for digest in files.held(NETWORK)]
    return [*network_names(), TABLE, *uploaded]


def title_of(source: str) -> str:
    """What a source is called on screen; data, to be escaped."""
    if source.startswith(NETWORK_FILE):
        return files.held(NETWORK)[source.removeprefix(NETWORK_FILE)].name
    if source == TABLE:
        return _("learned from: {table}").format(table=active.table_in_use().title)
    return load_network(source).info.text("title", current_language())


def chosen_source() -> str:
    """The source that the state names; an upload that this session does not hold gives way to the first."""
    return current().seen_among(keys.NET, source_choices(), network_names()[0])


def is_file_missing() -> bool:
    """Whether the state names a file that this session does not hold."""
    wanted = current().seen(keys.NET)
    return wanted.startswith(NETWORK_FILE) and wanted != chosen_source()


def with_source(state: State, source: str) -> State:
    """Another network: all that spoke of the old one is gone."""
    kept = tuple((k, v) for k, v in state.view if not k.startswith("net_") or k == keys.NET_TAB.name)
    return replace(state, view=kept).showing(keys.NET.to(source))


def source() -> Source:
    """The network the state names. Raises BayesEngineError where none can be learned from the table in use."""
    named = chosen_source()
    if named == TABLE:
        learned = learned_source(active.fittable(active.table_in_use()))
    elif named.startswith(NETWORK_FILE):
        network = files.held(NETWORK)[named.removeprefix(NETWORK_FILE)].reading
        learned = Source(named, named, network, network)
    else:
        stored = load_network(named)
        learned = Source(named, f"{named}|{__version__}", stored.network, stored.network, stored)
    edits = cpt_edits(learned.network)
    if not edits:
        return learned
    network = _edited(learned.key, edits, learned.original)
    return replace(learned, key=f"{learned.key}|{content_key(edits)}", network=network)


# the table in use -----------------------------------------------------------------------------------------------


def rows_of(table: active.FittableTable) -> Rows:
    """The rows of a table as a network takes them: features and target, in the order of the columns."""
    parts = table.parts
    columns = [v for v in table.schema if v.name == parts.target.name or v in table.features.variables]
    frame = put(parts.X, {parts.target.name: parts.y})[[v.name for v in columns]]
    schema = Schema(tuple(replace(v, role="feature") for v in columns))
    return Rows(table.key, frame, schema, parts.weight, tuple(v.name for v in columns if v.numeric))


def drawn_arcs(names: tuple[str, ...]) -> tuple[Arc, ...] | None:
    """The arcs the state holds as drawn by hand; None where a search is to find them. Forged ones count as not set."""
    state = current()
    if not state.seen(keys.NET_DRAWN):
        return None
    known = [(a, b) for a, b in state.seen(keys.NET_ARCS) if max(a, b) < len(names)]
    with suppress(BayesEngineError):
        return DAG(names, [(names[a], names[b]) for a, b in known]).arcs
    return None


class LearningSettings(NamedTuple):
    """How the network of a table is learned: the search and its score, `sample` the equivalent sample size of BDeu (of
    the other scores 1), the pseudo-count of the tables, and how many intervals a column of numbers is cut into."""

    method: Method
    score: ScoreName
    parents: int
    sample: float
    alpha: float
    bins: int


def learning_settings() -> LearningSettings:
    """As the state has them."""
    state = current()
    score = state.seen(keys.NET_SCORE)
    return LearningSettings(
        state.seen_among(keys.NET_METHOD, FOUND),
        score,
        state.seen(keys.NET_PARENTS),
        state.seen(keys.LEARN_SAMPLE) if score == "bdeu" else 1.0,
        state.seen(keys.NET_ALPHA),
        state.seen(keys.NET_BINS),
    )


def learned_source(table: active.FittableTable) -> Source:
    """The network learned from a table, or drawn by hand over its columns, as the state has it."""
    rows = rows_of(table)
    arcs = drawn_arcs(rows.schema.names)
    asked = learning_settings()
    how = ("arcs", arcs) if arcs is not None else ("search", *asked[:4])
    key = f"{rows.key}|{content_key(how, asked.bins)}"
    model = _model(key, rows, arcs, asked)
    model = _smoothed(f"{key}|{asked.alpha}", model, asked.alpha, rows)
    return Source(TABLE, f"{key}|{asked.alpha}", model.network_, model.network_, None, Learned(table, rows, model))


@cached(max_entries=16, activity=Message("learning the network"))
def _model(key: str, _rows: Rows, _arcs: tuple[Arc, ...] | None, _asked: LearningSettings) -> BayesianNetwork:
    model = BayesianNetwork(_arcs or (), schema=_rows.schema, bins=_asked.bins, tol=TOLERANCE, max_iter=MOST_STEPS)
    if _arcs is not None:
        return in_worker(model.fit, _rows.frame, sample_weight=_rows.weight)
    return in_worker(
        model.learn,
        _rows.frame,
        _asked.score,
        method=_asked.method,
        sample_weight=_rows.weight,
        sample_size=_asked.sample,
        **({"max_parents": _asked.parents, "time_budget": PATIENCE} if _asked.method != "tree" else {}),
    )


@cached(max_entries=32, activity=Message("learning the network"))
def _smoothed(key: str, _model: BayesianNetwork, _alpha: float, _rows: Rows) -> BayesianNetwork:
    """The model under another prior; one object for one content, for by the object the junction tree is kept. What EM
    completed depends on the prior: then the same graph is fitted anew."""
    if _alpha == _model.alpha:
        return _model
    if _model.trace_ is None:
        return _model.with_params(alpha=_alpha)
    given = {**_model.get_params(), "structure": _model.graph_, "alpha": _alpha}
    return BayesianNetwork(**given).fit(_rows.frame, sample_weight=_rows.weight)


def model_of(of: Source) -> BayesianNetwork:
    """The model of a network that was learned, with the tables a person edited."""
    assert of.learned is not None
    return of.learned.model if of.network is of.learned.model.network_ else BayesianNetwork.of(of.network)


# tables edited by hand --------------------------------------------------------------------------------------------


def cpt_edits(network: Network) -> tuple[tuple[int, Numbers], ...]:
    """(node, its table's numbers row by row) as a person entered them; forged ones count as not set."""
    edits = {}
    for node, numbers in current().seen(keys.NET_CPTS):
        known = node < len(network.cpts) and all(map(keys.is_number, numbers))
        if known and len(numbers) == network.cpts[node].p.size:
            edits[node] = tuple(map(float, numbers))
    return tuple(sorted(edits.items()))


def with_cpt(state: State, node: int, numbers: Numbers | None) -> State:
    """One node's table edited; None: as it was."""
    kept = [entry for entry in state.seen(keys.NET_CPTS) if entry[0] != node]
    return state.showing(keys.NET_CPTS.to((*kept, *(() if numbers is None else ((node, numbers),)))))


@cached(max_entries=64)
def _edited(key: str, edits: tuple[tuple[int, Numbers], ...], _original: Network) -> Network:
    """The network with those of the edited tables whose rows sum to 1."""
    return with_tables(_original, edits)


# evidence -------------------------------------------------------------------------------------------------------


def evidence(of: Source) -> dict[str, Any]:
    """{node: level}: what is set as observed, as the state has it; forged findings count as not set."""
    named = {}
    for node, level in current().seen(keys.NET_EVIDENCE):
        if node < len(of.network.cpts) and level < len(of.network.cpts[node].variable.levels):
            variable = of.network.cpts[node].variable
            named[variable.name] = variable.levels[level]
    return {name: named[name] for name in of.network.names if name in named}


def with_evidence(state: State, node: int, level: int | None) -> State:
    """One finding set; None: cleared."""
    kept = [pair for pair in state.seen(keys.NET_EVIDENCE) if pair[0] != node]
    return state.showing(keys.NET_EVIDENCE.to(tuple(sorted([*kept, *([] if level is None else [(node, level)])]))))


def toggled(state: State, node: int, level: int) -> State:
    """A finding set, or cleared where it is the one that stands."""
    return with_evidence(state, node, None if (node, level) in state.seen(keys.NET_EVIDENCE) else level)
