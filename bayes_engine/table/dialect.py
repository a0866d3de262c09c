"""Text → grid of cells. The standard library's `csv.Sniffer` and pandas' own guess read 6 of 20 messy files rightly.

`cut` is both steps: `sniff` guesses delimiter and quote from the shape and the types of the cells they would give;
`tokenize` cuts the whole text, through pandas' C reader where every quote is regular and through one tolerant pattern
where not (tested equal). Lines are counted from 1, as an editor does.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import AnyStr, NamedTuple, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.table.dates import DATE
from bayes_engine.table.notes import Note, lines_of, note, offer
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, is_number

MAX_COLUMNS = 20_000
MAX_CELLS = 100_000_000
ALIGNED = "aligned"
DELIMITERS = (",", "\t", ";", "|", " ", ":", "^", "~", "\x1f", "，", "；", "、", "§", ALIGNED)
_SAMPLE = 1 << 16
_PIECE = 1 << 22
_ROWS = 20_000
_WIDE = 500


@dataclass(frozen=True)
class Dialect:
    """How a text writes a table. `delimiter` is "" for one column and "aligned" for columns lined up with spaces."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    skip_space: bool = False


class Grid(NamedTuple):
    """Every non-empty record: `cells` (n, w) text, '' where a record is shorter; `widths` (n,) and `lines` (n,).
    `odd` are lines on which a quote never closes (or closes in mid-cell): it is kept as a character."""

    cells: pd.DataFrame
    widths: NDArray[np.intp]
    lines: NDArray[np.intp]
    odd: tuple[int, ...] = ()

    @property
    def columns(self) -> int:
        return self.cells.shape[1]

    @property
    def first(self) -> pd.Series:
        return self.cells[0]

    def rows(self, first: int, last: int) -> list[list[str]]:
        return [list(map(str, row)) for row in self.cells.iloc[first:last].to_numpy(dtype=object).tolist()]

    def reach(self) -> NDArray[np.intp]:
        if self.columns > len(self.cells):
            full = self.cells.to_numpy(dtype=object)[:, ::-1] != ""
            return np.where(full.any(axis=1), self.columns - full.argmax(axis=1), 0).astype(np.intp)
        lengths = np.zeros(len(self.cells), dtype=np.intp)
        left = np.arange(len(self.cells))
        for j in range(self.columns - 1, -1, -1):
            filled = self.cells.iloc[left, j].ne("").to_numpy(dtype=bool)
            lengths[left[filled]] = j + 1
            if not (left := left[~filled]).size:
                break
        return lengths

    def like(self, row: Sequence[str], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        candidates = np.flatnonzero(among)
        for j, cell in enumerate([*row, *[""] * (self.columns - len(row))][: self.columns]):
            if not (candidates := candidates[self.cells.iloc[candidates, j].eq(cell).to_numpy(dtype=bool)]).size:
                break
        same = np.zeros(len(self.cells), dtype=bool)
        same[candidates] = not any(row[self.columns :])
        return same

    def empty(self, columns: Sequence[int]) -> list[int]:
        return [j for j in columns if j >= self.columns or self.cells[j].eq("").all()]

    def part(self, first: int, last: int | None = None, columns: int | None = None) -> Grid:
        return Grid(self.cells.iloc[first:last, :columns], self.widths[first:last], self.lines[first:last], self.odd)

    def kept(self, which: NDArray[np.bool_]) -> Grid:
        return Grid(self.cells[which].reset_index(drop=True), self.widths[which], self.lines[which], self.odd)


class Records(Protocol):
    """What finding the table in a grid asks of it, whether its cells are all there or are read again when they are
    asked for: rows come with '' in the cells that a record has not."""

    @property
    def widths(self) -> NDArray[np.intp]: ...

    @property
    def lines(self) -> NDArray[np.intp]: ...

    @property
    def columns(self) -> int:
        """Cells of the widest record."""

    @property
    def first(self) -> pd.Series:
        """The first cell of every record."""

    def rows(self, first: int, last: int) -> list[list[str]]:
        """The records from one position up to another."""

    def reach(self) -> NDArray[np.intp]:
        """How many cells each record has up to its last that is not empty."""

    def like(self, row: Sequence[str], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of these records are that row."""

    def empty(self, columns: Sequence[int]) -> list[int]:
        """Those of the columns in which no record has anything."""

    def part(self, first: int, last: int | None = None, columns: int | None = None) -> Self:
        """The records from one position up to another, with no more cells than that."""

    def kept(self, which: NDArray[np.bool_]) -> Self:
        """These records alone."""


def cut(text: str, delimiter: str | None, quote: str | None, notes: list[Note]) -> tuple[Grid, Dialect]:
    r"""The grid of a text and its dialect, of which None is to be found out.

    >>> grid, dialect = cut("size|city\n1|'Oslo'\n2|'Rome'\n", None, None, [])
    >>> grid.cells[1].tolist(), dialect.delimiter, dialect.quote
    (['city', 'Oslo', 'Rome'], '|', "'")
    """
    data, given = prepared(text.encode(), delimiter, quote, notes)
    text = data.decode()
    dialect = sniff(text, given, quote)
    grid = tokenize(text, dialect)
    if dialect.delimiter == "" and given is None and whole_lines(data, len(grid.widths)) and not grid.odd:
        inner = "\n".join(map(str, grid.first)) + "\n"
        again = sniff(inner, None, quote)
        if again.delimiter:
            dialect, grid = again, tokenize(inner, again)
            notes.append(unwrapped_note())
    notes += dialect_notes(dialect, grid.odd, given, quote)
    return grid, dialect


def prepared(data: bytes, delimiter: str | None, quote: str | None, notes: list[Note]) -> tuple[bytes, str | None]:
    r"""A text in UTF-8 as it is to be cut, and the delimiter that is told: by whom it may be, or by the text itself.

    >>> prepared(b"sep=;\na;b\n", None, None, [])
    (b'\na;b\n', ';')
    """
    if quote and (len(quote) > 1 or quote in ("\n", "\r", delimiter)):
        raise ReadError("'{quote}' cannot be the quote: it is one character other than the delimiter, or '' for none",
                        quote=quote)  # fmt: skip
    if delimiter and set(delimiter) & {"\n", "\r"}:
        raise ReadError("the end of a line cannot be the delimiter; choose the mark that stands between two cells")
    data = data.rstrip(b"\x1a\x00\x0c")
    declaration = re.match(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r)', data[:200].decode(errors="ignore"))
    if declaration:  # Excel's way of naming the delimiter; the line stays, blank, so that line numbers hold
        data = data[len(declaration.string[: declaration.end(1)].encode()) :].lstrip(b'" \t')
        if delimiter is None and declaration[1].encode() in data:
            delimiter = declaration[1]
        elif delimiter is None:
            notes.append(note("the first line says that the delimiter is '{delimiter}', which stands nowhere below; it "
                              "was sought", "warning", 1, delimiter=declaration[1]))  # fmt: skip
    data = _without_rules(data, notes)
    return _plainly_quoted(data, notes) if quote is None else data, delimiter


def dialect_notes(dialect: Dialect, odd: Sequence[int], delimiter: str | None, quote: str | None) -> list[Note]:
    """What there is to say of a dialect, where `delimiter` and `quote` were told or None, and of odd quotes."""
    notes = []
    if odd:
        notes.append(note("a quote is never closed, or closes within a cell, on line {lines}: it is kept as a "
                          "character", "warning", odd[0], lines=lines_of(odd)))  # fmt: skip
    if dialect.delimiter == ALIGNED:
        notes.append(note("no delimiter was found: the columns are cut where the spaces line up")
                     .offering(offer("It is one column", "delimiter", "")))  # fmt: skip
    elif dialect.delimiter == "" and delimiter is None:
        notes.append(note("no delimiter was found: the file is read as one column", "warning"))
    elif dialect.delimiter not in (",", "\t", ";", "|") and delimiter is None:
        notes.append(note("the delimiter was guessed: '{delimiter}'", "warning", delimiter=dialect.delimiter)
                     .offering(offer("It is one column", "delimiter", "")))  # fmt: skip
    if dialect.escape:
        notes.append(note("a backslash before a quote is read as part of the notation, not of the cell"))
    if dialect.quote == "'" and quote is None:
        notes.append(note("cells are quoted with apostrophes; these are left out")
                     .offering(offer("They are part of the cells", "quote", "")))  # fmt: skip
    return notes


def unwrapped_note() -> Note:
    """That the quotes around the lines were no part of their cells."""
    return note("every line is quoted as a whole: these quotes are left out", "warning")


def stretches(data: bytes, size: int) -> Iterator[bytes]:
    r"""A text in pieces of about `size` bytes that end where lines do.

    >>> list(stretches(b"a\r\nb\r\nc", 2))
    [b'a\r\n', b'b\r\n', b'c']
    """
    start = 0
    while start < len(data):
        end = line_end(data, start + size)
        yield data[start:end]
        start = end


def line_end(data: bytes, position: int) -> int:
    """Where the first line ends that does not end before this position."""
    match = _LINE_END.search(data, position - 1)
    return match.end() if match else len(data)


def lines_at(text: AnyStr, starts: Sequence[int]) -> NDArray[np.intp]:
    """The lines, counted from 1, of these places in a text."""
    breaks = [match.end() for match in re.finditer(_as(text, r"\r\n|\n|\r"), text)]
    return np.searchsorted(breaks, starts, side="right").astype(np.intp) + 1


_LINE_END = re.compile(rb"\r\n|\n|\r(?!\n)")
_STRETCH = 1 << 20


_RULE = re.compile(
    rb"^[ \t]*+[+|]?[ \t]*+[:=-]{3,}+(?:[ \t]*+[+|][ \t]*+[:=-]{3,}+)*+[ \t]*+[+|]?[ \t]*+$", re.MULTILINE
)
"""A line drawn between rows, as SQL clients and Markdown write it."""


def _without_rules(data: bytes, notes: list[Note]) -> bytes:
    """The text with the lines that are drawn between its rows left blank, so that the numbers of the lines hold."""
    head = data[:_SAMPLE]
    if b"---" not in head and b"===" not in head:
        return data
    first, n, breaks = b"", 0, 0
    line = 0
    out = io.BytesIO()

    def drawn(match: re.Match[bytes]) -> bytes:
        nonlocal first, n, line
        if not re.search(b"[+|]", match[0]):
            return match[0]
        if not n:
            first, line = match[0], breaks + match.string.count(b"\n", 0, match.start()) + 1
        n += 1
        return b""

    for stretch in stretches(data, _STRETCH):
        out.write(_RULE.sub(drawn, stretch))
        breaks += stretch.count(b"\n")
    if not n:
        return data
    notes.append(note("lines drawn with '{text}' that are left out: {n}", "info", line, n=n,
                      text=first.decode().strip()[:12]))  # fmt: skip
    return out.getvalue()


def _plainly_quoted(data: bytes, notes: list[Note]) -> bytes:
    """The text with quotes for the typographic ones, where these enclose cells as quotes do."""
    if "“".encode() not in data[:_SAMPLE] or b'"' in data:
        return data
    n = marks = 0
    out = io.BytesIO()
    for stretch in stretches(data, _STRETCH):
        plain, k = _TYPOGRAPHIC.subn(r'"\1"', stretch.decode())
        n += k
        marks += stretch.count("“".encode()) + stretch.count("”".encode())
        out.write(plain.encode())
    if 2 * n < marks:
        return data
    notes.append(note("cells are quoted with “ ”; these are left out")
                 .offering(offer("They are part of the cells", "quote", "")))  # fmt: skip
    return out.getvalue()


_TYPOGRAPHIC = re.compile(r"(?:(?<=[,;\t|\r\n])|\A)“([^“”\r\n]*)[”“](?=[,;\t|\r\n]|\Z)")


def whole_lines(data: bytes, n: int) -> bool:
    """Whether the text is `n` lines, more than one, and each is one quoted cell."""
    lines = 0
    for lines, line in enumerate(re.finditer(rb"[^\r\n]+", data), 1):  # noqa: B007 (how many there were)
        if not line[0].startswith(b'"') or not line[0].endswith(b'"'):
            return False
    return lines == n > 1


# ---- cutting ---------------------------------------------------------------------------------------------------------


def _patterns(dialect: Dialect, as_bytes: bool) -> tuple[str, str]:
    """A line that holds no quote; and one field and what ends it. A quoted field must be followed by an end; where it
    is not, quotes within its line that are neither doubled nor beside a delimiter are characters of it (`loose`), else
    its own quote is one. For bytes, which are UTF-8, a character of the pattern is a byte."""

    def spelled(mark: str) -> str:
        return mark.encode().decode("latin-1") if as_bytes else mark

    def other_than(*marks: str) -> str:
        """Any one character that begins none of these."""
        if all(len(mark) < 2 for mark in marks):
            return f"[^{''.join(map(re.escape, marks))}]"
        return rf"(?:(?!{'|'.join(re.escape(mark) for mark in marks if mark)})[\s\S])"

    end = r"\r\n|\n|\r|\Z"
    delimiter, quote, escape = map(spelled, (dialect.delimiter, dialect.quote, dialect.escape))
    d, q, e = map(re.escape, (delimiter, quote, escape))
    stop = rf"{d}|{end}" if d else end
    raw, within = (other_than(mark, "\r", "\n") + "*+" for mark in (delimiter, quote))
    line = rf"({within})(?:\r\n|\n|\r)"
    if not quote:
        return line, rf"(?P<quoted>(?!))?(?P<loose>(?!))?(?P<raw>{raw})(?P<end>{stop})"
    inner = other_than(quote, escape)
    inside = rf"{inner}*+(?:(?:{q}{q}{rf'|{e}(?s:.)' if e else ''}){inner}*+)*+"
    before = " *+" if dialect.skip_space else ""
    pad = " *+" if d and not delimiter.startswith(" ") else ""  # a blank before an opening quote is no content
    after = "" if delimiter.startswith(" ") else " *+"
    opens = rf"(?<!{d}){q}" if len(dialect.delimiter) == 1 else q
    loose = rf"{within}(?:(?:{q}{q}|{opens}(?!{after}(?:{stop}))){within}){{0,50}}+" if d else "(?!)"
    return line, (
        rf"{before}(?:{pad}{q}(?P<quoted>{inside}){q}{after}(?={stop})|{q}(?P<loose>{loose}){q}{after}(?={stop})"
        rf"|(?P<raw>{raw}))(?P<end>{stop})"
    )


def records(text: AnyStr, dialect: Dialect, position: int = 0) -> Iterator[tuple[int, list[AnyStr], bool]]:
    r"""(offset, cells, regular) of every record that is not empty, from the one at this position on, which is cut
    off where it has more cells than any table. Bytes are UTF-8: of them no more is looked at than was asked for.

    >>> [cells for _, cells, _ in records('a,"b, ""c"" d"\r\n\n1,"2\n', Dialect())]
    [['a', 'b, "c" d'], ['1', '"2']]
    >>> [cells for _, cells, _ in records(b'"a 5" pipe, used",7\n', Dialect())]
    [[b'a 5" pipe, used', b'7']]
    """
    line, field = (re.compile(_as(text, pattern, "latin-1")) for pattern in _patterns(dialect, isinstance(text, bytes)))
    nothing, blank = text[:0], _as(text, " ")
    delimiter, quote, escape = (_as(text, mark) for mark in (dialect.delimiter, dialect.quote, dialect.escape))
    escaped, itself = re.compile(re.escape(escape) + _as(text, "(.)"), re.DOTALL), _as(text, r"\1")
    spaced = dialect.skip_space and bool(quote)
    while position < len(text):
        start, regular = position, True
        row: list[AnyStr] = []
        raw: AnyStr | None = nothing
        if whole := line.match(text, position):
            row = whole[1].split(delimiter, MAX_COLUMNS) if delimiter else [whole[1]]
            row = [cell.lstrip(blank) for cell in row] if spaced else row
            raw, position = row[-1], whole.end()
        else:
            end = delimiter
            while end == delimiter and (end or not row) and len(row) <= MAX_COLUMNS:
                match = field.match(text, position)
                assert match is not None
                quoted, raw, end, position = match["quoted"], match["raw"], match["end"], match.end()
                if match["loose"] is not None:
                    row.append(match["loose"].replace(quote * 2, quote))
                    regular = False
                elif quoted is not None:
                    cell = quoted.replace(quote * 2, quote) if quote in quoted else quoted
                    row.append(escaped.sub(itself, cell) if escape else cell)
                else:
                    row.append(raw)
                    regular = regular and not (quote and raw.startswith(quote))
        if len(row) > 1 or raw is None or not _blank(raw):
            yield start, row, regular


def _as(text: AnyStr, mark: str, encoding: str = "utf-8") -> AnyStr:
    """A mark as the text has it: in characters, or in bytes."""
    return mark.encode(encoding) if isinstance(text, bytes) else mark


def _blank(cell: str | bytes) -> bool:
    return not (cell.decode() if isinstance(cell, bytes) else cell).strip()


_LINE = re.compile(r"[^\r\n]++")


def _filled(text: str) -> Iterator[re.Match[str]]:
    """The lines that hold more than blanks."""
    return (match for match in _LINE.finditer(text) if not _blank(match[0]))


def aligned_at(stretches: Iterable[str]) -> tuple[int, ...]:
    """Where the columns of a text begin and end that are lined up with spaces: where all lines are blank; () where the
    lines do not line up, but have as many words each."""
    used = np.zeros(0, dtype=bool)
    words = set[int]()
    first = 0
    for stretch in stretches:
        for match in _filled(stretch):
            line = match[0]
            if len(line) > len(used):
                used = np.append(used, np.zeros(2 * len(line) - len(used), dtype=bool))
            used[: len(line)] |= np.frombuffer(line.encode("utf-32-le"), dtype=np.uint32) > 32
            words.add(len(line.split()))
            first = first or len(line.split())
    cuts = (*np.flatnonzero(used & ~np.append(False, used[:-1])).tolist(), len(used))
    return cuts if len(words) > 1 or len(cuts) > first else ()  # more cuts than words: a cell holds a blank


def aligned(text: str, cuts: Sequence[int]) -> Iterator[tuple[int, list[str], bool]]:
    """Records of columns lined up with spaces, cut there, or at every blank."""
    for match in _filled(text):
        line = match[0]
        yield match.start(), [line[a:b].strip() for a, b in pairwise(cuts)] if cuts else line.split(), True


def tokenize(text: str, dialect: Dialect) -> Grid:
    """The whole text as a grid. Raises ReadError where it would be larger than any table."""
    if is_plain(dialect) and (grid := regular(text.encode(), dialect)) is not None:
        return grid._replace(cells=_in_one(grid.cells))
    parsed = aligned(text, aligned_at([text])) if dialect.delimiter == ALIGNED else records(text, dialect)
    starts: list[int] = []
    widths: list[int] = []
    odd: list[int] = []
    blocks: list[pd.DataFrame] = []
    while block := list(islice(parsed, _ROWS)):  # a column of strings is far smaller than a list of them
        tick(block[0][0], len(text))
        odd += [len(starts) + i for i, (_, _, regular) in enumerate(block) if not regular]
        starts += [start for start, _, _ in block]
        widths += [len(cells) for _, cells, _ in block]
        check_size(len(widths), max(widths))
        width = max(widths[-len(block) :])
        blocks.append(pd.DataFrame([row + [""] * (width - len(row)) for _, row, _ in block], dtype=str))
    lines = lines_at(text, starts)
    columns = range(max(widths, default=0))
    blocks = [block.reindex(columns=columns, fill_value="") for block in blocks or [pd.DataFrame()]]
    cells = pd.concat(blocks, ignore_index=True)
    return Grid(_in_one(cells), np.array(widths, dtype=np.intp), lines, tuple(int(lines[i]) for i in odd))


def _in_one(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of more columns than rows as one array: of columns for themselves, every step costs each its time."""
    rows, columns = cells.shape
    return pd.DataFrame(cells.to_numpy(dtype=object), dtype=object) if columns > max(rows, _WIDE) else cells


def is_plain(dialect: Dialect) -> bool:
    """Whether pandas' C reader knows the dialect."""
    return len(dialect.delimiter) <= 1 and (dialect.delimiter + dialect.quote).isascii() and not dialect.escape


def check_size(rows: int, columns: int) -> None:
    """Raises ReadError on more columns or cells than a table here can have."""
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ReadError(
            "the file would be a table of {rows} rows and {columns} columns, more than can be read here ({most} "
            "columns, {cells} cells); choose another delimiter or cut the file",
            rows=rows, columns=columns, most=MAX_COLUMNS, cells=MAX_CELLS,
        )  # fmt: skip


def regular(data: bytes, dialect: Dialect) -> Grid | None:
    """The grid of a text in UTF-8 by pandas' C reader, or None where a quote opens or closes in mid-cell, or where a
    single column holds the mark that is given to the reader for a delimiter."""
    data = data if data.endswith((b"\n", b"\r")) else data + b"\n"
    counted = _counted(data, dialect) if dialect.delimiter or b"\x1f" not in data else None
    if counted is None:
        return None
    widths, lines, blank = counted
    check_size(len(widths), int(widths.max()))
    if blank.all():
        return Grid(pd.DataFrame(), widths[:0], widths[:0])
    cells = pd.read_csv(
        io.BytesIO(data), sep=dialect.delimiter or "\x1f", quotechar=dialect.quote or "\x1e",
        quoting=0 if dialect.quote else 3, header=None, names=range(int(widths.max())), index_col=False, dtype=str,
        keep_default_na=False, na_filter=False, skip_blank_lines=False, skipinitialspace=dialect.skip_space,
        engine="c", encoding="utf-8", low_memory=len(data) > _PIECE,
    )  # fmt: skip
    if len(cells) != len(widths):
        return None
    if not blank.any():
        return Grid(cells, widths, lines)
    return Grid(cells[~blank].reset_index(drop=True), widths[~blank], lines[~blank])


class _Counted(NamedTuple):
    """Of every record, empty ones too: number of cells, line, whether it is empty or holds only spaces."""

    widths: NDArray[np.intp]
    lines: NDArray[np.intp]
    blank: NDArray[np.bool_]


def _counted(data: bytes, dialect: Dialect) -> _Counted | None:
    """Counted from the delimiters and line ends outside quotes; None where a quote opens or closes in mid-cell.
    Done piece by piece, because a position takes eight times the memory of its byte."""
    array = np.frombuffer(data, dtype=np.uint8)
    edge = np.zeros(256, dtype=bool)  # what may stand before an opening and after a closing quote
    edge[[ord(c) for c in "\r\n" + dialect.delimiter + dialect.quote]] = True
    parts = []
    quotes_before = stops_before = breaks_before = 0
    for offset in range(0, len(array), _PIECE):
        piece = array[offset : offset + _PIECE]
        breaks = np.flatnonzero((piece == 10) | (piece == 13)) + offset
        breaks = breaks[(array[breaks] == 10) | (array[np.minimum(breaks + 1, len(array) - 1)] != 10)]  # \r\n ends once
        stops = np.flatnonzero(piece == ord(dialect.delimiter)) + offset if dialect.delimiter else breaks[:0]
        ends = breaks
        if dialect.quote:
            quotes = np.flatnonzero(piece == ord(dialect.quote)) + offset
            opening, closing = quotes[quotes_before % 2 :: 2], quotes[1 - quotes_before % 2 :: 2]
            before = opening[opening > 0] - 1
            before -= dialect.skip_space & (array[before] == 32)  # one blank may stand between delimiter and quote
            if not (edge[array[before]].all() and edge[array[closing + 1]].all()):
                return None
            ends, stops = (p[(np.searchsorted(quotes, p) + quotes_before) % 2 == 0] for p in (breaks, stops))
            quotes_before += len(quotes)
        cells, lines = stops_before + np.searchsorted(stops, ends), breaks_before + np.searchsorted(breaks, ends) + 1
        parts.append((ends, cells, lines))
        stops_before, breaks_before = stops_before + len(stops), breaks_before + len(breaks)
    if quotes_before % 2:
        return None
    ends, cells, lines = (np.concatenate(part) for part in zip(*parts, strict=True))
    starts = np.append(0, ends[:-1] + 1)
    lengths = ends - starts
    widths = np.diff(cells, prepend=0) + 1
    single = widths == 1
    blank = single & ((lengths == 0) | ((lengths == 1) & (array[starts] == 13)))
    for i in np.flatnonzero(single & ~blank & _SPACES[array[starts]]):
        blank[i] = _blank(data[int(starts[i]) : int(ends[i])])
    return _Counted(widths, np.append(0, lines[:-1]) + 1, blank)


_SPACES = np.zeros(256, dtype=bool)
_SPACES[[9, 11, 12, 28, 29, 30, 31, 32, 0xC2, 0xE1, 0xE2, 0xE3]] = True
"""The bytes with which the characters begin in UTF-8 that are spaces."""


# ---- guessing --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^,;\t|\"]{1,80}")


def _plausible(cell: str) -> float:
    """How much a cell looks like one cell: 1 for a typed value, little for one that holds another delimiter."""
    bare = cell.strip()
    if not bare:
        return 0.6
    if bare in MISSING_AMONG_NUMBERS or is_number(bare) or DATE.fullmatch(bare):
        return 1.0
    if len(bare) > 1 and (bare[0] in "\"'" or bare[-1] in "\"'") and not bare[0].isdecimal():
        return 0.2  # a cell in quotes, or half of one
    if _WORD.fullmatch(bare):
        return 0.8 if " " in bare else 0.9
    return 0.6 if re.fullmatch(r"(?:[^,;\t|\"]|[,;] )+", bare) else 0.1


def _score(rows: Sequence[Sequence[str]], dialect: Dialect, whole: bool) -> float:
    if not rows:
        return 0.0
    width, common = Counter(map(len, rows)).most_common(1)[0]
    cells = [cell for row in rows if len(row) == width for cell in row]
    shape = 0.35 if width == 1 else (width - 1) / width * common / len(rows)
    habit = {":": 0.5, "~": 0.8, "^": 0.8}.get(dialect.delimiter, 1.0)
    if dialect.delimiter in (" ", ALIGNED):  # words of one text are as regular as columns; numbers are a sign
        habit = 0.85 if any(map(is_number, cells)) else 0.6
    if width == 1 and dialect.delimiter:
        return 0.0
    return shape * habit * sum(map(_plausible, cells)) / len(cells) * (1.0 if whole else 0.9)


def sniff(text: str, delimiter: str | None = None, quote: str | None = None) -> Dialect:
    r"""The dialect whose cells are most regular and most like values; `delimiter` and `quote` where they are told.

    >>> sniff("size;city\n1,5;Oslo, NO\n2,5;Rome, IT\n").delimiter, sniff("label\nyes\nno\n").delimiter
    (';', '')
    """
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        cut = max(sample.rfind("\n"), sample.rfind("\r"))
        sample = sample[: cut + 1] if cut > 0 else text[: 16 * _SAMPLE]
    sample = re.sub(r"\A(?:[#%][^\r\n]*[\r\n]+)+(?=.)", "", sample, flags=re.DOTALL) or sample
    lined_up = re.search(r"\S  +\S", sample) is not None
    lines = [line for line in re.split(r"[\r\n]+", sample) if line.strip()]
    steady = any(len(counts) == 1 and counts != {0} for counts in ({c.count(d) for c in lines} for d in ";\t|,"))
    candidates = ("", *(d for d in DELIMITERS if (lined_up if d == ALIGNED else d in sample)))
    best, most = Dialect(""), -1.0
    for d in candidates if delimiter is None else (delimiter,):
        single = re.search(rf"(?:^|{re.escape(d)})'[^'\r\n]*'", sample, re.MULTILINE)
        for q in (quote,) if quote is not None else ('"', "'") if single else ('"',):
            after = rf" *(?:{re.escape(d) or '$'}|[\r\n]|\Z|{re.escape(q)})"
            escaped = q and d != "\\" and re.search(rf"\\{re.escape(q)}(?!{after})", sample)
            dialect = Dialect(d, q, "\\" if escaped else "")
            parsed = list(aligned(sample, aligned_at([sample])) if d == ALIGNED else records(sample, dialect))
            rows = [cells for _, cells, _ in parsed][:400]
            inner = [cell for row in rows for cell in row[1:]]
            spaced = sum(c[:1] == " " for c in inner) + (sample.count(f"{d} {q}") if q else 0)
            if d not in ("", " ", "\t", ALIGNED) and inner and spaced >= 0.9 * len(inner):
                dialect = replace(dialect, skip_space=True)
                rows = [cells for _, cells, _ in records(sample, dialect)][:400]
            score = _score(rows, dialect, all(fine for _, _, fine in parsed))
            if d == " " and steady and len(lines) > 2 and quote is None:
                score *= 0.6  # another mark stands in every line as often: blanks are within its cells
            if d == " " and lined_up and sum(map(len, rows)) < 2 * sum(row.count("") for row in rows):
                score *= 0.6  # most of its cells would be empty: the blanks fill up columns
            if score > most * 1.001:
                best, most = dialect, score
    return best
