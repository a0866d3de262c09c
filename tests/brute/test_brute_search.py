"""Graphs, scores and searches against enumeration: every path, every orientation, every DAG on four nodes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.equivalence import cpdag
from bayes_engine.structure.exact_search import exact
from bayes_engine.structure.graph import DAG, Arc
from bayes_engine.structure.hill_climbing import hill_climb, k2
from bayes_engine.structure.scores import SCORES, ScoreName, Scorer, decomposed_score
from bayes_engine.structure.separation import Trail, paths, separation
from tests.conftest import crossed

FOUR = ("a", "b", "c", "d")


def orientations(nodes: tuple[str, ...], skeleton: list[Arc]) -> Iterator[DAG]:
    """Every DAG over these pairs."""
    for turned in itertools.product((False, True), repeat=len(skeleton)):
        try:
            yield DAG(nodes, [(b, a) if turn else (a, b) for turn, (a, b) in zip(turned, skeleton, strict=True)])
        except ParameterError:
            continue


@cache
def dags(nodes: tuple[str, ...] = FOUR) -> tuple[DAG, ...]:
    """Every DAG over the nodes: 543 over four (Robinson 1973)."""
    pairs = list(itertools.combinations(nodes, 2))
    subsets = itertools.chain.from_iterable(itertools.combinations(pairs, k) for k in range(len(pairs) + 1))
    return tuple(graph for some in subsets for graph in orientations(nodes, list(some)))


def random_dag(rng: np.random.Generator, n: int, density: float) -> DAG:
    nodes = tuple("abcdefgh"[:n])
    order = rng.permutation(n)
    return DAG(nodes, [(nodes[order[i]], nodes[order[j]]) for i, j in itertools.combinations(range(n), 2)
                       if rng.random() < density])  # fmt: skip


def questions(graph: DAG) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for a, b in itertools.combinations(graph.nodes, 2):
        rest = [n for n in graph.nodes if n not in (a, b)]
        for k in range(len(rest) + 1):
            yield from ((a, b, given) for given in itertools.combinations(rest, k))


def descendants(graph: DAG, name: str) -> set[str]:
    """The node and all below it."""
    return {name}.union(*(descendants(graph, child) for child in graph.children[name]))


def equivalent(a: DAG, b: DAG) -> bool:
    """Whether two graphs have the same skeleton and the same V-structures."""

    def signs(graph: DAG) -> tuple[set[frozenset[str]], set[tuple[frozenset[str], str]]]:
        return {frozenset(arc) for arc in graph.arcs}, {(frozenset((j.a, j.b)), j.middle) for j in graph.v_structures}

    return set(a.nodes) == set(b.nodes) and signs(a) == signs(b)


def open_by_definition(graph: DAG, path: tuple[str, ...], z: set[str]) -> bool:
    for x, m, y in zip(path, path[1:], path[2:], strict=False):
        collider = (x, m) in graph.arcs and (y, m) in graph.arcs
        if collider and not descendants(graph, m) & z:
            return False
        if not collider and m in z:
            return False
    return True


def all_paths(graph: DAG, a: str, b: str) -> list[tuple[str, ...]]:
    inside = [n for n in graph.nodes if n not in (a, b)]
    middles = itertools.chain.from_iterable(itertools.permutations(inside, k) for k in range(len(inside) + 1))
    joined = {frozenset(arc) for arc in graph.arcs}
    whole = ((a, *middle, b) for middle in middles)
    return [p for p in whole if all(frozenset(step) in joined for step in itertools.pairwise(p))]


def test_there_are_as_many_dags_as_there_should_be() -> None:
    assert len(dags()) == 543 and len(set(dags())) == 543
    assert len({(cpdag(g).compelled, cpdag(g).reversible) for g in dags()}) == 185


@pytest.mark.parametrize("seed", range(12))
def test_separation_against_every_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(rng, 6, rng.uniform(0.2, 0.6))
    every = {(a, b): all_paths(graph, a, b) for a, b in itertools.combinations(graph.nodes, 2)}
    for (a, b), found in every.items():
        assert sorted(paths(graph, a, b)) == sorted(found)
    for a, b, given in questions(graph):
        opened = [p for p in every[a, b] if open_by_definition(graph, p, set(given))]
        answer = separation(graph, a, b, given)
        assert answer.separated == (not opened)
        if opened:
            (shown,) = answer.trails
            assert shown.open and shown.nodes in opened and len(shown.nodes) == min(map(len, opened))
            assert_told_right(graph, shown, set(given))
        else:
            assert bool(answer.trails) == bool(every[a, b])
            for shown in answer.trails:
                assert shown.blocked
                assert_told_right(graph, shown, set(given))


def assert_told_right(graph: DAG, shown: Trail, z: set[str]) -> None:
    for p in shown.passages:
        assert p.open == open_by_definition(graph, (p.before, p.middle, p.after), z)
        if p.because is not None:
            assert p.because in z & descendants(graph, p.middle)
        assert (p.because is not None) == (p.open == (p.kind == "collider"))


@pytest.mark.parametrize("seed", range(8))
def test_separation_against_numbers(seed: int) -> None:
    """In a network with random tables, separated is independent; and not separated is dependent, almost surely."""
    rng = np.random.default_rng(100 + seed)
    graph = random_dag(rng, 5, 0.45)
    joint = np.ones([2] * 5)
    for child in graph.nodes:
        scope = sorted((*graph.parents[child], child))
        p = rng.uniform(0.15, 0.85, [2] * len(scope))
        axis = scope.index(child)
        p /= p.sum(axis=axis, keepdims=True)
        joint = joint * p.reshape([2 if name in scope else 1 for name in graph.nodes])
    for a, b, given in questions(graph):
        keep = [a, b, *given]
        drop = tuple(i for i, name in enumerate(graph.nodes) if name not in keep)
        table = joint.sum(axis=drop)
        left = [name for name in graph.nodes if name in keep]
        table = np.moveaxis(table, [left.index(a), left.index(b)], [0, 1]).reshape(2, 2, -1)
        gap = np.abs(table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]).max()
        assert (gap < 1e-15) == separation(graph, a, b, given).separated, (graph.arcs, a, b, given, gap)


def test_separation_against_the_moral_graph_of_the_ancestors() -> None:
    """Lauritzen's criterion: no path around Z in the moral graph of the ancestors of all three."""
    for graph in dags()[::7]:
        for a, b, given in questions(graph):
            inside = graph.ancestors([a, b, *given])
            part = DAG([n for n in graph.nodes if n in inside], [arc for arc in graph.arcs if set(arc) <= inside])
            reached = {a}
            edges = [set(e) for e in part.moral.edges if not set(e) & set(given)]
            while grown := set().union(*(e for e in edges if e & reached)) - reached:
                reached |= grown
            assert separation(graph, a, b, given).separated == (b not in reached)


