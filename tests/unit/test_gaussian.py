"""Discriminant analysis by hand, and what it does with tables it is not made for."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_engine.covariance import inverse_root, pooled, shrunk
from bayes_engine.datasets import load_dataset
from bayes_engine.errors import EstimationWarning, NotASubset, ParameterError, TableError, UndefinedPosterior
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.gaussian_discriminant import one_thread
from bayes_engine.table.schema import Schema, Variable
from tests.classified_files import receive, score

BOTH = pytest.mark.parametrize("model", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])


@pytest.fixture
def melons() -> tuple[pd.DataFrame, pd.Series]:
    table = load_dataset("watermelon3a").frame
    return table[["密度", "含糖率"]], table["好瓜"]


@pytest.fixture
def noise() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20)


# by hand --------------------------------------------------------------------------------------------------------------


def test_one_column_by_hand() -> None:
    """a: 0, 2 and b: 4, 6: means 1 and 5, Σ = 4/4 = 1, w = (5 − 1)/1, the boundary halfway at 3."""
    model = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    assert model.means_.tolist() == [[1.0], [5.0]] and model.covariance_.tolist() == [[1.0]]
    assert model.coef_.tolist() == [[4.0]] and model.intercept_.tolist() == [-12.0]
    assert model.decision_function([[3.0]]).tolist() == [0.0]
    assert model.predict([[3.0]]).tolist() == ["a"], "a tie goes to the class that comes first"
    assert model.scalings_.tolist() == [[1.0]] and model.transform([[3.0], [5.0]]).tolist() == [[0.0], [2.0]]
    np.testing.assert_allclose(model.predict_proba([[4.0]]), [[1 / (1 + np.e**4), 1 / (1 + np.e**-4)]])
    assert (
        LinearDiscriminantAnalysis(variance="unbiased").fit([[0.0], [2.0], [4.0], [6.0]], list("aabb")).covariance_ == 2
    )


def test_ledger_rows_of_lda_and_qda(melons: Any) -> None:
    X, y = melons
    linear, quadratic = LinearDiscriminantAnalysis().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    rows = {row.name: (row.kind, term) for row, term in linear.explain(X).rows}
    assert [kind for kind, _ in rows.values()] == ["prior", "log-density", "log-density", "constant", "constant"]
    assert list(rows)[:3] == ["好瓜", "密度", "含糖率"]
    for name in list(rows)[3:]:
        assert np.ptp(rows[name][1], axis=1).max() == 0.0, "a constant does not depend on the class"
    w, b = linear.discriminant("是", "否")
    odds = linear.explain(X).contributions("是", "否").sum(axis=1)
    np.testing.assert_allclose(odds, X.to_numpy() @ w + b, atol=1e-12)
    names = [row.name for row, _ in quadratic.explain(X).rows]
    assert names == ["好瓜", "−½ log det Σ", "−½ (x−μ)ᵀΣ⁻¹(x−μ)", "−(d/2) log 2π"]
    for c, label in enumerate(quadratic.classes_):
        own = X[y == label]
        density = multivariate_normal(own.mean(), np.cov(own.T, ddof=0)).logpdf(X)
        expected = np.log((y == label).mean()) + density
        np.testing.assert_allclose(quadratic.predict_joint_log_proba(X)[:, c], expected, rtol=1e-10)


def test_blas_has_as_many_threads_again_once_the_last_of_several_is_done() -> None:
    def now() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before, (first, second) = now(), (one_thread(), one_thread())
        with ExitStack() as other:
            with first:
                other.enter_context(second)
                assert set(now()) == {1}
            assert set(now()) == {1}
        assert now() == before


def test_the_watermelon_direction(melons: Any) -> None:
    w, _ = LinearDiscriminantAnalysis(priors="uniform").fit(*melons).discriminant("否", "是")
    np.testing.assert_allclose(w / 17, [-0.14650982, -0.73871557], atol=5e-9)  # S_w = 17 Σ


def test_kinds_of_covariance() -> None:
    m2 = np.array([[[8.0, 4.0], [4.0, 6.0]], [[2.0, 0.0], [0.0, 4.0]]])
    n = np.array([4.0, 2.0])
    np.testing.assert_array_equal(pooled(n, m2, 0.0)[0], m2[0] / 4)
    np.testing.assert_array_equal(pooled(n, m2, 0.0, ddof=1)[0], m2[0] / 3)
    np.testing.assert_array_equal(pooled(n, m2, 1.0)[1], m2.sum(axis=0) / 6)
    np.testing.assert_array_equal(shrunk(m2, np.ones(2), "diagonal")[0], np.diag([8.0, 6.0]))
    np.testing.assert_array_equal(shrunk(m2, np.ones(2), "spherical")[1], 3.0 * np.eye(2))
    np.testing.assert_array_equal(pooled(n, m2, 0.5)[1], (0.5 * m2[1] + 0.5 * m2.sum(axis=0)) / 4)


def test_the_path_from_qda_to_lda_moves_the_covariances(noise: Any) -> None:
    lda = LinearDiscriminantAnalysis().fit(*noise).covariance_
    gaps = [
        np.abs(QuadraticDiscriminantAnalysis(pooling=p).fit(*noise).covariance_ - lda).max() for p in (0, 0.5, 0.9, 1)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] and gaps[3] < 1e-15


# tables it is not made for --------------------------------------------------------------------------------------------


def test_NF12_one_member(noise: Any) -> None:
    X, y = noise
    y = np.where(np.arange(60) == 0, 3, y)
    with pytest.raises(TableError, match=r"class '3' \(1 row, 3 columns\) has no spread .* x0, x1, x2"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    assert LinearDiscriminantAnalysis(priors="uniform").fit(X, y).predict(X[:1]).tolist() == [3]
    assert 3 in QuadraticDiscriminantAnalysis(pooling=0.5, priors="uniform").fit(X, y).predict(X)


@BOTH
def test_NF13_one_class(model: Any, noise: Any) -> None:
    with pytest.raises(TableError, match="1 class"):
        model().fit(noise[0], np.zeros(60))


@BOTH
def test_NF14_a_class_without_rows(model: Any, noise: Any) -> None:
    X, y = noise
    declared = pd.Categorical(y, categories=[0, 1, 2, 3])
    with pytest.warns(EstimationWarning, match=r"class\(es\) 3 have the prior 0"):
        fitted = model().fit(X, declared)
    assert (fitted.predict_proba(X)[:, 3] == 0).all()
    with pytest.warns(EstimationWarning, match=r"class\(es\) 3 have no row: they rest on their prior"):
        fitted = model(priors="uniform").fit(X, declared)
    assert (fitted.predict_proba(X)[:, 3] > 0).all()


@BOTH
def test_NF15_more_columns_than_rows(model: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.repeat([0, 1], 10)
    with pytest.raises(TableError, match=r"x0, x1, .*, ….* Take shrinkage='auto'"):
        model().fit(X, y)
    for shrinkage in ("auto", "oas", 0.5):
        fitted = model(shrinkage=shrinkage).fit(X, y)
        p = fitted.predict_proba(rng.normal(size=(2000, 50)))
        assert set(fitted.shrinkage_) == {0, 1} and all(0 < a <= 1 for a in fitted.shrinkage_.values())
        assert np.isfinite(p).all()


def test_NF16_collinear_columns(noise: Any) -> None:
    X, y = noise
    redundant = np.column_stack([X, X[:, 0] + X[:, 1], np.full(60, 7.0)])
    with pytest.raises(TableError, match=r"class '0' .* x0, x1, x3"), pytest.warns(EstimationWarning, match="x4"):
        QuadraticDiscriminantAnalysis().fit(redundant, y)
    with pytest.warns(EstimationWarning) as said:
        model = LinearDiscriminantAnalysis().fit(redundant, y)
    assert any("x0, x1, x3 determine one another" in str(w.message) and "3 directions" in str(w.message) for w in said)
    assert any("x4 have the same value in every row" in str(w.message) for w in said)
    right = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(redundant), right.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(np.abs(model.transform(redundant)), np.abs(right.transform(X)), atol=1e-9)
    with pytest.warns(EstimationWarning):
        loo = model.leave_one_out_log_proba(redundant[:3], y[:3])
    np.testing.assert_allclose(loo, right.leave_one_out_log_proba(X[:3], y[:3]), atol=1e-9)


def test_NF17_nearly_collinear(noise: Any) -> None:
    X, y = noise
    near = np.column_stack([X, X[:, 0] + 1e-6 * np.random.default_rng(1).normal(size=60)])
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        with pytest.warns(EstimationWarning, match=r"nearly singular, with the condition number \d\.?\d*e\+1[1-4]"):
            model.fit(near, y)
    nearer = np.column_stack([X, X[:, 0] + 1e-9 * np.random.default_rng(1).normal(size=60)])
    with pytest.warns(EstimationWarning, match=r"condition number .* or more"):
        model = LinearDiscriminantAnalysis().fit(nearer, y)
    np.testing.assert_allclose(
        model.predict_proba(nearer), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-5
    )


@BOTH
def test_NF18_constant_table(model: Any) -> None:
    with pytest.raises(TableError, match=r"every column \(x0, x1\) has the same value in all rows"):
        model().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])


def test_a_column_that_is_the_class_decides() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.column_stack([rng.normal(size=40), y * 0.1 + 3.0])
    with pytest.warns(EstimationWarning, match="columns x1 the classes differ and no class has any spread"):
        model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    with pytest.warns(EstimationWarning):
        turned = LinearDiscriminantAnalysis().fit(np.column_stack([X[:, 0], X[:, 0] + X[:, 1]]), y)
    np.testing.assert_array_equal(turned.predict(np.column_stack([X[:, 0], X[:, 0] + X[:, 1]])), y)


def test_NF19_what_is_no_covariance() -> None:
    for matrix in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]]):
        with pytest.raises(ParameterError, match="must be symmetric with no eigenvalue below zero; the least one"):
            inverse_root(np.array(matrix))


@BOTH
def test_what_fit_refuses_by_name(model: Any, noise: Any) -> None:
    X, y = noise
    table = pd.DataFrame(X, columns=["p", "q", "r"])
    with pytest.raises(TableError, match=r"column 'q' has a missing cell \(NaN\) in row 3: .* Fill the cell"):
        model().fit(table.mask(np.arange(180).reshape(60, 3) == 7), y)
    with pytest.raises(TableError, match=r"column 'r' holds infinity or a value too large .* in row 1"):
        model().fit(table.assign(r=[np.inf, *X[1:, 2]]), y)
    with pytest.raises(TableError, match=r"column 'r' holds infinity or a value too large .* in row 2"):
        model().fit(table.assign(r=[0.0, 1e200, *X[2:, 2]]), y)
    with pytest.raises(TableError, match="column 's' is categorical; discriminant analysis needs numbers"):
        model().fit(table.assign(s="x"), y)
    for bad in ({"shrinkage": 1.5}, {"shrinkage": "ledoit"}, {"covariance": "round"}, {"variance": "sample"}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            model(**bad).fit(X, y)
    with pytest.raises(ParameterError, match=r"priors sum to 0\.9"):
        model(priors={0: 0.3, 1: 0.3, 2: 0.3}).fit(X, y)


def test_parameters_of_one_of_them(noise: Any) -> None:
    with pytest.raises(ParameterError, match=r"pooling=2 is no share"):
        QuadraticDiscriminantAnalysis(pooling=2).fit(*noise)
    with pytest.raises(ParameterError, match="n_components=3; there are 1 to 2 directions"):
        LinearDiscriminantAnalysis(n_components=3).fit(*noise).transform(noise[0])
    assert LinearDiscriminantAnalysis(n_components=1).fit(*noise).transform(noise[0]).shape == (60, 1)
    with pytest.raises(ParameterError, match="order=x0, x1 must name every column once: x0, x1, x2"):
        QuadraticDiscriminantAnalysis().fit(*noise).explain(noise[0], order=["x0", "x1"])
    with pytest.raises(ParameterError, match="there is no class '7'"):
        LinearDiscriminantAnalysis().fit(*noise).discriminant(7, 0)


def test_ledoit_wolf_is_found_once_and_kept(noise: Any) -> None:
    X, y = noise
    model = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
    before = model.shrinkage_
    assert model.partial_fit(X[:10] * 3, y[:10]).shrinkage_ == before
    assert model.merge(model).shrinkage_ == before == model.with_params(priors="uniform").shrinkage_
    assert model.with_params(shrinkage=None).shrinkage_ == {0: 0.0, 1: 0.0, 2: 0.0}
    with pytest.raises(ParameterError, match="takes its amount from the rows of a first fit"):
        LinearDiscriminantAnalysis().fit(X, y).with_params(shrinkage="auto")
    with pytest.raises(ParameterError, match="takes its amount from the rows of a first fit"):
        LinearDiscriminantAnalysis(shrinkage="auto").fit_stats(model.stats_)


@BOTH
def test_NF04_NF31_far_infinite_and_missing_cells_at_predict(model: Any, noise: Any) -> None:
    X, y = noise
    fitted = model().fit(X, y)
    X = X[:4].copy()
    X[1, 0], X[2, 1], X[3] = np.inf, 1e200, np.nan
    with pytest.raises(UndefinedPosterior, match=r"2 rows: 1, 2") as error:
        fitted.predict(X)
    assert error.value.rows == (1, 2)
    np.testing.assert_allclose(fitted.predict_proba(X[3:]), [fitted.priors_])
    assert fitted.decide(X).status.tolist() == [0, 3, 2, 0]


@pytest.mark.parametrize("apart", [1.0, 1e5])
@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_the_working_of_a_row_is_that_of_its_gaussian_whatever_its_neighbours(apart: float, mean: float) -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(5000) % 2
    X = rng.normal(size=(5000, 3)) @ rng.normal(size=(3, 3)) + mean + apart * codes[:, None]
    model = QuadraticDiscriminantAnalysis().fit(X, codes)
    X[4000, 1], X[2500, 2] = np.nan, 1e200  # in blocks of their own; the first has neither
    ledger = model.explain(X)
    joint = ledger.joint()
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(X), rtol=1e-12)
    for c in (0, 1):
        gaussian = multivariate_normal(model.means_[c], model.covariance_[c])
        own = np.flatnonzero((codes == c) & np.isfinite(X).all(axis=1) & (X[:, 2] < 1e199))
        np.testing.assert_allclose(joint[own, c], np.log(0.5) + gaussian.logpdf(X[own]), rtol=1e-7)
    known = multivariate_normal(model.means_[0][[0, 2]], model.covariance_[0][np.ix_([0, 2], [0, 2])])
    assert joint[4000, 0] == pytest.approx(np.log(0.5) + known.logpdf(X[4000, [0, 2]]), rel=1e-7)
    assert (joint[2500] == -np.inf).all()


@BOTH
@pytest.mark.parametrize("far", [1e10, 1e17, 1e100, 1e150])
def test_NF04_what_all_classes_share_drowns_no_posterior(model: Any, far: float, noise: Any) -> None:
    """Of LDA's joint the shared −½ (x−x̄)ᵀΣ⁻¹(x−x̄) grows as the square of what tells the classes apart."""
    X, y = noise
    names = ["x0", "x1", "x2"]
    fitted, row = model().fit(pd.DataFrame(X, columns=names), y), pd.DataFrame([[far, 0.0, -0.5 * far]], columns=names)
    posterior = fitted.predict_proba(row)
    assert posterior.max() == 1.0
    assert fitted.explain(row).posterior().tolist() == posterior.tolist()
    assert fitted.explain(row).summed().posterior().tolist() == posterior.tolist()
    cells = receive(row.map(repr), fitted.schema_, fitted.target_)
    assert score(fitted, cells).posterior().tolist() == posterior.tolist()


