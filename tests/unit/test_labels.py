"""Weights and class memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes
from bayes_engine.errors import ParameterError
from bayes_engine.stats.labels import Labels, checked_weights


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        pytest.param([0, 0, 0], "sample_weight is zero in every row; at least one row must count", id="NF36-zero"),
        pytest.param(
            [1, -1, 1], "sample_weight is -1.0 in row 2; weights are numbers of 0 and more", id="NF36-negative"
        ),
        pytest.param([1, 1, np.nan], "sample_weight is nan in row 3", id="NF36-nan"),
        pytest.param(
            [1e308, 1e308, 1e308], "sample_weight sums to inf, 2\\^53 or more; divide the weights", id="NF38-inf"
        ),
        pytest.param([2.0**53, 0, 0], "sample_weight sums to 9.01e\\+15, 2\\^53 or more", id="NF38-2^53"),
        pytest.param([1, np.inf, 1], "sample_weight sums to inf", id="NF38-infinite"),
        pytest.param([1, 1], r"sample_weight.shape == \(2,\), expected \(3,\): one weight for each row", id="short"),
        pytest.param([[1], [1], [1]], "Sample weights must be 1D array or scalar, got 2 dimensions", id="matrix"),
    ],
)
def test_weights_refused(weight: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        checked_weights(weight, 3)


def test_weights_that_count() -> None:
    assert checked_weights(None, 3) is None
    whole = checked_weights(2, 3)
    assert whole is not None and whole.tolist() == [2.0, 2.0, 2.0]
    part = checked_weights([2.0**53 - 1, 0, 0], 3)
    assert part is not None and part[0] == 2.0**53 - 1


def test_NF37_counts_are_floats_and_never_wrap() -> None:
    labels = Labels(2, np.array([0, 1, 1]), np.array([2.0**52, 1.0, 2.0]))
    tally = labels.tally(np.array([0, 1, 1], dtype=np.uint8), 2)
    assert tally.dtype == float and tally.tolist() == [[2.0**52, 0.0], [0.0, 3.0]]


def test_soft_memberships_agree_with_hard_ones() -> None:
    rng = np.random.default_rng(0)
    codes, column, values = rng.integers(0, 3, 20), rng.integers(0, 4, 20), rng.normal(size=20)
    weight = rng.uniform(0, 2, 20)
    hard, soft = Labels(3, codes, weight), Labels(3, soft=np.eye(3)[codes] * weight[:, None])
    np.testing.assert_allclose(hard.tally(column, 4), soft.tally(column, 4))
    np.testing.assert_allclose(hard.total(values), soft.total(values))
    np.testing.assert_allclose(hard.take(slice(0, 7)).total(values[:7]), soft.take(slice(0, 7)).total(values[:7]))


def test_labels_held_as_strings_count_beside_many_levels() -> None:
    """Their codes come in the smallest type; class times level needs more."""
    levels = [f"level {i:03}" for i in range(200)]
    model = NaiveBayes().fit(pd.DataFrame({"x": levels * 2}), pd.Series(["a", "b"] * 200, dtype="str"))
    assert model.stats_.counts.tables["x"].sum(axis=1).tolist() == [200.0, 200.0]
    assert model.stats_.counts.tables["x"].shape == (2, 201)