def compelled_in(members: list[DAG]) -> set[Arc]:
    return set.intersection(*(set(g.arcs) for g in members))


def test_classes_of_four_nodes_against_enumeration() -> None:
    classes: dict[object, list[DAG]] = {}
    for graph in dags():
        skeleton = frozenset(frozenset(arc) for arc in graph.arcs)
        colliders = frozenset((frozenset((j.a, j.b)), j.middle) for j in graph.v_structures)
        classes.setdefault((skeleton, colliders), []).append(graph)
    assert len(classes) == 185
    for members in classes.values():
        compelled = compelled_in(members)
        for graph in members:
            found = cpdag(graph)
            assert set(found.compelled) == compelled
            assert {frozenset(e) for e in found.reversible} == {frozenset(a) for a in set(graph.arcs) - compelled}


@pytest.mark.parametrize("seed", range(30))
def test_classes_of_five_nodes_against_every_orientation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_dag(rng, 5, rng.uniform(0.3, 0.9))
    members = [g for g in orientations(graph.nodes, list(graph.arcs)) if equivalent(g, graph)]
    assert set(cpdag(graph).compelled) == compelled_in(members)


def rows(seed: int, n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    c = np.where(rng.random(n) < 0.7, (a + b) % 3, rng.integers(0, 3, n))
    d = np.where(rng.random(n) < 0.6, c % 2, rng.integers(0, 2, n))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d}).astype(str)


def counted(frame: pd.DataFrame) -> FamilyCounts:
    return FamilyCounts.of(frame)


