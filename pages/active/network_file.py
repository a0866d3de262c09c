"""A network from a file, kept by the session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

import streamlit as st

from bayes_engine.exchange import read_bif, read_xmlbif
from bayes_engine.exchange.csv_tables import read_csv
from bayes_engine.factors.network import Network

UPLOADED = "file:"
"""Before the digest of a network that was read from a file."""
KEPT = 3
"""How many such networks a session keeps."""
READERS: dict[str, Callable[[bytes], Network]] = {
    ".bif": read_bif,
    ".xml": read_xmlbif,
    ".xmlbif": read_xmlbif,
    ".csv": read_csv,
}


def keep(name: str, mark: str, network: Network, content: bytes) -> str:
    """Keep a network from a file for the session, and the file for a saved workspace; its source."""
    networks, files = (st.session_state.setdefault(kind, {}) for kind in ("networks", "network_files"))
    networks.pop(mark, None)
    networks[mark], files[mark] = (name, network), content
    for old in list(networks)[:-KEPT]:
        del networks[old]
        files.pop(old, None)
    return UPLOADED + mark


def read(name: str, content: bytes) -> Network:
    """The network in a file, by the end of its name. Raises BayesEngineError where there is none in it."""
    return READERS.get(PurePath(name.lower()).suffix, read_bif)(content)
