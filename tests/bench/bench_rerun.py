"""What a click costs: processor time of the server for a warm rerun, on eleven pages and after four actions.

    python tests/bench/bench_rerun.py [page …]

Starts the shipped server and a bare Streamlit app with 64 plain elements, and visits them in Streamlit's own protocol;
the bare one, too, keeps the collector off what was loaded.
Nothing is measured before the server has done what it does once after its start.
A visitor uploads a table of 200 rows and 6 columns, and on each page changes λ, the case and α, each time to a value
that was not there before, and asks for the same page again; all pages in turn, and that several times over. A figure is
the least of all these times: a core whose other half works for somebody else takes twice as long, for half a minute on
end. It is all that the process used from the question until the page was whole and a moment later. Beside it stands its
ratio to the bare app's least, which holds on any machine. Goals on a quiet machine: after λ 60 ms, on Model 100; where
nothing has changed 60.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).parents[2]))

from bayes_engine.workbench.front import LATER
from pages.runtime.state import Spec, State, decode, encode
from tests.bench.goals import Goal, failed, tell
from tests.bench.visitor import Answer, Server, Visitor

TIMES, WARM, ROUNDS = 2, 1, 4
AFTER = 0.08
"""Seconds after an answer in which the server ends its run."""
QUIET = 0.5
"""Seconds without work after which a server that has just started is warm."""
IDLE = 0.2
"""The share of a core below which it does no work: cutting takes a whole one, waiting on a slow machine 0.04."""
GOAL = {"model": 100.0}
USUAL_GOAL = 60.0
"""Milliseconds, where no more than this runs on the machine."""
PAGES = ("", "data", "model", "decisions", "case", "classify", "dependence", "network", "projection", "hidden",
         "laboratory")  # fmt: skip
BARE = """
import gc

import streamlit as st


@st.cache_resource
def keep_the_collector_off() -> None:
    gc.collect()
    gc.freeze()


keep_the_collector_off()
cost = st.number_input("λ", key="cost")
for i in range(63):
    st.markdown(f"element {i} of 64 at {cost}")
