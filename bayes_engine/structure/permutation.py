"""What pairs of columns, and the tree that is grown from them, come to by chance: the same statistics with every column
shuffled within the classes, so that all are independent given the class and each keeps its counts there.

A pair's tables then have fixed margins: the mean of its information is exact (Vinh, Epps & Bailey, Information
Theoretic Measures for Clusterings Comparison, JMLR 11, 2010, which scikit-learn computes), and so is its p-value where
few tables have these margins (Agresti, Categorical Data Analysis); where many do, SciPy draws them. A tree
chooses its edges, so what its edges come to by chance is read off trees that are grown anew on shuffled tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bayes_engine.logspace import Array, exp
from bayes_engine.progress import steps, tick
from bayes_engine.structure.chow_liu import TIE, Edge, terms_of

MOST_TABLES = 5_000
"""The tables with given margins are listed up to about so many."""
MOST_ROWS = 300
"""And of classes of up to so many rows: their factorials are long."""
MOST_SUMS = 1_000_000
"""The statistics of two classes are added up to so many sums."""
CELLS = 4_000_000
"""Cells of shuffled columns, or of their tables, that are held at once."""
ENOUGH, BLOCK = 100, 500
"""When so many drawn tables have come to as much, p is known to a tenth of itself, and no more are drawn; they are
drawn by blocks."""
SECONDS_A_CELL = 1e-7
"""What a cell of a drawn table takes, roughly."""


def expected_information(table: Array) -> float:
    """The mean of I(a; b | c), in nats, over all tables (C, S_a, S_b) with these margins in each class, each as
    probable as shuffling makes it: what a pair comes to by chance. Weights that are no whole numbers are rounded.

    >>> round(expected_information(np.array([[[2.0, 0.0], [0.0, 2.0]]])), 4)  # of six tables two say all, four nothing
    0.231
    """
    from sklearn.metrics.cluster import expected_mutual_information

    total = 0.0
    for own in map(_there, table):
        if own.size:
            total += own.sum() * expected_mutual_information(own, int(own.sum()))
    return float(total / max(table.sum(), 1.0))


def exact_p_value(table: Array) -> float | None:
    """P(G ≥ the one observed) over all tables (C, S_a, S_b) with these margins in each class; None where too many have
    them, or weights are no whole numbers.

    >>> exact_p_value(np.array([[[2.0, 0.0], [0.0, 2.0]]])).__round__(4)
    0.3333
    """
    classes = [_there(own) for own in table]
    if (
        not is_whole(table)
        or max(own.sum() for own in classes) > MOST_ROWS
        or sum(map(_how_many, classes)) > MOST_TABLES
    ):
        return None
    values: Array = np.zeros(1)
    p: Array = np.ones(1)
    for own in classes:
        more, share = _null(own)
        if len(values) * len(more) > MOST_SUMS:
            return None
        sums: Array = np.add.outer(values, more).ravel()
        values, place = np.unique(sums.round(9), return_inverse=True)
        p = np.asarray(np.bincount(place, np.multiply.outer(p, share).ravel()), dtype=float)
    return float(min(p[values >= xlogy(table, table).sum() - 1e-6].sum(), 1.0))


class DrawnP(NamedTuple):
    """A Monte Carlo p-value, and from how many tables it is."""

    p: float
    draws: int


def p_value_bound(table: Array) -> float:
    """What P(G ≥ the one observed) over all tables (C, S_a, S_b) with these margins in each class is not above; of use
    where G is large. For weights that are whole numbers.

    A table of a class has the probability Π_i (n_i! / Π_j n_ij!) / M, M = n! / Π_j n_j!, and n_i! / Π_j n_ij! is at
    most e to the n_i-fold entropy of its row: together e^(n H(b) − G/2) / M. That times the number of tables, or what
    is not below it (the method of types; Cover & Thomas, Elements of Information Theory).

    >>> f"{p_value_bound(np.array([[[90.0, 10.0], [10.0, 90.0]]])):.0e}"
    '2e-29'
    """
    log_bound = 0.0
    for own in map(_there, table):
        n, rows, columns = own.sum(), own.sum(axis=1), own.sum(axis=0)
        if min(own.shape) < 2:
            continue
        half_g = xlogy(own, own).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum() + xlogy(n, n)
        log_bound += _log_tables(rows, columns) + min(_log_excess(rows), _log_excess(columns)) - half_g
    return float(exp(min(log_bound, 0.0)))


def _log_tables(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """No fewer tables have these margins: the ways to spread each column but the largest over the rows, or each row."""

    def spread(sizes: NDArray[np.int64], places: int) -> float:
        ways = gammaln(sizes + places) - gammaln(sizes + 1) - gammaln(places)
        return float(ways.sum() - ways.max())

    return min(spread(columns, len(rows)), spread(rows, len(columns)))


def _log_excess(sizes: NDArray[np.int64]) -> float:
    """n H − log (n! / Π sizes!), of the sizes that sum to n: ≥ 0."""
    n = sizes.sum()
    return float(xlogy(n, n) - xlogy(sizes, sizes).sum() - gammaln(n + 1) + gammaln(sizes + 1).sum())


def drawn_p_value(table: Array, draws: int, seed: int = 0, enough: int = ENOUGH, unmet: int | None = None) -> DrawnP:
    """From tables with these margins in each class, drawn until `enough` of them have G ≥ the one observed, or there
    are `draws`, or `unmet` of which none has: enough / how many it took (Besag & Clifford, Biometrika 78, 1991), else
    (1 + how many had) / (1 + how many it took) (Phipson & Smyth 2010). For weights that are whole numbers.

    >>> p, draws = drawn_p_value(np.array([[[2.0, 0.0], [0.0, 2.0]]]), 9_999)
    >>> abs(p - 1 / 3) < 0.1, draws < 1_000
    (True, True)
    """
    from scipy.stats import random_table

    rng = np.random.default_rng(seed)
    classes = [own for own in map(_there, table) if min(own.shape) > 1]
    gain = xlogy(counts := np.arange(table.sum() + 1), counts)
    observed = sum(float(gain[own].sum()) for own in classes) - 1e-6
    done, met = 0, 0
    at_once = max(1, min(draws, BLOCK, CELLS // max((own.size for own in classes), default=1)))
    while done < draws:
        tick()
        size = min(at_once, draws - done)
        value = np.zeros(size)
        for own in classes:
            tables = random_table(own.sum(axis=1), own.sum(axis=0)).rvs(size, method="patefield", random_state=rng)
            value += gain[tables.astype(np.intp)].sum(axis=(1, 2))
        large = np.flatnonzero(value >= observed)
        if met + len(large) >= enough:
            taken = done + int(large[enough - met - 1]) + 1
            return DrawnP(enough / taken, taken)
        done, met = done + size, met + len(large)
        if not met and unmet is not None and done >= unmet:
            break
    return DrawnP((1 + met) / (1 + done), done)


def seconds_of_draws(table: Array) -> float:
    """How long it takes, roughly, to draw one table of these margins in each class."""
    return SECONDS_A_CELL * sum(own.size for own in map(_there, table))


def expects_few(table: Array, least: float) -> bool:
    """Whether any cell that can hold a row would hold fewer than `least` by chance."""
    expected = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    expected = expected / np.maximum(table.sum(axis=(-2, -1), keepdims=True), 1e-300)
    return bool(((expected > 0) & (expected < least)).any())


def is_whole(table: Array) -> bool:
    """Whether all weights are whole numbers, as those of rows that count once or some times are."""
    return bool(np.array_equal(table, np.rint(table)))


def _there(own: Array) -> Array:
    """A class's table in whole numbers, without the levels that it does not have."""
    whole = np.rint(own).astype(np.int64)
    return np.asarray(whole[whole.sum(axis=1) > 0][:, whole.sum(axis=0) > 0])


