"""Messages in a junction tree: evidence collected to the roots and distributed again (Lauritzen & Spiegelhalter 1988;
Jensen, Lauritzen & Olesen 1990), in probabilities, in logarithms, or with the largest in place of the sum (Dawid 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.forward_sampling import Places
from bayes_engine.inference.triangulate import Clique
from bayes_engine.logspace import Array, exp, log, log_sum

TIE = 1e-9
"""Explanations whose log-probabilities differ by less, in nats, are equally probable."""


class Algebra(NamedTuple):
    """How potentials are multiplied, divided (0/0 = 0) and added up over axes, and what they are as probabilities."""

    times: Callable[..., Array]
    over: Callable[[Array, Array], Array]
    total: Callable[[Array, Any], Array]
    log: Callable[[Array], Array]
    probability: Callable[[Array], Array]
    of_log: bool


class Tables(NamedTuple):
    """The product of each clique's own tables, and how such products are reckoned with."""

    algebra: Algebra
    base: list[Array]


def _quotient(a: Array, b: Array) -> Array:
    return np.asarray(a / (b + (b == 0.0)))


def _difference(a: Array, b: Array) -> Array:
    return a - np.where(np.isneginf(b), 0.0, b)


def _same(a: Array) -> Array:
    return a


SUM = Algebra(np.multiply, _quotient, np.add.reduce, log, _same, False)
LOG_SUM = Algebra(np.add, _difference, log_sum, _same, exp, True)
LARGEST = LOG_SUM._replace(total=np.maximum.reduce)


class MessagePlan(NamedTuple):
    """How messages go in a tree of `cliques` over nodes of these `sizes`. For each clique: its children with the shape
    in which their messages spread over it, where its own nodes' findings are entered, which tables each row slices (a
    table, its columns and the shape of the slice), and which axes of its parent its separator lacks."""

    cliques: Sequence[Clique]
    sizes: Sequence[int]
    family_home: list[int]
    children: list[list[tuple[int, tuple[int, ...]]]]
    findings: list[list[tuple[int, tuple[int, ...]]]]
    slices: list[list[tuple[Array, tuple[int, ...], tuple[int, ...]]]]
    lacks: list[tuple[int, ...]]
    one_hot: dict[int, tuple[Array, Array]]


def message_plan(network: Network, tree: Sequence[Clique], given: frozenset[int]) -> MessagePlan:
    """The plan of a tree, where the columns `given` are known in every row."""
    sizes = network.sizes
    gone = {v: k for k, c in enumerate(tree) for v in c.scope[: c.own]}
    children: list[list[tuple[int, tuple[int, ...]]]] = [[] for _ in tree]
    lacks: list[tuple[int, ...]] = []
    for k, c in enumerate(tree):
        above = tree[c.parent].scope if c.parent >= 0 else ()
        lacks.append(tuple(a for a, v in enumerate(above) if v not in c.separator))
        if c.parent >= 0:
            children[c.parent].append((k, tuple(sizes[v] if v in c.separator else 1 for v in above)))
    home: list[int] = []
    slices: list[list[tuple[Array, tuple[int, ...], tuple[int, ...]]]] = [[] for _ in tree]
    for j, cpt in enumerate(network.cpts):
        axes = network.axes(cpt.scope)
        hidden = [v for v in axes if v not in given]
        # a family meets in the clique where the first of it is summed out, and in none before
        home.append(min((gone[v] for v in hidden), default=gone[j]))
        if len(hidden) < len(axes):
            scope = tree[home[j]].scope
            hidden.sort(key=scope.index)
            known = tuple(v for v in axes if v in given)
            turned = cpt.p.transpose([axes.index(v) for v in (*hidden, *known)])
            slices[home[j]].append((turned, known, tuple(sizes[v] if v in hidden else 1 for v in scope)))
    return MessagePlan(
        tree,
        sizes,
        home,
        children,
        [[(v, tuple(sizes[v] if u == v else 1 for u in c.scope)) for v in c.scope[: c.own]] for c in tree],
        slices,
        lacks,
        {s: (shown := np.hstack([np.eye(s), np.ones((s, 1))]), log(shown)) for s in set(sizes)},
    )


