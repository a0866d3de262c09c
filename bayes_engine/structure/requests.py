"""Scores over counts that are asked for: a search goes on with what is counted already, and with a guess of what is
not, and what it asked meanwhile is counted together. Once it asks for nothing that is not counted, it is the search.

The guess is the score of the nearest family that is counted, and by how much the two differ on a sample of the rows,
times the rows for one of the sample. It decides what is counted ahead, and nothing else. A pass over rows that memory
does not hold takes long, so a search that waited for each count would take one for each step.

Of a table with too many cells only those that occur are kept, and where these are too many also, it is counted in parts
that divide its cells: the scores are sums over cells. A table of too many parts is not counted. What is asked ahead may
be such a table; a search is refused only if it hangs on one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.logspace import Array
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.scores import ScoreName, Scorer, members
from bayes_engine.table.schema import Schema

MOST_CELLS = 2**21
"""Cells of the tables that are counted together."""
SPARSE_CELLS = 2**19
"""What a part of a table counts for of which only the cells that occur are kept: half as many, each with its number."""
MOST_PARTS = 64
"""Parts of a table at most."""
AHEAD = 64
"""Tables that are asked for at a time, where what is asked next hangs on a guess: to count one takes about as long as a
thirtieth of a pass."""


class Request(NamedTuple):
    """The table of these columns by rank, ascending; `beside` those each level of every column, side by side; of the
    cells those whose number is `part` modulo `parts`."""

    columns: tuple[int, ...]
    beside: bool
    part: int = 0
    parts: int = 1

    def size(self, levels: tuple[int, ...]) -> int:
        """How many cells its table has."""
        return math.prod(levels[j] for j in self.columns) * (sum(levels) if self.beside else 1)

    def sparse(self, levels: tuple[int, ...]) -> bool:
        """Whether only cells that occur are kept."""
        return bool(self.columns) and self.size(levels) > MOST_CELLS

    def kept(self, levels: tuple[int, ...]) -> int:
        """How many numbers are kept of it at most."""
        return SPARSE_CELLS if self.sparse(levels) else self.size(levels)

    def of(self, counts: FamilyCounts) -> SparseCells:
        """The cells of its part that occur."""
        cells, weights = counts.observed(counts.every(self.columns))
        own = cells % self.parts == self.part
        return bounded(cells[own], weights[own])


SparseCells = tuple[()] | tuple[NDArray[np.intp], Array]
"""The numbers of the cells that occur, ascending, and their weights; () where they are too many."""


def bounded(cells: NDArray[np.intp], weights: Array) -> SparseCells:
    """These cells, unless they are too many for one part."""
    return (cells, weights) if 2 * len(cells) <= SPARSE_CELLS else ()


def united(a: SparseCells, b: SparseCells) -> SparseCells:
    """The sum of two tables.

    >>> one = np.array([3, 5]), np.array([1.0, 1.0])
    >>> [numbers.tolist() for numbers in united(one, (np.array([5, 7]), np.array([2.0, 6.0])))]
    [[3, 5, 7], [1.0, 3.0, 6.0]]
    """
    if not a or not b:
        return ()
    cells, place = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    return bounded(cells, np.bincount(place, np.concatenate([a[1], b[1]]), minlength=len(cells)).astype(float))


class EnoughAsked(Exception):
    """So many tables are asked for that they are counted first."""


def first_requests(levels: tuple[int, ...]) -> tuple[Request, ...]:
    """What every search begins with: each column, and each two.

    >>> [request.columns for request in first_requests((2, 3))]
    [(), (0,), (1,)]
    """
    one = [Request((j,), True) for j in range(len(levels))]
    return (Request((), True), *(request for request in one if not request.sparse(levels)))


class AskedCounts(FamilyCounts):
    """The columns of a table whose rows are elsewhere: `n` is the weight of those that show all columns, `rows` how
    many these are."""

    def __init__(self, schema: Schema, n: float, rows: int) -> None:
        self._describe(schema)
        self.n, self.rows, self.left_out = n, rows, 0

    @property
    def n_distinct(self) -> int:
        """At most so many different rows there are."""
        return min(self.rows, math.prod(self.levels))

    def table(self, names: object) -> NoReturn:
        """Raises ParameterError: no table is kept."""
        raise ParameterError("trees are learnt of files by fit_files (TAN); a search of files climbs, or is exact, "
                             "or K2's")  # fmt: skip


class AskingScorer(Scorer):
    """Scores of families over counts that come as they are asked for, up to `ahead` tables at a time, of a `share` of
    the cells that there may be; `sampled` scores them over a sample."""

    def __init__(
        self, counts: AskedCounts, name: ScoreName, sample_size: float, sampled: Scorer, ahead: float, share: int = 1
    ) -> None:
        super().__init__(counts, name, sample_size=sample_size)
        self.sampled, self.ahead, self.share = sampled, ahead, share
        self.scale = counts.n / sampled.counts.n
        self.asked: dict[Request, int] = {}
        self._guesses: dict[tuple[int, int], float] = {}
        self._parts: dict[int, dict[Request, Array | None]] = {}
        self._beyond: dict[int, Request] = {}

    def again(self) -> Self:
        """For another search: nothing asked, nothing guessed."""
        self.asked.clear()
        self._guesses.clear()
        self._beyond.clear()
        if isinstance(self._plain, AskingScorer):
            self._plain.again()
        self.__dict__.pop("tolerance", None)
        self.__dict__.pop("gains", None)
        return self

    # counts that come in ------------------------------------------------------------------------------------------

    def read(self, request: Request, table: Array) -> Array:
        """What the scores need of a table, a vector of numbers."""
        levels, mask = self.counts.levels, _mask(request.columns)
        own = [self, *([self._plain] if self._plain is not None else [])]
        if not request.beside:
            return np.array([v for scorer in own for v in scorer._sums_of(mask, table).values()])
        d, sizes = len(levels), [levels[j] for j in request.columns]
        table = table.reshape(-1, sum(levels))
        cells: dict[int, Array] = {mask: table[:, : levels[0]].sum(axis=1)}
        for j in range(d):
            if not mask >> j & 1:
                place = sum(k < j for k in request.columns)
                of_j = table[:, self.counts.starts[j] : self.counts.starts[j] + levels[j]]
                cells[mask | 1 << j] = np.moveaxis(of_j.reshape(*sizes, levels[j]), -1, place).ravel()
        parts = [v for scorer in own for set_, each in cells.items() for v in scorer._sums_of(set_, each).values()]
        vectors = [np.array(parts)]
        for k, child in enumerate(request.columns):
            last = np.moveaxis(table.reshape(*sizes, -1), k, -2).reshape(table.shape)
            vectors += [scorer._side_by_side(last, child, mask ^ 1 << child) for scorer in own]
        return np.concatenate(vectors)

    def take(self, request: Request, numbers: Array) -> None:
        """Know what `read` made of a table; no numbers are that its cells are too many."""
        mask, d = _mask(request.columns), len(self.counts.levels)
        if request.sparse(self.counts.levels):
            parts = self._parts[mask]
            if request not in parts:  # of a division that had too few parts
                return
            if not len(numbers):
                self._divide(mask, 4 * request.parts)
                return
            parts[request] = numbers
            known = [each for each in parts.values() if each is not None]
            if len(known) < len(parts):
                return
            numbers = np.sum(known, axis=0)
        own = [self, *([self._plain] if self._plain is not None else [])]
        left = iter(numbers.tolist())
        sets = [mask, *(mask | 1 << j for j in range(d) if request.beside and not mask >> j & 1)]
        for scorer in own:
            scorer._sums.update({(set_, kind): next(left) for set_ in sets for kind in scorer.kinds})
        if not request.beside:
            return
        for child in request.columns:
            for scorer in own:
                scorer._wide[child, mask ^ 1 << child] = np.array([next(left) for _ in range(d)])

    # scores -------------------------------------------------------------------------------------------------------

    def value(self, child: int, parents: int) -> float:
        known = self._known(child, parents)
        if known is not None:
            return known
        above = Request(tuple(members(parents)), True)
        if above.sparse(self.counts.levels):
            for mask, kind in ((parents | 1 << child, 0), (parents, self._kind(child))):
                if (mask, kind) not in self._sums:
                    self._ask_parts(mask)
        else:
            self._ask(above)
        return self._guess(child, parents)

    def widened(self, child: int, parents: int) -> Array:
        if (child, parents) in self._wide:
            return self._wide[child, parents]
        request = Request(tuple(members(parents | 1 << child)), True)
        if request.sparse(self.counts.levels):
            return self._one_by_one(child, parents)
        self._ask(request)
        now = self._known(child, parents)
        now = self._guess(child, parents) if now is None else now
        gains = self.sampled.widened(child, parents) - self.sampled.value(child, parents)
        return np.array([self._widened(child, parents, j, now + self.scale * gains[j]) for j in range(len(gains))])

    def _widened(self, child: int, parents: int, other: int, guess: float) -> float:
        if other == child or parents >> other & 1:
            return -math.inf
        known = self._known(child, parents | 1 << other)
        return self._guesses.setdefault((child, parents | 1 << other), guess) if known is None else known

    @cached_property
    def _plain(self) -> Scorer | None:
        """As that of `Scorer`; what it knows comes with what this one does."""
        if self.name not in ("k2", "bdeu"):
            return None
        plain = AskingScorer(self.counts, "log-likelihood", 1.0, self.sampled, self.ahead)  # type: ignore[arg-type]
        plain.asked, plain._parts, plain._beyond = self.asked, self._parts, self._beyond
        return plain

    def _guess(self, child: int, parents: int) -> float:
        """One number for a family as long as a search lasts: so no climb goes round in circles."""
        key = (child, parents)
        if key not in self._guesses:
            fewer = (parents ^ 1 << j for j in members(parents))
            near = next((mask for mask in fewer if self._known(child, mask) is not None), 0)
            known = self._known(child, near)
            assert known is not None
            far = self.sampled.value(child, parents) - self.sampled.value(child, near)
            self._guesses[key] = known + self.scale * far
        return self._guesses[key]

    def _ask_parts(self, mask: int) -> None:
        """Ask for what is not known of the table of a set of columns."""
        whole, levels = Request(tuple(members(mask)), False), self.counts.levels
        if not whole.sparse(levels):
            self._ask(whole)
            return
        if mask not in self._parts:
            self._divide(mask, 1)
        if not self._parts[mask] or whole.size(levels) >= 2**62:  # cells have numbers of 64 bits
            self._beyond[mask] = whole
        else:
            for request, numbers in self._parts[mask].items():
                if numbers is None:
                    self._ask(request)

    def _divide(self, mask: int, parts: int) -> None:
        """Count a table in so many parts, or as few as surely do; in none where they are too many."""
        columns = tuple(members(mask))
        surely = -(-2 * Request(columns, False).size(self.counts.levels) // SPARSE_CELLS)
        parts = min(parts, surely)
        self._parts[mask] = {Request(columns, False, k, parts): None for k in range(parts) if parts <= MOST_PARTS}

    def refuse_beyond(self) -> None:
        """Raises TableError where the search hangs on tables that are not counted."""
        for request in self._beyond.values():
            raise TableError(
                "the columns {names} hold more than {most} combinations of levels; coarsen those with the most "
                "levels, or give the nodes fewer parents (max_parents)",
                names=", ".join(self.counts.sorted_names[j] for j in request.columns),
                most=SPARSE_CELLS // 2 * MOST_PARTS,
            )

    def _ask(self, request: Request) -> None:
        """Raises EnoughAsked where it is one too many."""
        if request in self.asked:
            return
        cells = request.kept(self.counts.levels)
        if self.asked and (len(self.asked) >= self.ahead or sum(self.asked.values()) + cells > MOST_CELLS / self.share):
            raise EnoughAsked
        self.asked[request] = cells


def _mask(columns: Iterable[int]) -> int:
    return sum(1 << j for j in columns)
