"""Known classes and their three boundaries; a table along a line, on a plane, and before naive Bayes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import ncx2, norm

from bayes_engine import FisherDiscriminant, LinearDiscriminantAnalysis, load_dataset
from bayes_engine.decision.two_gaussians import (
    Quadric,
    TwoGaussians,
    _share_above,
    boundaries,
    error_rate,
    two_gaussians,
)
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.discriminant_directions import principal_axes
from bayes_engine.models.projection import (
    NumericRows,
    assumptions,
    numeric_rows,
    plane_projections,
    pooled_analysis,
    project,
)
from bayes_engine.models.transformed_naive_bayes import transformed_naive_bayes
from bayes_engine.table.roles import Parts, take_apart
from bayes_engine.workbench.figures.projection import (
    MOST_ROWS,
    losses_along_pooling,
    on_two_directions,
    three_boundaries,
)
from tests.textbook import criterion_by_angle

shapes = st.tuples(st.floats(0.3, 3.0), st.floats(-0.9, 0.9))


def parts_of(name: str) -> Parts:
    data = load_dataset(name)
    return take_apart(data.frame, data.schema)


def numeric(name: str) -> NumericRows:
    parts = parts_of(name)
    return numeric_rows(parts, [v.name for v in parts.schema.features if v.numeric])


# three boundaries -----------------------------------------------------------------------------------------------------


@given(st.floats(0.2, 5.0), shapes, shapes)
def test_equal_priors_make_fisher_and_lda_one_whatever_the_covariances(distance: float, a: tuple, b: tuple) -> None:
    fisher, lda, bayes = boundaries(two_gaussians(distance, a, b))
    np.testing.assert_array_equal(fisher.quadric.b, lda.quadric.b)
    assert fisher.quadric.c == lda.quadric.c and fisher.error == lda.error >= bayes.error - 1e-9


@given(st.floats(0.2, 5.0), shapes, st.floats(0.05, 0.95))
def test_equal_covariances_make_lda_bayes_s_rule_at_any_prior(distance: float, a: tuple, prior: float) -> None:
    fisher, lda, bayes = boundaries(two_gaussians(distance, a, a, prior))
    np.testing.assert_allclose(bayes.quadric.A, 0.0, atol=1e-12)
    np.testing.assert_allclose(bayes.quadric.b, lda.quadric.b, rtol=1e-6, atol=1e-9)
    assert bayes.quadric.c == pytest.approx(lda.quadric.c, abs=1e-7)
    assert lda.quadric.c - fisher.quadric.c == pytest.approx(np.log(prior / (1 - prior)))


@given(st.floats(0.2, 5.0), shapes, shapes, st.floats(0.05, 0.95))
@example(0.53125, (1.0, 0.0), (1.0, 0.0), 0.53515625)  # LDA's line passes close by a mean
@example(1.0, (1.0, 0.0), (1.0, 8e-158), 0.5)  # a curve that is as good as a line
def test_a_line_s_error_is_the_closed_form_and_none_is_below_bayes_s(
    distance: float, a: tuple, b: tuple, prior: float
) -> None:
    classes = two_gaussians(distance, a, b, prior)
    rules = boundaries(classes)
    for rule in (rules.fisher, rules.lda):
        w, c = rule.quadric.b, rule.quadric.c
        z = [(w @ m + c) / np.sqrt(w @ S @ w) for m, S in zip(classes.means, classes.covariances, strict=True)]
        assert rule.error == pytest.approx((1 - prior) * norm.cdf(z[0]) + prior * norm.cdf(-z[1]), abs=1e-6)
        assert rules.bayes.error <= rule.error + 1e-6


@pytest.mark.parametrize("past", [1e-2, 1e-4, 1e-6, -1e-9])
def test_a_line_that_passes_close_by_a_mean_has_its_exact_error(past: float) -> None:
    classes = two_gaussians(0.53125, (1.0, 0.0), (2.0, 0.3), 0.4)
    w = np.array([1.0, 0.2])
    c = past - float(w @ classes.means[1])
    z = [(w @ m + c) / np.sqrt(w @ S @ w) for m, S in zip(classes.means, classes.covariances, strict=True)]
    exact = 0.6 * norm.cdf(z[0]) + 0.4 * norm.cdf(-z[1])
    assert error_rate(Quadric(np.zeros((2, 2)), w, c), classes) == pytest.approx(exact, abs=1e-9)


def test_a_curve_that_passes_close_by_a_mean_has_its_exact_error() -> None:
    one = TwoGaussians(np.array([[0.0, 0.0], [9.0, 0.0]]), np.stack([np.eye(2)] * 2), 1e-12)
    circle = Quadric(-np.eye(2), np.array([2.0, 0.0]), 1e-7)  # around (1, 0), through the origin but for 1e-7
    assert error_rate(circle, one) == pytest.approx(ncx2.cdf(1.0 + 1e-7, 2, 1.0), abs=1e-9)


@pytest.mark.slow
def test_bayes_s_error_by_the_sum_over_a_grid() -> None:
    classes = two_gaussians(2.0, (1.0, 0.5), (2.6, -0.4), 0.3)
    side = np.linspace(-14, 14, 1401)
    x = np.stack(np.meshgrid(side, side), axis=-1)
    densities = [
        p * np.exp(-0.5 * np.einsum("...i,ij,...j->...", x - m, np.linalg.inv(S), x - m))
        / (2 * np.pi * np.sqrt(np.linalg.det(S)))
        for p, m, S in zip(classes.priors, classes.means, classes.covariances, strict=True)
    ]  # fmt: skip
    rule = boundaries(classes).bayes
    assert rule.error == pytest.approx(np.minimum(*densities).sum() * 0.02**2, abs=1e-5)
    np.testing.assert_array_equal(rule.quadric.at(x) > 0, densities[1] > densities[0])


def test_a_mean_on_the_boundary_and_a_rule_that_never_decides_one_class() -> None:
    classes = two_gaussians(2.0, (1.0, 0.0), (1.0, 0.0))
    through_the_mean = Quadric(np.zeros((2, 2)), np.array([1.0, 0.0]), 1.0)
    assert error_rate(through_the_mean, classes) == pytest.approx(0.5 * 0.5 + 0.5 * norm.cdf(-2), abs=1e-6)
    assert error_rate(Quadric(np.zeros((2, 2)), np.zeros(2), 1.0), classes) == pytest.approx(0.5)
    with pytest.raises(ParameterError, match=r"prior=1\.0 is no probability between 0 and 1"):
        two_gaussians(2.0, (1.0, 0.0), (1.0, 0.0), 1.0)
    with pytest.raises(ParameterError, match="eigenvalues above zero"):
        TwoGaussians(np.zeros((2, 2)), np.ones((2, 2, 2)))


# one line -------------------------------------------------------------------------------------------------------------


def test_the_melons_as_the_textbook_projects_them() -> None:
    found = project(numeric_rows(parts_of("watermelon3a"), ["密度", "含糖率"]))
    np.testing.assert_allclose(found.w, [-0.14650982, -0.73871557], atol=5e-9)
    assert found.along(found.fisher).right == 12
    assert np.tan(np.radians(found.fisher)) == pytest.approx(0.73871557 / 0.14650982)
    assert found.lda == pytest.approx(found.fisher), "two classes: one direction"


@pytest.mark.parametrize("standardized", [False, True])
def test_j_of_an_angle_does_not_depend_on_the_units_at_its_best(standardized: bool) -> None:
    rows = numeric_rows(parts_of("penguins"), ["bill_length_mm", "body_mass_g"])
    assert rows.left_out == 2
    found = project(rows, standardized=standardized)
    J = criterion_by_angle(np.arange(0, 180, 0.25), found.within, found.between)
    best = found.along(found.fisher).J
    assert J.max() == pytest.approx(best, rel=0.06 if not standardized else 1e-3) and best >= J.max() - 1e-12
    assert best == pytest.approx(project(rows).along(project(rows).fisher).J)
    np.testing.assert_allclose(found.within + found.between, np.cov(found.points.T, ddof=0), rtol=1e-9)
    model = FisherDiscriminant(n_components=1).fit(rows.X, rows.y)
    assert found.along(found.fisher).right == (model.predict(rows.X) == rows.y).sum()


def test_units_that_differ_much_are_taken_out_unless_told() -> None:
    rows = numeric_rows(parts_of("penguins"), ["bill_length_mm", "body_mass_g"])
    assert (project(rows).scale > 1).all() and (project(rows, standardized=False).scale == 1).all()
    assert (project(numeric_rows(parts_of("iris"), ["sepal length", "petal length"])).scale == 1).all()


def test_columns_that_determine_one_another_and_one_with_a_single_value() -> None:
    iris = numeric("iris")
    X = np.column_stack([iris.X[:, 0], 2.0 * iris.X[:, 0]])
    twice = project(
        NumericRows(("x", "2x"), iris.classes, X, iris.y, iris.weight, None, iris.rows, 0), standardized=False
    )
    across = np.degrees(np.arctan2(-1, 2)) % 180
    best = twice.along(twice.fisher).J
    assert twice.along(across).J == 0.0 and best == pytest.approx(twice.along(0.0).J)
    flat = NumericRows(("x", "c"), iris.classes, X * [1.0, 0.0], iris.y, iris.weight, None, iris.rows, 0)
    with pytest.raises(TableError, match="column 'c' has the same value in all rows"):
        project(flat)
    X = np.column_stack([iris.X[:, 0], iris.y])  # the second column is the class itself
    told = project(NumericRows(("x", "y"), iris.classes, X, iris.y, iris.weight, None, iris.rows, 0))
    assert told.along(told.fisher).right == 150


def test_lda_s_line_is_that_of_the_two_nearest_classes() -> None:
    rows = numeric_rows(parts_of("iris"), ["petal length", "petal width"])
    found = project(rows)
    assert [rows.classes[c] for c in found.pair] == ["versicolor", "virginica"]
    w = LinearDiscriminantAnalysis().fit(rows.X, rows.labels).discriminant("virginica", "versicolor")[0]
    assert np.tan(np.radians(found.lda)) == pytest.approx(w[1] / w[0])


def test_a_class_without_a_whole_row_is_gone() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan], "z": [1.0, 1.0, 1.0], "y": ["a", "b", "c"]})
    parts = take_apart(frame, load_dataset("iris").schema.__class__.from_dtypes(frame).with_role("y", "target"))
    assert numeric_rows(parts, ["x"]).classes == ("a", "b")
    with pytest.raises(TableError, match=r"only 1 class has a row without a missing cell in x"):
        numeric_rows(take_apart(frame.iloc[[0, 2]], parts.schema), ["x"])


# all columns ----------------------------------------------------------------------------------------------------------


def test_fisher_and_lda_show_one_plane_with_ratio_trace_and_trace_ratio_climbs() -> None:
    iris = numeric("iris")
    ratio, trace = plane_projections(iris), plane_projections(iris, "trace-ratio")
    np.testing.assert_allclose(ratio.fisher.points, ratio.lda.points, atol=1e-8)
    np.testing.assert_allclose(ratio.fisher.explained, [0.9912, 0.0088], atol=5e-5)
    assert ratio.fisher.accuracy == ratio.lda.accuracy == pytest.approx(0.98) and ratio.pca.accuracy < 0.9
    assert len(trace.fisher.trace) > 2 and (np.diff(trace.fisher.trace) >= -1e-12).all()
    with pytest.raises(TableError, match="three classes and two columns"):
        plane_projections(numeric("watermelon3a"))


def test_the_dial_ends_in_lda_and_qda() -> None:
    iris = numeric("iris")
    lda, qda = pooled_analysis(iris, 1.0), pooled_analysis(iris, 0.0)
    assert (lda.accuracy, qda.accuracy) == (pytest.approx(0.98), pytest.approx(0.9667, abs=1e-4))
    model = LinearDiscriminantAnalysis().fit(iris.frame, iris.labels)
    np.testing.assert_allclose(lda.model.predict_proba(iris.frame), model.predict_proba(iris.frame), atol=1e-10)


def test_the_assumptions_of_iris_and_of_too_few_rows() -> None:
    found = assumptions(numeric("iris"))
    assert found.box.chi2 == pytest.approx(140.943, abs=1e-3) and found.box.df == 20  # heplots::boxM in R
    assert found.sizes == (50, 50, 50) and found.condition == pytest.approx(13.2685, abs=1e-4)
    few = numeric("wine")
    few = NumericRows(few.names, few.classes, few.X[::8], few.y[::8], few.weight[::8], None, few.rows[::8], 0)
    assert isinstance(assumptions(few).box, TableError) and isinstance(assumptions(few).mardia[0], TableError)


def test_a_step_before_naive_bayes() -> None:
    steps, scheme = transformed_naive_bayes(numeric("penguins"))
    assert str(scheme) == "5 folds, stratified" and [one.columns for one in steps.values()] == [4, 4, 2]
    assert steps["lda"].log_loss < steps["pca"].log_loss < steps["raw"].log_loss
    assert steps["lda"].correlation < steps["pca"].correlation < steps["raw"].correlation
    one_by_one, alone = transformed_naive_bayes(numeric("watermelon3a"))
    assert str(alone) == "each row held out in turn" and np.isnan(one_by_one["lda"].correlation)


@pytest.mark.slow
def test_figures_hold_what_they_are_given() -> None:
    classes = two_gaussians(2.0, (1.0, 0.5), (2.0, 0.0), 0.5)
    labels = {name: name for name in ("first", "second", "fisher", "lda", "bayes")}
    drawn = {t.name: t for t in three_boundaries(classes, boundaries(classes), labels).data if t.name}
    assert (
        drawn["bayes"].type == "contour" and drawn["fisher"].x == drawn["lda"].x and drawn["fisher"].y == drawn["lda"].y
    )
    iris = numeric("iris")
    figure = on_two_directions(
        plane_projections(iris).pca, iris.y.tolist(), [("a", 0), ("b", 1), ("c", 2)], axes=("x", "y")
    )
    assert [len(t.x) for t in figure.data] == [50, 50, 50, 3]
    many = np.tile(plane_projections(iris).pca.points, (8, 1))
    labels_of_three, eight = [("a", 0), ("b", 1), ("c", 2)], np.tile(iris.y, 8).tolist()
    figure = on_two_directions(replace(plane_projections(iris).pca, points=many), eight, labels_of_three, axes=("", ""))
    assert sum(len(t.x) for t in figure.data[:3]) == MOST_ROWS
    assert list(losses_along_pooling([0.0, 1.0], [0.3, 0.2], (0.5, 0.25), title="loss").data[1].x) == [0.5]


def test_principal_axes_count_a_row_by_its_weight() -> None:
    X, weight = np.array([[0.0, 0.0], [1.0, 0.3], [4.0, 2.0], [0.0, 3.0]]), np.array([1.0, 3.0, 2.0, 1.0])
    weighted, repeated = principal_axes(X, weight), principal_axes(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(weighted.axes, repeated.axes, atol=1e-12)
    np.testing.assert_allclose(weighted.variance, repeated.variance, atol=1e-12)


def test_what_cannot_be_done_is_said_of_columns_by_their_names() -> None:
    X = np.array([[1.5, 2.5, 0.5], [2.25, 1.25, 0.6], [3.1, 9.75, 0.2]])
    few = NumericRows(("<b>x</b>", "$y$", "密度"), ("a", "b", "c"), X, np.arange(3), np.ones(3), None, np.arange(3), 0)
    with pytest.raises(TableError, match=r"<b>x</b>, \$y\$, 密度"):
        plane_projections(few)


@pytest.mark.parametrize("slope", [1.5, -1.5])
@pytest.mark.parametrize("bend", [0.75, -0.75, 0.0])
def test_a_boundary_through_the_mean_leaves_it_on_the_side_of_the_slope(slope: float, bend: float) -> None:
    far = float(np.exp(-0.5 * (slope / bend) ** 2)) if slope * bend < 0 else 0.0  # beyond the other root, -slope/bend
    share = _share_above(np.array([bend]), np.array([slope]), 0.0)
    assert share == pytest.approx([1.0 - far if slope > 0 else far])
