"""Many users at once: how soon the app answers each and draws the page whole, what an action costs, and a session.

    python tests/bench/bench_load.py [seconds of each part, 40] [parts: own crowd cold beside, all]

Starts the shipped server on 127.0.0.1 and visits it over websockets in Streamlit's own protocol. Every user goes round
what is done in a lesson: turns to any of the eleven pages, or changes λ, α, the prior or the case where it is. Each has
a rhythm with a random start, and nobody waits for another; a person who still waits for a page clicks all the same once
the next action is due; but for the cold loads, somebody has looked at every page before. Seconds count from when the
action was due: until its run has ended (first), and until nothing on the page is under way (whole); where the next
action came before, until then. Goals, on two cores that are otherwise quiet: 30 users with tables of their own at an
action every 6 s: p95 ≤ 1 s, whole ≤ 3 s; 100 users on the start table at one every 15 s: p95 ≤ 3 s; beside one user's
long fit: p95 below 1.5 times what it was; 60 cold loads and 60 edits within 10 s; no error anywhere. Fails where one is
missed.
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
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).parents[2]))

from pages.runtime.state import START, Spec, State, decode, encode
from tests.bench.goals import Goal, tell, tried
from tests.bench.visitor import Answer, Server, Visitor

Actions = dict[str, Callable[[Visitor, random.Random], Awaitable[Answer]]]
PAGES = ("", "data", "model", "decisions", "case", "classify", "dependence", "network", "projection", "hidden",
         "laboratory")  # fmt: skip
OWN = 5
"""So many columns of numbers has a table of a user's own, beside its classes."""


class Times:
    """The seconds of every action until its first answer and until the page is whole, by what was done; how many pages
    were not whole when the next action came; and the errors met."""

    def __init__(self) -> None:
        self.first: dict[str, list[float]] = defaultdict(list)
        self.whole: dict[str, list[float]] = defaultdict(list)
        self.unfinished = 0
        self.errors: Counter[str] = Counter()

    async def take(self, name: str, one: Visitor, doing: Awaitable[Answer], due: float, patience: float = 0.0) -> None:
        """Do it, and wait for the whole page until so many seconds after it was due."""
        try:
            answer = await doing
            self.first[name].append(time.monotonic() - due)
            errors = [*answer.errors, *await one.whole(due + patience - time.monotonic())]
            self.whole[name].append(time.monotonic() - due)
        except Exception as error:  # noqa: BLE001 - whatever befalls a user is counted
            self.errors[f"{name}: {type(error).__name__} {error}"[:120]] += 1
            return
        self.unfinished += patience > 0 and not one.is_whole
        self.errors.update(f"{name}: {said}"[:120] for said in errors)

    def join(self, other: Times) -> None:
        for mine, theirs in ((self.first, other.first), (self.whole, other.whole)):
            for name, seconds in theirs.items():
                mine[name] += seconds
        self.errors += other.errors
        self.unfinished += other.unfinished

    def p95(self) -> float:
        return quantile(every(self.first), 0.95)

    def p95_whole(self) -> float:
        return quantile(every(self.whole), 0.95)

    def table(self) -> str:
        lines = [f"    {'first, whole':12} {'runs':>5}" + 2 * f" {'p50':>7} {'p95':>7} {'max':>7} " + " (ms)"]
        for name in [*sorted(self.first), "all"]:
            both = [every(of) if name == "all" else sorted(of[name]) for of in (self.first, self.whole)]
            figures = [(quantile(row, 0.5), quantile(row, 0.95), row[-1] if row else float("nan")) for row in both]
            cells = "  ".join(" ".join(f"{1000 * s:7.0f}" for s in row) for row in figures)
            lines.append(f"    {name or 'start':12} {len(both[0]):5d} {cells}")
        lines.append(f"    {self.unfinished} pages were not whole when the next action came")
        return "\n".join([*lines, *(f"    {n} × {what}" for what, n in self.errors.most_common(5))])


def every(of: dict[str, list[float]]) -> list[float]:
    return sorted(s for seconds in of.values() for s in seconds)


def quantile(seconds: list[float], p: float) -> float:
    return seconds[min(int(p * len(seconds)), len(seconds) - 1)] if seconds else float("nan")


def link(state: State) -> dict[str, str]:
    return {"s": encode(state)} if encode(state) else {}


def state_of(one: Visitor) -> State:
    return decode(parse_qs(one.query).get("s", [""])[0]) or START


def turn(one: Visitor, page: str) -> Awaitable[Answer]:
    return one.go(page, **link(state_of(one)))


def edit(one: Visitor, to: Callable[[State], State]) -> Awaitable[Answer]:
    return one.go(one.page, **link(to(state_of(one))))


def _losses(one: Visitor, chance: random.Random) -> Awaitable[Answer]:
    losses = ((0.0, round(chance.uniform(0.1, 20), 2)), (round(chance.uniform(0.1, 20), 2), 0.0))
    return edit(one, lambda state: replace(state, losses=losses))


