"""Runs of Gibbs sampling: estimates and errors beside the exact answer, and what is never called converged."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayes_engine.errors import ImpossibleEvidence, ParameterError
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference import irreducibility
from bayes_engine.inference.gibbs import GibbsRun, GibbsSettings, autocorrelation, gelman_rubin, gibbs, updates
from bayes_engine.inference.gibbs_kernel import compile_gibbs, conditional, gibbs_step, start
from bayes_engine.inference.irreducibility import tied_blocks
from bayes_engine.table.schema import Variable
from tests.conftest import crossed
from tests.stuck_network import stuck_network


def split_rhat(draws: np.ndarray) -> float:
    """R̂ of the half chains (Gelman et al., BDA3, §11.4) from all the draws (T, C)."""
    half = len(draws) // 2
    halves = np.concatenate([draws[:half], draws[len(draws) - half :]], axis=1).astype(float)
    return float(gelman_rubin(halves.mean(axis=0), (halves - halves[0]).var(axis=0, ddof=1), half))


def asia() -> Network:
    """The chest clinic of Lauritzen & Spiegelhalter 1988; 'either' is lung ∨ tub."""
    v = {
        name: Variable(name, "categorical", ("no", "yes"))
        for name in ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    }

    def table(name: str, above: tuple[str, ...], yes: object) -> CPT:
        p = np.array(yes, dtype=float)
        return CPT(v[name], [v[a] for a in above], np.stack([1 - p, p], axis=-1))

    return Network(
        [
            table("asia", (), 0.01),
            table("tub", ("asia",), [0.01, 0.05]),
            table("smoke", (), 0.5),
            table("lung", ("smoke",), [0.01, 0.1]),
            table("bronc", ("smoke",), [0.3, 0.6]),
            table("either", ("lung", "tub"), [[0, 1], [1, 1]]),
            table("xray", ("either",), [0.05, 0.98]),
            table("dysp", ("bronc", "either"), [[0.1, 0.7], [0.8, 0.9]]),
        ]
    )


def states(net: Network, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All rows that agree with the evidence, and P(row | e)."""
    rows = np.array(list(itertools.product(*map(range, net.sizes))))
    rows = rows[((e == HIDDEN) | (rows == e)).all(axis=1)]
    p = np.exp(net.log_joint(rows))
    return rows, p / p.sum()


def exactly(net: Network, e: np.ndarray, q: np.ndarray) -> float:
    rows, p = states(net, e)
    return float(p[((q == HIDDEN) | (rows == q)).all(axis=1)].sum())


def close(run: GibbsRun, net: Network, e: np.ndarray) -> bool:
    """All marginals within four of their Monte-Carlo errors."""
    rows, p = states(net, e)
    exact = [np.bincount(rows[:, j], p, s) for j, s in enumerate(net.sizes)]
    return all(
        (np.abs(a - b) <= 4 * err + 1e-12).all() for a, b, err in zip(run.marginals, exact, run.mc_error, strict=True)
    )


@pytest.mark.slow
def test_asia_with_blocks_is_right_and_converged() -> None:
    net = asia()
    e = net.places({"asia": "yes", "dysp": "yes"})
    both = net.places({"lung": "yes", "bronc": "yes"})
    run = gibbs(
        net, e, rng=np.random.default_rng(0), settings=GibbsSettings(chains=40, sweeps=4000, blocks="tied"), event=both
    )
    assert run.status == "converged", str(run.message)
    assert close(run, net, e)
    assert run.event is not None
    assert abs(run.event.estimate - exactly(net, e, both)) <= 4 * run.event.mc_error
    assert run["asia"].tolist() == [0.0, 1.0] and run.mc_error[0].tolist() == [0.0, 0.0]
    assert math.isnan(run.rhat[0]) and (run.rhat[1:7] < 1.01).all() and (run.ess[1:7] >= 400).all()


