"""The quantities that a question may ask for: what they are called on screen, and what their arguments may be in the
state that is in use."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.lessons.quantities.registry import QUANTITIES
from pages.active.on_screen import OnScreen
from pages.runtime.escape import clean, md

FIXED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("model_numbers", "what"): ("joint_cells", "factor_cells", "joint_free", "factor_free"),
    ("likelihood_peak", "parameter"): ("mean", "sd"),
    ("boundary_error", "rule"): ("fisher", "lda", "bayes"),
    ("correlation_within", "step"): ("raw", "pca", "lda"),
    ("transformed_posterior", "step"): ("raw", "pca", "lda"),
    ("rows_lacking_for_case", "order"): ("best", "worst"),
    ("smoothed_posterior", "rule"): ("none", "zero-only", "laplace", "m-estimate"),
}
"""Arguments whose choices are no part of the state."""
NODES = ("belief", "information_given")
"""Quantities of the network in use."""


def quantity_names() -> dict[str, str]:
    """What each quantity is called, in the order of the list."""
    names = {
        "posterior": _("P(c|x), the posterior of a class"),
        "risk": _("R(a|x), the risk of an action"),
        "least_risk": _("the risk of the decision"),
        "regret": _("the regret of an action: its risk less the least"),
        "flip_loss": _("the λ at which the decision becomes another"),
        "flip_prior": _("the prior at which the decision becomes another"),
        "log_odds": _("the log-odds of two classes, in nats"),
        "contribution": _("what a column adds to the log-odds, in nats"),
        "factor": _("the factor of a column in the working"),
        "posterior_without": _("P(c|x) without the rows that are taken away"),
        "smoothed_posterior": _("P(c|x) under one of the laboratory's smoothings"),
        "cpt_cell": _("P(value|c) as the model estimates it"),
        "mean": _("the mean of a column in a class"),
        "mean_low": _("the lower end of that mean's 95 % interval"),
        "model_numbers": _("how many numbers the model has"),
        "likelihood_peak": _("where the likelihood is largest (Laboratory)"),
        "base_rate_posterior": _("P(c|x) after positive tests (Laboratory)"),
        "bayes_risk_of_truth": _("the Bayes risk of the known densities (Laboratory)"),
        "likeliest_density": _("p(x) of the case where the rows are likeliest (Laboratory)"),
        "fewest_case_rows": _("the rows of the case's factor that has the fewest"),
        "log_joint": _("log P(c) + Σ log P(x_j|c) of the case, in nats"),
        "rows_lacking_for_case": _("the rows that AODE still lacks for the case"),
        "information_of_case": _("what the case adds to I(a; b|y), in nats"),
        "tree_of_case": _("what the tree adds to log P(x|c) of the case, in nats"),
        "network_log_probability": _("log P(x) of the case in the learned network, in nats"),
        "network_posterior": _("P(c|x) of the case in the learned network"),
        "largest_responsibility": _("the largest responsibility for the case, after the step shown"),
        "posterior_by_em": _("P(c|x) of the case by EM with hidden labels"),
        "projected_distance": _("how far the case is from a projected mean"),
        "transformed_posterior": _("P(c|x) of the case by naive Bayes after a step before it"),
        "information": _("I(a; b|y) of two columns, in nats"),
        "tree_weight": _("the weight of the spanning tree, in nats"),
        "twice_counted": _("what naive Bayes counts twice, in nats"),
        "belief": _("P(node|e) in the network"),
        "information_given": _("I(a; b|e) of two nodes, in nats"),
        "event_probability": _("the probability that Gibbs sampling is asked for"),
        "arcs": _("the number of arcs of the network"),
        "marginal_likelihood": _("log P(D|B) of the learned structure, in nats"),
        "mixture_objective": _("what EM maximizes, after the step shown"),
        "mixture_steps": _("the M steps until EM stopped"),
        "hidden_right": _("how many hidden labels EM has right"),
        "separation": _("J along the line that is shown"),
        "boundary_error": _("the error rate of a rule on the known classes"),
        "correlation_within": _("the mean |r| within the classes"),
    }
    return {name: names.get(name, name) for name in QUANTITIES}


def argument_name(name: str) -> str:
    """What an argument is called on screen."""
    return {
        "class": _("class"),
        "decide": _("decide"),
        "truth": _("truth"),
        "for": _("for"),
        "against": _("against"),
        "column": _("column"),
        "level": _("value"),
        "node": _("node"),
        "a": _("first"),
        "b": _("second"),
    }.get(name, md(name))


def arguments(quantity: str) -> tuple[str, ...]:
    """The names of a quantity's arguments, as a lesson writes them."""
    return tuple(name.removesuffix("_") for name in list(signature(QUANTITIES[quantity]).parameters)[1:])


def choices(quantity: str, argument: str, chosen: Mapping[str, Any]) -> list[Level]:
    """What an argument may be in the state in use, given those that are `chosen`; nothing where there is no such thing
    here."""
    if (quantity, argument) in FIXED:
        return list(FIXED[quantity, argument])
    try:
        return [_plain(value) for value in _found(quantity, argument, chosen, OnScreen())]
    except BayesEngineError:
        return []


def shown(quantity: str, argument: str, chosen: Mapping[str, Any], value: Level) -> str:
    """What a choice of an argument is called on screen, as the table in use has it."""
    if quantity in NODES or (quantity, argument) in FIXED:
        return clean(value, 40)
    try:
        table = OnScreen().table
    except BayesEngineError:
        return clean(value, 40)
    if argument in ("decide", "truth", "class", "for", "against"):
        return clean(table.class_(value) if value in table.classes else value, 40)
    named = table.level(chosen["column"], value) if argument == "level" else table.column(str(value))
    return clean(named, 40)


def _found(quantity: str, argument: str, chosen: Mapping[str, Any], used: OnScreen) -> list[Any]:
    if quantity in NODES:
        network = used.network
        if argument == "level":
            return list(network[chosen["node"]].variable.levels) if chosen.get("node") in network.names else []
        return list(network.names)
    if argument in ("decide", "truth"):
        return list(used.loss.actions if argument == "decide" else used.loss.classes)
    if argument in ("class", "for", "against"):
        return list(used.table.classes)
    schema = used.model.schema_
    if argument == "level":
        return list(schema[chosen["column"]].levels) if chosen.get("column") in schema.names else []
    if argument in ("a", "b"):
        return [v.name for v in schema if v.discrete]
    numbers = quantity in ("mean", "mean_low")
    return [v.name for v in schema if quantity in ("contribution", "factor") or v.discrete != numbers]


def _plain(value: Any) -> Level:
    plain: Level = value.item() if hasattr(value, "item") else value
    return plain
