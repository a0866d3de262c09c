"""A text read in pieces is the text read whole, character for character, wherever the pieces begin and end."""

import gzip
import io
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayes_engine import LossMatrix, NaiveBayes
from bayes_engine.errors import ReadError
from bayes_engine.table import dialect, encodings, grid, tokenize
from bayes_engine.table.read import read_table
from bayes_engine.workbench.incoming import file_blocks
from bayes_engine.workbench.incoming.classified_file import score_file
from bayes_engine.workbench.incoming.file_blocks import CellBlocks, FileForm, open_cells
from bayes_engine.workbench.incoming.second_table import Reception
from tests import pollock
from tests.classified_files import as_csv
from tests.conftest import examples, slowly

HEADER = ["size", "city", "note", "when"]


SIZES = (150, 1, 60)
"""Of pieces. A table of many cases takes them in turn (`in_turn`)."""
two_sizes = pytest.mark.parametrize("small", SIZES[:2], indirect=True)
"""Where one test reads many texts."""


@pytest.fixture(params=[SIZES[0], *map(slowly, SIZES[1:])])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that their borders fall everywhere."""
    cut_small(monkeypatch, request.param)


def cut_small(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(file_blocks, "LEAST", -1)
    monkeypatch.setattr(file_blocks, "PIECE", size)
    monkeypatch.setattr(dialect, "_STRETCH", size)
    monkeypatch.setattr(encodings, "CHUNK", size)


def in_turn(kinds: Iterable[Any], seeds: int) -> list[tuple[Any, int, int]]:
    """Every kind with two seeds of three, each in pieces of another size; each seed meets every size."""
    return [
        (kind, seed, SIZES[(i + seed) % len(SIZES)])
        for i, kind in enumerate(kinds)
        for seed in range(seeds)
        if (i - seed) % 3 < 2
    ]


def told(read: Callable[[], tuple[pd.DataFrame, object, object]]) -> object:
    """All that reading gives, or what it refuses."""
    try:
        frame, report, recipe = read()
    except ReadError as error:
        return str(error)
    return frame.columns.tolist(), frame.astype(object).to_numpy().tolist(), report, recipe


def agree(data: bytes, **how: object) -> None:
    def whole() -> tuple[pd.DataFrame, object, object]:
        reading = read_table(data, typed=False, **how)  # type: ignore[arg-type]
        return reading.frame, reading.report, reading.recipe

    def in_pieces() -> tuple[pd.DataFrame, object, object]:
        cells: CellBlocks = open_cells(data, FileForm(**how))  # type: ignore[arg-type]
        assert isinstance(cells._read, file_blocks._Rows)
        frame = pd.concat(list(cells.blocks(3)))
        assert len(frame) == len(cells) and frame.index.tolist() == list(range(len(cells)))
        return frame, cells.report, cells.recipe

    assert told(in_pieces) == told(whole), data


@pytest.mark.parametrize(("size", "step"), [(700, 400), (5000, 400)])
@pytest.mark.slow
def test_every_polluted_file(size: int, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch, size)

    def kind(file: pollock.File) -> str:
        return file.name.rstrip("0123456789_")

    kinds = [list(group) for _, group in itertools.groupby(sorted(pollock.files(), key=kind), kind)]
    chosen = [file for group in kinds for file in group[::step]]
    assert len(chosen) > 25
    for file in chosen:
        agree(file.data)


def rows_of(rng: np.random.Generator, n: int) -> list[list[str]]:
    words = ["Oslo", "Rome, IT", 'the "big" one', "l'Aquila", "two\nlines", "", " x ", "京都", "5", "-3.5", "a;b|c"]
    return [[f"{i % 17}.{i % 10}", *map(str, rng.choice(words, 2)), f"2024-01-{1 + i % 28:02}"] for i in range(n)]


def plain(rows: list[list[str]], mark: str = ",", quote: str = '"', escape: str = "") -> list[str]:
    """The lines of a table; a cell is quoted where it has to be."""

    def spelled(cell: str) -> str:
        odd = mark in cell or quote in cell or "\n" in cell or cell != cell.strip()
        return quote + cell.replace(quote, (escape or quote) + quote) + quote if odd else cell

    return [mark.join(map(spelled, row)) for row in rows]


SLIPS: dict[str, Callable[[list[str], int], None]] = {
    "a quote within a cell": lambda lines, i: lines.insert(i, '5,5" pipe,x,2024-01-01'),
    "a quote that never closes": lambda lines, i: lines.insert(i, '5,"open,x,2024-01-01'),
    "a quote that closes early": lambda lines, i: lines.insert(i, '5,"so" called,x,2024-01-01'),
    "quotes within quotes": lambda lines, i: lines.insert(i, '5,"a 5" pipe, used",x,2024-01-01'),
    "lines within a cell": lambda lines, i: lines.insert(i, '5,"a\n\nb\nc",x,2024-01-01'),
    "a comment": lambda lines, i: lines.insert(i, "# checked"),
    "a comment with a quote": lambda lines, i: lines.insert(i, '# 5" checked'),
    "a blank line": lambda lines, i: lines.insert(i, ""),
    "a line of spaces": lambda lines, i: lines.insert(i, " \u3000"),
    "a row too short": lambda lines, i: lines.insert(i, "5,Oslo"),
    "a row too long": lambda lines, i: lines.insert(i, "5,Oslo,x,2024-01-01,more,,"),
    "an empty cell too many": lambda lines, i: lines.insert(i, "5,Oslo,x,2024-01-01,"),
    "the header again": lambda lines, i: lines.insert(i, ",".join(HEADER)),
    "a total": lambda lines, i: lines.append("Total,99,,"),
    "a footer": lambda lines, i: lines.extend(["", "Source: me"]),
    "empty rows at the end": lambda lines, i: lines.extend([",,,"] * 5),
    "a title": lambda lines, i: lines.insert(0, "Cities of the world\n"),
    "a named delimiter": lambda lines, i: lines.insert(0, "sep=,"),
    "units": lambda lines, i: lines.insert(1, "cm,,,d"),
    "no header": lambda lines, i: lines.pop(0) and None,  # type: ignore[func-returns-value]
    "a second table": lambda lines, i: lines.extend(["", "name,n", "Ann,1", "Bob,2", "Cy,3", "Di,4"]),
    "the same table, wider": lambda lines, i: lines.extend(["size,city,note,when,more", "1,a,b,2024-01-01,9"] * 2),
    "no name": lambda lines, i: lines.__setitem__(0, ",city,note,when"),
    "a column of nothing": lambda lines, i: lines.__setitem__(slice(None), [line + "," for line in lines]),
    "a name too few": lambda lines, i: lines.__setitem__(0, "city,note,when"),
    "rules": lambda lines, i: lines.insert(i, "-----+------+---+---"),
    "an old end": lambda lines, i: lines.append("\x1a"),
}


@pytest.mark.parametrize(("slip", "seed", "small"), in_turn(SLIPS, 3), indirect=["small"])
@pytest.mark.slow
def test_every_slip(slip: str, seed: int, small: None) -> None:
    end = ("\n", "\r\n", "\r")[seed]
    rng = np.random.default_rng(seed)
    rows = rows_of(rng, 24)
    if seed == 2:
        rows = [[cell.replace("\n", " ").replace('"', "") for cell in row] for row in rows]
    lines = plain([HEADER, *rows])
    SLIPS[slip](lines, int(rng.integers(3, 20)))
    agree((end.join(lines) + end * (seed != 1)).encode())


@pytest.mark.slow
def test_slips_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for i in range(15):
        cut_small(monkeypatch, SIZES[i % len(SIZES)])
        lines = plain([HEADER, *rows_of(rng, 24)])
        for slip in rng.choice(list(SLIPS), rng.integers(1, 5)):
            SLIPS[str(slip)](lines, int(rng.integers(1, 20)))
        how = rng.choice(["", "trim", "header", "quote"])
        keywords: dict[str, object] = {"trim": False} if how == "trim" else {"header": 1} if how == "header" else {
            "quote": ""} if how == "quote" else {}  # fmt: skip
        agree(str(rng.choice(["\n", "\r\n", "\r"])).join(lines).encode(), **keywords)


DIALECTS = {
    "tab": ("\t", '"', ""), "semicolon": (";", '"', ""), "bar": ("|", '"', ""), "space": (" ", '"', ""),
    "comma and space": (", ", '"', ""), "apostrophes": (";", "'", ""), "backslash": (",", '"', "\\"),
    "a wide comma": ("，", '"', ""), "section signs": ("§", '"', ""), "one column": ("", '"', ""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed", "small"), in_turn(DIALECTS, 3), indirect=["small"])
def test_every_dialect(kind: str, seed: int, small: None) -> None:
    mark, quote, escape = DIALECTS[kind]
    rng = np.random.default_rng(seed)
    rows = [HEADER, *rows_of(rng, 24)]
    if not mark:
        rows = [row[1:2] for row in rows]
    lines = plain(rows, mark or "\0", quote, escape)
    if seed:
        lines.insert(12, f"5{mark}5{quote} pipe{mark}x{mark}y")
    agree("\n".join(lines).encode())


@pytest.mark.slow
@two_sizes
def test_other_dialects(small: None) -> None:
    rows = rows_of(np.random.default_rng(0), 24)
    words = [[cell.strip().replace("\n", " ").replace('"', "") or "-" for cell in row] for row in [HEADER, *rows]]
    agree("".join("".join(cell.ljust(16) for cell in row).rstrip() + "\n" for row in words).encode())
    agree("".join("  ".join(cell.replace(" ", "_") for cell in row) + "\n" for row in words).encode())
    agree("".join(",".join(f"“{cell.replace(',', ';')}”" for cell in row) + "\n" for row in words).encode())
    agree("".join('"' + ";".join(row).replace('"', '""') + '"\n' for row in words).encode())
    agree(("\n".join("| " + " | ".join(row) + " |" for row in words).replace("\n", "\n|---+---|\n")).encode())
    agree("\n".join(",".join(row) for row in words).encode(), delimiter="")
    agree("\n".join(" & ".join(row) for row in words).encode(), delimiter=" & ")
    agree("\n".join(",".join(f"«{cell}»".replace(",", ";") for cell in row) for row in words).encode(), quote="«")


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "cp1252", "big5", "cp932",
             "cp1251", "iso2022_jp_2", "utf-7")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "turn"), [(encoding, i) for i, encoding in enumerate(ENCODINGS)])
def test_every_encoding(encoding: str, turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is found, as it is named, and in turn packed: each in pieces of another size."""
    words = {
        "gb18030": "京都市", "big5": "臺北", "cp932": "日本のまち", "iso2022_jp_2": "日本のまち",
        "cp1251": "Москва река", "cp1252": "Zürich – é à", "utf-7": "京都",
    }.get(encoding, "京都 😀 Zürich")  # fmt: skip
    lines = ["size,city,note", *(f"{i},{words},{'5 in' if i % 9 else '5 in x'}" for i in range(40))]
    lines.insert(20, f'7,5" {words},x')
    data = "\r\n".join(lines).encode(encoding)
    found: tuple[tuple[bytes, dict[str, object]], ...] = (
        (data, {}),
        (data, {"encoding": encoding}),
        *([(gzip.compress(data), {})] if turn % 3 == 0 else []),
    )
    for i, (sent, how) in enumerate(found):
        cut_small(monkeypatch, SIZES[(i + turn) % len(SIZES)])
        agree(sent, **how)


