"""A file of a million rows, classified: memory of a fresh process, and CPU time beside pandas and scikit-learn, in one
run: `python tests/bench/bench_classify.py`.

The process loads the library, opens a CSV of 1e6 rows and 10 columns (numbers, levels, an identifier), classifies it
and writes it with decisions, risks, posteriors and reasons. The peer reads the same file with pandas, predicts with
scikit-learn's GaussianNB and writes the file with its posteriors: no check of a cell, no reasons, the table in memory.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table.write import WRITERS


def _arff(heads: bytes, rows: bytes) -> bytes:
    declared = (b"@attribute %b string\n" % name for name in heads.split(b","))
    return b"@relation people\n" + b"".join(declared) + b"@data\n" + rows


def _workbook(data: bytes) -> bytes:
    out = io.BytesIO()
    WRITERS["xlsx"](out, pd.read_csv(io.BytesIO(data), chunksize=50_000), ROWS)
    return out.getvalue()


ROWS = 1_000_000
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


def written(path: Path) -> Path:
    """The file to classify."""
    rng, n = np.random.default_rng(0), ROWS
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


@pytest.mark.bench
def test_a_million_rows(tmp_path: Path) -> None:
    source = str(written(tmp_path / "rows.csv"))
    peer = measured(PEER, source, str(tmp_path / "peer.csv"), "csv", source)
    print(f"\npandas + GaussianNB: {peer[0]:.0f} MB, {peer[1]:.1f} s CPU")  # noqa: T201
    for kind in ("csv", "xlsx", "parquet"):
        megabytes, seconds = measured(OURS, source, str(tmp_path / f"ours.{kind}"), kind, source)
        print(f"{kind}: {megabytes:.0f} MB, {seconds:.1f} s CPU, {seconds / peer[1]:.2f} times the peer's")  # noqa: T201
        assert megabytes < MEGABYTES
        assert seconds / peer[1] < RATIO


@pytest.mark.bench
def test_a_million_rows_written_in_other_ways(tmp_path: Path) -> None:
    source, target, other = written(tmp_path / "rows.csv"), str(tmp_path / "ours.csv"), tmp_path / "other"
    _, plain = measured(OURS, str(source), target, "csv", str(source))
    for name, change in ODD.items():
        other.write_bytes(change(source.read_bytes()))
        megabytes, seconds = measured(OURS, str(other), target, "csv", str(source))
        print(f"\n{name}: {megabytes:.0f} MB, {seconds:.1f} s CPU, {seconds / plain:.2f} times the plain file's")  # noqa: T201
        assert megabytes < MEGABYTES
        assert seconds / plain < SLOWER


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-m", "bench", "-n", "0", "-q", "-s"]))
