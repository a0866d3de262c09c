"""Greedy search of a structure: hill climbing and K2, with every step kept. pgmpy and pyAgrum search as well, but their
ties fall to where a column stands, and no steps are kept to be shown.

Hill climbing takes the best single change of an arc (add, delete, reverse) until none is left that gains. Most of its
choices are ties: a → b and b → a gain the same until more is known, and the directions in which the first arcs are laid
decide how far it climbs. Moves within `Scorer.tolerance` of the best are equal. Of equal moves that one is taken whose
(new) parent exceeds its child most in merit, then add before delete before reverse, then by the parent's name, then the
child's. The merit of a node, of what it would gain by each other node as its only parent: in the first climb the second
largest gain (a node with a second strong partner is rather a cause than a leaf), in the second climb the sum of all
gains (a hub is rather a cause). Nothing depends on where a column stands, and what it is called decides only between
columns that the table cannot tell apart. Further climbs draw their ties by `rng`. `tabu` lets a climb walk on over ties
and down slopes. At last the best graph met is perturbed and climbed from again, `perturbations` times (iterated local
search, as bnlearn's `perturb`, but always from the best: Lourenço, Martin & Stützle 2003). The best graph met is the
result. An arc is no move, taken or drawn, if its family has a large table and can only lose (`Scorer.candidates`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import OPERATIONS, Move, ScoreName, Scorer, decomposed_score, members, scorer_of
from bayes_engine.structure.search_trace import (
    Candidate,
    SearchControl,
    SearchLimits,
    SearchProgress,
    SearchResult,
    SearchTrace,
    Status,
    TakenMove,
    traced,
)

FEW_COLUMNS = 15
"""With so many columns 2 climbs and 30 perturbed ones are enough. With more they ended below one greedy climb of
bnlearn's on some samples of win95pts (75 columns, BIC) and hailfinder (56, BDeu)."""
RUNNERS_UP = 5
"""So many moves that were not taken are kept at each step."""

DRAWN_MOVES = 15
"""So many moves are drawn at each perturbation. Of 3 to 38 tried on alarm, insurance, hailfinder and win95pts, with
BIC, BDeu and K2, 10 to 20 came furthest in the same time."""


