"""What the tab *learn* searches for and what it found: settings and arcs as in the URL, searches once computed.

A search under way is a job of the session's own, so that the page can say how far it is, and end it with the best so
far: a search that somebody ends early has a result, which is nobody else's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import streamlit as st

from bayes_engine import BayesianNetwork
from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.language import Message
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.graph import DAG, Arc
from bayes_engine.structure.scores import DecomposedScore, ScoreName, Scorer, decomposed_score
from bayes_engine.structure.search import Method, SearchOptions, SearchResult, search
from bayes_engine.structure.search_trace import SearchProgress
from bayes_engine.table.encode import encode
from pages import active
from pages.active.network_source import Rows, rows_of
from pages.runtime import jobs, private
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean
from pages.runtime.job_queue import Job
from pages.runtime.state import State, current

METHODS = keys.NET_METHOD.options
SCORES: tuple[ScoreName, ...] = ("mdl", "aic", "k2", "bdeu", "log-likelihood")
SEARCHED = ("hill-climb", "k2", "exact")
"""The methods that look at the score, and keep to the constraints."""
AT_ONCE, AFFORDABLE = 12, 15
"""Up to so many columns the optimum is computed at once; up to so many where it is asked for."""
TIERS = 3
"""So many tiers can be set by hand."""
GRACE = 2.0
"""Seconds the page waits for a search before it offers to stop it."""

Work = Callable[[Callable[[], bool], Callable[[SearchProgress], None]], SearchResult]
"""(cancel, report) → the search's result: it asks `cancel` whether to stop, and reports how far it is."""


@dataclass(frozen=True)
class SearchTask:
    """What is asked of a search; columns are positions. `parents`: a node's most; `tiers`: the columns of each
    tier; `start`: the arcs that climbing starts from."""

    method: Method
    score: ScoreName
    parents: int
    sample: float
    seconds: float
    restarts: int
    order: tuple[int, ...] = ()
    required: keys.Pairs = ()
    forbidden: keys.Pairs = ()
    tiers: tuple[tuple[int, ...], ...] = ()
    start: keys.Pairs = ()


@dataclass(frozen=True)
class LearningData:
    """The rows a structure is learned from, counted; `target` is the class's name, `bins` how numbers are cut."""

    table: active.FittableTable
    rows: Rows
    counts: FamilyCounts
    bins: int

    @property
    def key(self) -> str:
        return f"{self.rows.key}|{self.bins}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; what the URL calls a column is its place here."""
        return self.rows.schema.names

    @property
    def target(self) -> str:
        return self.table.target.name

    def labels(self) -> dict[int, str]:
        """How the columns are called on screen, by place."""
        return {i: clean(self.table.column(name), 30) for i, name in enumerate(self.names)}

    def arcs(self, pairs: Iterable[tuple[int, int]]) -> tuple[Arc, ...]:
        """Arcs by name."""
        return tuple((self.names[a], self.names[b]) for a, b in pairs)

    def pairs(self, arcs: Iterable[Arc]) -> keys.Pairs:
        """Arcs as the URL holds them."""
        position = self.position
        return tuple(sorted((position[a], position[b]) for a, b in arcs))

    @property
    def position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def constraints(self, task: SearchTask) -> Constraints:
        """The task's constraints by name. Raises ParameterError where they contradict each other."""
        tiers = tuple(tuple(self.names[i] for i in tier) for tier in task.tiers)
        constraints = Constraints(self.arcs(task.required), self.arcs(task.forbidden), tiers, task.parents)
        return constraints.checked(self.names)


def learning_data(table: active.FittableTable) -> LearningData:
    """The table in use as it is learned from. Raises BayesEngineError where it cannot be."""
    rows, bins = rows_of(table), current().seen(keys.NET_BINS)
    return LearningData(table, rows, _counts(rows, bins), bins)


@cached(max_entries=8, activity=Message("counting the rows"))
def _counts(rows: Rows, bins: int) -> FamilyCounts:
    """Numbers cut, rows counted; a row with a cell not known counts for no family (EM keeps it for the tables)."""
    schema = BayesianNetwork(schema=rows.schema, bins=bins, missing="known").fit(rows.frame).schema_
    return FamilyCounts(encode(rows.frame[list(schema.names)], schema), rows.weight, missing="complete")


