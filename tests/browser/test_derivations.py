"""Derivations in a real browser: stepped by buttons and arrow keys, kept in the address, printed alone, and narrow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.browser.looking import becomes, settled, soon, view_of
from tests.conftest import App

pytestmark = pytest.mark.slow
WIDE = """() => [...document.querySelectorAll('[class*="st-key-derivation_line_"] .katex-display')]
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"""


def at(app: App, page: str, name: str, line: int, **state: object) -> str:
    view = tuple(sorted({"derived": name, "derived_line": line, **state.pop("view", {})}.items()))  # type: ignore[call-overload]
    return f"{app.url}/{page}?s={encode(State(language='en', view=view, **state))}"  # type: ignore[arg-type]


def test_one_clicks_through_goes_on_by_keys_and_prints(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 1024, "height": 768})
    page.goto(at(app, "projection", "scatter", 1, table="watermelon3a"))
    lines, bar = page.locator('[class*="st-key-derivation_line_"]'), page.locator(".st-key-derivation_bar")
    expect(lines).to_have_count(1)
    settled(page)
    bar.get_by_role("button", name="A step further").click()
    expect(lines).to_have_count(2)
    settled(page)
    page.keyboard.press("ArrowRight")  # the button that was clicked is in focus
    expect(lines).to_have_count(3)
    settled(page)
    page.keyboard.press("ArrowLeft")
    expect(lines).to_have_count(2)
    soon(page, lambda: view_of(page), lambda view: view.get("derived_line") == 2)
    bar.get_by_role("button", name="To the end").click()
    expect(lines).to_have_count(7)
    settled(page)
    page.emulate_media(media="print")
    expect(lines.last).to_be_visible()
    expect(bar).to_be_hidden()
    expect(page.get_by_test_id("projection")).to_be_hidden()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.locator(".print_corner img")).to_be_visible()


@pytest.mark.parametrize(
    ("place", "name", "state"),
    [
        ("projection", "ratio-trace", {"table": "iris"}),
        ("projection", "boundary", {"table": "watermelon3a"}),
        ("network", "gibbs", {"view": {"net": "sprinkler", "net_tab": "gibbs", "net_evidence": ((3, 0),)}}),
    ],
)
def test_no_formula_is_wider_than_a_phone(
    app: App, new_page: Callable[..., Page], place: str, name: str, state: dict[str, object]
) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(at(app, place, name, -1, **state))
    expect(page.locator('[class*="st-key-derivation_line_7"] .katex-display').last).to_be_visible()
    settled(page)
    becomes(page, lambda: page.evaluate(WIDE), [])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
