"""Cells that no model reads: an error of ours that names the column, the row and what to do, from every estimator."""

from __future__ import annotations

import datetime as dt
import inspect
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import bayes_engine
from bayes_engine import BayesianNetwork, GaussianMixture, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from bayes_engine.errors import TableError, listen

ESTIMATORS = [
    kind
    for kind in (getattr(bayes_engine, name) for name in bayes_engine.__all__)
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]
N = 8
Y = ["a", "b"] * (N // 2)
DAYS = pd.date_range("2020", periods=N)


def among(cells: list[Any], odd: Any) -> pd.Series:
    """These cells as objects, the third of them odd."""
    column = pd.Series(cells, dtype=object)
    column.iat[2] = odd
    return column


NUMBERS, WORDS = [1.0, 2.0, 3.5, 2.2] * 2, ["u", "v", "w", "u"] * 2
ODD = {
    "bytes among numbers": among(NUMBERS, b"1"),
    "bytes among words": among(WORDS, b"u"),
    "a day among numbers": among(NUMBERS, dt.date(2020, 1, 1)),
    "a time stamp among words": among(WORDS, DAYS[0]),
    "a tuple": among(WORDS, (1, 2)),
    "a list": among(WORDS, [1]),
    "a dict": among(NUMBERS, {"a": 1}),
    "a complex number": among(NUMBERS, 1j),
    "a number beyond floats": among(NUMBERS, 10**400),
    "a number beyond what Python writes": among(NUMBERS, 10**5000),
    "a surrogate among numbers": among(NUMBERS, "\ud800"),
    "days": pd.Series(DAYS),
    "days of a zone": pd.Series(DAYS.tz_localize("UTC")),
    "days as objects": pd.Series([day.date() for day in DAYS]),
    "durations": pd.Series(DAYS - DAYS[0]),
    "periods": pd.Series(DAYS.to_period("D")),
    "intervals": pd.Series(pd.interval_range(0, N)),
    "complex numbers": pd.Series(np.array(NUMBERS) * 1j),
}


def fitted(kind: type[BaseEstimator], X: Any) -> BaseEstimator:
    with listen():
        return kind().fit(X) if kind in (BayesianNetwork, GaussianMixture) else kind().fit(X, Y)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_odd_cell_is_refused_by_name(kind: type[BaseEstimator]) -> None:
    for told, column in ODD.items():
        X = pd.DataFrame({"plain": [3, 1, 4, 1, 5, 9, 2, 6], "odd": column})
        for table, name in ((X, "odd"), (X.to_numpy(dtype=object), "x1")):
            with pytest.raises(TableError, match=f"column '{name}'") as caught:
                fitted(kind, table)
            assert str(caught.value).encode() and len(str(caught.value)) < 300, told


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_infinity_is_refused_by_name(kind: type[BaseEstimator]) -> None:
    X = pd.DataFrame({"plain": [3.0, 1, 4, 1, 5, 9, 2, 6], "odd": among(NUMBERS, np.inf)})
    for table, name in ((X, "odd"), (X.astype(float), "odd"), (X.to_numpy(dtype=object), "x1")):
        with pytest.raises(TableError, match=rf"column '{name}' holds infinity .*in row 3"):
            fitted(kind, table)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_cell_that_pandas_calls_missing_is_missing(kind: type[BaseEstimator]) -> None:
    plain = [3.0, 1, 4, 1, 5, 9, 2, 6]
    tables = [
        pd.DataFrame({"plain": plain, "odd": among(NUMBERS, missing)}) for missing in (None, np.nan, pd.NA, pd.NaT)
    ]
    expected = said(kind, tables[0].astype(float))
    for table in (*tables, tables[0].astype("Float64"), tables[2].to_numpy(dtype=object)):
        found = said(kind, table)
        if isinstance(expected, str):
            assert isinstance(found, str) and found.replace("'x1'", "'odd'") == expected
        else:
            np.testing.assert_array_equal(found, expected)


def said(kind: type[BaseEstimator], X: Any) -> Any:
    """What a model of these rows says of them, or why there is none."""
    try:
        model = fitted(kind, X)
        verb = next(v for v in ("predict_proba", "transform", "score_samples") if hasattr(model, v))
        return getattr(model, verb)(X)
    except TableError as error:
        return str(error)


def test_a_number_beyond_floats_is_told_by_its_size() -> None:
    X = pd.DataFrame({"debt": [1, 10**400, 3, -(10**5000)]}, dtype=object)
    with pytest.raises(TableError, match="'debt' should hold numbers, but row 2 holds 'a whole number near 1e400'"):
        NaiveBayes().fit(X, list("aabb"))


def test_half_a_character_is_a_level_like_any_other() -> None:
    X = [["\ud800", 1.0], ["b", 2.0], ["\ud800", 3.0], ["b", 5.0]]
    model = NaiveBayes().fit(np.array(X, dtype=object), list("abab"))
    assert model.predict(np.array(X, dtype=object)).tolist() == list("abab")
    with pytest.raises(TableError, match=r"column 'x0'"):
        LinearDiscriminantAnalysis().fit(np.array(X, dtype=object), list("abab"))


def test_exact_numbers_are_numbers_for_scikit_learns_names_too() -> None:
    X = pd.DataFrame({"price": [Decimal("1.5"), Decimal("2.5"), Decimal(7), Decimal(9)]}, dtype=object)
    assert GaussianNB().fit(X, list("aabb")).theta_.tolist() == [[2.0], [8.0]]
