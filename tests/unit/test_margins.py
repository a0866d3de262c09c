"""Flip margins, implied losses and refusal for an error rate: worked examples, and scans of the value itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.decision.margins import FlipMargin, FlipMargins, decision_intervals, flip_margins, implied_losses
from bayes_engine.decision.refusal import refusal_for_error
from bayes_engine.errors import LossError, ParameterError, UndefinedPosterior
from bayes_engine.priors import with_share
from tests.conftest import examples

HOSPITAL = LossMatrix(("accept", "reject"), ("healthy", "ill"), [[0, 5], [1, 0]])
EVEN = {"healthy": 0.5, "ill": 0.5}
LETTERS = "abcde"


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, LossMatrix, dict[str, float]]:
    """A posterior, a matrix of 2 to 5 actions for 2 to 5 classes (some actions no class), a prior: all in sixteenths,
    so that zeros and exact ties are common."""
    k, a = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    cells = st.integers(-32, 80) if draw(st.booleans()) else st.integers(0, 2).map(lambda v: 16 * v)
    table = np.array(draw(st.lists(cells, min_size=a * k, max_size=a * k))).reshape(a, k) / 16
    cuts = draw(st.lists(st.integers(0, 64), min_size=k - 1, max_size=k - 1))
    p = np.diff([0, *sorted(cuts), 64]) / 64
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=k, max_size=k)), dtype=float)
    names = [LETTERS[i] if i < k else f"ask {i}" for i in range(a)]
    return p, LossMatrix(names, LETTERS[:k], table), dict(zip(LETTERS, weights / weights.sum(), strict=False))


def with_cell(loss: LossMatrix, action: Any, truth: Any, value: float) -> LossMatrix:
    table = loss.table.copy()
    table[loss.actions.index(action), loss.classes.index(truth)] = value
    return LossMatrix(loss.actions, loss.classes, table)


def shifted(p: np.ndarray, prior: dict[str, float], k: int, share: float) -> np.ndarray:
    """Bayes's theorem under the prior with its k-th class at `share`."""
    old = np.array(list(prior.values()))
    q = p / old * np.array(with_share(tuple(old), k, share))
    return q / q.sum()


def decided(p: np.ndarray, loss: LossMatrix) -> Any:
    return decide(p[None], loss).action[0]


# scanned --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@examples(50)
@given(problems())
def test_a_scan_of_each_loss_flips_exactly_at_its_margin(problem: tuple[np.ndarray, LossMatrix, Any]) -> None:
    p, loss, _prior = problem
    margins = flip_margins(p, loss)
    assert margins.action == decided(p, loss)
    for (action, truth), stand in margins.losses.items():
        now = loss.to_frame().loc[action, truth]
        assert stand.low <= now <= stand.high
        for value in (*np.linspace(now - 12, now + 12, 25), *_just_about(stand)):
            if min(abs(value - stand.low), abs(value - stand.high)) < 1e-9:
                continue  # a tie, to the tolerance
            scanned = decided(p, with_cell(loss, action, truth, value))
            if stand.low < value < stand.high:
                assert scanned == margins.action
            elif value < stand.low:
                assert scanned == stand.below
            elif value > stand.high:
                assert scanned == stand.above


@pytest.mark.slow
@examples(50)
@given(problems())
def test_a_scan_of_each_prior_flips_exactly_at_its_margin(problem: tuple[np.ndarray, LossMatrix, Any]) -> None:
    p, loss, prior = problem
    margins = flip_margins(p, loss, prior)
    for k, (truth, stand) in enumerate(margins.priors.items()):
        assert 0 <= stand.low <= prior[truth] <= stand.high <= 1
        assert (stand.below is None) == (stand.low == 0)
        for value in (*np.linspace(0.005, 0.995, 67), *_just_about(stand)):
            if not 0 < value < 1:
                continue
            scanned = decide(shifted(p, prior, k, value)[None], loss)
            if stand.low < value < stand.high:
                assert scanned.action[0] == margins.action or scanned.tied[0]
            elif stand.low - 1e-6 < value < stand.low - 1e-9:  # further away a third action may be the best
                assert scanned.action[0] == stand.below
            elif stand.high + 1e-6 > value > stand.high + 1e-9:
                assert scanned.action[0] == stand.above
            elif not stand.low <= value <= stand.high and not scanned.tied[0]:
                assert scanned.action[0] != margins.action