class Collected(NamedTuple):
    """Collect evidence: every clique's product of its own tables, its findings and what came from below; its
    message."""

    algebra: Algebra
    tables: list[Array]
    messages: list[Array]
    log_evidence: Array


class Calibrated(NamedTuple):
    """Distribute evidence: every clique's P(clique | e)."""

    algebra: Algebra
    beliefs: list[Array]
    log_evidence: Array

    def margin(self, clique: int, drop: tuple[int, ...]) -> Array:
        """The probabilities of a clique summed over some axes."""
        return self.algebra.probability(self.algebra.total(self.beliefs[clique], drop))


def collect(plan: MessagePlan, places: Places, rows: slice, tables: Tables) -> Collected:
    """Messages from the leaves to the roots."""
    algebra = tables.algebra
    part = places[rows]
    seen: dict[int, Array] = {}
    for v in (part != HIDDEN).any(axis=0).nonzero()[0].tolist():
        seen[v] = plan.one_hot[plan.sizes[v]][algebra.of_log][:, part[:, v]]  # HIDDEN: the last, all ones
    potentials: list[Array] = []
    messages: list[Array] = []
    log_evidence = np.zeros(len(part))
    for k, table in enumerate(tables.base):
        for v, shape in plan.findings[k]:
            if v in seen:
                table = algebra.times(table, seen[v].reshape(*shape, -1))
        for cpt, known, shape in plan.slices[k]:
            index: Any = (..., *(part[:, v] for v in known))
            own = cpt[index].reshape(*shape, -1)
            table = algebra.times(table, log(own) if algebra.of_log else own)
        for child, shape in plan.children[k]:
            table = algebra.times(table, messages[child].reshape(*shape, -1))
        message = algebra.total(table, tuple(range(plan.cliques[k].own)))
        potentials.append(table)
        messages.append(message)
        if message.ndim == 1:  # a root: its message is the evidence of its component
            log_evidence += algebra.log(message)
    return Collected(algebra, potentials, messages, log_evidence)


def calibrate(plan: MessagePlan, places: Places, rows: slice, tables: Tables) -> Calibrated:
    """Messages to the roots and back."""
    up = collect(plan, places, rows, tables)
    algebra = up.algebra
    one = np.zeros(1) if algebra.of_log else np.ones(1)
    beliefs: list[Array] = list(up.tables)
    with np.errstate(under="ignore"):  # P(clique | e) is never multiplied up again: what is lost here is no news
        for k in range(len(beliefs) - 1, -1, -1):
            parent = plan.cliques[k].parent
            outer = one if parent < 0 else algebra.total(beliefs[parent], plan.lacks[k])
            beliefs[k] = algebra.times(up.tables[k], algebra.over(outer, up.messages[k]))
    impossible = np.isneginf(up.log_evidence)
    if impossible.any():  # one component may be impossible and the others not
        zero = np.where(impossible, 0.0, 1.0)
        beliefs = [algebra.times(belief, log(zero) if algebra.of_log else zero) for belief in beliefs]
    return Calibrated(algebra, beliefs, up.log_evidence)


def read_off(clique: Clique, table: Array, places: Places, sizes: Sequence[int]) -> None:
    """Enter a clique's own nodes into the rows, those of its separator being known."""
    own = clique.scope[: clique.own]
    n = len(places)
    shape = tuple(sizes[v] for v in clique.scope)
    columns = np.broadcast_to(table, (*shape, n))
    separator = tuple(places[:, v] for v in clique.separator)
    index: Any = (slice(None), *separator, np.arange(n))
    picked = columns.reshape(-1, *columns.shape[len(own) :])[index]  # (combinations of the own nodes, n)
    first = (picked >= picked.max(axis=0) - TIE).argmax(axis=0)
    for v, values in zip(own, np.unravel_index(first, shape[: len(own)]), strict=True):
        places[:, v] = values
