"""Files as strangers have them, each with what is to come out of it, stated before it was read: the names and the first
row of the table, how many rows, and words of what is said."""

from __future__ import annotations

import io
import zipfile
from typing import Any, NamedTuple

import pandas as pd
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.decode import first_lines
from bayes_engine.table.read import read_table
from tests.conftest import slowly


class Expected(NamedTuple):
    """A file, its table's names and first row, how many rows there are, and a part of what is said of it."""

    data: bytes
    names: list[str]
    first: list[Any]
    rows: int
    said: str = ""


def lines(*head: str, rows: str, n: int = 12, foot: str = "") -> bytes:
    """Lines, then rows in which {i} is their number, {a} one of two words and {x} a number with decimals."""
    body = (rows.format(i=i, a="yes" if i % 3 else "no", x=f"{1 + i * 0.7:.1f}") for i in range(1, n + 1))
    return ("\n".join([*head, *body]) + "\n" + foot).encode()


FIRST = {"blanks of any width and quotes around words", "a blank before every row of numbers", "a list of Stata",
         "names of a wiki between double bars"}  # fmt: skip
"""Files that are read by default besides every other one: what reads them reads no other."""

FILES = {
    "lines that a mail quotes": Expected(
        lines("> city,n,x", rows="> {a},{i},{x}"), ["city", "n", "x"], ["yes", 1, 1.7], 12, "as a mail quotes it",
    ),
    "names of a wiki between double bars": Expected(
        lines("||city||n||x||", rows="|{a}|{i}|{x}|"), ["city", "n", "x"], ["yes", 1, 1.7], 12,
    ),
    "sparse rows of LIBSVM": Expected(
        lines(rows="-1 1:{x} 3:{i}", foot="+1 2:0.5\n"), ["label", "x1", "x2", "x3"], [-1, 1.7, 0, 1], 13,
        "what a line does not name is read as 0",
    ),
    "blanks of any width and quotes around words": Expected(
        lines(rows='{i}.0   {x}\t"ford {a} {i}"') + b'3.0      ?\t"amc"\n', ["column_1", "column_2", "column_3"],
        [1, 1.7, "ford yes 1"], 13, "cut at blanks, but not within quotes",
    ),
    "names of two words above columns lined up": Expected(
        lines("town       pop 2020  ok", "Rome             99  no", "Lima             98  no",
              rows="New York        2{i:02}  {a}"), ["town", "pop 2020", "ok"], ["Rome", 99, "no"], 14,
    ),
    "a total in the first row and in the last": Expected(
        lines("town,x,y", "Total,78,156", rows="T{i},{i},{i}", foot="Total,78,156\n").replace(b"156", b"78"),
        ["town", "x", "y"], ["T1", 1, 1], 12, "sums up the rows below it",
    ),
    "a last line that counts the rows": Expected(
        lines("town,x,y", rows="T{i},{i},{i}", foot="TRAILER,12\n"), ["town", "x", "y"], ["T1", 1, 1], 12,
        "left out as a footer: 1, from line 14",
    ),
    "a smaller table beside": Expected(
        lines("id,x,ok,,ok,mean", "1,2,yes,,yes,2.5", "2,3,no,,no,3.5", rows="{i},{x},{a},,,"), ["id", "x", "ok"],
        [1, 2, "yes"], 14, "something else stands beside the table: it is left out, with 2 columns ('ok mean')",
    ),
    "a remark beside": Expected(
        lines("id,x,ok,,", "1,2,yes,,ask Anna!", rows="{i},{x},{a},,"), ["id", "x", "ok"], [1, 2, "yes"], 13,
        "left out, with 1 columns ('ask Anna!')",
    ),
    "a blank before every row of numbers": Expected(
        lines("# type: a matrix", rows=" {x} {i}"), ["column_1", "column_2"], [1.7, 1], 12,
    ),
    "kinds and roles of columns as Orange has them": Expected(
        lines("x\tn\ty", "c\tc\td", "\t\tclass", rows="{x}\t{i}\t{a}"), ["x", "n", "y"], [1.7, 1, "yes"], 12,
        "line 3 is left out of the rows",
    ),
    "the box of polars": Expected(
        lines("shape: (12, 2)", "┌─────┬─────┐", "│ x   ┆ y   │", "│ --- ┆ --- │", "│ f64 ┆ str │", "╞═════╪═════╡",
              rows="│ {x} ┆ {a} │", foot="└─────┴─────┘\n"), ["x", "y"], [1.7, "yes"], 12,
    ),
    "control characters between cells": Expected(
        lines("x\x01y\x01z", rows="{x}\x01{i}\x01{a}"), ["x", "y", "z"], [1.7, 1, "yes"], 12, "delimiter was guessed",
    ),
    "few words in Shift JIS": Expected(
        lines("表1 人口", "(単位：人)", "市町村,人口,区分", rows="札幌市,{i},市").decode().encode("cp932"),
        ["市町村", "人口", "区分"], ["札幌市", 1, "市"], 12, "encoding guessed: cp932",
    ),
    "codes of digits and an E": Expected(
        lines("flat,x", rows="{i}E2,{x}"), ["flat", "x"], ["1E2", 1.7], 12, "'1E2' and the like may be codes",
    ),
    "errors of a spreadsheet among words": Expected(
        lines("x,ok", "0.5,#NULL!", rows="{x},{a}"), ["x", "ok"], [0.5, None], 13, "missing: 1 ('#NULL!')",
    ),
    "years below one name twice": Expected(
        lines("id;town;km;km;paid;", ";;2019;2020;;", rows="07{i:02};Oslo;{x};{i};{a};"),
        ["id", "town", "km 2019", "km 2020", "paid"], ["0701", "Oslo", 1.7, 1, "yes"], 12, "put together ('km 2019')",
    ),
    "a kind of answer below the questions": Expected(
        lines("Id,How often?,Score,Sex", ",Response,,Response", rows="9{i:02},{a},{i},F{a}"),
        ["Id", "How often?", "Score", "Sex"], [901, "yes", 1, "Fyes"], 12, "units or a second header",
    ),
    "labels of series below their names": Expected(
        lines("Title,Prices,Rate", "Code,D7BT,D7G7", "Unit,Index,%", "Release,17-02-2021,17-02-2021", "Notes,,",
              rows="19{i:02},{x},{i}", n=20),
        ["Title", "Prices", "Rate"], [1901, 1.7, 1], 20, "tell of the columns: 4, from line 2",
    ),
    "a title and another table below": Expected(
        lines("arm,age,reply", rows="A,{i},{a}", foot="\n\nSummary by arm\narm,n\nA,6\nB,6\nC,7\n"),
        ["arm", "age", "reply"], ["A", 1, "yes"], 12, "a second table seems to begin in line 17",
    ),
    "units that are known": Expected(
        lines("Größe;Fläche;Verbrauch;Tempo;Temp", rows="{i}m2;{i},5 m²;{i},5 l/100km;{i} km/h;-{i} °C"),
        ["Größe", "Fläche", "Verbrauch", "Tempo", "Temp"], [1, 1.5, 1.5, 1, -1], 12, "the unit 'l/100km' is left out",
    ),
    "a unit with cells that are missing": Expected(
        lines("a,dose", "0,n/a", rows="{i},{i} mg/l"), ["a", "dose"], [0, None], 13, "the unit 'mg/l' is left out",
    ),
    "house numbers, models, memory of a code": Expected(
        lines("house,model,battery", rows="{i}A,{i}20d,{i}m"), ["house", "model", "battery"], ["1A", "120d", "1m"], 12,
    ),
    "two units": Expected(
        lines("a,weight", "0,500 g", rows="{i},{i} kg"), ["a", "weight"], [0, "500 g"], 13, "different units",
    ),
    "the names in a comment of a server": Expected(
        lines("#Software: S 10.0", "#Date: 2021-01-01 00:00:00", "#Fields: day c-ip status ms",
              rows="2022-12-{i:02} 10.0.0.{i} 200 {x}"),
        ["day", "c-ip", "status", "ms"], [pd.Timestamp("2022-12-01"), "10.0.0.1", 200, 1.7], 12, "line 1",
    ),
    "the names in a comment behind a blank": Expected(
        lines("# Fields: n x", rows="{i} {x}"), ["n", "x"], [1, 1.7], 12, "the delimiter was guessed",
    ),
    "records of JSON with one column and half a character": Expected(
        b'[{"name": "a"}, {"name": "b, c"}, {"name": "\\ud800x"}]', ["name"], ["a"], 3, "records of JSON",
    ),
    "the names in a comment of Zeek": Expected(
        lines("#separator \\x09", "#fields\tts\tuid\tn", "#types\ttime\tstring\tcount", rows="1.{i:03}\tC{i}x\t{i}"),
        ["ts", "uid", "n"], [1.001, "C1x", 1], 12, "line 3 is left out",
    ),
    "pairs between blanks": Expected(
        lines(rows='ts=2021-05-{i:02}T01:11:56Z ms={i} msg="a \\"b\\", c" to={a}'), ["ts", "ms", "msg", "to"],
        [pd.Timestamp("2021-05-01 01:11:56"), 1, 'a "b", c', "yes"], 12, "pairs of key=value",
    ),
    "pairs between commas, one not always there": Expected(
        lines("a=7, c=9", rows="a={i}, b={x}, c=3"), ["a", "c", "b"], [7, 9, None], 13, "pairs of key=value",
    ),
    "pairs between semicolons": Expected(
        lines(rows="w={i}; h={x}; c={a}"), ["w", "h", "c"], [1, 1.7, "yes"], 12, "pairs of key=value",
    ),
    "a list of Stata": Expected(
        lines(". list price rep", "", "     +---------------+", "     |  price    rep |", "     |---------------|",
              rows=" {i:2}. | 12,{i:03}      . |", foot="     +---------------+\n"),
        ["price", "rep"], [12001, None], 12, "as Stata writes it",
    ),
    "records of JSON in lines": Expected(
        lines(rows='{{"id": "0{i}", "x": 1.50, "ok": true, "r": null, "t": "a, b"}}'),
        ["id", "x", "ok", "r", "t"], ["01", 1.5, "true", None, "a, b"], 12, "records of JSON",
    ),
    "records of JSON in a list": Expected(
        b'[{"n": 1, "city": "Rome"},\n {"city": "Oslo", "w": 2.5},\n {"n": 3, "city": "Bonn"}]', ["n", "city", "w"],
        [1, "Rome", None], 3, "records of JSON",
    ),
    "a comma without quotes in the middle": Expected(
        lines("id,address,rooms,status", "0,3 Mill Ln, Flat 2,4,yes", rows="{i},9 Kings Rd,{i},{a}"),
        ["id", "address", "rooms", "status"], [0, "3 Mill Ln, Flat 2", 4, "yes"], 13, "('3 Mill Ln, Flat 2')",
    ),
    "a comma that may be anywhere": Expected(
        lines("id,name,address,n", "0,A,B,C,4", rows="{i},N{i},R{i},{i}"),
        ["id", "name", "address", "n", "extra"], [0, "A", "B", "C", 4], 13, "whether these rows are shifted",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [slowly(case) if i % 2 and case not in FIRST else case for i, case in enumerate(FILES)]
)
def test_a_file_is_read_as_stated(case: str) -> None:
    data, names, first, rows, words = FILES[case]
    reading = read_table(data)
    assert list(reading.frame) == names
    assert [None if pd.isna(cell) else cell for cell in reading.frame.iloc[0]] == first
    assert len(reading.frame) == rows
    assert words in "\n".join(str(n.message) for n in reading.report)


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_a_zip_archive_of_one_table_is_read_and_no_other() -> None:
    left = {"__MACOSX/export/._a.csv": b"\0\0", "export/.DS_Store": b"\0"}
    data = zipped(**{"export/a.csv": b"a,b\n1,x\n2,y\n", **left})
    assert read_table(data).frame["a"].tolist() == [1, 2]
    assert first_lines(data, "utf-8")[0] == (1, "a,b")
    for bad, said in (
        (zipped(**{"a.csv": b"a\n1\n", "b.csv": b"a\n1\n"}), "holds 2 files \\('a.csv', 'b.csv'\\)"),
        (zipped(**{"a.csv": b"1,2\n" * 5_000_000}), "would unpack to more than"),
        (data[:-30], "damaged"),
    ):
        with pytest.raises(ReadError, match=said):
            read_table(bad)


@pytest.mark.parametrize(("data", "said"), [
    (b'[{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]', "'b' in record 1 holds several values"),
    (b'{"a": 1}\n{"a": 2}\n{"a": ', "behind record 2"),
    (b'[{"a": 1}, {"a": 2}', "behind record 2"), (b'[{"a": 1}, {"a": 2}] {"a": 3}', "behind record 2"),
    (b'{"a": {"b": 1}}', "looks like JSON"), (b'{"a": 1}\n{"a": 2}\n{"a": 3, "a": 4}', "behind record 2"),
    (b'[{"a":' + b"[" * 100_000, "JSON"),
])  # fmt: skip
def test_json_that_is_no_table_is_refused_in_words(data: bytes, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read_table(data)


def test_zeros_of_a_number_format_stay() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["zip", "n", "half"])
    for i in range(1, 9):
        book.active.append([100 * i + 7, i, i])
        book.active.cell(i + 1, 1).number_format = "00000"
        book.active.cell(i + 1, 3).number_format = "00000" if i % 2 else "General"
    out = io.BytesIO()
    book.save(out)
    reading = read_table(out.getvalue())
    assert reading.frame.iloc[0].tolist() == ["00107", 1, 1]
    assert "('107' as '00107')" in "\n".join(str(n.message) for n in reading.report)


FOREIGN = {
    b"INSERT INTO iris (x, y) VALUES\n(1, 2),\n(3, 4);\n": "SQL",
    b"structure(list(x = c(1, 2), y = c(3, 4)), row.names = 1:2)\n": "dput",
    b"{| class='wikitable'\n! a !! b\n|-\n| 1 || 2\n|}\n": "Wikipedia",
    b"{'a': 1, 'b': 2}\n{'a': 3, 'b': 4}\n": "Python",
    b'const data = [\n  {"a": 1, "b": 2}\n];\n': "a program",
    b"A = [1 2 3\n4 5 6];\n": "a program",
    b"- a: 1\n  b: 2\n- a: 3\n  b: 4\n": "YAML",
    b"a,b\n1,2\n<<<<<<< HEAD\n3,4\n=======\n5,6\n>>>>>>> dev\n": "line 3",
}


@pytest.mark.parametrize("data", FOREIGN)
def test_what_another_program_reads_is_refused_by_its_name(data: bytes) -> None:
    with pytest.raises(ReadError, match=FOREIGN[data]):
        read_table(data)


ROWS = {
    "a first row that lacks a number": lines("id,n,a", ",3,yes", rows="{i},{i},{a}"),
    "a first row of rare words": lines("id,n,a,b", "7,,maybe,never", rows="{i},{i},{a},{a}"),
    "a code of words above years": lines("x,y", "unknown,3", rows="19{i:02},{i}"),
    "a number in one of two columns of one name": lines("id,km,km", "1,2019,", rows="{i},{i},{x}"),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_first_row_stays_a_row(case: str) -> None:
    assert len(read_table(ROWS[case]).frame) == 13


def test_a_remark_below_the_rows_is_not_joined() -> None:
    reading = read_table(lines("town;pop;ok", rows="T{i};{i};{a}", foot="nd : none; s : secret;;\n"))
    assert "joined" not in "\n".join(str(n.message) for n in reading.report)


FLAGGED = {
    "letters of a laboratory": ["7.7 L", "5.2", "5.6 H", "4.1"],
    "flags of Eurostat": [":", ": c", "12.1 p", "7.8"],
    "powers": ["12²", "7", "3.5"],
    "flags close behind decimals": ["3.5b", "7.25", "1.5"],
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FLAGGED)
def test_marks_behind_numbers_are_told_and_left_out_by_one_click(case: str) -> None:
    cells = FLAGGED[case]
    data = ("n,x\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells * 4))).encode()
    reading = read_table(data)
    assert reading.frame["x"].tolist() == cells * 4
    [remark] = [n for n in reading.report if n.column == "x" and n.offers]
    assert "have a mark behind them" in str(remark.message) and "missing" not in str(remark.message)
    [offer] = remark.offers
    again = read_table(data, types=offer.value).frame["x"]
    assert again.dtype == float and again.notna().tolist() == [cell[0] != ":" for cell in cells * 4]
    assert again.iloc[2] == {"letters of a laboratory": 5.6, "flags of Eurostat": 12.1,
                             "powers": 3.5, "flags close behind decimals": 1.5}[case]  # fmt: skip