@pytest.mark.slow
@two_sizes
def test_damaged_encodings(small: None) -> None:
    lines = [f"{i},Zürich 京都,x\n".encode() for i in range(40)]
    agree(b"a,b,c\n" + b"".join(lines[:20]) + b"7,\xff\xfe,x\n" + b"".join(lines[20:]))
    western = [f"{i},Zürich é à ô,x\n".encode("cp1252") for i in range(40)]
    agree(b"a,b,c\n" + b"".join(lines) + b"".join(western))
    agree(b"a,b,c\n" + b"".join(lines) + b"\0\0\0")
    agree(b"a,b,c\n" + b"".join(lines).decode().encode("latin-1", "replace").decode("cp1252").encode())
    twice = "".join(f"{i},Zürich é,x\n" for i in range(40)).encode().decode("cp1252").encode()
    agree(b"a,b,c\n" + twice)
    agree(b"a,b,c\n" + twice, encoding="utf-8-twice")
    agree(("a,b,c\n" + "".join(f"{i},x,y\n\ufeff" for i in range(40))).encode())
    agree("a,b,c\x85".encode() + "".join(f"{i},x,y\x85" for i in range(40)).encode())
    agree(b"a,b,c\n" + b"".join(lines), encoding="ascii")
    agree(b"a,b,c\n" + b"".join(lines), encoding="no-such-thing")
    agree(("a,b\n" + "1,京\n" * 50).encode("utf-16")[:-1])


