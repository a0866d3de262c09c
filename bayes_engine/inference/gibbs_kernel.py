"""The Gibbs kernel of a discrete network: one sweep over its hidden nodes, for many chains in step.

A node is drawn from its probabilities given all others, which its Markov blanket alone decides (Geman & Geman 1984):
P(x_j | rest) ∝ P(x_j | pa_j) Π_k P(x_k | pa_k) over its children k. They are a table over the joint places of the
blanket, evidence sliced out. Nodes that are in no other's blanket are drawn at once: one product with a matrix of
strides gives all their rows in the tables, for all chains. A block is drawn node by node, each given those before it,
those after it summed out. Every draw leaves P(hidden | e) as it is, to its 31 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors.network import CPT, HIDDEN, Family, Network, sliced
from bayes_engine.inference.forward_sampling import (
    Places,
    bits,
    checked_evidence,
    resampled,
    thresholds,
    weighted_sample,
)
from bayes_engine.inference.irreducibility import (
    LARGEST,
    Irreducibility,
    aligned,
    blanket_of,
    cells,
    irreducibility,
    tied_blocks,
    tied_nodes,
)
from bayes_engine.logspace import Array, log_sum, normalize
from bayes_engine.priors import checked_whole, checked_word

Scan = Literal["sequential", "textbook", "random"]
SCANS: tuple[Scan, ...] = get_args(Scan)
Start = Literal["weighted", "forward", "consistent"]
STARTS: tuple[Start, ...] = get_args(Start)
Blocks = Sequence[Sequence[str]] | Literal["tied"] | None

TOGETHER = 64
"""Nodes drawn at once at most: the matrix of strides stays small, and its codes below 2²⁴, exact in float32."""
PARTICLES = 100
"""Weighted samples for each chain that starts from them."""
GROUPS = 32
"""Sets of chains with a start of their own; the Monte-Carlo error is read off them."""
TRIES = 20


class GibbsState(NamedTuple):
    """`x` (hidden + 1, chains): the places of the kernel's hidden nodes, a row each, and a last row of ones."""

    x: NDArray[np.float32]
    sweep: int


class GibbsInfo(NamedTuple):
    """What a step did: how many values it drew over all chains, and for how many places that made a difference."""

    updates: int
    changed: int


@dataclass(frozen=True)
class GibbsBlock:
    """Nodes that are drawn together, given their hidden `blanket` (both as columns of the network).

    `tables[i]` (K, S_i) is P(m_i | blanket, m_0 … m_{i−1}) with a row for each joint place, the last one fastest; a
    row of zeros is a place that has no probability. A node whose table would be larger than LARGEST has none.
    """

    members: tuple[int, ...]
    blanket: tuple[int, ...]
    tables: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class _Tabled:
    """Nodes in no other's blanket, those with more levels first: `strides` (n, hidden + 1) give their rows in the
    tables, set end to end; `levels[s]` holds the thresholds of the first nodes, those with more than s + 1 levels."""

    rows: NDArray[np.intp]
    strides: NDArray[np.float32]
    levels: tuple[tuple[int, NDArray[np.uint32]], ...]

    def draw(self, rng: np.random.Generator, x: NDArray[np.float32]) -> None:
        code = (self.strides @ x).astype(np.intp)
        draw = bits(rng, code.shape)
        new = np.zeros(code.shape, dtype=np.uint8)
        for n, level in self.levels:
            new[:n] += draw[:n] >= level.take(code[:n], mode="clip")
        x[self.rows] = new


@dataclass(frozen=True, eq=False)
class _Direct:
    """A node drawn from the rows of its families; the axis of the node is the last of each `log`."""

    row: int
    families: tuple[tuple[tuple[int, ...], Array], ...]

    def draw(self, rng: np.random.Generator, x: NDArray[np.float32]) -> None:
        chains = x.shape[1]
        joint = np.zeros((chains, self.families[0][1].shape[-1]))
        for rows, table in self.families:
            joint += table[tuple(x[r].astype(np.intp) for r in rows)]
        x[self.row] = (bits(rng, (1, chains)) >= thresholds(normalize(joint))).sum(axis=0)


@dataclass(frozen=True, eq=False)
class TransitionKernel:
    """A network under evidence, ready to be stepped. `hidden` are the columns of the state's rows; `units` come in the
    order of a sweep; `stages` are their draws, in groups that a step takes whole."""

    network: Network
    evidence: Places
    scan: Scan
    hidden: tuple[int, ...]
    units: tuple[GibbsBlock, ...]
    stages: tuple[tuple[_Tabled | _Direct, ...], ...]

    @property
    def updates(self) -> int:
        """Values that a sweep draws for one chain."""
        return sum(len(unit.members) for unit in self.units)

    def places(self, state: GibbsState) -> Places:
        """(chains, d) the states with the evidence in its columns."""
        places = np.tile(self.evidence, (state.x.shape[1], 1))
        places[:, list(self.hidden)] = state.x[:-1].T.astype(np.intp)
        return places

    @cached_property
    def irreducibility(self) -> Irreducibility:
        """Whether the moves connect all states."""
        return irreducibility(self.network, self.evidence, [unit.members for unit in self.units])


