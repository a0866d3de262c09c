"""Which line holds the names, where these are numbers or stand above words: what is expected was stated before it was
tried. What is not certain is said, with the other reading a click away."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from bayes_engine.table.read import read_table
from tests.conftest import ROOT, crossed
from tests.unit.test_inferred_reading import offers, said, taken

N = 30
Column = Callable[[random.Random], list[str]]


def of(*words: str, n: int = N) -> Column:
    return lambda rng: [rng.choice(words) for _ in range(n)]


def whole(low: int, high: int, n: int = N) -> Column:
    return lambda rng: [str(rng.randint(low, high)) for _ in range(n)]


def parts(high: float = 1, digits: int = 3, n: int = N) -> Column:
    return lambda rng: [f"{rng.uniform(0, high):.{digits}f}" for _ in range(n)]


def named(text: str, n: int = N) -> Column:
    return lambda rng: [text.format(i) for i in range(n)]


CITY_4 = of("Oslo", "Rome", n=4)
CITY, COLOUR, OK = of("Oslo", "Rome", "Lima", "Bonn"), of("red", "green", "blue"), of("yes", "no")


def file(header: Sequence[str], columns: Sequence[Column], seed: int = 5) -> bytes:
    rng = random.Random(seed)
    rows = zip(*(column(rng) for column in columns), strict=True)
    return "".join(",".join(row) + "\n" for row in ([header] if header else []) + list(rows)).encode()


NUMBERS: dict[str, tuple[list[str], list[Column]]] = {
    "two years and a word": (["country", "2019", "2020"], [CITY, parts(), parts()]),
    "years that fall": (["name", "2021", "2020", "2019"], [CITY, parts(90), parts(90), parts(90)]),
    "wavelengths": (["id", "1100", "1102", "1104"], [named("s{}"), parts(), parts(), parts()]),
    "halves of wavelengths": (["400.5", "410.5", "420.5", "class"], [parts(), parts(), parts(), COLOUR]),
    "quartiles": (["region", "25%", "50%", "75%"], [CITY, parts(9), parts(9), parts(9)]),
    "numbers and a class": (["10", "20", "30", "class"], [parts(), parts(), parts(), COLOUR]),
}
DOUBTFUL: dict[str, tuple[list[str], list[Column]]] = {
    "years of parts": (["2019", "2020", "2021"], [parts()] * 3),
    "years of amounts": (["2019", "2020", "2021"], [whole(0, 900)] * 3),
    "years by fives": (["2000", "2005", "2010", "2015"], [parts(90)] * 4),
    "doses": (["0", "10", "20", "50"], [parts(5, 2)] * 4),
    "a blank and doses": (["", "10", "20", "30"], [CITY, *[parts()] * 3]),
    "one and two": (["1", "2"], [parts(), COLOUR]),
    "counted above amounts": (["1", "2", "3"], [whole(20, 99), whole(100, 300), whole(0, 9)]),
    "words above different words": (["name", "author"], [named("n{} x"), named("a{}")]),
    "words above few words": (
        ["colour", "city", "ok"],
        [of("red", "blue", n=4), CITY_4, of("y", n=4)],
    ),
}
NONE: dict[str, list[Column]] = {
    "parts": [parts()] * 4, "amounts": [whole(0, 99)] * 4, "answers": [whole(1, 5)] * 4,
    "mixed": [whole(0, 99), COLOUR],
    "words": [CITY, COLOUR, OK], "one column": [COLOUR], "flowers": [*[parts(9, 1)] * 4, of("setosa", "virginica")],
    "years first": [lambda rng: [str(1990 + i) for i in range(N)], parts(), parts()],
    "counted rows": [lambda rng: [str(i + 1) for i in range(N)], whole(1, 5), whole(1, 5)],
    "from nothing": [lambda rng: ["0", *parts(n=9)(rng)], lambda rng: ["0", *parts(n=9)(rng)]],
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_unlike_their_columns_are_names(case: str) -> None:
    header, columns = NUMBERS[case]
    reading = read_table(file(header, columns))
    assert list(reading.frame) == header
    assert "header" not in said(reading) and "may be a row" not in said(reading)


@pytest.mark.slow
@pytest.mark.parametrize("case", DOUBTFUL)
def test_names_that_may_be_a_row_are_said_and_may_be_one(case: str) -> None:
    header, columns = DOUBTFUL[case]
    data = file(header, columns)
    reading = read_table(data)
    assert list(reading.frame) == [name or "column_1" for name in header]
    assert "line 1 (" in said(reading) and "may be a row" in said(reading)
    [row] = offers(data, "header")
    assert taken(data, row).frame.iloc[0].fillna("").astype(str).str.removesuffix(".0").tolist() == header


@pytest.mark.slow
@pytest.mark.parametrize(("case", "seed"), crossed(NONE, range(4)))
def test_rows_without_names_stay_rows(case: str, seed: int) -> None:
    data = file([], NONE[case], seed)
    reading = read_table(data)
    assert reading.recipe.header is False and "no header was found" in said(reading)
    [names] = offers(data, "header")
    assert list(taken(data, names).frame) != list(reading.frame)


def test_names_written_again_between_words_are_names() -> None:
    names, rows = b"author,title\n", file([], [named("a{}"), named("t{} of it")])
    reading = read_table(names + rows + names + rows.replace(b"a", b"b"))
    assert list(reading.frame) == ["author", "title"]
    assert "the header is repeated" in said(reading)
    correlated = b"Norway,NO\nSweden,SE\nNorway,NO\nDenmark,DK\n" * 5
    assert read_table(correlated).recipe.header is False


@pytest.mark.slow
def test_rows_of_real_tables_are_taken_for_no_names() -> None:
    for name in ("watermelon3", "wine", "loan", "play-tennis"):
        header, *rows = (ROOT / "datasets" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        assert read_table("\n".join([header, *rows[:60]]).encode()).recipe.header == 1
        for seed in range(3):
            some = random.Random(seed).sample(rows, min(len(rows), 20))
            assert read_table("\n".join(some).encode()).recipe.header is False, (name, some[0])
