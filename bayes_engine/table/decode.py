"""Bytes → text: unpacked if gzipped or zipped, refused by name if no text, decoded in their encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.encodings import (
    CHUNK,
    DOUBLE_ENCODED,
    MOST,
    as_utf8,
    beyond_ascii,
    damaged_characters,
    double_encoding_note,
    encoding_note,
    guesses,
    is_utf7,
    mixes_scripts,
    other_encodings,
    plain_offer,
    reads_as,
    share_of_chinese,
    survey,
    telling_lines,
    undo_double_encoding,
)
from bayes_engine.table.no_table import refuse_binary, refuse_foreign_text
from bayes_engine.table.notes import Note, lines_of, listed, note
from bayes_engine.table.other_notations import as_delimited


def load(source: bytes | str | Path, max_bytes: int) -> bytes:
    """The bytes of a file, unpacked where gzipped, or where it is the one file in a zip archive. Raises ReadError on
    more than `max_bytes`, packed or unpacked."""
    data = source if isinstance(source, bytes) else _bytes_of(Path(source), max_bytes)
    if len(data) > max_bytes:
        raise ReadError("the file is larger than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000)
    if data.startswith(_ZIP):
        return _unzip(data, max_bytes)
    return _gunzip(data, max_bytes) if data.startswith(b"\x1f\x8b") else data


_ZIP = b"PK\x03\x04"
_MARK = codecs.BOM_UTF8
_LOST = "\ufffd".encode()
_ENDS = re.compile(rb"\x0b|\x0c|\x1e|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""Characters that end a line where nothing else does, in UTF-8."""


def decode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[str, str]:
    """(text, encoding). Raises ReadError on what is no text, or another kind of text than a table.

    >>> decode("size,city\\n1,京都\\n".encode("utf-8-sig"), None, [])
    ('size,city\\n1,京都\\n', 'utf-8-sig')
    """
    text, encoding = recode(data, encoding, notes)
    return text.decode(), encoding


def recode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[bytes, str]:
    """The text that `decode` gives, as bytes in UTF-8, and its encoding: decoded a chunk at a time, or the bytes
    themselves where they are UTF-8.

    >>> recode("1,京都\\n".encode("utf-16"), None, [])[0].decode()
    '1,京都\\n'
    """
    refuse_binary(data)
    text, encoding = _recode(data, encoding, notes)
    if b"\n" not in text and b"\r" not in text and (end := _ENDS.search(text)):
        text = _ENDS.sub(b"\n", text)
        notes.append(note("the lines end in an unusual character (U+{code}), taken as the end of a line",
                          code=f"{ord(end[0].decode()):04X}"))  # fmt: skip
    if b"\n\x0c" in text:
        text, pages = re.subn(rb"(?<=\n)\x0c++(?=[^\r\n])", b"", text)
        if pages:
            notes.append(note("page breaks at the beginning of lines that are left out: {n}", n=pages))
    if _MARK in text:
        text, marks = re.subn(rb"(?<=[\r\n])(?:\xef\xbb\xbf)+", b"", text)
        if marks:
            notes.append(note("byte-order marks within the file (files joined into one?) that are left out: {n}",
                              n=marks))  # fmt: skip
    text = as_delimited(text, notes)
    refuse_foreign_text(text)
    if encoding in ("utf-8", "utf-8-sig") and _LOST in data:
        line = text.count(b"\n", 0, text.index(_LOST)) + 1
        notes.append(note("{n} characters are '\ufffd': what stood there was lost when the file was written, the first "
                          "in line {line}; if you can, save the table once more from where it comes", "warning", line,
                          n=data.count(_LOST), line=line))  # fmt: skip
    return text, encoding


def first_lines(source: bytes, encoding: str, n: int = 4) -> list[tuple[int, str]]:
    """Lines of a file as an encoding has them, numbered from 1: the first, and the first that are not plain ASCII.

    >>> first_lines("size,city\\n1,Oslo\\n2,京都\\n".encode("gb18030"), "gb18030", 1)
    [(1, 'size,city'), (3, '2,京都')]
    """
    if source.startswith(_ZIP):
        source = _unzip(source, 50 * len(source) + ALWAYS)
    packed = source.startswith(b"\x1f\x8b")
    head = gzip.GzipFile(fileobj=io.BytesIO(source)).read(MOST) if packed else source[:MOST]
    text = head.decode("utf-8" if encoding == DOUBLE_ENCODED else encoding, "replace").removeprefix("\ufeff")
    if encoding == DOUBLE_ENCODED:
        with suppress(UnicodeError):
            text = undo_double_encoding(text)
    lines = list(enumerate(re.split(r"\r\n|\n|\r", text), 1))
    not_ascii = [(k, line) for k, line in lines[n:] if not line.isascii()]
    return [*lines[:n], *not_ascii[:n]]


