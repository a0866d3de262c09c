"""A long table: seconds until each page is whole, and what a click then costs.

    python tests/bench/bench_long.py [rows, 100000] [page …]

A visitor uploads a table of so many rows and 15 columns to the shipped server, and opens one page after the other: by
the clock until it is whole, the processor time of the server, and the longest run of the script, during which nothing
can be cancelled. On each λ is changed, each time to a value that was not there before, and the same page is asked for
again; a figure is the least of several times, in milliseconds of processor time, the second one of as many as in
`bench_rerun`. Beside it stands what a rerun of the bare app of `bench_rerun` costs in the same minute. Goal for a page
that changes nothing, on a quiet machine: 60 ms whatever the rows.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pandas as pd

from pages.runtime.state import State, decode, encode
from tests.bench import bench_rerun
from tests.bench.bench_rerun import BARE, PAGES, ROUNDS, TIMES, USUAL_GOAL, WARM, bare_cost, cost, warm
from tests.bench.goals import Goal, failed, tell
from tests.bench.visitor import Server, Visitor

ROWS = 100_000
WHOLE = 900.0
"""Seconds that a page is waited for at most until it is whole."""


def table(rows: int) -> bytes:
    """Eight columns of numbers, of which two depend on others, six of levels, and a class of three."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, rows, p=(0.5, 0.3, 0.2))
    z = rng.normal(size=(rows, 8)) + truth[:, None] * np.linspace(0, 0.8, 8)
    z[:, 1] += 0.7 * z[:, 0]
    z[:, 3] += z[:, 2] ** 2
    frame = pd.DataFrame({f"x{j}": z[:, j].round(3) for j in range(8)})
    for j in range(6):
        levels = np.array([f"l{k}" for k in range(2 + j)])
        frame[f"c{j}"] = levels[(rng.integers(0, 2 + j, rows) + (rng.random(rows) < 0.3) * truth) % (2 + j)]
    frame["y"] = np.array(["low", "middle", "high"])[truth]
    return frame.to_csv(index=False).encode()


def _losses(state: State, chance: random.Random) -> State:
    rows = [[0.0 if i == j else round(chance.uniform(1, 20), 3) for j in range(3)] for i in range(3)]
    return replace(state, losses=tuple(map(tuple, rows)))


async def until_whole(server: Server, one: Visitor, page: str, state: State) -> tuple[float, float]:
    """Seconds by the clock and of the processor until the page is whole that was just turned to."""
    before, began, one.longest = server.cpu(), time.perf_counter(), 0.0
    answer = await one.go(page, s=encode(state))
    errors = (*answer.errors, *await one.whole(WHOLE))
    if errors or not one.is_whole:
        raise RuntimeError(f"the page '{page}' says {errors or one.told}")
    return time.perf_counter() - began, server.cpu() - before


async def measure(server: Server, bare: Server, rows: int, pages: tuple[str, ...]) -> int:
    """Print the table and the goals of a rerun where nothing has changed; how many are missed. A page that fails has
    missed its own, and the others are measured."""
    one, plain, missed, data = Visitor(server.url), Visitor(bare.url), 0, table(rows)
    await plain.open()
    await one.open("data")
    before, began = server.cpu(), time.perf_counter()
    errors = (*(await one.upload("upload_file", "long.csv", data)).errors, *await one.whole(WHOLE))
    state = decode(parse_qs(one.query).get("s", [""])[0])
    if errors or state is None or not state.table.startswith("upload:"):
        raise RuntimeError(f"the table was not read: {errors or one.told}")
    print(f"{rows} rows, {len(data) / 1e6:.0f} MB: whole after {time.perf_counter() - began:.1f} s, "  # noqa: T201
          f"processor {server.cpu() - before:.1f} s")  # fmt: skip
    await warm(server.cpu)
    heads = ("s to whole", "processor s", "longest run", "λ ms", "nothing ms", "bare ms", "MiB")
    print(" " * 12 + "".join(f"{head:>12}" for head in heads))  # noqa: T201

    async def visited(page: str) -> list[Goal]:
        whole = await until_whole(server, one, page, state)
        longest = one.longest
        chance = random.Random(page)
        again = [await cost(server, one, one.rerun) for _ in range(WARM + ROUNDS * TIMES)][WARM:]
        other = [encode(_losses(state, chance)) for _ in range(WARM + TIMES)]
        after = [await cost(server, one, partial(one.go, page, s=s)) for s in other][WARM:]
        seconds, ms = (*whole, longest), (min(after), min(again), await bare_cost(bare, plain))
        shown = "".join([f"{x:12.1f}" for x in seconds] + [f"{x:12.0f}" for x in (*ms, server.memory() / 2**20)])
        print(f"{page or 'start':12}{shown}", flush=True)  # noqa: T201
        what = f"{page or 'start'}, nothing new, {rows:,} rows ≤ {USUAL_GOAL:.0f} ms CPU: {min(again):.0f}"
        return [Goal(what, min(again) <= USUAL_GOAL)]

    for page in pages:
        try:
            goals = await visited(page)
        except Exception as error:  # noqa: BLE001 - whatever befalls a page is told
            goals = [failed(page or "start", error)]
        missed += tell(goals)
    await one.close()
    await plain.close()
    return missed


def main(rows: int = ROWS, *names: str) -> int:
    """Print the table and the goals missed; how many those are."""
    pages = tuple("" if name == "start" else name for name in names) or PAGES
    bench_rerun.WHOLE = WHOLE
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE, encoding="utf-8")
        with Server() as server, Server(script=script) as bare:
            missed = asyncio.run(measure(server, bare, rows, pages))
            log = server.said()
        if "Traceback" in log:
            missed += tell([Goal("nothing uncaught in the log", False)])
            print(log[-2000:], file=sys.stderr)  # noqa: T201
    return missed


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
