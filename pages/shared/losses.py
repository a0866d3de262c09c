"""The loss editor and the prior of use: rows are decisions, columns truths, both said in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.priors import with_share
from pages.shared import data, words
from pages.shared.escape import clean, md
from pages.shared.state import State, bound, change, current

WIDEST = 5
"""Up to this many classes the matrix is a grid of number fields; beyond, a spreadsheet."""


def loss_editor(table: data.InUse) -> None:
    """λ_ij as an editable grid, with orientation, presets and a refusal row."""
    with st.container(key="loss_editor"):
        _editor(table)


def _editor(table: data.InUse) -> None:
    st.markdown(f"**{_('Losses')} λ** · " + _("what a decision costs"))
    if len(table.classes) <= WIDEST:
        _grid(table, flipped=bool(current().seen("flip", False)))
    else:
        _sheet(table)
    _presets(table)
    if data.losses(table).ignores_data:
        st.caption(_("One decision is never dearer than any other here: the data cannot change it."))


def _grid(table: data.InUse, *, flipped: bool) -> None:
    loss = data.losses(table)
    decide = [words.deciding(table, a, md) for a in loss.actions]
    truth = [_("truth is {name}").format(name=md(table.class_(c), 18)) for c in loss.classes]
    across, down = (decide, truth) if flipped else (truth, decide)
    for head, cell in zip(("", *across), st.columns([1.1, *[1] * len(across)], wrap=False), strict=True):
        cell.caption(head or ("↓ " + (_("truth") if flipped else _("decision"))))
    for r, name in enumerate(down):
        cells = st.columns([1.1, *[1] * len(across)], vertical_alignment="center", wrap=False)
        cells[0].markdown(name)
        for c, cell in enumerate(cells[1:]):
            i, j = (c, r) if flipped else (r, c)
            cell.number_input(
                f"λ · {decide[i]} · {truth[j]}",
                value=None,
                step=1.0,
                format="%g",
                label_visibility="collapsed",
                min_value=-1e9,
                max_value=1e9,
                **bound(f"loss_{i}_{j}", float(loss.table[i, j]), _set_cell(table, i, j)),
            )


def _set_cell(table: data.InUse, i: int, j: int) -> Any:
    def edit(state: State, value: float | None) -> State:
        rows = [list(row) for row in _rows(table)]
        rows[i][j] = 0.0 if value is None else float(value)
        return _with_losses(state, table, tuple(map(tuple, rows)))

    return edit


def _with_losses(state: State, table: data.InUse, rows: tuple[tuple[float, ...], ...]) -> State:
    """The state with these losses; a further action that has no row (the losses were another table's) is gone."""
    return replace(state, losses=rows, extra=state.extra if len(rows) > len(table.classes) else "")


def _rows(table: data.InUse) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in data.losses(table).table.tolist())


def _sheet(table: data.InUse) -> None:
    """More classes than fit: a spreadsheet. Its edits go to the state at once and it starts afresh from there."""
    loss = data.losses(table)
    frame = pd.DataFrame(
        loss.table,
        index=pd.Index([words.deciding(table, a, clean) for a in loss.actions]),
        columns=[_("truth is {name}").format(name=clean(table.class_(c))) for c in loss.classes],
    )
    key = f"loss_sheet_{abs(hash(loss)):x}"

    def changed() -> None:
        def edit(state: State) -> State:
            rows = [list(row) for row in _rows(table)]
            for i, cells in st.session_state[key]["edited_rows"].items():
                for name, value in cells.items():
                    if value is not None:
                        rows[int(i)][frame.columns.get_loc(name)] = float(value)
            return _with_losses(state, table, tuple(map(tuple, rows)))

        change(edit)

    st.data_editor(frame, key=key, num_rows="fixed", on_change=changed, height=min(420, 38 + 35 * len(frame)))


def _presets(table: data.InUse) -> None:
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("0-1 loss"), key="preset_zero_one", on_click=change, args=(lambda s: replace(s, losses=(), extra=""),)
        )
        story = data.story_losses(table)
        if story:
            st.button(
                _("The story's losses"),
                key="preset_story",
                on_click=change,
                args=(lambda s: replace(s, losses=story[0], extra=story[1]),),
            )
        rows, name = _rows(table), current().extra
        if len(rows) > len(table.classes):
            st.button(
                _("Without «{name}»").format(name=md(table.action(name), 18)),
                key="refuse_off",
                on_click=change,
                args=(lambda s: replace(s, losses=rows[: len(table.classes)], extra=""),),
            )
        else:
            dearest = max(*map(max, rows), 0.0)
            refusal = tuple(0.2 * dearest for _c in table.classes)
            st.button(
                _("Allow refusing"),
                key="refuse_on",
                on_click=change,
                help=_("One more decision, «refuse», that costs the same whatever the truth."),
                args=(lambda s: replace(s, losses=(*rows, refusal), extra=data.refusal(table)),),
            )
        if len(table.classes) <= WIDEST:
            st.toggle(
                _("truth in rows"),
                help=_("Turns the view only; no decision changes."),
                **bound("flip", bool(current().seen("flip", False)), lambda s, on: s.showing(flip=on)),
            )
    if table.info and (current().losses, current().extra) == story:
        st.caption(md(table.info.loss.text("story", current_language()), 600))


def prior_editor(table: data.InUse, fitted: data.Fitted) -> None:
    """The prior of use: how frequent the classes are where the model will be used."""
    own, use = fitted.prior, data.prior_of_use(table) or fitted.prior
    st.markdown(f"**{_('Prior of use')}** · " + _("class frequencies where you decide"))
    if len(table.classes) == 2:
        first, _second = table.classes
        st.slider(
            f"P({md(table.class_(first), 24)})",
            0.01,
            0.99,
            step=0.01,
            **bound(
                "prior_0",
                min(max(round(use[first], 4), 0.01), 0.99),
                lambda s, p: replace(s, prior=(round(p, 4), round(1 - p, 4))),
            ),
        )
    else:
        in_a_row = min(len(table.classes), 4)
        cells = [cell for _row in range(0, len(table.classes), in_a_row) for cell in st.columns(in_a_row)]
        for k, label in enumerate(table.classes):
            cells[k].number_input(
                f"P({md(table.class_(label), 18)})",
                0.0,
                0.99,
                step=0.01,
                format="%.3f",
                **bound(f"prior_{k}", min(round(use[label], 4), 0.99), _set_prior(table, use, k)),
            )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            _("As in the model"),
            key="prior_model",
            disabled=not current().prior,
            on_click=change,
            args=(lambda s: replace(s, prior=()),),
        )
        if current().prior:
            shown = _(", ").join(f"{md(table.class_(c), 18)} {own[c]:.3f}" for c in table.classes)
            st.caption(
                _(
                    "The model's own prior: {prior}. Posteriors are shifted from it; risk counts each row "
                    "π_use/π_table times."
                ).format(prior=shown)
            )


def _set_prior(table: data.InUse, use: Any, k: int) -> Any:
    """One class's share is set; the others keep their proportions."""

    def edit(state: State, value: float | None) -> State:
        shares = with_share([use[c] for c in table.classes], k, float(value or 0.0))
        return replace(state, prior=tuple(round(v, 6) for v in shares))

    return edit