def _bytes_of(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise ReadError(
            "'{path}' cannot be opened: {reason}", path=str(path), reason=error.strerror or str(error)
        ) from None


DENSE = 200
"""How many times its size a gzip file unpacks to, at most, where that is more than `ALWAYS` bytes: tables reach some
tens, gzip itself a thousand."""
ALWAYS = 10_000_000


def _gunzip(data: bytes, max_bytes: int) -> bytes:
    """What a gzip file holds; no more is unpacked than a table of its size could be. (The size at its end is no
    evidence: a file that is cut off ends in anything.)"""
    most = min(max_bytes, max(ALWAYS, DENSE * len(data)))
    out = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while out.tell() <= most and (part := file.read(CHUNK)):
                tick()
                out.write(part)
    except (OSError, EOFError, zlib.error):
        raise ReadError("the gzip file is damaged; pack it again, or upload it unpacked") from None
    if out.tell() > most == max_bytes:
        raise ReadError(
            "the gzip file unpacks to more than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000
        )
    if out.tell() > most:
        raise ReadError("the gzip file unpacks to more than {times} times its size, as hardly any table does; if it is "
                        "one, upload it unpacked", times=most // len(data))  # fmt: skip
    unpacked = out.getvalue()
    if unpacked.startswith(b"\x1f\x8b"):
        raise ReadError("the gzip file holds another gzip file; unpack it and upload what is inside")
    return unpacked


_OF_DOCUMENTS = ("[Content_Types].xml", "mimetype", "content.xml", "META-INF/", "word/", "xl/", "ppt/")
_LEFT_BEHIND = re.compile(r"(?:.*/)?(?:\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)|__MACOSX/.*|.*/", re.IGNORECASE)
"""What is no file of a person's in an archive: what systems leave behind, and folders."""


def _unzip(data: bytes, max_bytes: int) -> bytes:
    """What the one file in a zip archive holds, unpacked as far as gzip is; the archive itself where it is a workbook,
    another document, empty or no archive. Raises ReadError where it holds several files."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    most = min(max_bytes, max(ALWAYS, DENSE * len(data)))
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [part for part in archive.infolist() if not _LEFT_BEHIND.fullmatch(part.filename)]
            if not parts or any(part.filename.startswith(_OF_DOCUMENTS) for part in parts):
                return data
            if len(parts) > 1:
                raise ReadError("the zip archive holds {n} files ({names}); unpack it and upload the table alone",
                                n=len(parts), names=listed([part.filename for part in parts]))  # fmt: skip
            if parts[0].flag_bits & 1:
                raise ReadError("the zip archive is protected by a password; unpack it and upload the table itself")
            if parts[0].file_size <= most:
                with archive.open(parts[0]) as file:
                    while out.tell() <= most and (part := file.read(CHUNK)):
                        tick()
                        out.write(part)
    except ReadError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise ReadError("the zip archive is damaged, or packed in a way that is not known here; pack it again, or "
                        "upload the table itself") from None  # fmt: skip
    if not 0 < out.tell() <= most and parts[0].file_size:
        raise ReadError("the file in the zip archive would unpack to more than can be read here ({most} MB); unpack it "
                        "and upload the table itself, or a part of it", most=most // 1_000_000)  # fmt: skip
    unpacked = out.getvalue()
    if unpacked.startswith(b"\x1f\x8b"):
        raise ReadError("the zip archive holds a gzip file; unpack it and upload what is inside")
    return unpacked


def _unprintable(data: bytes) -> bool:
    """True where over 5 % of the first bytes are control characters that no text holds."""
    head = np.frombuffer(data[:65536], dtype=np.uint8)
    control = (head < 32) & ~np.isin(head, [1, 8, 9, 10, 11, 12, 13, 26, 27, 28, 29, 30, 31])
    return bool(head.size and control.mean() > 0.05)


_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (b"\x84\x31\x95\x33", "gb18030"),
)  # fmt: skip


_SEVEN_BITS = (
    (rb"\x1b\$[@B]|\x1b\([IJ]", "iso2022_jp_2"), (rb"~\{(?:[!-w][!-~])+~\}", "hz"),
    (rb"\+[A-Za-z0-9+/]{3,}", "utf-7"),
)  # fmt: skip
"""Plain ASCII that means another script, and the marks by which it switches to it."""


def _recode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[bytes, str]:
    """(text, encoding): told → BOM → UTF-16 by its NULs → strict UTF-8 → damaged UTF-8 → a guess, strictly decoded."""
    if encoding is not None:
        return _strictly(data, encoding), encoding
    for bom, candidate in _BOMS:
        if data.startswith(bom):
            data = _whole(data, {"utf-16": 2, "utf-32": 4}.get(candidate, 1), candidate, notes)
            return _strictly(data, candidate).removeprefix(_MARK), candidate
    nul = np.frombuffer(data[:65536], dtype=np.uint8) == 0
    if nul.any() and len(data) > 1:
        if (guess := _wide(nul)) and (text := _text_of(data, guess, notes)):
            notes.append(note("encoding guessed: {encoding} (most bytes are zero); choose another if the text looks "
                              "wrong", "warning", encoding=guess)
                         if guess.startswith("utf-32") else
                         note("encoding guessed: {encoding} (every other byte is zero); choose another if the text "
                              "looks wrong", "warning", encoding=guess))  # fmt: skip
            return text, guess
        if b"\0" in (filled := data.rstrip(b"\0")):
            line = data[: data.index(b"\0")].count(b"\n") + 1
            raise ReadError("the file is binary or damaged (a NUL byte in line {line}), not a CSV or text table; save "
                            "the table as CSV or xlsx", line=line)  # fmt: skip
        notes.append(note("the file ends in zero bytes, which are left out: {n}; check whether it is whole", "warning",
                          n=len(data) - len(filled)))  # fmt: skip
        data = filled
    if _unprintable(data):
        raise ReadError("the file is binary, not a CSV or text table; save the table as CSV or xlsx")
    for pattern, candidate in _SEVEN_BITS:
        if data.isascii() and re.search(pattern, data):
            with suppress(UnicodeError):
                text = as_utf8(data, candidate)
                if candidate != "utf-7" or is_utf7(data, text.decode()):
                    notes.append(encoding_note(text, candidate).offering(*plain_offer(data, candidate)))
                    return text, candidate
    chinese = share_of_chinese(data)
    if reads_as(data, "utf-8") and not (chinese and mixes_scripts(data)):
        notes += double_encoding_note(data)
        if (
            chinese
            and beyond_ascii(data) <= 2
            and any(c > "\u00ff" and c.isalpha() for c in telling_lines(data).decode())
        ):
            notes.append(encoding_note(data, "utf-8").offering(*other_encodings(data, {"utf-8": (b"", "")})))
        return data, "utf-8"
    if not chinese and (mixed := _mixed_encodings(data, notes)) is not None:
        return mixed, "utf-8"
    head = data[: 4 * MOST].decode("utf-8", "replace")[:MOST]
    sound = sum(ord(c) > 127 for c in head) - head.count("\ufffd")
    if not chinese and sound > 5 * head.count("\ufffd") and sound > 5 * (n := damaged_characters(data)):
        mended = as_utf8(data, "utf-8", "replace")
        line = mended.count(b"\n", 0, mended.index("\ufffd".encode())) + 1
        notes.append(note("the encoding is utf-8, but {n} characters are damaged, the first in line {line}; they are "
                          "shown as '\ufffd'", "warning", line, n=n, line=line))  # fmt: skip
        return mended, "utf-8"
    read: dict[str, tuple[bytes, str]] = {}
    for guess in dict.fromkeys(guesses(data, chinese)):
        if (surveyed := survey(data, guess)) is not None:
            read[guess] = surveyed
    if read:
        guess = next(iter(read))
        text = as_utf8(data, guess)
        notes.append(encoding_note(text, guess).offering(*other_encodings(data, read)))
        return text, guess
    raise ReadError("the encoding of the file cannot be found out; save it as UTF-8, or choose the encoding")


def _wide(nul: NDArray[np.bool_]) -> str:
    """The encoding of 2 or 4 bytes a character that zero bytes at these places speak of; "" where none."""
    if len(nul) >= 4:
        first, second, third, fourth = (float(nul[k::4].mean()) for k in range(4))
        if fourth == 1 and third > 0.5 > 10 * first:
            return "utf-32-le"
        if first == 1 and second > 0.5 > 10 * fourth:
            return "utf-32-be"
    even, odd = float(nul[0::2].mean()), float(nul[1::2].mean())
    return "utf-16-le" if odd > 0.3 > 10 * even else "utf-16-be" if even > 0.3 > 10 * odd else ""


def _text_of(data: bytes, encoding: str, notes: list[Note]) -> bytes | None:
    """The text in an encoding of 2 or 4 bytes a character; None where it is none."""
    own_notes: list[Note] = []
    try:
        text = as_utf8(_whole(data, 4 if encoding.startswith("utf-32") else 2, encoding, own_notes), encoding)
    except UnicodeError:
        return None
    if b"\0" in text.rstrip(b"\0") or _unprintable(text):
        return None
    notes += own_notes
    return text


def _whole(data: bytes, width: int, encoding: str, notes: list[Note]) -> bytes:
    """The data without the bytes that are left over where a character takes `width` of them."""
    over = len(data) % width
    if over:
        notes.append(note("the encoding is {encoding}, but the file ends within a character (cut off?); what is left "
                          "of it is left out", "warning", encoding=encoding))  # fmt: skip
    return data[: len(data) - over] if over else data


def _mixed_encodings(data: bytes, notes: list[Note]) -> bytes | None:
    """The text of a file of which some lines are UTF-8 and the others another encoding, as of files joined into one;
    None where it is not so."""
    rest = io.BytesIO()
    other_lines = list[int]()
    sound = False
    for k, line in enumerate(_LINE.finditer(data), 1):
        if not _is_utf8(line[0]):
            rest.write(line[0])
            other_lines.append(k)
        elif not line[0].isascii():
            sound = True
    if not sound:
        return None
    strange = damaged_characters(bad := rest.getvalue())
    other = next((g for g in guesses(bad, share_of_chinese(bad))[:1] if reads_as(bad, g)), None)
    if other is None or strange < 4 or beyond_ascii(bad) > 2 * strange:
        return None  # damaged characters rather than an encoding
    text = io.BytesIO()
    for line in _LINE.finditer(data):
        text.write(line[0] if _is_utf8(line[0]) else line[0].decode(other).encode())
    first = next(_LINE.finditer(bad))[0]
    notes.append(note("two encodings in one file: line {lines} as {encoding}, all others as utf-8 (line {line} reads "
                      "'{text}')", "warning", other_lines[0], lines=lines_of(other_lines), encoding=other,
                      line=other_lines[0], text=first.decode(other).strip()[:40]))  # fmt: skip
    return text.getvalue()


_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\n|\r)|[^\r\n]++\Z")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _strictly(data: bytes, encoding: str) -> bytes:
    try:
        if encoding != DOUBLE_ENCODED:
            return as_utf8(data, encoding)
        out = io.BytesIO()
        out.writelines(undo_double_encoding(line[0].decode()).encode() for line in _LINE.finditer(data))
        return out.getvalue()
    except LookupError:
        raise ReadError("there is no encoding '{encoding}'; try utf-8, gb18030 or cp1252", encoding=encoding) from None
    except UnicodeError:
        raise ReadError(
            "the bytes in line {line} are no {encoding}; choose another encoding",
            line=data[: _fault(data, encoding)].count(b"\n") + 1, encoding=encoding,
        ) from None  # fmt: skip


def _fault(data: bytes, encoding: str) -> int:
    """Where the first byte stands that is no text in this encoding."""
    try:
        text = data.decode("utf-8" if encoding == DOUBLE_ENCODED else encoding)
        if encoding == DOUBLE_ENCODED:
            undo_double_encoding(text)
    except UnicodeError as error:
        return int(getattr(error, "start", 0))
    return 0
