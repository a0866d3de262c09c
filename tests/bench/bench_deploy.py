"""One and two processes behind the nginx of .github/DEPLOY.md: runs a second, processor time and memory.

    python tests/bench/bench_deploy.py [seconds of each part, 30]

Visitors over TLS, each with a cookie of its own, who turn to another page as soon as the last answer is there: as many
runs as the processes can do. The visitors and nginx run on the same cores, so with two cores two processes cannot do
twice as many. Goals: no error, a run costs two processes no more than one, and each of the two has its share of them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bayes_engine.workbench.front import VISITOR
from tests.bench.bench_rerun import warm
from tests.bench.goals import Goal, tell
from tests.bench.visitor import Visitor, cpu_of, memory_of
from tests.deployed import HOST, NGINX, OPENSSL, Proxy, proxied, trusting

VISITORS = 16
DEARER = 1.3
"""CPU time of a run with two processes, over that with one."""
LEAST = 0.15
"""The share of the processor time that the one of two processes has which does less."""


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


def main() -> int:
    """Print the table and the goals; the number of goals missed."""
    if not (NGINX and OPENSSL):
        raise SystemExit("not measured: nginx or openssl is not installed")
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    print(f"{'processes':>9} {'runs/s':>8} {'CPU ms/run':>11} {'MB each':>16}  errors")  # noqa: T201
    goals, cost, least = list[Goal](), dict[int, float](), 1.0
    with tempfile.TemporaryDirectory() as folder:  # also the home of all processes: icons are cut out once
        for processes in (1, 2):
            with proxied(Path(folder), processes) as proxy:
                pids = [process.pid for process in proxy.processes]
                asyncio.run(lesson(proxy, 1.0))  # what is made once
                if processes == 1:
                    asyncio.run(warm(lambda pids=pids: sum(map(cpu_of, pids))))
                before, began = [*map(cpu_of, pids)], time.monotonic()
                runs, errors = asyncio.run(lesson(proxy, seconds))
                rate = runs / (time.monotonic() - began)
                used = [cpu_of(pid) - cpu for pid, cpu in zip(pids, before, strict=True)]
                cost[processes], least = sum(used) / max(runs, 1), min(used) / sum(used)
                memory = " + ".join(f"{memory_of(pid) / 1e6:.0f}" for pid in pids)
            print(f"{processes:9d} {rate:8.1f} {1000 * cost[processes]:11.0f} {memory:>16}  {len(errors)}",  # noqa: T201
                  *errors[:3], flush=True)  # fmt: skip
            goals.append(Goal(f"{VISITORS} visitors behind nginx, processes: {processes}; errors: {len(errors)}",
                              bool(runs) and not errors))  # fmt: skip
    ratio = cost[2] / cost[1]
    goals += [
        Goal(f"CPU of a run with two processes ≤ {DEARER} × with one: {ratio:.2f}", ratio <= DEARER),
        Goal(f"of two processes one does ≥ {LEAST:.0%}: {least:.0%}", least >= LEAST),
    ]
    return tell(goals)


if __name__ == "__main__":
    sys.exit(main())