@dataclass(frozen=True)
class ClimbSettings:
    """How hill climbing goes.

    `tabu`: from a graph that no move improves, walk on by the best move to a graph not met before, for at most so many
    steps without a new best graph. `restarts`: climb so many times more, first by the other merit, then with ties drawn
    by `rng` (seed 0 where none is given); None: once with up to 15 columns, else once for every 4. `perturbations`:
    after these, so many times, take 15 moves drawn by `rng` from the best graph met and climb from there; None: 30
    times, or twice for every column. `max_steps` bounds the way to every graph.

    That is the budget by default: with up to 15 columns 2 climbs from the start and 30 from perturbed graphs, which are
    near; with 75 columns 19 and 150. It takes 3 to 25 times the time of 2 climbs (5,000 rows: 1 s of CPU for the 37
    columns of alarm, 5 s for the 75 of win95pts). `ClimbSettings(restarts=0, tabu=0, perturbations=0)` is one
    greedy climb; `SearchControl(time_budget=…)` bounds the seconds of all.
    """

    restarts: int | None = None
    perturbations: int | None = None
    tabu: int = 10
    rng: np.random.Generator | None = None
    max_steps: int | None = None

    def climbs(self, columns: int) -> tuple[int, int]:
        """How many climbs begin at the start, and how many at a perturbed graph, of so many columns.

        >>> ClimbSettings().climbs(8), ClimbSettings().climbs(75), ClimbSettings(perturbations=0).climbs(8)
        ((2, 30), (19, 150), (2, 0))
        """
        again, perturbed = (1, 30) if columns <= FEW_COLUMNS else (columns // 4, 2 * columns)
        again = again if self.restarts is None else max(self.restarts, 0)
        return 1 + again, perturbed if self.perturbations is None else max(self.perturbations, 0)


def hill_climb(
    counts: FamilyCounts,
    score: ScoreName | Scorer = "bic",
    *,
    start: DAG | None = None,
    constraints: Constraints = Constraints(),  # noqa: B008  (frozen)
    settings: ClimbSettings = ClimbSettings(),
    control: SearchControl = SearchControl(),  # noqa: B008
) -> SearchResult:
    """The best graph that climbing reaches from `start` (no arcs but the required ones) by single arcs, within the
    budget of `settings`. With the same counts and seed the result is the same.

    Raises ParameterError on constraints that contradict each other or the start.

    >>> counts = FamilyCounts.of({"rain": list("nnyy") * 5, "wet": list("nnyy") * 5, "wind": list("nyny") * 5})
    >>> found = hill_climb(counts)
    >>> found.graph.arcs, found.status, round(found.trace.steps[0].delta, 4)  # 20 log 2 - ½ log 20
    ((('rain', 'wet'),), 'local optimum', 12.3651)
    """
    scorer = scorer_of(counts, score)
    first = _start(counts, start, constraints)
    limits = SearchLimits(control)
    rng = np.random.default_rng(0) if settings.rng is None else settings.rng
    changes = _Changes(scorer, constraints)
    climbs: list[_Climb] = []
    best: _Climb | None = None
    from_start, perturbed = settings.climbs(len(counts.names))
    for k in steps(range(from_start + perturbed)):
        climb = _Climb(changes, first, k, rng)
        if k >= from_start and best is not None:
            if settings.max_steps is not None and best.best_at + DRAWN_MOVES >= settings.max_steps:
                break
            climb.leave(best)
        done, reached = sum(c.own_steps for c in climbs), -math.inf if best is None else best.best_score
        climb.run(limits, settings, control, SearchProgress(done, None, reached))
        climbs.append(climb)
        if best is None or climb.best_score > best.best_score + scorer.tolerance:
            best = climb
        if climb.status in ("time", "cancelled"):
            break
    assert best is not None
    trace = best.trace()
    graph = trace.graph_after(len(trace.steps))
    status = climbs[-1].status if climbs[-1].status in ("time", "cancelled") else best.status
    return SearchResult(
        graph, decomposed_score(counts, graph, scorer), trace, status, "hill-climb", tuple(c.best_score for c in climbs)
    )


def k2(
    counts: FamilyCounts,
    order: Sequence[str],
    score: ScoreName | Scorer = "k2",
    *,
    constraints: Constraints = Constraints(),  # noqa: B008
    control: SearchControl = SearchControl(),  # noqa: B008
) -> SearchResult:
    """Cooper & Herskovits' K2: in the given order of the nodes, each takes the one earlier node after the other that
    gains most, while one gains. Equal gains by name.

    Raises ParameterError where the order is not one of all nodes, or a required arc leads against it.

    >>> counts = FamilyCounts.of({"rain": list("nnyy"), "wet": list("nnyy")})
    >>> k2(counts, ("wet", "rain")).graph.arcs
    (('wet', 'rain'),)
    """
    if sorted(order) != list(counts.sorted_names):
        missing = sorted(set(counts.names) ^ set(order)) or sorted({n for n in order if list(order).count(n) > 1})
        raise ParameterError("K2 needs every node once in its order; see to {names}", names=", ".join(missing))
    constraints.checked(counts.names)
    for a, b in constraints.required:
        if order.index(a) > order.index(b):
            raise ParameterError("the required arc {a} → {b} leads against the order", a=a, b=b)
    scorer, limits = scorer_of(counts, score), SearchLimits(control)
    first = DAG(counts.names, constraints.required)
    most = math.inf if constraints.max_parents is None else constraints.max_parents
    allowed = constraints.allowed(counts.sorted_names)
    taken: list[TakenMove] = []
    status: Status = "local optimum"
    total = decomposed_score(counts, first, scorer).score
    for i, child in enumerate(steps(order)):
        c = counts.rank_of(child)
        mask = sum(1 << counts.rank_of(p) for p in first.parents[child])
        while (stop := limits.reached()) is None and mask.bit_count() < most:
            open_ = allowed[:, c] & scorer.candidates(c, mask)
            free = [p for p in map(counts.rank_of, order[:i]) if open_[p]]
            deltas = np.full(len(counts.names), -np.inf)
            deltas[free] = scorer.widened(c, mask)[free] - scorer.value(c, mask)
            chosen = _chosen(deltas, scorer.tolerance)
            if chosen is None or deltas[chosen.place] <= scorer.tolerance:
                break
            move = Move("add", counts.sorted_names[chosen.place], child)
            others = tuple(
                Candidate(Move("add", counts.sorted_names[j], child), float(deltas[j])) for j in chosen.runners_up
            )
            taken.append(TakenMove(move, float(deltas[chosen.place]), others, chosen.ties))
            total += taken[-1].delta
            mask |= 1 << chosen.place
        if stop is not None:
            status = stop
            break
        control.report(i + 1, len(order), total)
    trace = traced(scorer, first, taken)
    graph = trace.graph_after(len(trace.steps))
    return SearchResult(graph, decomposed_score(counts, graph, scorer), trace, status, "k2")


class _Choice(NamedTuple):
    """A move by its place among the deltas, with how many it was tied, and the places of the next best."""

    place: int
    ties: int
    runners_up: list[int]


def _chosen(
    deltas: Array, tolerance: float, merit: Array | None = None, rng: np.random.Generator | None = None
) -> _Choice | None:
    """The best of the flat deltas (−inf: no move): among equals the one of most merit, then the first; or one drawn."""
    best = deltas.max(initial=-np.inf)
    if best == -np.inf:
        return None
    tied = np.flatnonzero(deltas >= best - tolerance)
    if merit is not None:
        index = int(tied[merit[tied] >= merit[tied].max() - tolerance][0])
    else:
        index = int(tied[0] if rng is None else rng.choice(tied))
    few = np.argpartition(-deltas, min(RUNNERS_UP, len(deltas) - 1))[: RUNNERS_UP + 1]
    few = few[np.lexsort((few, -deltas[few]))]
    return _Choice(index, len(tied) - 1, [int(j) for j in few if j != index and deltas[j] > -np.inf][:RUNNERS_UP])


def _start(counts: FamilyCounts, start: DAG | None, constraints: Constraints) -> DAG:
    constraints.checked(counts.names)
    if start is None:
        return DAG(counts.names, constraints.required)
    if set(start.nodes) != set(counts.names):
        odd = sorted(set(start.nodes) ^ set(counts.names))
        raise ParameterError("the start and the table have other nodes: {names}", names=", ".join(odd))
    start = DAG(counts.names, start.arcs)
    constraints.admits(start)
    return start


class _Changes:
    """What arcs change in a score, family by family. The climbs of a search come to the same families many times."""

    def __init__(self, scorer: Scorer, constraints: Constraints) -> None:
        self.scorer, self.constraints, self.names = scorer, constraints, scorer.counts.sorted_names
        self.allowed = constraints.allowed(self.names)
        self._known: dict[tuple[int, int], Array] = {}

    def of(self, child: int, parents: int) -> Array:
        """(d,) by how much the score rises if the arc from each node to the child comes, or goes where it is; −inf: it
        may not."""
        if (child, parents) not in self._known:
            now, most = self.scorer.value(child, parents), self.constraints.max_parents
            change = np.full(len(self.names), -np.inf)
            if most is None or parents.bit_count() < most:
                new = self.allowed[:, child] & self.scorer.candidates(child, parents)
                if new.any():
                    change[new] = self.scorer.widened(child, parents)[new] - now
            for p in members(parents):
                if (self.names[p], self.names[child]) not in self.constraints.required:
                    change[p] = self.scorer.value(child, parents ^ 1 << p) - now
            self._known[child, parents] = change
        return self._known[child, parents]


class _Climb:
    """One climb, nodes by rank. `change[p, c]` is what the arc p → c would change coming, or going where it is; the
    columns of the nodes whose parents have changed are `stale`."""

    def __init__(self, changes: _Changes, start: DAG, number: int, rng: np.random.Generator) -> None:
        self.changes, self.number, self.rng, self.start = changes, number, rng, start
        self.scorer, self.names, d = changes.scorer, changes.names, len(changes.names)
        self.arcs = np.zeros((d, d), dtype=bool)
        for a, b in start.arcs:
            self.arcs[self.names.index(a), self.names.index(b)] = True
        self.reach = self._reach()
        self.stale = list(range(d))
        self.change = np.full((d, d), -np.inf)
        self.score = math.fsum(self.scorer.value(c, self.mask(c)) for c in range(d))
        self.best_score, self.best_at = self.score, 0
        self.taken: list[TakenMove] = []
        self.not_own, self.best_arcs = 0, self.arcs
        self.status: Status = "local optimum"

    @cached_property
    def merit(self) -> Array | None:
        """(3 d d) by how much the parent that a move makes exceeds its child in merit; None: equals are drawn."""
        gains = self.scorer.gains
        if self.number > 1:
            return None
        own = gains.sum(axis=1) if self.number else gains[:, min(1, len(gains) - 1)]
        ahead = own[:, None] - own
        return np.concatenate([ahead.ravel(), ahead.T.ravel(), ahead.T.ravel()])

    def mask(self, child: int) -> int:
        """The parents of a node as a set of ranks."""
        return sum(1 << int(p) for p in np.flatnonzero(self.arcs[:, child]))

    @property
    def own_steps(self) -> int:
        """The moves that this climb chose: neither another's nor drawn."""
        return len(self.taken) - self.not_own

    def leave(self, other: _Climb) -> None:
        """Stand where another climb was best, and take moves that are drawn: of each operation equally often, where
        there is one."""
        self.taken, self.arcs = other.taken[: other.best_at], other.best_arcs
        self.score, self.reach = other.best_score, self._reach()
        self.stale = list(range(len(self.names)))
        for _ in range(DRAWN_MOVES):
            for c in self.stale:
                self._renew(c)
            deltas = self._deltas()
            by_operation = [moves for moves in np.split(np.arange(len(deltas)), 3) if (deltas[moves] > -np.inf).any()]
            if not by_operation:
                break
            moves = by_operation[int(self.rng.integers(len(by_operation)))]
            self.stale = self._take(_Choice(int(self.rng.choice(moves[deltas[moves] > -np.inf])), 0, []), deltas)
        self.not_own = len(self.taken)
        self._is_best()

    def _is_best(self) -> None:
        self.best_score, self.best_at, self.best_arcs = self.score, len(self.taken), self.arcs

    def run(
        self, limits: SearchLimits, settings: ClimbSettings, control: SearchControl, before: SearchProgress
    ) -> None:
        """Climb until nothing gains (and, with tabu, nothing has for so many steps), or a limit is reached; `before` is
        what other climbs have done and reached."""
        tabu, max_steps = settings.tabu, settings.max_steps
        met = {_key(self.arcs)}
        while True:
            for c in self.stale:
                if (stop := limits.reached()) is not None:
                    self.status = stop
                    return
                self._renew(c)
            if max_steps is not None and len(self.taken) >= max_steps:
                self.status = "steps"
                return
            deltas = self._deltas()
            choice = _chosen(deltas, self.scorer.tolerance, self.merit, self.rng)
            if choice is None:
                return
            if deltas[choice.place] <= self.scorer.tolerance or (tabu and _key(self._after(choice.place)) in met):
                if len(self.taken) - self.best_at >= tabu:
                    return
                fresh = self._fresh(deltas, met)
                if fresh is None:
                    return
                choice = fresh
            self.stale = self._take(choice, deltas)
            if tabu:
                met.add(_key(self.arcs))
            if self.score > self.best_score + self.scorer.tolerance:
                self._is_best()
            control.report(before.done + self.own_steps, None, max(before.score, self.best_score))

    def trace(self) -> SearchTrace:
        """The way to the best graph met."""
        return traced(self.scorer, self.start, self.taken[: self.best_at])

    def _renew(self, c: int) -> None:
        self.change[:, c] = self.changes.of(c, self.mask(c))

    def _deltas(self) -> Array:
        """(3 d d) what every move would change, operations in their order, then parent, then child; −inf: no move."""
        add = np.where(self.arcs | self.reach.T, -np.inf, self.change)
        drop = np.where(self.arcs, self.change, -np.inf)
        routes = self.arcs.astype(np.float32) @ self.reach.astype(np.float32)  # children of p from which c is reached
        turn = np.where(routes == 1.0, drop + self.change.T, -np.inf)
        return np.concatenate([add.ravel(), drop.ravel(), turn.ravel()])

    def _reach(self) -> NDArray[np.bool_]:
        """(d, d) whether a path leads from a to b, every node reaching itself."""
        reach = (self.arcs | np.eye(len(self.arcs), dtype=bool)).astype(np.float32)
        while True:
            further = np.minimum(reach @ reach, 1.0)
            if (further == reach).all():
                return reach > 0
            reach = further

    def _move(self, index: int) -> tuple[int, int, int]:
        d = len(self.names)
        return index // (d * d), index // d % d, index % d

    def _take(self, choice: _Choice, deltas: Array) -> list[int]:
        """Make the move; the nodes whose parents it changes."""
        delta = float(deltas[choice.place])
        others = tuple(Candidate(self._named(j), float(deltas[j])) for j in choice.runners_up)
        self.taken.append(TakenMove(self._named(choice.place), delta, others, choice.ties))
        self.score += delta
        self.arcs = self._after(choice.place)
        operation, p, c = self._move(choice.place)
        self.reach = self.reach | np.outer(self.reach[:, p], self.reach[c]) if operation == 0 else self._reach()
        return [p, c] if operation == 2 else [c]

    def _named(self, index: int) -> Move:
        operation, p, c = self._move(index)
        return Move(OPERATIONS[operation], self.names[p], self.names[c])

    def _after(self, index: int) -> NDArray[np.bool_]:
        """(d, d) the arcs after a move."""
        operation, p, c = self._move(index)
        arcs = self.arcs.copy()
        arcs[p, c] = operation == 0
        arcs[c, p] |= operation == 2
        return arcs

    def _fresh(self, deltas: Array, met: set[bytes]) -> _Choice | None:
        """The best move to a graph not met before; equals as everywhere."""
        left = deltas.copy()
        while (choice := _chosen(left, self.scorer.tolerance, self.merit, self.rng)) is not None:
            if _key(self._after(choice.place)) not in met:
                return choice
            left[choice.place] = -np.inf
        return None


def _key(arcs: NDArray[np.bool_]) -> bytes:
    return np.packbits(arcs).tobytes()
