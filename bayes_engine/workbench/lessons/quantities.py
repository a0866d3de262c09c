"""The quantities that a lesson may ask for: a fixed list, each computed from the state that is on screen.

A quantity is a function of what is in use (`InUse`) and of named arguments. Its answer is never stored, so it is
another one when the losses, the smoothing, the prior, the case or a setting of the page is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from inspect import signature
from typing import Any, cast

import numpy as np
import pandas as pd

from bayes_engine.decision.decision_boundaries import log_posterior
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.margins import FlipMargin, flip_margins
from bayes_engine.decision.two_gaussians import boundaries
from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.inference.beliefs import joint_belief, node_beliefs
from bayes_engine.language import Message
from bayes_engine.ledger import Status, class_position
from bayes_engine.logspace import log
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.em_runs import at_step
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.projection import posterior_after_steps, transformed_naive_bayes
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.demonstrations import base_rate, climb, numbers_drawn, underflow
from bayes_engine.workbench.derivation.dependence import Contingency, contingency, edges_of_case, grow
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.double_counting import counted_twice
from bayes_engine.workbench.derivation.estimates import Estimates, MomentEstimates, estimates
from bayes_engine.workbench.derivation.gibbs_walk import exact
from bayes_engine.workbench.derivation.least_rows import rows_lacking, rows_needed
from bayes_engine.workbench.derivation.modes_of_use import posterior_of, without_rows
from bayes_engine.workbench.derivation.parameter_count import fewest_rows, model_size
from bayes_engine.workbench.laboratory.excess_risk import fitted_to_population
from bayes_engine.workbench.laboratory.fitted_column import GaussianPlace
from bayes_engine.workbench.laboratory.rare_class import rare_class
from bayes_engine.workbench.laboratory.smoothing import RULES, curves
from bayes_engine.workbench.laboratory.truth import bayes_risk
from bayes_engine.workbench.lessons.in_use import InUse, case_as_row
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity

QUANTITIES: dict[str, Callable[..., float]] = {}
"""All quantities, by name."""


def quantity(function: Callable[..., float]) -> Callable[..., float]:
    """Enter a function into the list."""
    QUANTITIES[function.__name__] = function
    return function


def problem_of(answer: AskedQuantity) -> Message | None:
    """What is wrong with an answer as a file states it: another name, other arguments or other types of them.

    >>> print(problem_of(AskedQuantity("posterior", {"klass": "good"})))
    the quantity 'posterior' has the arguments class, not klass
    >>> problem_of(AskedQuantity("posterior", {"class": "good"}))
    """
    if (asked := QUANTITIES.get(answer.quantity)) is None:
        names = ", ".join(sorted(QUANTITIES))
        return Message("there is no quantity '{name}'; there are {names}", {"name": answer.quantity, "names": names})
    return problem_of_arguments(answer, asked)


def problem_of_arguments(answer: AskedQuantity, asked: Callable[..., Any]) -> Message | None:
    """What is wrong with the arguments that a file states for this function."""
    wanted = _arguments(asked)
    if set(answer.arguments) != set(wanted):
        words = {
            "name": answer.quantity,
            "wanted": ", ".join(wanted) or "–",
            "found": ", ".join(answer.arguments) or "–",
        }
        return Message("the quantity '{name}' has the arguments {wanted}, not {found}", words)
    for name, kind in wanted.items():
        if kind == "str" and not isinstance(answer.arguments[name], str):
            return Message("the argument '{name}' is a text", {"name": name})
    return None


def value_of(answer: AskedQuantity, used: InUse) -> float:
    """The answer in the state that is in use. Raises BayesEngineError where it has none there."""
    if (problem := problem_of(answer)) is not None:
        raise BayesEngineError("{problem}", problem=problem)
    function = QUANTITIES[answer.quantity]
    value = float(called(function, answer, used))
    if not math.isfinite(value):
        raise BayesEngineError("the quantity '{name}' is not finite here", name=answer.quantity)
    return value


def called(function: Callable[..., Any], answer: AskedQuantity, used: InUse) -> Any:
    """What a function of a list comes to, with the arguments that a file states."""
    named = {p: answer.arguments[p.removesuffix("_")] for p in list(signature(function).parameters)[1:]}
    return function(used, **named)


def _arguments(function: Callable[..., Any]) -> dict[str, str]:
    parameters = list(signature(function).parameters.values())[1:]
    return {p.name.removesuffix("_"): str(p.annotation) for p in parameters}


def among(what: Level, known: Collection[Any]) -> Any:
    """The one of these that is meant: a class, an action, a level; digits may be written as a text."""
    for one in known:
        if one == what or str(one) == str(what):
            return one
    raise ParameterError("there is no '{name}' here, but {known}", name=str(what), known=", ".join(map(str, known)))


# the case -------------------------------------------------------------------------------------------------------------


def _posterior(used: InUse) -> dict[Any, float]:
    ledger = used.ledger
    if ledger.status[0] != Status.OK:
        raise BayesEngineError("this case has no posterior")
    return dict(zip(ledger.classes, ledger.posterior()[0].tolist(), strict=True))


@quantity
def posterior(used: InUse, class_: Level) -> float:
    """P(c|x) of the case, at the prior of use."""
    p = _posterior(used)
    return p[among(class_, list(p))]


@quantity
def risk(used: InUse, decide: Level) -> float:
    """R(a|x) = Σ_j λ_aj P(c_j|x) of an action (Zhou, eq. 7.1)."""
    risks, loss = _risks(used)
    return float(risks[loss.actions.index(among(decide, loss.actions))])


@quantity
def least_risk(used: InUse) -> float:
    """The risk of the decision, the least of all."""
    return float(_risks(used)[0].min())


@quantity
def regret(used: InUse, decide: Level) -> float:
    """R(a|x) − min R(a'|x): how much more risk an action has than the decision of least risk."""
    return risk(used, decide) - least_risk(used)


def _risks(used: InUse) -> tuple[Any, LossMatrix]:
    p, loss = _posterior(used), used.loss
    return loss.risk(np.array([[p[c] for c in loss.classes]]))[0], loss


def _margins(used: InUse) -> Any:
    p, loss = _posterior(used), used.loss
    return flip_margins([p[c] for c in loss.classes], loss, used.prior)


def _end(margin: FlipMargin, now: float) -> float:
    """The end of the interval that is nearest to the present value."""
    return min(
        (end for end in (margin.low, margin.high) if math.isfinite(end)), key=lambda v: abs(v - now), default=math.inf
    )


@quantity
def flip_loss(used: InUse, decide: Level, truth: Level) -> float:
    """The value of λ(decide, truth) at which the decision becomes another."""
    loss, margins = used.loss, _margins(used)
    cell = among(decide, loss.actions), among(truth, loss.classes)
    return _end(margins.losses[cell], loss.cell(*cell))


@quantity
def flip_prior(used: InUse, class_: Level) -> float:
    """The prior of a class at which the decision becomes another."""
    margins = _margins(used)
    label = among(class_, list(margins.priors))
    return _end(margins.priors[label], margins.prior[label])


@quantity
def log_odds(used: InUse, for_: Level, against: Level) -> float:
    """log P(c|x)/P(c'|x), in nats."""
    p = _posterior(used)
    return float(log(np.array(p[among(for_, list(p))])) - log(np.array(p[among(against, list(p))])))


@quantity
def contribution(used: InUse, column: str, for_: Level, against: Level) -> float:
    """What a column adds to the log-odds, in nats."""
    ledger = used.ledger.by_variable()
    rows = [term for row, term in ledger.rows if row.child == column and row.kind != "prior"]
    if not rows:
        raise ParameterError("'{name}' adds nothing here", name=column)
    i, j = (class_position(among(label, ledger.classes), ledger.classes) for label in (for_, against))
    return float(sum(term[0, i] - term[0, j] for term in rows))


@quantity
def log_joint(used: InUse, class_: Level) -> float:
    """log P(c) + Σ_j log P(x_j|c) of the case, in nats, at the prior of use: what is compared in place of a product."""
    ledger = used.ledger
    return float(ledger.joint()[0, class_position(among(class_, ledger.classes), ledger.classes)])


@quantity
def factor(used: InUse, column: str, class_: Level) -> float:
    """The factor of a column in the working: P(x_j|c, parents), or the density p(x_j|c)."""
    return _factor(used.model, used.case, column, class_)


def _factor(model: GenerativeClassifier, case: pd.DataFrame, column: str, class_: Level) -> float:
    worked = derive(model, case)
    k = worked.classes.index(among(class_, worked.classes))
    for step in worked.steps:
        if step.row.child == column and step.row.kind != "prior":
            return step.factors[k]
    raise ParameterError("'{name}' adds nothing here", name=column)


@quantity
def posterior_without(used: InUse, class_: Level) -> float:
    """P(c|x) by the active model, once the rows that are taken away are gone from its statistics."""
    model, rows = used.model, list(used.removed)
    less = without_rows(model, used.X, used.y, rows) if rows else model
    p = posterior_of(less, used.case)
    if p is None:
        raise BayesEngineError("this case has no posterior")
    classes = model.classes_.tolist()
    return float(p[classes.index(among(class_, classes))])


# the estimates --------------------------------------------------------------------------------------------------------


@quantity
def cpt_cell(used: InUse, column: str, level: Level, class_: Level) -> float:
    """P(level|c) as the active model estimates it; under further parents, at the cells that the case has of them."""
    among(class_, used.model.classes_.tolist())
    variable = used.model.schema_[column]
    if not variable.levels:
        raise ParameterError("the column '{name}' has no levels here", name=column)
    value: Any = among(level, variable.levels)
    if variable.cuts is not None:  # a number within the interval
        cuts = [variable.cuts[0] - 1.0, *variable.cuts, variable.cuts[-1] + 1.0] if len(variable.cuts) else [-1.0, 1.0]
        i = variable.levels.index(value)
        value = (cuts[i] + cuts[i + 1]) / 2
    case = used.case.drop(columns=column)
    case.insert(list(used.case.columns).index(column), column, [value])
    return _factor(used.model, case, column, class_)


@quantity
def smoothed_posterior(used: InUse, rule: str, class_: Level) -> float:
    """P(c|x) of the case under one of the laboratory's smoothings, at its number of rows."""
    model = used.model
    if not isinstance(model, NaiveBayes):
        raise BayesEngineError("the active model is no naive Bayes")
    k = class_position(among(class_, model.classes_.tolist()), model.classes_.tolist())
    use = None if used.prior == model.prior_by_class else used.prior  # each smoothing has a prior of its own
    n = used.setting("lab_smoothed_n") or float(model.stats_.class_weight.sum())
    found = curves(model, used.case, [n], used.setting("lab_m"), used.setting("lab_m_base"), use=use)
    return float(found.posterior[RULES.index(among(rule, RULES)), 0, k])


@quantity
def mean(used: InUse, column: str, class_: Level) -> float:
    """The mean of a column of numbers in a class."""
    return float(_moments(used, column, class_).mean[0])


@quantity
def mean_low(used: InUse, column: str, class_: Level) -> float:
    """The lower end of the 95 % credible interval of that mean."""
    return float(_moments(used, column, class_).mean_interval.low[0])


def _moments(used: InUse, column: str, class_: Level) -> MomentEstimates:
    numbers = _estimates(used, column, class_)
    if not isinstance(numbers, MomentEstimates):
        raise ParameterError("the column '{name}' has no mean here", name=column)
    return numbers


def _estimates(used: InUse, column: str, class_: Level) -> Estimates | MomentEstimates:
    return estimates(used.model, column, [among(class_, used.model.classes_.tolist())])


@quantity
def model_numbers(used: InUse, what: str) -> float:
    """How many numbers the active model has: "joint_cells", "factor_cells", "joint_free" or "factor_free"."""
    counted = model_size(used.model)
    return float({name: getattr(counted, name) for name in counted._fields[:4]}[among(what, counted._fields[:4])])


@quantity
def fewest_case_rows(used: InUse) -> float:
    """The rows counted for that factor of the case, under the active model, that has the fewest."""
    return fewest_rows(used.model, used.case).rows


@quantity
def likelihood_peak(used: InUse, parameter: str) -> float:
    """Where the likelihood of the laboratory's rows is largest: "mean" or "sd"; of its column of the table, or of its
    drawn sample."""
    place = ("mean", "sd").index(among(parameter, ("mean", "sd")))
    if used.setting("lab_tab") == "fitted":
        return _likeliest(used)[1][place]
    rows = numbers_drawn(used.setting("lab_rows"), used.setting("lab_row_seed"))
    return float(climb(rows, used.setting("lab_mean"), used.setting("lab_sd")).best[place])


def _likeliest(used: InUse) -> tuple[str, tuple[float, float]]:
    """The column of the laboratory's table whose likelihood is drawn, and the mean and the standard deviation that make
    the rows of its class likeliest."""
    at, k, moments = used.setting("lab_fitted_column"), used.setting("lab_fitted_class"), used.model.stats_.moments
    name = used.X.columns[at] if 0 <= at < used.X.shape[1] else None
    if name not in moments.names or not 0 <= k < len(used.model.classes_):
        raise BayesEngineError("no column of numbers and no class was chosen")
    column = moments.column(name)
    return str(name), (float(column.mean[k]), math.sqrt(column.m2[k] / max(column.weight[k], 1.0)))


@quantity
def likeliest_density(used: InUse) -> float:
    """p(x) of the case in the laboratory's column and class, under the mean and standard deviation that make the rows
    likeliest."""
    if used.setting("lab_tab") != "fitted":
        raise BayesEngineError("the laboratory shows no column of the table in use")
    name, (mean, sd) = _likeliest(used)
    if not sd > 0:
        raise BayesEngineError("the rows of this class do not differ in '{name}'", name=name)
    return GaussianPlace(mean, sd, 0.0).density(_cell(used, name))


def _cell(used: InUse, column: str) -> float:
    """The number that the case has in a column."""
    if pd.isna(value := used.case[column].iloc[0]):
        raise BayesEngineError("the case has no value in '{name}'", name=column)
    return float(value)


@quantity
def base_rate_posterior(used: InUse) -> float:
    """P(c|x) after the tests of the laboratory are positive."""
    asked = (used.setting(name) for name in ("lab_base", "lab_sens", "lab_spec", "lab_times"))
    return base_rate(*asked).posterior


@quantity
def bayes_risk_of_truth(used: InUse) -> float:
    """R(h*) of the laboratory's known densities under its losses."""
    return bayes_risk(*used.known).value


@quantity
def misfit(used: InUse) -> float:
    """R(h_∞) − R(h*): what naive Bayes has above the Bayes risk of the known densities with endless rows."""
    truth, loss = used.known
    model = fitted_to_population(truth, NaiveBayes(smoothing="none"))
    risk_of_it = truth.measure().risk(loss, log_posterior(model, truth.classes)).value
    return max(risk_of_it - bayes_risk(truth, loss).value, 0.0)


@quantity
def underflow_columns(used: InUse) -> float:
    """The first number of columns at which the product of the laboratory's factors is 0 in double precision."""
    typical, lean = used.setting("lab_p"), used.setting("lab_lean")
    dies = underflow(10_000, typical, lean).double_dies
    if dies is None:
        raise BayesEngineError("with these factors the product of ten thousand columns does not underflow")
    return float(dies)


@quantity
def rare_recall(used: InUse, model: str) -> float:
    """The recall of the rare class in the laboratory, by "multinomial" or "complement" naive Bayes."""
    study = rare_class(used.setting("lab_rare_of"), used.setting("lab_rare_seed"),
                       alpha=used.setting("lab_rare_alpha"), fit_prior=used.setting("lab_rare_prior"))  # fmt: skip
    by_model = study.recall[int(among(model, ("multinomial", "complement")) == "complement")]
    return float(by_model[:, study.place(used.setting("lab_rare_n"))].mean())


@quantity
def least_rows(used: InUse, order: str) -> float:
    """The rows that AODE needs before each P(c, x_i) has enough: in the "best" or the "worst" order."""
    names = ("samples_each", "samples_columns", "samples_levels", "samples_classes")
    return float(rows_needed(*map(used.setting, names)).of(order))


@quantity
def rows_lacking_for_case(used: InUse, order: str) -> float:
    """The rows still to come until each P(c, x_i) of the case rests on as many as asked for: in the "best" or the
    "worst" order."""
    return float(rows_lacking(used.model, used.case, used.setting("samples_each")).of(among(order, ("best", "worst"))))


# dependence -----------------------------------------------------------------------------------------------------------


@quantity
def information(used: InUse, a: str, b: str) -> float:
    """I(x_a; x_b | y) in nats, or without the class, as the page Dependence is set."""
    return _contingency(used, a, b).information


@quantity
def information_of_case(used: InUse, a: str, b: str, class_: Level) -> float:
    """log P(a, b|c)/(P(a|c) P(b|c)) of the values that the case has, in nats, or without the class, as the page
    Dependence is set: what the case adds to the mean that I is."""
    cells = _contingency(used, a, b)
    k = 0 if cells.classes == (None,) else cells.classes.index(among(class_, cells.classes))
    return float(cells.of_case(used.case)[k])


def _contingency(used: InUse, a: str, b: str) -> Contingency:
    model = cast(SemiNaive, used.pairs)
    names = [v.name for v in model.schema_ if v.discrete]
    one = among(a, names)
    other = among(b, [name for name in names if name != one])
    return contingency(model, one, other, overall=used.setting("dependence_of") == "overall")


@quantity
def tree_of_case(used: InUse, class_: Level) -> float:
    """What the edges of the tree that are taken up to the step shown add to log P(x|c) of the case, in nats."""
    model, step = used.pairs, used.setting("tree_step")
    grown = grow(model)
    edges = [one.edge for one in grown.taken(len(grown.steps) if step < 0 else step)]
    classes = model.classes_.tolist()
    return float(edges_of_case(model, edges, used.case)[classes.index(among(class_, classes))])


@quantity
def tree_weight(used: InUse) -> float:
    """The weight of the maximum spanning tree after the step that is shown, in nats."""
    grown, step = grow(used.pairs), used.setting("tree_step")
    return grown.total if step < 0 else grown.total_after(step)


@quantity
def twice_counted(used: InUse) -> float:
    """What naive Bayes counts twice of the case, by the light of the tree, in nats."""
    counted = counted_twice(*used.families, used.case, prior_of_use=used.prior)
    if counted is None:
        raise BayesEngineError("this case has no posterior")
    return counted.nats


# networks -------------------------------------------------------------------------------------------------------------


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


# hidden labels --------------------------------------------------------------------------------------------------------


@quantity
def mixture_objective(used: InUse) -> float:
    """What EM maximizes, after the step that is shown, in nats."""
    steps = used.mixture.trace.steps
    shown = used.setting("em_step")
    return steps[shown if 0 <= shown < len(steps) else -1].objective


@quantity
def largest_responsibility(used: InUse) -> float:
    """The responsibility for the case of the component that has the largest, after the step that is shown."""
    run, shown = used.mixture, used.setting("em_step")
    steps = run.trace.steps
    now = steps[shown if 0 <= shown < len(steps) else -1]
    return float(at_step(run.model, now.parameters, used.mixture_case)[0].max())


@quantity
def mixture_steps(used: InUse) -> float:
    """The M steps that EM took until it stopped."""
    return float(used.mixture.trace.n_iter)


@quantity
def hidden_right(used: InUse) -> float:
    """How many hidden rows naive Bayes by EM has right at the end."""
    run = used.hidden_labels
    return float(run.right(len(run.trace.steps) - 1))


@quantity
def posterior_by_em(used: InUse, class_: Level) -> float:
    """P(c|x) of the case by the naive Bayes that EM ended with."""
    run = used.hidden_labels
    if not run.named:
        raise BayesEngineError("without a label the classes have no names")
    classes = run.model.classes_.tolist()
    return float(run.model.predict_proba(used.case)[0, classes.index(among(class_, classes))])


# projections ----------------------------------------------------------------------------------------------------------


@quantity
def hidden_agreement(used: InUse) -> float:
    """In how many rows a hidden node's states agree with the column they were learned back for, up to their order."""
    return float(used.hidden_column.right)


@quantity
def separation(used: InUse) -> float:
    """J, between-class over within-class scatter, along the line that is shown."""
    projection, angle = used.line
    return projection.along(angle).J


@quantity
def projected_distance(used: InUse, class_: Level) -> float:
    """How far the case is from the mean of a class, both projected onto the line that is shown, in standard deviations
    within the classes."""
    projection, angle = used.line
    rows = projection.numbers
    k = rows.classes.index(among(class_, rows.classes))
    return float(projection.distances(np.array([_cell(used, name) for name in rows.names]), angle)[k])


@quantity
def boundary_error(used: InUse, rule: str) -> float:
    """The error rate of "fisher", "lda" or "bayes" on the two known classes."""
    rules = boundaries(used.gaussians)
    return float(getattr(rules, among(rule, ("fisher", "lda", "bayes"))).error)


@quantity
def correlation_within(used: InUse, step: str) -> float:
    """The mean |r| of two columns within the classes: "raw", or after "pca" or "lda"."""
    steps, _scheme = transformed_naive_bayes(used.numbers)
    return steps[among(step, list(steps))].correlation


@quantity
def transformed_posterior(used: InUse, step: str, class_: Level) -> float:
    """P(c|x) of the case by Gaussian naive Bayes on the columns "raw", or after "pca" or "lda"."""
    rows = used.numbers
    found = posterior_after_steps(rows, np.array([_cell(used, name) for name in rows.names]))
    return float(found[among(step, list(found))][rows.classes.index(among(class_, rows.classes))])
