"""Matrices kept as they come: sums of terms, moments by blocks, and the five classes' own ways with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

import bayes_engine
from bayes_engine import BayesEngineError, Dirichlet, EstimationWarning, MinimumRiskClassifier
from bayes_engine.errors import UndefinedPosterior
from bayes_engine.factors import columns
from bayes_engine.factors.columns import ABSENT
from bayes_engine.models import matrix_classifier
from bayes_engine.stats.collect import collect
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import moments
from bayes_engine.stats.terms import TermCounts, term_counts
from bayes_engine.table import matrix
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import Schema, Variable

NAMES = ("GaussianNB", "CategoricalNB", "MultinomialNB", "BernoulliNB", "ComplementNB")
OF_TERMS = NAMES[2:]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks even for a few rows, the last one short."""
    monkeypatch.setattr(matrix, "DENSE_CELLS", 70)
    monkeypatch.setattr(matrix, "SPARSE_CELLS", 50)
    monkeypatch.setattr(matrix_classifier, "ROWS_AT_ONCE", 17)
    monkeypatch.setattr(columns, "WORTH_JOINING", 4)


def data(seed: int = 0, n: int = 60, d: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[:3] = 0, 1, 2
    X = rng.poisson(rng.gamma(0.6, 1.5, (3, d))[y])
    X[0] = 4
    return X, y


def fitted(name: str, **parameters: Any) -> Any:
    return getattr(bayes_engine, name)(**parameters).fit(*data())


def encoded(model: Any, X: Any) -> Any:
    return model._encode(X)


# statistics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: sparse.csr_matrix(X, dtype=np.int8)])
@pytest.mark.parametrize("above", [None, 1.0])
@pytest.mark.parametrize("weighed", [False, True])
def test_term_counts(form: Any, above: float | None, weighed: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)) if weighed else None
    one_hot = np.eye(3)[y] * (np.ones(len(y)) if weight is None else weight)[:, None]
    cells = X if above is None else above < X
    for labels in (Labels(3, y, weight), Labels(3, soft=one_hot)):
        found = term_counts(Matrix.of(form(X), above), labels, tuple("abcdefg"))
        np.testing.assert_allclose(found.sums, one_hot.T @ cells, rtol=1e-14)
        np.testing.assert_allclose(found.weight, one_hot.sum(axis=0), rtol=1e-14)


@pytest.mark.parametrize("most", [0, 1, 9, 10**6, 2**40, 2**60])
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, np.uint8, bool])
@pytest.mark.parametrize("classes", [1, 3, 40])
def test_sums_of_counts_are_those_of_whole_numbers(most: int, kind: type, classes: int) -> None:
    """However many classes share a word: also where a row stores a term twice, and where a cell is below 0."""
    rng = np.random.default_rng(most % 97)
    top = min(most, 1 if kind is bool else int(np.iinfo(kind).max) // 2)
    y, indices = rng.integers(0, classes, 60), rng.integers(0, 5, 240).astype(np.int32)
    for least in (0, -top) if kind in (np.int64, np.int32) else (0,):
        cells = rng.integers(least, top, 240, endpoint=True).astype(kind)
        X = sparse.csr_array((cells, indices, np.arange(0, 241, 4, dtype=np.int32)), shape=(60, 5))
        assert not X.has_canonical_format
        exact = [[0] * 5 for _ in range(classes)]
        for row, term, cell in zip(np.repeat(y, 4).tolist(), indices.tolist(), cells.tolist(), strict=True):
            exact[row][term] += int(cell)
        sums = term_counts(Matrix.of(X), Labels(classes, y), tuple("abcde")).sums
        np.testing.assert_allclose(sums, np.array(exact, dtype=float), rtol=1e-14 if most > 2**30 else 0.0)
        X.sum_duplicates()
        dense, once = X.toarray().astype(float), term_counts(Matrix.of(X), Labels(classes, y), tuple("abcde")).sums
        exact_once = [dense[y == c].sum(axis=0) for c in range(classes)]
        np.testing.assert_allclose(once, exact_once, rtol=1e-14 if most > 2**30 else 0.0)


def test_term_counts_merge() -> None:
    X, y = data()
    names = tuple("abcdefg")
    whole = term_counts(Matrix.of(X), Labels(3, y), names)
    part, rest = (term_counts(Matrix.of(X[rows]), Labels(3, y[rows]), names) for rows in (slice(9), slice(9, None)))
    for found in (part + rest, rest + part, (whole + part) - part, whole.scaled(2.0) - whole):
        np.testing.assert_array_equal(found.sums, whole.sums)
        np.testing.assert_array_equal(found.weight, whole.weight)
    wider = whole.among(np.array([0, 2, 3]), 4)
    np.testing.assert_array_equal(wider.sums[[0, 2, 3]], whole.sums)
    assert not wider.sums[1].any()
    with pytest.raises(BayesEngineError, match="never counted"):
        part - whole
    with pytest.raises(BayesEngineError, match="counts of 7 terms and of 1 others do not merge"):
        whole + TermCounts(("a",), np.zeros(3), np.zeros((3, 1)))


def test_more_cells_than_the_indices_can_number() -> None:
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 99])), shape=(2, 100))
    X.indices = X.indices.astype(np.int8)  # which cannot number 300 cells
    assert term_counts(Matrix.of(X), Labels(3, np.array([2, 2])), ("t",) * 100).sums[2, [0, 99]].tolist() == [1.0, 2.0]


