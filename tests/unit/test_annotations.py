"""What stands beside the numbers of a column is left out where it can mean one thing, said, and undone by one offer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from bayes_engine.table.annotations import annotated_numbers
from bayes_engine.table.convert import convert_column
from bayes_engine.table.read import read_table
from tests.conftest import slowly
from tests.unit.test_inferred_reading import said

MEASURED = [str(20 + 1.5 * i) for i in range(20)]
READ: dict[str, tuple[list[str], list[float | None], str]] = {
    "a multiplier in letters": (["1.2M", "850K", "3.4M"], [1.2e6, 8.5e5, 3.4e6], "multiplied by their suffixes"),
    "of money": (["€5M", "€12M", "€7M"], [5e6, 12e6, 7e6], "multiplied by their suffixes"),
    "a word": (["5 Mio.", "1,5 Mio.", "900"], [5e6, 1.5e6, 900], "multiplied by their suffixes"),
    "a character": (["2万", "1.1万", "7万"], [20000, 11000, 70000], "multiplied by their suffixes"),
    "money behind": (["5,5 Tsd. €", "7,25 Tsd. €"], [5500, 7250], "multiplied by their suffixes"),
    "many of a thousand": ([f"{n}k" for n in range(40, 60)], [1e3 * n for n in range(40, 60)], "multiplied by"),
    "an error": (["2.7±0.1", "3.25 ± 0.02", "4+/-1"], [2.7, 3.25, 4], "errors behind ± are left out"),
    "stars": (["1122*", "82814", "93690**"], [1122, 82814, 93690], "('*', '**'): '1122*' is read as 1122"),
    "footnotes": ([f"{n},602,241[{n}]" for n in range(1, 10)], [n * 1e6 + 602241 for n in range(1, 10)], "('[1]')"),
    "marks and letters": (["27.9*", "47.5 (a)", "51", "3.5†"], [27.9, 47.5, 51, 3.5], "footnotes and flags"),
    "statistical flags": (["1.9 b", "2.5", "3.5", ":"], [1.9, 2.5, 3.5, None], "('b'): '1.9 b' is read as 1.9"),
    "the least there is": (["1,000+", "5,000+"], [1000, 5000], "'+' stands behind every number"),
    "out of the most": (["4.5/5", "3/5", "1.0/5"], [4.5, 3, 1], "'/5' stands behind every number"),
    "out of a hundred": (["45/100", "93/100"], [45, 93], "'/100' stands behind every number"),
    "a word among measures": ([*MEASURED, "spilt"], [*map(float, MEASURED), None], "read as missing: 1 ('spilt')"),
}
LEFT = {
    "names of classes": ["1B", "2B", "3B"], "distances": ["5k", "10k", "5k"], "terms": ["1M", "3M", "6M", "12M"],
    "limits": [*MEASURED, "<0.5"], "powers": ["12²", "7", "3.5"], "a share": ["12 (3)", "15 (4)", "9"],
    "hours": ["7 h", "5", "6"], "litres": ["7.7 L", "5.2", "4.1"], "days of a month": ["3/5", "4/5", "1/5"],
    "ratios": ["120/80", "130/85"], "words of codes": [*map(str, range(20)), "ssh"], "letters": ["3.5b", "7.25", "1.5"],
    "many words": [*MEASURED, "spilt", "lost", "dry", "broken"], "a word with a digit": [*MEASURED, "A7"],
    "about": [*MEASURED, "~1"], "ages at the top": ["63", "64", "65+"], "identifiers": ["007*", "008"],
    "versions of a year": ["2024 A", "2024 B"],
}  # fmt: skip


def column(cells: Sequence[str]) -> bytes:
    rows = [f'"{cell}",{"uv"[i % 2]}' for i, cell in enumerate(cells)]
    return "\n".join(["x,y", *rows]).encode()


def test_what_stands_beside_numbers_is_told_apart_by_the_whole_column() -> None:
    for name, (cells, values, _what) in READ.items():
        converted = convert_column(pd.Series(cells, name="x"), both=True)
        assert [None if pd.isna(v) else v for v in converted.values.astype(float)] == values, name
    for name, cells in LEFT.items():
        assert convert_column(pd.Series(cells, name="x"), both=True).values.tolist() == cells, name
    assert annotated_numbers({"5": 1, "7": 2}) is None


@pytest.mark.slow
@pytest.mark.parametrize("case", READ)
def test_it_is_said_and_one_offer_keeps_what_is_written(case: str) -> None:
    cells, values, what = READ[case]
    reading = read_table(column(cells))
    assert [None if pd.isna(v) else v for v in reading.frame["x"].astype(float)] == values
    assert what in said(reading)
    remark = next(n for n in reading.report if what in str(n.message))
    assert remark.severity == "warning"
    undo = next(o for o in remark.offers if o.keyword == "types")
    assert read_table(column(cells), types=undo.value).frame["x"].tolist() == cells


@pytest.mark.slow
@pytest.mark.parametrize("case", LEFT)
def test_what_may_be_read_in_two_ways_stays(case: str) -> None:
    reading = read_table(column(LEFT[case]))
    assert reading.frame["x"].tolist() == LEFT[case]


@pytest.mark.slow
def test_points_separate_thousands_where_a_smaller_number_has_none() -> None:
    for separator in ",;":

        def table(*cells: str, by: str = separator) -> bytes:
            return "".join(f"{cell}{by}{'uv'[i % 2]}\n" for i, cell in enumerate(["n", *cells])).encode()

        reading = read_table(table("5.736", "8.310", "835"))
        assert reading.frame["n"].tolist() == [5736, 8310, 835] and "points separate thousands" in said(reading)
        assert read_table(table("5.736", "8.310", "835"), decimal=".").frame["n"].tolist() == [5.736, 8.31, 835]
        assert read_table(table("5.736", "8.310", "6")).frame["n"].tolist() == [5.736, 8.31, 6]


@pytest.mark.slow
def test_none_among_words_is_missing_where_python_has_written_nan() -> None:
    rows = [f"{'nan' if i == 3 else i + 0.5},{'None' if i == 5 else ('red', 'blue')[i % 2]}" for i in range(12)]
    reading = read_table("\n".join(["a,b", *rows]).encode())
    assert reading.frame["b"].isna().sum() == 1 and "'b': cells read as missing: 1 ('None')" in said(reading)
    plain = read_table("\n".join(["a,b", *rows]).replace("nan", "7.5").encode())
    assert plain.frame["b"].isna().sum() == 0 and "'None' is kept as a value" in said(plain)


@pytest.mark.parametrize("form", [slowly("columns"), "lists", slowly("split"), "answer"])
def test_a_table_of_json_in_every_form_that_pandas_writes_is_the_same(form: str) -> None:
    frame = pd.DataFrame({"size": [1.5, 2.25, None], "city": ["Oslo", "京都", "Rome"], "ok": [True, False, True]})
    written: Any = {
        "columns": frame.to_json, "split": lambda: frame.to_json(orient="split"),
        "lists": lambda: json.dumps({c: json.loads(frame[c].to_json(orient="values")) for c in frame}),
        "answer": lambda: f'{{"status": "ok", "n": 3, "data": {frame.to_json(orient="records")}}}',
    }[form]()  # fmt: skip
    reading = read_table(written.encode())
    pd.testing.assert_frame_equal(reading.frame, frame, check_dtype=False)
    assert "the file holds a table as JSON" in said(reading)
    assert ("left out: 'status', 'n'" in said(reading)) == (form == "answer")


def test_an_index_that_says_something_is_kept() -> None:
    frame = pd.DataFrame({"size": [1.5, 2.25]}, index=["a", "b"])
    assert read_table(frame.to_json().encode()).frame["index"].tolist() == ["a", "b"]
    assert read_table(frame.to_json(orient="split").encode()).frame["index"].tolist() == ["a", "b"]


def test_the_eras_of_japan_and_taiwan_are_years() -> None:
    read = read_table("d,n\n令和元年5月8日,1\n平成30年12月1日,2\n民國112年1月2日,3\n".encode()).frame["d"]
    assert read.tolist() == [*map(pd.Timestamp, ("2019-05-08", "2018-12-01", "2023-01-02"))]


@pytest.mark.slow
def test_subtotals_that_are_the_sums_are_left_out_and_others_stay() -> None:
    rows = [f"{part}{i},{i},{part}" for part in "NS" for i in range(1, 7)]
    sums = ["Subtotal,21,", "Subtotal,21,"]
    data = "\n".join(["Region,Jan,class", *rows[:6], sums[0], *rows[6:], sums[1], "Total,42,"])
    reading = read_table(data.encode())
    assert reading.frame["Jan"].tolist() == 2 * [1, 2, 3, 4, 5, 6] and "they are left out" in said(reading)
    assert len(read_table(data.encode(), trim=False).frame) == 15
    kept = read_table(data.replace("Subtotal,21,\nS1", "Subtotal,22,\nS1").encode())
    assert 22 in kept.frame["Jan"].tolist()


@pytest.mark.slow
def test_three_fractions_that_are_steps_by_chance_are_a_row() -> None:
    rows = [(1.37, 4.1, 2), (6.71, 9.02, 4), (3.33, 2.48, 7), (8.16, 5.55, 1), (2.08, 7.73, 9)] * 8
    cells = [f"{a + 0.01 * i:.2f},{b + 0.01 * i:.2f},{c}" for i, (a, b, c) in enumerate(rows)]
    assert len(read_table("\n".join(["2.72,3.36,4", *cells]).encode()).frame) == 41
    wide = [f"{i % 7}.{i % 9 + 1}3,{i % 5}.{i % 4 + 1}7,{i % 3}.{i % 8 + 1}1,{i % 6}.{i % 7 + 1}9" for i in range(40)]
    names = read_table("\n".join(["400.5,401,401.5,402", *wide]).encode()).frame
    assert list(names) == ["400.5", "401", "401.5", "402"]
