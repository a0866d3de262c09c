"""An unfinished count as a file, in the store's format: `bayes_engine.scale` takes it up again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from bayes_engine.errors import StoreError
from bayes_engine.language import Message
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.partial import PartialSource, PartialStatistics
from bayes_engine.store.container import damage_refused, pack, read_file, unpack, write_file
from bayes_engine.store.validation import check_statistics
from bayes_engine.store.values import ValueReader, ValueWriter

MOST_BYTES = 2**31
"""The largest file of an unfinished count."""
STATISTICS = Message("statistics")


def save_partial(partial: PartialStatistics, path: str | os.PathLike[str]) -> None:
    """Write an unfinished count to `path`, whole or not at all. Raises StoreError where that cannot be done.

    >>> from tempfile import TemporaryDirectory
    >>> from bayes_engine import NaiveBayes
    >>> from bayes_engine.stats.partial import PartialNode
    >>> stats = NaiveBayes().fit([["a"], ["b"]], ["u", "v"]).stats_
    >>> node = PartialNode(0, 0, 0, 1, 2, stats)
    >>> with TemporaryDirectory() as folder:
    ...     save_partial(PartialStatistics("class", ("x0",), None, "columns", None, (), (node,)), f"{folder}/part")
    ...     load_partial(f"{folder}/part").nodes[0].stats.class_weight.tolist()
    [1.0, 1.0]
    """
    write_file(path, packed_partial(partial))


def packed_partial(partial: PartialStatistics) -> bytes:
    """The file of an unfinished count. Raises StoreError where it would be too large."""
    writer = ValueWriter(lambda value, writer, where: None)
    return pack("statistics", writer.write(partial, "the count"), writer.blobs, limit=MOST_BYTES)


def load_partial(source: str | os.PathLike[str] | bytes) -> PartialStatistics:
    """The unfinished count that `save_partial` wrote to a path, or whose bytes these are. Raises StoreError, with the
    reason, on any other file."""
    data = read_file(source, MOST_BYTES)
    with _named(source), damage_refused(STATISTICS):
        content, blobs = unpack(data, "statistics", limit=MOST_BYTES)
        partial = ValueReader(blobs, {}).read(content)
        if not isinstance(partial, PartialStatistics):
            raise StoreError("the file holds no partial statistics, but a {kind}", kind=type(partial).__name__)
        for node in partial.nodes:
            size = node.size
            aligned = size > 0 and node.first % size == 0 and not size & (size - 1)
            sound = min(node.file, node.start, node.rows) >= 0 and not (node.files and (node.start or node.stop))
            if not (aligned and sound):
                raise StoreError("a node of the count is of blocks that no node has")
            if node.stats is not None:
                check_statistics(node.stats)
                if node.stats.schema.names != partial.columns:
                    raise StoreError("a node of the count is of other columns")
        for a, b in pairwise(partial.nodes):
            if b.file < a.file + a.files or (b.file == a.file and (b.files or a.stop > b.start)) or b.file < a.file:
                raise StoreError("two nodes of the count are of the same blocks")
    return partial


def save_passes(
    asked: tuple[str, ...], seed: int, sources: tuple[PartialSource, ...], passes: Sequence[Any], path: Any
) -> None:
    """Write what the passes of EM found so far to `path`, whole or not at all: what was `asked`, the `seed` of its
    starts, the files, and of each pass its numbers, arrays and statistics. Raises StoreError where that cannot be done.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_passes(("two components",), 7, (), [(1.5, None)], f"{folder}/part")
    ...     load_passes(f"{folder}/part")
    (('two components',), 7, (), ((1.5, None),))
    """
    write_file(path, packed_passes(asked, seed, sources, passes))


def packed_passes(
    asked: tuple[str, ...], seed: int, sources: tuple[PartialSource, ...], passes: Sequence[Any]
) -> bytes:
    """The file that `save_passes` writes."""
    writer = ValueWriter(lambda value, writer, where: None)
    content = writer.write((asked, seed, sources, tuple(passes)), "the passes of EM")
    return pack("statistics", content, writer.blobs, limit=MOST_BYTES)


def load_passes(path: Any) -> tuple[tuple[str, ...], int, tuple[PartialSource, ...], tuple[Any, ...]]:
    """What `save_passes` wrote, at a path or as bytes. Raises StoreError, with the reason, on any other file."""
    data = read_file(path, MOST_BYTES)
    with _named(path), damage_refused(STATISTICS):
        content, blobs = unpack(data, "statistics", limit=MOST_BYTES)
        asked, seed, sources, passes = ValueReader(blobs, {}).read(content)
        sound = type(seed) is int and seed >= 0 and all(type(s) is PartialSource for s in sources)
        if not sound or not all(type(part) is tuple for part in passes):
            raise StoreError("the file holds no passes of EM")
        for part in passes:
            for value in part:
                if isinstance(value, SufficientStatistics):
                    check_statistics(value)
    return asked, seed, sources, passes


@contextmanager
def _named(source: Any) -> Iterator[None]:
    """What is wrong with a file is said with its path, where there is one."""
    try:
        yield
    except StoreError as error:
        if not isinstance(source, str | os.PathLike):
            raise
        reason = error.message
        raise StoreError("'{path}' holds no unfinished count: {reason}", path=str(source), reason=reason) from error
