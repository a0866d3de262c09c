"""Exact inference for one set of findings: a junction tree that is calibrated without any is a product of
conditionals, P(x) = P(C_r) Π_k P(C_k | S_k), seen from any clique r (Lauritzen & Spiegelhalter 1988; Koller &
Friedman, §10.4). Messages then start at findings alone, since all others are sums of a conditional, 1.

A clique's table is sliced at the findings, where many rows together are multiplied with indicators (message_passing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.inference.triangulate import Clique, cells
from bayes_engine.logspace import Array

LEAST = 1e-250
"""Evidence less probable than this is left to logarithms: conditionals given what has a probability of 1e-300 have lost
digits, and they may carry weight only where the evidence is about as improbable."""
WHOLE = slice(None)


JOINED = 256
"""Neighbouring cliques whose joint table has at most so many cells are one: a call of NumPy takes longer than these."""


class CliqueTable(NamedTuple):
    """P(C_k) over the nodes of `scope`, in ascending order."""

    scope: tuple[int, ...]
    p: Array


class Step(NamedTuple):
    """A clique on the way to the root: P(C_k | S_k) over `scope`; `own` are the axes summed out, `lacks` those that its
    separator has not of the clique before it, at `toward`; a message spreads over that one or this by new axes."""

    conditional: Array
    scope: tuple[int, ...]
    own: tuple[int, ...]
    toward: int
    lacks: tuple[int, ...]
    outward: tuple[Any, ...]
    inward: tuple[Any, ...]


class Rooted(NamedTuple):
    """The tree seen from one clique, which is the first of its `steps`, each behind that which it goes to; for each
    node the steps from the first that holds it to the root, as bits."""

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
        tables, _, slices = self._collected(rooted := self._from(home), findings)
        scope = rooted.steps[0].scope
        joint = np.add.reduce(tables[0], axis=tuple([a for a, v in enumerate(scope) if v not in wanted]))
        total = float(joint.sum())
        if not total >= LEAST:
            return None
        joint = np.asarray(joint / total)
        kept = [v for v in scope if v in wanted]
        if any(slices[v] is not WHOLE for v in kept):
            sliced, joint = joint, np.zeros([self._sizes[v] for v in kept])
            joint[tuple([slices[v] for v in kept])] = sliced
        return total, joint if len(kept) < 2 else joint.transpose([kept.index(v) for v in targets])

    def marginals(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """P(e) and P(x_j | e) (S_j,) of every node; None where the evidence is less probable than LEAST."""
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
                    table = step.conditional[tuple([slices[v] for v in step.scope])]
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
            slices[v] = slice(place, place + 1)
            way |= rooted.ways[v]
        tables: dict[int, Array] = {}
        messages: dict[int, Array] = {}
        while way:
            i = way.bit_length() - 1
            way ^= 1 << i
            step = rooted.steps[i]
            table = tables.get(i)
            if table is None:
                table = tables[i] = step.conditional[tuple([slices[v] for v in step.scope])]
            if i:
                message = messages[i] = np.add.reduce(table, axis=step.own)
                outer = tables.get(step.toward)
                if outer is None:
                    before = rooted.steps[step.toward]
                    outer = before.conditional[tuple([slices[v] for v in before.scope])]
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
                    own,
                    place[to] if i else -1,
                    tuple(a for a, v in enumerate(above) if v not in scope),
                    tuple(WHOLE if v in scope else None for v in above),
                    tuple(WHOLE if v in above else None for v in scope),
                )
            )
            bits.append((1 << i) | (bits[place[to]] if i else 0))
            for v in scope:
                ways[v] = ways[v] or bits[i]
        return self._rooted.setdefault(root, Rooted(steps, ways))


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
