"""Text → grid of cells.

`cut` is both steps: `sniff` guesses delimiter and quote from the shape and the types of the cells they would give;
`tokenize` cuts the whole text, through pandas' C reader where every quote is regular and through one tolerant pattern
where not (tested equal). Lines are counted from 1, as an editor does.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.table.dates import DATE
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, Note, is_number, lines_of, note, offer

MAX_COLUMNS = 20_000
MAX_CELLS = 100_000_000
ALIGNED = "aligned"
DELIMITERS = (",", "\t", ";", "|", " ", ":", "^", "~", "\x1f", "，", "；", "、", "§", ALIGNED)
_SAMPLE = 1 << 16
_PIECE = 1 << 22
_ROWS = 20_000


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

    def part(self, first: int, last: int | None = None) -> Grid:
        """The records from one position up to another."""
        return Grid(self.cells.iloc[first:last], self.widths[first:last], self.lines[first:last], self.odd)


def cut(text: str, delimiter: str | None, quote: str | None, notes: list[Note]) -> tuple[Grid, Dialect]:
    r"""The grid of a text and its dialect, of which None is to be found out.

    >>> grid, dialect = cut("size|city\n1|'Oslo'\n2|'Rome'\n", None, None, [])
    >>> grid.cells[1].tolist(), dialect.delimiter, dialect.quote
    (['city', 'Oslo', 'Rome'], '|', "'")
    """
    if quote and (len(quote) > 1 or quote in ("\n", "\r", delimiter)):
        raise ReadError("'{quote}' cannot be the quote: it is one character other than the delimiter, or '' for none",
                        quote=quote)  # fmt: skip
    text = text.rstrip("\x1a\x00\x0c")
    told = re.match(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r)', text)
    if told:  # Excel's way of naming the delimiter; the line stays, blank, so that line numbers hold
        delimiter = told[1] if delimiter is None else delimiter
        text = text[told.end(1) :].lstrip('" \t')
    text = _plainly_quoted(_unruled(text, notes), notes) if quote is None else _unruled(text, notes)
    dialect = sniff(text, delimiter, quote)
    grid = tokenize(text, dialect)
    if dialect.delimiter == "" and delimiter is None and (inner := _unwrapped(text, grid)) is not None:
        again = sniff(inner, None, quote)
        if again.delimiter:
            dialect, grid = again, tokenize(inner, again)
            notes.append(note("every line is quoted as a whole: these quotes are left out", "warning"))
    if grid.odd:
        notes.append(note("a quote is never closed, or closes within a cell, on line {lines}: it is kept as a "
                          "character", "warning", grid.odd[0], lines=lines_of(grid.odd)))  # fmt: skip
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
    return grid, dialect


_RULE = re.compile(r"^[ \t]*[+|]?[ \t]*[:=-]{3,}:?(?:[ \t]*[+|][ \t]*[:=-]{3,}:?)*[ \t]*[+|]?[ \t]*$", re.MULTILINE)
"""A line drawn between rows, as SQL clients and Markdown write it."""


def _unruled(text: str, notes: list[Note]) -> str:
    """The text with the lines that are drawn between its rows left blank, so that the numbers of the lines hold."""
    if "---" not in text[:_SAMPLE] and "===" not in text[:_SAMPLE]:
        return text
    drawn = [m for m in _RULE.finditer(text) if re.search("[+|]", m.group())]
    if not drawn:
        return text
    line = text.count("\n", 0, drawn[0].start()) + 1
    notes.append(note("lines drawn with '{text}' that are left out: {n}", "info", line, n=len(drawn),
                      text=drawn[0].group().strip()[:12]))  # fmt: skip
    return _RULE.sub(lambda m: "" if re.search("[+|]", m.group()) else m.group(), text)


def _plainly_quoted(text: str, notes: list[Note]) -> str:
    """The text with quotes for the typographic ones, where these enclose cells as quotes do."""
    if "“" not in text[:_SAMPLE] or '"' in text:
        return text
    enclosing = re.compile(r"(?:(?<=[,;\t|\r\n])|\A)“([^“”\r\n]*)[”“](?=[,;\t|\r\n]|\Z)")
    quoted, n = enclosing.subn(r'"\1"', text)
    if 2 * n < len(re.findall("[“”]", text)):
        return text
    notes.append(note("cells are quoted with “ ”; these are left out")
                 .offering(offer("They are part of the cells", "quote", "")))  # fmt: skip
    return quoted


def _unwrapped(text: str, grid: Grid) -> str | None:
    """The text without the quotes around its lines, None where not every line is one quoted cell."""
    lines = re.findall(r"[^\r\n]+", text)
    whole = len(lines) == len(grid.cells) and all(line[0] == '"' == line[-1] for line in lines) and not grid.odd
    return "\n".join(map(str, grid.cells[0])) + "\n" if whole and len(lines) > 1 else None


# ---- cutting ---------------------------------------------------------------------------------------------------------


def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """One field and what ends it. A quoted field must be followed by an end; where it is not, quotes within its line
    that are neither doubled nor beside a delimiter are characters of it (`loose`), else its own quote is one."""
    end = r"\r\n|\n|\r|\Z"
    d = re.escape(dialect.delimiter)
    stop = rf"{d}|{end}" if d else end
    raw = rf"[^{d}\r\n]*+" if len(dialect.delimiter) < 2 else rf"(?:(?!{d})[^\r\n])*+"
    if not dialect.quote:
        return re.compile(rf"(?P<quoted>(?!))?(?P<loose>(?!))?(?P<raw>{raw})(?P<end>{stop})")
    q, e = re.escape(dialect.quote), re.escape(dialect.escape)
    inside = rf"[^{q}{e}]*+(?:(?:{q}{q}{rf'|{e}(?s:.)' if e else ''})[^{q}{e}]*+)*+"
    before = " *+" if dialect.skip_space else ""
    pad = " *+" if d and not dialect.delimiter.startswith(" ") else ""  # a blank before an opening quote is no content
    after = "" if dialect.delimiter.startswith(" ") else " *+"
    opens = rf"(?<!{d}){q}" if len(dialect.delimiter) == 1 else q
    loose = rf"[^{q}\r\n]*+(?:(?:{q}{q}|{opens}(?!{after}(?:{stop})))[^{q}\r\n]*+){{0,50}}+" if d else "(?!)"
    return re.compile(
        rf"{before}(?:{pad}{q}(?P<quoted>{inside}){q}{after}(?={stop})|{q}(?P<loose>{loose}){q}{after}(?={stop})"
        rf"|(?P<raw>{raw}))(?P<end>{stop})"
    )


def records(text: str, dialect: Dialect) -> Iterator[tuple[int, list[str], bool]]:
    r"""(offset, cells, regular) of every record that is not empty.

    >>> [cells for _, cells, _ in records('a,"b, ""c"" d"\r\n\n1,"2\n', Dialect())]
    [['a', 'b, "c" d'], ['1', '"2']]
    >>> [cells for _, cells, _ in records('"a 5" pipe, used",7\n', Dialect())]
    [['a 5" pipe, used', '7']]
    """
    quote, escape = dialect.quote, dialect.escape
    row: list[str] = []
    start, regular = 0, True
    for match in _pattern(dialect).finditer(text):
        quoted, raw = match["quoted"], match["raw"]
        if match["loose"] is not None:
            row.append(match["loose"].replace(quote * 2, quote))
            regular = False
        elif quoted is not None:
            cell = quoted.replace(quote * 2, quote) if quote in quoted else quoted
            row.append(re.sub(rf"{re.escape(escape)}(.)", r"\1", cell, flags=re.DOTALL) if escape else cell)
        else:
            row.append(raw)
            regular = regular and not (quote and raw.startswith(quote))
        if match["end"] == dialect.delimiter and dialect.delimiter:
            continue
        if len(row) > 1 or raw is None or raw.strip():
            yield start, row, regular
        row, start, regular = [], match.end(), True


def _aligned(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """Records of columns lined up with spaces: cut where all lines are blank, or
    at every blank where the lines do not line up but have as many words each."""
    spans = [(m.start(), m.group()) for m in re.finditer(r"[^\r\n]*\S[^\r\n]*", text)]
    words = [line.split() for _, line in spans]
    size = max(len(line) for _, line in spans)
    used = np.zeros(size + 1, dtype=bool)
    for _, line in spans:
        used[: len(line)] |= np.frombuffer(line.encode("utf-32-le"), dtype=np.uint32) > 32
    cuts = [*np.flatnonzero(used & ~np.append(False, used[:-1])).tolist(), size]
    if len({len(w) for w in words}) > 1 or len(cuts) > len(words[0]):  # more cuts than words: a cell holds a blank
        words = [[line[a:b].strip() for a, b in pairwise(cuts)] for _, line in spans]
    for (start, _), row in zip(spans, words, strict=True):
        yield start, row, True


def tokenize(text: str, dialect: Dialect) -> Grid:
    """The whole text as a grid. Raises ReadError where it would be larger than any table."""
    plain = len(dialect.delimiter) <= 1 and (dialect.delimiter + dialect.quote).isascii() and not dialect.escape
    if plain and (regular := _regular(text, dialect)) is not None:
        return regular
    found = _aligned(text) if dialect.delimiter == ALIGNED else records(text, dialect)
    starts: list[int] = []
    widths: list[int] = []
    odd: list[int] = []
    blocks: list[pd.DataFrame] = []
    while block := list(islice(found, _ROWS)):  # a column of strings is far smaller than a list of them
        odd += [len(starts) + i for i, (_, _, regular) in enumerate(block) if not regular]
        starts += [start for start, _, _ in block]
        widths += [len(cells) for _, cells, _ in block]
        check_size(len(widths), max(widths))
        width = max(widths[-len(block) :])
        blocks.append(pd.DataFrame([row + [""] * (width - len(row)) for _, row, _ in block], dtype=str))
    breaks = [m.end() for m in re.finditer(r"\r\n|\n|\r", text)]
    lines = np.searchsorted(breaks, starts, side="right").astype(np.intp) + 1
    columns = range(max(widths, default=0))
    blocks = [block.reindex(columns=columns, fill_value="") for block in blocks or [pd.DataFrame()]]
    cells = pd.concat(blocks, ignore_index=True)
    return Grid(cells, np.array(widths, dtype=np.intp), lines, tuple(int(lines[i]) for i in odd))


def check_size(rows: int, columns: int) -> None:
    """Raises ReadError on more columns or cells than a table here can have."""
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ReadError(
            "the file would be a table of {rows} rows and {columns} columns, more than can be read here ({most} "
            "columns, {cells} cells); choose another delimiter or cut the file",
            rows=rows, columns=columns, most=MAX_COLUMNS, cells=MAX_CELLS,
        )  # fmt: skip


def _regular(text: str, dialect: Dialect) -> Grid | None:
    """The grid by pandas' C reader, or None where a quote opens or closes in mid-cell."""
    data = (text if text.endswith(("\n", "\r")) else text + "\n").encode()
    counted = _counted(data, dialect)
    if counted is None:
        return None
    widths, lines, blank, spaced = counted
    check_size(len(widths), int(widths.max()))
    if blank.all():
        return Grid(pd.DataFrame(), widths[:0], widths[:0])
    cells = pd.read_csv(
        io.BytesIO(data), sep=dialect.delimiter or "\x1f", quotechar=dialect.quote or "\x1e",
        quoting=0 if dialect.quote else 3, header=None, names=range(int(widths.max())), index_col=False, dtype=str,
        keep_default_na=False, na_filter=False, skip_blank_lines=False, skipinitialspace=dialect.skip_space,
        engine="c", encoding="utf-8",
    )  # fmt: skip
    if len(cells) != len(widths):
        return None
    for i in np.flatnonzero(spaced):
        blank[i] = not str(cells.iat[int(i), 0]).strip()
    if not blank.any():
        return Grid(cells, widths, lines)
    return Grid(cells[~blank].reset_index(drop=True), widths[~blank], lines[~blank])


