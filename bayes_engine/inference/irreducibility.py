"""Which states a Gibbs chain can come to: what zeros in the tables tie together, and blocks that connect them.

Zhou (§7.5.3) warns that with probabilities of 0 or 1 the chain may have no single stationary distribution, and n_q / T
is then wrong. Here that is decided, not guessed, wherever the tied nodes are few enough to write out their states, or
become so when nodes that block no move are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayes_engine.errors import ImpossibleEvidence
from bayes_engine.factors.network import Family, Network, sliced
from bayes_engine.inference.forward_sampling import Places, checked_evidence
from bayes_engine.logspace import Array, log
from bayes_engine.stats.counts import as_one

LARGEST = 2**18
"""Cells of one table at most: a node with a larger blanket is drawn from its families' rows instead."""
ENUMERATED = 2**18
"""Joint states of tied nodes that are looked through for communicating classes."""
MERGED = 2**14
"""Joint places of a node and all that zeros tie it to directly, at most, for it to be taken out."""


class CommunicatingClass(NamedTuple):
    """States that the moves connect: how many, and one of them, {node: level}."""

    states: int
    example: dict[str, object]


@dataclass(frozen=True)
class Irreducibility:
    """Whether a chain can come from any possible state to any other.

    `kind` is "positive": no zero is in the way of any draw; "connected": there are zeros, but looking through the joint
    places of the nodes they tie has shown a way between any two; "reducible": there is none between the
    `communicating_classes` of the nodes `tied`; "unknown": the nodes `tied` have more than ENUMERATED joint places,
    which were not looked through. The first three are exact.
    """

    kind: Literal["positive", "connected", "reducible", "unknown"]
    tied: tuple[str, ...] = ()
    communicating_classes: tuple[CommunicatingClass, ...] = ()

    @property
    def ergodic(self) -> bool:
        """Known to be: irreducible, and aperiodic since every draw may leave a value as it is."""
        return self.kind in ("positive", "connected")


def irreducibility(network: Network, evidence: Places, members: Iterable[Sequence[int]]) -> Irreducibility:
    """Whether draws of these units (columns) connect all possible states.

    Only a zero in a table can separate states. Nodes in no table with a zero (evidence sliced out) can take any level
    at any time; the others fall into sets that zeros tie, directly or through one another. The possible states are the
    product of the sets', so they are connected if each set's are: there, two states are neighbours that differ inside
    one unit. A set too large to write out is made smaller first, by leaving out nodes that block no move (`_smaller`).
    Raises ImpossibleEvidence where a set has no possible state: then the evidence has none.
    """
    evidence = checked_evidence(network, evidence)
    units = [tuple(m) for m in members]
    kind: Literal["positive", "connected", "unknown"] = "positive"
    unknown: tuple[str, ...] = ()
    tied_groups = tied_nodes(network, sliced(network, evidence))
    if tied_groups:
        kind = "connected"
    for tie in (piece for whole in tied_groups for piece in _smaller(network, whole, units)):
        names = tuple(network.names[j] for j in tie.nodes)
        if tie.possible is None:
            kind, unknown = "unknown", unknown or names
            continue
        label = _communicating_classes(tie, units)
        classes = [np.flatnonzero(label == k) for k in range(label.max() + 1)]
        if len(classes) > 1:
            first = [(len(digits), tie.digits(digits[0])) for digits in sorted(classes, key=len, reverse=True)]
            levels = [network[name].variable.levels for name in names]
            shown = (
                CommunicatingClass(n, {k: v[i] for k, v, i in zip(names, levels, digits, strict=True)})
                for n, digits in first
            )
            return Irreducibility("reducible", names, tuple(shown))
    return Irreducibility(kind, unknown)


