"""How well a graph suits a table, in nats: log-likelihood, AIC, BIC, K2, BDeu. More is better. pgmpy and pyAgrum give a
family's score as one number, not the likelihood and the penalty in it.

All are sums over families (a node and its parents), so an arc changes one or two terms. With
n_jk the weight of the rows where the parents are in configuration j and the node in its level k, n_j = Σ_k n_jk:

    LL(B|D) = Σ_families Σ_jk n_jk log(n_jk / n_j)                     (maximum likelihood tables)
    AIC = LL − |B|,   BIC = LL − ½ log m · |B|,   |B| = Σ_families q (r − 1) free numbers, m the weight of all rows

The book's S(B|D) = f(θ)|B| − LL(B|D) (Zhou, eq. 7.28: description length, to be made small) is the negative of these:
f(θ) = 1 is −AIC, f(θ) = ½ log m is MDL = −BIC, f(θ) = 0 is −LL. K2 and BDeu are log P(D|B) with Dirichlet tables
integrated out (Cooper & Herskovits 1992; Heckerman, Geiger & Chickering 1995); "bic" and "mdl" are one score.

Every one of them is a difference of two sums, one over the cells of the family, one over those of the parents alone:
each set of columns is counted and summed once, whichever of them is the child.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array, log
from bayes_engine.priors import checked_word
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG, Arc

ScoreName = Literal["log-likelihood", "aic", "bic", "mdl", "k2", "bdeu"]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
Operation = Literal["add", "delete", "reverse"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)

TIE = 1e-10
"""Two graphs whose scores differ by less than this share of the score of the graph without arcs are equally good."""

WIDEST = 4_000_000
"""A family is counted with all further parents at once while the table has at most this many cells."""

LARGE = 2**20
"""Of the families of more cells than this a search looks only at those that may gain."""


class Move(NamedTuple):
    """One change of a graph: `parent` → `child` is added, deleted, or turned round (the arc as it stands before)."""

    operation: Operation
    parent: str
    child: str

    @property
    def arc(self) -> Arc:
        """The arc as it stands before the move, or will."""
        return (self.parent, self.child)

    def applied(self, graph: DAG) -> DAG:
        """The graph after the move. Raises ParameterError where the arc is (not) there, or a cycle would close.

        >>> Move("reverse", "a", "b").applied(DAG("ab", [("a", "b")])).arcs
        (('b', 'a'),)
        """
        there = self.arc in graph.arcs
        if there and self.operation == "add":
            raise ParameterError("the arc {a} → {b} is already in the graph", a=self.parent, b=self.child)
        if not there and self.operation != "add":
            raise ParameterError("the arc {a} → {b} is not in the graph", a=self.parent, b=self.child)
        arcs = [arc for arc in graph.arcs if arc != self.arc]
        if self.operation != "delete":
            arcs.append(self.arc if self.operation == "add" else (self.child, self.parent))
        return DAG(graph.nodes, arcs)

    def parents(self, before: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """The new parents of the one or two nodes whose parents the move changes.

        >>> Move("reverse", "a", "b").parents({"a": (), "b": ("a", "c")})
        {'b': ('c',), 'a': ('b',)}
        """
        if self.operation == "add":
            return {self.child: (*before[self.child], self.parent)}
        left = {self.child: tuple(p for p in before[self.child] if p != self.parent)}
        return left if self.operation == "delete" else left | {self.parent: (*before[self.parent], self.child)}


class FamilyScore(NamedTuple):
    """The score of one family, in nats: score = log_likelihood − penalty.

    `log_likelihood` is that of the maximum likelihood table, `free` its free numbers q (r − 1). `penalty` is f(θ)·free
    for AIC and BIC; for K2 and BDeu it is what integrating over all tables costs against the best one.
    """

    child: str
    parents: tuple[str, ...]
    log_likelihood: float
    penalty: float
    free: int

    @property
    def score(self) -> float:
        """In nats."""
        return self.log_likelihood - self.penalty


@dataclass(frozen=True)
class DecomposedScore:
    """The score of a graph, family by family, in the order of the nodes."""

    name: ScoreName
    families: tuple[FamilyScore, ...]

    @property
    def score(self) -> float:
        """The sum over the families, in nats."""
        return math.fsum(f.score for f in self.families)

    @property
    def log_likelihood(self) -> float:
        """LL(B|D) of the maximum likelihood tables, in nats."""
        return math.fsum(f.log_likelihood for f in self.families)

    @property
    def penalty(self) -> float:
        """What the tables cost, in nats."""
        return math.fsum(f.penalty for f in self.families)

    @property
    def free(self) -> int:
        """|B|, the free numbers of all tables."""
        return sum(f.free for f in self.families)

    @cached_property
    def by_child(self) -> Mapping[str, FamilyScore]:
        """The lines by the family's child."""
        return {f.child: f for f in self.families}


