"""Variable elimination as one does it by hand: which factors are multiplied, what is summed out, what is left.

P(q, e) = Σ_h Π_j P(x_j | pa_j) with the evidence entered into every table; Σ is pushed in as far as it goes
(Zhang & Poole 1994; Russell & Norvig, §13.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.errors import ImpossibleEvidence, ParameterError, TooLarge
from bayes_engine.factors.network import CPT, HIDDEN, Network
from bayes_engine.inference.elimination import Potential, eliminate
from bayes_engine.logspace import Array, exp, log_sum, normalize


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

    >>> from bayes_engine.table.schema import Variable
    >>> rain, wet, slip = (Variable(name, "categorical", ("no", "yes")) for name in ("rain", "wet", "slip"))
    >>> tables = [CPT(rain, (), [0.8, 0.2]), CPT(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]]),
    ...           CPT(slip, (wet,), [[1.0, 0.0], [0.7, 0.3]])]
    >>> trace = elimination_trace(Network(tables), "rain", {"slip": "yes"})
    >>> [(step.variable, step.factors, step.result.name) for step in trace.steps]
    [('wet', ('P(wet | rain)', 'P(slip = yes | wet)'), 'τ1(rain)')]
    >>> trace.last, trace.joint.round(4).tolist(), trace.posterior.round(4).tolist()
    (('P(rain)', 'τ1(rain)'), [0.024, 0.048], [0.3333, 0.6667])
    """
    evidence = dict(evidence or {})
    row = network.places(evidence)
    if network[target].name in evidence:
        raise ParameterError("'{name}' is asked for and is part of the evidence; clear one of them", name=target)
    above = network.graph.ancestors([target, *evidence])
    cpts = [cpt for cpt in network.cpts if cpt.name in above]
    names = [_name(cpt, evidence) for cpt in cpts]
    potentials = [_entered(network, cpt, row) for cpt in cpts]
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
    joint: Array = np.zeros(sizes[target])
    for left in done.left.values():
        joint = joint + left.log[0, 0]
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


def _entered(network: Network, cpt: CPT, row: Any) -> Potential:
    """The table at the places of the evidence, over its hidden variables."""
    places = [int(row[j]) for j in network.axes(cpt.scope)]
    table = cpt.log[tuple(slice(None) if place == HIDDEN else place for place in places)]
    scope = tuple(name for name, place in zip(cpt.scope, places, strict=True) if place == HIDDEN)
    return Potential(scope, np.asarray(table)[None, None])
