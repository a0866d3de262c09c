"""What only a browser shows of the Laboratory: a mean is dragged, and everything follows."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from pages.shared.state import State, encode
from tests.browser.test_main_job import settled
from tests.browser.test_understand import state_of

ROUND = ((-1.0, 0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 1.0, 0.0))


def test_a_mean_is_dragged_and_an_axis_turned_by_keys(page: Page, app) -> None:
    page.goto(f"{app.url}/laboratory?s={encode(State().showing(lab_parts=ROUND))}")
    settled(page)
    shown = page.get_by_test_id("laboratory-risk")
    expect(shown).to_have_text("Bayes risk R* = 0.1587")
    stage = page.get_by_test_id("laboratory").locator(".stage")
    handle = page.get_by_test_id("laboratory-handle-3")
    box, plane = handle.bounding_box(), stage.bounding_box()
    assert box is not None
    assert plane is not None
    x, y, unit = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, plane["width"] / 12
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + unit, y, steps=4)
    page.mouse.move(x + 2 * unit, y, steps=4)
    expect(shown).to_have_text("Bayes risk R* ≈ 0.023")  # Φ(−2), computed in the browser, before any answer
    page.mouse.up()
    expect(shown).to_have_text(re.compile(r"R\* = 0\.02[23]\d"))
    settled(page)
    (_first, second) = dict(state_of(page).view)["lab_parts"]
    assert abs(second[0] - 3.0) < 0.06
    page.get_by_test_id("laboratory-handle-4").focus()
    for _press in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(900)
    settled(page)
    (_first, second) = dict(state_of(page).view)["lab_parts"]
    assert second[2:] == (1.1, 1.0, 15.0)
    assert json.loads(stage.get_attribute("data-parts") or "[]")[1][6] == 15
    page.go_back()
    expect(shown).to_have_text(re.compile(r"R\* = 0\.02[23]\d"))


def test_a_point_is_drawn_and_taken_away(page: Page, app) -> None:
    page.goto(f"{app.url}/laboratory?s={encode(State().showing(lab_scene='drawn'))}")
    settled(page)
    canvas = page.get_by_test_id("laboratory-canvas")
    size = canvas.bounding_box()
    assert size is not None
    place = {"x": size["width"] * 0.9, "y": size["height"] * 0.3}
    canvas.click(position=place)
    page.wait_for_function("location.search.includes('s=')")
    page.wait_for_timeout(900)
    settled(page)
    assert len(dict(state_of(page).view)["lab_points"]) == 25
    canvas.click(position=place)
    page.wait_for_timeout(900)
    settled(page)
    assert len(dict(state_of(page).view)["lab_points"]) == 24
