"""The best graph of all, by dynamic programming over sets of columns (Silander & Myllymäki 2006). pyAgrum has no exact
search.

A DAG has a sink, and what is left without it is a DAG again. With best(c, S) the best score of c with parents in S,

    best(c, S) = max(score(c, S), max_{x∈S} best(c, S∖x)),   total(W) = max_{c∈W} total(W∖c) + best(c, W∖c)

and total of all columns is the optimum. A log-likelihood is never above 0, so a set of parents whose price alone is
more than what a part of it scores needs no counting (de Campos & Ji 2011).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import ClimbSettings, hill_climb
from bayes_engine.structure.scores import ScoreName, Scorer, members, scorer_of
from bayes_engine.structure.search_trace import SearchControl, SearchLimits, SearchResult, Status, laid

MOST_NODES = 18
"""The tables of the recursion hold nodes · 2^nodes numbers: 57 MB here."""
MOST_VISITS = 600_000_000
"""Sets of columns times different rows (and 2,000 for the set itself): half a minute at most."""
GLANCE = 256
"""After so many families the clock and `cancel` are asked."""


def exact(
    counts: FamilyCounts,
    score: ScoreName | Scorer = "bic",
    *,
    constraints: Constraints = Constraints(),  # noqa: B008  (frozen)
    control: SearchControl = SearchControl(),  # noqa: B008
) -> SearchResult:
    """A graph with the highest score of all that the constraints allow. Among equals a node takes the smaller set of
    parents, and the node without children is the last by name.

    Out of time or cancelled, the result is hill climbing's. Raises ParameterError, with the cost, where it is too much.

    >>> found = exact(FamilyCounts.of({"rain": list("nnyy") * 5, "wet": list("nnyy") * 5, "wind": list("nyny") * 5}))
    >>> found.graph.arcs, found.status
    ((('rain', 'wet'),), 'optimum')
    """
    scorer, limits = scorer_of(counts, score), SearchLimits(control)
    constraints.checked(counts.names)
    d, names = len(counts.names), counts.sorted_names
    must = [sum(1 << counts.rank_of(a) for a, b in constraints.required if b == name) for name in names]
    may = [sum(1 << p for p in np.flatnonzero(above).tolist()) for above in constraints.allowed(names).T]
    most = _affordable(scorer, must, constraints.max_parents)
    best = np.full((d, 1 << d), -np.inf)
    chosen = np.zeros((d, 1 << d), dtype=np.int32)
    done = 0
    by_size = _by_size(d)
    for k, sets in enumerate(steps(by_size[:d])):
        for c in range(d):
            left = sets[sets >> c & 1 == 0]
            _inherit(best[c], chosen[c], left, d)
            if k > most:
                continue
            ceiling = -scorer.price * _configurations(counts, left) * (counts.levels[c] - 1)
            open_ = (left & ~may[c] == 0) & (left & must[c] == must[c]) & (ceiling > best[c, left])
            for mask in left[open_].tolist():
                done += 1
                if done % GLANCE == 0 and (stop := limits.reached()) is not None:
                    return _climbed(counts, scorer, constraints, stop)
                value = scorer.value(c, mask)
                if value > best[c, mask] + scorer.tolerance:
                    best[c, mask], chosen[c, mask] = value, mask
        if (stop := limits.reached()) is not None:
            return _climbed(counts, scorer, constraints, stop)
        control.report(k + 1, d, -math.inf)
    graph = DAG(counts.names, _arcs(names, chosen, _sinks(best, by_size, scorer.tolerance)))
    return laid(scorer, graph, "optimum", "exact")


def _affordable(scorer: Scorer, must: list[int], max_parents: int | None) -> int:
    """How many parents a node can have at most: the constraint's number, or where more never pay.

    Raises ParameterError where counting so many families would take too long.
    """
    counts, d = scorer.counts, len(scorer.counts.names)
    if d > MOST_NODES:
        raise ParameterError(
            "the exact optimum of {d} columns asks for tables of {d} · 2^{d} numbers; {most} columns can be done: "
            "leave some out, or climb",
            d=d,
            most=MOST_NODES,
        )
    most = d - 1 if max_parents is None else min(max_parents, d - 1)
    if scorer.price:
        most = min(most, max(_paying(scorer, c, mask) for c, mask in enumerate(must)))

    def visits(k: int) -> int:
        return sum(math.comb(d, i) for i in range(min(k + 1, d) + 1)) * (counts.n_distinct + 2000)

    if visits(most) > MOST_VISITS:
        fits = max((k for k in range(most) if visits(k) <= MOST_VISITS), default=0)
        raise ParameterError(
            "the exact optimum would count {sets:,} sets of columns over {rows:,} different rows; max_parents={fits} "
            "is affordable, or leave columns out, or climb",
            sets=visits(most) // (counts.n_distinct + 2000),
            rows=counts.n_distinct,
            fits=fits,
        )
    return most


def _paying(scorer: Scorer, child: int, required: int) -> int:
    """So many parents may pay: with more, the price of the smallest table is above what the family costs without."""
    levels = scorer.counts.levels
    worst = -scorer.value(child, required)
    price = scorer.price * (levels[child] - 1)
    k = 0
    for size in sorted(levels[j] for j in range(len(levels)) if j != child):
        price *= size
        if price >= worst:
            break
        k += 1
    return max(k, required.bit_count())


def _by_size(d: int) -> list[NDArray[np.int64]]:
    """The sets of d columns (bit j: column j), those of one size together."""
    sets = np.arange(1 << d, dtype=np.int64)
    size = np.bitwise_count(sets)
    return [sets[size == k] for k in range(d + 1)]


def _configurations(counts: FamilyCounts, sets: NDArray[np.int64]) -> Array:
    """(m,) Π S_j over every set."""
    q = np.ones(len(sets))
    for j, size in enumerate(counts.levels):
        q[sets >> j & 1 == 1] *= size
    return q


def _inherit(best: Array, chosen: NDArray[np.int32], sets: NDArray[np.int64], d: int) -> None:
    """What the sets' parts with one column less reach, every set has too."""
    for j in range(d):
        with_j = sets[sets >> j & 1 == 1]
        without = with_j ^ (1 << j)
        better = best[without] > best[with_j]
        best[with_j[better]] = best[without[better]]
        chosen[with_j[better]] = chosen[without[better]]


