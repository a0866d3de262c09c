"""The results as a file to take along."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Hashable
from functools import partial
from typing import IO, Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from bayes_engine.table.sheet import too_long, typed, typed_columns
from bayes_engine.table.write import WRITERS
from bayes_engine.workbench.incoming.classified_file import answers
from pages.active import units
from pages.runtime import jobs
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import current
from pages.runtime.widgets import select
from pages.views.classify.judged import Judged, chosen, file_key, reasons

AT_ONCE = 20_000
"""Rows whose results are written when they are asked for; those of more are written beforehand."""
PACKED = 200_000
"""Rows from which on the CSV is packed: the server holds a download in memory."""


class Format:
    """A format of the results: what a person calls it, the end of the file's name, its type."""

    def __init__(self, kind: str, rows: int) -> None:
        self.kind = kind
        self.packed = kind == "csv" and rows > PACKED
        self.ending = f"{kind}.gz" if self.packed else kind
        self.mime = {
            "csv": "application/gzip" if self.packed else "text/csv",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "parquet": "application/vnd.apache.parquet",
        }[kind]


class Results:
    """The results of a file under losses and a prior of use, to be written in any format."""

    def __init__(self, judged: Judged) -> None:
        table, fitted, rows, loss, use = judged.table, judged.fitted, judged.rows, judged.loss, judged.prior_of_use
        self.rows = rows
        self.blocks = partial(answers, fitted.judging, rows, judged.scored, loss, table.classes, use,
                              amount=rows.amount, wording=reasons())  # fmt: skip
        self.identifiers = {v.name for v in table.schema if v.kind == "identifier" or v.role == "id"}
        prior = None if use is None else tuple(use.items())
        self.key: tuple[Hashable, ...] = (file_key(judged.upload), table.key, fitted.spec, chosen(table), loss, prior,
                                          current_language(), units.in_bits())  # fmt: skip

    def too_long(self) -> int:
        """How many texts of the file have to be cut for a spreadsheet."""
        return sum(too_long(column) for block in self.rows.reception.cells.blocks() for _, column in block.items())

    def to_disk(self, kind: Format) -> OnDisk:
        """The whole file, written a block at a time."""
        file, blocks = OnDisk(), self.blocks()
        if kind.kind == "xlsx":
            types = typed_columns(self.rows.reception.cells.blocks(), self.identifiers)
            blocks = (typed(block, types) for block in blocks)
        file.cut = WRITERS[kind.kind](file.content, blocks, len(self.rows), packed=kind.packed)
        return file

    def whole(self, kind: Format) -> bytes:
        return self.to_disk(kind).read()


class OnDisk:
    """A temporary file of results, gone with its last user; `cut` is how many texts had to be cut."""

    def __init__(self) -> None:
        self.content: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by the finalizer)
        self.cut = 0
        weakref.finalize(self, self.content.close)

    def read(self) -> bytes:
        self.content.seek(0)
        return self.content.read()


def download(result: Results) -> None:
    """The results in the format of one's choice; those of a long file are written first, which can be called off."""
    kinds = {"csv": _("CSV"), "xlsx": _("Excel (xlsx)"), "parquet": _("Parquet")}
    kind = Format(current().seen(keys.RESULTS_AS), len(result.rows))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        select(_("Results as"), keys.RESULTS_AS, kinds, width=170)
        place = st.empty()
    below = st.empty()
    key = (*result.key, kind.ending)
    content: Any = None
    cut = 0
    if len(result.rows) <= AT_ONCE:
        content = partial(result.whole, kind)
        cut = result.too_long() if kind.kind == "xlsx" else 0
    else:
        written, file = st.session_state.get("second_written", (None, None))
        if written == key:
            content, cut = file.read, file.cut
    if content is not None:
        place.download_button(
            _("Download"),
            content,
            f"predictions.{kind.ending}",
            kind.mime,
            key="predictions",
            icon=":material/download:",
            type="primary",
            on_click="ignore",
        )
    else:
        place.button(_("Write the file"), icon=":material/edit_document:", type="primary", key="write_results",
                     on_click=_ask, args=(key,))  # fmt: skip
    if cut:
        below.caption(
            _("Texts longer than the 32,767 characters a spreadsheet's cell holds, which are cut there: {n}. CSV and "
              "Parquet have them whole.").format(n=f"{cut:,}")
        )  # fmt: skip
    elif kind.packed:
        below.caption(_("A file this long is packed with gzip."))
    elif kind.kind == "xlsx":
        below.caption(
            _("Columns that hold numbers alone, or days such as 2024-01-31, are numbers and days in the spreadsheet; "
              "all others, and identifiers, are text.")
        )  # fmt: skip


def _ask(key: Hashable) -> None:
    st.session_state["second_asked"] = key


def write_if_asked(result: Results) -> None:
    """Write the results that were asked for; while that takes, the page ends here with how far it is."""
    kind = Format(current().seen(keys.RESULTS_AS), len(result.rows))
    key = (*result.key, kind.ending)
    if st.session_state.get("second_asked") != key or len(result.rows) <= AT_ONCE:
        return
    try:
        file = jobs.run(("results", key), lambda: result.to_disk(kind), Message("writing the results"))
    except BayesEngineError as error:
        st.session_state["second_asked"] = None
        st.error(error.message.local(md))
        return
    st.session_state["second_asked"] = None
    st.session_state["second_written"] = (key, file)
    st.rerun()