@pytest.mark.slow
@examples(50)
@given(problems(), st.data())
def test_a_scan_finds_the_wished_decision_exactly_where_it_is_implied(
    problem: tuple[np.ndarray, LossMatrix, Any], data: st.DataObject
) -> None:
    p, loss, prior = problem
    wished = data.draw(st.sampled_from(loss.actions))
    implied = implied_losses(p, wished, loss, prior)
    w = loss.actions.index(wished)
    for (action, truth), stand in implied.losses.items():
        now = loss.to_frame().loc[action, truth]
        for value in (*np.linspace(now - 12, now + 12, 25), *_just_about(stand)):
            risk = with_cell(loss, action, truth, value).risk(p)
            least = risk[w] <= risk.min() + 1e-9
            inside = stand is not None and stand.low - 1e-9 / max(p) <= value <= stand.high
            clear = stand is None or min(abs(value - stand.low), abs(value - stand.high)) > 1e-8
            assert inside == least or not clear or (least and _nearly_tied(risk, w))
    for k, (truth, stand) in enumerate(implied.priors.items()):
        for value in (*np.linspace(0.01, 0.99, 33), *_just_about(stand)):
            if 0 < value < 1 and (stand is None or min(abs(value - stand.low), abs(value - stand.high)) > 1e-8):
                risk = loss.risk(shifted(p, prior, k, value))
                inside = stand is not None and stand.low <= value <= stand.high
                assert inside == (risk[w] <= risk.min() + 1e-12) or _nearly_tied(risk, w), (truth, stand, value)


def _just_about(stand: FlipMargin | None) -> list[float]:
    ends = [] if stand is None else [e for e in (stand.low, stand.high) if np.isfinite(e)]
    return [e + d * max(abs(e), 1e-3) for e in ends for d in (-1e-4, -1e-6, 1e-6, 1e-4)]


def _nearly_tied(risk: np.ndarray, w: int) -> bool:
    return bool(np.abs(np.delete(risk, w) - risk[w]).min(initial=np.inf) < 1e-7)


@examples(100)
@given(problems(), st.data())
def test_the_least_change_makes_the_decision_and_none_is_smaller(
    problem: tuple[np.ndarray, LossMatrix, Any], data: st.DataObject
) -> None:
    p, loss, _prior = problem
    wished = data.draw(st.sampled_from(loss.actions))
    implied = implied_losses(p, wished, loss)
    w = loss.actions.index(wished)
    risk = implied.least.risk(p)
    assert risk[w] <= risk.min() + 1e-9
    change = implied.least.table - loss.table
    norm = float((change**2).sum())
    if wished == implied.action:
        assert norm < 1e-20
        return
    nearest = implied.nearest(1)[0]
    assert norm <= (nearest.at - nearest.now) ** 2 + 1e-9  # one cell alone is no cheaper in squares,
    assert np.abs(change).sum() >= abs(nearest.at - nearest.now) - 1e-9  # and all together none in absolute values
    # optimal: the change is minus a nonnegative sum of the gradients of the constraints that bind
    binding = np.flatnonzero((np.abs(risk - risk[w]) < 1e-9) & (np.arange(len(risk)) != w))
    moved = change @ p / (p @ p)
    assert np.allclose(change, np.outer(moved, p), atol=1e-9)
    assert moved[w] <= 1e-12
    assert np.isclose(moved.sum(), 0, atol=1e-9)
    assert (np.delete(moved, w) >= -1e-12).all()
    assert all(i == w or i in binding for i in np.flatnonzero(np.abs(moved) > 1e-9))


@examples(60)
@given(problems())
def test_margins_of_many_rows_are_those_of_each(problem: tuple[np.ndarray, LossMatrix, Any]) -> None:
    p, loss, prior = problem
    rows = np.array([np.roll(p, i) for i in range(len(p))])
    together = decision_intervals(rows, loss, decide(rows, loss).position, np.array(list(prior.values())))
    assert together.prior_low is not None and together.above is not None
    for n, row in enumerate(rows):
        one = flip_margins(row, loss, prior)
        assert [s.low for s in one.losses.values()] == together.low[n].ravel().tolist()
        assert [s.high for s in one.losses.values()] == together.high[n].ravel().tolist()
        assert [s.low for s in one.priors.values()] == together.prior_low[n].tolist()
        named = [None if a < 0 else loss.actions[a] for a in together.above[n]]
        assert [s.above for s in one.priors.values()] == named


