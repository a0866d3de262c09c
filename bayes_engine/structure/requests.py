"""Scores over counts that are asked for: a search goes on with what is counted already, and with a guess of what is
not, and what it asked meanwhile is counted together. Once it asks for nothing that is not counted, it is the search.

The guess is the score of the nearest family that is counted, and by how much the two differ on a sample of the rows,
times the rows for one of the sample. It decides what is counted ahead, and nothing else. A pass over rows that memory
does not hold takes long, so a search that waited for each count would take one for each step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple, NoReturn, Self

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.scores import ScoreName, Scorer, members
from bayes_engine.table.schema import Schema

MOST_CELLS = 2**21
"""Cells of the tables that are counted together."""
SPARSE_CELLS = 2**19
"""What a table counts for of which only the cells that occur are kept."""
AHEAD = 64
"""Tables that are asked for at a time, where what is asked next hangs on a guess: to count one takes about as long as a
thirtieth of a pass."""


class Request(NamedTuple):
    """The table of these columns by rank, ascending; `beside` those each level of every column, side by side."""

    columns: tuple[int, ...]
    beside: bool

    def size(self, levels: tuple[int, ...]) -> int:
        """How many cells its table has."""
        return math.prod(levels[j] for j in self.columns) * (sum(levels) if self.beside else 1)

    def sparse(self, levels: tuple[int, ...]) -> bool:
        """Whether only cells that occur are kept."""
        return bool(self.columns) and self.size(levels) > MOST_CELLS


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

    def again(self) -> Self:
        """For another search: nothing asked, nothing guessed."""
        self.asked.clear()
        self._guesses.clear()
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
            vectors += [scorer._side_by_side(last, [child], mask ^ 1 << child)[0] for scorer in own]
        return np.concatenate(vectors)

    def take(self, request: Request, numbers: Array) -> None:
        """Know what `read` made of a table."""
        mask, d = _mask(request.columns), len(self.counts.levels)
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
                    self._ask(Request(tuple(members(mask)), False))
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
        plain.asked = self.asked
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

    def _ask(self, request: Request) -> None:
        """Raises EnoughAsked where it is one too many."""
        if request in self.asked:
            return
        levels = self.counts.levels
        cells = SPARSE_CELLS if request.sparse(levels) else request.size(levels)
        if self.asked and (len(self.asked) >= self.ahead or sum(self.asked.values()) + cells > MOST_CELLS / self.share):
            raise EnoughAsked
        self.asked[request] = cells


def _mask(columns: Iterable[int]) -> int:
    return sum(1 << j for j in columns)
