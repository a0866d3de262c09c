"""Dependence of attributes, opened: every pair with its test, and the map of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.logspace import Array
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.progress import part, steps
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.structure.chow_liu import Dependence, Edge, ranked
from bayes_engine.structure.permutation import (
    drawn_p_value,
    exact_p_value,
    expected_information,
    expects_few,
    is_whole,
    p_value_bound,
    seconds_of_draws,
)
from bayes_engine.workbench.derivation.contingency import SPARSE

LEVEL = 0.05
"""A pair is called dependent where its corrected p-value is below this."""
DRAWING = (30.0, 120.0)
"""Seconds, roughly, that may be spent on drawing tables for the p-values of all pairs: beyond the first fewer are drawn
of each pair, as few as Holm's correction allows; where these would take longer than the second, none."""
PValueMethod = Literal["chi2", "exact", "bound", "drawn", "too large", "weighted"]


# all pairs ------------------------------------------------------------------------------------------------------------


class PairTest(NamedTuple):
    """A dependence with what it comes to by chance, in nats, and its p-value: `method` says whether that is χ²'s, over
    all tables with these margins in each class, a bound of that, or from `draws` tables with them. "too large" and
    "weighted" say why it is χ²'s, which is rough there, although few rows are expected: drawing would take too long, or
    rows weigh no whole numbers. `holm` is p by Holm's correction for all pairs that can be tested."""

    dependence: Dependence
    chance: float
    p: float
    method: PValueMethod
    holm: float
    draws: int = 0

    @property
    def is_bound(self) -> bool:
        """Whether p and `holm` may be smaller: what is said is a bound, or no drawn table came to as much."""
        return self.method == "bound" or (self.draws > 0 and self.p <= 1.0 / (1 + self.draws))

    @property
    def significant(self) -> bool:
        return self.holm < LEVEL


class Pair(NamedTuple):
    """Two columns, in the schema's order, and what they say of each other given the class and overall."""

    edge: Edge
    given_class: PairTest
    overall: PairTest

    def of(self, overall: bool) -> PairTest:
        return self.overall if overall else self.given_class


def all_tested(model: SemiNaive) -> tuple[Pair, ...]:
    """Every two columns that take two values or more, from the largest I(x_i; x_j | y) down; equals by name."""
    with part(0, 3):
        computed = model.dependences()
    names = set(varying(model))
    first = 0 if model.missing == "category" else 1
    tables = {
        e: model.stats_.families.tables[e][:, first:, first:] for e in computed.given_class if names.issuperset(e)
    }
    pooled = {e: table.sum(axis=0, keepdims=True) for e, table in tables.items()}
    with part(1, 3):
        given = pair_tests(computed.given_class, tables)
    with part(2, 3):
        overall = pair_tests(computed.overall, pooled)
    order = ranked({e: computed.given_class[e].information for e in tables})
    return tuple(Pair(e, given[e], overall[e]) for e in order)


def varying(model: SemiNaive) -> tuple[str, ...]:
    """The columns of which the rows have two values or more.

    >>> import pandas as pd
    >>> from bayes_engine.models.tan import TAN
    >>> varying(TAN().fit(pd.DataFrame({"a": ["x", "y"], "b": ["x", "x"]}), ["n", "y"]))
    ('a',)
    """
    first = 0 if model.missing == "category" else 1
    met = {n: int((t[:, first:].sum(axis=0) > 0).sum()) for n, t in model.stats_.counts.tables.items()}
    return tuple(v.name for v in model.schema_ if met.get(v.name, 2) > 1)