def _sinks(best: Array, by_size: list[NDArray[np.int64]], tolerance: float) -> NDArray[np.int8]:
    """(2^d) for every set of columns the one that is last in its best graph."""
    d = len(best)
    total = np.zeros(1 << d)
    sink = np.full(1 << d, -1, dtype=np.int8)
    for sets in steps(by_size[1:]):
        reached = np.full((d, len(sets)), -np.inf)
        for c in range(d):
            inside = sets >> c & 1 == 1
            rest = sets[inside] ^ (1 << c)
            reached[c, inside] = total[rest] + best[c, rest]
        total[sets] = reached.max(axis=0)
        sink[sets] = d - 1 - (reached >= total[sets] - tolerance)[::-1].argmax(axis=0)
    return sink


def _arcs(names: tuple[str, ...], chosen: NDArray[np.int32], sink: NDArray[np.int8]) -> Iterator[tuple[str, str]]:
    """The arcs of the best graph, taking one sink off after the other."""
    left = (1 << len(names)) - 1
    while left:
        c = int(sink[left])
        left ^= 1 << c
        yield from ((names[p], names[c]) for p in members(int(chosen[c, left])))


def _climbed(counts: FamilyCounts, scorer: Scorer, constraints: Constraints, stop: Status) -> SearchResult:
    near = hill_climb(counts, scorer, constraints=constraints, settings=ClimbSettings(perturbations=0))
    return replace(near, status=stop)
