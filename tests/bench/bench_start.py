"""How soon the app is there, beside a bare Streamlit app; and the library, beside scikit-learn.

    python tests/bench/bench_start.py [rounds, 3]

Every start is a fresh process with compiled files. The app is looked at by Chromium, with nothing in its cache: from
the start of the server's process until the first heading stands (with nothing over it), and until the page is whole;
by the clock, and in seconds of the processor that the server has used until then. The bare app is a sidebar, a title
and a sentence. Rounds go in turns, and the least of each counts.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.bench.goals import Goal, tell, tried
from tests.bench.visitor import ROOT, Server
from tests.conftest import CHROMIUM_FLAGS, PATIENCE

BARE = "import streamlit as st\nst.sidebar.write('Menu')\nst.title('Hello')\nst.write('One sentence.')\n"
DATA = "import numpy as np\nX = np.random.default_rng(0).normal(size=(200, 6)); y = np.arange(200) % 2\n"
FITS = {
    "bayes_engine.NaiveBayes": "from bayes_engine import NaiveBayes\n" + DATA + "NaiveBayes().fit(X, y)",
    "sklearn.naive_bayes": "from sklearn.naive_bayes import GaussianNB\n" + DATA + "GaussianNB().fit(X, y)",
    "bayes_engine.language": "import bayes_engine.language",
}
MOST_OF_A_FIT = 1.1
GOALS = {"first words": 1.3, "page whole": 1.8}
SHOWN = """() => document.querySelector('h1')?.innerText.trim()
  && !document.querySelector('#skeleton')?.checkVisibility({ visibilityProperty: true })"""
WHOLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


class Seconds(NamedTuple):
    """By the clock, and of the processor."""

    clock: float
    cpu: float


def first_fit(code: str) -> Seconds:
    """A fresh Python runs the code."""
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    clock, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Seconds(clock, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)


def first_page(browser: Browser, server: Server) -> dict[str, Seconds]:
    """A fresh server, and a browser that has never been there."""
    began = time.perf_counter()
    with server, browser.new_context() as context:
        seen = {"port open": Seconds(time.perf_counter() - began, server.cpu())}
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(server.url, wait_until="commit")
        page.wait_for_function(SHOWN)
        seen["first words"] = Seconds(time.perf_counter() - began, server.cpu())
        if server.script is None:
            page.get_by_test_id("plane").wait_for()
        page.wait_for_selector(WHOLE)
        seen["page whole"] = Seconds(time.perf_counter() - began, server.cpu())
        return seen


def least(rounds: int, *works: Callable[[], dict[str, Seconds]]) -> list[dict[str, Seconds]]:
    """The least of each measure, after one round that compiles and fills caches."""
    for work in works:
        work()
    best: list[dict[str, Seconds]] = [{} for _ in works]
    for _ in range(rounds):
        for work, kept in zip(works, best, strict=True):
            for name, one in work().items():
                old = kept.get(name, one)
                kept[name] = Seconds(min(old.clock, one.clock), min(old.cpu, one.cpu))
    return best


def fits(rounds: int) -> float:
    """Prints imports with a first fit; the ratio of CPU to scikit-learn's."""
    taken = least(rounds, lambda: {name: first_fit(code) for name, code in FITS.items()})[0]
    print(f"import and first fit, fresh processes{'clock s':>14}{'CPU s':>8}")  # noqa: T201
    for name, one in taken.items():
        print(f"  {name:35}{one.clock:14.2f}{one.cpu:8.2f}")  # noqa: T201
    ratio = taken["bayes_engine.NaiveBayes"].cpu / taken["sklearn.naive_bayes"].cpu
    print(flush=True)  # noqa: T201
    return ratio


def starts(rounds: int) -> dict[str, float]:
    """Prints cold starts; the ratios of the clock to the bare app's."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("cold start: left out, Chromium is not installed")  # noqa: T201
        return {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        os.environ["XDG_CACHE_HOME"] = folder
        app, empty = least(
            rounds, lambda: first_page(browser, Server()), lambda: first_page(browser, Server(script=bare))
        )
        browser.close()
    print(f"cold start{'clock s':>15}{'bare':>8}{'ratio':>8}{'CPU s':>8}{'bare':>8}{'ratio':>8}")  # noqa: T201
    for name, one in app.items():
        other = empty[name]
        print(  # noqa: T201
            f"  {name:15}{one.clock:8.2f}{other.clock:8.2f}{one.clock / other.clock:8.2f}"
            f"{one.cpu:8.2f}{other.cpu:8.2f}{one.cpu / other.cpu:8.2f}"
            + (f"   goal {GOALS[name]}" if name in GOALS else "")
        )
    return {name: one.clock / empty[name].clock for name, one in app.items()}


def main(rounds: int) -> int:
    """Print the tables and the goals; the number of goals missed."""

    def first_fits() -> list[Goal]:
        ratio = fits(rounds)
        what = f"import and the first fit ≤ {MOST_OF_A_FIT} × scikit-learn's, CPU: {ratio:.2f}"
        return [Goal(what, ratio <= MOST_OF_A_FIT)]

    def cold_starts() -> list[Goal]:
        ratios = starts(rounds)
        return [Goal(f"{name} ≤ {most} × a bare Streamlit app, clock: {ratios[name]:.2f}", ratios[name] <= most)
                for name, most in GOALS.items() if name in ratios]  # fmt: skip

    return tell([*tried("import", first_fits), *tried("cold start", cold_starts)])


@pytest.mark.bench
def test_start() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    assert fits(3) <= MOST_OF_A_FIT
    ratios = starts(3)
    assert all(ratios.get(name, 0.0) <= goal for name, goal in GOALS.items())


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
