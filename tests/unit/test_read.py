"""read_table: exact cells back from polluted files, and a report of whatever was inferred or changed."""

from __future__ import annotations

import gzip
import io
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.read import Reading, read_table
from tests.conftest import slowly


def rows(header: str, *lines: str, repeat: int = 1, end: str = "\n") -> bytes:
    return (end.join([header, *lines * repeat]) + end).encode()


def said(reading: Reading) -> str:
    return "\n".join(str(note.message) for note in reading.report)


PLAIN = rows("height,city,label", "168.5,Oslo,no", "171.25,Lima,yes", "156.75,Rome,no", repeat=4)


# ---- the polluter ----------------------------------------------------------------------------------------------------

NAMES = ["size", "地区", "note", "n", "label"]
TABLE = [
    (f"{150 + 1.37 * i:.2f}", ["北京", "上海", "São Paulo"][i % 3] if i % 4 else "广州", note, str(i * 7),
     "yes" if i % 2 else "no")
    for i, note in enumerate(
        ["plain", "with, comma", "a;b", 'said "hi"', "two words", "it's", "x|y", "", "tab\there", "end"] * 3
    )
]  # fmt: skip


def pollute(delimiter: str, quote: str, end: str, encoding: str, preamble: int, decimal: str, always: bool) -> bytes:
    """`TABLE` as a file in the worst of habits; quotes are used only where needed, unless `always`."""

    def field(cell: str) -> str:
        special = delimiter in cell or quote in cell or "\n" in cell or (delimiter == " " and not cell)
        return quote + cell.replace(quote, quote * 2) + quote if special or always else cell

    lines = [["Exported 2024", "", "# made by hand"][i % 3] for i in range(preamble)]
    lines.append(delimiter.join(map(field, NAMES)))
    for first, *rest in TABLE:
        lines.append(delimiter.join(field(cell) for cell in (first.replace(".", decimal), *rest)))
    return (end.join(lines) + end).encode(encoding)


POLLUTED = [
    p for p in itertools.product(
        (",", ";", "\t", "|", " "), ('"', "'"), ("\n", "\r\n", "\r"), ("utf-8", "utf-8-sig", "gb18030", "utf-16"),
        (0, 1, 3), (".", ","), (False, True),
    )
    if not (p[3] == "gb18030" and p[6])  # the same decoding again
][::11]  # fmt: skip


STARTS = range(0, len(POLLUTED), 12)


@pytest.mark.parametrize("start", [slowly(start) if i % 4 else start for i, start in enumerate(STARTS)])
def test_polluted_files_give_back_every_cell(start: int) -> None:
    for habit in POLLUTED[start : start + 12]:
        data = pollute(*habit)
        if habit[3] == "gb18030":
            data = data.replace("São Paulo".encode("gb18030"), "成都".encode("gb18030"))
        frame = read_table(data).frame
        city = ["成都" if c == "São Paulo" and habit[3] == "gb18030" else c for _, c, *_ in TABLE]
        assert list(frame.columns) == NAMES, habit
        assert frame["size"].tolist() == [float(s) for s, *_ in TABLE], habit
        assert frame["地区"].tolist() == city, habit
        assert [v if isinstance(v, str) else "" for v in frame["note"]] == [r[2] for r in TABLE], habit
        assert frame["n"].tolist() == [int(r[3]) for r in TABLE], habit
        assert frame["label"].tolist() == [r[4] for r in TABLE], habit


# ---- nothing silent, nothing noisy -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("data", [
    PLAIN, PLAIN.replace(b"\n", b"\r"), PLAIN.replace(b"\n", b"\r\n"), PLAIN.rstrip(b"\n"), b"\xef\xbb\xbf" + PLAIN,
    PLAIN.replace(b",", b"\t").replace(b"Oslo", b"Oslo, NO").replace(b"Lima", b"Lima, PE"),
    PLAIN.decode().encode("utf-16"), gzip.compress(PLAIN),
])  # fmt: skip
def test_an_ordinary_file_has_an_empty_report(data: bytes) -> None:
    reading = read_table(data)
    assert reading.report == ()
    assert reading.frame.shape == (12, 3)
    assert list(reading.frame.columns) == ["height", "city", "label"]
    assert reading.frame["height"].tolist()[:2] == [168.5, 171.25]
    assert reading.schema.names == ("height", "city", "label")


