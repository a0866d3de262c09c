"""How a clean CSV file is written, by its first and its last records: its delimiter, the names of its columns, which of
them hold words. The rules of the other modules find it out, and clean is what they have nothing to tell of. Where all
cells of these records are plain words and numbers, they would find nothing, and are not asked (tested equal).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple
from unicodedata import is_normalized

import numpy as np

from bayes_engine.errors import ReadError
from bayes_engine.table.assemble import lay_out
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.decode import decode
from bayes_engine.table.dialect import DELIMITERS, SAMPLE, SCORED, cut
from bayes_engine.table.encodings import mixes_within
from bayes_engine.table.header import is_typed, is_value
from bayes_engine.table.no_table import refuse_binary, refuse_foreign_text
from bayes_engine.table.notes import Note
from bayes_engine.table.numbers import MONTH_NUMBER, are_plain, may_be_versions, means_missing, version_among
from bayes_engine.table.other_notations import as_delimited
from bayes_engine.table.parquet_arff import is_arff
from bayes_engine.table.tokenize import Dialect, line_end
from bayes_engine.table.totals import label_of

LEAST = 100_000
"""Bytes from which on the rules are asked for the form of a file whose cells are not so simple that it is seen: of
fewer they take little time, and take it twice where the file is not clean."""
_TOP, _BOTTOM = 300, 30
"""Rows at the beginning and at the end in which header, units and footer are looked for: more than the rules do."""
_ARFF = 1_000_000
"""Bytes in which a declaration of ARFF is looked for."""
_DELIMITERS, _OTHER_MARKS = tuple(d for d in DELIMITERS if len(d) == 1), (b'"', b"'", b"\\", b"  ")
_POINT = re.compile(r"-?\d+\.(?:\d{1,2}|\d{4,})")
"""A number whose point separates no thousands."""
_TWICE = re.compile("[\u0080-\u00bf\u0152-\u0178\u02c6-\u02dc]")
"""Letters that an encoding used twice makes of the second half of others."""
_SIMPLE = re.compile(r"[^\W\d_][\w.-]{0,39}")
"""A word, or a name, as hardly anything else begins."""


class CleanForm(NamedTuple):
    """The names of the columns, the delimiter, as what those are read that hold words as far as is seen, and which of
    the others show the decimal point beyond doubt, and which may be versions."""

    names: tuple[str, ...]
    delimiter: str
    words: dict[str, str]
    pointed: frozenset[str]
    versions: frozenset[str]


def form_of(data: bytes) -> CleanForm | None:
    """How the first and the last rows are written, by the rules, where these have nothing to tell."""
    scored = _end_of_line(data, SCORED + 2)
    begin = len(data)
    for _ in range(_BOTTOM):
        begin = data.rfind(b"\n", 0, begin - 1) + 1 if begin else 0
    head = data[:SAMPLE]
    if b"\n" not in head or b"---" in head or (b"=" in head and b"===" in head) or _declares(data):
        return None
    if form := _of_simple_cells(data[:scored] + data[begin:] if scored < begin else data):
        return form
    if len(data) < LEAST:
        return None
    sample = SAMPLE + 1 if data[: 2 * SAMPLE].isascii() else 2 * SAMPLE  # no fewer characters than the rules look at
    end = line_end(data, max(_end_of_line(data, _TOP + 1), sample))
    if scored < end and _told_by_first_records(data[:end]):
        end = scored
    return _by_rules(data if begin <= end else data[:end] + data[begin:])


def _by_rules(few: bytes) -> CleanForm | None:
    """The form of the first and the last records, where the rules have nothing to tell of them."""
    notes: list[Note] = []
    try:
        text, encoding = decode(few, None, notes)
        grid, dialect = cut(text, None, None, notes)
        if (grid.widths != grid.widths[0]).any():
            return None
        place = np.arange(len(grid.widths))
        grid = grid.kept((place <= _TOP) | (place >= len(place) - _BOTTOM))
        grid = grid._replace(cells=grid.cells.astype(object))  # few cells: every step is shorter than with Arrow's
        layout, rows, line = lay_out(grid, None, dialect.delimiter, notes)
    except ReadError:
        return None
    if notes or encoding != "utf-8" or line != 1 or len(rows.widths) + 1 != len(grid.widths):
        return None
    if dialect not in map(Dialect, ",;\t|") or layout.left_out or layout.joined is not None or layout.width < 2:
        return None
    if grid.widths[0] != layout.width or unlike_letters(text):
        return None
    cells = rows.cells.head(_TOP)
    columns = [cells[j].tolist() for j in cells]
    return _form_by(columns, layout.names, dialect.delimiter, list(map(is_typed, columns)))


def _form_by(
    columns: Sequence[Sequence[str]], names: tuple[str, ...], delimiter: str, typed: Sequence[bool]
) -> CleanForm | None:
    """The form, by the cells of the first rows of each column, and whether these are values; None where they may be
    versions or months."""
    distinct = list(map(set, columns))
    if any(version_among(some) or all(map(MONTH_NUMBER.fullmatch, some)) for some in distinct):
        return None
    words = {name: "category" if 2 * len(some) <= len(cells) else "str"
             for name, some, cells, is_one in zip(names, distinct, columns, typed, strict=True)
             if not is_one}  # fmt: skip
    pointed = (name for name, some in zip(names, distinct, strict=True)
               if name not in words and any(map(_POINT.fullmatch, some)))  # fmt: skip
    versions = (name for name, some in zip(names, distinct, strict=True) if may_be_versions(some))
    return CleanForm(names, delimiter, words, frozenset(pointed), frozenset(versions))


def _end_of_line(data: bytes, line: int) -> int:
    """Where a line ends, counted from 1; the end of the file where it has fewer.

    >>> _end_of_line(b"a,b\\n1,2\\n3,4", 2), _end_of_line(b"a,b\\n1,2\\n3,4", 3)
    (8, 11)
    """
    lines = re.match(rb"(?:[^\n]*+\n){%d}" % line, data)
    return len(data) if lines is None else lines.end()


def _declares(data: bytes) -> bool:
    """Whether it is ARFF."""
    return data.find(b"@", 0, _ARFF) >= 0 and is_arff(data[:_ARFF].decode(errors="replace"))


def _of_simple_cells(few: bytes) -> CleanForm | None:
    """The form of records of nothing but words and plain numbers under names: with one mark that delimits, as many
    cells in each, none empty; at least one column of numbers (by which the first record is told from the rows), and in
    the others none. Of such records no rule finds more to tell; None of all others."""
    try:
        text = few.decode()
    except UnicodeDecodeError:
        return None
    delimiters = [mark for mark in _DELIMITERS if mark in text]
    if len(delimiters) != 1 or delimiters[0] not in ",;\t|" or any(mark in text for mark in "'\\+"):
        return None  # something quotes, escapes, or switches to another encoding
    own = delimiters[0]
    end = "\r\n" if "\r" in text else "\n"
    if end == "\r\n" and not text.count(end) == text.count("\r") == text.count("\n"):
        return None
    lines = text.removesuffix(end).split(end)
    width = lines[0].count(own) + 1
    if width < 2 or set(map(str.count, lines, repeat(own))) != {width - 1}:
        return None
    flat = own.join(lines).split(own)
    names = tuple(map(_unquoted, flat[:width]))
    notes: list[Note] = []
    if not all(map(_is_word, names)) or unique_names(names, notes) != list(names) or notes:
        return None
    columns = [flat[width + j :: width] for j in range(width)]
    if '"' in text:
        columns = [list(map(_unquoted, column)) if '"' in "".join(column) else column for column in columns]
    typed = list(map(are_plain, columns))
    words = {name: set(column) for name, column, is_one in zip(names, columns, typed, strict=True) if not is_one}
    levels = set().union(*words.values())
    if len(words) == width or not all(map(_is_word, levels)):
        return None
    if any(name in column for name, column in words.items()) or any(map(label_of, words.get(names[0], ()))):
        return None
    if not text.isascii():
        few_beyond = len(text) - len(text.encode("ascii", "ignore")) < 3
        if few_beyond or unlike_letters("".join([*names, *levels])) or mixes_within([*names, *levels]):
            return None
    try:
        refuse_binary(few)
        if as_delimited(few, notes) is not few or notes:
            return None
        refuse_foreign_text(few)
    except ReadError:
        return None
    return _form_by([column[:_TOP] for column in columns], names, own, typed)  # of words none is a value


def _unquoted(cell: str) -> str:
    return cell[1:-1] if len(cell) > 2 and cell[0] == cell[-1] == '"' else cell


def _is_word(cell: str) -> bool:
    return _SIMPLE.fullmatch(cell) is not None and not is_value(cell) and not means_missing(cell)


def _told_by_first_records(sample: bytes) -> bool:
    """Whether the first records tell the dialect as the whole sample does: it has one of the marks that delimit, so
    that no other is tried, and neither quotes, escapes nor blanks in a row; a dialect is judged by so many records
    alone, where all are regular (which is proved later)."""
    delimiters = sum(mark.encode() in sample for mark in _DELIMITERS)
    return delimiters == 1 and not any(mark in sample for mark in _OTHER_MARKS)


def unlike_letters(characters: Iterable[str]) -> bool:
    """Whether any is beyond ASCII and no letter, or one that is written in another way too, or what an encoding used
    twice makes of another."""
    return any(
        not c.isascii() and not (c.isalpha() and is_normalized("NFKC", c) and not _TWICE.match(c))
        for c in set(characters)
    )