class _Counted(NamedTuple):
    """Of every record, empty ones too: number of cells, line, whether it is empty, whether it may hold only spaces."""

    widths: NDArray[np.intp]
    lines: NDArray[np.intp]
    blank: NDArray[np.bool_]
    spaced: NDArray[np.bool_]


def _counted(data: bytes, dialect: Dialect) -> _Counted | None:
    """Counted from the delimiters and line ends outside quotes; None where a quote opens or closes in mid-cell.
    Done piece by piece, because a position takes eight times the memory of its byte."""
    array = np.frombuffer(data, dtype=np.uint8)
    edge = np.zeros(256, dtype=bool)  # what may stand before an opening and after a closing quote
    edge[[ord(c) for c in "\r\n" + dialect.delimiter + dialect.quote + " " * dialect.skip_space]] = True
    found = []
    quotes_before = stops_before = breaks_before = 0
    for at in range(0, len(array), _PIECE):
        piece = array[at : at + _PIECE]
        breaks = np.flatnonzero((piece == 10) | (piece == 13)) + at
        breaks = breaks[(array[breaks] == 10) | (array[np.minimum(breaks + 1, len(array) - 1)] != 10)]  # \r\n ends once
        stops = np.flatnonzero(piece == ord(dialect.delimiter)) + at if dialect.delimiter else breaks[:0]
        ends = breaks
        if dialect.quote:
            quotes = np.flatnonzero(piece == ord(dialect.quote)) + at
            opening, closing = quotes[quotes_before % 2 :: 2], quotes[1 - quotes_before % 2 :: 2]
            if not (edge[array[opening[opening > 0] - 1]].all() and edge[array[closing + 1]].all()):
                return None
            ends, stops = (p[(np.searchsorted(quotes, p) + quotes_before) % 2 == 0] for p in (breaks, stops))
            quotes_before += len(quotes)
        cells, lines = stops_before + np.searchsorted(stops, ends), breaks_before + np.searchsorted(breaks, ends) + 1
        found.append((ends, cells, lines))
        stops_before, breaks_before = stops_before + len(stops), breaks_before + len(breaks)
    if quotes_before % 2:
        return None
    ends, cells, lines = (np.concatenate(part) for part in zip(*found, strict=True))
    starts = np.append(0, ends[:-1] + 1)
    lengths = ends - starts
    widths = np.diff(cells, prepend=0) + 1
    single = widths == 1
    blank = single & ((lengths == 0) | ((lengths == 1) & (array[starts] == 13)))
    spaced = single & ~blank & ((array[starts] == 32) | (array[starts] == 9))
    return _Counted(widths, np.append(0, lines[:-1]) + 1, blank, spaced)


