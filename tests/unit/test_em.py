"""The EM loop itself: the identity Q + H = log-likelihood, bounds, stopping rules, monotony asserted, restarts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.em import (
    KEPT,
    Collapse,
    EMModel,
    EMTrace,
    ExpectedStatistics,
    ObjectiveFell,
    Stopping,
    em,
    largest_change,
    random_responsibilities,
    responsibilities,
    runs,
)
from bayes_engine.errors import ParameterError

HEADS = np.array([5.0, 9.0, 8.0, 4.0, 7.0])
"""Do & Batzoglou 2008, figure 1: five rounds of ten tosses, each with one of two coins."""


def expect(p: Any, hard: bool) -> ExpectedStatistics[Any]:
    joint = HEADS[:, None] * np.log(p) + (10 - HEADS)[:, None] * np.log(1 - p)
    found = responsibilities(joint, hard=hard)
    r = found.responsibilities
    return ExpectedStatistics((HEADS @ r, 10 * r.sum(axis=0)), found.log_likelihood, found.q, found.entropy, r)


def estimate(stats: Any) -> Any:
    return stats[0] / stats[1]


def complete(stats: Any, p: Any) -> float:
    return float((stats[0] * np.log(p) + (stats[1] - stats[0]) * np.log(1 - p)).sum())


def climb(hard: bool = False, keep: int = KEPT, **stopping: Any) -> EMTrace[Any]:
    model = EMModel(expect, estimate, complete=complete)
    return em(np.array([0.6, 0.5]), model, stopping=Stopping(**stopping), hard=hard, keep=keep)


def test_the_two_coins_of_do_and_batzoglou() -> None:
    trace = climb(tol=1e-12)
    first = trace.steps[1].parameters
    np.testing.assert_allclose(first, [0.7130, 0.5813], atol=5e-5)  # 21.30/29.87 and 11.70/20.13 with 2 digits there
    np.testing.assert_allclose(trace.last.parameters, [0.7968, 0.5196], atol=5e-5)
    assert trace.converged and trace.objective == "log-likelihood" and trace.n_iter == len(trace.steps) - 1


def test_q_plus_entropy_is_the_log_likelihood_and_the_bound_lies_between() -> None:
    table = climb(tol=0.0, max_iter=30).table()
    np.testing.assert_allclose(table["q"] + table["entropy"], table["log_likelihood"], rtol=1e-13)
    bound, here = table["lower_bound"][1:], table["log_likelihood"]
    assert (bound <= here[1:] + 1e-12).all() and (bound.to_numpy() >= here[:-1].to_numpy() - 1e-12).all()
    assert table["change"][1:].min() >= -1e-12


def test_hard_em_climbs_the_classification_likelihood() -> None:
    trace = climb(hard=True, tol=1e-12)
    assert trace.objective == "classification likelihood"
    assert {float(v) for v in np.unique(trace.last.responsibilities)} == {0.0, 1.0}
    table = trace.table()
    assert (table["entropy"] == 0).all() and (table["objective"] == table["q"]).all()
    assert (table["q"] <= table["log_likelihood"]).all() and table["change"][1:].min() >= 0
    np.testing.assert_allclose(trace.last.parameters, [24 / 30, 9 / 20])  # 9, 8, 7 with one coin, 5, 4 with the other


@pytest.mark.parametrize("stop", ["objective", "q", "parameters"])
def test_each_stopping_rule_looks_at_its_own_change(stop: Any) -> None:
    trace = climb(stop=stop, tol=1e-4)
    name = {"objective": "change", "q": "q_change", "parameters": "parameter_change"}[stop]
    changes = trace.table()[name].abs()
    assert trace.converged and changes.iloc[-1] < 1e-4 and (changes[1:-1] >= 1e-4).all()


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="stop='never' is none of 'objective', 'q', 'parameters'"):
        climb(stop="never")


def test_running_out_of_iterations_is_no_convergence() -> None:
    assert not climb(max_iter=2).converged
    assert climb(max_iter=0).n_iter == 0


def test_a_log_prior_is_part_of_the_objective() -> None:
    def prior(p: Any) -> float:
        return float((2 * np.log(p) + 2 * np.log(1 - p)).sum())

    model = EMModel(expect, lambda s: (s[0] + 2) / (s[1] + 4), log_prior=prior)
    trace = em(np.array([0.6, 0.5]), model, stopping=Stopping(tol=1e-12))
    table = trace.table()
    assert trace.objective == "log-likelihood + log prior"
    np.testing.assert_allclose(table["objective"], table["log_likelihood"] + table["log_prior"], rtol=1e-13)
    assert table["change"][1:].min() >= -1e-12


def test_NF44_an_objective_that_falls_is_a_fault_of_the_program() -> None:
    with pytest.raises(ObjectiveFell, match=r"EM's objective fell from .* in iteration 1: a fault of the program"):
        em(np.array([0.8, 0.52]), EMModel(expect, lambda stats: np.array([0.5, 0.5])))


def test_slack_allows_what_it_says() -> None:
    def worse(stats: Any) -> Any:
        return estimate(stats) * 0.99

    with pytest.raises(ObjectiveFell):
        em(np.array([0.797, 0.52]), EMModel(expect, worse), stopping=Stopping(max_iter=1))
    allowed = EMModel(expect, worse, slack=lambda *_: 0.1)
    assert em(np.array([0.797, 0.52]), allowed, stopping=Stopping(max_iter=1)).n_iter == 1


def test_responsibilities_are_kept_while_they_are_few() -> None:
    assert all(s.responsibilities is not None for s in climb(tol=0.0, max_iter=9).steps)
    few = climb(tol=0.0, max_iter=9, keep=35)
    assert [s.responsibilities is not None for s in few.steps] == [True, True, True, True, *[False] * 5, True]
    assert KEPT > 272 * 2 * 500


@given(st.integers(1, 6), st.integers(2, 4), st.randoms(use_true_random=False))
def test_memberships(n: int, k: int, random: Any) -> None:
    joint = np.array([[random.choice([-np.inf, random.uniform(-800, 5)]) for _ in range(k)] for _ in range(n)])
    joint[:, 0] = np.where(np.isneginf(joint).all(axis=1), -3.0, joint[:, 0])
    weight = np.array([random.choice([0.0, 0.5, 2.0]) for _ in range(n)])
    soft, hard = responsibilities(joint, weight=weight), responsibilities(joint, hard=True, weight=weight)
    assert not np.isnan(soft.responsibilities).any() and soft.entropy >= -1e-12
    np.testing.assert_allclose(soft.responsibilities.sum(axis=1), 1.0, rtol=1e-12)
    assert hard.q <= soft.log_likelihood + 1e-9 and hard.entropy == 0 and hard.log_likelihood == soft.log_likelihood
    np.testing.assert_allclose(soft.q + soft.entropy, soft.log_likelihood, rtol=1e-12, atol=1e-12)
    r = soft.responsibilities
    by_hand = -(weight[:, None] * r * np.log(np.where(r > 0, r, 1.0))).sum()
    np.testing.assert_allclose(soft.entropy, by_hand, atol=1e-9)


def test_no_responsibility_is_subnormal() -> None:
    joint = np.array([[-690.0, 0.0], [0.0, -720.0], [0.0, -740.0], [0.0, -1e4], [0.0, -np.inf]])
    found = responsibilities(joint)
    np.testing.assert_array_equal(found.responsibilities[1:], [[1.0, 0.0]] * 4)
    np.testing.assert_allclose(found.responsibilities[0], [np.exp(-690.0), 1.0], rtol=1e-15)
    assert found.log_likelihood == 0.0 and 0.0 <= found.entropy < 1e-290


def test_a_row_without_any_class_has_no_likelihood_and_no_membership() -> None:
    found = responsibilities(np.array([[-np.inf, -np.inf], [0.0, -np.inf]]))
    assert found.responsibilities.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert found.log_likelihood == -np.inf and found.entropy == 0.0


def test_runs_keep_the_best_and_put_collapses_aside() -> None:
    def start(value: float) -> Any:
        return lambda: np.array([value, 0.5])

    def one(theta: Any) -> EMTrace[Any]:
        if theta[0] > 0.9:
            raise Collapse("gone")
        stopping = Stopping(tol=1e-12, max_iter=0 if theta[0] == 0.5 else 200)
        return em(theta, EMModel(expect, estimate), stopping=stopping)

    found = runs([start(0.5), start(0.95), start(0.6), start(0.61)], one)
    assert len(found.traces) == 3 and [str(c) for c in found.collapsed] == ["gone"]
    assert found.best is found.traces[1]  # the first of equals, to 1e-9
    assert runs([start(0.95)], one).best is None


def test_starts_are_seeded() -> None:
    a, b = (random_responsibilities(np.random.default_rng(3), 5, 2) for _ in range(2))
    assert (a == b).all()
    assert largest_change(a, a + np.array([0.25, -0.5])) == pytest.approx(0.5)


def test_a_trace_takes_other_parameters_and_another_order() -> None:
    trace = climb(max_iter=3)
    turned = trace.mapped(lambda p: p[::-1].tolist(), np.array([1, 0]))
    assert turned.last.parameters == trace.last.parameters.tolist()[::-1]
    assert turned.last.responsibilities is not None and trace.last.responsibilities is not None
    np.testing.assert_array_equal(turned.last.responsibilities, trace.last.responsibilities[:, ::-1])
