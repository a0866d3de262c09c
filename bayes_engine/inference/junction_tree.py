"""Exact inference in a Bayesian network: a junction tree made once, evidence of many rows carried through it together.
pyAgrum and pgmpy carry the evidence of one row at a time.

Each table P(x_j | pa_j) is multiplied into a clique; messages go up to the root and give P(e), and down again and give
P(clique | e) for every clique (Lauritzen & Spiegelhalter 1988; Jensen, Lauritzen & Olesen 1990). With the largest
instead of the sum on the way up, the way down reads off the most probable explanation (Dawid 1992).

The products are probabilities as long as none is too small for a float64: the processor notices the first that is
(underflow), and then these rows are done again in logarithms. So nothing is lost, and a 0 is a 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ImpossibleEvidence, ParameterError, TooLarge
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference.conditional_tree import ConditionalTree
from bayes_engine.inference.conflict import conflict
from bayes_engine.inference.forward_sampling import Places
from bayes_engine.inference.message_passing import (
    LARGEST,
    LOG_SUM,
    SUM,
    Calibrated,
    Tables,
    calibrate,
    collect,
    message_plan,
    read_off,
)
from bayes_engine.inference.triangulate import Clique, cells, cliques
from bayes_engine.logspace import Array, log
from bayes_engine.progress import steps
from bayes_engine.stats.counts import distinct_rows

OnImpossible = Literal["raise", "flag"]

Passed = TypeVar("Passed")

MOST_CELLS = 20_000_000
"""Cells of all tables of a tree that one row may need: 160 MB."""
BLOCK_CELLS = 400_000
"""Cells that the rows carried through together may need; they should stay in the processor's cache."""
ROWS = 256
"""Rows that are carried through together at most."""
PAYS = 100_000
"""From so many cells on, a smaller tree for the evidence at hand is looked for."""
GAIN = 2
"""So many times fewer cells must it have to be taken."""


class TreeCost(NamedTuple):
    """What a tree needs: the `cells` of all its tables, those of its `largest`, and the nodes of that `clique`."""

    cells: float
    largest: float
    clique: tuple[str, ...]


class Posteriors(NamedTuple):
    """log P(e) in nats (n,), and for each node P(x_j | e) (n, S_j); for impossible rows −inf and zeros."""

    log_evidence: Array
    p: Mapping[str, Array]

    @property
    def possible(self) -> NDArray[np.bool_]:
        """(n,) whether the row's findings can occur together."""
        return np.isfinite(self.log_evidence)


class ExpectedFamilyCounts(NamedTuple):
    """log P(e_i) (n,), and for each node Σ_i w_i P(x_j, pa_j | e_i), in the shape of its table."""

    log_evidence: Array
    families: Mapping[str, Array]


class MostProbableExplanation(NamedTuple):
    """The most probable values of all nodes beside the evidence (n, d), and log P(x) of them all (n,)."""

    places: Places
    log_p: Array


@lru_cache(maxsize=32)
def junction_tree(network: Network) -> JunctionTree:
    """The tree of a network, made at the first call; the last 32 are kept."""
    return JunctionTree(network)


