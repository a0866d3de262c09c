"""Where another table begins among the records of a file: below a gap, a title, or names in a row of another width."""

from __future__ import annotations

import numpy as np

from bayes_engine.table.grid import Records, row_at, rows_at
from bayes_engine.table.header import are_names, votes_for


def second_table(grid: Records) -> int | None:
    """The position of the record with which another table begins: one that repeats most of the first one's names in a
    row of another width, or names that follow an empty line, or a title behind one below a longer table, above columns
    of values that agree with them in width.

    >>> from bayes_engine.table.tokenize import Dialect, tokenize
    >>> second_table(tokenize("a,b\\n1,2\\n3,4\\n\\nsize,city,n\\n1,Oslo,2\\n3,Rome,4\\n5,Bonn,6\\n", Dialect()))
    3
    """
    n = len(grid.widths)
    wide = ((i, row_at(grid, i)) for i in range(min(n, 20)) if grid.widths[i] > 1)
    start, names = next(((i, row) for i, row in wide if are_names(row)), (n, []))
    if start == n:
        return None
    width = int(grid.widths[start])
    again = np.flatnonzero(grid.first.eq(names[0]).to_numpy(dtype=bool) & (grid.widths != width))
    after_gap = np.flatnonzero(np.diff(grid.lines, prepend=grid.lines[0]) > 1)
    titles = [i for i, row in rows_at(grid, after_gap[:100]) if sum(map(bool, map(str.strip, row))) == 1]
    under_title = [i + 1 for i in titles if n < 4 * i and i + 1 < n and grid.lines[i + 1] - grid.lines[i] == 1]
    candidates = np.union1d(again, [*after_gap[:100], *under_title]).astype(np.intp)
    for i, row in rows_at(
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
        repeated = row == (names[: len(row)] if padded and not any(map(str.strip, names[len(row) :])) else names)
        if i > n - 4 or not are_names(row) or not all(cell.strip() for cell in row) or repeated:
            continue
        below_it = grid.part(i + 1, i + 200)
        fits = below_it.reach() <= len(row) if padded else below_it.widths == len(row)
        if (_after_empty_line(grid, i) or i in under_title) and fits.all():
            below = [r[: len(row)] for r in grid.rows(i + 1, i + 200)]
            votes = votes_for(row, below, len(row))
            if votes >= 1 and (len(row) != width or votes >= len(row) / 2):
                return i
    return None


def _after_empty_line(grid: Records, i: int) -> bool:
    """Whether an empty line stands above a record, rather than one whose cells hold ends of lines."""
    above = row_at(grid, i - 1)
    return bool(grid.lines[i] - grid.lines[i - 1] > 1 + sum(len(cell.splitlines()) - 1 for cell in above if cell))
