"""A CSV file in which there is nothing to find out, read by pandas' typed C reader: as fast as that, and equal to
what the rules of the other modules make of the file (tested so).

It is proved in one pass over the bytes (quotes as RFC 4180 has them, no blank line, and nothing in the first and the
last rows that had to be told) and by what was read: strict UTF-8 with no other characters beyond ASCII than letters.
Where a cell begins with a blank, or a number is written as a code or with more than a float64 keeps, its column is read
as it is written and left to the rules of cells. Any other doubt is left to all the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.progress import tick
from bayes_engine.table.byte_bits import (
    Bits,
    ByteBlock,
    count,
    holds_at,
    of_next,
    of_previous,
    quotes_regular,
    rank,
    within_quotes,
)
from bayes_engine.table.clean_form import CleanForm, form_of, unlike_letters
from bayes_engine.table.column_notes import ends_of, holds_nan
from bayes_engine.table.convert import ConvertedTable, convert
from bayes_engine.table.encodings import mixes_scripts, mixes_within, share_of_chinese, telling_lines
from bayes_engine.table.grid import check_size
from bayes_engine.table.numbers import FEW_VERSIONS
from bayes_engine.table.spelled_cells import Spellings, distinct_spellings
from bayes_engine.table.totals import ADDED_UP, label_of

_AT_ONCE = 1 << 23
"""Bytes that the reader of pandas takes at once: of more each part is made small before the next."""
_BLOCK, _AHEAD = 1 << 18, 64
"""Bytes that are looked at together (fewer than those that the app takes from the system each time: `launch.LARGE`),
and how many of the next to see what they begin."""
_MOST = 1e15
"""Whole numbers from here on have 16 digits, and may be no quantities."""
_MINUS_ZERO = np.float64(-0.0).view(np.int64)
_ROWS = 1 << 14
"""Rows whose cells are looked at together."""
_PLUS = re.compile(rb"(?<![0-9.][eE])\+|\+(?![0-9]{1,2}(?:[,;\t|\r\n\"]|\Z))")
"""A plus sign other than that of an exponent: a telephone number, a formula, another encoding."""
_EXACT = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
"""Whether pandas reads a float64 to its last digit by itself."""


class _Counts(NamedTuple):
    """How many rows and empty cells a file has, the columns of cells in doubt, whether there are quotes, and whether
    any of them matters: where a quoted cell holds a delimiter or a quote."""

    rows: int
    empty: int
    doubtful: set[int]
    quoted: bool
    quotes_matter: bool


def read_clean(data: bytes) -> tuple[ConvertedTable, str] | None:
    r"""The table in a file that is proved to be clean, and its delimiter; None where anything is in doubt.

    >>> table, _delimiter = read_clean(b"size,city\n" + b"1.5,Oslo\n2.5,Rome\n" * 7_000)
    >>> list(table.frame.dtypes.astype(str).iloc[:1]), len(table.frame), table.notes, read_clean(b"size\n1\n")
    (['float64'], 14000, [], None)
    """
    form = form_of(data)
    counted = form and _counted(data, form)
    if not form or not counted:
        return None
    check_size(counted.rows, len(form.names))
    if (read := _columns(data, form, counted)) is None:
        return None
    if counted.rows <= ADDED_UP and _may_sum_up(read, form.names[0]):
        return None
    in_doubt = form.delimiter == ";" and not read.pointed
    table = convert(read.cells, None, None, points_in_doubt=in_doubt, spellings=read.spellings, frame=read.frame)
    return (table, form.delimiter) if table.mark == "." else None


def _may_sum_up(read: _Columns, name: str) -> bool:
    """Whether by the first column, of this name, a row may sum up others: by what it calls itself there, or the last by
    nothing."""
    first = read.cells[name]
    if first.dtype.kind in "iuf":
        return bool(pd.isna(first.array[-1]))
    few = read.spellings[name].spelled if name in read.spellings else pd.unique(first)
    return bool(first.array[-1] == "") or any(label_of(str(cell)) for cell in few)


def _repeated(data: bytes) -> bool:
    """Whether the header stands in the file again."""
    return data.find(b"\n" + data[: data.index(b"\n")].rstrip(b"\r")) >= 0


def _counted(data: bytes, form: CleanForm) -> _Counts | None:
    """What is counted of a file; None where a byte speaks of what is not clean, or where the lines together have not
    the cells of its columns."""
    array = np.frombuffer(data, dtype=np.uint8)
    parts = -(-len(array) // _BLOCK)
    block = -(-len(array) // (64 * parts)) * 64  # as many in each part, and no more than there are
    look = ByteBlock(block + _AHEAD)
    last = len(form.names) - 1
    ends = marks = returns = empty = 0
    parted = within = False  # whether a block begins after the end of a cell, or in a quoted one
    quoted = quotes_matter = False
    doubtful = set[int]()
    for start in range(0, len(array), block):
        tick(start, 3 * len(array))
        here = min(block, len(array) - start)
        there = frozenset(c for c in b' "+E\r~\x7f' if data.find(c, start, start + block + _AHEAD) >= 0)
        if not there.isdisjoint(b"~\x7f") or (
            ord("+") in there and _PLUS.search(data, max(start - 2, 0), start + here)
        ):
            return None
        look.at(array[start : start + block + _AHEAD])
        own = slice(-(-here // 64))  # the words of these bytes, without those that the next block begins with
        stop, mark = look.below(ord(" ")), look.is_(ord(form.delimiter))
        if form.delimiter == "\t":
            stop &= ~mark
        end = stop  # where any of these is another control character, the reader will have fewer rows
        if ord("\r") in there:
            back = look.is_(ord("\r"))
            returns += count(back[own])
            end = stop & ~back
            if (back & ~of_next(look.is_(ord("\n"))))[own].any():
                return None
        apart, quote = stop | mark, None
        if within or ord('"') in there:
            quoted, quote = True, look.is_(ord('"'))
            inside = within_quotes(quote, within)
            if not quotes_regular(quote, inside, apart, look.over()) or (inside & stop)[own].any():
                return None
            within = holds_at(inside, here - 1)
            quotes_matter = quotes_matter or bool((mark & inside | quote & of_next(quote))[own].any())
            mark = mark & ~inside
            apart = stop | mark
        after = of_previous(apart, before=parted)
        first = after if quote is None else after | of_previous(quote & after)
        if len(doubts := _in_doubt(look, first, there)):
            doubtful.update(np.unique(rank(mark, doubts) + marks - last * (rank(end, doubts) + ends)).tolist())
        ends += count(end[own])
        marks += count(mark[own])
        empty += count((apart & after)[own])
        parted = holds_at(apart, here - 1)
    lines = ends + (not data.endswith(b"\n"))
    if within or data.endswith(form.delimiter.encode()) or marks != last * lines or returns not in (0, ends):
        return None
    if not doubtful <= set(range(len(form.names))):
        return None  # lines above have not the cells of the columns
    return _Counts(lines - 1, empty - returns, doubtful, quoted, quotes_matter)


def _beyond_ascii(cells: Sequence[str] | pd.Series) -> set[str]:
    """The characters of these cells that ASCII has not."""
    met = set[str]()
    for start in range(0, len(cells), _ROWS):
        joined = "".join(cells[start : start + _ROWS])
        if not joined.isascii():
            met.update(joined)
    return {c for c in met if not c.isascii()}


def _of_other_text(data: bytes, columns: Sequence[Sequence[str] | pd.Series], names: Sequence[str]) -> bool:
    """Whether a text with characters beyond ASCII in these columns of words (the distinct cells of each, or all), or in
    their names, holds others than letters, or may be GB 18030 that is UTF-8 by chance."""
    beyond = [_beyond_ascii(cells) for cells in columns]
    if any(map(unlike_letters, beyond)):
        return True
    few = int(np.count_nonzero(np.frombuffer(data, np.uint8, min(len(data), _SOME)) >= 0xC0)) <= 2
    levels = [cells for cells, met in zip(columns, beyond, strict=True) if met]
    known = not few and not any(isinstance(cells, pd.Series) for cells in levels)
    if known and not mixes_within([*names, *chain.from_iterable(levels)]):
        return False
    text = telling_lines(data).decode("utf-8", "ignore")
    few = len(text) - len(text.encode("ascii", "ignore")) <= 2
    return (few or mixes_scripts(data)) and bool(share_of_chinese(data))


_SOME = 100_000
"""Bytes that are all among the telling lines, where they are beyond ASCII."""


def _in_doubt(look: ByteBlock, first: Bits, there: frozenset[int]) -> NDArray[np.intp]:
    """Where a cell, of which this is the `first` byte, begins with a blank or a zero before digits, or a number has a
    power that may be a code or beyond a float64, or dozens of digits: places within such cells. (What begins in the
    last bytes is seen in the next block; of the marks that are not `there` none is looked for.)"""
    digit = look.digit()
    after_e = of_previous(look.is_(ord("e")) if ord("E") not in there else look.e())
    digit_next, doubtful = of_next(digit), after_e & digit
    if doubtful.any():
        doubtful &= of_previous(of_previous(digit))
    signed = after_e & ~digit & digit_next
    if signed.any():
        second = of_next(digit_next)
        if (signed := signed & second & of_next(second)).any():
            doubtful |= signed & look.is_(ord("-"))
    longer = digit & digit_next & (first | of_previous(first & ~digit))  # two digits, first or after a minus
    if longer.any() and (leading := longer & look.is_(ord("0"))).any():
        doubtful |= leading & (first | of_previous(look.is_(ord("-"))))
    if ord(" ") in there:
        doubtful |= first & look.is_(ord(" "))
    half = digit.view("<u4") == 0xFFFFFFFF  # of 63 digits in a row, wherever they begin, there is one
    doubtful.view("<u4")[half] = 1
    if not doubtful.any():
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.unpackbits(doubtful.view(np.uint8), bitorder="little").view(np.bool_))


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


def _ends_in_zero(data: bytes) -> bool:
    """Whether a number of two or three decimals ends in a 0. At the end of a block a number with more digits may be
    taken for one.

    >>> _ends_in_zero(b"1.9,1.10"), _ends_in_zero(b"1.9,1.105,1.0,10")
    (True, False)
    """
    for start in range(0, len(data), _BLOCK):
        some = np.frombuffer(data[max(start - 3, 0) : start + _BLOCK] + b"\n", dtype=np.uint8)
        zero, digit = np.flatnonzero(some == ord("0")), (some >= ord("0")) & (some <= ord("9"))
        last = zero[(zero >= 3) & digit[zero - 1] & ~digit[zero + 1]]
        if ((some[last - 2] == ord(".")) | (some[last - 3] == ord("."))).any():
            return True
    return False


class _Columns(NamedTuple):
    """The columns of a file: those of numbers typed, the others as they are written; the frame that holds them; what is
    known of the cells of words; and whether numbers show the decimal point beyond doubt."""

    cells: dict[str, pd.Series]
    frame: pd.DataFrame | None
    spellings: dict[str, Spellings]
    pointed: bool


def _columns(data: bytes, form: CleanForm, counted: _Counts) -> _Columns | None:
    """The columns; None where a line has not the cells of the others, or may be none of the table, or other cells than
    the empty ones are read as missing."""
    names, (rows, empty, doubtful, quoted, quotes_matter) = form.names, counted
    short = len(data) <= _AT_ONCE  # of a long file words take less memory as categories
    dtypes = {names[j]: "str" for j in sorted(doubtful) if names[j] not in form.words} | ({} if short else form.words)
    quoting: Literal[0, 3] = 0 if quotes_matter else 3  # csv.QUOTE_MINIMAL, csv.QUOTE_NONE
    while True:
        source: Any = _Source(data, without=b'"' if quoted and not quotes_matter else b"")
        words = form.words.keys() | dtypes.keys()
        typed = [name for name in names if name not in words]
        place = range(len(names))  # in the frame: names are made an index once, below
        own: Any = {j: dtypes[name] for j, name in enumerate(names) if name in dtypes}
        missing: Any = {j: [""] for j, name in enumerate(names) if name not in words} if empty else None
        try:
            frame = pd.read_csv(
                source, sep=form.delimiter, quoting=quoting, header=0, names=place, index_col=False,
                dtype=own or None, na_filter=empty > 0, keep_default_na=False, na_values=missing,
                skip_blank_lines=False, engine="c", float_precision=None if _EXACT else "round_trip",
                low_memory=not short,
            )  # fmt: skip
        except (pd.errors.ParserError, UnicodeDecodeError, TypeError):  # the last of categories that are truth values
            return None
        columns = {name: column for name, (_, column) in zip(names, frame.items(), strict=True)}
        for name, column in columns.items():
            column.name = name
        read = {name: columns[name].to_numpy() for name in typed}
        numbers = {name: x for name, x in read.items() if x.dtype.kind in "if" and not (empty and np.isnan(x).all())}
        ends = {name: ends_of(x) for name, x in numbers.items() if len(x)}
        others = read.keys() - numbers.keys()
        others |= {name for name, (low, high) in ends.items() if low <= -_MOST or high >= _MOST}  # may be no quantity
        in_doubt = ends.keys() - others - form.pointed  # whose points may separate thousands
        fractions = {name: x for name, x in numbers.items() if x.dtype.kind == "f"}
        others |= {name for name in in_doubt & fractions.keys() if (np.floor(fractions[name]) < fractions[name]).any()}
        others |= {name for name in words if not _of_strings(columns[name])}
        distinct = {name: len(pd.unique(fractions[name])) for name in form.versions & fractions.keys()}
        few = {name for name, n in distinct.items() if n <= FEW_VERSIONS + 1}  # NaN may be one
        if few and _ends_in_zero(data):
            others |= few  # 1.10 beside 1.9
        if not others:
            break
        dtypes = dtypes | dict.fromkeys(others, "str")  # a word far below: again, with all cells as they are written
        del frame, columns, read, numbers, fractions
    if len(frame) != rows:
        return None
    worded = {name: columns[name] for name in names if name in words}
    spellings = {name: distinct_spellings(column) for name, column in worded.items() if name not in dtypes}
    gaps = sum(int(np.isnan(x).sum()) for x in numbers.values() if holds_nan(x)) if empty else 0
    if gaps + sum(_empty(column, spellings.get(name)) for name, column in worded.items()) != empty:
        return None
    pointed = not form.pointed <= words
    if form.delimiter == ";" and not pointed and (fractions or form.versions):
        return None
    if not data.isascii() and _of_other_text(data, [_few(c, spellings.get(name)) for name, c in worded.items()], names):
        return None
    if names[0] in words and (_repeated(data) or _remarked(data)):
        return None  # where the first column holds numbers, its name is none of them
    if quoted and any(_holds(name, column, spellings.get(name)) for name, column in islice(worded.items(), 1)):
        return None  # the header stands there again, perhaps without its quotes
    frame.columns = pd.Index(names)
    for name, x in fractions.items():
        if ends[name][0] <= 0 <= ends[name][1] and (x.view(np.int64) == _MINUS_ZERO).any():
            frame[name] = columns[name] = columns[name] + 0.0  # -0.0 becomes 0.0: one value, not two
    return _Columns(columns, frame if short else None, spellings, pointed)


def _of_strings(column: pd.Series) -> bool:
    """Whether the cells of a column of words are not read as numbers or truth values."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return all(isinstance(c, str) for c in column.cat.categories)
    return isinstance(column.dtype, pd.StringDtype) or pd.api.types.infer_dtype(column) in ("string", "empty")


def _few(column: pd.Series, texts: Spellings | None) -> Sequence[str] | pd.Series:
    """The distinct cells of a column of words, where they are known; else all."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.categories.tolist()
    return column if texts is None else texts.spelled


def _holds(cell: str, column: pd.Series, texts: Spellings | None) -> bool:
    """Whether a column of words has this cell."""
    few = _few(column, texts)
    return bool(few.eq(cell).any()) if isinstance(few, pd.Series) else cell in few


def _empty(column: pd.Series, texts: Spellings | None) -> int:
    """How many cells of a column of words are empty."""
    return int(column.eq("").sum()) if _holds("", column, texts) else 0


class _Source:
    """Bytes as a file, `without` one of them, which says how far it is read."""

    def __init__(self, data: bytes, without: bytes) -> None:
        self._data, self._without, self._place = data, without, 0

    def read(self, size: int = -1) -> bytes:
        tick(len(self._data) + 2 * self._place, 3 * len(self._data))
        part = self._data[self._place : None if size < 0 else self._place + size]
        self._place += len(part)
        return part.translate(None, self._without) if self._without else part

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.read().splitlines(keepends=True))
