"""What a Spark session counts, fits, judges and answers is what one machine does, to the last bit."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread, local
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

from bayes_engine import TAN, KDependence, NaiveBayes, classify_files, collect_parquet, fit_files, held_out_risk
from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.scale import Progress, spark_client
from bayes_engine.store.statistics import load_partial
from tests.clusters import GATE
from tests.conftest import ROOT
from tests.unit.test_scale import Enough, after, bits, files, rows, spoil
from tests.unit.test_scale_cluster import EM, assert_identical_trace, assert_same_risk, fractional
from tests.unit.test_scale_em import labelled, numbers
from tests.unit.test_scale_em import written as em_files
from tests.worker_tasks import noted_and_worked


class Frame:
    """The partitions of a frame of Spark's, and what is done with them."""

    def __init__(self, parts: list[list[Any]]) -> None:
        self.parts = parts

    def mapInArrow(self, work: Any, columns: str) -> Frame:
        names = [column.split()[0] for column in columns.split(",")]
        found = [list(pickle.loads(pickle.dumps(work))(iter(part))) for part in self.parts]  # noqa: S301
        assert all(batch.schema.names == names for part in found for batch in part)
        return Frame(found)

    def repartition(self, parts: int) -> Frame:
        assert parts == 1
        return Frame([[batch for part in reversed(self.parts) for batch in part]])

    def collect(self) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for part in self.parts for batch in part for row in batch.to_pylist()]


class NearBySpark:
    """Speaks as a `SparkSession` does and does the work at once, in this process, on copies by pickle; or does
    `instead` where a job would collect. Tags are of the thread that sets them. That of a session is found from another
    thread on Spark Connect alone (`connect`), that of a job elsewhere, and only on jobs that have begun."""

    def __init__(self, instead: Callable[[NearBySpark], Any] | None = None, *, connect: bool = False) -> None:
        self.tags, self.jobs, self.instead, self.connect = list[str](), list[int](), instead, connect
        self.own, self.begun, self.is_stopped = local(), list[tuple[str, Event]](), False
        self.to_begin, self.asked = Event(), Event()
        if not connect:
            self.sparkContext = SimpleNamespace(_jsc=self, addJobTag=self._tagged, cancelJobsWithTag=self._cancelled)

    def range(self, start: int, end: int, step: int, parts: int) -> Frame:
        assert (start, step, parts) == (0, 1, end)
        self.jobs.append(end)
        frame = Frame([[pa.RecordBatch.from_arrays([pa.array([i])], ["id"])] for i in range(end)])
        if self.instead is not None:
            frame.collect = partial(self.instead, self)  # type: ignore[method-assign]
            frame.mapInArrow = frame.repartition = lambda *_: frame  # type: ignore[method-assign]
        return frame

    def addTag(self, tag: str) -> None:
        if self.connect:
            self._tagged(tag)

    def interruptTag(self, tag: str) -> None:
        if self.connect:
            self._cancelled(tag)

    def _tagged(self, tag: str) -> None:
        self.own.tag = tag
        self.tags.append(tag)

    def _cancelled(self, tag: str) -> None:
        for name, over in list(self.begun):
            if name == tag:
                over.set()
        self.asked.set()


NearBySpark.__module__ = "pyspark.sql.session"


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> NearBySpark:
    by_pickle = SimpleNamespace(CPickleSerializer=lambda: pickle)
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(serializers=by_pickle))
    monkeypatch.setitem(sys.modules, "pyspark.serializers", by_pickle)
    return NearBySpark()


def test_eight_row_groups_are_a_job_and_the_bits_are_those_of_one_machine(near: NearBySpark, tmp_path: Path) -> None:
    made = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, n in zip(made, (18, 2), strict=True):
        fractional(n).to_parquet(path, row_group_size=2)
    ask: dict[str, Any] = {"target": "good", "weight": "times", "columns": ["sound", "mass"]}
    there = collect_parquet(made, client=near, resume=tmp_path / "part.bayes", **ask)
    assert bits(there) == bits(collect_parquet(made, resume=tmp_path / "part.bayes", **ask))
    assert sorted(near.jobs) == [1, 1, 8] and len(set(near.tags)) == 1
    ask["columns"] = ["sound"]
    risks = [held_out_risk(NaiveBayes(), made, folds=2, client=c, **ask) for c in (None, near)]
    assert_same_risk(*risks)


def test_what_a_worker_of_spark_refuses_is_raised_here(near: NearBySpark, tmp_path: Path) -> None:
    made = files(rows(18), tmp_path, group=3)
    spoil(made[1], 1)
    with pytest.raises(ReadError, match=r"^'part1\.parquet', row group 2 of 2: "):
        collect_parquet(made, target="good", client=near)
    with pytest.raises(ReadError, match=r"row group 1 of 2: Spark did not finish .* from here on: division by zero"):
        collect_parquet(made[0], target="good", client=NearBySpark(lambda _: 1 / 0))
    strange = type("SparkSession", (), {"__module__": "pyspark.sql.session"})()
    with pytest.raises(ParameterError, match=r"none of these: .* a SparkSession"):
        collect_parquet(made[0], target="good", client=strange)


