"""A long CSV file in which there is nothing to find out, read by pandas' typed C reader: as fast as that, and equal to
what the rules of the other modules make of the file (tested so).

It is proved in one pass over the bytes: strict UTF-8 with no other characters beyond ASCII than letters, quotes as
RFC 4180 has them, no blank line, and nothing in the first and the last rows that had to be told. Where a cell begins
with a blank, or a number is written as a code or with more than a float64 keeps, its column is read as it is written
and left to the rules of cells. Any other doubt is left to all the rules.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple
from unicodedata import is_normalized

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.assemble import lay_out
from bayes_engine.table.convert import ConvertedTable, convert
from bayes_engine.table.decode import decode
from bayes_engine.table.dialect import SAMPLE, cut
from bayes_engine.table.encodings import mixes_scripts, share_of_chinese
from bayes_engine.table.grid import check_size
from bayes_engine.table.header import is_typed
from bayes_engine.table.notes import Note
from bayes_engine.table.numbers import MONTH_NUMBER, version_among
from bayes_engine.table.parquet_arff import is_arff
from bayes_engine.table.tokenize import Dialect, line_end
from bayes_engine.table.totals import ADDED_UP, labelled

LEAST = 1_000_000
"""Bytes from which on a file is read so; the rules take little time for fewer."""
_TOP, _BOTTOM = 300, 30
"""Rows at the beginning and at the end in which header, units and footer are looked for: more than the rules do."""
_BLOCK, _AHEAD = (1 << 18) - 128, 64
"""Bytes that are looked at together (fewer than those that the app takes from the system each time: `launch.LARGE`),
and how many of the next to see what they begin."""
_MOST = 1e15
"""Whole numbers from here on have 16 digits, and may be no quantities."""
_PLUS = re.compile(rb"(?<![0-9.][eE])\+|\+(?![0-9]{1,2}(?:[,;\t|\r\n\"]|\Z))")
"""A plus sign other than that of an exponent: a telephone number, a formula, another encoding."""
_EXACT = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
"""Whether pandas reads a float64 to its last digit by itself."""


_POINT = re.compile(r"-?\d+\.(?:\d{1,2}|\d{4,})")
"""A number whose point separates no thousands."""
_TWICE = re.compile("[\u0080-\u00bf\u0152-\u0178\u02c6-\u02dc]")
"""Letters that an encoding used twice makes of the second half of others."""


class _Form(NamedTuple):
    """The names of the columns, the delimiter, as what those are read that hold words as far as is seen, and which of
    the others show the decimal point beyond doubt."""

    names: tuple[str, ...]
    delimiter: str
    words: dict[str, str]
    pointed: frozenset[str]


def read_clean(data: bytes) -> tuple[ConvertedTable, str] | None:
    r"""The table in a file that is long and proved to be clean, and its delimiter; None where anything is in doubt.

    >>> table, _delimiter = read_clean(b"size,city\n" + b"1.5,Oslo\n2.5,Rome\n" * 70_000)
    >>> list(table.frame.dtypes.astype(str).iloc[:1]), len(table.frame), table.notes, read_clean(b"size\n1\n")
    (['float64'], 140000, [], None)
    """
    if len(data) < LEAST or (b"+" in data and _PLUS.search(data)):
        return None
    form = _form(data)
    counted = form and _counted(data, form)
    if not form or not counted:
        return None
    check_size(counted[0], len(form.names))
    if (read := _columns(data, form, *counted)) is None:
        return None
    texts, pointed = read
    if counted[0] <= ADDED_UP and _may_sum_up(texts[form.names[0]]):
        return None
    table = convert(texts, None, None, points_in_doubt=form.delimiter == ";" and not pointed)
    return (table, form.delimiter) if table.mark == "." else None


def _form(data: bytes) -> _Form | None:
    """How the first and the last rows are written, by the rules, where these have nothing to tell."""
    end = next((match.end() for match in islice(re.finditer(rb"\n", data), _TOP, None)), len(data))
    sample = SAMPLE + 1 if data[: 2 * SAMPLE].isascii() else 2 * SAMPLE  # no fewer characters than the rules look at
    end, begin = line_end(data, max(end, sample)), len(data)
    for _ in range(_BOTTOM):
        begin = data.rfind(b"\n", 0, begin - 1) + 1 if begin else 0
    few = data if begin <= end else data[:end] + data[begin:]
    head = data[:SAMPLE]
    if b"\n" not in head or b"---" in head or b"===" in head or is_arff(data[:1_000_000].decode(errors="replace")):
        return None
    notes: list[Note] = []
    try:
        text, encoding = decode(few, None, notes)
        grid, dialect = cut(text, None, None, notes)
        if (grid.widths != grid.widths[0]).any():
            return None
        place = np.arange(len(grid.widths))
        grid = grid.kept((place <= _TOP) | (place >= len(place) - _BOTTOM))
        layout, rows, line = lay_out(grid, None, dialect.delimiter, notes)
    except ReadError:
        return None
    if notes or encoding != "utf-8" or line != 1 or len(rows.widths) + 1 != len(grid.widths):
        return None
    if dialect not in map(Dialect, ",;\t|") or layout.left_out or layout.joined is not None or layout.width < 2:
        return None
    if grid.widths[0] != layout.width:
        return None
    cells = rows.cells.head(_TOP)
    distinct = (cells[j].unique().tolist() for j in cells)
    if any(version_among(some) or all(map(MONTH_NUMBER.fullmatch, some)) for some in distinct):
        return None
    words = {name: "category" if 2 * cells[j].nunique() <= len(cells) else "str"
             for j, name in enumerate(layout.names) if not is_typed(cells[j].tolist())}  # fmt: skip
    pointed = (n for j, n in enumerate(layout.names) if n not in words and any(map(_POINT.fullmatch, cells[j])))
    return _Form(layout.names, dialect.delimiter, words, frozenset(pointed))


def _may_sum_up(first: pd.Series) -> bool:
    """Whether by the first column a row may sum up others: by what it calls itself there, or the last by nothing."""
    if first.dtype.kind in "iuf":
        return bool(pd.isna(first.iloc[-1]))
    return bool(first.iloc[-1] == "") or bool(labelled(first).any())


def _repeated(data: bytes) -> bool:
    """Whether the header stands in the file again."""
    return data.find(b"\n" + data[: data.index(b"\n")].rstrip(b"\r")) >= 0


def _counted(data: bytes, form: _Form) -> tuple[int, int, set[int]] | None:
    """How many rows and how many empty cells a file has, and the columns of cells in doubt; None where a byte speaks of
    what is not clean, or where the lines together have not the cells of its columns."""
    array = np.frombuffer(data, dtype=np.uint8)
    there = frozenset(c for c in b' "-\r' if data.find(c) >= 0)
    quoted, letters = ord('"') in there, None if data.isascii() else _Letters()
    ends = marks = returns = plain = empty = 0
    within = False  # a quoted cell, where a block begins
    doubtful = set[int]()
    for start in range(0, len(array), _BLOCK):
        tick(start, 3 * len(array))
        block = array[start : start + _BLOCK + _AHEAD]
        here = min(_BLOCK, len(array) - start)
        if letters and not letters.are_all(block[:here], last=start + here == len(array)):
            return None
        if ended := len(block) < _BLOCK + _AHEAD:
            block = np.append(block, np.zeros(_AHEAD + -len(block) % 8, dtype=np.uint8))
        end, mark = block == ord("\n"), block == ord(form.delimiter)
        stop = end
        if ord("\r") in there:
            back = block == ord("\r")
            returns += int(np.count_nonzero(back[:here]))
            if (back[:here] & ~end[1 : here + 1]).any():
                return None
            stop = end | back
        apart = stop | mark
        begins = apart
        if quoted:
            quote = block == ord('"')
            inside = _inside(quote, within)
            if not _regular(quote, inside, apart, block == 0 if ended else None) or (inside & stop)[:here].any():
                return None
            within = bool(inside[here - 1])
            mark &= ~inside
            apart = stop | mark
            begins = apart.copy()
            begins[1:] |= quote[1:] & apart[:-1]
        if len(at := _in_doubt(block, begins, there)):
            before = np.cumsum(mark)[at] + marks - (len(form.names) - 1) * (np.cumsum(end)[at] + ends)
            doubtful.update(np.unique(before).tolist())
        plain += int(np.count_nonzero(block[:here] - np.uint8(ord(" ")) < ord("~") - ord(" ")))
        ends += int(np.count_nonzero(end[:here]))
        marks += int(np.count_nonzero(mark[:here]))
        empty += int(np.count_nonzero(apart[:here] & apart[1 : here + 1]))
    lines = ends + (not data.endswith(b"\n"))
    expected = (len(form.names) - 1) * lines
    if within or data.endswith(form.delimiter.encode()) or marks != expected or returns not in (0, ends):
        return None
    beyond = letters.bytes if letters else 0
    if plain + beyond + ends + returns + (marks if form.delimiter == "\t" else 0) != len(data):
        return None  # other control characters, or what begins with a tilde
    if letters and letters.in_doubt(data):
        return None
    if not doubtful <= set(range(len(form.names))):
        return None  # lines above have not the cells of the columns
    return lines - 1, empty - returns, doubtful


def _inside(quote: NDArray[np.bool_], within: bool) -> NDArray[np.bool_]:
    """For every byte whether, after it, a quoted cell goes on; `within` one before the first. Of 64 bytes at once (the
    parity of all bits up to each one), four times as fast as `np.logical_xor.accumulate`.

    >>> _inside(np.array([False, True, False, True, True]), False).tolist()
    [False, True, True, False, True]
    """
    bits = np.zeros(-(-len(quote) // 64), dtype="<u8")
    packed = np.packbits(quote, bitorder="little")
    bits.view(np.uint8)[: len(packed)] = packed
    for n in (1, 2, 4, 8, 16, 32):
        bits ^= bits << np.uint64(n)
    odd = np.bitwise_xor.accumulate(np.append(np.uint64(within), bits[:-1] >> np.uint64(63)))
    bits ^= np.uint64(0) - odd  # all bits, where an odd number of quotes was before
    return np.unpackbits(bits.view(np.uint8), count=len(quote), bitorder="little").view(np.bool_)


def _regular(
    quote: NDArray[np.bool_], inside: NDArray[np.bool_], apart: NDArray[np.bool_], over: NDArray[np.bool_] | None
) -> bool:
    """Whether every quote begins a cell, ends one, or is one of two within it; and no quoted cell is empty. (`inside`
    is the state after each byte, `over` what lies beyond the end of the text; what begins in the last bytes is seen in
    the next block.)"""
    opening, free = quote & inside, apart > inside
    closing, after = quote > inside, apart | quote
    if over is not None:
        after |= over
    if (opening[1:] > (free | closing)[:-1]).any() or (closing[:-1] > after[1:]).any():
        return False
    both = opening[1:-2] & closing[2:-1]
    return not (both.any() and (free[:-3] & both & (after > quote)[3:]).any())


class _Letters:
    """Whether the parts of a text, one after the other, are UTF-8 that holds no characters beyond ASCII but letters, of
    which none is written in another way too, and none is what an encoding used twice makes of another."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._met, self._n = np.zeros(0x110000, dtype=bool), 0
        self._high = False  # whether the last byte was beyond ASCII
        self.bytes = 0
        """How many bytes beyond ASCII there were."""

    def are_all(self, part: NDArray[np.uint8], *, last: bool) -> bool:
        high, further = part > 127, (part & 0xC0) == 0x80
        if (further[1:] > high[:-1]).any() or bool(further[0]) > self._high:
            return False  # the rest of a character without its beginning; so those beyond ASCII can be decoded alone
        self._high = bool(high[-1])
        beyond = part[high]
        self.bytes += len(beyond)
        try:
            letters = self._decode(beyond.tobytes(), last)
        except UnicodeDecodeError:
            return False
        first, self._n = not self._n, self._n + len(letters)
        self._met[np.frombuffer(letters.encode("utf-32-le"), dtype="<u4")] = True
        return not (last or first) or self._are_letters()

    def _are_letters(self) -> bool:
        """Whether all that were met are letters; asked when the first come and at the end."""
        return all(
            c.isalpha() and is_normalized("NFKC", c) and not _TWICE.match(c)
            for c in map(chr, np.flatnonzero(self._met))
        )

    def in_doubt(self, data: bytes) -> bool:
        """Whether the text, all of which was seen, may be GB 18030 that is UTF-8 by chance."""
        return (self._n <= 2 or mixes_scripts(data)) and bool(share_of_chinese(data))


