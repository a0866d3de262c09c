"""Worker processes, started for real: what they come to is what is computed here, and each that ends is replaced."""

from __future__ import annotations

import io
import math
import operator
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import BayesEngineError, TableError, listen
from bayes_engine.language import Message
from bayes_engine.models.aode import AODE
from bayes_engine.models.em_runs import run_em
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.progress import Cancelled, watching
from bayes_engine.table.read import read_table
from bayes_engine.table.roles import take_apart
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.workers import child, pool
from bayes_engine.workbench.workers.pool import Call, Pool, Worker, WorkerLost
from pages.runtime.job_queue import Job, computing, in_worker
from tests.conftest import PATIENCE
from tests.worker_tasks import arrow_pool, counted, kept_when_stopped

MELON = load_dataset("watermelon2")
PARTS = take_apart(MELON.frame, MELON.schema)
NEVER_ENDS = partial(counted, 10**12)


LIGHT = pool.STARTED.replace("import main; main()", "import child; child.NEEDED = (); child.main()").replace(
    ".child import child", " import child"
)
"""How a process starts here: it imports what a call needs once that comes."""


@pytest.fixture(autouse=True, scope="module")
def light() -> Iterator[None]:
    """No call is long by itself: what it imports counts as its work, and on a slow machine is more than `LONG`; then a
    second process would be started, and either may be closed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "STARTED", LIGHT)
        patch.setattr(pool, "LONG", math.inf)
        yield


@pytest.fixture(scope="module")
def workers(light: None) -> Iterator[Pool]:
    there = Pool(1)
    there.start()
    yield there
    there.close()


@pytest.mark.slow
def test_a_process_starts_as_it_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STARTED", LIGHT.replace("child.NEEDED = (); ", ""))
    there = Pool(1)
    there.start()
    until(lambda: there.is_ready)
    modules = there.compute(partial(eval, "[name for name in __import__('sys').modules]"))
    there.close()
    assert {*child.NEEDED} <= {*modules} and "streamlit" not in modules


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


class Waiting(threading.Thread):
    """Waits for a call in a thread of its own; `stop` calls it off."""

    def __init__(self, there: Pool, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.there, self.work = there, work
        self.stop, self.far = threading.Event(), [(0.0, 0)]
        self.result: object = None
        self.error: BaseException | None = None
        self.is_aside = False
        self.start()

    def run(self) -> None:
        try:
            with watching(self.stop.is_set, lambda *far: self.far.append(far), 0.0):
                self.result = self.there.compute(self.work, self)
        except BaseException as error:  # noqa: BLE001
            self.error = error


def at_work(there: Pool) -> Worker:
    [worker] = [worker for worker in there.processes if worker.call is not None]
    return worker


CSV = "size,city,price\n" + "1.5,Oslo,low\n2,Rome,high\n,京都,high\n2.25,Oslo,low\n" * 30
WORK: dict[str, Callable[[], object]] = {
    "held out": partial(held_out, AODE(schema=PARTS.schema).fit(PARTS.X, PARTS.y), PARTS.X, PARTS.y),
    "EM": partial(run_em, np.random.default_rng(1).normal(size=(40, 2)), 3, "random", seed=4),
    "doctor": partial(examine, MELON.frame, MELON.schema),
    "reading": partial(read_table, CSV.encode(), name="rooms.csv"),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
@pytest.mark.slow
def test_a_result_is_what_is_computed_here_bit_for_bit(workers: Pool, work: Callable[[], object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = work(), workers.compute(work)
    assert contents(there) == contents(here)


@pytest.mark.slow
def test_a_model_is_fitted_there_as_here(workers: Pool) -> None:
    fit = partial(AODE(schema=PARTS.schema).fit, PARTS.X, PARTS.y)
    with listen():
        here, there = fit(), workers.compute(fit)
    assert there.predict_log_proba(PARTS.X).tobytes() == here.predict_log_proba(PARTS.X).tobytes()
    assert contents(there.get_params()) == contents(here.get_params())


def contents(value: object) -> bytes:
    """Pickled once more: what is one object in one of the two may be two in the other."""
    return pickle.dumps(pickle.loads(pickle.dumps(value)))  # noqa: S301


@pytest.mark.slow
def test_arrow_reserves_no_memory_beyond_what_it_uses(workers: Pool) -> None:
    """A pool that reserves a gigabyte would leave half of what a call may take."""
    assert workers.compute(arrow_pool, None) == "system"


def test_an_error_is_raised_as_it_is(workers: Pool) -> None:
    with pytest.raises(TableError, match="row") as refused:
        workers.compute(partial(AODE().fit, PARTS.X, PARTS.y.iloc[:3]))
    assert isinstance(refused.value.message, Message)
    with pytest.raises(ZeroDivisionError):
        workers.compute(partial(operator.truediv, 1, 0))


def test_what_cannot_be_sent_is_an_error_and_nothing_waits_for_ever(workers: Pool) -> None:
    with pytest.raises(TypeError):
        workers.compute(threading.Lock)  # its result
    with pytest.raises(Exception, match=r"lambda|pickle"):
        workers.compute(lambda: 1)
    assert workers.calls == [] and workers.compute(partial(math.sqrt, 4.0)) == 2.0


def test_what_estimates_warn_of_is_heard_here(workers: Pool) -> None:
    table = pd.DataFrame({"x": [1.0] * 6, "z": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], "y": list("aaabbb")})
    parts = take_apart(table, Schema.from_dtypes(table).with_role("y", "target"))
    fit = partial(SelectiveNaiveBayes().fit, parts.X, parts.y)
    with listen() as here:
        fit()
    with listen() as there:
        workers.compute(fit)
    assert here and [str(note) for note in there] == [str(note) for note in here]


def test_a_call_says_how_far_it_is_and_is_called_off(workers: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STOP_WITHIN", PATIENCE)  # a busy machine comes late to the next step
    waiting = Waiting(workers, partial(counted, 10**9, 0.001))
    until(lambda: waiting.far[-1][1] == 10**9 and waiting.far[-1][0] > 1)
    process = at_work(workers)
    waiting.stop.set()
    waiting.join(PATIENCE)
    assert isinstance(waiting.error, Cancelled) and workers.calls == []
    until(lambda: process.call is None)
    assert workers.compute(partial(os.getpid)) == process.process.pid  # it had a step at which to stop


def test_who_calls_a_call_off_finds_what_it_keeps(
    workers: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pool, "STOP_WITHIN", PATIENCE)
    waiting = Waiting(workers, partial(kept_when_stopped, tmp_path / "part", 0.3))
    until(lambda: waiting.far[-1][0] > 1)
    waiting.stop.set()
    waiting.join(PATIENCE)
    assert isinstance(waiting.error, Cancelled) and (tmp_path / "part").read_bytes() == b"so far"


def test_a_call_that_does_not_stop_ends_with_its_process(workers: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STOP_WITHIN", 0.1)
    waiting = Waiting(workers, partial(time.sleep, 3600))  # without a step
    until(lambda: any(call.is_handed for call in workers.calls))
    process = at_work(workers)
    waiting.stop.set()
    waiting.join(PATIENCE)
    assert isinstance(waiting.error, Cancelled)
    until(lambda: process.process.poll() is not None)
    until(lambda: process not in workers.processes and len(workers.processes) == 1)  # another takes its place


def test_where_a_process_is_killed_its_call_is_done_again(workers: Pool) -> None:
    waiting = Waiting(workers, partial(counted, 2_000, 0.001))
    until(lambda: waiting.far[-1][0] > 1)
    killed = at_work(workers)
    killed.process.kill()
    waiting.join(PATIENCE)
    assert waiting.error is None and waiting.result == sum(range(2_000))
    assert killed not in workers.processes


def test_a_call_that_two_processes_die_of_is_refused_in_words(workers: Pool) -> None:
    with pytest.raises(WorkerLost, match="has ended twice"):
        workers.compute(partial(os._exit, 3))
    assert workers.is_of_use and workers.compute(partial(math.sqrt, 4.0)) == 2.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process takes")
def test_more_memory_than_a_process_may_take_is_refused_in_words(workers: Pool) -> None:
    with pytest.raises(BayesEngineError, match="more than 2000 MB"):
        workers.compute(partial(bytearray, child.MOST + 1))
    assert workers.compute(partial(math.sqrt, 4.0)) == 2.0


def test_a_short_call_does_not_wait_for_a_long_one(workers: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LONG", -1.0)  # whatever says how far it is
    long = Waiting(workers, NEVER_ENDS)
    until(lambda: any(call.is_long for call in workers.calls))
    assert workers.compute(partial(math.sqrt, 4.0)) == 2.0  # in a second process
    other = Waiting(workers, NEVER_ENDS)
    until(lambda: workers.ahead(other) == 1)  # it was begun, and waits for its turn among the long ones
    assert workers.compute(partial(math.sqrt, 9.0)) == 3.0
    long.stop.set()
    until(lambda: workers.ahead(other) == 0)
    other.stop.set()
    long.join(PATIENCE)
    other.join(PATIENCE)
    until(lambda: [worker.call for worker in workers.processes] == [None, None])  # the second is kept for a time
    monkeypatch.setattr(pool, "KEPT", 0.0)
    workers.end_spare()
    until(lambda: [worker.call for worker in workers.processes] == [None])


class Process(Worker):
    """A process that does nothing by itself."""

    def __init__(self, *_: object) -> None:
        self.call, self.is_ready, self.is_closed, self.free_since = None, False, False, 0.0

    def send(self, call: Call, *, stop: bool = False) -> None:
        pass

    give_way = lambda self: None  # noqa: E731

    def close(self) -> None:
        self.is_closed = True


class Doing:
    """A pool of one worker and what its processes say, by a clock that stands until it is put on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.looks = 0.0, list[float]()

        class Timer:
            def __init__(_, seconds: float, __: object) -> None:
                self.looks.append(seconds)

            start = cancel = lambda _: None

        monkeypatch.setattr(pool, "Worker", Process)
        monkeypatch.setattr(pool, "LONG", 1.0)
        monkeypatch.setattr(threading, "Timer", Timer)
        self.there = Pool(1, lambda: self.now)
        self.started = self.there.processes

    def begins(self) -> Call:
        """A call, and what starts for it is ready."""
        call = Call(b"", None)
        with self.there.lock:
            self.there.calls.append(call)
            self.there._hand_out()
        self.are_ready()
        assert call.worker is not None
        return call

    def are_ready(self) -> None:
        for process in self.started:
            if process.is_coming:
                self.there._heard(process, child.Ready())

    def lasts(self, call: Call) -> None:
        assert call.worker is not None
        self.there._heard(call.worker, child.Far(call.number, (1.0, 2), 1.5))
        self.are_ready()

    def ends(self, call: Call, memory: int = 1) -> None:
        assert call.worker is not None
        self.there._heard(call.worker, child.Answer(call.number, b"x", False, (), memory))

    def closed(self) -> list[bool]:
        return [process.is_closed for process in self.started]


