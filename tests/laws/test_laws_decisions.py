"""Laws of losses and decisions: R(a|x) = Σ_j λ_aj P(c_j|x), argmin by name."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayes_engine import LossMatrix
from bayes_engine.decision.compare import compare_risk
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import decide
from bayes_engine.language import Message
from bayes_engine.logspace import log
from tests.conftest import examples
from tests.simplex import regions

laws = examples(60)
CLASSES = ("a", "b", "c")

losses = arrays(float, (3, 3), elements=st.floats(-10, 10, width=32)).map(lambda t: LossMatrix(CLASSES, CLASSES, t))
small = arrays(float, (3, 3), elements=st.integers(0, 2).map(float)).map(lambda t: LossMatrix(CLASSES, CLASSES, t))


@st.composite
def posteriors(draw: st.DrawFn) -> np.ndarray:
    """Posteriors in eighths: exact in binary, and full of ties."""
    cuts = draw(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=8))
    return np.array([np.diff([0, *sorted(c), 8]) / 8 for c in cuts])


@laws
@given(losses, posteriors())
def test_risk_is_the_sum_over_truths(loss: LossMatrix, p: np.ndarray) -> None:
    by_hand = [[sum(loss.table[i, j] * row[j] for j in range(3)) for i in range(3)] for row in p]
    np.testing.assert_allclose(loss.risk(p), by_hand, atol=1e-12)


@laws
@given(losses, posteriors())
def test_the_action_has_the_least_risk_and_the_gap_is_to_the_next(loss: LossMatrix, p: np.ndarray) -> None:
    decision, risks = decide(p, loss), loss.risk(p)
    ranked = np.sort(risks, axis=1)
    np.testing.assert_allclose(decision.risk, ranked[:, 0], atol=1e-11)
    np.testing.assert_allclose(decision.gap, ranked[:, 1] - ranked[:, 0], atol=1e-11)
    for row, taken, tied in zip(p, decision.position, decision.tied, strict=True):
        size = [sum(abs(loss.table[i, j]) * row[j] for j in range(3)) for i in range(3)]
        own = loss.table[taken] @ row
        others = [abs(loss.table[i] @ row - own) <= 1e-12 * (size[i] + size[taken]) for i in range(3) if i != taken]
        assert tied == any(others)


CORNERS_AND_BETWEEN = np.array([(i, j, 24 - i - j) for i in range(25) for j in range(25 - i)]) / 24


@laws
@given(losses)
@example(LossMatrix("abc", "abc", [[0.0, -1.0, -1.0], [-1.0, 1.75, -1.0], [-1.0, -1.0, -1.0]]))  # "c" is never beaten
def test_an_action_saves_at_no_posterior_more_than_it_says_and_a_refusal_that_pays_is_taken(loss: LossMatrix) -> None:
    refusing = loss.with_refusal(0.0)
    risks = loss.risk(CORNERS_AND_BETWEEN).min(axis=1)
    most = refusing.most_saved("refuse")
    reach = np.abs(loss.table).max() * 2 / 24  # a grid's point is as near to the best one
    assert risks.max() - 1e-6 <= most <= risks.max() + 2 * reach + 1e-6
    cost = loss.refusal_that_pays()
    assert cost is None or loss.with_refusal(cost).most_saved("refuse") > 0


@pytest.mark.parametrize("k", [2, 3, 7])
def test_refusing_pays_below_what_chow_says(k: int) -> None:
    assert LossMatrix.zero_one(range(k)).with_refusal(0.0).most_saved("refuse") == pytest.approx(1 - 1 / k)


@laws
@given(losses, posteriors(), st.floats(11, 1e12), st.floats(0, 1e9))
def test_the_losses_of_a_third_action_turn_no_decision(
    loss: LossMatrix, p: np.ndarray, huge: float, more: float
) -> None:
    """Risks are compared by what the two are sums of: a λ of 1e12 elsewhere ties nothing."""
    wide = LossMatrix((*CLASSES, "never"), CLASSES, np.vstack([loss.table, [huge, huge + more, huge]]))
    one, other = decide(p, loss), decide(p, wide)
    np.testing.assert_array_equal(one.action, other.action)
    np.testing.assert_array_equal(one.tied, other.tied)
    for row, action in zip(p[:3], one.position, strict=False):
        here, there = loss.flip_margins(row), wide.flip_margins(row)
        assert all(here.losses[cell] == there.losses[cell] for cell in here.losses if cell[0] != CLASSES[action])


@laws
@given(losses, posteriors(), arrays(float, 3, elements=st.integers(-64, 64).map(lambda i: i / 4)), st.floats(0, 2))
def test_NF25_a_constant_per_truth_changes_no_decision(
    loss: LossMatrix, p: np.ndarray, shift: Any, cost: float
) -> None:
    loss = loss.with_refusal(cost)
    moved = LossMatrix(loss.actions, loss.classes, loss.table + shift)  # the refusal's row moves with the others
    decision = decide(p, loss)
    clear = decision.gap > 1e-9
    np.testing.assert_array_equal(decide(p, moved).action[clear], decision.action[clear])


@laws
@given(losses, posteriors(), arrays(float, 3, elements=st.integers(-64, 64).map(lambda i: i / 4)), st.floats(0, 2))
def test_NF25_a_constant_per_truth_moves_every_risk_alike(
    loss: LossMatrix, p: np.ndarray, shift: Any, cost: float
) -> None:
    loss = loss.with_refusal(cost)
    moved = LossMatrix(loss.actions, loss.classes, loss.table + shift)
    np.testing.assert_allclose(moved.risk(p) - loss.risk(p), np.repeat(p @ shift[:, None], 4, axis=1), atol=1e-9)
    one, other = decide(p, loss), decide(p, moved)
    np.testing.assert_allclose(one.gap, other.gap, atol=1e-9)
    for row, action in zip(p, one.action, strict=True):  # and every margin of a loss moves with its loss
        here, there = loss.flip_margins(row), moved.flip_margins(row)
        assert here.action == action
        for cell, stand in here.losses.items():
            by = float(shift[CLASSES.index(cell[1])])
            if here.action == there.action:
                ends = there.losses[cell]
                np.testing.assert_allclose((ends.low - by, ends.high - by), (stand.low, stand.high), atol=1e-6)


@laws
@given(losses, posteriors(), st.data())
def test_rows_with_amounts_are_decided_by_their_own_matrices(
    loss: LossMatrix, p: np.ndarray, data: st.DataObject
) -> None:
    pairs = st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES))
    loss = loss.with_amount(data.draw(st.none() | st.sets(pairs))).with_refusal(data.draw(st.floats(0, 3)))
    amount = data.draw(arrays(float, len(p), elements=st.floats(0, 1e6, width=32)))
    together = decide(p, loss, amount=amount)
    for n, (row, size) in enumerate(zip(p, amount, strict=True)):
        own = loss.at_amount(size)
        assert loss.risk(p, amount)[n] == pytest.approx(own.risk(row), abs=1e-9 * max(1.0, size))
        alone = decide(row[None], own)
        if alone.gap[0] > 1e-9 * max(1.0, size):
            assert together.action[n] == alone.action[0]
        assert loss.cost(together.position[[n]], np.array([1]), amount[[n]])[0] == own.table[together.position[n], 1]


@laws
@given(losses, posteriors(), st.data())
def test_margins_at_an_amount_are_those_of_the_cell_that_it_multiplies(
    loss: LossMatrix, p: np.ndarray, data: st.DataObject
) -> None:
    """In the units of the row's own matrix, `at_amount`, they are what they are without any amounts."""
    pairs = st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES))
    loss, size = loss.with_amount(data.draw(st.none() | st.sets(pairs))), data.draw(st.sampled_from([0.25, 1.0, 8.0]))
    units, wished = loss.units(size), data.draw(st.sampled_from(CLASSES))
    for row in p[:3]:
        here, own = loss.flip_margins(row, amount=size), loss.at_amount(size).flip_margins(row)
        asked, plain = loss.implied_losses(row, wished, amount=size), loss.at_amount(size).implied_losses(row, wished)
        assert (here.action, asked.action) == (own.action, plain.action)
        for (i, action), (j, truth) in product(enumerate(CLASSES), enumerate(CLASSES)):
            cell = (action, truth)
            for found, wanted in ((here.losses[cell], own.losses[cell]), (asked.losses[cell], plain.losses[cell])):
                assert (found is None) == (wanted is None)
                if found is not None and wanted is not None:
                    ends = np.array([wanted.low, wanted.high]) / units[i, j]
                    np.testing.assert_allclose((found.low, found.high), ends, rtol=1e-12)
        assert asked.least is not None and plain.least is not None
        np.testing.assert_allclose(asked.least.table * units, plain.least.table, atol=1e-9)
        for one, other in zip(here.nearest(9), own.nearest(9), strict=True):
            assert one.distance == pytest.approx(other.distance, rel=1e-9)


