"""Digits: pictures as evidence, and naive Bayes on 64 pixels, three of which are the same in every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB, MultinomialNB

import bayes_engine
from bayes_engine import AODE, TAN, LinearDiscriminantAnalysis, NaiveBayes, load_dataset
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.log_odds import log_odds_terms
from bayes_engine.workbench.derivation.pixels import PixelWeights, class_images, pixel_weights

DIGITS = load_dataset("digits")
X, y = DIGITS.frame.drop(columns="digit").astype(float), DIGITS.frame["digit"].astype(int)
NAMES = list(X.columns)
SEEN, NEW = slice(0, 1200), slice(1200, None)
STEPS: dict[str, Any] = {"discretize": "equal-width", "bins": 4}


def accuracy(model: Any) -> float:
    return float((model.fit(X[SEEN], y[SEEN]).predict(X[NEW]) == y[NEW]).mean())


# --- the models on it -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_held_out_accuracy_beside_scikit_learn() -> None:
    """Its GaussianNB adds 1e-9 of the largest variance to all; a floor by column, made larger, does what a larger
    var_smoothing does. Counted steps of ink are about as good as the best of them."""
    assert accuracy(GaussianNB()) == pytest.approx(0.8174, abs=5e-4)
    assert accuracy(bayes_engine.GaussianNB()) == pytest.approx(accuracy(GaussianNB()), abs=1e-12)
    assert accuracy(bayes_engine.MultinomialNB()) == pytest.approx(accuracy(MultinomialNB()), abs=1e-12)
    floors = [accuracy(NaiveBayes(var_floor=floor)) for floor in (1e-9, 0.01, 0.2)]
    assert floors == sorted(floors)
    assert floors[-1] > accuracy(GaussianNB())
    assert accuracy(NaiveBayes(**PRESETS["laplace"], **STEPS)) > 0.86
    assert accuracy(NaiveBayes(likelihoods="poisson")) > 0.86


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_pixel_blank_in_every_row_has_no_factor_and_no_posterior_is_nan() -> None:
    model = NaiveBayes(var_floor=0.1).fit(X, y)
    rows = {row.name for row, _ in model.explain(X.iloc[:1]).rows}
    assert set(NAMES) - rows == {"p00", "p40", "p47"} == {name for name in NAMES if X[name].nunique() == 1}
    stray = X.iloc[:50].assign(p70=16.0, p07=16.0, p00=16.0)
    assert np.isfinite(model.predict_proba(stray)).all()
    np.testing.assert_allclose(model.predict_proba(stray).sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_one_stray_dot_decides_under_a_gaussian_and_not_under_steps() -> None:
    """What the data set's note says, and why it opens with counted steps of ink."""
    seven, stray = (pd.DataFrame([{n: float(case.values[n]) for n in NAMES}]) for case in DIGITS.info.cases[::3])
    steps = NaiveBayes(**PRESETS[DIGITS.info.preset], **DIGITS.info.parameters).fit(X, y)
    gauss = NaiveBayes(**PRESETS["laplace"], var_floor=0.01).fit(X, y)
    assert [int(m.predict(c)[0]) for m in (steps, gauss) for c in (seven, stray)][:3] == [7, 7, 7]
    moved = [abs(np.ptp(dict(_terms(m, stray))["p70"])) for m in (steps, gauss)]
    assert moved[0] < 5 < 1000 < moved[1]


def _terms(model: Any, case: pd.DataFrame) -> list[tuple[str, Any]]:
    return [(row.name, term[0]) for row, term in model.explain(case).rows]


# --- what each pixel says -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(**STEPS),
        NaiveBayes(var_floor=0.1),
        TAN(discretize="equal-width", bins=2),
        AODE(discretize="equal-width", bins=2),
        LinearDiscriminantAnalysis(shrinkage=0.1),
    ],
    ids=["steps", "gaussian", "tan", "aode", "lda"],
)
def test_pixels_and_the_rest_are_the_log_odds(model: Any) -> None:
    columns = [name for name in NAMES if name[1] in "2345"]
    model.fit(X[columns], y)
    case = X[columns].iloc[[1423]].assign(p33=np.nan)
    worked = derive(model, case)
    found = pixel_weights(log_odds_terms(worked.ledger, 8, 9), worked.ledger, columns)
    joint = model.predict_joint_log_proba(case)[0]
    assert found.pixels + found.rest == pytest.approx(joint[8] - joint[9], abs=1e-9)
    assert len(found.nats) == 32
    assert sum(v or 0.0 for v in found.nats) == pytest.approx(found.pixels, abs=1e-9)
    assert not found.nats[columns.index("p40")]  # the same in every row: one step, or no factor at all
    if isinstance(model, NaiveBayes):
        assert found.nats[columns.index("p33")] is None
        assert found.rest == pytest.approx(float(np.log((y == 8).sum() / (y == 9).sum())), abs=1e-12)


def test_few_huge_weights_do_not_bleach_the_others() -> None:
    assert PixelWeights((*[1.0] * 60, -1e6), 0.0, 0.0).reach == pytest.approx(3.0)
    assert PixelWeights((0.5, -2.0, None), 0.0, 0.0).reach == 2.0
    assert PixelWeights((None, 0.0, float("-inf")), 0.0, 0.0).reach == 1.0
    assert PixelWeights((*[0.0] * 60, 4.0), 4.0, 0.0).reach == 4.0


# --- each class as a picture ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_class_as_the_model_believes_it() -> None:
    of_three = X[(y == 3).to_numpy()]
    steps = class_images(NaiveBayes(**STEPS, alpha=1.0).fit(X, y), X, y, NAMES, range(10))
    np.testing.assert_allclose(steps.mean[3], of_three.mean())
    np.testing.assert_allclose(steps.sd[3], of_three.std(ddof=0))
    assert steps.inked is not None
    p23 = NAMES.index("p23")  # its ink reaches from 0 to 16: the lowest of four steps ends at 4
    assert steps.inked[3, p23] == pytest.approx(((of_three["p23"] > 4).sum() + 3) / (len(of_three) + 4))
    assert (steps.inked[:, NAMES.index("p00")] == 0).all()  # the same in every row: one step, never above it
    gauss = class_images(NaiveBayes(var_floor=0.1).fit(X, y), X, y, NAMES, range(10))
    assert gauss.inked is None
    np.testing.assert_allclose(gauss.mean[3], of_three.mean(), atol=1e-9)
    floor = np.sqrt(0.1 * X.var(ddof=0))
    np.testing.assert_allclose(gauss.sd[3], np.maximum(of_three.std(ddof=0), floor), rtol=0.02)
    assert (gauss.sd[3] >= 0.999 * floor.to_numpy()).all()


def test_a_rate_is_its_own_mean_and_a_network_has_no_single_picture_of_ink() -> None:
    some = ["p23", "p34"]
    rates = class_images(NaiveBayes(likelihoods="poisson", alpha="none").fit(X[some], y), X, y, some, [3, 8])
    np.testing.assert_allclose(rates.mean[1], X.loc[(y == 8).to_numpy(), some].mean())
    np.testing.assert_allclose(rates.sd**2, rates.mean)
    tree = class_images(TAN(discretize="equal-width", bins=2, root="p23").fit(X[some], y), X, y, some, range(10))
    assert tree.inked is not None
    assert np.isnan(tree.inked[:, 1]).all()
    assert not np.isnan(tree.inked[:, 0]).any()
