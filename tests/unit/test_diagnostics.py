"""R̂, autocorrelation and Monte-Carlo error, against plain loops and chains whose answers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayes_engine.inference.gibbs import autocorrelation, autocovariance, error_of_groups, gelman_rubin


def autoregressive(rho: float, steps: int, chains: int, seed: int = 0) -> np.ndarray:
    """x_t = ρ x_{t−1} + ε, variance 1: its effective sample size is T (1 − ρ)/(1 + ρ)."""
    rng = np.random.default_rng(seed)
    x = np.empty((steps, chains))
    x[0] = rng.normal(size=chains)
    for t in range(1, steps):
        x[t] = rho * x[t - 1] + math.sqrt(1 - rho**2) * rng.normal(size=chains)
    return x


def test_rhat_by_hand() -> None:
    halves = np.array([[0.0, 1.0], [2.0, 5.0], [5.0, 6.0], [7.0, 8.0]])
    between = sum((m - 4.25) ** 2 for m in (0.5, 3.5, 5.5, 7.5)) / 3
    within = (0.5 + 4.5 + 0.5 + 0.5) / 4
    found = gelman_rubin(halves.mean(axis=1), halves.var(axis=1, ddof=1), 2)
    assert found == pytest.approx(math.sqrt(0.5 + between / within), rel=1e-14)
    stuck = np.array([0.0, 1.0, 1.0, 0.0])
    assert gelman_rubin(stuck, np.zeros(4), 100) == math.inf and np.isnan(gelman_rubin(np.ones(4), np.zeros(4), 100))


def test_autocovariance_is_the_sum_of_products() -> None:
    x = np.random.default_rng(1).normal(size=(13, 3)).cumsum(axis=0)
    c = x - x.mean(axis=0)
    slow = [[(c[: 13 - k, j] * c[k:, j]).sum() / 13 for j in range(3)] for k in range(13)]
    assert autocovariance(x) == pytest.approx(np.array(slow), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, -0.4])
def test_autocorrelation_of_a_known_chain(rho: float) -> None:
    x = autoregressive(rho, 20_000, 4)
    assert autocorrelation(x, 5) == pytest.approx(rho ** np.arange(6), abs=0.03)
    assert autocorrelation(x[:4], 50).shape == (4,)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_the_error_of_batches_agrees_with_the_spread_of_many_runs(rho: float) -> None:
    x = autoregressive(rho, 1000, 4000)
    true = math.sqrt((1 + rho) / (1 - rho) / 1000)
    assert x.mean(axis=0).std() == pytest.approx(true, rel=0.05)
    batches = x[:, 0].reshape(20, 50).mean(axis=1)
    assert error_of_groups(batches, np.full(20, 50.0)) == pytest.approx(true, rel=0.4)


def test_error_of_groups_by_hand() -> None:
    means, sizes = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    mean = 9 / 4
    wanted = math.sqrt(3 / 2 * ((1 - mean) ** 2 + (2 * (2 - mean)) ** 2 + (4 - mean) ** 2)) / 4
    assert error_of_groups(means, sizes) == pytest.approx(wanted, rel=1e-14)
    equal = np.array([1.0, 2.0, 4.0])
    assert error_of_groups(equal, np.ones(3)) == pytest.approx(equal.std(ddof=1) / math.sqrt(3), rel=1e-14)
    assert np.isnan(error_of_groups(np.array([1.0]), np.ones(1)))
