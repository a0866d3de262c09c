"""Batches of files in their order, worked on by threads: what a pass is made of that looks at rows again, or divides
them into folds.

Work on batches goes on side by side, what comes of it is taken in their order, and no more batches are under way than
there are threads and one. So memory is bounded, and sums of floats come out alike in every run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from bayes_engine.errors import ReadError
from bayes_engine.progress import tick
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.block import LOOK, Block, End
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.sources import Csv, Parquet, source_of
from bayes_engine.stats.partial import MergeTree

T = TypeVar("T")
Tell = Callable[[Progress], object] | None


class Piece(NamedTuple):
    """A batch of rows: the block it is of, how many rows of the block come before, and the rows."""

    block: Block
    before: int
    batch: Any

    @property
    def row(self) -> int:
        """How many rows of its file come before."""
        return self.block.before + self.before


def pieces(source: Parquet | Csv, plan: CountPlan) -> Iterator[Piece]:
    """The batches of all files, in order. Raises ReadError, naming file and row group, where one cannot be read or has
    changed since it was opened."""
    for path, name, then in zip(source.paths, source.names, source.sources, strict=True):
        if not path.is_file() or source_of(path) != then:
            raise ReadError("'{file}' has changed since it was opened; begin again", file=name)
    for block in source.blocks(plan, MergeTree()):
        if isinstance(block, End):
            continue
        before, batches = 0, block.batches()
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:
                raise block.refused(error) from error
            if batch is None:
                break
            if batch.num_rows:
                yield Piece(block, before, batch)
                before += batch.num_rows


def in_turn(
    source: Parquet | Csv,
    plan: CountPlan,
    work: Callable[..., T],
    take: Callable[[T], object],
    *,
    threads: int,
    progress: Tell = None,
    step: tuple[int, int] = (1, 1),
    draw: Callable[[Piece], Any] | None = None,
) -> int:
    """`take` what `work` makes of each batch, in the order of the rows; returns how many rows there were. `step` says
    which pass this is of how many. What `draw` gives for the batches, asked in their order, `work` takes beside them.

    Raises what reading and `take` raise; and what `work` raises, with the file and the row group of its batch.
    """
    began = monotonic()
    rows = 0
    under_way: deque[tuple[Future[T], Piece]] = deque()

    def tell() -> None:
        share = source.share(rows)
        tick(rows, source.rows or 0)
        if progress is not None:
            progress(Progress(rows, source.rows, share, monotonic() - began, rows, share or 0.0, *step))

    def finish(most: int) -> None:
        nonlocal rows
        while len(under_way) > most:
            future, piece = under_way[0]
            try:
                done = future.result(LOOK)
            except NotYet:
                if not future.done():
                    tell()
                    continue
                raise
            except Exception as error:
                raise piece.block.refused(error) from error
            take(done)
            under_way.popleft()
            rows += piece.batch.num_rows
            tell()

    pool = ThreadPoolExecutor(threads, thread_name_prefix="scale")
    try:
        for piece in pieces(source, plan):
            drawn = () if draw is None else (draw(piece),)
            under_way.append((pool.submit(work, piece, *drawn), piece))
            finish(threads)
        finish(0)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return rows


class InOrder(Generic[T]):
    """The sum of what comes in order, added in a tree that only the numbers of the parts fix.

    >>> total = InOrder(lambda a, b: f"({a}+{b})")
    >>> for part in "abcde":
    ...     total.take(part)
    >>> total.total
    '(((a+b)+(c+d))+e)'
    """

    def __init__(self, add: Callable[[T, T], T]) -> None:
        self.add, self._parts = add, list[tuple[int, T]]()

    def take(self, part: T) -> None:
        """One part more."""
        size = 1
        while self._parts and self._parts[-1][0] == size:
            part, size = self.add(self._parts.pop()[1], part), 2 * size
        self._parts.append((size, part))

    @property
    def total(self) -> T | None:
        """The sum; None of nothing."""
        return folded((part for _, part in self._parts), self.add)


def folded(parts: Iterable[T | None], add: Callable[[T, T], T]) -> T | None:
    """The sum from the left of those that are there; None of none."""
    total: T | None = None
    for part in parts:
        total = part if total is None else total if part is None else add(total, part)
    return total
