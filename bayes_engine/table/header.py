"""Where the table lies among the records of a file: which of them holds the names of its columns, if any does, and
which is the first row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayes_engine.table.date_forms import DATE
from bayes_engine.table.grid import Records, at_once, row_at
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, are_plain, is_number, means_missing, pointed

COMMENT = ("#", "%", "//", "!")


class TableLocation(NamedTuple):
    """Where the table lies in its grid: positions of records. `header` None: there are no names; `units` are rows
    between names and data that hold no data; `over` are rows whose names stand over several of the header's columns
    each; `lone` whether the header is one name beside blanks, perhaps a title;
    `doubtful` whether it may be a row: numbers, or words above words that tell nothing."""

    header: int | None
    first: int
    units: tuple[int, ...] = ()
    lone: bool = False
    doubtful: bool = False
    over: tuple[int, ...] = ()

    @property
    def top(self) -> int:
        """Where it begins, with its names."""
        return self.over[0] if self.over else self.first if self.header is None else self.header

    def below(self, rows: int) -> TableLocation:
        """The same under so many other records."""
        return self._replace(
            header=None if self.header is None else rows + self.header, first=rows + self.first,
            units=tuple(rows + i for i in self.units), over=tuple(rows + i for i in self.over),
        )  # fmt: skip

    def names(self, grid: Records) -> list[str]:
        """The names of the columns, with those that stand over several of them before."""
        if self.header is None:
            return []
        names = row_at(grid, self.header)
        names = _told(names) or names
        for i in reversed(self.over):
            names = _joined(row_at(grid, i), names)
        return names


def locate(grid: Records) -> TableLocation:
    """Header and first data row, below comments, titles and notes.

    >>> from bayes_engine.table.tokenize import Dialect, tokenize
    >>> locate(tokenize("Sales 2024\\n\\nsize,city\\ncm,\\n1.5,Oslo\\n2.5,Rome\\n", Dialect()))
    TableLocation(header=1, first=3, units=(2,), lone=False, doubtful=False, over=())
    """
    widths = grid.widths
    uncommented = ~grid.first.str.lstrip().str.startswith(COMMENT).to_numpy(dtype=bool)
    usual = int(np.bincount(widths[uncommented] if uncommented.any() else widths).argmax())
    head = grid.rows(0, min(at_once(grid), 200))
    filled = [sum(cell.strip() != "" for cell in row) for row in head]
    need = max(min(usual, 2), int(np.median(filled)) // 2)

    def title(i: int) -> bool:
        """Whether a record has fewer cells than most and an empty line or record behind it, as what is told above."""
        few = filled[i] < np.median(filled) and i + 1 < len(head)
        return bool(few and (not filled[i + 1] or grid.lines[i + 1] - grid.lines[i] > 1))

    full = (i for i in range(len(head)) if widths[i] == usual and filled[i] >= need and not _comment(head[i]))
    k = next((i for i in full if not title(i)), 0)
    if (named_line := _told_above(grid, head[:k], usual)) is not None:
        return TableLocation(named_line, k, tuple(range(named_line + 1, k)))
    below = [row for i, row in enumerate(head) if i > k and widths[i] == usual]
    if lines := _lines_of_names(head[k:], usual):
        first = _below_units(head, k + lines, usual)
        place = TableLocation(k + lines - 1, first, tuple(range(k + lines, first)), over=tuple(range(k, k + lines - 1)))
        return _with_names_above(place, grid, head, usual)
    votes = votes_for(head[k], below, usual)
    above = next((i for i in range(k - 1, -1, -1) if filled[i] >= min(usual, 2) and are_names(head[i])), None)
    if above is not None and above == k - 1 and votes <= 0 and (votes < 0 or abs(int(widths[above]) - usual) <= 1):
        apart = head[above][0].strip() == "#"  # a sign of a comment that is a cell of its own
        header: int | None = above if not _comment(head[above]) or widths[above] in (usual, usual + apart) else None
    elif above is None and votes < 0 and _lone_name(grid, head[:k], usual):
        return TableLocation(k - 1, k, lone=True)
    else:
        header = k if votes > 0 or (votes == 0 and are_names(head[k])) else None
    if header is None:
        return TableLocation(None, k)
    names = [cell.strip() for cell in head[header][:usual]]
    over: tuple[int, ...] = ()
    if (not all(names) or len(set(names)) < len(names)) and header + 2 < len(head):
        nearer = head[header + 1]  # names over several columns, then the names of each: the second row is the header
        if (
            all(cell.strip() for cell in nearer[:usual])
            and are_names(nearer)
            and votes_for(nearer, below[1:], usual) > 0
        ):
            over = (header,)
            header += 1
    first = _below_units(head, header + 1, usual)
    names = [cell for cell in head[header][:usual] if cell.strip()]
    doubtful = header == k == first - 1 and (votes == 0 or (len(names) > 1 and all(map(is_number, names))))
    place = TableLocation(header, first, tuple(range(header + 1, first)), doubtful=doubtful, over=over)
    return _with_names_above(place, grid, head, usual)


_FIELDS = re.compile(r"#[ \t]*+(?:fields|columns|names|header):?", re.IGNORECASE)
"""How a comment begins that holds the names of the columns, as logs of servers have it."""


def _told_above(grid: Records, top: Sequence[Sequence[str]], usual: int) -> int | None:
    """The position of the comment above the rows that says which names the columns have; None where none does."""
    for i in range(len(top) - 1, -1, -1):
        names = _told(top[i][: grid.widths[i]])
        if len(names) == usual and all(map(str.strip, names)) and are_names(names):
            return i
    return None


def _told(row: Sequence[str]) -> list[str]:
    """The names that a comment says to be those of the columns (#Fields: day status); none of any other row."""
    begun = "".join(row[:2]) if row[0].strip() == "#" else row[0]
    return list(row[2 if row[0].strip() == "#" else 1 :]) if _FIELDS.fullmatch(begun.strip()) else []


def _below_units(head: Sequence[Sequence[str]], first: int, usual: int) -> int:
    """Where the rows begin below those of units, of which there may be three, from this one on."""
    if first + 3 < len(head) and _kinds_and_roles(head[first], head[first + 1]):
        return first + 2
    most = first + 3
    begin = _below_labels(head, first, usual)
    while first < most and first + 1 < len(head) and _units(head[first], head[first + 1 :], usual):
        first += 1
    return max(first, begin)


_KINDS = frozenset(("c", "d", "s", "t", "continuous", "discrete", "string", "time"))
_ROLES = frozenset(("", "class", "meta", "ignore", "i", "m", "weight"))


def _kinds_and_roles(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether two rows hold the kinds of the columns and what they are for, as Orange writes them below the names."""
    roles = {cell.strip() for cell in lower}
    return {cell.strip() for cell in upper} <= _KINDS and roles <= _ROLES and len(roles) > 1


_LABELS = 20
"""So many lines of labels stand below names at most."""


def _below_labels(head: Sequence[Sequence[str]], first: int, usual: int) -> int:
    """Where the rows begin below lines that tell of the columns (Unit, Source, Next release), from this one on: each
    begins with words of its own and holds no number, and from there on the first column has values alone, in far more
    rows, and another has too."""
    begin = next((i for i, row in enumerate(head[first:], first) if is_value(row[0])), len(head))
    labels, rows = head[first:begin], [row for row in head[begin:] if len(row) == usual]
    if not 0 < len(labels) <= min(_LABELS, len(rows) // 3):
        return first
    words = {row[0].strip() for row in labels}
    values = [[row[j] for row in rows] for j in range(usual)]
    if len(words) < len(labels) or any(means_missing(word) or len(word) < 2 for word in words if word) or "" in words:
        return first
    if not all(map(is_value, values[0])) or not any(map(is_typed, values[1:])):
        return first
    numbers = (is_number(cell.strip()) for row in labels for cell in row[:usual] if cell.strip())
    filled = [j for j in range(1, usual) if is_typed(values[j])]
    none_missing = all(not means_missing(row[j].strip()) or not row[j].strip() for row in labels for j in filled)
    return first if any(numbers) or not none_missing else begin


def _with_names_above(place: TableLocation, grid: Records, head: Sequence[Sequence[str]], usual: int) -> TableLocation:
    """The same with the rows right above the names whose names stand over several columns each, where the names are
    not all there or not all different without them, or one of them stands in both; else with none."""
    assert place.header is not None
    over = list(place.over if len(place.over) > 1 else ())
    begin = place.header - len(over)
    for i in range(begin - 1, max(begin - 4, -1), -1):
        names = place._replace(over=tuple(over)).names(grid)[:usual]
        upper = [cell.strip() for cell in head[i][:usual]]
        filled = sum(map(bool, upper))
        unlike = len(set(map(str.strip, names))) == len(names) and all(map(str.strip, names))
        apart = grid.lines[i + 1] - grid.lines[i] > 1 or _comment(head[i])
        again = any(a and a == name.strip() for a, name in zip(upper, names, strict=False))  # one cell over two rows
        if (unlike and not again) or apart or filled < 2 or len(head[i]) < usual or not any(
            a and not b for a, b in pairwise([*upper, ""])
        ):  # fmt: skip
            break
        over.insert(0, i)
    return place._replace(over=tuple(over))


def _lines_of_names(head: Sequence[Sequence[str]], usual: int) -> int:
    """In how many lines, two or three, the names stand of which these are the first; 0 where it is one line or none."""
    top, low = list[str](head[0]), 1
    end = 0
    while low <= 2 and low + 2 < len(head) and len(head[low]) >= usual and _spread(top[:usual]):
        below = [row for row in head[low + 1 :] if len(row) == usual]
        if _two_lines(top, head[low], below, usual):
            end = low + 1
        elif any(is_value(cell) and not _YEAR.fullmatch(cell.strip()) for cell in head[low]) or not _spread(head[low]):
            break
        top = _joined(top, head[low])
        low += 1
    return end


_YEAR = re.compile(r"(?:19|20)\d\d")


def _spread(names: Sequence[str]) -> bool:
    """Whether names stand over several columns: there are two, and one is followed by a blank or by itself."""
    cells = [cell.strip() for cell in names]
    return sum(map(bool, cells)) >= 2 and (not all(cells) or any(a == b for a, b in pairwise(cells)))


def _two_lines(upper: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> bool:
    """Whether the names stand in two lines: the second tells apart what the first leaves blank or alike, and holds no
    cell as the columns below do, but a word above numbers, or the one answer that a column has."""
    if len(below) < 2:
        return False
    top, low = ([cell.strip() for cell in row[:usual]] for row in (upper, lower))
    top += [""] * (usual - len(top))
    below_alike = _stands_below_alike(top, low)
    years = list(filter(_YEAR.fullmatch, low))
    again = len(years) > len(set(years)) and len(years) >= len(low) - 2 and not any(map(is_value, top))
    again = again or below_alike
    if not any(b and (not a or (j and a == top[j - 1])) for j, (a, b) in enumerate(zip(top, low, strict=True))):
        return False
    for_it = 0
    for j, cell in enumerate(low):
        values = {row[j].strip() for row in below} - {""}
        if not cell:
            if values and not top[j]:
                return False
        elif (is_value(cell) and not again) or cell in MISSING_AMONG_NUMBERS or (cell in values and len(values) > 1):
            return False
        else:
            for_it += values == {cell} or is_typed([row[j] for row in below])
    return for_it > 0 and 2 * for_it >= sum(map(bool, low)) - 1


def _stands_below_alike(top: Sequence[str], low: Sequence[str]) -> bool:
    """Whether a second line has something under each of the names that are alike and nowhere else, as numbers in it
    that tell these apart have: drogi, drogi over 2019, 2020."""
    alike = [j for j, a in enumerate(top) if a and a in (*top[max(j - 1, 0) : j], *top[j + 1 : j + 2])]
    apart = {(top[j], low[j]) for j in alike}
    return (0 < len(alike) < sum(map(bool, top)) and not any(map(is_value, top)) and len(apart) == len(alike)
            and [j for j, b in enumerate(low) if b] == alike)  # fmt: skip


def _joined(upper: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names with those that stand over them, which stand over all up to the next."""
    joined, over = list[str](), ""
    for j, name in enumerate(names):
        own = upper[j].strip() if j < len(upper) else ""
        over = own or (over if name.strip() else "")
        joined.append(name if not over or name.strip() == over else f"{over} {name.strip()}".strip())
    return joined


def _lone_name(grid: Records, top: Sequence[Sequence[str]], usual: int) -> bool:
    """Whether of what stands above rows of data the last line names one of their columns and leaves the others blank: a
    short word right above them, where no other line (but comments) is one of the table's."""
    if not top or grid.lines[len(top)] - grid.lines[len(top) - 1] > 1:
        return False
    cell = max(top[-1], key=len).strip()
    others = [row for row, width in zip(top[:-1], grid.widths, strict=False) if width == usual and not _comment(row)]
    return (grid.widths[len(top) - 1] == usual > 1 and not others and are_names(top[-1]) and not _comment(top[-1])
            and len(cell.split()) <= 3)  # fmt: skip


def _comment(row: Sequence[str]) -> bool:
    return row[0].lstrip().startswith(COMMENT)


def is_value(cell: str) -> bool:
    """True for what is a value rather than a name."""
    return is_number(cell) or DATE.fullmatch(cell.strip()) is not None


def are_names(row: Sequence[str]) -> bool:
    """True where a row could be names: some text, no value, nothing twice."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and not any(map(is_value, cells)) and len(set(cells)) == len(cells)


def is_typed(column: Sequence[str]) -> bool:
    """Whether nearly all cells of a column that are not missing are values."""
    if are_plain(column):
        return True
    times = Counter(column)
    known = {cell: n for cell, n in times.items() if not means_missing(cell.strip())}
    return bool(known) and sum(n for cell, n in known.items() if is_value(cell)) >= 0.8 * sum(known.values())


def votes_for(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> float:
    """> 0 where `row` differs in kind from the columns below it, < 0 where it is like them."""
    if not below:
        return 0.0
    cells = [cell.strip() for cell in row[:usual]]
    years = [int(c) for c in cells if re.fullmatch(r"\d{1,4}", c)]
    if len(years) >= 3 and years == list(range(years[0], years[0] + len(years))):
        first_word = next((j for j, c in enumerate(cells) if c and not is_value(c)), None)
        if first_word == 0 or (
            first_word is not None
            and years[0] >= 1000
            and cells[first_word] not in {r[first_word].strip() for r in below}
        ):
            return 1.0  # country, 2019, 2020, 2021
    if _numbered(cells):
        columns = [(c, {r[j].strip() for r in below} - {""}) for j, c in enumerate(cells) if c]
        above_words = any(c.isdecimal() and values and not any(map(is_value, values)) for c, values in columns)
        if above_words or not any(c in values for c, values in columns):
            return 1.0
    below = _but_for_repetitions(cells, below)
    votes = 0.0
    numbers: list[tuple[str, list[str]]] = []
    for j, cell in enumerate(cells):
        column = [r[j].strip() if j < len(r) else "" for r in below]
        if is_typed(column):
            if cell in MISSING_AMONG_NUMBERS:
                continue
            if is_value(cell) and not _day_above(cell, column):
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
    columns = [[cell for cell in column if not means_missing(cell)] for _, column in numbers]
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
    rows = [
        _step([_read(row[j]) if j < len(row) else None for j, c in enumerate(cells) if is_value(c)]) for row in below
    ]
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
    """The one difference of neighbours among three numbers or more, None where there is none. Among three with
    fractions it is too often chance, where one of so many files without names has such a first row: these are four."""
    known = [x for x in numbers if x is not None]
    least = 3 if all(x.is_integer() for x in known) else 4
    steps = {round(b - a, 9) for a, b in pairwise(known)}
    return steps.pop() if len(known) == len(numbers) >= least and len(steps) == 1 and 0.0 not in steps else None


def _day_above(cell: str, column: Sequence[str]) -> bool:
    """Whether a date stands above numbers, as the name of what was counted that day."""
    return DATE.fullmatch(cell) is not None and not any(map(DATE.fullmatch, column))


def _numbered(cells: Sequence[str]) -> bool:
    """Whether the cells are the numbers of their columns from 0 or 1, as a program writes them that has no names, with
    at most a name or two behind them and one blank before: 0, 1, 2, label."""
    counted = list(cells[1 if cells and not cells[0] else 0 :])
    n = next((j for j, c in enumerate(counted) if not c.isdecimal()), len(counted))
    steps = [str(j) for j in range(n)], [str(j + 1) for j in range(n)]
    return n >= 3 and n >= len(counted) - 2 and counted[:n] in steps and not any(map(is_value, counted[n:]))


def _of_no_row(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> bool:
    """Whether a line below the names is none of the rows by what it leaves out: the first column and one of values,
    where every row has something, while it has words over two others that no row there has, and one of these columns
    has few."""
    cells = [cell.strip() for cell in row[:usual]]
    if cells[0] or sum(map(bool, cells)) < 2 or len(below) < 6:
        return False
    columns = [[r[j].strip() if j < len(r) else "" for r in below[:_ROWS]] for j in range(len(cells))]
    filled = [(cell, column) for cell, column in zip(cells, columns, strict=True) if cell]
    if not all(columns[0]):
        return False
    never_empty = any(all(column) and is_typed(column) for cell, column in zip(cells, columns, strict=True) if not cell)
    unseen = all(cell not in column and not is_value(cell) and not means_missing(cell) for cell, column in filled)
    return never_empty and unseen and any(2 * len({*column}) <= len(column) for _, column in filled)


_ROWS = 100


def _units(row: Sequence[str], below: Sequence[Sequence[str]], usual: int) -> bool:
    """True for a row of units or of further names: text over every numeric column, or a short one over some, nothing
    known over the others. Over one numeric column alone, the others must be empty: it could be a slip of the pen.
    So too for one that is no row by what it leaves out."""
    if _of_no_row(row, below, usual):
        return True
    over: list[str] = []
    beside: list[str] = []
    for j, cell in enumerate(row[:usual]):
        column = [r[j] for r in below]
        (over if is_typed(column) else beside).append(cell.strip())
        if cell.strip() and cell in column:
            return False
    filled = [cell for cell in over if cell]
    if not filled or any(is_value(c) or c in MISSING_AMONG_NUMBERS for c in filled):
        return False
    if max(map(len, filled)) > 16 and not 1 < len(filled) == len(over):
        return False
    return len(filled) > 1 or not any(beside)
