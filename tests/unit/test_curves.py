"""One class against the rest: every curve beside scikit-learn's and beside loops written by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_engine.decision.compare import (
    MEASURES,
    compare,
    compare_risk,
    differences,
    rows_held_impossible,
    score,
)
from bayes_engine.decision.curves import (
    ErrorCosts,
    RiskSteps,
    ThresholdSweep,
    best_point,
    brier_parts,
    calibration,
    cost_curve,
    error_costs,
    one_against_rest,
    risk_by_threshold,
    threshold_sweep,
)
from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.evaluate import estimated_risk, resampled_means
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.language import Message
from bayes_engine.logspace import exp, log
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.models.discriminative import PosteriorOnly
from bayes_engine.models.minimum_risk import MinimumRiskClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.workbench.figures import curves as drawn
from tests.conftest import examples

LOSS = LossMatrix(("ill", "well"), ("ill", "well"), [[0.5, 1], [7, -0.25]])


def rows(n: int = 400, k: int = 2, *, seed: int = 0, weighted: bool = True, coarse: bool = False) -> HeldOut:
    """Held-out rows of k classes that are somewhat predicted; `coarse` posteriors have many ties."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    joint = rng.normal(0.0, 1.5, (n, k)) + 1.5 * np.eye(k)[truth]
    p = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    if coarse:
        p = np.round(p, 1) + 0.05
        p /= p.sum(axis=1, keepdims=True)
    classes = ("ill", "well", "new")[:k]
    weight = rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)
    return HeldOut(classes, log(p), np.full((n, k), 1 / k), truth, weight, Message("by hand"))


