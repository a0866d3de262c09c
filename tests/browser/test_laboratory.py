"""What only a browser shows of the Laboratory: a mean is dragged, and everything follows."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect
from scipy import stats

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, place_of, settled, soon, view_of

ROUND = ((-1.0, 0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 1.0, 0.0))


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_number_of_rows_is_dragged_without_an_answer_and_kept_by_the_link(page: Page, app) -> None:
    crisp = State(table="watermelon3", language="en", case=(0, 0, 2, 0, 0, 0, 0.697, 0.46))
    page.goto(f"{app.url}/laboratory?s={encode(showing(crisp, lab_tab='smoothing'))}")
    drawing = page.get_by_test_id("smoothing")
    expect(drawing).to_have_attribute("data-n", "17")
    settled(page)

    def posterior() -> list[float]:
        return [float(p) for p in (drawing.get_attribute("data-posterior") or "nan").split(",")]

    assert posterior()[0] == 0 and posterior()[1] > 0.99
    place = place_of(page, drawing.locator("> svg"))
    x, y = place["x"] + place["width"] * 0.3, place["y"] + 120
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] - 17, y, steps=8)
    soon(page, posterior, lambda p: p[1] < 0.1)
    assert "lab_smoothed_n" not in view_of(page)  # while it is dragged nothing is sent
    page.mouse.up()
    becomes(page, lambda: view_of(page).get("lab_smoothed_n"), 100000)
    settled(page)
    expect(page.get_by_text("All factors of good at n = 100000")).to_be_visible()
    drawing.get_by_role("slider").focus()
    page.keyboard.press("PageDown")
    becomes(page, lambda: view_of(page).get("lab_smoothed_n"), 10000)
    page.reload()
    expect(drawing).to_have_attribute("data-n", "10000")


@pytest.mark.slow
def test_a_mean_is_dragged_over_the_melons_and_the_sum_follows_by_itself(page: Page, app) -> None:
    page.goto(f"{app.url}/laboratory?s={encode(showing(State(table='watermelon3', language='en'), lab_tab='fitted'))}")
    drawing = page.get_by_test_id("fitted")
    expect(drawing).to_have_attribute("data-sum", re.compile(r"\d"))
    settled(page)

    def seen() -> tuple[float, ...]:
        place, total = (drawing.get_attribute(f"data-{name}") or "nan" for name in ("place", "sum"))
        return (*map(float, place.split(",")), float(total))

    before = seen()
    mean = drawing.get_by_role("slider", name="mean μ")
    box = place_of(page, mean)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=5)
    mu, sd, total = soon(page, seen, lambda now: now[0] < before[0] - 0.02)
    values = [0.697, 0.774, 0.634, 0.608, 0.556, 0.403, 0.481, 0.437]
    assert abs(total - stats.norm.logpdf(values, mu, sd).sum()) < 1e-8  # in the browser, before any answer
    assert "lab_fitted_at" not in view_of(page)
    page.mouse.up()
    becomes(page, lambda: view_of(page).get("lab_fitted_at", ())[2:], seen()[:2])
    drawing.get_by_role("slider", name="standard deviation σ").focus()
    page.keyboard.press("Shift+ArrowLeft")
    soon(page, seen, lambda now: abs(now[1] - (sd - 0.01)) < 1e-9)
    drawing.get_by_role("button", name="divided by n: the likeliest").click()
    soon(page, seen, lambda now: abs(now[0] - 0.57375) < 1e-3)
    becomes(page, lambda: view_of(page)["lab_fitted_at"][2:], seen()[:2])
    page.reload()
    soon(page, seen, lambda now: abs(now[0] - 0.57375) < 1e-3 and abs(now[1] - 0.120865) < 1e-3)


@pytest.mark.slow
def test_a_finger_moves_theta_on_a_phone(new_page, app) -> None:
    page = new_page(viewport={"width": 390, "height": 800}, has_touch=True)
    link = showing(State(table="watermelon3", language="en"), lab_tab="fitted", lab_fitted_column=2)
    page.goto(f"{app.url}/laboratory?s={encode(link)}")
    drawing = page.get_by_test_id("fitted")
    expect(drawing).to_have_attribute("data-sum", re.compile(r"\d"))
    settled(page)
    handle = drawing.get_by_role("slider")
    drawing.locator(".field").evaluate("field => field.scrollIntoView({ block: 'center' })")
    box = place_of(page, handle)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    cdp = page.context.new_cdp_session(page)
    cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 6):
        point = {"x": x - 8 * step, "y": y + 22 * step}
        cdp.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    soon(
        page,
        lambda: drawing.get_attribute("data-place"),
        lambda now: now is not None and float(now.split(",")[0]) > 0.5,
    )
    cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    soon(page, lambda: view_of(page).get("lab_fitted_at", ()), lambda at: len(at) == 4 and at[2] > 0.5)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
