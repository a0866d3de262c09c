"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket

_held: list[socket.socket] = []


def free_port() -> int:
    """A port on which nobody listens, nor will before the server that it is meant for.

    A port that was merely free a moment ago may be another process's by then: the system gives it to whatever asks
    next, or a test that runs beside takes it. So it is none of those that the system gives away, and the one above it
    is held until this process ends: whoever asks here needs both.
    """
    while True:
        port, above = random.SystemRandom().randrange(20_000, 32_000, 2), socket.socket()
        try:
            above.bind(("127.0.0.1", port + 1))
            with socket.socket() as free:
                free.bind(("127.0.0.1", port))
        except OSError:
            above.close()
            continue
        _held.append(above)
        return port