def tied_blocks(network: Network, evidence: Places) -> tuple[tuple[str, ...], ...]:
    """Blocks that connect the states of every set of tied nodes that single draws leave apart: the first that are seen
    to do it of each parent with its child where states do not communicate; all nodes whose states do not; each parent
    with its child in all tables with zeros; the whole of such tables; the whole set. Where none is, the first, which
    may help a little."""
    evidence = checked_evidence(network, evidence)
    families = sliced(network, evidence)
    groups: list[tuple[int, ...]] = []
    for tie in tied_nodes(network, families):
        single = [(j,) for j in tie.nodes]
        if _connected(network, tie, single):
            continue
        parted = [
            p.nodes
            for p in _smaller(network, tie, single)
            if p.possible is None or _communicating_classes(p, single).max()
        ]
        scopes = [f.scope for f in tie.families if len(f.scope) > 1]
        pairs = [(parent, scope[-1]) for scope in scopes for parent in scope[:-1]]
        near = [pair for pair in pairs if any(set(pair) <= set(nodes) for nodes in parted)]
        choices = [
            [block for block in dict.fromkeys(blocks) if cells(network, families, block) <= LARGEST]
            for blocks in (near, parted, pairs, scopes, [tie.nodes])
        ]
        best = (choice for choice in choices if choice and _connected(network, tie, [*choice, *single]))
        groups += next(best, choices[0])
    return tuple(tuple(network.names[j] for j in sorted(block)) for block in dict.fromkeys(groups))


@dataclass(frozen=True, eq=False)
class TiedNodes:
    """Nodes that zeros tie: `possible` are their joint places of positive probability, as numbers; None: too many."""

    nodes: tuple[int, ...]
    sizes: tuple[int, ...]
    families: tuple[Family, ...]
    possible: Places | None

    def digits(self, state: int) -> Places:
        """The places of the nodes in one of the possible states."""
        assert self.possible is not None
        return np.array(np.unravel_index(self.possible[state], self.sizes), dtype=np.intp)


def tied_nodes(network: Network, families: Sequence[Family]) -> list[TiedNodes]:
    """The sets of hidden nodes that zeros tie; raises where one of them has no possible state."""
    zero = [f for f in families if np.isneginf(f.log).any()]
    sets: list[set[int]] = []
    for f in zero:
        touching = [s for s in sets if s & set(f.scope)]
        sets = [s for s in sets if s not in touching] + [set(f.scope).union(*touching)]
    tied = []
    for nodes in sorted(sorted(s) for s in sets):
        sizes = tuple(network.sizes[j] for j in nodes)
        mine = tuple(f for f in zero if set(f.scope) <= set(nodes))
        possible = None
        if np.prod(sizes, dtype=float) <= ENUMERATED:
            joint = np.zeros(sizes)
            for f in mine:
                joint = joint + aligned(f, nodes, network.sizes)
            possible = np.flatnonzero(joint > -np.inf)
            if not len(possible):
                raise ImpossibleEvidence(
                    "the evidence is impossible: no state of {nodes} agrees with it",
                    nodes=", ".join(f"'{network.names[j]}'" for j in nodes) or "the network",
                )
        tied.append(TiedNodes(tuple(nodes), sizes, mine, possible))
    return tied


def certain(network: Network, evidence: Places) -> frozenset[int]:
    """The hidden nodes (columns) to which zeros leave one level only, as far as the states are written out.

    >>> from bayes_engine.factors.network import CPT
    >>> from bayes_engine.table.schema import Variable
    >>> coin, copy = (Variable(name, "categorical", ("tails", "heads")) for name in ("coin", "copy"))
    >>> network = Network([CPT(coin, (), [0.5, 0.5]), CPT(copy, (coin,), [[1.0, 0.0], [0.0, 1.0]])])
    >>> sorted(certain(network, network.places({"coin": "heads"})))
    [1]
    """
    settled = {j for j, size in enumerate(network.sizes) if size == 1}
    for tie in tied_nodes(network, sliced(network, evidence)):
        if tie.possible is not None and tie.nodes:
            places = np.unravel_index(tie.possible, tie.sizes)
            settled |= {j for j, place in zip(tie.nodes, places, strict=True) if np.ptp(place) == 0}
    return frozenset(settled)


def _connected(network: Network, tie: TiedNodes, units: Sequence[Sequence[int]]) -> bool:
    """Whether the units are known to connect the states of the tie."""
    return all(
        piece.possible is not None and _communicating_classes(piece, units).max() == 0
        for piece in _smaller(network, tie, units)
    )


