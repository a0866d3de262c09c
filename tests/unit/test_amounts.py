"""Losses per unit of a row's amount, from the estimators to the curves: each row by its own matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    AODE,
    CalibratedClassifier,
    LossMatrix,
    MinimumRiskClassifier,
    NaiveBayes,
    SemiSupervisedNB,
    Status,
    ask,
    estimated_risk,
    held_out,
    interview,
    risk_scorer,
)
from bayes_engine.decision.ask import decision_now, outcomes, value_of_everything
from bayes_engine.decision.compare import differences
from bayes_engine.decision.curves import cost_weights, error_costs, one_against_rest, risk_by_threshold, threshold_sweep
from bayes_engine.decision.refusal import refusal_for_error
from bayes_engine.errors import LossError, TableError
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.incoming.classified_file import decision_counts
from tests.classified_files import as_csv, receive, score

LOAN = LossMatrix(("good", "bad"), ("good", "bad"), [[0, 0.6], [300, 0]]).with_amount([("good", "bad")])
"""Granting to a bad payer loses 60 % of the sum, refusing a good one 300 whatever the sum."""


@pytest.fixture(scope="module")
def loans() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Age and account, who paid back, and sums from small to large."""
    rng = np.random.default_rng(5)
    n = 160
    y = np.where(rng.random(n) < 0.7, "good", "bad")
    age = rng.normal(np.where(y == "good", 42.0, 34.0), 9.0)
    account = np.where(rng.random(n) < np.where(y == "good", 0.7, 0.3), "full", "low")
    return pd.DataFrame({"age": age, "account": account}), y, rng.gamma(1.2, 2500.0, n)


