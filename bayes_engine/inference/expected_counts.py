"""The E step of a network with cells not known: expected counts of every family, and the rows' log-likelihood. pgmpy's
EM asks for the posterior of each row by itself.

A family whose cells a row shows is counted once and for all. Of the others only those that touch a hidden cell matter:
log p(x) = Σ_{f shown} log φ_f + log Σ_h Π_{f touching h} φ_f, so rows are alike when these cells are (the Markov
blanket of what is hidden), and rows with the same cells hidden are summed out together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.leaf import dot
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.elimination import Potential, marginals
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.logspace import Array, exp
from bayes_engine.progress import steps

PER_CELL = 1e-8
"""Seconds, roughly, that a junction tree takes for a cell of its tables and a distinct row …"""
PER_FAMILY = 2e-4
"""… and that summing out takes for a family of a pattern: the faster way is taken."""


class ExpectedCounts(NamedTuple):
    """Expected counts of the families, each shaped like its table, and Σ w_i log p(x_i) in nats."""

    counts: tuple[Array, ...]
    log_likelihood: float


class _Touching(NamedTuple):
    """A family with hidden cells, in the rows of one pattern: its number, its hidden nodes, its axes with the known
    ones first, and where each row points among the `known` cells."""

    family: int
    scope: tuple[str, ...]
    turn: tuple[int, ...]
    flat: NDArray[np.intp]
    known: int


class _Pattern(NamedTuple):
    """Rows that hide the same cells, alike ones as one, with their weights (m,)."""

    touching: tuple[_Touching, ...]
    weight: Array


@dataclass(frozen=True, eq=False)
class ExpectationStep:
    """Rows `places` (n, d), HIDDEN where not known, with weights (n,), for networks of one shape: the nodes' tables
    have the axes of `scopes` (columns of `places`, the node last) and differ in their numbers."""

    places: NDArray[np.intp]
    weight: Array
    names: tuple[str, ...]
    sizes: Mapping[str, int]
    scopes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, network: Network, places: NDArray[np.intp], weight: Array) -> ExpectationStep:
        """For networks of the shape of this one. A row without weight takes no part."""
        sizes = dict(zip(network.names, network.sizes, strict=True))
        scopes = tuple(network.axes(cpt.scope) for cpt in network.cpts)
        return cls(places[weight > 0], weight[weight > 0], network.names, sizes, scopes)

    def expected(self, network: Network) -> ExpectedCounts:
        """What the rows count under the network's tables. Raises ImpossibleEvidence, TooLarge as the junction tree."""
        tree = junction_tree(network)
        if tree.cost.cells * self._distinct * PER_CELL <= PER_FAMILY * sum(len(p.touching) for p in self._patterns):
            exact = tree.family_marginals(self.places, self.weight)
            return ExpectedCounts(tuple(exact.families[n] for n in self.names), float(self.weight @ exact.log_evidence))
        counts = [shown.copy() for shown in self._shown]
        tables = [cpt.log for cpt in network.cpts]
        total = sum(dot(n, log_p) for n, log_p in zip(self._shown, tables, strict=True))
        for pattern in steps(self._patterns):
            turned = [tables[t.family].transpose(t.turn) for t in pattern.touching]
            potentials = [
                Potential(t.scope, a.reshape(t.known, 1, *a.shape[a.ndim - len(t.scope) :])[t.flat])
                for t, a in zip(pattern.touching, turned, strict=True)
            ]
            log_z, beliefs = marginals(potentials, self.sizes)
            total += float(pattern.weight @ log_z[:, 0])
            for t, a, belief in zip(pattern.touching, turned, beliefs, strict=True):
                p = exp(belief).reshape(len(t.flat), -1) * pattern.weight[:, None]
                added = np.stack([np.bincount(t.flat, column, t.known) for column in p.T], axis=-1)
                counts[t.family] += added.reshape(a.shape).transpose(np.argsort(t.turn))
        return ExpectedCounts(tuple(counts), total)

    @cached_property
    def _shown(self) -> tuple[Array, ...]:
        """The counts of the rows that show a whole family."""
        counts = []
        for scope in self.scopes:
            cells = self.places[:, scope]
            there = (cells != HIDDEN).all(axis=1)
            shape = self._shape(scope)
            flat = np.ravel_multi_index(tuple(cells[there].T), shape)
            counts.append(np.bincount(flat, self.weight[there], int(np.prod(shape))).reshape(shape).astype(float))
        return tuple(counts)

    @cached_property
    def _distinct(self) -> int:
        """How many different rows there are."""
        return len(np.unique(self.places, axis=0))

    @cached_property
    def _patterns(self) -> tuple[_Pattern, ...]:
        """The rows that hide something, by what they hide."""
        hidden, which = np.unique(self.places == HIDDEN, axis=0, return_inverse=True)
        which = np.ravel(which)
        return tuple(self._pattern(np.flatnonzero(which == k), off) for k, off in enumerate(hidden) if off.any())

    def _pattern(self, rows: NDArray[np.intp], off: NDArray[np.bool_]) -> _Pattern:
        families = [j for j, scope in enumerate(self.scopes) if off[list(scope)].any()]
        near = sorted({v for j in families for v in self.scopes[j] if not off[v]})
        cells, back = np.unique(self.places[rows][:, near], axis=0, return_inverse=True)
        weight = np.bincount(np.ravel(back), self.weight[rows], len(cells)).astype(float)
        touched = []
        for j in families:
            scope = self.scopes[j]
            known = [a for a, v in enumerate(scope) if not off[v]]
            free = [a for a, v in enumerate(scope) if off[v]]
            shape = self._shape([scope[a] for a in known])
            places = tuple(cells[:, near.index(scope[a])] for a in known)
            flat = np.ravel_multi_index(places, shape) if known else np.zeros(len(cells), dtype=np.intp)
            names = tuple(self.names[scope[a]] for a in free)
            touched.append(_Touching(j, names, (*known, *free), flat, int(np.prod(shape, dtype=int))))
        return _Pattern(tuple(touched), weight)

    def _shape(self, scope: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.sizes[self.names[v]] for v in scope)