@examples(60)
@given(problems(), st.lists(st.integers(-40, 40), min_size=5, max_size=5))
def test_a_constant_per_class_moves_every_margin_with_its_loss(
    problem: tuple[np.ndarray, LossMatrix, Any], shift: list[int]
) -> None:
    p, loss, prior = problem
    by = np.array(shift[: len(loss.classes)]) / 8
    moved = LossMatrix(loss.actions, loss.classes, loss.table + by)
    here, there = flip_margins(p, loss, prior), flip_margins(p, moved, prior)
    assert here.action == there.action
    for (action, truth), stand in here.losses.items():
        d = float(by[loss.classes.index(truth)])
        other = there.losses[action, truth]
        assert (other.low, other.high) == (pytest.approx(stand.low + d), pytest.approx(stand.high + d))
    for truth, stand in here.priors.items():
        other = there.priors[truth]
        assert (other.low, other.high) == (pytest.approx(stand.low), pytest.approx(stand.high))


# worked ---------------------------------------------------------------------------------------------------------


def test_a_worked_example_of_two_actions() -> None:
    margins = HOSPITAL.flip_margins([0.9, 0.1], EVEN)  # R(accept) = 0.5, R(reject) = 0.9, gap 0.4
    assert (margins.action, margins.tied) == ("accept", False)
    assert margins.losses["accept", "healthy"] == FlipMargin(-np.inf, pytest.approx(0.4 / 0.9), None, "reject")
    assert margins.losses["accept", "ill"] == FlipMargin(-np.inf, pytest.approx(9.0), None, "reject")
    assert margins.losses["reject", "healthy"] == FlipMargin(pytest.approx(0.5 / 0.9), np.inf, "reject", None)
    assert margins.losses["reject", "ill"] == FlipMargin(pytest.approx(-4.0), np.inf, "reject", None)
    # odds of 9 to 1 at even priors; accepting needs 5 to 1: π/(1 − π) = 5/9
    assert margins.priors["healthy"] == FlipMargin(pytest.approx(5 / 14), 1.0, "reject", None)
    assert margins.priors["ill"] == FlipMargin(0.0, pytest.approx(9 / 14), None, "reject")


def test_the_nearest_flips_come_first_and_wrong_decisions_before_right_ones() -> None:
    loss = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])
    margins = flip_margins([0.9, 0.1], loss)
    flips = margins.nearest(4)
    assert [(f.action, f.truth) for f in flips] == [("bad", "good"), ("good", "good"), ("good", "bad"), ("bad", "bad")]
    assert [f.distance for f in flips] == pytest.approx([0.4 / 0.9 / 5] * 2 + [0.8] * 2)
    assert [(f.action, f.truth) for f in margins.nearest(9, right=False)] == [("bad", "good"), ("good", "bad")]
    assert margins.nearest_priors() == []
    (prior,) = flip_margins([0.9, 0.1], loss, {"good": 0.9, "bad": 0.1}).nearest_priors()
    assert (prior.action, prior.truth, prior.takes, prior.at) == (None, "good", "bad", pytest.approx(5 / 6))


def test_a_refusal_takes_part_and_may_take_over() -> None:
    loss = LossMatrix.zero_one(("a", "b")).with_refusal(0.3)
    margins = flip_margins([0.8, 0.2], loss, {"a": 0.5, "b": 0.5})
    assert margins.losses["a", "b"] == FlipMargin(-np.inf, pytest.approx(1.5), None, "refuse")
    assert margins.losses["refuse", "a"].below == "refuse"
    assert margins.priors["b"] == FlipMargin(0.0, pytest.approx(12 / 19), None, "refuse")  # P(b|x) reaches 0.3


def test_a_posterior_of_zero_leaves_its_losses_without_effect() -> None:
    loss = LossMatrix.zero_one("abc")
    margins = flip_margins([0.6, 0.4, 0.0], loss, dict.fromkeys("abc", 1 / 3))
    assert all(margins.losses[action, "c"] == FlipMargin(-np.inf, np.inf) for action in "abc")
    assert margins.priors["c"] == FlipMargin(0.0, 1.0)
    certain = flip_margins([1.0, 0.0], LossMatrix.zero_one("ab"), {"a": 0.2, "b": 0.8})
    assert set(certain.priors.values()) == {FlipMargin(0.0, 1.0)}


def test_a_tie_is_an_interval_that_ends_where_it_is() -> None:
    margins = flip_margins([0.5, 0.5], LossMatrix.zero_one("ab"), {"a": 0.5, "b": 0.5})
    assert (margins.action, margins.tied) == ("a", True)
    assert margins.losses["a", "b"] == FlipMargin(-np.inf, 1.0, None, "b")
    assert margins.losses["b", "a"] == FlipMargin(1.0, np.inf, "b", None)
    assert margins.priors["a"] == FlipMargin(0.5, 1.0, "b", None)
    assert margins.nearest(1)[0].distance == 0.0


