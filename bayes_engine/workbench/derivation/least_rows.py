"""How many rows it takes until every P(c, x_i) of AODE rests on enough of them (Zhou, exercise 7.7)."""

from __future__ import annotations

from typing import NamedTuple


class RowsNeeded(NamedTuple):
    """The rows needed in the best order and in the worst, where every row still helps some joint of class and value;
    `prior` those of naive Bayes' P(c) alone."""

    best: int
    worst: int
    prior: int

    def of(self, order: str) -> int:
        """The number for "best" or "worst"."""
        return self.best if order == "best" else self.worst


def rows_needed(each: int, columns: int, levels: int, classes: int) -> RowsNeeded:
    """The rows until each of the classes · columns · levels joints (c, x_i) has `each` rows.

    A row counts for one value of every column at once. At best all columns fill evenly: each · levels rows a class. At
    worst the rows of a class agree in all columns until one value of each is full, `each` rows; after that every row
    adds to one open joint alone, and (levels − 1) · columns are open.

    >>> rows_needed(30, 1, 2, 2), rows_needed(30, 6, 2, 2)
    (RowsNeeded(best=120, worst=120, prior=60), RowsNeeded(best=120, worst=420, prior=60))
    """
    worst = each * (1 + columns * (levels - 1))
    return RowsNeeded(classes * each * levels, classes * worst, classes * each)