def compile_gibbs(
    network: Network, evidence: Places, *, scan: Scan = "sequential", blocks: Blocks = None
) -> TransitionKernel:
    """The kernel of `network` given `evidence` (d,), HIDDEN where nothing is known.

    Parameters
    ----------
    scan : "sequential": all nodes once a sweep, those in no other's blanket at once; "textbook": one after another in
        the order of the network (Zhou, fig. 7.5); "random": as many draws, each of a unit picked at random (the same
        for all chains), which is reversible.
    blocks : nodes to draw together, as tuples of names; they may overlap. "tied": such as connect all states, where
        zeros separate them and small enough blocks mend it (`tied_blocks`).

    Raises ParameterError where a block holds a node that is not hidden, or needs a table beyond LARGEST.
    """
    checked_word("scan", scan, SCANS)
    evidence = checked_evidence(network, evidence)
    families = sliced(network, evidence)
    unseen = [j for j in range(len(network.cpts)) if evidence[j] == HIDDEN]
    if blocks == "tied":
        blocks = tied_blocks(network, evidence)
    chosen = [_columns(network, evidence, block) for block in blocks or ()]
    within = {j for block in chosen for j in block}
    members = sorted([*chosen, *((j,) for j in unseen if j not in within)])
    units = [_unit(network, families, m) for m in members]
    hidden = tuple(sorted(unseen, key=lambda j: (-network.sizes[j], j)))
    groups = _coloured(units) if scan == "sequential" else [[unit] for unit in units]
    row = {j: r for r, j in enumerate(hidden)}
    stages = tuple(_stages(group, row, network.sizes, families) for group in groups)
    return TransitionKernel(network, evidence, scan, hidden, tuple(u for group in groups for u in group), stages)


def gibbs_step(rng: np.random.Generator, state: GibbsState, kernel: TransitionKernel) -> tuple[GibbsState, GibbsInfo]:
    """One sweep of every chain."""
    x = state.x.copy()
    order = range(len(kernel.stages))
    picked = rng.integers(0, len(order), len(order)).tolist() if kernel.scan == "random" and order else order
    for g in picked:
        for stage in kernel.stages[g]:
            stage.draw(rng, x)
    return GibbsState(x, state.sweep + 1), GibbsInfo(kernel.updates * x.shape[1], int(np.count_nonzero(x != state.x)))


def start(kernel: TransitionKernel, rng: np.random.Generator, chains: int, how: Start = "weighted") -> GibbsState:
    """Where the chains begin: a state of positive probability each, the evidence clamped.

    "consistent" (the textbook's): uniform over the states that agree with the evidence and are possible. "forward": the
    hidden nodes from their parents, as if the evidence told nothing. "weighted": such samples, PARTICLES for each
    chain, resampled by their likelihood weights, in GROUPS sets that share none: next to P(hidden | e) where the
    evidence is not too rare. Short chains keep the bias of the first two. With zeros that tie too many nodes to look
    through, a uniform start takes each level that its parents allow with equal probability.

    Raises ParameterError where no possible state is found.
    """
    checked_word("start", how, STARTS)
    checked_whole("chains", chains, 1)
    x = np.ones((len(kernel.hidden) + 1, chains), dtype=np.float32)
    hidden = list(kernel.hidden)
    if how == "consistent":
        x[:-1] = _consistent(kernel, rng, chains)[hidden]
        return GibbsState(x, 0)
    many = PARTICLES if how == "weighted" else TRIES
    drawn, weight = weighted_sample(kernel.network, kernel.evidence, chains * many, rng)
    for group in groups_of(chains):
        own = slice(group[0] * many, (group[-1] + 1) * many)
        possible = np.flatnonzero(weight[own] > -np.inf)
        if how == "weighted" and len(possible):
            kept = resampled(rng, weight[own], len(group))
        elif len(possible) >= len(group):
            kept = possible[: len(group)]
        else:
            x[:-1, group] = _consistent(kernel, rng, len(group))[hidden]
            continue
        x[:-1, group] = drawn[hidden, own][:, kept]
    return GibbsState(x, 0)


def groups_of(chains: int) -> list[NDArray[np.intp]]:
    """The chains in sets that start independently."""
    return np.array_split(np.arange(chains), min(GROUPS, chains))


def conditional(network: Network, j: int, places: Places) -> Array:
    """(n, S_j) P(x_j | all other places) of rows (n, d): ∝ P(x_j | pa_j) Π_k P(x_k | pa_k) over the children k.

    A row of zeros where no level is possible.
    """
    joint = np.zeros((len(places), network.sizes[j]))
    for cpt in network.cpts:
        axes = network.axes(cpt.scope)
        if j in axes:
            table = np.moveaxis(cpt.log, axes.index(j), -1)
            joint += table[tuple(places[:, k] for k in axes if k != j)]
    return normalize(joint)


