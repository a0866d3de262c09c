"""Files that were met, or made, to break a reader: each gives the table a careful person would take, with what was done
told; or is refused, soon, with what to do."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import zipfile

import openpyxl
import pandas as pd
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.notes import Note
from bayes_engine.table.other_notations import as_delimited
from bayes_engine.table.read import read_table
from tests.conftest import crossed, slowly
from tests.unit.test_inferred_reading import BODY, PLAIN, said

NAMES = ["height", "weight", "city", "label"]
GERMAN = "Stadt,Größe,Art\n" + "Köln,12.5,süß\nGießen,9.9,grün\nUlm,7.5,süß\n" * 4
CHINESE = "城市,收入,类别\n" + "北京,12.5,高\n上海,9.9,低\n" * 6


# ---- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "encoding"), crossed([GERMAN, CHINESE, PLAIN], ["utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"])
)
def test_wide_encodings_without_a_mark(text: str, encoding: str) -> None:
    reading = read_table(text.encode(encoding))
    pd.testing.assert_frame_equal(reading.frame, read_table(text.encode()).frame)
    assert reading.recipe.encoding == encoding
    assert f"encoding guessed: {encoding}" in said(reading)


@pytest.mark.parametrize("text", [GERMAN, CHINESE])
def test_utf_7_is_told_and_can_be_taken_as_it_stands(text: str) -> None:
    reading = read_table(text.encode("utf-7"))
    pd.testing.assert_frame_equal(reading.frame, read_table(text.encode()).frame)
    [plain] = [o for n in reading.report for o in n.offers if o.keyword == "encoding"]
    assert plain.value == "utf-8"
    assert "+" in "".join(map(str, read_table(text.encode("utf-7"), encoding="utf-8").frame.columns))


@pytest.mark.parametrize("cell", ["+15551234", "+4930123", "C+++", "a+bcde", "AP8A+AP8y", "A+", "+ABCD-"])
def test_a_plus_is_no_utf_7(cell: str) -> None:
    reading = read_table(("v,x\n" + "".join(f"{cell},{i}.5\n" for i in range(6))).encode())
    assert reading.recipe.encoding == "utf-8"


def test_files_cut_off_and_padded() -> None:
    cut = read_table(GERMAN.encode("utf-16") + b"\n")
    assert len(cut.frame) == 12
    assert "the file ends within a character" in said(cut)
    padded = read_table(PLAIN.encode() + bytes(50))
    assert len(padded.frame) == len(BODY)
    assert "zero bytes, which are left out: 50" in said(padded)
    with pytest.raises(ReadError, match="NUL byte in line 3"):
        read_table(PLAIN.replace("51,Rome", "51,Ro\0me").encode() + bytes(50))


def test_quotes_and_the_euro_are_western() -> None:
    data = ("price,said,y\n" + "€5,“a”,x\n€7,“b”,y\n" * 8).encode("cp1252")
    assert read_table(data).recipe.encoding == "cp1252"


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1e"])
def test_lines_may_end_in_old_control_characters(end: str) -> None:
    reading = read_table(PLAIN.replace("\n", end).encode())
    assert reading.frame.shape == (len(BODY), 4)
    assert f"U+{ord(end):04X}" in said(reading)
    assert said(read_table((PLAIN + "\x0c").encode())) == said(read_table(PLAIN.encode()))


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cells", "value", "what"), [
    (["1,234", "2,345"], 1234, "commas are thousands"), (["£5", "£1,200"], 5, "commas are thousands"),
    (["$1.234", "$2.345"], 1.234, "the point is the decimal mark ('$1.234' is read as 1.234)"),
    (["(1.234)", "2.345"], -1.234, "the point is the decimal mark"), ([".", "1.234"], None, "'1.234' is read as 1.234"),
    (["5-", "7"], -5, "'5-' is read as -5"), (["($5.20)", "$7.5"], -5.2, "'($5.20)' is read as -5.2"),
    (["R$ 5,00", "R$ 1.200,50"], 5, "the currency sign 'R$'"), (["5,00 zł", "1 200,50 zł"], 5, "sign 'zł'"),
])  # fmt: skip
def test_numbers_between_semicolons(cells: list[str], value: float | None, what: str) -> None:
    reading = read_table(("a;y\n" + "".join(f"{c};u\n" for c in cells * 4)).encode())
    assert what in said(reading)
    if value is not None:
        assert reading.frame["a"][0] == value


@pytest.mark.parametrize("rows", [3, 6000])
def test_long_negative_numbers_keep_their_digits(rows: int) -> None:
    reading = read_table(("a,y\n" + "-12345678901234567,u\n5,v\n" * rows).encode())
    assert reading.frame["a"][0] == "-12345678901234567"
    assert "would lose digits" in said(reading)


def test_blanks_within_cells_do_not_part_them() -> None:
    reading = read_table(("phone;y\n" + "+1 555 123 4567;u\n+1 555 987 6543;v\n" * 6).encode())
    assert list(reading.frame) == ["phone", "y"]


def test_labels_and_names_that_only_look_the_same() -> None:
    assert "invisible characters" in said(read_table("x,y\n1.5,a\u200b\n2.5,a\n3.5,b\n".encode()))
    assert "different scripts" in said(read_table(PLAIN.replace("weight", "h\u0435ight").encode()))


# ---- where the table lies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", ["".join(f"# line {i}\n" for i in range(50)), "Name:,Bob\nDate:,2024-01-02\n\n",
                                 "country,Norway\nyear,2024\nunit,cm\n\n"])  # fmt: skip
def test_the_larger_table_is_the_table(top: str) -> None:
    kept = read_table((top + PLAIN).encode())
    assert list(kept.frame) == NAMES
    assert len(kept.frame) == len(BODY)
    assert "lines above the table" in said(kept)


@pytest.mark.parametrize(("header", "names"), [("0,1,2,3", ["0", "1", "2", "3"]), ("1,2,3,y", ["1", "2", "3", "y"])])
def test_numbers_of_columns_are_names(header: str, names: list[str]) -> None:
    rows = "".join(f"{i}.5,{i * 2}.25,{['a', 'b'][i % 2]}c,{i % 2}\n" for i in range(12))
    reading = read_table(f"{header}\n{rows}".encode())
    assert list(reading.frame) == names
    assert len(reading.frame) == 12
    counted = "1,2,3,a\n" + "".join(f"{i},{i + 1},{i + 2},{'ab'[i % 2]}\n" for i in range(2, 12))
    assert len(read_table(counted.encode()).frame) == 11


@pytest.mark.parametrize("foot", ["Total,2100.5,,\n", "\nTotal,5000,2000,\n", "Average,70,,\n",
                                  "Total,9,,\nMean,7,,\n", "合计,900,,\n", "(12 rows affected)\n",
                                  "* estimated value\n", "-----\n", "Razem,24,60,\n"])  # fmt: skip
def test_totals_and_remarks_below_are_left_out_and_said(foot: str) -> None:
    reading = read_table((PLAIN + foot).encode())
    assert [len(reading.frame), reading.frame["height"].dtype] == [len(BODY), "float64"]
    assert ("lines drawn" if foot[0] == "-" else "left out as a footer") in said(reading)
    assert len(read_table((PLAIN + foot).encode(), trim=False).frame) == len(BODY) + foot.strip().count("\n") + 1


def test_a_row_called_total_among_others_is_a_row() -> None:
    rows = "".join(f"{w},{i},{'uv'[i % 2]}\n" for i, w in enumerate(["x", "total", "z"] * 4)) + "total,5,\n"
    assert len(read_table(f"a,b,c\n{rows}".encode()).frame) == 13
    words = "".join(f"n{i},{i}.5,{'uv'[i % 2]}\n" for i in range(12)) + "last\n"
    assert len(read_table(f"name,x,y\n{words}".encode()).frame) == 13


@pytest.mark.parametrize(("data", "why"), [
    (b'[1, 2, "a"]\n[3, 4, "b"]\n', "JSON"), (b"<Error><Code>AccessDenied</Code></Error>\n", "XML"),
    (b"<root><row a='1'/>\n</root>", "XML"),
])  # fmt: skip
def test_still_more_that_is_no_table(data: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        read_table(data)


# ---- files with a structure of their own -----------------------------------------------------------------------------


def book(fill: bool = True) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    for row in [["a", "y"], *([i * 1.5, "uv"[i % 2]] for i in range(10))] if fill else []:
        made.active.append(row)
    return made


def packed(made: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("far", [(1_048_576, 18), slowly((1_048_576, 16_384))])
def test_a_cell_far_from_the_others_does_not_take_the_memory(far: tuple[int, int]) -> None:
    made = book()
    made.active.cell(*far).value = "x"
    with pytest.raises(ReadError, match="far from the others"):  # it used to end the whole process
        read_table(packed(made))


def test_a_far_cell_that_is_only_coloured_is_none() -> None:
    made = book()
    made.active.cell(1_048_576, 16_384).font = openpyxl.styles.Font(bold=True)
    assert read_table(packed(made)).frame.shape == (10, 2)


def test_a_hidden_sheet_comes_last() -> None:
    made = book(fill=False)
    made.active.append(["secret"])
    made.active.append([1])
    made.active.sheet_state = "hidden"
    shown = made.create_sheet("Shown")
    made.active = 1
    for row in [["a", "y"], [1.5, "u"], [2.5, "v"]]:
        shown.append(row)
    reading = read_table(packed(made))
    assert reading.recipe.sheet == "Shown"
    assert "'Shown' was read" in said(reading)
    assert read_table(packed(made), sheet="Sheet").frame.shape == (1, 1)


def test_parquet_decimals_days_and_truth() -> None:
    out = io.BytesIO()
    pd.DataFrame({
        "price": [decimal.Decimal("1.50"), None, decimal.Decimal("2.25")],
        "day": [dt.date(2024, 1, 5), None, dt.date(2024, 2, 6)],
        "ok": pd.array([True, None, False], dtype="boolean"),
        "none": [None] * 3,
        "y": ["u", "v", "u"],
    }).to_parquet(out)  # fmt: skip
    reading = read_table(out.getvalue())
    assert [v.kind for v in reading.schema] == ["binary", "date", "binary", "empty", "binary"]
    assert reading.frame["price"][2] == 2.25
    assert reading.schema["ok"].levels == (False, True)
    assert "column 'price' (decimal) is read as numbers" in said(reading)
    assert "column 'none' is empty" in said(reading)


HEAD = "@relation r\n@attribute a numeric\n@attribute 'b b' {p,'q, r'}\n"


def test_arff_sparse_rows_weights_remarks_and_dates() -> None:
    sparse = read_table(f"{HEAD}@data\n{{0 1.5, 1 'q, r'}}\n{{}}\n".encode()).frame
    assert [sparse["a"].tolist(), sparse["b b"].tolist()] == [[1.5, 0.0], ["q, r", "p"]]
    weighed = read_table(f"{HEAD}@data\n% three\n1.5,p,{{5}}\n2.5,'q, r'\n3,p,{{0.5}}\n".encode())
    assert weighed.frame["weight"].tolist() == [5.0, 1.0, 0.5]
    assert "rows bear weights" in said(weighed)
    remarked = read_table(f"{HEAD}@data\n1.5,p % first\n2.5,'q, r'\n".encode()).frame
    assert remarked["b b"].tolist() == ["p", "q, r"]
    tabbed = read_table(f"{HEAD}@data\n1.5\tp\n2.5\tp\n".encode()).frame
    assert tabbed["a"].tolist() == [1.5, 2.5]
    dated = read_table(f"{HEAD}@attribute d date 'yyyy-MM-dd'\n@data\n1,p,'2024-01-05'\n2,p,?\n".encode())
    assert dated.frame["d"].tolist()[0] == pd.Timestamp("2024-01-05")
    with pytest.raises(ReadError, match="'bag' of the ARFF file is relational"):
        read_table(b"@relation r\n@attribute bag relational\n @attribute a numeric\n@end bag\n@data\n'1',u\n")


@pytest.mark.parametrize("text", [
    b'{"columns": ["a", "a"], "data": [[1, 2]]}', b'{"columns": ["a"], "data": [[1, 2]]}', b'{}', b'{"a": 1',
    b'{"columns": ["a"], "data": [[{"b": 1}], [2]]}', b'{"columns": ["index"], "index": ["x"], "data": [[1]]}',
    b"ms=5 to=db\nms=7 to=api\nms=9 to=db\n" + b"ms=5 to=db\n" * 300 + b"and nothing more\n",
    b"> a,b\n> 1,2\n3,4\n", b"# x\n 1 2\n 3 4\n  5 6\n", b'"a b"  1\n"c d"  2 3\n', b'"a"  1\n"c"  2\n"d"  3\n',
    b"1 2:3\n" * 40 + b"1 :\n",
])  # fmt: skip
def test_what_is_nearly_another_notation_stays_as_it_is(text: bytes) -> None:
    notes: list[Note] = []
    assert as_delimited(text, notes) == text and not notes


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", content)
    return out.getvalue()


def test_archives_within_archives_passwords_and_control_characters_are_named() -> None:
    plain = zipped(b"a,b\n1,2\n")
    locked = bytearray(plain)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + at] |= 1
    for data, why in (
        (bytes(locked), "protected by a password"), (zipped(b"\x1f\x8b" + b"x" * 20), "holds a gzip file"),
        (b"a,b\n" + b"\x02\x03\x04" * 40, "the file is binary, not a CSV or text table"),
    ):  # fmt: skip
        with pytest.raises(ReadError, match=why):
            read_table(data)
    pages = b"a,b\n1,u\n2,v\n\x0c3,u\n4,v\n"
    reading = read_table(pages)
    assert reading.frame["a"].tolist() == [1, 2, 3, 4]
    assert any("page breaks at the beginning of lines" in str(note.message) for note in reading.report)