# ---- guessing --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^,;\t|\"]{1,80}")


def _plausible(cell: str) -> float:
    """How much a cell looks like one cell: 1 for a typed value, little for one that holds another delimiter."""
    bare = cell.strip()
    if not bare:
        return 0.6
    if bare in MISSING_AMONG_NUMBERS or is_number(bare) or DATE.fullmatch(bare):
        return 1.0
    if len(bare) > 1 and bare[0] in "\"'" and bare[-1] == bare[0]:
        return 0.2
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
            escaped = q and re.search(rf"\\{re.escape(q)}(?!{after})", sample)
            dialect = Dialect(d, q, "\\" if escaped else "")
            found = list(_aligned(sample) if d == ALIGNED else records(sample, dialect))
            rows = [cells for _, cells, _ in found][:400]
            inner = [cell for row in rows for cell in row[1:]]
            spaced = sum(c[:1] == " " for c in inner) + (sample.count(f"{d} {q}") if q else 0)
            if d not in ("", " ", "\t", ALIGNED) and inner and spaced >= 0.9 * len(inner):
                dialect = replace(dialect, skip_space=True)
                rows = [cells for _, cells, _ in records(sample, dialect)][:400]
            score = _score(rows, dialect, all(fine for _, _, fine in found))
            if d == " " and steady and len(lines) > 2 and quote is None:
                score *= 0.6  # another mark stands in every line as often: blanks are within its cells
            if score > most * 1.001:
                best, most = dialect, score
    return best
