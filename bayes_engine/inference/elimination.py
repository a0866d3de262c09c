"""Summing hidden variables out of a product: variable elimination forward, marginals backward, all in log space. pgmpy
and pyAgrum answer one question of one row at a time, and give no expectations by factor.

log Z = log Σ_h Π_f φ_f(h) by summing one variable after another out of the factors that hold it (Zhang & Poole 1994);
going back over the same clusters gives p(h_f) for every factor's own scope (collect and distribute: Lauritzen &
Spiegelhalter 1988). Everything is batched: a potential has leading axes (n, C), one product for each row and class.
`elimination_trace` shows what one does by hand (Russell & Norvig, §13.3.2).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.errors import ImpossibleEvidence, ParameterError, TooLarge
from bayes_engine.factors.network import CPT, Network, sliced
from bayes_engine.logspace import Array, exp, log_sum, normalize

MOST_CELLS = 100_000
"""The largest table over hidden variables that one row and class may need."""

Scope = tuple[str, ...]


class Potential(NamedTuple):
    """log φ, (n, C, one axis for each hidden variable of `scope`); −inf where φ is 0."""

    scope: Scope
    log: Array


class Cluster(NamedTuple):
    """What one elimination multiplied: the terms over `scope`, its last variable summed out of them into a message.

    `members` are the factors: the potentials by position, and after them the messages of the clusters."""

    scope: Scope
    log: Array
    members: tuple[int, ...]


class Eliminated(NamedTuple):
    """The clusters in their order, and the factors that are left at the end, by the numbers that `members` has."""

    clusters: list[Cluster]
    left: dict[int, Potential]


def log_partition(potentials: Sequence[Potential], sizes: Mapping[str, int]) -> Array:
    """(n, C) log Σ_h Π φ: the hidden variables summed out, cheapest first.

    Raises ParameterError where a table of more than MOST_CELLS cells would be needed.
    """
    return _left_over(eliminate(potentials, sizes))


def marginals(potentials: Sequence[Potential], sizes: Mapping[str, int]) -> tuple[Array, list[Array]]:
    """log Z (n, C), and for each potential the log-probabilities of its own scope given all of them, shaped like it.

    Where Z is 0 nothing has a probability: −inf throughout.
    """
    done = eliminate(potentials, sizes)
    log_z, clusters = _left_over(done), done.clusters
    beliefs: list[Array] = [np.zeros(())] * len(clusters)
    margins: list[Array] = [np.zeros_like(p.log) for p in potentials]
    # a message is the member of a later cluster: going backwards, that cluster's belief is known
    for k in range(len(clusters) - 1, -1, -1):
        cluster = clusters[k]
        message, scope = log_sum(cluster.log), cluster.scope[:-1]
        outer = np.zeros_like(message)
        for later in range(k + 1, len(clusters)):
            if len(potentials) + k in clusters[later].members:
                outer = _margin(clusters[later].scope, beliefs[later], scope)
        there = np.isfinite(message)
        ratio = np.where(there, outer - np.where(there, message, 0.0), -np.inf)
        beliefs[k] = cluster.log + ratio[..., None]
        for i in cluster.members:
            if i < len(potentials):
                margins[i] = _margin(cluster.scope, beliefs[k], potentials[i].scope)
    if np.isneginf(log_z).any():
        margins = [np.where(np.expand_dims(np.isneginf(log_z), tuple(range(2, f.ndim))), -np.inf, f) for f in margins]
    return log_z, margins


def eliminate(
    potentials: Sequence[Potential],
    sizes: Mapping[str, int],
    *,
    keep: Collection[str] = (),
    order: Sequence[str] | None = None,
) -> Eliminated:
    """Sum out all variables but those to `keep`, one after another: in `order`, otherwise the one with the smallest
    table first, then by name.

    >>> a, b = Potential(("a",), np.log([[[0.8, 0.2]]])), Potential(("a", "b"), np.log([[[[0.9, 0.1], [0.2, 0.8]]]]))
    >>> done = eliminate([a, b], {"a": 2, "b": 2}, keep=["b"])
    >>> [np.exp(left.log[0, 0]).round(2).tolist() for left in done.left.values()]
    [[0.76, 0.24]]
    """
    live = dict(enumerate(potentials))
    waiting = sorted({name for p in potentials for name in p.scope} - set(keep)) if order is None else list(order)
    clusters: list[Cluster] = []
    while waiting:
        cheapest = min(waiting, key=lambda v: (math.prod(sizes[u] for u in _joined(live.values(), v)), v))
        name = cheapest if order is None else waiting[0]
        waiting.remove(name)
        members = tuple(i for i, p in live.items() if name in p.scope)
        scope = (*sorted(_joined(live.values(), name) - {name}), name)
        if (cells := float(math.prod(sizes[v] for v in scope))) > MOST_CELLS:
            raise ParameterError(
                "exact inference over the missing cells would need a table of {cells:.3g} cells for each row; fill in "
                "some of them, or take a simpler structure",
                cells=cells,
            )
        total: Array = np.zeros(())
        for i in members:
            total = total + _spread(live.pop(i), scope)
        live[len(potentials) + len(clusters)] = Potential(scope[:-1], log_sum(total))
        clusters.append(Cluster(scope, total, members))
    return Eliminated(clusters, live)


def _left_over(done: Eliminated) -> Array:
    """The product of what is left."""
    log_z: Array = np.zeros(())
    for p in done.left.values():
        log_z = log_z + p.log
    return log_z


def _joined(live: Iterable[Potential], name: str) -> set[str]:
    """The variables of the factors that hold this one."""
    return {v for p in live if name in p.scope for v in p.scope}


def _spread(p: Potential, scope: Scope) -> Array:
    """The potential with its axes in the order of `scope`, of length 1 where it has none."""
    order = sorted(range(len(p.scope)), key=lambda a: scope.index(p.scope[a]))
    turned = np.moveaxis(p.log, [2 + a for a in order], range(2, 2 + len(order)))
    return turned[(slice(None), slice(None), *(slice(None) if v in p.scope else None for v in scope))]


def _margin(scope: Scope, belief: Array, wanted: Scope) -> Array:
    """The belief over `scope` summed down to `wanted`, its axes in that order."""
    for axis in reversed([2 + a for a, v in enumerate(scope) if v not in wanted]):
        belief = log_sum(belief, axis=axis)
    kept = [v for v in scope if v in wanted]
    return np.moveaxis(belief, [2 + kept.index(v) for v in wanted], range(2, 2 + len(wanted)))


class TracedFactor(NamedTuple):
    """A table with the name under which it is spoken of: P(dysp = yes | bronc, either), or τ₁(lung, either)."""

    name: str
    scope: tuple[str, ...]
    table: Array


class EliminationStep(NamedTuple):
    """One variable summed out: the factors that hold it are multiplied into a table over `scope` (`cells` many), and
    summed over the variable they give `result`."""

    variable: str
    factors: tuple[str, ...]
    scope: tuple[str, ...]
    cells: int
    result: TracedFactor


class EliminationTrace(NamedTuple):
    """An elimination from beginning to end.

    `barren` nodes are left out at once: neither asked for, nor seen, nor above such a node, their tables sum to 1.
    `factors` are the tables with the evidence entered, `last` the names of those that are multiplied at the end into
    `joint`, P(q, e); divided by its sum exp(`log_evidence`) that is `posterior`, P(q | e).
    """

    target: str
    barren: tuple[str, ...]
    factors: tuple[TracedFactor, ...]
    steps: tuple[EliminationStep, ...]
    last: tuple[str, ...]
    joint: Array
    log_evidence: float
    posterior: Array


def elimination_trace(
    network: Network, target: str, evidence: Mapping[str, Any] | None = None, order: Sequence[str] | None = None
) -> EliminationTrace:
    """P(target | evidence) step by step; `order` lists every variable to be summed out, otherwise the one with the
    smallest table comes first, then by name.

    Raises ParameterError where `order` is not that list, ImpossibleEvidence where P(e) = 0.
    """
    evidence = dict(evidence or {})
    row = network.places(evidence)
    if network[target].name in evidence:
        raise ParameterError("'{name}' is asked for and is part of the evidence; clear one of them", name=target)
    above = network.graph.ancestors([target, *evidence])
    cpts = [cpt for cpt in network.cpts if cpt.name in above]
    names = [_name(cpt, evidence) for cpt in cpts]
    potentials = [
        Potential(tuple(network.names[j] for j in family.scope), family.log[None, None])
        for cpt, family in zip(network.cpts, sliced(network, row), strict=True)
        if cpt.name in above
    ]
    hidden = {cpt.name for cpt in cpts} - {target} - set(evidence)
    if order is not None and (set(order) != hidden or len(order) != len(hidden)):
        raise ParameterError(
            "the order must list each of these variables once: {known}", known=", ".join(sorted(hidden)) or "–"
        )
    sizes = dict(zip(network.names, network.sizes, strict=True))
    try:
        done = eliminate(potentials, sizes, keep=(target,), order=order)
    except ParameterError as error:
        raise TooLarge(
            "this elimination would need a table of {cells:.3g} cells; take another order, or the junction tree",
            cells=error.message.params["cells"],
        ) from None
    steps: list[EliminationStep] = []
    for cluster in done.clusters:
        scope = cluster.scope[:-1]
        result = TracedFactor(f"τ{len(steps) + 1}({', '.join(scope)})", scope, exp(log_sum(cluster.log)[0, 0]))
        factors = tuple(names[i] for i in cluster.members)
        steps.append(EliminationStep(cluster.scope[-1], factors, cluster.scope, cluster.log.size, result))
        names.append(result.name)
    joint = _left_over(done)[0, 0]
    if np.isneginf(joint).all():
        raise ImpossibleEvidence("the evidence has probability 0; clear one of its findings")
    return EliminationTrace(
        target,
        tuple(name for name in network.names if name not in above),
        tuple(TracedFactor(n, p.scope, exp(p.log[0, 0])) for n, p in zip(names, potentials, strict=False)),
        tuple(steps),
        tuple(names[i] for i in done.left),
        exp(joint),
        float(log_sum(joint)),
        normalize(joint[None])[0],
    )


def _name(cpt: CPT, evidence: Mapping[str, Any]) -> str:
    names = [f"{name} = {evidence[name]}" if name in evidence else name for name in cpt.scope]
    given = ", ".join(names[:-1])
    return f"P({names[-1]} | {given})" if given else f"P({names[-1]})"
