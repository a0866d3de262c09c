"""Fisher's projection: the textbook's melons, the theorem, and the tests of assumptions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import EstimationWarning, ParameterError, TableError
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.discriminant_directions import criterion, principal_axes
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.stats.assumptions import box_m, mardia
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.scatter import Scatter, scatter
from tests.textbook import criterion_by_angle, scatter_matrices


@pytest.fixture
def melons() -> tuple[pd.DataFrame, pd.Series]:
    table = load_dataset("watermelon3a").frame
    return table[["密度", "含糖率"]], table["好瓜"]


@pytest.fixture
def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


def test_watermelon_3_alpha(melons: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = melons
    model = FisherDiscriminant().fit(X, y)
    w = model.scalings_[:, 0]
    np.testing.assert_allclose(w / np.linalg.norm(w), np.array([0.14650982, 0.73871557]) / 0.75310406, atol=1e-7)
    within, between, total = scatter_matrices(X, y)
    apart = X[y == "否"].mean().to_numpy() - X[y == "是"].mean().to_numpy()
    np.testing.assert_allclose(np.linalg.solve(within, apart), [-0.14650982, -0.73871557], atol=5e-9)
    assert (model.predict(X) == y).sum() == 12
    np.testing.assert_allclose(within + between, total, rtol=1e-12)
    np.testing.assert_allclose(model.total_, total, rtol=1e-12)
    np.testing.assert_allclose(w @ within @ w / 17, 1.0)


def test_the_theorem_two_classes_equal_priors_whatever_the_covariances() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(300, 2)) @ np.array([[4.0, 1.0], [0.0, 0.3]])
    b = rng.normal(size=(80, 2)) @ np.array([[0.2, 0.0], [1.0, 2.0]]) + 3.0
    X, y = np.vstack([a, b]), np.repeat(["a", "b"], [300, 80])
    fisher = FisherDiscriminant().fit(X, y)
    equal, empirical = (LinearDiscriminantAnalysis(priors=p).fit(X, y) for p in ("uniform", None))
    (w, c), (v, d), (u, e) = (m.discriminant("b", "a") for m in (fisher, equal, empirical))
    np.testing.assert_allclose(w, v, rtol=1e-9)
    np.testing.assert_allclose(c, d, rtol=1e-9)
    np.testing.assert_allclose(u, v, rtol=1e-12)
    assert e - d == pytest.approx(np.log(80 / 300)), "the prior splits the two"
    grid = rng.uniform(-10, 10, (5000, 2))
    np.testing.assert_array_equal(fisher.predict(grid), equal.predict(grid))
    assert (fisher.predict(grid) != empirical.predict(grid)).any()


def test_the_criterion_is_largest_at_fisher_s_direction(melons: tuple[pd.DataFrame, pd.Series]) -> None:
    within, between, _ = scatter_matrices(*melons)
    model = FisherDiscriminant().fit(*melons)
    w = model.scalings_[:, 0]
    angles = np.linspace(0, 180, 1801)
    J = criterion_by_angle(angles, within, between)
    best = float(criterion(w, within, between))
    assert J.max() <= best * (1 + 1e-12) and J.max() == pytest.approx(best, rel=1e-4)
    assert angles[J.argmax()] == pytest.approx(np.degrees(np.arctan2(w[1], w[0])), abs=0.06)
    assert model.trace_ == (pytest.approx(best),) and model.explained_ratio_.tolist() == [1.0]
    assert criterion(np.array([1.0, 0.0]), np.zeros((2, 2)), np.eye(2)) == np.inf


def test_ratio_trace_in_three_classes(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris
    model = FisherDiscriminant().fit(X, y)
    within, between, _ = scatter_matrices(X, y)
    W = model.scalings_
    assert W.shape == (4, 2) and (W[np.abs(W).argmax(axis=0), [0, 1]] > 0).all()
    np.testing.assert_allclose(W.T @ within @ W / 150, np.eye(2), atol=1e-12)
    J = np.trace(np.linalg.inv(W.T @ within @ W) @ W.T @ between @ W)
    assert model.trace_[-1] == pytest.approx(J) == pytest.approx(32.1919 + 0.2854, abs=1e-4)
    np.testing.assert_allclose(model.explained_ratio_, [0.9912, 0.0088], atol=5e-5)
    assert FisherDiscriminant(n_components=1).fit(X, y).transform(X).shape == (150, 1)
    with pytest.raises(ParameterError, match="n_components=3; there are 1 to 2"):
        FisherDiscriminant(n_components=3).fit(X, y)


def test_trace_ratio_may_have_more_directions_than_classes(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris
    model = FisherDiscriminant(objective="trace-ratio", n_components=3).fit(X, y)
    np.testing.assert_allclose(model.scalings_.T @ model.scalings_, np.eye(3), atol=1e-12)
    assert len(model.trace_) > 1 and (np.diff(model.trace_) >= -1e-12).all()
    with pytest.raises(ParameterError, match="objective='ratio' is none of"):
        FisherDiscriminant(objective="ratio").fit(X, y)  # type: ignore[arg-type]


def test_more_columns_than_rows_and_collinear_ones() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.repeat([0, 1], 10)
    with pytest.raises(TableError, match="Take shrinkage='auto'"):
        FisherDiscriminant().fit(X, y)
    shrunk = FisherDiscriminant(shrinkage="auto").fit(X, y)
    assert all(0 < amount <= 1 for amount in shrunk.shrinkage_.values())
    few = X[:, :2]
    for objective in ("ratio-trace", "trace-ratio"):
        with pytest.warns(EstimationWarning, match="determine one another"):
            model = FisherDiscriminant(objective=objective).fit(np.column_stack([few, few.sum(axis=1)]), y)  # type: ignore[arg-type]
        assert np.isfinite(model.scalings_).all()


def test_rows_come_and_go(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris
    batch = FisherDiscriminant().fit(X, y)
    rows = FisherDiscriminant().partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    np.testing.assert_allclose(rows.scalings_, batch.scalings_, rtol=1e-8)
    np.testing.assert_allclose(
        rows.forget(X[1::2], y[1::2]).scalings_, FisherDiscriminant().fit(X[::2], y[::2]).scalings_, rtol=1e-6
    )
    with pytest.raises(TableError, match=r"row 1: .* has no place in the projection"):
        batch.transform([[np.nan, 1.0, 1.0, 1.0]])
    assert not hasattr(batch, "predict_proba"), "it is not a density"


def test_merge_is_the_fit_to_all_rows(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris
    half = FisherDiscriminant(n_components=1).fit(X[::2], y[::2])
    before = half.scalings_.copy()
    merged = half.merge(FisherDiscriminant().fit(X[1::2], y[1::2]))
    whole = FisherDiscriminant(n_components=1).fit(X, y)
    np.testing.assert_allclose(merged.scalings_, whole.scalings_, rtol=1e-9)
    np.testing.assert_array_equal(merged.predict(X), whole.predict(X))
    np.testing.assert_array_equal(half.scalings_, before)


def test_principal_axes(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = iris
    axes, variance = principal_axes(X)
    theirs = PCA().fit(X)
    np.testing.assert_allclose(np.abs(axes), np.abs(theirs.components_.T), atol=1e-9)
    np.testing.assert_allclose(variance, theirs.explained_variance_ * 149 / 150)


# assumptions ----------------------------------------------------------------------------------------------------------


def test_box_m_of_iris(iris: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = iris
    test = box_m(scatter(tuple("abcd"), X.mean(axis=0), X, Labels(3, y)))
    assert test.chi2 == pytest.approx(140.943, abs=5e-4) and test.df == 20
    assert test.m == pytest.approx(146.6632, abs=5e-5) and test.p_value < 1e-19


def test_box_m_of_one_column_is_bartlett_s_statistic() -> None:
    from scipy.stats import bartlett

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=12), 2.0 * rng.normal(size=30)
    test = box_m(scatter(("x",), np.zeros(1), np.concatenate([a, b])[:, None], Labels(2, np.repeat([0, 1], [12, 30]))))
    expected = bartlett(a, b)
    correction = (1 / 11 + 1 / 29 - 1 / 40) / 3  # Bartlett divides by 1 + c, Box multiplies by 1 − c
    assert test.m == pytest.approx(expected.statistic * (1 + correction))
    assert test.chi2 == pytest.approx(test.m * (1 - correction)) and test.df == 1


def test_mardia_of_setosa(iris: tuple[np.ndarray, np.ndarray]) -> None:
    test = mardia(iris[0][:50])  # as R's MVN reports it: 25.66434 (p .17719), 1.29499 (p .19532)
    assert (test.chi2, test.df) == (pytest.approx(25.66434, abs=5e-6), 20)
    assert test.z == pytest.approx(1.294992, abs=5e-7)
    assert (test.skewness_p, test.kurtosis_p) == (
        pytest.approx(0.1771859, abs=5e-8),
        pytest.approx(0.1953229, abs=5e-8),
    )


def test_mardia_by_its_definition() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)) ** 2
    Z = X - X.mean(axis=0)
    g = Z @ np.linalg.inv(np.cov(X.T, ddof=0)) @ Z.T
    test = mardia(X)
    assert test.skewness == pytest.approx((g**3).mean()) and test.kurtosis == pytest.approx((np.diag(g) ** 2).mean())


def test_tests_of_assumptions_refuse_what_has_no_covariance() -> None:
    with pytest.raises(TableError, match=r"a class has 2 rows for 2 columns"):
        box_m(Scatter(("x", "y"), np.zeros(2), np.array([9.0, 2.0]), np.zeros((2, 2)), np.stack([np.eye(2)] * 2)))
    with pytest.raises(TableError, match="two classes or more"):
        box_m(Scatter(("x",), np.zeros(1), np.array([9.0, 0.0]), np.zeros((2, 1)), np.ones((2, 1, 1))))
    x = np.random.default_rng(0).normal(size=30)
    with pytest.raises(TableError, match="x0, x1 determine one another"):
        mardia(np.column_stack([x, 2 * x]))
    with pytest.raises(TableError, match=r"a class has 2 rows"):
        mardia(np.zeros((2, 3)))


def test_predictions_do_not_hang_on_what_transform_gives() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    plain = FisherDiscriminant().fit(X, y)
    framed = FisherDiscriminant().set_output(transform="pandas").fit(X, y)
    assert isinstance(framed.transform(X), pd.DataFrame)
    assert (framed.predict(X) == plain.predict(X)).all()


def test_exactly_collinear_columns_have_no_box_m_however_many_others_there_are() -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(200, 12))
    X[:, 11] = 3.0 * X[:, 0] - X[:, 4] + 7.0  # the determinant is some 1e-16, and d · log(1e-14) far below its log
    names = tuple(f"x{j}" for j in range(12))
    with pytest.raises(TableError, match="determine one another"):
        box_m(scatter(names, np.zeros(12), X, Labels(2, np.arange(200) % 2)))
    with pytest.raises(TableError, match="determine one another"):
        mardia(X)
    X[:, 11] += 1e-4 * random.normal(size=200)  # nearly so is no fault
    assert np.isfinite(box_m(scatter(names, np.zeros(12), X, Labels(2, np.arange(200) % 2))).chi2)


def test_what_rounding_leaves_of_a_class_of_equal_rows_is_no_scatter() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        same, other, wide = (
            np.repeat(rng.normal(size=(1, 2)), 5, axis=0),
            rng.normal(size=(3, 2)),
            rng.normal(size=(9, 2)),
        )
        y = np.repeat([0, 0, 1], [5, 3, 9])
        whole = scatter(("x", "y"), np.zeros(2), np.concatenate([same, other, 1e3 * wide]), Labels(2, y))
        gone = scatter(("x", "y"), np.zeros(2), other, Labels(2, np.zeros(3, dtype=int)))
        assert (whole - gone).m2[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]
