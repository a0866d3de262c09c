"""What a refined naive Bayes found out: the weight of each column and what the weights gain, or the columns selected
and the score of every step."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.selective import SelectionStep, SelectiveNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.numerals import number, plain
from bayes_engine.workbench.figures.weights_and_selection import selection_steps, weight_bars
from pages import active
from pages.components.chart import chart
from pages.components.tables import table_height
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import dark

MOST = 24
"""So many columns have a bar: the heaviest."""
TALLEST = 248


def weights_or_selection(table: active.FittableTable, fitted: active.Fitted) -> None:
    """The weights, or the selection, of a model that has any."""
    if isinstance(fitted.model, WeightedNaiveBayes):
        _weights(table, fitted, fitted.model)
    elif isinstance(fitted.model, SelectiveNaiveBayes):
        _selection(table, fitted.model)


def selected_or_weighted(fitted: active.Fitted, column: str) -> None:
    """What the model makes of one column's class-conditionals."""
    model = fitted.model
    if isinstance(model, WeightedNaiveBayes):
        w = model.weights_.get(column, 1.0)
        note = _("In the product it stands to the power of its weight, w = {w}.").format(w=plain(w))
        st.caption(note if w else _("Its weight is 0: it has no say."))
    elif isinstance(model, SelectiveNaiveBayes) and column not in model.kept_:
        st.caption(_("The selection left this column out: it is counted, and has no factor."))


def _weights(table: active.FittableTable, fitted: active.Fitted, model: WeightedNaiveBayes) -> None:
    """The weights as bars, and what they gain."""
    weights = model.weights_
    heaviest = sorted(weights, key=lambda name: -weights[name])[:MOST]
    drawn = {plotly_text(table.column(name), 30): weights[name] for name in heaviest}
    if len(drawn) < len(heaviest):  # two columns of one name on screen
        drawn = {f"{plotly_text(table.column(n), 24)} ({table.features.position[n] + 1})": weights[n] for n in heaviest}
    figure_at, words_at = st.columns([3, 2], gap="medium")
    with figure_at:
        st.markdown("**" + _("The weight of each column") + "**")
        largest = active.setting(fitted.spec, "largest")
        chart(weight_bars(drawn, largest=largest, dark=dark()), key="weights", alt=_("the weight of each column"))
        if len(heaviest) < len(weights):
            st.caption(_("The {n} heaviest of {all} columns.").format(n=len(heaviest), all=len(weights)))
    with words_at:
        st.markdown(_gain(model))
        gone = [name for name, w in weights.items() if w == 0]
        if gone:
            names = _(", ").join(md(table.column(n), 24) for n in gone[:8]) + (" …" if len(gone) > 8 else "")
            st.markdown(_("Without any say ({n}): {names}.").format(n=len(gone), names=names))
        st.caption(
            _(
                "At w = 1 everywhere this is naive Bayes; below 1 a column counts less than its probabilities say. "
                "$P(c)\\prod_j P(x_j\\mid c)^{w_j}$ is a score, the probability of nothing, so there is no $P(x)$; but "
                "its share of the sum is a posterior, for that is what the weights were fitted to."
            )
        )


def _gain(model: WeightedNaiveBayes) -> str:
    """What the weights make of the cost of a row."""
    if not model.trace_:
        return _("No row could be asked: the weights are 1.")
    first, last = number(model.trace_[0]), number(model.trace_[-1])
    if model.objective == "cll":
        note = _("The mean log-loss of a row falls from **{first}** (w = 1) to **{last}** nats, in {n} steps.")
    else:
        note = _("Half a row's squared error, of the posterior, falls from **{first}** (w = 1) to **{last}**, in {n} "
                 "steps.")  # fmt: skip
    how = (
        _("Each row is judged by counts without it.")
        if model.leave_one_out
        else _("Each row is judged by counts that include it, which flatters columns with many levels.")
    )
    return note.format(first=first, last=last, n=model.n_iter_) + " " + how


def _selection(table: active.FittableTable, model: SelectiveNaiveBayes) -> None:
    """Which column came in or went out at each step, and the score it made."""
    chosen = model.selection_
    forward, better = chosen.direction == "forward", max if chosen.criterion == "accuracy" else min
    score = criterion(chosen.criterion)
    sign = "+" if forward else "−"
    names = [_("none") if forward else _("all"), *(f"{sign} {_name(table, s.column)}" for s in chosen.trace[1:])]
    refused = better(chosen.refused.values()) if chosen.refused else None
    labels = [plotly_text(name, 22) for name in names] + ([_("stop")] if refused is not None else [])
    kept = _(", ").join(f"**{md(table.column(name), 30)}**" for name in model.kept_)
    figure_at, words_at = st.columns([3, 2], gap="medium")
    with figure_at:
        st.markdown("**" + _("The steps of the selection") + "**")
        figure = selection_steps(labels, [s.score for s in chosen.trace], refused, title=score, dark=dark())
        chart(figure, key="selection", alt=_("the score after each step of the selection"))
    with words_at:
        st.markdown(
            _("Kept {n} of {all} columns: {names}.").format(n=len(model.kept_), all=len(table.features), names=kept)
            if kept
            else _("No column was kept: none made the score better than the class prior alone.")
        )
        _steps(chosen.trace, names, score)
        if refused is not None:
            st.caption(_stopped(forward).format(score=number(refused), now=number(chosen.trace[-1].score)))


def _stopped(forward: bool) -> str:
    if forward:
        return _("Stopped: the best column left would make {score} of {now}, which is no better.")
    return _("Stopped: without the column that is missed least it would be {score} instead of {now}, which is worse.")


def _steps(trace: tuple[SelectionStep, ...], names: list[str], score: str) -> None:
    rows = [
        {"step": clean(name, 40), "columns": len(step.kept), "score": number(step.score)}
        for name, step in zip(names, trace, strict=True)
    ]
    st.dataframe(
        pd.DataFrame(rows),
        key="selection_steps",
        hide_index=True,
        height=table_height(len(rows), TALLEST),
        alt=_("the steps of the selection"),
        column_config={
            "step": st.column_config.TextColumn(_("step")),
            "columns": st.column_config.NumberColumn(_("columns"), width=70),
            "score": st.column_config.TextColumn(_("score"), help=score),
        },
    )


def criterion(name: str) -> str:
    """The score of a selection on screen."""
    return {
        "accuracy": _("share right, left out"),
        "log_loss": _("log-loss, left out (nats)"),
        "risk": _("risk, left out"),
    }[name]


def _name(table: active.FittableTable, column: str | None) -> str:
    return clean(table.column(column), 30) if column is not None else ""
