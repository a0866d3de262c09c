"""Files as strangers have them, each with what is to come out of it, stated before it was read: the names and the first
row of the table, how many rows, and words of what is said."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import pytest

from bayes_engine.table.read import read_table


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


FILES = {
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
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_read_as_stated(case: str) -> None:
    data, names, first, rows, words = FILES[case]
    reading = read_table(data)
    assert list(reading.frame) == names
    assert [None if pd.isna(cell) else cell for cell in reading.frame.iloc[0]] == first
    assert len(reading.frame) == rows
    assert words in "\n".join(str(n.message) for n in reading.report)


ROWS = {
    "a first row that lacks a number": lines("id,n,a", ",3,yes", rows="{i},{i},{a}"),
    "a first row of rare words": lines("id,n,a,b", "7,,maybe,never", rows="{i},{i},{a},{a}"),
    "a code of words above years": lines("x,y", "unknown,3", rows="19{i:02},{i}"),
    "a number in one of two columns of one name": lines("id,km,km", "1,2019,", rows="{i},{i},{x}"),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_first_row_stays_a_row(case: str) -> None:
    assert len(read_table(ROWS[case]).frame) == 13


FLAGGED = {
    "stars and letters": ["27.9*", "47.5 (a)", "51", "3.5†"],
    "letters of a laboratory": ["7.7 L", "5.2", "5.6 H", "4.1"],
    "flags of Eurostat": [":", ": c", "12.1 p", "7.8"],
    "powers": ["12²", "7", "3.5"],
    "flags close behind decimals": ["3.5b", "7.25", "1.5"],
}


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
    assert again.iloc[2] == {"stars and letters": 51, "letters of a laboratory": 5.6, "flags of Eurostat": 12.1,
                             "powers": 3.5, "flags close behind decimals": 1.5}[case]  # fmt: skip
