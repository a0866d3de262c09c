"""The embedded networks, what is asked of them, and their tables as a person edits them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import BayesianNetwork
from bayes_engine.dataset_toml import parse_network_info
from bayes_engine.datasets import load_dataset, load_network, network_names
from bayes_engine.errors import BayesEngineError, ParameterError, ReadError
from bayes_engine.exchange import read_bif, write_bif
from bayes_engine.exchange.csv_tables import edges_csv, read_csv, write_csv
from bayes_engine.factors.cpt_edits import bad_rows, normalized, numbers_of, with_tables
from bayes_engine.factors.network import CPT, Network
from bayes_engine.inference.beliefs import JointBelief, joint_belief, node_beliefs
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.figures.network import joint_table
from tests.stuck_network import stuck_network


@pytest.mark.parametrize("name", network_names())
def test_every_network_says_what_it_is(name: str) -> None:
    stored = load_network(name)
    assert stored.info.source and stored.info.licence and stored.info.story_zh
    for cpt in stored.network.cpts:
        for language in ("en", "zh"):
            said = [stored.level_label(cpt.name, v, language) for v in cpt.variable.levels]
            assert len(set(said)) == len(said)
    names = {stored.label(n, "en") for n in stored.network.names}
    assert len(names) == len(stored.network.names) and all(name.isascii() for name in names)


def test_asia_has_the_marginals_of_lauritzen_and_spiegelhalter() -> None:
    prior = node_beliefs(load_network("asia").network, {}).prior
    found = {name: round(p[0], 6) for name, p in prior.items()}
    assert found == {
        "asia": 0.01, "tub": 0.0104, "smoke": 0.5, "lung": 0.055, "bronc": 0.45, "either": 0.064828,
        "xray": 0.11029, "dysp": 0.435971,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "evidence", "node", "p"), [
    ("sprinkler", {"wet": "yes"}, "sprinkler", 0.4298),  # Murphy 1998
    ("sprinkler", {"wet": "yes"}, "rain", 0.7079),
    ("sprinkler", {"wet": "yes", "rain": "yes"}, "sprinkler", 0.1945),  # explained away
    ("burglary", {"john": "yes", "mary": "yes"}, "burglary", 0.2842),  # Russell & Norvig, 14.4
])  # fmt: skip
def test_the_books_own_answers(name: str, evidence: dict[str, str], node: str, p: float) -> None:
    assert round(node_beliefs(load_network(name).network, evidence).posterior[node][0], 4) == p


def test_the_watermelon_tables_follow_from_the_table_of_melons() -> None:
    frame = load_dataset("watermelon3").frame
    sweet = np.where(frame["含糖率"] > 0.2, "高", "低")
    frame = frame.assign(甜度=pd.Categorical(sweet, categories=["高", "低"]))
    arcs = [("好瓜", "敲声"), ("好瓜", "色泽"), ("甜度", "色泽"), ("甜度", "根蒂")]
    stored = load_network("watermelon").network
    refit = BayesianNetwork(arcs, alpha=1.0).fit(frame[list(stored.names)]).network_
    assert refit.graph == stored.graph
    for mine, theirs in zip(refit.cpts, stored.cpts, strict=True):
        assert mine.variable.levels == theirs.variable.levels
        np.testing.assert_allclose(mine.p, theirs.p, rtol=0, atol=1e-15)


def test_the_stuck_network_is_the_one_that_gibbs_gets_stuck_on() -> None:
    stored, made = load_network("stuck").network, stuck_network()
    assert write_bif(stored) == write_bif(made)


def test_a_toml_that_names_what_is_not_there_is_refused() -> None:
    network = load_network("stuck").network
    good = """
        title = "a"\ntitle_zh = "a"\nstory = "a"\nstory_zh = "a"\nsource = "a"\nlicence = "a"\nplace = 1
        target = "first"
    """
    nodes = "\n".join(f'[[nodes]]\nname = "{name}"' for name in network.names)
    assert parse_network_info(good + nodes, "t.toml", network).target == "first"
    for broken, key in (
        (good.replace('"first"', '"third"') + nodes, "target"),
        (good + 'evidence = { "equal" = "perhaps" }\n' + nodes, "evidence.equal"),
        (good + nodes.replace("second", "other"), "nodes"),
        (good + nodes + '\nlevels_en = ["one"]', r"nodes\[2\]"),
    ):
        with pytest.raises(BayesEngineError, match=f"'t.toml': key '{key}'"):
            parse_network_info(broken, "t.toml", network)
    with pytest.raises(BayesEngineError, match="is not valid TOML"):
        parse_network_info(good + "[nodes", "t.toml", network)
    with pytest.raises(BayesEngineError, match="network 'alarm' is not known"):
        load_network("alarm")


# what is asked ----------------------------------------------------------------------------------------------------


def enumerated(network: Network, evidence: dict[str, str]) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Every case that agrees with the findings, and its joint probability."""
    row = network.places(evidence)
    every = [
        c
        for c in itertools.product(*map(range, network.sizes))
        if all(r in (-1, v) for r, v in zip(row, c, strict=True))
    ]
    return every, np.exp(network.log_joint(np.array(every)))


