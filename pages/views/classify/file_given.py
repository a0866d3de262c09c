"""Where the second file is given, whose rows are classified: named in the state by its digest, kept by the session."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.table.read import MAX_BYTES
from bayes_engine.workbench.incoming.classified_file import template_csv
from bayes_engine.workbench.incoming.columns import names_alike
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from pages import active
from pages.active import files, reading
from pages.active.files import SECOND_FILE, Upload
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import change, current, on_click


def file_drop() -> None:
    """Where the file is given. One that is no table is said, and what was on screen stays."""
    st.file_uploader(
        _("A second file"),
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
    files.keep(upload)
    mark = upload.file.digest
    if SECOND_FILE.named(current()) != mark:
        fresh = keys.SECOND.to(mark), keys.READ_SECOND.to(()), keys.SECOND_ALIKE.to(False)
        change(lambda s: files.unmatched(s).showing(*fresh))


def file_in_use() -> Upload[CellBlocks] | None:
    """The second file the state names, if this session has it, read as the state wants."""
    return files.in_use(SECOND_FILE, current())


def columns_wanted(table: active.FittableTable) -> None:
    """What the file has to hold, and one to fill in."""
    names = table.features.names
    st.markdown(
        _(
            "A file with the columns {names}, in any order. Other columns come back untouched; if {target} is among "
            "them, right and wrong decisions are counted."
        ).format(
            names=_(", ").join(f"**{md(name, 30)}**" for name in names[:12]) + (" …" if names[12:] else ""),
            target=f"**{md(table.target.name, 30)}**",
        )
    )
    if table.amount_column:
        st.markdown(
            _("Its column {column} multiplies each row's losses; without it they are taken per unit.").format(
                column=f"**{md(table.amount_column, 30)}**"
            )
            if active.losses(table).by_amount is None
            else _("Its column {column} multiplies some of each row's losses: a row is decided at its own.").format(
                column=f"**{md(table.amount_column, 30)}**"
            )
        )
    st.download_button(
        _("Download a template"),
        template_csv((*table.features.names, *([table.amount_column] if table.amount_column else []))),
        "rows.csv",
        "text/csv",
        key="template",
        icon=":material/download:",
        on_click="ignore",
        help=_("The header the model expects, and no row of the table."),
    )


def offer_similar_columns(table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks]) -> None:
    """Columns whose names are the model's but for case, spaces or width: taken, or left, by one click."""
    wanted = (*fitted.model.schema_.names, table.target.name, *([table.amount_column] if table.amount_column else []))
    near = names_alike(upload.reading.names, wanted)
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