def _alpha(one: Visitor, chance: random.Random) -> Awaitable[Answer]:
    spec = Spec("laplace", (("alpha", round(chance.uniform(0.1, 9), 2)),))
    return edit(one, lambda state: replace(state, shelf=(spec,)))


def _prior(one: Visitor, chance: random.Random) -> Awaitable[Answer]:
    p = round(chance.uniform(0.05, 0.95), 3)
    return edit(one, lambda state: replace(state, prior=(p, round(1 - p, 3))))


def _case(one: Visitor, chance: random.Random) -> Awaitable[Answer]:
    columns = OWN if state_of(one).table.startswith("upload:") else 2
    case = tuple(round(chance.uniform(0.05, 0.8), 3) for _ in range(columns))
    return edit(one, lambda state: replace(state, case=case))


ACTIONS: Actions = {
    **{page: lambda one, _chance, page=page: turn(one, page) for page in PAGES},
    "λ": _losses, "α": _alpha, "prior": _prior, "case": _case,
}  # fmt: skip


async def open_all(server: Server, n: int, within: float, times: Times, name: str) -> list[Visitor]:
    """`n` tabs opened at even distances within so many seconds."""
    visitors = [Visitor(server.url) for _ in range(n)]

    async def enter(i: int) -> None:
        await asyncio.sleep(within * i / n)
        await times.take(name, visitors[i], visitors[i].open(), time.monotonic(), 60.0)

    await asyncio.gather(*map(enter, range(n)))
    return visitors


def own_table(seed: int) -> bytes:
    """200 rows of numbers and a class."""
    chance, lines = random.Random(f"table {seed}"), [",".join([*(f"x{i}" for i in range(OWN)), "class"])]
    for row in range(200):
        numbers = (f"{chance.gauss(i + row % 2, 1 + seed / 30):.3f}" for i in range(OWN))
        lines.append(",".join([*numbers, "ab"[row % 2]]))
    return "\n".join(lines).encode()


async def give_tables(visitors: list[Visitor], within: float, times: Times) -> None:
    """Every visitor uploads a table of its own and waits until the page shows it."""

    async def give(i: int) -> None:
        await asyncio.sleep(within * i / len(visitors))
        one = visitors[i]
        await one.go("data")
        await times.take("upload", one, one.upload("upload_file", f"{i}.csv", own_table(i)), time.monotonic(), 60.0)
        if not state_of(one).table.startswith("upload:"):
            times.errors["the table was not taken"] += 1

    await asyncio.gather(*map(give, range(len(visitors))))


async def settled(server: Server) -> None:
    """Wait until the server and its processes do nothing: at its first start it cuts out fonts and packs what it sends
    for half a minute."""
    used = -1.0
    while abs(server.cpu_of_all() - used) > 0.1:
        used = server.cpu_of_all()
        await asyncio.sleep(2.0)


async def looked_at(server: Server) -> None:
    """One visitor looks at every page before the others come: they are loaded for all."""
    [first] = await open_all(server, 1, 0.0, Times(), "first")
    for page in PAGES:
        await turn(first, page)
        await first.whole(30.0)
    await close_all([first])
    await settled(server)


async def lesson(visitors: list[Visitor], pace: float, seconds: float, seed: int) -> Times:
    """All users at work, each with an action every so many seconds."""
    times, end = Times(), time.monotonic() + seconds

    async def work(i: int) -> None:
        chance = random.Random(f"{seed} {i}")
        due = time.monotonic() + chance.uniform(0, pace)
        while due < end:
            await asyncio.sleep(max(due - time.monotonic(), 0))
            name = chance.choice([*ACTIONS])
            await times.take(name, visitors[i], ACTIONS[name](visitors[i], chance), due, pace)
            due += pace

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
        while not (one.is_whole or until.is_set()):
            await one.whole(1.0)
        done += not until.is_set()
    await one.close()
    return done


async def close_all(visitors: list[Visitor]) -> None:
    await asyncio.gather(*(one.close() for one in visitors))


def show(what: str, times: Times, cpu: float) -> None:
    runs = max(len(every(times.first)), 1)
    load = os.getloadavg()[0]
    print(f"{what}\n{times.table()}\n    {1000 * cpu / runs:.0f} ms of CPU an action; load {load:.1f}", flush=True)  # noqa: T201


async def cold(server: Server, _seconds: float) -> list[Goal]:
    """Sixty who come and do something within seconds."""
    times, cpu, began = Times(), server.cpu(), time.monotonic()
    room = await open_all(server, 60, 9.0, times, "cold load")

    async def change(i: int) -> None:
        chance = random.Random(f"edit {i}")
        await asyncio.sleep(9.0 * i / 60)
        await times.take("edit", room[i], _losses(room[i], chance), time.monotonic())

    loaded = time.monotonic() - began
    began = time.monotonic()
    await asyncio.gather(*map(change, range(60)))
    edited = time.monotonic() - began
    show(f"60 cold loads, answered in {loaded:.1f} s; 60 edits, answered in {edited:.1f} s", times, server.cpu() - cpu)
    await close_all(room)
    return [Goal(f"60 cold loads ≤ 10 s: {loaded:.1f}; 60 edits ≤ 10 s: {edited:.1f}; errors: {times.errors.total()}",
                 max(loaded, edited) <= 10 and not times.errors)]  # fmt: skip


