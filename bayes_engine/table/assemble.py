"""Grid → table of text: the header found, rows that are no data left out, one column for every name.

Nothing is dropped in silence: every line, column or cell that is left out, added or renamed has its note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.dataframes import as_strings
from bayes_engine.table.grid import Grid, R, Records, row_at, rows_at, rows_between
from bayes_engine.table.header import COMMENT, TableLocation, is_typed, is_value, locate
from bayes_engine.table.next_table import second_table
from bayes_engine.table.notes import KEEP, Note, lines_of, note, offer
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, is_number
from bayes_engine.table.tokenize import ALIGNED
from bayes_engine.table.totals import shown, without_totals


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
    usual = int(np.bincount(data.widths).argmax())
    names = _uncommented(place.names(grid), usual, bool(place.top) or delimiter not in (",", ";"), notes)
    if place.header is None and header is None:
        notes.append(note("no header was found: the first row is data, and the columns are called column_1, column_2, "
                          "…", "warning", int(data.lines[0]))
                     .offering(offer("The first row holds the names", "header", int(data.lines[0]))))  # fmt: skip
    if names and len(names) < usual and reach.max() <= len(names):
        usual = len(names)  # nothing but delimiters stands beyond the last name
    if names and len(names) == usual - 1 and (data.widths == usual).all() and _row_names(data.first):
        notes.append(note("the header has one name fewer than the rows have cells: the first column holds row names, "
                          "called 'row'", "warning"))  # fmt: skip
        names = ["row", *names]
    elif len(names) > 1 and delimiter == ALIGNED and not names[0].strip() and _row_names(data.first):
        notes.append(note("the first column has no name and holds row names: it is called 'row'"))
        names = ["row", *names[1:]]
    names = _without_blanks(names, usual, int(data.widths.max()), notes)
    width = max(len(names), usual)
    extra = _fit(data.widths, reach, data.lines, len(names), width, notes)
    names += [""] * (width - len(names))
    blank = [] if place.header is None else data.empty([j for j in range(width) if not names[j].strip()])
    if blank:
        notes.append(note("empty columns without a name that are left out: {n}", n=len(blank)))
        if trim and isinstance(data, Grid):
            blank = sorted({*blank, *_beside(data, names, blank, notes)})
        names = [name for j, name in enumerate(names) if j not in set(blank)]
    if trim and delimiter == "" and (gaps := _gaps(grid, data)):
        notes.append(note("empty rows between the others that are left out: {n}", n=gaps))
    names += ["extra"] * extra
    joined = None if not extra else " " if delimiter in ("", ALIGNED) else delimiter
    layout = Layout(tuple(unique_names(names, notes, header=place.header is not None)), width, tuple(blank), joined)
    return layout, data, False if place.header is None else int(grid.lines[place.header])


def _uncommented(names: list[str], usual: int, is_told: bool, notes: list[Note]) -> list[str]:
    """Names of columns without the sign of a comment before the first, where the lines above or the delimiter tell that
    it is none of its name, or a blank follows it, or it is a cell too many."""
    if names[:1] == ["#"] and len(names) == usual + 1:
        notes.append(note("the sign '#' before the names of the columns is left out"))
        return names[1:]
    match = re.match(r"\s*#(\s*)(?=[^\W\d])", names[0]) if len(names) > 1 else None
    if match is None or any(name.lstrip().startswith("#") for name in names[1:]) or not (is_told or match[1]):
        return names
    notes.append(note("the sign '#' before the names of the columns is left out"))
    return [names[0][match.end() :], *names[1:]]


def _row_names(column: pd.Series) -> bool:
    """Whether cells could be the names of rows, as R writes them: none twice, and words or 1, 2, 3, …"""
    cells = column.str.strip()
    counted = any(all(cell == str(i) for i, cell in enumerate(cells, start)) for start in (0, 1))
    return bool(cells.is_unique) and (counted or not any(map(is_value, cells)))


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
                      "warning", line, line=line, text=shown(grid, begin), n=len(grid.lines) - begin)
                 .offering(offer("Read the second table", "header", line), KEEP))  # fmt: skip
    return grid.part(0, begin, int(grid.widths[:begin].max()))


def _place(grid: Records, header: int | Literal[False] | None, trim: bool) -> TableLocation:
    """Where the table lies: as told, or as found; below a far smaller one, unless that is to be kept."""
    if header is None or header is False:
        place = locate(grid)
        if header is None and trim and (beneath := second_table(grid)) is not None:
            place = locate(grid.part(beneath)).below(beneath)
        if header is False:
            return TableLocation(None, place.first if place.header is None or place.lone else place.header)
        return place
    positions = np.flatnonzero(grid.lines == header)
    if not positions.size:
        raise ReadError("line {line} is empty or not in the file, so it cannot hold the column names", line=header)
    return TableLocation(int(positions[0]), int(positions[0]) + 1)


_UNITS = 3
"""More lines of units than these are told together."""


def _note_place(grid: Records, place: TableLocation, notes: list[Note]) -> None:
    top = place.top
    if top:
        line = int(grid.lines[0])
        notes.append(note("lines above the table (comments, titles) that are left out: {n}, from line {line}: '{text}'",
                          "info", line, n=top, line=line, text=shown(grid, 0))
                     .offering(offer("Line {line} holds the names", "header", line, line=line)))  # fmt: skip
    if place.over and place.header is not None:
        line, names = int(grid.lines[place.header]), place.names(grid)
        joined = next(
            (name for name, own in zip(names, row_at(grid, place.header), strict=True) if own.strip() and name != own),
            "",
        )
        notes.append(note("the names of the columns stand in lines {lines}, and are put together ('{name}')", "info",
                          line, lines=lines_of(grid.lines[[*place.over, place.header]]), name=joined)
                     .offering(offer("Line {line} holds the names", "header", line, line=line)))  # fmt: skip
    if place.lone:
        line = int(grid.lines[top])
        notes.append(note("line {line} names only one column ('{text}'), and is taken as the header", "warning", line,
                          line=line, text=shown(grid, top))
                     .offering(offer("It is a title: there are no names", "header", False)))  # fmt: skip
    if place.doubtful:
        line = int(grid.lines[top])
        notes.append(note("line {line} ('{text}') is taken for the names of the columns, but may be a row",
                          "warning" if any(map(is_number, row_at(grid, top))) else "info", line, line=line,
                          text=shown(grid, top))
                     .offering(offer("It is a row", "header", False)))  # fmt: skip
    if len(place.units) > _UNITS:
        line = int(grid.lines[place.units[0]])
        notes.append(note("lines below the names that are left out of the rows, as they tell of the columns: {n}, from "
                          "line {line}: '{text}'", "warning", line, n=len(place.units), line=line,
                          text=shown(grid, place.units[0]))
                     .offering(offer("They are rows", "header", int(grid.lines[place.header or 0]))))  # fmt: skip
    for i in place.units if len(place.units) <= _UNITS else ():
        line = int(grid.lines[i])
        notes.append(note("line {line} is left out of the rows: it seems to hold units or a second header ('{text}'); "
                          "if it is data, choose header={header}", "warning", line, line=line, text=shown(grid, i),
                          header=int(grid.lines[place.header or 0]))
                     .offering(offer("It is a row", "header", int(grid.lines[place.header or 0]))))  # fmt: skip


def rows_of(grid: R, place: TableLocation, notes: list[Note]) -> R:
    """The data records: without comments, empty ones at the end, a footer, and repetitions of the header."""
    first, last = place.first, len(grid.widths)
    usual = int(np.bincount(grid.widths[first:]).argmax()) if first < last else 1
    reach = grid.reach()
    last = _filled_end(grid, first, last)
    drawn = _drawn(grid, first, last)
    if drawn.any() and not drawn[first:last].all():
        lines = grid.lines[drawn]
        notes.append(note("lines drawn with '{text}' that are left out: {n}", "info", int(lines[0]), n=len(lines),
                          text=shown(grid, int(np.flatnonzero(drawn)[0]))[:12]).offering(KEEP))  # fmt: skip
        last -= int(drawn[:last].sum())
        grid, reach = grid.kept(~drawn), reach[~drawn]
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
    if end < last:
        end = _filled_end(grid, first, end)
    first, end, subtotals = without_totals(grid, first, end, usual, notes)
    if end < last:
        line = int(grid.lines[end])
        notes.append(note("lines below the table left out as a footer: {n}, from line {line}: '{text}'", "warning",
                          line, n=last - end, line=line, text=shown(grid, end)).offering(KEEP))  # fmt: skip
        last = _filled_end(grid, first, end)
        if last < end:
            notes.append(note("empty rows at the end that are left out: {n}", n=end - last).offering(KEEP))
    data = grid.part(first, last)
    if len(subtotals):
        data = data.kept(~np.isin(np.arange(first, last), subtotals))
    if place.header is None:
        return data
    names = row_at(grid, place.header)
    if sum(name != "" for name in names) <= 1:
        return data
    again = data.like(names, data.first.eq(names[0]).to_numpy(dtype=bool))
    if again.any():  # with the titles above it
        for i in range(max(place.top - 5, 0), place.top):
            title = row_at(grid, i)
            again |= data.like(title, data.first.eq(title[0]).to_numpy(dtype=bool))
    if not again.any():
        return data
    lines = data.lines[again]
    notes.append(note("the header is repeated on line {lines}: left out", "warning", int(lines[0]),
                      lines=lines_of(lines)).offering(KEEP))  # fmt: skip
    return data.kept(~again)


_DRAWN = ("--", "==", "__", "──", "══", "━━")
_DASHES = re.compile(r"(?:-|=|_|─|═|━)++")


def _drawn(grid: Records, first: int, last: int) -> NDArray[np.bool_]:
    """Which records are lines drawn between the others: in a table of several columns one of dashes and nothing else,
    three at least in each cell; or right below the names as many as are needed."""
    drawn = np.zeros(len(grid.widths), dtype=bool)
    if grid.columns < 2:
        return drawn
    begun = grid.first.iloc[first:last].str.startswith(_DRAWN).to_numpy(dtype=bool, copy=True)
    begun[:1] = True
    for i, row in rows_at(grid, np.flatnonzero(begun) + first):
        cells = [cell.strip() for cell in row if cell.strip()]
        if cells and all(map(_DASHES.fullmatch, cells)):
            longest, shortest = max(map(len, cells)), min(map(len, cells))
            whole = len(cells) == 1 or len(cells) == len(row)
            drawn[i] = (whole and shortest >= 3) or (i == first and len(cells) > 1 and longest >= 3)
    return drawn


def _filled_end(grid: Records, first: int, last: int) -> int:
    """Where the records end above those of nothing: the first cell is empty, the others hold at most blanks."""
    begun = np.flatnonzero(grid.first.iloc[first:last].ne("").to_numpy(dtype=bool))
    least = first + (int(begun[-1]) + 1 if len(begun) else 0)
    candidates = np.arange(last - 1, least - 1, -1)
    filled = (i for i, row in rows_at(grid, candidates[grid.reach()[candidates] > 0]) if any(map(str.strip, row)))
    return next(filled, least - 1) + 1


_REMARK = re.compile(r"(?i:end|eof|trailer|end of \w.*)$|\d{1,2}\) |[¹²³⁴⁵⁶]\)? ?\w|[#!†‡]|\*+ |\(.*\)$|[-=_]{3,}$")
"""How a line begins that is no row of the table above it."""
_LABEL = re.compile(r"[^\W\d][^:：]{0,30}(?:: |:$|：)")
"""How a line begins that tells of something: Source: …"""


def _above_footer(grid: Records, first: int, last: int, usual: int) -> int:
    """Where the rows end above a few lines that are none of the table's: of fewer cells, with words where it has
    numbers, or set off by an empty line."""
    begin = max(first + 1, last - 20)
    if usual < 2 or begin >= last:
        return last
    edge = int(grid.first.iloc[first:last].eq("").all())  # of a table with a line around it
    usual -= edge
    rows = [[cell.strip() for cell in row[edge:]] for row in rows_between(grid, begin, last)]
    filled = [sum(map(bool, row)) for row in rows]
    gaps = np.diff(grid.lines[begin - 1 : last]).tolist()
    set_off = [gap > 1 or (k > 0 and not filled[k - 1]) for k, gap in enumerate(gaps)]

    def above(k: int) -> list[str]:
        end = min(begin + k, first + 200)
        return list(map(str, grid.first.iloc[first:end])) if not edge else [row[1] for row in grid.rows(first, end)]

    def apart(row: Sequence[str], cells_above: Sequence[str]) -> bool:
        """Whether a line behind an empty one holds words that are no cell of the first column, as it was told."""
        if is_typed(cells_above):
            return bool(row[0]) and row[0] not in MISSING_AMONG_NUMBERS and not is_value(row[0])
        return unlike(_LABEL, row[0], cells_above)

    def unlike(sign: re.Pattern[str], cell: str, cells_above: Sequence[str]) -> bool:
        """Whether a cell begins with a sign as no cell above it does."""
        return sign.match(cell) is not None and not any(map(sign.match, cells_above))

    def alone(k: int) -> bool:
        few = len(rows[k]) < usual and (not any(map(is_value, rows[k])) or unlike(_LABEL, rows[k][0], above(k)))
        return any(rows[k][:1]) and (filled[k] == 1 or few)

    end = len(rows)
    if (
        usual >= 3
        and filled[-1] == 2
        and _counts_rows(rows[-1], last - 1 - first)
        and rows[-1][0] not in above(end - 1)
    ):
        return last - 1
    for k in range(end - 1, -1, -1) if sum(set_off) <= max(len(rows) // 2, 1) else ():  # else every row is set off
        if set_off[k] and filled[k]:
            cells_above = above(k)
            if not all(
                n < usual and apart(row, cells_above) for row, n in zip(rows[k:end], filled[k:end], strict=True) if n
            ):
                break
            end = k
    footer = end
    while footer > 0 and (
        alone(footer - 1)
        if usual >= 3
        else len(rows[footer - 1]) < usual and unlike(_REMARK, rows[footer - 1][0], above(footer - 1))
    ):
        footer -= 1
    if footer < end and not set_off[footer] and not unlike(_REMARK, rows[footer][0], above(footer)):
        cells_above = above(footer)
        levels = set(cells_above) if 3 * len(set(cells_above)) <= len(cells_above) else None
        stranger = filled[footer] == 1 and (unlike(_LABEL, rows[footer][0], cells_above) or (
            levels is not None and rows[footer][0] not in levels))  # fmt: skip
        if is_value(rows[footer][0]) or not (is_typed(cells_above) or stranger):
            footer = end  # a word below words may be a row of which the rest is missing
    return begin + footer


def _beside(data: Grid, names: Sequence[str], blank: Sequence[int], notes: list[Note]) -> list[int]:
    """The columns behind an empty one that are none of the table's: a smaller table beside it, which ends in its first
    half, or a remark in a cell or two."""
    for j in blank:
        right = [k for k in range(j + 1, len(names)) if k not in blank]
        if not right or sum(1 for name in names[:j] if name.strip()) < 2:
            continue
        filled = data.cells[right].apply(lambda column: column.str.strip().ne("")).any(axis=1).to_numpy(dtype=bool)
        n = int(filled.sum())
        named = [names[k] for k in right if names[k].strip()]
        apart = len(named) > 1 and bool(filled[:n].all()) and 2 * n <= len(filled)
        if apart or (not named and n <= len(filled) // 8):
            cells = named or [str(c) for k in right for c in data.cells[k] if str(c).strip()]
            notes.append(note("behind an empty column, something else stands beside the table: it is left out, with "
                              "{n} columns ('{text}')", "warning", n=len(right), text=" ".join(cells)[:40])
                         .offering(KEEP))  # fmt: skip
            return right
    return []


def _gaps(grid: Records, data: Records) -> int:
    """How many empty lines there are between the first row of the data and the last."""
    begin, end = int(data.lines[0]), int(data.lines[-1])
    return end - begin + 1 - int(((grid.lines >= begin) & (grid.lines <= end)).sum())


def _counts_rows(row: Sequence[str], n: int) -> bool:
    """Whether a row says with a word how many rows stand above it, itself and the names perhaps among them."""
    word, *numbers = filter(None, row)
    return row[0] == word and not is_value(word) and numbers[0] in (str(n), str(n + 1), str(n + 2))


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