class JunctionTree:
    """The cliques of a network and how messages go between them; the nodes `together` share a clique. Columns that are
    `given` in every row join nothing: each row takes its slice of their children's tables.

    Making one allocates nothing: `cost` says what the tables would need, and asking for more than MOST_CELLS raises
    TooLarge.
    """

    def __init__(self, network: Network, together: Sequence[str] = (), given: Collection[int] = ()) -> None:
        self.network = network
        self.names = network.names
        self._given = frozenset(given)
        groups = [tuple(v for v in network.axes(cpt.scope) if v not in self._given) for cpt in network.cpts]
        self._cliques = _cliques((*groups, network.axes(together)), network.sizes, self.names)
        self._plan = message_plan(network, self._cliques, self._given)

    @cached_property
    def cost(self) -> TreeCost:
        """What the tables of one row take: known before any is made."""
        tables = [cells(c.scope, self.network.sizes) for c in self._cliques]
        largest, widest = max(zip(tables, self._cliques, strict=True), default=(0.0, Clique((), 0, -1)))
        return TreeCost(sum(tables), largest, tuple(self.names[v] for v in widest.scope))

    def marginals(
        self, places: Places, *, targets: Sequence[str] | None = None, impossible: OnImpossible = "raise"
    ) -> Posteriors:
        """log P(e) and P(x_j | e) of every node, or of the targets.

        Raises ImpossibleEvidence where P(e) = 0, unless such rows shall be flagged.
        """
        if (of_one := self._marginals_of_one(places, targets)) is not None:
            return of_one
        tree, part = self._pruned(places, targets)
        network, n = tree.network, len(part)
        asked = range(len(network.cpts)) if targets is None else network.axes(targets)
        margins = [np.empty((network.sizes[v], n)) for v in asked]
        log_evidence = np.empty(n)
        for rows, done in tree._calibrated(part):
            log_evidence[rows] = done.log_evidence
            for v, into in zip(asked, margins, strict=True):
                into[:, rows] = done.margin(*tree._homes[v])
        self._refuse(log_evidence, places, impossible)
        return Posteriors(log_evidence, {tree.names[v]: p.T for v, p in zip(asked, margins, strict=True)})

    def joint(self, targets: Sequence[str], places: Places, *, impossible: OnImpossible = "raise") -> Array:
        """P(x_1, …, x_k | e) of several nodes (n, S_1, …, S_k), in the order of `targets`.

        Where no clique holds them all, a tree is made in which one does.
        """
        if len(set(targets)) < len(targets):
            raise ParameterError("a node stands twice among the targets: {names}", names=", ".join(targets))
        if (single := self._alone(places)) is not None:
            alone, findings = single
            asked = self.network.axes([self.network[name].name for name in targets])
            if (one := alone.posterior(asked, findings)) is not None:
                return one[1][None]
        tree, part = self._pruned(places, targets, together=True)
        wanted = tree.network.axes(targets)
        home = min(
            (k for k, c in enumerate(tree._cliques) if set(wanted) <= set(c.scope)),
            key=lambda k: cells(tree._cliques[k].scope, tree.network.sizes),
        )
        scope = tree._cliques[home].scope
        drop = tuple(a for a, v in enumerate(scope) if v not in wanted)
        kept = [v for v in scope if v in wanted]
        table = np.empty((*(tree.network.sizes[v] for v in kept), len(part)))
        log_evidence = np.empty(len(part))
        for rows, done in tree._calibrated(part):
            log_evidence[rows] = done.log_evidence
            table[..., rows] = done.margin(home, drop)
        self._refuse(log_evidence, places, impossible)
        return np.moveaxis(table, [len(kept), *(kept.index(v) for v in wanted)], range(1 + len(wanted)))

    def log_evidence(self, places: Places) -> Array:
        """(n,) log P(e) in nats; −inf where the findings cannot occur together."""
        if (of_one := self._marginals_of_one(places, ())) is not None:
            return of_one.log_evidence
        tree, part = self._pruned(places, ())
        log_p = np.empty(len(part))
        for rows in tree._blocks(len(part)):
            log_p[rows] = tree._safely(partial(collect, tree._plan, part, rows)).log_evidence
        return log_p

    def most_probable(self, places: Places, *, impossible: OnImpossible = "raise") -> MostProbableExplanation:
        """The values of all nodes that are most probable with the evidence; rows of HIDDEN and −inf where P(e) = 0.

        Among equals (`TIE`) the first: decided clique by clique from the roots, by the order of the levels.
        """
        tree, part = self._pruned(places, None)
        states = part.copy()
        log_p = np.empty(len(part))
        tables = Tables(LARGEST, tree._log)
        for rows in tree._blocks(len(part)):
            up = collect(tree._plan, part, rows, tables)
            log_p[rows] = up.log_evidence
            for clique, table in zip(reversed(tree._cliques), reversed(up.tables), strict=True):
                read_off(clique, table, states[rows], tree.network.sizes)
        self._refuse(log_p, places, impossible)
        states[np.isneginf(log_p)] = HIDDEN
        return MostProbableExplanation(states, log_p)

    def family_marginals(
        self, places: Places, weight: Array | None = None, *, impossible: OnImpossible = "raise"
    ) -> ExpectedFamilyCounts:
        """log P(e_i) and the expected counts Σ_i w_i P(x_j, pa_j | e_i) of every family: the E step of EM.

        Rows alike are carried through once; an impossible row that is flagged counts nowhere.
        """
        places = self._checked(places)
        first, back = distinct_rows(places)
        distinct = places[first]
        total = np.bincount(back, weights=weight, minlength=len(distinct)).astype(float)
        self._affordable()
        sums = [np.zeros(tuple(self.network.sizes[v] for v in c.scope)) for c in self._cliques]
        log_evidence = np.empty(len(distinct))
        for rows, done in self._calibrated(distinct):
            log_evidence[rows] = done.log_evidence
            share = np.where(np.isfinite(done.log_evidence), total[rows], 0.0)
            for into, belief in zip(sums, done.beliefs, strict=True):
                p = done.algebra.probability(belief)
                into += p[..., 0] * share.sum() if p.shape[-1] == 1 else p @ share
        log_evidence = log_evidence[back]
        self._refuse(log_evidence, places, impossible)
        families = {}
        for cpt, home in zip(self.network.cpts, self._plan.family_home, strict=True):
            scope, wanted = self._cliques[home].scope, self.network.axes(cpt.scope)
            kept = [v for v in scope if v in wanted]
            margin = sums[home].sum(axis=tuple(a for a, v in enumerate(scope) if v not in wanted))
            families[cpt.name] = margin.transpose([kept.index(v) for v in wanted])
        return ExpectedFamilyCounts(log_evidence, families)

    # ------------------------------------------------------------------ tables

    @cached_property
    def _linear(self) -> list[Array] | None:
        """The product of each clique's own tables, one more axis for the rows; None where one is too small to hold."""
        try:
            with np.errstate(under="raise"):
                return self._product(np.multiply, np.ones, lambda cpt: cpt.p)
        except FloatingPointError:
            return None

    @cached_property
    def _log(self) -> list[Array]:
        return self._product(np.add, np.zeros, lambda cpt: cpt.log)

    def _product(
        self, times: Any, one: Callable[[tuple[int, ...]], Array], table: Callable[[CPT], Array]
    ) -> list[Array]:
        self._affordable()
        network = self.network
        potentials = [one((*(network.sizes[v] for v in c.scope), 1)) for c in self._cliques]
        for cpt, home in zip(network.cpts, self._plan.family_home, strict=True):
            scope, axes = self._cliques[home].scope, network.axes(cpt.scope)
            if not self._given.isdisjoint(axes):
                continue  # each row takes its own slice
            turned = table(cpt).transpose(sorted(range(len(axes)), key=lambda a: scope.index(axes[a])))
            shape = [network.sizes[v] if v in axes else 1 for v in scope]
            potentials[home] = times(potentials[home], turned.reshape(*shape, 1))
        return potentials

    @cached_property
    def _homes(self) -> list[tuple[int, tuple[int, ...]]]:
        """For each node the smallest clique that holds it, and the axes of that clique to sum out."""
        smallest = [(np.inf, 0, 0)] * len(self.network.cpts)
        for k, c in enumerate(self._cliques):
            size = cells(c.scope, self.network.sizes)
            for axis, v in enumerate(c.scope):
                smallest[v] = min(smallest[v], (size, k, axis))
        return [(k, tuple(a for a in range(len(self._cliques[k].scope)) if a != axis)) for _, k, axis in smallest]

    def _affordable(self) -> None:
        if self.cost.cells > MOST_CELLS:
            raise TooLarge(
                "exact inference would need tables of {cells:.2g} cells, the largest of {largest:.2g} over {k} nodes, "
                "where {most:.2g} are allowed; ask for fewer nodes, or use Gibbs sampling or likelihood weighting",
                cells=self.cost.cells,
                k=len(self.cost.clique),
                largest=self.cost.largest,
                most=float(MOST_CELLS),
            )

    # ------------------------------------------------------------------ one row

    def joint_of_one(self, targets: Sequence[str], findings: Mapping[int, int]) -> Array | None:
        """P(x_1, …, x_k | e) (S_1, …, S_k) of one set of findings, the place of a level by node; None where `joint` is
        to be asked, which also says what is wrong."""
        if not findings or len(set(targets)) < len(targets) or (tree := self._quick) is None:
            return None
        answer = tree.posterior(self.network.axes(targets), findings)
        return None if answer is None else answer[1]

    def marginals_of_one(self, findings: Mapping[int, int]) -> list[Array] | None:
        """P(x_j | e) (S_j,) of every node likewise, in their order; None where `marginals` is to be asked."""
        if not findings or (tree := self._quick) is None:
            return None
        answer = tree.marginals(findings)
        return None if answer is None else answer[1]

    @cached_property
    def _quick(self) -> ConditionalTree | None:
        """The tree for the findings of one row; None where it does not pay, or has no tables."""
        return None if self.cost.cells > PAYS else self._conditional

    def _alone(self, places: Places) -> tuple[ConditionalTree, dict[int, int]] | None:
        """The tree for one row and its findings; None where there are more rows, no finding, or something wrong."""
        if np.shape(places) != (1, len(self.names)) or self._quick is None:
            return None
        row: list[int] = np.asarray(places)[0].tolist()
        findings = {v: place for v, place in enumerate(row) if place != HIDDEN}
        right = all(0 <= place < self._plan.sizes[v] for v, place in findings.items())
        return (self._quick, findings) if findings and right else None

    def _marginals_of_one(self, places: Places, targets: Sequence[str] | None) -> Posteriors | None:
        if (single := self._alone(places)) is None:
            return None
        tree, findings = single
        names = self.names if targets is None else [self.network[name].name for name in targets]
        asked = self.network.axes(names)
        if len(asked) < 2:
            one = tree.posterior(asked, findings)
            return None if one is None else Posteriors(log(np.array([one[0]])), dict.fromkeys(names, one[1][None]))
        if (whole := tree.marginals(findings)) is None:
            return None
        p = {name: whole[1][v][None] for name, v in zip(names, asked, strict=True)}
        return Posteriors(log(np.array([whole[0]])), p)

    @cached_property
    def _conditional(self) -> ConditionalTree | None:
        """None where columns are given in every row, or probabilities too small."""
        if self._given or self._linear is None:
            return None
        nothing = np.full((1, len(self.names)), HIDDEN)
        done = calibrate(self._plan, nothing, slice(0, 1), Tables(SUM, self._linear))
        return ConditionalTree(self._cliques, self._plan.sizes, [belief[..., 0] for belief in done.beliefs])

    # ------------------------------------------------------------------ rows

    def _checked(self, places: Places) -> Places:
        places = np.asarray(places)
        d = len(self.network.cpts)
        if places.ndim != 2 or places.shape[1] != d:
            raise ParameterError(
                "evidence has the shape {found}; it needs a column for each of the {d} nodes",
                found=str(places.shape),
                d=d,
            )
        wrong = (places < HIDDEN) | (places >= np.array(self._plan.sizes))
        if wrong.any():
            i, j = (int(k) for k in np.argwhere(wrong)[0])
            raise ParameterError(
                "row {row}: '{name}' has no level at place {place}",
                row=i,
                name=self.names[j],
                place=int(places[i, j]),
            )
        return places

    def _pruned(
        self, places: Places, targets: Sequence[str] | None, together: bool = False
    ) -> tuple[JunctionTree, Places]:
        """The tree that is asked, with its columns: this one, or, where a clique for the targets is wanted or where it
        pays, one that leaves out the barren nodes (neither asked for, nor seen, nor above such a node) and is cut at
        the nodes that are seen in every row, so that what these separate from the targets stands apart."""
        places = self._checked(places)
        names = self.names
        asked_for = names if targets is None else [self.network[name].name for name in targets]
        wanted = set(self.network.axes(asked_for))
        apart = together and not any(wanted <= set(c.scope) for c in self._cliques)
        if not apart and self.cost.cells <= PAYS:
            return self, places
        seen = places != HIDDEN
        asked = wanted | set(np.flatnonzero(seen.any(axis=0)).tolist())
        above = self.network.graph.ancestors([names[v] for v in sorted(asked)])
        kept = tuple(j for j, name in enumerate(names) if name in above)
        cut = () if self.cost.cells <= PAYS else tuple(np.flatnonzero(seen.all(axis=0)[list(kept)]).tolist())
        tree = _part(self.network, kept, tuple(targets or ()) if together else (), cut if len(places) else ())
        if not apart and tree.cost.cells * GAIN > self.cost.cells:
            return self, places
        return tree, places[:, kept]

    def _blocks(self, n: int) -> Iterator[slice]:
        step = int(np.clip(BLOCK_CELLS / max(self.cost.cells, 1.0), 1, ROWS))
        return (slice(i, min(i + step, n)) for i in steps(range(0, n, step)))

    def _safely(self, work: Callable[[Tables], Passed]) -> Passed:
        """`work` with probabilities; in logarithms where one of them was too small for a float64."""
        self._affordable()
        if self._linear is not None:
            try:
                with np.errstate(under="raise", over="raise"):
                    return work(Tables(SUM, self._linear))
            except FloatingPointError:
                pass
        return work(Tables(LOG_SUM, self._log))

    def _calibrated(self, places: Places) -> Iterator[tuple[slice, Calibrated]]:
        """Block by block, the probabilities of every clique given the evidence."""
        for rows in self._blocks(len(places)):
            yield rows, self._safely(partial(calibrate, self._plan, places, rows))

    def _refuse(self, log_evidence: Array, places: Places, impossible: OnImpossible) -> None:
        if impossible == "raise" and np.isneginf(log_evidence).any():
            rows = tuple(np.flatnonzero(np.isneginf(log_evidence)).tolist())
            try:
                cause = conflict(self.network, self.log_evidence, np.asarray(places)[rows[0]])
            except TooLarge:  # with fewer findings less can be left out
                cause = None
            if cause is None:
                raise ImpossibleEvidence("the evidence has probability 0; clear one of its findings", rows)
            if len(places) > 1:
                raise ImpossibleEvidence(
                    "the evidence of {n} row(s) has probability 0; in row {row} these findings exclude each other: "
                    "{findings}; clear one of them",
                    rows,
                    cause.findings,
                )
            raise ImpossibleEvidence(
                "the evidence has probability 0: these findings exclude each other: {findings}; clear one of them",
                rows,
                cause.findings,
            )


@lru_cache(maxsize=64)
def _part(network: Network, kept: tuple[int, ...], together: tuple[str, ...], given: tuple[int, ...]) -> JunctionTree:
    """The tree of some nodes and all above them: a network of its own."""
    return JunctionTree(Network(network.cpts[j] for j in kept), together, given)


_cliques = lru_cache(maxsize=64)(cliques)
"""The shape is made once, also for networks that differ only in their numbers: the steps of EM."""
