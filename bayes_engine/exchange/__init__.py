"""Networks from and to other programs: BIF, XMLBIF, tidy frames. Of a file its name says the format."""

from pathlib import Path

from bayes_engine.exchange.bif import read_bif, write_bif
from bayes_engine.exchange.frames import NetworkFrames, from_frames, network_frames
from bayes_engine.exchange.xmlbif import read_xmlbif, write_xmlbif
from bayes_engine.factors.network import Network

__all__ = [
    "NetworkFrames", "from_frames", "load_network", "network_frames", "read_bif", "read_xmlbif", "save_network",
    "write_bif", "write_xmlbif",
]  # fmt: skip


def save_network(network: Network, path: str | Path) -> None:
    """Write a network in the Bayesian Interchange Format, or in XMLBIF where the name ends in .xml or .xmlbif.

    Raises ParameterError where a name cannot be written, or two levels of a node are the same word.
    """
    Path(path).write_text(write_xmlbif(network) if _is_xml(path) else write_bif(network), encoding="utf-8")


def load_network(path: str | Path) -> Network:
    """Read a network from a BIF or (.xml, .xmlbif) XMLBIF file. Raises ReadError, naming the line."""
    return read_xmlbif(Path(path)) if _is_xml(path) else read_bif(Path(path))


def _is_xml(path: str | Path) -> bool:
    return str(path).lower().endswith((".xml", ".xmlbif"))
