"""Texts that write a table in another way than delimited lines (records of JSON, pairs of key=value, lines that a mail
quotes, LIBSVM's sparse rows, the box of Stata's `list`) → the delimited text that is read instead of them. What it is
was told in its notes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.grid import check_size
from bayes_engine.table.notes import Note, listed, note
from bayes_engine.table.numbers import is_number, means_missing

_LONGEST = 1 << 20
"""Characters of one record of JSON at most."""
_FIRST = 4096
_LEAST = 3
"""Lines of pairs at least."""


def as_delimited(text: bytes, notes: list[Note]) -> bytes:
    r"""The delimited text that says the same as one in UTF-8; the same object where it is none of these notations.

    Raises ReadError on records of JSON that are not flat.

    >>> as_delimited(b'[{"size": 1.50, "city": "Oslo, NO"}, {"size": null}]', [])
    b'sep=,\nsize,city\n1.50,"Oslo, NO"\n,\n'
    >>> as_delimited(b"ms=5 to=db\nms=7 to=api\nms=9 to=db\n", [])
    b'sep=,\nms,to\n5,db\n7,api\n9,db\n'
    """
    start = text[:_FIRST].removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb'(?:\[\s*+)?\{\s*+"', start):
        written = text.decode().removeprefix("\ufeff")
        return _of_json(written, notes) or _of_object(written, notes) or text
    if b"=" in start and (pairs := _pairs_by(start.decode(errors="ignore"))):
        return _of_pairs(text.decode(), pairs, notes) or text
    if start.startswith(b">") and (unquoted := _without_marks_of_mail(text, notes)):
        return unquoted
    if _DOTTED in start and b"\xe2\x94\x82" in start:  # the box of polars
        return _KINDS.sub(rb"\1\2", text.replace(_DOTTED, b"\xe2\x94\x82"))
    if _INDENTED.match(start) and (flush := _flush_left(text)):
        return flush
    if b'"' in start and (cells := _of_blanks(text, notes)):
        return cells
    if b":" in start and _SPARSE.match(start):
        return _of_sparse(text.decode().removeprefix("\ufeff"), notes) or text
    if b"||" in start and (wiki := _DOUBLE_BARS.sub(_single_bars, text)) != text:
        return wiki
    if _BOX.search(start) and _NUMBERED.search(start):
        notes.append(note("the file is a list as Stata writes it: its box and the numbers of its rows are left out"))
        return b"".join(_unboxed(line) for line in text.splitlines(keepends=True))
    return text


def _written(rows: Callable[[], Iterator[dict[str, str]]]) -> bytes:
    """The text of these rows, which are gone through twice: first for their names."""
    names, n = dict[str, None](), 0
    for n, row in enumerate(rows(), 1):
        names |= dict.fromkeys(row)
        check_size(n, len(names))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if len(names) > 1:
        out.write("sep=,\n")
    writer.writerow(names)
    for row in rows():
        writer.writerow([row.get(name, "") for name in names])
    return _HALF.sub("\ufffd", out.getvalue()).encode()


_HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON may spell and no text holds."""


# ---- records of JSON -------------------------------------------------------------------------------------------------


def _of_json(text: str, notes: list[Note]) -> bytes | None:
    """The text of flat records of JSON, in a list or one after the other; None of what is no such list."""
    first = next(_records(text), None)
    if first is None or not first or len([*zip(_records(text), range(2), strict=False)]) < 2:
        return None

    def rows() -> Iterator[dict[str, str]]:
        for k, record in enumerate(_records(text), 1):
            if record is None:
                raise ReadError("the JSON cannot be read behind record {n}: it is damaged, or holds something other "
                                "than flat records; save the table as CSV", n=k - 1)  # fmt: skip
            yield {name: _cell(name, value, k) for name, value in record.items()}

    written = _written(rows)
    notes.append(note("the file holds records of JSON; they are read as the rows of a table, by the rules for text"))
    return written


