"""Text → grid of cells, and the table's place within the grid.

`sniff` guesses delimiter and quote from the shape and the types of the cells they would give; `tokenize` cuts the whole
text, through pandas' C reader where every quote is regular and through one tolerant pattern where not (tested equal);
`locate` finds header and first data row. Lines are counted from 1, as an editor does.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.table.numbers import DATE, MISSING_AMONG_NUMBERS, is_number

MAX_COLUMNS = 20_000
MAX_CELLS = 100_000_000
ALIGNED = "aligned"
DELIMITERS = (",", "\t", ";", "|", " ", ":", "^", "~", "\x1f", ALIGNED)
_SAMPLE = 1 << 16
_COMMENT = ("#", "%", "//")


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


# ---- cutting ---------------------------------------------------------------------------------------------------------


def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """One field and what ends it. A quoted field must be followed by an end, else its quote is a character."""
    end = r"\r\n|\n|\r|\Z"
    d = re.escape(dialect.delimiter)
    stop = rf"{d}|{end}" if d else end
    raw = rf"[^{d}\r\n]*+" if len(dialect.delimiter) < 2 else rf"(?:(?!{d})[^\r\n])*+"
    if not dialect.quote:
        return re.compile(rf"(?P<quoted>(?!))?(?P<raw>{raw})(?P<end>{stop})")
    q, e = re.escape(dialect.quote), re.escape(dialect.escape)
    inside = rf"[^{q}{e}]*+(?:(?:{q}{q}{rf'|{e}(?s:.)' if e else ''})[^{q}{e}]*+)*+"
    before = " *+" if dialect.skip_space else ""
    after = "" if dialect.delimiter.startswith(" ") else " *+"
    return re.compile(rf"{before}(?:{q}(?P<quoted>{inside}){q}{after}(?={stop})|(?P<raw>{raw}))(?P<end>{stop})")


def records(text: str, dialect: Dialect) -> Iterator[tuple[int, list[str], bool]]:
    r"""(offset, cells, regular) of every record that is not empty.

    >>> [cells for _, cells, _ in records('a,"b, ""c"" d"\r\n\n1,"2\n', Dialect())]
    [['a', 'b, "c" d'], ['1', '"2']]
    """
    quote, escape = dialect.quote, dialect.escape
    row: list[str] = []
    start, regular = 0, True
    for match in _pattern(dialect).finditer(text):
        quoted, raw = match["quoted"], match["raw"]
        if quoted is not None:
            cell = quoted.replace(quote * 2, quote) if quote in quoted else quoted
            row.append(re.sub(rf"{re.escape(escape)}(.)", r"\1", cell, flags=re.DOTALL) if escape else cell)
        else:
            row.append(raw)
            regular = regular and not (quote and raw.startswith(quote))
        if match["end"] == dialect.delimiter and dialect.delimiter:
            continue
        if len(row) > 1 or quoted is not None or raw.strip():
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
    regular = _regular(text, dialect) if len(dialect.delimiter) <= 1 and not dialect.escape else None
    if regular is not None:
        return regular
    found = list(_aligned(text) if dialect.delimiter == ALIGNED else records(text, dialect))
    widths = np.array([len(cells) for _, cells, _ in found], dtype=np.intp)
    check_size(len(found), int(widths.max(initial=0)))
    ends = [m.end() for m in re.finditer(r"\r\n|\n|\r", text)]
    lines = np.searchsorted(ends, [start for start, _, _ in found], side="right").astype(np.intp) + 1
    width = int(widths.max(initial=0))
    cells = pd.DataFrame([row + [""] * (width - len(row)) for _, row, _ in found], columns=range(width), dtype=object)
    odd = tuple(int(line) for line, (_, _, fine) in zip(lines, found, strict=True) if not fine)
    return Grid(cells, widths, lines, odd)


def check_size(rows: int, columns: int) -> None:
    """Raises ReadError on more columns or cells than a table here can have."""
    if columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise ReadError(
            "the file would be a table of {rows} rows and {columns} columns, more than can be read here ({most} columns, "
            "{cells} cells); choose another delimiter or cut the file",
            rows=rows, columns=columns, most=MAX_COLUMNS, cells=MAX_CELLS,
        )  # fmt: skip


def _regular(text: str, dialect: Dialect) -> Grid | None:
    """The grid by pandas' C reader, or None where a quote opens or closes in mid-cell. Widths and lines are counted
    from the positions of the delimiters and line ends that lie outside quotes."""
    if not text.endswith(("\n", "\r")):
        text += "\n"
    data = text.encode()
    array = np.frombuffer(data, dtype=np.uint8)
    breaks = np.flatnonzero((array == 10) | (array == 13)) if b"\r" in data else np.flatnonzero(array == 10)
    if b"\r" in data:
        half = (array[breaks] == 13) & (np.append(array[1:], 0)[breaks] == 10)  # \r\n ends once
        breaks = breaks[~half]
    stops = np.flatnonzero(array == ord(dialect.delimiter)) if dialect.delimiter else np.empty(0, dtype=np.intp)
    ends = breaks
    if dialect.quote and dialect.quote.encode() in data:
        quotes = np.flatnonzero(array == ord(dialect.quote))
        edge = np.isin(array, [ord(c) for c in "\r\n" + dialect.delimiter + dialect.quote + " " * dialect.skip_space])
        before, after = quotes[0::2] - 1, quotes[1::2] + 1
        if len(quotes) % 2 or not (edge[before[before >= 0]].all() and edge[after].all()):
            return None
        stops, ends = (p[np.searchsorted(quotes, p) % 2 == 0] for p in (stops, breaks))
    starts = np.append(0, ends[:-1] + 1)
    widths = np.diff(np.searchsorted(stops, ends), prepend=0) + 1
    lengths = ends - starts
    blank = (widths == 1) & ((lengths == 0) | ((lengths == 1) & (array[starts] == 13)))
    width = int(widths.max())
    check_size(len(widths), width)
    if blank.all():
        return Grid(pd.DataFrame(), widths[:0], widths[:0])
    cells = pd.read_csv(
        io.BytesIO(data), sep=dialect.delimiter or "\x1f", quotechar=dialect.quote or "\x1e",
        quoting=0 if dialect.quote else 3, header=None, names=range(width), index_col=False, dtype=str,
        keep_default_na=False, na_filter=False, skip_blank_lines=False, skipinitialspace=dialect.skip_space,
        engine="c", encoding="utf-8",
    )  # fmt: skip
    if len(cells) != len(widths):
        return None
    for i in np.flatnonzero((widths == 1) & ~blank & ((array[starts] == 32) | (array[starts] == 9))):
        blank[i] = not str(cells.iat[int(i), 0]).strip()
    keep = ~blank
    return Grid(cells[keep].reset_index(drop=True), widths[keep], np.searchsorted(breaks, starts)[keep] + 1)


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


def sniff(text: str, delimiter: str | None = None) -> Dialect:
    r"""The dialect whose cells are most regular and most like values.

    >>> sniff("size;city\n1,5;Oslo, NO\n2,5;Rome, IT\n").delimiter, sniff("label\nyes\nno\n").delimiter
    (';', '')
    """
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        cut = max(sample.rfind("\n"), sample.rfind("\r"))
        sample = sample[: cut + 1] if cut > 0 else text[: 16 * _SAMPLE]
    sample = re.sub(r"\A(?:[#%][^\r\n]*[\r\n]+)+(?=.)", "", sample, flags=re.DOTALL) or sample
    lined_up = re.search(r"\S  +\S", sample) is not None
    candidates = ("", *(d for d in DELIMITERS if (lined_up if d == ALIGNED else d in sample)))
    best, most = Dialect(""), -1.0
    for d in candidates if delimiter is None else (delimiter,):
        for q in ('"', "'") if re.search(rf"(?:^|{re.escape(d)})'[^'\r\n]*'", sample, re.MULTILINE) else ('"',):
            escaped = re.search(rf"\\{q}(?! *(?:{re.escape(d) or '$'}|[\r\n]|\Z|{q}))", sample)
            dialect = Dialect(d, q, "\\" if escaped else "")
            found = list(_aligned(sample) if d == ALIGNED else records(sample, dialect))
            rows = [cells for _, cells, _ in found][:400]
            inner = [cell for row in rows for cell in row[1:]]
            if d not in ("", " ", "\t", ALIGNED) and inner and sum(c[:1] == " " for c in inner) >= 0.9 * len(inner):
                dialect = replace(dialect, skip_space=True)
                rows = [cells for _, cells, _ in records(sample, dialect)][:400]
            score = _score(rows, dialect, all(fine for _, _, fine in found))
            if score > most * 1.001:
                best, most = dialect, score
    return best


# ---- locating --------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where the table lies in its grid: positions of records. `header` None: there are no names; `units` are rows
    between names and data that hold no data."""

    header: int | None
    first: int
    units: tuple[int, ...] = ()


