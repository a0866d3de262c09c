"""A spreadsheet file (xlsx) written row by row: one sheet, texts as texts, numbers and days as such, never a formula.

Office Open XML, ECMA-376 part 1, §18: a zip of five small fixed parts and the sheet, which is written as it comes, so
that a million rows take the memory of a block. (XlsxWriter in its constant-memory mode takes seven times the CPU time
for the same cells, openpyxl twelve times; and both must be told cell by cell to leave a text alone that looks like a
formula or a link.)
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import IO, Literal, Self

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
MAX_TEXT = 32_767
"""Rows of a sheet, the header's included; its columns; UTF-16 units of a text in a cell."""

_FORBIDDEN = r"\x00-\x08\x0b-\x1f" + "\ufffe\uffff"
_NOT_PLAIN = rf"[&<>{_FORBIDDEN}]|_x[0-9A-Fa-f]{{4}}_"
"""What cannot stand in a text as it is: XML's own characters, those it forbids (and \\r, which it changes), and what
looks like the notation for these, _xHHHH_ (§22.9.2.19)."""
_ESCAPED = re.compile(rf"[&<>{_FORBIDDEN}]|_(?=x[0-9A-Fa-f]{{4}}[_{_FORBIDDEN}])")
"""The same, a character at a time: the _ that ends one such look-alike may begin another."""
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_OPEN, _CLOSE = '<c s="1" t="inlineStr"><is><t xml:space="preserve">', "</t></is></c>"
CellType = Literal["number", "day"]
_NUMBER, _LONGEST = r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?", 16
_DAY = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_DAY_0, _FIRST_DAY = pd.Timestamp("1899-12-30"), pd.Timestamp("1900-03-01")
"""A spreadsheet counts days from the first on, and before the second takes 1900 for a leap year."""
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f"""<Types xmlns="{_PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_KIND}.worksheet+xml"/></Types>""",
    "_rels/.rels": f"""<Relationships xmlns="{_PACKAGE}/relationships">
<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>""",
    "xl/workbook.xml": f"""<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><bookViews><workbookView/></bookViews>
<sheets><sheet name="predictions" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{_PACKAGE}/relationships">
<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>
<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>""",
    # style 1 is text (format 49, «@»), and stays text when its cell is edited; style 2 is a day
    "xl/styles.xml": f"""<styleSheet xmlns="{_MAIN}">
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="1"><font/></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="3"><xf/><xf numFmtId="49" applyNumberFormat="1" quotePrefix="1"/>
<xf numFmtId="164" applyNumberFormat="1"/></cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>""",
}
_BEGIN = f"""{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">
<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>"""
_END = f"""</sheetData><ignoredErrors><ignoredError sqref="A1:XFD{MAX_ROWS}" numberStoredAsText="1"/></ignoredErrors>
</worksheet>"""


class SheetWriter:
    """A workbook with one sheet under these column names, written to `out` as a context manager. `cut` counts the texts
    that were longer than a cell can hold.

    Raises TableError, before anything is written, where `rows` rows and these columns are more than a sheet has.

    >>> import io
    >>> out = io.BytesIO()
    >>> with SheetWriter(out, ["city", "size"], rows=1) as sheet:
    ...     sheet.add(pd.DataFrame({"city": ["=Oslo"], "size": [1.5]}))
    >>> pd.read_excel(out, engine="calamine").to_dict("records")
    [{'city': '=Oslo', 'size': 1.5}]
    """

    def __init__(self, out: IO[bytes], names: Sequence[str], rows: int) -> None:
        if rows + 1 > MAX_ROWS or len(names) > MAX_COLUMNS:
            raise TableError(
                "{rows} rows of {columns} columns do not fit a spreadsheet, which has {most_rows} rows with the "
                "header, and {most_columns} columns; take CSV or Parquet",
                rows=f"{rows:,}", columns=f"{len(names):,}", most_rows=f"{MAX_ROWS:,}",
                most_columns=f"{MAX_COLUMNS:,}",
            )  # fmt: skip
        self.cut = 0
        self._archive = zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        for path, part in _PARTS.items():
            self._archive.writestr(path, _XML + part)
        self._sheet = self._archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True)
        self._sheet.write(_BEGIN.encode())
        self._rows([self._texts(pd.Series([name], dtype="str")) for name in names])

    def add(self, frame: pd.DataFrame) -> None:
        """More rows; a column of numbers is written as numbers, one of days as days, any other as texts, missing cells
        empty."""
        self._rows([self._cells(column) for _, column in frame.items()])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._sheet.write(_END.encode())
        self._sheet.close()
        self._archive.close()

    def _rows(self, columns: list[list[str]]) -> None:
        rows = "".join([f"<row>{''.join(cells)}</row>" for cells in zip(*columns, strict=True)])
        self._sheet.write(rows.encode())

    def _cells(self, column: pd.Series) -> list[str]:
        if pd.api.types.is_numeric_dtype(column.dtype):
            return _numbers(column)
        return _days(column) if column.dtype.kind == "M" else self._texts(column)

    def _texts(self, column: pd.Series) -> list[str]:
        texts = column.astype("str")
        plain = not texts.str.contains(_NOT_PLAIN, regex=True).any()
        longest = texts.str.len().max()
        cells = texts.tolist()
        if longest > MAX_TEXT / 2:  # a character may be two units
            short = [_cut(text) for text in cells]
            self.cut += sum(a is not b for a, b in zip(cells, short, strict=True))
            cells = short
        if not plain:
            cells = [_ESCAPED.sub(_escape, text) for text in cells]
        return [f"{_OPEN}{text}{_CLOSE}" if text else "<c/>" for text in cells]


