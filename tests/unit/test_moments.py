"""Sums of squares under + and −, and what a variance is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Schema,
    Variable,
)
from bayes_engine.errors import NotASubset, PrecisionLost, SchemaMismatch, TableError, listen
from bayes_engine.factors import normal_log_density, variance_estimate
from bayes_engine.factors.gaussian import GaussianRule, gaussian_leaf, gaussian_leaves
from bayes_engine.logspace import log_normalize
from bayes_engine.models.gaussian_naive_bayes import GaussianNB
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.counts import less
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import ColumnMoments, Moments
from bayes_engine.table.encode import encode
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import middle
from bayes_engine.workbench.derivation.modes_of_use import without_rows


def one_column(values: np.ndarray, codes: np.ndarray, pivot: float | None = None) -> SufficientStatistics:
    frame = pd.DataFrame({"x": values})
    schema = Schema.from_dtypes(frame) if pivot is None else Schema((Variable("x", "continuous", pivot=pivot),))
    target = Variable("class", "categorical", ("a", "b"))
    return collect(encode(frame, schema), Labels(2, codes), target)


def test_NF11_a_billion_plus_one_keeps_its_variance() -> None:
    rng = np.random.default_rng(0)
    values, codes = 1e9 + rng.normal(size=5000), rng.integers(0, 2, 5000)
    exact = [(values[codes == c] - 1e9).var() for c in (0, 1)]
    whole = one_column(values, codes)
    halves = one_column(values[:2000], codes[:2000]) + one_column(values[2000:], codes[2000:])
    for stats in (whole, halves, whole + whole - halves):
        column = stats.moments.column("x")
        np.testing.assert_allclose(column.m2 / column.weight, exact, rtol=1e-6)
    np.testing.assert_allclose(whole.moments.column("x").m2 / whole.class_weight, exact, rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [0.0, 0.01])
@pytest.mark.parametrize("far", [0.0, 3.0, 30.0, 1e3, 1e6])
def test_moments_of_many_blocks_keep_their_digits_wherever_the_mean_lies(
    far: float, missing: float, order: Any
) -> None:
    rng = np.random.default_rng(0)
    codes = rng.choice(3, 30_000, p=[0.6, 0.3999, 0.0001])  # a class that few blocks have
    X = rng.normal(size=(len(codes), 5)) + far
    X[:, 1] += codes  # near 0 in the first rows, and then as far as `far`
    X[:500, 1] -= far
    X[codes == 1, 2] = far + 0.1  # no spread in a class
    X[rng.random(X.shape) < missing] = np.nan
    X = np.array(X, order=order)
    frame = pd.DataFrame(X, columns=list("abcde"), copy=False)
    schema = Schema.from_dtypes(frame)
    target = Variable("class", "categorical", (0, 1, 2))
    parts, before = (Matrix.of(X, schema=schema), encode(frame, schema)), X.copy()
    for table in parts:
        moments = collect(table, Labels(3, codes), target).moments
        for c in range(3):
            of_class = X[codes == c].astype(np.longdouble)
            mean = np.nanmean(of_class, axis=0)
            m2 = np.nansum((of_class - mean) ** 2, axis=0).astype(float)
            assert moments.weight[c].tolist() == (~np.isnan(of_class)).sum(axis=0).tolist()
            np.testing.assert_allclose(moments.mean[c] + moments.pivot, mean.astype(float), rtol=1e-14, atol=1e-14)
            np.testing.assert_allclose(moments.m2[c], m2, rtol=1e-12, atol=1e-20 * max(far, 1.0) ** 2)
    np.testing.assert_array_equal(X, before)  # the rows are as they were


def test_merging_with_a_far_pivot_keeps_the_digits() -> None:
    values, codes = np.array([1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3]), np.array([0, 0, 1, 1])
    near, far = one_column(values, codes), one_column(values, codes, pivot=0.0)
    np.testing.assert_allclose((near + far).moments.m2[:, 0], [1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200, 1.7e308])
def test_infinity_and_what_cannot_be_squared_are_named(value: float) -> None:
    frame = pd.DataFrame({"fine": [1.0, 2.0, 3.0], "mass": [np.nan, 1.0, value]})
    with pytest.raises(TableError, match="column 'mass' holds infinity or a value too large to be squared in row 3"):
        NaiveBayes().fit(frame, ["a", "b", "a"])


def test_forgetting_more_than_there_was() -> None:
    stats = one_column(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]))
    with pytest.raises(NotASubset, match="cannot forget rows that were never counted: a count would fall below zero"):
        stats - (stats + stats)
    with pytest.raises(NotASubset, match="a variance would fall below zero"):
        (
            one_column(np.array([1.0, 2.0, 3.0]), np.zeros(3, int)).moments
            - one_column(np.array([1.0, 50.0]), np.zeros(2, int)).moments
        )
    with pytest.raises(NotASubset, match="a count would fall below zero"):
        stats.moments - (stats + stats).moments


@pytest.mark.parametrize("kind", [NaiveBayes, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("outlier", [1e2, 1e3, 5e3, 1e5, 1e6, 1e7, 1e8])
def test_an_outlier_is_forgotten_to_nine_digits_or_refused(kind: Any, outlier: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    never, more, of = kind().fit(X, y), np.vstack([X, [[outlier, 0.3]]]), np.append(y, 1)
    with listen():
        model = kind().fit(more, of)
        before = model.stats_
    last = slice(200, None)
    if outlier > 5e3:
        with pytest.raises(PrecisionLost, match=r"column\(s\) x0 .* less than 1/1000000 .* Fit anew"):
            model.forget(more[last], of[last])
        assert model.stats_ is before
        with pytest.raises(PrecisionLost, match="x0"):
            model.leave_one_out_log_proba(more[last], of[last])
    else:
        kept = model.forget(more[last], of[last]).stats_.moments
        np.testing.assert_allclose(kept.m2, never.stats_.moments.m2, rtol=1e-9)
        np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), rtol=1e-9)
    with listen():
        without = kind().fit(more, of).leave_one_out_log_proba(more, of)  # all rows are here: summed anew
        rest = without_rows(kind().fit(more, of), pd.DataFrame(more), pd.Series(of), [200])
    np.testing.assert_allclose(rest.stats_.moments.m2, never.stats_.moments.m2, rtol=1e-9)
    np.testing.assert_allclose(without[last], log_normalize(never.predict_joint_log_proba(more[last])), rtol=1e-9)


def test_what_is_left_may_have_no_spread_where_the_column_has() -> None:
    with listen():
        model = NaiveBayes().fit([[1.0], [1.0], [2.0], [3.0], [5.0]], list("aaabb"))
        assert model.forget([[2.0]], ["a"]).stats_.moments.m2[:, 0].tolist() == pytest.approx([0.0, 2.0])
        alone = NaiveBayes().fit([[0.0], [0.0], [2.0], [0.0]], list("aabb"))
    with pytest.raises(PrecisionLost, match="x0"):  # nothing says whether what is left is 0 or only small
        alone.forget([[2.0]], ["b"])


def test_forgetting_everything_leaves_nothing() -> None:
    stats = one_column(np.array([1.0, 2.0, 3.0, 0.1]), np.array([0, 0, 1, 1]))
    nothing = stats - stats
    assert not nothing.class_weight.any() and not nothing.moments.weight.any() and not nothing.moments.m2.any()
    again = nothing + stats
    np.testing.assert_allclose(again.moments.m2, stats.moments.m2)


def test_the_rest_of_a_subtraction_is_zero_within_rounding() -> None:
    assert less(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 0.5])).tolist() == [0.0, 0.5]


def test_scaling_is_counting_more_often() -> None:
    stats = one_column(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]))
    twice, both = stats.scaled(2.0), stats + stats
    np.testing.assert_allclose(twice.moments.m2, both.moments.m2)
    np.testing.assert_array_equal(twice.class_weight, both.class_weight)


def test_statistics_of_other_columns_do_not_merge() -> None:
    stats = one_column(np.array([1.0, 2.0]), np.array([0, 1]))
    frame = pd.DataFrame({"x": ["u", "v"]})
    text = collect(encode(frame, Schema.from_dtypes(frame)), Labels(2, np.array([0, 1])), stats.target)
    with pytest.raises(SchemaMismatch, match=r"column 'x' \(continuous\) does not match column 'x' \(categorical\)"):
        stats + text
    other = one_column(np.array([1.0, 2.0]), np.array([0, 1]))
    renamed = SufficientStatistics(
        Schema((Variable("z", "continuous"),)), other.target, other.class_weight, other.counts, other.moments
    )
    with pytest.raises(SchemaMismatch, match=r"statistics of the columns \('x',\) and \('z',\) do not merge"):
        stats + renamed


# variances ------------------------------------------------------------------------------------------------------------


def column(weight: list[float], mean: list[float], m2: list[float]) -> ColumnMoments:
    return ColumnMoments(np.array(weight), np.array(mean), np.array(m2), 0.0)


def test_variances_per_class() -> None:
    moments = column([4, 5], [0, 1], [8, 20])
    mle, replaced, _ = variance_estimate(moments, 0, False, 1e-9)
    assert mle.tolist() == [2.0, 4.0] and not replaced.any()
    assert variance_estimate(moments, 1, False, 1e-9)[0] == pytest.approx([8 / 3, 5.0])


def test_tied_variance() -> None:
    moments = column([4, 5], [0, 1], [8, 20])
    assert variance_estimate(moments, 0, True, 1e-9)[0] == pytest.approx([28 / 9, 28 / 9])
    assert variance_estimate(moments, 1, True, 1e-9)[0] == pytest.approx([4.0, 4.0])


def test_NF12_a_class_of_one_takes_the_pooled_variance() -> None:
    variance, replaced, _ = variance_estimate(column([4, 1], [0, 9], [8, 0]), 1, False, 1e-9)
    assert variance == pytest.approx([8 / 3, 8 / 3]) and replaced.tolist() == [False, True]


def test_NF09_a_class_without_spread_takes_the_floor_of_its_own_column() -> None:
    moments = column([4, 4], [0, 2e-12], [4e-24, 0.0])
    variance, replaced, _ = variance_estimate(moments, 0, False, 1e-3)
    whole = moments.pooled().m2[0] / 8
    assert variance == pytest.approx([1e-24, 1e-3 * whole], rel=1e-12) and replaced.tolist() == [False, True]
    tied, replaced, _ = variance_estimate(column([4, 4], [0, 2], [0, 0]), 0, True, 1e-3)
    assert tied == pytest.approx([1e-3, 1e-3]) and replaced.all()


def test_NF14_a_class_without_members_takes_the_whole_column() -> None:
    variance, replaced, used = variance_estimate(column([4, 0, 4], [-1, 0, 3], [4, 0, 4]), 0, False, 1e-9)
    assert variance[1] == pytest.approx((8 + 4 * 4 + 4 * 4) / 8) and replaced.tolist() == [False, True, False]
    assert used.mean.tolist() == [-1.0, 1.0, 3.0]


def test_light_weights_are_no_class_of_one() -> None:
    variance, replaced, _ = variance_estimate(column([0.4, 0.5], [0, 1], [0.8, 2.0]), 0, False, 1e-9)
    assert variance == pytest.approx([2.0, 4.0]) and not replaced.any()


def test_NF04_a_far_point_is_standardized_before_it_is_squared() -> None:
    z = normal_log_density(np.array([1e150, 1e155, -1e200, 1.7e308]), np.array(0.0), np.array(1.0))
    assert z.tolist() == [pytest.approx(-5e299), -np.inf, -np.inf, -np.inf]
    wide = normal_log_density(np.array(1e200), np.array(0.0), np.array(1e300))
    assert np.isfinite(wide)


def test_whole_numbers_keep_the_fraction_of_their_pivot() -> None:
    X, y = np.array([[1, 7], [2, 9], [4, 9], [10, 4]]), np.array([0, 0, 1, 1])
    counted = GaussianNB().fit(X, y).stats_.moments
    assert (counted.pivot % 1 != 0).all()
    assert np.allclose(counted.m2, [[0.5, 2.0], [18.0, 12.5]], rtol=1e-14)


def test_gaussians_estimated_together_are_those_of_each_column() -> None:
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 9, (12, 5)).astype(float)  # twelve classes, some of them empty
    parts = Moments(tuple("abcde"), rng.normal(size=5), weight, rng.normal(size=(12, 5)), rng.random((12, 5)) * weight)
    variables = [Variable(name, "continuous") for name in "abde"]
    for tied in (False, True):
        rule = GaussianRule(1, tied, 1e-3)
        for variable, leaf in zip(variables, gaussian_leaves(variables, "class", parts, rule), strict=True):
            alone = gaussian_leaf(variable, "class", parts.column(variable.name), rule)
            assert leaf.variable == variable and leaf.moments.pivot == alone.moments.pivot
            np.testing.assert_array_equal(leaf.variance, alone.variance)
            np.testing.assert_array_equal(leaf.replaced, alone.replaced)
            for part in ("weight", "offset", "m2"):
                np.testing.assert_array_equal(getattr(leaf.moments, part), getattr(alone.moments, part))


def test_pivots_of_many_columns_are_those_of_each() -> None:
    values = np.random.default_rng(4).normal(size=(5000, 3)) * [1.0, 1e9, 1e-9]
    for cell in (0.0, np.nan, np.inf):
        values[::7, 1] = cell
        together = Schema.from_dtypes(pd.DataFrame(values, columns=list("abc")))
        assert [v.pivot for v in together] == [middle(np.array(column)) for column in values.T]


def test_a_schema_may_say_that_a_column_is_gaussian() -> None:
    X, y = np.random.default_rng(6).normal(size=(9, 2)), [0, 1, 1] * 3
    said = Schema((Variable("x0", "continuous", likelihood="gaussian"), Variable("x1", "continuous")))
    np.testing.assert_array_equal(
        NaiveBayes(schema=said).fit(X, y).predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X)
    )
