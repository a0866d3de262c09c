"""How the models do: the readings side by side, which procedures are worse in words, and all the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.compare import LEVEL, bins_for, rows_held_impossible
from bayes_engine.language import Message, _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.comparison import MeasurePanel
from pages import active
from pages.active.procedures import extremes, how_compared, why_no_verdict, with_interval, without_posterior
from pages.active.units import as_probability, loss_measure, loss_shown, loss_text
from pages.active.words import held_out_scheme, share
from pages.components.readings import readings
from pages.components.tables import Head, word_table
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, plotly_text
from pages.runtime.state import change
from pages.runtime.widgets import choose
from pages.views.model.compare.evaluated import (
    COUNTERPART,
    Evaluated,
    brier_decomposition,
    differences,
    repetitions,
    reports,
    scores,
)

ROWS_NAMED = 5
"""So many rows are named of those that make a log-loss infinite."""
HIGH = 420
"""Pixels of a table at most."""


def scores_table(evaluated: Evaluated) -> None:
    """One line a model: risk under the losses, accuracy, log-loss, Brier, ECE. A click makes a model the active one."""
    scored, priced = scores(evaluated), reports(evaluated)
    names = list(evaluated.held)
    risks = [priced[n].risk for n in names]
    panels = [
        MeasurePanel(_("estimated risk"), risks, [number(v, 3) for v in risks], [priced[n].interval for n in names]),
        MeasurePanel(_("accuracy"), list(scored["accuracy"]), [share(v) for v in scored["accuracy"]], more=True),
        MeasurePanel(
            loss_measure(short=True),
            [loss_shown(v) for v in scored["log_loss"]],
            [loss_text(v) for v in scored["log_loss"]],
            more=as_probability(),
        ),
        MeasurePanel("Brier", list(scored["brier"]), [number(v, 3) for v in scored["brier"]]),
        MeasurePanel("ECE", list(scored["ece"]), [number(v, 3) for v in scored["ece"]]),
    ]

    def pick(point: Mapping[str, Any]) -> None:
        name = names[int(point["point_index"])]
        if name != COUNTERPART:
            change(lambda s: replace(s, shelf=evaluated.specs, active=int(name)))

    models = [evaluated.title(n, plotly_text) for n in names]
    readings(models, panels, names.index(evaluated.active), key=f"compare_figure_{evaluated.active}", on_pick=pick)


def _measure_name(name: str) -> str:
    return {
        "risk": _("risk under the losses"),
        "error": _("error rate"),
        "log_loss": _("log-loss"),
        "brier": "Brier",
    }[name]


def differences_in_words(evaluated: Evaluated) -> None:
    """Which models are worse as procedures, in words; then the numbers, and folded how they were come by."""
    names = {name: _measure_name(name) for name in keys.COMPARE_BY.options}
    measure = choose(_("Which is better on samples of this size?"), keys.COMPARE_BY, names)
    if len(evaluated.held) < 2:
        st.markdown(_("One model alone: nothing to compare it with."))
    else:
        compared = differences(evaluated, measure)
        with st.container(key="compare_sentence"):
            st.markdown(_sentence(evaluated, measure, compared))
        _table(evaluated, measure, compared)
        with st.expander(_("Every two models"), icon=":material/compare_arrows:"):
            _pairs(evaluated, measure, compared)
    with st.expander(_("How the models are judged"), icon=":material/info:"):
        _caption(evaluated)


def _written(measure: str, value: float) -> str:
    if measure != "log_loss":
        return number(value, 3)
    return f"P = {loss_text(value)}" if as_probability() else loss_text(value)


def _values(evaluated: Evaluated, measure: str) -> dict[str, float]:
    if measure == "risk":
        return {name: report.risk for name, report in reports(evaluated).items()}
    table = scores(evaluated)
    if measure == "error":
        return {str(name): 1.0 - float(v) for name, v in table["accuracy"].items()}
    return {str(name): float(v) for name, v in table[measure].items()}


def _rows(scored: pd.DataFrame) -> Iterable[Any]:
    """The comparisons, a tuple each whose fields are the columns."""
    return scored.itertuples()


def _against(compared: pd.DataFrame, best: str) -> dict[str, Any]:
    """The comparison of each model with the best: its difference above it, interval, p, verdict."""
    out: dict[str, Any] = {}
    for row in _rows(compared):
        if row.one == best:
            out[row.other] = (-row.difference, -row.high, -row.low, row.p, row.real)
        elif row.other == best:
            out[row.one] = (row.difference, row.low, row.high, row.p, row.real)
    return out


def as_good_as_any(evaluated: Evaluated, name: str) -> bool:
    """Whether no model here was shown to have a lower error rate."""
    if len(evaluated.held) < 2:
        return False
    best = _best(_values(evaluated, "error"))
    return name == best or not _against(differences(evaluated, "error", "error"), best)[name][-1]


def _best(values: Mapping[str, float]) -> str:
    return min(values, key=lambda n: (values[n], n))


def _sentence(evaluated: Evaluated, measure: str, compared: pd.DataFrame) -> str:
    values = _values(evaluated, measure)
    best = _best(values)
    above = _against(compared, best)
    worse = [n for n, (*_d, real) in above.items() if real]
    alike = [n for n, (*_d, p, real) in above.items() if not real and not math.isnan(p)]
    endless = [n for n, (difference, *_d) in above.items() if math.isnan(difference)]
    sentences = [
        _("Least {measure}: **{model}**, {value}.").format(
            measure=_measure_name(measure), model=evaluated.title(best), value=_written(measure, values[best])
        )
    ]
    if worse:
        listed = _("; ").join(
            _("**{model}** by {more}").format(model=evaluated.title(n), more=with_interval(measure, above[n]))
            for n in sorted(worse, key=lambda n: above[n][0])
        )
        sentences.append(_("Worse on average over samples of {n} rows: {models}.").format(
            n=f"{len(evaluated.table.parts.y):,}", models=listed))  # fmt: skip
    if alike:
        listed = _(", ").join(evaluated.title(n) for n in alike)
        sentences.append(_("Not shown to be worse: {models}.").format(models=listed))
    if any(math.isnan(p) and not math.isnan(difference) for difference, *_interval, p, _real in above.values()):
        repeated = repetitions(evaluated)
        sentences.append(why_no_verdict(evaluated.table, repeated if isinstance(repeated, Message) else None))
    if endless:
        listed = _(", ").join(evaluated.title(n) for n in endless)
        sentences.append(
            _("No difference can be given for {models}: a true class was held impossible, in row {rows}.").format(
                models=listed, rows=_surprising(evaluated, [best, *endless])
            )
        )
    return " ".join(sentences)


def _surprising(evaluated: Evaluated, models: list[str]) -> str:
    """The first rows, as the table counts them, in which one of the models held the true class impossible."""
    places = {
        int(i) for n in models for i in rows_held_impossible(evaluated.held[n], active.prior_of_use(evaluated.table))
    }
    rows = [str(int(evaluated.table.parts.rows[i]) + 1) for i in sorted(places)[:ROWS_NAMED]]
    return _(", ").join(rows) + (" …" if len(places) > ROWS_NAMED else "")


def _caption(evaluated: Evaluated) -> None:
    """How the numbers were come by."""
    n, models = len(evaluated.table.parts.y), len(evaluated.held)
    pairs = models * (models - 1) // 2
    parts = [
        held_out_scheme(next(iter(evaluated.held.values())).scheme, one_by_one=active.is_tiny(evaluated.table)),
        how_compared(n),
        _("Worse: p < {level} by Holm's correction for all pairs ({pairs}).").format(level=f"{LEVEL:g}", pairs=pairs),
        extremes(),
        _(
            "Brier score: Σ (P(c | x) − [c true])² over the classes. ECE, expected calibration error: the mean gap "
            "between how sure and how often right, in {bins} bins of equal width on the largest posterior."
        ).format(bins=bins_for(n)),
        *(
            [
                _(
                    "P(truth): the geometric mean of the probability that the true class was given, exp(−log-loss); a "
                    "difference is the share by which it is higher or lower."
                )
            ]
            if as_probability()
            else []
        ),
        _("Logistic regression: scikit-learn, missing numbers filled with the median, levels one-hot, scaled, C = 1."),
    ]
    if evaluated.table.parts.groups is not None:
        parts.append(_("Groups are held out, and drawn again, whole."))
    if evaluated.amount is not None:
        parts.append(
            _("The risk is per row, each row's loss times its amount.")
            if evaluated.loss.by_amount is None
            else _("The risk is per row, each row decided and priced at its own amount.")
        )
    if evaluated.use:
        parts.append(_("Rows weighted to the prior of use."))
    parts += without_posterior(scores(evaluated))
    st.caption(" ".join(parts))


def _table(evaluated: Evaluated, measure: str, scored: pd.DataFrame) -> None:
    table, priced, taken = scores(evaluated), reports(evaluated), brier_decomposition(evaluated)
    above = _against(scored, _best(_values(evaluated, measure)))
    rows = []
    for name in evaluated.held:
        report, parts = priced[name], taken[name]
        rows.append(
            [
                evaluated.title(name, clean),
                *_difference_and_verdict(measure, above.get(name)),
                f"{number(report.risk, 3)} [{number(report.interval[0], 3)}, {number(report.interval[1], 3)}]",
                share(float(table["balanced"][name])),
                number(parts.miscalibration, 3),
                number(parts.discrimination, 3),
            ]
        )
    delta = loss_measure() if measure == "log_loss" else _measure_name(measure)
    unsure = number(next(iter(taken.values())).uncertainty, 3)
    sentence = _(
        "Miscalibration: what the Brier score would fall by if the probabilities were recalibrated by the best "
        "increasing function (isotonic regression, no bins). Brier = MCB − DSC + UNC, and UNC is {uncertainty} here."
    ).format(uncertainty=unsure)
    word_table(
        [
            Head(_("model")),
            Head(_("Δ {measure}").format(measure=delta), _("Above the best, paired."), right=True),
            Head(_("worse?"), _("On samples of this size; Holm-corrected for all pairs.")),
            Head(_("risk [95%]"), right=True),
            Head(_("balanced accuracy"), _("The mean over the classes of the share that is right."), right=True),
            Head("Brier: MCB", sentence, right=True),
            Head("DSC", _("Discrimination: how far the model tells the classes apart."), right=True),
        ],
        rows,
        key="compare_numbers",
        label=_("risk, difference to the best and the Brier score's parts of each model"),
        height=HIGH,
        narrow=True,
    )


def _difference_and_verdict(measure: str, row: Any) -> tuple[str, str]:
    """How far a model is above the best (None: it is the best), and whether that is real."""
    if row is None:
        return "0", _("the best")
    *difference, p, real = row
    if math.isnan(p):
        return with_interval(measure, difference), "–"
    verdict = _("yes, p {p}") if real else _("no, p {p}")
    return with_interval(measure, difference), verdict.format(p=chance(p))


def chance(p: float) -> str:
    """A p-value with its sign."""
    return "< 0.0001" if p < 0.0001 else "= " + (f"{p:.3f}" if p >= 0.01 else number(p, 2))


def _pairs(evaluated: Evaluated, measure: str, compared: pd.DataFrame) -> None:
    rows = [
        [
            evaluated.title(row.one, clean),
            evaluated.title(row.other, clean),
            with_interval(measure, (row.difference, row.low, row.high)),
            *(
                ("–", "–")
                if math.isnan(row.p)
                else (chance(row.p).removeprefix("= "), _("yes") if row.real else _("no"))
            ),
        ]
        for row in _rows(compared)
    ]
    difference, p = Head(_("difference [95%]"), right=True), Head(_("p, Holm"), right=True)
    word_table(
        [Head(_("model")), Head(_("beside")), difference, p, Head(_("differ?"))],
        rows,
        key="compare_pairs",
        label=_("every two models compared"),
        height=HIGH,
        narrow=True,
    )
