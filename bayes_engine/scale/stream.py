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
from typing import Any, Generic, NamedTuple, TypeVar, cast

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.models.gaussian_discriminant import one_thread
from bayes_engine.progress import tick
from bayes_engine.scale.adapters import on_workers
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.block import LOOK, START, Block, End, Reached
from bayes_engine.scale.cluster import FAN_IN
from bayes_engine.scale.files import source_of
from bayes_engine.scale.kept import KeptSum, SumSoFar
from bayes_engine.scale.memory import TIDY
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.sources import Source
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


def pieces(source: Source, plan: CountPlan, after: Reached = START) -> Iterator[Piece]:
    """The batches of all files, in order, `after` those that are done. Raises ReadError, naming file and row group,
    where one cannot be read or has changed since it was opened."""
    for path, name, then in zip(source.paths, source.names[: len(source.paths)], source.sources, strict=True):
        if not path.is_file() or source_of(path) != then:
            raise ReadError("'{file}' has changed since it was opened; begin again", file=name)
    for block in source.blocks(plan, after):
        if isinstance(block, End) or (block.place == after.place and 0 < block.rows <= after.rows):
            continue
        batches = pieces_of(block)
        while True:
            try:
                piece = next(batches, None)
            except Exception as error:
                raise block.refused(error) from error
            if piece is None:
                break
            if block.place != after.place or piece.before >= after.rows:
                yield piece


def pieces_of(block: Block) -> Iterator[Piece]:
    """The batches of one block that have a row."""
    before = 0
    for batch in block.batches():
        if batch.num_rows:
            yield Piece(block, before, batch)
            before += batch.num_rows


def in_turn(
    source: Source,
    plan: CountPlan,
    work: Callable[..., T],
    take: Callable[[T], object],
    workers: Workers,
    *,
    step: tuple[int, int] = (1, 1),
    draw: Callable[[Piece], Any] | None = None,
    after: Reached = START,
) -> int:
    """`take` what `work` makes of each batch `after` those that are done, in the order of the rows; returns how many
    rows there were, with those. `step` says which pass this is of how many. What `draw` gives for the batches, asked in
    their order, `work` takes beside them.

    Raises what reading and `take` raise; and what `work` raises, with the file and the row group of its batch.
    """
    threads, _client, progress = workers
    began = monotonic()
    rows, share_before = after.total, source.share(after.total) or 0.0
    under_way: deque[tuple[Future[T], Piece]] = deque()

    def report() -> None:
        share = source.share(rows)
        tick(rows, source.rows or 0)
        if progress is not None:
            now = (rows - after.total, (share or 0.0) - share_before)
            progress(Progress(rows, source.rows, share, monotonic() - began, *now, *step))

    def finish(most: int) -> None:
        nonlocal rows
        while len(under_way) > most:
            future, piece = under_way[0]
            try:
                done = future.result(LOOK)
            except NotYet:
                if not future.done():
                    report()
                    continue
                raise
            except Exception as error:
                raise piece.block.refused(error) from error
            take(done)
            under_way.popleft()
            rows += piece.batch.num_rows
            report()

    pool = ThreadPoolExecutor(threads, thread_name_prefix="scale")
    try:
        batches = pieces(source, plan, after)
        while True:
            try:
                piece = next(batches, None)
            except Exception:
                finish(0)  # what comes before what cannot be read
                raise
            if piece is None:
                break
            drawn = () if draw is None else (draw(piece),)
            under_way.append((pool.submit(_tidily, work, piece, *drawn), piece))
            finish(threads)
        finish(0)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return rows


def _tidily(work: Callable[..., T], piece: Piece, *drawn: Any) -> T:
    """What comes of a batch, by a thread that gives memory back now and then."""
    done = work(piece, *drawn)
    TIDY.after(piece.batch.num_rows * piece.batch.num_columns)
    return done


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
        self.add, self.levels = add, list[tuple[int, T | None]]()

    def take(self, part: T) -> None:
        """One part more."""
        for level in range(len(self.levels) + 1):
            if level == len(self.levels):
                self.levels.append((0, None))
            n, total = self.levels[level]
            part = part if total is None else self.add(total, part)
            if n + 1 < FAN_IN:
                self.levels[level] = n + 1, part
                return
            self.levels[level] = 0, None

    @property
    def total(self) -> T | None:
        """The sum; None of nothing."""
        total: T | None = None
        for _, part in self.levels:
            total = part if total is None else total if part is None else self.add(part, total)
        return total


class Workers(NamedTuple):
    """Who works on batches: so many threads of this process, or the workers of a `client`; and who is told."""

    threads: int
    client: Any
    progress: Tell