class FamilyChange(NamedTuple):
    """One family before and after a move."""

    before: FamilyScore
    after: FamilyScore

    @property
    def delta(self) -> float:
        """How much the score rises, in nats."""
        return self.after.score - self.before.score


@dataclass(frozen=True)
class ScoreChange:
    """What a move does to the score: the families it touches, one for add and delete, two for reverse."""

    move: Move
    families: tuple[FamilyChange, ...]
    graph: DAG

    @property
    def delta(self) -> float:
        """How much the score rises, in nats."""
        return math.fsum(f.delta for f in self.families)


def mdl_price(n: float) -> float:
    """½ log m, the nats that one free number costs by minimum description length (Zhou, eq. 7.31), m the weight of the
    rows."""
    return 0.5 * math.log(n)


class Scorer:
    """Scores of families over one table, each set of columns summed once; `sample_size` is BDeu's.

    >>> scorer = Scorer(FamilyCounts.of({"rain": list("nnyy"), "wet": list("nyyy")}), "bic")
    >>> family = scorer.family("wet", ("rain",))
    >>> round(family.log_likelihood, 4), round(family.penalty, 4), family.free  # 2 log ½; 2 · ½ log 4
    (-1.3863, 1.3863, 2)
    """

    def __init__(self, counts: FamilyCounts, name: ScoreName = "bic", *, sample_size: float = 1.0) -> None:
        checked_word("score", name, SCORES)
        if not (math.isfinite(sample_size) and sample_size > 0):
            raise ParameterError("an equivalent sample size of {value} is no number above 0", value=float(sample_size))
        self.counts = counts
        self.name: ScoreName = name
        self.sample_size = sample_size
        self._sums: dict[tuple[int, int], float] = {}
        self._wide: dict[tuple[int, int], Array] = {}

    @property
    def price(self) -> float:
        """f(θ): the nats that one free number costs; 0 where the score has no such price."""
        if self.name in ("bic", "mdl"):
            return mdl_price(self.counts.n)
        return 1.0 if self.name == "aic" else 0.0

    @cached_property
    def tolerance(self) -> float:
        """Scores that differ by less than this, in nats, are equal."""
        return TIE * max(1.0, abs(math.fsum(self.value(c, 0) for c in range(len(self.counts.names)))))

    @cached_property
    def gains(self) -> Array:
        """(d, d) what each column (row) gains by each other as its only parent, the most first; 0 where it loses."""
        d = len(self.counts.names)
        gains = np.array([self.widened(c, 0) - self.value(c, 0) for c in range(d)])
        np.fill_diagonal(gains, 0.0)
        return np.asarray(-np.sort(-np.maximum(gains, 0.0), axis=1))

    def family(self, child: str, parents: Iterable[str] = ()) -> FamilyScore:
        """The line of one family; `parents` in any order."""
        parents = frozenset(parents)
        c, mask = self.counts.rank_of(child), sum(1 << self.counts.rank_of(p) for p in parents)
        score, free = self.value(c, mask), self.free(c, mask)
        if self._plain is None:
            penalty = self.price * free
            likelihood = score + penalty
        else:
            likelihood = self._plain.value(c, mask)
            penalty = likelihood - score
        return FamilyScore(child, tuple(p for p in self.counts.names if p in parents), likelihood, penalty, free)

    def value(self, child: int, parents: int) -> float:
        """The score of a family: the child by rank, its parents as a set of ranks (bit j for rank j)."""
        known = self._known(child, parents)
        if known is None:
            for mask in (parents | 1 << child, parents):
                if (mask, 0) not in self._sums:  # the sums of all kinds come with one count
                    self._sums.update(self._sums_of(mask, self.counts.cells(members(mask))))
            known = self._known(child, parents)
            assert known is not None
        return known

    def _known(self, child: int, parents: int) -> float | None:
        """The score of a family that is counted already, perhaps with others; None of one that is not."""
        for j in members(parents):
            if (wide := self._wide.get((child, parents ^ 1 << j))) is not None:
                return float(wide[j])
        whole, part = self._sums.get((parents | 1 << child, 0)), self._sums.get((parents, self._kind(child)))
        if whole is None or part is None:
            return None
        return whole - part - self.price * self.free(child, parents)

    def _sums_of(self, mask: int, cells: Array) -> dict[tuple[int, int], float]:
        """The sums of every kind over the weights of the cells of a set of columns."""
        size = math.prod(self.counts.levels[j] for j in members(mask))
        cells = cells[cells > 0]
        return {(mask, kind): float(self._term(cells, size, kind).sum()) for kind in self.kinds}

    @property
    def kinds(self) -> tuple[int, ...]:
        """The kinds of sums over a set's cells: 0, and for K2 each number of levels that a child has."""
        return (0, *sorted(set(self.counts.levels))) if self.name == "k2" else (0,)

    def widened(self, child: int, parents: int) -> Array:
        """(d,) the scores of the family with one further parent each, of all columns in one count; those that are
        already in the family hold no meaning."""
        if (child, parents) not in self._wide:
            counts = self.counts
            joint = counts.joint(members(parents))
            if joint.size * counts.levels[child] * sum(counts.levels) > WIDEST:  # many levels: in what occurs
                self._wide[child, parents] = self._one_by_one(child, parents)
                return self._wide[child, parents]
            table = counts.with_all(counts.joined(joint, child))
            self._wide[child, parents] = self._side_by_side(table, child, parents)
        return self._wide[child, parents]

    def candidates(self, child: int, parents: int) -> NDArray[np.bool_]:
        """(d,) which columns a search may give a family as one parent more: all that are not in it, but those that can
        only lose and whose table, of more than LARGE cells, would have to be counted to say how much.

        A parent j gains n·I(child; j | parents), at most n·min(H(child | parents), H(j)); it costs `price` for each of
        q (r − 1) (S_j − 1) free numbers more.
        """
        levels = np.array(self.counts.levels)
        open_ = np.array([j != child and not parents >> j & 1 for j in range(len(levels))])
        cells = float(math.prod(self.counts.levels[j] for j in members(parents | 1 << child))) * levels
        if not self.price or not (cells > LARGE).any():
            return open_
        free = self.free(child, parents)
        most = self.price * free + self.value(child, parents)  # −n·H(child | parents)
        alone = np.array([self.value(j, 0) + self.price * self.free(j, 0) for j in range(len(levels))])
        loses = self.price * free * (levels - 1) > -np.maximum(most, alone)
        return np.asarray(open_ & ~(loses & (cells > LARGE)))

    def _one_by_one(self, child: int, parents: int) -> Array:
        """`widened`, each by itself."""
        others = np.flatnonzero(self.candidates(child, parents)).tolist()
        alone = np.full(len(self.counts.levels), -np.inf)
        alone[others] = [self.value(child, parents | 1 << j) for j in others]
        return alone

    def _side_by_side(self, table: Array, child: int, parents: int) -> Array:
        """(d,) `widened` from the weights (·, Σ S) of the combinations of parents and child, the child running fastest,
        with each level of every column; of the parents' combinations perhaps those alone that occur."""
        levels = np.array(self.counts.levels)
        r, q = self.counts.levels[child], math.prod(self.counts.levels[j] for j in members(parents))
        wide = q * np.repeat(levels, levels)
        margin = table.reshape(-1, r, len(wide)).sum(axis=1)
        fit = self._term(table, wide * r, 0).sum(axis=0) - self._term(margin, wide, self._kind(child)).sum(axis=0)
        return np.asarray(np.add.reduceat(fit, self.counts.starts) - self.price * q * levels * (r - 1))

    def free(self, child: int, parents: int) -> int:
        """q (r − 1): the free numbers of the family's table."""
        levels = self.counts.levels
        return math.prod(levels[j] for j in members(parents)) * (levels[child] - 1)

    @cached_property
    def _plain(self) -> Scorer | None:
        """The log-likelihood beside a score that integrates the tables out."""
        return Scorer(self.counts, "log-likelihood") if self.name in ("k2", "bdeu") else None

    def _kind(self, child: int) -> int:
        """K2's sum over parents depends on the child's levels; every other sum only on its own columns."""
        return self.counts.levels[child] if self.name == "k2" else 0

    def _term(self, n: Array, size: Any, r: Any) -> Array:
        """What each cell of weight n adds to its set's sum; 0 where n = 0. `size`: the cells of the set; `r`: the
        child's levels in K2's sum over parents.

        BDeu: log Γ(n + a) − log Γ(a), a = sample_size / size.  K2: log n! over families, log (n + r − 1)!/(r − 1)! over
        parents.  The others: n log n.
        """
        if self.name == "bdeu":
            a = self.sample_size / size
            return np.asarray(gammaln(n + a) - gammaln(a))
        if self.name == "k2":
            return np.asarray(gammaln(n + np.maximum(r, 1)) - gammaln(np.maximum(r, 1)))
        return n * log(n + (n == 0))