def _in_doubt(block: NDArray[np.uint8], begins: NDArray[np.bool_], there: frozenset[int]) -> NDArray[np.intp]:
    """Where a cell begins with a blank or a zero before digits, or a number has a power that may be a code or beyond a
    float64, or dozens of digits: places within such cells. (What begins in the last bytes is seen in the next block; of
    the marks that are not `there` in the file none is looked for.)"""
    digit = block - np.uint8(ord("0")) < 10
    before = begins[:-2]
    if ord("-") in there:
        before = before.copy()
        before[1:] |= (block[1:-2] == ord("-")) & begins[:-3]
    found = [before & (block[1:-1] == ord("0")) & digit[2:]]
    if ord(" ") in there:
        found.append(begins[:-1] & (block[1:] == ord(" ")))
    places = [np.flatnonzero(some) + 1 for some in found if some.any()]
    number = block - np.uint8(ord(".")) < 12  # and a slash, which is no worse than a doubt
    power = np.flatnonzero(number[:-6] & ((block[1:-5] | 32) == ord("e"))) + 2
    if len(power):
        small = (block[power] == ord("-")) & digit[power + 1] & digit[power + 2] & digit[power + 3]
        places.append(power[digit[power] | small])
    run = number.view(np.uint64) == _EIGHT  # of 64 there are seven eights in a row, wherever they begin
    for n in (1, 2, 3):
        run = run[:-n] & run[n:]
    if run.any():
        places.append(8 * np.flatnonzero(run))
    return np.concatenate(places) if places else np.empty(0, dtype=np.intp)


