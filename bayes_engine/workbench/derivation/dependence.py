"""Dependence of attributes, opened: every pair with its test, its contingency table with the sum behind the number, and
the tree as it grows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from bayes_engine.errors import ParameterError, listen
from bayes_engine.logspace import Array, log
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.models.tan import TAN
from bayes_engine.progress import steps
from bayes_engine.stats.families import in_order
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.structure.chow_liu import TIE, Dependence, Edge, TreeStep, directed, ranked, terms_of
from bayes_engine.structure.permutation import (
    drawn_p_value,
    exact_p_value,
    expected_information,
    expects_few,
    grown_trees,
    informations,
    is_whole,
    p_value_bound,
    seconds_of_draws,
    shuffled_tables,
)
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.derive import Cell

LEVEL = 0.05
"""A pair is called dependent where its corrected p-value is below this."""
SPARSE = 5.0
"""Where so few rows are expected in a cell, χ² is no good approximation of G (Cochran 1954)."""
DRAWING = (30.0, 120.0)
"""Seconds, roughly, that may be spent on drawing tables for the p-values of all pairs: beyond the first fewer are drawn
of each pair, as few as Holm's correction allows; where these would take longer than the second, none."""
MOST_TREES, FEWEST_TREES, SHUFFLED = 1_999, 99, 30_000_000
"""Trees that are grown on shuffled tables: at most, at least, and between the two as many as so many counts allow."""
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
    computed = model.dependences()
    names = set(varying(model))
    first = 0 if model.missing == "category" else 1
    tables = {
        e: model.stats_.families.tables[e][:, first:, first:] for e in computed.given_class if names.issuperset(e)
    }
    pooled = {e: table.sum(axis=0, keepdims=True) for e, table in tables.items()}
    given, overall = pair_tests(computed.given_class, tables), pair_tests(computed.overall, pooled)
    order = ranked({e: computed.given_class[e].information for e in tables})
    return tuple(Pair(e, given[e], overall[e]) for e in order)


def pair_tests(dependences: Mapping[Edge, Dependence], tables: Mapping[Edge, Array]) -> dict[Edge, PairTest]:
    """The pairs that have tables (C, S_a, S_b), tested. One without a degree of freedom is no test and keeps 1."""
    free = [e for e in tables if dependences[e].degrees]
    sparse = [e for e in free if expects_few(tables[e], SPARSE)]
    p: dict[Edge, tuple[float, PValueMethod, int]] = {e: (dependences[e].p_value, "chi2", 0) for e in tables}
    exact = {e: exact_p_value(tables[e]) for e in steps(sparse)}
    whole = [e for e in sparse if exact[e] is None and is_whole(tables[e])]
    bounds = {e: p_value_bound(tables[e]) for e in steps(whole)}
    clear = LEVEL / (20 * max(len(free), 1))
    draws = draws_of_tests(len(free), sum(seconds_of_draws(tables[e]) for e in whole if bounds[e] > clear))
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
    nats = map_of(pairs, names, overall=overall).nats
    both = np.fmax(nats, nats.T)
    distance = np.nanmax(both) - np.nan_to_num(both)
    np.fill_diagonal(distance, 0.0)
    leaves = leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
    return [names[i] for i in leaves]


