"""The junction tree against writing out every assignment of small random networks."""

from __future__ import annotations

import itertools
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import ImpossibleEvidence
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference import junction_tree
from bayes_engine.inference.conflict import conflict
from bayes_engine.inference.junction_tree import JunctionTree
from bayes_engine.table.schema import Variable
from tests.conftest import examples


@st.composite
def cases(draw: st.DrawFn) -> tuple[Network, np.ndarray, np.random.Generator]:
    """Up to seven nodes of one to three levels, tables with zeros, some nodes apart; rows of evidence from none to all.

    Nodes stand in any order, and parents in any order over a table."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 7))
    zeros = draw(st.sampled_from([0.0, 0.4]))
    density = draw(st.sampled_from([0.0, 0.3, 0.7]))
    names = rng.permutation(list("abcdefg"[:d])).tolist()
    variables = [Variable(name, "categorical", tuple(range(int(rng.integers(1, 4))))) for name in names]
    cpts = []
    for j, variable in enumerate(variables):
        parents = [variables[i] for i in rng.permutation(j)[:3] if rng.random() < density]
        p = rng.dirichlet(np.ones(len(variable.levels)), size=[len(v.levels) for v in parents])
        p = np.where((rng.random(p.shape) < zeros) & (p < p.max(axis=-1, keepdims=True)), 0.0, p)
        cpts.append(CPT(variable, parents, p / p.sum(axis=-1, keepdims=True)))
    network = Network([cpts[j] for j in rng.permutation(d)])
    whole = np.stack([rng.integers(0, s, 6) for s in network.sizes], axis=1)
    hidden = rng.random(whole.shape) < np.array([1.0, 0.8, 0.5, 0.5, 0.2, 0.0])[:, None]
    return network, np.where(hidden, HIDDEN, whole), rng


def written_out(network: Network, weights: list[np.ndarray]) -> np.ndarray:
    """(*S) P(x) Π_j w_j(x_j) for every assignment, node by node."""
    total = np.empty(network.sizes)
    for x in itertools.product(*(range(s) for s in network.sizes)):
        p = 1.0
        for j, cpt in enumerate(network.cpts):
            p *= cpt.p[tuple(x[i] for i in network.axes(cpt.scope))] * weights[j][x[j]]
        total[x] = p
    return total


def findings(network: Network, row: np.ndarray) -> list[np.ndarray]:
    return [np.ones(s) if at == HIDDEN else np.eye(s)[at] for s, at in zip(network.sizes, row, strict=True)]


@examples(80)
@given(cases())
def test_everything_the_tree_says(case: Any) -> None:
    network, places, rng = case
    d = len(network.cpts)
    tree = JunctionTree(network)
    posterior = tree.marginals(places, impossible="flag")
    best = tree.most_probable(places, impossible="flag")
    weight = rng.random(len(places))
    counts = tree.family_marginals(places, weight, impossible="flag")
    targets = rng.permutation(list(network.names))[: rng.integers(1, min(d, 3) + 1)].tolist()
    joint = tree.joint(targets, places, impossible="flag")
    wanted = {cpt.name: np.zeros(cpt.p.shape) for cpt in network.cpts}
    for i, row in enumerate(places):
        p = written_out(network, findings(network, row))
        total = p.sum()
        np.testing.assert_allclose(np.exp(posterior.log_evidence[i]), total, rtol=1e-12)
        np.testing.assert_allclose(np.exp(best.log_p[i]), p.max(), rtol=1e-12)
        share = p / total if total else p
        if total:
            assert np.isclose(p[tuple(best.places[i])], p.max(), rtol=1e-8)
        else:
            assert (best.places[i] == HIDDEN).all()
        for j, name in enumerate(network.names):
            margin = share.sum(axis=tuple(a for a in range(d) if a != j))
            np.testing.assert_allclose(posterior.p[name][i], margin, rtol=1e-10, atol=1e-15)
        at = network.axes(targets)
        kept = share.sum(axis=tuple(a for a in range(d) if a not in at))
        np.testing.assert_allclose(joint[i], kept.transpose(np.argsort(np.argsort(at))), rtol=1e-10, atol=1e-15)
        for cpt in network.cpts:
            axes = network.axes(cpt.scope)
            kept = share.sum(axis=tuple(a for a in range(d) if a not in axes))
            wanted[cpt.name] += weight[i] * kept.transpose(np.argsort(np.argsort(axes)))
    np.testing.assert_array_equal(tree.log_evidence(places), posterior.log_evidence)
    for name, count in counts.families.items():
        np.testing.assert_allclose(count, wanted[name], rtol=1e-10, atol=1e-15)
    np.testing.assert_array_equal(counts.log_evidence, posterior.log_evidence)


@examples(40)
@given(cases())
def test_a_tree_made_for_the_evidence_says_the_same(case: Any) -> None:
    """Without the barren nodes, and cut at those that every row has seen: here always, otherwise where it pays."""
    network, places, rng = case
    targets = rng.permutation(list(network.names))[: rng.integers(1, 3)].tolist()
    tree = JunctionTree(network)
    for row in places:
        rows = np.stack([row, np.where(row == HIDDEN, row, 0)])
        whole = tree.marginals(rows, impossible="flag")
        joint = tree.joint(targets, rows, impossible="flag")
        best = tree.most_probable(rows, impossible="flag")
        with mock.patch.multiple(junction_tree, PAYS=0, GAIN=0):
            found = tree.marginals(rows, targets=targets, impossible="flag")
            every = tree.marginals(rows, impossible="flag")
            np.testing.assert_allclose(tree.joint(targets, rows, impossible="flag"), joint, rtol=1e-10, atol=1e-15)
            np.testing.assert_allclose(tree.log_evidence(rows), whole.log_evidence, rtol=1e-12, atol=1e-13)
            again = tree.most_probable(rows, impossible="flag")
        for part in (found, every):
            np.testing.assert_allclose(part.log_evidence, whole.log_evidence, rtol=1e-12, atol=1e-13)
            for name, p in part.p.items():
                np.testing.assert_allclose(p, whole.p[name], rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(again.log_p, best.log_p, rtol=1e-12, atol=1e-13)


@examples(40)
@given(cases())
def test_logarithms_say_the_same_as_probabilities(case: Any) -> None:
    network, places, _ = case
    quick, safe = JunctionTree(network), JunctionTree(network)
    safe.__dict__["_linear"] = None  # as if a product had been too small
    a, b = (tree.marginals(places, impossible="flag") for tree in (quick, safe))
    np.testing.assert_allclose(a.log_evidence, b.log_evidence, rtol=1e-12, atol=1e-13)
    for name in network.names:
        np.testing.assert_allclose(a.p[name], b.p[name], rtol=1e-10, atol=1e-15)


@examples(80)
@given(cases())
def test_the_conflict_is_a_smallest_impossible_set(case: Any) -> None:
    network, places, _ = case
    tree = JunctionTree(network)
    for row in places:
        p = written_out(network, findings(network, row))
        found = conflict(network, tree.log_evidence, row)
        assert (found is None) == bool(p.sum())
        if found is None:
            continue
        with pytest.raises(ImpossibleEvidence) as caught:
            tree.marginals(row[None])
        assert caught.value.findings == found.findings
        assert found.smallest
        seen = np.flatnonzero(row != HIDDEN)
        smaller = [s for k in range(len(found.findings)) for s in itertools.combinations(seen.tolist(), k)]
        for chosen in smaller:
            part = np.full(len(row), HIDDEN)
            part[list(chosen)] = row[list(chosen)]
            assert written_out(network, findings(network, part)).sum()
        assert not written_out(network, findings(network, network.places(dict(found.findings)))).sum()
