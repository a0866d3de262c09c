"""Row groups worked on by the workers of a `SparkSession`: a job for up to eight of them, a task for each by
`mapInArrow`, and one that merges. Which executor does what, and again where one is lost, is Spark's business.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from importlib import import_module
from secrets import token_hex
from typing import Any, TypeVar

from bayes_engine.errors import ReadError
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.block import LOOK, Block
from bayes_engine.scale.cluster import Gathered, Task, refuse_without

T = TypeVar("T")

JOBS = 32
"""Jobs that Spark is given at a time: 256 row groups, which it works on in their order."""

COLUMNS = "place long, failed boolean, found binary"
"""The rows that tasks send: which block of the job, whether it failed, and what came of it or why."""


class SparkSpread(Gathered[T]):
    """What `bayes_engine.scale.cluster` asks of an adapter."""

    def __init__(
        self, client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
    ) -> None:
        refuse_without(client, "range", "addTag", "interruptTag")
        super().__init__(client, blocks, work, merge)

    def run(self, groups: Sequence[Sequence[Block]]) -> Generator[tuple[int, T] | None, None, None]:
        """As `Gathered` has it."""
        tag = f"bayes-{token_hex(4)}"
        pool = ThreadPoolExecutor(JOBS, thread_name_prefix="spark")
        running: dict[Future[T], int] = {}
        try:
            for number, group in enumerate(groups):
                running[pool.submit(_job, self.client, tag, self.task, group)] = number
            while running:
                done, _ = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
                if not done:
                    yield None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if running:
                self.client.interruptTag(tag)
            pool.shutdown(wait=True)


def _job(session: Any, tag: str, task: Task[T], group: Sequence[Block]) -> T:
    """The result of neighbouring blocks. Raises what the work raised, and ReadError where Spark gave it up."""
    session.addTag(tag)
    rows = session.range(0, len(group), 1, len(group)).mapInArrow(partial(_worked, task, group), COLUMNS)
    if len(group) > 1:
        rows = rows.repartition(1).mapInArrow(partial(_joined, task), COLUMNS)
    try:
        [[_, failed, result]] = rows.collect()
    except Exception as error:  # of Java or of Python: said below, whatever it is
        raise ReadError(
            "'{file}', row groups {first} to {last}: Spark did not finish them: {reason}",
            file=group[0].file,
            first=group[0].number,
            last=group[-1].number,
            reason=next(iter(str(error).strip().splitlines()), type(error).__name__)[:300],
        ) from error
    loaded = _sent().loads(bytes(result))
    if failed:
        raise loaded
    return loaded  # type: ignore[no-any-return]


def _sent() -> Any:
    """How results travel between the processes of Spark: as its own rows do."""
    return import_module("pyspark.serializers").CPickleSerializer()


def _row(place: int, failed: bool, content: bytes) -> Any:
    pa = arrow()
    return pa.RecordBatch.from_arrays(
        [pa.array([place], pa.int64()), pa.array([failed]), pa.array([content], pa.binary())],
        ["place", "failed", "found"],
    )


def _worked(task: Task[Any], group: Sequence[Block], batches: Iterator[Any]) -> Iterator[Any]:
    """On a worker: what comes of the blocks of these places."""
    for batch in batches:
        for place in batch.column(0).to_pylist():
            try:
                yield _row(place, False, _sent().dumps(task.of(group[place])))
            except Exception as error:  # noqa: BLE001 - raised again where it is read
                yield _row(place, True, _sent().dumps(error))


def _joined(task: Task[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """On a worker: the merge of these results, or why the first of them failed."""
    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: row["place"])
    if failed := [row for row in rows if row["failed"]]:
        yield _row(failed[0]["place"], True, failed[0]["found"])
        return
    try:
        yield _row(0, False, _sent().dumps(task.merge([_sent().loads(row["found"]) for row in rows])))
    except Exception as error:  # noqa: BLE001 - likewise
        yield _row(0, True, _sent().dumps(error))
