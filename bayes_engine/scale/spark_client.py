"""Row groups worked on by the workers of a `SparkSession`: a job for up to eight of them, a task for each by
`mapInArrow`, and one that merges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from importlib import import_module
from secrets import token_hex
from typing import Any, TypeVar

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.block import LOOK, Block
from bayes_engine.scale.cluster import FAN_IN, Engine, Task

T = TypeVar("T")

JOBS = 32
"""Jobs that Spark is given at a time: 256 row groups, which it works on in their order."""


COLUMNS = "number long, result binary"
"""The rows that tasks send: the number of a block in its job, and what came of it, or the error."""

REASONS = (r"(?s:.*)Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)", r"^: (.+)", r"(.+)")
"""Where an error of Spark's says what happened: under the last traceback of a worker, after Java's colon, or in the
first line."""


class SparkEngine(Engine[T]):
    """Threads that each wait for a job of Spark's."""

    methods = ("range", "addTag", "interruptTag")
    at_once = FAN_IN

    def __init__(self, client: Any, task: Task[T]) -> None:
        super().__init__(client, task)
        _refuse_stopped(client)
        self._threads, tag = ThreadPoolExecutor(JOBS, thread_name_prefix="spark"), f"bayes-{token_hex(4)}"
        context = getattr(client, "sparkContext", None)  # of Spark Connect there is none
        if context is None:
            self._mark, self._interrupt = partial(client.addTag, tag), partial(client.interruptTag, tag)
        else:  # its session finds the tags of the same thread alone
            self._mark, self._interrupt = partial(context.addJobTag, tag), partial(context.cancelJobsWithTag, tag)

    def work(self, blocks: Sequence[Block]) -> Any:
        """As `Engine` has it."""
        return self._threads.submit(self._job, blocks)

    def _job(self, blocks: Sequence[Block]) -> T:
        try:
            packed = self._collected(blocks)
        except Exception as error:  # of Java or of Python: said here, whatever it is
            _refuse_stopped(self.client)
            spark = ReadError("Spark did not finish the row groups from here on: {reason}", reason=_reason(error))
            raise blocks[0].refused(spark) from error
        result: T = _unpacked(packed)
        return result

    def _collected(self, blocks: Sequence[Block]) -> bytes:
        n = len(blocks)
        self._mark()  # tags are of the thread
        rows = self.client.range(0, n, 1, n).mapInArrow(partial(_worked, self.task, blocks), COLUMNS)
        if n > 1:
            rows = rows.repartition(1).mapInArrow(partial(_merged, self.task), COLUMNS)
        [[_, packed]] = rows.collect()
        return bytes(packed)

    def end(self, futures: Sequence[Any]) -> None:
        """As `Engine` has it. An interrupt misses jobs that Spark does not have yet: it is sent until all are over."""
        left = [future for future in futures if not future.cancel()]
        while wait(left, timeout=LOOK).not_done:
            with suppress(Exception):  # a session that is stopped has no jobs
                self._interrupt()
        self._threads.shutdown(cancel_futures=True)


def _refuse_stopped(client: Any) -> None:
    context = getattr(client, "sparkContext", None)
    if client.is_stopped if context is None else context._jsc is None:
        raise ParameterError("client= is a SparkSession that is stopped: give one that runs")


def _reason(error: Exception) -> str:
    """The line that says what happened."""
    lines = (re.search(pattern, str(error).strip(), re.MULTILINE) for pattern in REASONS)
    return next((line[1] for line in lines if line), type(error).__name__)[:300]


def _worked(task: Task[Any], blocks: Sequence[Block], batches: Iterator[Any]) -> Iterator[Any]:
    """On a worker: what comes of the blocks of these numbers."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _row(number, partial(task.of, blocks[number : number + 1]))


def _merged(task: Task[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """On a worker: the merge of these results, or the first error among them."""
    rows = sorted((row["number"], row["result"]) for batch in batches for row in batch.to_pylist())
    yield _row(0, lambda: task.merged(*(_unpacked(packed) for _, packed in rows)))


def _row(number: int, call: Callable[[], Any]) -> Any:
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - raised again where it is unpacked
        result = error
    return arrow().RecordBatch.from_pydict({"number": [number], "result": [_pickle().dumps(result)]})


def _unpacked(packed: bytes) -> Any:
    result = _pickle().loads(bytes(packed))
    if isinstance(result, Exception):
        raise result
    return result


def _pickle() -> Any:
    """How results travel between the processes of Spark: as its own rows do."""
    return import_module("pyspark.serializers").CPickleSerializer()