def test_the_one_that_takes_over_is_the_next_of_all() -> None:
    loss = LossMatrix(("x", "y", "z"), ("a", "b"), [[0, 4], [1, 3], [3, 0]])
    margins = flip_margins([0.9, 0.1], loss, {"a": 0.5, "b": 0.5})
    assert margins.action == "x"
    stand = margins.priors["a"]
    assert stand.below == "z"  # x and y meet at odds 1:1, x and z already at 3:4 … the latter comes later going down
    q = shifted(np.array([0.9, 0.1]), {"a": 0.5, "b": 0.5}, 0, stand.low)
    risks = loss.risk(q)
    assert risks[0] == pytest.approx(risks[2])
    assert risks[1] > risks[0]


def test_priors_that_cannot_move() -> None:
    margins = flip_margins([0.7, 0.3, 0.0], LossMatrix.zero_one("abc"), {"a": 0.5, "b": 0.5, "c": 0.0})
    assert margins.priors["c"] == FlipMargin(0.0, 0.0)
    assert margins.priors["a"].below == "b"
    alone = flip_margins([1.0, 0.0], LossMatrix.zero_one("ab"), {"a": 1.0, "b": 0.0})
    assert alone.priors == {"a": FlipMargin(1.0, 1.0), "b": FlipMargin(0.0, 0.0)}


def test_the_prior_may_stand_in_any_order_and_labels_decide() -> None:
    one = flip_margins([0.9, 0.1], HOSPITAL, {"healthy": 0.7, "ill": 0.3})
    other = flip_margins([0.9, 0.1], HOSPITAL, {"ill": 0.3, "healthy": 0.7})
    assert dict(one.priors) == dict(other.priors)


@pytest.mark.parametrize(
    ("posterior", "prior", "error", "text"),
    [
        ([0.5, 0.6], None, ParameterError, "a posterior is 2 probabilities that sum to 1"),
        ([0.5, 0.3, 0.2], None, ParameterError, "one for each class of the losses"),
        ([np.nan, 1.0], None, ParameterError, "a posterior is 2 probabilities"),
        ([0.0, 0.0], None, UndefinedPosterior, "there is no posterior, so nothing is decided"),
        ([0.5, 0.5], {"healthy": 1.0, "ill": 0.0}, ParameterError, "the class 'ill' has the prior 0 and a posterior"),
        ([0.5, 0.5], {"healthy": 0.5, "ill": 0.4}, ParameterError, "priors sum to 0.9, not 1"),
    ],
)
def test_what_is_no_posterior_is_refused(posterior: Any, prior: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as refused:
        flip_margins(posterior, HOSPITAL, prior)
    if isinstance(refused.value, UndefinedPosterior):
        assert refused.value.rows == (0,)


# wished ---------------------------------------------------------------------------------------------------------


def test_a_worked_example_of_a_wish() -> None:
    implied = implied_losses([0.9, 0.1], "reject", HOSPITAL, EVEN)
    assert implied.losses["accept", "ill"] == FlipMargin(pytest.approx(9.0), np.inf, "accept", None)
    assert implied.losses["reject", "healthy"] == FlipMargin(-np.inf, pytest.approx(5 / 9), None, "accept")
    assert implied.priors["ill"] == FlipMargin(pytest.approx(9 / 14), 1.0, "accept", None)
    half = np.array([[0.9, 0.1], [-0.9, -0.1]]) * 0.2 / 0.82  # each risk moves by half the gap of 0.4
    np.testing.assert_allclose(implied.least.table, HOSPITAL.table + half)
    assert implied.nearest_priors()[0].at == pytest.approx(5 / 14)


def test_one_loss_of_one_rival_cannot_help_where_two_are_cheaper() -> None:
    loss = LossMatrix(("x", "y", "z"), ("a", "b"), [[0, 1], [0, 2], [3, 3]])
    implied = implied_losses([0.5, 0.5], "z", loss)
    assert implied.losses["x", "a"] is None and implied.losses["y", "b"] is None
    assert implied.losses["z", "a"] == FlipMargin(-np.inf, pytest.approx(-2.0), None, "x")
    assert {f.action for f in implied.nearest(9)} == {"z"}
    np.testing.assert_allclose(implied.least.risk(np.array([0.5, 0.5])), [1.5, 1.5, 1.5])


def test_an_action_that_is_never_cheapest_at_any_prior() -> None:
    loss = LossMatrix(("a", "b", "never"), ("a", "b"), [[0, 1], [1, 0], [2, 2]])
    implied = implied_losses([0.6, 0.4], "never", loss, {"a": 0.5, "b": 0.5})
    assert implied.priors == {"a": None, "b": None}
    assert implied.nearest_priors() == []


def test_what_is_decided_already_needs_nothing() -> None:
    implied = implied_losses([0.9, 0.1], "accept", HOSPITAL, EVEN)
    assert implied.action == implied.wished
    assert implied.nearest() == [] and implied.nearest_priors() == []
    assert implied.least == HOSPITAL
    margins: FlipMargins = flip_margins([0.9, 0.1], HOSPITAL, EVEN)
    assert dict(implied.losses) == dict(margins.losses)


def test_an_unknown_wish_is_refused() -> None:
    with pytest.raises(LossError, match="there is no action 'wait'; the actions are accept, reject"):
        implied_losses([0.9, 0.1], "wait", HOSPITAL)


# refusal --------------------------------------------------------------------------------------------------------


@examples(100)
@given(st.integers(1, 40), st.integers(0, 2**20), st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.5]), st.booleans())
def test_no_threshold_decides_more_within_the_target(n: int, seed: int, target: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 9, n) / 8
    posterior, truth = np.stack([p, 1 - p], axis=1), rng.integers(0, 2, n)
    weight = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    assume(weight.sum() > 0)
    loss = LossMatrix.zero_one("ab")
    found = refusal_for_error(posterior, truth, loss, target, weight=weight)
    decision = decide(posterior, loss)
    wrong = decision.position != truth

    def share(cost: float) -> tuple[float, float]:
        kept = decision.risk <= cost
        decided = weight[kept].sum()
        return decided / weight.sum(), (weight[kept & wrong].sum() / decided if decided else np.inf)

    fair = [share(c) for c in np.unique(decision.risk)]
    best = max((coverage for coverage, error in fair if error <= target), default=0.0)
    assert found.coverage == pytest.approx(best)
    assert found.reached == (best > 0)
    if found.reached:
        assert found.error <= target + 1e-12
        refusing = decide(posterior, loss.with_refusal(found.cost))
        assert ((refusing.action != "refuse") == (decision.risk <= found.cost + 1e-12)).all()
        assert weight[refusing.action != "refuse"].sum() / weight.sum() == pytest.approx(found.coverage)


