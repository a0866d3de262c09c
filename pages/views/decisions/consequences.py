"""What losses and a prior of use lead to: the risks of the chosen case, the regions on the simplex of posteriors, and
risk and confusion of held-out rows.

As with the drawing surface, two elements stand behind one call: the *rows* (held-out posteriors, as bytes) reach the
browser once; the *live* part goes with every run. While a loss is dragged the browser prices all rows itself; what the
engine says, the bootstrap interval included, takes the same places once the edit is let go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bayes_engine.decision.evaluate import RiskReport, estimated_risk, held_out_decision
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import Decision, LossMatrix
from bayes_engine.decision.posterior_cells import PosteriorCells
from bayes_engine.language import Message, _
from bayes_engine.ledger import Ledger, Status
from bayes_engine.workbench.figures.decisions import packed_rows
from pages import active
from pages.active import words
from pages.components.component import component, follower, packed
from pages.components.losses import decided, last_edit, unit_of
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import current
from pages.runtime.widgets import bound_to

_JUDGING = Message("judging the model on rows held out")
_MANY = 1 << 15
"""Rows from which on cells of like posteriors repay what making them takes."""
_rows = component(__file__, "bayes_consequences_rows", uses=("decide", "stage"))
_live = follower(
    __file__,
    "bayes_consequences",
    '<div class="consequences" data-testid="consequences"></div>',
    draws="bayesConsequences",
    event="bayes-rows",
)


def consequences(
    table: active.FittableTable,
    fitted: active.Fitted,
    case: Ledger,
    held: HeldOut | None,
    ours: RiskReport | None,
    naive: RiskReport | None,
    *,
    bus: str,
) -> None:
    """Draw them: of the `case` (one row, under the prior of use), and of the rows `held` out, whose reports under the
    losses in use are `ours`, with 0-1 decisions `naive` (None: there is none). `bus` is the key of the page's drawings.
    """
    digest, body = _kept_rows(fitted, bus, held, table.parts.amount)
    with st.container(gap=None):
        _live(
            key=f"{bus}_consequences",
            data={**live_part(table, fitted, case, bus), "scene": digest, **report_part(held, ours, naive)},
        )
        _rows(key=f"{bus}_consequences_rows", data=body, height=1)


def reports(table: active.FittableTable, fitted: active.Fitted, held: HeldOut) -> tuple[RiskReport, RiskReport]:
    """What the rows `held` out cost under the losses in use, by decisions under these and by 0-1 decisions."""
    use, loss, amount = active.prior_of_use(table), active.losses(table), table.parts.amount
    by_kind = amount is None and loss.by_amount is None and len(held.truth) >= _MANY
    if by_kind and (cells := _cells(fitted, use, held)) is not None:
        return _counted(fitted, loss, use, held, cells)
    return _reports(fitted, loss, use, held, amount, _most_probable(fitted, use, held))


@cached(max_entries=2, activity=_JUDGING)
def _cells(fitted: active.Fitted, use: Mapping[Any, float] | None, _held: HeldOut) -> PosteriorCells | None:
    """The rows by their posteriors, which no loss changes."""
    return PosteriorCells.of(_held, use)


@cached(max_entries=16, activity=_JUDGING)
def _counted(
    fitted: active.Fitted, loss: LossMatrix, use: Mapping[Any, float] | None, _held: HeldOut, _cells: PosteriorCells
) -> tuple[RiskReport, RiskReport]:
    """The reports of rows in cells: of few classes in a few milliseconds, however many rows there are."""
    plain = LossMatrix.zero_one(_held.classes)
    return (
        estimated_risk(_held, loss, prior_of_use=use, cells=_cells),
        estimated_risk(_held, loss, prior_of_use=use, decide_by=plain, cells=_cells),
    )


@cached(max_entries=2, activity=_JUDGING)
def _most_probable(fitted: active.Fitted, use: Mapping[Any, float] | None, _held: HeldOut) -> Decision:
    """The 0-1 decisions, which no loss changes."""
    return held_out_decision(_held, LossMatrix.zero_one(_held.classes), prior_of_use=use, positions_alone=True)


@cached(max_entries=16, activity=_JUDGING)
def _reports(
    fitted: active.Fitted, loss: LossMatrix, use: Mapping[Any, float] | None, _held: HeldOut, _amount: Any,
    _probable: Decision,
) -> tuple[RiskReport, RiskReport]:  # fmt: skip
    plain = LossMatrix.zero_one(_held.classes)
    decided = held_out_decision(_held, loss, prior_of_use=use, amount=_amount, positions_alone=True)
    return (
        estimated_risk(_held, loss, prior_of_use=use, amount=_amount, decision=decided),
        estimated_risk(_held, loss, prior_of_use=use, amount=_amount, decide_by=plain, decision=_probable),
    )


def three_shown(table: active.FittableTable, case: Ledger) -> tuple[int, ...]:
    """The three classes whose triangle is drawn where there are more: those the state names, else the case's
    likeliest, in the table's order."""
    chosen = _chosen(table)
    if len(chosen) == 3:
        return tuple(sorted(chosen))
    posterior = case.posterior()[0].tolist()
    shares = [posterior[case.classes.index(c)] for c in table.classes]
    return tuple(sorted(sorted(range(len(shares)), key=lambda k: (-shares[k], k))[:3]))


def _chosen(table: active.FittableTable) -> tuple[int, ...]:
    """The classes that the state names for the triangle, three at most; () where it names none, or what are none."""
    chosen = current().seen(keys.THREE)
    return chosen if len(set(chosen) & set(range(len(table.classes)))) == len(chosen) else ()