@pytest.mark.slow
def test_NF39_asia_one_node_at_a_time_is_never_converged() -> None:
    """either = yes with lung = yes and tub = no cannot be left for either = no: two flips would be needed at once."""
    net = asia()
    e = net.places({"dysp": "yes"})
    run = gibbs(net, e, rng=np.random.default_rng(0), settings=GibbsSettings(chains=40, sweeps=2000))
    assert run.kernel.irreducibility.kind == "reducible"
    assert run.status == "cannot be ergodic"
    assert str(run.message).startswith(
        "zeros in the tables divide the possible states of 'tub', 'lung', 'either' into 2 "
    )
    assert tied_blocks(net, e) == (("lung", "either"), ("tub", "either"))
    assert sum(island.states for island in run.kernel.irreducibility.communicating_classes) == 4
    assert run.kernel.irreducibility.communicating_classes[1].example == {"tub": "no", "lung": "no", "either": "no"}


@pytest.mark.slow
def test_zeros_that_the_evidence_takes_away_do_no_harm() -> None:
    net = asia()
    given = net.places({"lung": "yes"})  # either is certain, tub free
    run = gibbs(net, given, rng=np.random.default_rng(1), settings=GibbsSettings(chains=40, sweeps=3000))
    assert run.kernel.irreducibility.kind == "connected" and run.status == "converged"
    assert run["either"].tolist() == [0.0, 1.0] and math.isnan(run.rhat[5])
    assert close(run, net, given)
    assert compile_gibbs(stuck_network(noise=0.1), np.full(3, HIDDEN)).irreducibility.kind == "positive"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scan", "begin"), crossed(["sequential", "textbook", "random"], ["weighted", "forward", "consistent"])
)
def test_every_form_comes_to_the_posterior(scan: str, begin: str) -> None:
    net = stuck_network(noise=0.2)
    e = net.places({"equal": "yes"})
    run = gibbs(
        net, e, rng=np.random.default_rng(4), settings=GibbsSettings(chains=100, sweeps=2000, scan=scan, begin=begin)
    )  # type: ignore[arg-type]
    assert run.status == "converged" and close(run, net, e)


@pytest.mark.slow
def test_the_textbooks_form() -> None:
    """Zhou's figure 7.5: one chain, no burn-in; n_q / T is a count, and its error comes from batches of time."""
    net = stuck_network(noise=0.3)
    e, q = net.places({"equal": "yes"}), net.places({"first": "heads", "second": "heads"})
    run = gibbs(
        net,
        e,
        rng=np.random.default_rng(0),
        settings=GibbsSettings(
            chains=1, sweeps=5000, burn_in=0, scan="textbook", begin="consistent", keep=5001, walkers=1
        ),
        event=q,
    )
    found = run.event
    assert (
        found is not None
        and run.status == "not yet"
        and "1 chain of 5000 sweeps cannot be compared" in str(run.message)
    )
    walked = run.walk[1:, 0]
    n_q = int(((walked == q) | (q == HIDDEN)).all(axis=1).sum())
    assert found.estimate == n_q / 5000 == found.draws.mean()
    assert abs(found.estimate - exactly(net, e, q)) <= 4 * found.mc_error
    shares = found.draws[:, 0].reshape(20, 250).mean(axis=1)
    assert found.mc_error == pytest.approx(shares.std(ddof=1) / math.sqrt(20), rel=1e-12)
    assert found.running[-1] == found.estimate and found.error[-1] == found.mc_error
    assert found.error[0] > 10 * found.error[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("chains", "sweeps"), [(4, 100), (25, 301), (64, 40)])
def test_what_is_counted_is_what_was_drawn(chains: int, sweeps: int) -> None:
    net = asia()
    e = net.places({"lung": "no", "dysp": "yes"})
    q = net.places({"bronc": "yes", "smoke": "yes"})
    run = gibbs(
        net,
        e,
        rng=np.random.default_rng(0),
        settings=GibbsSettings(chains=chains, sweeps=sweeps, keep=999, walkers=chains),
        event=q,
    )
    x = run.walk[1:]
    for j, size in enumerate(net.sizes):
        shares = np.array([(x[:, :, j] == s).mean() for s in range(size)])
        assert run.marginals[j] == pytest.approx(shares, abs=1e-12)
        if 0 < shares[1] < 1 and e[j] == HIDDEN and sweeps % 2 == 0:
            assert run.rhat[j] == pytest.approx(split_rhat(x[:, :, j]), rel=1e-9)
    found = run.event
    assert found is not None
    hit = ((x == q) | (q == HIDDEN)).all(axis=2)
    assert (found.draws == hit).all()
    assert found.running == pytest.approx(
        (hit.mean(axis=1).cumsum() / np.arange(1, sweeps + 1))[found.at - 1], abs=1e-12
    )
    assert found.autocorrelation == pytest.approx(autocorrelation(hit), abs=1e-12)
    if chains == 64:
        means = hit.mean(axis=0).reshape(32, 2).mean(axis=1)
        assert found.mc_error == pytest.approx(means.std(ddof=1) / math.sqrt(32), rel=1e-9)
        assert found.ess == pytest.approx(found.estimate * (1 - found.estimate) / found.mc_error**2, rel=1e-9)


