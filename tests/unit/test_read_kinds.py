"""The kinds of files people hand in: what is no table is called by its name, what only looks like that is read, and
what stands below or between the rows of a table is told from them."""

from __future__ import annotations

import bz2
import io
import lzma
import random
import zipfile
from typing import Any, Literal

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.table.encode import encode
from bayes_engine.table.level_matching import match
from bayes_engine.table.read import read_table
from bayes_engine.table.schema import Schema, recast
from bayes_engine.workbench.incoming import file_blocks
from bayes_engine.workbench.incoming.file_blocks import FileForm, open_cells
from tests.conftest import at_least, crossed, every_other
from tests.unit.test_inferred_reading import said
from tests.unit.test_read_hostile import packed

NAMES = ["height", "weight", "city", "label"]
TOWN = ["Oslo", "Rome", "Lima", "Bonn"]
BODY: list[list[Any]] = [[150 + 1.5 * i, 50 + i, TOWN[i % 4], ["yes", "no"][i % 2]] for i in range(30)]
PLAIN = "".join(",".join(map(str, row)) + "\n" for row in [NAMES, *BODY])
TOWNS = "city,height,label\n" + "".join(f"{c},{h},{y}\n" for h, _, c, y in BODY)


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts are read in pieces: what is said here of a short one holds for them too."""
    monkeypatch.setattr(file_blocks, "LEAST", -1)


def same_in_pieces(data: bytes, **told: Any) -> None:
    cells, whole = open_cells(data, FileForm(**told)), read_table(data, typed=False, **told)
    assert pd.concat(list(cells.blocks(7))).equals(whole.frame)
    assert [str(n.message) for n in cells.report] == [str(n.message) for n in whole.report]


# ---- what is no table ------------------------------------------------------------------------------------------------


def a_zip(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, PLAIN)
    return out.getvalue()


def stata(version: Literal[114, 118]) -> bytes:
    out = io.BytesIO()
    pd.DataFrame(BODY, columns=NAMES).to_stata(out, write_index=False, version=version)
    return out.getvalue()


def arrow() -> bytes:
    out = io.BytesIO()
    feather.write_feather(pa.table({"a": [1, 2]}), out)
    return out.getvalue()


@pytest.mark.parametrize(("data", "kind"), [
    (lzma.compress(PLAIN.encode()), "an xz file, in which there may be one; unpack it"),
    (bz2.compress(PLAIN.encode()), "a bzip2 file, in which"), (a_zip(), "a zip archive, in which"),
    (b"\x04\x22\x4d\x18" + bytes(9), "an lz4 file, in which"), (b"\x1f\x9d\x90ab", "a compressed file, in which"),
    (a_zip("word/document.xml"), "a Word document"), (b"{\\rtf1 hello}", "an RTF document"),
    (arrow(), "an Arrow"), (b"\x89HDF\r\n\x1a\n" + bytes(9), "an HDF5 file"), (b"RDX3\nX\n" + bytes(9), "an R data"),
    (b"X\n\0\0\0\x03\0\x04", "an R data file"), (b"SQLite format 3\0", "an SQLite database"),
    (b"$FL2@(#) SPSS DATA FILE" + bytes(9), "an SPSS file"), (b"$FL3@(#) SPSS DATA FILE", "an SPSS file"),
    (stata(114), "a Stata file"), (stata(118), "a Stata file"),
    (bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf", "a SAS file"),
    (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!" + b"0" * 30, "a SAS file"),
    (b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\x01IM", "a MATLAB file"),
    (b"%!PS-Adobe-3.0\n%%Title: x\n/a {b} def\nshowpage\n", "a PostScript document"),
    (b"II*\0" + bytes(30), "a TIFF image"), (b"CDF\x01" + bytes(30), "a NetCDF file"), (b"Obj\x01\x04", "an Avro"),
    (b"\xca\xfe\xba\xbe\0\0\0\x34", "a program"), (b"\0\x01\0\0Standard Jet DB\0", "an Access database"),
])  # fmt: skip
def test_what_is_no_table_is_called_by_its_name(data: bytes, kind: str) -> None:
    for read in (read_table, open_cells):
        with pytest.raises(ReadError, match=f"looks like {kind}"):
            read(data)


@pytest.mark.parametrize("text", [
    "<title>404 Not Found</title>\n<h1>Not Found</h1>\n", '<meta charset="utf-8">\n<p>Please sign in,\nfriend\n',
    "MIME-Version: 1.0\nContent-Type: multipart/related\n\n<html><table><tr><td>1</td></tr></table></html>\n",
])  # fmt: skip
def test_pages_without_their_first_tag_are_pages(text: str) -> None:
    with pytest.raises(ReadError, match="web page"):
        read_table(text.encode())


def test_control_characters_in_two_bytes_are_no_text() -> None:
    with pytest.raises(ReadError, match="binary"):
        read_table("\x01\x02\x03".encode("utf-16-le") * 50)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mark"), crossed([
    "PK", "PAR1", "ID3", "BM", "ORC", "Rar!", "BZh9", "GIF8", "RIFFabcd", "RDX", "<script>alert(1)</script>",
    "<svg onload=window.x=1>", "<div style='x'>", "<!--", "<x>",
], [",", "\t"]))  # fmt: skip
def test_a_first_name_that_looks_like_another_file_is_a_name(name: str, mark: str) -> None:
    data = "".join(mark.join(row) + "\n" for row in [(name, "b", "label"), *[("1", "2", "</x>"), ("2", "3", "y")] * 9])
    reading = read_table(data.encode())
    assert list(reading.frame) == [name, "b", "label"]
    assert reading.frame.shape == (18, 3)
    same_in_pieces(data.encode())


@pytest.mark.parametrize("encoding", ["base64", "rot13", "zlib", "hex"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str) -> None:
    with pytest.raises(ReadError, match=f"there is no encoding '{encoding}'"):
        read_table(PLAIN.encode(), encoding=encoding)


# ---- below and between the rows --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("table", "below"), every_other([
    (PLAIN, "\nSource: me, 2024\n"), (PLAIN, "Source: me, 2024\n"), (PLAIN, ",,,\nSource: me,,,\n"),
    (PLAIN, "\nNotes:\n1) the first, the second\n\nSource: me, 2024\n"), (PLAIN, "\nby hand, 5\n"),
    (TOWNS, "\nSource: me, 2024\n"), (TOWNS, "\n数据来源：统计局, 2024\n"),
    (PLAIN.replace(",", ";"), "\nQuelle: Amt; Stand 2024\n"),
]))  # fmt: skip
def test_what_is_written_below_a_table_is_left_out_and_said(table: str, below: str) -> None:
    data = (table + below).encode()
    reading = read_table(data)
    assert len(reading.frame) == 30
    assert reading.frame["height"].dtype == float
    assert "left out as a footer" in said(reading)
    assert len(read_table(data, trim=False).frame) > 30
    same_in_pieces(data)


def test_a_footer_below_two_columns() -> None:
    table = "x,label\n" + "".join(f"{i * 7 % 13},{'ab'[i % 2]}\n" for i in range(20))
    reading = read_table(f"{table}\nSource: me\n".encode())
    assert reading.frame["x"].dtype == int
    assert "from line 23: 'Source: me'" in said(reading)
    assert len(read_table(f"{table}\n5,\n".encode()).frame) == 21


@pytest.mark.slow
@pytest.mark.parametrize(("table", "below"), every_other([
    (PLAIN, "\n180.0,70,Oslo,yes\n"), (PLAIN, "\n180.0,70\n"), (PLAIN, "\nNA,70\n"), (TOWNS, "\nParis,160\n"),
    (TOWNS, "Paris,160,\n"), (PLAIN.replace("\n", "\n\n"), "180.0,70,Oslo,\n"), (TOWNS, "Paris: centre,160\n"),
    (TOWNS.replace("Oslo", "Oslo: centre"), "\nParis: centre,160\n"),
    ("id,a,b\n" + "".join(f"#{i},{i * 3 % 7},{i % 5}\n" for i in range(30)), "#30,,\n"),
    ("id,a,b\n" + "".join(f"#{i},{i * 3 % 7},{i % 5}\n" for i in range(30)), "#30,5\n"),
]))  # fmt: skip
def test_a_row_of_which_cells_are_missing_is_a_row(table: str, below: str) -> None:
    reading = read_table((table + below).encode())
    assert len(reading.frame) == 31
    assert "footer" not in said(reading)
    assert "comments" not in said(reading)
    same_in_pieces((table + below).encode())


def test_comments_between_rows_may_hold_delimiters() -> None:
    data = PLAIN.replace("\n", "\n# by hand, with the new scale\n", 5).encode()
    reading = read_table(data)
    assert reading.frame.shape == (30, 4)
    assert reading.frame["weight"].dtype == int
    assert "comments between the rows that are left out: 5 (line 2, 4, 6, 8, 10)" in said(reading)
    assert len(read_table(data, trim=False).frame) == 35
    same_in_pieces(data)


def test_a_first_line_that_names_another_delimiter() -> None:
    data = f"sep=;\n{PLAIN}".encode()
    reading = read_table(data)
    assert list(reading.frame) == NAMES
    assert "the delimiter is ';', which stands nowhere below; another was guessed" in said(reading)
    same_in_pieces(data)


@pytest.mark.parametrize("encoding", ["cp850", "mac_roman", "cp1252"])
def test_umlauts_of_old_systems(encoding: str) -> None:
    rows = zip(["Köln", "München", "Düsseldorf"] * 8, range(1000, 1024), ["groß", "klein"] * 12, strict=True)
    data = "stadt,einkommen,klasse\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    reading = read_table(data.encode(encoding))
    assert reading.frame["stadt"].tolist()[:3] == ["Köln", "München", "Düsseldorf"]
    assert "encoding guessed" in said(reading)


# ---- spreadsheets ----------------------------------------------------------------------------------------------------


def sheets(**rows: list[list[Any]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, lines in rows.items():
        sheet = made.create_sheet(name)
        for line in lines:
            sheet.append(line)
    return packed(made)


@pytest.mark.parametrize(("lines", "what"), [
    ([NAMES, *BODY, [], ["Source: me", 2024]], "left out as a footer: 1, from line 33: 'Source: me 2024'"),
    ([NAMES, *BODY, [], ["Contact", "a@b.c"], ["Source: me", 2024]], "left out as a footer: 2, from line 33"),
    ([NAMES, *BODY[:4], ["# by hand"], *BODY[4:]], "comments between the rows that are left out: 1 (line 6)"),
    ([NAMES, *BODY, [], ["a", "b", "c"], *([i, 2 * i, i % 3] for i in range(4))],
     "a second table seems to begin in line 33 ('a b c')"),
])  # fmt: skip
def test_a_sheet_is_cut_as_a_text_is(lines: list[list[Any]], what: str) -> None:
    reading = read_table(sheets(S=lines))
    assert reading.frame.shape == (30, 4)
    assert reading.frame["height"].dtype == float
    assert what in said(reading)


def test_a_sheet_of_lines_of_text_is_not_the_table() -> None:
    data = sheets(Readme=[["This is a workbook"], ["made by me"], ["see the next"]], Data=[NAMES, *BODY])
    reading = read_table(data)
    assert reading.recipe.sheet == "Data"
    assert "the workbook has 2 sheets; 'Data' was read" in said(reading)
    assert len(read_table(data, sheet="Readme").frame) == 2
    assert len(read_table(sheets(One=[["x"], [1], [2]], Two=[["x"], [3]])).frame) == 2


# ---- wide tables -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_thousands_of_columns_without_a_cell_are_no_table() -> None:
    with pytest.raises(ReadError, match="every cell of the file is empty"):
        read_table(b"," * 19_000 + b"\n" + b"," * 19_000)


@pytest.mark.slow
def test_a_wide_table_comes_back_cell_by_cell() -> None:
    rng = random.Random(0)
    rows = [[rng.choice(["", "0.5", "x y", "NA", "é"]) for _ in range(600)] for _ in range(5)]
    text = "\n".join(",".join(row) for row in [[f"c{j}" for j in range(600)], *rows]) + "\n"
    frame = read_table(text.encode(), typed=False).frame
    assert frame.to_numpy(dtype=object).tolist() == rows
    assert {str(dtype) for dtype in frame.dtypes} == {"str" if at_least("pandas", 3) else "object"}
    same_in_pieces(text.encode())


# ---- names that are numbers ------------------------------------------------------------------------------------------


def test_numbers_of_columns_above_words_are_names() -> None:
    rows = "".join(f"{i * 3 % 7},{i * 5 % 11},{i},{'ab'[i % 2]}\n" for i in range(20))
    reading = read_table(f"0,1,2,3\n{rows}".encode())  # 0, 1 and 2 are among the numbers below
    assert list(reading.frame) == ["0", "1", "2", "3"]
    assert len(reading.frame) == 20
    assert len(read_table(f"0,1,2,b\n{rows}".encode()).frame) == 21


# ---- numbers that are categories -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "levels"), [
    (["1", "", "2", "3"], ["1", "2", "3"]), (["1", "2", "3", "NA"], ["1", "2", "3"]), (["0", "", "1"], ["0", "1"]),
    (["1", "2", "3"], ["1", "2", "3"]), (["1.5", "", "2"], ["1.5", "2.0"]), (["-1", "", "1"], ["-1", "1"]),
    (["5", "", "5"], ["5"]),
])  # fmt: skip
def test_codes_beside_missing_cells_are_levels_as_they_are_written(cells: list[str], levels: list[str]) -> None:
    rows = "".join(f"{cell},{'uv'[i % 2]}\n" for i, cell in enumerate(cells * 6))
    reading = read_table(f"code,y\n{rows}".encode())
    code = recast(reading.schema["code"], reading.frame["code"], "categorical")
    assert [str(level) for level in code.levels] == levels
    schema = Schema((code, reading.schema["y"]))
    table = encode(reading.frame, schema)
    assert [0 if c == "" or c == "NA" else 1 + levels.index(f"{float(c)}" if c not in levels else c)
            for c in cells * 6] == table["code"].tolist()  # fmt: skip
    assert match(pd.Series(cells), code, None, ".").codes.tolist() == table["code"].tolist()[: len(cells)]
