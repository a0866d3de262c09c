"""The editor of the losses and of the prior of use: rows are decisions, columns truths, both said in words.

A cell is dragged, stepped, typed or pasted in the browser, which repaints all drawings of the page meanwhile (the
window event `bayes-loss`); the edit comes here once, when it is let go, and makes one entry of the history.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.ledger import Ledger, Status
from bayes_engine.numerals import number
from bayes_engine.workbench.incoming.pasted_losses import read_block
from pages import active
from pages.active import words
from pages.components.component import component, is_number, last_message, read_message
from pages.components.plane import action_inks, class_inks
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, current, on_click
from pages.runtime.widgets import bound_to, control

LARGEST = 1e9
"""No loss is larger."""
_component = component(
    __file__, "bayes_losses", '<div class="editor" data-testid="loss-editor"></div>', uses=("decide", "stage")
)
_STYLE = """<style>
[class*="st-key-settles"] { transition: opacity .2s; }
body[data-bayes-live] [class*="st-key-settles"] { opacity: .35; transition: none; }
</style>"""


class Edit(NamedTuple):
    """What a person did: the losses (A, K), the prior of use (K,) or () for the model's own, a new name of the further
    action ("" for the old one), and the cells that a row's amount does not multiply."""

    losses: tuple[tuple[float, ...], ...]
    prior: tuple[float, ...]
    name: str
    fixed: tuple[tuple[int, int], ...] = ()


def loss_editor(
    table: active.FittableTable, fitted: active.Fitted, case: Ledger, *, bus: str, story_shown: bool = False
) -> None:
    """λ and the prior of use, with presets and a refusal row. `bus` is the key of the page's drawings; `case` the
    chosen case under the prior of use, for which a cell says at what value the decision turns; `story_shown`: the page
    says elsewhere what the story of the losses is."""
    loss, key = active.losses(table), _key(bus)
    st.html(_STYLE)  # what only the server can say fades while an edit lasts
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{_('Losses')} λ** · " + _("what a decision costs"))
    _presets(table)

    def edited() -> None:
        edit = read_message(key, "edited", lambda value: read_edit(value, len(loss.actions), len(loss.classes)))
        st.session_state.pop(f"{key}-refused", None)
        if edit is not None:
            change(lambda state: with_edit(state, table, edit))

    def pasted() -> None:
        text = read_message(key, "pasted", lambda value: value["text"] if isinstance(value.get("text"), str) else None)
        st.session_state.pop(f"{key}-refused", None)
        if text is None:
            return
        try:
            rows, extra = pasted_losses(table, text, truth_in_rows=current().seen(keys.FLIP))
        except BayesEngineError as error:
            st.session_state[f"{key}-refused"] = error.message
        else:
            change(lambda state: replace(state, losses=rows, extra=extra))

    _component(
        key=key,
        data=editor_part(table, fitted, case, bus),
        on_edited_change=edited,
        on_pasted_change=pasted,
    )
    case_amount(table)
    if (refused := st.session_state.get(f"{key}-refused")) is not None:
        st.error(refused.local(md))
    if loss.ignores_data:
        st.caption(_("One decision is never costlier than any other here: the data cannot change it."))
    _never_refused(table)
    state = current()
    if not story_shown and table.info and not state.fixed and (state.losses, state.extra) == active.story_losses(table):
        st.caption(md(table.info.loss.text("story", current_language()), 600))


def _never_refused(table: active.FittableTable) -> None:
    """That the further decision is the best one for no posterior, and below which cost it would be."""
    loss = active.case_losses(table)
    if len(loss.actions) == len(loss.classes) or (saved := loss.most_saved(loss.actions[-1])) > 0:
        return
    name, costs = md(table.action(loss.actions[-1]), 24), {loss.cell(loss.actions[-1], c) for c in loss.classes}
    if len(costs) == 1:
        text = _("«{name}» is never the best decision: it pays only where it costs less than {bound}.")
        st.caption(text.format(name=name, bound=number(costs.pop() + saved)))
    else:
        st.caption(_("«{name}» is never the best decision, whatever the data.").format(name=name))


def case_amount(table: active.FittableTable) -> None:
    amount = active.case_amount(table)
    if amount is None:
        return
    st.number_input(
        _("The case's {column}").format(column=words.with_unit(table, table.amount_column, 30)),
        0.0,
        1e15,
        value=None,
        step=10.0 ** max(math.floor(math.log10(amount or 1.0)) - 1, -6),
        format="%.10g",
        width=240,
        help=_("It multiplies losses. Empty: that of the case's row, or of a typed case the median of the table."),
        **control("case_amount", amount, lambda s, v: replace(s, amount=-1.0 if v is None else float(v))),
    )


def last_edit(bus: str) -> int:
    """The number of the last edit that was taken into the state; the drawings show newer ones ahead of the server."""
    return last_message(_key(bus))