def _remarked(data: bytes) -> bool:
    """Whether a line begins as a comment or as a drawn one, perhaps in quotes. (It has no line ends within quotes.)"""
    array = np.frombuffer(data + bytes(3), dtype=np.uint8)
    for start in range(0, len(data), _BLOCK):
        line = np.flatnonzero(array[start : min(start + _BLOCK, len(data))] == ord("\n")) + start + 1
        line += array[line] == ord('"')
        head = array[line]
        if _LINE[head].any() or ((head == ord("-")) & (array[line + 1] == ord("-"))).any():
            return True
    return False


_LINE = np.isin(np.arange(256), list(b"#%/="))
"""(256,) whether a line that begins with this byte is a comment or a drawn one."""
_EIGHT = np.uint64(0x0101010101010101)
"""Eight bytes that are true."""


def _columns(
    data: bytes, form: _Form, rows: int, empty: int, doubtful: set[int]
) -> tuple[dict[str, pd.Series], bool] | None:
    """The columns, those of numbers typed, the others and the `doubtful` as they are written, and whether numbers show
    the decimal point beyond doubt; None where a line has not the cells of the others, or may be none of the table, or
    other cells than the `empty` ones are read as missing."""
    names = form.names
    words = {names[j]: "str" for j in sorted(doubtful)} | form.words
    quoting: Literal[0, 3] = 0 if b'"' in data else 3  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE
    while True:
        source: Any = _Source(data)
        missing: Any = {name: [""] for name in form.names if name not in words}
        try:
            frame = pd.read_csv(
                source, sep=form.delimiter, quoting=quoting, header=0, names=form.names, index_col=False, dtype=words,
                na_filter=empty > 0, keep_default_na=False, na_values=missing,
                skip_blank_lines=False, engine="c", float_precision=None if _EXACT else "round_trip",
            )  # fmt: skip
        except (pd.errors.ParserError, TypeError):  # the second of categories that are truth values in places
            return None
        others = {
            name for name in missing if frame[name].dtype.kind not in "if" or (empty and frame[name].isna().all())
        }
        ends = {name: (np.fmin.reduce(x), np.fmax.reduce(x)) for name in missing
                if name not in others and len(x := frame[name].to_numpy())}  # fmt: skip
        others |= {name for name, (low, high) in ends.items() if low <= -_MOST or high >= _MOST}  # may be no quantity
        few = [name for name, kind in words.items() if kind == "category"]
        others |= {name for name in few if not all(isinstance(c, str) for c in frame[name].cat.categories)}
        if not others:
            break
        words = words | dict.fromkeys(others, "str")  # a word far below: once more, with all cells as they are written
        del frame
    numbers = {name: frame[name].to_numpy() for name in missing}
    gaps = sum(int(np.isnan(x).sum()) for x in numbers.values() if np.isnan(x.min()))
    if len(frame) != rows:
        return None
    fractions = {name: x for name, x in numbers.items() if x.dtype.kind == "f"}
    if gaps + sum(int(frame[name].eq("").sum()) for name in words) != empty:
        return None
    pointed = not form.pointed <= words.keys()
    if form.delimiter == ";" and not pointed and fractions:
        return None
    if names[0] in words and (_repeated(data) or _remarked(data)):
        return None  # where the first column holds numbers, its name is none of them
    if b'"' in data and any(frame[name].eq(name).any() for name in list(words)[:1]):
        return None  # the header stands there again, perhaps without its quotes
    zeros = {name for name, x in fractions.items() if ends[name][0] <= 0 <= ends[name][1] and (x == 0).any()}
    # -0.0 becomes 0.0: one value, not two
    return {str(name): column + 0.0 if name in zeros else column for name, column in frame.items()}, pointed


class _Source:
    """Bytes as a file, which says how far it is read."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def read(self, size: int = -1) -> bytes:
        tick(len(self._data) + 2 * self._place, 3 * len(self._data))
        part = self._data[self._place : None if size < 0 else self._place + size]
        self._place += len(part)
        return part

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._data.splitlines(keepends=True))
