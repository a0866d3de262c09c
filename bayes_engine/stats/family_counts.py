"""Counts of any family of columns, for structure search: no bounded statistic, so the codes of the rows are kept.

Rows that are alike are kept once, with their weight. Inside, the columns stand in the order of their names: what is
counted, and in which order it is added up, does not depend on how the columns of the table happen to stand.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.logspace import Array
from bayes_engine.stats.counts import MOST_CELLS, as_one, known_codes
from bayes_engine.stats.labels import checked_weights
from bayes_engine.table.encode import MISSING, Table, encode
from bayes_engine.table.schema import Schema, Variable

MissingPolicy = Literal["error", "complete"]
KEPT_CELLS = 4_000_000
"""Tables are remembered while they hold at most this many cells together."""
BLOCK = 4_000_000
"""So many cells of the table are counted in one pass."""
FEW_CODES = 12
"""Up to so many joint codes, counting bits is faster than counting rows …"""
FEW_LEVELS = 1000
"""… while all columns together have at most this many levels: each is a plane of bits."""


class Joint(NamedTuple):
    """The joint codes of some columns: `codes` (n,) below `size`; unobserved combinations may be left out of them."""

    codes: NDArray[Any]
    size: int


class _Block(NamedTuple):
    """Some columns' cells outside their column's commonest level: the row, and the level's place among all."""

    rows: NDArray[np.intp]
    places: NDArray[np.intp]
    weight: Array | None


