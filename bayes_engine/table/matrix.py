"""Rows that come as one matrix, dense or sparse, and stay one: read a block at a time, never copied whole."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema

DENSE_CELLS = 2**17
"""Cells of a dense block: a few arrays of that size stay in the cache together."""
SPARSE_CELLS = 2**21
"""Stored cells of a block of CSR rows."""
WORTH_A_MATRIX = 1024
"""Rows below which a matrix is not worth the look at the columns."""
UNNAMED = Schema(())
"""The schema of rows of whose columns nothing is said (yet)."""


@dataclass(frozen=True)
class Matrix(Table):
    """n rows of numbers as `values` (n, d): an array, NaN for a missing cell, or a CSR matrix. With `above`, a cell is
    1 where its value is greater than that and 0 elsewhere (0 ≤ above: what a sparse matrix does not store is 0).

    >>> rows = Matrix.of(np.array([[2, 0], [0, 1], [3, 3]]), above=1.0)
    >>> [(rows.start, block.tolist()) for rows, block in rows.blocks(cells=4)]
    [(0, [[1.0, 0.0], [0.0, 0.0]]), (2, [[1.0, 1.0]])]
    """

    values: Any = None
    above: float | None = None

    @classmethod
    def of(cls, values: Any, above: float | None = None, schema: Schema = UNNAMED) -> Matrix:
        """The rows of `values`, under `schema` where there is one."""
        return cls(schema, (), values.shape[0], values=values, above=above)

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.column(self.schema.position[name])

    def column(self, j: int) -> NDArray[Any]:
        """(n,) one column as floats."""
        values = self.values[:, [j]].toarray()[:, 0] if sparse.issparse(self.values) else self.values[:, j]
        return np.asarray(values if self.above is None else values > self.above, dtype=float)

    def occurring(self) -> NDArray[np.intp]:
        """The columns with a cell that is not 0, in order."""
        least = 0.0 if self.above is None else self.above
        if sparse.issparse(self.values):
            data = self.values.data
            return np.unique(self.values.indices[data != 0 if self.above is None else data > least]).astype(np.intp)
        return np.flatnonzero((self.values != 0 if self.above is None else self.values > least).any(axis=0))

    def take(self, rows: Any) -> Matrix:
        values = _rows(self.values, rows) if isinstance(rows, slice) else self.values[rows]
        return replace(self, values=values, n=values.shape[0])

    def hiding(self, given: Collection[str]) -> Matrix:
        hidden = np.array([v.name not in given for v in self.schema])
        known = (j for j in np.flatnonzero(hidden) if not np.isnan(self.values[:, j]).all())
        return self if next(known, None) is None else replace(self, values=np.where(hidden, np.nan, self.values))

    @cached_property
    def whole_bound(self) -> int | None:
        """Of whole numbers one that is below 0 if any is, and else no less than the largest, nor twice as large: found
        in one pass. None of fractions."""
        if self.above is not None:
            return 1
        cells = self._cells
        return int(np.bitwise_or.reduce(cells, axis=None)) if cells.dtype.kind in "biu" else None

    @property
    def least(self) -> float:
        """The least of 0 and all cells, as they come; of whole numbers it may be less than that where it is below 0."""
        bound = self.whole_bound if self.above is None else None
        return float(self._cells.min(initial=0.0)) if bound is None else min(bound, 0)

    @property
    def _cells(self) -> NDArray[Any]:
        return np.asarray(self.values.data if sparse.issparse(self.values) else self.values)

    def infinite(self) -> NDArray[np.bool_]:
        bad = np.zeros(self.n, dtype=bool)
        if not sparse.issparse(self.values):  # a sparse one is refused where it comes in
            for rows, block in self.blocks():
                if not np.isfinite(sum_of_squares(block)):  # one number tells of NaN and infinity alike
                    bad[rows] = np.isinf(block).any(axis=1)
        return bad

    def blocks(self, cells: int | None = None, kind: type = float) -> Iterator[tuple[slice, Any]]:
        """Consecutive rows with about `cells` (stored) cells each: which they are, and their values; 1 and 0 as `kind`,
        where a cell says no more."""
        stored = self.values.nnz if sparse.issparse(self.values) else self.n * self.values.shape[1]
        cells = cells or (SPARSE_CELLS if sparse.issparse(self.values) else DENSE_CELLS)
        step = max(1, min(self.n, cells * self.n // max(stored, 1)))
        ones: NDArray[Any] | None = None
        for rows in slices(self.n, step):
            block = _rows(self.values, rows)
            if self.above is None:
                yield rows, block
            elif sparse.issparse(block) and block.nnz and block.data.min() > self.above:  # all that is stored is there
                ones = ones if ones is not None and len(ones) >= block.nnz else np.ones(block.nnz, dtype=kind)
                yield rows, assembled(sparse.csr_array, block.shape, ones[: block.nnz], block.indices, block.indptr)
            else:
                yield rows, _indicator(block, self.above, kind)


def as_they_lie(rows: pd.DataFrame | Array, schema: Schema, missing: str) -> Matrix | None:
    """The rows of a frame or of an array of floats as one matrix, if its columns are floats in which every number may
    stand, and they are many; None where they are not, or one may be a missing cell that `missing` refuses."""
    if len(rows) < WORTH_A_MATRIX or not all(v.numeric and v.likelihood is None for v in schema):
        return None
    if isinstance(rows, pd.DataFrame):
        if any(kind != np.float64 or not isinstance(kind, np.dtype) for kind in rows.dtypes):
            return None
        rows = rows.to_numpy()
    whole = Matrix.of(rows, schema=schema)
    refused = missing == "error" and not all(np.isfinite(sum_of_squares(block)) for _rows, block in whole.blocks())
    return None if refused else whole


def number_blocks(X: Table, names: Sequence[str], cells: int | None = None) -> Iterator[tuple[slice, Array]]:
    """Consecutive rows, with about so many `cells`, and their numbers (m, d) in these columns, which are all of a
    Matrix that names none."""
    if isinstance(X, Matrix):
        places = [X.schema.position[name] for name in names] if len(X.schema) > len(names) else slice(None)
        yield from ((rows, np.asarray(block[:, places], dtype=float)) for rows, block in X.blocks(cells))
        return
    columns = [X[name] for name in names]
    for rows in slices(X.n, max(1, (cells or DENSE_CELLS) // max(len(columns), 1))):
        block = np.empty((len(columns), rows.stop - rows.start))
        for into, column in zip(block, columns, strict=True):
            into[:] = column[rows]
        yield rows, block.T


def offset_blocks(
    X: Table, names: Sequence[str], pivot: Array | None, cells: int | None = None
) -> Iterator[tuple[slice, Array]]:
    """`number_blocks` as offsets from `pivot` (d,), or as they are, to be written into: the next block takes the same
    place."""
    pivots = offsets = np.empty((0, len(names)))
    for rows, block in number_blocks(X, names, cells):
        m = len(block)
        if m > len(offsets):
            offsets = np.empty_like(block, dtype=float)
            if pivot is not None:  # pivots that lie as the numbers do are taken off in one go, not row by row
                pivots = np.empty_like(offsets)
                pivots[:] = pivot
        if pivot is None:
            offsets[:m] = block
        else:
            np.subtract(block, pivots[:m], out=offsets[:m])
        yield rows, offsets[:m]


def matrix(X: Table) -> Array:
    """(n, d) the numbers of a table without discrete columns, as they lie where it is one matrix."""
    return np.asarray(X.values if isinstance(X, Matrix) else np.stack(X.columns, axis=1), dtype=float)


def slices(n: int, size: int) -> Iterator[slice]:
    """Consecutive rows, `size` at a time."""
    return (slice(start, min(start + size, n)) for start in steps(range(0, n, size)))


def sum_of_squares(block: Array) -> float:
    """Σ x², NaN or infinite where a cell is missing, infinite or beyond 1e154."""
    with np.errstate(over="ignore", invalid="ignore"):
        return squares(block)


def squares(block: Array) -> float:
    """`sum_of_squares` for many blocks under one `np.errstate` of the caller."""
    return float(np.einsum("ij,ij->", block, block) if not block.flags.forc else np.vdot(block, block))


def _rows(values: Any, rows: slice) -> Any:
    if not sparse.issparse(values):
        return values[rows]
    rows = slice(*rows.indices(values.shape[0])[:2])
    bounds = values.indptr[rows.start : rows.stop + 1]
    within = slice(bounds[0], bounds[-1])
    shape = (rows.stop - rows.start, values.shape[1])
    return assembled(sparse.csr_array, shape, values.data[within], values.indices[within], bounds - bounds[0])


def _indicator(block: Any, above: float, kind: type) -> Any:
    if not sparse.issparse(block):
        return (block > above).astype(kind)
    there = (block.data > above).astype(kind)
    return assembled(sparse.csr_array, block.shape, there, block.indices, block.indptr)


def assembled(kind: Any, shape: tuple[int, int], data: Any, indices: Any, indptr: Any) -> Any:
    """A sparse array of these very parts: its constructor would copy what is a view of something larger."""
    array = kind(shape, dtype=data.dtype)
    array.data, array.indices, array.indptr = data, indices, indptr
    return array
