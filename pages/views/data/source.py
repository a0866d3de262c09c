"""Where the table comes from: a file of one's own or a worked example, and how the file was read."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bayes_engine.dataset_format import DatasetInfo
from bayes_engine.datasets import dataset_info, dataset_names
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _, current_language
from bayes_engine.table.read import MAX_BYTES, Reading
from pages import active
from pages.active import files, large_files, own_table, reading
from pages.active.files import TABLE, UPLOADED_TABLE, Upload
from pages.active.tables import embedded
from pages.runtime import own_computer
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


def large_file_drop() -> None:
    """Where a file too large for an upload is opened by its path, on one's own computer alone. Closed by the file that
    is opened, so that its rows stand in view."""
    if not own_computer.is_served_alone():
        return
    within = large_files.folders()
    with st.expander(_("Open a large file"), icon=":material/database:", key="large_file", on_change="rerun"):
        if not within:
            st.caption(
                _("Parquet and CSV of any size, where they lie on this computer. Start the app with the folders that "
                  "hold them:")
            )  # fmt: skip
            st.markdown(large_files.HOW.format(folder=_("FOLDER")))  # `st.code` is 0.5 MB to load
            return
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.text_input(
                _("Path on this computer"), placeholder=str(within[0] / "rows.parquet"), key="large_path", width=280,
            )  # fmt: skip
            st.selectbox(
                _("Rows drawn"),
                large_files.SIZES,
                1,
                format_func=lambda n: f"{n:,}",
                help=_("Figures and tables are of these rows. More are nearer to the whole file, and slower."),
                key="large_rows",
                width=130,
            )
            st.number_input(
                _("Seed"), 0, large_files.SEEDS, 0, 1, key="large_seed", width=130,
                help=_("Another number draws other rows: a result that changes much with it needs more rows. The same "
                       "number draws the same rows again."),
            )  # fmt: skip
            st.button(_("Open"), icon=":material/folder_open:", key="large_open", on_click=_open_large, type="primary")
        if why := st.session_state.get("large_said"):
            st.error(_("Not opened: {why}. The table below is the one you had.").format(why=why.local(md)))
        st.caption(
            _("Parquet, CSV (also .gz, .bz2, .zst) or a folder of them, in {folders}. All rows are read once; each is "
              "as likely to be drawn as any other. The path is in no link and no saved workspace.").format(
                folders=_(", ").join(md(str(folder), 80) for folder in within))
        )  # fmt: skip


def _open_large() -> None:
    asked = st.session_state
    asked["large_said"] = None
    large_files.open_sample(
        str(asked.get("large_path") or ""), int(asked["large_rows"]), int(asked["large_seed"]), _opened, _not_opened
    )


def _opened(upload: Upload[Reading]) -> None:
    st.session_state["large_file"] = False
    _in_use(upload)


def _not_opened(error: BayesEngineError) -> None:
    st.session_state["large_said"] = error.message


def _in_use(upload: Upload[Reading]) -> None:
    files.keep(upload)
    source = f"{UPLOADED_TABLE}{upload.file.digest}"
    if current().table != source:  # else a link or a reload asked for this very file: what it says stands
        change(lambda state: own_table.instead(state, state.on_table(source)))


def worked_examples() -> None:
    """The gallery: open before a table is chosen, and drawn only while it is open, for it is a third of the page."""
    at_start = current().table == State().table
    box = st.expander(_("Worked examples"), expanded=at_start, key=f"worked_examples_{at_start}", on_change="rerun")
    if box.open:
        with box:
            _gallery()


def _gallery() -> None:
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
