"""One question put to a network: what the findings do to every node, as numbers to be shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr

from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.conflict import Conflict, conflict
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.inference.message_passing import TIE
from bayes_engine.logspace import Array
from bayes_engine.table.schema import Level

Marginals = Mapping[str, tuple[float, ...]]


class BeliefChange(NamedTuple):
    """What the findings did to a node: the level whose probability rose most, before and after."""

    node: str
    level: int
    before: float
    after: float


class Beliefs(NamedTuple):
    """`prior` P(x_j) and `posterior` P(x_j | e) of every node, log P(e) in nats, and the most probable explanation
    `best`, {node: level} with log P(x | e) in `log_best`. Where the findings exclude each other `posterior` and `best`
    are empty and `conflict` says which of them do."""

    evidence: Mapping[str, Level]
    log_evidence: float
    prior: Marginals
    posterior: Marginals
    best: Mapping[str, Level]
    log_best: float
    conflict: Conflict | None

    @property
    def possible(self) -> bool:
        return self.conflict is None

    @property
    def changes(self) -> tuple[BeliefChange, ...]:
        """The nodes without a finding by how far a level of theirs rose, farthest first, then in their order."""
        changes = []
        for node, after in self.posterior.items():
            if node not in self.evidence:
                before = self.prior[node]
                level = max(range(len(after)), key=lambda k: (round(after[k] - before[k], 12), after[k]))
                changes.append(BeliefChange(node, level, before[level], after[level]))
        return tuple(sorted(changes, key=lambda c: -round(c.after - c.before, 12)))


def node_beliefs(network: Network, evidence: Mapping[str, Any]) -> Beliefs:
    """P(x_j | e) of all nodes beside P(x_j), P(e), and the most probable explanation.

    Raises TooLarge where exact inference cannot be afforded.
    """
    tree = junction_tree(network)
    row = network.places(evidence)
    both = tree.marginals(np.stack([network.places({}), row]), impossible="flag")
    prior = {name: tuple(p[0].tolist()) for name, p in both.p.items()}
    log_evidence = float(both.log_evidence[1])
    if math.isinf(log_evidence):
        return Beliefs(
            dict(evidence), log_evidence, prior, {}, {}, -math.inf, conflict(network, tree.log_evidence, row)
        )
    posterior = {name: tuple(p[1].tolist()) for name, p in both.p.items()}
    for name, place in zip(network.names, row, strict=True):
        if place != HIDDEN:  # a finding is certain, whatever rounding says
            posterior[name] = tuple(float(k == place) for k in range(len(posterior[name])))
    places, log_p = tree.most_probable(row[None])
    best = {cpt.name: cpt.variable.levels[i] for cpt, i in zip(network.cpts, places[0], strict=True)}
    return Beliefs(dict(evidence), log_evidence, prior, posterior, best, float(log_p[0]) - log_evidence, None)


class JointBelief(NamedTuple):
    """P(a, b | e) (S_a, S_b) of two nodes, their own distributions, and their mutual information given e, in nats."""

    a: str
    b: str
    p: Array
    of_a: Array
    of_b: Array
    information: float

    @property
    def independent(self) -> bool:
        """Whether P(a, b | e) = P(a | e) P(b | e), up to rounding."""
        return self.information < TIE


def joint_belief(network: Network, a: str, b: str, evidence: Mapping[str, Any]) -> JointBelief:
    """The joint of two nodes given the findings. Raises ImpossibleEvidence where P(e) = 0."""
    p = junction_tree(network).joint((a, b), network.places(evidence)[None])[0]
    of_a, of_b = p.sum(axis=1), p.sum(axis=0)
    information = float(rel_entr(p, np.outer(of_a, of_b)).sum())
    return JointBelief(a, b, p, of_a, of_b, max(information, 0.0))
