"""The answer in words: which pairs are dependent, and what naive Bayes loses by it."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.workbench.derivation.dependence import LEVEL
from pages import active
from pages.active import units
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.jobs import part_of_page
from pages.runtime.state import Spec, current
from pages.views.dependence import dial
from pages.views.dependence.dependences import Dependences, column_name, edge_name, first_names, uncut


def which_pairs_depend(table: active.FittableTable, dependences: Dependences) -> None:
    """Which pairs are dependent, and what it costs naive Bayes on rows that it has not seen."""
    tested = [p for p in dependences.pairs if p.given_class.found.degrees]
    if not tested:
        return
    sure = [p for p in tested if p.given_class.significant]
    top = (sure or tested)[0]
    numbers = {
        "all": len(tested),
        "sure": len(sure),
        "pair": f"**{edge_name(table, top.edge)}**",
        "amount": units.evidence_text(top.given_class.found.information),
        "chance": units.evidence_text(top.given_class.chance),
        "target": column_name(table, table.target.name),
        "level": f"{100 * LEVEL:g} %",
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
    """What naive Bayes loses on held-out rows against the tree, with its interval."""
    specs = dial.dial_models(table)
    try:
        losses = _losses(table, (specs["naive-bayes"], specs["tan"]))
    except BayesEngineError as error:
        st.caption(error.message.local(md))
        return
    more, low, high = (float(losses[name]["tan"]) for name in ("more", "more_low", "more_high"))
    if math.isnan(more):
        st.markdown(_("What it costs naive Bayes cannot be estimated: some row, left out, rules out its own class."))
        return
    low, high = (low, high) if units.as_probability() else (high, low)
    numbers = {
        "measure": units.loss_measure(),
        "naive": _loss(float(losses["log_loss"]["naive-bayes"])),
        "tree": _loss(float(losses["log_loss"]["tan"])),
        "more": f"**{dial.loss_difference(0.0 - more, 4)}**",
        "low": dial.loss_difference(0.0 - low),
        "high": dial.loss_difference(0.0 - high),
    }
    low, high = sorted((low, high))
    if more < 0 and high < 0:
        sentence = _(
            "It matters: on rows not seen before naive Bayes does worse than a tree ({measure}: {naive} against "
            "{tree}, {more}; 95 % {low} … {high})."
        )
    elif more > 0 and low > 0:
        sentence = _(
            "Yet on rows not seen before naive Bayes does better than a tree ({measure}: {naive} against {tree}, "
            "{more}; 95 % {low} … {high}): the dependence costs less than estimating it."
        )
    else:
        sentence = _(
            "Whether it costs naive Bayes anything, these rows do not show: {measure} {naive} "
            "against {tree} with a tree, on rows not seen before ({more}; 95 % {low} … {high})."
        )
    st.markdown(sentence.format(**numbers))


def _loss(nats: float) -> str:
    return units.loss_text(nats) if units.as_probability() else f"{units.loss_shown(nats):.4f}"


def _losses(table: active.FittableTable, specs: tuple[Spec, ...]) -> pd.DataFrame:
    """The log-losses of models on the same held-out rows, by family."""
    use = active.prior_of_use(table)
    page, held = (table.key, "dependence"), {}
    begin = dial.DRAWN if current().seen(keys.DEPENDENCE_TAB) == "dial" else 0.0
    part = (1.0 - begin) / (len(specs) + 1)
    for i, spec in enumerate(specs):
        with part_of_page(page, begin + i * part, begin + (i + 1) * part):
            held[spec.family] = active.held_out_rows(table, active.fit(table, spec))
    with part_of_page(page, 1.0 - part, 1.0):
        return dial.scores_of(repr((table.key, *specs, True, tuple((use or {}).values()))), held, use)
