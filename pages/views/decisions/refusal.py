"""Refusing so that those decided are wrong no more often than a target: the cost of refusing that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bayes_engine.decision.evaluate import weights_in_use
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.margins import FlipMargin
from bayes_engine.decision.refusal import Refusal, refusal_for_error
from bayes_engine.language import Message, _
from bayes_engine.ledger import Status
from bayes_engine.numerals import plain
from pages import active
from pages.components.losses import refusing
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.state import on_click
from pages.runtime.widgets import within_limits


def refuse_by_error(table: active.FittableTable, fitted: active.Fitted, held: HeldOut) -> None:
    """A target error rate, what it costs in rows decided, and the refusal row that reaches it: computed only while one
    looks at it, for every loss makes it another."""
    opened = st.popover(
        _("Refuse for a target error rate"), icon=":material/block:", key="refuse_open", on_change="rerun"
    )
    if opened.open:
        with opened:
            _choose_target(table, fitted, held)


def _choose_target(table: active.FittableTable, fitted: active.Fitted, held: HeldOut) -> None:
    loss, k = active.losses(table), len(table.classes)
    marked = None if loss.by_amount is None else loss.by_amount[:k]
    plain_loss = LossMatrix(table.classes, table.classes, loss.table[:k], marked)
    amount = None if marked is None else table.parts.amount
    target = st.number_input(
        _("At most this share of the decided rows may be wrong (%)"),
        step=0.5,
        format="%g",
        **within_limits(keys.TARGET),
    )
    refusal = _refusal(fitted, plain_loss, active.prior_of_use(table), target / 100, held, amount)
    if not refusal.reached:
        st.markdown(
            _("Out of reach: even the surest rows are wrong in {error} of cases.").format(
                error=md(f"{refusal.least_error:.1%}")
            )
        )
        return
    dearer = refusal.risks[refusal.risks > refusal.cost]
    cost = FlipMargin(refusal.cost, float(dearer.min(initial=float("inf")))).short_within(refusal.cost)
    st.markdown(
        _(
            "Refusing where the least risk is above **{cost}** decides {coverage} of the held-out rows, of which "
            "{error} wrong. The threshold was chosen on these rows: on new ones expect a little more."
        ).format(cost=md(plain(cost)), coverage=md(f"{refusal.coverage:.1%}"), error=md(f"{refusal.error:.2%}"))
    )
    st.button(
        _("Set the refusal to it"),
        key="refuse_target",
        **on_click(lambda s: refusing(s, table, cost)),
    )


@cached(max_entries=16, activity=Message("judging the model on rows held out"))
def _refusal(
    fitted: active.Fitted,
    loss: LossMatrix,
    use: Mapping[Any, float] | None,
    target: float,
    _held: HeldOut,
    _amount: Any,
) -> Refusal:
    posterior, status = _held.posterior(use)
    weight, fine = _held.weight.copy(), status == Status.OK
    weight[fine] = weights_in_use(_held, fine, use)
    return refusal_for_error(posterior, _held.truth, loss, target, weight=weight, status=status, amount=_amount)
