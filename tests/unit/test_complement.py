"""Complement naive Bayes of a table of texts, and its calibration, against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import ComplementNB

from bayes_engine import MinimumRiskClassifier, load_dataset, load_model, save_model
from bayes_engine.decision.compare import score
from bayes_engine.decision.fold_models import splits
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.calibrated import CalibratedClassifier, against_rest, calibrate
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench.derivation.derive import derive

CLASSES = ("law", "pets", "sea")


@pytest.fixture(scope="module", params=[2, 3])
def texts(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, pd.Series]:
    """Words drawn with other shares in each class, and another number of rows."""
    rng, k = np.random.default_rng(7), request.param
    words = np.array([f"w{v}" for v in range(30)])
    shares = rng.dirichlet(np.full(30, 0.6), size=k)
    y = pd.Series(np.repeat(CLASSES[:k], [60, 25, 40][:k]))
    drawn = [" ".join(rng.choice(words, 6, p=shares[CLASSES.index(c)])) for c in y]
    return pd.DataFrame({"text": drawn}), y


class Scored(ComplementNB):
    """scikit-learn's, with its scores of each class against the rest, of two classes of the second, to calibrate."""

    def decision_function(self, X: Any) -> Any:
        odds = against_rest(self._joint_log_likelihood(X))
        return odds[:, 0] if odds.shape[1] == 1 else odds


def test_the_scores_are_scikit_learns(texts: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = texts
    vectors = CountVectorizer().fit_transform(X["text"])
    theirs, ours = ComplementNB().fit(vectors, y), ComplementNaiveBayes().fit(X, y)
    scores = ours.predict_joint_log_proba(X) + np.log(y.nunique())  # which leaves a uniform prior out
    np.testing.assert_allclose(scores, theirs._joint_log_likelihood(vectors), rtol=1e-12)
    assert ours.predict(X).tolist() == theirs.predict(vectors).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "called"), [("platt", "sigmoid"), ("isotonic", "isotonic")])
def test_the_calibrated_probabilities_are_scikit_learns(texts: Any, method: str, called: str) -> None:
    X, y = texts
    vectors = CountVectorizer().fit_transform(X["text"])
    ours = CalibratedClassifier(ComplementNaiveBayes(), method=method).fit(X, y)
    folds = list(splits(pd.factorize(y)[0], None, 5, 0)[0])
    theirs = CalibratedClassifierCV(Scored(), method=called, cv=folds, ensemble=False).fit(vectors, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(vectors), atol=2e-4)


def test_a_posterior_is_the_total_of_scores_and_map() -> None:
    """By hand: two classes, whose complement is the other one."""
    X = pd.DataFrame({"a": ["x x y", "x", "y y z", "z"], "b": ["u", "u v", "v", "v v"]})
    y = pd.Series(list("ppqq"))
    model = CalibratedClassifier(ComplementNaiveBayes(), method="temperature").fit(X, y)
    case = pd.DataFrame({"a": ["x z"], "b": ["v"]})
    p = -np.log((0 + 1) / (4 + 3)) - np.log((2 + 1) / (4 + 3)) - np.log((3 + 1) / (3 + 2))  # the words of q
    q = -np.log((3 + 1) / (4 + 3)) - np.log((0 + 1) / (4 + 3)) - np.log((1 + 1) / (3 + 2))
    working = derive(model, case)
    assert working.complement and working.additive and working.scores
    np.testing.assert_allclose([sum(s.log_factors[k] for s in working.steps[1:3]) for k in (0, 1)], [p, q])
    odds = (p - q) / model.calibrator_.temperature
    np.testing.assert_allclose(working.posterior[0], 1.0 / (1.0 + np.exp(-odds)))


def test_a_row_left_out_is_a_fit_without_it() -> None:
    X, y = pd.DataFrame({"t": ["x x y", "x y", "y y z", "z", "x z"]}), pd.Series(list("ppqqr"))
    model = ComplementNaiveBayes().fit(X, y)
    left = model.leave_one_out_log_proba(X[:4], y[:4])
    for i in range(4):
        rest = ComplementNaiveBayes(schema=model.schema_).partial_fit(X.drop(i), y.drop(i), model.classes_)
        np.testing.assert_allclose(left[i], rest.predict_log_proba(X.iloc[[i]])[0])


def test_rows_come_and_go_as_in_a_fit(texts: Any) -> None:
    X, y = texts
    whole, half = ComplementNaiveBayes().fit(X, y), ComplementNaiveBayes().fit(X[::2], y[::2])
    rest = ComplementNaiveBayes(schema=whole.schema_).partial_fit(X[1::2], y[1::2], whole.classes_)
    for same in (half.merge(rest), ComplementNaiveBayes().fit(X, y).forget(X[:3], y[:3]).partial_fit(X[:3], y[:3])):
        np.testing.assert_allclose(same.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10)
    other = whole.with_params(alpha=0.5, priors="empirical")
    anew = ComplementNaiveBayes(alpha=0.5, priors="empirical").fit(X, y)
    assert (other.predict_log_proba(X) == anew.predict_log_proba(X)).all()


def test_scores_weigh_no_loss_before_they_are_calibrated(texts: Any) -> None:
    X, y = texts
    model = ComplementNaiveBayes().fit(X, y)
    for ask in (model.risk, model.decide):
        with pytest.raises(ParameterError, match="ComplementNaiveBayes gives scores"):
            ask(X)
    with pytest.raises(ParameterError, match="ComplementNaiveBayes gives scores"):
        MinimumRiskClassifier(ComplementNaiveBayes()).fit(X, y)
    CalibratedClassifier(ComplementNaiveBayes()).fit(X, y).decide(X)


def test_what_it_cannot_count_is_refused_by_name(texts: Any) -> None:
    X, y = texts
    levels = Schema((Variable("text", "text"), Variable("n", "categorical", ("p", "q"))))
    with pytest.raises(TableError, match="column 'n' is neither a text whose terms are counted nor a count"):
        ComplementNaiveBayes(schema=levels).fit(X.assign(n="p"), y)
    with pytest.raises(TableError, match=r"holds 0\.5 in row 1, which is no count"):
        ComplementNaiveBayes().fit(X.assign(n=0.5), y)
    with pytest.raises(ParameterError, match="take alpha > 0"):
        ComplementNaiveBayes(alpha=0).fit(pd.DataFrame({"t": ["x", "y"]}), ["a", "b"])


@pytest.mark.slow
def test_it_is_saved_calibrated(texts: Any) -> None:
    X, y = texts
    model = CalibratedClassifier(ComplementNaiveBayes(), method="platt").fit(X, y)
    again = load_model(save_model(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.slow
def test_the_held_out_risk_is_that_of_folds_whose_calibrator_never_saw_the_row() -> None:
    """The calibrator is learnt without the fold it judges, from scores of models that saw those rows. With each fold's
    calibrator and vocabulary learnt within the rows of that fold alone, the scores are as good."""
    frame = load_dataset("sms-spam").frame
    X, y = frame[["message"]], frame["label"]
    model = ComplementNaiveBayes().fit(X, y)
    whole = CalibratedClassifier(ComplementNaiveBayes(), method="platt").fit(X, y)
    quick, nested = score(calibrate(held_out(model, X, y), "platt")), score(held_out(whole, X, y))
    assert quick["log_loss"] == pytest.approx(nested["log_loss"], abs=0.01)
    assert quick["accuracy"] == pytest.approx(nested["accuracy"], abs=0.01)
