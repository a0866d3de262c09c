"""How far the decision for the chosen case is from another one, in sentences beneath the drawings."""

from __future__ import annotations

import streamlit as st

from bayes_engine.decision.margins import Flip
from bayes_engine.language import _
from bayes_engine.ledger import Ledger
from pages.shared import data, words
from pages.shared.escape import md
from pages.shared.losses import LARGEST, unit_of

MOST = 3
"""As many losses are named."""


def nearest_flips(table: data.InUse, fitted: data.Fitted, case: Ledger) -> None:
    """The nearest values of one loss, and of one prior, beyond which the case is decided otherwise."""
    loss = data.losses(table).for_classes(case.classes)
    use = data.prior_of_use(table) or fitted.prior
    found = loss.flip_margins(case.posterior()[0], {c: use[c] for c in case.classes})
    right = any(found.loss.cell(c, c) for c in case.classes if c in found.loss.actions)
    flips = [flip for flip in (*found.nearest(MOST, right=right), *found.nearest_priors(1)) if _within_reach(flip)]
    with st.container(key="settles_flips"):
        st.markdown(
            "**" + _("How far from another decision") + "**",
            help=_(
                "One loss, or one class's prior of use, changes; all else is held (the other priors keep their "
                "proportions). The values are exact."
            ),
        )
        if not flips:
            st.markdown(_("No single loss up to 1e9 and no prior from 0.000001 to 0.999999 turns this decision."))
        else:
            st.markdown("\n".join(f"- {flip_sentence(table, flip)}" for flip in flips))


def flip_sentence(table: data.InUse, flip: Flip) -> str:
    """«This decision flips to … when λ(decide reject | truth is healthy) rises past 3.7», as Markdown."""
    truth, unit = md(table.class_(flip.truth), 24), unit_of(table)
    if flip.action is None:
        says = (
            _("This decision flips to **{takes}** when the prior of {truth} rises past **{at}** (now {now}).")
            if flip.rising
            else _("This decision flips to **{takes}** when the prior of {truth} falls below **{at}** (now {now}).")
        )
        return says.format(takes=_takes(table, flip), truth=truth, at=_figure(flip.at), now=_figure(flip.now))
    says = (
        _("This decision flips to **{takes}** when λ({action}, truth is {truth}) passes **{at}**{unit} (now {now}).")
        if flip.rising
        else _(
            "This decision flips to **{takes}** when λ({action}, truth is {truth}) falls below **{at}**{unit} "
            "(now {now})."
        )
    )
    return says.format(
        takes=_takes(table, flip),
        action=words.deciding(table, flip.action, md),
        truth=truth,
        at=_figure(flip.at),
        now=_figure(flip.now),
        unit=f" {md(unit, 24)}" if unit else "",
    )


def _within_reach(flip: Flip) -> bool:
    """Whether the value can be set: what is larger, or nearer to certainty, is no advice."""
    return abs(flip.at) <= LARGEST if flip.action is not None else 1e-6 <= flip.at <= 1 - 1e-6


def _takes(table: data.InUse, flip: Flip) -> str:
    return words.deciding(table, flip.takes, md)


def _figure(value: float) -> str:
    return md(f"{value:.4g}".replace("-", "−"))
