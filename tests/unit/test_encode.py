"""Frames and arrays as codes and floats."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bayes_engine import Schema, Variable
from bayes_engine.errors import SchemaMismatch, TableError, UnseenLevel
from bayes_engine.models.target import encode_target
from bayes_engine.table import levels as distinct
from bayes_engine.table.dataframes import as_frame
from bayes_engine.table.encode import MISSING, code_dtype, encode, encode_levels, observe, unseen_code
from bayes_engine.table.levels import FIRST, distinct_codes
from bayes_engine.table.spelled_cells import spellings_of

COLOUR = Variable("colour", "categorical", ("green", "dark"))
DENSITY = Variable("density", "continuous")


def codes(values: Any, levels: tuple[Any, ...] = ("green", "dark")) -> list[int]:
    """The codes of one column, unseen as −1."""
    result = encode_levels(pd.Series(values), Variable("x", "categorical", levels))
    return [-1 if c == unseen_code(result) else int(c) for c in result]


@pytest.mark.parametrize(
    ("values", "levels", "expected"),
    [
        pytest.param(["dark", None, "pink", "green"], ("green", "dark"), [2, MISSING, -1, 1], id="NF32-text"),
        pytest.param(np.array(["dark", np.nan], dtype=object), ("green", "dark"), [2, MISSING], id="object"),
        pytest.param(
            pd.Categorical(["dark", None, "x"], ["x", "dark"]), ("green", "dark"), [2, MISSING, -1], id="categorical"
        ),
        pytest.param([3, 1, 2], (1, 2, 3), [3, 1, 2], id="int"),
        pytest.param([3, 1, 9], (1, 2, 3), [3, 1, -1], id="int-unseen"),
        pytest.param([-3, -1, -2], (-3, -2, -1), [1, 3, 2], id="negative"),
        pytest.param(np.array([0, 2], dtype=np.uint8), (0, 1, 2), [1, 3], id="unsigned-from-zero"),
        pytest.param(
            np.array([120, 127], dtype=np.int8), tuple(range(-300, 300)), [421, 428], id="narrow-ints-wide-domain"
        ),
        pytest.param([1.0, np.nan, 3.0], (1, 2, 3), [1, MISSING, 3], id="float-for-int"),
        pytest.param(pd.array([1, None, 3], dtype="Int64"), (1, 2, 3), [1, MISSING, 3], id="nullable-int"),
        pytest.param(
            pd.array([True, None, False], dtype="boolean"), (False, True), [2, MISSING, 1], id="nullable-bool"
        ),
        pytest.param([1, "1"], (1, "1"), [1, 2], id="number-and-text"),
        pytest.param(["1"], (1, 2), [-1], id="text-is-no-number"),
    ],
)
def test_codes(values: Any, levels: tuple[Any, ...], expected: list[int]) -> None:
    assert codes(values, levels) == expected


@pytest.mark.parametrize(
    ("levels", "dtype"), [(254, np.uint8), (255, np.uint16), (65534, np.uint16), (65535, np.uint32)]
)
def test_codes_take_the_smallest_type_with_room_for_missing_and_unseen(levels: int, dtype: Any) -> None:
    assert code_dtype(levels) is dtype
    if levels < 1000:
        all_of_them = encode_levels(pd.Series([*range(levels), -1]), Variable("x", "categorical", tuple(range(levels))))
        assert all_of_them.tolist() == [*range(1, levels + 1), np.iinfo(dtype).max]


def test_numbers_and_their_gaps() -> None:
    for values in (
        [1.5, None],
        np.array([1.5, None], dtype=object),
        ["1.5", None],
        pd.array([1.5, None], dtype="Float64"),
    ):
        table = encode(pd.DataFrame({"density": values}), Schema((DENSITY,)))
        np.testing.assert_array_equal(table["density"], [1.5, np.nan])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param(["1", None, "ripe"], "column 'density' should hold numbers, but row 3 holds 'ripe'", id="text"),
        pytest.param([1.0, [2]], r"column 'density' should hold numbers, but row 2 holds '\[2\]'", id="list"),
        pytest.param(
            pd.to_datetime(["2024-01-01"]), "column 'density' should hold numbers, but row 1 holds '2024", id="date"
        ),
    ],
)
def test_what_is_no_number_is_named(values: Any, text: str) -> None:
    with pytest.raises(TableError, match=text):
        encode(pd.DataFrame({"density": values}), Schema((DENSITY,)))


def test_policies_name_the_column_the_row_and_what_to_do() -> None:
    frame = pd.DataFrame({"colour": ["green", "smooth"], "density": [1.0, np.nan]})
    schema = Schema((COLOUR, DENSITY))
    with pytest.raises(
        UnseenLevel, match="column 'colour' holds 'smooth', not seen in training; choose unseen='ignore'"
    ):
        encode(frame, schema, unseen="error")
    with pytest.raises(
        TableError, match=r"column 'density' has a missing cell \(NaN\) in row 2; choose missing='marginalize'"
    ):
        encode(frame, schema, missing="error")


@pytest.mark.parametrize(
    ("table", "error", "text"),
    [
        pytest.param(
            sparse.eye(3), TypeError, "Sparse data was passed, but dense data is required: use X.toarray", id="sparse"
        ),
        pytest.param([1, 2, 3], TableError, "Expected 2D array, got 1D array instead. Reshape your data", id="vector"),
        pytest.param(np.zeros((2, 2, 2)), TableError, "Expected 2D array, got 3D", id="cube"),
        pytest.param(
            np.zeros((0, 2)),
            TableError,
            r"Found array with 0 sample\(s\) while a minimum of 1 is required",
            id="no-rows",
        ),
        pytest.param(
            np.zeros((2, 0)), TableError, r"Found array with 0 feature\(s\) \(shape=\(2, 0\)\)", id="no-columns"
        ),
        pytest.param(np.array([[1j]]), TableError, "Complex data not supported", id="complex"),
        pytest.param(
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            TableError,
            "the column name 'a' stands twice; rename",
            id="twice",
        ),
        pytest.param(
            pd.DataFrame([[1, 2]], columns=[1, "1"]), TableError, "the column name '1' stands twice", id="twice-as-text"
        ),
    ],
)
def test_what_is_no_table(table: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        as_frame(table)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0, -5], [300, 7]]),
        np.array([[2**63, 0], [1, 2]], dtype=np.uint64),
        np.array([[-1, 200]]),
        np.array([[-(2**63), 2**63 - 1]]),
    ],
)
def test_an_integer_array_keeps_its_values_in_any_width(array: np.ndarray) -> None:
    np.testing.assert_array_equal(as_frame(array).to_numpy(), array)


def test_observing_a_closed_domain() -> None:
    closed = Schema((Variable("colour", "categorical", ("green", "dark"), declared=True),))
    unused = pd.DataFrame({"colour": pd.Categorical(["dark"], ["dark", "pink"])})
    assert observe(unused, closed) == closed  # a category without a row does no harm
    for frame in (pd.DataFrame({"colour": ["pink"]}), unused.assign(colour=pd.Categorical(["pink"]))):
        with pytest.raises(
            SchemaMismatch, match="column 'colour' holds 'pink', which is not among its declared levels"
        ):
            observe(frame, closed)


def test_infinite_rows_and_take() -> None:
    frame = pd.DataFrame({"colour": ["green", "dark", "green"], "density": [1.0, -np.inf, np.nan]})
    table = encode(frame, Schema((COLOUR, DENSITY)))
    assert table.infinite().tolist() == [False, True, False]
    some = table.take([2, 0])
    assert some.n == 2 and some["colour"].tolist() == [1, 1]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("apart", [0, 1, 100])
def test_distinct_values_of_whole_numbers_are_those_of_the_column(kind: Any, apart: int) -> None:
    whole = np.array([27, 26, 27 + apart, 26], dtype=kind)
    late = np.concatenate([np.repeat(whole[:2], FIRST), whole])
    for column in map(pd.Series, (np.tile(whole, 100), whole, whole[:0], late)):
        held, values = distinct_codes(column)
        assert values[held].tolist() == column.tolist() and values.dtype == column.dtype
        assert len(values) == column.nunique()


def test_distinct_strings_stand_in_their_order_from_several_pieces_and_from_none() -> None:
    pieces = [pd.Series(cells, dtype="string[pyarrow]") for cells in (["pink", None, "dark"], ["green", "dark"], [])]
    for column in (pd.concat(pieces), *pieces, pd.Series([None, None], dtype="string[pyarrow]")):
        held, values = distinct_codes(column)
        codes, strings = pd.factorize(column, sort=True)
        assert held.tolist() == codes.tolist() and values.tolist() == strings.tolist()


@pytest.mark.parametrize("cells", [[True, False, True], [True, True], []])
@pytest.mark.parametrize("levels", [(False, True), (True, False), (True,)])
def test_truth_values_are_codes_by_their_place(cells: list[bool], levels: tuple[bool, ...]) -> None:
    held = encode_levels(pd.Series(cells, dtype=bool), Variable("x", "categorical", levels))
    assert held.dtype == np.uint8
    assert held.tolist() == [levels.index(c) + 1 if c in levels else unseen_code(held) for c in cells]


def test_strings_that_outlive_the_module_end_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of Python modules are emptied, of what is alive still, in any order."""
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    column = pd.Series(["dark", None, "green"], dtype="str")
    distinct_codes(column)
    monkeypatch.setattr(distinct, "_CODED", None)
    del column
    gc.collect()
    assert not told


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_days_that_are_levels_keep_their_place(unit: Any) -> None:
    """NumPy makes numbers of those that it holds in nanoseconds."""
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"]).as_unit(unit), name="when")
    target, found, *_ = encode_target(days.astype("category"), None, 3)
    assert found.tolist() == [0, 1, 0] and target.levels == (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02"))


def test_spellings_of_many_categories_come_in_the_order_of_their_first_cells() -> None:
    """Codes of two bytes, of more cells than are looked at at once."""
    rng = np.random.default_rng(0)
    levels = [f"v{i}" for i in range(300)]
    codes = np.r_[rng.integers(0, 40, 70_000), rng.permutation(260)]
    column = pd.Series(pd.Categorical.from_codes(codes, levels))
    texts = spellings_of(column)
    theirs, expected = pd.factorize(column.astype(object))
    assert texts.spelled == list(expected)
    np.testing.assert_array_equal(texts.codes, theirs)


@pytest.mark.parametrize("first", [-300, -3, 0, 1, 250, 70_000])
@pytest.mark.parametrize("many", [2, 8, 254, 255, 300])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_whole_numbers_have_the_codes_of_their_places(first: int, many: int, dtype: type) -> None:
    levels = tuple(range(first, first + many))
    schema = Schema((Variable("x", "categorical", levels, declared=True),))
    values = np.random.default_rng(0).permutation(np.array(levels, dtype=dtype))
    frame = pd.DataFrame({"x": values})
    assert observe(frame, schema) == schema
    assert encode(frame, schema)["x"].tolist() == [levels.index(v) + 1 for v in values.tolist()]
    with pytest.raises(SchemaMismatch, match=f"'{first + many}'"):
        observe(pd.DataFrame({"x": [first, first + many]}), schema)


def test_whole_levels_beyond_int64_have_the_codes_of_their_places() -> None:
    levels = tuple(range(2**63 + 7, 2**63 + 10))
    schema = Schema((Variable("x", "categorical", levels, declared=True),))
    frame = pd.DataFrame({"x": np.array([levels[1], levels[0], levels[2]], dtype=np.uint64)})
    assert encode(frame, schema)["x"].tolist() == [2, 1, 3]