PARTS = ["a", "b 5", "1", "2.5", "京", ",", ",", ", ", ";", '"', '"', '""', "'", "\\", "\n", "\n", "\r\n", "\r", "  ",
         "#", "\ufeff", "\x1f", "\x85", "---|---", "1,2\n", "x,y\n"]  # fmt: skip


@pytest.mark.parametrize("tried", [25, slowly(150)])
def test_any_text(tried: int) -> None:
    @settings(max_examples=tried)
    @given(st.lists(st.sampled_from(PARTS), max_size=60), st.sampled_from([1, 2, 7, 40]))
    def check(parts: list[str], size: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            cut_small(patch, size)
            agree("".join(parts).encode())

    check()


STRANGE = {
    "the reader's own delimiter in a single column": "label\nred\x1fx\nblue\nred\nblue\n",
    "a mark of byte order first in a cell": "a,b\n" + "'\ufeffx',5\" y\n" * 9,
    "a quote that closes before a blank": 'a, b, c\n1, 2, "3"\n"so" called, 4, 5\n6, 5" x, 7\n8, 9, 10\n',
    "a quote in a cell after a blank": 'a, b, c\n1, 2, "3"\nx "so, y", 4, 5\n6, 5" x, 7\n8, 9, 10\n',
    "a blank behind a quote": 'a, b, c\n"1" , 2, "3"\n4, 5, 6\n6, 5" x, 7\n8, 9, 10\n',
}


@pytest.mark.slow
@two_sizes
@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_strange_texts(text: str, small: None) -> None:
    agree(text.encode())


def test_a_quote_is_no_notation_where_it_closes_before_a_blank() -> None:
    reading = read_table(b'a, b, c\n1, 2, 3\n"so" called, 4, 5\n', typed=False)
    assert reading.frame["a"].tolist() == ["1", '"so" called']


def test_a_cell_of_a_single_column_is_whole() -> None:
    reading = read_table(b"label\nred\nblue\x1fish\nred\n", typed=False, delimiter="")
    assert reading.frame["label"].tolist() == ["red", "blue\x1fish", "red"]


@pytest.mark.parametrize("read", [
    lambda data: read_table(data, delimiter="\n"), lambda data: open_cells(data, FileForm(delimiter="\n"))
], ids=["read_table", "open_cells"])  # fmt: skip
def test_the_end_of_a_line_is_no_delimiter(read: Callable[[bytes], object]) -> None:
    with pytest.raises(ReadError, match="the end of a line cannot be the delimiter"):
        read(b"a,b\n1,2\n" * 40_000)


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"," * 2_000_000, b'5,5" x,' * 300_000], ids=["commas", "quotes within cells"])
def test_a_line_of_more_cells_than_any_table_is_refused_before_it_is_cut(line: bytes) -> None:
    assert len(next(tokenize.records(line, tokenize.Dialect()))[1]) == grid.MAX_COLUMNS + 1
    with pytest.raises(ReadError, match="more than can be read here"):
        open_cells(b"a,b\n1,2\n" * 40_000 + line)


