"""Loss matrices: what is refused, and by which words; orientation and ties by worked examples."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import LossMatrix, Status
from bayes_engine.decision.decision_boundaries import least_risk_action
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


# a row's amount -------------------------------------------------------------------------------------------------

LOAN = LossMatrix(("grant", "decline"), ("repays", "defaults"), [[0, 1], [30, 0]])


def test_orientation_is_said_where_it_is_turned() -> None:
    turned = LOAN.to_frame(truth_in_rows=True)
    assert LossMatrix.from_any(turned, LOAN.classes, truth_in_rows=True) == LOAN
    with pytest.raises(LossError, match="the loss matrix has no column for the class 'repays'"):
        LossMatrix.from_any(turned, LOAN.classes)


def test_an_amount_multiplies_the_cells_it_is_told_to() -> None:
    """Granting a loan that defaults costs the sum lent; declining one that would be repaid costs 30 flat."""
    loss = LOAN.with_amount([("grant", "defaults")])
    p = np.array([[0.9, 0.1]] * 3)
    assert loss.risk(p, [100, 1000, 0]).tolist() == pytest.approx(np.array([[10, 27], [100, 27], [0, 27]]))
    decision = decide(p, loss, amount=[100, 1000, 0])
    assert decision.action.tolist() == ["grant", "decline", "grant"]
    assert decision.gap == pytest.approx([17, 73, 27])
    assert loss.cost(np.array([0, 0, 1]), np.array([1, 0, 0]), [100, 1000, 50]).tolist() == [100.0, 0.0, 30.0]
    for n, amount in enumerate((100, 1000, 0)):
        own = loss.at_amount(amount)
        assert decide(p[:1], own).risk[0] == pytest.approx(decision.risk[n])
    assert loss.risk(p[:1], [1]).tolist() == LOAN.risk(p[:1]).tolist()


def test_losses_per_unit_are_refused_without_amounts() -> None:
    """NF: a matrix per unit of a sum, decided without sums, took every loan for one of 1."""
    p, why = np.array([[0.9, 0.1]] * 2), "deciding 'grant' when the truth is 'defaults' is per unit of a row's amount"
    for loss in (LOAN.with_amount([("grant", "defaults")]), LOAN.with_amount([("grant", "defaults")]).with_refusal(3)):
        for asked in (
            lambda loss=loss: loss.risk(p),
            lambda loss=loss: decide(p, loss),
            lambda loss=loss: loss.cost(np.array([0, 1]), np.array([1, 0])),
            lambda loss=loss: loss.cost(np.array([-1, 1]), np.array([1, 0])),
            lambda loss=loss: loss.flip_margins(p[0]),
            lambda loss=loss: loss.implied_losses(p[0], "decline"),
        ):
            with pytest.raises(LossError, match=why):
                asked()
    with pytest.raises(LossError, match="pass the column that holds them as amount="):
        decide(p, LOAN.with_amount())
    assert decide(p, LOAN.with_amount([])).action.tolist() == decide(p, LOAN).action.tolist()  # all are fixed sums


def test_without_a_word_an_amount_multiplies_the_whole_matrix() -> None:
    p = np.array([[0.9, 0.1], [0.99, 0.01]])
    assert LOAN.risk(p, [2, 3]) == pytest.approx(LOAN.risk(p) * [[2], [3]])
    assert LOAN.with_amount().risk(p, [2, 3]) == pytest.approx(LOAN.risk(p, [2, 3]))
    assert decide(p, LOAN, amount=[2, 3]).action.tolist() == decide(p, LOAN).action.tolist()


def test_a_refusal_costs_the_same_whatever_the_amount() -> None:
    loss = LOAN.with_amount().with_refusal(20, "ask")
    assert loss.at_amount(50).table.tolist() == [[0, 50], [1500, 0], [20, 20]]
    assert LOAN.with_refusal(20, "ask").at_amount(50).table[2].tolist() == [1000, 1000]  # said of no cell: of all
    p = np.array([[0.5, 0.5]] * 2)
    assert decide(p, loss, amount=[10, 1000]).action.tolist() == ["grant", "ask"]


def test_with_an_amount_of_zero_nothing_is_at_stake() -> None:
    decision = decide(np.array([[0.1, 0.9]]), LOAN.with_amount(), amount=[0])
    assert (decision.tied.tolist(), decision.risk.tolist(), decision.action.tolist()) == ([True], [0.0], ["decline"])


def test_ties_are_tied_on_the_scale_of_the_row() -> None:
    p = np.array([[0.5 - 1e-14, 0.5 + 1e-14]] * 2)
    loss = LossMatrix.zero_one("ab").with_amount()
    assert decide(p, loss, amount=[1e-6, 1e9]).tied.tolist() == [True, True]
    apart = np.array([[0.5 - 1e-9, 0.5 + 1e-9]] * 2)
    assert decide(apart, loss, amount=[1e-6, 1e9]).tied.tolist() == [False, False]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ([1, np.nan], "the amount of row 2 is nan; an amount is a number of 0 and more"),
        ([-3, 1], r"the amount of row 1 is -3\.0; an amount"),
        ([1, np.inf], "the amount of row 2 is inf"),
        ([1], r"there are 2 rows and amounts of the shape \(1,\)"),
        (5, r"there are 2 rows and amounts of the shape \(\)"),
        ("sum", r"amounts are numbers, one for each of the 2 rows, such as X\['sum'\]"),
    ],
)
def test_amounts_refused(amount: Any, text: str) -> None:
    p = np.array([[0.5, 0.5]] * 2)
    with pytest.raises(LossError, match=text):
        LOAN.risk(p, amount)
    with pytest.raises(LossError, match=text):
        decide(p, LOAN, amount=amount)


def test_a_cell_that_is_not_there_takes_no_amount() -> None:
    with pytest.raises(LossError, match="no cell for deciding 'grant' when the truth is 'dies'"):
        LOAN.with_amount([("grant", "dies")])


def test_amounts_travel_with_the_labels() -> None:
    loss = LOAN.with_amount([("grant", "defaults")])
    turned = loss.for_classes(("defaults", "repays"))
    assert turned.by_amount is not None and turned.by_amount.tolist() == [[True, False], [False, False]]
    assert turned.for_classes(LOAN.classes) == loss and hash(turned.for_classes(LOAN.classes)) == hash(loss)
    assert loss != LOAN and LOAN.with_amount() != LOAN and loss.spread == 30.0
    assert pickle.loads(pickle.dumps(loss)) == loss  # noqa: S301
    with pytest.raises(ValueError, match="read-only"):
        loss.by_amount[0, 0] = True  # type: ignore[index]


def test_a_huge_loss_of_a_third_action_ties_nothing() -> None:
    p = np.array([[0.1, 0.9]])
    loss = LossMatrix(("bad", "good", "sell"), ("bad", "good"), [[0, 1], [1, 0], [1e12, 1e12]])
    decision = decide(p, loss)
    assert (decision.action[0], decision.tied[0], decision.gap[0]) == ("good", False, 0.8)
    assert least_risk_action(np.log(p), loss.table).tolist() == [1]
    assert loss.flip_margins(p[0], {"bad": 0.5, "good": 0.5}).nearest_priors()[0].at == pytest.approx(0.9)
    soonest = loss.flip_margins(p[0]).nearest(1)[0]
    assert (soonest.action, soonest.truth, soonest.at) == ("bad", "good", pytest.approx(1 / 9))


def test_a_huge_loss_under_an_impossible_class_ties_nothing() -> None:
    loss = LossMatrix.zero_one("abc").with_cell("a", "c", 1e15).with_cell("b", "c", -1e15)
    decision = decide(np.array([[0.4, 0.6, 0.0], [0.5, 0.5, 0.0]]), loss)
    assert decision.action.tolist() == ["b", "a"]
    assert decision.tied.tolist() == [False, True]


def test_what_an_action_saves_most_between_two_classes_is_the_linear_programs_optimum() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    for n in range(20):
        losses = [rng.integers(0, 4, (4, 2)).astype(float), rng.normal(size=(3, 2)) * 10.0 ** rng.integers(-3, 6)][
            n % 2
        ]
        saved = losses[:-1] - losses[-1]
        bounds = [(0, None), (0, None), (None, None)]
        scale = max(float(abs(saved).max()), 1e-300)
        above = np.c_[-saved / scale, np.ones(len(saved))]
        solved = linprog([0, 0, -1], above, np.zeros(len(saved)), [[1, 1, 0]], [1], bounds)
        loss = LossMatrix([f"a{i}" for i in range(len(losses))], ("x", "y"), losses)
        assert loss.most_saved(loss.actions[-1]) == pytest.approx(-solved.fun * scale, rel=1e-9, abs=1e-12 * scale)
