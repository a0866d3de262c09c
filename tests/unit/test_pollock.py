"""The reader on files of the Pollock kind, of whose dialect it is told nothing."""

from __future__ import annotations

import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.read import read_table
from tests.pollock import HEADER, files, run, score, table, written

EVERY = 53
"""Of the slips of a cell or a row, which are some 2,260, every fifty-third is read here; bench_read reads them all."""


def lines(data: bytes) -> list[list[str]]:
    """What the reader gives back, as text. Of a file without a row of data it says so: that is the right answer."""
    try:
        reading = read_table(data, typed=False)
    except ReadError as error:
        if "there is no data in it" not in str(error):
            raise
        return [] if not data else [data.decode().strip().replace('"', "").split(",")]
    rows = reading.frame.astype(object).to_numpy().tolist()
    return rows if reading.recipe.header is False else [list(reading.frame.columns), *rows]


@pytest.mark.slow
def test_polluted_files_are_read_without_being_told_how() -> None:
    polluted = list(files())
    whole, slips = polluted[:22], polluted[22::EVERY]
    assert len(polluted) == 2290
    once, often = run(lines, whole), run(lines, slips)
    assert not once.raised
    assert not often.raised
    n, total = len(polluted), sum(f.weight for f in polluted)
    simple = (once.simple * len(whole) + often.simple * (n - len(whole))) / n
    light = sum(f.weight for f in polluted[22:])
    weighted = (once.weighted * (total - light) + often.weighted * light) / total
    assert simple >= 9.96
    assert weighted >= 9.90
    assert min(often.scores.values()) > 6.9


def test_the_scores_are_those_of_the_benchmark() -> None:
    truth = [HEADER, *table()]
    assert score(truth, truth) == 10
    assert score([], [["anything"]]) == 10
    assert score(truth, []) == 1
    half = score(truth, truth[:42])  # every header cell, half of the records and of the cells
    assert abs(half - (1 + 3 + (1 + 41 / 83 + 2 * 41 / 124) + (1 + 0.5 + 2 / 3))) < 0.02
    assert written([["a", 'b"']]).decode() == 'a,"b"""\r\n'
