"""The first steps against scipy and against counting."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import gammaln

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.discriminative import of_numbers
from bayes_engine.workbench.derivation.demonstrations import (
    base_rate,
    climb,
    levels_drawn,
    log_sum_steps,
    multinomial,
    numbers_drawn,
    posterior_curve,
    underflow,
)
from bayes_engine.workbench.figures import laboratory as figures
from bayes_engine.workbench.laboratory.excess_risk import learning_curve
from bayes_engine.workbench.laboratory.truth import best_in_cells, table_of
from tests.known_truths import gaussians


@given(st.floats(0.001, 0.999), st.floats(0.5, 0.999), st.floats(0.5, 0.999), st.integers(1, 4))
def test_a_thousand_people_are_a_thousand(prior: float, sensitivity: float, specificity: float, times: int) -> None:
    found = base_rate(prior, sensitivity, specificity, times)
    assert sum(found.of_thousand) == 1000
    exact = (found.prior * found.likelihood, (1 - prior) * found.other)
    assert abs(found.of_thousand[0] - 1000 * exact[0]) < 1
    assert abs(found.of_thousand[2] - 1000 * exact[1]) < 1
    assert found.posterior * found.evidence == pytest.approx(exact[0])
    before, ratio = prior / (1 - prior), found.likelihood / found.other
    assert found.posterior == pytest.approx(before * ratio / (1 + before * ratio), rel=1e-9)


def test_two_tests_at_once_are_one_after_the_other() -> None:
    once = base_rate(0.01, 0.9, 0.91).posterior
    assert base_rate(0.01, 0.9, 0.91, 2).posterior == pytest.approx(base_rate(once, 0.9, 0.91).posterior)
    priors, posterior = posterior_curve(0.9, 0.91, 2)
    assert np.interp(once, priors, posterior) == pytest.approx(base_rate(once, 0.9, 0.91, 2).posterior, abs=2e-3)


def test_the_gaussian_likelihood_its_gradient_and_its_top() -> None:
    rows = numbers_drawn(25, 4)

    def log_likelihood(at: np.ndarray) -> float:
        return float(stats.norm.logpdf(rows, *at).sum())

    found = climb(rows, 3.0, 1.5)
    assert found.value == pytest.approx(log_likelihood(np.array([3.0, 1.5])))
    slope = optimize.approx_fprime(np.array([3.0, 1.5]), log_likelihood, 1e-6)
    assert found.gradient == pytest.approx(slope, rel=1e-4)
    best = optimize.minimize(lambda at: -log_likelihood(at), [4.0, 2.0], bounds=[(None, None), (0.1, None)])
    assert found.best == pytest.approx(best.x, abs=1e-3)
    assert found.top == pytest.approx(-best.fun)
    i, j = 60, 20
    height = log_likelihood(np.array([found.means[j], found.sds[i]])) - found.top
    assert found.below[i, j] == pytest.approx(height)
    heights = [log_likelihood(step) for step in found.path]
    assert heights == sorted(heights)
    assert found.path[-1] == pytest.approx(found.best, abs=1e-2)


@pytest.mark.parametrize(("mean", "sd"), [(-5.0, 0.2), (15.0, 6.0), (5.0, 6.0), (5.0, 0.2)])
def test_the_climb_never_falls_from_anywhere(mean: float, sd: float) -> None:
    rows = numbers_drawn(8, 1)
    found = climb(rows, mean, sd)
    heights = [stats.norm.logpdf(rows, *step).sum() for step in found.path]
    assert all(b >= a - 1e-9 for a, b in pairwise(heights))
    assert found.means[0] <= mean <= found.means[-1]
    assert found.sds[0] <= sd <= found.sds[-1]


def test_the_multinomial_is_scipy_s_but_for_the_orders() -> None:
    counts, theta = levels_drawn(30, 2), (0.5, 0.3, 0.2)
    found = multinomial(counts, theta)
    orders = gammaln(sum(counts) + 1) - gammaln(np.asarray(counts) + 1).sum()  # log n!/(n₁!…n_S!)
    assert found.value + orders == pytest.approx(stats.multinomial.logpmf(counts, 30, theta))
    assert found.best == tuple(c / 30 for c in counts)
    assert found.top >= found.curve.max() - 1e-9
    at_top = multinomial(counts, found.best)
    assert at_top.gradient == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    assert multinomial((3, 0, 1), (0.5, 0.2, 0.3)).best[1] == 0.0


def test_longer_samples_begin_with_shorter_ones() -> None:
    assert numbers_drawn(30, 5)[:10] == numbers_drawn(10, 5)
    assert all(b >= a for a, b in zip(levels_drawn(10, 5), levels_drawn(30, 5), strict=True))


def test_floating_point_loses_the_product_where_said() -> None:
    found = underflow(1000, 0.3, 0.001)
    assert found.double_dies is not None
    assert 0.3 ** (found.double_dies - 1) > 0.0
    product = np.float32(1.0)
    for _step in range(found.single_dies or 0):
        assert product > 0
        product *= np.float32(0.3)
    assert product == 0
    assert found.log10[-1] == pytest.approx(1000 * np.log10(0.3))
    assert np.isnan(found.double[-1])
    assert found.posterior == pytest.approx(1 / (1 + np.exp(-1.0)))
    alive = underflow(50, 0.5, 0.002)
    assert (alive.double_dies, alive.single_dies) == (None, None)
    assert alive.products[0] / sum(alive.products) == pytest.approx(alive.posterior)


def test_ten_thousand_columns_do_not_underflow_in_logs() -> None:
    found = underflow(10_000, 0.05, 0.0005)
    assert found.logs[0] == pytest.approx(10_000 * (np.log(0.05) + 0.0005) + np.log(0.5))
    assert found.posterior == pytest.approx(1 / (1 + np.exp(-5.0)))
    steps = log_sum_steps(*found.logs)
    assert steps["plain"] == -np.inf
    assert steps["sum"] == pytest.approx(np.logaddexp(*found.logs))


# figures --------------------------------------------------------------------------------------------------------------


def test_the_bars_are_misfit_and_finite_sample() -> None:
    truth = gaussians([[-1.0, 0.0], [1.0, 0.0]], [np.eye(2), np.diag([4.0, 1.0])])
    curve = learning_curve(truth, of_numbers(), LossMatrix.zero_one(truth.classes), [30], replicates=3)
    names = ["a", "b", "c", "d"]
    figure = figures.excess_bars(curve, names, ("misfit", "finite", "shown"), [0.1] * 4)
    misfit, finite, shown = figure.data
    assert np.allclose(misfit.x, curve.misfit)
    assert np.allclose(np.array(finite.base) + finite.x, curve.mean[:, 0] - curve.bayes.value)
    assert np.allclose(finite.error_x.array, curve.error[:, 0])
    assert list(shown.x) == [0.1] * 4
    grown = figures.growth(curve, names, 30, dark=True)
    assert np.allclose(grown.data[0].y, curve.mean[0])


def test_the_cells_mark_what_is_not_the_best_decision() -> None:
    truth = table_of([4, 1, 1, 4], [0.5, 0.5], ["A", "B"])
    best = best_in_cells(truth, LossMatrix.zero_one(truth.classes))
    assert best == [0, 1]
    figure = figures.cells(truth, [("best", best), ("other", [0, 0])], ["A", "B"])
    assert figure.data[-1].text == ("A", "A ✗")
    assert np.allclose(figure.data[0].y, [0.4, 0.1])


def test_a_dot_for_each_person() -> None:
    found = base_rate(0.01, 0.9, 0.91)
    figure = figures.people(found, ("a", "b", "c", "d"))
    assert [len(trace.x) for trace in figure.data] == list(found.of_thousand)


def test_a_product_that_is_rounded_up_again_and_again_is_not_held() -> None:
    """Of factors above ½ the smallest number there is never becomes 0: 0.6 · 5e-324 is rounded to 5e-324."""
    found = underflow(2000, 0.6, 0.001)
    held, d = 1.0, 0
    while (held * 0.6) < held:
        held, d = held * 0.6, d + 1
    assert (found.double_dies, found.stuck) == (d + 1, True)
    assert found.products == (5e-324, 5e-324)  # alike, and so P(A | x) = ½ by products
    assert found.posterior == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert not underflow(2000, 0.3, 0.001).stuck
    assert not underflow(100, 0.6, 0.001).stuck


@pytest.mark.slow
def test_bars_are_drawn_where_no_sample_could_be_fitted() -> None:
    truth = gaussians([[-1, 0], [1, 0]], [np.eye(2), np.eye(2)], [0.5, 0.5])
    curve = learning_curve(truth, of_numbers(), LossMatrix.zero_one(truth.classes), [30], replicates=2)
    none = np.full_like(curve.mean, np.nan)
    empty = replace(curve, mean=none, error=none)
    shown = [float("nan")] * len(curve.names)
    figure = figures.excess_bars(empty, list(curve.names), ("misfit", "finite", "shown"), shown)
    low, high = figure.layout.xaxis.range
    assert low < 0.0 < high < 1.0