"""


def table(seed: int = 1) -> bytes:
    """200 rows: three columns of numbers, two of levels, and the class."""
    chance = random.Random(seed)
    lines = ["age,income,hours,region,smokes,buys"]
    for _ in range(200):
        buys = chance.random() < 0.4
        age, income, hours = chance.gauss(44 - 6 * buys, 9), chance.gauss(30 + 8 * buys, 7), chance.gauss(38, 4)
        region, smokes = chance.choice(("north", "south", "east", "west")), chance.random() < 0.3 + 0.2 * buys
        words = f"{region},{'yes' if smokes else 'no'},{'yes' if buys else 'no'}"
        lines.append(f"{age:.1f},{income:.2f},{hours:.1f},{words}")
    return "\n".join(lines).encode()


def _losses(state: State, chance: random.Random) -> State:
    return replace(state, losses=((0.0, round(chance.uniform(1, 20), 3)), (1.0, 0.0)))


def _case(state: State, chance: random.Random) -> State:
    numbers = [round(chance.uniform(low, low + 15), 2) for low in (35, 28, 34)]
    return replace(state, case=(*numbers, chance.randrange(4), chance.randrange(2)))


def _alpha(state: State, chance: random.Random) -> State:
    return replace(state, shelf=(Spec("laplace", (("alpha", round(chance.uniform(0.1, 9), 3)),)),))


ACTIONS: dict[str, Callable[[State, random.Random], State]] = {
    "λ": _losses, "case": _case, "α": _alpha, "nothing": lambda state, _chance: state,
}  # fmt: skip


WHOLE = 120.0
"""Seconds that a page is waited for at most until it is whole."""


async def cost(server: Server, one: Visitor, doing: Callable[[], Awaitable[Answer]]) -> float:
    """Milliseconds of processor time of one action, until the page is whole."""
    before = server.cpu()
    answer = await doing()
    await one.whole(WHOLE)
    await asyncio.sleep(AFTER)
    if answer.errors:
        raise RuntimeError(f"the page '{one.page}' says {answer.errors}")
    return 1000 * (server.cpu() - before)


async def warm(cpu: Callable[[], float]) -> None:
    """Wait until the server, whose processor time `cpu` tells, does nothing of its own any more. Some time after the
    first start by a user it cuts its icons out, some seconds of processor time beside whatever is measured."""
    await asyncio.sleep(LATER)
    while True:
        before = cpu()
        await asyncio.sleep(QUIET)
        if cpu() - before < IDLE * QUIET:
            return


async def page_costs(server: Server, one: Visitor, page: str, state: State, chance: random.Random) -> dict[str, float]:
    """What each action costs on a page."""
    costs = {}

    def go(state: State) -> Awaitable[Answer]:
        return one.go(page, s=encode(state))

    await cost(server, one, lambda: go(state))
    for name, act in ACTIONS.items():
        act_again = one.rerun if act(state, chance) is state else lambda act=act: go(act(state, chance))
        each = [await cost(server, one, act_again) for _ in range(WARM + TIMES)]
        costs[name] = min(each[WARM:])
    return costs


async def bare_cost(bare: Server, visitor: Visitor) -> float:
    """What a rerun of the bare app costs."""
    each = [await cost(bare, visitor, lambda i=i: visitor.set("cost", float(i))) for i in range(WARM + TIMES)]
    return min(each[WARM:])


async def own_table(one: Visitor) -> State:
    """The state after an upload, with a model whose α is set."""
    await one.open("data")
    await one.upload("upload_file", "own.csv", table())
    await one.whole(WHOLE)
    own = decode(parse_qs(one.query).get("s", [""])[0])
    if own is None or not own.table.startswith("upload:"):
        raise RuntimeError(f"the table was not read: {one.told}")
    return _alpha(own, random.Random(0))


async def measure(server: Server, bare: Server, pages: tuple[str, ...]) -> int:
    """Print the table with the goals; how many are missed. A page that fails has missed its own, and the others are
    measured."""
    one, plain = Visitor(server.url), Visitor(bare.url)
    await plain.open()
    state = await own_table(one)
    await warm(server.cpu)
    costs: dict[str, dict[str, float]] = {}
    floor, failures = math.inf, list[Goal]()
    for turn in range(ROUNDS):
        for page in pages:
            try:
                found = await page_costs(server, one, page, state, random.Random(f"{page} {turn}"))
                floor = min(floor, await bare_cost(bare, plain))
            except Exception as error:  # noqa: BLE001 - whatever befalls a page is told
                failures.append(failed(page or "start", error))
                await one.close()
                one = Visitor(server.url)
                state = await own_table(one)
                continue
            before = costs.setdefault(page, found)
            costs[page] = {act: min(ms, before[act]) for act, ms in found.items()}
    missed = tell(failures)
    print(f"{'ms, × bare':12}" + "".join(f"{name:>16}" for name in ACTIONS) + f"   bare {floor:.0f}")  # noqa: T201
    for page, each in costs.items():
        name = page or "start"
        shown = "".join(f"{ms:8.0f} {ms / floor:6.1f} ×" for ms in each.values())
        print(f"{name:12}{shown}", flush=True)  # noqa: T201
        asked = (("after λ", "λ", GOAL.get(page, USUAL_GOAL)), ("nothing new", "nothing", USUAL_GOAL))
        missed += tell(
            Goal(f"{name}, {what} ≤ {most:.0f} ms CPU: {each[act]:.0f} ({each[act] / floor:.1f} × bare)",
                 each[act] <= most)
            for what, act, most in asked
        )  # fmt: skip
    await one.close()
    await plain.close()
    return missed


def main(*names: str) -> int:
    """Print the table and the goals missed; how many those are."""
    pages = tuple("" if name == "start" else name for name in names) or PAGES
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE, encoding="utf-8")
        with Server() as server, Server(script=script) as bare:
            missed = asyncio.run(measure(server, bare, pages))
            if "Traceback" in (log := server.said()):
                missed += tell([Goal("nothing uncaught in the log", False)])
                print(log[-2000:], file=sys.stderr)  # noqa: T201
    return missed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
