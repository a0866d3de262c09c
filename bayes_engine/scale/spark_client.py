"""Row groups worked on by the workers of a `SparkSession`: a job for up to eight of them, a task for each by
`mapInArrow`, and one that merges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from secrets import token_hex
from typing import Any, TypeVar

from bayes_engine.errors import ReadError
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.block import Block
from bayes_engine.scale.cluster import FAN_IN, Engine, Task

T = TypeVar("T")

JOBS = 32
"""Jobs that Spark is given at a time: 256 row groups, which it works on in their order."""


COLUMNS = "number long, result binary"
"""The rows that tasks send: the number of a block in its job, and what came of it, or the error."""


class SparkEngine(Engine[T]):
    """Threads that each wait for a job of Spark's."""

    methods = ("range", "addTag", "interruptTag")
    at_once = FAN_IN

    def __init__(self, client: Any, task: Task[T]) -> None:
        super().__init__(client, task)
        self._threads, self._tag = ThreadPoolExecutor(JOBS, thread_name_prefix="spark"), f"bayes-{token_hex(4)}"

    def work(self, blocks: Sequence[Block]) -> Any:
        """As `Engine` has it."""
        return self._threads.submit(self._job, blocks)

    def _job(self, blocks: Sequence[Block]) -> T:
        self.client.addTag(self._tag)
        n = len(blocks)
        rows = self.client.range(0, n, 1, n).mapInArrow(partial(_worked, self.task, blocks), COLUMNS)
        if n > 1:
            rows = rows.repartition(1).mapInArrow(partial(_merged, self.task), COLUMNS)
        try:
            [[_, packed]] = rows.collect()
        except Exception as error:  # of Java or of Python: said here, whatever it is
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]
            spark = ReadError("Spark did not finish the row groups from here on: {reason}", reason=reason)
            raise blocks[0].refused(spark) from error
        result: T = _unpacked(packed)
        return result

    def end(self, futures: Sequence[Any]) -> None:
        """As `Engine` has it."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.client.interruptTag(self._tag)
        self._threads.shutdown()


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
