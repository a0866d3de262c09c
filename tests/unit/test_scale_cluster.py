"""What workers of a cluster count is what one machine counts, to the last bit, also where one of them is killed."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine import (
    TAN,
    GaussianMixture,
    KDependence,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    SemiSupervisedNB,
    StoreError,
    classify_files,
    collect_parquet,
    evaluate_files,
    fit_files,
    held_out_risk,
)
from bayes_engine.errors import ParameterError, ReadError, SchemaMismatch, TableError
from bayes_engine.scale import Progress, RiskInFiles, scan, written
from bayes_engine.scale import cluster as scale_cluster
from bayes_engine.scale.block import Block
from bayes_engine.scale.cluster import Engine, Spread, Task
from bayes_engine.scale.dask_client import _same
from bayes_engine.stats.partial import MergeTree
from bayes_engine.store.statistics import load_partial
from tests.clusters import Cluster, cluster
from tests.unit.test_scale import Enough, after, bits, files, rows, spoil
from tests.unit.test_scale_em import labelled, numbers
from tests.unit.test_scale_em import written as em_files


class Lost(Exception):
    """As dask says that workers were lost: the task, the last worker, and how many losses it bears."""

    def __init__(self, task: str) -> None:
        super().__init__(task, None, 3)
        self.task = task


Lost.__name__ = "KilledWorker"


class NearBy:
    """Speaks as a `distributed.Client` does and does the work at once, in this process, on copies by pickle. The plan,
    rows and merges are numbered as they come; what is called as `loses` kills its workers."""

    def __init__(self, loses: str = "none") -> None:
        self.loses, self.keys = loses, list[str]()

    def submit(self, task: Any, *parts: Any, pure: bool, priority: int = 0) -> Any:
        kind = "merge" if priority else "rows" if parts else "plan"
        key = f"{kind}-{sum(k.startswith(kind) for k in self.keys)}"
        self.keys.append(key)
        future = SimpleNamespace(key=key, status="finished", exception=lambda: None)
        future.cancelled, future.done = (lambda: False), (lambda: True)
        assert not pure and all(p.status == "finished" for p in parts)
        try:
            if key == self.loses:
                raise Lost(key)
            sent = pickle.loads(pickle.dumps((task, [p.value for p in parts])))  # noqa: S301
            future.value = pickle.loads(pickle.dumps(sent[0](*sent[1])))  # noqa: S301
        except Exception as error:  # noqa: BLE001
            future.status, future.exception = "error", partial(_same, error)
        future.add_done_callback = lambda call: call(future)
        future.result = lambda: future.value
        return future

    def cancel(self, futures: list[Any]) -> None:
        self.keys.append("cancelled")


NearBy.__module__ = "distributed.client"


def test_blocks_and_merges_are_tasks_and_give_the_bits_of_one_machine(tmp_path: Path) -> None:
    made = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, n in zip(made, (18, 4), strict=True):
        fractional(n).to_parquet(path, row_group_size=2)
    near, kept = NearBy(), tmp_path / "part.bayes"
    there = collect_parquet(made, target="good", weight="times", client=near, resume=kept)
    assert bits(there) == bits(collect_parquet(made, target="good", weight="times", resume=kept))
    assert near.keys == [
        "plan-0", *(f"rows-{i}" for i in range(11)), *(f"merge-{i}" for i in range(4)), "cancelled",
    ]  # fmt: skip


def test_a_row_group_that_is_lost_or_refused_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    made, kept = files(rows(60), tmp_path, group=5), tmp_path / "part.bayes"
    near = NearBy(loses="rows-9")
    with pytest.raises(ReadError, match=r"'part2\.parquet', row group 2 of 4: 4 worker.* were lost"):
        collect_parquet(made, target="good", client=near, resume=kept)
    assert sum(node.rows for node in load_partial(kept).nodes) == 45 and near.keys[-1] == "cancelled"
    with pytest.raises(ReadError, match=r"'part1\.parquet', row group 1 of 4: 4 worker.* from here on, were lost"):
        collect_parquet(made, target="good", client=NearBy(loses="merge-1"))
    with pytest.raises(ParameterError, match="client=7 is none of these: "):
        collect_parquet(made, target="good", client=7)
    with pytest.raises(ParameterError, match="threads= is of this machine"):
        collect_parquet(made, target="good", client=near, threads=2)


def test_a_result_that_is_lost_before_its_merge_is_named_itself(tmp_path: Path) -> None:
    """Dask makes it anew then, which may kill workers as well."""

    class LosesResult(NearBy):
        def submit(self, task: Any, *parts: Any, pure: bool, priority: int = 0) -> Any:
            if priority:
                parts[3].status, parts[3].exception = "error", lambda: Lost("rows-2")
                self.loses = "merge-0"
            return super().submit(task, *(p for p in parts if p.status == "finished"), pure=pure, priority=priority)

    made = files(rows(60), tmp_path, group=5)
    with pytest.raises(ReadError, match=r"'part0\.parquet', row group 3 of 4: 4 worker.* were lost"):
        collect_parquet(made, target="good", client=LosesResult())


def test_an_executor_is_an_engine_as_it_stands(tmp_path: Path) -> None:
    """Here: threads. What stops a count leaves what is there to be taken up."""
    made, kept = files(fractional(400), tmp_path, group=10), tmp_path / "part.bayes"
    ask: dict[str, Any] = {"path_or_paths": made, "target": "good", "weight": "times", "want": "pairs"}
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(Enough):
            collect_parquet(**ask, client=pool, resume=kept, progress=after(100))
        assert 100 <= sum(node.rows for node in load_partial(kept).nodes) < 400
        far: list[Progress] = []
        there = collect_parquet(**ask, client=pool, resume=kept, progress=far.append)
        assert far[-1].rows == 400 and far[-1].rows_now <= 300
        (tmp_path / "more").mkdir()
        spoil(files(fractional(40), tmp_path / "more", group=5)[1], 1)
        with pytest.raises(ReadError, match=r"^'part1\.parquet', row group 2 of 3: "):
            collect_parquet(tmp_path / "more", target="good", client=pool)
    assert bits(there) == bits(collect_parquet(**ask))


def test_work_that_others_call_off_is_named_and_no_block_is_no_result(tmp_path: Path) -> None:
    class CalledOff(ThreadPoolExecutor):
        def submit(self, *call: Any) -> Any:
            future: Future[bytes] = Future()
            future.cancel()
            return future

    with pytest.raises(ReadError, match=r"'part0\.parquet', row group 1 of 4: it was called off"):
        collect_parquet(files(rows(60), tmp_path, group=5), target="good", client=CalledOff())
    with Spread(Engine(CalledOff(), Task(str, "".join, "")), []) as none:
        assert none.result(lambda: None) is None and none.finished() == []


def test_what_is_kept_never_becomes_less_where_workers_and_their_results_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan.Pace, "is_due", property(lambda _: True))
    futures: list[Any] = []

    class Holds(NearBy):
        def submit(self, task: Any, *parts: Any, pure: bool, priority: int = 0) -> Any:
            futures.append(super().submit(task, *parts, pure=pure, priority=priority))
            return futures[-1]

    def lost(far: Progress) -> None:
        for future in futures:
            future.done = lambda: far.rows < 40
        if far.rows >= 50:
            raise Enough

    made, kept = files(rows(60), tmp_path, group=5), tmp_path / "part.bayes"
    with pytest.raises(Enough):
        collect_parquet(made, target="good", client=Holds(), resume=kept, progress=lost)
    assert sum(node.rows for node in load_partial(kept).nodes) == 40


def test_a_client_that_takes_no_work_is_refused_in_words(tmp_path: Path) -> None:
    made = files(rows(60), tmp_path, group=5)
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    with pytest.raises(ParameterError, match="client= takes no work: cannot schedule new futures after shutdown; make"):
        collect_parquet(made, target="good", client=closed)
    for kind in (ThreadPoolExecutor, NearBy):
        with pytest.raises(ParameterError, match="is none of these"):
            collect_parquet(made, target="good", client=kind)

    class AllOff(NearBy):
        def submit(self, task: Any, *parts: Any, pure: bool, priority: int = 0) -> Any:
            future = super().submit(task, *parts, pure=pure, priority=priority)
            future.status = "cancelled" if parts else future.status
            return future

    with pytest.raises(ReadError, match=r"^the scheduler has called all off, or is gone"):
        collect_parquet(made, target="good", client=AllOff())


def test_where_for_long_there_is_no_worker_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_cluster, "PATIENCE", 0.0)
    made, workers = files(rows(60), tmp_path, group=5), {"tcp://here": 2}

    class Waits(NearBy):
        def submit(self, task: Any, *parts: Any, pure: bool, priority: int = 0) -> Any:
            future = super().submit(task, *parts, pure=pure, priority=priority)
            future.add_done_callback = lambda call: None
            return future

        def nthreads(self) -> dict[str, int]:
            return workers

    def gone(_: Progress) -> None:
        workers.clear()

    with pytest.raises(ReadError, match=r"^no worker is connected to the scheduler; start some"):
        collect_parquet(made, target="good", client=Waits(), progress=gone)
    assert not workers  # while there was one it went on


def test_an_executor_is_one_whatever_package_it_is_from(tmp_path: Path) -> None:
    class OfDask(ThreadPoolExecutor):
        __module__ = "distributed.cfexecutor"

    made = files(rows(60), tmp_path, group=5)
    with OfDask(2) as pool:
        assert bits(collect_parquet(made, target="good", client=pool)) == bits(collect_parquet(made, target="good"))


def test_a_worker_that_cannot_write_says_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, model = files(rows(60), tmp_path, group=5), NaiveBayes().fit(rows(60)[["seeds"]], rows(60)["good"])

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(written.WRITERS[".parquet"], "add", full)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ReadError) as refused:
        classify_files(model, made, tmp_path / "out.parquet", client=pool)
    assert "cannot be written: No space left on device" in str(refused.value)
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_nothing_is_left_of_answers_that_are_called_off_while_a_worker_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask waits for no task that runs: what stands under the known name is written into while it is removed."""
    parts = written.PartsBeside(tmp_path / "out.parquet").__enter__()

    def racing(folder: Path, **how: Any) -> None:
        was_there = folder.exists()
        rmtree(folder, **how)
        if was_there and folder == parts.folder:
            folder.mkdir()
            (folder / "late").touch()

    monkeypatch.setattr(written, "rmtree", racing)
    parts.__exit__(Enough, Enough(), None)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_part_of_answers_is_refused_and_names_stand_in_their_order(tmp_path: Path) -> None:
    parts = written.PartsBeside(tmp_path / "out").__enter__()
    (parts.folder / "a").write_bytes(b"PAR1 and no more")
    parts.rows["a"] = 3
    with pytest.raises(StoreError, match="does not hold the rows"):
        parts.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == []
    assert written.part_name((3, 99_999)) < written.part_name((3, 100_000)) < written.part_name((100_000, 0))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_processes_count_answer_and_step_as_one_machine_does(tmp_path: Path) -> None:
    """Of a pool whose process is killed the row group is named, what is counted is kept, and a new pool goes on."""
    (tmp_path / "rows").mkdir()
    made, kept = files(fractional(600), tmp_path / "rows", group=25), tmp_path / "part.bayes"
    ask: dict[str, Any] = {"target": "good", "weight": "times"}
    killed: list[int] = []

    def kill(far: Progress) -> None:
        if not killed:
            killed.append(next(iter(pool._processes)))
            os.kill(killed[0], signal.SIGKILL)

    lost = pytest.raises(ReadError, match=r"row group \d+ of \d+: A process in the process pool was terminated")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, lost:
        collect_parquet(made, **ask, client=pool, resume=kept, progress=kill)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert bits(collect_parquet(made, **ask, client=pool, resume=kept)) == bits(collect_parquet(made, **ask))
        here, there = (fit_files(TAN(discretize="quantile", bins=4), made, client=c, **ask) for c in (None, pool))
        assert bits(there.stats_) == bits(here.stats_)
        many = classify_files(here, made, tmp_path / "many.parquet", client=pool)
        one = classify_files(here, made, tmp_path / "one.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(many.path), pd.read_parquet(one.path))
        model, asked = EM[0]
        (tmp_path / "steps").mkdir()
        steps = em_files(numbers(120), tmp_path / "steps", 15)
        assert_identical_trace(*(fit_files(clone(model), steps, client=c, **asked) for c in (pool, None)))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster(tmp_path_factory.mktemp("dask") / "cluster") as (_, client):
        yield client


def fractional(n: int) -> pd.DataFrame:
    """Rows whose weights are no whole numbers, so that every order of a sum shows."""
    frame = rows(n)
    return frame.assign(times=frame["times"] / 3 + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("want", ["columns", "values", "pairs", "scatter"])
def test_counts_and_moments_are_those_of_one_machine_to_the_last_bit(client: Any, want: str, tmp_path: Path) -> None:
    """Of files with 12, 9, 12, no and one row group: more than one task merges."""
    made = files(fractional(2000), tmp_path, group=57)
    made[1].unlink()
    fractional(9 * 30).to_parquet(made[1], row_group_size=30)
    fractional(10)[:0].astype({"sound": "str"}).to_parquet(tmp_path / "part3.parquet")
    fractional(5).to_parquet(tmp_path / "part4.parquet")
    ask: dict[str, Any] = {"target": "good", "weight": "times", "want": want}
    if want == "scatter":
        ask["columns"] = ["seeds"]
    far: list[Progress] = []
    there = collect_parquet(tmp_path, client=client, progress=far.append, **ask)
    here = collect_parquet(tmp_path, **ask)
    assert bits(there) == bits(here)
    if want == "values":
        for name, column in here.values.columns.items():
            np.testing.assert_array_equal(there.values.columns[name].weight, column.weight)
    if here.scatter is not None and there.scatter is not None:
        assert there.scatter.m2.tobytes() == here.scatter.m2.tobytes()
    assert far[-1].share == 1.0 and far[-1].rows == far[-1].total == int(far[-1].rows_now)
    assert [f.rows for f in far] == sorted(f.rows for f in far)


@pytest.mark.slow
def test_all_pairs_of_200_columns_travel_and_are_kept(client: Any, tmp_path: Path) -> None:
    """19,900 tables in every file of a count: more values in its header than a file of few bytes may have."""
    rng, kept = np.random.default_rng(0), tmp_path / "part.bayes"
    wide = pd.DataFrame(rng.integers(0, 5, (30, 200)).astype(str), columns=[f"c{j}" for j in range(200)])
    wide["good"] = rng.choice(["no", "yes"], 30)
    wide.to_parquet(tmp_path / "a.parquet", row_group_size=10)
    ask: dict[str, Any] = {"path_or_paths": tmp_path / "a.parquet", "target": "good", "want": "pairs"}
    with pytest.raises(Enough):
        collect_parquet(**ask, resume=kept, progress=after(10), threads=1)
    assert 10 <= sum(node.rows for node in load_partial(kept).nodes) < 30
    there = collect_parquet(**ask, resume=kept, client=client)
    assert len(there.families.tables) == 19_900 and there.class_weight.sum() == 30
    assert bits(there) == bits(collect_parquet(**ask))
    assert [node.rows for node in load_partial(kept).nodes] == [30]


class Killer:
    """Kills the worker at the gate, once, and has another one begin where it should."""

    def __init__(self, cluster: Cluster, *, again: bool) -> None:
        self.cluster, self.again, self.killed = cluster, again, 0

    def __call__(self, far: Progress) -> None:
        if not self.killed and self.cluster.kill_at_gate():
            self.killed += 1
            if self.again:
                self.cluster.worker()


@pytest.mark.slow
def test_a_row_group_that_no_worker_survives_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    made = files(fractional(1800), tmp_path, group=50)
    kept = tmp_path / "part.bayes"
    none = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    ask: dict[str, Any] = {"target": "good", "weight": "times", "resume": kept}
    with cluster(tmp_path / "cluster", **none) as (started, client):
        started.gate(made[2], 11)
        with pytest.raises(ReadError, match=r"'part\d\.parquet', row group \d+ of 12: 1 worker.* were lost"):
            collect_parquet(made, client=client, progress=Killer(started, again=False), **ask)
        counted = sum(node.rows for node in load_partial(kept).nodes)
        assert 0 < counted <= 1750
        far: list[Progress] = []
        there = collect_parquet(made, client=client, progress=far.append, **ask)
        assert far[-1].rows_now == 1800 - counted
    assert bits(there) == bits(collect_parquet(made, target="good", weight="times"))


@pytest.mark.slow
def test_a_count_goes_from_one_machine_to_a_cluster_and_back(client: Any, tmp_path: Path) -> None:
    made = files(fractional(1800), tmp_path, group=50)
    whole = collect_parquet(made, target="good", weight="times")
    kept = tmp_path / "part.bayes"
    for n, there in ((100, None), (700, client), (1100, None)):
        with pytest.raises(Enough):
            collect_parquet(made, target="good", weight="times", resume=kept, progress=after(n), client=there)
        assert n <= sum(node.rows for node in load_partial(kept).nodes) < 1800
    again = collect_parquet(made, target="good", weight="times", resume=kept, client=client)
    assert bits(again) == bits(whole)
    assert bits(collect_parquet(made, target="good", weight="times", resume=kept)) == bits(whole)


@pytest.mark.slow
def test_what_files_do_wrong_is_named_from_a_worker_too(client: Any, tmp_path: Path) -> None:
    frame = rows(900)
    made = files(frame, tmp_path, group=100)
    spoil(made[1], 1)
    kept = tmp_path / "part.bayes"
    with pytest.raises(ReadError, match=r"^'part1\.parquet', row group 2 of 3: "):
        collect_parquet(made, target="good", client=client, resume=kept)
    assert not kept.exists() or sum(node.rows for node in load_partial(kept).nodes) <= 800
    odd = frame.assign(mass=frame["mass"].where(frame.index != 850, np.inf))
    made = files(odd, tmp_path, group=100)
    said = r"^'part2\.parquet', row group 3 of 3: column 'mass' holds infinity .* in row 251"
    with pytest.raises(ReadError, match=said):
        collect_parquet(made, target="good", client=client)
    frame.assign(sound=1).to_parquet(made[1])
    with pytest.raises(SchemaMismatch, match=r"strings in 'part0\.parquet' and numbers in 'part1\.parquet'"):
        collect_parquet(made, target="good", client=client)


@pytest.mark.slow
def test_a_file_that_is_another_on_the_worker_is_named(client: Any, tmp_path: Path) -> None:
    """Here: changed after it was looked at and before it was read."""
    from bayes_engine.scale import plan, sources

    made = files(rows(300), tmp_path)
    source = sources.Parquet(made)
    [block, *_] = source.blocks(plan.planned(source, plan.CountRequest("good", None, None, None, "columns")),
                                MergeTree(), apart=True)  # fmt: skip
    rows(50).to_parquet(made[0])
    assert isinstance(block, Block)
    with pytest.raises(ReadError, match="on this worker it is not there, or of another size or time"):
        block.batches()


# models, their risk, and their answers ------------------------------------------------------------------------------


def assert_same_risk(there: RiskInFiles, here: RiskInFiles) -> None:
    assert (there.risk, there.interval, there.log_loss, there.brier) == (
        here.risk, here.interval, here.log_loss, here.brier
    )  # fmt: skip
    assert there.confusion.tobytes() == here.confusion.tobytes() and there.fold_rows == here.fold_rows
    assert there.rows == here.rows and there.undecided == here.undecided and there.ece == here.ece


def test_models_risks_and_answers_are_those_of_one_machine(tmp_path: Path) -> None:
    near = NearBy()
    frame = fractional(40)[["sound", "mass", "good"]].assign(times=1.5)
    (tmp_path / "rows").mkdir()
    frame.to_parquet(tmp_path / "rows" / "a.parquet", row_group_size=15)
    ask: dict[str, Any] = {"target": "good", "weight": "times"}
    here, there = (fit_files(NaiveBayes(), tmp_path / "rows", client=c, **ask) for c in (None, near))
    assert bits(there.stats_) == bits(here.stats_)
    risks = [held_out_risk(NaiveBayes(), tmp_path / "rows", folds=2, client=c, **ask) for c in (None, near)]
    assert_same_risk(*risks)
    done = [
        classify_files(here, tmp_path / "rows", tmp_path / f"{name}.parquet", client=c)
        for name, c in (("one", None), ("many", near))
    ]
    assert [d.actions for d in done] == [done[0].actions] * 2 and done[1].rows == 40
    pd.testing.assert_frame_equal(*(pd.read_parquet(d.path) for d in done))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["many.parquet", "one.parquet", "rows"]
    with pytest.raises(StoreError, match=r"there is a .* already"):
        classify_files(here, tmp_path / "rows", tmp_path / "many.parquet", client=near)
    with pytest.raises(ReadError, match=r"row group 3 of 3: 4 worker.* were lost"):
        classify_files(here, tmp_path / "rows", tmp_path / "more.parquet", client=NearBy(loses="rows-2"))
    assert not (tmp_path / "more.parquet").exists() and len(list(tmp_path.iterdir())) == 3
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ParameterError, match="client= needs Parquet"):
        fit_files(NaiveBayes(), tmp_path / "a.csv", target="good", client=near)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), TAN(discretize="quantile", bins=4), KDependence(2, discretize="quantile", bins=3)],
    ids=lambda m: type(m).__name__,
)
def test_a_fit_and_its_held_out_risk_are_those_of_one_machine(client: Any, model: Any, tmp_path: Path) -> None:
    made = files(fractional(2000), tmp_path, group=57)
    ask: dict[str, Any] = {"target": "good", "weight": "times"}
    here, there = (fit_files(model, made, client=c, **ask) for c in (None, client))
    assert bits(there.stats_) == bits(here.stats_) and there.schema_ == here.schema_
    far: list[Progress] = []
    risks = [held_out_risk(model, made, client=c, progress=far.append, **ask) for c in (None, client)]
    assert_same_risk(*risks)
    assert far[-1].step == far[-1].steps == risks[0].passes
    risks = [evaluate_files(here, made, target="good", groups="seeds", client=c) for c in (None, client)]
    assert_same_risk(*risks)
    scatter = [held_out_risk(LinearDiscriminantAnalysis(), made, columns=["seeds"], client=c, **ask)
               for c in (None, client)]  # fmt: skip
    assert_same_risk(*scatter)


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_no_bit_and_every_row_is_answered_once(tmp_path: Path) -> None:
    """One while rows are counted, which is replaced, another while they are answered, which is not."""
    frame = fractional(1800)
    frame["id"] = np.arange(1800)
    (tmp_path / "rows").mkdir()
    made = files(frame, tmp_path / "rows", group=50)
    model = fit_files(NaiveBayes(), made, target="good", columns=["sound", "touch", "mass", "seeds"])
    one = classify_files(model, made, tmp_path / "one.parquet")
    ask: dict[str, Any] = {"target": "good", "weight": "times", "want": "pairs", "columns": ["sound", "touch", "mass"]}
    here = collect_parquet(made, **ask)
    with cluster(tmp_path / "cluster") as (started, client):
        started.gate(made[2], 5)
        counting = Killer(started, again=True)
        there = collect_parquet(made, client=client, progress=counting, **ask)
        started.gate(made[1], 7)
        killer = Killer(started, again=False)
        many = classify_files(model, made, tmp_path / "many.parquet", client=client, progress=killer)
        risk = held_out_risk(model, made, target="good", columns=["sound", "mass"], client=client)
    assert counting.killed == 1 and bits(there) == bits(here)
    assert killer.killed == 1 and many.rows == 1800 and many.actions == one.actions
    answers = pd.read_parquet(many.path)
    assert answers["id"].tolist() == list(range(1800))
    pd.testing.assert_frame_equal(answers, pd.read_parquet(one.path))
    assert [p.name for p in sorted(many.path.iterdir())] == [
        written.part_name((i, g)) for i in range(3) for g in range(12)
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cluster", "many.parquet", "one.parquet", "rows"]
    assert_same_risk(risk, held_out_risk(model, made, target="good", columns=["sound", "mass"]))


@pytest.mark.slow
def test_no_rows_are_answered_by_a_file_without_rows(client: Any, tmp_path: Path) -> None:
    frame = rows(20)
    model = NaiveBayes().fit(frame[["sound", "mass"]], frame["good"])
    frame[:0].astype({"sound": "str"}).to_parquet(tmp_path / "a.parquet")
    done = classify_files(model, tmp_path / "a.parquet", tmp_path / "none.parquet", client=client)
    assert done.rows == 0 and len(pd.read_parquet(done.path)) == 0
    with pytest.raises(TableError, match="no rows to count"):
        held_out_risk(NaiveBayes(), tmp_path / "a.parquet", target="good", columns=["mass"], client=client)


# EM ------------------------------------------------------------------------------------------------------------------


def assert_identical_trace(there: Any, here: Any) -> None:
    """To the last bit, but for what a step took."""
    assert there.trace_.n_iter == here.trace_.n_iter
    pd.testing.assert_frame_equal(there.trace_.table(), here.trace_.table(), check_exact=True)


EM: list[tuple[Any, dict[str, Any]]] = [
    (GaussianMixture(2, max_iter=4, random_state=0, tol=0.0), {"columns": ["x", "y"]}),
    (SemiSupervisedNB(NaiveBayes(), max_iter=4, tol=0.0), {"columns": ["sound", "mass"], "target": "good"}),
]


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(("model", "ask"), EM, ids=["mixture", "labels"])
def test_em_takes_the_same_steps_on_workers(model: Any, ask: dict[str, Any], tmp_path: Path) -> None:
    made = em_files(numbers(60) if "target" not in ask else labelled(60), tmp_path, 15)
    model = clone(model).set_params(max_iter=1)
    here, there = (fit_files(model, made, client=c, **ask) for c in (None, NearBy()))
    assert_identical_trace(there, here)


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_start_that_is_drawn_row_by_row_is_refused_to_workers(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="drawn row by row"):
        fit_files(SemiSupervisedNB(NaiveBayes(), init="random"), em_files(labelled(20), tmp_path, 15), target="good",
                  columns=["mass"], client=NearBy())  # fmt: skip


class KillerInStep(Killer):
    """Waits for the fifth pass before it sets the gate."""

    def __init__(self, cluster: Cluster, file: Path, *, again: bool) -> None:
        super().__init__(cluster, again=again)
        self.file, self.step = file, 0

    def __call__(self, far: Progress) -> None:
        if far.step == 5 and not self.step:
            self.step = far.step
            self.cluster.gate(self.file, 8)
        super().__call__(far)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_worker_killed_in_an_iteration_gives_the_identical_trace(tmp_path: Path) -> None:
    """First one that is replaced, then one that is not."""
    with cluster(tmp_path / "cluster") as (started, client):
        for model, ask in reversed(EM):
            again = "target" in ask
            (folder := tmp_path / f"rows-{again}").mkdir()
            made = em_files(labelled(360) if again else numbers(360), folder, 20)  # nine row groups a file
            killer = KillerInStep(started, made / "part1.parquet", again=again)
            started.forget_gate()
            asked = clone(model).set_params(max_iter=8)
            there = fit_files(asked, made, client=client, progress=killer, **ask)
            assert killer.killed == 1
            assert_identical_trace(there, fit_files(asked, made, **ask))
