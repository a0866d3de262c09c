"""The four chips of global state on the left of every page: table ▸ model ▸ case ▸ prior of use and losses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

import streamlit as st

from bayes_engine.datasets import dataset_cover, dataset_names
from bayes_engine.language import LANGUAGES, _, current_language
from bayes_engine.table.read import MAX_BYTES
from pages import active
from pages.active import lesson_in_use, own_table, shelf, words
from pages.active.case_and_losses import pick_row
from pages.active.files import TABLE
from pages.active.tables import upload_in
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import Spec, current, on_click
from pages.runtime.widgets import control
from pages.shell import workspace

T = TypeVar("T", active.FittableTable, active.TableInUse)


def of_streamlit() -> str:
    """Style that puts the words that Streamlit itself writes into the language; they have no other door. The recorder
    of the screen, whose sentences are many, and the version are hidden."""
    if current_language() == "en":
        return ""
    texts = {
        "[st=MainMenuItem-theme-System]": _("As the system"),
        "[st=MainMenuItem-theme-Light]": _("Light"),
        "[st=MainMenuItem-theme-Dark]": _("Dark"),
        "[st=MainMenuItem-print] [st=MainMenuItemLabel]": _("Print"),
        "[st=StatusWidget] button p": _("Stop"),
        "[st=ConnectionStatus] label": _("Connecting"),
        "[st=SkipToContent]": _("Skip to the page"),
        "[st=FileUploaderDropzone] [st=BaseButton-secondary] p": _("Choose a file"),
        "[st=FileUploaderDropzoneInstructions] span": _("at most {n} MB").format(n=MAX_BYTES // 1_000_000),
        "[st=InputInstructions] span": _("Enter to take it over"),
    }
    rules = (
        f'{what} {{ font-size: 0 !important; }} {what}::after {{ content: "{text}"; font-size: .85rem; }}'
        for what, text in texts.items()
    )
    hidden = "[st=MainMenuItem-recordScreencast], [st=MainMenuPopover] div:has(> .stMenuVersionCopyButton)"
    return private.style(" ".join((*rules, f"{hidden} {{ display: none; }}")))


def state_chips(uses: Collection[str]) -> None:
    """The chips, those that the page does not use in grey; each opens what is changed most. What is inside exists only
    while it is open."""

    def chip(key: str, name: str, shown: str, icon: str, inside: Callable[[T], None], table: T) -> None:
        used = key in uses
        with nullcontext() if used else st.container(key=f"unused_{key}"):
            opened = st.popover(
                f"**{name}** · {shown}" if used else f"{name} · {shown}",
                icon=icon,
                width="stretch",
                key=f"chip_{key}_open",
                help=None if used else _("This page does not use it."),
                on_change="rerun",
            )
        if opened.open:
            with opened:
                inside(table)

    table = active.table_in_use()
    chip("table", _("Table"), md(table.title, 24), ":material/table:", _table_chip, table)
    if isinstance(table, active.UnfittableTable):
        return
    specs, state = active.shelf_of(table), current()
    row = _row(table)
    case = _("typed") if state.case else _("first")
    case = case if row is None else _("row {n}").format(n=row)
    model = md(_names(specs)[min(state.active, len(specs) - 1)], 24)
    chip("model", _("Model"), model, ":material/tune:", _model_chip, table)
    chip("case", _("Case"), case, ":material/search:", _case_chip, table)
    chip("losses", _("Losses"), _losses_word(table), ":material/balance:", _losses_chip, table)


def _names(specs: Iterable[Spec]) -> list[str]:
    """What the models are called, shortly, and no two alike."""
    return shelf.distinct_names(spec.name or words.spec(spec) for spec in specs)


def _model_chip(table: active.FittableTable) -> None:
    specs = active.shelf_of(table)
    called = _names(specs)
    st.radio(
        _("Active model"),
        range(len(specs)),
        format_func=lambda i: md(called[i]),
        **control("chip_model", min(current().active, len(specs) - 1), lambda s, i: replace(s, active=i)),
    )


def _table_chip(table: active.TableInUse) -> None:
    here = table.dataset.name if table.dataset else None
    st.selectbox(
        _("Data set"),
        dataset_names(),
        format_func=lambda n: dataset_cover(n).text("title", current_language()),
        **control("chip_table", here, lambda s, name: own_table.instead(s, s.on_table(name)) if name else s),
    )
    if table.info:
        st.toggle(
            _("Labels as they are in the file"),
            **control("chip_labels", current().labels == "file", lambda s, on: replace(s, labels="file" if on else "")),
        )


def _case_chip(table: active.FittableTable) -> None:
    st.number_input(
        _("Take a row of the table"),
        1,
        len(table.parts.X),
        step=1,
        **control("chip_row", _row(table), lambda s, n: pick_row(s, table, n)),
    )


def _row(table: active.FittableTable) -> int | None:
    """The row that the case was taken from, counted from 1; None for a case that is typed."""
    return current().row + 1 if 0 <= current().row < len(table.parts.X) else None


def _losses_word(table: active.FittableTable) -> str:
    if not current().losses:
        return _("0-1")
    if active.story_losses(table) == (current().losses, current().extra) and not current().fixed:
        return _("the story's")
    return _("own")


def _losses_chip(table: active.FittableTable) -> None:
    st.button(
        _("0-1 loss"),
        key="chip_zero_one",
        width="stretch",
        **on_click(lambda s: replace(s, losses=(), extra="", fixed=())),
    )
    if story := active.story_losses(table):
        st.button(
            _("The data set's story"),
            key="chip_story",
            width="stretch",
            **on_click(lambda s: replace(s, losses=story[0], extra=story[1], fixed=())),
        )
    st.button(
        _("Prior of use: as in the model"),
        key="chip_prior",
        width="stretch",
        disabled=not current().prior,
        **on_click(lambda s: replace(s, prior=())),
    )


def language() -> None:
    st.segmented_control(
        _("Language"),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        label_visibility="collapsed",
        required=True,
        **control("language", current_language(), lambda s, code: replace(s, language=code)),
    )


def warnings() -> None:
    """What must be said before the page: a link that could not be read, a table that must be given again."""
    if st.session_state.get("broken_link"):
        st.warning(
            _("This link could not be read: it was cut off, or made by another version. You see the last state.")
        )
    if st.session_state.get("too_long"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="workspace_too_long"):
            st.info(
                _(
                    "This state is too large for a link: losses, case and column changes are not in the address. Save "
                    "the workspace to keep it."
                )
            )
            workspace.save_button("workspace_save_long", width="content")
    state = current()
    if (digest := TABLE.named(state)) and upload_in(state) is None:
        if state.seen(keys.OWN_STEP) >= 0 and lesson_in_use.running() is not None:
            return  # the bar of the step says so, and takes the file
        name = st.session_state.get("files_asked", {}).get(digest)
        if name:
            st.warning(
                _(
                    "This workspace was saved without its data. Upload '{file}' on the page Data and everything is as "
                    "it was; until then you see the start table."
                ).format(file=md(name))
            )
        else:
            st.warning(
                _(
                    "This link refers to a file that was uploaded elsewhere. Upload the same file on the "
                    "page Data and everything is as it was; until then you see the start table."
                )
            )
    elif not digest and state.table not in dataset_names():
        st.warning(_("This link names a table that is not here; you see the start table."))