# one pair -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contingency:
    """The rows by the levels of two columns, for each class: `counts` (C, S_a, S_b) weight of the known cells.

    `levels_a`, `levels_b` are the columns' levels, None being the missing cell where it is a level. Without a class
    (`classes` holds None alone) it is one table of all rows.
    """

    a: Variable
    b: Variable
    target: str
    classes: tuple[Any, ...]
    levels_a: tuple[Any, ...]
    levels_b: tuple[Any, ...]
    counts: Array

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def expected(self) -> Array:
        """(C, S_a, S_b) n_a n_b / n in each class: what independence would give."""
        n = self.counts.sum(axis=(1, 2), keepdims=True)
        product = self.counts.sum(axis=2, keepdims=True) * self.counts.sum(axis=1, keepdims=True)
        return np.asarray(product / np.where(n > 0, n, 1.0))

    @cached_property
    def terms(self) -> Array:
        """(C, S_a, S_b) P(a, b, c) log [P(a, b|c) / (P(a|c) P(b|c))] in nats; their sum is the information."""
        return terms_of(self.counts)

    @property
    def by_class(self) -> Array:
        """(C,) what each class adds."""
        return np.asarray(self.terms.sum(axis=(1, 2)))

    @property
    def information(self) -> float:
        return max(float(self.terms.sum()), 0.0)

    @property
    def without_class_prior(self) -> float:
        """Σ P(a, b|c) log [P(a, b|c) / (P(a|c) P(b|c))]: eq. 7.22 as the lecture notes print it, its weight without the
        factor P(c). A class without rows adds nothing."""
        of_class = self.counts.sum(axis=(1, 2))
        held = of_class > 0
        return float((self.by_class[held] * self.n / of_class[held]).sum())

    @property
    def sparse(self) -> tuple[int, int]:
        """How many of the cells that can hold a row expect fewer than SPARSE of them, and how many those are."""
        possible = self.expected > 0
        return int((possible & (self.expected < SPARSE)).sum()), int(possible.sum())

    @property
    def weightiest(self) -> tuple[int, int, int]:
        """The cell with the largest term; among equals the first."""
        place = int(np.flatnonzero(self.terms.ravel() >= self.terms.max() - TIE)[0])
        k, i, j = np.unravel_index(place, self.terms.shape)
        return int(k), int(i), int(j)

    def factors(self, k: int, i: int, j: int) -> tuple[float, float, float, float]:
        """The counts that a cell's term is made of: of the cell, of the class, of a and of b in the class."""
        own = self.counts[k]
        return float(own[i, j]), float(own.sum()), float(own[i].sum()), float(own[:, j].sum())

    def of_case(self, case: pd.DataFrame) -> Array:
        """(C,) log [P(a, b|c) / (P(a|c) P(b|c))] of the cell that a case (a frame of one row) is in, in nats: its mean
        over the rows is the information. −∞ where no row of a class is in the cell, NaN where none has a or b.

        Raises BayesEngineError where the case has no value in one of the columns, or one that no row has.
        """
        i, j = self._places(case)
        own, expected = self.counts[:, i, j], self.expected[:, i, j]
        ratio = np.where(expected > 0, own / np.where(expected > 0, expected, 1.0), np.nan)
        return np.asarray(log(ratio))

    def levels_of(self, case: pd.DataFrame) -> tuple[Any, Any]:
        """The levels of the two columns that a case has. Raises as `of_case`."""
        i, j = self._places(case)
        return self.levels_a[i], self.levels_b[j]

    def _places(self, case: pd.DataFrame) -> tuple[int, int]:
        return place_of(self.a, self.levels_a, case), place_of(self.b, self.levels_b, case)

    def rows(self, frame: pd.DataFrame, k: int, i: int, j: int) -> pd.DataFrame:
        """The rows of a frame of features and target that a cell counts."""
        there = Cell(self.a, self.levels_a[i]).held_by(frame[self.a.name])
        there &= Cell(self.b, self.levels_b[j]).held_by(frame[self.b.name])
        if self.classes[k] is not None:
            there &= frame[self.target] == self.classes[k]
        return frame[there]


def place_of(variable: Variable, levels: Sequence[Any], case: pd.DataFrame) -> int:
    """Which of a column's levels a case (a frame of one row) has. Raises ParameterError where it is none of them."""
    for place, level in enumerate(levels):
        if bool(Cell(variable, level).held_by(case[variable.name]).iloc[0]):
            return place
    raise ParameterError("the case has no value in '{name}' that the rows have", name=variable.name)


