"""Quantities of the laboratory: smoothings, likelihoods, base rates, known densities, underflow and a rare class."""

from __future__ import annotations

import math

from bayes_engine.decision.decision_boundaries import log_posterior
from bayes_engine.errors import BayesEngineError
from bayes_engine.ledger import class_position
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.demonstrations import base_rate, climb, numbers_drawn, underflow
from bayes_engine.workbench.laboratory.excess_risk import fitted_to_population
from bayes_engine.workbench.laboratory.fitted_column import GaussianPlace
from bayes_engine.workbench.laboratory.rare_class import rare_class
from bayes_engine.workbench.laboratory.smoothing import RULES, curves
from bayes_engine.workbench.laboratory.truth import bayes_risk
from bayes_engine.workbench.lessons.in_use import InUse, number_of_case
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


@quantity
def smoothed_posterior(used: InUse, rule: str, class_: Level) -> float:
    """P(c|x) of the case under one of the laboratory's smoothings, at its number of rows."""
    model = used.model
    if not isinstance(model, NaiveBayes):
        raise BayesEngineError("the active model is no naive Bayes")
    k = class_position(among(class_, model.classes_.tolist()), model.classes_.tolist())
    use = None if used.prior == model.prior_by_class else used.prior  # each smoothing has a prior of its own
    n = used.setting("lab_smoothed_n") or float(model.stats_.class_weight.sum())
    smoothed = curves(model, used.case, [n], used.setting("lab_m"), used.setting("lab_m_base"), use=use)
    return float(smoothed.posterior[RULES.index(among(rule, RULES)), 0, k])


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
    place, k, moments = used.setting("lab_fitted_column"), used.setting("lab_fitted_class"), used.model.stats_.moments
    name = used.X.columns[place] if 0 <= place < used.X.shape[1] else None
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
    return GaussianPlace(mean, sd, 0.0).density(number_of_case(used, name))


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