def test_a_path_names_the_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(PLAIN)
    assert read_table(tmp_path / "t.csv").name == "t.csv"
    with pytest.raises(ReadError, match="cannot be opened"):
        read_table(tmp_path / "absent.csv")


# ---- encoding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "text"), [
    ("gb18030", "姓名,类别\n张伟,高\n王芳,低\n李娜,高\n陈静,低\n赵磊,高\n"),
    ("cp1251", "город,класс\nМосква,высокий\nТула,низкий\nОмск,низкий\nМосква,высокий\n"),
    ("utf-16-le", "height,city\n1.5,Oslo\n2.5,Rome\n"),
])  # fmt: skip
def test_a_guessed_encoding_is_said_and_can_be_overridden(encoding: str, text: str) -> None:
    reading = read_table(text.encode(encoding))
    assert list(reading.frame.columns) == text.split("\n", 1)[0].split(",")
    assert f"encoding guessed: {encoding}" in said(reading)
    assert reading.recipe.encoding == encoding
    told = read_table(text.encode(encoding), encoding=encoding)
    assert told.frame.equals(reading.frame)
    assert "guessed" not in said(told)


def test_two_chinese_characters_far_down_are_named() -> None:
    data = b"id,name\n" + b"".join(b"%d,n\n" % i for i in range(300)) + "300,张伟\n".encode("gbk")
    reading = read_table(data)
    assert "line 302: '张伟'" in said(reading)
    assert reading.report[0].line == 302


def test_without_a_detector_chinese_is_still_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chardet", None)
    assert read_table("城市,n\n北京,1\n上海,2\n".encode("gbk")).frame["城市"].tolist() == ["北京", "上海"]


def test_damaged_utf8_keeps_its_encoding_and_says_where() -> None:
    text = "城市,n\n" + "北京上海,1\n" * 20
    reading = read_table(text.encode() + b"\xff\xfe,2\n")
    assert reading.frame["城市"].iloc[0] == "北京上海"
    assert "line 22" in said(reading)


def test_a_told_encoding_that_does_not_fit_names_the_line() -> None:
    with pytest.raises(ReadError, match="line 2 are no utf-8"):
        read_table(b"a,b\n\xff\xfe,1\n", encoding="utf-8")
    with pytest.raises(ReadError, match="no encoding 'klingon'"):
        read_table(PLAIN, encoding="klingon")


