"""An unfinished count as a file, in the store's format: `bayes_engine.scale` takes it up again."""

from __future__ import annotations

import os
from itertools import pairwise

from bayes_engine.errors import BayesEngineError, StoreError
from bayes_engine.stats.partial import PartialStatistics
from bayes_engine.store.container import pack, read_file, unpack, write_file
from bayes_engine.store.validation import check_statistics
from bayes_engine.store.values import ValueReader, ValueWriter

MOST_BYTES = 2**31
"""The largest file of an unfinished count."""


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
    content, blobs = unpack(read_file(source, MOST_BYTES), "statistics", limit=MOST_BYTES)
    try:
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
    except StoreError:
        raise
    except BayesEngineError as error:
        raise StoreError("the file does not hold statistics: {reason}", reason=error.message) from None
    except Exception as error:  # a hostile file may go wrong anywhere, and nowhere is it the caller's fault
        raise StoreError(
            "the file does not hold statistics: its parts do not go together ({reason})", reason=type(error).__name__
        ) from error
    return partial
