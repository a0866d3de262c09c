"""Graphs by themselves: cycles named, blankets, junctions, separation with its trail, equivalence."""

from __future__ import annotations

import pytest

from bayes_engine.errors import ParameterError
from bayes_engine.structure.equivalence import PDAG, cpdag
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.separation import paths, separation

ASIA = DAG(
    ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"),
    [("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("tub", "either"), ("lung", "either"),
     ("either", "xray"), ("either", "dysp"), ("bronc", "dysp")],
)  # fmt: skip
WATERMELON = DAG(  # Zhou, fig. 7.2
    ("好瓜", "甜度", "敲声", "色泽", "根蒂"),
    [("好瓜", "甜度"), ("好瓜", "敲声"), ("好瓜", "色泽"), ("甜度", "根蒂"), ("敲声", "根蒂")],
)


def test_NF45_a_cycle_is_named_and_the_shortest_one() -> None:
    with pytest.raises(ParameterError, match=r"the arcs close a cycle: b → c → b"):
        DAG("abcd", [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "b")])
    with pytest.raises(ParameterError, match="a → a"):
        DAG("a", [("a", "a")])


def test_the_blanket_is_parents_children_and_their_other_parents() -> None:
    assert ASIA.markov_blanket("bronc") == ("smoke", "either", "dysp")
    assert ASIA.markov_blanket("asia") == ("tub",)
    with pytest.raises(ParameterError, match="no node 'x'"):
        ASIA.markov_blanket("x")


def test_the_moral_graph_of_asia_marries_two_couples() -> None:
    assert ASIA.moral.married == (("tub", "lung"), ("bronc", "either"))
    assert len(ASIA.moral.edges) == len(ASIA.arcs) + 2


def test_the_three_junctions() -> None:
    kinds = {(j.a, j.middle, j.b): j.kind for j in ASIA.junctions}
    assert kinds["lung", "smoke", "bronc"] == "fork"
    assert kinds["tub", "either", "lung"] == "collider"
    assert kinds["lung", "either", "xray"] == "chain"
    assert [(j.a, j.middle, j.b) for j in ASIA.v_structures] == [("tub", "either", "lung"), ("bronc", "dysp", "either")]
    triangle = DAG("abc", [("a", "c"), ("b", "c"), ("a", "b")])
    assert triangle.v_structures == ()
    assert all(j.shielded for j in triangle.junctions)


def test_the_open_trail_says_why_it_is_open() -> None:
    found = separation(ASIA, "asia", "smoke", ["xray"])
    assert not found.separated
    assert str(found.trails[0]) == "asia → tub → either ← lung ← smoke"
    why = {p.middle: (p.kind, p.open, p.because) for p in found.trails[0].passages}
    assert why == {"tub": ("chain", True, None), "either": ("collider", True, "xray"), "lung": ("chain", True, None)}


def test_separated_nodes_show_what_blocks_each_trail() -> None:
    found = separation(ASIA, "asia", "smoke")
    assert found.separated
    assert [p.middle for p in found.trails[0].blocked] == ["either"]
    assert found.trails[0].blocked[0].because is None
    assert str(found.trails[1]) == "asia → tub → either → dysp ← bronc ← smoke"
    given = separation(ASIA, "lung", "bronc", ["smoke"])
    assert given.separated
    assert given.trails[0].blocked[0] == ("lung", "smoke", "bronc", "fork", False, "smoke")


def test_nodes_that_nothing_joins_have_no_trail() -> None:
    assert separation(DAG("ab"), "a", "b") == separation(DAG("ab"), "a", "b", ())
    assert separation(DAG("ab"), "a", "b").trails == ()
    assert list(paths(DAG("ab"), "a", "b")) == []


def test_an_arc_is_a_trail_that_nothing_blocks() -> None:
    found = separation(ASIA, "dysp", "either", ["bronc", "xray"])
    assert str(found.trails[0]) == "dysp ← either" and found.trails[0].open


def test_the_watermelon_net_separates_as_the_book_says() -> None:
    """色泽 ⊥ 根蒂 | 甜度, 敲声?  Given the class, colour says nothing of the root (Zhou, §7.5.1)."""
    assert separation(WATERMELON, "色泽", "根蒂", ["好瓜"]).separated
    assert separation(WATERMELON, "甜度", "敲声", ["好瓜"]).separated
    assert not separation(WATERMELON, "甜度", "敲声", ["好瓜", "根蒂"]).separated


@pytest.mark.parametrize(
    ("a", "b", "given", "words"),
    [
        ("asia", "asia", (), "two different nodes"),
        ("asia", "tub", ("tub",), "'tub' cannot be given and asked about"),
        ("asia", "x", (), "no node 'x'"),
    ],
)
def test_questions_that_make_no_sense_are_refused(a: str, b: str, given: tuple[str, ...], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        separation(ASIA, a, b, given)


def test_the_class_of_asia() -> None:
    found = cpdag(ASIA)
    assert set(found.reversible) == {("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")}
    assert len(found.compelled) == 5


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="joined twice"):
        PDAG("ab", [("a", "b")], [("b", "a")])
    with pytest.raises(ParameterError, match="no node"):
        PDAG("ab", [("a", "c")])


def test_a_node_that_stands_twice_is_named() -> None:
    with pytest.raises(ParameterError, match="the node 'a' stands twice"):
        DAG(("a", "b", "a"), [])
