"""Row groups worked on by the workers of a `distributed.Client`, and a tree of merges above them: futures alone. Who
works on what, and again where a worker is lost, is dask's business. Workers read the files under the paths they have
here, and hold this library in the same version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import Any, Generic, TypeVar

from bayes_engine.errors import BayesEngineError, ParameterError, ReadError
from bayes_engine.scale.block import LOOK, Block

T = TypeVar("T")

FAN_IN = 8
"""Results that a task merges."""


class Spread(Generic[T]):
    """`work` on each block, and `merge` of up to eight results, file by file first, up to one. Where results come out
    alike whatever the grouping, or are merged in their order, so does the whole, whichever worker did what."""

    def __init__(
        self, client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
    ) -> None:
        if not all(callable(getattr(client, name, None)) for name in ("submit", "gather", "cancel")):
            raise ParameterError("client={value} is no distributed.Client", value=repr(client)[:80])
        if getattr(client, "asynchronous", False):
            raise ParameterError("client= waits for its results: give a distributed.Client that is not asynchronous")
        self.rows, self._client, self._name = 0, client, f"bayes-{token_hex(4)}"
        self._parts: dict[str, list[Any]] = {}  # of each merge that is not done, by its key
        self._above: dict[str, str] = {}  # the merge that takes a result
        self._finished: dict[str, Any] = {}  # results that no merge has taken
        self._blocks: dict[str, Block] = {}
        self._told: SimpleQueue[Any] = SimpleQueue()
        self._given = client.submit(partial(_same, (work, merge, _version())), key=f"{self._name}-plan")
        files: dict[int, list[Any]] = {}
        for i, block in enumerate(blocks):
            future = self._submitted(f"rows-{i}", partial(_worked, block))
            self._blocks[future.key] = block
            files.setdefault(block.place[0], []).append(future)
        self._top = self._tree([self._tree(parts) for parts in files.values()])

    def _submitted(self, name: str, task: Callable[..., T], *parts: Any) -> Any:
        future = self._client.submit(task, self._given, *parts, key=f"{self._name}-{name}")
        future.add_done_callback(self._told.put)
        return future

    def _tree(self, parts: list[Any]) -> Any:
        while len(parts) > 1:
            parts = [self._merge(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        return parts[0] if parts else None

    def _merge(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        future = self._submitted(f"merge-{len(self._parts)}", _joined, *parts)
        self._parts[future.key] = parts
        self._above.update((part.key, future.key) for part in parts)
        return future

    def result(self, look: Callable[[], object]) -> T | None:
        """The merge of all results, None of no block; `look` is called as they come, and five times a second between.

        Raises what the work raised, and ReadError, naming file and row group, where worker after worker was lost.
        """
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
        """The results so far, merged as far as they are."""
        return list(self._client.gather(list(self._finished.values()), errors="skip"))

    def _refused(self, future: Any) -> BaseException:
        """What stopped a task, in words."""
        try:
            error: BaseException = future.exception() or ReadError("it was called off")
        except Exception as cancelled:  # noqa: BLE001 - said below, whatever it is
            error = cancelled
        if isinstance(error, BayesEngineError):
            return error
        block = self._blocks.get(getattr(error, "task", future.key))
        if type(error).__name__ == "KilledWorker":
            error = ReadError(
                "{n} worker(s) to which it was given were lost, one after the other; look into the log of the last",
                n=error.args[2] + 1,
            )
        if block is not None:
            return block.refused(error)
        return ReadError("the cluster did not finish: {reason}", reason=str(error).strip().rstrip(".")[:300])

    def __enter__(self) -> Spread[T]:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is not None:
            self._client.cancel([f for f in (self._given, self._top) if f is not None], force=True)
        self._parts.clear()
        self._finished.clear()


def _same(given: T) -> T:
    return given


def _version() -> str:
    return str(import_module(__name__.partition(".")[0]).__version__)


def _worked(block: Block, given: tuple[Callable[[Block], T], Any, str]) -> T:
    """On a worker: what comes of a block. Raises ReadError, with its place."""
    work, _, version = given
    try:
        if version != _version():
            raise ReadError("the worker has bayes_engine {own} and not {version}", own=_version(), version=version)
        return work(block)
    except Exception as error:
        raise block.refused(error) from error


def _joined(given: tuple[Any, Callable[[list[T]], T], str], *parts: T) -> T:
    return given[1](list(parts))