def _numbers(column: pd.Series) -> list[str]:
    finite = np.isfinite(column.to_numpy(dtype=float)).tolist()
    return [f"<c><v>{v!r}</v></c>" if fine else "<c/>" for v, fine in zip(column.tolist(), finite, strict=True)]


def _days(column: pd.Series) -> list[str]:
    numbers = (column - _DAY_0).dt.days
    return ["<c/>" if v != v else f'<c s="2"><v>{v:.0f}</v></c>' for v in numbers.tolist()]


def typed_columns(blocks: Iterable[pd.DataFrame], as_text: Collection[str] = ()) -> dict[int, CellType]:
    """Of texts that come a block at a time, the columns by position whose cells are all numbers, or all days. A number
    is written as a program writes it, with no more digits than a spreadsheet keeps, so that 007, 1E5 and the number of
    a card stay what they are; a day as 2024-01-31. The columns `as_text`, identifiers, stay texts.

    >>> cells = pd.DataFrame({"id": ["007", "12"], "sum": ["1.50", ""], "day": ["2024-01-31", "1999-12-01"]})
    >>> typed_columns([cells])
    {1: 'number', 2: 'day'}
    """
    left: dict[int, set[CellType]] = {}
    for block in blocks:
        for j, (name, column) in enumerate(block.items()):
            texts = column.dropna().astype("str")
            texts = texts[texts != ""]
            if name in as_text or texts.empty:
                continue
            possible = left.setdefault(j, {"number", "day"})
            if "number" in possible and not _are_numbers(texts):
                possible.discard("number")
            if "day" in possible and not _are_days(texts):
                possible.discard("day")
    return {j: next(iter(possible)) for j, possible in left.items() if possible}


def typed(block: pd.DataFrame, columns: Mapping[int, CellType]) -> pd.DataFrame:
    """The block with these columns of texts as numbers and as days."""
    frame = block.copy(deep=False)
    for j, kind in columns.items():
        texts = frame.iloc[:, j].astype(object)
        texts = texts.where(texts != "")
        cells = pd.to_numeric(texts).astype(float) if kind == "number" else _as_days(texts)
        frame.isetitem(j, cells.array)
    return frame


def _are_numbers(texts: pd.Series) -> bool:
    return bool(texts.str.len().max() <= _LONGEST and texts.str.fullmatch(_NUMBER).all())


def _are_days(texts: pd.Series) -> bool:
    return bool(texts.str.fullmatch(_DAY).all() and (_as_days(texts) >= _FIRST_DAY).all())


def _as_days(texts: pd.Series) -> pd.Series:
    return pd.to_datetime(texts, format="%Y-%m-%d", errors="coerce")


def too_long(texts: pd.Series) -> int:
    """How many of these texts no cell of a sheet holds.

    >>> too_long(pd.Series(["x" * 32_767, "x" * 32_768, "😀" * 16_384]))
    2
    """
    return sum(_cut(text) is not text for text in texts[texts.str.len() > MAX_TEXT / 2])  # a character may be two units


def _cut(text: str) -> str:
    units = text.encode("utf-16-le")
    return text if len(units) <= 2 * MAX_TEXT else units[: 2 * MAX_TEXT].decode("utf-16-le", "ignore")


def _escape(match: re.Match[str]) -> str:
    text = match.group()
    return _NAMED.get(text) or f"_x{ord(text):04X}_"