def locate(grid: Grid) -> Place:
    """Header and first data row, below comments, titles and notes.

    >>> locate(tokenize("Sales 2024\\n\\nsize,city\\ncm,\\n1.5,Oslo\\n2.5,Rome\\n", Dialect()))
    Place(header=1, first=3, units=(2,))
    """
    widths = grid.widths
    usual = int(np.bincount(widths).argmax())
    head = [list(map(str, row)) for row in grid.cells.head(200).itertuples(index=False)]
    filled = [sum(cell.strip() != "" for cell in row) for row in head]
    need = max(min(usual, 2), int(np.median(filled)) // 2)
    k = next((i for i in range(len(head)) if widths[i] == usual and filled[i] >= need and not _comment(head[i])), 0)
    below = [row for i, row in enumerate(head) if i > k and widths[i] == usual]
    votes = _votes(head[k], below, usual)
    above = next((i for i in range(k - 1, -1, -1) if filled[i] >= min(usual, 2) and _names(head[i])), None)
    if above is not None and above == k - 1 and votes <= 0 and (votes < 0 or abs(int(widths[above]) - usual) <= 1):
        header: int | None = above if not _comment(head[above]) or widths[above] == usual else None
    else:
        header = k if votes > 0 or (votes == 0 and _names(head[k])) else None
    if header is None:
        return Place(None, k)
    if any(not cell.strip() for cell in head[header][:usual]) and header + 2 < len(head):
        nearer = head[header + 1]  # names over several columns, then the names of each: the second row is the header
        if all(cell.strip() for cell in nearer[:usual]) and _names(nearer) and _votes(nearer, below[1:], usual) > 0:
            header += 1
    first = header + 1
    while first - header <= 3 and first + 1 < len(head) and _units(head[first], head[first + 1 :], usual):
        first += 1
    return Place(header, first, tuple(range(header + 1, first)))


def _comment(row: Sequence[str]) -> bool:
    return row[0].lstrip().startswith(_COMMENT)


def _value(cell: str) -> bool:
    """True for what is a value rather than a name."""
    return is_number(cell) or DATE.fullmatch(cell.strip()) is not None


def _names(row: Sequence[str]) -> bool:
    """True where a row could be names: some text, no value, nothing twice."""
    told = [cell.strip() for cell in row if cell.strip()]
    return bool(told) and not any(map(_value, told)) and len(set(told)) == len(told)


def _typed(column: Sequence[str]) -> bool:
    told = [cell for cell in column if cell.strip() not in MISSING_AMONG_NUMBERS]
    return bool(told) and sum(map(_value, told)) >= 0.8 * len(told)


def _votes(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> float:
    """> 0 where `row` differs in kind from the columns below it, < 0 where it is like them."""
    if not below:
        return 0.0
    cells = [cell.strip() for cell in row[:usual]]
    years = [int(c) for c in cells if re.fullmatch(r"\d{1,4}", c)]
    if len(years) >= 3 and years == list(range(years[0], years[0] + len(years))) and cells[0] and not _value(cells[0]):
        return 1.0  # country, 2019, 2020, 2021
    votes = 0.0
    for j, cell in enumerate(cells):
        column = [r[j].strip() for r in below]
        if _typed(column):
            if cell not in MISSING_AMONG_NUMBERS:
                votes += -1.0 if _value(cell) else 1.0
        elif cell and cell in column:
            votes -= 0.5
        elif cell and len(column) >= 6 and len(set(column)) <= len(column) / 3:
            votes += 0.5
    return votes


def _units(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> bool:
    """True for a row of units or of further names: short text over every numeric column, nothing known over the others.
    Over one numeric column alone, the others must be empty: it could be a slip of the pen."""
    over: list[str] = []
    beside: list[str] = []
    for j, cell in enumerate(row[:usual]):
        column = [r[j] for r in below]
        (over if _typed(column) else beside).append(cell.strip())
        if cell.strip() and cell in column:
            return False
    told = [cell for cell in over if cell]
    if not told or any(_value(c) or c in MISSING_AMONG_NUMBERS or len(c) > 16 for c in told):
        return False
    return len(told) > 1 or not any(beside)