def late(session: NearBySpark) -> None:
    """A job that begins once jobs have been cancelled, and goes on until it is cancelled itself."""
    session.to_begin.set()
    assert session.asked.wait(10), "nothing was cancelled"
    over = Event()
    session.begun.append((session.own.tag, over))
    assert over.wait(10), "it was not cancelled"
    raise RuntimeError("cancelled")


@pytest.mark.parametrize("connect", [False, True], ids=["classic", "connect"])
def test_a_cancel_finds_jobs_that_begin_after_it(near: NearBySpark, connect: bool, tmp_path: Path) -> None:
    session = NearBySpark(late, connect=connect)

    def cancel(_: Progress) -> None:
        session.to_begin.wait(10)
        raise Enough

    with pytest.raises(Enough):
        collect_parquet(files(rows(18), tmp_path, group=3), target="good", client=session, progress=cancel)
    assert session.begun and all(over.is_set() for _, over in session.begun)


TRACEBACK = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "worker.py", line 1, in loads
    return loads(obj)
           ^^^^^^^^^^
KeyError: 'the first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "worker.py", line 3, in read_command
    command = serializer.loads(file)
ModuleNotFoundError: No module named 'bayes_engine'
 SQLSTATE: 38000
"""
JAVA = """An error occurred while calling o938.collectToPython.
: org.apache.spark.SparkException: Job 2 cancelled because SparkContext was shut down
\tat org.apache.spark.scheduler.DAGScheduler.onStop(DAGScheduler.scala:4866)
Caused by: java.io.EOFException
"""


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (TRACEBACK, "ModuleNotFoundError: No module named 'bayes_engine'"),
        (JAVA, "org.apache.spark.SparkException: Job 2 cancelled because SparkContext was shut down"),
        ("\n  No space left.\n\tat Disk.java", "No space left."),
        ("", "OSError"),
    ],
    ids=["python", "java", "first-line", "nothing"],
)
def test_the_reason_of_spark_is_the_line_that_says_what_happened(
    near: NearBySpark, said: str, reason: str, tmp_path: Path
) -> None:
    def fail(_: NearBySpark) -> None:
        raise OSError(said)

    made = files(rows(18), tmp_path, group=3)[0]
    with pytest.raises(ReadError, match=rf"row group 1 of 2: Spark .* from here on: {re.escape(reason)}$"):
        collect_parquet(made, target="good", client=NearBySpark(fail))


@pytest.mark.parametrize("connect", [False, True], ids=["classic", "connect"])
def test_a_session_that_is_or_comes_to_be_stopped_is_named(near: NearBySpark, connect: bool, tmp_path: Path) -> None:
    def stop(session: NearBySpark) -> None:
        session.is_stopped = True
        if not connect:
            session.sparkContext._jsc = None
        raise AttributeError("'NoneType' object has no attribute 'sc'")

    session, made = NearBySpark(stop, connect=connect), files(rows(18), tmp_path, group=3)[0]
    for _ in range(2):
        with pytest.raises(ParameterError, match=r"^client= is a SparkSession that is stopped"):
            collect_parquet(made, target="good", client=session)
    assert session.jobs == [2]


# a real session ------------------------------------------------------------------------------------------------------

slow = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning",
        "ignore::DeprecationWarning",
        "ignore:PySpark does not yet fully support:FutureWarning",
    ),
]


def on(*marks: Any) -> Callable[[Any], Any]:
    """A test with all of these marks."""

    def marked(test: Any) -> Any:
        for mark in marks:
            test = mark(test)
        return test

    return marked


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the path of Spark's Python workers whose `sitecustomize` sets the gate of `tests.clusters`."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "sitecustomize.py").write_text(GATE)
    return folder


@pytest.fixture(scope="module")
def spark(gates: Path) -> Iterator[Any]:
    """A local master with two threads, which tries each task four times."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed: apt-get install default-jre-headless")
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install -e '.[spark]'")
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable, "BAYES_GATE": str(gates), "OMP_NUM_THREADS": "1",
        "PYTHONPATH": f"{gates}{os.pathsep}{ROOT}", "SPARK_LOCAL_IP": "127.0.0.1",
    }  # fmt: skip
    settings = {
        "spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.sql.adaptive.enabled": "true",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2,4]").appName("bayes")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
        os.environ.clear()
        os.environ.update(before)


@on(*slow, pytest.mark.parametrize("want", ["columns", "values", "pairs", "scatter"]))
def test_counts_and_moments_of_spark_are_those_of_one_machine(spark: Any, want: str, tmp_path: Path) -> None:
    made = files(fractional(2000), tmp_path, group=80)
    made[1].unlink()
    fractional(9 * 30).to_parquet(made[1], row_group_size=30)
    fractional(10)[:0].astype({"sound": "str"}).to_parquet(tmp_path / "part3.parquet")
    fractional(5).to_parquet(tmp_path / "part4.parquet")
    ask: dict[str, Any] = {"target": "good", "weight": "times", "want": want}
    if want == "scatter":
        ask["columns"] = ["seeds"]
    far: list[Progress] = []
    there = collect_parquet(tmp_path, client=spark, progress=far.append, **ask)
    here = collect_parquet(tmp_path, **ask)
    assert bits(there) == bits(here)
    if here.scatter is not None and there.scatter is not None:
        assert there.scatter.m2.tobytes() == here.scatter.m2.tobytes()
    assert far[-1].share == 1.0 and [f.rows for f in far] == sorted(f.rows for f in far)


