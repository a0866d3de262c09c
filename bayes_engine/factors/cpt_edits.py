"""A node's table as a person edits it: plain numbers row by row, which may be no distribution yet.

A row is a combination of the parents' levels, in the order of the table; its numbers stand one after the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayes_engine.factors.network import CPT, SUMS, Network
from bayes_engine.table.schema import Level

Numbers = tuple[float, ...]


class BadRow(NamedTuple):
    """A row that is no distribution: its position, the parents' levels, and the `total` of its numbers; `wrong` where
    one of them is no number of 0 and more."""

    row: int
    given: tuple[Level, ...]
    total: float
    wrong: bool


def numbers_of(cpt: CPT) -> Numbers:
    """The numbers of a table, row by row."""
    return tuple(cpt.p.ravel().tolist())


def typed_number(text: str) -> float | None:
    """What a person typed: a number, with a decimal point or comma, a fraction, or per cent; None where it is none.

    >>> typed_number(".75"), typed_number("1/4"), typed_number("0,5"), typed_number("20%"), typed_number("much")
    (0.75, 0.25, 0.5, 0.2, None)
    """
    word = text.strip().replace(",", ".")
    percent = word.endswith("%")
    above, slash, below = word.removesuffix("%").partition("/")
    try:
        value = float(above) / (float(below) if slash else 1.0) / (100.0 if percent else 1.0)
    except (ValueError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) and abs(value) <= 1e9 else None


def conditions(cpt: CPT) -> list[tuple[Level, ...]]:
    """The parents' levels of every row, in the order of the rows."""
    return list(itertools.product(*(v.levels for v in cpt.parents)))


def bad_rows(cpt: CPT, numbers: Sequence[float]) -> tuple[BadRow, ...]:
    """The rows of an edited table that do not sum to 1, or hold what is no probability."""
    bad = []
    size = cpt.p.shape[-1]
    for k, given in enumerate(conditions(cpt)):
        row = numbers[k * size : (k + 1) * size]
        wrong = not all(math.isfinite(v) and v >= 0 for v in row)
        total = sum(row)  # not fsum, which raises where numbers of a forged link are too large to add
        if wrong or abs(total - 1.0) > SUMS:
            bad.append(BadRow(k, given, total, wrong))
    return tuple(bad)


def normalized(cpt: CPT, numbers: Sequence[float], row: int) -> Numbers:
    """The numbers with one row divided by its sum; what is negative or no number becomes 0, and a row without a
    positive number uniform."""
    size = cpt.p.shape[-1]
    kept = [v if math.isfinite(v) and v > 0 else 0.0 for v in numbers[row * size : (row + 1) * size]]
    most = max(kept)
    total = math.fsum(v / most for v in kept) if most else 0.0
    new = [v / most / total if most else 1.0 / size for v in kept]
    return (*numbers[: row * size], *new, *numbers[(row + 1) * size :])


def with_tables(network: Network, edits: Sequence[tuple[int, Sequence[float]]]) -> Network:
    """The network with the tables of these nodes (by position) replaced, where all rows of a table are distributions;
    the others stay as they are."""
    for node, numbers in edits:
        old = network.cpts[node]
        if len(numbers) == old.p.size and not bad_rows(old, numbers):
            network = network.with_cpt(CPT(old.variable, old.parents, np.reshape(numbers, old.p.shape)))
    return network
