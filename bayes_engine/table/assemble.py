"""Grid → table of text: the header found, rows that are no data left out, one column for every name.

Nothing is dropped in silence: every line, column or cell that is left out, added or renamed has its note.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.table.dataframes import as_strings
from bayes_engine.table.dates import DATE
from bayes_engine.table.dialect import ALIGNED, Grid, Records
from bayes_engine.table.notes import Note, Offer, lines_of, listed, note, offer
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, is_number, pointed
from bayes_engine.table.spellings import INVISIBLE, LOOK_ALIKE

MAX_NAME = 200
"""Longest column name, in characters; longer ones are cut."""
_SEEN = 200_000
"""How many cells are looked at to find the header, in 20 rows or more."""
COMMENT = ("#", "%", "//")
R = TypeVar("R", bound=Records)
KEEP: Offer = offer("Keep these lines as rows", "trim", False)


class Layout(NamedTuple):
    """How records become rows of a table: the names of its columns, how many cells of a record stand under names, those
    of them that are left out, and what joins the cells beyond, where these have a column of their own (None: none)."""

    names: tuple[str, ...]
    width: int
    left_out: tuple[int, ...] = ()
    joined: str | None = None

    def frame(self, data: Grid) -> pd.DataFrame:
        """These records as rows."""
        cells = data.cells.reindex(columns=range(self.width), fill_value="")
        if self.joined is not None:
            cells = pd.concat([cells, _beyond(data, self.width, self.joined)], axis=1)
        if self.left_out:
            cells = cells.drop(columns=list(self.left_out))
        cells.columns, cells.index = pd.Index(self.names), pd.RangeIndex(len(cells))  # of thousands a copy takes long
        return cells.apply(as_strings)


def no_rows() -> ReadError:
    """What a table is refused with of which there are the names alone."""
    return ReadError("the file has a header, but no rows: there is no data in it")


def assemble(
    grid: Grid, header: int | Literal[False] | None, delimiter: str, notes: list[Note], *, trim: bool = True
) -> tuple[pd.DataFrame, int | Literal[False]]:
    """The rows of the table in `grid`, as text under their names, and the line of the names (False: there are none).

    `header` is that line where it is told; `delimiter` joins what a row holds beyond the last name; without `trim`
    every line below the names is a row: footers, repeated headers and a second table too.

    >>> rows = pd.DataFrame([["Sizes", ""], ["size", "city"], ["1", "Oslo"]])
    >>> grid = Grid(rows, widths=np.array([1, 2, 2]), lines=np.array([1, 2, 3]))
    >>> cells, line = assemble(grid, None, ",", [])
    >>> list(cells), len(cells), line
    (['size', 'city'], 1, 2)
    """
    layout, data, line = lay_out(grid, header, delimiter, notes, trim=trim)
    return layout.frame(data), line


def lay_out(
    grid: R, header: int | Literal[False] | None, delimiter: str, notes: list[Note], *, trim: bool = True
) -> tuple[Layout, R, int | Literal[False]]:
    """How the records of a grid become a table, which of them do, and the line of the names: `assemble`, for a grid
    whose cells need not all be there."""
    if not len(grid.widths):
        raise ReadError("the file is empty: there is no data in it")
    if trim:
        grid = _first_table(grid, header, notes)
    place = _place(grid, header, trim)
    _note_place(grid, place, notes)
    data = rows_of(grid, place, notes) if trim else grid.part(place.first)
    if not len(data.widths):
        raise no_rows()
    reach = data.reach()
    if place.header is None and not reach.any():
        raise ReadError("every cell of the file is empty: there is no data in it")
    names = [] if place.header is None else _row(grid, place.header)
    if place.header is None and header is None:
        notes.append(note("no header was found: the first row is data, and the columns are called column_1, column_2, "
                          "…", "warning", int(data.lines[0]))
                     .offering(offer("The first row holds the names", "header", int(data.lines[0]))))  # fmt: skip
    usual = int(np.bincount(data.widths).argmax())
    if names and len(names) < usual and reach.max() <= len(names):
        usual = len(names)  # nothing but delimiters stands beyond the last name
    if names and len(names) == usual - 1 and (data.widths == usual).all() and _row_names(data.first):
        notes.append(note("the header has one name fewer than the rows have cells: the first column holds row names, "
                          "called 'row'", "warning"))  # fmt: skip
        names = ["row", *names]
    names = _without_blanks(names, usual, int(data.widths.max()), notes)
    width = max(len(names), usual)
    extra = _fit(data.widths, reach, data.lines, len(names), width, notes)
    names += [""] * (width - len(names))
    blank = [] if place.header is None else data.empty([j for j in range(width) if not names[j].strip()])
    if blank:
        notes.append(note("columns without name and content that are left out: {n}", n=len(blank)))
        names = [name for j, name in enumerate(names) if j not in set(blank)]
    names += ["extra"] * extra
    joined = None if not extra else " " if delimiter in ("", ALIGNED) else delimiter
    layout = Layout(tuple(unique_names(names, notes, header=place.header is not None)), width, tuple(blank), joined)
    return layout, data, False if place.header is None else int(grid.lines[place.header])


def _row_names(column: pd.Series) -> bool:
    """Whether cells could be the names of rows, as R writes them: none twice, and words or 1, 2, 3, …"""
    cells = column.str.strip()
    counted = any(all(cell == str(i) for i, cell in enumerate(cells, start)) for start in (0, 1))
    return bool(cells.is_unique) and (counted or not any(map(_value, cells)))


def _without_blanks(names: list[str], usual: int, most: int, notes: list[Note]) -> list[str]:
    """A header that is longer than every row, by the names in it that are empty: they are slips of the separator."""
    blank = [j for j, name in enumerate(names) if not name.strip()]
    if not blank or blank[0] >= usual or usual < most or len(names) - len(blank) != usual:
        return names
    notes.append(note("the header has {n} empty names more than any row has cells; they are left out: check whether "
                      "the names stand above their columns", "warning", n=len(blank)))  # fmt: skip
    return [name for name in names if name.strip()]


def _first_table(grid: R, header: int | Literal[False] | None, notes: list[Note]) -> R:
    """The grid up to where a second table begins."""
    above = 0 if not header else int(np.searchsorted(grid.lines, header))
    begin = second_table(grid.part(above))
    if begin is None:
        return grid
    begin += above
    line = int(grid.lines[begin])
    if (
        header is None
        and begin <= 5
        and len(grid.lines) - begin > 3 * begin
        and grid.lines[begin] - grid.lines[begin - 1] > 1
    ):
        return grid  # a few lines above the table: what is told of it, said where the table is placed
    notes.append(note("a second table seems to begin in line {line} ('{text}'): it is left out, with {n} lines",
                      "warning", line, line=line, text=_shown(grid, begin), n=len(grid.lines) - begin)
                 .offering(offer("Read the second table", "header", line), KEEP))  # fmt: skip
    return grid.part(0, begin, int(grid.widths[:begin].max()))


def _place(grid: Records, header: int | Literal[False] | None, trim: bool) -> TableLocation:
    """Where the table lies: as told, or as found; below a far smaller one, unless that is to be kept."""
    if header is None or header is False:
        place = locate(grid)
        if header is None and trim and (beneath := second_table(grid)) is not None:
            below = locate(grid.part(beneath))
            place = TableLocation(None if below.header is None else beneath + below.header, beneath + below.first,
                          tuple(beneath + i for i in below.units), doubtful=below.doubtful)  # fmt: skip
        if header is False:
            return TableLocation(None, place.first if place.header is None or place.lone else place.header)
        return place
    positions = np.flatnonzero(grid.lines == header)
    if not positions.size:
        raise ReadError("line {line} is empty or not in the file, so it cannot hold the column names", line=header)
    return TableLocation(int(positions[0]), int(positions[0]) + 1)


def _note_place(grid: Records, place: TableLocation, notes: list[Note]) -> None:
    top = place.first if place.header is None else place.header
    if top:
        line = int(grid.lines[0])
        notes.append(note("lines above the table (comments, titles) that are left out: {n}, from line {line}: '{text}'",
                          "info", line, n=top, line=line, text=_shown(grid, 0))
                     .offering(offer("Line {line} holds the names", "header", line, line=line)))  # fmt: skip
    if place.lone:
        line = int(grid.lines[top])
        notes.append(note("line {line} names only one column ('{text}'), and is taken as the header", "warning", line,
                          line=line, text=_shown(grid, top))
                     .offering(offer("It is a title: there are no names", "header", False)))  # fmt: skip
    if place.doubtful:
        line = int(grid.lines[top])
        notes.append(note("line {line} ('{text}') is taken for the names of the columns, but may be a row",
                          "warning" if any(map(is_number, _row(grid, top))) else "info", line, line=line,
                          text=_shown(grid, top))
                     .offering(offer("It is a row", "header", False)))  # fmt: skip
    for i in place.units:
        line = int(grid.lines[i])
        notes.append(note("line {line} is left out of the rows: it seems to hold units or a second header ('{text}'); "
                          "if it is data, choose header={header}", "warning", line, line=line, text=_shown(grid, i),
                          header=int(grid.lines[place.header or 0]))
                     .offering(offer("It is a row", "header", int(grid.lines[place.header or 0]))))  # fmt: skip


def rows_of(grid: R, place: TableLocation, notes: list[Note]) -> R:
    """The data records: without comments, empty ones at the end, a footer, and repetitions of the header."""
    first, last = place.first, len(grid.widths)
    usual = int(np.bincount(grid.widths[first:]).argmax()) if first < last else 1
    reach = grid.reach()
    last = _filled_end(grid, first, last)
    below = np.arange(len(grid.widths)) >= first
    remarks = below & ((reach == 1) | (grid.widths != usual))
    if usual >= 3 and remarks.any():
        begun = grid.first.str.startswith(COMMENT).to_numpy(dtype=bool)
        ordinary = begun & below & ~remarks  # rows may begin so: #1, #2
        remarks &= begun & ((grid.widths == 1) | (not ordinary.any()))
    if usual >= 3 and remarks.any() and not remarks[first:].all():
        lines = grid.lines[remarks]
        notes.append(_of_rows("comments between the rows that are left out: {n} (line {lines})", lines).offering(KEEP))
        last -= int(remarks[:last].sum())
        grid = grid.kept(~remarks)
    if first < last < len(grid.widths):
        notes.append(note("empty rows at the end that are left out: {n}", n=len(grid.widths) - last).offering(KEEP))
    elif last == first:  # nothing but empty rows is still a table
        last = len(grid.widths)
    end = _above_footer(grid, first, last, usual)
    end = _above_totals(grid, first, end, usual)
    if end < last:
        line = int(grid.lines[end])
        notes.append(note("lines below the table left out as a footer: {n}, from line {line}: '{text}'", "warning",
                          line, n=last - end, line=line, text=_shown(grid, end)).offering(KEEP))  # fmt: skip
        last = _filled_end(grid, first, end)
        if last < end:
            notes.append(note("empty rows at the end that are left out: {n}", n=end - last).offering(KEEP))
    data = grid.part(first, last)
    if place.header is None:
        return data
    names = _row(grid, place.header)
    if sum(name != "" for name in names) <= 1:
        return data
    again = data.like(names, data.first.eq(names[0]).to_numpy(dtype=bool))
    if not again.any():
        return data
    lines = data.lines[again]
    notes.append(note("the header is repeated on line {lines}: left out", "warning", int(lines[0]),
                      lines=lines_of(lines)).offering(KEEP))  # fmt: skip
    return data.kept(~again)


def _filled_end(grid: Records, first: int, last: int) -> int:
    """Where the records end above those of nothing: the first cell is empty, the others hold at most blanks."""
    begun = np.flatnonzero(grid.first.iloc[first:last].ne("").to_numpy(dtype=bool))
    least = first + (int(begun[-1]) + 1 if len(begun) else 0)
    candidates = np.arange(last - 1, least - 1, -1)
    filled = (i for i, row in _rows_at(grid, candidates[grid.reach()[candidates] > 0]) if any(map(str.strip, row)))
    return next(filled, least - 1) + 1


_REMARK = re.compile(r"[#†‡]|\*+ |\(.*\)$|[-=_]{3,}$")
"""How a line begins that is no row of the table above it."""
_LABEL = re.compile(r"[^\W\d][^:：]{0,30}(?:: |:$|：)")
"""How a line begins that tells of something: Source: …"""
_TOTAL = re.compile(
    r"(?:grand |sub-?)?totals?|sum|overall|average|avg\.?|mean|median|summe|gesamt|mittelwert|durchschnitt|"
    r"total général|somme|moyenne|suma|totale|media|promedio|итого|всего|среднее|合计|总计|小计|總計|合計|平均值?|均值",
    re.IGNORECASE,
)
"""What a row calls itself that sums up the rows above it."""


def _above_footer(grid: Records, first: int, last: int, usual: int) -> int:
    """Where the rows end above a few lines that are none of the table's: of fewer cells, with words where it has
    numbers, or set off by an empty line."""
    begin = max(first + 1, last - 20)
    if usual < 2 or begin >= last:
        return last
    rows = [[cell.strip() for cell in row] for row in _cut_rows(grid, begin, last)]
    filled = [sum(map(bool, row)) for row in rows]
    gaps = np.diff(grid.lines[begin - 1 : last]).tolist()
    set_off = [gap > 1 or (k > 0 and not filled[k - 1]) for k, gap in enumerate(gaps)]

    def above(k: int) -> list[str]:
        return [str(cell) for cell in grid.first.iloc[first : min(begin + k, first + 200)]]

    def apart(row: Sequence[str], cells_above: Sequence[str]) -> bool:
        """Whether a line behind an empty one holds words that are no cell of the first column, as it was told."""
        if _typed(cells_above):
            return bool(row[0]) and row[0] not in MISSING_AMONG_NUMBERS and not _value(row[0])
        return unlike(_LABEL, row[0], cells_above)

    def unlike(sign: re.Pattern[str], cell: str, cells_above: Sequence[str]) -> bool:
        """Whether a cell begins with a sign as no cell above it does."""
        return sign.match(cell) is not None and not any(map(sign.match, cells_above))

    def alone(k: int) -> bool:
        few = len(rows[k]) < usual and (not any(map(_value, rows[k])) or unlike(_LABEL, rows[k][0], above(k)))
        return bool(rows[k][0]) and (filled[k] == 1 or few)

    end = len(rows)
    for k in range(end - 1, -1, -1) if sum(set_off) <= max(len(rows) // 2, 1) else ():  # else every row is set off
        if set_off[k] and filled[k]:
            cells_above = above(k)
            if not all(
                n < usual and apart(row, cells_above) for row, n in zip(rows[k:end], filled[k:end], strict=True) if n
            ):
                break
            end = k
    footer = end
    while usual >= 3 and footer > 0 and alone(footer - 1):
        footer -= 1
    joined = footer < end and not set_off[footer] and not unlike(_REMARK, rows[footer][0], above(footer))
    if joined and (_value(rows[footer][0]) or not _typed(above(footer))):
        footer = end  # a word below words may be a row of which the rest is missing
    return begin + footer


def _above_totals(grid: Records, first: int, last: int, usual: int) -> int:
    """Where the rows end above those that call themselves their total or mean, in a column where no other does and with
    a cell left empty."""
    end = last
    while usual >= 3 and end > max(first + 3, last - 3):
        row = [cell.strip() for cell in _row(grid, end - 1)]
        first_filled = next((j for j, cell in enumerate(row) if cell), 0)
        if not _TOTAL.fullmatch(row[first_filled].rstrip(" :：")) or (
            "" not in row[first_filled:] and len(row) >= usual
        ):
            break
        end -= 1
    others = (str(cell).strip().rstrip(" :：") for cell in grid.first.iloc[first:end])
    return last if end < last and any(map(_TOTAL.fullmatch, others)) else end


def _beyond(data: Grid, width: int, mark: str) -> pd.Series:
    """What each row holds beyond `width` cells, as one text."""
    long = np.flatnonzero(data.widths > width)
    part = Grid(data.cells.iloc[long], data.widths[long], data.lines[long])
    extra = [mark.join(row[width:end]) for row, end in zip(part.rows(0, len(long)), part.reach(), strict=True)]
    column = pd.Series(extra, index=data.cells.index[long], dtype=object)
    return column.reindex(data.cells.index, fill_value="").rename(width)


def _fit(widths: NDArray[np.intp], reach: NDArray[np.intp], lines: NDArray[np.intp], named: int, width: int,
         notes: list[Note]) -> bool:  # fmt: skip
    """Says which rows have fewer or more cells than `width`; whether any has something beyond."""
    if named and named < width:
        notes.append(note("the header has {named} names for {width} columns; the others are called by their number",
                          "warning", named=named, width=width))  # fmt: skip
    short, long = widths < width, widths > width
    spare = long & (reach <= width)
    if short.all():
        notes.append(note("the header has {named} names, but no row has more than {cells} cells: the last columns are "
                          "empty", "warning", named=named, cells=int(widths.max())))  # fmt: skip
        short = np.zeros_like(short)
    if spare.all():
        notes.append(note("every row ends with a delimiter too many; nothing is lost"))
        return False
    if short.any():
        notes.append(_of_rows("rows with fewer fields than the header: {n} (line {lines}); the cells that are not "
                              "there are missing", lines[short]))  # fmt: skip
    if (long & ~spare).any():
        notes.append(_of_rows("rows with more fields than the header: {n} (line {lines}); what is beyond is in the "
                              "column 'extra': check whether these rows are shifted", lines[long]))  # fmt: skip
        return True
    if long.any():
        notes.append(_of_rows("rows with an empty cell too many: {n} (line {lines}); the one at the end is left out: "
                              "check whether these rows are shifted", lines[long]))  # fmt: skip
    return False


def _of_rows(template: str, lines: NDArray[np.intp]) -> Note:
    """A warning of the rows in these lines."""
    return note(template, "warning", int(lines[0]), n=len(lines), lines=lines_of(lines))


def _shown(grid: Records, i: int) -> str:
    text = " ".join(cell for cell in _row(grid, i) if cell)
    return text if len(text) <= 60 else text[:59] + "…"


# ---- where the table lies --------------------------------------------------------------------------------------------


class TableLocation(NamedTuple):
    """Where the table lies in its grid: positions of records. `header` None: there are no names; `units` are rows
    between names and data that hold no data; `lone` whether the header is one name beside blanks, perhaps a title;
    `doubtful` whether it may be a row: numbers, or words above words that tell nothing."""

    header: int | None
    first: int
    units: tuple[int, ...] = ()
    lone: bool = False
    doubtful: bool = False


def locate(grid: Records) -> TableLocation:
    """Header and first data row, below comments, titles and notes.

    >>> from bayes_engine.table.dialect import Dialect, tokenize
    >>> locate(tokenize("Sales 2024\\n\\nsize,city\\ncm,\\n1.5,Oslo\\n2.5,Rome\\n", Dialect()))
    TableLocation(header=1, first=3, units=(2,), lone=False, doubtful=False)
    """
    widths = grid.widths
    uncommented = ~grid.first.str.lstrip().str.startswith(COMMENT).to_numpy(dtype=bool)
    usual = int(np.bincount(widths[uncommented] if uncommented.any() else widths).argmax())
    head = grid.rows(0, min(_at_once(grid), 200))
    filled = [sum(cell.strip() != "" for cell in row) for row in head]
    need = max(min(usual, 2), int(np.median(filled)) // 2)
    k = next((i for i in range(len(head)) if widths[i] == usual and filled[i] >= need and not _comment(head[i])), 0)
    below = [row for i, row in enumerate(head) if i > k and widths[i] == usual]
    votes = _votes(head[k], below, usual)
    above = next((i for i in range(k - 1, -1, -1) if filled[i] >= min(usual, 2) and _names(head[i])), None)
    if above is not None and above == k - 1 and votes <= 0 and (votes < 0 or abs(int(widths[above]) - usual) <= 1):
        header: int | None = above if not _comment(head[above]) or widths[above] == usual else None
    elif above is None and votes < 0 and _lone_name(grid, head[:k], usual):
        return TableLocation(k - 1, k, lone=True)
    else:
        header = k if votes > 0 or (votes == 0 and _names(head[k])) else None
    if header is None:
        return TableLocation(None, k)
    if any(not cell.strip() for cell in head[header][:usual]) and header + 2 < len(head):
        nearer = head[header + 1]  # names over several columns, then the names of each: the second row is the header
        if all(cell.strip() for cell in nearer[:usual]) and _names(nearer) and _votes(nearer, below[1:], usual) > 0:
            header += 1
    first = header + 1
    while first - header <= 3 and first + 1 < len(head) and _units(head[first], head[first + 1 :], usual):
        first += 1
    names = [cell for cell in head[header][:usual] if cell.strip()]
    doubtful = header == k == first - 1 and (votes == 0 or (len(names) > 1 and all(map(is_number, names))))
    return TableLocation(header, first, tuple(range(header + 1, first)), doubtful=doubtful)


def _lone_name(grid: Records, top: Sequence[Sequence[str]], usual: int) -> bool:
    """Whether of what stands above rows of data the last line names one of their columns and leaves the others blank: a
    short word right above them, where no other line (but comments) is one of the table's."""
    if not top or grid.lines[len(top)] - grid.lines[len(top) - 1] > 1:
        return False
    cell = max(top[-1], key=len).strip()
    others = [row for row, width in zip(top[:-1], grid.widths, strict=False) if width == usual and not _comment(row)]
    return (grid.widths[len(top) - 1] == usual > 1 and not others and _names(top[-1]) and not _comment(top[-1])
            and len(cell.split()) <= 3)  # fmt: skip


