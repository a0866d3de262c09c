"""Row groups worked on by the workers of a `distributed.Client`, and a tree of merges above them: futures alone. Who
works on what, and again where a worker is lost, is dask's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import Any, Generic, TypeVar

from bayes_engine.errors import BayesEngineError, ParameterError, ReadError
from bayes_engine.scale.block import LOOK, Block
from bayes_engine.scale.cluster import Task, by_file, in_eights, refuse_without, version

T = TypeVar("T")


class DaskSpread(Generic[T]):
    """What `bayes_engine.scale.cluster` asks of an adapter."""

    def __init__(
        self, client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
    ) -> None:
        refuse_without(client, "submit", "gather", "cancel")
        if getattr(client, "asynchronous", False):
            raise ParameterError("client= waits for its results: give a distributed.Client that is not asynchronous")
        self.rows, self._client, self._name = 0, client, f"bayes-{token_hex(4)}"
        self._parts: dict[str, list[Any]] = {}  # of each merge that is not done, by its key
        self._above: dict[str, str] = {}  # the merge that takes a result
        self._finished: dict[str, Any] = {}  # results that no merge has taken
        self._blocks: dict[str, Block] = {}
        self._first: dict[str, Block] = {}  # the row group of each task, of a merge the first
        self._told: SimpleQueue[Any] = SimpleQueue()
        self._given = client.submit(partial(_same, Task(work, merge, version())), key=f"{self._name}-plan")
        files = [[self._rows(block) for block in file] for file in by_file(blocks)]
        self._top = in_eights([in_eights(parts, self._merge) for parts in files], self._merge)

    def _rows(self, block: Block) -> Any:
        future = self._submitted(f"rows-{len(self._blocks)}", partial(_worked, block))
        self._blocks[future.key] = self._first[future.key] = block
        return future

    def _submitted(self, name: str, task: Callable[..., T], *parts: Any) -> Any:
        future = self._client.submit(task, self._given, *parts, key=f"{self._name}-{name}")
        future.add_done_callback(self._told.put)
        return future

    def _merge(self, parts: list[Any]) -> Any:
        future = self._submitted(f"merge-{len(self._parts)}", _joined, *parts)
        self._parts[future.key] = parts
        self._first[future.key] = self._first[parts[0].key]
        self._above.update((part.key, future.key) for part in parts)
        return future

    def result(self, look: Callable[[], object]) -> T | None:
        """As `Spread` has it."""
        while self._top is not None and self._top.key not in self._finished:
            try:
                future = self._told.get(timeout=LOOK)
            except Empty:
                look()
                continue
            if future.status in ("error", "cancelled"):
                raise self._refused(future)
            for part in self._parts.pop(future.key, ()):
                self._finished.pop(part.key, None)
            if self._above.get(future.key, future.key) in {future.key, *self._parts}:
                self._finished[future.key] = future
            self.rows += self._blocks[future.key].rows if future.key in self._blocks else 0
            look()
        return None if self._top is None else self._top.result()

    def finished(self) -> list[T]:
        """As `Spread` has it."""
        return list(self._client.gather(list(self._finished.values()), errors="skip"))

    def _refused(self, future: Any) -> BaseException:
        """What stopped a task, in words."""
        try:
            error: BaseException = future.exception() or ReadError("it was called off")
        except Exception as cancelled:  # noqa: BLE001 - said below, whatever it is
            error = cancelled
        if isinstance(error, BayesEngineError):
            return error
        task = getattr(error, "task", future.key)
        block = self._first.get(task)
        if type(error).__name__ == "KilledWorker":
            error = _lost(error.args[2] + 1, task not in self._blocks)
        if block is not None:
            return block.refused(error)
        return ReadError("the cluster did not finish: {reason}", reason=str(error).strip().rstrip(".")[:300])

    def __enter__(self) -> DaskSpread[T]:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self._client.cancel([f for f in (self._given, self._top) if f is not None], force=True)
        self._parts.clear()
        self._finished.clear()


def _lost(n: int, in_merge: bool) -> ReadError:
    if in_merge:
        return ReadError(
            "{n} worker(s) that added up the row groups from here on were lost, one after the other; look into the log "
            "of the last",
            n=n,
        )
    return ReadError(
        "{n} worker(s) to which it was given were lost, one after the other; look into the log of the last", n=n
    )


def _same(given: T) -> T:
    return given


def _worked(block: Block, task: Task[T]) -> T:
    return task.of(block)


def _joined(task: Task[T], *parts: T) -> T:
    return task.merge(list(parts))