def table(X: np.ndarray) -> Matrix:
    schema = Schema(tuple(Variable(f"x{j}", "continuous", pivot=float(X[0, j])) for j in range(X.shape[1])))
    return Matrix(schema, (), len(X), values=X)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("apart", [0.0, 1e6])
@pytest.mark.parametrize("weighed", [False, True])
def test_moments_of_a_matrix_are_those_of_its_columns(offset: float, apart: float, weighed: bool) -> None:
    rng = np.random.default_rng(3)
    y = np.sort(rng.integers(0, 3, 80))
    X = offset + apart * y[:, None] + rng.normal(size=(80, 4))
    labels = Labels(4, y, rng.integers(0, 3, 80).astype(float) if weighed else None)  # the fourth class has no row
    fast, plain = moments(table(X), labels), moments(table(X), Labels(4, soft=labels.matrix().T))
    np.testing.assert_array_equal(fast.weight, plain.weight)
    np.testing.assert_allclose(fast.mean, plain.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fast.m2, plain.m2, rtol=1e-10 if offset else 1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("gap", [slice(0), slice(40, 41), slice(None)])
def test_moments_of_blocks_with_and_without_missing_cells(order: Any, gap: slice, monkeypatch: Any) -> None:
    monkeypatch.setattr("bayes_engine.stats.moments.BLOCK", 12 * 32)
    rng = np.random.default_rng(4)
    X, y = np.asarray(rng.normal(size=(300, 12)), order=order), rng.integers(0, 3, 300)
    rows = table(X)
    X[gap, 5] = np.nan
    for weight in (None, rng.random(300)):
        counted = moments(rows, Labels(4, y, weight))
        for c, j in np.ndindex(4, 12):
            there = (y == c) & ~np.isnan(X[:, j])
            w, z = (np.ones(300) if weight is None else weight)[there], X[there, j]
            mean = np.average(z, weights=w) if there.any() else counted.pivot[j]
            assert counted.weight[c, j] == pytest.approx(w.sum(), rel=1e-14)
            assert counted.mean[c, j] + counted.pivot[j] == pytest.approx(mean, abs=1e-13)
            assert counted.m2[c, j] == pytest.approx((w * (z - mean) ** 2).sum(), rel=1e-12)


def test_moments_name_a_cell_too_large_to_be_squared() -> None:
    X, y = data()
    with pytest.raises(BayesEngineError, match=r"column 'x2' holds infinity or a value too large to be .* in row 5:"):
        bayes_engine.GaussianNB().fit(np.where(np.arange(60)[:, None] * 7 + np.arange(7) == 30, 1e200, X), y)


# fast = sum of rows -------------------------------------------------------------------------------------------------


def assert_fast_is_sum(model: Any, X: Any) -> None:
    rows = encoded(model, X)
    slow = np.sum([np.broadcast_to(term, (rows.n, 3)) for _, term in model.factor_.rows(rows)], axis=0)
    np.testing.assert_allclose(model.factor_.log(rows), slow, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), slow, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.explain(X).joint(), slow, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_the_fast_path_is_the_sum_of_the_rows(name: str, alpha: float) -> None:
    X, y = data()
    X[y == 1, 3], X[y == 0, 5] = 0, np.maximum(X[y == 0, 5], 1)  # a term never, and one always, in a class
    parameters = {"alpha": alpha} if name not in ("GaussianNB", "ComplementNB") else {}
    model = getattr(bayes_engine, name)(**parameters).fit(X, y)
    assert_fast_is_sum(model, X)
    assert_fast_is_sum(model, X[:1])
    if name in OF_TERMS:
        assert_fast_is_sum(model, sparse.csr_array(X))
    if alpha == 0.0 and name in ("CategoricalNB", "MultinomialNB", "BernoulliNB"):
        assert np.isneginf(model.predict_joint_log_proba(X)).any()


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_gaussian_rows_far_out_and_means_far_apart() -> None:
    X, y = data()
    model = bayes_engine.GaussianNB().fit(X, y)
    assert_fast_is_sum(model, np.vstack([X, X[:3] + 1e7, X[:3]]))
    np.testing.assert_array_equal(model.predict_joint_log_proba(np.full((1, 7), 1e200)), -np.inf)
    apart = X * 1.0
    apart[:, 0] += 1e8 * y
    assert_fast_is_sum(bayes_engine.GaussianNB(var_smoothing=0.0).fit(apart + np.eye(60, 7), y), apart)


def test_categorical_columns_of_every_width() -> None:
    rng = np.random.default_rng(4)
    X = np.stack([rng.integers(0, s, 500) for s in (2, 300, 9, 20_000, 3, 70_000)], axis=1)
    y = rng.integers(0, 3, 500)
    model = bayes_engine.CategoricalNB(unseen="smooth").fit(X, y)
    assert_fast_is_sum(model, X)
    assert_fast_is_sum(model, X + rng.integers(0, 2, X.shape) * 70_000)


def test_the_ledger_of_a_text() -> None:
    words = pd.DataFrame([[2, 0, 1], [0, 3, 0], [1, 0, 2]], columns=["dog", "cat", "fish"])
    y = ["pets", "law", "pets"]
    counted = bayes_engine.MultinomialNB().fit(words, y).explain(words[:1])
    assert [row.name for row, _ in counted.rows] == ["class", "dog", "fish"]
    present = bayes_engine.BernoulliNB().fit(words, y)
    ledger = present.explain(words[:1])
    assert [row.name for row, _ in ledger.rows] == ["class", "dog", "fish", ABSENT]
    np.testing.assert_allclose(ledger.rows[-1][1], np.log([[1 / 3, 3 / 4]]))  # no cat
    np.testing.assert_allclose(ledger.posterior(), present.predict_proba(words[:1]))
    scores = bayes_engine.ComplementNB().fit(words, y).explain(words[:1])
    assert {row.kind for row, _ in scores.rows} == {"score"}


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_terms_that_are_integrated_out_have_no_row(name: str) -> None:
    X, y = data()
    kept = ["x1", "x4", "x6"]
    columns = [1, 4, 6]
    model = fitted(name)
    ledger = model.explain(X, given=kept)
    assert {row.name for row, _ in ledger.rows} <= {"class", *kept, ABSENT}
    if name == "BernoulliNB":  # a product: leaving terms out is fitting without them
        np.testing.assert_allclose(ledger.posterior(), clone(model).fit(X[:, columns], y).predict_proba(X[:, columns]))


# what comes from the base -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_merge_forget_with_params_and_leave_one_out(name: str) -> None:
    X, y = data()
    whole = fitted(name)
    first, rest = (getattr(bayes_engine, name)().fit(X[rows], y[rows]) for rows in (slice(30), slice(30, None)))
    wanted = whole.predict_joint_log_proba(X)
    parts = clone(whole).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    for model in (first.merge(rest), rest.merge(first), parts):
        np.testing.assert_allclose(model.predict_joint_log_proba(X), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        clone(whole).fit(X, y).forget(X[30:], y[30:]).predict_joint_log_proba(X[:1] * 0),
        first.predict_joint_log_proba(X[:1] * 0), rtol=1e-9 if name != "CategoricalNB" else 1.0,
    )  # fmt: skip
    parameter = {"var_smoothing": 0.3} if name == "GaussianNB" else {"alpha": 0.3}
    np.testing.assert_array_equal(
        whole.with_params(**parameter).predict_proba(X), fitted(name, **parameter).predict_proba(X)
    )
    np.testing.assert_allclose(clone(whole).fit_stats(whole.stats_).predict_proba(X), whole.predict_proba(X))
    left_out = whole.leave_one_out_log_proba(X, y)
    least = {"min_categories": whole.n_categories_} if name == "CategoricalNB" else {}
    for i in (0, 7, 59):
        others = np.arange(60) != i
        refit = getattr(bayes_engine, name)(**least).fit(X[others], y[others])
        np.testing.assert_allclose(left_out[i], refit.predict_log_proba(X[[i]])[0], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "ComplementNB"])