def unit_of(table: active.FittableTable) -> str:
    """What the losses are counted in, where the data set's story says so and its losses, or others, are in use."""
    info = table.info_of_target
    return info.loss.text("unit", current_language()) if info and current().losses else ""


def _key(bus: str) -> str:
    return f"{bus}_losses"


# what comes back ------------------------------------------------------------------------------------------------------


def read_edit(value: Any, actions: int, classes: int) -> Edit | None:
    """The edit that a browser sent; None if it is anything else than finite losses of this shape and a prior.

    >>> read_edit({"table": [[0, 5], [1, 0]], "prior": None, "name": None, "by": [[True, True], [False, True]]}, 2, 2)
    Edit(losses=((0.0, 5.0), (1.0, 0.0)), prior=(), name='', fixed=((1, 0),))
    """
    rows, prior, name = (value.get(k) for k in ("table", "prior", "name"))
    if not _is_list(rows, actions, lambda row: _is_list(row, classes, _is_loss)):
        return None
    shares = prior if _is_list(prior, classes, _is_loss) and min(prior) >= 0 and sum(prior) > 0 else ()
    losses = tuple(tuple(float(v) + 0.0 for v in row) for row in rows)
    marks = value.get("by")
    marked = _is_list(marks, actions, lambda row: _is_list(row, classes, lambda v: type(v) is bool))
    fixed = [(i, j) for i, row in enumerate(marks) for j, on in enumerate(row) if not on] if marked else []
    return Edit(losses, shares_of(shares), clean(name, 40).strip() if isinstance(name, str) else "", tuple(fixed))


def _is_list(value: Any, n: int, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == n and all(map(fits, value))


def _is_loss(value: Any) -> bool:
    return is_number(value) and abs(value) <= LARGEST


def shares_of(prior: Sequence[float]) -> tuple[float, ...]:
    """A prior to six decimals; the largest share takes up the rounding, so that the sum stays 1.

    >>> shares_of([1 / 3, 1 / 3, 1 / 3])
    (0.333334, 0.333333, 0.333333)
    """
    if not len(prior):
        return ()
    rounded = [round(p / sum(prior), 6) for p in prior]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + 1.0 - sum(rounded), 6)
    return tuple(rounded)


def with_edit(state: State, table: active.FittableTable, edit: Edit) -> State:
    """The state after an edit; a further action that has no row (the losses were another table's) is gone."""
    named = bool(edit.name) and len(edit.losses) > len(table.classes) and edit.name not in map(str, table.classes)
    losses = edit.losses
    zero_one = LossMatrix.zero_one(table.classes).table.tolist()
    if not state.losses and list(map(list, losses)) == zero_one:  # only the prior was moved
        losses = ()
    extra = state.extra if len(edit.losses) > len(table.classes) else ""
    fixed = edit.fixed if table.amount_column else state.fixed
    return replace(state, losses=losses, prior=edit.prior, extra=edit.name if named else extra, fixed=fixed)


def pasted_losses(
    table: active.FittableTable, text: str, *, truth_in_rows: bool = False
) -> tuple[tuple[tuple[float, ...], ...], str]:
    """(losses, name of the further action) after a block was pasted; a block of the classes alone leaves the further
    action's row as it was. Raises LossError naming the cell that cannot be read."""
    loss, name, k = active.losses(table), current().extra, len(table.classes)
    block = read_block(
        text,
        [table.action(a) for a in loss.actions],
        [table.class_(c) for c in table.classes],
        truth_in_rows=truth_in_rows,
    )
    if len(block.table) > k:
        return block.table, clean(block.extra, 40) or (name if len(loss.actions) > k else active.refusal(table))
    kept = tuple(tuple(row) for row in loss.table[k:].tolist())
    return (*block.table, *kept), name if kept else ""


# what is sent ---------------------------------------------------------------------------------------------------------


def decided(table: active.FittableTable, fitted: active.Fitted, case: Ledger) -> dict[str, Any]:
    """What the browser decides a case from (decide.js): names, losses, ties, priors, and the posterior, if any."""
    loss, use = active.losses(table), active.prior_of_use(table)
    order = [case.classes.index(c) for c in table.classes]
    return {
        "decisions": decisions(table),
        "truths": truths(table),
        "loss": loss.table.tolist(),
        "by": None if loss.by_amount is None else loss.by_amount.tolist(),
        "amount": 1.0 if (amount := active.case_amount(table)) is None else amount,
        "order": loss.by_name.tolist(),
        "own": [fitted.prior[c] for c in table.classes],
        "prior": [use[c] for c in table.classes] if use else None,
        "posterior": case.posterior()[0, order].tolist() if case.status[0] == Status.OK else [],
    }


