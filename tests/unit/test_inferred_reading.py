"""Whatever the reader infers it says, with the way to have it otherwise; and nothing makes it raise anything else."""

from __future__ import annotations

import gzip
import io
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.decode import first_lines
from bayes_engine.table.notes import Offer
from bayes_engine.table.read import Reading, read_table
from tests.conftest import slowly

BODY = [f"{150 + 1.5 * i},{50 + i},{['Oslo', 'Rome', 'Lima'][i % 3]},{['no', 'yes'][i % 2]}" for i in range(12)]
PLAIN = "\n".join(["height,weight,city,label", *BODY, ""])


def said(reading: Reading) -> str:
    return "\n".join(str(n.message) for n in reading.report)


def offers(data: bytes, keyword: str) -> list[Offer]:
    return [o for n in read_table(data).report for o in n.offers if o.keyword == keyword]


def taken(data: bytes, one: Offer) -> Reading:
    kw: dict[str, Any] = {one.keyword: one.value}
    return read_table(data, **kw)


# ---- each with its button --------------------------------------------------------------------------------------------


def test_an_encoding_is_offered_with_what_it_would_show() -> None:
    data = b"id,name\n1,x\n2," + "张伟".encode("gbk") + b"\n"
    [other, *_] = offers(data, "encoding")
    assert str(other.label) == "cp1252: 'ÕÅÎ°'"
    assert taken(data, other).frame["name"].tolist() == ["x", "ÕÅÎ°"]
    assert first_lines(data, "gb18030", 1) == [(1, "id,name"), (3, "2,张伟")]
    assert first_lines(gzip.compress(data), "gb18030", 1)[1] == (3, "2,张伟")


@pytest.mark.parametrize(("text", "keyword", "column", "expected"), [
    ("a;b\n1,5;x\n2,5;y\n", "decimal", "a", ["1,5", "2,5"]), ("a;b\n12 %;x\n3 %;y\n", "types", "a", ["12 %", "3 %"]),
    ("a;b\n$12;x\n$3;y\n", "types", "a", ["$12", "$3"]), ("a;b\n007;x\n012;y\n", "types", "a", [7, 12]),
    ("a;b\nTRUE;x\nFALSE;y\n", "types", "a", ["TRUE", "FALSE"]),
    ("a;b\n5;x\n6;x\nNA;y\n", "types", "a", ["5", "6", "NA"]),
    ("a;b\n5;x\n6;x\nold;y\n", "missing", "a", [5, 6, np.nan]),
    ("a;b\nDE;x\nNO;x\nNA;y\n", "missing", "a", ["DE", "NO", np.nan]),
    ("a b\n1 x\n2 y\n", "delimiter", "a b", ["1 x", "2 y"]), ("a,b\n'x',1\n'y',2\n", "quote", "a", ["'x'", "'y'"]),
    ("x;y\nx;z\ny;z\ny;y\n", "header", "x", ["x", "y", "y"]),
])  # fmt: skip
def test_one_click_has_it_otherwise(text: str, keyword: str, column: str, expected: list[Any]) -> None:
    frame = taken(text.encode(), offers(text.encode(), keyword)[0]).frame
    np.testing.assert_array_equal(frame[column].to_numpy(object).tolist(), expected)


def test_to_read_a_word_as_missing_keeps_what_is_missing_already() -> None:
    data = b"a,b\n?,1\nNA,2\nNO,3\n"
    frame = taken(data, offers(data, "missing")[0]).frame
    assert frame["a"].isna().tolist() == [True, True, False]


def test_numbers_that_are_wanted_tell_what_is_lost() -> None:
    reading = read_table(b"a,b\n5,x\n6,x\nold,y\nolder,y\n", types={"a": "number"})
    assert reading.frame["a"].isna().tolist() == [False, False, True, True]
    assert "so are missing: 2 ('old', 'older')" in said(reading)
    assert reading.recipe.types == ((0, "number"),)
    for types in ({"z": "text"}, {7: "text"}, {"a": "colour"}):
        with pytest.raises(ReadError, match=r"there is no column|is no type"):
            read_table(b"a,b\n5,x\n6,y\n", types=types)  # type: ignore[arg-type]