def second_table(grid: Records) -> int | None:
    """The position of the record with which another table begins: one that repeats most of the first one's names in a
    row of another width, or names that follow an empty line, above columns of values that agree with them in width.

    >>> from bayes_engine.table.dialect import Dialect, tokenize
    >>> second_table(tokenize("a,b\\n1,2\\n3,4\\n\\nsize,city,n\\n1,Oslo,2\\n3,Rome,4\\n5,Bonn,6\\n", Dialect()))
    3
    """
    n = len(grid.widths)
    wide = ((i, _row(grid, i)) for i in range(min(n, 20)) if grid.widths[i] > 1)
    start, names = next(((i, row) for i, row in wide if _names(row)), (n, []))
    if start == n:
        return None
    width = int(grid.widths[start])
    again = np.flatnonzero(grid.first.eq(names[0]).to_numpy(dtype=bool) & (grid.widths != width))
    after_gap = np.flatnonzero(np.diff(grid.lines, prepend=grid.lines[0]) > 1)
    candidates = np.union1d(again, after_gap[:100])
    for i, row in _rows_at(
        grid, candidates[(candidates >= start + 2) & (candidates <= n - 2) & (grid.widths[candidates] > 1)]
    ):
        pairs = [(a, b) for a, b in zip(names, row, strict=False) if b.strip()]
        if (
            grid.widths[i] != width
            and len(pairs) > 1
            and 2 * sum(a == b for a, b in pairs) > max(len(pairs), width - 1)
        ):
            return i
        padded = len(row) == width and not row[-1].strip()  # all rows of a spreadsheet are as wide as the widest
        if padded:
            row = row[: max((j for j, cell in enumerate(row, 1) if cell.strip()), default=0)]
        if i > n - 4 or not _names(row) or not all(cell.strip() for cell in row) or row == names:
            continue
        below_it = grid.part(i + 1, i + 200)
        fits = below_it.reach() <= len(row) if padded else below_it.widths == len(row)
        if grid.lines[i] - grid.lines[i - 1] > 1 and fits.all():
            below = [r[: len(row)] for r in grid.rows(i + 1, i + 200)]
            votes = _votes(row, below, len(row))
            if votes >= 1 and (len(row) != width or votes >= len(row) / 2):
                return i
    return None


