"""Hostile files are refused, and large ones read, in time: `pytest -m bench -n 0 tests/bench/bench_hostile.py`.

A refusal takes two seconds of CPU time at most, of a workbook ten; twice the input takes less than three times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from bayes_engine import load_model
from bayes_engine.errors import ReadError, StoreError
from bayes_engine.table.column_names import unique_names
from bayes_engine.table.read import read_table
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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_file_is_refused_at_once(name: str) -> None:
    data = HOSTILE[name][0]()
    assert taken(lambda: load_model(data)) < REFUSED


@pytest.mark.parametrize("far", [(1_048_576, 18), (1_048_576, 16_384)])
def test_a_cell_far_from_the_others_is_refused_at_once(far: tuple[int, int]) -> None:
    made = book()
    made.active.cell(*far).value = "x"
    data = packed(made)
    assert taken(lambda: read_table(data)) < OPENED


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


@pytest.mark.parametrize("name", LARGE)
def test_twice_the_input_takes_twice_as_long(name: str) -> None:
    work, n = LARGE[name]
    once, twice = (min(taken(partial(work, size)) for _ in range(3)) for size in (n, 2 * n))
    assert twice < GROWTH * once


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-m", "bench", "-n", "0", "-q"]))