def _how_many(own: Array) -> int:
    """No fewer tables have these margins: the ways to spread each column but the last over the rows."""
    rows = len(own)
    return math.prod(math.comb(int(n) + rows - 1, rows - 1) for n in own.sum(axis=0)[:-1])


def _null(own: Array) -> tuple[Array, Array]:
    """The different values of Σ n_ab log n_ab over all tables with these margins, and the probability of each."""
    counts = np.arange(own.sum() + 1)
    gain: list[float] = xlogy(counts, counts).tolist()
    states = {tuple(own.sum(axis=1).tolist()): {0.0: 1.0}}
    for n in own.sum(axis=0).tolist():
        later: dict[tuple[int, ...], dict[float, float]] = {}
        for room, values in states.items():
            every = math.comb(sum(room), n)
            for column in _spread(n, room):
                more = sum(gain[k] for k in column)
                share = math.prod(map(math.comb, room, column)) / every
                rest = later.setdefault(tuple(r - k for r, k in zip(room, column, strict=True)), {})
                for value, p in values.items():
                    key = round(value + more, 9)
                    rest[key] = rest.get(key, 0.0) + p * share
        states = later
    (values,) = states.values()
    return np.array(list(values)), np.array(list(values.values()))


def _spread(n: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to put n things into places with this room."""
    if not room:
        if n == 0:
            yield ()
        return
    for k in range(max(0, n - sum(room[1:])), min(n, room[0]) + 1):
        for rest in _spread(n - k, room[1:]):
            yield (k, *rest)


# all columns at once --------------------------------------------------------------------------------------------------


def shuffled_tables(margins: Mapping[str, Array], draws: int) -> Iterator[dict[Edge, Array]]:
    """The tables (b, C, S_i, S_j) of every two columns when the cells of each are shuffled within the classes, in
    blocks of b draws, `draws` in all; `margins` are the columns' counts (C, S), which stay what they are.

    >>> counts = {"a": np.array([[2, 1], [0, 3]]), "b": np.array([[1, 2], [3, 0]])}
    >>> [(edge, table.shape, table[0].sum(axis=2).tolist())
    ...  for block in shuffled_tables(counts, 4) for edge, table in block.items()]
    [(('a', 'b'), (4, 2, 2, 2), [[2.0, 1.0], [0.0, 3.0]])]
    """
    counts = {name: np.rint(table).astype(np.int64) for name, table in margins.items()}
    sizes = next(iter(counts.values())).sum(axis=1)
    of_class = np.repeat(np.arange(len(sizes)), sizes)
    cells = {name: [np.repeat(np.arange(len(n)), n) for n in table] for name, table in counts.items()}
    levels = [table.shape[1] for table in counts.values()]
    room = max(len(of_class), len(sizes) * sum(i * j for i, j in combinations(levels, 2)))
    rng, at_once = np.random.default_rng(0), max(1, CELLS // room)
    for begin in steps(range(0, draws, at_once)):
        b = min(at_once, draws - begin)
        codes = {
            name: np.concatenate([rng.permuted(np.tile(own, (b, 1)), axis=1) for own in each], axis=1)
            for name, each in cells.items()
        }
        place = np.arange(b)[:, None] * len(sizes) + of_class
        block = {}
        for i, j in steps(list(combinations(counts, 2))):
            shape = (b, len(sizes), counts[i].shape[1], counts[j].shape[1])
            flat = (place * shape[2] + codes[i]) * shape[3] + codes[j]
            block[i, j] = np.bincount(flat.ravel(), minlength=math.prod(shape)).reshape(shape).astype(float)
        yield block


@dataclass(frozen=True)
class GrownTrees:
    """Maximum spanning trees of many draws over the same columns: (b, d − 1) `weights` of the edges in the order in
    which they were joined to the first column, from column `parent` to `child` (positions)."""

    weights: Array
    parent: NDArray[np.intp]
    child: NDArray[np.intp]


def grown_trees(names: Sequence[str], weights: Mapping[Edge, Array], root: int = 0) -> GrownTrees:
    """The maximum spanning tree of each of b draws of the weights (b,) of all pairs, away from a root (Prim's way, all
    draws at once); of equal weights the one that comes first by name is taken, as `spanning_tree` does.

    >>> pairs = {("a", "b"): np.array([1.0]), ("a", "c"): np.array([2.0]), ("b", "c"): np.array([3.0])}
    >>> tree = grown_trees("abc", pairs)
    >>> tree.weights.round(6).tolist(), tree.parent.tolist(), tree.child.tolist()
    ([[2.0, 3.0]], [[0, 2]], [[2, 1]])
    """
    d, b = len(names), len(next(iter(weights.values())))
    every = np.full((b, d, d), -np.inf)
    for rank, (i, j) in enumerate(sorted(weights, key=lambda edge: (min(edge), max(edge)))):
        one, other = names.index(i), names.index(j)
        every[:, one, other] = every[:, other, one] = weights[i, j] - rank * TIE * 1e-3
    draw = np.arange(b)
    nearest, best = np.full((b, d), root), every[:, root].copy()
    best[:, root] = -np.inf
    joined = np.zeros((b, d), dtype=bool)
    joined[:, root] = True
    taken, above, below = np.empty((b, d - 1)), np.empty((b, d - 1), dtype=np.intp), np.empty((b, d - 1), dtype=np.intp)
    for k in range(d - 1):
        child = best.argmax(axis=1)
        taken[:, k], above[:, k], below[:, k] = best[draw, child], nearest[draw, child], child
        joined[draw, child] = True
        closer = (every[draw, child] > best) & ~joined
        best = np.where(joined, -np.inf, np.where(closer, every[draw, child], best))
        nearest = np.where(closer, child[:, None], nearest)
    return GrownTrees(np.maximum(taken, 0.0), above, below)


def informations(table: Array, n: float) -> Array:
    """(b,) I(a; b | c) of tables (b, C, S_a, S_b) of the known cells, as shares of n rows."""
    return np.asarray(np.maximum(terms_of(table).sum(axis=(1, 2, 3)), 0.0) * table.sum(axis=(1, 2, 3)) / n)
