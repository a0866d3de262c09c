"""A loss matrix as it is copied from a spreadsheet: a block of cells, with or without its labels."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from bayes_engine.errors import LossError

WIDEST = 300
"""A block with more rows or columns is no loss matrix."""
_NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?")
_NO_LABELS = ("nan", "na", "n/a", "null", "none", "inf", "-inf", "-", "?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})++(\.\d++)?")


class PastedLosses(NamedTuple):
    """Losses (A, K), rows in the order of the actions asked for; `extra` is the name of a further action that the block
    brought along as its last row ("" if none, or without a name)."""

    table: tuple[tuple[float, ...], ...]
    extra: str = ""


def read_block(
    text: str,
    actions: Sequence[str],
    classes: Sequence[str],
    *,
    truth_in_rows: bool = False,
) -> PastedLosses:
    """The losses in a block of cells separated by tabs (or semicolons, or commas), a line a row.

    `actions` and `classes` are the labels on screen; the first actions are the classes. Where the block has labels in
    its first row or column, they say which cell is which, in whatever order. Rows are decisions, with `truth_in_rows`
    truths. It may hold all actions, the classes alone (K×K), or the classes and one further action.
    Decimals may have a comma; an empty corner is fine, and so are blank lines.

    Raises LossError naming the first cell that is blank or no number, a label that is no class, a wrong shape, or a
    first line of numbers that may be classes or losses.

    >>> read_block("0\\t5\\n1,5\\t0", ["good", "bad"], ["good", "bad"]).table
    ((0.0, 5.0), (1.5, 0.0))
    >>> read_block("\\tbad\\tgood\\nbad\\t0\\t1\\ngood\\t5\\t0", ["good", "bad"], ["good", "bad"]).table
    ((0.0, 5.0), (1.0, 0.0))
    """
    names, truths = [str(a) for a in actions], [str(c) for c in classes]
    cells = _cells(text)
    if truth_in_rows:
        cells = [list(row) for row in zip(*cells, strict=True)]
    down, across, body = _labels(cells, names, truths)
    columns = _columns(across, truths, body)
    rows, extra = _rows(down, names, truths, body)
    table = (tuple(_value(body[i][j], label, truths[k]) for k, j in enumerate(columns)) for i, label in rows)
    return PastedLosses(tuple(table), extra)


def _cells(text: str) -> list[list[str]]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    between = next((mark for mark in "\t;" if mark in lines), ",")
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(lines), delimiter=between)]
    except csv.Error:  # a cell longer than any
        cells = []
    cells = [row for row in cells if any(row)]
    width = max((len(row) for row in cells), default=0)
    if not cells or width < 1 or len(cells) > WIDEST or width > WIDEST:
        raise LossError("what was pasted is no block of losses; copy the cells of the matrix in your spreadsheet")
    return [row + [""] * (width - len(row)) for row in cells]


def _labels(
    cells: list[list[str]], names: list[str], truths: list[str]
) -> tuple[list[str] | None, list[str] | None, list[list[str]]]:
    """(labels of the rows, labels of the columns, the numbers): a side has labels where its outer cells are words, or
    where they are all classes, be they numbers, and not losses."""
    top, left = cells[0], [row[0] for row in cells]
    wide = len(top) == len(truths) + 1
    corner = not top[0] or (_words(top[0]) and _match(top[0], names) is None)
    named = _are_all(top[1:], truths) and corner if wide else _is_head(cells, truths)
    words_above = any(map(_words, top[1:])) or named
    words_left = any(map(_words, left[1:])) or (wide and _hold_all(left[1:] if words_above else left, truths))
    across = (top[1:] if words_left else top) if words_above else None
    down = (left[1:] if words_above else left) if words_left else None
    return down, across, [row[words_left:] for row in cells[words_above:]]


def _is_head(cells: list[list[str]], truths: list[str]) -> bool:
    """Whether the first line of a block without labels of its rows is the classes. Where they are numbers it may be
    losses, a further decision being the last line: of a matrix that is meant, the right decisions cost least.

    Raises LossError where both may be meant, or neither."""
    top, k = cells[0], len(truths)
    if len(cells) not in (k + 1, k + 2) or not _are_all(top, truths):
        return False
    if len(cells) == k + 2 or any(map(_words, top)):
        return True
    order = [_match(label, truths) for label in top]
    below = [[row[order.index(j)] for j in range(k)] for row in cells[1:]]
    head, losses = _right_is_least(below[:k]), _right_is_least(cells[:k])
    if head == losses:
        raise LossError(
            "the first line '{line}' may be the names of the classes or losses; write the names of the decisions in a "
            "first column, too",
            line=" ".join(top),
        )
    return head


def _right_is_least(table: list[list[str]]) -> bool:
    """Whether for each truth (a column) the right decision costs less than any other."""
    losses = [[_number(cell) for cell in row] for row in table]
    return all(losses[k][k] < row[k] for i, row in enumerate(losses) for k in range(len(row)) if i != k)


def _are_all(labels: list[str], names: list[str]) -> bool:
    """Whether labels are these names, in whatever order."""
    return len(labels) == len(names) and _hold_all(labels, names)


def _hold_all(labels: list[str], names: list[str]) -> bool:
    return {_match(label, names) for label in labels} >= {*range(len(names))}


def _words(cell: str) -> bool:
    return bool(cell) and math.isnan(_number(cell)) and cell.lower() not in _NO_LABELS and not cell.startswith("#")


def _columns(labels: list[str] | None, truths: list[str], body: list[list[str]]) -> list[int]:
    width = len(body[0]) if body else 0
    if labels is None:
        if width != len(truths):
            raise _shape(len(body), width, truths)
        return list(range(width))
    places = [_match(label, truths) for label in labels]
    for label, place in zip(labels, places, strict=True):
        if place is None:
            raise LossError(
                "the pasted block names the truth '{label}', which is no class here; the classes are {classes}",
                label=label, classes=", ".join(truths),
            )  # fmt: skip
    for k, truth in enumerate(truths):
        if places.count(k) != 1:
            raise LossError("the pasted block must have one column for the truth '{label}'", label=truth)
    return [places.index(k) for k in range(len(truths))]


def _rows(
    labels: list[str] | None, names: list[str], truths: list[str], body: list[list[str]]
) -> tuple[list[tuple[int, str]], str]:
    """(position in the block, name) of each row in the order of the actions, and the name of a further action."""
    n, k = len(body), len(truths)
    if labels is None:
        if n not in (k, k + 1):
            raise _shape(n, len(body[0]) if body else 0, truths)
        return [(i, names[i] if i < len(names) else str(i + 1)) for i in range(n)], ""
    places = [_match(label, names) for label in labels]
    strangers = [i for i, place in enumerate(places) if place is None]
    for i in range(k):
        if places.count(i) != 1:
            raise LossError("the pasted block must have one row for the decision '{label}'", label=names[i])
    if len(strangers) > 1 or n > k + 1:
        raise LossError(
            "the pasted block names the decision '{label}'; besides the classes there can be one further decision",
            label=labels[strangers[-1]] if strangers else labels[-1],
        )
    further = [i for i, place in enumerate(places) if place is None or place >= k]
    rows = [(places.index(i), names[i]) for i in range(k)] + [(i, labels[i]) for i in further]
    return rows, labels[strangers[0]] if strangers else ""


def _match(label: str, names: list[str]) -> int | None:
    """Which name a label is: exactly, or but for case, or as a number (1 and 1.0), or as the last words of it («decide
    good», «truth is good»)."""
    for same in (str.__eq__, _alike, _equal, _ends):
        matches = [i for i, name in enumerate(names) if same(label, name)]
        if len(matches) == 1:
            return matches[0]
    return None


def _alike(label: str, name: str) -> bool:
    return label.casefold().strip() == name.casefold().strip()


def _equal(label: str, name: str) -> bool:
    return _number(label) == _number(name)


def _ends(label: str, name: str) -> bool:
    shown, short = label.casefold().strip(), name.casefold().strip()
    return bool(short) and (shown.endswith(" " + short) or (not short.isascii() and shown.endswith(short)))


def _value(cell: str, action: str, truth: str) -> float:
    if not cell:
        raise LossError(
            "the loss of deciding '{action}' when the truth is '{truth}' is blank; every cell needs a number",
            action=action, truth=truth,
        )  # fmt: skip
    value = _number(cell)
    if not math.isfinite(value) or abs(value) > 1e9:
        raise LossError(
            "the loss of deciding '{action}' when the truth is '{truth}' is '{cell}', not a number up to 1e9",
            action=action, truth=truth, cell=cell,
        )  # fmt: skip
    return value


def _number(cell: str) -> float:
    """1.5 and 1,5 and −3 and 1 200.5; NaN for anything else.

    A comma is a decimal one where it stands alone; 1,000.5 and 1,000,000 are grouped."""
    plain = re.sub(r"[\s\u00a0\u202f']", "", cell).replace("−", "-").replace("–", "-")
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    elif _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    return float(plain) if _NUMBER.fullmatch(plain) else math.nan


def _shape(rows: int, columns: int, truths: list[str]) -> LossError:
    return LossError(
        "the pasted block has {rows} rows and {columns} columns of numbers; {k} classes need {k} columns and a row for "
        "each decision",
        rows=rows, columns=columns, k=len(truths),
    )  # fmt: skip
