"""What only a browser shows of the pages that explain: a line turned by hand, EM played, an edge clicked."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from pages.shared.state import State, encode
from tests.browser.looking import becomes, settled, soon, view_of


def test_an_edge_of_the_tree_opens_its_table(page: Page, app) -> None:
    tree = State(table="watermelon2").showing(dependence_view="tree")
    page.goto(f"{app.url}/dependence?s={encode(tree)}")
    settled(page)
    expect(page.get_by_role("heading", name="stalk – navel: 0.5975 nats")).to_be_visible()
    edge = page.get_by_role("button", name=re.compile("texture.*touch"))
    edge.first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="texture – touch: 0.3204 nats")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_role("heading", name="stalk – navel: 0.5975 nats")).to_be_visible()


def test_the_line_is_turned_by_keys_and_its_angle_is_in_the_address(page: Page, app) -> None:
    page.goto(app.url + "/projection")
    settled(page)
    expect(page.get_by_text("12 of 17")).to_be_visible()
    page.get_by_test_id("projection-handle").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    soon(page, lambda: view_of(page).get("angle", 0.0), lambda angle: abs(abs(angle - 78.8) - 3) < 0.2)
    assert view_of(page)["line"] == "free"


def test_em_is_stepped_and_the_step_is_in_the_address(page: Page, app) -> None:
    page.goto(f"{app.url}/hidden?s={encode(State(table='iris'))}")
    settled(page)
    expect(page.get_by_text("after 17 iterations")).to_be_visible()
    page.get_by_role("button", name="Back to the start").click()
    expect(page.get_by_text("iteration 0 of 17")).to_be_visible()
    page.get_by_role("button", name="One iteration forward").click()
    expect(page.get_by_text("iteration 1 of 17")).to_be_visible()
    becomes(page, lambda: view_of(page).get("em_step"), 1)