@laws
@given(losses, posteriors(), st.integers(0, 2**16), st.data())
def test_the_risk_of_held_out_rows_is_the_mean_of_their_own(
    loss: LossMatrix, p: np.ndarray, seed: int, data: st.DataObject
) -> None:
    """Each row is decided and priced by its own matrix; all amounts twice as large make twice the risk."""
    rng, pairs = np.random.default_rng(seed), st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES))
    amount, truth, weight = rng.gamma(1.0, 100.0, len(p)), rng.integers(0, 3, len(p)), rng.uniform(0.5, 2.0, len(p))
    held = HeldOut(CLASSES, log(p), np.full(p.shape, 1 / 3), truth, weight, Message("made up"))
    loss = loss.with_amount(data.draw(st.sets(pairs)))
    report = estimated_risk(held, loss, amount=amount)
    taken = report.decision.position
    paid = [loss.at_amount(m).table[a, j] for m, a, j in zip(amount, taken, truth, strict=True)]
    assert report.risk == pytest.approx(np.average(paid, weights=weight), abs=1e-9)
    assert compare_risk({"it": held}, loss, amount=amount)["risk"].iloc[0] == pytest.approx(report.risk, abs=1e-12)
    every = loss.with_amount()
    once, twice = (estimated_risk(held, every, amount=k * amount).risk for k in (1.0, 2.0))
    assert twice == pytest.approx(2.0 * once, rel=1e-9)
    ones = estimated_risk(held, loss, amount=np.ones(len(p)))
    plain = estimated_risk(held, loss.at_amount(1.0))
    assert ones.risk == plain.risk
    assert ones.decision.action.tolist() == plain.decision.action.tolist()