@pytest.mark.parametrize(("below", "n", "what"), [
    ("\nSource: the office\n", 13, "footer"), (PLAIN, 25, "header is repeated"),
    ("# by hand\n170,70,Oslo,no\n", 14, "comments between"), (",,,\n,,,\n", 14, "empty rows"),
    ("\nname,size\na,1\nb,2\nc,3\n", 16, "second table seems to begin in line 15"),
])  # fmt: skip
def test_what_is_left_out_below_can_be_kept(below: str, n: int, what: str) -> None:
    data = (PLAIN + below).encode()
    reading = read_table(data)
    assert what in said(reading)
    assert reading.frame["weight"].dtype == np.int64
    keep = offers(data, "trim")[0]
    assert len(taken(data, keep).frame) == n


def test_a_second_table_can_be_read_instead() -> None:
    data = (PLAIN + "\nname,size\na,1\nb,2\nc,3\n").encode()
    [second] = offers(data, "header")
    assert taken(data, second).frame["size"].tolist() == [1, 2, 3]


# ---- mended, and said ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new", "what"), [
    ("Oslo", '"5"" pipe, used"', None), ("Oslo", ' "Oslo, NO"', None), ("Oslo", '"a 5" pipe, used"', "quote"),
    ("\n", ",\n", "left out: 1"), ("no\n", "no,\n", "empty cell too many"),
    ("height", " height ", "spaces around"), ("weight", "Height", "differ only in case"),
    ("height,weight", "height,,weight", "empty names more"), ("\n157.5", "\n\ufeff157.5", "byte-order marks"),
])  # fmt: skip
def test_slips_that_cost_no_column_its_type(old: str, new: str, what: str | None) -> None:
    reading = read_table(PLAIN.replace(old, new).encode())
    assert reading.frame.shape == (12, 4)
    assert [v.kind for v in reading.schema] == ["continuous", "identifier", "categorical", "binary"]
    reported = said(reading)
    assert what in reported if what else reported.count("\n") == 0


def test_lines_quoted_as_a_whole_and_bodies_with_a_delimiter_too_many() -> None:
    whole = read_table("".join(f'"{line}"\n' for line in PLAIN.splitlines()).encode())
    assert whole.frame.equals(read_table(PLAIN.encode()).frame)
    assert "quoted as a whole" in said(whole)
    trailing = read_table(("height,weight,city,label\n" + "".join(f"{line},\n" for line in BODY)).encode())
    assert list(trailing.frame.columns) == ["height", "weight", "city", "label"]
    assert trailing.frame["height"].iloc[0] == 150


@pytest.mark.parametrize(("encoding", "text"), [
    ("cp1252", "naïve,größe,label\nJosé,1,été\nJosé,2,hiver\nJosé,3,été\n"),
    ("cp1252", "prix,ville\n5 €,Orléans\n7 €,Nîmes\n"),
    ("koi8-r", "город,класс\nМосква,высокий\nТула,низкий\nОмск,низкий\n"),
    ("big5", "姓名,城市\n張偉,北京\n王芳,臺北\n李娜,高雄\n"),
    ("euc_jp", "名前,都市\n田中,とうきょう\n佐藤,おおさか\n"),
])  # fmt: skip
def test_encodings_of_short_files(encoding: str, text: str) -> None:
    reading = read_table(text.encode(encoding))
    assert list(reading.frame.columns) == text.split("\n", 1)[0].split(",")
    assert "encoding guessed" in said(reading)


