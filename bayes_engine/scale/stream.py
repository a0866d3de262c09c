"""Batches of files in their order, worked on by threads: what a pass is made of that looks at rows again, or divides
them into folds.

Work on batches goes on side by side, what comes of it is taken in their order, and no more batches are under way than
there are threads and one. So memory is bounded, and sums of floats come out alike in every run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.models.gaussian_discriminant import one_thread
from bayes_engine.progress import tick
from bayes_engine.scale.adapters import on_workers
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.block import LOOK, Block, End
from bayes_engine.scale.cluster import FAN_IN
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
        found = pieces_of(block)
        while True:
            try:
                piece = next(found, None)
            except Exception as error:
                raise block.refused(error) from error
            if piece is None:
                break
            yield piece


def pieces_of(block: Block) -> Iterator[Piece]:
    """The batches of one block that have a row."""
    before = 0
    for batch in block.batches():
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


class Eights(Generic[T]):
    """The sum of parts that come in order: of eight at a time from the left, of eight such sums likewise, and so on:
    as `bayes_engine.scale.cluster` merges them.

    >>> total = Eights(lambda a, b: f"({a}{b})")
    >>> for part in "abcdefghijkl":
    ...     total.take(part)
    >>> total.total
    '((((((((ab)c)d)e)f)g)h)(((ij)k)l))'
    """

    def __init__(self, add: Callable[[T, T], T]) -> None:
        self.add, self._sums = add, list[tuple[int, T | None]]()

    def take(self, part: T) -> None:
        """One part more."""
        for level in range(len(self._sums) + 1):
            if level == len(self._sums):
                self._sums.append((0, None))
            n, total = self._sums[level]
            part = part if total is None else self.add(total, part)
            if n + 1 < FAN_IN:
                self._sums[level] = n + 1, part
                return
            self._sums[level] = 0, None

    @property
    def total(self) -> T | None:
        """The sum; None of nothing."""
        total: T | None = None
        for _, part in self._sums:
            total = part if total is None else total if part is None else self.add(part, total)
        return total


class Workers(NamedTuple):
    """Who works on batches: so many threads of this process, or the workers of a `client`; and who is told."""

    threads: int
    client: Any
    progress: Tell


class Packing(NamedTuple):
    """How a result travels between processes: as what, and back."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


@dataclass(frozen=True)
class SumApart:
    """What a worker of a cluster does for `added_up`."""

    work: Callable[[Piece], Any]
    add: Callable[[Any, Any], Any]
    packing: Packing | None

    def __call__(self, block: Block) -> Any:
        with one_thread():
            return self._packed(map(self.work, pieces_of(block)))

    def merged(self, parts: Iterable[Any]) -> Any:
        """The sum of the sums of several blocks."""
        return self._packed(parts if self.packing is None else map(self.packing.unpack, parts))

    def _packed(self, parts: Iterable[Any]) -> Any:
        total = reduce(self.add, parts)
        return total if self.packing is None else self.packing.pack(total)


def added_up(
    source: Parquet | Csv,
    plan: CountPlan,
    work: Callable[..., T],
    add: Callable[[T, T], T],
    workers: Workers,
    *,
    step: tuple[int, int] = (1, 1),
    packing: Packing | None = None,
    draw: Callable[[Piece], Any] | None = None,
) -> T | None:
    """The sum of what `work` makes of each batch, None of no row: batch by batch within a block, blocks in eights
    within a file, and files likewise; so it is the same to the last bit on threads and on the workers of a cluster,
    between which results travel as `packing` has it. Raises what `in_turn` raises, and ParameterError where a cluster
    is to `draw`, batch by batch in their order, as `in_turn` does."""
    threads, client, progress = workers
    if client is not None and draw is not None:
        raise ParameterError(
            "a random start is drawn row by row, in their order, which the workers of client= do not have"
        )
    if client is not None:
        blocks = [b for b in source.blocks(plan, MergeTree(), apart=True) if isinstance(b, Block) and b.rows]
        there = SumApart(work, add, packing)
        total = spread_out(client, source, blocks, there, there.merged, progress, step)
        return total if total is None or packing is None else packing.unpack(total)
    files, blocks_of = Eights(add), Eights(add)
    block: T | None = None
    place: tuple[int, int] | None = None

    def close(now: tuple[int, int] | None) -> None:
        nonlocal block, blocks_of, place
        if place is not None and block is not None and now != place:
            blocks_of.take(block)
            block = None
            if now is None or now[0] != place[0]:
                assert blocks_of.total is not None
                files.take(blocks_of.total)
                blocks_of = Eights(add)
        place = now

    def take(part: tuple[tuple[int, int], T]) -> None:
        nonlocal block
        close(part[0])
        block = part[1] if block is None else add(block, part[1])

    with one_thread() if plan.want == "scatter" else nullcontext():
        in_turn(
            source, plan, partial(_placed, work=work), take, threads=threads, progress=progress, step=step, draw=draw
        )
        close(None)
    return files.total


def _placed(piece: Piece, *drawn: Any, work: Callable[..., T]) -> tuple[tuple[int, int], T]:
    return piece.block.place, work(piece, *drawn)


def spread_out(
    client: Any,
    source: Parquet | Csv,
    blocks: Sequence[Block],
    work: Callable[[Block], T],
    merge: Callable[[list[T]], T],
    progress: Tell,
    step: tuple[int, int],
) -> T | None:
    """What `work` makes of the blocks on the workers of a cluster, merged there; `progress` is told how far it is."""
    began = monotonic()

    def tell() -> None:
        tick(spread.rows, source.rows or 0)
        if progress is not None:
            share = source.share(spread.rows)
            progress(Progress(spread.rows, source.rows, share, monotonic() - began, spread.rows, share or 0.0, *step))

    with on_workers(client, blocks, work, merge) as spread:
        return spread.result(tell)


def folded(parts: Iterable[T | None], add: Callable[[T, T], T]) -> T | None:
    """The sum from the left of those that are there; None of none."""
    total: T | None = None
    for part in parts:
        total = part if total is None else total if part is None else add(total, part)
    return total