def test_a_target_that_cannot_be_met() -> None:
    posterior, truth = np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([1, 0])
    found = refusal_for_error(posterior, truth, LossMatrix.zero_one("ab"), 0.1)
    assert (found.reached, found.coverage, found.cost) == (False, 0.0, -np.inf)
    assert np.isnan(found.error)
    assert found.least_error == 0.5
    assert found.errors.tolist() == [1.0, 0.5] and found.coverages.tolist() == [0.5, 1.0]


def test_rows_of_one_risk_are_decided_together() -> None:
    posterior, truth = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]]), np.array([0, 0, 0])
    found = refusal_for_error(posterior, truth, LossMatrix.zero_one("ab"), 0.2)
    assert not found.reached and found.risks.tolist() == [pytest.approx(0.1)]


def test_a_refusal_row_and_rows_without_a_posterior_are_never_decided() -> None:
    posterior = np.array([[0.9, 0.1], [0.6, 0.4], [0.0, 0.0]])
    loss = LossMatrix.zero_one("ab").with_refusal(0.2)
    found = refusal_for_error(posterior, np.array([0, 0, 0]), loss, 0.0, status=np.array([0, 0, 1], dtype=np.int8))
    assert (found.coverage, found.error, found.reached) == (0.5, 0.0, True)


@pytest.mark.parametrize("target", [-0.1, 1.5, float("nan")])
def test_a_target_is_a_share(target: float) -> None:
    with pytest.raises(ParameterError, match="a target error rate is a share from 0 to 1"):
        refusal_for_error(np.array([[1.0, 0.0]]), np.array([0]), LossMatrix.zero_one("ab"), target)


def test_without_any_posterior_there_is_no_threshold() -> None:
    with pytest.raises(ParameterError, match="no row has a posterior"):
        refusal_for_error(
            np.zeros((1, 2)), np.array([0]), LossMatrix.zero_one("ab"), 0.1, status=np.ones(1, dtype=np.int8)
        )


def test_a_huge_loss_of_one_row_does_not_pool_the_risks_of_others() -> None:
    posterior = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.0, 0.0, 1.0]])
    loss = LossMatrix("abc", "abc", [[0, 1, 2e13], [1, 0, 2e13], [1e13, 1e13, 1e13]])
    found = refusal_for_error(posterior, np.array([0, 1, 2]), loss, 0.1)
    np.testing.assert_allclose(found.risks, [0.1, 0.2, 1e13])
    assert (found.cost, found.coverage) == (pytest.approx(0.1), pytest.approx(1 / 3))
