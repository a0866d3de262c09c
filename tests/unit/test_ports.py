"""Ports for servers that tests start."""

from __future__ import annotations

import socket
import subprocess
import sys

from tests.conftest import ROOT
from tests.ports import free_port


def test_a_port_is_given_to_one_process_however_long_its_server_takes() -> None:
    """Whoever asks for as many as there can be gets none that another process was given."""
    ask = "from tests.ports import free_port; print(*(free_port() for _ in range(60)))"
    mine = {free_port() for _ in range(60)}
    theirs = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert len(mine) == 60 == len(set(theirs.split()))
    assert mine.isdisjoint(map(int, theirs.split()))
    with socket.socket() as server:
        server.bind(("127.0.0.1", min(mine)))