def test_short_calls_beside_long_ones_use_one_process_more_which_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    doing = Doing(monkeypatch)
    for _ in range(3):  # fits, one after the other
        doing.lasts(long := doing.begins())
        for _ in range(2):
            doing.ends(doing.begins())
        doing.ends(long)
        doing.now += pool.KEPT / 2
        doing.there.end_spare()
    assert len(doing.started) == 2 and doing.closed() == [False, False]
    assert doing.looks[0] == pool.KEPT  # after it was free, it is looked at
    doing.ends(doing.begins())  # by the first
    doing.now += pool.KEPT / 2
    doing.there.end_spare()
    assert doing.closed() == [False, True]


def test_a_process_more_that_holds_much_memory_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    doing = Doing(monkeypatch)
    doing.lasts(long := doing.begins())
    doing.ends(long, pool.SPARE_HELD + 1)
    assert doing.closed() == [True, False]


def test_where_all_have_long_calls_one_more_starts_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    doing = Doing(monkeypatch)
    doing.lasts(doing.begins())
    doing.ends(doing.begins(), pool.HELD + 1)  # the second is ended
    assert doing.closed() == [False, True] and not doing.there.is_ready
    del doing.started[1]
    doing.there.start()
    doing.are_ready()
    assert len(doing.started) == 2 and doing.there.is_ready


