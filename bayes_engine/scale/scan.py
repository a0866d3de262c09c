"""The pass over the blocks: counted on threads, merged in a fixed tree, told of, called off, kept and taken up again.

A block is counted whole or not at all. Its batches are merged in their order under pivots of its own, so its statistics
depend on its rows alone; how blocks merge says `bayes_engine.stats.partial`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple, Protocol

from bayes_engine.errors import StoreError, TableError
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.gaussian_discriminant import one_thread
from bayes_engine.models.tan import TAN
from bayes_engine.priors import checked_word
from bayes_engine.progress import tick
from bayes_engine.scale.adapters import on_workers
from bayes_engine.scale.arrow import CountPlan, encoded
from bayes_engine.scale.block import LOOK, Block, End
from bayes_engine.scale.kept import At, Pace, refused_to_keep
from bayes_engine.scale.memory import MOST_POINTS, TIDY, at_a_time, bytes_kept, bytes_of, release
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.families import Families, count_cells, count_families
from bayes_engine.stats.labels import MAX_WEIGHT, Labels
from bayes_engine.stats.partial import MergeTree, PartialNode, PartialSource, PartialStatistics, in_order, merged
from bayes_engine.stats.values import bounded_values
from bayes_engine.store.statistics import load_partial, packed_partial, save_partial
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

MOST_VALUES = 2**20
"""Distinct values of a column whose likelihood keeps each."""


def count_values(table: Table, labels: Labels, target: Variable) -> SufficientStatistics:
    """Each column by itself, and the distinct values of those of numbers."""
    return replace(collect(table, labels, target), values=bounded_values(table, labels, MOST_POINTS))


WANTS: dict[str, Callable[[Table, Labels, Variable], SufficientStatistics]] = {
    "columns": collect,
    "values": count_values,
    "pairs": TAN()._count,
    "scatter": LinearDiscriminantAnalysis()._count,
}
"""What may be counted, each by the function that a fit counts with."""


def counter_of(plan: CountPlan) -> Callable[[Table, Labels, Variable], SufficientStatistics]:
    """What counts the rows of a batch."""
    return partial(count_given, names=plan.families) if plan.want == FAMILIES else WANTS[plan.want]


FAMILIES = "families"
"""What is wanted where certain families of columns are counted, which a pass before has chosen."""


def count_given(
    table: Table, labels: Labels, target: Variable, names: Collection[tuple[str, ...]]
) -> SufficientStatistics:
    """Each column by itself, and the tables of these families; of one with a column of numbers, its moments within the
    levels of the others."""
    discrete = {v.name for v in table.schema if v.discrete}
    tables = [name for name in names if discrete.issuperset(name)]
    cells = {tuple(n for n in name if n in discrete) for name in names if not discrete.issuperset(name)}
    families = Families(count_families(table, labels, tables), count_cells(table, labels, sorted(cells)))
    return collect(table, labels, target, families)


class Progress(NamedTuple):
    """How far a pass is: `rows` counted of `total` (None where it is not known before the end), those of before a
    resumption included; the `share` of all that is read (None likewise); `seconds` since this call began, in which
    `rows_now` were counted. It is the pass `step` of `steps` over the rows."""

    rows: int
    total: int | None
    share: float | None
    seconds: float
    rows_now: int
    share_now: float
    step: int = 1
    steps: int = 1

    @property
    def rate(self) -> float:
        """Rows a second.

        >>> Progress(500, 1000, 0.5, 2.0, 500, 0.5).rate, Progress(500, 1000, 0.5, 2.0, 500, 0.5).left
        (250.0, 2.0)
        """
        return self.rows_now / max(self.seconds, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take at this rate; None where that is not known."""
        if self.share is None or not self.share_now:
            return None
        return self.seconds * (1.0 - self.share) / self.share_now


class Blocks(Protocol):
    """What is read: its files, how many rows it has where that is known, its blocks in order without those that the
    tree holds already, with the end of each file, and the share read so far."""

    sources: tuple[PartialSource, ...]
    rows: int | None

    def blocks(self, plan: CountPlan, tree: MergeTree, *, apart: bool = False) -> Iterable[Block | End]: ...
    def share(self, rows: int) -> float | None: ...


def checked_want(want: str) -> None:
    """Raises ParameterError where nothing of that name is counted."""
    checked_word("want", want, tuple(WANTS))