@pytest.mark.parametrize(
    "evidence", [{}, {"dysp": "yes"}, {"xray": "yes", "smoke": "no"}, {"either": "no", "asia": "yes"}]
)
def test_an_answer_is_the_enumeration(evidence: dict[str, str]) -> None:
    network = load_network("asia").network
    every, joint = enumerated(network, evidence)
    found = node_beliefs(network, evidence)
    assert math.isclose(math.exp(found.log_evidence), joint.sum(), rel_tol=1e-12)
    for j, name in enumerate(network.names):
        p = [joint[[c[j] == k for c in every]].sum() / joint.sum() for k in range(network.sizes[j])]
        np.testing.assert_allclose(found.posterior[name], p, atol=1e-12)
    best = every[int(joint.argmax())]
    assert list(found.best.values()) == [c.variable.levels[k] for c, k in zip(network.cpts, best, strict=True)]
    assert math.isclose(math.exp(found.log_best), joint.max() / joint.sum(), rel_tol=1e-12)


def test_findings_are_certain_and_changes_come_farthest_first() -> None:
    found = node_beliefs(load_network("asia").network, {"dysp": "yes", "asia": "yes"})
    assert found.posterior["dysp"] == (1.0, 0.0) and found.posterior["asia"] == (1.0, 0.0)
    rises = [c.after - c.before for c in found.changes]
    assert rises == sorted(rises, reverse=True) and found.changes[0].node == "bronc"
    assert {c.node for c in found.changes} == {"tub", "smoke", "lung", "bronc", "either", "xray"}


def test_impossible_findings_name_the_smallest_conflict() -> None:
    found = node_beliefs(load_network("asia").network, {"smoke": "yes", "tub": "yes", "xray": "yes", "either": "no"})
    assert not found.possible and found.posterior == {} and found.changes == ()
    assert found.conflict is not None and found.conflict.findings == (("tub", "yes"), ("either", "no"))


def test_two_nodes_together_are_the_enumeration() -> None:
    network = load_network("asia").network
    every, joint = enumerated(network, {"dysp": "yes"})
    found = joint_belief(network, "lung", "bronc", {"dysp": "yes"})
    a, b = network.axes(("lung", "bronc"))
    for i, j in itertools.product(range(2), range(2)):
        p = joint[[c[a] == i and c[b] == j for c in every]].sum() / joint.sum()
        assert math.isclose(found.p[i, j], p, rel_tol=1e-10)
    assert not found.independent
    assert joint_belief(network, "asia", "smoke", {}).independent
    figure = joint_table(found, [["yes", "no"], ["yes", "no"]], ["cancer", "bronchitis"], dark=True)
    assert "(" in figure.data[0].text[0][0]
    assert (
        "("
        not in joint_table(joint_belief(network, "asia", "smoke", {}), [["y", "n"], ["y", "n"]], "ab")
        .data[0]
        .text[0][0]
    )


def test_many_cells_are_shaded_against_the_most_probable_and_stand_apart_whatever_their_names() -> None:
    p = np.full((26, 2), 1 / 52)
    pair = JointBelief("letter", "wet", p, p.sum(axis=1), p.sum(axis=0), 0.0)
    figure = joint_table(pair, [["same"] * 26, ["same"] * 2], ["letter", "wet"])
    assert figure.data[0].zmax == 1 / 52
    assert figure.layout.height < 700
    assert list(figure.layout.xaxis.tickvals) == [0, 1]
    assert figure.data[0].customdata[25][1] == "same, same"


def test_the_node_with_more_levels_is_read_downwards_and_numbers_are_written_where_a_phone_has_room() -> None:
    def table(rows: int, across: int) -> Any:
        p = np.arange(1.0, rows * across + 1).reshape(rows, across)
        p /= p.sum()
        pair = JointBelief("a", "b", p, p.sum(axis=1), p.sum(axis=0), 1.0)
        levels = [[f"a{i}" for i in range(rows)], [f"b{i}" for i in range(across)]]
        return joint_table(pair, levels, ["A", "B"]).checked(), p

    figure, p = table(2, 9)
    assert np.array_equal(figure.data[0].z, p.T) and figure.data[0].customdata[8][1] == "b8, a1"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("A", "B")
    assert figure.data[0].text[8][1].startswith(f"{p[1, 8]:.4f}")
    assert table(9, 3)[0].data[0].text is not None and table(5, 4)[0].data[0].text is None


