"""A part of the rows that is counted, or scored, as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from bayes_engine.errors import BayesEngineError, ReadError

LOOK = 0.2
"""Seconds after which a watcher is asked again while blocks are counted."""


def one_line(error: BaseException) -> str:
    """The first sentence of what another library says of its error: Arrow's may have several lines, and bytes of the
    file.

    >>> one_line(OSError("don't know what type: \\x0f\\nDeserializing failed."))
    "don't know what type: Deserializing failed"
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())
    return line.partition(". ")[0].rstrip(".")[:300]


class Block(NamedTuple):
    """A part of the rows that is counted as a whole: its `place`, the number of its file and its own there, both from
    0; the file's name, and which row group of how many it is (`of` is 0 for a block, whose number is not known); how
    many rows stand `before` it in its file; the columns `declared`, whose dictionaries are domains; what reads its
    batches; and how many `rows` it has, 0 where that is not known."""

    place: tuple[int, int]
    file: str
    number: int
    of: int
    before: int
    declared: Collection[str]
    batches: Callable[[], Iterator[Any]]
    rows: int = 0

    def refused(self, error: BaseException) -> BayesEngineError:
        """The error of this block, with its place."""
        reason: object = error.message if isinstance(error, BayesEngineError) else one_line(error)
        if self.of:
            return ReadError(
                "'{file}', row group {number} of {of}: {reason}",
                file=self.file,
                number=self.number,
                of=self.of,
                reason=reason,
            )
        return ReadError("'{file}', block {number}: {reason}", file=self.file, number=self.number, reason=reason)


class Reached(NamedTuple):
    """How far a pass is that takes rows in their order: all blocks are done before the `block` of the `file`, and so
    many `rows` of it; `total` rows in all. As a set it holds the blocks that are done.

    >>> here = Reached(1, 2, 500, 9000)
    >>> (1, 1) in here, (1, 2) in here, here.has_file(0), here.has_file(1)
    (True, False, True, False)
    """

    file: int = 0
    block: int = 0
    rows: int = 0
    total: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Of the block under way."""
        return self.file, self.block

    def __contains__(self, place: object) -> bool:
        return isinstance(place, tuple) and place < self.place

    def has_file(self, file: int) -> bool:
        """Whether a file is done."""
        return file < self.file

    @classmethod
    def of(cls, numbers: Iterable[Any]) -> Reached:
        """As a file has it. Raises ValueError where it cannot be."""
        file, block, rows, total = numbers
        if not all(type(n) is int and n >= 0 for n in (file, block, rows, total)):
            raise ValueError
        return cls(file, block, rows, total)


START = Reached()
"""Nothing is done."""


class End(NamedTuple):
    """A file, by its number, has so many blocks."""

    file: int
    blocks: int