@pytest.mark.slow
def test_the_error_is_the_spread_of_many_runs() -> None:
    net = stuck_network(noise=0.1)
    e = net.places({"equal": "yes"})
    runs = [
        gibbs(net, e, rng=np.random.default_rng(k), settings=GibbsSettings(chains=32, sweeps=100, burn_in=10))
        for k in range(40)
    ]
    spread = np.std([run["first"][1] for run in runs], ddof=1)
    stated = math.sqrt(np.mean([run.mc_error[0][1] ** 2 for run in runs]))
    assert spread == pytest.approx(stated, rel=0.3)


@pytest.mark.slow
def test_the_stuck_net_is_stuck_and_the_block_frees_it() -> None:
    net = stuck_network()
    e, heads = net.places({"equal": "yes"}), net.places({"first": "heads"})
    run = gibbs(net, e, rng=np.random.default_rng(0), settings=GibbsSettings(chains=8, begin="consistent"), event=heads)
    assert run.status == "cannot be ergodic" and run.event is not None
    assert (run.walk == run.walk[0]).all()  # no chain ever moves
    assert run.rhat[0] == math.inf and run.event.rhat == math.inf
    assert run.event.autocorrelation == pytest.approx(1.0)
    assert [island.example for island in run.kernel.irreducibility.communicating_classes] == [
        {"first": "tails", "second": "tails"},
        {"first": "heads", "second": "heads"},
    ]
    free = gibbs(
        net,
        e,
        rng=np.random.default_rng(0),
        settings=GibbsSettings(blocks=[("first", "second")], begin="consistent"),
        event=heads,
    )
    assert free.status == "converged" and free.kernel.irreducibility.kind == "connected"
    assert free.event is not None and abs(free.event.estimate - 0.7) <= 4 * free.event.mc_error


def test_NF39_chains_that_agree_are_still_not_converged_where_islands_part_them() -> None:
    net = stuck_network()
    e = net.places({"equal": "yes"})
    for seed in range(40):
        run = gibbs(
            net, e, rng=np.random.default_rng(seed), settings=GibbsSettings(chains=4, sweeps=50, begin="consistent")
        )
        assert run.status == "cannot be ergodic"
        if len(np.unique(run.walk[0, :, 0])) == 1:  # all on one island: no diagnostic of the draws could tell
            assert math.isnan(run.rhat[0])
            return
    pytest.fail("no seed started all chains on one island")


def test_NF40_slow_is_not_yet() -> None:
    net = stuck_network(noise=0.001)
    e = net.places({"equal": "yes"})
    run = gibbs(net, e, rng=np.random.default_rng(0), settings=GibbsSettings(chains=16, sweeps=300, begin="consistent"))
    assert run.kernel.irreducibility.kind == "positive" and run.status == "not yet"
    assert "the largest R̂ is" in str(run.message)
    few = gibbs(stuck_network(0.3), e, rng=np.random.default_rng(5), settings=GibbsSettings(chains=4, sweeps=60))
    assert few.status == "not yet"


def test_NF40_chains_that_all_stand_still_are_not_converged() -> None:
    """Without a zero, but next to stuck: where no draw differs from another, nothing tells how far the chains got."""
    net = stuck_network(noise=1e-9)
    e = net.places({"equal": "yes"})
    for seed in range(40):
        run = gibbs(
            net, e, rng=np.random.default_rng(seed), settings=GibbsSettings(chains=4, sweeps=500, begin="consistent")
        )
        if np.isnan(run.rhat).all():
            assert run.kernel.irreducibility.ergodic and run.status == "not yet"
            assert str(run.message).startswith("all draws of 'first', 'second' agree")
            return
    pytest.fail("no seed left all chains on one side")