def contingency(
    model: SemiNaive, a: str, b: str, classes: Sequence[Any] | None = None, *, overall: bool = False
) -> Contingency:
    """The contingency table of two discrete columns in each class, in the order wanted, or `overall`: one for all."""
    stats, schema = model.stats_, model.schema_
    edge = in_order(schema, (a, b))
    first = 0 if model.missing == "category" else 1
    counts = stats.families.tables[edge][:, first:, first:]
    counts = counts if edge == (a, b) else counts.transpose(0, 2, 1)
    own = list(stats.target.levels)
    named = tuple(own if classes is None else classes)
    counts = counts[[own.index(c) for c in named]]
    if overall:
        named, counts = (None,), counts.sum(axis=0, keepdims=True)
    missing: tuple[None, ...] = () if first else (None,)
    levels_a, levels_b = ((*missing, *schema[name].levels) for name in (a, b))
    return Contingency(schema[a], schema[b], stats.target.name, named, levels_a, levels_b, counts)


# the tree -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """The maximum spanning tree of the columns with two values or more, as it grows: `steps` up to the last edge taken;
    `left` pairs are not looked at any more. `arcs` are (parent, child) pairs of the whole tree, away from the root."""

    names: tuple[str, ...]
    steps: tuple[TreeStep, ...]
    left: int
    root: str | None
    arcs: tuple[Edge, ...]

    @property
    def roots(self) -> tuple[str, ...]:
        """The columns without a parent, the root first: more than one where nothing joins them."""
        below = {child for _parent, child in self.arcs}
        return tuple(sorted((n for n in self.names if n not in below), key=lambda n: n != self.root))

    @property
    def total(self) -> float:
        """The sum of the weights taken, in nats."""
        return self.total_after(len(self.steps))

    @property
    def most(self) -> float:
        """The largest weight."""
        return max((s.weight for s in self.steps), default=0.0)

    def taken(self, after: int) -> list[TreeStep]:
        """The edges taken in the first steps."""
        return [s for s in self.steps[:after] if s.taken]

    def total_after(self, after: int) -> float:
        return sum(s.weight for s in self.taken(after))

    def cycle(self, step: int) -> list[str]:
        """The way between the two ends of the edge of a step (from 0) along those taken before; [] where there is
        none."""
        return path([s.edge for s in self.taken(step)], *self.steps[step].edge)


def grow(model: TAN) -> Growth:
    """How the tree of a model came to be.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> grown = grow(TAN().fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]))
    >>> len(grown.steps), round(grown.total, 5), grown.root, grown.cycle(4)
    (6, 1.93324, '纹理', ['根蒂', '脐部', '纹理'])
    """
    names = varying(model)
    trace = [s for s in model.trace_ if set(s.edge) <= set(names)]
    last = max((k + 1 for k, s in enumerate(trace) if s.taken), default=0)
    taken = [s.edge for s in trace if s.taken]
    root = model.root_ if model.root_ in names else next(iter(names), None)
    arcs = directed(names, taken, root) if root is not None else ()
    return Growth(names, tuple(trace[:last]), len(trace) - last, root, arcs)


def edges_of_case(model: SemiNaive, edges: Sequence[Edge], case: pd.DataFrame) -> Array:
    """(C,) by `classes_`, what these edges add to log P(x|c) of a case over independence, from the counts themselves,
    in nats: of all edges of the tree it is what TAN without smoothing has more than naive Bayes, and the mean over
    the rows, each in its class, is the edges' weight.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> X = melons.frame[list(melons.schema.features.names)]
    >>> edges_of_case(TAN().fit(X, melons.frame["好瓜"]), [("根蒂", "脐部")], X[:1]).round(4).tolist()
    [-inf, 0.47]
    """
    found = np.zeros(len(model.classes_))
    for a, b in edges:
        found = found + contingency(model, a, b, model.classes_.tolist()).of_case(case)
    return found


class ChosenEdge(NamedTuple):
    """The k-th heaviest edge of a tree, in nats; what the k-th heaviest edges of trees grown on shuffled tables weigh
    on average (`chance`), and the share of them that weigh as much (`p`)."""

    edge: Edge
    weight: float
    chance: float
    p: float


@dataclass(frozen=True)
class TreeByChance:
    """The edges of a tree, and its `total`, beside those of `draws` trees grown on shuffled tables."""

    edges: tuple[ChosenEdge, ...]
    total: ChosenEdge
    draws: int


def tree_by_chance(model: TAN, grown: Growth) -> TreeByChance | None:
    """What the edges of a tree would weigh by chance, every column shuffled within the classes: edges are chosen for
    their weight, so that they are to be held against those of trees that chose, too. None where the tree has no edge,
    or weights of rows are no whole numbers.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> model = TAN().fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])
    >>> [round(e.chance, 1) for e in tree_by_chance(model, grow(model)).edges]
    [0.4, 0.3, 0.3, 0.3, 0.2]
    """
    names = [name for name in grown.names if model.schema_[name].discrete]
    margins = {name: model.stats_.counts.tables[name] for name in names}
    own = sorted((s for s in grown.steps if s.taken and set(s.edge) <= set(names)), key=lambda s: -s.weight)
    if not own or not all(map(is_whole, margins.values())):
        return None
    n, first = float(model.stats_.class_weight.sum()), 0 if model.missing == "category" else 1
    draws = draws_of_trees(len(names), n)
    drawn = []
    for block in shuffled_tables(margins, draws):
        weights = {e: informations(table[:, :, first:, first:], n) for e, table in block.items()}
        drawn.append(np.sort(grown_trees(names, weights).weights, axis=1)[:, ::-1])
    by_rank = np.concatenate(drawn)

    def held(edge: Edge, weight: float, chance: Array) -> ChosenEdge:
        return ChosenEdge(edge, weight, float(chance.mean()), float((1 + (chance >= weight - TIE).sum()) / (1 + draws)))

    edges = tuple(held(s.edge, s.weight, by_rank[:, k]) for k, s in enumerate(own))
    return TreeByChance(edges, held(("", ""), sum(s.weight for s in own), by_rank.sum(axis=1)), draws)


def draws_of_trees(columns: int, n: float) -> int:
    """So many tables of n rows are shuffled."""
    pairs = max(columns * (columns - 1) // 2, 1)
    return int(min(MOST_TREES, max(FEWEST_TREES, SHUFFLED // max(pairs * n, 1.0))))


def posteriors_by_root(model: TAN, case: pd.DataFrame, roots: Sequence[str]) -> Array:
    """(R, C) the posterior of a case (a frame of one row) with the tree hung from each of these columns: without
    smoothing, on complete data, all the same.

    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx")})
    >>> posteriors_by_root(TAN(alpha=0).fit(X, list("nynynynn")), X[:1], ["a", "b"]).round(4).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    with listen():
        return np.stack([model.with_params(root=name).predict_proba(case)[0] for name in roots])


def varying(model: SemiNaive) -> tuple[str, ...]:
    """The columns of which the rows have two values or more.

    >>> varying(TAN().fit(pd.DataFrame({"a": ["x", "y"], "b": ["x", "x"]}), ["n", "y"]))
    ('a',)
    """
    first = 0 if model.missing == "category" else 1
    met = {n: int((t[:, first:].sum(axis=0) > 0).sum()) for n, t in model.stats_.counts.tables.items()}
    return tuple(v.name for v in model.schema_ if met.get(v.name, 2) > 1)


def path(edges: Sequence[Edge], a: str, b: str) -> list[str]:
    """The names on the way from a to b in a forest; [] where they are not joined.

    >>> path([("a", "b"), ("c", "b")], "a", "c"), path([("a", "b")], "a", "c")
    (['a', 'b', 'c'], [])
    """
    names = dict.fromkeys([a, b, *(name for edge in edges for name in edge)])
    above = {child: parent for parent, child in directed(list(names), edges, a)}
    upwards = [b]
    while upwards[-1] in above:
        upwards.append(above[upwards[-1]])
    return upwards[::-1] if upwards[-1] == a else []
