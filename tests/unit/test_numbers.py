"""Cells as text → typed columns, and what is said about it."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table import convert as converting
from bayes_engine.table import text_notes
from bayes_engine.table.convert import convert, convert_column


@pytest.mark.parametrize(("cells", "expected"), [
    (["1", "-2", "0"], [1, -2, 0]), (["1.5", "1e5", "-.5"], [1.5, 1e5, -0.5]), (["-0", "0", "-0.0"], [0.0, 0.0, 0.0]),
    (["1.234,56", "0,5", "7"], [1234.56, 0.5, 7]), (["1,100,000", "20", "3,000.5"], [1.1e6, 20, 3000.5]),
    (["12 %", "7.5%", "0%"], [12, 7.5, 0]), (["$5", "-$1,200.50", "$ 7"], [5, -1200.5, 7]),
    (["5 €", "1,5 €", "2 €"], [5, 1.5, 2]), (["(3)", "4", "−5"], [-3, 4, -5]), (["１２", "3", "4"], [12, 3, 4]),
    (["1 234", "12", "1\u00a0234\u00a0567"], [1234, 12, 1234567]), (["1", "inf", "-Infinity"], [1, np.inf, -np.inf]),
    (["77.22999999999999", "0.1", "5e-324"], [77.22999999999999, 0.1, 5e-324]),
    (["1", "NA", "?", "-", "2"], [1, np.nan, np.nan, np.nan, 2]),
])  # fmt: skip
def test_numbers_as_people_write_them(cells: list[str], expected: list[float]) -> None:
    values = convert_column(pd.Series(cells, name="x")).values
    np.testing.assert_array_equal(values.to_numpy(float), expected)
    assert not np.signbit(values.to_numpy(float)[values == 0]).any()


@pytest.mark.parametrize(("cells", "why"), [
    (["007", "012"], "lose digits"), (["12345678901234567", "12345678901234568"], "lose digits"),
    (["1E5", "2E3", "4D2"], "numbers and text \\('4D2'\\)"), (["12%", "7", "8%"], "different ways"),
    (["1.5", "2,5", "3,25"], "different ways"), (["2024-01-02", "03/02/2024"], "dates in different ways"),
    (["30/02/2024", "01/02/2024"], "'30/02/2024' is none"), (["2024-01-02", "2024-01-03", "soon"], "dates and text"),
    (["NA", "NO", "DE"], "'NA' is kept"), (["None", "mild", "None"], "'None' is kept"),
    (["yes", "No", "TRUE", "0"], "spells yes and no"), (["Oslo", "oslo ", "Rome"], "differ only in case"),
    (["a", "b", "a"], None), (["none", "mild", "no"], None), (["1_000", "2"], "numbers and text"),
])  # fmt: skip
def test_text_stays_text_to_the_letter(cells: list[str], why: str | None) -> None:
    column = convert_column(pd.Series(cells, name="x"))
    assert column.values.tolist() == cells
    messages = " ".join(str(n.message) for n in column.notes)
    assert re.search(why, messages) if why else not messages


def told(cells: dict[str, list[str]]) -> list[str]:
    return [str(note.message) for note in convert(pd.DataFrame(cells), None, None)[1]]


def test_missing_cells_are_told_once_for_the_table() -> None:
    assert told({"x": ["1", "", ""]}) == ["column 'x': empty cells, read as missing: 2"]
    wide = {f"c{j}": ["1"] * (9 - j) + [""] * j for j in range(8)}
    [said] = told(wide)
    assert said == "empty cells, read as missing: 28, in 7 columns: 'c7' (7), 'c6' (6), 'c5' (5), 'c4' (4), 'c3' (3), …"


def test_missing_words_are_told_by_column_while_these_are_few() -> None:
    few = {"x": ["1", "NA", " - "], "y": ["1", "", "?"], "z": ["a", "a", "?"]}
    assert told(few) == [
        "column 'x': cells read as missing: 2 ('NA', '-')", "column 'y': cells read as missing: 1 ('?')",
        "column 'z': cells read as missing: 1 ('?')", "column 'y': empty cells, read as missing: 1",
    ]  # fmt: skip
    many = {f"c{j}": ["1", "NA", "?" if j == 3 else "2"] for j in range(6)}
    assert told(many) == [
        "cells with 'NA', read as missing: 6; by column: 'c0' (1), 'c1' (1), 'c2' (1), 'c3' (1), 'c4' (1), …",
        "cells with '?', read as missing: 1; by column: 'c3' (1)",
    ]


def test_a_dict_is_emptied_on_the_way_and_gives_the_same() -> None:
    cells = pd.DataFrame({"a": ["1.234", "2.500"], "b": ["0,5", "1,25"], "c": ["x", ""]})
    kept = convert(cells, None, None)
    assert cells.shape == (2, 3)
    texts = {str(name): text for name, text in cells.items()}
    released = convert(texts, None, None)
    assert not texts
    assert released[0].equals(kept[0])
    assert (released.notes, released.mark, released.distinct) == (kept.notes, kept.mark, kept.distinct)
    assert all(column.equals(kept.columns[name]) for name, column in released.columns.items())
    assert kept[0]["a"].tolist() == [1234, 2500]


def test_long_columns_are_read_as_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    kinds = [["1", "-2", "30"], ["1.5", "2.25", ""], ["1.234", "2.500"], ["1.234", "2.5"], ["1e5", "-.5", "7."],
             ["007", "1"], ["1", "x"], ["1", "NA"], ["-0", "0.0"], ["1e400", "1"], ["12345678901234567", "1"], ["", ""],
             ["0.123", "0.456"], ["9007199254740993", "1"], ["1234567890123456.5", "1.5"], ["1,5", "2"]]  # fmt: skip
    for cells in kinds:
        column = pd.Series(rng.choice(cells, 40), name="x", dtype="str")
        slow = convert_column(column)
        with monkeypatch.context() as patched:
            patched.setattr(converting, "_LONG", 1)
            swift = convert_column(column)
        pd.testing.assert_series_equal(swift.values, slow.values)
        assert swift[1:] == slow[1:], cells


LETTERS = ["Rome", "may", "May", "June", "Sept", "inf", "Infinity", "NaN", "NA", "None", "null", "e", "E", "k", "kg",
           "USD", "true", "False", "yes", "N", "now", "today", "Mon", "AM", "UTC", "T", "Z", "Q", "one", "dozen", "XIV",
           "D", "O", "l", "unknown", "negative", "trace"]  # fmt: skip
"""Words of ASCII that numbers, dates and what is missing are written with, too."""


def test_columns_of_letters_alone_are_read_as_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for cells in [*([word] for word in LETTERS), *combinations(LETTERS, 2), *combinations(LETTERS[5:14], 3)]:
        column = pd.Series([*cells, *cells, cells[0]], name="date", dtype="str")
        swift = convert_column(column, both=True)
        with monkeypatch.context() as patched:
            for module in (converting, text_notes):
                patched.setattr(module, "are_letters", lambda cells: False)
            slow = convert_column(column, both=True)
        pd.testing.assert_series_equal(swift.values, slow.values)
        assert swift[1:] == slow[1:], cells


def test_a_token_that_means_missing_is_no_example_of_a_number() -> None:
    cells = {"x": ["1.2.3", "9.999", "1.234", "2.345"]}
    frame, notes, *_rest = convert(pd.DataFrame(cells), None, ("1.2.3", "9.999"), points_in_doubt=True)
    assert frame["x"].isna().tolist() == [True, True, False, False]
    assert "'1.234' is read as 1.234" in str(notes[0].message)