@pytest.mark.slow
@pytest.mark.parametrize("empty", ["", ",,,\n", ", , ,\n"])
def test_rows_of_nothing_are_not_read_one_by_one(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    rows = file_blocks._Records.rows
    monkeypatch.setattr(file_blocks._Records, "rows", lambda own, *at: asked.append(1) or rows(own, *at))  # type: ignore[func-returns-value]
    text = "size,city,note,when\n" + "1,Oslo,x,y\n" * 30_000 + (empty or ",Oslo,x\n") * 30_000
    cells = open_cells(text.encode())
    assert len(cells) == (30_000 if empty else 60_000)
    assert len(asked) < 30


TRAIN = pd.DataFrame({"size": [1.0, 2.0, 5.0, 6.0, 9.0, 10.0], "city": ["Oslo"] * 2 + ["Rome"] * 2 + ["京都"] * 2})
MODEL = NaiveBayes().fit(TRAIN, pd.Series(["low", "low", "low", "high", "high", "high"], name="price"))
RESULTS: dict[str, Callable[[list[str]], bytes]] = {
    "a quote within a cell": lambda lines: "\n".join(lines).replace("Rome", 'Rome 5" x', 3).encode(),
    "comments": lambda lines: "\n".join(line + "\n# checked" * (i % 9 == 5) for i, line in enumerate(lines)).encode(),
    "UTF-16": lambda lines: "\r\n".join(lines).encode("utf-16"),
    "carriage returns": lambda lines: "\r".join(lines).encode(),
    "gzip": lambda lines: gzip.compress("\n".join(lines).encode("gb18030")),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "small"), [(write, SIZES[i % len(SIZES)]) for i, write in enumerate(RESULTS.values())],
    ids=RESULTS, indirect=["small"],
)  # fmt: skip
def test_the_results_of_pieces_are_those_of_the_whole(write: Callable[[list[str]], bytes], small: None) -> None:
    cities = ["Oslo", "Rome", "京都", "Bonn", "", " Rome", "=1+1", "007"]
    sizes = ["1", "2.50", "tall", "", "inf", "1e3", "-7"]
    rows = [f"{sizes[i % 7]},{cities[i % 8]},{('low', 'high', '?')[i % 3]}" for i in range(60)]
    data = write(["size,city,price", *rows])
    reading = read_table(data, typed=False)
    loss = LossMatrix.zero_one(tuple(MODEL.classes_))
    told = []
    for cells in (open_cells(data), CellBlocks.of(reading.frame, reading.report, reading.recipe)):
        received, scored = score_file(MODEL, Reception(cells, MODEL.schema_, MODEL.target_))
        told.append((as_csv(MODEL, received, scored, loss, loss.classes), received.bad, received.notes))
    assert told[0] == told[1]
    assert [cell.row for cell in told[0][1] if cell.value == "tall"] == list(range(2, 60, 7))
    assert b"\r\n2.50," in told[0][0] and b",007," in told[0][0]


