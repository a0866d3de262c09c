"""Flip margins in words: within what the decision of a case stands, one loss or prior at a time. What a loss is called,
what it reads as, and which changes are worth a sentence is the same on every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.margins import Flip, FlipMargins
from bayes_engine.decision.risk import LossTable
from bayes_engine.language import _
from bayes_engine.ledger import Ledger
from bayes_engine.numerals import certain, near, number, plain
from pages import active
from pages.active import words
from pages.components.losses import LARGEST, unit_of
from pages.runtime.cache import cached
from pages.runtime.escape import md

MOST = 3
"""As many losses are said in sentences: those nearest to flipping the decision."""
REACH = 1e-6
"""What is nearer to nothing, or as much further off, is all but certain."""


@cached(max_entries=64)
def flip_margins_of(
    table: active.FittableTable, posterior: tuple[float, ...], losses: LossMatrix, prior: Mapping[Any, float],
    amount: float | None,
) -> FlipMargins:  # fmt: skip
    """The flip margins of a posterior in the order of the losses' classes, which was computed with this prior."""
    return losses.flip_margins(posterior, prior, amount=amount)


def nearest_flips(table: active.FittableTable, fitted: active.Fitted, case: Ledger) -> None:
    """The nearest values of one loss, and of one prior, beyond which the case is decided otherwise."""
    use, order = active.prior_of_use(table) or fitted.prior, [case.classes.index(c) for c in table.classes]
    posterior, prior = case.posterior()[0, order], {c: use[c] for c in table.classes}
    margins = flip_margins_of(table, tuple(posterior.tolist()), active.losses(table), prior, active.case_amount(table))
    with st.container(key="settles_flips"):
        flip_sentences(table, margins)


def flip_sentences(table: active.FittableTable, margins: FlipMargins) -> None:
    """The changes that flip the decision soonest, a sentence each; the losses of right decisions only where some cost
    or gain something."""
    flips = [*margins.nearest(MOST, right=prices_right_decisions(margins.loss)), *margins.nearest_priors()]
    flips = [flip for flip in flips if _within_reach(flip)]
    st.markdown(
        f"**{_('Flip margins')}** · " + _("how far from another decision, all else equal"),
        help=_(
            "One loss, or one class's prior of use, changes; all else is held (the other priors keep their "
            "proportions). The values are exact."
        ),
    )
    if not flips:
        st.markdown(
            _(
                "No loss turns this decision within a millionfold of what it is now, and no prior from 0.000001 to "
                "0.999999: it is all but certain."
            )
        )
        return
    st.markdown("\n".join(f"- {flip_sentence(table, flip, margins.loss)}" for flip in flips))
    if margins.amount is not None:
        st.caption(
            _(
                "λ is the cell as it is entered. Where {column} multiplies it, it is a loss per unit; here the amount "
                "is {amount}."
            ).format(column=md(table.column(table.amount_column), 30), amount=md(table.amount_text(margins.amount)))
        )


def flip_sentence(table: active.FittableTable, flip: Flip, loss: LossTable) -> str:
    """«This decision flips to … when λ(decide reject, truth is healthy) passes 3.7», as Markdown."""
    asked = {
        "takes": words.decision_name(table, flip.takes, md),
        "at": value_words(flip.at, flip),
        "now": present_value(flip),
    }
    if flip.action is None:
        says = (
            _("This decision flips to **{takes}** when the prior of {truth} rises past **{at}** (now {now}).")
            if flip.rising
            else _("This decision flips to **{takes}** when the prior of {truth} falls below **{at}** (now {now}).")
        )
        return says.format(truth=md(table.class_(flip.truth), 24), **asked)
    says = (
        _("This decision flips to **{takes}** when {cell} passes **{at}**{unit} (now {now}).")
        if flip.rising
        else _("This decision flips to **{takes}** when {cell} falls below **{at}**{unit} (now {now}).")
    )
    return says.format(cell=cell_of(table, flip.action, flip.truth), unit=_unit(table, flip, loss), **asked)


def cell_of(table: active.FittableTable, action: Any, truth: Any) -> str:
    """«λ(decide bad, truth is good)», in Markdown."""
    return _("λ({decision}, truth is {truth})").format(
        decision=words.decision_name(table, action, md), truth=md(table.class_(truth), 24)
    )


def prices_right_decisions(loss: LossTable) -> bool:
    return any(loss.cell(c, c) for c in loss.classes if c in loss.actions)


def value_words(margin: float, flip: Flip) -> str:
    """A margin to four digits, and to four of the way there; or a prior to as many as tell it from 0 and 1."""
    if flip.action is not None and abs(margin) < 1e-12 * abs(margin - flip.now):
        margin = 0.0  # what is left of a difference of equals
    return certain(margin) if flip.action is None else loss_words(margin, min(abs(margin - flip.now), abs(margin)))


def present_value(flip: Flip) -> str:
    return certain(flip.now) if flip.action is None else plain(flip.now).replace("-", "−")


def loss_words(value: float, way: float) -> str:
    """A loss to four digits of the way that it is from another."""
    text = number(value) if not 1e-4 <= abs(value) < 1e6 and value else near(value, 10 * way) if way else plain(value)
    return "0" if text == "-0" else text.replace("-", "−")


def _unit(table: active.FittableTable, flip: Flip, loss: LossTable) -> str:
    """What stands behind the margin: «× credit amount» where that multiplies the cell, else the unit of the losses."""
    if table.amount_column and loss.units(0.0)[loss.actions.index(flip.action), loss.classes.index(flip.truth)] == 0:
        return " × " + md(table.column(table.amount_column), 24)
    unit = unit_of(table)
    return f" {md(unit, 24)}" if unit else ""


def _within_reach(flip: Flip) -> bool:
    """Whether the value is advice: no prior nearer to certainty than a millionth, and no loss further than a million
    times the spread of the matrix, or below a millionth of what it is now."""
    if flip.action is None:
        return REACH <= flip.at <= 1 - REACH
    return flip.distance <= 1 / REACH and abs(flip.at) <= LARGEST and (flip.rising or flip.at >= REACH * flip.now)
