"""Brute force: a sweep of Gibbs as a matrix over all states. It leaves P(hidden | e) as it is, exactly, not by luck."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference import gibbs_kernel, irreducibility
from bayes_engine.inference.forward_sampling import thresholds
from bayes_engine.inference.gibbs import GibbsSettings, gibbs
from bayes_engine.inference.gibbs_kernel import (
    GibbsBlock,
    TransitionKernel,
    compile_gibbs,
    conditional,
    gibbs_step,
    start,
)
from bayes_engine.inference.irreducibility import tied_blocks
from bayes_engine.table.schema import Variable
from tests.conftest import every_other, slowly
from tests.stuck_network import stuck_network

SIZES = (2, 3, 2, 2, 3, 2)


def network(seed: int, zeros: float = 0.0, sizes: tuple[int, ...] = SIZES) -> Network:
    """Nodes with up to three parents before them, and a share of zeros in their tables."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{j}", "categorical", tuple(range(s))) for j, s in enumerate(sizes)]
    cpts = []
    for j, v in enumerate(variables):
        above = [variables[i] for i in sorted(rng.permutation(j)[: rng.integers(0, 4)])]
        p = rng.dirichlet(np.ones(sizes[j]), size=[len(a.levels) for a in above])
        p[rng.random(p.shape) < zeros] = 0.0
        p[p.sum(axis=-1) == 0, 0] = 1.0
        cpts.append(CPT(v, above, p / p.sum(axis=-1, keepdims=True)))
    order = rng.permutation(len(cpts))  # nodes need not stand after their parents
    return Network([cpts[k] for k in order])


def evidence(net: Network, seed: int, given: int = 2) -> np.ndarray:
    """A row that is possible, all but `given` of its nodes hidden."""
    rng = np.random.default_rng(seed + 100)
    states = every(net, np.full(len(net.cpts), HIDDEN))
    states = states[np.isfinite(net.log_joint(states))]
    row = states[rng.integers(len(states))].copy()
    row[rng.permutation(len(row))[given:]] = HIDDEN
    return row


def every(net: Network, e: np.ndarray) -> np.ndarray:
    """All states that agree with the evidence, the possible and the impossible ones."""
    return np.array(
        list(itertools.product(*(range(s) if v == HIDDEN else [v] for s, v in zip(net.sizes, e, strict=True))))
    )


def posterior(net: Network, states: np.ndarray) -> np.ndarray:
    joint = np.exp(net.log_joint(states))
    return joint / joint.sum()


def matrix(net: Network, unit: GibbsBlock, states: np.ndarray) -> np.ndarray:
    """(n, n) how a draw of the unit leads from state to state, from the unit's own tables."""
    found = np.zeros((len(states), len(states)))
    at = {tuple(row): k for k, row in enumerate(states.tolist())}
    for k, row in enumerate(states):
        for drawn in itertools.product(*(range(net.sizes[m]) for m in unit.members)):
            p, new = 1.0, row.copy()
            for m, level, table in zip(unit.members, drawn, unit.tables, strict=True):
                done = unit.members[: unit.members.index(m)]
                code = 0
                for j in (*unit.blanket, *done):
                    code = code * net.sizes[j] + int(new[j])
                p *= table[code, level]
                new[m] = level
            found[k, at[tuple(new.tolist())]] += p
    return found


def sweep(kernel: TransitionKernel, states: np.ndarray) -> np.ndarray:
    """A sweep of units in their order; of the random scan, one draw."""
    each = [matrix(kernel.network, unit, states) for unit in kernel.units]
    if kernel.scan == "random":
        return np.mean(each, axis=0)
    whole = np.eye(len(states))
    for one in each:
        whole = whole @ one
    return whole


@pytest.mark.parametrize("scan", gibbs_kernel.SCANS)
@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize(("seed", "zeros"), [(0, 0.0), (1, 0.0), (2, 0.3), (3, 0.3)])
def test_a_sweep_leaves_the_posterior_as_it_is(scan: gibbs_kernel.Scan, block: bool, seed: int, zeros: float) -> None:
    net = network(seed, zeros)
    e = evidence(net, seed)
    hidden = [name for name, place in zip(net.names, e, strict=True) if place == HIDDEN]
    blocks = [hidden[:2], hidden[1:3]] if block else None  # they overlap
    kernel = compile_gibbs(net, e, scan=scan, blocks=blocks)
    states = every(net, e)
    pi = posterior(net, states)
    step = sweep(kernel, states)
    assert step[pi > 0].sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert pi @ step == pytest.approx(pi, abs=1e-14)
    if scan == "random":
        flow = pi[:, None] * step
        assert flow == pytest.approx(flow.T, abs=1e-14)  # detailed balance