def test_predict_is_the_decision_under_0_1_loss(name: str) -> None:
    X, _ = data()
    model = fitted(name)
    np.testing.assert_array_equal(model.decide(X).action, model.predict(X))
    np.testing.assert_allclose(model.risk(X), 1.0 - model.predict_proba(X), atol=1e-12)


def test_complement_has_scores_until_it_is_calibrated() -> None:
    X, y = data()
    for ask in (bayes_engine.ComplementNB().fit(X, y).risk, bayes_engine.ComplementNB().fit(X, y).decide):
        with pytest.raises(BayesEngineError, match="ComplementNB gives scores, and a risk needs probabilities; calib"):
            ask(X)
    for estimator in (bayes_engine.ComplementNB(), make_pipeline(Binarizer(), bayes_engine.ComplementNB())):
        with pytest.raises(BayesEngineError, match="ComplementNB gives scores, and a risk needs probabilities; calib"):
            MinimumRiskClassifier(estimator).fit(X, y)
    calibrated = CalibratedClassifierCV(bayes_engine.ComplementNB(), cv=3)
    assert MinimumRiskClassifier(calibrated).fit(X, y).decide(X).action.shape == (60,)


# zeros and refusals -------------------------------------------------------------------------------------------------


def test_zero_probabilities_without_smoothing() -> None:
    words, y = np.array([[2, 0, 0], [0, 1, 0]]), ["a", "b"]
    for form in (np.asarray, sparse.csr_array):
        model = bayes_engine.MultinomialNB(alpha=0).fit(form(words), y)
        assert model.predict_proba(form(np.array([[3, 0, 0]]))).tolist() == [[1.0, 0.0]]
        with pytest.raises(ValueError, match=r"no posterior for 1 row: 1"):
            model.predict(form(np.array([[3, 0, 0], [1, 1, 0]])))
        present = bayes_engine.BernoulliNB(alpha=0).fit(form(words), y)
        assert present.predict_proba(form(np.array([[3, 0, 0]]))).tolist() == [[1.0, 0.0]]
        with pytest.raises(BayesEngineError, match=r"3 terms occur in one class only, or in none"):
            bayes_engine.ComplementNB(alpha=0).fit(form(words), y)


