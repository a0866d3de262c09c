"""What is no table: files of other kinds, known by how they begin, refused with what they are and what to do."""

from __future__ import annotations

import json
import re
from itertools import islice

from bayes_engine.errors import ReadError
from bayes_engine.language import Message
from bayes_engine.table.encodings import MOST

_SIGNATURES = tuple((re.compile(pattern, re.DOTALL), kind) for pattern, kind in (
    (rb"\x89PNG", Message("a PNG image")), (rb"\xff\xd8\xff", Message("a JPEG image")),
    (rb"GIF8[79]a", Message("a GIF image")), (rb"BM.{4}\0\0\0\0", Message("a BMP image")),
    (rb"II\*\0|MM\0\*", Message("a TIFF image")), (rb"%PDF-", Message("a PDF document")),
    (rb"%!PS|\xc5\xd0\xd3\xc6", Message("a PostScript document")), (rb"\{\\rtf", Message("an RTF document")),
    (rb"\xd0\xcf\x11\xe0", Message("an old Office document")),
    (rb"PK\x03\x04.*word/document\.xml", Message("a Word document")),
    (rb"RIFF.{4}(?:WAVE|AVI |WEBP)|ID3[\x02-\x04]\0|\0\0..ftyp", Message("a media file")),
    (rb"SQLite format 3", Message("an SQLite database")),
    (rb"\0\x01\0\0Standard (?:Jet|ACE) DB", Message("an Access database")),
    (rb"\x93NUMPY", Message("a NumPy array")), (rb"\x89HDF", Message("an HDF5 file")),
    (rb"CDF[\x01\x02\x05]", Message("a NetCDF file")), (rb"MATLAB 5\.0 MAT-file", Message("a MATLAB file")),
    (rb"ARROW1\0\0|FEA1\0|\xff{4}.{3}\0\x10\0\0\0", Message("an Arrow (Feather) file")),
    (rb"ORC.{0,99}?[\0-\x08\x0e-\x19]", Message("an ORC file")), (rb"Obj\x01", Message("an Avro file")),
    (rb"RD[AX][23]\n[ABX]\n|X\n\0\0\0[\x02\x03]", Message("an R data file")),
    (rb"\$FL[23]@\(#\)", Message("an SPSS file")),
    (rb"<stata_dta>|[hi\x6c-\x73][\x01\x02]\x01\0", Message("a Stata file")),
    (rb"\0{12}\xc2\xea\x81\x60|HEADER RECORD\*{7}LIB", Message("a SAS file")),
    (rb"\x7fELF|MZ\x90|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|\0asm", Message("a program")),
    (rb"\x80[\x02-\x05]", Message("a pickle")), (rb"x\x9c", Message("a compressed pickle (joblib)")),
))  # fmt: skip
"""How a file begins that is no text, and what it is."""
_PACKED = tuple((re.compile(pattern, re.DOTALL), kind) for pattern, kind in (
    (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", Message("a zip archive")), (rb".{257}ustar[\0 ]", Message("a tar archive")),
    (rb"7z\xbc\xaf", Message("a 7z archive")), (rb"Rar!\x1a", Message("a RAR archive")),
    (rb"BZh[1-9](?:1AY|\x17rE)", Message("a bzip2 file")), (rb"\xfd7zXZ", Message("an xz file")),
    (rb"\x28\xb5\x2f\xfd", Message("a zstd file")), (rb"\x04\x22\x4d\x18", Message("an lz4 file")),
    (rb"\x1f[\x9d\xa0]|x[\x01\xda].{0,99}?[\0\x02-\x08\x0e-\x19]|\x5d\0\0", Message("a compressed file")),
))  # fmt: skip
"""The same, where it may hold a table."""


def refuse_binary(data: bytes) -> None:
    """Raises ReadError on what is no text, saying what it looks like."""
    if kind := next((kind for begin, kind in _SIGNATURES if begin.match(data)), None):
        raise ReadError(
            "the file is not a CSV or text table but looks like {kind} (binary); open it in the program it comes from "
            "and save the table as CSV or xlsx",
            kind=kind,
        )
    if kind := next((kind for begin, kind in _PACKED if begin.match(data)), None):
        raise ReadError(
            "the file is not a CSV or text table but looks like {kind}, in which there may be one; unpack it, and "
            "upload the table itself (it may be packed with gzip)",
            kind=kind,
        )


_TABLE = re.compile(r"<tr\b[^<>]*>\s*+<t[hd]\b[^<>]*>[^<>]*<", re.IGNORECASE)


def refuse_foreign_text(data: bytes) -> None:
    """Raises ReadError on text that is another kind of file: a web page, JSON, XML; and on no text at all."""
    head, end = data[: 4 * MOST].decode(errors="ignore"), data[-1200:].decode(errors="ignore")[-300:]
    start = head[:2000].lstrip("\ufeff \t\r\n").lower()
    if re.fullmatch(rb"(?:\xef\xbb\xbf|[ \t\r\n\x1a])*+", data):
        raise ReadError("the file is empty: there is no data in it")
    tabular = _tabular(head)
    if re.match(r"<(?:!doctype html|html|head|body|table|meta|style)\b|mime-version: 1\.0\s", start) and _TABLE.search(
        head
    ):
        raise ReadError("the file is a web page (HTML) with a table in it, whatever its name says (some programs save "
                        "HTML as .xls); open it in a spreadsheet program and save it as xlsx or CSV")  # fmt: skip
    if re.match(r"<!doctype html|<html|<head|<body|mime-version: 1\.0\s", start) or (
        re.match(r"<(?:script|style|title|meta|link|h\d|p)\b|<!--", start) and not tabular
    ):
        raise ReadError("the file is a web page (HTML), perhaps a sign-in page; open the link in a browser, sign in, "
                        "and download the table itself")  # fmt: skip
    if start.startswith("<?xml") and "urn:schemas-microsoft-com:office:spreadsheet" in head:
        raise ReadError("the file is a spreadsheet in XML (Excel 2003), whatever its name says; open it in a "
                        "spreadsheet program and save it as xlsx or CSV")  # fmt: skip
    if start.startswith("<?xml"):
        raise ReadError("the file is XML, not a table; save it as CSV or xlsx")
    if re.match(r"<(svg|table|div|[a-z]+ xmlns)\b", start) and not tabular:
        raise ReadError("the file is a piece of a web page (HTML or SVG), not a table; save the table as CSV or xlsx")
    root = None if tabular else re.match(r"<([a-z][\w:.-]*+)[^<>]*+>", start)
    if root and end.rstrip().lower().endswith(f"</{root[1]}>"):
        raise ReadError("the file is XML, not a table; save it as CSV or xlsx")
    if re.match(r"(?:\((?:[dlt]|[dl]p\d+)\n|c[A-Za-z_][\w.]*\n\w+\n)", head) and end.endswith("."):
        raise ReadError("the file is not a table but looks like a pickle (binary), which is never opened here; save "
                        "the table as CSV or xlsx")  # fmt: skip
    if foreign := next((kind for begin, kind in _FOREIGN if begin.match(head)), None):
        raise ReadError("the file is not a table but looks like {kind}; run or open it where it belongs, and save the "
                        "table as CSV", kind=foreign)  # fmt: skip
    if b"\n=======" in data and b"\n>>>>>>> " in data and (conflict := _CONFLICT.search(data)):
        raise ReadError("the file holds both sides of a conflict of versions (line {line}: '<<<<<<<'); settle it in "
                        "the file, and upload it again", line=data.count(b"\n", 0, conflict.start()) + 1)  # fmt: skip
    if start.startswith("version https://git-lfs"):
        raise ReadError("the file is not the data but a pointer to it (Git LFS); download the file itself")
    if re.match(r'\{\s*["}]|\[\s*[\[{"\d\]]', start) and ("\n[" not in start[:200] or _is_json(head)):
        raise ReadError("the file looks like JSON, but is no list of flat records, and so no table; save it as CSV")


_FOREIGN = tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in (
    (r"\s*+(?:--[^\n]*+\n\s*+)*+(?:insert\s++into|create\s++table|select\s++[\w*\"`.]++\s*+(?:,|from\b))",
     Message("SQL")),
    (r"\s*+(?:\w++\s*+(?:<-|=)\s*+)?structure\(\s*+list\(", Message("R code (dput)")),
    (r"\s*+\{\|(?:\s|\Z)", Message("a table in the notation of Wikipedia")),
    (r"\s*+(?:\[\s*+)?\{\s*+'", Message("Python code (dictionaries)")),
    (r"\s*+-\s++[\w.]++:\s[^\n]*+\n\s++[\w.]++:\s", Message("YAML")),
    (r"\s*+(?:#[^\n]*+\n\s*+)*+(?:(?:const|let|var)\s++\w++\s*+=|\w++\s*+=\s*+[\[{(]|import\s++\w++\s++as\s++\w++\s*+\n|from\s++[\w.]++\s++import\s|library\(\w++\)\s*+\n)",
     Message("a program")),
))  # fmt: skip
"""How texts begin that another program reads."""
_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)


def _tabular(text: str) -> bool:
    """Whether the first lines hold the same mark equally often, as those of a table do of which a name is a tag."""
    lines = [match[0] for match in islice(re.finditer(r"[^\r\n]+", text), 20)]
    return len(lines) > 2 and any(len(n := {line.count(mark) for line in lines}) == 1 and n != {0} for mark in ",;\t|")


def _is_json(text: str) -> bool:
    """Whether the first line is JSON by itself, as in a file of one list a line."""
    try:
        return isinstance(json.loads(text.lstrip("\ufeff \t\r\n").splitlines()[0][:MOST]), list)
    except (ValueError, RecursionError):
        return False
