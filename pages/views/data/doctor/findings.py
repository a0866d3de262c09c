"""The table with what was found in it: each finding with its sentence, its evidence, the rows it is seen in, and a
button for each of its mends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import Listing, Message, _
from bayes_engine.numerals import plain
from bayes_engine.workbench.doctor.finding import SEVERITIES, Finding, Nats
from pages import active
from pages.active import files, units, words
from pages.active.files import TABLE
from pages.components.tables import with_screen_names
from pages.runtime import jobs
from pages.runtime.escape import clean, md
from pages.runtime.listed_buttons import columns_of, listed, listed_choice
from pages.runtime.progress_box import progress_box
from pages.runtime.state import State, current, on_click
from pages.runtime.state_checks import KINDS
from pages.views.data import columns
from pages.views.data.attempts import edited_or_refused, why_refused
from pages.views.data.doctor import edits, wording
from pages.views.data.doctor.changed_cells import changed_cells
from pages.views.data.doctor.heads import picked_column, table_with_heads, with_column_picked
from pages.views.data.doctor.report import OF_CLASSES, Examined, Group, alone, examined, grouped
from pages.views.data.doctor.suggested_models import suggested_models

NAMED = 8
"""So many columns of a group are named."""
SHOWN = 6
"""So many notes are open; the others are folded."""
ROWS_SHOWN = 10
COLUMNS_SHOWN = 12


def examine(table: active.TableInUse) -> None:
    """The table with what was found in it; while it is examined, the table alone."""
    why_refused("mend")
    _repair_chips(table)
    try:
        examination = examined(table)
    except jobs.UnderWay as there:
        progress_box(there)
        table_with_heads(table, ())
        return
    _summary(table, examination)
    for f in examination.open:
        if not f.columns or f.code in OF_CLASSES:  # it concerns the whole table or its classes
            _finding_with_buttons(table, alone(f), f"of_{f.code}")
    table_with_heads(table, examination.open)
    _of_columns(table, examination)
    suggested_models(table, examination)


# above the table ------------------------------------------------------------------------------------------------------


def _summary(table: active.TableInUse, examination: Examined) -> None:
    """How much was found, and how much was looked for and not found."""
    counts = Counter(f.severity for f in examination.open)
    nothing = _("nothing else to mend") if _is_reading_doubtful() else _("nothing to mend")
    counted = [
        f"{wording.ICONS[severity]} {wording.severity(severity, counts[severity])}"
        for severity in SEVERITIES
        if counts[severity]
    ] or [f":green[:material/check_circle:] {nothing}"]
    passed = _("{n} checks found nothing").format(n=len(examination.passed))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="doctor_summary"):
        for part in counted:
            st.markdown(f"**{part}**", width="content")
        chip = st.popover(f":gray[{passed}]", type="tertiary", key="doctor_passed", on_change="rerun")
        if chip.open:
            with chip:
                _checked(table, examination)
    if examination.report.sampled:
        st.caption(examination.report.sampled.local(md))
    if examination.left:
        left = _("Of the columns the first {n} were looked at; {left} more were not.")
        st.caption(left.format(n=len(examination.report.features), left=f"{examination.left:,}"))


def _is_reading_doubtful() -> bool:
    """Whether above the table something of its file is said with a warning."""
    upload = files.in_use(TABLE, current())
    return upload is not None and any(note.severity == "warning" for note in upload.reading.report)


def _checked(table: active.TableInUse, examination: Examined) -> None:
    """What was looked for and not found; and what was found but is taken care of already."""
    st.caption(
        _("Looked for, and not found: {what}.").format(what=_(", ").join(wording.title(c) for c in examination.passed))
    )
    if examination.settled:
        st.caption(_("Found, and taken care of by a column's role, the active model or the losses:"))
        for f in examination.settled[:12]:
            st.caption(f":material/check: {wording.sentence(table, f.message)} {_settled_by(table, f)}")
        if examination.settled[12:]:
            st.caption(_("and {n} more").format(n=len(examination.settled) - 12))


def _settled_by(table: active.TableInUse, finding: Finding) -> str:
    if finding.settled and finding.columns:
        role = table.schema[finding.columns[0]].role
        return f"**{_('its role is {role}').format(role=words.role(role))}**"
    return f"**{_('the losses account for it') if finding.code == 'imbalance' else _('the active model handles it')}**"


def _repair_chips(table: active.TableInUse) -> None:
    """What was changed, each with a button that undoes it."""
    state = current()
    changed = [c for c in state.columns if c[0] < len(table.schema) and (c[1] or c[2])]
    if not table.repairs and not changed:
        return
    with st.container(horizontal=True, gap="small", key="doctor_chips"):
        for place, (entry, repair) in enumerate(table.repairs):
            mended = _("mended: {what}").format(what=wording.repair_on_chip(table, repair))
            _undo_chip(mended, f"undo_{place}", partial(columns.without_repair, entry=entry))
        for position, role, kind, _levels in changed[:NAMED]:
            name = md(table.column(table.schema.variables[position].name), 28)
            what = _(", ").join(([words.role(role)] if role else []) + ([words.kind(kind)] if kind else []))
            stated = _("set: {column} {what}").format(column=name, what=what)
            _undo_chip(stated, f"reset_{position}", partial(columns.as_inferred, position=position))
        if len(changed) > NAMED:
            everything = _("undo all {n} changes of columns").format(n=len(changed))
            _undo_chip(everything, "reset_all", columns.all_as_inferred)
        if table.changes:
            opened = st.popover(_("What changed"), type="tertiary", key="doctor_changes", on_change="rerun")
            if opened.open:
                with opened:
                    for (_entry, repair), changes in zip(table.repairs, table.changes, strict=False):
                        changed_cells(table, repair, changes)


def _undo_chip(what: str, key: str, undo: Callable[[State], State]) -> None:
    """What was changed, on a button that undoes it."""
    edit = partial(edited_or_refused, edit=undo, where="mend")
    st.button(what, icon=":material/undo:", help=_("Undo"), **listed(key, what, edit))


# beneath the table ----------------------------------------------------------------------------------------------------


def _of_columns(table: active.TableInUse, examination: Examined) -> None:
    """Of the column whose head was clicked everything; else what was found in the columns, the worst first."""
    name = picked_column(table, current())
    if name:
        _findings_of_column(table, examination, name)
        return
    groups = [g for g in grouped(examination.open) if g.columns and g.code not in OF_CLASSES]
    worst = [g for g in groups if g.severity != "note"]
    notes = [g for g in groups if g.severity == "note"]
    for place, group in enumerate([*worst, *notes[:SHOWN]]):
        _finding_with_buttons(table, group, f"line_{place}")
    if notes[SHOWN:]:
        with st.expander(_("{n} more").format(n=len(notes) - SHOWN)):
            for place, group in enumerate(notes[SHOWN:], start=len(worst) + SHOWN):
                _finding_with_buttons(table, group, f"line_{place}")


def _finding_with_buttons(table: active.TableInUse, group: Group, key: str) -> None:
    """A finding, or many of a kind: what is found, a button for each mend, and the evidence on demand."""
    with st.container(key=f"finding_{group.severity}_{key}", gap="xsmall"):
        st.markdown(f"{wording.ICONS[group.severity]} {_finding_in_words(table, group)}")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            _mend_buttons(table, group, key)
            opened = st.popover(_("Evidence"), type="tertiary", key=f"{key}_why", on_change="rerun")
            if opened.open:
                with opened:
                    _evidence(table, group)


def _finding_in_words(table: active.TableInUse, group: Group) -> str:
    if len(group.findings) == 1:
        return wording.sentence(table, group.findings[0].message)
    firsts = list(dict.fromkeys(f.columns[0] for f in group.findings))
    names = _(", ").join(md(table.column(name), 28) for name in firsts[:NAMED])
    return _("**{what}** in {n} columns: {names}").format(
        what=wording.title(group.code), n=len(firsts), names=names + (" …" if len(firsts) > NAMED else "")
    )


def _mend_buttons(table: active.TableInUse, group: Group, key: str) -> None:
    for place, own in enumerate(group.mends):
        edit = partial(edited_or_refused, edit=partial(edits.with_mends_done, mends=own), where="mend")
        st.button(
            wording.button(table, own),
            icon=":material/healing:" if place == 0 else None,
            type="secondary" if place == 0 else "tertiary",
            help=wording.mend_help(own[0]),
            **listed(f"mend_{key}_{place}", own, edit),
        )


def _evidence(table: active.TableInUse, group: Group) -> None:
    """The numbers behind a finding, and the first rows it is seen in."""
    if len(group.findings) > 1:
        _evidence_by_column(table, group.findings)
        return
    _numbers(table, group.findings[0])
    _rows_of(table, group.findings[0])


def _numbers(table: active.TableInUse, finding: Finding) -> None:
    """The evidence as a small table."""
    if finding.evidence:
        st.dataframe(
            pd.DataFrame({
                "what": [wording.sentence(table, label, clean) for label, _value in finding.evidence],
                "value": [_number(value, label) for label, value in finding.evidence],
            }),
            hide_index=True,
            width="content",
            column_config={"what": _("what"), "value": st.column_config.TextColumn(_("value"), alignment="right")},
            alt=_("the evidence"),
        )  # fmt: skip


def _number(value: Any, label: Message) -> str:
    if value == 0.0 and label.template in ("p", "p (Holm)"):  # below what a float holds
        return "< 1e-300"
    if isinstance(value, float) and math.isinf(value):
        return "∞"
    if isinstance(value, Nats):
        return units.evidence_text(value)
    if isinstance(value, float):
        return f"{value:.4g}" if value and abs(value) < 1e-3 else plain(value)
    if isinstance(value, Listing):
        return clean(_(", ").join(map(str, value.parts)), 200)
    return f"{value:,}" if isinstance(value, int) else clean(value, 200)


def _evidence_by_column(table: active.TableInUse, findings: Sequence[Finding]) -> None:
    """A row for each of many findings of a kind: the column, and the numbers of it."""
    shown = []
    for f in findings:
        row = {_("column"): clean(table.column(f.columns[0]))}
        for label, value in f.evidence[:4]:
            row[wording.sentence(table, label, clean)] = _number(value, label)
        shown.append(row)
    st.dataframe(pd.DataFrame(shown), hide_index=True, alt=_("the evidence"))


def _rows_of(table: active.TableInUse, finding: Finding) -> None:
    """The first rows that a finding is seen in, its columns before the others."""
    if not finding.rows:
        return
    target = table.schema.target
    first = [*finding.columns, *([target.name] if target else [])]
    names = list(dict.fromkeys([*first, *table.schema.names]))[:COLUMNS_SHOWN]
    rows = [row for row in finding.rows if row < len(table.frame)][:ROWS_SHOWN]
    shown = table.frame[names].iloc[rows]
    st.caption(_("The first rows it is seen in"))
    st.dataframe(with_screen_names(table, shown).set_axis(shown.index + 1, axis=0), alt=_("rows concerned"))


def _role_and_kind(table: active.TableInUse, position: int) -> None:
    variable = table.schema.variables[position]

    def chosen(key: str, stands: str, how: Callable[[State, int, str], State]) -> dict[str, Any]:
        def edit(state: State, value: str) -> State:
            return edited_or_refused(state, lambda s: how(s, position, value), "mend")

        return listed_choice(f"{key}_{position}", stands, edit, columns_of)

    kinds = list(dict.fromkeys([*KINDS, variable.kind]))
    with st.container(horizontal=True, gap="small"):
        st.selectbox(_("Role"), columns.ROLES, format_func=words.role, width=180,
                     **chosen("role", variable.role, columns.with_role))  # fmt: skip
        st.selectbox(_("Kind"), kinds, format_func=words.kind, width=180,
                     **chosen("kind", variable.kind, columns.with_kind))  # fmt: skip


def _findings_of_column(table: active.TableInUse, examination: Examined, name: str) -> None:
    """Everything that was found in one column, with the evidence open."""
    own = [f for f in examination.open if name in f.columns and f.code not in OF_CLASSES]
    with st.container(border=True, key="doctor_picked"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{md(table.column(name))}**")
            st.button(
                _("All findings"),
                key="unpick",
                type="tertiary",
                icon=":material/close:",
                **on_click(lambda state: with_column_picked(state, None)),
            )
        _role_and_kind(table, table.schema.position[name])
        if not own:
            st.caption(_("Nothing was found in this column."))
        for place, finding in enumerate(own):
            with st.container(key=f"finding_{finding.severity}_picked_{place}", gap="xsmall"):
                left, right = st.columns([4, 5], gap="medium")
                with left:
                    st.markdown(f"{wording.ICONS[finding.severity]} {wording.sentence(table, finding.message)}")
                    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                        _mend_buttons(table, alone(finding), f"picked_{place}")
                with right:
                    _numbers(table, finding)
                _rows_of(table, finding)
        for finding in examination.settled:
            if name in finding.columns:
                st.caption(f":material/check: {wording.sentence(table, finding.message)} {_settled_by(table, finding)}")