def members(mask: int) -> list[int]:
    """The ranks in a set, ascending.

    >>> members(0b1101)
    [0, 2, 3]
    """
    return [j for j in range(mask.bit_length()) if mask >> j & 1]


def decomposed_score(counts: FamilyCounts, graph: DAG, score: ScoreName | Scorer = "bic") -> DecomposedScore:
    """What every family of the graph adds to its score. Nodes that the table does not have raise ParameterError.

    >>> counts = FamilyCounts.of({"rain": list("nnyy"), "wet": list("nyyy")})
    >>> found = decomposed_score(counts, DAG(counts.names, [("rain", "wet")]))
    >>> round(found.score, 4), round(found.log_likelihood, 4), found.free
    (-6.2383, -4.1589, 3)
    """
    scorer = scorer_of(counts, score)
    return DecomposedScore(scorer.name, tuple(scorer.family(name, graph.parents[name]) for name in graph.nodes))


def score_change(counts: FamilyCounts, graph: DAG, move: Move, score: ScoreName | Scorer = "bic") -> ScoreChange:
    """What one move made by hand changes. Raises ParameterError where the move cannot be made.

    >>> counts = FamilyCounts.of({"rain": list("nnyy"), "wet": list("nyyy")})
    >>> change = score_change(counts, DAG(counts.names), Move("add", "rain", "wet"))
    >>> [(f.after.child, round(f.delta, 4)) for f in change.families], change.graph.arcs
    ([('wet', 0.1699)], (('rain', 'wet'),))
    """
    after = move.applied(graph)
    return ScoreChange(move, family_changes(scorer_of(counts, score), graph.parents, move), after)


def family_changes(scorer: Scorer, parents: Mapping[str, tuple[str, ...]], move: Move) -> tuple[FamilyChange, ...]:
    """The families that a move touches, before and after it; `parents` are those of every node before.

    >>> scorer = Scorer(FamilyCounts.of({"rain": list("nnyy"), "wet": list("nnyy")}), "bic")
    >>> [change] = family_changes(scorer, {"rain": (), "wet": ()}, Move("add", "rain", "wet"))
    >>> change.after.parents, round(change.delta, 4)  # 4 log 2 − ½ log 4
    (('rain',), 2.0794)
    """
    return tuple(
        FamilyChange(scorer.family(name, parents[name]), scorer.family(name, after))
        for name, after in move.parents(parents).items()
    )


def scorer_of(counts: FamilyCounts, score: ScoreName | Scorer, sample_size: float = 1.0) -> Scorer:
    """The score of this name over these counts; a scorer that is given is used with all that it remembers."""
    return score if isinstance(score, Scorer) else Scorer(counts, score, sample_size=sample_size)