class FamilyCounts:
    """Memoised contingency tables of a table's discrete columns.

    Scores of families are comparable only over the same rows, so a row counts for every family or for none:
    `missing="error"` refuses missing cells (EM keeps such rows), "complete" counts the rows where all is known, which
    is sound where cells are missing completely at random; `left_out` says how many rows that costs.

    Raises TableError on a column that is not discrete, on a missing cell, or where no row is complete.

    >>> counts = FamilyCounts.of({"rain": list("nnyy"), "wet": list("nyyy")})
    >>> counts.counts("wet", ("rain",)).tolist()
    [[1.0, 1.0], [0.0, 2.0]]
    """

    def __init__(self, table: Table, weight: Any = None, *, missing: MissingPolicy = "error") -> None:
        self._describe(table.schema)
        weights = checked_weights(weight, table.n)
        known = {name: known_codes(table, name) for name in self.names}
        rows, self.left_out = _known_rows(known, table.n, missing)
        columns = [known[name] - 1 for name in self.sorted_names]
        if self.left_out:
            columns = [column[rows] for column in columns]
            weights = None if weights is None else weights[rows]
        self._codes, self._weight = _alike(columns, self.levels, weights)
        self.n: float = float(len(self._codes[0]) if self._weight is None else self._weight.sum())
        if self.n == 0:
            raise TableError("no row with a weight is left to count")
        self._kept: dict[tuple[str, ...], Array] = {}

    def _describe(self, schema: Schema) -> None:
        """The columns, in the order of the table and by name. Raises TableError where one has no levels."""
        for variable in schema:
            if not variable.discrete or not variable.levels:
                raise TableError(
                    "column '{column}' has no levels to count; discretize it or leave it out", column=variable.name
                )
        self.variables: tuple[Variable, ...] = tuple(schema)
        self.names: tuple[str, ...] = schema.names
        self.sorted_names: tuple[str, ...] = tuple(sorted(self.names))
        self.rank = {name: i for i, name in enumerate(self.sorted_names)}
        self.sizes = {v.name: len(v.levels) for v in schema}
        self.levels: tuple[int, ...] = tuple(self.sizes[name] for name in self.sorted_names)

    @classmethod
    def of(cls, columns: Any, weight: Any = None, *, missing: MissingPolicy = "error") -> FamilyCounts:
        """Of a frame, or of what makes one, its levels as the dtypes say."""
        frame = pd.DataFrame(columns)
        return cls(encode(frame, Schema.from_dtypes(frame)), weight, missing=missing)

    @property
    def n_distinct(self) -> int:
        """How many different rows there are to count."""
        return len(self._codes[0])

    def table(self, names: Sequence[str]) -> Array:
        """(*S) the contingency table of these columns, axes as named. Raises ParameterError above MOST_CELLS cells."""
        key = tuple(names)
        if key not in self._kept:
            ranks = [self.rank_of(name) for name in key]
            sizes = [self.levels[j] for j in ranks]
            if math.prod(sizes) > MOST_CELLS:
                raise ParameterError(
                    "the table of {names} would hold {cells:.3g} cells; give the node fewer parents",
                    names=", ".join(key),
                    cells=float(math.prod(sizes)),
                )
            if sum(kept.size for kept in self._kept.values()) > KEPT_CELLS:
                self._kept.clear()
            codes = as_one((self._codes[j] for j in ranks), sizes, self.n_distinct)
            table = self._tally(codes, math.prod(sizes)).reshape(sizes)
            table.setflags(write=False)
            self._kept[key] = table
        return self._kept[key]

    def counts(self, child: str, parents: Sequence[str] = ()) -> Array:
        """(q, r) weight of each of the q configurations of the parents (the last running fastest) with each of the
        child's r levels."""
        return self.table((*parents, child)).reshape(-1, self.sizes[child])

    def rank_of(self, name: str) -> int:
        """The rank of a column among the sorted names. Raises ParameterError where there is none of that name."""
        if name not in self.rank:
            known = ", ".join(f"'{n}'" for n in self.names)
            raise ParameterError("there is no column '{column}'; the columns are {known}", column=name, known=known)
        return self.rank[name]

    def codes(self, column: int) -> NDArray[Any]:
        """(n_distinct,) the level of every distinct row, from 0."""
        return self._codes[column]

    def joint(self, columns: Sequence[int]) -> Joint:
        """The joint codes of columns by rank; above four cells a row only the observed combinations have a code."""
        joint = self.every(())
        for j in columns:
            joint = self.joined(joint, j)
            if joint.size > 4 * self.n_distinct + 64:
                observed, codes = np.unique(joint.codes, return_inverse=True)
                joint = Joint(codes, len(observed))
        return joint

    def joined(self, joint: Joint, column: int) -> Joint:
        """The joint codes with those of one further column, by rank, which run fastest; in few bytes."""
        size = joint.size * self.levels[column]
        codes = joint.codes.astype(np.min_scalar_type(size), copy=False)
        return Joint(codes * self.levels[column] + self._codes[column], size)

    def cells(self, columns: Collection[int]) -> Array:
        """(·,) the weights of the combinations of these columns by rank, in a fixed order; some may be zero."""
        if len(columns) == 1:
            return self.margins[min(columns)]
        return self.weights(self.joint(sorted(columns)))

    @cached_property
    def margins(self) -> tuple[Array, ...]:
        """(S,) the weights of each column's levels, by rank."""
        return tuple(map(self._tally, self._codes, self.levels))

    def every(self, columns: Sequence[int]) -> Joint:
        """The joint codes of columns by rank, ascending, every combination having one: tables of other rows add up."""
        return reduce(self.joined, columns, Joint(np.zeros(self.n_distinct, dtype=np.uint8), 1))

    def weights(self, joint: Joint) -> Array:
        """(size,) the weight of every joint code."""
        return self._tally(joint.codes, joint.size)

    def observed(self, joint: Joint) -> tuple[NDArray[np.intp], Array]:
        """The joint codes that occur, ascending, and the weight of each."""
        codes, place = np.unique(joint.codes, return_inverse=True)
        return codes.astype(np.intp), self._tally(place, len(codes))

    def with_all(self, joint: Joint) -> Array:
        """(size, Σ S) the weight of every joint code with every level of every column: columns side by side, in the
        order of their names."""
        few = joint.size <= FEW_CODES and sum(self.levels) <= FEW_LEVELS
        weights = self.weights(joint)
        table = self._with_bits(joint, weights) if few and self._weight is None else self._with_rows(joint)
        if self._whole:
            known = np.add.reduceat(table, self.starts, axis=1)
            table[:, self.starts + self._commonest] = weights[:, None] - known
        return table

    def _with_rows(self, joint: Joint) -> Array:
        """`with_all` outside the commonest levels, row by row."""
        width = sum(self.levels)
        base = joint.codes.astype(np.intp) * width
        counts: Any = None
        for block in self._blocks:
            keys = base[block.rows]
            keys += block.places
            of_block = np.bincount(keys, block.weight, minlength=joint.size * width)
            counts = of_block if counts is None else np.add(counts, of_block, out=counts)
        return np.asarray(counts, dtype=float).reshape(joint.size, width)

    def _with_bits(self, joint: Joint, weights: Array) -> Array:
        """The same, 64 rows in a word: |{code = k} ∩ {x_j = s}| by `and` and counting bits. The commonest code is not
        counted, the others leave it; `weights` are the codes'."""
        places, planes, totals = self._planes
        commonest = int(weights.argmax())
        rest = [k for k in range(joint.size) if k != commonest]
        table = np.zeros((joint.size, len(places)))
        for k, bits in zip(rest, _packed(joint.codes, rest), strict=True):
            table[k] = np.bitwise_count(planes & bits).sum(axis=-1, dtype=np.uint32)
        table[commonest] = totals - table.sum(axis=0)
        counts = np.zeros((joint.size, sum(self.levels)))
        counts[:, places] = table
        return counts

    @cached_property
    def _planes(self) -> tuple[NDArray[np.intp], NDArray[np.uint64], Array]:
        """For each level but its column's commonest: its place among all, a bit for every row, and how many are set."""
        rare = [[s for s in range(size) if s != most] for size, most in zip(self.levels, self._commonest, strict=True)]
        places = np.array([start + s for start, levels in zip(self.starts, rare, strict=True) for s in levels], np.intp)
        planes = np.concatenate([_packed(codes, levels) for codes, levels in zip(self._codes, rare, strict=True)])
        return places, planes, np.concatenate(self.margins)[places]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """(d,) where each column's levels begin in the rows of `with_all`."""
        return np.cumsum((0, *self.levels[:-1]), dtype=np.intp)

    @cached_property
    def _whole(self) -> bool:
        """Whether differences of counts are exact."""
        return self._weight is None or bool((self._weight == np.floor(self._weight)).all())

    @cached_property
    def _commonest(self) -> NDArray[np.intp]:
        """(d,) the level that most rows have: not counted, the others leave it."""
        return np.array([weights.argmax() for weights in self.margins], dtype=np.intp)

    @cached_property
    def _blocks(self) -> list[_Block]:
        most = max(1, BLOCK // max(self.n_distinct, 1))
        blocks = []
        for first in range(0, len(self.levels), most):
            columns = range(first, min(first + most, len(self.levels)))
            where = [
                np.flatnonzero(self._codes[j] != self._commonest[j]) if self._whole else np.arange(self.n_distinct)
                for j in columns
            ]
            places = [self._codes[j][rows] + self.starts[j] for j, rows in zip(columns, where, strict=True)]
            rows = np.concatenate(where)
            weight = None if self._weight is None else self._weight[rows]
            blocks.append(_Block(rows, np.concatenate(places), weight))
        return blocks

    def _tally(self, codes: NDArray[Any], size: int) -> Array:
        return np.bincount(codes.astype(np.intp, copy=False), self._weight, minlength=size).astype(float)


def _packed(codes: NDArray[Any], wanted: Sequence[int]) -> NDArray[np.uint64]:
    """(wanted, ⌈n/64⌉) for each of these codes a bit for every row that has it."""
    bits = np.packbits(codes == np.array(wanted, dtype=codes.dtype)[:, None], axis=1)
    words = np.zeros((len(wanted), -(-len(codes) // 64) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    return words.view(np.uint64)


def _known_rows(columns: Mapping[str, NDArray[Any]], n: int, missing: MissingPolicy) -> tuple[NDArray[np.bool_], int]:
    """(n,) which rows are counted, and how many are not."""
    if missing not in ("error", "complete"):
        raise ParameterError("missing='{value}' is not one of 'error', 'complete'", value=str(missing))
    known = np.ones(n, dtype=bool)
    absent = dict.fromkeys(columns, 0)
    for name, codes in columns.items():
        gaps = codes == MISSING
        if not gaps.any():
            continue
        if missing == "error":
            raise TableError(
                "column '{column}' has a missing cell in row {row}: scores compare structures over the same rows only; "
                "choose missing='complete' to count the complete rows, or learn the tables of a given structure by EM, "
                "which keeps every row",
                column=name,
                row=int(gaps.argmax()) + 1,
            )
        known &= ~gaps
        absent[name] = int(gaps.sum())
    if not known.any():
        worst = max(absent, key=lambda name: absent[name])
        raise TableError(
            "no row is complete; leave out the columns with the most missing cells, '{column}' first", column=worst
        )
    return known, n - int(known.sum())


def _alike(
    columns: list[NDArray[Any]], levels: Sequence[int], weight: Array | None
) -> tuple[list[NDArray[Any]], Array | None]:
    """Rows that are alike as one row with their weight, where that at least halves them."""
    if math.prod(levels) >= 2**62:
        return columns, weight
    joint = as_one(columns, levels, len(columns[0]))
    _, first, back = np.unique(joint, return_index=True, return_inverse=True)
    if len(first) > len(joint) // 2:
        return columns, weight
    return [column[first] for column in columns], np.bincount(back, weight, minlength=len(first)).astype(float)
