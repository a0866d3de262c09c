"""A classroom on one computer: 60 phones open it at once and 60 edits follow, all within 10 s.

    python tests/bench/bench_classroom.py

Starts `bayes-workbench --classroom` on an address of the loopback range and visits it as phones do whose cache is
empty: every file that the first page names, packed, then the page itself over a websocket in Streamlit's own protocol;
then each changes λ. Goals: no error, every load and every edit answered before the 10 s are over, and fewer than 2.5 MB
a load.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

sys.path.insert(0, str(Path(__file__).parents[2]))

from pages.runtime.state import State, encode
from tests.bench.visitor import Visitor
from tests.classrooms import classroom

PHONES = 60
WITHIN = 10.0
ARRIVE, EDIT = 3.0, 5.0
"""Seconds in which the phones arrive, and after which the first of them edits."""
FIRST_LOAD = 2_500_000


def files_of_a_first_load(url: str) -> int:
    """Fetch what the first page names; the bytes on the wire."""
    with requests.Session() as phone:
        phone.trust_env = False
        page = phone.get(url, timeout=WITHIN)
        names = sorted(set(re.findall(r'"\./(static/[^"]+)"', page.text)))
        size = len(gzip.compress(page.content))
        for name in names:
            answer = phone.get(f"{url}/{name}", timeout=WITHIN, headers={"Accept-Encoding": "gzip"})
            answer.raise_for_status()
            size += int(answer.headers["content-length"])
        return size


async def lesson(url: str) -> tuple[list[float], list[float], list[int], list[str], float]:
    """(seconds of each load, seconds of each edit, bytes of each load, errors, seconds in all)"""
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(PHONES)
    loads: list[float] = []
    edits: list[float] = []
    sizes: list[int] = []
    errors: list[str] = []
    began = time.monotonic()

    async def phone(i: int) -> None:
        await asyncio.sleep(ARRIVE * i / PHONES)
        one, start = Visitor(url), time.monotonic()
        try:
            size = await loop.run_in_executor(threads, files_of_a_first_load, url)
            drawn = await one.open("")
            loads.append(time.monotonic() - start)
            sizes.append(size + drawn.size)
            errors.extend(drawn.errors)
            await asyncio.sleep(max(began + EDIT + (WITHIN - EDIT - 1) * i / PHONES - time.monotonic(), 0))
            edited = await one.go("", s=encode(State(losses=((0.0, 1.0 + i / 10), (1.0, 0.0)))))
            edits.append(edited.seconds)
            errors.extend(edited.errors)
        except Exception as error:  # noqa: BLE001 - whatever befalls a phone is counted
            errors.append(f"{type(error).__name__}: {error}"[:120])
        finally:
            await one.close()

    await asyncio.gather(*map(phone, range(PHONES)))
    return sorted(loads), sorted(edits), sizes, errors, time.monotonic() - began


def main() -> int:
    """Print the figures and the goals; the number of goals missed."""
    with tempfile.TemporaryDirectory() as folder, classroom(Path(folder), "127.0.0.2") as room:
        loads, edits, sizes, errors, took = asyncio.run(lesson(room.url))
        log = room.log.read_text(encoding="utf-8", errors="replace")
    for name, seconds in (("load", loads), ("edit", edits)):
        row = [1000 * seconds[int(p * (len(seconds) - 1))] for p in (0.5, 0.95, 1.0)] if seconds else []
        print(f"{name}: {len(seconds)} answered; p50, p95, max {', '.join(f'{ms:.0f}' for ms in row)} ms")  # noqa: T201
    print(f"{max(sizes, default=0) / 1e6:.2f} MB a load; load of the machine {os.getloadavg()[0]:.1f}", *errors[:5])  # noqa: T201
    goals = {
        f"{PHONES} cold loads and {PHONES} edits within {WITHIN:.0f} s: took {took:.1f} s":
            len(loads) == len(edits) == PHONES and took <= WITHIN,
        "no error": not errors and "Traceback" not in log,
        "a load below 2.5 MB": 0 < max(sizes, default=0) < FIRST_LOAD,
    }  # fmt: skip
    for what, holds in goals.items():
        print("holds " if holds else "MISSED", what)  # noqa: T201
    return sum(not holds for holds in goals.values())


if __name__ == "__main__":
    sys.exit(main())
