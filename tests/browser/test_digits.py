"""What only a browser shows of digits: a stroke, a key, Undo and Back; a pixel of a class clicked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.browser.looking import becomes, place_of, settled, soon, state_of

FIRST = f"s={encode(State(table='digits'))}"


@pytest.mark.slow
def test_a_drawn_digit_is_judged_and_back_undoes_it(page: Page, app) -> None:
    page.goto(f"{app.url}/case?{FIRST}")
    settled(page)
    expect(page.get_by_role("heading", name=re.compile("Judged 7"))).to_be_visible()
    pixels = page.get_by_test_id("pixels")
    pixels.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("heading", name=re.compile("Judged 7"))).to_be_hidden()
    settled(page)
    paper = pixels.locator("canvas").first
    paper.scroll_into_view_if_needed()
    box = place_of(page, paper)
    stroke = [(2, 1.2), (3.5, 0.7), (5, 1.2), (5.2, 2.4), (4, 3.6), (5.3, 4.8), (5.2, 6.3), (3.8, 7.2), (2, 6.7)]
    places = [(box["x"] + x * box["width"] / 8, box["y"] + y * box["height"] / 8) for x, y in stroke]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=5)
    page.mouse.up()
    three = page.get_by_role("heading", name=re.compile("Judged 3"))
    expect(three).to_be_visible()
    case = soon(page, lambda: state_of(page).case, any)
    settled(page)
    assert len(case) == 64
    assert all(isinstance(v, int) and 0 <= v <= 16 for v in case)
    assert max(case) == 16

    page.go_back()  # one stroke is one step
    expect(three).to_be_hidden()
    becomes(page, lambda: any(state_of(page).case), False)


@pytest.mark.slow
def test_keys_set_the_ink_and_undo_takes_it_back(page: Page, app) -> None:
    page.goto(f"{app.url}/case?{FIRST}")
    settled(page)
    pixels = page.get_by_test_id("pixels")
    pixels.locator("canvas").first.focus()
    page.keyboard.press("ArrowLeft")  # from the middle (4, 4) to p43, inked 15 in this seven
    expect(pixels.locator(".quiet")).to_have_text(re.compile("^p43: row 4, column 3 · ink 15 of 16 · .* bits for"))
    page.keyboard.press("9")
    page.keyboard.press("+")
    becomes(page, lambda: state_of(page).case[35:36], (10,))
    settled(page)
    page.keyboard.press("m")
    expect(pixels.locator(".readout")).to_have_text(re.compile("missing · no evidence"))
    becomes(page, lambda: state_of(page).case[35:36], (None,))
    settled(page)
    pixels.get_by_role("button", name="Undo").click()
    expect(pixels.locator(".readout")).not_to_have_text(re.compile("missing"))
    becomes(page, lambda: state_of(page).case[35:36], (10,))


@pytest.mark.slow
def test_a_pixel_of_a_class_opens_its_class_conditionals(page: Page, app) -> None:
    page.goto(f"{app.url}/model?{FIRST}")
    settled(page)
    picture = page.get_by_test_id("pixels").locator("canvas").nth(3)
    picture.scroll_into_view_if_needed()
    box = place_of(page, picture)
    page.mouse.click(box["x"] + box["width"] * 4.5 / 8, box["y"] + box["height"] * 5.5 / 8)
    expect(page.get_by_text("Framed: p54.")).to_be_visible()
    expect(page.get_by_text("P(p54 | digit)")).to_be_visible()
