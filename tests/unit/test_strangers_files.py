"""Files as strangers have them, each with what is to come out of it, stated before it was read: the names and the first
row of the table, how many rows, and words of what is said."""

from __future__ import annotations

from typing import Any, NamedTuple

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
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_a_file_is_read_as_stated(case: str) -> None:
    data, names, first, rows, words = FILES[case]
    reading = read_table(data)
    assert list(reading.frame) == names
    assert reading.frame.iloc[0].tolist() == first
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
