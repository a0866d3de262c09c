"""The values of a column by class: exact under + and −, whatever was counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import NotASubset, SchemaMismatch
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.values import ColumnValues, Values, values
from bayes_engine.table.encode import encode
from bayes_engine.table.schema import Schema, Variable

SCHEMA = Schema((Variable("n", "count", likelihood="poisson"), Variable("x", "continuous")))


def counted(n: list[float], codes: list[int], weight: list[float] | None = None) -> ColumnValues:
    table = encode(pd.DataFrame({"n": n, "x": n}), SCHEMA)
    found = values(table, Labels(2, np.array(codes), None if weight is None else np.array(weight)))
    assert list(found.columns) == ["n"]  # a Gaussian needs its moments only
    return found.columns["n"]


def test_counted_by_hand() -> None:
    column = counted([3, 0, 3, np.nan, 5, -0.0], [0, 0, 1, 1, 1, 0])
    assert column.points.tolist() == [0, 3, 5]
    assert column.weight.tolist() == [[2, 1, 0], [0, 1, 1]]
    assert column.total.tolist() == [3, 2] and column.sum.tolist() == [3, 8]
    moments = column.moments(pivot=1.0)
    np.testing.assert_allclose(moments.mean, [1, 4])
    np.testing.assert_allclose(moments.m2, [6, 2])


def test_a_weight_of_zero_leaves_no_value() -> None:
    assert counted([1, 2, 9], [0, 1, 1], [1, 2, 0]).points.tolist() == [1, 2]


def test_sums_and_differences_are_exact() -> None:
    rng = np.random.default_rng(0)
    n, codes = rng.poisson(3, 50).astype(float).tolist(), rng.integers(0, 2, 50).tolist()
    whole, a, b = counted(n, codes), counted(n[:20], codes[:20]), counted(n[20:], codes[20:])
    for found in (a + b, b + a, whole):
        np.testing.assert_array_equal(found.points, whole.points)
        np.testing.assert_array_equal(found.weight, whole.weight)
    left = whole - a
    np.testing.assert_array_equal(left.points, b.points)
    np.testing.assert_array_equal(left.weight, b.weight)
    for i in range(5):
        one = whole.without(codes[i], n[i], 1.0)
        other = whole - counted([n[i]], [codes[i]])
        np.testing.assert_array_equal(one.weight, other.weight)


def test_what_was_never_counted_cannot_go() -> None:
    column = counted([1, 2], [0, 1])
    for gone in (counted([7], [0]), counted([1], [1]), counted([1, 1], [0, 0])):
        with pytest.raises(NotASubset):
            column - gone
    with pytest.raises(NotASubset, match="never counted"):
        column.without(0, 7.0, 1.0)
    with pytest.raises(NotASubset):
        column.without(1, 1.0, 1.0)
    assert column.without(0, np.nan, 1.0) is column
    with pytest.raises(SchemaMismatch, match="counted for other likelihoods"):
        Values({"n": column}) + Values()


def test_soft_labels_are_weights_in_every_class() -> None:
    table = encode(pd.DataFrame({"n": [1.0, 2.0, 1.0], "x": 0.0}), SCHEMA)
    found = values(table, Labels(2, soft=np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])))
    assert found.columns["n"].weight.tolist() == [[0.75, 1.0], [1.25, 0.0]]
