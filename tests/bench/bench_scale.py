"""Rows beyond memory: the peak of the process that counts them, and rows a second beside pyarrow's plain reading.

    python -m tests.bench.bench_scale [rows, 2000000] [folder that keeps the files]
    python -m tests.bench.bench_scale models [rows, 2000000] [folder, "" for none] [name …]   # whole fits, of MODELS
    python -m tests.bench.bench_scale paper [rows, 8000000] [folder]   # the constants of the model in BENCHMARKS.md

Sixteen columns in Parquet files of up to five million rows, in row groups of a million: ten of levels (2 to 11 strings,
every twentieth cell missing), five of numbers and the class. Each line is a process of its own. The peer decodes the
same columns, batch by batch, on as many threads, and does nothing with them. Memory is the peak of the whole process,
interpreter and libraries included; beside it stands what it was before the first row. "GIL" is what two threads of
NumPy's `bincount` do in the time of one: above 1 it is released. The last line is a whole fit, by as many
threads as are taken on eight cores; `models` fits others so, of the same rows, of sixteen columns of numbers, of short
texts, and of CSV, which it also classifies.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayes_engine.errors import BayesEngineError
from tests.bench.goals import Goal, tell

ROOT = Path(__file__).parents[2]
ROWS = 2_000_000
FILE, GROUP = 5_000_000, 1_000_000
MEGABYTES = 500
"""Peak of the whole process, whatever the rows."""

COMMON = """
import json, os, sys, tempfile, time
os.environ["OMP_NUM_THREADS"] = "1"
folder, threads = sys.argv[1], int(sys.argv[2])
def memory():
    with open("/proc/self/status") as told:  # ru_maxrss would be that of the parent before the process began its own
        return next(int(line.split()[1]) for line in told if line.startswith("VmHWM")) / 1024
def done(rows, before, start, cpu):
    print(json.dumps([rows, before, memory(), time.perf_counter() - start, time.process_time() - cpu]))
"""
PEER = (
    COMMON
    + """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import pyarrow.parquet as pq
files = [(p, pq.ParquetFile(p).metadata) for p in sorted(Path(folder).glob("*.parquet"))]
strings = [f"c{j}" for j in range(10)] + ["y"]
def read(job):
    path, metadata, group = job
    file = pq.ParquetFile(path, metadata=metadata, read_dictionary=strings, buffer_size=2**20, pre_buffer=False)
    return sum(b.num_rows for b in file.iter_batches(2**17, row_groups=[group], use_threads=False))
before, start, cpu = memory(), time.perf_counter(), time.process_time()
with ThreadPoolExecutor(threads) as pool:
    rows = sum(pool.map(read, [(p, m, g) for p, m in files for g in range(m.num_row_groups)]))
done(rows, before, start, cpu)
"""
)
OURS = (
    COMMON
    + """
from bayes_engine import NaiveBayes, TAN, collect_parquet
want = sys.argv[3]
before, start, cpu = memory(), time.perf_counter(), time.process_time()
stats = collect_parquet(folder, target="y", want=want, threads=threads)
{"columns": NaiveBayes(), "pairs": TAN(discretize=None)}[want].fit_stats(stats)
done(int(stats.class_weight.sum()), before, start, cpu)
"""
)
FIT = (
    COMMON
    + """
from bayes_engine import *
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
before, start, cpu = memory(), time.perf_counter(), time.process_time()
os.cpu_count = lambda: 8
exec(sys.argv[3])
done(0, before, start, cpu)
"""
)
_TERMS = "make_pipeline(TfidfVectorizer(), {}())"
_CSV = "fit_files(NaiveBayes(), folder, target='y')"
_CLASSIFY = f"""
with tempfile.TemporaryDirectory() as answers:
    classify_files({_CSV}, folder, answers + "/answers.csv")