def test_a_class_without_a_word_is_uniform() -> None:
    model = bayes_engine.MultinomialNB(alpha=0).fit([[0, 0], [1, 3]], ["empty", "full"])
    np.testing.assert_allclose(model.predict_joint_log_proba([[1, 1]]), np.log([[0.5 / 4, 0.5 * 3 / 16]]))


def test_duplicates_of_a_sparse_cell_are_one_presence() -> None:
    twice = sparse.csr_array((np.array([1, 1, 1]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert bayes_engine.BernoulliNB().fit(twice, [0, 1]).feature_count_.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert bayes_engine.MultinomialNB().fit(twice, [0, 1]).feature_count_.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    assert twice.nnz == 3


def test_duplicates_of_a_small_integer_do_not_wrap() -> None:
    twice = sparse.csr_array((np.array([127, 127, 1], np.int8), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert bayes_engine.BernoulliNB().fit(twice, [0, 1]).feature_count_.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert bayes_engine.MultinomialNB().fit(twice, [0, 1]).feature_count_.tolist() == [[254.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-12])
def test_a_term_in_every_row_is_absent_as_often_as_alpha_says(alpha: float) -> None:
    weight = np.array([0.1, 0.2, 0.3, 0.7])  # 0.1 + 0.2 + 0.3 is not 0.6
    model = bayes_engine.BernoulliNB(alpha=alpha).fit([[1, 0], [1, 0], [1, 1], [0, 1]], [0, 0, 0, 1], weight)
    joint = model.predict_joint_log_proba([[0, 0]])[0, 0]
    present = weight[:3].sum()
    expected = (present / weight.sum()) * (alpha / (present + 2 * alpha)) * (0.3 + alpha) / (present + 2 * alpha)
    np.testing.assert_allclose(joint, -np.inf if alpha == 0 else np.log(0.3 / weight.sum() / present) + np.log(alpha))
    if alpha == 1e-12:
        np.testing.assert_allclose(joint, np.log(expected))


def test_a_small_alpha_is_not_lost_beside_large_counts() -> None:
    """1e6 + 1e-18 − 1e6 is 0."""
    model = bayes_engine.ComplementNB(alpha=1e-18).fit([[10**6, 0], [0, 1]], [0, 1])
    np.testing.assert_allclose(model.feature_log_prob_, [[-np.log(1e-18), 0.0], [0.0, np.log(1e24)]], atol=1e-12)


def test_a_class_without_spread_and_a_constant_column() -> None:
    X, y = np.array([[1.0, 5.0], [1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]), [0, 0, 1, 1]
    with pytest.warns(EstimationWarning, match=r"column\(s\) x0: a class has no spread there"):
        model = bayes_engine.GaussianNB(var_smoothing=0.0).fit(X, y)
    assert model.predict(X).tolist() == y
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_priors_by_label() -> None:
    X, y = data()
    labels = np.array(["c", "a", "b"])[y]
    for name in NAMES[:4]:
        word = "priors" if name == "GaussianNB" else "class_prior"
        by_label = getattr(bayes_engine, name)(**{word: {"c": 0.5, "a": 0.2, "b": 0.3}}).fit(X, labels)
        by_place = getattr(bayes_engine, name)(**{word: [0.2, 0.3, 0.5]}).fit(X, labels)
        np.testing.assert_array_equal(by_label.predict_proba(X), by_place.predict_proba(X))
        imagined = getattr(bayes_engine, name)(**{word: Dirichlet(2.0)}).fit(X, labels)
        assert list(imagined.prior_by_class.values()) == pytest.approx((np.bincount(y)[[1, 2, 0]] + 2) / (len(y) + 6))


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("GaussianNB", {"priors": [0.5, 0.5]}, "Number of priors must match number of classes: 2 priors, 3 classes"),
        ("GaussianNB", {"priors": [0.5, 0.5, 0.5]}, "priors sum to 1.5, not 1"),
        ("GaussianNB", {"priors": 0.5}, "priors=0.5 is none of 'empirical'"),
        ("MultinomialNB", {"class_prior": [1.5, -0.5, 0.0]}, "prior of class '0' is 1.5"),
        ("GaussianNB", {"var_smoothing": -1.0}, "var_smoothing=-1.0; it must be a number of 0 and more"),
        ("MultinomialNB", {"alpha": -1.0}, "alpha=-1.0; smoothing needs"),
        ("MultinomialNB", {"alpha": [1.0, 2.0]}, "one number for each feature: 2 for 7 features"),
        ("ComplementNB", {"alpha": [1.0] * 6 + [-1.0]}, "smoothing needs a number of 0 and more"),
        ("CategoricalNB", {"alpha": [1.0] * 7}, "smoothing needs a number of 0 and more"),
        ("CategoricalNB", {"min_categories": 2.5}, "min_categories=2.5 is neither a whole number nor one for each"),
        ("CategoricalNB", {"min_categories": [3, 4]}, "nor one for each of the 7 columns"),
        ("CategoricalNB", {"unseen": "what"}, "unseen='what' is none of"),
        ("BernoulliNB", {"binarize": -1.0}, "binarize=-1.0 is neither None nor a number of 0 and more"),
        ("BernoulliNB", {"binarize": None}, "X holds values outside 0 … 1; choose a threshold"),
    ],
)
def test_refusals(name: str, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(BayesEngineError) as said:
        fitted(name, **parameters)
    assert words in str(said.value)


def test_numbers_that_are_no_categories() -> None:
    with pytest.raises(BayesEngineError, match=r"column 'x1' holds 1000000000, and categories are numbered 0, 1, 2"):
        bayes_engine.CategoricalNB().fit([[0, 1], [1, 10**9]], [0, 1])
    strict = bayes_engine.CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    for far in (10**9, 1e200):
        with pytest.raises(BayesEngineError, match=rf"column 'x1' holds {far:.12g}, not seen".replace("+", r"\+")):
            strict.predict([[0, far]])
        ignoring = bayes_engine.CategoricalNB(unseen="ignore").fit([[0, 1], [1, 0]], [0, 1])
        np.testing.assert_allclose(ignoring.predict_proba([[0, far]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("name", ["CategoricalNB", "MultinomialNB", "ComplementNB"])
def test_negative_counts_are_refused(name: str) -> None:
    X, y = data()
    X[4, 2] = -1
    with pytest.raises(BayesEngineError, match=f"Negative values in data passed to {name}"):
        getattr(bayes_engine, name)().fit(X, y)


def test_with_params_names_what_acts_in_counting() -> None:
    for name, parameter in (("BernoulliNB", {"binarize": 1.0}), ("CategoricalNB", {"min_categories": 9})):
        with pytest.raises(BayesEngineError, match="set it and refit"):
            fitted(name).with_params(**parameter)


def test_statistics_of_two_kinds_of_models_do_not_merge() -> None:
    X, y = data()
    plain = collect(Matrix.of(X), Labels(3, y), fitted("MultinomialNB").target_)
    with pytest.raises(BayesEngineError, match="two kinds of models do not merge"):
        fitted("MultinomialNB").stats_ + plain
    with pytest.raises(BayesEngineError, match="hold no sums of terms"):
        bayes_engine.MultinomialNB().fit_stats(plain)


# one matrix ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("weight", [None, np.where(np.arange(3000) == 7, 0.0, 0.1)])
@pytest.mark.parametrize(("cell", "reason"), [(np.nan, "has a missing cell"), (np.inf, "holds infinity .*")])
def test_gaussian_nb_learns_of_a_cell_that_is_not_finite_from_its_sums(
    cell: float, reason: str, weight: Any, dtype: type
) -> None:
    y = np.arange(3000) % 2
    for row in (0, 7, 2999):
        X = pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 3)).astype(dtype), columns=["a", "b", "c"])
        X.iloc[row, 1] = cell
        with pytest.raises(BayesEngineError, match=rf"column 'b' {reason} ?in row {row + 1}.*: Input X contains"):
            bayes_engine.GaussianNB().fit(X, y, weight)
        with pytest.raises(BayesEngineError, match=r"column 'b' .*Input X contains"):
            bayes_engine.GaussianNB().fit(X[100:200], y[100:200]).partial_fit(X, y)


def test_a_matrix_of_numbers_hides_columns_and_knows_its_infinite_rows() -> None:
    schema = Schema((Variable("a", "continuous"), Variable("b", "continuous")))
    values = np.arange(40.0).reshape(20, 2)
    values[3, 1], values[5, 0], values[7, 0] = np.nan, np.inf, -np.inf
    rows = Matrix.of(values, schema=schema)
    assert np.flatnonzero(rows.infinite()).tolist() == [5, 7]
    assert np.flatnonzero(rows.take(slice(4, 7)).infinite()).tolist() == [1]
    assert not Matrix.of(values, above=1.0).infinite().any()
    hidden = rows.hiding(["b"])
    assert np.isnan(hidden["a"]).all() and not hidden.infinite().any()
    np.testing.assert_array_equal(hidden["b"], values[:, 1])
    np.testing.assert_array_equal(matrix.matrix(Table(schema, tuple(values.T), 20)), matrix.matrix(rows))


def test_a_prior_by_class_has_labels_where_class_prior_has_places() -> None:
    X, y = data()
    model = bayes_engine.GaussianNB(priors=[0.5, 0.25, 0.25]).fit(X, np.array(["u", "v", "w"])[y])
    assert model.class_prior_.tolist() == [0.5, 0.25, 0.25]
    assert model.prior_by_class == {"u": 0.5, "v": 0.25, "w": 0.25}
    assert bayes_engine.GaussianNB(priors="laplace").fit(X, y).factor_.parts[0].added == 1.0


def test_the_prior_density_of_a_bernoulli_has_both_sides_of_each_term() -> None:
    model = bayes_engine.BernoulliNB().fit(np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 1]]), [0, 0, 1, 1])
    present = model.feature_log_prob_
    both = (present + np.log1p(-np.exp(present))).sum()
    assert model.factor_.parts[-1].log_prior_density(1.0) == pytest.approx(both, rel=1e-12)


# columns of a table -------------------------------------------------------------------------------------------------


def test_columns_of_a_table_are_summed_together_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    n = 300
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame({
        "word": pd.Series(np.array(["a", "b", "c"])[(y + rng.integers(0, 2, n)) % 3]).where(rng.random(n) > 0.1),
        "level": pd.Categorical.from_codes(rng.integers(-1, 4, n), list("dcba")),
        "size": np.where(rng.random(n) > 0.1, rng.normal(1e6, 3.0, n) + y, np.nan),
        "far": rng.normal(size=n) * np.where(y == 0, 1e-4, 1.0) + 3.0 * y,
        "count": rng.poisson(2.0 + y, n),
    })  # fmt: skip
    model = bayes_engine.NaiveBayes(likelihoods={"count": "poisson"}, missing="category", unseen="smooth").fit(frame, y)
    other = frame.assign(word=frame["word"].fillna("new"))
    for rows in (frame, other):
        table = model._encode(rows)
        one_by_one = sum(term for _, term in model.factor_.rows(table))
        np.testing.assert_allclose(model.factor_.log(table), one_by_one, rtol=1e-11, atol=1e-11)
        assert model.predict(rows).tolist() == model.classes_[model.predict_proba(rows).argmax(axis=1)].tolist()
    whole, few = model.stats_.moments, [bayes_engine.NaiveBayes().fit(frame[part], y) for part in (["size"], ["far"])]
    for alone in few:
        j = whole.names.index(alone.schema_.names[0])
        np.testing.assert_allclose(whole.m2[:, j], alone.stats_.moments.m2[:, 0], rtol=1e-9)


def test_strings_are_read_anew_once_they_are_written_into() -> None:
    frame = pd.DataFrame({"word": pd.Series(["a", "b", "a", "b"], dtype="str")})
    model = bayes_engine.NaiveBayes().fit(frame, [0, 1, 0, 1])
    assert model.predict(frame).tolist() == [0, 1, 0, 1]
    frame.loc[1, "word"] = "a"
    assert model.predict(frame).tolist() == [0, 0, 0, 1]
    frame.iloc[0, 0] = None
    assert model.predict_proba(frame)[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_rows_of_numbers_are_one_matrix_with_the_same_model(order: Any) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 1100)
    X = np.array(rng.normal(size=(1100, 4)) + y[:, None], order=order)
    X[:, 2] = 7.0  # says nothing, and is set aside
    X[rng.random(1100) > 0.9, 1] = np.nan
    with pytest.warns(EstimationWarning, match="x2"):
        model = bayes_engine.NaiveBayes().fit(X, y)
    with pytest.warns(EstimationWarning, match="x2"):
        apart = bayes_engine.NaiveBayes().fit(apart_frame(X), y)
    assert isinstance(model._encode(X), matrix.Matrix)
    assert not isinstance(apart._encode(apart_frame(X)), matrix.Matrix)
    np.testing.assert_allclose(model.stats_.moments.m2, apart.stats_.moments.m2, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), apart.predict_proba(apart_frame(X)), rtol=1e-9)
    np.testing.assert_allclose(
        model.leave_one_out_log_proba(X, y), apart.leave_one_out_log_proba(apart_frame(X), y), rtol=1e-9, atol=1e-12
    )
    X[1099, 2] = np.inf
    for refused in (lambda: model.predict(X), lambda: bayes_engine.NaiveBayes().fit(X, y)):
        with pytest.raises(ValueError, match=r"infin"):
            refused()
    with pytest.raises(ValueError, match=r"'x1'.*missing cell.* in row \d+"):
        bayes_engine.NaiveBayes(missing="error").fit(X, y)


def apart_frame(X: np.ndarray) -> pd.DataFrame:
    """The same numbers, column by column."""
    return pd.DataFrame(X).add_prefix("x").astype("Float64")


def test_rows_in_blocks_have_the_posteriors_and_labels_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 300)
    frame = pd.DataFrame({"word": pd.Series(np.array(list("abc"))[(y + rng.integers(0, 2, 300)) % 3]), "x": 1.0 * y})
    frame["x"] += rng.normal(size=300)
    frame = frame.where(pd.Series(np.arange(300) % 2 > 0), axis=0)  # every other row shows nothing
    model = bayes_engine.NaiveBayes(priors="uniform").fit(frame, y)  # so that these are ties
    whole, labels = model.predict_proba(frame), model.predict(frame)
    monkeypatch.setattr(bayes_engine.NaiveBayes, "_at_once", 64)
    np.testing.assert_array_equal(model.predict_proba(frame), whole)
    assert model.predict(frame).tolist() == labels.tolist() == model.decide(frame).action.tolist()
    frame.loc[[5, 199], "x"] = np.inf
    for verb in (model.predict, model.predict_proba):
        with pytest.raises(UndefinedPosterior) as refused:
            verb(frame)
        assert refused.value.rows == (5, 199)


