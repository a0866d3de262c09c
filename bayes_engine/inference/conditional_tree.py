"""Exact inference for one set of findings: a junction tree that is calibrated without any is a product of
conditionals, P(x) = P(C_r) Π_k P(C_k | S_k), seen from any clique r (Lauritzen & Spiegelhalter 1988; Koller &
Friedman, §10.4). Messages then start at findings alone, since all others are sums of a conditional, 1.

A clique's table is sliced at the findings, where many rows together are multiplied with indicators (message_passing).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.inference.message_levels import LEAST, MOST_INDICES, MessageLevels, RootedClique, index_cells
from bayes_engine.inference.path_messages import Memory, PathMessages
from bayes_engine.inference.triangulate import Clique, cells
from bayes_engine.logspace import Array

WHOLE = slice(None)


JOINED = 256
"""Neighbouring cliques whose joint table has at most so many cells are one: a call of NumPy takes longer than these."""


class CliqueTable(NamedTuple):
    """P(C_k) over the nodes of `scope`, in ascending order."""

    scope: tuple[int, ...]
    p: Array


class Step(NamedTuple):
    """A clique on the way to the root: P(C_k | S_k) over `scope`; `at` takes what belongs to its nodes from a list with
    an entry for every node. `own` are the axes summed out, `separator` the nodes left, `lacks` the axes that these lack
    of the clique before it, at `toward`; a message spreads over that one or this by new axes."""

    conditional: Array
    scope: tuple[int, ...]
    at: Callable[[list[Any]], Any]
    own: tuple[int, ...]
    separator: tuple[int, ...]
    toward: int
    lacks: tuple[int, ...]
    outward: tuple[Any, ...]
    inward: tuple[Any, ...]


class Rooted(NamedTuple):
    """The tree seen from the clique `root`, which is the first of its `steps`, each behind that which it goes to; for
    each node the steps from the first that holds it to the root, as bits."""

    root: int
    steps: list[Step]
    ways: list[int]


class Evidence(NamedTuple):
    """Collected at the root: the sliced tables (with what came to them) and messages of the steps that have a finding
    at them or behind them, and where each node is sliced."""

    tables: dict[int, Array]
    messages: dict[int, Array]
    slices: list[slice]


class ConditionalTree:
    """`cliques` of nodes of these `sizes` with P(C_k), each (*sizes), without evidence.

    >>> ab, b = Clique((0, 1), 1, 1), Clique((1,), 1, -1)
    >>> tree = ConditionalTree([ab, b], (2, 2), [np.array([[0.1, 0.3], [0.4, 0.2]]), np.array([0.5, 0.5])])
    >>> p_evidence, p = tree.posterior((1,), {0: 1})
    >>> round(p_evidence, 4), p.round(4).tolist()
    (0.6, [0.6667, 0.3333])
    """

    def __init__(self, cliques: Sequence[Clique], sizes: Sequence[int], beliefs: Sequence[Array]) -> None:
        self._sizes = sizes
        ordered = [b.transpose(np.argsort(c.scope)) for c, b in zip(cliques, beliefs, strict=True)]
        tables = [CliqueTable(tuple(sorted(c.scope)), b) for c, b in zip(cliques, ordered, strict=True)]
        last = len(cliques) - 1  # components meet in the last root, by an empty separator
        toward = [c.parent if c.parent >= 0 else last for c in cliques[:last]]
        self._tables, self._near = _joined(tables, toward, sizes)
        self._rooted: dict[int, Rooted] = {}
        self._slices = [[slice(place, place + 1) for place in range(size)] for size in sizes]
        self._paths: dict[int, PathMessages | None] = {}
        self._memory = Memory()
        self._home = [last] * len(sizes)
        for k in sorted(self._tables, key=lambda k: -self._tables[k].p.size):
            for v in self._tables[k].scope:
                self._home[v] = k

    def posterior(self, targets: tuple[int, ...], findings: Mapping[int, int]) -> tuple[float, Array] | None:
        """P(e) and P(targets | e), an axis for each in their order, of the `findings` by node; None where no clique
        holds them all, or the evidence is less probable than LEAST."""
        wanted = set(targets)
        if len(targets) == 1:
            home = self._home[targets[0]]
        else:
            homes = [k for k, table in self._tables.items() if wanted <= set(table.scope)]
            if not homes:
                return None
            home = min(homes, key=lambda k: self._tables[k].p.size)
        paths = self._paths_to(home)
        joint = self._joint_by_clique(home, targets, findings) if paths is None else paths.joint(targets, findings)
        total = float(np.add.reduce(joint))
        if not total >= LEAST:
            return None
        joint = joint / total
        return total, joint if len(targets) < 2 else joint.reshape([self._sizes[v] for v in targets])

    def _paths_to(self, home: int) -> PathMessages | None:
        """None where cliques are so large that it pays to slice them."""
        if home not in self._paths:
            cliques = self._rooted_cliques(home)
            pays = PathMessages.pays(cliques, self._sizes)
            self._paths[home] = PathMessages(cliques, self._sizes, self._memory, home) if pays else None
        return self._paths[home]

    def _joint_by_clique(self, home: int, targets: tuple[int, ...], findings: Mapping[int, int]) -> Array:
        """(cells of the targets,) P(targets, e), with tables sliced at the findings."""
        scope = self._tables[home].scope
        table = self._collected(self._from(home), findings).tables[0]
        summed = np.add.reduce(table, axis=tuple([a for a, v in enumerate(scope) if v not in targets]))
        kept = [v for v in scope if v in targets]
        joint = np.zeros([self._sizes[v] for v in kept])
        where = tuple([self._slices[v][findings[v]] if v in findings else WHOLE for v in kept])
        joint[where] = summed
        return joint.transpose([kept.index(v) for v in targets]).reshape(-1)

    def marginals(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """P(e) and P(x_j | e) (S_j,) of every node; None where the evidence is less probable than LEAST."""
        return self._marginals_by_clique(findings) if self._levels is None else self._levels.marginals(findings)

    @cached_property
    def _levels(self) -> MessageLevels | None:
        """None where cliques are so large that few calls do not make up for every cell of them."""
        cliques = self._rooted_cliques(max(self._tables))
        if index_cells(cliques) > MOST_INDICES:
            return None
        home = {v: i for i, c in enumerate(cliques) for v in c.own}
        return MessageLevels(cliques, self._sizes, [home[v] for v in range(len(self._sizes))])

    def _rooted_cliques(self, root: int) -> list[RootedClique]:
        cliques = []
        for step in self._from(root).steps:
            own = tuple([step.scope[a] for a in step.own])
            axes = [step.scope.index(v) for v in (*step.separator, *own)]
            cliques.append(RootedClique(step.conditional.transpose(axes), step.separator, own, step.toward))
        return cliques

    def _marginals_by_clique(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """The same with tables sliced at the findings, which pays where cliques are large."""
        rooted = self._from(max(self._tables))
        tables, messages, slices = self._collected(rooted, findings)
        total = float(tables[0].sum())
        if not total >= LEAST:
            return None
        beliefs = [tables[0] / total]
        margins: list[Array | None] = [None] * len(self._sizes)
        for i, step in enumerate(rooted.steps):
            if i:
                outer = np.add.reduce(beliefs[step.toward], axis=step.lacks)
                if i in tables:
                    table, message = tables[i], messages[i]
                    outer = outer / (message + (message == 0.0))
                else:
                    table = step.conditional[step.at(slices)]
                beliefs.append(table * outer[step.inward])
            for axis, v in enumerate(step.scope):
                if margins[v] is None and slices[v] is WHOLE:
                    margins[v] = np.add.reduce(beliefs[i], axis=tuple([a for a in range(len(step.scope)) if a != axis]))
        for v, place in findings.items():
            margins[v] = certain = np.zeros(self._sizes[v])
            certain[place] = 1.0
        return total, [p for p in margins if p is not None]

    def _collected(self, rooted: Rooted, findings: Mapping[int, int]) -> Evidence:
        slices, way = [WHOLE] * len(self._sizes), 1
        for v, place in findings.items():
            slices[v] = self._slices[v][place]
            way |= rooted.ways[v]
        tables: dict[int, Array] = {}
        messages: dict[int, Array] = {}
        while way:
            i = way.bit_length() - 1
            way ^= 1 << i
            step = rooted.steps[i]
            table = tables.get(i)
            if table is None:
                table = tables[i] = step.conditional[step.at(slices)]
            if i:
                message = messages[i] = np.add.reduce(table, axis=step.own)
                outer = tables.get(step.toward)
                if outer is None:
                    before = rooted.steps[step.toward]
                    outer = before.conditional[before.at(slices)]
                tables[step.toward] = outer * message[step.outward]
        return Evidence(tables, messages, slices)

    def _from(self, root: int) -> Rooted:
        if root in self._rooted:
            return self._rooted[root]
        order, toward = [root], {root: -1}
        for k in order:
            for other in self._near[k]:
                if other not in toward:
                    toward[other] = k
                    order.append(other)
        place = {k: i for i, k in enumerate(order)}
        steps: list[Step] = []
        bits: list[int] = []
        ways = [0] * len(self._sizes)
        for i, k in enumerate(order):
            (scope, belief), to = self._tables[k], toward[k]
            above = self._tables[to].scope if i else ()
            own = tuple(a for a, v in enumerate(scope) if v not in above)
            steps.append(
                Step(
                    _conditional(belief, own) if i else belief,
                    scope,
                    _taking(scope),
                    own,
                    tuple(v for v in scope if v in above),
                    place[to] if i else -1,
                    tuple(a for a, v in enumerate(above) if v not in scope),
                    tuple(WHOLE if v in scope else None for v in above),
                    tuple(WHOLE if v in above else None for v in scope),
                )
            )
            bits.append((1 << i) | (bits[place[to]] if i else 0))
            for v in scope:
                ways[v] = ways[v] or bits[i]
        return self._rooted.setdefault(root, Rooted(root, steps, ways))


def _taking(scope: tuple[int, ...]) -> Callable[[list[Any]], Any]:
    """What takes the entries of these nodes from a list of one for every node, as a tuple."""
    return itemgetter(*scope) if len(scope) > 1 else lambda entries: tuple([entries[v] for v in scope])


def _conditional(p: Array, own: tuple[int, ...]) -> Array:
    """P(C) given what is not `own`; 0 where that has the probability 0."""
    given = p.sum(axis=own, keepdims=True)
    return np.asarray(p / (given + (given == 0.0)))


def _joined(
    tables: list[CliqueTable], toward: Sequence[int], sizes: Sequence[int]
) -> tuple[dict[int, CliqueTable], dict[int, list[int]]]:
    """The tables by clique, and the neighbours of each, once small ones are joined to that which they go `toward`."""
    last = len(toward)
    gone = set()
    for k, other in enumerate(toward):
        (scope, p), (added, q) = tables[other], tables[k]
        both = tuple(sorted({*scope, *added}))
        if cells(both, sizes) <= JOINED:
            q = _conditional(q, tuple(a for a, v in enumerate(added) if v not in scope))
            first, second = (tuple(WHOLE if v in of else None for v in both) for of in (scope, added))
            tables[other] = CliqueTable(both, p[first] * q[second])
            gone.add(k)
    near: dict[int, list[int]] = {last: []}
    within = {last: last}
    for k in reversed(range(last)):
        within[k] = within[toward[k]] if k in gone else k
        if k not in gone:
            near[k] = [within[toward[k]]]
            near[near[k][0]].append(k)
    return {k: tables[k] for k in near}, near
