"""Reading beside pandas: files of the Pollock kind (score of 10, nobody is told the dialect), and 50 MB of plain CSV
(CPU time): `python -m tests.bench.bench_read`.

On the benchmark itself pandas' default reaches 5.5 (simple) and 6.7 (weighted), and with `sep=None` and bad lines
skipped 9.90 and 9.40: the table below shows that this polluter is as hard.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table.read import read_table
from tests.pollock import Result, files, run
from tests.unit.test_pollock import lines as ours

ROWS = 1_000_000
MOST = 1.5
"""How many times the CPU time of pandas' `sep=None` reading may take: the one that finds the delimiter, too."""


def frame_lines(frame: pd.DataFrame) -> list[list[str]]:
    return [list(map(str, frame.columns)), *frame.astype(object).to_numpy().tolist()]


def default(data: bytes) -> list[list[str]]:
    return frame_lines(pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False))


def sniffed(data: bytes) -> list[list[str]]:
    return frame_lines(pd.read_csv(io.BytesIO(data), sep=None, engine="python", dtype=str, keep_default_na=False,
                                   on_bad_lines="skip").fillna(""))  # fmt: skip


LOADERS = {"read_table": ours, "pandas": default, "pandas, sep=None, bad lines skipped": sniffed}


def scores() -> dict[str, Result]:
    polluted = list(files())
    return {name: run(load, polluted) for name, load in LOADERS.items()}


def plain_csv() -> bytes:
    """50 MB: four numbers, two categories, a class."""
    rng = np.random.default_rng(0)
    numbers = {f"x{j}": rng.normal(size=ROWS).round(6) for j in range(4)}
    words = {"city": rng.choice(["Oslo", "Rome", "Lima"], ROWS), "kind": rng.choice(list("abcdefgh"), ROWS)}
    return pd.DataFrame({**numbers, **words, "y": rng.choice(["yes", "no"], ROWS)}).to_csv(index=False).encode()


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def speed() -> tuple[int, dict[str, float]]:
    """Bytes, and CPU seconds of each reader; the sniffing one of pandas reads a tenth, which is scaled up."""
    data = plain_csv()
    tenth = data[: data.index(b"\n", len(data) // 10) + 1]
    return len(data), {
        "pandas": cpu(lambda: pd.read_csv(io.BytesIO(data))),
        "pandas, sep=None": 10 * cpu(lambda: pd.read_csv(io.BytesIO(tenth), sep=None, engine="python")),
        "read_table": cpu(lambda: read_table(data, max_bytes=100_000_000)),
    }


@pytest.mark.bench
def test_reading_is_right_more_often_than_pandas_and_not_much_slower() -> None:
    found = scores()
    assert found["read_table"].raised == []
    assert found["read_table"].simple >= 9.95
    assert found["read_table"].weighted >= 9.80
    assert found["pandas"].simple < 6.5
    assert found["pandas, sep=None, bad lines skipped"].weighted < 9.6
    _, seconds = speed()
    assert seconds["read_table"] <= MOST * seconds["pandas, sep=None"]


if __name__ == "__main__":
    for name, result in scores().items():
        told = f"simple {result.simple:6.3f}  weighted {result.weighted:6.3f}  raised {len(result.raised)}"
        print(f"{name:40s} {told}")  # noqa: T201
    size, seconds = speed()
    for name, taken in seconds.items():
        print(f"{name:40s} {taken:6.2f} s for {size / 1e6:.0f} MB, {taken / seconds['pandas']:.2f} × pandas")  # noqa: T201
