"""Trees by their shape, sizes that are refused, numbers that are small, and evidence that cannot be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayes_engine.errors import ImpossibleEvidence, ParameterError, TooLarge
from bayes_engine.exchange import read_bif
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference import conditional_tree, path_messages
from bayes_engine.inference import conflict as conflicts
from bayes_engine.inference.conflict import conflict
from bayes_engine.inference.elimination import elimination_trace
from bayes_engine.inference.junction_tree import JunctionTree, junction_tree
from bayes_engine.inference.triangulate import cells, cliques
from bayes_engine.table.schema import Variable

ASIA = """
variable asia { type discrete [ 2 ] { yes, no }; } variable tub { type discrete [ 2 ] { yes, no }; }
variable smoke { type discrete [ 2 ] { yes, no }; } variable lung { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; } variable either { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; } variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 0.01, 0.99; } probability ( tub | asia ) { (yes) 0.05, 0.95; (no) 0.01, 0.99; }
probability ( smoke ) { table 0.5, 0.5; } probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
probability ( bronc | smoke ) { (yes) 0.6, 0.4; (no) 0.3, 0.7; }
probability ( either | lung, tub ) { (no, no) 0.0, 1.0; default 1.0, 0.0; }
probability ( xray | either ) { (yes) 0.98, 0.02; (no) 0.05, 0.95; }
probability ( dysp | bronc, either ) {
  (yes, yes) 0.9, 0.1; (no, yes) 0.7, 0.3; (yes, no) 0.8, 0.2; (no, no) 0.1, 0.9;
}
"""


@pytest.fixture
def asia() -> Network:
    """Lauritzen & Spiegelhalter 1988, table 2."""
    return read_bif(ASIA)


def chain(p: np.ndarray, length: int) -> Network:
    nodes = [Variable(f"x{i:05d}", "categorical", ("no", "yes")) for i in range(length)]
    first = CPT(nodes[0], (), [0.5, 0.5])
    return Network([first, *(CPT(b, (a,), p) for a, b in itertools.pairwise(nodes))])


def grid(side: int, rng: np.random.Generator) -> Network:
    """Every node of a square has the node above and the one to the left as parents."""
    nodes = {at: Variable(f"r{at[0]:02d}c{at[1]:02d}", "binary", (0, 1)) for at in np.ndindex(side, side)}
    cpts = []
    for (r, c), node in nodes.items():
        parents = [nodes[at] for at in ((r - 1, c), (r, c - 1)) if at in nodes]
        p = rng.uniform(0.2, 0.8, size=[2] * len(parents))
        cpts.append(CPT(node, parents, np.stack([p, 1.0 - p], axis=-1)))
    return Network(cpts)


# ---------------------------------------------------------------------- shape


def scopes(tree: JunctionTree) -> list[tuple[str, ...]]:
    """The names in every clique."""
    return [tuple(tree.names[v] for v in c.scope) for c in tree._cliques]


def test_the_tree_of_the_chest_clinic(asia: Network) -> None:
    tree = JunctionTree(asia)
    assert sorted("-".join(sorted(c)) for c in scopes(tree)) == [
        "asia-tub",
        "bronc-dysp-either",
        "bronc-either-smoke",
        "either-lung-smoke",
        "either-lung-tub",
        "either-xray",
    ]
    assert tree.cost.cells == 2 * 4 + 4 * 8
    assert tree.cost.largest == 8
    assert len(tree.cost.clique) == 3


def test_running_intersection_and_every_family_in_a_clique() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        d = int(rng.integers(1, 9))
        sizes = rng.integers(1, 5, d).tolist()
        groups = [rng.permutation(d)[: rng.integers(1, 4)].tolist() for _ in range(int(rng.integers(0, 10)))]
        tree = cliques(groups, sizes, [f"{i}" for i in range(d)])
        scopes = [set(c.scope) for c in tree]
        assert all(any(set(group) <= scope for scope in scopes) for group in groups)
        assert sorted(v for c in tree for v in c.scope[: c.own]) == list(range(d))  # each is summed out once
        for k, c in enumerate(tree):
            assert c.parent > k or (c.parent == -1 and not c.separator)
            assert set(c.separator) <= (scopes[c.parent] if c.parent >= 0 else set())
            assert not any(k != i and scopes[k] < scopes[i] for i in range(len(tree)))


def test_the_same_tree_whatever_the_order_of_the_nodes(asia: Network) -> None:
    turned = Network(reversed(asia.cpts))
    assert set(map(frozenset, scopes(JunctionTree(asia)))) == set(map(frozenset, scopes(JunctionTree(turned))))


def test_a_tree_is_made_once(asia: Network) -> None:
    assert junction_tree(asia) is junction_tree(asia)


# ---------------------------------------------------------------------- size


@pytest.mark.slow
def test_NF52_a_large_grid_is_refused_in_words() -> None:
    network = grid(30, np.random.default_rng(0))
    tree = JunctionTree(network)
    assert tree.cost.cells > 2**31
    nothing = network.places({})[None]
    with pytest.raises(TooLarge, match=r"would need tables of \S+e\+\d+ cells, .*; ask for fewer nodes, or use Gibbs"):
        tree.marginals(nothing)
    for ask in (tree.most_probable, tree.family_marginals, lambda rows: tree.marginals(rows, targets=["r29c29"])):
        with pytest.raises(TooLarge):
            ask(nothing)


@pytest.mark.slow
def test_of_a_large_grid_what_is_affordable_is_answered() -> None:
    rng = np.random.default_rng(0)
    network, corner = grid(30, rng), grid(4, np.random.default_rng(0))
    corner = Network(network[name] for name in corner.names)
    tree = JunctionTree(network)
    some = {"r00c01": 1, "r03c02": 0}
    small = JunctionTree(corner).marginals(corner.places(some)[None])
    found = tree.marginals(network.places(some)[None], targets=["r02c02"])  # all below is barren
    np.testing.assert_allclose(found.p["r02c02"], small.p["r02c02"], rtol=1e-12)
    np.testing.assert_allclose(found.log_evidence, small.log_evidence, rtol=1e-12)

    every = {name: int(rng.integers(2)) for name in network.names}
    hidden = dict(every)
    del hidden["r15c15"]
    p = tree.marginals(network.places(hidden)[None])  # everything else is seen: nothing joins
    both = network.log_joint(np.stack([network.places({**every, "r15c15": v}) for v in (0, 1)]))
    np.testing.assert_allclose(p.p["r15c15"][0], np.exp(both - np.logaddexp(*both)), rtol=1e-10)
    np.testing.assert_allclose(p.log_evidence, np.logaddexp(*both), rtol=1e-12)
    best = tree.most_probable(network.places(hidden)[None])
    assert best.places[0, network.position["r15c15"]] == both.argmax()


def test_too_large_a_tree_is_refused_with_its_size(asia: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_engine.inference.junction_tree.MOST_CELLS", 39)
    with pytest.raises(TooLarge, match="tables of 40 cells, the largest of 8 over 3 nodes, where 39 are allowed"):
        JunctionTree(asia).marginals(asia.places({})[None])
    assert cells((), (2, 2)) == 1


# ---------------------------------------------------------------------- small numbers


@pytest.mark.slow
def test_a_chain_of_thousands_of_seen_nodes() -> None:
    network = chain(np.array([[0.9, 0.1], [0.2, 0.8]]), 2_000)
    rng = np.random.default_rng(1)
    row = rng.integers(0, 2, 2_000)
    tree = JunctionTree(network)
    half = np.where(np.arange(2_000) % 2 == 0, row, HIDDEN)
    found = tree.log_evidence(np.stack([row, half]))
    assert found[0] == pytest.approx(network.log_joint(row[None])[0], rel=1e-12)
    two = np.linalg.matrix_power(np.array([[0.9, 0.1], [0.2, 0.8]]), 2)
    seen = row[::2]
    assert found[1] == pytest.approx(np.log(0.5) + np.log(two[seen[:-1], seen[1:]]).sum(), rel=1e-12)
    best = tree.most_probable(half[None])
    assert best.log_p[0] == pytest.approx(network.log_joint(best.places)[0], rel=1e-12)
    assert np.isfinite(tree.marginals(half[None], targets=["x01001"]).p["x01001"]).all()


def test_NF50_probabilities_of_1e_300_are_not_zero() -> None:
    tiny = 1e-300
    network = chain(np.array([[1.0 - tiny, tiny], [tiny, 1.0 - tiny]]), 5)
    row = network.places({"x00000": "no", "x00002": "yes", "x00003": "no", "x00004": "yes"})
    found = JunctionTree(network).marginals(row[None])
    # x1 may be either, each at 1e-300; then two more such steps
    assert found.log_evidence[0] == pytest.approx(np.log(0.5) + np.log(2) + 3 * np.log(tiny), rel=1e-12)
    np.testing.assert_allclose(found.p["x00001"], [[0.5, 0.5]], rtol=1e-12)


def test_NF50_what_became_too_small_may_come_to_count() -> None:
    """Messages of 1e-320 are not exact as float64: the second finding leaves only them."""
    a, b, c = (Variable(name, "categorical", ("no", "yes")) for name in "abc")
    tables = [
        CPT(a, (), [1.0 - 1e-160, 1e-160]),
        CPT(b, (a,), [[1.0, 0.0], [1.0 - 1e-160, 1e-160]]),
        CPT(c, (b,), [[1.0, 0.0], [0.25, 0.75]]),
    ]
    network = Network(tables)
    found = JunctionTree(network).marginals(network.places({"c": "yes"})[None])
    assert found.log_evidence[0] == pytest.approx(np.log(0.75) - 320 * np.log(10), rel=1e-14)
    assert found.p["a"][0].tolist() == pytest.approx([0.0, 1.0])


# ---------------------------------------------------------------------- evidence


def test_the_chest_clinic(asia: Network) -> None:
    """Lauritzen & Spiegelhalter 1988: of a patient with dyspnoea who has been to Asia."""
    tree = junction_tree(asia)
    found = tree.marginals(np.stack([asia.places({}), asia.places({"asia": "yes", "dysp": "yes"})]))
    assert found.p["lung"][:, 0] == pytest.approx([0.055, 0.0995], abs=5e-5)
    assert found.p["tub"][:, 0] == pytest.approx([0.0104, 0.0878], abs=5e-5)
    assert found.p["bronc"][:, 0] == pytest.approx([0.45, 0.8114], abs=5e-5)
    assert found.log_evidence[0] == pytest.approx(0.0, abs=1e-14)


def test_NF49_impossible_evidence_names_the_smallest_conflict(asia: Network) -> None:
    tree = junction_tree(asia)
    evidence = {"smoke": "yes", "lung": "yes", "tub": "yes", "either": "no", "xray": "no"}
    rows = np.stack([asia.places({}), asia.places(evidence)])
    with pytest.raises(ImpossibleEvidence, match=r"1 row.* in row 1 .*: lung = yes, either = no; clear one") as caught:
        tree.marginals(rows)
    assert caught.value.rows == (1,)
    assert caught.value.findings == (("lung", "yes"), ("either", "no"))
    flagged = tree.marginals(rows, impossible="flag")
    assert flagged.possible.tolist() == [True, False]
    assert all((p[1] == 0).all() and p[0].sum() == pytest.approx(1.0) for p in flagged.p.values())
    for ask in (tree.most_probable, tree.family_marginals, lambda r: tree.joint(["asia", "dysp"], r)):
        with pytest.raises(ImpossibleEvidence):
            ask(rows)
    counts = tree.family_marginals(rows, np.array([2.0, 5.0]), impossible="flag")
    assert counts.families["tub"].sum() == pytest.approx(2.0)


def test_where_there_are_too_many_sets_the_conflict_is_minimal(asia: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "MOST_SETS", 2)
    evidence = asia.places({"lung": "yes", "tub": "yes", "either": "no", "smoke": "no"})
    found = conflict(asia, junction_tree(asia).log_evidence, evidence)
    assert found is not None
    assert not found.smallest
    assert found.findings == (("lung", "yes"), ("either", "no"))
    lung = conflict(asia, junction_tree(asia).log_evidence, asia.places({"lung": "yes"}))
    assert lung is None


def test_evidence_that_does_not_fit_is_named(asia: Network) -> None:
    tree = junction_tree(asia)
    with pytest.raises(ParameterError, match="needs a column for each of the 8 nodes"):
        tree.marginals(np.zeros((2, 7), dtype=int))
    with pytest.raises(ParameterError, match="row 1: 'tub' has no level at place 2"):
        tree.marginals(np.array([[0] * 8, [0, 2, *[0] * 6]]))
    with pytest.raises(ParameterError, match="no node 'cough'"):
        tree.marginals(asia.places({})[None], targets=["cough"])
    with pytest.raises(ParameterError, match="stands twice"):
        tree.joint(["lung", "lung"], asia.places({})[None])


def test_one_row_is_answered_as_many_together(asia: Network) -> None:
    rng = np.random.default_rng(5)
    alone = Variable("alone", "categorical", ("a", "b", "c"))  # a component of its own
    for network in (Network([*asia.cpts, CPT(alone, (), [0.2, 0.5, 0.3])]), grid(4, rng)):
        tree, d = JunctionTree(network), len(network.names)
        for _ in range(12):
            row = np.full((1, d), HIDDEN)
            seen = rng.choice(d, rng.integers(0, 6), replace=False)
            row[0, seen] = rng.integers(0, np.array(network.sizes)[seen])
            many, one = (tree.marginals(rows, impossible="flag") for rows in (row.repeat(2, axis=0), row))
            np.testing.assert_allclose(one.log_evidence, many.log_evidence[:1], rtol=1e-12, atol=1e-12)
            if not one.possible[0]:
                continue
            for name in network.names:
                np.testing.assert_allclose(one.p[name], many.p[name][:1], rtol=0, atol=1e-13)
            pair = [network.names[j] for j in rng.choice(d, 2, replace=False)]
            both = tree.joint(pair, row.repeat(2, axis=0))[:1]
            np.testing.assert_allclose(tree.joint(pair, row), both, rtol=0, atol=1e-13)
            np.testing.assert_allclose(tree.marginals(row, targets=pair[:1]).p[pair[0]], both.sum(axis=2), atol=1e-13)


@pytest.mark.parametrize(
    "limits",
    [{}, {"MATRIX_CELLS": 0}, {"KEPT_CELLS": 40, "REMEMBERED": 3}, {"JOINED": 0}, {"MOST_INDICES": 0}],
)
def test_one_row_is_answered_alike_whatever_is_remembered(
    limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(path_messages if hasattr(path_messages, name) else conditional_tree, name, limit)
    rng = np.random.default_rng(1)
    nodes = [Variable(f"x{j}", "categorical", ("a", "b", "c")[: 2 + j % 2]) for j in range(56)]  # einsum has 52 labels
    cpts = []
    for j, node in enumerate(nodes):
        parents = [nodes[k] for k in (j - 3, j - 1) if k >= 0 and j % 8]
        shape = [len(v.levels) for v in (*parents, node)]
        cpts.append(CPT(node, parents, rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])))
    network = Network(cpts)
    tree, others = JunctionTree(network), JunctionTree(network)
    for count in (3, 4, 25):
        findings = {int(v): int(rng.integers(network.sizes[v])) for v in rng.choice(56, count, replace=False)}
        places = np.full((2, 56), HIDDEN)
        places[:, list(findings)] = list(findings.values())
        together = others.marginals(places).p
        one = tree.marginals_of_one(findings)
        assert one is not None
        for name, p in zip(network.names, one, strict=True):
            assert p == pytest.approx(together[name][0], rel=1e-12, abs=1e-15)
        assert all((one[v] == np.eye(network.sizes[v])[place]).all() for v, place in findings.items())
        for targets in (["x9"], ["x30"], ["x12", "x11"]):
            first, again = (tree.joint_of_one(targets, findings) for _ in range(2))
            assert first is not None and again is not None and (first == again).all()
            assert first == pytest.approx(others.joint(targets, places)[0], rel=1e-12, abs=1e-15)


def test_findings_in_another_order_are_remembered_once(asia: Network) -> None:
    tree = JunctionTree(asia)._conditional
    assert tree is not None
    first = tree.posterior((0,), {7: 1, 2: 0, 6: 1})
    remembered = len(tree._memory.arrays)
    again = tree.posterior((0,), {2: 0, 6: 1, 7: 1})
    assert first is not None and again is not None and (first[1] == again[1]).all()
    assert len(tree._memory.arrays) == remembered > 0


def test_of_small_tables_one_is_made_and_large_ones_stay_apart(asia: Network) -> None:
    tree = JunctionTree(asia)._conditional
    assert tree is not None
    assert [table.p.size for table in tree._tables.values()] == [256]
    eight = [Variable(f"x{i}", "categorical", tuple("abcdefgh")) for i in range(4)]
    p = np.full((8, 8), 0.125)
    long = JunctionTree(Network([CPT(eight[0], (), p[0]), *(CPT(b, (a,), p) for a, b in itertools.pairwise(eight))]))
    assert long._conditional is not None
    assert [table.p.size for table in long._conditional._tables.values()] == [64, 64, 64]


def test_no_rows(asia: Network) -> None:
    tree = junction_tree(asia)
    none = np.empty((0, 8), dtype=int)
    assert tree.marginals(none).p["lung"].shape == (0, 2)
    assert tree.joint(["asia", "dysp"], none).shape == (0, 2, 2)
    assert tree.most_probable(none).places.shape == (0, 8)
    assert tree.family_marginals(none).families["dysp"].tolist() == np.zeros((2, 2, 2)).tolist()


def test_equal_explanations_are_decided_by_the_order_of_the_levels() -> None:
    network = chain(np.array([[0.5, 0.5], [0.5, 0.5]]), 6)
    third = chain(np.array([[0.1 + 0.2, 0.7], [0.3, 0.7]]), 3)  # 0.1 + 0.2 is not 0.3 in the last digit
    assert junction_tree(network).most_probable(network.places({})[None]).places.tolist() == [[0] * 6]
    assert junction_tree(third).most_probable(third.places({"x00001": "no"})[None]).places[0, 0] == 0


def test_rows_alike_count_as_often_as_they_stand(asia: Network) -> None:
    tree = junction_tree(asia)
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((40, 8)) < 0.7, HIDDEN, 0)
    many = tree.family_marginals(np.repeat(rows, 3, axis=0))
    weighed = tree.family_marginals(rows, np.full(40, 3.0))
    for name in asia.names:
        np.testing.assert_allclose(many.families[name], weighed.families[name], rtol=1e-12)
        assert many.families[name].sum() == pytest.approx(120.0)
    assert many.log_evidence.tolist() == np.repeat(weighed.log_evidence, 3).tolist()


# ---------------------------------------------------------------------- by hand


def test_elimination_step_by_step(asia: Network) -> None:
    evidence = {"dysp": "yes", "asia": "yes"}
    order = ["tub", "smoke", "either", "bronc"]
    trace = elimination_trace(asia, "lung", evidence, order)
    assert trace.barren == ("xray",)
    assert [s.variable for s in trace.steps] == order
    assert trace.steps[0].factors == ("P(tub | asia = yes)", "P(either | lung, tub)")
    assert trace.steps[0].result.name == "τ1(either, lung)"
    assert trace.steps[0].cells == 8
    # P(either = no | lung = no, asia = yes) = P(tub = no | asia = yes)
    assert trace.steps[0].result.table[1, 1] == pytest.approx(0.95)
    assert trace.steps[2].factors == ("P(dysp = yes | bronc, either)", "τ1(either, lung)")
    assert trace.last[0] == "P(asia = yes)"
    found = junction_tree(asia).marginals(asia.places(evidence)[None])
    np.testing.assert_allclose(trace.posterior, found.p["lung"][0], rtol=1e-12)
    assert trace.log_evidence == pytest.approx(found.log_evidence[0], rel=1e-12)
    np.testing.assert_allclose(trace.joint, trace.posterior * np.exp(trace.log_evidence), rtol=1e-12)


def test_every_elimination_ends_at_the_same_posterior(asia: Network) -> None:
    want = junction_tree(asia).marginals(asia.places({"xray": "yes"})[None])
    for target in ("asia", "smoke", "bronc"):
        default = elimination_trace(asia, target, {"xray": "yes"})
        np.testing.assert_allclose(default.posterior, want.p[target][0], rtol=1e-12)
        hidden = [step.variable for step in default.steps]
        for order in itertools.islice(itertools.permutations(hidden), 30):
            trace = elimination_trace(asia, target, {"xray": "yes"}, order)
            np.testing.assert_allclose(trace.posterior, want.p[target][0], rtol=1e-12)


def test_an_elimination_that_cannot_be_is_refused(asia: Network) -> None:
    with pytest.raises(ParameterError, match="'lung' is asked for and is part of the evidence"):
        elimination_trace(asia, "lung", {"lung": "yes"})
    with pytest.raises(ParameterError, match="must list each of these variables once: smoke"):
        elimination_trace(asia, "lung", {}, ["tub"])
    with pytest.raises(ImpossibleEvidence):
        elimination_trace(asia, "xray", {"lung": "yes", "either": "no"})
    wide = [Variable(f"x{i}", "categorical", tuple(range(60))) for i in range(3)]
    hub = Variable("hub", "categorical", tuple(range(60)))
    star = Network([CPT(hub, (), np.full(60, 1 / 60)), *(CPT(v, (hub,), np.full((60, 60), 1 / 60)) for v in wide)])
    evidence_free = elimination_trace(star, "x0")
    assert evidence_free.barren == ("x1", "x2")
    last = Variable("last", "binary", (0, 1))
    sink = CPT(last, wide, np.full((60, 60, 60, 2), 0.5))
    with pytest.raises(TooLarge, match="take another order, or the junction tree"):
        elimination_trace(Network([*star.cpts, sink]), "last", {}, ["hub", "x0", "x1", "x2"])


def test_the_refusal_of_one_row_names_no_row(asia: Network) -> None:
    cells = np.full((1, len(asia.names)), HIDDEN, dtype=np.intp)
    cells[0, asia.names.index("tub")], cells[0, asia.names.index("either")] = 0, 1  # tuberculosis, and neither
    with pytest.raises(ImpossibleEvidence, match=r"^the evidence has probability 0: these findings"):
        junction_tree(asia).family_marginals(cells)
    with pytest.raises(ImpossibleEvidence, match=r"^the evidence of 2 rows has probability 0; in row 0"):
        junction_tree(asia).family_marginals(np.vstack([cells, cells]))