ARFF_CELLS = ["1.50", "?", "'?'", "'a b'", "' lead'", r"'it\'s'", '"q, x"', "'a\x1fb'", "''", "京都", "x%y", "'\t'"]


@pytest.mark.slow
@examples(60)
@given(
    width=st.integers(1, 3),
    rows=st.lists(st.lists(st.sampled_from(ARFF_CELLS), min_size=3, max_size=3), min_size=1, max_size=12),
    kinds=st.lists(st.sampled_from(["", "sparse", "weight", "remark"]), min_size=12, max_size=12),
    size=st.sampled_from([5, 60, 1000]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_arff_in_pieces(width: int, rows: list[list[str]], kinds: list[str], size: int, end: str) -> None:
    lines = ["@relation r", *(f"@attribute c{i} string" for i in range(width)), "@data"]
    for kind, row in zip(kinds, rows, strict=False):
        told_of = ", ".join(f"{i} {row[i]}" for i in range(width) if row[i] != "?")
        text = f"{{{told_of}}}" if kind == "sparse" else ",".join(row[:width])
        lines += [text + {"weight": ", {0.5}", "remark": " % behind"}.get(kind, ""), "% remark", ""]
    data = end.join(lines).encode()
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, size)
        agree(data)


@pytest.mark.parametrize(("row", "why"), [("1,2,3", "line 9 of the ARFF data has 3 cells"), ("", "but no rows")])
def test_arff_in_pieces_says_what_is_wrong_and_where(row: str, why: str, small: None) -> None:
    fine = "% fine\n" * 2 if not row else "1,2\n\n% fine\n1,2\n"
    data = f"@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{fine}{row}\n".encode()
    with pytest.raises(ReadError, match=why):
        open_cells(data)


def test_parquet_is_written_as_text_a_block_at_a_time() -> None:
    out = io.BytesIO()
    pd.DataFrame({
        "whole": [1, 2, 3, 4, 5], "gaps": [1.0, np.nan, 2.5, np.nan, np.nan], "yes": [True, None, False, None, True],
        "day": pd.to_datetime(["2024-01-05", None, "2024-02-01 10:30", None, "1999-12-31"], format="ISO8601"),
        "city": pd.Categorical(["Oslo", None, "京都", "Oslo", "None"]), "long": [2**60 + i for i in range(5)],
        "empty": [None] * 5,
    }).to_parquet(out)  # fmt: skip
    cells, reading = open_cells(out.getvalue()), read_table(out.getvalue(), typed=False)
    blocks = list(cells.blocks(2))
    assert [len(block) for block in blocks] == [2, 2, 1]
    pd.testing.assert_frame_equal(pd.concat(blocks), reading.frame)
    assert (cells.report, cells.recipe) == (reading.report, reading.recipe)
    assert blocks[0]["long"].tolist() == ["1152921504606846976", "1152921504606846977"]
