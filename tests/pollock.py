"""A polluter of the Pollock kind: one table of 83 rows, and every file that one slip makes of it.

Vitagliano, Hameed, Jiang, Reisener, Wu & Naumann, "Pollock: A Data Loading Benchmark", PVLDB 16(8), 2023, surveyed
3,712 public CSV files and gives, for each of 22 ways in which they leave RFC 4180, how often it was met. This is the
same list of slips over a table of our own: a separator missing or too many in front of every cell, a stray quote in
every cell, another delimiter in every row, and once each another dialect, header, preamble or shape.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

HEADER = ["DATE", "TIME", "Qty", "PRODUCTID", "Price", "ProductType", "Description", "URL", "Comments"]
_KINDS = ["Rain Boots", "Shirt, Long-Sleeve", 'Round Table 48"', "Kids' Hat", "Fly Rod 8 Wt.", 'Shorts, 5" Inseam',
          "Socks", "Cotton/Linen Sweater", "Lamp, Two-Pack", "Men's 3-in-1 Jacket", "Cap", "Chair, Print"]  # fmt: skip
_PRAISE = ["Warm, dry and light.", "Made to last; easy to wash.", "With UPF 50+ protection, it won't crack.",
           "A classic: quick to pitch, hard to forget.", "Its 8'9\" length fits every trunk, they say.",
           "Soft cotton that resists wrinkles, stains and fading.", "100% wool.",
           "The best we've ever made, by far."]  # fmt: skip


def table() -> list[list[str]]:
    """The rows of the table. Its last column is empty, as in many an export."""
    rows = []
    for i in range(83):
        code = f"{'MRCYBAHZ'[i % 8]}{'GICYHNKN'[i % 8]}-{1000 + 97 * i % 9000}"
        said = " ".join(_PRAISE[(i * k + k) % 8] for k in range(1, 2 + i % 3))
        rows.append([f"{1 + i % 28:02}/{1 + i // 28:02}/2018", f"{i // 4:02}:{15 * (i % 4):02}", str(i * 7 % 34), code,
                     f"${0.9 + i * 13.37 % 90:.2f}", _KINDS[i % 12], said,
                     f"https://www.example.com/product/{code}.html", ""])  # fmt: skip
    return rows


class File(NamedTuple):
    """A polluted file: how common its slip is in the survey, and the lines a reader should give back (header first,
    where there is one)."""

    name: str
    data: bytes
    weight: float
    lines: list[list[str]]


ALWAYS = (6, 7)
"""Columns whose cells the source quotes, needed or not."""


def spelled(cells: Sequence[str], delimiter: str, quote: str = '"', escape: str | None = None) -> list[str]:
    """Cells as RFC 4180 writes them; `escape` stands before a quote within a cell ("" leaves it bare)."""
    escape = quote if escape is None else escape
    return [
        quote + cell.replace(quote, escape + quote) + quote
        if j in ALWAYS or any(mark in cell for mark in (delimiter, quote, "\n")) else cell
        for j, cell in enumerate(cells)
    ]  # fmt: skip


def written(rows: Sequence[Sequence[str]], delimiter: str = ",", quote: str = '"', escape: str | None = None,
            end: str = "\r\n") -> bytes:  # fmt: skip
    return "".join(delimiter.join(spelled(row, delimiter, quote, escape)) + end for row in rows).encode()


def files() -> Iterator[File]:
    """Every polluted file, the clean one first."""
    rows = table()
    clean = [HEADER, *rows]
    plain = written(clean)
    yield File("source", plain, 1, clean)
    yield from _whole(clean, plain)
    yield from _dialects(clean)
    lines = plain.splitlines(keepends=True)
    around = [(b"".join(lines[:i]), b"".join(lines[i + 1 :])) for i in range(len(clean))]
    for i, j in itertools.product(range(len(clean)), range(len(HEADER))):
        yield from _slips(clean, i, j, *around[i])
    for i, (row, (above, below)) in enumerate(zip(clean, around, strict=True)):
        line = (" ".join(spelled(row, " ")) + "\r\n").encode()
        yield File(f"row_delimiter_{i}", above + line + below, 0.5, clean)


def _whole(clean: list[list[str]], plain: bytes) -> Iterator[File]:
    """Slips of header, end and shape."""
    rows = clean[1:]
    less, more = [row[:-1] for row in clean], [[*row, cell] for row, cell in zip(clean, ["x", *[""] * 83], strict=True)]
    yield File("no_payload", b"", 15, [])
    yield File("no_trailing_newline", plain.rstrip(b"\r\n"), 184, clean)
    yield File("double_trailing_newline", plain + b"\r\n", 5, clean)
    yield File("no_header", written(rows), 470, rows)
    for n in (2, 3):
        names = [" ".join([name] * n) for name in HEADER]  # the benchmark's own convention
        yield File(f"header_multirow_{n}", written([HEADER] * n + rows), 47, [names, *rows])
    yield File("preamble", b"PREAMBLE,,,,,,,,\r\n,,,,,,,,\r\n" + plain, 282, clean)
    yield File("multitable_same", plain + plain, 63, clean + rows)
    yield File("multitable_less", plain + written(less), 63, clean)
    yield File("multitable_more", plain + written(more), 63, clean)
    yield File("header_only", written([HEADER]), 3, [HEADER])
    yield File("one_data_row", written(clean[:2]), 4, clean[:2])


def _dialects(clean: list[list[str]]) -> Iterator[File]:
    yield File("record_cr", written(clean, end="\r"), 7, clean)
    yield File("record_lf", written(clean, end="\n"), 1691, clean)
    marks = (("tab", "\t", 4), ("semicolon", ";", 834), ("space", " ", 4), ("comma_space", ", ", 101))
    for name, delimiter, weight in marks:
        yield File(f"delimiter_{name}", written(clean, delimiter), weight, clean)
    yield File("quote_apostrophe", written(clean, quote="'"), 11, clean)
    yield File("escape_backslash", written(clean, escape="\\"), 1, clean)
    yield File("escape_none", written(clean, escape=""), 7, clean)


def _slips(clean: list[list[str]], i: int, j: int, above: bytes, below: bytes) -> Iterator[File]:
    """What can go wrong in one cell: its separator is lost, or stands twice, or the cell has a quote too many."""
    cells = spelled(clean[i], ",")

    def file(name: str, weight: float, line: Sequence[str], truth: Sequence[str]) -> File:
        data = above + (",".join(line) + "\r\n").encode() + below
        return File(f"{name}_{i}_{j}", data, weight, [*clean[:i], list(truth), *clean[i + 1 :]])

    if j:
        merged = [*cells[: j - 1], cells[j - 1] + cells[j], *cells[j + 1 :]]
        yield file("less", 0.37, merged, clean[i])
    yield file("more", 0.37, [*cells[:j], "", *cells[j:]], [*clean[i][:j], "", *clean[i][j:]])
    stray = f'""{cells[j][1:]}' if cells[j].startswith('"') else f'"{cells[j]}'
    quoted = [*clean[i][:j], '"' + clean[i][j], *clean[i][j + 1 :]]
    yield file("quote", 0.05, [*cells[:j], stray, *cells[j + 1 :]], quoted)


# ---- scores ----------------------------------------------------------------------------------------------------------

Loader = Callable[[bytes], list[list[str]]]
"""Bytes → the lines read, header first where the file has one, '' for a cell that is missing."""


def score(truth: list[list[str]], read: list[list[str]]) -> float:
    """0 to 10: one for having read the file, and precision, recall and F1 of header cells, records and cells."""
    if not truth:
        return 10.0
    levels = (
        (truth[0], read[0] if read else []),
        (["".join(row) for row in truth[1:]], ["".join(row) for row in read[1:]]),
        ([cell for row in truth for cell in row], [cell for row in read for cell in row]),
    )
    return 1.0 + sum(map(sum, itertools.starmap(_agreement, levels)))


def _agreement(truth: Sequence[str], read: Sequence[str]) -> tuple[float, float, float]:
    if not truth:
        return 1.0, 1.0, 1.0
    common = sum((Counter(truth) & Counter(read)).values())
    if not common:
        return 0.0, 0.0, 0.0
    recall, precision = common / len(truth), common / len(read)
    return precision, recall, 2 * precision * recall / (precision + recall)


class Result(NamedTuple):
    simple: float
    weighted: float
    raised: list[str]
    scores: dict[str, float]


def run(load: Loader, polluted: Sequence[File]) -> Result:
    """The loader on every file: mean score, mean weighted by how common the slip is, and which files raised (0)."""
    scores, raised = {}, []
    for file in polluted:
        try:
            scores[file.name] = score(file.lines, load(file.data))
        except Exception:  # noqa: BLE001 - whatever it raises counts against it
            scores[file.name] = 0.0
            raised.append(file.name)
    total = sum(file.weight for file in polluted)
    weighted = sum(file.weight * scores[file.name] for file in polluted) / total
    return Result(sum(scores.values()) / len(scores), weighted, raised, scores)
