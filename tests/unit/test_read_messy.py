"""What people and programs write otherwise: half a header, numbers that no float64 is, months in other languages, and
what a container holds that a CSV file does not. Each is read as a careful person would, and said."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table import grid, header, parquet_arff
from bayes_engine.table.convert import convert_column
from bayes_engine.table.dates import Dates, dates
from bayes_engine.table.numbers import is_number
from bayes_engine.table.read import Reading, read_table
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.styles import Style, read_mixed, read_numbers
from bayes_engine.workbench.incoming import file_blocks
from bayes_engine.workbench.incoming.file_blocks import CellBlocks, open_cells
from bayes_engine.workbench.incoming.file_tally import FileTally
from bayes_engine.workbench.incoming.second_table import Reception
from tests.conftest import crossed, one_in, slowly
from tests.unit.test_inferred_reading import offers, said, taken
from tests.unit.test_read_hostile import book, packed

ROWS = "".join(f"{150 + 1.5 * i},{50 + i},{['Oslo', 'Rome', 'Lima'][i % 3]}\n" for i in range(9))


# ---- half a header ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("header", "names"), [
    ("height,,", ["height", "column_2", "column_3"]), (",weight,", ["column_1", "weight", "column_3"]),
    ("# by hand\nheight,,", ["height", "column_2", "column_3"]), ("height,,city", ["height", "column_2", "city"]),
])  # fmt: skip
def test_one_name_beside_blanks_is_a_header(header: str, names: list[str]) -> None:
    reading = read_table(f"{header}\n{ROWS}".encode())
    assert list(reading.frame) == names
    assert reading.frame.iloc[:, 0].tolist()[0] == 150
    assert "column 2 has no name" in said(reading) or "column 1 has no name" in said(reading)
    assert "no header" not in said(reading)
    assert reading.recipe.header == header.count("\n") + 1


def test_a_lone_name_may_be_a_title() -> None:
    data = f"height,,\n{ROWS}".encode()
    assert "line 1 names only one column ('height')" in said(read_table(data))
    [title] = offers(data, "header")
    assert list(taken(data, title).frame.iloc[0]) == [150, 50, "Oslo"]
    assert len(taken(data, title).frame) == 9


@pytest.mark.slow
@pytest.mark.parametrize("top", ["Report of the year 2024,,\n", "Report,,\nby hand,,\n", "Report\n\n", ",,\n",
                                 "2024,,\n", "Report,,\n\n"])  # fmt: skip
def test_a_title_above_rows_is_no_header(top: str) -> None:
    reading = read_table((top + ROWS).encode())
    assert "no header was found" in said(reading)
    assert reading.frame.shape == (9, 3)
    named = read_table((top + "height,weight,city\n" + ROWS).encode())
    assert list(named.frame) == ["height", "weight", "city"]


def test_days_above_numbers_are_names() -> None:
    reading = read_table(b"name,2021-01-01,2021-02-01\nx,1,2\ny,3,4\n")
    assert list(reading.frame) == ["name", "2021-01-01", "2021-02-01"]
    assert read_table(b"2021-01-01,5\n2021-01-02,6\n2021-01-03,7\n").recipe.header is False


# ---- numbers that no float64 is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [3, slowly(6000)])
@pytest.mark.parametrize(("cell", "value", "what"), [
    ("1e-400", 0, "too near to 0 to be kept, read as 0: {n}, the first in row 1 ('1e-400')"),
    ("-3E-999", 0, "too near to 0 to be kept, read as 0: {n}, the first in row 1 ('-3E-999')"),
    ("0." + "0" * 330 + "1", 0, "too near to 0 to be kept, read as 0: {n}, the first in row 1 ('0.000"),
    ("1e400", np.inf, "too large to be kept, read as infinite: {n}, the first in row 1 ('1e400')"),
    ("9007199254740993.5", 9007199254740994, "rounded: {n}, the first in row 1 ('9007199254740993.5' is read as 9"),
])  # fmt: skip
def test_a_number_that_is_changed_is_said(cell: str, value: float, what: str, rows: int) -> None:
    reading = read_table(("x,y\n" + f"{cell},u\n2.5,v\n" * rows).encode())
    assert reading.frame["x"][0] == value
    assert what.format(n=rows) in said(reading)


@pytest.mark.parametrize("cells", [["0", "2.5"], ["0e-400", "2.5"], ["0.000", "1e5"], ["inf", "1.5"], ["1e22", "1.5"],
                                   ["9007199254740992.0", "2.5"], ["-0", "1"], ["1e-300", "0"]])  # fmt: skip
def test_a_number_that_is_kept_is_not(cells: list[str]) -> None:
    for times in (2, 6000):
        found = convert_column(pd.Series(cells * times, name="x"))
        assert not any("the first in row" in str(n.message) for n in found.notes), cells


def test_grouped_and_wanted_numbers_say_it_too() -> None:
    grouped = read_table(b"x;y\n9,007,199,254,740,993;u\n2,345,678;v\n")
    assert "rounded: 1, the first in row 1 ('9,007,199,254,740,993' is read as 9007199254740992)" in said(grouped)
    wanted = read_table(b"x,y\n12345678901234567,u\n5,v\n", types={"x": "number"})
    assert "rounded: 1, the first in row 1" in said(wanted)


def test_rows_to_classify_count_them_over_all_blocks() -> None:
    cells = CellBlocks.of(pd.DataFrame({"size": ["1", "1e-400", "big", "5e-999", "3", "9007199254740993.5"]}))
    reception = Reception(cells, Schema((Variable("size", "continuous"),)), Variable("y", "binary", ("n", "y")))
    for rows in (1, 2, 6):
        found = assembled(reception, rows)
        assert "read as 0: 2, the first in row 2 ('1e-400')" in found
        assert "rounded: 1, the first in row 6" in found


def assembled(reception: Reception, rows: int) -> str:
    found = FileTally()
    for block in reception.cells.blocks(rows):
        reception.take(block, found)
    return "\n".join(str(n.message) for n in reception.notes(found))


def test_infinity_as_programs_write_it() -> None:
    reading = read_table("x;y\n1.#INF;u\n-∞;v\n−inf;u\n-1.#IND;v\n2.5;u\n".encode())
    np.testing.assert_array_equal(reading.frame["x"], [np.inf, -np.inf, -np.inf, np.nan, 2.5])
    assert "infinite numbers" in said(reading)
    assert "cells read as missing: 1 ('-1.#IND')" in said(reading)


# ---- numbers that are names, and numbers as word processors write them -----------------------------------------------


def column(cells: list[str], **told: Any) -> Reading:
    rows = "".join(f"{cell};{'uv'[i % 2]}\n" for i, cell in enumerate(cells))
    return read_table(f"x;y\n{rows}".encode(), **told)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [
    ["+15551234567", "+15551234568", "+15551234567"], ["+1 (555) 123-4567", "+49 30 123456", "+44 20 7946 0958"],
    ["+49 301 234 567", "", "+49 301 234 568"], ["+15551234567", "5551234567", "555 123 4567"],
    ["+15551234567"] * 9 + ["unknown"], ["+15551234567"] * 9 + ["0"], ["+15551234567", "+15551234568"] * 3000,
])  # fmt: skip
def test_telephone_numbers_stay_text_and_say_so(cells: list[str]) -> None:
    reading = column(cells)
    assert reading.frame["x"].fillna("").tolist() == cells
    assert f"column 'x' stays text, because '{cells[0]}' and the like are telephone numbers" in said(reading)
    chosen = column(cells, types={"x": "number"}).frame["x"]
    assert chosen.dtype == float and chosen.tolist()[-2:] != cells[-2:]


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "values"), [
    (["+3", "-2.5", "+0.12"], [3, -2.5, 0.12]), (["+12345678", "-12345678"], [12345678, -12345678]),
    (["+12345678.50", "+22345678.25"], [12345678.5, 22345678.25]), (["+3", "+4"], [3, 4]),
])  # fmt: skip
def test_signed_numbers_are_numbers(cells: list[str], values: list[float]) -> None:
    assert column(cells).frame["x"].tolist() == values
    assert "plus" not in said(column(cells))


def test_a_plus_that_may_be_a_telephone_number_is_told_where_it_is_left_out() -> None:
    reading = column(["+15551234567", "12", "7"])
    assert reading.frame["x"].tolist() == [15551234567, 12, 7]
    assert "'+15551234567' is read as a number, without its plus sign" in said(reading)


def test_telephone_numbers_to_classify_are_read_as_the_column_was() -> None:
    second = pd.DataFrame({"x": ["+15551234567", "15551234567"]})
    for read_as, expected in (("auto", ["+15551234567", "15551234567"]), ("number", [15551234567, 15551234567])):
        schema = column(["+15551234567", "+15551234568"] * 6, types={"x": read_as}).schema
        asked = Schema(tuple(v for v in schema if v.role == "feature"))
        reception = Reception(CellBlocks.of(second), asked, Variable("y", "binary", ("u", "v")))
        assert reception.take(next(iter(reception.cells.blocks(9))), FileTally()).frame["x"].tolist() == expected


def test_codes_beside_a_word_for_missing_say_both() -> None:
    reading = column(["007", "NA", "012"])
    assert reading.frame["x"].tolist() == ["007", "NA", "012"]
    assert "stays text, because '007'" in said(reading) and "'NA' is kept as a value" in said(reading)
    assert "'NA', 'None' are kept as values; if they mean missing" in said(column(["NA", "None", "b"]))


@pytest.mark.parametrize(("cells", "values"), [
    (["–5", "–3.2", "4"], [-5, -3.2, 4]), (["－５", "４", "1"], [-5, 4, 1]), (["‑5", "‐2", "1"], [-5, -2, 1]),
    (["¥1,000", "￥2,000", "¥5"], [1000, 2000, 5]),
])  # fmt: skip
def test_every_minus_and_yen_is_one(cells: list[str], values: list[float]) -> None:
    reading = column(cells)
    assert reading.frame["x"].tolist() == values
    assert f"'{cells[0]}' is read as {values[0]:g}" in said(reading)


def test_no_sentence_speaks_of_what_is_not_there() -> None:
    assert "differ only in case" not in said(column(["nan", "a", "b", "NaN"]))  # they are missing, and told as that
    certain, doubtful = column(["£1,100,000", "£2"]), column(["1,100", "2,200"])
    assert "decimal=','" not in said(certain) and "decimal=','" in said(doubtful)
    assert "spells yes and no in 3 ways" in said(column(["ja", "nein", "oui"]))


def test_numbers_that_are_wanted_tell_the_signs_that_are_left_out() -> None:
    for cells, signs in ((["$5", "€6"], "'$', '€'"), (["12 %", "7.5"], "'%'"), (["5 kg", "6 kg"], "'kg'")):
        assert f"column 'x': left out beside the numbers: {signs}" in said(column(cells, types={"x": "number"}))
    assert "left out" not in said(column(["5", "6"], types={"x": "number"}))


def test_a_code_that_is_a_number_is_told() -> None:
    for cells in (["1E5", "2E3", "5"], ["1E5", "2E3", "5"] * 3000):
        reading = column(cells)
        assert reading.frame["x"].tolist()[:3] == [100000, 2000, 5]
        assert "'1E5' is read as 100000; if it is a code, keep the column as text" in said(reading)
    assert "a code" not in said(column(["1e+05", "1.5e3", "5"]))


def test_percents_are_explained_by_a_cell_of_the_column() -> None:
    assert "'7.5 %' is read as 7.5, not as 0.075" in said(column(["7.5 %", "9 %"]))


@pytest.mark.parametrize(("cells", "values"), [
    (["\u200b5", "6", "\u20607"], [5, 6, 7]), (["\u200e5,5", "\u200e-6", "7"], [5.5, -6, 7]),
    (["\u200e1.234", "\u200e2.345", "\u200e3.456"], [1.234, 2.345, 3.456]),
])  # fmt: skip
def test_invisible_characters_cost_no_number_and_are_told(cells: list[str], values: list[float]) -> None:
    reading = column(cells)
    assert reading.frame["x"].tolist() == values
    n = sum(not cell.isascii() for cell in cells)
    assert f"column 'x': cells with invisible characters, which are left out: {n}, the first in row 1" in said(reading)
    assert column(cells, types={"x": "text"}).frame["x"].tolist() == cells
    assert column(["\u200ba", "b"]).frame["x"].tolist() == ["\u200ba", "b"]
    numbers, unreadable, _ = read_mixed(pd.Series(["\u200b5", "word", "\u200b"]), Style(), None)
    assert numbers.tolist()[0] == 5 and unreadable.tolist() == [False, True, False]


# ---- days ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [["2024-01-05", "NaT", "2024-02-16"], ["5. 1. 2024", "", "16. 2. 2024"],
                                   ["２０２４-０１-０５", "NA", "2024-02-16"]])  # fmt: skip
def test_more_ways_to_write_a_day(cells: list[str]) -> None:
    days = column(cells).frame["x"]
    assert days.tolist()[::2] == [pd.Timestamp("2024-01-05"), pd.Timestamp("2024-02-16")]
    assert days.isna().tolist() == [False, True, False]


def test_days_without_marks_are_days_where_that_is_said() -> None:
    cells = ["20240105", "20240216"]
    assert column(cells).frame["x"].tolist() == [20240105, 20240216]
    days = column(cells, types={"x": "date"}).frame["x"]
    assert days.tolist() == [pd.Timestamp("2024-01-05"), pd.Timestamp("2024-02-16")]
    wrong = column(["5", "6"], types={"x": "date"})
    assert wrong.frame["x"].tolist() == ["5", "6"]
    assert said(wrong).startswith("column 'x' holds '5', which is no date, so it stays text")
    assert "different ways" not in said(wrong)


def test_times_of_other_zones_and_finer_than_kept_are_told() -> None:
    zones = column(["2024-01-05T10:00:00Z", "2024-01-06T10:00:00+02:00"])
    assert zones.frame["x"].tolist()[1] == pd.Timestamp("2024-01-06 08:00")
    assert "'2024-01-06T10:00:00+02:00' is 2024-01-06 08:00:00" in said(zones)
    assert "times of other zones are counted back to UTC" in said(zones)
    assert "zones" not in said(column(["2024-01-05T10:00:00Z", "2024-01-06T10:00:00+00:00"]))
    fine = column(["2024-01-05 10:00:00", "2024-01-05 10:00:00.123456789"])
    assert "'2024-01-05 10:00:00.123456789' is 2024-01-05 10:00:00.123456" in said(fine)


def test_a_day_that_is_none_can_be_taken_as_missing() -> None:
    data = b"x;y\n2024-02-30;u\n2024-01-05;v\n2024-01-06;u\n"
    [absent] = offers(data, "missing")
    assert taken(data, absent).frame["x"].isna().tolist() == [True, False, False]


# ---- long whole numbers, whatever they came in -----------------------------------------------------------------------

LONG = [9007199254740993, 5, 6]


def parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def test_long_whole_numbers_stay_text_in_every_container() -> None:
    column = "".join(f"{n},u\n" for n in LONG)
    declared = "@relation r\n@attribute n numeric\n@attribute y {u}\n@data\n"
    files = [f"n,y\n{column}".encode(), f"{declared}{column}".encode(),
             parquet(pd.DataFrame({"n": LONG, "y": "u"})),
             parquet(pd.DataFrame({"n": pd.array(LONG, "Int64"), "y": "u"}, index=["a", "b", "c"]))]  # fmt: skip
    for data in files:
        reading = read_table(data)
        assert reading.frame["n"].tolist() == [str(n) for n in LONG]
        assert "column 'n' stays text, because '9007199254740993' as a number would lose digits" in said(reading)
        [number] = [o for o in offers(data, "types") if str(o.label) == "Read as numbers"]
        assert taken(data, number).frame["n"].tolist() == [9007199254740992.0, 5, 6]
        assert "rounded: 1" in said(taken(data, number))


def test_parquet_keeps_the_digits_beside_missing_cells() -> None:
    out = io.BytesIO()
    columns = {"n": pa.array([LONG[0], None, 6]), "u": pa.array([2**64 - 1, 1, None], pa.uint64()),
               "k": pa.array([1, None, 3])}  # fmt: skip
    pq.write_table(pa.table(columns), out)
    frame = read_table(out.getvalue()).frame
    assert frame["n"].tolist()[::2] == ["9007199254740993", "6"]
    assert frame["u"].tolist()[0] == "18446744073709551615"
    assert frame["k"].dtype == float
    assert read_table(out.getvalue(), typed=False).frame["n"].tolist() == ["9007199254740993", "", "6"]


def test_a_spreadsheet_says_that_it_keeps_fewer_digits() -> None:
    made = book()
    made.active["A4"] = 1234567890123456789
    reading = read_table(packed(made))
    assert "numbers of more digits than a spreadsheet keeps: 1, the first in line 4" in said(reading)
    assert "spreadsheet keeps" not in said(read_table(packed(book())))


# ---- what else a container holds -------------------------------------------------------------------------------------


def test_types_of_parquet_and_arff_can_be_had_otherwise() -> None:
    data = parquet(pd.DataFrame({"code": [7, 8, 9], "x": ["1", "2", "3"], "f": [1.5, np.inf, 2]}))
    reading = read_table(data, types={"code": "text", "x": "number"})
    assert reading.frame["code"].tolist() == ["7", "8", "9"]
    assert reading.frame["x"].tolist() == [1, 2, 3]
    assert reading.recipe.types == ((0, "text"), (1, "number"))
    assert "column 'f' holds infinite numbers" in said(reading)
    arff = b"@relation r\n@attribute a numeric\n@attribute b {u,v}\n@data\n1e-400,u\n012,v\n"
    assert "read as 0: 1" in said(read_table(arff))
    assert read_table(arff, types={"a": "text"}).frame["a"].tolist() == ["0", "12"]


def test_times_of_a_zone_and_merged_cells_are_said() -> None:
    when = pd.to_datetime(["2024-01-05 01:00", None, "2024-07-05 02:00"]).tz_localize("Europe/Berlin")
    zoned = read_table(parquet(pd.DataFrame({"t": when, "x": [1, 2, 3]})))
    assert zoned.frame["t"].tolist()[::2] == [pd.Timestamp("2024-01-05"), pd.Timestamp("2024-07-05")]
    assert "times of the zone Europe/Berlin are counted back to UTC" in said(zoned)
    made = openpyxl.Workbook()
    for row in [["region", "a"], ["North", 1.5], [None, 2.5], ["South", 3.5], ["East", 4.5]]:
        made.active.append(row)
    made.active.merge_cells("A2:A3")
    assert "merged over several rows: 1" in said(read_table(packed(made)))
    made.active.unmerge_cells("A2:A3")
    made.active.merge_cells("A1:B1")
    assert "merged" not in said(read_table(packed(made)))


# ---- months ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("cells", [
    ["3. März 2021", "14. Mai 2020", "5. Dez. 2020"], ["3-Mrz-21", "14-Mai-20", "05-Dez-20"],
    ["3 mars 2021", "14 mai 2020", "5 déc. 2020"], ["3 mars 2021", "14 MAI 2020", "5 de\u0301cembre 2020"],
    ["3 de marzo de 2021", "14 de mayo de 2020", "5 de diciembre de 2020"],
    ["3 marzo 2021", "14 maggio 2020", "5 dic 2020"], ["3 mrt 2021", "14 mei 2020", "5 december 2020"],
    ["3 de março de 2021", "14 de maio de 2020", "5 dez 2020"],
    ["March 3rd, 2021", "May 14th, 2020", "Dec 5, 2020"], ["3rd March 2021", "14th May 2020", "5th Dec 2020"],
])  # fmt: skip
def test_months_are_read_in_seven_languages(cells: list[str]) -> None:
    reading = read_table(("when;y\n" + "".join(f"{c};u\n" for c in cells)).encode())
    assert reading.frame["when"].dt.strftime("%Y-%m-%d").tolist() == ["2021-03-03", "2020-05-14", "2020-12-05"]
    assert f"dates ('{cells[0]}' is 2021-03-03)" in said(reading)
    data = ("when;y\n" + "".join(f"{c};u\n" for c in cells)).encode()
    assert taken(data, offers(data, "types")[0]).frame["when"].tolist() == cells


def test_months_that_disagree_stay_text() -> None:
    assert dates(["3 mars 2021", "4 März 2020"]) == ""
    assert dates(["31 février 2021", "2 mars 2020"]) == "31 février 2021"
    assert dates(["3 mars 2021", "4 Foo 2020"]) == "4 Foo 2020"
    assert dates(["12 items 50", "5 boxes 12"]) is None
    assert not isinstance(dates(["3 jui 2021"]), Dates)  # juin or juillet
    assert isinstance(dates(["1er juin 2021"]), Dates)


# ---- wide tables -----------------------------------------------------------------------------------------------------


def test_the_short_way_to_a_number_is_the_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = ("1", "-2.5", "+.5", "7.", "1e5", "-1E-3", "007", ".", "-", "1.2.3", "e5", "１2", "1e", "+-1", "")
    cells = [cell + sign for cell in bare for sign in ("", " ", "%")]
    short = [is_number(c) for c in cells]
    monkeypatch.setattr("bayes_engine.table.numbers._PLAIN", re.compile("(?!)"))
    assert [is_number(c) for c in cells] == short


@pytest.mark.slow
def test_a_wide_table_is_judged_by_its_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(header, "is_number", lambda cell: looked.append(cell) or is_number(cell))
    monkeypatch.setattr(grid, "_SEEN", 2000)
    data = (",".join(f"f{j}" for j in range(100)) + "\n" + (",".join(["1.5"] * 100) + "\n") * 150).encode()
    reading = read_table(data)
    assert (reading.frame.shape, reading.recipe.header) == ((150, 100), 1)
    assert len(looked) < 100 * 50


def test_a_first_sheet_of_notes_is_not_the_table() -> None:
    book, kept = openpyxl.Workbook(), io.BytesIO()
    book.active.title = "notes"
    book.active["A1"] = "Made by hand, ask me first"
    sheet = book.create_sheet("measured")
    for row in [("size", "kind"), (1, "a"), (2, "b")]:
        sheet.append(row)
    book.save(kept)
    reading = read_table(kept.getvalue(), name="t.xlsx")
    assert reading.frame.columns.tolist() == ["size", "kind"] and len(reading.frame) == 2
    assert "'measured' was read" in said(reading)


def test_arff_says_of_names_given_twice_and_of_dates_that_are_none() -> None:
    heads = b"@relation r\n@attribute a numeric\n@attribute a {u,v}\n@attribute d date\n"
    twice = heads + b"@data\n1,u,2024-01-05\n2,v,soon\n"
    reading = read_table(twice, name="t.arff")
    assert len(set(reading.frame.columns)) == 3
    told = said(reading)
    assert "'a'" in told and "stays text" in told and "soon" in told


def test_an_arff_file_to_be_classified_keeps_its_cells_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_arff, "ROWS", 2)
    heads = b"@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute d date\n@data\n"
    text = heads + b"1.50,u,2024-01-05\n% a remark\n?,v,?\nmuch,w,soon\n1e3, 'u' ,2024-1-5 % behind it\n"
    whole = read_table(text, typed=False).frame
    assert whole.to_numpy().tolist() == [
        ["1.50", "u", "2024-01-05"], ["", "v", ""], ["much", "w", "soon"], ["1e3", "u", "2024-1-5"],
    ]  # fmt: skip
    with pytest.raises(ReadError, match="is declared numeric"):
        read_table(text)
    weighed = heads + b"1,u,?\n2,v,?\n3,u,?, {0.5}\n4,v,?\n"
    frame = read_table(weighed).frame
    assert frame["weight"].tolist() == [1.0, 1.0, 0.5, 1.0] and frame["a"].tolist() == [1, 2, 3, 4]
    assert read_table(weighed, typed=False).frame["weight"].tolist() == ["1", "1", "0.5", "1"]
    monkeypatch.setattr(file_blocks, "LEAST", 0)
    for file in (text, weighed, weighed.decode().encode("utf-16")):
        whole, cells = read_table(file, typed=False, name="t.arff"), open_cells(file, name="t.arff")
        pd.testing.assert_frame_equal(pd.concat(cells.blocks()), whole.frame)
        assert (cells.report, cells.recipe, cells.name) == (whole.report, whole.recipe, whole.name)


# ---- Chinese among English -------------------------------------------------------------------------------------------

ENGLISH = ["id,city,amount,note", *(f"{i},London,{7 * i % 901},paid on time" for i in range(300))]
CELLS = ("北京", "深圳", "张伟", "李娜", "违约", "正常", "王芳", "杭州", "客户，好。", "成都")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "place"), crossed([1, 2, 5, 10, 30, 100], ["{}", "London {}", "a{}b"]))
def test_a_few_cells_of_gb18030_among_english_ones_are_read_as_chinese(n: int, place: str) -> None:
    rows = ENGLISH.copy()
    for k in range(n):
        rows[3 * k + 1] = rows[3 * k + 1].replace("London", place.format(CELLS[k % len(CELLS)]))
    reading = read_table("\n".join(rows).encode("gb18030"))
    assert reading.frame["city"].tolist() == [row.split(",")[1] for row in rows[1:]]
    (guessed,) = (note for note in reading.report if "encoding" in note.message.template)
    assert reading.recipe.encoding == "gb18030" and any(offer.keyword == "encoding" for offer in guessed.offers)


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "cells"), [
    ("cp1252", ["Müller", "São Paulo", "Köln", "señor"]), ("cp1251", ["Москва", "нет", "Казань", "Пётр"]),
    ("euc-kr", ["서울", "부산", "아니오", "김철수"]), ("big5", ["臺北", "高雄", "陳先生", "是"]),
    ("shift_jis", ["東京", "大阪", "はい", "山田"]),
])  # fmt: skip
def test_other_encodings_among_english_are_no_chinese(encoding: str, cells: list[str]) -> None:
    rows = [row.replace("London", cells[k % len(cells)]) if k % 3 else row for k, row in enumerate(ENGLISH)]
    assert read_table("\n".join(rows).encode(encoding)).frame["city"].tolist() == [r.split(",")[1] for r in rows[1:]]


def test_utf_8_that_may_be_one_chinese_character_says_so() -> None:
    reading = read_table("id,sex\n1,x\n2,女\n".encode("gb18030"))
    assert next(o.value for n in reading.report for o in n.offers if o.keyword == "encoding") == "gb18030"
    for city in ("Zürich", "Zu\u0308rich"):
        assert not read_table(f"id,city\n1,x\n2,{city}\n".encode()).report


# ---- one file, two notations; what sums up; what looks alike ---------------------------------------------------------

THREE = [[str(20 + i), f"{i}.25", "xyz"[i % 3]] for i in range(12)]


def _lines(rows: list[list[str]], mark: str = ",") -> str:
    return "".join(mark.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("top", ["age;size;kind\n", "age\tsize\tkind\n", "age|size|kind\n"])
def test_names_with_another_delimiter_are_cut_there(top: str) -> None:
    reading = read_table((top + _lines(THREE)).encode())
    assert (list(reading.frame), len(reading.frame), reading.recipe.header) == (["age", "size", "kind"], 12, 1)
    assert "they are cut there" in said(reading)


@pytest.mark.parametrize("line", ["Report; by; hand\n", "a;b\n", 'one;"two;three"\n'])
def test_other_lines_are_not_cut_at_another_mark(line: str) -> None:
    reading = read_table((line + "\nage,size,kind\n" + _lines(THREE)).encode())
    assert (list(reading.frame), len(reading.frame)) == (["age", "size", "kind"], 12)
    assert "cut there" not in said(reading) and "above the table" in said(reading)


def test_a_break_within_a_cell_is_no_line_to_be_cut() -> None:
    rows = '1,"p\nq;r;s\nt",x\n' + _lines(THREE)
    reading = read_table(("age,size,kind\n" + rows).encode())
    assert reading.frame["size"].iloc[0] == "p\nq;r;s\nt" and "cut there" not in said(reading)


def test_a_long_file_is_cut_at_two_marks_as_a_short_one() -> None:
    data = ("age,size,kind\n" + _lines(THREE) + _lines(THREE, ";")).encode()
    blocks = open_cells(data)
    cells = pd.concat(list(blocks.blocks(7)), ignore_index=True)
    assert cells.to_numpy().tolist() == [*THREE, *THREE]
    assert any("cut there" in str(n.message) for n in blocks.report)


@pytest.mark.parametrize("foot", ["Total,66,1050.5\n", "Sum,66,1050.5\nMean,5.5,87.54\n", "Average,5.5,87.54\n"])
def test_rows_that_sum_up_are_left_out_where_every_cell_is_filled(foot: str) -> None:
    rows = "".join(f"city {i},{i},{i * 15.25 + 3.6667:.4f}\n" for i in range(12))
    reading = read_table(("city,n,x\n" + rows + foot).encode())
    assert len(reading.frame) == 12 and "left out as a footer" in said(reading)


def test_a_full_row_called_total_that_sums_up_nothing_is_told() -> None:
    rows = "".join(f"city {i},{i},{i * 2}\n" for i in range(12))
    reading = read_table(("city,n,x\n" + rows + "Total,660,132\n").encode())
    assert len(reading.frame) == 13 and "may sum up the rows above it; it is kept as a row" in said(reading)


def test_amounts_as_an_accountant_writes_them() -> None:
    reading = read_table(b"a\tb\n" + b"".join(b" $ (%d.50) \tx\n $ %d.25 \ty\n" % (i, i) for i in range(9)))
    assert reading.frame["a"].tolist()[2:4] == [-1.5, 1.25]


@pytest.mark.slow
def test_versions_are_told_in_tables_of_every_length() -> None:
    for rows in (60, 6_000, 200_000):
        data = b"v,y\n" + b"".join(b"1.%d,%s\n" % ((9, 10, 11)[i % 3], b"xy"[i % 2 : i % 2 + 1]) for i in range(rows))
        assert "'1.10' is read as 1.1; if it is a code" in said(read_table(data))
    assert said(read_table(b"v,y\n" + b"1.50,x\n1.10,y\n2.5,x\n1.25,y\n" * 9)).count("code") == 1
    assert "code" not in said(read_table(b"v,y\n" + b"1.5,x\n1.0,y\n2.25,x\n" * 9))


@pytest.mark.parametrize(("cells", "what"), [
    (("a-b", "a–b", "c"), "in a dash"), (("d'or", "d’or", "c"), "in an apostrophe"),
    (("A10", "A1O", "B"), "a digit that looks like a letter"),
])  # fmt: skip
def test_levels_that_differ_in_a_mark_are_told(cells: tuple[str, ...], what: str) -> None:
    reading = read_table("".join(["x,y\n", *(f"{i},{cells[i % 3]}\n" for i in range(30))]).encode())
    assert what in said(reading) and sorted(reading.schema["y"].levels) == sorted(cells)


def test_characters_that_were_lost_before_are_told() -> None:
    reading = read_table("ville,n\nOrl\ufffdans,1\nParis,2\n".encode())
    assert "1 characters are '\ufffd': what stood there was lost" in said(reading)


# ---- what stands in cells, as offices, laboratories and programs write it --------------------------------------------

MISSING = ["/", "...", "..", "…", ":", "---", "********", "#####", "nd", "n.d.", "n/d", "k.A.", "k. A.", "s.d.", "n.a.",
           "b.d.l.", ".a", "NAN", "Nan", "MISSING", "&nbsp;", "#NV", "#¡DIV/0!", "-nan(ind)", "н/д",
           "Err:502"]  # fmt: skip
NUMBERS = [str(20 + 1.5 * i) for i in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("mark", one_in(4, MISSING))
def test_a_mark_of_nothing_among_numbers_is_missing(mark: str) -> None:
    quoted = f'"{mark}"'
    reading = column([*NUMBERS, quoted, quoted])
    assert reading.frame["x"].dtype == float
    assert reading.frame["x"].isna().sum() == 2
    assert f"cells read as missing: 2 ('{mark}')" in said(reading)
    kept = column([*NUMBERS, quoted, quoted], types={"x": "text"})
    assert kept.frame["x"].notna().all()
    days = column([*(f"2024-01-{i:02}" for i in range(10, 20)), quoted])
    assert days.frame["x"].dtype.kind == "M" and days.frame["x"].isna().sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["nd", "...", "-", "/", "s.d.", "NA", "missing", "none"])
def test_a_mark_of_nothing_among_words_is_a_word(mark: str) -> None:
    for words in (["ny", "sd", "ok"], ["yes", "no", "1"]):
        reading = column([*words, mark] * 5)
        assert reading.frame["x"].tolist() == [*words, mark] * 5
    assert column([mark] * 5 + ["1 box"] * 5).frame["x"].notna().all()


@pytest.mark.parametrize(("cells", "values", "what"), [
    (["8.1129D+02", "1.5D-01"], [811.29, 0.15], "'8.1129D+02' is read as 811.29"),
    (["1.5D0", "2.D3"], [1.5, 2000], "is read as"), (["1.5*^3", "2.25*^-2"], [1500, 0.0225], "'1.5*^3' is read as"),
    (["٧٠٫٦", "١٬٢٣٤٫٥"], [70.6, 1234.5], "'٧٠٫٦' is read as 70.6"),
    (["61,185円", "5円"], [61185, 5], "currency sign '円'"), (["1 234,50 kr.", "5,00 kr"], [1234.5, 5], "sign 'kr.'"),
    (["3,5", "3.7", "4.1"], [3.5, 3.7, 4.1], "two ways ('3.7', '3,5'); each number is read with its own"),
    (["1,234,567", "3,5"], [1234567, 3.5], "two ways ('1,234,567', '3,5')"),
    (["٣٫٥", "3,5", "7"], [3.5, 3.5, 7], "two ways ('٣٫٥', '3,5')"),
    (["1.234,5", "1,234.5", "7"], [1234.5, 1234.5, 7], "decimal mark in two ways"),
    (["2024.03.01.", "2024.12.11."], ["2024-03-01", "2024-12-11"], "dates"),
    (["2024. 03. 01.", "2024. 12. 11."], ["2024-03-01", "2024-12-11"], "dates"),
    (["01.03.2024.", "11.12.2024."], ["2024-03-01", "2024-12-11"], "day, month, year"),
    (["01MAR2024", "11DEC2024"], ["2024-03-01", "2024-12-11"], "dates"),
    (["01MAR2024:10:20:30", "11DEC2024:00:00:00"], ["2024-03-01 10:20:30", "2024-12-11"], "dates"),
    (["2024-03-01-10.20.30.500000", "2024-12-11-00.00.00.000000"], ["2024-03-01 10:20:30.5", "2024-12-11"], "dates"),
    (["20240301T102030Z", "20241211T000000+0100"], ["2024-03-01 10:20:30", "2024-12-10 23:00"],
     "counted back to UTC"),
    (["1.3.2024 10.20", "11.12.2024 8.05"], ["2024-03-01 10:20", "2024-12-11 08:05"], "day, month, year"),
    (["2024-Mar-01", "2024-Dec-11"], ["2024-03-01", "2024-12-11"], "dates"),
    (["2024. március 1.", "2024. december 11."], ["2024-03-01", "2024-12-11"], "dates"),
    (["2024/03/01 1:05:12 AM GMT+2", "2024/12/11 2:05:12 PM GMT+2"], ["2024-03-01 01:05:12", "2024-12-11 14:05:12"],
     "all times are of the zone GMT+2; they stay as they are written"),
    (["2024/03/01 1:05:12 AM GMT+2", "2024/12/11 2:05:12 PM GMT+1"], ["2024-02-29 23:05:12", "2024-12-11 13:05:12"],
     "counted back to UTC"),
    (["Fri Mar  1 10:20:30 2024", "Wed Dec 11 00:00:00 2024"], ["2024-03-01 10:20:30", "2024-12-11"], "dates"),
    (["1/3/2567", "29/2/2567"], ["2024-03-01", "2024-02-29"], "those of the Buddhist era, 543 ahead"),
    (["3 rooms", "12 rooms"], [3, 12], "the unit 'rooms' is left out"),
    (["3,5 Zimmer", "12 Zimmer"], [3.5, 12], "the unit 'Zimmer' is left out"),
    (["4", "Sans réponse", "5"], [4, None, 5], "missing: 1 ('Sans réponse')"),
    (["0.4", "<LOD", "0.5"], [0.4, None, 0.5], "missing: 1 ('<LOD')"),
    (["0.4", "Not done", "0.5"], [0.4, None, 0.5], "missing: 1 ('Not done')"),
    (["0.4", "未知", "0.5"], [0.4, None, 0.5], "missing: 1 ('未知')"),
    (["2024-03-01 10:00 UTC", "2024-12-11 10:00 UTC"], ["2024-03-01 10:00", "2024-12-11 10:00"], "dates"),
    (["2024-03-01", "11.12.2024", "1 Mar 2024"], ["2024-03-01", "2024-12-11", "2024-03-01"],
     "in several ways ('2024-03-01', '11.12.2024')"),
    (["00.00.0000", "11.12.2024"], [None, "2024-12-11"], "missing: 1 ('00.00.0000')"),
    (["0000-00-00 00:00:00", "2024-12-11 10:00:00"], [None, "2024-12-11 10:00:00"], "missing: 1"),
])  # fmt: skip
def test_other_ways_to_write_numbers_and_days(cells: list[str], values: list[Any], what: str) -> None:
    reading = column(cells)
    read = reading.frame["x"]
    expected = [None if v is None else float(v) if read.dtype.kind in "if" else pd.Timestamp(v) for v in values]
    assert read.dtype.kind in "ifM"
    assert [a == b or (pd.isna(a) and pd.isna(b)) for a, b in zip(read, expected, strict=True)] == [True] * len(cells)
    assert what in said(reading)


@pytest.mark.parametrize(("cells", "what"), [
    (["3,5", "3.7", "1.234"], "in different ways ('1.234', '3,5', '3.7'), so it stays text; in 1 cells"),
    (["2024-03-01", "11/12/2024"], "writes its dates in different ways"),
    (["2024-03-01", "13/02/2024", "02/13/2024"], "writes its dates in different ways"),
    ([*NUMBERS, "<0.5", "> 100"], "'<0.5' is a limit: the number lies beyond it, and is not missing"),
    (["500 g", "1.2 kg", "750 g"], "different units ('500 g', '1.2 kg'), and stays text"),
    (["SEPT9", "TP53", "2-Sep", "1-Mar", "BRCA1"], "'1-Mar', '2-Sep' look like dates without a year"),
    (["0-9", "Oct-19", "20-29", "30-39"], "'Oct-19' look like dates without a year"),
    (["3. Mai", "4. Mai"], "holds days without a year ('3. Mai'), and stays text"),
    ([*NUMBERS, "±"], "holds numbers and text ('±')"), ([*NUMBERS, "x10^3"], "holds numbers and text ('x10^3')"),
    ([*NUMBERS, "~1"], "approximate or bear an error ('~1' may be 1)"),
    ([*map(str, range(20)), "spilt"], "holds numbers and text ('spilt'), so it stays text; if these mean missing"),
    ([*NUMBERS, "spilt", "lost"], "holds numbers and text ('lost', 'spilt'), so it stays text; if these mean missing"),
])  # fmt: skip
def test_what_cells_leave_open_is_said_and_they_stay(cells: list[str], what: str) -> None:
    reading = column(cells)
    assert reading.frame["x"].tolist() == cells
    assert what in said(reading)


def test_numbers_before_different_letters_are_codes_and_offer_nothing() -> None:
    cells = ["1234 AB", "2511 CV", "1017 CV"] * 4
    reading = column(cells)
    assert reading.frame["x"].tolist() == cells
    assert said(reading) == ""


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, slowly(600)])
@pytest.mark.parametrize(("marks", "told"), [
    (["-99", "-99"], "2 cells hold '-99', apart from all others (20 to 48.5)"), (["-9999.0", "-9999"], "hold '-9999'"),
    (["999"] * 3, "3 cells hold '999'"), (["-3.4028235e+38"] * 2, "hold '-3.4028235e+38'"),
    (["-99", "-98", "-97"], "3 cells hold '-99', '-98', '-97', apart"),
    (["66", "777", "999", "888"], "3 cells hold '999', '888', '777', apart"),
    (["-99"], ""), (["99", "99", "95", "91"], ""), ([str(x) for x in range(-99, 120, 9)] * 9, ""),
])  # fmt: skip
def test_a_number_that_stands_for_none_is_said_and_can_be_taken_as_missing(
    marks: list[str], told: str, rows: int
) -> None:
    cells = [*NUMBERS, *marks] if rows == 1 or len(marks) == 1 else ([*NUMBERS] * 9 + marks) * (rows // 9)
    data = ("x,y\n" + "".join(f"{cell},{'uv'[i % 2]}\n" for i, cell in enumerate(cells))).encode()
    reading = read_table(data)
    assert reading.frame["x"].tolist() == [float(c) for c in cells]
    assert (told.rpartition(" cells ")[2] if rows > 1 else told) in said(reading)
    assert bool(told) == ("apart from all others" in said(reading)) == bool(offers(data, "missing"))
    for absent in offers(data, "missing"):
        assert taken(data, absent).frame["x"].isna().sum() == len(cells) - sum(c in (*NUMBERS, "66") for c in cells)


@pytest.mark.parametrize(("name", "number", "day"), [
    ("Date", "45000", "2023-03-15"), ("start_date", "45000.5", "2023-03-15 12:00"),
    ("time", "45000", ""), ("created", "1700000000", "2023-11-14 22:13:20"), ("日期", "45000", "2023-03-15"),
    ("update_count", "45000", ""), ("size", "45000", ""), ("Date", "450", ""),
])  # fmt: skip
def test_numbers_that_count_days_can_be_read_so(name: str, number: str, day: str) -> None:
    data = (f"{name},y\n" + f"{number},u\n{float(number) + 2},v\n" * 9).encode()
    reading = read_table(data)
    assert reading.frame[name].dtype.kind in "if"
    assert (f"as a date it is {day[:10]}" in said(reading)) == bool(day)
    for as_dates in offers(data, "types") if day else ():
        assert taken(data, as_dates).frame[name][0] == pd.Timestamp(day)


def test_a_day_that_is_none_shows_no_point_of_a_number() -> None:
    assert column(["5 kr.", "00.00.0000", "0000-00-00"]).frame["x"].isna().tolist() == [False, True, True]


def test_null_among_words_is_missing_unless_the_column_is_kept_as_text() -> None:
    data = b"x;y\nred;u\nNULL;v\nblue;u\nred;v\n"
    reading = read_table(data)
    assert reading.frame["x"].isna().tolist() == [False, True, False, False]
    assert "column 'x': cells read as missing: 1 ('NULL')" in said(reading)
    assert read_table(data, types={"x": "text"}).frame["x"].tolist() == ["red", "NULL", "blue", "red"]
    assert column(["null", "Null", "b"]).frame["x"].tolist() == ["null", "Null", "b"]


def test_levels_that_differ_in_spaces_around_them_are_one() -> None:
    cells = ["male ", "male", "female", " female"] * 4
    reading = column(cells)
    assert reading.frame["x"].tolist() == ["male", "male", "female", "female"] * 4
    assert reading.schema["x"].levels == ("female", "male")
    assert "column 'x': the spaces around 8 cells are left out: 'male ' is 'male'" in said(reading)
    assert "differ only" not in said(reading)
    assert column(cells, types={"x": "text"}).frame["x"].tolist() == cells
    texts = [f"remark {i}" for i in range(9)] + ["remark 1 "]
    assert column(texts).frame["x"].tolist() == texts  # no levels


def test_a_number_chosen_as_missing_is_so_in_a_second_file() -> None:
    for cells in (["-99.0", "5", "big"], ["-99.00", "5", "4"]):
        values, unreadable, _notes = read_numbers(pd.Series(cells), Style(), ("-99",))
        assert np.isnan(values[0]) and values[1] == 5
        assert unreadable.tolist() == [False, False, cells[2] == "big"]


# ---- which rows and columns are the table ----------------------------------------------------------------------------

PLACES = [(f"Ort {k}", k * 3 + 5, (k * 7 % 31) + 0.5) for k in range(12)]
BODY = [f"{name},{n},{x}" for name, n, x in PLACES]
N, X = sum(n for _, n, _ in PLACES), sum(x for *_, x in PLACES)
BOX = (
    "+----+-----+\n| id | w   |\n+----+-----+\n" + "".join(f"| {k:>2} | {k}.5 |\n" for k in range(8)) + "+----+-----+\n"
)
LISTED = "".join(f"{k:>6} {'red' if k % 2 else 'blue':<8} {k / 4:>8}\n" for k in range(8, 28))
HEADS, RULE = f"{'ID':>6} {'COLOUR':<8} {'W':>8}\n", f"{'-' * 6} {'-' * 8} {'-' * 8}\n"
FOUR = "".join(f"Ort {k},{k},{k * 3},{k * 5},{k * 7}\n" for k in range(9))
GROUPED = ["Ort", "2022 m", "2022 w", "2023 m", "2023 w"]


def lines(*some: str, head: str = "place,n,x") -> str:
    return "\n".join([head, *some]) + "\n"


TABLES: dict[str, tuple[str, list[str], int, str]] = {
    **{
        f"{word} below": (lines(*BODY, f"{word},{N},{X}"), ["place", "n", "x"], 12, "left out as a footer")
        for word in (
            "Insgesamt",
            "RAZEM",
            "Összesen:",
            "ΣΥΝΟΛΟ",
            "Итого",
            "总计",
            "合計",
            "I alt",
            "Total general",
            "Total (12)",
            "** Summe **",
            "Ensemble",
            "",
        )
    },
    "other words beside": (lines(*BODY, f"Total Europe,{N},{X}"), ["place", "n", "x"], 12, "left out as a footer"),
    "rounded": (lines(*BODY, f"Summe,{N},{X + 1:.0f}"), ["place", "n", "x"], 12, "left out as a footer"),
    "means": (lines(*BODY, f"Mittelwert,{N / 12:.1f},{X / 12:.2f}", "SD,10.8,9.5"), ["place", "n", "x"], 12, "footer"),
    "total first": (lines(f"Insgesamt,{N},{X}", *BODY), ["place", "n", "x"], 12, "line 2 ('Insgesamt 258"),
    "a total over a footer": (
        lines(*BODY, f"Gesamt,{N},{X}", ",,", "Quelle: Amt,,"),
        ["place", "n", "x"],
        12,
        "footer",
    ),
    "subtotals": (
        lines(*BODY[:6], "Zwischensumme,75,77", *BODY[6:], f"Zwischensumme,{N - 75},{X - 77}", f"Summe,{N},{X}"),
        ["place", "n", "x"],
        12,
        "rows that sum up others between the rows: 2 (line 8, 15",
    ),
    "box of SQL": (BOX + "8 rows in set\n", ["id", "w"], 8, "lines drawn with '+----+-----+'"),
    "box of DuckDB": (
        "┌────┬─────┐\n│ id │  w  │\n├────┼─────┤\n"
        + "".join(f"│ {k:>2} │ {k}.5 │\n" for k in range(8))
        + "└────┴─────┘\n",
        ["id", "w"],
        8,
        "lines drawn",
    ),
    "SQL*Plus": (HEADS + RULE + LISTED + "\n20 rows selected.\n", ["ID", "COLOUR", "W"], 20, "'20 rows selected.'"),
    "sqlcmd": (
        lines("--,-----,-", *BODY) + "\n(12 rows affected)\n",
        ["place", "n", "x"],
        12,
        "drawn with '-- ----- -'",
    ),
    "pages": (
        (HEADS + RULE + LISTED[:250]) + "\n" + HEADS + RULE + LISTED[250:],
        ["ID", "COLOUR", "W"],
        20,
        "repeated",
    ),
    "titles over columns lined up": (
        "   The System        10:05 Friday, March 1   1\n\n" + HEADS + "\n" + LISTED,
        ["ID", "COLOUR", "W"],
        20,
        "lines above the table",
    ),
    "rows of reStructuredText": (
        "==  ======\nid  a word\n==  ======\n" + "".join(f"{k:>2}  so, so {k}\n" for k in range(9)) + "==  ======\n",
        ["id", "a word"],
        9,
        "lines drawn with '==  ======'",
    ),
    "a printed frame": (
        "       a    b\n" + "".join(f"r{k}  {k / 2:>4} {k:>4}\n" for k in range(9)),
        ["row", "a", "b"],
        9,
        "it is called 'row'",
    ),
    "lines of keys": (
        '!Title\t"S"\n!Sample\t"a"\t"b"\n!begin\n"ID"\t"G1"\t"G2"\n'
        + "".join(f'"{k}_at"\t{k / 2}\t{k / 4}\n' for k in range(9))
        + "!end\n",
        ["ID", "G1", "G2"],
        9,
        "comments between",
    ),
    "a sign before the names": (
        "##x=1\n#CHROM\tPOS\n" + "".join(f"1\t{k * k}\n" for k in range(9)),
        ["CHROM", "POS"],
        9,
        "'#'",
    ),
    "a comment of names": (
        "# a b\n" + "".join(f"{k / 7:.3f} {k / 3:.3f}\n" for k in range(9)),
        ["a", "b"],
        9,
        "the sign '#'",
    ),
    "a column called #": (
        '"Plot: pond 3"\n"#","Date Time, GMT+02:00","Temp, °C"\n'
        + "".join(f"{k},03/{k + 10}/24 01:00:00 PM,{k / 4}\n" for k in range(1, 12)),
        ["#", "Date Time, GMT+02:00", "Temp, °C"],
        11,
        "lines above the table",
    ),
    "names over names": (f"Ort,2022,,2023,\n,m,w,m,w\n{FOUR}", GROUPED, 9, "stand in lines 1, 2, and are put together"),
    "names twice": (f"Ort,2022,2022,2023,2023\nOrt,m,w,m,w\n{FOUR}", GROUPED, 9, "put together"),
    "names over names and units": (
        f"Ort,2022,,2023,\n,m,w,m,w\n,n,n,n,n\n{FOUR}",
        GROUPED,
        9,
        "units or a second header",
    ),
    "names in three lines": (
        f"Ort,Zahl,,,\n,2022,,2023,\n,m,w,m,w\n{FOUR}",
        ["Ort", *(f"Zahl {name}" for name in GROUPED[1:])],
        9,
        "stand in lines 1, 2, 3",
    ),
    "choices under questions": (
        "id,Which?,,Age?\n,Excel,R,Open\n" + "".join(f"{k},{'Excel' if k % 2 else ''},R,{k + 20}\n" for k in range(9)),
        ["id", "Which? Excel", "Which? R", "Age? Open"],
        9,
        "put together",
    ),
    "titles again": (f"Report 7\n{lines(*BODY[:6])}Report 7\n{lines(*BODY[6:])}", ["place", "n", "x"], 12, "repeated"),
    "the end": (lines(*BODY, "END"), ["place", "n", "x"], 12, "footer"),
    "footnotes": (lines(*BODY, "1) estimated", "² revised"), ["place", "n", "x"], 12, "footer"),
    "a backslash": (lines(*BODY, r"a\, b,1,2", r"c\,d,3,4"), ["place", "n", "x"], 14, "a backslash before a delimiter"),
    "sentences": (lines(*BODY, "z,1,well, so, so", "y,2,good, so"), ["place", "n", "x"], 14, "more of the last cell"),
    "LaTeX": (
        "\\begin{tabular}{lr}\n\\toprule\nname & x \\\\ \\midrule\n"
        + "".join(f"A \\& {k} & {k} \\\\[2pt]\n" for k in range(9))
        + "\\bottomrule\n\\end{tabular}\n",
        ["name", "x"],
        9,
        "the file is LaTeX",
    ),
}
FIRST = {"LaTeX", "SQL*Plus", "a comment of names"}
"""Read by default besides every other one: what reads them reads no other."""
ROWS_ALL: dict[str, tuple[str, int]] = {
    "a shop called Total": (lines(*BODY[:5], "Total,7,3.5", *BODY[5:], "Summe,9,4.5", "x,1,2"), 15),
    "levels": (lines(*(f"{'Summe' if k % 3 else 'Mittel'},{k},{k * k % 7}" for k in range(12))), 12),
    "a person called Max": (lines(*BODY, "Max,,3.5"), 13),
    "a sum that is none": (lines(*BODY, f",{N},{X + 1}"), 13),
    "one of few": (lines(*(f"a{k},{int(k == 3)},0" for k in range(12)), ",1,0"), 13),
    "a word beside": (lines(*BODY, f",{N},b"), 13),
    "dashes in a column of words": (lines(*(f"a{k},{'---' if k % 3 else 'ok'},{k}" for k in range(12))), 12),
    "one column of dashes": (lines(*["a -- b", "---", "word", "-----"] * 4, head="text"), 16),
    "a row of missing cells": (lines(*BODY[:6], "-,-,-", *BODY[6:]), 13),
    "a number beyond": (lines(*BODY, "z,1,2, 3"), 13),
}


@pytest.mark.parametrize(
    "name", [slowly(name) if i % 2 and name not in FIRST else name for i, name in enumerate(TABLES)]
)
def test_what_is_none_of_the_table_is_left_out_and_said(name: str) -> None:
    text, names, n, why = TABLES[name]
    reading = read_table(text.encode())
    assert (list(reading.frame), len(reading.frame)) == (names, n)
    assert why in said(reading)


@pytest.mark.parametrize("name", ROWS_ALL)
def test_what_only_looks_so_is_a_row(name: str) -> None:
    text, n = ROWS_ALL[name]
    assert len(read_table(text.encode()).frame) == n


def test_merged_and_hidden_cells_of_a_sheet_are_rows_and_said() -> None:
    made = openpyxl.Workbook()
    for row in [["kind", "n", "secret"], *([f"K{k}" if k % 3 == 0 else None, k, k * k] for k in range(12))]:
        made.active.append(row)
    for k in range(2, 14, 3):
        made.active.merge_cells(f"A{k}:A{k + 2}")
    made.active.row_dimensions[4].hidden = made.active.row_dimensions[5].hidden = True
    made.active.column_dimensions["C"].hidden = True
    reading = read_table(packed(made))
    assert reading.frame["kind"].tolist() == [f"K{k - k % 3}" for k in range(12)]
    assert "hidden rows: 2, and hidden columns: 1" in said(reading)
    assert "merged over several rows: 4" in said(reading)


@pytest.mark.parametrize(("text", "why"), [
    ("<html><body><table>\n<tr><th>a</th></tr></table></body></html>", "a web page (HTML) with a table in it"),
    ('<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>', "a spreadsheet in XML"),
])  # fmt: skip
def test_what_is_called_xls_and_is_none_is_told(text: str, why: str) -> None:
    with pytest.raises(ReadError, match=re.escape(why)):
        read_table(text.encode())


# ---- what one column, or the header, says of the others --------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 20_000])
def test_a_sign_that_is_missing_among_numbers_is_so_among_words(rows: int) -> None:
    data = ("size,site,y\n" + "3.5,Oslo,u\n-,-,v\n2.5,Rome,u\n1.5,Bonn,v\n" * rows).encode()
    reading = read_table(data)
    assert reading.frame["site"][:4].fillna("").tolist() == ["Oslo", "", "Rome", "Bonn"]
    assert reading.schema["site"].levels == ("Bonn", "Oslo", "Rome")
    assert f"column 'site': cells read as missing: {rows} ('-')" in said(reading)
    assert "kept as a value" not in said(reading)
    (kept,) = [o.value for n in reading.report if n.column == "site" for o in n.offers if o.keyword == "types"]
    assert read_table(data, types=kept).frame["site"][1] == "-"


@pytest.mark.parametrize("cells", [
    ("3.5,+", "-,-", "2.5,+", "1.5,++"), ("3.5,x", "-,-", "2.5,x", "1.5,x"), ("3.5,a", "4,-", "2.5,b", "1.5,c"),
])  # fmt: skip
def test_a_sign_that_is_one_of_a_pair_or_stands_among_words_alone_is_a_value(cells: tuple[str, ...]) -> None:
    reading = read_table(("size,found,y\n" + "".join(f"{c},{'uv'[i % 2]}\n" for i, c in enumerate(cells * 3))).encode())
    assert reading.frame["found"][1] == "-"
    assert "'-' is kept as a value" in said(reading)


def test_a_sign_in_a_second_file_is_missing_unless_it_is_a_level() -> None:
    for levels, code in (("Bonn", "Oslo"), None), (("-", "Oslo"), "-"):
        cells = CellBlocks.of(pd.DataFrame({"site": ["Oslo", "-"]}))
        reception = Reception(cells, Schema((Variable("site", "binary", levels),)), Variable("y", "binary", ("n", "y")))
        (block,) = reception.blocks(2)
        assert block.frame["site"].astype(object).where(block.frame["site"].notna(), None).tolist() == ["Oslo", code]


def test_a_repeated_header_below_cells_of_several_lines_begins_no_second_table() -> None:
    rows = [f'{"OR"[i % 2]}slo\t{i}.5\t"two\nlines"\t{"uv"[i % 3 == 0]}\t\n' for i in range(18)]
    names = "city\tsize\tremark\ty\t\n"
    reading = read_table("".join([names, *rows[:9], names, *rows[9:]]).encode())
    assert reading.frame.shape == (18, 4)
    assert "the header is repeated on line 20" in said(reading)
    words = 'Oslo,"two\nlines",u\nRome,far,v\n'
    table = read_table(("city,size,y\n" + words * 4 + "Bonn,1,w\n" + "Oslo,3,u\n" * 9).encode())
    assert len(table.frame) == 18


def test_a_class_of_one_value_is_said() -> None:
    reading = read_table(b"x,y\n" + b"1.5,good\n2.5,good\n" * 6)
    assert "column 'y', which would be the class, has one value in every row; choose another target" in said(reading)


@pytest.mark.parametrize("cell", ["1.234,50", "8 034.14", "8'034.14"])
def test_separated_thousands_are_said(cell: str) -> None:
    assert "thousands" in said(read_table(f"x;y\n{cell};u\n{cell};v\n9.5;u\n".replace("9.5", cell).encode()))
