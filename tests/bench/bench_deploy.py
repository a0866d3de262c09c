"""One and two processes behind the nginx of .github/DEPLOY.md: runs a second, processor time and memory.

    python tests/bench/bench_deploy.py [seconds of each part, 30]

Visitors over TLS, each with a cookie of its own, who change α as soon as the last answer is there: as many runs as the
processes can do. The visitors and nginx run on the same cores, so with two cores two processes cannot do twice as many.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bayes_engine.workbench.front import VISITOR
from tests.bench.visitor import Visitor, cpu_of, memory_of
from tests.deployed import HOST, NGINX, OPENSSL, Proxy, proxied, trusting

VISITORS = 16


async def work(visitor: Visitor, end: float) -> tuple[int, list[str]]:
    """Runs until the time is over, and the errors met."""
    runs, errors = 0, list((await visitor.open("decisions")).errors)
    while time.monotonic() < end:
        answer = await visitor.go("decisions" if runs % 2 else "case")
        errors += answer.errors
        runs += 1
    await visitor.close()
    return runs, errors


async def lesson(proxy: Proxy, seconds: float) -> tuple[int, list[str]]:
    visitors = [
        Visitor(f"https://{HOST}:{proxy.port}", near=("127.0.0.1", proxy.port), secure=trusting(),
                cookie=f"{VISITOR}=visitor-{n}")
        for n in range(VISITORS)
    ]  # fmt: skip
    end = time.monotonic() + seconds
    done = await asyncio.gather(*(work(visitor, end) for visitor in visitors))
    return sum(runs for runs, _ in done), [error for _, errors in done for error in errors]


@contextmanager
def running(processes: int) -> Iterator[Proxy]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        yield stack.enter_context(proxied(Path(folder), processes))


def main() -> None:
    if not (NGINX and OPENSSL):
        raise SystemExit("not measured: nginx or openssl is not installed")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    print(f"{'processes':>9} {'runs/s':>8} {'CPU ms/run':>11} {'MB each':>16}  errors")  # noqa: T201
    for processes in (1, 2):
        with running(processes) as proxy:
            pids = [process.pid for process in proxy.processes]
            asyncio.run(lesson(proxy, 5.0))  # what is made once
            before = sum(map(cpu_of, pids))
            began = time.monotonic()
            runs, errors = asyncio.run(lesson(proxy, seconds))
            rate, cpu = runs / (time.monotonic() - began), (sum(map(cpu_of, pids)) - before) / max(runs, 1)
            memory = " + ".join(f"{memory_of(pid) / 1e6:.0f}" for pid in pids)
            print(f"{processes:9d} {rate:8.1f} {1000 * cpu:11.0f} {memory:>16}  {len(errors)}", *errors[:3], flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
