from pages.shell.router import boot

boot()

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from bayes_engine.datasets import dataset_info
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.table.describe import ColumnSummary
from bayes_engine.table.read import MAX_BYTES, Reading
from pages import active
from pages.active import reading, words
from pages.runtime import jobs
from pages.runtime.escape import clean, md
from pages.runtime.links import go
from pages.runtime.state import State, bound, change, current, said_by
from pages.views.data import columns
from pages.views.data.doctor import findings, fitting
from pages.views.data.doctor.heads import heads
from pages.views.data.doctor.report import examined

STYLE = """<style>
[class*="st-key-card_"] { padding: .45rem .7rem .5rem; }
[class*="st-key-use_"] button { justify-content: flex-start; text-align: left; padding: 0; min-height: 0; }
[class*="st-key-finding_"] { border-left: 3px solid rgba(128, 128, 128, .35); padding: .1rem 0 .15rem .75rem; }
[class*="st-key-finding_serious"] { border-left-color: #d64545; }
[class*="st-key-finding_warning"] { border-left-color: #e0973a; }
[class*="st-key-finding_"] button, .st-key-doctor_chips button, .st-key-doctor_passed button {
  min-height: 1.9rem; padding: .1rem .6rem; }
.st-key-doctor_chips button { border-radius: 1rem; }
[class*="st-key-read_note_"] { min-height: 1.9rem; }
[class*="st-key-read_note_"] button { min-height: 1.6rem; padding: 0 .3rem; }
</style>"""


# another table --------------------------------------------------------------------------------------------------


def upload() -> None:
    """Take over the file that was dropped; one that is no table leaves everything as it is."""
    reading.take_in("upload_file", active.look, in_use)


def in_use(name: str, content: bytes, found: Reading) -> None:
    mark = active.keep_upload(active.Upload(name, content, (), found))
    if current().table != f"upload:{mark}":  # else a link or a reload asked for this very file: what it says stands
        change(lambda state: state.on_table(f"upload:{mark}"))


def gallery() -> None:
    names, across = active.offered(), 3 if current().table.startswith("upload:") else 4
    for start in range(0, len(names), across):
        for cell, name in zip(st.columns(across, gap="small"), names[start : start + across], strict=False):
            with cell.container(border=True, height="stretch", gap=None, key=f"card_{name}"):
                card(name)


def card(name: str) -> None:
    info, frame = dataset_info(name), active.embedded(name).frame
    title = f"**{md(info.text('title', current_language()))}**"
    chosen = current().table == name
    st.button(f":primary[{title} :material/check:]" if chosen else title, key=f"use_{name}", type="tertiary",
              on_click=change, args=(lambda state: state.on_table(name),))  # fmt: skip
    st.caption(md(info.text("question", current_language()), 120))
    size = _("{n} rows × {d} columns").format(n=f"{frame.shape[0]:,}", d=frame.shape[1])
    st.caption(f"{frame.shape[0]:,} × {frame.shape[1]}",
               help=f"{size}\n\n{md(info.source, 400)}\n\n{md(info.licence, 200)}")  # fmt: skip


def reread(state: State, before: Reading, after: Reading) -> State:
    """The state after its file was read otherwise: changes of columns stay where the columns are the same."""
    same = list(before.frame.columns) == list(after.frame.columns)
    return replace(state, case=(), row=-1, columns=state.columns if same else (), repairs=state.repairs if same else ())


# the columns ----------------------------------------------------------------------------------------------------


def try_change(edit) -> None:
    """An edit of the columns; one that cannot stand is said, and what was on screen stays."""
    st.session_state["column_said"] = None
    try:
        change(edit)
    except BayesEngineError as error:
        st.session_state["column_said"] = (findings.what_stands(current()), error.message)


def holds(table: active.InUse, summary: ColumnSummary) -> str:
    if summary.low is not None:
        return _("{low} to {high}, mean {mean}").format(
            low=f"{summary.low:.6g}", high=f"{summary.high:.6g}", mean=f"{summary.mean:.6g}")  # fmt: skip
    named = [(clean(table.level(summary.name, value), 24), n) for value, n in summary.counts[:8]]
    shown = " · ".join(name if n == 1 else f"{name} {n:,}" for name, n in named)
    return shown + (" …" if summary.distinct > min(len(summary.counts), 8) else "")


