"""A workbook is the same table whichever way it is read: whole, or a sheet in slices of a row each."""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
import openpyxl
import pandas as pd
import pytest

from bayes_engine.errors import ReadError
from bayes_engine.progress import Cancelled, watching
from bayes_engine.table import workbooks, xlsx_parts
from bayes_engine.table.read import read_table
from bayes_engine.table.workbooks import Workbook, workbook
from bayes_engine.table.write import WRITERS
from bayes_engine.table.xlsx_parts import open_workbook
from bayes_engine.workbench.incoming import file_blocks
from bayes_engine.workbench.incoming.file_blocks import open_cells
from tests.conftest import at_least, every_other, slowly

when = dt.datetime.fromisoformat
TABLE = [["size", "city", "n"], *([i + 0.5, "Oslo" if i % 2 else "Rome", i] for i in range(8))]


def packed(**sheets: list[list[object]]) -> bytes:
    """A workbook with these sheets."""
    return saved(lambda sheet, rows: [sheet.append(row) for row in rows], **sheets)


def saved(fill: Callable[..., object], **sheets: object) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        fill(book.create_sheet(title), rows)
    book.save(out)
    return out.getvalue()


def cells(**at: object) -> bytes:
    """A sheet with these cells."""
    return saved(lambda sheet, found: [sheet.__setitem__(*cell) for cell in found.items()], data=at)


