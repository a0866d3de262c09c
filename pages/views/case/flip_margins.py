"""How far the decision of a case is from another one: its flip margins, and what would make it a wished decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.margins import Flip, FlipMargin, FlipMargins, ImpliedLosses
from bayes_engine.language import _
from bayes_engine.numerals import certain, plain
from bayes_engine.priors import with_share
from bayes_engine.workbench.derivation.derive import Working
from pages import active
from pages.active import words
from pages.components.flip_margins import (
    MOST,
    cell_of,
    flip_margins_of,
    flip_sentences,
    loss_words,
    present_value,
    prices_right_decisions,
    value_words,
)
from pages.components.losses import LARGEST
from pages.components.tables import table_height
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import bound_to, select
from pages.views.case.editor import CaseInUse

TALLEST = 400
"""Pixels of the table of all margins."""


def flip_margins(one: CaseInUse, working: Working) -> None:
    """What it would take to overturn the decision."""
    table, amount = one.table, active.case_amount(one.table)
    loss = active.losses(table).for_classes(working.classes)
    prior = active.prior_of_use(table) or one.judging.prior_by_class
    margins = flip_margins_of(table, working.posterior, loss, prior, amount)
    others = [i for i, action in enumerate(loss.actions) if action != margins.action]
    with st.container(border=True, key="margins"):
        flip_sentences(table, margins)
        asked = _("What would make it another decision?")
        wishes = {-1: asked}
        for i in others:
            wishes[i] = _("What would make it {name}?").format(name=clean(table.action(loss.actions[i]), 24))
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            st.toggle(_("All flip margins"), **bound_to(keys.MARGINS))
            wish = select(asked, keys.WISH, wishes, titled=False, width=330)
        if wish in others:
            _wished_decision(table, loss.implied_losses(working.posterior, loss.actions[wish], prior, amount=amount))
        if current().seen(keys.MARGINS):
            _every(table, margins)


# what flips it ----------------------------------------------------------------------------------------------------


def _every(table: active.FittableTable, margins: FlipMargins) -> None:
    """All intervals, a row for each loss and each prior."""
    listed: list[Mapping[str, str]] = []
    for (action, truth), stand in margins.losses.items():
        listed.append(_listed(table, action, truth, margins.loss.cell(action, truth), stand))
    listed += [_listed(table, None, c, float(margins.prior[c]), stand) for c, stand in margins.priors.items()]
    st.dataframe(
        pd.DataFrame(listed),
        key="margins_table",
        hide_index=True,
        height=table_height(len(listed), TALLEST),
        column_config={
            "decision": st.column_config.TextColumn(_("loss of")),
            "truth": st.column_config.TextColumn(_("truth")),
            "now": st.column_config.TextColumn(_("now"), width=60),
            "stands": st.column_config.TextColumn(
                _("stands"), help=_("The values at which the decision has the least risk, all else equal.")
            ),
            "then": st.column_config.TextColumn(_("beyond")),
        },
    )
    st.caption(
        _(
            "A prior moves with the others keeping their proportions, and the posterior with it by Bayes' theorem. At "
            "a margin itself two decisions cost the same; ties go by name."
        )
    )


def _listed(table: active.FittableTable, action: Any, truth: Any, now: float, stand: FlipMargin) -> Mapping[str, str]:
    flip = Flip(action, truth, now, now, None, 0.0, False)
    low, high_ = _value_of(stand.low, flip), _value_of(stand.high, flip)
    below, above = (None if a is None else clean(table.action(a), 24) for a in (stand.below, stand.above))
    if below is not None and above is not None:
        says, then = f"{low} – {high_}", _("{below} below, {above} above").format(below=below, above=above)
    elif below is not None:
        says, then = f"≥ {low}", below
    elif above is not None:
        says, then = f"≤ {high_}", above
    else:
        says, then = _("at any value"), ""
    loss_of = _("prior of use") if action is None else words.decision_name(table, action, clean)
    name = clean(table.class_(truth), 24)
    return {"decision": loss_of, "truth": name, "now": present_value(flip), "stands": says, "then": then}


def _value_of(margin: float, flip: Flip) -> str:
    return value_words(margin, flip) if abs(margin) < float("inf") else ""


# what would make it another ---------------------------------------------------------------------------------------


def _wished_decision(table: active.FittableTable, implied: ImpliedLosses) -> None:
    """The single losses and the prior that make the wished decision with the least change, each to be tried; and the
    least change of all losses together."""
    name = md(table.action(implied.wished), 24)
    single = implied.nearest(MOST, right=prices_right_decisions(implied.loss)) or implied.nearest(1)
    nearest = [*single, *implied.nearest_priors()]
    flips = [(flip, value) for flip in nearest if (value := _settable(implied, flip)) is not None]
    if not any(flip.action is not None for flip, _value in flips):
        st.markdown(_("No single loss within reach makes it **{name}**.").format(name=name))
    elif flips[-1][0].action is None:
        st.markdown(_("It would be **{name}** with one of these, all else equal:").format(name=name))
    else:
        st.markdown(_("It would be **{name}** with one of these, all else equal; no prior within reach makes it "
                      "so:").format(name=name))  # fmt: skip
    with st.container(gap="xsmall"):
        for n, (flip, value) in enumerate(flips):
            says, sets = st.columns([3, 1], vertical_alignment="center", wrap=False)
            says.markdown(_needed(table, flip))
            shown = certain(value) if flip.action is None else plain(value).replace("-", "−")
            sets.button(
                _("Set to {value}").format(value=shown),
                key=f"margins_try_{n}",
                width="stretch",
                **on_click(_with_changed(table, implied, flip, value)),
            )
    _least(table, implied)


def _needed(table: active.FittableTable, flip: Flip) -> str:
    what = _("the prior of use P({name})").format(name=md(table.class_(flip.truth), 24))
    if flip.action is not None:
        what = cell_of(table, flip.action, flip.truth)
    says = _("{what} of at least **{at}** (now {now})") if flip.rising else _("{what} of at most **{at}** (now {now})")
    return says.format(what=what, at=value_words(flip.at, flip), now=present_value(flip))


def _settable(implied: ImpliedLosses, flip: Flip) -> float | None:
    """A round number past the margin; None where it is out of reach."""
    stand = implied.priors[flip.truth] if flip.action is None else implied.losses[flip.action, flip.truth]
    if stand is None:
        return None
    value = stand.short_within(flip.now)
    within = 0 < value < 1 if flip.action is None else abs(value) <= LARGEST
    return value if within else None


def _with_changed(
    table: active.FittableTable, implied: ImpliedLosses, flip: Flip, value: float
) -> Callable[[State], State]:
    """An edit of the state that sets the loss or the prior."""
    if flip.action is not None:
        losses = tuple(map(tuple, active.losses(table).with_cell(flip.action, flip.truth, value).table.tolist()))
        return lambda state: replace(state, losses=losses)
    now = [float(implied.prior[c]) for c in table.classes]
    prior = with_share(now, table.classes.index(flip.truth), value)
    return lambda state: replace(state, prior=prior)


def _least(table: active.FittableTable, implied: ImpliedLosses) -> None:
    """The matrix nearest to the present one, cell by cell."""
    if implied.least is None:  # an amount of 0: no change of what it multiplies is worth anything
        return
    st.markdown(_("Or all losses together, with the least sum of squared changes (now → then):"))
    before, after = implied.loss, implied.least
    cells = {(a, c): (before.cell(a, c), after.cell(a, c)) for a in before.actions for c in before.classes}
    largest = max(abs(then - now) for now, then in cells.values())
    shown = {
        _("truth is {name}").format(name=clean(table.class_(c), 24)): [
            _step(*cells[a, c], largest) for a in before.actions
        ]
        for c in before.classes
    }
    heads = pd.Index([words.decision_name(table, a, clean) for a in before.actions])
    st.dataframe(pd.DataFrame(shown, index=heads), key="margins_least", height=table_height(len(heads), TALLEST))


def _step(now: float, then: float, largest: float) -> str:
    """«1 → 0.55», to four digits of the largest change; what would look the same is written once."""
    ends = loss_words(now, largest), loss_words(then, largest)
    return ends[0] if ends[0] == ends[1] else " → ".join(ends)