# deciding -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        AODE(discretize="mdlp"),
        SemiSupervisedNB(NaiveBayes()),
        MinimumRiskClassifier(NaiveBayes(), LOAN),
        CalibratedClassifier(NaiveBayes()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_decides_row_by_row(model: Any, loans: Any) -> None:
    X, y, amount = loans
    fitted = model.fit(X, y)
    together = fitted.decide(X, LOAN, amount=amount)
    rows = range(0, len(X), 8)
    alone = [fitted.decide(X.iloc[[i]], LOAN.at_amount(amount[i])) for i in rows]
    assert together.action[rows].tolist() == [d.action[0] for d in alone]
    assert set(together.action) == {"good", "bad"}
    np.testing.assert_allclose(together.risk[rows], [d.risk[0] for d in alone])
    plain = fitted.decide(X, LOAN.at_amount(1.0))
    assert together.action.tolist() != plain.action.tolist()
    ones = fitted.decide(X, LOAN, amount=np.ones(len(X)))
    np.testing.assert_allclose(ones.risk, plain.risk)
    with pytest.raises(LossError, match="is per unit of a row's amount, and there are no amounts"):
        fitted.decide(X, LOAN)
    if hasattr(fitted, "risk"):
        np.testing.assert_allclose(fitted.risk(X, LOAN, amount=amount).min(axis=1), together.risk)
    with pytest.raises(LossError, match="the amount of row 2 is nan"):
        fitted.decide(X.head(2), LOAN, amount=[1.0, np.nan])


def test_the_scorer_takes_its_amounts_from_a_column(loans: Any) -> None:
    X, y, amount = loans
    X = X.assign(sum=amount)
    model = NaiveBayes().fit(X, y)
    decision = model.decide(X, LOAN, amount=amount)
    paid = [LOAN.at_amount(m).cell(a, c) for m, a, c in zip(amount, decision.action, y, strict=True)]
    assert -risk_scorer(LOAN, amount="sum")(model, X, y) == pytest.approx(np.mean(paid))
    assert risk_scorer(LOAN, amount="sum")(MinimumRiskClassifier(model).fit(X, y), X, y) == pytest.approx(
        -np.mean(paid)
    )


def test_losses_per_unit_are_scored_with_amounts_or_not_at_all(loans: Any) -> None:
    X, y, _amount = loans
    with pytest.raises(LossError, match="pass the column that holds them as amount="):
        risk_scorer(LOAN)
    model = MinimumRiskClassifier(NaiveBayes(), LOAN).fit(X, y)
    for scored in (X, X.to_numpy()):
        with pytest.raises(LossError, match="X has no column 'sum', whose amounts multiply losses; add the column"):
            risk_scorer(LOAN, amount="sum")(NaiveBayes().fit(X, y) if scored is X else _Known(), scored, y)
    with pytest.raises(LossError, match="there are no amounts"):
        model.predict(X)
    with pytest.raises(LossError, match="there are no amounts"):
        estimated_risk(held_out(NaiveBayes().fit(X, y), X, y), LOAN)


class _Known:
    """What a scorer asks of an estimator before it looks for amounts."""

    classes_ = np.array(["bad", "good"])


def test_a_file_is_decided_at_its_own_amounts_and_a_bad_one_costs_its_row_only(loans: Any) -> None:
    X, y, _amount = loans
    model = NaiveBayes().fit(X, y)
    file = pd.DataFrame(
        {
            "age": ["35", "35", "35", "35", "35"],
            "account": ["full"] * 5,
            "sum": ["200", "9000", "", "much", "-1"],
            "y": ["good", "bad", "good", "good", "good"],
        }
    )
    rows = receive(file, model.schema_, Variable("y", "binary", ("good", "bad")), amount="sum")
    sums = rows.amount
    assert [(cell.row, cell.column, cell.value, cell.why) for cell in rows.bad] == [
        (2, "sum", "", "missing"),
        (3, "sum", "much", "no number"),
        (4, "sum", "-1", "negative"),
    ]
    scored = score(model, rows)
    decision = scored.decide(LOAN, amount=sums)
    p = scored.posterior()[0]
    own = [LOAN.for_classes(scored.ledger.classes).at_amount(m).risk(p[None])[0] for m in (200.0, 9000.0)]
    assert decision.action.tolist() == ["good", "bad", None, None, None]
    np.testing.assert_allclose(decision.risk[:2], [risk.min() for risk in own])
    assert decision.status.tolist() == [Status.OK] * 2 + [Status.UNREADABLE] * 3
    count = decision_counts(rows, decision, LOAN, ("good", "bad"), amount=sums)
    assert (count.known, count.right, count.mean_loss) == (2, 2, 0.0)
    granted = scored.decide(LossMatrix(("good", "bad"), ("good", "bad"), [[0, 0.01], [9, 0]]), amount=sums)
    wrong = decision_counts(rows, granted, LOAN, ("good", "bad"), amount=sums)
    assert wrong.mean_loss == pytest.approx(0.6 * 9000 / 2)
    written = as_csv(model, rows, scored, LOAN, ("good", "bad"), amount=sums).decode("utf-8-sig")
    assert [line.split(",")[4] for line in written.splitlines()[1:]] == ["good", "bad", "", "", ""]
    assert "sum = much (no number)" in written


# margins ------------------------------------------------------------------------------------------------------------


def test_a_margin_is_a_value_of_the_cell_as_it_stands() -> None:
    p, amount = [0.8, 0.2], 5000.0
    margins = LOAN.flip_margins(p, {"good": 0.7, "bad": 0.3}, amount=amount)
    assert margins.action == "bad"  # granting risks 0.2 · 0.6 · 5000 = 600, refusing 0.8 · 300 = 240
    assert margins.losses["good", "bad"].low == pytest.approx(240 / (0.2 * amount))
    assert margins.losses["bad", "good"].high == pytest.approx(600 / 0.8)
    past = margins.losses["good", "bad"].low - 1e-9
    assert LOAN.with_cell("good", "bad", past).at_amount(amount).flip_margins(p).action == "good"
    assert margins.priors == LOAN.at_amount(amount).flip_margins(p, {"good": 0.7, "bad": 0.3}).priors
    first, second = margins.nearest(2, right=False)
    assert (first.action, first.now, second.action, second.now) == ("bad", 300.0, "good", 0.6)
    assert first.distance == pytest.approx((600 / 0.8 - 300) / 3000)  # in money: 450 of a spread of 3000
    assert second.distance == pytest.approx((600 - 240) / 0.2 / 3000)


def test_with_nothing_to_multiply_a_cell_cannot_flip_the_decision() -> None:
    margins = LOAN.flip_margins([0.8, 0.2], amount=0.0)
    stand = margins.losses["good", "bad"]
    assert (margins.action, stand.low, stand.high, stand.below, stand.above) == ("good", -np.inf, np.inf, None, None)
    implied = LOAN.implied_losses([0.8, 0.2], "bad", amount=0.0)
    assert implied.losses["good", "bad"] is None
    assert implied.losses["bad", "good"] is not None and implied.losses["bad", "good"].high == pytest.approx(0.0)
    assert implied.least is None


@pytest.mark.parametrize("amount", [-1.0, np.nan, np.inf])
def test_margins_refuse_what_is_no_amount(amount: float) -> None:
    with pytest.raises(LossError, match="an amount is a number of 0 and more"):
        LOAN.flip_margins([0.8, 0.2], amount=amount)


def test_refusing_compares_risks_at_each_rows_own_amount() -> None:
    p = np.array([[0.9, 0.1], [0.9, 0.1]])
    found = refusal_for_error(p, np.array([0, 1]), LOAN, 0.0, amount=[100.0, 4000.0])
    assert found.risks.tolist() == pytest.approx([6.0, 240.0])  # 0.1 · 0.6 · 100, and 0.1 · 0.6 · 4000
    assert (found.coverage, found.cost) == (0.5, pytest.approx(6.0))
    refusing = LOAN.with_refusal(found.cost)
    decided = [refusing.at_amount(m).flip_margins(row).action for m, row in zip((99.0, 4000.0), p, strict=True)]
    assert decided == ["good", "refuse"]


# what to ask --------------------------------------------------------------------------------------------------------


def test_a_question_is_worth_what_it_saves_at_the_cases_amount(loans: Any) -> None:
    X, y, _amount = loans
    X = X.assign(age=np.where(X["age"] > 38, "old", "young"))
    model, row = NaiveBayes().fit(X, y), X.iloc[[0]].assign(account=None)
    own = LOAN.at_amount(500.0)
    for function, extra in ((ask, {}), (interview, {}), (decision_now, {}), (value_of_everything, {})):
        told = function(model, row, LOAN, amount=500.0, **extra)
        plain = function(model, row, own, **extra)
        assert repr(told) == repr(plain), function.__name__
    assert outcomes(model, row, "account", LOAN, amount=500.0) == outcomes(model, row, "account", own)
    at_one = ask(model, row, LOAN.at_amount(1.0))
    assert ask(model, row, LOAN, amount=500.0).questions[0].gain != at_one.questions[0].gain
    with pytest.raises(LossError, match="there are no amounts"):
        ask(model, row, LOAN)


# over all rows ------------------------------------------------------------------------------------------------------


def test_curves_price_every_row_at_its_own_amount(loans: Any) -> None:
    X, y, amount = loans
    held = held_out(NaiveBayes().fit(X, y), X, y)
    p = held.posterior()[0][:, held.classes.index("good")]
    steps = risk_by_threshold(held, LOAN, "good", amount=amount)
    for t in (0.0, 0.3, 0.5, 0.8, 1.1):
        actions = np.where(p >= t, "good", "bad")
        paid = [LOAN.at_amount(m).cell(a, c) for m, a, c in zip(amount, actions, y, strict=True)]
        assert steps.at(t) == pytest.approx(np.mean(paid))
    weight = cost_weights(LOAN, held, amount)
    assert weight is not None
    np.testing.assert_array_equal(weight, np.where(y == "bad", amount, 1.0))
    seen = one_against_rest(held, "good", amount=weight)
    swept = threshold_sweep(seen)
    priced = error_costs(LOAN, "good", swept.share)
    assert priced is not None  # the ROC curve's prices, with rows weighed by their stakes, are the same risk
    np.testing.assert_allclose(priced.risk(swept) * weight.sum() / len(y), steps.risk, rtol=1e-9)


def test_stakes_are_the_amounts_or_do_not_exist(loans: Any) -> None:
    X, y, amount = loans
    held = held_out(NaiveBayes().fit(X, y), X, y)
    whole = LossMatrix(LOAN.actions, LOAN.classes, LOAN.table)
    np.testing.assert_array_equal(cost_weights(whole, held, amount), amount)
    assert cost_weights(LOAN.with_cell("good", "good", -5.0), held, amount) is None  # a right decision gains something
    with pytest.raises(TableError, match="the amount column has a missing"):
        cost_weights(LOAN, held, np.where(np.arange(len(y)) == 3, np.nan, amount))


def test_models_are_compared_at_each_rows_own_amount(loans: Any) -> None:
    X, y, amount = loans
    held = {name: held_out(NaiveBayes(**how).fit(X, y), X, y) for name, how in (("one", {}), ("two", {"alpha": 40.0}))}
    found = differences(held, "risk", LOAN, amount=amount)
    apart = [estimated_risk(h, LOAN, amount=amount).risk for h in held.values()]
    assert found["difference"].iloc[0] == pytest.approx(apart[0] - apart[1])


def test_0_1_decisions_are_priced_by_amounts_without_a_say_in_them(loans: Any) -> None:
    X, y, amount = loans
    held = held_out(NaiveBayes().fit(X, y), X, y)
    plain = LossMatrix.zero_one(held.classes)
    report = estimated_risk(held, LOAN, amount=amount, decide_by=plain)
    likeliest = np.array(held.classes)[held.posterior()[0].argmax(axis=1)]
    assert report.decision.action.tolist() == likeliest.tolist()
    paid = [LOAN.at_amount(m).cell(a, c) for m, a, c in zip(amount, likeliest, y, strict=True)]
    assert report.risk == pytest.approx(np.mean(paid))
    assert report.risk > estimated_risk(held, LOAN, amount=amount).risk


def test_an_amount_of_zero_that_multiplies_all_losses_changes_no_decision(loans: Any) -> None:
    X, y, amount = loans
    held, plain = held_out(NaiveBayes().fit(X, y), X, y), LossMatrix.zero_one(("bad", "good"))
    amount = np.where(np.arange(len(amount)) % 2, amount, 0.0)
    weighed, alone = estimated_risk(held, plain, amount=amount), estimated_risk(held, plain)
    assert len(set(alone.decision.action)) == 2
    np.testing.assert_array_equal(weighed.confusion, alone.confusion)
    assert weighed.risk == pytest.approx(np.mean(amount * (alone.decision.action != y)))