def _consistent(kernel: TransitionKernel, rng: np.random.Generator, n: int) -> Places:
    """(d, n) uniform over the possible states, or as near to it as `start` says."""
    network = kernel.network
    tied = tied_nodes(network, sliced(network, kernel.evidence))
    x = np.array([rng.integers(0, size, n) for size in network.sizes], dtype=np.intp)
    seen = kernel.evidence != HIDDEN
    x[seen] = kernel.evidence[seen, None]
    if all(tie.possible is not None for tie in tied):
        for tie in tied:
            assert tie.possible is not None
            x[list(tie.nodes)] = np.unravel_index(rng.choice(tie.possible, n), tie.sizes)
        return x
    flat = [(c.p > 0) / (c.p > 0).sum(axis=-1, keepdims=True) for c in network.cpts]
    even = Network(CPT(c.variable, c.parents, p) for c, p in zip(network.cpts, flat, strict=True))
    states = np.zeros((len(network.cpts), 0), dtype=np.intp)
    for _ in range(TRIES):
        drawn, weight = weighted_sample(even, kernel.evidence, max(n, 10_000), rng)
        states = np.concatenate([states, drawn[:, weight > -np.inf].astype(np.intp)], axis=1)
        if states.shape[1] >= n:
            return states[:, :n]
    if states.shape[1]:
        return states[:, rng.integers(0, states.shape[1], n)]
    raise ParameterError(
        "no state that agrees with the evidence was found in {n} tries: it is impossible, or too rare to start from",
        n=TRIES * max(n, 10_000),
    )


def _columns(network: Network, evidence: Places, block: Sequence[str]) -> tuple[int, ...]:
    columns = {network.position[network[name].name] for name in block}
    for j in columns:
        if evidence[j] != HIDDEN:
            raise ParameterError("'{name}' is in the evidence; a block holds hidden nodes only", name=network.names[j])
    return tuple(sorted(columns))


def _unit(network: Network, families: Sequence[Family], members: tuple[int, ...]) -> GibbsBlock:
    blanket = blanket_of(families, members)
    size = cells(network, families, members)
    if size > LARGEST and len(members) == 1:
        return GibbsBlock(members, blanket, ())
    if size > LARGEST:
        raise ParameterError(
            "drawing {block} together needs a table of {cells:.0f} cells, more than {most}; choose smaller blocks",
            block=", ".join(f"'{network.names[j]}'" for j in members),
            cells=size,
            most=LARGEST,
        )
    axes = (*blanket, *members)
    joint = np.zeros([network.sizes[j] for j in axes])
    for f in families:
        if set(f.scope) & set(members):
            joint += aligned(f, axes, network.sizes)
    tables: list[Array] = []
    for j in reversed(members):
        tables.insert(0, normalize(joint.reshape(-1, network.sizes[j])))
        joint = log_sum(joint)
    return GibbsBlock(members, blanket, tuple(tables))


def _coloured(units: Iterable[GibbsBlock]) -> list[list[GibbsBlock]]:
    """The units in groups such that no member of one is in another or its blanket: drawing a group at once is drawing
    it in any order."""
    groups: list[tuple[list[GibbsBlock], set[int], set[int]]] = []
    for unit in units:
        inside, touched = set(unit.members), {*unit.members, *unit.blanket}
        for group, members, reach in groups:
            free = not (members & touched or inside & reach)
            if free and unit.tables and group[0].tables and len(members) + len(inside) <= TOGETHER:
                break
        else:
            group, members, reach = [], set(), set()
            groups.append((group, members, reach))
        group.append(unit)
        members |= inside
        reach |= touched
    return [group for group, _, _ in groups]


def _stages(
    group: Sequence[GibbsBlock], row: dict[int, int], sizes: Sequence[int], families: Sequence[Family]
) -> tuple[_Tabled | _Direct, ...]:
    """The draws of a group: first the first members of all its units, then the second ones, …"""
    if not group[0].tables:
        j = group[0].members[0]
        mine = [f for f in families if j in f.scope]
        others = [tuple(row[k] for k in f.scope if k != j) for f in mine]
        last = [np.moveaxis(f.log, f.scope.index(j), -1) for f in mine]
        return (_Direct(row[j], tuple(zip(others, last, strict=True))),)
    stages = []
    for i in range(max(len(unit.members) for unit in group)):
        there = [unit for unit in group if len(unit.members) > i]
        there.sort(key=lambda unit: row[unit.members[i]])  # rows come by falling number of levels
        strides = np.zeros((len(there), len(row) + 1), dtype=np.float32)
        begin = 0
        for line, unit in zip(strides, there, strict=True):
            line[-1] = begin
            step = 1
            for k in reversed((*unit.blanket, *unit.members[:i])):
                line[row[k]] = step
                step *= sizes[k]
            begin += step
        cut = [thresholds(unit.tables[i]) for unit in there]
        levels = []
        for s in range(max(len(c) for c in cut)):
            longer = [c[s] for c in cut if len(c) > s]
            levels.append((len(longer), np.concatenate(longer)))
        rows = np.array([row[unit.members[i]] for unit in there], dtype=np.intp)
        stages.append(_Tabled(rows, strides, tuple(levels)))
    return tuple(stages)
