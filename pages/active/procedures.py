"""How models are said to differ as procedures that learn from samples of this size: alike wherever it is said."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from bayes_engine.decision.compare import FEWEST
from bayes_engine.language import Message, _
from bayes_engine.numerals import number
from pages import active
from pages.active.units import as_probability, loss_difference_text
from pages.runtime.escape import md


def difference_text(measure: str, value: float) -> str:
    """A difference by a measure with its sign, to three digits that tell."""
    if measure == "log_loss":
        return loss_difference_text(value)
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + number(abs(value), 3)


def interval_shown(measure: str, row: Sequence[float]) -> tuple[float, float]:
    """The ends of a difference's interval, the lower first as they are shown: more loss is less probability. `row`:
    difference, low, high."""
    turned = measure == "log_loss" and as_probability()
    return (row[2], row[1]) if turned else (row[1], row[2])


def with_interval(measure: str, row: Sequence[float]) -> str:
    """A difference with its interval, as far as they are known."""
    shown = (row[0], *interval_shown(measure, row))
    one, low, high = ("–" if math.isnan(v) else difference_text(measure, v) for v in shown)
    return one if math.isnan(row[1]) else f"{one} [{low}, {high}]"


def how_compared(n: int) -> str:
    """What a difference between models of n rows is, and its interval."""
    return _(
        "A difference is one of procedures, each learning from samples of {n} rows. Its 95% bracket is Student's t "
        "with the variance of a mean of {n} rows and, for models that other rows would teach, a multiple of the "
        "variance between {runs} cross-validations, set by simulation."
    ).format(n=f"{n:,}", runs=active.runs_for(n))


def extremes() -> str:
    """What no interval from one sample counts."""
    return _(
        "In simulations alike procedures were called different in 3 to 6% of samples; it is more where a few extreme "
        "rows, or a choice among columns, decide what a model learns."
    )


def without_posterior(scores: pd.DataFrame) -> list[str]:
    """How rows count for which a model has no posterior, where `scores` (a row a model) say that there are any."""
    n = int(scores["undecided"].max())
    if not n:
        return []
    return [
        _(
            "{n} rows have no posterior: each counts as wrong and costs what the dearest action costs under its "
            "true class. Log-loss, Brier score and ECE leave them out."
        ).format(n=n)
    ]


def why_no_verdict(table: active.FittableTable, fault: Message | None) -> str:
    """Why no procedure is called different, whatever the rows show: too few, not to be divided again, or a loss of
    one was infinite then."""
    if fault is not None:
        return _("How the models would do on other samples is not known: {why}.").format(why=fault.local(md))
    if (len(table.parts.y) if table.parts.groups is None else table.parts.groups.nunique()) >= FEWEST:
        return _("A model without an interval gave some row's true class probability 0 in another cross-validation.")
    words = (
        _("With fewer than {n} rows an interval is given, but no verdict.")
        if table.parts.groups is None
        else _("With fewer than {n} groups an interval is given, but no verdict.")
    )
    return words.format(n=FEWEST)