def _smaller(network: Network, tie: TiedNodes, units: Sequence[Sequence[int]]) -> list[TiedNodes]:
    """The tie; of one too large to write out, what is left when nodes that block no move are taken out, cheapest first.

    A node v blocks no move if for any two states of the others that are neighbours and possible (with some level of
    v each) one level of v is possible with both: v goes there first, then the others move. So the states are connected
    exactly if those of the others are, where a state of the others is possible if it is with some level of v.
    """
    families = list(tie.families)
    pieces = [tie]
    while any(piece.possible is None for piece in pieces):
        large = {j for piece in pieces if piece.possible is None for j in piece.nodes}
        size = {j: cells(network, families, (j,)) for j in sorted(large)}
        cheap = sorted((j for j in size if size[j] <= MERGED), key=size.__getitem__)
        tried = (_without(network, families, j, units) for j in cheap)
        left = next((rest for rest in tried if rest is not None), None)
        if left is None:
            break
        families = left
        pieces = tied_nodes(network, families)
    return pieces


def _without(
    network: Network, families: Sequence[Family], v: int, units: Sequence[Sequence[int]]
) -> list[Family] | None:
    """The families with v taken out; None where v blocks a move."""
    mine = [f for f in families if v in f.scope]
    others = blanket_of(families, (v,))
    axes = (*others, v)
    allowed = np.ones([network.sizes[j] for j in axes], dtype=bool)
    for f in mine:
        allowed &= aligned(f, axes, network.sizes) > -np.inf
    for unit in units:
        moved = [a for a, j in enumerate(others) if j in unit]
        if moved and v not in unit:
            table = np.moveaxis(allowed, moved, range(-1 - len(moved), -1)).astype(np.float32)
            table = table.reshape(-1, math.prod(table.shape[-1 - len(moved) : -1]), table.shape[-1])
            some = np.any(table, axis=-1)
            if (some[:, :, None] & some[:, None, :] & (table @ table.swapaxes(1, 2) == 0)).any():
                return None
    left = np.asarray(allowed.any(axis=-1), dtype=float)
    return [*(f for f in families if v not in f.scope), Family(others, log(left))]


def _communicating_classes(tie: TiedNodes, units: Iterable[Sequence[int]]) -> NDArray[np.intp]:
    """(n,) for each possible state the number of its communicating class."""
    assert tie.possible is not None
    n = len(tie.possible)
    places = np.unravel_index(tie.possible, tie.sizes) if tie.nodes else ()
    links: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for unit in {tuple(j for j in unit if j in tie.nodes) for unit in units} - {()}:
        others = [a for a, j in enumerate(tie.nodes) if j not in unit]
        rest = as_one((places[a] for a in others), [tie.sizes[a] for a in others], n)
        order = np.argsort(rest, kind="stable")
        same = rest[order[1:]] == rest[order[:-1]]
        links.append((order[1:][same], order[:-1][same]))
    a, b = (np.concatenate([link[k] for link in links] or [np.zeros(0, dtype=np.intp)]) for k in range(2))
    _, label = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)
    return np.asarray(label, dtype=np.intp)


def aligned(family: Family, axes: Sequence[int], sizes: Sequence[int]) -> Array:
    """The family's table with an axis for each of `axes`, of length 1 where it does not depend on it."""
    order = sorted(range(len(family.scope)), key=lambda a: axes.index(family.scope[a]))
    shape = [sizes[j] if j in family.scope else 1 for j in axes]
    return family.log.transpose(order).reshape(shape)


def blanket_of(families: Iterable[Family], members: Sequence[int]) -> tuple[int, ...]:
    """The hidden nodes in a family with one of the members."""
    inside = set(members)
    return tuple(sorted({j for f in families if inside & set(f.scope) for j in f.scope} - inside))


def cells(network: Network, families: Sequence[Family], members: Sequence[int]) -> float:
    """How large the tables of a unit are."""
    return float(np.prod([network.sizes[j] for j in (*blanket_of(families, members), *members)], dtype=float))