def editor_part(table: active.FittableTable, fitted: active.Fitted, case: Ledger, bus: str) -> dict[str, Any]:
    """What the editor is sent: `case` says at what value of a cell its decision turns."""
    loss = active.losses(table)
    unit, further = unit_of(table), len(loss.actions) > len(table.classes)
    column, every = clean(table.column(table.amount_column), 30) if table.amount_column else "", loss.by_amount
    return {
        **decided(table, fitted, case),
        "key": bus,
        "seen": last_edit(bus),
        "by": ([[True] * len(r) for r in loss.table] if every is None else every.tolist()) if column else None,
        "flipped": current().seen(keys.FLIP),
        "name": clean(table.action(loss.actions[-1]), 40) if further else None,
        "unit": _("in {unit}").format(unit=clean(unit, 40)) if unit else "",
        "words": editor_words(column),
    }


def editor_words(column: str = "") -> dict[str, str]:
    """The editor's words; losses may be per unit of a column."""
    return {
        "losses": _("losses of the decisions"),
        "decision": _("decision"),
        "truth": _("truth"),
        "cell": _("loss of deciding {decision} when the truth is {truth}"),
        "name": _("name of the further decision"),
        "amount": _("× {column}: per unit of it").format(column=column) if column else "",
        "times": _("× {column}").format(column=column) if column else "",
        "once": _("a fixed sum"),
        "switch": _("Click: a loss per unit of {column}, or a fixed sum").format(column=column) if column else "",
        "timesCell": _("The {cell}: times the row's {column}").format(cell="{cell}", column=column),
        "hint": _("drag a number sideways, type it, or paste a block from a spreadsheet"),
        "flips": _("flips at {value}"),
        "blank": _("The {cell} is blank; it stays as it was."),
        "unread": _("The {cell}: «{text}» is no number up to 1e9; it stays as it was."),
        "prior": _("Prior of use: class frequencies where you decide"),
        "share": _("share of {name} where you decide"),
        "own": _("the model's own: {p}"),
        "asModel": _("As in the model"),
        "shifted": _("Posteriors are shifted from the model's prior; risk counts each row π_use/π_table times."),
        "unshifted": _("As in the model; drag it to where you decide."),
    }


def refusing(state: State, table: active.FittableTable, cost: float) -> State:
    """The state with a further action at this cost; one that is there already keeps its name."""
    loss, k = active.losses(table), len(table.classes)
    # where an amount multiplies some losses only, the refusal is a sum
    sums = [(k, j) for j in range(k)] if loss.by_amount is not None else []
    return replace(
        state,
        losses=(*map(tuple, loss.table[:k].tolist()), (cost,) * k),
        extra=(state.extra if len(loss.actions) > k else "") or active.refusal(table),
        fixed=(*(cell for cell in state.fixed if cell[0] < k), *sums),
    )


def decisions(table: active.FittableTable) -> list[dict[str, Any]]:
    """The actions for a drawing: name, heading («decide good»), colours, the class it decides for; `own` of none."""
    loss = active.losses(table)
    of = [table.classes.index(a) if a in table.classes else None for a in loss.actions]
    inks = action_inks([clean(table.action(a), 40) for a in loss.actions], of)
    heads = [words.decision_name(table, a, clean) for a in loss.actions]
    return [
        {"name": ink.label, "head": head, "light": ink.light, "dark": ink.dark, "of": ink.of, "own": ink.of is None}
        for ink, head in zip(inks, heads, strict=True)
    ]


def truths(table: active.FittableTable) -> list[dict[str, Any]]:
    """The classes for a drawing: name, heading («truth is good»), colours."""
    inks = class_inks([clean(table.class_(c), 40) for c in table.classes])
    return [
        {
            "name": ink.label,
            "head": _("truth is {name}").format(name=clean(ink.label, 24)),
            "light": ink.light,
            "dark": ink.dark,
        }
        for ink in inks
    ]


# presets --------------------------------------------------------------------------------------------------------------


def _presets(table: active.FittableTable) -> None:
    rows, name = tuple(tuple(row) for row in active.losses(table).table.tolist()), current().extra
    k = len(table.classes)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            _("0-1 loss"),
            key="preset_zero_one",
            **on_click(lambda s: replace(s, losses=(), extra="", fixed=())),
        )
        story = active.story_losses(table)
        if story:
            st.button(
                _("The story's losses"),
                key="preset_story",
                **on_click(lambda s: replace(s, losses=story[0], extra=story[1], fixed=())),
            )
        if len(rows) > k:
            st.button(
                _("Without «{name}»").format(name=md(table.action(name), 18)),
                key="refuse_off",
                **on_click(
                    lambda s: replace(
                        s, losses=rows[:k], extra="", fixed=tuple(cell for cell in s.fixed if cell[0] < k)
                    )
                ),
            )
        else:
            loss = active.losses(table)
            priced = loss if loss.by_amount is None else active.case_losses(table)
            st.button(
                _("Allow refusing"),
                key="refuse_on",
                help=_("One more decision, «refuse», that costs the same whatever the truth."),
                **on_click(lambda s: refusing(s, table, priced.refusal_that_pays() or 0.0)),
            )
        st.toggle(
            _("truth in rows"),
            help=_("Turns the view only; no decision changes."),
            **bound_to(keys.FLIP),
        )
