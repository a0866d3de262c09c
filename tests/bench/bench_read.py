"""Reading beside pandas: files of the Pollock kind (score of 10, nobody is told the dialect), and plain CSV of 50 MB,
4 and 1 (or as many as are said; CPU time and memory, each in a process of its own):
`python -m tests.bench.bench_read [MB]`.

On the benchmark itself pandas' default reaches 5.5 (simple) and 6.7 (weighted), and with `sep=None` and bad lines
skipped 9.90 and 9.40: the table below shows that this polluter is as hard.
"""

from __future__ import annotations

import csv
import io
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table.read import read_table
from tests.bench.goals import Goal, tell, tried
from tests.pollock import Result, files, run
from tests.unit.test_pollock import lines as ours

BYTES_A_ROW = 50
SIZES = (50.0, 4.0, 1.0)
"""Megabytes of the files. What is looked at in the first and the last records, and of each column once, takes 3 ms in a
file of any length, of which a tenth of a MB is read by pandas in 1.3."""
GOALS = (2.0, 1.3)
"""How many times the CPU time and the memory of pandas' typed reader, which finds nothing out, a clean file takes, in
each of its forms (where a cell is in doubt, of the memory alone)."""
READ = 10_000_000
"""Bytes that each reader reads in a turn, of one file again and again; the least time of one reading counts."""
FIRST = 200_000
"""Bytes of the file that are read before, for what a process does but once: long enough for the reader's fast path."""
TURNS = 3
"""How often each reader reads a file, in turn with the others; the median counts."""
MOST, MOST_MEMORY = 3.0, 1.5
"""The same, on a busy machine."""


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


FORMS = ("clean", "semicolons", "quoted words", "words beyond ASCII", "one cell in doubt")


def plain_csv(rows: int, form: str = "clean") -> bytes:
    """Four numbers, two categories, a class, written in one of the forms."""
    rng = np.random.default_rng(0)
    cities = ["東京", "Zürich", "Łódź"] if form == "words beyond ASCII" else ["Oslo", "Rome", "Lima"]
    numbers = {f"x{j}": rng.normal(size=rows).round(6) for j in range(4)}
    words = {"city": rng.choice(cities, rows), "kind": rng.choice(list("abcdefgh"), rows)}
    frame = pd.DataFrame({**numbers, **words, "y": rng.choice(["yes", "no"], rows)})
    quoting = csv.QUOTE_NONNUMERIC if form == "quoted words" else csv.QUOTE_MINIMAL
    data = frame.to_csv(index=False, sep=_delimiter(form), quoting=quoting).encode()
    return data.replace(b",yes\n", b", yes\n", 1) if form == "one cell in doubt" else data


def _delimiter(form: str) -> str:
    return ";" if form == "semicolons" else ","


def _found(data: bytes) -> str:
    return ";" if b";" in data[: data.index(b"\n")] else ","


READERS: dict[str, Callable[[bytes], object]] = {
    "pandas": lambda data: pd.read_csv(io.BytesIO(data), sep=_found(data)),
    "pandas, dtype=str": lambda data: pd.read_csv(io.BytesIO(data), sep=_found(data), dtype=str, keep_default_na=False),
    "read_table": lambda data: read_table(data, max_bytes=1 << 31),
}


def peak() -> float:
    """MiB that this process has held at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measured(name: str, path: str) -> tuple[float, float]:
    """CPU seconds and MiB that a reader takes beyond those of the process with the bytes."""
    data = Path(path).read_bytes()
    READERS[name](data[: data.index(b"\n", FIRST) + 1])
    held, least, more = peak(), math.inf, 0.0
    for turn in range(max(1, READ // len(data))):
        start = time.process_time()
        READERS[name](data)
        least = min(least, time.process_time() - start)
        more = more if turn else peak() - held
    return least, more


def speed(rows: int, form: str) -> dict[str, tuple[float, float]]:
    """CPU seconds and MiB of each reader, the medians of some turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.csv"
        path.write_bytes(plain_csv(rows, form))
        names = [name for name in READERS if form == "clean" or name != "pandas, dtype=str"]
        runs: dict[str, list[list[str]]] = {name: [] for name in names}
        for _ in range(TURNS):
            for name, some in runs.items():
                ran = subprocess.run([sys.executable, "-m", "tests.bench.bench_read", name, str(path)], check=True,
                                     capture_output=True, text=True)  # fmt: skip
                some.append(ran.stdout.split())
    return {name: (median(float(r[0]) for r in some), median(float(r[1]) for r in some)) for name, some in runs.items()}


@pytest.mark.bench
def test_reading_is_right_more_often_than_pandas_and_not_much_slower() -> None:
    found = scores()
    assert found["read_table"].raised == []
    assert found["read_table"].simple >= 9.95
    assert found["read_table"].weighted >= 9.80
    assert found["pandas"].simple < 6.5
    assert found["pandas, sep=None, bad lines skipped"].weighted < 9.6
    taken = speed(1_000_000, "clean")
    assert taken["read_table"][0] <= MOST * taken["pandas"][0]
    assert taken["read_table"][1] <= MOST_MEMORY * taken["pandas"][1]


def clean_files(megabytes: float, form: str) -> list[Goal]:
    """Prints what each reader takes; the goals."""
    print(f"{megabytes:g} MB, {form}")  # noqa: T201
    taken = speed(int(megabytes * 1e6 / BYTES_A_ROW), form)
    goals = []
    for name, (seconds, memory) in taken.items():
        beside = [x / y for x, y in zip((seconds, memory), taken["pandas"], strict=True)]
        times = f"{seconds * 1e3:7.1f} ms, {beside[0]:5.2f} × pandas; {memory:6.0f} MiB, {beside[1]:5.2f} ×"
        print(f"{name:40s} {times}", flush=True)  # noqa: T201
        if name == "read_table":
            goals = [Goal(f"{megabytes:g} MB of CSV, {form} ≤ {goal} × the {what} of pandas' C reader: {ratio:.2f}",
                          ratio <= goal)
                     for what, ratio, goal in zip(("CPU", "memory"), beside, GOALS, strict=True)
                     if what == "memory" or form != "one cell in doubt"]  # fmt: skip
    return goals


def right_ones() -> list[Goal]:
    """Prints how many messy files each reads correctly; the goals."""
    found = scores()
    for name, result in found.items():
        told = f"simple {result.simple:6.3f}  weighted {result.weighted:6.3f}  raised {len(result.raised)}"
        print(f"{name:40s} {told}")  # noqa: T201
    ours = found["read_table"]
    return [Goal(f"messy files, simple score ≥ 9.95: {ours.simple:.3f}", ours.simple >= 9.95),
            Goal(f"messy files, weighted score ≥ 9.80: {ours.weighted:.3f}", ours.weighted >= 9.80)]  # fmt: skip


def main(sizes: Sequence[float]) -> int:
    """Print the tables and the goals; the number of goals missed."""
    missed = 0
    for size, form in product(sizes, FORMS):
        missed += tell(tried(f"{size:g} MB, {form}", lambda size=size, form=form: clean_files(size, form)))
    return missed + tell(tried("messy files", right_ones))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(*measured(sys.argv[1], sys.argv[2]))  # noqa: T201
    else:
        sys.exit(main([float(sys.argv[1])] if sys.argv[1:] else SIZES))
