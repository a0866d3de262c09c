"""What only a browser shows of long work: its progress moves by itself, Cancel ends it, and so does closing the tab."""

from __future__ import annotations

import re
import time
from contextlib import suppress

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as TooLate

from pages.runtime.state import Spec, State, encode
from tests.conftest import PATIENCE

KNOBS = (("alpha", 1.625), ("criterion", "log_loss"), ("direction", "backward"), ("discretize", "kernel"))
SLOW = State(language="en", table="digits", shelf=(Spec("laplace", KNOBS, "selective"),))
"""Sixty-four kernel densities taken out one by one, judged on every row each time, and once more for every fold."""
LEFT = "job cancelled: its session has left"


def test_long_work_says_how_far_it_is_is_cancelled_and_ends_with_the_tab(page: Page, app) -> None:
    page.goto(f"{app.url}/decisions?s={encode(SLOW)}")
    cancel, told = page.locator(".st-key-job_cancel button"), page.get_by_text(re.compile(r"… \d+ s$"))
    expect(cancel).to_be_visible()
    expect(page.get_by_role("progressbar").first).to_be_visible()
    before = told.text_content()
    page.wait_for_function(
        "before => [...document.querySelectorAll('p')].some(p => /… \\d+ s$/.test(p.textContent) "
        "&& p.textContent !== before)",
        arg=before,
    )
    end = time.monotonic() + PATIENCE
    while not page.get_by_text("Cancelled:").is_visible():  # the next stage may have begun under the pointer
        assert time.monotonic() < end
        with suppress(TooLate):
            cancel.click(timeout=2_000)
        page.wait_for_timeout(300)
    page.locator(".st-key-job_again button").click()
    expect(cancel).to_be_visible()
    gone = app.log.read_text(encoding="utf-8").count(LEFT)
    page.close()
    end = time.monotonic() + PATIENCE
    while app.log.read_text(encoding="utf-8").count(LEFT) == gone:
        assert time.monotonic() < end
        time.sleep(0.05)
