"""Quantities of the estimates: cells and means, how many numbers a model has, and how many rows they rest on."""

from __future__ import annotations

from typing import Any

from bayes_engine.errors import ParameterError
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.estimates import Estimates, MomentEstimates, estimates
from bayes_engine.workbench.derivation.least_rows import rows_lacking, rows_needed
from bayes_engine.workbench.derivation.parameter_count import fewest_rows, model_size
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.quantities.case import factor_of_case
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


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
    return factor_of_case(used.model, case, column, class_)


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
def least_rows(used: InUse, order: str) -> float:
    """The rows that AODE needs before each P(c, x_i) has enough: in the "best" or the "worst" order."""
    names = ("samples_each", "samples_columns", "samples_levels", "samples_classes")
    return float(rows_needed(*map(used.setting, names)).of(order))


@quantity
def rows_lacking_for_case(used: InUse, order: str) -> float:
    """The rows still to come until each P(c, x_i) of the case rests on as many as asked for: in the "best" or the
    "worst" order."""
    return float(rows_lacking(used.model, used.case, used.setting("samples_each")).of(among(order, ("best", "worst"))))
