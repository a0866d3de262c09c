"""Calibrators and the calibrated classifier: scikit-learn's numbers, the ledger's last row, and the edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import score
from bayes_engine.decision.curves import one_against_rest, threshold_sweep
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError, TableError, UndefinedPosterior
from bayes_engine.ledger import Status
from bayes_engine.logspace import log, log_normalize, normalize
from bayes_engine.models import calibrated
from bayes_engine.models.calibrated import METHODS, CalibratedClassifier, calibrate, calibrator
from bayes_engine.models.counted_naive_bayes import ComplementNB, MultinomialNB
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.discriminative import as_numbers, discriminative_counterpart
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.tan import TAN
from bayes_engine.progress import watching
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.incoming.classified_file import reasons
from tests.classified_files import receive
from tests.classified_files import score as score_rows
from tests.conftest import at_least, examples


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@parametrize_with_checks(
    [CalibratedClassifier(method=method) for method in METHODS],
    expected_failed_checks=lambda _estimator: {
        "check_sample_weight_equivalence_on_dense_data": "a repeated row may be held out while its copy is learnt from"
    },
)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def told(n: int = 600, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log posteriors that are three times too sure, the truth, and weights."""
    rng = np.random.default_rng(seed)
    joint = rng.normal(0.0, 1.0, (n, k)) + 0.3 * np.arange(k)
    p = np.exp(log_normalize(joint))
    truth = np.array([rng.choice(k, p=row) for row in p])
    return log_normalize(3.0 * joint), truth, rng.uniform(0.5, 2.0, n)