@pytest.mark.parametrize(("data", "why"), [
    (b",,,\n,,,\n", "every cell of the file is empty"), (b"<table><tr><td>1</td></tr></table>\n\n", "web page"),
    (b"(dp0\nVa\np1\nI1\ns.", "pickle"), (b"cposix\nsystem\n(S'id'\ntR.", "pickle"),
    (b"<svg xmlns='x'>\n<g/>\n</svg>", "SVG"), (b"version https://git-lfs.github.com/spec/v1\noid a\n", "Git LFS"),
])  # fmt: skip
def test_more_that_is_no_table(data: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        read_table(data)


def test_errors_and_formulas_without_result_are_said() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b", "c"], [1, 2, "x"], [3, "#DIV/0!", "y"], ["=A2+A3", 4, "x"]):
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    reading = read_table(buffer.getvalue())
    assert "an error such as #DIV/0!, read as missing: 1" in said(reading)
    assert "no result is stored, read as missing: 1" in said(reading)
    assert reading.frame["b"].isna().tolist() == [False, True, False]


ZH = "姓名,城市,类别\n" + "张伟,北京,高\n王芳,上海,低\n" * 8


def test_two_encodings_in_one_file_and_text_encoded_twice() -> None:
    both = read_table(ZH.encode("gb18030") + "赵六,天津,低\n".encode())
    assert both.frame["城市"].tolist()[-2:] == ["上海", "天津"]
    assert "two encodings in one file" in said(both)
    damaged = read_table(ZH.encode().replace("北京".encode(), "北京".encode()[:-1], 1))
    assert "1 characters are damaged" in said(damaged)
    assert damaged.frame["姓名"].iloc[0] == "张伟"
    twice = ZH.encode().decode("latin-1").encode()
    assert "encoded twice" in said(read_table(twice))
    [undo] = offers(twice, "encoding")
    assert taken(twice, undo).frame["城市"].iloc[0] == "北京"
    assert first_lines(twice, undo.value, 1)[0] == (1, "姓名,城市,类别")


@pytest.mark.parametrize(("encoding", "text"), [
    ("hz", ZH), ("iso2022_jp", "名前,都市\n田中,東京\n佐藤,大阪\n"),
    ("cp1250", "imię,miasto\n" + "Łukasz,Łódź\nŻaneta,Gdańsk\n" * 8),
    ("cp850", "prénom,ville\nJosé,Nîmes\nZoë,Besançon\n"),
])  # fmt: skip
def test_encodings_that_are_easily_taken_for_another(encoding: str, text: str) -> None:
    reading = read_table(text.encode(encoding))
    assert reading.frame.to_csv(index=False) == text
    assert "encoding guessed" in said(reading)


@pytest.mark.parametrize(("text", "rows", "what"), [
    ("+----+---+\n| a  | b |\n+----+---+\n" + "| 15 | x |\n| 7  | y |\n" * 4 + "+----+---+\n", 8, "lines drawn with"),
    ("| a | b |\n|---|---|\n" + "| 1.5 | x |\n| 7 | y |\n" * 4, 8, "lines drawn with"),
    ("a,b\n" + "“1.5”,“x”\n“7”,“y”\n" * 4, 8, "quoted with “ ”"),
    ("a，b\n" + "1.5，x\n7，y\n" * 4, 8, "the delimiter was guessed: '，'"),
    ("a,b\x851.5,x\x857,y\x85", 2, "U+0085"),
])  # fmt: skip
def test_tables_as_other_programs_draw_them(text: str, rows: int, what: str) -> None:
    reading = read_table(text.encode())
    assert (list(reading.frame.columns), len(reading.frame)) == (["a", "b"], rows)
    assert reading.frame["a"].dtype.kind in "if"
    assert reading.frame["b"].tolist()[:2] == ["x", "y"]
    assert what in said(reading)


def test_years_as_names_row_names_and_footers_with_commas() -> None:
    rows = "".join(f"{i},{i + 3},{i * 2},{'xy'[i % 2]}\n" for i in range(9))
    years = read_table(("2019,2020,2021,label\n" + rows).encode())
    assert list(years.frame.columns) == ["2019", "2020", "2021", "label"]
    shifted = read_table(("height,weight,city\n" + "\n".join(BODY)).encode())
    assert list(shifted.frame.columns) == ["height", "weight", "city", "column_4"]
    named = read_table(b"mpg,cyl\nMazda RX4,21,6\nFiat 128,32,4\n")
    assert list(named.frame.columns) == ["row", "mpg", "cyl"]
    footed = read_table((PLAIN + "\nSource: ward 5\nNote: by hand, twice\n").encode())
    assert len(footed.frame) == 12
    assert "left out as a footer: 2" in said(footed)


@pytest.mark.slow
def test_a_unit_a_point_and_padding_are_told() -> None:
    units = b"a;b\n12 rows;x\n15.5 rows;y\n"
    assert "the unit 'rows' is left out" in said(read_table(units))
    assert read_table(units).frame["a"].tolist() == [12, 15.5]
    assert taken(units, offers(units, "types")[0]).frame["a"].tolist() == ["12 rows", "15.5 rows"]
    units = b"a;b\n12rows;x\n15.5rows;y\n"
    assert "numbers with the unit 'rows' ('12rows')" in said(read_table(units))
    assert taken(units, offers(units, "types")[0]).frame["a"].tolist() == [12, 15.5]
    points = b"a;b\n1.230;x\n2.345;y\n"
    assert "if it separates thousands" in said(read_table(points))
    assert taken(points, offers(points, "decimal")[0]).frame["a"].tolist() == [1230, 2345]
    assert "thousands" not in said(read_table(points.replace(b";", b",")))
    padded = read_table(b"a|b\n1| x\n2| y z\n3|x\n", delimiter="|")
    assert padded.frame["b"].tolist() == [" x", " y z", "x"]
    padded = read_table(b"a|b |c\n1|x |p\n2|y |q\n3|x |p\n")
    assert padded.frame["b "[:1]].tolist() == ["x", "y", "x"]
    assert "the spaces around every cell are left out" in said(padded)


def test_a_column_of_none_and_na_is_classes_and_one_of_na_alone_is_empty() -> None:
    labels = ("a,label\n" + "1,None\n2,NA\n3,null\n" * 4).encode()
    reading = read_table(labels)
    assert sorted(reading.frame["label"].unique()) == ["NA", "None", "null"]
    assert reading.schema.target is not None
    assert taken(labels, offers(labels, "missing")[0]).frame["label"].isna().all()
    assert read_table(b"a,b\n1,NA\n2,\n3,NA\n").frame["b"].isna().all()


# ---- fuzz ------------------------------------------------------------------------------------------------------------


def random_table(rng: random.Random) -> list[list[str]]:
    words = ["red", "a b", "x,y", "p;q", 'say "hi"', "it's", "tab\there", "größe", "北京", "line\nbreak", "|", ""]
    columns = rng.randint(2, 6)
    numeric = [rng.random() < 0.5 for _ in range(columns)]
    numeric[0] = True
    rows = [[f"{rng.uniform(-99, 99):.2f}" if number else rng.choice(words) for number in numeric]
            for _ in range(rng.randint(4, 30))]  # fmt: skip
    return [[f"name{j}" for j in range(columns)], *rows]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *map(slowly, range(1, 4))])
