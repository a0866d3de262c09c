"""Work for the tests of worker processes, which import it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayes_engine.progress import Cancelled, steps
from bayes_engine.scale import spark_client


def counted(n: int, pause: float = 0.0) -> int:
    """The sum of the numbers below `n`, a tick and so many seconds for each."""
    total = 0
    for i in steps(range(n)):
        total += i
        time.sleep(pause)
    return total


def kept_when_stopped(place: Path, pause: float) -> None:
    """Ticks until it is called off; then it takes so many seconds to keep a file."""
    try:
        counted(10**9, 0.001)
    except Cancelled:
        time.sleep(pause)
        place.write_bytes(b"so far")
        raise


def arrow_pool() -> str:
    """What Arrow takes its memory from."""
    import pyarrow as pa

    return str(pa.default_memory_pool().backend_name)


WORKED = spark_client._worked


def noted_and_worked(folder: Path, *rest: Any) -> Iterator[Any]:
    """What a task of Spark's does, slowly, and a file for each that has begun."""
    (folder / str(time.time_ns())).touch()
    time.sleep(0.5)
    yield from WORKED(*rest)
