"""Where the second file is given, whose rows are classified: named in the state by its digest, kept by the session."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.table.read import MAX_BYTES
from bayes_engine.table.roles import put
from bayes_engine.workbench.incoming.classified_file import csv_of
from bayes_engine.workbench.incoming.columns import names_alike
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from pages import active
from pages.active import files, reading
from pages.active.files import SECOND_FILE, Upload
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, current, on_click
from pages.views.classify import large_file
from pages.views.classify.judged import wanted_columns

EXAMPLE = 20
"""So many rows of the table, at most, are an example to try."""
PREVIEWED = 5


def file_drop() -> None:
    """Where the file is given. One that is no table is said, and what was on screen stays."""
    st.file_uploader(
        _("File to classify"),
        key="second_file",
        on_change=reading.read_dropped,
        args=("second_file", SECOND_FILE, _in_use),
        max_upload_size=MAX_BYTES // 1_000_000,
        help=_("A long file is read and decided a block of rows at a time. You see how far it is and may cancel; the "
               "page stays usable meanwhile."),
    )  # fmt: skip
    if why := reading.why_refused("second_file"):
        st.error(_("This file could not be read: {why}.").format(why=why))


def _in_use(upload: Upload[CellBlocks]) -> None:
    large_file.make_room()
    files.keep(upload)
    if SECOND_FILE.named(current()) != upload.file.digest:
        change(lambda state: _given(state, upload.file.digest))


def _given(state: State, digest: str) -> State:
    """The state with another second file, of which nothing was said yet."""
    fresh = keys.SECOND.to(digest), keys.READ_SECOND.to(()), keys.SECOND_ALIKE.to(False)
    return files.unmatched(state).showing(*fresh)


def file_in_use(table: active.FittableTable) -> Upload[CellBlocks] | None:
    """The second file the state names, if this session has it or it is the example, read as the state wants."""
    wanted = SECOND_FILE.named(current())
    if wanted and wanted not in files.held(SECOND_FILE) and (example := _example(table)).digest == wanted:
        files.keep(Upload(SECOND_FILE, example, (), SECOND_FILE.read(example, ())))
    return files.in_use(SECOND_FILE, current())


def offer_example(table: active.FittableTable) -> None:
    """Rows to try the page with."""
    rows = _example_rows(table)
    with st.container(border=True, key="example_rows"):
        st.markdown("**" + _("An example to try") + "**")
        st.caption(
            _(
                "{n} rows of the table in use, with their classes. The model has counted them: on new rows it decides "
                "rightly less often."
            ).format(n=len(rows))
        )
        shown = rows.head(PREVIEWED).rename(columns=lambda name: clean(name, 40))
        st.dataframe(shown, hide_index=True, height="content", key="example_shown", placeholder="")
        st.button(
            _("Classify the {n} rows").format(n=len(rows)),
            key="example",
            icon=":material/play_arrow:",
            **on_click(lambda state: _given(state, _example(table).digest)),
        )


def _example_rows(table: active.FittableTable) -> pd.DataFrame:
    """Rows from all over the table, as a file would have them."""
    parts = table.parts
    more = {} if parts.amount is None else {table.amount_column: parts.amount}
    rows = put(parts.X, {parts.target.name: parts.y, **more})
    return rows.iloc[:: -(-len(rows) // EXAMPLE)]


def _example(table: active.FittableTable) -> files.File:
    return files.File.of("example.csv", csv_of(_example_rows(table)))


def columns_wanted(table: active.FittableTable) -> None:
    """What the file has to hold, and one to fill in."""
    names = table.features.names
    st.markdown(
        _(
            "A file with the columns {names}, in any order. Other columns come back untouched; if {target} is among "
            "them, right and wrong decisions are counted."
        ).format(
            names=_(", ").join(in_file_and_here(table, name) for name in names[:12]) + (" …" if names[12:] else ""),
            target=in_file_and_here(table, table.target.name),
        )
    )
    amount = [table.amount_column] if table.amount_column else []
    if amount:
        text = (
            _("Its column {column} multiplies each row's losses; without it they are taken per unit.")
            if active.losses(table).by_amount is None
            else _("Its column {column} multiplies some of each row's losses: a row is decided at its own.")
        )
        st.markdown(text.format(column=in_file_and_here(table, table.amount_column)))
    st.download_button(
        _("Download a template"),
        csv_of(pd.DataFrame(columns=[*names, *amount])),
        "rows.csv",
        "text/csv",
        key="template",
        icon=":material/download:",
        on_click="ignore",
        help=_("The header the model expects, and no row of the table."),
    )


def in_file_and_here(table: active.FittableTable, name: str) -> str:
    """A column by its name in the file, in bold, with the one on screen."""
    return f"**{md(name, 30)}**{here_too(table, name)}"


def here_too(table: active.FittableTable, name: str) -> str:
    """The name of a column on screen, where that is another than in the file; as Markdown."""
    here = table.column(name)
    return f" ({md(here, 30)})" if here != name else ""


def in_words(table: active.FittableTable, message: Message) -> str:
    """A message about the file, as Markdown, its columns called as there and as on screen."""
    names = table.schema.position
    return message.local(lambda text: md(text) + (here_too(table, text) if text in names else ""))


def refuse(table: active.FittableTable, upload: Upload[CellBlocks], why: Message) -> None:
    """That the file cannot be classified, and why."""
    words = _("'{file}' cannot be classified: {why}.")
    st.error(words.format(file=md(upload.name), why=in_words(table, why)))


def offer_similar_columns(table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks]) -> None:
    """Columns whose names are the model's but for case, spaces or width: taken, or left, by one click."""
    near = names_alike(upload.reading.names, wanted_columns(table, fitted))
    if not near:
        return
    taken = current().seen(keys.SECOND_ALIKE)
    pairs = _("; ").join(
        (_("'{other}' is taken as '{column}'") if taken else _("'{other}' could be '{column}'")).format(
            other=md(other, 40), column=md(name, 40)
        )
        for name, other in list(near.items())[:12]
    ) + (" …" if len(near) > 12 else "")
    icon = "check" if taken else "warning"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(
            f":material/{icon}: " + _("Names that differ only in case, spaces or width: {pairs}.").format(pairs=pairs),
            width="content",
        )
        st.button(
            _("Leave them out") if taken else _("Take them"),
            key="alike",
            **on_click(lambda state: state.showing(keys.SECOND_ALIKE.to(not taken))),
        )
