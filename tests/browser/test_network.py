"""What only a browser shows of the page Network: a state clicked, bars that move, a table edited, and the address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, settled, soon, view_of


def state(page: Page, words: str) -> Locator:
    """A state of a node in the drawing, whatever its probability."""
    return page.get_by_role("button", name=re.compile(f"^{re.escape(words)}: "))


def width(bar: Locator) -> float:
    return float(bar.locator(".bar").get_attribute("width") or "nan")


def test_a_state_is_clicked_and_every_bar_moves(page: Page, app) -> None:
    page.goto(f"{app.url}/network?s={encode(showing(State(language='en'), net='asia'))}")
    settled(page)
    cancer = state(page, "lung cancer = yes")
    expect(cancer).to_have_accessible_name("lung cancer = yes: 0.055")
    before = width(cancer)
    state(page, "short of breath = yes").click()
    expect(cancer).to_have_accessible_name("lung cancer = yes: 0.103")
    expect(state(page, "short of breath = yes")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("0.4360", exact=True)).to_be_visible()
    soon(page, lambda: width(cancer), lambda now: now > 1.5 * before)
    becomes(page, lambda: view_of(page).get("net_evidence"), ((7, 0),))
    settled(page)

    smoker = state(page, "smoker = no")  # by keys: set another, and clear it again
    smoker.focus()
    page.keyboard.press("Enter")
    expect(smoker).to_have_accessible_name("smoker = no: 1.000")
    expect(smoker).to_be_focused()
    page.keyboard.press("Enter")
    expect(smoker).to_have_accessible_name("smoker = no: 0.366")

    becomes(page, lambda: view_of(page).get("net_evidence"), ((7, 0),))
    settled(page)
    page.reload()
    settled(page)
    expect(cancer).to_have_accessible_name("lung cancer = yes: 0.103")
    page.get_by_role("button", name=re.compile("short of breath = yes$")).click()  # the chip beside the drawing
    expect(cancer).to_have_accessible_name("lung cancer = yes: 0.055")


@pytest.mark.slow
@pytest.mark.parametrize("across", [390, 1024, 1440])
def test_a_name_is_whole_where_its_row_has_the_room(page: Page, app, across: int) -> None:
    page.set_viewport_size({"width": across, "height": 900})
    page.goto(f"{app.url}/network?s={encode(showing(State(language='en'), net='asia'))}")
    settled(page)
    name = page.locator("svg .node").filter(has_text="tuberculosis or").locator("text").first
    becomes(page, name.text_content, "tuberculosis or cancer")


@pytest.mark.slow
def test_nodes_are_picked_in_the_drawing_and_the_trail_lights_up(page: Page, app) -> None:
    view = {"net": "watermelon", "net_part": "separation", "net_sep": True, "net_sep_a": 0, "net_sep_b": 1}
    page.goto(f"{app.url}/network?s={encode(showing(State(language='en'), **view))}")
    settled(page)
    expect(page.get_by_text("by the empty set")).to_be_visible()
    page.get_by_role("button", name=re.compile("^colour, ")).click()
    expect(page.get_by_text("this trail is open")).to_be_visible()
    expect(page.locator(".edge.lit")).to_have_count(2)
    settled(page)
    page.go_back()
    expect(page.get_by_text("by the empty set")).to_be_visible()