def changed(data: bytes, change: Mapping[str, Callable[[str], str]]) -> bytes:
    """A workbook of which some parts are written otherwise."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as to:
        for name in archive.namelist():
            text = archive.read(name).decode()
            to.writestr(name, next((how(text) for part, how in change.items() if name.endswith(part)), text))
    return out.getvalue()


def written(data: str, before: str = "", behind: str = "") -> bytes:
    """A sheet of these rows of XML."""
    head = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{before}<sheetData>'
    return changed(packed(data=TABLE), {"sheet1.xml": lambda _: f"{head}{data}</sheetData>{behind}</worksheet>"})


def row(*values: object, r: int = 0) -> str:
    texts = {v: f'<c t="inlineStr"><is><t>{v}</t></is></c>' for v in values}
    inner = [f"<c><v>{v}</v></c>" if isinstance(v, int) else texts[v] for v in values]
    number = f' r="{r}"' if r else ""
    return f"<row{number}>{''.join(inner)}</row>"


def decorated() -> bytes:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet, rows: list[list[object]]) -> None:
        for values in rows:
            sheet.append(values)
        sheet.merge_cells("B2:B3")
        sheet["D1"], sheet["D2"], sheet["D3"] = "kind", "#DIV/0!", "=A2+1"
        kinds = [(0.25, "0%"), (when("2024-01-05"), "yyyy-mm-dd"), (1e20, "General"), (True, "General"),
                 (when("2024-01-05 03:04:05"), "yyyy-mm-dd hh:mm:ss"), (dt.time(3, 4), "hh:mm"),
                 (dt.timedelta(hours=30), "[h]:mm:ss")]  # fmt: skip
        for at, (value, how) in enumerate(kinds, start=1):
            sheet.cell(at, 5, value).number_format = how

    return saved(fill, data=TABLE)


def shared() -> bytes:
    """Texts are in a part of their own, as Excel writes them, some in several fonts."""
    texts = ["<t>a</t>", "<t>b</t>", "<t>Oslo</t>", "<r><t>Ro</t></r><r><rPr><b/></rPr><t>me</t></r>", "<t>Bonn</t>"]
    rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>{j}</v></c><c r="B{i}" t="s"><v>{k}</v></c></row>'
                   for i, (j, k) in enumerate([(0, 1), (2, 3), (3, 2), (4, 3)], start=2))  # fmt: skip
    out = io.BytesIO(written(rows))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst>{''.join(f'<si>{text}</si>' for text in texts)}</sst>")
    return out.getvalue()


def ours(rows: int = 50) -> bytes:
    out = io.BytesIO()
    frame = pd.DataFrame({"x": np.arange(rows) / 4, "city": ["Os&lo\n", "", "=R"] * (rows // 3) + ["u"] * (rows % 3)})
    WRITERS["xlsx"](out, [frame], rows)
    return out.getvalue()


def in_1904() -> bytes:
    out, book = io.BytesIO(), openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for values in (["day", "x"], [when("2024-01-05"), 1], [when("2024-02-06 07:00"), 2]):
        book.active.append(values)
    book.save(out)
    return out.getvalue()


def hidden() -> bytes:
    def fill(sheet: openpyxl.worksheet.worksheet.Worksheet, rows: list[list[object]]) -> None:
        for values in rows:
            sheet.append(values)
        sheet.sheet_state = "hidden" if sheet.title == "secret" else "visible"

    return saved(fill, secret=TABLE, shown=[["a", "b"], [1, 2]])


PREFIXED = {"sheet1.xml": lambda text: re.sub(r"<(/?)(?=\w)", r"<\1m:", text).replace("xmlns=", "xmlns:m=")}
BOOKS: dict[str, Callable[[], bytes]] = {
    "a table": lambda: packed(data=TABLE),
    "values of every kind, merged, errors, formulas": decorated,
    "dates from 1904": in_1904,
    "shared texts": shared,
    "notes first": lambda: packed(notes=[["ask me first"]], none=[], data=TABLE),
    "hidden": hidden,
    "one column": lambda: packed(data=[["a"], [1], [2]]),
    "nothing": lambda: packed(data=[]),
    "a row alone": lambda: packed(data=[["a", "b"]]),
    "empty texts": lambda: written(row("", "", "") + row("a", "", "b") + row("", "", "") + row(1, "", 2) * 3),
    "empty rows and columns before": lambda: cells(C4="a", D4="b", C5=1, D5=2, C9=3, D9=4),
    "a column before, filled late": lambda: cells(C1="a", D1="b", C2=1, D2=2, B6=5, C6=3, D6=4, F7=1),
    "ragged": lambda: packed(data=[["a", "b"], [1], [2, 3, 4], [], [5, 6]]),
    "a title": lambda: packed(data=[["Melons"], [], ["size", "city"], [1, "x"], [2, "y"], ["source: me"]]),
    "long numbers": lambda: packed(data=[["id", "x"], [2**60, 1], [1.5, 2**61], [2**62, 3]]),
    "lines and marks in cells": lambda: packed(data=[["a", 'b"'], ['"x"', "y\nz"], ["\ufeff,", "</row>"], [" ", "w"]]),
    "the mark between cells": lambda: written(row("a_x001F_", "b") + row("_x001F_", "_x000D_") + row("c", "_x0000_")),
    "as it is written here": ours,
    "rows with numbers and without": lambda: written(row("a", "b") + row(1, 2, r=4) + row(3, 4) + "<row/>" + row(5, 6)),
    "empty rows with numbers": lambda: written('<row r="3"/>' + row("a", "b") + '<row r="7"></row>' + row(3, 4)),
    "a prefix": lambda: changed(packed(data=TABLE), PREFIXED),
    "a comment that looks like a row": lambda: written(row("a", "b") + "<!-- </row></sheetData> -->" + row(1, 2)),
    "characters as they are": lambda: written(row("a", "<![CDATA[</row>]]>") + row(1, 2)),
    "ends with spaces": lambda: written((row("a", "b") + row(1, 2)).replace("</row>", "</row >")),
    "ends with spaces and without": lambda: written(row("a", "b") + row(1, 2).replace("</row>", "</row >") + row(3, 4)),
    "not closed": lambda: changed(packed(data=TABLE), {"sheet1.xml": lambda text: text.split("</sheetData>")[0]}),
    "broken off": lambda: changed(packed(data=TABLE), {"sheet1.xml": lambda text: text[: len(text) // 2]}),
    "two rows of one number": lambda: written(row("a", "b", r=1) + row(1, 2, r=2)),
    "Parquet's letters in a name": lambda: packed(**{"a & <b>": TABLE}),
}  # fmt: skip
"""Workbooks of every kind."""


def told(data: bytes, **how: object) -> object:
    """All that reading gives, or what it refuses."""
    try:
        reading = read_table(data, typed=False, **how)  # type: ignore[arg-type]
    except ReadError as error:
        return str(error)
    return list(reading.frame), reading.frame.to_numpy(dtype=object).tolist(), reading.report, reading.recipe


def told_in_blocks(data: bytes) -> object:
    try:
        found = open_cells(data)
    except ReadError as error:
        return str(error)
    rows = [values for block in found.blocks(2) for values in block.to_numpy(dtype=object).tolist()]
    assert isinstance(found._read, file_blocks._Rows)
    return list(found.names), rows, found.report, found.recipe


@pytest.fixture
def sliced(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[bytes]]:
    """From its call on sheets are read in slices of a row; gives the workbooks that are opened."""

    def begin() -> list[bytes]:
        seen: list[bytes] = []
        monkeypatch.setattr(xlsx_parts, "SLICE", 0)
        monkeypatch.setattr(xlsx_parts, "SHARE", 10**9)
        for module in (workbooks, xlsx_parts):
            monkeypatch.setattr(module, "open_workbook", lambda data: (seen.append(data), open_workbook(data))[1])
        return seen

    return begin


@pytest.mark.parametrize("kind", BOOKS)
@pytest.mark.slow
def test_both_ways_are_one(kind: str, sliced: Callable[[], list[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    data = BOOKS[kind]()
    want = told(data)
    sliced()
    assert told(data) == want
    monkeypatch.setattr(file_blocks, "LEAST", -1)
    monkeypatch.setattr(workbooks, "ROWS", 2)
    if kind != "the mark between cells" or at_least("pandas", 3):  # the app's; older ones drop a NUL
        assert told_in_blocks(data) == want


@pytest.mark.parametrize(
    "kind", every_other(["a table", "a column before, filled late", "ragged", "a title", "empty texts"])
)
def test_a_sheet_that_is_read_whole_is_cut_into_blocks_too(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = BOOKS[kind]()
    want = told(data)
    monkeypatch.setattr(file_blocks, "LEAST", -1)
    monkeypatch.setattr(workbooks, "ROWS", 2)
    assert told(data) == want
    assert told_in_blocks(data) == want


def test_what_every_kind_of_cell_is_as_text() -> None:
    rows = told(decorated())[1]  # type: ignore[index]
    assert [values[4] for values in rows[:7]] == [
        "2024-01-05", "100000000000000000000", "TRUE", "2024-01-05 03:04:05", "03:04:00", "1 day, 6:00:00", "",
    ]  # fmt: skip
    assert rows[0][:4] == ["0.5", "Rome", "0", ""]
    assert told(shared())[:2] == (["a", "b"], [["Oslo", "Rome"], ["Rome", "Oslo"], ["Bonn", "Rome"]])  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a table", "a prefix", "as it is written here", "rows with numbers and without"])
def test_no_slice_holds_more_than_a_row(kind: str, sliced: Callable[[], list[bytes]]) -> None:
    data = BOOKS[kind]()
    rows = len(told(data)[1])  # type: ignore[index,arg-type]
    seen = sliced()
    told(data)
    assert len(seen) > rows
    for slice_ in seen:
        with zipfile.ZipFile(io.BytesIO(slice_)) as archive:
            held = archive.read("xl/worksheets/sheet1.xml")
        assert len(re.findall(rb"</(?:m:)?c>|<(?:m:)?c ?/>", held)) <= 3


def test_a_long_sheet_beside_short_ones_is_sliced_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(notes=[["ask"]], long=[["a", "b"], *([i, "x"] for i in range(300))], short=TABLE)
    want = {name: told(data, sheet=name) for name in ("notes", "long", "short")}
    monkeypatch.setattr(xlsx_parts, "SLICE", 4000)
    monkeypatch.setattr(xlsx_parts, "SHARE", 10**9)
    book = workbook(data, 10**6)
    assert book is not None and book.sheets == ("notes", "long", "short")
    assert [book._slices(name) is None for name in book.sheets] == [True, False, True]
    assert {name: told(data, sheet=name) for name in book.sheets} == want


def test_rows_that_are_not_in_their_order(sliced: Callable[[], list[bytes]]) -> None:
    data = written(row("a", "b", r=1) + row(5, 6, r=3) + row(3, 4, r=2))
    assert told(data)[1] == [["3", "4"], ["5", "6"]]  # type: ignore[index]
    sliced()
    with pytest.raises(ReadError, match="rows of sheet 'data' are not in their order"):
        read_table(data)


def test_a_sheet_that_is_damaged_is_called_by_its_name(sliced: Callable[[], list[bytes]]) -> None:
    sliced()
    for kind in ("not closed", "broken off"):
        with pytest.raises(ReadError, match="sheet 'data' is damaged"):
            read_table(BOOKS[kind]())


@pytest.mark.slow
@pytest.mark.parametrize("size", [slowly(1), 7, slowly(64)])
def test_what_cells_hold_instead_of_values_is_counted_wherever_reading_stops(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def marks() -> xlsx_parts.XlsxMarks:
        return xlsx_parts.marks_of(data)._replace(heads={})

    data = decorated()
    want = marks()
    assert want.errors == want.formulas == sum(map(len, want.merged.values())) == 1
    monkeypatch.setattr(xlsx_parts, "_READ", size)
    assert marks() == want


def test_no_part_is_held_whole_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(row("x" * 300_000, "y") + row("</f></c>", 1) * 9)
    monkeypatch.setattr(xlsx_parts, "_READ", 1000)
    monkeypatch.setattr(xlsx_parts, "_CELL", 5000)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        part = archive.getinfo("xl/worksheets/sheet1.xml")
        assert part.file_size > 300_000
        stretches = list(xlsx_parts._stretches(archive, part))
        assert max(len(text) for text, _ in stretches) <= 6000
        assert b"".join(text[:end] for text, end in stretches) == archive.read(part)


def test_reading_a_sheet_tells_how_far_it_is_and_can_be_called_off(sliced: Callable[[], list[bytes]]) -> None:
    data = packed(data=TABLE)
    seen = sliced()
    far: list[tuple[float, int]] = []
    with watching(lambda: False, lambda done, total: far.append((done, total)), pace=0.0):
        open_cells(data)
    assert len(far) > 9 and [done for done, _ in far] == sorted(done for done, _ in far)
    assert all(0 <= done <= total for done, total in far)
    every = len(seen)
    seen.clear()
    with pytest.raises(Cancelled), watching(lambda: len(seen) > 4, pace=0.0):
        open_cells(data)
    assert len(seen) < every / 2


def test_a_workbook_may_hold_more_in_its_sheets_than_beside_them() -> None:
    data = written((row("a" * 500, "b") + row(1, 2)) * 400)
    assert isinstance(workbook(data, 20_000), Workbook)
    with pytest.raises(ReadError, match="unpacks to more than 0 MB"):
        workbook(data, 10_000)
    texts = changed(packed(data=TABLE), {"styles.xml": lambda text: text + " " * 200_000})
    with pytest.raises(ReadError, match="unpacks to more than 0 MB"):
        workbook(texts, 20_000)


def test_ods() -> None:
    name = "urn:oasis:names:tc:opendocument:xmlns:%s:1.0"
    space = "".join(f' xmlns:{short}="{name % short}"' for short in ("office", "table", "text"))

    def cell(value: object) -> str:
        kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        return f'<table:table-cell office:value-type="{kind}"><text:p>{value}</text:p></table:table-cell>'

    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in TABLE)
    table = f'<table:table table:name="measured">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    kind, out = "application/vnd.oasis.opendocument.spreadsheet", io.BytesIO()
    listed = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", f"<office:document-content{space}>{body}</office:document-content>")
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{name % "manifest"}">{listed}</manifest:manifest>',
        )
    reading = read_table(out.getvalue())
    assert reading.frame["size"].tolist() == [i + 0.5 for i in range(8)] and reading.recipe.sheet == "measured"
    assert reading.frame["city"].tolist() == ["Rome", "Oslo"] * 4
