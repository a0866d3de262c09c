"""Expected counts by what is hidden, against the junction tree, which sums over whole rows."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference import expected_counts
from bayes_engine.inference.expected_counts import ExpectationStep
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.table.schema import Variable


def network(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    nodes = [Variable(f"x{j}", "categorical", tuple("abc"[: 2 + j % 2])) for j in range(6)]
    cpts = []
    for j, node in enumerate(nodes):
        parents = [nodes[i] for i in range(j) if rng.random() < 0.5][:3]
        shape = tuple(len(v.levels) for v in parents)
        p = rng.dirichlet(np.ones(len(node.levels)), size=shape)
        if j == 3:
            p[..., 0] = 0.0  # a zero on purpose
            p /= p.sum(axis=-1, keepdims=True)
        cpts.append(CPT(node, parents, p))
    return Network(cpts)


def rows(model: Network, seed: int, n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(1 if j == 3 else 0, size, n) for j, size in enumerate(model.sizes)])
    cells[rng.random(cells.shape) < 0.3] = HIDDEN
    cells[:5, 2] = cells[:5, 4] = HIDDEN
    return cells.astype(np.intp)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("per_family", [0.0, 1e9])  # always by patterns; always by the tree
def test_both_ways_count_alike(seed: int, per_family: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_counts, "PER_FAMILY", per_family)
    monkeypatch.setattr(expected_counts, "PER_CELL", 1.0)
    model = network(seed)
    cells = rows(model, seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(cells)).astype(float)
    found = ExpectationStep.of(model, cells, weight).expected(model)
    whole = junction_tree(model).family_marginals(cells, weight)
    assert found.log_likelihood == pytest.approx(float(weight @ whole.log_evidence), abs=1e-9)
    for counts, name in zip(found.counts, model.names, strict=True):
        np.testing.assert_allclose(counts, whole.families[name], atol=1e-10)


def test_rows_of_which_nothing_is_known_count_the_joint_once_each() -> None:
    model = network(0)
    nothing = np.full((3, len(model.sizes)), HIDDEN, dtype=np.intp)
    weight = np.array([1.0, 2.0, 0.5])
    tree = junction_tree(model)
    whole, one = tree.family_marginals(nothing, weight), tree.family_marginals(nothing[:1])
    for name, counts in whole.families.items():
        assert counts.sum() == pytest.approx(3.5)
        np.testing.assert_allclose(counts, 3.5 * one.families[name], rtol=1e-12)
