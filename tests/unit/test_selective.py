"""Choosing columns: every score is a refit's, ties go by name, and the estimator keeps what was chosen."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import LossMatrix, NaiveBayes, load_dataset
from bayes_engine.decision.loss import decide
from bayes_engine.errors import LossError, NotASubset, ParameterError
from bayes_engine.logspace import log_normalize
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.naive_bayes_wrapper import LeftOutTerms
from bayes_engine.models.selective import CRITERIA, DIRECTIONS, SelectiveNaiveBayes, select_features
from tests.conftest import examples, slowly

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
LOSS = {"a": {"a": 0, "b": 1, "c": 4}, "b": {"a": 2, "b": 0, "c": 1}, "c": {"a": 1, "b": 3, "c": 0}}


@parametrize_with_checks(
    [SelectiveNaiveBayes(), SelectiveNaiveBayes(criterion="log_loss", direction="backward")],
)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def table(seed: int, n: int = 26) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(list("abc"), n)
    y[:6] = list("abcabc")
    X = pd.DataFrame({"told": np.where(rng.random(n) < 0.7, y, "a"), "noise": rng.choice(list("xy"), n)})
    X["size"] = rng.normal(0.0, 1.0, n) + 1.5 * (y == "b")
    X["also"] = rng.normal(0.0, 1.0, n) + (y == "c")
    return X.mask(rng.random(X.shape) < 0.1), pd.Series(y, name="class"), rng.integers(1, 4, n).astype(float)


def by_refits(model: NaiveBayes, X: pd.DataFrame, y: pd.Series, w: np.ndarray, kept: Any, criterion: str) -> float:
    """The score of some columns: each row by a model fitted to the others, of a row of weight w one left out."""
    classes = model.classes_.tolist()
    loss = LossMatrix.zero_one(classes) if criterion == "accuracy" else LossMatrix.from_any(LOSS, classes)
    paid = []
    for i in range(len(y)):
        rest = w.copy()
        rest[i] -= 1.0
        used = np.flatnonzero(rest > 0)
        refit = clone(model).set_params(schema=model.schema_)
        refit.partial_fit(X.iloc[used], y.iloc[used], classes, rest[used])
        ledger = refit.explain(X.iloc[[i]])
        joint = sum(term for row, term in ledger.rows if row.kind == "prior" or row.name in kept)
        log_p = log_normalize(np.asarray(joint))
        truth = classes.index(y.iloc[i])
        if criterion == "log_loss":
            paid.append(-log_p[0, truth])
        else:
            paid.append(loss.table[decide(np.exp(log_p), loss).position[0], truth])
    mean = float(w @ np.array(paid) / w.sum())
    return 1.0 - mean if criterion == "accuracy" else mean


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("criterion", "discretize", "n"),
    [
        ("log_loss", "mdlp", 12),
        *(slowly(*case, 26) for case in (("log_loss", "mdlp"), ("risk", None), ("log_loss", None), ("accuracy", None))),
    ],
)
@pytest.mark.slow
def test_every_score_of_the_search_is_a_refit_s(criterion: Any, direction: Any, discretize: Any, n: int) -> None:
    X, y, w = table(3, n)
    model = NaiveBayes(discretize=discretize).fit(X, y, w)
    found = select_features(
        model,
        X,
        y,
        criterion=criterion,
        loss=LOSS if criterion == "risk" else None,
        direction=direction,
        sample_weight=w,
    )
    names = list(X.columns)
    forward = direction == "forward"
    sign = 1.0 if criterion == "accuracy" else -1.0
    kept: list[str] = [] if forward else names
    for step, tried in zip(found.trace, [*(s.tried for s in found.trace[1:]), found.refused], strict=True):
        assert step.kept == tuple(n for n in names if n in kept)
        assert step.score == pytest.approx(by_refits(model, X, y, w, kept, criterion), abs=1e-9)
        moves = {n: ([*kept, n] if forward else [k for k in kept if k != n]) for n in names if (n in kept) != forward}
        expected = {n: by_refits(model, X, y, w, after, criterion) for n, after in moves.items()}
        assert tried == pytest.approx(expected, abs=1e-9)
        if not expected:
            break
        best = max(sign * s for s in expected.values())
        column = min(n for n, s in expected.items() if sign * s >= best - 1e-9)
        better = best > sign * step.score + 1e-9 if forward else best >= sign * step.score - 1e-9
        if better:
            kept = moves[column]
    assert found.kept == tuple(n for n in names if n in kept)
    assert found.trace[-1].kept == found.kept


def test_equal_columns_go_by_name() -> None:
    X, y, _ = table(1)
    twins = pd.DataFrame({"z": X["told"], "m": X["told"], "a": X["told"]}).fillna("a")
    for order in (["z", "m", "a"], ["m", "a", "z"]):
        model = NaiveBayes().fit(twins[order], y)
        forward = select_features(model, twins[order], y)
        assert forward.trace[1].column == "a"
        backward = select_features(model, twins[order], y, direction="backward")
        assert backward.trace[1].column == "a"


@pytest.mark.slow
@examples(20)
@given(st.integers(0, 10**6), st.sampled_from(CRITERIA), st.sampled_from(DIRECTIONS))
def test_weights_are_duplicates_and_scores_never_fall(seed: int, criterion: Any, direction: Any) -> None:
    X, y, w = table(seed, 18)
    again = np.repeat(np.arange(18), w.astype(int))
    loss = LOSS if criterion == "risk" else None
    asked: dict[str, Any] = {"criterion": criterion, "direction": direction, "loss": loss}
    one = select_features(NaiveBayes().fit(X, y, w), X, y, sample_weight=w, **asked)
    other = select_features(NaiveBayes().fit(X.iloc[again], y.iloc[again]), X.iloc[again], y.iloc[again], **asked)
    assert one.trace[0].score == pytest.approx(other.trace[0].score, rel=1e-9, abs=1e-9)
    assert one.trace[-1].score == pytest.approx(other.trace[-1].score, rel=1e-9, abs=1e-9)
    sign = 1.0 if criterion == "accuracy" else -1.0
    scores = [sign * step.score for step in one.trace]
    assert all(b >= a - 1e-9 * max(abs(a), 1.0) for a, b in pairwise(scores))


def test_the_classifier_is_naive_bayes_of_the_columns() -> None:
    X, y, w = table(5, 60)
    model = SelectiveNaiveBayes(direction="backward", criterion="log_loss").fit(X, y, w)
    kept = list(model.kept_)
    assert 0 < len(kept) < 4
    plain = NaiveBayes().fit(X[kept], y, w)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X[kept]), rtol=1e-12)
    assert [row.name for row, _ in model.explain(X).rows] == ["class", *kept]
    assert model.transform(X).columns.tolist() == kept == model.get_feature_names_out().tolist()
    assert np.asarray(X.columns)[model.get_support(indices=True)].tolist() == kept
    np.testing.assert_allclose(
        model.leave_one_out_log_proba(X, y, w), plain.leave_one_out_log_proba(X[kept], y, w), atol=1e-9
    )
    more = model.merge(model)
    assert more.kept_ == model.kept_
    assert more.stats_.class_weight.tolist() == (2 * model.stats_.class_weight).tolist()


@pytest.mark.slow
def test_as_a_step_of_a_pipeline() -> None:
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(make_pipeline(SelectiveNaiveBayes(), NaiveBayes()), X, y).mean() > 0.93
    assert cross_val_score(SelectiveNaiveBayes(NaiveBayes(discretize="mdlp")), X, y).mean() > 0.9


@pytest.mark.slow
def test_what_was_said_many_times_and_what_says_nothing_goes() -> None:
    data = load_dataset("mushroom")
    target = data.schema.target
    assert target is not None
    X, y = data.frame[list(data.schema.features.names)], data.frame[target.name]
    every = np.random.default_rng(0).permutation(len(y))[:1200]
    X, y = X.iloc[every], y.iloc[every]
    model = NaiveBayes(schema=data.schema.features).fit(X, y)
    found = select_features(model, X, y)
    assert len(found.kept) <= 6
    assert found.trace[-1].score > found.trace[0].score + 0.3
    whole = select_features(model, X, y, direction="backward").trace[0].score
    assert found.trace[-1].score > whole


def test_impossible_rows_and_lone_classes_are_counted_as_said() -> None:
    X = pd.DataFrame({"a": list("xxyyz"), "b": list("ststs")})
    y = pd.Series(list("mmnnq"))
    model = NaiveBayes(smoothing="none").fit(X, y)
    found = select_features(model, X, y, direction="backward")
    assert 0.0 <= found.trace[0].score <= 1.0  # of the four rows whose class has another
    assert found.trace[0].score * 4 == pytest.approx(round(found.trace[0].score * 4))
    assert select_features(model, X, y, criterion="log_loss").kept == ("a",)
    assert np.isfinite(LeftOutTerms(np.zeros((1, 2)), {}).joint()).all()


def test_what_is_refused() -> None:
    X, y, _ = table(0)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ParameterError, match="criterion='auc' is none of 'accuracy', 'log_loss', 'risk'"):
        select_features(model, X, y, criterion="auc")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="direction='both' is none of 'forward', 'backward'"):
        SelectiveNaiveBayes(direction="both").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(LossError):
        select_features(model, X, y, criterion="risk", loss={"p": {"p": 0, "q": 1}, "q": {"p": 1, "q": 0}})
    with pytest.raises(NotASubset):
        select_features(model, X, y.replace("a", "new"))
    with pytest.raises(ParameterError, match="the choice of columns needs the rows: call fit"):
        SelectiveNaiveBayes().fit_stats(model.stats_)
    with pytest.raises(ParameterError, match="SelectiveNaiveBayes takes a NaiveBayes, not GaussianNB"):
        SelectiveNaiveBayes(GaussianNB()).fit(X[["size"]].fillna(0.0), y)


def test_a_lazy_model_is_searched_as_an_eager_one() -> None:
    X, y, w = table(2)
    lazy = select_features(LazyNaiveBayes().fit(X, y, w), X, y, sample_weight=w)
    assert lazy == select_features(NaiveBayes().fit(X, y, w), X, y, sample_weight=w)
    assert SelectiveNaiveBayes(LazyNaiveBayes()).fit(X, y, w).kept_ == lazy.kept
