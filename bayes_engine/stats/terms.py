"""Sums of every term by class: how often each word stands in the texts of each class, under + and −."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.errors import SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.stats.counts import ByName, less, refuse_tables, widen
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import SPARSE_CELLS, Matrix, assembled


@dataclass(frozen=True)
class TermCounts:
    """`sums` (C, V): Σ of x_v over the rows of class c, for the V terms `names`; `weight` (C,) is that of the rows.

    Floats, exact for whole counts: an integer type would wrap.
    """

    names: tuple[str, ...]
    weight: Array
    sums: Array

    def __add__(self, other: TermCounts) -> TermCounts:
        self._same_terms(other)
        return replace(self, weight=self.weight + other.weight, sums=self.sums + other.sums)

    def __sub__(self, other: TermCounts) -> TermCounts:
        self._same_terms(other)
        return replace(self, weight=less(self.weight, other.weight), sums=less(self.sums, other.sums))

    def scaled(self, weight: float) -> TermCounts:
        return replace(self, weight=self.weight * weight, sums=self.sums * weight)

    def among(self, classes: NDArray[np.intp], n_classes: int) -> TermCounts:
        """The same among more classes, the old ones standing at the places `classes`."""
        to = (classes, n_classes)
        return replace(self, weight=widen(self.weight, to), sums=widen(self.sums, to))

    @property
    def absent(self) -> Array:
        """(C, V) the weight of the rows without the term, where `sums` count the rows with it."""
        return _rest(self.weight[:, None], self.sums)

    @property
    def others(self) -> Array:
        """(C, V) the sums of all other classes."""
        return _rest(self.sums.sum(axis=0), self.sums)

    def over(self, names: tuple[str, ...]) -> TermCounts:
        """The same under a wider vocabulary: a term that stood in no text has the sum 0."""
        if names == self.names:
            return self
        place = {name: v for v, name in enumerate(names)}
        sums = np.zeros((len(self.sums), len(names)))
        sums[:, [place[name] for name in self.names]] = self.sums
        return replace(self, names=names, sums=sums)

    def of(self, names: tuple[str, ...]) -> TermCounts:
        """Those of some of the terms, in this order."""
        place = {name: v for v, name in enumerate(self.names)}
        return replace(self, names=names, sums=self.sums[:, [place[name] for name in names]])

    def _same_terms(self, other: TermCounts) -> None:
        if self.names is not other.names and self.names != other.names:
            raise SchemaMismatch(
                "counts of {a} terms and of {b} others do not merge; count both with one vocabulary",
                a=len(self.names),
                b=len(other.names),
            )


def _rest(whole: Array, part: Array) -> Array:
    """`whole − part`, 0 where nothing but the rounding of fractional weights is left: α may be smaller."""
    rest = whole - part
    return np.where(rest > 1e-12 * whole, rest, 0.0)


def term_counts(X: Matrix, labels: Labels, names: tuple[str, ...]) -> TermCounts:
    """The sums of the columns of X (n, V) by class.

    A dense block is multiplied with the one-hot labels. In a sparse one every stored cell is added to its sum; whole
    numbers to those of several classes at once.
    """
    weight = labels.by_class
    sums = np.zeros((labels.n_classes, len(names)))
    if labels.soft is None and sparse.issparse(X.values):
        whole = labels.weight is None and np.can_cast(np.int64 if X.above is not None else X.values.dtype, np.int64)
        most = X.whole_bound if whole else None
        once = X.values.has_canonical_format
        shared = _SharedWords(sums)
        # a block is worth its pass over the sums if it has more cells; an eighth of X is the most to be held twice
        for rows, block in X.blocks(max(SPARSE_CELLS // 2, min(4 * sums.size, X.values.nnz // 8)), np.int64):
            own = labels.take(rows)
            reach = 0 if most is None else most * (int(own.by_class.max()) if once else block.nnz)
            if most is not None and 0 <= reach < 2**53:
                shared.add(block, own, reach)
            else:  # floats add up: cells below 0, fractions, or sums that floats round
                assert own.codes is not None
                sums += _by_group(block, own.codes, own.by_row, len(sums))
        shared.unpack()
    else:
        for rows, block in X.blocks():
            sums += np.asarray((block.T @ labels.take(rows).matrix().T).T)
    return TermCounts(names, weight, sums)


@dataclass
class _SharedWords:
    """Sums of whole numbers in which `together` neighbouring classes share a word, `bits` each; they are unpacked into
    `sums` (C, V) before a sum can come to more, which is known from what the largest is at most: `reached`."""

    sums: Array
    words: NDArray[np.int64] | None = None
    together: int = 1
    bits: int = 0
    reached: int = 0

    def add(self, block: sparse.csr_array, labels: Labels, reach: int) -> None:
        """Add the sums of a block, none of which is larger than `reach`."""
        assert labels.codes is not None
        if self.reached + reach >= 2**self.bits:
            self.unpack()
            n_words = -(-len(self.sums) // (63 // max(1, reach.bit_length())))
            self.together = -(-len(self.sums) // n_words)  # as evenly as it goes, for more bits each
            self.bits = 63 // self.together
        word, place = np.divmod(labels.codes, self.together)
        n_words = -(-len(self.sums) // self.together)
        own = _by_group(block, word, np.left_shift(1, self.bits * place), n_words)
        self.words = own if self.words is None else self.words + own
        self.reached += reach

    def unpack(self) -> None:
        if self.words is None:
            return
        for c, own in enumerate(self.sums):
            shared = self.words[c // self.together]
            own += shared & (2**self.bits - 1)
            shared >>= self.bits
        self.words, self.reached = None, 0


def _by_group(block: sparse.csr_array, group: NDArray[np.intp], weight: NDArray[Any], n_groups: int) -> NDArray[Any]:
    """(n_groups, V) the sums of the weighted rows of each group: every cell is added to the cell (group of its row,
    term), by the product of the block, its terms renumbered by group, with the weights."""
    shape = (n_groups, block.shape[1])
    cells = block.indices
    if n_groups > 1:
        kind = cells.dtype if math.prod(shape) <= np.iinfo(cells.dtype).max else np.int64
        cells = np.repeat((group * shape[1]).astype(kind), np.diff(block.indptr))
        cells += block.indices
    by_cell = assembled(sparse.csc_array, (math.prod(shape), block.shape[0]), block.data, cells, block.indptr)
    return np.asarray((by_cell @ weight).reshape(shape))


@dataclass(frozen=True)
class TextTerms(ByName):
    """`columns[name]`: the terms of each text column; their `weight` is that of the rows whose text is known."""

    columns: dict[str, TermCounts] = field(default_factory=dict)


def text_terms(table: Table, labels: Labels) -> TextTerms:
    """The sums of the terms of every text column by class; a missing text adds nothing. Raises ParameterError as
    `count`."""
    sums = {}
    for variable in table.schema:
        if variable.textual:
            column, known = table[variable.name], slice(None)
            if column.missing.any():
                known = ~column.missing
            terms = tuple(str(t) for t in variable.levels)
            refuse_tables(labels.n_classes, len(terms))
            sums[variable.name] = term_counts(Matrix.of(column.counts[known]), labels.take(known), terms)
    return TextTerms(sums)
