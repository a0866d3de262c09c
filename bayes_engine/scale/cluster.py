"""Row groups worked on elsewhere: what an engine is, and the fixed tree of merges above what its workers do.

An engine starts functions on workers and gives futures. Any executor of `concurrent.futures` is one as it stands:
`Engine` calls its `submit` alone. What a scheduler does in another way, its adapter overrides: where results are merged
(`dask_client`), how a function comes to a worker (`spark_client`). Who works on what, and again where a worker is lost,
is the scheduler's business; progress, what is counted so far, errors and the order of merges are the same for all
(`Spread`): results are merged eight at a time, file by file first, so sums come out alike to the last bit on every
cluster and on one machine. Workers read the files under the paths they have here, and hold this library in the same
version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Generic, TypeVar

from bayes_engine.errors import BayesEngineError, ParameterError, ReadError
from bayes_engine.scale.block import LOOK, Block, one_line

T = TypeVar("T")

FAN_IN = 8
"""Results that are merged at a time."""
PATIENCE = 300.0
"""After so many seconds without a result the engine is asked whether anybody works at all."""


@dataclass(frozen=True)
class Task(Generic[T]):
    """What travels to the workers: what is made of a block, how results merge, and the library's version here."""

    work: Callable[[Block], T]
    merge: Callable[[list[T]], T]
    version: str

    def of(self, blocks: Sequence[Block]) -> T:
        """On a worker: what comes of neighbouring blocks. Raises ReadError, with the place of the one it is of."""
        return self.merged(*map(self._of, blocks))

    def _of(self, block: Block) -> T:
        try:
            if self.version != version():
                raise ReadError(
                    "the worker has bayes_engine {own} and not {version}", own=version(), version=self.version
                )
            return self.work(block)
        except Exception as error:
            raise block.refused(error) from error

    def merged(self, *parts: T) -> T:
        """The merge of the results of neighbours; what is alone stays."""
        return self.merge(list(parts)) if len(parts) > 1 else parts[0]


def version() -> str:
    """Of this library, in this process."""
    return str(import_module(__name__.partition(".")[0]).__version__)


class Engine(Generic[T]):
    """A task given to an executor, its `client`: results come here, and are merged here.

    Futures are those of `concurrent.futures`, or have `add_done_callback`, `cancelled`, `done`, `exception` and
    `result` likewise. Raises ParameterError where the client lacks one of the `methods` that are called.
    """

    methods: tuple[str, ...] = ("submit",)
    at_once = 1
    """Neighbouring blocks that are given as one, and of which one result comes: 1, or FAN_IN."""

    def __init__(self, client: Any, task: Task[T]) -> None:
        if isinstance(client, type) or not all(callable(getattr(client, name, None)) for name in self.methods):
            raise ParameterError(
                "client={value} is none of these: a distributed.Client, a SparkSession (of Spark 4 or newer), an "
                "executor of concurrent.futures",
                value=repr(client)[:80],
            )
        self.client, self.task = client, task

    def work(self, blocks: Sequence[Block]) -> Any:
        """The future of what comes of neighbouring blocks, `at_once` or fewer."""
        return self.submitted(self.task.of, blocks)

    def submitted(self, function: Callable[..., Any], *parts: Any, **how: Any) -> Any:
        """The future of a function's result. Raises ParameterError where the client takes no work."""
        try:
            return self.client.submit(function, *parts, **how)
        except Exception as error:
            raise ParameterError(
                "client= takes no work: {reason}; make a new one", reason=one_line(error) or type(error).__name__
            ) from error

    def merge(self, parts: Sequence[Any]) -> Any:
        """The future of the merge of results, of which all are there."""
        future: Future[T] = Future()
        future.set_result(self.task.merged(*(part.result() for part in parts)))
        return future

    def error(self, future: Any, first: Block) -> BayesEngineError | None:
        """Why there is no result; `first` is the block that the future is of, of a merge the first."""
        if future.cancelled():
            return first.refused(ReadError("it was called off"))
        error = future.exception()
        return error if error is None or isinstance(error, BayesEngineError) else first.refused(error)

    def refuse_nobody(self) -> None:
        """Raise ReadError where there is no worker, as far as that is known."""

    def end(self, futures: Sequence[Any]) -> None:
        """Call off what is under way of these, and wait for what cannot be called off."""
        wait([future for future in futures if not future.cancel()])


