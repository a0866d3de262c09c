"""The page Model in a real browser: its picture comes before its settings."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import Spec, State, encode
from tests.browser.looking import settled, soon

FIRST = 500
"""Pixels from the top of the page within which the picture begins."""
SHELF = (Spec("laplace"), Spec(family="tan"))


@pytest.mark.slow
def test_the_picture_begins_within_the_first_pixels(page: Page, app) -> None:
    page.goto(f"{app.url}/model?s={encode(State(table='watermelon3', language='en', shelf=SHELF))}")
    picture = page.locator(".js-plotly-plot").first
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(picture).to_be_visible()
        settled(page)
        soon(page, picture.bounding_box, lambda box: box is not None and box["y"] < FIRST)
