"""Calls handed to worker processes. `concurrent.futures.ProcessPoolExecutor` says of a call neither how far it is nor
stops it once it runs; it ends with the first process that dies, and lets short calls wait behind long ones.

So many calls that are short go on at a time as there are `workers`, and besides them so many long ones: a call that has
worked for `child.LONG` seconds makes room for the next short one, in a process more than there are `workers`. One such
is kept until it has had no call for `KEPT` seconds: its start costs a second of work and more, and long calls follow
each other. Where there are as many long ones already a call is stopped, and begun anew when its turn comes. What nobody
on screen waits for comes last. While pages compute, long calls wait (`give_way`).

Where a process dies its call is done again, once: then it is refused in words. Where no process can be started at all,
calls are computed here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Protocol

from bayes_engine.errors import BayesEngineError, hear, is_listened
from bayes_engine.progress import tick
from bayes_engine.workbench.workers.child import LONG, PAGES, Answer, Far, Ready

SETTING = "BAYES_WORKBENCH_WORKERS"
"""The environment variable that says how many workers there are; 0: none."""
LOOK = 0.05
"""Seconds between two looks of who waits for a call at whether to go on waiting."""
STOP_WITHIN = 2.0
"""Seconds after which a process is ended that has not stopped its call."""
HELD = 700_000_000
"""Bytes of memory beyond which a process is ended once its call is answered, and another takes its place."""
KEPT, SPARE_HELD = 60.0, 350_000_000
"""Seconds without a call after which a process more than there are workers is ended; bytes of memory beyond which it is
ended at once. One more at most is kept."""
TRIES = 2
"""So often a call is begun whose process dies, and so many processes in a row may die before they are ready."""
OWN = {
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "262144",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}  # fmt: skip
"""The environment of a process: one thread of BLAS, and of glibc one heap, as the process of the pages has them. Of
Arrow's own pools a gigabyte is reserved before it is used, which the bound on a process's memory would count."""
STARTED = "import sys; sys.path[:] = {path!r}; from bayes_engine.workbench.workers.child import main; main()"


class WorkerLost(BayesEngineError):
    """The process that computed something ended before it had an answer, again and again."""


class Asker(Protocol):
    """Who waits for a call. Where it `is_aside`, nobody on screen does."""

    @property
    def is_aside(self) -> bool: ...


@dataclass(eq=False)
class Call:
    """A call that somebody waits for, or its answer."""

    sent: bytes
    asker: Asker | None
    is_heard: bool = False  # what estimates in it warn of
    number: int = field(default_factory=count(1).__next__)
    worker: Worker | None = None  # that has it, or is to be handed it
    is_handed: bool = False
    is_long: bool = False
    lost: int = 0  # how often its process died
    progress: tuple[float, int] = (0.0, 0)
    answer: Answer | WorkerLost | None = None
    news: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)  # by the process that had it as it was let go


class Worker:
    """A process, the `call` that it is at work on, and a thread that hears what it says."""

    def __init__(self, heard: Callable[[Worker, Any], None], ended: Callable[[Worker], None]) -> None:
        self.call: Call | None = None
        self.is_ready = self.is_closed = False
        self.free_since = 0.0
        self._sending = threading.Lock()
        self._heard, self._ended = heard, ended
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", STARTED.format(path=sys.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **OWN},
        )  # fmt: skip
        threading.Thread(target=self._listen, name="worker", daemon=True).start()

    @property
    def is_free(self) -> bool:
        return self.is_ready and not self.is_closed and self.call is None

    @property
    def is_coming(self) -> bool:
        return not self.is_ready and not self.is_closed

    def send(self, call: Call, *, stop: bool = False) -> None:
        """Hand it a call, or have it stop that one. A process that is gone is noticed elsewhere."""
        with self._sending:
            self._write((call.number, None if stop else call.sent, call.is_heard))

    def give_way(self) -> None:
        """Tell it whether pages compute at this moment."""
        with self._sending:
            self._write((PAGES, None, pages[0]))

    def _write(self, what: tuple[int, bytes | None, bool]) -> None:
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):
            pickle.dump(what, self.process.stdin, pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()

    def close(self) -> None:
        """It ends, for no more calls can come."""
        self.is_closed = True
        assert self.process.stdin is not None
        with self._sending, suppress(OSError):
            self.process.stdin.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as answers:
            while True:
                try:
                    what = pickle.load(answers)
                except (EOFError, OSError, pickle.UnpicklingError):
                    break
                self._heard(self, what)
        self.close()
        self.process.kill()  # it has closed its pipe
        self.process.wait()
        self._ended(self)


class Pool:
    """Up to `workers` processes, and as many more while calls are long."""

    def __init__(self, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.workers = workers
        self.clock = clock
        self._due: threading.Timer | None = None  # the next look at what is not needed any more
        self.processes: list[Worker] = []
        self.calls: list[Call] = []  # in the order in which they are begun
        self.in_vain = 0  # processes in a row that died before they were ready
        self.lock = threading.RLock()

    def start(self) -> None:
        """Start the first process, which takes a second or two until it is ready; others follow once they are needed.
        So does one for short calls, where all have long ones."""
        with self.lock:
            self._hand_out(spare=all(one.is_closed or _has_long(one) for one in self.processes))

    def close(self) -> None:
        """End all processes; who still waits is answered from here."""
        with self.lock:
            self.workers = 0
            if self._due is not None:
                self._due.cancel()
            for worker in self.processes:
                worker.process.kill()

    @property
    def is_of_use(self) -> bool:
        """Whether processes can be started."""
        return self.workers > 0 and self.in_vain < TRIES

    @property
    def is_ready(self) -> bool:
        """Whether there is a process that has imported what it needs and does nothing, or something short."""
        with self.lock:
            return any(one.is_ready and not one.is_closed and not _has_long(one) for one in self.processes)

    def compute(self, work: Callable[[], Any], asker: Asker | None = None) -> Any:
        """What `work` comes to (a partial of a function that a new interpreter can import), computed in a process.
        Raises what it raises; at every look ticks, which may call it off: then it has ended, and kept what it keeps.
        What estimates in it warn of is reported. Raises WorkerLost where two processes have died of it."""
        call = Call(pickle.dumps(work, pickle.HIGHEST_PROTOCOL), asker, is_listened())
        with self.lock:
            self.calls.append(call)
            self._hand_out()
        try:
            while call.answer is None and self.is_of_use:
                if (worker := self._to_be_sent(call)) is not None:
                    worker.send(call)
                call.news.wait(LOOK)
                call.news.clear()
                tick(*call.progress)  # type: ignore[arg-type]
        finally:
            self._let_go(call)
        return work() if call.answer is None else _value(call.answer)

    def ahead(self, asker: Asker) -> int:
        """How many calls are begun before one that this one waits for; 0 where there is none, or it is begun."""
        with self.lock:
            ordered = self._in_order()
            call = next((call for call in ordered if call.asker is asker and call.worker is None), None)
            return 0 if call is None else [other for other in ordered if other.is_long == call.is_long].index(call)

    def give_way(self) -> None:
        """Tell those that have long calls whether pages compute at this moment."""
        for worker in self.processes.copy():
            if _has_long(worker):
                worker.give_way()

    def _in_order(self) -> list[Call]:
        """Those that are under way first, and last those that nobody looks at."""

        def place(call: Call) -> tuple[bool, bool]:
            waits = call.worker is None
            return waits, waits and call.asker is not None and call.asker.is_aside

        return sorted(self.calls, key=place)

    def _hand_out(self, spare: int = 0) -> None:
        """Find processes for those whose turn it is, and start some where there are not enough, nor so many to
        `spare`. Under the lock."""
        for is_long in (False, True):
            for call in [call for call in self._in_order() if call.is_long == is_long][: self.workers]:
                if call.worker is None:
                    worker = next((one for one in self.processes if one.is_free), None)
                    if worker is not None:
                        call.worker, worker.call, call.is_handed = worker, call, False
                        call.news.set()
                    else:
                        spare += 1
        for _ in range(spare - sum(one.is_free or one.is_coming for one in self.processes)):
            self._start_one()

    def _start_one(self) -> None:
        if self.is_of_use and len(self.processes) < 2 * self.workers:
            try:
                self.processes.append(Worker(self._heard, self._ended))
            except OSError:
                self.in_vain = TRIES

    def _to_be_sent(self, call: Call) -> Worker | None:
        """The process that is to be handed the call now."""
        with self.lock:
            worker = None if call.is_handed else call.worker
            call.is_handed = call.worker is not None
            return worker

    def _let_go(self, call: Call) -> None:
        """Nobody waits for it any more: it is stopped, or its process is ended. Returns once that is done."""
        with self.lock:
            if call not in self.calls:
                return
            self.calls.remove(call)
            worker = call.worker
            if worker is not None and not call.is_handed:
                worker.call = None
            elif worker is not None:
                threading.Thread(target=self._stop, args=(worker, call), name="stop", daemon=True).start()
            self._hand_out()
        if worker is not None and call.is_handed:
            call.left.wait(2 * STOP_WITHIN)

    def _stop(self, worker: Worker, call: Call) -> None:
        worker.send(call, stop=True)
        end = threading.Timer(STOP_WITHIN, self._end, (worker, call))
        end.daemon = True
        end.start()

    def _end(self, worker: Worker, call: Call) -> None:
        with self.lock:
            if worker.call is call:
                worker.process.kill()

    # what processes say, each heard in a thread of its own

    def _heard(self, worker: Worker, what: Ready | Far | Answer) -> None:
        if isinstance(what, Ready):
            with self.lock:
                worker.is_ready, worker.free_since, self.in_vain = True, self.clock(), 0
                self._hand_out()
                self._look_later()
        elif isinstance(what, Answer):
            self._answered(worker, what)
        elif (call := worker.call) is not None and call.number == what.number:
            call.progress = what.progress
            if what.worked > LONG and not call.is_long:
                self._is_long(worker, call)
                worker.give_way()

    def _is_long(self, worker: Worker, call: Call) -> None:
        """It makes room for a short one; where there are long ones enough it waits for its turn."""
        with self.lock:
            if call not in self.calls:
                return
            call.is_long = True
            self.calls.remove(call)
            self.calls.append(call)
            if sum(other.is_long and other.worker is not None for other in self.calls) > self.workers:
                stop = partial(worker.send, call, stop=True)
                threading.Thread(target=stop, name="stop", daemon=True).start()
            self._hand_out(spare=1)  # before the next short call comes

    def _answered(self, worker: Worker, answer: Answer) -> None:
        with self.lock:
            call, worker.call = worker.call, None
            if call in self.calls and call is not None:
                if answer.value:
                    self.calls.remove(call)
                    call.answer = answer
                else:
                    call.worker = None  # it was stopped, and waits for its turn
                call.news.set()
            elif call is not None:
                call.left.set()
            worker.free_since = self.clock()
            more = len(self._free()) - self.workers
            if answer.memory > HELD or more > 1 or (more == 1 and answer.memory > SPARE_HELD):
                worker.close()
            self._hand_out()
            self._look_later()

    def _free(self) -> list[Worker]:
        """Those that do nothing, who is so for the longest time first. Under the lock."""
        return sorted((one for one in self.processes if one.is_free), key=lambda one: one.free_since)

    def _look_later(self) -> None:
        """See to it that a process more than there are workers does not stay. Under the lock."""
        if self._due is None and self.workers and len(free := self._free()) > self.workers:
            self._due = threading.Timer(max(free[0].free_since + KEPT - self.clock(), 0.0), self.end_spare)
            self._due.daemon = True
            self._due.start()

    def end_spare(self) -> None:
        """End of the processes more than there are workers those that have had no call for `KEPT` seconds."""
        with self.lock:
            self._due, free = None, self._free()
            for worker in free[: max(len(free) - self.workers, 0)]:
                if self.clock() - worker.free_since >= KEPT:
                    worker.close()
            self._look_later()

    def _ended(self, worker: Worker) -> None:
        with self.lock:
            self.processes.remove(worker)
            self.in_vain += not worker.is_ready
            call, worker.call = worker.call, None
            if call in self.calls and call is not None:
                call.worker = None
                call.lost += 1
                if call.lost == TRIES:
                    self.calls.remove(call)
                    call.answer = WorkerLost("The process that computed this has ended twice; it may need too much "
                                             "memory. A sample of the rows, or fewer columns, takes less.")  # fmt: skip
                call.news.set()
            elif call is not None:
                call.left.set()
            self._hand_out()
            self.start()


def _has_long(worker: Worker) -> bool:
    return (call := worker.call) is not None and call.is_long


def _value(answer: Answer | WorkerLost) -> Any:
    if isinstance(answer, WorkerLost):
        raise answer
    hear(answer.notes)
    value = pickle.loads(answer.value)
    if answer.failed:
        raise value
    return value


def wanted() -> int:
    """How many workers there are to be at most, unless the setting says it: one for each core but the first, and eight
    at most."""
    setting = os.environ.get(SETTING, "").strip()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(setting) if setting.isdigit() else min(cores - 1, 8)


_pools: list[Pool] = []
pages = [False]
"""Whether pages compute at this moment; `give_way` is called where that has changed."""


def start() -> None:
    """Have this process hand heavy work to processes from here on, as many as are `wanted`. One alone is not started
    before there is work for it: there is no core to spare for its start beside the app's own."""
    if (workers := wanted()) and not _pools:
        _pools.append(Pool(workers))
        if workers > 1:
            _pools[0].start()


def give_way() -> None:
    """As `Pool.give_way`."""
    for one in _pools:
        one.give_way()


def ahead(asker: Asker) -> int:
    """As `Pool.ahead`; 0 where there is no pool."""
    return max((pool.ahead(asker) for pool in _pools), default=0)


def pool() -> Pool | None:
    """The pool of this process, where it has one that is ready; one that has no process yet is started for the next
    who asks."""
    for one in _pools:
        one.start()
    return next((one for one in _pools if one.is_ready), None)