def _row(grid: Records, i: int) -> list[str]:
    return _cut_rows(grid, i, i + 1)[0]


def _cut_rows(grid: Records, first: int, last: int) -> list[list[str]]:
    """The records from one position up to another, each with no more cells than it has."""
    return [row[:width] for row, width in zip(grid.rows(first, last), grid.widths[first:last], strict=True)]


def _rows_at(grid: R, positions: NDArray[np.intp]) -> Iterator[tuple[int, list[str]]]:
    """These records with their positions, which rise or fall, read many at once."""
    step = _at_once(grid)
    for some in (positions[k : k + step] for k in range(0, len(positions), step)):
        which = np.zeros(len(grid.widths), dtype=bool)
        which[some] = True
        part = grid.kept(which)
        rows = _cut_rows(part, 0, len(some))
        yield from zip(map(int, some), rows if some[0] < some[-1] else reversed(rows), strict=True)


def _at_once(grid: Records) -> int:
    """How many records are read at once."""
    return max(_SEEN // max(grid.columns, 1), 20)


def _comment(row: Sequence[str]) -> bool:
    return row[0].lstrip().startswith(COMMENT)


def _value(cell: str) -> bool:
    """True for what is a value rather than a name."""
    return is_number(cell) or DATE.fullmatch(cell.strip()) is not None


def _names(row: Sequence[str]) -> bool:
    """True where a row could be names: some text, no value, nothing twice."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and not any(map(_value, cells)) and len(set(cells)) == len(cells)


def _typed(column: Sequence[str]) -> bool:
    known = [cell for cell in column if cell.strip() not in MISSING_AMONG_NUMBERS]
    return bool(known) and sum(map(_value, known)) >= 0.8 * len(known)


def _votes(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> float:
    """> 0 where `row` differs in kind from the columns below it, < 0 where it is like them."""
    if not below:
        return 0.0
    cells = [cell.strip() for cell in row[:usual]]
    years = [int(c) for c in cells if re.fullmatch(r"\d{1,4}", c)]
    if len(years) >= 3 and years == list(range(years[0], years[0] + len(years))):
        first_word = next((j for j, c in enumerate(cells) if c and not _value(c)), None)
        if first_word == 0 or (
            first_word is not None
            and years[0] >= 1000
            and cells[first_word] not in {r[first_word].strip() for r in below}
        ):
            return 1.0  # country, 2019, 2020, 2021
    if _numbered(cells):
        columns = [(c, {r[j].strip() for r in below} - {""}) for j, c in enumerate(cells) if c]
        above_words = any(c.isdecimal() and values and not any(map(_value, values)) for c, values in columns)
        if above_words or not any(c in values for c, values in columns):
            return 1.0
    below = _but_for_repetitions(cells, below)
    votes = 0.0
    numbers: list[tuple[str, list[str]]] = []
    for j, cell in enumerate(cells):
        column = [r[j].strip() if j < len(r) else "" for r in below]
        if _typed(column):
            if cell in MISSING_AMONG_NUMBERS:
                continue
            if _value(cell) and not _day_above(cell, column):
                numbers.append((cell, column))
            else:
                votes += 1.0
        elif cell and cell in column:
            votes -= 0.5
        elif cell and len(column) >= 6 and len(set(column)) <= len(column) / 3:
            votes += 0.5
    return votes + (_votes_of_numbers(cells, numbers, below) if votes >= 0 else -float(len(numbers)))


def _but_for_repetitions(cells: Sequence[str], below: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The rows without those that repeat this one, where that sets it apart as a header that was written again: hardly
    another row stands twice, or its words stand in no other row, as those of most others do."""
    others = [row for row in below if [cell.strip() for cell in row[: len(cells)]] != list(cells)]
    if len(others) == len(below) or len(others) < 6:
        return below
    times = Counter(map(tuple, others))
    if len(times) >= 0.9 * len(others):
        return others
    columns = [Counter(row[j].strip() if j < len(row) else "" for row in others) for j in range(len(cells))]
    alone = sum(
        all(column[cell.strip()] == n for cell, column in zip(row, columns, strict=False)) for row, n in times.items()
    )
    known = any(cell in column for cell, column in zip(cells, columns, strict=True))
    return below if known or alone > 0.1 * len(times) else others


def _votes_of_numbers(
    cells: Sequence[str], numbers: Sequence[tuple[str, Sequence[str]]], below: Sequence[Sequence[str]]
) -> float:
    """The votes of the cells of a row that are numbers above columns of numbers. They are names where each is unlike
    its column (written without the decimals that all cells there have, or far outside their range), or where they are
    steps of one size as no row below has them and hardly one of them occurs in its column; else they are data."""
    against = -float(len(numbers))
    columns = [[cell for cell in column if cell not in MISSING_AMONG_NUMBERS] for _, column in numbers]
    known = [cell for cell in cells if cell]
    read = [_read(cell) for cell, _ in numbers]
    if not numbers or len(set(known)) < len(known) or min(map(len, columns)) < 5 or None in read:
        return against
    far = [_far(x, column) for x, column in zip(read, columns, strict=True) if x is not None]
    digits = [_decimals(column) if "." not in cell else 0 for (cell, _), column in zip(numbers, columns, strict=True)]
    bare = sum(d for d, away in zip(digits, far, strict=True) if not away)
    if all(d or away for d, away in zip(digits, far, strict=True)) and (any(far) or bare >= 2):
        return float(len(numbers))
    chance = 1.0
    for (cell, _), column in zip(numbers, columns, strict=True):
        counts_on = cell.isdecimal() and column[:2] == [str(int(cell) + 1), str(int(cell) + 2)]
        chance *= 1.0 if counts_on else (1 + column.count(cell)) / (1 + len(column))
    step = _step(read)
    rows = [_step([_read(row[j]) if j < len(row) else None for j, c in enumerate(cells) if _value(c)]) for row in below]
    rare = step is not None and sum(s is not None for s in rows) <= 0.05 * len(rows)
    return 1.0 if rare and chance < 2e-3 else against


def _read(cell: str) -> float | None:
    """A cell's number, whose point is the decimal mark where nothing else is certain; None of none."""
    try:
        return pointed(cell.strip())
    except ValueError:  # 1.234.567,8
        return None


def _far(x: float, column: Sequence[str]) -> bool:
    """Whether a number lies further from those of a column than they do from one another."""
    values = [v for v in map(_read, column) if v is not None]
    if len(values) < 5:
        return False
    least, most = min(values), max(values)
    return x < 2 * least - most or x > 2 * most - least


def _decimals(column: Sequence[str]) -> int:
    """How many decimals all cells of a column have at least, 0 where the writer may drop those that are 0: where one
    has none, or, in a short column, not all are as many."""
    digits = {len(cell.rpartition(".")[2]) if "." in cell else 0 for cell in column}
    return min(digits) if len(digits) == 1 or len(column) >= 30 else 0


def _step(numbers: Sequence[float | None]) -> float | None:
    """The one difference of neighbours among three numbers or more, None where there is none."""
    known = [x for x in numbers if x is not None]
    steps = {round(b - a, 9) for a, b in pairwise(known)}
    return steps.pop() if len(known) == len(numbers) >= 3 and len(steps) == 1 and 0.0 not in steps else None


def _day_above(cell: str, column: Sequence[str]) -> bool:
    """Whether a date stands above numbers, as the name of what was counted that day."""
    return DATE.fullmatch(cell) is not None and not any(map(DATE.fullmatch, column))


def _numbered(cells: Sequence[str]) -> bool:
    """Whether the cells are the numbers of their columns from 0 or 1, as a program writes them that has no names, with
    at most a name or two behind them and one blank before: 0, 1, 2, label."""
    counted = list(cells[1 if cells and not cells[0] else 0 :])
    n = next((j for j, c in enumerate(counted) if not c.isdecimal()), len(counted))
    steps = [str(j) for j in range(n)], [str(j + 1) for j in range(n)]
    return n >= 3 and n >= len(counted) - 2 and counted[:n] in steps and not any(map(_value, counted[n:]))


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
    filled = [cell for cell in over if cell]
    if not filled or any(_value(c) or c in MISSING_AMONG_NUMBERS or len(c) > 16 for c in filled):
        return False
    return len(filled) > 1 or not any(beside)


# ---- names -----------------------------------------------------------------------------------------------------------


def unique_names(names: Sequence[str], notes: list[Note], header: bool = True) -> list[str]:
    """Column names without invisible characters, in one Unicode form, none empty, none twice.

    >>> unique_names(["a", "", "a", "e\\u0301"], []) == ["a", "column_2", "a_2", "\\u00e9"]
    True
    """
    trimmed = [name.strip() for name in names if name.strip() != name and name.strip()]
    if trimmed:
        notes.append(note("spaces around column names that are left out: {columns}", columns=listed(trimmed)))
    taken: set[str] = set()
    given = set(names)
    following: dict[str, int] = {}  # the number to try next: n equal names take n steps, not n²
    result: list[str] = []
    for j, original in enumerate(names, start=1):
        plain = original.strip()
        seen = INVISIBLE.sub("", plain)
        if seen.isascii() is False and re.sub("[\u200c\u200d]", "", seen).isascii():
            seen = re.sub("[\u200c\u200d]", "", seen)  # joiners mean something in Persian or Hindi, not in ASCII
        seen = unicodedata.normalize("NFC", seen.replace("\u00a0", " ")).strip()
        if seen != plain:
            notes.append(note("the name of column {number}, '{column}', held invisible characters or unusual forms of "
                              "letters; they are replaced, so that other files match", "warning", number=j,
                              column=seen))  # fmt: skip
        if len(seen) > MAX_NAME:
            seen = seen[:MAX_NAME]
            notes.append(note("the name of column {number} is longer than {most} characters and was cut: '{column}'",
                              "warning", number=j, most=MAX_NAME, column=seen))  # fmt: skip
        unique = seen or f"column_{j}"
        if unique in taken:
            base = seen or "column"
            k = following.get(base, 2)
            while (unique := f"{base}_{k}") in taken or unique in given:
                k += 1
            following[base] = k + 1
        if header and not seen:
            notes.append(note("column {number} has no name: it is called '{column}'", "warning", number=j,
                              column=unique))  # fmt: skip
        elif unique != seen and seen:
            notes.append(note("two columns have the same name '{name}' (or one that looks the same); column {number} "
                              "is called '{column}'", "warning", name=seen, number=j, column=unique))  # fmt: skip
        taken.add(unique)
        result.append(unique)
    alike: dict[str, list[str]] = {}
    for name in result:
        alike.setdefault(unicodedata.normalize("NFKC", name).casefold(), []).append(name)
    notes += [note("the column names {columns} differ only in case or width; they are different columns", "warning",
                   columns=listed(group)) for group in alike.values() if len(group) > 1]  # fmt: skip
    shapes: dict[str, list[str]] = {}
    for name in alike:
        shapes.setdefault(name.translate(LOOK_ALIKE), []).append(alike[name][0])
    notes += [note("the column names {columns} look the same, but are written with letters of different scripts; they "
                   "are different columns", "warning", columns=listed(group))
              for group in shapes.values() if len(group) > 1]  # fmt: skip
    return result
