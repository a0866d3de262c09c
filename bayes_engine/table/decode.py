"""Bytes → text: unpacked if gzipped, refused by name if no text, decoded in the encoding they seem to have."""

from __future__ import annotations

import codecs
import gzip
import importlib
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.language import Listing, Message
from bayes_engine.table.numbers import Note, Offer, lines_of, note, offer

MOST = 1_000_000
"""How many characters are looked at where a sample will do."""


def load(source: bytes | str | Path, max_bytes: int) -> bytes:
    """The bytes of a file, unpacked where gzipped. Raises ReadError on more than `max_bytes`, packed or unpacked."""
    data = source if isinstance(source, bytes) else _bytes_of(Path(source), max_bytes)
    if len(data) > max_bytes:
        raise ReadError("the file is larger than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000)
    return _gunzip(data, max_bytes) if data.startswith(b"\x1f\x8b") else data


_ENDS = "[\x0b\x0c\x1e\x85\u2028\u2029]"
"""Characters that end a line where nothing else does."""


def decode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[str, str]:
    """(text, encoding). Raises ReadError on what is no text, or another kind of text than a table.

    >>> decode("size,city\\n1,京都\\n".encode("utf-8-sig"), None, [])
    ('size,city\\n1,京都\\n', 'utf-8-sig')
    """
    _refuse_binary(data)
    text, encoding = _decode(data, encoding, notes)
    text, marks = re.subn(r"(?<=[\r\n])\ufeff", "", text) if "\ufeff" in text else (text, 0)
    if marks:
        notes.append(note("byte-order marks within the file (files joined into one?) that are left out: {n}", n=marks))
    if not re.search(r"[\r\n]", text) and (ends := re.findall(_ENDS, text)):
        text = re.sub(_ENDS, "\n", text)
        notes.append(note("the lines end in an unusual character (U+{code}), taken as the end of a line",
                          code=f"{ord(ends[0]):04X}"))  # fmt: skip
    _refuse_foreign_text(text)
    return text, encoding


def first_lines(source: bytes, encoding: str, n: int = 4) -> list[tuple[int, str]]:
    """Lines of a file as an encoding has them, numbered from 1: the first, and the first that are not plain ASCII.

    >>> first_lines("size,city\\n1,Oslo\\n2,京都\\n".encode("gb18030"), "gb18030", 1)
    [(1, 'size,city'), (3, '2,京都')]
    """
    packed = source.startswith(b"\x1f\x8b")
    head = gzip.GzipFile(fileobj=io.BytesIO(source)).read(MOST) if packed else source[:MOST]
    text = head.decode("utf-8" if encoding == TWICE else encoding, "replace").removeprefix("\ufeff")
    if encoding == TWICE:
        with suppress(UnicodeError):
            text = _once(text)
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


def _gunzip(data: bytes, max_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        raise ReadError("the gzip file is damaged; pack it again, or upload it unpacked") from None
    if len(unpacked) > max_bytes:
        raise ReadError(
            "the gzip file unpacks to more than {most} MB; cut it, or raise max_bytes", most=max_bytes // 1_000_000
        )
    if unpacked.startswith(b"\x1f\x8b"):
        raise ReadError("the gzip file holds another gzip file; unpack it and upload what is inside")
    return unpacked


_SIGNATURES = (
    (b"\x89PNG", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"), (b"BM", "BMP image"),
    (b"RIFF", "media file"), (b"%PDF", "PDF document"), (b"{\\rtf", "RTF document"), (b"PK", "zip archive"),
    (b"7z\xbc\xaf", "7z archive"), (b"Rar!", "RAR archive"), (b"BZh", "bzip2 file"), (b"\xfd7zXZ", "xz file"),
    (b"\x28\xb5\x2f\xfd", "zstd file"), (b"SQLite format 3", "SQLite database"), (b"\x93NUMPY", "NumPy array"),
    (b"\x89HDF", "HDF5 file"), (b"ARROW1", "Arrow (Feather) file"), (b"\xd0\xcf\x11\xe0", "old Office document"),
    (b"RDX", "R data file"), (b"\x7fELF", "program"), (b"MZ\x90", "program"), (b"$FL2", "SPSS file"),
    (b"x\x9c", "compressed pickle (joblib)"), (b"x\x01", "compressed file"), (b"x\xda", "compressed file"),
)  # fmt: skip


def _refuse_binary(data: bytes) -> None:
    """Raises ReadError on what is no text, saying what it looks like."""
    kind = next((kind for magic, kind in _SIGNATURES if data.startswith(magic)), "")
    if kind in ("BMP image", "compressed file", "R data file") and not _unprintable(data):
        kind = ""  # two letters a header may begin with
    if not kind and data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        kind = "pickle"
    if not kind and data[257:262] == b"ustar":
        kind = "tar archive"
    if kind:
        raise ReadError(
            "the file is not a CSV or text table but looks like a {kind} (binary); open it in the program it comes "
            "from and save the table as CSV or xlsx",
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
TWICE = "utf-8-twice"
"""What is called the encoding of UTF-8 that some program took for cp1252 and wrote as UTF-8 again: 'Ã©' is 'é'."""


def _decode(data: bytes, encoding: str | None, notes: list[Note]) -> tuple[str, str]:
    """(text, encoding): told → BOM → UTF-16 by its NULs → strict UTF-8 → damaged UTF-8 → a guess, strictly decoded."""
    if encoding is not None:
        return _strictly(data, encoding), encoding
    for bom, found in _BOMS:
        if data.startswith(bom):
            data = _whole(data, {"utf-16": 2, "utf-32": 4}.get(found, 1), found, notes)
            return _strictly(data, found).removeprefix("\ufeff"), found
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
    for pattern, found in _SEVEN_BITS:
        if data.isascii() and re.search(pattern, data):
            with suppress(UnicodeDecodeError):
                text = data.decode(found)
                if found != "utf-7" or _in_seven_bits(data, text):
                    notes.append(_encoding_note(text, found).offering(*_plain_offer(data, found)))
                    return text, found
    try:
        text = data.decode("utf-8")
        notes += _twice_note(text)
        return text, "utf-8"
    except UnicodeDecodeError as error:
        first = error
    if (both := _both(data, notes)) is not None:
        return both, "utf-8"
    mended = data.decode("utf-8", "replace")
    sound = sum(ord(c) > 127 for c in mended[:1_000_000]) - mended.count("\ufffd", 0, 1_000_000)
    if sound > 5 * mended.count("\ufffd"):
        line = data[: first.start].count(b"\n") + 1
        notes.append(note("the encoding is utf-8, but {n} characters are damaged, the first in line {line}; they are "
                          "shown as '\ufffd'", "warning", line, n=mended.count("\ufffd"), line=line))  # fmt: skip
        return mended, "utf-8"
    read: dict[str, str] = {}
    for guess in _guesses(data):
        with suppress(UnicodeDecodeError, LookupError):
            read.setdefault(guess, data.decode(guess))
    if read:
        guess, text = next(iter(read.items()))
        notes.append(_encoding_note(text, guess).offering(*_others(data, read)))
        return text, guess
    raise ReadError("the encoding of the file cannot be found out; save it as UTF-8, or choose the encoding")


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


def _text_of(data: bytes, encoding: str, notes: list[Note]) -> str | None:
    """The text in an encoding of 2 or 4 bytes a character; None where it is none."""
    told: list[Note] = []
    try:
        text = _whole(data, 4 if encoding.startswith("utf-32") else 2, encoding, told).decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\0" in text.rstrip("\0"):
        return None
    notes += told
    return text


def _whole(data: bytes, width: int, encoding: str, notes: list[Note]) -> bytes:
    """The data without the bytes that are left over where a character takes `width` of them."""
    over = len(data) % width
    if over:
        notes.append(note("the encoding is {encoding}, but the file ends within a character (cut off?); what is left "
                          "of it is left out", "warning", encoding=encoding))  # fmt: skip
    return data[: len(data) - over]


def _both(data: bytes, notes: list[Note]) -> str | None:
    """The text of a file of which some lines are UTF-8 and the others another encoding, as of files joined into one;
    None where it is not so."""
    lines = data.splitlines(keepends=True)
    good = [_is_utf8(line) for line in lines]
    rest = b"".join(line for line, sound in zip(lines, good, strict=True) if not sound)
    if not any(sound and not line.isascii() for line, sound in zip(lines, good, strict=True)):
        return None
    mended = rest.decode("utf-8", "replace")
    strange = mended.count("\ufffd")
    other = next((g for g in _guesses(rest)[:1] if _reads(rest, g)), None)
    if other is None or strange < 4 or sum(ord(c) > 127 for c in mended) > 2 * strange:
        return None  # damaged characters rather than an encoding
    text = "".join(line.decode("utf-8" if sound else other) for line, sound in zip(lines, good, strict=True))
    at = [k for k, sound in enumerate(good, 1) if not sound]
    notes.append(note("two encodings in one file: line {lines} as {encoding}, all others as utf-8 (line {line} reads "
                      "'{text}')", "warning", at[0], lines=lines_of(at), encoding=other, line=at[0],
                      text=lines[at[0] - 1].decode(other).strip()[:40]))  # fmt: skip
    return text


def _is_utf8(line: bytes) -> bool:
    return _reads(line, "utf-8")


def _reads(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _once(text: str) -> str:
    """What a text means that was encoded twice; raises UnicodeError where it was not."""
    return text.translate(_BYTES).encode("latin-1").decode("utf-8")


_BYTES = {ord(bytes([b]).decode("cp1252")): b for b in range(128, 160) if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
"""The characters of cp1252 that latin-1 has not, as the bytes they were."""


def _twice_note(text: str) -> list[Note]:
    """Whether a text seems to have been encoded twice, with the way to have it right."""
    if not re.search("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0178\u02c6-\u02dc\u2013-\u203a\u20ac\u2122]", text):
        return []
    try:
        _once(text)
    except UnicodeError:
        return []
    cell = next(m.group() for m in re.finditer(r"[^,;\t|\r\n]+", text) if not m.group().isascii())
    return [note("the text seems to have been encoded twice before it was saved: '{cell}' may mean '{meant}'",
                 "warning", cell=cell[:40], meant=_once(cell)[:40])
            .offering(offer("Undo it: '{meant}'", "encoding", TWICE, meant=_once(cell)[:24]))]  # fmt: skip


def _others(data: bytes, read: Mapping[str, str]) -> list[Offer]:
    """Other encodings of which the bytes are text, each with the first cell that shows the difference."""
    offers: list[Offer] = []
    seen = {next(iter(read.values()))}
    for encoding in ("gb18030", "cp1252", *read, "big5", "cp1251", "cp932"):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            cell = next((c for c in re.findall(r"[^,;\t|\r\n]+", text[:MOST]) if not c.isascii()), "")
            readable = not any(c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cn", "Co") for c in cell)
            if text not in seen and cell and readable:
                offers.append(offer("{encoding}: '{cell}'", "encoding", encoding, encoding=encoding, cell=cell[:24]))
                seen.add(text)
    return offers[:3]


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return _once(data.decode("utf-8")) if encoding == TWICE else data.decode(encoding)
    except LookupError:
        raise ReadError("there is no encoding '{encoding}'; try utf-8, gb18030 or cp1252", encoding=encoding) from None
    except UnicodeError as error:
        raise ReadError(
            "the bytes in line {line} are no {encoding}; choose another encoding",
            line=data[: getattr(error, "start", 0)].count(b"\n") + 1, encoding=encoding,
        ) from None  # fmt: skip


def _guesses(data: bytes) -> list[str]:
    """Encodings to try, likeliest first. Few characters are too few for a detector: then common Chinese is first."""
    lines = (found[0] for found in re.finditer(rb"[^\r\n]+", data))
    telling = b"\n".join(islice((line for line in lines if not line.isascii()), 100_000))[:200_000]
    high = bytes(b for b in telling if b > 127)
    pairs = re.sub(rb"[\xb0-\xd7][\xa1-\xfe]", b"", telling)
    chinese = ["gb18030"] if pairs.isascii() and not len(high) % 2 else []
    guessed: list[str] = []
    try:
        detected = importlib.import_module("chardet").detect(telling)["encoding"]
        guessed = [codecs.lookup(detected).name] if detected else []
    except (ImportError, LookupError):
        pass
    guessed = ["gb18030" if g in ("gb2312", "gbk", "hz") else g for g in guessed if g not in ("ascii", "utf-8")]
    few = len(high) < 40
    guessed = [*_western(telling, guessed[0] if guessed else ""), *guessed]
    return [*(chinese if few else []), *guessed, *chinese, "gb18030", "cp1252", "latin-1"]


_WESTERN = frozenset("áàâäãåæçéèêëíìîïñóòôöõøœúùûüßÁÀÂÄÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ€£§°µ²³×“”‘’„–—«»…·•®©")


def _western(telling: bytes, detected: str) -> list[str]:
    """The encoding of Western Europe in which every character is a common one, where the detector saw Latin letters or
    a mixture of scripts within words: of a few accents it cannot tell code pages apart."""
    try:
        text = telling.decode(detected or "cp1252")
    except (UnicodeDecodeError, LookupError):
        return []
    with suppress(UnicodeDecodeError):
        if telling and {c for c in telling.decode("cp1252") if not c.isascii()} <= _SIGNS:
            return ["cp1252"]  # quotes, dashes and the euro's sign between plain letters
    words = [w for w in re.findall(r"[^\W\d_]+", text) if not w.isascii()]
    odd = [w for w in words if not all("LATIN" in unicodedata.name(c, "") for c in w)]
    if any(w for w in odd if not re.search("[A-Za-z]", w)) and 2 * sum(
        bool(re.search("[A-Za-z]", w)) for w in odd) <= len(words):  # fmt: skip
        return []  # whole words of another script
    for encoding in ("cp1252", "mac_roman", "cp850"):
        with suppress(UnicodeDecodeError):
            text = telling.decode(encoding)
            if all(c in _WESTERN for c in text if ord(c) > 127) and not _SLIPS.search(text):
                return [encoding]
    return []


_SIGNS = frozenset("€“”‘’„–—…•")
"""Signs that cp1252 has in place of what latin-1 has for control characters."""
_SLIPS = re.compile("[a-zß-öø-ÿ][À-ÖØ-ÞŒ](?![A-ZÀ-ÖØ-ÞŒ])|[£§°µ²³×©®•][a-zA-Z]|[a-z][£§×©®•]")
"""A capital or a sign within a word of small letters: the text is in another encoding."""


def _encoding_note(text: str, encoding: str) -> Note:
    found = re.finditer(r"[^,;\t|\r\n]+", text)
    cells = list(islice(((m.start(), m.group()) for m in found if not m.group().isascii()), 4))
    if not cells:
        return note("encoding guessed: {encoding}; choose another if the text looks wrong", "warning",
                    encoding=encoding)  # fmt: skip
    line = text.count("\n", 0, cells[0][0]) + 1
    if len(cells) > 3:
        return note("encoding guessed: {encoding}, first used in line {line} ('{cell}'); choose another if that looks "
                    "wrong", "warning", line, encoding=encoding, line=line,
                    cell=cells[0][1].strip()[:40])  # fmt: skip
    where = Listing(
        Message("{line}: '{cell}'", {"line": text.count("\n", 0, start) + 1, "cell": cell.strip()[:40]})
        for start, cell in cells
    )
    return note("encoding guessed: {encoding}, from very few characters (line {where}); choose another if they look "
                "wrong", "warning", line, encoding=encoding, where=where)  # fmt: skip


def _refuse_foreign_text(text: str) -> None:
    """Raises ReadError on text that is another kind of file: a web page, JSON, XML; and on no text at all."""
    start = text[:2000].lstrip("\ufeff \t\r\n").lower()
    if not re.search(r"[^\ufeff \t\r\n\x1a]", text):
        raise ReadError("the file is empty: there is no data in it")
    if re.match(r"<!doctype html|<html|<head|<body|<script|<!--", start):
        raise ReadError("the file is a web page (HTML), perhaps a sign-in page; open the link in a browser, sign in, "
                        "and download the table itself")  # fmt: skip
    if start.startswith("<?xml"):
        raise ReadError("the file is XML, not a table; save it as CSV or xlsx")
    if re.match(r"<(svg|table|div|[a-z]+ xmlns)\b", start):
        raise ReadError("the file is a piece of a web page (HTML or SVG), not a table; save the table as CSV or xlsx")
    if (root := re.match(r"<([a-z][\w:.-]*)[^<>]*>", start)) and text[-300:].rstrip().lower().endswith(f"</{root[1]}>"):
        raise ReadError("the file is XML, not a table; save it as CSV or xlsx")
    if re.match(r"(?:\((?:[dlt]|[dl]p\d+)\n|c[A-Za-z_][\w.]*\n\w+\n)", text) and text.endswith("."):
        raise ReadError("the file is not a table but looks like a pickle (binary), which is never opened here; save "
                        "the table as CSV or xlsx")  # fmt: skip
    if start.startswith("version https://git-lfs"):
        raise ReadError("the file is not the data but a pointer to it (Git LFS); download the file itself")
    if re.match(r'\{\s*["}]|\[\s*[\[{"\d\]]', start) and ("\n[" not in start[:200] or _is_json(text)):
        raise ReadError("the file looks like JSON, not a table; save it as CSV (a JSON file cannot be read here)")


def _is_json(text: str) -> bool:
    """Whether the first line is JSON by itself, as in a file of one list a line."""
    try:
        return isinstance(json.loads(text.lstrip("\ufeff \t\r\n").splitlines()[0][:MOST]), list)
    except (ValueError, RecursionError):
        return False
