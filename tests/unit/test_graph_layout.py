"""Layouts of graphs: what a drawing may rely on, whatever the graph."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import ParameterError
from bayes_engine.workbench.figures.graph_layout import FULL, Places, circle, layered, tree

NAMES = [f"x{k:02}" for k in range(14)]


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The arcs of an acyclic graph whose order is not that of the names."""
    order = draw(st.permutations(NAMES))
    pairs = st.tuples(st.integers(0, 13), st.integers(0, 13)).filter(lambda p: p[0] < p[1])
    return [(order[i], order[j]) for i, j in draw(st.lists(pairs, max_size=30, unique=True))]


@st.composite
def trees(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    order = draw(st.permutations(NAMES))
    edges = [(order[draw(st.integers(0, k - 1))], order[k]) for k in range(1, draw(st.integers(1, len(order))))]
    return order[0], [(v, u) if draw(st.booleans()) else (u, v) for u, v in edges]


def rows_of(places: Places) -> dict[float, list[float]]:
    rows = defaultdict(list)
    for x, y in places.values():
        rows[y].append(x)
    return {y: sorted(xs) for y, xs in rows.items()}


def crossings(places: Places, arcs: list[tuple[str, str]]) -> int:
    """Pairs of straight lines that meet between two neighbouring rows."""
    ends = [(*places[u], places[v][0]) for u, v in arcs if places[v][1] - places[u][1] == 1]
    return sum(a[1] == b[1] and (a[0] - b[0]) * (a[2] - b[2]) < 0 for a, b in combinations(ends, 2))


@given(graphs())
def test_arcs_point_down_and_no_two_nodes_stand_closer_than_one_unit(arcs: list[tuple[str, str]]) -> None:
    places = layered(NAMES, arcs)
    assert sorted(places) == NAMES
    assert all(places[u][1] < places[v][1] for u, v in arcs)
    assert all(b - a > 1 - 1e-6 for xs in rows_of(places).values() for a, b in pairwise(xs))
    assert min(x for x, _y in places.values()) == min(y for _x, y in places.values()) == 0


@pytest.mark.slow
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_in_which_a_graph_is_listed_does_not_matter(arcs, random) -> None:  # type: ignore[no-untyped-def]
    nodes, shuffled = list(NAMES), list(arcs)
    random.shuffle(nodes)
    random.shuffle(shuffled)
    assert layered(nodes, shuffled) == layered(NAMES, arcs)


@given(graphs())
def test_a_node_stands_right_below_a_parent_or_without_any_right_above_a_child(arcs: list[tuple[str, str]]) -> None:
    places = layered(NAMES, arcs)
    for name in {name for arc in arcs for name in arc}:
        parents = [places[u][1] for u, v in arcs if v == name]
        children = [places[v][1] for u, v in arcs if u == name]
        wished = max(parents) + 1 if parents else min(children) - 1
        sank = places[name][1] > wished if parents else places[name][1] < wished  # a leaf, or below its root
        assert places[name][1] == wished or (sank and (not children or not parents))


def test_a_node_without_a_child_sinks_only_where_its_layer_is_full() -> None:
    spread_out = [(f"r{k}", f"c{k}") for k in range(FULL + 2)] + [("c0", "d"), ("d", "e"), ("e", "f")]
    rows = rows_of(layered((), spread_out))
    assert [len(rows[y]) for y in sorted(rows)] == [8, 6, 3, 1, 1]
    places = layered((), spread_out[:FULL] + spread_out[-3:])
    assert {places[f"c{k}"][1] for k in range(FULL)} == {1.0}


@given(st.permutations(range(7)))
def test_a_matching_is_drawn_without_a_crossing(partner: list[int]) -> None:
    arcs = [(f"a{k}", f"b{p}") for k, p in enumerate(partner)]
    places = layered([name for arc in arcs for name in arc], arcs)
    assert crossings(places, arcs) == 0
    assert all(places[u][0] == pytest.approx(places[v][0], abs=1e-6) for u, v in arcs)


@given(trees())
def test_layers_draw_a_tree_without_a_crossing(drawn: tuple[str, list[tuple[str, str]]]) -> None:
    root, edges = drawn
    depth = {name: y for name, (_x, y) in tree(root, edges).items()}
    arcs = [(u, v) if depth[u] < depth[v] else (v, u) for u, v in edges]
    assert crossings(layered(depth, arcs), arcs) == 0


def test_nodes_without_arcs_fill_rows_beneath_the_rest() -> None:
    places = layered("abcdefgh", [("a", "b")])
    assert rows_of(places) == {0: [1.5], 1: [1.5], 2: [0, 1, 2, 3], 3: [1, 2]}
    assert layered("a", []) == {"a": (0.0, 0.0)} and layered("", []) == {}


def test_a_cycle_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match=r"the arcs run in a cycle through '[cd]'"):
        layered("abcd", [("b", "c"), ("c", "d"), ("d", "c"), ("d", "a")])


@given(trees())
def test_in_a_tree_parents_stand_midway_above_their_children(drawn: tuple[str, list[tuple[str, str]]]) -> None:
    root, edges = drawn
    places = tree(root, edges)
    assert places[root][1] == 0 and crossings(places, [(u, v) for u, v in edges]) == 0
    assert all(b - a > 1 - 1e-6 for xs in rows_of(places).values() for a, b in pairwise(xs))
    for name, (x, y) in places.items():
        beside = {u if v == name else v for u, v in edges if name in (u, v)}
        children = [places[n][0] for n in beside if places[n][1] == y + 1]
        if children:
            assert x == pytest.approx((min(children) + max(children)) / 2, abs=1e-6)


def test_a_tree_is_as_narrow_as_its_rims_allow() -> None:
    arcs = [("a", "b"), ("a", "c"), ("b", "b1"), ("b", "b2"), ("b", "b3"), ("c", "c1")]
    assert max(x for x, _y in tree("a", arcs).values()) == 3  # b's three leaves, then c1


@pytest.mark.slow
def test_a_chain_of_thousands_is_a_straight_line() -> None:
    names = [f"{k:04}" for k in range(1500)]
    assert {x for x, _y in tree("0000", list(pairwise(names))).values()} == {0.0}


@pytest.mark.parametrize("edges", [
    [("a", "b"), ("b", "c"), ("c", "a")], [("a", "b"), ("c", "d")], [("a", "b"), ("b", "a")], [("b", "c")],
    [("a", "a")],
])  # fmt: skip
def test_what_is_no_tree_is_refused(edges: list[tuple[str, str]]) -> None:
    with pytest.raises(ParameterError, match="no tree with the root 'a'"):
        tree("a", edges)


@given(st.integers(2, 30), st.booleans())
def test_on_a_circle_neighbours_are_evenly_apart_and_never_too_near(n: int, centred: bool) -> None:
    names = [f"n{k}" for k in range(n)]
    places = circle(names, centre="n0" if centred else None)
    rim = names[centred:]
    gaps = [math.dist(places[a], places[b]) for a, b in zip(rim, rim[1:] + rim[:1], strict=True) if a != b]
    assert all(gap == pytest.approx(gaps[0], abs=1e-6) and gap > 1 - 1e-6 for gap in gaps)
    assert min(math.dist(a, b) for a, b in combinations(places.values(), 2)) > 1 - 1e-6
    assert places[rim[0]][1] == 0  # it begins at the top
