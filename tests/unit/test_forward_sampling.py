"""Forward samples and likelihood weighting, against the enumerated joint and plain sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayes_engine.errors import ParameterError
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference.forward_sampling import (
    BLOCK,
    likelihood_weighting,
    resampled,
    sample,
    thresholds,
    weighted_sample,
)
from bayes_engine.table.schema import Variable


def sprinkler() -> Network:
    """Cloudy → sprinkler, rain → wet; a node stands before its parents, and one has three levels."""
    c, s, w = (Variable(name, "categorical", ("no", "yes")) for name in ("cloudy", "sprinkler", "wet"))
    r = Variable("rain", "categorical", ("none", "some", "much"))
    return Network(
        [
            CPT(w, (s, r), [[[1.0, 0.0], [0.2, 0.8], [0.05, 0.95]], [[0.1, 0.9], [0.05, 0.95], [0.01, 0.99]]]),
            CPT(c, (), [0.5, 0.5]),
            CPT(s, (c,), [[0.5, 0.5], [0.9, 0.1]]),
            CPT(r, (c,), [[0.8, 0.15, 0.05], [0.2, 0.5, 0.3]]),
        ]
    )


def exact(net: Network, e: np.ndarray) -> tuple[list[np.ndarray], float]:
    """The marginals and P(e) by writing out all states."""
    states = np.array(list(itertools.product(*map(range, net.sizes))))
    states = states[((e == HIDDEN) | (states == e)).all(axis=1)]
    p = np.exp(net.log_joint(states))
    return [np.bincount(states[:, j], p, s) / p.sum() for j, s in enumerate(net.sizes)], float(p.sum())


def test_samples_follow_the_joint() -> None:
    net, n = sprinkler(), 200_000
    rows = sample(net, n, np.random.default_rng(0))
    assert rows.shape == (n, 4) and rows.dtype == np.intp
    states = np.array(list(itertools.product(*map(range, net.sizes))))
    p = np.exp(net.log_joint(states))
    seen = np.bincount(np.ravel_multi_index(tuple(rows.T), net.sizes), minlength=len(p)) / n
    assert (np.abs(seen - p) <= 5 * np.sqrt(p * (1 - p) / n)).all()
    assert (seen[p == 0] == 0).all() and (p == 0).any()


def test_the_same_seed_gives_the_same_rows() -> None:
    one, other = (sample(sprinkler(), 50_000, np.random.default_rng(3)) for _ in range(2))
    assert (one == other).all()


def test_a_weight_is_the_probability_of_the_evidence_given_the_parents() -> None:
    net = sprinkler()
    e = net.places({"wet": "yes", "sprinkler": "no"})
    x, log_weight = weighted_sample(net, e, 500, np.random.default_rng(0))
    w, c, s, r = x.astype(int)
    assert (w == 1).all() and (s == 0).all()
    with np.errstate(divide="ignore"):
        wanted = np.log(net["wet"].p[s, r, w]) + np.log(net["sprinkler"].p[c, s])
    assert log_weight == pytest.approx(wanted, abs=1e-12)
    assert np.isneginf(log_weight).any()


def test_sums_over_blocks_are_sums_over_rows() -> None:
    net, n = sprinkler(), 2 * BLOCK + 100
    e = net.places({"wet": "yes"})
    found = likelihood_weighting(net, e, n, np.random.default_rng(0))
    x, log_weight = weighted_sample(net, e, n, np.random.default_rng(0))
    w = np.exp(log_weight)
    assert found.log_evidence == pytest.approx(math.log(w.mean()), rel=1e-12)
    assert found.log_evidence_error == pytest.approx(w.std(ddof=1) / math.sqrt(n) / w.mean(), rel=1e-9)
    assert found.ess == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-12)
    for j, size in enumerate(net.sizes):
        for s in range(size):
            p = (w * (x[j] == s)).sum() / w.sum()
            error = math.sqrt((w**2 * ((x[j] == s) - p) ** 2).sum()) / w.sum()
            assert found.marginals[j][s] == pytest.approx(p, abs=1e-12)
            assert found.mc_error[j][s] == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("given", [{"wet": "yes"}, {"wet": "yes", "sprinkler": "no"}, {"rain": "much"}, {}])
def test_likelihood_weighting_is_right_within_its_error(given: dict[str, str]) -> None:
    net = sprinkler()
    e = net.places(given)
    found = likelihood_weighting(net, e, 100_000, np.random.default_rng(1))
    wanted, p_e = exact(net, e)
    for p, error, q in zip(found.marginals, found.mc_error, wanted, strict=True):
        assert (np.abs(p - q) <= 4 * error + 1e-12).all()
    assert abs(found.log_evidence - math.log(p_e)) <= 4 * found.log_evidence_error + 1e-12
    assert (found["rain"] == found.marginals[3]).all()


def test_without_evidence_all_rows_weigh_alike() -> None:
    found = likelihood_weighting(sprinkler(), np.full(4, HIDDEN), 1000, np.random.default_rng(0))
    assert found.ess == pytest.approx(1000) and found.log_evidence == pytest.approx(0.0, abs=1e-12)
    assert found.log_evidence_error == pytest.approx(0.0, abs=1e-7)


@pytest.mark.slow
def test_weights_may_be_tiny() -> None:
    """A thousand findings of 1e-3 each: their product is below the smallest float."""
    switch = Variable("switch", "categorical", ("off", "on"))
    lamps = [Variable(f"lamp{k}", "categorical", ("dark", "lit")) for k in range(1000)]
    rows = [[0.999, 0.001], [0.9989, 0.0011]]
    net = Network([CPT(switch, (), [0.5, 0.5]), *(CPT(lamp, (switch,), rows) for lamp in lamps)])
    e = net.places({lamp.name: "lit" for lamp in lamps})
    found = likelihood_weighting(net, e, 1000, np.random.default_rng(0))
    assert found.log_evidence == pytest.approx(1000 * math.log(0.0011) + math.log(0.5), abs=0.1)
    assert found["switch"][1] == pytest.approx(1.0, abs=1e-12)


def test_impossible_evidence_is_said() -> None:
    net = sprinkler()
    e = net.places({"wet": "yes", "sprinkler": "no", "rain": "none"})
    with pytest.raises(ParameterError, match="none of 100 samples agrees with the evidence: it is impossible, or too"):
        likelihood_weighting(net, e, 100, np.random.default_rng(0))


def test_wrong_arguments_are_named() -> None:
    net, rng = sprinkler(), np.random.default_rng(0)
    with pytest.raises(ParameterError, match="n=0; it must be a whole number of 1 and more"):
        sample(net, 0, rng)
    with pytest.raises(ParameterError, match=r"the evidence has shape \(2,\); the network has 4 nodes"):
        likelihood_weighting(net, np.array([0, 1]), 10, rng)
    with pytest.raises(ParameterError, match="the evidence puts 'rain' at place 3; it has 3 levels"):
        likelihood_weighting(net, np.array([0, 0, 0, 3]), 10, rng)


def test_resampling_keeps_every_row_its_share() -> None:
    rng = np.random.default_rng(0)
    w = rng.random(30) ** 4
    w[3] = 0.0
    n = 1000
    for _ in range(20):
        kept = np.bincount(
            resampled(rng, np.log(np.maximum(w, 0), where=w > 0, out=np.full(30, -np.inf)), n), minlength=30
        )
        assert (np.abs(kept - n * w / w.sum()) <= 1 + 1e-9).all()  # systematic: floor or ceiling of the share
        assert kept[3] == 0


def test_a_level_keeps_its_probability_to_the_last_bit_and_a_rare_one_is_a_single_draw() -> None:
    rare, half = thresholds(np.array([[1e-12, 1.0 - 1e-12], [0.5, 0.5]]))[0]
    assert (rare, half) == (1, 2**30)
