"""Quantities of a Bayesian network: beliefs, its score, the case in it, and a column learned back as a hidden node."""

from __future__ import annotations

import math

import pandas as pd

from bayes_engine.errors import BayesEngineError
from bayes_engine.inference.beliefs import joint_belief, node_beliefs
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.gibbs_walk import exact
from bayes_engine.workbench.lessons.in_use import InUse, case_as_row
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


@quantity
def belief(used: InUse, node: str, level: Level) -> float:
    """P(node = level | e) in the network in use."""
    network = used.network
    variable = network[among(node, network.names)].variable
    asked = node_beliefs(network, used.evidence).posterior[variable.name]
    return float(asked[variable.levels.index(among(level, variable.levels))])


@quantity
def information_given(used: InUse, a: str, b: str) -> float:
    """I(a; b | e) of two nodes given what is observed, in nats: 0 where they are separated."""
    names = used.network.names
    joint = joint_belief(used.network, among(a, names), among(b, names), used.evidence)
    return 0.0 if joint.independent else joint.information


@quantity
def event_probability(used: InUse) -> float:
    """P(Q = q | e), exact: what Gibbs sampling is asked for."""
    return exact(*used.event)


@quantity
def arcs(used: InUse) -> float:
    """The number of arcs of the network in use."""
    return float(sum(len(cpt.parents) for cpt in used.network.cpts))


@quantity
def marginal_likelihood(used: InUse) -> float:
    """log P(D|B) of the learned structure, in nats, its tables integrated out under the Dirichlet prior of the score:
    K2's, one for each cell, or BDeu's."""
    if used.setting("net_score") not in ("k2", "bdeu"):
        raise BayesEngineError("the score in use, a price for each parameter, is no marginal likelihood")
    return used.search.score


def _learned_case(used: InUse) -> tuple[BayesianNetwork, str, pd.DataFrame, float]:
    """The learned network, its class, the case as its row, and log P(x) of it."""
    model, target = used.learned
    row = case_as_row(used.case, target)
    value = float(model.score_samples(row)[0])
    if not math.isfinite(value):
        raise BayesEngineError("this case has probability 0 in the network")
    return model, target, row, value


@quantity
def network_log_probability(used: InUse) -> float:
    """log P(x) of the case's attributes in the learned network, in nats: the class summed out."""
    return _learned_case(used)[3]


@quantity
def network_posterior(used: InUse, class_: Level) -> float:
    """P(c|x) of the case in the learned network."""
    model, target, row, _value = _learned_case(used)
    levels = model.network_[target].variable.levels
    return float(model.posterior(row, target)[0, levels.index(among(class_, levels))])


@quantity
def hidden_agreement(used: InUse) -> float:
    """In how many rows a hidden node's states agree with the column they were learned back for, up to their order."""
    return float(used.hidden_column.right)