def columns_frame(table: active.InUse) -> pd.DataFrame:
    language = current_language()
    summaries = active.summaries(table)
    shown = {
        "column": [clean(table.column(v.name)) for v in table.schema],
        "role": [v.role for v in table.schema],
        "kind": [v.kind for v in table.schema],
        "missing": [s.missing / s.n if s.n else 0.0 for s in summaries],
        "distinct": [s.distinct for s in summaries],
        "holds": [holds(table, s) for s in summaries],
    }
    if table.info:
        shown["meaning"] = [table.info.column(v.name).text("meaning", language) for v in table.schema]
    return pd.DataFrame(shown)


def columns_editor(table: active.InUse) -> None:
    """One row a column. The editor starts afresh whenever what it shows is not what the state says."""
    fresh = columns_frame(table)
    number, base = st.session_state.get("columns_editor", (0, None))
    edits = st.session_state.get(f"columns_{number}", {}).get("edited_rows", {})
    if base is None or not with_edits(base, edits).equals(fresh):
        number, base = number + 1, fresh
        st.session_state["columns_editor"] = (number, base)
    key = f"columns_{number}"
    found = [k for k in dict.fromkeys(v.kind for v in table.schema) if k not in columns.KINDS]

    def edited() -> None:
        for row, cells in (said_by(key, "edited_rows") or {}).items():
            position, now = int(row), active.table_in_use().schema.variables[int(row)]
            for name, edit in (("kind", columns.with_kind), ("role", columns.with_role)):
                if cells.get(name) and cells[name] != getattr(now, name):
                    try_change(partial(edit, position=position, **{name: cells[name]}))

    st.data_editor(
        base, key=key, num_rows="fixed", hide_index=True, on_change=edited, height=min(38 + 35 * len(base), 423),
        disabled=[c for c in base.columns if c not in ("role", "kind")],
        column_config={
            "column": st.column_config.TextColumn(_("column"), pinned=True),
            "role": st.column_config.SelectboxColumn(
                _("role"), options=list(columns.ROLES), format_func=words.role, required=True, width=90),
            "kind": st.column_config.SelectboxColumn(
                _("kind"), options=[*columns.KINDS, *found], format_func=words.kind, required=True, width=112),
            "holds": st.column_config.TextColumn(_("holds"), width=300 if table.info else 440),
            "distinct": st.column_config.NumberColumn(_("distinct"), width=72),
            "missing": st.column_config.NumberColumn(_("missing"), format="percent", width=72),
            "meaning": st.column_config.TextColumn(_("meaning"), width=260),
        },
        alt=_("The columns: name, role, kind, and what they hold. Role and kind can be changed."),
    )  # fmt: skip
    said = st.session_state.get("column_said")
    if said and said[0] == findings.what_stands(current()):
        st.error(_("That cannot be: {why}. Nothing was changed.").format(why=said[1].local(md)))


def with_edits(base: pd.DataFrame, edits: dict) -> pd.DataFrame:
    shown = base.copy()
    for row, cells in edits.items():
        for name, value in cells.items():
            shown.loc[int(row), name] = value
    return shown


def target_choice(table: active.InUse) -> None:
    names = [v.name for v in table.schema]
    target = table.schema.target
    at = names.index(target.name) if target else None
    st.selectbox(
        _("Target: what is to be decided"), range(len(names)), format_func=lambda j: clean(table.column(names[j])),
        placeholder=_("choose the column that holds the classes"),
        **bound("target", at, target_to),
    )  # fmt: skip


def target_to(state: State, position: int | None) -> State:
    st.session_state["column_said"] = None
    try:
        return state if position is None else columns.with_role(state, position, "target")
    except BayesEngineError as error:
        st.session_state["column_said"] = (findings.what_stands(state), error.message)
        return state


def class_counts(table: active.InUse) -> None:
    assert table.parts is not None
    counts = table.parts.y.value_counts()
    shown = pd.DataFrame({"class": [clean(table.class_(c)) for c in table.classes],
                          "rows": [int(counts[c]) for c in table.classes]})  # fmt: skip
    st.dataframe(
        shown, hide_index=True, height=min(38 + 35 * len(shown), 282), alt=_("rows of each class"),
        column_config={
            "class": st.column_config.TextColumn(_("class"), width=80),
            "rows": st.column_config.ProgressColumn(_("rows"), format="%d", max_value=len(table.parts.y)),
        },
    )  # fmt: skip


