"""Work for the tests of worker processes, which import it."""

from __future__ import annotations

import time

from bayes_engine.progress import steps


def counted(n: int, pause: float = 0.0) -> int:
    """The sum of the numbers below `n`, a tick and so many seconds for each."""
    total = 0
    for i in steps(range(n)):
        total += i
        time.sleep(pause)
    return total


def arrow_pool() -> str:
    """What Arrow takes its memory from."""
    import pyarrow as pa

    return str(pa.default_memory_pool().backend_name)
