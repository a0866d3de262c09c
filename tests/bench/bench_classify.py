"""A file of a million rows, classified: memory of a fresh process, and CPU time beside pandas and scikit-learn, in one
run: `python -m tests.bench.bench_classify` (BAYES_THOROUGH=1: a million in every format, not in CSV alone).

The process loads the library, opens a CSV of 1e6 rows and 10 columns (numbers, levels, an identifier), classifies it
and writes it with decisions, risks, posteriors and reasons. The peer reads the same file with pandas, predicts with
scikit-learn's GaussianNB and writes the file with its posteriors: no check of a cell, no reasons, the table in memory.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table.write import WRITERS
from tests.bench.goals import Goal, tell, tried
from tests.conftest import THOROUGH


def _arff(heads: bytes, rows: bytes) -> bytes:
    declared = (b"@attribute %b string\n" % name for name in heads.split(b","))
    return b"@relation people\n" + b"".join(declared) + b"@data\n" + rows


def _workbook(data: bytes) -> bytes:
    out = io.BytesIO()
    WRITERS["xlsx"](out, pd.read_csv(io.BytesIO(data), chunksize=50_000), data.count(b"\n") - 1)
    return out.getvalue()


ROWS = 1_000_000
FEWER = ROWS if THOROUGH else ROWS // 5
"""Rows of what is written as a workbook or Parquet, and of files written in other ways."""
MEGABYTES = 500
"""Peak of the whole process, the interpreter and its libraries included."""
RATIO = 5.0
"""CPU seconds of ours over the peer's."""
ODD: dict[str, Callable[[bytes], bytes]] = {
    "a quote within a cell": lambda data: data.replace(b",clerk,", b',clerk 5" x,'),
    "comments between rows": lambda data: data.replace(b"00\n", b"00\n# checked\n"),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "gb18030": lambda data: data.replace(b"Tokyo", "东京".encode("gb18030")),
    "carriage returns": lambda data: data.replace(b"\n", b"\r"),
    "gzip": gzip.compress,
    "ARFF": lambda data: _arff(*data.split(b"\n", 1)),
    "xlsx": _workbook,
    "Parquet": lambda data: pd.read_csv(io.BytesIO(data)).to_parquet(),
}
"""The same rows, written in other ways."""
SLOWER = 3.0
"""CPU seconds for them over those for the plain file."""

COMMON = """
import os, sys, time
os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np, pandas as pd
source, target = sys.argv[1:3]
head = pd.read_csv(sys.argv[4], nrows=3000)
y = np.where(head.height > 172, "tall", np.where(head.weight > 72, "heavy", "light"))
def done(start):
    with open("/proc/self/status") as told:  # ru_maxrss would be that of the parent before the process began its own
        peak = next(int(line.split()[1]) for line in told if line.startswith("VmHWM"))
    print(peak / 1024, time.process_time() - start)
"""
OURS = (
    COMMON
    + """
from bayes_engine import LossMatrix, NaiveBayes
from bayes_engine.workbench.incoming.classified_file import answers, score_file
from bayes_engine.workbench.incoming.second_table import Reception
from bayes_engine.workbench.incoming.file_blocks import open_cells
from bayes_engine.table.write import WRITERS
model = NaiveBayes().fit(head.drop(columns="id"), pd.Series(y, name="build"))
start = time.process_time()
reception = Reception(open_cells(source, max_bytes=10**9), model.schema_, model.target_)
rows, scored = score_file(model, reception)
loss = LossMatrix.zero_one(tuple(model.classes_))
with open(target, "wb") as out:
    WRITERS[sys.argv[3]](out, answers(model, rows, scored, loss, loss.classes), len(rows))
done(start)
"""
)
PEER = (
    COMMON
    + """
from sklearn.naive_bayes import GaussianNB
columns = ["age", "height", "weight", "income", "grade", "score"]
model = GaussianNB().fit(head[columns], y)
start = time.process_time()
table = pd.read_csv(source)
posterior = model.predict_proba(table[columns])
table["decision"] = model.classes_[posterior.argmax(axis=1)]
table[list(model.classes_)] = posterior
table.to_csv(target, index=False)
done(start)
"""
)