@BOTH
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("priors", ["empirical", [0.0, 0.4, 0.6]])
@pytest.mark.parametrize("apart", [0.5, 40.0])
def test_labels_need_no_posterior_and_are_those_of_it(
    model: Any, priors: Any, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayes_engine.factors.discriminant.BLOCK", 16)
    monkeypatch.setattr("bayes_engine.models.gaussian_discriminant.RANKED", 48)
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 4)) + 5.0 + apart * y[:, None] * [1, 0, -1, 2]
    fitted = model(priors=priors).fit(X, y)
    X[64:170:17, 1] = np.nan  # of the rows that are ranked together some have all cells, some all but in the last block
    X[70], X[140] = np.nan, 1e9
    best = fitted.predict_joint_log_proba(X).argmax(axis=1)
    assert fitted.predict(X).tolist() == best.tolist() == fitted.predict_proba(X).argmax(axis=1).tolist()
    np.testing.assert_allclose(fitted.predict_proba(X), np.exp(fitted.predict_log_proba(X)), rtol=1e-12)
    X[[3, 190], [0, 2]] = np.inf, 1e200
    for verb in (fitted.predict, fitted.predict_proba):
        with pytest.raises(UndefinedPosterior) as refused:
            verb(X)
        assert refused.value.rows == (3, 190)


