"""Loss matrices: what is refused, and by which words; orientation and ties by worked examples."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import LossMatrix, Status
from bayes_engine.decision.loss import decide
from bayes_engine.errors import LossError


@pytest.mark.parametrize(
    ("table", "text"),
    [
        pytest.param(
            [[0, 1], [None, 0]],
            "the loss of deciding 'bad' when the truth is 'good' is no finite number",
            id="NF27-blank",
        ),
        pytest.param(
            [[0, np.nan], [1, 0]],
            "the loss of deciding 'good' when the truth is 'bad' is no finite number",
            id="NF27-nan",
        ),
        pytest.param(
            [[0, np.inf], [1, 0]], "the loss of deciding 'good' when the truth is 'bad' is no finite", id="NF27-inf"
        ),
        pytest.param(
            [[0, "much"], [1, 0]], "the loss of deciding 'good' when the truth is 'bad' is no finite", id="NF27-text"
        ),
        pytest.param(
            [[0, 1], [1]], "the loss of deciding 'bad' when the truth is 'bad' is no finite number", id="NF27-short-row"
        ),
        pytest.param(
            [[0, 1, 2], [1, 0, 2]],
            r"a loss matrix of 2 actions and 2 classes needs a table of that shape, not \(2, 3\)",
            id="NF26-wide",
        ),
        pytest.param([0, 1], r"needs a table of that shape, not \(2,\)", id="NF26-flat"),
    ],
)
def test_tables_refused(table: Any, text: str) -> None:
    with pytest.raises(LossError, match=text):
        LossMatrix(("good", "bad"), ("good", "bad"), table)


@pytest.mark.parametrize(
    ("actions", "classes", "text"),
    [
        (("good", "good"), ("good", "bad"), "the action 'good' stands twice in the loss matrix"),
        (("good", "bad"), ("bad", "bad"), "the class 'bad' stands twice in the loss matrix"),
    ],
)
def test_NF26_doubled_labels(actions: Any, classes: Any, text: str) -> None:
    with pytest.raises(LossError, match=text):
        LossMatrix(actions, classes, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        pytest.param([[0, 1], [1, 0]], "bare numbers do not say which class they belong to", id="list"),
        pytest.param(np.eye(2), "a loss is a LossMatrix, a frame or a mapping {decision: {truth: loss}}", id="array"),
        pytest.param(
            LossMatrix.zero_one(["good", "ripe"]), "the loss matrix has no column for the class 'bad'", id="missing"
        ),
        pytest.param(
            LossMatrix.zero_one(["good", "bad", "ripe"]),
            "the loss matrix has a column 'ripe' that is no class of the model",
            id="extra",
        ),
        pytest.param(
            {"good": {"good": 0, "bad": 5}, "bad": {"good": 1}},
            "the loss of deciding 'bad' when the truth is 'bad'",
            id="gap",
        ),
        pytest.param(
            pd.DataFrame([[0, 1], [1, 0]], ["x", "x"], ["good", "bad"]), "the action 'x' stands twice", id="frame"
        ),
    ],
)
def test_NF26_losses_that_do_not_fit_the_classes(loss: Any, text: str) -> None:
    with pytest.raises(LossError, match=text):
        LossMatrix.from_any(loss, ["good", "bad"])


def test_NF29_rows_are_decisions_and_columns_truths() -> None:
    """The watermelon stall: selling a bad melon costs 5, setting a good one aside 1."""
    loss = LossMatrix.from_any({"good": {"good": 0, "bad": 5}, "bad": {"good": 1, "bad": 0}}, ["good", "bad"])
    p = np.array([[0.8, 0.2], [0.9, 0.1]])
    assert loss.risk(p) == pytest.approx(np.array([[1.0, 0.8], [0.5, 0.9]]))
    decision = decide(p, loss)
    assert decision.action.tolist() == ["bad", "good"]
    assert decision.risk == pytest.approx([0.8, 0.5]) and decision.gap == pytest.approx([0.2, 0.4])
    assert loss.to_frame(truth_in_rows=True).loc["bad", "good"] == 5.0


def test_NF26_a_rectangular_matrix_and_labels_that_are_numbers() -> None:
    loss = LossMatrix.from_any({0: {1: 3, 0: 0}, "ask": {1: 0.5, 0: 0.5}, 1: {0: 1, 1: 0}}, [0, 1])
    assert loss.classes == (0, 1) and loss.table[list(loss.actions).index(0)].tolist() == [0.0, 3.0]
    assert decide(np.array([[0.95, 0.05], [0.7, 0.3], [0.1, 0.9]]), loss).action.tolist() == [0, "ask", 1]


def test_NF24_ties_go_to_the_class_that_sorts_first_then_to_the_action_by_name() -> None:
    half = np.array([[0.5, 0.5]])
    for order in (("b", "a"), ("a", "b")):
        decision = decide(half, LossMatrix.zero_one(order))
        assert decision.action.tolist() == ["a"] and decision.tied.tolist() == [True]
    flat = LossMatrix(("wait", "ask", "b", "a"), ("b", "a"), np.ones((4, 2)))
    assert decide(half, flat).action.tolist() == ["a"]
    extra = LossMatrix(("wait", "ask", "b"), ("b", "a"), [[1, 1], [1, 1], [2, 2]])
    assert decide(half, extra).action.tolist() == ["ask"]


def test_NF24_the_tolerance_is_relative_to_the_largest_loss() -> None:
    loss = LossMatrix.zero_one(["a", "b"])
    for scale in (1e-6, 1.0, 1e9):
        scaled = LossMatrix(["a", "b"], ["a", "b"], loss.table * scale)
        tied = decide(np.array([[0.5 - 1e-14, 0.5 + 1e-14], [0.5 - 1e-9, 0.5 + 1e-9]]), scaled)
        assert tied.tied.tolist() == [True, False] and tied.action.tolist() == ["a", "b"]


def test_NF24_ties_among_mixed_labels() -> None:
    assert decide(np.array([[0.5, 0.5]]), LossMatrix.zero_one(["1", 1])).action.tolist() == [1]


def test_NF25_gains_are_negative_losses() -> None:
    gain = LossMatrix(("sell", "keep"), ("good", "bad"), [[-3, 2], [0, 0]])
    assert decide(np.array([[0.5, 0.5], [0.3, 0.7]]), gain).action.tolist() == ["sell", "keep"]


@pytest.mark.parametrize(
    ("table", "ignores"),
    [([[0, 1], [1, 0]], False), ([[1, 1], [1, 1]], True), ([[0, 0], [1, 5]], True), ([[2, 1], [0, 3]], False)],
)
def test_NF28_a_loss_under_which_the_data_say_nothing(table: Any, ignores: bool) -> None:
    assert LossMatrix("ab", "ab", table).ignores_data is ignores


def test_NF27_zero_times_nothing_is_never_nan() -> None:
    p = np.array([[0.0, 0.0], [1.0, 0.0]])
    decision = decide(
        p, LossMatrix("ab", "ab", [[0, 1e9], [1, 0]]), np.array([Status.IMPOSSIBLE, Status.OK], dtype=np.int8)
    )
    assert decision.action.tolist() == [None, "a"] and decision.risk.tolist() == [np.inf, 0.0]
    assert decision.tied.tolist() == [False, False]


def test_refusal_by_name_once() -> None:
    loss = LossMatrix.zero_one("ab").with_refusal(0.25)
    assert decide(np.array([[0.8, 0.2], [0.7, 0.3]]), loss).action.tolist() == ["a", "refuse"]
    with pytest.raises(LossError, match="there is already an action 'refuse'"):
        loss.with_refusal(0.1)
    with pytest.raises(LossError, match="the loss of deciding 'ask' when the truth is 'a' is no finite number"):
        loss.with_refusal(float("nan"), "ask")


def test_a_loss_is_a_value() -> None:
    loss = LossMatrix.zero_one("ab")
    assert loss == LossMatrix("ab", "ab", [[0, 1], [1, 0]]) and hash(loss) == hash(pickle.loads(pickle.dumps(loss)))  # noqa: S301
    assert loss != loss.with_refusal(0.1) and loss != "0-1"
    assert len({LossMatrix("ab", "ab", [[-0.0, 1], [1, 0]]), loss}) == 1
    with pytest.raises(ValueError, match="read-only"):
        loss.table[0, 0] = 3.0
    given = np.array([[0.0, 1.0], [1.0, 0.0]])
    kept = LossMatrix("ab", "ab", given)
    given[0, 0] = 9.0
    assert kept == loss