def test_too_many_states_to_look_through_are_never_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(irreducibility, "ENUMERATED", 1)
    monkeypatch.setattr(irreducibility, "MERGED", 1)
    net = asia()
    run = gibbs(
        net, net.places({"lung": "yes"}), rng=np.random.default_rng(0), settings=GibbsSettings(chains=40, sweeps=2000)
    )
    assert run.status == "not shown ergodic"
    assert "too many to enumerate" in str(run.message)


def test_weighted_starts_take_the_bias_of_short_chains_away() -> None:
    """Rare evidence, hardly any sweeps: from the prior the chains are still where they began."""
    net = stuck_network(noise=0.002)
    e = net.places({"equal": "yes"})
    off = {}
    for how in ("weighted", "consistent"):
        run = gibbs(
            net, e, rng=np.random.default_rng(0), settings=GibbsSettings(chains=2000, sweeps=2, burn_in=0, begin=how)
        )  # type: ignore[arg-type]
        off[how] = abs(run["first"][1] - 0.7)
    assert off["weighted"] < 0.03 < 0.15 < off["consistent"]


def test_what_is_too_large_to_write_out_is_decided_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve days of weather that never jumps from one end to the other: 3¹² states, connected. A copy of one day holds
    it fast, until both are drawn together."""
    days = [Variable(f"day{k}", "categorical", ("rain", "cloud", "sun")) for k in range(12)]
    slowly = [[0.5, 0.5, 0.0], [0.2, 0.6, 0.2], [0.0, 0.5, 0.5]]
    cpts = [CPT(days[0], (), [0.3, 0.3, 0.4]), *(CPT(b, (a,), slowly) for a, b in itertools.pairwise(days))]
    copy = CPT(Variable("copy", "categorical", ("rain", "cloud", "sun")), (days[4],), np.eye(3))
    monkeypatch.setattr(irreducibility, "ENUMERATED", 100)
    free, held = Network(cpts), Network([*cpts, copy])
    assert compile_gibbs(free, np.full(12, HIDDEN)).irreducibility.kind == "connected"
    assert compile_gibbs(held, np.full(13, HIDDEN)).irreducibility.kind == "reducible"
    assert ("day4", "copy") in tied_blocks(held, np.full(13, HIDDEN))
    assert compile_gibbs(held, np.full(13, HIDDEN), blocks="tied").irreducibility.kind == "connected"
    assert compile_gibbs(held, held.places({"copy": "sun"})).irreducibility.kind == "connected"


def test_burn_in_is_not_counted() -> None:
    net = stuck_network(noise=0.2)
    e = net.places({"equal": "yes"})
    kernel = compile_gibbs(net, e)
    rng = np.random.default_rng(3)
    state = start(kernel, rng, 8, "consistent")
    for _ in range(7):
        state, _ = gibbs_step(rng, state, kernel)
    assert state.sweep == 7
    run = gibbs(
        net,
        e,
        rng=np.random.default_rng(3),
        settings=GibbsSettings(chains=8, sweeps=5, burn_in=7, begin="consistent", walkers=8),
    )
    assert (run.walk[0] == kernel.places(state)).all()


def test_a_step_changes_nothing_it_was_given() -> None:
    net = stuck_network(noise=0.2)
    kernel = compile_gibbs(net, net.places({"equal": "yes"}))
    state = start(kernel, np.random.default_rng(0), 50)
    before = state.x.copy()
    (one, _), (other, _) = (gibbs_step(np.random.default_rng(1), state, kernel) for _ in range(2))
    assert (state.x == before).all() and (one.x == other.x).all() and (one.x != before).any()


def test_an_event_may_hold_or_contradict_the_evidence() -> None:
    net = stuck_network(noise=0.2)
    e = net.places({"equal": "yes"})
    sure = gibbs(net, e, rng=np.random.default_rng(0), settings=GibbsSettings(sweeps=50), event=e).event
    never = gibbs(
        net,
        e,
        rng=np.random.default_rng(0),
        settings=GibbsSettings(sweeps=50),
        event=net.places({"equal": "no", "first": "heads"}),
    ).event
    assert sure is not None and sure.estimate == 1.0 and sure.mc_error == 0.0
    assert never is not None and never.estimate == 0.0


def test_all_nodes_given() -> None:
    net = stuck_network(noise=0.2)
    run = gibbs(net, np.array([1, 1, 1]), rng=np.random.default_rng(0), settings=GibbsSettings(sweeps=10))
    assert [p.tolist() for p in run.marginals] == [[0.0, 1.0]] * 3
    assert run.kernel.updates == 0 and run.walk.shape == (11, 4, 3)
    assert run.status == "converged" and str(run.message).endswith("nothing is left to draw")
    assert (
        gibbs(
            net, np.full(3, HIDDEN), rng=np.random.default_rng(0), settings=GibbsSettings(chains=5000, sweeps=3)
        ).status
        == "not yet"
    )


def test_slow_motion_is_the_textbooks_loop() -> None:
    net = asia()
    e = net.places({"dysp": "yes", "either": "yes"})
    kernel = compile_gibbs(net, e)
    begin = kernel.places(start(kernel, np.random.default_rng(0), 1, "consistent"))[0]
    found = updates(kernel, np.random.default_rng(1), begin, 13)
    assert [u.node for u in found] == [*("asia", "tub", "smoke", "lung", "bronc", "xray") * 2, "asia"]
    assert [u.sweep for u in found] == [0] * 6 + [1] * 6 + [2]
    now = begin
    for u in found:
        j = net.position[u.node]
        assert u.before == now[j] and u.after == u.places[j]
        assert u.p == pytest.approx(conditional(net, j, now[None])[0])
        assert (np.delete(u.places, j) == np.delete(now, j)).all() and u.p[u.after] > 0
        now = u.places


def test_wrong_arguments_are_named() -> None:
    net, rng = asia(), np.random.default_rng(0)
    e = net.places({"dysp": "yes"})
    with pytest.raises(ParameterError, match="'dysp' is in the evidence; a block holds hidden nodes only"):
        compile_gibbs(net, e, blocks=[("dysp", "lung")])
    with pytest.raises(ParameterError, match="the network has no node 'cough'"):
        compile_gibbs(net, e, blocks=[("cough", "lung")])
    with pytest.raises(ParameterError, match="sweeps=0; it must be a whole number of 1 and more"):
        gibbs(net, e, rng=rng, settings=GibbsSettings(sweeps=0, burn_in=0))
    with pytest.raises(ParameterError, match="keep=1; it must be a whole number of 2 and more"):
        gibbs(net, e, rng=rng, settings=GibbsSettings(keep=1))
    with pytest.raises(ParameterError, match="chains=0; it must be a whole number of 1 and more"):
        gibbs(net, e, rng=rng, settings=GibbsSettings(chains=0))
    with pytest.raises(ImpossibleEvidence, match="the evidence is impossible: no state of 'tub' agrees with it"):
        gibbs(net, net.places({"lung": "yes", "either": "no"}), rng=rng)


def test_a_block_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayes_engine.inference import gibbs_kernel

    monkeypatch.setattr(gibbs_kernel, "LARGEST", 100)
    net = asia()
    with pytest.raises(ParameterError, match="drawing 'tub', 'lung', 'either' together needs a table of 256 cells"):
        compile_gibbs(net, np.full(8, HIDDEN), blocks=[("lung", "tub", "either")])


def test_sweeps_are_counted() -> None:
    net = asia()
    kernel, rng = compile_gibbs(net, np.full(len(net.names), HIDDEN)), np.random.default_rng(0)
    state = start(kernel, rng, 8)
    for sweep in (state.sweep + 1, state.sweep + 2):
        state, _info = gibbs_step(rng, state, kernel)
        assert state.sweep == sweep


@pytest.mark.parametrize(("chains", "sweeps"), [(2, 400), (8, 3)])
def test_too_few_chains_or_sweeps_are_not_judged(chains: int, sweeps: int) -> None:
    net = asia()
    settings = GibbsSettings(chains=chains, sweeps=sweeps)
    evidence = np.array([0 if name in ("either", "lung", "tub") else HIDDEN for name in net.names])
    run = gibbs(net, evidence, rng=np.random.default_rng(0), settings=settings)
    assert run.status == "not yet"
    assert f"{chains} chain" in str(run.message) and "cannot be compared" in str(run.message)


def test_four_chains_are_enough_to_be_judged() -> None:
    net = asia()
    nothing = np.full(len(net.names), HIDDEN)
    run = gibbs(net, nothing, rng=np.random.default_rng(0), settings=GibbsSettings(chains=4, sweeps=4))
    assert "cannot be compared" not in str(run.message)
