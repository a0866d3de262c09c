"""Dates as people write them."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_engine.table.dates import Dates, dates
from bayes_engine.table.read import read_table


@pytest.mark.parametrize(("cell", "iso"), [
    ("2024-02-29", "2024-02-29"), ("2024/2/9", "2024-02-09"), ("2024年2月9日", "2024-02-09"),
    ("9 Feb 2024", "2024-02-09"), ("9-Feb-24", "2024-02-09"), ("February 9, 2024", "2024-02-09"),
    ("Sept 9, 2024", "2024-09-09"), ("31.12.1999", "1999-12-31"), ("31.12.99", "1999-12-31"),
    ("31/12/68", "2068-12-31"), ("2024-02-09T10:05", "2024-02-09T10:05"),
    ("2024-02-09 10:05:07.25", "2024-02-09T10:05:07.25"), ("31/12/2024 1:05 PM", "2024-12-31T13:05"),
    ("2024-02-09T00:30:00+02:00", "2024-02-09T00:30"), ("2024-02-09T10:05:00Z", "2024-02-09T10:05"),
])  # fmt: skip
def test_common_forms(cell: str, iso: str) -> None:
    found = dates([cell])
    assert isinstance(found, Dates)
    assert found.values[0] == np.datetime64(iso)


@pytest.mark.parametrize(
    "cell", ["1.10.12", "12.5.24", "10:05", "2024", "1/2", "2024-01", "May 2024", "Mars 3 2024", ""]
)
def test_what_may_be_something_else_is_no_date(cell: str) -> None:
    assert not isinstance(dates([cell]), Dates)


def test_the_column_decides_what_stands_first() -> None:
    assert dates(["01/02/2024", "13/02/2024"]).order == "day"
    assert dates(["01/02/2024", "02/13/2024"]).order == "month"
    assert dates(["13/02/2024", "02/13/2024"]) == ""
    rows = np.arange(3)
    assert dates(["01/02/2024", "01/09/2024", "02/01/2024"], rows=rows).order == "month"  # only so they are in order
    doubt = dates(["01/02/2024", "01/01/2024"], rows=np.arange(2))
    assert doubt.doubtful
    assert doubt.order == "day"
    assert dates(["01/02/2024"], month_first=True).values[0] == np.datetime64("2024-01-02")


def test_in_a_table_dates_are_said_and_can_be_had_otherwise() -> None:
    data = b"when,y\n03/02/2024,a\n01/02/2024,b\nNA,a\n"
    reading = read_table(data)
    assert reading.schema["when"].kind == "date"
    assert reading.frame["when"].isna().tolist() == [False, False, True]
    [note] = [n for n in reading.report if "day, month, year" in str(n.message)]
    assert note.severity == "warning"
    assert [o.value for o in note.offers] == [((0, "date_month_first"),), ((0, "text"),)]
    month = read_table(data, types=dict(note.offers[0].value))
    assert month.frame["when"].iloc[0] == np.datetime64("2024-03-02")
    text = read_table(data, types=dict(note.offers[1].value))
    assert text.frame["when"].tolist() == ["03/02/2024", "01/02/2024", "NA"]