@on(*slow)
def test_a_worker_of_spark_killed_in_the_middle_changes_no_bit(spark: Any, gates: Path, tmp_path: Path) -> None:
    made = files(fractional(1800), tmp_path, group=50)
    here = collect_parquet(made, target="good", weight="times", want="pairs")
    reached = gates / "reached"
    (gates / "at").write_text(f"{made[1].name} 7")
    killed: list[int] = []

    def kill() -> None:
        for _ in range(1200):
            if reached.exists() and (told := reached.read_text()):
                os.kill(int(told), signal.SIGKILL)
                killed.append(int(told))
                return
            time.sleep(0.05)

    killer = Thread(target=kill)
    killer.start()
    there = collect_parquet(made, target="good", weight="times", want="pairs", client=spark)
    killer.join()
    (gates / "at").unlink()
    assert len(killed) == 1 and bits(there) == bits(here)


@on(*slow)
def test_a_cancel_stops_the_jobs_of_spark(spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    (tmp_path / "begun").mkdir()
    made = files(fractional(900), tmp_path / "rows", group=10)
    monkeypatch.setattr(spark_client, "_worked", partial(noted_and_worked, tmp_path / "begun"))

    def begun() -> int:
        return len(list((tmp_path / "begun").iterdir()))

    def cancel(_: Progress) -> None:
        if begun():
            raise Enough

    with pytest.raises(Enough):
        collect_parquet(made, target="good", client=spark, progress=cancel)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds() and begun() < 45


@on(*slow)
def test_what_a_worker_of_spark_lacks_is_named(spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here_alone = ModuleType("here_alone")
    exec("def worked(task, blocks, batches): yield from batches", vars(here_alone))  # noqa: S102
    monkeypatch.setitem(sys.modules, "here_alone", here_alone)
    monkeypatch.setattr(spark_client, "_worked", here_alone.worked)
    with pytest.raises(ReadError, match=r"from here on: ModuleNotFoundError: No module named 'here_alone'$"):
        collect_parquet(files(rows(18), tmp_path, group=3), target="good", client=spark)


@on(*slow)
def test_a_count_goes_from_one_machine_to_spark_and_back(spark: Any, tmp_path: Path) -> None:
    made = files(fractional(1800), tmp_path, group=60)
    whole = collect_parquet(made, target="good", weight="times")
    kept = tmp_path / "part.bayes"
    for n, there in ((100, None), (600, spark), (1100, None)):
        with pytest.raises(Enough):
            collect_parquet(made, target="good", weight="times", resume=kept, progress=after(n), client=there)
        assert n <= sum(node.rows for node in load_partial(kept).nodes) < 1800
    assert bits(collect_parquet(made, target="good", weight="times", resume=kept, client=spark)) == bits(whole)
    spoil(made[1], 3)
    with pytest.raises(ReadError, match=r"^'part1\.parquet', row group 4 of 10: "):
        collect_parquet(made, target="good", client=spark)


@on(
    *slow,
    pytest.mark.parametrize(
        "model",
        [NaiveBayes(), TAN(discretize="quantile", bins=4), KDependence(2, discretize="quantile", bins=3)],
        ids=lambda m: type(m).__name__,
    ),
)
def test_models_risks_and_answers_of_spark_are_those_of_one_machine(spark: Any, model: Any, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    made = files(fractional(1200), tmp_path / "rows", group=100)
    ask: dict[str, Any] = {"target": "good", "weight": "times"}
    here, there = (fit_files(model, made, client=c, **ask) for c in (None, spark))
    assert bits(there.stats_) == bits(here.stats_) and there.schema_ == here.schema_
    assert_same_risk(*(held_out_risk(model, made, client=c, **ask) for c in (None, spark)))
    done = [
        classify_files(here, made, tmp_path / f"{name}.parquet", client=c)
        for name, c in (("one", None), ("many", spark))
    ]
    assert done[0].actions == done[1].actions
    pd.testing.assert_frame_equal(*(pd.read_parquet(d.path) for d in done))


@on(
    *slow,
    pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning"),
    pytest.mark.parametrize(("model", "ask"), EM, ids=["mixture", "labels"]),
)
def test_em_takes_the_same_steps_on_spark(spark: Any, model: Any, ask: dict[str, Any], tmp_path: Path) -> None:
    made = em_files(numbers(600) if "target" not in ask else labelled(600), tmp_path, 100)
    here, there = (fit_files(clone(model), made, client=c, **ask) for c in (None, spark))
    assert_identical_trace(there, here)
