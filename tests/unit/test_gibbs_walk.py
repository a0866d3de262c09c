"""What the tab *Gibbs* shows: against enumeration, against the engine's own runs, and against the story's numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayes_engine.datasets import load_network
from bayes_engine.errors import ImpossibleEvidence
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.forward_sampling import likelihood_weighting
from bayes_engine.inference.gibbs import GibbsSettings
from bayes_engine.inference.gibbs_kernel import compile_gibbs, conditional
from bayes_engine.workbench.derivation.gibbs_walk import (
    communicating_classes,
    compare_samplers,
    exact,
    has_zeros,
    line_of,
    row_of,
    shares,
    softened,
    walk,
    weighted,
)
from bayes_engine.workbench.figures.gibbs import estimates, memory, traces
from tests.stuck_network import stuck_network


def by_hand(network: Network, evidence: np.ndarray, event: np.ndarray) -> float:
    states = np.array(list(itertools.product(*(range(s) for s in network.sizes))))
    p = np.exp(network.log_joint(states))
    given = ((states == evidence) | (evidence == HIDDEN)).all(axis=1)
    held = ((states == event) | (event == HIDDEN)).all(axis=1)
    return float(p[given & held].sum() / p[given].sum())


@pytest.mark.parametrize("event", [{"lung": "yes"}, {"lung": "yes", "bronc": "no"}, {"dysp": "yes"}, {"dysp": "no"}])
def test_the_exact_answer_is_the_sum_over_all_states(event: dict[str, str]) -> None:
    network = load_network("asia").network
    evidence = network.places({"dysp": "yes", "xray": "yes"})
    assert exact(network, evidence, network.places(event)) == pytest.approx(
        by_hand(network, evidence, network.places(event)), abs=1e-12
    )


def test_impossible_evidence_is_refused() -> None:
    network = load_network("asia").network
    with pytest.raises(ImpossibleEvidence):
        exact(network, network.places({"lung": "yes", "either": "no"}), network.places({"tub": "yes"}))


@pytest.mark.parametrize("noise", [0.001, 0.1, 0.3])
def test_noise_replaces_zeros_and_nothing_else(noise: float) -> None:
    network = load_network("asia").network
    soft = softened(network, noise)
    assert has_zeros(network) and not has_zeros(soft)
    for before, after in zip(network.cpts, soft.cpts, strict=True):
        np.testing.assert_allclose(after.p.sum(axis=-1), 1.0, atol=1e-12)
        if (before.p > 0).all():
            assert (after.p == before.p).all()
    np.testing.assert_allclose(soft["either"].p[0, 0], [1 - noise, noise])
    assert softened(network, 0.0) is network


@pytest.mark.parametrize("name", ["asia", "stuck", "burglary", "sprinkler", "watermelon"])
def test_the_walk_is_the_beginning_of_the_textbooks_run(name: str) -> None:
    stored = load_network(name)
    network, evidence = stored.network, stored.network.places(dict(stored.info.evidence))
    event = row_of(network, [(network.position[stored.info.target], 0)])
    film = walk(network, evidence, event, 40, seed=3)
    run = compare_samplers(
        network, evidence, event, None, settings=GibbsSettings(sweeps=200, chains=4, burn_in=0), seed=3
    ).textbook
    assert run.event is not None and (film.hits == run.event.draws[: film.sweeps, 0]).all()
    now = film.start.copy()
    for update in film.updates:  # every bar that is shown is the engine's conditional, at the state before
        j = network.position[update.node]
        np.testing.assert_allclose(update.p, conditional(network, j, now[None])[0], atol=1e-12)
        assert update.before == now[j]
        now[j] = update.after
        assert (now == update.places).all() and update.p[update.after] > 0
    assert ((film.start == evidence) | (evidence == HIDDEN)).all()


def test_likelihood_weighting_ends_where_the_engine_ends() -> None:
    network = load_network("burglary").network
    evidence, event = network.places({"john": "yes", "mary": "yes"}), network.places({"burglary": "yes"})
    found = weighted(network, evidence, event, 20_000, np.random.default_rng(5))
    known = likelihood_weighting(network, evidence, 20_000, np.random.default_rng(5))
    level = network["burglary"].variable.levels.index("yes")
    assert found.estimate == pytest.approx(float(known["burglary"][level]), abs=1e-9)
    assert found.error == pytest.approx(float(known.mc_error[network.position["burglary"]][level]), abs=1e-9)
    assert found.ess == pytest.approx(known.ess, rel=1e-9)


def test_asia_has_two_islands_whose_mean_is_the_exact_answer() -> None:
    stored = load_network("asia")
    network, evidence = stored.network, stored.network.places({"dysp": "yes"})
    event = network.places({"lung": "yes"})
    found = communicating_classes(compile_gibbs(network, evidence, scan="textbook"), event)
    assert found is not None and found.nodes == ("tub", "lung", "either") and found.alone
    assert sorted(np.bincount(found.class_of).tolist()) == [1, 3] and found.joined == ()
    assert found.p.sum() == pytest.approx(1.0, abs=1e-12)
    assert float(found.weight @ found.answer) == pytest.approx(by_hand(network, evidence, event), abs=1e-12)


def test_an_islands_answer_may_ask_for_nodes_outside_it() -> None:
    network = load_network("asia").network
    evidence, event = network.places({"dysp": "yes"}), network.places({"bronc": "yes", "lung": "no"})
    found = communicating_classes(compile_gibbs(network, evidence), event)
    assert found is not None
    assert float(found.weight @ found.answer) == pytest.approx(by_hand(network, evidence, event), abs=1e-12)


@pytest.mark.slow
def test_a_stuck_chain_stays_and_a_block_sets_it_free() -> None:
    network = stuck_network()
    evidence, event = network.places({"equal": "yes"}), network.places({"first": "heads"})
    stuck = compare_samplers(
        network, evidence, event, 0.7, settings=GibbsSettings(sweeps=300, chains=16, blocks=None), seed=1
    )
    free = compare_samplers(
        network, evidence, event, 0.7, settings=GibbsSettings(sweeps=300, chains=16, blocks="tied"), seed=1
    )
    assert stuck.textbook.event is not None and stuck.textbook.event.estimate in (0.0, 1.0)
    assert stuck.improved.status == stuck.textbook.status == "cannot be ergodic"
    assert free.improved.event is not None and free.improved.status == "converged"
    assert abs(free.improved.event.estimate - 0.7) < 4 * free.improved.event.mc_error
    assert stuck.improved.event is not None
    plain = shares(stuck.improved.event.draws)
    assert set(plain.ravel().tolist()) <= {0.0, 1.0} and (plain == plain[:, :1]).all()
    np.testing.assert_allclose(stuck.improved.event.autocorrelation, 1.0)
    assert len(memory(stuck.textbook, stuck.improved).data) == 1  # the one chain saw no change: it has no line
    assert len(traces(stuck.textbook, stuck.improved).data[0].z) == 9


@pytest.mark.slow
def test_less_noise_means_slower_mixing() -> None:
    evidence, event = (stuck_network().places(v) for v in ({"equal": "yes"}, {"first": "heads"}))
    memories = []
    for noise in (0.2, 0.02):
        found = compare_samplers(
            softened(stuck_network(), noise), evidence, event, 0.7, settings=GibbsSettings(sweeps=500), seed=2
        ).improved
        assert found.event is not None
        memories.append((found.event.autocorrelation[10], -found.event.ess, found.event.rhat))
    assert all(quick < slow for quick, slow in zip(*memories, strict=True))


def test_the_figure_ends_at_the_estimates() -> None:
    network = load_network("sprinkler").network
    target = load_network("sprinkler").info.target
    evidence, event = row_of(network, []), row_of(network, [(network.position[target], 0)])
    truth = exact(network, evidence, event)
    found = compare_samplers(network, evidence, event, truth, settings=GibbsSettings(sweeps=200, chains=8), seed=4)
    lines = [trace for trace in estimates(found).data if trace.mode == "lines" and trace.showlegend is None]
    assert found.textbook.event is not None and found.improved.event is not None
    ends = [trace.y[-1] for trace in lines]
    assert ends == [found.weighted.estimate, found.textbook.event.estimate, found.improved.event.estimate]
    assert line_of(found.improved).states[-1] == 200 * 8
    assert estimates(found).layout.shapes[0].y0 == pytest.approx(truth)
