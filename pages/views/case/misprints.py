"""The misprints of a table's source, beside the numbers that they speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.dataset_format import Erratum
from bayes_engine.language import _, current_language
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.misprints import WorkingPlace, misprints
from pages.runtime.escape import md
from pages.views.case.editor import CaseInUse


def errata(one: CaseInUse) -> tuple[Erratum, ...]:
    """The misprints of the table's source, by the names on screen; an exercise has none."""
    named, listed = one.table.named, one.table.info.errata if one.table.info and not one.seed else ()
    return tuple(
        replace(each, where=named(each.where), note=named(each.note), note_zh=named(each.note_zh)) for each in listed
    )


def misprints_by_place(one: CaseInUse, working: Working) -> dict[WorkingPlace, list[Erratum]]:
    """The misprints of the source, by the number they speak of."""
    misprinted: dict[WorkingPlace, list[Erratum]] = {}
    for place, erratum in misprints(working, errata(one)):
        misprinted.setdefault(place, []).append(erratum)
    return misprinted


def beside_badges(cell: Any, misprinted: Sequence[Erratum]) -> Any:
    """Where a number stands: in its cell, or where something is printed instead in a line with that."""
    return cell.container(horizontal=True, vertical_alignment="center", gap="small") if misprinted else cell


def badges(misprinted: Sequence[Erratum]) -> None:
    """What is printed instead, beside a number."""
    for erratum in misprinted:
        label = _("rounded: {printed}") if erratum.rounded else _("misprint: {printed}")
        st.badge(label.format(printed=md(erratum.printed, 40)), icon=":material/edit_note:",
                 color="gray" if erratum.rounded else "orange",
                 help=md(erratum.text("note", current_language()), 400))  # fmt: skip
