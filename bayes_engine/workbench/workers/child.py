"""What a worker process does: it computes one call at a time, says how far that is, and answers.

It ends with the pipe that its calls come through, so with the process that has started it, however that ends. It takes
the processor after the pages, and a bounded memory: what needs more is refused, not the whole machine slowed down.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from traceback import extract_tb
from typing import BinaryIO

from bayes_engine.errors import BayesEngineError, listen
from bayes_engine.language import Message
from bayes_engine.progress import Cancelled, watching

NICE, NICE_IF_LONG = 2, 8
"""By how much a call gives way to whatever else the machine has to do, and by how much more once it is long, or while
the process is made ready."""
LONG = 1.0
"""Seconds of work after which a call is long."""
MOST = 2_000_000_000
"""Bytes of memory that a worker may take for its calls, beside what it takes by itself."""
PACE = 0.05
"""Seconds between two times that it is said how far a call is."""
LOOK = 0.003
"""Seconds between two looks of a call at whether to go on."""
GIVE_WAY, OWN = 0.06, 0.02
"""Seconds for which a long computation waits for pages at most, and seconds that it then works for itself: none is
starved."""
PAGES = 0
"""The number of what is no call, but says whether pages compute."""
work_clock = time.thread_time
"""Seconds that this thread has worked."""
NEEDED = ("bayes_engine.decision.evaluate", "bayes_engine.models.em_runs", "bayes_engine.table.read",
          "bayes_engine.workbench.doctor.examine", "bayes_engine.structure.dependence")  # fmt: skip
"""What most calls need; imported before the first is there."""


@dataclass(frozen=True)
class Far:
    """How far the call `number` is, (done, total), and the seconds that it has worked."""

    number: int
    progress: tuple[float, int]
    worked: float


@dataclass(frozen=True)
class Answer:
    """What the call `number` came to: `value` is the pickled result, or where it has `failed` the error, nothing where
    it was stopped; what estimates warned of; and the bytes that the process has in memory."""

    number: int
    value: bytes
    failed: bool
    notes: tuple[Message, ...]
    memory: int


class TooMuchMemory(BayesEngineError):
    """A computation needs more memory than a worker process may take."""


class Ready:
    """The process has imported what it needs."""


class Child:
    """Answers the calls that come in, each in a thread of its own. One that takes long has a lower priority, and at its
    ticks waits while pages compute: beside what computes all the time, on another core too, a page takes longer."""

    def __init__(self, calls: BinaryIO, answers: BinaryIO) -> None:
        self.calls, self.answers = calls, answers
        self.stopped: set[int] = set()
        self.idle = threading.Event()  # no page computes
        self.importing = threading.Thread(target=self._import, name="import", daemon=True)

    def serve(self) -> None:
        """Until the pipe is closed."""
        self.importing.start()
        while True:
            try:
                number, call, is_heard = pickle.load(self.calls)  # of PAGES: whether they compute
            except (EOFError, OSError):
                return
            if number == PAGES:
                (self.idle.clear if is_heard else self.idle.set)()
            elif call is None:
                self.stopped.add(number)
            else:
                threading.Thread(target=self._work, args=(number, call, is_heard), name="call", daemon=True).start()

    def _import(self) -> None:
        _lower()  # whoever asks meanwhile has their work done by the pages' process, which is not to be held up
        for name in NEEDED:
            import_module(name)
        bound_memory()
        self._send(Ready())

    def _work(self, number: int, call: bytes, is_heard: bool) -> None:
        self.importing.join()
        self.idle.set()  # what was said while another call went on
        began, own, due = work_clock(), LONG, 0.0

        def stopped() -> bool:
            nonlocal own
            if work_clock() - began > own and not self.idle.is_set() and not self.idle.wait(GIVE_WAY):
                own = work_clock() - began + OWN
            return number in self.stopped

        def report(done: float, total: int) -> None:
            nonlocal due
            if (now := time.monotonic()) < due:
                return
            due, worked = now + PACE, work_clock() - began
            if worked > LONG:
                _lower()
            self._send(Far(number, (done, total), worked))

        value, failed, notes = b"", True, list[Message]()
        with listen() if is_heard else nullcontext(notes) as notes:
            try:
                with watching(stopped, report, LOOK):
                    value = pickle.dumps(pickle.loads(call)(), pickle.HIGHEST_PROTOCOL)
                failed = False
            except Cancelled:
                pass
            except MemoryError:
                value = pickle.dumps(TooMuchMemory("this needs more than {n} MB of memory", n=MOST // 1_000_000))
            except BaseException as error:  # noqa: BLE001  (raised again in the process that has called)
                value = _pickled(error)
                if not isinstance(error, BayesEngineError):
                    _log_fault(error)  # in the log its places here are else not known
        self.stopped.discard(number)
        self._send(Answer(number, value, failed, tuple(notes), memory_taken()))

    def _send(self, what: object) -> None:
        with suppress(OSError):  # nobody is there any more
            self.answers.write(pickle.dumps(what, pickle.HIGHEST_PROTOCOL))
            self.answers.flush()


def _pickled(error: BaseException) -> bytes:
    """An error as it stands; of one that cannot be sent the type and the words."""
    try:
        sent = pickle.dumps(error)
        pickle.loads(sent)
    except Exception:  # noqa: BLE001
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return sent


def places_of(error: BaseException) -> str:
    """The last places in the code that an error came through, and nothing of what it speaks of."""
    frames = extract_tb(error.__traceback__)[-4:]
    return ", ".join(f"{PurePath(place.filename).name}:{place.lineno} {place.name}" for place in frames)


def memory_taken() -> int:
    """Bytes that this process has in memory; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0


def bound_memory() -> None:
    """Where the system does that (Linux), refuse what would take more than `MOST` bytes beside what is taken now; part
    of that is only reserved."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        status = Path("/proc/self/status").read_text(encoding="ascii")
        most = 1024 * int(status.split("VmData:")[1].split()[0]) + MOST
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def be_modest() -> None:
    """Give way to whatever else the machine has to do. Ctrl+C in the terminal is for the process that serves the
    pages."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    threading.excepthook = lambda raised: _log_fault(raised.exc_value)
    with suppress(AttributeError, OSError):
        os.nice(NICE)


def _lower() -> None:
    with suppress(AttributeError, OSError):  # Linux gives every thread a priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE + NICE_IF_LONG)


def _log_fault(error: BaseException | None) -> None:
    """A fault of this program in the log, without a cell of anybody's table."""
    sys.stderr.write(f"a worker process: {type(error).__name__} at {places_of(error) if error else ''}\n")
    sys.stderr.flush()


def main() -> None:
    """Of a worker process: what is printed does not come among the answers."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    be_modest()
    Child(calls, answers).serve()
    os._exit(0)  # whatever is at work: nobody waits for it