@dataclass
class Pass:
    """One pass over `blocks` for a plan."""

    blocks: Blocks
    plan: CountPlan
    given: Any
    resume: Path | None
    progress: Callable[[Progress], object] | None
    threads: int
    client: Any = None

    def run(self) -> SufficientStatistics:
        """The statistics of all rows. What stops it, whatever it is, leaves what was counted in the file `resume`."""
        release()  # what came before, and the limit of large arrays from the first row on
        tree = MergeTree(self._kept())
        began, before = monotonic(), tree.rows
        share = self.blocks.share(before) or 0.0

        def report(rows: int) -> None:
            now = self.blocks.share(rows)
            tick(rows, self.blocks.rows or 0)
            if self.progress is not None:
                far = Progress(rows, self.blocks.rows, now, monotonic() - began, rows - before, (now or 0) - share)
                self.progress(far)

        if self.client is None:
            self._on_threads(tree, report)
        else:
            self._on_workers(tree, report)
        refuse_values(tree.nodes)  # of a count that was taken up
        whole = tree.total()
        if whole is None:
            raise TableError("there are no rows to count: the files are empty")
        total = in_order(whole, self.plan.schema)
        if total.class_weight.sum() >= MAX_WEIGHT:
            raise TableError(
                "the weights sum to {total:.3g}, 2^53 or more; divide them", total=float(total.class_weight.sum())
            )
        report(tree.rows)
        return total

    def _on_threads(self, tree: MergeTree, report: Callable[[int], None]) -> None:
        """Count the blocks that the tree does not hold yet, on threads of this process."""
        pace = Pace()
        stop, failed = Event(), dict[tuple[int, int], BaseException]()
        running: dict[Future[PartialNode | None], Block] = {}

        most_now = self.threads

        def add(future: Future[PartialNode | None]) -> None:
            """What a block counted, which nobody else holds then."""
            nonlocal most_now
            block = running.pop(future)
            try:
                node = future.result()
                if node is not None:
                    tree.add(node)
                    refuse_values(tree.nodes)
                    fit = at_a_time(self.threads, self.plan, bytes_of(node), bytes_kept(tree.nodes))
                    most_now = min(most_now, fit)
            except Exception as error:  # noqa: BLE001 - a worker's, told as this block's
                failed[block.place] = block.refused(error)
                failed[block.place].__cause__ = error

        def take(most: int) -> None:
            """Wait until at most so many blocks are under way."""
            while len(running) > most:
                done = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED).done
                while done:
                    add(done.pop())
                if failed:
                    return
                if self.resume is not None and pace.is_due:
                    pace.saved(lambda: self._keep(tree))
                report(tree.rows)

        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="scale")
        try:
            with one_thread() if self.plan.want == "scatter" else nullcontext():
                for block in self.blocks.blocks(self.plan, tree):
                    if isinstance(block, End):
                        tree.close(*block)
                        continue
                    running[pool.submit(counted, block, self.plan, stop)] = block
                    take(most_now)
                    if failed:
                        break
                take(0)
        except Exception:
            raise
        except BaseException:  # it is called off: what is under way ends with its batch
            stop.set()
            raise
        finally:
            pool.shutdown(wait=True)
            for future, block in running.items():
                if (error := future.exception()) is not None:
                    failed[block.place] = block.refused(error)
                elif (node := future.result()) is not None:
                    tree.add(node)
            if self.resume is not None and tree.nodes:
                self._keep(tree)
        if failed:
            first = failed[min(failed)]
            raise first from first.__cause__

    def _on_workers(self, tree: MergeTree, report: Callable[[int], None]) -> None:
        """Count them on the workers of a cluster, and merge them there; each node of the tree is the same there."""
        items = list(self.blocks.blocks(self.plan, tree, apart=True))
        ends = {item.file: item.blocks for item in items if isinstance(item, End)}
        count = CountApart(self.plan, replace(self._partial(()), sources=()), ends)
        spread = on_workers(self.client, [item for item in items if isinstance(item, Block)], count, count.merged)
        before, pace, in_file = tree.rows, Pace(), tree.rows

        def keep() -> None:
            """Save what is there, unless the file has more: a lost worker takes results along."""
            nonlocal in_file
            far = MergeTree(tree.nodes)
            for part in spread.finished():
                for node in load_partial(part).nodes:
                    far.add(node)
            if far.rows > in_file:
                self._keep(far)
                in_file = far.rows

        def look() -> None:
            if self.resume is not None and pace.is_due:
                pace.saved(keep)
            report(before + spread.rows)

        with spread:
            try:
                top = spread.result(look)
            except BaseException:
                if self.resume is not None:
                    keep()
                raise
        for node in () if top is None else load_partial(top).nodes:
            tree.add(node)
        for file, blocks in ends.items():
            tree.close(file, blocks)
        if self.resume is not None and tree.nodes:
            self._keep(tree)

    # kept and taken up --------------------------------------------------------------------------------------------

    def _partial(self, nodes: Iterable[PartialNode]) -> PartialStatistics:
        q = self.plan
        return PartialStatistics(
            q.target, q.schema.names, q.weight, q.want, self.given, self.blocks.sources, tuple(nodes)
        )

    def _keep(self, tree: MergeTree) -> None:
        assert self.resume is not None
        try:
            save_partial(self._partial(tree.nodes), self.resume)
        except StoreError as error:
            last = tree.nodes[-1]
            whole = last.file + max(last.files, 1) - 1
            name = self.blocks.sources[whole].name if self.blocks.sources else f"batch {last.stop}"
            here = At(tree.rows, name, None if last.files else last.stop)
            raise refused_to_keep(self.resume, error, here.said) from error

    def _kept(self) -> tuple[PartialNode, ...]:
        """What a call before this one counted of the same plan, as far as its files are as they were then."""
        if self.resume is None:
            return ()
        if not self.resume.parent.is_dir():
            raise StoreError("there is no folder '{path}' to write to", path=str(self.resume.parent))
        if not self.resume.exists():
            return ()
        kept, asked = load_partial(self.resume), self._partial(())
        for name in ("target", "columns", "weight", "want", "schema"):
            if getattr(kept, name) != getattr(asked, name):
                raise StoreError(
                    "'{path}' holds a count with another {what}; ask as then, or begin a new file",
                    path=str(self.resume),
                    what=name,
                )
        tables = {name for name in self.plan.families if all(self.plan.schema[n].discrete for n in name)}
        if self.plan.want == FAMILIES and any(n.stats and n.stats.families.tables.keys() != tables for n in kept.nodes):
            raise StoreError("'{path}' holds the tables of other families; begin a new file", path=str(self.resume))
        if kept.sources == asked.sources:
            return kept.nodes
        same = {i for i, (a, b) in enumerate(zip(kept.sources, asked.sources, strict=False)) if a == b}
        nodes = tuple(n for n in kept.nodes if same.issuperset(range(n.file, n.file + max(n.files, 1))))
        if not nodes:
            raise StoreError(
                "'{path}' holds a count of files that have changed since, or of others; begin a new file",
                path=str(self.resume),
            )
        return nodes