@cached(max_entries=8)
def _scorer(here: LearningData, score: ScoreName, sample: float) -> Scorer:
    return Scorer(here.counts, score, sample_size=sample)


def scorer(here: LearningData, task: SearchTask) -> Scorer:
    """The score in use, with all that it remembers of this table."""
    return _scorer(here, task.score, task.sample)


# the task ---------------------------------------------------------------------------------------------------------


def task_in_use(here: LearningData) -> SearchTask:
    """What the state asks for; what a forged link holds besides counts as not set."""
    state, d = current(), len(here.names)
    method = state.seen(keys.NET_METHOD)
    order = tuple(dict.fromkeys(i for i in state.seen(keys.LEARN_ORDER) if i < d))
    tiers: list[tuple[int, ...]] = []
    placed: set[int] = set()
    for tier in state.seen(keys.LEARN_TIERS)[:TIERS]:
        own = [i for i in tier if type(i) is int and 0 <= i < d]
        tiers.append(tuple(sorted(set(own) - placed)))
        placed |= set(own)
    return SearchTask(
        method=method,
        score=state.seen(keys.NET_SCORE),
        parents=max(state.seen(keys.NET_PARENTS), 1),
        sample=state.seen(keys.LEARN_SAMPLE),
        seconds=state.seen(keys.LEARN_SECONDS),
        restarts=state.seen(keys.LEARN_RESTARTS),
        order=(*order, *(i for i in range(d) if i not in order)) if method == "k2" else (),
        required=_pairs(state, keys.LEARN_REQUIRED, d),
        forbidden=_pairs(state, keys.LEARN_FORBIDDEN, d),
        tiers=tuple(tiers) if any(tiers) else (),
        start=_pairs(state, keys.LEARN_START, d) if method == "hill-climb" else (),
    )


def _pairs(state: State, key: keys.ViewKey[keys.Pairs], d: int) -> keys.Pairs:
    return tuple(sorted({(a, b) for a, b in state.seen(key) if a != b and max(a, b) < d}))


# a search under way -----------------------------------------------------------------------------------------------


@dataclass
class Run:
    """A search under way, or done; `stop` ends it with the best so far."""

    begun: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    far: SearchProgress | None = None
    job: Job | None = None

    def work(self, work: Work) -> SearchResult:
        return work(self.stop.is_set, self.report)

    def report(self, far: SearchProgress) -> None:
        self.far = far

    @property
    def is_lost(self) -> bool:
        """Whether its job was stopped, for the session was away: it has no result."""
        return self.job is not None and self.job.stop.is_set()


class UnderWay(Exception):
    def __init__(self, run: Run, job: Job) -> None:
        super().__init__("the search is under way")
        self.run, self.job = run, job


def outcome(key: Hashable, work: Work) -> SearchResult:
    """What the session's run of a search came to; the run is begun where there is none. Raises what the search raised,
    and UnderWay where it takes longer than `GRACE`."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    run = runs.get(key)
    if run is None or run.is_lost:
        run = runs[key] = Run()
    job = run.job
    if job is None or not job.done.is_set():
        job = run.job = jobs.begin(("search", private.session_id(), key), lambda: run.work(work), Message("searching"))
        if not jobs.wait(job, run.begun + GRACE):
            raise UnderWay(run, job)
    jobs.forget(job)  # the session has its result, and may begin it anew
    if job.error is not None:
        raise job.error
    searched: SearchResult = job.result
    return searched


def forget_others(wanted: Collection[Hashable]) -> None:
    """Searches that nobody asks for any more are forgotten; they stop with the run of the script."""
    runs: dict[Hashable, Run] = st.session_state.setdefault("learn_runs", {})
    for key in set(runs) - set(wanted):
        runs.pop(key).stop.set()


def forget(key: Hashable) -> None:
    """The next run of the script begins this search anew; for callbacks."""
    st.session_state.get("learn_runs", {}).pop(key, None)


# what is found ----------------------------------------------------------------------------------------------------


class _Stopped(Exception):
    """A search that a person stopped; its result is the session's, and in no cache."""


