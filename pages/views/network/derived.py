"""The derivations of the page Network: why Gibbs sampling keeps P(·|e), and minimum description length."""

from __future__ import annotations

from collections.abc import Mapping

from bayes_engine.structure.graph import DAG
from bayes_engine.workbench.derivation.chains.gibbs_stationary import gibbs_chain
from bayes_engine.workbench.derivation.chains.mdl import mdl_chain
from pages.components.derivations import Offer
from pages.views.network.gibbs_question import Question
from pages.views.network.learn_search import LearningData, SearchTask


def of_gibbs(asked: Question) -> Mapping[str, Offer]:
    """Of the network with the evidence of the question."""
    return {"gibbs": Offer(lambda: gibbs_chain(asked.network, asked.evidence, asked.name, asked.level))}


def of_learning(here: LearningData, asked: SearchTask, graph: DAG) -> Mapping[str, Offer]:
    """Of the graph that was found in the table."""
    return {"mdl": Offer(lambda: mdl_chain(here.counts, graph, here.table.column, asked.score))}
