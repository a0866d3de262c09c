"""Hostile files are refused, and large ones read, in time: `python -m tests.bench.bench_hostile`.

A refusal takes two seconds of CPU time at most, of a workbook ten; twice the input takes less than three times as long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from bayes_engine import load_model
from bayes_engine.errors import ReadError, StoreError
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.read import read_table
from tests.bench.goals import Goal, tell, tried
from tests.unit.test_read import rows
from tests.unit.test_read_hostile import book, packed
from tests.unit.test_store import HOSTILE

REFUSED = 2.0
"""Seconds of CPU time that a refusal may take."""
OPENED = 10.0
"""Seconds that a workbook may take which must be opened before it can be refused."""
GROWTH = 3.0
"""So many times as long at most for twice the input; quadratic work takes four times as long."""


def taken(work: Callable[[], object]) -> float:
    """Seconds of CPU time, a refusal included."""
    start = time.process_time()
    with suppress(ReadError, StoreError):
        work()
    return time.process_time() - start


def model_files() -> Goal:
    """Model files that are to harm are refused at once."""
    seconds = {name: taken(partial(load_model, made())) for name, (made, *_) in HOSTILE.items()}
    slowest = max(seconds, key=seconds.__getitem__)
    what = f"each of {len(seconds)} hostile model files refused ≤ {REFUSED:g} s CPU: {seconds[slowest]:.2f} ({slowest})"
    return Goal(what, seconds[slowest] <= REFUSED)


def far_cell(row: int, column: int) -> Goal:
    """So is a workbook with a cell far from the others."""
    made = book()
    made.active.cell(row, column).value = "x"
    data = packed(made)
    seconds = taken(lambda: read_table(data))
    return Goal(f"a cell in row {row}, column {column} ≤ {OPENED:g} s CPU: {seconds:.2f}", seconds <= OPENED)


LARGE: dict[str, tuple[Callable[[int], object], int]] = {
    "unclosed quotes": (lambda n: read_table(rows("a,b", '1,"x', '2,""y', '3,"""z', repeat=n)), 8_000),
    "equal names": (lambda n: unique_names(["a"] * n, []), 40_000),
    "columns": (
        lambda n: read_table(
            (",".join(f"f{j}" for j in range(n)) + "\n" + (",".join(["1.5"] * n) + "\n") * 4).encode()
        ),
        1_500,
    ),
    "columns without a cell": (lambda n: read_table(b"," * n + b"\n" + b"," * n), 9_500),
}


def growth(name: str) -> Goal:
    """Twice the input takes twice as long, not four times."""
    work, n = LARGE[name]
    once, twice = (min(taken(partial(work, size)) for _ in range(3)) for size in (n, 2 * n))
    return Goal(f"twice as many {name} ≤ {GROWTH:g} × the CPU: {twice / once:.2f}", twice <= GROWTH * once)


CASES: dict[str, Callable[[], Goal]] = {
    "model files": model_files,
    **{f"a cell in column {column}": partial(far_cell, 1_048_576, column) for column in (18, 16_384)},
    **{name: partial(growth, name) for name in LARGE},
}


@pytest.mark.parametrize("name", CASES)
def test_in_time(name: str) -> None:
    goal = CASES[name]()
    assert goal.holds, goal.what


def main() -> int:
    """Print the goals; the number of goals missed."""
    return sum(tell(tried(name, lambda case=case: [case()])) for name, case in CASES.items())


if __name__ == "__main__":
    sys.exit(main())
