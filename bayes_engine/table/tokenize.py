"""Text of a known dialect → grid of cells: through pandas' C reader where every quote is regular, and through one
tolerant pattern where not (tested equal). Lines are counted from 1, as an editor does.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import AnyStr, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.progress import tick
from bayes_engine.table.grid import MAX_COLUMNS, Grid, check_size

ALIGNED = "aligned"
_PIECE = 1 << 22
_ROWS = 20_000
_WIDE = 500


Cuts = tuple[tuple[int, int], ...]
"""Where each column begins that is lined up with spaces, and where the blanks begin that all lines have behind it."""


@dataclass(frozen=True)
class Dialect:
    """How a text writes a table. `delimiter` is "" for one column and "aligned" for columns lined up with spaces, which
    begin and end at the `cuts` where a line drawn below their names tells these."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    skip_space: bool = False
    cuts: Cuts = ()


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


_EDGE, _TITLE = 30, 3
"""Lines at the beginning and at the end of a text among which titles and remarks are looked for, and how many of these
stand together at most."""
_APART = re.compile(r"[ \t]{2,}+|\t")


def aligned_at(stretches: Iterable[str]) -> Cuts:
    """Where the columns of a text begin and end that are lined up with spaces: where all lines are blank but titles
    above and remarks below; () where the lines do not line up, but have as many words each."""
    top, bottom, between = list[tuple[str, bool]](), deque[tuple[str, bool]](), _LinedUp()
    for stretch in stretches:
        before = 0
        for match in _filled(stretch):
            set_off = stretch.count("\n", before, match.start()) > 1 or stretch.count("\r", before, match.start()) > 1
            set_off = set_off and (before > 0 or bool(top))
            before = match.end()
            if len(top) < _EDGE:
                top.append((match[0], set_off))
                continue
            bottom.append((match[0], set_off))
            if len(bottom) > _EDGE:
                between.add(bottom.popleft()[0])
    lines = [*top, *bottom]
    above, below = _titles(lines, len(top)), _titles_below(lines, len(top))
    if between.n + len(lines) - above - below < max(above + below, 2):
        above = below = 0
    every = between.copy()
    for line, _ in lines[above : len(lines) - below]:
        every.add(line)
    near = [*reversed(lines[:above]), *lines[len(lines) - below :]]
    for line, _ in near:
        with_it = every.copy()
        with_it.add(line)
        if len(with_it.cuts()) == len(every.cuts()) and not with_it.joins(every):
            every = with_it
    cuts = _whole_names(every.cuts(), lines[above:], between)
    return cuts if len(every.words) > 1 or len(cuts) >= every.first else ()  # as many as words: a cell holds a blank


def _whole_names(cuts: Cuts, lines: Sequence[tuple[str, bool]], between: _LinedUp) -> Cuts:
    """The cuts without those within a name of several words: one blank wide, where no line but the first has anything
    on one of its sides."""
    if len(cuts) < 2 or len(lines) < 3:
        return cuts
    below = between.copy()
    for line, _ in lines[1:]:
        below.add(line)
    joined = [cuts[0]]
    for begin, end in cuts[1:]:
        start, before = joined[-1]
        if begin - before == 1 and not (below.used[start:before].any() and below.used[begin:end].any()):
            joined[-1] = (start, end)
        else:
            joined.append((begin, end))
    return tuple(joined)


class _LinedUp:
    """Where any of some lines is not blank, and how many words they have."""

    def __init__(self) -> None:
        self.used, self.words, self.first, self.n = np.zeros(0, dtype=bool), set[int](), 0, 0

    def add(self, line: str) -> None:
        if len(line) > len(self.used):
            self.used = np.append(self.used, np.zeros(2 * len(line) - len(self.used), dtype=bool))
        self.used[: len(line)] |= np.frombuffer(line.encode("utf-32-le"), dtype=np.uint32) > 32
        words = len(line.split())
        self.words.add(words)
        self.first = self.first or words
        self.n += 1

    def copy(self) -> _LinedUp:
        other = _LinedUp()
        other.used, other.words, other.first, other.n = self.used.copy(), set(self.words), self.first, self.n
        return other

    def joins(self, other: _LinedUp) -> bool:
        """Whether nothing is blank where a column of the other ends and the next begins."""
        return any(self.used[end:begin].all() for (_, end), (begin, _) in pairwise(other.cuts()))

    def cuts(self) -> Cuts:
        begins = np.flatnonzero(self.used & ~np.append(False, self.used[:-1]))
        ends = np.flatnonzero(self.used & ~np.append(self.used[1:], False)) + 1
        return tuple(zip(begins.tolist(), ends.tolist(), strict=True))


def _titles(lines: Sequence[tuple[str, bool]], most: int) -> int:
    """How many lines at the beginning may be none of a table's: a few that are set off from what follows by an empty
    line, and then such as have not half of the parts that most lines have."""
    n = 0
    while (n_next := next((k for k in range(n + 1, most) if lines[k][1]), 0)) and n_next - n <= _TITLE:
        n = n_next
    return n + _of_few_parts([line for line, _ in lines[n:]])


def _titles_below(lines: Sequence[tuple[str, bool]], most: int) -> int:
    """The same at the end."""
    end = len(lines)
    while (n_next := next((k for k in range(end - 1, max(most // 2, 0), -1) if lines[k][1]), 0)) and (
        end - n_next <= _TITLE
    ):
        end = n_next
    return len(lines) - end + _of_few_parts([line for line, _ in reversed(lines[:end])])


def _of_few_parts(lines: Sequence[str]) -> int:
    parts = [len(_APART.split(line.strip())) for line in lines]
    if not parts:
        return 0
    usual = sorted(parts)[len(parts) // 2]
    return next((k for k, n in enumerate(parts[: _TITLE + 1]) if 2 * n > usual or k == _TITLE), 0)


def aligned(text: str, cuts: Cuts) -> Iterator[tuple[int, list[str], bool]]:
    """Records of columns lined up with spaces, cut there, or at every blank. A line that is not blank between two of
    the columns is a title or a remark, and one cell."""
    begins = [begin for begin, _ in cuts]
    places = [*pairwise(begins), (begins[-1], None)] if cuts else []
    blanks = [(end, begin) for (_, end), (begin, _) in pairwise([(0, 0), *cuts])] if cuts else []
    for match in _filled(text):
        line = match[0]
        if not cuts:
            cells = line.split()
        elif any(line[a:b].strip() for a, b in blanks) or line[cuts[-1][1] :].strip():
            cells = [line.strip()]
        else:
            cells = [line[a:b].strip() for a, b in places]
        yield match.start(), cells, True


def tokenize(text: str, dialect: Dialect) -> Grid:
    """The whole text as a grid. Raises ReadError where it would be larger than any table."""
    if is_plain(dialect) and (grid := regular(text.encode(), dialect)) is not None:
        return grid._replace(cells=_in_one(grid.cells))
    lined_up = dialect.delimiter == ALIGNED
    parsed = aligned(text, dialect.cuts or aligned_at([text])) if lined_up else records(text, dialect)
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


_SPACES = np.isin(np.arange(256), [9, 11, 12, 28, 29, 30, 31, 32, 0xC2, 0xE1, 0xE2, 0xE3])
"""The bytes with which the characters begin in UTF-8 that are spaces."""