class Says(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for scikit-learn that says its features: log-odds of two classes, logits of more."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Says:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, 0] if len(self.classes_) == 2 else X


def peers(method: str, log_p: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """CalibratedClassifierCV's probabilities, learnt and asked on the same rows."""
    k = log_p.shape[1]
    if k == 2:
        X = log_p[:, 1:] - log_p[:, :1]
    elif method == "temperature":
        X = log_p
    else:
        X = np.stack([log_p[:, c] - np.log(-np.expm1(log_p[:, c])) for c in range(k)], axis=1)
    every = np.arange(len(truth))  # one split, that learns from all rows
    cv = CalibratedClassifierCV(Says(), method={"platt": "sigmoid"}.get(method, method), cv=[(every, every)])
    return np.asarray(cv.fit(X, truth, sample_weight=weight).predict_proba(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 3])
def test_a_calibrator_is_scikit_learns(method: str, k: int) -> None:
    if method == "temperature" and not at_least("scikit-learn", 1, 8):
        pytest.skip("scikit-learn has temperatures since 1.8")
    log_p, truth, weight = told(k=k)
    ours = np.exp(calibrator(log_p, truth, weight, method)(log_p))
    # temperature differs by our half log² T, a doubt worth about one row of six hundred
    np.testing.assert_allclose(
        ours, peers(method, log_p, truth, weight), atol=2e-3 if method == "temperature" else 1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_it_finds_what_was_done_to_the_probabilities(method: str) -> None:
    log_p, truth, weight = told(20_000)
    found = calibrator(log_p, truth, weight, method)
    if method == "temperature":
        assert found.temperature == pytest.approx(3.0, rel=0.05)
    np.testing.assert_allclose(np.exp(found(log_p))[:, 1], 1 / (1 + np.exp((log_p[:, 0] - log_p[:, 1]) / 3)), atol=0.08)


def test_temperature_is_the_least_on_a_grid() -> None:
    log_p, truth, weight = told(80, 3)
    t = calibrator(log_p, truth, weight).temperature

    def cost(t: float) -> float:
        q = log_normalize(log_p / t)
        return float(-weight @ q[np.arange(80), truth] + 0.5 * np.log(t) ** 2)

    grid = np.exp(np.linspace(-3, 3, 2001))
    assert cost(t) <= min(map(cost, grid)) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_duplicates(method: str) -> None:
    log_p, truth, _w = told(60)
    times = np.random.default_rng(1).integers(0, 4, 60)
    weighted = calibrator(log_p, truth, times.astype(float), method)
    doubled = calibrator(np.repeat(log_p, times, axis=0), np.repeat(truth, times), None, method)
    np.testing.assert_allclose(weighted(log_p), doubled(log_p), atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_perfect_separation_stays_finite(method: str) -> None:
    log_p = log(np.array([[0.9, 0.1]] * 10 + [[0.1, 0.9]] * 10))
    q = np.exp(calibrator(log_p, np.repeat([0, 1], 10), None, method)(log_p))
    assert np.isfinite(q).all()
    assert q[0, 0] > 0.9
    if method != "isotonic":  # which may say never
        assert q[0, 0] < 1.0


@examples(40)
@given(seed=st.integers(0, 10_000), k=st.sampled_from([2, 3, 4]), method=st.sampled_from(METHODS), holes=st.booleans())
def test_no_nan_ever_and_never_stays_never(seed: int, k: int, method: str, holes: bool) -> None:
    rng = np.random.default_rng(seed)
    joint = rng.normal(0.0, 10.0 ** rng.integers(-2, 4), (30, k))
    if holes:
        joint[rng.random((30, k)) < 0.4] = -np.inf
    log_p, truth = log_normalize(joint), rng.integers(0, k, 30)
    if np.isneginf(log_p).all(axis=1).all():
        return
    q = calibrator(log_p, truth, None, method)(log_p)
    assert not np.isnan(q).any()
    gone = np.isneginf(log_p).all(axis=1)
    np.testing.assert_allclose(np.exp(q[~gone]).sum(axis=1), 1.0)
    assert np.isneginf(q[np.isneginf(log_p)]).all()
    assert np.isneginf(q[gone]).all()


def test_a_calibrator_keeps_the_order_of_two_classes() -> None:
    log_p, truth, weight = told(200)
    held = HeldOut((0, 1), log_p, np.full((200, 2), 0.5), truth, weight, "")  # type: ignore[arg-type]
    area = threshold_sweep(one_against_rest(held, 1)).area
    for method in ("temperature", "platt"):
        after = calibrator(log_p, truth, weight, method)(log_p)
        moved = HeldOut((0, 1), after, held.prior, truth, weight, "")  # type: ignore[arg-type]
        assert threshold_sweep(one_against_rest(moved, 1)).area == pytest.approx(area)


@pytest.mark.slow
def test_held_out_rows_are_calibrated_by_the_others() -> None:
    """naive Bayes on thirty columns that say much the same: too sure before, not after; predictions stay."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    held = held_out(NaiveBayes().fit(X, y), X, y)
    before, after = score(held), score(calibrate(held))
    assert before["confidence"] - before["accuracy"] > 0.05
    assert abs(after["confidence"] - after["accuracy"]) < 0.03
    assert after["accuracy"] == before["accuracy"]
    assert after["log_loss"] < before["log_loss"] / 3
    # a row's own label has no say in its calibration
    weights = held.weight.copy()
    weights[7] = 1e6
    heavy = replace(held, weight=weights)
    np.testing.assert_array_equal(calibrate(held).log_posterior[7], calibrate(heavy).log_posterior[7])


def test_temperature_learns_no_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    held = HeldOut((0, 1), *told()[:1], np.full((600, 2), 0.5), *told()[1:], "")  # type: ignore[arg-type]
    expected = calibrate(held)
    monkeypatch.setattr(calibrated, "_shares", lambda *_: pytest.fail("shares that nobody reads"))
    after = calibrate(held)
    np.testing.assert_array_equal(after.log_posterior, expected.log_posterior)
    assert after.prior is held.prior


# the classifier -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_ledger_ends_in_calibration_and_all_follows_from_it(method: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = CalibratedClassifier(NaiveBayes(), method=method).fit(X, y)
    ledger = model.explain(X)
    own = NaiveBayes().fit(X, y).explain(X)
    assert [r for r, _t in ledger.rows[:-1]] == [r for r, _t in own.rows]
    assert ledger.rows[-1][0].name == "calibration"
    q = model.predict_proba(X)
    np.testing.assert_allclose(ledger.posterior(), q, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.calibrator_(log_normalize(own.joint()))), q, atol=1e-12)
    np.testing.assert_allclose(ledger.log_evidence(), own.log_evidence(), atol=1e-9)  # P(x) is what it was
    np.testing.assert_allclose(model.predict_joint_log_proba(X), ledger.joint())
    loss = {0: {0: 0, 1: 1, 2: 5}, 1: {0: 1, 1: 0, 2: 1}, 2: {0: 3, 1: 1, 2: 0}}
    table = np.array([[0, 1, 5], [1, 0, 1], [3, 1, 0]])
    np.testing.assert_allclose(model.risk(X, loss), q @ table.T)
    assert (model.decide(X, loss).position == (q @ table.T).argmin(axis=1)).all()
    assert model.predict(X).tolist() == q.argmax(axis=1).tolist()
    if method == "platt":  # what the calibrator is, it learnt from rows held out
        held = held_out(NaiveBayes().fit(X, y), X, y)
        again = calibrator(held.log_posterior, held.truth, None, method)
        np.testing.assert_allclose(again.slope, model.calibrator_.slope)


@pytest.mark.slow
def test_first_calibrated_then_shifted_to_the_prior_of_use() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for method in METHODS:
        model = CalibratedClassifier(NaiveBayes(priors="uniform"), method=method).fit(X, y)
        use = {0: 0.05, 1: 0.95}
        shifted = model.explain(X).at_prior(model.prior_by_class, use)
        q = model.predict_proba(X) * [use[c] / model.prior_by_class[c] for c in (0, 1)]
        np.testing.assert_allclose(shifted.posterior(), q / q.sum(axis=1, keepdims=True), atol=1e-9)
        expected = {0: 0.5, 1: 0.5} if method == "temperature" else {0: np.mean(y == 0), 1: np.mean(y == 1)}
        assert model.prior_by_class == pytest.approx(expected)


@pytest.mark.slow
def test_complement_naive_bayes_has_risks_after_it() -> None:
    spam = load_dataset("sms-spam")
    (text,) = (v.name for v in spam.schema if v.kind == "text")
    X = CountVectorizer().fit_transform(spam.frame[text].astype(str))[:800]
    y = spam.frame[spam.info.target].astype(str).to_numpy()[:800]
    assert sparse.issparse(X)
    with pytest.raises(ParameterError, match="gives scores"):
        ComplementNB().fit(X, y).decide(X)
    for method in METHODS:
        model = CalibratedClassifier(ComplementNB(), method=method).fit(X, y)
        found = score(held_out(model, X, y))
        assert found["accuracy"] > 0.92
        assert abs(found["confidence"] - found["accuracy"]) < 0.03
        assert model.decide(X[:2], {"ham": {"ham": 0, "spam": 1}, "spam": {"ham": 9, "spam": 0}}).action.shape == (2,)


@pytest.mark.slow
def test_it_works_in_a_pipeline_and_with_other_families() -> None:
    X, y = load_iris(return_X_y=True)
    for inner in (LinearDiscriminantAnalysis(), TAN(discretize="mdlp"), MultinomialNB()):
        pipe = make_pipeline(clone(CalibratedClassifier(inner, method="platt", folds=3)))
        assert cross_val_score(pipe, X, y).mean() > 0.9
        assert pipe.get_params()["calibratedclassifier__estimator"] is not None
        pipe.set_params(calibratedclassifier__method="isotonic")
        assert pipe[-1].method == "isotonic"


def test_a_small_mixed_table_is_left_out_one_by_one() -> None:
    melons = load_dataset("watermelon3")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    model = CalibratedClassifier(NaiveBayes(schema=melons.schema.features)).fit(X, y)
    inner = NaiveBayes(schema=melons.schema.features).fit(X, y)
    log_p = inner.leave_one_out_log_proba(X, y)
    codes = np.array([inner.classes_.tolist().index(v) for v in y])
    assert model.calibrator_.temperature == calibrator(log_p, codes).temperature
    assert model.calibrator_.temperature > 1.0  # six columns, seventeen rows: too sure
    given = model.explain(X[:1], given=["密度"])
    assert [r.name for r, _t in given.rows] == [inner.target_.name, "密度", "calibration"]


def test_a_row_without_a_posterior_keeps_its_status() -> None:
    X = pd.DataFrame({"a": list("xxyy") * 8, "b": list("uuvv") * 8, "c": list("pq") * 16})
    y = ["n", "n", "m", "m"] * 8
    model = CalibratedClassifier(NaiveBayes(smoothing="none")).fit(X, y)
    odd = pd.DataFrame({"a": ["x", "x"], "b": ["v", "u"], "c": ["p", "p"]})
    ledger = model.explain(odd)
    assert ledger.status.tolist() == [Status.IMPOSSIBLE, Status.OK]
    assert not any(np.isnan(term).any() for _row, term in ledger.rows)
    assert model.decide(odd).position.tolist() == [-1, 1]
    assert np.isinf(model.risk(odd)[0]).all()
    with pytest.raises(UndefinedPosterior, match=r"no posterior for 1 row: 0"):
        model.predict_proba(odd)


@pytest.mark.parametrize("method", METHODS)
def test_NF04_calibration_far_out_is_of_what_tells_the_classes_apart(method: str) -> None:
    """A row far out along a column that says nothing of the class: all that is left of log p(c, x) is shared."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.stack([rng.normal(size=200) + y, np.tile([-1.0, 1.0], 100)], axis=1)
    model = CalibratedClassifier(LinearDiscriminantAnalysis(covariance="diagonal"), method=method).fit(X, y)
    far, near = [[1.3, 1e17]], [[1.3, 0.0]]
    assert len(set(model.estimator_.predict_joint_log_proba(far)[0])) == 1
    np.testing.assert_allclose(model.predict_proba(far), model.predict_proba(near), rtol=1e-12)
    np.testing.assert_allclose(model.explain(far).posterior(), model.predict_proba(near), rtol=1e-12)


@pytest.mark.slow
def test_groups_are_held_out_together() -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    y = (rng.random(40) < 0.5)[patient].astype(int)
    X = pd.DataFrame({"id": [f"p{i}" for i in patient], "x": rng.normal(y, 1.0)})
    leaky = CalibratedClassifier().fit(X, y).calibrator_.temperature
    honest = CalibratedClassifier().fit(X, y, groups=patient).calibrator_.temperature
    assert leaky < honest  # who a patient is tells nothing of the next


def test_what_cannot_be_calibrated_is_said() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="method='beta' is none of 'temperature', 'platt', 'isotonic'"):
        CalibratedClassifier(method="beta").fit(X, y)
    with pytest.raises(ParameterError, match="takes a generative classifier of this library, not Says"):
        CalibratedClassifier(Says()).fit(X, y)
    with pytest.raises(TableError, match="a class has one row only"):
        CalibratedClassifier(NaiveBayes(tied_variance=True)).fit(np.vstack([X, X[:1]]), np.append(y, 9))
    with pytest.raises(TableError, match="no held-out row has a posterior"):
        calibrator(np.full((3, 2), -np.inf), np.array([0, 1, 0]))


# the discriminative counterpart ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_logistic_regression_takes_mixed_tables_with_gaps() -> None:
    penguins = load_dataset("penguins")
    schema = penguins.schema.features
    target = penguins.schema.target
    assert target is not None
    known = penguins.frame[target.name].notna()
    X, y = penguins.frame.loc[known, list(schema.names)], penguins.frame.loc[known, target.name].astype(str)
    assert X.isna().any(axis=None)
    model = discriminative_counterpart(schema).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.97
    assert score(held_out(model, X, y))["accuracy"] > 0.95
    cells = as_numbers(X, schema)
    for j, v in enumerate(schema):
        assert np.isnan(cells[:, j]).sum() == (X[v.name].isna().sum() if v.numeric else 0)
        if not v.numeric:
            assert [v.levels[int(c)] if c >= 0 else None for c in cells[:5, j]] == [
                None if pd.isna(x) else x for x in X[v.name][:5]
            ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "penguins"])
def test_logistic_regression_that_can_be_called_off_is_scikit_learns_to_the_last_bit(name: str) -> None:
    table = load_dataset(name)
    schema, target = table.schema.features, table.schema.target
    assert target is not None
    known = table.frame[target.name].notna()
    X, y = table.frame.loc[known, list(schema.names)], table.frame.loc[known, target.name].astype(str)
    looks: list[int] = []
    with watching(lambda: looks.append(1) is not None, pace=0.0):
        model = discriminative_counterpart(schema).fit(X, y)
    cells = model[:-1].transform(X)
    plain = LogisticRegression(max_iter=5000).fit(cells, y)
    for learnt in ("coef_", "intercept_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model[-1], learnt), getattr(plain, learnt))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(cells))
    if at_least("scikit-learn", 1, 9):  # it tells its iterations since then
        assert len(looks) > plain.n_iter_[0] > 10
    features = list(schema)
    numeric, levels = ([j for j, v in enumerate(features) if v.numeric is wanted] for wanted in (True, False))
    filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    at_once = make_pipeline(  # not a few columns at a time
        FunctionTransformer(as_numbers, kw_args={"schema": schema}),
        ColumnTransformer([("numbers", filled, numeric), ("levels", OneHotEncoder(handle_unknown="ignore"), levels)]),
        LogisticRegression(max_iter=5000),
    ).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), at_once.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_a_column_that_is_empty_has_no_say_in_logistic_regression() -> None:
    X, y = pd.DataFrame({"empty": [np.nan] * 6, "size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}), list("aababb")
    whole, known = (discriminative_counterpart(Schema.from_dtypes(each)).fit(each, y) for each in (X, X[["size"]]))
    for cell in (np.nan, 7.0):
        row = pd.DataFrame({"empty": [cell], "size": [2.5]})
        np.testing.assert_allclose(whole.predict_proba(row), known.predict_proba(row[["size"]]), rtol=1e-9)


# a model that is fitted already ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_model_takes_a_calibrator_without_a_fit(method: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X, y)
    held = held_out(model, X, y)
    one = CalibratedClassifier(model, method=method).fit_held_out(model, held.in_order((2, 0, 1)))
    two = CalibratedClassifier(NaiveBayes(), method=method).fit(X, y)
    assert one.estimator_ is model
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-12)
    assert one.prior_by_class == two.prior_by_class


def test_the_calibrator_goes_around_a_model_of_one_row_fewer() -> None:
    X, y = load_iris(return_X_y=True)
    made = CalibratedClassifier().fit(X, y)
    short = NaiveBayes().fit(X, y).forget(X[:1], y[:1])
    around = made.around(short)
    assert made.estimator_ is not short  # the first one stays as it was
    assert around.calibrator_ is made.calibrator_
    raw = log_normalize(short.predict_joint_log_proba(X))
    np.testing.assert_allclose(around.predict_log_proba(X), made.calibrator_(raw), atol=1e-9)
    assert around.prior_by_class == short.prior_by_class  # temperature moves no class against another


def test_a_class_too_rare_for_folds_is_calibrated_row_by_row() -> None:
    X = pd.DataFrame({"a": list("uvuvuvuvuvuvuvu"), "b": list("xyz" * 5)})
    y = list("qprprprprprprpr")
    held = held_out(NaiveBayes().fit(X, y), X, y)
    for method in METHODS:
        made = calibrate(held, method)
        assert np.isfinite(normalize(made.log_posterior)).all()
    others = np.arange(1, 15)
    alone = calibrator(held.log_posterior[others], held.truth[others], held.weight[others], "temperature")
    np.testing.assert_allclose(calibrate(held).log_posterior[0], alone(held.log_posterior[:1])[0])


def test_a_column_called_calibration_keeps_its_own_row() -> None:
    X = pd.DataFrame({"calibration": [1.0, 1.1, 1.2, 3.0, 3.1, 3.2]})
    model = CalibratedClassifier().fit(X, list("aaabbb"))
    ledger = model.explain(X)
    assert len(ledger.by_variable().rows) == len(ledger.rows) == 3


def test_reasons_are_columns_and_never_the_calibration() -> None:
    X = pd.DataFrame({"size": [1.0, 2.0, 3.5, 2.5, 4.0, 5.0], "mass": [1.0, 1.5, 2.0, 3.0, 3.5, 4.0]})
    model = CalibratedClassifier(method="platt").fit(X, ["small"] * 3 + ["big"] * 3)
    inner = model.estimator_
    rows = receive(pd.DataFrame({"size": ["1.5", "4.5"], "mass": ["1.2", "3.9"]}), inner.schema_, inner.target_)
    scored = score_rows(model, rows)
    posterior = scored.posterior()
    np.testing.assert_allclose(posterior, model.predict_proba(pd.DataFrame({"size": [1.5, 4.5], "mass": [1.2, 3.9]})))
    decision = scored.decide(LossMatrix.zero_one(scored.ledger.classes))
    told = reasons(model, rows, decision, posterior, np.arange(2))
    assert all("size" in text and "calibration" not in text for text in told)


def test_where_nothing_can_be_learnt_the_posteriors_stay() -> None:
    half = np.log(np.full((4, 2), 0.5))
    truth = np.array([0, 1, 1, 1])
    # one log-odds for all: only the shift can be learnt, to Platt's targets (n₊+1)/(n₊+2) = 4/5 and 1/(n₋+2) = 1/3
    found = np.exp(calibrator(half, truth, method="platt")(half))
    np.testing.assert_allclose(found[:, 1], (3 * 4 / 5 + 1 / 3) / 4)
    sure = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    assert calibrator(sure, np.array([1, 0])).temperature == 1.0  # every truth was held impossible
    for method in ("platt", "isotonic"):  # infinite log-odds cannot be moved
        np.testing.assert_array_equal(calibrator(sure, np.array([0, 1]), method=method)(sure), sure)