"""
MODELS: dict[str, tuple[str, str]] = {
    "TAN": ("mixed", "fit_files(TAN(), folder, target='y')"),
    "k-DB": ("mixed", "fit_files(KDependence(2), folder, target='y')"),
    "search": ("mixed", "fit_files(BayesianNetworkClassifier(), folder, target='y')"),
    "held-out": ("mixed", "held_out_risk(TAN(missing='category'), folder, target='y')"),
    "labels": ("mixed", "fit_files(SemiSupervisedNB(hidden='high', max_iter=2), folder, target='y')"),
    "mixture": ("numbers", "fit_files(GaussianMixture(3, max_iter=2), folder)"),
    "texts": ("texts", "fit_files(NaiveBayes(likelihoods={'text': 'multinomial'}), folder, target='y')"),
    "multinomial": ("texts", f"fit_files({_TERMS.format('MultinomialNB')}, folder, target='y', columns=['text'])"),
    "complement": ("texts", f"fit_files({_TERMS.format('ComplementNB')}, folder, target='y', columns=['text'])"),
    "csv": ("csv", _CSV),
    "classify": ("csv", _CLASSIFY),
}
"""What `models` fits by name, or classifies: of which files, and how. EM takes two steps: memory is that of one."""
GIL = """
import threading, time
import numpy as np
codes = np.random.default_rng(0).integers(0, 4096, 2**17)
def work(times):
    for _ in range(times):
        np.bincount(codes, minlength=4096)
work(50)
start = time.perf_counter(); work(800); one = time.perf_counter() - start
pair = [threading.Thread(target=work, args=(400,)) for _ in range(2)]
start = time.perf_counter(); [t.start() for t in pair]; [t.join() for t in pair]
print(one / (time.perf_counter() - start))
"""


def mixed(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Ten columns of levels, five of numbers and the class."""
    pa = pytest.importorskip("pyarrow")
    y = rng.integers(0, 3, n)
    columns = {}
    for j in range(10):
        codes = (rng.integers(0, 2 + j, n) + (rng.random(n) < 0.3) * y) % (2 + j)
        levels = pa.array([f"level {k}" for k in range(2 + j)])
        columns[f"c{j}"] = pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32), mask=rng.random(n) < 0.05), levels
        ).cast(pa.string())
    for j in range(5):
        columns[f"x{j}"] = pa.array(rng.normal(100.0 * j, 1.0 + j, n) + y)
    columns["y"] = pa.DictionaryArray.from_arrays(pa.array(y), pa.array(["low", "middle", "high"])).cast(pa.string())
    return columns