def search_result(here: LearningData, asked: SearchTask) -> SearchResult:
    """The structure that the task's method finds. Raises BayesEngineError on contradictions, or where it costs too
    much, and UnderWay where it is not done yet."""
    try:
        return _found(here, asked)
    except _Stopped:
        return outcome(run_key(here, asked), _work(here, asked))


def run_key(here: LearningData, asked: SearchTask) -> tuple[str, SearchTask]:
    """What the session calls the search of a task."""
    return here.key, asked


@cached(max_entries=32)
def _found(here: LearningData, asked: SearchTask) -> SearchResult:
    result = outcome(run_key(here, asked), _work(here, asked))
    if result.status == "cancelled":
        raise _Stopped
    return result


def _work(here: LearningData, asked: SearchTask) -> Work:
    """The search of a task, to be run in a thread: everything of the page is taken here."""
    constraints = here.constraints(asked) if asked.method in SEARCHED else Constraints()
    judge = scorer(here, asked)

    def work(cancel: Callable[[], bool], report: Callable[[SearchProgress], None]) -> SearchResult:
        return search(
            here.counts,
            judge,
            method=asked.method,
            options=SearchOptions(
                start=DAG(here.names, here.arcs(asked.start)) if asked.start else None,
                order=[here.names[i] for i in asked.order] if asked.method == "k2" else None,
                target=here.target,
                constraints=constraints,
                restarts=asked.restarts,
                perturbations=0,  # every step shown is the best there
                time_budget=asked.seconds,
                cancel=cancel,
                progress=report,
            ),
        )

    return work


def hill_climb_task(asked: SearchTask) -> SearchTask:
    """The same task climbed, from no arcs."""
    return replace(asked, method="hill-climb", order=(), start=())


def exact_task(asked: SearchTask) -> SearchTask:
    """The same task, for the best graph of all."""
    return replace(asked, method="exact", order=(), start=(), restarts=0)


def wants_optimum(here: LearningData) -> bool:
    """Whether the best graph of all is computed beside the method's."""
    few = len(here.names) <= AT_ONCE or current().seen(keys.LEARN_OPTIMUM)
    return len(here.names) <= AFFORDABLE and few


def optimum(here: LearningData, asked: SearchTask) -> SearchResult | None:
    """The best graph of all under the same constraints; None where it is too dear, or not finished in time."""
    if not wants_optimum(here):
        return None
    with suppress(ParameterError):
        best = search_result(here, exact_task(asked))
        return best if best.status == "optimum" else None
    return None


def next_moves(here: LearningData, asked: SearchTask, graph: DAG) -> SearchResult | None:
    """One step of climbing from a graph, with the moves it weighed; None where the graph breaks the constraints."""
    with suppress(BayesEngineError):
        return search(
            here.counts,
            scorer(here, asked),
            options=SearchOptions(
                start=graph, constraints=here.constraints(asked), restarts=0, perturbations=0, tabu=0, max_steps=1
            ),
        )
    return None


# by hand ----------------------------------------------------------------------------------------------------------


def arcs_by_hand(here: LearningData) -> DAG:
    """The graph drawn by hand; arcs of a forged link that close a cycle count as not set."""
    with suppress(ParameterError):
        return DAG(here.names, here.arcs(_pairs(current(), keys.LEARN_ARCS, len(here.names))))
    return DAG(here.names)


def columns_chosen(here: LearningData) -> tuple[int, ...]:
    """The columns chosen by hand, at most two: an arc would lead from the first to the second."""
    picked = current().seen(keys.LEARN_PAIR)
    return picked if len(set(picked) & set(range(len(here.names)))) == len(picked) else ()


def decomposed_score_of(here: LearningData, asked: SearchTask, graph: DAG) -> DecomposedScore:
    """What every family of a graph adds to the score in use."""
    return decomposed_score(here.counts, graph, scorer(here, asked))