def test_what_nobody_looks_at_comes_last() -> None:
    there = Pool(1)
    aside, shown, going = (Call(b"", asker) for asker in (Asked(True), Asked(False), Asked(True)))
    going.worker = object()  # type: ignore[assignment]
    there.calls = [aside, shown, going]
    assert there._in_order() == [going, shown, aside]
    assert [there.ahead(call.asker) for call in (going, shown, aside) if call.asker is not None] == [0, 1, 2]


class Asked:
    def __init__(self, is_aside: bool) -> None:
        self.is_aside = is_aside


def test_where_no_process_starts_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STARTED", "raise SystemExit({path!r} and 1)")
    there = Pool(1)
    there.start()
    assert there.compute(partial(os.getpid)) == os.getpid() and not there.is_of_use
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    there = Pool(1)
    there.start()
    assert there.compute(partial(os.getpid)) == os.getpid() and not there.is_of_use


def test_a_process_that_holds_much_memory_gives_way_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "HELD", 1)
    there = Pool(1)
    try:
        first, second = (there.compute(partial(os.getpid)) for _ in range(2))
        assert len({first, second, os.getpid()}) == 3
    finally:
        there.close()


@pytest.mark.slow
def test_it_ends_with_the_process_that_started_it() -> None:
    code = ("import time; from bayes_engine.workbench.workers.pool import Pool; there = Pool(1); there.start()\n"
            "print(there.processes[0].process.pid, flush=True); time.sleep(3600)")  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not alive(worker))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("told", "cores", "workers"), [("", 4, 3), ("", 2, 1), ("", 1, 0), ("0", 4, 0), ("2", 1, 2), ("no", 9, 8)]
)
def test_how_many_there_are(told: str, cores: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(pool.SETTING, told)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(cores)), raising=False)
    assert pool.wanted() == workers