@laws
@given(losses, posteriors())
def test_one_amount_for_every_cell_changes_no_decision(loss: LossMatrix, p: np.ndarray) -> None:
    scaled, plain = decide(p, loss, amount=np.full(len(p), 8.0)), decide(p, loss)
    np.testing.assert_array_equal(scaled.action, plain.action)
    np.testing.assert_array_equal(scaled.tied, plain.tied)
    np.testing.assert_allclose(scaled.risk, 8.0 * plain.risk)


@laws
@given(losses, posteriors(), st.floats(0.01, 100))
def test_the_unit_of_the_loss_changes_no_decision(loss: LossMatrix, p: np.ndarray, unit: float) -> None:
    decision = decide(p, loss)
    clear = decision.gap > 1e-9
    scaled = decide(p, LossMatrix(CLASSES, CLASSES, loss.table * unit))
    np.testing.assert_array_equal(scaled.action[clear], decision.action[clear])


@laws
@given(st.one_of(losses, small), posteriors())
def test_NF29_orientation_turns_the_view_not_the_meaning(loss: LossMatrix, p: np.ndarray) -> None:
    shown = loss.to_frame(truth_in_rows=True)
    assert shown.loc["a", "b"] == loss.table[1, 0]  # truth a, decision b
    assert LossMatrix.from_any(shown.T, CLASSES) == loss
    assert LossMatrix.from_any(loss.to_frame(), CLASSES) == loss


@laws
@given(small, posteriors(), st.permutations(range(3)), st.permutations(range(3)))
def test_NF24_ties_go_by_name_whatever_the_order_of_rows_and_columns(
    loss: LossMatrix, p: np.ndarray, rows: list[int], columns: list[int]
) -> None:
    turned = LossMatrix([CLASSES[i] for i in rows], [CLASSES[j] for j in columns], loss.table[np.ix_(rows, columns)])
    one, other = decide(p, loss), decide(p[:, columns], turned)
    np.testing.assert_array_equal(one.action, other.action)
    np.testing.assert_array_equal(one.tied, other.tied)
    for i in np.flatnonzero(one.tied):
        risks = loss.risk(p[i : i + 1])[0]
        assert one.action[i] == min(c for c, r in zip(CLASSES, risks, strict=True) if r <= risks.min() + 1e-11)


@laws
@given(posteriors())
def test_zero_one_loss_is_argmax_and_its_risk_is_one_minus_the_posterior(p: np.ndarray) -> None:
    decision = decide(p, LossMatrix.zero_one(CLASSES))
    np.testing.assert_array_equal(decision.action, np.array(CLASSES)[p.argmax(axis=1)])
    np.testing.assert_allclose(decision.risk, 1 - p.max(axis=1), atol=1e-15)


@laws
@given(posteriors(), st.floats(0.001, 0.999))
def test_refusal_under_zero_one_loss_is_chows_rule(p: np.ndarray, cost: float) -> None:
    decision = decide(p, LossMatrix.zero_one(CLASSES).with_refusal(cost))
    clear = np.abs(1 - p.max(axis=1) - cost) > 1e-9
    np.testing.assert_array_equal((decision.action == "refuse")[clear], (1 - p.max(axis=1) > cost)[clear])


@laws
@given(losses, st.permutations(CLASSES))
def test_columns_are_matched_by_label(loss: LossMatrix, order: list[str]) -> None:
    pd.testing.assert_frame_equal(loss.for_classes(order).to_frame()[list(CLASSES)], loss.to_frame())


@laws
@given(losses, posteriors(), st.floats(0, 2))
def test_the_regions_of_the_simplex_hold_the_posteriors_decided_so(
    loss: LossMatrix, p: np.ndarray, cost: float
) -> None:
    loss = loss.with_refusal(cost)
    found = {region.action: region.corners for region in regions(loss)}
    assert sum(region.share for region in regions(loss)) == pytest.approx(1.0)
    decision = decide(p, loss)
    for row, action, gap in zip(p, decision.action, decision.gap, strict=True):
        if gap > 1e-6:
            assert _inside(row, found[action])
            assert not any(_inside(row, corners) for other, corners in found.items() if other != action)


def _inside(point: np.ndarray, corners: np.ndarray) -> bool:
    edges = np.roll(corners, -1, axis=0)[:, :2] - corners[:, :2]
    to = point[:2] - corners[:, :2]
    return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] >= -1e-12).all())
