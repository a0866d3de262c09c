"""Information between columns, and the tree that keeps the most of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.structure.chow_liu import (
    conditional_information,
    directed,
    gaussian_information,
    information,
    ranked,
    spanning_tree,
    terms_of,
)
from tests.conftest import examples

tables = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.integers(0, 9), min_size=math.prod(shape), max_size=math.prod(shape)).map(
        lambda cells: np.array(cells, dtype=float).reshape(shape)
    )
)


@examples(80)
@given(tables)
def test_information_by_the_definition(table: np.ndarray) -> None:
    """Σ P(a, b, c) log [P(a, b|c) / (P(a|c) P(b|c))], cell by cell."""
    n = table.sum()
    want = 0.0
    for c, a, b in itertools.product(*map(range, table.shape)):
        if table[c, a, b]:
            of_class = table[c].sum()
            p_ab, p_a, p_b = table[c, a, b] / of_class, table[c, a].sum() / of_class, table[c, :, b].sum() / of_class
            want += table[c, a, b] / n * math.log(p_ab / (p_a * p_b))
    found = conditional_information(table)
    assert found.information == pytest.approx(want, abs=1e-12)
    assert terms_of(table).sum() == pytest.approx(want, abs=1e-12)
    assert found.information >= 0
    assert conditional_information(table.swapaxes(1, 2))[:3] == pytest.approx(found[:3])
    assert found.n == n


@examples(40)
@given(tables)
def test_the_g_test_is_that_of_each_class(table: np.ndarray) -> None:
    statistic, degrees = 0.0, 0
    for of_class in table:
        some = of_class[of_class.sum(axis=1) > 0][:, of_class.sum(axis=0) > 0]  # a level without a row is no level
        if some.size:
            test = chi2_contingency(some, correction=False, lambda_="log-likelihood")
            statistic, degrees = statistic + test.statistic, degrees + test.dof
    found = conditional_information(table)
    assert (found.statistic, found.degrees) == (pytest.approx(statistic, abs=1e-9), degrees)
    assert found.p_value == 1.0 if degrees == 0 else 0 <= found.p_value <= 1


def test_independence_and_a_copy() -> None:
    assert information(np.outer([1.0, 2.0], [3.0, 5.0])).information == pytest.approx(0.0, abs=1e-15)
    copy = information(np.diag([2.0, 3.0, 5.0]))
    assert copy.information == pytest.approx(-sum(p * math.log(p) for p in (0.2, 0.3, 0.5)))
    assert copy.p_value == pytest.approx(0.0005, abs=0.0005)
    assert conditional_information(np.zeros((2, 3, 3)))[:3] == (0.0, 0.0, 0)


def test_gaussian_information_by_the_definition() -> None:
    rng = np.random.default_rng(0)
    groups = [[rng.normal(s + 2 * c, 1 + s, 40) for s in range(3)] for c in range(2)]
    flat = [x for of_class in groups for x in of_class]
    cells = ColumnMoments(
        np.array([len(x) for x in flat], dtype=float),
        np.array([x.mean() for x in flat]),
        np.array([((x - x.mean()) ** 2).sum() for x in flat]),
        0.0,
    )
    want = 0.0
    for of_class in groups:
        whole = np.concatenate(of_class).var()
        inside = [(40 * x.var() + whole) / 41 for x in of_class]  # with one imagined row
        want += 0.5 * (math.log(whole) - np.mean(np.log(inside))) / 2
    found = gaussian_information(cells, n_classes=2, floor=1e-9)
    assert found.information == pytest.approx(want)
    assert (found.degrees, found.n, found.statistic) == (8, 240, pytest.approx(2 * 240 * want))
    assert found.p_value < 1e-9


weighted = st.integers(2, 6).flatmap(
    lambda d: st.lists(st.integers(1, 9).map(float), min_size=d * (d - 1) // 2, max_size=d * (d - 1) // 2).map(
        lambda w: ("abcdef"[:d], dict(zip(itertools.combinations("abcdef"[:d], 2), w, strict=True)))
    )
)


def test_a_number_without_spread_in_a_class_tells_of_nothing_else_there() -> None:
    same = ColumnMoments(np.array([20.0, 20.0, 30.0, 30.0]), np.array([1.0, 1.0, 2.0, 2.0]), np.zeros(4), 0.0)
    assert gaussian_information(same, n_classes=2, floor=1e-9).information == 0.0


def test_an_edge_of_no_weight_is_not_taken() -> None:
    steps = spanning_tree("abc", {("a", "b"): 0.5, ("a", "c"): 0.0, ("b", "c"): 0.0})
    assert [s.edge for s in steps if s.taken] == [("a", "b")]


@examples(40)
@given(weighted)
def test_no_other_spanning_tree_is_heavier(case: tuple[str, dict[tuple[str, str], float]]) -> None:
    names, weights = case
    steps = spanning_tree(names, weights)
    taken = [s.edge for s in steps if s.taken]
    assert [s.edge for s in steps] == ranked(weights)
    assert len(taken) == len(names) - 1

    def spans(edges: tuple[tuple[str, str], ...]) -> bool:
        return (
            len(directed(names, edges, names[0])) == len(names) - 1
            and len({child for _, child in directed(names, edges, names[0])}) == len(names) - 1
            and connected(edges)
        )

    def connected(edges: tuple[tuple[str, str], ...]) -> bool:
        met = {names[0]}
        while more := {b for e in edges for a, b in (e, e[::-1]) if a in met} - met:
            met |= more
        return len(met) == len(names)

    best = max(
        sum(weights[e] for e in edges) for edges in itertools.combinations(weights, len(names) - 1) if spans(edges)
    )
    assert sum(weights[e] for e in taken) == pytest.approx(best)
    for root in names:
        arcs = directed(names, taken, root)
        assert {frozenset(a) for a in arcs} == {frozenset(e) for e in taken}
        assert sorted(child for _, child in arcs) == sorted(set(names) - {root})


def test_equal_weights_go_by_name_whatever_rounding_says() -> None:
    weights = {("b", "c"): 0.3, ("a", "b"): 0.1 + 0.2, ("a", "c"): 0.3 - 1e-15}
    assert ranked(weights) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [s.edge for s in spanning_tree("abc", weights) if s.taken] == [("a", "b"), ("a", "c")]
    turned = {("c", "b"): 1.0, ("a", "c"): 1.0, ("b", "a"): 1.0}  # the order of the columns says nothing
    assert ranked(turned) == [("b", "a"), ("a", "c"), ("c", "b")]


def test_parts_that_do_not_hang_together_each_have_a_root() -> None:
    assert directed("abcd", [("a", "b"), ("c", "d")], "d") == (("d", "c"), ("a", "b"))
