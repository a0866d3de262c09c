"""The plane of decision regions: how large it may become, and that blocks of it are the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes, Schema
from bayes_engine.decision import regions
from bayes_engine.decision.regions import MOST_LEVELS, axis_of, posterior_plane, scatter


def table(levels: int) -> tuple[pd.DataFrame, list[str]]:
    """Columns a and b of many levels, of which the later are the more frequent, and numbers."""
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(levels), np.repeat(np.arange(levels - 5, levels), 3)])
    names = [f"v{k}" for k in range(levels)]
    columns = {name: pd.Categorical.from_codes(rng.permutation(codes), names) for name in "ab"}
    X = pd.DataFrame(columns).assign(x=rng.normal(size=len(codes)))
    return X, rng.choice(["n", "y"], len(codes)).tolist()


def test_of_many_levels_the_most_frequent_are_drawn() -> None:
    X, y = table(3000)
    schema = Schema.from_dtypes(X)
    a, b = (axis_of(schema[name], X[name]) for name in "ab")
    assert (len(a.levels), a.of) == (MOST_LEVELS, 3000)
    assert a.levels == tuple(f"v{k}" for k in [*range(MOST_LEVELS - 5), *range(2995, 3000)])  # in the schema's order
    plane = posterior_plane(NaiveBayes().fit(X, y), schema, a, b)
    assert plane.posterior.shape == (MOST_LEVELS, MOST_LEVELS, 2)
    rows = scatter(X, a, b, most=10_000)[2]
    there = X["a"].isin(a.levels) & X["b"].isin(b.levels)
    assert rows == np.flatnonzero(there).tolist()
    few = (
        axis_of(schema["a"], X["a"]).of,
        axis_of(Schema.from_dtypes(X[:9].astype(str))["a"], X["a"][:9].astype(str)).of,
    )
    assert few == (3000, 0)


@pytest.mark.parametrize("fixed", [None, {"b": "v1"}])
def test_a_plane_in_blocks_is_the_plane_at_once(fixed: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(12)
    schema, model = Schema.from_dtypes(X), NaiveBayes().fit(X, y)
    axes = axis_of(schema["x"], X["x"]), axis_of(schema["a"], X["a"])
    whole = posterior_plane(model, schema, *axes, fixed, 9)
    monkeypatch.setattr(regions, "MOST_NUMBERS", 2 * 9 * 9)
    parts = posterior_plane(model, schema, *axes, fixed, 9)
    np.testing.assert_array_equal(parts.posterior, whole.posterior)
    np.testing.assert_array_equal(parts.status, whole.status)
    assert posterior_plane(model, schema, *axes, fixed, 20).posterior.shape == (12, 9, 2)  # fewer steps
