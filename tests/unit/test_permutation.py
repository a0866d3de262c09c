"""What pairs and trees come to by chance: against all permutations, SciPy's permutation test, and spanning_tree."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import fisher_exact, permutation_test

from bayes_engine.structure.chow_liu import conditional_information, spanning_tree
from bayes_engine.structure.permutation import (
    drawn_p_value,
    exact_p_value,
    expected_information,
    expects_few,
    grown_trees,
    informations,
    p_value_bound,
    shuffled_tables,
)

A, B, C = [0, 0, 1, 2, 2, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1, 1]


def table(a: list[int], b: list[int], c: list[int]) -> np.ndarray:
    counts = np.zeros((2, 3, 2))
    np.add.at(counts, (c, a, b), 1.0)
    return counts


@pytest.mark.slow
def test_mean_and_p_value_are_those_of_all_permutations() -> None:
    own = table(A, B, C)
    values = [
        conditional_information(table(A, [*first, *second], C)).information
        for first in permutations(B[:5])
        for second in permutations(B[5:])
    ]
    assert expected_information(own) == pytest.approx(np.mean(values), abs=1e-12)
    p = np.mean(np.array(values) >= conditional_information(own).information - 1e-9)
    assert exact_p_value(own) == pytest.approx(p, abs=1e-12)
    assert drawn_p_value(own, 4999, enough=5000).p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 4999))


def test_one_class_of_two_levels_is_near_fisher_s_exact_test() -> None:
    """G and the probability of a table order the tables of one margin alike, save for ties."""
    own = np.array([[[7.0, 1.0], [2.0, 8.0]]])
    assert exact_p_value(own) == pytest.approx(fisher_exact(own[0]).pvalue)


def test_a_drawn_p_value_is_scipy_s_permutation_test() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    b[a == 2] = rng.random((a == 2).sum()) < 0.8

    def g(one: np.ndarray, other: np.ndarray) -> float:
        counts = np.zeros((1, 3, 2))
        np.add.at(counts[0], (one, other), 1.0)
        return conditional_information(counts).statistic

    peer = permutation_test(
        (a, b), g, permutation_type="pairings", n_resamples=999, alternative="greater", random_state=rng
    )
    own = np.zeros((1, 3, 2))
    np.add.at(own[0], (a, b), 1.0)
    p = drawn_p_value(own, 9999, enough=10_000).p
    assert p == pytest.approx(peer.pvalue, abs=4 * math.sqrt(p / 999))


def test_weights_that_are_no_whole_numbers_have_no_exact_p_value() -> None:
    assert exact_p_value(np.array([[[1.5, 0.0], [0.5, 2.0]]])) is None
    assert expects_few(np.array([[[1.5, 0.0], [0.5, 2.0]]]), 5.0)
    assert not expects_few(np.full((2, 2, 2), 5.0), 5.0)


def test_shuffled_tables_keep_every_column_s_counts_and_average_to_the_mean() -> None:
    margins = {"a": table(A, B, C).sum(axis=2), "b": table(A, B, C).sum(axis=1)}
    (block,) = shuffled_tables(margins, 4000)
    tables = block["a", "b"]
    assert (tables.sum(axis=3) == margins["a"]).all() and (tables.sum(axis=2) == margins["b"]).all()
    values = informations(tables, 9.0)
    error = values.std() / math.sqrt(len(values))
    assert values.mean() == pytest.approx(expected_information(table(A, B, C)), abs=4 * error)


def test_many_trees_at_once_are_those_of_one_after_the_other() -> None:
    """Equal weights among them: the names decide."""
    rng, names = np.random.default_rng(0), "dacbe"
    edges = list(combinations(names, 2))
    weights = {edge: rng.integers(1, 5, 50).astype(float) for edge in edges}
    trees = grown_trees(names, weights, root=2)
    for draw in range(50):
        steps = spanning_tree(names, {edge: float(weights[edge][draw]) for edge in edges})
        taken = {frozenset(s.edge) for s in steps if s.taken}
        pairs = zip(trees.parent[draw], trees.child[draw], strict=True)
        assert {frozenset((names[i], names[j])) for i, j in pairs} == taken
        assert sorted(trees.weights[draw].round(6)) == sorted(s.weight for s in steps if s.taken)


def test_drawing_stops_when_enough_tables_came_to_as_much_and_the_p_value_stays_right() -> None:
    """Over many streams the mean of enough / draws is p, up to what Besag and Clifford's rule is biased by."""
    own = table(A, B, C)
    p = exact_p_value(own)
    assert p is not None
    stopped = [drawn_p_value(own, 100_000, seed, enough=20) for seed in range(60)]
    assert np.mean([one.p for one in stopped]) == pytest.approx(p, rel=0.15)
    assert {one.draws for one in stopped} != {100_000} and all(one.p == 20 / one.draws for one in stopped)
    none = drawn_p_value(np.array([[[40.0, 0.0], [0.0, 40.0]]]), 999)
    assert (none.p, none.draws) == (0.001, 999)


@pytest.mark.slow
def test_a_p_value_is_not_above_its_bound() -> None:
    rng = np.random.default_rng(5)
    for _table in range(40):
        diagonal = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]) * rng.integers(0, 20)
        own = rng.poisson(2.0, (2, 2, 3)) + diagonal
        p = exact_p_value(own)
        assert p is not None and p <= p_value_bound(own) * (1 + 1e-9)
    clear = np.array([[[60.0, 5.0], [5.0, 60.0]]])
    p = exact_p_value(clear)
    assert p is not None and p <= p_value_bound(clear) < 1e-15


def test_where_no_table_came_to_as_much_fewer_are_drawn() -> None:
    clear = np.array([[[60.0, 5.0], [5.0, 60.0]]])
    assert drawn_p_value(clear, 10_000, unmet=1_000) == (1 / 1_001, 1_000)
