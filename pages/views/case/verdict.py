"""What is decided for a case and what spoke for it: the sentence, the posterior beside the risks, the contributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.aode import AODE
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.factor_names import title_of
from bayes_engine.workbench.derivation.log_odds import LogOddsTerms, log_odds_terms, odds_needed
from bayes_engine.workbench.derivation.texts import TermEvidence, TextRead, opened, read_text, text_steps
from bayes_engine.workbench.figures.contributions import ClassStyle, verdict, waterfall
from bayes_engine.workbench.figures.decisions import action_colours
from bayes_engine.workbench.figures.theme import colour_of
from pages import active
from pages.active import units, words
from pages.active.text_terms import quoted, shown, times
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import current, dark
from pages.runtime.widgets import choose, select
from pages.views.case.editor import CaseInUse

MOST_DECISIONS = 11
"""As many decisions are drawn: those of least risk."""
MOST_BARS = 26
"""As many contributions are drawn one by one; the smallest beyond are one bar."""
LOUDEST = 3
"""So many terms of a text stand in the sentence."""
FEW_BARS = 12
"""The same where each is a pixel of a picture."""


def decision_and_risks(one: CaseInUse, working: Working, *, narrow: bool = False) -> None:
    """The decision in a sentence, and the posterior of each class beside the risk of deciding for it; `narrow` in the
    column beside."""
    if working.position < 0:
        st.warning(_("No posterior: {why}.").format(why=words.status(int(working.status))))
        return
    decision = working.decision
    with st.container(key="case_sentence"):
        st.markdown("#### " + words.verdict(one.table, working.ledger, decision, _loudest(working)))
    likely = dict(zip(working.classes, working.posterior, strict=True))
    risk = dict(zip(working.loss.actions, working.risk, strict=True))
    draw_risks(one.table, likely, risk, decision.action[0], key="case_verdict", most=MOST_DECISIONS, narrow=narrow)
    if len(risk) > MOST_DECISIONS:
        st.caption(_("The {k} decisions of least risk, of {n}.").format(k=MOST_DECISIONS, n=len(risk)))


def draw_risks(
    table: active.FittableTable, likely: Mapping[Any, float], risk: Mapping[Any, float], decided: Any, *, key: str,
    most: int, narrow: bool,
) -> None:  # fmt: skip
    """The posterior of each class beside the risk of deciding for it; where there are more decisions than `most`, of
    those with the least risk."""
    kept = sorted(risk, key=risk.__getitem__)[:most]
    actions = [action for action in risk if action in kept]
    figure = verdict(
        [plotly_text(words.decision_name(table, a, clean), 40) for a in actions],
        [likely.get(a) for a in actions],
        [risk[a] for a in actions],
        action_colours(actions, table.classes, dark=dark()),
        decided=actions.index(decided),
        narrow=narrow,
    )
    chart(figure, key=key, alt=_("posterior of each class and conditional risk of each decision"))


def _loudest(working: Working) -> dict[str, str]:
    """Of each text the terms that pull most the way the whole text does, between the two likeliest classes."""
    best, other = sorted(range(len(working.classes)), key=lambda k: -working.posterior[k])[:2]
    loudest = {}
    for read in (read_text(working.steps[j], best, other) for j in text_steps(working.steps)):
        sign = 1.0 if read.nats >= 0 else -1.0
        pulling = sorted((t for t in read.terms if sign * t.nats > 0), key=lambda t: -sign * t.nats)[:LOUDEST]
        if pulling:
            loudest[read.column] = _(", ").join(quoted(md(shown(t.term), 24)) for t in pulling)
    return loudest


def contributions(one: CaseInUse, working: Working, *, drawn: bool = False) -> None:
    """What speaks for one class against another, as a waterfall; where the case is `drawn`, the two are chosen beside
    the picture, which shows the many small contributions too."""
    k_for, k_against = sides(working) if drawn else choose_sides(one, working)
    largest = current().seen(keys.ORDER) == "size"
    balance = log_odds_terms(working.ledger, working.classes[k_for], working.classes[k_against])
    telling = (w for w in balance.weights if w.nats or working.steps[w.position].row.kind != "constant")
    balance = replace(balance, weights=tuple(telling))  # what is the same in every class weighs nothing
    labels = {j: plotly_text(title_of(step, one.table), 34) for j, step in enumerate(working.steps)}
    reads = {j: read_text(working.steps[j], k_for, k_against) for j in text_steps(working.steps)}
    balance, terms = opened(balance, reads)
    labels |= {place: _of_text(one, len(reads), *term) for place, term in terms.items()}
    few = FEW_BARS if drawn and not reads else MOST_BARS
    bars = (balance.by_size() if largest else balance).folded(few)
    pair = (k_for, k_against)
    left, right = (
        ClassStyle(plotly_text(one.table.class_(working.classes[k]), 24), colour_of(k, dark())) for k in pair
    )
    figure = waterfall(
        bars,
        [labels.get(w.position, _("{n} others").format(n=w.folded)) for w in bars.weights],
        (left, right),
        bits=units.in_bits(),
        needed=odds_needed(working.loss, balance.for_, balance.against),
        dark=dark(),
    )
    chart(figure, key="case_waterfall", alt=_("contributions to the log-odds"))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom", key="waterfall_controls"):
        orders = {"size": _("by size"), "table": _("as in the table")}
        choose(_("Order"), keys.ORDER, orders, titled=False)
        units.choose_evidence_unit()
    st.caption(_reading(one, working, balance))


def _reading(one: CaseInUse, working: Working, balance: LogOddsTerms) -> str:
    """How to read the figure, with what its line stands for."""
    name, other = (md(one.table.class_(c), 24) for c in (balance.for_, balance.against))
    if isinstance(one.model, AODE):
        text = _("Each bar is the mean of log P(x_j | {name}, x_i) over the super-parents x_i, weighted by their "
                 "shares, minus that of {other}; their sum is the log-odds.")  # fmt: skip
    elif working.complement:
        text = _("Each bar is a part of the score of {name} minus that of {other}, and the calibration's is what it "
                 "adds; their sum is the log-odds.")  # fmt: skip
    elif working.additive:
        text = _("Each bar is a term of the log-density of {name} minus that of {other}; their sum is the log-odds.")
    elif working.scores:
        text = _("Each bar is w_j · log p(x_j | {name}) / p(x_j | {other}), the evidence of a column times its weight; "
                 "their sum is the log-odds.")  # fmt: skip
    elif any(step.given for step in working.steps):
        text = _("Each bar is log p(x_j | {name}, parents) / p(x_j | {other}, parents); their sum is the log-odds.")
    else:
        text = _("Each bar is a contribution, log p(x_j | {name}) / p(x_j | {other}); their sum is the log-odds.")
    line = odds_needed(working.loss, balance.for_, balance.against)
    if text_steps(working.steps):
        text += " " + _("A text has a bar for each of its terms, as often as it counts there.")
    if line is not None:
        text += " " + _("Dotted: under your losses, {name} is the cheaper decision from {nats} on.")
    for symbol in ("P", "p"):
        text = text.replace(f"log {symbol}", f"{'log₂' if units.in_bits() else 'ln'} {symbol}")
    text = text.replace("_j", "ⱼ").replace("_i", "ᵢ")
    nats = f"{units.evidence(line or 0.0):.3g} {units.evidence_unit()}".replace("-", "−")
    return text.format(name=name, other=other, nats=nats)


def _of_text(one: CaseInUse, texts: int, read: TextRead, term: TermEvidence | None) -> str:
    """A term of a text on the figure; of several texts with the column's name."""
    word = _("absent words") if term is None else quoted(shown(term.term)) + times(term)
    return plotly_text(word if texts == 1 else f"{one.table.column(read.column)}{_(': ')}{word}", 34)


def sides(working: Working) -> tuple[int, int]:
    """The class for and the class against: of two the first against the second; of more the likeliest against the next,
    or as chosen."""
    if len(working.classes) == 2:
        return 0, 1
    likely = sorted(range(len(working.classes)), key=lambda k: -working.log_joint[k])
    first = current().seen_among(keys.FOR, likely)
    return first, current().seen_among(keys.AGAINST, [k for k in likely if k != first])


def choose_sides(one: CaseInUse, working: Working) -> tuple[int, int]:
    """The two classes; of more than two they can be chosen here."""
    first, second = sides(working)
    if len(working.classes) == 2:
        return first, second
    names = {k: clean(one.table.class_(c), 40) for k, c in enumerate(working.classes)}
    likely = sorted(names, key=lambda k: -working.log_joint[k])
    left, right = st.columns(2)
    with left:
        select(_("For"), keys.FOR, names, otherwise=first)
    with right:
        select(_("against"), keys.AGAINST, {k: names[k] for k in likely if k != first}, otherwise=second)
    return first, second