# tables -----------------------------------------------------------------------------------------------------------


def test_numbers_too_large_to_add_are_a_bad_row_and_normalized() -> None:
    cpt = load_network("asia").network["asia"]
    (bad,) = bad_rows(cpt, (1e308, 1e308))
    assert bad.total == math.inf and not bad.wrong
    assert normalized(cpt, (1e308, 1e308), 0) == (0.5, 0.5)
    assert normalized(cpt, (0.0, -1.0), 0) == (0.5, 0.5)


def test_a_row_that_does_not_sum_to_one_is_named_and_can_be_normalized() -> None:
    cpt = load_network("sprinkler").network["wet"]
    numbers = (0.99, 0.01, 0.9, 0.2, 0.9, 0.1, 0.0, 1.0)
    (bad,) = bad_rows(cpt, numbers)
    assert (bad.row, bad.given, round(bad.total, 9), bad.wrong) == (1, ("yes", "no"), 1.1, False)
    mended = normalized(cpt, numbers, bad.row)
    assert bad_rows(cpt, mended) == () and mended[2] == pytest.approx(0.9 / 1.1) and mended[4:] == numbers[4:]
    assert [b.wrong for b in bad_rows(cpt, (-0.5, 1.5, *numbers[2:]))] == [True, False]
    assert normalized(cpt, (0.0, 0.0, *numbers[2:]), 0)[:2] == (0.5, 0.5)
    assert normalized(cpt, (-1.0, 2.0, *numbers[2:]), 0)[:2] == (0.0, 1.0)


def test_edited_tables_replace_only_what_is_whole() -> None:
    network = load_network("sprinkler").network
    half, broken = (0.3, 0.7), (0.3, 0.8)
    assert numbers_of(with_tables(network, [(0, half)]).cpts[0]) == half
    assert with_tables(network, [(0, broken)]) is network
    assert with_tables(network, [(0, (1.0,))]) is network
    assert node_beliefs(with_tables(network, [(0, half)]), {}).prior["cloudy"] == pytest.approx((0.3, 0.7))


@pytest.mark.parametrize("name", network_names())
def test_a_network_comes_back_from_its_csv(name: str) -> None:
    network = load_network(name).network
    assert write_bif(read_csv(write_csv(network).encode())) == write_bif(network)
    assert len(edges_csv(network).splitlines()) == len(network.graph.arcs) + 1


@pytest.mark.parametrize("name", ["", " rain", "rain\t", "a\rb"])
def test_a_name_that_would_come_back_as_another_is_not_written_into_a_csv(name: str) -> None:
    levels = Variable("rain", "categorical", (name, "rain"))
    for variable in (levels, Variable(name, "categorical", ("no", "yes"))):
        with pytest.raises(ParameterError, match="a CSV file cannot hold the name"):
            write_csv(Network([CPT(variable, (), [0.25, 0.75])]))


@pytest.mark.parametrize(("text", "fault"), [
    ("a,b\n1,2\n", "the first line must name the columns node, level, p"),
    ("node,level,p\nrain,no,0.8\nrain,yes,0.3\n", r"line 2: P\(rain\) sums to 1.1, not 1"),
    ("node,level,p\nrain,no,0.8\nrain,no,0.2\n", "line 3: this number of 'rain' was given before"),
    ("node,level,p\nrain,no,much\n", "line 2: 'much' is no probability"),
    ("node,level,p,parent 1,its level 1\nrain,no,1,snow,yes\n", "line 2: the parent 'snow' has no table"),
    ("node,level,p,parent 1,its level 1\nrain,no,1,snow\n", "line 2: a node, a level, or the level of a parent"),
    ("node,level,p,parent 1,its level 1\na,x,1,b,y\nb,y,1,a,x\n", "close a cycle"),
    ("node,level,p,q,r\nb,y,1\nb,z,0\na,x,1,b,y\n", r"lacks 1 row, the first P\(a \| b = z\)"),
    ("node,level,p,q,r\nb,y,1\na,x,1\na,x,1,b,y\n", "line 4: 'a' has other parents here than in line 3"),
])  # fmt: skip
def test_a_broken_csv_is_refused_with_its_line(text: str, fault: str) -> None:
    with pytest.raises(ReadError, match=fault):
        read_csv(text)


def test_the_stored_files_are_what_other_programs_read() -> None:
    for name in network_names():
        network = load_network(name).network
        assert write_bif(read_bif(write_bif(network))) == write_bif(network)
    with pytest.raises(ParameterError):
        load_network("asia").network["snow"]
