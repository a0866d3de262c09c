"""Text → grid: the dialect found, and two ways of cutting that agree on every cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayes_engine.table.dialect import cut, sniff
from bayes_engine.table.notes import Note
from bayes_engine.table.tokenize import Dialect, records, tokenize
from tests.conftest import some


@pytest.mark.parametrize(("text", "delimiter"), [
    ("a,b\n1,2\n", ","), ("t;v\n10:00;1,5\n10:05;2,5\n", ";"), ("name\nAnn Lee\nBob Ray\nCy Young\n", ""),
    ("x y z\n1 2 3\n4 5 6\n", " "), ("x   y\n10  2\n4   50\n", "aligned"), ("when\n10:00\n10:05\n", ""),
    ("# a;b;c\na,b\n1,2\n3,4\n", ","), ("a::b\n", ""),
])  # fmt: skip
def test_sniff(text: str, delimiter: str) -> None:
    assert sniff(text).delimiter == delimiter


@pytest.mark.slow
@pytest.mark.parametrize("piece", [1 << 22, 7])
def test_the_fast_cut_equals_the_tolerant_one(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # small ones end within quotes and between \r and \n
    monkeypatch.setattr("bayes_engine.table.tokenize._PIECE", piece)
    monkeypatch.setattr("bayes_engine.table.tokenize._ROWS", 2)
    rng = np.random.default_rng(0)
    pieces = ["a", "1.5", '"q"', '"x,y"', '"l\nm"', '"d""d"', "", " s", '"', 'in"ch', "é"]
    for _ in range(some(300)):
        end = str(rng.choice(["\n", "\r\n", "\r"]))
        text = end.join(",".join(rng.choice(pieces, rng.integers(1, 5))) for _ in range(6))
        starts, rows, _ = zip(*records(text, Dialect()), strict=True)
        grid = tokenize(text, Dialect())
        padded = grid.cells.astype(object).to_numpy().tolist()
        assert [row[:width] for row, width in zip(padded, grid.widths, strict=True)] == list(rows), text
        assert grid.lines.tolist() == [len(re.findall(r"\r\n|\n|\r", text[:at])) + 1 for at in starts], text


def test_blocks_of_different_widths_make_one_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_engine.table.tokenize._ROWS", 2)
    grid = tokenize('a\nb\n\n1,2,3\n4,x"y"\n"5\n', Dialect())
    expected = [["a", "", ""], ["b", "", ""], ["1", "2", "3"], ["4", 'x"y"', ""], ['"5', "", ""]]
    assert grid.cells.astype(object).to_numpy().tolist() == expected
    assert grid.lines.tolist() == [1, 2, 4, 5, 6]
    assert grid.odd == (6,)


def test_cells_in_apostrophes_that_hold_the_delimiter_and_a_blank_are_whole() -> None:
    notes: list[Note] = []
    grid, found = cut("name,city\n" + "'Smith, John','Oslo, N'\n'Ek, Eva','Rome, I'\n" * 5, None, None, notes)
    assert found.quote == "'" and grid.cells.iloc[1].tolist() == ["Smith, John", "Oslo, N"]
    assert ["apostrophes" in note.message.template for note in notes] == [True]
