"""What only a browser shows of long work: its progress moves by itself, Cancel ends it, and so does closing the tab;
and what only a server shows: a page that waits asks for nothing, and is drawn anew once its job is done."""

from __future__ import annotations

import asyncio
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as TooLate

from pages.active.files import digest
from pages.runtime.state import Spec, State, encode
from tests.bench.visitor import Visitor
from tests.browser.looking import becomes, soon
from tests.conftest import PATIENCE

N, COLUMNS = 6_000, 60
"""Kernel densities of so many rows and columns, taken out one by one and judged on every row each time, keep a
processor busy for minutes: whatever the machine, the work has not ended before it is cancelled."""
NUMBERS = np.random.default_rng(0).normal(size=(N, COLUMNS)).round(3)
TABLE = pd.DataFrame(NUMBERS).add_prefix("x").assign(y=np.where(NUMBERS.sum(axis=1) > 0, "a", "b"))
CONTENT = TABLE.to_csv(index=False).encode()
PARAMETERS = (("criterion", "log_loss"), ("direction", "backward"), ("discretize", "kernel"))
SLOW = State(language="en", table=f"upload:{digest(CONTENT)}", shelf=(Spec("laplace", PARAMETERS, "selective"),))
LEFT = "job cancelled: its session has left"


@pytest.mark.slow
def test_long_work_says_how_far_it_is_is_cancelled_and_ends_with_the_tab(page: Page, app) -> None:
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.extend([frame])))
    page.goto(f"{app.url}/data?s={encode(SLOW)}")
    upload = page.locator('input[type="file"]').first
    upload.set_input_files({"name": "numbers.csv", "mimeType": "text/csv", "buffer": CONTENT})
    cancel = page.locator("[class*=st-key-job_cancel] button")
    expect(page.get_by_text("Upload the same file")).to_be_hidden()
    page.get_by_test_id("stSidebar").get_by_role("link", name="Decisions", exact=True).click()
    page.wait_for_url("**/decisions**")
    expect(cancel).to_be_visible()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    its_progress_moves(page)
    soon(page, lambda: len(sent), lambda asked: asked > 0 and asks_for_nothing(page, sent))  # while it waits
    end = time.monotonic() + PATIENCE
    while not page.get_by_text("Cancelled:").is_visible():  # the next stage may have begun under the pointer
        assert time.monotonic() < end
        with suppress(TooLate):
            cancel.click(timeout=2_000)
        page.wait_for_timeout(300)
    page.locator("[class*=st-key-job_again] button").click()
    expect(cancel).to_be_visible()
    its_progress_moves(page)  # the page waits for it
    gone = app.log.read_text(encoding="utf-8").count(LEFT)
    page.close()
    end = time.monotonic() + PATIENCE
    while app.log.read_text(encoding="utf-8").count(LEFT) == gone:
        assert time.monotonic() < end
        time.sleep(0.05)


def its_progress_moves(page: Page) -> None:
    told = page.get_by_text(re.compile(r"… \d+ s$")).first
    before = told.text_content()
    becomes(page, lambda: told.text_content(timeout=1000 * PATIENCE) != before, True)


def asks_for_nothing(page: Page, sent: list[object]) -> bool:
    """Whether the page is silent for longer than its progress takes to move."""
    asked = len(sent)
    page.wait_for_timeout(2_500)
    return len(sent) == asked


def test_a_page_is_drawn_anew_once_its_job_is_done(app) -> None:
    shelf = (Spec("laplace", (("alpha", 1.375),), "aode"),)

    async def visit() -> None:
        one = Visitor(app.url)
        await one.open("decisions", s=encode(State(language="en", table="mushroom", shelf=shelf)))
        assert not one.parts  # it looks at nothing again and again
        assert one.is_whole or not await one.whole(PATIENCE)
        assert one.is_whole
        await one.close()

    with ThreadPoolExecutor(1) as apart:  # in this thread Playwright has a loop of its own
        apart.submit(asyncio.run, visit()).result()