@pytest.mark.parametrize("scan", gibbs_kernel.SCANS)
def test_the_right_answer_is_the_only_one_that_stays(scan: gibbs_kernel.Scan) -> None:
    net = network(5)
    e = evidence(net, 5)
    states = every(net, e)
    step = np.linalg.matrix_power(sweep(compile_gibbs(net, e, scan=scan), states), 5000)
    assert step == pytest.approx(np.tile(posterior(net, states), (len(states), 1)), abs=1e-9)


@pytest.mark.parametrize(("seed", "zeros"), [(0, 0.0), (1, 0.3), (2, 0.3), (3, 0.0)])
def test_tables_are_the_products_of_the_network(seed: int, zeros: float) -> None:
    net = network(seed, zeros)
    e = evidence(net, seed)
    states = every(net, e)
    states = states[np.isfinite(net.log_joint(states))]
    for unit in compile_gibbs(net, e).units:
        (j,) = unit.members
        code = np.zeros(len(states), dtype=int)
        for k in unit.blanket:
            code = code * net.sizes[k] + states[:, k]
        slow = conditional(net, j, states)
        joint = np.stack(
            [np.exp(net.log_joint(np.where(np.arange(len(e)) == j, s, states))) for s in range(net.sizes[j])]
        )
        assert unit.tables[0][code] == pytest.approx(slow, abs=1e-14)
        assert slow == pytest.approx((joint / joint.sum(axis=0)).T, abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_drawing_from_tables_is_drawing_from_products(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net = network(seed, 0.2 * (seed % 2))
    e = evidence(net, seed)
    fast = compile_gibbs(net, e, scan="textbook")
    monkeypatch.setattr(gibbs_kernel, "LARGEST", 1)
    slow = compile_gibbs(net, e, scan="textbook")
    assert all(unit.tables for unit in fast.units) and not any(unit.tables for unit in slow.units)
    state = start(fast, np.random.default_rng(seed), 500, "consistent")
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    a = b = state
    for _ in range(10):
        (a, _), (b, _) = gibbs_step(one, a, fast), gibbs_step(other, b, slow)
        assert (a.x == b.x).all()
    assert (a.x != state.x).any()


def test_the_kernel_draws_what_the_matrix_says() -> None:
    """The whole way, strides, colours and blocks included: where 200,000 chains are a sweep after one state."""
    net = network(7)
    e = evidence(net, 7)
    hidden = [name for name, place in zip(net.names, e, strict=True) if place == HIDDEN]
    kernel = compile_gibbs(net, e, blocks=[hidden[:2]])
    states = every(net, e)
    chains = 200_000
    begin = start(kernel, np.random.default_rng(0), 1, "consistent")
    many = begin._replace(x=np.repeat(begin.x, chains, axis=1))
    after, info = gibbs_step(np.random.default_rng(1), many, kernel)
    number = {tuple(row): k for k, row in enumerate(states.tolist())}
    codes = np.array([number[tuple(row)] for row in kernel.places(after).tolist()])
    seen = np.bincount(codes, minlength=len(states)) / chains
    wanted = sweep(kernel, states)[number[tuple(kernel.places(begin)[0].tolist())]]
    assert (np.abs(seen - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / chains) + 1e-12).all()
    assert info.updates == chains * len(hidden)
    assert info.changed == np.count_nonzero(after.x != many.x)


def test_thresholds_keep_probabilities_to_31_bits() -> None:
    p = np.random.default_rng(0).dirichlet(np.full(5, 0.05), size=2000)
    p[p < 1e-3] = 0.0
    p[:50, 0] = 1e-15  # never rounded to nothing
    p /= p.sum(axis=1, keepdims=True)
    cut = np.vstack([np.zeros(len(p)), thresholds(p).astype(float), np.full(len(p), 2.0**31)])
    drawn = np.diff(cut, axis=0).T / 2.0**31
    assert np.abs(drawn - p).max() < 5 * 2.0**-31
    assert ((drawn > 0) == (p > 0)).all()


def is_connected(kernel: TransitionKernel) -> bool:
    """Whether the matrix of a sweep leads from every possible state to every other."""
    net = kernel.network
    states = every(net, kernel.evidence)
    inside = possible_at(states[np.isfinite(net.log_joint(states))], states)
    step = sweep(kernel, states)[np.ix_(inside, inside)] > 0
    return bool(connected_components(step, connection="strong")[0] == 1)


@pytest.mark.parametrize("seed", every_other(range(40)))
def test_islands_are_found_where_there_are_any(seed: int) -> None:
    net = network(seed, 0.35)
    e = evidence(net, seed, given=seed % 3)
    kernel = compile_gibbs(net, e)
    connected = is_connected(kernel)
    assert kernel.irreducibility.ergodic == connected
    assert (kernel.irreducibility.kind == "reducible") != connected
    assert compile_gibbs(net, e, blocks="tied").irreducibility.ergodic
    if connected:
        assert tied_blocks(net, e) == ()


@pytest.mark.parametrize("block", [False, slowly(True)])
def test_nodes_in_nobodys_way_are_taken_out_rightly(block: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hardly any states to be written out: what is then decided is right, and some of each kind is."""
    decided = []
    for seed in range(60):
        net = network(seed, 0.3)
        e = evidence(net, seed, given=seed % 3)
        hidden = [name for name, place in zip(net.names, e, strict=True) if place == HIDDEN]
        blocks = [hidden[:2], hidden[1:3]] if block else None
        with monkeypatch.context() as patch:
            kernel = compile_gibbs(net, e, blocks=blocks)
            whole = kernel.irreducibility.kind
            patch.setattr(irreducibility, "ENUMERATED", 6)
            few = compile_gibbs(net, e, blocks=blocks).irreducibility.kind
        if few != "unknown":
            assert few == whole
            assert (few != "reducible") == is_connected(kernel)
            decided.append(few)
    assert {"reducible", "connected"} <= set(decided)


def possible_at(possible: np.ndarray, states: np.ndarray) -> np.ndarray:
    number = {tuple(row): k for k, row in enumerate(states.tolist())}
    return np.array([number[tuple(row)] for row in possible.tolist()])


def test_both_kinds_of_networks_were_among_them() -> None:
    kinds = set()
    for seed in range(40):
        net = network(seed, 0.35)
        kinds.add(compile_gibbs(net, evidence(net, seed, given=seed % 3)).irreducibility.kind)
    assert {"reducible", "connected"} <= kinds


def test_too_many_states_are_not_called_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    net = stuck_network()
    e = net.places({"equal": "yes"})
    monkeypatch.setattr(irreducibility, "ENUMERATED", 1)
    found = compile_gibbs(net, e).irreducibility
    assert found.kind == "unknown" and not found.ergodic and found.tied == ("first", "second")


@pytest.mark.parametrize("how", gibbs_kernel.STARTS)
@pytest.mark.parametrize("seed", range(4))
def test_chains_start_where_they_can(how: gibbs_kernel.Start, seed: int) -> None:
    net = network(seed, 0.3)
    e = evidence(net, seed)
    kernel = compile_gibbs(net, e)
    found = kernel.places(start(kernel, np.random.default_rng(seed), 300, how))
    assert np.isfinite(net.log_joint(found)).all()
    assert (found[:, e != HIDDEN] == e[e != HIDDEN]).all()


def test_a_consistent_start_is_uniform_over_the_possible_states() -> None:
    net = network(2, 0.3)
    e = evidence(net, 2)
    kernel = compile_gibbs(net, e)
    states = every(net, e)
    possible = states[np.isfinite(net.log_joint(states))]
    n = 100_000
    found = kernel.places(start(kernel, np.random.default_rng(0), n, "consistent"))
    at = np.bincount(possible_at(found, states), minlength=len(states))[possible_at(possible, states)] / n
    p = 1 / len(possible)
    assert at.sum() == 1.0
    assert np.abs(at - p).max() < 5 * np.sqrt(p * (1 - p) / n)


def test_a_start_without_enumeration_finds_possible_states(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network(2, 0.3)
    e = evidence(net, 2)
    monkeypatch.setattr(irreducibility, "ENUMERATED", 1)
    kernel = compile_gibbs(net, e)
    found = kernel.places(start(kernel, np.random.default_rng(0), 50, "consistent"))
    assert np.isfinite(net.log_joint(found)).all()


@pytest.mark.slow
@pytest.mark.parametrize("begin", gibbs_kernel.STARTS)
def test_errors_are_of_the_size_they_say(begin: gibbs_kernel.Start) -> None:
    """Over 75 networks the estimates miss the enumerated marginals by one Monte-Carlo error, in the mean square."""
    z = []
    for seed in range(75):
        net = network(seed)
        e = evidence(net, seed)
        states = every(net, e)
        pi = posterior(net, states)
        run = gibbs(
            net,
            e,
            rng=np.random.default_rng(seed),
            settings=GibbsSettings(chains=64, sweeps=400, burn_in=100, begin=begin),
        )
        for j in np.flatnonzero(e == HIDDEN):
            exact = np.bincount(states[:, j], pi, net.sizes[j])
            z += ((run.marginals[j] - exact) / run.mc_error[j])[1:].tolist()
    assert 0.85 < np.mean(np.square(z)) < 1.3
    assert np.abs(z).max() < 5.5
