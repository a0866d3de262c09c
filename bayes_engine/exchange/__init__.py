"""Networks from and to other programs: BIF, XMLBIF, tidy frames."""

from bayes_engine.exchange.bif import read_bif, write_bif
from bayes_engine.exchange.files import load_network, save_network
from bayes_engine.exchange.frames import NetworkFrames, from_frames, network_frames
from bayes_engine.exchange.xmlbif import read_xmlbif, write_xmlbif

__all__ = [
    "NetworkFrames", "from_frames", "load_network", "network_frames", "read_bif", "read_xmlbif", "save_network",
    "write_bif", "write_xmlbif",
]  # fmt: skip
