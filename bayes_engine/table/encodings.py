"""Which encoding the bytes of a text are in, guessed from the characters that it would give. chardet guesses; it is
checked by decoding the whole file, since charset-normalizer fails on single-byte encodings.
"""

from __future__ import annotations

import codecs
import hashlib
import importlib
import io
import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from bayes_engine.language import Listing, Message
from bayes_engine.progress import tick
from bayes_engine.table.notes import Note, Offer, note, offer

MOST = 1_000_000
"""How many characters are looked at where a sample will do."""
CHUNK = 1 << 20
"""Bytes that are decoded at once: a text in characters may take four times the memory of its bytes."""
DOUBLE_ENCODED = "utf-8-twice"
"""What is called the encoding of UTF-8 that some program took for cp1252 and wrote as UTF-8 again: 'Ã©' is 'é'."""


def _decoded(data: bytes, encoding: str, errors: str = "strict") -> Iterator[str]:
    """The text in parts, a chunk at a time."""
    with suppress(UnicodeError):
        b"\0".decode(encoding)  # raises LookupError on what is no encoding of text
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    for start in range(0, len(data), CHUNK):
        tick()
        yield decoder.decode(data[start : start + CHUNK], start + CHUNK >= len(data))


def as_utf8(data: bytes, encoding: str, errors: str = "strict") -> bytes:
    """The text in UTF-8."""
    if errors == "strict" and codecs.lookup(encoding).name == "utf-8":
        deque(_decoded(data, encoding), 0)
        return data
    out = io.BytesIO()
    out.writelines(part.encode() for part in _decoded(data, encoding, errors))
    return out.getvalue()


def survey(data: bytes, encoding: str) -> tuple[bytes, str] | None:
    """A digest of the text and its first MOST characters; None where the bytes are none in this encoding."""
    digest, head = hashlib.blake2b(), ""
    try:
        for part in _decoded(data, encoding):
            digest.update(part.encode())
            head = head + part[: MOST - len(head)] if len(head) < MOST else head
    except (UnicodeError, LookupError):
        return None
    return digest.digest(), head


def damaged_characters(data: bytes) -> int:
    """How many characters are damaged in UTF-8, or stand for one that was."""
    return sum(part.count("\ufffd") for part in _decoded(data, "utf-8", "replace"))


def is_utf7(data: bytes, text: str) -> bool:
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


def plain_offer(data: bytes, encoding: str) -> tuple[Offer, ...]:
    """Plain ASCII is always another way to read what is only ASCII."""
    cell = next((c for c in re.findall(r"[^,;\t|\r\n]+", data[:MOST].decode("ascii")) if "+" in c), "")
    return (offer("{encoding}: '{cell}'", "encoding", "utf-8", encoding="utf-8", cell=cell[:24]),
            ) if encoding == "utf-7" else ()  # fmt: skip


def beyond_ascii(data: bytes) -> int:
    """How many characters are not plain ASCII, the damaged too."""
    return sum(len(part) - len(part.encode("ascii", "ignore")) for part in _decoded(data, "utf-8", "replace"))


def reads_as(data: bytes, encoding: str) -> bool:
    try:
        deque(_decoded(data, encoding), 0)
    except (UnicodeError, LookupError):
        return False
    return True


def undo_double_encoding(text: str) -> str:
    """What a text means that was encoded twice; raises UnicodeError where it was not."""
    return text.translate(_BYTES).encode("latin-1").decode("utf-8")