def refuse_values(nodes: Iterable[PartialNode]) -> None:
    """Raises TableError where a column would hold more values than memory is meant to."""
    for node in nodes:
        for name, column in () if node.stats is None else node.stats.values.columns.items():
            if not column.bound and len(column.points) > MOST_VALUES:
                raise TableError(
                    "column '{column}' has more than {most} distinct values, and its likelihood keeps each; choose "
                    "'gaussian' for it, or intervals",
                    column=name,
                    most=MOST_VALUES,
                )


def counted(block: Block, plan: CountPlan, stop: Event) -> PartialNode | None:
    """The statistics of one block; None where it was called off."""
    stats: SufficientStatistics | None = None
    pivots: dict[str, float] = {}
    rows, count = 0, counter_of(plan)
    for batch in block.batches():
        if stop.is_set():
            return None
        if batch.num_rows:
            part = count(*encoded(batch, plan, block.declared, pivots, block.before + rows))
            rows += batch.num_rows
            cells = batch.num_rows * batch.num_columns
            del batch  # or it stands beside the next
            stats = part if stats is None else merged(stats, part)
            del part
            TIDY.after(cells)
    file, index = block.place
    return PartialNode(file, 0, index, index + 1, rows, stats)


@dataclass(frozen=True)
class CountApart:
    """What a worker of a cluster does for a pass: counts a block by the `plan`, and merges what others have counted, as
    far as the fixed tree has it, files being whole that have so many `blocks`. What goes from one to the other is the
    file of an unfinished count, `asked` with its nodes."""

    plan: CountPlan
    asked: PartialStatistics
    blocks: Mapping[int, int]

    def __call__(self, block: Block) -> bytes:
        with one_thread() if self.plan.want == "scatter" else nullcontext():
            node = counted(block, self.plan, Event())
        assert node is not None
        return self._packed([node])

    def merged(self, parts: Iterable[bytes]) -> bytes:
        """The nodes of all parts."""
        return self._packed(node for part in parts for node in load_partial(part).nodes)

    def _packed(self, nodes: Iterable[PartialNode]) -> bytes:
        tree = MergeTree()
        for node in nodes:
            tree.add(node)
            if not node.files:
                tree.close(node.file, self.blocks[node.file])
        refuse_values(tree.nodes)
        return packed_partial(replace(self.asked, nodes=tree.nodes))
