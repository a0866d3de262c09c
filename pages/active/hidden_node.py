"""A column of the table in use that is hidden and learned back as a node of a network, as the state has it."""

from __future__ import annotations

from typing import NamedTuple

from bayes_engine import BayesianNetwork
from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.structure.graph import Arc
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.derivation.hidden_column import HiddenColumn, hiding_parent, learn_back
from pages import active
from pages.active.network_source import MOST_STEPS, TOLERANCE, Rows, learned_source, rows_of
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current

MOST_STATES = 8


class HiddenNodeTask(NamedTuple):
    """What is asked of EM: the column hidden, how many states, the arcs, random starts and their seed, the
    pseudo-count a cell and how many intervals numbers are cut into."""

    name: str
    states: int
    arcs: tuple[Arc, ...]
    starts: int
    seed: int
    alpha: float
    bins: int


def columns_to_hide(table: active.FittableTable) -> dict[int, str]:
    """The columns of levels, by what the state calls them. Raises TableError where none can be learned back."""
    rows = rows_of(table)
    names = {i: name for i, name in enumerate(rows.schema.names) if name not in rows.cut}
    if not names or len(rows.schema.names) < 3:
        raise TableError("a hidden node needs a column of levels to be learned back, and two columns besides")
    return names


def task_in_use(table: active.FittableTable) -> HiddenNodeTask:
    """What the state asks for; at first the last feature of levels is hidden. Raises as `columns_to_hide`."""
    names, state, rows = columns_to_hide(table), current(), rows_of(table)
    features = [i for i, name in names.items() if name != table.target.name]
    name = names[state.seen_among(keys.NET_HIDE, list(names), (features or list(names))[-1])]
    levels = max(int(rows.frame[name].nunique()), 2)
    if state.seen(keys.NET_HIDE_ARCS) == "parent":
        arcs = hiding_parent(name, (n for n in rows.schema.names if n != name))
    else:
        arcs = learned_source(table).network.graph.arcs
    return HiddenNodeTask(
        name,
        min(max(state.seen(keys.NET_HIDE_STATES) or levels, 2), MOST_STATES),
        arcs,
        state.seen(keys.NET_HIDE_STARTS),
        state.seen(keys.NET_HIDE_SEED),
        state.seen(keys.NET_ALPHA),
        state.seen(keys.NET_BINS),
    )


def learned_back(table: active.FittableTable, asked: HiddenNodeTask) -> HiddenColumn:
    """The column learned back from the rows of the table."""
    return _learned_back(rows_of(table), asked)


@cached(max_entries=16, activity=Message("EM for the hidden node"))
def _learned_back(rows: Rows, asked: HiddenNodeTask) -> HiddenColumn:
    model = BayesianNetwork(
        asked.arcs,
        hidden={asked.name: asked.states},
        schema=Schema(tuple(v for v in rows.schema if v.name != asked.name)),
        alpha=asked.alpha,
        bins=asked.bins,
        tol=TOLERANCE,
        max_iter=MOST_STEPS,
        n_init=asked.starts,
        random_state=asked.seed,
    )
    return in_worker(learn_back, model, rows.frame, asked.name, rows.weight)