def by_formula(frame: pd.DataFrame, child: str, parents: tuple[str, ...], score: ScoreName, ess: float) -> float:
    """The published formulas, configuration by configuration."""
    levels = {name: sorted(frame[name].unique()) for name in frame}
    r = len(levels[child])
    q = math.prod(len(levels[p]) for p in parents)
    fit = 0.0
    seen = Counter(zip(*(frame[name] for name in (*parents, child)), strict=True))
    for values in itertools.product(*(levels[p] for p in parents)):
        counts = [seen[*values, level] for level in levels[child]]
        n_j = sum(counts)
        if score == "k2":
            fit += math.lgamma(r) - math.lgamma(n_j + r) + sum(math.lgamma(n + 1) for n in counts)
        elif score == "bdeu":
            fit += math.lgamma(ess / q) - math.lgamma(n_j + ess / q)
            fit += sum(math.lgamma(n + ess / (q * r)) - math.lgamma(ess / (q * r)) for n in counts)
        else:
            fit += sum(n * math.log(n / n_j) for n in counts if n)
    price = {"aic": 1.0, "bic": 0.5 * math.log(len(frame)), "mdl": 0.5 * math.log(len(frame))}.get(score, 0.0)
    return fit - price * q * (r - 1)


@pytest.mark.parametrize(("score", "ess"), [*((score, 1.0) for score in SCORES), ("bdeu", 7.5)])
def test_scores_against_their_formulas(score: ScoreName, ess: float) -> None:
    frame = rows(1)
    scorer = Scorer(counted(frame), score, sample_size=ess)
    for child in frame:
        others = [n for n in frame if n != child]
        for parents in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(4)):
            line = scorer.family(child, parents)
            assert line.score == pytest.approx(by_formula(frame, child, parents, score, ess), abs=1e-8)
            assert line.log_likelihood == pytest.approx(by_formula(frame, child, parents, "log-likelihood", ess))


def test_equivalent_graphs_score_alike_but_under_k2() -> None:
    counts = counted(rows(2))
    for score in SCORES:
        scorer = Scorer(counts, score)
        spread = 0.0
        for graph in dags()[::11]:
            alike = [g for g in orientations(FOUR, list(graph.arcs)) if equivalent(g, graph)]
            totals = [decomposed_score(counts, g, scorer).score for g in alike]
            spread = max(spread, max(totals) - min(totals))
        assert (spread < 1e-8) == (score != "k2")


@pytest.mark.parametrize(("score", "seed"), crossed(SCORES, range(3)))
def test_the_exact_optimum_against_all_dags(score: ScoreName, seed: int) -> None:
    counts = counted(rows(10 + seed))
    scorer = Scorer(counts, score)
    best = max(decomposed_score(counts, graph, scorer).score for graph in dags())
    found = exact(counts, score)
    assert found.status == "optimum" and found.score == pytest.approx(best, abs=1e-6)
    assert hill_climb(counts, score).score <= best + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_constrained_optimum_against_all_dags(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = counted(rows(20 + seed, 300))
    arcs = [tuple(map(str, rng.choice(FOUR, 2, replace=False))) for _ in range(3)]
    tiers = (("a", "b"), ("c",)) if seed % 2 else ()
    rules = Constraints(required=(arcs[0],), forbidden=tuple(a for a in arcs[1:] if a != arcs[0]), tiers=tiers,
                        max_parents=2)  # fmt: skip
    try:
        rules.checked(FOUR)
    except ParameterError:
        rules = Constraints(forbidden=rules.forbidden, max_parents=1)

    def fits(graph: DAG) -> bool:
        try:
            rules.admits(graph)
        except ParameterError:
            return False
        return True

    best = max(decomposed_score(counts, g).score for g in dags() if fits(g))
    assert exact(counts, constraints=rules).score == pytest.approx(best, abs=1e-6)


def test_k2_takes_the_best_parent_as_long_as_it_gains() -> None:
    frame = rows(5, 200)
    found = k2(counted(frame), FOUR)
    for i, child in enumerate(FOUR):
        parents: tuple[str, ...] = ()
        while True:
            now = by_formula(frame, child, parents, "k2", 1.0)
            left = [n for n in FOUR[:i] if n not in parents]
            value, name = max(
                ((by_formula(frame, child, (*parents, n), "k2", 1.0), n) for n in left), default=(-math.inf, "")
            )
            if value <= now:
                break
            parents += (name,)
        assert set(found.graph.parents[child]) == set(parents)
