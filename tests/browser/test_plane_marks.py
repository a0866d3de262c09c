"""The plane in a real browser: what stands on it, and what must not stand in front of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page

from bayes_engine import load_dataset
from pages.runtime.state import Spec, State, encode
from tests.browser.looking import becomes, soon
from tests.conftest import App


def opened(page: Page, url: str, state: State) -> Page:
    page.goto(f"{url}/decisions?s={encode(state)}")
    page.wait_for_selector('[data-testid="plane"][data-regions]')
    return page


def boxes(page: Page) -> list[dict[str, float]]:
    """Where the regions, the case's handle and its card stand."""
    found = [page.get_by_test_id(f"plane{part}") for part in ("-case", "-readout")]
    return [box for place in (page.locator("canvas.regions"), *found) if (box := place.bounding_box())]


@pytest.mark.slow
def test_levels_stand_from_the_top_and_a_card_over_no_point(app: App, new_page: Callable[..., Page]) -> None:
    page = opened(new_page(), app.url, State(table="play-tennis", language="en"))  # sunny, cool: the last of 3 levels
    soon(page, lambda: boxes(page), lambda b: len(b) == 3 and b[1]["y"] + 20 > b[0]["y"] + b[0]["height"] * 2 / 3)
    page.get_by_test_id("plane-case").press("ArrowUp")
    becomes(page, lambda: page.get_by_test_id("plane").get_attribute("data-case"), "0,1")
    aode = (Spec("laplace", (), "aode"),)
    integrated = State(table="watermelon2", language="en", shelf=aode, view=(("sliced", False),))
    opened(page, app.url, integrated)  # where the only free places reach over the names of the levels
    soon(page, lambda: boxes(page), lambda b: len(b) == 3 and b[2]["x"] >= b[0]["x"] - 1)
    table = load_dataset("breast-cancer")
    crowded = table.frame.iloc[383][list(table.schema.features.names)]  # in the middle of the benign ones
    among = State(table="breast-cancer", language="en", row=383, case=tuple(map(float, crowded)))
    opened(page, app.url, replace(among, view=(("x", 0), ("y", 1))))
    soon(page, lambda: boxes(page), lambda b: len(b) == 3 and b[2]["y"] > b[0]["y"] + b[0]["height"])
