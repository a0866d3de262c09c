"""A network from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

from bayes_engine.exchange import read_bif, read_xmlbif
from bayes_engine.exchange.csv_tables import read_csv
from bayes_engine.factors.network import Network
from pages.active.files import Overrides, Role
from pages.runtime import view_keys as keys
from pages.runtime.state import State

UPLOADED = "file:"
"""Before the digest of a network that was read from a file."""
READERS: dict[str, Callable[[bytes], Network]] = {
    ".bif": read_bif,
    ".xml": read_xmlbif,
    ".xmlbif": read_xmlbif,
    ".csv": read_csv,
}


def look(name: str, content: bytes, _wanted: Overrides = ()) -> Network:
    """The network in a file, by the end of its name. Raises BayesEngineError where there is none in it."""
    return READERS.get(PurePath(name.lower()).suffix, read_bif)(content)


def named(state: State) -> str:
    """The digest of the network file that the state names; "" where it names none."""
    source = state.seen(keys.NET)
    return source.removeprefix(UPLOADED) if source.startswith(UPLOADED) else ""


NETWORK = Role("network", 3, named, look, owns=False)
