"""Many users at once: how soon the app answers each, how much of the processor a run takes, and a session of memory.

    python tests/bench/bench_load.py [seconds of each part, 40]

Starts the shipped server on 127.0.0.1 and visits it over websockets in Streamlit's own protocol. Every user goes round
what is done in a lesson: open Start, change λ, α, the prior and the case, look at Decisions and One case. Each has a
rhythm with a random start, and nobody waits for another. Goals, on two cores that are otherwise quiet: 30 users at a
run every 6 s: p95 ≤ 1 s; 100 users at one every 15 s: p95 ≤ 3 s; beside one user's long fit: p95 below 1.5 times what
it was; 60 cold loads and 60 edits within 10 s; no error anywhere. Fails where one is missed.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from pages.runtime.jobs import LOOK
from pages.runtime.state import Spec, State, encode
from tests.bench.visitor import Answer, Server, Visitor

Actions = dict[str, Callable[[Visitor, random.Random], Awaitable[Answer]]]


class Goal(NamedTuple):
    what: str
    holds: bool


class Times:
    """The seconds of every run, by what was done, and the errors met."""

    def __init__(self) -> None:
        self.of: dict[str, list[float]] = defaultdict(list)
        self.errors: Counter[str] = Counter()

    async def take(self, name: str, doing: Awaitable[Answer]) -> None:
        try:
            answer = await doing
        except Exception as error:  # noqa: BLE001 - whatever befalls a user is counted
            self.errors[f"{name}: {type(error).__name__} {error}"[:120]] += 1
            return
        self.of[name].append(answer.seconds)
        self.errors.update(f"{name}: {said}"[:120] for said in answer.errors)

    def join(self, other: Times) -> None:
        for name, seconds in other.of.items():
            self.of[name] += seconds
        self.errors += other.errors

    def all(self) -> list[float]:
        return sorted(s for seconds in self.of.values() for s in seconds)

    def table(self) -> str:
        lines = [f"    {'':12} {'runs':>5} {'p50':>7} {'p95':>7} {'max':>7}  (ms)"]
        for name, seconds in [*sorted(self.of.items()), ("all", self.all())]:
            row = sorted(seconds)
            figures = (quantile(row, 0.5), quantile(row, 0.95), row[-1] if row else float("nan"))
            lines.append(f"    {name:12} {len(row):5d} " + " ".join(f"{1000 * s:7.0f}" for s in figures))
        return "\n".join([*lines, *(f"    {n} × {what}" for what, n in self.errors.most_common(5))])


def quantile(seconds: list[float], p: float) -> float:
    return seconds[min(int(p * len(seconds)), len(seconds) - 1)] if seconds else float("nan")


def link(state: State) -> dict[str, str]:
    return {"s": encode(state)} if encode(state) else {}


def _losses(chance: random.Random) -> State:
    return State(losses=((0.0, round(chance.uniform(0.1, 20), 2)), (round(chance.uniform(0.1, 20), 2), 0.0)))


def _alpha(chance: random.Random) -> State:
    return State(shelf=(Spec("laplace", (("alpha", round(chance.uniform(0.1, 9), 2)),)),))


def _prior(chance: random.Random) -> State:
    p = round(chance.uniform(0.05, 0.95), 3)
    return State(prior=(p, round(1 - p, 3)))


def _case(chance: random.Random) -> State:
    return State(case=(round(chance.uniform(0.3, 0.8), 3), round(chance.uniform(0.05, 0.5), 3)))


ACTIONS: Actions = {
    "start": lambda one, _chance: one.go(""),
    "λ": lambda one, chance: one.go(one.page if one.page == "decisions" else "", **link(_losses(chance))),
    "α": lambda one, chance: one.go("", **link(_alpha(chance))),
    "prior": lambda one, chance: one.go("decisions", **link(_prior(chance))),
    "case": lambda one, chance: one.go("", **link(_case(chance))),
    "decisions": lambda one, _chance: one.go("decisions"),
    "one case": lambda one, chance: one.go("case", **link(_case(chance))),
}


async def open_all(server: Server, n: int, within: float, times: Times, name: str) -> list[Visitor]:
    """`n` tabs opened at even distances within so many seconds."""
    visitors = [Visitor(server.url) for _ in range(n)]

    async def enter(i: int) -> None:
        await asyncio.sleep(within * i / n)
        await times.take(name, visitors[i].open())

    await asyncio.gather(*map(enter, range(n)))
    return visitors


async def lesson(visitors: list[Visitor], every: float, seconds: float, seed: int) -> Times:
    """All users at work, each with a run every so many seconds."""
    times, end = Times(), time.monotonic() + seconds

    async def work(i: int) -> None:
        chance = random.Random(f"{seed} {i}")
        due = time.monotonic() + chance.uniform(0, every)
        while due < end:
            await asyncio.sleep(max(due - time.monotonic(), 0))
            name = chance.choice([*ACTIONS])
            await times.take(name, ACTIONS[name](visitors[i], chance))
            due = max(due + every, time.monotonic())

    await asyncio.gather(*(work(i) for i in range(len(visitors))))
    return times


KERNELS = (("criterion", "log_loss"), ("direction", "backward"), ("discretize", "kernel"))
ASKED: dict[str, Callable[[int], State]] = {
    "a long fit": lambda i: State(  # 64 kernel densities, taken out one by one: minutes
        table="digits", shelf=(Spec("laplace", (("alpha", 1 + i / 64), *KERNELS), "selective"),)),
    "one page of a second after another": lambda i: State(
        table="mushroom", shelf=(Spec("laplace", (("alpha", 1 + i / 64),), "aode"),)),
}  # fmt: skip


async def ask_on(server: Server, which: Callable[[int], State], until: asyncio.Event) -> int:
    """One user who asks for much, waits for it, and asks for more; how often it was done."""
    one, done = Visitor(server.url), 0
    await one.open("decisions", **link(replace(which(0), shelf=())))
    while not until.is_set():
        await one.go("decisions", **link(which(done)))
        await one.wait(LOOK, until)
        done += not until.is_set()
    await one.close()
    return done


async def close_all(visitors: list[Visitor]) -> None:
    await asyncio.gather(*(one.close() for one in visitors))


async def measure(server: Server, seconds: float) -> list[Goal]:
    """All parts, printed as they come."""
    goals = []

    def told(what: str, times: Times, cpu: float) -> None:
        runs = max(len(times.all()), 1)
        load = os.getloadavg()[0]
        print(f"{what}\n{times.table()}\n    {1000 * cpu / runs:.0f} ms of CPU a run; load {load:.1f}", flush=True)  # noqa: T201

    times, cpu, began = Times(), server.cpu(), time.monotonic()
    room = await open_all(server, 60, 9.0, times, "cold load")

    async def edit(i: int) -> None:
        chance = random.Random(f"edit {i}")
        await asyncio.sleep(9.0 * i / 60)
        await times.take("edit", ACTIONS["λ"](room[i], chance))

    loaded = time.monotonic() - began
    began = time.monotonic()
    await asyncio.gather(*map(edit, range(60)))
    edited = time.monotonic() - began
    told(f"60 cold loads, answered in {loaded:.1f} s; 60 edits, answered in {edited:.1f} s", times, server.cpu() - cpu)
    goals.append(Goal("60 cold loads and 60 edits within 10 s each, no error",
                      max(loaded, edited) <= 10 and not times.errors))  # fmt: skip

    await close_all(room[30:])
    cpu = server.cpu()
    quiet = await lesson(room[:30], 6.0, seconds / 2, 1)
    cpu = server.cpu() - cpu

    beside: dict[str, Times] = {}
    for what, which in ASKED.items():
        over, used = asyncio.Event(), server.cpu()
        asking = asyncio.create_task(ask_on(server, which, over))
        await asyncio.sleep(2)
        beside[what] = await lesson(room[:30], 6.0, seconds, 2)
        over.set()
        done = await asking
        told(f"30 users beside one who asks for {what} ({done} done)", beside[what], server.cpu() - used)

    more = server.cpu()
    quiet.join(await lesson(room[:30], 6.0, seconds / 2, 3))  # before and after: the machine has its own moods
    told("30 users, a run every 6 s", quiet, cpu + server.cpu() - more)
    usual = quantile(quiet.all(), 0.95)
    goals.append(Goal("30 users: p95 ≤ 1 s, no error", usual <= 1.0 and not quiet.errors))
    slow = {what: quantile(times.all(), 0.95) / usual for what, times in beside.items()}
    print(*(f"    beside {what} p95 is {ratio:.2f} of what it was" for what, ratio in slow.items()), sep="\n")  # noqa: T201
    goals.append(Goal("beside a long fit p95 is below 1.5 of what it was, no error",
                      slow["a long fit"] < 1.5 and not any(times.errors for times in beside.values())))  # fmt: skip
    await close_all(room[:30])

    before, opening = server.memory(), Times()
    room = await open_all(server, 100, 15.0, opening, "open")
    cpu = server.cpu()
    crowd = await lesson(room, 15.0, max(seconds, 30.0), 4)
    told("100 users, a run every 15 s", crowd, server.cpu() - cpu)
    taken = (server.memory() - before) / 100
    print(f"    {taken / 1e6:.2f} MB a session; the server has {server.memory() / 1e6:.0f} MB in all")  # noqa: T201
    goals.append(Goal("100 users: p95 ≤ 3 s, no error",
                      quantile(crowd.all(), 0.95) <= 3.0 and not crowd.errors and not opening.errors))  # fmt: skip
    goals.append(Goal(f"a session without a table takes {taken / 1e6:.2f} MB: at most 2 MB", taken <= 2e6))
    await close_all(room)
    return goals


def main(seconds: float = 40.0) -> int:
    """Print the tables and the goals; the number of goals missed."""
    with Server() as server:
        goals = asyncio.run(measure(server, seconds))
        if "Traceback" in (log := server.said()):
            goals.append(Goal(f"nothing uncaught in the log:\n{log[-2000:]}", False))
    for goal in goals:
        print("holds " if goal.holds else "MISSED", goal.what)  # noqa: T201
    return sum(not goal.holds for goal in goals)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2])))
