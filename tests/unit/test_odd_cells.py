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
from bayes_engine import (
    BayesianNetwork,
    EstimationWarning,
    GaussianMixture,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MDLPDiscretizer,
    NaiveBayes,
    Schema,
    SemiSupervisedNB,
    StoreError,
    Variable,
    load_model,
    save_model,
)
from bayes_engine.errors import TableError, listen
from tests.conftest import every_other, one_in

ESTIMATORS = [
    kind
    for kind in (getattr(bayes_engine, name) for name in bayes_engine.__all__)
    if inspect.isclass(kind)
    and issubclass(kind, BaseEstimator)
    and kind is not bayes_engine.GenerativeClassifier  # what models are made from
    and kind is not bayes_engine.ComplementNaiveBayes  # takes texts alone
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", every_other(ESTIMATORS))
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_in(4, ESTIMATORS))
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


# labels, and levels that are saved ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (
            [1, dt.date(2020, 1, 1)] * 4,
            r"'kind' holds (1|2020-01-01) \(\w+\) and (1|2020-01-01) \(\w+\), which have no order",
        ),
        ([(1, 2), (3, 4)] * 4, r"'kind' holds the label \(1, 2\) \(tuple\)"),
        ([b"a", b"b"] * 4, r"'kind' holds the label b'a' \(bytes\)"),
    ],
)
@pytest.mark.parametrize("kind", [NaiveBayes, GaussianNB, MDLPDiscretizer, SemiSupervisedNB])
def test_labels_that_are_none_are_refused_by_name(kind: type[BaseEstimator], labels: list[Any], told: str) -> None:
    X = pd.DataFrame({"x": np.arange(8.0)})
    y = pd.Series(pd.Index(labels, tupleize_cols=False, dtype=object), name="kind")
    for column in (y, y.astype("category")):
        with pytest.raises(TableError, match=f"column {told}"):
            kind().fit(X, column)


def test_half_a_character_is_a_class_like_any_other() -> None:
    X, y = pd.DataFrame({"x": np.arange(8.0)}), ["\ud800", "b"] * 4
    for labels in (y, np.array(y, dtype=object), pd.Series(y, dtype=object)):
        model = NaiveBayes().fit(X, labels)
        assert load_model(save_model(model)).classes_.tolist() == ["b", "\ud800"]
        assert SemiSupervisedNB().fit(X, labels).classes_.tolist() == ["b", "\ud800"]


def test_levels_of_a_schema_that_have_no_order_are_refused_by_name() -> None:
    X = pd.DataFrame({"when": pd.Series([1, dt.date(2020, 1, 1)] * 4, dtype=object)})
    with pytest.raises(TableError, match=r"column 'when' holds .*, which have no order"):
        NaiveBayes(schema=Schema((Variable("when", "categorical"),))).fit(X, Y)


LEVELS = {
    "Interval": pd.cut(pd.Series(np.arange(8.0)), 2),
    "Timestamp": pd.Series(DAYS[[0, 1] * 4]).astype("category"),
    "Decimal": pd.Series([Decimal(0), Decimal(1)] * 4).astype("category"),
    "bytes": pd.Series([b"a", b"b"] * 4).astype("category"),
    "date": pd.Series([DAYS[0].date(), DAYS[1].date()] * 4).astype("category"),
}


@pytest.mark.parametrize("kind", LEVELS)
def test_a_level_that_no_file_holds_is_named_with_its_column(kind: str) -> None:
    levels = LEVELS[kind].rename("when")
    model = NaiveBayes().fit(levels.to_frame(), Y)  # declared by whoever made the categories
    assert len(model.predict(levels.to_frame())) == N
    with pytest.raises(StoreError, match=rf"column 'when' has the level .* \({kind}\), which has no place in a file"):
        save_model(model)
    if kind != "bytes":
        model = NaiveBayes().fit(pd.DataFrame({"x": np.arange(8.0)}), levels)
        with pytest.raises(StoreError, match=rf"column 'when' has the level .* \({kind}\)"):
            save_model(model)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_saving_an_unfitted_model_says_so(kind: type[BaseEstimator]) -> None:
    with pytest.warns(EstimationWarning, match=f"{kind.__name__} is not fitted: the file holds its parameters"):
        data = save_model(kind())
    assert repr(load_model(data)) == repr(kind())


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("odd", ["u", (1, 2)], ids=["word", "tuple"])
def test_rows_in_lists_raise_what_a_frame_raises(kind: type[Any], odd: Any) -> None:
    """NumPy makes strings of the numbers beside a string, and has no array of a tuple among numbers."""
    rows = [[1.0 + i, odd if i == 2 else float(i % 3)] for i in range(N)]
    rest = () if kind is BayesianNetwork else (Y,)
    with listen(), pytest.raises(TableError, match=r"x1|sequence"):
        kind().fit(rows, *rest)


def test_numbers_in_lists_stay_numbers_beside_words() -> None:
    rows = [[1.0 + i % 3, word] for i, word in enumerate(WORDS)]
    frame = pd.DataFrame({"x0": [row[0] for row in rows], "x1": WORDS})
    model = NaiveBayes().fit(rows, Y)
    assert [v.kind for v in model.schema_] == ["continuous", "categorical"]
    np.testing.assert_array_equal(model.predict_proba(rows), NaiveBayes().fit(frame, Y).predict_proba(frame))
