"""Presenter mode: one figure and one sentence of a page, large, without the sidebar; the smoothing and λ that they
depend on stay at hand. What is shown of each page says `presented`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.naive_bayes import PRESETS
from pages import active
from pages.active import prior_choice, shelf, words
from pages.components.component import component
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import Spec, State, current
from pages.runtime.widgets import control, sets
from pages.shell import frame
from pages.shell.presented import PRESENTED, OwnSmoothing, Presented

ZOOM = 1.56
"""What is 13 px high otherwise, the smallest of all type, is 20 px high."""
MOST_CELLS = 20
"""A loss matrix of more cells is edited on the page Decisions."""
_keys_pressed = component(__file__, "bayes_presenter_keys")
_BARS = ("lesson_bar", "presenter_bar", "class_line", "class_question")


def button() -> None:
    """The button that begins presenter mode; its keys listen on every page."""
    st.button(
        _("Present"),
        key="present",
        icon=":material/slideshow:",
        type="tertiary",
        help=_(
            "One figure and one sentence, large, without the sidebar (key p; Escape ends it). ← and → step the lesson. "
            "On a window narrower than 641 px, as a phone's, the type stays as it is."
        ),
        **sets(keys.PRESENTING.to(True)),
    )
    _keys_pressed(key="presenter_keys", data={"dialog": private.selectors("[st=Dialog]")})


def bar(here: str) -> None:
    """Where a person presents: the style that leaves one figure and one sentence, and the bar with smoothing and λ."""
    state = current()
    if not state.seen(keys.PRESENTING) or here not in PRESENTED:
        return
    shown = PRESENTED[here](state)
    st.html(_style(shown))
    uses = frame.place_of(here).uses(state)
    table = active.table_in_use()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="presenter_bar"):
        if shown.own is not None:
            _own_smoothing(shown.own)
        if isinstance(table, active.FittableTable):
            if "model" in uses and "smoothing" in shown.at_hand:
                _smoothing(table)
            if "losses" in uses and "losses" in shown.at_hand:
                _losses(table)
        st.button(
            _("End presenting (Escape)"),
            key="presenter_leave",
            icon=":material/close_fullscreen:",
            type="tertiary",
            help=_("End presenting (Escape)"),
            **sets(keys.PRESENTING.to(False)),
        )


def _style(shown: Presented) -> str:
    """All that is not shown goes, and what is left is larger. Where the page has no figure it stays as it is."""
    kept = ", ".join(f".st-key-{key}" for key in (*_BARS, shown.sentence, *shown.figure, *shown.controls))
    figure = ", ".join(f".st-key-{key}" for key in shown.figure)
    above = ", ".join(f".st-key-{key}" for key in (shown.sentence, *shown.controls))
    bars = ", ".join(f".st-key-{key}" for key in _BARS)
    page = f"[st=MainBlockContainer]:has({figure})"
    gone = f":not(:is({kept}), :is({kept}) *, :has({kept}))"
    boxes = ":is([st=ElementContainer], [st=Column], [st=LayoutWrapper], [st=Expander])"
    return private.style(f"""
    [st=Sidebar], [st=Header], [st=ExpandSidebarButton] {{ display: none !important; }}
    [st=MainBlockContainer] {{ padding: .6rem .75rem 1rem; max-width: none; }}
    [st=MainBlockContainer] [st=CaptionContainer] {{ opacity: 1; }}
    {page} {boxes}{gone} {{ display: none !important; }}
    {page} [st=Column]:has({kept}) {{ flex: 1 1 100% !important; width: 100% !important; min-width: 0; }}
    {page} [st=HorizontalBlock]:has({figure}) {{ flex-wrap: wrap; }}
    {page} {boxes}:has({above}):not(:has({figure})) {{ order: -1; }}
    {page} {boxes}:has({bars}) {{ order: -2; }}
    .st-key-presenter_leave p {{
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
    }}
    .st-key-presenter_leave {{ margin-left: auto; }}
    .js-plotly-plot {{ pointer-events: none; }}
    @media (min-width: 641px) {{
      [st=MainBlockContainer], [st=PopoverBody] > div, [st=SkipToContent] {{ zoom: {ZOOM}; }}
      [st=MainBlockContainer] [st=FullScreenFrame] {{ width: {100 / ZOOM:.3f}% !important; }}
      [st=MainBlockContainer] [st=FullScreenFrame]:has(.js-plotly-plot) {{ height: {100 / ZOOM:.3f}% !important; }}
      .js-plotly-plot {{ overflow: visible !important; }}
      .katex-display > .katex {{ font-size: 1.1em !important; }}
      .st-key-opened [st=HorizontalBlock]:has(.katex-display) {{ flex-wrap: wrap; }}
      .st-key-opened [st=Column]:has(.katex-display) {{ flex: 1 1 100% !important; min-width: 100% !important; }}
      [st=PopoverBody] {{ max-width: 96vw !important; max-height: 85vh !important; overflow: auto; }}
    }}
    @media (min-width: 641px) and (max-width: 999px) {{
      .katex-display > .katex {{ font-size: max(.9em, 13px) !important; }}
      [st=MainBlockContainer] [st=MarkdownContainer] table :is(th, td) {{ padding-inline: .3rem; }}
    }}
    @media (min-width: 1000px) {{
      .katex :is(.reset-size6.size3, .reset-size3.size1) {{ font-size: max(.7em, {20.1 / ZOOM:.2f}px) !important; }}
    }}
    """)


# what stays at hand ---------------------------------------------------------------------------------------------------


def _smoothing(table: active.FittableTable) -> None:
    spec = active.shelf_of(table)[shelf.active_place(table)]
    if "alpha" not in active.settings(spec):
        return
    pseudo = prior_choice.text(shelf.pseudo_count(spec))
    with st.popover(f"**{_('Smoothing')}** · {md(pseudo, 24)}", icon=":material/tune:"):
        if spec.family in active.NAIVE:
            st.segmented_control(
                _("Estimation"),
                list(PRESETS),
                format_func=words.preset,
                required=True,
                **control("presenter_preset", spec.preset, partial(_edited, table, shelf.with_preset)),
            )
        prior_choice.strength_slider(
            "presenter_alpha", shelf.pseudo_count(spec), partial(_edited, table, shelf.with_prior_strength)
        )


def _own_smoothing(own: OwnSmoothing) -> None:
    """The smoothing that the page has of its own."""
    now, (low, high) = current().seen(own.key), own.key.limits
    with st.popover(f"**{_('Smoothing')}** · {own.label} = {now:g}", icon=":material/tune:"):
        st.slider(
            own.label,
            low,
            min(high, max(own.most, now)),
            **control("presenter_own", now, lambda state, value: state.showing(own.key.to(value), *own.also)),
        )


def _edited(table: active.FittableTable, edit: Any, state: State, value: Any) -> State:
    def of_spec(spec: Spec) -> Spec:
        edited: Spec = edit(spec, value)
        return edited

    return shelf.edit_active_model(table, of_spec)(state)


def _losses(table: active.FittableTable) -> None:
    loss = active.losses(table)
    zero_one = not current().losses
    with st.popover(f"**λ** · {_('0-1') if zero_one else _('own')}", icon=":material/balance:"):
        if loss.table.size > MOST_CELLS:
            st.markdown(_("These losses are edited on the page Decisions."))
            return
        for i, action in enumerate(loss.actions):
            for j, truth in enumerate(loss.classes):
                st.number_input(
                    f"λ({words.decision_name(table, action, md)} | {md(table.class_(truth), 24)})",
                    step=1.0,
                    format="%g",
                    **control(f"presenter_loss_{i}_{j}", float(loss.table[i, j]), partial(_with_loss, table, i, j)),
                )


def _with_loss(table: active.FittableTable, i: int, j: int, state: State, value: float | None) -> State:
    """The state with another λ in this cell."""
    if value is None or abs(value) > 1e9:
        return state
    rows = [list(map(float, row)) for row in active.losses(table).table]
    rows[i][j] = value
    return replace(state, losses=tuple(map(tuple, rows)))
