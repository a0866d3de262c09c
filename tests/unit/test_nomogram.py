"""The nomogram: its points add up to the prediction, in every additive model; the others have none, and say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from bayes_engine.datasets import load_dataset
from bayes_engine.errors import ParameterError
from bayes_engine.ledger import prior_shift
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.discriminative import discriminative_counterpart
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.workbench.derivation.nomogram import AttributeValues, Nomogram, logistic_nomogram, nomogram, values_of
from tests.conftest import every_other


def watermelon() -> tuple[pd.DataFrame, pd.Series]:
    data = load_dataset("watermelon3")
    return data.frame[list(data.schema.features.names)], data.frame["好瓜"]


def iris() -> tuple[pd.DataFrame, pd.Series]:
    data = load_dataset("iris")
    return data.frame[list(data.schema.features.names)], data.frame[data.info.target]


def scales_for(model: Any, X: pd.DataFrame) -> dict[str, AttributeValues]:
    """The values of all columns, as the model reads them."""
    fitted = model.estimator_ if isinstance(model, CalibratedClassifier) else model
    read = {}
    for variable in fitted.schema_:
        if variable.name in X:
            levels = tuple(X[variable.name].cat.categories) if X[variable.name].dtype == "category" else ()
            read[variable.name] = values_of(variable, X[variable.name], levels) or AttributeValues(())
    return read


def assert_adds_up(drawn: Nomogram, log_posterior: Any, classes: Sequence[Any]) -> None:
    """Every pair of classes: the sum of the points is the log-odds of the posterior, to 1e-12 · Σ|terms|."""
    terms = [*(t for _row, t in drawn.base), *(s.own for s in drawn.scales)]
    size = max(1.0, float(np.abs(terms).sum()))
    own = drawn.joint()
    for i, a in enumerate(drawn.classes):
        for j, b in enumerate(drawn.classes):
            predicted = log_posterior[list(classes).index(a)] - log_posterior[list(classes).index(b)]
            assert math.isclose(own[i] - own[j], predicted, rel_tol=0.0, abs_tol=1e-12 * size)


def assert_predicts(model: Any, X: pd.DataFrame, case: pd.DataFrame, prior: Any = None) -> Nomogram:
    """Of the case, and of the case with one attribute at each of its values: the point is all that changes."""
    drawn = nomogram(model, case, scales_for(model, X), prior)
    shift = np.zeros(len(model.classes_))
    if prior is not None:
        labels = model.classes_.tolist()
        shift = prior_shift([model.prior_by_class[c] for c in labels], [prior[c] for c in labels])
    ledger = model.explain(case)
    assert_adds_up(drawn, ledger.apart()[0] + shift, ledger.classes)
    for scale in drawn.scales:
        for i in range(0, len(scale.values.cells), max(1, len(scale.values.cells) // 3)):
            other = case.copy()
            other[scale.column] = pd.Series([scale.values.cells[i]], index=case.index).astype(case[scale.column].dtype)
            moved = model.explain(other).apart()[0] + shift
            joint = drawn.joint() - scale.own + scale.terms[i]
            size = max(1.0, sum(float(np.abs(s.own).sum()) for s in drawn.scales), float(np.abs(scale.terms[i]).sum()))
            odds = joint - joint[0], moved - moved[0]
            assert np.allclose(*odds, rtol=0.0, atol=1e-11 * size)
    return drawn


MIXED = [
    NaiveBayes(),
    NaiveBayes(priors="laplace", variance="unbiased"),
    NaiveBayes(discretize="quantile", tied_variance=True),
    NaiveBayes(likelihoods={"密度": "kernel", "含糖率": "gaussian"}, missing="category"),
    WeightedNaiveBayes(NaiveBayes()),
    SelectiveNaiveBayes(NaiveBayes()),
    CalibratedClassifier(NaiveBayes(), method="temperature"),
    CalibratedClassifier(NaiveBayes(), method="platt"),
    CalibratedClassifier(NaiveBayes(), method="isotonic"),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", every_other(MIXED), ids=lambda m: f"{type(m).__name__}-{getattr(m, 'method', '')}")
def test_points_of_a_mixed_table_add_up_to_the_prediction(model: Any) -> None:
    X, y = watermelon()
    model = model.fit(X, y)
    prior = {"是": 0.1, "否": 0.9}
    for row in (0, 14):
        case = X.iloc[[row]]
        drawn = nomogram(model, case, scales_for(model, X), prior)
        shift = prior_shift([model.prior_by_class[c] for c in model.classes_], [prior[c] for c in model.classes_])
        assert_adds_up(drawn, model.explain(case).joint()[0] + shift, model.classes_)
        gone = case.copy()
        gone["密度"] = float("nan")
        gone["纹理"] = pd.Series([None], index=gone.index).astype(case["纹理"].dtype)
        assert_adds_up(nomogram(model, gone, scales_for(model, X)), model.explain(gone).joint()[0], model.classes_)
    assert drawn.moves == (getattr(model, "method", "") == "isotonic")
    if not drawn.moves:
        assert_predicts(model, X, X.iloc[[0]], prior)


@pytest.mark.parametrize(
    "model", [NaiveBayes(), NaiveBayes(likelihoods="kernel"), GaussianNB(), LinearDiscriminantAnalysis(),
              LinearDiscriminantAnalysis(shrinkage="auto")],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_points_of_numbers_add_up_to_the_prediction_of_three_classes(model: Any) -> None:
    X, y = iris()
    model = model.fit(X, y)
    drawn = assert_predicts(model, X, X.iloc[[60]], dict(zip(model.classes_, (0.7, 0.2, 0.1), strict=True)))
    assert len(drawn.scales) == 4 and not drawn.left_out


def test_a_missing_cell_of_lda_has_no_scale_and_the_others_have_their_marginal_weights() -> None:
    X, y = iris()
    model = LinearDiscriminantAnalysis().fit(X, y)
    case = X.iloc[[60]].copy()
    case.iloc[0, 1] = float("nan")
    drawn = assert_predicts(model, X, case)
    assert drawn.left_out == (X.columns[1],) and len(drawn.scales) == 3
    alone = LinearDiscriminantAnalysis().fit(X.drop(columns=X.columns[1]), y)  # Σ of the others is its own block
    few = nomogram(alone, case.drop(columns=X.columns[1]), scales_for(alone, X))
    for one, other in zip(drawn.scales, few.scales, strict=True):
        assert np.allclose(one.weights(0, 1), other.weights(0, 1), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), CategoricalNB()], ids=lambda m: type(m).__name__)
def test_points_of_counts_add_up_to_the_prediction(model: Any) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b", "c"], 30)
    rate = np.array([[1.0, 2.0, 0.3], [2.0, 0.5, 1.0], [0.4, 0.4, 2.0]])[np.repeat([0, 1, 2], 30)]
    X = pd.DataFrame(np.minimum(rng.poisson(rate), 3).astype(float), columns=["v", "w", "z"])
    X = X if isinstance(model, MultinomialNB | CategoricalNB) else (X > 0).astype(float)
    model = model.fit(X, y)
    case, values = X.iloc[[0]], {name: AttributeValues(tuple(sorted(set(X[name])))) for name in X}
    drawn = nomogram(model, case, values)
    assert_adds_up(drawn, model.predict_log_proba(case)[0], model.classes_)
    moved = case.assign(v=1.0)
    joint = drawn.joint() - drawn.scales[0].own + drawn.scales[0].terms[drawn.scales[0].values.cells.index(1.0)]
    predicted = model.predict_log_proba(moved)[0]
    assert np.allclose(joint - joint[0], predicted - predicted[0], rtol=0.0, atol=1e-12 * np.abs(joint).sum())


def test_complement_naive_bayes_has_a_nomogram_only_once_it_is_calibrated() -> None:
    frame = load_dataset("sms-spam").frame
    X, y, text = frame[["message"]], frame["label"], "message"
    model = ComplementNaiveBayes().fit(X, y)
    with pytest.raises(ParameterError, match="only calibrated"):
        nomogram(model, X.iloc[[0]], {text: AttributeValues(())})
    for method in ("temperature", "platt"):
        calibrated = CalibratedClassifier(ComplementNaiveBayes(), method=method).fit(X, y)
        drawn = nomogram(calibrated, X.iloc[[0]], {text: AttributeValues(())})
        assert not drawn.moves and [scale.column for scale in drawn.scales] == [text]
        assert_adds_up(drawn, calibrated.predict_log_proba(X.iloc[[0]])[0], calibrated.classes_)
    counts = pd.DataFrame({"v": [1.0, 0.0, 2.0, 0.0], "w": [0.0, 1.0, 0.0, 2.0]})
    with pytest.raises(ParameterError, match="only calibrated"):
        nomogram(ComplementNB().fit(counts, list("abab")), counts.iloc[[0]], {"v": AttributeValues((0.0, 1.0))})


@pytest.mark.parametrize(
    ("model", "why"),
    [(TAN(discretize="quantile"), "the weight of a value depends on"),
     (SPODE(discretize="quantile"), "the weight of a value depends on"),
     (AODE(discretize="quantile"), "means over what is not known"),
     (QuadraticDiscriminantAnalysis(), "takes all columns at once")],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_a_model_that_is_not_additive_says_why_there_is_none(model: Any, why: str) -> None:
    X, y = iris() if isinstance(model, QuadraticDiscriminantAnalysis) else watermelon()
    model = model.fit(X, y)
    with pytest.raises(ParameterError, match=why):
        nomogram(model, X.iloc[[0]], scales_for(model, X))


@pytest.mark.parametrize("name", ["watermelon3", "iris", "penguins"])
def test_logistic_regression_beside_is_its_own_predictor(name: str) -> None:
    data = load_dataset(name)
    rows = data.frame[data.frame[data.info.target].notna()].reset_index(drop=True)
    X, y = rows[list(data.schema.features.names)], rows[data.info.target]
    labels = sorted(set(y))
    codes = y.map(labels.index).astype(int)
    pipeline = discriminative_counterpart(data.schema).fit(X, codes)
    values = {
        v.name: values_of(v, X[v.name], v.levels if v.discrete else ()) or AttributeValues(())
        for v in data.schema.features
    }
    table = dict(zip(labels, np.bincount(codes) / len(codes), strict=True))
    use = dict(zip(labels, np.full(len(labels), 1.0 / len(labels)), strict=True))
    cases = [X.iloc[[0]], X[X.isna().any(axis=1)].iloc[:1]]
    for case in (c for c in cases if len(c)):
        own = pipeline.predict_log_proba(case)[0]
        assert_adds_up(logistic_nomogram(pipeline, case, values, X, labels), own, labels)
        moved = logistic_nomogram(pipeline, case, values, X, labels, (table, use))
        assert_adds_up(moved, own + prior_shift(list(table.values()), list(use.values())), labels)
        curved = next((s for s in moved.scales if s.values.curve), None)
        if curved is not None and not X[curved.column].isna().any():  # the attribute is 0 at its mean, by its slope
            x, w = np.array(curved.values.cells), curved.weights(0, 1)
            slope = (w[-1] - w[0]) / (x[-1] - x[0])
            assert np.allclose(w, slope * (x - X[curved.column].mean()), rtol=0.0, atol=1e-9)


def test_what_was_never_seen_lies_at_infinity_and_comes_first_by_range() -> None:
    X, y = watermelon()
    model = NaiveBayes(smoothing="none").fit(X, y)
    drawn = nomogram(model, X.iloc[[0]], scales_for(model, X), classes=["是", "否"])
    knock = next(s for s in drawn.scales if s.column == "敲声")
    assert dict(zip(knock.values.cells, knock.weights(0, 1), strict=True))["清脆"] == -np.inf
    order = drawn.by_range(0, 1)
    endless = [bool(np.isinf(drawn.scales[j].weights(0, 1)).any()) for j in order]
    assert endless == sorted(endless, reverse=True)
    laplace = nomogram(NaiveBayes().fit(X, y), X.iloc[[0]], scales_for(model, X), classes=["是", "否"])
    ranges = [float(np.ptp(laplace.scales[j].weights(0, 1))) for j in laplace.by_range(0, 1)]
    assert ranges == sorted(ranges, reverse=True)


def test_a_gaussian_of_unequal_variances_turns_back_where_its_two_branches_meet() -> None:
    X, y = watermelon()
    model = NaiveBayes(variance="unbiased").fit(X, y)
    drawn = nomogram(model, X.iloc[[0]], scales_for(model, X), classes=["是", "否"])
    density = next(s for s in drawn.scales if s.column == "密度")
    good, bad = (X["密度"][y == c] for c in ("是", "否"))
    vertex = (good.mean() / good.var() - bad.mean() / bad.var()) / (1 / good.var() - 1 / bad.var())
    top = density.values.cells[int(np.argmax(density.weights(0, 1)))]
    assert abs(top - vertex) <= density.values.cells[1] - density.values.cells[0]