class Packing(NamedTuple):
    """How a result travels between processes: as what, and back; and the file that keeps it, if any."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]
    kept: KeptSum | None = None


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
    source: Source,
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
    between which results travel as `packing` has it. What it says is kept is not summed up again: of a cluster's a sum
    that is whole. Raises what `in_turn` raises, and ParameterError where a cluster
    is to `draw`, batch by batch in their order, as `in_turn` does."""
    _threads, client, progress = workers
    kept = None if packing is None else packing.kept
    so_far = None if kept is None else kept.taken_up()
    if client is not None and draw is not None:
        raise ParameterError(
            "a random start is drawn row by row, in their order, which the workers of client= do not have"
        )
    if client is not None and (so_far is None or so_far.reached.file < len(source.paths)):
        blocks = [b for b in source.blocks(plan, MergeTree(), apart=True) if isinstance(b, Block) and b.rows]
        there = SumApart(work, add, None if packing is None else packing._replace(kept=None))
        whole = spread_out(client, source, blocks, there, there.merged, progress, step)
        if kept is not None and whole is not None:
            rows = sum(block.rows for block in blocks)
            kept.save(SumSoFar(Reached(len(source.paths), 0, 0, rows), ((1, whole),), (), None))
        return whole if whole is None or packing is None else packing.unpack(whole)
    total = SumInOrder(add, packing)
    if so_far is not None:
        total.take_up(so_far)
    before = total.reached.total

    def take(part: tuple[Reached, T]) -> None:
        total.take(*part)
        if kept is not None and kept.pace.is_due:
            kept.pace.saved(lambda: kept.save(total.so_far))

    try:
        with one_thread() if plan.want == "scatter" else nullcontext():
            in_turn(
                source, plan, partial(_placed, work=work), take, workers, step=step, draw=draw, after=total.reached,
            )  # fmt: skip
        total.end(len(source.paths))
    finally:
        if kept is not None and total.is_whole and total.reached.total > before:
            kept.save(total.so_far)
    return total.total


def _placed(piece: Piece, *drawn: Any, work: Callable[..., T]) -> tuple[Reached, T]:
    """What comes of a batch, and how far its block then is; the total is how many rows it has itself."""
    rows = piece.batch.num_rows
    return Reached(*piece.block.place, piece.before + rows, rows), work(piece, *drawn)


class SumInOrder(Generic[T]):
    """The sum that `added_up` finds, as far as it is; `packing` makes bytes of its parts."""

    def __init__(self, add: Callable[[T, T], T], packing: Packing | None) -> None:
        self.add, self.packing = add, packing
        self._files, self._blocks, self._block = Eights(add), Eights(add), cast(T | None, None)
        self.reached, self.is_whole = START, True

    def take(self, here: Reached, part: T) -> None:
        """The part of one batch more."""
        self.is_whole = False  # or Ctrl+C might come in the middle
        self._close(here.place)
        self._block = part if self._block is None else self.add(self._block, part)
        self.reached = here._replace(total=self.reached.total + here.total)
        self.is_whole = True

    def end(self, files: int) -> None:
        """There are so many files, and all are summed up."""
        self._close(None)
        self.reached = Reached(files, 0, 0, self.reached.total)

    def _close(self, now: tuple[int, int] | None) -> None:
        then = self.reached.place
        if now == then:
            return
        if self._block is not None:
            self._blocks.take(self._block)
            self._block = None
        if now is None or now[0] != then[0]:
            if (total := self._blocks.total) is not None:
                self._files.take(total)
            self._blocks = Eights(self.add)

    @property
    def total(self) -> T | None:
        """After the end: the sum; None of no row."""
        return self._files.total

    @property
    def so_far(self) -> SumSoFar:
        """As bytes."""
        assert self.packing is not None
        pack = self.packing.pack

        def packed(part: T | None) -> bytes | None:
            return None if part is None else pack(part)

        files, blocks = (tuple((n, packed(t)) for n, t in eights.levels) for eights in (self._files, self._blocks))
        return SumSoFar(self.reached, files, blocks, packed(self._block))

    def take_up(self, so_far: SumSoFar) -> None:
        """Go on from there."""
        assert self.packing is not None
        unpack = self.packing.unpack

        def unpacked(part: bytes | None) -> T | None:
            return None if part is None else unpack(part)

        for eights, levels in ((self._files, so_far.files), (self._blocks, so_far.blocks)):
            eights.levels = [(n, unpacked(part)) for n, part in levels]
        self._block, self.reached = unpacked(so_far.block), so_far.reached


def spread_out(
    client: Any,
    source: Source,
    blocks: Sequence[Block],
    work: Callable[[Block], T],
    merge: Callable[[list[T]], T],
    progress: Tell,
    step: tuple[int, int],
) -> T | None:
    """What `work` makes of the blocks on the workers of a cluster, merged there; `progress` is told how far it is."""
    began = monotonic()

    def report() -> None:
        tick(spread.rows, source.rows or 0)
        if progress is not None:
            share = source.share(spread.rows)
            progress(Progress(spread.rows, source.rows, share, monotonic() - began, spread.rows, share or 0.0, *step))

    with on_workers(client, blocks, work, merge) as spread:
        return spread.result(report)


def folded(parts: Iterable[T | None], add: Callable[[T, T], T]) -> T | None:
    """The sum from the left of those that are there; None of none."""
    total: T | None = None
    for part in parts:
        total = part if total is None else total if part is None else add(total, part)
    return total
