"""Sums of every term by class: how often each word stands in the texts of each class, under + and −."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

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

    A dense block is multiplied with the one-hot labels. In a sparse one, every stored cell is added to the cell (class
    of its row, term): that is the product of the block, its terms renumbered by class, with the row weights.
    """
    weight = labels.by_class
    sums = np.zeros((labels.n_classes, len(names)))
    if labels.soft is None and sparse.issparse(X.values):
        whole = labels.weight is None and np.can_cast(np.int64 if X.above is not None else X.values.dtype, np.int64)
        most = X.whole_bound if whole else None
        once = X.values.has_canonical_format
        # a block is worth its pass over the sums if it has more cells; an eighth of X is the most to be held twice
        for rows, block in X.blocks(max(SPARSE_CELLS // 2, min(4 * sums.size, X.values.nnz // 8)), np.int64):
            own = labels.take(rows)
            bits = 0 if most is None else _bits(most, int(own.by_class.max()) if once else block.nnz)
            _add_sparse(sums, block, own, bits)
    else:
        for rows, block in X.blocks():
            sums += np.asarray((block.T @ labels.take(rows).matrix().T).T)
    return TermCounts(names, weight, sums)


def _add_sparse(sums: Array, block: sparse.csr_array, labels: Labels, bits: int) -> None:
    """Add the sums of a block. Where any of them fits in so many bits, neighbouring classes share a word."""
    assert labels.codes is not None
    together = min(63 // bits, labels.n_classes) if bits else 1
    word, place = np.divmod(labels.codes, together)
    shape = (-(-labels.n_classes // together), sums.shape[1])
    cells = block.indices
    if shape[0] > 1:
        kind = cells.dtype if math.prod(shape) <= np.iinfo(cells.dtype).max else np.int64
        cells = np.repeat((word * shape[1]).astype(kind), np.diff(block.indptr))
        cells += block.indices
    weight = np.left_shift(1, bits * place) if bits else labels.by_row
    by_cell = assembled(sparse.csc_array, (math.prod(shape), block.shape[0]), block.data, cells, block.indptr)
    words = (by_cell @ weight).reshape(shape)
    if together == 1:
        sums += words
        return
    for c, own in enumerate(sums):
        shared = words[c // together]
        own += shared & (2**bits - 1)
        shared >>= bits


def _bits(most: int, times: int) -> int:
    """Bits that hold a sum of so many counts; 0 where floats add up: cells below 0, or sums beyond 2^53."""
    bits = max(1, (most * times).bit_length())
    return bits if most >= 0 and bits <= 53 else 0


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