_AT_ONCE = 8_000_000
"""Characters of an object of JSON at most that is read as a whole: in memory it takes ten times as much."""


def _of_object(text: str, notes: list[Note]) -> bytes | None:
    """The text of a table that is one object of JSON: its columns by name, as lists or as pandas writes them (cells by
    the index of their row); its names beside its rows; or flat records in an answer that holds one list of them. None
    of any other object."""
    try:
        whole = _DECODER.decode(text.strip()) if len(text) <= _AT_ONCE else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict) or not whole:
        return None
    names, rows = whole.get("columns"), whole.get("data")
    if isinstance(names, list) and isinstance(rows, list) and whole.keys() <= {"columns", "index", "data"}:
        named = [str(name) for name in names]
        if len(set(named)) < len(named) or any(not isinstance(row, list) or len(row) != len(named) for row in rows):
            return None
        return _of_records([dict(zip(named, row, strict=True)) for row in rows], _indexed(whole.get("index")), notes)
    columns = list(whole.values())
    if all(isinstance(column, dict) for column in columns):
        keys = list(columns[0])
        if len(keys) > 1 and all(list(column) == keys for column in columns):
            return _of_records(
                [{name: column[key] for name, column in whole.items()} for key in keys], _indexed(keys), notes
            )
    lists_alike = all(isinstance(column, list) and len(column) == len(columns[0]) > 1 for column in columns)
    if lists_alike and len(columns) > 1:
        cells = zip(*columns, strict=True)
        return _of_records([dict(zip(whole, row, strict=True)) for row in cells], [], notes)
    lists = [value for value in columns if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(lists) == 1 and len(lists[0]) > 1 and all(isinstance(record, dict) for record in lists[0]):
        beside = [name for name, value in whole.items() if value is not lists[0]]
        return _of_records(lists[0], [], notes, beside)
    return None


def _indexed(index: object) -> list[str]:
    """The index of the rows, where it says more than how many there are."""
    keys = [str(key) for key in index] if isinstance(index, list) else []
    return [] if keys == [str(i) for i in range(len(keys))] else keys


def _of_records(
    records: list[dict[str, object]], index: list[str], notes: list[Note], beside: Sequence[str] = ()
) -> bytes | None:
    """The text of these records, with their index before them, where there is one."""
    if any(isinstance(value, (dict, list)) for record in records for value in record.values()) and not beside:
        return None
    if index and (len(index) != len(records) or "index" in records[0]):
        return None

    def rows() -> Iterator[dict[str, str]]:
        for k, record in enumerate(records):
            own = {"index": index[k]} if index else {}
            yield own | {name: _cell(name, value, k + 1) for name, value in record.items()}

    written = _written(rows)
    notes.append(note("the file holds a table as JSON; it is read by the rules for text"))
    if beside:
        notes.append(note("what stands beside the records in the JSON is left out: {names}", "warning",
                          names=listed(beside)))  # fmt: skip
    return written


def _cell(name: str, value: object, k: int) -> str:
    if isinstance(value, (dict, list)):
        raise ReadError("the JSON is no table: '{name}' in record {n} holds several values; make a column of each, or "
                        "save the table as CSV", name=name, n=k)  # fmt: skip
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON whose names are all different; ValueError of any other."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=str, parse_float=str, parse_constant=str)
_BETWEEN = re.compile(r"[\s,]*+")


def _records(text: str) -> Iterator[dict[str, object] | None]:
    """The records one after the other, numbers as they are written; None where one is none, or longer than a megabyte,
    and then no more."""
    position = len(text) - len(text.lstrip())
    listed = text.startswith("[", position)
    position += listed
    begin, window = position, text[position : position + _LONGEST]
    while True:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        if position >= len(text) or (listed and text[position] == "]"):
            if listed and text[position:].rstrip() != "]":  # cut off, or more behind the list
                yield None
            return
        tick(position, len(text))
        try:
            try:
                record, end = _DECODER.raw_decode(window, position - begin)
            except ValueError:
                begin, window = position, text[position : position + _LONGEST]
                record, end = _DECODER.raw_decode(window, 0)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            yield None
            return
        yield record
        position = begin + end


# ---- pairs of key=value ----------------------------------------------------------------------------------------------

_KEY = r"[^\W\d][\w.\-/@]{0,60}+"
_APART = ((r",[ \t]*+", ","), (r";[ \t]*+", ";"), (r"[ \t]*+\|[ \t]*+", "|"), (r"[ \t]++", " \t"))
"""What may stand between two pairs, and what no value holds then."""


def _pairs_by(start: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The patterns of a line of pairs and of one pair, where the first lines are such; None where they are not."""
    lines = [line for line in start.splitlines()[:20] if line.strip()]
    lines = lines[:-1] if len(lines) > _LEAST and len(start) >= _FIRST - 4 else lines
    for between, no_value in _APART:
        value = rf'(?:"(?:[^"\\\r\n]|\\.)*+"|[^"\r\n{no_value}]*+)'
        whole = re.compile(rf"{_KEY}={value}(?:{between}{_KEY}={value})++[ \t]*+")
        if len(lines) >= _LEAST and all(map(whole.fullmatch, lines)):
            return whole, re.compile(rf"({_KEY})=({value})")
    return None


def _of_pairs(text: str, by: tuple[re.Pattern[str], re.Pattern[str]], notes: list[Note]) -> bytes | None:
    whole, pair = by
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    if not all(map(whole.fullmatch, lines)):
        return None

    def rows() -> Iterator[dict[str, str]]:
        for line in lines:
            yield {key: _unquoted(value) for key, value in pair.findall(line)}

    written = _written(rows)
    notes.append(note("every line holds pairs of key=value; the keys are read as the names of columns", "warning"))
    return written


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


# ---- lines as mails quote them, cells between runs of blanks, names between double bars ------------------------------


def _without_marks_of_mail(text: bytes, notes: list[Note]) -> bytes | None:
    """The lines without the marks with which a mail quotes them; None where not all lines have them."""
    lines = text.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    if len(lines) < _LEAST or not all(line.startswith(b">") or not line.strip() for line in lines):
        return None
    notes.append(note("every line begins with '>', as a mail quotes it: these marks are left out", "warning"))
    return b"".join(re.sub(rb"\A(?:> ?+)++", b"", line) for line in lines)


_DOTTED = "┆".encode()
_KINDS = re.compile(rb"^(?:\xe2\x94\x82 ---[ ]*+)++\xe2\x94\x82[ ]*+(\r?\n)[^\r\n]++(\r?\n)", re.MULTILINE)
"""The lines below the names in which polars writes the kinds of the columns."""
_INDENTED = re.compile(rb"(?:[#%][^\r\n]*+[\r\n]++)*+ [-+.0-9]")
"""How a file begins, below comments, whose rows are numbers behind a blank, as Fortran and Octave write them."""


def _flush_left(text: bytes) -> bytes | None:
    """The lines without the one blank before each but comments; None where one begins otherwise."""
    lines = text.splitlines(keepends=True)
    begun = [line for line in lines if line.strip() and not line.startswith((b"#", b"%"))]
    if len(begun) < _LEAST or not all(line.startswith(b" ") and not line.startswith(b"  ") for line in begun):
        return None
    return b"".join(line.removeprefix(b" ") for line in lines)


_QUOTED_OR_NOT = re.compile(rb'"[^"\r\n]*+"|[^\s"]++')
_BETWEEN_BLANKS = re.compile(rb'[ \t]*+(?:(?:"[^"\r\n]*+"|[^\s"]++)(?:[ \t]++|(?=[\r\n]|\Z)))++[\r\n]*+')


def _of_blanks(text: bytes, notes: list[Note]) -> bytes | None:
    """The lines with a tab for each run of blanks between their cells, where all have as many cells, numbers and what
    stands in quotes, and one in quotes has a blank; None where not."""
    lines = [line for line in text.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True) if line.strip()]
    if len(lines) < _LEAST or not re.search(rb"  |\t", lines[0].strip()) or b" " not in b"".join(lines[:_LEAST]):
        return None
    width, out, spaced = 0, list[bytes](), False
    for line in lines:
        cells = _QUOTED_OR_NOT.findall(line) if _BETWEEN_BLANKS.fullmatch(line) else []
        width = width or len(cells)
        if width < 2 or len(cells) != width:
            return None
        quoted = [cell for cell in cells if cell.startswith(b'"')]
        if not all(cell in quoted or means_missing(own := cell.decode()) or is_number(own) for cell in cells):
            return None
        spaced = spaced or any(b" " in cell for cell in quoted)
        out.append(b"\t".join(cells) + line[len(line.rstrip(b"\r\n")) :])
    if not spaced:
        return None
    notes.append(note("no delimiter was found: the columns are cut at blanks, but not within quotes"))
    return b"".join(out)


_DOUBLE_BARS = re.compile(rb"^[ \t]*+\|\|[^\r\n|]++(?:\|\|[^\r\n|]++)*+\|\|[ \t]*+(?=\r?\n\|[^|\r\n])", re.MULTILINE)
"""The names of a table as wikis have them, between double bars, above a row between single ones."""


def _single_bars(match: re.Match[bytes]) -> bytes:
    return match[0].replace(b"||", b"|")


# ---- sparse rows of LIBSVM -------------------------------------------------------------------------------------------

_PLAIN = r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+"
_SPARSE_LINE = re.compile(rf"[ \t]*+({_PLAIN})((?:[ \t]++\d++:{_PLAIN})++)[ \t]*+(?:#.*)?")
_SPARSE = re.compile((rf"(?:{_SPARSE_LINE.pattern}(?:\r?\n|\r)){{{_LEAST}}}").encode())
"""How a file begins whose lines are a number and pairs of an index and a number."""


def _of_sparse(text: str, notes: list[Note]) -> bytes | None:
    """The table of a sparse matrix, 0 where a line names no number; None where a line is no such one."""
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    parts = [match for line in lines if (match := _SPARSE_LINE.fullmatch(line))]
    if len(parts) < len(lines):
        return None
    indices = set[int]()
    for match in parts:
        indices |= {int(pair.partition(":")[0]) for pair in match[2].split()}
        check_size(len(lines), len(indices))
    zeros = {"label": "0"} | {f"x{index}": "0" for index in sorted(indices)}

    def rows() -> Iterator[dict[str, str]]:
        for match in parts:
            pairs = (pair.split(":") for pair in match[2].split())
            yield zeros | {"label": match[1]} | {f"x{int(index)}": value for index, value in pairs}

    written = _written(rows)
    notes.append(note("the file is sparse, as LIBSVM has it: what a line does not name is read as 0", "warning"))
    return written


# ---- a list of Stata -------------------------------------------------------------------------------------------------

_BOX = re.compile(rb"^[ \t]*+\+-{5,}+(?:\+-++)*+\+[ \t]*+\r?$", re.MULTILINE)
_NUMBERED = re.compile(rb"^ *+\d++\. \|", re.MULTILINE)
_BOXED = re.compile(rb"[ \t]*+(?:\d++\.)?+[ \t]*+\|(.*)\|[ \t]*+(\r?\n?)", re.DOTALL)
_DRAWN = re.compile(rb"[ \t]*+[+|]-++(?:\+-++)*+[+|][ \t]*+(\r?\n?)")


def _unboxed(line: bytes) -> bytes:
    """A line of a list without the box, blank where it is but a part of that."""
    if drawn := _DRAWN.fullmatch(line):
        return drawn[1]
    boxed = _BOXED.fullmatch(line)
    return boxed[1].replace(b"|", b" ") + boxed[2] if boxed else line
