"""A long table: seconds until each page is whole, and what a click then costs.

    python tests/bench/bench_long.py [rows, 100000] [page …]

A visitor uploads a table of so many rows and 15 columns to the shipped server, and opens one page after the other: by
the clock until it is whole, and the processor time of the server. On each λ is changed, each time to a value that was
not there before, and the same page is asked for again; a figure is the median of several times, in milliseconds of
processor time, as in `bench_rerun`. Goal for a page that changes nothing, on a quiet machine: 60 ms whatever the rows.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pandas as pd

from pages.runtime.state import State, decode, encode
from tests.bench import bench_rerun
from tests.bench.bench_rerun import PAGES, TIMES, USUAL_GOAL, WARM, cost, warm
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


async def measure(server: Server, rows: int, pages: tuple[str, ...]) -> list[str]:
    """Print the table; the pages whose rerun costs more than its goal where nothing has changed."""
    one, missed, data = Visitor(server.url), [], table(rows)
    await one.open("data")
    before, began = server.cpu(), time.perf_counter()
    errors = (*(await one.upload("upload_file", "long.csv", data)).errors, *await one.whole(WHOLE))
    state = decode(parse_qs(one.query).get("s", [""])[0])
    if errors or state is None or not state.table.startswith("upload:"):
        raise RuntimeError(f"the table was not read: {errors or one.told}")
    print(f"{rows} rows, {len(data) / 1e6:.0f} MB: whole after {time.perf_counter() - began:.1f} s, "  # noqa: T201
          f"processor {server.cpu() - before:.1f} s")  # fmt: skip
    await warm(server)
    print(f"{'':12}{'s to whole':>12}{'processor s':>12}{'longest run':>12}{'λ ms':>10}{'nothing ms':>12}{'MiB':>8}")  # noqa: T201
    for page in pages:
        whole = await until_whole(server, one, page, state)
        longest = one.longest
        chance = random.Random(page)
        again = [await cost(server, one, one.rerun) for _ in range(WARM + TIMES)][WARM:]
        other = [encode(_losses(state, chance)) for _ in range(WARM + TIMES)]
        after = [await cost(server, one, partial(one.go, page, s=s)) for s in other][WARM:]
        shown = f"{whole[0]:12.1f}{whole[1]:12.1f}{longest:12.1f}{median(after):10.0f}{median(again):12.0f}"
        print(f"{page or 'start':12}{shown}{server.memory() / 2**20:8.0f}", flush=True)  # noqa: T201
        if median(again) > USUAL_GOAL:
            missed.append(page or "start")
    await one.close()
    return missed


def main(rows: int = ROWS, *names: str) -> int:
    """Print the table and the goals missed; how many those are."""
    pages = tuple("" if name == "start" else name for name in names) or PAGES
    bench_rerun.WHOLE = WHOLE
    with Server() as server:
        missed = asyncio.run(measure(server, rows, pages))
        if "Traceback" in (log := server.said()):
            missed.append(f"nothing uncaught in the log:\n{log[-2000:]}")
    print("MISSED where nothing has changed: " + ", ".join(missed) if missed else "the goals hold")  # noqa: T201
    return len(missed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