# beside scikit-learn --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_roc_and_precision_recall_are_scikit_learns(k: int, coarse: bool) -> None:
    held = rows(k=k, coarse=coarse)
    seen = one_against_rest(held, "ill")
    seen = seen._replace(score=seen.score.round(9))  # scikit-learn takes the last bit for a difference
    found = threshold_sweep(seen)
    fpr, tpr, thresholds = metrics.roc_curve(
        seen.positive, seen.score, sample_weight=seen.weight, drop_intermediate=False
    )
    np.testing.assert_allclose(found.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(found.tpr, tpr, atol=1e-12)
    np.testing.assert_allclose(found.score[1:], thresholds[1:])
    assert found.area == pytest.approx(
        metrics.roc_auc_score(seen.positive, seen.score, sample_weight=seen.weight), abs=1e-12
    )
    precision, recall, _t = metrics.precision_recall_curve(seen.positive, seen.score, sample_weight=seen.weight)
    np.testing.assert_allclose(found.precision, precision[::-1], atol=1e-12)
    np.testing.assert_allclose(found.tpr, recall[::-1], atol=1e-12)
    expected = metrics.average_precision_score(seen.positive, seen.score, sample_weight=seen.weight)
    assert found.average_precision == pytest.approx(expected)
    np.testing.assert_allclose(found.threshold[1:], np.unique(seen.p.round(9))[::-1], atol=1e-8)


def test_the_first_limit_is_above_one_and_one_false_alarm_is_no_precision() -> None:
    sweep = ThresholdSweep(np.array([np.inf, 2.0, 1.0]), np.array([0.0, 0.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    assert sweep.precision.tolist() == [1.0, 0.0, pytest.approx(2 / 3)]
    assert sweep.threshold[0] == np.nextafter(1.0, 2.0)


def test_scores_are_scikit_learns() -> None:
    for k in (2, 3):
        held = rows(k=k)
        p, w = np.exp(held.log_posterior), held.weight
        found = score(held)
        assert found["log_loss"] == pytest.approx(metrics.log_loss(held.truth, p, sample_weight=w))
        assert found["balanced"] == pytest.approx(
            metrics.balanced_accuracy_score(held.truth, p.argmax(axis=1), sample_weight=w)
        )
        each = [metrics.brier_score_loss(held.truth == c, p[:, c], sample_weight=w) for c in range(k)]
        assert found["brier"] == pytest.approx(sum(each))


def test_bins_of_equal_weight_are_scikit_learns_quantile_bins() -> None:
    held = rows(weighted=False)
    seen = one_against_rest(held, "ill")
    found = calibration(held, "ill", bins=8)
    true, said = calibration_curve(seen.positive, seen.p, n_bins=8, strategy="quantile")
    np.testing.assert_allclose(found["said"], said)
    np.testing.assert_allclose(found["true"], true)
    assert found["rows"].tolist() == [50] * 8
    assert ((found["low"] < found["true"]) & (found["true"] < found["high"])).all()


# by hand --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@examples(30)
@given(seed=st.integers(0, 10_000), k=st.sampled_from([2, 3]), coarse=st.booleans(), refuse=st.booleans())
def test_risk_against_threshold_is_the_mean_loss_at_every_threshold(
    seed: int, k: int, coarse: bool, refuse: bool
) -> None:
    rng = np.random.default_rng(seed)
    held = rows(40, k, seed=seed, coarse=coarse)
    loss = LossMatrix(held.classes, held.classes, rng.normal(0.0, 3.0, (k, k)).round(1))
    loss = loss.with_refusal(0.3) if refuse else loss
    amount = rng.uniform(0.0, 9.0, 40)
    steps = risk_by_threshold(held, loss, "ill", amount=amount)
    p = held.posterior()[0]
    others = [a for a in loss.actions if a != "ill"]
    for t in (0.0, *np.unique(p[:, 0]), 0.5, 1.0, 1.5):
        total = 0.0
        for i in range(40):
            cheapest = min(others, key=lambda a: round(loss.table[loss.actions.index(a)] @ p[i], 9))
            action = "ill" if p[i, 0] >= t else cheapest
            total += held.weight[i] * amount[i] * loss.table[loss.actions.index(action), held.truth[i]]
        assert steps.at(t) == pytest.approx(total / held.weight.sum(), abs=1e-9)


def test_the_threshold_that_the_losses_ask_for_is_the_least_risk_rule() -> None:
    held = rows()
    priced = error_costs(LOSS, "ill", 0.5)
    assert priced is not None
    t = priced.threshold()
    assert t == pytest.approx(1.25 / (1.25 + 6.5))
    assert risk_by_threshold(held, LOSS, "ill").at(t) == pytest.approx(estimated_risk(held, LOSS).risk)


def test_iso_risk_lines_hull_and_best_point_by_enumeration() -> None:
    for seed in range(5):
        held = rows(120, seed=seed)
        use = {"ill": 0.2, "well": 0.8}
        found = threshold_sweep(one_against_rest(held, "ill", prior_of_use=use))
        assert found.share == pytest.approx(0.2)
        priced = error_costs(LOSS, "ill", found.share)
        assert priced is not None
        steps = risk_by_threshold(held, LOSS, "ill", prior_of_use=use)
        np.testing.assert_allclose(priced.risk(found), steps.risk, atol=1e-9)
        best = best_point(found, priced)
        assert steps.risk[best] == pytest.approx(steps.risk.min())
        assert best in found.hull
        hull = found.hull
        slopes = np.diff(found.tpr[hull]) / np.maximum(np.diff(found.fpr[hull]), 1e-300)
        assert (np.diff(slopes) < 0).all()
        for x, y in zip(found.fpr, found.tpr, strict=True):  # nothing lies above the hull
            assert y <= np.interp(x, found.fpr[hull], found.tpr[hull]) + 1e-9 or x == 0.0
        # points of equal risk lie on a line of this slope
        s = priced.slope(found.share)
        one, other = (0.1, 0.3), (0.2, 0.3 + 0.1 * s)
        cost = [0.8 * x * priced.false_alarm + 0.2 * (1 - y) * priced.miss for x, y in (one, other)]
        assert cost[0] == pytest.approx(cost[1])


def test_a_huge_price_of_one_error_ties_no_points_of_the_other() -> None:
    p = np.array([0.9, 0.8, 0.7, 0.6, 0.4])
    truth = np.array([0, 0, 0, 1, 1])
    held = HeldOut(("ill", "well"), log(np.stack([p, 1 - p], axis=1)), np.full((5, 2), 0.5), truth, np.ones(5),
                   Message("by hand"))  # fmt: skip
    loss = LossMatrix(("ill", "well"), ("ill", "well"), [[0, 1e13], [1, 0]])
    priced = error_costs(loss, "ill", 0.6)
    swept = threshold_sweep(one_against_rest(held, "ill"))
    assert priced is not None
    assert swept.tpr[best_point(swept, priced)] == 1.0  # no false alarm, and no miss
    assert risk_by_threshold(held, loss, "ill").best() == (0.7, 0.0)


def test_corners_draw_the_same_curve() -> None:
    found = threshold_sweep(one_against_rest(rows(300, weighted=False), "ill"))
    at = found.corners
    assert len(at) < len(found.tpr)
    area = np.sum(np.diff(found.fpr[at]) * (found.tpr[at][1:] + found.tpr[at][:-1])) / 2
    assert area == pytest.approx(found.area)


def test_an_amount_makes_curves_of_the_amount() -> None:
    held, amount = rows(150), np.random.default_rng(3).gamma(1.0, 100.0, 150)
    found = threshold_sweep(one_against_rest(held, "ill", amount=amount))
    priced = error_costs(LOSS, "ill", found.share)
    assert priced is not None
    scale = (held.weight * amount).sum() / held.weight.sum()
    np.testing.assert_allclose(
        priced.risk(found) * scale, risk_by_threshold(held, LOSS, "ill", amount=amount).risk, atol=1e-8
    )


def test_the_cost_curve_is_fnr_and_fpr_weighed_and_its_envelope_the_least_of_all_lines() -> None:
    held = rows(200)
    found = threshold_sweep(one_against_rest(held, "ill"))
    curve = cost_curve(found, 21)
    for pc, best, own in zip(*curve, strict=True):
        lines = (1.0 - found.tpr) * pc + found.fpr * (1.0 - pc)
        assert best == pytest.approx(lines.min())
        assert own >= best - 1e-12
        if 0.0 < pc < 1.0:
            ratio = found.share * (1.0 - pc) / ((1.0 - found.share) * pc)  # C₋ / C₊
            called = held.posterior()[0][:, 0] >= ratio / (1.0 + ratio)
            ill, w = held.truth == 0, held.weight
            fnr, fpr = w[ill & ~called].sum() / w[ill].sum(), w[~ill & called].sum() / w[~ill].sum()
            assert own == pytest.approx(fnr * pc + fpr * (1.0 - pc))
    assert curve.own[0] == curve.own[-1] == curve.best[0] == curve.best[-1] == 0.0


# how true the probabilities are ---------------------------------------------------------------------------------------


@examples(25)
@given(seed=st.integers(0, 10_000), k=st.sampled_from([2, 3]), coarse=st.booleans())
def test_the_brier_score_is_the_sum_of_its_parts(seed: int, k: int, coarse: bool) -> None:
    held = rows(60, k, seed=seed, coarse=coarse)
    parts = brier_parts(held)
    assert parts.brier == pytest.approx(score(held)["brier"])
    assert parts.brier == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
    assert min(parts) >= 0.0


def test_extreme_posteriors_leave_no_nan() -> None:
    """Log-odds of thousands, where p is 0 or 1 to the last bit, or a subnormal number."""
    s = np.array([-3000.0, -745.1, -744.0, -710.0, -1e-9, 0.0, 30.0, 40.0, 3000.0, np.inf, -np.inf, 5.0])
    both = np.stack([-np.logaddexp(0.0, -s), -np.logaddexp(0.0, s)], axis=1)
    truth = np.array([0, 1] * 6)
    held = HeldOut(("ill", "well"), both, np.full((12, 2), 0.5), truth, np.ones(12), Message(""))
    assert np.isfinite(brier_parts(held)).all()
    assert calibration(held, "ill").notna().all(axis=None)
    assert calibration(held).notna().all(axis=None)
    found = threshold_sweep(one_against_rest(held, "ill"))
    assert len(np.unique(found.score)) == 12  # the ranking is that of the log-odds, where p no longer tells
    assert np.isfinite(found.threshold).all()
    assert np.isfinite(risk_by_threshold(held, LOSS, "ill").risk).all()
    assert np.isfinite(cost_curve(found).own).all()


def test_one_probability_for_all_is_one_bin() -> None:
    held = HeldOut(("ill", "well"), log([[0.3, 0.7]] * 10), np.full((10, 2), 0.5), np.array([0] * 3 + [1] * 7),
                   np.ones(10), Message(""))  # fmt: skip
    found = calibration(held, "ill")
    assert found[["said", "true", "rows"]].to_numpy().tolist() == [[pytest.approx(0.3), 0.3, 10]]
    # Wilson's interval for 3 of 10, as in any table
    assert (found["low"][0], found["high"][0]) == (pytest.approx(0.1078, abs=1e-4), pytest.approx(0.6032, abs=1e-4))


def test_NF57_what_cannot_be_drawn_is_said() -> None:
    held = rows(20)
    with pytest.raises(ParameterError, match="there is no class 'dead'"):
        one_against_rest(held, "dead")
    alone = HeldOut(held.classes, held.log_posterior, held.prior, np.zeros(20, dtype=np.intp), held.weight, Message(""))
    with pytest.raises(TableError, match="needs rows of the class and rows of the others"):
        threshold_sweep(one_against_rest(alone, "ill"))
    with pytest.raises(ParameterError, match="do not price the action 'ill'"):
        risk_by_threshold(held, LossMatrix(("well", "ask"), ("ill", "well"), [[1, 0], [1, 1]]), "ill")
    assert error_costs(LossMatrix(("well", "ask"), ("ill", "well"), [[1, 0], [1, 1]]), "ill", 0.5) is None
    assert error_costs(LossMatrix.zero_one(("a", "b", "c")), "a", 0.5) is None
    assert ErrorCosts(-1.0, 2.0, 0.0).threshold() is None
    assert ErrorCosts(1.0, 0.0, 0.0).slope(0.5) == float("inf")


def test_thinned_steps_keep_their_extremes() -> None:
    rng = np.random.default_rng(1)
    risk = rng.random(20_000)
    steps = RiskSteps(np.sort(rng.random(20_000))[::-1], risk, risk)
    few = steps.thinned(500)
    assert 500 <= len(few.risk) <= 2000
    assert (few.risk.min(), few.risk.max()) == (steps.risk.min(), steps.risk.max())
    assert set(zip(few.threshold, few.risk, strict=True)) <= set(zip(steps.threshold, steps.risk, strict=True))


# which differences are real -------------------------------------------------------------------------------------------


def in_folds(held: HeldOut) -> list[HeldOut]:
    """The posteriors as if each of three cross-validations had come to them."""
    n = len(held.truth)
    return [
        replace(held, prior=held.prior[:5], fold=np.random.default_rng(seed).permutation(np.arange(n) % 5))
        for seed in range(3)
    ]


def test_differences_are_paired() -> None:
    held = rows(500, weighted=False)
    worse = HeldOut(held.classes, held.log_posterior[:, ::-1].copy(), held.prior, held.truth, held.weight, held.scheme)
    nearly = HeldOut(held.classes, held.log_posterior * 1.01, held.prior, held.truth, held.weight, held.scheme)
    models = {"one": held, "worse": worse, "alike": nearly}
    runs = {name: in_folds(one) for name, one in models.items()}
    for measure in MEASURES:
        found = differences(models, measure, LOSS, runs=runs).set_index(["one", "other"])
        assert found["real"].tolist()[0]
        assert found["p"].between(0.0, 1.0).all()
        swapped = differences(dict(reversed(models.items())), measure, LOSS, runs=runs).set_index(["one", "other"])
        for a, b in itertools.combinations(models, 2):
            assert found.loc[(a, b), "difference"] == pytest.approx(-swapped.loc[(b, a), "difference"])
            assert found.loc[(a, b), "low"] == pytest.approx(-swapped.loc[(b, a), "high"])
    risk = compare_risk(models, LOSS)
    found = differences(models, "risk", LOSS)
    assert -found["difference"][0] == pytest.approx(risk.loc["worse", "more"])
    loss = compare(models)
    assert -differences(models, "log_loss")["difference"][1] == pytest.approx(loss.loc["alike", "more"])
    error = differences(models, "error")
    assert error["difference"][0] == pytest.approx(loss.loc["worse", "accuracy"] - loss.loc["one", "accuracy"])


def test_an_infinite_log_loss_is_no_difference() -> None:
    held = rows(50)
    never = HeldOut(held.classes, log(np.eye(2)[1 - held.truth]), held.prior, held.truth, held.weight, held.scheme)
    models = {"one": held, "never": never}
    runs = {name: in_folds(one) for name, one in models.items()}
    found = differences(models, "log_loss", runs=runs)
    assert found[["difference", "low", "high", "p"]].isna().all(axis=None)
    assert not found["real"].any()
    assert differences(models, "brier", runs=runs)["real"].all()


def test_a_probability_too_small_for_a_number_is_no_infinite_log_loss() -> None:
    truth = np.array([0, 1, 1])
    far = np.array([[-900.0, 0.0], [-1.0, log(1 - np.exp(-1.0))], [-2000.0, 0.0]])
    held = HeldOut(("a", "b"), far, np.full((3, 2), 0.5), truth, np.ones(3), Message("by hand"))
    expected = (900.0 + -np.log1p(-np.exp(-1.0))) / 3
    assert score(held)["log_loss"] == pytest.approx(expected)
    assert rows_held_impossible(held).tolist() == []
    assert rows_held_impossible(replace(held, log_posterior=np.where(far == -900.0, -np.inf, far))).tolist() == [0]
    other = replace(held, log_posterior=np.full((3, 2), -np.log(2.0)))
    assert compare({"far": held, "even": other})["more"]["even"] == pytest.approx(np.log(2.0) - expected)
    assert differences({"far": held, "even": other}, "log_loss")["difference"][0] == pytest.approx(
        expected - np.log(2.0)
    )


def three_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 30)
    return rng.normal(size=(90, 2)) + 3.0 * y[:, None], y


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        CalibratedClassifier(NaiveBayes(), method="temperature"),
        CalibratedClassifier(NaiveBayes(), method="platt"),
        MinimumRiskClassifier(NaiveBayes()),
        make_pipeline(StandardScaler(), NaiveBayes()),
        GaussianNB(),
        LogisticRegression(C=1e3),
        make_pipeline(StandardScaler(), LogisticRegression(C=1e3)),
        LinearDiscriminantAnalysis(),
    ],
    ids=lambda model: f"{model}"[:40],
)
@pytest.mark.parametrize("k", [2, 3])
def test_the_log_of_a_probability_is_told_beyond_its_underflow(model: Any, k: int) -> None:
    X, y = three_classes()
    model = clone(model).fit(X[y < k], y[y < k])
    near, far = np.array([[1.0, 1.0]]), np.array([[1e3, 1e3], [-1e3, -1e3]])
    np.testing.assert_allclose(exp(log_proba(model, near)), model.predict_proba(near), atol=1e-12)
    assert (model.predict_proba(far) == 0.0).any()
    told = log_proba(model, far)
    assert np.isfinite(told).all()
    assert (told.max(axis=1) <= 0.0).all()
    assert told.min() < -100.0
    if hasattr(model, "predict_log_proba") and not hasattr(model, "decision_function"):
        np.testing.assert_array_equal(model.predict_log_proba(far), told)
    ledger = PosteriorOnly(model, tuple(model.classes_.tolist())).explain(far)
    np.testing.assert_allclose(ledger.joint(), told)


def test_groups_are_drawn_whole() -> None:
    """Every row five times in a group: the interval is that of the groups, not √5 narrower."""
    held = rows(80, weighted=False)
    w, t = held.weight, (held.truth == 0).astype(float)[:, None]
    alone = resampled_means(w, t)
    five = resampled_means(np.repeat(w, 5), np.repeat(t, 5, axis=0), groups=np.repeat(np.arange(80), 5))
    apart = resampled_means(np.repeat(w, 5), np.repeat(t, 5, axis=0))
    assert five.std() == pytest.approx(alone.std(), rel=0.1)
    assert apart.std() == pytest.approx(alone.std() / np.sqrt(5), rel=0.1)


# on the same splits ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_classifier_is_held_out_on_the_same_splits() -> None:
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rng = np.random.default_rng(0)
    y = np.where(rng.random(150) < 0.4, "good", "bad")
    X = pd.DataFrame({"a": rng.normal(y == "good"), "b": rng.normal(size=150)})
    w = rng.uniform(0.5, 2.0, 150)
    groups = np.arange(150) // 3
    for given_groups in (None, groups):
        asked: Any = {"groups": given_groups, "sample_weight": w}
        ours = held_out(NaiveBayes(var_floor=1e-12).fit(X, y, w), X, y, **asked)
        peer = make_pipeline(FunctionTransformer(), GaussianNB(var_smoothing=0.0))
        theirs = held_out(peer.fit(X, y, gaussiannb__sample_weight=w), X, y, **asked)
        np.testing.assert_allclose(ours.log_posterior, theirs.log_posterior, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(ours.prior, theirs.prior)
        assert ours.scheme == theirs.scheme
        assert (ours.groups is None) == (given_groups is None)


def test_a_class_a_model_has_not_met_is_impossible_to_it() -> None:
    held = rows(10).in_order(("well", "new", "ill"))
    assert np.isneginf(held.log_posterior[:, 1]).all()
    assert not held.prior[:, 1].any()
    again = held.in_order(("ill", "well", "new"))
    np.testing.assert_array_equal(again.log_posterior[:, :2], rows(10).log_posterior)
    np.testing.assert_array_equal(again.truth, rows(10).truth)


def test_a_sweep_speaks_of_the_right_side() -> None:
    found = ThresholdSweep(np.array([np.inf, 1.0, -1.0]), np.array([0.0, 3.0, 4.0]), np.array([0.0, 1.0, 6.0]))
    assert (found.positives, found.negatives, found.share) == (4.0, 6.0, 0.4)
    assert found.precision.tolist() == [1.0, 0.75, 0.4]


# drawn ----------------------------------------------------------------------------------------------------------------


def test_figures_hold_the_curves_and_lines_of_the_right_slope() -> None:
    held = rows(300, weighted=False)
    swept = threshold_sweep(one_against_rest(held, "ill"))
    priced = error_costs(LOSS, "ill", swept.share)
    assert priced is not None
    one, other = drawn.CurveStyle("one", 0, active=True), drawn.CurveStyle("other", 1, counterpart=True)
    figure = drawn.roc([(one, swept), (other, swept)], priced)
    lines = [trace for trace in figure.data if trace.name == "same risk"]
    for line in lines:
        (x0, x1), (y0, y1) = line.x, line.y
        assert (y1 - y0) / (x1 - x0) == pytest.approx(priced.slope(swept.share))
    best = best_point(swept, priced)
    ring = next(trace for trace in figure.data if trace.mode == "markers")
    assert (ring.x[0], ring.y[0]) == (swept.fpr[best], swept.tpr[best])
    x0, y0 = lines[0].x[0], lines[0].y[0]  # the first line goes through the ring
    assert ring.y[0] - y0 == pytest.approx((ring.x[0] - x0) * priced.slope(swept.share))
    assert [t.line.dash for t in figure.data if t.name == "other"] == ["dash"]
    steps = risk_by_threshold(held, LOSS, "ill")
    figure = drawn.risk_steps([(one, steps)], 0.3)
    assert (figure.data[1].x[0], figure.data[1].y[0]) == steps.best()
    assert figure.layout.shapes[0].x0 == 0.3
    curve = cost_curve(swept)
    figure = drawn.cost_curves([(one, curve)], None)
    assert list(figure.data[1].y) == curve.own.tolist()
    assert list(figure.data[2].y) == curve.best.tolist()
    frame = calibration(held, "ill")
    figure = drawn.calibration([(one, frame)], "P(ill)")
    assert list(figure.data[1].y) == frame["true"].tolist()
    assert list(figure.data[1].error_y.array) == pytest.approx((frame["high"] - frame["true"]).tolist())
    assert list(drawn.precision_recall([(one, swept)]).data[0].y) == swept.precision[1:].tolist()
