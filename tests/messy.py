"""Messy CSV files with the table that each should become, and what must be said of it: stated before it is tried.

Some tables of different fields, each written plainly and with every mess that suits it. A mess is one that public files
have: another dialect, lines around the table, missing tokens, dressed numbers, other names, stray cells.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Rows = list[list[str]]


class Messy(NamedTuple):
    """A file: the names and cells that it holds (numbers as repr writes them, '' missing), and a word that a note must
    have, "" where nothing need be said."""

    name: str
    data: bytes
    names: list[str]
    cells: Rows
    says: str


class Plain(NamedTuple):
    """A table: columns of words, whole numbers or numbers with a point, in this order of kinds ("w", "n", "f")."""

    name: str
    names: list[str]
    kinds: str
    rows: Rows


def tables(n: int = 40, seed: int = 11) -> Iterator[Plain]:
    """Tables of several fields and alphabets."""
    rng = random.Random(seed)

    def cell(kind: str, words: Sequence[str], high: float) -> str:
        if kind == "w":
            return rng.choice(words)
        return str(rng.randint(0, int(high))) if kind == "n" else f"{rng.uniform(0, high):.2f}"

    for name, names, kinds, words, high in _FIELDS:
        rows = [[cell(k, words[j % len(words)], high) for j, k in enumerate(kinds)] for _ in range(n)]
        yield Plain(name, list(names), kinds, rows)


_FIELDS: tuple[tuple[str, tuple[str, ...], str, tuple[tuple[str, ...], ...], float], ...] = (
    ("flowers", ("length", "width", "petal", "species"), "fffw", (("setosa", "virginica", "versicolor"),), 9),
    ("people", ("age", "sex", "city", "income", "left"), "nwwnw",
     (("no", "yes"), ("f", "m"), ("Oslo", "New York", "São Paulo")), 900),
    ("credit", ("金额", "期限", "城市", "违约"), "fnww", (("是", "否"), ("短", "长"), ("北京", "上海", "广州")), 5000),
    ("answers", ("Q1", "Q2", "Q3", "Q4"), "wwww", (("A", "B", "C"), ("often", "never"), ("yes", "no"), ("u", "v")), 1),
    ("letters", ("город", "доход", "класс"), "wfw", (("Москва", "Тула"), ("a",), ("высокий", "низкий")), 90000),
    ("sensors", ("t", "x", "y", "z", "state"), "nfffw", (("idle", "run", "stop"),), 5000),
    ("two", ("dose", "cured"), "fw", (("yes", "no"),), 50),
    ("wide", (*(f"gene{j}" for j in range(14)), "type"), "f" * 14 + "w", (("tumour", "normal"),), 12),
)  # fmt: skip


def joined(rows: Sequence[Sequence[str]], delimiter: str = ",", end: str = "\n") -> str:
    def quoted(cell: str) -> str:
        return f'"{cell.replace(chr(34), 2 * chr(34))}"' if delimiter in cell or '"' in cell or "\n" in cell else cell

    return "".join(delimiter.join(map(quoted, row)) + end for row in rows)


def files() -> Iterator[Messy]:
    """Every table with every mess that suits it."""
    for table in tables():
        for mess in MESSES:
            made = mess(table)
            if made is not None:
                text, names, cells, says = made
                data = text if isinstance(text, bytes) else text.encode()
                yield Messy(f"{table.name}: {mess.__name__.strip('_')}", data, names, cells, says)


Made = tuple[str | bytes, list[str], Rows, str] | None
MESSES: list[Callable[[Plain], Made]] = []


def mess(make: Callable[[Plain], Made]) -> Callable[[Plain], Made]:
    MESSES.append(make)
    return make


def of_kind(table: Plain, kinds: str) -> list[int]:
    return [j for j, kind in enumerate(table.kinds) if kind in kinds]


def dressed(table: Plain, j: int, put: Callable[[int, str], str]) -> Rows:
    """The rows with the cells of column j written otherwise."""
    return [[put(i, c) if k == j else c for k, c in enumerate(row)] for i, row in enumerate(table.rows)]


def whole(table: Plain, **kw: str) -> str:
    return joined([table.names, *table.rows], **kw)


@mess
def plain(t: Plain) -> Made:
    return whole(t), t.names, t.rows, ""


@mess
def semicolons_and_commas(t: Plain) -> Made:
    if not of_kind(t, "f"):
        return None
    rows = [[c.replace(".", ",") if k == "f" else c for c, k in zip(row, t.kinds, strict=True)] for row in t.rows]
    return joined([t.names, *rows], ";"), t.names, t.rows, "decimal mark is a comma"


@mess
def tabs(t: Plain) -> Made:
    return whole(t, delimiter="\t"), t.names, t.rows, ""


@mess
def bars_and_crlf(t: Plain) -> Made:
    return whole(t, delimiter="|", end="\r\n"), t.names, t.rows, ""


@mess
def old_mac(t: Plain) -> Made:
    return whole(t, end="\r"), t.names, t.rows, ""


@mess
def tildes(t: Plain) -> Made:
    return whole(t, delimiter="~"), t.names, t.rows, "delimiter"


@mess
def everything_quoted(t: Plain) -> Made:
    text = "".join(",".join(f'"{c}"' for c in row) + "\n" for row in [t.names, *t.rows])
    return text, t.names, t.rows, ""


@mess
def spaces_after_commas(t: Plain) -> Made:
    text = "".join(", ".join(row) + "\n" for row in [t.names, *t.rows])
    return text, t.names, t.rows, ""


@mess
def lined_up(t: Plain) -> Made:
    if any(" " in c for row in t.rows for c in row) or not t.names[0].isascii():
        return None
    return "".join("".join(c.ljust(14) for c in row).rstrip() + "\n" for row in [t.names, *t.rows]), t.names, t.rows, ""


@mess
def apostrophes(t: Plain) -> Made:
    text = "".join(",".join(f"'{c}'" for c in row) + "\n" for row in [t.names, *t.rows])
    return text, t.names, t.rows, "apostrophes"


@mess
def the_delimiter_named(t: Plain) -> Made:
    return "sep=;\n" + whole(t, delimiter=";"), t.names, t.rows, ""


@mess
def markdown(t: Plain) -> Made:
    lines = ["| " + " | ".join(row) + " |\n" for row in [t.names, ["---"] * len(t.names), *t.rows]]
    return "".join(lines), t.names, t.rows, "drawn with"


@mess
def lines_quoted(t: Plain) -> Made:
    return "".join(f'"{line}"\n' for line in whole(t).splitlines()), t.names, t.rows, "quoted as a whole"


@mess
def mixed_line_ends(t: Plain) -> Made:
    lines = whole(t).splitlines()
    return "".join(line + ("\r\n" if i % 3 else "\n") for i, line in enumerate(lines)), t.names, t.rows, ""


@mess
def units_below_the_names(t: Plain) -> Made:
    if len(of_kind(t, "nf")) < 2:
        return None
    units = ["cm" if k in "nf" else "" for k in t.kinds]
    return joined([t.names, units, *t.rows]), t.names, t.rows, "units"


@mess
def a_break_in_a_cell(t: Plain) -> Made:
    if t.kinds[-1] != "w":
        return None
    rows = [[*row[:-1], f"{row[-1]}\nlate"] if i == 6 else row for i, row in enumerate(t.rows)]
    return joined([t.names, *rows]), t.names, rows, ""


@mess
def a_quote_in_a_cell(t: Plain) -> Made:
    if t.kinds[-1] != "w":
        return None
    rows = [[*row[:-1], f'5" {row[-1]}'] if i == 6 else row for i, row in enumerate(t.rows)]
    return "".join(",".join(row) + "\n" for row in [t.names, *rows]), t.names, rows, ""


@mess
def no_end_of_the_last_line(t: Plain) -> Made:
    return whole(t).rstrip("\n"), t.names, t.rows, ""


@mess
def byte_order_mark(t: Plain) -> Made:
    return whole(t).encode("utf-8-sig"), t.names, t.rows, ""


@mess
def utf_16(t: Plain) -> Made:
    return whole(t).encode("utf-16"), t.names, t.rows, ""


@mess
def old_encoding(t: Plain) -> Made:
    encoding = {"credit": "gb18030", "letters": "cp1251", "people": "cp1252"}.get(t.name)
    return (whole(t).encode(encoding), t.names, t.rows, "encoding") if encoding else None


@mess
def a_title_above(t: Plain) -> Made:
    return "Report of the year 2024\n\n" + whole(t), t.names, t.rows, "above the table"


@mess
def a_title_with_commas(t: Plain) -> Made:
    return "Report 2024" + "," * (len(t.names) - 1) + "\n" + whole(t), t.names, t.rows, "above the table"


@mess
def comments_above(t: Plain) -> Made:
    return "# made by hand\n# 2024-01-05, by the office\n" + whole(t), t.names, t.rows, "above the table"


@mess
def a_source_below(t: Plain) -> Made:
    return whole(t) + "\nSource: the office\n", t.names, t.rows, "footer"


@mess
def empty_rows_below(t: Plain) -> Made:
    return whole(t) + ("," * (len(t.names) - 1) + "\n") * 3, t.names, t.rows, "empty rows"


@mess
def total_below(t: Plain) -> Made:
    if t.kinds[0] != "w" or not of_kind(t, "nf"):
        return None
    return whole(t) + ",".join(["Total", "1234.5", *[""] * (len(t.names) - 2)]) + "\n", t.names, t.rows, "footer"


@mess
def names_again(t: Plain) -> Made:
    return whole(t) + whole(t), t.names, [*t.rows, *t.rows], "header is repeated"


@mess
def blank_lines_between(t: Plain) -> Made:
    return whole(t, end="\n\n"), t.names, t.rows, ""


@mess
def a_delimiter_too_many(t: Plain) -> Made:
    return "".join(line + ",\n" for line in whole(t).splitlines()), t.names, t.rows, ""


@mess
def row_names_without_name(t: Plain) -> Made:
    rows = [[f"r{i}", *row] for i, row in enumerate(t.rows)]
    return joined([t.names, *rows]), ["row", *t.names], rows, "row names"


@mess
def an_index(t: Plain) -> Made:
    rows = [[str(i), *row] for i, row in enumerate(t.rows)]
    return joined([["", *t.names], *rows]), ["column_1", *t.names], rows, "has no name"


@mess
def no_names(t: Plain) -> Made:
    return joined(t.rows), [f"column_{j}" for j in range(1, len(t.names) + 1)], t.rows, "no header"


@mess
def short_rows(t: Plain) -> Made:
    if len(t.names) < 3:
        return None
    rows = [[*row[:-1], ""] if i in (7, 19) else row for i, row in enumerate(t.rows)]
    written = [row[:-1] if i in (7, 19) else row for i, row in enumerate(rows)]
    return joined([t.names, *written]), t.names, rows, "fewer fields"


def _missing(token: str, kinds: str, says: str) -> Callable[[Plain], Made]:
    def make(t: Plain) -> Made:
        columns = of_kind(t, kinds)
        if not columns:
            return None
        j = columns[0]
        rows = dressed(t, j, lambda i, c: "" if i % 9 == 4 else c)
        shown = dressed(t, j, lambda i, c: token if i % 9 == 4 else c)
        return joined([t.names, *shown]), t.names, rows, says

    make.__name__ = f"missing as '{token}' in {kinds}"
    return make


_AMONG_NUMBERS, _ANYWHERE = ("NA", "N/A", "-", "null", "None", "#N/A", "n.a.", "?", "NaN", "."), ("?", "NaN", "#N/A")
MESSES.extend(_missing(token, "nf", "read as missing") for token in _AMONG_NUMBERS)
MESSES.extend(_missing(token, "w", "read as missing") for token in _ANYWHERE)
MESSES.append(_missing("", "nf", "empty cells"))


def _number(name: str, says: str, kinds: str, write: Callable[[str], tuple[str, float]]) -> None:
    """Numbers that all are written otherwise, and what they are."""

    def make(t: Plain) -> Made:
        columns = of_kind(t, kinds)
        if not columns:
            return None
        shown = dressed(t, columns[0], lambda _i, c: write(c)[0])
        return joined([t.names, *shown]), t.names, dressed(t, columns[0], lambda _i, c: repr(write(c)[1])), says

    make.__name__ = name
    MESSES.append(make)


_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_number("per cent", "in percent", "nf", lambda c: (f"{c} %", float(c)))
_number("dollars", "currency sign", "nf", lambda c: (f"${c}", float(c)))
_number("euros behind", "currency sign", "nf", lambda c: (f"{c} €", float(c)))
_number("padded numbers", "", "nf", lambda c: (f"  {c} ", float(c)))
_number("thousands", "thousands", "n", lambda c: (f"{int(c) * 1000 + 1:,}", int(c) * 1000.0 + 1))
_number("thousands by blanks", "is read as", "n",
        lambda c: (f"{int(c) * 1000 + 1000:,}".replace(",", " "), int(c) * 1000.0 + 1000))  # fmt: skip
_number("full width", "is read as", "n", lambda c: (c.translate(_WIDE), float(c)))
_number("typographic minus", "is read as", "f", lambda c: (f"−{c}", -float(c)))
_number("minus behind", "is read as", "f", lambda c: (f"{c}-", -float(c)))
_number("bracketed", "is read as", "f", lambda c: (f"({c})", -float(c)))
_number("exponents", "", "f", lambda c: (f"{float(c):.6e}", float(f"{float(c):.6e}")))
_number("no zero before the point", "", "f", lambda c: (c.lstrip("0") if float(c) else c, float(c)))


def _said(name: str, says: str, kinds: str, write: Callable[[int, str], str]) -> None:
    """Cells that stay as they are written, and of which something must be said where any is written otherwise."""

    def make(t: Plain) -> Made:
        columns = of_kind(t, kinds)
        if not columns:
            return None
        rows = dressed(t, columns[-1], write)
        return None if rows == t.rows else (joined([t.names, *rows]), t.names, rows, says)

    make.__name__ = name
    MESSES.append(make)


_said("a word among numbers", "numbers and text", "nf", lambda i, c: "unknown" if i == 5 else c)
_number("units", "the unit 'kg' is left out", "nf", lambda c: (f"{c} kg", float(c)))
_said("units that few know", "unit 'loads'", "nf", lambda _i, c: f"{c} loads")
_said("units and a word", "unit 'kg'", "nf", lambda i, c: "heavy" if i == 5 else f"{c} kg")
_number("suffixes", "suffixes", "f", lambda c: (f"{c}k", float(f"{c}e3")))
_said("suffixes that may be names", "suffixes", "n", lambda i, c: f"{c}{'kM'[i % 2]}")
_said("leading zeros", "lose digits", "n", lambda _i, c: f"0{c}")
_said("two cases", "different values", "w", lambda i, c: c.swapcase() if i % 5 == 2 else c)
_said("look-alikes", "different scripts", "w", lambda i, c: c.replace("o", "о") if i % 5 == 2 else c)
_said("below a limit", "numbers and text", "nf", lambda i, c: "<0.1" if i % 9 == 2 else c)
_said("dates", "day, month, year", "w", lambda i, _c: f"{1 + i % 28:02}/{1 + i % 12:02}/2024")
_said("doubtful dates", "day, month, year", "w", lambda i, _c: f"{1 + i % 12:02}/{1 + i % 11:02}/2024")


def _names(name: str, says: str, change: Callable[[list[str]], list[str]], become: Callable[[list[str]], list[str]]
           ) -> None:  # fmt: skip
    """Other names above the same cells."""

    def make(t: Plain) -> Made:
        return joined([change(t.names), *t.rows]), become(t.names), t.rows, says

    make.__name__ = name
    MESSES.append(make)


_names("padded names", "spaces around", lambda n: [f" {x} " for x in n], lambda n: n)
_names("a name twice", "same name", lambda n: [*n[:-1], n[0]], lambda n: [*n[:-1], f"{n[0]}_2"])
_names("no last name", "no name", lambda n: [*n[:-1], ""], lambda n: [*n[:-1], f"column_{len(n)}"])
_names("a hidden mark", "invisible", lambda n: ["\u200b" + n[0], *n[1:]], lambda n: n)
_names("a break in a name", "", lambda n: [f"{n[0]}\nx", *n[1:]], lambda n: [f"{n[0]}\nx", *n[1:]])
_names("years", "", lambda n: [n[0], *(str(2001 + j) for j in range(len(n) - 1))],
       lambda n: [n[0], *(str(2001 + j) for j in range(len(n) - 1))])  # fmt: skip
_names("numbers from 0", "may be a row", lambda n: [str(j) for j in range(len(n))],
       lambda n: [str(j) for j in range(len(n))])  # fmt: skip


# ---- several at once, and rarer ones ----------------------------------------------------------------------


@mess
def an_export_of_excel(t: Plain) -> Made:
    if not of_kind(t, "f"):
        return None
    rows = [[c.replace(".", ",") if k == "f" else c for c, k in zip(row, t.kinds, strict=True)] for row in t.rows]
    text = "sep=;\r\n" + joined([t.names, *rows], ";", "\r\n") + ";" * (len(t.names) - 1) + "\r\n"
    return text.encode("utf-8-sig"), t.names, t.rows, "decimal mark is a comma"


@mess
def a_report(t: Plain) -> Made:
    if len(t.names) < 3:
        return None
    top = "Office of numbers\nDrawn up: 2024-01-05\n\n"
    return top + whole(t) + "\n* estimated\n", t.names, t.rows, "footer"


@mess
def two_lines_of_names(t: Plain) -> Made:
    if len(t.names) < 4:
        return None
    over = ["first", *[""] * (len(t.names) - 2), "last"]
    return joined([over, t.names, *t.rows]), t.names, t.rows, "above the table"


@mess
def missing_in_three_ways(t: Plain) -> Made:
    if not of_kind(t, "f"):
        return None
    j, words = of_kind(t, "f")[0], ("NA", "-", "")
    shown = dressed(t, j, lambda i, c: words[i % 3] if i % 7 == 3 else c)
    return joined([t.names, *shown]), t.names, dressed(t, j, lambda i, c: "" if i % 7 == 3 else c), "read as missing"


@mess
def euros_and_points(t: Plain) -> Made:
    if not of_kind(t, "n"):
        return None
    j = of_kind(t, "n")[0]

    def put(c: str) -> str:
        return f"{int(c) * 1000 + 1234567:,}".replace(",", ".") + ",50 €"

    rows = dressed(t, j, lambda _i, c: repr(int(c) * 1000 + 1234567.5))
    return joined([t.names, *dressed(t, j, lambda _i, c: put(c))], ";"), t.names, rows, "decimal mark is a comma"


@mess
def tabs_between_quotes(t: Plain) -> Made:
    text = "".join("\t".join(f'"{c}"' for c in row) + "\r\n" for row in [t.names, *t.rows])
    return text.encode("utf-16"), t.names, t.rows, ""


@mess
def a_column_of_json(t: Plain) -> Made:
    rows = [[*row, f'{{"a": {i}, "b": "x, y"}}'] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "more"], *rows]), [*t.names, "more"], rows, ""


@mess
def an_empty_column(t: Plain) -> Made:
    rows = [[*row, ""] for row in t.rows]
    return joined([[*t.names, "note"], *rows]), [*t.names, "note"], rows, "is empty"


@mess
def nearly_empty_column(t: Plain) -> Made:
    rows = [[*row, "see below" if i == 20 else ""] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "note"], *rows]), [*t.names, "note"], rows, "empty cells"


@mess
def truth_values(t: Plain) -> Made:
    rows = [[*row, ("TRUE", "FALSE")[i % 2]] for i, row in enumerate(t.rows)]
    cells = [[*row, ("1", "0")[i % 2]] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "flag"], *rows]), [*t.names, "flag"], cells, "truth values"


@mess
def sql_output(t: Plain) -> Made:
    if any("京" in c for row in t.rows for c in row):
        return None
    bar = "+" + "+".join("-" * 16 for _ in t.names) + "+\n"
    lines = ["|" + "|".join(f" {c:<14} " for c in row) + "|\n" for row in [t.names, *t.rows]]
    return bar + lines[0] + bar + "".join(lines[1:]) + bar, t.names, t.rows, "drawn with"


@mess
def blanks_for_missing(t: Plain) -> Made:
    if not of_kind(t, "nf"):
        return None
    j = of_kind(t, "nf")[0]
    shown = dressed(t, j, lambda i, c: "  " if i % 9 == 4 else c)
    return joined([t.names, *shown]), t.names, dressed(t, j, lambda i, c: "" if i % 9 == 4 else c), "empty cells"


@mess
def words_with_commas(t: Plain) -> Made:
    j = of_kind(t, "w")[0]
    rows = dressed(t, j, lambda i, c: f"{c}, as told" if i % 4 == 1 else c)
    return joined([t.names, *rows]), t.names, rows, ""


@mess
def chinese_commas(t: Plain) -> Made:
    return whole(t, delimiter="，"), t.names, t.rows, "delimiter was guessed"


@mess
def blanks_between(t: Plain) -> Made:
    if any(" " in c for row in [t.names, *t.rows] for c in row):
        return None
    return whole(t, delimiter=" "), t.names, t.rows, "delimiter was guessed"


@mess
def one_line_longer(t: Plain) -> Made:
    shown = [[*row, "oops"] if i == 11 else row for i, row in enumerate(t.rows)]
    cells = [[*row, "oops" if i == 11 else ""] for i, row in enumerate(t.rows)]
    return joined([t.names, *shown]), [*t.names, "extra"], cells, "more fields"


@mess
def a_quote_never_closed(t: Plain) -> Made:
    shown = [[f'"{row[0]}', *row[1:]] if i == 8 else row for i, row in enumerate(t.rows)]
    return "".join(",".join(row) + "\n" for row in [t.names, *shown]), t.names, shown, "never closed"


@mess
def comments_between(t: Plain) -> Made:
    if len(t.names) < 3:
        return None
    lines = whole(t).splitlines(keepends=True)
    return "".join([*lines[:9], "# checked until here\n", *lines[9:]]), t.names, t.rows, "comments between"


@mess
def a_second_table(t: Plain) -> Made:
    if len(t.names) < 3:
        return None
    return whole(t) + "\nkey,meaning\n1,one\n2,two\n3,three\n", t.names, t.rows, "second table"


@mess
def a_day_and_an_hour(t: Plain) -> Made:
    rows = [[*row, f"2024-01-{1 + i % 28:02} 10:{i % 60:02}:00"] for i, row in enumerate(t.rows)]
    cells = [[*row, f"{1 + i % 28:02}/01/2024"] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "when"], *rows]), [*t.names, "when"], cells, "dates"


@mess
def long_identifiers(t: Plain) -> Made:
    rows = [[f"{10**17 + i}", *row] for i, row in enumerate(t.rows)]
    return joined([["key", *t.names], *rows]), ["key", *t.names], rows, "lose digits"


@mess
def months_above(t: Plain) -> Made:
    if "w" in t.kinds[1:] or len(t.names) < 3:
        return None
    names = ["site", *(f"2024-{j:02}" for j in range(1, len(t.names)))]
    return joined([names, *t.rows]), names, t.rows, ""


@mess
def html_entities(t: Plain) -> Made:
    rows = dressed(t, of_kind(t, "w")[0], lambda _i, c: f"{c} &amp; more")
    return joined([t.names, *rows]), t.names, rows, ""


@mess
def typographic_quotes(t: Plain) -> Made:
    text = "".join(",".join(f"“{c}”" for c in row) + "\n" for row in [t.names, *t.rows])
    return text, t.names, t.rows, "quoted with"


# ---- one file, two notations -------------------------------------------------------------------------------


@mess
def names_with_another_delimiter(t: Plain) -> Made:
    return None if len(t.names) < 3 else (";".join(t.names) + "\n" + joined(t.rows), t.names, t.rows, "cut there")


@mess
def half_of_the_rows_with_another_delimiter(t: Plain) -> Made:
    text = joined([t.names, *t.rows[:25]]) + joined(t.rows[25:], "\t")
    return text, t.names, t.rows, "cut there"


def _quoted(opening: str, closing: str) -> None:
    def make(t: Plain) -> Made:
        text = "".join(";".join(f"{opening}{c}{closing}" for c in row) + "\n" for row in [t.names, *t.rows])
        return text, t.names, t.rows, "quoted with"

    make.__name__ = f"quoted as {opening}…{closing}"
    MESSES.append(make)


for _marks in ("„“", "«»", "‘’"):
    _quoted(*_marks)


@mess
def words_as_excel_keeps_them(t: Plain) -> Made:
    j = of_kind(t, "w")[0]
    shown = dressed(t, j, lambda _i, c: f'="{c}"')
    return "".join(",".join(row) + "\n" for row in [t.names, *shown]), t.names, t.rows, "quoted with"


@mess
def a_title_of_two_cells(t: Plain) -> Made:
    if len(t.names) < 4:
        return None
    blanks = "," * (len(t.names) - 2)
    return f"Report,2024{blanks}\n{blanks},\n{whole(t)}", t.names, t.rows, "above the table"


@mess
def sums_below(t: Plain) -> Made:
    if t.kinds[0] != "w" or set(t.kinds[1:]) == {"w"}:
        return None
    sums = [f"{sum(float(row[j]) for row in t.rows):.2f}" if k in "nf" else "" for j, k in enumerate(t.kinds)]
    return whole(t) + ",".join(["Total", *sums[1:]]) + "\n", t.names, t.rows, "footer"


_number("accounts", "currency sign", "f", lambda c: (f" $ ({c})", -float(c)))
_said("versions", "if it is a code", "f", lambda i, _c: f"1.{(9, 10, 11)[i % 3]}")
_said("a dash like another", "in a dash", "w", lambda i, c: f"{c}–x" if i % 5 == 2 else f"{c}-x")
_said("0 for o", "a digit that looks like", "w", lambda i, c: c.replace("o", "0") if i % 5 == 2 else c)
_said("characters lost", "lost when the file was written", "w", lambda i, c: f"{c}\ufffd" if i % 5 == 2 else c)


# ---- what a held-out corpus showed -------------------------------------------------------------------------

_number("powers of ten", "is read as", "f", lambda c: (f"{c}x10^3", float(f"{c}e3")))
_number("raised powers of ten", "is read as", "f", lambda c: (f"{c} × 10⁻²", float(f"{c}e-2")))
_number("whole days", "may be dates", "n",
        lambda c: (day := str(20240101 + int(c) % 12 * 100 + int(c) % 28), float(day)))  # fmt: skip
_said("with an error", "approximate", "nf", lambda _i, c: f"{c}±0.5")
_said("about", "approximate", "nf", lambda i, c: f"~{c}" if i % 4 else c)
_said("months", "holds months", "w", lambda i, _c: f"{['Jan', 'Feb', 'Mar', 'Apr'][i % 4]} {2020 + i % 5}")
_said("months as numbers", "holds months", "w", lambda i, _c: f"{2020 + i % 5}-{1 + i % 12:02}")
_said("times of day", "several numbers a cell", "w", lambda i, _c: f"{i % 24}:{i:02}")
_said("ranges", "several numbers a cell", "n", lambda i, c: f"{c}-{int(c) + 9}")
_number("stars behind", "marks behind", "f", lambda c: (f"{c}*", float(c)))


@mess
def days_of_the_week_before(t: Plain) -> Made:
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    rows = [[*row, f"{days[i % 7]}, {1 + i % 28} Jan 2024"] for i, row in enumerate(t.rows)]
    cells = [[*row, f"{1 + i % 28:02}/01/2024"] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "when"], *rows]), [*t.names, "when"], cells, "dates"


@mess
def questions_below_the_names(t: Plain) -> Made:
    if len(of_kind(t, "nf")) < 2:
        return None
    asked, ids = [f"What is the {n} of yours, please?" for n in t.names], [f'{{"ImportId":"{n}"}}' for n in t.names]
    return joined([t.names, asked, ids, *t.rows]), t.names, t.rows, "second header"


@mess
def groups_above_the_names(t: Plain) -> Made:
    if len(t.names) < 4 or not of_kind(t, "nf"):
        return None
    over = ["first", "first", *["second"] * (len(t.names) - 2)]
    return joined([over, t.names, *t.rows]), t.names, t.rows, "above the table"


@mess
def an_end_without_a_blank_line(t: Plain) -> Made:
    if t.kinds[0] != "w" or len(t.names) < 3:
        return None
    return whole(t) + "END OF FILE\n", t.names, t.rows, "footer"


@mess
def curly_quotes_beside_plain_ones(t: Plain) -> Made:
    if len(t.names) < 3:
        return None
    text = "".join(",".join([f"“{row[0]}”", *(f'"{c}"' for c in row[1:])]) + "\n" for row in [t.names, *t.rows])
    return text, t.names, t.rows, "quoted with"


@mess
def backslashes_before_quotes_that_end_cells(t: Plain) -> Made:
    j = of_kind(t, "w")[0]
    rows = dressed(t, j, lambda i, c: f'{c} 5"' if i % 4 == 1 else c)
    text = "".join(",".join('"' + c.replace('"', '\\"') + '"' for c in row) + "\n" for row in [t.names, *rows])
    return text, t.names, rows, "backslash"


@mess
def fields_of_hive(t: Plain) -> Made:
    return whole(t, delimiter="\x01"), t.names, t.rows, "delimiter was guessed"


@mess
def two_colons(t: Plain) -> Made:
    return None if len(t.names) < 4 else (whole(t, delimiter="::"), t.names, t.rows, "delimiter was guessed")


_number("no cents", "is read as", "n", lambda c: (f"{c}.-", float(c)))
_said("weeks", "several numbers a cell", "w", lambda i, _c: f"2024-W{1 + i:02}")


@mess
def months_of_another_alphabet(t: Plain) -> Made:
    rows = [[*row, f"{1 + i % 28} {('мая', 'июня', 'сентября')[i % 3]} 2024"] for i, row in enumerate(t.rows)]
    cells = [[*row, f"{1 + i % 28:02}/{(5, 6, 9)[i % 3]:02}/2024"] for i, row in enumerate(t.rows)]
    return joined([[*t.names, "when"], *rows]), [*t.names, "when"], cells, "dates"


@mess
def page_breaks(t: Plain) -> Made:
    lines = whole(t).splitlines(keepends=True)
    return (
        "".join(("\x0c" if i % 15 == 14 else "") + line for i, line in enumerate(lines)),
        t.names,
        t.rows,
        "page breaks",
    )


@mess
def mean_and_deviation_below(t: Plain) -> Made:
    if t.kinds[0] != "w" or len(t.names) < 4 or t.kinds[1] == "w":
        return None
    blanks = "," * (len(t.names) - 2)
    return whole(t) + f"Mean,1.5{blanks}\nSD,0.5{blanks}\n", t.names, t.rows, "footer"