def pair_tests(dependences: Mapping[Edge, Dependence], tables: Mapping[Edge, Array]) -> dict[Edge, PairTest]:
    """The pairs that have tables (C, S_a, S_b), tested. One without a degree of freedom is no test and keeps 1."""
    free = [e for e in tables if dependences[e].degrees]
    sparse = [e for e in free if expects_few(tables[e], SPARSE)]
    p: dict[Edge, tuple[float, PValueMethod, int]] = {e: (dependences[e].p_value, "chi2", 0) for e in tables}
    with part(0, 4):
        exact = {e: exact_p_value(tables[e]) for e in steps(sparse)}
    whole = [e for e in sparse if exact[e] is None and is_whole(tables[e])]
    with part(1, 4):
        bounds = {e: p_value_bound(tables[e]) for e in steps(whole)}
    clear = LEVEL / (20 * max(len(free), 1))
    draws = draws_of_tests(len(free), sum(seconds_of_draws(tables[e]) for e in whole if bounds[e] > clear))
    with part(2, 4):
        for e in steps(sparse):
            value = exact[e]
            if value is not None:
                p[e] = value, "exact", 0
            elif e not in bounds:
                p[e] = dependences[e].p_value, "weighted", 0
            elif bounds[e] <= clear:
                p[e] = bounds[e], "bound", 0
            elif draws:
                drawn = drawn_p_value(tables[e], draws, unmet=math.ceil(2 * len(free) / LEVEL))
                p[e] = drawn.p, "drawn", drawn.draws
            else:
                p[e] = dependences[e].p_value, "too large", 0
    corrected = dict.fromkeys(tables, 1.0) | dict(
        zip(free, holm(np.array([p[e][0] for e in free])).tolist(), strict=True)
    )
    with part(3, 4):
        return {
            e: PairTest(dependences[e], expected_information(tables[e]), value, method, corrected[e], drawn)
            for e, (value, method, drawn) in steps(p.items())
        }


def draws_of_tests(pairs: int, seconds: float = 0.0) -> int:
    """At most so many tables are drawn for a p-value that Holm's correction may multiply by the number of pairs, where
    one of each takes so many `seconds`: 20 times those that can make p times the pairs as small as the level, or twice
    as many; 0 where twice takes too long.

    >>> draws_of_tests(15), draws_of_tests(66, 66 * 3e-5), draws_of_tests(300, 300 * 2e-4)
    (6000, 15152, 0)
    """
    least = pairs / LEVEL
    if 2.0 * least * seconds > DRAWING[1]:
        return 0
    affordable = DRAWING[0] / seconds if seconds > 0 else math.inf
    return math.ceil(min(20.0 * least, max(affordable, 2.0 * least)) - 1e-9)


# the map --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DependenceMap:
    """The dependence of every two of `names`, in nats: `nats` (d, d) below the diagonal, NaN elsewhere, and `chance`
    (d, d), what it comes to by chance; `significant` (d, d) where it is so after Holm's correction; `most`, the
    largest, given the class or overall."""

    names: tuple[str, ...]
    nats: Array
    chance: Array
    significant: NDArray[np.bool_]
    most: float

    def place(self, edge: Edge) -> tuple[int, int] | None:
        """(row, column) of a pair, row > column; None where it is not in the map."""
        if not set(edge) <= set(self.names):
            return None
        i, j = (self.names.index(name) for name in edge)
        return max(i, j), min(i, j)


def map_of(pairs: Sequence[Pair], names: Sequence[str], *, overall: bool = False) -> DependenceMap:
    """The map of these columns in this order."""
    d = len(names)
    none = np.full((d, d), np.nan)
    drawn = DependenceMap(tuple(names), none, none.copy(), np.zeros((d, d), dtype=bool), 0.0)
    most = 0.0
    for pair in steps(pairs):
        if (place := drawn.place(pair.edge)) is not None:
            drawn.nats[place], drawn.chance[place] = pair.of(overall).dependence.information, pair.of(overall).chance
            drawn.significant[place] = pair.of(overall).significant
            most = max(most, *(pair.of(o).dependence.information for o in (False, True)))
    return replace(drawn, most=most)


def strongest(pairs: Sequence[Pair], names: Sequence[str], most: int) -> list[str]:
    """At most so many of the names, in their order: those that a strong pair, given the class, has."""
    kept = dict.fromkeys(
        name for p in sorted(pairs, key=lambda p: -p.given_class.dependence.information) for name in p.edge
    )
    chosen = set(list(kept)[:most])
    return [name for name in names if name in chosen]


def clustered(pairs: Sequence[Pair], names: Sequence[str], *, overall: bool = False) -> list[str]:
    """The names with those that say much of each other side by side: the leaves of average linkage, in their best
    order (Bar-Joseph, Gifford & Jaakkola 2001)."""
    if len(names) < 3:
        return list(names)
    from scipy.cluster.hierarchy import leaves_list, linkage  # a tenth of what the first page would import
    from scipy.spatial.distance import squareform

    nats = map_of(pairs, names, overall=overall).nats
    both = np.fmax(nats, nats.T)
    distance = np.nanmax(both) - np.nan_to_num(both)
    np.fill_diagonal(distance, 0.0)
    leaves = leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
    return [names[i] for i in leaves]