def written(path: Path, n: int = ROWS) -> Path:
    """The file to classify."""
    rng = np.random.default_rng(0)
    pd.DataFrame({
        "age": rng.integers(18, 90, n), "height": rng.normal(170, 10, n).round(1),
        "weight": rng.normal(70, 12, n).round(2), "income": rng.normal(4000, 900, n).round(2),
        "city": rng.choice(["Oslo", "Lima", "Rome", "Tokyo", "Paris"], n),
        "job": rng.choice(["clerk", "nurse", "teacher", "driver"], n), "smokes": rng.choice(["yes", "no"], n),
        "grade": rng.integers(1, 6, n), "id": np.arange(n), "score": rng.random(n).round(4),
    }).to_csv(path, index=False)  # fmt: skip
    return path


def measured(code: str, *arguments: str) -> tuple[float, float]:
    """Megabytes at the peak of a process of its own, and its CPU seconds after the imports and the fit."""
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code, *arguments], cwd=root, capture_output=True, text=True, check=True)
    megabytes, seconds = map(float, run.stdout.split())
    return megabytes, seconds


def kinds(folder: Path) -> list[Goal]:
    """Beside the peer, the classified file in each of its formats."""
    goals = []
    for kind, n in (("csv", ROWS), ("xlsx", FEWER), ("parquet", FEWER)):
        source = str(written(folder / "rows.csv", n))
        peer = measured(PEER, source, str(folder / "peer.csv"), "csv", source)
        megabytes, seconds = measured(OURS, source, str(folder / f"ours.{kind}"), kind, source)
        print(f"{kind}, {n:,} rows: {megabytes:.0f} MB, {seconds:.1f} s CPU; "  # noqa: T201
              f"pandas with GaussianNB, csv: {peer[0]:.0f} MB, {peer[1]:.1f} s", flush=True)  # fmt: skip
        what = f"{n:,} rows classified into {kind}"
        goals += [Goal(f"{what} < {MEGABYTES} MB: {megabytes:.0f}", megabytes < MEGABYTES),
                  Goal(f"{what} < {RATIO} × the CPU of pandas with GaussianNB: {seconds / peer[1]:.2f}",
                       seconds / peer[1] < RATIO)]  # fmt: skip
    return goals


def ways(folder: Path) -> list[Goal]:
    """The same rows written in other ways, beside the plain file."""
    source, target, other = written(folder / "rows.csv", FEWER), str(folder / "ours.csv"), folder / "other"
    _, plain = measured(OURS, str(source), target, "csv", str(source))

    def way(name: str) -> list[Goal]:
        other.write_bytes(ODD[name](source.read_bytes()))
        megabytes, seconds = measured(OURS, str(other), target, "csv", str(source))
        print(f"{name}: {megabytes:.0f} MB, {seconds:.1f} s CPU", flush=True)  # noqa: T201
        return [Goal(f"{FEWER:,} rows, {name} < {MEGABYTES} MB: {megabytes:.0f}", megabytes < MEGABYTES),
                Goal(f"{FEWER:,} rows, {name} < {SLOWER} × the CPU of the plain file: {seconds / plain:.2f}",
                     seconds / plain < SLOWER)]  # fmt: skip

    return [goal for name in ODD for goal in tried(name, lambda name=name: way(name))]


@pytest.mark.bench
@pytest.mark.parametrize("part", [kinds, ways])
def test_a_million_rows(part: Callable[[Path], list[Goal]], tmp_path: Path) -> None:
    assert [goal.what for goal in part(tmp_path) if not goal.holds] == []


def main() -> int:
    """Print the tables and the goals; the number of goals missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return tell(tried("formats", lambda: kinds(folder))) + tell(tried("other ways", lambda: ways(folder)))


if __name__ == "__main__":
    sys.exit(main())