# what a job hands over ------------------------------------------------------------------------------------------------


@pytest.fixture
def handed(workers: Pool, monkeypatch: pytest.MonkeyPatch) -> Pool:
    """The app has these workers."""
    until(lambda: workers.is_ready)
    monkeypatch.setattr(pool, "_pools", [workers])
    return workers


def job() -> Job:
    return Job("a key", Message("computing"), waiting={"me": 0.0})


def test_a_job_has_its_work_done_in_a_worker_and_a_page_does_its_own(handed: Pool) -> None:
    asked = job()
    asked.work(lambda: in_worker(os.getpid))
    assert asked.error is None and asked.result == handed.processes[0].process.pid
    assert in_worker(os.getpid) == os.getpid()


def test_a_job_says_how_far_its_work_is_and_stops_it(handed: Pool) -> None:
    asked = job()
    thread = threading.Thread(target=asked.work, args=(partial(in_worker, counted, 10**9, 0.001),), daemon=True)
    thread.start()
    until(lambda: asked.progress[0] > 1)
    assert asked.progress[1] == 10**9 and not asked.is_long
    asked.stop.set()
    thread.join(PATIENCE)
    assert isinstance(asked.error, Cancelled)
    until(lambda: all(one.call is None for one in handed.processes))


def test_a_job_says_how_many_are_before_it(handed: Pool) -> None:
    first, second = job(), job()
    for asked in (first, second):
        work = partial(in_worker, counted, 10**9, 0.001)
        threading.Thread(target=asked.work, args=(work,), daemon=True).start()
        until(lambda: len(handed.calls) > 0)
    until(lambda: len(handed.calls) == 2)
    assert sorted([first.ahead(), second.ahead()]) == [0, 1]
    for asked in (first, second):
        asked.stop.set()
    assert first.done.wait(PATIENCE) and second.done.wait(PATIENCE)


def test_one_worker_alone_is_started_by_the_first_job_which_does_its_work_itself(
    light: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pool.SETTING, "1")
    monkeypatch.setattr(pool, "_pools", [])
    pool.start()
    [there] = pool._pools
    assert in_worker(os.getpid) == os.getpid() and not there.processes  # a page's own work starts none
    first, second = job(), job()
    first.work(lambda: in_worker(os.getpid))
    assert first.result == os.getpid()
    until(lambda: there.is_ready)
    second.work(lambda: in_worker(os.getpid))
    assert [second.result] == [one.process.pid for one in there.processes]
    there.close()


def test_without_a_launcher_there_are_none() -> None:
    assert pool.pool() is None


# what a worker does, step by step -------------------------------------------------------------------------------------


