"""What a model found out besides its numbers: what a semi-naive one or a network found its columns to depend on, the
weight of each column and what the weights gain, or the columns selected and the score of every step."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.numerals import number, plain
from bayes_engine.workbench.figures.weights_and_selection import selection_steps, weight_bars
from pages import active
from pages.active import units
from pages.components.chart import chart
from pages.components.tables import table_height
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import dark

ARCS = 12
"""So many arcs of a network are written out."""
MOST = 24
"""So many columns have a bar: the heaviest."""
TALLEST = 248


def structure_in_a_line(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What a semi-naive model chose: the super-parent and how it did, the root, the arcs; in a line."""
    spec, model = fitted.spec, fitted.model
    if isinstance(model, WeightedNaiveBayes):
        _weights(table, fitted, model)
    elif isinstance(model, SelectiveNaiveBayes):
        _selection(table, model)
    elif isinstance(model, BayesianNetworkClassifier):
        _network(table, model)
    if spec.family not in ("spode", "tan", "aode", "k-db"):
        return

    def named(name: str) -> str:
        return md(table.column(name), 30)

    if not any(v.discrete for v in model.schema_):
        st.caption(_("No column is discrete here, and only such a one can be a parent: this is naive Bayes."))
    elif isinstance(model, SPODE) and model.super_parent == "loo":
        best = _(", ").join(
            _("{column} {right} right, log-loss {loss}").format(
                column=f"**{named(name)}**" if k == 0 else named(name), right=f"{accuracy:.1%}", loss=f"{loss:.3f}"
            )
            for k, (name, accuracy, loss) in enumerate(model.candidate_scores_.head(3).itertuples())
        )
        st.caption(_("The best super-parents, leaving out one row at a time: {best}.").format(best=best))
    elif isinstance(model, TAN) and model.tree_:
        tops = {
            parent: None for parent, _child in model.tree_ if parent not in {child for _parent, child in model.tree_}
        }
        roots = _(", ").join(f"**{named(name)}**" for name in tops)
        st.caption(_("The tree is directed away from {root}.").format(root=roots))


def _network(table: active.FittableTable, model: BayesianNetworkClassifier) -> None:
    """The arcs of a network, and the class's Markov blanket: all that a complete row's posterior hangs on."""

    def named(names: Sequence[str]) -> str:
        return _(", ").join(f"**{md(table.column(name), 30)}**" for name in names)

    graph, target = model.graph_, table.target.name
    shown = [f"{md(table.column(a), 24)} → {md(table.column(b), 24)}" for a, b in graph.arcs[:ARCS]]
    more = _(" and {n} more").format(n=len(graph.arcs) - ARCS) if len(graph.arcs) > ARCS else ""
    sentences = (
        [_("Arcs: {arcs}.").format(arcs=_(", ").join(shown) + more)] if shown else [_("The network has no arc.")]
    )
    if graph.parents[target]:
        sentences.append(_("The class has parents: {names}.").format(names=named(graph.parents[target])))
    if model.blanket_:
        sentences.append(
            _("A complete row's posterior depends on the class's Markov blanket alone: {names}.").format(
                names=named(model.blanket_)
            )
        )
    st.caption(" ".join(sentences))


# weights and selection ------------------------------------------------------------------------------------------------


def selected_or_weighted(fitted: active.Fitted, column: str) -> None:
    """What the model makes of one column's class-conditionals."""
    model = fitted.model
    if isinstance(model, WeightedNaiveBayes):
        w = model.weights_.get(column, 1.0)
        note = _("In the product it stands to the power of its weight, w = {w}.").format(w=plain(w))
        st.caption(note if w else _("Its weight is 0: it has no influence."))
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
            st.markdown(_("Without influence ({n}): {names}.").format(n=len(gone), names=names))
        st.caption(
            _(
                "At w = 1 everywhere this is naive Bayes; below 1 a column counts less than its probabilities "
                "warrant. $P(c)\\prod_j P(x_j\\mid c)^{w_j}$ is a score, not a probability, so there is no $P(x)$; "
                "but its share of the sum is a posterior, for that is what the weights were fitted to."
            )
        )


def _gain(model: WeightedNaiveBayes) -> str:
    """What the weights make of the cost of a row."""
    if not model.trace_:
        return _("No row could be asked: the weights are 1.")
    first, last = model.trace_[0], model.trace_[-1]
    if model.objective == "cll":
        first, last = units.evidence(first), units.evidence(last)
        note = _("The mean log-loss of a row falls from **{first}** (w = 1) to **{last}** {unit}, in {n} steps.")
    else:
        note = _("Half the squared error of a row's posterior falls from **{first}** (w = 1) to **{last}**, in {n} "
                 "steps.")  # fmt: skip
    how = (
        _("Each row is judged by counts without it.")
        if model.leave_one_out
        else _("Each row is judged by counts that include it, which flatters columns with many levels.")
    )
    unit = units.evidence_unit()
    return note.format(first=number(first), last=number(last), unit=unit, n=model.n_iter_) + " " + how


def _selection(table: active.FittableTable, model: SelectiveNaiveBayes) -> None:
    """Which column came in or went out at each step, and the score it made."""
    chosen = model.selection_
    forward, better = chosen.direction == "forward", max if chosen.criterion == "accuracy" else min
    score = {
        "accuracy": _("share right, left out"),
        "log_loss": _("log-loss, left out ({unit})").format(unit=units.evidence_unit()),
        "risk": _("risk, left out"),
    }[chosen.criterion]
    as_shown = units.evidence if chosen.criterion == "log_loss" else float
    sign = "+" if forward else "−"
    steps = [clean(table.column(s.column), 30) for s in chosen.trace if s.column is not None]
    names = [_("none") if forward else _("all"), *(f"{sign} {name}" for name in steps)]
    refused = as_shown(better(chosen.refused.values())) if chosen.refused else None
    scores = [as_shown(s.score) for s in chosen.trace]
    labels = [plotly_text(name, 22) for name in names] + ([_("stop")] if refused is not None else [])
    kept = _(", ").join(f"**{md(table.column(name), 30)}**" for name in model.kept_)
    figure_at, words_at = st.columns([3, 2], gap="medium")
    with figure_at:
        st.markdown("**" + _("The steps of the selection") + "**")
        figure = selection_steps(labels, scores, refused, title=score, dark=dark())
        chart(figure, key="selection", alt=_("the score after each step of the selection"))
    with words_at:
        st.markdown(
            _("Kept {n} of {all} columns: {names}.").format(n=len(model.kept_), all=len(table.features), names=kept)
            if kept
            else _("No column was kept: none made the score better than the class prior alone.")
        )
        _steps([(name, len(s.kept), v) for name, s, v in zip(names, chosen.trace, scores, strict=True)], score)
        if refused is not None:
            st.caption(_stopped(forward).format(score=number(refused), now=number(scores[-1])))


def _stopped(forward: bool) -> str:
    if forward:
        return _("Stopped: the best column left would make {score} of {now}, which is no better.")
    return _("Stopped: without the column that is missed least it would be {score} instead of {now}, which is worse.")


def _steps(steps: Sequence[tuple[str, int, float]], score: str) -> None:
    """A row for each step: what came or went, how many columns were then kept, and their score."""
    rows = [{"step": clean(name, 40), "columns": kept, "score": number(value)} for name, kept, value in steps]
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