def numbers(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Sixteen columns of numbers."""
    y = rng.integers(0, 3, n)
    return {f"x{j}": rng.normal(100.0 * j, 1.0 + j, n) + y for j in range(16)}


def texts(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A text of four words out of 20,000, the first more frequent, and the class."""
    pa, compute = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.compute")
    words = pa.array([f"word{k}" for k in range(20_000)])
    four = [words.take(pa.array((len(words) * rng.random(n) ** 3).astype(np.int32))) for _ in range(4)]
    y = pa.array(["low", "middle", "high"]).take(pa.array(rng.integers(0, 3, n)))
    return {"text": compute.binary_join_element_wise(*four, " "), "y": y}


ROWS_OF = {"mixed": mixed, "numbers": numbers, "texts": texts, "csv": mixed}


def write(folder: Path, rows: int, group: int = GROUP, what: str = "mixed") -> None:
    """The files of these rows, a row group at a time, where there are none."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    into, ending = pq.ParquetWriter, ".parquet"
    if what == "csv":
        into, ending = pytest.importorskip("pyarrow.csv").CSVWriter, ".csv"
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob(f"*{ending}")):
        return
    rng = np.random.default_rng(0)
    for i, start in enumerate(range(0, rows, FILE)):
        writer = None
        for begin in range(start, min(start + FILE, rows), group):
            n = min(group, rows - begin, start + FILE - begin)
            table = pa.table(ROWS_OF[what](rng, n))
            writer = writer or into(folder / f"part{i:03}{ending}", table.schema)
            writer.write_table(table, group)
        if writer is not None:
            writer.close()


def measured(code: str, *arguments: str) -> tuple[int, float, float, float, float]:
    """Rows, megabytes before and at the peak, seconds by the clock and of the processor, of a process of its own."""
    ran = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    rows, before, peak, clock, cpu = json.loads(ran.stdout)
    return rows, before, peak, clock, cpu


def lines(folder: Path, rows: int) -> list[float]:
    """The table, printed; the peaks of ours."""
    write(folder, rows)
    gil = subprocess.run([sys.executable, "-c", GIL], capture_output=True, text=True, check=True).stdout
    print(f"GIL: two threads of bincount do {float(gil):.2f} of the work of one in the same time")  # noqa: T201
    print(f"{'':34}{'rows':>10}{'MB before':>11}{'peak':>7}{'s':>8}{'CPU s':>8}{'rows/s':>12}{'CPU ratio':>11}")  # noqa: T201
    peaks: list[float] = []
    for threads in ("1", "2"):
        peer = measured(PEER, str(folder), threads)
        for name, run in (
            (f"pyarrow, {threads} thread(s)", peer),
            (f"columns, {threads} thread(s)", measured(OURS, str(folder), threads, "columns")),
            (f"pairs, {threads} thread(s)", measured(OURS, str(folder), threads, "pairs")),
        ):
            n, before, peak, clock, cpu = run
            ratio = cpu / peer[4]
            print(f"{name:34}{n:10d}{before:11.0f}{peak:7.0f}{clock:8.1f}{cpu:8.1f}{n / clock:12.0f}{ratio:11.2f}")  # noqa: T201
            if run is not peer:
                assert n == rows
                peaks.append(peak)
    _, before, peak, clock, cpu = measured(FIT, str(folder), "0", MODELS["TAN"][1])
    name = "TAN, cut points first, 8 cores"
    print(f"{name:34}{rows:10d}{before:11.0f}{peak:7.0f}{clock:8.1f}{cpu:8.1f}{rows / clock:12.0f}")  # noqa: T201
    return [*peaks, peak]


@pytest.mark.bench
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    assert max(lines(tmp_path, ROWS)) < MEGABYTES


def main(rows: int = ROWS, folder: str = "") -> int:
    """Print the table and the goal; the number of goals missed. The files are kept in the folder that is named."""
    with tempfile.TemporaryDirectory() as passing:
        kept = Path(folder or passing)
        peak = max(lines(kept, rows))
    return tell([Goal(f"{rows:,} rows counted in < {MEGABYTES} MB: {peak:.0f}", peak < MEGABYTES)])


def models(rows: int = ROWS, folder: str = "", *names: str) -> int:
    """Fit the MODELS of these names, all without one; the number of those that held too much."""
    goals = []
    print(f"{'':34}{'rows':>10}{'MB before':>11}{'peak':>7}{'s':>8}{'CPU s':>8}")  # noqa: T201
    with tempfile.TemporaryDirectory() as passing:
        for name in names or MODELS:
            what, code = MODELS[name]
            kept = Path(folder or passing) / what
            write(kept, rows, what=what)
            _, before, peak, clock, cpu = measured(FIT, str(kept), "0", code)
            print(f"{name:34}{rows:10d}{before:11.0f}{peak:7.0f}{clock:8.1f}{cpu:8.1f}")  # noqa: T201
            goals.append(Goal(f"{name} of {rows:,} rows in < {MEGABYTES} MB: {peak:.0f}", peak < MEGABYTES))
    return tell(goals)


# on paper ----------------------------------------------------------------------------------------------------------

LINK = 1.25e8
"""Bytes a second between machines: a link of 1 Gbit/s, not measured here."""
WIDE, WIDE_ROWS, LEVELS = 300, 20_000, 5
"""Columns of levels of the wide table, how many rows are counted of it, and the levels of each."""
PAPER_ROWS, PARTS = 8_000_000, 32
"""Rows that workers count to check the model, and their row groups: sixteen for each of two."""


def counted_here(table: Any, want: str) -> tuple[float, list[bytes], Any]:
    """Seconds of the processor that a row group takes to be counted when it is in memory; what eight tasks send, all
    but two of them of its first rows alone; and what merges it."""
    from bayes_engine.scale.block import Block
    from bayes_engine.scale.memory import batch_rows
    from bayes_engine.scale.plan import CountRequest, planned
    from bayes_engine.scale.scan import CountApart
    from bayes_engine.scale.sources import Batches
    from bayes_engine.stats.partial import PartialStatistics

    plan = planned(Batches([table]), CountRequest("y", None, None, None, want))
    asked = PartialStatistics("y", plan.schema.names, None, want, None, (), ())
    count = CountApart(plan, asked, {0: 8})
    few = table.slice(0, 200)
    blocks = [
        Block(
            (0, i),
            "here",
            i + 1,
            8,
            0,
            (),
            lambda some=table if i < 2 else few: iter(some.to_batches(batch_rows(some.num_columns))),
        )
        for i in range(8)
    ]
    others = [count(block) for block in blocks[2:]]
    start = time.process_time()
    parts = [count(block) for block in blocks[:2]]
    return (time.process_time() - start) / 2, [*parts, *others], count


def merging(parts: list[bytes], count: Any) -> float:
    """Seconds of the processor for one of eight results that a task merges."""
    start = time.process_time()
    count.merged(parts)
    return (time.process_time() - start) / len(parts)


def seconds(rows: float, cores: int, parts: int, read: float, tables: float, size: float, merge: float) -> float:
    """T of the model: c_read and c_tab · P a row, then ⌈log₈ parts⌉ merges of eight results of so many bytes."""
    rounds = math.ceil(math.log(parts, 8)) if parts > 1 else 0
    return rows * (read + tables) / cores + rounds * (8 * size / LINK + 8 * merge)


def on_workers(folder: Path, workers: int) -> tuple[float, list[float]] | None:
    """Seconds by the clock, and of the processor of each worker, to count the files; None without `distributed`."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        return None
    from bayes_engine import collect_parquet
    from tests.clusters import cluster

    with tempfile.TemporaryDirectory() as place, cluster(Path(place) / "cluster", workers) as (_, client):
        small = next(folder.glob("*.parquet"))
        collect_parquet(small, target="y", columns=["c0"], client=client)  # the workers import the library
        before, start = client.run(time.process_time), time.perf_counter()
        collect_parquet(folder, target="y", client=client)
        clock, after = time.perf_counter() - start, client.run(time.process_time)
        return clock, [after[address] - before[address] for address in after]


def paper(rows: int = PAPER_ROWS, folder: str = "") -> int:
    """The constants, measured; the model's seconds; and what one worker and two take beside them."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    with tempfile.TemporaryDirectory() as passing:
        kept = Path(folder or passing)
        write(kept, rows, rows // PARTS)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # noqa: T201
        read = measured(PEER, str(kept), "1")[4] / rows
        strings = [f"c{j}" for j in range(10)] + ["y"]
        some = pq.ParquetFile(min(kept.glob("*.parquet")), read_dictionary=strings).read_row_group(0)
        narrow = {want: counted_here(some, want) for want in ("columns", "pairs")}
        rng = np.random.default_rng(0)
        wide = pa.table(
            {f"c{j}": pa.array(rng.integers(0, LEVELS, WIDE_ROWS).astype(str)).dictionary_encode() for j in range(WIDE)}
            | {"y": pa.array(rng.integers(0, 3, WIDE_ROWS).astype(str))}
        )
        print(f"c_read {1e9 * read:8.0f} ns a row of 16 columns, {1e9 * read / 16:.0f} ns a cell")  # noqa: T201
        lines_of: list[tuple[str, float, float, float, float, int]] = []
        for what, table, per_row in (("16 columns", some, read), (f"{WIDE} columns", wide, read / 16 * WIDE)):
            n, columns = table.num_rows, table.num_columns - 1
            levels = 10 if columns < WIDE else WIDE
            for want, tables in (("columns", columns), ("pairs", levels * (levels - 1) // 2)):
                try:
                    took, parts, count = narrow[want] if table is some else counted_here(table, want)
                    merge, size = merging(parts, count), max(map(len, parts))
                except BayesEngineError as error:
                    print(f"{what}, {want}: P = {tables}: {error}")  # noqa: T201
                    continue
                print(  # noqa: T201
                    f"{what}, {want}: P = {tables}, c_tab {1e9 * took / n / tables:.1f} ns a row, "
                    f"B {size / 1e3:.0f} kB, c_merge {1e3 * merge:.1f} ms"
                )
                lines_of.append((f"{what}, {want}", per_row, took / n, size, merge, tables))
        for name, per_row, tabs, size, merge, _ in lines_of:
            times = [seconds(1e9, cores, 1000, per_row, tabs, size, merge) for cores in (1, 2, 16, 256)]
            print(f"10⁹ rows, {name}: " + ", ".join(f"{t:,.0f} s" for t in times) + " on 1, 2, 16, 256 cores")  # noqa: T201
        _, one_read, one_tabs, size, merge, _ = lines_of[0]
        groups = sum(pq.read_metadata(p).num_row_groups for p in kept.glob("*.parquet"))
        for workers in (1, 2):
            foretold = seconds(rows, workers, groups, one_read, one_tabs, size, merge)
            found = on_workers(kept, workers)
            if found is not None:
                print(  # noqa: T201
                    f"{rows:,} rows, {groups} row groups, {workers} worker(s): {foretold:.2f} s foretold; "
                    f"processor {', '.join(f'{s:.2f}' for s in found[1])} s, clock {found[0]:.1f} s, "
                    f"load {os.getloadavg()[0]:.1f}"
                )
    return 0


if __name__ == "__main__":
    runs, told = {"models": models, "paper": paper}, sys.argv[1:]
    run: Any = runs.get(told[0], main) if told else main
    told = told[1:] if run is not main else told
    sys.exit(run(*map(int, map(float, told[:1])), *told[1:]))