_BYTES = {ord(bytes([b]).decode("cp1252")): b for b in range(128, 160) if b not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
"""The characters of cp1252 that latin-1 has not, as the bytes they were."""


def double_encoding_note(data: bytes) -> list[Note]:
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
            undo_double_encoding(line[0].decode())
    except UnicodeError:
        return []
    cell = next(m[0].decode() for m in re.finditer(rb"[^,;\t|\r\n]+", data) if not m[0].isascii())
    return [note("the text seems to have been encoded twice before it was saved: '{cell}' may mean '{meant}'",
                 "warning", cell=cell[:40], meant=undo_double_encoding(cell)[:40])
            .offering(offer("Undo it: '{meant}'", "encoding", DOUBLE_ENCODED,
                            meant=undo_double_encoding(cell)[:24]))]  # fmt: skip


_NOT_ASCII = re.compile(rb"[^\x00-\x7f][^\r\n]*+")
"""A line from its first character on that is not plain."""


def other_encodings(data: bytes, read: Mapping[str, tuple[bytes, str]]) -> list[Offer]:
    """Other encodings of which the bytes are text, each with the first cell that shows the difference."""
    offers: list[Offer] = []
    seen = {next(iter(read.values()))[0]}
    for encoding in dict.fromkeys(("gb18030", "cp1252", *read, "big5", "cp1251", "cp932")):
        if len(offers) < 3 and (surveyed := read.get(encoding) or survey(data, encoding)) is not None:
            digest, text = surveyed
            cell = next((c[0] for c in re.finditer(r"[^,;\t|\r\n]+", text) if not c[0].isascii()), "")
            readable = not any(c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cn", "Co") for c in cell)
            if digest not in seen and cell and readable:
                offers.append(offer("{encoding}: '{cell}'", "encoding", encoding, encoding=encoding, cell=cell[:24]))
                seen.add(digest)
    return offers


def telling_lines(data: bytes) -> bytes:
    """The first lines that are not plain ASCII, as many as fill 200,000 bytes."""
    kept, size, start = list[bytes](), 0, 0
    while start < len(data) and size <= _TELLING and len(kept) < 100_000:
        end = max(data.rfind(b"\n", start, start + _TELLING) + 1, data.rfind(b"\r", start, start + _TELLING) + 1)
        if not end and start + _TELLING < len(data):  # one line that is longer than all that is looked at
            end = next((match.end() for match in _LINE_ENDS.finditer(data, start + _TELLING)), len(data))
        end = end or len(data)
        lines = [line for line in data[start:end].splitlines() if not line.isascii()]
        size += sum(map(len, lines)) + len(lines)
        kept += lines
        start = end
    return b"\n".join(kept[:100_000])[:_TELLING]


_TELLING = 200_000
_LINE_ENDS = re.compile(rb"[\r\n]")


def share_of_chinese(data: bytes) -> float:
    """Where the whole file is valid in GB 18030, the share of common characters in what is not ASCII there; 0 where it
    is below a half. Of words with accents neither is so: a letter would join the next one into a rare character, or
    they would stand between the letters of words."""
    if data.isascii():
        return 0.0
    sample = telling_lines(data)
    within = len(_GB_WITHIN_WORDS.findall(sample))
    if within and 2 * within > len(_GB_RUN.findall(sample)):
        return 0.0
    characters = Counter(_GB.findall(sample))
    signs = sum(n for c, n in characters.items() if c[0] < 0xA4 and len(c) == 2 and c[0] > 0xA0)
    common = sum(n for c, n in characters.items() if 0xB0 <= c[0] <= 0xD7 and c[1] > 0xA0)
    share = common / max(characters.total() - signs, 1)
    return share if share >= 0.5 and reads_as(data, "gb18030") else 0.0


_GB = re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])")
"""A character of GB 18030 beyond ASCII; the first 3,755 Chinese ones, by frequency, are B0A1 to D7FE."""
_GB_RUN = re.compile(rb"(?:%b)++" % _GB.pattern)
_GB_WITHIN_WORDS = re.compile(
    rb"[A-Za-z][\x81-\xfe][A-Za-z]|[a-z]%b(?=[A-Za-z])|[A-Z]%b(?=[a-z])" % (2 * (_GB.pattern,))
)
"""One of them between the letters of a word."""


def mixes_scripts(data: bytes) -> bool:
    """Whether most words that are not ASCII mix scripts, as Greek with Armenian: UTF-8 by chance."""
    text = telling_lines(data).decode("utf-8", "ignore")
    script = {c: unicodedata.name(c, "?").split()[0] for c in set(text) if c.isalpha() and not c.isascii()}
    if len(set(script.values())) < 2:
        return False
    words = Counter({w: n for w, n in Counter(re.findall(r"[^\W\d_]+", text)).items() if not w.isascii()})
    mixed = sum(n for w, n in words.items() if len({script[c] for c in w if c in script}) > 1)
    return 2 * mixed > words.total()


def mixes_within(words: Iterable[str]) -> bool:
    """Whether any of these words mixes scripts beyond ASCII; where none does, a text of them does not.

    >>> mixes_within(["Zürich", "東京 Łódź"]), mixes_within(["\u03b1\u0561"])
    (False, True)
    """
    distinct = {word for word in re.findall(r"[^\W\d_]+", " ".join(words)) if not word.isascii()}
    scripts = ({unicodedata.name(c, "?").split()[0] for c in word if not c.isascii()} for word in distinct)
    return any(len(some) > 1 for some in scripts)


def guesses(data: bytes, chinese: float) -> list[str]:
    """Encodings to try, likeliest first. A detector is good at telling those of East Asia apart, but takes few Chinese
    words between English ones for accents: common Chinese is before what is not East Asian."""
    sample = telling_lines(data)
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
    if not elsewhere and _is_japanese(sample):
        guessed.insert(0, "cp932")
    elif chinese and ((chinese == 1 and high < 40) or not elsewhere):
        guessed.insert(0, "gb18030")
    else:
        guessed = [*_western(sample, guessed[0] if guessed else ""), *guessed]
    return [*guessed, "gb18030", "cp1252", "latin-1"]


def _is_japanese(sample: bytes) -> bool:
    """Whether nearly all characters that are not ASCII are kana, signs and common Chinese characters of Shift JIS (the
    2,965 of level 1): one of half width would be most letters of a code page, one of level 2 an accent with the letter
    behind it."""
    characters = [match[0] for match in _JIS.finditer(sample)]
    common = sum(len(c) == 2 and (c[0] in (0x81, 0x82, 0x83) or 0x88 <= c[0] <= 0x97) for c in characters)
    return len(characters) > 2 and common >= 0.95 * len(characters) and reads_as(sample, "cp932")


_JIS = re.compile(rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]|[\x80-\xff]")
_EAST_ASIAN = ("gb", "big5", "cp932", "cp950", "euc_j", "shift", "iso2022")
"""How the names of encodings begin that write a character of East Asia in two bytes."""
_WESTERN = frozenset("áàâäãåæçéèêëíìîïñóòôöõøœúùûüßÁÀÂÄÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ€£§°µ²³×“”‘’„–—«»…·•®©\u00a0")


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
    words = [w for w in re.findall(r"[^\W\d_]{2,}", text) if not w.isascii()]  # one letter alone may be à in French
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


def encoding_note(data: bytes, encoding: str) -> Note:
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