def test_a_worker_answers_each_call_of_its_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its steps in this process: what was told of a call, its result, a refusal, a fault, too much memory, a stop."""
    for name, value in (("NEEDED", ("math",)), ("PACE", 0.0), ("LONG", -1.0), ("bound_memory", lambda: None)):
        monkeypatch.setattr(child, name, value)
    slower: list[int] = []
    monkeypatch.setattr(child.os, "setpriority", lambda _which, _who, by: slower.append(by), raising=False)
    asked = [partial(counted, 5, 0.001), partial(read_table, b""), partial(int, "x"), partial(bytearray, 1 << 60),
             NEVER_ENDS]  # fmt: skip
    calls = [(n, pickle.dumps(call), n < 3) for n, call in enumerate(asked, 1)] + [(5, None, False)]
    answers = io.BytesIO()
    child.Child(io.BytesIO(b"".join(map(pickle.dumps, calls))), answers).serve()
    for thread in [t for t in threading.enumerate() if t.name == "call"]:
        thread.join(PATIENCE)
    answers.seek(0)
    said = list[object]()
    while answers.tell() < len(answers.getvalue()):
        said.append(pickle.load(answers))  # noqa: S301
    assert isinstance(said[0], child.Ready)
    assert any(far.progress[1] == 5 for far in said if isinstance(far, child.Far))
    found = {answer.number: answer for answer in said if isinstance(answer, child.Answer)}
    assert [found[n].failed for n in range(1, 6)] == [False, True, True, True, True]
    assert pickle.loads(found[1].value) == 10 and not found[5].value  # noqa: S301
    refused, fault, full = (pickle.loads(found[n].value) for n in (2, 3, 4))  # noqa: S301
    assert "empty" in str(refused) and isinstance(fault, ValueError)
    assert str(full) == "this needs more than 2000 MB of memory"
    assert capsys.readouterr().err.startswith("a worker process: ValueError at ") and set(slower) == {10}
    assert found[1].memory > 1_000_000


def test_a_long_call_waits_while_pages_compute_and_is_not_starved(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by 1/128 s at each look: after a second it waits, and again after each .02 s."""
    clock, waits = count(), list[float]()
    monkeypatch.setattr(child, "work_clock", lambda: next(clock) / 128)
    for name, value in (("NEEDED", ()), ("LOOK", 0.0), ("PACE", math.inf), ("bound_memory", lambda: None)):
        monkeypatch.setattr(child, name, value)
    monkeypatch.setattr(child.os, "setpriority", lambda *_: None, raising=False)
    one = child.Child(io.BytesIO(), answers := io.BytesIO())
    one.importing.start()
    call = pickle.dumps(partial(counted, 300))
    one._work(1, call, False)
    assert clock.__reduce__()[1][0] > 250 and waits == []  # no page computes

    class Computing(threading.Event):
        def set(self) -> None:
            pass

        def wait(self, timeout: float | None = None) -> bool:
            waits.append(next(clock))
            return False

    clock, one.idle = count(), Computing()
    one._work(2, call, False)
    assert waits[0] in range(129, 133) and {b - a for a, b in pairwise(waits)} == {5}
    assert answers.getvalue().count(pickle.dumps(sum(range(300)), pickle.HIGHEST_PROTOCOL)) == 2  # both came to an end


def test_a_worker_hears_whether_pages_compute() -> None:
    heard = [(child.PAGES, None, compute) for compute in (True, False, True)]
    one = child.Child(io.BytesIO(b"".join(map(pickle.dumps, heard))), io.BytesIO())
    one.importing = threading.Thread()
    one.serve()
    assert not one.idle.is_set()


def test_those_with_long_calls_are_told_when_pages_begin_and_when_none_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = list[tuple[str, bool]]()

    class Told:
        def __init__(self, call: Call | None, name: str) -> None:
            self.call, self.name = call, name

        def give_way(self) -> None:
            told.append((self.name, pool.pages[0]))

    there, long = Pool(1), Call(b"", None)
    long.is_long = True
    there.processes = [Told(None, "free"), Told(Call(b"", None), "short"), Told(long, "long")]  # type: ignore[list-item]
    monkeypatch.setattr(pool, "_pools", [there])
    with computing(1):
        with computing(1):
            pass
        with computing(-1):  # it waits for a job
            pass
    assert told == [("long", True), ("long", False), ("long", True), ("long", False)]


def test_a_call_that_becomes_long_is_told_at_once(workers: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "LONG", -1.0)
    monkeypatch.setattr(Pool, "_start_one", lambda _: None)  # no second process for short calls
    told = list[bool]()
    tell = Worker.give_way
    monkeypatch.setattr(Worker, "give_way", lambda worker: (told.append(pool.pages[0]), tell(worker))[1])
    with computing(1):
        assert workers.compute(partial(counted, 20, 0.01)) == 190
    assert told[0] is True


def test_an_error_that_cannot_be_sent_is_told_in_words() -> None:
    class Here(Exception):
        pass

    assert repr(pickle.loads(child._pickled(Here("no")))) == "RuntimeError('Here: no')"  # noqa: S301


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process reserves")
def test_a_worker_is_modest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import resource

    done: list[tuple[object, ...]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *asked: done.append(asked))
    monkeypatch.setattr(child.signal, "signal", lambda *asked: done.append(asked))
    monkeypatch.setattr(child.os, "nice", lambda by: done.append((by,)))
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    child.bound_memory()
    with warnings.catch_warnings():
        child.be_modest()
    thread = threading.Thread(target=partial(int, "a cell"))
    thread.start()
    thread.join()
    (kind, (soft, hard)), *rest = done
    assert kind == resource.RLIMIT_DATA and soft == hard > child.MOST
    assert rest == [(child.signal.SIGINT, child.signal.SIG_IGN), (child.NICE,)]
    told = capsys.readouterr().err
    assert told.startswith("a worker process: ValueError at threading.py:") and "a cell" not in told
