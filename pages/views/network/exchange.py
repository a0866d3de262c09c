"""Exchange: the network as a file for other programs, and one from them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.exchange import write_bif, write_xmlbif
from bayes_engine.exchange.csv_tables import edges_csv, write_csv
from bayes_engine.factors.network import Network
from bayes_engine.language import _
from pages.active import files, reading
from pages.active import network_source as sources
from pages.active.files import NETWORK, NETWORK_FILE, NETWORK_READERS, Upload
from pages.active.network_source import Source
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import change


def exchange(source: Source) -> None:
    """What can be saved, and where a file can be dropped."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("Save this network"))
        _save(source)
    with right:
        st.subheader(_("Open a network from a file"))
        _open()


def _save(source: Source) -> None:
    network = source.network
    name = source.id if source.stored else "network"
    formats: tuple[tuple[str, str, str, Callable[[Network], str]], ...] = (
        ("BIF", _("for R bnlearn, pyAgrum, pgmpy, SamIam"), f"{name}.bif", write_bif),
        ("XMLBIF", _("for Weka, JavaBayes"), f"{name}.xml", write_xmlbif),
        (_("Tables as CSV"), _("for a spreadsheet; can be opened here again"), f"{name}-tables.csv", write_csv),
        (_("Arcs as CSV"), _("parent and child, one arc a line"), f"{name}-arcs.csv", edges_csv),
    )
    for label, use, file, write in formats:
        button, words = st.columns(2, vertical_alignment="center")
        try:
            text = write(network)
        except BayesEngineError as error:
            words.caption(error.message.local(md))
            continue
        button.download_button(
            label, text, file_name=file, mime="text/plain", icon=":material/download:", key=f"net_save_{file}",
            on_click="ignore", width="stretch",
        )  # fmt: skip
        words.caption(use)
    if source.id == sources.TABLE or source.id.startswith(NETWORK_FILE) or source.network is not source.original:
        st.caption(_("Edited tables are saved as they stand."))


def _open() -> None:
    st.file_uploader(
        _("A network: BIF, XMLBIF, or tables as CSV"),
        type=[suffix.removeprefix(".") for suffix in NETWORK_READERS],
        key="net_file",
        on_change=reading.read_dropped,
        args=("net_file", NETWORK, _in_use),
    )
    if why := reading.why_refused("net_file"):
        st.error(why)
    st.caption(
        _(
            "Rows that miss 1 by up to 1% are divided by their sum, as published networks are rounded. The file stays "
            "in this session: a link to it asks for the file again."
        )
    )


def _in_use(upload: Upload[Network]) -> None:
    files.keep(upload)
    opened = NETWORK_FILE + upload.file.digest
    change(lambda s: s if s.seen(keys.NET) == opened else sources.with_source(s, opened))  # a link had asked for it