# ---- what is no table ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "why"), [
    (b"", "empty"), (b"\xef\xbb\xbf", "empty"), (b"\n \n", "empty"), (b"a,b\n", "no rows"),
    (b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG image"), (b"%PDF-1.4\n1 0 obj", "PDF"), (b"\x80\x04\x95\x10\x00", "pickle"),
    (b"PK\x03\x04 nonsense", "damaged zip"), (b"SQLite format 3\x00", "SQLite"), (bytes(range(32)) * 20, "binary"),
    (b"\n<!DOCTYPE html><html><body>a, b</body></html>", "web page"), (b"<?xml version='1.0'?><a/>", "XML"),
    (b'{"a": [1, 2]}', "JSON"), (b"[[[[[[1]]]]]]", "JSON"), (b"a,b\n1,\x002\n", "NUL byte in line 2"),
    (gzip.compress(gzip.compress(PLAIN)), "another gzip"), (gzip.compress(PLAIN)[:40], "damaged"),
    (b"\xd0\xcf\x11\xe0" + bytes(600), "spreadsheet but cannot be read"),
    (b"PAR1" + bytes(30), "Parquet file is damaged"),
])  # fmt: skip
def test_what_is_no_table_is_refused_by_name(data: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        read_table(data)


def test_limits() -> None:
    with pytest.raises(ReadError, match="larger than 0 MB"):
        read_table(PLAIN, max_bytes=100)
    with pytest.raises(ReadError, match="unpacks to more than 1 MB"):
        read_table(gzip.compress(bytes(30_000_000)), max_bytes=1_000_000)
    with pytest.raises(ReadError, match="30001 columns"):
        read_table(b"," * 30_000 + b"\n1\n")


def test_a_gzip_file_that_is_nearly_nothing_is_not_unpacked_further_than_a_table_could_be() -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000)
    with pytest.raises(ReadError, match=r"more than [0-9]+ times its size.*upload it unpacked"):
        read_table(packed)
    with pytest.raises(ReadError, match="damaged"):
        read_table(packed[: len(packed) // 4])
    plain = read_table(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000))
    assert plain.frame.shape == (2_000, 2)


# ---- dialect ---------------------------------------------------------------------------------------------------------


def test_an_unclosed_quote_names_its_line_and_costs_no_row() -> None:
    reading = read_table(PLAIN.replace(b"Lima", b'"Lima', 1))
    assert len(reading.frame) == 12
    assert reading.frame["city"].iloc[1] == '"Lima'
    assert reading.report[0].line == 3
    assert "quote" in said(reading)


def test_overrides() -> None:
    data = b"a;b\n1,5;x\n2,5;y\n"
    assert read_table(data, delimiter=",").recipe.delimiter == ","
    assert list(read_table(data, header=False).frame.columns) == ["column_1", "column_2"]
    assert len(read_table(data, header=False).frame) == 3
    assert list(read_table(data, header=2).frame.columns) == ["1,5", "x"]
    assert read_table(data, decimal=".").frame["a"].tolist() == ["1,5", "2,5"]
    assert read_table(b"a::b\n1::2\n", delimiter="::").frame["b"].tolist() == [2]
    with pytest.raises(ReadError, match="line 9"):
        read_table(data, header=9)


def test_the_quote_can_be_told() -> None:
    data = b"a,b\n'x','1'\n'y','2'\n"
    assert read_table(data).recipe.quote == "'"
    plain = read_table(data, quote="")
    assert plain.frame["a"].tolist() == ["'x'", "'y'"]
    assert plain.recipe.quote == ""
    assert read_table(b"a;b\n*x;y*;1\n*z*;2\n", quote="*", delimiter=";").frame["a"].tolist() == ["x;y", "z"]
    told = read_table(data, quote="'")
    assert told.frame["b"].tolist() == [1, 2]
    assert told.report == ()
    for quote in ("::", ",", "\n"):
        with pytest.raises(ReadError, match="cannot be the quote"):
            read_table(data, delimiter=",", quote=quote)


@pytest.mark.parametrize("data", [
    b"a|b\n1,5|'x'\n2,5|'y'\n", b"a   b\n10  2\n4   50\n", b"\xef\xbb\xbfa\nx\ny\n", b"7.9,1.6,0\n5.8,1.7,1\n",
])  # fmt: skip
def test_a_recipe_read_again_gives_the_same_table(data: bytes) -> None:
    first = read_table(data)
    again = {k: v for k, v in vars(first.recipe).items() if k not in ("format", "sheet", "sheets")}
    second = read_table(data, **again)
    assert second.recipe == first.recipe
    assert second.frame.equals(first.frame)


def test_a_delimiter_outside_ascii() -> None:
    assert read_table("名，值\n甲，1\n乙，2\n".encode(), delimiter="，").frame["值"].tolist() == [1, 2]


def test_excels_sep_line_and_spaces_after_commas() -> None:
    assert read_table(b"sep=;\na;b\n1;x\n2;y\n").frame["b"].tolist() == ["x", "y"]
    assert read_table(b'a, b\n1, "x, y"\n2, z\n').frame["b"].tolist() == ["x, y", "z"]


def test_aligned_columns_may_hold_blanks_and_gaps() -> None:
    text = "name        size  kind\nOslo        15.5  a\nSao Paulo         b\nRome         2.5  a\n"
    frame = read_table(text.encode()).frame
    assert frame["name"].tolist() == ["Oslo", "Sao Paulo", "Rome"]
    assert frame["size"].isna().tolist() == [False, True, False]


# ---- header, ragged rows ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("top", [b"# units: cm, kg\n", b"Report of 2024\n\n", b"Report,,\nby me,,\n", b"% a, b\n%\n"])
def test_what_stands_above_the_table_is_left_out_and_said(top: bytes) -> None:
    reading = read_table(top + PLAIN)
    assert list(reading.frame.columns) == ["height", "city", "label"]
    assert len(reading.frame) == 12
    assert "above the table" in said(reading)
    assert reading.recipe.header == top.count(b"\n") + 1


def test_a_units_row_is_set_aside_and_can_be_kept() -> None:
    data = rows("height,weight,city", "cm,kg,", *["150.5,50,Oslo", "151.5,60,Rome"] * 5)
    reading = read_table(data)
    assert reading.frame["height"].iloc[0] == 150.5
    assert "line 2" in said(reading)
    assert read_table(data, header=1).frame["height"].iloc[0] == "cm"


def test_of_two_header_rows_the_one_that_names_every_column_counts() -> None:
    data = rows("person,,result,", "name,age,score,grade", "Ann,31,2.5,a", "Bob,42,3.5,b", "Cy,53,1.5,a")
    reading = read_table(data)
    assert list(reading.frame.columns) == ["name", "age", "score", "grade"]
    assert reading.frame["age"].tolist() == [31, 42, 53]
    assert "'person result'" in said(reading)


def test_no_header_keeps_the_first_row() -> None:
    reading = read_table(b"7.9,1.6,0\n5.8,1.7,1\n5.1,1.1,0\n")
    assert len(reading.frame) == 3
    assert "no header" in said(reading)
    assert reading.recipe.header is False


@pytest.mark.parametrize("header", ["country,2019,2020,2021", "id,a,b,c"])
def test_years_may_be_names(header: str) -> None:
    assert list(read_table(rows(header, "NO,1,2,3", "SE,4,5,6")).frame.columns) == header.split(",")


def test_names_that_clash_are_told_apart() -> None:
    data = "e\u0301,\u00e9,,a\u200bb,ab,{}\n".format("x" * 900).encode() + b"1,2,3,4,5,6\n2,3,4,5,6,7\n"
    reading = read_table(data)
    assert list(reading.frame.columns)[:5] == ["\u00e9", "\u00e9_2", "column_3", "ab", "ab_2"]
    assert len(reading.frame.columns[5]) == 200
    for word in ("invisible", "same name", "no name", "longer than 200"):
        assert word in said(reading)


@pytest.mark.slow
def test_thousands_of_equal_names_are_told_apart() -> None:
    names = unique_names(["a"] * 20_000, [])
    assert len(set(names)) == 20_000
    assert names[-1] == "a_20000"


def test_long_rows_lose_nothing() -> None:
    reading = read_table(PLAIN.replace(b"Lima,yes", b"Lima,PE,yes,!", 1))
    assert reading.frame["extra"].iloc[1] == "yes,!"
    assert len(reading.frame) == 12
    assert "line 3" in said(reading)


def test_short_rows_long_and_short_headers() -> None:
    short = read_table(PLAIN.replace(b",Lima,yes", b"", 1))
    assert short.frame["label"].isna().tolist() == [False, True] + [False] * 10
    assert "fewer fields" in said(short)
    wide = read_table(PLAIN.replace(b"label", b"label,spare", 1))
    assert wide.frame["label"].iloc[0] == "no"
    assert wide.frame["spare"].isna().all()
    named = read_table(b"x,y\nr1,1.5,2\nr2,2.5,3\nr3,3.5,4\n")
    assert list(named.frame.columns) == ["row", "x", "y"]
    assert "row names" in said(named)


def test_footers_repeated_headers_and_empty_tails() -> None:
    reading = read_table(PLAIN + PLAIN + b",,\n,,\n")
    assert len(reading.frame) == 24
    assert "repeated on line 14" in said(reading)
    assert "empty rows at the end" in said(reading)
    footed = read_table(PLAIN + b"\nSource: the office\n")
    assert len(footed.frame) == 12
    assert "footer" in said(footed)


# ---- types -----------------------------------------------------------------------------------------------------------


def test_missing_tokens_are_said_and_switchable() -> None:
    data = rows("x,country,k", "1,NA,?", "-999,NO,u", "NA,US,v", "3,,u")
    reading = read_table(data)
    assert reading.frame["x"].isna().tolist() == [False, False, True, False]
    assert reading.frame["country"].iloc[0] == "NA"
    assert pd.isna(reading.frame["country"].iloc[3])
    assert pd.isna(reading.frame["k"].iloc[0])
    told = read_table(data, missing=("NA", "-999"))
    assert told.frame["x"].isna().sum() == 2
    assert pd.isna(told.frame["country"].iloc[0])
    assert told.frame["k"].iloc[0] == "?"


def test_truth_values_and_empty_columns() -> None:
    frame = read_table(rows("t,u,e,y", "TRUE,True,,a", "FALSE,,,b", "TRUE,False,,a")).frame
    assert frame["t"].dtype == bool
    assert frame["u"].tolist()[::2] == [True, False]
    assert pd.isna(frame["u"].iloc[1])
    assert frame["e"].isna().all()


def test_doubtful_numbers_follow_the_certain_ones() -> None:
    frame = read_table(b"a;b\n1.234;0,5\n2.500;1,25\n").frame
    assert frame["a"].tolist() == [1234, 2500]
    doubtful = read_table(b"a\tb\n1,234\tx\n2,500\ty\n")
    assert doubtful.frame["a"].tolist() == [1234, 2500]
    assert doubtful.report[0].severity == "warning"


# ---- spreadsheets, Parquet, ARFF -------------------------------------------------------------------------------------


def workbook(**sheets: list[list[Any]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, cells in sheets.items():
        sheet = book.create_sheet(title)
        for row in cells:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def test_a_spreadsheet_is_read_below_its_title() -> None:
    rows = [[1.5, "007", True, 3], [77.22999999999999, "012", False, 4]]
    cells = [["Melons 2024"], [], ["size", "code", "ripe", "n"], *rows]
    data = workbook(notes=[], data=cells, more=[["a", "b"], [1, 2]])
    reading = read_table(data)
    assert reading.frame["size"].tolist() == [1.5, 77.22999999999999]
    assert reading.frame["code"].tolist() == ["007", "012"]
    assert reading.frame["ripe"].tolist() == [True, False]
    assert reading.frame["n"].dtype == np.int64
    assert reading.recipe.header == 3
    assert reading.recipe.sheets == ("notes", "data", "more")
    assert "3 sheets; 'data'" in said(reading)
    assert read_table(data, sheet="more").frame["b"].tolist() == [2]
    with pytest.raises(ReadError, match="no sheet 'x'; the sheets are 'notes'"):
        read_table(data, sheet="x")


def test_parquet_brings_its_types() -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b"], ["b", "a", "z"]), "x": [1.5, None], "n": [1, 2],
                          "s": ["u", "v"], "i": pd.array([1, None], "Int64"), "l": [[1], [2, 3]]})  # fmt: skip
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    reading = read_table(buffer.getvalue())
    assert list(reading.frame["c"].cat.categories) == ["b", "a", "z"]
    assert reading.frame["i"].dtype == float
    assert isinstance(reading.frame["l"].iloc[0], str)
    assert "'l'" in said(reading)


def test_arff_keeps_declared_levels() -> None:
    text = """% weather
@RELATION w
@attribute 'out look' {sunny, 'over cast', "rain"}
@attribute temp NUMERIC
@attribute play {yes,no}
@attribute memo string
@DATA
sunny, 85.5, no, 'it\\'s hot'
% a comment
'over cast', ?, yes, ?
"""
    frame = read_table(text.encode()).frame
    assert list(frame["out look"].cat.categories) == ["sunny", "over cast", "rain"]
    assert frame["temp"].tolist()[0] == 85.5
    assert frame["memo"].iloc[0] == "it's hot"
    assert frame["memo"].isna().tolist() == [False, True]
    with pytest.raises(ReadError, match="not among its declared levels"):
        read_table(text.replace("85.5, no", "85.5, maybe").encode())
    with pytest.raises(ReadError, match="line 10 of the ARFF data has 3 cells"):
        read_table(text.replace("yes, ?", "yes").encode())
    sparse = "@relation s\n@attribute a numeric\n@attribute b {u,v}\n@data\n{0 2}\n{1 v}\n"
    assert read_table(sparse.encode()).frame["a"].tolist() == [2, 0]


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, slowly(400)])
def test_noise_is_a_table_or_a_read_error(n: int) -> None:
    rng = np.random.default_rng(1)
    alphabet = list("ab1,;\t| \"'\n\r#.é张")
    for _ in range(n):
        text = "".join(rng.choice(alphabet, rng.integers(1, 80)))
        try:
            frame = read_table(text.encode()).frame
        except ReadError:
            continue
        assert frame.shape[0] > 0
        assert frame.shape[1] > 0
        assert frame.columns.is_unique
