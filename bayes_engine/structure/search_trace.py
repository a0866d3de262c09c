"""What a search leaves behind: the graph, its score, and every step on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal, NamedTuple

import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.progress import tick
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import DecomposedScore, FamilyChange, Move, Scorer, decomposed_score, family_changes

Status = Literal["optimum", "local optimum", "steps", "time", "cancelled", "given"]
"""Why a search ended: at a proven optimum; where no move gains; after `max_steps`; out of time; on request; or it was
no search, the graph was given."""
Method = Literal["hill-climb", "k2", "exact", "tree", "naive", "tan", "given"]


class SearchProgress(NamedTuple):
    """What a search reports: steps done, of how many (None: not known), and the best score so far."""

    done: int
    total: int | None
    score: float


@dataclass(frozen=True)
class SearchControl:
    """What holds a search from outside: the seconds it may take, `cancel` that is asked at every step whether to stop,
    and `progress` that is told how far it is. Out of time or cancelled, a search returns the best it has."""

    time_budget: float | None = None
    cancel: Callable[[], bool] | None = None
    progress: Callable[[SearchProgress], None] | None = None

    def report(self, done: int, total: int | None, score: float) -> None:
        """Tell whoever watches."""
        if self.progress is not None:
            self.progress(SearchProgress(done, total, score))


class Candidate(NamedTuple):
    """A move and what it would have added to the score."""

    move: Move
    delta: float


@dataclass(frozen=True)
class SearchStep:
    """One move: the families it changed, the score after it, the best moves that were not taken, and with how many
    others it was tied. A move of a perturbation is drawn, and has neither."""

    move: Move
    families: tuple[FamilyChange, ...]
    score: float
    runners_up: tuple[Candidate, ...] = ()
    ties: int = 0

    @property
    def delta(self) -> float:
        """How much the score rose, in nats."""
        return math.fsum(f.delta for f in self.families)


@dataclass(frozen=True)
class SearchTrace:
    """A search from its first graph on; every step can be looked at and taken back."""

    start: DAG
    start_score: float
    steps: tuple[SearchStep, ...] = ()

    def graph_after(self, k: int) -> DAG:
        """The graph after `k` steps; 0 is the start. Raises ParameterError where there are not so many."""
        if not 0 <= k <= len(self.steps):
            raise ParameterError("the search has {n} steps, there is no step {k}", n=len(self.steps), k=k)
        arcs = set(self.start.arcs)
        for step in self.steps[:k]:
            arcs ^= {step.move.arc}  # comes or goes
            if step.move.operation == "reverse":
                arcs.add((step.move.child, step.move.parent))
        return DAG(self.start.nodes, arcs)

    def table(self) -> pd.DataFrame:
        """A row for every step: the move, what it changed, and the score after it."""
        rows = [(s.move.operation, s.move.parent, s.move.child, s.delta, s.score, s.ties) for s in self.steps]
        columns = ["operation", "parent", "child", "delta", "score", "ties"]
        return pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name="step"))


@dataclass(frozen=True)
class SearchResult:
    """The best graph that was found, its score, the way there, why the search ended, and the score of every climb."""

    graph: DAG
    decomposed_score: DecomposedScore
    trace: SearchTrace
    status: Status
    method: Method
    climbs: tuple[float, ...] = ()

    @property
    def score(self) -> float:
        """Of the graph, in nats."""
        return self.decomposed_score.score


class SearchLimits:
    """A search's time budget, its clock started now, and the request to stop, both asked at every step."""

    def __init__(self, control: SearchControl) -> None:
        seconds = control.time_budget
        if seconds is not None and not seconds >= 0:
            raise ParameterError("a time budget of {value} seconds is below 0", value=float(seconds))
        self._end = math.inf if seconds is None else monotonic() + seconds
        self._cancel = control.cancel

    def reached(self) -> Status | None:
        """Why to stop now; None to go on. Time spent waiting with whoever watches does not count."""
        before = monotonic()
        tick()
        self._end += monotonic() - before
        if self._cancel is not None and self._cancel():
            return "cancelled"
        return "time" if monotonic() >= self._end else None


class TakenMove(NamedTuple):
    """A move on the way, before its scores are written out."""

    move: Move
    delta: float = 0.0
    runners_up: tuple[Candidate, ...] = ()
    ties: int = 0


def laid(scorer: Scorer, graph: DAG, status: Status, method: Method) -> SearchResult:
    """A graph that was not climbed to, as a result: its arcs are laid one after the other, parents first."""
    moves = [TakenMove(Move("add", parent, child)) for child in graph.order for parent in graph.parents[child]]
    trace = traced(scorer, DAG(graph.nodes), moves)
    return SearchResult(graph, decomposed_score(scorer.counts, graph, scorer), trace, status, method)


def traced(scorer: Scorer, start: DAG, taken: Sequence[TakenMove]) -> SearchTrace:
    """The moves with their scores written out."""
    score = first = decomposed_score(scorer.counts, start, scorer).score
    parents = dict(start.parents)
    steps = []
    for move, _, runners_up, ties in taken:
        families = family_changes(scorer, parents, move)
        parents |= move.parents(parents)
        score += math.fsum(f.delta for f in families)
        steps.append(SearchStep(move, families, score, runners_up, ties))
    return SearchTrace(start, first, tuple(steps))