@BOTH
def test_infinity_in_a_column_set_aside_has_no_label_either(model: Any, noise: Any) -> None:
    X, y = noise
    X = np.column_stack([X, np.ones(len(X))])
    if model is LinearDiscriminantAnalysis:
        with pytest.warns(EstimationWarning, match="x3"):
            fitted = model().fit(X, y)
        X[7, 3] = np.inf
    else:
        fitted = model().fit(X[:, :3], y)
        X = X[:, :3].copy()
        X[7, 1] = np.inf
    for verb in (fitted.predict, fitted.predict_proba):
        with pytest.raises(UndefinedPosterior) as refused:
            verb(X)
        assert refused.value.rows == (7,)


@BOTH
def test_offset_of_a_billion(model: Any, noise: Any) -> None:
    X, y = noise
    moved = X + 1e9
    kept = moved - 1e9  # what is left of the digits
    a, b = model().fit(kept, y).predict_proba(kept), model().fit(moved, y).predict_proba(moved)
    np.testing.assert_allclose(a, b, atol=1e-6)


@BOTH
def test_leave_one_out_refuses_strange_rows_and_finishes_a_class(model: Any, noise: Any) -> None:
    X, y = noise
    fitted = model().fit(X, y)
    with pytest.raises(NotASubset):
        fitted.leave_one_out_log_proba(X[:1], y[:1], [21.0])
    joint = LinearDiscriminantAnalysis().fit(X, np.where(np.arange(60) == 5, 9, y))
    with pytest.warns(EstimationWarning, match=r"9 have the prior 0"):
        without = joint.leave_one_out_log_proba(X[5:6], [9])
    assert without[0, 3] == -np.inf and np.isfinite(without[0, :3]).all()


def test_a_schema_gives_kinds_and_order(noise: Any) -> None:
    X, y = noise
    frame = pd.DataFrame(X, columns=["p", "q", "r"])
    schema = Schema((Variable("r", "continuous"), Variable("p", "continuous")))
    model = LinearDiscriminantAnalysis(schema=schema).fit(frame, y)
    other = LinearDiscriminantAnalysis().fit(frame[["r", "p"]], y)
    np.testing.assert_allclose(model.predict_proba(frame), other.predict_proba(frame[["r", "p"]]))
