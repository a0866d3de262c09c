"""How each quantity is predicted before it is seen: by which control, within which limits; and which parts of its page
stay while it is hidden.

A part is named by its page and its own name, as the pages ask for it (`pages.active.predicting.shows`). Whatever is
not named for a quantity gives it away, and is held back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bayes_engine.workbench.derivation.check import read_number
from bayes_engine.workbench.lessons.choices import CHOICES, right_option
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson
from bayes_engine.workbench.lessons.quantities.registry import value_of

Kind = Literal["probability", "number", "choice"]
Limits = tuple[float, float]


@dataclass(frozen=True)
class Prediction:
    """How a quantity is predicted: a probability or a share, another number, or a choice. A slider goes from one of the
    `limits` to the other, which say nothing of the answer; a number beyond them can be typed. `stays` are the parts of
    the page that do not give it away."""

    kind: Kind
    stays: frozenset[str] = frozenset()
    limits: Callable[[InUse, Mapping[str, Any]], Limits] = lambda _used, _arguments: (0.0, 1.0)
    whole: bool = False


def _between(low: float, high: float) -> Callable[[InUse, Mapping[str, Any]], Limits]:
    return lambda _used, _arguments: (low, high)


def _of_losses(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    table = used.loss.table
    return min(0.0, float(table.min())), max(1.0, float(table.max()))


def _of_column(used: InUse, arguments: Mapping[str, Any]) -> Limits:
    column = used.X[arguments["column"]].dropna()
    return float(column.min()), float(column.max())


def _of_the_peak(used: InUse, arguments: Mapping[str, Any]) -> Limits:
    if used.setting("lab_tab") != "fitted":
        return 0.0, 10.0
    column = used.X.iloc[:, used.setting("lab_fitted_column")].dropna()
    low, high = float(column.min()), float(column.max())
    return (0.0, (high - low) / 2) if arguments["parameter"] == "sd" else (low, high)  # no deviation is larger


def _of_information(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    return 0.0, math.log(max(len(v.levels) for v in used.pairs.schema_))


def _of_arcs(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    d = used.X.shape[1] + 1
    return 0.0, d * (d - 1) / 2


def _of_rows(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    return 0.0, float(len(used.X))


def _of_marginal(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    n, d = used.X.shape
    return -2.0 * n * (d + 1), 0.0


def _of_one_row(used: InUse, _arguments: Mapping[str, Any]) -> Limits:
    return -2.0 * (used.X.shape[1] + 1), 0.0


_SAMPLE = frozenset({"dependence/pairs", "dependence/answer", "dependence/examples"})
_DECIDED = frozenset({"case/decision"})
_LINE = frozenset({"projection/line"})
_NETWORK = frozenset({"network/tables"})

PREDICTIONS: Mapping[str, Prediction] = {
    # the case
    "posterior": Prediction("probability"),
    "risk": Prediction("number", limits=_of_losses),
    "least_risk": Prediction("number", limits=_of_losses),
    "regret": Prediction("number", limits=_of_losses),
    "decision": Prediction("choice"),
    "flip_loss": Prediction("number", limits=_between(0, 100)),
    "flip_prior": Prediction("probability"),
    "log_odds": Prediction("number", limits=_between(-50, 50)),
    "contribution": Prediction("number", limits=_between(-5, 5)),
    "log_joint": Prediction("number", _DECIDED, _between(-2000, 0)),
    "factor": Prediction("number", _DECIDED, _between(0, 5)),
    "cpt_cell": Prediction("probability", _DECIDED),
    "posterior_without": Prediction("probability"),
    "smoothed_posterior": Prediction("probability"),
    # the estimates
    "mean": Prediction("number", limits=_of_column),
    "mean_low": Prediction("number", limits=_of_column),
    "model_numbers": Prediction("number", frozenset({"model/conditionals"}), _between(0, 1000), whole=True),
    "fewest_case_rows": Prediction("number", frozenset({"model/conditionals"}), _of_rows, whole=True),
    "likeliest_density": Prediction("number", limits=_between(0, 5)),
    "likelihood_peak": Prediction("number", limits=_of_the_peak),
    "base_rate_posterior": Prediction("probability"),
    "bayes_risk_of_truth": Prediction("number", frozenset({"laboratory/densities"})),
    "misfit": Prediction("number"),
    "underflow_columns": Prediction("number", limits=_between(0, 10_000), whole=True),
    "rare_recall": Prediction("probability"),
    "least_rows": Prediction("number", limits=_between(0, 5_000), whole=True),
    "rows_lacking_for_case": Prediction("number", limits=_between(0, 5_000), whole=True),
    # dependence
    "information": Prediction("number", limits=_of_information),
    "tree_weight": Prediction("number", limits=_between(0, 5)),
    "information_of_case": Prediction("number", limits=_between(-3, 3)),
    "tree_of_case": Prediction("number", limits=_between(-10, 10)),
    "twice_counted": Prediction("number", _SAMPLE, _between(-5, 5)),
    "strongest_pair": Prediction("choice"),
    # networks
    "belief": Prediction("probability", _NETWORK),
    "information_given": Prediction("number", _NETWORK, _between(0, 1)),
    "separated": Prediction("choice", _NETWORK),
    "event_probability": Prediction("probability", _NETWORK),
    "arcs": Prediction("number", limits=_of_arcs, whole=True),
    "first_arc": Prediction("choice"),
    "marginal_likelihood": Prediction("number", limits=_of_marginal),
    "network_log_probability": Prediction("number", limits=_of_one_row),
    "network_posterior": Prediction("probability"),
    # hidden labels
    "mixture_objective": Prediction("number", limits=_between(-1000, 0)),
    "largest_responsibility": Prediction("probability"),
    "posterior_by_em": Prediction("probability"),
    "mixture_steps": Prediction("number", limits=_between(0, 100), whole=True),
    "hidden_agreement": Prediction("number", limits=_of_rows, whole=True),
    "hidden_right": Prediction("number", limits=_of_rows, whole=True),
    # projections
    "separation": Prediction("number", limits=_between(0, 20)),
    "projected_distance": Prediction("number", limits=_between(0, 10)),
    "transformed_posterior": Prediction("probability"),
    "boundary_error": Prediction("probability", _LINE),
    "correlation_within": Prediction("probability", _LINE),
}
"""Of every quantity and every choice."""


def asked_of(lesson: Lesson) -> AskedQuantity | None:
    """What a lesson asks before the answer is seen: its own question, or one that it has for this; None where it asks
    nothing."""
    return lesson.answer if lesson.predict is None else lesson.predict.answer


def right_answer(asked: AskedQuantity, used: InUse) -> float:
    """The answer, of a choice the place of the right option. Raises BayesEngineError where there is none."""
    return float(right_option(asked, used)) if asked.quantity in CHOICES else value_of(asked, used)


def read_prediction(asked: AskedQuantity, text: str, options: int) -> float | None:
    """The number that a person predicts, or the place of the option that they chose among so many; None for a text that
    is neither.

    >>> [read_prediction(AskedQuantity("posterior"), text, 0) for text in ("70 %", "7/10", "0.7", "often")]
    [0.7, 0.7, 0.7, None]
    >>> [read_prediction(AskedQuantity("decision"), text, 2) for text in ("1", "2", "-1", "1.0", "")]
    [1.0, None, None, None, None]
    """
    if asked.quantity in CHOICES:
        return float(text) if text in map(str, range(options)) else None
    return read_number(text)


def distance(asked: AskedQuantity, given: float, right: float) -> float:
    """How far a prediction is from the answer: |Δ|, of a probability in percentage points; of a choice 0 or 1.

    >>> distance(AskedQuantity("posterior"), 0.7, 0.95), distance(AskedQuantity("decision"), 0.0, 3.0)
    (25.0, 1.0)
    """
    kind = PREDICTIONS[asked.quantity].kind
    if kind == "choice":
        return float(given != right)
    away = abs(given - right)
    return round(100 * away, 9) if kind == "probability" else away