def levels_editor(table: active.InUse) -> None:
    """The order of a column's levels, and levels without a row."""
    discrete = [j for j, v in enumerate(table.schema) if v.discrete]
    if not discrete:
        return
    names = [v.name for v in table.schema]
    with st.expander(_("Levels: their order, and levels that no row has yet"), icon=":material/reorder:"):
        chosen = current().seen("levels_of", discrete[-1])
        column, level, new = st.columns([1, 2, 1], gap="medium", vertical_alignment="bottom")
        at = column.selectbox(_("Column"), discrete, format_func=lambda j: clean(table.column(names[j])),
                              **bound("levels_of", chosen if chosen in discrete else discrete[-1],
                                      lambda s, j: s.showing(levels_of=j, level_at=0)))  # fmt: skip
        variable = table.schema.variables[at]
        place = min(max(current().seen("level_at", 0), 0), len(variable.levels) - 1)
        with level:
            picked = st.selectbox(
                _("Level"), range(len(variable.levels)),
                format_func=lambda k: f"{k + 1} · {clean(table.level(variable.name, variable.levels[k]), 40)}",
                **bound("level_at", place, lambda s, k: s.showing(level_at=k)),
            )  # fmt: skip
        with new:
            st.text_input(_("New level"), key="new_level", placeholder=_("its name"),
                          on_change=add_level, args=(at, variable.levels))  # fmt: skip
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            for step, label, icon in ((-1, _("Earlier"), "arrow_upward"), (1, _("Later"), "arrow_downward")):
                there = picked + step
                st.button(label, icon=f":material/{icon}:", key=f"level_{step}",
                          disabled=not 0 <= there < len(variable.levels),
                          on_click=move_level, args=(at, variable.levels, picked, there))  # fmt: skip
            order = " → ".join(md(table.level(variable.name, v), 24) for v in variable.levels[:12])
            st.caption(order + (" → …" if len(variable.levels) > 12 else ""))


def move_level(at: int, levels: tuple, here: int, there: int) -> None:
    moved = list(levels)
    moved.insert(there, moved.pop(here))
    try_change(lambda state: columns.with_levels(state, at, tuple(moved)).showing(level_at=there))


def add_level(at: int, levels: tuple) -> None:
    name = str(st.session_state.get("new_level", "")).strip()
    st.session_state["new_level"] = ""
    if name and name not in map(str, levels):
        try_change(lambda state: columns.with_levels(state, at, (*levels, name)))


# the doctor -----------------------------------------------------------------------------------------------------


def doctor(table: active.InUse) -> None:
    """The table with what was found in it; while it is examined, the table alone."""
    findings.refused()
    findings.chips(table)
    try:
        found = examined(table)
    except jobs.UnderWay as there:
        jobs.shown(there)
        heads(table, ())
        return
    findings.summary(table, found)
    findings.of_table(table, found)
    heads(table, found.open)
    findings.of_columns(table, found)
    fitting.three(table, found)


st.html(STYLE)
st.title(_("Which table?"))
drop, shelf = st.columns([1, 2 if current().table.startswith("upload:") else 3], gap="medium")
with drop:
    st.file_uploader(_("Your own table"), key="upload_file", on_change=upload, max_upload_size=MAX_BYTES // 1_000_000)
    if why := reading.refused("upload_file"):
        st.error(_("This file could not be read: {why}. The table below is the one you had.").format(why=why))
    st.caption(_("CSV, TSV and other text, Excel, Parquet, ARFF. The table stays in this session; nothing of it is in "
                 "a link."))  # fmt: skip
with shelf, st.expander(_("Worked examples"), expanded=current().table == State().table):
    gallery()

table = active.table_in_use()
st.subheader(md(table.title), divider="gray")
if table.info:
    st.caption(f"{md(table.info.text('summary', current_language()), 300)}  \n"
               f"{md(table.info.source, 400)} · {md(table.info.licence, 200)}")  # fmt: skip
if table.reading:
    given = st.session_state["uploads"][current().table.removeprefix("upload:")]
    reading.notes(table.reading.report, given, "read", reread)
    reading.how_read(given, "read", reread)
if table.problem:
    st.error(_("No model can be fitted yet: {why}.").format(why=table.problem.message.local(md)))

what, classes = st.columns([1, 1], gap="medium")
with what:
    target_choice(table)
    if table.parts:
        st.caption("  \n".join(note.local(md) for note in table.parts.notes))
        go("pages/model.py", _("Look at the model"), ":material/tune:")
with classes:
    if table.parts:
        class_counts(table)
looked_at, by_hand = st.container(), st.container()
with by_hand:  # first: all of it works while the table is examined
    with st.expander(_("All columns: their roles and kinds"), icon=":material/view_column:"):
        columns_editor(table)
    levels_editor(table)
with looked_at:
    doctor(table)
