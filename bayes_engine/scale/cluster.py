"""Row groups worked on by the workers of a cluster: what an adapter is.

An adapter is a `Spread`. One whose scheduler keeps results and merges them where they are (`dask_client`) is whole by
itself; one that can only run parts and give their results back, in any order, says that alone, in `run`
(`spark_client`): `Gathered` then merges here. Either way results are merged eight at a time, file by file first, so
sums come out alike to the last bit on every cluster and on one machine. Workers read the files under the paths they
have here, and hold this library in the same version.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.scale.block import Block

T = TypeVar("T")

FAN_IN = 8
"""Results that are merged at a time."""


class Spread(Protocol[T]):
    """Work on blocks that is under way: of how many `rows` results are there."""

    rows: int

    def result(self, look: Callable[[], object]) -> T | None:
        """The merge of all results, None of no block; `look` is called as they come, and five times a second between.
        Raises what the work raised, and ReadError, naming the row group, where no worker could do it."""

    def finished(self) -> list[T]:
        """The results so far, merged as far as they are."""

    def __enter__(self) -> Spread[T]: ...
    def __exit__(self, kind: object, error: object, trace: object) -> None: ...


@dataclass(frozen=True)
class Task(Generic[T]):
    """What travels to the workers: what is made of a block, how results merge, and the library's version here."""

    work: Callable[[Block], T]
    merge: Callable[[list[T]], T]
    version: str

    def of(self, block: Block) -> T:
        """On a worker: what comes of a block. Raises ReadError, with its place."""
        try:
            if self.version != version():
                raise ReadError(
                    "the worker has bayes_engine {own} and not {version}", own=version(), version=self.version
                )
            return self.work(block)
        except Exception as error:
            raise block.refused(error) from error


def version() -> str:
    """Of this library, in this process."""
    return str(import_module(__name__.partition(".")[0]).__version__)


def refuse_without(client: Any, *methods: str) -> None:
    """Raises ParameterError where a client lacks one of the methods that its adapter calls."""
    if not all(callable(getattr(client, name, None)) for name in methods):
        raise ParameterError(
            "client={value} is neither a distributed.Client nor a SparkSession (of Spark 4 or newer)",
            value=repr(client)[:80],
        )


def by_file(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks of each file."""
    files: dict[int, list[Block]] = {}
    for block in blocks:
        files.setdefault(block.place[0], []).append(block)
    return list(files.values())


def in_eights(parts: list[T], join: Callable[[list[T]], T]) -> T | None:
    """Eight neighbours joined, eight of these joined, and so on up to one; None of none. What is alone stays.

    >>> in_eights(list("abcdefghi"), lambda parts: f"({''.join(parts)})")
    '((abcdefgh)i)'
    """
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [join(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0] if parts else None


class Gathered(ABC, Generic[T]):
    """A `Spread` that merges here what comes back. Of up to eight neighbouring blocks one result comes back; of such
    results eight neighbours are merged as soon as all are there, so few are held."""

    def __init__(
        self, client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
    ) -> None:
        self.rows, self.client = 0, client
        self.task = Task(work, merge, version())
        self._groups: list[list[Block]] = []
        self._parts: dict[int, list[int]] = {}  # of each merge, by its number; groups have the numbers below
        self._above: dict[int, int] = {}  # the merge that takes a result
        self._finished: dict[int, T] = {}  # results that no merge has taken
        files: list[list[int]] = []
        for file in by_file(blocks):
            groups = [file[i : i + FAN_IN] for i in range(0, len(file), FAN_IN)]
            files.append(list(range(len(self._groups), len(self._groups) + len(groups))))
            self._groups += groups
        tops = [top for file in files if (top := in_eights(file, self._merge)) is not None]
        self._top = in_eights(tops, self._merge)

    def _merge(self, parts: list[int]) -> int:
        number = len(self._groups) + len(self._parts)
        self._parts[number] = parts
        self._above.update(dict.fromkeys(parts, number))
        return number

    @abstractmethod
    def run(self, groups: Sequence[Sequence[Block]]) -> Generator[tuple[int, T] | None, None, None]:
        """Do the `task` on every block, and merge what comes of the blocks of a group: the number of a group and its
        result, in any order; None where a fifth of a second brought nothing. Closed early, it calls off the rest."""

    def result(self, look: Callable[[], object]) -> T | None:
        """As `Spread` has it."""
        with closing(self.run(self._groups)) as items:
            for item in items:
                if item is not None:
                    self.rows += sum(block.rows for block in self._groups[item[0]])
                    self._take(*item)
                look()
        return None if self._top is None else self._finished[self._top]

    def _take(self, number: int, result: T) -> None:
        self._finished[number] = result
        while (above := self._above.get(number)) is not None and self._finished.keys() >= set(self._parts[above]):
            result = self.task.merge([self._finished[part] for part in self._parts[above]])
            for part in self._parts[above]:
                del self._finished[part]
            number = above
            self._finished[number] = result

    def finished(self) -> list[T]:
        """As `Spread` has it."""
        return list(self._finished.values())

    def __enter__(self) -> Gathered[T]:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._finished.clear()
