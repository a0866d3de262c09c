"""The reader on messy files: how many are read right, and of how many it says what must be said."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from bayes_engine.table.read import Reading, read_table
from tests.clean_files import assert_alike
from tests.messy import Messy, files
from tests.unit.test_inferred_reading import said

EVERY = 59
"""Of the some 700 files every fifty-ninth is read by default."""
RIGHT, TOLD = 0.97, 0.97


def value(cell: object) -> object:
    """A cell as it is compared: a number by its value, '' where it is missing."""
    if isinstance(cell, pd.Timestamp):
        return f"{cell:%d/%m/%Y}"
    if pd.isna(cell):  # type: ignore[call-overload]
        return ""
    if isinstance(cell, bool):
        return float(cell)
    try:
        return float(str(cell))
    except ValueError:
        return str(cell)


def is_right(file: Messy, reading: Reading) -> bool:
    cells = [[value(cell) for cell in row] for row in reading.frame.astype(object).to_numpy().tolist()]
    wanted = [[value(cell) for cell in row] for row in file.cells]
    return list(reading.frame.columns) == file.names and cells == wanted


def shares(some: Sequence[Messy], alike: int = 3) -> tuple[float, float, list[str]]:
    """Which share is read right, which right and told, and which are not. One in `alike` is read alike by the typed
    reader, if that proves it clean."""
    readings = [(file, read_table(file.data)) for file in some]
    assert sum(assert_alike(file.data) for file, _reading in readings[::alike])
    right = [(file, reading) for file, reading in readings if is_right(file, reading)]
    told = [file.name for file, reading in right if file.says in said(reading)]
    return len(right) / len(some), len(told) / len(some), sorted({file.name for file in some} - set(told))


def test_some_messy_files_are_read_right_and_told() -> None:
    right, told, failed = shares(list(files())[::EVERY])
    assert (right, told) == (1, 1), failed


@pytest.mark.slow
def test_messy_files_are_read_right_and_told() -> None:
    every = list(files())
    assert len(every) > 700
    right, told, failed = shares(every, alike=8)
    assert right >= RIGHT and told >= TOLD, failed


def test_two_columns_lined_up_far_apart_are_two() -> None:
    rows = "".join(f"{3.25 if i % 5 == 0 else 11.25 + i:<14.2f}{'yes' if i % 3 else 'no'}\n" for i in range(60))
    reading = read_table(f"{'dose':<14}cured\n{rows}".encode())
    assert list(reading.frame.columns) == ["dose", "cured"] and reading.frame["dose"][59] == 70.25


@pytest.mark.parametrize("lines", [b"utf-8", b"cp1252"])
def test_a_letter_with_an_accent_between_others_is_no_chinese(lines: bytes) -> None:
    rows = [f"{('Süd', 'Nord')[i % 2]},{i}\n" for i in range(40)]
    coded = [row.encode("utf-8" if i < 20 else lines.decode()) for i, row in enumerate(rows)]
    reading = read_table(b"".join([b"Station,n\n", *coded]))
    assert set(reading.frame["Station"]) == {"Süd", "Nord"}
    twice = read_table("".join(["Station,n\n", *rows]).encode().decode("cp1252").encode())
    assert "encoded twice" in said(twice)


def test_a_single_accented_letter_is_no_word_of_another_script() -> None:
    rows = [f"{('lampe à pied', 'chaise')[i % 2]};{i};{('payé', 'livré')[i % 2]}\n" for i in range(30)]
    reading = read_table("".join(["Produit;Quantité;État\n", *rows]).encode("cp1252"))
    assert list(reading.frame) == ["Produit", "Quantité", "État"]
    rows = [f"{('mañana', 'tarde')[i % 2]};{i}\u00a0001,5\n" for i in range(1, 30)]
    assert set(read_table("".join(["turno;peso\n", *rows]).encode("cp1252")).frame["turno"]) == {"mañana", "tarde"}


@pytest.mark.parametrize(("cells", "kind", "first"), [
    (["Jan 2024", "Feb 2024", "May 2023"], "date", "2024-01-01"),
    (["03.2024", "12.2023", "1.2020"], "date", "2024-03-01"),
    (["20240105", "20231231", "20240229"], "date", "2024-01-05"), (["~5", "3±1", "7"], "number", "5.0"),
])  # fmt: skip
def test_what_is_offered_of_cells_that_may_be_more_reads_them_so(cells: list[str], kind: str, first: str) -> None:
    data = ("x;y\n" + "".join(f"{c};{i}\n" for i, c in enumerate(cells))).encode()
    (own,) = (o for n in read_table(data).report for o in n.offers if o.keyword == "types" and o.value == ((0, kind),))
    assert str(read_table(data, types=own.value).frame["x"].iloc[0]).startswith(first)
