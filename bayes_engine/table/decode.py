"""Bytes → text: unpacked if gzipped, refused by name if no text, decoded in the encoding they seem to have. chardet
guesses; it is checked by decoding the whole file, since charset-normalizer fails on single-byte encodings.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import importlib
import io
import json
import re
import unicodedata
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.language import Listing, Message
from bayes_engine.progress import tick
from bayes_engine.table.notes import Note, Offer, lines_of, note, offer

MOST = 1_000_000
"""How many characters are looked at where a sample will do."""


def load(source: bytes | str | Path, max_bytes: int) -> bytes:
    """The bytes of a file, unpacked where gzipped. Raises ReadError on more than `max_bytes`, packed or unpacked."""
    data = source if isinstance(source, bytes) else _bytes_of(Path(source), max_bytes)
    if len(data) > max_bytes:
        raise ReadError("the file is larger than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000)
    return _gunzip(data, max_bytes) if data.startswith(b"\x1f\x8b") else data


_CHUNK = 1 << 20
"""Bytes that are decoded at once: a text in characters may take four times the memory of its bytes."""
_MARK = codecs.BOM_UTF8
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
    _refuse_binary(data)
    text, encoding = _recode(data, encoding, notes)
    if b"\n" not in text and b"\r" not in text and (end := _ENDS.search(text)):
        text = _ENDS.sub(b"\n", text)
        notes.append(note("the lines end in an unusual character (U+{code}), taken as the end of a line",
                          code=f"{ord(end[0].decode()):04X}"))  # fmt: skip
    if _MARK in text:
        text, marks = re.subn(rb"(?<=[\r\n])(?:\xef\xbb\xbf)+", b"", text)
        if marks:
            notes.append(note("byte-order marks within the file (files joined into one?) that are left out: {n}",
                              n=marks))  # fmt: skip
    _refuse_foreign_text(text)
    return text, encoding


def first_lines(source: bytes, encoding: str, n: int = 4) -> list[tuple[int, str]]:
    """Lines of a file as an encoding has them, numbered from 1: the first, and the first that are not plain ASCII.

    >>> first_lines("size,city\\n1,Oslo\\n2,京都\\n".encode("gb18030"), "gb18030", 1)
    [(1, 'size,city'), (3, '2,京都')]
    """
    packed = source.startswith(b"\x1f\x8b")
    head = gzip.GzipFile(fileobj=io.BytesIO(source)).read(MOST) if packed else source[:MOST]
    text = head.decode("utf-8" if encoding == DOUBLE_ENCODED else encoding, "replace").removeprefix("\ufeff")
    if encoding == DOUBLE_ENCODED:
        with suppress(UnicodeError):
            text = _undo_double_encoding(text)
    lines = list(enumerate(re.split(r"\r\n|\n|\r", text), 1))
    telling = [(k, line) for k, line in lines[n:] if not line.isascii()]
    return [*lines[:n], *telling[:n]]


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
            while out.tell() <= most and (part := file.read(_CHUNK)):
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
    (rb"\x1f[\x9d\xa0]|x\x01|x\xda.{0,99}?[\0-\x08\x0e-\x19]|\x5d\0\0", Message("a compressed file")),
))  # fmt: skip
"""The same, where it may hold a table."""


def _refuse_binary(data: bytes) -> None:
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


def _unprintable(data: bytes) -> bool:
    """True where over 5 % of the first bytes are control characters that no text holds."""
    head = np.frombuffer(data[:65536], dtype=np.uint8)
    control = (head < 32) & ~np.isin(head, [8, 9, 10, 11, 12, 13, 26, 27, 28, 29, 30, 31])
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
DOUBLE_ENCODED = "utf-8-twice"
"""What is called the encoding of UTF-8 that some program took for cp1252 and wrote as UTF-8 again: 'Ã©' is 'é'."""


def _decoded(data: bytes, encoding: str, errors: str = "strict") -> Iterator[str]:
    """The text in parts, a chunk at a time."""
    with suppress(UnicodeError):
        b"\0".decode(encoding)  # raises LookupError on what is no encoding of text
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    for start in range(0, len(data), _CHUNK):
        tick()
        yield decoder.decode(data[start : start + _CHUNK], start + _CHUNK >= len(data))


def _utf8(data: bytes, encoding: str, errors: str = "strict") -> bytes:
    """The text in UTF-8."""
    if errors == "strict" and codecs.lookup(encoding).name == "utf-8":
        deque(_decoded(data, encoding), 0)
        return data
    out = io.BytesIO()
    out.writelines(part.encode() for part in _decoded(data, encoding, errors))
    return out.getvalue()


def _survey(data: bytes, encoding: str) -> tuple[bytes, str] | None:
    """A digest of the text and its first MOST characters; None where the bytes are none in this encoding."""
    digest, head = hashlib.blake2b(), ""
    try:
        for part in _decoded(data, encoding):
            digest.update(part.encode())
            head = head + part[: MOST - len(head)] if len(head) < MOST else head
    except (UnicodeError, LookupError):
        return None
    return digest.digest(), head


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
                text = _utf8(data, candidate)
                if candidate != "utf-7" or _in_seven_bits(data, text.decode()):
                    notes.append(_encoding_note(text, candidate).offering(*_plain_offer(data, candidate)))
                    return text, candidate
    chinese = _chinese(data)
    if _reads(data, "utf-8") and not (chinese and _scripts_within_words(data)):
        notes += _double_encoding_note(data)
        if chinese and _beyond_ascii(data) <= 2 and any(c > "\u00ff" and c.isalpha() for c in _telling(data).decode()):
            notes.append(_encoding_note(data, "utf-8").offering(*_others(data, {"utf-8": (b"", "")})))
        return data, "utf-8"
    if not chinese and (mixed := _mixed_encodings(data, notes)) is not None:
        return mixed, "utf-8"
    head = data[: 4 * MOST].decode("utf-8", "replace")[:MOST]
    sound = sum(ord(c) > 127 for c in head) - head.count("\ufffd")
    if not chinese and sound > 5 * head.count("\ufffd") and sound > 5 * (n := _damage(data)):
        mended = _utf8(data, "utf-8", "replace")
        line = mended.count(b"\n", 0, mended.index("\ufffd".encode())) + 1
        notes.append(note("the encoding is utf-8, but {n} characters are damaged, the first in line {line}; they are "
                          "shown as '\ufffd'", "warning", line, n=n, line=line))  # fmt: skip
        return mended, "utf-8"
    read: dict[str, tuple[bytes, str]] = {}
    for guess in dict.fromkeys(_guesses(data, chinese)):
        if (surveyed := _survey(data, guess)) is not None:
            read[guess] = surveyed
    if read:
        guess = next(iter(read))
        text = _utf8(data, guess)
        notes.append(_encoding_note(text, guess).offering(*_others(data, read)))
        return text, guess
    raise ReadError("the encoding of the file cannot be found out; save it as UTF-8, or choose the encoding")


def _damage(data: bytes) -> int:
    """How many characters are damaged in UTF-8, or stand for one that was."""
    return sum(part.count("\ufffd") for part in _decoded(data, "utf-8", "replace"))


def _in_seven_bits(data: bytes, text: str) -> bool:
    """Whether plain characters seem to be UTF-7: every + begins letters of one script or signs that people write, and
    the text written again so is the same."""
    strange = {c for c in text if not c.isascii()}
    shifts = re.findall(rb"\+([A-Za-z0-9+/]*)", data)
    if any(shift.isdigit() for shift in shifts):
        return False  # a telephone number
    if not strange or any(c == "\ufffd" or unicodedata.category(c)[0] in "CM" for c in strange):
        return False
    scripts = {unicodedata.name(c, "?").split()[0] for c in strange if c.isalpha()}
    return bool(scripts) and len(scripts) <= 2 and text.encode("utf-7").count(b"+") == len(shifts)


def _plain_offer(data: bytes, encoding: str) -> tuple[Offer, ...]:
    """Plain ASCII is always another way to read what is only ASCII."""
    cell = next((c for c in re.findall(r"[^,;\t|\r\n]+", data[:MOST].decode("ascii")) if "+" in c), "")
    return (offer("{encoding}: '{cell}'", "encoding", "utf-8", encoding="utf-8", cell=cell[:24]),
            ) if encoding == "utf-7" else ()  # fmt: skip


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
        text = _utf8(_whole(data, 4 if encoding.startswith("utf-32") else 2, encoding, own_notes), encoding)
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
    strange = _damage(bad := rest.getvalue())
    other = next((g for g in _guesses(bad, _chinese(bad))[:1] if _reads(bad, g)), None)
    if other is None or strange < 4 or _beyond_ascii(bad) > 2 * strange:
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


def _beyond_ascii(data: bytes) -> int:
    """How many characters are not plain ASCII, the damaged too."""
    return sum(sum(ord(c) > 127 for c in part) for part in _decoded(data, "utf-8", "replace"))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _reads(data: bytes, encoding: str) -> bool:
    try:
        deque(_decoded(data, encoding), 0)
    except (UnicodeError, LookupError):
        return False
    return True


def _undo_double_encoding(text: str) -> str:
    """What a text means that was encoded twice; raises UnicodeError where it was not."""
    return text.translate(_BYTES).encode("latin-1").decode("utf-8")


_BYTES = {ord(bytes([b]).decode("cp1252")): b for b in range(128, 160) if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
"""The characters of cp1252 that latin-1 has not, as the bytes they were."""


def _double_encoding_note(data: bytes) -> list[Note]:
    """Whether a text seems to have been encoded twice, with the way to have it right."""
    if data.isascii():
        return []
    seems = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0178\u02c6-\u02dc\u2013-\u203a\u20ac\u2122]")
    last = ""
    for part in _decoded(data, "utf-8"):
        if seems.search(last + part):
            break
        last = part[-1:]
    else:
        return []
    try:
        for line in _NOT_ASCII.finditer(data):
            _undo_double_encoding(line[0].decode())
    except UnicodeError:
        return []
    cell = next(m[0].decode() for m in re.finditer(rb"[^,;\t|\r\n]+", data) if not m[0].isascii())
    return [note("the text seems to have been encoded twice before it was saved: '{cell}' may mean '{meant}'",
                 "warning", cell=cell[:40], meant=_undo_double_encoding(cell)[:40])
            .offering(offer("Undo it: '{meant}'", "encoding", DOUBLE_ENCODED,
                            meant=_undo_double_encoding(cell)[:24]))]  # fmt: skip


_NOT_ASCII = re.compile(rb"[^\x00-\x7f][^\r\n]*+")
"""A line from its first character on that is not plain."""


def _others(data: bytes, read: Mapping[str, tuple[bytes, str]]) -> list[Offer]:
    """Other encodings of which the bytes are text, each with the first cell that shows the difference."""
    offers: list[Offer] = []
    seen = {next(iter(read.values()))[0]}
    for encoding in dict.fromkeys(("gb18030", "cp1252", *read, "big5", "cp1251", "cp932")):
        if len(offers) < 3 and (surveyed := read.get(encoding) or _survey(data, encoding)) is not None:
            digest, text = surveyed
            cell = next((c[0] for c in re.finditer(r"[^,;\t|\r\n]+", text) if not c[0].isascii()), "")
            readable = not any(c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cn", "Co") for c in cell)
            if digest not in seen and cell and readable:
                offers.append(offer("{encoding}: '{cell}'", "encoding", encoding, encoding=encoding, cell=cell[:24]))
                seen.add(digest)
    return offers


def _strictly(data: bytes, encoding: str) -> bytes:
    try:
        if encoding != DOUBLE_ENCODED:
            return _utf8(data, encoding)
        out = io.BytesIO()
        out.writelines(_undo_double_encoding(line[0].decode()).encode() for line in _LINE.finditer(data))
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
            _undo_double_encoding(text)
    except UnicodeError as error:
        return int(getattr(error, "start", 0))
    return 0


def _telling(data: bytes) -> bytes:
    """The first lines that are not plain ASCII."""
    lines = (match[0] for match in re.finditer(rb"[^\r\n]++", data))
    return b"\n".join(islice((line for line in lines if not line.isascii()), 100_000))[:200_000]


def _chinese(data: bytes) -> float:
    """Where the whole file is valid in GB 18030, the share of common characters in what is not ASCII there; 0 where it
    is below a half. Of words with accents neither is so: a letter would join the next one into a rare character."""
    if data.isascii():
        return 0.0
    characters = _GB.findall(_telling(data))
    signs = sum(c[0] < 0xA4 and len(c) == 2 and c[0] > 0xA0 for c in characters)
    common = sum(0xB0 <= c[0] <= 0xD7 and c[1] > 0xA0 for c in characters)
    share = common / max(len(characters) - signs, 1)
    return share if share >= 0.5 and _reads(data, "gb18030") else 0.0


_GB = re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])")
"""A character of GB 18030 beyond ASCII; the first 3,755 Chinese ones, by frequency, are B0A1 to D7FE."""


def _scripts_within_words(data: bytes) -> bool:
    """Whether most words that are not ASCII mix scripts, as Greek with Armenian: UTF-8 by chance."""
    words = [w for w in re.findall(r"[^\W\d_]+", _telling(data).decode("utf-8", "ignore")) if not w.isascii()]
    mixed = sum(len({unicodedata.name(c, "?").split()[0] for c in w if not c.isascii()}) > 1 for w in words)
    return 2 * mixed > len(words)


def _guesses(data: bytes, chinese: float) -> list[str]:
    """Encodings to try, likeliest first. A detector is good at telling those of East Asia apart, but takes few Chinese
    words between English ones for accents: common Chinese is before what is not East Asian."""
    sample = _telling(data)
    high = sum(b > 127 for b in sample)
    guessed: list[str] = []
    try:
        detected = importlib.import_module("chardet").detect(sample)["encoding"]
        guessed = [codecs.lookup(detected).name] if detected else []
    except (ImportError, LookupError):
        pass
    guessed = ["gb18030" if g in ("gb2312", "gbk", "hz") else g for g in guessed if g not in ("ascii", "utf-8")]
    korean = guessed[:1] in (["cp949"], ["euc_kr"], ["johab"])
    characters = _GB.findall(sample)
    if korean and 5 * sum(c[0] > 0xC8 for c in characters) > len(characters):
        korean, guessed = False, []  # no Korean syllable stands there
    elsewhere = korean or any(g.startswith(_EAST_ASIAN) for g in guessed)
    if chinese and ((chinese == 1 and high < 40) or not elsewhere):
        guessed.insert(0, "gb18030")
    else:
        guessed = [*_western(sample, guessed[0] if guessed else ""), *guessed]
    return [*guessed, "gb18030", "cp1252", "latin-1"]


_EAST_ASIAN = ("gb", "big5", "cp932", "cp950", "euc_j", "shift", "iso2022")
"""How the names of encodings begin that write a character of East Asia in two bytes."""
_WESTERN = frozenset("áàâäãåæçéèêëíìîïñóòôöõøœúùûüßÁÀÂÄÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ€£§°µ²³×“”‘’„–—«»…·•®©")


def _western(sample: bytes, detected: str) -> list[str]:
    """The encoding of Western Europe in which every character is a common one, where the detector saw Latin letters or
    a mixture of scripts within words: of a few accents it cannot tell code pages apart."""
    try:
        text = sample.decode(detected or "cp1252")
    except (UnicodeDecodeError, LookupError):
        return []
    with suppress(UnicodeDecodeError):
        if sample and {c for c in sample.decode("cp1252") if not c.isascii()} <= _SIGNS:
            return ["cp1252"]  # quotes, dashes and the euro's sign between plain letters
    words = [w for w in re.findall(r"[^\W\d_]+", text) if not w.isascii()]
    odd = [w for w in words if not all("LATIN" in unicodedata.name(c, "") for c in w)]
    if any(w for w in odd if not re.search("[A-Za-z]", w)) and 2 * sum(
        bool(re.search("[A-Za-z]", w)) for w in odd) <= len(words):  # fmt: skip
        return []  # whole words of another script
    for encoding in ("cp1252", "mac_roman", "cp850"):
        with suppress(UnicodeDecodeError):
            text = sample.decode(encoding)
            if all(c in _WESTERN for c in text if ord(c) > 127) and not _SLIPS.search(text):
                return [encoding]
    return []


_SIGNS = frozenset("€“”‘’„–—…•")
"""Signs that cp1252 has in place of what latin-1 has for control characters."""
_SLIPS = re.compile(
    "[a-zß-öø-ÿ][À-ÖØ-ÞŒ](?![A-ZÀ-ÖØ-ÞŒ])|[A-Z][À-ÖØ-ÞŒ][a-z]|[£§°µ²³×©®•][a-zA-Z]|[a-z][£§×©®•]|[a-z]·(?![a-z])"
)
"""A capital or a sign within a word of small letters: the text is in another encoding."""


def _encoding_note(data: bytes, encoding: str) -> Note:
    matches = re.finditer(rb"[^,;\t|\r\n]+", data)
    odd = list(islice(((m.start(), m[0].decode().strip()[:40]) for m in matches if not m[0].isascii()), 4))
    cells = [(data.count(b"\n", 0, start) + 1, cell) for start, cell in odd]
    if not cells:
        return note("encoding guessed: {encoding}; choose another if the text looks wrong", "warning",
                    encoding=encoding)  # fmt: skip
    line, cell = cells[0]
    if len(cells) > 3:
        return note("encoding guessed: {encoding}, first used in line {line} ('{cell}'); choose another if that looks "
                    "wrong", "warning", line, encoding=encoding, line=line, cell=cell)  # fmt: skip
    where = Listing(Message("{line}: '{cell}'", {"line": line, "cell": cell}) for line, cell in cells)
    return note("encoding guessed: {encoding}, from very few characters (line {where}); choose another if they look "
                "wrong", "warning", line, encoding=encoding, where=where)  # fmt: skip


def _refuse_foreign_text(data: bytes) -> None:
    """Raises ReadError on text that is another kind of file: a web page, JSON, XML; and on no text at all."""
    head, end = data[: 4 * MOST].decode(errors="ignore"), data[-1200:].decode(errors="ignore")[-300:]
    start = head[:2000].lstrip("\ufeff \t\r\n").lower()
    if re.fullmatch(rb"(?:\xef\xbb\xbf|[ \t\r\n\x1a])*+", data):
        raise ReadError("the file is empty: there is no data in it")
    tabular = _tabular(head)
    if re.match(r"<!doctype html|<html|<head|<body|mime-version: 1\.0\s", start) or (
        re.match(r"<(?:script|style|title|meta|link|h\d|p)\b|<!--", start) and not tabular
    ):
        raise ReadError("the file is a web page (HTML), perhaps a sign-in page; open the link in a browser, sign in, "
                        "and download the table itself")  # fmt: skip
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
    if start.startswith("version https://git-lfs"):
        raise ReadError("the file is not the data but a pointer to it (Git LFS); download the file itself")
    if re.match(r'\{\s*["}]|\[\s*[\[{"\d\]]', start) and ("\n[" not in start[:200] or _is_json(head)):
        raise ReadError("the file looks like JSON, not a table; save it as CSV (a JSON file cannot be read here)")


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
