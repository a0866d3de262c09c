"""logspace: the only file that exponentiates."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_engine.logspace import exp, log, log_normalize, log_sum, normalize, normalize_odds


def test_NF05_posteriors_a_hundred_thousand_nats_down() -> None:
    p = normalize(np.array([[-1e5, -1e5 - 1.0]]))[0]
    assert p[0] == pytest.approx(1 / (1 + np.exp(-1.0)), abs=1e-15)
    assert p.sum() == pytest.approx(1.0, abs=1e-15)


def test_NF06_a_row_of_minus_infinity_gives_zeros_not_nan() -> None:
    nowhere = np.full((1, 3), -np.inf)
    assert normalize(nowhere).tolist() == [[0.0, 0.0, 0.0]]
    assert log_normalize(nowhere).tolist() == [[-np.inf] * 3]
    assert log_sum(nowhere).tolist() == [-np.inf]


def test_log_and_exp_of_the_edges() -> None:
    assert log(np.array([0.0, 1.0])).tolist() == [-np.inf, 0.0]
    assert exp(np.array([-np.inf, 0.0])).tolist() == [0.0, 1.0]


def test_log_normalize_is_the_log_of_normalize() -> None:
    joint = np.array([[-3.0, -1.0, -np.inf], [-800.0, -801.0, -802.0]])
    np.testing.assert_allclose(log_normalize(joint), log(normalize(joint)), rtol=1e-12)


def test_log_odds_against_the_first_class_give_the_same_posterior() -> None:
    rng = np.random.default_rng(0)
    joint = rng.normal(scale=20.0, size=(500, 4))
    joint[:3] = [[0.0, -np.inf, 0.0, -np.inf], [-7.0, 143.0, 193.0, -900.0], [0.0, 0.0, 0.0, 0.0]]
    posterior = joint - joint[:, :1]
    assert normalize_odds(posterior)
    np.testing.assert_allclose(posterior, normalize(joint), rtol=1e-13, atol=0.0)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("odds", [[-1.0, 201.0], [np.inf, 0.0], [np.nan, 0.0], [-1.0, np.nan], []])
def test_log_odds_that_are_too_large_or_undefined_are_left_alone(odds: list[float]) -> None:
    posterior = np.array([[0.5, *odds], [0.5, *(0.0 for _ in odds)]])
    before = posterior.copy()
    assert not normalize_odds(posterior)
    np.testing.assert_array_equal(posterior, before)
