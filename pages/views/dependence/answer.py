"""The answer in words: which pairs are dependent, and what naive Bayes loses by it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.workbench.derivation.dependence import LEVEL
from pages import active
from pages.active import units
from pages.active.dependence_models import family_models, uncut
from pages.active.procedures import difference_text, how_compared, interval_shown, why_no_verdict
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.jobs import part_of_page
from pages.runtime.state import Spec, current
from pages.views.dependence import families
from pages.views.dependence.dependences import Dependences, column_name, edge_name, first_names


def which_pairs_depend(table: active.FittableTable, dependences: Dependences) -> None:
    """Which pairs are dependent, and what it costs naive Bayes on rows that it has not seen."""
    tested = [p for p in dependences.pairs if p.given_class.dependence.degrees]
    if not tested:
        return
    sure = [p for p in tested if p.given_class.significant]
    top = (sure or tested)[0]
    numbers = {
        "all": len(tested),
        "sure": len(sure),
        "pair": f"**{edge_name(table, top.edge)}**",
        "amount": units.evidence_text(top.given_class.dependence.information),
        "chance": units.evidence_text(top.given_class.chance),
        "target": column_name(table, table.target.name),
        "level": f"{100 * LEVEL:g}%",
    }
    if len(tested) == 1:
        first = (
            _(
                "Given {target}, the one pair tested, {pair}, is dependent (G-test, {level}): {amount} (by chance "
                "{chance})."
            )
            if sure
            else _(
                "Given {target}, the one pair tested, {pair}, is not shown to be dependent (G-test, {level}): "
                "{amount} (by chance {chance})."
            )
        )
    elif sure:
        first = _(
            "Given {target}, **{sure} of {all}** pairs are dependent (G-test, {level} after Holm's correction), "
            "most of all {pair}: {amount} (by chance {chance})."
        )
    else:
        first = _(
            "Given {target}, **none of {all}** pairs is shown to be dependent (G-test, {level} after Holm's "
            "correction); the strongest is {pair}: {amount} (by chance {chance})."
        )
    st.markdown(first.format(**numbers))
    if not current().seen(keys.DEPENDENCE_CUT) and (whole := uncut(table)):  # in quarters, and nobody chose it
        st.caption(
            ":material/info: "
            + _(
                "MDLP finds no place to cut {columns}: nowhere do the classes change enough. So here these numbers are "
                "cut into quarters of the {n} rows."
            ).format(columns=first_names(table, whole), n=f"{int(table.parts.y.notna().sum()):,}")
        )


def cost(table: active.FittableTable) -> None:
    """What naive Bayes loses on held-out rows against the tree, and whether it does so as a procedure."""
    specs = family_models(table)
    try:
        losses, apart, runs = _losses(table, {place: specs[place] for place in ("naive-bayes", "tan")})
    except BayesEngineError as error:
        st.caption(error.message.local(md))
        return
    if math.isnan(apart.difference):
        st.markdown(_("What it costs naive Bayes cannot be estimated: some row, left out, rules out its own class."))
        return
    if apart.real and apart.difference > 0:
        sentence = _(
            "It matters: on average over samples of {n} rows naive Bayes does worse than a tree ({measure} on rows not "
            "seen before: {naive} against {tree}, {more})."
        )
    elif apart.real:
        sentence = _(
            "Yet on average over samples of {n} rows naive Bayes does better than a tree ({measure} on rows not seen "
            "before: {naive} against {tree}, {more}): the dependence costs less than estimating it."
        )
    else:
        sentence = _(
            "Whether it costs naive Bayes anything, these rows do not show: {measure} {naive} against {tree} with a "
            "tree, on rows not seen before ({more})."
        )
    naive, tree = (_loss(float(losses["log_loss"][place])) for place in ("naive-bayes", "tan"))
    more = f"**{difference_text('log_loss', apart.difference)}**"
    if units.as_probability():
        more = _("the first relative to the second {more}").format(more=more)
    if not math.isnan(apart.low):
        ends = interval_shown("log_loss", (apart.difference, apart.low, apart.high))
        more += "; 95% {} … {}".format(*(difference_text("log_loss", end) for end in ends))
    n = len(table.parts.y)
    text = sentence.format(n=f"{n:,}", measure=units.loss_measure(), naive=naive, tree=tree, more=more)
    unjudged = [why_no_verdict(table, runs if isinstance(runs, Message) else None)] if math.isnan(apart.p) else []
    st.markdown(" ".join([text, *unjudged]), help=how_compared(n) if isinstance(runs, Mapping) else None)


def _loss(nats: float) -> str:
    return units.loss_text(nats) if units.as_probability() else f"{units.loss_shown(nats):.4f}"


def _losses(table: active.FittableTable, specs: Mapping[str, Spec]) -> tuple[pd.DataFrame, Any, families.Runs]:
    """The log-losses of both models on the same held-out rows, how far the first is above the other, and what that is
    judged by."""
    use = active.prior_of_use(table)
    page, fitted, held = (table.key, "dependence"), {}, {}
    begin = families.DRAWN if current().seen(keys.DEPENDENCE_TAB) == "dial" else 0.0
    part = (1.0 - begin) / 6.0
    for i, (place, spec) in enumerate(specs.items()):
        with part_of_page(page, begin + i * part, begin + (i + 1) * part):
            fitted[place] = active.fit(table, spec)
            held[place] = active.held_out_rows(table, fitted[place])
    runs = families.repeated(table, fitted, held, begin + 2.0 * part, begin + 5.0 * part)
    key = repr((table.key, *specs.values(), True, tuple((use or {}).values())))
    with part_of_page(page, begin + 5.0 * part, 1.0):
        scores = families.scores_of(key, held, use)
        apart = families.apart_from("tan", key, "log_loss", None, held, runs, use, None)
    return scores, next(apart.itertuples()), runs
