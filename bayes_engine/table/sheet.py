"""A spreadsheet file (xlsx) written row by row: one sheet, texts as texts, numbers as numbers, never a formula.

Office Open XML, ECMA-376 part 1, §18: a zip of five small fixed parts and the sheet, which is written as it comes, so
that a million rows take the memory of a block. (XlsxWriter in its constant-memory mode takes seven times the CPU time
for the same cells, openpyxl twelve times; and both must be told cell by cell to leave a text alone that looks like a
formula or a link.)
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Self

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
    # style 1 is text (format 49, «@»), and stays text when its cell is edited
    "xl/styles.xml": f"""<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="2"><xf/><xf numFmtId="49" applyNumberFormat="1" quotePrefix="1"/></cellXfs>
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
        """More rows; a column of numbers is written as numbers, any other as texts, missing cells empty."""
        self._rows([
            _numbers(column) if pd.api.types.is_numeric_dtype(column.dtype) else self._texts(column)
            for _, column in frame.items()
        ])  # fmt: skip

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