async def own(server: Server, seconds: float) -> list[Goal]:
    """Thirty, each with a table that nobody else has."""
    await looked_at(server)
    opening = Times()
    room = await open_all(server, 30, 9.0, opening, "open")
    await settled(server)
    cpu = server.cpu()
    await give_tables(room, 30.0, opening)
    show("30 users open the app and upload a table of 200 × 6", opening, server.cpu() - cpu)
    cpu = server.cpu()
    times = await lesson(room, 6.0, seconds, 5)
    show("30 users with tables of their own, an action every 6 s", times, server.cpu() - cpu)
    await close_all(room)
    errors, whole = times.errors.total() + opening.errors.total(), times.p95_whole()
    return [Goal(f"30 users with own tables, first answer p95 ≤ 1 s: {times.p95():.2f}; errors: {errors}",
                 times.p95() <= 1.0 and not times.errors and not opening.errors),
            Goal(f"30 users with own tables, page whole p95 ≤ 3 s: {whole:.2f}", whole <= 3.0)]  # fmt: skip


async def beside(server: Server, seconds: float) -> list[Goal]:
    """Thirty on the start table, quiet and beside one who asks for much."""
    await looked_at(server)
    room = await open_all(server, 30, 9.0, Times(), "open")
    await settled(server)
    cpu = server.cpu()
    quiet = await lesson(room, 6.0, seconds / 2, 1)
    cpu = server.cpu() - cpu
    loaded: dict[str, Times] = {}
    for what, which in ASKED.items():
        over, used = asyncio.Event(), server.cpu()
        asking = asyncio.create_task(ask_on(server, which, over))
        await asyncio.sleep(2)
        loaded[what] = await lesson(room, 6.0, seconds, 2)
        over.set()
        done = await asking
        show(f"30 users beside one who asks for {what} ({done} done)", loaded[what], server.cpu() - used)
    more = server.cpu()
    quiet.join(await lesson(room, 6.0, seconds / 2, 3))  # before and after: the machine has its own moods
    show("30 users, an action every 6 s", quiet, cpu + server.cpu() - more)
    slow = {what: times.p95() / quiet.p95() for what, times in loaded.items()}
    print(*(f"    beside {what} p95 is {ratio:.2f} of what it was" for what, ratio in slow.items()), sep="\n")  # noqa: T201
    await close_all(room)
    said = f"{quiet.p95():.2f}; errors: {quiet.errors.total()}"
    return [Goal(f"30 users on the start table, first answer p95 ≤ 1 s: {said}",
                 quiet.p95() <= 1.0 and not quiet.errors),
            Goal(f"30 users beside a long fit, p95 < 1.5 × what it was: {slow['a long fit']:.2f}",
                 slow["a long fit"] < 1.5 and not any(times.errors for times in loaded.values()))]  # fmt: skip


async def crowd(server: Server, seconds: float) -> list[Goal]:
    """A hundred on the start table, and what a session takes."""
    await looked_at(server)
    before, opening = server.memory(), Times()
    room = await open_all(server, 100, 15.0, opening, "open")
    await settled(server)
    cpu = server.cpu()
    times = await lesson(room, 15.0, max(seconds, 30.0), 4)
    show("100 users on the start table, an action every 15 s", times, server.cpu() - cpu)
    taken = (server.memory() - before) / 100
    print(f"    {taken / 1e6:.2f} MB a session; the server has {server.memory() / 1e6:.0f} MB in all")  # noqa: T201
    await close_all(room)
    errors = times.errors.total() + opening.errors.total()
    return [Goal(f"100 users on the start table, first answer p95 ≤ 3 s: {times.p95():.2f}; errors: {errors}",
                 times.p95() <= 3.0 and not times.errors and not opening.errors),
            Goal(f"a session without a table ≤ 2 MB: {taken / 1e6:.2f}", taken <= 2e6)]  # fmt: skip


PARTS = {part.__name__: part for part in (own, crowd, cold, beside)}


def main(seconds: float = 40.0, *parts: str) -> int:
    """Print the tables and the goals; the number of goals missed. Each part has a server of its own, and where one
    fails the others go on."""

    def visited(part: str) -> list[Goal]:
        with Server() as server:
            goals = asyncio.run(PARTS[part](server, seconds))
            if "Traceback" in (log := server.said()):
                goals.append(Goal(f"{part}: nothing uncaught in the log", False))
                print(log[-2000:], file=sys.stderr)  # noqa: T201
        return goals

    return sum(tell(tried(part, lambda part=part: visited(part))) for part in parts or PARTS)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if sys.argv[1:] else 40.0, *sys.argv[2:]))