def test_random_tables_in_random_dialects_come_back(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        table = random_table(rng)
        delimiter, end = rng.choice(",;\t|"), rng.choice(["\n", "\r\n"])
        always, encoding = rng.random() < 0.5, rng.choice(["utf-8", "utf-8-sig", "utf-16", "gb18030"])

        def spelled(cell: str, delimiter: str = delimiter, always: bool = always) -> str:
            special = always or any(c in cell for c in (delimiter, '"', "\n", "\r"))
            return '"' + cell.replace('"', '""') + '"' if special else cell

        text = "".join(delimiter.join(map(spelled, row)) + end for row in table)
        if encoding == "gb18030":
            text = text.replace("ö", "o").replace("ß", "s")
            table = [[c.replace("ö", "o").replace("ß", "s") for c in row] for row in table]
        reading = read_table(text.encode(encoding), typed=False)
        back = [list(reading.frame.columns), *reading.frame.astype(object).to_numpy().tolist()]
        assert back == table or reading.report, text


@pytest.mark.parametrize("seed", [0, *map(slowly, range(1, 6))])
def test_mutations_and_noise_are_a_table_or_a_refusal(seed: int) -> None:
    rng = random.Random(seed)
    german = PLAIN.replace(",", ";").replace(".", ",")
    sources = [PLAIN.encode(), german.encode("utf-16"), gzip.compress(PLAIN.encode()),
               "名,值\n甲,1\n乙,2\n".encode("gb18030"), b"@relation r\n@attribute a numeric\n@data\n1\n2\n",
               b"a   b\n10  2\n4   50\n"]  # fmt: skip
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for kind in ("parquet", "xlsx"):
        buffer = io.BytesIO()
        frame.to_parquet(buffer) if kind == "parquet" else frame.to_excel(buffer, index=False)
        sources.append(buffer.getvalue())
    for _ in range(40):
        data = bytearray(rng.choice(sources))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            change = rng.random()
            if change < 0.4:
                data[at] = rng.choice(b"\x00\r\n\",;\t\\'\xff\x801-") if rng.random() < 0.7 else rng.randrange(256)
            elif change < 0.7:
                del data[at : at + rng.randint(1, 20)]
            else:
                data[at:at] = data[at : at + rng.randint(1, 40)] * rng.randint(1, 5)
            data = data or bytearray(b"x")
        try:
            reading = read_table(bytes(data))
        except ReadError:
            continue
        assert len(reading.frame) > 0
        assert reading.frame.columns.is_unique
