"""Dragging a loss in a real browser: frames a second on a 200 × 200 plane with 5 classes, and how soon the server's
numbers stand after release.

    python tests/bench/bench_live.py [seconds of dragging]

Every frame counted has repainted the regions, the simplex, the risks and the confusion table; no rerun may begin while
the mouse is down. The settle time runs from release to the engine's own numbers on the screen.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from tests.browser.looking import settled
from tests.conftest import CHROMIUM_FLAGS, running_app

RELEASES = 7
_COUNT = """() => {
  const plane = document.querySelector('[data-testid="plane"]') ?? find('plane'), panel = find('consequences')
  function find(id) {
    for (const host of document.querySelectorAll('*')) {
      const found = host.shadowRoot?.querySelector(`[data-testid="${id}"]`)
      if (found) return found
    }
  }
  const app = document.querySelector('[data-testid="stApp"]')
  const seen = plane.dataset.paints
  window.bench = { plane, panel, gaps: [], paint: [], show: [], reruns: 0, on: true, last: 0, seen }
  new MutationObserver(() => { if (app.dataset.testScriptState === 'running') window.bench.reruns++ })
    .observe(app, { attributes: true, attributeFilter: ['data-test-script-state'] })
  const tick = now => {
    const b = window.bench
    if (!b.on) return
    if (b.plane.dataset.paints !== b.seen) {
      if (b.last) b.gaps.push(now - b.last)
      b.last = now; b.seen = b.plane.dataset.paints
      b.paint.push(Number(b.plane.dataset.paintMs)); b.show.push(Number(b.panel.dataset.showMs))
    }
    requestAnimationFrame(tick)
  }
  requestAnimationFrame(tick)
}"""

_MOVES = """([testid, x, y]) => {
  const inside = host => host.shadowRoot?.querySelector(`[data-testid="${testid}"]`)
  const target = inside([...document.querySelectorAll('*')].find(inside))
  let step = 0
  const move = () => {
    if (!window.bench.on) return
    step++
    const clientX = x + 100 - Math.abs(step * 3 % 200 - 100)
    target.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY: y, pointerId: 1, bubbles: true }))
    requestAnimationFrame(move)
  }
  requestAnimationFrame(move)
}"""


def five_blobs(n: int, seed: int = 0) -> pd.DataFrame:
    """Five Gaussian classes on two numeric columns, with two more columns to integrate out."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 5, n)
    angle = 2 * np.pi * k / 5
    return pd.DataFrame({
        "x": np.cos(angle) * 2.2 + rng.normal(0, 1.1, n), "y": np.sin(angle) * 2.2 + rng.normal(0, 1.1, n),
        "u": rng.normal(k, 2.0), "v": rng.normal(0, 1.0, n), "class": np.array(list("ABCDE"))[k],
    }).round(4)  # fmt: skip


def opened(page: Page, url: str, rows: int, folder: Path) -> None:
    """The page Decisions with such a table."""
    file = folder / "blobs.csv"
    file.write_text(five_blobs(rows).to_csv(index=False))
    page.goto(url + "/data")
    settled(page)
    page.locator('input[type="file"]').first.set_input_files(file)
    page.get_by_role("button", name="blobs").first.wait_for()
    settled(page)
    page.get_by_role("link", name="Decisions", exact=True).click()
    page.wait_for_url("**/decisions**")
    page.get_by_test_id("loss-0-1").wait_for()
    settled(page)
    time.sleep(2)


def drag(page: Page, testid: str, seconds: float) -> dict[str, Any]:
    """Frames while the mouse drags a number to and fro."""
    box = page.get_by_test_id(testid).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y)
    page.evaluate(_COUNT)
    page.evaluate(_MOVES, [testid, x + 8, y])  # a hand moves faster than a test can over its wire
    time.sleep(seconds)
    counted: dict[str, Any] = page.evaluate(
        "() => { const { gaps, paint, show, reruns } = Object.assign(window.bench, { on: false }); "
        "return { gaps, paint, show, reruns } }"
    )
    page.mouse.up()
    settled(page)
    return counted


def settle_ms(page: Page, testid: str, dx: int) -> float:
    """From release to the engine's numbers on the screen."""
    box = page.get_by_test_id(testid).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y, steps=4)
    page.evaluate(
        """() => new Promise(done => {
          const panel = window.bench.panel
          const wait = () => panel.dataset.live === '1' ? done() : requestAnimationFrame(wait)
          wait()
        })"""
    )
    page.evaluate(
        """() => { window.settled = new Promise(done => {
          const panel = window.bench.panel
          window.addEventListener('pointerup', () => {
            const start = performance.now()
            const wait = () => panel.dataset.live === '' ? done(performance.now() - start) : requestAnimationFrame(wait)
            requestAnimationFrame(wait)
          }, { once: true, capture: true })
        }) }"""
    )
    page.mouse.up()
    found: float = page.evaluate("() => window.settled")
    settled(page)
    return found


def main(seconds: float = 4.0) -> None:
    """Print the table."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    heads = (("rows", 6), ("dragged", 8), ("frames/s", 9), ("worst gap", 10), ("regions", 8), ("rest", 6))
    print(" ".join(f"{name:>{width}}" for name, width in heads), " reruns  settles (median, worst)")  # noqa: T201
    with tempfile.TemporaryDirectory() as name, running_app(Path(name)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        for rows in (500, 8000):
            page = browser.new_page(viewport={"width": 1440, "height": 1000}, locale="en-US")
            opened(page, app.url, rows, Path(name))
            for what, testid in (("loss", "loss-0-1"), ("prior", "prior-0")):
                seen = drag(page, testid, seconds)
                settle_ms(page, testid, 20)
                waits = [settle_ms(page, testid, 12 + 6 * k) for k in range(RELEASES)]
                gaps = seen["gaps"] or [float("nan")]
                print(  # noqa: T201
                    f"{rows:6d} {what:>8} {1000 * len(gaps) / sum(gaps):9.0f} {max(gaps):7.0f} ms "
                    f"{median(seen['paint']):5.1f} ms {median(seen['show']):3.0f} ms {seen['reruns']:7d} "
                    f"{median(waits):11.0f} ms {max(waits):6.0f} ms"
                )
            page.close()
        browser.close()


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