@pytest.mark.parametrize(("classes", "smoothing", "fixed"), [(2, "all", True), (5, "all", True), (6, "all", False),
                                                             (3, "none", False)])  # fmt: skip
def test_labels_of_tables_in_fixed_point_are_those_of_the_posterior(classes: int, smoothing: Any, fixed: bool) -> None:
    rng = np.random.default_rng(11)
    y = np.arange(1200) % classes
    codes = np.where(rng.random((1200, 4)) > 0.1, (y[:, None] + rng.integers(0, 3, (1200, 4))) % 7, -1)
    codes[y == 1] = codes[y == 0]  # so that all their rows are ties
    frame = pd.DataFrame({f"x{j}": pd.Categorical.from_codes(codes[:, j], list("gfedcba")) for j in range(4)})
    model = bayes_engine.NaiveBayes(smoothing=smoothing).fit(frame, y)
    table = model._encode(frame)
    found = model.factor_.in_fixed_point(table)
    assert (found is not None) is fixed
    joint = model.factor_.log(table)
    if found is not None:
        np.testing.assert_allclose(found[0] - found[0][:, :1], joint - joint[:, :1], rtol=0.0, atol=found[1])
        clear = model._leading(table)[1]
        assert 0.2 < clear.mean() < 1.0 or classes == 2
    assert model.predict(frame).tolist() == model.decide(frame).action.tolist()
    mixed = bayes_engine.NaiveBayes(smoothing=smoothing).fit(frame.assign(x=rng.normal(size=1200)), y)
    assert mixed.factor_.in_fixed_point(mixed._encode(frame.assign(x=1.0))) is None