def choose_three(table: active.FittableTable, case: Ledger) -> None:
    """The choice of the three classes of the triangle, where there are more; fewer than three draw none of their own,
    and that is said."""
    if len(table.classes) <= 3:
        return
    chosen, shown = _chosen(table), three_shown(table, case)
    st.multiselect(
        _("Classes of the triangle"),
        range(len(table.classes)),
        format_func=lambda k: clean(table.class_(table.classes[k]), 40),
        max_selections=3,
        help=_(
            "The other classes keep their relative shares of the case's posterior. None chosen: the "
            "case's likeliest three."
        ),
        **bound_to(keys.THREE, chosen or shown),
    )
    if 0 < len(chosen) < 3:
        names = _(", ").join(md(table.class_(table.classes[k]), 24) for k in shown)
        says = _(
            "A triangle has three corners: {n} of 3 are chosen. Until then it shows the case's likeliest: {names}."
        )
        st.caption(says.format(n=len(chosen), names=names))


@cached(max_entries=16)
def _kept_rows(fitted: active.Fitted, bus: str, _held: HeldOut | None, _amount: Any) -> tuple[str, bytes]:
    return rows_bytes(_held, _amount, bus)


def rows_bytes(held: HeldOut | None, amount: Any, key: str) -> tuple[str, bytes]:
    """The digest of the held-out rows, and these: behind their head the arrays of `figures.decisions.packed_rows`."""
    head: dict[str, Any] = {"n": 0, "k": 1, "size": 8, "every": 1, "priors": []}
    body = b""
    if held is not None:
        head, body = packed_rows(held, amount)
    return packed({**head, "key": key}, body, 8)


def report_part(held: HeldOut | None, ours: RiskReport | None, naive: RiskReport | None) -> dict[str, Any]:
    """What the engine says of the held-out rows."""
    if held is None or ours is None or naive is None:
        return {"report": None, "scheme": ""}
    scheme = _("{scheme}; 95% interval of the risk from the bootstrap.").format(scheme=held.scheme.local())
    if current().prior:
        scheme += " " + _("Rows weighted to the prior of use.")
    if ours.undecided:
        scheme += " " + _(
            "{n} rows have no posterior: each counts as wrong and costs what the dearest action costs under its "
            "true class."
        ).format(n=ours.undecided)
    return {
        "scheme": scheme,
        "report": {
            "risk": ours.risk,
            "low": ours.interval[0],
            "high": ours.interval[1],
            "accuracy": ours.accuracy,
            "naive": naive.risk,
            "naiveAccuracy": naive.accuracy,
            "confusion": ours.confusion.tolist(),
            "cost": ours.cost.tolist(),
            "undecided": ours.undecided,
        },
    }


def live_part(table: active.FittableTable, fitted: active.Fitted, case: Ledger, bus: str) -> dict[str, Any]:
    """The small part, as JSON."""
    status = case.status[0]
    return {
        **decided(table, fitted, case),
        "key": bus,
        "edit": last_edit(bus),
        "status": "" if status == Status.OK else _("No posterior: {why}.").format(why=words.status(int(status))),
        "three": list(three_shown(table, case)) if len(table.classes) > 3 else [],
        "unit": clean(unit_of(table), 24),
        "words": _words(table),
    }


def _words(table: active.FittableTable) -> dict[str, str]:
    return {
        "case": _("The case: what each decision costs"),
        "sized": ""
        if (amount := active.case_amount(table)) is None
        else _("Its {column} is {amount}.").format(
            column=clean(table.column(table.amount_column), 30), amount=clean(table.amount_text(amount), 40)
        ),
        "against": _("at a risk of {risk}{unit}"),
        "risks": _("conditional risk of each decision"),
        "more": _("{n} dearer decisions are not drawn."),
        "line": _("All posteriors: the least risk decides"),
        "triangle": _("All posteriors: what is decided where"),
        "lineSaid": _("Decisions by P({name}|x):"),
        "segment": _("{action} from {from} to {to}"),
        "lineNote": _(
            "A line is the risk R of one decision; the lowest line wins. Below: the decision for every "
            "posterior, with held-out rows (upper: the first class) and the case."
        ),
        "triangleSaid": _("Shares of the triangle of posteriors:"),
        "area": _("{action} {share}%"),
        "triangleNote": _(
            "A point is a posterior: at a corner one class is certain, in the middle all are equal. Dots are held-out "
            "rows by their truth, the ringed one is the case."
        ),
        "sliceNote": _(
            "A slice through the case: the three classes share {share} of its posterior among them, the others keep "
            "theirs."
        ),
        "rows": _("All rows, held out"),
        "risk": _("Estimated risk"),
        "riskHelp": _("Mean loss per row of the decisions under your losses."),
        "naive": _("with 0-1 decisions"),
        "naiveHelp": _("What the same losses would cost if the most probable class were always decided."),
        "accuracy": _("Accuracy"),
        "accuracyHelp": _("Share of rows decided for their true class; a refusal is not."),
        "interval": _("95%: {low} to {high}"),
        "rough": _("95%: about {low} to {high}"),
        "difference": _("yours: {value}"),
        "differenceAccuracy": _("{value} by your losses"),
        "same": _("the same"),
        "confusion": _("Big: held-out rows decided so. Small: what the cell adds to the risk; the shade follows it."),
    }