def in_eights(parts: list[T], join: Callable[[list[T]], T]) -> T | None:
    """Eight neighbours joined, eight of these joined, and so on up to one; None of none. What is alone stays.

    >>> in_eights(list("abcdefghi"), lambda parts: f"({''.join(parts)})")
    '((abcdefgh)i)'
    """
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [join(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0] if parts else None


class Spread(Generic[T]):
    """Work on blocks that is under way at an engine: of how many `rows` results are there.

    Groups of blocks have numbers, and merges negative ones. A merge is given to the engine once all its parts are
    there, and what it has merged is let go of once it is done, so few results are held.
    """

    def __init__(self, engine: Engine[T], blocks: Sequence[Block]) -> None:
        self.rows, self._engine = 0, engine
        self._groups: list[Sequence[Block]] = []
        self._parts: dict[int, list[int]] = {}  # of each merge
        self._above: dict[int, int] = {}  # the merge that takes a result
        self._futures: dict[int, Any] = {}  # what is under way, and results that no merge has taken
        self._done: set[int] = set()
        self._ended: SimpleQueue[int] = SimpleQueue()
        files: dict[int, list[Block]] = {}
        for block in blocks:
            files.setdefault(block.place[0], []).append(block)
        self._top = in_eights([self._leaves(file, engine.at_once) for file in files.values()], self._joined)

    def _leaves(self, file: list[Block], n: int) -> Any:
        groups = [file[i : i + n] for i in range(0, len(file), n)]
        self._groups += groups
        return in_eights(list(range(len(self._groups) - len(groups), len(self._groups))), self._joined)

    def _joined(self, parts: list[int]) -> int:
        number = -1 - len(self._parts)
        self._parts[number] = parts
        self._above.update(dict.fromkeys(parts, number))
        return number

    def result(self, look: Callable[[], object]) -> T | None:
        """The merge of all results, None of no block; `look` is called as they come, and five times a second between.
        Raises what the work raised, and ReadError, naming the row group, where no worker could do it, or where for long
        there is none."""
        if self._top is None:
            return None
        for number, group in enumerate(self._groups):
            self._begun(number, self._engine.work(group))
        since = monotonic()
        while self._top not in self._done:
            with suppress(Empty):
                self._take(self._ended.get(timeout=LOOK))
                since = monotonic()
            if monotonic() - since >= PATIENCE:
                self._engine.refuse_nobody()
                since = monotonic()
            look()
        whole: T = self._futures[self._top].result()
        return whole

    def _begun(self, number: int, future: Any) -> None:
        self._futures[number] = future
        future.add_done_callback(lambda _: self._ended.put(number))

    def _take(self, number: int) -> None:
        parts = self._parts.get(number, [])
        for n in (*parts, number):  # a part first, which may have been lost and refused since
            if (error := self._error(n)) is not None:
                raise error
        for part in parts:
            del self._futures[part]
        self._done.add(number)
        self.rows += 0 if parts else sum(block.rows for block in self._groups[number])
        above = self._above.get(number)
        if above is not None and self._done.issuperset(self._parts[above]):
            self._begun(above, self._engine.merge([self._futures[part] for part in self._parts[above]]))

    def _error(self, number: int) -> BayesEngineError | None:
        first = number
        while first in self._parts:
            first = self._parts[first][0]
        return self._engine.error(self._futures[number], self._groups[first][0])

    def finished(self) -> list[T]:
        """The results so far, merged as far as they are."""
        there = [n for n in self._futures if n in self._done and self._error(n) is None]
        return [self._futures[n].result() for n in there if self._futures[n].done()]

    def __enter__(self) -> Spread[T]:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._engine.end(list(self._futures.values()))
        self._futures.clear()
