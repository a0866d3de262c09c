"""Decision regions on the probability simplex: cut points of two classes, polygons of three, by worked examples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import LossError
from tests.conftest import examples
from tests.simplex import Cut, cuts, regions


def test_two_classes_are_cut_where_the_risks_are_equal() -> None:
    """Selling a bad melon costs 5, keeping a good one 1: sell from P(good) = 5/6 on."""
    loss = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 5], [1, 0]])
    assert cuts(loss) == [Cut(0.0, pytest.approx(5 / 6), "bad"), Cut(pytest.approx(5 / 6), 1.0, "good")]
    turned = loss.for_classes(("bad", "good"))  # P(bad) then
    assert cuts(turned) == [Cut(0.0, pytest.approx(1 / 6), "good"), Cut(pytest.approx(1 / 6), 1.0, "bad")]


def test_chows_rule_refuses_between_the_cost_and_one_minus_it() -> None:
    found = cuts(LossMatrix.zero_one("ab").with_refusal(0.2))
    assert found == [
        Cut(0.0, pytest.approx(0.2), "b"),
        Cut(pytest.approx(0.2), pytest.approx(0.8), "refuse"),
        Cut(pytest.approx(0.8), 1.0, "a"),
    ]
    assert [cut.action for cut in cuts(LossMatrix.zero_one("ab").with_refusal(0.5))] == ["b", "a"]  # a point is no part


def test_an_action_dearer_throughout_and_one_just_like_another_have_no_part() -> None:
    loss = LossMatrix(("z", "a", "b", "dear"), ("a", "b"), [[0, 1], [0, 1], [1, 0], [2, 2]])
    assert [cut.action for cut in cuts(loss)] == ["b", "a"]  # the class before the other action
    assert cuts(LossMatrix(("wait", "ask"), ("a", "b"), np.ones((2, 2)))) == [Cut(0.0, 1.0, "ask")]


def test_three_classes_under_zero_one_loss_meet_in_the_middle() -> None:
    found = regions(LossMatrix.zero_one("abc"))
    assert [region.action for region in found] == ["a", "b", "c"]
    third = np.full(3, 1 / 3)
    for k, region in enumerate(found):
        assert region.share == pytest.approx(1 / 3)
        assert len(region.corners) == 4
        assert np.isclose(region.corners, third).all(axis=1).any()
        assert (region.corners == np.eye(3)[k]).all(axis=1).any()


def test_a_refusal_in_the_middle_is_a_triangle_or_a_hexagon() -> None:
    half, dear = (
        regions(LossMatrix.zero_one("abc").with_refusal(0.5)),
        regions(LossMatrix.zero_one("abc").with_refusal(0.6)),
    )
    assert len(half[-1].corners) == 3
    assert half[-1].share == pytest.approx(1 / 4)
    assert len(dear[-1].corners) == 3 and dear[-1].share == pytest.approx(0.04)  # all posteriors below 0.4
    assert len(regions(LossMatrix.zero_one("abc").with_refusal(0.4))[-1].corners) == 6
    assert [r.action for r in regions(LossMatrix.zero_one("abc").with_refusal(0.7))] == ["a", "b", "c"]


def test_a_rectangular_matrix_and_actions_without_a_region() -> None:
    loss = LossMatrix(("act", "wait", "never"), ("a", "b", "c"), [[0, 1, 1], [0.5, 0.5, 0.5], [2, 2, 2]])
    act, wait = regions(loss)
    assert (act.action, wait.action) == ("act", "wait")
    assert act.share == pytest.approx(1 / 4)
    assert wait.share == pytest.approx(3 / 4)


@pytest.mark.slow
@examples(60)
@given(arrays(float, (4, 2), elements=st.integers(-8, 8).map(lambda v: v / 4)))
def test_a_scan_of_the_bar_is_decided_as_cut(table: np.ndarray) -> None:
    loss = LossMatrix(("a", "b", "refuse", "ask"), ("a", "b"), table)
    found = cuts(loss)
    assert found[0].low == 0.0 and found[-1].high == 1.0
    assert all(one.high == pytest.approx(next_.low) for one, next_ in pairwise(found))
    for t in np.linspace(0.0013, 0.9987, 401):
        inside = [cut.action for cut in found if cut.low + 1e-9 < t < cut.high - 1e-9]
        if inside:
            assert decide(np.array([[t, 1 - t]]), loss).action[0] == inside[0]


def test_other_numbers_of_classes_are_refused() -> None:
    with pytest.raises(LossError, match="these regions are drawn for 2 classes; the losses have 3"):
        cuts(LossMatrix.zero_one("abc"))
    with pytest.raises(LossError, match="these regions are drawn for 3 classes; the losses have 2"):
        regions(LossMatrix.zero_one("ab"))
