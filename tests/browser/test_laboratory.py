"""What only a browser shows of the Laboratory: a mean is dragged, and everything follows."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, place_of, settled, soon, view_of

ROUND = ((-1.0, 0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 1.0, 0.0))


def test_a_mean_is_dragged_and_an_axis_turned_by_keys(page: Page, app) -> None:
    page.goto(f"{app.url}/laboratory?s={encode(showing(State(), lab_parts=ROUND))}")
    settled(page)
    shown = page.get_by_test_id("laboratory-risk")
    expect(shown).to_have_text("Bayes risk R* = 0.1587")
    stage = page.get_by_test_id("laboratory").locator(".stage")
    handle = page.get_by_test_id("laboratory-handle-3")
    box, plane = place_of(page, handle), place_of(page, stage)
    x, y, unit = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, plane["width"] / 12
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y, steps=4)
    page.mouse.move(x + 2 * unit, y, steps=4)
    stage.evaluate("stage => stage.style.marginTop = '80px'")  # something comes in above: the mean follows the hand
    page.mouse.move(x + 2 * unit, y, steps=4)
    expect(shown).to_have_text("Bayes risk R* ≈ 0.023")  # Φ(−2), computed in the browser, before any answer
    page.mouse.up()
    expect(shown).to_have_text(re.compile(r"R\* = 0\.02[23]\d"))
    soon(page, lambda: view_of(page)["lab_parts"][1][0], lambda mean: abs(mean - 3.0) < 0.06)
    settled(page)
    page.get_by_test_id("laboratory-handle-4").focus()
    for _press in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    becomes(page, lambda: view_of(page)["lab_parts"][1][2:], (1.1, 1.0, 15.0))
    settled(page)
    becomes(page, lambda: json.loads(stage.get_attribute("data-parts") or "[]")[1][6], 15)
    page.go_back()
    expect(shown).to_have_text(re.compile(r"R\* = 0\.02[23]\d"))


@pytest.mark.slow
def test_a_point_is_drawn_and_taken_away(page: Page, app) -> None:
    page.goto(f"{app.url}/laboratory?s={encode(showing(State(), lab_scene='drawn'))}")
    settled(page)
    canvas = page.get_by_test_id("laboratory-canvas")
    size = place_of(page, canvas)
    place = {"x": size["width"] * 0.9, "y": size["height"] * 0.3}
    canvas.click(position=place)
    becomes(page, lambda: len(view_of(page).get("lab_points", ())), 25)
    settled(page)
    canvas.click(position=place)
    becomes(page, lambda: len(view_of(page).get("lab_points", ())), 24)
