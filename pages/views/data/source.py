"""Where the table comes from: a file of one's own or a worked example, and how the file was read."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bayes_engine.dataset_format import DatasetInfo
from bayes_engine.datasets import dataset_info, dataset_names
from bayes_engine.language import _, current_language
from bayes_engine.table.read import MAX_BYTES, Reading
from pages import active
from pages.active import files, own_table, reading
from pages.active.files import TABLE, UPLOADED_TABLE, Upload
from pages.active.tables import embedded
from pages.runtime.escape import md
from pages.runtime.state import State, change, current, on_click


def file_drop() -> None:
    """Where a file is given. One that is no table is said, and what was on screen stays."""
    st.file_uploader(
        _("Your own table"),
        key="upload_file",
        on_change=reading.read_dropped,
        args=("upload_file", TABLE, _in_use),
        max_upload_size=MAX_BYTES // 1_000_000,
    )
    if why := reading.why_refused("upload_file"):
        st.error(_("This file could not be read: {why}. The table below is the one you had.").format(why=why))
    st.caption(_("CSV, TSV and other text, Excel, Parquet, ARFF, tables and records of JSON. The table stays in this "
                 "session; nothing of it is in a link."))  # fmt: skip
    own_table.come_back("own_back")


def _in_use(upload: Upload[Reading]) -> None:
    files.keep(upload)
    source = f"{UPLOADED_TABLE}{upload.file.digest}"
    if current().table != source:  # else a link or a reload asked for this very file: what it says stands
        change(lambda state: own_table.instead(state, state.on_table(source)))


def gallery() -> None:
    """The worked examples, a card each."""
    names, across = dataset_names(), 3 if TABLE.named(current()) else 4
    for start in range(0, len(names), across):
        for cell, name in zip(st.columns(across, gap="small"), names[start : start + across], strict=False):
            with cell.container(border=True, height="stretch", gap=None, key=f"card_{name}"):
                _card(name)


def _card(name: str) -> None:
    info, frame = dataset_info(name), embedded(name).frame
    title = f"**{md(info.text('title', current_language()))}**"
    chosen = current().table == name
    st.button(f":primary[{title} :material/check:]" if chosen else title, key=f"use_{name}", type="tertiary",
              **on_click(lambda state: own_table.instead(state, state.on_table(name))))  # fmt: skip
    st.caption(md(info.text("question", current_language()), 120))
    size = _("{n} rows × {d} columns").format(n=f"{frame.shape[0]:,}", d=frame.shape[1])
    st.caption(f"{frame.shape[0]:,} × {frame.shape[1]}",
               help="\n\n".join((size, md(info.source, 400), _licence(info))))  # fmt: skip


def _licence(info: DatasetInfo) -> str:
    """A data set's licence in the reader's language, in Markdown."""
    return md(info.text("licence", current_language()), 300)


def origin(table: active.TableInUse) -> None:
    """What the table is called and where it comes from: of a data set its summary, of a file how it was read."""
    with st.container(key="table_summary", gap="xsmall"):
        st.subheader(md(table.title), divider="gray")
        if table.info:
            st.caption(md(table.info.text("summary", current_language()), 300))
    if table.info:
        st.caption(f"{md(table.info.source, 400)} · {_licence(table.info)}")
    upload = files.in_use(TABLE, current())
    if upload is not None:
        reading.reading_notes(upload.reading.report, upload, _reread)
        reading.reading_choices(upload, _reread)


def _reread(state: State, before: Reading, after: Reading) -> State:
    """The state after its file was read otherwise: changes of columns stay where the columns are the same."""
    same = list(before.frame.columns) == list(after.frame.columns)
    state = state if same else files.unmatched(state)
    return replace(state, case=(), row=-1, columns=state.columns if same else (), repairs=state.repairs if same else ())
