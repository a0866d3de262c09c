"""Statistics of blocks of rows, merged in a tree that only the places of the blocks fix, and what is kept of an
unfinished count.

A block is a leaf: the i-th of its file. A node of 2^k blocks merges the two halves of its range, which begins at a
multiple of 2^k; when a file is whole, what is left of it, one node for each 1 in the binary form of the number of its
blocks, is added from the left. Whole files merge in the same way. So sums of floats come out alike to the last bit,
whatever the order in which blocks are counted, and where the count was broken off and taken up again; and a file that
is not whole has merged with no other, so it can be mended without them. Chan, Golub & LeVeque 1979 merge moments
pairwise so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.schema import Schema, Variable


@dataclass(frozen=True)
class PartialNode:
    """The statistics (None of no row) of `rows` rows: those of the blocks `start` … `stop` − 1 of a `file`, by its
    number, or, where `files` is above 0, of so many whole files from that one on, both bounds being 0."""

    file: int
    files: int
    start: int
    stop: int
    rows: int
    stats: SufficientStatistics | None

    @property
    def size(self) -> int:
        """How many leaves are in it: files, or blocks."""
        return self.files or self.stop - self.start

    @property
    def first(self) -> int:
        """The first of its leaves."""
        return self.file if self.files else self.start


@dataclass(frozen=True)
class PartialSource:
    """A file that is counted: its name without folders, its size in bytes, and when it was changed (nanoseconds)."""

    name: str
    size: int
    changed: int


@dataclass(frozen=True)
class PartialStatistics:
    """An unfinished count: what was asked (columns, target, weight, which statistics, the schema that was given), of
    which files, and the `nodes` that are counted, not merged beyond the fixed tree."""

    target: str
    columns: tuple[str, ...]
    weight: str | None
    want: str
    schema: Schema | None
    sources: tuple[PartialSource, ...]
    nodes: tuple[PartialNode, ...]


class MergeTree:
    """The nodes of the blocks that are counted, each two halves of a range merged as soon as both are there.

    >>> from bayes_engine import NaiveBayes
    >>> stats = NaiveBayes().fit([["a"], ["b"]], ["u", "v"]).stats_
    >>> tree = MergeTree()
    >>> for i in (3, 0, 1):
    ...     tree.add(PartialNode(0, 0, i, i + 1, 2, stats))
    >>> [(node.start, node.stop) for node in tree.nodes], (0, 1) in tree, (0, 2) in tree, tree.rows
    ([(0, 2), (3, 4)], True, False, 6)
    >>> tree.add(PartialNode(0, 0, 2, 3, 2, stats))
    >>> tree.close(0, 4)
    >>> [(node.file, node.files) for node in tree.nodes], tree.total().class_weight.tolist()
    ([(0, 1)], [4.0, 4.0])
    """

    def __init__(self, nodes: Iterable[PartialNode] = ()) -> None:
        self._nodes = {(node.file, node.files, node.start): node for node in nodes}
        self._blocks: dict[int, int] = {}

    def add(self, node: PartialNode) -> None:
        """A node more. Raises SchemaMismatch where it does not speak of the same columns."""
        while (mate := self._mate(node)) is not None:
            a, b = (node, mate) if node.first < mate.first else (mate, node)
            stats = _merged(a.stats, b.stats)  # first: where it raises, nothing has changed
            del self._nodes[mate.file, mate.files, mate.start]
            files = a.files + b.files
            node = PartialNode(a.file, files, a.start, 0 if files else b.stop, a.rows + b.rows, stats)
        self._nodes[node.file, node.files, node.start] = node
        if not node.files:
            self._whole(node.file)

    def close(self, file: int, blocks: int) -> None:
        """A file has so many blocks, and no more: once they are counted, it is whole."""
        self._blocks[file] = blocks
        self._whole(file)

    def has_file(self, file: int) -> bool:
        """Whether a file is counted whole."""
        return any(f <= file < f + n for f, n, _ in self._nodes if n)

    def _mate(self, node: PartialNode) -> PartialNode | None:
        """The node with which this one makes the next larger."""
        size = node.size
        other = node.first + size if node.first % (2 * size) == 0 else node.first - size
        place = (other, node.files, 0) if node.files else (node.file, 0, other)
        mate = self._nodes.get(place)
        return mate if mate is not None and mate.size == size else None

    def _whole(self, file: int) -> None:
        """Fold the nodes of a file of which all blocks are there."""
        parts = [node for node in self.nodes if node.file == file and not node.files]
        if file not in self._blocks or sum(node.size for node in parts) < self._blocks[file] or self.has_file(file):
            return
        stats = reduce(_merged, (node.stats for node in parts), None)
        for node in parts:
            del self._nodes[node.file, 0, node.start]
        self.add(PartialNode(file, 1, 0, 0, sum(node.rows for node in parts), stats))

    @property
    def nodes(self) -> tuple[PartialNode, ...]:
        """In the order of their blocks."""
        return tuple(self._nodes[place] for place in sorted(self._nodes, key=lambda p: (p[0], p[2])))

    @property
    def rows(self) -> int:
        return sum(node.rows for node in self._nodes.values())

    def __contains__(self, block: object) -> bool:
        """Whether a block, by the number of its file and its own, is counted."""
        return isinstance(block, tuple) and any(
            n.file <= block[0] < n.file + n.files if n.files else n.file == block[0] and n.start <= block[1] < n.stop
            for n in self._nodes.values()
        )

    def total(self) -> SufficientStatistics | None:
        """The statistics of all blocks there are; None where they have no row."""
        return reduce(_merged, (node.stats for node in self.nodes), None)


def _merged(a: SufficientStatistics | None, b: SufficientStatistics | None) -> SufficientStatistics | None:
    return b if a is None else a if b is None else merged(a, b)


def merged(a: SufficientStatistics, b: SufficientStatistics) -> SufficientStatistics:
    """`a + b` of blocks that were counted by themselves: each with its pivots, of which a's stay where a has a value
    there, and with its domains; declared ones that differ (Arrow's dictionaries) become open, as where frames are
    concatenated. Raises SchemaMismatch where a column is of two kinds."""
    weight_a = dict(zip(a.moments.names, a.moments.weight.sum(axis=0), strict=True))
    pairs = [
        _alike(u, v, bool(weight_a.get(u.name, 1.0) > 0))
        for u, v in zip((*a.schema, a.target), (*b.schema, b.target), strict=True)
    ]
    (*columns_a, target_a), (*columns_b, target_b) = zip(*pairs, strict=True)
    return a.under(Schema(tuple(columns_a)), target_a) + b.under(Schema(tuple(columns_b)), target_b)


def _alike(u: Variable, v: Variable, pivot_of_first: bool) -> tuple[Variable, Variable]:
    pivot = u.pivot if pivot_of_first else v.pivot
    if (
        u.cuts is None
        and u.discrete
        and (u.declared or v.declared)
        and (u.levels, u.declared) != (v.levels, v.declared)
    ):
        return replace(u, declared=False), replace(v, declared=False)
    return replace(u, pivot=pivot), replace(v, pivot=pivot)


def in_order(stats: SufficientStatistics, given: Schema) -> SufficientStatistics:
    """The statistics with the levels of open domains in the order of a fit: those `given`, then the others sorted."""
    return stats.under(
        Schema(tuple(_sorted(v, given[v.name].levels) for v in stats.schema)),
        replace(stats.target, levels=sort_levels(stats.target.levels)),
    )


def _sorted(variable: Variable, first: tuple[object, ...]) -> Variable:
    if variable.declared or not variable.discrete:
        return variable
    known = [level for level in first if level in variable.levels]
    rest = sort_levels((level for level in variable.levels if level not in set(first)), variable.name)
    return replace(variable, levels=(*known, *rest))
